// SPDX-License-Identifier: BSD-3-Clause
#include "format/catalog.hpp"

#include <array>
#include <cstdio>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "format/format_traits.hpp"
#include "storage/file_lock.hpp"
#include "storage/journal.hpp"
#include "storage/leftovers.hpp"
#include "storage/paths.hpp"
#include "storage/remote/remote.hpp"

namespace shoal {

namespace {

std::string hex_of(const std::byte* bytes, std::size_t n) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) {
    std::array<char, 8> one{};
    std::snprintf(one.data(), one.size(), i == 0 ? "%02x" : " %02x", std::to_integer<unsigned>(bytes[i]));
    text += one.data();
  }
  return text;
}

std::shared_ptr<Container> folder_at(const std::string& path, const StoreOpener& open,
                                     const ContainerOpener& open_folder) {
  return open_folder       ? open_folder(path)
         : is_remote(path) ? remote_container(path, {})
                           : folder_container(path, open);
}

bool is_name_of_file(const std::string& url) {
  const std::string ending = extension_of(shown_path(url));
  return ending == ".nc" || ending == ".nc4" || ending == ".cdf" || ending == ".h5";
}

}  // namespace

std::vector<StoredChunk> Catalog::stored_chunks(int variable, const Box& /*chunks*/) {
  throw Error(Code::not_supported, "the variable is not stored in chunks")
      .of_variable(schema().variables.at(variable).name);
}

void Catalog::unplace(int /*variable*/, const Box& /*chunks*/, const std::vector<bool>& /*fresh*/) {}

void Catalog::open_objects(int variable, const Box& /*chunks*/) {
  throw Error(Code::internal, "no chunks are stored in objects")
      .of_variable(schema().variables.at(variable).name);
}

void Catalog::enter(int variable, const std::vector<NewChunk>& /*chunks*/) {
  throw Error(Code::internal, "no chunks can be entered").of_variable(schema().variables.at(variable).name);
}

Format recognise(Store& store) {
  std::array<std::byte, 8> start{};
  const std::size_t n = store.read(0, start);
  for (const FormatTraits& row : all_formats()) {
    // Headers of folders are told from one another by their names, as well.
    const bool may_be = !row.holds_objects() || file_name_of(store.path()) == row.root_object;
    if (may_be && row.holds_objects() && n == 0) return row.format;  // which says that it was never committed
    if (may_be && row.recognise != nullptr)
      if (const auto format = row.recognise(store, std::span(start).first(n))) return *format;
  }
  if (n == 0)
    throw Error(Code::format, "the file is empty; a NetCDF file starts with 'CDF' or with HDF5's signature")
        .in_file(store.path());
  throw Error(Code::format,
              "not a NetCDF file: it starts with the bytes {} (hexadecimal); 43 44 46 01, 02 or 05 (classic "
              "formats) or 89 48 44 46 (netcdf4) is expected, or a header file {} (raw, ascii)",
              hex_of(start.data(), n), header_path(store.path()))
      .in_file(store.path());
}

std::unique_ptr<Catalog> create_catalog(Format format, std::unique_ptr<Store> store,
                                        const CatalogOptions& options) {
  return traits_of(format).create(format, container_of(std::move(store)), StoreMode::create, options);
}

std::unique_ptr<Catalog> create_catalog(Format format, const std::string& path, const StoreOpener& open,
                                        StoreMode mode, const CatalogOptions& options,
                                        const ContainerOpener& open_folder) {
  const FormatTraits& traits = traits_of(format);
  const auto container =
      traits.holds_objects() ? folder_at(path, open, open_folder) : file_container(path, open);
  return traits.create(format, container, mode, options);
}

std::unique_ptr<Catalog> open_catalog(std::unique_ptr<Store> store, bool writable,
                                      const CatalogOptions& options) {
  // What a killed job left half done.
  if (writable)
    finish_commit(*store);
  else
    store = with_changes_finished(std::move(store));
  const FormatTraits& traits = traits_of(recognise(*store));
  return traits.open(container_of(std::move(store)), writable, options);
}

std::unique_ptr<Catalog> open_catalog(const std::string& path, const StoreOpener& open, bool writable,
                                      const CatalogOptions& options, const ContainerOpener& open_folder) {
  // A server may not say that an object is not there: none is looked for below the name of a file.
  const bool may_be_folder = is_remote(path) && !is_name_of_file(path);
  if (may_be_folder) {
    const auto container = folder_at(path, open, open_folder);
    if (const std::string root = root_object_in(*container); !root.empty())
      return traits_of(recognise(*container->open(root, StoreMode::read))).open(container, writable, options);
  }
  const std::string header = header_file_of(path);
  if (header == path)
    return open_catalog(open(path, writable ? StoreMode::write : StoreMode::read), writable, options);
  const Format format = recognise(*open(header, StoreMode::read));
  return traits_of(format).open(folder_at(path, open, open_folder), writable, options);
}

bool finish_commit(Store& store) {
  return finish_changes(store, [](Store& finished) { recognise(finished); });
}

bool recover_file(const StoreOpener& open, const std::string& path) {
  FileLock lock;
  if (lock.take(path) == FileLock::Outcome::taken)
    throw Error(Code::state, "another job is writing the file; wait until it has ended").in_file(path);
  open_catalog(path, open, false, {})->close(false);  // as it will be
  if (header_file_of(path) != path) return false;     // a folder's commits leave nothing half done
  const auto store = open(path, StoreMode::write);
  const bool finished = finish_commit(*store);
  store->close();
  return finished;
}

}  // namespace shoal
