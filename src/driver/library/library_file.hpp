// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "driver/library/library_context.hpp"

namespace shoal {

/// Most bytes of one call: counts of MPI are int, PnetCDF takes less than 2 GiB, and MPI-IO libraries fail
/// above this.
constexpr std::int64_t k_most_bytes = std::int64_t{1} << 30;

/// Properties of a library and a file, which do not change while it is open; the same on all ranks.
struct LibraryTraits {
  bool fills = false;          ///< the library itself stores the fill value in cells that are not written
  bool in_file_order = false;  ///< store and load take bytes in the file's byte order (Placement::swapped)
  /// store changes the memory it is given, if only for the time of the call: never the model's own array.
  bool changes_cells = false;
  bool holds_strings = false;  ///< store_strings and load_strings
  bool root_alone = false;     ///< rank 0 alone has the file; otherwise all ranks do, by MPI-IO
  /// MPI-IO (OMPIO) may report no error where the device had no room for bytes.
  bool may_hide_no_space = false;
  /// The most bytes that one call of store or load takes; larger fields come in pieces.
  std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();
};

/// What is stored next.
struct StoreRegion {
  int variable = 0;
  const Box& region;           ///< the same on all ranks
  bool replicated = false;     ///< by store_replicated or store_strings, else by store
  bool keeps_unowned = false;  ///< cells that no rank stores keep what the file has
};

/// A file that another library has open. All functions are called by all ranks in the same order unless
/// marked; they throw where they fail, on one rank or on all.
class LibraryFile {
 public:
  virtual ~LibraryFile() = default;

  virtual LibraryTraits traits() const = 0;

  /// Of a classic file that has variables: as Driver. On rank 0 alone.
  virtual bool has_place(const Schema& /*wanted*/) { return true; }
  /// Adds to the file the dimensions, variables and attributes that `wanted` has beyond the context's schema;
  /// attributes may have new values.
  virtual void extend(const Schema& wanted, std::vector<Placement>& placements) = 0;
  /// After extend: takes what the library chose for the definitions (chunk shapes).
  virtual void describe(Schema& /*schema*/, std::vector<Placement>& /*placements*/) {}

  /// Cells of this region of the variable are stored next.
  virtual void about_to_store(const StoreRegion& /*next*/) {}
  /// Is the next call of store collective in the library? If not, ranks do not match calls in write, and a
  /// rank that took no part is found at the next sync. The same on all ranks; may change in calls that are
  /// matched.
  virtual bool stores_together() const { return true; }
  /// Where the cells of the next store are packed; asked after about_to_store. nullptr: anywhere. Libraries
  /// that queue can have them packed to where they are kept.
  virtual std::byte* buffer_for_cells(std::size_t /*bytes*/) { return nullptr; }
  /// Stores distributed cells, row-major. An empty box: this rank has none. The memory may be used again when
  /// store returns; libraries that queue keep a copy.
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

  /// Afterwards all ranks can read everything that was stored.
  virtual void complete_pending() {}
  /// Brings the file to a whole state that other programs can read; durable: on the device. closing: close
  /// follows.
  virtual void commit(bool durable, bool closing) = 0;
  virtual void close(bool durable) = 0;
  /// The first failed write after which it is not known what the library keeps in memory and what is in the
  /// file: no later write makes the file whole again. Each sync and close reports it. Local; also after
  /// close.
  virtual Status damage() const { return {}; }
};

/// Creates or opens the file of the context, which must outlive it. Collective.
using LibraryOpener = std::unique_ptr<LibraryFile>(const LibraryContext& context);

}  // namespace shoal
