// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "method.hpp"

namespace shoal::bench {

/// Compares a written file with what the workload says, value by value, each rank its own tile; for a
/// workload of definitions alone, every variable and attribute. Read by serial netCDF-C, whoever wrote it; by
/// Shoal in a build without netCDF-C; by the method itself if no library knows its file. Returns what is
/// wrong on all ranks: cells, values of replicated variables, definitions. Collective.
std::int64_t wrong_in_file(Method& method, Run& run);

/// The same of the one file that the files of a run were joined to; by netCDF-C or Shoal. Collective.
std::int64_t wrong_in_joined(const Run& run, const std::string& path);

/// Compares the arrays that a read filled with the workload: variables without records if record is -1, else
/// those with, as they are in that record. Returns what is wrong on this rank. Local.
std::int64_t wrong_in_arrays(const std::vector<LocalField>& arrays, std::int64_t record);

/// Spoils one byte of a value of the last record, wherever the file, or the first file of a set that has
/// some, keeps it. std::runtime_error if it is not found. Called by one rank whose tile is not empty.
void inject_error(const Run& run);

/// Who reads the files in wrong_in_file.
const char* checked_by();

}  // namespace shoal::bench
