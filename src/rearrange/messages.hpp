// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "comm/comm.hpp"
#include "pack/scratch_buffer.hpp"

namespace shoal {

/// So many bytes and some more: messages start at multiples of a cache line.
inline std::int64_t whole_lines(std::int64_t bytes) {
  constexpr std::int64_t line = 64;
  return (bytes + line - 1) / line * line;
}

/// A message to or from a rank. Its length is known on both sides; it may also be empty.
struct Message {
  int rank = 0;
  std::int64_t bytes = 0;
};

/// Memory for messages under way: each way so many bytes at most. No message is larger.
struct MessageBuffers {
  ScratchBuffer out, in;
  std::int64_t bytes = 0;
};

/// Move messages between ranks, not all at once where they do not fit: pack(i, to) makes message i and
/// returns its length (all or nothing), unpack(i, from, bytes) gets what came. Both lists in order of ranks,
/// as those of all ranks are, so that nobody waits for ever: the lowest rank can always send what it has.
/// Must not throw but for MPI's errors. Called by all ranks that have messages for each other.
void exchange_messages(const Comm& comm, MessageBuffers& buffers, std::span<const Message> out,
                       const std::function<std::int64_t(std::size_t, std::byte*)>& pack,
                       std::span<const Message> in,
                       const std::function<void(std::size_t, const std::byte*, std::int64_t)>& unpack);

}  // namespace shoal
