// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal {

/// In whose terms messages speak of dimensions, indices and arguments: the language of the program that
/// called. A dataset keeps that of the call that opened it, and all its messages are in it, also those that
/// ranks send each other, as all of them run the same program. In C and Python the slowest dimension comes
/// first and indices count from 0; in Fortran the fastest comes first, and indices count from 1. A program
/// that calls PIO knows its calls, and can give settings in the environment alone.
enum class Language { c, fortran, python, pio };

/// Of the call that this thread is in; C, if nobody said. Local.
Language language();
void speak(Language language);

/// What is said while it lives does not last longer.
class Speaking {
 public:
  Speaking() : before_(language()) {}
  explicit Speaking(Language now) : Speaking() { speak(now); }
  ~Speaking() { speak(before_); }
  Speaking(const Speaking&) = delete;
  Speaking& operator=(const Speaking&) = delete;

 private:
  Language before_;
};

/// The caller's number for an index that counts from 0.
std::int64_t as_index(std::int64_t from_zero);
/// The numbers of a cell: "3, 17".
std::string index_text(std::span<const std::int64_t> from_zero);
template <class Index>
std::string index_text(const Index& from_zero) {
  return index_text(std::span<const std::int64_t>(from_zero.begin(), from_zero.end()));
}
/// The caller's number of dimension d of n (from 0, slowest first); "dimension 2 (counted from 1, fastest
/// first)".
int as_dimension(int d, int n);
std::string dimension_text(int d, int n);
/// "from 0", "from 1".
const char* counted_from();
/// Of dimensions that stand slowest first: as the caller lists them.
std::vector<std::string> as_listed(std::vector<std::string> dims);
/// What text_of(Box) gives: "first:end of each dimension, from 0, end exclusive".
const char* box_terms();

/// An argument by its name: "record", or "record=".
std::string argument(const char* name);
/// What who reads the message calls a setting: "stage_bytes"; "SHOAL_STAGE_BYTES".
std::string setting_name(std::string_view key);
/// How the call leaves the record out: "SHOAL_NO_RECORD", "leave record= out".
const char* leave_record_out();
/// Names of constants and arguments: as the caller would write them.
const char* word_for_unlimited();
const char* word_for_all_records();
const char* word_for_writing();
/// "the last 2 dimensions", "the first 2 dimensions": those that vary fastest.
std::string fastest_dimensions(int n);

}  // namespace shoal
