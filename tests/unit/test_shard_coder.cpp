// Shards as one piece: chunks through filters, behind or in front of an index.
#include <doctest/doctest.h>

#include <cstring>
#include <numeric>

#include "base/error.hpp"
#include "codec/shard_coder.hpp"

using namespace shoal;

namespace {

Bytes bytes_of(const std::vector<float>& values) {
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

const Bytes k_absent = bytes_of({-1.0F});

std::vector<float> counted(std::size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

std::vector<Filters> some_filters() {
  std::vector<Filters> all{{}, {{Filter::crc32c}}};
  for (const char* text : {"zstd:1", "gzip:1", "blosc:zstd:5"})
    if (missing_code(filters_of(text)).empty()) all.push_back(filters_of(text));
  return all;
}

}  // namespace

TEST_CASE("a shard comes back from its bytes, whatever its filters and wherever its index") {
  const std::vector<float> values = counted(4 * 6 * 10);
  for (const Filters& filters : some_filters())
    for (const bool at_start : {true, false})
      for (const bool checksum : {true, false}) {
        INFO(text_of(filters), " ", at_start, " ", checksum);
        ShardCoder coder({4, 6, 10}, {{2, 3, 5}, at_start, checksum}, filters, Type::float_, k_absent);
        const Coder::Stored stored = coder.encode(bytes_of(values));
        const Bytes kept(stored.bytes.begin(), stored.bytes.end());
        Bytes back(values.size() * sizeof(float));
        coder.decode({kept, 0}, back);
        CHECK(back == bytes_of(values));
      }
}

TEST_CASE("a shard leaves out chunks of the absent value, and has the others in order of the index") {
  std::vector<float> values(4 * 4, -1.0F);
  values[2] = 5;  // of the chunk (0, 1)
  ShardCoder coder({4, 4}, {{2, 2}, true, true}, {}, Type::float_, k_absent);
  const Coder::Stored stored = coder.encode(bytes_of(values));
  const std::size_t of_index = shard_index_bytes(4, true);
  CHECK(stored.bytes.size() == of_index + 2 * 4 * sizeof(float));
  const ShardIndex index = shard_index_of(stored.bytes.first(of_index), true);
  CHECK_FALSE(index[0].is_there());
  CHECK(index[1].offset == of_index + 4 * sizeof(float));  // as if the first one were there
  CHECK(index[1].bytes == 4 * sizeof(float));
  CHECK_FALSE(index[2].is_there());
  const Bytes kept(stored.bytes.begin(), stored.bytes.end());
  Bytes back(values.size() * sizeof(float));
  coder.decode({kept, 0}, back);
  CHECK(back == bytes_of(values));
}

TEST_CASE("a damaged shard is an error, and no memory is taken by what its index says") {
  const std::vector<float> values = counted(4 * 4);
  Bytes back(values.size() * sizeof(float));
  for (const bool at_start : {true, false}) {
    ShardCoder coder({4, 4}, {{2, 2}, at_start, true}, {}, Type::float_, k_absent);
    const Coder::Stored stored = coder.encode(bytes_of(values));
    const Bytes whole(stored.bytes.begin(), stored.bytes.end());
    const std::size_t of_index = shard_index_bytes(4, true);
    for (std::size_t cut = 0; cut < whole.size(); cut += 7) {
      const Status status = caught([&] { coder.decode({std::span(whole).first(cut), 0}, back); });
      CHECK(status.code == Code::format);
    }
    Bytes flipped = whole;
    flipped[at_start ? 3 : whole.size() - of_index + 3] ^= std::byte{1};
    CHECK(caught([&] { coder.decode({flipped, 0}, back); }).code == Code::format);
    ShardIndex far(4);
    far[0] = {1, ~std::uint64_t{0} - 1};
    const Bytes index = stored_shard_index(far, true);
    Bytes lying = whole;
    std::copy(index.begin(), index.end(),
              at_start ? lying.begin() : lying.end() - static_cast<std::ptrdiff_t>(of_index));
    CHECK(caught([&] { coder.decode({lying, 0}, back); }).code == Code::format);
  }
}
