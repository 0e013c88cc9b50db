// SPDX-License-Identifier: BSD-3-Clause
#include "json_reader.hpp"

#include <charconv>
#include <cstring>
#include <stdexcept>

namespace shoal::bench {

namespace {

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  Json whole() {
    auto value = parse();
    if (peek() != '\0') fail();
    return value;
  }

 private:
  [[noreturn]] void fail() const {
    throw std::runtime_error("JSON: unexpected text at byte " + std::to_string(at_));
  }

  // The next character that is no blank; 0 at the end.
  char peek() {
    while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]) != nullptr)
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  void take(char c) {
    if (peek() != c) fail();
    ++at_;
  }

  // Whether another entry of a list or object follows; takes the comma or the end.
  bool more(char end, bool first) {
    if (peek() == end) {
      ++at_;
      return false;
    }
    if (!first) take(',');
    return true;
  }

  Json parse() {
    Json value;
    const char c = peek();
    if (c == '{') {
      ++at_;
      for (bool first = true; more('}', first); first = false) {
        if (peek() != '"') fail();
        const auto key = string();
        take(':');
        value.members[key] = parse();
      }
    } else if (c == '[') {
      ++at_;
      for (bool first = true; more(']', first); first = false)
        value.items.push_back(parse());
    } else if (c == '"') {
      value.text = string();
    } else {
      while (at_ < text_.size() && std::strchr(",]} \t\r\n", text_[at_]) == nullptr)
        value.text += text_[at_++];
      if (value.text.empty()) fail();
    }
    return value;
  }

  // Escapes are kept as the character after the backslash: names and types have none.
  std::string string() {
    std::string out;
    for (take('"'); at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && ++at_ == text_.size()) fail();
      out += text_[at_];
    }
    take('"');
    return out;
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

}  // namespace

const Json& Json::at(const std::string& key) const {
  const auto found = members.find(key);
  if (found == members.end()) throw std::runtime_error("JSON: there is no \"" + key + "\"");
  return found->second;
}

std::int64_t Json::number() const {
  std::int64_t value = 0;
  const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || after != text.data() + text.size())
    throw std::runtime_error("JSON: '" + text + "' is no whole number");
  return value;
}

Json parse_json(const std::string& text) {
  return Parser(text).whole();
}

}  // namespace shoal::bench
