// SPDX-License-Identifier: BSD-3-Clause
#include "comm/shared_window.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/text.hpp"

namespace shoal {

namespace {
std::int64_t id_of(const SharedMemory& memory) {
  constexpr std::uint64_t k_positive = ~std::uint64_t{0} >> 1U;
  Hash hash;
  hash.add(std::string_view(memory.name.data(), memory.name.size()));
  return static_cast<std::int64_t>(hash.value() & k_positive);
}

/// Those that nobody uses now, the oldest first.
struct Kept {
  static constexpr std::size_t k_most_bytes = 32 << 20;  // of all together
  std::mutex mutex;
  std::vector<SharedWindow> windows;
};
Kept& kept() {
  static Kept& all = *new Kept;  // datasets that are open when a program ends give theirs back after main
  return all;
}

std::byte* mapping_of(int fd, std::size_t bytes) {
  const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (p == MAP_FAILED)
    throw errno_error(errno,
                      fmt::format("cannot map {} of shared memory", bytes_text(static_cast<double>(bytes))));
  return static_cast<std::byte*>(p);
}

void fill(const SharedFd& file, std::size_t bytes, std::size_t reserved) {
  // Reserving takes the memory at once: a size that was a slip must not bring the machine down.
  constexpr std::size_t k_modest = 64 << 20;
  const auto free_memory = static_cast<std::size_t>(::sysconf(_SC_AVPHYS_PAGES)) *
                           static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (bytes > k_modest && bytes > free_memory / 4)
    throw Error(Code::no_memory, "{} of shared memory are more than a quarter of the {} that are free",
                bytes_text(static_cast<double>(bytes)), bytes_text(static_cast<double>(free_memory)));
  // Reserves the pages now: a later lack of memory would be a SIGBUS in the middle of a copy.
  const int failed = ::posix_fallocate(file.fd, 0, static_cast<off_t>(reserved));
  if (failed != 0)
    throw Error(Code::no_memory, "shared memory (/dev/shm) has no room for {}: {}",
                bytes_text(static_cast<double>(reserved)), std::strerror(failed));
}
}  // namespace

SharedWindow::SharedWindow(const Communicator& node, std::size_t bytes, std::size_t reserved)
    : ranks_(node.size()) {
  if (node.size() == 1) {
    id_ = 1;
    data_ = mapping_of(-1, bytes);
    size_ = bytes;
    return;
  }
  SharedFd file;
  SharedMemory memory;
  Status status;
  if (node.rank() == 0)
    status = caught([&] {
      memory = SharedMemory::make(file);
      fill(file, bytes, reserved);
    });
  if (!status.ok()) memory.take_name_away();
  SharedMemory all = status.ok() ? memory : SharedMemory{};
  node.broadcast(reinterpret_cast<std::byte*>(&all), sizeof all, 0);
  id_ = id_of(all);
  if (all.name[0] != 0) status = open_together(node, all, file, bytes);  // else rank 0 says why
  if (all.name[0] == 0) status = node.agree(status);
  if (!status.ok()) {
    if (data_ != nullptr) ::munmap(data_, bytes);
    data_ = nullptr;
    throw Error(status);
  }
  if (reserved < bytes) fd_ = std::exchange(file.fd, -1);
}

// By its name only where a rank sees no other way, and the name goes as soon as everybody has it open, or
// nobody ever will.
Status SharedWindow::open_together(const Communicator& node, SharedMemory& memory, SharedFd& file,
                                   std::size_t bytes) {
  const bool made_it = node.rank() == 0;
  const auto map_it = [&] {
    data_ = mapping_of(file.fd, bytes);
    size_ = bytes;
  };
  Status status = node.agree(caught([&] {
    if (!made_it && (memory.has_name || !memory.open_by_process(file)))
      throw Error(Code::not_found, "the process that made it cannot be seen");
    map_it();
  }));
  if (status.code == Code::not_found) {
    status = node.agree(made_it ? caught([&] { memory.give_name(file); }) : Status{});
    if (status.ok())
      status = node.agree(caught([&] {
        if (file.fd < 0) memory.open_by_name(file);
        if (data_ == nullptr) map_it();
      }));
  }
  if (made_it) memory.take_name_away();
  return status;
}

SharedWindow::SharedWindow(SharedWindow&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      fd_(std::exchange(other.fd_, -1)),
      ranks_(other.ranks_),
      id_(other.id_),
      mapped_(std::move(other.mapped_)) {}

SharedWindow& SharedWindow::operator=(SharedWindow&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(fd_, other.fd_);
  std::swap(ranks_, other.ranks_);
  std::swap(id_, other.id_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

SharedWindow::~SharedWindow() {
  if (data_ != nullptr) ::munmap(data_, size_);
  if (fd_ >= 0) ::close(fd_);
}

// Touching a page for the first time costs a process more than filling it: 1.05 us, asked for together 0.67
// us to be written, and 0.23 us to be read. For pages that another process has touched come sixteen at a time
// (and may be written), but only when they are read. One that is alone has memory of its own, which is there
// when it is written.
void SharedWindow::map(std::size_t begin, std::size_t end) {
  mapped_.resize((size_ + k_block - 1) / k_block);
  const std::size_t last = std::min(mapped_.size(), (end + k_block - 1) / k_block);
  for (std::size_t block = begin / k_block; block < last; ++block) {
    const std::size_t first = block;
    while (block < last && !mapped_[block])
      mapped_[block++] = true;
    if (block == first) continue;
#ifdef MADV_POPULATE_READ
    // Where the kernel cannot, it is done page by page.
    ::madvise(data_ + first * k_block, std::min(size_, block * k_block) - first * k_block,
              ranks_ == 1 ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
#endif
  }
}

// Ranks give a window back one by one: only one that all of them gave back is taken, and nobody touches it
// before all have agreed. What is kept and of no use now may be the memory that is missing.
SharedWindow SharedWindow::kept_or_new(const Communicator& node, std::size_t bytes, std::size_t reserved,
                                       std::size_t zeroed) {
  auto& [mutex, windows] = kept();
  SharedWindow mine;
  {
    const std::lock_guard lock(mutex);
    const auto found = std::find_if(windows.rbegin(), windows.rend(), [&](const SharedWindow& w) {
      const bool has_all = w.fd_ < 0;  // else more has to be reserved before it is used
      return w.size_ == bytes && w.ranks_ == node.size() && (has_all || reserved < bytes);
    });
    if (found != windows.rend()) {
      mine = std::move(*found);
      windows.erase(std::next(found).base());
    }
  }
  const std::int64_t id = mine.data_ != nullptr ? mine.id_ : 0;
  const auto ids = node.max({id, -id});
  if (ids[0] != 0 && ids[0] == -ids[1]) {
    if (node.rank() == 0) std::memset(mine.data_, 0, zeroed);
    node.barrier();
    return mine;
  }
  mine.keep();
  try {
    return {node, bytes, reserved};
  } catch (const Error& e) {
    if (e.code() != Code::no_memory) throw;
  }
  drop_kept();
  node.barrier();
  return {node, bytes, reserved};
}

void SharedWindow::keep() noexcept {
  if (data_ == nullptr || size_ > Kept::k_most_bytes) return;
  try {
    auto& [mutex, windows] = kept();
    const std::lock_guard lock(mutex);
    windows.push_back(std::move(*this));
    std::size_t all = 0;
    for (const auto& window : windows)
      all += window.size_;
    for (; all > Kept::k_most_bytes; windows.erase(windows.begin()))
      all -= windows.front().size_;
  } catch (...) {  // no memory to note it: then it is given back
  }
}

void SharedWindow::drop_kept() {
  auto& [mutex, windows] = kept();
  const std::lock_guard lock(mutex);
  windows.clear();
}

bool SharedWindow::reserve(std::size_t first, std::size_t bytes) const {
  return fd_ < 0 || ::posix_fallocate(fd_, static_cast<off_t>(first), static_cast<off_t>(bytes)) == 0;
}

void wait_while(SharedWord& word, std::uint32_t seen, double seconds) {
  static_assert(sizeof(SharedWord) == sizeof(std::uint32_t));
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(seconds);
  limit.tv_nsec = static_cast<long>((seconds - std::floor(seconds)) * 1e9);
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, seen, &limit, nullptr, 0);
}

namespace {
void wake(SharedWord& word, int most) {
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, most, nullptr, nullptr, 0);
}
}  // namespace

void wake_all(SharedWord& word) {
  wake(word, INT_MAX);
}

void wake_one(SharedWord& word) {
  wake(word, 1);
}

}  // namespace shoal
