// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace shoal {

/// Are all of its characters ASCII? Such a name has one form alone.
bool is_ascii(std::string_view text);
/// A name in the form in which NetCDF stores names, Unicode's NFC: a letter and its accent are one character.
/// What is no UTF-8 comes back as it is.
std::string composed(std::string_view name);
/// Are they one name, whatever their forms?
bool same_name(std::string_view a, std::string_view b);

/// Adds a name to a map with names as keys, also by its composed form; a key that is there stays.
template <class Map, class Value>
void add_name(Map& map, const std::string& name, const Value& value) {
  map.emplace(name, value);
  if (!is_ascii(name)) map.emplace(composed(name), value);
}

/// A map of the names of items and their places. Files of others, and of Shoal before 0.2, may have names in
/// another form.
template <class Map, class Items>
void index_names(Map& by_name, const Items& items) {
  by_name.clear();
  int index = 0;
  for (const auto& item : items)
    by_name.emplace(item.name, index++);
  index = 0;
  for (const auto& item : items) {
    if (!is_ascii(item.name)) by_name.emplace(composed(item.name), index);
    ++index;
  }
}

/// The element of a map with names as keys; names that are not ASCII are found by either form, their own one
/// first. The map has each of its names also by its composed form, where no other one has that (add_name).
template <class Map>
auto find_name(Map& map, const std::string& name) {
  const auto found = map.find(name);
  return found != map.end() || is_ascii(name) ? found : map.find(composed(name));
}

/// Is the text valid UTF-8? Local.
bool is_utf8(const std::string& text);

}  // namespace shoal
