// SHOAL_NEXT and shoal_num_records: a loop that appends.
#include <filesystem>

#include "conformance/support.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

Cut rows(std::int64_t n) {
  const std::int64_t from = n * world_rank() / world_size();
  const std::int64_t to = n * (world_rank() + 1) / world_size();
  return {MPI_COMM_WORLD, {n}, Box({from}, {to - from}), {0}, {0}};
}

std::int64_t records(shoal_dataset* file, const char* variable = nullptr) {
  std::int64_t n = -1;
  ok(shoal_num_records(file, variable, &n));
  return n;
}

int write_next(shoal_dataset* file, const char* name, const Cut& cut, double value,
               std::int64_t record = SHOAL_NEXT) {
  TestArray array(SHOAL_DOUBLE, cut.tile().count);
  array.fill(value);
  return shoal_write(file, name, cut.handle(), array.c(), SHOAL_RECORD(record));
}

int put_next(shoal_dataset* file, double time, std::int64_t record = SHOAL_NEXT) {
  const shoal_array one = scalar(time, SHOAL_DOUBLE);
  return shoal_put(file, "time", &one, SHOAL_RECORD(record));
}

std::vector<double> first_cells(shoal_dataset* file, const char* name, std::int64_t n) {
  std::vector<double> found;
  for (std::int64_t record = 0; record < records(file); ++record) {
    TestArray row(SHOAL_DOUBLE, name == std::string("time") ? Dims{} : Dims{n});
    ok(shoal_get(file, name, row.c(), SHOAL_RECORD(record)));
    found.push_back(name == std::string("time") ? row.get({}) : row.get({0}));
  }
  return found;
}

shoal_dataset* made(const std::string& format, const Cut& cut, std::int64_t n) {
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, "next.nc", ("format=" + format).c_str(), &file));
  CHECK(records(file) == 0);
  def_dim(file, "t", SHOAL_UNLIMITED);
  def_dim(file, "x", n);
  ok(shoal_def_var(file, "time", SHOAL_DOUBLE, "t", nullptr));
  ok(shoal_def_var(file, "a", SHOAL_DOUBLE, "t x", cut.handle()));
  ok(shoal_def_var(file, "b", SHOAL_DOUBLE, "t x", cut.handle()));
  ok(shoal_def_var(file, "fixed", SHOAL_DOUBLE, "x", cut.handle()));
  return file;
}

}  // namespace

TEST_CASE("each variable of a step is written with SHOAL_NEXT, and a file is appended to alike") {
  const std::int64_t n = 2 * world_size() + 1;
  const Cut cut = rows(n);
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = made(format, cut, n);
    const int runs = in_one_file() ? 2 : 1;
    for (int run = 0; run < runs; ++run) {
      for (int step = 2 * run; step < 2 * run + 2; ++step) {
        ok(put_next(file, step));
        CHECK(records(file) == step + 1);
        ok(write_next(file, "a", cut, 10 + step));
        if (step % 2 == 0) ok(shoal_sync(file, 0));  // in the midst of a step
        if (step != 1) ok(write_next(file, "b", cut, 20 + step));
        CHECK(records(file, "b") == step + 1);
      }
      CHECK(records(file, "fixed") == 0);
      ok(shoal_close(&file, 0));
      const bool again = run + 1 < runs;
      ok(shoal_open(MPI_COMM_WORLD, "next.nc", again ? SHOAL_WRITE : SHOAL_READ, nullptr, &file));
      CHECK(records(file) == 2 * run + 2);
    }
    const double none = fill_value(SHOAL_DOUBLE);
    const auto part = [&](std::vector<double> all) {
      all.resize(static_cast<std::size_t>(2 * runs));
      return all;
    };
    CHECK(first_cells(file, "time", n) == part({0, 1, 2, 3}));
    CHECK(first_cells(file, "a", n) == part({10, 11, 12, 13}));
    CHECK(first_cells(file, "b", n) == part({20, none, 22, 23}));
    TestArray row(SHOAL_DOUBLE, {n});
    const int code = shoal_get(file, "a", row.c(), SHOAL_RECORD(SHOAL_NEXT));
    fails(code, SHOAL_INVALID_ARGUMENT, {"SHOAL_NEXT", "writing"});
    alike(code);
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("SHOAL_NEXT beside numbers, and where there is none") {
  const std::int64_t n = world_size();
  const Cut cut = rows(n);
  shoal_dataset* file = made(formats().front(), cut, n);
  ok(put_next(file, 4, 4));
  ok(write_next(file, "a", cut, 14));     // 4, with the time
  ok(write_next(file, "a", cut, 12, 2));  // an earlier one changes nothing
  ok(write_next(file, "b", cut, 24));     // 4
  ok(write_next(file, "b", cut, 25));     // 5 begins
  ok(write_next(file, "a", cut, 15));     // 5
  ok(write_next(file, "a", cut, 16));     // 6
  CHECK(records(file) == 7);
  ok(shoal_sync(file, 0));
  const int code = write_next(file, "fixed", cut, 0);
  if (world_size() == 1) {
    fails(code, SHOAL_INVALID_ARGUMENT, {"SHOAL_NEXT", "no record dimension"});
  } else {
    ok(code);
    const int agreed = shoal_sync(file, 0);
    fails(agreed, SHOAL_INVALID_ARGUMENT, {"SHOAL_NEXT", "no record dimension"});
    alike(agreed);
    // Now no step is under way any more.
    ok(write_next(file, "b", cut, 27));
    CHECK(records(file) == 8);
  }
  if (world_size() > 1) {
    TestArray times(SHOAL_DOUBLE, {9});
    times.fill(1);
    ok(shoal_put(file, "time", times.c(), SHOAL_RECORD(SHOAL_ALL_RECORDS)));
    std::int64_t found = 0;
    fails(shoal_num_records(file, nullptr, &found), SHOAL_STATE, {"sync"});
    ok(shoal_sync(file, 0));
    CHECK(records(file) == 9);
    ok(put_next(file, 9));               // 9 begins: the time had all records
    ok(write_next(file, "b", cut, 28));  // with it, on all ranks
    ok(shoal_sync(file, 0));
    CHECK(records(file) == 10);
  }
  fails(shoal_num_records(file, "nil", nullptr), SHOAL_INVALID_ARGUMENT, {"out"});
  std::int64_t found = 0;
  fails(shoal_num_records(file, "nil", &found), SHOAL_NOT_FOUND, {"nil"});
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, "next.nc", SHOAL_READ, nullptr, &file));
  CHECK(first_cells(file, "a", n)[4] == 14);
  CHECK(first_cells(file, "a", n)[5] == 15);
  CHECK(first_cells(file, "a", n)[6] == 16);
  CHECK(first_cells(file, "b", n)[4] == 24);
  CHECK(first_cells(file, "b", n)[5] == 25);
  ok(shoal_close(&file, 0));
}

TEST_CASE("the number of records where dimensions of several grow") {
  if (skipped(has_format("netcdf4"), "it has not the format netcdf4")) return;
  if (skipped(in_one_file(), "a set has one record dimension")) return;
  const std::int64_t n = world_size();
  const Cut cut = rows(n);
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, "next.nc", full_settings().c_str(), &file));
  def_dim(file, "t", SHOAL_UNLIMITED);
  def_dim(file, "day", SHOAL_UNLIMITED);
  def_dim(file, "x", n);
  ok(shoal_def_var(file, "a", SHOAL_DOUBLE, "t x", cut.handle()));
  ok(shoal_def_var(file, "b", SHOAL_DOUBLE, "day x", cut.handle()));
  ok(write_next(file, "a", cut, 0));
  ok(write_next(file, "a", cut, 0));
  ok(write_next(file, "b", cut, 0));
  CHECK(records(file, "a") == 2);
  CHECK(records(file, "b") == 1);
  std::int64_t found = 0;
  fails(shoal_num_records(file, nullptr, &found), SHOAL_INVALID_ARGUMENT, {"'t', 'day'", "variable"});
  ok(shoal_close(&file, 0));
}

TEST_CASE("steps that a program begins: SHOAL_NEXT is their record for all variables") {
  const std::int64_t n = world_size() + 1;
  const Cut cut = rows(n);
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = made(format, cut, n);
    for (std::int64_t step = 0; step < 4; ++step) {
      std::int64_t record = -1;
      ok(shoal_begin_step(file, nullptr));
      ok(shoal_begin_step(file, &record));  // nothing was written in the step before: the same record
      CHECK(record == step);
      const auto value = static_cast<double>(step);
      if (step != 2) ok(write_next(file, "a", cut, 1 + value));  // not in every step, and first
      ok(put_next(file, value));
      ok(write_next(file, "b", cut, 20 + value));
      if (step == 3) ok(write_next(file, "b", cut, 30 + value));  // once more
      CHECK(records(file) == step + 1);
    }
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, "next.nc", SHOAL_READ, nullptr, &file));
    CHECK(first_cells(file, "time", n) == std::vector<double>{0, 1, 2, 3});
    CHECK(first_cells(file, "a", n) == std::vector<double>{1, 2, fill_value(SHOAL_DOUBLE), 4});
    CHECK(first_cells(file, "b", n) == std::vector<double>{20, 21, 22, 33});
    fails(shoal_begin_step(file, nullptr), SHOAL_STATE, {"next.nc", "read"});
    ok(shoal_close(&file, 0));
  }
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, "no_records.nc", ("format=" + formats().front()).c_str(), &file));
  fails(shoal_begin_step(file, nullptr), SHOAL_INVALID_ARGUMENT, {"no_records.nc", "no record dimension"});
  ok(shoal_close(&file, 0));
}

TEST_CASE("SHOAL_APPEND opens what is there, and makes what is not") {
  if (!in_one_file()) return;
  const std::int64_t n = world_size() + 1;
  const Cut cut = rows(n);
  if (world_rank() == 0) std::filesystem::remove_all("appended.nc");  // of a run before
  MPI_Barrier(MPI_COMM_WORLD);
  const std::string settings = "format=" + formats().front();  // passed over by the second run
  for (std::int64_t run = 0; run < 2; ++run) {
    shoal_dataset* file = nullptr;
    ok(shoal_open(MPI_COMM_WORLD, "appended.nc", SHOAL_APPEND, settings.c_str(), &file));
    shoal_file_info info = SHOAL_FILE_INFO_INIT;
    ok(shoal_inq_file(file, &info));
    CHECK(info.writable == 1);
    CHECK(info.format == formats().front());
    CHECK(info.variables == (run == 0 ? 0 : 1));
    if (run == 0) {
      def_dim(file, "t", SHOAL_UNLIMITED);
      ok(shoal_def_var(file, "time", SHOAL_DOUBLE, "t", nullptr));
    }
    ok(put_next(file, static_cast<double>(run)));
    ok(shoal_close(&file, 0));
  }
  shoal_dataset* file = nullptr;
  int code = shoal_open(MPI_COMM_WORLD, "appended.nc", SHOAL_APPEND, "exists=replace", &file);
  fails(code, SHOAL_SETTING, {"exists=replace", "append"});
  alike(code);
  code = shoal_open(MPI_COMM_WORLD, "no_such_folder/a.nc", SHOAL_APPEND, settings.c_str(), &file);
  fails(code, code == SHOAL_PERMISSION ? code : SHOAL_NOT_FOUND, {"no_such_folder"});  // as netCDF has it
  alike(code);
  if (world_size() > 1) {
    code = shoal_open(MPI_COMM_WORLD, "not_there.nc", world_rank() == 0 ? SHOAL_WRITE : SHOAL_APPEND, nullptr,
                      &file);
    fails(code, SHOAL_OUT_OF_STEP, {"open to write", "open or create"});
    alike(code);
  }
  code = shoal_open(MPI_COMM_WORLD, "appended.nc", 3, nullptr, &file);
  fails(code, SHOAL_INVALID_ARGUMENT, {"mode is 3", "SHOAL_APPEND (2)"});
  alike(code);
  ok(shoal_open(MPI_COMM_WORLD, "appended.nc", SHOAL_READ, nullptr, &file));
  CHECK(first_cells(file, "time", n) == std::vector<double>{0, 1});
  ok(shoal_close(&file, 0));
}
