// SPDX-License-Identifier: BSD-3-Clause
#include "handback/report.hpp"

#include <cstdio>
#include <cstdlib>

namespace door {

namespace {

void note(MPI_Comm comm, const std::string& line) {
  const char* path = std::getenv("SHOAL_DOORS_REPORT");
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (path == nullptr || *path == '\0' || rank != 0) return;
  std::FILE* report = std::fopen(path, "a");
  if (report == nullptr) return;  // a report fails no run
  std::fputs(line.c_str(), report);
  std::fclose(report);
}

}  // namespace

void note_served(const File& file) {
  note(file.comm, file.path + ": served by Shoal, " + name_of_format(file.format) + ", " +
                      std::to_string(file.definitions.vars.size()) + " variables\n");
}

void note_handed_back(const File& file, const std::string& reason) {
  note(file.comm, file.path + ": handed back to netCDF: " + reason + "\n");
}

void note_not_served(MPI_Comm comm, const char* path, const std::string& reason) {
  note(comm, std::string(path) + ": left to netCDF: " + reason + "\n");
}

}  // namespace door
