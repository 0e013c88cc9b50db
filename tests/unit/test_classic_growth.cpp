// SPDX-License-Identifier: BSD-3-Clause
// Definitions after data was written: what has a place in classic files, and what not.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "classic_support.hpp"

namespace {

using namespace shoal;
using namespace shoal::test;

CatalogOptions reserve(std::int64_t bytes) {
  CatalogOptions options;
  options.header_reserve = bytes;
  return options;
}

/// A file with a fixed and a record variable and that many records.
std::shared_ptr<MemoryFile> example(const CatalogOptions& options, std::int64_t records,
                                    Format format = Format::cdf5) {
  auto file = std::make_shared<MemoryFile>();
  auto catalog = create(file, format, options);
  Schema schema;
  schema.format = format;
  add_dim(schema, "t", 0);
  add_dim(schema, "x", 4);
  add_variable(schema, "fixed", Type::int_, {1});
  add_variable(schema, "record", Type::int_, {0, 1});
  catalog->define(schema);
  put<std::int32_t>(*catalog, 0, Box({0}, {4}), {1, 2, 3, 4});
  for (std::int64_t r = 0; r < records; ++r)
    put<std::int32_t>(*catalog, 1, Box({r, 0}, {1, 4}),
                      std::vector<std::int32_t>(4, static_cast<std::int32_t>(r)));
  catalog->close(false);
  return file;
}

void check_example(Catalog& catalog, std::int64_t records) {
  CHECK(get_all<std::int32_t>(catalog, 0) == std::vector<std::int32_t>{1, 2, 3, 4});
  for (std::int64_t r = 0; r < records; ++r)
    CHECK(get<std::int32_t>(catalog, 1, Box({r, 0}, {1, 4})) ==
          std::vector<std::int32_t>(4, static_cast<std::int32_t>(r)));
}

}  // namespace

TEST_SUITE("classic growth") {
  TEST_CASE("until data was written everything is laid out anew") {
    auto file = std::make_shared<MemoryFile>();
    auto first = create(file, Format::cdf5, reserve(0));
    Schema schema;
    schema.format = Format::cdf5;
    add_dim(schema, "x", 4);
    add_variable(schema, "a", Type::int_, {0});
    first->define(schema);
    add_variable(schema, "b", Type::int_, {0}, true);
    schema.attributes.push_back(Attribute::text("long", std::string(1000, 'x')));
    first->define(schema);
    auto second = create(std::make_shared<MemoryFile>(), Format::cdf5, reserve(0));
    second->define(schema);
    for (int v = 0; v < 2; ++v)
      CHECK(first->placement(v).begin == second->placement(v).begin);
  }

  TEST_CASE("the reserve takes attributes, dimensions and variables") {
    for (const auto format : {Format::cdf1, Format::cdf2, Format::cdf5}) {
      auto file = example({}, 3, format);
      {
        auto catalog = open(file, true);
        const auto before = catalog->placement(1);
        Schema schema = catalog->schema();
        schema.attributes.push_back(Attribute::text("long", std::string(10000, 'x')));
        const int z = add_dim(schema, "z", 7);
        const int added = add_variable(schema, "added", Type::short_, {z});
        catalog->define(schema);
        CHECK(catalog->placement(1).begin == before.begin);
        CHECK(catalog->placement(1).stride == before.stride);
        CHECK(catalog->placement(added).begin + 14 <= before.begin);
        put<std::int16_t>(*catalog, added, Box({2}, {2}), {5, 6});
        check_example(*catalog, 3);
        catalog->close(false);
      }
      auto catalog = open(file);
      check_example(*catalog, 3);
      CHECK(get_all<std::int16_t>(*catalog, 2) ==
            std::vector<std::int16_t>{-32767, -32767, 5, 6, -32767, -32767, -32767});
      CHECK(catalog->schema().attributes[0].count() == 10000);
    }
  }

  TEST_CASE("a reserve that does not suffice is an error that says what would") {
    auto file = example(reserve(100), 3);
    auto catalog = open(file, true);
    const auto before = catalog->schema();
    Schema schema = before;
    schema.attributes.push_back(Attribute::text("long", std::string(1000, 'x')));
    const Status status = error_of([&] { catalog->define(schema); });
    CHECK(status.code == Code::not_supported);
    CHECK(mentions(status, "header_reserve"));
    CHECK(mentions(status, "netcdf4"));
    CHECK(catalog->schema().attributes.empty());
    catalog->close(false);
    check_example(*open(file), 3);

    // What the message says is enough.
    const std::string words = "header_reserve set to ";
    const auto at = status.message.find(words);
    REQUIRE(at != std::string::npos);
    auto larger = open(example(reserve(std::stoll(status.message.substr(at + words.size()))), 3), true);
    larger->define(schema);
    CHECK(larger->schema().attributes.size() == 1);
  }

  TEST_CASE("new fixed variables have a place as long as the records are far enough") {
    auto catalog = open(example(reserve(1000), 2), true);
    Schema schema = catalog->schema();
    const int large = add_dim(schema, "large", 100000);
    add_variable(schema, "added", Type::double_, {large});
    const Status status = error_of([&] { catalog->define(schema); });
    CHECK(status.code == Code::not_supported);
    CHECK(mentions(status, "header_reserve"));
    catalog = open(example(reserve(900000), 2), true);
    catalog->define(schema);
    CHECK(catalog->placement(2).begin + 800000 <= catalog->placement(1).begin);
  }

  TEST_CASE("new record variables have a place only before the first record") {
    auto file = example({}, 0);
    auto catalog = open(file, true);
    Schema schema = catalog->schema();
    const int large = add_dim(schema, "large", 100000);
    add_variable(schema, "second", Type::double_, {0});
    add_variable(schema, "added", Type::double_, {large});  // the records move for this one
    catalog->define(schema);
    CHECK(catalog->placement(1).stride == 24);
    CHECK(catalog->placement(1).begin >= catalog->placement(3).begin + 800000);
    put<double>(*catalog, 2, Box({1}, {1}), {2.0});
    put<std::int32_t>(*catalog, 1, Box({1, 0}, {1, 4}), {1, 1, 1, 1});
    catalog->commit(false);
    add_variable(schema, "third", Type::double_, {0});
    const Status status = error_of([&] { catalog->define(schema); });
    CHECK(status.code == Code::not_supported);
    CHECK(mentions(status, "netcdf4"));
    catalog->close(false);
    auto reread = open(file);
    CHECK(get<double>(*reread, 2, Box({1}, {1})) == std::vector<double>{2.0});
    CHECK(get<std::int32_t>(*reread, 1, Box({1, 0}, {1, 4})) == std::vector<std::int32_t>(4, 1));
    CHECK(get<std::int32_t>(*reread, 1, Box({0, 0}, {1, 4})) == std::vector<std::int32_t>(4, -2147483647));
  }

  TEST_CASE("the first record variable of a file that has records without any") {
    auto file = std::make_shared<MemoryFile>();
    auto catalog = create(file, Format::cdf5);
    Schema schema;
    schema.format = Format::cdf5;
    add_dim(schema, "t", 0);
    add_variable(schema, "scalar", Type::int_, {});
    catalog->define(schema);
    catalog->grow(0, 3);
    catalog->commit(false);
    add_variable(schema, "late", Type::int_, {0});
    catalog->define(schema);
    catalog->close(false);
    CHECK(get_all<std::int32_t>(*open(file), 1) == std::vector<std::int32_t>(3, -2147483647));
  }

  TEST_CASE("attributes get new values; shorter headers leave nothing behind") {
    auto file = std::make_shared<MemoryFile>();
    auto catalog = create(file, Format::cdf5);
    Schema schema;
    schema.format = Format::cdf5;
    add_variable(schema, "v", Type::int_, {});
    schema.attributes.push_back(Attribute::text("title", "something quite long"));
    catalog->define(schema);
    put<std::int32_t>(*catalog, 0, Box(Dims{}, Dims{}), {1});
    catalog->commit(false);
    schema.attributes[0] = Attribute::text("title", "short");
    catalog->define(schema);
    catalog->close(false);
    auto other = std::make_shared<MemoryFile>();
    auto plain = create(other, Format::cdf5);
    plain->define(schema);
    put<std::int32_t>(*plain, 0, Box(Dims{}, Dims{}), {1});
    plain->close(false);
    auto reread = open(file);
    CHECK(reread->schema().attributes[0].data == schema.attributes[0].data);
    const auto header = static_cast<std::ptrdiff_t>(256);
    CHECK(Bytes(file->content.begin(), file->content.begin() + header).size() == 256);
    const std::string text(reinterpret_cast<const char*>(file->content.data()), file->content.size());
    CHECK(text.find("quite") == std::string::npos);
  }

  TEST_CASE("a fill value cannot change after the fact") {
    auto catalog = open(example({}, 1), true);
    Schema schema = catalog->schema();
    const std::int32_t fill = -1;
    schema.variables[0].attributes.push_back(Attribute::numbers("_FillValue", Type::int_, &fill, 1));
    CHECK(error_of([&] { catalog->define(schema); }).code == Code::state);
  }

  TEST_CASE("a variable is handed over to the ranks: what was put before goes to the file first") {
    auto file = std::make_shared<MemoryFile>();
    auto catalog = create(file, Format::cdf5, reserve(0));
    Schema schema;
    schema.format = Format::cdf5;
    add_dim(schema, "x", 2);
    add_variable(schema, "v", Type::int_, {0});
    catalog->define(schema);
    put<std::int32_t>(*catalog, 0, Box({0}, {1}), {1});
    schema.variables[0].distributed = true;
    catalog->define(schema);
    const auto at = catalog->placement(0).begin;
    REQUIRE(file->content.size() >= at + 8);
    file->content[at + 3] = std::byte{9};  // a rank writes
    file->content[at + 7] = std::byte{8};
    file->content[at + 4] = file->content[at + 5] = file->content[at + 6] = std::byte{0};
    catalog->close(false);
    CHECK(get_all<std::int32_t>(*open(file), 0) == std::vector<std::int32_t>{9, 8});
  }
}
