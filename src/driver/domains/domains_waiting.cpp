// SPDX-License-Identifier: BSD-3-Clause
// Fields that come before the files of a set are made.
#include <algorithm>
#include <utility>

#include "driver/domains/domains_driver.hpp"

namespace shoal {

// Of a variable that is said to be cut it is not known how.
bool DomainsDriver::must_wait(const Schema& wanted, const Cuts& cuts) const {
  if (made() || !gave_up_.ok()) return false;
  for (std::size_t v = 0; v < wanted.variables.size(); ++v)
    if (wanted.variables[v].distributed && (v >= cuts.size() || !cuts[v])) return true;
  return false;
}

// Each dimension of a variable that is cut belongs to one that was written.
bool DomainsDriver::knows_all_cuts() const {
  std::vector<bool> known(schema_.dims.size());
  const auto each = [&](auto&& is_known, auto&& work) {
    for (std::size_t v = 0; v < schema_.variables.size(); ++v)
      if (schema_.variables[v].distributed && (waiting_->cuts[v] != nullptr) == is_known)
        for (const int d : schema_.variables[v].dims)
          work(static_cast<std::size_t>(d));
  };
  bool all = true;
  each(true, [&](std::size_t d) { known[d] = true; });
  each(false, [&](std::size_t d) { all = all && known[d]; });
  return all;
}

void DomainsDriver::hold(const Transfer* field, const Status& refused) {
  const CallMatch match =
      match_calls(comm_, {"writes a field of a set whose files are not made",
                          static_cast<std::uint64_t>(field ? field->variable : 0), field == nullptr});
  if (match.failed) return state_.defer(comm_.agree(refused));
  if (!match.same)
    throw Error(Code::out_of_step, "ranks write different variables; every rank must make the same calls");
  HeldField held{*field, {}};
  const CellArray& array = field->array;
  if (array.has_cells() && !field->mine.empty()) {
    const Element element = array.element();
    held.cells = std::make_unique<Bytes>(bytes_of(Box::whole(array.extents()), element.size));
    array.copy_to(held.cells->data(), byte_strides(array.extents(), element.size));
    held.transfer.array = CellArray::of_elements(element, held.cells->data(), array.extents());
    waiting_->bytes += static_cast<std::int64_t>(held.cells->size());
  }
  waiting_->fields.push_back(std::move(held));
  grow(schema_, field->variable, field->region);
  auto& cut = waiting_->cuts[static_cast<std::size_t>(field->variable)];
  if (cut == nullptr) cut = field->decomposition;
  const bool full = waiting_->bytes > options_.stage.bytes;
  if (comm_.max(std::int64_t{full ? 1 : 0}) != 0 || knows_all_cuts()) end_waiting();
}

// A put that comes after a held field of the variable counts more.
void DomainsDriver::before_put(int variable) {
  if (!waiting_ || waiting_->fields.empty()) return;
  match_calls(comm_, {"puts values of a set whose files are not made"});
  const auto known = comm_.max(std::int64_t{variable});
  const bool held = std::any_of(waiting_->fields.begin(), waiting_->fields.end(),
                                [&](const HeldField& field) { return field.transfer.variable == known; });
  if (held) end_waiting();
}

// What fails now no definition was refused for: each sync says so.
void DomainsDriver::end_waiting() {
  Waiting waiting = std::move(*waiting_);
  waiting_.reset();
  const Schema wanted = std::exchange(schema_, Schema{});
  schema_.format = wanted.format;
  auto puts = std::exchange(puts_, {});
  const Status failed = caught([&] {
    Schema empty = wanted;
    for (auto& dim : empty.dims)
      if (dim.unlimited) dim.length = 0;
    define_files(empty, waiting.cuts);
    puts_ = std::move(puts);
    for (const auto& decomposition : waiting.to_prepare)
      prepare(decomposition);
    // The files are there: a field that fails is reported by the next sync, as if it had not waited.
    for (const auto& field : waiting.fields)
      state_.defer(caught([&] { write(field.transfer); }));
  });
  if (failed.ok()) return;
  gave_up_ = failed;
  inner_.reset();
  schema_ = Schema{};
  take_schema(wanted);
  puts_.clear();
  throw Error(failed);
}

}  // namespace shoal
