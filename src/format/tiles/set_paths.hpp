// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

/// The files of the set that `path` names, in order of their numbers; empty if it names none. A path of a
/// file that exists names no set. Otherwise it may be
/// - "his.nc", if there are his.nc.0000, his.nc.0001, ... (FMS, Shoal), his.000.nc, his.001.nc, ... (ROMS) or
///   his_0000.nc, his_0001.nc, ... (NEMO): at least three digits;
/// - a pattern of the shell, "his.nc.????", "his_*.nc";
/// - files or patterns with blanks between.
/// Error(not_found) for a list one of whose files is missing, and for a pattern that nothing matches. Local.
std::vector<std::string> files_of_set(const std::string& path);

/// The number in the name of a file of a set: 12 for his.nc.0012, his.012.nc, his_0012.nc; -1 if there is
/// none. Local.
std::int64_t number_in_name(const std::string& path);

}  // namespace shoal
