// SPDX-License-Identifier: BSD-3-Clause
#include "command_line.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace shoal::bench {

void add_value(CLI::App& app, const std::string& name, const std::string& value,
               const std::string& description, const Take& take) {
  app.add_option_function<std::string>(name, take, description)->type_name(value)->take_last();
}

void parse(CLI::App& app, const std::vector<std::string>& arguments) {
  app.allow_extras();
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 wants the last first
  } catch (const CLI::ArgumentMismatch& e) {
    const std::string what = e.what();
    throw std::invalid_argument(what.substr(0, what.find(':')) + " needs a value");
  } catch (const CLI::ParseError& e) {
    throw std::invalid_argument(e.what());
  }
  if (const auto unknown = app.remaining(); !unknown.empty())
    throw std::invalid_argument("'" + unknown.front() + "' is no option; --help lists them");
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const auto end = text.find(at, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (parts.back().empty()) throw std::invalid_argument("an empty part in '" + text + "'");
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const auto& part : parts)
    out += (out.empty() ? "" : ", ") + part;
  return out;
}

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

std::int64_t whole_number(const std::string& option, const std::string& text, std::int64_t least) {
  constexpr std::int64_t k_most = 1000000000;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > k_most)
    throw std::invalid_argument(option + " is '" + text + "'; a number of " + std::to_string(least) +
                                " or more is needed");
  return value;
}

}  // namespace shoal::bench
