// SPDX-License-Identifier: BSD-3-Clause
// Which way the fields of a decomposition go: each node stores what its ranks have (direct), or cells are
// sent to I/O ranks first (exchange).
#include <algorithm>
#include <array>
#include <cstdio>

#include "base/text.hpp"
#include "decomp/node_runs.hpp"
#include "driver/io_ranks.hpp"
#include "driver/native/native_driver.hpp"
#include "driver/native/shapes.hpp"
#include "driver/tile_maps.hpp"

namespace shoal {

namespace {

constexpr std::size_t k_most_lines = 32;  // of the report

std::string count_text(double n) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), n < 1e5 ? "%.0f" : "%.2g", n);
  return text.data();
}

std::string runs_text(double runs, double bytes) {
  return count_text(runs) + (runs == 1 ? " run of " : " runs of ") + bytes_text(runs > 0 ? bytes / runs : 0);
}

// Of one index of the dimensions in front of the decomposition's: what a node stores, in runs of the file.
RunCount extents_of(const FieldJob& job, const std::vector<Box>& boxes) {
  Box region = job.transfer->region;
  const int leads = region.rank() - job.transfer->decomposition->rank();
  for (int d = 0; d < leads; ++d)
    region.count[d] = std::min<std::int64_t>(region.count[d], 1);
  return runs_in_file(boxes, region, job.placement->chunk, size_of(job.variable->type));
}

}  // namespace

const std::vector<int>& NativeDriver::io_ranks() {
  if (io_ranks_.empty()) io_ranks_ = choose_io_ranks(comm_, options_);
  return io_ranks_;
}

// What can be said before it is known what is written.
void NativeDriver::weigh(Known& known) {
  const Decomposition& decomposition = *known.decomposition;
  const bool is_map = decomposition.map() != nullptr;
  const auto always = [&](std::string why) {
    known.sends = Sends::always;
    known.why = std::move(why);
  };
  if (one_node_stores_) return always("nodes do not see each other's writes on " + counters_.file_system);
  if (options_.exchange == Exchange::on) return always("exchange=on");
  if (sets_io_ranks(options_)) return always("I/O ranks are set");
  if (nodes_->single()) return;
  known.sends = Sends::maybe;
  NodeShare& share = known.share;
  if (is_map) {
    NodeRuns store = runs_of_node(nodes_->node(), decomposition, true, k_most_boxes);
    NodeRuns fetch = runs_of_node(nodes_->node(), decomposition, false, k_most_boxes);
    share.runs = store.runs;
    share.cells = store.cells * volume(decomposition.whole_shape());
    const std::int64_t most = comm_.max(std::max(store.runs, fetch.runs));
    known.boxes = most <= k_most_boxes;
    if (known.boxes) {
      share.store = std::move(store.boxes);
      share.fetch = std::move(fetch.boxes);
    } else if (options_.exchange == Exchange::off) {
      throw Error(Code::setting, "exchange=off, but the cells of a map that a node has are " +
                                     std::to_string(most) + " runs, and a node can store " +
                                     std::to_string(k_most_boxes) +
                                     " without an exchange; leave the setting out, or number the cells so "
                                     "that a node's follow each other");
    }
  }
  const bool leads = nodes_->node().rank() == 0;
  known.runs = comm_.sum(leads ? share.runs : 0);
  known.cells = comm_.sum(leads ? share.cells : 0);
  if (options_.exchange == Exchange::off) {
    known.sends = Sends::never;
    known.why = "exchange=off";
  } else if (known.boxes && interleaves_records(schema_.format) &&
             static_cast<double>(known.cells) >= k_short_run * static_cast<double>(known.runs)) {
    known.sends = Sends::never;  // whatever the type
  }
}

bool NativeDriver::exchanges(const FieldJob& job) {
  Known& known = shares_.at(job.transfer->decomposition.get());
  const bool is_map = known.decomposition->map() != nullptr;
  if (nodes_->single() && known.sends == Sends::never) return false;
  const Transfer& transfer = *job.transfer;
  const std::int64_t field = volume(known.decomposition->global());
  const bool whole = is_map || check_section(transfer).ok();
  Way way{size_of(job.variable->type), job.placement->chunk,
          field == 0 ? 0 : std::max<std::int64_t>(1, transfer.region.cells() / field), whole, false};
  const auto same = [&](const Way& w) {
    return w.size == way.size && w.chunk == way.chunk && w.leads == way.leads && w.whole == way.whole;
  };
  const auto before = std::find_if(known.ways.begin(), known.ways.end(), same);
  if (before != known.ways.end()) return before->exchange;
  decide(known, job, way);
  known.ways.push_back(way);
  return way.exchange;
}

void NativeDriver::decide(const Known& known, const FieldJob& job, Way& way) {
  const bool is_map = known.decomposition->map() != nullptr;
  const double leads = static_cast<double>(way.leads);
  double runs = static_cast<double>(known.runs) * leads;
  double bytes = static_cast<double>(known.cells) * static_cast<double>(way.size) * leads;
  const bool counted = known.runs > 0 || known.sends == Sends::maybe;
  std::string why = known.why;
  double in_boxes = 0;  // runs that I/O ranks would store
  if (known.sends == Sends::maybe) {
    if (!is_map) {
      const auto [own_runs, own_bytes] = extents_of(job, known.share.store);
      const bool first = nodes_->node().rank() == 0;
      runs = static_cast<double>(comm_.sum(first ? own_runs : 0)) * leads;
      bytes = static_cast<double>(comm_.sum(first ? own_bytes : 0)) * leads;
    }
    in_boxes =
        runs_of_boxes(job.transfer->region, static_cast<int>(io_ranks().size()),
                      job.addresses_listed ? job.placement->chunk : Dims(), job.placement->chunk, way.size);
    way.exchange = !known.boxes || exchange_pays(runs, bytes, in_boxes);
    if (way.exchange && !way.whole) {
      way.exchange = false;
      why = "a section that cuts dimensions between others that are cut";
    }
  } else {
    way.exchange = known.sends == Sends::always;
  }
  if (counters_.ways.size() >= k_most_lines) return;
  const Decomposition& cut = *known.decomposition;
  std::string line = text_of(cut.global()) + (is_map ? " cut by a map, " : " cut into tiles, ") +
                     std::to_string(way.size) + "-byte values";
  if (way.leads > 1) line += " x " + std::to_string(way.leads);
  line += way.exchange ? ": exchange: " : ": direct: ";
  if (!why.empty()) line += why + "; ";
  if (counted) line += (way.exchange ? "nodes would store " : "nodes store ") + runs_text(runs, bytes);
  if (known.sends != Sends::never) {
    const auto boxes = static_cast<double>(io_ranks().size());
    const double whole = static_cast<double>(volume(cut.global())) * static_cast<double>(way.size) * leads;
    line += (counted ? "; " : "") + count_text(boxes) + (boxes == 1 ? " I/O rank " : " I/O ranks ") +
            (way.exchange ? (boxes == 1 ? "stores " : "store ") : "would store ") + count_text(boxes) +
            (boxes == 1 ? " box of " : " boxes of ") + bytes_text(whole / boxes);
    if (in_boxes >= 2 * boxes) line += ", " + count_text(in_boxes) + " runs";
  }
  if (std::find(counters_.ways.begin(), counters_.ways.end(), line) == counters_.ways.end())
    counters_.ways.push_back(line);
}

}  // namespace shoal
