// SPDX-License-Identifier: BSD-3-Clause
#include "streams/checkpoint.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/hash.hpp"

namespace shoal::streams {

namespace {

constexpr const char* k_version_name = "shoal_streams_checkpoint";
constexpr std::int32_t k_version = 1;
// What the environment says is meant for the model's files.
constexpr const char* k_settings =
    "format=cdf5, driver=native, layout=one, io_layout=, exists=replace, fill=true, report=, reference=, "
    "master=, "
    "quiet=true";
constexpr std::int64_t k_no_hole = std::numeric_limits<std::int64_t>::min();

void put(Dataset& file, const std::string& variable, const std::string& name, const std::string& text) {
  file.put_att(variable.empty() ? nullptr : variable.c_str(), name, Type::char_,
               static_cast<std::int64_t>(text.size()), text.data());
}
void put(Dataset& file, const std::string& variable, const std::string& name, std::int64_t number) {
  file.put_att(variable.empty() ? nullptr : variable.c_str(), name, Type::int64, 1, &number);
}

const shoal::Attribute* find_in(const std::vector<shoal::Attribute>& attributes, const std::string& name) {
  for (const auto& attribute : attributes)
    if (attribute.name == name) return &attribute;
  return nullptr;
}
std::string text_in(const std::vector<shoal::Attribute>& attributes, const std::string& name) {
  const auto* found = find_in(attributes, name);
  if (found == nullptr || found->type != Type::char_) return {};
  return {reinterpret_cast<const char*>(found->data.data()), found->data.size()};
}
std::int64_t number_in(const std::vector<shoal::Attribute>& attributes, const std::string& name) {
  const auto* found = find_in(attributes, name);
  if (found == nullptr || found->type != Type::int64 || found->count() != 1)
    throw Error(Code::format, "the checkpoint has no whole number '{}'", name);
  std::int64_t out = 0;
  std::memcpy(&out, found->data.data(), sizeof out);
  return out;
}

std::string choices_text(const Part& part) {
  std::string text;
  for (const DimChoice& dim : part.choices()) {
    text += " " + dim.name;
    if (dim.whole) continue;
    Hash hash;
    for (const std::int64_t cell : dim.cells)
      hash.add(static_cast<std::uint64_t>(cell));
    text += fmt::format("[{} of {}, {:016x}]", dim.chosen(), dim.length, hash.value());
  }
  return text;
}

std::string as_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ' ' || c == '/'; }, '_');
  return text;
}

/// Of the attribute with the start of the window of steps that goes on.
std::string window_name(const Clock& clock) {
  return as_name("window_of_" + text_of(clock.options().every) + "_since");
}

}  // namespace

std::string Checkpoint::key_of(const Collector& collector, int state) const {
  const Source& source = streams_.plan_.source_of(collector);
  const Clock::Options& clock = streams_.plan_.clock_of(collector).options();
  const Calendar& calendar = streams_.time_.calendar;
  std::string key = source.like.name;
  if (source.expression != nullptr) key += " = " + source.text;
  key += ", every " + text_of(clock.every);
  if (clock.offset.count != 0) key += ", offset " + text_of(clock.offset);
  if (clock.from) key += ", from " + calendar.text(*clock.from);
  if (clock.until) key += ", until " + calendar.text(*clock.until);
  if (clock.climatology) key += fmt::format(", climatology {}", state);
  if (collector.bins > 0) key += fmt::format(", part {} of {} of the day", state, collector.bins);
  return key + ", cells of" + choices_text(*collector.part);
}

std::vector<Checkpoint::Entry> Checkpoint::entries() const {
  std::vector<Entry> out;
  std::set<std::string> names;
  for (Collector& collector : streams_.plan_.collectors) {
    if (collector.accumulator == nullptr) continue;
    for (int i = 0; i < collector.accumulator->states(); ++i) {
      const std::string base = as_name(streams_.plan_.source_of(collector).like.name + "." +
                                       text_of(streams_.plan_.clock_of(collector).options().every));
      std::string name = base;
      for (int n = 2; !names.insert(name).second; ++n)
        name = fmt::format("{}.{}", base, n);
      out.push_back({name, key_of(collector, i), &collector, &collector.accumulator->state(i)});
    }
  }
  return out;
}

// A field that was not sent on one rank only.
void Checkpoint::agree_on_holes(std::vector<Entry>& all) const {
  std::vector<std::int64_t> holes;
  for (const Entry& entry : all)
    holes.push_back(entry.state->hole ? entry.state->hole->microseconds : k_no_hole);
  holes = streams_.comm_.max(std::move(holes));
  for (std::size_t i = 0; i < all.size(); ++i)
    if (holes[i] != k_no_hole) all[i].state->hole = Instant{holes[i]};
}

template <class Use>
void Checkpoint::for_each_array(const Entry& entry, const std::string& name, Use&& use) const {
  WindowState& state = *entry.state;
  const Dims& shape = entry.collector->part->local_shape();
  for (int m = 0; m < k_moments; ++m)
    if (const auto moment = static_cast<Moment>(m); entry.collector->accumulator->moments().has(moment))
      use(name + "." + name_of(moment), ArrayView::contiguous(state.of(moment).data(), Type::double_, shape));
  const Accumulator& accumulator = *entry.collector->accumulator;
  for (int m = 0; m < k_moments; ++m)
    if (const auto moment = static_cast<Moment>(m); accumulator.whole_moments().has(moment))
      use(name + "." + name_of(moment),
          ArrayView::contiguous(state.whole_of(moment).data(), accumulator.type(), shape));
  if (!state.cell_weights.empty() || entry.collector->accumulator->counts_cells())
    use(name + ".cell_weights", ArrayView::contiguous(state.cell_weights.data(), Type::int64, shape));
  if (entry.collector->accumulator->counts_values())
    use(name + ".cell_counts", ArrayView::contiguous(state.cell_counts.data(), Type::int64, shape));
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
  const WindowState& state = *entry.state;
  file.def_var(entry.name, Type::byte_, "", nullptr);
  put(file, entry.name, "key", entry.key);
  put(file, entry.name, "window_start", calendar.text(state.window.start));
  put(file, entry.name, "window_end", calendar.text(state.window.end));
  put(file, entry.name, "since", calendar.text(state.since));
  put(file, entry.name, "until", calendar.text(state.until));
  put(file, entry.name, "steps", state.steps);
  put(file, entry.name, "weight_in_microseconds", state.weight);
  put(file, entry.name, "not_sent_in_the_step_to", state.hole ? calendar.text(*state.hole) : "");
  const std::string dims = dims_of(file, *entry.collector->part);
  for_each_array(entry, entry.name, [&](const std::string& name, const ArrayView& view) {
    file.def_var(name, view.type, dims, entry.collector->part->decomposition());
  });
}

void Checkpoint::write(Dataset& file, const Entry& entry) {
  entry.collector->accumulator->make_doubles(*entry.state);
  for_each_array(entry, entry.name, [&](const std::string& name, const ArrayView& view) {
    DataCall call;
    call.variable = name;
    call.decomposition = entry.collector->part->decomposition();
    call.array.view = view;
    if (call.decomposition != nullptr)
      file.write(call);
    else
      file.put(call);
  });
}

void Checkpoint::read(Dataset& file, const Entry& entry, const std::string& name) {
  entry.collector->accumulator->make_doubles(*entry.state);
  for_each_array(entry, name, [&](const std::string& variable, const ArrayView& view) {
    DataCall call;
    call.variable = variable;
    call.decomposition = entry.collector->part->decomposition();
    call.array.view = view;
    if (call.decomposition != nullptr)
      file.read(call);
    else
      file.get(call);
  });
}

void Checkpoint::save(const std::string& path) {
  std::vector<Entry> all = entries();
  agree_on_holes(all);
  std::erase_if(all, [](const Entry& entry) { return !entry.state->begun(); });
  const Calendar& calendar = streams_.time_.calendar;
  const auto file = Dataset::create(streams_.comm_.handle(), path, streams_.maker_.options(k_settings));
  file->put_att(nullptr, k_version_name, Type::int_, 1, &k_version);
  put(*file, "", "title", "windows of shoal streams that are not finished");
  put(*file, "", "calendar", calendar.name());
  put(*file, "", "start", calendar.text(streams_.time_.start));
  put(*file, "", "now", calendar.text(streams_.step_.end));
  put(*file, "", "steps", streams_.step_.number);
  for (const Clock& clock : streams_.plan_.clocks)
    if (const auto since = clock.open_since()) put(*file, "", window_name(clock), calendar.text(*since));
  int open = 0;
  for (const RecordFile& one : streams_.files_) {
    const auto unclosed = one.unclosed();
    if (!unclosed) continue;
    const std::string prefix = fmt::format("file_{}_", open++);
    put(*file, "", prefix + "name", one.plan().choice.name);
    put(*file, "", prefix + "path", unclosed->path);
    put(*file, "", prefix + "records", unclosed->records);
    put(*file, "", prefix + "period_start", unclosed->period.start.microseconds);
    put(*file, "", prefix + "period_end", unclosed->period.end.microseconds);
  }
  put(*file, "", "files", open);
  for (const Entry& entry : all)
    define(*file, entry);
  for (const Entry& entry : all)
    write(*file, entry);
  file->close(false);
}

void Checkpoint::load(const std::string& path) {
  const auto file = Dataset::open(streams_.comm_.handle(), path, false,
                                  streams_.maker_.options("report=, read_masked=leave, quiet=true"));
  const Calendar& calendar = streams_.time_.calendar;
  const Schema& schema = file->schema();
  if (find_in(schema.attributes, k_version_name) == nullptr)
    throw Error(Code::format, "this is no checkpoint of streams").in_file(path);
  const auto same = [&](const char* name, const std::string& mine) {
    const std::string there = text_in(schema.attributes, name);
    if (there != mine)
      throw Error(Code::invalid_argument, "{} of the checkpoint is '{}', that of the streams '{}'", name,
                  there, mine)
          .in_file(path);
  };
  same("calendar", calendar.name());
  same("start", calendar.text(streams_.time_.start));
  same("now", calendar.text(streams_.step_.end));
  streams_.step_.number = number_in(schema.attributes, "steps");
  for (Clock& clock : streams_.plan_.clocks)
    if (const std::string since = text_in(schema.attributes, window_name(clock)); !since.empty())
      clock.resume_window(calendar.parse(since));
  const std::int64_t open = number_in(schema.attributes, "files");
  for (RecordFile& one : streams_.files_)
    one.trust_checkpoint();
  for (std::int64_t i = 0; i < open; ++i) {
    const std::string prefix = fmt::format("file_{}_", i);
    const std::string name = text_in(schema.attributes, prefix + "name");
    bool taken = false;
    for (RecordFile& one : streams_.files_)
      if (one.plan().choice.name == name) {
        one.continue_with({text_in(schema.attributes, prefix + "path"),
                           number_in(schema.attributes, prefix + "records"),
                           {{number_in(schema.attributes, prefix + "period_start")},
                            {number_in(schema.attributes, prefix + "period_end")}}});
        taken = true;
      }
    if (!taken) streams_.warn(fmt::format("{}: the configuration has no file '{}' any more", path, name));
  }
  std::map<std::string, std::string> names;  // by key
  for (const auto& variable : schema.variables)
    if (const std::string key = text_in(variable.attributes, "key"); !key.empty()) names[key] = variable.name;
  for (const Entry& entry : entries()) {
    const auto found = names.find(entry.key);
    if (found == names.end()) continue;
    const auto& attributes =
        schema.variables[static_cast<std::size_t>(schema.find_variable(found->second))].attributes;
    const auto instant = [&](const char* name) { return calendar.parse(text_in(attributes, name)); };
    read(*file, entry, found->second);
    entry.state->window = {instant("window_start"), instant("window_end")};
    entry.state->since = instant("since");
    entry.state->until = instant("until");
    entry.state->steps = number_in(attributes, "steps");
    entry.state->weight = number_in(attributes, "weight_in_microseconds");
    if (!text_in(attributes, "not_sent_in_the_step_to").empty())
      entry.state->hole = instant("not_sent_in_the_step_to");
    names.erase(found);
  }
  for (const auto& [key, name] : names)
    streams_.warn(fmt::format("{}: no file of the configuration needs '{}' any more ({})", path, name, key));
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
    problem_.merge({Code::state, "the run has begun; resume comes before the first step", -1, {}, {}});
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
