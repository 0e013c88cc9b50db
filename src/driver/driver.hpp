// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
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
  /// `store` of all ranks as measured figures of the machine predict it (driver native); 0: not known.
  Seconds store_predicted = 0;
  std::string file_system;
  std::vector<std::string> hints_taken, hints_dropped;  ///< "key=value", as the library says
  std::vector<std::string> warnings;                    ///< what did not go as asked, and what to do
  std::vector<std::string> strategies;  ///< how the fields of each decomposition went, and why
};

/// Decompositions, by variable.
using Cuts = std::vector<std::shared_ptr<const Decomposition>>;

/// A call of which this rank cannot say what the others move: its arguments are bad.
struct RefusedCall {
  enum class Kind { write, read, put, get };
  Kind kind = Kind::write;
  Status why;                   ///< never ok
  std::optional<int> variable;  ///< of put, where that is known at least
};

/// The placement of a variable that lies where only a library, or other files, know.
inline Placement of_library(const Dims& shape) {
  Placement placement;
  placement.kind = Placement::Kind::library;
  placement.chunk = shape;
  return placement;
}

enum class OpenMode { create, create_exclusive, read, write };

/// One open file, and the way in which its bytes are moved. Every call is Collective (made by all ranks in
/// the same order) unless marked Local. The caller (dataset) checks preconditions: boxes inside of shapes,
/// types that convert, an open file.
class Driver {
 public:
  virtual ~Driver() = default;

  /// The definitions and record counts of the file, as far as this rank knows. Local.
  virtual const Schema& schema() const = 0;
  /// The storage of a variable, for inquiries. Local.
  virtual const Placement& placement(int variable) const = 0;
  virtual const Counters& counters() const = 0;
  /// The counters of servers that had a part in the dataset, on rank 0. Collective.
  virtual std::vector<Counters> counters_of_servers() { return {}; }

  /// Has the file room for the schema (Catalog::has_place)? If not, the data must move to a new file before
  /// define. Error on all ranks alike: no file can have the schema.
  virtual bool has_place(const Schema& /*wanted*/) { return true; }
  /// The part of define that may fail where another file of a set does not: where the schema has no place,
  /// the data move, and only define lets the new file take the place, or drop_place removes it. What comes
  /// next is one of the two. Error on all ranks alike: nothing is changed.
  virtual void make_place(const Schema& /*wanted*/) {}
  virtual void drop_place() {}
  /// Brings the file to the schema, which is the same on all ranks. cuts: the decomposition of each variable;
  /// nullptr: it has none.
  virtual void define(const Schema& wanted, const Cuts& cuts) = 0;
  /// Makes what other ranks are needed for to move fields of the decomposition.
  virtual void prepare(const std::shared_ptr<const Decomposition>& decomposition) = 0;

  /// Frees the memory that the ranks of a node share for fields, until a call needs it again; all is stored
  /// (sync).
  virtual void drop_stage() {}

  /// Waits for other ranks of the node only if no slot is free. Failures are reported by sync or close.
  /// Failures of storing in the background may be thrown here, on all ranks alike; sync or close reports them
  /// again.
  virtual void write(const Transfer& transfer) = 0;
  /// Throws failures on all ranks alike.
  virtual void read(const Transfer& transfer) = 0;

  /// Replicated values, contiguous row-major, of the variable's type in memory order; strings instead for
  /// Type::string. put: rank 0's values count; failures are reported by sync or close. get: all ranks get the
  /// values.
  virtual void put(int variable, const Box& box, const std::byte* values,
                   const std::vector<std::string>& strings) = 0;
  virtual void get(int variable, const Box& box, std::byte* values, std::vector<std::string>& strings) = 0;

  /// This rank's part in a call that the others make, where ranks do something together in it: they learn why
  /// it is refused. Of read and get: throws on all ranks alike.
  virtual void refuse(const RefusedCall& call) = 0;

  /// Can this rank read alone, without the others, and can it write alone?
  virtual bool fetches() const { return false; }
  virtual bool stores() const { return false; }
  /// Can others copy from it part by part (Dataset::copy)? Only where fetches().
  virtual bool copies() const { return false; }
  /// Cells of a box, row-major, of the variable's type in memory order. What this rank stored is there; what
  /// others did, once all have synced. Error(state): what ranks wrote together since is on its way. Local;
  /// only where fetches().
  virtual void fetch(int /*variable*/, const Box& /*box*/, std::byte* /*values*/) {}
  /// Stores cells of a box, row-major, in the type and the byte order of the file. They are in it after the
  /// next sync at the latest, which may report failures, too. Not of variables whose placement is encoded or
  /// of a library. Local; only where stores().
  virtual void store(int /*variable*/, const Box& /*box*/, const std::byte* /*cells*/) {}

  /// Comm::match_calls of all ranks, before they do something together. Collective over comm, which is the
  /// driver's.
  virtual CallMatch match_calls(const Comm& comm, const CallSignature& signature) {
    return comm.match_calls(signature);
  }
  /// Comm::diverged, of a communicator of the driver's own in which calls are matched.
  virtual bool diverged() const { return false; }
  /// The failure of this rank's background since the last sync; the next sync reports it, too. Local.
  virtual Status failure() const { return {}; }
  /// Stores everything, agrees on failures, and commits. After an Error the file can be used on: a failure
  /// that was reported is over.
  virtual void sync(bool durable) = 0;
  /// No more writes will follow: threads get all that is left to store. Local.
  virtual void submit_pending() {}
  /// Did the last sync or close leave a whole file, with all that was stored (even if it threw for values
  /// that did not fit)? The same on all ranks. Local.
  virtual bool whole() const { return false; }
  virtual void close(bool durable) = 0;
};

}  // namespace shoal
