// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "content.hpp"

namespace shoal::bench {

/// A size with a name: small, medium, large, paper (the published one), or what the field calls it.
struct Size {
  std::string name;
  Grid grid;
};

/// An experiment's data. A new one is a file in workloads/ and a line in registry.cpp.
struct Workload {
  std::string name;
  std::string summary;
  std::vector<Size> sizes;               ///< the first one is taken where nobody says which
  int records;                           ///< unless --records says otherwise; 0: nothing has records
  Content (*content)(const Grid& grid);  ///< the file's dimensions and variables
  /// Sizes by a rule ("ne30"); false if the text follows none. nullptr: there is no rule.
  bool (*size_by_rule)(const std::string& text, Grid& grid) = nullptr;
  const char* rule = "";  ///< what the rule wants, for messages: "neN"
  int sync_every = 0;     ///< records from one sync to the next, unless --sync-every says otherwise; 0: none
};

/// All there are, in the order of the list that `shoal-bench list` prints.
const std::vector<Workload>& workloads();
/// By name; std::invalid_argument that lists the names if there is none.
const Workload& find_workload(const std::string& name);

/// The workload's file on a grid. cut: "" or "map" as the workload cuts it, "block" for even blocks;
/// std::invalid_argument where there is no such choice.
Content content_of(const Workload& workload, const Grid& grid, const std::string& cut);

/// Names of the sizes of a workload, with commas between.
std::string size_names(const Workload& workload);

/// The grid of a size: "" (the first one), a name, one by the workload's rule, or numbers as NX, NXxNY,
/// NXxNYxNZ (what is left out is 1). std::invalid_argument that lists what there is for anything else, and
/// for a grid that the workload cannot have.
Grid find_size(const Workload& workload, const std::string& text);

// What the functions below throw for a grid that they cannot have.
[[noreturn]] void refuse_grid(const Grid& grid, const std::string& needed);

Content roms_content(const Grid& grid);        // workloads/roms.cpp
Content define_content(const Grid& grid);      // workloads/define.cpp
Content seven_ways_content(const Grid& grid);  // workloads/seven_ways.cpp
Content restart_content(const Grid& grid);     // workloads/restart.cpp
bool restart_size(const std::string& text, Grid& grid);
Content commits_content(const Grid& grid);      // workloads/commits.cpp
Content many_fields_content(const Grid& grid);  // the same
Content mom_output_content(const Grid& grid);   // workloads/mom_output.cpp
Content streams_content(const Grid& grid);      // workloads/streams.cpp

}  // namespace shoal::bench
