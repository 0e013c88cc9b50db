// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/stage/storing.hpp"

#include <algorithm>

namespace shoal {

void Storing::expect(const FieldJob& job) {
  const std::lock_guard lock(mutex_);
  encoders_.try_emplace(job.transfer->variable, job);
}

bool Storing::store_share(const SlotGeneration& generation, bool limited, Status& status) {
  const auto share = stage_.claim(generation.number, generation.shares(), {.limited = limited});
  if (!share) return false;
  Status failure = caught([&] {
    check_fingerprints(generation.number);
    if (generation.encoded)
      store_encoded(generation, generation.pieces[*share]);
    else
      store_plain(generation, *share);
  });
  if (!failure.ok()) {
    failure.rank = rank_;
    stage_.report_failure(generation.number, failure);
    status.merge(failure);
  }
  if (stage_.finish(generation.number, generation.shares(), limited))
    stage_.release(generation.number, limited ? Stage::Work::for_one : Stage::Work::for_all);
  return true;
}

void Storing::check_fingerprints(std::uint64_t generation) const {
  const auto mismatch = stage_.first_mismatch(generation);
  if (!mismatch) return;
  stage_.fail();
  throw Error(Code::out_of_step,
              "rank {} of this node wrote other variables or records than its rank 0 did; all ranks must "
              "make the same write calls in the same order",
              *mismatch);
}

void Storing::store_plain(const SlotGeneration& generation, std::uint32_t share) {
  const std::byte* data = stage_.data(generation.number);
  generation.for_each_extent(share, stage_.addresses(generation.number), [&](const Extent& extent) {
    try {
      file_.write(extent.in_file, {data + extent.in_memory, static_cast<std::size_t>(extent.bytes)});
    } catch (const Error& e) {
      throw generation.located(e, extent.in_memory);
    }
  });
}

void Storing::store_encoded(const SlotGeneration& generation, const StagedPiece& staged) {
  try {
    encode(encoder_of(staged.variable), generation, staged);
  } catch (const Error& e) {
    throw generation.located(e, staged.in_stage);
  }
}

Encoder& Storing::encoder_of(int variable) {
  const std::lock_guard lock(mutex_);
  const auto found = encoders_.find(variable);
  if (found == encoders_.end()) throw Error(Code::no_memory, "no memory to compress chunks");
  return found->second;
}

void Storing::encode(Encoder& encoder, const SlotGeneration& generation, const StagedPiece& staged) {
  const std::byte* cells = stage_.data(generation.number) + staged.in_stage;
  std::span<const std::byte> chunk(cells, static_cast<std::size_t>(staged.bytes()));
  // It sticks out of the variable, or is a part, or has cells that stay.
  if (chunk.size() != encoder.chunk_bytes() || staged.owned != nullptr) {
    encoder.load(file_, staged.encoded, encoder.whole_chunk(), counters_.decode);
    const Timer timer(counters_.encode);
    const Box& all = staged.piece.cells;
    for (const auto& part : staged.owned != nullptr ? within_region(*staged.owned, all) : std::vector{all})
      encoder.put_part(staged.piece, cells, part);
    chunk = encoder.chunk;
  }
  Coder::Stored stored;
  {
    const Timer timer(counters_.encode);
    stored = encoder.coder->encode(chunk);
  }
  const auto bytes = stored.bytes.size();
  const SharedSpace space{&stage_.file_end(), stage_.object_ends()};
  const Location address = space.take(encoder.object_of(staged.piece.chunk_index), bytes);
  file_.write(address, stored.bytes);
  counters_.bytes_encoded += static_cast<std::int64_t>(chunk.size());
  if (staged.encoded.address.is_placed())
    counters_.bytes_encoded_again += static_cast<std::int64_t>(chunk.size());
  stored_.push_back(
      {staged.variable, generation.number, {staged.piece.chunk_index, {address, bytes, stored.left_out}}});
  encoder.drop_shard();
}

}  // namespace shoal
