// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "comm/comm.hpp"
#include "decomp/decomposition.hpp"
#include "driver/options.hpp"
#include "pack/transfer.hpp"

namespace shoal {

/// Times in seconds and counts of one rank, for the report.
struct Counters {
  Seconds open = 0, define = 0, pack = 0, encode = 0, decode = 0, store = 0, read = 0, unpack = 0, commit = 0,
          close = 0;
  Seconds blocked = 0;      ///< waiting for other ranks or for a free slot, within write and read
  Seconds write_calls = 0;  ///< all time spent in write
  Seconds read_calls = 0;
  std::int64_t bytes_written = 0, bytes_read = 0;    ///< of files, by this rank
  std::int64_t bytes_past_cache = 0;                 ///< of those written
  std::int64_t bytes_encoded = 0;                    ///< of chunks, before compression
  std::int64_t bytes_encoded_again = 0;              ///< of those, that were in the file before
  std::int64_t writes = 0, reads = 0;                ///< system calls
  std::int64_t fields_written = 0, fields_read = 0;  ///< calls of write and read
  std::int64_t commits = 0;
  std::int64_t stage_bytes = 0;       ///< size of the node's stage
  std::int64_t stage_high_water = 0;  ///< most bytes of it in use at once
  std::int64_t slabs = 0;             ///< slot generations that were cut because a field did not fit
  std::int64_t messages = 0, message_bytes = 0;  ///< of cells, that this rank sent to ranks of other nodes
  std::int64_t bytes_moved = 0;  ///< of all ranks, on rank 0: data that moved to make room for definitions
  int nodes = 1, ranks_per_node = 1, writers = 1;
  /// Of `store` of all ranks, by figures of the machine (driver native, where it was measured); 0: not known.
  Seconds store_predicted = 0;
  std::string file_system;
  std::vector<std::string> hints_taken, hints_dropped;  ///< "key=value", as the library says
  std::vector<std::string> warnings;                    ///< what did not go as asked, and what to do
  std::vector<std::string> strategies;  ///< how the fields of each decomposition went, and why
};

/// Decompositions, by variable.
using Cuts = std::vector<std::shared_ptr<const Decomposition>>;

enum class OpenMode { create, create_exclusive, read, write };

/// Who moves the bytes of one open file. Every call is made by all ranks in the same order (Collective)
/// unless marked Local. Preconditions are checked by the caller (dataset): boxes inside of shapes, types that
/// convert, open file.
class Driver {
 public:
  virtual ~Driver() = default;

  /// What is in the file as far as this rank knows, definitions and record counts. Local.
  virtual const Schema& schema() const = 0;
  /// How a variable is stored, for inquiries. Local.
  virtual const Placement& placement(int variable) const = 0;
  virtual const Counters& counters() const = 0;
  /// Of ranks beside those of the communicator that had a part in the dataset; on rank 0. Collective.
  virtual std::vector<Counters> counters_of_servers() { return {}; }

  /// Would define find a place for the schema? Else the data must move first, to a new file
  /// (Catalog::has_place). Error on all ranks alike: the schema cannot be.
  virtual bool has_place(const Schema& /*wanted*/) { return true; }
  /// The part of define that may fail where another file of a set does not: where the schema has no place,
  /// the data move, and only define lets the new file take the place, or drop_place removes it. What comes
  /// next is one of the two. Error on all ranks alike: nothing is changed.
  virtual void make_place(const Schema& /*wanted*/) {}
  virtual void drop_place() {}
  /// Make the file agree with the schema, which is the same on all ranks. cuts: the decomposition of each
  /// variable, as far as there is one.
  virtual void define(const Schema& wanted, const Cuts& cuts) = 0;
  /// Work out what is needed to move fields of the decomposition, if that needs other ranks.
  virtual void prepare(const std::shared_ptr<const Decomposition>& decomposition) = 0;

  /// Never waits for other ranks on one node but for a free slot; its failures come out at sync or close.
  /// Throws, on all ranks alike, where something was not stored in the background; which comes out there as
  /// well.
  virtual void write(const Transfer& transfer) = 0;
  /// Failures come out here, on all ranks alike.
  virtual void read(const Transfer& transfer) = 0;

  /// Replicated values, contiguous row-major, of the variable's type in memory order; strings instead for
  /// Type::string. put: only rank 0's count, and failures come out at sync or close. get: all ranks get them;
  /// `status` as in Transfer.
  virtual void put(int variable, const Box& box, const std::byte* values,
                   const std::vector<std::string>& strings, const Status& status) = 0;
  virtual void get(int variable, const Box& box, std::byte* values, std::vector<std::string>& strings,
                   const Status& status) = 0;

  /// Can this rank read alone, without the others?
  virtual bool fetches() const { return false; }
  /// Cells of a box, row-major, of the variable's type in memory order. Local; only where fetches().
  virtual void fetch(int /*variable*/, const Box& /*box*/, std::byte* /*values*/) {}

  /// Comm::match_calls of all ranks, before they do something together. Collective over comm, which is the
  /// driver's.
  virtual CallMatch match_calls(const Comm& comm, const CallSignature& signature) {
    return comm.match_calls(signature);
  }
  /// Comm::diverged, of a communicator of the driver's own in which calls are matched.
  virtual bool diverged() const { return false; }
  /// What this rank knows to have failed in the background since the last sync; it comes out there as well.
  /// Local.
  virtual Status failure() const { return {}; }
  /// Store everything, agree, commit. After an Error the file is usable: the failure is over once it was
  /// reported.
  virtual void sync(bool durable) = 0;
  /// Nothing more will be written: threads that store may have all there is. Local.
  virtual void submit_pending() {}
  /// Is the file whole since the last sync or close, with all that was stored, though that may have thrown
  /// for values that did not fit? The same on all ranks. Local.
  virtual bool whole() const { return false; }
  virtual void close(bool durable) = 0;
};

}  // namespace shoal
