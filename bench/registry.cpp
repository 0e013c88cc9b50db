// SPDX-License-Identifier: BSD-3-Clause
// The workloads, one entry each. Methods are listed in method.cpp.
#include <stdexcept>

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
      {"roms-benchmark",
       "an ocean that computes, with a history and an averages file every so many steps",
       {{"large", {512, 64, 30}},
        {"small", {128, 32, 10}},
        {"medium", {256, 64, 20}},
        {"paper", {512, 64, 30}}},
       10,
       roms_content},
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
      {"commits",
       "a time and two small fields of doubles a record, and a sync after each record: what a commit costs",
       {{"small", {100, 64, 1}}, {"medium", {400, 256, 1}}, {"large", {656, 640, 16}}},
       1000,
       commits_content,
       nullptr,
       "",
       1},
      {"many-fields",
       "a time and 100 small fields of floats a record, and a sync after each record: what many variables "
       "cost",
       {{"small", {100, 64, 1}}, {"medium", {400, 256, 1}}, {"large", {656, 640, 1}}},
       1000,
       many_fields_content,
       nullptr,
       "",
       1},
      {"streams",
       "the ocean of roms-benchmark with 20 fields: daily means and extremes, instants of each step",
       {{"large", {512, 64, 30}},
        {"small", {128, 32, 10}},
        {"medium", {256, 64, 20}},
        {"paper", {512, 64, 30}}},
       10,
       streams_content},
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

}  // namespace shoal::bench
