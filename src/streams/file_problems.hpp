// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "streams/plan.hpp"

namespace shoal::streams {

/// The plan of one file of a configuration; nothing, with what is wrong, if it cannot be. Each of its fields
/// is tried alone, so that all that is wrong is found at once, each thing once. Collective.
std::optional<Plan> plan_of_file(const Comm& comm, const Configuration& configuration, const FileChoice& file,
                                 const Descriptions& model, const RunTime& time,
                                 std::vector<Problem>& problems);

/// The folder of files, if it does not exist; "": it does, or has dates in its name, so that only the run
/// knows it. Local.
std::string missing_folder(const std::string& name);
/// Error(not_found): there is none, which the first record would find. Local.
void check_folder(const std::string& name);

/// Adds one that is not there yet.
void add_problem(std::vector<Problem>& problems, Problem problem);

}  // namespace shoal::streams
