// SPDX-License-Identifier: BSD-3-Clause
// netCDF-4 files between Shoal, plain HDF5 and netCDF's tools: each reads and extends what the others wrote.
#include <doctest/doctest.h>
#include <hdf5.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "format/catalog.hpp"
#include "storage/store.hpp"
#include "support/folder.hpp"

namespace {

using namespace shoal;
namespace fs = std::filesystem;

using testing::Folder;

std::unique_ptr<Catalog> open(const std::string& path, bool writable = false) {
  return open_netcdf4_catalog(open_posix_store(path, writable ? StoreMode::write : StoreMode::read), writable,
                              {});
}

template <class T>
std::vector<T> values_of(Catalog& catalog, const std::string& name) {
  const int v = catalog.schema().find_variable(name);
  REQUIRE(v >= 0);
  const auto box = Box::whole(catalog.schema().shape(v));
  std::vector<T> values(static_cast<std::size_t>(box.cells()));
  catalog.get(v, box, reinterpret_cast<std::byte*>(values.data()));
  return values;
}

Placement placement_of(Catalog& catalog, const std::string& name) {
  return catalog.placement(catalog.schema().find_variable(name));
}

const VariableDef& def_of(Catalog& catalog, const std::string& name) {
  const int v = catalog.schema().find_variable(name);
  REQUIRE(v >= 0);
  return catalog.schema().variable(v);
}

bool have(const std::string& tool) {
  return std::system(("command -v " + tool + " >/dev/null 2>&1").c_str()) == 0;
}

void run(const std::string& command) {
  CHECK_MESSAGE(std::system((command + " >/dev/null 2>&1").c_str()) == 0, command);
}

/// A data set of ascending doubles made with HDF5 alone.
void make(hid_t where, const char* name, std::vector<hsize_t> shape, hid_t type, hid_t creation = H5P_DEFAULT,
          bool records = false) {
  std::vector<hsize_t> most = shape;
  if (records) most[0] = H5S_UNLIMITED;
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), most.data());
  const hid_t data = H5Dcreate2(where, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  REQUIRE(data >= 0);
  std::vector<double> values(std::accumulate(shape.begin(), shape.end(), hsize_t{1}, std::multiplies<>()));
  std::iota(values.begin(), values.end(), 0.0);
  REQUIRE(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
  H5Dclose(data);
  H5Sclose(space);
}

hid_t chunked(std::vector<hsize_t> chunk, bool filters = false) {
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
  if (filters) {
    H5Pset_shuffle(creation);
    H5Pset_deflate(creation, 1);
    H5Pset_fletcher32(creation);
  }
  return creation;
}

std::vector<double> ascending(std::size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

}  // namespace

TEST_CASE("netcdf4: files of HDF5 programs, whatever is in them") {
  const Folder folder;
  const auto path = folder.file("h5.h5");
  const hid_t file_creation = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_userblock(file_creation, 1024);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, file_creation, H5P_DEFAULT);
  make(file, "big", {2, 3}, H5T_IEEE_F64BE);
  make(file, "square", {3, 3}, H5T_NATIVE_INT);
  make(file, "packed", {10, 10}, H5T_NATIVE_DOUBLE, chunked({4, 5}, true));
  make(file, "pieces", {10, 10}, H5T_STD_I16BE, chunked({4, 5}));
  const hid_t compact = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_layout(compact, H5D_COMPACT);
  make(file, "compact", {4}, H5T_NATIVE_FLOAT, compact);
  const hid_t odd = H5Tcopy(H5T_NATIVE_INT);
  H5Tset_precision(odd, 17);
  make(file, "bits", {4}, odd);
  const hid_t partial = chunked({2, 2});
  const double fill = 3.5;
  H5Pset_fill_value(partial, H5T_NATIVE_DOUBLE, &fill);
  const std::array<hsize_t, 2> four{4, 4};
  const hid_t space = H5Screate_simple(2, four.data(), nullptr);
  H5Dclose(H5Dcreate2(file, "empty", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, partial, H5P_DEFAULT));
  const hid_t compound = H5Tcreate(H5T_COMPOUND, 16);
  H5Tinsert(compound, "x", 0, H5T_NATIVE_DOUBLE);
  H5Dclose(H5Dcreate2(file, "compound", compound, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  const hid_t group = H5Gcreate2(file, "inner", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  make(group, "v", {3}, H5T_NATIVE_DOUBLE);
  H5Lcreate_hard(file, "inner", group, "again", H5P_DEFAULT, H5P_DEFAULT);
  H5Gclose(group);
  H5Fclose(file);

  auto catalog = open(path);
  CHECK(values_of<double>(*catalog, "big") == ascending(6));
  CHECK(values_of<double>(*catalog, "packed") == ascending(100));
  CHECK(values_of<float>(*catalog, "compact") == std::vector<float>{0, 1, 2, 3});
  CHECK(values_of<int>(*catalog, "bits") == std::vector<int>{0, 1, 2, 3});
  CHECK(values_of<double>(*catalog, "inner/v") == ascending(3));
  CHECK(values_of<double>(*catalog, "empty") == std::vector<double>(16, 3.5));
  CHECK(placement_of(*catalog, "packed").kind == Placement::Kind::encoded);
  CHECK(placement_of(*catalog, "compact").kind == Placement::Kind::library);
  CHECK(placement_of(*catalog, "bits").kind == Placement::Kind::library);
  CHECK(placement_of(*catalog, "empty").kind == Placement::Kind::library);
  CHECK(placement_of(*catalog, "big").swapped);
  CHECK(placement_of(*catalog, "pieces").swapped);
  CHECK(text_of(def_of(*catalog, "packed").filters) == "shuffle+deflate:1+fletcher32");
  CHECK(!def_of(*catalog, "compound").fits_plainly);
  CHECK(catalog->schema().dim(def_of(*catalog, "square").dims[0]).name.rfind("phony_dim_", 0) == 0);
  CHECK(def_of(*catalog, "square").dims[0] != def_of(*catalog, "square").dims[1]);

  // The addresses are those of the bytes, behind the user's block too.
  auto store = open_posix_store(path, StoreMode::read);
  std::array<unsigned char, 8> bytes{};
  store->read(placement_of(*catalog, "big").begin + 8, std::as_writable_bytes(std::span(bytes)));
  CHECK(bytes == std::array<unsigned char, 8>{0x3f, 0xf0, 0, 0, 0, 0, 0, 0});
  const auto at = catalog->find(catalog->schema().find_variable("pieces"), Box({0, 0}, {3, 2}));
  REQUIRE(at.size() == 6);
  store->read(at[3].offset + 2, std::as_writable_bytes(std::span(bytes)));  // cell 4, 6
  CHECK(bytes[1] == 46);
  // A second catalog on the same file, as other ranks have it.
  CHECK(values_of<double>(*open(path), "packed") == ascending(100));
}

TEST_CASE("netcdf4: behind a block of the user's own, headers that go on elsewhere, and strings") {
  const Folder folder;
  const auto path = folder.file("behind.h5");
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
  const hid_t file_creation = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_userblock(file_creation, 512);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, file_creation, access);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_attr_phase_change(creation, 60, 50);  // in the header
  make(file, "field", {4}, H5T_NATIVE_DOUBLE, creation);
  make(file, "next", {4}, H5T_NATIVE_DOUBLE, creation);  // so that the header cannot grow where it is
  const hid_t data = H5Dopen2(file, "field", H5P_DEFAULT);
  const hid_t one = H5Screate(H5S_SCALAR);
  for (int i = 0; i < 40; ++i) {
    const hid_t attribute = H5Acreate2(data, ("number_" + std::to_string(i)).c_str(), H5T_NATIVE_INT, one,
                                       H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(H5Awrite(attribute, H5T_NATIVE_INT, &i) >= 0);
    H5Aclose(attribute);
  }
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, H5T_VARIABLE);
  H5Tset_cset(text, H5T_CSET_UTF8);
  const hid_t names = H5Dcreate2(file, "name", text, one, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const char* value = "a name of some length";
  REQUIRE(H5Dwrite(names, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) >= 0);
  H5O_info_t info;
  REQUIRE(H5Oget_info(data, &info) >= 0);
  REQUIRE(info.hdr.nchunks > 1);
  H5Dclose(names);
  H5Dclose(data);
  H5Fclose(file);

  auto catalog = open(path);
  CHECK(values_of<double>(*catalog, "field") == ascending(4));
  CHECK(def_of(*catalog, "field").attributes.size() == 40);
  CHECK(catalog->get_strings(catalog->schema().find_variable("name"), Box::whole(Dims(0))) ==
        std::vector<std::string>{value});
}

TEST_CASE("netcdf4: no _FillValue that a data set of HDF5's own would contradict") {
  const Folder folder;
  const auto path = folder.file("zero.h5");
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  make(file, "zero", {2, 3}, H5T_NATIVE_DOUBLE);  // its own fill value is 0
  H5Fclose(file);
  auto catalog = open(path, true);
  Schema wanted = catalog->schema();
  wanted.variables[0].attributes.push_back(
      Attribute::numbers("_FillValue", Type::double_, default_fill(Type::double_), 1));
  CHECK_THROWS_WITH(catalog->define(wanted), doctest::Contains("another fill value of its own"));
  CHECK(find_attribute(catalog->schema().variables[0].attributes, "_FillValue") == nullptr);
  catalog->close(false);
}

TEST_CASE("netcdf4: a file in HDF5's newer format, extended here and killed") {
  const Folder folder;
  const auto path = folder.file("new.h5"), copy = folder.file("copy.h5");
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_userblock(creation, 512);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access);
  make(file, "field", {2, 4}, H5T_NATIVE_DOUBLE, chunked({1, 4}), true);
  H5Fclose(file);
  auto catalog = open(path, true);
  auto store = open_posix_store(path, StoreMode::write);
  for (int record = 2; record < 6; ++record) {
    const Box cells({record, 0}, {1, 4});
    std::vector<bool> fresh;
    const auto at = catalog->place(0, Box({record, 0}, {1, 1}), cells, fresh);
    const std::vector<double> values(4, record);
    store->write(at[0].offset, std::as_bytes(std::span(values)));
    catalog->commit(false);
    fs::copy_file(path, copy, fs::copy_options::overwrite_existing);
    CHECK(values_of<double>(*open(copy), "field").back() == record);
    CHECK(values_of<double>(*open(copy, true), "field").back() == record);
    const hid_t plain = H5Fopen(copy.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    CHECK(plain >= 0);
    H5Fclose(plain);
  }
  catalog->close(true);
  CHECK(values_of<double>(*open(path), "field").size() == 24);
}

TEST_CASE("netcdf4: HDF5's free space of its own is left alone") {
  const Folder folder;
  const auto path = folder.file("paged.h5");
  const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_file_space_strategy(creation, H5F_FSPACE_STRATEGY_PAGE, true, 1);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, H5P_DEFAULT);
  make(file, "field", {4}, H5T_NATIVE_DOUBLE);
  H5Fclose(file);
  CHECK(values_of<double>(*open(path), "field") == ascending(4));
  CHECK_THROWS_WITH_AS(open(path, true), doctest::Contains("h5repack"), Error);
}

TEST_CASE("netcdf4: the program's own HDF5 settings are not touched") {
  const Folder folder;
  static int called = 0;
  const auto count = [](hid_t, void*) -> herr_t {
    ++called;
    return 0;
  };
  H5E_auto2_t before = nullptr, after = nullptr;
  void* data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &data);
  H5Eset_auto2(H5E_DEFAULT, count, nullptr);
  std::ofstream(folder.file("bad.nc"), std::ios::binary) << "\x89HDF\r\n\x1a\nand then nothing";
  CHECK_THROWS_AS(open(folder.file("bad.nc")), Error);
  CHECK(called == 0);
  void* now = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &after, &now);
  const bool kept = after == static_cast<H5E_auto2_t>(count);
  CHECK(kept);
  H5Eset_auto2(H5E_DEFAULT, before, data);
}

TEST_CASE("netcdf4: netCDF's tools and Shoal extend one file in turns") {
  if (!have("ncks") || !have("ncap2") || !have("nccopy") || !have("ncatted")) return;
  const Folder folder;
  const auto path = folder.file("a.nc"), other = folder.file("b.nc");
  {
    auto catalog = create_netcdf4_catalog(Format::netcdf4, open_posix_store(path, StoreMode::create), {});
    Schema s;
    s.format = Format::netcdf4;
    s.dims = {{"time", 0, true}, {"y", 2, false}, {"x", 3, false}};
    VariableDef temp, x;
    temp.name = "temp", temp.type = Type::double_, temp.dims = {0, 1, 2}, temp.distributed = true;
    x.name = "x", x.type = Type::double_, x.dims = {2};
    s.variables = {temp, x};
    catalog->define(s);
    catalog->put(0, Box({0, 0, 0}, {1, 2, 3}), reinterpret_cast<const std::byte*>(ascending(6).data()));
    catalog->put(1, Box({0}, {3}), reinterpret_cast<const std::byte*>(ascending(3).data()));
    catalog->close(false);
  }
  const auto append = [&](std::int64_t record) {
    auto catalog = open(path, true);
    auto store = open_posix_store(path, StoreMode::write);
    const int v = catalog->schema().find_variable("temp");
    CHECK(catalog->schema().shape(v)[0] == record);
    const Box cells({record, 0, 0}, {1, 2, 3});
    std::vector<bool> fresh;
    const auto at = catalog->place(v, chunks_of(cells, catalog->placement(v).chunk), cells, fresh);
    REQUIRE(at.size() == 1);
    const std::vector<double> values(6, static_cast<double>(record));
    store->write(at[0].offset, std::as_bytes(std::span(values)));
    auto more = catalog->schema();
    VariableDef added;
    added.name = "added" + std::to_string(record), added.type = Type::int_,
    added.dims = more.variables[static_cast<std::size_t>(v)].dims;
    more.variables.push_back(added);
    if (record == 1) {
      // The dimension y gets its coordinate variable only now.
      VariableDef y;
      y.name = "y", y.type = Type::double_, y.dims = {more.find_dim("y")};
      more.variables.push_back(y);
    }
    more.variables[static_cast<std::size_t>(v)].attributes.push_back(
        Attribute::text("note" + std::to_string(record), "appended"));
    catalog->define(more);
    if (record == 1)
      catalog->put(catalog->schema().find_variable("y"), Box({0}, {2}),
                   reinterpret_cast<const std::byte*>(ascending(2).data()));
    catalog->close(false);
  };
  append(1);
  run("ncap2 -O -s 'twice=temp*2' " + path + " " + path);
  append(2);
  run("ncatted -a units,temp,c,c,K -a history,global,c,c,'a long history that needs some room in the "
      "header' " +
      path);
  append(3);
  run("ncks -A -v twice " + path + " " + path);
  run("nccopy -k nc4 -d 1 " + path + " " + other);
  run("ncks --mk_rec_dmn time -O " + path + " " + folder.file("c.nc"));
  run("ncrcat -O -v temp " + path + " " + path + " " + folder.file("d.nc"));
  for (const auto& file : {path, other}) {
    auto catalog = open(file);
    const auto temp = values_of<double>(*catalog, "temp");
    REQUIRE(temp.size() == 24);
    CHECK(temp[5] == 5);
    CHECK(temp[6] == 1);
    CHECK(temp[23] == 3);
    CHECK(values_of<double>(*catalog, "y") == ascending(2));
    CHECK(find_attribute(def_of(*catalog, "temp").attributes, "note3") != nullptr);
    CHECK(values_of<double>(*catalog, "twice")[11] == 2);
    CHECK(catalog->schema().dims.size() == 3);
  }
  CHECK(values_of<double>(*open(folder.file("d.nc")), "temp").size() == 48);
}
