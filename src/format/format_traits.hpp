// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "format/placement.hpp"
#include "format/schema.hpp"
#include "storage/container.hpp"

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
  bool has_sets = true;     ///< a dataset may lie in several files (setting layout)
  bool has_groups = false;  ///< names may lie in groups of names (group_paths.hpp)
  bool has_chunks = false;  ///< variables may be stored in chunks, which filters compress
  /// Of a format with chunks: the filters that it stores where these are asked for (stored_filters.hpp);
  /// nullptr: the same. Error(not_supported): it has no such ones.
  Filters (*filters)(const Filters& asked) = nullptr;
  const char* drivers = "native";  ///< those that store it, with blanks between, as far as they are built
  /// Of a dataset that is a folder: the object that has its header; nullptr: a dataset is a file.
  const char* root_object = nullptr;
  /// Of such a dataset: the names of objects by the numbers in Location, and by the placement of the variable
  /// that the number has (ObjectNumber; nullptr: it has none). 0 is root_object.
  std::string (*object_name)(const Placement* where, std::uint64_t object) = nullptr;

  /// The format of the file (of root_object), which begins with these bytes (up to 8), if it is this one or
  /// another of the same folder of src/format. nullptr: another row of the folder tells. Error(format): an
  /// unknown version. Local.
  std::optional<Format> (*recognise)(Store& store, std::span<const std::byte> start) = nullptr;
  /// As create_catalog and open_catalog.
  std::unique_ptr<Catalog> (*create)(Format format, const std::shared_ptr<Container>& container,
                                     StoreMode mode, const CatalogOptions& options) = nullptr;
  std::unique_ptr<Catalog> (*open)(const std::shared_ptr<Container>& container, bool writable,
                                   const CatalogOptions& options) = nullptr;

  bool holds_objects() const { return root_object != nullptr; }
  Filters stored_filters(const Filters& asked) const { return filters != nullptr ? filters(asked) : asked; }
};

/// FormatTraits::create and open of a format whose catalogs take the one file.
template <auto create>
std::unique_ptr<Catalog> create_in_file(Format format, const std::shared_ptr<Container>& container,
                                        StoreMode mode, const CatalogOptions& options) {
  return create(format, container->open("", mode), options);
}
template <auto open>
std::unique_ptr<Catalog> open_in_file(const std::shared_ptr<Container>& container, bool writable,
                                      const CatalogOptions& options) {
  return open(container->open("", writable ? StoreMode::write : StoreMode::read), writable, options);
}

/// All formats, in the order in which messages name them, and files are asked what they are.
const std::deque<FormatTraits>& all_formats();
/// Error(internal): no such format.
const FormatTraits& traits_of(Format format);
/// Adds formats of a program of its own, before the first dataset. Not safe for threads.
void add_formats(const std::vector<FormatTraits>& rows);

/// The name of the root object of the dataset in a container, as its format recognises it; "": it has none.
/// One that is there and cannot be read is one: opening it says what is wrong. Local.
std::string root_object_in(Container& container);
/// The file that has the header of the dataset at the path: the path itself, or the root object in a folder,
/// where its format recognises it. Local.
std::string header_file_of(const std::string& path);

/// The types of the classic data model; with the unsigned ones and those of 64 bits.
std::vector<Type> classic_types();
std::vector<Type> number_types();

// The rows of the formats that Shoal has.
std::vector<FormatTraits> classic_formats();
std::vector<FormatTraits> netcdf4_formats();
std::vector<FormatTraits> raw_formats();
std::vector<FormatTraits> zarr_formats();

}  // namespace shoal
