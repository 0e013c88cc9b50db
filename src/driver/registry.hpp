// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string>

#include "driver/driver.hpp"

namespace shoal {

/// Collective over comm; everything is the same on all ranks. format: of new files only.
using DriverMaker = std::unique_ptr<Driver>(const Comm& comm, const std::string& path, OpenMode mode,
                                            Format format, const DriverOptions& options);

/// What there is to choose from: one line a driver, in registry.cpp.
struct RegisteredDriver {
  const char* name;
  const char* about;
  const char* formats;   ///< that it reads and writes, blanks between
  const char* accesses;  ///< ways of calling its library, blanks between; empty: it has but one
  DriverMaker* make;     ///< nullptr: its library was not there when Shoal was built
};
std::span<const RegisteredDriver> registered_drivers();

/// A driver by its name. Error(setting): a name there is none of, with the nearest one; one that this build
/// lacks, a format or an access that it has not, with the drivers that could. For a layout of
/// several files, a driver of sets that makes one of them for each. Collective over comm.
std::unique_ptr<Driver> make_driver(const std::string& name, const Comm& comm, const std::string& path,
                                    OpenMode mode, Format format, const DriverOptions& options);

/// The checks of make_driver alone. Local.
void check_driver(const std::string& name, OpenMode mode, Format format, Access access);

/// Its words: "collective", "independent", "nonblocking".
const char* name_of(Access access);
Access access_of(const std::string& name);

DriverMaker make_native_driver;
#ifdef SHOAL_HAVE_PNETCDF
DriverMaker make_pnetcdf_driver;
#endif
#ifdef SHOAL_HAVE_NETCDF
DriverMaker make_netcdf_driver;
#endif
DriverMaker make_gather_driver;
DriverMaker make_mpiio_driver;
/// The native one, for ranks beside which others serve (servers.hpp).
DriverMaker make_served_driver;
/// Any of them, for one file that is written: with a lock, and an old file of the path stays until the first
/// commit, as the options say (claimed_driver.hpp). calls_mpi_io: the driver's library does.
std::unique_ptr<Driver> make_claimed_driver(DriverMaker* make, bool calls_mpi_io, const Comm& comm,
                                            const std::string& path, OpenMode mode, Format format,
                                            const DriverOptions& options);
/// Files of a layout other than one, each by the named driver.
std::unique_ptr<Driver> make_domains_driver(const std::string& driver, const Comm& comm,
                                            const std::string& path, OpenMode mode, Format format,
                                            const DriverOptions& options);

}  // namespace shoal
