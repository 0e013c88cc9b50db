// SPDX-License-Identifier: BSD-3-Clause
// Compressed variables: ranks of the node encode whole chunks out of the stage, each a chunk at a time, and
// store them in space that they take from the file's end; the catalog learns of them when ranks complete
// pending writes. (native_chunks.cpp: what ranks of several nodes have.)
#include <algorithm>

#include "base/text.hpp"
#include "driver/native/native_driver.hpp"

namespace shoal {

// Each chunk is encoded by one rank, out of one slot.
Status NativeDriver::check_encoding(const FieldJob& job) {
  const Dims& chunk = job.placement->chunk;
  const std::int64_t bytes = header_.chunk_bytes(job.transfer->variable);
  const auto refused = [&](const std::string& reason) {
    return Status{Code::not_supported, reason, -1, {}, job.variable->name};
  };
  if (const std::string setting = setting_that_keeps(options_); !groups_.single() && !setting.empty())
    return refused(setting +
                   ", but a chunk that is compressed may need cells of several nodes or groups; leave the "
                   "setting out, or leave compression out");
  if (rearrangers_.one_stage() && bytes > staged_.slot_bytes())
    return refused("a chunk of " + text_of(chunk) + " is larger than a slot of the stage, " +
                   bytes_text(static_cast<double>(staged_.slot_bytes())) +
                   "; give smaller chunks, or set stage_bytes to " +
                   bytes_text(static_cast<double>(2 * header_.largest_encoded_chunk())) + " or more");
  return {};
}

bool NativeDriver::must_complete_chunks(const FieldJob& job) const {
  return job.is_encoded() &&
         (job.keeps || parts_->in_the_way(job) || (parts_->is_part(job) && parts_->full(job)));
}

void NativeDriver::complete_earlier_chunks(const FieldJob& job) {
  if (must_complete_chunks(job)) complete_pending(k_writes);
}

// Chunks that are written keep cells of before: they must be known, and are stored with them at once.
Status NativeDriver::store_encoded(const FieldJob& job) {
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

Status NativeDriver::store_chunks(const FieldJob& job) {
  return rearrangers_.one_stage() ? staged_.write(job) : send_chunks(job);
}

void NativeDriver::store_part(const Transfer& part) {
  FieldJob job = context_.job_for(part);
  Status status = caught([&] {
    job.encoded = addresses_.encoded_chunks(part.variable, chunks_of(part.region, job.placement->chunk));
  });
  if (status.ok()) status = store_chunks(job);
  keep(located(status, job));
}

void NativeDriver::enter_stored() {
  if (header_.largest_encoded_chunk() == 0) return;
  ByteWriter out;
  auto mine = staged_.take_stored();
  mine.insert(mine.end(), stored_.begin(), stored_.end());
  stored_.clear();
  out.put(mine);
  const auto all = comm_.gather(out.take(), 0);
  if (!header_.on_owner()) return;
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
    header_.catalog().enter(v, chunks);
  }
}

}  // namespace shoal
