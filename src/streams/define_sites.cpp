// SPDX-License-Identifier: BSD-3-Clause
// Cells one by one in a file, as CF's discrete sampling geometries have them: what was asked for and found.
#include <fmt/core.h>

#include <algorithm>

#include "streams/nth.hpp"
#include "streams/record_file.hpp"

namespace shoal::streams {

namespace {

constexpr const char* k_name = "station_name";
constexpr const char* k_name_dim = "station_name_length";

std::string distance_of(const Sites& sites) {
  return std::string(sites.dim()) + "_distance";
}
std::string index_of(const Sites& sites, const std::string& dim) {
  return std::string(sites.dim()) + "_" + dim + "_index";
}
std::string asked_of(const std::string& coordinate) {
  return "station_" + coordinate + "_asked";
}
std::size_t longest_name(const Sites& sites) {
  std::size_t longest = 1;
  for (const Site& site : sites.sites)
    longest = std::max(longest, site.name.size());
  return longest;
}

}  // namespace

/// CF has one type for all variables of a file; nullptr: there is none.
const char* RecordFile::feature_type() const {
  if (file_.sites == nullptr || file_.sites->is_section) return nullptr;
  const auto all_have = [&](std::size_t dims) {
    return std::all_of(file_.outputs.begin(), file_.outputs.end(), [&](const Output& output) {
      return output.is_of_sites && output.dims.size() == dims && output.operation.bins == 0;
    });
  };
  return all_have(1) ? "timeSeries" : all_have(2) ? "timeSeriesProfile" : nullptr;
}

void RecordFile::define_site_dims() {
  if (file_.sites == nullptr || file_.sites->is_section || dataset_->schema().find_dim(k_name_dim) >= 0)
    return;
  dataset_->def_dim(k_name_dim, static_cast<std::int64_t>(longest_name(*file_.sites)));
}

void RecordFile::define_sites() {
  if (file_.sites == nullptr) return;
  const Sites& sites = *file_.sites;
  const auto define = [&](const std::string& name, Type type, const std::string& about,
                          const std::string& units) {
    if (has(name)) return false;
    dataset_->def_var(name, type, sites.dim(), nullptr);
    put_text(name.c_str(), "long_name", about);
    if (!units.empty()) put_text(name.c_str(), "units", units);
    return true;
  };
  const std::string length = sites.on_sphere ? "km" : "";
  if (sites.is_section) {
    define(sites.dim(), Type::double_, "distance along the line", length);
  } else if (!has(k_name)) {
    dataset_->def_var(k_name, Type::char_, std::string(sites.dim()) + " " + k_name_dim, nullptr);
    put_text(k_name, "long_name", "name of the place");
    put_text(k_name, "cf_role", "timeseries_id");
  }
  for (const std::string& dim : sites.dim_names) {
    define(index_of(sites, dim), Type::int_, "number of the cell along " + dim + ", from 0", "1");
    const Axis* axis = model_.axis(dim);
    if (axis == nullptr || axis->type == Type::none || has(dim)) continue;
    dataset_->def_var(dim, axis->type, sites.dim(), nullptr);
    for (const Attribute& attribute : axis->attributes)
      if (attribute.name != "axis") put_att(dim.c_str(), attribute);  // it is none in this file
  }
  if (sites.is_section) return;
  define(distance_of(sites), Type::double_,
         "distance from the place that was asked for to the middle of the cell", length);
  for (const std::string& coordinate : sites.coordinates) {
    const Axis* axis = model_.axis(coordinate);
    std::string units = axis != nullptr ? text_of(axis->attributes, "units") : "";
    for (const GridVariable& variable : model_.grid_variables())
      if (axis == nullptr && variable.name == coordinate) units = text_of(variable.attributes, "units");
    // Degrees of no direction, as the cells have the coordinates.
    if (sites.on_sphere) units = "degrees";
    define(asked_of(coordinate), Type::double_, coordinate + " of the place that was asked for", units);
  }
}

void RecordFile::add_sites(std::vector<Coordinate>& out) const {
  if (file_.sites == nullptr) return;
  const Sites& sites = *file_.sites;
  const auto n = static_cast<std::int64_t>(sites.sites.size());
  const auto add = [&](const std::string& name, auto&& value) {
    Coordinate one{name, {}, {n}, nullptr};
    for (const Site& site : sites.sites)
      one.values.push_back(value(site));
    out.push_back(std::move(one));
  };
  if (sites.is_section) out.push_back({sites.dim(), sites.along, {n}, nullptr});
  for (std::size_t k = 0; k < sites.dim_names.size(); ++k) {
    const std::string& dim = sites.dim_names[k];
    const auto index = [&](const Site& site) {
      return unravel(site.cell, sites.lengths)[static_cast<int>(k)];
    };
    add(index_of(sites, dim), [&](const Site& site) { return static_cast<double>(index(site)); });
    const Axis* axis = model_.axis(dim);
    if (axis != nullptr && axis->type != Type::none)
      add(dim, [&](const Site& site) { return nth(axis->values, index(site)); });
  }
  if (sites.is_section) return;
  add(distance_of(sites), [](const Site& site) { return site.distance; });
  for (std::size_t k = 0; k < sites.coordinates.size(); ++k)
    add(asked_of(sites.coordinates[k]), [&](const Site& site) { return site.asked[k]; });
  const std::size_t length = longest_name(sites);
  Coordinate names{k_name, {}, {n, static_cast<std::int64_t>(length)}, nullptr};
  for (const Site& site : sites.sites)
    names.text += site.name + std::string(length - site.name.size(), '\0');
  out.push_back(std::move(names));
}

}  // namespace shoal::streams
