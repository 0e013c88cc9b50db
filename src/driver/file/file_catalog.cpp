// SPDX-License-Identifier: BSD-3-Clause
#include "driver/file/file_catalog.hpp"

#include "driver/file/shared_file.hpp"
#include "format/format_traits.hpp"
#include "format/raw/raw_header.hpp"

namespace shoal {

namespace {

StoreMode store_mode(OpenMode mode) {
  switch (mode) {
    case OpenMode::create:
      return StoreMode::create;
    case OpenMode::create_exclusive:
      return StoreMode::create_exclusive;
    case OpenMode::write:
      return StoreMode::write;
    case OpenMode::read:
      break;
  }
  return StoreMode::read;
}

}  // namespace

std::unique_ptr<Catalog> catalog_of_file(const std::string& path, OpenMode mode, Format format,
                                         const DriverOptions& options, std::vector<std::string>& warnings) {
  const bool fresh = mode == OpenMode::create || mode == OpenMode::create_exclusive;
  if (fresh && traits_of(format).has_header_file) refuse_foreign_header(path);
  const auto& open = options.system.open_store;
  if (!fresh)
    return open_catalog(path, open, mode == OpenMode::write, options.catalog, options.system.open_folder);
  if (traits_of(format).holds_objects() && are_asked_for(options.stripes))
    warnings.emplace_back(
        "settings stripe_count and stripe_bytes are for one file, and the dataset is a folder; they set no "
        "stripes (lfs setstripe sets those of a folder)");
  else
    mode = with_stripes(path, mode, options.stripes, options.system, warnings);
  return create_catalog(format, path, open, store_mode(mode), options.catalog, options.system.open_folder);
}

}  // namespace shoal
