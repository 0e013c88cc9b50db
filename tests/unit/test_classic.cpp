// SPDX-License-Identifier: BSD-3-Clause
// Headers and layouts of the classic formats, byte by byte.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "classic_support.hpp"
#include "format/classic/header.hpp"

namespace {

using namespace shoal;
using namespace shoal::test;

/// "43 44 46 01 'x'" as bytes.
Bytes bytes_of(const std::string& text) {
  Bytes bytes;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      ++i;
    } else if (text[i] == '\'') {
      for (++i; text[i] != '\''; ++i)
        bytes.push_back(static_cast<std::byte>(text[i]));
      ++i;
    } else {
      bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
      i += 2;
    }
  }
  return bytes;
}

Schema two_variables(Format format) {
  Schema schema;
  schema.format = format;
  const int time = add_dim(schema, "time", 0);
  const int x = add_dim(schema, "x", 3);
  schema.attributes.push_back(Attribute::text("hi", "abcde"));
  add_variable(schema, "x", Type::short_, {x});
  add_variable(schema, "t", Type::double_, {time});
  const std::int16_t fill = -2;
  schema.variables[0].attributes.push_back(Attribute::numbers("_FillValue", Type::short_, &fill, 1));
  return schema;
}

// Written down from the grammar of the specification, with a record of t and the last value of x left to
// fill.
const char* const k_cdf1 =
    "'CDF' 01  00 00 00 01"
    " 00 00 00 0a  00 00 00 02"
    "   00 00 00 04 'time'          00 00 00 00"
    "   00 00 00 01 'x' 00 00 00    00 00 00 03"
    " 00 00 00 0c  00 00 00 01"
    "   00 00 00 02 'hi' 00 00      00 00 00 02  00 00 00 05  'abcde' 00 00 00"
    " 00 00 00 0b  00 00 00 02"
    "   00 00 00 01 'x' 00 00 00    00 00 00 01  00 00 00 01"
    "   00 00 00 0c  00 00 00 01"
    "     00 00 00 0a '_FillValue' 00 00  00 00 00 03  00 00 00 01  ff fe 00 00"
    "   00 00 00 03  00 00 00 08  00 00 00 b4"
    "   00 00 00 01 't' 00 00 00    00 00 00 01  00 00 00 00"
    "   00 00 00 00  00 00 00 00"
    "   00 00 00 06  00 00 00 08  00 00 00 bc"
    " 00 01 01 02 ff fe ff fe"
    " 3f f8 00 00 00 00 00 00";

const char* const k_cdf5 =
    "'CDF' 05  00 00 00 00 00 00 00 01"
    " 00 00 00 0a  00 00 00 00 00 00 00 02"
    "   00 00 00 00 00 00 00 04 'time'          00 00 00 00 00 00 00 00"
    "   00 00 00 00 00 00 00 01 'x' 00 00 00    00 00 00 00 00 00 00 03"
    " 00 00 00 0c  00 00 00 00 00 00 00 01"
    "   00 00 00 00 00 00 00 02 'hi' 00 00      00 00 00 02  00 00 00 00 00 00 00 05  'abcde' 00 00 00"
    " 00 00 00 0b  00 00 00 00 00 00 00 02"
    "   00 00 00 00 00 00 00 01 'x' 00 00 00    00 00 00 00 00 00 00 01  00 00 00 00 00 00 00 01"
    "   00 00 00 0c  00 00 00 00 00 00 00 01"
    "     00 00 00 00 00 00 00 0a '_FillValue' 00 00  00 00 00 03  00 00 00 00 00 00 00 01  ff fe 00 00"
    "   00 00 00 03  00 00 00 00 00 00 00 08  00 00 00 00 00 00 01 14"
    "   00 00 00 00 00 00 00 01 't' 00 00 00    00 00 00 00 00 00 00 01  00 00 00 00 00 00 00 00"
    "   00 00 00 00  00 00 00 00 00 00 00 00"
    "   00 00 00 06  00 00 00 00 00 00 00 08  00 00 00 00 00 00 01 1c"
    " 00 01 01 02 ff fe ff fe"
    " 3f f8 00 00 00 00 00 00";

void write_two_variables(const std::shared_ptr<MemoryFile>& file, Format format) {
  auto catalog = create(file, format, compact());
  catalog->define(two_variables(format));
  put<std::int16_t>(*catalog, 0, Box({0}, {2}), {1, 0x102});
  put<double>(*catalog, 1, Box({0}, {1}), {1.5});
  catalog->close(false);
}

}  // namespace

TEST_SUITE("classic") {
  TEST_CASE("cdf1 and cdf5 files are what the grammar says, byte by byte") {
    auto file = std::make_shared<MemoryFile>();
    write_two_variables(file, Format::cdf1);
    CHECK(file->content == bytes_of(k_cdf1));
    file = std::make_shared<MemoryFile>();
    write_two_variables(file, Format::cdf5);
    CHECK(file->content == bytes_of(k_cdf5));
  }

  TEST_CASE("cdf2 differs from cdf1 in the begins alone") {
    auto file = std::make_shared<MemoryFile>();
    write_two_variables(file, Format::cdf2);
    CHECK(file->content.size() == bytes_of(k_cdf1).size() + 8);
    CHECK(file->content[3] == std::byte{2});
    auto catalog = open(file);
    CHECK(catalog->placement(0).begin == 0xbc);
    CHECK(catalog->placement(1).begin == 0xc4);
  }

  TEST_CASE("headers written down from the grammar are read") {
    for (const char* text : {k_cdf1, k_cdf5}) {
      auto file = std::make_shared<MemoryFile>();
      file->content = bytes_of(text);
      auto catalog = open(file);
      const Schema& schema = catalog->schema();
      REQUIRE(schema.dims.size() == 2);
      CHECK(schema.dims[0].unlimited);
      CHECK(schema.dims[0].length == 1);
      CHECK(schema.dims[1].length == 3);
      REQUIRE(schema.attributes.size() == 1);
      CHECK(schema.attributes[0].type == Type::char_);
      CHECK(schema.attributes[0].count() == 5);
      REQUIRE(schema.variables.size() == 2);
      CHECK(schema.variables[0].attributes[0].type == Type::short_);
      CHECK(get_all<std::int16_t>(*catalog, 0) == std::vector<std::int16_t>{1, 0x102, -2});
      CHECK(get_all<double>(*catalog, 1) == std::vector<double>{1.5});
      CHECK(file->steps.empty());  // reading changes nothing
    }
  }

  TEST_CASE("an empty file has the empty lists of its format") {
    auto file = std::make_shared<MemoryFile>();
    create(file, Format::cdf1)->close(false);
    CHECK(file->content == bytes_of("'CDF' 01 00000000 0000000000000000 0000000000000000 0000000000000000"));
    file = std::make_shared<MemoryFile>();
    create(file, Format::cdf5)->close(false);
    CHECK(file->content.size() == 4 + 8 + 3 * 12);
    CHECK(open(file)->schema().variables.empty());
  }

  TEST_CASE(
      "the default layout leaves space, and starts distributed variables at multiples of the alignment") {
    auto file = std::make_shared<MemoryFile>();
    auto catalog = create(file, Format::cdf5);
    Schema schema;
    schema.format = Format::cdf5;
    const int t = add_dim(schema, "t", 0);
    const int x = add_dim(schema, "x", 5);
    add_variable(schema, "a", Type::byte_, {x});
    add_variable(schema, "b", Type::float_, {x}, true);
    add_variable(schema, "c", Type::byte_, {x});
    add_variable(schema, "r", Type::short_, {t, x});
    add_variable(schema, "s", Type::float_, {t, x}, true);
    catalog->define(schema);
    const auto a = catalog->placement(0);
    const auto b = catalog->placement(1);
    const auto c = catalog->placement(2);
    const auto r = catalog->placement(3);
    const auto s = catalog->placement(4);
    CHECK(a.begin >= 64 * 1024);
    CHECK(a.begin % 4 == 0);
    CHECK(b.begin % 4096 == 0);
    CHECK(b.begin >= a.begin + 8);
    CHECK(c.begin == b.begin + 20);
    CHECK(r.begin % 4096 == 0);
    CHECK(r.begin >= c.begin + 8 + 64 * 1024);
    CHECK(s.begin == r.begin + 12);
    CHECK(r.stride == 32);
    CHECK(s.stride == 32);
    CHECK(b.stride == 0);
    CHECK(b.chunk == Dims{5});
    CHECK(s.chunk == Dims{1, 5});
    CHECK(s.kind == Placement::Kind::regular);
    CHECK(s.swapped);
  }

  // ncvalidator of PnetCDF 1.12 takes a file that is longer for damaged.
  TEST_CASE("a file without records ends with its fixed variables, or with its header") {
    for (const bool fixed : {false, true}) {
      auto file = std::make_shared<MemoryFile>();
      auto catalog = create(file, Format::cdf1);
      Schema schema;
      schema.format = Format::cdf1;
      const int t = add_dim(schema, "t", 0);
      const int x = add_dim(schema, "x", 3);
      add_variable(schema, "r", Type::int_, {t, x});
      if (fixed) add_variable(schema, "f", Type::short_, {x});
      catalog->define(schema);
      if (fixed) put<std::int16_t>(*catalog, 1, Box({0}, {3}), {1, 2, 3});
      catalog->close(false);
      CHECK(file->content.size() == (fixed ? catalog->placement(1).begin + 8 : header_bytes_of(schema)));
      auto again = open(file);
      CHECK(again->schema().dim(t).length == 0);
      if (fixed) CHECK(get_all<std::int16_t>(*again, 1) == std::vector<std::int16_t>{1, 2, 3});
    }
  }

  TEST_CASE("the records of a single record variable are not padded") {
    for (const bool second : {false, true}) {
      auto file = std::make_shared<MemoryFile>();
      auto catalog = create(file, Format::cdf1, compact());
      Schema schema;
      schema.format = Format::cdf1;
      const int t = add_dim(schema, "t", 0);
      const int x = add_dim(schema, "x", 3);
      add_variable(schema, "a", Type::char_, {t, x});
      if (second) add_variable(schema, "b", Type::byte_, {t});
      catalog->define(schema);
      CHECK(catalog->placement(0).stride == (second ? 8 : 3));
      put<char>(*catalog, 0, Box({0, 0}, {2, 3}), {'a', 'b', 'c', 'd', 'e', 'f'});
      if (second) put<std::int8_t>(*catalog, 1, Box({0}, {1}), {7});
      catalog->close(false);
      const std::size_t header = catalog->placement(0).begin;
      const Bytes data(file->content.begin() + static_cast<std::ptrdiff_t>(header), file->content.end());
      // Padding has the variable's fill value: 0 for text, 81 for bytes.
      CHECK(data == bytes_of(second ? "'abc' 00 07 81 81 81 'def' 00 81 81 81 81" : "'abcdef'"));
      CHECK(get_all<char>(*open(file), 0) == std::vector<char>{'a', 'b', 'c', 'd', 'e', 'f'});
    }
  }

  TEST_CASE("all types come back, as values and as attributes") {
    auto file = std::make_shared<MemoryFile>();
    auto catalog = create(file, Format::cdf5, compact());
    Schema schema;
    schema.format = Format::cdf5;
    const int x = add_dim(schema, "x", 2);
    const std::vector<Type> types{Type::byte_,  Type::char_,   Type::short_, Type::int_,
                                  Type::float_, Type::double_, Type::ubyte,  Type::ushort,
                                  Type::uint,   Type::int64,   Type::uint64};
    std::vector<Bytes> values;
    for (std::size_t i = 0; i < types.size(); ++i) {
      Bytes two(2 * size_of(types[i]));
      for (std::size_t k = 0; k < two.size(); ++k)
        two[k] = static_cast<std::byte>(16 * i + k + 1);
      values.push_back(two);
      schema.attributes.push_back({name_of(types[i]), types[i], two, {}});
      add_variable(schema, name_of(types[i]), types[i], {x});
    }
    catalog->define(schema);
    for (std::size_t i = 0; i < types.size(); ++i)
      catalog->put(static_cast<int>(i), Box({0}, {2}), values[i].data());
    catalog->close(false);
    auto reread = open(file);
    for (std::size_t i = 0; i < types.size(); ++i) {
      CHECK(reread->schema().variables[i].type == types[i]);
      CHECK(reread->schema().attributes[i].data == values[i]);
      Bytes found(values[i].size());
      reread->get(static_cast<int>(i), Box({0}, {2}), found.data());
      CHECK(found == values[i]);
    }
  }

  TEST_CASE("what a format cannot hold is refused with the format to use, and nothing changes") {
    auto file = std::make_shared<MemoryFile>();
    auto catalog = create(file, Format::cdf1);
    Schema good;
    good.format = Format::cdf1;
    add_dim(good, "x", 3);
    catalog->define(good);
    const auto refused = [&](Code code, const std::string& words, const std::string& variable,
                             auto&& change) {
      Schema schema = good;
      change(schema);
      const Status status = error_of([&] { catalog->define(schema); });
      CHECK_MESSAGE(status.code == code, status.text());
      CHECK_MESSAGE(mentions(status, words), status.text());
      CHECK(status.variable == variable);
      CHECK(status.file == "memory.nc");
      CHECK(catalog->schema().variables.empty());
      CHECK(catalog->schema().dims.size() == 1);
    };
    refused(Code::type, "cdf5", "v", [](Schema& s) { add_variable(s, "v", Type::uint, {0}); });
    refused(Code::type, "netcdf4", "v", [](Schema& s) { add_variable(s, "v", Type::string, {0}); });
    refused(Code::type, "cdf5", "", [](Schema& s) {
      const std::int64_t one = 1;
      s.attributes.push_back(Attribute::numbers("a", Type::int64, &one, 1));
    });
    refused(Code::not_supported, "one unlimited", "", [](Schema& s) {
      add_dim(s, "t", 0);
      add_dim(s, "u", 0);
    });
    refused(Code::not_supported, "slowest", "v", [](Schema& s) {
      const int t = add_dim(s, "t", 0);
      add_variable(s, "v", Type::int_, {0, t});
    });
    refused(Code::not_supported, "netcdf4", "", [](Schema& s) { s.dims.push_back({"empty", 0, false}); });
    refused(Code::not_supported, "netcdf4", "v", [](Schema& s) {
      add_variable(s, "v", Type::int_, {0});
      s.variables[0].chunks = {1};
    });
    refused(Code::invalid_argument, "a/b", "a/b", [](Schema& s) { add_variable(s, "a/b", Type::int_, {0}); });
    refused(Code::exists, "choose another", "", [](Schema& s) { add_dim(s, "x", 4); });
    refused(Code::invalid_argument, "no dimension 7", "v",
            [](Schema& s) { add_variable(s, "v", Type::int_, {7}); });
  }

  TEST_CASE("sizes: what the formats allow and what not") {
    const auto status_of = [](Format format, const std::vector<std::pair<std::int64_t, bool>>& variables) {
      auto catalog = create(std::make_shared<MemoryFile>(), format, compact());
      Schema schema;
      schema.format = format;
      const int t = add_dim(schema, "t", 0);
      for (std::size_t i = 0; i < variables.size(); ++i) {
        const std::string number = std::to_string(i);
        // Two dimensions, so that no length is too large by itself.
        const int x = add_dim(schema, "x" + number, variables[i].first / 1024);
        const int y = add_dim(schema, "y" + number, 1024);
        add_variable(schema, "v" + number, Type::byte_,
                     variables[i].second ? std::vector<int>{t, x, y} : std::vector<int>{x, y}, true);
      }
      return caught([&] { catalog->define(schema); });
    };
    constexpr std::int64_t gib = std::int64_t{1} << 30;
    constexpr bool fixed = false;
    constexpr bool record = true;
    CHECK(status_of(Format::cdf1, {{gib, fixed}, {gib - 1024 * 1024, fixed}, {1024, fixed}}).ok());
    CHECK(status_of(Format::cdf1, {{3 * gib, fixed}}).ok());  // the last may be large
    CHECK(status_of(Format::cdf1, {{1024, record}, {3 * gib, record}}).ok());
    CHECK(status_of(Format::cdf2, {{5 * gib, fixed}}).ok());
    CHECK(status_of(Format::cdf2, {{3 * gib, fixed}, {3 * gib, fixed}, {5 * gib, fixed}}).ok());
    CHECK(status_of(Format::cdf5, {{5 * gib, fixed}, {5 * gib, record}, {9 * gib, record}}).ok());

    const auto is_refused = [&](Format format, const std::vector<std::pair<std::int64_t, bool>>& variables,
                                const std::string& variable) {
      const Status status = status_of(format, variables);
      CHECK_MESSAGE(status.code == Code::not_supported, status.text());
      CHECK(status.variable == variable);
      CHECK_MESSAGE(mentions(status, "cdf5"), status.text());
      CHECK_MESSAGE(mentions(status, "netcdf4"), status.text());
    };
    is_refused(Format::cdf1, {{3 * gib, fixed}, {1024, fixed}}, "v0");
    is_refused(Format::cdf1, {{3 * gib, fixed}, {1024, record}}, "v0");
    is_refused(Format::cdf1, {{3 * gib, record}, {1024, record}}, "v0");
    is_refused(Format::cdf1, {{gib, fixed}, {gib, fixed}, {1024, fixed}}, "v2");  // begins behind 2 GiB
    is_refused(Format::cdf2, {{5 * gib, fixed}, {1024, fixed}}, "v0");
    is_refused(Format::cdf2, {{1024, fixed}, {5 * gib, record}, {5 * gib, record}}, "v1");

    auto catalog = create(std::make_shared<MemoryFile>(), Format::cdf1);
    Schema schema;
    schema.format = Format::cdf1;
    add_dim(schema, "x", 3 * gib);
    CHECK(mentions(error_of([&] { catalog->define(schema); }), "cdf5"));
    schema.format = Format::cdf5;
    catalog = create(std::make_shared<MemoryFile>(), Format::cdf5);
    schema.dims[0].length = std::int64_t{1} << 62;
    add_variable(schema, "v", Type::double_, {0});
    CHECK(error_of([&] { catalog->define(schema); }).variable == "v");
  }

  TEST_CASE("options out of range are refused") {
    CatalogOptions options;
    options.alignment = 0;
    CHECK(error_of([&] { create(std::make_shared<MemoryFile>(), Format::cdf5, options); }).code ==
          Code::setting);
    options = {};
    options.header_reserve = -1;
    CHECK(error_of([&] { create(std::make_shared<MemoryFile>(), Format::cdf5, options); }).code ==
          Code::setting);
  }
}
