// SPDX-License-Identifier: BSD-3-Clause
#include "format/checks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "base/error.hpp"
#include "format/format_traits.hpp"
#include "format/group_paths.hpp"

namespace shoal {

namespace {

constexpr std::size_t k_name_bytes = 256;

/// Bytes of the well-formed UTF-8 sequence at the start of text; 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t n = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < n) return 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  // Overlong forms, surrogates and what lies beyond U+10FFFF show in the second byte.
  const unsigned second = byte(1);
  const bool bad = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                   (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return bad ? 0 : n;
}

/// What is wrong with the name, or nothing.
std::string fault_of(const std::string& name) {
  if (name.empty()) return "it is empty";
  if (name.size() > k_name_bytes)
    return fmt::format("it has {} bytes; up to {} are allowed", name.size(), k_name_bytes);
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t n = utf8_length(std::string_view(name).substr(at));
    if (n == 0) return fmt::format("byte {} is not valid UTF-8", at);
    const char c = name[at];
    if (n == 1 && (static_cast<unsigned char>(c) < 0x20 || c == 0x7F))
      return fmt::format("it has a control character at byte {}", at);
    if (c == '/') return fmt::format("it has a '/' at byte {}", at);
    const bool starts =
        n > 1 || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (at == 0 && !starts) return "it must start with a letter, a digit or '_'";
    at += n;
  }
  if (name.back() == ' ') return "it ends with a blank";
  return {};
}

[[noreturn]] void differs(const std::string& what) {
  throw Error(Code::invalid_argument,
              what + "; definitions of a file may be added to and renamed, not removed or changed");
}

template <class Items>
void check_unique(const Items& items, const char* what) {
  std::unordered_set<std::string_view> seen;
  for (const auto& item : items)
    if (!seen.insert(item.name).second)
      throw Error(Code::exists, "there are two {}s called '{}'; choose another name", what, item.name);
}

void check_attributes(const std::vector<Attribute>& have, const std::vector<Attribute>& wanted) {
  check_unique(wanted, "attribute");
  for (const auto& attribute : have)
    if (find_attribute(wanted, attribute.name) == nullptr)
      differs(fmt::format("the attribute '{}' is missing", attribute.name));
}

// Groups of the file stay. Each is there before what is in it, and no variable or dimension has its name.
void check_groups(const Schema& have, const Schema& wanted) {
  for (std::size_t g = 0; g < have.groups.size(); ++g) {
    if (g >= wanted.groups.size() || wanted.groups[g].name != have.groups[g].name)
      differs(fmt::format("the group '{}' is missing", have.groups[g].name));
    check_attributes(have.groups[g].attributes, wanted.groups[g].attributes);
  }
  check_unique(wanted.groups, "group");
  std::unordered_set<std::string_view> known{""};
  const auto check_group_of = [&](const std::string& name, const char* what) {
    const std::string group = group_of(name);
    if (!known.contains(group))
      throw Error(Code::not_found, "{} '{}' is in the group '{}', which there is not", what, name, group);
  };
  for (std::size_t g = 0; g < wanted.groups.size(); ++g) {
    const auto& group = wanted.groups[g];
    if (g >= have.groups.size()) {
      check_path(group.name, "group", wanted.format);
      check_attributes({}, group.attributes);
    }
    check_group_of(group.name, "group");
    known.insert(group.name);
  }
  if (known.size() == 1 && have.groups.empty() && !traits_of(wanted.format).has_groups) return;
  const auto check_items = [&](const auto& items, std::size_t old, const char* what) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string& name = items[i].name;
      check_group_of(name, what);
      if (i >= old && known.contains(name))
        throw Error(Code::exists, "there is a group '{}'; a {} cannot be called so", name, what);
    }
  };
  check_items(wanted.dims, have.dims.size(), "dimension");
  check_items(wanted.variables, have.variables.size(), "variable");
  for (std::size_t g = have.groups.size(); g < wanted.groups.size(); ++g)
    if (const auto& name = wanted.groups[g].name;
        wanted.find_dim(name) >= 0 || wanted.find_variable(name) >= 0)
      throw Error(Code::exists, "there is a variable or dimension '{}'; a group cannot be called so", name);
}

void check_dims(const Schema& have, const Schema& wanted) {
  if (wanted.dims.size() < have.dims.size())
    differs(fmt::format("the dimension '{}' is missing", have.dims[wanted.dims.size()].name));
  for (std::size_t i = 0; i < have.dims.size(); ++i) {
    const auto& old = have.dims[i];
    const auto& now = wanted.dims[i];
    if (old.name != now.name) differs(fmt::format("dimension {} is '{}', not '{}'", i, old.name, now.name));
    if (old.unlimited != now.unlimited || (!old.unlimited && old.length != now.length))
      differs(fmt::format("the dimension '{}' has another length", old.name));
  }
  check_unique(wanted.dims, "dimension");
}

}  // namespace

void check_name(const std::string& name, const char* what) {
  const std::string fault = fault_of(name);
  if (!fault.empty()) throw Error(Code::invalid_argument, "no {} may be called '{}': {}", what, name, fault);
}

void check_path(const std::string& path, const char* what, Format format) {
  if (path.find('/') == std::string::npos) return check_name(path, what);
  if (!traits_of(format).has_groups)
    throw Error(
        Code::invalid_argument,
        "no {} may be called '{}': it has a '/' at byte {}, and format {} has no groups; netcdf4 has them",
        what, path, path.find('/'), name_of(format));
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    const bool last = end == path.size();
    const std::string name = path.substr(at, end - at);
    if (name.empty())
      throw Error(Code::invalid_argument,
                  "no {} may be called '{}': one of its names is empty; a path is 'GROUP/NAME'", what, path);
    check_name(name, last ? what : "group");
    at = end + 1;
  }
}

void check_extends(const Schema& in_file, const Schema& wanted) {
  const Schema have = changed(in_file, wanted.changes);
  for (const SchemaChange& change : wanted.changes) {
    using Kind = SchemaChange::Kind;
    if (change.kind == Kind::rename_attribute) check_name(change.to, "attribute");
    if (change.kind == Kind::rename_dim) check_path(change.to, "dimension", wanted.format);
    if (change.kind == Kind::rename_variable) check_path(change.to, "variable", wanted.format);
    if (change.kind == Kind::rename_group) check_path(change.to, "group", wanted.format);
  }
  if (have.format != wanted.format)
    throw Error(Code::invalid_argument, "the file is {}, the definitions are for {}", name_of(have.format),
                name_of(wanted.format));
  check_groups(have, wanted);
  check_dims(have, wanted);
  check_attributes(have.attributes, wanted.attributes);
  if (wanted.variables.size() < have.variables.size())
    differs(fmt::format("the variable '{}' is missing", have.variables[wanted.variables.size()].name));
  check_unique(wanted.variables, "variable");
  for (std::size_t i = 0; i < wanted.variables.size(); ++i) {
    const auto& now = wanted.variables[i];
    static const std::vector<Attribute> k_none;
    const bool is_new = i >= have.variables.size();
    in_context_of_variable(now.name, [&] {
      if (!is_new) {
        const auto& old = have.variables[i];
        if (old.name != now.name) differs(fmt::format("variable {} is '{}'", i, old.name));
        if (old.type != now.type)
          differs(fmt::format("its type is {}, not {}", name_of(old.type), name_of(now.type)));
        if (old.dims != now.dims) differs("it has other dimensions");
      }
      check_attributes(is_new ? k_none : have.variables[i].attributes, now.attributes);
    });
  }
}

}  // namespace shoal
