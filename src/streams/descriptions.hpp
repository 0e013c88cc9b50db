// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/array_view.hpp"
#include "base/bytes.hpp"
#include "base/hash.hpp"
#include "decomp/decomposition.hpp"

namespace shoal::streams {

/// An attribute as Dataset::put_att takes it.
struct Attribute {
  std::string name;
  Type type = Type::char_;
  std::int64_t count = 0;
  Bytes values;  ///< of char_: the text
};
using Attributes = std::vector<Attribute>;
Attribute text_attribute(const std::string& name, const std::string& text);
/// nullptr: there is none of the name.
const Attribute* find(const Attributes& attributes, const std::string& name);
/// The text of an attribute; "" if there is none, or it is no text.
std::string text_of(const Attributes& attributes, const std::string& name);

/// A dimension, and the values of its coordinate.
struct Axis {
  std::string name;
  std::int64_t length = 0;
  Type type = Type::none;      ///< none: no coordinate
  std::vector<double> values;  ///< [length]
  std::vector<double> bounds;  ///< [length * 2] or none
  Attributes attributes;
};

struct Grid {
  std::string name;
  std::vector<std::string> dims;
  std::shared_ptr<const Decomposition> decomposition;
};

/// A variable of a grid that does not change.
struct GridVariable {
  std::string name;
  int grid = 0;
  bool is_area = false;
  Type type = Type::double_;
  std::vector<double> values;  ///< this rank's own cells, row-major
  Attributes attributes;
};

struct Field {
  std::string name;
  Type type = Type::double_;
  std::vector<std::string> dims;
  int grid = -1;  ///< -1: the same on all ranks
  std::string group;
  bool for_step = false;
  Attributes attributes;
  Dims outer;                     ///< lengths of the dimensions before those of the grid
  std::optional<double> missing;  ///< from its attributes, as its type has it
  /// Of values that are interpolated: the levels, and which dimension they are of; nullptr: the model's.
  std::shared_ptr<const Axis> made_axis = {};
  int made_dim = -1;
};
/// Is a value of an array the missing one of the field? Arrays may have another type than the field, so both
/// are compared in the narrower of the types: 1e20 is found as float and as double. NaN is any NaN.
bool is_missing(double value, Type of_array, double missing, Type of_field);

/// What a model says of itself before the first step. Local; the same on all ranks in the end.
class Descriptions {
 public:
  void add_axis(const std::string& name, const ArrayView& values, const ArrayView* bounds);
  void add_grid(const std::string& name, const std::string& dims,
                std::shared_ptr<const Decomposition> decomposition);
  void add_grid_variable(const std::string& grid, const std::string& name, const ArrayView& values,
                         bool is_area);
  int add_field(const std::string& name, Type type, const std::string& dims, const std::string& grid,
                const std::string& group, bool for_step);
  /// of "": of all files.
  void put_att(const std::string& of, const std::string& name, Type type, std::int64_t count,
               const void* values);

  const std::vector<Axis>& axes() const { return axes_; }
  const std::vector<Grid>& grids() const { return grids_; }
  const std::vector<GridVariable>& grid_variables() const { return grid_variables_; }
  const std::vector<Field>& fields() const { return fields_; }
  const Attributes& attributes() const { return attributes_; }
  /// nullptr: there is none.
  const Axis* axis(const std::string& name) const;
  const Grid* grid_of(const Field& field) const;
  /// The decomposition of the field's grid, nullptr if it has none.
  const Decomposition* decomposition_of(const Field& field) const;
  /// Of a dimension of an axis or grid; -1: there is none.
  std::int64_t length_of(const std::string& dim) const;
  const GridVariable* area_of(int grid) const;
  std::vector<std::string> field_names() const;

  /// Of all that has to be the same on all ranks.
  std::uint64_t hash() const;

 private:
  void check_new(const std::string& name) const;
  Attributes& attributes_of(const std::string& of);
  int grid_index(const std::string& name) const;
  std::vector<std::string> dim_names() const;

  std::vector<Axis> axes_;
  std::vector<Grid> grids_;
  std::vector<GridVariable> grid_variables_;
  std::vector<Field> fields_;
  Attributes attributes_;
};

/// Extents of this rank's own cells of a field: the outer dimensions, and those of its tile, or the length of
/// its list and the dimensions that are not cut. decomposition nullptr: outer alone.
Dims own_extents(const Dims& outer, const Decomposition* decomposition);
/// Those cells of an array with or without the halo. Error(invalid_argument): other extents, no data;
/// Error(type): no numbers. On a rank without cells a view of none.
ArrayView own_cells(const ArrayView& array, const Dims& outer, const Decomposition* decomposition);
/// All elements of a view as doubles, row-major. Error(range, type).
std::vector<double> doubles_of(const ArrayView& view);

}  // namespace shoal::streams
