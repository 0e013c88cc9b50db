// SPDX-License-Identifier: BSD-3-Clause
#include "driver/mpi_info.hpp"

namespace shoal {

MpiInfo::MpiInfo(const std::vector<std::pair<std::string, std::string>>& hints) {
  if (hints.empty()) return;
  check_mpi(MPI_Info_create(&info_), "MPI_Info_create");
  for (const auto& [key, value] : hints) {
    if (key.size() >= MPI_MAX_INFO_KEY || value.size() >= MPI_MAX_INFO_VAL) {
      release();
      throw Error(Code::setting, "the hint '" + key + "=" + value + "' is too long: MPI allows keys of " +
                                     std::to_string(MPI_MAX_INFO_KEY - 1) + " and values of " +
                                     std::to_string(MPI_MAX_INFO_VAL - 1) + " characters");
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

void note_hints(const std::vector<std::pair<std::string, std::string>>& hints, const MpiInfo& used,
                Counters& counters) {
  for (const auto& [key, value] : hints) {
    std::vector<char> found(MPI_MAX_INFO_VAL + 1, '\0');
    int there = 0;
    if (used.get() != MPI_INFO_NULL)
      check_mpi(MPI_Info_get(used.get(), key.c_str(), MPI_MAX_INFO_VAL, found.data(), &there),
                "MPI_Info_get");
    std::string hint = key + "=" + value;
    if (there != 0 && value == found.data()) {
      counters.hints_taken.push_back(std::move(hint));
    } else {
      if (there != 0) hint += " (is " + std::string(found.data()) + ")";
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

void ask_mpi_for_hints(const Comm& comm, const std::string& path,
                       const std::vector<std::pair<std::string, std::string>>& hints, Counters& counters) {
  if (hints.empty()) return;
  MpiInfo used;
  ask_mpi(comm, path, MpiInfo(hints), used);
  note_hints(hints, used, counters);
}

#ifdef OPEN_MPI
// ROMIO always tells its own hints, OMPIO none of them (unless somebody gave them).
bool reads_overlaps_wrongly(const MpiInfo& used) {
  int keys = 0;
  if (used.get() != MPI_INFO_NULL) check_mpi(MPI_Info_get_nkeys(used.get(), &keys), "MPI_Info_get_nkeys");
  int of_romio = 0;
  for (int i = 0; i < keys; ++i) {
    std::vector<char> key(MPI_MAX_INFO_KEY + 1, '\0');
    check_mpi(MPI_Info_get_nthkey(used.get(), i, key.data()), "MPI_Info_get_nthkey");
    if (std::string(key.data()).rfind("romio_", 0) == 0) ++of_romio;
  }
  return of_romio < 3;
}

bool reads_overlaps_wrongly(const Comm& comm, const std::string& path) {
  MpiInfo used;
  ask_mpi(comm, path, MpiInfo(), used);
  return reads_overlaps_wrongly(used);
}
#else
bool reads_overlaps_wrongly(const MpiInfo& /*used*/) {
  return false;
}
bool reads_overlaps_wrongly(const Comm& /*comm*/, const std::string& /*path*/) {
  return false;
}
#endif

}  // namespace shoal
