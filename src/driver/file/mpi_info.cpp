// SPDX-License-Identifier: BSD-3-Clause
#include "driver/file/mpi_info.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace shoal {

MpiInfo::MpiInfo(const Hints& hints) {
  if (hints.empty()) return;
  check_mpi(MPI_Info_create(&info_), "MPI_Info_create");
  for (const auto& [key, value] : hints) {
    if (key.size() >= MPI_MAX_INFO_KEY || value.size() >= MPI_MAX_INFO_VAL) {
      release();
      throw Error(Code::setting,
                  "the hint '{}={}' is too long: MPI allows keys of {} and values of {} characters", key,
                  value, MPI_MAX_INFO_KEY - 1, MPI_MAX_INFO_VAL - 1);
    }
    const int code = MPI_Info_set(info_, key.c_str(), value.c_str());
    if (code != MPI_SUCCESS) {
      release();
      check_mpi(code, "MPI_Info_set");
    }
  }
}

MpiInfo::~MpiInfo() {
  release();
}

MPI_Info* MpiInfo::out() {
  release();
  return &info_;
}

void MpiInfo::release() noexcept {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (info_ != MPI_INFO_NULL && finalized == 0) MPI_Info_free(&info_);
  info_ = MPI_INFO_NULL;
}

#ifdef OPEN_MPI
namespace {

// The parameter "io" of Open MPI, as given by mpiexec, environment or file: the MPI-IOs that may be used.
std::string chosen_io() {
  // The level that MPI has already: Open MPI would take any other for the one of the program from now on.
  int level = MPI_THREAD_SINGLE;
  int provided = 0;
  MPI_Query_thread(&level);
  if (MPI_T_init_thread(level, &provided) != MPI_SUCCESS) return "";
  std::string found;
  int index = 0, length = 0;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  if (MPI_T_cvar_get_index("io", &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &length) == MPI_SUCCESS) {
    std::string text(static_cast<std::size_t>(std::max(length, 0)) + 1, '\0');
    if (MPI_T_cvar_read(handle, text.data()) == MPI_SUCCESS) found = text.c_str();
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return found;
}

bool on_lustre(const std::string& path) {
  FileSystem where;
  return caught([&] { where = file_system_of(path); }).ok() && where.type == "lustre";
}

}  // namespace

// Open MPI does not say which one serves an open file. Left alone, it takes ROMIO for Lustre alone.
bool is_ompio(const std::string& path) {
  static const std::string io = chosen_io();  // does not change while MPI runs, and asking takes milliseconds
  const bool without = !io.empty() && io[0] == '^';
  if (io.find("ompio") != std::string::npos) return !without;
  if (io.find("romio") != std::string::npos) return without;
  return !on_lustre(path);
}
#else
bool is_ompio(const std::string& /*path*/) {
  return false;
}
#endif

void refuse_lossy_hints(const std::string& path, const Hints& hints) {
  // Seen with PnetCDF and with MPI-IO alone, of 4 and 8 ranks: cells of one place end up in another.
  for (const auto& [key, value] : hints)
    if (key == "cb_nodes" && value != "1" && is_ompio(path))
      throw Error(Code::setting,
                  "hint cb_nodes={}: with it OMPIO, the MPI-IO in use, stores wrong data without a word; "
                  "leave the hint out, or choose Open MPI's other MPI-IO (mpiexec --mca io romio321)",
                  value)
          .in_file(path);
}

void note_hints(const Hints& hints, const MpiInfo& used, Counters& counters) {
  for (const auto& [key, value] : hints) {
    std::vector<char> found(MPI_MAX_INFO_VAL + 1, '\0');
    int there = 0;
    if (used.get() != MPI_INFO_NULL)
      check_mpi(MPI_Info_get(used.get(), key.c_str(), MPI_MAX_INFO_VAL, found.data(), &there),
                "MPI_Info_get");
    std::string hint = fmt::format("{}={}", key, value);
    if (there != 0 && value == found.data()) {
      counters.hints_taken.push_back(std::move(hint));
    } else {
      if (there != 0) hint += fmt::format(" (is {})", found.data());
      counters.hints_dropped.push_back(std::move(hint));
    }
  }
}

namespace {

/// What MPI uses for the file, given the hints.
void ask_mpi(const Comm& comm, const std::string& path, const MpiInfo& hints, MpiInfo& used) {
  MPI_File file = MPI_FILE_NULL;
  check_mpi(MPI_File_open(comm.handle(), path.c_str(), MPI_MODE_RDONLY, hints.get(), &file), "MPI_File_open");
  const int code = MPI_File_get_info(file, used.out());
  check_mpi(MPI_File_close(&file), "MPI_File_close");
  check_mpi(code, "MPI_File_get_info");
}

}  // namespace

void ask_mpi_for_hints(const Comm& comm, const std::string& path, const Hints& hints, Counters& counters) {
  if (hints.empty()) return;
  MpiInfo used;
  ask_mpi(comm, path, MpiInfo(hints), used);
  note_hints(hints, used, counters);
}

}  // namespace shoal
