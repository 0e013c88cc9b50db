// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/box.hpp"
#include "base/pack_fields.hpp"
#include "codec/shard_coder.hpp"
#include "storage/location.hpp"

namespace shoal {

/// How the chunks of a variable lie in objects, of a dataset that has many: each object has whole chunks, and
/// is called by its place in a grid.
struct ObjectGrid {
  Dims cells;  ///< of an object; empty: it is that of a scalar
  Dims count;  ///< objects in each dimension; in the first one there may come more
  /// Names of objects: the folder, which has the variable's name as of the last commit; what is in front of
  /// the indices there ("c/"), and between them.
  std::string folder, prefix, separator;

  /// False: the format names its objects by other numbers, or has one.
  bool has_objects() const { return !folder.empty(); }

  template <class Writer>
  void pack(Writer& out) const {
    put_all(out, cells, count, folder, prefix, separator);
  }
  template <class Reader>
  void unpack(Reader& in) {
    get_all(in, cells, count, folder, prefix, separator);
  }
};

/// The number of an object of a variable's grid, as it stands in a Location.
struct ObjectNumber {
  int variable = 0;
  /// 0: the object has its name. Otherwise it is a draft, which takes the name at the commit: readers find
  /// what the object had until then. Drafts of different commits have different numbers.
  unsigned draft = 0;
  std::uint64_t place = 0;  ///< in the grid, row-major

  static constexpr int k_place_bits = 36, k_draft_bits = 10;
  static constexpr unsigned k_drafts = 1U << k_draft_bits;

  static ObjectNumber of(std::uint64_t number) {
    return {static_cast<int>(number >> (k_place_bits + k_draft_bits)) - 1,
            static_cast<unsigned>(number >> k_place_bits) % k_drafts,
            number & ((std::uint64_t{1} << k_place_bits) - 1)};
  }
  std::uint64_t number() const {
    return (static_cast<std::uint64_t>(variable) + 1) << (k_place_bits + k_draft_bits) |
           static_cast<std::uint64_t>(draft) << k_place_bits | place;
  }
};

/// Where the bytes of a variable lie. The variable, in all its dimensions (record dimension first), is cut
/// into a grid of chunks that starts at index 0; within a chunk bytes are row-major over the whole chunk
/// shape, also where the chunk sticks out of the variable. A contiguous variable is one chunk; a classic
/// record variable is one chunk a record.
struct Placement {
  enum class Kind : int {
    regular,  ///< chunk i (row-major number in the grid) lies at begin + i * stride: every rank knows
    listed,   ///< addresses come from the catalog
    encoded,  ///< chunks are of any size, went through filters, and lie where the catalog says
    library,  ///< compact, external, unknown filters...: only the catalog's library can read it
  };
  Kind kind = Kind::regular;
  bool swapped = false;      ///< byte order in the file is not this machine's
  bool late = false;         ///< chunks get their space in the file when they are first written (HDF5)
  Dims chunk;                ///< shape of a chunk; in an unlimited dimension the number of records it holds
  std::uint64_t begin = 0;   ///< regular only; k_unplaced: no space allocated yet, ask the catalog to
  std::uint64_t stride = 0;  ///< regular only
  ObjectGrid objects;
  bool stores_whole = false;  ///< encoded: an object has one chunk, and is stored as a whole (Container)
  /// encoded: a chunk is a shard, with chunks in it that go through filters each. Of a container that stores
  /// objects as a whole.
  std::optional<ShardLayout> shard;

  template <class Writer>
  void pack(Writer& out) const {
    put_all(out, kind, swapped, late, chunk, begin, stride, objects, stores_whole, shard.has_value(),
            shard.value_or(ShardLayout()));
  }
  template <class Reader>
  void unpack(Reader& in) {
    bool has_shards = false;
    ShardLayout layout;
    get_all(in, kind, swapped, late, chunk, begin, stride, objects, stores_whole, has_shards, layout);
    if (has_shards) shard = layout;
  }
};

/// The location of chunk i of a regular placement, whose begin is not k_unplaced.
inline Location location_of(const Placement& where, std::int64_t i) {
  return {0, where.begin + static_cast<std::uint64_t>(i) * where.stride};
}

/// The place in the grid of the object that has a chunk; the number of that object, which is 0 where there is
/// one for all.
std::uint64_t place_of_object(const ObjectGrid& objects, const Dims& chunk_index, const Dims& chunk);
std::uint64_t object_of_chunk(int variable, const Placement& where, const Dims& chunk_index);
/// The place as indices in the grid.
Dims indices_of_object(const ObjectGrid& objects, std::uint64_t place);

/// How many chunks a shard has; 1 where the chunks are no shards.
std::uint64_t chunks_in_shard(const Placement& where);

/// The chunks that a region touches, as a box in the chunk grid.
Box chunks_of(const Box& region, const Dims& chunk);
/// The cells of one chunk.
Box cells_of_chunk(const Dims& chunk_index, const Dims& chunk);
/// Call visit for the index of each chunk in the box of chunks, row-major order.
void for_each_index(const Box& chunks, const std::function<void(const Dims&)>& visit);

}  // namespace shoal
