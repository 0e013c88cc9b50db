// Several records in one call of put and get (SHOAL_RECORDS), and what cells hold that were never written
// (shoal_inq_fill).
#include "conformance/support.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

shoal_dataset* new_file(const std::string& settings) {
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, "several.nc", settings.c_str(), &file));
  return file;
}

shoal_dataset* reopened(shoal_dataset* file, int mode = SHOAL_READ) {
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, "several.nc", mode, nullptr, &file));
  return file;
}

double value(std::int64_t record, std::int64_t cell) {
  return static_cast<double>(1 + 10 * record + cell);
}

/// An array of the records, cells from `from` on; only rank 0's counts.
TestArray records(std::int64_t first, std::int64_t n, std::int64_t from, std::int64_t cells,
                  std::mt19937& random) {
  TestArray array(SHOAL_DOUBLE, {n, cells}, random);
  for_cells(Box::whole({n, cells}),
            [&](const Dims& i) { array.set(i, world_rank() == 0 ? value(first + i[0], from + i[1]) : -7); });
  return array;
}

}  // namespace

TEST_CASE("several records are put and got in one call") {
  std::mt19937 random(11);
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = new_file("format=" + format);
    def_dim(file, "time", SHOAL_UNLIMITED);
    def_dim(file, "x", 5);
    ok(shoal_def_var(file, "v", SHOAL_FLOAT, "time x", nullptr));
    ok(shoal_def_var(file, "w", SHOAL_INT, "time x", nullptr));
    ok(shoal_def_var(file, "t", SHOAL_DOUBLE, "time", nullptr));
    TestArray later = records(3, 4, 0, 5, random);
    ok(shoal_put(file, "v", later.c(), SHOAL_RECORDS(3, 4)));
    std::int64_t count = 0;
    ok(shoal_num_records(file, nullptr, &count));
    CHECK(count == 7);  // known to all ranks, unlike that of a put of all records
    TestArray one = records(2, 1, 0, 5, random);
    ok(shoal_put(file, "v", one.c(), SHOAL_RECORDS(2, 1)));
    TestArray times = records(6, 2, 0, 1, random);  // of this step, which v began, and one more
    const std::int64_t two = 2;
    shoal_array line = *times.c();
    line.ndims = 1;
    line.extents = &two;
    ok(shoal_put(file, "t", &line, SHOAL_RECORDS(SHOAL_NEXT, 2)));
    ok(shoal_num_records(file, nullptr, &count));
    CHECK(count == 8);
    // Part of each record; the rest of them has the fill value.
    const std::int64_t start[] = {1}, cells[] = {3};
    TestArray part = records(4, 3, 1, 3, random);
    ok(shoal_put(file, "w", part.c(), SHOAL_RECORDS_SECTION(4, 3, 1, start, cells)));
    ok(shoal_sync(file, 0));  // which fills what nobody put
    for (const bool again : {false, true}) {
      CAPTURE(again);
      if (!again && !in_one_file()) continue;
      if (again) file = reopened(file, in_one_file() ? SHOAL_WRITE : SHOAL_READ);
      TestArray got(SHOAL_DOUBLE, {5, 5}, random);
      ok(shoal_get(file, "v", got.c(), SHOAL_RECORDS(2, 5)));
      for_cells(Box::whole({5, 5}), [&](const Dims& i) { CHECK(got.get(i) == value(2 + i[0], i[1])); });
      TestArray inside(SHOAL_SHORT, {2, 3}, random);
      ok(shoal_get(file, "v", inside.c(), SHOAL_RECORDS_SECTION(4, 2, 1, start, cells)));
      for_cells(Box::whole({2, 3}),
                [&](const Dims& i) { CHECK(inside.get(i) == value(4 + i[0], 1 + i[1])); });
      TestArray w(SHOAL_DOUBLE, {4, 5}, random);
      ok(shoal_get(file, "w", w.c(), SHOAL_RECORDS(3, 4)));
      for_cells(Box::whole({4, 5}), [&](const Dims& i) {
        const bool put = i[0] > 0 && i[1] >= 1 && i[1] < 4;
        CHECK(w.get(i) == (put ? value(3 + i[0], i[1]) : fill_value(SHOAL_INT)));
      });
      TestArray t(SHOAL_DOUBLE, {2}, random);
      ok(shoal_get(file, "t", t.c(), SHOAL_RECORDS(6, 2)));
      CHECK(t.get({0}) == value(6, 0));
      CHECK(t.get({1}) == value(7, 0));
      TestArray first(SHOAL_DOUBLE, {1, 5}, random);
      ok(shoal_get(file, "v", first.c(), SHOAL_RECORDS(0, 1)));
      CHECK(first.get({0, 0}) == fill_value(SHOAL_FLOAT));
    }
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("several records: strings and text") {
  for (const auto& format : formats()) {
    if (!has_chunks(format)) continue;
    CAPTURE(format);
    const bool with_strings = has_strings(format) && driver() != "netcdf";
    shoal_dataset* file = new_file("format=" + format);
    def_dim(file, "time", SHOAL_UNLIMITED);
    def_dim(file, "length", 3);
    ok(shoal_def_var(file, "text", SHOAL_CHAR, "time length", nullptr));
    if (with_strings) ok(shoal_def_var(file, "strings", SHOAL_STRING, "time", nullptr));
    const std::int64_t extents[] = {2, 3};
    char text[] = "abcdef";
    const shoal_array characters = shoal_array_of(text, SHOAL_CHAR, 2, extents);
    ok(shoal_put(file, "text", &characters, SHOAL_RECORDS(1, 2)));
    const char* names[] = {"one", "another"};
    const shoal_array strings = shoal_array_of(names, SHOAL_STRING, 1, extents);
    if (with_strings) ok(shoal_put(file, "strings", &strings, SHOAL_RECORDS(1, 2)));
    file = reopened(file);
    char got[7] = "......";
    const shoal_array into = shoal_array_of(got, SHOAL_CHAR, 2, extents);
    ok(shoal_get(file, "text", &into, SHOAL_RECORDS(1, 2)));
    CHECK(std::string(got) == "abcdef");
    if (with_strings) {
      char* read[] = {nullptr, nullptr};
      const shoal_array to = shoal_array_of(read, SHOAL_STRING, 1, extents);
      ok(shoal_get(file, "strings", &to, SHOAL_RECORDS(1, 2)));
      CHECK(std::string(read[0]) == "one");
      CHECK(std::string(read[1]) == "another");
      shoal_free_strings(2, read);
    }
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("several records: what makes no sense is refused, on all ranks alike") {
  if (skipped(in_one_file(), "sets are not read before they are closed")) return;
  const std::string format = formats().front();
  shoal_dataset* file = new_file("format=" + format);
  const std::int64_t n = 3 * world_size();
  const Cut cut(MPI_COMM_WORLD, {n}, Box({3 * world_rank()}, {3}), {0}, {0});
  def_dim(file, "time", SHOAL_UNLIMITED);
  def_dim(file, "x", n);
  ok(shoal_def_var(file, "v", SHOAL_FLOAT, "time x", cut.handle()));
  ok(shoal_def_var(file, "fixed", SHOAL_FLOAT, "x", nullptr));
  TestArray two(SHOAL_FLOAT, {2, n});
  two.fill(4);
  TestArray tile(SHOAL_FLOAT, {2, 3});
  const auto refused = [&](int code, int wanted, const std::vector<std::string>& words) {
    if (world_size() > 1 && code == SHOAL_OK) code = shoal_sync(file, 0);
    fails(code, wanted, words);
    alike(code);
  };
  refused(shoal_write(file, "v", nullptr, tile.c(), SHOAL_RECORDS(0, 2)), SHOAL_INVALID_ARGUMENT,
          {"put and get"});
  refused(shoal_put(file, "fixed", two.c(), SHOAL_RECORDS(SHOAL_NO_RECORD, 2)), SHOAL_INVALID_ARGUMENT,
          {"fixed", "no record dimension"});
  refused(shoal_put(file, "v", two.c(), SHOAL_RECORDS(0, -2)), SHOAL_INVALID_ARGUMENT, {"-2"});
  refused(shoal_put(file, "v", two.c(), SHOAL_RECORDS(SHOAL_ALL_RECORDS, 2)), SHOAL_INVALID_ARGUMENT, {"2"});
  ok(shoal_put(file, "v", two.c(), SHOAL_RECORDS(0, 2)));
  refused(shoal_get(file, "v", two.c(), SHOAL_RECORDS(1, 2)), SHOAL_NOT_FOUND, {"no record 2", "2"});
  refused(shoal_get(file, "v", two.c(), SHOAL_RECORDS(0, INT64_MAX)), SHOAL_NOT_FOUND, {"no record 2"});
  refused(shoal_read(file, "v", cut.handle(), tile.c(), SHOAL_RECORDS(0, 2)), SHOAL_INVALID_ARGUMENT,
          {"put and get"});
  refused(shoal_get(file, "v", two.c(), SHOAL_RECORDS(0, 1)), SHOAL_INVALID_ARGUMENT, {"extents"});
  // One rank's array alone.
  TestArray wrong(SHOAL_FLOAT, {2, n + 1});
  refused(shoal_get(file, "v", world_rank() == world_size() - 1 ? wrong.c() : two.c(), SHOAL_RECORDS(0, 2)),
          SHOAL_INVALID_ARGUMENT, {"extents"});
  // A program of 0.2.0 has a shorter struct, and what lies behind it is not looked at.
  shoal_section older = SHOAL_SECTION_INIT;
  older.struct_size = offsetof(shoal_section, records);
  older.record = 1;
  older.records = 99;
  TestArray single(SHOAL_FLOAT, {n});
  ok(shoal_get(file, "v", single.c(), &older));
  CHECK(single.get({n - 1}) == 4);
  ok(shoal_close(&file, 0));
}

TEST_CASE("fill values in effect: given, default, none, of files that are opened") {
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = new_file("format=" + format);
    def_dim(file, "x", 5);
    ok(shoal_def_var(file, "given", SHOAL_SHORT, "x", nullptr));
    const int seven = 7;
    ok(shoal_def_fill(file, "given", SHOAL_INT, &seven));
    ok(shoal_def_var(file, "default", SHOAL_FLOAT, "x", nullptr));
    ok(shoal_def_var(file, "large", SHOAL_INT, "x", nullptr));
    ok(shoal_def_var(file, "none", SHOAL_DOUBLE, "x", nullptr));
    ok(shoal_def_fill(file, "none", 0, nullptr));
    ok(shoal_def_var(file, "text", SHOAL_CHAR, "x", nullptr));
    for (const int mode : std::vector<int>{-1, SHOAL_READ, SHOAL_WRITE}) {
      CAPTURE(mode);
      if (mode == SHOAL_WRITE && !in_one_file()) continue;
      if (mode >= 0) file = reopened(file, mode);
      int fill = -1;
      double value = 0;
      ok(shoal_inq_fill(file, "given", &fill, SHOAL_DOUBLE, &value));
      CHECK(fill == 1);
      CHECK(value == 7);
      ok(shoal_inq_fill(file, "default", &fill, SHOAL_DOUBLE, &value));
      CHECK(fill == 1);
      CHECK(value == fill_value(SHOAL_FLOAT));
      ok(shoal_inq_fill(file, "none", &fill, SHOAL_DOUBLE, &value));
      // The classic formats do not say it; netCDF-4 does.
      if (mode == -1 || (has_chunks(format) && in_one_file())) CHECK(fill == 0);
      CHECK(value == fill_value(SHOAL_DOUBLE));
      char character = 'x';
      ok(shoal_inq_fill(file, "text", nullptr, SHOAL_CHAR, &character));
      CHECK(character == '\0');
      fails(shoal_inq_fill(file, "text", &fill, SHOAL_DOUBLE, &value), SHOAL_TYPE);
      signed char byte = 0;
      fails(shoal_inq_fill(file, "large", &fill, SHOAL_BYTE, &byte), SHOAL_RANGE);
      fails(shoal_inq_fill(file, "gvien", &fill, SHOAL_DOUBLE, &value), SHOAL_NOT_FOUND,
            {"did you mean 'given'"});
      fails(shoal_inq_fill(file, "given", &fill, 99, &value), SHOAL_TYPE);
      ok(shoal_inq_fill(file, "given", nullptr, 0, nullptr));
    }
    ok(shoal_close(&file, 0));
    // Nothing is filled but what was given a value.
    file = new_file("format=" + format + ", fill=written");
    def_dim(file, "x", 5);
    ok(shoal_def_var(file, "given", SHOAL_SHORT, "x", nullptr));
    ok(shoal_def_fill(file, "given", SHOAL_INT, &seven));
    ok(shoal_def_var(file, "v", SHOAL_SHORT, "x", nullptr));
    int of_given = -1;
    int of_other = -1;
    ok(shoal_inq_fill(file, "given", &of_given, 0, nullptr));
    ok(shoal_inq_fill(file, "v", &of_other, 0, nullptr));
    CHECK(of_given == 1);
    CHECK(of_other == 0);
    ok(shoal_close(&file, 0));
    file = new_file("format=" + format + ", fill=false");
    def_dim(file, "x", 5);
    ok(shoal_def_var(file, "v", SHOAL_SHORT, "x", nullptr));
    int fill = -1;
    ok(shoal_inq_fill(file, "v", &fill, 0, nullptr));
    CHECK(fill == 0);
    ok(shoal_close(&file, 0));
  }
}
