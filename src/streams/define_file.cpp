// SPDX-License-Identifier: BSD-3-Clause
// What stands in a file beside its records: dimensions, coordinates, attributes, as CF has them.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/error.hpp"
#include "format/group_paths.hpp"
#include "streams/nth.hpp"
#include "streams/record_file.hpp"
#include "streams/select.hpp"

namespace shoal::streams {

namespace {

constexpr const char* k_conventions = "CF-1.8";

std::string day_dim(int bins) {
  return fmt::format("time_of_day_{}", bins);
}

std::string names_of(const std::vector<DimChoice>& dims, const std::string& group = {}) {
  std::string text;
  for (const DimChoice& dim : dims)
    text += " " + group + dim.name_in_file();
  return text;
}

}  // namespace

void RecordFile::put_att(const char* variable, const Attribute& attribute) {
  dataset_->put_att(variable, attribute.name, attribute.type, attribute.count, attribute.values.data());
}

void RecordFile::put_text(const char* variable, const char* name, const std::string& text) {
  put_att(variable, text_attribute(name, text));
}

// A file that goes on has most of it already; a configuration that was changed may add variables, with their
// coordinates.
void RecordFile::define() {
  std::vector<Coordinate> added = coordinates();
  std::erase_if(added, [&](const Coordinate& one) { return has(one.name); });
  const bool is_new = !has("time");
  if (is_new)
    define_attributes();
  else
    compare_with_file();
  define_dims();
  if (is_new) define_time("");
  for (const std::string& group : file_.level_groups())
    if (is_new) define_time(group);
  for (const int bins : bins_)
    define_hours(bins);
  for (const DimChoice& dim : dims_)
    define_axis(dim);
  for (const DimChoice& dim : scalars_)
    define_scalar(dim);
  define_grids();
  define_sites();
  define_coarse_variables();
  for_each_output([&](const Output& output) { define_output(output); });
  if (!is_new && added.empty()) return;
  dataset_->end_define();
  for (Coordinate& one : added)
    write_array(dataset_->variable(one.name), one.decomposition, view_of(one), k_no_record);
}

ArrayView RecordFile::view_of(Coordinate& coordinate) {
  if (!coordinate.text.empty())
    return ArrayView::contiguous(coordinate.text.data(), Type::char_, coordinate.extents);
  return ArrayView::contiguous(coordinate.values.data(), Type::double_, coordinate.extents);
}

void RecordFile::define_attributes() {
  Attributes global = model_.attributes();
  for (const auto& given : file_.choice.attributes) {
    std::erase_if(global, [&](const Attribute& other) { return other.name == given.name; });
    global.push_back(attribute_of(given));
  }
  if (const char* type = feature_type(); type != nullptr && find(global, "featureType") == nullptr)
    put_text(nullptr, "featureType", type);
  if (find(global, "Conventions") == nullptr) put_text(nullptr, "Conventions", k_conventions);
  for (Attribute& given : multiscales_attributes(file_)) {
    std::erase_if(global, [&](const Attribute& other) { return other.name == given.name; });
    global.push_back(std::move(given));
  }
  for (const Attribute& attribute : global)
    put_att(nullptr, attribute);
}

void RecordFile::define_dims() {
  const auto define_dim = [&](const std::string& name, std::int64_t length) {
    if (dataset_->schema().find_dim(name) < 0) dataset_->def_dim(name, length);
  };
  define_dim("time", 0);
  for (const int bins : bins_)
    define_dim(day_dim(bins), bins);
  for (const DimChoice& dim : dims_)
    define_dim(dim.name_in_file(), dim.chosen());
  define_site_dims();
  const bool has_axis_bounds = std::any_of(dims_.begin(), dims_.end(), [&](const DimChoice& dim) {
    const Axis* axis = axis_of(model_, dim);
    return axis != nullptr && !axis->bounds.empty();
  });
  if (has_bounds_ || has_axis_bounds || !bins_.empty() || !scalars_.empty()) define_dim("bnds", 2);
}

void RecordFile::define_time(const std::string& group) {
  const FileChoice& choice = file_.choice;
  const std::string time = group + "time", bounds = group + bounds_name();
  const std::string units = cf_units(choice.time_units, time_.calendar, file_.time_origin);
  dataset_->def_var(time, Type::double_, "time", nullptr);
  put_text(time.c_str(), "standard_name", "time");
  put_text(time.c_str(), "long_name", "time");
  put_text(time.c_str(), "units", units);
  put_text(time.c_str(), "calendar", time_.calendar.name());
  put_text(time.c_str(), "axis", "T");
  if (has_bounds_) {
    put_text(time.c_str(), choice.climatology ? "climatology" : "bounds", bounds_name());
    dataset_->def_var(bounds, Type::double_, "time bnds", nullptr);
  }
  if (has_bounds_ && choice.fms_attributes && group.empty()) {
    const std::array<std::string, 3> about = {"start time for average period", "end time for average period",
                                              "length of average period"},
                                     unit = {units, units, units.substr(0, units.find(' '))};
    for (std::size_t i = 0; i < k_averages.size(); ++i) {
      dataset_->def_var(k_averages[i], Type::double_, "time", nullptr);
      put_text(k_averages[i], "long_name", about[i]);
      put_text(k_averages[i], "units", unit[i]);
    }
  }
}

void RecordFile::define_hours(int bins) {
  const std::string name = day_dim(bins), bounds = name + "_bounds";
  if (has(name)) return;
  dataset_->def_var(name, Type::double_, name, nullptr);
  put_text(name.c_str(), "long_name", "time of day");
  put_text(name.c_str(), "units", "hours");
  put_text(name.c_str(), "bounds", bounds);
  dataset_->def_var(bounds, Type::double_, name + " bnds", nullptr);
}

void RecordFile::define_axis(const DimChoice& dim) {
  const Axis* axis = axis_of(model_, dim);
  const std::string name = dim.name_in_file(), bounds = name + "_bounds";
  if (axis == nullptr || axis->type == Type::none || has(name)) return;
  dataset_->def_var(name, axis->type, "\"" + name + "\"", nullptr);
  for (const Attribute& attribute : axis->attributes)
    put_att(name.c_str(), attribute);
  if (axis->bounds.empty()) return;
  put_text(name.c_str(), "bounds", name_in_group(bounds));
  dataset_->def_var(bounds, axis->type, name + " bnds", nullptr);
}

/// The scalar coordinate of a dimension that is joined: from where to where its cells were.
void RecordFile::define_scalar(const DimChoice& dim) {
  const std::string name = dim.name_in_file(), bounds = name + "_bounds";
  if (has(name)) return;
  dataset_->def_var(name, Type::double_, "", nullptr);
  for (const Attribute& attribute : model_.axis(dim.name)->attributes)
    put_att(name.c_str(), attribute);
  put_text(name.c_str(), "bounds", bounds);
  dataset_->def_var(bounds, Type::double_, "bnds", nullptr);
}

void RecordFile::define_grids() {
  for (const auto& [grid, part, suffix, group] : file_.grids)
    for (const GridVariable& variable : model_.grid_variables()) {
      const std::string name = group + variable.name + suffix;
      if (variable.grid != grid || has(name)) continue;
      dataset_->def_var(name, variable.type, names_of(part->choices(), group), part->decomposition());
      if (variable.is_area && find(variable.attributes, "standard_name") == nullptr)
        put_text(name.c_str(), "standard_name", "cell_area");
      for (const Attribute& attribute : variable.attributes)
        put_att(name.c_str(), attribute);
    }
}

std::string RecordFile::dims_of(const Output& output) {
  std::string dims = "time";
  if (output.operation.bins > 0) dims += " " + day_dim(output.operation.bins);
  return dims + names_of(output.dims);
}

void RecordFile::define_output(const Output& output) {
  if (has(output.name)) return;
  const Collector& collector = nth(plan_.collectors, output.collector);
  const auto cut = output.is_cut ? collector.part->decomposition() : nullptr;
  dataset_->def_var(output.name, output.encoding.type, dims_of(output),
                    output.coarse != nullptr ? output.coarse : cut);
  dataset_->def_fill(output.name, Type::double_, &output.encoding.fill);
  for (const Attribute& attribute : output.attributes)
    put_att(output.name.c_str(), attribute);
  if (file_.choice.fms_attributes && output.operation.operation != Operation::instant)
    put_text(output.name.c_str(), "time_avg_info", "average_T1,average_T2,average_DT");
}

std::vector<RecordFile::Coordinate> RecordFile::coordinates() const {
  std::vector<Coordinate> out;
  const auto add = [&](const std::string& name, std::vector<double> values, const Dims& extents) {
    out.push_back({name, std::move(values), extents, nullptr});
  };
  for (const int bins : bins_) {
    std::vector<double> hours, bounds;
    for (int bin = 0; bin < bins; ++bin) {
      hours.push_back(24.0 * (bin + 0.5) / bins);
      bounds.push_back(24.0 * bin / bins);
      bounds.push_back(24.0 * (bin + 1) / bins);
    }
    add(day_dim(bins), hours, {bins});
    add(day_dim(bins) + "_bounds", bounds, {bins, 2});
  }
  for (const DimChoice& dim : scalars_) {
    const auto [first, last] = extent_of(*model_.axis(dim.name), dim);
    add(dim.name_in_file(), {first + (last - first) / 2}, {});
    add(dim.name_in_file() + "_bounds", {first, last}, {2});
  }
  for (const DimChoice& dim : dims_) {
    const Axis* axis = axis_of(model_, dim);
    if (axis == nullptr || axis->type == Type::none) continue;
    std::vector<double> values, bounds;
    for (std::int64_t i = 0; i < dim.chosen(); ++i) {
      const auto cell = static_cast<std::size_t>(dim.cell(i));
      values.push_back(axis->values[cell]);
      if (axis->bounds.empty()) continue;
      bounds.push_back(axis->bounds[2 * cell]);
      bounds.push_back(axis->bounds[2 * cell + 1]);
    }
    add(dim.name_in_file(), values, {dim.chosen()});
    if (!bounds.empty()) add(dim.name_in_file() + "_bounds", bounds, {dim.chosen(), 2});
  }
  for (const auto& [grid, part, suffix, group] : file_.grids)
    for (const GridVariable& variable : model_.grid_variables()) {
      if (variable.grid != grid) continue;
      const Decomposition& whole = *nth(model_.grids(), grid).decomposition;
      auto values = variable.values;
      out.push_back(
          {group + variable.name + suffix,
           part_values(*part, ArrayView::contiguous(values.data(), Type::double_, own_extents({}, &whole))),
           part->local_shape(), part->decomposition()});
    }
  add_sites(out);
  add_coarse_variables(out);
  return out;
}

}  // namespace shoal::streams
