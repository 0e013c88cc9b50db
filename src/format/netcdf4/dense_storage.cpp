// SPDX-License-Identifier: BSD-3-Clause
#include "format/netcdf4/dense_storage.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "format/netcdf4/checksum.hpp"
#include "format/netcdf4/object_header.hpp"

namespace shoal::netcdf4 {

namespace {

constexpr std::uint64_t k_no_address = ~std::uint64_t{0};
constexpr std::size_t k_signature_bytes = 4, k_address = 8;
// Of one block: HDF5 makes nodes of 512 and 2048 bytes, and blocks of heaps of at most 64 KiB.
constexpr std::uint64_t k_most_bytes = std::uint64_t{1} << 20;
constexpr std::size_t k_heap_head = 146, k_tree_head = 38, k_tree_node_head = 6;
constexpr std::size_t k_most_rows = 64, k_most_depth = 64;

Error damaged_storage(const std::string& how) {
  return Error(Code::format, "the file is damaged: " + how);
}

// Bytes that HDF5 gives a number up to the limit.
std::size_t width_of(std::uint64_t limit) {
  return limit == 0 ? 1 : (static_cast<std::size_t>(std::bit_width(limit)) - 1) / 8 + 1;
}

bool is_power_of_two(std::uint64_t n) {
  return std::has_single_bit(n);
}

}  // namespace

/// What the header of a heap says of its blocks.
struct DenseStorage::Heap {
  bool sums = false;      // direct blocks have checksums
  bool filtered = false;  // and went through filters
  std::size_t head = 0;   // of a block, up to its contents or its checksum
  std::uint64_t width = 0, start = 0, largest = 0;

  std::uint64_t direct_rows() const {
    return static_cast<std::uint64_t>(std::countr_zero(largest) - std::countr_zero(start)) + 2;
  }
  std::uint64_t bytes_of_row(std::uint64_t row) const { return row < 2 ? start : start << (row - 1); }
};

/// What the header of a tree says of its nodes.
struct DenseStorage::Tree {
  std::size_t node = 0, record = 0, width = 0;  // bytes of a node, a record and a number of records of a node
  std::vector<std::size_t> widths;              // the same of all records below a node, by its depth
};

// HDF5 keeps a structure that it has read; a block that leads to one that another leads to is damaged.
bool DenseStorage::is_new(std::uint64_t address) const {
  return address != k_no_address && !known_.contains(address);
}

const Bytes& DenseStorage::block(std::uint64_t address, std::uint64_t size, const char* signature) {
  const std::uint64_t at = base_ + address;
  if (at < base_ || at >= end_ || size > end_ - at || size > k_most_bytes)
    throw damaged_storage(
        fmt::format("a block {} of {} bytes at {} does not lie in the file", signature, size, address));
  if (!seen_.insert(address).second)
    throw damaged_storage(fmt::format("two places lead to the block {} at {}", signature, address));
  bytes_.resize(static_cast<std::size_t>(size));
  read_(at, bytes_);
  if (std::memcmp(bytes_.data(), signature, k_signature_bytes) != 0)
    throw damaged_storage(fmt::format("there is no block {} at {}", signature, address));
  return bytes_;
}

void DenseStorage::check_sum(std::uint64_t address, std::size_t covered) const {
  if (covered + k_checksum > bytes_.size() ||
      number_at(bytes_, covered, k_checksum) != checksum(std::span(bytes_).first(covered)))
    throw damaged_storage(
        fmt::format("the checksum of the block {} at {} differs",
                    std::string(reinterpret_cast<const char*>(bytes_.data()), k_signature_bytes), address));
}

void DenseStorage::direct_block(const Heap& heap, std::uint64_t address, std::uint64_t size) {
  if (heap.filtered) return;  // HDF5 finds by its filters whether that is whole
  block(address, size, "FHDB");
  if (!heap.sums) return;
  if (bytes_.size() < heap.head + k_checksum)
    throw damaged_storage(fmt::format("the block FHDB at {} has {} bytes", address, size));
  const std::uint64_t sum = number_at(bytes_, heap.head, k_checksum);
  std::memset(bytes_.data() + heap.head, 0, k_checksum);  // as it was when the sum was made
  if (sum != checksum(bytes_))
    throw damaged_storage(fmt::format("the checksum of the block FHDB at {} differs", address));
}

void DenseStorage::indirect_block(const Heap& heap, std::uint64_t address, std::uint64_t rows) {
  struct Place {
    std::uint64_t address, size;
  };
  const std::uint64_t direct = std::min(rows, heap.direct_rows()) * heap.width;
  const std::uint64_t inner = rows * heap.width - direct;
  const std::size_t entry = k_address + (heap.filtered ? k_address + 4 : 0);
  const std::uint64_t covered = heap.head + direct * entry + inner * k_address;
  block(address, covered + k_checksum, "FHIB");
  check_sum(address, static_cast<std::size_t>(covered));
  std::vector<Place> children;
  for (std::uint64_t i = 0; i < direct + inner; ++i) {
    const std::uint64_t at = heap.head + std::min(i, direct) * entry + (i - std::min(i, direct)) * k_address;
    const std::uint64_t child = number_at(bytes_, static_cast<std::size_t>(at), k_address);
    if (child != k_no_address) children.push_back({child, i});
  }
  const auto first = std::bit_width(heap.start * heap.width) - 1;
  for (const auto& [child, i] : children) {
    const std::uint64_t bytes = heap.bytes_of_row(i / heap.width);
    if (i < direct) {
      direct_block(heap, child, bytes);
      continue;
    }
    const auto rows_below = std::bit_width(bytes) - first;
    if (rows_below <= 0 || static_cast<std::uint64_t>(rows_below) >= rows)
      throw damaged_storage(fmt::format("the block FHIB at {} leads to one of impossible size", address));
    indirect_block(heap, child, static_cast<std::uint64_t>(rows_below));
  }
}

void DenseStorage::heap(std::uint64_t address) {
  if (!is_new(address)) return;
  block(address, k_heap_head, "FRHP");
  const auto filters = static_cast<std::size_t>(number_at(bytes_, 7, 2));
  if (filters > 0) {
    seen_.erase(address);
    block(address, k_heap_head + k_address + 4 + filters, "FRHP");
  }
  check_sum(address, bytes_.size() - k_checksum);
  const Bytes head = bytes_;
  Heap heap;
  heap.filtered = filters > 0;
  heap.sums = (number_at(head, 9, 1) & 2U) != 0;
  heap.width = number_at(head, 110, 2);
  heap.start = number_at(head, 112, 8);
  heap.largest = number_at(head, 120, 8);
  const std::uint64_t bits = number_at(head, 128, 2);
  const std::uint64_t root = number_at(head, 132, 8);
  const std::uint64_t rows = number_at(head, 140, 2);
  heap.head = k_signature_bytes + 1 + k_address + static_cast<std::size_t>((bits + 7) / 8);
  if (!is_power_of_two(heap.width) || !is_power_of_two(heap.start) || !is_power_of_two(heap.largest) ||
      heap.start <= heap.head || heap.start > heap.largest || heap.largest > k_most_bytes ||
      bits > k_most_rows || rows > k_most_rows)
    throw damaged_storage(fmt::format("the heap at {} has blocks of impossible sizes", address));
  if (root != k_no_address && rows == 0) direct_block(heap, root, heap.start);
  if (root != k_no_address && rows > 0) indirect_block(heap, root, rows);
  tree(number_at(head, 22, 8));  // of objects that are too large for blocks
  known_.insert(address);
}

void DenseStorage::node(const Tree& tree, std::uint64_t address, std::size_t depth, std::uint64_t records) {
  block(address, tree.node, depth == 0 ? "BTLF" : "BTIN");
  const std::size_t pointer = k_address + tree.width + (depth > 1 ? tree.widths[depth - 1] : 0);
  const std::uint64_t first = k_tree_node_head + records * tree.record;
  const std::uint64_t covered = first + (depth == 0 ? 0 : (records + 1) * pointer);
  if (covered + k_checksum > tree.node)
    throw damaged_storage(fmt::format("a node at {} has {} records, and no room for them", address, records));
  check_sum(address, static_cast<std::size_t>(covered));
  if (depth == 0) return;
  const Bytes own = bytes_;
  for (std::uint64_t i = 0; i <= records; ++i) {
    const auto at = static_cast<std::size_t>(first + i * pointer);
    node(tree, number_at(own, at, k_address), depth - 1, number_at(own, at + k_address, tree.width));
  }
}

void DenseStorage::tree(std::uint64_t address) {
  if (!is_new(address)) return;
  block(address, k_tree_head, "BTHD");
  check_sum(address, k_tree_head - k_checksum);
  Tree tree;
  tree.node = static_cast<std::size_t>(number_at(bytes_, 6, 4));
  tree.record = static_cast<std::size_t>(number_at(bytes_, 10, 2));
  const auto depth = static_cast<std::size_t>(number_at(bytes_, 12, 2));
  const std::uint64_t root = number_at(bytes_, 16, 8), records = number_at(bytes_, 24, 2);
  constexpr std::size_t k_around = k_tree_node_head + k_checksum;
  if (tree.record == 0 || tree.node < k_around + tree.record || depth > k_most_depth)
    throw damaged_storage(fmt::format("the tree at {} has nodes of impossible sizes", address));
  std::uint64_t below = (tree.node - k_around) / tree.record;  // the most records at and below a node
  tree.width = width_of(below);
  tree.widths.push_back(0);
  for (std::size_t d = 1; d <= depth; ++d) {
    const std::size_t pointer = k_address + tree.width + tree.widths.back();
    if (tree.node < k_around + pointer)
      throw damaged_storage(fmt::format("the tree at {} has nodes of impossible sizes", address));
    const std::uint64_t most = (tree.node - k_around - pointer) / (tree.record + pointer);
    below =
        below > (std::uint64_t{1} << 62) / (most + 1) ? std::uint64_t{1} << 62 : (most + 1) * below + most;
    tree.widths.push_back(width_of(below));
  }
  if (root != k_no_address) node(tree, root, depth, records);
  known_.insert(address);
}

}  // namespace shoal::netcdf4
