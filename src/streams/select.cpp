// SPDX-License-Identifier: BSD-3-Clause
#include "streams/select.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/language.hpp"
#include "base/text.hpp"
#include "storage/text_file.hpp"
#include "streams/nth.hpp"

namespace shoal::streams {

namespace {

/// Does a coordinate lie in the range? Longitudes around the circle.
bool lies_in(const CoordinateRange& range, double value, bool longitude) {
  if (!longitude) return value >= range.low && value <= range.high;
  const auto around = [](double degrees) {
    const double rest = std::fmod(degrees, 360.0);
    return rest < 0 ? rest + 360.0 : rest;
  };
  const double width = range.high - range.low;
  if (width >= 360.0) return true;
  return around(value - range.low) <= (width < 0 ? width + 360.0 : width);
}

}  // namespace

void Selector::check_order(const CoordinateRange& range, bool longitude) const {
  if (range.low > range.high && !longitude)
    fail(range, Code::setting,
         fmt::format("from {} to {}: the lower value comes first (but for longitudes, whose units are "
                     "degrees_east)",
                     range.low, range.high));
}

template <class Choice>
void Selector::keep(const Choice& of, DimChoice& choice, const std::vector<std::int64_t>& cells) const {
  if (choice.whole) {
    choice.cells = cells;
  } else {
    std::vector<std::int64_t> both;
    std::set_intersection(choice.cells.begin(), choice.cells.end(), cells.begin(), cells.end(),
                          std::back_inserter(both));
    choice.cells = std::move(both);
  }
  choice.whole = static_cast<std::int64_t>(choice.cells.size()) == choice.length;
  if (choice.cells.empty() && !choice.whole)
    fail(of, Code::setting,
         fmt::format("no cell of dimension '{}' is left, together with what else is chosen of it",
                     choice.name));
  if (choice.whole) choice.cells.clear();
}

Attribute attribute_of(const AttributeChoice& choice) {
  if (const auto* text = std::get_if<std::string>(&choice.value)) return text_attribute(choice.name, *text);
  Attribute out;
  out.name = choice.name;
  const auto take = [&](const auto& values, Type type) {
    out.type = type;
    out.count = static_cast<std::int64_t>(values.size());
    out.values.resize(values.size() * sizeof values[0]);
    std::memcpy(out.values.data(), values.data(), out.values.size());
  };
  if (const auto* reals = std::get_if<std::vector<double>>(&choice.value)) {
    take(*reals, Type::double_);
    return out;
  }
  const auto& whole = std::get<std::vector<std::int64_t>>(choice.value);
  const bool small = std::all_of(whole.begin(), whole.end(), [](std::int64_t n) {
    return n >= std::numeric_limits<std::int32_t>::min() && n <= std::numeric_limits<std::int32_t>::max();
  });
  if (small)
    take(std::vector<std::int32_t>(whole.begin(), whole.end()), Type::int_);
  else
    take(whole, Type::int64);
  return out;
}

const Axis* axis_of(const Descriptions& model, const DimChoice& dim) {
  return dim.made != nullptr ? dim.made.get() : model.axis(dim.name);
}

std::pair<double, double> extent_of(const Axis& axis, const DimChoice& chosen) {
  constexpr double k_circle = 360.0;
  struct Cell {
    double value, low, high;
  };
  std::vector<Cell> cells;
  for (std::int64_t i = 0; i < chosen.chosen(); ++i) {
    const auto at = static_cast<std::size_t>(chosen.cell(i));
    const double value = axis.values[at];
    if (axis.bounds.empty())
      cells.push_back({value, value, value});
    else
      cells.push_back({value, std::min(axis.bounds[2 * at], axis.bounds[2 * at + 1]),
                       std::max(axis.bounds[2 * at], axis.bounds[2 * at + 1])});
  }
  const auto by_value = [](const Cell& a, const Cell& b) { return a.value < b.value; };
  std::sort(cells.begin(), cells.end(), by_value);
  if (is_longitude(axis.attributes)) {
    // The cells begin behind the widest gap of the circle.
    double widest = cells.front().value + k_circle - cells.back().value;
    std::size_t begin = 0;
    for (std::size_t i = 1; i < cells.size(); ++i)
      if (cells[i].value - cells[i - 1].value > widest) {
        widest = cells[i].value - cells[i - 1].value;
        begin = i;
      }
    for (std::size_t i = begin; begin > 0 && i < cells.size(); ++i)
      cells[i] = {cells[i].value - k_circle, cells[i].low - k_circle, cells[i].high - k_circle};
  }
  std::pair<double, double> out{cells.front().low, cells.front().high};
  for (const Cell& cell : cells)
    out = {std::min(out.first, cell.low), std::max(out.second, cell.high)};
  return out;
}

void Selector::choose_on_axis(const CoordinateRange& range, const Axis& axis, DimChoice& choice) const {
  const bool longitude = is_longitude(axis.attributes);
  check_order(range, longitude);
  if (axis.values.empty())
    fail(range, Code::setting,
         fmt::format("axis '{}' has no values; choose its cells with indices", axis.name));
  std::vector<std::int64_t> cells;
  for (std::int64_t i = 0; i < axis.length; ++i)
    if (lies_in(range, nth(axis.values, i), longitude)) cells.push_back(i);
  if (cells.empty())
    fail(range, Code::setting,
         fmt::format("no cell of '{}' lies in [{}, {}]; it goes from {} to {}", axis.name, range.low,
                     range.high, axis.values.front(), axis.values.back()));
  keep(range, choice, cells);
}

void Selector::choose_levels(const Field& field, std::size_t dim, DimChoice& choice) {
  for (const auto& levels : file_.levels) {
    if (dim >= static_cast<std::size_t>(field.outer.size())) {
      if (levels.dim == choice.name)
        fail(levels, Code::setting,
             fmt::format("'{}' is a dimension of the grid; choose its cells with indices", choice.name));
      continue;
    }
    if (levels.dim.empty() && field.outer.size() > 1)
      fail(levels, Code::setting,
           fmt::format("field '{}' has the dimensions {}; say which: levels = {{ {} = [...] }}", field.name,
                       joined(as_listed(field.dims), " "), field.dims.front()));
    if (!levels.dim.empty() && levels.dim != choice.name) continue;
    used_.insert(levels.key());
    if (levels.indices.back() >= choice.length)
      fail(levels, Code::setting,
           fmt::format("cell {} of '{}' does not exist; the last is {}, counted from 0",
                       levels.indices.back(), choice.name, choice.length - 1));
    keep(levels, choice, levels.indices);
  }
}

DimChoice Selector::choice_of(const Field& field, std::size_t dim) {
  DimChoice choice;
  choice.name = field.dims[dim];
  if (field.made_axis != nullptr && static_cast<int>(dim) == field.made_dim) {
    choice.length = field.made_axis->length;
    choice.made = field.made_axis;
    return choice;
  }
  choice.length = model_.length_of(choice.name);
  for (const auto& range : file_.indices) {
    if (range.dim != choice.name) continue;
    used_.insert(range.key());
    const std::int64_t end = range.end < 0 ? choice.length : range.end;
    if (end > choice.length || range.first >= end)
      fail(range, Code::setting,
           fmt::format("cells {} to {} of '{}' do not exist; the last is {}, counted from 0", range.first,
                       end - 1, choice.name, choice.length - 1));
    std::vector<std::int64_t> cells;
    for (std::int64_t i = range.first; i < end; i += range.stride)
      cells.push_back(i);
    keep(range, choice, cells);
  }
  choose_levels(field, dim, choice);
  for (const auto& range : region_)
    if (range.coordinate == choice.name)
      if (const Axis* axis = model_.axis(choice.name)) {
        used_.insert(range.key());
        choose_on_axis(range, *axis, choice);
        choice.suffix = suffix_;
      }
  return choice;
}

// Of each dimension the indices of cells in which every coordinate lies in its range: of a grid with one
// dimension these cells alone, of others the smallest box that has them, without rows and columns that have
// none.
void Selector::choose_on_grid(const Field& field, std::vector<DimChoice>& choices) {
  std::vector<std::pair<const CoordinateRange*, const GridVariable*>> ranges;
  for (const auto& range : region_)
    for (const auto& variable : model_.grid_variables())
      if (variable.grid == field.grid && variable.name == range.coordinate) {
        used_.insert(range.key());
        check_order(range, is_longitude(variable.attributes));
        ranges.emplace_back(&range, &variable);
      }
  if (ranges.empty()) return;
  const auto& grid = *model_.grid_of(field);
  const int nd = grid.decomposition->rank(), outer = field.outer.size();
  const Dims& global = grid.decomposition->global();
  if (!on_grids_.contains(field.grid)) {
    constexpr std::int64_t k_bits = 64;
    std::vector<DimChoice> whole;
    std::vector<std::int64_t> begin{0};  // of each dimension's bits, in words
    for (int d = 0; d < nd; ++d) {
      whole.push_back({nth(grid.dims, d), global[d], true, {}});
      begin.push_back(begin.back() + (global[d] + k_bits - 1) / k_bits);
    }
    const Part all(comm_, whole, 0, grid.decomposition);
    std::vector<std::int64_t> bits(static_cast<std::size_t>(begin.back()));
    const auto word = [&](int d, std::int64_t at) -> std::int64_t& {
      return nth(bits, nth(begin, d) + at / k_bits);
    };
    for (std::int64_t cell = 0; cell < all.cells(); ++cell) {
      const bool inside = std::all_of(ranges.begin(), ranges.end(), [&](const auto& range) {
        return lies_in(*range.first, nth(range.second->values, cell), is_longitude(range.second->attributes));
      });
      if (!inside) continue;
      const Dims at = all.index_in_file(cell);
      for (int d = 0; d < nd && at[d] >= 0; ++d)
        word(d, at[d]) |= std::int64_t{1} << (at[d] % k_bits);
    }
    bits = comm_.any_bits(std::move(bits));
    std::vector<std::vector<std::int64_t>> chosen(static_cast<std::size_t>(nd));
    for (int d = 0; d < nd; ++d)
      for (std::int64_t at = 0; at < global[d]; ++at)
        if ((word(d, at) >> (at % k_bits) & 1) != 0) nth(chosen, d).push_back(at);
    if (chosen.front().empty())
      fail(*ranges.front().first, Code::setting,
           fmt::format("no cell of grid '{}' lies in the region", grid.name));
    on_grids_[field.grid] = std::move(chosen);
  }
  const auto& chosen = on_grids_[field.grid];
  for (int d = 0; d < nd; ++d) {
    keep(*ranges.front().first, nth(choices, outer + d), nth(chosen, d));
    nth(choices, outer + d).suffix = suffix_;
  }
}

bool Selector::has_region_of(const Field& field) const {
  return std::any_of(region_.begin(), region_.end(), [&](const CoordinateRange& range) {
    const auto& variables = model_.grid_variables();
    return (model_.axis(range.coordinate) != nullptr &&
            std::find(field.dims.begin(), field.dims.end(), range.coordinate) != field.dims.end()) ||
           std::any_of(variables.begin(), variables.end(), [&](const GridVariable& variable) {
             return variable.grid == field.grid && variable.name == range.coordinate;
           });
  });
}

std::vector<DimChoice> Selector::choices_of(const Field& field) {
  std::vector<DimChoice> choices;
  for (std::size_t d = 0; d < field.dims.size(); ++d) {
    dims_.insert(field.dims[d]);
    choices.push_back(choice_of(field, d));
  }
  if (field.grid >= 0) choose_on_grid(field, choices);
  if (file_.sites && field.grid >= 0) choose_sites(field, choices);
  return choices;
}

std::shared_ptr<const Sites> Selector::sites_of(int grid) const {
  const auto found = sites_.find(grid);
  return found == sites_.end() ? nullptr : found->second;
}

/// Those of a table, too; each has a name, and no two the same.
SiteChoice Selector::named_places() const {
  SiteChoice out = *file_.sites;
  if (!out.path.empty()) {
    const Bytes text = comm_.from_root([&] {
      ByteWriter all;
      all.put(text_of_file(out.path, k_most_input_bytes));
      return all.take();
    });
    const int line = out.line;
    out = read_places(ByteReader(text).get<std::string>(), out.path);
    out.line = line;
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < out.places.size() && !out.is_section; ++i) {
    SiteChoice::Place& place = out.places[i];
    if (place.name.empty()) place.name = fmt::format("{}", i + 1);
    if (!names.insert(place.name).second)
      fail(out, Code::setting, fmt::format("there are two places with the name '{}'", place.name));
  }
  return out;
}

// In place of the dimensions of the grid over which the coordinates vary.
void Selector::choose_sites(const Field& field, std::vector<DimChoice>& choices) {
  const SiteChoice& wanted = *file_.sites;
  std::shared_ptr<const Sites>& sites = sites_[field.grid];
  try {
    if (sites == nullptr) sites = find_sites(comm_, model_, field.grid, named_places());
  } catch (const Error& e) {
    if (!e.status().file.empty()) throw;
    fail(wanted, e.code(), e.status().message);
  }
  used_.insert(wanted.key());
  const auto outer = static_cast<std::size_t>(field.outer.size());
  std::vector<DimChoice> out(choices.begin(), choices.begin() + field.outer.size());
  DimChoice listed;
  listed.name = sites->dim();
  listed.length = static_cast<std::int64_t>(sites->sites.size());
  listed.site_dims = sites->dims;
  listed.sites = sites->cells();
  if (model_.length_of(listed.name) >= 0)
    fail(wanted, Code::not_supported, fmt::format("the model has a dimension '{}' already", listed.name));
  out.push_back(std::move(listed));
  for (std::size_t d = outer; d < choices.size(); ++d) {
    const bool stays =
        std::find(sites->dims.begin(), sites->dims.end(), static_cast<int>(d - outer)) == sites->dims.end();
    if (stays)
      out.push_back(std::move(choices[d]));
    else if (!choices[d].whole)
      fail(wanted, Code::setting,
           fmt::format("chooses cells of '{}', of which indices chooses some, too", choices[d].name));
  }
  choices = std::move(out);
}

std::shared_ptr<const Part> Parts::part(const Comm& comm, const Descriptions& model,
                                        std::vector<DimChoice> choices, int outer, int grid) {
  for (const auto& known : known_)
    if (known.outer == outer && known.grid == grid && known.part->choices() == choices) return known.part;
  const auto decomposition = grid < 0 ? nullptr : nth(model.grids(), grid).decomposition;
  known_.push_back(
      {outer, grid, std::make_shared<const Part>(comm, std::move(choices), outer, decomposition)});
  return known_.back().part;
}

std::shared_ptr<const Part> Selector::part(const Field& field) {
  return parts_.part(comm_, model_, choices_of(field), field.outer.size(), field.grid);
}

std::shared_ptr<const Part> Selector::grid_part(const Field& field) {
  auto choices = choices_of(field);
  choices.erase(choices.begin(), choices.begin() + field.outer.size());
  return parts_.part(comm_, model_, std::move(choices), 0, field.grid);
}

void Selector::check_used() const {
  const auto check = [&](const auto& choice, const std::string& what) {
    if (!used_.contains(choice.key())) fail(choice, Code::not_found, "no field of the file has " + what);
  };
  const auto dimension = [&](const std::string& name) {
    return fmt::format("the dimension '{}'{}", name,
                       did_you_mean(name, std::vector(dims_.begin(), dims_.end())));
  };
  for (const auto& range : region_)
    check(range, fmt::format("the coordinate '{}'", range.coordinate));
  for (const auto& range : file_.indices)
    check(range, dimension(range.dim));
  for (const auto& levels : file_.levels)
    check(levels,
          levels.dim.empty() ? std::string("a dimension that is not its grid's") : dimension(levels.dim));
  if (file_.sites) check(*file_.sites, "a grid");
  if (!file_.reduce) return;
  for (const auto& dim : file_.reduce->dims)
    if (!dims_.contains(dim))
      throw error_of({file_.reduce->dims_line, "reduce.dims", "no field of the file has " + dimension(dim)},
                     Code::not_found, path_);
}

}  // namespace shoal::streams
