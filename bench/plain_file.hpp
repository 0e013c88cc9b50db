// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "content.hpp"

namespace shoal::bench {

/// A variable as a file describes it.
struct PlainVariable {
  int type = 0;                   ///< NetCDF's number
  std::vector<std::string> dims;  ///< slowest first
};

/// One file with values, read by other code than Shoal's: by serial netCDF-C, or by a few lines of its own
/// for raw and ascii. Stores of Zarr are read by Shoal, on one rank. What checks read with. Everything is
/// Local; failures are std::runtime_error with the path.
class PlainFile {
 public:
  virtual ~PlainFile() = default;
  /// Length of a dimension (records so far of the unlimited one); -1: there is none of the name.
  virtual std::int64_t length(const std::string& dimension) = 0;
  /// False if there is no such variable.
  virtual bool find(const std::string& variable, PlainVariable& out) = 0;
  /// Numbers of an attribute; empty if there is none.
  virtual std::vector<std::int64_t> numbers(const std::string& variable, const std::string& attribute) = 0;
  /// Text of an attribute; "" if there is none.
  virtual std::string text(const std::string& variable, const std::string& attribute) = 0;
  /// The cells of a box (one start and one count for each dimension, the record dimension included), packed,
  /// in this machine's byte order.
  virtual void read(const std::string& variable, const std::vector<std::int64_t>& start,
                    const std::vector<std::int64_t>& count, std::byte* values) = 0;
  /// Byte of the file at which a value begins, where this can be known; -1 where not.
  virtual std::int64_t place(const std::string& variable, const std::vector<std::int64_t>& cell) = 0;
  /// Values are text.
  virtual bool is_text() const { return false; }
};

/// By what the file is: one with a header file beside it is raw or ascii, a folder Zarr, others are NetCDF.
/// nullptr: NetCDF, but this build has no netCDF-C.
std::unique_ptr<PlainFile> open_plain(const std::string& path);

std::unique_ptr<PlainFile> open_raw(const std::string& path);     // raw_file.cpp
std::unique_ptr<PlainFile> open_store(const std::string& path);   // store_file.cpp
std::unique_ptr<PlainFile> open_netcdf(const std::string& path);  // plain_file.cpp

}  // namespace shoal::bench
