// SPDX-License-Identifier: BSD-3-Clause
// The netCDF-4 catalog: what goes in comes out, here and with netCDF's own tools.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "format/catalog.hpp"
#include "storage/store.hpp"
#include "support/faulty_store.hpp"
#include "support/folder.hpp"

namespace {

using namespace shoal;
namespace fs = std::filesystem;

using testing::Folder;

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

/// The code of the Error that work throws; ok if it throws none.
template <class Work>
Code code_of(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code();
  }
  return Code::ok;
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
    store.write(at[c].offset, std::as_bytes(std::span(values)));
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
    CHECK(catalog->placement(3).begin == at[0].offset);
    std::vector<int> mask(48, 7);
    store->write(at[0].offset, std::as_bytes(std::span(mask)));
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
    CHECK(address.is_placed());
  if (!have("ncdump")) return;
  const auto text = output_of("ncdump " + path);
  CHECK(contains(text, "time = UNLIMITED ; // (3 currently)"));
  CHECK(contains(text, "float temp(time, lat, lon)"));
  CHECK(contains(text, "temp:units = \"K\""));
  CHECK(contains(text, "time = 0.5, 1.5, 2.5"));
  CHECK(contains(text, "200, 201, 202, 203"));
}

namespace {

template <class T>
Attribute numbers(const std::string& name, Type type, std::vector<T> values) {
  return Attribute::numbers(name, type, values.data(), static_cast<std::int64_t>(values.size()));
}

Attribute strings(const std::string& name, std::vector<std::string> values) {
  Attribute attribute;
  attribute.name = name;
  attribute.type = Type::string;
  attribute.strings = std::move(values);
  return attribute;
}

template <class T>
void check_type(const std::string& path, Type type) {
  CAPTURE(name_of(type));
  Schema s;
  s.format = Format::netcdf4;
  s.dims = {{"x", 5, false}, {"r", 0, true}};
  const std::vector<T> fill{static_cast<T>(99)};
  s.variables = {
      variable("fixed", type, {0}, {numbers("_FillValue", type, fill), numbers<T>("list", type, {1, 2, 3})}),
      variable("records", type, {1, 0}, {numbers("_FillValue", type, fill)}), variable("scalar", type, {})};
  const std::vector<T> values{static_cast<T>(1), static_cast<T>(2), static_cast<T>(100)};
  {
    auto catalog = create(path);
    catalog->define(s);
    put<T>(*catalog, 0, Box({1}, {3}), values);
    put<T>(*catalog, 1, Box({2, 1}, {1, 3}), values);
    put<T>(*catalog, 2, Box(), {static_cast<T>(42)});
    catalog->close(false);
  }
  auto catalog = open(path);
  CHECK(catalog->schema().variables[0].type == type);
  CHECK(catalog->schema().dims[1].length == 3);
  const auto* list = find_attribute(catalog->schema().variables[0].attributes, "list");
  REQUIRE(list != nullptr);
  CHECK(list->type == type);
  CHECK(list->count() == 3);
  const auto f = static_cast<T>(99);
  CHECK(values_of<T>(*catalog, 0, Box({0}, {5})) == std::vector<T>{f, values[0], values[1], values[2], f});
  CHECK(values_of<T>(*catalog, 1, Box({1, 0}, {2, 5})) ==
        std::vector<T>{f, f, f, f, f, f, values[0], values[1], values[2], f});
  CHECK(values_of<T>(*catalog, 2, Box()) == std::vector<T>{static_cast<T>(42)});
}

}  // namespace

TEST_CASE("netcdf4: every type goes in and comes out") {
  const Folder folder;
  const auto path = folder.file("types.nc");
  check_type<signed char>(path, Type::byte_);
  check_type<short>(path, Type::short_);
  check_type<int>(path, Type::int_);
  check_type<float>(path, Type::float_);
  check_type<double>(path, Type::double_);
  check_type<unsigned char>(path, Type::ubyte);
  check_type<unsigned short>(path, Type::ushort);
  check_type<unsigned>(path, Type::uint);
  check_type<std::int64_t>(path, Type::int64);
  check_type<std::uint64_t>(path, Type::uint64);
  if (have("ncdump")) CHECK(contains(output_of("ncdump " + path), "uint64 fixed(x)"));
}

TEST_CASE("netcdf4: text, strings and empty attributes") {
  const Folder folder;
  const auto path = folder.file("text.nc");
  Schema s;
  s.format = Format::netcdf4;
  s.dims = {{"station", 3, false}, {"length", 4, false}, {"time", 0, true}};
  s.attributes = {Attribute::text("title", "Zürich"), Attribute::text("empty", ""),
                  strings("names", {"a", "bb", ""}), numbers<int>("none", Type::int_, {})};
  s.variables = {variable("code", Type::char_, {0, 1}),
                 variable("name", Type::string, {0}, {strings("_FillValue", {"?"})}),
                 variable("event", Type::string, {2})};
  {
    auto catalog = create(path);
    catalog->define(s);
    catalog->put(0, Box({0, 0}, {3, 4}), reinterpret_cast<const std::byte*>("ZURIBERNGENF"));
    catalog->put_strings(1, Box({0}, {2}), {"Zürich", "Bern"});
    catalog->put_strings(2, Box({1}, {1}), {"flood"});
    catalog->put_strings(2, Box({1}, {1}), {"a longer word than before"});
    CHECK(code_of([&] { catalog->put_strings(1, Box({0}, {3}), {"one"}); }) == Code::invalid_argument);
    CHECK(code_of([&] { catalog->put(1, Box({0}, {1}), nullptr); }) == Code::type);
    CHECK(code_of([&] { catalog->get_strings(1, Box({2}, {2})); }) == Code::not_found);
    catalog->close(false);
  }
  auto catalog = open(path);
  const auto& schema = catalog->schema();
  REQUIRE(schema.attributes.size() == 4);
  CHECK(schema.attributes[0].data == s.attributes[0].data);
  CHECK(schema.attributes[1].type == Type::char_);
  CHECK(schema.attributes[1].count() == 0);
  CHECK(schema.attributes[2].strings == std::vector<std::string>{"a", "bb", ""});
  CHECK(schema.attributes[3].type == Type::int_);
  CHECK(schema.attributes[3].count() == 0);
  const auto code = values_of<char>(*catalog, 0, Box({1, 0}, {1, 4}));
  CHECK(std::string(code.begin(), code.end()) == "BERN");
  CHECK(catalog->get_strings(1, Box({0}, {3})) == std::vector<std::string>{"Zürich", "Bern", "?"});
  CHECK(catalog->get_strings(2, Box({0}, {2})) == std::vector<std::string>{"", "a longer word than before"});
  CHECK(catalog->placement(1).kind == Placement::Kind::library);
  if (have("ncdump")) CHECK(contains(output_of("ncdump " + path), "\"Zürich\", \"Bern\", _"));
}

TEST_CASE("netcdf4: places that were not filled are none, and are given out again") {
  const Folder folder;
  const auto path = folder.file("unfilled.nc");
  auto catalog = create(path);
  auto store = open_posix_store(path, StoreMode::write);
  catalog->define(ocean(4, 4));
  const Box records({0, 0, 0}, {3, 1, 1}), none({0, 0, 0}, {0, 0, 0});
  const Box mask({0, 0}, {1, 1}), no_mask({0, 0}, {0, 0});
  const std::vector<float> ones(48, 1.0F);
  std::vector<bool> fresh;
  const auto first = catalog->place(2, Box({0, 0, 0}, {1, 1, 1}), none, fresh);
  const auto at = catalog->place(2, records, none, fresh);
  CHECK(fresh == std::vector<bool>{false, true, true});
  store->write(first[0].offset, std::as_bytes(std::span(ones).first(16)));
  catalog->unplace(2, records, fresh);
  CHECK(catalog->find(2, records) == std::vector<Location>{first[0], k_nowhere, k_nowhere});
  const auto at_mask = catalog->place(3, mask, no_mask, fresh);
  catalog->unplace(3, mask, fresh);
  CHECK(catalog->placement(3).begin == k_unplaced);
  CHECK_FALSE(catalog->find(3, mask)[0].is_placed());
  catalog->grow(0, 3);
  // What is asked for has the fill value; a part of it is put, and stays.
  CHECK(values_of<float>(*catalog, 2, Box({0, 3, 3}, {2, 1, 1})) ==
        std::vector<float>{1, 9.969209968386869e36F});
  put<std::int32_t>(*catalog, 3, Box({1, 1}, {1, 1}), {7});
  catalog->commit(false);
  CHECK(values_of<std::int32_t>(*open(path), 3, Box({1, 0}, {1, 3})) ==
        std::vector<std::int32_t>{-2147483647, 7, -2147483647});
  CHECK(open(path)->find(2, records) == catalog->find(2, records));
  CHECK(catalog->place(3, mask, no_mask, fresh) == at_mask);
  CHECK(fresh == std::vector<bool>{false});
  CHECK(catalog->place(2, records, none, fresh) == at);
  CHECK(fresh == std::vector<bool>{false, true, true});
  for (const auto& place : {at[1], at[2]})
    store->write(place.offset, std::as_bytes(std::span(ones).first(16)));
  catalog->close(false);
  CHECK(values_of<float>(*open(path), 2, Box({0, 0, 0}, {3, 4, 4})) == ones);
}

TEST_CASE("netcdf4: chunks of future records are given out, and no commit shows them") {
  const Folder folder;
  const auto path = folder.file("ahead.nc");
  auto catalog = create(path);
  auto store = open_posix_store(path, StoreMode::write);
  catalog->define(ocean(4, 4));
  const auto where = catalog->placement(2);
  std::vector<bool> fresh;
  const Box all({0, 0, 0}, {8, 1, 1});
  const auto ahead = catalog->place(2, all, Box({0, 0, 0}, {0, 0, 0}), fresh);
  CHECK(ahead.size() == 8);
  for (std::size_t i = 1; i < 8; ++i)
    CHECK(ahead[i] == ahead[i - 1] + 64);
  CHECK(fresh == std::vector<bool>(8, true));
  CHECK(catalog->place(2, all, Box({0, 0, 0}, {0, 0, 0}), fresh) == ahead);
  CHECK(fresh == std::vector<bool>(8, false));
  for (int record = 0; record < 8; ++record) {
    const std::vector<float> values(16, static_cast<float>(record));
    store->write(ahead[static_cast<std::size_t>(record)].offset, std::as_bytes(std::span(values)));
  }
  CHECK(catalog->schema().dims[0].length == 0);
  catalog->commit(false);
  CHECK(open(path)->schema().dims[0].length == 0);
  catalog->grow(0, 3);
  CHECK(catalog->find(2, all) == ahead);
  catalog->commit(true);
  {
    auto reader = open(path);
    CHECK(reader->schema().dims[0].length == 3);
    CHECK(values_of<float>(*reader, 2, Box({2, 3, 3}, {1, 1, 1})) == std::vector<float>{2});
    CHECK(reader->find(2, Box({0, 0, 0}, {3, 1, 1})) ==
          std::vector<Location>(ahead.begin(), ahead.begin() + 3));
    CHECK(reader->find(2, Box({3, 0, 0}, {1, 1, 1})) == std::vector<Location>{k_nowhere});
  }
  // Metadata that comes in between does not disturb the places given out.
  auto more = catalog->schema();
  for (int i = 0; i < 50; ++i)
    more.variables.push_back(variable("v" + std::to_string(i), Type::int_, {0, 1}));
  catalog->define(more);
  catalog->grow(0, 8);
  catalog->close(false);
  auto reader = open(path);
  CHECK(reader->find(2, all) == ahead);
  for (int record = 0; record < 8; ++record)
    CHECK(values_of<float>(*reader, 2, Box({record, 1, 1}, {1, 1, 1})) ==
          std::vector<float>{static_cast<float>(record)});
  // A variable without records reads as fill.
  CHECK(values_of<int>(*reader, 10, Box({7, 0}, {1, 1})) == std::vector<int>{-2147483647});
  CHECK(where.chunk == Dims({1, 4, 4}));
}

TEST_CASE("netcdf4: killed between commits, a file opens as it was at the last") {
  const Folder folder;
  const auto path = folder.file("kill.nc"), copy = folder.file("copy.nc");
  auto catalog = create(path);
  auto store = open_posix_store(path, StoreMode::write);
  catalog->define(ocean());
  catalog->commit(false);
  for (int record = 0; record < 20; ++record) {
    write_record(*catalog, *store, record, static_cast<float>(record));
    put<double>(*catalog, 0, Box({record}, {1}), {1.0 * record});
    auto more = catalog->schema();
    // Long lists of attributes change their storage, which frees and moves metadata.
    more.attributes.push_back(Attribute::text("note" + std::to_string(record), std::string(300, 'x')));
    more.variables[2].attributes.push_back(numbers<int>("n" + std::to_string(record), Type::int_, {record}));
    more.variables.push_back(variable("extra" + std::to_string(record), Type::double_, {0, 1}));
    catalog->define(more);
    fs::copy_file(path, copy, fs::copy_options::overwrite_existing);
    {
      auto found = open(copy);
      CHECK(found->schema().dims[0].length == record);
      CHECK(found->schema().variables.size() == static_cast<std::size_t>(4 + record));
      if (record > 0) {
        CHECK(values_of<float>(*found, 2, Box({record - 1, 0, 1}, {1, 1, 1}))[0] ==
              static_cast<float>(record));
        CHECK(values_of<double>(*found, 0, Box({record - 1}, {1}))[0] == record - 1);
      }
    }
    catalog->commit(record % 2 == 0);
  }
  catalog.reset();  // without close: nothing more is written
  auto found = open(path);
  CHECK(found->schema().dims[0].length == 20);
  for (int record = 0; record < 20; ++record)
    CHECK(values_of<float>(*found, 2, Box({record, 0, 0}, {1, 1, 2})) ==
          std::vector<float>{static_cast<float>(record), static_cast<float>(record + 1)});
  if (have("ncdump")) CHECK(contains(output_of("ncdump -h " + path), "extra19"));
}

TEST_CASE("netcdf4: a full disk is an error, and the file stays as it was") {
  const Folder folder;
  const auto path = folder.file("full.nc");
  {
    auto catalog = create(path);
    catalog->define(ocean());
    put<double>(*catalog, 0, Box({0}, {1}), {1});
    catalog->close(true);
  }
  for (int after = 0; after < 3; ++after) {
    const auto opener = with_fault(open_posix_store, {"write", after, 1, ENOSPC});
    auto catalog = open_netcdf4_catalog(opener(path, StoreMode::write), true, {});
    auto more = catalog->schema();
    if (find_attribute(more.attributes, "note") == nullptr)
      more.attributes.push_back(Attribute::text("note", "n"));
    for (int i = 0; i < 40; ++i)
      more.variables.push_back(variable("v" + std::to_string(after * 100 + i), Type::int_, {0, 1}));
    catalog->define(more);
    const auto code = code_of([&] { catalog->commit(false); });
    CHECK((code == Code::no_space || (after > 0 && code == Code::ok)));
    if (after == 0) {
      CHECK(open(path)->schema().variables.size() == 4);
      // Somebody made room.
      catalog->close(false);
      CHECK(open(path)->schema().variables.size() == 44);
    }
  }
  const auto opener = with_fault(open_posix_store, {"write", 0, -1, ENOSPC});
  auto catalog =
      create_netcdf4_catalog(Format::netcdf4, opener(folder.file("none.nc"), StoreMode::create), {});
  catalog->define(ocean());
  try {
    catalog->close(false);
    FAIL("close did not fail");
  } catch (const Error& error) {
    CHECK(error.code() == Code::no_space);
    CHECK(contains(error.what(), "none.nc"));
  }
}

TEST_CASE("netcdf4: what cannot be is refused before anything is changed") {
  const Folder folder;
  auto catalog = create(folder.file("r.nc"), Format::netcdf4_classic);
  Schema s;
  s.format = Format::netcdf4_classic;
  s.dims = {{"t", 0, true}, {"x", 4, false}};
  s.variables = {variable("a", Type::float_, {0, 1})};
  catalog->define(s);
  const auto refused = [&](const Schema& wanted) {
    const auto code = code_of([&] { catalog->define(wanted); });
    CHECK(catalog->schema().variables.size() == 1);
    return code;
  };
  auto wanted = s;
  wanted.variables.push_back(variable("b", Type::int64, {0}));
  CHECK(refused(wanted) == Code::type);
  wanted = s;
  wanted.variables.push_back(variable("b", Type::int_, {1, 0}));
  CHECK(refused(wanted) == Code::invalid_argument);
  wanted = s;
  wanted.dims.push_back({"u", 0, true});
  CHECK(refused(wanted) == Code::not_supported);
  wanted = s;
  wanted.variables.push_back(variable("b", Type::int_, {1}));
  wanted.variables[1].filters = {{307}};
  CHECK(refused(wanted) == Code::not_supported);
  wanted.variables[1].filters.clear();
  wanted.variables[1].chunks = {5};
  CHECK(refused(wanted) == Code::invalid_argument);
  wanted = s;
  wanted.variables[0].attributes = {numbers<float>("_FillValue", Type::float_, {1})};
  CHECK(refused(wanted) == Code::not_supported);
  wanted = s;
  wanted.attributes = {Attribute::text("_NCProperties", "x")};
  CHECK(refused(wanted) == Code::invalid_argument);
  CHECK(code_of([&] { catalog->grow(1, 9); }) == Code::invalid_argument);
  CHECK(code_of([&] { catalog->placement(7); }) == Code::not_found);
  catalog->close(false);
  CHECK(open(folder.file("r.nc"))->schema().format == Format::netcdf4_classic);
  auto reader = open(folder.file("r.nc"));
  CHECK(code_of([&] { reader->define(s); }) == Code::permission);
  { std::ofstream(folder.file("bad.nc"), std::ios::binary) << "\x89HDF\r\n\x1a\nnot really"; }
  CHECK(code_of([&] { open(folder.file("bad.nc")); }) == Code::format);
  fs::copy_file(folder.file("r.nc"), folder.file("cut.nc"));
  fs::resize_file(folder.file("cut.nc"), fs::file_size(folder.file("cut.nc")) / 2);
  CHECK(code_of([&] { open(folder.file("cut.nc")); }) == Code::format);
}

TEST_CASE("netcdf4: a variable with data gets _FillValue if it says what the data set has had all along") {
  const Folder folder;
  const auto path = folder.file("late.nc");
  Schema schema;
  schema.format = Format::netcdf4;
  schema.dims = {{"x", 6, false}};
  schema.variables = {variable("v", Type::float_, {0})};
  auto catalog = create(path);
  catalog->define(schema);
  const float one = 1;
  catalog->put(0, Box({2}, {1}), reinterpret_cast<const std::byte*>(&one));
  catalog->close(false);

  float fill = 0;
  std::memcpy(&fill, default_fill(Type::float_), sizeof fill);
  catalog = open(path, true);
  schema = catalog->schema();
  schema.variables[0].attributes = {numbers<float>("_FillValue", Type::float_, {2})};
  CHECK(code_of([&] { catalog->define(schema); }) == Code::not_supported);
  schema.variables[0].attributes = {numbers<float>("_FillValue", Type::float_, {fill})};
  catalog->define(schema);
  catalog->close(false);
  catalog = open(path);
  CHECK(find_attribute(catalog->schema().variables[0].attributes, "_FillValue") != nullptr);
  std::vector<float> values(6);
  catalog->get(0, Box({0}, {6}), reinterpret_cast<std::byte*>(values.data()));
  CHECK(values == std::vector<float>{fill, fill, 1, fill, fill, fill});
  if (have("ncdump")) CHECK(contains(output_of("ncdump " + path), "_, _, 1, _, _, _"));
}

TEST_CASE("netcdf4: records that were lost are taken back, and their places stay reserved") {
  for (const bool known : {false, true}) {  // has HDF5 heard of the lost records?
    CAPTURE(known);
    const Folder folder;
    const auto path = folder.file("a.nc");
    auto catalog = create(path);
    auto store = open_posix_store(path, StoreMode::write);
    catalog->define(ocean());
    std::vector<bool> unused;
    const auto add = [&](int record) {
      write_record(*catalog, *store, record, 100.0F * static_cast<float>(record));
      put<double>(*catalog, 0, Box({record}, {1}), {0.5 + record});
    };
    add(0);
    catalog->commit(false);
    for (int record = 1; record < 4; ++record)
      add(record);
    catalog->place(3, Box({0, 0}, {1, 1}), Box({0, 0}, {6, 8}),
                   unused);  // what lies last could not be dealt out anew
    const Box later({2, 0, 0}, {2, 6, 8});
    if (known) values_of<float>(*catalog, 2, later);
    const auto chunks = chunks_of(later, catalog->placement(2).chunk);
    const auto at = catalog->find(2, chunks);
    catalog->take_back(0, 2);
    CHECK(catalog->schema().dims[0].length == 2);
    CHECK(code_of([&] { values_of<float>(*catalog, 2, later); }) == Code::not_found);
    CHECK(values_of<float>(*catalog, 2, Box({1, 0, 0}, {1, 1, 2})) == std::vector<float>{100, 101});
    CHECK(values_of<double>(*catalog, 0, Box({0}, {2})) == std::vector<double>{0.5, 1.5});
    catalog->commit(false);
    {
      auto found = open(path);
      CHECK(found->schema().dims[0].length == 2);
      CHECK(values_of<float>(*found, 2, Box({1, 5, 7}, {1, 1, 1})) == std::vector<float>{147});
      CHECK(values_of<double>(*found, 0, Box({0}, {2})) == std::vector<double>{0.5, 1.5});
    }
    // Nobody else gets the places, whatever is put and placed meanwhile, and nobody finds what is there.
    CHECK(catalog->find(2, chunks) == std::vector<Location>(at.size(), k_nowhere));
    auto more = catalog->schema();
    more.variables.push_back(variable("extra", Type::float_, {0, 1, 2}));
    catalog->define(more);
    for (int record = 0; record < 2; ++record)
      put<float>(*catalog, 4, Box({record, 0, 0}, {1, 6, 8}), std::vector<float>(48, -1.0F));
    std::vector<bool> fresh;
    const auto others = catalog->place(4, Box({2, 0, 0}, {4, 1, 1}), Box({0, 0, 0}, {0, 0, 0}), fresh);
    for (const auto address : catalog->find(4, Box({0, 0, 0}, {2, 1, 1})))
      CHECK(std::find(at.begin(), at.end(), address) == at.end());
    for (const auto address : others)
      CHECK(std::find(at.begin(), at.end(), address) == at.end());
    const auto again = catalog->place(2, chunks, Box({0, 0, 0}, {0, 0, 0}), fresh);
    CHECK(again == at);
    CHECK(std::find(fresh.begin(), fresh.end(), false) == fresh.end());
    catalog->commit(false);
    // The same ranks write the same places again.
    const std::vector<float> values(48, 7.0F);
    store->write(at[0].offset, std::as_bytes(std::span(values)));
    catalog->grow(0, 3);
    CHECK(values_of<double>(*catalog, 0, Box({2}, {1}))[0] > 9e36);
    catalog->close(false);
    auto found = open(path);
    CHECK(found->schema().dims[0].length == 3);
    CHECK(values_of<float>(*found, 2, Box({2, 0, 0}, {1, 6, 8})) == values);
    CHECK(values_of<float>(*found, 4, Box({1, 0, 0}, {1, 6, 8})) == std::vector<float>(48, -1.0F));
    CHECK(values_of<float>(*found, 2, Box({0, 0, 0}, {1, 1, 2})) == std::vector<float>{0, 1});
    if (have("ncdump")) CHECK(contains(output_of("ncdump -h " + path), "3 currently"));
  }
}

TEST_CASE("netcdf4: what was committed is not taken back") {
  const Folder folder;
  const auto path = folder.file("a.nc");
  auto catalog = create(path);
  auto store = open_posix_store(path, StoreMode::write);
  catalog->define(ocean());
  write_record(*catalog, *store, 0, 1.0F);
  write_record(*catalog, *store, 1, 2.0F);
  catalog->commit(false);
  catalog->take_back(0, 1);
  CHECK(catalog->schema().dims[0].length == 2);
  CHECK(code_of([&] { catalog->take_back(1, 1); }) == Code::invalid_argument);
  CHECK(code_of([&] { catalog->take_back(9, 1); }) == Code::not_found);
  catalog->close(false);
  catalog = open(path, true);
  catalog->grow(0, 5);
  catalog->take_back(0, 0);
  CHECK(catalog->schema().dims[0].length == 2);
  catalog->close(false);
  CHECK(values_of<float>(*open(path), 2, Box({1, 0, 0}, {1, 1, 1})) == std::vector<float>{2});
}

TEST_CASE("netcdf4: what was put and written out may be overwritten by ranks") {
  for (const bool reopened : {false, true}) {
    CAPTURE(reopened);
    const Folder folder;
    const auto path = folder.file("a.nc");
    auto catalog = create(path);
    auto store = open_posix_store(path, StoreMode::write);
    catalog->define(ocean());
    if (reopened) {
      catalog->close(false);
      catalog = open(path, true);
    }
    const auto header = [&] {
      Bytes bytes(2048);
      bytes.resize(store->read(0, bytes));
      return bytes;
    };
    const auto before = header();
    put<float>(*catalog, 2, Box({0, 1, 0}, {1, 2, 8}), std::vector<float>(16, 5.0F));
    put<int>(*catalog, 3, Box({2, 0}, {1, 8}), std::vector<int>(8, 3));
    const auto chunk = catalog->find(2, Box({0, 0, 0}, {1, 1, 1}))[0].offset;
    const auto mask = catalog->placement(3).begin;
    catalog->write_out(2);
    catalog->write_out(3);
    CHECK((header() == before || (before.empty() && header()[0] == std::byte{0})));
    std::vector<float> there(48);
    REQUIRE(store->read(chunk, std::as_writable_bytes(std::span(there))) == 48 * sizeof(float));
    CHECK(there[0] > 9e36F);
    CHECK(there[8] == 5.0F);
    CHECK(there[23] == 5.0F);
    std::vector<int> row(8);
    store->read(mask + 16 * sizeof(int), std::as_writable_bytes(std::span(row)));
    CHECK(row == std::vector<int>(8, 3));
    there[8] = there[0] = 6.0F;
    store->write(chunk, std::as_bytes(std::span(there)));
    row[1] = 4;
    store->write(mask + 16 * sizeof(int), std::as_bytes(std::span(row)));
    // A later put brings its own cells alone.
    put<float>(*catalog, 2, Box({0, 5, 0}, {1, 1, 1}), {8.0F});
    there[9] = 9.0F;
    store->write(chunk, std::as_bytes(std::span(there)));
    catalog->close(false);
    auto found = open(path);
    const auto values = values_of<float>(*found, 2, Box({0, 0, 0}, {1, 6, 8}));
    CHECK(values[0] == 6.0F);
    CHECK(values[8] == 6.0F);
    CHECK(values[9] == 9.0F);
    CHECK(values[10] == 5.0F);
    CHECK(values[40] == 8.0F);
    CHECK(values_of<int>(*found, 3, Box({2, 0}, {1, 3})) == std::vector<int>{3, 4, 3});
  }
}
