// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/numbered.hpp"
#include "codec/convert.hpp"
#include "decomp/node_share.hpp"
#include "driver/driver.hpp"
#include "format/catalog.hpp"
#include "pack/cells.hpp"
#include "pack/pieces.hpp"
#include "rearrange/even_partition.hpp"

namespace shoal {

/// One write or read of a field, with all that is needed to move its bytes.
struct FieldJob {
  const Transfer* transfer = nullptr;
  const VariableDef* variable = nullptr;
  const Placement* placement = nullptr;
  bool records = false;     ///< the first dimension counts records
  bool keeps = false;       ///< there are unowned cells, which keep the values of the file
  bool fills_gaps = false;  ///< what was never written of the region gets the fill value before; the same on
                            ///< all ranks
  std::vector<Box> gaps;    ///< that, as far as this rank knows
  const NodeShare* share = nullptr;
  /// Addresses of the chunks of the region (row-major in chunks_of(region)); empty for a regular placement,
  /// and for writing on ranks to which they come through the stage.
  Numbered<Location> addresses;
  std::int64_t alignment_bytes = 0;  ///< as in RearrangeOptions
  std::int64_t least_box_bytes = 0;  ///< the same
  bool addresses_listed = false;     ///< by the list above, not by the placement's rule
  /// The same for encoded chunks: reading, and writing parts of them, whose other cells stay as they are
  /// there; empty: the region has all cells that there are of its chunks.
  Numbered<StoredChunk> encoded;

  bool is_encoded() const { return placement->kind == Placement::Kind::encoded; }

  Element stored() const { return {variable->type, size_of(variable->type), placement->swapped}; }
};

/// A hash of the job's variable and region, chained to the one before, for ranks to compare.
std::uint64_t fingerprint_of(const FieldJob& job, std::uint64_t fingerprint_before);

/// The failure with the job's variable and records, unless it has a variable already.
Status located(const Status& failure, const FieldJob& job);

/// The message with the numbers of these records.
std::string of_records(std::int64_t first, std::int64_t count, const std::string& message);

/// Multiples of cells at which boxes of I/O ranks should begin.
Dims alignment_of(const FieldJob& job);
/// The rules by which a region is cut into these boxes.
PartRules part_rules_of(const FieldJob& job);

}  // namespace shoal
