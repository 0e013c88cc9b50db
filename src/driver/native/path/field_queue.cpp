// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/path/field_queue.hpp"

#include <algorithm>

#include "pack/cells.hpp"
#include "pack/map_cells.hpp"
#include "rearrange/tile_maps.hpp"

namespace shoal {

std::optional<Rearranger::Plan> FieldQueue::plan_of(const FieldJob& job) const {
  if (job.keeps) return std::nullopt;
  NativeRearrangers::Row row;
  const FieldJob in_file = rearrangers_.as_flattened(job, rearrangers_.is_flattened(job), row);
  const Transfer& transfer = *in_file.transfer;
  const Rearranger* const rearranger = rearrangers_.known(transfer);
  if (rearranger == nullptr) return std::nullopt;
  return rearranger->plan_of(transfer.region, job.stored(), part_rules_of(in_file),
                             rearrangers_.queue()->most_bytes());
}

bool FieldQueue::waits(const FieldJob& job, bool in_same_boxes) const {
  const auto found = queued_of_.find(job.transfer->variable);
  if (found == queued_of_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](std::size_t i) {
    const Box& region = queued_[i].transfer.region;
    const bool same = in_same_boxes && region == job.transfer->region && queued_[i].share == job.share;
    return !same && !intersection(region, job.transfer->region).empty();
  });
}

Status FieldQueue::add(const FieldJob& job, const Rearranger::Plan& plan) {
  const Transfer& transfer = *job.transfer;
  Status status = transfer.refused.why;
  staged_.complete_overlap(job, status);
  Transfer packed;
  const bool is_map = transfer.decomposition->map() != nullptr;
  if (!is_map)
    status.merge(pack_tile(transfer, *job.variable, rearrangers_.map_of(transfer.decomposition, false),
                           buffers_.tile, context_.counters.pack, packed));
  const Transfer& cells = is_map ? transfer : packed;
  const bool is_row = rearrangers_.is_flattened(job);
  const Bytes fill = stored_fill(*job.variable, job.placement->swapped);
  {
    const Timer timer(context_.counters.pack);
    FieldJob of_cells = job;
    of_cells.transfer = &cells;
    NativeRearrangers::Row row;
    const Transfer& in_file = *rearrangers_.as_flattened(of_cells, is_row, row).transfer;
    const ConversionErrors conversion_errors =
        rearrangers_.queue()->add(*rearrangers_.of(in_file), plan, in_file, fill.data());
    if (conversion_errors.count > 0)
      status.merge(mapped_conversion_status(cells, *job.variable, conversion_errors, true));
  }
  Queued queued{{}, job.share, is_row};
  queued.transfer.variable = transfer.variable;
  queued.transfer.region = transfer.region;
  queued.transfer.decomposition = transfer.decomposition;
  queued_of_[transfer.variable].push_back(queued_.size());
  queued_.push_back(std::move(queued));
  return status;
}

// One message for all of them.
bool FieldQueue::place(std::vector<FieldJob>& jobs) {
  const bool listed = std::any_of(jobs.begin(), jobs.end(), [](const auto& j) { return j.addresses_listed; });
  Status placed = caught([&] {
    if (!listed) return;
    const Bytes message = context_.comm.from_root([&] {
      ByteWriter out;
      for (const auto& job : jobs)
        out.put(job.addresses_listed ? addresses_.allocate(job) : std::vector<Location>{});
      return out.take();
    });
    ByteReader in(message);
    for (auto& job : jobs)
      job.addresses = in.get<std::vector<Location>>();
  });
  const bool well = placed.ok();
  context_.state.defer(std::move(placed));
  return well;
}

void FieldQueue::send(bool same) {
  const auto fields = std::exchange(queued_, {});
  queued_of_.clear();
  if (fields.empty()) return;
  RearrangeQueue& queue = *rearrangers_.queue();
  if (!same) return queue.clear();
  std::vector<FieldJob> jobs;
  for (const auto& field : fields)
    jobs.push_back(context_.job_for(field.transfer));
  if (!place(jobs)) return queue.clear();
  Counters& counters = context_.counters;
  const Seconds begin = now();
  const Seconds stored = counters.store;
  context_.state.defer(caught([&] {
    queue.rearrange([&](std::size_t i, const Box& box, std::byte* cells) {
      NativeRearrangers::Row row;
      const Status status = caught([&] {
        rearranged_.store_box(rearrangers_.as_flattened(jobs[i], fields[i].is_row, row), box, cells);
      });
      context_.state.defer(located(status, jobs[i]));
    });
  }));
  queue.clear();
  counters.pack += now() - begin - (counters.store - stored);
  rearrangers_.count_messages();
}

}  // namespace shoal
