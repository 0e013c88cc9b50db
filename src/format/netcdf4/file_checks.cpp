// SPDX-License-Identifier: BSD-3-Clause
// HDF5 File Format Specification, version 3.0: II.A (superblock), III.A.1 (trees), III.E (global heap).
#include "format/netcdf4/file_checks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "format/netcdf4/checksum.hpp"
#include "format/netcdf4/dense_storage.hpp"
#include "format/netcdf4/object_header.hpp"

namespace shoal::netcdf4 {

namespace {

constexpr std::array<unsigned char, 8> k_file_signature{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
constexpr std::uint64_t k_first_block = 512;  // of the user's own; or a power of two times that
constexpr std::size_t k_most = 128;           // bytes that a superblock has here
constexpr std::uint64_t k_nowhere = ~std::uint64_t{0};
constexpr std::uint64_t k_most_address = std::uint64_t{1} << 62;

constexpr std::uint64_t k_least_collection = 4096, k_object_head = 16, k_collection_head = 16;
constexpr std::size_t k_node_head = 24;
constexpr std::size_t k_chunk_fan = 64,
                      k_group_fan = 32;  // children that a node has room for, as everybody has it

bool starts_with(std::span<const std::byte> bytes, const char* four) {
  return bytes.size() >= 4 && std::memcmp(bytes.data(), four, 4) == 0;
}

Error damaged(const std::string& how) {
  return Error(Code::format, "the file is damaged: " + how);
}

std::uint64_t aligned(std::uint64_t size) {
  return (size + 7) / 8 * 8;
}

constexpr std::size_t k_most_blocks = 100000;  // of an object's header
constexpr unsigned k_links = 0x02,
                   k_attributes = 0x15;  // messages that say where they are, if there are many

// Where the superblock begins.
std::uint64_t find_superblock(Store& file, std::span<std::byte> bytes, std::size_t& got) {
  const std::uint64_t size = file.size();
  for (std::uint64_t at = 0; at < size && at < k_most_address; at = at == 0 ? k_first_block : 2 * at) {
    got = file.read(at, bytes);
    if (got >= k_file_signature.size() &&
        std::memcmp(bytes.data(), k_file_signature.data(), k_file_signature.size()) == 0)
      return at;
  }
  throw Error(Code::format, "HDF5's signature is not in the file");
}

}  // namespace

void FileChecks::superblock(Store& file) {
  std::array<std::byte, k_most> buffer{};
  std::size_t got = 0;
  const std::uint64_t at = find_superblock(file, buffer, got);
  const auto bytes = std::span<const std::byte>(buffer).first(got);
  const auto need = [&](std::size_t n) {
    if (bytes.size() < n)
      throw damaged(fmt::format("it ends within its superblock, after {} bytes", file.size()));
  };
  need(16);
  const auto version = number_at(bytes, 8, 1);
  if (version > 3) throw damaged(fmt::format("its superblock has the version {}; 0 to 3 are known", version));
  const bool old = version < 2;
  const std::size_t sizes = old ? 13 : 9;
  const auto offset = static_cast<std::size_t>(number_at(bytes, sizes, 1));
  const auto length = static_cast<std::size_t>(number_at(bytes, sizes + 1, 1));
  for (const auto n : {offset, length})
    if (n != 2 && n != 4 && n != 8)
      throw n == 16 || n == 32
          ? Error(Code::not_supported,
                  "the file has addresses or sizes of {} bytes; 2, 4 and 8 are supported", n)
          : damaged(fmt::format("its superblock states addresses or sizes of {} bytes", n));
  usual_ = offset == 8 && length == 8;
  const std::size_t first = old ? (version == 0 ? 24 : 28) : 12;
  need(first + 4 * offset + (old ? 2 * offset : 4));
  const auto address = [&](std::size_t i) {
    const auto value = number_at(bytes, first + i * offset, offset);
    return offset < 8 && value == (std::uint64_t{1} << 8 * offset) - 1 ? k_nowhere : value;
  };
  if (!old) {
    const std::size_t end = first + 4 * offset;
    if (number_at(bytes, end, 4) != checksum(bytes.first(end)))
      throw damaged("the checksum of its superblock differs");
  } else if (number_at(bytes, 16, 2) == 0 || number_at(bytes, 18, 2) == 0) {
    throw damaged("its superblock states groups without entries");
  }
  base_ = address(0);
  if (base_ != 0 && base_ != at)
    throw damaged(fmt::format("its superblock lies at {} and says that it lies at {}", at, base_));
  base_ = at;
  const std::uint64_t end = address(2);
  const std::uint64_t root = address(old ? 5 : 3);  // behind the length of a name, which has no bytes
  if (end < first || end > file.size())
    throw damaged(fmt::format(
        "by its superblock it has {} bytes, and it has {}; maybe it was cut off, or not copied whole", end,
        file.size()));
  if (root >= end)
    throw damaged(fmt::format("its root group is said to be at {}, behind its end at {}", root, end));
  const std::uint64_t extension = address(old ? 3 : 1);
  if (extension != k_nowhere && extension >= end)
    throw damaged(fmt::format("its superblock goes on at {}, behind the end of the file", extension));
}

// The library walks from object to object, by the size that each states.
FileChecks::Objects FileChecks::objects_of(std::uint64_t address, std::uint64_t end, const Read& read) const {
  const std::string where = fmt::format("its collection of strings and lists at {}", address);
  const auto inside = [&](std::uint64_t bytes) { return address < end && bytes <= end - address; };
  std::array<std::byte, k_collection_head> head{};
  if (!inside(head.size())) throw damaged(where + " lies behind the end of the file");
  read(address, head);
  if (!starts_with(head, "GCOL") || head[4] != std::byte{1}) throw damaged(where + " is none");
  const std::uint64_t size = number_at(head, 8, 8);
  if (size < k_least_collection || !inside(size))
    throw damaged(fmt::format("{} reports {} bytes", where, size));
  Bytes bytes(size);
  read(address, bytes);
  Objects objects;
  for (std::uint64_t at = k_collection_head; size - at >= k_object_head;) {
    const auto number = static_cast<std::uint32_t>(number_at(bytes, at, 2));
    const std::uint64_t length = number_at(bytes, at + 8, 8);
    // Number 0 is what is free, and gives its size with its own head.
    const std::uint64_t rest = size - at - (number == 0 ? 0 : k_object_head);
    if (length > rest || aligned(length) > rest || (number == 0 && length < k_object_head))
      throw damaged(fmt::format("{} has an object of {} bytes, with room for {}", where, length, rest));
    at += number == 0 ? length : k_object_head + aligned(length);
    if (number != 0) objects[number] = length;
  }
  return objects;
}

// So many bytes of one come first, and HDF5 does not say whether they are of a heap or values.
void FileChecks::heap(std::uint64_t address, std::span<const std::byte> bytes, std::uint64_t end,
                      const Read& read) const {
  if (usual_ && bytes.size() == k_least_collection && starts_with(bytes, "GCOL"))
    objects_of(address, end, read);
}

void FileChecks::tree(std::uint64_t address, std::span<const std::byte> bytes, std::uint64_t end) {
  if (!usual_ || bytes.size() < k_node_head || !starts_with(bytes, "TREE")) return;
  const bool of_chunks = bytes[4] == std::byte{1};
  const int level = std::to_integer<int>(bytes[5]);
  const std::string where =
      fmt::format("the node at {} of a tree of {}", address, of_chunks ? "chunks" : "links");
  const auto known = levels_.find(address);
  if (known != levels_.end() && known->second != level)
    throw damaged(fmt::format("{} is on level {} in place of {}", where, level, known->second));
  const std::size_t fan = of_chunks ? k_chunk_fan : k_group_fan;
  const std::size_t keys = bytes.size() - k_node_head - 8 * fan;
  if (bytes.size() < k_node_head + 8 * fan || keys % (fan + 1) != 0) return;  // nodes of another size
  const std::size_t key = keys / (fan + 1);
  const std::uint64_t entries = number_at(bytes, 6, 2);
  if (entries > fan) throw damaged(fmt::format("{} has {} entries, and room for {}", where, entries, fan));
  for (std::size_t i = 0; i < entries && level > 0; ++i) {
    const std::uint64_t child = base_ + number_at(bytes, k_node_head + i * (key + 8) + key, 8);
    if (child < base_ || child >= end)
      throw damaged(fmt::format("{} leads to {}, behind the end of the file", where, child));
    const auto [it, is_new] = levels_.emplace(child, level - 1);
    if (!is_new && it->second != level - 1) throw damaged(where + " leads to one that another one leads to");
  }
}

void FileChecks::object_block(std::uint64_t address, std::uint64_t size, std::uint64_t end, const Read& read,
                              Bytes& bytes) {
  const std::string where = fmt::format("a block of an object's header at {}", address);
  if (address >= end || size > end - address || size < k_checksum)
    throw damaged(fmt::format("{} of {} bytes does not lie in the file", where, size));
  bytes.resize(static_cast<std::size_t>(size));
  read(address, bytes);
  const auto covered = std::span<const std::byte>(bytes).first(bytes.size() - k_checksum);
  if (number_at(bytes, covered.size(), k_checksum) != checksum(covered))
    throw damaged(fmt::format("the checksum of {} differs", where));
}

// Only headers with checksums (version 2) can be held to anything. All blocks are looked at before HDF5 reads
// the first one: it allocates what it reads into, and forgets about it when that or a later block is wrong.
void FileChecks::object_header(std::uint64_t address, std::span<const std::byte> bytes, std::uint64_t end,
                               const Read& read, bool whole) {
  if (!usual_) return;
  const std::string where = fmt::format("the header of an object at {}", address);
  Bytes block;
  std::size_t blocks = 0;
  DenseStorage storage(base_, end, read, whole_);
  const auto dense = [&](unsigned type, std::span<const std::byte> body) {
    if (!whole || (type != k_links && type != k_attributes) || body.size() < 2) return;
    const auto flags = std::to_integer<unsigned>(body[1]);
    // In front of the addresses lies the number of the next one, where an order is kept.
    std::size_t at = 2 + ((flags & 1U) == 0 ? 0U : type == k_links ? 8U : 2U);
    for (std::size_t i = 0; i < ((flags & 2U) == 0 ? 2U : 3U) && at + 8 <= body.size(); ++i, at += 8)
      i == 0 ? storage.heap(number_at(body, at, 8)) : storage.tree(number_at(body, at, 8));
  };
  const auto next = [&](std::uint64_t at, std::uint64_t size) {
    if (++blocks > k_most_blocks) throw damaged(where + " goes on and on");
    object_block(at, size, end, read, block);
    return std::span<const std::byte>(block);
  };
  if (!walk_object_header(address, bytes, base_, next, dense)) throw damaged(where + " is cut off");
}

void FileChecks::forget() {
  levels_.clear();
  whole_.clear();
}

void FileChecks::references(std::span<const std::byte> cells, std::size_t element, std::uint64_t end,
                            const Read& read) {
  if (!usual_) return;
  for (std::size_t at = 0; at + k_reference <= cells.size(); at += k_reference) {
    const auto cell = cells.subspan(at, k_reference);
    const std::uint64_t length = number_at(cell, 0, 4), address = number_at(cell, 4, 8);
    const auto number = static_cast<std::uint32_t>(number_at(cell, 12, 4));
    if (length == 0 || address == 0) continue;  // nothing is looked for
    auto known = known_.find(address);
    if (known == known_.end()) known = known_.emplace(address, objects_of(base_ + address, end, read)).first;
    const auto object = known->second.find(number);
    if (object == known->second.end() || object->second < length * element)
      throw damaged(
          fmt::format("a string of {} bytes is said to be number {} of the collection at {}, which has none "
                      "of that length there",
                      length, number, address));
  }
}

}  // namespace shoal::netcdf4
