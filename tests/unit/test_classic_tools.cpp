// SPDX-License-Identifier: BSD-3-Clause
// Classic files between Shoal and other people's tools. Where a tool is not installed its test says so and
// does nothing.
#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "classic_support.hpp"
#include "storage/store.hpp"
#include "support/folder.hpp"

namespace {

using namespace shoal;
using namespace shoal::test;
namespace fs = std::filesystem;

using testing::Folder;

bool there(const std::string& tool) {
  const bool found = std::system(("command -v " + tool + " >/dev/null 2>&1").c_str()) == 0;
  if (!found) MESSAGE(tool << " is not installed; not tested");
  return found;
}

/// What the command prints; a failed check if it fails.
std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> part{};
  while (const std::size_t n = std::fread(part.data(), 1, part.size(), pipe))
    output.append(part.data(), n);
  CHECK_MESSAGE(::pclose(pipe) == 0, command << ": " << output);
  return output;
}

const char* const k_cdl = R"(netcdf example {
dimensions:
	time = UNLIMITED ; // (3 currently)
	x = 3 ;
	len = 5 ;
variables:
	byte flag(x) ;
	float temp(time, x) ;
		temp:units = "K" ;
		temp:_FillValue = -1.f ;
		temp:range = 1., 2.5 ;
	char name(x, len) ;
	short odd(time, x) ;
	int scalar ;
	double time(time) ;

// global attributes:
		:title = "an example" ;
		:numbers = 1s, 2s, 3s ;
data:

 flag = 1, -2, -127 ;

 temp =
  0, 1, 2,
  10, _, 12,
  20, 21, 22.5 ;

 name =
  "ab",
  "abcde",
  "" ;

 odd =
  1, 2, 3,
  _, _, _,
  -7, 8, 9 ;

 scalar = 42 ;

 time = 0.5, 1.5, _ ;
}
)";

Schema example_schema(Format format) {
  Schema schema;
  schema.format = format;
  const int t = add_dim(schema, "time", 0);
  const int x = add_dim(schema, "x", 3);
  const int len = add_dim(schema, "len", 5);
  add_variable(schema, "flag", Type::byte_, {x});
  const int temp = add_variable(schema, "temp", Type::float_, {t, x});
  add_variable(schema, "name", Type::char_, {x, len});
  add_variable(schema, "odd", Type::short_, {t, x});
  add_variable(schema, "scalar", Type::int_, {});
  add_variable(schema, "time", Type::double_, {t});
  const float fill = -1.0F;
  const double range[] = {1.0, 2.5};
  const std::int16_t numbers[] = {1, 2, 3};
  auto& attributes = schema.variable(temp).attributes;
  attributes.push_back(Attribute::text("units", "K"));
  attributes.push_back(Attribute::numbers("_FillValue", Type::float_, &fill, 1));
  attributes.push_back(Attribute::numbers("range", Type::double_, range, 2));
  schema.attributes.push_back(Attribute::text("title", "an example"));
  schema.attributes.push_back(Attribute::numbers("numbers", Type::short_, numbers, 3));
  return schema;
}

void write_example(const std::string& path, Format format, const CatalogOptions& options) {
  auto catalog = create_catalog(format, open_posix_store(path, StoreMode::create), options);
  catalog->define(example_schema(format));
  put<std::int8_t>(*catalog, 0, Box({0}, {2}), {1, -2});
  put<float>(*catalog, 1, Box({0, 0}, {1, 3}), {0, 1, 2});
  put<float>(*catalog, 1, Box({1, 0}, {1, 1}), {10});
  put<float>(*catalog, 1, Box({1, 2}, {1, 1}), {12});
  put<float>(*catalog, 1, Box({2, 0}, {1, 3}), {20, 21, 22.5});
  put<char>(*catalog, 2, Box({0, 0}, {3, 5}), {'a', 'b', 0, 0, 0, 'a', 'b', 'c', 'd', 'e', 0, 0, 0, 0, 0});
  put<std::int16_t>(*catalog, 3, Box({2, 0}, {1, 3}), {-7, 8, 9});
  put<std::int16_t>(*catalog, 3, Box({0, 0}, {1, 3}), {1, 2, 3});
  put<std::int32_t>(*catalog, 4, Box(Dims{}, Dims{}), {42});
  put<double>(*catalog, 5, Box({0}, {2}), {0.5, 1.5});
  catalog->close(true);
}

void check_example(const std::string& path, Format format) {
  auto catalog = open_catalog(open_posix_store(path, StoreMode::read), false, {});
  const Schema& schema = catalog->schema();
  CHECK(schema.format == format);
  const auto id = [&](const char* name) { return schema.find_variable(name); };
  REQUIRE(schema.variables.size() == 6);
  CHECK(schema.dim(schema.find_dim("time")).length == 3);
  CHECK(get_all<std::int8_t>(*catalog, id("flag")) == std::vector<std::int8_t>{1, -2, -127});
  CHECK(get_all<float>(*catalog, id("temp")) == std::vector<float>{0, 1, 2, 10, -1, 12, 20, 21, 22.5});
  const auto name = get_all<char>(*catalog, id("name"));
  CHECK(std::string(name.data(), name.size()) == std::string("ab\0\0\0abcde\0\0\0\0\0", 15));
  CHECK(get_all<std::int16_t>(*catalog, id("odd")) ==
        std::vector<std::int16_t>{1, 2, 3, -32767, -32767, -32767, -7, 8, 9});
  CHECK(get_all<std::int32_t>(*catalog, id("scalar")) == std::vector<std::int32_t>{42});
  CHECK(get_all<double>(*catalog, id("time")) == std::vector<double>{0.5, 1.5, 9.9692099683868690e+36});
  const Attribute* numbers = find_attribute(schema.attributes, "numbers");
  REQUIRE(numbers != nullptr);
  CHECK(numbers->data == example_schema(format).attributes[1].data);
}

/// The kind as ncdump and ncgen call it.
std::string kind_of(Format format) {
  return format == Format::cdf1 ? "classic" : format == Format::cdf2 ? "'64-bit offset'" : "cdf5";
}

constexpr std::array k_formats{Format::cdf1, Format::cdf2, Format::cdf5};

}  // namespace

TEST_SUITE("classic tools") {
  TEST_CASE("ncdump reads what Shoal writes") {
    if (!there("ncdump")) return;
    const Folder folder;
    for (const auto format : k_formats)
      for (const auto& options : {CatalogOptions{}, compact()}) {
        const std::string path = folder.file("example.nc");
        write_example(path, format, options);
        CHECK(output_of("ncdump " + path) == k_cdl);
        CHECK(output_of("ncdump -k " + path)
                  .find(format == Format::cdf1   ? "classic"
                        : format == Format::cdf2 ? "64-bit offset"
                                                 : "cdf5") != std::string::npos);
        check_example(path, format);
      }
  }

  TEST_CASE("Shoal reads what ncgen writes, and writes the same bytes") {
    if (!there("ncgen")) return;
    const Folder folder;
    std::ofstream(folder.file("example.cdl")) << k_cdl;
    for (const auto format : k_formats) {
      const std::string theirs = folder.file("theirs.nc");
      const std::string ours = folder.file("ours.nc");
      output_of("ncgen -k " + kind_of(format) + " -o " + theirs + " " + folder.file("example.cdl"));
      check_example(theirs, format);
      write_example(ours, format, compact());
      output_of("cmp " + ours + " " + theirs);
    }
  }

  TEST_CASE("Shoal appends to what ncgen wrote, and others see it") {
    if (!there("ncgen") || !there("ncdump")) return;
    const Folder folder;
    std::ofstream(folder.file("example.cdl")) << k_cdl;
    const std::string path = folder.file("example.nc");
    for (const auto format : k_formats) {
      output_of("ncgen -k " + kind_of(format) + " -o " + path + " " + folder.file("example.cdl"));
      auto catalog = open_catalog(open_posix_store(path, StoreMode::write), true, {});
      put<double>(*catalog, catalog->schema().find_variable("time"), Box({2}, {3}), {2.5, 3.5, 4.5});
      // The header of such a file has no space left.
      Schema schema = catalog->schema();
      schema.attributes.push_back(Attribute::text("more", "text"));
      CHECK(error_of([&] { catalog->define(schema); }).code == Code::not_supported);
      catalog->close(false);
      const std::string times = output_of("ncdump -v time " + path);
      CHECK(times.find("time = 0.5, 1.5, 2.5, 3.5, 4.5 ;") != std::string::npos);
      const std::string odd = output_of("ncdump -v odd " + path);
      CHECK(odd.find("-7, 8, 9,\n  _, _, _,\n  _, _, _ ;") != std::string::npos);
    }
  }

  TEST_CASE("NCO extends what Shoal wrote, and Shoal extends it further") {
    if (!there("ncap2") || !there("ncatted") || !there("ncdump")) return;
    const Folder folder;
    const std::string path = folder.file("example.nc");
    for (const auto format : k_formats) {
      write_example(path, format, {});
      output_of("ncatted -h -a history,global,c,c,'by hand' " + path);
      output_of("ncap2 -h -O -s 'twice=temp*2' " + path + " " + path);
      auto catalog = open_catalog(open_posix_store(path, StoreMode::read), false, {});
      CHECK(get_all<float>(*catalog, catalog->schema().find_variable("twice")) ==
            std::vector<float>{0, 2, 4, 20, -1, 24, 40, 42, 45});
      catalog->close(false);

      write_example(path, format, {});
      output_of("ncatted -h -a history,global,c,c,'by hand' " + path);
      catalog = open_catalog(open_posix_store(path, StoreMode::write), true, {});
      Schema schema = catalog->schema();
      add_variable(schema, "late", Type::double_, {1});
      schema.attributes.push_back(Attribute::text("more", std::string(2000, 'm')));
      catalog->define(schema);
      put<double>(*catalog, 6, Box({0}, {3}), {1, 2, 3});
      catalog->close(false);
      const std::string dump = output_of("ncdump -v late " + path);
      CHECK(dump.find("late = 1, 2, 3 ;") != std::string::npos);
      CHECK(dump.find("by hand") != std::string::npos);
    }
  }
}
