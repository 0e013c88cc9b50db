// SPDX-License-Identifier: BSD-3-Clause
#include "driver/library/library_output.hpp"

#include <fmt/core.h>

#include <utility>

#include "codec/convert.hpp"
#include "driver/protocol/root_values.hpp"
#include "pack/cells.hpp"
#include "pack/pieces.hpp"
#include "storage/holes.hpp"

namespace shoal {

namespace {

constexpr std::int64_t k_fill_bytes = 4 * 1024 * 1024;  // of fill values in one call

}  // namespace

LibraryOutput::LibraryOutput(LibraryContext& context, LibraryFile& file, ScratchBuffer& buffer)
    : context_(context), file_(file), traits_(file.traits()), buffer_(buffer), state_(context.comm.rank()) {
  records_.start(context_.schema);
}

void LibraryOutput::watch_device() {
  using Sharing = FileSystem::Sharing;
  const FileSystem& where = context_.file_system;
  if (!context_.writable() || (where.sharing != Sharing::local && where.sharing != Sharing::coherent)) return;
  device_.emplace(context_.path, context_.options.system.find_free_space,
                  traits_.may_hide_no_space && reports_holes(where.type),
                  [this] { return context_.options.system.present_name(context_.path); });
}

Status LibraryOutput::find_free_space(const Schema& schema, std::int64_t more, std::int64_t new_cells) {
  if (!device_ || !context_.is_root()) return {};
  return caught([&] { device_->expect(schema, more, new_cells); });
}

void LibraryOutput::keep(const Status& status, int v) {
  keep(named(status, context_.variable(v).name));
}

void LibraryOutput::keep_damage() {
  const Status first = file_.damage();
  state_.defer_lasting(
      first,
      fmt::format(
          "the file is not whole, and nothing that is written later mends it, since the library failed to "
          "write ({}): write the file anew, or with driver native, which goes on when there is room again",
          first.message));
}

Element LibraryOutput::stored(int v) const {
  const Type type = context_.variable(v).type;
  return {type, size_of(type), traits_.in_file_order && context_.placement(v).swapped};
}

void LibraryOutput::begin(const StoreRegion& next) {
  if (device_ && context_.is_root() && !next.keeps_unowned)
    device_->note(context_.schema, next.variable, next.region);
  keep(caught([&] { file_.about_to_store(next); }), next.variable);
}

std::byte* LibraryOutput::buffer_for_cells(std::size_t bytes) {
  std::byte* kept = file_.buffer_for_cells(bytes);
  return kept != nullptr ? kept : buffer_.of(bytes);
}

void LibraryOutput::load(int v, const Box& box, std::byte* cells, bool overlapping) {
  file_.load(v, box, cells, overlapping);
  if (!box.empty()) fill_unwritten(v, box, cells, stored(v).swapped);
}

void LibraryOutput::load_replicated(int v, const Box& box, std::byte* values, bool all) {
  file_.load_replicated(v, box, values, all);
  if ((context_.is_root() || all) && !box.empty()) fill_unwritten(v, box, values, false);
}

void LibraryOutput::fill_unwritten(int v, const Box& box, std::byte* cells, bool swapped) const {
  if (traits_.fills || !context_.writable()) return;
  const std::vector<Box> gaps = records_.gaps_in(context_.schema, v, box);
  if (gaps.empty()) return;
  const Bytes value = stored_fill(context_.variable(v), swapped);
  const Dims strides = byte_strides(box.count, value.size());
  for (const Box& gap : gaps) {
    std::byte* to = cells;
    for (int d = 0; d < box.rank(); ++d)
      to += (gap.first[d] - box.first[d]) * strides[d];
    fill_box(to, strides, gap.count, value.data(), value.size());
  }
}

void LibraryOutput::store(int v, const Box& box, const std::byte* cells) {
  keep(caught([&] { file_.store(v, box, cells); }), v);
}

std::vector<Box> LibraryOutput::gaps_before(const Transfer& transfer, bool together) const {
  if (!context_.keeps_unowned(transfer) || !transfer.decomposition->has_unowned()) return {};
  const auto mine = records_.gaps_in(context_.schema, transfer.variable, transfer.region);
  return together ? value_of_root(context_.comm, [&] { return mine; })
                  : mine;  // who missed a call knows less
}

void LibraryOutput::fill_unowned(const Transfer& transfer, const std::vector<Box>& unowned, std::int64_t had,
                                 const std::vector<Box>& gaps, bool together) {
  const int v = transfer.variable;
  const bool keeps = context_.keeps_unowned(transfer);
  if (together && (traits_.fills || keeps)) had = context_.comm.max(had);  // who missed a call knows less
  const auto [before, added] = parts_at(transfer.region, had, context_.schema.has_record(v));
  std::vector<Box> boxes;
  if (!keeps) boxes = within_region(unowned, before);
  for (const auto& gap : gaps)
    for (const auto& box : within_region(unowned, gap))
      boxes.push_back(box);
  const bool stores_all = context_.options.catalog.fill == FillMode::written;
  const bool no_fill = context_.variable(v).no_fill;
  if (stores_all || (traits_.fills ? transfer.decomposition->owned_cells() == 0 : !no_fill)) {
    const auto more = within_region(unowned, added);
    boxes.insert(boxes.end(), more.begin(), more.end());
  }
  for (const auto& box : boxes)
    if (!box.empty()) fill(v, box, false);
}

// By rank 0; the others take part with nothing.
void LibraryOutput::fill(int v, const Box& box, bool replicated) {
  const Bytes value = stored_fill(context_.variable(v), !replicated && stored(v).swapped);
  const auto size = static_cast<std::int64_t>(value.size());
  Bytes values;
  for_each_part(box, k_fill_bytes / size, [&](const Box& part) {
    const bool mine = context_.is_root();
    if (mine) {
      values.resize(static_cast<std::size_t>(part.cells() * size));
      fill_box(values.data(), {size}, {part.cells()}, value.data(), value.size());
    }
    const Box here = mine ? part : no_cells(box.rank());
    if (replicated)
      keep(caught([&] { file_.store_replicated(v, here, values.data()); }), v);
    else
      store(v, here, values.data());
  });
}

bool LibraryOutput::compare() {
  const Comparison found = state_.compared(context_.comm.max(state_.to_compare(lengths_of(context_.schema))));
  set_lengths(context_.schema, found.lengths);
  if (!found.same && !found.any_deferred) {
    int odd = 0;
    const std::string calls = different_calls(&odd);
    keep({Code::out_of_step,
          fmt::format(
              "{}; cells are missing since the last sync. Every rank must make the same calls in the same "
              "order",
              calls.empty() ? "ranks wrote different variables or records, or some left calls out" : calls),
          odd});
  }
  if (!found.same && !found.is_reference) state_.skip();
  return found.any_skipped || !found.same;
}

void LibraryOutput::fill_gaps(bool any_skipped) {
  const auto found = gaps(any_skipped);
  if (found.empty()) return;
  if (const Status space = context_.comm.agree(find_free_space(context_.schema, 0, 0)); !space.ok())
    return keep(space);
  for (const auto& gap : found) {
    const bool replicated = !context_.variable(gap.variable).distributed;
    begin({gap.variable, gap.cells, replicated});
    fill(gap.variable, gap.cells, replicated);
  }
}

// Where ranks match no calls in write, one that skipped a call knows less of what was written: then those of
// a rank that skipped nothing count, and if there is none, nothing is filled, lest cells of others are lost.
std::vector<RecordFillTracker::Gap> LibraryOutput::gaps(bool any_skipped) {
  const Comm& comm = context_.comm;
  if (!any_skipped) return records_.take_gaps(context_.schema);
  const std::int64_t who = comm.min(std::int64_t{state_.has_skipped() ? comm.size() : comm.rank()});
  std::vector<RecordFillTracker::Gap> found;
  if (who < comm.size()) {
    if (comm.rank() == who) found = records_.take_gaps(context_.schema);
    share_value(comm, found, static_cast<int>(who));
  }
  records_.start(context_.schema);
  return found;
}

Status LibraryOutput::check_stored(const Status& outcome) {
  if (!device_) return outcome;
  if (!outcome.ok()) device_->forget();
  if (!outcome.ok() || !traits_.may_hide_no_space) return outcome;
  return caught(
      [&] { context_.comm.on_root([&] { device_->check_stored(context_.schema, context_.placements); }); });
}

}  // namespace shoal
