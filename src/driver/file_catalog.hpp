// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/driver.hpp"

namespace shoal {

/// Makes or opens the catalog of a file. Error(exists), before anything is done to the file: the name of its
/// header file belongs to a file that is not Shoal's. New files are striped as the options say; warnings: the
/// reasons why they could not be. Local.
std::unique_ptr<Catalog> catalog_of_file(const std::string& path, OpenMode mode, Format format,
                                         const DriverOptions& options, std::vector<std::string>& warnings);

}  // namespace shoal
