// SPDX-License-Identifier: BSD-3-Clause
// Variables that are said to be cut (shoal_def_cut) before a decomposition is known: they get what variables
// with one have, and are put and written as these.
#include "conformance/support.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

constexpr const char* k_path = "def_cut.nc";
constexpr std::int64_t k_each = 5, k_rows = 6;

std::int64_t columns() {
  return k_each * world_size();
}

Cut tiles() {
  return {
      MPI_COMM_WORLD, {k_rows, columns()}, Box({0, k_each * world_rank()}, {k_rows, k_each}), {0, 0}, {0, 0}};
}

shoal_dataset* create(const std::string& settings, const Cut& cut) {
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_path, settings.c_str(), &file));
  def_dim(file, "time", SHOAL_UNLIMITED);
  def_dim(file, "y", k_rows);
  def_dim(file, "x", columns());
  // Files of a set are cut as this one is.
  ok(shoal_def_var(file, "cut", SHOAL_INT, "y x", cut.handle()));
  return file;
}

void write(shoal_dataset* file, const char* name, const Cut& cut, double value, std::int64_t record) {
  TestArray array(SHOAL_DOUBLE, cut.tile().count);
  for_cells(Box::whole(cut.tile().count), [&](const Dims& i) {
    array.set(i, value + static_cast<double>(i[0] * 1000 + i[1] + cut.tile().first[1]));
  });
  ok(shoal_write(file, name, cut.handle(), array.c(), SHOAL_RECORD(record)));
}

/// What write gives, but for the first `put` rows, which hold 7.
void check(shoal_dataset* file, const char* name, double value, std::int64_t record, std::int64_t put = 0) {
  CAPTURE(name);
  CAPTURE(record);
  TestArray all(SHOAL_DOUBLE, {k_rows, columns()});
  ok(shoal_get(file, name, all.c(), SHOAL_RECORD(record)));
  int wrong = 0;
  for_cells(Box::whole({k_rows, columns()}), [&](const Dims& i) {
    const double must = i[0] < put ? 7 : value + static_cast<double>(i[0] * 1000 + i[1]);
    wrong += all.get(i) != must ? 1 : 0;
  });
  CHECK(wrong == 0);
}

/// Rank 0's sevens to the first rows.
void put_rows(shoal_dataset* file, const char* name, std::int64_t rows, std::int64_t record) {
  const std::int64_t start[] = {0, 0};
  const std::int64_t count[] = {rows, columns()};
  TestArray values(SHOAL_DOUBLE, {rows, columns()});
  values.fill(world_rank() == 0 ? 7 : -1000);
  ok(shoal_put(file, name, values.c(), SHOAL_SECTION(record, 2, start, count)));
}

shoal_var_info info_of(const shoal_dataset* file, const char* name) {
  int at = -1;
  ok(shoal_find_var(file, name, &at));
  shoal_var_info info = SHOAL_VAR_INFO_INIT;
  ok(shoal_inq_var(file, at, &info));
  return info;
}

bool has_attribute(const shoal_dataset* file, const char* variable, const char* name) {
  int at = -1;
  return shoal_find_att(file, variable, name, &at) == SHOAL_OK;
}

/// Parallel HDF5 writes compressed variables in collective calls alone.
bool compresses(const std::string& format) {
  const char* access = std::getenv("SHOAL_ACCESS");
  const bool independent = access != nullptr && std::string(access) == "independent";
  return has_chunks(format) && !(driver() == "netcdf" && independent);
}

}  // namespace

TEST_CASE("def_cut: chunks, compression and quantization are those of variables with a decomposition") {
  const Cut cut = tiles();
  for (const auto& format : formats()) {
    CAPTURE(format);
    std::string settings = "format=" + format + ", quantize=bitround:9";
    if (compresses(format)) settings += ", compression=shuffle+deflate:1, chunks=1x2x5";
    shoal_dataset* file = create(settings, cut);
    for (const char* name : {"plain", "later", "own", "own_after", "cut_too"})
      ok(shoal_def_var(file, name, SHOAL_FLOAT, "time y x", name[0] == 'c' ? cut.handle() : nullptr));
    const std::int64_t chunk[] = {1, 3, 4};
    const auto choose = [&](const char* name) {
      if (compresses(format)) {
        ok(shoal_def_compression(file, name, "none"));
        ok(shoal_def_chunks(file, name, chunk));
      }
      ok(shoal_def_quantize(file, name, "none"));
    };
    choose("own");
    for (const char* name : {"later", "own", "own_after", "cut_too"})
      ok(shoal_def_cut(file, name));
    ok(shoal_def_cut(file, "later"));  // once more is no error
    choose("own_after");
    ok(shoal_end_define(file));
    const auto look = [&] {
      CHECK(has_attribute(file, "later", "quantization_nsb"));
      CHECK(has_attribute(file, "cut_too", "quantization_nsb"));
      for (const char* name : {"plain", "own", "own_after"})
        CHECK_FALSE(has_attribute(file, name, "quantization_nsb"));
      if (!compresses(format)) return;
      for (const char* name : {"later", "cut_too"}) {
        CAPTURE(name);
        const auto info = info_of(file, name);
        CHECK(std::string(info.filters) == (format == "zarr" ? "blosc:zlib:1+crc32c" : "shuffle+deflate:1"));
        REQUIRE(info.chunks != nullptr);
        CHECK(info.chunks[1] == 2);
        if (in_one_file()) CHECK(info.chunks[2] == 5);
      }
      for (const char* name : {"plain", "own", "own_after"}) {
        CAPTURE(name);
        const auto info = info_of(file, name);
        CHECK(std::string(info.filters) == "none");
        if (name[0] == 'p') continue;  // its chunks are a library's own
        REQUIRE(info.chunks != nullptr);
        if (in_one_file()) CHECK(info.chunks[2] == 4);
      }
    };
    look();
    for (const char* name : {"later", "own", "own_after", "cut_too"})
      write(file, name, cut, 0, 0);  // so small that nothing is rounded
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
    if (in_one_file()) look();
    for (const char* name : {"own", "own_after"})
      check(file, name, 0, 0);
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("def_cut: puts before and after writes, records that come later, with each kind of fill") {
  const Cut cut = tiles();
  for (const auto& format : formats())
    for (const char* fill : {"true", "false", "written"}) {
      CAPTURE(format);
      CAPTURE(fill);
      shoal_dataset* file = create("format=" + format + ", fill=" + fill, cut);
      ok(shoal_def_var(file, "grows", SHOAL_DOUBLE, "time y x", nullptr));
      ok(shoal_def_var(file, "fixed", SHOAL_FLOAT, "y x", nullptr));
      ok(shoal_def_var(file, "put_alone", SHOAL_FLOAT, "y x", nullptr));
      for (const char* name : {"grows", "fixed", "put_alone"})
        ok(shoal_def_cut(file, name));
      put_rows(file, "fixed", k_rows, SHOAL_NO_RECORD);  // is written over
      put_rows(file, "put_alone", k_rows, SHOAL_NO_RECORD);
      put_rows(file, "grows", 2, 0);
      write(file, "fixed", cut, 1, SHOAL_NO_RECORD);
      write(file, "grows", cut, 2, 0);
      put_rows(file, "grows", 1, 0);  // over what was written
      write(file, "grows", cut, 3, 1);
      ok(shoal_sync(file, 0));
      put_rows(file, "grows", 3, 1);
      put_rows(file, "fixed", 2, SHOAL_NO_RECORD);
      write(file, "grows", cut, 4, 2);
      ok(shoal_close(&file, 0));
      ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
      check(file, "fixed", 1, SHOAL_NO_RECORD, 2);
      check(file, "put_alone", 0, SHOAL_NO_RECORD, k_rows);
      check(file, "grows", 2, 0, 1);
      check(file, "grows", 3, 1, 3);
      check(file, "grows", 4, 2);
      ok(shoal_close(&file, 0));
    }
}

TEST_CASE("def_cut: a put of many cells is stored before what other ranks write after it") {
  if (skipped(world_size() > 1, "it needs several ranks")) return;
  const std::int64_t width = 1 << 20;
  const Dims shape{k_rows, world_size() * width};
  const Cut cut(MPI_COMM_WORLD, shape, Box({0, world_rank() * width}, {k_rows, width}), {0, 0}, {0, 0});
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_path, ("format=" + formats().back()).c_str(), &file));
  def_dim(file, "y", shape[0]);
  def_dim(file, "x", shape[1]);
  ok(shoal_def_var(file, "cut", SHOAL_INT, "y x", cut.handle()));
  ok(shoal_def_var(file, "put", SHOAL_INT, "y x", nullptr));
  ok(shoal_def_cut(file, "put"));
  TestArray seven(SHOAL_INT, shape);
  seven.fill(7);
  TestArray three(SHOAL_INT, cut.tile().count);
  three.fill(3);
  ok(shoal_put(file, "put", seven.c(), nullptr));
  ok(shoal_write(file, "put", cut.handle(), three.c(), nullptr));
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
  ok(shoal_read(file, "put", cut.handle(), three.c(), nullptr));
  ok(shoal_close(&file, 0));
  CHECK(three.others(3) == 0);
}

TEST_CASE("def_cut: what is refused, and changes nothing") {
  const Cut cut = tiles();
  const auto& format = formats().back();
  shoal_dataset* file = create("format=" + format, cut);
  ok(shoal_def_var(file, "scalar", SHOAL_FLOAT, "", nullptr));
  ok(shoal_def_var(file, "times", SHOAL_DOUBLE, "time", nullptr));
  ok(shoal_def_var(file, "field", SHOAL_DOUBLE, "y x", nullptr));
  fails(shoal_def_cut(file, "scalar"), SHOAL_INVALID_ARGUMENT, {"scalar"});
  fails(shoal_def_cut(file, "times"), SHOAL_INVALID_ARGUMENT, {"times", "record"});
  fails(shoal_def_cut(file, "feild"), SHOAL_NOT_FOUND, {"feild", "field"});
  fails(shoal_def_cut(file, nullptr), SHOAL_INVALID_ARGUMENT, {"variable"});
  fails(shoal_def_cut(nullptr, "field"), SHOAL_STATE, {"NULL"});
  ok(shoal_end_define(file));
  const int late = shoal_def_cut(file, "field");
  fails(late, SHOAL_STATE, {"field"});
  alike(late);
  fails(shoal_def_cut(file, "cut"), SHOAL_STATE, {"cut"});
  ok(shoal_close(&file, 0));
  if (world_size() == 1) return;
  // As all definitions, it is to be the same on all ranks.
  file = create("format=" + format, cut);
  ok(shoal_def_var(file, "field", SHOAL_DOUBLE, "y x", nullptr));
  if (world_rank() != 1) ok(shoal_def_cut(file, "field"));
  const int code = shoal_end_define(file);
  fails(code, SHOAL_OUT_OF_STEP, {"rank 1", "'field'", "def_cut"});
  alike(code);
  ok(shoal_close(&file, 0));
}

TEST_CASE("def_cut: text of any length is not cut") {
  if (skipped(has_full_format() && driver() != "netcdf", "strings go to format netcdf4, and not in parallel"))
    return;
  shoal_dataset* file = create(full_settings().c_str(), tiles());
  ok(shoal_def_var(file, "titles", SHOAL_STRING, "y", nullptr));
  fails(shoal_def_cut(file, "titles"), SHOAL_NOT_SUPPORTED, {"titles", "strings"});
  ok(shoal_close(&file, 0));
}
