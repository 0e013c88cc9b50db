// SPDX-License-Identifier: BSD-3-Clause
#include "format/catalog.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "format/raw/raw_header.hpp"
#include "storage/file_lock.hpp"
#include "storage/journal.hpp"
#include "storage/leftovers.hpp"

namespace shoal {

namespace {

constexpr std::array<unsigned char, 8> k_hdf5_magic{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

bool is_hdf5_at(Store& store, std::uint64_t offset) {
  std::array<std::byte, k_hdf5_magic.size()> bytes{};
  return store.read(offset, bytes) == bytes.size() &&
         std::memcmp(bytes.data(), k_hdf5_magic.data(), bytes.size()) == 0;
}

std::string hex_of(const std::byte* bytes, std::size_t n) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) {
    std::array<char, 8> one{};
    std::snprintf(one.data(), one.size(), i == 0 ? "%02x" : " %02x", std::to_integer<unsigned>(bytes[i]));
    text += one.data();
  }
  return text;
}

}  // namespace

std::vector<StoredChunk> Catalog::stored_chunks(int variable, const Box& /*chunks*/) {
  throw Error(Code::not_supported, "the variable is not stored in chunks")
      .of_variable(schema().variables.at(static_cast<std::size_t>(variable)).name);
}

void Catalog::enter(int variable, const std::vector<NewChunk>& /*chunks*/) {
  throw Error(Code::internal, "no chunks can be entered")
      .of_variable(schema().variables.at(static_cast<std::size_t>(variable)).name);
}

Format recognise(Store& store) {
  std::array<std::byte, 8> start{};
  const std::size_t n = store.read(0, start);
  if (n == 0) {
    if (const auto beside = format_beside(store.path())) return *beside;
    throw Error(Code::format, "the file is empty; a NetCDF file starts with 'CDF' or with HDF5's signature")
        .in_file(store.path());
  }
  if (n >= 4 && std::memcmp(start.data(), "CDF", 3) == 0) {
    const int version = std::to_integer<int>(start[3]);
    if (version == 1) return Format::cdf1;
    if (version == 2) return Format::cdf2;
    if (version == 5) return Format::cdf5;
    throw Error(
        Code::format,
        "the file starts with 'CDF' and the version {}; the classic formats have the versions 1, 2 and 5",
        version)
        .in_file(store.path());
  }
  // HDF5 allows a block of the user's own in front, whose length is 512 bytes or a power of two times that.
  const std::uint64_t size = store.size();
  if (is_hdf5_at(store, 0)) return Format::netcdf4;
  for (std::uint64_t at = 512; at < size && at != 0; at *= 2)
    if (is_hdf5_at(store, at)) return Format::netcdf4;
  if (const auto beside = format_beside(store.path())) return *beside;
  throw Error(Code::format,
              "not a NetCDF file: it starts with the bytes {} (hexadecimal); 43 44 46 01, 02 or 05 (classic "
              "formats) or 89 48 44 46 (netcdf4) is expected, or a header file {} (raw, ascii)",
              hex_of(start.data(), n), header_path(store.path()))
      .in_file(store.path());
}

std::unique_ptr<Catalog> create_catalog(Format format, std::unique_ptr<Store> store,
                                        const CatalogOptions& options) {
  if (is_classic_file(format)) return create_classic_catalog(format, std::move(store), options);
  if (has_header_file(format)) return create_raw_catalog(format, std::move(store), options);
  return create_netcdf4_catalog(format, std::move(store), options);
}

std::unique_ptr<Catalog> open_catalog(std::unique_ptr<Store> store, bool writable,
                                      const CatalogOptions& options) {
  // What a killed job left half done.
  if (writable)
    finish_commit(*store);
  else
    store = with_changes_finished(std::move(store));
  const Format format = recognise(*store);
  if (is_classic_file(format)) return open_classic_catalog(std::move(store), writable, options);
  if (has_header_file(format)) return open_raw_catalog(std::move(store), writable, options);
  return open_netcdf4_catalog(std::move(store), writable, options);
}

bool finish_commit(Store& store) {
  return finish_changes(store, [](Store& finished) { recognise(finished); });
}

bool recover_file(const StoreOpener& open, const std::string& path) {
  FileLock lock;
  if (lock.take(path) == FileLock::Outcome::taken)
    throw Error(Code::state, "another job is writing the file; wait until it has ended").in_file(path);
  open_catalog(open(path, StoreMode::read), false, {})->close(false);  // as it will be
  const auto store = open(path, StoreMode::write);
  const bool finished = finish_commit(*store);
  store->close();
  return finished;
}

}  // namespace shoal
