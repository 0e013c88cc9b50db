// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/next_records.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace shoal {

void NextRecords::start(const Schema& schema) {
  whole_.clear();
  for (const auto& dim : schema.dims)
    whole_.push_back(dim.length);
  last_.clear();
  unknown_.clear();
  step_.reset();
}

void NextRecords::settle(const Schema& schema) {
  for (const int v : unknown_)
    last_[v] = schema.dim(schema.variable(v).dims.front()).length - 1;
  unknown_.clear();
}

void NextRecords::check_known() const {
  if (!unknown_.empty())
    throw Error(Code::state,
                "all records of a variable were put, and rank 0 alone knows how many: call sync before the "
                "number of records, or SHOAL_NEXT, is used");
}

std::int64_t NextRecords::begin_step(const Schema& schema) {
  check_known();
  const int dim = record_dim_of(schema);
  if (dim < 0)
    throw Error(Code::invalid_argument,
                "the file has no record dimension, along which steps go; define an unlimited one first");
  step_ = {dim, schema.dim(dim).length};
  return step_->record;
}

std::int64_t NextRecords::of(const Schema& schema, int variable) const {
  check_known();
  const int of_records = schema.variable(variable).dims.front();
  if (step_ && step_->dim == of_records) return step_->record;
  const auto dim = static_cast<std::size_t>(of_records);
  const std::int64_t length = schema.dims[dim].length;
  const std::int64_t whole = dim < whole_.size() ? whole_[dim] : 0;
  const auto last = last_.find(variable);
  const std::int64_t written = last == last_.end() ? whole : last->second + 1;
  return length > whole && written < length ? length - 1 : length;
}

void NextRecords::note(const Schema& schema, int variable, const Box& region) {
  if (!schema.has_record(variable) || region.rank() == 0 || region.count[0] == 0) return;
  const std::int64_t record = region.end(0) - 1;
  auto& last = last_.try_emplace(variable, record).first->second;
  last = std::max(last, record);
}

int record_dim_of(const Schema& schema) {
  std::set<int> in_front, unlimited;
  for (int v = 0; v < static_cast<int>(schema.variables.size()); ++v)
    if (schema.has_record(v)) in_front.insert(schema.variable(v).dims.front());
  for (int d = 0; d < static_cast<int>(schema.dims.size()); ++d)
    if (schema.dim(d).unlimited) unlimited.insert(d);
  const auto& found = in_front.empty() ? unlimited : in_front;
  if (found.size() > 1) {
    std::string names;
    for (const int d : found)
      names += fmt::format("{}{}'", names.empty() ? "'" : ", '", schema.dim(d).name);
    throw Error(Code::invalid_argument,
                "the file has several record dimensions, {}; name a variable whose records are meant", names);
  }
  return found.empty() ? -1 : *found.begin();
}

}  // namespace shoal
