// SPDX-License-Identifier: BSD-3-Clause
#include "streams/descriptions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/language.hpp"
#include "base/text.hpp"
#include "codec/convert.hpp"
#include "streams/nth.hpp"

namespace shoal::streams {

Attribute text_attribute(const std::string& name, const std::string& text) {
  Attribute out{name, Type::char_, static_cast<std::int64_t>(text.size()), Bytes(text.size())};
  std::memcpy(out.values.data(), text.data(), text.size());
  return out;
}

const Attribute* find(const Attributes& attributes, const std::string& name) {
  for (const auto& attribute : attributes)
    if (attribute.name == name) return &attribute;
  return nullptr;
}

std::string text_of(const Attributes& attributes, const std::string& name) {
  const Attribute* found = find(attributes, name);
  if (found == nullptr || found->type != Type::char_) return {};
  return {reinterpret_cast<const char*>(found->values.data()), found->values.size()};
}

Dims own_extents(const Dims& outer, const Decomposition* decomposition) {
  if (decomposition == nullptr) return outer;
  if (const IndexMap* map = decomposition->map())
    return joined(joined(outer, Dims{map->local_cells()}), decomposition->whole_shape());
  return joined(outer, decomposition->tile().count);
}

ArrayView own_cells(const ArrayView& array, const Dims& outer, const Decomposition* decomposition) {
  const Dims own = own_extents(outer, decomposition);
  if (volume(own) == 0) return ArrayView::contiguous(nullptr, Type::double_, own);
  if (!is_number(array.type)) throw Error(Code::type, "an array of {} has no numbers", name_of(array.type));
  if (array.data == nullptr) throw Error(Code::invalid_argument, "the array's data is NULL");
  if (array.extents == own) return array;
  const bool block = decomposition != nullptr && decomposition->map() == nullptr;
  const Dims with_halo = block ? joined(outer, decomposition->local_shape()) : own;
  if (!(array.extents == with_halo)) {
    std::string expected = text_of(own);
    if (!(with_halo == own)) expected += " (the tile) or " + text_of(with_halo) + " (with its halo)";
    throw Error(Code::invalid_argument, "the array has the extents {}; expected {}", text_of(array.extents),
                expected);
  }
  Box tile(Dims(own.size()), own);
  for (int d = outer.size(); d < own.size(); ++d)
    tile.first[d] = decomposition->halo_low()[d - outer.size()];
  return array.part(tile);
}

std::vector<double> doubles_of(const ArrayView& view) {
  std::vector<double> out(static_cast<std::size_t>(volume(view.extents)));
  if (out.empty()) return out;
  if (!is_number(view.type)) throw Error(Code::type, "an array of {} has no numbers", name_of(view.type));
  const ArrayView to = ArrayView::contiguous(out.data(), Type::double_, view.extents);
  const Element from{view.type, view.element_size, false};
  copy_box(view.data, view.strides, to.data, to.strides, view.extents,
           find_conversion(from, {Type::double_, sizeof(double), false}), nullptr);
  return out;
}

bool is_missing(double value, Type of_array, double missing, Type of_field) {
  if (missing != missing) return value != value;
  const bool in_float = of_array == Type::float_ || of_field == Type::float_;
  if (in_float && std::abs(missing) <= std::numeric_limits<float>::max())
    return static_cast<float>(value) == static_cast<float>(missing);
  return value == missing;
}

namespace {

// Error(range): the type has no such value.
double as_type_has_it(Attribute& attribute, Type type, const std::string& field) {
  std::array<std::byte, sizeof(double)> converted;
  const auto from = static_cast<std::int64_t>(size_of(attribute.type)),
             to = static_cast<std::int64_t>(size_of(type));
  const auto errors =
      find_conversion({attribute.type, size_of(attribute.type), false}, {type, size_of(type), false})(
          attribute.values.data(), from, converted.data(), to, 1, nullptr);
  const auto number = [](std::byte* value, Type of) {
    return doubles_of(ArrayView::contiguous(value, of, Dims{1}))[0];
  };
  const double given = number(attribute.values.data(), attribute.type);
  const double made = errors.count > 0 ? 0 : number(converted.data(), type);
  const bool rounds = type == Type::float_ || type == Type::double_;
  if (errors.count > 0 || (!rounds && made != given))
    throw Error(Code::range, "field '{}': {} is {}, which type {} does not have", field, attribute.name,
                given, name_of(type));
  return made;
}

// What fields share lies where all groups see it.
void check_in_no_group(const char* what, const std::string& name) {
  if (name.find('/') != std::string::npos)
    throw Error(
        Code::invalid_argument,
        "{} '{}' would be in a group; only fields are, and dimensions and coordinates are the file's own",
        what, name);
}

}  // namespace

void Descriptions::add_axis(const std::string& name, const ArrayView& values, const ArrayView* bounds) {
  check_new(name);
  check_in_no_group("axis", name);
  if (values.extents.size() != 1)
    throw Error(Code::invalid_argument, "axis '{}': values have {} dimensions; they have one", name,
                values.extents.size());
  Axis axis;
  axis.name = name;
  axis.length = values.extents[0];
  if (axis.length < 1) throw Error(Code::invalid_argument, "axis '{}' has no cells", name);
  for (const auto& grid : grids_)
    for (std::size_t d = 0; d < grid.dims.size(); ++d)
      if (grid.dims[d] == name && grid.decomposition->global()[static_cast<int>(d)] != axis.length)
        throw Error(Code::invalid_argument, "axis '{}' has {} cells, that dimension of grid '{}' {}", name,
                    axis.length, grid.name, grid.decomposition->global()[static_cast<int>(d)]);
  if (values.data != nullptr) {
    axis.type = values.type;
    axis.values = doubles_of(values);
  }
  if (bounds != nullptr) {
    if (axis.values.empty()) throw Error(Code::invalid_argument, "axis '{}' has bounds and no values", name);
    if (!(bounds->extents == Dims{axis.length, 2}) || bounds->data == nullptr)
      throw Error(Code::invalid_argument, "axis '{}': the bounds have the extents {}; expected {}", name,
                  text_of(bounds->extents), text_of(Dims{axis.length, 2}));
    axis.bounds = doubles_of(*bounds);
  }
  axes_.push_back(std::move(axis));
}

void Descriptions::add_grid(const std::string& name, const std::string& dims,
                            std::shared_ptr<const Decomposition> decomposition) {
  if (name.empty()) throw Error(Code::invalid_argument, "the name of a grid is empty");
  for (const auto& grid : grids_)
    if (grid.name == name) throw Error(Code::exists, "there is a grid '{}' already", name);
  Grid grid{name, names_in(dims), std::move(decomposition)};
  if (grid.decomposition == nullptr)
    throw Error(Code::invalid_argument, "grid '{}' has no decomposition", name);
  for (const std::string& dim : grid.dims)
    check_in_no_group("dimension", dim);
  const Dims& global = grid.decomposition->global();
  if (static_cast<int>(grid.dims.size()) != global.size())
    throw Error(Code::invalid_argument,
                "grid '{}': {} names of dimensions (\"{}\"), but the decomposition has {}", name,
                grid.dims.size(), joined(as_listed(grid.dims), " "), global.size());
  for (std::size_t d = 0; d < grid.dims.size(); ++d) {
    const std::int64_t length = length_of(grid.dims[d]), mine = global[static_cast<int>(d)];
    if (length >= 0 && length != mine)
      throw Error(Code::invalid_argument, "grid '{}': dimension '{}' has {} cells; it was described with {}",
                  name, grid.dims[d], mine, length);
  }
  const Status writable = grid.decomposition->writable();
  if (!writable.ok()) throw Error(writable);
  grids_.push_back(std::move(grid));
}

void Descriptions::add_grid_variable(const std::string& grid, const std::string& name,
                                     const ArrayView& values, bool is_area) {
  check_new(name);
  check_in_no_group(is_area ? "area" : "coordinate", name);
  GridVariable out;
  out.name = name;
  out.grid = grid_index(grid);
  out.is_area = is_area;
  const Decomposition& decomposition = *nth(grids_, out.grid).decomposition;
  if (is_area && area_of(out.grid) != nullptr)
    throw Error(Code::exists, "grid '{}' has the area '{}' already", grid, area_of(out.grid)->name);
  out.type = is_number(values.type) ? values.type : Type::double_;
  out.values = doubles_of(own_cells(values, {}, &decomposition));
  if (is_area) {
    const CellMask* mask = decomposition.mask();
    for (std::size_t i = 0; i < out.values.size(); ++i) {
      const bool masked = mask != nullptr && decomposition.map() == nullptr &&
                          mask->is_masked(static_cast<std::int64_t>(i) % mask->cells());
      if (!masked && decomposition.map() == nullptr && !(out.values[i] >= 0))
        throw Error(Code::range, "area '{}': cell {} of this rank (counted {}) has {}; areas are 0 or more",
                    name, as_index(static_cast<std::int64_t>(i)), counted_from(), out.values[i]);
    }
  }
  grid_variables_.push_back(std::move(out));
}

int Descriptions::add_field(const std::string& name, Type type, const std::string& dims,
                            const std::string& grid, const std::string& group, bool for_step) {
  check_new(name);
  if (!is_number(type))
    throw Error(Code::type, "field '{}': type {} is none of numbers", name, name_of(type));
  Field field;
  field.name = name;
  field.type = type;
  field.dims = names_in(dims);
  field.group = group;
  field.for_step = for_step;
  std::size_t outer = field.dims.size();
  if (field.dims.size() >= k_max_dims)
    throw Error(Code::invalid_argument, "field '{}' has {} dimensions; at most {}, as records have one, too",
                name, field.dims.size(), k_max_dims - 1);
  if (!grid.empty()) {
    field.grid = grid_index(grid);
    const auto& of_grid = nth(grids_, field.grid).dims;
    if (of_grid.size() > field.dims.size() ||
        !std::equal(of_grid.begin(), of_grid.end(),
                    field.dims.end() - static_cast<std::ptrdiff_t>(of_grid.size())))
      throw Error(Code::invalid_argument, "field '{}' (\"{}\"): {} are not those of grid '{}', \"{}\"", name,
                  joined(as_listed(field.dims), " "), fastest_dimensions(static_cast<int>(of_grid.size())),
                  grid, joined(as_listed(of_grid), " "));
    outer -= of_grid.size();
  }
  for (std::size_t d = 0; d < outer; ++d) {
    const std::int64_t length = length_of(field.dims[d]);
    if (length < 0)
      throw Error(Code::not_found, "field '{}': '{}' is no axis{}", name, field.dims[d],
                  did_you_mean(field.dims[d], dim_names()));
    field.outer.push_back(length);
  }
  fields_.push_back(std::move(field));
  return static_cast<int>(fields_.size()) - 1;
}

void Descriptions::put_att(const std::string& of, const std::string& name, Type type, std::int64_t count,
                           const void* values) {
  if (name.empty()) throw Error(Code::invalid_argument, "the name of an attribute is empty");
  if (count < 0 || (count > 0 && values == nullptr))
    throw Error(Code::invalid_argument, "attribute '{}' has {} values, which is not possible", name, count);
  Attributes& attributes = of.empty() ? attributes_ : attributes_of(of);
  Attribute attribute{name, type, count, {}};
  if (type == Type::string) {  // kept as text: one string
    if (count != 1)
      throw Error(Code::not_supported, "attribute '{}': a list of strings; give one text (SHOAL_CHAR)", name);
    attribute = text_attribute(name, *static_cast<const char* const*>(values));
  } else {
    attribute.values.resize(size_of(type) * static_cast<std::size_t>(count));
    if (count > 0) std::memcpy(attribute.values.data(), values, attribute.values.size());
  }
  std::erase_if(attributes, [&](const Attribute& other) { return other.name == name; });
  if (name == "_FillValue" || name == "missing_value")
    for (auto& field : fields_)
      if (field.name == of) {
        if (count != 1 || !is_number(type))
          throw Error(Code::invalid_argument, "field '{}': {} is one number", of, name);
        field.missing = as_type_has_it(attribute, field.type, of);
        return;  // files have it in the type of their variable
      }
  attributes.push_back(std::move(attribute));
}

const Axis* Descriptions::axis(const std::string& name) const {
  for (const auto& axis : axes_)
    if (axis.name == name) return &axis;
  return nullptr;
}

const Grid* Descriptions::grid_of(const Field& field) const {
  return field.grid < 0 ? nullptr : &nth(grids_, field.grid);
}

const Decomposition* Descriptions::decomposition_of(const Field& field) const {
  const Grid* grid = grid_of(field);
  return grid == nullptr ? nullptr : grid->decomposition.get();
}

std::int64_t Descriptions::length_of(const std::string& dim) const {
  if (const Axis* found = axis(dim)) return found->length;
  for (const auto& grid : grids_)
    for (std::size_t d = 0; d < grid.dims.size(); ++d)
      if (grid.dims[d] == dim) return grid.decomposition->global()[static_cast<int>(d)];
  return -1;
}

const GridVariable* Descriptions::area_of(int grid) const {
  for (const auto& variable : grid_variables_)
    if (variable.grid == grid && variable.is_area) return &variable;
  return nullptr;
}

std::vector<std::string> Descriptions::field_names() const {
  std::vector<std::string> names;
  for (const auto& field : fields_)
    names.push_back(field.name);
  return names;
}

std::vector<std::string> Descriptions::dim_names() const {
  std::vector<std::string> names;
  for (const auto& axis : axes_)
    names.push_back(axis.name);
  for (const auto& grid : grids_)
    for (auto& dim : as_listed(grid.dims))
      names.push_back(std::move(dim));
  return names;
}

void Descriptions::check_new(const std::string& name) const {
  if (name.empty()) throw Error(Code::invalid_argument, "a name is empty");
  const auto is_it = [&](const auto& other) { return other.name == name; };
  if (std::any_of(axes_.begin(), axes_.end(), is_it) || std::any_of(fields_.begin(), fields_.end(), is_it) ||
      std::any_of(grid_variables_.begin(), grid_variables_.end(), is_it))
    throw Error(Code::exists, "'{}' was described already", name);
}

Attributes& Descriptions::attributes_of(const std::string& of) {
  std::vector<std::string> names;
  const auto look = [&](auto& described) -> Attributes* {
    for (auto& one : described) {
      if (one.name == of) return &one.attributes;
      names.push_back(one.name);
    }
    return nullptr;
  };
  if (auto* found = look(axes_)) return *found;
  if (auto* found = look(grid_variables_)) return *found;
  if (auto* found = look(fields_)) return *found;
  throw Error(Code::not_found, "'{}' was not described{}", of, did_you_mean(of, names));
}

int Descriptions::grid_index(const std::string& name) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < grids_.size(); ++i) {
    if (grids_[i].name == name) return static_cast<int>(i);
    names.push_back(grids_[i].name);
  }
  throw Error(Code::not_found, "there is no grid '{}'{}", name, did_you_mean(name, names));
}

std::uint64_t Descriptions::hash() const {
  ByteWriter out;
  const auto put_attributes = [&](const Attributes& attributes) {
    for (const auto& a : attributes) {
      out.put(a.name);
      out.put(static_cast<int>(a.type));
      out.put(a.values);
    }
  };
  for (const auto& a : axes_) {
    out.put(a.name);
    out.put(a.length);
    out.put(static_cast<int>(a.type));
    out.put(a.values);
    out.put(a.bounds);
    put_attributes(a.attributes);
  }
  for (const auto& g : grids_) {
    out.put(g.name);
    out.put(g.dims);
    const Dims& global = g.decomposition->global();
    out.put(std::vector<std::int64_t>(global.begin(), global.end()));
  }
  for (const auto& v : grid_variables_) {
    out.put(v.name);
    out.put(v.grid);
    out.put(v.is_area);
    out.put(static_cast<int>(v.type));
    put_attributes(v.attributes);
  }
  for (const auto& f : fields_) {
    out.put(f.name);
    out.put(static_cast<int>(f.type));
    out.put(f.dims);
    out.put(f.grid);
    out.put(f.group);
    out.put(f.for_step);
    out.put(f.missing.has_value() ? *f.missing : 0.0);
    put_attributes(f.attributes);
  }
  put_attributes(attributes_);
  const Bytes bytes = out.take();
  Hash hash;
  hash.add(bytes.data(), bytes.size());
  return hash.value();
}

}  // namespace shoal::streams
