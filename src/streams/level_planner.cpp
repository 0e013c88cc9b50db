// SPDX-License-Identifier: BSD-3-Clause
#include "streams/level_planner.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/language.hpp"
#include "base/text.hpp"
#include "format/group_paths.hpp"
#include "streams/nth.hpp"

namespace shoal::streams {

void LevelPlanner::fail(const std::string& key, Code code, std::string message) const {
  throw error_of({wanted_.line, key, std::move(message)}, code, path_);
}

int LevelPlanner::vertical_of(const Field& field) {
  if (wanted_.dim.empty() && field.outer.size() > 1)
    fail("interpolate", Code::setting,
         fmt::format("field '{}' has the dimensions {}; say which: dim = \"{}\"", field.name,
                     joined(as_listed(field.dims), " "), field.dims.front()));
  for (int d = 0; d < field.outer.size(); ++d)
    if (wanted_.dim.empty() || field.dims[static_cast<std::size_t>(d)] == wanted_.dim) {
      is_used_ = true;
      return d;
    }
  return -1;
}

int LevelPlanner::field_of(const Field& field) const {
  if (wanted_.levels.empty()) return -1;
  const auto& fields = model_.fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name != wanted_.levels) continue;
    if (fields[i].dims != field.dims || fields[i].grid != field.grid)
      fail("interpolate.levels", Code::setting,
           fmt::format("'{}' (\"{}\") has other dimensions than '{}' (\"{}\")", wanted_.levels,
                       joined(as_listed(fields[i].dims), " "), field.name,
                       joined(as_listed(field.dims), " ")));
    return static_cast<int>(i);
  }
  fail("interpolate.levels", Code::not_found,
       fmt::format("the model has no field '{}'{}", wanted_.levels,
                   did_you_mean(wanted_.levels, model_.field_names())));
}

std::shared_ptr<const Interpolation> LevelPlanner::interpolation(const Field& field, int dim) const {
  std::vector<double> levels;
  const std::string& name = field.dims[static_cast<std::size_t>(dim)];
  if (wanted_.levels.empty()) {
    const Axis* axis = model_.axis(name);
    if (axis == nullptr || axis->values.empty())
      fail("interpolate", Code::setting,
           fmt::format("'{}' has no values; name the field that has them: levels = \"...\"", name));
    levels = axis->values;
  }
  try {
    return std::make_shared<const Interpolation>(wanted_.to, wanted_.logarithmic, std::move(levels));
  } catch (const Error& e) {
    fail("interpolate", e.code(), fmt::format("'{}': {}", name, e.status().message));
  }
}

std::shared_ptr<const Axis> LevelPlanner::axis(const std::string& dim, int levels) {
  const std::string name = !wanted_.name.empty() ? wanted_.name
                           : levels < 0          ? dim
                                                 : name_in_group(wanted_.levels) + "_level";
  if (name.find('/') != std::string::npos)
    fail("interpolate.name", Code::setting,
         fmt::format("'{}' is in a group; dimensions and their coordinates are the file's own", name));
  auto& known = axes_[name];
  if (known != nullptr) return known;
  Axis made;
  made.name = name;
  made.length = static_cast<std::int64_t>(wanted_.to.size());
  made.type = Type::double_;
  made.values = wanted_.to;
  const Axis* of_dim = model_.axis(dim);
  if (levels >= 0) {
    made.attributes = nth(model_.fields(), levels).attributes;
    std::erase_if(made.attributes, [](const Attribute& a) { return a.name == "cell_methods"; });
    if (of_dim != nullptr && find(of_dim->attributes, "axis") != nullptr &&
        find(made.attributes, "axis") == nullptr)
      made.attributes.push_back(*find(of_dim->attributes, "axis"));
  } else if (of_dim != nullptr) {
    made.attributes = of_dim->attributes;
  }
  known = std::make_shared<const Axis>(std::move(made));
  return known;
}

void LevelPlanner::check_used() const {
  if (is_used_) return;
  fail(
      "interpolate", Code::not_found,
      wanted_.dim.empty()
          ? "no field of the file has a dimension beside those of its grid"
          : fmt::format("no field of the file has the dimension '{}' beside those of its grid", wanted_.dim));
}

}  // namespace shoal::streams
