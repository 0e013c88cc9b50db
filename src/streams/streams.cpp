// SPDX-License-Identifier: BSD-3-Clause
// The run, step by step. What is written where windows end: streams_settle.cpp.
#include "streams/streams.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/language.hpp"
#include "base/text.hpp"
#include "dataset/settings/settings.hpp"
#include "storage/text_file.hpp"
#include "streams/file_problems.hpp"
#include "streams/nth.hpp"

namespace shoal::streams {

namespace {

constexpr const char* k_variable = "SHOAL_STREAMS";

struct Text {
  std::string path, text;
};

/// What rank 0 finds.
Text read_text(const std::string& given) {
  Text out{given, {}};
  const char* replaced = std::getenv(k_variable);
  const bool is_text = given.find('\n') != std::string::npos;
  if (replaced != nullptr && *replaced != '\0') {
    out.path = replaced;
  } else if (is_text) {
    return {"the configuration", given};
  }
  if (out.path.empty()) throw Error(Code::invalid_argument, "the path of the configuration is empty");
  out.text = text_of_file(out.path, k_most_input_bytes);
  return out;
}

/// How long ranks wait for each other, of the settings of all files. What is wrong with these is known before
/// the first step.
double wait_seconds_of(const Configuration& configuration, const FileMaker& maker) {
  double longest = 0;
  for (const FileChoice& file : configuration.files) {
    const DatasetOptions options = maker.options(file.settings_text());
    longest = std::max(longest, resolve_settings(options.settings, options.sources).seconds("wait_seconds"));
  }
  return longest;
}

/// A date, or a length of time after the start.
Instant read_now(const Calendar& calendar, Instant start, const std::string& text) {
  if (text.empty()) return start;
  Instant now;
  const Status as_date = caught([&] { now = calendar.parse(text); });
  if (as_date.ok()) return now;
  if (!caught([&] { now = calendar.add(start, parse_duration(text)); }).ok())
    throw Error(Code::invalid_argument, "now: {}, or how long after the start: 36 h, 129600.5 s",
                as_date.message);
  return now;
}

}  // namespace

Streams::Streams(Comm comm, Configuration configuration, const RunTime& time, FileMaker maker)
    : comm_(std::move(comm)),
      configuration_(std::move(configuration)),
      time_(time),
      maker_(std::move(maker)) {
  step_.start = step_.end = began_ = time_.now;
}

std::unique_ptr<Streams> Streams::open(MPI_Comm comm, const StreamsOptions& options) {
  Comm own(comm, CollectiveMethod::anyhow, {0, "streams_open", "streams"});
  own.agree_or_throw(options.problem);
  const Bytes packed = own.from_root([&] {
    const Text found = read_text(options.configuration);
    ByteWriter out;
    out.put(found.path);
    out.put(found.text);
    out.put(options.calendar);
    out.put(options.start);
    out.put(options.now);
    return out.take();
  });
  ByteReader in(packed);
  const auto path = in.get<std::string>(), text = in.get<std::string>();
  const auto calendar = in.get<std::string>(), start = in.get<std::string>(), now = in.get<std::string>();
  RunTime time;
  Configuration configuration;
  own.agree_or_throw(caught([&] {
    if (calendar != options.calendar || start != options.start || now != options.now)
      throw Error(Code::out_of_step, "calendar and dates are not the same as those of rank 0");
    try {
      time.calendar = Calendar::of(calendar);
    } catch (const Error& e) {
      throw Error(Code::invalid_argument, e.status().message);
    }
    time.start = time.calendar.parse(start);
    time.now = read_now(time.calendar, time.start, now);
    if (time.now < time.start)
      throw Error(Code::invalid_argument, "now is {}, before the start of the run, {}", now, start);
    configuration = read_configuration(text, path);
  }));
  const Bytes wait = own.from_root([&] {
    ByteWriter out;
    out.put(wait_seconds_of(configuration, options.maker));
    return out.take();
  });
  if (const auto seconds = ByteReader(wait).get<double>(); seconds > 0) own.wait_at_most(seconds, false);
  return std::unique_ptr<Streams>(new Streams(std::move(own), std::move(configuration), time, options.maker));
}

Descriptions& Streams::descriptions() {
  if (running_ || closed_)
    throw Error(Code::state, "the run has begun; axes, grids and fields are described before the first step");
  return descriptions_;
}

void Streams::begin_run() {
  if (closed_) throw Error(Code::state, "the streams are closed");
  if (running_) return;
  const Comm::Calling calling(comm_, "streams: descriptions", configuration_.path);
  Hash refused;
  refused.add(static_cast<std::uint64_t>(refused_.code));
  refused.add(refused_.message);
  const std::array<std::uint64_t, 2> own = {descriptions_.hash(), refused.value()};
  std::array<std::uint64_t, 2> first = own;
  comm_.broadcast(reinterpret_cast<std::byte*>(first.data()), sizeof first, 0);
  // What all ranks refused alike, each of them knows.
  Status mine = comm_.max(std::int64_t{first == own ? 0 : 1}) == 0 ? Status{} : refused_;
  mine.merge(problem_);
  if (first[0] != own[0])
    mine.merge(
        Error(Code::out_of_step, "axes, grids, fields or attributes are not the same as those of rank 0")
            .status());
  problem_ = refused_ = {};
  comm_.agree_or_throw(mine);
  if (is_check_alone()) check_and_stop();
  plan_ = make_plan(comm_, configuration_, descriptions_, time_);
  comm_.on_root([&] {
    for (const FilePlan& file : plan_.files)
      check_folder(file.choice.name);
    if (!configuration_.report.empty()) check_folder(configuration_.report);
  });
  for (FilePlan& file : plan_.files)
    files_.emplace_back(comm_, plan_, std::move(file), descriptions_, time_, maker_);
  sources_.resize(plan_.sources.size());
  uses_.resize(descriptions_.fields().size());
  wanted_.assign(descriptions_.fields().size(), 0);
  told_.assign(plan_.clocks.size(), false);
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    const Source& source = plan_.sources[s];
    for (const int field : source.fields)
      nth(uses_, field).push_back(s);
    sources_[s].inputs.resize(source.fields.size());
    sources_[s].has_input.assign(source.fields.size(), false);
  }
  // Instants first: they may refuse values, which sums would have taken then.
  for (const bool kept : {true, false})
    for (std::size_t c = 0; c < plan_.collectors.size(); ++c)
      if (const Collector& collector = plan_.collectors[c]; (collector.kept != nullptr) == kept)
        nth(sources_, collector.source).collectors.push_back(c);
  running_ = true;
}

// ---- Steps ------------------------------------------------------------------------------------------------

void Streams::advance(double seconds) {
  advance_to([&] {
    const double microseconds = seconds * 1e6;
    if (!std::isfinite(seconds) || std::abs(microseconds) > 9e18)
      throw Error(Code::invalid_argument, "advance to {} s: not a time", seconds);
    return Instant{time_.start.microseconds + std::llround(microseconds)};
  });
}

void Streams::advance_to(const std::string& date) {
  advance_to([&] { return time_.calendar.parse(date); });
}

// A rank with a wrong time takes its part where the step before makes something due: the others wait for it.
// Otherwise it stays in that step, and may advance again.
void Streams::advance_to(const std::function<Instant()>& end) {
  begin_run();
  Step next;
  Status wrong = caught([&] {
    next = next_step(end());
    check_step(next);
  });
  if (!wrong.ok() && !makes_due()) throw Error(wrong);
  const bool has_time = wrong.ok();
  problem_.merge(wrong);
  std::vector<Due> due = complete_step();
  if (has_time) begin_step(next, due);
  Status failure = settle(due, has_time);
  failure.merge(end_files());
  if (!failure.ok()) throw Error(failure);
}

Step Streams::next_step(Instant end) const {
  const bool is_state = !begun_ && end == step_.end;
  if (end <= step_.end && !is_state)
    throw Error(Code::invalid_argument, "advance to {}: it is {} already", time_.calendar.text(end),
                time_.calendar.text(step_.end));
  return {step_.end, end, step_.number + (is_state ? 0 : 1)};
}

// On copies: no clock goes on where one refuses.
void Streams::check_step(const Step& next) const {
  for (std::size_t c = 0; c < plan_.clocks.size(); ++c) {
    Clock clock = plan_.clocks[c];
    if (in_step_) clock.end_step();
    clock.begin_step(next);
    if (!clock.crossed()) continue;
    for (const RecordFile& file : files_)
      if (file.plan().choice.strict && uses_clock(file, c))
        throw Error(Code::setting, "{}; the configuration says strict = true", crossing_text(clock, next))
            .in_file(file.plan().choice.name);
  }
}

// A line for each kind of windows, the first time.
void Streams::tell_crossed() {
  for (std::size_t c = 0; c < plan_.clocks.size(); ++c) {
    if (!plan_.clocks[c].crossed() || told_[c]) continue;
    told_[c] = true;
    std::vector<std::string> names;
    for (const RecordFile& file : files_)
      if (uses_clock(file, c)) names.push_back(file.plan().choice.name);
    warn(
        fmt::format("{}: {}: a step belongs to the window in which it ends, with all of its length, so "
                    "records hold other lengths of time, which their bounds say; choose `every` so that "
                    "windows end with steps (strict = true makes this an error)",
                    joined(names, ", "), crossing_text(plan_.clocks[c], step_)));
  }
}

bool Streams::gives_instants(const RecordFile& file) const {
  return clock_of(file).instant() && (step_.start < step_.end || file.takes_start());
}

bool Streams::ends_window_of(const RecordFile& file) const {
  const Clock& clock = clock_of(file);
  return clock.ends() && clock.counts() && !clock.options().climatology;
}

// As complete_step() finds it; whether a field was sent does not matter.
bool Streams::makes_due() const {
  return in_step_ && std::any_of(files_.begin(), files_.end(), [&](const RecordFile& file) {
           const auto& outputs = file.plan().outputs;
           return std::any_of(outputs.begin(), outputs.end(), [&](const Output& output) {
             return output.operation.operation == Operation::instant ? gives_instants(file)
                                                                     : ends_window_of(file);
           });
         });
}

bool Streams::takes(const Collector& collector) const {
  const Clock& clock = plan_.clock_of(collector);
  if (collector.kept != nullptr) return clock.instant().has_value();
  return clock.counts() && (collector.sample < 0 || nth(plan_.clocks, collector.sample).instant());
}

bool Streams::uses_clock(const RecordFile& file, std::size_t clock) const {
  const auto is_it = [&](int other) { return static_cast<std::size_t>(other) == clock; };
  const auto& outputs = file.plan().outputs;
  return is_it(file.plan().clock) || std::any_of(outputs.begin(), outputs.end(), [&](const Output& output) {
           return is_it(nth(plan_.collectors, output.collector).sample);
         });
}

// A value that is taken now and then counts for as long as the window at whose end it is taken; one that is
// late lies as much later.
Step Streams::step_of(const Collector& collector) const {
  if (collector.sample < 0) return step_;
  Step sample = step_;
  const Window& window = *nth(plan_.clocks, collector.sample).instant();
  const std::int64_t length = window.end.microseconds - window.start.microseconds;
  sample.start = std::max(Instant{sample.end.microseconds - length}, time_.start);
  return sample;
}

void Streams::begin_step(const Step& next, std::vector<Due>& due) {
  for (Clock& clock : plan_.clocks)
    clock.begin_step(next);
  if (next.weight() > 0) {
    shortest_ = steps_ == 0 ? next.weight() : std::min(shortest_, next.weight());
    longest_ = std::max(longest_, next.weight());
    ++steps_;
  }
  step_ = next;
  tell_crossed();
  in_step_ = begun_ = true;
  saved_ = false;
  for (std::size_t f = 0; f < files_.size(); ++f)
    if (const auto& passed = clock_of(files_[f]).passed()) add_due(due, f, *passed, false);
  for (OfSource& source : sources_) {
    source.sent = false;
    std::fill(source.has_input.begin(), source.has_input.end(), false);
  }
  find_wanted();
}

void Streams::find_wanted() {
  std::fill(wanted_.begin(), wanted_.end(), 0);
  for (const Collector& collector : plan_.collectors)
    if (takes(collector))
      for (const int field : plan_.source_of(collector).fields)
        nth(wanted_, field) = 1;
}

void Streams::send(int field, const ArrayArgument& array) {
  const auto& fields = descriptions_.fields();
  const Status status = caught([&] {
    if (field < 0 || static_cast<std::size_t>(field) >= fields.size())
      throw Error(Code::invalid_argument, "there is no field {}; the model described {}, counted {}",
                  as_index(field), fields.size(), counted_from());
    if (!in_step_)
      throw Error(Code::state,
                  "field '{}' was sent {}; advance first: it says when the step ends whose values are sent",
                  nth(fields, field).name,
                  begun_ ? fmt::format("when the step to {} was complete", time_.calendar.text(step_.end))
                         : "before the first step");
    if (ignores(field)) return;
    const Field& of = nth(fields, field);
    try {
      const Decomposition* grid = descriptions_.decomposition_of(of);
      if (volume(own_extents(of.outer, grid)) > 0 && !array.problem.ok()) throw Error(array.problem);
      const HostArray on_host(array.cells);
      const ArrayView own = own_cells(on_host.view(), of.outer, grid);
      for (const std::size_t s : nth(uses_, field))
        if (plan_.sources[s].is_made())
          take_input(s, field, own);
        else
          feed(s, own);
    } catch (const Error& e) {
      throw Error(e.code(), "field '{}' in the step to {}: {}", of.name, time_.calendar.text(step_.end),
                  e.status().message)
          .of_variable(of.name);
    }
  });
  if (status.ok()) return;
  if (comm_.size() == 1) throw Error(status);
  if (!begun_ && !told_early_) {  // whoever looks at no code learns of it at the first advance
    told_early_ = true;
    warn(status.message);
  }
  problem_.merge(status);
}

void Streams::refuse(int field, const Status& why) {
  if (ignores(field)) return;  // as of a send that does nothing
  if (comm_.size() == 1) throw Error(why);
  (running_ || field >= 0 ? problem_ : refused_).merge(why);
}

void Streams::feed(std::size_t source, const ArrayView& own) {
  OfSource& of = sources_[source];
  if (of.sent) throw Error(Code::state, "it was sent already; the first values count");
  for (const std::size_t c : of.collectors) {
    Collector& collector = plan_.collectors[c];
    if (!takes(collector)) continue;
    if (collector.kept != nullptr) {
      collector.kept->keep(own);
      collector.kept_hole.reset();
      continue;
    }
    const Clock& clock = plan_.clock_of(collector);
    const Step step = step_of(collector);
    int state = clock.slot();
    if (collector.bins > 0) {  // of the middle of the step
      const Instant middle{step.start.microseconds + step.weight() / 2};
      const std::int64_t of_day = ((middle.microseconds % k_day) + k_day) % k_day;
      state = static_cast<int>(of_day * collector.bins / k_day);
    }
    collector.accumulator->add(own, step, clock.window(), state);
  }
  of.sent = true;
}

void Streams::take_input(std::size_t source, int field, const ArrayView& own) {
  OfSource& of = sources_[source];
  const Source& plan = plan_.sources[source];
  const auto which = static_cast<std::size_t>(std::find(plan.fields.begin(), plan.fields.end(), field) -
                                              plan.fields.begin());
  if (of.has_input[which]) throw Error(Code::state, "it was sent already; the first values count");
  const Field& of_field = nth(descriptions_.fields(), field);
  const int vertical = plan.like.made_dim;
  Dims extents = own.extents;
  if (plan.interpolation != nullptr && volume(extents) > 0) extents[vertical] = plan.interpolation->targets();
  const auto feed_interpolated = [&](const ArrayView& values, const std::optional<double>& missing, Type type,
                                     const double* levels) {
    of.made.resize(static_cast<std::size_t>(volume(extents)));
    plan.interpolation->run(values, vertical, missing, type, levels, of.made.data());
    feed(source, ArrayView::contiguous(of.made.data(), Type::double_, extents));
  };
  if (plan.expression == nullptr && plan.levels < 0) {  // as they are
    of.has_input[which] = true;
    return feed_interpolated(own, of_field.missing, of_field.type, nullptr);
  }
  of.inputs[which] = doubles_of(own);
  if (of_field.missing)
    for (double& value : of.inputs[which])
      if (is_missing(value, own.type, *of_field.missing, of_field.type))
        value = std::numeric_limits<double>::quiet_NaN();
  of.has_input[which] = true;
  if (std::find(of.has_input.begin(), of.has_input.end(), false) != of.has_input.end()) return;
  double* made = of.inputs.front().data();
  if (plan.expression != nullptr) {
    std::vector<const double*> values;
    for (std::size_t i = 0; i < plan.expression->names().size(); ++i)
      values.push_back(of.inputs[i].data());
    of.values.resize(of.inputs.front().size());
    plan.expression->evaluate(values, static_cast<std::int64_t>(of.values.size()), of.values.data());
    made = of.values.data();
  }
  const ArrayView view = ArrayView::contiguous(made, Type::double_, own.extents);
  if (plan.interpolation == nullptr) return feed(source, view);
  feed_interpolated(view, std::nullopt, Type::double_,
                    plan.levels < 0 ? nullptr : nth(of.inputs, plan.levels).data());
}

std::vector<Streams::Due> Streams::complete_step() {
  std::vector<Due> due;
  if (!in_step_) return due;
  in_step_ = false;
  for (const OfSource& source : sources_) {
    if (source.sent) continue;
    for (const std::size_t c : source.collectors) {
      Collector& collector = plan_.collectors[c];
      if (!takes(collector)) continue;
      const Clock& clock = plan_.clock_of(collector);
      if (collector.kept != nullptr)
        collector.kept_hole = step_.end;
      else
        collector.accumulator->add_hole(step_of(collector), clock.window(), clock.slot());
    }
  }
  for (std::size_t f = 0; f < files_.size(); ++f) {
    const Clock& clock = clock_of(files_[f]);
    if (gives_instants(files_[f])) add_due(due, f, *clock.instant(), true);
    if (ends_window_of(files_[f])) add_due(due, f, clock.window(), false);
  }
  for (Clock& clock : plan_.clocks)
    clock.end_step();
  return due;
}

void Streams::add_due(std::vector<Due>& due, std::size_t file, const Window& window, bool instants) const {
  const auto& outputs = files_[file].plan().outputs;
  for (std::size_t o = 0; o < outputs.size(); ++o)
    if ((outputs[o].operation.operation == Operation::instant) == instants &&
        (instants || nth(plan_.collectors, outputs[o].collector).accumulator->begun()))
      due.push_back({file, o, window, 0, step_.end});
}

Streams::~Streams() {
  if (!closed_) comm_.leave();
}

}  // namespace shoal::streams
