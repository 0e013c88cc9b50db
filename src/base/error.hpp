// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace shoal {

/// Error codes; the numbers are those of shoal.h.
enum class Code : int {
  ok = 0,
  invalid_argument = 1,
  not_found = 2,
  exists = 3,
  permission = 4,
  no_space = 5,
  io = 6,
  format = 7,
  range = 8,
  type = 9,
  not_supported = 10,
  overlap = 11,
  out_of_step = 12,
  timeout = 13,
  setting = 14,
  state = 15,
  no_memory = 16,
  mpi = 17,
  internal = 18,
};

/// "SHOAL_RANGE" for Code::range.
const char* name_of(Code code);

/// What became of a piece of work: a value that travels between ranks. rank is -1, file and variable are
/// empty, until somebody who knows them fills them in.
struct Status {
  Code code = Code::ok;
  std::string message;
  int rank = -1;
  std::string file;
  std::string variable;

  Status() = default;
  Status(Code a_code, std::string a_message, int a_rank = -1, std::string a_file = {},
         std::string a_variable = {})
      : code(a_code),
        message(std::move(a_message)),
        rank(a_rank),
        file(std::move(a_file)),
        variable(std::move(a_variable)) {}
  bool ok() const { return code == Code::ok; }
  /// "his.nc: variable 'temp': rank 3: message", with what is known.
  std::string text() const;
  /// Keep the first failure: takes other if this is ok.
  void merge(const Status& other) {
    if (ok()) *this = other;
  }
};

/// The one exception of Shoal.
class Error : public std::runtime_error {
 public:
  Error(Code code, std::string message);
  /// The message as {fmt} makes it: Error(Code::range, "{} is no index of '{}'", i, name).
  template <class... Args>
  requires(sizeof...(Args) > 0) Error(Code code, fmt::format_string<Args...> message, Args&&... args)
      : Error(code, fmt::vformat(message, fmt::make_format_args(args...))) {}
  explicit Error(Status status);

  Code code() const { return status_.code; }
  const Status& status() const { return status_; }

  /// Copies with more context; what is already known stays.
  Error in_file(const std::string& file) const;
  Error of_variable(const std::string& variable) const;
  Error on_rank(int rank) const;

 private:
  Status status_;
};

/// Run work, and give what it returns; an Error from it names the file, unless it names one already.
template <class Work>
decltype(auto) in_context(const std::string& file, Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw error.in_file(file);
  }
}
/// The same of a variable.
template <class Work>
decltype(auto) in_context_of_variable(const std::string& variable, Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw error.of_variable(variable);
  }
}

/// The code for an errno value (ENOSPC, EDQUOT: no_space; EACCES, EPERM, EROFS: permission; ...).
Code code_of_errno(int error_number);

/// An Error "what: strerror" for the errno value.
Error errno_error(int error_number, const std::string& what);

/// Run work, catch everything it throws to a Status (std::bad_alloc: no_memory; others: internal).
template <class Work>
Status caught(Work&& work);

namespace detail {
/// The Status of the exception being handled.
Status current_exception_status();
}  // namespace detail

template <class Work>
Status caught(Work&& work) {
  try {
    work();
    return {};
  } catch (...) {
    return detail::current_exception_status();
  }
}

}  // namespace shoal
