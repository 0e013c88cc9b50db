// SPDX-License-Identifier: BSD-3-Clause
// Reads values of a configuration in TOML, and keeps what is wrong with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/toml_text.hpp"
#include "streams/configuration.hpp"

namespace shoal::streams {

/// The line of a node, from 1.
int line_of_node(const toml::node& node);

/// Values of one configuration. What is wrong becomes a problem with the line of its node, and the value an
/// empty one.
class ValueReader {
 public:
  explicit ValueReader(std::vector<Problem>& problems) : problems_(problems) {}

  void problem(const toml::node& node, const std::string& key, std::string message) {
    problems_.push_back({line_of_node(node), key, std::move(message)});
  }
  /// What work throws is wrong with the value of a key.
  template <class Work>
  void checked(const toml::node& node, const std::string& key, Work&& work) {
    const Status status = caught(std::forward<Work>(work));
    if (!status.ok()) problem(node, key, status.message);
  }
  /// where: of what the keys are; "": of the configuration.
  void check_keys(const toml::table& table, const std::vector<std::string>& known, const std::string& where);
  void unknown(const toml::key& key, const toml::node& node, const std::string& name,
               const std::vector<std::string>& known, const std::string& where);

  std::string text(const toml::node& node, const std::string& key);
  bool flag(const toml::node& node, const std::string& key);
  std::optional<double> number(const toml::node& node, const std::string& key);
  template <class T>
  T word(const toml::node& node, const std::string& key,
         const std::vector<std::pair<std::string, T>>& words) {
    const std::string given = text(node, key);
    std::vector<std::string> names;
    for (const auto& [name, value] : words) {
      if (name == given) return value;
      names.push_back(name);
    }
    if (!given.empty()) problem(node, key, "'" + given + "' is not one of: " + joined(names, ", "));
    return words.front().second;
  }
  Duration duration(const toml::node& node, const std::string& key);
  std::vector<std::int64_t> integers(const toml::node& node, const std::string& key);
  std::vector<std::string> texts(const toml::node& node, const std::string& key);

 protected:
  std::vector<Problem>& problems_;
};

/// The keys that choose cells of a file, and what becomes of those that it does not have.
class SelectionReader : public ValueReader {
 public:
  using ValueReader::ValueReader;
  /// of: the key, as messages have it.
  Region region(const toml::node& node, const std::string& of);
  std::vector<NamedRegion> regions(const toml::node& node);
  std::optional<SiteChoice> at(const toml::node& node);
  std::optional<SiteChoice> section(const toml::node& node);
  std::vector<IndexRange> indices(const toml::node& node);
  std::vector<Levels> levels(const toml::node& node);
  std::optional<InterpolationChoice> interpolation(const toml::node& node);
  std::optional<Reduction> reduction(const toml::node& node);
  std::optional<PyramidChoice> pyramid(const toml::node& node);

 private:
  bool add_place(const toml::node& node, SiteChoice& out);
  void one_levels(const toml::node& node, const std::string& dim, std::vector<Levels>& out);
};

}  // namespace shoal::streams
