// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/parameters.hpp"

namespace shoal::lab {

struct DaemonOptions {
  Parameters parameters;
  int clients = 1;
  std::filesystem::path dir;      ///< gets the mounts
  std::filesystem::path backing;  ///< of the bytes; empty: a folder in memory, which goes with the daemon
  double scale = 1;               ///< real seconds for one of the model
  double grace = 0.002;           ///< real seconds that real time may be behind the model's
  std::filesystem::path report;   ///< gets a JSON object when the daemon ends; empty: none
  std::vector<std::string>
      command;        ///< is started when the mounts are there; the daemon ends with it. Empty: none
  std::string tools;  ///< folder that goes in front of the command's PATH
};

/// Mounts, serves until SIGTERM, SIGINT or SIGHUP, or the death of the parent process, or the end of the
/// command, and unmounts. The code to exit with: 0, or the command's, 128 and the signal's number where one
/// ended it. Error std::runtime_error: what could not be mounted or started; nothing is left of it.
int serve(const DaemonOptions& options);

}  // namespace shoal::lab
