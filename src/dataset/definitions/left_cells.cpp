// SPDX-License-Identifier: BSD-3-Clause
// Cells that a decomposition leaves out, as land or as nobody owns them, hold the fill value: the attribute
// _FillValue says so, though nobody defined it.
#include <fmt/core.h>

#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <utility>

#include "codec/convert.hpp"
#include "dataset/dataset.hpp"
#include "dataset/definitions/definitions.hpp"

namespace shoal {

namespace {

Attribute fill_value_of(const VariableDef& v) {
  return Attribute::numbers(k_fill_name, v.type, fill_of(v).data(), 1);
}

// The letter of NCO for a type.
const char* nco_type_of(Type type) {
  switch (type) {
    case Type::byte_:
      return "b";
    case Type::short_:
      return "s";
    case Type::int_:
      return "i";
    case Type::float_:
      return "f";
    case Type::ubyte:
      return "ub";
    case Type::ushort:
      return "us";
    case Type::uint:
      return "ui";
    case Type::int64:
      return "ll";
    case Type::uint64:
      return "ull";
    default:
      return "d";
  }
}

template <class Number>
std::string as_text(const VariableDef& v, Type type, const char* format) {
  Number value{};
  find_conversion({v.type, size_of(v.type), false}, {type, sizeof value, false})(
      fill_of(v).data(), 0, reinterpret_cast<std::byte*>(&value), 0, 1, nullptr);
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string fill_text(const VariableDef& v) {
  if (v.type == Type::uint64) return as_text<std::uint64_t>(v, v.type, "%" PRIu64);
  if (v.type == Type::float_) return as_text<double>(v, Type::double_, "%.9g");
  if (v.type == Type::double_) return as_text<double>(v, v.type, "%.17g");
  return as_text<std::int64_t>(v, Type::int64, "%" PRId64);
}

}  // namespace

// Text has none: what nobody wrote is \0, which ends it anyway, and readers make no text of cells that may
// be missing.
bool Definitions::lacks_fill_value(const VariableDef& v) const {
  return !keeps_unowned(defaults_.fill, v) && is_number(v.type) &&
         find_attribute(v.attributes, k_fill_name) == nullptr;
}

// In front, where readers of headers look for it.
void Definitions::describe_left_cells() {
  auto& variables = wanted().variables;
  for (auto v = static_cast<std::size_t>(variables_in_file_); v < variables.size(); ++v) {
    VariableDef& definition = variables[v];
    if (!decompositions_[v] || !decompositions_[v]->leaves_cells() || !lacks_fill_value(definition)) continue;
    definition.attributes.insert(definition.attributes.begin(), fill_value_of(definition));
    added_fill_.push_back(definition.name);
  }
}

bool Definitions::may_get_fill_value(int v) const {
  return v < variables_in_file_ && !dealt_with_.contains(v) && lacks_fill_value(schema().variable(v));
}

void Definitions::note_left_cells(int variable) {
  if (may_get_fill_value(variable)) left_.insert(variable);
}

std::vector<std::int64_t> Definitions::left_cells() const {
  std::vector<std::int64_t> marks;
  for (int v = 0; v < variables_in_file_; ++v)
    if (may_get_fill_value(v)) marks.push_back(left_.contains(v) ? 1 : 0);
  return marks;
}

std::pair<Schema, std::vector<int>> Definitions::with_fill_values(
    const std::vector<std::int64_t>& marked) const {
  std::pair<Schema, std::vector<int>> out{schema(), {}};
  std::size_t next = 0;
  for (int v = 0; v < variables_in_file_; ++v) {
    if (!may_get_fill_value(v) || marked[next++] == 0) continue;
    VariableDef& definition = out.first.variable(v);
    definition.attributes.push_back(fill_value_of(definition));
    out.second.push_back(v);
  }
  return out;
}

void Definitions::finish_left_cells(const std::vector<int>& variables, bool added) {
  left_.clear();
  dealt_with_.insert(variables.begin(), variables.end());
  for (const int v : variables)
    if (added) added_fill_.push_back(schema().variable(v).name);
}

// Variables that were in the file before they were written so: found there, or defined without a
// decomposition.
void Dataset::add_fill_values() {
  const auto marks = definitions_.left_cells();
  if (marks.empty()) return;
  const auto with_values = definitions_.with_fill_values(comm_.max(marks));
  const std::vector<int>& variables = with_values.second;
  if (variables.empty()) return;
  const Status added = caught([&] { driver_->define(with_values.first, cuts_in_file()); });
  definitions_.reset(driver_->schema());
  definitions_.finish_left_cells(variables, added.ok());
  if (added.ok()) return;
  for (const int v : variables) {
    const VariableDef& definition = schema().variable(v);
    const std::string value = fill_text(definition);
    warnings_.push_back(fmt::format(
        "variable '{}' was written with a decomposition that leaves cells out (land). They have the fill "
        "value {}, and no attribute _FillValue says so, as it could not be added: {}. Define the variable "
        "with its decomposition, or with a fill value, or add the attribute to the file when it is closed: "
        "ncatted -a _FillValue,{},c,{},{} FILE",
        definition.name, value, added.message, definition.name, nco_type_of(definition.type), value));
  }
}

}  // namespace shoal
