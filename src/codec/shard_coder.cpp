// SPDX-License-Identifier: BSD-3-Clause
#include "codec/shard_coder.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "codec/damage.hpp"

namespace shoal {

ShardCoder::ShardCoder(const Dims& shape, ShardLayout layout, const Filters& filters, Type type, Bytes absent)
    : layout_(std::move(layout)),
      strides_(byte_strides(shape, size_of(type))),
      chunk_strides_(byte_strides(layout_.chunk, size_of(type))),
      chunks_(shape.size()),
      is_by_rule_(filters.empty()),
      coder_(filters, size_of(type)),
      copy_(find_conversion({type, size_of(type), false}, {type, size_of(type), false})),
      absent_(std::move(absent)),
      chunk_(static_cast<std::size_t>(volume(layout_.chunk)) * size_of(type)) {
  for (int d = 0; d < shape.size(); ++d)
    chunks_[d] = shape[d] / layout_.chunk[d];
  if (layout_.index_at_start)
    begin_ = shard_index_bytes(static_cast<std::size_t>(volume(chunks_)), layout_.index_checksum);
}

// visit(number, byte of the shard at which the chunk begins)
template <class Visit>
void ShardCoder::for_each_chunk(Visit&& visit) const {
  for (std::int64_t i = 0; i < volume(chunks_); ++i) {
    const Dims index = unravel(i, chunks_);
    std::int64_t begin = 0;
    for (int d = 0; d < index.size(); ++d)
      begin += index[d] * layout_.chunk[d] * strides_[d];
    visit(static_cast<std::size_t>(i), begin);
  }
}

bool ShardCoder::has_absent_alone() const {
  return std::memcmp(chunk_.data(), absent_.data(), absent_.size()) == 0 &&
         std::memcmp(chunk_.data(), chunk_.data() + absent_.size(), chunk_.size() - absent_.size()) == 0;
}

Coder::Stored ShardCoder::encode(std::span<const std::byte> shard) {
  ShardIndex index(static_cast<std::size_t>(volume(chunks_)));
  stored_.assign(begin_, {});
  for_each_chunk([&](std::size_t number, std::int64_t begin) {
    copy_box(shard.data() + begin, strides_, chunk_.data(), chunk_strides_, layout_.chunk, copy_, nullptr);
    if (has_absent_alone()) return;
    // Without filters each has its place, so that an index that somebody read before is not wrong.
    if (is_by_rule_) stored_.resize(begin_ + number * chunk_.size());
    const Stored encoded = coder_.encode(chunk_);
    index[number] = {stored_.size(), encoded.bytes.size()};
    stored_.insert(stored_.end(), encoded.bytes.begin(), encoded.bytes.end());
  });
  const Bytes as_stored = stored_shard_index(index, layout_.index_checksum);
  if (layout_.index_at_start)
    std::copy(as_stored.begin(), as_stored.end(), stored_.begin());
  else
    stored_.insert(stored_.end(), as_stored.begin(), as_stored.end());
  return {stored_, 0};
}

void ShardCoder::decode(const Stored& stored, std::span<std::byte> shard) {
  const std::span<const std::byte> bytes = stored.bytes;
  const auto chunks = static_cast<std::size_t>(volume(chunks_));
  const std::size_t of_index = shard_index_bytes(chunks, layout_.index_checksum);
  if (bytes.size() < of_index) throw damaged("the shard is shorter than its index");
  const ShardIndex index = shard_index_of(
      layout_.index_at_start ? bytes.first(of_index) : bytes.last(of_index), layout_.index_checksum);
  for_each_chunk([&](std::size_t number, std::int64_t begin) {
    const ChunkPlace& where = index[number];
    std::byte* const to = shard.data() + begin;
    if (!where.is_there()) return fill_box(to, strides_, layout_.chunk, absent_.data(), absent_.size());
    if (where.offset > bytes.size() || where.bytes > bytes.size() - where.offset)
      throw damaged("the index of its shard has it behind the end");
    coder_.decode({bytes.subspan(where.offset, where.bytes), 0}, chunk_);
    copy_box(chunk_.data(), chunk_strides_, to, strides_, layout_.chunk, copy_, nullptr);
  });
}

std::uint64_t longest_shard(std::uint64_t bytes, std::uint64_t chunks) {
  constexpr std::uint64_t k_head = 4096, k_of_chunk = 64;  // entry of the index, head of a frame
  // Chunks that were stored again may have left space between others.
  return (chunks > 1 ? 8 : 2) * bytes + k_head + k_of_chunk * chunks;
}

std::unique_ptr<Coder> make_coder(const Dims& shape, const std::optional<ShardLayout>& layout,
                                  const Filters& filters, Type type, const Bytes& absent) {
  if (layout) return std::make_unique<ShardCoder>(shape, *layout, filters, type, absent);
  return std::make_unique<ChunkCoder>(filters, size_of(type));
}

}  // namespace shoal
