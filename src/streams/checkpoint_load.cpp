// SPDX-License-Identifier: BSD-3-Clause
// Taking the windows of a checkpoint back.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "dataset/settings/own_files.hpp"
#include "streams/checkpoint.hpp"
#include "streams/checksum.hpp"
#include "streams/nth.hpp"

namespace shoal::streams {

namespace {

using FileAttributes = std::vector<shoal::Attribute>;

constexpr const char* k_what_to_do =
    "; resume from an older checkpoint, or begin the windows anew by a run that does not resume";

Error damaged(const std::string& what) {
  return Error(Code::format, "the checkpoint is damaged: {}", what);
}

const shoal::Attribute* find_in(const FileAttributes& attributes, const std::string& name) {
  for (const auto& attribute : attributes)
    if (attribute.name == name) return &attribute;
  return nullptr;
}
std::string text_in(const FileAttributes& attributes, const std::string& name) {
  const auto* found = find_in(attributes, name);
  if (found == nullptr || found->type != Type::char_) throw damaged(fmt::format("it has no text '{}'", name));
  return {reinterpret_cast<const char*>(found->data.data()), found->data.size()};
}
/// Between both, which are possible.
std::int64_t number_in(const FileAttributes& attributes, const std::string& name, std::int64_t least,
                       std::int64_t most) {
  const auto* found = find_in(attributes, name);
  if (found == nullptr || found->type != Type::int64 || found->count() != 1)
    throw damaged(fmt::format("it has no whole number '{}'", name));
  std::int64_t out = 0;
  std::memcpy(&out, found->data.data(), sizeof out);
  if (out < least || out > most)
    throw damaged(fmt::format("'{}' is {}, and could be {} to {}", name, out, least, most));
  return out;
}
std::uint64_t checksum_in(const FileAttributes& attributes) {
  constexpr auto least = std::numeric_limits<std::int64_t>::min(),
                 most = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::uint64_t>(number_in(attributes, k_checksum_name, least, most));
}
void compare(std::uint64_t found, std::uint64_t said, const std::string& of) {
  if (found != said) throw damaged(fmt::format("{} has another checksum than the one that was saved", of));
}

/// Between both, in the calendar.
Instant instant_in(const Calendar& calendar, const FileAttributes& attributes, const std::string& name,
                   Instant earliest, Instant latest) {
  const std::string text = text_in(attributes, name);
  Instant out;
  if (!caught([&] { out = calendar.parse(text); }).ok())
    throw damaged(fmt::format("'{}' is '{}', which is no date of the calendar", name, text));
  if (out < earliest || out > latest)
    throw damaged(fmt::format("'{}' is {}, and could be {} to {}", name, text, calendar.text(earliest),
                              calendar.text(latest)));
  return out;
}

std::vector<Operation> operations_in(const std::string& text) {
  std::vector<Operation> out;
  for (const auto& name : words(text)) {
    int operation = 0;
    while (operation <= static_cast<int>(Operation::diurnal) &&
           name != name_of(static_cast<Operation>(operation)))
      ++operation;
    if (operation > static_cast<int>(Operation::diurnal))
      throw damaged(fmt::format("'{}' is no operation", name));
    out.push_back(static_cast<Operation>(operation));
  }
  return out;
}

bool has(const std::vector<Operation>& operations, Operation wanted) {
  return std::find(operations.begin(), operations.end(), wanted) != operations.end();
}

}  // namespace

void Checkpoint::read_run(const Schema& schema) {
  const FileAttributes& attributes = schema.attributes;
  const auto* version = find_in(attributes, k_checkpoint_version);
  if (version == nullptr) throw Error(Code::format, "this is no checkpoint of streams");
  std::int32_t number = 0;
  if (version->type == Type::int_ && version->count() == 1)
    std::memcpy(&number, version->data.data(), sizeof number);
  if (number != k_version)
    throw Error(Code::format, "this is a checkpoint of form {}; this version of Shoal reads form {}", number,
                k_version);
  compare(checksum_of(attributes), checksum_in(attributes), "what it says of the run");
  const Calendar& calendar = streams_.time_.calendar;
  const auto same = [&](const char* name, const std::string& mine) {
    const std::string there = text_in(attributes, name);
    if (there != mine)
      throw Error(Code::invalid_argument, "{} of the checkpoint is '{}', that of the streams '{}'", name,
                  there, mine);
  };
  same("calendar", calendar.name());
  same("start", calendar.text(streams_.time_.start));
  same("now", calendar.text(streams_.step_.end));
  // Steps have a microsecond, or more.
  const Instant start = streams_.time_.start, now = streams_.step_.end;
  streams_.step_.number = number_in(attributes, "steps", 0, now.microseconds - start.microseconds);
  for (Clock& clock : streams_.plan_.clocks)
    if (const std::string name = window_name(clock); find_in(attributes, name) != nullptr)
      clock.resume_window(instant_in(calendar, attributes, name, start, now));
}

void Checkpoint::read_files(const Schema& schema) {
  const FileAttributes& attributes = schema.attributes;
  for (RecordFile& one : streams_.files_)
    one.trust_checkpoint();
  std::vector<std::string> gone;
  const Calendar& calendar = streams_.time_.calendar;
  // Each has attributes of its own: the header has no room for more of them than there are attributes.
  const std::int64_t open = number_in(attributes, "files", 0, static_cast<std::int64_t>(attributes.size()));
  for (std::int64_t i = 0; i < open; ++i) {
    const std::string prefix = fmt::format("file_{}_", i), name = text_in(attributes, prefix + "name");
    constexpr std::int64_t k_most = std::int64_t{1} << 40U;  // the file says how many there are
    const auto known = std::find_if(streams_.files_.begin(), streams_.files_.end(),
                                    [&](const RecordFile& one) { return one.plan().choice.name == name; });
    if (known == streams_.files_.end()) {
      gone.push_back("'" + name + "'");
      continue;
    }
    known->continue_with({instant_in(calendar, attributes, prefix + "first_window",
                                     streams_.clock_of(*known).earliest(), streams_.step_.end),
                          number_in(attributes, prefix + "records", 0, k_most)});
  }
  if (!gone.empty())
    streams_.warn(fmt::format("{}: the configuration has no file {} any more", path_, joined(gone, ", ")));
}

std::vector<Checkpoint::Saved> Checkpoint::saved_in(const Schema& schema) const {
  std::vector<Saved> all;
  for (const auto& variable : schema.variables) {
    // Nothing else is said of arrays; all others are windows.
    const bool is_array =
        std::all_of(variable.attributes.begin(), variable.attributes.end(), [](const auto& attribute) {
          return attribute.name == k_checksum_name || attribute.name == "_FillValue";
        });
    if (is_array) continue;
    compare(checksum_of(variable.attributes), checksum_in(variable.attributes),
            fmt::format("variable '{}'", variable.name));
    Saved one;
    one.key = text_in(variable.attributes, "key");
    one.about = text_in(variable.attributes, "about");
    one.operations = operations_in(text_in(variable.attributes, "operations"));
    const auto known = std::find_if(all.begin(), all.end(), [&](const Saved& other) {
      return other.key == one.key && other.operations == one.operations;
    });
    Saved& of = known != all.end() ? *known : all.emplace_back(std::move(one));
    constexpr std::int64_t k_most_states = 1440;
    const std::int64_t state = number_in(variable.attributes, "state", 0, k_most_states - 1);
    if (!of.states.emplace(state, variable.name).second)
      throw damaged(
          fmt::format("variables '{}' and '{}' are of the same window", of.states[state], variable.name));
  }
  return all;
}

/// A collector for some of the operations of another one, whose windows begin elsewhere; its number.
std::size_t Checkpoint::part_with(std::size_t collector, const std::vector<Operation>& operations) {
  Plan& plan = streams_.plan_;
  const std::size_t made = plan.collectors.size();
  Collector part;
  part.source = plan.collectors[collector].source;
  part.clock = plan.collectors[collector].clock;
  part.sample = plan.collectors[collector].sample;
  part.bins = plan.collectors[collector].bins;
  part.part = plan.collectors[collector].part;
  part.accumulator = accumulator_for(plan, part);
  auto rest = accumulator_for(plan, part);
  for (const Operation operation : plan.collectors[collector].accumulator->operations())
    (has(operations, operation) ? part.accumulator : rest)->need(operation);
  plan.collectors[collector].accumulator = std::move(rest);
  plan.collectors.push_back(std::move(part));
  nth(streams_.sources_, plan.collectors[made].source).collectors.push_back(made);
  for (RecordFile& file : streams_.files_)
    for (std::size_t o = 0; o < file.plan().outputs.size(); ++o) {
      const Output& output = file.plan().outputs[o];
      if (static_cast<std::size_t>(output.collector) == collector &&
          has(operations, output.operation.operation))
        file.use_collector(o, static_cast<int>(made));
      if (static_cast<std::size_t>(output.levels) == collector && has(operations, Operation::mean))
        file.use_levels(o, static_cast<int>(made));
    }
  return made;
}

/// Operations that begin here though their window goes on.
std::vector<std::string> Checkpoint::take_states(EvenReader& even, std::vector<Saved>& saved) {
  std::vector<std::string> begun;
  const std::size_t planned = streams_.plan_.collectors.size();
  for (std::size_t c = 0; c < planned; ++c) {
    if (streams_.plan_.collectors[c].accumulator == nullptr) continue;
    const std::string key = key_of(streams_.plan_.collectors[c]);
    bool all = false;
    for (Saved& one : saved) {
      if (one.key != key || all) continue;
      const std::vector<Operation> wanted = streams_.plan_.collectors[c].accumulator->operations();
      std::vector<Operation> taken;
      for (const Operation operation : wanted)
        if (has(one.operations, operation)) taken.push_back(operation);
      if (taken.empty()) continue;
      one.taken.insert(one.taken.end(), taken.begin(), taken.end());
      all = taken.size() == wanted.size();
      take(even, all ? c : part_with(c, taken), one);
    }
    const Collector& collector = streams_.plan_.collectors[c];
    const Clock& clock = streams_.plan_.clock_of(collector);
    // One that takes values now and then may have none yet.
    const bool has_values = collector.sample < 0 ||
                            nth(streams_.plan_.clocks, collector.sample).next_start() > clock.window().start;
    if (!all && clock.goes_on() && has_values)
      begun.push_back(names_of(collector.accumulator->operations()) + " of " + about(collector));
  }
  return begun;
}

void Checkpoint::take(EvenReader& even, std::size_t collector, const Saved& saved) {
  for (const auto& [state, variable] : saved.states) {
    if (state >= streams_.plan_.collectors[collector].accumulator->states())
      throw damaged(fmt::format("variable '{}' is of part {}, which there is not", variable, state));
    const Entry entry{variable, collector, static_cast<int>(state)};
    read_window(even.file().schema(), variable, entry);
    read_arrays(even, entry, variable);
  }
}

void Checkpoint::read_window(const Schema& schema, const std::string& variable, const Entry& entry) const {
  const FileAttributes& attributes = schema.variable(schema.find_variable(variable)).attributes;
  const Clock& clock = streams_.plan_.clock_of(collector_of(entry));
  const Instant start = streams_.time_.start, now = streams_.step_.end;
  const auto instant = [&](const char* name, Instant earliest, Instant latest) {
    return instant_in(clock.options().calendar, attributes, name, earliest, latest);
  };
  WindowState& state = state_of(entry);
  const Window& window = clock.window();
  // Climatologies have windows of years before, and `until` may have left out a window of steps since.
  state.window.start = instant("window_start", clock.earliest(), window.start);
  state.window.end = instant("window_end", state.window.start, window.end);
  state.since = instant("since", start, now);
  state.until = instant("until", state.since, now);
  state.steps = number_in(attributes, "steps", 0, streams_.step_.number);
  state.weight =
      number_in(attributes, "weight_in_microseconds", 0, state.until.microseconds - state.since.microseconds);
  if (!text_in(attributes, "not_sent_in_the_step_to").empty())
    state.hole = instant("not_sent_in_the_step_to", state.since, state.until);
}

void Checkpoint::read_arrays(EvenReader& even, const Entry& entry, const std::string& name) {
  const Collector& collector = collector_of(entry);
  collector.accumulator->make_doubles(state_of(entry));
  const Part& part = *collector.part;
  Dims shape;
  for (const DimChoice& dim : part.choices())
    shape.push_back(dim.chosen());
  Dataset& file = even.file();
  for_each_array(entry, name, [&](const std::string& variable, const ArrayView& view) {
    const Schema& schema = file.schema();
    const int index = schema.find_variable(variable);
    if (index < 0) throw damaged(fmt::format("it has no variable '{}'", variable));
    const VariableDef& found = schema.variable(index);
    if (found.type != view.type || !(schema.shape(index) == shape))
      throw damaged(fmt::format("variable '{}' is of type {} and {}, and would be of {} and {}", variable,
                                name_of(found.type), text_of(schema.shape(index)), name_of(view.type),
                                text_of(shape)));
    DataCall call;
    call.variable = index;
    call.decomposition = part.decomposition();
    call.array.cells = view;
    Sum sum{variable, checksum_in(found.attributes), 0};
    if (call.decomposition != nullptr) {
      file.read(call);
      sum.share = even.share_of(index, view.type, shape);
    } else {
      file.get(call);
      sum.share = share_of(streams_.comm_, view, part);
    }
    sums_.push_back(std::move(sum));
  });
  problem_.merge(caught([&] { check_counts(entry); }));
}

// Weights of cells are added to: far from what overflows.
void Checkpoint::check_counts(const Entry& entry) const {
  const WindowState& state = state_of(entry);
  const auto check = [&](const std::vector<std::int64_t>& counts, std::int64_t most) {
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (!collector_of(entry).part->is_masked(static_cast<std::int64_t>(i)) &&
          (counts[i] < 0 || counts[i] > most))
        throw damaged(fmt::format("a cell of '{}' has the weight or count {}, and could have 0 to {}",
                                  entry.name, counts[i], most));
  };
  if (collector_of(entry).accumulator->counts_cells()) check(state.cell_weights, state.weight);
  if (collector_of(entry).accumulator->counts_values()) check(state.cell_counts, state.steps);
}

void Checkpoint::compare_sums() const {
  streams_.comm_.agree_or_throw(problem_);
  std::vector<std::uint64_t> shares;
  for (const Sum& sum : sums_)
    shares.push_back(sum.share);
  const std::vector<std::uint64_t> sums = sums_of(streams_.comm_, shares);
  for (std::size_t i = 0; i < sums.size(); ++i)
    compare(sums[i], sums_[i].said, fmt::format("variable '{}'", sums_[i].variable));
}

void Checkpoint::tell_changes(const std::vector<Saved>& saved, const std::vector<std::string>& begun) const {
  std::vector<std::string> gone;
  for (const Saved& one : saved) {
    std::vector<Operation> left;
    for (const Operation operation : one.operations)
      if (!has(one.taken, operation)) left.push_back(operation);
    if (!left.empty()) gone.push_back(names_of(left) + " of " + one.about);
  }
  if (!gone.empty())
    streams_.warn(
        fmt::format("{}: no file of the configuration needs any more: {}", path_, joined(gone, "; ")));
  if (!begun.empty())
    streams_.warn(fmt::format("{} does not have these, which begin at {}, in the middle of their windows: {}",
                              path_, streams_.time_.calendar.text(streams_.step_.end), joined(begun, "; ")));
}

void Checkpoint::load(const std::string& path) {
  path_ = path;
  try {
    const auto file =
        Dataset::open(streams_.comm_.handle(), path, false, streams_.maker_.options(k_to_read_own_file));
    // What is wrong with the header all ranks find alike.
    read_run(file->schema());
    read_files(file->schema());
    std::vector<Saved> saved = saved_in(file->schema());
    EvenReader even(streams_.comm_, *file);
    const std::vector<std::string> begun = take_states(even, saved);
    compare_sums();
    tell_changes(saved, begun);
    file->close(false);
  } catch (const Error& e) {
    Status status = e.status();
    if (status.code == Code::format) status.message += k_what_to_do;
    throw Error(status).in_file(path);
  }
}

}  // namespace shoal::streams
