// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace shoal::bench {

/// A value of JSON, as much of it as header files need: numbers are kept as their text, true, false and null
/// as these words.
struct Json {
  std::string text;                     ///< of a string, number or word
  std::vector<Json> items;              ///< of a list
  std::map<std::string, Json> members;  ///< of an object

  const Json& at(const std::string& key) const;  ///< std::runtime_error if there is none
  std::int64_t number() const;                   ///< std::runtime_error if it is none
};

/// std::runtime_error with the place in the text for what is no JSON.
Json parse_json(const std::string& text);

}  // namespace shoal::bench
