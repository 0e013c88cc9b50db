// SPDX-License-Identifier: BSD-3-Clause
// The netCDF-4 catalog: what goes in comes out, here and with netCDF's own tools.
#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "format/catalog.hpp"
#include "storage/faulty_store.hpp"
#include "storage/store.hpp"

namespace {

using namespace shoal;
namespace fs = std::filesystem;

/// A folder of its own that goes away with the test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "shoal_netcdf4_XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::unique_ptr<Catalog> create(const std::string& path, Format format = Format::netcdf4,
                                const CatalogOptions& options = {}) {
  return create_netcdf4_catalog(format, open_posix_store(path, StoreMode::create), options);
}
std::unique_ptr<Catalog> open(const std::string& path, bool writable = false) {
  return open_netcdf4_catalog(open_posix_store(path, writable ? StoreMode::write : StoreMode::read), writable,
                              {});
}

bool have(const std::string& tool) {
  return std::system(("command -v " + tool + " >/dev/null 2>&1").c_str()) == 0;
}

/// What the command prints; fails the test when it fails.
std::string output_of(const std::string& command) {
  std::string text;
  auto* pipe = ::popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> part{};
  while (const auto n = std::fread(part.data(), 1, part.size(), pipe))
    text.append(part.data(), n);
  const int status = ::pclose(pipe);
  CAPTURE(text);
  CHECK_MESSAGE(status == 0, command);
  return text;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

VariableDef variable(const std::string& name, Type type, std::vector<int> dims,
                     std::vector<Attribute> attributes = {}) {
  VariableDef def;
  def.name = name;
  def.type = type;
  def.dims = std::move(dims);
  def.attributes = std::move(attributes);
  return def;
}

template <class T>
std::vector<T> values_of(Catalog& catalog, int v, const Box& box) {
  std::vector<T> values(static_cast<std::size_t>(box.cells()));
  catalog.get(v, box, reinterpret_cast<std::byte*>(values.data()));
  return values;
}

template <class T>
void put(Catalog& catalog, int v, const Box& box, const std::vector<T>& values) {
  REQUIRE(static_cast<std::int64_t>(values.size()) == box.cells());
  catalog.put(v, box, reinterpret_cast<const std::byte*>(values.data()));
}

/// An ocean model's file: time(time), lat(lat), temp(time, lat, lon) distributed, lon without a variable.
Schema ocean(std::int64_t nlat = 6, std::int64_t nlon = 8) {
  Schema s;
  s.format = Format::netcdf4;
  s.dims = {{"time", 0, true}, {"lat", nlat, false}, {"lon", nlon, false}};
  s.attributes = {Attribute::text("title", "a test")};
  s.variables = {variable("time", Type::double_, {0}, {Attribute::text("units", "days since 2000-01-01")}),
                 variable("lat", Type::double_, {1}),
                 variable("temp", Type::float_, {0, 1, 2}, {Attribute::text("units", "K")}),
                 variable("mask", Type::int_, {1, 2})};
  s.variables[2].distributed = s.variables[3].distributed = true;
  return s;
}

/// Writes one record of temp the way ranks do: straight to where the catalog says.
void write_record(Catalog& catalog, Store& store, std::int64_t record, float value) {
  const int temp = catalog.schema().find_variable("temp");
  const auto shape = catalog.schema().shape(temp);
  const Box cells({record, 0, 0}, {1, shape[1], shape[2]});
  const auto where = catalog.placement(temp);
  REQUIRE(where.kind == Placement::Kind::listed);
  std::vector<bool> fresh;
  const auto at = catalog.place(temp, chunks_of(cells, where.chunk), cells, fresh);
  std::vector<float> values(static_cast<std::size_t>(volume(where.chunk)));
  for (std::size_t c = 0; c < at.size(); ++c) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = value + static_cast<float>(c * values.size() + i);
    store.write(at[c], std::as_bytes(std::span(values)));
  }
}

}  // namespace

TEST_CASE("netcdf4: a file of records, written beside HDF5, read here and by netCDF") {
  const Folder folder;
  const auto path = folder.file("a.nc");
  {
    auto catalog = create(path);
    auto store = open_posix_store(path, StoreMode::write);
    catalog->define(ocean());
    for (int record = 0; record < 3; ++record) {
      write_record(*catalog, *store, record, 100.0F * static_cast<float>(record));
      put<double>(*catalog, 0, Box({record}, {1}), {0.5 + record});
    }
    put<double>(*catalog, 1, Box({0}, {6}), {1, 2, 3, 4, 5, 6});
    std::vector<bool> fresh;
    CHECK(catalog->placement(3).kind == Placement::Kind::regular);
    CHECK(catalog->placement(3).begin == k_unplaced);
    const auto at = catalog->place(3, Box({0, 0}, {1, 1}), Box({0, 0}, {6, 8}), fresh);
    REQUIRE(at.size() == 1);
    CHECK(fresh[0]);
    CHECK(catalog->placement(3).begin == at[0]);
    std::vector<int> mask(48, 7);
    store->write(at[0], std::as_bytes(std::span(mask)));
    CHECK(catalog->schema().dims[0].length == 3);
    catalog->close(false);
  }
  auto catalog = open(path);
  const auto& schema = catalog->schema();
  REQUIRE(schema.variables.size() == 4);
  CHECK(schema.dims[0].name == "time");
  CHECK(schema.dims[0].unlimited);
  CHECK(schema.dims[0].length == 3);
  CHECK(schema.dims[2].name == "lon");
  CHECK(schema.dims[2].length == 8);
  CHECK(schema.variables[2].name == "temp");
  CHECK(schema.variables[2].dims == std::vector<int>{0, 1, 2});
  CHECK(schema.variables[2].chunks == std::vector<std::int64_t>{1, 6, 8});
  const auto temp = values_of<float>(*catalog, 2, Box({1, 2, 3}, {2, 1, 2}));
  CHECK(temp == std::vector<float>{119, 120, 219, 220});
  CHECK(values_of<double>(*catalog, 0, Box({0}, {3})) == std::vector<double>{0.5, 1.5, 2.5});
  CHECK(values_of<int>(*catalog, 3, Box({5, 7}, {1, 1})) == std::vector<int>{7});
  const auto found = catalog->find(2, Box({0, 0, 0}, {3, 1, 1}));
  CHECK(found.size() == 3);
  for (const auto address : found)
    CHECK(address != k_unplaced);
  if (!have("ncdump")) return;
  const auto text = output_of("ncdump " + path);
  CHECK(contains(text, "time = UNLIMITED ; // (3 currently)"));
  CHECK(contains(text, "float temp(time, lat, lon)"));
  CHECK(contains(text, "temp:units = \"K\""));
  CHECK(contains(text, "time = 0.5, 1.5, 2.5"));
  CHECK(contains(text, "200, 201, 202, 203"));
}
