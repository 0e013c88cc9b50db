// SPDX-License-Identifier: BSD-3-Clause
// Blocks that Shoal writes itself into a zlib stream.
#ifdef SHOAL_HAVE_LIBDEFLATE
#include <doctest/doctest.h>

#include <random>

#include "base/bytes.hpp"
#include "codec/deflate.hpp"
#include "codec/deflate_blocks.hpp"

namespace {

using namespace shoal;

std::uint32_t adler32(const Bytes& bytes) {
  std::uint32_t a = 1, b = 0;
  for (const auto byte : bytes) {
    a = (a + std::to_integer<std::uint32_t>(byte)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

/// A stream of which `put` writes all that has bytes in it.
template <typename Put>
Bytes stream_of(const Bytes& bytes, Put put) {
  Bytes stream(bytes.size() / 65535 * 5 + DeflateBlocks::bound(bytes.size()) + 64);
  stream[0] = std::byte{0x78};
  stream[1] = std::byte{0x01};
  DeflateBlocks blocks(stream.data() + 2);
  put(blocks);
  const std::byte* end = blocks.end();
  stream.resize(static_cast<std::size_t>(end - stream.data()));
  for (const int last : {1, 0, 0, 255, 255})
    stream.push_back(static_cast<std::byte>(last));
  for (const int shift : {24, 16, 8, 0})
    stream.push_back(static_cast<std::byte>(adler32(bytes) >> shift));
  return stream;
}

bool is_read_as(const Bytes& stream, const Bytes& bytes) {
  Bytes again(bytes.size());
  return Deflate().decompress(stream, again) && again == bytes;
}

TEST_CASE("deflate: runs of every length and value, among bytes of every value") {
  std::mt19937 random(7);
  Bytes bytes;
  for (std::size_t length = 1; length <= 700; ++length) {
    bytes.insert(bytes.end(), length, static_cast<std::byte>(length));
    for (auto i = random() % 5; i > 0; --i)
      bytes.push_back(static_cast<std::byte>(random()));
  }
  bytes.insert(bytes.end(), 100000, std::byte{255});
  for (int value = 0; value < 256; ++value)
    bytes.push_back(static_cast<std::byte>(value));
  const auto stream = stream_of(bytes, [&](DeflateBlocks& blocks) { blocks.put_runs(bytes); });
  CHECK(is_read_as(stream, bytes));
  // Short runs cost what they have, long ones next to nothing.
  CHECK(stream.size() < 46 * 48 + 700 * 10 + 100000 / 258 * 2 + 1000);
}

TEST_CASE("deflate: blocks of all kinds, one after the other, of all small sizes") {
  std::mt19937 random(8);
  for (std::size_t size = 0; size < 300; ++size) {
    Bytes part(size), bytes;
    for (auto& byte : part)
      byte = static_cast<std::byte>(random() % 2 == 0 ? 17 : random());
    const auto stream = stream_of(
        [&] {
          for (int i = 0; i < 4; ++i)
            bytes.insert(bytes.end(), part.begin(), part.end());
          return bytes;
        }(),
        [&](DeflateBlocks& blocks) {
          blocks.put_runs(part);
          blocks.put_stored(part);
          blocks.put_runs(part);
          blocks.put_runs(part);
        });
    CAPTURE(size);
    CHECK(is_read_as(stream, bytes));
  }
  Bytes large(200001, std::byte{3});
  CHECK(is_read_as(stream_of(large, [&](DeflateBlocks& blocks) { blocks.put_stored(large); }), large));
}

TEST_CASE("deflate: no more bytes than promised, whatever they are") {
  for (const int value : {254, 255}) {
    Bytes bytes;
    for (int i = 0; i < 50000; ++i)  // values of 9 bits, and no run
      bytes.push_back(static_cast<std::byte>(i % 2 == 0 ? value : 509 - value));
    const auto stream = stream_of(bytes, [&](DeflateBlocks& blocks) { blocks.put_runs(bytes); });
    CHECK(is_read_as(stream, bytes));
    CHECK(stream.size() <= DeflateBlocks::bound(bytes.size()) + 16);
  }
}

TEST_CASE("deflate: any mixture of noise, land and order comes back, and is not larger than without") {
  std::mt19937 random(9);
  Deflate deflate;
  for (int trial = 0; trial < 60; ++trial) {
    const std::size_t plane = 65536 + random() % 70000;
    Bytes bytes(4 * plane + random() % 4);
    const auto land = random() % 3 == 0 ? 0 : random() % 100;
    const unsigned stretch = 1U << random() % 12;
    const auto noisy = random() % 5;  // planes
    for (std::size_t i = 0; i < bytes.size();) {
      const std::size_t end = std::min(bytes.size(), i + 1 + random() % stretch);
      const bool dry = random() % 100 < land;
      for (; i < end; ++i)
        bytes[i] = static_cast<std::byte>(dry ? 9 : i / plane < noisy ? random() : i / 1000);
    }
    CAPTURE(trial);
    Bytes with(bytes.size()), without(bytes.size());
    const int level = 1 + static_cast<int>(random() % 12);
    with.resize(deflate.compress(level, bytes, plane, with.data()));
    without.resize(deflate.compress(level, bytes, 0, without.data()));
    CHECK(with.empty() == without.empty());
    if (!with.empty()) CHECK(is_read_as(with, bytes));
    if (!without.empty()) CHECK(is_read_as(without, bytes));
    CHECK(static_cast<double>(with.size()) <= 1.02 * static_cast<double>(without.size()));
  }
}

}  // namespace
#endif
