// SPDX-License-Identifier: BSD-3-Clause
#include "base/language.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"

namespace shoal {

namespace {

// Calls are made in threads; what a thread of Shoal's own says is of no dimension.
thread_local Language of_this_thread = Language::c;

bool is_fortran() {
  return of_this_thread == Language::fortran;
}

const char* said(const char* in_c, const char* in_fortran, const char* in_python) {
  switch (of_this_thread) {
    case Language::fortran:
      return in_fortran;
    case Language::python:
      return in_python;
    default:
      return in_c;
  }
}

}  // namespace

Language language() {
  return of_this_thread;
}

void speak(Language language) {
  of_this_thread = language;
}

std::int64_t as_index(std::int64_t from_zero) {
  return is_fortran() ? from_zero + 1 : from_zero;
}

std::string index_text(std::span<const std::int64_t> from_zero) {
  std::vector<std::string> numbers;
  for (const auto i : from_zero)
    numbers.push_back(std::to_string(as_index(i)));
  return joined(as_listed(std::move(numbers)), ", ");
}

int as_dimension(int d, int n) {
  return is_fortran() ? n - d : d;
}

std::string dimension_text(int d, int n) {
  return fmt::format("dimension {} (counted {}, {} first)", as_dimension(d, n), counted_from(),
                     is_fortran() ? "fastest" : "slowest");
}

const char* counted_from() {
  return is_fortran() ? "from 1" : "from 0";
}

std::vector<std::string> as_listed(std::vector<std::string> dims) {
  if (is_fortran()) std::reverse(dims.begin(), dims.end());
  return dims;
}

const char* box_terms() {
  return is_fortran() ? "first:last of each dimension, fastest first"
                      : "first:end of each dimension, from 0, end exclusive";
}

std::string argument(const char* name) {
  return of_this_thread == Language::c ? name : fmt::format("{}=", name);
}

const char* leave_record_out() {
  return said("give SHOAL_NO_RECORD", "leave record= out", "leave record= out");
}

const char* word_for_unlimited() {
  return said("SHOAL_UNLIMITED (0)", "SHOAL_UNLIMITED", "None");
}

const char* word_for_all_records() {
  return said("SHOAL_ALL_RECORDS", "SHOAL_ALL_RECORDS", "all records at once");
}

const char* word_for_writing() {
  return said("SHOAL_WRITE", "mode=SHOAL_WRITE", "mode=\"r+\"");
}

std::string fastest_dimensions(int n) {
  return fmt::format("the {} {} dimension{}", is_fortran() ? "first" : "last", n, n == 1 ? "" : "s");
}

std::string setting_name(std::string_view key) {
  if (of_this_thread != Language::pio) return std::string(key);
  std::string name = "SHOAL_";
  for (const char c : key)
    name += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

}  // namespace shoal
