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
  std::string size;           ///< "": the experiment's
  std::int64_t records = -1;  ///< -1: the workload's
  std::int64_t sync_every =
      -1;  ///< records from one sync to the next, 0: none before the end; -1: the workload's
  int repetitions = 5;
  int first_round = 1;               ///< those before have been measured earlier
  bool warm_up = true;               ///< a repetition that is not counted goes before
  std::vector<std::string> methods;  ///< with variants; none: the experiment's
  std::vector<std::string> formats;  ///< none: each method's first of the experiment's
  std::vector<std::string> dirs{"."};
  std::string cut;          ///< "map", "block"; "": the workload's
  std::string io_layout;    ///< "NXxNY", for the methods of I/O domains
  std::int64_t steps = -1;  ///< of an experiment that computes; -1: the experiment's
  std::string switches;     ///< a file that the model reads its switches from, "" for none
  std::string check_in;     ///< the folder by another path, for the check of files; "": as it was written
  bool read = false;
  bool flush = false;
  bool cold = false;          ///< files leave the page cache before they are read
  bool touch_memory = false;  ///< before each write, so that no host has to lend it in the timed part
  bool keep = false;          ///< leave the files of the last repetition
  bool inject_error = false;  ///< spoil one byte of each file before it is checked
  bool stream = false;        ///< one JSON object a line on standard output, and nothing else
  bool estimate = false;      ///< say what would be needed, and end
  int ranks = 0;              ///< for --estimate; 0: those of MPI
  KeyValues hints;
  std::string json;   ///< path, "" for none
  std::string label;  ///< of the MPI-IO in use
  bool list = false, help = false;
};

/// std::invalid_argument for anything unknown, missing or malformed.
Options parse_options(const std::vector<std::string>& arguments);
std::string usage();

/// The tiling asked for, checked against the number of ranks, or one near to square.
Tiling tiling_of(const Options& options, int ranks);

/// "native+writers=1" as an entry and its settings. The setting format goes before --formats.
struct MethodChoice {
  std::string text;
  const MethodEntry* entry;
  KeyValues settings;  ///< without format
  std::string format;  ///< "": as --formats says
  /// "one", or of several files; a setting io_layout makes I/O domains of any.
  std::string layout() const { return settings.count("io_layout") != 0 ? "domains" : entry->layout; }
};
MethodChoice parse_method(const std::string& text);

}  // namespace shoal::bench
