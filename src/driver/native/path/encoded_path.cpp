// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/path/encoded_path.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "base/text.hpp"

namespace shoal {

void EncodedPath::begin() {
  const std::int64_t bytes = context_.options.stage.bytes;
  parts_.emplace(context_.header.schema(), bytes * context_.groups.nodes().count(), context_.counters.pack);
  decoded_.emplace(bytes / context_.groups.node().size());
}

// Each chunk is encoded by one rank, out of one slot.
Status EncodedPath::check(const FieldJob& job) const {
  const FileHeader& header = context_.header;
  const Dims& chunk = job.placement->chunk;
  const std::int64_t bytes = header.chunk_bytes(job.transfer->variable);
  const auto refused = [&](const std::string& reason) {
    return Status{Code::not_supported, reason, -1, {}, job.variable->name};
  };
  const std::string setting = setting_that_keeps(context_.options.rearranging);
  if (!context_.groups.single() && !setting.empty())
    return refused(setting + (job.placement->shard
                                  ? ", but an object of an object store may need cells of several nodes or "
                                    "groups; leave the setting out"
                                  : ", but a chunk that is compressed may need cells of several nodes or "
                                    "groups; leave the setting out, or leave compression out"));
  if (rearrangers_.one_stage() && bytes > staged_.slot_bytes() && job.placement->shard)
    return refused(fmt::format(
        "a shard of {} is larger than a slot of the stage, {}: set shard_bytes to less for new variables, or "
        "stage_bytes to {} or more, where the node's shared memory (/dev/shm, --shm-size of a container) has "
        "room "
        "for it",
        text_of(chunk), bytes_text(static_cast<double>(staged_.slot_bytes())),
        bytes_text(static_cast<double>(2 * header.largest_encoded_chunk()))));
  if (rearrangers_.one_stage() && bytes > staged_.slot_bytes())
    return refused(
        fmt::format("a chunk of {} is larger than a slot of the stage, {}; give smaller chunks, or set "
                    "stage_bytes to {} or more",
                    text_of(chunk), bytes_text(static_cast<double>(staged_.slot_bytes())),
                    bytes_text(static_cast<double>(2 * header.largest_encoded_chunk()))));
  if (const std::int64_t objects = objects_of(job); objects > k_most_open)
    return refused(
        fmt::format("the write has cells of {} objects, and at most {} may be open; give larger shards "
                    "(setting shard_bytes), "
                    "or write fewer records or levels at a time",
                    objects, k_most_open));
  return {};
}

// Those that the chunks of the region lie in, of a dataset that has many.
std::int64_t EncodedPath::objects_of(const FieldJob& job) {
  const Dims& cells = job.placement->objects.cells;
  return cells.empty() || job.transfer->region.empty() ? 0 : objects_in(job).cells();
}

Box EncodedPath::objects_in(const FieldJob& job) {
  return chunks_of(job.transfer->region, job.placement->objects.cells);
}

bool EncodedPath::must_complete(const FieldJob& job) const {
  return open_objects_ + objects_of(job) > k_most_open || job.keeps || stores_again(job) ||
         parts_->in_the_way(job) || (parts_->is_part(job) && parts_->full(job));
}

// What is stored as a whole has no order among ranks: an object is stored again once it is known to be down.
bool EncodedPath::stores_again(const FieldJob& job) const {
  if (put_.empty()) return false;
  const Box objects = objects_in(job);
  return std::any_of(put_.begin(), put_.end(), [&](const auto& before) {
    return before.first == job.transfer->variable && !intersection(before.second, objects).empty();
  });
}

// Chunks that are written keep cells of before: they must be known, and are stored with them at once.
Status EncodedPath::write(const FieldJob& job) {
  if (job.keeps) {
    FieldJob kept = job;
    const Box chunks = chunks_of(job.transfer->region, job.placement->chunk);
    const Status known =
        caught([&] { kept.encoded = addresses_.encoded_chunks(job.transfer->variable, chunks); });
    return known.ok() ? store_chunks(kept) : known;
  }
  if (!parts_->is_part(job)) return store_chunks(job);
  Status status = parts_->add(job);
  const auto whole = parts_->take_whole(job);
  if (!whole) return status;
  const FieldJob all = context_.job_for(whole->transfer);
  status.merge(store_chunks(all));
  return status;
}

// The owner opens objects before it comes to the stage, or to the others' requests for space.
Status EncodedPath::store_chunks(const FieldJob& job) {
  open_objects_ += objects_of(job);
  if (job.placement->objects.has_objects() && job.placement->stores_whole && objects_of(job) > 0)
    put_.emplace_back(job.transfer->variable, objects_in(job));
  Status status = caught([&] { addresses_.open_objects(job); });
  status.merge(store_opened(job));
  return status;
}

Status EncodedPath::store_opened(const FieldJob& job) {
  return rearrangers_.one_stage() ? staged_.write(job) : chunks_.write(job);
}

Status EncodedPath::store_part(const Transfer& part) {
  FieldJob job = context_.job_for(part);
  Status status = caught([&] {
    job.encoded = addresses_.encoded_chunks(part.variable, chunks_of(part.region, job.placement->chunk));
  });
  if (status.ok()) status = store_chunks(job);
  return located(status, job);
}

Status EncodedPath::read(FieldJob& job) {
  job.encoded = addresses_.find_encoded(job);
  const bool keeps = !context_.writable && parts_->is_part(job);
  DecodedChunks* const decoded = keeps ? &*decoded_ : nullptr;
  if (sends_cells(job)) return chunks_.read(job, decoded);
  if (!context_.groups.single()) context_.strategies.report_decoded(job);
  return staged_.read(job, decoded);
}

// Where cells of other fields are sent too; and of a map that several nodes read, no node may have boxes.
bool EncodedPath::sends_cells(const FieldJob& job) const {
  const Decomposition& cut = *job.transfer->decomposition;
  return context_.strategies.of(&cut).strategy.rearranging == Rearranging::always ||
         (cut.map() != nullptr && !context_.groups.single());
}

void EncodedPath::enter_stored() {
  if (context_.header.largest_encoded_chunk() == 0) return;
  open_objects_ = 0;
  put_.clear();
  ByteWriter out;
  auto mine = staged_.take_stored();
  const auto sent = chunks_.take_stored();
  mine.insert(mine.end(), sent.begin(), sent.end());
  out.put(mine);
  const auto all = context_.comm.gather(out.take(), 0);
  if (!context_.header.on_owner()) return;
  std::vector<StoredPiece> stored;
  for (const auto& bytes : all) {
    const auto part = ByteReader(bytes).get<std::vector<StoredPiece>>();
    stored.insert(stored.end(), part.begin(), part.end());
  }
  std::sort(stored.begin(), stored.end(), [](const auto& a, const auto& b) {
    return std::pair(a.variable, a.generation) < std::pair(b.variable, b.generation);
  });
  for (std::size_t i = 0; i < stored.size();) {
    std::vector<NewChunk> chunks;
    const int v = stored[i].variable;
    for (; i < stored.size() && stored[i].variable == v; ++i)
      chunks.push_back(stored[i].chunk);
    context_.header.catalog().enter(v, chunks);
  }
  addresses_.close_objects();
}

void EncodedPath::clear() {
  parts_->clear();
  if (!put_.empty()) addresses_.close_objects();  // what was lost has no place
  put_.clear();
  open_objects_ = 0;
  chunks_.take_stored();
}

}  // namespace shoal
