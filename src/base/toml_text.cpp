// SPDX-License-Identifier: BSD-3-Clause
#include "base/toml_text.hpp"

#if SHOAL_HAS_TOML
#include <algorithm>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/error.hpp"

namespace shoal {

namespace {

/// Where a text in quotes that begins at `at` ends: behind it, or where the parser will refuse it.
std::size_t end_of_text(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string three(3, quote);
  const bool lines = text.substr(at, 3) == three;
  for (at += lines ? 3 : 1; at < text.size(); ++at) {
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (text[at] == '\n' && !lines) {
      return text.size();
    } else if (text[at] == quote && (!lines || text.substr(at, 3) == three)) {
      if (!lines) return at + 1;
      // Up to two quotes before the last three are part of the text.
      at += 3;
      for (int i = 0; i < 2 && at < text.size() && text[at] == quote; ++i)
        ++at;
      return at;
    }
  }
  return text.size();
}

/// Is the parser at a value, or at a name?
class Place {
 public:
  bool value() const { return value_; }
  void pass(char c) {
    if (c == '=') value_ = true;
    if (c == '\n' && inside_.empty()) value_ = false;
    if (value_ && (c == '[' || c == '{')) inside_.push_back(c);
    if (c == '{' || (c == ',' && inside_.ends_with('{'))) value_ = false;
    if ((c == ']' || c == '}') && !inside_.empty()) {
      inside_.pop_back();
      value_ = true;
    }
  }

 private:
  bool value_ = false;
  std::string inside_;  // arrays and inline tables that are open
};

// toml++ takes for granted that a letter that is not ASCII is a blank where a name or a value goes on, and
// reads on with an index that it does not have. TOML allows such letters in text and comments alone. A quote
// within a name or a number begins no text.
void check_letters(std::string_view text) {
  std::size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0;  // the mark of UTF-8
  char before = '\n';
  for (Place place; at < text.size(); before = text[at - 1]) {
    const char c = text[at];
    const bool begins = std::string_view(" \t\r\n=[{,").find(before) != std::string_view::npos ||
                        (before == '.' && !place.value());
    place.pass(c);
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if ((c == '"' || c == '\'') && begins) {
      at = end_of_text(text, at);
    } else if ((c & 0x80) != 0) {
      const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
      throw Error(Code::setting,
                  "line {} has a letter that is not ASCII outside of quotes; names of settings have none, "
                  "and text goes in quotes",
                  line);
    } else {
      ++at;
    }
  }
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  if (!file) throw Error(Code::setting, "the file cannot be read");
  return out.str();
}

}  // namespace

std::string toml_value(const toml::node& node, const std::string& key) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (node.is_boolean() || node.is_integer() || node.is_floating_point()) {
    std::ostringstream out;
    node.visit([&](const auto& value) {
      if constexpr (toml::is_boolean<decltype(value)>)
        out << (value.get() ? "true" : "false");
      else if constexpr (toml::is_number<decltype(value)>)
        out << value.get();
    });
    return out.str();
  }
  throw Error(Code::setting, "the value of '{}' is neither text nor a number nor true or false", key);
}

toml::table parse_toml(const std::string& text, const std::string& path) {
  check_letters(text);
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& e) {
    throw Error(Code::setting, "line {}: {}", e.source().begin.line, e.description());
  }
}

toml::table parse_toml_file(const std::string& path) {
  try {
    return parse_toml(content_of(path), path);
  } catch (const Error& e) {
    throw e.in_file(path);
  }
}

}  // namespace shoal

#endif
