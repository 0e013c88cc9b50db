// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/path/partial_chunk_buffer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace shoal {

namespace {

// Dimensions in front of those of the decomposition.
int leads_of(const Transfer& transfer) {
  return transfer.region.rank() - transfer.decomposition->rank();
}

bool intersects(const Box& a, const Box& b) {
  return !intersection(a, b).empty();
}

// Joins the box with others that make a larger box with it, as levels and records do that come in order.
void add_joined(std::vector<Box>& boxes, Box box) {
  const auto joins = [&](const Box& other) {
    const Box both = bounding(other, box);
    return both.cells() == other.cells() + box.cells() && !intersects(other, box);
  };
  for (auto at = boxes.begin(); (at = std::find_if(boxes.begin(), boxes.end(), joins)) != boxes.end();
       at = boxes.begin()) {
    box = bounding(*at, box);
    boxes.erase(at);
  }
  boxes.push_back(box);
}

// Where a box lies in an array that holds `within`, in the array's dimensions, of which a map has its own.
Box in_array(const Box& box, const Transfer& of) {
  if (!is_mapped(of)) {
    Box inner = box;
    for (int d = 0; d < box.rank(); ++d)
      inner.first[d] -= of.mine.first[d];
    return inner;
  }
  Box inner = Box::whole(of.array.extents());
  for (int d = 0; d < leads_of(of); ++d) {
    inner.first[d] = box.first[d] - of.region.first[d];
    inner.count[d] = box.count[d];
  }
  return inner;
}

std::int64_t field_bytes(const FieldJob& job, const Box& region) {
  return region.cells() * static_cast<std::int64_t>(size_of(job.variable->type));
}

}  // namespace

bool PartialChunkBuffer::is_part(const FieldJob& job) const {
  const Box& region = job.transfer->region;
  const Dims& chunk = job.placement->chunk;
  for (int d = 0; d < region.rank() && !region.empty(); ++d) {
    const auto& dim = schema_.dim(job.variable->dims[static_cast<std::size_t>(d)]);
    const bool begins = region.first[d] % chunk[d] == 0;
    const bool ends = region.end(d) % chunk[d] == 0 || (!dim.unlimited && region.end(d) == dim.length);
    if (!begins || !ends) return true;
  }
  return false;
}

// All cells of the chunks that the call touches. Of a map, the dimensions that it counts are taken as they
// are.
Box PartialChunkBuffer::region_of(const FieldJob& job) const {
  Box region = job.transfer->region;
  const Dims& chunk = job.placement->chunk;
  const int dims = is_mapped(*job.transfer) ? leads_of(*job.transfer) : region.rank();
  for (int d = 0; d < dims; ++d) {
    const auto& dim = schema_.dim(job.variable->dims[static_cast<std::size_t>(d)]);
    const std::int64_t first = region.first[d] / chunk[d] * chunk[d];
    std::int64_t end = (region.end(d) + chunk[d] - 1) / chunk[d] * chunk[d];
    if (!dim.unlimited) end = std::min(end, dim.length);
    region.first[d] = first;
    region.count[d] = end - first;
  }
  return region;
}

bool PartialChunkBuffer::in_the_way(const FieldJob& job) const {
  const Transfer& transfer = *job.transfer;
  const bool part = is_part(job);
  const Box region = part ? region_of(job) : transfer.region;
  return std::any_of(kept_.begin(), kept_.end(), [&](const PartialChunks& kept) {
    return kept.transfer.variable == transfer.variable && intersects(kept.transfer.region, region) &&
           (!part || kept.transfer.region != region || kept.transfer.decomposition != transfer.decomposition);
  });
}

std::deque<PartialChunkBuffer::PartialChunks>::iterator PartialChunkBuffer::find(const FieldJob& job) {
  const Box region = region_of(job);
  return std::find_if(kept_.begin(), kept_.end(), [&](const PartialChunks& kept) {
    return kept.transfer.variable == job.transfer->variable && kept.transfer.region == region;
  });
}

bool PartialChunkBuffer::full(const FieldJob& job) const {
  const Box region = region_of(job);
  const bool there = std::any_of(kept_.begin(), kept_.end(), [&](const PartialChunks& kept) {
    return kept.transfer.variable == job.transfer->variable && kept.transfer.region == region;
  });
  return !there && !kept_.empty() && bytes_ + field_bytes(job, region) > most_bytes_;
}

PartialChunkBuffer::PartialChunks& PartialChunkBuffer::begin(const FieldJob& job) {
  PartialChunks& kept = kept_.emplace_back();
  Transfer& all = kept.transfer;
  all = *job.transfer;
  all.region = region_of(job);
  // More than may wait: it is stored before the next call, and needs room for its own cells alone.
  if (field_bytes(job, all.region) > most_bytes_) all.region = job.transfer->region;
  all.mine = own_cells(all);
  kept.missing = all.region.cells();
  kept.bytes = field_bytes(job, all.region);
  bytes_ += kept.bytes;
  all.refused.why = caught([&] {
    if (all.mine.empty()) return;
    if (!is_mapped(all)) all.array = ArrayView::contiguous(nullptr, job.variable->type, all.mine.count);
    all.array = all.array.without_cells();
    if (!is_mapped(all) || !job.transfer->refused) allocate(kept, all.array);
  });
  return kept;
}

// Of a map: all parts of it come as the first one that this rank can give.
void PartialChunkBuffer::allocate(PartialChunks& kept, const CellArray& like) {
  const Element element = like.element();
  Dims extents = like.extents();
  for (int d = 0; d < leads_of(kept.transfer); ++d)
    extents[d] = kept.transfer.region.count[d];
  std::byte* const cells = kept.cells.of(static_cast<std::size_t>(volume(extents)) * element.size);
  kept.array = {cells,         element.type, element.size, extents, byte_strides(extents, element.size),
                element.packer};
  kept.transfer.array = kept.array;
}

// The others' cells go on, and so do this rank's of other parts. The fill value is given as if the model had
// given it; where its type has none, the rank leaves out all parts.
Status PartialChunkBuffer::leave_out(const FieldJob& job, PartialChunks& kept, const Box& part,
                                     const Status& why) {
  Transfer& all = kept.transfer;
  const Element memory = in_memory(all);
  const Bytes fill = fill_of(*job.variable);
  const Element stored{job.variable->type, fill.size(), false};
  const Bytes nothing(std::max(memory.size, fill.size()));
  Bytes given(memory.size), again(fill.size());
  const Status there = caught([&] {
    find_conversion(stored, memory)(fill.data(), 0, given.data(), 0, 1, nothing.data());
    find_conversion(memory, stored)(given.data(), 0, again.data(), 0, 1, nothing.data());
  });
  if (!there.ok() || again != fill) return all.refused.why = why;
  const ArrayView to = kept.array.part(in_array(part, all));
  fill_box(to.data, to.strides, to.extents, given.data(), given.size());
  return why;
}

Status PartialChunkBuffer::add(const FieldJob& job) {
  const Timer timer(time_);
  const auto before = find(job);
  PartialChunks& kept = before != kept_.end() ? *before : begin(job);
  const Box& region = job.transfer->region;
  const auto has = [&](const Box& box) { return box.contains(region); };
  if (std::none_of(kept.written.begin(), kept.written.end(), has)) {
    const auto intersects_region = [&](const Box& box) { return intersects(box, region); };
    kept.overlaps = kept.overlaps || std::any_of(kept.written.begin(), kept.written.end(), intersects_region);
    kept.missing -= region.cells();
    if (kept.overlaps)
      kept.written.push_back(region);
    else
      add_joined(kept.written, region);
  }
  if (kept.transfer.refused && kept.bad.empty()) return kept.transfer.refused.why;
  if (kept.transfer.mine.empty()) return job.transfer->refused.why;
  return is_mapped(*job.transfer) ? copy_mapped(job, kept) : copy_tile(job, kept);
}

Status PartialChunkBuffer::copy_tile(const FieldJob& job, PartialChunks& kept) {
  const Transfer& transfer = *job.transfer;
  Status status = transfer.refused.why;
  const ArrayView& to = kept.array;
  const Bytes fill = fill_of(*job.variable);
  const Element element{job.variable->type, fill.size(), false};
  if (!status.ok()) {  // the others' cells go on
    const ArrayView part = to.part(in_array(own_cells(transfer), kept.transfer));
    fill_box(part.data, part.strides, part.extents, fill.data(), fill.size());
    return status;
  }
  ConversionErrors conversion_errors;
  status = caught([&] {
    conversion_errors = pack_cells(transfer, kept.transfer.mine, to.data, to.strides,
                                   find_conversion(in_memory(transfer), element), fill.data());
  });
  if (conversion_errors.count > 0)
    status.merge(conversion_status(transfer, *job.variable, conversion_errors,
                                   intersection(kept.transfer.mine, transfer.mine), true));
  return status;
}

// As the model has them: land and holes are looked at by nobody before it is known where cells go.
Status PartialChunkBuffer::copy_mapped(const FieldJob& job, PartialChunks& kept) {
  const Transfer& transfer = *job.transfer;
  Transfer& all = kept.transfer;
  if (transfer.refused) {
    if (all.array.has_cells()) return leave_out(job, kept, transfer.region, transfer.refused.why);
    kept.bad.push_back(transfer.region);
    return all.refused.why = transfer.refused.why;
  }
  if (!all.array.has_cells()) {
    const Status roomy = caught([&] { allocate(kept, transfer.array); });
    if (!roomy.ok()) return all.refused.why = roomy;
    const Status before = std::exchange(all.refused.why, {});
    for (const Box& part : std::exchange(kept.bad, {}))
      leave_out(job, kept, part, before);
    if (all.refused) return all.refused.why;
  }
  const Element element = in_memory(transfer);
  if (!(element == in_memory(all)))
    return all.refused.why = {
               Code::type,
               fmt::format("an array of type {} was given for a part of compressed chunks of which other "
                           "parts came as {}; give all parts as the same type, or write whole chunks",
                           name_of(element.type), name_of(all.array.type())),
               -1,
               {},
               job.variable->name};
  return caught([&] {
    const ArrayView part = kept.array.part(in_array(transfer.region, all));
    transfer.array.copy_to(part.data, part.strides);
  });
}

PartialChunkBuffer::PartialChunks PartialChunkBuffer::take(std::deque<PartialChunks>::iterator at) {
  PartialChunks kept = std::move(*at);
  bytes_ -= kept.bytes;
  kept_.erase(at);
  return kept;
}

std::optional<PartialChunkBuffer::PartialChunks> PartialChunkBuffer::take_whole(const FieldJob& job) {
  const auto at = find(job);
  if (at == kept_.end() || !at->whole()) return std::nullopt;
  FieldJob all = job;
  all.transfer = &at->transfer;
  if (is_part(all)) return std::nullopt;
  return take(at);
}

PartialChunkBuffer::PartialChunks PartialChunkBuffer::take_first() {
  return take(kept_.begin());
}

Transfer PartialChunkBuffer::part_of(const PartialChunks& kept, const Box& part) {
  Transfer transfer = kept.transfer;
  transfer.region = part;
  transfer.mine = own_cells(transfer);
  if (transfer.mine.empty() || !kept.transfer.array.has_cells()) return transfer;
  const Box& cells = is_mapped(transfer) ? part : transfer.mine;
  transfer.array = kept.transfer.array.part(in_array(cells, kept.transfer));
  return transfer;
}

}  // namespace shoal
