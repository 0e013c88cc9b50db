// The formats raw and ascii: where values lie, what the header file says, and what a damaged one gives.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "classic_support.hpp"
#include "codec/convert.hpp"
#include "format/raw/raw_catalog.hpp"
#include "format/raw/text_values.hpp"
#include "storage/replacement.hpp"
#include "storage/whole_file.hpp"
#include "support/folder.hpp"

using namespace shoal;
using namespace shoal::test;

namespace {

std::string raw_file() {
  static const testing::Folder folder;
  return folder.file("values.raw");
}
std::string header_file() {
  return raw_file() + ".json";
}

std::unique_ptr<Catalog> new_file(Format format, const CatalogOptions& options = compact()) {
  return create_catalog(format, open_posix_store(raw_file(), StoreMode::create), options);
}
std::unique_ptr<Catalog> old_file(bool writable = false) {
  return open_catalog(open_posix_store(raw_file(), writable ? StoreMode::write : StoreMode::read), writable,
                      compact());
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}
void set_content(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

template <class T>
T value_in_file(std::uint64_t at) {
  const std::string bytes = content(raw_file());
  T value{};
  REQUIRE(at + sizeof value <= bytes.size());
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// x = 3; time unlimited; fixed short h(x), records float t(time, x) and double w(time).
Schema example(Format format) {
  Schema schema;
  schema.format = format;
  const int time = add_dim(schema, "time", 0);
  const int x = add_dim(schema, "x", 3);
  add_variable(schema, "h", Type::short_, {x});
  add_variable(schema, "t", Type::float_, {time, x});
  add_variable(schema, "w", Type::double_, {time});
  return schema;
}

void make_example(Format format) {
  auto catalog = new_file(format);
  catalog->define(example(format));
  put<std::int16_t>(*catalog, 0, Box::whole({3}), {1, -2, 3});
  put<float>(*catalog, 1, Box({0, 0}, {2, 3}), {0.5F, 1, 2, 3, 4, 5});
  put<double>(*catalog, 2, Box({0}, {2}), {7, 8});
  catalog->close(false);
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), with);
}

template <class T>
void check_lines(Type type, const std::vector<T>& values) {
  CAPTURE(name_of(type));
  const auto n = static_cast<std::int64_t>(values.size());
  const std::int64_t width = text_width(type);
  std::string text(static_cast<std::size_t>(n * width), '?');
  to_text(reinterpret_cast<const std::byte*>(values.data()), type, n, text.data());
  for (std::size_t i = 0; i < text.size(); ++i)
    CHECK((text[i] == '\n') == (i % static_cast<std::size_t>(width) == static_cast<std::size_t>(width) - 1));
  std::vector<T> back(values.size());
  const T fill{};
  CHECK(from_text(text.data(), type, n, reinterpret_cast<std::byte*>(back.data()),
                  reinterpret_cast<const std::byte*>(&fill)) == -1);
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(std::memcmp(&values[i], &back[i], sizeof(T)) == 0);
}

template <class T>
void check_extremes(Type type) {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::is_iec559)
    check_lines<T>(type, {0, T(-0.0), Limits::lowest(), Limits::max(), Limits::min(), -Limits::denorm_min(),
                          Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), -Limits::quiet_NaN(),
                          T(1) / 3, T(-0.1)});
  else
    check_lines<T>(type, {0, 1, Limits::lowest(), Limits::max()});
}

}  // namespace

TEST_CASE("text: every value of every type comes back from a line of fixed width") {
  check_extremes<std::int8_t>(Type::byte_);
  check_extremes<std::uint8_t>(Type::char_);
  check_extremes<std::uint8_t>(Type::ubyte);
  check_extremes<std::int16_t>(Type::short_);
  check_extremes<std::uint16_t>(Type::ushort);
  check_extremes<std::int32_t>(Type::int_);
  check_extremes<std::uint32_t>(Type::uint);
  check_extremes<std::int64_t>(Type::int64);
  check_extremes<std::uint64_t>(Type::uint64);
  check_extremes<float>(Type::float_);
  check_extremes<double>(Type::double_);
}

TEST_CASE("text: lines that are no value are found, never-written ones are the fill value") {
  const std::int16_t fill = -99;
  std::vector<std::int16_t> values(3);
  const auto first_bad = [&](const std::string& text) {
    REQUIRE(text.size() == 21);
    return from_text(text.data(), Type::short_, 3, reinterpret_cast<std::byte*>(values.data()),
                     reinterpret_cast<const std::byte*>(&fill));
  };
  CHECK(first_bad(std::string("     1\n") + std::string(7, '\0') + "     3\n") == -1);
  CHECK(values == std::vector<std::int16_t>{1, -99, 3});
  CHECK(first_bad("     1\n     2\n   3.5\n") == 2);
  CHECK(first_bad("     1\n 40000\n     3\n") == 1);  // does not fit
  CHECK(first_bad("     1\n      \n     3\n") == 1);
  CHECK(first_bad("     1 \n    2\n     3\n") == 0);  // lines of another width
}

TEST_CASE("raw: values lie where the header file says, records one behind the other") {
  make_example(Format::raw);
  const auto catalog = old_file();
  const Schema& schema = catalog->schema();
  CHECK(schema.format == Format::raw);
  CHECK(schema.dims[0].length == 2);
  CHECK(content(raw_file()).size() == 8 + 2 * 24);  // h and 2 bytes to the next multiple of 8, two records
  const Placement h = catalog->placement(0);
  const Placement t = catalog->placement(1);
  const Placement w = catalog->placement(2);
  CHECK(t.kind == Placement::Kind::regular);
  CHECK(t.chunk == Dims{1, 3});
  CHECK(t.stride == 24);
  CHECK(w.stride == 24);
  CHECK(value_in_file<std::int16_t>(h.begin + 2) == -2);
  CHECK(value_in_file<float>(t.begin) == 0.5F);
  CHECK(value_in_file<float>(t.begin + t.stride + 8) == 5);
  CHECK(value_in_file<double>(w.begin + w.stride) == 8);
  CHECK(get_all<float>(*catalog, 1) == std::vector<float>{0.5F, 1, 2, 3, 4, 5});
  CHECK(get<float>(*catalog, 1, Box({1, 1}, {1, 2})) == std::vector<float>{4, 5});
}

TEST_CASE("raw: one record variable has nothing between its records, distributed ones are aligned") {
  CatalogOptions options = compact();
  options.alignment = 100;
  auto catalog = new_file(Format::raw, options);
  Schema schema;
  schema.format = Format::raw;
  const int time = add_dim(schema, "time", 0);
  const int x = add_dim(schema, "x", 3);
  add_variable(schema, "small", Type::byte_, {x});
  add_variable(schema, "cut", Type::float_, {x}, true);
  add_variable(schema, "t", Type::short_, {time, x}, true);
  catalog->define(schema);
  CHECK(catalog->placement(0).begin == 0);
  CHECK(catalog->placement(1).begin == 100);
  CHECK(catalog->placement(2).begin == 200);
  CHECK(catalog->placement(2).stride == 6);
}

TEST_CASE("raw: attributes of all kinds and values come back") {
  auto catalog = new_file(Format::raw);
  Schema schema = example(Format::raw);
  const double doubles[] = {0.1, -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN(), 1e308};
  const float single = 0.1F;
  const std::uint64_t large = std::numeric_limits<std::uint64_t>::max();
  const std::int64_t small = std::numeric_limits<std::int64_t>::min();
  schema.attributes = {Attribute::text("title", "Wärme \"in\" \\ the\nsea"), Attribute::text("empty", ""),
                       Attribute::text("latin", "caf\xe9"), Attribute::text("zero", std::string("a\0b", 3)),
                       Attribute::numbers("doubles", Type::double_, doubles, 4)};
  schema.variables[1].attributes = {Attribute::numbers("_FillValue", Type::float_, &single, 1),
                                    Attribute::numbers("large", Type::uint64, &large, 1),
                                    Attribute::numbers("small", Type::int64, &small, 1),
                                    Attribute::numbers("none", Type::int_, nullptr, 0)};
  catalog->define(schema);
  catalog->close(false);
  const auto found = old_file();
  const auto check_same = [](const std::vector<Attribute>& wanted, const std::vector<Attribute>& is) {
    REQUIRE(wanted.size() == is.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      CAPTURE(wanted[i].name);
      CHECK(wanted[i].name == is[i].name);
      CHECK(wanted[i].type == is[i].type);
      CHECK(wanted[i].data == is[i].data);
    }
  };
  check_same(schema.attributes, found->schema().attributes);
  check_same(schema.variables[1].attributes, found->schema().variables[1].attributes);
}

TEST_CASE("raw: records count when they are committed, and what nobody wrote is the fill value") {
  auto catalog = new_file(Format::raw);
  catalog->define(example(Format::raw));
  CHECK_FALSE(std::filesystem::exists(header_file()));
  put<double>(*catalog, 2, Box({1}, {1}), {8});
  catalog->commit(false);
  put<double>(*catalog, 2, Box({2}, {1}), {9});
  {
    const auto reader = old_file();
    CHECK(reader->schema().dims[0].length == 2);
    CHECK(get_all<double>(*reader, 2)[1] == 8);
    CHECK(get_all<double>(*reader, 2)[0] == doctest::Approx(9.969209968386869e36));
    CHECK(get_all<float>(*reader, 1)[5] == doctest::Approx(9.969209968386869e36));
  }
  catalog->take_back(0, 0);  // not below what is committed
  CHECK(catalog->schema().dims[0].length == 2);
  catalog->close(true);
  CHECK(old_file()->schema().dims[0].length == 2);
  CHECK_FALSE(std::filesystem::exists(header_file() + ".tmp"));
}

TEST_CASE("raw and ascii: attributes can be added to a file with records, variables cannot") {
  for (const Format format : {Format::raw, Format::ascii}) {
    const std::string name = name_of(format);
    CAPTURE(name);
    make_example(format);
    auto catalog = old_file(true);
    Schema more = catalog->schema();
    more.attributes.push_back(Attribute::text("history", "changed"));
    catalog->define(more);
    for (const int dim : {0, 1}) {
      Schema too_much = more;
      add_variable(too_much, "late", Type::int_, {dim});
      const Status status = error_of([&] { catalog->define(too_much); });
      CHECK(status.code == Code::not_supported);
      for (const std::string& words :
           {raw_file(), std::string("'late'"), std::string("2 records"), "format " + name,
            std::string("before the first record"), std::string("use the format cdf5 or netcdf4")})
        CHECK(mentions(status, words));
    }
    put<double>(*catalog, 2, Box({2}, {1}), {9});
    catalog->close(false);
    const auto found = old_file();
    CHECK(find_attribute(found->schema().attributes, "history") != nullptr);
    CHECK(get_all<double>(*found, 2) == std::vector<double>{7, 8, 9});
  }
}

TEST_CASE("raw: a file of the other byte order is read, and written in its own") {
  make_example(Format::raw);
  const bool big = machine_is_big_endian();
  set_content(header_file(), replaced(content(header_file()), big ? "\"big\"" : "\"little\"",
                                      big ? "\"little\"" : "\"big\""));
  std::string bytes = content(raw_file());
  std::swap(bytes[0], bytes[1]);  // h[0]
  set_content(raw_file(), bytes);
  auto catalog = old_file(true);
  CHECK(catalog->placement(0).swapped);
  CHECK(get<std::int16_t>(*catalog, 0, Box({0}, {1})) == std::vector<std::int16_t>{1});
  put<std::int16_t>(*catalog, 0, Box({1}, {1}), {0x0102});
  catalog->close(false);
  CHECK(value_in_file<std::int16_t>(2) == 0x0201);
  CHECK(old_file()->placement(0).swapped);
}

TEST_CASE("raw: a new file does away with the header of an earlier one") {
  make_example(Format::raw);
  const auto catalog = new_file(Format::raw);
  CHECK_FALSE(std::filesystem::exists(header_file()));
  CHECK(error_of([&] { old_file(); }).code == Code::format);
}

TEST_CASE("raw: strings and types without a name are refused") {
  auto catalog = new_file(Format::raw);
  Schema schema = example(Format::raw);
  add_variable(schema, "s", Type::string, {1});
  const Status status = error_of([&] { catalog->define(schema); });
  CHECK(status.code == Code::type);
  CHECK(mentions(status, "'s'"));
}

TEST_CASE("raw: other JSON beside a file is no header") {
  set_content(raw_file(), "no values of ours");
  set_content(header_file(), "{\"version\": 1, \"refs\": {}}");
  const Status status = error_of([&] { old_file(); });
  CHECK(status.code == Code::format);
  CHECK(mentions(status, header_file()));
}

TEST_CASE("raw: a truncated file is found when it is opened") {
  make_example(Format::raw);
  std::filesystem::resize_file(raw_file(), 50);
  const Status status = error_of([&] { old_file(); });
  CHECK(status.code == Code::format);
  CHECK(mentions(status, "truncated"));
  CHECK(mentions(status, "50 bytes"));
  CHECK(mentions(status, "56"));
}

TEST_CASE("raw: damaged header files are refused with what is wrong in them") {
  make_example(Format::raw);
  const std::string good = content(header_file());
  struct Damage {
    const char* what;
    const char* with;
    const char* message;
  };
  const Damage damages[] = {
      {"\"shoal_header\": 1", "\"shoal_header\": 2", "version 2"},
      {"\"format\": \"raw\"", "\"format\": \"row\"", "'row'"},
      {"\"format\": \"raw\"", "\"format\": \"ascii\"", "byte_order"},
      {"\"byte_order\": ", "\"byte_order\": 3, \"x\": ", "byte_order"},
      {"\"little\"", "\"middle\"", "'middle'"},
      {"\"record_stride\": 24", "\"record_stride\": 16", "not in the first record"},
      {"\"record_stride\": 24", "\"record_stride\": -24", "-24"},
      {"\"record_stride\": 24", "\"record_stride\": 1e3", "record_stride"},
      {"\"length\": 2", "\"length\": -2", "-2"},
      {"\"length\": 2", "\"length\": \"2\"", "length"},
      {"\"length\": 2", "\"length\": 99999999999999999999", "length"},
      {"\"length\": 2", "\"length\": 9223372036854775807", "2^63"},
      {"\"unlimited\": true", "\"unlimited\": 1", "unlimited"},
      {"\"name\": \"x\"", "\"name\": \"time\"", "'time'"},
      {"\"name\": \"x\"", "\"name\": \"a/b\"", "a/b"},
      {"\"type\": \"float\"", "\"type\": \"real\"", "'real'"},
      {"\"type\": \"float\"", "\"type\": \"string\"", "'string'"},
      {"\"type\": \"float\"", "\"type\": \"double\"", "element_bytes"},
      {"\"begin\": 0", "\"begin\": 10", "inside of variable"},
      {"\"begin\": 0", "\"begin\": 0.5", "begin"},
      {"\"variables\"", "\"varieties\"", "\"variables\""},
      {"\"attributes\": []", "\"attributes\": {}", "attributes"},
      {"\"attributes\": []", "\"attributes\": [{\"name\": \"a\", \"type\": \"byte\", \"value\": [200]}]",
       "200"},
      {"\"attributes\": []", "\"attributes\": [{\"name\": \"a\", \"type\": \"int\", \"value\": \"b\"}]",
       "'a'"},
      {"\"attributes\": []", "\"attributes\": [{\"name\": \"a\", \"type\": \"int\", \"value\": [\"b\"]}]",
       "'a'"},
      {"\"attributes\": []", "\"attributes\": [{\"name\": \"a\", \"type\": \"float\"}]", "\"value\""},
      {"\"dimensions\": [", "\"dimensions\": [[", "line"},
      {"\n}", "", "line"},
  };
  for (const auto& damage : damages) {
    CAPTURE(std::string(damage.with));
    set_content(header_file(), replaced(good, damage.what, damage.with));
    const Status status = error_of([&] { old_file(); });
    CHECK(status.code == Code::format);
    CHECK(mentions(status, header_file()));
    CHECK_MESSAGE(mentions(status, damage.message), status.text());
  }
  for (std::size_t n = 30; n + 2 < good.size(); n += 7) {  // cut off anywhere
    CAPTURE(n);
    set_content(header_file(), good.substr(0, n));
    CHECK(error_of([&] { old_file(); }).code == Code::format);
  }
  set_content(header_file(), good);
  CHECK(get_all<double>(*old_file(), 2) == std::vector<double>{7, 8});
}

TEST_CASE("ascii: one value a line, and nothing else") {
  make_example(Format::ascii);
  CHECK(content(raw_file()).substr(0, 21) == "     1\n    -2\n     3\n");
  CHECK(content(raw_file()).size() == 3 * 7 + 2 * (3 * 17 + 26));
  std::istringstream lines(content(raw_file()));
  std::vector<double> values(11);
  for (auto& value : values)
    REQUIRE(static_cast<bool>(lines >> value));
  CHECK(values == std::vector<double>{1, -2, 3, 0.5, 1, 2, 7, 3, 4, 5, 8});
  const auto catalog = old_file();
  CHECK(catalog->schema().format == Format::ascii);
  CHECK(catalog->placement(1).kind == Placement::Kind::library);
  CHECK(get_all<std::int16_t>(*catalog, 0) == std::vector<std::int16_t>{1, -2, 3});
  CHECK(get<float>(*catalog, 1, Box({1, 1}, {1, 2})) == std::vector<float>{4, 5});
}

TEST_CASE("ascii: a line that is no value is an error that says where it is") {
  make_example(Format::ascii);
  set_content(raw_file(), replaced(content(raw_file()), "    -2\n", "   two\n"));
  const auto catalog = old_file();
  const Status status = error_of([&] { get_all<std::int16_t>(*catalog, 0); });
  CHECK(status.code == Code::format);
  CHECK(mentions(status, "byte 7"));
  CHECK(mentions(status, "two"));
  CHECK(mentions(status, "'h'"));
}

TEST_CASE("ascii: more values than go in one piece") {
  auto catalog = new_file(Format::ascii);
  Schema schema;
  schema.format = Format::ascii;
  const int n = 200000;  // 5 MB of text
  add_variable(schema, "v", Type::double_, {add_dim(schema, "x", n)});
  catalog->define(schema);
  std::vector<double> values(n);
  for (int i = 0; i < n; ++i)
    values[static_cast<std::size_t>(i)] = std::sqrt(i);
  put<double>(*catalog, 0, Box({0}, {n}), values);
  CHECK(get_all<double>(*catalog, 0) == values);  // from memory and file
  catalog->close(false);
  CHECK(get_all<double>(*old_file(), 0) == values);
}

TEST_CASE("a whole file is replaced or stays") {
  const testing::Folder folder;
  const std::string path = folder.file("whole.txt");
  replace_whole_file(path, "first", false);
  CHECK(read_whole_file(path, 100) == "first");
  replace_whole_file(path, "second, longer", true);
  CHECK(read_whole_file(path, 100) == "second, longer");
  CHECK(error_of([&] { read_whole_file(path, 3); }).code == Code::format);
  CHECK_FALSE(read_whole_file("there_is_none.txt", 100).has_value());
  CHECK(error_of([] { replace_whole_file("no/such/folder.txt", "x", false); }).code == Code::not_found);
}
