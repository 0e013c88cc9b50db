// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "comm/shared_window.hpp"

namespace shoal {

/// Where ranks that share memory meet: what collective calls of MPI do, for few bytes. Ranks that wait sleep,
/// and let MPI go on with what others want of them. Where there are more ranks than cores a collective call
/// of MPI takes milliseconds, since ranks that look for messages keep the cores from those that would send
/// them. Every call is collective, and must be the same on all ranks, as with MPI; where they are not, those
/// that notice get Error(out_of_step).
class MeetingRoom {
 public:
  /// Gets the bytes of a rank; may not throw.
  using Read = std::function<void(int rank, const std::byte*)>;

  /// Collective over ranks, which all share memory. Error(no_memory) on all of them.
  explicit MeetingRoom(const Comm& ranks);
  ~MeetingRoom();
  MeetingRoom(const MeetingRoom&) = delete;
  MeetingRoom& operator=(const MeetingRoom&) = delete;

  /// Of each rank in one call.
  std::int64_t most_bytes() const { return part_bytes_; }
  /// Everybody reads what everybody has: as many bytes, in order of ranks.
  void share(const std::byte* mine, std::int64_t bytes, const Read& read);
  /// Root reads what everybody has; the others do not wait.
  void collect(const std::byte* mine, std::int64_t bytes, int root, const Read& read);
  /// Everybody gets what root has; any length. Root does not wait.
  void spread(std::byte* data, std::int64_t bytes, int root);
  /// Comm::all_come.
  bool all_come(double seconds);

 private:
  enum class Call : std::uint32_t { share = 1, collect, spread };
  struct Head;
  struct Bank;
  struct Tag;
  Head& head() const;
  Bank& bank() const;
  Tag& tag(int rank) const;
  std::byte* part(int rank) const;
  void enter(Call call, std::int64_t bytes);
  void arrive() const;
  void leave();
  void await(SharedWord& word, std::uint32_t target) const;
  void let_mpi_go_on() const;
  [[noreturn]] void fall_out() const;
  void check(Call call, std::int64_t bytes, int rank) const;
  void read_all(Call call, std::int64_t bytes, const Read& read);

  SharedWindow window_;
  MPI_Comm ranks_;  ///< outlives this
  int rank_;
  int size_;
  double spin_;              ///< seconds in which a rank looks before it sleeps
  std::int64_t part_bytes_;  ///< of a rank, in a bank
  std::int64_t tag_bytes_;   ///< of all ranks, in a bank
  std::int64_t bank_bytes_;
  std::uint32_t calls_ = 0;  ///< so far
};

}  // namespace shoal
