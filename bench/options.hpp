// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "method.hpp"
#include "workload.hpp"

namespace shoal::bench {

/// What the command line asks for.
struct Options {
  std::string experiment;
  Tiling tiling{0, 0};        ///< 0: as near to square as the number of ranks allows
  std::string size;           ///< "": the workload's first
  std::int64_t records = -1;  ///< -1: the workload's
  int repetitions = 5;
  std::vector<std::string> methods;  ///< with variants
  std::vector<std::string> formats{"cdf5"};
  std::string dir = ".";
  bool read = false;
  bool flush = false;
  bool keep = false;         ///< leave the files of the last repetition
  bool plant_error = false;  ///< spoil one byte of each file before it is checked
  KeyValues hints;
  std::string json;   ///< path, "" for none
  std::string label;  ///< of the MPI-IO in use
  bool list = false, help = false;
};

/// std::invalid_argument for anything unknown, missing or malformed.
Options parse_options(const std::vector<std::string>& arguments);
std::string usage();

/// Grid of a workload by name of a size, or NXxNYxNZ: find_size().
Grid grid_of(const Workload& workload, const std::string& size);
/// The tiling asked for, checked against the number of ranks, or one near to square.
Tiling tiling_of(const Options& options, int ranks);

/// "native+writers=1" as an entry and its settings.
struct MethodChoice {
  std::string text;
  const MethodEntry* entry;
  KeyValues settings;
};
MethodChoice parse_method(const std::string& text);

}  // namespace shoal::bench
