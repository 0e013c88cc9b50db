// SPDX-License-Identifier: BSD-3-Clause
// Errors, version, settings: what belongs to no file. The only state that outlives a call is here: the last
// error of each thread, texts given out, and the namelist's path.
#include <fmt/core.h>
#include <hdf5.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "base/build_info.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "capi/handles.hpp"
#include "codec/filters.hpp"
#include "comm/abort_report.hpp"
#include "driver/registry.hpp"
#include "format/format_traits.hpp"
#include "storage/remote/remote.hpp"

namespace shoal::capi {

namespace {

struct LastError {
  std::string message, file, variable;
  int rank = -1;
};

LastError& last_error() {
  thread_local LastError error;
  return error;
}

struct NamelistPath {
  std::mutex mutex;
  std::string path;
};

NamelistPath& namelist_path() {
  static NamelistPath path;
  return path;
}

// Texts live until the next call in the same thread, as shoal.h promises.
const char* text_for_caller(std::string text) {
  thread_local std::string kept;
  kept = std::move(text);
  return kept.c_str();
}

std::string formats() {
  std::vector<std::string> names;
  for (const FormatTraits& row : all_formats())
    names.emplace_back(row.name);
  return joined(names, " ");
}

std::string mpi_library() {
  int length = 0;
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "unknown";
  const std::string version(text, static_cast<std::size_t>(length));
  return version.substr(0, version.find_first_of(",\n"));
}

std::string hdf5_library() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  if (H5get_libversion(&major, &minor, &release) < 0) return "unknown";
  return fmt::format("{}.{}.{}", major, minor, release);
}

/// Names of the drivers of this build, or of those whose library was not there.
std::string drivers(bool present) {
  std::vector<std::string> names;
  for (const auto& kind : registered_drivers())
    if ((kind.make != nullptr) == present) names.emplace_back(kind.name);
  return names.empty() ? "none" : joined(names, " ");
}

}  // namespace

int keep(const Status& status) noexcept {
  try {
    last_error() = {status.text(), status.file, status.variable, status.rank};
  } catch (...) {
    last_error() = {};
  }
  return static_cast<int>(status.code);
}

Dataset& dataset_of(shoal_dataset* handle) {
  if (handle == nullptr || handle->dataset == nullptr)
    throw Error(Code::state, "the dataset is closed, or was never opened: its handle is NULL");
  speak(handle->language);
  return *handle->dataset;
}

const Dataset& dataset_of(const shoal_dataset* handle) {
  return dataset_of(const_cast<shoal_dataset*>(handle));
}

std::shared_ptr<const Decomposition> decomposition_of(const shoal_decomposition* handle) {
  return handle == nullptr ? nullptr : handle->decomposition;
}

void require(const void* pointer, const char* name) {
  if (pointer == nullptr) throw Error(Code::invalid_argument, "argument {} is NULL", name);
}

std::string required_text(const char* text, const char* name) {
  require(text, name);
  if (std::string_view(text) == k_zero_inside)
    throw Error(Code::invalid_argument,
                "argument {} has a zero byte inside, where text ends for the system; take it out", name);
  return text;
}

Status refusal_of(int code, const char* message) {
  const bool known = code > SHOAL_OK && code <= SHOAL_INTERNAL;
  return Error(known ? static_cast<Code>(code) : Code::invalid_argument, text_or_empty(message)).status();
}

void require_mpi(MPI_Comm comm) {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized == 0) throw Error(Code::mpi, "MPI is not initialised; call MPI_Init before Shoal");
  if (finalized != 0) throw Error(Code::mpi, "MPI is finalised already; close files before MPI_Finalize");
  if (comm == MPI_COMM_NULL) throw Error(Code::invalid_argument, "the communicator is MPI_COMM_NULL");
}

SettingSources current_sources() {
  SettingSources sources;
  const std::lock_guard lock(namelist_path().mutex);
  sources.namelist = namelist_path().path;
  return sources;
}

}  // namespace shoal::capi

using namespace shoal;        // NOLINT
using namespace shoal::capi;  // NOLINT

const char* shoal_error_message(void) {
  return last_error().message.c_str();
}

int shoal_error_rank(void) {
  return last_error().rank;
}

const char* shoal_error_file(void) {
  return last_error().file.c_str();
}

const char* shoal_error_variable(void) {
  return last_error().variable.c_str();
}

const char* shoal_error_name(int code) {
  if (code < 0 || code > SHOAL_INTERNAL) return "unknown";
  return name_of(static_cast<Code>(code));
}

const char* shoal_version(void) {
  return k_version.data();
}

const char* shoal_build_info(void) {
  const auto line = [](const char* key, std::string_view value) {
    return fmt::format("{}: {}\n", key, value);
  };
  std::string each;
  for (const auto& kind : registered_drivers())
    each += fmt::format("driver_{}: {}; {}\n", kind.name, joined(formats_of(kind), " "), kind.accesses);
  thread_local std::string text;
  text = line("version", k_version) + line("mpi", mpi_library()) + line("mpi_flavour", k_build_mpi) +
         line("hdf5", hdf5_library()) + line("hdf5_headers", k_build_hdf5) + line("drivers", drivers(true)) +
         line("drivers_absent", drivers(false)) + each + line("formats", formats()) +
         line("filters", filters_of_build(true)) + line("filters_absent", filters_of_build(false)) +
         line("object_stores", remote_library()) + line("compiler", k_build_compiler) +
         line("build_type", k_build_type);
  return text.c_str();
}

void shoal_abort(MPI_Comm comm, int code, const char* message) {
  const bool is_ours = code > SHOAL_OK && code <= SHOAL_INTERNAL;
  const std::string head = is_ours ? fmt::format("shoal: {}: ", shoal_error_name(code)) : "shoal: ";
  const auto print = [&](const std::string& what) {
    std::fprintf(stderr, "%s%s\n", head.c_str(), printable(what).c_str());
  };
  const std::string text = message == nullptr ? "" : message;
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized == 0 || finalized != 0) {
    print(text);
    std::exit(code == SHOAL_OK ? EXIT_FAILURE : code);
  }
  if (comm == MPI_COMM_NULL) comm = MPI_COMM_WORLD;
  constexpr std::size_t k_most_lines = 4;
  const auto all = collect_abort_reports(comm, text);
  for (std::size_t i = 0; i < std::min(all.size(), k_most_lines); ++i) {
    const std::string& words = all[i].message;
    // What ranks agreed on says which of them it was.
    const bool has_rank =
        all[i].others > 0 && (words.starts_with("rank ") || words.find(": rank ") != std::string::npos);
    const std::string others = all[i].others == 0   ? ""
                               : all[i].others == 1 ? " and 1 other rank"
                                                    : fmt::format(" and {} other ranks", all[i].others);
    const std::string where = has_rank ? fmt::format("told on {} ranks", all[i].others + 1)
                                       : fmt::format("on rank {}{}", all[i].rank, others);
    // What follows the first line, as a traceback, stays below it.
    const std::size_t line = std::min(words.find('\n'), words.size());
    print(fmt::format("{} ({}){}", words.substr(0, line), where, words.substr(line)));
  }
  if (all.size() > k_most_lines) print(fmt::format("and {} other messages", all.size() - k_most_lines));
  std::fflush(stderr);
  // MPICH's launcher passes on nothing that it has not read when a rank aborts.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  MPI_Abort(comm, code == SHOAL_OK ? EXIT_FAILURE : code);
  MPI_Abort(MPI_COMM_WORLD, code == SHOAL_OK ? EXIT_FAILURE : code);  // the program had freed comm
  std::exit(EXIT_FAILURE);                                            // not reached
}

int shoal_speak(int language) {
  const auto before = static_cast<int>(shoal::language());
  if (language >= SHOAL_SPEAK_C && language <= SHOAL_SPEAK_PIO) speak(static_cast<Language>(language));
  return before;
}

int shoal_namelist(const char* path) {
  return guard([&] {
    const std::lock_guard lock(namelist_path().mutex);
    namelist_path().path = path == nullptr ? "" : required_text(path, "path");
  });
}

const char* shoal_settings(const shoal_dataset* dataset) {
  const char* text = nullptr;
  guard([&] {
    text = text_for_caller(dataset != nullptr ? dataset_of(dataset).settings().listing()
                                              : resolve_settings("", current_sources()).listing());
  });
  return text;
}

const char* shoal_setting_keys(void) {
  const char* text = nullptr;
  guard([&] { text = text_for_caller(setting_keys_text()); });
  return text;
}

const char* shoal_report(const shoal_dataset* dataset) {
  const char* text = nullptr;
  guard([&] { text = text_for_caller(dataset_of(dataset).report_text()); });
  return text;
}

void shoal_free_strings(int64_t count, char** strings) {
  if (strings == nullptr) return;
  for (int64_t i = 0; i < count; ++i) {
    std::free(strings[i]);
    strings[i] = nullptr;
  }
}
