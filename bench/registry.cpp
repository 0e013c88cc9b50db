// SPDX-License-Identifier: BSD-3-Clause
// What the benchmark knows: one line a workload, one line a method.
#include <stdexcept>

#include "method.hpp"
#include "workload.hpp"

namespace shoal::bench {

const std::vector<Workload>& workloads() {
  // Points in xi, eta and s.
  const std::vector<Size> roms{{"small", {82, 80, 16}},
                               {"medium", {246, 240, 16}},
                               {"large", {656, 640, 16}},
                               {"paper", {656, 640, 16}}};
  const std::vector<Size> roms_large{{"large", {656, 640, 16}},
                                     {"small", {82, 80, 16}},
                                     {"medium", {246, 240, 16}},
                                     {"paper", {656, 640, 16}}};
  static const std::vector<Workload> all{
      {"roms-size", "a ROMS history file, record after record, of three sizes", roms, 5, roms_content},
      {"roms-tiles", "the same at large size, cut in tiles of several shapes", roms_large, 5, roms_content},
      {"roms-ranks", "the same at large size, by more and more ranks", roms_large, 5, roms_content},
      {"seven-ways",
       "a plain array of doubles, shared evenly by all ranks",
       {{"small", {2'000'000, 1, 1}},
        {"medium", {10'000'000, 1, 1}},
        {"large", {40'000'000, 1, 1}},
        {"paper", {480'000'000, 1, 1}}},
       0,
       seven_ways_content},
      {"restart",
       "a restart file of an atmosphere model on a cubed sphere: columns in double precision, no records",
       {{"ne4", {866, 1, 26}},
        {"ne11", {6536, 1, 26}},
        {"ne30", {48602, 1, 26}},
        {"ne120", {777602, 1, 26}},
        {"small", {866, 1, 26}},
        {"medium", {6536, 1, 26}},
        {"large", {48602, 1, 26}},
        {"paper", {777602, 1, 26}}},
       0,
       restart_content,
       restart_size,
       "neN"},
      {"mom-output",
       "output of the ocean model MOM: five fields of the volume and five of the surface, float, a record an "
       "output",
       {{"small", {180, 135, 50}},
        {"medium", {360, 270, 50}},
        {"large", {1440, 1080, 50}},
        {"paper", {1440, 1080, 50}},
        {"paper-tenth", {3600, 2700, 75}}},
       4,
       mom_output_content},
      {"define", "1,000 replicated and 300 distributed variables, defined and closed", roms, 0,
       define_content},
  };
  return all;
}

const std::vector<MethodEntry>& methods() {
  const std::vector<std::string> classic{"cdf1", "cdf2", "cdf5"},
      every{"cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4-classic"};
  static const std::vector<MethodEntry> all{
      {"native", "native", "collective", "one", "Shoal; settings as variants: native+writers=1", every, true,
       false, false, make_native},
      {"shoal", "native", "collective", "one",
       "the same; for drivers of other libraries: shoal+driver=pnetcdf+access=independent", every, true,
       false, false, make_native},
      {"limit",
       "posix",
       "independent",
       "one",
       "each rank's bytes as one block, plain pwrite and pread",
       {"raw"},
       false,
       false,
       false,
       make_limit},
#ifdef SHOAL_HAVE_PNETCDF
      {"pnetcdf-collective", "pnetcdf", "collective", "one", "PnetCDF, a collective call a variable", classic,
       false, true, false, make_pnetcdf_collective},
      {"pnetcdf-independent", "pnetcdf", "independent", "one", "PnetCDF, each rank calls for itself", classic,
       false, true, false, make_pnetcdf_independent},
      {"pnetcdf-nonblocking", "pnetcdf", "nonblocking", "one",
       "PnetCDF, calls of a record queued and flushed by one collective call", classic, false, true, false,
       make_pnetcdf_nonblocking},
#endif
#ifdef SHOAL_HAVE_NETCDF
      {"gather", "gather", "independent", "one", "rank 0 collects, serial netCDF-C writes", every, false,
       false, false, make_gather},
      {"netcdf-collective",
       "netcdf",
       "collective",
       "one",
       "parallel netCDF-4",
       {"netcdf4", "netcdf4-classic"},
       false,
       true,
       false,
       make_netcdf_collective},
#endif
      {"mpiio-collective",
       "mpiio",
       "collective",
       "one",
       "MPI-IO, one derived datatype a field; distributed fields alone",
       {"raw"},
       false,
       true,
       false,
       make_mpiio_collective},
      {"mpiio-independent",
       "mpiio",
       "independent",
       "one",
       "MPI-IO, one call a contiguous run; distributed fields alone",
       {"raw"},
       false,
       true,
       false,
       make_mpiio_independent},
      {"hdf5-bare",
       "hdf5",
       "independent",
       "one",
       "definitions by one rank with HDF5 alone",
       {"netcdf4"},
       false,
       false,
       true,
       make_hdf5_bare},
  };
  return all;
}

const Workload& find_workload(const std::string& name) {
  std::string known;
  for (const auto& w : workloads()) {
    if (w.name == name) return w;
    known += (known.empty() ? "" : ", ") + w.name;
  }
  throw std::invalid_argument("there is no experiment '" + name + "'; there are " + known);
}

const MethodEntry& find_method(const std::string& name) {
  std::string known;
  for (const auto& m : methods()) {
    if (m.name == name) return m;
    known += (known.empty() ? "" : ", ") + m.name;
  }
  throw std::invalid_argument("there is no method '" + name + "' in this build; there are " + known);
}

Info::Info(const KeyValues& hints) {
  if (hints.empty()) return;
  MPI_Info_create(&info_);
  for (const auto& [key, value] : hints)
    MPI_Info_set(info_, key.c_str(), value.c_str());
}

Info::~Info() {
  if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
}

}  // namespace shoal::bench
