// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string>

#include "driver/driver.hpp"

namespace shoal {

/// Makes a driver. format: of new files only. Arguments are the same on all ranks. Collective over comm.
using DriverMaker = std::unique_ptr<Driver>(const Comm& comm, const std::string& path, OpenMode mode,
                                            Format format, const DriverOptions& options);

/// A row of the table of drivers (registry.cpp).
struct RegisteredDriver {
  const char* name;
  const char* about;
  const char* accesses;       ///< names with blanks between; empty: there is no choice
  DriverMaker* make;          ///< nullptr: this build lacks the driver's library
  bool writes_netcdf = true;  ///< false: this build lacks the library for the formats of netCDF
};
std::span<const RegisteredDriver> registered_drivers();
/// The names of the formats that the driver stores (FormatTraits::drivers).
std::vector<std::string> formats_of(const RegisteredDriver& driver);

/// Makes the driver of this name; for a layout of several files, a DomainsDriver over it. Error(setting): an
/// unknown name, with the nearest one; a driver that this build lacks; a format or access that the driver
/// lacks, with the drivers that have it. Collective over comm.
std::unique_ptr<Driver> make_driver(const std::string& name, const Comm& comm, const std::string& path,
                                    OpenMode mode, Format format, const DriverOptions& options);

/// The checks of make_driver alone. Local.
void check_driver(const std::string& name, OpenMode mode, Format format, Access access);

/// The name of an access: "collective", "independent", "nonblocking".
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
/// The native driver on ranks that compute and servers (servers.hpp).
DriverMaker make_served_driver;
/// A ClaimedDriver over the driver, for one file that is written: with a lock, and with an old file of the
/// path kept until the first commit, as the options say. calls_mpi_io: the driver's library calls MPI-IO.
std::unique_ptr<Driver> make_claimed_driver(DriverMaker* make, bool calls_mpi_io, const Comm& comm,
                                            const std::string& path, OpenMode mode, Format format,
                                            const DriverOptions& options);
/// A DomainsDriver, for a layout of several files, each by the named driver.
std::unique_ptr<Driver> make_domains_driver(const std::string& driver, const Comm& comm,
                                            const std::string& path, OpenMode mode, Format format,
                                            const DriverOptions& options);

}  // namespace shoal
