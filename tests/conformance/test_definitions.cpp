// The define phase: what is refused and how, attributes, definitions after data, several unlimited
// dimensions.
#include <cmath>
#include <filesystem>

#include "conformance/support.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

shoal_dataset* new_file(const std::string& settings) {
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, "definitions.nc", settings.c_str(), &file));
  return file;
}

void reopen(shoal_dataset*& file, int mode) {
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, "definitions.nc", mode, nullptr, &file));
}

Cut halves(std::int64_t n) {
  const std::int64_t from = n * world_rank() / world_size();
  const std::int64_t to = n * (world_rank() + 1) / world_size();
  return {MPI_COMM_WORLD, {n}, Box({from}, {to - from}), {0}, {0}};
}

void write_line(shoal_dataset* file, const char* name, const Cut& cut, std::int64_t record, double offset) {
  TestArray array(SHOAL_DOUBLE, cut.tile().count);
  for_cells(cut.tile(), [&](const Dims& i) {
    array.set({i[0] - cut.tile().first[0]}, offset + static_cast<double>(i[0]));
  });
  ok(shoal_write(file, name, cut.handle(), array.c(), SHOAL_RECORD(record)));
}

void check_line(shoal_dataset* file, const char* name, std::int64_t n, std::int64_t record, double offset) {
  CAPTURE(name);
  TestArray array(SHOAL_DOUBLE, {n});
  ok(shoal_get(file, name, array.c(), SHOAL_RECORD(record)));
  for (std::int64_t i = 0; i < n; ++i)
    CHECK(array.get({i}) == offset + static_cast<double>(i));
}

}  // namespace

TEST_CASE("definitions that make no sense are refused where they are made, and change nothing") {
  if (skipped(has_format("cdf2"), "it has not the format cdf2")) return;
  shoal_dataset* file = new_file("format=cdf2");
  def_dim(file, "time", SHOAL_UNLIMITED);
  def_dim(file, "x", 5);
  fails(shoal_def_dim(file, "x", 6), SHOAL_EXISTS, {"x", "definitions.nc"});
  fails(shoal_def_dim(file, "y", -3), SHOAL_INVALID_ARGUMENT, {"-3"});
  fails(shoal_def_dim(file, "t2", SHOAL_UNLIMITED), SHOAL_NOT_SUPPORTED, {"cdf2", "netcdf4"});
  fails(shoal_def_dim(file, "", 1), SHOAL_INVALID_ARGUMENT);
  fails(shoal_def_dim(file, "a/b", 1), SHOAL_INVALID_ARGUMENT,
        {"no dimension may be called 'a/b'", "'/' at byte 1"});
  fails(shoal_def_dim(file, nullptr, 1), SHOAL_INVALID_ARGUMENT, {"name"});
  fails(shoal_def_var(file, "v", SHOAL_DOUBLE, "x tmie", nullptr), SHOAL_NOT_FOUND,
        {"tmie", "did you mean 'time'"});
  fails(shoal_def_var(file, "v", SHOAL_DOUBLE, "x time", nullptr), SHOAL_NOT_SUPPORTED, {"time", "first"});
  fails(shoal_def_var(file, "v", SHOAL_UINT, "x", nullptr), SHOAL_NOT_SUPPORTED, {"uint", "cdf2", "cdf5"});
  fails(shoal_def_var(file, "v", 99, "x", nullptr), SHOAL_TYPE, {"99"});
  fails(shoal_def_var(file, "v", SHOAL_INT, "x x x x x x x x x x x x x x x x x", nullptr),
        SHOAL_NOT_SUPPORTED, {"17", "16"});
  const Cut seven = halves(7);
  fails(shoal_def_var(file, "v", SHOAL_INT, "time x", seven.handle()), SHOAL_INVALID_ARGUMENT,
        {"v", "7", "x=5"});
  ok(shoal_def_var(file, "v", SHOAL_INT, "x", nullptr));
  fails(shoal_def_var(file, "v", SHOAL_INT, "x", nullptr), SHOAL_EXISTS, {"v"});
  const std::int64_t chunk = 2;
  fails(shoal_def_chunks(file, "v", &chunk), SHOAL_NOT_SUPPORTED, {"cdf2", "netcdf4"});
  const double fill = 1;
  fails(shoal_put_att(file, "v", "_FillValue", SHOAL_DOUBLE, 1, &fill), SHOAL_TYPE, {"int", "double"});
  fails(shoal_put_att(file, "w", "units", SHOAL_CHAR, 1, "m"), SHOAL_NOT_FOUND, {"w"});
  fails(shoal_put_att(file, "v", "n", SHOAL_INT64, 1, &chunk), SHOAL_NOT_SUPPORTED, {"int64"});
  ok(shoal_end_define(file));
  const int other = 4;
  fails(shoal_def_fill(file, "v", SHOAL_INT, &other), SHOAL_STATE, {"v"});
  shoal_file_info info = SHOAL_FILE_INFO_INIT;
  ok(shoal_inq_file(file, &info));
  CHECK(std::string(info.format) == "cdf2");
  CHECK(info.dimensions == 2);
  CHECK(info.variables == 1);
  CHECK(info.attributes == 0);
  reopen(file, SHOAL_READ);
  fails(shoal_def_dim(file, "z", 1), SHOAL_STATE, {"reading"});
  fails(shoal_put(file, "v", nullptr, nullptr), SHOAL_STATE, {"reading"});
  ok(shoal_close(&file, 0));
  fails(shoal_sync(file, 0), SHOAL_STATE, {"closed"});
  fails(shoal_close(&file, 0), SHOAL_STATE, {"closed"});
}

TEST_CASE("names that are legal in NetCDF can be defined and listed, with blanks, commas and quotes") {
  std::vector<std::string> all = formats();
  if (is_native()) all.push_back("raw");
  const Cut cut = halves(7);
  const std::vector<std::string> names{"time step", "sea level, m", R"(a "b" \c)"};
  const std::string list = R"("time step", "sea level, m" "a \"b\" \\c")";
  for (const auto& format : all) {
    CAPTURE(format);
    shoal_dataset* file = new_file("format=" + format);
    def_dim(file, names[0], SHOAL_UNLIMITED);
    def_dim(file, names[1], 3);
    def_dim(file, names[2], 7);
    ok(shoal_def_var(file, "v w", SHOAL_DOUBLE, list.c_str(), cut.handle()));
    ok(shoal_def_var(file, "s", SHOAL_INT, R"("sea level, m")", nullptr));
    fails(shoal_def_var(file, "u", SHOAL_INT, "time step", nullptr), SHOAL_NOT_FOUND, {"'time'"});
    fails(shoal_def_var(file, "u", SHOAL_INT, "\"time step", nullptr), SHOAL_INVALID_ARGUMENT,
          {"u", "quote"});
    const std::vector<double> values(static_cast<std::size_t>(3 * cut.tile().count[0]), 4.5);
    const std::int64_t extents[] = {3, cut.tile().count[0]};
    const shoal_array array = shoal_array_of(const_cast<double*>(values.data()), SHOAL_DOUBLE, 2, extents);
    ok(shoal_write(file, "v w", cut.handle(), &array, SHOAL_RECORD(1)));
    reopen(file, SHOAL_READ);
    shoal_var_info info = SHOAL_VAR_INFO_INIT;
    int v = -1;
    ok(shoal_find_var(file, "v w", &v));
    ok(shoal_inq_var(file, v, &info));
    REQUIRE(info.ndims == 3);
    const std::vector<int> ids(info.dims, info.dims + info.ndims);
    for (std::size_t d = 0; d < names.size(); ++d) {
      shoal_dim_info dim = SHOAL_DIM_INFO_INIT;
      ok(shoal_inq_dim(file, ids[d], &dim));
      CHECK(std::string(dim.name) == names[d]);
    }
    std::vector<double> found(static_cast<std::size_t>(3 * cut.tile().count[0]), 0);
    const shoal_array back = shoal_array_of(found.data(), SHOAL_DOUBLE, 2, extents);
    ok(shoal_read(file, "v w", cut.handle(), &back, SHOAL_RECORD(1)));
    CHECK(found == values);
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("a fill value of any type becomes one of the variable's, or does not fit") {
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = new_file("format=" + format);
    const auto types = types_of(format);
    for (const int type : types) {
      const std::string number = std::to_string(type);
      ok(shoal_def_var(file, ("v" + number).c_str(), type, "", nullptr));
      for (const int given : types)
        with_type(given, [&](auto value) {
          value = 17;
          ok(shoal_def_fill(file, ("v" + number).c_str(), given, &value));
          return 0.0;
        });
      double back = 0;
      ok(shoal_get_att(file, ("v" + number).c_str(), "_FillValue", SHOAL_DOUBLE, &back));
      CHECK(back == 17);
    }
    ok(shoal_def_var(file, "b", SHOAL_BYTE, "", nullptr));
    ok(shoal_def_var(file, "f", SHOAL_FLOAT, "", nullptr));
    ok(shoal_def_var(file, "c", SHOAL_CHAR, "", nullptr));
    ok(shoal_def_var(file, "l", SHOAL_LOGICAL, "", nullptr));
    const double fraction = 1.5, large = 1e300, none = std::nan(""), below = -128;
    const std::int64_t wide = 200;
    const std::uint64_t widest = UINT64_MAX;
    const float real = -1e20F;
    const char letter = 'x';
    const std::int8_t one = 1;
    fails(shoal_def_fill(file, "b", SHOAL_DOUBLE, &fraction), SHOAL_RANGE, {"'b'", "1.5", "byte"});
    fails(shoal_def_fill(file, "b", SHOAL_DOUBLE, &none), SHOAL_RANGE, {"nan"});
    fails(shoal_def_fill(file, "b", SHOAL_INT64, &wide), SHOAL_RANGE, {"200"});
    fails(shoal_def_fill(file, "b", SHOAL_UINT64, &widest), SHOAL_RANGE);
    fails(shoal_def_fill(file, "f", SHOAL_DOUBLE, &large), SHOAL_RANGE, {"1e+300"});
    fails(shoal_def_fill(file, "f", SHOAL_CHAR, &letter), SHOAL_TYPE, {"'f'", "char", "float"});
    fails(shoal_def_fill(file, "c", SHOAL_DOUBLE, &below), SHOAL_TYPE, {"'c'"});
    fails(shoal_def_fill(file, "b", 77, &below), SHOAL_TYPE, {"77"});
    fails(shoal_def_fill(file, "nothing", SHOAL_DOUBLE, &below), SHOAL_NOT_FOUND);
    ok(shoal_def_fill(file, "b", SHOAL_DOUBLE, &below));
    ok(shoal_def_fill(file, "f", SHOAL_FLOAT, &real));
    ok(shoal_def_fill(file, "c", SHOAL_CHAR, &letter));
    ok(shoal_def_fill(file, "l", SHOAL_LOGICAL, &one));
    double kept = 0;
    ok(shoal_get_att(file, "b", "_FillValue", SHOAL_DOUBLE, &kept));
    CHECK(kept == below);
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("structs without their size are refused, in collective calls on all ranks") {
  shoal_dataset* file = new_file("format=" + formats().front());
  def_dim(file, "x", 4);
  ok(shoal_def_var(file, "v", SHOAL_DOUBLE, "x", nullptr));
  TestArray array(SHOAL_DOUBLE, {4});
  array.fill(1);
  ok(shoal_put(file, "v", array.c(), nullptr));
  ok(shoal_sync(file, 0));
  const auto wrong = [&](auto info, const auto& call) {
    fails(call(&info), SHOAL_INVALID_ARGUMENT, {"struct_size", "is 0"});
    info.struct_size = 1000;
    fails(call(&info), SHOAL_INVALID_ARGUMENT, {"struct_size", "1000", "newer shoal.h"});
    info.struct_size = sizeof info;
    ok(call(&info));
  };
  wrong(shoal_file_info{}, [&](auto* out) { return shoal_inq_file(file, out); });
  wrong(shoal_dim_info{}, [&](auto* out) { return shoal_inq_dim(file, 0, out); });
  wrong(shoal_var_info{}, [&](auto* out) { return shoal_inq_var(file, 0, out); });
  const double two = 2;
  ok(shoal_put_att(file, nullptr, "a", SHOAL_DOUBLE, 1, &two));
  wrong(shoal_att_info{}, [&](auto* out) { return shoal_inq_att(file, nullptr, 0, out); });
  const Cut cut = halves(4);
  wrong(shoal_map_info{}, [&](auto* out) { return shoal_decomposition_map_info(cut.handle(), out); });
  if (in_one_file()) {
    // The last rank's alone.
    const bool odd = world_rank() == world_size() - 1;
    shoal_array bad = *array.c();
    bad.struct_size = odd ? 0 : bad.struct_size;
    int code = shoal_get(file, "v", &bad, nullptr);
    fails(code, SHOAL_INVALID_ARGUMENT, {"struct_size of a shoal_array is 0"});
    alike(code);
    const shoal_section part{
        odd ? sizeof(shoal_section) + 8 : sizeof(shoal_section), SHOAL_NO_RECORD, 0, nullptr, nullptr, 0};
    code = shoal_get(file, "v", array.c(), &part);
    fails(code, SHOAL_INVALID_ARGUMENT, {"struct_size of a shoal_section", "newer shoal.h"});
    alike(code);
  }
  shoal_close(&file, 0);
}

TEST_CASE("errors say where: rank, file and variable, the same on all ranks") {
  const int last = world_size() - 1;
  const auto is_at = [&](int rank, const std::string& file, const std::string& variable) {
    CHECK(shoal_error_rank() == rank);
    CHECK(std::string(shoal_error_file()) == file);
    CHECK(std::string(shoal_error_variable()) == variable);
  };
  shoal_dataset* file = nullptr;
  fails(shoal_open(MPI_COMM_WORLD, "none.nc", SHOAL_READ, nullptr, &file), SHOAL_NOT_FOUND);
  is_at(0, "none.nc", "");
  file = new_file("format=" + formats().front());
  def_dim(file, "x", 4);
  ok(shoal_def_var(file, "v", SHOAL_BYTE, "x", nullptr));
  const double large = 1000;
  fails(shoal_def_fill(file, "v", SHOAL_DOUBLE, &large), SHOAL_RANGE);
  is_at(-1, "definitions.nc", "v");
  fails(shoal_put_att(file, "w", "units", SHOAL_CHAR, 1, "m"), SHOAL_NOT_FOUND);
  CHECK(std::string(shoal_error_file()) == "definitions.nc");
  fails(shoal_inq_dim(nullptr, 0, nullptr), SHOAL_INVALID_ARGUMENT);
  is_at(-1, "", "");
  TestArray array(SHOAL_DOUBLE, {4}), longer(SHOAL_DOUBLE, {5});
  array.fill(1);
  ok(shoal_put(file, "v", array.c(), nullptr));
  ok(shoal_sync(file, 0));
  if (in_one_file()) {
    fails(shoal_get(file, "v", world_rank() == last ? longer.c() : array.c(), nullptr),
          SHOAL_INVALID_ARGUMENT);
    is_at(world_size() == 1 ? -1 : last, "definitions.nc", "v");  // one rank alone has asked no others
  }
  shoal_close(&file, 0);
}

TEST_CASE("attributes of every type come back") {
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = new_file("format=" + format);
    ok(shoal_def_var(file, "v", SHOAL_FLOAT, "", nullptr));
    const float fill = -9;
    ok(shoal_def_fill(file, "v", SHOAL_FLOAT, &fill));
    auto types = types_of(format);
    for (const int type : types) {
      TestArray values(type, {3});
      for (std::int64_t i = 0; i < 3; ++i)
        values.set({i}, static_cast<double>(10 + i));
      for (const char* owner : {static_cast<const char*>(nullptr), "v"})
        ok(shoal_put_att(file, owner, ("a" + std::to_string(type)).c_str(), type, 3, values.c()->data));
    }
    ok(shoal_put_att(file, nullptr, "title", SHOAL_CHAR, 5, "first"));
    ok(shoal_put_att(file, nullptr, "title", SHOAL_CHAR, 14, "second, longer"));
    ok(shoal_put_att(file, "v", "empty", SHOAL_CHAR, 0, nullptr));
    const char* words[] = {"one", "", "three"};
    if (has_strings(format))
      ok(shoal_put_att(file, nullptr, "words", SHOAL_STRING, 3, words));
    else
      fails(shoal_put_att(file, nullptr, "words", SHOAL_STRING, 3, words), SHOAL_NOT_SUPPORTED, {"char"});
    for (int pass = 0; pass < 2; ++pass) {
      for (const int type : types) {
        double found[3] = {};
        ok(shoal_get_att(file, "v", ("a" + std::to_string(type)).c_str(), SHOAL_DOUBLE, found));
        for (int i = 0; i < 3; ++i)
          CHECK(found[i] == 10 + i);
        int index = -1;
        ok(shoal_find_att(file, nullptr, ("a" + std::to_string(type)).c_str(), &index));
        shoal_att_info info = SHOAL_ATT_INFO_INIT;
        ok(shoal_inq_att(file, nullptr, index, &info));
        CHECK(info.type == type);
        CHECK(info.count == 3);
      }
      char title[15] = {};
      ok(shoal_get_att(file, nullptr, "title", SHOAL_CHAR, title));
      CHECK(std::string(title) == "second, longer");
      float found_fill = 0;
      ok(shoal_get_att(file, "v", "_FillValue", SHOAL_FLOAT, &found_fill));
      CHECK(found_fill == fill);
      int empty = -1;
      ok(shoal_find_att(file, "v", "empty", &empty));
      fails(shoal_get_att(file, nullptr, "tilte", SHOAL_CHAR, title), SHOAL_NOT_FOUND,
            {"did you mean 'title'"});
      fails(shoal_get_att(file, nullptr, "title", SHOAL_INT, title), SHOAL_TYPE, {"char", "int"});
      if (has_strings(format)) {
        char* texts[3] = {};
        ok(shoal_get_att(file, nullptr, "words", SHOAL_STRING, texts));
        CHECK(std::string(texts[2]) == "three");
        shoal_free_strings(3, texts);
      }
      if (pass == 0) reopen(file, SHOAL_READ);
    }
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("variables and attributes are added after data was written") {
  if (skipped(in_one_file(), "sets of files are not extended")) return;
  for (const auto& format : formats()) {
    CAPTURE(format);
    const std::int64_t n = 23;
    const Cut cut = halves(n);
    shoal_dataset* file = new_file("format=" + format);
    def_dim(file, "x", n);
    def_dim(file, "time", SHOAL_UNLIMITED);
    ok(shoal_def_var(file, "first", SHOAL_INT, "x", cut.handle()));
    write_line(file, "first", cut, SHOAL_NO_RECORD, 100);
    ok(shoal_sync(file, 0));
    ok(shoal_put_att(file, "first", "long_name", SHOAL_CHAR, 20, "added after the data"));
    ok(shoal_def_var(file, "second", SHOAL_DOUBLE, "time x", cut.handle()));
    write_line(file, "second", cut, 0, 200);
    write_line(file, "second", cut, 1, 300);
    reopen(file, SHOAL_WRITE);
    ok(shoal_put_att(file, nullptr, "history", SHOAL_CHAR, 8, "reopened"));
    write_line(file, "second", cut, 2, 400);
    reopen(file, SHOAL_READ);
    check_line(file, "first", n, SHOAL_NO_RECORD, 100);
    for (int r = 0; r < 3; ++r)
      check_line(file, "second", n, r, 200 + 100 * r);
    char text[9] = {};
    ok(shoal_get_att(file, nullptr, "history", SHOAL_CHAR, text));
    CHECK(std::string(text) == "reopened");
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("several unlimited dimensions") {
  if (skipped(has_format("netcdf4"), "it has not the format netcdf4")) return;
  const std::int64_t n = 9;
  const Cut cut = halves(n);
  shoal_dataset* file = new_file(full_settings().c_str());
  def_dim(file, "time", SHOAL_UNLIMITED);
  def_dim(file, "station", SHOAL_UNLIMITED);
  def_dim(file, "x", n);
  ok(shoal_def_var(file, "field", SHOAL_DOUBLE, "time x", cut.handle()));
  ok(shoal_def_var(file, "obs", SHOAL_INT, "time station", nullptr));
  ok(shoal_def_var(file, "names", SHOAL_SHORT, "station", nullptr));
  write_line(file, "field", cut, 1, 5);
  TestArray row(SHOAL_INT, {4});
  for (std::int64_t i = 0; i < 4; ++i)
    row.set({i}, static_cast<double>(i));
  ok(shoal_put(file, "obs", row.c(), SHOAL_RECORD(0)));  // stations grow to what is put
  const std::int64_t start = 4;
  const std::int64_t count = 2;
  TestArray two(SHOAL_INT, {2});
  two.fill(77);
  ok(shoal_put(file, "obs", two.c(), SHOAL_SECTION(2, 1, &start, &count)));
  reopen(file, SHOAL_READ);
  for (const auto& [name, length] : {std::pair("time", 3), std::pair("station", 6)}) {
    int index = -1;
    ok(shoal_find_dim(file, name, &index));
    shoal_dim_info info = SHOAL_DIM_INFO_INIT;
    ok(shoal_inq_dim(file, index, &info));
    CHECK(info.length == length);
  }
  check_line(file, "field", n, 1, 5);
  TestArray all(SHOAL_INT, {3, 6});
  ok(shoal_get(file, "obs", all.c(), SHOAL_RECORD(SHOAL_ALL_RECORDS)));
  CHECK(all.get({0, 3}) == 3);
  CHECK(all.get({0, 4}) == fill_value(SHOAL_INT));
  CHECK(all.get({1, 0}) == fill_value(SHOAL_INT));
  CHECK(all.get({2, 5}) == 77);
  ok(shoal_close(&file, 0));
}

// HDF5 opens such a file again for each definition: under the name that it has by then.
TEST_CASE("several unlimited dimensions: definitions after a sync, in a new file and one that replaces it") {
  if (skipped(has_format("netcdf4"), "it has not the format netcdf4")) return;
  if (skipped(in_one_file(), "a set is not extended")) return;
  if (world_rank() == 0) std::filesystem::remove("definitions.nc");
  MPI_Barrier(MPI_COMM_WORLD);
  for (const bool replaces : {false, true}) {
    CAPTURE(replaces);
    shoal_dataset* file = new_file(full_settings().c_str());
    def_dim(file, "time", SHOAL_UNLIMITED);
    def_dim(file, "station", SHOAL_UNLIMITED);
    ok(shoal_def_var(file, "obs", SHOAL_INT, "time station", nullptr));
    TestArray row(SHOAL_INT, {4});
    for (int record = 0; record < 3; ++record) {
      const std::string name = "note" + std::to_string(record);
      ok(shoal_put_att(file, nullptr, name.c_str(), SHOAL_CHAR, 1, "x"));
      row.fill(record);
      ok(shoal_put(file, "obs", row.c(), SHOAL_RECORD(record)));
      ok(shoal_sync(file, 0));
    }
    reopen(file, SHOAL_READ);
    for (int record = 0; record < 3; ++record) {
      ok(shoal_get(file, "obs", row.c(), SHOAL_RECORD(record)));
      CHECK(row.get({3}) == record);
    }
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("fill values, no fill and chunks") {
  if (skipped(in_one_file(), "chunks are those of a file")) return;
  const std::int64_t n = 12;
  const Cut nobody(MPI_COMM_WORLD, {n}, Box({0}, {world_rank() == 0 ? 4 : 0}), {0}, {0});
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = new_file("format=" + format);
    def_dim(file, "x", n);
    ok(shoal_def_var(file, "own_fill", SHOAL_SHORT, "x", nobody.handle()));
    ok(shoal_def_var(file, "replicated", SHOAL_SHORT, "x", nullptr));
    ok(shoal_def_var(file, "free", SHOAL_SHORT, "x", nullptr));
    const short fill = -5;
    ok(shoal_def_fill(file, "own_fill", SHOAL_SHORT, &fill));
    ok(shoal_def_fill(file, "replicated", SHOAL_SHORT, &fill));
    ok(shoal_def_fill(file, "free", 0, nullptr));
    const std::int64_t chunk = 5;
    if (has_chunks(format)) ok(shoal_def_chunks(file, "own_fill", &chunk));
    TestArray four(SHOAL_INT, {4});
    four.fill(3);
    ok(shoal_write(file, "own_fill", nullptr, four.c(), nullptr));
    reopen(file, SHOAL_READ);
    TestArray all(SHOAL_INT, {n});
    ok(shoal_get(file, "own_fill", all.c(), nullptr));
    for (std::int64_t i = 0; i < n; ++i)
      CHECK(all.get({i}) == (i < 4 ? 3 : -5));
    ok(shoal_get(file, "replicated", all.c(), nullptr));
    for (std::int64_t i = 0; i < n; ++i)
      CHECK(all.get({i}) == -5);
    shoal_var_info info = SHOAL_VAR_INFO_INIT;
    ok(shoal_inq_var(file, 0, &info));
    if (has_chunks(format)) {
      REQUIRE(info.chunks != nullptr);
      CHECK(info.chunks[0] == 5);
    } else {
      CHECK(info.chunks == nullptr);
      CHECK(std::string(info.storage) == (format == "ascii" ? "library" : "contiguous"));
    }
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("ranks that define different things are told which") {
  if (world_size() == 1) return;
  shoal_dataset* file = new_file("format=" + formats().front());
  def_dim(file, "x", 4);
  ok(shoal_def_var(file, "v", world_rank() == 1 ? SHOAL_INT : SHOAL_FLOAT, "x", nullptr));
  int code = shoal_end_define(file);
  fails(code, SHOAL_OUT_OF_STEP, {"rank 1", "variable 'v'", "int", "float"});
  alike(code);
  // Definitions were dropped on all ranks: they can be made again.
  def_dim(file, "x", 4);
  ok(shoal_def_var(file, "v", SHOAL_FLOAT, "x", nullptr));
  ok(shoal_end_define(file));
  // One rank alone adds an attribute: the next sync finds out.
  if (world_rank() == world_size() - 1) ok(shoal_put_att(file, nullptr, "mine", SHOAL_CHAR, 1, "x"));
  code = shoal_sync(file, 0);
  fails(code, SHOAL_OUT_OF_STEP, {"rank " + std::to_string(world_size() - 1)});
  alike(code);
  ok(shoal_sync(file, 0));
  // A definition that fails on one rank only.
  const int made = shoal_def_dim(file, world_rank() == 0 ? "bad name " : "y", 3);
  CHECK(made == (world_rank() == 0 ? SHOAL_INVALID_ARGUMENT : SHOAL_OK));
  code = shoal_end_define(file);
  fails(code, SHOAL_OUT_OF_STEP, {"dimension 'y'"});
  alike(code);
  ok(shoal_close(&file, 0));
}

TEST_CASE("records of a field that rank 0 puts are there for all ranks after a sync") {
  if (skipped(in_one_file(), "what is cut over files is not read while it is written")) return;
  const std::int64_t n = 9;
  const Cut cut = halves(n);
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = new_file("format=" + format);
    def_dim(file, "time", SHOAL_UNLIMITED);
    def_dim(file, "x", n);
    ok(shoal_def_var(file, "field", SHOAL_DOUBLE, "time x", cut.handle()));
    write_line(file, "field", cut, 0, 5);
    ok(shoal_sync(file, 0));
    TestArray three(SHOAL_DOUBLE, {3, n});
    for_cells(Box::whole({3, n}),
              [&](const Dims& i) { three.set(i, static_cast<double>(10 * i[0] + i[1])); });
    const shoal_array* const mine = world_rank() == 0 ? three.c() : nullptr;
    ok(shoal_put(file, "field", mine, SHOAL_RECORD(SHOAL_ALL_RECORDS)));
    ok(shoal_sync(file, 0));
    int index = -1;
    ok(shoal_find_dim(file, "time", &index));
    shoal_dim_info info = SHOAL_DIM_INFO_INIT;
    ok(shoal_inq_dim(file, index, &info));
    CHECK(info.length == 3);
    TestArray last(SHOAL_DOUBLE, {n});
    ok(shoal_get(file, "field", last.c(), SHOAL_RECORD(2)));
    for (std::int64_t i = 0; i < n; ++i)
      CHECK(last.get({i}) == static_cast<double>(20 + i));
    write_line(file, "field", cut, 3, 5);
    reopen(file, SHOAL_READ);
    ok(shoal_inq_dim(file, index, &info));
    CHECK(info.length == 4);
    check_line(file, "field", n, 3, 5);
    ok(shoal_close(&file, 0));
  }
}
