// SPDX-License-Identifier: BSD-3-Clause
#include "handback/report.hpp"

#include <string>

#include "handback/lines.hpp"

namespace door {

void note_served(const File& file) {
  note_line(file.comm, file.path + ": served by Shoal, " + format_in_shoal(file) + ", " +
                           std::to_string(file.definitions.vars.size()) + " variables\n");
}

void note_handed_back(const File& file, const std::string& reason) {
  note_line(file.comm, file.path + ": handed back to netCDF: " + reason + "\n");
}

void note_not_served(MPI_Comm comm, const char* path, const std::string& reason) {
  note_line(comm, std::string(path) + ": left to netCDF: " + reason + "\n");
}

}  // namespace door
