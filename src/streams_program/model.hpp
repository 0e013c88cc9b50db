// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "streams/configuration.hpp"
#include "streams/descriptions.hpp"

namespace shoal::streams {

/// What a model describes, from a file of its fields: one rank has all cells.
struct Model {
  Descriptions descriptions;
  /// Coordinates of grids, whose values such a file does not have, so that no region can be found on them.
  std::set<std::string> unknown_coordinates;
};

/// A file of fields in TOML: tables [[axis]] (name; length, or values; first and step; bounds), [[grid]]
/// (name, dims, lengths, coordinates, area) and [[field]] (name, dims, type, grid, group, holds, attributes);
/// docs/reference/streams.md. problems: what is wrong in it. Collective over comm, of one rank.
Model read_model(const Comm& comm, const std::string& text, const std::string& path,
                 std::vector<Problem>& problems);

}  // namespace shoal::streams
