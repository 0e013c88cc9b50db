// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "comm/nodes.hpp"
#include "machine/figures.hpp"
#include "tune/write_probe.hpp"

namespace shoal {

struct TuneRequest {
  std::string folder;
  Seconds seconds = 120;
  std::int64_t writer_bytes = std::int64_t{64} << 20;  ///< of a writer in one probe, at most
  double scatter = 0.5;                                ///< of repeats, that figures may have to be kept
};

/// A row of a table.
struct Point {
  const char* name;                     ///< of the table, in the machine file
  RateTable FileSystemFigures::*table;  ///< nullptr: sync_bytes_per_second
  std::int64_t at;
  WriteProbe probe;
};
/// What is measured on such a machine, the most important first. stripes: numbers that files can have.
std::vector<Point> points_for(int nodes, int ranks_per_node, const std::vector<std::int64_t>& stripes);
/// How much repeats of one point differ: the middle half of them, as a part of their median; 1 of fewer than
/// three.
double scatter_of(std::vector<double> rates);
/// Bytes that the largest probe stores.
std::int64_t needed_bytes(const std::vector<Point>& points, std::int64_t writer_bytes);

/// Figures of one file system.
struct Measured {
  FileSystemFigures figures;
  std::vector<std::string> left_out;  ///< tables, and why: "write_by_size: repeats differ by 80 %"
  int rounds = 0;                     ///< whole ones
};
/// Measures in rounds over all points until the time is used up; what is kept is the median of each point. A
/// table with a row that was not measured, or scatters too much, is left out. The mount point is rank 0's
/// alone. Error(no_space): says how much is needed. Collective.
Measured measure_file_system(const Comm& comm, const Nodes& nodes, const TuneRequest& request);

/// The topmost folder above that is on the same file system. Local.
std::string mount_point_of(const std::string& folder);

}  // namespace shoal
