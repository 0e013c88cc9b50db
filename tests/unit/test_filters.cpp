// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "codec/filters.hpp"

namespace {

using namespace shoal;

Bytes smooth(std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = 10.0F + std::sin(static_cast<float>(i) * 0.001F);
  Bytes bytes(n * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Bytes noise(std::size_t n, unsigned seed = 1) {
  std::mt19937 random(seed);
  Bytes bytes(n);
  for (auto& b : bytes)
    b = static_cast<std::byte>(random());
  return bytes;
}

Code code_of(const std::string& text, std::string* message = nullptr) {
  try {
    filters_of(text);
  } catch (const Error& e) {
    if (message != nullptr) *message = e.what();
    return e.code();
  }
  return Code::ok;
}

TEST_CASE("filters: what is written is made one order, and said back") {
  CHECK(text_of(filters_of("")) == "none");
  CHECK(text_of(filters_of(" none ")) == "none");
  CHECK(text_of(filters_of("deflate")) == "deflate:1");
  CHECK(text_of(filters_of("fletcher32 + Deflate:12,shuffle")) == "shuffle+deflate:12+fletcher32");
  CHECK(text_of(filters_of("zstd:22 shuffle")) == "shuffle+zstd:22");
  for (const char* bad : {"deflate:0", "deflate:13", "zstd:23", "shuffle:2", "gzip:10", "deflate:",
                          "deflate:1x", "deflate+zstd", "shuffle+shuffle", "none+deflate", "szip"}) {
    CAPTURE(bad);
    std::string message;
    CHECK(code_of(bad, &message) == Code::setting);
    CHECK(message.find("allowed: none, or shuffle") != std::string::npos);
  }
  CHECK(name_of({307}) == "bzip2");
  CHECK(name_of({40000}) == "filter 40000");
  CHECK(missing_code({{307}}) == "Shoal has no code for bzip2");
  for (const bool present : {true, false})
    for (const auto& name : words(filters_of_build(present)))
      if (name == "deflate" || name == "zstd") CHECK(missing_code(filters_of(name)).empty() == present);
  CHECK(filters_of_build(true).rfind("shuffle", 0) == 0);
}

TEST_CASE("shuffle: as the definition says, and back, for all sizes") {
  for (const std::size_t element : {1, 2, 3, 4, 8, 16})
    for (const std::size_t size : {0, 1, 3, 4, 8, 31, 64, 127, 256, 1000, 4099}) {
      const auto bytes = noise(size, static_cast<unsigned>(size));
      Bytes to(size), again(size);
      shuffle(bytes, element, to.data());
      unshuffle(to, element, again.data());
      CAPTURE(element);
      CAPTURE(size);
      CHECK(again == bytes);
      const std::size_t n = size / element;
      bool right = true;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t b = 0; b < element; ++b)
          right = right && to[b * n + i] == bytes[i * element + b];
      CHECK(right);
    }
}

TEST_CASE("filters: chunks go there and back through any combination") {
  for (const char* text :
       {"none", "shuffle", "deflate:1", "deflate:12", "shuffle+deflate:6", "fletcher32",
        "shuffle+deflate:1+fletcher32", "zstd:1", "shuffle+zstd:3", "shuffle+zstd:1+fletcher32"}) {
    CAPTURE(text);
    const auto filters = filters_of(text);
    if (!missing_code(filters).empty()) {
      MESSAGE("skipped: ", missing_code(filters));
      continue;
    }
    ChunkCoder coder(filters, 4);
    for (const auto& chunk : {smooth(100000), noise(4099), Bytes{}, smooth(1), Bytes(1 << 20)}) {
      const auto stored = coder.encode(chunk);
      const Bytes kept(stored.bytes.begin(), stored.bytes.end());
      Bytes again(chunk.size());
      ChunkCoder(filters, 4).decode({kept, stored.left_out}, again);
      CHECK(again == chunk);
    }
  }
}

/// What a model computed: the last bits of floats are noise; on land there is none.
Bytes turbulent(std::size_t n, std::size_t land) {
  std::mt19937 random(3);
  std::normal_distribution<float> eddies(0, 0.01F);
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = i < land ? 1e20F : 10.0F + std::sin(static_cast<float>(i) * 0.001F) + eddies(random);
  Bytes bytes(n * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST_CASE("filters: bytes that are noise are stored among those that deflate compresses") {
  const auto filters = filters_of("shuffle+deflate:1");
  if (!missing_code(filters).empty()) return;
  const std::size_t n = 100000;
  for (const auto& [land, tail] :
       {std::pair<std::size_t, std::size_t>{0, 0}, {0, 3}, {n / 20, 0}, {n / 3, 1}}) {
    CAPTURE(land);
    auto chunk = turbulent(n, land);
    chunk.resize(chunk.size() + tail);  // what is behind the last whole cell
    Bytes shuffled(chunk.size());
    shuffle(chunk, 4, shuffled.data());
    ChunkCoder coder(filters, 4);
    const auto stored = coder.encode(chunk);
    REQUIRE(stored.left_out == 0);
    const Bytes kept(stored.bytes.begin(), stored.bytes.end());
    Bytes again(chunk.size());
    ChunkCoder(filters, 4).decode({kept, 0}, again);
    CHECK(again == chunk);
    // Behind the heads of the stream and of its first block.
    CHECK(std::equal(shuffled.begin(), shuffled.begin() + 60000, kept.begin() + 7) == (land == 0));
    ChunkCoder all(filters_of("deflate:1"), 1);
    CHECK(static_cast<double>(kept.size()) < 1.002 * static_cast<double>(all.encode(shuffled).bytes.size()));
  }
  // Rows that are all alike are no noise, whatever is in them.
  Bytes rows;
  for (const auto row = turbulent(1440, 0); rows.size() < 1000000;)
    rows.insert(rows.end(), row.begin(), row.end());
  CHECK(ChunkCoder(filters, 4).encode(rows).bytes.size() < rows.size() / 20);
}

TEST_CASE("filters: a chunk that would grow is stored as it is, with what finds damage") {
  const auto chunk = noise(200000);
  for (const char* text : {"deflate:1", "shuffle+deflate:12", "zstd:1", "shuffle+zstd:22"}) {
    CAPTURE(text);
    const auto filters = filters_of(text);
    if (!missing_code(filters).empty()) continue;
    ChunkCoder coder(filters, 8);
    const auto stored = coder.encode(chunk);
    CHECK(stored.left_out == 0);
    CHECK(stored.bytes.size() > chunk.size());
    CHECK(stored.bytes.size() <= chunk.size() + 32);
  }
}

// As HDF5 and other programs do.
TEST_CASE("filters: chunks that did not go through all of them are read") {
  const auto filters = filters_of("shuffle+deflate:1+fletcher32");
  if (!missing_code(filters).empty()) return;
  const auto chunk = noise(65536);
  const Bytes with_sum = [&] {
    ChunkCoder checked(filters_of("fletcher32"), 8);
    const auto stored = checked.encode(chunk);
    return Bytes(stored.bytes.begin(), stored.bytes.end());
  }();
  Bytes again(chunk.size());
  ChunkCoder coder(filters, 8);
  coder.decode({with_sum, 0b011}, again);
  CHECK(again == chunk);
  coder.decode({chunk, 0b111}, again);
  CHECK(again == chunk);
}

TEST_CASE("filters: damage is found") {
  for (const char* text : {"deflate:1", "zstd:1", "shuffle+deflate:1+fletcher32", "fletcher32", "shuffle"}) {
    CAPTURE(text);
    const auto filters = filters_of(text);
    if (!missing_code(filters).empty()) continue;
    ChunkCoder coder(filters, 4);
    const auto chunk = smooth(10000);
    const auto stored = coder.encode(chunk);
    Bytes kept(stored.bytes.begin(), stored.bytes.end());
    Bytes again(chunk.size());
    CHECK_THROWS_AS(coder.decode({std::span(kept).first(kept.size() / 2), 0}, again), Error);
    CHECK_THROWS_AS(coder.decode({{}, 0}, again), Error);
    Bytes small(chunk.size() - 4);
    CHECK_THROWS_AS(coder.decode({kept, 0}, small), Error);
    if (std::string(text).find("fletcher32") == std::string::npos) continue;
    kept[100] ^= std::byte{1};
    CHECK_THROWS_WITH_AS(coder.decode({kept, 0}, again), doctest::Contains("checksum"), Error);
  }
}

// Files of other programs may have them in any order.
TEST_CASE("filters: odd orders go there and back, or there is no code for them") {
  const Filter shuffled{Filter::shuffle}, checked{Filter::fletcher32}, deflated{Filter::deflate, 1};
  if (!missing_code({deflated}).empty()) return;
  const auto chunk = smooth(10000);
  for (const Filters& filters : {Filters{shuffled, shuffled, checked, deflated},
                                 Filters{shuffled, checked, shuffled, checked, deflated, checked, checked}}) {
    CAPTURE(text_of(filters));
    ChunkCoder coder(filters, 4);
    const auto stored = coder.encode(chunk);
    const Bytes kept(stored.bytes.begin(), stored.bytes.end());
    Bytes again(chunk.size());
    coder.decode({kept, stored.left_out}, again);
    CHECK(again == chunk);
  }
  for (const Filters& filters : {Filters{deflated, shuffled}, Filters{deflated, deflated}}) {
    CHECK(missing_code(filters).find("after compression") != std::string::npos);
    CHECK_THROWS_AS(ChunkCoder(filters, 4), Error);
  }
}

TEST_CASE("filters: zstd gives back what was there, and believes no length that cannot be") {
  if (!missing_code({{Filter::zstd, 1}}).empty()) return;
  for (const Bytes& bytes : {Bytes(), Bytes(1), Bytes(50'000'000), smooth(100'000), noise(100'000)}) {
    CAPTURE(bytes.size());
    const Bytes small = zstd(bytes, 1);
    CHECK(unzstd(small) == bytes);
    for (const std::size_t length : {std::size_t{0}, small.size() / 2, small.size() - 1})
      CHECK_THROWS_AS(unzstd(std::span(small).first(length)), Error);
  }
  // A frame's head with eight bytes of length: more than memory has, more than the block can be, and one more
  // than there are.
  const Bytes small = zstd(Bytes(1'000'000), 1);
  const auto flag = std::to_integer<int>(small[4]) >> 6;
  REQUIRE(flag == 2);  // four bytes of length
  const std::size_t at =
      (small[4] >> 5 & std::byte{1}) == std::byte{1} ? 5 : 6;  // behind the size of a window
  for (const std::uint64_t reported :
       {std::uint64_t{1} << 62, std::uint64_t{3} << 30, std::uint64_t{1'000'001}}) {
    Bytes wrong(small.begin(), small.begin() + static_cast<std::ptrdiff_t>(at));
    wrong[4] |= std::byte{0x40};
    for (int b = 0; b < 8; ++b)
      wrong.push_back(static_cast<std::byte>(reported >> (8 * b)));
    wrong.insert(wrong.end(), small.begin() + static_cast<std::ptrdiff_t>(at) + 4, small.end());
    CHECK_THROWS_WITH_AS(unzstd(wrong), doctest::Contains("damaged"), Error);
  }
}

}  // namespace
