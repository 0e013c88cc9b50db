// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <shoal/shoal.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "method.hpp"

// What is the same for all that goes through Shoal's C interface.
namespace shoal::bench {

/// How the array's field is cut, and whether arrays to write have a halo. Collective.
enum class Halo { yes, no };
ShoalDecomposition make_decomposition(MPI_Comm comm, const LocalField& array, Halo with = Halo::yes);

using Settings = std::vector<std::pair<std::string, std::string>>;
/// Those that the method's name and the command line ask for, but for format, driver and layout. Refused for
/// quantizing, which changes values.
Settings settings_of_method(const Run& run, const MethodEntry& entry);
/// All settings of a new file.
Settings settings_to_create(const Run& run, const MethodEntry& entry);

/// chunks=map and chunks=series are Shoal's setting; shapes are given to each variable.
bool is_chunk_shape(const std::string& text);

}  // namespace shoal::bench
