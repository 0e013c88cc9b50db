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

void ask_mpi_for_hints(const Comm& comm, const std::string& path,
                       const std::vector<std::pair<std::string, std::string>>& hints, Counters& counters) {
  if (hints.empty()) return;
  const MpiInfo info(hints);
  MPI_File file = MPI_FILE_NULL;
  check_mpi(MPI_File_open(comm.handle(), path.c_str(), MPI_MODE_RDONLY, info.get(), &file), "MPI_File_open");
  MpiInfo used;
  const int code = MPI_File_get_info(file, used.out());
  check_mpi(MPI_File_close(&file), "MPI_File_close");
  check_mpi(code, "MPI_File_get_info");
  note_hints(hints, used, counters);
}

}  // namespace shoal
