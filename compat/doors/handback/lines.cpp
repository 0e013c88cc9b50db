// SPDX-License-Identifier: BSD-3-Clause
#include "handback/lines.hpp"

#include <cstdio>
#include <cstdlib>

namespace door {

void note_line(MPI_Comm comm, const std::string& line) {
  const char* path = std::getenv("SHOAL_DOORS_REPORT");
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (path == nullptr || *path == '\0' || rank != 0) return;
  std::FILE* report = std::fopen(path, "a");
  if (report == nullptr) return;  // a report fails no run
  std::fputs(line.c_str(), report);
  std::fclose(report);
}

}  // namespace door
