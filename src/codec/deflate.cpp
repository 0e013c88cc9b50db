// SPDX-License-Identifier: BSD-3-Clause
#ifdef SHOAL_HAVE_LIBDEFLATE
#include "codec/deflate.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <cstdint>

#include "base/error.hpp"
#include "codec/deflate_blocks.hpp"

namespace shoal {

namespace {
constexpr std::size_t k_head = 2, k_checksum = 4;  // at the ends of a zlib stream (RFC 1950)
constexpr std::size_t k_last = 5;                  // a block of no bytes, which is the last one

constexpr std::size_t k_least_plane = 64 * 1024;  // what is smaller is soon done
constexpr std::size_t k_sample = 8 * 1024;        // finds rows that are like the one before
constexpr std::size_t k_least_samples = 2, k_most_samples = 8;
constexpr std::size_t k_bytes_a_sample = 16 * k_sample;

std::size_t equal_neighbours(std::span<const std::byte> bytes) {
  std::size_t same = 0;
  for (std::size_t i = 1; i < bytes.size(); ++i)
    same += bytes[i] == bytes[i - 1] ? 1 : 0;
  return same;
}

std::byte* put_head(std::byte* at) {
  *at++ = std::byte{0x78};  // deflate, looking 32 KiB back
  *at++ = std::byte{0x01};
  return at;
}

std::byte* put_checksum(std::span<const std::byte> bytes, std::byte* at) {
  const std::uint32_t sum = libdeflate_adler32(1, bytes.data(), bytes.size());
  for (const int shift : {24, 16, 8, 0})
    *at++ = static_cast<std::byte>(sum >> shift);
  return at;
}

/// Copies bytes that are in no run, from `from` on, until `to` is full or there are no more; returns how
/// many.
std::size_t copy_without_runs(std::span<const std::byte> from, std::span<std::byte> to) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < from.size() && n < to.size();) {
    std::size_t end = i + 1;
    while (end < from.size() && from[end] == from[i])
      ++end;
    const std::size_t kept = end - i < DeflateBlocks::k_run ? std::min(end - i, to.size() - n) : 0;
    std::fill_n(to.begin() + static_cast<std::ptrdiff_t>(n), kept, from[i]);
    n += kept;
    i = end;
  }
  return n;
}
}  // namespace

void Deflate::Free::operator()(libdeflate_compressor* c) const {
  libdeflate_free_compressor(c);
}

void Deflate::Free::operator()(libdeflate_decompressor* d) const {
  libdeflate_free_decompressor(d);
}

libdeflate_compressor* Deflate::compressor(int level) {
  auto& found = compressors_[level];
  if (!found) found.reset(libdeflate_alloc_compressor(level));
  if (!found) throw Error(Code::no_memory, "no memory for deflate");
  return found.get();
}

Deflate::Kind Deflate::kind_of(std::span<const std::byte> plane) {
  const std::size_t size = plane.size();
  if (size < k_least_plane) return Kind::others;
  const std::size_t same = equal_neighbours(plane);
  // By chance one byte of 256 is like the one before.
  const bool has_runs = same >= size / 128;
  if (same > size / 4 * 3) return Kind::others;  // soon searched
  const std::size_t count = std::clamp(size / k_bytes_a_sample, k_least_samples, k_most_samples);
  samples_.resize(count * k_sample);
  tried_.resize(samples_.size());
  std::size_t got = 0;
  for (std::size_t i = 0; i < count; ++i)
    got += copy_without_runs(plane.subspan((size - k_sample) / (count - 1) * i),
                             std::span(samples_).subspan(got, k_sample));
  const std::size_t worth_it = got - got / 64;
  const bool is_noise =
      libdeflate_deflate_compress(compressor(1), samples_.data(), got, tried_.data(), worth_it) == 0;
  if (!is_noise) return Kind::others;
  return has_runs ? Kind::noise_and_runs : Kind::noise;
}

std::size_t Deflate::compress(int level, std::span<const std::byte> bytes, std::size_t plane, std::byte* to) {
  if (bytes.size() <= k_checksum) return 0;
  const std::byte* most = to + bytes.size() - 1 - k_checksum;  // one byte fewer than there are
  std::byte* at = put_head(to);
  DeflateBlocks blocks(at);
  auto rest = bytes;
  while (plane > 0 && rest.size() > plane) {
    const auto first = rest.first(plane);
    if (blocks.end() + DeflateBlocks::bound(plane) > most) break;
    const Kind kind = kind_of(first);
    if (kind == Kind::others) break;
    if (kind == Kind::noise)
      blocks.put_stored(first);
    else
      blocks.put_runs(first);
    rest = rest.subspan(plane);
  }
  at = blocks.end();
  if (at >= most) return 0;
  const std::size_t got = libdeflate_deflate_compress(compressor(level), rest.data(), rest.size(), at,
                                                      static_cast<std::size_t>(most - at));
  if (got == 0) return 0;
  return static_cast<std::size_t>(put_checksum(bytes, at + got) - to);
}

std::size_t Deflate::bound(std::size_t bytes) {
  return k_head + DeflateBlocks::stored_bytes(bytes) + k_last + k_checksum;
}

std::size_t Deflate::store(std::span<const std::byte> bytes, std::byte* to) {
  DeflateBlocks blocks(put_head(to));
  blocks.put_stored(bytes);
  std::byte* at = blocks.end();
  for (const int byte : {1, 0, 0, 255, 255})
    *at++ = static_cast<std::byte>(byte);
  return static_cast<std::size_t>(put_checksum(bytes, at) - to);
}

libdeflate_decompressor* Deflate::decompressor() {
  if (!decompressor_) decompressor_.reset(libdeflate_alloc_decompressor());
  if (!decompressor_) throw Error(Code::no_memory, "no memory for deflate");
  return decompressor_.get();
}

bool Deflate::decompress(std::span<const std::byte> bytes, std::span<std::byte> to) {
  return libdeflate_zlib_decompress(decompressor(), bytes.data(), bytes.size(), to.data(), to.size(),
                                    nullptr) == LIBDEFLATE_SUCCESS;
}

std::optional<std::vector<std::byte>> Deflate::decompress_up_to(std::span<const std::byte> bytes,
                                                                std::size_t most) {
  std::vector<std::byte> to(most);
  std::size_t written = 0;
  if (libdeflate_zlib_decompress(decompressor(), bytes.data(), bytes.size(), to.data(), to.size(),
                                 &written) != LIBDEFLATE_SUCCESS)
    return std::nullopt;
  to.resize(written);
  return to;
}

std::size_t Deflate::gzip_bound(std::size_t bytes) {
  return libdeflate_gzip_compress_bound(nullptr, bytes);
}

std::size_t Deflate::compress_gzip(int level, std::span<const std::byte> bytes, std::span<std::byte> to) {
  const auto size =
      libdeflate_gzip_compress(compressor(level), bytes.data(), bytes.size(), to.data(), to.size());
  if (size == 0) throw Error(Code::internal, "gzip had no room for {} bytes", bytes.size());
  return size;
}

bool Deflate::decompress_gzip(std::span<const std::byte> bytes, std::span<std::byte> to) {
  do {
    std::size_t read = 0, written = 0;
    if (libdeflate_gzip_decompress_ex(decompressor(), bytes.data(), bytes.size(), to.data(), to.size(), &read,
                                      &written) != LIBDEFLATE_SUCCESS)
      return false;
    bytes = bytes.subspan(read);
    to = to.subspan(written);
  } while (!bytes.empty());
  return to.empty();
}

}  // namespace shoal
#endif
