// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/shared_memory.hpp"

namespace shoal {

/// Memory that the ranks of a node share: POSIX shared memory, whose pages are reserved before they are used,
/// so that a full /dev/shm is an error and not a killed process. New memory is zeroed. A job that is killed
/// leaves nothing of it behind (SharedMemory).
class SharedWindow {
 public:
  SharedWindow() = default;
  /// A window of this size that these ranks kept, or else a new one. Only the first `zeroed` bytes are sure
  /// to be zero. Errors are those of the constructor. Collective over node.
  static SharedWindow kept_or_new(const Communicator& node, std::size_t bytes, std::size_t reserved,
                                  std::size_t zeroed);
  /// Keeps the window in this process for kept_or_new, with the pages that the process has mapped, which the
  /// system would give one by one: files of 16 ranks take 0.5 to 0.9 of the time. 32 MiB are kept at most.
  /// Local.
  void keep() noexcept;
  /// Gives the kept windows of this process back to the system. Local.
  static void drop_kept();
  /// A new window. The first `reserved` bytes may be used at once, others after reserve(). A single rank gets
  /// private memory. Error(no_memory) on all ranks alike. Collective over node.
  SharedWindow(const Communicator& node, std::size_t bytes, std::size_t reserved);
  SharedWindow(const Communicator& node, std::size_t bytes) : SharedWindow(node, bytes, bytes) {}
  SharedWindow(SharedWindow&& other) noexcept;
  SharedWindow& operator=(SharedWindow&& other) noexcept;
  SharedWindow(const SharedWindow&) = delete;
  SharedWindow& operator=(const SharedWindow&) = delete;
  ~SharedWindow();

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::int64_t id() const { return id_; }  ///< the same on all ranks, another for every window; not 0
  /// Maps the pages of the bytes [begin, end), which this process is about to use. Their blocks must be
  /// reserved. Local.
  void map(std::size_t begin, std::size_t end);
  static constexpr std::size_t k_block = 64 * 1024;  ///< pages that are mapped together, as Linux does
  /// Reserves bytes, for all ranks. False: there is no room for them. Local.
  bool reserve(std::size_t first, std::size_t bytes) const;

 private:
  Status open_together(const Communicator& node, SharedMemory& memory, SharedFd& file, std::size_t bytes);

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  int fd_ = -1;               ///< of the memory, as long as more of it can be reserved
  int ranks_ = 0;             ///< that share the window
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
