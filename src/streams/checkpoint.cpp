// SPDX-License-Identifier: BSD-3-Clause
// What a checkpoint holds, and saving it. Taking it back: checkpoint_load.cpp.
#include "streams/checkpoint.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "dataset/settings/own_files.hpp"
#include "streams/checksum.hpp"

namespace shoal::streams {

namespace {

constexpr std::int64_t k_no_hole = std::numeric_limits<std::int64_t>::min();

void put(Dataset& file, const std::string& variable, const std::string& name, const std::string& text) {
  file.put_att(variable.empty() ? nullptr : variable.c_str(), name, Type::char_,
               static_cast<std::int64_t>(text.size()), text.data());
}
void put(Dataset& file, const std::string& variable, const std::string& name, std::int64_t number) {
  file.put_att(variable.empty() ? nullptr : variable.c_str(), name, Type::int64, 1, &number);
}

/// Which cells, so that no other ones are taken for them.
std::string choices_text(const Part& part) {
  std::string text;
  for (const DimChoice& dim : part.choices()) {
    text += fmt::format(" {}[{} of {}", dim.name, dim.chosen(), dim.length);
    Hash hash;
    for (const std::int64_t cell : dim.cells)
      hash.add(static_cast<std::uint64_t>(cell));
    for (const std::int64_t cell : dim.sites)
      hash.add(static_cast<std::uint64_t>(cell));
    for (const int d : dim.site_dims)
      hash.add(static_cast<std::uint64_t>(d));
    text += dim.whole && !dim.is_of_sites() ? "]" : fmt::format(", {:016x}]", hash.value());
  }
  return text;
}

std::string as_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ' ' || c == '/'; }, '_');
  return text;
}

}  // namespace

std::string window_name(const Clock& clock) {
  return as_name("window_of_" + text_of(clock.options().every) + "_since");
}

std::string names_of(const std::vector<Operation>& operations) {
  std::string names;
  for (const Operation operation : operations)
    names += (names.empty() ? "" : ", ") + std::string(name_of(operation));
  return names;
}

std::string Checkpoint::about(const Collector& collector) const {
  const Clock::Options& clock = streams_.plan_.clock_of(collector).options();
  const Calendar& calendar = streams_.time_.calendar;
  std::string text = "'" + streams_.plan_.source_of(collector).like.name + "', every " + text_of(clock.every);
  if (clock.offset.count != 0) text += ", offset " + text_of(clock.offset);
  if (clock.from) text += ", from " + calendar.text(*clock.from);
  if (clock.until) text += ", until " + calendar.text(*clock.until);
  if (clock.climatology) text += ", climatology";
  if (collector.sample >= 0)
    text += ", of values every " + text_of(nth(streams_.plan_.clocks, collector.sample).options().every);
  if (collector.bins > 0) text += fmt::format(", {} parts of the day", collector.bins);
  for (const DimChoice& dim : collector.part->choices())
    if (!dim.whole) text += fmt::format(", {} of {} cells of {}", dim.chosen(), dim.length, dim.name);
  return text;
}

std::string Checkpoint::key_of(const Collector& collector) const {
  const Source& source = streams_.plan_.source_of(collector);
  return about(collector) + (source.expression != nullptr ? ", = " + source.text : "") +
         (source.interpolation != nullptr
              ? fmt::format(
                    ", {} of {}", source.interpolation->text(),
                    source.levels < 0
                        ? std::string("the axis")
                        : nth(streams_.descriptions_.fields(), nth(source.fields, source.levels)).name)
              : "") +
         fmt::format(", {}{}, cells of", name_of(source.like.type),
                     source.like.missing ? " with missing values" : "") +
         choices_text(*collector.part);
}

std::vector<Checkpoint::Entry> Checkpoint::entries() const {
  std::vector<Entry> out;
  std::set<std::string> names;
  const auto& collectors = streams_.plan_.collectors;
  for (std::size_t c = 0; c < collectors.size(); ++c) {
    if (collectors[c].accumulator == nullptr) continue;
    const std::string base = as_name(streams_.plan_.source_of(collectors[c]).like.name + "." +
                                     text_of(streams_.plan_.clock_of(collectors[c]).options().every));
    for (int i = 0; i < collectors[c].accumulator->states(); ++i) {
      std::string name = base;
      for (int n = 2; !names.insert(name).second; ++n)
        name = fmt::format("{}.{}", base, n);
      out.push_back({name, c, i});
    }
  }
  return out;
}

// A field that was not sent on one rank only.
void Checkpoint::agree_on_holes(std::vector<Entry>& all) const {
  std::vector<std::int64_t> holes;
  for (const Entry& entry : all)
    holes.push_back(state_of(entry).hole ? state_of(entry).hole->microseconds : k_no_hole);
  holes = streams_.comm_.max(std::move(holes));
  for (std::size_t i = 0; i < all.size(); ++i)
    if (holes[i] != k_no_hole) state_of(all[i]).hole = Instant{holes[i]};
}

std::string Checkpoint::dims_of(Dataset& file, const Part& part) {
  std::string text;
  for (const DimChoice& choice : part.choices()) {
    std::string name = choice.name;
    while (dims_.contains(name) && dims_[name] != choice.chosen())
      name += fmt::format("_{}", choice.chosen());
    if (!dims_.contains(name)) {
      dims_[name] = choice.chosen();
      file.def_dim(name, choice.chosen());
    }
    text += (text.empty() ? "" : " ") + name;
  }
  return text;
}

void Checkpoint::define(Dataset& file, const Entry& entry) {
  const Calendar& calendar = streams_.time_.calendar;
  const Collector& collector = collector_of(entry);
  const WindowState& state = state_of(entry);
  file.def_var(entry.name, Type::byte_, "", nullptr);
  put(file, entry.name, "key", key_of(collector));
  put(file, entry.name, "about", about(collector));
  put(file, entry.name, "operations", names_of(collector.accumulator->operations()));
  put(file, entry.name, "state", entry.state);
  put(file, entry.name, "window_start", calendar.text(state.window.start));
  put(file, entry.name, "window_end", calendar.text(state.window.end));
  put(file, entry.name, "since", calendar.text(state.since));
  put(file, entry.name, "until", calendar.text(state.until));
  put(file, entry.name, "steps", state.steps);
  put(file, entry.name, "weight_in_microseconds", state.weight);
  put(file, entry.name, "not_sent_in_the_step_to", state.hole ? calendar.text(*state.hole) : "");
  const std::string dims = dims_of(file, *collector.part);
  collector.accumulator->make_doubles(state_of(entry));
  for_each_array(entry, entry.name, [&](const std::string& name, const ArrayView& view) {
    file.def_var(name, view.type, dims, collector.part->decomposition());
    sums_.push_back({name, 0, share_of(streams_.comm_, view, *collector.part)});
  });
}

void Checkpoint::write(Dataset& file, const Entry& entry) {
  for_each_array(entry, entry.name, [&](const std::string& name, const ArrayView& view) {
    DataCall call;
    call.variable = file.variable(name);
    call.decomposition = collector_of(entry).part->decomposition();
    call.array.cells = view;
    if (call.decomposition != nullptr)
      file.write(call);
    else
      file.put(call);
  });
}

void Checkpoint::put_run(Dataset& file) const {
  const Calendar& calendar = streams_.time_.calendar;
  file.put_att(nullptr, k_checkpoint_version, Type::int_, 1, &k_version);
  put(file, "", "title", "windows of shoal streams that are not finished");
  put(file, "", "calendar", calendar.name());
  put(file, "", "start", calendar.text(streams_.time_.start));
  put(file, "", "now", calendar.text(streams_.step_.end));
  put(file, "", "steps", streams_.step_.number);
  for (const Clock& clock : streams_.plan_.clocks)
    if (const auto since = clock.open_since()) put(file, "", window_name(clock), calendar.text(*since));
  int open = 0;
  for (const RecordFile& one : streams_.files_) {
    const auto unclosed = one.unclosed();
    if (!unclosed) continue;
    const std::string prefix = fmt::format("file_{}_", open++);
    put(file, "", prefix + "name", one.plan().choice.name);
    put(file, "", prefix + "first_window", calendar.text(unclosed->first));
    put(file, "", prefix + "records", unclosed->records);
  }
  put(file, "", "files", open);
}

void Checkpoint::save(const std::string& path) {
  std::vector<Entry> all = entries();
  agree_on_holes(all);
  std::erase_if(all, [&](const Entry& entry) { return !state_of(entry).begun(); });
  const auto file =
      Dataset::create(streams_.comm_.handle(), path, streams_.maker_.options(k_to_make_own_file));
  put_run(*file);
  for (const Entry& entry : all)
    define(*file, entry);
  std::vector<std::uint64_t> shares;
  for (const Sum& sum : sums_)
    shares.push_back(sum.share);
  const std::vector<std::uint64_t> sums = sums_of(streams_.comm_, shares);
  for (std::size_t i = 0; i < sums.size(); ++i)
    put(*file, sums_[i].variable, k_checksum_name, static_cast<std::int64_t>(sums[i]));
  for (const Entry& entry : all) {
    const auto& variables = file->schema().variables;
    const auto index = static_cast<std::size_t>(file->schema().find_variable(entry.name));
    put(*file, entry.name, k_checksum_name,
        static_cast<std::int64_t>(checksum_of(variables[index].attributes)));
  }
  put(*file, "", k_checksum_name, static_cast<std::int64_t>(checksum_of(file->schema().attributes)));
  for (const Entry& entry : all)
    write(*file, entry);
  file->close(false);
}

void Streams::checkpoint(const std::string& path, const Status& problem) {
  begin_run();
  const Comm::Calling calling(comm_, "streams_checkpoint", path);
  begun_ = true;
  Status failure = settle(complete_step());
  failure.merge(end_files());
  for (RecordFile& file : files_)
    failure.merge(caught([&] { file.commit(); }));
  problem_.merge(problem);
  failure.merge(comm_.agree(problem_));
  problem_ = {};
  if (!failure.ok()) throw Error(failure);
  Checkpoint(*this).save(path);
  saved_ = true;
}

void Streams::resume(const std::string& path, const Status& problem) {
  const Comm::Calling calling(comm_, "streams_resume", path);
  problem_.merge(problem);
  if (begun_)
    problem_.merge(Error(Code::state, "the run has begun; resume comes before the first step").status());
  const Status mine = running_ ? std::exchange(problem_, {}) : Status{};
  if (running_) comm_.agree_or_throw(mine);
  begin_run();
  const std::vector<Clock> clocks = plan_.clocks;
  const Status failure = caught([&] { Checkpoint(*this).load(path); });
  begun_ = failure.ok();
  if (begun_) return;
  // As if nothing had been read: another one may be tried.
  plan_.clocks = clocks;
  step_.number = 0;
  for (Collector& collector : plan_.collectors)
    for (int i = 0; collector.accumulator != nullptr && i < collector.accumulator->states(); ++i)
      collector.accumulator->reset(i);
  for (RecordFile& file : files_)
    file.forget_checkpoint();
  throw Error(failure);
}

}  // namespace shoal::streams
