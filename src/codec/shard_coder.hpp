// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>

#include "base/box.hpp"
#include "base/pack_fields.hpp"
#include "base/type.hpp"
#include "codec/convert.hpp"
#include "codec/filters.hpp"
#include "codec/shard_index.hpp"

namespace shoal {

/// How the chunks of a shard of Zarr lie in it.
struct ShardLayout {
  Dims chunk;  ///< shape; the shard has whole chunks
  bool index_at_start = true;
  bool index_checksum = true;

  template <class Writer>
  void pack(Writer& out) const {
    put_all(out, chunk, index_at_start, index_checksum);
  }
  template <class Reader>
  void unpack(Reader& in) {
    get_all(in, chunk, index_at_start, index_checksum);
  }
};

/// Takes whole shards to their bytes and back: each chunk goes through filters, and an index says where it
/// lies. Chunks that have the absent value alone are left out.
class ShardCoder final : public Coder {
 public:
  /// shape: of a shard. absent: one element as it is stored, that of cells of chunks that are not there.
  ShardCoder(const Dims& shape, ShardLayout layout, const Filters& filters, Type type, Bytes absent);

  Stored encode(std::span<const std::byte> shard) override;
  void decode(const Stored& stored, std::span<std::byte> shard) override;

 private:
  template <class Visit>
  void for_each_chunk(Visit&& visit) const;
  bool has_absent_alone() const;

  ShardLayout layout_;
  Dims strides_;           ///< bytes, in the shard
  Dims chunk_strides_;     ///< bytes, in a chunk
  Dims chunks_;            ///< of the shard, in each dimension
  bool is_by_rule_;        ///< the place of a chunk follows from its number
  std::size_t begin_ = 0;  ///< of chunks
  ChunkCoder coder_;
  ConvertRun copy_;  ///< of elements, without conversion
  Bytes absent_;
  Bytes chunk_;   ///< buffer of a chunk
  Bytes stored_;  ///< buffer of a shard
};

/// Bytes that a shard may have in its object at most, of so many bytes of cells.
std::uint64_t longest_shard(std::uint64_t bytes, std::uint64_t chunks);

/// The coder of a chunk, or of a shard where there is a layout.
std::unique_ptr<Coder> make_coder(const Dims& shape, const std::optional<ShardLayout>& layout,
                                  const Filters& filters, Type type, const Bytes& absent);

}  // namespace shoal
