// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shoal::bench {

/// Text as JSON has it. What is not UTF-8 stays as it is.
std::string quoted(const std::string& text);
/// A number as snprintf makes it.
std::string printed(const char* format, double value);

/// A JSON object on one line, member by member.
class Object {
 public:
  Object& text(const std::string& key, const std::string& value) { return raw(key, quoted(value)); }
  Object& number(const std::string& key, std::int64_t value) { return raw(key, std::to_string(value)); }
  Object& real(const std::string& key, const char* format, double value) {
    return raw(key, printed(format, value));
  }
  Object& flag(const std::string& key, bool value) { return raw(key, value ? "true" : "false"); }
  Object& list(const std::string& key, const std::vector<std::int64_t>& values);
  Object& texts(const std::string& key, const std::vector<std::string>& values);
  /// JSON that is made already.
  Object& raw(const std::string& key, const std::string& json);
  std::string done() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

/// JSON values with commas between, in brackets.
std::string json_list(const std::vector<std::string>& values);

}  // namespace shoal::bench
