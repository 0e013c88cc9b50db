// SPDX-License-Identifier: BSD-3-Clause
#include "json.hpp"

#include <array>
#include <cstdio>

namespace shoal::bench {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

std::string printed(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string json_list(const std::vector<std::string>& values) {
  std::string out;
  for (const auto& value : values)
    out += (out.empty() ? "" : ", ") + value;
  return "[" + out + "]";
}

Object& Object::raw(const std::string& key, const std::string& json) {
  members_ += (members_.empty() ? "" : ", ") + quoted(key) + ": " + json;
  return *this;
}

Object& Object::list(const std::string& key, const std::vector<std::int64_t>& values) {
  std::vector<std::string> all;
  for (const auto value : values)
    all.push_back(std::to_string(value));
  return raw(key, json_list(all));
}

Object& Object::texts(const std::string& key, const std::vector<std::string>& values) {
  std::vector<std::string> all;
  for (const auto& value : values)
    all.push_back(quoted(value));
  return raw(key, json_list(all));
}

}  // namespace shoal::bench
