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
  mode = with_stripes(path, mode, options.stripes, options.system, warnings);
  auto store = options.system.open_store(path, store_mode(mode));
  return fresh ? create_catalog(format, std::move(store), options.catalog)
               : open_catalog(std::move(store), mode == OpenMode::write, options.catalog);
}

}  // namespace shoal
