// SPDX-License-Identifier: BSD-3-Clause
#include "streams/sites.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "base/error.hpp"
#include "base/text.hpp"
#include "streams/nearest.hpp"
#include "streams/nth.hpp"
#include "streams/part.hpp"

namespace shoal::streams {

namespace {

constexpr double k_earth_radius = 6371.0;  // km
constexpr double k_circle = 360.0;
constexpr double k_degree = 3.14159265358979323846 / 180.0;
constexpr std::int64_t k_no_cell = std::numeric_limits<std::int64_t>::min();
constexpr std::size_t k_first_samples = 64;
constexpr double k_most_samples = 1e6;

/// A coordinate of a grid: of an axis, or cut as the grid is.
struct Coordinate {
  const Axis* axis = nullptr;
  const GridVariable* variable = nullptr;
  int dim = -1;  ///< of an axis: of the grid
  const Attributes& attributes() const { return axis != nullptr ? axis->attributes : variable->attributes; }
};

std::optional<Coordinate> coordinate_of(const Descriptions& model, int grid, const std::string& name) {
  const auto& dims = nth(model.grids(), grid).dims;
  const auto dim = std::find(dims.begin(), dims.end(), name);
  const Axis* axis = model.axis(name);
  if (dim != dims.end() && axis != nullptr && !axis->values.empty())
    return Coordinate{axis, nullptr, static_cast<int>(dim - dims.begin())};
  for (const GridVariable& variable : model.grid_variables())
    if (variable.grid == grid && variable.name == name) return Coordinate{nullptr, &variable, -1};
  return std::nullopt;
}

/// The cells of this rank, and how far apart places are.
class Finder {
 public:
  Finder(const Comm& comm, const Descriptions& model, int grid, const SiteChoice& choice);
  const Sites& head() const { return head_; }
  /// The nearest cells. Collective.
  std::vector<Site> find(const std::vector<SiteChoice::Place>& places) const;
  /// From each of these cells to the nearest other one, the shortest; 0: there is no other. Collective.
  double shortest_step(const std::vector<Site>& sites) const;
  double distance(const std::vector<double>& a, const std::vector<double>& b) const;

 private:
  struct Cell {
    std::int64_t number = 0;
    std::vector<double> at;
  };
  void take_cells(const Comm& comm, const Descriptions& model, int grid);
  Place place_of(const std::vector<double>& at) const;
  /// Where a place may be, seen from cells: of longitudes on a plane, around the circle, too.
  std::vector<std::vector<double>> images_of(const std::vector<double>& at) const;
  /// The same order as distances; of those that differ by less than micrometers on the Earth, the same.
  std::int64_t key_of(double distance) const;
  std::pair<std::int64_t, std::size_t> nearest_here(const std::vector<double>& at) const;

  const Comm& comm_;
  Sites head_;
  std::vector<Coordinate> coordinates_;
  int longitude_ = -1, latitude_ = -1;  // which of the coordinates
  std::vector<Cell> cells_;
  std::unique_ptr<NearestPlaces> tree_;
};

Finder::Finder(const Comm& comm, const Descriptions& model, int grid, const SiteChoice& choice)
    : comm_(comm) {
  const Grid& of = nth(model.grids(), grid);
  head_.is_section = choice.is_section;
  head_.coordinates = choice.coordinates;
  std::vector<bool> varies(of.dims.size());
  for (const std::string& name : choice.coordinates) {
    const auto found = coordinate_of(model, grid, name);
    if (!found) throw Error(Code::not_found, "grid '{}' has no coordinate '{}' with values", of.name, name);
    for (std::size_t d = 0; d < varies.size(); ++d)
      if (found->variable != nullptr || static_cast<int>(d) == found->dim) varies[d] = true;
    const auto number = static_cast<int>(coordinates_.size());
    if (is_longitude(found->attributes())) longitude_ = number;
    if (is_latitude(found->attributes())) latitude_ = number;
    coordinates_.push_back(*found);
  }
  if (coordinates_.size() > std::tuple_size_v<Place>)
    throw Error(Code::setting, "there are {} coordinates; a place has at most {}", coordinates_.size(),
                std::tuple_size_v<Place>);
  head_.on_sphere = coordinates_.size() == 2 && longitude_ >= 0 && latitude_ >= 0;
  for (std::size_t d = 0; d < varies.size(); ++d) {
    if (!varies[d]) continue;
    head_.dims.push_back(static_cast<int>(d));
    head_.dim_names.push_back(of.dims[d]);
    head_.lengths.push_back(of.decomposition->global()[static_cast<int>(d)]);
  }
  take_cells(comm, model, grid);
}

// Along dimensions over which the coordinates do not vary, a cell is active where any of its cells is.
void Finder::take_cells(const Comm& comm, const Descriptions& model, int grid) {
  const Grid& of = nth(model.grids(), grid);
  std::vector<DimChoice> whole;
  for (std::size_t d = 0; d < of.dims.size(); ++d)
    whole.push_back({of.dims[d], of.decomposition->global()[static_cast<int>(d)], true, {}});
  const Part all(comm, whole, 0, of.decomposition);
  const bool has_more = head_.dims.size() < of.dims.size();
  std::unordered_map<std::int64_t, std::size_t> known;
  for (std::int64_t cell = 0; cell < all.cells(); ++cell) {
    if (all.is_masked(cell) && !head_.is_section) continue;
    const Dims at = all.index_in_file(cell);
    if (at[0] < 0) continue;
    Cell one;
    for (std::size_t k = 0; k < head_.dims.size(); ++k)
      one.number = one.number * head_.lengths[static_cast<int>(k)] + at[head_.dims[k]];
    if (has_more && !known.emplace(one.number, cells_.size()).second) continue;
    bool finite = true;
    for (const Coordinate& coordinate : coordinates_) {
      one.at.push_back(coordinate.axis != nullptr ? nth(coordinate.axis->values, at[coordinate.dim])
                                                  : nth(coordinate.variable->values, cell));
      finite = finite && std::isfinite(one.at.back());
    }
    if (finite) cells_.push_back(std::move(one));
  }
  std::vector<NearestPlaces::Entry> entries;
  for (std::size_t i = 0; i < cells_.size(); ++i)
    entries.push_back({place_of(cells_[i].at), static_cast<std::int64_t>(i)});
  tree_ = std::make_unique<NearestPlaces>(std::move(entries));
}

Place Finder::place_of(const std::vector<double>& at) const {
  Place out{};
  if (head_.on_sphere) {
    const double lon = nth(at, longitude_) * k_degree, lat = nth(at, latitude_) * k_degree;
    return {std::cos(lat) * std::cos(lon), std::cos(lat) * std::sin(lon), std::sin(lat)};
  }
  std::copy(at.begin(), at.end(), out.begin());
  return out;
}

std::vector<std::vector<double>> Finder::images_of(const std::vector<double>& at) const {
  std::vector<std::vector<double>> out{at};
  if (head_.on_sphere || longitude_ < 0) return out;
  for (const double turn : {-k_circle, k_circle}) {
    out.push_back(at);
    nth(out.back(), longitude_) += turn;
  }
  return out;
}

double Finder::distance(const std::vector<double>& a, const std::vector<double>& b) const {
  if (head_.on_sphere) {
    // Differences first, so that places on both sides are equally far.
    const double lon = std::remainder(nth(a, longitude_) - nth(b, longitude_), k_circle) * k_degree;
    const double lat = (nth(a, latitude_) - nth(b, latitude_)) * k_degree;
    const double across = std::sin(lon / 2), up = std::sin(lat / 2);
    const double half = up * up + std::cos(nth(a, latitude_) * k_degree) *
                                      std::cos(nth(b, latitude_) * k_degree) * across * across;
    return 2 * k_earth_radius * std::asin(std::sqrt(std::min(half, 1.0)));
  }
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    double off = a[i] - b[i];
    if (static_cast<int>(i) == longitude_) off = std::remainder(off, k_circle);
    sum += off * off;
  }
  return std::sqrt(sum);
}

std::int64_t Finder::key_of(double distance) const {
  constexpr double k_per_km = 1e8;
  return head_.on_sphere ? std::llround(distance * k_per_km) : std::bit_cast<std::int64_t>(distance);
}

/// Key of the distance, and which of the cells; no cells: k_no_cell.
std::pair<std::int64_t, std::size_t> Finder::nearest_here(const std::vector<double>& at) const {
  std::pair<std::int64_t, std::size_t> best{k_no_cell, 0};
  if (tree_->empty()) return best;
  for (const auto& image : images_of(at)) {
    const Place place = place_of(image);
    // A little further, as distances are worked out in another way.
    constexpr double k_more = 1e-8;
    const double least = std::sqrt(tree_->nearest(place)) * (1 + k_more) + (head_.on_sphere ? k_more : 0);
    for (const std::int64_t i : tree_->within(place, least * least)) {
      const Cell& cell = nth(cells_, i);
      const std::int64_t key = key_of(distance(at, cell.at));
      const bool is_better = best.first == k_no_cell || key < best.first ||
                             (key == best.first && cell.number < cells_[best.second].number);
      if (is_better) best = {key, static_cast<std::size_t>(i)};
    }
  }
  return best;
}

std::vector<Site> Finder::find(const std::vector<SiteChoice::Place>& places) const {
  const std::size_t n = places.size(), c = coordinates_.size();
  std::vector<std::pair<std::int64_t, std::size_t>> here;
  std::vector<std::int64_t> keys, numbers, values(n * c, k_no_cell);
  for (const auto& place : places) {
    here.push_back(nearest_here(place.at));
    keys.push_back(here.back().first == k_no_cell ? k_no_cell : -here.back().first);
  }
  const std::vector<std::int64_t> best = comm_.max(keys);
  for (std::size_t i = 0; i < n; ++i)
    numbers.push_back(keys[i] == best[i] && keys[i] != k_no_cell ? -cells_[here[i].second].number
                                                                 : k_no_cell);
  const std::vector<std::int64_t> lowest = comm_.max(numbers);
  // Whoever has the cell says where it is; who has it with it says the same.
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < c && numbers[i] == lowest[i] && numbers[i] != k_no_cell; ++k)
      values[i * c + k] = std::bit_cast<std::int64_t>(cells_[here[i].second].at[k] + 0.0);
  // Negative numbers come in another order, which does not matter: all that are given are the same.
  values = comm_.max(std::move(values));
  std::vector<Site> out;
  for (std::size_t i = 0; i < n; ++i) {
    if (lowest[i] == k_no_cell)
      throw Error(Code::setting, "the grid has no {}cell with coordinates",
                  head_.is_section ? "" : "active ");
    Site site{places[i].name, places[i].at, {}, -lowest[i], 0};
    for (std::size_t k = 0; k < c; ++k)
      site.found.push_back(std::bit_cast<double>(values[i * c + k]));
    site.distance = distance(site.asked, site.found);
    out.push_back(std::move(site));
  }
  return out;
}

double Finder::shortest_step(const std::vector<Site>& sites) const {
  std::unordered_map<std::int64_t, std::int64_t> place_of_number;
  for (std::size_t i = 0; i < cells_.size(); ++i)
    place_of_number.emplace(cells_[i].number, static_cast<std::int64_t>(i));
  std::vector<std::int64_t> nearest;
  for (const Site& site : sites) {
    const auto own = place_of_number.find(site.cell);
    const double square =
        tree_->nearest(place_of(site.found), own == place_of_number.end() ? -1 : own->second);
    nearest.push_back(std::isinf(square) ? k_no_cell : -std::bit_cast<std::int64_t>(square));
  }
  nearest = comm_.max(std::move(nearest));
  double shortest = 0;
  for (const std::int64_t key : nearest) {
    if (key == k_no_cell) continue;
    const double step = std::sqrt(std::bit_cast<double>(-key)) * (head_.on_sphere ? k_earth_radius : 1);
    if (step > 0 && (shortest == 0 || step < shortest)) shortest = step;
  }
  return shortest;
}

/// Places along a line, at most `spacing` apart, and how far each is from its beginning.
std::pair<std::vector<SiteChoice::Place>, std::vector<double>> places_along(const Finder& finder,
                                                                            const SiteChoice& choice,
                                                                            double spacing) {
  std::vector<SiteChoice::Place> places{choice.places.front()};
  std::vector<double> along{0};
  const auto between = [&](std::size_t segment, double part) {
    SiteChoice::Place out;
    const auto &from = choice.places[segment].at, &to = choice.places[segment + 1].at;
    for (std::size_t k = 0; k < from.size(); ++k)
      out.at.push_back(from[k] + (to[k] - from[k]) * part);
    return out;
  };
  for (std::size_t segment = 0; segment + 1 < choice.places.size(); ++segment) {
    double length = 0;
    for (std::size_t i = 0; i < k_first_samples; ++i)
      length += finder.distance(between(segment, static_cast<double>(i) / k_first_samples).at,
                                between(segment, static_cast<double>(i + 1) / k_first_samples).at);
    const double wanted = spacing > 0 ? std::ceil(length / spacing) : static_cast<double>(k_first_samples);
    if (!(wanted + static_cast<double>(places.size()) <= k_most_samples))
      throw Error(Code::setting,
                  "cells along the line are looked for every {}, which are more than {} places; "
                  "choose a larger spacing",
                  spacing, k_most_samples);
    const auto steps = std::max<std::size_t>(1, static_cast<std::size_t>(wanted));
    for (std::size_t i = 1; i <= steps; ++i) {
      SiteChoice::Place next = between(segment, static_cast<double>(i) / static_cast<double>(steps));
      along.push_back(along.back() + finder.distance(places.back().at, next.at));
      places.push_back(std::move(next));
    }
  }
  return {std::move(places), std::move(along)};
}

// A quarter of the shortest way from a cell to the next one finds all cells but those of which the line only
// cuts a corner.
void find_section(const Finder& finder, const SiteChoice& choice, Sites& out) {
  constexpr double k_parts = 4;
  const double spacing =
      choice.spacing ? *choice.spacing
                     : finder.shortest_step(finder.find(places_along(finder, choice, 0).first)) / k_parts;
  const auto [places, along] = places_along(finder, choice, spacing);
  std::vector<Site> found = finder.find(places);
  for (std::size_t first = 0, end = 0; first < found.size(); first = end) {
    while (end < found.size() && found[end].cell == found[first].cell)
      ++end;
    const std::size_t middle = first + (end - first) / 2;
    out.along.push_back((along[first] + along[end - 1]) / 2);
    out.sites.push_back(std::move(found[middle]));
  }
}

}  // namespace

bool is_longitude(const Attributes& attributes) {
  return text_of(attributes, "standard_name") == "longitude" ||
         text_of(attributes, "units").find("east") != std::string::npos;
}

bool is_latitude(const Attributes& attributes) {
  return text_of(attributes, "standard_name") == "latitude" ||
         text_of(attributes, "units").find("north") != std::string::npos;
}

std::vector<std::int64_t> Sites::cells() const {
  std::vector<std::int64_t> out;
  for (const Site& site : sites)
    out.push_back(site.cell);
  return out;
}

bool has_coordinates(const Descriptions& model, int grid, const SiteChoice& choice) {
  return std::all_of(choice.coordinates.begin(), choice.coordinates.end(),
                     [&](const std::string& name) { return coordinate_of(model, grid, name).has_value(); });
}

std::shared_ptr<const Sites> find_sites(const Comm& comm, const Descriptions& model, int grid,
                                        const SiteChoice& choice) {
  const Finder finder(comm, model, grid, choice);
  auto out = std::make_shared<Sites>(finder.head());
  if (choice.is_section)
    find_section(finder, choice, *out);
  else
    out->sites = finder.find(choice.places);
  return out;
}

}  // namespace shoal::streams
