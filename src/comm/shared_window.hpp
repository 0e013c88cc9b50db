// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "comm/comm.hpp"
#include "comm/shared_memory.hpp"

namespace shoal {

/// Memory that the ranks of a node share: POSIX shared memory, whose pages are reserved before they are used,
/// so that a full /dev/shm is an error and not a killed process. A new one is zeroed. Nothing of it is left
/// behind if a job is killed (SharedMemory).
class SharedWindow {
 public:
  SharedWindow() = default;
  /// One that these ranks kept, or else a new one; zeroed are the first bytes alone. Collective over node,
  /// errors as of the constructor.
  static SharedWindow kept_or_new(const Comm& node, std::size_t bytes, std::size_t reserved,
                                  std::size_t zeroed);
  /// Who makes another of this size has it again, with the pages that this process has mapped, without asking
  /// the system for memory, whose pages come one by one: files of 16 ranks take 0.5 to 0.9 of the time. A few
  /// are kept, and none that is large. Local.
  void keep() noexcept;
  /// Give back to the system what this process keeps. Local.
  static void drop_kept();
  /// Collective over node. Error(no_memory) on all its ranks if there is not enough. A single rank gets
  /// private memory. Of the bytes the first `reserved` may be used at once, others after reserve().
  SharedWindow(const Comm& node, std::size_t bytes, std::size_t reserved);
  SharedWindow(const Comm& node, std::size_t bytes) : SharedWindow(node, bytes, bytes) {}
  SharedWindow(SharedWindow&& other) noexcept;
  SharedWindow& operator=(SharedWindow&& other) noexcept;
  SharedWindow(const SharedWindow&) = delete;
  SharedWindow& operator=(const SharedWindow&) = delete;
  ~SharedWindow();

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::int64_t id() const { return id_; }  ///< the same on all ranks, another for every window; not 0
  /// This process is about to use these bytes, from one to before another, which are reserved, as all of
  /// their blocks are. Local.
  void map(std::size_t begin, std::size_t end);
  static constexpr std::size_t k_block = 64 * 1024;  ///< pages that are mapped together, as Linux does
  /// These bytes may be used from now on, by all ranks. False if there is no room for them. Local.
  bool reserve(std::size_t first, std::size_t bytes) const;

 private:
  Status open_together(const Comm& node, SharedMemory& memory, SharedFd& file, std::size_t bytes);

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  int fd_ = -1;               ///< of what more can be reserved
  int ranks_ = 0;             ///< that share it
  std::int64_t id_ = 0;       ///< the same for all of them, another for every window
  std::vector<bool> mapped_;  ///< blocks whose pages this process has
};

/// A 32-bit word in a shared window that ranks wait on without spinning (Linux futex between processes).
/// Local, all of them.
using SharedWord = std::atomic<std::uint32_t>;
static_assert(SharedWord::is_always_lock_free);

/// Sleep while word == seen, at most the seconds given (may wake earlier, for no reason).
void wait_while(SharedWord& word, std::uint32_t seen, double seconds);
/// Wake all that wait on the word.
void wake_all(SharedWord& word);
/// Wake one of them.
void wake_one(SharedWord& word);

}  // namespace shoal
