// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/box.hpp"
#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/numbered.hpp"
#include "comm/communicator.hpp"
#include "comm/mpi_calls.hpp"
#include "comm/mpi_wait.hpp"

namespace shoal {

/// What a rank brings to a match of calls (Comm::match_calls).
struct CallSignature {
  const char* does;           ///< the call in words, after "this rank": "writes"
  std::uint64_t details = 0;  ///< a hash of the call's arguments
  bool failed = false;        ///< this rank cannot make the call
  bool any_flag = false;      ///< a flag of the caller's: true in the match if it is on any rank
  bool asks = false;          ///< a second such flag
  bool waits = false;         ///< a third: cells wait that this rank wrote alone
  /// The kind of calls that this rank has skipped, in words as `does`: others may wait for it in the match of
  /// one of them. nullptr: none.
  const char* skipped_call = nullptr;
};

/// The outcome of a match of calls, the same on all ranks but for peers_diverged.
struct CallMatch {
  bool same = true;       ///< `details` are equal on all ranks
  bool failed = false;    ///< on any rank
  bool any_flag = false;  ///< on any rank
  bool asks = false;      ///< on any rank
  bool waits = false;     ///< on any rank
  /// The others matched a call that this rank has skipped, and know that a rank failed.
  bool peers_diverged = false;
};

/// Bytes to or from a rank.
struct RankMessage {
  int rank = 0;
  Bytes bytes;
};

class NodeCollectives;
struct WaitState;

/// How ranks match calls: through shared memory where they can (anyhow), or by messages of MPI alone.
enum class CollectiveMethod { anyhow, by_messages };

/// The call in which a Comm is made.
struct Entry {
  double wait_seconds = 0;  ///< limit of waiting; 0: the last one of the parent (Comm::wait_at_most)
  const char* call = "";    ///< for messages: "create"; "": the call that this rank is in already
  std::string of_what;      ///< its file: "his.nc"
};

/// A communicator of Shoal's own, with its collective calls. Errors of MPI are Error(mpi). Move-only; freed
/// with the last owner, unless MPI is finalized already.
///
/// No rank waits forever in a collective call: where a rank does not arrive in time, all that arrived get
/// Error(timeout), and these and the late rank get it at once in every later call of this Comm and of those
/// made of it. Calls of MPI that cannot be given up (handle()) are made when all ranks have arrived here.
class Comm final : public Communicator {
 public:
  /// Collective over parent.
  explicit Comm(MPI_Comm parent, CollectiveMethod method = CollectiveMethod::anyhow, const Entry& entry = {});
  Comm(Comm&& other) noexcept;
  Comm& operator=(Comm&& other) noexcept;
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;
  ~Comm();

  /// A duplicate of the communicator, for calls of MPI. The first call makes it, and is Collective.
  MPI_Comm handle() const;
  MPI_Comm ranks() const override;

  /// Sets the limit of waiting from now on; of_parent: also for Comms made of the same parent later. Local.
  void wait_at_most(double seconds, bool of_parent) const;
  double wait_seconds() const;
  /// While it lives this rank is in a call: "write (his.nc)", which the messages of ranks that wait for it
  /// name. Calls nest. Local.
  class Calling {
   public:
    Calling(const Comm& comm, const char* name, const std::string& of_what);
    Calling(const Calling&) = delete;
    Calling& operator=(const Calling&) = delete;
    ~Calling();

   private:
    std::shared_ptr<WaitState> wait_state_;
    std::string around_;  ///< the call that this one is within
  };
  /// Shared with the Comms made of this one. Local.
  WaitState& wait_state() const { return *wait_state_; }
  /// The number of a rank on the progress board. Local.
  int board_rank(int rank) const { return board_ranks_.empty() ? rank : board_ranks_[rank]; }
  /// This rank makes no more calls, while other ranks may still send to it: so the communicators of this Comm
  /// and of those made of it are never freed. Local.
  void leave() const;

  // From here on calls are Collective unless marked.
  void barrier() const override;
  /// Do all ranks arrive within the seconds? The same on all ranks, also on those that arrive later. At most
  /// once in the life of a Comm.
  bool all_arrive(double seconds) const;
  /// Every rank gets the bytes of root; any length.
  void broadcast(Bytes& bytes, int root) const;
  /// The same for a length that all ranks know.
  void broadcast(std::byte* data, std::int64_t bytes, int root) const override;
  /// Root gets the bytes of all ranks, in order of ranks; others an empty vector.
  std::vector<Bytes> gather(const Bytes& mine, int root) const;
  /// Root gets the numbers of all ranks, one rank's after another's; as many on all ranks.
  std::vector<std::int64_t> gather(const std::vector<std::int64_t>& mine, int root) const;
  /// Each rank gets its element of root's vector.
  Bytes scatter(const std::vector<Bytes>& parts, int root) const;
  /// Alltoall: element i of each rank goes to rank i; returns one element of each rank. Of any length; no
  /// message where there are no bytes.
  std::vector<Bytes> exchange(const std::vector<Bytes>& parts) const;
  /// The same where each rank sends to few others: no memory or message for the rest. Ranks ascend, each
  /// once, in parts and in the result.
  std::vector<RankMessage> exchange(const std::vector<RankMessage>& parts) const;
  /// How many ranks have this one in their list; `to`: no rank twice.
  int count_naming(const std::vector<int>& to) const;
  Numbered<std::int64_t> all_gather(std::int64_t mine) const;
  std::vector<Bytes> all_gather(const Bytes& mine) const;
  std::int64_t sum(std::int64_t mine) const;
  std::int64_t max(std::int64_t mine) const;
  std::int64_t min(std::int64_t mine) const;
  double max(double mine) const;
  /// Element by element; as many on all ranks, below 2^31.
  std::vector<std::int64_t> max(std::vector<std::int64_t> mine) const override;
  std::vector<std::int64_t> sum(std::vector<std::int64_t> mine) const;
  /// Bits that are set on any rank.
  std::vector<std::int64_t> any_bits(std::vector<std::int64_t> mine) const;
  /// The ranks of one color, ordered by rank.
  Comm split(int color) const;
  /// The ranks of one color, ordered by key, and by rank where it is the same.
  Comm split(int color, int key) const;
  /// The ranks that share memory with this one. Where these are all ranks, calls of both Comms are matched as
  /// one sequence.
  Comm split_shared() const;

  /// Matches calls, before ranks do something together. All calls are matched in the same way, so that ranks
  /// in different calls find each other here, and none waits in a call that others never make:
  /// Error(out_of_step) on all ranks, now and at every later match, which compares nothing any more, since
  /// ranks cannot know by how many calls they differ. of_root: becomes rank 0's box.
  CallMatch match_calls(const CallSignature& mine, Box* of_root = nullptr) const;
  /// Did ranks match different calls, or wait in vain? Local.
  bool diverged() const;
  /// Error if they did. Local.
  void require_together() const;

  /// Every rank gets the Status of the lowest rank that failed (its `rank` is set), or ok.
  Status agree(const Status& mine) const override;
  /// agree, and throw the outcome on all ranks if it is not ok.
  void agree_or_throw(const Status& mine) const;
  /// Runs the work on root alone; its failure is thrown on all ranks. The others sleep meanwhile, so that
  /// root has the cores to itself where there are more ranks than cores.
  template <class Work>
  void on_root(Work&& work, int root = 0) const {
    from_root(
        [&] {
          work();
          return Bytes{};
        },
        root);
  }
  /// on_root, and every rank gets the bytes that the work returns.
  template <class Work>
  Bytes from_root(Work&& work, int root = 0) const {
    Status status;
    Bytes result;
    if (rank_ == root) status = caught([&] { result = work(); });
    return outcome_of_root(std::move(status), std::move(result), root);
  }

 private:
  struct Adopt {};
  Comm(MPI_Comm own, std::shared_ptr<WaitState> wait_state, Adopt);
  Comm(std::shared_ptr<const Comm> duplicate, CollectiveMethod method, const Entry& entry);
  Comm(std::shared_ptr<const Comm> duplicate, std::shared_ptr<WaitState> wait_state,
       std::shared_ptr<NodeCollectives> node_collectives);
  static std::shared_ptr<const Comm> duplicate_of(MPI_Comm parent, const Entry& entry);
  static std::shared_ptr<Comm> new_duplicate(MPI_Comm parent, const std::shared_ptr<WaitState>& wait_state);
  static void arrive_together(MPI_Comm parent, WaitState& wait_state);
  MPI_Comm together() const;
  MPI_Comm in_step() const;
  void carry_out(const std::shared_ptr<void>& memory, const char* what,
                 const std::function<int(MPI_Comm, MPI_Request*)>& start) const;
  void find_board_ranks(const Comm& whole);
  void make_node_collectives();
  Comm split_by_memory() const;
  void release() noexcept;
  template <class T, class Join>
  void join_all(T* numbers, int count, MPI_Op op, MPI_Datatype type, Join&& join) const;
  Bytes scatter_on_node(const std::vector<Bytes>& parts, int root) const;
  std::vector<std::int64_t> swap(const std::vector<std::int64_t>& to) const;
  void most_of(std::int64_t* numbers, int count) const;
  [[noreturn]] void diverge(const std::string& does) const;
  Bytes outcome_of_root(Status status, Bytes result, int root) const;
  std::shared_ptr<const Comm> duplicate_;  // cached with the caller's; nullptr: comm_ is made otherwise
  mutable MPI_Comm comm_ = MPI_COMM_NULL;
  std::shared_ptr<NodeCollectives> node_collectives_;  // nullptr: ranks match calls by messages
  std::shared_ptr<WaitState> wait_state_;
  Numbered<int> board_ranks_;  // numbers of the ranks on the board; empty: the same
  mutable CallsOfMpi calls_;
  mutable Status diverged_;  // not ok: ranks made different calls
};

}  // namespace shoal
