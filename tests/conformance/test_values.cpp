// Replicated variables: all types, layouts in memory, text, strings, logical values, values that do not fit.
#include "conformance/support.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

shoal_dataset* new_file(const std::string& format) {
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, "values.nc", ("format=" + format).c_str(), &file));
  return file;
}

shoal_dataset* reopened(shoal_dataset* file, int mode = SHOAL_READ) {
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, "values.nc", mode, nullptr, &file));
  return file;
}

}  // namespace

TEST_CASE("numbers of any type and layout are put and got, in every format") {
  std::mt19937 random(7);
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = new_file(format);
    def_dim(file, "time", SHOAL_UNLIMITED);
    def_dim(file, "a", 3);
    def_dim(file, "b", 5);
    const auto types = types_of(format);
    for (const int type : types) {
      ok(shoal_def_var(file, ("scalar" + std::to_string(type)).c_str(), type, "", nullptr));
      ok(shoal_def_var(file, ("fixed" + std::to_string(type)).c_str(), type, "a b", nullptr));
      ok(shoal_def_var(file, ("record" + std::to_string(type)).c_str(), type, "time a", nullptr));
    }
    for (const int type : types) {
      for (const int memory : std::vector<int>{type, SHOAL_DOUBLE, SHOAL_INT64, SHOAL_USHORT}) {
        const std::string number = std::to_string(type);
        double one = 17 + type;
        const shoal_array s = scalar(one, SHOAL_DOUBLE);
        ok(shoal_put(file, ("scalar" + number).c_str(), &s, nullptr));
        TestArray fixed(memory, {3, 5}, random);
        for_cells(Box::whole({3, 5}),
                  [&](const Dims& i) { fixed.set(i, world_rank() == 0 ? value_of(type, i) : 0); });
        ok(shoal_put(file, ("fixed" + number).c_str(), fixed.c(), nullptr));
        for (const std::int64_t record : std::vector<std::int64_t>{2, 0, 1}) {
          TestArray row(memory, {3}, random);
          for_cells(Box({record, 0}, {1, 3}), [&](const Dims& i) { row.set({i[1]}, value_of(type, i)); });
          ok(shoal_put(file, ("record" + number).c_str(), row.c(), SHOAL_RECORD(record)));
        }
      }
    }
    file = reopened(file);
    for (const int type : types) {
      const std::string number = std::to_string(type);
      float one = 0;
      const shoal_array s = scalar(one, SHOAL_FLOAT);
      ok(shoal_get(file, ("scalar" + number).c_str(), &s, nullptr));
      CHECK(one == static_cast<float>(17 + type));
      TestArray part(SHOAL_INT, {2, 1}, random);
      const std::int64_t start[] = {1, 3};
      const std::int64_t count[] = {2, 1};
      ok(shoal_get(file, ("fixed" + number).c_str(), part.c(),
                   SHOAL_SECTION(SHOAL_NO_RECORD, 2, start, count)));
      CHECK(part.get({0, 0}) == value_of(type, {1, 3}));
      CHECK(part.get({1, 0}) == value_of(type, {2, 3}));
      TestArray all(SHOAL_DOUBLE, {3, 3}, random);
      ok(shoal_get(file, ("record" + number).c_str(), all.c(), SHOAL_RECORD(SHOAL_ALL_RECORDS)));
      for_cells(Box::whole({3, 3}), [&](const Dims& i) { CHECK(all.get(i) == value_of(type, i)); });
    }
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("all records at once, and records that nobody put") {
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = new_file(format);
    def_dim(file, "time", SHOAL_UNLIMITED);
    ok(shoal_def_var(file, "t", SHOAL_INT, "time", nullptr));
    ok(shoal_def_var(file, "u", SHOAL_DOUBLE, "time", nullptr));
    TestArray t(SHOAL_SHORT, {4});
    for (std::int64_t i = 0; i < 4; ++i)
      t.set({i}, static_cast<double>(10 * i));
    ok(shoal_put(file, "t", t.c(), SHOAL_RECORD(SHOAL_ALL_RECORDS)));
    double five = 5;
    const shoal_array s = scalar(five, SHOAL_DOUBLE);
    ok(shoal_put(file, "u", &s, SHOAL_RECORD(2)));
    file = reopened(file);
    int dim = -1;
    ok(shoal_find_dim(file, "time", &dim));
    shoal_dim_info info = SHOAL_DIM_INFO_INIT;
    ok(shoal_inq_dim(file, dim, &info));
    CHECK(info.length == 4);
    CHECK(info.unlimited == 1);
    TestArray found(SHOAL_DOUBLE, {4});
    ok(shoal_get(file, "t", found.c(), SHOAL_RECORD(SHOAL_ALL_RECORDS)));
    for (std::int64_t i = 0; i < 4; ++i)
      CHECK(found.get({i}) == static_cast<double>(10 * i));
    ok(shoal_get(file, "u", found.c(), SHOAL_RECORD(SHOAL_ALL_RECORDS)));
    CHECK(found.get({0}) == fill_value(SHOAL_DOUBLE));
    CHECK(found.get({2}) == 5);
    CHECK(found.get({3}) == fill_value(SHOAL_DOUBLE));
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("text, strings and logical values") {
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = new_file(format);
    def_dim(file, "n", 3);
    def_dim(file, "letters", 6);
    ok(shoal_def_var(file, "names", SHOAL_CHAR, "n letters", nullptr));
    ok(shoal_def_var(file, "mask", SHOAL_LOGICAL, "n", nullptr));
    ok(shoal_def_var(file, "old_mask", SHOAL_CHAR, "n letters", nullptr));
    ok(shoal_def_var(file, "old_switch", SHOAL_CHAR, "", nullptr));
    const std::int64_t shape[] = {3, 6};
    char names[] = "alpha beta  gamma ";
    const shoal_array text = shoal_array_of(names, SHOAL_CHAR, 2, shape);
    ok(shoal_put(file, "names", &text, nullptr));
    std::int64_t flags[] = {1, 0, -1};  // -1: what .true. is for some compilers
    const shoal_array logical{sizeof(shoal_array), flags, SHOAL_LOGICAL, 8, 1, shape, nullptr};
    ok(shoal_put(file, "mask", &logical, nullptr));
    char words[] = "True  F     .true.";
    words[12] = 'T';
    const shoal_array old = shoal_array_of(words, SHOAL_CHAR, 2, shape);
    ok(shoal_put(file, "old_mask", &old, nullptr));
    char yes = 'T';
    const shoal_array one = shoal_array_of(&yes, SHOAL_CHAR, 0, nullptr);
    ok(shoal_put(file, "old_switch", &one, nullptr));
    const bool strings_in_file = has_strings(format) && driver() != "netcdf";
    if (strings_in_file) {
      ok(shoal_def_var(file, "titles", SHOAL_STRING, "n", nullptr));
      const char* titles[] = {"", "sea", "a much longer title, with Grüße"};
      const shoal_array strings = shoal_array_of(titles, SHOAL_STRING, 1, shape);
      ok(shoal_put(file, "titles", &strings, nullptr));
    } else if (has_strings(format)) {
      ok(shoal_def_var(file, "titles", SHOAL_STRING, "n", nullptr));
      const int code = shoal_end_define(file);
      fails(code, SHOAL_NOT_SUPPORTED, {"titles", "native"});
      alike(code);
    } else {
      fails(shoal_def_var(file, "titles", SHOAL_STRING, "n", nullptr), SHOAL_NOT_SUPPORTED,
            {"titles", "netcdf4"});
    }

    file = reopened(file);
    char found[18] = {};
    const shoal_array into = shoal_array_of(found, SHOAL_CHAR, 2, shape);
    ok(shoal_get(file, "names", &into, nullptr));
    CHECK(std::string(found, 18) == "alpha beta  gamma ");
    int truth[3] = {7, 7, 7};
    const shoal_array logical_out{sizeof(shoal_array), truth, SHOAL_LOGICAL, 4, 1, shape, nullptr};
    for (const char* name : {"mask", "old_mask"}) {
      CAPTURE(name);
      ok(shoal_get(file, name, &logical_out, nullptr));
      CHECK(truth[0] != 0);
      CHECK(truth[1] == 0);
      CHECK(truth[2] != 0);
    }
    std::int8_t on = 0;
    const shoal_array small{sizeof(shoal_array), &on, SHOAL_LOGICAL, 1, 0, nullptr, nullptr};
    ok(shoal_get(file, "old_switch", &small, nullptr));
    CHECK(on != 0);
    int mask = -1;
    ok(shoal_find_var(file, "mask", &mask));
    shoal_var_info info = SHOAL_VAR_INFO_INIT;
    ok(shoal_inq_var(file, mask, &info));
    CHECK(info.type == SHOAL_BYTE);
    CHECK(info.logical == 1);
    const int wrong = shoal_get(file, "names", &logical_out, nullptr);
    fails(wrong, SHOAL_RANGE, {"names", "values.nc"});
    alike(wrong);
    if (strings_in_file) {
      char* titles[3] = {};
      const shoal_array strings = shoal_array_of(titles, SHOAL_STRING, 1, shape);
      ok(shoal_get(file, "titles", &strings, nullptr));
      CHECK(std::string(titles[0]).empty());
      CHECK(std::string(titles[1]) == "sea");
      CHECK(std::string(titles[2]) == "a much longer title, with Grüße");
      shoal_free_strings(3, titles);
      fails(shoal_get(file, "titles", &into, nullptr), SHOAL_INVALID_ARGUMENT);
    }
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("strings of any length where nothing is filled") {
  if (skipped(has_full_format() && driver() != "netcdf", "strings go to format netcdf4, on one rank")) return;
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, "values.nc", full_settings(", fill=false").c_str(), &file));
  def_dim(file, "n", 3);
  const std::int64_t shape[] = {3};
  const char* titles[] = {"", "sea", "ice"};
  const shoal_array strings = shoal_array_of(titles, SHOAL_STRING, 1, shape);
  ok(shoal_def_var(file, "titles", SHOAL_STRING, "n", nullptr));
  ok(shoal_def_var(file, "unwritten", SHOAL_STRING, "n", nullptr));
  ok(shoal_def_fill(file, "unwritten", 0, nullptr));
  ok(shoal_end_define(file));
  ok(shoal_put(file, "titles", &strings, nullptr));
  file = reopened(file);
  for (const char* name : {"titles", "unwritten"}) {
    char* found[3] = {};
    const shoal_array into = shoal_array_of(found, SHOAL_STRING, 1, shape);
    ok(shoal_get(file, name, &into, nullptr));
    for (int i = 0; i < 3; ++i)
      CHECK(std::string(found[i]) == (name[0] == 't' ? titles[i] : ""));
    shoal_free_strings(3, found);
  }
  ok(shoal_close(&file, 0));
}

TEST_CASE("text and logical values are cut over ranks") {
  const std::int64_t n = 5 * world_size();
  const Cut cut(MPI_COMM_WORLD, {n}, Box({5 * world_rank()}, {5}), {1}, {1});
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = new_file(format);
    def_dim(file, "n", n);
    ok(shoal_def_var(file, "mask", SHOAL_LOGICAL, "n", cut.handle()));
    ok(shoal_def_var(file, "letters", SHOAL_CHAR, "n", cut.handle()));
    fails(shoal_def_var(file, "texts", SHOAL_STRING, "n", cut.handle()), SHOAL_NOT_SUPPORTED, {});
    const std::int64_t five = 5;
    short mask[5];
    char letters[5];
    for (int i = 0; i < 5; ++i) {
      mask[i] = static_cast<short>((5 * world_rank() + i) % 3 == 0 ? -1 : 0);
      letters[i] = static_cast<char>((5 * world_rank() + i) % 2 == 0 ? 'T' : 'F');
    }
    const shoal_array logical{sizeof(shoal_array), mask, SHOAL_LOGICAL, 2, 1, &five, nullptr};
    const shoal_array text = shoal_array_of(letters, SHOAL_CHAR, 1, &five);
    ok(shoal_write(file, "mask", nullptr, &logical, nullptr));
    ok(shoal_write(file, "letters", nullptr, &text, nullptr));
    file = reopened(file);
    const std::int64_t seven = 7;
    int found[7] = {9, 9, 9, 9, 9, 9, 9};
    const shoal_array into{sizeof(shoal_array), found, SHOAL_LOGICAL, 4, 1, &seven, nullptr};
    ok(shoal_read(file, "mask", cut.handle(), &into, nullptr));
    for (int i = 0; i < 7; ++i) {
      const std::int64_t cell = 5 * world_rank() + i - 1;
      if (cell < 0 || cell >= n)
        CHECK(found[i] == 9);
      else
        CHECK((found[i] != 0) == (cell % 3 == 0));
    }
    ok(shoal_read(file, "letters", cut.handle(), &into, nullptr));
    for (int i = 1; i < 6; ++i)
      CHECK((found[i] != 0) == ((5 * world_rank() + i - 1) % 2 == 0));
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("values that do not fit: the rest is written, sync reports it on all ranks") {
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = new_file(format);
    def_dim(file, "n", 4);
    def_dim(file, "x", 2 * world_size());
    const Cut cut(MPI_COMM_WORLD, {2 * world_size()}, Box({2 * world_rank()}, {2}), {0}, {0});
    ok(shoal_def_var(file, "small", SHOAL_SHORT, "n", nullptr));
    ok(shoal_def_var(file, "field", SHOAL_SHORT, "x", cut.handle()));
    double values[] = {1, 2, 1e6, 4};
    const std::int64_t four = 4;
    const shoal_array array = shoal_array_of(values, SHOAL_DOUBLE, 1, &four);
    ok(shoal_put(file, "small", &array, nullptr));
    int code = shoal_sync(file, 0);
    fails(code, SHOAL_RANGE, {"values.nc", "small", "[2]"});
    alike(code);
    // The last rank's second value is too large.
    double mine[] = {3.0 * world_rank(), world_rank() == world_size() - 1 ? 40000.0 : 7.0};
    const std::int64_t two = 2;
    const shoal_array tile = shoal_array_of(mine, SHOAL_DOUBLE, 1, &two);
    ok(shoal_write(file, "field", nullptr, &tile, nullptr));
    code = shoal_sync(file, 0);
    fails(code, SHOAL_RANGE,
          {"values.nc", "field", "rank " + std::to_string(world_size() - 1),
           "[" + std::to_string(2 * world_size() - 1) + "]"});
    alike(code);
    ok(shoal_sync(file, 0));  // reported once
    file = reopened(file);
    TestArray found(SHOAL_INT, {4});
    ok(shoal_get(file, "small", found.c(), nullptr));
    CHECK(found.get({0}) == 1);
    CHECK(found.get({2}) == fill_value(SHOAL_SHORT));
    CHECK(found.get({3}) == 4);
    TestArray field(SHOAL_INT, {2 * world_size()});
    ok(shoal_get(file, "field", field.c(), nullptr));
    CHECK(field.get({0}) == 0);
    CHECK(field.get({2 * world_size() - 2}) == 3 * (world_size() - 1));
    CHECK(field.get({2 * world_size() - 1}) == fill_value(SHOAL_SHORT));
    TestArray bytes(SHOAL_BYTE, {4});
    code = shoal_get(file, "small", bytes.c(), nullptr);
    fails(code, SHOAL_RANGE, {"small", "[2]"});
    alike(code);
    CHECK(bytes.get({3}) == 4);
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("hundreds of scalars") {
  shoal_dataset* file = new_file(formats().back());
  constexpr int k_scalars = 300;
  for (int i = 0; i < k_scalars; ++i)
    ok(shoal_def_var(file, ("s" + std::to_string(i)).c_str(), SHOAL_DOUBLE, "", nullptr));
  for (int i = 0; i < k_scalars; ++i) {
    double value = i;
    const shoal_array s = scalar(value, SHOAL_DOUBLE);
    ok(shoal_put(file, ("s" + std::to_string(i)).c_str(), &s, nullptr));
  }
  file = reopened(file);
  for (int i = 0; i < k_scalars; ++i) {
    double value = -1;
    const shoal_array s = scalar(value, SHOAL_DOUBLE);
    ok(shoal_get(file, ("s" + std::to_string(i)).c_str(), &s, nullptr));
    CHECK(value == i);
  }
  ok(shoal_close(&file, 0));
}
