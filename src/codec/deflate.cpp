// SPDX-License-Identifier: BSD-3-Clause
#ifdef SHOAL_HAVE_LIBDEFLATE
#include "codec/deflate.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <cstdint>

#include "base/error.hpp"

namespace shoal {

namespace {
// Of a zlib stream (RFC 1950, 1951).
constexpr std::size_t k_head = 2, k_checksum = 4;
constexpr std::size_t k_stored_head = 5, k_most_stored = 65535;

constexpr std::size_t k_least_plane = 64 * 1024;  // what is smaller is soon done
constexpr std::size_t k_sample = 8 * 1024;        // finds rows that are like the one before
constexpr std::size_t k_least_samples = 2, k_most_samples = 8;
constexpr std::size_t k_bytes_a_sample = 16 * k_sample;

/// Writes a block of a stream that is not compressed, and is not the last one.
std::byte* put_stored(std::span<const std::byte> bytes, std::byte* to) {
  const auto length = static_cast<std::uint16_t>(bytes.size());
  const auto inverse = static_cast<std::uint16_t>(~length);
  *to++ = std::byte{0};
  for (const auto number : {length, inverse})
    for (const int shift : {0, 8})
      *to++ = static_cast<std::byte>(number >> shift);
  return std::copy(bytes.begin(), bytes.end(), to);
}

/// As many bytes as chance would have it are like the one before: there are no land and no other constants.
bool has_no_runs(std::span<const std::byte> bytes) {
  std::size_t same = 0;
  for (std::size_t i = 1; i < bytes.size(); ++i)
    same += bytes[i] == bytes[i - 1] ? 1 : 0;
  return same < bytes.size() / 128;
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

bool Deflate::is_noise(std::span<const std::byte> plane) {
  if (plane.size() < k_least_plane || !has_no_runs(plane)) return false;
  const std::size_t count = std::clamp(plane.size() / k_bytes_a_sample, k_least_samples, k_most_samples);
  samples_.resize(count * k_sample);
  tried_.resize(samples_.size());
  for (std::size_t i = 0; i < count; ++i)
    std::copy_n(plane.begin() + static_cast<std::ptrdiff_t>((plane.size() - k_sample) / (count - 1) * i),
                k_sample, samples_.begin() + static_cast<std::ptrdiff_t>(i * k_sample));
  const std::size_t worth_it = samples_.size() - samples_.size() / 64;
  return libdeflate_deflate_compress(compressor(1), samples_.data(), samples_.size(), tried_.data(),
                                     worth_it) == 0;
}

std::size_t Deflate::compress(int level, std::span<const std::byte> bytes, std::size_t plane, std::byte* to) {
  std::size_t noise = 0;
  if (plane > 0)
    while (noise + plane <= bytes.size() && is_noise(bytes.subspan(noise, plane)))
      noise += plane;
  const std::size_t stored = noise + (noise + k_most_stored - 1) / k_most_stored * k_stored_head;
  // One byte fewer than there are.
  if (bytes.size() <= stored + k_head + k_checksum + 1) return 0;
  const std::size_t room = bytes.size() - 1 - stored - k_head - k_checksum;

  std::byte* at = to;
  *at++ = std::byte{0x78};  // deflate, looking 32 KiB back
  *at++ = std::byte{0x01};
  for (std::size_t i = 0; i < noise; i += k_most_stored)
    at = put_stored(bytes.subspan(i, std::min(k_most_stored, noise - i)), at);
  const auto rest = bytes.subspan(noise);
  const std::size_t got = libdeflate_deflate_compress(compressor(level), rest.data(), rest.size(), at, room);
  if (got == 0) return 0;
  at += got;
  const std::uint32_t sum = libdeflate_adler32(1, bytes.data(), bytes.size());
  for (const int shift : {24, 16, 8, 0})
    *at++ = static_cast<std::byte>(sum >> shift);
  return static_cast<std::size_t>(at - to);
}

bool Deflate::decompress(std::span<const std::byte> bytes, std::span<std::byte> to) {
  if (!decompressor_) decompressor_.reset(libdeflate_alloc_decompressor());
  if (!decompressor_) throw Error(Code::no_memory, "no memory for deflate");
  return libdeflate_zlib_decompress(decompressor_.get(), bytes.data(), bytes.size(), to.data(), to.size(),
                                    nullptr) == LIBDEFLATE_SUCCESS;
}

}  // namespace shoal
#endif
