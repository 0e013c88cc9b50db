// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace shoal::bench {

/// What is done with the cases of an experiment: programs/.
enum class ProgramKind {
  records,         ///< one file, records back to back
  roms_benchmark,  ///< a model that runs, with a history and an averages file
  streams,         ///< a model that runs, with files of means, instants and extremes
};

/// How an experiment is run where the command line does not say, besides its data (workload.hpp).
struct Experiment {
  std::string name;
  std::vector<std::string> methods;  ///< in turns; those that this build lacks are left out
  std::vector<std::string> formats;  ///< in order of preference: a method takes the first one that it has
  std::string size;                  ///< "": the workload's first
  bool joins = false;                ///< sets of files are joined to one file, and the time is reported
  ProgramKind program = ProgramKind::records;
  int every = 0;  ///< steps of the model from one output to the next, unless --steps says
  bool checks_in_other_folder() const { return program == ProgramKind::records; }  ///< takes --check-in
  bool computes() const { return program != ProgramKind::records; }  ///< the program is a model that runs
};

/// Of a workload's name; those without an entry get native and limit.
Experiment experiment_of(const std::string& workload);

}  // namespace shoal::bench
