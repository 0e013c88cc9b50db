// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "format/schema.hpp"
#include "storage/store.hpp"

namespace shoal {

class Catalog;
struct CatalogOptions;

/// What files of a format are, and how their catalogs are made. The folder of each format has its rows.
struct FormatTraits {
  Format format;
  const char* name;
  std::vector<const char*> other_names;  ///< as netCDF's tools and netCDF4-python have them, in lower case
  std::vector<Type> types;               ///< of variables and attributes
  bool is_classic_model = true;          ///< only the first dimension of a variable may be unlimited
  bool is_classic =
      false;  ///< netCDF's classic formats: one header in front of data that are one after another
  bool has_header_file = false;  ///< the header is a file beside the data
  /// A record is there for all variables as soon as it is for one: cells that nobody wrote must be filled.
  bool interleaves_records = false;
  bool has_chunks = false;  ///< variables may be stored in chunks, which filters compress

  /// The format of the file, which begins with these bytes (up to 8), if it is this one or another of the
  /// same folder. nullptr: another row of the folder tells. Error(format): an unknown version. Local.
  std::optional<Format> (*recognise)(Store& store, std::span<const std::byte> start) = nullptr;
  /// As create_catalog and open_catalog.
  std::unique_ptr<Catalog> (*create)(Format format, std::unique_ptr<Store> store,
                                     const CatalogOptions& options) = nullptr;
  std::unique_ptr<Catalog> (*open)(std::unique_ptr<Store> store, bool writable,
                                   const CatalogOptions& options) = nullptr;
};

/// All formats, in the order in which messages name them, and files are asked what they are.
const std::deque<FormatTraits>& all_formats();
/// Error(internal): no such format.
const FormatTraits& traits_of(Format format);
/// Adds formats of a program of its own, before the first dataset. Not safe for threads.
void add_formats(const std::vector<FormatTraits>& rows);

/// The types of the classic data model; with the unsigned ones and those of 64 bits.
std::vector<Type> classic_types();
std::vector<Type> number_types();

// The rows of the formats that Shoal has.
std::vector<FormatTraits> classic_formats();
std::vector<FormatTraits> netcdf4_formats();
std::vector<FormatTraits> raw_formats();

}  // namespace shoal
