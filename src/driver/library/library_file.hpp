// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "driver/library/library_context.hpp"

namespace shoal {

/// Of one call: counts of MPI are int, PnetCDF takes less than 2 GiB, and MPI-IO libraries stumble from there
/// on.
constexpr std::int64_t k_most_bytes = std::int64_t{1} << 30;

/// What never changes of an open file; the same on all ranks.
struct LibraryTraits {
  bool fills = false;          ///< the library itself gives cells that nobody writes their fill value
  bool in_file_order = false;  ///< store and load have bytes as the variable's placement says
  /// store changes the memory it is given, if only for the time of the call: never the model's own array.
  bool changes_cells = false;
  bool holds_strings = false;  ///< store_strings and load_strings
  bool root_alone = false;     ///< rank 0 alone has the file; otherwise all ranks do, by MPI-IO
  /// Of MPI-IO: it may say nothing of bytes that had no room on the device.
  bool reports_to_nobody = false;
  /// The most bytes that one call of store or load takes; larger fields come in pieces.
  std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();
};

/// One file that another library has open. All functions are called by all ranks in the same order, unless it
/// says otherwise; they throw where they fail, on one rank or on all.
class LibraryFile {
 public:
  virtual ~LibraryFile() = default;

  virtual LibraryTraits traits() const = 0;

  /// Of a classic file that has variables: as Driver. On rank 0 alone.
  virtual bool has_place(const Schema& /*wanted*/) { return true; }
  /// Bring the file from the schema as it stands to wanted, which is that plus new dimensions, variables and
  /// attributes (or attributes with new values).
  virtual void extend(const Schema& wanted, std::vector<Placement>& placements) = 0;
  /// After extend: what the library made of the definitions (chunk shapes).
  virtual void describe(Schema& /*schema*/, std::vector<Placement>& /*placements*/) {}

  /// Cells of this region of the variable are stored next, by calls of store, or (replicated) of
  /// store_replicated or store_strings. The region is the same on all ranks.
  virtual void about_to_store(int /*variable*/, const Box& /*region*/, bool /*replicated*/) {}
  /// Must all ranks come to the next call of store? Otherwise ranks do not match calls in write, and one that
  /// could not take part is found when the file is synced. The same on all ranks; may change in calls
  /// that are matched.
  virtual bool stores_together() const { return true; }
  /// Where the cells of the next store are packed; asked after about_to_store. nullptr: anywhere. Libraries
  /// that queue can have them packed to where they are kept.
  virtual std::byte* buffer_for_cells(std::size_t /*bytes*/) { return nullptr; }
  /// Distributed cells, row-major. An empty box: this rank has none. The memory may be used again when store
  /// returns; who queues keeps a copy.
  virtual void store(int variable, const Box& box, const std::byte* cells) = 0;
  /// overlapping: ranks read the same cells (halos); the same on all ranks.
  virtual void load(int variable, const Box& box, std::byte* cells, bool overlapping) = 0;
  /// Replicated values: rank 0 has the box, for others it is empty. (The box of a scalar has no dimensions
  /// and is never empty: look at the rank.)
  virtual void store_replicated(int variable, const Box& box, const std::byte* values) = 0;
  /// all: every rank reads for itself; otherwise rank 0 alone has a box.
  virtual void load_replicated(int variable, const Box& box, std::byte* values, bool all) = 0;
  virtual void store_strings(int /*variable*/, const Box& /*box*/,
                             const std::vector<std::string>& /*values*/) {}
  virtual std::vector<std::string> load_strings(int /*variable*/, const Box& /*box*/) {  ///< on rank 0 alone
    return {};
  }

  /// Everything stored can be read back by all ranks.
  virtual void complete_pending() {}
  /// The file is whole as it is now, for other programs too; durable: the device has it. closing: close comes
  /// next.
  virtual void commit(bool durable, bool closing) = 0;
  virtual void close(bool durable) = 0;
  /// The first failure of the library to write after which nobody knows what it keeps and what of that is in
  /// the file: nothing that is written later makes the file whole again. sync and close report it each time.
  /// Local; also after close.
  virtual Status damage() const { return {}; }
};

/// Creates or opens the file, as the context says, which outlives it. Collective.
using LibraryOpener = std::unique_ptr<LibraryFile>(const LibraryContext& context);

}  // namespace shoal
