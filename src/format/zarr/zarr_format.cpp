// SPDX-License-Identifier: BSD-3-Clause
// The rows of Zarr in the list of formats.
#include "base/error.hpp"
#include "format/format_traits.hpp"
#include "format/stored_filters.hpp"
#include "format/zarr/zarr_catalog.hpp"

namespace shoal {

namespace {

std::string name_of_object(const Placement* where, std::uint64_t object) {
  if (object == 0 || where == nullptr) return "zarr.json";
  return zarr::object_name(where->objects, ObjectNumber::of(object));
}

// The text alone says that it is JSON; which, the catalog.
template <Format format>
std::optional<Format> recognise_json(Store& /*store*/, std::span<const std::byte> start) {
  for (const std::byte b : start) {
    const char c = static_cast<char>(b);
    if (c == '{') return format;
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') break;
  }
  return std::nullopt;
}

std::unique_ptr<Catalog> create_zarr(Format format, const std::shared_ptr<Container>& container,
                                     StoreMode mode, const CatalogOptions& options) {
  if (format != Format::zarr)
    throw Error(Code::not_supported, "Zarr version 2 is read, and not written; use format=zarr (version 3)")
        .in_file(container->path());
  container->open("zarr.json", mode)->close();
  return std::make_unique<ZarrCatalog>(container, options);
}

template <Format format>
std::unique_ptr<Catalog> open_zarr(const std::shared_ptr<Container>& container, bool writable,
                                   const CatalogOptions& options) {
  return std::make_unique<ZarrCatalog>(container, format, writable, options);
}

}  // namespace

std::vector<FormatTraits> zarr_formats() {
  FormatTraits version3{Format::zarr, "zarr", {"zarr3"}, number_types()};
  version3.types.push_back(Type::string);
  version3.is_classic_model = false;
  version3.has_groups = true;
  version3.has_sets = false;
  version3.has_chunks = true;
  version3.filters = as_zarr_has_them;
  version3.root_object = "zarr.json";
  version3.object_name = name_of_object;
  version3.recognise = recognise_json<Format::zarr>;
  version3.create = create_zarr;
  version3.open = open_zarr<Format::zarr>;
  FormatTraits version2 = version3;
  version2.format = Format::zarr2;
  version2.name = "zarr2";
  version2.other_names = {};
  version2.drivers = "";  // it is read alone
  version2.root_object = ".zgroup";
  version2.recognise = recognise_json<Format::zarr2>;
  version2.open = open_zarr<Format::zarr2>;
  return {version3, version2};
}

}  // namespace shoal
