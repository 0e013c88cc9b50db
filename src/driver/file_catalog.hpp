// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/driver.hpp"

namespace shoal {

/// The catalog of one file, made or opened. Error(exists) before anything is done to the file if a file that
/// is not Shoal's stands where its header would go. New files are striped as the options say; warnings get
/// why they could not be. Local.
std::unique_ptr<Catalog> catalog_of_file(const std::string& path, OpenMode mode, Format format,
                                         const DriverOptions& options, std::vector<std::string>& warnings);

}  // namespace shoal
