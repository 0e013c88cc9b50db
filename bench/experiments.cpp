// SPDX-License-Identifier: BSD-3-Clause
#include "experiments.hpp"

#include <algorithm>

#include "method.hpp"

namespace shoal::bench {

namespace {

using Names = std::vector<std::string>;

Experiment described(const std::string& name) {
  const Names roms{"gather", "native", "pnetcdf-collective", "netcdf-collective", "limit"};
  const Names usual{"cdf5", "netcdf4", "raw"};
  if (name == "roms-size" || name == "roms-tiles" || name == "roms-ranks") return {name, roms, usual, ""};
  if (name == "roms-benchmark")
    return {name,  {"none", "gather", "native", "pnetcdf-collective", "netcdf-collective"},
            usual, "large",
            false, ProgramKind::roms_benchmark,
            50};
  if (name == "streams")
    return {
        name,  {"none", "accumulate", "native", "streams", "native+thread", "streams+thread", "bare-gather"},
        usual, "large",
        false, ProgramKind::streams,
        24};
  if (name == "seven-ways")
    return {name,
            {"serial-ascii", "ascii-per-process", "binary-per-process", "netcdf-independent",
             "netcdf-collective", "mpiio-independent", "mpiio-collective", "native", "limit"},
            {"raw", "cdf5", "netcdf4"},
            ""};
  if (name == "restart")
    return {name,
            {"native", "pnetcdf-collective", "netcdf-collective", "mpiio-collective", "mpiio-independent",
             "limit"},
            usual,
            ""};
  if (name == "mom-output")
    return {name,
            {"gather", "native", "native-per-process", "pnetcdf-collective", "netcdf-collective",
             "mpiio-collective", "limit"},
            usual,
            "",
            true};
  if (name == "commits")
    return {
        name,
        {"native", "native+format=netcdf4", "gather", "bare-pnetcdf-collective", "bare-netcdf-collective"},
        usual,
        ""};
  if (name == "many-fields") return {name, {"native+format=netcdf4", "native+zarr"}, usual, ""};
  return {name, {"native", "limit"}, usual, ""};
}

}  // namespace

Experiment experiment_of(const std::string& workload) {
  auto experiment = described(workload);
  std::erase_if(experiment.methods, [](const std::string& name) {
    return std::none_of(
        methods().begin(), methods().end(),
        [base = name.substr(0, name.find('+'))](const MethodEntry& m) { return m.name == base && m.listed; });
  });
  return experiment;
}

}  // namespace shoal::bench
