// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/stage/field_reader.hpp"

#include <fmt/core.h>

namespace shoal {

Status FieldReader::read(const FieldJob& job) {
  if (job.is_encoded()) decoder_.emplace(job);
  const std::vector<SlotGeneration> generations = describe(job);
  const Bytes fill = stored_absent_value(*job.variable, job.placement->swapped);
  const auto ahead = static_cast<std::size_t>(stage_.slots());
  const std::uint64_t fingerprint = fingerprint_of(job, 0);
  Status status;
  std::size_t next = 0;  // the slot generation whose cells this rank takes next
  // Fetch a share of the next slot generations: one that this rank has decoded before, the one that lies
  // where it fetched before, whose memory is near to its core, or else any that nobody has taken.
  const auto fetch_claimed = [&](const auto& claim) {
    for (std::size_t i = next; i < std::min(generations.size(), next + ahead); ++i) {
      const SlotGeneration& generation = generations[i];
      if (!stage_.open(generation.number)) return false;
      stage_.map(generation.number, 0, generation.used);
      const std::optional<std::uint32_t> share = claim(generation);
      if (!share) continue;
      status.merge(caught([&] { fetch(generation, *share, fill); }));
      stage_.finish(generation.number, generation.shares(), false);
      return true;
    }
    return false;
  };
  const auto own = static_cast<std::uint32_t>(stage_.node().rank()) % Stage::k_most_shares;
  const auto fetch_requested = [&](const Stage::ClaimRequest& request) {
    return fetch_claimed([&](const SlotGeneration& generation) {
      return stage_.claim(generation.number, generation.shares(), request);
    });
  };
  const auto fetch_decoded = [&] {
    return job.is_encoded() && decoded_ != nullptr &&
           fetch_claimed([&](const SlotGeneration& generation) { return claim_decoded(generation); });
  };
  const auto fetch_one = [&] {
    return fetch_decoded() || fetch_requested({own, false}) || fetch_requested({own, true});
  };
  for (; next < generations.size(); ++next) {
    const SlotGeneration& generation = generations[next];
    const auto fetched = [&] {
      return stage_.is_free(generation.number) && stage_.all_done(generation.number, generation.shares());
    };
    bool in_step = true;
    const Status late = caught([&] {
      in_step = fetched() ||
                stage_.wait(generation.number, fetched, fetch_one, counters_.blocked, stage_.wait_seconds());
    });
    if (!late.ok()) stage_.fail();
    status.merge(late);
    if (!late.ok() || !in_step) return status;  // not in step: the rank that failed has the message
    const ConversionErrors conversion_errors = unpack(job, generation);
    if (conversion_errors.count > 0 && status.ok())
      status = conversion_status(*job.transfer, *job.variable, conversion_errors, job.transfer->mine, false);
    if (stage_.arrive(generation.number, fingerprint)) {
      if (const auto odd = stage_.first_mismatch(generation.number))
        status.merge({Code::out_of_step,
                      fmt::format("rank {} of this node read another variable or record than its rank 0 did; "
                                  "all ranks must make the same read calls in the same order",
                                  *odd)});
      stage_.release(generation.number);
    }
  }
  return status;
}

std::vector<SlotGeneration> FieldReader::describe(const FieldJob& job) {
  std::vector<SlotGeneration> generations;
  const auto element_size = static_cast<std::int64_t>(size_of(job.variable->type));
  const Box chunks = chunks_of(job.transfer->region, job.placement->chunk);
  const auto cover = within_region(job.share->fetch, job.transfer->region);
  for_each_piece(cover, job.placement->chunk, stage_.slot_bytes() / element_size, [&](const Piece& piece) {
    const std::int64_t bytes = piece.cells.cells() * element_size;
    if (generations.empty() || !generations.back().fits(bytes, stage_.slot_bytes())) {
      generations.emplace_back();
      generations.back().encoded = job.is_encoded();
      generations.back().number = stage_.take_generation();
    }
    SlotGeneration& generation = generations.back();
    const auto in_list = static_cast<std::size_t>(position_in(piece.chunk_index, chunks));
    const Location address = job.is_encoded()       ? k_nowhere
                             : job.addresses_listed ? job.addresses[in_list]
                                                    : location_of(*job.placement, piece.chunk_index[0]);
    generation.pieces.push_back({piece, generation.used, address, -1, job.placement->chunk,
                                 size_of(job.variable->type), job.transfer->variable,
                                 job.is_encoded() ? job.encoded[in_list] : StoredChunk{}});
    generation.used += bytes;
  });
  // Every rank of the node gets a part to fetch, so that none only waits.
  for (auto& generation : generations)
    generation.share_evenly(generation.used, stage_.node().size());
  return generations;
}

std::optional<std::uint32_t> FieldReader::claim_decoded(const SlotGeneration& generation) {
  for (std::uint32_t i = 0; i < generation.shares(); ++i)
    if (decoded_->has(generation.pieces[i].encoded.address))
      if (const auto share = stage_.claim(generation.number, generation.shares(), {i, false})) return share;
  return std::nullopt;
}

void FieldReader::fetch(const SlotGeneration& generation, std::uint32_t share, const Bytes& fill) {
  if (generation.encoded) return decode(generation, generation.pieces[share]);
  std::byte* data = stage_.data(generation.number);
  const auto fill_from = [&](std::int64_t at, std::int64_t bytes) {
    const auto size = static_cast<std::int64_t>(fill.size());
    fill_box(data + at, {size}, {bytes / size}, fill.data(), fill.size());
  };
  generation.for_each_extent(share, nullptr, [&](const Extent& extent) {
    if (!extent.in_file.is_placed()) return fill_from(extent.in_memory, extent.bytes);
    const auto got = static_cast<std::int64_t>(
        file_.read(extent.in_file, {data + extent.in_memory, static_cast<std::size_t>(extent.bytes)}));
    // Behind the end of the file: records that others only announced.
    const auto size = static_cast<std::int64_t>(fill.size());
    if (got < extent.bytes) fill_from(extent.in_memory + got / size * size, extent.bytes - got / size * size);
  });
}

void FieldReader::decode(const SlotGeneration& generation, const StagedPiece& staged) {
  Encoder& decoder = *decoder_;
  std::byte* to = stage_.data(generation.number) + staged.in_stage;
  if (static_cast<std::size_t>(staged.bytes()) == decoder.chunk_bytes())
    return decoder.load(file_, staged.encoded, {to, decoder.chunk_bytes()}, counters_.decode);
  const Location address = staged.encoded.address;
  const Bytes* known = decoded_ != nullptr ? decoded_->find(address) : nullptr;
  if (known == nullptr) {
    decoder.load(file_, staged.encoded, decoder.whole_chunk(), counters_.decode);
    if (decoded_ != nullptr && address.is_placed()) decoded_->keep(address, decoder.chunk);
    known = &decoder.chunk;
  }
  decoder.get_part(*known, staged.piece, to);
}

ConversionErrors FieldReader::unpack(const FieldJob& job, const SlotGeneration& generation) {
  const Timer timer(counters_.unpack);
  ConversionErrors all;
  const ConvertRun convert = find_conversion(job.stored(), in_memory(*job.transfer));
  for (const auto& staged : generation.pieces) {
    Dims strides = row_major_strides(staged.piece.cells.count);
    for (auto& stride : strides)
      stride *= static_cast<std::int64_t>(staged.element_size);
    all.merge(unpack_cells(*job.transfer, stage_.data(generation.number) + staged.in_stage, strides,
                           staged.piece.cells, convert),
              0);
  }
  return all;
}

}  // namespace shoal
