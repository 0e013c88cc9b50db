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
#include "comm/mpi_wait.hpp"

namespace shoal {

/// What a rank states when ranks match calls.
struct CallSignature {
  const char* does;           ///< what it is about to do, in words: "writes"
  std::uint64_t details = 0;  ///< a hash of what it does it to
  bool failed = false;        ///< it cannot
  bool any_flag = false;      ///< for whatever the caller wants to know of all ranks
  bool asks = false;          ///< for something else
  /// In words, what the calls do that this rank knows it left out: others may wait for it where one of them
  /// is matched. nullptr: it knows of none.
  const char* skipped_call = nullptr;
};

/// What ranks know after a match.
struct CallMatch {
  bool same = true;       ///< all said the same details
  bool failed = false;    ///< on any rank
  bool any_flag = false;  ///< on any rank
  bool asks = false;      ///< on any rank
  bool peers_diverged =
      false;  ///< the others matched a call that this rank left out, and know that somebody failed
};

/// Bytes to or from a rank.
struct RankMessage {
  int rank = 0;
  Bytes bytes;
};

class NodeCollectives;
struct WaitState;

/// How ranks that share memory match calls: through it, where they can, or by messages of MPI.
enum class CollectiveMethod { anyhow, by_messages };

/// How ranks come to a Comm.
struct Entry {
  double wait_seconds = 0;  ///< for a rank that does not come; 0: as was said last of the parent
  const char* call = "";    ///< what they are in: "create"; "": the same as before
  std::string of_what;      ///< "his.nc"
};

/// The ranks of a communicator, with calls of their own that no other Comm's get mixed up with. Errors of MPI
/// come out as Error(mpi). Move-only; freed with the last owner, unless MPI is finalized already.
///
/// Nobody waits for ever in a collective call: where a rank does not come in time all that came get
/// Error(timeout), and so do they and the late one in every later call of this Comm and of those that were
/// made of it, at once. What ranks do in MPI beside these calls they do when they have met here, and nothing
/// can come between.
class Comm {
 public:
  /// Collective over parent.
  explicit Comm(MPI_Comm parent, CollectiveMethod method = CollectiveMethod::anyhow, const Entry& entry = {});
  Comm(Comm&& other) noexcept;
  Comm& operator=(Comm&& other) noexcept;
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;
  ~Comm();

  /// For calls of MPI: a duplicate of its own. Made when it is asked for first; that is collective.
  MPI_Comm handle() const;
  /// A communicator with these ranks, to compare with others; not for messages. Local.
  MPI_Comm ranks() const;
  int rank() const { return rank_; }
  int size() const { return size_; }

  /// From now on; of_parent: also who is made of the same parent later. Local.
  void wait_at_most(double seconds, bool of_parent) const;
  double wait_seconds() const;
  /// While it lives this rank is in a call, which ranks that wait for it name: "write (his.nc)"; it may
  /// be part of another one. Local.
  class Calling {
   public:
    Calling(const Comm& comm, const char* name, const std::string& of_what);
    Calling(const Calling&) = delete;
    Calling& operator=(const Calling&) = delete;
    ~Calling();

   private:
    std::shared_ptr<WaitState> wait_state_;
    std::string around_;  ///< the call that it is part of
  };
  /// What this and those that are made of it have together. Local.
  WaitState& wait_state() const { return *wait_state_; }
  /// A rank's number on the board of these. Local.
  int board_rank(int rank) const {
    return board_ranks_.empty() ? rank : board_ranks_[static_cast<std::size_t>(rank)];
  }
  /// Waiting makes no sense any more: all later calls throw this. Local.
  void break_off(const Status& status) const;
  /// This rank makes no more calls, and the others do not know: they may still send to it. So MPI keeps the
  /// communicators of this and of those that are made of it. Local.
  void leave() const;

  /// Collective, all of them.
  void barrier() const;
  /// Do all ranks come to this call within the seconds? The same on all ranks, also on those that come later;
  /// nobody waits for these. Once in the life of a communicator. Collective, but for who never comes.
  bool all_arrive(double seconds) const;
  /// Every rank gets the bytes of root; any length.
  void broadcast(Bytes& bytes, int root) const;
  /// The same for a length that all ranks know.
  void broadcast(std::byte* data, std::int64_t bytes, int root) const;
  /// Root gets the bytes of all ranks, in order of ranks; others an empty vector.
  std::vector<Bytes> gather(const Bytes& mine, int root) const;
  /// Root gets the numbers of all ranks, one rank's after another's; as many on all ranks.
  std::vector<std::int64_t> gather(const std::vector<std::int64_t>& mine, int root) const;
  /// Each rank gets its element of root's vector.
  Bytes scatter(const std::vector<Bytes>& parts, int root) const;
  /// Each rank's element i goes to rank i; returns what came from each rank. Messages only where there are
  /// bytes, of any length.
  std::vector<Bytes> exchange(const std::vector<Bytes>& parts) const;
  /// The same where ranks have something for few others: no memory or message for the rest. Ranks ascending,
  /// each once, in what goes and in what came.
  std::vector<RankMessage> exchange(const std::vector<RankMessage>& parts) const;
  /// How many ranks name this one; `to`: no rank twice.
  int count_naming(const std::vector<int>& to) const;
  std::vector<std::int64_t> all_gather(std::int64_t mine) const;
  std::vector<Bytes> all_gather(const Bytes& mine) const;
  std::int64_t sum(std::int64_t mine) const;
  std::int64_t max(std::int64_t mine) const;
  std::int64_t min(std::int64_t mine) const;
  double max(double mine) const;
  /// Element by element; as many on all ranks, below 2^31.
  std::vector<std::int64_t> max(std::vector<std::int64_t> mine) const;
  std::vector<std::int64_t> sum(std::vector<std::int64_t> mine) const;
  /// Bits that are set on any rank.
  std::vector<std::int64_t> any_bits(std::vector<std::int64_t> mine) const;
  /// The ranks of one color, ordered by rank.
  Comm split(int color) const;
  /// The ranks of one color, ordered by key, and by rank where it is the same.
  Comm split(int color, int key) const;
  /// The ranks that share memory with this one. Where these are all, their calls are those of this one.
  Comm split_shared() const;

  /// Ranks match calls before they do something together that not all of them may have come to. All calls
  /// are matched in the same way, so that ranks on their way to different ones find each other here, and
  /// nobody waits in a call that others never make: then Error(out_of_step) on all ranks, now and at every
  /// later match, which compares nothing any more, as nobody knows by how many calls the ranks differ.
  /// of_root: becomes rank 0's box.
  CallMatch match_calls(const CallSignature& mine, Box* of_root = nullptr) const;
  /// Did ranks come to a match with different calls, or wait in vain?
  bool diverged() const;
  /// Error if they did. Local.
  void require_together() const;

  /// Every rank gets the Status of the lowest rank that failed (its `rank` is set), or ok.
  Status agree(const Status& mine) const;
  /// agree, and throw the outcome on all ranks if it is not ok.
  void agree_or_throw(const Status& mine) const;
  /// Run root's work on root alone; its failure is thrown on all ranks. The others sleep meanwhile, so that
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
  std::shared_ptr<const Comm> duplicate_;  // what this is a duplicate of; it has a communicator of MPI
  mutable MPI_Comm comm_ = MPI_COMM_NULL;
  std::shared_ptr<NodeCollectives> node_collectives_;  // where ranks that share memory match calls
  int rank_ = 0;
  int size_ = 1;
  std::shared_ptr<WaitState> wait_state_;
  std::vector<int> board_ranks_;  // numbers of the ranks there, if they are others
  mutable CallsOfMpi calls_;
  mutable Status diverged_;  // of ranks that made different calls
};

/// Throws Error(mpi) with MPI's text if the code of an MPI call is not success.
void check_mpi(int mpi_code, const char* what);

}  // namespace shoal
