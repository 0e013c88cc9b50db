// SPDX-License-Identifier: BSD-3-Clause
#include "driver/records/record_fill_tracker.hpp"

#include <algorithm>
#include <utility>

#include "decomp/partition.hpp"

namespace shoal {

namespace {
/// A fixed variable is one record.
std::int64_t records_of(const Schema& schema, int variable) {
  if (!schema.has_record(variable)) return 1;
  return schema.shape(variable)[0];
}

Box record_box(const Schema& schema, int variable, std::int64_t record) {
  Box box = Box::whole(schema.shape(variable));
  if (schema.has_record(variable)) {
    box.first[0] = record;
    box.count[0] = 1;
  }
  return box;
}
}  // namespace

void RecordFillTracker::start(const Schema& schema) {
  variables_.clear();
  for (int v = 0; v < static_cast<int>(schema.variables.size()); ++v)
    variables_.push_back({records_of(schema, v), {}});
}

void RecordFillTracker::add_variables(const Schema& schema) {
  variables_.resize(schema.variables.size());
}

void RecordFillTracker::touch(const Schema& schema, int variable, const Box& region) {
  Notes& notes = variables_[variable];
  const bool has_record = schema.has_record(variable);
  const std::int64_t first = has_record ? region.first[0] : 0;
  const std::int64_t last = has_record ? region.end(0) : 1;
  for (std::int64_t r = std::max(first, notes.all_below); r < last; ++r) {
    const Box record = record_box(schema, variable, r);
    if (r == notes.all_below && region.contains(record)) {  // the usual case keeps no list
      notes.partly.erase(r);
      ++notes.all_below;
    } else {
      notes.partly[r].push_back(intersection(region, record));
    }
  }
}

void RecordFillTracker::cut(const Schema& schema) {
  for (int v = 0; v < static_cast<int>(variables_.size()); ++v) {
    if (!schema.has_record(v)) continue;
    Notes& notes = variables_[v];
    const std::int64_t records = records_of(schema, v);
    notes.all_below = std::min(notes.all_below, records);
    notes.partly.erase(notes.partly.lower_bound(records), notes.partly.end());
  }
}

std::vector<RecordFillTracker::Gap> RecordFillTracker::take_gaps(const Schema& schema) {
  std::vector<Gap> gaps;
  for (int v = 0; v < static_cast<int>(variables_.size()); ++v) {
    Notes& notes = variables_[v];
    const VariableDef& variable = schema.variable(v);
    const std::int64_t records = records_of(schema, v);
    if ((variable.distributed || every_variable_) && !variable.no_fill && variable.type != Type::string)
      for (std::int64_t r = notes.all_below; r < records; ++r)
        for (const auto& box : remainder(record_box(schema, v, r), notes.partly[r]))
          gaps.push_back({v, box});
    if (records >= notes.all_below) notes = {records, {}};
  }
  return gaps;
}

void RecordFillTracker::put_back(const Schema& schema, const Gap& gap) {
  Notes& notes = variables_[gap.variable];
  const bool has_record = schema.has_record(gap.variable);
  const std::int64_t first = has_record ? gap.cells.first[0] : 0;
  const std::int64_t last = has_record ? gap.cells.end(0) : 1;
  for (; notes.all_below > first; --notes.all_below) {
    const std::int64_t r = notes.all_below - 1;
    notes.partly[r] = {record_box(schema, gap.variable, r)};
  }
  for (std::int64_t r = first; r < last; ++r) {
    std::vector<Box> left;
    for (const Box& written : notes.partly[r])
      for (const Box& rest : remainder(written, {gap.cells}))
        left.push_back(rest);
    notes.partly[r] = std::move(left);
  }
}

std::vector<Box> RecordFillTracker::gaps_in(const Schema& schema, int variable, const Box& box) const {
  const Notes& notes = variables_[variable];
  const VariableDef& definition = schema.variable(variable);
  if (definition.no_fill || definition.type == Type::string) return {};
  const bool has_record = schema.has_record(variable);
  const std::int64_t end = has_record ? box.end(0) : 1;
  std::vector<Box> gaps;
  for (std::int64_t r = std::max(has_record ? box.first[0] : 0, notes.all_below); r < end; ++r) {
    const auto written = notes.partly.find(r);
    const Box record = intersection(record_box(schema, variable, r), box);
    const auto found =
        remainder(record, written == notes.partly.end() ? std::vector<Box>{} : written->second);
    gaps.insert(gaps.end(), found.begin(), found.end());
  }
  return gaps;
}

}  // namespace shoal
