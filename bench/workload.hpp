// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "content.hpp"

namespace shoal::bench {

/// An experiment's data. A new one is a file in workloads/ and a line in registry.cpp.
struct Workload {
  std::string name;
  std::string summary;
  Grid small, medium, large;
  int records;                           ///< unless --records says otherwise
  Content (*content)(const Grid& grid);  ///< the file's dimensions and variables
};

/// All there are, in the order of the list that `shoal-bench list` prints.
const std::vector<Workload>& workloads();
/// By name; std::invalid_argument that lists the names if there is none.
const Workload& find_workload(const std::string& name);

Content roms_size_content(const Grid& grid);  // workloads/roms_size.cpp
Content define_content(const Grid& grid);     // workloads/define.cpp

}  // namespace shoal::bench
