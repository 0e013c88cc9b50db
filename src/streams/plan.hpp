// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "streams/accumulator.hpp"
#include "streams/clock.hpp"
#include "streams/coarsening.hpp"
#include "streams/configuration.hpp"
#include "streams/descriptions.hpp"
#include "streams/expression.hpp"
#include "streams/interpolation.hpp"
#include "streams/nth.hpp"
#include "streams/packing.hpp"
#include "streams/reducer.hpp"
#include "streams/sites.hpp"

namespace shoal::streams {

/// What values come from: a field that is sent, or an expression of several, on one grid.
struct Source {
  std::vector<int> fields;  ///< one, or those of the expression, each once
  std::shared_ptr<const Expression> expression;
  std::string text;                                    ///< of the expression
  std::shared_ptr<const Interpolation> interpolation;  ///< behind it
  int levels = -1;                                     ///< which of the fields are its levels; -1: the axis
  Field like;  ///< name, type, dimensions, grid and attributes of the values

  bool is_made() const { return expression != nullptr || interpolation != nullptr; }
  std::string interpolation_text() const { return interpolation == nullptr ? "" : interpolation->text(); }

  bool is_same(const Source& other) const {
    return fields == other.fields && text == other.text && like.name == other.like.name &&
           levels == other.levels && like.made_dim == other.like.made_dim &&
           interpolation_text() == other.interpolation_text() && like.dims == other.like.dims;
  }
};

/// Takes the values of a source in the steps of one kind of windows, for one part of the cells. Files share
/// it.
struct Collector {
  int source = 0;
  int clock = 0;
  int sample = -1;  ///< the clock at whose ends it takes a value; -1: it takes each step
  int bins = 0;     ///< of the day; 0: none
  std::shared_ptr<const Part> part;
  std::unique_ptr<Accumulator> accumulator;  ///< or
  std::unique_ptr<KeptValues> kept;          ///< of instants
  std::optional<Instant> kept_hole;          ///< the instant was not sent
};

/// A variable of a file.
struct Output {
  std::string name;
  int collector = 0;
  TimeOperation operation;
  Encoding encoding;
  bool has_fractions = false;  ///< may its values have some, before they are packed?
  std::optional<Reducer> reducer;
  std::shared_ptr<const Interpolation> interpolation;  ///< of the values of windows
  int levels = -1;                                     ///< the collector of its levels; -1: those of the axis
  int vertical = -1;                                   ///< which of the part's dimensions
  std::vector<DimChoice> dims;                         ///< behind time, and the parts of a day
  std::vector<DimChoice> scalars;                      ///< joined dimensions that have a scalar coordinate
  bool is_cut = false;                                 ///< its last dimensions are those of the grid
  bool is_of_sites = false;                            ///< or a dimension of cells one by one
  std::string suffix;  ///< of names in the file: "_north", of a region that is one of several
  Attributes attributes;
  int line = 0;
  int pyramid = -1;             ///< of those of the file: its values have coarser copies by it; -1: none
  std::vector<Output> coarser;  ///< variables of these copies, each made of the one before it
  std::shared_ptr<const Decomposition> coarse;  ///< of a coarser copy
};

/// A part of a grid whose coordinates a file has.
struct GridPart {
  int grid = 0;
  std::shared_ptr<const Part> part;  ///< of all of its dimensions, with land
  std::string suffix;                ///< of names in the file
  std::string group;                 ///< before names in the file: "0/", or ""
};

/// What coarser copies of fields on one grid are made with.
struct Pyramid {
  int grid = 0;
  std::string suffix;
  std::vector<double> weights;    ///< of this rank's cells: areas, or 1; 0 where they are masked
  std::vector<Coarsening> steps;  ///< from each level to the next
};

/// Coordinates of a grid's coarser cells, and their areas.
struct CoarseVariable {
  std::string name, dims;
  Type type = Type::double_;
  Attributes attributes;
  std::vector<double> values;
  Dims extents;
  std::shared_ptr<const Decomposition> decomposition;
};

/// What a file of the configuration holds.
struct FilePlan {
  FileChoice choice;
  int clock = 0;
  Instant time_origin;  ///< what its coordinate of time counts from
  std::vector<Output> outputs;
  std::vector<GridPart> grids;
  std::shared_ptr<const Sites> sites;  ///< cells one by one; nullptr: none
  std::vector<Pyramid> pyramids;       ///< of each grid
  std::vector<CoarseVariable> coarse_variables;

  /// Before names in the file: of the levels of a pyramid, "0/" that of the fields themselves.
  std::vector<std::string> level_groups() const;
};

/// The configuration, brought together with what the model described.
struct Plan {
  std::vector<Source> sources;
  std::vector<Clock> clocks;
  std::vector<Collector> collectors;
  std::vector<FilePlan> files;

  const Source& source_of(const Collector& c) const { return nth(sources, c.source); }
  const Clock& clock_of(const Collector& c) const { return nth(clocks, c.clock); }
};

/// One for a collector of the plan, which needs no operation yet. Local.
std::unique_ptr<Accumulator> accumulator_for(const Plan& plan, const Collector& collector);

/// Gives the file its levels, as its key `pyramid` says: variables, dimensions and coordinates of the fields
/// go to group 0, and coarser copies are added in groups 1, 2, ... path: of the configuration. Error(setting)
/// with its line. Collective.
void add_pyramid(const Comm& comm, const Descriptions& model, const Plan& plan, const std::string& path,
                 FilePlan& file);
/// Attributes of a file that say what its levels are, as the convention `multiscales` for Zarr has them:
/// texts in JSON, which Zarr's metadata has as JSON. None without a pyramid. Local.
Attributes multiscales_attributes(const FilePlan& file);

/// When a run is, and this job of it.
struct RunTime {
  Calendar calendar;
  Instant start, now;
};

/// Error(setting, not_found, not_supported, invalid_argument) with file and line, on all ranks alike.
/// Collective.
Plan make_plan(const Comm& comm, const Configuration& configuration, const Descriptions& model,
               const RunTime& time);

}  // namespace shoal::streams
