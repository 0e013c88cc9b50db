// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "comm/shared_window.hpp"
#include "comm/ties.hpp"

namespace shoal {

/// Collective calls of ranks that share memory: what those of MPI do, for few bytes. Ranks that wait sleep,
/// and let MPI go on with what others want of them. Where there are more ranks than cores a collective call
/// of MPI takes 1 to 4 ms, since ranks that look for messages keep the cores from those that would send them;
/// one of these takes 0.15 ms (16 ranks on 2 cores). Every call is collective, and must be the same on all
/// ranks, as with MPI; where they are not, all get Error(out_of_step), in this call or the next one. So they
/// do where ranks wait for each other in different objects, or for one that is gone; and Error(timeout) where
/// a rank does not come within Ties::wait_seconds. Then the object is broken: every later call throws the
/// same at once.
class NodeCollectives : public Place {
 public:
  /// Gets the bytes of a rank; may not throw.
  using Read = std::function<void(int rank, const std::byte*)>;

  /// Collective over ranks, which all share memory. on_board: their numbers on the board, if they are others.
  /// Error(no_memory) on all of them.
  NodeCollectives(const Comm& ranks, std::shared_ptr<Ties> ties, std::vector<int> on_board);
  ~NodeCollectives() override;
  std::uint64_t done_here() const override { return made_; }
  bool is_broken() const override;
  void break_off(Code code, const std::string& message) override;

  /// Of each rank in one call.
  std::int64_t most_bytes() const { return part_bytes_; }
  /// Everybody reads what everybody has: as many bytes, in order of ranks.
  void share(const std::byte* mine, std::int64_t bytes, const Read& read);
  /// Root reads what everybody has; the others do not wait.
  void collect(const std::byte* mine, std::int64_t bytes, int root, const Read& read);
  /// Everybody gets what root has; any length. Root does not wait.
  void spread(std::byte* data, std::int64_t bytes, int root);
  /// Comm::all_come. False at once if this is broken, or one of the ranks is gone.
  bool all_come(double seconds);

 private:
  enum class Call : std::uint32_t { share = 1, collect, spread };
  struct Head;
  struct Mark;
  struct Bank;
  struct Tag;
  /// That a word comes to a number, which it does when all ranks, or one, have made so many calls.
  struct Coming {
    SharedWord& word;
    std::uint32_t target;
    std::uint32_t calls;
    int rank = Awaited::k_all;
    bool opens = false;  ///< the word is that of a bank that is opened
  };
  Head& head() const;
  Mark& mark(int rank) const;
  Bank& bank() const;
  Tag& tag(int rank) const;
  std::byte* part(int rank) const;
  void enter(Call call, std::int64_t bytes);
  void arrive();
  void note_made();
  void open();
  void leave();
  void await(const Coming& coming);
  bool is_missing(const Coming& coming, int rank) const;
  std::vector<int> missing(const Coming& coming) const;
  void look_around(const Coming& coming, Seconds waited);
  void give_up(const Coming& coming, Code code, const std::string& message);
  std::string last_seen(const std::vector<int>& ranks) const;
  int on_board(int rank) const {
    return on_board_.empty() ? rank : on_board_[static_cast<std::size_t>(rank)];
  }
  std::string my_call() const;
  void let_mpi_go_on() const;
  [[noreturn]] void fall_out() const;
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
  std::int64_t head_bytes_;  ///< in front of the banks
  std::uint32_t calls_ = 0;  ///< so far
  std::uint64_t made_ = 0;   ///< of them, and of the one that is under way, what others wait for
  std::shared_ptr<Ties> ties_;
  std::vector<int> on_board_;
};

}  // namespace shoal
