// SPDX-License-Identifier: BSD-3-Clause
#include "streams/value_reader.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace shoal::streams {

namespace {

constexpr std::size_t k_few = 12;

}  // namespace

int line_of_node(const toml::node& node) {
  return static_cast<int>(node.source().begin.line);
}

void ValueReader::check_keys(const toml::table& table, const std::vector<std::string>& known,
                             const std::string& where) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (std::find(known.begin(), known.end(), name) == known.end()) unknown(key, node, name, known, where);
  }
}

void ValueReader::unknown(const toml::key& key, const toml::node& node, const std::string& name,
                          const std::vector<std::string>& known, const std::string& where) {
  const std::string hint = did_you_mean(name, known);
  const auto line = static_cast<int>(key.source().begin.line);
  problems_.push_back({line > 0 ? line : line_of_node(node), name,
                       fmt::format("unknown key{}{}", where.empty() ? "" : " of " + where,
                                   !hint.empty()           ? hint
                                   : known.size() <= k_few ? "; there are: " + joined(known, ", ")
                                                           : ", and none has a name like it; all keys: "
                                                             "docs/reference/streams.md, docs/settings.md")});
}

std::string ValueReader::text(const toml::node& node, const std::string& key) {
  if (const auto value = node.value_exact<std::string>()) {
    if (value->find('\0') == std::string::npos) return *value;
    problem(node, key, "has a zero byte inside, where text ends for the system");
    return {};
  }
  problem(node, key, "is text in quotes");
  return {};
}

bool ValueReader::flag(const toml::node& node, const std::string& key) {
  if (const auto value = node.value_exact<bool>()) return *value;
  problem(node, key, "is true or false");
  return false;
}

std::optional<double> ValueReader::number(const toml::node& node, const std::string& key) {
  const auto value = node.is_number() ? node.value<double>() : std::nullopt;
  if (!value || !std::isfinite(*value)) problem(node, key, "is a number");
  return value;
}

Duration ValueReader::duration(const toml::node& node, const std::string& key) {
  Duration out{};
  const std::string given = text(node, key);
  if (!given.empty()) checked(node, key, [&] { out = parse_duration(given); });
  return out;
}

std::vector<std::int64_t> ValueReader::integers(const toml::node& node, const std::string& key) {
  std::vector<std::int64_t> out;
  const auto* list = node.as_array();
  if (list == nullptr) {
    problem(node, key, "is a list of whole numbers: [0, 10]");
    return out;
  }
  for (const auto& item : *list) {
    const auto value = item.value_exact<std::int64_t>();
    if (!value) {
      problem(item, key, "is a list of whole numbers: [0, 10]");
      return {};
    }
    out.push_back(*value);
  }
  return out;
}

std::vector<std::string> ValueReader::texts(const toml::node& node, const std::string& key) {
  std::vector<std::string> out;
  if (const auto one = node.value_exact<std::string>()) return {*one};
  const auto* list = node.as_array();
  if (list == nullptr) problem(node, key, "is a list of names: [\"lat\", \"lon\"]");
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
    out.push_back(text(*list->get(i), key));
  return out;
}

}  // namespace shoal::streams
