// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

struct libdeflate_compressor;
struct libdeflate_decompressor;

namespace shoal {

/// Streams of zlib and of gzip, made and read by libdeflate. Keeps its state from call to call; for one
/// thread at a time.
class Deflate {
 public:
  /// Returns the bytes written to `to`, which has room for as many as there are; 0: there would be no fewer.
  /// plane: shuffled cells have first so many least significant bytes, then as many of the next ones, ...;
  /// 0: the bytes are in another order. Those first planes of floats that hold nothing but noise, and land,
  /// are not searched: looking for something in them takes longer than all the rest, 1.76 s for fields that
  /// take 0.76 s so (E1 large). zstd is quick with noise by itself. Local.
  std::size_t compress(int level, std::span<const std::byte> bytes, std::size_t plane, std::byte* to);
  /// The same bytes as they are, in a stream that has its checksum: for those that compress would not make
  /// fewer. Returns the bytes written to `to`, which has room for bound(bytes.size()). Local.
  static std::size_t store(std::span<const std::byte> bytes, std::byte* to);
  static std::size_t bound(std::size_t bytes);
  /// False: damaged, or not of this size. Local.
  bool decompress(std::span<const std::byte> bytes, std::span<std::byte> to);

  /// The bytes, of which there are `most` at most. nullopt: damaged, or more. Local.
  std::optional<std::vector<std::byte>> decompress_up_to(std::span<const std::byte> bytes, std::size_t most);

  /// A member of gzip; `to` has gzip_bound(bytes.size()). Returns the bytes written there. Local.
  std::size_t compress_gzip(int level, std::span<const std::byte> bytes, std::span<std::byte> to);
  static std::size_t gzip_bound(std::size_t bytes);
  /// Of one member or several. False: damaged, or not of this size. Local.
  bool decompress_gzip(std::span<const std::byte> bytes, std::span<std::byte> to);

 private:
  struct Free {
    void operator()(libdeflate_compressor* c) const;
    void operator()(libdeflate_decompressor* d) const;
  };
  libdeflate_compressor* compressor(int level);
  libdeflate_decompressor* decompressor();
  /// Of a plane: is there anything to be found in it?
  enum class Kind { others, noise, noise_and_runs };
  Kind kind_of(std::span<const std::byte> plane);

  std::map<int, std::unique_ptr<libdeflate_compressor, Free>> compressors_;  // by level
  std::unique_ptr<libdeflate_decompressor, Free> decompressor_;
  std::vector<std::byte> samples_, tried_;
};

}  // namespace shoal
