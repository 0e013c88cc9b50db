// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "simulate/simulated_field.hpp"

namespace shoal::plan {

/// Numbers with x between, the fastest dimension first, as Dims: slowest first. Error(invalid_argument) names
/// the option.
Dims dims_of_text(const std::string& option, const std::string& text);

/// Balanced tiles along the first (fastest) dimensions, ranks along the first one first. grid: slowest first;
/// empty: the most square of two dimensions. Returns the grid of all dimensions, slowest first.
Dims cut_in_tiles(SimulatedField& field, Dims grid);

/// Columns of a cubed sphere (ne30: 48,602), along a curve, under so many levels.
void cut_sphere(SimulatedField& field, std::int64_t ne, std::int64_t levels);

/// The cells of the decomposition in a file, evenly over the ranks in the order that they have there; as
/// loading it on so many ranks would deal them out. name: which one, as load_decomposition takes it. levels
/// 0: no dimension before the map's. Starts MPI.
void cut_as_file(SimulatedField& field, const std::string& path, const std::string& name,
                 std::int64_t levels);

}  // namespace shoal::plan
