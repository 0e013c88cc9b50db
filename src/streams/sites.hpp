// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "streams/configuration.hpp"
#include "streams/descriptions.hpp"

namespace shoal::streams {

/// Is a coordinate a longitude, a latitude, by its units or its standard_name?
bool is_longitude(const Attributes& attributes);
bool is_latitude(const Attributes& attributes);

/// A place that was asked for, and the cell that was found.
struct Site {
  std::string name;
  std::vector<double> asked, found;  ///< of each coordinate
  std::int64_t cell = 0;             ///< of the dimensions of Sites, row-major
  double distance = 0;               ///< between both; on the sphere in km
};

/// Cells of a grid, one by one: the nearest ones to places, or those along a line in its order.
struct Sites {
  bool is_section = false;
  std::vector<std::string> coordinates;
  std::vector<int> dims;  ///< of the grid, over which the coordinates vary; ascending
  std::vector<std::string> dim_names;
  Dims lengths;            ///< of these
  bool on_sphere = false;  ///< longitude and latitude in degrees
  std::vector<Site> sites;
  std::vector<double> along;  ///< of a section: where on the line the cells are, from its beginning

  /// Of the dimension in the file: "station", "section".
  const char* dim() const { return is_section ? "section" : "station"; }
  std::vector<std::int64_t> cells() const;
};

/// Finds the cells: of all ranks the nearest ones, of those that are equally far the one with the lowest
/// number; for places those that are active, along a line all that have coordinates. Error(setting,
/// not_found): the grid has no such coordinate, no cell. On all ranks alike. Collective.
std::shared_ptr<const Sites> find_sites(const Comm& comm, const Descriptions& model, int grid,
                                        const SiteChoice& choice);
/// Has the grid the coordinates?
bool has_coordinates(const Descriptions& model, int grid, const SiteChoice& choice);

/// The places of a table in CSV, whose first line names its columns: "name", and coordinates.
/// Error(setting), with the line.
SiteChoice read_places(const std::string& text, const std::string& path);

}  // namespace shoal::streams
