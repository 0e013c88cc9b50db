// SPDX-License-Identifier: BSD-3-Clause
// The levels of a file: its key `pyramid`.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "streams/nth.hpp"
#include "streams/plan.hpp"
#include "streams/select.hpp"

namespace shoal::streams {

namespace {

std::string group_name(int level) {
  return std::to_string(level) + "/";
}

class PyramidPlanner {
 public:
  PyramidPlanner(const Comm& comm, const Descriptions& model, const Plan& plan, const std::string& path,
                 FilePlan& file)
      : comm_(comm), model_(model), plan_(plan), path_(path), file_(file), wanted_(*file.choice.pyramid) {}

  void add() {
    bool any = false;
    const std::vector<GridPart> grids = file_.grids;
    for (GridPart& grid : file_.grids)
      grid.group = group_name(0);
    for (Output& output : file_.outputs) {
      if (output.name.find('/') != std::string::npos)
        fail(output.line, "fields",
             fmt::format("'{}' is in a group, and the levels of a pyramid are groups; give it another name = "
                         "\"...\"",
                         output.name));
      const Part& part = *nth(plan_.collectors, output.collector).part;
      const int grid = plan_.source_of(nth(plan_.collectors, output.collector)).like.grid;
      const std::vector<DimChoice> of_model = output.dims;
      const std::string name = output.name;
      output.name = group_name(0) + name;
      for (DimChoice& dim : output.dims)
        dim = in_group(dim, 0);
      if (grid < 0) continue;
      if (!output.is_cut)
        fail(wanted_.line, "pyramid",
             fmt::format("reduce joins cells of the grid of '{}', of which there are no levels then", name));
      any = true;
      output.pyramid = pyramid(output, part, grid, grids, name);
      add_coarser(output, of_model, part, name);
    }
    if (!any) fail(wanted_.line, "pyramid", "none of the fields is on a grid, whose cells could be joined");
  }

 private:
  [[noreturn]] void fail(int line, const std::string& key, const std::string& message) const {
    throw error_of({line, key, message}, Code::setting, path_);
  }

  /// The dimension of a level that is not made coarser. The same object for all fields, as it is compared.
  DimChoice in_group(const DimChoice& dim, int level) {
    const auto [at, is_new] = dims_.try_emplace(group_name(level) + dim.name_in_file(), dim);
    if (!is_new) return at->second;
    DimChoice& out = at->second;
    if (const Axis* axis = axis_of(model_, dim)) out.made = std::make_shared<const Axis>(*axis);
    out.name = group_name(level) + dim.name;
    return out;
  }

  /// The same, with `factor` cells as one: the mean of the coordinates, and the ends of the cells.
  DimChoice coarser_dim(const DimChoice& finer, const DimChoice& of_model, int level, std::int64_t factor) {
    const auto [at, is_new] = dims_.try_emplace(group_name(level) + of_model.name_in_file());
    if (!is_new) return at->second;
    DimChoice& out = at->second;
    out.name = group_name(level) + of_model.name;
    out.suffix = of_model.suffix;
    out.length = (finer.chosen() + factor - 1) / factor;
    const Axis* axis = finer.made.get();
    if (axis == nullptr) return out;
    Axis made;
    made.name = out.name;
    made.length = out.length;
    made.attributes = axis->attributes;
    if (axis->type != Type::none) made.type = is_floating(axis->type) ? axis->type : Type::double_;
    for (std::int64_t i = 0; i < out.length && axis->type != Type::none; ++i) {
      const std::int64_t end = std::min(finer.chosen(), (i + 1) * factor);
      double sum = 0;
      for (std::int64_t k = i * factor; k < end; ++k)
        sum += nth(axis->values, finer.cell(k));
      made.values.push_back(sum / static_cast<double>(end - i * factor));
      if (axis->bounds.empty()) continue;
      made.bounds.push_back(nth(axis->bounds, 2 * finer.cell(i * factor)));
      made.bounds.push_back(nth(axis->bounds, 2 * finer.cell(end - 1) + 1));
    }
    out.made = std::make_shared<const Axis>(std::move(made));
    return out;
  }

  /// Along each dimension of the grid.
  Dims factors(int grid_dims, int field_dims, const std::string& field) const {
    Dims out(grid_dims, 1);
    const auto& given = wanted_.factor;
    const int n = static_cast<int>(given.size());
    if (wanted_.is_for_all) {
      for (int d = 0; d < grid_dims; ++d)
        out[d] = given.front();
      return out;
    }
    if (n < grid_dims)
      fail(wanted_.factor_line, "pyramid.factor",
           fmt::format("has {} for the {} dimensions of the grid of '{}'", counted(n), grid_dims, field));
    for (int d = 0; d < n; ++d) {
      const int of_grid = grid_dims - n + d;
      if (of_grid >= 0)
        out[of_grid] = nth(given, d);
      else if (nth(given, d) != 1)
        fail(wanted_.factor_line, "pyramid.factor",
             field_dims >= n
                 ? fmt::format("is 1 for dimensions that are none of the grid's; '{}' has {} of them", field,
                               field_dims - grid_dims)
                 : fmt::format("has {} more than 1 for '{}', whose grid has {}", counted(n), field,
                               grid_dims == 1 ? "one dimension" : "fewer dimensions"));
    }
    return out;
  }
  static std::string counted(int n) { return n == 1 ? "one number" : fmt::format("{} numbers", n); }

  int pyramid(const Output& output, const Part& part, int grid, const std::vector<GridPart>& grids,
              const std::string& field) {
    const int outer = part.outer_dims(), nd = static_cast<int>(part.choices().size()) - outer;
    const Dims factor = factors(nd, static_cast<int>(output.dims.size()), field);
    for (std::size_t i = 0; i < file_.pyramids.size(); ++i)
      if (file_.pyramids[i].grid == grid && file_.pyramids[i].suffix == output.suffix)
        return static_cast<int>(i);
    Pyramid made;
    made.grid = grid;
    made.suffix = output.suffix;
    Dims fine, of_grid;
    for (int d = outer; d < outer + nd; ++d)
      fine.push_back(nth(part.choices(), d).chosen());
    for (int d = outer; d < part.local_shape().size(); ++d)
      of_grid.push_back(part.local_shape()[d]);
    // An outer dimension may be empty, and no part cell there; the grid's are those of its first cell.
    std::vector<std::int64_t> cells;
    for (std::int64_t g = 0; g < volume(of_grid); ++g) {
      const Dims at = tail(part.index_in_file(g), nd);
      cells.push_back(at[0] < 0 ? k_hole : position_in(at, Box::whole(fine)));
      made.weights.push_back(cells.back() == k_hole || part.is_masked(g) ? 0.0 : 1.0);
    }
    for (int level = 1; level < wanted_.levels; ++level) {
      const Coarsening* before = made.steps.empty() ? nullptr : &made.steps.back();
      made.steps.emplace_back(comm_, before == nullptr ? fine : before->shape(), factor,
                              before == nullptr ? cells : before->cells());
    }
    for (const GridPart& variables : grids)
      if (variables.grid == grid && variables.suffix == output.suffix) add_variables(made, variables);
    file_.pyramids.push_back(std::move(made));
    return static_cast<int>(file_.pyramids.size()) - 1;
  }

  /// Areas become weights; coarser cells have the areas of all of their cells, and means of coordinates.
  void add_variables(Pyramid& pyramid, const GridPart& of_grid) {
    const Decomposition& whole = *nth(model_.grids(), pyramid.grid).decomposition;
    for (const GridVariable& variable : model_.grid_variables()) {
      if (variable.grid != pyramid.grid) continue;
      auto own = variable.values;
      WeightedValues values;
      values.values = part_values(*of_grid.part,
                                  ArrayView::contiguous(own.data(), Type::double_, own_extents({}, &whole)));
      for (std::size_t i = 0; variable.is_area && i < pyramid.weights.size(); ++i)
        if (pyramid.weights[i] > 0) pyramid.weights[i] = values.values[i];
      values.weights.assign(values.values.size(), 1.0);
      const auto kind = variable.is_area                    ? Coarsening::Kind::sum
                        : is_longitude(variable.attributes) ? Coarsening::Kind::longitude
                                                            : Coarsening::Kind::mean;
      int level = 0;
      for (const Coarsening& step : pyramid.steps) {
        values = step.join(comm_, values, 1, kind);
        CoarseVariable made;
        made.name = group_name(++level) + variable.name + of_grid.suffix;
        for (const DimChoice& dim : of_grid.part->choices())
          made.dims += " " + group_name(level) + dim.name_in_file();
        made.type = is_floating(variable.type) ? variable.type : Type::double_;
        made.attributes = variable.attributes;
        if (variable.is_area && find(made.attributes, "standard_name") == nullptr)
          made.attributes.push_back(text_attribute("standard_name", "cell_area"));
        made.values = values.values;
        made.extents = step.local_shape();
        made.decomposition = step.decomposition();
        file_.coarse_variables.push_back(std::move(made));
      }
    }
  }

  void add_coarser(Output& output, const std::vector<DimChoice>& of_model, const Part& part,
                   const std::string& name) {
    const Pyramid& pyramid = nth(file_.pyramids, output.pyramid);
    const int grid_dims = static_cast<int>(part.choices().size()) - part.outer_dims();
    const Dims factor = factors(grid_dims, static_cast<int>(output.dims.size()), name);
    const int outer = static_cast<int>(output.dims.size()) - grid_dims;
    std::vector<DimChoice> finer = output.dims;
    for (int level = 1; level < wanted_.levels; ++level) {
      Output out;
      out.name = group_name(level) + name;
      out.collector = output.collector;
      out.operation = output.operation;
      out.encoding = output.encoding;
      out.has_fractions = true;
      out.is_cut = true;
      out.suffix = output.suffix;
      out.line = output.line;
      out.attributes = output.attributes;
      out.coarse = nth(pyramid.steps, level - 1).decomposition();
      for (int d = 0; d < static_cast<int>(finer.size()); ++d)
        out.dims.push_back(d < outer
                               ? in_group(nth(of_model, d), level)
                               : coarser_dim(nth(finer, d), nth(of_model, d), level, factor[d - outer]));
      if (!is_floating(out.encoding.type) && !out.encoding.packing) take_doubles(out);
      std::string methods = text_of(out.attributes, "cell_methods");
      std::erase_if(out.attributes, [](const Attribute& other) { return other.name == "cell_methods"; });
      methods += std::string(methods.empty() ? "" : " ") + "area: mean";
      out.attributes.push_back(text_attribute("cell_methods", methods));
      finer = out.dims;
      output.coarser.push_back(std::move(out));
    }
  }

  /// Means of whole numbers have fractions, and attributes in the type of the numbers are no more theirs.
  static void take_doubles(Output& out) {
    out.encoding.type = Type::double_;
    std::memcpy(&out.encoding.fill, default_fill(Type::double_), sizeof out.encoding.fill);
    std::erase_if(out.attributes, [](const Attribute& attribute) {
      constexpr const char* k_of_type[] = {"_FillValue",  "missing_value", "valid_min",    "valid_max",
                                           "valid_range", "flag_values",   "flag_meanings"};
      return std::find(std::begin(k_of_type), std::end(k_of_type), attribute.name) != std::end(k_of_type);
    });
  }

  const Comm& comm_;
  const Descriptions& model_;
  const Plan& plan_;
  const std::string& path_;
  FilePlan& file_;
  const PyramidChoice& wanted_;
  std::map<std::string, DimChoice> dims_;
};

}  // namespace

std::vector<std::string> FilePlan::level_groups() const {
  std::vector<std::string> out;
  for (int level = 0; choice.pyramid && level < choice.pyramid->levels; ++level)
    out.push_back(group_name(level));
  return out;
}

void add_pyramid(const Comm& comm, const Descriptions& model, const Plan& plan, const std::string& path,
                 FilePlan& file) {
  PyramidPlanner(comm, model, plan, path, file).add();
}

// https://github.com/zarr-conventions/multiscales, version 1
Attributes multiscales_attributes(const FilePlan& file) {
  using Json = nlohmann::ordered_json;
  if (!file.choice.pyramid) return {};
  const PyramidChoice& pyramid = *file.choice.pyramid;
  std::vector<double> scale, translation;
  for (const std::int64_t factor : pyramid.factor) {
    scale.push_back(static_cast<double>(factor));
    translation.push_back(static_cast<double>(factor - 1) / 2);
  }
  // Of all dimensions of a grid alike.
  const auto of_grid = std::find_if(file.outputs.begin(), file.outputs.end(),
                                    [](const Output& output) { return output.pyramid >= 0; });
  const auto dims =
      pyramid.is_for_all && !nth(file.pyramids, of_grid->pyramid).steps.empty()
          ? static_cast<std::size_t>(nth(file.pyramids, of_grid->pyramid).steps[0].shape().size())
          : scale.size();
  scale.resize(dims, scale.front());
  translation.resize(dims, translation.front());
  Json layout = Json::array();
  for (int level = 0; level < pyramid.levels; ++level) {
    Json one = {{"asset", std::to_string(level)}};
    if (level == 0) {
      one["transform"] = {{"scale", std::vector<double>(dims, 1.0)},
                          {"translation", std::vector<double>(dims, 0.0)}};
    } else {
      one["derived_from"] = std::to_string(level - 1);
      one["transform"] = {{"scale", scale}, {"translation", translation}};
      one["resampling_method"] = "average";
    }
    layout.push_back(std::move(one));
  }
  const std::string home = "zarr-conventions/multiscales";
  Json convention;
  convention["schema_url"] = "https://raw.githubusercontent.com/" + home + "/refs/tags/v1/schema.json";
  convention["spec_url"] = "https://github.com/" + home + "/blob/v1/README.md";
  convention["uuid"] = "d35379db-88df-4056-af3a-620245f8e347";
  convention["name"] = "multiscales";
  convention["description"] = "Multiscale layout of zarr datasets";
  return {text_attribute("zarr_conventions", "[" + convention.dump() + "]"),
          text_attribute("multiscales", Json{{"layout", layout}, {"resampling_method", "average"}}.dump())};
}

}  // namespace shoal::streams
