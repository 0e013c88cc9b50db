// SPDX-License-Identifier: BSD-3-Clause
#include "streams/plan.hpp"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/error.hpp"
#include "base/language.hpp"
#include "base/text.hpp"
#include "streams/level_planner.hpp"
#include "streams/nth.hpp"
#include "streams/select.hpp"

namespace shoal::streams {

namespace {

/// Values of such an operation are no longer whole where those of the field are.
bool makes_fractions(Operation operation) {
  switch (operation) {
    case Operation::mean:
    case Operation::variance:
    case Operation::standard_deviation:
    case Operation::rms:
    case Operation::diurnal:
      return true;
    default:
      return false;
  }
}

/// A double that the type holds: the missing value, or netCDF's (of types of 8 bytes the nearest one).
double fill_of(Type type, const std::optional<double>& missing) {
  return with_number(type, [&](auto number) {
    using T = decltype(number);
    if (missing) {
      if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(*missing) || std::isinf(*missing) ||
            std::abs(*missing) <= static_cast<double>(std::numeric_limits<T>::max()))
          return static_cast<double>(static_cast<T>(*missing));
      } else if (*missing >= static_cast<double>(std::numeric_limits<T>::min()) &&
                 *missing < static_cast<double>(std::numeric_limits<T>::max()) &&
                 *missing == std::trunc(*missing)) {
        return *missing;
      }
    }
    T value{};
    std::memcpy(&value, default_fill(type), sizeof value);
    const auto fill = static_cast<double>(value);
    if constexpr (std::is_integral_v<T>)
      if (fill >= std::ldexp(1.0, std::numeric_limits<T>::digits)) return std::nextafter(fill, 0.0);
    return fill;
  });
}

/// The fill value as an attribute, in the variable's type.
Attribute number_attribute(const std::string& name, const Encoding& encoding) {
  return with_number(encoding.type, [&](auto number) {
    number = static_cast<decltype(number)>(encoding.fill);
    Attribute out{name, encoding.type, 1, Bytes(sizeof number)};
    std::memcpy(out.values.data(), &number, sizeof number);
    return out;
  });
}

/// CF's name of an operation; "" where it has none.
std::string cell_method(const TimeOperation& operation) {
  switch (operation.operation) {
    case Operation::instant:
    case Operation::first:
    case Operation::last:
      return "point";
    case Operation::diurnal:
      return "mean";
    case Operation::rms:
      return "root_mean_square";
    case Operation::count:
      return "";
    default:
      return name_of(operation.operation);
  }
}

/// The first few of many names.
std::string some_of(std::vector<std::string> names) {
  constexpr std::size_t k_few = 8;
  const std::size_t all = names.size();
  names.resize(std::min(all, k_few));
  return joined(names, ", ") + (all > k_few ? fmt::format(" and {} more", all - k_few) : "");
}

class Planner {
 public:
  Planner(const Comm& comm, const Configuration& configuration, const Descriptions& model,
          const RunTime& time)
      : comm_(comm), configuration_(configuration), model_(model), time_(time) {}

  Plan make() {
    for (const auto& choice : configuration_.files)
      plan_.files.push_back(file(choice));
    return std::move(plan_);
  }

 private:
  [[noreturn]] void fail(int line, const std::string& key, Code code, const std::string& message) const {
    throw error_of({line, key, message}, code, configuration_.path);
  }
  /// What work throws has line and key.
  template <class Work>
  auto at(int line, const std::string& key, Work&& work) const {
    try {
      return work();
    } catch (const Error& e) {
      if (!e.status().file.empty()) throw;
      fail(line, key, e.code(), e.status().message);
    }
  }

  FilePlan file(const FileChoice& choice) {
    FilePlan out;
    levels_.reset();
    if (choice.interpolate) levels_.emplace(model_, *choice.interpolate, configuration_.path);
    out.choice = choice;
    out.clock = clock(choice);
    out.time_origin = date(choice, choice.time_origin, "time_origin").value_or(time_.start);
    std::vector<Selector> selectors;
    for (const NamedRegion& one : choice.regions)
      selectors.emplace_back(comm_, model_, choice, one.region, "_" + one.name, configuration_.path, parts_);
    if (selectors.empty())
      selectors.emplace_back(comm_, model_, choice, choice.region, "", configuration_.path, parts_);
    std::set<std::string> names;
    for (const FieldChoice& field : choice.fields)
      for (const int sent : sources_of(field))
        for (Selector& selector : selectors) {
          const int source = interpolated(choice, sent);
          const bool has_part = selector.has_region_of(nth(plan_.sources, source).like);
          // What no region is about is there once.
          if (!has_part && &selector != &selectors.front()) continue;
          out.outputs.push_back(output(out, selector, field, source, has_part ? selector.suffix() : ""));
          const Output& made = out.outputs.back();
          if (made.is_of_sites && out.sites == nullptr)
            out.sites = selector.sites_of(nth(plan_.sources, source).like.grid);
          if (!names.insert(made.name).second)
            fail(field.line, "fields", Code::setting,
                 fmt::format("the file has '{}' twice; give one of them another name = \"...\"", made.name));
          check_cells(out);
        }
    for (const Selector& selector : selectors)
      selector.check_used();
    if (levels_) levels_->check_used();
    add_grids(out);
    if (choice.pyramid) add_pyramid(comm_, model_, plan_, configuration_.path, out);
    check_names(out, std::move(names));
    return out;
  }

  void check_names(const FilePlan& file, std::set<std::string> names) const {
    names.insert("time");
    for (const Output& output : file.outputs)
      for (const DimChoice& dim : output.dims)
        names.insert(dim.name_in_file());
    for (const Output& output : file.outputs)
      at(output.line, "fields", [&] { file.choice.check_variable(output.name, names); });
  }

  /// A dimension of a file has the same cells for all of its variables: of the last output, against those
  /// before it.
  void check_cells(const FilePlan& file) const {
    const Output& made = file.outputs.back();
    const auto check = [&](const std::vector<DimChoice>& before, const std::vector<DimChoice>& now) {
      for (const DimChoice& dim : now)
        for (const DimChoice& other : before)
          if (other.name_in_file() == dim.name_in_file() && !(other == dim))
            fail(
                made.line, "fields", Code::setting,
                fmt::format("'{}' has other cells of dimension '{}' than fields before it; give it a file of "
                            "its own",
                            made.name, dim.name_in_file()));
    };
    for (const Output& other : file.outputs) {
      check(other.dims, made.dims);
      check(other.scalars, made.scalars);
    }
  }

  int clock(const FileChoice& choice) {
    Clock::Options options{time_.calendar,     choice.every, choice.offset.value_or(Duration{}),
                           choice.climatology, {},           {}};
    options.from = date(choice, choice.from, "from");
    options.until = date(choice, choice.until, "until");
    return clock(options, choice.line_of("every"), "every");
  }
  std::optional<Instant> date(const FileChoice& choice, const std::string& text, const char* key) const {
    if (text.empty()) return std::nullopt;
    return at(choice.line_of(key), key, [&] { return time_.calendar.parse(text); });
  }
  int clock(const Clock::Options& options, int line, const char* key) {
    for (std::size_t i = 0; i < plan_.clocks.size(); ++i)
      if (plan_.clocks[i].options() == options) return static_cast<int>(i);
    plan_.clocks.push_back(at(line, key, [&] { return Clock(options, time_.start, time_.now); }));
    return static_cast<int>(plan_.clocks.size()) - 1;
  }
  /// The clock at whose ends operations take values; -1: they take each step.
  int sample_clock(const FileChoice& file, const FieldChoice& choice, bool is_instant) {
    constexpr const char* k_key = "sample_every";
    if (is_instant && choice.sample_every)
      fail(choice.line, k_key, Code::setting,
           "an instant is the value at the end of its window, and takes no others");
    const auto wanted = choice.sample_every ? choice.sample_every : file.sample_every;
    if (is_instant || !wanted) return -1;
    return clock({time_.calendar, *wanted, {}, false, {}, {}},
                 choice.sample_every ? choice.line : file.line_of(k_key), k_key);
  }

  std::vector<int> sources_of(const FieldChoice& choice) {
    std::vector<int> out;
    const auto& fields = model_.fields();
    if (choice.by == FieldChoice::By::expression) return {expression(choice)};
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Field& field = fields[i];
      const bool chosen = choice.by == FieldChoice::By::name ? field.name == choice.text
                          : choice.by == FieldChoice::By::group
                              ? field.group == choice.text
                              : fnmatch(choice.text.c_str(), field.name.c_str(), 0) == 0;
      if (chosen) out.push_back(source({{static_cast<int>(i)}, nullptr, {}, nullptr, -1, field}));
    }
    if (!out.empty()) return out;
    if (choice.by == FieldChoice::By::name)
      fail(choice.line, "fields", Code::not_found,
           fmt::format("the model has no field '{}'{}", choice.text,
                       did_you_mean(choice.text, model_.field_names())));
    if (choice.by == FieldChoice::By::pattern)
      fail(choice.line, "fields", Code::not_found,
           fmt::format("no field of the model matches '{}'; it has: {}", choice.text,
                       some_of(model_.field_names())));
    std::vector<std::string> groups;
    for (const auto& field : fields)
      if (!field.group.empty() && std::find(groups.begin(), groups.end(), field.group) == groups.end())
        groups.push_back(field.group);
    fail(choice.line, "fields", Code::not_found,
         fmt::format("no field of the model is in group '{}'{}", choice.text,
                     did_you_mean(choice.text, groups)));
  }

  int source(Source wanted) {
    for (std::size_t i = 0; i < plan_.sources.size(); ++i)
      if (plan_.sources[i].is_same(wanted)) return static_cast<int>(i);
    plan_.sources.push_back(std::move(wanted));
    return static_cast<int>(plan_.sources.size()) - 1;
  }

  int expression(const FieldChoice& choice) {
    Source out;
    out.expression = at(choice.line, "expression", [&] { return Expression::parse(choice.text); });
    for (const auto& name : out.expression->names()) {
      const auto& fields = model_.fields();
      const auto found =
          std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == name; });
      if (found == fields.end())
        fail(choice.line, "expression", Code::not_found,
             fmt::format("'{}': the model has no field '{}'{}", choice.text, name,
                         did_you_mean(name, model_.field_names())));
      if (!out.fields.empty()) {
        const Field& first = nth(fields, out.fields.front());
        if (found->dims != first.dims || found->grid != first.grid)
          fail(choice.line, "expression", Code::setting,
               fmt::format("'{}': fields '{}' and '{}' differ in their dimensions or grid", choice.text,
                           first.name, found->name));
      }
      out.fields.push_back(static_cast<int>(found - fields.begin()));
    }
    const Field& first = nth(model_.fields(), out.fields.front());
    out.like = first;
    out.text = choice.text;
    out.like.name = choice.name;
    out.like.type = Type::double_;
    out.like.attributes = {text_attribute("long_name", choice.text)};
    out.like.for_step = std::any_of(out.fields.begin(), out.fields.end(),
                                    [&](int field) { return nth(model_.fields(), field).for_step; });
    out.like.missing = std::numeric_limits<double>::quiet_NaN();  // where one of its fields is missing
    return source(std::move(out));
  }

  // ---- Interpolation

  /// The source of interpolated values, or the same one.
  int interpolated(const FileChoice& file, int sent) {
    if (!file.interpolate) return sent;
    Source out = nth(plan_.sources, sent);
    const int dim = levels_->vertical_of(out.like);
    if (dim < 0) return sent;
    if (file.interpolate->after) return sent;
    const int levels = levels_->field_of(out.like);
    out.interpolation = levels_->interpolation(out.like, dim);
    if (levels >= 0) {
      const auto known = std::find(out.fields.begin(), out.fields.end(), levels);
      out.levels = static_cast<int>(known - out.fields.begin());
      if (known == out.fields.end()) out.fields.push_back(levels);
    }
    out.like.made_axis = levels_->axis(out.like.dims[static_cast<std::size_t>(dim)], levels);
    out.like.made_dim = dim;
    out.like.dims[static_cast<std::size_t>(dim)] = out.like.made_axis->name;
    out.like.outer[dim] = out.like.made_axis->length;
    out.like.missing = std::numeric_limits<double>::quiet_NaN();
    if (!is_floating(out.like.type)) out.like.type = Type::double_;
    return source(std::move(out));
  }

  /// Where values are taken.
  struct Sampled {
    int clock, sample;
  };

  /// Of the values of windows, and of the mean of their levels.
  void interpolate_after(Output& out, const Field& like, const std::shared_ptr<const Part>& part,
                         const Sampled& sampled) {
    const int dim = levels_->vertical_of(like);
    if (dim < 0) return;
    const int levels = levels_->field_of(like);
    out.interpolation = levels_->interpolation(like, dim);
    out.vertical = dim;
    if (out.operation.bins > 0)
      fail(out.line, "interpolate.when", Code::not_supported, "of parts of the day it is \"before\"");
    if (levels >= 0) {
      const bool instant = out.operation.operation == Operation::instant;
      const int of_levels = source({{levels}, nullptr, {}, nullptr, -1, nth(model_.fields(), levels)});
      out.levels = collector(of_levels, sampled.clock, sampled.sample,
                             {instant ? Operation::instant : Operation::mean, 0}, part);
    }
    DimChoice& choice = out.dims[static_cast<std::size_t>(dim)];
    choice = {};
    choice.made = levels_->axis(like.dims[static_cast<std::size_t>(dim)], levels);
    choice.name = choice.made->name;
    choice.length = choice.made->length;
  }

  int collector(int source_index, int clock_index, int sample, const TimeOperation& operation,
                const std::shared_ptr<const Part>& part) {
    const Source& source = nth(plan_.sources, source_index);
    const bool instant = operation.operation == Operation::instant;
    std::size_t i = 0;
    for (; i < plan_.collectors.size(); ++i) {
      const Collector& c = plan_.collectors[i];
      if (c.source == source_index && c.clock == clock_index && c.sample == sample &&
          c.bins == operation.bins && c.part == part && (c.kept != nullptr) == instant)
        break;
    }
    if (i == plan_.collectors.size()) {
      Collector made;
      made.source = source_index;
      made.clock = clock_index;
      made.sample = sample;
      made.bins = operation.bins;
      made.part = part;
      if (instant)
        made.kept = std::make_unique<KeptValues>(part, source.like.type, source.like.missing,
                                                 fill_of(source.like.type, source.like.missing));
      else
        made.accumulator = accumulator_for(plan_, made);
      plan_.collectors.push_back(std::move(made));
    }
    if (!instant) plan_.collectors[i].accumulator->need(operation.operation);
    return static_cast<int>(i);
  }

  Output output(const FilePlan& file, Selector& selector, const FieldChoice& choice, int source_index,
                const std::string& suffix) {
    const FileChoice& of_file = file.choice;
    const Field like = nth(plan_.sources, source_index).like;
    Output out;
    out.line = choice.line;
    out.suffix = suffix;
    out.name = (choice.name.empty() ? like.name : choice.name) + suffix;
    out.operation = choice.operation ? *choice.operation : of_file.operation.value_or(TimeOperation{});
    if (of_file.climatology &&
        (out.operation.operation == Operation::instant || out.operation.operation == Operation::diurnal))
      fail(choice.line, "operation", Code::setting,
           fmt::format("{} is not for a climatology, which joins windows of many years",
                       text_of(out.operation)));
    const Sampled sampled{file.clock,
                          sample_clock(of_file, choice, out.operation.operation == Operation::instant)};
    const auto part = at(of_file.line, "", [&] { return selector.part(like); });
    out.collector = collector(source_index, sampled.clock, sampled.sample, out.operation, part);
    out.dims = part->choices();
    if (of_file.interpolate && of_file.interpolate->after) interpolate_after(out, like, part, sampled);
    out.is_cut = like.grid >= 0;
    const auto sites = out.is_cut ? selector.sites_of(like.grid) : nullptr;
    out.is_of_sites = sites != nullptr;
    bool fractions = makes_fractions(out.operation.operation);
    if (of_file.reduce) {
      out.reducer.emplace(
          at(of_file.reduce->line, "reduce", [&] { return reducer(*of_file.reduce, like, part, selector); }));
      fractions = fractions || of_file.reduce->operation == SpaceOperation::mean ||
                  (of_file.reduce->operation == SpaceOperation::sum &&
                   of_file.reduce->weights == CellWeights::automatic);
      out.scalars = scalars(out, like, *part, *of_file.reduce);
      out.is_cut = out.is_cut && out.reducer->stays_cut();
      out.dims.clear();
      for (std::size_t d = 0; d < part->choices().size(); ++d)
        if (!out.reducer->gone()[d]) out.dims.push_back(part->choices()[d]);
    }
    choose_type(out, like, of_file, choice, fractions);
    const Source& source = nth(plan_.sources, source_index);
    const bool made =
        source.expression != nullptr || out.operation.operation == Operation::count || out.encoding.packing;
    // Interpolated ones have NaN in place of the field's.
    out.encoding.fill =
        fill_of(out.encoding.type, made ? std::nullopt : nth(model_.fields(), source.fields.front()).missing);
    if (choice.missing_value) choose_missing(out, choice);
    out.attributes = attributes(out, like, of_file, choice, sites.get());
    const int more = out.operation.bins > 0 ? 2 : 1;
    if (static_cast<int>(out.dims.size()) + more > k_max_dims)
      fail(choice.line, "fields", Code::not_supported,
           fmt::format("'{}' would have {} dimensions; files have at most {}", out.name,
                       static_cast<int>(out.dims.size()) + more, k_max_dims));
    return out;
  }

  /// fractions: the operations make some where the values of the field are whole.
  void choose_type(Output& out, const Field& like, const FileChoice& of_file, const FieldChoice& choice,
                   bool fractions) const {
    const bool own = choice.type || choice.scale_factor || choice.add_offset;
    const std::optional<PackRequest> pack = choice.pack || own ? choice.pack : of_file.pack;
    if (pack && pack->kind == PackRequest::Kind::range) {
      out.has_fractions = true;
      out.encoding.type = pack->type;
      out.encoding.packing =
          Packer::packing_of(pack->type, fill_of(pack->type, std::nullopt), pack->least, pack->most);
      return;
    }
    const bool is_plain = choice.pack.has_value();  // none: whatever the file says of others
    const std::optional<Type> said = choice.type || is_plain ? choice.type : of_file.type;
    const bool counts = out.operation.operation == Operation::count;
    out.has_fractions = fractions || (is_floating(like.type) && !counts);
    if (said)
      out.encoding.type = *said;
    else if (counts && !fractions)
      out.encoding.type = Type::int_;
    else
      out.encoding.type = fractions && !is_floating(like.type) ? Type::double_ : like.type;
    const auto refuse = [&](const char* key, bool of_field, const std::string& message) {
      fail(of_field ? choice.line : of_file.line_of(key), key, Code::setting, message);
    };
    const auto scale_factor = choice.scale_factor || is_plain ? choice.scale_factor : of_file.scale_factor;
    const auto add_offset = choice.add_offset || is_plain ? choice.add_offset : of_file.add_offset;
    if (scale_factor || add_offset) {
      if (!packs_into(out.encoding.type))
        refuse(scale_factor ? "scale_factor" : "add_offset",
               (scale_factor ? choice.scale_factor : choice.add_offset).has_value(),
               fmt::format("'{}' would be packed into {}; the type of packed values is byte, ubyte, short, "
                           "ushort, int or uint: type = \"short\"",
                           out.name, name_of(out.encoding.type)));
      out.encoding.packing = Packing{scale_factor.value_or(1), add_offset.value_or(0)};
    } else if (said && !is_floating(*said) && out.has_fractions) {
      refuse("type", choice.type.has_value(),
             fmt::format("{} has no fractions, and '{}' ({}) has some; choose float or double, or say "
                         "scale_factor and add_offset, by which values are packed",
                         name_of(*said), out.name, text_of(out.operation)));
    }
  }

  /// The value of cells without one, as the configuration says it.
  void choose_missing(Output& out, const FieldChoice& choice) const {
    const double given = *choice.missing_value;
    const char* const type = name_of(out.encoding.type);
    if (out.encoding.packing)
      fail(choice.line, "missing_value", Code::setting,
           fmt::format("'{}' is packed, and its cells without a value have the _FillValue of {}", out.name,
                       type));
    const bool is_float = out.encoding.type == Type::float_;
    const bool fits = is_floating(out.encoding.type)
                          ? !is_float || !(std::abs(given) > std::numeric_limits<float>::max())
                          : fill_of(out.encoding.type, given) == given;
    if (!fits)
      fail(choice.line, "missing_value", Code::setting,
           fmt::format("{} is no number of type {}, which '{}' has", given, type, out.name));
    out.encoding.fill = fill_of(out.encoding.type, given);
  }

  Reducer reducer(const Reduction& wanted, const Field& field, const std::shared_ptr<const Part>& part,
                  Selector& selector) {
    std::vector<bool> gone;
    const auto is_gone = [&](const std::string& dim) {
      return std::find(wanted.dims.begin(), wanted.dims.end(), dim) != wanted.dims.end();
    };
    for (const auto& choice : part->choices())
      gone.push_back(is_gone(choice.name));
    if (field.made_dim >= 0 && gone[static_cast<std::size_t>(field.made_dim)])
      throw error_of(
          {wanted.dims_line, "reduce.dims",
           fmt::format("'{}' has the levels that interpolate says, which have no thickness; they are not "
                       "joined",
                       field.dims[static_cast<std::size_t>(field.made_dim)])},
          Code::setting, configuration_.path);
    const bool of_sites = field.grid >= 0 && selector.sites_of(field.grid) != nullptr;
    for (std::size_t d = static_cast<std::size_t>(field.outer.size()); of_sites && d < field.dims.size(); ++d)
      if (is_gone(field.dims[d]))
        throw error_of({wanted.dims_line, "reduce.dims",
                        fmt::format("cells of grid '{}' are chosen one by one, and '{}' cannot be joined",
                                    model_.grid_of(field)->name, field.dims[d])},
                       Code::setting, configuration_.path);
    if (std::find(gone.begin(), gone.end(), true) == gone.end())
      throw error_of({wanted.dims_line, "reduce.dims",
                      fmt::format("field '{}' (\"{}\") has none of the dimensions {}", field.name,
                                  joined(as_listed(field.dims), " "), joined(wanted.dims, ", "))},
                     Code::setting, configuration_.path);
    std::vector<double> cell_weights;
    std::vector<std::vector<double>> dim_weights(static_cast<std::size_t>(field.outer.size()));
    const bool weighted =
        wanted.weights == CellWeights::automatic &&
        (wanted.operation == SpaceOperation::mean || wanted.operation == SpaceOperation::sum);
    const Grid* grid = model_.grid_of(field);
    const auto outer = static_cast<std::size_t>(field.outer.size());
    bool over_grid = false;
    for (std::size_t d = 0; d < gone.size(); ++d) {
      if (!gone[d] || !weighted) continue;
      if (d >= outer) {
        over_grid = true;
        continue;
      }
      const Axis* axis = model_.axis(field.dims[d]);
      if (axis == nullptr || axis->bounds.empty())
        throw Error(
            Code::setting,
            "cells of '{}' have no thickness, as the model describes its axis without bounds; weights = "
            "\"none\" takes all alike",
            field.dims[d]);
      const DimChoice& chosen = part->choices()[d];
      for (std::int64_t i = 0; i < chosen.chosen(); ++i) {
        const auto cell = static_cast<std::size_t>(chosen.cell(i));
        dim_weights[d].push_back(std::abs(axis->bounds[2 * cell + 1] - axis->bounds[2 * cell]));
      }
    }
    if (over_grid && grid != nullptr) {
      const GridVariable* area = model_.area_of(field.grid);
      if (area == nullptr)
        throw Error(
            Code::setting,
            "the model describes no area of grid '{}', to weight its cells with; weights = \"none\" takes "
            "all alike",
            grid->name);
      auto values = area->values;
      const auto of_grid = selector.grid_part(field);
      cell_weights = part_values(*of_grid, ArrayView::contiguous(values.data(), Type::double_,
                                                                 own_extents({}, grid->decomposition.get())));
    }
    return Reducer(part, std::move(gone), wanted.operation, std::move(cell_weights), dim_weights);
  }

  Attributes attributes(const Output& out, const Field& like, const FileChoice& file,
                        const FieldChoice& choice, const Sites* sites) const {
    Attributes all = like.attributes;
    const auto put = [&](Attribute attribute) {
      std::erase_if(all, [&](const Attribute& other) { return other.name == attribute.name; });
      all.push_back(std::move(attribute));
    };
    std::string methods = text_of(all, "cell_methods");
    const auto add = [&](const std::string& method) { methods += (methods.empty() ? "" : " ") + method; };
    const std::string method = cell_method(out.operation);
    if (!method.empty() && file.climatology)
      add(fmt::format("time: {0} within years time: {0} over years", method));
    else if (!method.empty())
      add("time: " + method);
    if (file.reduce) {
      constexpr const char* k_names[] = {"mean", "sum", "minimum", "maximum"};
      add(names_of_gone(out, like, *nth(plan_.collectors, out.collector).part) +
          nth(k_names, file.reduce->operation));
    }
    if (!methods.empty()) put(text_attribute("cell_methods", methods));
    const std::string units = text_of(all, "units");
    if (out.operation.operation == Operation::variance && !units.empty())
      put(text_attribute(
          "units", std::all_of(units.begin(), units.end(), isalpha) ? units + "2" : "(" + units + ")2"));
    if (out.operation.operation == Operation::count) {
      std::erase_if(all, [](const Attribute& other) { return other.name == "standard_name"; });
      put(text_attribute("units", "1"));
    }
    std::vector<std::string> coordinates;
    for (const DimChoice& scalar : out.scalars)
      coordinates.push_back(scalar.name_in_file());
    for (const auto& variable : model_.grid_variables())
      if (out.is_cut && variable.grid == like.grid && !variable.is_area)
        coordinates.push_back(variable.name + out.suffix);
    for (std::size_t i = 0; sites != nullptr && i < sites->dim_names.size(); ++i)
      if (has_values(sites->dim_names[i])) coordinates.push_back(sites->dim_names[i]);
    if (sites != nullptr && !sites->is_section) coordinates.emplace_back("station_name");
    if (!coordinates.empty()) put(text_attribute("coordinates", joined(coordinates, " ")));
    if (out.encoding.packing) {
      put(attribute_of({"scale_factor", std::vector<double>{out.encoding.packing->scale_factor}, 0}));
      put(attribute_of({"add_offset", std::vector<double>{out.encoding.packing->add_offset}, 0}));
    }
    if (out.is_cut) {
      if (const GridVariable* area = model_.area_of(like.grid))
        put(text_attribute("cell_measures", "area: " + area->name + out.suffix));
    }
    for (const auto& given : choice.attributes)
      put(attribute_of(given));
    if (choice.missing_value) put(number_attribute("missing_value", out.encoding));
    return all;
  }

  bool has_values(const std::string& dim) const {
    const Axis* axis = model_.axis(dim);
    return axis != nullptr && axis->type != Type::none;
  }

  /// Dimensions that are joined, and stay as scalar coordinates. Those of a grid do not where the whole area
  /// is joined, or some of them have no values.
  std::vector<DimChoice> scalars(const Output& out, const Field& like, const Part& part,
                                 const Reduction& reduction) const {
    const std::vector<bool>& gone = out.reducer->gone();
    const auto outer = static_cast<std::size_t>(like.outer.size());
    const bool alike =
        reduction.weights == CellWeights::none &&
        (reduction.operation == SpaceOperation::mean || reduction.operation == SpaceOperation::sum);
    bool area = !alike && std::find(gone.begin() + like.outer.size(), gone.end(), false) == gone.end();
    for (std::size_t d = outer; d < gone.size(); ++d)
      area = area || (gone[d] && !has_values(like.dims[d]));
    std::vector<DimChoice> all;
    for (std::size_t d = 0; d < gone.size(); ++d)
      if (gone[d] && (d < outer || !area) && has_values(like.dims[d])) all.push_back(part.choices()[d]);
    return all;
  }

  /// Names in cell_methods.
  static std::string names_of_gone(const Output& out, const Field& like, const Part& part) {
    std::string names, area;
    for (std::size_t d = 0; d < out.reducer->gone().size(); ++d) {
      if (!out.reducer->gone()[d]) continue;
      const bool is_scalar =
          std::any_of(out.scalars.begin(), out.scalars.end(),
                      [&](const DimChoice& scalar) { return scalar.name == like.dims[d]; });
      if (is_scalar || d < static_cast<std::size_t>(like.outer.size()))
        names += part.choices()[d].name_in_file() + ": ";
      else
        area = "area: ";
    }
    return names + area;
  }

  void add_grids(FilePlan& file) {
    for (const Output& output : file.outputs) {
      if (!output.is_cut) continue;
      const Collector& collector = nth(plan_.collectors, output.collector);
      const Field& like = plan_.source_of(collector).like;
      const bool known = std::any_of(file.grids.begin(), file.grids.end(), [&](const GridPart& other) {
        return other.grid == like.grid && other.suffix == output.suffix;
      });
      const bool has_variables =
          std::any_of(model_.grid_variables().begin(), model_.grid_variables().end(),
                      [&](const GridVariable& variable) { return variable.grid == like.grid; });
      if (known || !has_variables) continue;
      // On land coordinates have values, too.
      const auto choices = collector.part->choices();
      file.grids.push_back(
          {like.grid,
           std::make_shared<const Part>(
               comm_, std::vector(choices.begin() + collector.part->outer_dims(), choices.end()), 0,
               without_mask(nth(model_.grids(), like.grid).decomposition)),
           output.suffix, ""});
    }
  }

  std::shared_ptr<const Decomposition> without_mask(const std::shared_ptr<const Decomposition>& grid) const {
    if (!grid->is_masked()) return grid;
    const IndexMap* map = grid->map();
    return Decomposition::masked(
        comm_, grid.get(),
        CellMask(map != nullptr ? Dims{map->local_cells()} : tail(grid->tile().count, grid->masked_dims())));
  }

  const Comm& comm_;
  const Configuration& configuration_;
  const Descriptions& model_;
  const RunTime& time_;
  Parts parts_;
  Plan plan_;
  std::optional<LevelPlanner> levels_;  // of the file, whose values are interpolated
};

}  // namespace

std::unique_ptr<Accumulator> accumulator_for(const Plan& plan, const Collector& collector) {
  const Field& like = plan.source_of(collector).like;
  return std::make_unique<Accumulator>(collector.part, like.type, like.missing, collector.bins,
                                       plan.clock_of(collector).slots());
}

Plan make_plan(const Comm& comm, const Configuration& configuration, const Descriptions& model,
               const RunTime& time) {
  return Planner(comm, configuration, model, time).make();
}

}  // namespace shoal::streams
