// SPDX-License-Identifier: BSD-3-Clause
// Definitions after data was written: what has a place in classic files, and what not.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "classic_support.hpp"
#include "format/classic/classic_move.hpp"

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

/// The data of the file in a new one, which ranks write in parts, the last part first.
std::shared_ptr<MemoryFile> moved_file(const std::shared_ptr<MemoryFile>& file, const Schema& wanted,
                                       const CatalogOptions& options) {
  MemoryStore from(file);
  ByteWriter out;
  ClassicMove::planned(from, wanted, options).pack(out);
  const Bytes packed = out.take();
  ByteReader in(packed);
  const ClassicMove move(in);
  auto made = std::make_shared<MemoryFile>();
  MemoryStore to(made);
  constexpr std::int64_t k_parts = 7;
  const std::int64_t part = (move.end() - move.begin() + k_parts - 1) / k_parts;
  for (std::int64_t i = k_parts - 1; i >= 0; --i)
    move.copy(from, to, std::min(move.begin() + i * part, move.end()),
              std::min(move.begin() + (i + 1) * part, move.end()));
  to.write(0, move.header());
  if (to.size() < static_cast<std::uint64_t>(move.end())) to.resize(static_cast<std::uint64_t>(move.end()));
  return made;
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

  TEST_CASE("what has no place is known before, and changes nothing") {
    auto file = example(reserve(100), 3);
    auto catalog = open(file, true);
    Schema schema = catalog->schema();
    CHECK(catalog->has_place(schema));
    schema.attributes.push_back(Attribute::text("long", std::string(1000, 'x')));
    CHECK_FALSE(catalog->has_place(schema));
    const Status status = error_of([&] { catalog->define(schema); });
    CHECK(status.code == Code::not_supported);
    CHECK(mentions(status, "move"));
    CHECK(catalog->schema().attributes.empty());
    catalog->close(false);
    check_example(*open(file), 3);
  }

  TEST_CASE("new fixed variables have a place as long as the records are far enough") {
    auto catalog = open(example(reserve(1000), 2), true);
    Schema schema = catalog->schema();
    const int large = add_dim(schema, "large", 100000);
    add_variable(schema, "added", Type::double_, {large});
    CHECK_FALSE(catalog->has_place(schema));
    catalog = open(example(reserve(900000), 2), true);
    CHECK(catalog->has_place(schema));
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
    CHECK_FALSE(catalog->has_place(schema));
    catalog->close(false);
    auto reread = open(file);
    CHECK(get<double>(*reread, 2, Box({1}, {1})) == std::vector<double>{2.0});
    CHECK(get<std::int32_t>(*reread, 1, Box({1, 0}, {1, 4})) == std::vector<std::int32_t>(4, 1));
    CHECK(get<std::int32_t>(*reread, 1, Box({0, 0}, {1, 4})) == std::vector<std::int32_t>(4, -2147483647));
  }

  TEST_CASE("data move to where definitions have a place") {
    for (const auto format : {Format::cdf1, Format::cdf2, Format::cdf5})
      for (const std::int64_t records : {std::int64_t{0}, std::int64_t{1}, std::int64_t{50}}) {
        CAPTURE(name_of(format));
        CAPTURE(records);
        auto file = example(reserve(0), records, format);
        Schema schema = open(file)->schema();
        schema.attributes.push_back(Attribute::text("long", std::string(1000, 'x')));
        check_example(*open(moved_file(file, schema, reserve(0))), records);
        const int y = add_dim(schema, "y", 3);
        const int scalar = add_variable(schema, "scalar", Type::byte_, {0});
        const int field = add_variable(schema, "field", Type::short_, {0, y});
        const int fixed = add_variable(schema, "late", Type::double_, {y});
        const int bare = add_variable(schema, "bare", Type::double_, {y});
        schema.variables.back().no_fill = true;
        CHECK_FALSE((records > 0 && open(file, true)->has_place(schema)));
        const auto made = moved_file(file, schema, reserve(0));
        auto catalog = open(made, true);
        check_example(*catalog, records);
        const auto n = static_cast<std::size_t>(records);
        CHECK(get_all<std::int8_t>(*catalog, scalar) == std::vector<std::int8_t>(n, -127));
        CHECK(get_all<std::int16_t>(*catalog, field) == std::vector<std::int16_t>(3 * n, -32767));
        CHECK(get_all<double>(*catalog, fixed) == std::vector<double>(3, 9.9692099683868690e+36));
        CHECK(get_all<double>(*catalog, bare) == std::vector<double>(3, 0.0));
        // There is room for as much again.
        schema = catalog->schema();
        schema.attributes.push_back(Attribute::text("more", std::string(1000, 'x')));
        CHECK(catalog->has_place(schema));
      }
  }

  TEST_CASE("records of some megabytes, and an old file without its end") {
    auto file = std::make_shared<MemoryFile>();
    auto catalog = create(file, Format::cdf5, reserve(0));
    Schema schema;
    schema.format = Format::cdf5;
    add_dim(schema, "t", 0);
    add_dim(schema, "x", 400001);
    add_variable(schema, "small", Type::byte_, {0});
    add_variable(schema, "large", Type::int_, {0, 1});
    add_variable(schema, "last", Type::short_, {0});
    catalog->define(schema);
    const auto value = [](std::int64_t record) { return static_cast<std::int32_t>(7 * record + 1); };
    for (std::int64_t r = 0; r < 3; ++r) {
      put<std::int8_t>(*catalog, 0, Box({r}, {1}), {static_cast<std::int8_t>(r + 1)});
      put<std::int32_t>(*catalog, 1, Box({r, 0}, {1, 400001}), std::vector<std::int32_t>(400001, value(r)));
      put<std::int16_t>(*catalog, 2, Box({r}, {1}), {static_cast<std::int16_t>(r + 5)});
    }
    catalog->close(false);
    file->content.resize(file->content.size() - 4);  // the last value and its padding
    schema = open(file)->schema();
    schema.attributes.push_back(Attribute::text("long", std::string(1000, 'x')));
    for (const bool with_variable : {false, true}) {
      if (with_variable) add_variable(schema, "added", Type::double_, {0});
      const auto made = open(moved_file(file, schema, reserve(0)));
      CHECK(get_all<std::int8_t>(*made, 0) == std::vector<std::int8_t>{1, 2, 3});
      for (std::int64_t r = 0; r < 3; ++r)
        CHECK(get<std::int32_t>(*made, 1, Box({r, 0}, {1, 400001})) ==
              std::vector<std::int32_t>(400001, value(r)));
      CHECK(get_all<std::int16_t>(*made, 2) == std::vector<std::int16_t>{5, 6, -32767});
      if (with_variable) CHECK(get_all<double>(*made, 3) == std::vector<double>(3, 9.9692099683868690e+36));
    }
  }

  TEST_CASE("a variable that cdf1 has no place for is refused before data move") {
    auto file = example(reserve(0), 2, Format::cdf1);
    Schema schema = open(file)->schema();
    const int large = add_dim(schema, "large", 1000000000);
    add_variable(schema, "a", Type::byte_, {large});
    add_variable(schema, "b", Type::byte_, {large});
    CHECK(open(file, true)->has_place(schema) == false);
    add_variable(schema, "c", Type::byte_, {large});
    const Status status = error_of([&] { moved_file(file, schema, reserve(0)); });
    CHECK(status.code == Code::not_supported);
    CHECK(mentions(status, "cdf1 files allow up to 2147483647"));
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
