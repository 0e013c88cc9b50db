// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/numbered.hpp"
#include "comm/shared_window.hpp"
#include "comm/wait_state.hpp"

namespace shoal {

/// Collective calls for few bytes among ranks that share memory, without MPI. Ranks that wait sleep, and call
/// MPI once a millisecond, so that messages of the model make progress. Where there are more ranks than cores
/// a collective call of MPI takes 1 to 4 ms, since ranks that poll keep the cores from those that would send;
/// one of these takes 0.15 ms (16 ranks on 2 cores).
///
/// All ranks must make the same calls, as with MPI. Error(out_of_step) on all ranks, in this call or the
/// next, where they do not, where ranks wait for each other at different wait points, and where one waits for
/// a rank that has departed. Error(timeout) where a rank does not arrive within WaitState::wait_seconds.
/// After any of these the object is broken: every later call throws the same at once.
class NodeCollectives : public WaitPoint {
 public:
  /// Called with the bytes of a rank; may not throw.
  using Read = std::function<void(int rank, const std::byte*)>;

  /// Collective over ranks, which all share memory. board_ranks: the numbers of the ranks on the board;
  /// empty: the same as in `ranks`. Error(no_memory) on all ranks alike.
  NodeCollectives(const Communicator& ranks, std::shared_ptr<WaitState> wait_state,
                  Numbered<int> board_ranks);
  ~NodeCollectives() override;
  std::uint64_t done_here() const override { return made_; }
  bool is_broken() const override;
  Status break_off(const Status& status) override;
  WaitState& wait_state() const override { return *wait_state_; }

  /// The most bytes of each rank in one call.
  std::int64_t most_bytes() const { return part_bytes_; }
  /// Allgather: all ranks read the bytes of all, in order of ranks; as many bytes on each.
  void share(const std::byte* mine, std::int64_t bytes, const Read& read);
  /// Gather: root reads the bytes of all; other ranks do not wait.
  void collect(const std::byte* mine, std::int64_t bytes, int root, const Read& read);
  /// Broadcast: all ranks get the bytes of root, of any length; root does not wait.
  void spread(std::byte* data, std::int64_t bytes, int root);
  /// Comm::all_arrive. False at once if this is broken, or one of the ranks has departed.
  bool all_arrive(double seconds);

 private:
  enum class Call : std::uint32_t { share = 1, collect, spread };
  struct WindowHeader;
  struct RankProgress;
  struct Bank;
  struct Tag;
  /// A word and the number that it reaches when all ranks, or one, have made so many calls.
  struct AwaitedWord {
    SharedWord& word;
    std::uint32_t target;
    std::uint32_t calls;
    int rank = Awaited::k_all;
    bool opens = false;  ///< the word is that of a bank that is opened
  };
  WindowHeader& header() const;
  RankProgress& progress(int rank) const;
  Bank& bank() const;
  Tag& tag(int rank) const;
  std::byte* part(int rank) const;
  void enter(Call call, std::int64_t bytes);
  void arrive();
  void note_made();
  void open();
  void leave();
  void await(const AwaitedWord& awaited);
  bool is_missing(const AwaitedWord& awaited, int rank) const;
  std::vector<int> missing(const AwaitedWord& awaited) const;
  void check_missing(const AwaitedWord& awaited, Seconds waited);
  void give_up(const AwaitedWord& awaited, const Status& status);
  Status outcome() const;
  std::string last_seen(const std::vector<int>& ranks) const;
  int board_rank(int rank) const { return board_ranks_.empty() ? rank : board_ranks_[rank]; }
  std::string my_call() const;
  void let_mpi_progress() const;
  [[noreturn]] void throw_broken() const;
  void check(Call call, std::int64_t bytes, int rank);
  void read_all(Call call, std::int64_t bytes, const Read& read);

  SharedWindow window_;
  MPI_Comm ranks_;  ///< outlives this
  int rank_;
  int size_;
  bool shares_cores_;        ///< there are more ranks than cores
  std::int64_t part_bytes_;  ///< of a rank, in a bank
  std::int64_t tag_bytes_;   ///< of all ranks, in a bank
  std::int64_t bank_bytes_;
  std::int64_t header_bytes_;  ///< in front of the banks
  std::uint32_t calls_ = 0;    ///< that are over
  std::uint64_t made_ = 0;     ///< calls in which others need not wait for this rank any more
  std::shared_ptr<WaitState> wait_state_;
  Numbered<int> board_ranks_;
};

}  // namespace shoal
