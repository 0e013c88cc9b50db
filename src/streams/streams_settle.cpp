// SPDX-License-Identifier: BSD-3-Clause
// What is written where windows end, closing, the report.
#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "streams/nth.hpp"
#include "streams/streams.hpp"

namespace shoal::streams {

void Streams::warn(const std::string& message) const {
  tell(comm_, message);
}

std::vector<std::int64_t> Streams::holes_of(const std::vector<Due>& due) const {
  std::vector<std::int64_t> holes;
  for (const Due& one : due) {
    const auto collectors = collectors_of(one);
    const bool hole = std::any_of(collectors.begin(), collectors.end(), [&](std::size_t c) {
      return hole_of(plan_.collectors[c], one.state).has_value();
    });
    holes.push_back(hole ? 1 : 0);
  }
  return holes;
}

std::vector<std::size_t> Streams::collectors_of(const Due& due) const {
  std::vector<std::size_t> out{collector_index(due)};
  const int levels = files_[due.file].plan().outputs[due.output].levels;
  if (levels >= 0) out.push_back(static_cast<std::size_t>(levels));
  return out;
}

std::optional<Instant> Streams::hole_of(const Collector& collector, int state) const {
  if (collector.accumulator == nullptr) return collector.kept_hole;
  for (int i = 0; i < collector.accumulator->states(); ++i)
    if ((collector.bins > 0 || i == state) && collector.accumulator->state(i).hole)
      return collector.accumulator->state(i).hole;
  return std::nullopt;
}

// All ranks have the same holes here; each knows its own dates.
Status Streams::report_holes(const std::vector<Due>& due, const std::vector<std::int64_t>& holes) {
  Status mine;
  for (std::size_t i = 0; i < due.size(); ++i) {
    if (holes[i] == 0) continue;
    const FileChoice& choice = files_[due[i].file].plan().choice;
    const Output& output = files_[due[i].file].plan().outputs[due[i].output];
    const std::string window =
        time_.calendar.text(due[i].window.start) + " to " + time_.calendar.text(due[i].window.end);
    if (choice.missing == MissingSteps::warn) {
      warn(fmt::format("{}: '{}' was not sent in each step of {}; its cells have the fill value", choice.name,
                       output.name, window));
      continue;
    }
    for (const std::size_t c : collectors_of(due[i]))
      if (const auto when = hole_of(plan_.collectors[c], due[i].state))
        mine.merge(
            {Code::state,
             fmt::format(
                 "'{}' was not sent in the step to {}, in the window {}; its cells have the fill value "
                 "there (missing = \"warn\" makes it a warning)",
                 plan_.source_of(plan_.collectors[c]).like.name, time_.calendar.text(*when), window),
             -1, choice.name, output.name});
  }
  return comm_.agree(mine);
}

RecordTime Streams::time_of(const std::vector<Due>& due) const {
  RecordTime time;
  time.window = time.bounds = due.front().window;
  time.bounds.start = std::max(time.bounds.start, time_.start);  // of a record of instants alone
  time.instant = due.front().completed;
  bool first = true;
  for (const Due& one : due) {
    const Collector& collector = collector_of(one);
    if (collector.accumulator == nullptr) continue;
    for (int i = 0; i < collector.accumulator->states(); ++i) {
      const WindowState& state = collector.accumulator->state(i);
      if (!(collector.bins > 0 || i == one.state) || !state.begun()) continue;
      // Of its steps, which need not begin and end with the window.
      time.bounds.start = first ? state.since : std::min(time.bounds.start, state.since);
      time.bounds.end = first ? state.until : std::max(time.bounds.end, state.until);
      first = false;
    }
  }
  return time;
}

Status Streams::write_due(const std::vector<Due>& due, const std::vector<std::int64_t>& holes) {
  Status failure;
  std::vector<bool> written(due.size(), false);
  for (std::size_t i = 0; i < due.size(); ++i) {
    if (written[i]) continue;
    std::vector<Due> together;  // of one file and window
    std::vector<Values> values;
    for (std::size_t k = i; k < due.size(); ++k) {
      if (written[k] || due[k].file != due[i].file || !(due[k].window == due[i].window)) continue;
      written[k] = true;
      together.push_back(due[k]);
      const Output& output = files_[due[k].file].plan().outputs[due[k].output];
      Collector* const levels = output.levels < 0 ? nullptr : &nth(plan_.collectors, output.levels);
      values.push_back({&output, &collector_of(due[k]), levels, due[k].state, holes[k] != 0});
    }
    failure.merge(caught([&] { files_[due[i].file].write(time_of(together), values); }));
  }
  return failure;
}

Error Streams::different_times(Instant last) const {
  return Error(Code::out_of_step, "ranks advanced their streams to different times, the last to {}",
               time_.calendar.text(last));
}

// Time and number of the step are compared, too.
std::vector<std::int64_t> Streams::holes_of_all(std::vector<std::int64_t> holes, bool has_time) const {
  const std::size_t n = holes.size();
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
  for (const std::int64_t mine : {step_.end.microseconds, step_.number})
    holes.insert(holes.end(), {has_time ? mine : none, has_time ? -mine : none});
  holes = comm_.max(std::move(holes));
  const auto* const ends = holes.data() + n;  // last and first time, highest and lowest number
  if (ends[0] != none && ends[0] != -ends[1]) throw different_times({ends[0]});
  if (ends[2] != none && ends[2] != -ends[3])
    throw Error(Code::out_of_step, "up to {} one rank advanced its streams {} times, another one {} times",
                time_.calendar.text({ends[0]}), -ends[3], ends[2]);
  holes.resize(n);
  return holes;
}

Status Streams::settle(const std::vector<Due>& due, bool has_time) {
  if (due.empty()) return {};
  const Comm::Calling calling(comm_, "streams_advance", configuration_.path);
  Hash hash;
  for (const Due& one : due) {
    hash.add(one.file);
    hash.add(one.output);
    hash.add(static_cast<std::uint64_t>(one.window.end.microseconds));
  }
  const auto due_alone = static_cast<std::int64_t>(hash.value() >> 1);
  if (has_time)
    for (const std::int64_t mine : {step_.end.microseconds, step_.number})
      hash.add(static_cast<std::uint64_t>(mine));
  std::vector<std::int64_t> holes = holes_of(due);
  const auto any_hole = [&] { return std::find(holes.begin(), holes.end(), 1) != holes.end(); };
  // Nearly always all ranks are at the same time, and have no holes: then this is all that they exchange.
  Status failure;
  const CallMatch match =
      comm_.match_calls({"advances its streams", hash.value(), !problem_.ok(), any_hole()});
  const bool alike = match.same && !match.any_flag;
  if (!alike && comm_.max(due_alone) != -comm_.max(-due_alone)) throw different_times(step_.end);
  if (match.failed) failure = comm_.agree(problem_);
  problem_ = {};
  if (!alike) holes = holes_of_all(std::move(holes), has_time);
  if (any_hole()) failure.merge(report_holes(due, holes));
  failure.merge(write_due(due, holes));
  std::set<std::size_t> used;
  for (const Due& one : due)
    for (const std::size_t c : collectors_of(one)) {
      Collector& collector = plan_.collectors[c];
      collector.kept_hole.reset();
      if (collector.accumulator == nullptr || !used.insert(c).second) continue;
      for (int i = 0; i < collector.accumulator->states(); ++i)
        collector.accumulator->reset(i);
    }
  return failure;
}

Status Streams::end_files() {
  Status failure;
  for (RecordFile& file : files_)
    failure.merge(caught([&] { file.end_step(); }));
  return failure;
}

// ---- Closing ----------------------------------------------------------------------------------------------

/// Climatologies, and windows that are not finished, as far as they are to be written.
std::vector<Streams::Due> Streams::left_at_close() {
  std::vector<Due> due;
  std::vector<std::string> unfinished;
  for (std::size_t f = 0; f < files_.size(); ++f) {
    const FilePlan& plan = files_[f].plan();
    const bool climatology = plan.choice.climatology;
    bool dropped = false;
    for (int slot = 0; slot < nth(plan_.clocks, plan.clock).slots(); ++slot)
      for (std::size_t o = 0; o < plan.outputs.size(); ++o) {
        const Collector& collector = nth(plan_.collectors, plan.outputs[o].collector);
        if (collector.accumulator == nullptr) continue;
        const WindowState* begun = nullptr;
        bool goes_on = climatology || (collector.sample >= 0 && plan_.clock_of(collector).goes_on());
        for (int i = 0; i < collector.accumulator->states(); ++i) {
          const WindowState& state = collector.accumulator->state(i);
          if (!(collector.bins > 0 || i == slot) || !state.begun()) continue;
          begun = &state;
          goes_on = goes_on || state.until == step_.end;  // `until` of the file may have left it out since
        }
        if (begun == nullptr || !goes_on) continue;
        const Instant end = climatology ? std::min(begun->window.end, step_.end) : step_.end;
        if (climatology || plan.choice.unfinished == Unfinished::write)
          due.push_back({f, o, {begun->window.start, end}, slot, step_.end});
        else
          dropped = true;
      }
    if (dropped && !saved_) unfinished.push_back(plan.choice.name);
  }
  const bool has_record =
      !due.empty() ||
      std::any_of(files_.begin(), files_.end(), [](const RecordFile& file) { return file.had_record(); });
  if (!has_record) {
    warn(no_record_text(!unfinished.empty()));
    return due;
  }
  if (!unfinished.empty())
    warn(
        fmt::format("{}: the window that goes on at {} is not finished, and not written (unfinished = "
                    "\"write\" writes it; a checkpoint saves it)",
                    joined(unfinished, ", "), time_.calendar.text(step_.end)));
  return due;
}

/// Of a job that ends without any. The usual reasons: it is short, or its clock counts hours or days.
std::string Streams::no_record_text(bool is_lost) const {
  if (files_.empty()) return "the configuration has no file that is enabled, so nothing was written";
  if (steps_ == 0) return "no file got a record, as there was no step";
  const auto seconds = [](std::int64_t length) { return text_of({Duration::Kind::microseconds, length}); };
  std::string text =
      fmt::format("no file got a record: {} step{} of {}{}, from {} to {}", steps_, steps_ == 1 ? "" : "s",
                  seconds(shortest_), shortest_ < longest_ ? " to " + seconds(longest_) : "",
                  time_.calendar.text(began_), time_.calendar.text(step_.end));
  const auto length = [](const Window& window) {
    return window.end.microseconds - window.start.microseconds;
  };
  const Clock* shortest = &clock_of(files_.front());
  for (const RecordFile& file : files_)
    if (length(clock_of(file).window()) < length(shortest->window())) shortest = &clock_of(file);
  if (length({began_, step_.end}) < length(shortest->window()))
    text += fmt::format(", are less than a window, of which the shortest is of {}",
                        text_of(shortest->options().every));
  if (saved_) return text + "; what was sent is in the checkpoint";
  if (is_lost) text += "; what was sent is lost (unfinished = \"write\" writes it; a checkpoint saves it)";
  return text + ". Is the time that advance gets in seconds?";
}

void Streams::close() {
  if (closed_) throw Error(Code::state, "the streams are closed");
  const Comm::Calling calling(comm_, "streams_close", configuration_.path);
  Status failure = caught([&] { begin_run(); });
  if (failure.ok()) {
    failure.merge(settle(complete_step()));
    failure.merge(settle(left_at_close()));
    for (RecordFile& file : files_)
      failure.merge(caught([&] { file.close(); }));
    failure.merge(comm_.agree(problem_));  // of a step in which nothing ended
    tell_shorter();
    if (!configuration_.report.empty())
      failure.merge(caught([&] { comm_.on_root([&] { write_report(); }); }));
  }
  closed_ = true;
  if (!failure.ok()) throw Error(failure);
}

// In one line, of a rerun that was shorter.
void Streams::tell_shorter() const {
  std::vector<std::string> shorter;
  for (const RecordFile& file : files_)
    shorter.insert(shorter.end(), file.shorter().begin(), file.shorter().end());
  constexpr std::size_t k_most = 4;
  const std::size_t more = shorter.size() - std::min(shorter.size(), k_most);
  if (shorter.empty()) return;
  shorter.resize(shorter.size() - more);
  warn(fmt::format("files replaced longer ones of the same name: {}{}", joined(shorter, ", "),
                   more > 0 ? fmt::format(" and {} more", more) : ""));
}

void Streams::close_forgotten() {
  if (closed_) return;
  const std::string late = configuration_.path + ": the streams were not closed before MPI_Finalize";
  if (!comm_.all_arrive(comm_.wait_seconds()))
    return warn(
        fmt::format("{} by some ranks, and others closed them or did not come within {} s (setting "
                    "wait_seconds); records since the last commit are lost",
                    late, comm_.wait_seconds()));
  const Status status = caught([&] { close(); });
  warn(status.ok()
           ? late + "; they are closed now, and their files whole. Call close, so that you learn of errors"
           : fmt::format("{}; closing them now failed: {}", late, status.text()));
}

// ---- Report -----------------------------------------------------------------------------------------------

std::string Streams::report() const {
  using nlohmann::json;
  json axes = json::array(), grids = json::array(), fields = json::array(), files = json::array(),
       collectors = json::array();
  for (const Axis& axis : descriptions_.axes())
    axes.push_back(
        {{"name", axis.name}, {"length", axis.length}, {"values", axis.values}, {"bounds", axis.bounds}});
  for (std::size_t g = 0; g < descriptions_.grids().size(); ++g) {
    const Grid& grid = descriptions_.grids()[g];
    const Dims& global = grid.decomposition->global();
    json coordinates = json::array();
    for (const auto& variable : descriptions_.grid_variables())
      if (variable.grid == static_cast<int>(g) && !variable.is_area) coordinates.push_back(variable.name);
    const GridVariable* area = descriptions_.area_of(static_cast<int>(g));
    grids.push_back({{"name", grid.name},
                     {"dims", grid.dims},
                     {"lengths", std::vector<std::int64_t>(global.begin(), global.end())},
                     {"coordinates", coordinates},
                     {"area", area == nullptr ? "" : area->name}});
  }
  for (const Field& field : descriptions_.fields()) {
    json dims = json::array();
    for (const auto& dim : field.dims)
      dims.push_back({{"name", dim}, {"length", descriptions_.length_of(dim)}});
    const Grid* grid = descriptions_.grid_of(field);
    fields.push_back({{"name", field.name},
                      {"type", name_of(field.type)},
                      {"dims", dims},
                      {"grid", grid == nullptr ? "" : grid->name},
                      {"group", field.group},
                      {"holds", field.for_step ? "step" : "instant"},
                      {"units", text_of(field.attributes, "units")},
                      {"long_name", text_of(field.attributes, "long_name")},
                      {"standard_name", text_of(field.attributes, "standard_name")}});
  }
  std::int64_t bytes = 0;
  for (const Collector& collector : plan_.collectors) {
    const std::int64_t mine =
        collector.kept != nullptr ? collector.kept->bytes() : collector.accumulator->bytes();
    bytes += mine;
    collectors.push_back(
        {{"of", plan_.source_of(collector).like.name},
         {"every", text_of(plan_.clock_of(collector).options().every)},
         {"sample_every",
          collector.sample < 0 ? "1 step" : text_of(nth(plan_.clocks, collector.sample).options().every)},
         {"kind", collector.kept != nullptr ? "instant" : "accumulator"},
         {"bytes", mine}});
  }
  for (const RecordFile& file : files_) {
    json outputs = json::array(), written = json::array();
    const auto add = [&](const Output& output) {
      outputs.push_back({{"name", output.name},
                         {"operation", text_of(output.operation)},
                         {"type", name_of(output.encoding.type)}});
    };
    for (const Output& output : file.plan().outputs) {
      add(output);
      std::for_each(output.coarser.begin(), output.coarser.end(), add);
    }
    for (const auto& [path, records] : file.written())
      written.push_back({{"path", path}, {"records", records}});
    if (file.is_open()) written.push_back({{"path", file.path()}, {"records", file.records()}});
    json sites = json::array();
    if (const Sites* of_file = file.plan().sites.get())
      for (const Site& site : of_file->sites) {
        const Dims cell = unravel(site.cell, of_file->lengths);
        json one = {{"name", site.name}, {"distance", site.distance}};
        for (std::size_t k = 0; k < of_file->coordinates.size(); ++k) {
          one["asked"][of_file->coordinates[k]] = site.asked[k];
          one["found"][of_file->coordinates[k]] = site.found[k];
        }
        for (std::size_t k = 0; k < of_file->dim_names.size(); ++k)
          one["cell"][of_file->dim_names[k]] = cell[static_cast<int>(k)];
        sites.push_back(one);
      }
    files.push_back({{"name", file.plan().choice.name},
                     {"sites", sites},
                     {"every", text_of(file.plan().choice.every)},
                     {"variables", outputs},
                     {"files", written}});
  }
  const json all = {{"streams",
                     {{"configuration", configuration_.path},
                      {"calendar", time_.calendar.name()},
                      {"start", time_.calendar.text(time_.start)},
                      {"now", time_.calendar.text(step_.end)},
                      {"steps", step_.number},
                      {"axes", axes},
                      {"grids", grids},
                      {"fields", fields},
                      {"files", files},
                      {"accumulators", collectors},
                      {"accumulator_bytes", bytes}}}};
  return all.dump(1);
}

void Streams::write_report() const {
  std::ofstream out(configuration_.report, std::ios::trunc);
  out << report() << "\n";
  out.flush();
  if (!out) throw errno_error(errno, "the report cannot be written").in_file(configuration_.report);
}

}  // namespace shoal::streams
