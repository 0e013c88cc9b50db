// SPDX-License-Identifier: BSD-3-Clause
// The stage of a node's ranks, and who stores what is in it.
#include <algorithm>

#include "base/text.hpp"
#include "driver/io_ranks.hpp"
#include "driver/native/native_driver.hpp"
#include "driver/native/shapes.hpp"

namespace shoal {

std::unique_ptr<Nodes> NativeDriver::find_nodes() const {
  // Servers are the last ranks of all, and among those of their node.
  if (options_.stored_by == StoredBy::ranks)
    return std::make_unique<Nodes>(comm_, comm_.split_shared(), options_.node_color);
  return std::make_unique<Nodes>(comm_, options_.ranks_per_node);
}

// Smaller nodes have as many as they have ranks.
void NativeDriver::check_writers() {
  const bool serve = options_.stored_by == StoredBy::ranks;
  if (serve) servers_of_node_ = static_cast<int>(nodes_->node().sum(serves() ? 1 : 0));
  if (options_.writers == 0) return;
  const int storers = serve ? servers_of_node_ : nodes_->node().size();
  require_writers(options_.writers, static_cast<int>(comm_.max(std::int64_t{storers})), serve);
}

bool NativeDriver::serves() const {
  return comm_.rank() >= comm_.size() - options_.servers;
}

// Those that have nothing else to do are the I/O ranks, too.
void NativeDriver::find_servers() {
  const auto nodes = comm_.all_gather(std::int64_t{nodes_->index()});
  std::vector<int> io_ranks;
  for (int r = comm_.size() - options_.servers; r < comm_.size(); ++r)
    if (!strategies_->one_node_stores() || nodes[static_cast<std::size_t>(r)] == nodes[0])
      io_ranks.push_back(r);
  strategies_->set_io_ranks(std::move(io_ranks));
}

// A group is what a node is otherwise: its ranks share a stage, and none of their cells leave it.
void NativeDriver::make_groups() {
  IoGroups made = choose_io_groups(comm_, *nodes_, options_);
  set_for_groups(options_, made.of_node);
  nodes_ = std::move(made.groups);
  io_rank_of_group_ = made.io_rank;
  strategies_->add_line(report_text_of_groups(nodes_->count(), nodes_->node().size()));
}

std::optional<Stage> NativeDriver::try_stage(const Comm& node) {
  const StageShape shape = stage_shape(options_, node.size(), largest_encoded_chunk());
  int slots = shape.slots;
  std::int64_t slot = shape.slot_bytes;
  // All that have nothing else to do.
  const int writers =
      options_.servers > 0 && options_.writers == 0 ? std::max(1, servers_of_node_) : shape.writers;
  const std::int64_t asked = slots * slot;
  while (true) {
    try {
      Stage stage(node, slots, slot, writers, options_.wait_seconds);
      stage_missing_ = asked - slots * slot;
      counters_.stage_bytes = slots * slot;
      counters_.writers = writers;
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

void NativeDriver::make_stage() {
  stage_ = try_stage(nodes_->node());
  std::vector<std::int64_t> most{stage_ ? 0 : 1, stage_missing_};  // the same on all ranks of a node
  if (!nodes_->single()) most = comm_.max(std::move(most));        // of any node: rank 0 says
  if (most[0] != 0) {
    counters_.warnings.push_back(
        "there is no shared memory that the ranks of a node could use, so that each rank stores its own "
        "cells, in many small "
        "writes; give /dev/shm at least 16 MiB (containers: --shm-size=1g, and one container for all ranks "
        "of a node)");
    stage_.reset();
    if (options_.rearranger == RearrangerKind::subset)
      throw Error(
          Code::no_memory,
          "rearranger=subset, but the ranks of a group have no shared memory to hand their cells over; give "
          "/dev/shm at least 16 MiB, or leave the setting out");
    if (options_.stored_by == StoredBy::ranks)
      throw Error(
          Code::no_memory,
          "background=ranks, but the ranks of a node have no shared memory to hand their cells over; give "
          "/dev/shm at least 16 MiB, or set background=off");
    // What a node may have is for all of its ranks.
    options_.stage_bytes =
        std::max(k_least_slots * k_least_slot, options_.stage_bytes / nodes_->node().size());
    nodes_ = std::make_unique<Nodes>(comm_, 1);
    stage_ = try_stage(nodes_->node());
    Status status;
    if (!stage_)
      status = {Code::no_memory,
                "no memory for a stage of " + bytes_text(static_cast<double>(k_least_slots * k_least_slot)),
                -1,
                {},
                {}};
    comm_.agree_or_throw(status);
  } else if (const auto missing = most[1]; missing > 0) {
    counters_.warnings.push_back(
        "the stage was made smaller, by " + bytes_text(static_cast<double>(missing)) +
        " on one node or more, because shared memory is short; give /dev/shm more room (containers: "
        "--shm-size=1g)");
  }
  if (options_.stored_by == StoredBy::ranks) stage_->set_servers(nodes_->node().size() - servers_of_node_);
  if (options_.rearranger == RearrangerKind::subset) stage_->set_only_storer(io_rank_of_group_);
  if (catalog_) catalog_->share_end(nodes_->single() ? &stage_->file_end() : &file_end_);
  counters_.nodes = nodes_->count();
  counters_.ranks_per_node = nodes_->node().size();
  writer_.emplace(*stage_, file_, counters_, comm_.rank());
  if (writable_) begin_storing();
  direct_.emplace(file_, counters_, nodes_->node(), options_.direct_bytes);
}

void NativeDriver::begin_storing() {
  const bool thread = options_.stored_by == StoredBy::thread;
  if (!thread && options_.stored_by != StoredBy::ranks) return;
  const Status started = comm_.agree(caught([&] {
    stage_->set_rate(options_.store_rate / nodes_->count());
    if (thread || serves())
      // Over a network a write past the cache waits for the server.
      writer_->start_background(options_.past_cache && sharing_ == FileSystem::Sharing::local);
    else
      writer_->leave_to_others();
  }));
  if (!started.ok()) {  // no rank goes on with less than it asked for
    drop_stage();
    throw Error(started);
  }
  if (options_.fails_early && !nodes_->single())
    state_.ask_after(comm_.sum(nodes_->node().rank() == 0 ? counters_.stage_bytes : 0));
}

// The catalog keeps the end of the file in it.
void NativeDriver::drop_stage() {
  if (catalog_) catalog_->share_end(nullptr);
  direct_.reset();
  writer_.reset();
  stage_.reset();
}

void NativeDriver::check_threads() const {
  if (options_.stored_by != StoredBy::thread) return;
  int level = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  Status status;
  if (level < MPI_THREAD_FUNNELED)
    status = {Code::setting,
              "background=thread needs threads, and this program started MPI without (MPI_THREAD_SINGLE); "
              "start it by MPI_Init_thread with MPI_THREAD_FUNNELED in place of MPI_Init, or leave "
              "background out",
              -1,
              {},
              {}};
  comm_.agree_or_throw(status);
}

}  // namespace shoal
