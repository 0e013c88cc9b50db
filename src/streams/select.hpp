// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "comm/comm.hpp"
#include "streams/configuration.hpp"
#include "streams/descriptions.hpp"
#include "streams/part.hpp"
#include "streams/sites.hpp"

namespace shoal::streams {

/// The attribute that a table of the configuration says.
Attribute attribute_of(const AttributeChoice& choice);

/// From where to where the chosen cells of an axis with values are, with their bounds if it has them; of
/// longitudes around 360, where that is shorter.
std::pair<double, double> extent_of(const Axis& axis, const DimChoice& chosen);

/// The axis of a dimension; nullptr: it has none.
const Axis* axis_of(const Descriptions& model, const DimChoice& dim);

/// Parts that were made, so that equal ones are one: accumulators of files are shared by it.
class Parts {
 public:
  /// grid: -1: none. Collective where there is no such part yet.
  std::shared_ptr<const Part> part(const Comm& comm, const Descriptions& model,
                                   std::vector<DimChoice> choices, int outer, int grid);

 private:
  struct Known {
    int outer, grid;
    std::shared_ptr<const Part> part;
  };
  std::vector<Known> known_;
};

/// Finds the cells that a file has: region, indices and levels of the configuration, on the axes and grids of
/// the model.
class Selector {
 public:
  /// region: of the file, or one of its regions; suffix: of the names of dimensions of which it chooses
  /// cells. path: of the configuration, for messages.
  Selector(const Comm& comm, const Descriptions& model, const FileChoice& file, const Region& region,
           std::string suffix, const std::string& path, Parts& parts)
      : comm_(comm),
        model_(model),
        file_(file),
        region_(region),
        suffix_(std::move(suffix)),
        path_(path),
        parts_(parts) {}
  const std::string& suffix() const { return suffix_; }
  /// Cells one by one that were found for a field of the grid; nullptr: none. Local.
  std::shared_ptr<const Sites> sites_of(int grid) const;
  /// Does the region choose cells of the field?
  bool has_region_of(const Field& field) const;

  /// Of the field. Error(setting, not_found) with line and key: no cell is chosen, cells that there are not.
  /// Collective.
  std::shared_ptr<const Part> part(const Field& field);
  /// Of the dimensions of the field's grid alone. Collective.
  std::shared_ptr<const Part> grid_part(const Field& field);
  /// Error(not_found) with line and key: region, indices, levels or reduce name what no field has.
  void check_used() const;

 private:
  template <class Choice>
  [[noreturn]] void fail(const Choice& choice, Code code, std::string message) const {
    throw error_of({choice.line, choice.key(), std::move(message)}, code, path_);
  }
  /// Of the cells that a choice leaves of a dimension. Error(setting): none.
  template <class Choice>
  void keep(const Choice& of, DimChoice& choice, const std::vector<std::int64_t>& cells) const;
  void check_order(const CoordinateRange& range, bool longitude) const;
  DimChoice choice_of(const Field& field, std::size_t dim);
  std::vector<DimChoice> choices_of(const Field& field);
  void choose_levels(const Field& field, std::size_t dim, DimChoice& choice);
  void choose_on_axis(const CoordinateRange& range, const Axis& axis, DimChoice& choice) const;
  void choose_on_grid(const Field& field, std::vector<DimChoice>& choices);
  void choose_sites(const Field& field, std::vector<DimChoice>& choices);
  SiteChoice named_places() const;

  const Comm& comm_;
  const Descriptions& model_;
  const FileChoice& file_;
  const Region& region_;
  std::string suffix_;
  const std::string& path_;
  Parts& parts_;
  std::set<std::string> used_, dims_;  // keys; dimensions of fields
  /// Of the region, by grid: indices of each dimension.
  std::map<int, std::vector<std::vector<std::int64_t>>> on_grids_;
  std::map<int, std::shared_ptr<const Sites>> sites_;  // of grids
};

}  // namespace shoal::streams
