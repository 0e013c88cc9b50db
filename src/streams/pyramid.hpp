// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "comm/comm.hpp"
#include "streams/plan.hpp"

namespace shoal::streams {

/// Gives the file its levels, as its key `pyramid` says: variables, dimensions and coordinates of the fields
/// go to group 0, and coarser copies are added in groups 1, 2, ... path: of the configuration. Error(setting)
/// with its line. Collective.
void add_pyramid(const Comm& comm, const Descriptions& model, const Plan& plan, const std::string& path,
                 FilePlan& file);

/// Attributes of a file that say what its levels are, as the convention `multiscales` for Zarr has them:
/// texts in JSON, which Zarr's metadata has as JSON. None without a pyramid.
Attributes multiscales_attributes(const FilePlan& file);

}  // namespace shoal::streams
