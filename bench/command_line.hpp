// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace shoal::bench {

/// Gets the value of an option; std::invalid_argument for one that is wrong.
using Take = std::function<void(const std::string& value)>;

/// --name VALUE; where it is given twice the last one counts.
void add_value(CLI::App& app, const std::string& name, const std::string& value,
               const std::string& description, const Take& take);

/// std::invalid_argument for what is unknown or has no value.
void parse(CLI::App& app, const std::vector<std::string>& arguments);

/// The parts of a list, none of them empty: std::invalid_argument.
std::vector<std::string> split(const std::string& text, char at);

/// The other way round, for people: "a, b, c".
std::string joined(const std::vector<std::string>& parts);

bool contains(const std::vector<std::string>& list, const std::string& item);

/// A whole number from least on. std::invalid_argument names the option.
std::int64_t whole_number(const std::string& option, const std::string& text, std::int64_t least);

}  // namespace shoal::bench
