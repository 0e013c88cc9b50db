// SPDX-License-Identifier: BSD-3-Clause
// What was damaged on its way to the disk and back gives an error or the right values, never wrong ones.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "codec/filters.hpp"

namespace {

using namespace shoal;

// Of each kind of field, and kind of damage.
#ifdef __SANITIZE_ADDRESS__
constexpr int k_chunks = 100;
#else
constexpr int k_chunks = 400;
#endif

enum class Field { smooth, noise, half_land, steps };

Bytes values_of(Field field, std::mt19937_64& random) {
  std::normal_distribution<double> eddies;
  std::vector<double> values(64 + random() % 2000);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<double>(i);
    values[i] = field == Field::smooth  ? 10 + std::sin(0.01 * at)
                : field == Field::steps ? std::floor(at / 100)
                : field == Field::half_land && i < values.size() / 2
                    ? 9.96920996838687e36
                    : std::ldexp(eddies(random), static_cast<int>(random() % 200));
  }
  Bytes bytes(values.size() * sizeof(double));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

enum class Damage { bit, byte, some_bytes, zeros, inverse, other };

void damage(Bytes& bytes, Damage how, std::mt19937_64& random) {
  const std::size_t at = random() % bytes.size();
  const std::size_t end = std::min(bytes.size(), at + 1 + random() % 64);
  const auto any = [&] { return static_cast<std::byte>(random()); };
  if (how == Damage::bit) bytes[at] ^= std::byte{1} << random() % 8;
  if (how == Damage::byte) bytes[at] ^= static_cast<std::byte>(1 + random() % 255);
  for (int i = 0; i < 8 && how == Damage::some_bytes; ++i)
    bytes[random() % bytes.size()] = any();
  for (std::size_t i = at; i < end && how >= Damage::zeros; ++i)
    bytes[i] = how == Damage::zeros ? std::byte{0} : how == Damage::inverse ? ~bytes[i] : any();
}

struct Found {
  int errors = 0, wrong = 0;
};

/// As shuffle+zstd:1 and the like; element of 8 bytes.
Found read_damaged(const Filters& filters, Field field, Damage how) {
  std::mt19937_64 random(100 * static_cast<unsigned>(field) + static_cast<unsigned>(how));
  ChunkCoder coder(filters, sizeof(double)), reader(filters, sizeof(double));
  Found found;
  for (int i = 0; i < k_chunks; ++i) {
    const Bytes chunk = values_of(field, random);
    const auto stored = coder.encode(chunk);
    Bytes kept(stored.bytes.begin(), stored.bytes.end());
    damage(kept, how, random);
    Bytes again(chunk.size());
    try {
      reader.decode({kept, stored.left_out}, again);
      found.wrong += again == chunk ? 0 : 1;
    } catch (const Error& e) {
      found.errors += e.code() == Code::format ? 1 : 0;
    }
  }
  return found;
}

TEST_CASE("damaged chunks: compressed ones are an error or right, be they smaller than before or not") {
  for (const char* text : {"deflate:1", "shuffle+deflate:1", "zstd:1", "shuffle+zstd:3",
                           "shuffle+deflate:1+fletcher32", "shuffle+zstd:1+fletcher32"}) {
    CAPTURE(text);
    const auto filters = filters_of(text);
    if (!missing_code(filters).empty()) continue;
    for (const Field field : {Field::smooth, Field::noise, Field::half_land, Field::steps})
      for (const Damage how :
           {Damage::bit, Damage::byte, Damage::some_bytes, Damage::zeros, Damage::inverse, Damage::other}) {
        CAPTURE(static_cast<int>(field));
        CAPTURE(static_cast<int>(how));
        const Found found = read_damaged(filters, field, how);
        CHECK(found.wrong == 0);
        CHECK(found.errors > k_chunks * 9 / 10);
      }
  }
}

// Its sums do not distinguish words of 16 bits that are all zeros from such that are all ones.
TEST_CASE("damaged chunks: fletcher32 alone sees all but zeros that became ones, or the other way") {
  const auto filters = filters_of("fletcher32");
  for (const Field field : {Field::smooth, Field::noise, Field::half_land, Field::steps})
    for (const Damage how : {Damage::bit, Damage::byte, Damage::some_bytes, Damage::other}) {
      CAPTURE(static_cast<int>(field));
      CAPTURE(static_cast<int>(how));
      CHECK(read_damaged(filters, field, how).wrong == 0);
    }
  ChunkCoder coder(filters, sizeof(double));
  Bytes chunk(8 * sizeof(double));
  chunk.back() = std::byte{1};
  const auto stored = coder.encode(chunk);
  Bytes kept(stored.bytes.begin(), stored.bytes.end());
  kept[2] = kept[3] = std::byte{0xff};
  Bytes again(chunk.size());
  CHECK_NOTHROW(coder.decode({kept, 0}, again));
  CHECK(again != chunk);
}

// A chunk in a file of before, or of another program, whose zstd frame has no checksum.
TEST_CASE("damaged chunks: what was stored before checksums came is read") {
  if (!missing_code(filters_of("zstd")).empty()) return;
  const unsigned char frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x04, 0x21, 0x00, 0x00, 1, 2, 3, 4};
  Bytes stored(sizeof frame), chunk(4);
  std::memcpy(stored.data(), frame, sizeof frame);
  ChunkCoder(filters_of("zstd"), 1).decode({stored, 0}, chunk);
  CHECK(chunk == Bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}});
}

}  // namespace
