// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>

// Plain reading and writing at offsets.
namespace shoal::bench {

[[noreturn]] inline void fail(const std::string& what, const std::string& path) {
  throw std::system_error(errno, std::generic_category(), what + " " + path);
}

/// All of it, however many calls that takes: pread of a std::byte*, or pwrite of a const one.
template <class Byte, class Transfer>
void transfer_all(Transfer&& transfer, int fd, Byte* data, std::int64_t bytes, std::int64_t offset,
                  const std::string& path) {
  while (bytes > 0) {
    const auto n = transfer(fd, data, static_cast<std::size_t>(bytes), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("transfer of", path);
    if (n == 0) throw std::runtime_error(path + " ends early");
    data += n;
    bytes -= n;
    offset += n;
  }
}
inline void write_all(int fd, const std::byte* data, std::int64_t bytes, std::int64_t offset,
                      const std::string& path) {
  transfer_all(::pwrite, fd, data, bytes, offset, path);
}
inline void read_all(int fd, std::byte* data, std::int64_t bytes, std::int64_t offset,
                     const std::string& path) {
  transfer_all(::pread, fd, data, bytes, offset, path);
}

}  // namespace shoal::bench
