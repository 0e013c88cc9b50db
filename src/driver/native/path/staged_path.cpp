// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/path/staged_path.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "base/text.hpp"
#include "driver/native/shapes.hpp"
#include "format/format_traits.hpp"

namespace shoal {

std::optional<Stage> StagedPath::try_stage(const Comm& node) {
  const DriverOptions& options = context_.options;
  const StageShape shape = stage_shape(options.stage, options.background.stored_by, node.size(),
                                       context_.header.largest_encoded_chunk());
  int slots = shape.slots;
  std::int64_t slot = shape.slot_bytes;
  // All that have nothing else to do.
  const int writers = options.servers.count > 0 && !options.stage.writers
                          ? std::max(1, context_.groups.servers_of_node())
                          : shape.writers;
  const std::int64_t asked = slots * slot;
  while (true) {
    try {
      Stage stage(node, slots, slot, writers, options.stage.wait_seconds,
                  context_.groups.single() && traits_of(context_.header.schema().format).holds_objects());
      missing_ = asked - slots * slot;
      context_.counters.stage_bytes = slots * slot;
      context_.counters.writers = writers;
      return stage;
    } catch (const Error& e) {
      if (e.code() != Code::no_memory) throw;
      if (slots > k_least_slots)
        slots = std::max(k_least_slots, slots / 2);
      else if (slot / 2 >= k_least_slot)
        slot = slot / 2 / 4096 * 4096;
      else
        return std::nullopt;
    }
  }
}

void StagedPath::make() {
  const RankGroups& groups = context_.groups;
  stage_ = try_stage(groups.node());
  std::vector<std::int64_t> most{stage_ ? 0 : 1, missing_};         // the same on all ranks of a node
  if (!groups.single()) most = context_.comm.max(std::move(most));  // of any node: rank 0 says
  if (most[0] != 0)
    make_for_each_rank();
  else if (const auto missing = most[1]; missing > 0)
    context_.counters.warnings.push_back(
        fmt::format("the stage was made smaller, by {} on one node or more, because shared memory is short; "
                    "give /dev/shm more room (containers: --shm-size=1g)",
                    bytes_text(static_cast<double>(missing))));
  if (context_.options.background.stored_by == StoredBy::ranks)
    stage_->set_servers(groups.node().size() - groups.servers_of_node());
  if (context_.options.rearranging.rearranger == RearrangerKind::subset)
    stage_->set_only_storer(groups.io_rank_of_group());
  if (groups.single())
    addresses_.share_space({&stage_->file_end(), stage_->object_ends()});
  else
    addresses_.keep_space();
  context_.counters.nodes = groups.nodes().count();
  context_.counters.ranks_per_node = groups.node().size();
  writer_.emplace(*stage_, context_.file, context_.counters, context_.comm.rank());
  if (context_.writable) begin_storing();
}

// Ranks without shared memory: each has a stage of its own.
void StagedPath::make_for_each_rank() {
  context_.counters.warnings.push_back(
      "there is no shared memory that the ranks of a node could use, so that each rank stores its own "
      "cells, in many small "
      "writes; give /dev/shm at least 16 MiB (containers: --shm-size=1g, and one container for all ranks "
      "of a node)");
  stage_.reset();
  if (context_.options.rearranging.rearranger == RearrangerKind::subset)
    throw Error(
        Code::no_memory,
        "rearranger=subset, but the ranks of a group have no shared memory to hand their cells over; give "
        "/dev/shm at least 16 MiB, or leave the setting out");
  if (context_.options.background.stored_by == StoredBy::ranks)
    throw Error(Code::no_memory,
                "background=ranks, but the ranks of a node have no shared memory to hand their cells over; "
                "give /dev/shm at least 16 MiB, or set background=off");
  context_.groups.split_into_ranks();
  stage_ = try_stage(context_.groups.node());
  Status status;
  if (!stage_)
    status = {Code::no_memory,
              "no memory for a stage of " + bytes_text(static_cast<double>(k_least_slots * k_least_slot))};
  context_.comm.agree_or_throw(status);
}

void StagedPath::begin_storing() {
  const DriverOptions& options = context_.options;
  const RankGroups& groups = context_.groups;
  const bool thread = options.background.stored_by == StoredBy::thread;
  if (!thread && options.background.stored_by != StoredBy::ranks) return;
  const Status started = context_.comm.agree(caught([&] {
    stage_->set_rate(options.background.store_rate / groups.nodes().count());
    if (thread || groups.serves())
      // Over a network a write past the cache waits for the server.
      writer_->start_background(options.background.past_cache &&
                                groups.sharing() == FileSystem::Sharing::local);
    else
      writer_->leave_to_others();
  }));
  if (!started.ok()) {  // no rank goes on with less than it asked for
    drop();
    throw Error(started);
  }
  if (options.background.fails_early && !groups.single())
    context_.state.ask_after(context_.comm.sum(groups.is_node_leader() ? context_.counters.stage_bytes : 0));
}

// The catalog keeps the end of the file in it.
void StagedPath::drop() {
  addresses_.return_space();
  writer_.reset();
  stage_.reset();
}

Status StagedPath::read(const FieldJob& job, DecodedChunks* decoded) {
  return FieldReader(*stage_, context_.file, context_.counters, decoded).read(job);
}

void StagedPath::complete_overlap(const FieldJob& job, Status& status) {
  if (!stage_->broken()) writer_->complete_overlap(job, status);
}

std::vector<StoredPiece> StagedPath::take_stored() {
  return writer_ ? writer_->take_stored() : std::vector<StoredPiece>{};
}

void StagedPath::sync_file() {
  if (writer_) writer_->sync_file();
}

void StagedPath::close_file() {
  if (writer_) writer_->close_file();
}

void StagedPath::note_committed() {
  if (writer_) writer_->note_committed();
}

void StagedPath::note_shortage() {
  if (!stage_) return;
  Counters& counters = context_.counters;
  const std::int64_t usable = stage_->usable_bytes();
  if (usable >= counters.stage_bytes) return;
  counters.warnings.push_back(fmt::format(
      "the stage has {} in place of {}, because shared memory is short; give /dev/shm more room (containers: "
      "--shm-size=1g)",
      bytes_text(static_cast<double>(usable)), bytes_text(static_cast<double>(counters.stage_bytes))));
  counters.stage_bytes = usable;
}

void StagedPath::lift_rate_limit() {
  if (stage_) stage_->lift_rate_limit();
}

void StagedPath::fail() {
  if (stage_) stage_->fail();
}

void StagedPath::reset() {
  if (!stage_) return;
  writer_->forget();
  stage_->reset();
}

void StagedPath::enter_match() {
  if (stage_) stage_->enter_match();
}

}  // namespace shoal
