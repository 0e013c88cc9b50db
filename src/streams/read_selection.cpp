// SPDX-License-Identifier: BSD-3-Clause
// Keys of a configuration that choose cells.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "streams/value_reader.hpp"

namespace shoal::streams {

namespace {

const std::vector<std::string> k_interpolate_keys = {"to", "dim", "levels", "name", "scale", "when"};
const std::vector<std::string> k_reduce_keys = {"dims", "operation", "weights"};

/// A number that is finite; otherwise 0, and not good.
double finite(const toml::node& node, bool& good) {
  const double value = node.is_number() ? node.value_or(0.0) : std::numeric_limits<double>::quiet_NaN();
  good = good && std::isfinite(value);
  return std::isfinite(value) ? value : 0;
}

}  // namespace

Region SelectionReader::region(const toml::node& node, const std::string& of) {
  Region out;
  const auto* table = node.as_table();
  if (table == nullptr || table->empty()) {
    problem(node, of, "is a table of coordinates: { lon = [140, 150], lat = [30, 40] }");
    return out;
  }
  for (const auto& [key, value] : *table) {
    const std::string name(key.str());
    const auto* ends = value.as_array();
    std::vector<double> numbers;
    for (std::size_t i = 0; ends != nullptr && i < ends->size(); ++i)
      if (ends->get(i)->is_number()) numbers.push_back(*ends->get(i)->value<double>());
    if (ends == nullptr || ends->size() != 2 || numbers.size() != 2 || !std::isfinite(numbers[0]) ||
        !std::isfinite(numbers[1]))
      problem(value, of + "." + name, "is the lowest and the highest value of a coordinate: [140, 150]");
    else
      out.push_back({name, numbers[0], numbers[1], line_of_node(value), of});
  }
  return out;
}

std::vector<NamedRegion> SelectionReader::regions(const toml::node& node) {
  std::vector<NamedRegion> out;
  const auto* table = node.as_table();
  if (table == nullptr || table->empty()) {
    problem(
        node, "regions",
        "is a table of regions by their names: { north = { lat = [0, 90] }, south = { lat = [-90, 0] } }");
    return out;
  }
  for (const auto& [key, value] : *table) {
    const std::string name(key.str());
    out.push_back({name, region(value, "regions." + name), line_of_node(value)});
    if (name.empty() || name.find_first_of(" /\"") != std::string::npos)
      problem(value, "regions", fmt::format("'{}' is no end for names of variables", name));
  }
  std::sort(out.begin(), out.end(), [](const NamedRegion& a, const NamedRegion& b) {
    return std::pair(a.line, a.name) < std::pair(b.line, b.name);
  });
  return out;
}

/// Of a table with the coordinates of a place; a problem unless it has those of the places before it.
bool SelectionReader::add_place(const toml::node& node, SiteChoice& out) {
  const auto* table = node.as_table();
  SiteChoice::Place place;
  std::vector<std::string> coordinates;
  bool good = table != nullptr;
  for (std::size_t i = 0; good && i < out.coordinates.size(); ++i)
    good = table->contains(out.coordinates[i]);
  if (good)
    for (const auto& [key, value] : *table) {
      const std::string name(key.str());
      if (name == "name") {
        place.name = text(value, "at.name");
        continue;
      }
      coordinates.push_back(name);
      place.at.push_back(finite(value, good));
    }
  if (out.coordinates.empty()) out.coordinates = coordinates;
  good = good && !coordinates.empty() && coordinates == out.coordinates;
  if (good) out.places.push_back(std::move(place));
  return good;
}

std::optional<SiteChoice> SelectionReader::at(const toml::node& node) {
  SiteChoice out;
  out.line = line_of_node(node);
  bool good = true;
  if (node.is_string()) {
    out.path = text(node, "at");
    good = !out.path.empty();
  } else if (const auto* list = node.as_array()) {
    good = !list->empty();
    for (const auto& item : *list)
      good = good && add_place(item, out);
  } else {
    good = add_place(node, out);
  }
  if (good) return out;
  problem(
      node, "at",
      "is a place, { lon = 205.0, lat = 20.5 }, a list of such, which may have names, or the path of a table "
      "in CSV; all have the same coordinates");
  return {};
}

std::optional<SiteChoice> SelectionReader::section(const toml::node& node) {
  SiteChoice out;
  out.is_section = true;
  out.line = line_of_node(node);
  const auto* table = node.as_table();
  bool good = table != nullptr;
  if (good)
    for (const auto& [key, value] : *table) {
      const std::string name(key.str());
      if (name == "spacing") {
        out.spacing = number(value, "section.spacing");
        if (out.spacing && *out.spacing <= 0) problem(value, "section.spacing", "is more than 0");
        continue;
      }
      const auto* list = value.as_array();
      good = good && list != nullptr && list->size() >= 2 &&
             (out.coordinates.empty() || list->size() == out.places.size());
      if (!good) break;
      out.places.resize(list->size());
      out.coordinates.push_back(name);
      for (std::size_t i = 0; i < list->size(); ++i)
        out.places[i].at.push_back(finite(*list->get(i), good));
    }
  if (good && !out.coordinates.empty()) return out;
  problem(
      node, "section",
      "is a line by the coordinates of its ends, and of where it turns: { lon = [130, 280], lat = [0, 0] }");
  return {};
}

std::vector<IndexRange> SelectionReader::indices(const toml::node& node) {
  std::vector<IndexRange> out;
  const auto* table = node.as_table();
  if (table == nullptr || table->empty()) {
    problem(node, "indices", "is a table of dimensions: { x = [0, 100], y = [0, 50, 2] }");
    return out;
  }
  for (const auto& [key, value] : *table) {
    const std::string name(key.str());
    const auto numbers = integers(value, "indices." + name);
    if (numbers.empty()) continue;
    const std::int64_t stride = numbers.size() == 3 ? numbers[2] : 1;
    if (numbers.size() < 2 || numbers.size() > 3 || numbers[0] < 0 ||
        (numbers[1] != -1 && numbers[1] <= numbers[0]) || stride < 1)
      problem(value, "indices." + name,
              "is the first cell, from 0, the one behind the last (-1: the end), and may have a stride: "
              "[0, 100, 2]");
    else
      out.push_back({name, numbers[0], numbers[1], stride, line_of_node(value)});
  }
  return out;
}

void SelectionReader::one_levels(const toml::node& node, const std::string& dim, std::vector<Levels>& out) {
  Levels levels{dim, {}, line_of_node(node)};
  const std::string key = levels.key();
  levels.indices = integers(node, key);
  if (levels.indices.empty()) return;
  for (std::size_t i = 0; i < levels.indices.size(); ++i)
    if (levels.indices[i] < 0 || (i > 0 && levels.indices[i] <= levels.indices[i - 1]))
      return problem(node, key, "are cells of a dimension, from 0, ascending: [0, 10, 29]");
  out.push_back(std::move(levels));
}

std::vector<Levels> SelectionReader::levels(const toml::node& node) {
  std::vector<Levels> out;
  if (const auto* table = node.as_table()) {
    for (const auto& [key, value] : *table)
      one_levels(value, std::string(key.str()), out);
  } else {
    one_levels(node, "", out);
  }
  return out;
}

std::optional<InterpolationChoice> SelectionReader::interpolation(const toml::node& node) {
  const auto* table = node.as_table();
  if (table == nullptr) {
    problem(node, "interpolate", "is a table: { to = [0, 50, 100] }");
    return {};
  }
  check_keys(*table, k_interpolate_keys, "interpolate");
  InterpolationChoice out;
  out.line = line_of_node(node);
  const toml::node* to = table->get("to");
  const auto* list = to == nullptr ? nullptr : to->as_array();
  bool good = list != nullptr && !list->empty();
  for (std::size_t i = 0; good && i < list->size(); ++i) {
    out.to.push_back(finite(*list->get(i), good));
    good = good &&
           (i == 0 || (out.to[i] != out.to[i - 1] && (out.to[i] > out.to[i - 1]) == (out.to[1] > out.to[0])));
  }
  if (!good)
    problem(to == nullptr ? node : *to, "interpolate.to",
            "is a list of numbers that go up or down: [0, 50, 100]");
  for (const auto& [key, into] : {std::pair("dim", &out.dim), {"levels", &out.levels}, {"name", &out.name}})
    if (const auto* given = table->get(key)) *into = text(*given, std::string("interpolate.") + key);
  if (const auto* given = table->get("scale"))
    out.logarithmic = word<bool>(*given, "interpolate.scale", {{"linear", false}, {"logarithmic", true}});
  if (const auto* given = table->get("when"))
    out.after = word<bool>(*given, "interpolate.when", {{"before", false}, {"after", true}});
  if (out.logarithmic && std::any_of(out.to.begin(), out.to.end(), [](double level) { return level <= 0; }))
    problem(*to, "interpolate.to", "has numbers that are not above 0, of which there are no logarithms");
  return good ? std::optional(out) : std::nullopt;
}

std::optional<Reduction> SelectionReader::reduction(const toml::node& node) {
  const auto* table = node.as_table();
  if (table == nullptr) {
    problem(node, "reduce", "is a table: { dims = [\"lat\", \"lon\"], operation = \"mean\" }");
    return {};
  }
  check_keys(*table, k_reduce_keys, "reduce");
  Reduction out;
  out.line = out.dims_line = line_of_node(node);
  if (const auto* dims = table->get("dims")) {
    out.dims = texts(*dims, "reduce.dims");
    out.dims_line = line_of_node(*dims);
  }
  if (out.dims.empty()) problem(node, "reduce.dims", "names the dimensions over which cells are joined");
  if (const auto* what = table->get("operation"))
    out.operation = word<SpaceOperation>(*what, "reduce.operation",
                                         {{"mean", SpaceOperation::mean},
                                          {"sum", SpaceOperation::sum},
                                          {"minimum", SpaceOperation::minimum},
                                          {"maximum", SpaceOperation::maximum}});
  if (const auto* weights = table->get("weights"))
    out.weights = word<CellWeights>(*weights, "reduce.weights",
                                    {{"automatic", CellWeights::automatic}, {"none", CellWeights::none}});
  return out;
}
}  // namespace shoal::streams
