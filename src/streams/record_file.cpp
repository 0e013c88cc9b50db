// SPDX-License-Identifier: BSD-3-Clause
// Opening, records and closing. What stands in a new file: define_file.cpp.
#include "streams/record_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "dataset/settings/own_files.hpp"
#include "storage/paths.hpp"
#include "streams/nth.hpp"

namespace shoal::streams {

namespace {

constexpr std::size_t k_recent = 4;
constexpr std::int64_t k_some = 32 * 1024;  // cells that are made at once

/// An array whose cells make(first, n, out) makes, n from `first` on, row-major.
template <class Value, class Make>
CellArray made_array(Type type, const Dims& extents, const Make& make) {
  return CellArray::of_source(
      type, extents,
      [&make, extents](const Box& asked, std::byte* to) {
        if (asked.empty()) return;
        auto* out = reinterpret_cast<Value*>(to);
        // The record dimension is none of the array's.
        const Box box(tail(asked.first, extents.size()), tail(asked.count, extents.size()));
        int outer = box.rank();
        std::int64_t row = 1;
        while (outer > 0 && (outer == box.rank() || box.count[outer] == extents[outer]))
          row *= box.count[--outer];
        Box rows = box;
        for (int d = outer; d < box.rank(); ++d)
          rows.count[d] = 1;
        for_each_index(rows, [&](const Dims& index) {
          make(position_in(index, Box::whole(extents)), row, out);
          out += row;
        });
      },
      {}, k_some);
}

// Streams pack what they make themselves, by keys of their own.
const std::pair<std::string, std::string> k_own_packing{"pack", "none"};

}  // namespace

void tell(const Comm& comm, const std::string& message) {
  if (comm.rank() == 0) std::fprintf(stderr, "shoal: streams: %s\n", printable(message).c_str());
}

FileMaker::FileMaker()
    : options([](const std::string& settings) {
        DatasetOptions made;
        made.settings = settings;
        made.sources = {"", ""};
        return made;
      }),
      close([](std::unique_ptr<Dataset> dataset) { dataset->close(false); }) {}

RecordFile::RecordFile(const Comm& comm, const Plan& plan, FilePlan file, const Descriptions& model,
                       const RunTime& time, const FileMaker& maker)
    : comm_(comm), plan_(plan), file_(std::move(file)), model_(model), time_(time), maker_(maker) {
  if (file_.choice.new_file) periods_.emplace(time.calendar, *file_.choice.new_file, Duration{}, time.start);
  for (const Output& output : file_.outputs) {
    has_bounds_ = has_bounds_ || output.operation.operation != Operation::instant;
    const Collector& collector = nth(plan.collectors, output.collector);
    takes_start_ = takes_start_ && !has_bounds_ && !plan.source_of(collector).like.for_step;
    if (output.operation.bins > 0 &&
        std::find(bins_.begin(), bins_.end(), output.operation.bins) == bins_.end())
      bins_.push_back(output.operation.bins);
    const auto add = [](std::vector<DimChoice>& all, const std::vector<DimChoice>& dims) {
      for (const DimChoice& dim : dims)
        if (std::find(all.begin(), all.end(), dim) == all.end()) all.push_back(dim);
    };
    add(scalars_, output.scalars);
    add(dims_, output.dims);
    for (const Output& coarser : output.coarser)
      add(dims_, coarser.dims);
  }
}

Window RecordFile::period_of(Instant first) const {
  // A window belongs to the file of its start; periods are half open at their start.
  if (periods_) return periods_->containing({first.microseconds + 1});
  return {time_.start, {std::numeric_limits<std::int64_t>::max()}};
}

bool RecordFile::exists_there() const {
  Bytes answer = comm_.from_root([&] { return Bytes(1, path_exists(path_) ? std::byte{1} : std::byte{0}); });
  return answer.at(0) != std::byte{0};
}

void RecordFile::open(const Window& window) {
  period_ = period_of(window.start);
  recent_.clear();
  kept_encodings_.clear();
  const bool goes_on = continued_ && period_of(continued_->first) == period_;
  first_ = goes_on ? continued_->first : window.start;
  path_ = file_name(file_.choice.name, time_.calendar, first_,
                    end_of_file(file_.choice, time_.calendar,
                                file_.choice.new_file ? std::optional(period_) : std::nullopt));
  const bool is_there = goes_on && exists_there();
  if (goes_on && !is_there)
    tell(comm_,
         fmt::format("{}: the checkpoint has {} of its records, and the file is not there: it begins anew",
                     path_, continued_->records));
  try {
    if (is_there)
      open_again(continued_->records);
    else
      create();
    define();
    numbers_ = find_numbers();
  } catch (...) {  // the next record tries again; what a checkpoint knows is still to be kept
    dataset_.reset();
    throw;
  }
  continued_.reset();
}

void RecordFile::open_again(std::int64_t records) {
  // What says how new files are made is nothing for this one, and no error. Coordinates are read to compare
  // them, as they lie in the file.
  FileChoice going_on;
  const auto keys = setting_keys();
  for (const auto& setting : file_.choice.settings)
    if (std::any_of(keys.begin(), keys.end(),
                    [&](const SettingKey& key) { return setting.first == key.name && !key.creation_only; }) &&
        setting.first != "read_masked")
      going_on.settings.push_back(setting);
  going_on.settings.emplace_back("read_masked", "leave");
  going_on.settings.push_back(k_own_packing);
  dataset_ = Dataset::open(comm_.handle(), path_, true, maker_.options(going_on.settings_text()));
  const std::int64_t there = dataset_->num_records("time");
  if (there < records)
    throw Error(Code::format, "the file has {} records; the checkpoint was made when it had {}", there,
                records);
  records_ = records;
}

void RecordFile::create() {
  const auto& settings = file_.choice.settings;
  const bool says_exists = std::any_of(settings.begin(), settings.end(),
                                       [](const auto& setting) { return setting.first == "exists"; });
  // Records of the period before this job must not be lost.
  if (!knows_records_ && time_.now > time_.start && period_.start < time_.now && !says_exists &&
      exists_there())
    throw Error(
        Code::exists,
        "the file has records from before {}, where this job begins; resume from its checkpoint, move "
        "the file away, or let the configuration say exists = \"replace\"",
        time_.calendar.text(time_.now));
  replaced_ = records_there();
  FileChoice made = file_.choice;
  made.settings.push_back(k_own_packing);
  dataset_ = Dataset::create(comm_.handle(), path_, maker_.options(made.settings_text()));
  records_ = 0;
}

// Of a file that is no NetCDF file, or has no time, none.
std::int64_t RecordFile::records_there() const {
  std::int64_t records = 0;
  if (comm_.rank() != 0 || !is_a_file(path_)) return 0;
  const Status status = caught([&] {
    const auto old = Dataset::open(MPI_COMM_SELF, path_, false, FileMaker().options(k_to_read_own_file));
    records = old->num_records("time");
    old->close(false);
  });
  return status.ok() ? records : 0;
}

bool RecordFile::has(const std::string& variable) const {
  const auto& variables = dataset_->schema().variables;
  return std::any_of(variables.begin(), variables.end(), [&](const auto& v) { return v.name == variable; });
}

const Encoding& RecordFile::encoding_of(const Output& output) const {
  const auto kept = kept_encodings_.find(output.name);
  return kept == kept_encodings_.end() ? output.encoding : kept->second;
}

double RecordFile::time_value(Instant instant) const {
  return cf_value(file_.choice.time_units, instant, file_.time_origin);
}

std::int64_t RecordFile::record_of(const RecordTime& time) {
  for (const Record& record : recent_)
    if (record.window == time.window) return record.index;
  const std::int64_t index = records_++;
  recent_.push_back({time.window, index});
  if (recent_.size() > k_recent) recent_.erase(recent_.begin());
  put_time(time, index);
  return index;
}

void RecordFile::put_time(const RecordTime& time, std::int64_t record) {
  const FileChoice& choice = file_.choice;
  Instant at = time.instant;
  const Instant middle{time.bounds.start.microseconds +
                       (time.bounds.end.microseconds - time.bounds.start.microseconds) / 2};
  switch (choice.time) {
    case TimePosition::automatic:
      if (has_bounds_) at = middle;
      break;
    case TimePosition::start:
      at = has_bounds_ ? time.bounds.start : time.window.start;
      break;
    case TimePosition::middle:
      if (has_bounds_) at = middle;
      break;
    case TimePosition::end:
      if (has_bounds_) at = time.bounds.end;
      break;
  }
  if (choice.climatology) {  // in the first of the years
    const Window first = nth(plan_.clocks, file_.clock).beginning(time.window.start);
    at = {first.start.microseconds + (first.end.microseconds - first.start.microseconds) / 2};
  }
  for (const int variable : numbers_.time)
    put_doubles(variable, {time_value(at)}, {}, record);
  const double start = time_value(time.bounds.start), end = time_value(time.bounds.end);
  for (const int variable : numbers_.bounds)
    put_doubles(variable, {start, end}, {2}, record);
  const double averages[] = {start, end, cf_value(choice.time_units, time.bounds.end, time.bounds.start)};
  for (std::size_t i = 0; i < numbers_.averages.size(); ++i)
    put_doubles(numbers_.averages[i], {averages[i]}, {}, record);
}

RecordFile::Numbers RecordFile::find_numbers() const {
  Numbers found;
  std::vector<std::string> groups = file_.level_groups();
  groups.insert(groups.begin(), "");
  for (const std::string& group : groups) {
    found.time.push_back(dataset_->variable(group + "time"));
    if (has_bounds_) found.bounds.push_back(dataset_->variable(group + bounds_name()));
  }
  if (has_bounds_ && file_.choice.fms_attributes)
    for (const char* name : k_averages)
      found.averages.push_back(dataset_->variable(name));
  for (const Output& output : file_.outputs) {
    found.outputs.push_back(dataset_->variable(output.name));
    found.coarser.emplace_back();
    for (const Output& coarser : output.coarser)
      found.coarser.back().push_back(dataset_->variable(coarser.name));
  }
  return found;
}

void RecordFile::write(const RecordTime& time, const std::vector<Values>& values) {
  had_record_ = true;
  if (dataset_ != nullptr && !(period_of(time.window.start) == period_)) close();
  try {
    if (dataset_ == nullptr) open(time.window);
    const std::int64_t record = record_of(time);
    changed_ = true;
    std::vector<OutOfRange> unpackable;
    for (const Values& one : values) {
      unpackable.push_back(write_output(one, record));
      if (!one.output->coarser.empty()) write_coarser(one, record);
    }
    check_packed(values, unpackable);
  } catch (const Error& e) {
    throw e.in_file(path_);
  }
}

void RecordFile::check_packed(const std::vector<Values>& values, const std::vector<OutOfRange>& found) const {
  std::vector<std::int64_t> counts;
  for (const OutOfRange& one : found)
    counts.push_back(one.count);
  if (std::none_of(values.begin(), values.end(),
                   [&](const Values& one) { return encoding_of(*one.output).packing; }))
    return;
  counts = comm_.sum(std::move(counts));
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (counts[i] == 0) continue;
    constexpr double none = -std::numeric_limits<double>::infinity();
    const double highest = comm_.max(found[i].count > 0 ? found[i].highest : none),
                 lowest = -comm_.max(found[i].count > 0 ? -found[i].lowest : none);
    const Output& output = *values[i].output;
    const Encoding& encoding = encoding_of(output);
    const std::string why = fmt::format(
        "{} of its values, of {} to {}, do not fit type {}, which has {}; their cells have the fill value",
        counts[i], lowest, highest, text_of(encoding), packer_of(encoding, nullptr).range_text());
    const Settings& settings = dataset_->settings();
    if (settings.is_default("pack_out_of_range") || settings.text("pack_out_of_range") == "error")
      throw Error(Code::range, "{}", why).of_variable(output.name);
    tell(comm_, fmt::format("{}: variable '{}': {}", path_, output.name, why));
  }
}

OutOfRange RecordFile::write_output(const Values& values, std::int64_t record) {
  const Output& output = *values.output;
  const Encoding& encoding = encoding_of(output);
  Collector& collector = *values.collector;
  const Part& part = *collector.part;
  const auto decomposition = output.is_cut ? part.decomposition() : nullptr;
  const Source& source = plan_.source_of(collector);
  // As they are, unless cells without a value get another fill value.
  if (collector.kept != nullptr && !values.filled && !output.reducer && output.interpolation == nullptr &&
      !encoding.packing && source.expression == nullptr &&
      (!source.like.missing ||
       (collector.kept->type() == encoding.type && is_same_number(collector.kept->fill(), encoding.fill)))) {
    write_array(number_of(output), decomposition, collector.kept->view(), record);
    return {};
  }
  if (is_written_whole(values)) {
    write_whole(values, record);
    return {};
  }
  const bool is_ready = output.reducer || output.interpolation != nullptr;
  const std::vector<double> ready = output.reducer ? reduced(values)
                                    : is_ready     ? interpolated(values)
                                                   : std::vector<double>();
  Dims shape = output.reducer ? output.reducer->shape() : part.local_shape();
  if (output.interpolation != nullptr) shape[output.vertical] = output.interpolation->targets();
  const std::int64_t cells = volume(shape);
  const Dims extents = output.operation.bins > 0 ? joined(Dims{output.operation.bins}, shape) : shape;
  // Made as they are asked for, so that no copy of the field is there.
  const auto make = [&](std::int64_t first, std::int64_t n, double* out) {
    for (; n > 0;) {
      const std::int64_t cell = first % cells, here = std::min(n, cells - cell);
      if (is_ready)
        std::copy_n(ready.begin() + first, here, out);
      else
        values_of(values, static_cast<int>(first / cells), cell, here, out);
      first += here, n -= here, out += here;
    }
  };
  OutOfRange unpackable;
  std::optional<Packer> packer;
  if (encoding.packing) packer = packer_of(encoding, &unpackable);
  const auto stored = [&](std::int64_t first, std::int64_t n, double* out) {
    make(first, n, out);
    if (packer) packer->pack(out, n);
  };
  write_array(number_of(output), decomposition, made_array<double>(Type::double_, extents, stored), record);
  return unpackable;
}

// Cells without a value have the fill value; of what is packed, NaN, as has land, which may have anything.
void RecordFile::values_of(const Values& values, int bin, std::int64_t first, std::int64_t n,
                           double* out) const {
  const Output& output = *values.output;
  const Encoding& encoding = encoding_of(output);
  const Part& part = *values.collector->part;
  const double fill = encoding.packing ? std::numeric_limits<double>::quiet_NaN() : encoding.fill;
  if (values.filled)
    std::fill_n(out, n, fill);
  else
    cells_of(*values.collector, output.operation.operation, output.operation.bins > 0 ? bin : values.state,
             fill, first, n, out);
  for (std::int64_t i = 0; encoding.packing && i < n; ++i)
    if (part.is_masked(first + i)) out[i] = fill;
}

void RecordFile::cells_of(const Collector& collector, Operation operation, int state, double fill,
                          std::int64_t first, std::int64_t n, double* out) const {
  if (collector.accumulator != nullptr)
    return collector.accumulator->result(operation, state, fill, first, n, out);
  const KeptValues& kept = *collector.kept;
  kept.as_doubles(first, n, out);
  const Field& like = plan_.source_of(collector).like;
  for (std::int64_t i = 0; like.missing && i < n; ++i)
    if (is_missing(out[i], like.type, kept.fill(), like.type)) out[i] = fill;
}

std::vector<double> RecordFile::interpolated(const Values& values) const {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const Output& output = *values.output;
  const Encoding& encoding = encoding_of(output);
  const Part& part = *values.collector->part;
  const Dims& shape = part.local_shape();
  Dims made = shape;
  made[output.vertical] = output.interpolation->targets();
  std::vector<double> out(static_cast<std::size_t>(volume(made)), none);
  if (!values.filled && part.cells() > 0) {
    std::vector<double> cells(static_cast<std::size_t>(part.cells())), levels;
    cells_of(*values.collector, output.operation.operation, values.state, none, 0, part.cells(),
             cells.data());
    if (values.levels != nullptr) {
      levels.resize(cells.size());
      cells_of(*values.levels, Operation::mean, values.state, none, 0, part.cells(), levels.data());
    }
    output.interpolation->run(ArrayView::contiguous(cells.data(), Type::double_, shape), output.vertical, {},
                              Type::double_, levels.empty() ? nullptr : levels.data(), out.data());
  }
  for (double& value : out)
    if (!encoding.packing && std::isnan(value)) value = encoding.fill;
  return out;
}

std::vector<double> RecordFile::reduced(const Values& values) const {
  const Output& output = *values.output;
  const Encoding& encoding = encoding_of(output);
  const double fill = encoding.packing ? std::numeric_limits<double>::quiet_NaN() : encoding.fill;
  const Accumulator* accumulator = values.collector->accumulator.get();
  const std::int64_t part_cells = values.collector->part->cells();
  std::vector<double> all;
  for (int bin = 0; bin < std::max(1, output.operation.bins); ++bin) {
    if (values.filled) {
      all.insert(all.end(), static_cast<std::size_t>(volume(output.reducer->shape())), fill);
      continue;
    }
    const int state = output.operation.bins > 0 ? bin : values.state;
    std::vector<double> cells(static_cast<std::size_t>(part_cells));
    std::function<bool(std::int64_t)> counts;
    if (accumulator != nullptr) {
      accumulator->result(output.operation.operation, state, fill, 0, part_cells, cells.data());
      counts = [&](std::int64_t cell) {  // a count of 0 is a value
        return output.operation.operation == Operation::count || accumulator->has_value(state, cell);
      };
    } else {
      const KeptValues& kept = *values.collector->kept;
      kept.as_doubles(0, part_cells, cells.data());
      counts = [&](std::int64_t cell) {
        const Field& like = plan_.source_of(*values.collector).like;
        return !like.missing || !is_missing(nth(cells, cell), like.type, kept.fill(), like.type);
      };
    }
    const auto found = output.reducer->reduce(comm_, cells, counts, fill);
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

/// In the type of the field, as doubles would round it?
bool RecordFile::is_written_whole(const Values& values) const {
  const Output& output = *values.output;
  const Encoding& encoding = encoding_of(output);
  return values.collector->accumulator != nullptr && !values.filled && !output.reducer &&
         output.interpolation == nullptr && output.operation.operation != Operation::range &&
         !encoding.packing && values.collector->accumulator->is_whole(output.operation.operation) &&
         values.collector->accumulator->type() == encoding.type;
}

void RecordFile::write_whole(const Values& values, std::int64_t record) {
  const Output& output = *values.output;
  const Accumulator& accumulator = *values.collector->accumulator;
  const Encoding& encoding = encoding_of(output);
  const auto make = [&](std::int64_t first, std::int64_t n, std::int64_t* out) {
    accumulator.whole_result(output.operation.operation, values.state, encoding.fill, first, n, out);
  };
  write_array(number_of(output), output.is_cut ? accumulator.part().decomposition() : nullptr,
              made_array<std::int64_t>(encoding.type, accumulator.part().local_shape(), make), record);
}

DataCall RecordFile::call_of(int variable, const std::shared_ptr<const Decomposition>& decomposition,
                             const CellArray& cells, std::int64_t record) {
  DataCall call;
  call.variable = variable;
  call.decomposition = decomposition;
  call.array.cells = cells;
  call.section.record = record;
  return call;
}

void RecordFile::write_array(int variable, const std::shared_ptr<const Decomposition>& decomposition,
                             const CellArray& cells, std::int64_t record) {
  const DataCall call = call_of(variable, decomposition, cells, record);
  if (decomposition != nullptr)
    dataset_->write(call);
  else
    dataset_->put(call);
}

void RecordFile::put_doubles(int variable, std::vector<double> values, const Dims& extents,
                             std::int64_t record) {
  write_array(variable, nullptr, ArrayView::contiguous(values.data(), Type::double_, extents), record);
}

void RecordFile::commit() {
  if (dataset_ == nullptr || !changed_) return;
  changed_ = false;
  try {
    dataset_->sync(false);
  } catch (const Error& e) {
    // Records that could not be stored are taken back.
    records_ = std::min(records_, dataset_->num_records("time"));
    recent_.clear();
    throw e.in_file(path_);
  }
}

void RecordFile::end_step() {
  if (dataset_ == nullptr) return;
  // Its last window may end behind its period.
  if (nth(plan_.clocks, file_.clock).next_start() >= period_.end)
    close();
  else if (file_.choice.commit == Commit::record)
    commit();
}

void RecordFile::close() {
  if (dataset_ == nullptr) return;
  written_.emplace_back(path_, records_);
  if (records_ < replaced_)
    shorter_.push_back(
        fmt::format("{} ({} record{}, before {})", path_, records_, records_ == 1 ? "" : "s", replaced_));
  replaced_ = 0;
  changed_ = false;
  maker_.close(std::move(dataset_));
}

}  // namespace shoal::streams
