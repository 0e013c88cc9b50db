// SPDX-License-Identifier: BSD-3-Clause
// How what HDF5 wrote comes into the file: a process that is killed at any write leaves a file that is valid.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "format/netcdf4/checksum.hpp"
#include "format/netcdf4/file_image.hpp"

namespace shoal::netcdf4 {

namespace {

constexpr std::size_t k_joint_bytes = 8 * 1024 * 1024;  // pieces that touch are written together up to this
constexpr std::size_t k_few_values = 1024 * 1024;       // changed values that a journal takes, too

// HDF5 notes in newer superblocks that the file is open for writing, and nobody could open it after a crash.
// Here each commit leaves a whole file, so the note is not written.
void unmark(std::span<std::byte> superblock) {
  constexpr std::size_t k_version = 8, k_flags = 11, k_addresses = 12;
  if (superblock.size() < k_addresses || superblock[k_version] < std::byte{2}) return;
  const auto length = k_addresses + 4 * std::to_integer<std::size_t>(superblock[k_version + 1]);
  if (superblock.size() < length + 4 || superblock[k_flags] == std::byte{0}) return;
  superblock[k_flags] = std::byte{0};
  const auto sum = checksum(superblock.first(length));
  for (std::size_t i = 0; i < 4; ++i)
    superblock[length + i] = static_cast<std::byte>(sum >> (8 * i));
}

// Structures that HDF5 changes as records are added, by their signatures, in an order in which the file is
// valid after each: indices of chunks from the leaves up, then the object headers, which have the extents.
// In all of these HDF5 only adds entries, and the end of the file comes before what lies there.
enum Level {
  k_unknown,
  k_superblock,
  k_leaves,
  k_inner,
  k_root,
  k_index_header,
  k_object_header,
  k_last_header
};

Level level_of(std::span<const std::byte> structure) {
  struct Kind {
    char signature[5];
    Level level;
  };
  static constexpr Kind k_kinds[] = {{"EADB", k_leaves},
                                     {"FADB", k_leaves},
                                     {"EASB", k_inner},
                                     {"EAIB", k_root},
                                     {"EAHD", k_index_header},
                                     {"FAHD", k_index_header},
                                     {"BTHD", k_index_header},  // its tree is copied, or changes in place,
                                                                // in nodes that are not in this list
                                     {"OHDR", k_object_header},
                                     {"OCHK", k_object_header}};
  if (structure.size() < 4) return k_unknown;
  for (const auto& kind : k_kinds)
    if (std::memcmp(structure.data(), kind.signature, 4) == 0) return kind.level;
  return k_unknown;
}

}  // namespace

void FileImage::write_joined(std::vector<Piece>& pieces) {
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.address < b.address; });
  Bytes joint;
  for (std::size_t i = 0; i < pieces.size();) {
    const auto begin = pieces[i].address;
    auto end = begin + pieces[i].bytes.size();
    std::size_t j = i + 1;
    for (; j < pieces.size() && pieces[j].address == end && end - begin < k_joint_bytes; ++j)
      end += pieces[j].bytes.size();
    if (j == i + 1) {
      write_store(begin, pieces[i].bytes);
    } else {
      joint.clear();
      for (auto k = i; k < j; ++k)
        joint.insert(joint.end(), pieces[k].bytes.begin(), pieces[k].bytes.end());
      write_store(begin, joint);
    }
    i = j;
  }
}

// Nobody who reads the last commit's file comes here.
void FileImage::write_fresh() {
  std::vector<Piece> pieces;
  std::vector<Extent*> written;
  for (auto* extents : {&metadata_, &raw_}) {
    for (auto& [address, extent] : *extents) {
      if (extent.in_store || is_superblock(address) || !is_fresh(address, extent.bytes.size())) continue;
      pieces.push_back({address, extent.bytes});
      written.push_back(&extent);
    }
  }
  write_joined(pieces);
  for (auto* extent : written)
    extent->in_store = true;
}

// Not while other ranks take space, which could be cut off.
void FileImage::reach_end() {
  const std::uint64_t end = *end_;
  if (store_->size() < end) {
    unsynced_ = true;
    store_->resize(end);
    cache_.clear();
  }
  store_size_ = std::max(store_size_, end);
}

void FileImage::write_ahead(bool sync, bool others_take_space) {
  if (in_commit_) return;  // one that failed is finished first
  write_fresh();
  if (!others_take_space) reach_end();
  if (!sync || !unsynced_) return;
  store_->sync();
  unsynced_ = false;
}

// What the last commit's file refers to.
void FileImage::change(ChangeOrder order, bool durable, std::span<const std::uint64_t> last) {
  std::vector<std::pair<Level, Change>> changes;
  for (const auto& [address, extent] : metadata_) {
    const auto& bytes = extent.bytes;
    const bool superblock = is_superblock(address);
    if (!superblock && is_fresh(address, bytes.size())) continue;
    auto level = superblock ? k_superblock : level_of(bytes);
    if (level == k_unknown) order = ChangeOrder::any;
    if (std::find(last.begin(), last.end(), address) != last.end()) level = k_last_header;
    changes.emplace_back(level, Change{address, bytes});
  }
  std::vector<Piece> values;
  std::size_t value_bytes = 0;
  for (const auto& [address, extent] : raw_) {
    const auto& bytes = extent.bytes;
    if (is_fresh(address, bytes.size())) continue;
    values.push_back({address, bytes});
    value_bytes += bytes.size();
  }
  if (order == ChangeOrder::any && value_bytes <= k_few_values) {
    for (const auto& piece : values)
      changes.emplace_back(k_unknown, Change{piece.address, piece.bytes});
  } else {
    write_joined(values);
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Change> in_order;
  in_order.reserve(changes.size());
  for (const auto& [level, one] : changes)
    in_order.push_back(one);
  const bool unsynced = std::exchange(unsynced_, true);
  const auto made = change_in_place(*store_, in_order, order, durable, unsynced);
  unsynced_ = !durable;
  writes += made.writes;
  bytes_written += made.bytes;
  for (const auto& one : in_order)
    forget_cached(one.offset, one.bytes.size());
}

void FileImage::commit(bool durable, ChangeOrder order, std::span<const std::uint64_t> last) {
  if (in_commit_ && finish_changes(*store_)) cache_.clear();
  in_commit_ = true;
  if (has_superblock_) {
    auto& superblock = metadata_.at(superblock_).bytes;
    unmark(superblock);
  }
  write_fresh();
  reach_end();
  change(order, durable, last);
  metadata_.clear();
  raw_.clear();
  raw_bytes_ = 0;
  has_superblock_ = in_commit_ = false;
  fresh_.clear();
  committed_end_ = *end_;
}

}  // namespace shoal::netcdf4
