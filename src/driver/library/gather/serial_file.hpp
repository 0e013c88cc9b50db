// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/driver.hpp"

namespace shoal {

/// One open file in the hands of one rank, which alone reads and writes it. Every call is Local. Boxes are in
/// the full dimensions of the variable and not empty; values row-major, of the variable's type in this
/// machine's byte order. Errors name the file.
class SerialFile {
 public:
  virtual ~SerialFile() = default;

  /// Bring the file from `have` to `wanted`, which was checked: `have` with something added.
  virtual void define(const Schema& have, const Schema& wanted) = 0;
  virtual void put(int variable, const Box& box, const std::byte* values) = 0;
  virtual void get(int variable, const Box& box, std::byte* values) = 0;
  virtual void put_strings(int variable, const Box& box, const std::vector<std::string>& values) = 0;
  virtual std::vector<std::string> get_strings(int variable, const Box& box) = 0;
  /// Unlimited dimensions are at least as long as the schema says; new cells have the fill value.
  virtual void grow(const Schema& schema) = 0;
  /// What was put is in the file, for other programs too; durable: also on the device.
  virtual void commit(bool durable) = 0;
  virtual void close(bool durable) = 0;
  /// What failed first, if the file cannot be whole since, whatever is put later. Also after close.
  virtual Status damage() const { return {}; }
};

/// By Shoal's own catalog: the formats that no library has.
std::unique_ptr<SerialFile> open_catalog_file(const std::string& path, OpenMode mode, Format format,
                                              const DriverOptions& options,
                                              std::vector<std::string>& warnings);
#ifdef SHOAL_HAVE_NETCDF
/// By netCDF-C, without MPI. schema: what is in the file, if it exists.
std::unique_ptr<SerialFile> open_netcdf_file(const std::string& path, OpenMode mode, const Schema& schema,
                                             const DriverOptions& options);
#endif

}  // namespace shoal
