// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/box.hpp"
#include "format/tiles/file_set.hpp"

namespace shoal::reference {

/// How one file stores its part of a variable, in cells of the whole.
struct StoredPart {
  int file = 0;
  Box owned;              ///< the cells that count as this file's
  Dims origin;            ///< where the file's own index 0 is
  Dims shape;             ///< of the variable in the file, halo included
  Dims chunk;             ///< blocks that lie together in the file, from origin on
  bool divisible = true;  ///< its blocks are plain bytes, row-major; not compressed
};

/// One grid of equal chunks over the whole of a variable.
struct ChunkGrid {
  Dims chunk;
  bool blocks_as_stored = true;  ///< chunks are the files' blocks; otherwise contiguous parts of them
};

/// The largest chunks of one shape into which the blocks of all files can be cut so that each lies together
/// in its file. Chunks may stick out of the whole (like those of HDF5), if they do so in the file.
/// Error(not_supported) if there are none that are worth it: names the dimension, and files with what they
/// hold of it.
ChunkGrid chunk_grid_of(const FileSet& set, int variable, const std::vector<StoredPart>& parts);

}  // namespace shoal::reference
