// SPDX-License-Identifier: BSD-3-Clause
#include "preset/read_preset.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <array>
#include <functional>
#include <stdexcept>
#include <utility>

#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include "model/model.hpp"

namespace shoal::lab {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
  throw std::invalid_argument(where + ": " + why);
}

/// "4 MiB", "1 TiB", "100".
std::int64_t bytes_of(const std::string& text, const std::string& where) {
  static constexpr std::array<std::pair<const char*, int>, 5> k_units{
      {{"", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}}};
  std::size_t used = 0;
  std::int64_t number = -1;
  try {
    number = std::stoll(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  std::string unit = used == 0 ? "?" : text.substr(used);
  unit.erase(0, unit.find_first_not_of(' ') == std::string::npos ? unit.size() : unit.find_first_not_of(' '));
  for (const auto& [name, shift] : k_units)
    if (unit == name && number >= 0 && number <= (INT64_MAX >> shift)) return number << shift;
  refuse(where, fmt::format("'{}' is no number of bytes; one with KiB, MiB, GiB or TiB is", text));
}

/// One table of the file. Each key is read by its reader, and one without is refused.
class Section {
 public:
  explicit Section(std::string name) : name_(std::move(name)) {}

  Section& number(const char* key, double& value) {
    return with(key, [&value](const toml::node& node, const std::string& where) {
      const auto found = node.value<double>();
      if (!found || !node.is_number()) refuse(where, "a number is needed");
      value = *found;
    });
  }
  Section& whole(const char* key, int& value) {
    return with(key, [&value](const toml::node& node, const std::string& where) {
      value = static_cast<int>(integer(node, where, INT32_MIN, INT32_MAX));
    });
  }
  Section& whole(const char* key, std::int64_t& value) {
    return with(key, [&value](const toml::node& node, const std::string& where) {
      value = integer(node, where, INT64_MIN, INT64_MAX);
    });
  }
  Section& bytes(const char* key, std::int64_t& value) {
    return with(key, [&value](const toml::node& node, const std::string& where) {
      value =
          node.is_string() ? bytes_of(*node.value<std::string>(), where) : integer(node, where, 0, INT64_MAX);
    });
  }
  Section& flag(const char* key, bool& value) {
    return with(key, [&value](const toml::node& node, const std::string& where) {
      if (!node.is_boolean()) refuse(where, "true or false is needed");
      value = *node.value<bool>();
    });
  }
  template <class Value>
  Section& choice(const char* key, Value& value, std::vector<std::pair<std::string, Value>> choices) {
    return with(key, [&value, choices](const toml::node& node, const std::string& where) {
      const auto text = node.value<std::string>();
      std::vector<std::string> names;
      for (const auto& [name, meaning] : choices) {
        if (text == name) return void(value = meaning);
        names.push_back(name);
      }
      refuse(where, fmt::format("one of {} is needed", fmt::join(names, ", ")));
    });
  }
  /// [[...]], or a list of {...}.
  template <class Item>
  Section& list(const char* key, std::vector<Item>& items, std::function<void(Section&, Item&)> describe) {
    return with(key, [this, key, &items, describe](const toml::node& node, const std::string& where) {
      if (!node.is_array_of_tables() && !(node.is_array() && node.as_array()->empty()))
        refuse(where, "a list of tables is needed");
      items.clear();
      for (const toml::node& entry : *node.as_array()) {
        Item item{};
        Section section(name_ + "." + key);
        describe(section, item);
        section.read(*entry.as_table());
        items.push_back(item);
      }
    });
  }
  void read(const toml::table& table) const {
    for (const auto& [key, node] : table) {
      const std::string where = fmt::format("{}.{}", name_, std::string_view(key.str()));
      const auto reader = readers_.find(std::string(key.str()));
      if (reader == readers_.end()) {
        std::vector<std::string> known;
        for (const auto& entry : readers_)
          known.push_back(entry.first);
        refuse(where, fmt::format("there is no such key; there are {}", fmt::join(known, ", ")));
      }
      reader->second(node, where);
    }
  }

 private:
  using Reader = std::function<void(const toml::node&, const std::string&)>;

  Section& with(const char* key, Reader reader) {
    readers_[key] = std::move(reader);
    return *this;
  }
  static std::int64_t integer(const toml::node& node, const std::string& where, std::int64_t least,
                              std::int64_t most) {
    if (!node.is_integer() || *node.value<std::int64_t>() < least || *node.value<std::int64_t>() > most)
      refuse(where, fmt::format("a whole number is needed{}", least == 0 ? ", 0 or more" : ""));
    return *node.value<std::int64_t>();
  }

  std::string name_;
  std::map<std::string, Reader> readers_;
};

const std::vector<std::pair<std::string, Operation>> k_operations{
    {"open", Operation::open},       {"create", Operation::create},     {"stat", Operation::stat},
    {"rename", Operation::rename},   {"remove", Operation::remove},     {"mkdir", Operation::mkdir},
    {"readdir", Operation::readdir}, {"truncate", Operation::truncate}, {"read", Operation::read},
    {"write", Operation::write},     {"fsync", Operation::fsync},       {"close", Operation::close},
    {"lock", Operation::lock}};

std::map<std::string, Section> sections_of(Parameters& to) {
  std::map<std::string, Section> out;
  const auto section = [&](const char* name) -> Section& {
    return out.emplace(name, Section(name)).first->second;
  };
  section("servers")
      .whole("number", to.servers.number)
      .number("write_bandwidth", to.servers.write_bandwidth)
      .number("read_bandwidth", to.servers.read_bandwidth)
      .number("write_latency", to.servers.write_latency)
      .number("read_latency", to.servers.read_latency)
      .number("seek", to.servers.seek)
      .number("commit", to.servers.commit)
      .number("load", to.servers.load)
      .list<SlowServer>("slow", to.servers.slow, [](Section& in, SlowServer& slow) {
        in.whole("server", slow.server).number("factor", slow.factor);
      });
  section("network")
      .number("client_bandwidth", to.network.client_bandwidth)
      .number("total_bandwidth", to.network.total_bandwidth)
      .number("latency", to.network.latency);
  section("striping").bytes("bytes", to.striping.bytes).whole("count", to.striping.count);
  section("locks")
      .choice<LockMode>("mode", to.locks.mode,
                        {{"none", LockMode::none}, {"file", LockMode::file}, {"extents", LockMode::extents}})
      .flag("of_objects", to.locks.of_objects)
      .flag("grow", to.locks.grow)
      .flag("revoke_whole", to.locks.revoke_whole)
      .number("enqueue", to.locks.enqueue)
      .number("revoke", to.locks.revoke);
  section("cache")
      .bytes("bytes", to.cache.bytes)
      .bytes("dirty_bytes", to.cache.dirty_bytes)
      .bytes("page_bytes", to.cache.page_bytes)
      .bytes("request_bytes", to.cache.request_bytes)
      .bytes("read_ahead_bytes", to.cache.read_ahead_bytes)
      .number("writeback", to.cache.writeback)
      .number("bandwidth", to.cache.bandwidth)
      .flag("flush_on_close", to.cache.flush_on_close)
      .number("attributes", to.cache.attributes);
  section("metadata")
      .whole("servers", to.metadata.servers)
      .number("latency", to.metadata.latency)
      .number("open", to.metadata.open)
      .number("create", to.metadata.create)
      .number("create_stripe", to.metadata.create_stripe)
      .number("stat", to.metadata.stat)
      .number("stat_stripe", to.metadata.stat_stripe)
      .number("rename", to.metadata.rename)
      .number("remove", to.metadata.remove)
      .number("mkdir", to.metadata.mkdir)
      .number("readdir", to.metadata.readdir)
      .number("truncate", to.metadata.truncate)
      .number("fsync", to.metadata.fsync)
      .number("close", to.metadata.close)
      .number("lock", to.metadata.lock);
  section("faults")
      .bytes("space", to.faults.space)
      .list<StallFault>("stalls", to.faults.stalls,
                        [](Section& in, StallFault& stall) {
                          in.whole("server", stall.server)
                              .number("seconds", stall.seconds)
                              .whole("at_request", stall.at_request)
                              .number("at", stall.at)
                              .whole("client", stall.client);
                        })
      .list<ErrorFault>("errors", to.faults.errors, [](Section& in, ErrorFault& error) {
        in.choice<Operation>("operation", error.operation, k_operations)
            .whole("client", error.client)
            .whole("at_request", error.at_request)
            .whole("times", error.times)
            .choice<int>("error", error.error,
                         {{"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"ESTALE", ESTALE}});
      });
  return out;
}

toml::table parse(const std::string& text, const std::string& name) {
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    refuse(fmt::format("{}, line {}", name, error.source().begin.line), std::string(error.description()));
  }
}

void merge(toml::table& into, const toml::table& from) {
  for (const auto& [key, node] : from) {
    toml::table* const old = into[key.str()].as_table();
    if (old != nullptr && node.is_table())
      merge(*old, *node.as_table());
    else
      into.insert_or_assign(key.str(), node);
  }
}

}  // namespace

Parameters read_preset(const std::string& text, const std::string& name,
                       const std::vector<std::string>& changes) {
  toml::table document = parse(text, name);
  for (const std::string& change : changes)
    merge(document, parse(change, "'" + change + "'"));
  Parameters parameters;
  const std::map<std::string, Section> sections = sections_of(parameters);
  for (const auto& [key, node] : document) {
    const std::string where(key.str());
    if (where == "kind" || where == "about") {
      if (!node.is_string()) refuse(name + ": " + where, "text is needed");
      (where == "kind" ? parameters.kind : parameters.about) = *node.value<std::string>();
      continue;
    }
    const auto section = sections.find(where);
    if (section == sections.end() || !node.is_table()) {
      std::vector<std::string> known{"kind", "about"};
      for (const auto& entry : sections)
        known.push_back("[" + entry.first + "]");
      refuse(name + ": " + where, fmt::format("there is no such part; there are {}", fmt::join(known, ", ")));
    }
    try {
      section->second.read(*node.as_table());
    } catch (const std::invalid_argument& error) {
      refuse(name, error.what());
    }
  }
  for (const char c : parameters.kind)
    if ((c < 'a' || c > 'z') && (c < '0' || c > '9'))
      refuse(name + ": kind", "a word of small letters and digits is needed");
  if (parameters.kind.empty())
    refuse(name + ": kind", "the name of the file system that this stands for is needed");
  try {
    check(parameters);
  } catch (const std::invalid_argument& error) {
    refuse(name, error.what());
  }
  return parameters;
}

}  // namespace shoal::lab
