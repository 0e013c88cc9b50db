// SPDX-License-Identifier: BSD-3-Clause
// A chunk as it is stored: filters by the first byte, its length by the next two, then its bytes.
#include <array>

#include "codec/filters.hpp"
#include "fuzz.hpp"

using namespace shoal;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr std::array k_texts{"deflate:1",
                                      "zstd:1",
                                      "gzip:1",
                                      "lz4",
                                      "blosc:zstd:5",
                                      "blosc:lz4:5:bitshuffle",
                                      "crc32c",
                                      "fletcher32",
                                      "shuffle+zstd:1+fletcher32",
                                      "shuffle+blosc:zlib:1:noshuffle+crc32c"};
  if (size < 3) return 0;
  const Filters filters = filters_of(k_texts[data[0] % k_texts.size()]);
  if (!missing_code(filters).empty()) return 0;
  const std::size_t length = data[1] + std::size_t{256} * data[2];
  const std::span stored(reinterpret_cast<const std::byte*>(data) + 3, size - 3);
  Bytes chunk(length);
  const bool taken = fuzz::taken([&] { ChunkCoder(filters, sizeof(float)).decode({stored, 0}, chunk); });
  if (taken) {  // what was read can be stored again
    Bytes again(length);
    ChunkCoder coder(filters, sizeof(float));
    const auto encoded = coder.encode(chunk);
    const Bytes kept(encoded.bytes.begin(), encoded.bytes.end());
    coder.decode({kept, 0}, again);
    fuzz::require(again == chunk, "a chunk comes back");
  }
  fuzz::taken([&] { unzstd(stored); });
  return 0;
}
