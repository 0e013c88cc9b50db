// SPDX-License-Identifier: BSD-3-Clause
#include "base/toml_text.hpp"

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string_view>

#include "base/error.hpp"

namespace shoal {

namespace {

/// Where a text in quotes that begins at `at` ends: behind it, or where the parser will refuse it. Names have
/// no several lines.
std::size_t end_of_text(std::string_view text, std::size_t at, bool is_value) {
  const char quote = text[at];
  const std::string three(3, quote);
  const bool lines = is_value && text.substr(at, 3) == three;
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

/// Where the parser is: at a value or at a name, and may a text begin here?
class Place {
 public:
  bool begins_text() const { return fresh_; }
  bool is_value() const { return value_; }
  void pass(char c) {
    const bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    const bool opens = c == '[' || c == '{';
    const bool separates = (c == '=' || c == '.') && !value_;
    const bool opened = opens && fresh_;
    fresh_ = blank || c == ',' || separates || opened;
    if (c == '=') value_ = true;
    if (c == '\n' && inside_.empty()) value_ = false;
    if (value_ && opened) inside_.push_back(c);
    if ((c == '{' && opened) || (c == ',' && inside_.ends_with('{'))) value_ = false;
    if ((c == ']' || c == '}') && !inside_.empty()) {
      inside_.pop_back();
      value_ = true;
    }
  }

 private:
  bool fresh_ = true;
  bool value_ = false;
  std::string inside_;  // arrays and inline tables that are open
};

// toml++ takes for granted that a letter that is not ASCII is a blank where a name or a value goes on, and
// reads on with an index that it does not have. TOML allows such letters in text and comments alone. A quote
// within a name or a number begins no text.
void check_letters(std::string_view text) {
  std::size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0;  // the mark of UTF-8
  Place place;
  while (at < text.size()) {
    const char c = text[at];
    const bool begins = place.begins_text();
    place.pass(c);
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if ((c == '"' || c == '\'') && begins) {
      at = end_of_text(text, at, place.is_value());
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

}  // namespace shoal
