// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/strategies.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "decomp/node_runs.hpp"
#include "driver/native/shapes.hpp"
#include "format/format_traits.hpp"
#include "pack/cells.hpp"
#include "rearrange/alignment.hpp"
#include "rearrange/io_ranks.hpp"
#include "rearrange/tile_maps.hpp"

namespace shoal {

namespace {

constexpr std::size_t k_most_lines = 32;  // of the report

// Of one index of the dimensions in front of the decomposition's: what a node stores, in runs of the file.
RunCount extents_of(const FieldJob& job, const std::vector<Box>& boxes) {
  Box region = job.transfer->region;
  const int outer_dims = region.rank() - job.transfer->decomposition->rank();
  for (int d = 0; d < outer_dims; ++d)
    region.count[d] = std::min<std::int64_t>(region.count[d], 1);
  return runs_in_file(boxes, region, job.placement->chunk, size_of(job.variable->type));
}

CutStrategy::Field field_of(const FieldJob& job) {
  const Transfer& transfer = *job.transfer;
  const Decomposition& cut = *transfer.decomposition;
  const std::int64_t cells = volume(cut.global());
  const bool boxes_fit = cut.map() != nullptr || check_section(transfer).ok();
  return {size_of(job.variable->type),
          job.placement->chunk,
          cells == 0 ? 0 : std::max<std::int64_t>(1, transfer.region.cells() / cells),
          boxes_fit,
          job.is_encoded(),
          false};
}

std::string field_text(const FieldJob& job, const CutStrategy::Field& field) {
  const Decomposition& cut = *job.transfer->decomposition;
  std::string text = fmt::format("{}{}{}-byte values", text_of(cut.global()),
                                 cut.map() != nullptr ? " cut by a map, " : " cut into tiles, ", field.size);
  if (field.outer_dims > 1) text += fmt::format(" x {}", field.outer_dims);
  if (field.encoded) text += " in chunks of " + text_of(field.chunk);
  return text + ": ";
}

}  // namespace

const std::vector<int>& FieldStrategies::io_ranks() {
  if (io_ranks_.empty()) io_ranks_ = choose_io_ranks(comm_, options_);
  return io_ranks_;
}

JobFacts FieldStrategies::facts() const {
  return {groups_.nodes().count(), one_node_stores_, counters_.file_system,
          traits_of(schema_.format).interleaves_records};
}

void FieldStrategies::count_map(CutStrategy& cut, CellCounts& counts) const {
  constexpr std::int64_t k_most = k_cost_model.most_runs_of_node;
  NodeRuns store = runs_of_node(groups_.node(), *cut.decomposition, true, k_most);
  NodeRuns fetch = runs_of_node(groups_.node(), *cut.decomposition, false, k_most);
  cut.share.runs = store.runs;
  cut.share.cells = store.cells * volume(cut.decomposition->whole_shape());
  counts.most_runs = comm_.max(std::max(store.runs, fetch.runs));
  if (counts.most_runs > k_most) return;
  cut.share.store = std::move(store.boxes);
  cut.share.fetch = std::move(fetch.boxes);
}

CutStrategy FieldStrategies::choose(const std::shared_ptr<const Decomposition>& cut) const {
  CutStrategy made{cut, share_of_node(comm_, groups_.nodes(), *cut), {}, 0, 0, {}};
  made.strategy = choose_strategy(options_, facts());
  if (made.strategy.rearranging == Rearranging::by_cost) {
    CellCounts counts;
    if (cut->map() != nullptr) count_map(made, counts);
    const bool outer_dims = groups_.is_node_leader();
    counts.runs = made.runs = comm_.sum(outer_dims ? made.share.runs : 0);
    counts.cells = made.cells = comm_.sum(outer_dims ? made.share.cells : 0);
    made.strategy = choose_strategy(options_, facts(), counts, model_);
  }
  made.share.number = cuts_.size();
  return made;
}

const CutStrategy::Field* FieldStrategies::known(const FieldJob& job) const {
  const auto& fields = of(job.transfer->decomposition.get()).fields;
  const CutStrategy::Field field = field_of(job);
  const auto before =
      std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.is_like(field); });
  return before == fields.end() ? nullptr : &*before;
}

bool FieldStrategies::rearranges(const FieldJob& job) {
  CutStrategy& cut = cuts_.at(job.transfer->decomposition.get());
  if (groups_.single() && cut.strategy.rearranging == Rearranging::never) {
    if (model_.figures != nullptr && model_.figures->measured()) report_one_node(cut, job);
    return false;
  }
  if (const auto* before = known(job)) return before->rearrange;
  CutStrategy::Field field = field_of(job);
  choose(cut, job, field);
  cut.fields.push_back(field);
  return field.rearrange;
}

FieldCounts FieldStrategies::count(const CutStrategy& cut, const FieldJob& job,
                                   const CutStrategy::Field& field) {
  const auto outer_dims = static_cast<double>(field.outer_dims);
  const auto size = static_cast<double>(field.size);
  const bool by_cost = cut.strategy.rearranging == Rearranging::by_cost;
  FieldCounts counts;
  counts.counted = cut.runs > 0 || by_cost;
  counts.runs = static_cast<double>(cut.runs) * outer_dims;
  counts.bytes = static_cast<double>(cut.cells) * size * outer_dims;
  counts.field_bytes = static_cast<double>(volume(cut.decomposition->global())) * size * outer_dims;
  counts.boxes_fit = field.boxes_fit;
  count_storers(cut, job, counts);
  if (by_cost) agree_on_storers(counts);
  // Where one node stores for all, the one rank may be of another.
  const bool may_store = !one_node_stores_ || groups_.single();
  counts.one_rank = may_store && one_rank_has_all(comm_, *cut.decomposition);
  if (cut.strategy.rearranging == Rearranging::never) return counts;
  if (by_cost && cut.decomposition->map() == nullptr) {
    const auto [own_runs, own_bytes] = extents_of(job, cut.share.store);
    const bool first = groups_.is_node_leader();
    counts.runs = static_cast<double>(comm_.sum(first ? own_runs : 0)) * outer_dims;
    counts.bytes = static_cast<double>(comm_.sum(first ? own_bytes : 0)) * outer_dims;
  }
  const auto boxes = static_cast<int>(io_ranks().size());
  counts.io_ranks = EvenPartition(job.transfer->region, boxes, part_rules_of(job)).used();
  counts.io_nodes = sets_io_ranks(options_) ? 0 : options_.most_io_nodes;
  if (by_cost)
    counts.box_runs =
        runs_of_boxes(job.transfer->region, boxes, part_rules_of(job), job.placement->chunk, field.size);
  return counts;
}

void FieldStrategies::choose(const CutStrategy& cut, const FieldJob& job, CutStrategy::Field& field) {
  const FieldCounts counts = count(cut, job, field);
  const FieldStrategy chosen = choose_field_strategy(cut.strategy, counts, model_);
  field.rearrange = chosen.rearrange;
  field.store = predicted_store(counts, chosen.rearrange, model_);
  add_line(field_text(job, field) + report_text(options_, cut.strategy, chosen, counts, model_));
}

// Of what stays on its node: who stores at the same time, and how much in a call.
void FieldStrategies::count_storers(const CutStrategy& cut, const FieldJob& job, FieldCounts& counts) const {
  const StageOptions& stage = driver_options_.stage;
  const StoredBy stored_by = driver_options_.background.stored_by;
  const int ranks = groups_.node().size();
  counts.nodes = groups_.nodes().count();
  if (!stage.writers && stored_by == StoredBy::calls &&
      are_long_runs(cut.share, cut.decomposition->global(), job.placement->chunk, size_of(job.variable->type),
                    stage.direct_bytes.value_or(k_long_run))) {
    counts.writers_of_node = ranks;
    counts.rank_run =
        static_cast<double>(cut.share.shortest_run) * static_cast<double>(size_of(job.variable->type));
    return;
  }
  StageShape shape = stage_shape(stage, stored_by, ranks);
  if (stored_by == StoredBy::ranks && !stage.writers) shape.writers = std::max(1, groups_.servers_of_node());
  counts.writers_of_node = shape.writers;
  counts.share_bytes = static_cast<double>(shape.slot_bytes / shape.writers);
}

// Nodes may have different numbers of ranks, and some no cells. All choose by the same counts.
void FieldStrategies::agree_on_storers(FieldCounts& counts) const {
  const auto bytes = [](double count) { return static_cast<std::int64_t>(count); };
  const std::vector<std::int64_t> most =
      comm_.max({counts.writers_of_node, bytes(counts.share_bytes), bytes(counts.rank_run)});
  counts.writers_of_node = static_cast<int>(most[0]);
  counts.share_bytes = static_cast<double>(most[1]);
  counts.rank_run = static_cast<double>(most[2]);
}

// Nothing is counted there, and nobody sends: what the field takes by the figures. Local.
void FieldStrategies::report_one_node(CutStrategy& cut, const FieldJob& job) {
  if (known(job) != nullptr) return;
  CutStrategy::Field field = field_of(job);
  FieldCounts counts;
  counts.counted = false;
  counts.field_bytes = static_cast<double>(volume(cut.decomposition->global()) * field.outer_dims) *
                       static_cast<double>(field.size);
  count_storers(cut, job, counts);
  field.store = predicted_store(counts, false, model_);
  cut.fields.push_back(field);
  add_line(field_text(job, field) + report_text_of_one_node(counts, model_));
}

void FieldStrategies::note_write(const FieldJob& job) {
  if (model_.figures == nullptr || !model_.figures->measured()) return;
  if (const auto* const field = known(job)) counters_.store_predicted += field->store;
}

void FieldStrategies::add_line(const std::string& line) {
  auto& lines = counters_.strategies;
  if (lines.size() < k_most_lines && std::find(lines.begin(), lines.end(), line) == lines.end())
    lines.push_back(line);
}

void FieldStrategies::report_sent(const FieldJob& job, SentChunks sent) {
  sent.cut = comm_.sum(sent.cut);
  sent.elsewhere = comm_.sum(sent.elsewhere);
  sent.bytes = comm_.sum(sent.bytes);
  sent.several_nodes = !groups_.single();
  add_line(field_text(job, field_of(job)) +
           report_text(of(job.transfer->decomposition.get()).strategy, sent));
}

void FieldStrategies::report_decoded(const FieldJob& job) {
  if (known(job) != nullptr) return;
  CutStrategy& cut = cuts_.at(job.transfer->decomposition.get());
  cut.fields.push_back(field_of(job));
  const Box chunks = chunks_of(job.transfer->region, job.placement->chunk);
  std::int64_t mine = 0;
  const Status counted = caught([&] {
    if (groups_.node().rank() != 0 || chunks.empty()) return;
    Numbered<bool> wanted(chunks.cells(), false);
    for (const Box& box : within_region(cut.share.fetch, job.transfer->region))
      if (!box.empty())
        for_each_index(chunks_of(box, job.placement->chunk),
                       [&](const Dims& index) { wanted[position_in(index, chunks)] = true; });
    mine = std::count(wanted.begin(), wanted.end(), true);
  });
  const std::int64_t decoded = comm_.sum(mine);
  if (!comm_.agree(counted).ok()) return;
  add_line(field_text(job, cut.fields.back()) + report_text_of_decoded(decoded, chunks.cells()));
}

}  // namespace shoal
