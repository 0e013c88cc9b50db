// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codec/filter.hpp"

namespace shoal {

/// "deflate", "shuffle", "fletcher32", "zstd", names of some that Shoal has no code for, or "filter 12345".
std::string name_of(const Filter& filter);
bool compresses(const Filter& filter);
bool is_checksum(const Filter& filter);
/// "shuffle+deflate:1", "blosc:zstd:5", "blosc:lz4:5:bitshuffle"; "none" if there is none.
std::string text_of(const Filters& filters);
/// What text_of gives, in any order and with blanks or commas too; levels may be left out. The order is made
/// shuffle, compression, checksum. Which of them a format has: FormatTraits::filters. Error(setting) says
/// what is allowed. Local.
Filters filters_of(const std::string& text);
/// Does this build have the code for them? If not, why, as a sentence; otherwise empty.
std::string missing_code(const Filters& filters);
/// Bytes that a chunk may have at most, for libraries that count in 32 bits. ChunkCoder refuses longer ones.
std::uint64_t longest_chunk(const Filters& filters);
/// Names of the filters that this build has the code for, with the library that does it ("deflate (libdeflate
/// 1.18)"), or of those that it lacks; "none" if there is none.
std::string filters_of_build(bool present);

/// Takes what is stored as a whole to its bytes and back. Keeps memory from call to call; for one thread at a
/// time.
class Coder {
 public:
  virtual ~Coder() = default;

  struct Stored {
    std::span<const std::byte> bytes;  ///< until the next call
    std::uint32_t left_out = 0;        ///< bit i: the chunk did not go through filter i
  };
  virtual Stored encode(std::span<const std::byte> chunk) = 0;
  /// chunk has the size that it had. Error(format): what is stored is damaged.
  virtual void decode(const Stored& stored, std::span<std::byte> chunk) = 0;
};

/// Takes chunks through filters and back, as HDF5 and numcodecs do, with the fastest libraries there are, of
/// which it keeps the state.
class ChunkCoder final : public Coder {
 public:
  /// element: bytes of one element of the variable. Error(not_supported): missing_code.
  ChunkCoder(Filters filters, std::size_t element);
  ChunkCoder(ChunkCoder&&) noexcept;
  ChunkCoder& operator=(ChunkCoder&&) noexcept;
  ~ChunkCoder() override;

  /// A chunk that would not shrink goes through all filters as well, and gets some bytes longer: what
  /// deflate, gzip and zstd store has a checksum of what was there. So nothing is left out.
  /// Error(not_supported): longest_chunk. Local.
  Stored encode(std::span<const std::byte> chunk) override;
  /// As far as damage can be seen: lz4 and blosc have no checksum. Takes memory by the size of the chunk,
  /// whatever the stored bytes say. Local.
  void decode(const Stored& stored, std::span<std::byte> chunk) override;

 private:
  struct Libraries;
  using Buffer = std::vector<std::byte>;
  /// plane: as Deflate.
  std::span<const std::byte> forward(const Filter& filter, std::span<const std::byte> bytes,
                                     std::size_t plane, Buffer& to);
  std::span<const std::byte> back(const Filter& filter, std::span<const std::byte> bytes, std::size_t size,
                                  Buffer& buffer, std::byte* to);

  Filters filters_;
  std::size_t element_;
  std::unique_ptr<Libraries> libraries_;
  Buffer buffers_[2];
};

/// Compressed by zstd, be it smaller or not. Local.
std::vector<std::byte> zstd(std::span<const std::byte> bytes, int level);
/// What zstd compressed, of whatever size, which the frame need not say. Error(format): damaged. Local.
std::vector<std::byte> unzstd(std::span<const std::byte> bytes);

/// Back through the filters, for elements of one byte, where nobody knows how many there are. Error(format):
/// damaged; memory is not taken by what a damaged head says. Error(not_supported): missing_code. Local.
std::vector<std::byte> decode_any_length(const Filters& filters, std::span<const std::byte> stored);

/// HDF5's checksum: Fletcher's over 16-bit words, the more significant byte first.
std::uint32_t fletcher32(std::span<const std::byte> bytes);

/// First bytes of all elements, then second ones, ...; what is left behind the last whole element is copied.
void shuffle(std::span<const std::byte> from, std::size_t element, std::byte* to);
void unshuffle(std::span<const std::byte> from, std::size_t element, std::byte* to);

}  // namespace shoal
