// SPDX-License-Identifier: BSD-3-Clause
// A file that goes on in the next job: its records keep their encoding, and mean what they meant.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.hpp"
#include "base/text.hpp"
#include "streams/nth.hpp"
#include "streams/record_file.hpp"

namespace shoal::streams {

namespace {

constexpr const char* k_advice = "let new records go to another file, or describe it as before";

Error differs(const std::string& there, const std::string& now) {
  return Error(Code::state, "the file goes on, where it has {}, and its description has {} now; {}", there,
               now, k_advice);
}

double number_of(Type type, const Bytes& data) {
  return with_number(type, [&](auto number) {
    std::memcpy(&number, data.data(), std::min(sizeof number, data.size()));
    return static_cast<double>(number);
  });
}

double number_there(const VariableDef& variable, const char* name, double otherwise) {
  const auto* found = find_attribute(variable.attributes, name);
  if (found == nullptr || !is_number(found->type) || found->count() != 1) return otherwise;
  return number_of(found->type, found->data);
}

std::string text_there(const VariableDef& variable, const char* name) {
  const auto* found = find_attribute(variable.attributes, name);
  if (found == nullptr || found->type != Type::char_) return {};
  return {reinterpret_cast<const char*>(found->data.data()), found->data.size()};
}

Encoding encoding_there(const VariableDef& variable) {
  Encoding out{variable.type, number_of(variable.type, fill_of(variable)), {}};
  if (packs_into(out.type) && (find_attribute(variable.attributes, "scale_factor") != nullptr ||
                               find_attribute(variable.attributes, "add_offset") != nullptr))
    out.packing = Packing{number_there(variable, "scale_factor", 1), number_there(variable, "add_offset", 0)};
  return out;
}

// As exactly as the type holds them, but for some last digits of the largest.
bool are_same_places(const std::vector<double>& there, const std::vector<double>& now, Type type) {
  constexpr double k_digits = 16;
  double largest = 0;
  for (const double value : now)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  const double exact =
      type == Type::float_ ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  return std::equal(there.begin(), there.end(), now.begin(), [&](double a, double b) {
    return is_same_number(a, b) || std::abs(a - b) <= k_digits * exact * largest;
  });
}

}  // namespace

const VariableDef& RecordFile::variable(const std::string& name) const {
  const Schema& schema = dataset_->schema();
  return schema.variable(schema.find_variable(name));
}

void RecordFile::compare_levels() const {
  const auto text = [](std::size_t levels) {
    return levels == 0 ? std::string("no pyramid") : fmt::format("a pyramid of {} levels", levels);
  };
  std::size_t there = 0;
  while (has(std::to_string(there) + "/time"))
    ++there;
  const std::size_t now = file_.level_groups().size();
  if (there != now) throw differs(text(there), text(now));
}

// Its configuration may be another one than that of the job before, and the model, too.
void RecordFile::compare_with_file() {
  compare_levels();
  for (const DimChoice& dim : dims_) {
    const Schema& schema = dataset_->schema();
    const int index = schema.find_dim(dim.name_in_file());
    if (index >= 0 && schema.dim(index).length != dim.chosen())
      throw differs(fmt::format("{} cells of '{}'", schema.dim(index).length, dim.name_in_file()),
                    std::to_string(dim.chosen()));
  }
  for_each_output([&](const Output& output) {
    if (has(output.name)) compare_output(output);
  });
  compare_time();
  compare_coordinates();
}

void RecordFile::compare_output(const Output& output) {
  const VariableDef& there = variable(output.name);
  std::string dims;
  for (const int d : there.dims)
    dims += (dims.empty() ? "" : " ") + dataset_->schema().dim(d).name;
  if (dims != dims_of(output))
    throw differs(fmt::format("the dimensions ({})", dims), fmt::format("({})", dims_of(output)))
        .of_variable(output.name);
  for (const char* name : {"units", "cell_methods"}) {
    const std::string before = text_there(there, name), now = text_of(output.attributes, name);
    if (before != now)
      throw differs(fmt::format("{} '{}'", name, before), fmt::format("'{}'", now)).of_variable(output.name);
  }
  keep_encoding(output, there);
  std::vector<std::string> others;
  for (const Attribute& attribute : output.attributes) {
    const auto* found = find_attribute(there.attributes, attribute.name);
    const bool is_packing = attribute.name == "scale_factor" || attribute.name == "add_offset";
    if (!(is_packing && output.encoding.packing) &&
        (found == nullptr || found->type != attribute.type || found->data != attribute.values))
      others.push_back(attribute.name);
  }
  if (!others.empty())
    tell(comm_, fmt::format("{}: variable '{}' goes on with the attributes that the file has; those of its "
                            "description ({}) hold from the next file on",
                            path_, output.name, joined(others, ", ")));
}

void RecordFile::keep_encoding(const Output& output, const VariableDef& there) {
  Encoding before = encoding_there(there);
  // Of a model that packs values itself.
  if (!output.encoding.packing && (find(output.attributes, "scale_factor") != nullptr ||
                                   find(output.attributes, "add_offset") != nullptr))
    before.packing.reset();
  if (before == output.encoding) return;
  if (!is_floating(before.type) && !before.packing && output.has_fractions)
    throw differs(fmt::format("type {}, which has no fractions", name_of(before.type)),
                  "values with fractions")
        .of_variable(output.name);
  const auto text = [](const Encoding& encoding) {
    return fmt::format("{}, _FillValue {}", text_of(encoding), encoding.fill);
  };
  tell(comm_, fmt::format("{}: variable '{}' goes on as {}, which it was when the file was made; its "
                          "description says {} now, which holds from the next file on",
                          path_, output.name, text(before), text(output.encoding)));
  kept_encodings_[output.name] = before;
}

void RecordFile::compare_time() const {
  const std::string units = cf_units(file_.choice.time_units, time_.calendar, file_.time_origin),
                    before = text_there(variable("time"), "units");
  if (before != units)
    throw differs(fmt::format("time in '{}'", before), fmt::format("'{}'", units)).of_variable("time");
  const std::pair<const char*, bool> variables[] = {
      {"time_bounds", has_bounds_ && !file_.choice.climatology},
      {"climatology_bounds", has_bounds_ && file_.choice.climatology},
      {"average_T1", has_bounds_ && file_.choice.fms_attributes}};
  for (const auto& [name, is_wanted] : variables)
    if (has(name) != is_wanted)
      throw differs(fmt::format("{} variable '{}'", is_wanted ? "no" : "a", name),
                    is_wanted ? "one" : "none");
}

// Collective: each rank looks at its own cells. Models that compute their coordinates get other last digits
// with another compiler or number of ranks.
void RecordFile::compare_coordinates() {
  std::vector<std::string> names;
  std::vector<std::int64_t> differ;
  for (const Coordinate& now : coordinates()) {
    if (!has(now.name)) continue;
    Coordinate there = now;  // cells of nobody stay
    const DataCall call =
        call_of(dataset_->variable(now.name), now.decomposition, view_of(there), k_no_record);
    if (now.decomposition != nullptr)
      dataset_->read(call);
    else
      dataset_->get(call);
    names.push_back(now.name);
    const bool same =
        there.text == now.text && are_same_places(there.values, now.values, variable(now.name).type);
    differ.push_back(same ? 0 : 1);
  }
  differ = comm_.max(std::move(differ));
  const auto first = std::find(differ.begin(), differ.end(), 1);
  if (first != differ.end())
    throw Error(Code::state, "the file goes on, where it has other values than this job would write; {}",
                k_advice)
        .of_variable(nth(names, first - differ.begin()));
}

}  // namespace shoal::streams
