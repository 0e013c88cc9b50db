// SPDX-License-Identifier: BSD-3-Clause
// Heaps and trees of HDF5 whose checksums are right, and whose numbers are not: an error, in bounded memory.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <unordered_set>

#include "base/error.hpp"
#include "format/netcdf4/checksum.hpp"
#include "format/netcdf4/dense_storage.hpp"

namespace {

using namespace shoal;
using namespace shoal::netcdf4;

constexpr std::uint64_t k_nowhere = ~std::uint64_t{0};
constexpr std::size_t k_address = 8, k_sum = 4, k_block_head = 15;

/// A file without a superblock: blocks one after another from address 8 on.
class Blocks {
 public:
  std::uint64_t add(const char* signature, std::size_t bytes) {
    begin_ = file_.size();
    file_.resize(begin_ + bytes);
    std::memcpy(&file_[begin_], signature, 4);
    return begin_;
  }
  void put(std::size_t at, std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i)
      file_[begin_ + at + i] = static_cast<std::byte>(value >> (8 * i));
  }
  void nowhere(std::size_t from, std::size_t until) {
    std::memset(&file_[begin_ + from], 0xff, until - from);
  }
  /// Of the block that was added last.
  void end() {
    const std::size_t covered = file_.size() - begin_ - k_sum;
    put(covered, checksum(std::span(file_).subspan(begin_, covered)), k_sum);
  }
  std::size_t size() const { return file_.size(); }

  /// What looking at it comes to.
  template <class Look>
  Code look(Look&& at_storage, std::uint64_t end) {
    std::size_t most = 0;
    const DenseStorage::Read read = [&](std::uint64_t address, std::span<std::byte> bytes) {
      most = std::max(most, bytes.size());
      for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = address + i < file_.size() ? file_[address + i] : std::byte{0};
    };
    std::unordered_set<std::uint64_t> known;
    DenseStorage storage(0, end, read, known);
    Code code = Code::ok;
    try {
      at_storage(storage);
    } catch (const Error& e) {
      code = e.code();
    }
    CHECK(most <= (std::size_t{1} << 20));
    return code;
  }

 private:
  Bytes file_ = Bytes(8);
  std::size_t begin_ = 0;
};

struct HeapHead {
  std::uint64_t filters = 0, width = 4, start = 512, largest = 65536, root = k_nowhere, rows = 0;
};

std::uint64_t add_heap(Blocks& file, const HeapHead& h) {
  const std::size_t bytes = 146 + (h.filters > 0 ? k_address + 4 + h.filters : 0);
  const std::uint64_t address = file.add("FRHP", bytes);
  file.put(5, 8, 2);
  file.put(7, h.filters, 2);
  file.put(22, k_nowhere, k_address);
  file.put(110, h.width, 2);
  file.put(112, h.start, 8);
  file.put(120, h.largest, 8);
  file.put(128, 16, 2);
  file.put(132, h.root, k_address);
  file.put(140, h.rows, 2);
  file.end();
  return address;
}

Code code_of_heap(Blocks& file, std::uint64_t heap) {
  return file.look([&](DenseStorage& storage) { storage.heap(heap); }, file.size());
}

}  // namespace

TEST_CASE("dense storage: an indirect block whose child would have fewer rows than one") {
  for (const std::uint64_t filters : {0, 16}) {
    CAPTURE(filters);
    Blocks file;
    const std::size_t entry = k_address + (filters > 0 ? 12 : 0);
    // Blocks of a power of two that is larger than the row: 16 of 512 bytes, and of at most 512.
    const std::size_t direct = 32, inner = 16, covered = k_block_head + direct * entry + inner * k_address;
    const std::uint64_t child = file.add("FHIB", k_block_head + 16 * k_address + k_sum);
    file.nowhere(k_block_head, k_block_head + 16 * k_address);
    file.end();
    const std::uint64_t root = file.add("FHIB", covered + k_sum);
    file.nowhere(k_block_head, covered);
    file.put(k_block_head + direct * entry, child, k_address);
    file.end();
    const auto heap = add_heap(
        file, {.filters = filters, .width = 16, .start = 512, .largest = 512, .root = root, .rows = 3});
    CHECK(code_of_heap(file, heap) == Code::format);
  }
}

TEST_CASE("dense storage: blocks of sizes that HDF5 does not make") {
  for (const std::uint64_t start : {0, 1, 2, 8, 100}) {
    CAPTURE(start);
    Blocks file;
    const std::uint64_t root = file.add("FHDB", 512);
    file.end();
    CHECK(code_of_heap(file, add_heap(file, {.start = start, .root = root})) == Code::format);
  }
  Blocks file;
  CHECK(code_of_heap(file, add_heap(file, {.largest = std::uint64_t{1} << 32})) == Code::format);
  CHECK(code_of_heap(file, add_heap(file, {.root = 8, .rows = 65})) == Code::format);
  CHECK(code_of_heap(file, add_heap(file, {})) == Code::ok);
}

TEST_CASE("dense storage: a node of 4 GiB is not read") {
  Blocks file;
  const std::uint64_t node = file.add("BTLF", 64);
  file.end();
  const std::uint64_t tree = file.add("BTHD", 38);
  file.put(6, 0xffffffff, 4);
  file.put(10, 11, 2);
  file.put(16, node, k_address);
  file.put(24, 1, 2);
  file.end();
  CHECK(file.look([&](DenseStorage& storage) { storage.tree(tree); }, std::uint64_t{1} << 34) ==
        Code::format);
}
