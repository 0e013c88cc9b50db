// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/stage/field_writer.hpp"

#include "pack/cells.hpp"
#include "pack/map_cells.hpp"

namespace shoal {

namespace {
constexpr std::int64_t k_cached = 16 * 1024 * 1024;
}

Status FieldWriter::write(const FieldJob& job) {
  Status status = failure();
  status.merge(job.transfer->refused.why);
  complete_overlap(job, status);
  const Bytes fill = stored_fill(*job.variable, job.placement->swapped);
  const auto element_size = static_cast<std::int64_t>(size_of(job.variable->type));
  bool noted = false;
  bool stopped = false;
  const bool encoded = job.is_encoded();
  if (encoded && stage_.stores())
    status.merge(caught([&] {
      storing_.expect(job);
      if (background_) background_->expect(job);
    }));
  // Chunks to encode are whole: all ranks that there are share this stage.
  const auto cover = encoded ? std::vector<Box>{job.transfer->region}
                             : within_region(job.share->to_store(job.keeps), job.transfer->region);
  for_each_piece(cover, job.placement->chunk, stage_.slot_bytes() / element_size, [&](const Piece& piece) {
    if (stopped) return;
    const std::int64_t bytes = piece.cells.cells() * element_size;
    if (open_ && (open_->generation->encoded != encoded ||
                  !open_->generation->has_space(bytes, stage_.slot_bytes()))) {
      close_generation(status);
      if (noted) ++counters_.slabs;
      noted = false;
    }
    if (!open_) {
      open_generation();
      open_->generation->encoded = encoded;
      const std::uint64_t number = open_->generation->number;
      const auto has_space = [&] { return (encoded || stage_.has_space(number)) && stage_.open(number); };
      if (!stage_.open(number) &&
          !wait_until(number, has_space, encoded ? Stage::Awaits::anything : Stage::Awaits::next_slot,
                      counters_.blocked, status)) {
        stopped = true;
        return;
      }
      look_back(number);
    }
    if (!noted) {
      open_->fingerprint = fingerprint_of(job, open_->fingerprint);
      const int v = job.transfer->variable;
      open_->regions.emplace_back(v, job.transfer->region);
      Box& reach = open_->reach.try_emplace(v, job.transfer->region).first->second;
      reach = bounding(reach, job.transfer->region);
      open_->generation->align();
      open_->generation->fields.push_back({open_->generation->used, job.variable->name, job.records});
      noted = true;
    }
    const StagedPiece& staged = add_piece(job, piece);
    const Timer timer(counters_.pack);
    ConversionErrors conversion_errors;
    status.merge(caught([&] { conversion_errors = pack(job, staged, fill); }));
    if (conversion_errors.count > 0)
      status.merge(conversion_status(*job.transfer, *job.variable, conversion_errors,
                                     intersection(piece.cells, job.transfer->mine), true));
  });
  return status;
}

StagedPiece& FieldWriter::add_piece(const FieldJob& job, const Piece& piece) {
  StagedPiece staged{piece,
                     open_->generation->used,
                     {},
                     -1,
                     job.placement->chunk,
                     size_of(job.variable->type),
                     job.transfer->variable,
                     {},
                     nullptr};
  if (job.is_encoded()) {  // gets its address when its size is known
    if (!job.encoded.empty()) {
      const Box chunks = chunks_of(job.transfer->region, job.placement->chunk);
      staged.encoded = job.encoded[position_in(piece.chunk_index, chunks)];
    }
    if (job.keeps) staged.owned = &job.share->to_store(true);
  } else if (job.addresses_listed) {
    staged.address_slot = open_->generation->addresses++;
    publish_address(job, staged);
  } else {
    staged.address = location_of(*job.placement, piece.chunk_index[0]);
  }
  open_->generation->used += staged.bytes();
  open_->generation->pieces.push_back(staged);
  return open_->generation->pieces.back();
}

void FieldWriter::publish_address(const FieldJob& job, const StagedPiece& staged) {
  // The node's first rank that knows the addresses writes them down; it arrives only after, so whoever stores
  // sees them.
  if (job.addresses.empty() || stage_.node().rank() != 0) return;
  const Box chunks = chunks_of(job.transfer->region, job.placement->chunk);
  const auto i = static_cast<std::size_t>(position_in(staged.piece.chunk_index, chunks));
  stage_.addresses(open_->generation->number)[staged.address_slot] = job.addresses[i];
}

// Those that are far from each other one by one: what lies between is other ranks'.
void FieldWriter::map_own_cells(const FieldJob& job, const StagedPiece& staged) {
  const Box& cells = staged.piece.cells;
  const bool anywhere = job.transfer->decomposition->map() != nullptr;
  Box firsts = anywhere ? cells : intersection(cells, own_cells(*job.transfer));
  if (firsts.empty()) return;
  const Dims strides = byte_strides(cells.count, staged.element_size);
  auto length = static_cast<std::int64_t>(staged.element_size);
  for (int d = 0; d < cells.rank(); ++d)
    if (anywhere || strides[d] < Stage::k_mapped_together)
      length += (std::exchange(firsts.count[d], 1) - 1) * strides[d];
  for_each_index(firsts, [&](const Dims& first) {
    const std::int64_t begin =
        staged.in_stage + position_in(first, cells) * static_cast<std::int64_t>(staged.element_size);
    stage_.map(open_->generation->number, begin, begin + length);
  });
}

ConversionErrors FieldWriter::pack(const FieldJob& job, const StagedPiece& staged, const Bytes& fill) {
  map_own_cells(job, staged);
  const Box& cells = staged.piece.cells;
  std::byte* base = stage_.data(open_->generation->number) + staged.in_stage;
  const Dims strides = byte_strides(cells.count, staged.element_size);
  const auto place_of = [&](const Box& part) {
    return base + position_in(part.first, cells) * static_cast<std::int64_t>(staged.element_size);
  };
  const auto fill_part = [&](const Box& box) {
    const Box part = intersection(cells, box);
    if (!part.empty()) fill_box(place_of(part), strides, part.count, fill.data(), fill.size());
  };
  // Cells that nobody owns are shared out among the node's ranks.
  for (std::size_t i = 0; i < job.share->unowned.size() && !job.keeps; ++i)
    if (i % static_cast<std::size_t>(stage_.node().size()) == static_cast<std::size_t>(stage_.node().rank()))
      for (const auto& box : within_region({job.share->unowned[i]}, job.transfer->region))
        fill_part(box);

  const Decomposition& decomposition = *job.transfer->decomposition;
  const auto fill_mapped = [&](const IndexMap& map) {
    fill_map_cells(decomposition, map, cells, base, fill);
  };
  if (decomposition.map() != nullptr) fill_mapped(decomposition.unowned_share());
  if (job.transfer->refused) {
    if (decomposition.map() != nullptr)
      fill_mapped(*decomposition.map());
    else
      fill_part(own_cells(*job.transfer));
    return {};
  }
  ConvertRun convert = to_stored(*job.transfer, job.stored());
  // No cache holds them until somebody comes to store them.
  if (later_ && stage_.slots() * stage_.slot_bytes() > k_cached)
    convert = convert.streaming(staged.element_size);
  const ConversionErrors conversion_errors =
      pack_cells(*job.transfer, cells, base, strides, convert, fill.data());
  finish_streams();
  return conversion_errors;
}

void FieldWriter::complete_overlap(const FieldJob& job, Status& status) {
  // Shares are stored in any order: cells that are written again must wait until the older ones are down.
  // What is closed here must not depend on how far the storing is, since all ranks have to close the same
  // slot generations.
  const auto touches = [&](const Described& described) {
    const auto reach = described.reach.find(job.transfer->variable);
    if (reach == described.reach.end() || intersection(reach->second, job.transfer->region).empty())
      return false;
    return std::any_of(described.regions.begin(), described.regions.end(), [&](const auto& entry) {
      return entry.first == job.transfer->variable &&
             !intersection(entry.second, job.transfer->region).empty();
    });
  };
  if (open_ && touches(*open_)) close_generation(status);
  const auto stored = [&] {
    drop_stored();
    return std::none_of(full_.begin(), full_.end(), touches);
  };
  if (!full_.empty())
    wait_until(full_.back().generation->number, stored, Stage::Awaits::anything, counters_.blocked, status);
}

void FieldWriter::open_generation() {
  open_ = Described{};
  open_->generation = std::make_shared<SlotGeneration>();
  open_->generation->number = stage_.take_generation();
  open_->generation->share_evenly(stage_.slot_bytes(), stage_.writers());
}

// All ranks of the node look at the same mark, none of them before the slot generation that it is of is over.
void FieldWriter::look_back(std::uint64_t number) {
  const auto slots = static_cast<std::uint64_t>(stage_.slots());
  if (!later_) return;
  if (fresh_ && stage_.node().rank() == 0) stage_.forget_failure();
  fresh_ = false;
  if (number >= flushed_ + slots) reported_.merge(stage_.failure_of(number - slots));
}

void FieldWriter::close_generation(Status& status) {
  full_.push_back(std::move(*open_));
  open_.reset();
  const Described& closed = full_.back();
  const std::uint64_t number = closed.generation->number;
  drop_stored();
  const auto oldest = full_.empty() ? number : full_.front().generation->number;
  counters_.stage_high_water = std::max(counters_.stage_high_water,
                                        static_cast<std::int64_t>(number - oldest + 1) * stage_.slot_bytes());
  if (later_) {
    if (background_ && background_->has_turn(*closed.generation)) background_->take(closed.generation);
    stage_.arrive(number, closed.fingerprint);
    return;
  }
  stage_.arrive(number, closed.fingerprint,
                closed.generation->encoded ? Stage::Work::for_all : Stage::Work::for_one);
  // A rank that is late leaves the storing to those that wait already: its own cells are what the next
  // slot generation lacks, for which it would be late again.
  while ((stage_.stores_alone() || !stage_.somebody_waits()) && store_one(status)) {
  }
}

bool FieldWriter::store_one(Status& status) {
  if (background_ && stage_.has_rate_limit()) return false;  // which the thread keeps
  for (const auto& described : full_) {
    const SlotGeneration& generation = *described.generation;
    if (stage_.is_over(generation.number)) continue;
    // Who has to wait for the thread can as well compress with it; the device is busy already.
    if (background_ && !generation.encoded) continue;
    if (stage_.broken() || !stage_.all_arrived(generation.number)) return false;
    // Encoding is work for all cores, storing waits for one device.
    if (storing_.store_share(generation, !generation.encoded, status)) return true;
  }
  return false;
}

bool FieldWriter::wait_until(std::uint64_t generation, const std::function<bool()>& condition,
                             Stage::Awaits awaits, Seconds& waited, Status& status) {
  if (condition()) return true;
  Status failure = caught([&] {
    if (!stage_.wait(
            generation, condition, [&] { return store_one(status); }, waited, stage_.wait_seconds(), awaits))
      throw Error(Code::out_of_step, "");
  });
  if (failure.ok()) {
    for (const auto& described : full_)
      stage_.pass_on(described.generation->number, described.generation->shares());
    return true;
  }
  // Broken by another rank: that one has the message.
  if (failure.code != Code::out_of_step) {
    status.merge(failure);
    stage_.fail();
  }
  return false;
}

void FieldWriter::drop_stored() {
  while (!full_.empty() && stage_.is_over(full_.front().generation->number))
    full_.pop_front();
}

Status FieldWriter::submit_pending() {
  Status status;
  if (open_ && open_->generation->used > 0 && !stage_.broken()) close_generation(status);
  open_.reset();
  return status;
}

Status FieldWriter::flush() {
  Status status = submit_pending();
  if (!full_.empty()) {
    const std::uint64_t last = full_.back().generation->number;
    const auto all_over = [&] {
      drop_stored();
      return full_.empty();
    };
    Seconds waited = 0;  // is a part of the sync, not of any write
    wait_until(last, all_over, Stage::Awaits::anything, waited, status);
  }
  if (!later_) return status;
  flushed_ = stage_.next_generation();
  fresh_ = true;
  reported_ = {};
  Status first = background_ ? background_->rest(counters_) : Status{};
  first.merge(status);
  return first;
}

std::vector<StoredPiece> FieldWriter::take_stored() {
  auto stored = storing_.take_stored();
  if (background_) {
    const auto by_thread = background_->take_stored();
    stored.insert(stored.end(), by_thread.begin(), by_thread.end());
  }
  return stored;
}

void FieldWriter::forget() {
  if (background_) background_->drop();
  flushed_ = 0;
  fresh_ = true;
  reported_ = {};
  full_.clear();
  take_stored();
  open_.reset();
}

void FieldWriter::sync_file() {
  if (background_) background_->sync_file();
}

void FieldWriter::close_file() {
  if (background_) background_->close_file();
}

void FieldWriter::note_committed() {
  if (background_) background_->note_committed();
}

}  // namespace shoal
