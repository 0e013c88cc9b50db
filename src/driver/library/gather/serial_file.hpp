// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/driver.hpp"

namespace shoal {

/// A file that one rank alone has open. All calls are Local. Boxes are in the full dimensions of the variable
/// and not empty; values row-major, of the variable's type in this machine's byte order. Errors name the
/// file.
class SerialFile {
 public:
  virtual ~SerialFile() = default;

  /// Adds to the file what `wanted` has beyond `have`; both were checked.
  virtual void define(const Schema& have, const Schema& wanted) = 0;
  virtual void put(int variable, const Box& box, const std::byte* values) = 0;
  virtual void get(int variable, const Box& box, std::byte* values) = 0;
  virtual void put_strings(int variable, const Box& box, const std::vector<std::string>& values) = 0;
  virtual std::vector<std::string> get_strings(int variable, const Box& box) = 0;
  /// Makes unlimited dimensions at least as long as in the schema; new cells get the fill value.
  virtual void grow(const Schema& schema) = 0;
  /// Writes out what was put, so that other programs see it; durable: also to the device.
  virtual void commit(bool durable) = 0;
  virtual void close(bool durable) = 0;
  /// The failure since which the file cannot be whole, whatever is put later; ok: none. Also after close.
  virtual Status damage() const { return {}; }
};

/// A file by Shoal's own catalog: for the formats that no library has.
std::unique_ptr<SerialFile> open_catalog_file(const std::string& path, OpenMode mode, Format format,
                                              const DriverOptions& options,
                                              std::vector<std::string>& warnings);
#ifdef SHOAL_HAVE_NETCDF
/// A file by netCDF-C, without MPI. schema: of the file, if it exists.
std::unique_ptr<SerialFile> open_netcdf_file(const std::string& path, OpenMode mode, const Schema& schema,
                                             const DriverOptions& options);
#endif

}  // namespace shoal
