// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "base/printable.hpp"

namespace shoal {

const char* name_of(Code code) {
  switch (code) {
    case Code::ok:
      return "SHOAL_OK";
    case Code::invalid_argument:
      return "SHOAL_INVALID_ARGUMENT";
    case Code::not_found:
      return "SHOAL_NOT_FOUND";
    case Code::exists:
      return "SHOAL_EXISTS";
    case Code::permission:
      return "SHOAL_PERMISSION";
    case Code::no_space:
      return "SHOAL_NO_SPACE";
    case Code::io:
      return "SHOAL_IO";
    case Code::format:
      return "SHOAL_FORMAT";
    case Code::range:
      return "SHOAL_RANGE";
    case Code::type:
      return "SHOAL_TYPE";
    case Code::not_supported:
      return "SHOAL_NOT_SUPPORTED";
    case Code::overlap:
      return "SHOAL_OVERLAP";
    case Code::out_of_step:
      return "SHOAL_OUT_OF_STEP";
    case Code::timeout:
      return "SHOAL_TIMEOUT";
    case Code::setting:
      return "SHOAL_SETTING";
    case Code::state:
      return "SHOAL_STATE";
    case Code::no_memory:
      return "SHOAL_NO_MEMORY";
    case Code::mpi:
      return "SHOAL_MPI";
    case Code::internal:
      return "SHOAL_INTERNAL";
  }
  return "unknown";
}

std::string Status::text() const {
  std::string out;
  if (!file.empty()) out += printable_name(file) + ": ";
  if (!variable.empty()) out += fmt::format("variable '{}': ", printable_name(variable));
  if (rank >= 0) out += fmt::format("rank {}: ", rank);
  return out + printable(message);
}

Error::Error(Code code, std::string message) : Error(Status{code, std::move(message)}) {}
Error::Error(Status status)
    : std::runtime_error((status.message = without_middle(std::move(status.message)), status.text())),
      status_(std::move(status)) {}

Error Error::in_file(const std::string& file) const {
  Status s = status_;
  if (s.file.empty()) s.file = file;
  return Error(std::move(s));
}

Error Error::of_variable(const std::string& variable) const {
  Status s = status_;
  if (s.variable.empty()) s.variable = variable;
  return Error(std::move(s));
}

Error Error::on_rank(int rank) const {
  Status s = status_;
  if (s.rank < 0) s.rank = rank;
  return Error(std::move(s));
}

Code code_of_errno(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Code::no_space;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::permission;
    case ENOENT:
    case ENOTDIR:
      return Code::not_found;
    case EEXIST:
      return Code::exists;
    case ENOMEM:
      return Code::no_memory;
    default:
      return Code::io;
  }
}

Error errno_error(int error_number, const std::string& what) {
  return Error(code_of_errno(error_number), "{}: {}", what, std::strerror(error_number));
}

namespace detail {
Status current_exception_status() {
  try {
    throw;
  } catch (const Error& e) {
    return e.status();
  } catch (const std::bad_alloc&) {
    return {Code::no_memory, "out of memory"};
  } catch (const std::exception& e) {
    return {Code::internal, e.what()};
  } catch (...) {
    return {Code::internal, "unknown exception"};
  }
}
}  // namespace detail

}  // namespace shoal
