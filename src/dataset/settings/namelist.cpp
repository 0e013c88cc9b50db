// SPDX-License-Identifier: BSD-3-Clause
// Reads one group, &shoal, of a Fortran namelist file. Grammar: Fortran 2018, 13.11 (name=value lists); names
// of settings are plain scalars, so subscripts, repeat counts and derived types do not occur and are refused.
#include <fmt/core.h>

#include <cctype>
#include <string>

#include "base/error.hpp"
#include "base/text.hpp"
#include "dataset/settings/settings.hpp"
#include "storage/text_file.hpp"

namespace shoal {

namespace {

constexpr const char* k_group = "shoal";

class NamelistText {
 public:
  NamelistText(const std::string& text, std::string path) : text_(text), path_(std::move(path)) {}

  // Move behind "&shoal"; false if there is no such group.
  bool find_group() {
    while (at_ < text_.size()) {
      skip_blanks();
      if (at_ >= text_.size()) return false;
      if (text_[at_] == '&' || text_[at_] == '$') {
        ++at_;
        const bool ours = lower(name()) == k_group;
        if (ours) return true;
        skip_group();
      } else {
        skip_line();
      }
    }
    return false;
  }

  // The next "name = value"; false at the end of the group.
  bool next(std::string& key, std::string& value) {
    skip_separators();
    if (at_ >= text_.size()) fail("the group &shoal does not end with '/'");
    if (text_[at_] == '/') return false;
    if (text_[at_] == '&' || text_[at_] == '$') return false;  // &end
    key = name();
    if (key.empty()) fail(fmt::format("expected the name of a setting, found '{}'", text_[at_]));
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != '=') fail(fmt::format("expected '=' behind '{}'", key));
    ++at_;
    skip_blanks();
    value = read_value();
    return true;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    std::size_t line = 1;
    for (std::size_t i = 0; i < at_ && i < text_.size(); ++i)
      line += text_[i] == '\n' ? 1 : 0;
    throw Error(Code::setting, "namelist, line {}: {}", line, what).in_file(path_);
  }
  bool blank() const { return std::isspace(static_cast<unsigned char>(text_[at_])) != 0; }
  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n')
      ++at_;
  }
  void skip_blanks() {
    while (at_ < text_.size() && (blank() || text_[at_] == '!')) {
      if (text_[at_] == '!')
        skip_line();
      else
        ++at_;
    }
  }
  void skip_separators() {
    skip_blanks();
    while (at_ < text_.size() && (text_[at_] == ',' || text_[at_] == ';')) {
      ++at_;
      skip_blanks();
    }
  }
  // A slash within quotes or a comment does not end a group.
  void skip_group() {
    while (at_ < text_.size() && text_[at_] != '/') {
      if (text_[at_] == '\'' || text_[at_] == '"')
        quoted();
      else if (text_[at_] == '!')
        skip_line();
      else if (text_[at_] == '&' || text_[at_] == '$') {
        ++at_;
        name();
        return;
      } else
        ++at_;
    }
    if (at_ < text_.size()) ++at_;
  }
  std::string name() {
    std::string out;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '_' || text_[at_] == '%'))
      out += text_[at_++];
    return out;
  }
  std::string quoted() {
    const char quote = text_[at_++];
    std::string out;
    while (at_ < text_.size()) {
      if (text_[at_] == quote) {
        ++at_;
        if (at_ >= text_.size() || text_[at_] != quote) return out;
      }
      out += text_[at_++];
    }
    fail("a text is not closed");
  }
  std::string read_value() {
    if (at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"')) return quoted();
    std::string out;
    while (at_ < text_.size() && !blank() && text_[at_] != ',' && text_[at_] != '/' && text_[at_] != '!')
      out += text_[at_++];
    if (out.empty()) fail("a value is missing; texts stand in quotes");
    return out;
  }

  const std::string& text_;
  std::string path_;
  std::size_t at_ = 0;
};

}  // namespace

void set_from_namelist(Settings& settings, const std::string& path) {
  const std::string text = text_of_file(path, k_most_input_bytes);
  NamelistText reader(text, path);
  if (!reader.find_group()) return;  // as of a program that sets nothing
  std::string key;
  std::string value;
  while (reader.next(key, value))
    settings.set(key, value, "namelist " + path);
}

}  // namespace shoal
