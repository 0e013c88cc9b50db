// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/array_view.hpp"
#include "base/box.hpp"
#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/type.hpp"

using namespace shoal;

TEST_CASE("shapes") {
  CHECK(volume({}) == 1);
  CHECK(volume({3, 0, 5}) == 0);
  CHECK(volume({100000, 100000, 10}) == 100000000000);
  CHECK(joined(Dims{1, 2}, Dims{3}) == Dims{1, 2, 3});
  CHECK(joined(Dims{}, Dims{}) == Dims{});
  CHECK(tail({1, 2, 3}, 2) == Dims{2, 3});
  CHECK(tail({1, 2, 3}, 0).empty());
  CHECK(row_major_strides({4, 3, 2}) == Dims{6, 2, 1});
  CHECK(text_of(Dims{656, 640, 16}) == "656x640x16");
  CHECK(text_of(Dims{}) == "scalar");
  CHECK_FALSE(Dims{1, 2} == Dims{1, 2, 0});
}

TEST_CASE("positions and indices are each other's inverse") {
  const Dims shape{4, 3, 5};
  for (std::int64_t i = 0; i < volume(shape); ++i)
    CHECK(position_in(unravel(i, shape), Box::whole(shape)) == i);
  CHECK(unravel(59, shape) == Dims{3, 2, 4});
  CHECK(position_in({11, 22}, Box({10, 20}, {3, 4})) == 6);
}

TEST_CASE("boxes") {
  const Box a({0, 0}, {10, 10});
  const Box b({5, 8}, {10, 10});
  CHECK(intersection(a, b) == Box({5, 8}, {5, 2}));
  CHECK(bounding(a, b) == Box({0, 0}, {15, 18}));
  CHECK(intersection(a, Box({10, 0}, {1, 1})).empty());
  CHECK(intersection(a, Box({10, 0}, {1, 1})).count == Dims{0, 0});
  CHECK(bounding(Box({9, 9}, {0, 3}), b) == b);
  CHECK(bounding(b, Box({9, 9}, {0, 3})) == b);
  CHECK(a.contains(Box({0, 9}, {10, 1})));
  CHECK_FALSE(a.contains(b));
  CHECK_FALSE(a.contains(Box({-1, 0}, {1, 1})));
  CHECK(a.cells() == 100);
  CHECK(b.end(1) == 18);
  CHECK(Box({}, {}).cells() == 1);
  CHECK_FALSE(Box({}, {}).empty());
  CHECK(text_of(b) == "[5:15, 8:18)");
}

TEST_CASE("a part of an array is a view of the same memory") {
  std::vector<double> values(24);
  std::iota(values.begin(), values.end(), 0.0);
  const ArrayView whole = ArrayView::contiguous(values.data(), Type::double_, {2, 3, 4});
  CHECK(whole.strides == Dims{96, 32, 8});
  const ArrayView part = whole.part(Box({1, 1, 2}, {1, 2, 2}));
  CHECK(part.extents == Dims{1, 2, 2});
  CHECK(part.strides == whole.strides);
  double first = 0;
  std::memcpy(&first, part.data, sizeof first);
  CHECK(first == 18.0);
}

TEST_CASE("types") {
  for (int number = 1; number <= 13; ++number) {
    const Type type = type_of(number);
    CHECK(type_of(std::string(name_of(type))) == type);
    CHECK(size_of(type) > 0);
  }
  CHECK(type_of("f8") == Type::double_);
  CHECK(type_of("i1") == Type::byte_);
  CHECK(size_of(Type::none) == 0);
  CHECK_FALSE(is_number(Type::char_));
  CHECK_FALSE(is_number(Type::logical));
  CHECK(is_number(Type::uint64));
  CHECK(default_fill(Type::string) == nullptr);
  for (const int number : {0, 14, -1})
    CHECK(caught([&] { type_of(number); }).code == Code::type);
  const Status status = caught([] { type_of("flaot"); });
  CHECK(status.code == Code::type);
  CHECK(status.message.find("float") != std::string::npos);
  float fill = 0;
  std::memcpy(&fill, default_fill(Type::float_), sizeof fill);
  CHECK(fill == 9.9692099683868690e+36F);
}

TEST_CASE("text") {
  CHECK(words(" xi_rho, eta_rho\tocean_time\n") ==
        std::vector<std::string>{"xi_rho", "eta_rho", "ocean_time"});
  CHECK(words(" ,, ").empty());
  CHECK(names_in(" xi_rho, eta_rho\tocean_time\n") ==
        std::vector<std::string>{"xi_rho", "eta_rho", "ocean_time"});
  CHECK(names_in(" ,, ").empty());
  CHECK(names_in("\"sea level\",a\"b \"x, y\" \\n") ==
        std::vector<std::string>{"sea level", "a\"b", "x, y", "\\n"});
  CHECK(names_in(R"("a \"b\" \\ c")") == std::vector<std::string>{R"(a "b" \ c)"});
  for (const std::string bad : {"a \"b", "\"b\\\"", "\"a\"b", "\"a\"\"b\"", "\"a\\b\""})
    CHECK_MESSAGE(caught([&] { names_in(bad); }).code == Code::invalid_argument, bad);
  CHECK(trimmed("  a b \n") == "a b");
  CHECK(trimmed(" \t ").empty());
  CHECK(lower("NetCDF4") == "netcdf4");
  CHECK(joined(std::vector<std::string>{"a", "b", "c"}, ", ") == "a, b, c");
  CHECK(joined(std::vector<std::string>{}, ", ").empty());
}

TEST_CASE("the nearest name") {
  const std::vector<std::string> names{"temp", "salt", "zeta"};
  CHECK(did_you_mean("tmep", names).find("'temp'") != std::string::npos);
  CHECK(did_you_mean("TEMP", names).find("'temp'") != std::string::npos);
  CHECK(did_you_mean("completely_else", names).find("temp, salt, zeta") != std::string::npos);
  CHECK(did_you_mean("x", {}).empty());
  std::vector<std::string> many;
  for (int i = 0; i < 50; ++i)
    many.push_back(std::string(20, static_cast<char>('a' + i % 26)));
  CHECK(did_you_mean("1234567890", many).empty());
  // Every way to be near, in a long list.
  many.insert(many.begin() + 25, "sea_surface_temp");
  for (const char* slip : {"sea_surface_tmep", "sea_surface_tem", "sea_surface_temps", "sea_surfaxe_temp",
                           "SEA_SURFACE_TEMP", "seasurfacetemp", "aes_surface_temp", "xyzeb_surface_temp"})
    CHECK(did_you_mean(slip, many).find("'sea_surface_temp'") != std::string::npos);
  for (const char* other : {"sea_surface", "temp", "tides_under_ice", "sea_surface_temp_of_the_year"})
    CHECK(did_you_mean(other, many).empty());
}

TEST_CASE("numbers of bytes") {
  CHECK(parse_bytes("268435456") == 268435456);
  CHECK(parse_bytes("256MiB") == 268435456);
  CHECK(parse_bytes(" 64 k ") == 65536);
  CHECK(parse_bytes("1.5 GB") == 1500000000);
  CHECK(parse_bytes("1.5GiB") == 1610612736);
  CHECK(parse_bytes("0") == 0);
  for (const char* wrong : {"", "MiB", "-1", "12 parsecs", "nan", "inf", "1e400"}) {
    CAPTURE(wrong);
    const Status status = caught([&] { parse_bytes(wrong); });
    CHECK(status.code == Code::setting);
    CHECK(status.message.find("256MiB") != std::string::npos);
  }
  CHECK(bytes_text(0) == "0 bytes");
  CHECK(bytes_text(1023) == "1023 bytes");
  CHECK(bytes_text(268435456) == "256.0 MiB");
  CHECK(parse_bytes("1 TiB") == std::int64_t{1} << 40);
}

TEST_CASE("a number of bytes that no counter holds is refused") {
  CHECK(caught([] { parse_bytes("9e18"); }).ok());
  CHECK(caught([] { parse_bytes("1e19"); }).code == Code::setting);
  CHECK(caught([] { parse_bytes("99999999 TiB"); }).code == Code::setting);
}

TEST_CASE("bytes between ranks") {
  ByteWriter writer;
  writer.put(std::int64_t{-5});
  writer.put(std::string("zeta"));
  writer.put(std::vector<double>{1.5, -2.5});
  writer.put(std::vector<std::string>{"", "two"});
  writer.put(std::vector<int>{});
  writer.put(Dims{7, 8});
  const Bytes bytes = writer.take();
  ByteReader reader(bytes);
  CHECK(reader.get<std::int64_t>() == -5);
  CHECK(reader.get<std::string>() == "zeta");
  std::vector<double> doubles;
  reader.get(doubles);
  CHECK(doubles == std::vector<double>{1.5, -2.5});
  std::vector<std::string> texts;
  reader.get(texts);
  CHECK(texts == std::vector<std::string>{"", "two"});
  std::vector<int> empty{1};
  reader.get(empty);
  CHECK(empty.empty());
  CHECK(reader.get<Dims>() == Dims{7, 8});
  CHECK(caught([&] { reader.get<char>(); }).code == Code::internal);
}

TEST_CASE("a cut or garbled message is an error, not a large allocation") {
  ByteWriter writer;
  writer.put(std::vector<double>{1.5, -2.5});
  Bytes bytes = writer.take();
  bytes.pop_back();
  std::vector<double> doubles;
  CHECK(caught([&] { ByteReader(bytes).get(doubles); }).code == Code::internal);
  const std::uint64_t huge = ~std::uint64_t{0} / 8;
  std::memcpy(bytes.data(), &huge, sizeof huge);
  CHECK(caught([&] { ByteReader(bytes).get(doubles); }).code == Code::internal);
}

TEST_CASE("an error gathers what is known about it") {
  const Error plain(Code::range, "value 3 does not fit");
  CHECK(std::string(plain.what()) == "value 3 does not fit");
  const Error full = plain.in_file("his.nc").of_variable("temp").on_rank(3);
  CHECK(std::string(full.what()) == "his.nc: variable 'temp': rank 3: value 3 does not fit");
  CHECK(full.code() == Code::range);
  // What is known already stays.
  CHECK(full.in_file("other.nc").of_variable("salt").on_rank(0).status().text() == full.status().text());
  Status first;
  first.merge(full.status());
  first.merge({Code::io, "later", 0, {}, {}});
  CHECK(first.code == Code::range);
}

TEST_CASE("whatever is thrown becomes a status") {
  CHECK(caught([] {}).ok());
  CHECK(caught([] { throw Error(Code::exists, "x"); }).code == Code::exists);
  CHECK(caught([] { throw std::bad_alloc(); }).code == Code::no_memory);
  const Status standard = caught([] { throw std::runtime_error("strange"); });
  CHECK(standard.code == Code::internal);
  CHECK(standard.message == "strange");
  CHECK(caught([] { throw 3; }).code == Code::internal);
}

TEST_CASE("codes and errno") {
  CHECK(code_of_errno(ENOSPC) == Code::no_space);
  CHECK(code_of_errno(EDQUOT) == Code::no_space);
  CHECK(code_of_errno(EROFS) == Code::permission);
  CHECK(code_of_errno(ENOENT) == Code::not_found);
  CHECK(code_of_errno(EEXIST) == Code::exists);
  CHECK(code_of_errno(EIO) == Code::io);
  CHECK(std::string(errno_error(ENOENT, "cannot open").what()) == "cannot open: No such file or directory");
  std::set<std::string> names;
  for (int code = 0; code <= 18; ++code)
    names.insert(name_of(static_cast<Code>(code)));
  CHECK(names.size() == 19);
  CHECK(names.count("unknown") == 0);
  CHECK(std::string(name_of(static_cast<Code>(99))) == "unknown");
}

TEST_CASE("a timer adds the time of its life") {
  Seconds sum = 1;
  const Seconds before = now();
  {
    const Timer timer(sum);
    while (now() - before < 0.002) {
    }
  }
  CHECK(sum >= 1.0019);
  CHECK(sum < 2);
}
