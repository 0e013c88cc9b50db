// Datasets in several files, written by some ranks and read by the same number in other tiles.
#include <cstdio>
#include <filesystem>

#include "conformance/support.hpp"
#include "support/builds.hpp"
#include "support/random_tiles.hpp"

namespace shoal::testing {

namespace {

const Dims k_grid{12, 17};
const Dims k_stagger{12, 16};

Box box_of(const std::vector<Box>& tiles) {
  return tiles[static_cast<std::size_t>(world_rank())];
}

/// temp(time, z, y, x), u(yu, xu) of another decomposition, mask(y, x) and replicated values.
void write_set(const std::string& path, const std::string& settings, const std::vector<Box>& tiles,
               const std::vector<Box>& staggered) {
  const Dims none{0, 0};
  const Cut cut(MPI_COMM_WORLD, k_grid, box_of(tiles), none, none);
  const Cut cut_u(MPI_COMM_WORLD, k_stagger, box_of(staggered), none, none);
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, path.c_str(), settings.c_str(), &file));
  def_dim(file, "time", 0);
  def_dim(file, "z", 2);
  def_dim(file, "y", k_grid[0]);
  def_dim(file, "x", k_grid[1]);
  def_dim(file, "yu", k_stagger[0]);
  def_dim(file, "xu", k_stagger[1]);
  ok(shoal_def_var(file, "x", SHOAL_DOUBLE, "x", nullptr));
  ok(shoal_def_var(file, "time", SHOAL_DOUBLE, "time", nullptr));
  ok(shoal_def_var(file, "temp", SHOAL_FLOAT, "time z y x", cut.handle()));
  ok(shoal_def_var(file, "u", SHOAL_SHORT, "yu xu", cut_u.handle()));
  ok(shoal_def_var(file, "mask", SHOAL_BYTE, "y x", cut.handle()));
  ok(shoal_put_att(file, "temp", "units", SHOAL_CHAR, 1, "K"));
  TestArray x(SHOAL_DOUBLE, {k_grid[1]});
  for_cells(Box::whole({k_grid[1]}), [&](const Dims& i) { x.set(i, value_of(0, i)); });
  ok(shoal_put(file, "x", x.c(), nullptr));
  const auto write = [&](const char* name, int number, int type, const Box& tile, std::int64_t record) {
    Dims extents = tile.count;
    if (record >= 0) extents = joined(Dims{2}, extents);
    TestArray values(type, extents);
    for_cells(Box::whole(extents), [&](const Dims& i) {
      Dims global = i;
      for (int d = 0; d < 2; ++d)
        global[i.size() - 2 + d] += tile.first[d];
      if (record >= 0) global = joined(Dims{record}, global);
      values.set(i, value_of(number, global));
    });
    ok(shoal_write(file, name, nullptr, values.c(), SHOAL_RECORD(record)));
  };
  for (std::int64_t record = 0; record < 3; ++record) {
    double now = 10.0 * static_cast<double>(record);
    const shoal_array time = scalar(now, SHOAL_DOUBLE);
    ok(shoal_put(file, "time", &time, SHOAL_RECORD(record)));
    write("temp", 2, SHOAL_DOUBLE, box_of(tiles), record);
  }
  write("u", 3, SHOAL_INT, box_of(staggered), SHOAL_NO_RECORD);
  write("mask", 4, SHOAL_INT, box_of(tiles), SHOAL_NO_RECORD);
  ok(shoal_close(&file, 0));
}

bool is_owned(const std::vector<Box>& tiles, const Dims& cell) {
  return std::any_of(tiles.begin(), tiles.end(),
                     [&](const Box& tile) { return !tile.empty() && tile.contains(Box(cell, Dims(2, 1))); });
}

/// Everything in the set, in other tiles, with halos.
void check_set(const std::string& path, const std::string& settings, const std::vector<Box>& tiles,
               const std::vector<Box>& staggered, std::mt19937& random) {
  const Dims halo{1, 2};
  const auto others = random_tiles(k_grid, world_size(), true, random);
  const auto others_u = random_tiles(k_stagger, world_size(), true, random);
  const Cut cut(MPI_COMM_WORLD, k_grid, box_of(others), halo, halo);
  const Cut cut_u(MPI_COMM_WORLD, k_stagger, box_of(others_u), halo, halo);
  shoal_dataset* file = nullptr;
  ok(shoal_open(MPI_COMM_WORLD, path.c_str(), SHOAL_READ, (settings + ", quiet=true").c_str(), &file));
  shoal_file_info info = SHOAL_FILE_INFO_INIT;
  ok(shoal_inq_file(file, &info));
  CHECK(info.dimensions == 6);
  CHECK(info.variables == 5);  // none that was made
  int found = -1;
  CHECK(shoal_find_att(file, nullptr, "NumFilesInSet", &found) == SHOAL_NOT_FOUND);
  CHECK(shoal_find_att(file, "x", "domain_decomposition", &found) == SHOAL_NOT_FOUND);
  ok(shoal_find_att(file, "temp", "units", &found));

  TestArray x(SHOAL_DOUBLE, {k_grid[1]});
  ok(shoal_get(file, "x", x.c(), nullptr));
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < k_grid[1]; ++i) {
    const bool there = std::any_of(tiles.begin(), tiles.end(), [&](const Box& tile) {
      return !tile.empty() && i >= tile.first[1] && i < tile.end(1);
    });
    wrong += there && x.get({i}) != value_of(0, {i}) ? 1 : 0;
  }
  CHECK(wrong == 0);
  TestArray time(SHOAL_DOUBLE, {3});
  ok(shoal_get(file, "time", time.c(), SHOAL_RECORD(SHOAL_ALL_RECORDS)));
  CHECK(time.get({2}) == 20);
  TestArray mask(SHOAL_INT, k_grid);
  ok(shoal_get(file, "mask", mask.c(), nullptr));
  for_cells(Box::whole(k_grid), [&](const Dims& i) {
    wrong += mask.get(i) != (is_owned(tiles, i) ? value_of(4, i) : fill_value(SHOAL_BYTE)) ? 1 : 0;
  });
  CHECK(wrong == 0);

  const auto read = [&](const char* name, int number, int type, const Cut& in, std::int64_t record) {
    const Dims& shape = number == 3 ? k_stagger : k_grid;
    const auto& owners = number == 3 ? staggered : tiles;
    const Box around = in.around();
    const std::int64_t levels = record >= 0 ? 2 : 1;
    TestArray values(type, record >= 0 ? joined(Dims{2}, around.count) : around.count, random);
    values.fill(-5);
    ok(shoal_read(file, name, in.handle(), values.c(), SHOAL_RECORD(record)));
    if (in.tile().empty()) return;
    for (std::int64_t level = 0; level < levels; ++level)
      for_cells(Box::whole(around.count), [&](const Dims& i) {
        const Dims cell{i[0] + around.first[0], i[1] + around.first[1]};
        const bool inside = Box::whole(shape).contains(Box(cell, {1, 1}));
        double expected = -5;
        if (inside && is_owned(owners, cell))
          expected = value_of(number, record >= 0 ? Dims{record, level, cell[0], cell[1]} : cell);
        else if (inside)
          expected = fill_value(number == 2 ? SHOAL_FLOAT : SHOAL_SHORT);
        wrong += values.get(record >= 0 ? Dims{level, i[0], i[1]} : i) != expected ? 1 : 0;
      });
  };
  for (const std::int64_t record : {2, 0})
    read("temp", 2, SHOAL_DOUBLE, cut, record);
  read("u", 3, SHOAL_INT, cut_u, SHOAL_NO_RECORD);
  CHECK(wrong == 0);
  ok(shoal_close(&file, 0));
}

}  // namespace

TEST_CASE("what was written in files of processes and domains is read back in any tiles") {
  std::mt19937 random(42);
  for (const auto& format : formats())
    for (const bool holes : {false, true}) {
      CAPTURE(format);
      CAPTURE(holes);
      auto tiles = random_tiles(k_grid, world_size(), holes, random);
      auto staggered = random_tiles(k_stagger, world_size(), false, random);
      if (holes && box_of(tiles).empty() && world_size() == 1) tiles.front() = Box::whole(k_grid);
      // At least one rank has cells.
      if (std::all_of(tiles.begin(), tiles.end(), [](const Box& t) { return t.empty(); }))
        tiles.front() = Box({3, 2}, {4, 5});
      write_set("set.nc", "quiet=true, layout=process, format=" + format, tiles, staggered);
      check_set("set.nc", "", tiles, staggered, random);
      check_set("set.nc", "replicated_read=all", tiles, staggered, random);
    }
}

TEST_CASE("what a set cannot do, and what is missing, is the same error on all ranks") {
  std::mt19937 random(7);
  const auto tiles = random_tiles(k_grid, world_size(), false, random);
  const auto staggered = random_tiles(k_stagger, world_size(), false, random);
  write_set("set.nc", "layout=process", tiles, staggered);
  shoal_dataset* file = nullptr;
  int code = shoal_open(MPI_COMM_WORLD, "set.nc", SHOAL_WRITE, nullptr, &file);
  fails(code, SHOAL_STATE, {"set.nc", "combine"});
  alike(code);
  ok(shoal_open(MPI_COMM_WORLD, "set.nc", SHOAL_READ, nullptr, &file));
  fails(shoal_def_dim(file, "more", 3), SHOAL_STATE, {"reading"});
  // One rank asks for a record that is not there, another for something else.
  const Dims none{0, 0};
  const Cut cut(MPI_COMM_WORLD, k_grid, box_of(tiles), none, none);
  TestArray values(SHOAL_DOUBLE, joined(Dims{2}, box_of(tiles).count));
  code = shoal_read(file, "temp", cut.handle(), values.c(),
                    SHOAL_RECORD(world_rank() == world_size() - 1 ? 3 : 1));
  CHECK(code != SHOAL_OK);
  alike(code);
  if (world_size() > 1) {
    code = shoal_read(file, "temp", cut.handle(), values.c(), SHOAL_RECORD(world_rank() == 1 ? 2 : 1));
    fails(code, SHOAL_OUT_OF_STEP, {"same calls"});
    alike(code);
  }
  ok(shoal_read(file, "temp", cut.handle(), values.c(), SHOAL_RECORD(1)));
  ok(shoal_close(&file, 0));
  if (world_size() > 1) {
    if (world_rank() == 0) std::filesystem::remove("set.nc.0001");
    MPI_Barrier(MPI_COMM_WORLD);
    code = shoal_open(MPI_COMM_WORLD, "set.nc", SHOAL_READ, nullptr, &file);
    fails(code, SHOAL_NOT_FOUND, {"1 of " + std::to_string(world_size()), "number 1", "no file holds"});
    alike(code);
  }
}

TEST_CASE("a file that disappears while the set is open is the same error on all ranks") {
  std::mt19937 random(8);
  const auto tiles = random_tiles(k_grid, world_size(), false, random);
  const auto staggered = random_tiles(k_stagger, world_size(), false, random);
  write_set("set.nc", "layout=process", tiles, staggered);
  shoal_dataset* file = nullptr;
  ok(shoal_open(MPI_COMM_WORLD, "set.nc", SHOAL_READ, nullptr, &file));
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) std::filesystem::remove("set.nc.0000");
  MPI_Barrier(MPI_COMM_WORLD);
  const Dims none{0, 0};
  const Cut cut(MPI_COMM_WORLD, k_grid, box_of(tiles), none, none);
  TestArray values(SHOAL_DOUBLE, joined(Dims{2}, box_of(tiles).count));
  const int code = shoal_read(file, "temp", cut.handle(), values.c(), SHOAL_RECORD(1));
  fails(code, SHOAL_NOT_FOUND, {"set.nc.0000", "temp"});
  alike(code);
  ok(shoal_close(&file, 0));
}

TEST_CASE("cells are copied from a set into one file, by any driver, with no array in between") {
  std::mt19937 random(9);
  const auto tiles = random_tiles(k_grid, world_size(), false, random);
  const auto staggered = random_tiles(k_stagger, world_size(), false, random);
  const auto others = random_tiles(k_grid, world_size(), false, random);
  const Dims none{0, 0};
  const Cut cut(MPI_COMM_WORLD, k_grid, box_of(others), none, none);
  write_set("set.nc", "layout=process", tiles, staggered);
  for (const std::string settings : {"format=cdf5", "format=cdf2, direct_bytes=1", "format=netcdf4",
                                     "format=cdf5, slot_bytes=4096", "driver=gather, format=cdf1"}) {
    if (!in_this_build(settings)) continue;
    CAPTURE(settings);
    shoal_dataset* from = nullptr;
    shoal_dataset* file = nullptr;
    ok(shoal_open(MPI_COMM_WORLD, "set.nc", SHOAL_READ, nullptr, &from));
    int copies = 0;
    ok(shoal_copies(from, &copies));
    CHECK(copies == 1);
    ok(shoal_create(MPI_COMM_WORLD, "joined.nc", settings.c_str(), &file));
    def_dim(file, "time", 0);
    def_dim(file, "z", 2);
    def_dim(file, "y", k_grid[0]);
    def_dim(file, "x", k_grid[1]);
    ok(shoal_def_var(file, "t", SHOAL_DOUBLE, "time z y x", cut.handle()));
    ok(shoal_def_var(file, "mask", SHOAL_SHORT, "y x", nullptr));
    for (std::int64_t record = 0; record < 3; ++record)
      for (std::int64_t z = 0; z < 2; ++z) {
        const std::int64_t start[] = {z, 0, 0};
        const std::int64_t count[] = {1, k_grid[0], k_grid[1]};
        ok(shoal_copy(file, "t", nullptr, from, "temp", SHOAL_SECTION(record, 3, start, count)));
      }
    shoal_variable mask_here = -1, mask_there = -1;
    ok(shoal_find_var(file, "mask", &mask_here));
    ok(shoal_find_var(from, "mask", &mask_there));
    ok(shoal_copy_variable(file, mask_here, cut.handle(), from, mask_there, nullptr));
    ok(shoal_close(&file, 0));
    ok(shoal_close(&from, 0));

    ok(shoal_open(MPI_COMM_WORLD, "joined.nc", SHOAL_READ, nullptr, &file));
    const Dims shape = joined(Dims{3, 2}, k_grid);
    TestArray values(SHOAL_DOUBLE, shape);
    TestArray mask(SHOAL_DOUBLE, k_grid);
    ok(shoal_get(file, "t", values.c(), SHOAL_RECORD(SHOAL_ALL_RECORDS)));
    ok(shoal_get(file, "mask", mask.c(), nullptr));
    std::int64_t wrong = 0;
    for_cells(Box::whole(shape), [&](const Dims& i) { wrong += values.get(i) != value_of(2, i) ? 1 : 0; });
    for_cells(Box::whole(k_grid), [&](const Dims& i) { wrong += mask.get(i) != value_of(4, i) ? 1 : 0; });
    CHECK(wrong == 0);
    int code = shoal_copies(file, &copies);
    ok(code);
    CHECK(copies == 0);
    ok(shoal_create(MPI_COMM_WORLD, "again.nc", nullptr, &from));
    def_dim(from, "y", k_grid[0]);
    def_dim(from, "x", k_grid[1]);
    ok(shoal_def_var(from, "mask", SHOAL_SHORT, "y x", cut.handle()));
    code = shoal_copy(from, "mask", nullptr, file, "mask", nullptr);
    fails(code, SHOAL_NOT_SUPPORTED, {"joined.nc", "sets of files"});
    alike(code);
    ok(shoal_close(&from, 0));
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("what is missing while cells are copied comes out when the copy is closed, on all ranks") {
  std::mt19937 random(10);
  const auto tiles = random_tiles(k_grid, world_size(), false, random);
  const auto staggered = random_tiles(k_stagger, world_size(), false, random);
  const Dims none{0, 0};
  const Cut cut(MPI_COMM_WORLD, k_grid, box_of(tiles), none, none);
  for (const std::string settings : {"format=cdf5", "format=cdf5, direct_bytes=1"}) {
    CAPTURE(settings);
    write_set("set.nc", "layout=process", tiles, staggered);
    shoal_dataset* from = nullptr;
    shoal_dataset* file = nullptr;
    ok(shoal_open(MPI_COMM_WORLD, "set.nc", SHOAL_READ, nullptr, &from));
    if (world_rank() == 0) std::filesystem::remove("set.nc.0000");
    ok(shoal_create(MPI_COMM_WORLD, "joined.nc", settings.c_str(), &file));
    def_dim(file, "y", k_grid[0]);
    def_dim(file, "x", k_grid[1]);
    def_dim(file, "wrong", 5);
    ok(shoal_def_var(file, "mask", SHOAL_SHORT, "y x", cut.handle()));
    ok(shoal_copy(file, "mask", nullptr, from, "mask", nullptr));
    int code = shoal_sync(file, 0);
    fails(code, SHOAL_NOT_FOUND, {"set.nc.0000", "mask"});
    alike(code);
    if (world_size() > 1) {  // arguments of one rank that are bad
      ok(shoal_copy(file, "mask", nullptr, from, world_rank() == 1 ? "nothing" : "u", nullptr));
      code = shoal_sync(file, 0);
      CHECK(code != SHOAL_OK);
      alike(code);
    }
    shoal_close(&file, 0);
    ok(shoal_close(&from, 0));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_CASE("cells are copied from a set into another set, and only to where they are") {
  std::mt19937 random(12);
  const auto tiles = random_tiles(k_grid, world_size(), false, random);
  const auto staggered = random_tiles(k_stagger, world_size(), false, random);
  const auto others = random_tiles(k_grid, world_size(), false, random);
  const Dims none{0, 0};
  const Cut cut(MPI_COMM_WORLD, k_grid, box_of(others), none, none);
  write_set("set.nc", "layout=process", tiles, staggered);
  shoal_dataset* from = nullptr;
  shoal_dataset* file = nullptr;
  ok(shoal_open(MPI_COMM_WORLD, "set.nc", SHOAL_READ, nullptr, &from));
  ok(shoal_create(MPI_COMM_WORLD, "copies.nc", "layout=process", &file));
  def_dim(file, "z", 2);
  def_dim(file, "y", k_grid[0]);
  def_dim(file, "x", k_grid[1]);
  ok(shoal_def_var(file, "mask", SHOAL_SHORT, "y x", cut.handle()));
  ok(shoal_copy(file, "mask", nullptr, from, "mask", nullptr));
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, "copies.nc", SHOAL_READ, nullptr, &file));
  TestArray mask(SHOAL_DOUBLE, k_grid);
  ok(shoal_get(file, "mask", mask.c(), nullptr));
  std::int64_t wrong = 0;
  for_cells(Box::whole(k_grid), [&](const Dims& i) { wrong += mask.get(i) != value_of(4, i) ? 1 : 0; });
  CHECK(wrong == 0);
  ok(shoal_close(&file, 0));

  // A variable of other dimensions, and a source that is none.
  ok(shoal_create(MPI_COMM_WORLD, "copies.nc", "format=cdf5", &file));
  def_dim(file, "z", 2);
  def_dim(file, "y", k_grid[0]);
  def_dim(file, "x", k_grid[1]);
  ok(shoal_def_var(file, "deep", SHOAL_SHORT, "z y x", cut.handle()));
  const int now = shoal_copy(file, "deep", nullptr, from, "mask", nullptr);
  int code = world_size() > 1 || now == SHOAL_OK ? shoal_sync(file, 0) : now;
  fails(code, SHOAL_INVALID_ARGUMENT, {"set.nc", "mask"});
  alike(code);
  code = shoal_copy(file, "deep", nullptr, world_rank() == 0 ? nullptr : from, "mask", nullptr);
  if (world_size() > 1) {
    ok(code);
    code = shoal_sync(file, 0);
  }
  fails(code, SHOAL_INVALID_ARGUMENT, {"from"});
  alike(code);
  shoal_close(&file, 0);
  ok(shoal_close(&from, 0));
}

TEST_CASE("references and masters from C: written whole or not at all, by one rank") {
  namespace fs = std::filesystem;
  std::vector<Box> tiles;
  for (int r = 0; r < world_size(); ++r) {  // rows, so that all tiles are alike in the last dimension
    const std::int64_t begin = k_grid[0] * r / world_size();
    tiles.push_back(Box({begin, 0}, {k_grid[0] * (r + 1) / world_size() - begin, k_grid[1]}));
  }
  std::vector<Box> staggered = tiles;
  for (auto& tile : staggered)
    tile.count[1] = k_stagger[1];
  for (const std::string format : {"cdf2", "netcdf4"}) {
    if (!has_format(format)) continue;
    CAPTURE(format);
    write_set("set.nc", "layout=process, quiet=true, format=" + format, tiles, staggered);
    if (world_rank() != 0) continue;
    fs::remove("all.json");
    fs::remove("all.nc");
    const char* set = "set.nc";
    ok(shoal_write_reference(&set, 1, "all.json"));
    CHECK(fs::file_size("all.json") > 1000);
    const int code = shoal_write_master(&set, 1, "all.nc");
    if (format == "netcdf4") {
      ok(code);
      shoal_dataset* file = nullptr;
      ok(shoal_open(MPI_COMM_SELF, "all.nc", SHOAL_READ, "driver=native", &file));
      TestArray temp(SHOAL_FLOAT, {3, 2, k_grid[0], k_grid[1]});
      ok(shoal_get(file, "temp", temp.c(), SHOAL_RECORD(SHOAL_ALL_RECORDS)));
      std::int64_t wrong = 0;
      for_cells(Box::whole({3, 2, k_grid[0], k_grid[1]}),
                [&](const Dims& i) { wrong += temp.get(i) != value_of(2, i) ? 1 : 0; });
      CHECK(wrong == 0);
      ok(shoal_close(&file, 0));
    } else {
      fails(code, SHOAL_NOT_SUPPORTED, {"set.nc.0000", "netCDF-4", "reference"});
      CHECK(!fs::exists("all.nc"));
    }
  }
  fails(shoal_write_reference(nullptr, 1, "all.json"), SHOAL_INVALID_ARGUMENT, {"paths"});
  const char* set = "set.nc";
  fails(shoal_write_reference(&set, 0, "all.json"), SHOAL_INVALID_ARGUMENT, {"number of paths is 0"});
  fails(shoal_write_reference(&set, 1, nullptr), SHOAL_INVALID_ARGUMENT, {"out"});
  const char* nothing = "no_such.nc";
  fails(shoal_write_master(&nothing, 1, "x.nc"), SHOAL_NOT_FOUND, {"no_such.nc"});
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace shoal::testing
