// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/box.hpp"
#include "format/catalog.hpp"
#include "format/netcdf4/hdf5.hpp"
#include "format/schema.hpp"

namespace shoal::netcdf4 {

class OtherFiles;

struct IndexLess {
  bool operator()(const Dims& a, const Dims& b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  }
};

/// How a dimension of the schema is kept in the file: as a data set that is a dimension scale.
struct StoredDim {
  std::string link;   ///< path of the scale's data set, "" for a dimension that has none (others' files)
  int variable = -1;  ///< the coordinate variable that is the scale; -1: a data set for the dimension alone
  int id = 0;         ///< netCDF's number of it
  bool id_written = false;
  std::int64_t extent = 0;     ///< current length of the scale's data set, if it is for the dimension alone
  std::int64_t committed = 0;  ///< length of an unlimited dimension at the last commit
  Id dataset;                  ///< open, or not yet; only if it is for the dimension alone
};

/// How a variable of the schema is kept in the file.
struct StoredVariable {
  enum class Layout { contiguous, chunked, other };
  std::string link;
  Id dataset;  ///< open, or not yet
  FileType type;
  Layout layout = Layout::contiguous;
  bool filtered = false;
  bool late = false;      ///< HDF5 gives chunks their space when they are first written
  bool scale = false;     ///< it is the scale of its first dimension
  bool held = false;      ///< HDF5 may have values of it in memory that are not in the file
  bool odd_fill = false;  ///< HDF5's fill value is not the one that the schema has
  Dims chunk;
  Dims extent;     ///< shape of the data set in the file so far
  Dims needed;     ///< shape that it must have by the next commit
  Dims asked;      ///< end of the cells of all chunks that place has given out
  Dims committed;  ///< extent at the last commit; empty before the first
  std::map<Dims, StoredChunk, IndexLess> reserved;  ///< chunks that HDF5 does not know of yet
  std::map<Dims, Location, IndexLess> unplaced;     ///< space that chunks had, and get again
  bool unfilled = false;  ///< contiguous: its space holds anything, and counts as no place
  bool left_out = false;  ///< there were chunks that did not go through all filters

  std::uint64_t chunk_bytes() const { return static_cast<std::uint64_t>(volume(chunk)) * size_of(type.type); }
};

struct Contents {
  Schema schema;
  Numbered<StoredDim> dims;
  Numbered<StoredVariable> variables;
  int next_dim_id = 0;

  hid_t open_variable(hid_t file, int variable);
  /// The data set that is the scale of the dimension; -1 if it has none.
  hid_t open_scale(hid_t file, int dim);
};

/// Everything an HDF5 file holds, by netCDF-4's conventions; files without them get netCDF's names for what
/// is nameless.
Contents read_contents(hid_t file, const OtherFiles& others);

/// The creation list of the variable in place of the one given; an invalid one: that one will do.
using StorageOf = std::function<Id(int variable, hid_t creation)>;
/// Bring the file to `wanted`, which has been checked against contents.schema.
void extend_contents(hid_t file, Contents& contents, const Schema& wanted, const CatalogOptions& options,
                     const StorageOf& storage = {});
/// May a variable that is there get _FillValue, if that is the default that it has used so far, or it has no
/// fill? netCDF-C takes none.
enum class LateFill { refused, as_used };
/// Throws unless `wanted` is the file's schema with its changes, plus what netCDF-4 can hold.
void check_extension(const Schema& in_file, const Schema& wanted, LateFill late = LateFill::refused);
/// Names of the hard links in a group, in the order of their creation where the file has kept it.
std::vector<std::string> links_of(hid_t group);
/// Attributes of every new netCDF-4 file.
void mark_as_netcdf4(hid_t file, Format format);

/// HDF5 knows all filters that Shoal has code for. Called before a file is opened or made.
void provide_filters();
Filters filters_of(hid_t creation);
void set_filters(hid_t creation, const Filters& filters);

/// Access property list of data sets: nothing is cached, but whole chunks where filters make parts costly.
Id data_set_access(bool filtered);

}  // namespace shoal::netcdf4
