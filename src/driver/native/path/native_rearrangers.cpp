// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/path/native_rearrangers.hpp"

#include <algorithm>
#include <string>

#include "driver/plans/rearrange_bytes.hpp"
#include "rearrange/alignment.hpp"
#include "rearrange/tile_maps.hpp"

namespace shoal {

namespace {

bool fits(const Schema& schema, const VariableDef& v, const Decomposition& cut) {
  const auto n = static_cast<std::size_t>(cut.rank());
  if (v.dims.size() < n) return false;
  for (std::size_t i = 0; i < n; ++i) {
    const auto& dim = schema.dim(v.dims[v.dims.size() - n + i]);
    if (!dim.unlimited && dim.length != cut.global()[static_cast<int>(i)]) return false;
  }
  return true;
}

}  // namespace

void NativeRearrangers::check_kept_cells(const CutStrategy& cut, const Schema& schema) const {
  const Decomposition& decomposition = *cut.decomposition;
  if (decomposition.map() == nullptr || cut.strategy.rearranging == Rearranging::always) return;
  const bool keeps = std::any_of(schema.variables.begin(), schema.variables.end(), [&](const auto& v) {
    return fits(schema, v, decomposition) && context_.may_keep(decomposition, v);
  });
  if (const std::string setting = setting_that_keeps(context_.options.rearranging); keeps && !setting.empty())
    throw Error(Code::setting,
                setting +
                    ", but cells of a map that nobody owns must stay as they are in a variable without fill, "
                    "or with fill=false, for which I/O ranks read what is there; leave the setting out");
}

// Where cells of a map may be sent, and where I/O ranks read by the library for others.
void NativeRearrangers::find(CutStrategy& cut) {
  const Decomposition& decomposition = *cut.decomposition;
  if (decomposition.map() == nullptr) return;
  const Schema& schema = context_.header.schema();
  check_kept_cells(cut, schema);
  bool fetches = false;  // by the library
  for (int v = 0; v < static_cast<int>(schema.variables.size()); ++v)
    fetches = fetches || (context_.header.placement(v).kind == Placement::Kind::library &&
                          fits(schema, context_.header.variable(v), decomposition));
  if ((fetches || cut.strategy.rearranging != Rearranging::never) && find(&decomposition) == nullptr)
    add(cut.decomposition);
}

bool NativeRearrangers::must_begin_sending(const FieldJob& job) const {
  const Decomposition& cut = *job.transfer->decomposition;
  return job.keeps && cut.map() != nullptr &&
         context_.strategies.of(&cut).strategy.rearranging != Rearranging::always;
}

void NativeRearrangers::begin_sending(CutStrategy& cut) {
  if (find(cut.decomposition.get()) == nullptr) add(cut.decomposition);
  cut.strategy = {Rearranging::always, "cells that nobody owns stay as they are"};
  cut.fields.clear();
}

Rearrangers& NativeRearrangers::made() {
  const StageOptions& stage = context_.options.stage;
  if (!rearrangers_)
    rearrangers_.emplace(context_.comm, context_.groups.nodes(), context_.strategies.io_ranks(), stage);
  if (!queue_ && context_.writable)
    queue_.emplace(context_.comm, rearrangers_->io_ranks(), window_bytes(stage) / 4,
                   rearrangers_->messages());
  return *rearrangers_;
}

void NativeRearrangers::add(const std::shared_ptr<const Decomposition>& map) {
  made().of(map);
  if (context_.options.rearranging.alignment_bytes == 0 || map->mapped_shape().size() == 1) return;
  rearrangers_->of(rows_.add(map, map->flattened()));
}

std::shared_ptr<const Decomposition> NativeRearrangers::map_of(
    const std::shared_ptr<const Decomposition>& block, bool halo) {
  if (rearrangers_)
    if (auto known = rearrangers_->known_map(block, halo)) return known;
  auto map = made().map_of(block, halo);
  add(map);
  return map;
}

Rearranger* NativeRearrangers::of(const Transfer& transfer) const {
  return find(transfer.decomposition.get());
}

Rearranger* NativeRearrangers::known(const Transfer& transfer) const {
  return find(known_map(transfer.decomposition).get());
}

std::shared_ptr<const Decomposition> NativeRearrangers::known_map(
    const std::shared_ptr<const Decomposition>& cut) const {
  if (cut->map() != nullptr) return cut;
  return rearrangers_ ? rearrangers_->known_map(cut, false) : nullptr;
}

bool NativeRearrangers::is_flattened(const FieldJob& job) const {
  const auto map = known_map(job.transfer->decomposition);
  if (rows_.find(map.get()) == nullptr || job.placement->kind != Placement::Kind::regular ||
      alignment_of(job).empty())
    return false;
  const Box& region = job.transfer->region;
  const Dims mapped = map->mapped_shape();
  const int first = region.rank() - map->rank();
  for (int d = 0; d < mapped.size(); ++d)
    if (region.count[first + d] != mapped[d] || job.placement->chunk[first + d] != mapped[d]) return false;
  return true;
}

FieldJob NativeRearrangers::as_flattened(const FieldJob& job, bool goes, Row& row) const {
  if (!goes) return job;
  const auto map = known_map(job.transfer->decomposition);
  const Box& region = job.transfer->region;
  const Dims mapped = map->mapped_shape();
  const int first = region.rank() - map->rank();
  row.transfer = *job.transfer;
  row.transfer.decomposition = rows_.at(map.get());
  row.transfer.region = flattened(region, first, mapped.size());
  row.placement = *job.placement;
  row.placement.chunk = flattened(job.placement->chunk, first, mapped.size());
  FieldJob out = job;
  out.transfer = &row.transfer;
  out.placement = &row.placement;
  return out;
}

}  // namespace shoal
