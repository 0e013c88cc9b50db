// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm.hpp"
#include "driver/registry.hpp"

namespace shoal {

/// Makes a driver of a dataset at an URL. An object store has no locks and no names that change: a store that
/// is replaced is removed first, and a new one is claimed by making its root object where there is none.
/// Error(not_supported): only driver native comes there, and formats that need offsets in a file are read
/// only. Error(exists). Collective.
std::unique_ptr<Driver> make_remote_driver(DriverMaker* make, const Comm& comm, const std::string& path,
                                           OpenMode mode, Format format, const DriverOptions& options);

}  // namespace shoal
