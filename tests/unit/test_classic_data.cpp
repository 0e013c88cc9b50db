// SPDX-License-Identifier: BSD-3-Clause
// Values, fill, commits and later definitions in the classic formats.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "classic_support.hpp"
#include "format/flat/pending_bytes.hpp"

namespace {

using namespace shoal;
using namespace shoal::test;

Schema one_of_each(Format format) {
  Schema schema;
  schema.format = format;
  const int t = add_dim(schema, "t", 0);
  const int y = add_dim(schema, "y", 3);
  const int x = add_dim(schema, "x", 5);
  add_variable(schema, "scalar", Type::int_, {});
  add_variable(schema, "coordinate", Type::double_, {x});
  add_variable(schema, "time", Type::double_, {t});
  add_variable(schema, "temp", Type::float_, {t, y, x}, true);
  add_variable(schema, "flag", Type::byte_, {t, x});
  return schema;
}

std::vector<float> ramp(std::int64_t n, float first) {
  std::vector<float> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), first);
  return values;
}

/// As a rank does: big-endian bytes to the place where they belong.
void store_as_rank(MemoryFile& file, const Placement& placement, std::int64_t record,
                   const std::vector<float>& values) {
  MemoryStore store(std::make_shared<MemoryFile>());
  const std::uint64_t at = placement.begin + static_cast<std::uint64_t>(record) * placement.stride;
  if (file.content.size() < at + 4 * values.size()) file.content.resize(at + 4 * values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto* p = reinterpret_cast<const std::byte*>(&values[i]);
    for (std::size_t k = 0; k < 4; ++k)
      file.content[at + 4 * i + k] = p[3 - k];
  }
}

Bytes byte_swapped(float value) {
  Bytes bytes(4);
  for (std::size_t k = 0; k < 4; ++k)
    bytes[k] = reinterpret_cast<const std::byte*>(&value)[3 - k];
  return bytes;
}

constexpr double k_fill_double = 9.9692099683868690e+36;

}  // namespace

TEST_SUITE("classic data") {
  TEST_CASE("random boxes against a plain array") {
    for (const auto format : {Format::cdf1, Format::cdf2, Format::cdf5}) {
      auto file = std::make_shared<MemoryFile>();
      auto catalog = create(file, format, compact());
      Schema schema;
      schema.format = format;
      std::vector<int> dims{add_dim(schema, "t", 0), add_dim(schema, "z", 4), add_dim(schema, "y", 3),
                            add_dim(schema, "x", 5)};
      add_variable(schema, "v", Type::int_, dims);
      add_variable(schema, "w", Type::short_, dims);
      add_variable(schema, "f", Type::int_, {1, 2, 3});
      catalog->define(schema);
      const Dims shape{6, 4, 3, 5};
      std::vector<std::int32_t> expected(6 * 60, -2147483647);
      std::mt19937 random(7);
      std::int64_t records = 0;
      for (int round = 0; round < 60; ++round) {
        Box box(Dims(4), Dims(4));
        for (int d = 0; d < 4; ++d) {
          box.first[d] = static_cast<std::int64_t>(random() % static_cast<unsigned>(shape[d]));
          box.count[d] =
              static_cast<std::int64_t>(random() % static_cast<unsigned>(shape[d] - box.first[d] + 1));
        }
        std::vector<std::int32_t> values;
        for_each_index(box, [&](const Dims& index) {
          values.push_back(static_cast<std::int32_t>(random()));
          expected[static_cast<std::size_t>(position_in(index, Box::whole(shape)))] = values.back();
        });
        put<std::int32_t>(*catalog, 0, box, values);
        if (!box.empty()) records = std::max(records, box.end(0));
        CHECK(get<std::int32_t>(*catalog, 0, box) == values);
        if (round % 20 == 7) catalog->commit(false);
      }
      CHECK(catalog->schema().dims[0].length == records);
      expected.resize(static_cast<std::size_t>(records) * 60);
      CHECK(get_all<std::int32_t>(*catalog, 0) == expected);
      catalog->close(false);
      auto reread = open(file);
      CHECK(get_all<std::int32_t>(*reread, 0) == expected);
      for (const auto value : get_all<std::int16_t>(*reread, 1))
        CHECK(value == -32767);
      for (const auto value : get_all<std::int32_t>(*reread, 2))
        CHECK(value == -2147483647);
    }
  }

  TEST_CASE("cells outside of the shape are refused") {
    auto catalog = create(std::make_shared<MemoryFile>(), Format::cdf5);
    catalog->define(one_of_each(Format::cdf5));
    put<double>(*catalog, 2, Box({1}, {1}), {4.0});
    const auto code = [&](auto&& work) { return error_of(work).code; };
    CHECK(code([&] { get<double>(*catalog, 2, Box({2}, {1})); }) == Code::not_found);
    CHECK(code([&] { get<double>(*catalog, 1, Box({3}, {3})); }) == Code::not_found);
    CHECK(code([&] { get<double>(*catalog, 1, Box({-1}, {1})); }) == Code::not_found);
    CHECK(code([&] { put<double>(*catalog, 1, Box({5}, {1}), {1}); }) == Code::not_found);
    CHECK(code([&] { get<double>(*catalog, 1, Box({0, 0}, {1, 1})); }) == Code::not_found);
    CHECK(code([&] { get<double>(*catalog, 9, Box({0}, {1})); }) == Code::not_found);
    CHECK(code([&] { catalog->get_strings(1, Box({0}, {1})); }) == Code::type);
    CHECK(code([&] { catalog->put_strings(1, Box({0}, {1}), {"a"}); }) == Code::type);
    CHECK(code([&] { catalog->grow(1, 4); }) == Code::invalid_argument);
    const std::int64_t far = std::int64_t{1} << 62;
    CHECK(code([&] { put<double>(*catalog, 2, Box({far}, {1}), {1}); }) == Code::not_supported);
    CHECK(catalog->schema().dims[0].length == 2);
    CHECK(get_all<double>(*catalog, 2) == std::vector<double>{k_fill_double, 4.0});
  }

  TEST_CASE("ranks write at placements, the catalog fills the rest when records are added") {
    auto file = std::make_shared<MemoryFile>();
    auto catalog = create(file, Format::cdf5);
    catalog->define(one_of_each(Format::cdf5));
    const Placement temp = catalog->placement(3);
    store_as_rank(*file, temp, 0, ramp(15, 0));
    store_as_rank(*file, temp, 1, ramp(15, 100));
    catalog->grow(0, 2);
    catalog->commit(false);
    auto reread = open(file);
    CHECK(reread->schema().dims[0].length == 2);
    CHECK(get<float>(*reread, 3, Box({1, 0, 0}, {1, 3, 5})) == ramp(15, 100));
    CHECK(get_all<double>(*reread, 2) == std::vector<double>(2, k_fill_double));
    CHECK(get_all<std::int8_t>(*reread, 4) == std::vector<std::int8_t>(10, -127));
    CHECK(get_all<std::int32_t>(*reread, 0) == std::vector<std::int32_t>{-2147483647});
  }

  TEST_CASE(
      "appending: what ranks wrote to a variable found in the file is not filled over, others are filled") {
    auto file = std::make_shared<MemoryFile>();
    {
      auto catalog = create(file, Format::cdf2);
      catalog->define(one_of_each(Format::cdf2));
      catalog->grow(0, 1);
      catalog->close(false);
    }
    auto catalog = open(file, true);
    catalog->set_distributed(3);
    CHECK(catalog->schema().variables[3].distributed);
    const Placement temp = catalog->placement(3);
    store_as_rank(*file, temp, 2, ramp(15, 7));
    put<double>(*catalog, 2, Box({2}, {1}), {5.0});
    catalog->grow(0, 3);
    catalog->close(false);
    auto reread = open(file);
    CHECK(get<float>(*reread, 3, Box({2, 0, 0}, {1, 3, 5})) == ramp(15, 7));
    CHECK(get_all<double>(*reread, 2) == std::vector<double>{k_fill_double, k_fill_double, 5.0});
    CHECK(get_all<std::int8_t>(*reread, 4) == std::vector<std::int8_t>(15, -127));
  }

  TEST_CASE("no fill is written for no_fill variables, nor when the options say so") {
    for (const bool by_option : {false, true}) {
      auto file = std::make_shared<MemoryFile>();
      CatalogOptions options = compact();
      options.fill = by_option ? FillMode::none : FillMode::all;
      auto catalog = create(file, Format::cdf5, options);
      Schema schema;
      schema.format = Format::cdf5;
      add_dim(schema, "x", 4);
      add_variable(schema, "v", Type::int_, {0});
      schema.variables[0].no_fill = !by_option;
      catalog->define(schema);
      CHECK(catalog->schema().variables[0].no_fill);
      catalog->close(false);
      CHECK(file->count("write") == 1);  // the header
      CHECK(get_all<std::int32_t>(*open(file), 0) == std::vector<std::int32_t>(4, 0));
    }
  }

  TEST_CASE("hundreds of values cost one write, and the header comes last") {
    auto file = std::make_shared<MemoryFile>();
    auto catalog = create(file, Format::cdf5);
    Schema schema;
    schema.format = Format::cdf5;
    const int n = add_dim(schema, "n", 3);
    for (int i = 0; i < 300; ++i)
      add_variable(schema, "v" + std::to_string(i), i % 2 == 0 ? Type::double_ : Type::char_,
                   i % 3 == 0 ? std::vector<int>{} : std::vector<int>{n});
    catalog->define(schema);
    for (int i = 299; i >= 0; --i) {
      const Bytes value(24, static_cast<std::byte>(i));
      catalog->put(i, Box::whole(catalog->schema().shape(i)), value.data());
    }
    CHECK(file->count("write") == 0);
    catalog->commit(true);
    REQUIRE(file->count("write") == 2);
    REQUIRE(file->count("sync") == 2);
    std::vector<std::string> order;
    for (const auto& step : file->steps)
      if (step.what != "resize") order.push_back(step.what);
    CHECK(order == std::vector<std::string>{"write", "sync", "write", "sync"});
    CHECK(file->steps.front().offset == catalog->placement(0).begin);
    CHECK(file->steps[file->steps.size() - 2].offset == 0);
    CHECK(catalog->traffic().writes == 2);
    catalog->commit(false);
    CHECK(file->count("write") == 2);  // nothing new, nothing written
  }

  TEST_CASE("values that are written ahead of a durable commit take no sync of their own") {
    auto file = std::make_shared<MemoryFile>();
    auto catalog = create(file, Format::cdf5);
    catalog->define(one_of_each(Format::cdf5));
    put<double>(*catalog, 2, Box({0}, {1}), {1.0});
    catalog->write_ahead(false);
    CHECK(file->count("write") > 0);
    CHECK(file->count("sync") == 0);
    catalog->write_ahead(true);
    CHECK(file->count("sync") == 1);
    file->steps.clear();
    catalog->commit(true);  // the file's length and the header, which a sync keeps in this order
    REQUIRE(file->count("write") == 1);
    CHECK(file->steps.back().what == "sync");
    put<double>(*catalog, 2, Box({1}, {1}), {2.0});
    catalog->grow(0, 2);
    catalog->write_ahead(true);
    file->steps.clear();
    catalog->commit(false);
    CHECK(file->count("sync") == 0);
    catalog->commit(true);  // the number of records
    CHECK(file->count("sync") == 1);
    file->steps.clear();
    catalog->close(true);
    CHECK(file->count("write") + file->count("sync") + file->count("resize") == 0);
  }

  TEST_CASE("a record costs its values and the number of records") {
    auto file = std::make_shared<MemoryFile>();
    auto catalog = create(file, Format::cdf1);
    catalog->define(one_of_each(Format::cdf1));
    catalog->commit(false);
    file->steps.clear();
    put<double>(*catalog, 2, Box({0}, {1}), {1.0});
    catalog->grow(0, 1);
    catalog->commit(false);
    CHECK(file->steps.back().what == "write");
    CHECK(file->steps.back().offset >= 4);  // what differs of the number's four bytes
    CHECK(file->steps.back().offset + file->steps.back().bytes <= 8);
    catalog->grow(0, 0);  // never fewer
    CHECK(catalog->schema().dims[0].length == 1);
  }

  TEST_CASE("killed before a commit, the file is as at the commit before") {
    auto file = std::make_shared<MemoryFile>();
    auto catalog = create(file, Format::cdf5);
    Schema schema = one_of_each(Format::cdf5);
    catalog->define(schema);
    put<double>(*catalog, 2, Box({0}, {1}), {1.0});
    CHECK(file->content.empty());
    catalog->commit(true);
    const Bytes committed = file->content;
    put<double>(*catalog, 2, Box({0}, {2}), {10.0, 2.0});
    schema.attributes.push_back(Attribute::text("more", "of it"));
    catalog->define(schema);
    CHECK(file->content == committed);
    catalog.reset();  // without close nothing is written
    CHECK(file->content == committed);
    CHECK(get_all<double>(*open(file), 2) == std::vector<double>{1.0});
  }

  TEST_CASE("much data is not kept in memory, and does not touch what is committed") {
    auto file = std::make_shared<MemoryFile>();
    auto catalog = create(file, Format::cdf5, compact());
    Schema schema;
    schema.format = Format::cdf5;
    add_dim(schema, "t", 0);
    const std::int64_t n = 3 * 1024 * 1024;
    add_dim(schema, "x", n);
    add_variable(schema, "v", Type::float_, {0, 1});
    catalog->define(schema);
    put<float>(*catalog, 0, Box({0, 0}, {1, n}), ramp(n, 1));
    catalog->commit(false);
    const Bytes committed = file->content;
    put<float>(*catalog, 0, Box({0, 5}, {1, 1}), {-5.0F});
    put<float>(*catalog, 0, Box({2, 0}, {1, n}), ramp(n, 2));
    CHECK(file->content.size() > 30U * 1024 * 1024);
    CHECK(Bytes(file->content.begin(),
                file->content.begin() + static_cast<std::ptrdiff_t>(committed.size())) == committed);
    CHECK(get<float>(*catalog, 0, Box({0, 4}, {1, 3})) == std::vector<float>{5, -5, 7});
    catalog->close(false);
    auto reread = open(file);
    CHECK(get<float>(*reread, 0, Box({0, 4}, {1, 3})) == std::vector<float>{5, -5, 7});
    CHECK(get<float>(*reread, 0, Box({1, n - 1}, {1, 1})) == std::vector<float>{9.9692099683868690e+36F});
    CHECK(get<float>(*reread, 0, Box({2, 0}, {1, n})) == ramp(n, 2));
  }

  TEST_CASE("a commit that fails can be repeated") {
    for (int writes = 0; writes < 2; ++writes) {
      auto file = std::make_shared<MemoryFile>();
      auto catalog = create(file, Format::cdf5);
      catalog->define(one_of_each(Format::cdf5));
      put<double>(*catalog, 1, Box({0}, {5}), {1, 2, 3, 4, 5});
      file->writes_left = writes;
      CHECK(error_of([&] { catalog->commit(false); }).code == Code::no_space);
      file->writes_left = -1;
      catalog->close(false);
      CHECK(get_all<double>(*open(file), 1) == std::vector<double>{1, 2, 3, 4, 5});
    }
  }

  TEST_CASE("a file opened for reading is not changed") {
    auto file = std::make_shared<MemoryFile>();
    {
      auto catalog = create(file, Format::cdf5);
      catalog->define(one_of_each(Format::cdf5));
      catalog->close(false);
    }
    file->steps.clear();
    auto catalog = open(file);
    CHECK(error_of([&] { put<double>(*catalog, 1, Box({0}, {1}), {1}); }).code == Code::permission);
    CHECK(error_of([&] { catalog->define(catalog->schema()); }).code == Code::permission);
    CHECK(error_of([&] { catalog->grow(0, 1); }).code == Code::permission);
    catalog->commit(true);
    catalog->close(true);
    CHECK(file->count("write") + file->count("resize") + file->count("sync") == 0);
    CHECK(file->count("close") == 1);
  }

  TEST_CASE("addresses of chunks") {
    auto catalog = create(std::make_shared<MemoryFile>(), Format::cdf5);
    catalog->define(one_of_each(Format::cdf5));
    const Placement temp = catalog->placement(3);
    std::vector<bool> fresh;
    const Box chunks({1, 0, 0}, {2, 1, 1});
    CHECK(catalog->find(3, chunks) == std::vector<Location>{k_nowhere, k_nowhere});
    catalog->grow(0, 2);
    const auto addresses = catalog->place(3, chunks, Box({1, 0, 0}, {2, 3, 5}), fresh);
    CHECK(addresses == std::vector<Location>{location_of(temp, 1), location_of(temp, 2)});
    CHECK(addresses[1].offset == temp.begin + 2 * temp.stride);
    CHECK(fresh == std::vector<bool>{false, true});
    CHECK(catalog->schema().dims[0].length == 3);
    CHECK(catalog->find(3, chunks) == addresses);
  }

  TEST_CASE("records that were lost are taken back, but not what was committed") {
    auto file = std::make_shared<MemoryFile>();
    auto catalog = create(file, Format::cdf5, compact());
    catalog->define(one_of_each(Format::cdf5));
    const auto placement = catalog->placement(3);
    const auto record = [&](std::int64_t r) {
      store_as_rank(*file, placement, r, ramp(15, static_cast<float>(100 * r)));
      put<double>(*catalog, 2, Box({r}, {1}), {0.5 + static_cast<double>(r)});
      catalog->grow(0, r + 1);
    };
    record(0);
    catalog->commit(false);
    record(1);
    record(2);
    catalog->take_back(0, 2);
    CHECK(catalog->schema().dims[0].length == 2);
    CHECK(error_of([&] { get<double>(*catalog, 2, Box({2}, {1})); }).code == Code::not_found);
    CHECK(error_of([&] { catalog->take_back(1, 2); }).code == Code::invalid_argument);
    catalog->commit(false);
    CHECK(get_all<double>(*open(file), 2) == std::vector<double>{0.5, 1.5});
    catalog->take_back(0, 0);
    CHECK(catalog->schema().dims[0].length == 2);
    // The same place is there for the record when it comes again; the catalog fills what is not put anew.
    CHECK(catalog->placement(3).begin == placement.begin);
    store_as_rank(*file, placement, 2, ramp(15, 7));
    catalog->grow(0, 3);
    catalog->close(false);
    auto found = open(file);
    CHECK(get_all<double>(*found, 2) == std::vector<double>{0.5, 1.5, k_fill_double});
    CHECK(get<float>(*found, 3, Box({2, 0, 0}, {1, 3, 5})) == ramp(15, 7));
    CHECK(get<float>(*found, 3, Box({1, 0, 0}, {1, 3, 5})) == ramp(15, 100));
  }

  TEST_CASE("what was put to lost records does not come out over variables that lie there later") {
    auto file = std::make_shared<MemoryFile>();
    CatalogOptions options = compact();
    options.header_reserve = 100;
    auto catalog = create(file, Format::cdf5, options);
    Schema schema;
    schema.format = Format::cdf5;
    add_dim(schema, "t", 0);
    add_dim(schema, "x", 5);
    add_dim(schema, "y", 60);
    add_variable(schema, "temp", Type::float_, {0, 1});
    catalog->define(schema);
    put<float>(*catalog, 0, Box({0, 0}, {9, 5}), ramp(45, 1));
    const auto lost = catalog->placement(0);
    catalog->take_back(0, 0);
    add_variable(schema, "fixed", Type::float_, {2}, true);
    catalog->define(schema);
    REQUIRE(catalog->placement(1).begin + 60 * 4 > lost.begin);
    store_as_rank(*file, catalog->placement(1), 0, ramp(60, 50));
    catalog->close(false);
    CHECK(get_all<float>(*open(file), 1) == ramp(60, 50));
  }

  TEST_CASE("what was put and written out may be overwritten by ranks") {
    auto file = std::make_shared<MemoryFile>();
    auto catalog = create(file, Format::cdf5, compact());
    catalog->define(one_of_each(Format::cdf5));
    put<float>(*catalog, 3, Box({0, 0, 0}, {3, 3, 5}), ramp(45, 1));
    put<std::int8_t>(*catalog, 4, Box({1, 0}, {1, 5}), {1, 2, 3, 4, 5});
    put<std::int32_t>(*catalog, 0, Box({}, {}), {17});
    CHECK(file->count("write") == 0);
    const auto placement = catalog->placement(3);
    catalog->write_out(3);
    CHECK(file->count("write") > 0);
    // No header yet, and all three records at their places.
    CHECK(file->content[0] == std::byte{0});
    const auto last = placement.begin + 2 * placement.stride + 14 * 4;
    REQUIRE(file->content.size() >= last + 4);
    const auto expected = byte_swapped(45.0F);
    CHECK(std::equal(expected.begin(), expected.end(), file->content.begin() + static_cast<long>(last)));
    store_as_rank(*file, placement, 1, ramp(15, -20));
    // Variables that the catalog fills: the fill is there for ranks to write over.
    catalog->write_out(2);
    const auto time = catalog->placement(2);
    REQUIRE(file->content.size() >= time.begin + 2 * time.stride + 8);
    CHECK(file->content[time.begin + 2 * time.stride] == std::byte{0x47});
    catalog->close(false);
    auto found = open(file);
    CHECK(get<float>(*found, 3, Box({0, 0, 0}, {1, 3, 5})) == ramp(15, 1));
    CHECK(get<float>(*found, 3, Box({1, 0, 0}, {1, 3, 5})) == ramp(15, -20));
    CHECK(get<float>(*found, 3, Box({2, 0, 0}, {1, 3, 5})) == ramp(15, 31));
    CHECK(get<std::int8_t>(*found, 4, Box({1, 0}, {1, 5})) == std::vector<std::int8_t>{1, 2, 3, 4, 5});
    CHECK(get_all<std::int32_t>(*found, 0) == std::vector<std::int32_t>{17});
  }

  TEST_CASE("pending bytes: a range in the middle is forgotten") {
    PendingBytes pending;
    const Bytes ten(10, std::byte{1});
    pending.put(100, ten);
    pending.put(200, ten);
    pending.drop(104, 3);
    pending.drop(205, 100);
    pending.drop(50, 50);
    CHECK(pending.size() == 12);
    CHECK(pending.covers(100, 4));
    CHECK_FALSE(pending.covers(104, 1));
    CHECK_FALSE(pending.covers(106, 1));
    CHECK(pending.covers(107, 3));
    CHECK(pending.covers(200, 5));
    CHECK_FALSE(pending.covers(205, 1));
    pending.drop(0, 1000);
    CHECK(pending.size() == 0);
    CHECK_FALSE(pending.covers(107, 1));
  }

  TEST_CASE("pending bytes: the last put counts, neighbours are written together") {
    PendingBytes pending;
    Bytes expected(300, std::byte{0});
    std::vector<bool> known(300, false);
    std::mt19937 random(3);
    for (int round = 0; round < 500; ++round) {
      const std::size_t at = random() % 280;
      const Bytes bytes(random() % 20, static_cast<std::byte>(round));
      pending.put(at, bytes);
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        expected[at + i] = bytes[i];
        known[at + i] = true;
      }
      Bytes found(300, std::byte{0});
      pending.overlay(0, found);
      REQUIRE(found == expected);
      const std::size_t from = random() % 290;
      const std::size_t n = random() % (300 - from);
      bool all = true;
      for (std::size_t i = from; i < from + n; ++i)
        all = all && known[i];
      REQUIRE(pending.covers(from, n) == all);
      REQUIRE(pending.size() == static_cast<std::size_t>(std::count(known.begin(), known.end(), true)));
    }
    Bytes written(300, std::byte{0});
    std::uint64_t last_end = 0;
    pending.flush(
        [&](std::uint64_t offset, std::span<const std::byte> bytes) {
          CHECK((last_end == 0 || offset > last_end));  // not adjacent, in order
          last_end = offset + bytes.size();
          std::copy(bytes.begin(), bytes.end(), written.begin() + static_cast<std::ptrdiff_t>(offset));
        },
        [](std::uint64_t, std::size_t) { return true; });
    CHECK(written == expected);
    CHECK(pending.size() == 0);
  }
}
