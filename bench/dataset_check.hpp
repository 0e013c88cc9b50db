// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "content.hpp"
#include "plain_file.hpp"

namespace shoal::bench {

/// Where the cells of one file of a dataset lie in the whole.
struct Piece {
  /// By the attribute domain_decomposition of the coordinate variables (FMS: first and last cell of the
  /// whole, first and last of the file, from 1); a dimension without one is there as a whole. `wrong` counts
  /// attributes that contradict the file or the content.
  struct Part {
    std::int64_t first = 0, count = 0;  ///< count -1: the file has no such dimension
    bool wrong = false;
  };
  static Part part_of(PlainFile& file, const Content& content, const std::string& dimension);
  /// The box of a field that a file has; empty if it has none of it.
  static Tile box_of(PlainFile& file, const Content& content, const Field& field);
};

/// Compares every value of a dataset, in one file or in several, with the workload, each rank a part of them.
/// The files are read one by one by PlainFile and put in their places here: no code that wrote them takes
/// part. Also wrong: cells in no file or in two, variables that are missing or of another type or shape, too
/// few or too many records. Returns what is wrong in this rank's part. Collective.
std::int64_t wrong_in_dataset(MPI_Comm comm, const std::string& path, const Content& content,
                              std::int64_t records);

}  // namespace shoal::bench
