// SPDX-License-Identifier: BSD-3-Clause
#include "storage/past_cache.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/error.hpp"

namespace shoal {

namespace {

constexpr std::size_t k_bounce = std::size_t{1} << 20;
constexpr std::size_t k_most = std::size_t{1} << 30;  // bytes of one call

/// The descriptor takes direct writes while this lives.
class Direct {
 public:
  explicit Direct(int descriptor) : descriptor_(descriptor), flags_(::fcntl(descriptor, F_GETFL)) {
    on_ = flags_ >= 0 && ::fcntl(descriptor_, F_SETFL, flags_ | O_DIRECT) == 0;
  }
  ~Direct() {
    if (on_) ::fcntl(descriptor_, F_SETFL, flags_);
  }
  Direct(const Direct&) = delete;
  Direct& operator=(const Direct&) = delete;
  explicit operator bool() const { return on_; }

 private:
  int descriptor_;
  int flags_;
  bool on_ = false;
};

/// How memory has to be aligned; 0: the system does not say, or the file takes no direct writes of pages.
std::size_t memory_alignment(int descriptor) {
#ifdef STATX_DIOALIGN
  struct statx about {};
  if (::statx(descriptor, "", AT_EMPTY_PATH, STATX_DIOALIGN, &about) != 0) return 0;
  if ((about.stx_mask & STATX_DIOALIGN) == 0 || about.stx_dio_offset_align == 0) return 0;
  if (PastCache::k_page % about.stx_dio_offset_align != 0 || PastCache::k_page % about.stx_dio_mem_align != 0)
    return 0;
  return about.stx_dio_mem_align;
#else
  static_cast<void>(descriptor);
  return 0;
#endif
}

}  // namespace

void PastCache::Free::operator()(std::byte* p) const {
  std::free(p);
}

PastCache::PastCache(int descriptor) : descriptor_(descriptor), memory_align_(memory_alignment(descriptor)) {}

std::size_t PastCache::write(std::uint64_t offset, std::span<const std::byte> pages) {
  if (!possible()) return 0;
  const Direct direct(descriptor_);
  if (!direct) return 0;
  if (reinterpret_cast<std::uintptr_t>(pages.data()) % memory_align_ == 0)
    return write_aligned(offset, pages);
  if (!bounce_) bounce_.reset(static_cast<std::byte*>(std::aligned_alloc(k_page, k_bounce)));
  if (!bounce_) return 0;
  std::size_t done = 0;
  while (done < pages.size()) {
    const std::size_t bytes = std::min(k_bounce, pages.size() - done);
    std::memcpy(bounce_.get(), pages.data() + done, bytes);
    const std::size_t written = write_aligned(offset + done, {bounce_.get(), bytes});
    done += written;
    if (written < bytes) break;
  }
  return done;
}

std::size_t PastCache::write_aligned(std::uint64_t offset, std::span<const std::byte> pages) {
  std::size_t done = 0;
  while (done < pages.size()) {
    const ssize_t n = ::pwrite(descriptor_, pages.data() + done, std::min(pages.size() - done, k_most),
                               static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EIO)
      throw errno_error(
          EIO, fmt::format("cannot write {} bytes past the page cache at offset {}", pages.size(), offset));
    if (n < 0 && errno == EINVAL) memory_align_ = 0;  // it said so, and cannot
    // Of what is not a whole page, the ordinary way makes one.
    if (n <= 0 || static_cast<std::size_t>(n) % k_page != 0)
      return done + (n > 0 ? static_cast<std::size_t>(n) / k_page * k_page : 0);
    done += static_cast<std::size_t>(n);
  }
  return done;
}

}  // namespace shoal
