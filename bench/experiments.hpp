// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace shoal::bench {

/// How an experiment is run where the command line does not say, besides its data (workload.hpp).
struct Experiment {
  std::string name;
  std::vector<std::string> methods;  ///< in turns; those that this build lacks are left out
  std::vector<std::string> formats;  ///< in order of preference: a method takes the first one that it has
  std::string size;                  ///< "": the workload's first
  bool joins = false;                ///< sets of files are joined to one file, and the time is reported
  bool computes = false;             ///< the program is a model that runs, programs/roms_benchmark.cpp
  int every = 0;                     ///< steps of the model from one output to the next, unless --steps says
};

/// Of a workload's name; those without an entry get native and limit.
Experiment experiment_of(const std::string& workload);

}  // namespace shoal::bench
