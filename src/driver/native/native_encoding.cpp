// SPDX-License-Identifier: BSD-3-Clause
// Compressed variables: ranks of the node encode whole chunks out of the stage, each a chunk at a time, and
// store them in space that they take from the file's end; the catalog learns of them when ranks settle.
#include <algorithm>

#include "base/text.hpp"
#include "driver/native/native_driver.hpp"

namespace shoal {

// (With room for the field's own alignment.)
std::int64_t NativeDriver::largest_encoded_chunk() const {
  constexpr std::int64_t k_room = 4096;
  std::int64_t largest = 0;
  for (std::size_t v = 0; v < placements_.size(); ++v)
    if (placements_[v].kind == Placement::Kind::encoded)
      largest = std::max(largest, volume(placements_[v].chunk) *
                                          static_cast<std::int64_t>(size_of(schema_.variables[v].type)) +
                                      k_room);
  return largest;
}

// The catalog keeps the end of the file in it.
void NativeDriver::drop_stage() {
  if (catalog_) catalog_->share_end(nullptr);
  direct_.reset();
  writer_.reset();
  stage_.reset();
}

// Each chunk is encoded once, by one rank, which needs all of its cells.
Status NativeDriver::check_encoding(const FieldJob& job) {
  const Box& region = job.transfer->region;
  const Dims& chunk = job.placement->chunk;
  const auto refused = [&](const std::string& reason) {
    return Status{Code::not_supported, reason, -1, {}, job.variable->name};
  };
  if (!one_stage() || exchanges(job))
    return refused(
        "driver native compresses where all ranks are on one node and assemble fields in one stage; use "
        "driver "
        "netcdf, or leave compression out");
  if (largest_encoded_chunk() > stage_->slot_bytes())
    return refused("a chunk of " + text_of(chunk) + " is larger than a slot of the stage, " +
                   bytes_text(static_cast<double>(stage_->slot_bytes())) +
                   "; give smaller chunks, or set stage_bytes to " +
                   bytes_text(static_cast<double>(2 * largest_encoded_chunk())) + " or more");
  for (int d = 0; d < region.rank(); ++d) {
    const auto& dim = schema_.dims[static_cast<std::size_t>(job.variable->dims[static_cast<std::size_t>(d)])];
    const bool begins = region.first[d] % chunk[d] == 0;
    const bool ends = region.end(d) % chunk[d] == 0 || (!dim.unlimited && region.end(d) == dim.length);
    if (region.empty() || (begins && ends)) continue;
    return refused("compressed chunks are written as a whole, and the call writes " +
                   std::to_string(region.count[d]) + " from " + std::to_string(region.first[d]) +
                   " on in dimension '" + dim.name + "', where chunks have " + std::to_string(chunk[d]) +
                   "; write whole chunks, define the variable with others (1 in the record dimension), or "
                   "use driver netcdf");
  }
  return {};
}

void NativeDriver::enter_stored() {
  if (largest_encoded_chunk() == 0) return;
  ByteWriter out;
  const auto mine = writer_ ? writer_->take_stored() : std::vector<StoredPiece>{};
  out.put(mine);
  const auto all = comm_.gather(out.take(), 0);
  if (!owner()) return;
  std::vector<StoredPiece> stored;
  for (const auto& bytes : all) {
    const auto part = ByteReader(bytes).get<std::vector<StoredPiece>>();
    stored.insert(stored.end(), part.begin(), part.end());
  }
  std::sort(stored.begin(), stored.end(), [](const auto& a, const auto& b) {
    return std::pair(a.variable, a.filling) < std::pair(b.variable, b.filling);
  });
  for (std::size_t i = 0; i < stored.size();) {
    std::vector<NewChunk> chunks;
    const int v = stored[i].variable;
    for (; i < stored.size() && stored[i].variable == v; ++i)
      chunks.push_back(stored[i].chunk);
    catalog_->enter(v, chunks);
  }
}

std::vector<StoredChunk> NativeDriver::find_encoded(const FieldJob& job) {
  const Bytes message = comm_.from_root([&] {
    ByteWriter out;
    out.put(catalog_->stored_chunks(job.transfer->variable,
                                    chunks_of(job.transfer->region, job.placement->chunk)));
    return out.take();
  });
  return ByteReader(message).get<std::vector<StoredChunk>>();
}

}  // namespace shoal
