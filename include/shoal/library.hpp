// SPDX-License-Identifier: BSD-3-Clause
//
// Shoal for C++, part of shoal.hpp, which includes it: exceptions that nobody catches, and what is about no
// dataset.
#ifndef SHOAL_LIBRARY_HPP
#define SHOAL_LIBRARY_HPP

#include <shoal/arrays.hpp>

#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

namespace shoal {
inline namespace api {

// ---- Exceptions that nobody catches ---------------------------------------------------------

namespace detail {

/// Whose ranks stop.
inline MPI_Comm& aborted_comm() {
  static MPI_Comm comm = MPI_COMM_NULL;
  return comm;
}

/// A handler of std::terminate.
[[noreturn]] inline void abort_uncaught() {
  int code = SHOAL_OK;
  std::string message = "std::terminate was called, with no exception";
  try {
    if (const auto error = std::current_exception()) std::rethrow_exception(error);
  } catch (const Error& error) {
    code = static_cast<int>(error.code());
    message = error.what();
  } catch (const std::exception& error) {
    message = error.what();
  } catch (...) {
    message = "an exception that is no std::exception";
  }
  shoal_abort(aborted_comm(), code, message.c_str());
  std::abort();  // not reached
}

}  // namespace detail

/// From now on an exception that nobody catches, of Shoal or not, is printed once for all ranks of comm that
/// have it, with their number, and stops all ranks, as shoal_abort does. (By itself each rank prints it, and
/// ranks without it may wait.) Sets the handler of std::terminate; the program must not free comm. Throws
/// what shoal::wait does, which it calls. Collective over comm.
inline void abort_on_error(MPI_Comm comm = MPI_COMM_WORLD) {
  detail::check(shoal_wait(comm));  // its ranks can tell each other from now on
  detail::aborted_comm() = comm;
  std::set_terminate(detail::abort_uncaught);
}

// ---- The library ----------------------------------------------------------------------------

/// "0.2.0". Local.
inline std::string version() {
  return shoal_version();
}
/// MPI, HDF5, drivers and formats of this build, one "key: value" a line. Local.
inline std::string build_info() {
  return shoal_build_info();
}
/// Every setting that there is; see shoal_setting_keys.
inline std::string setting_keys() {
  return shoal_setting_keys();
}
/// Finish what close left to threads (setting background_close): all files that were closed, and whose ranks
/// are all in comm, are whole. Throws the first failure, after all were tried, on all ranks. Collective over
/// comm.
inline void wait(MPI_Comm comm) {
  detail::check(shoal_wait(comm));
}
/// Let the last n ranks of each node of `all` compute nothing and store for the others (setting
/// background=ranks). There it returns MPI_COMM_NULL when the others are done; on these it returns their
/// communicator at once, which the caller may free. See shoal_serve. Collective over all.
inline MPI_Comm serve(MPI_Comm all, int n) {
  MPI_Comm computing = MPI_COMM_NULL;
  detail::check(shoal_serve(all, n, &computing));
  return computing;
}
/// The same where each rank says what it does: it computes in a component (0, 1, ...), whose communicator
/// this returns, or it serves (SHOAL_SERVES). See shoal_serve_components. Collective over all.
inline MPI_Comm serve_components(MPI_Comm all, int component) {
  MPI_Comm computing = MPI_COMM_NULL;
  detail::check(shoal_serve_components(all, component, &computing));
  return computing;
}
/// Let the ranks go that serve; MPI_Finalize does it, too. Collective over the computing ranks of a
/// component.
inline void stop_serving() {
  detail::check(shoal_stop_serving());
}

/// Name the file with the Fortran namelist group &shoal, "": none. Counts for datasets opened later. Local.
inline void namelist(const std::string& path) {
  detail::check(shoal_namelist(path.empty() ? nullptr : detail::text(path)));
}
/// A reference and a virtual master over closed files: see shoal_write_reference, shoal_write_master. Local.
inline void write_reference(const std::vector<std::string>& paths, const std::string& out) {
  const auto pointers = detail::pointers_of(paths);
  detail::check(shoal_write_reference(pointers.data(), static_cast<int>(pointers.size()), detail::text(out)));
}
inline void write_master(const std::vector<std::string>& paths, const std::string& out) {
  const auto pointers = detail::pointers_of(paths);
  detail::check(shoal_write_master(pointers.data(), static_cast<int>(pointers.size()), detail::text(out)));
}
/// Files that are made under another name and take their own when they are whole: see shoal_beside,
/// shoal_take_place. Local.
inline std::string beside(const std::string& path) {
  const char* name = shoal_beside(detail::text(path));
  if (name == nullptr) throw detail::last_error(Code::invalid_argument);
  return name;
}
inline void take_place(const std::string& made, const std::string& path, bool durable = false) {
  detail::check(shoal_take_place(detail::text(made), detail::text(path), durable ? 1 : 0));
}
/// Finish what a killed job left half done in a file; whether there was anything: see shoal_recover. Local.
inline bool recover(const std::string& path) {
  int finished = 0;
  detail::check(shoal_recover(detail::text(path), &finished));
  return finished != 0;
}
/// The settings that a new dataset would get, one a line. Local.
inline std::string settings() {
  const char* text = shoal_settings(nullptr);
  if (text == nullptr) throw detail::last_error(Code::setting);
  return text;
}

}  // namespace api
}  // namespace shoal
#endif
