// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <cstring>

#include "base/error.hpp"
#include "format/checks.hpp"
#include "format/schema.hpp"

namespace {

using namespace shoal;

Schema example() {
  Schema schema;
  schema.format = Format::netcdf4;
  schema.dims = {{"time", 3, true}, {"y", 4, false}, {"x", 5, false}};
  schema.attributes.push_back(Attribute::text("title", "an example"));
  schema.attributes.push_back({"names", Type::string, {}, {"a", "", "long one"}});
  VariableDef temp;
  temp.name = "temp";
  temp.type = Type::float_;
  temp.dims = {0, 1, 2};
  const float fill = -1.0F;
  temp.attributes.push_back(Attribute::numbers("_FillValue", Type::float_, &fill, 1));
  temp.distributed = true;
  temp.chunks = {1, 4, 5};
  temp.filters = filters_of("shuffle+deflate:4");
  VariableDef scalar;
  scalar.name = "scalar";
  scalar.type = Type::double_;
  scalar.no_fill = true;
  scalar.fits_plainly = false;
  schema.variables = {temp, scalar};
  return schema;
}

Code code_of(const Schema& have, const Schema& wanted) {
  try {
    check_extends(have, wanted);
    return Code::ok;
  } catch (const Error& error) {
    return error.code();
  }
}

Code code_of(const std::string& name) {
  try {
    check_name(name, "variable");
    return Code::ok;
  } catch (const Error& error) {
    return error.code();
  }
}

}  // namespace

TEST_SUITE("schema") {
  TEST_CASE("a schema survives packing") {
    const Schema schema = example();
    ByteWriter out;
    pack(out, schema);
    const Bytes bytes = out.take();
    ByteReader in(bytes);
    const Schema copy = unpack_schema(in);
    CHECK(copy.format == schema.format);
    REQUIRE(copy.dims.size() == 3);
    CHECK(copy.dims[0].name == "time");
    CHECK(copy.dims[0].length == 3);
    CHECK(copy.dims[0].unlimited);
    CHECK_FALSE(copy.dims[1].unlimited);
    REQUIRE(copy.attributes.size() == 2);
    CHECK(copy.attributes[0].data == schema.attributes[0].data);
    CHECK(copy.attributes[1].strings == schema.attributes[1].strings);
    CHECK(copy.attributes[1].count() == 3);
    REQUIRE(copy.variables.size() == 2);
    CHECK(copy.variables[0].name == "temp");
    CHECK(copy.variables[0].type == Type::float_);
    CHECK(copy.variables[0].dims == std::vector<int>{0, 1, 2});
    CHECK(copy.variables[0].attributes[0].data == schema.variables[0].attributes[0].data);
    CHECK(copy.variables[0].distributed);
    CHECK(copy.variables[0].chunks == std::vector<std::int64_t>{1, 4, 5});
    CHECK(text_of(copy.variables[0].filters) == "shuffle+deflate:4");
    CHECK(copy.variables[0].fits_plainly);
    CHECK_FALSE(copy.variables[0].no_fill);
    CHECK(copy.variables[1].no_fill);
    CHECK_FALSE(copy.variables[1].fits_plainly);
  }

  TEST_CASE("a packed schema that is cut short is refused") {
    ByteWriter out;
    pack(out, example());
    const Bytes bytes = out.take();
    for (std::size_t n = 0; n < bytes.size(); n += 7) {
      const Bytes part(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
      ByteReader in(part);
      CHECK_THROWS_AS(unpack_schema(in), Error);
    }
  }

  TEST_CASE("lookups and shapes") {
    const Schema schema = example();
    CHECK(schema.find_dim("x") == 2);
    CHECK(schema.find_dim("z") == -1);
    CHECK(schema.find_variable("scalar") == 1);
    CHECK(schema.find_variable("Temp") == -1);
    CHECK(schema.has_record(0));
    CHECK_FALSE(schema.has_record(1));
    CHECK(schema.shape(0) == Dims{3, 4, 5});
    CHECK(schema.shape(1).empty());
  }

  TEST_CASE("fill values") {
    Schema schema = example();
    float value = 0;
    const Bytes own = fill_of(schema.variables[0]);
    REQUIRE(own.size() == sizeof value);
    std::memcpy(&value, own.data(), sizeof value);
    CHECK(value == -1.0F);
    schema.variables[0].attributes[0].type = Type::int_;  // not of the variable's type: not a fill value
    const Bytes standard = fill_of(schema.variables[0]);
    std::memcpy(&value, standard.data(), sizeof value);
    CHECK(value == 9.9692099683868690e+36F);
    schema.variables[0].type = Type::string;
    CHECK(fill_of(schema.variables[0]).empty());
  }

  TEST_CASE("names of formats") {
    for (const auto format :
         {Format::cdf1, Format::cdf2, Format::cdf5, Format::netcdf4, Format::netcdf4_classic})
      CHECK(format_of(name_of(format)) == format);
    CHECK(format_of("NETCDF3_64BIT_DATA") == Format::cdf5);
    CHECK(format_of("64bit-offset") == Format::cdf2);
    CHECK(format_of("classic") == Format::cdf1);
    CHECK(format_of("nc4") == Format::netcdf4);
    try {
      (void)format_of("netcdf5");
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.code() == Code::setting);
      CHECK(std::string(error.what()).find("netcdf4") != std::string::npos);
    }
  }

  TEST_CASE("types that formats hold") {
    CHECK(holds(Format::cdf1, Type::double_));
    CHECK_FALSE(holds(Format::cdf2, Type::int64));
    CHECK(holds(Format::cdf5, Type::uint64));
    CHECK_FALSE(holds(Format::cdf5, Type::string));
    CHECK(holds(Format::netcdf4, Type::string));
    CHECK_FALSE(holds(Format::netcdf4_classic, Type::ubyte));
    CHECK_FALSE(holds(Format::netcdf4, Type::logical));
  }

  TEST_CASE("attributes of numbers are numbers") {
    const int values[] = {1, 2, 3};
    CHECK(Attribute::numbers("a", Type::int_, values, 3).count() == 3);
    CHECK(Attribute::numbers("a", Type::int_, nullptr, 0).count() == 0);
    CHECK_THROWS_AS(Attribute::numbers("a", Type::char_, values, 3), Error);
    CHECK_THROWS_AS(Attribute::numbers("a", Type::int_, values, -1), Error);
    CHECK(Attribute::text("t", "").count() == 0);
  }

  TEST_CASE("names") {
    for (const char* good :
         {"x", "_x", "9lives", "a b", "a.b-c+d@e", "\xC3\xA9t\xC3\xA9", "\xF0\x9F\x90\x9F", "a(b)"})
      CHECK_MESSAGE(code_of(good) == Code::ok, good);
    for (const char* bad :
         {"", " a", "a ", "a/b", "-a", "a\n", "a\x7F", "\xFF", "\xC3", "a\xC0\xAF", "\xED\xA0\x80"})
      CHECK_MESSAGE(code_of(bad) == Code::invalid_argument, bad);
    CHECK(code_of(std::string(256, 'a')) == Code::ok);
    CHECK(code_of(std::string(257, 'a')) == Code::invalid_argument);
  }

  TEST_CASE("a file's definitions may be added to, not changed") {
    const Schema have = example();
    CHECK(code_of(have, have) == Code::ok);
    Schema more = have;
    more.dims.push_back({"z", 2, false});
    more.variables.push_back(have.variables[1]);
    more.variables[2].name = "other";
    more.attributes.push_back(Attribute::text("history", "now"));
    more.attributes[0] = Attribute::text("title", "another");
    more.dims[0].length = 0;  // records do not count
    CHECK(code_of(have, more) == Code::ok);
    CHECK(code_of(more, have) == Code::invalid_argument);
    Schema wrong = have;
    wrong.dims[1].length = 5;
    CHECK(code_of(have, wrong) == Code::invalid_argument);
    wrong = have;
    wrong.variables[0].type = Type::double_;
    CHECK(code_of(have, wrong) == Code::invalid_argument);
    wrong = have;
    wrong.variables[0].attributes.clear();
    CHECK(code_of(have, wrong) == Code::invalid_argument);
    wrong = have;
    wrong.variables.push_back(have.variables[0]);
    CHECK(code_of(have, wrong) == Code::exists);
    wrong = have;
    wrong.format = Format::cdf5;
    CHECK(code_of(have, wrong) == Code::invalid_argument);
  }
}
