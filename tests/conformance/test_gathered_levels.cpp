// Water points of grids with levels (CF: compression by gathering): masks of three dimensions, lists of two
// grids in one file, and masks of more dimensions than the list that is written.
#include "conformance/support.hpp"
#include "support/random_maps.hpp"
#include "support/random_tiles.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

constexpr std::int64_t k_lev = 3, k_lat = 11, k_lon = 23, k_area = k_lat * k_lon;
const Dims k_flat{k_lat, k_lon};
const Dims k_deep{k_lev, k_lat, k_lon};
constexpr double k_land = -9;

/// Land at the surface is land below, and there is more of it.
bool is_masked(std::int64_t level, std::int64_t cell) {
  return (cell / 4 + cell / k_lon) % 3 == 0 || (level > 0 && cell % (5 - level) == 0);
}

bool is_masked(std::int64_t cell) {  // of the grid with levels
  return is_masked(cell / k_area, cell % k_area);
}

double value(std::int64_t record, std::int64_t cell) {
  return value_of(4, {record, cell});
}

/// A decomposition of a grid and its masked counterpart, and the cells of the arrays that these take.
struct Grid {
  Grid() = default;
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;
  ~Grid() {
    shoal_decomposition_free(&all);
    shoal_decomposition_free(&masked);
  }
  template <class Land>
  void mask(Land&& land) {
    std::vector<std::int8_t> flags;
    for (const auto cell : cells)
      flags.push_back(cell >= 0 && !land(cell) ? 1 : 0);
    const shoal_array array = shoal_array_of(flags.data(), SHOAL_BYTE, extents.size(), extents.data());
    shoal_decomposition_free(&masked);
    ok(shoal_masked(MPI_COMM_WORLD, all, &array, &masked));
  }
  shoal_decomposition* all = nullptr;
  shoal_decomposition* masked = nullptr;
  std::vector<std::int64_t> cells;
  Dims extents;
};

/// All levels of the tile; levels 0: of a grid without them.
void make_block(Grid& grid, const Box& tile, bool levels) {
  Box box = tile;
  if (levels) box = Box(joined(Dims{0}, tile.first), joined(Dims{tile.empty() ? 0 : k_lev}, tile.count));
  const Dims& shape = levels ? k_deep : k_flat;
  ok(shoal_block(MPI_COMM_WORLD, shape.size(), shape.data(), box.first.data(), box.count.data(), nullptr,
                 nullptr, &grid.all));
  for_cells(box, [&](const Dims& i) { grid.cells.push_back(position_in(i, Box::whole(shape))); });
  grid.extents = box.count;
  grid.mask([](std::int64_t cell) { return is_masked(cell); });
}

void make_map(Grid& grid, bool levels, std::int64_t runs, std::mt19937& random) {
  const Dims& shape = levels ? k_deep : k_flat;
  grid.cells = random_maps(volume(shape), world_size(), {0, 10, runs, false},
                           random)[static_cast<std::size_t>(world_rank())];
  const auto n = static_cast<std::int64_t>(grid.cells.size());
  ok(shoal_map(MPI_COMM_WORLD, shape.size(), shape.data(), 0, n, grid.cells.data(), &grid.all));
  grid.extents = {n};
  grid.mask([](std::int64_t cell) { return is_masked(cell); });
}

Box random_tile(bool holes, std::mt19937& random) {
  return random_tiles(k_flat, world_size(), holes, random)[static_cast<std::size_t>(world_rank())];
}

std::vector<std::int64_t> active(std::int64_t cells) {
  std::vector<std::int64_t> found;
  for (std::int64_t cell = 0; cell < cells; ++cell)
    if (!is_masked(cell)) found.push_back(cell);
  return found;
}

int write(shoal_dataset* file, const char* name, const Grid& grid, const shoal_decomposition* cut,
          std::int64_t record) {
  TestArray array(SHOAL_DOUBLE, grid.extents);
  array.fill(1e300);  // of land nobody looks at it
  for (std::size_t i = 0; i < grid.cells.size(); ++i)
    if (grid.cells[i] >= 0 && !is_masked(grid.cells[i]))
      array.set(unravel(static_cast<std::int64_t>(i), grid.extents), value(record, grid.cells[i]));
  return shoal_write(file, name, cut, array.c(), SHOAL_RECORD(record));
}

/// Reads to the grid and counts what is wrong.
std::int64_t wrong_cells(shoal_dataset* file, const char* name, const Grid& grid, std::int64_t record) {
  TestArray array(SHOAL_FLOAT, grid.extents);
  array.fill(5);
  ok(shoal_read(file, name, grid.all, array.c(), SHOAL_RECORD(record)));
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < grid.cells.size(); ++i) {
    const std::int64_t cell = grid.cells[i];
    const double expected = cell < 0 ? 5 : is_masked(cell) ? k_land : value(record, cell);
    wrong += array.get(unravel(static_cast<std::int64_t>(i), grid.extents)) != expected ? 1 : 0;
  }
  return wrong;
}

void check_list(shoal_dataset* file, const char* name, const std::vector<std::int64_t>& expected) {
  const auto n = static_cast<std::int64_t>(expected.size());
  std::vector<std::int64_t> list(expected.size());
  const shoal_array array = shoal_array_of(list.data(), SHOAL_INT64, 1, &n);
  ok(shoal_get(file, name, &array, nullptr));
  CHECK(list == expected);
}

void def_grid(shoal_dataset* file) {
  def_dim(file, "time", 0);
  def_dim(file, "lev", k_lev);
  def_dim(file, "lat", k_lat);
  def_dim(file, "lon", k_lon);
}

void def_field(shoal_dataset* file, const char* name, const char* dims) {
  ok(shoal_def_var(file, name, SHOAL_SHORT, dims, nullptr));
  const auto fill = static_cast<std::int16_t>(k_land);
  ok(shoal_def_fill(file, name, SHOAL_SHORT, &fill));
}

std::vector<std::string> variants() {
  std::vector<std::string> all;
  for (const auto& format : formats())
    all.push_back("format=" + format);
  if (!is_native()) return all;
  all.push_back("format=cdf5, ranks_per_node=2");
  all.push_back("format=netcdf4, ranks_per_node=2, compression=shuffle+deflate:1");
  all.push_back("format=cdf5, io_ranks=1");
  return all;
}

}  // namespace

TEST_CASE("two lists in one file: water of a grid with levels, and of its surface") {
  if (skipped(in_one_file(), "water points go to one file")) return;
  std::mt19937 random(41);
  for (const auto& settings : variants())
    for (const bool by_map : {false, true}) {
      CAPTURE(settings);
      CAPTURE(by_map);
      Grid flat;
      Grid deep;
      Grid other_flat;
      Grid other_deep;
      if (by_map) {
        make_map(flat, false, 1, random);
        make_map(deep, true, 6, random);
        make_block(other_flat, random_tile(true, random), false);
        make_block(other_deep, random_tile(true, random), true);
      } else {
        make_block(flat, random_tile(false, random), false);
        make_block(deep, random_tile(false, random), true);
        make_map(other_flat, false, 7, random);
        make_map(other_deep, true, 1, random);
      }
      shoal_dataset* file = nullptr;
      ok(shoal_create(MPI_COMM_WORLD, "levels.nc", settings.c_str(), &file));
      def_grid(file);
      ok(shoal_def_gathered(file, "surface", "lat lon", flat.masked));
      ok(shoal_def_gathered(file, "wet", "lev lat lon", deep.masked));
      def_field(file, "ssh", "time surface");
      def_field(file, "temp", "time wet");
      for (std::int64_t record = 0; record < 2; ++record) {
        ok(write(file, "ssh", flat, flat.masked, record));
        ok(write(file, "temp", deep, deep.masked, record));
      }
      ok(shoal_close(&file, 0));
      ok(shoal_open(MPI_COMM_WORLD, "levels.nc", SHOAL_READ, nullptr, &file));
      check_list(file, "surface", active(k_area));
      check_list(file, "wet", active(k_lev * k_area));
      for (const std::int64_t record : {1, 0}) {
        CHECK(wrong_cells(file, "ssh", flat, record) == 0);
        CHECK(wrong_cells(file, "ssh", other_flat, record) == 0);
        CHECK(wrong_cells(file, "temp", deep, record) == 0);
        CHECK(wrong_cells(file, "temp", other_deep, record) == 0);
      }
      ok(shoal_close(&file, 0));
    }
}

TEST_CASE(
    "a mask with levels on a list of the surface: land below is fill, and water that the list has not is "
    "reported") {
  if (skipped(in_one_file(), "water points go to one file")) return;
  std::mt19937 random(42);
  for (const auto& settings : variants()) {
    CAPTURE(settings);
    Grid flat;
    Grid deep;
    make_map(flat, false, 4, random);
    make_block(deep, random_tile(false, random), true);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, "levels.nc", settings.c_str(), &file));
    def_grid(file);
    ok(shoal_def_gathered(file, "surface", "lat lon", flat.masked));
    def_field(file, "temp", "time lev surface");
    ok(write(file, "temp", deep, deep.masked, 0));
    ok(shoal_sync(file, 0));
    // Water in the last level alone, where the list has none.
    const std::int64_t extra = (k_lev - 1) * k_area;
    REQUIRE(is_masked(0));
    deep.mask([&](std::int64_t cell) { return is_masked(cell) && cell != extra; });
    int code = write(file, "temp", deep, deep.masked, 1);
    fails(code, SHOAL_INVALID_ARGUMENT, {"temp", "water at cell 0", "not among the water points"});
    alike(code);
    // A map that counts levels is none of the list's grid.
    Grid map;
    make_map(map, true, 4, random);
    code = write(file, "temp", map, map.masked, 1);
    if (world_size() > 1 && code == SHOAL_OK) code = shoal_sync(file, 0);
    fails(code, SHOAL_NOT_SUPPORTED, {"temp", "map"});
    alike(code);
    shoal_close(&file, 0);
    ok(shoal_open(MPI_COMM_WORLD, "levels.nc", SHOAL_READ, nullptr, &file));
    CHECK(wrong_cells(file, "temp", deep, 0) == 0);
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("masks of bands behind the list's grid: extra water in one of them is reported") {
  if (skipped(in_one_file(), "water points go to one file")) return;
  constexpr std::int64_t k_bands = 2;
  std::mt19937 random(43);
  const Dims shape{k_lat, k_lon, k_bands};
  for (const auto& settings : variants())
    for (const bool extra : {false, true}) {
      CAPTURE(settings);
      CAPTURE(extra);
      const Box flat = random_tile(false, random);
      const Box tile(joined(flat.first, {0}), joined(flat.count, {flat.empty() ? 0 : k_bands}));
      Grid grid;
      ok(shoal_block(MPI_COMM_WORLD, 3, shape.data(), tile.first.data(), tile.count.data(), nullptr, nullptr,
                     &grid.all));
      // Band 1 has less water than band 0; the extra cell is in band 1 alone.
      const auto land = [&](const Dims& i) {
        const std::int64_t cell = i[0] * k_lon + i[1];
        return is_masked(i[2], cell) && !(extra && cell == 0 && i[2] == 1);
      };
      std::vector<std::int8_t> flags;
      for_cells(tile, [&](const Dims& i) { flags.push_back(land(i) ? 0 : 1); });
      const shoal_array mask = shoal_array_of(flags.data(), SHOAL_BYTE, 3, tile.count.data());
      ok(shoal_masked(MPI_COMM_WORLD, grid.all, &mask, &grid.masked));
      Grid list;
      make_map(list, false, 4, random);
      shoal_dataset* file = nullptr;
      ok(shoal_create(MPI_COMM_WORLD, "levels.nc", settings.c_str(), &file));
      def_grid(file);
      def_dim(file, "band", k_bands);
      ok(shoal_def_gathered(file, "surface", "lat lon", list.masked));
      def_field(file, "flux", "surface band");
      TestArray array(SHOAL_INT, tile.count);
      for_cells(tile, [&](const Dims& i) {
        array.set({i[0] - tile.first[0], i[1] - tile.first[1], i[2]}, value_of(5, i));
      });
      const int code = shoal_write(file, "flux", grid.masked, array.c(), nullptr);
      if (extra) {
        fails(code, SHOAL_INVALID_ARGUMENT, {"flux", "water at cell 0", "not among the water points"});
        alike(code);
      } else {
        ok(code);
      }
      ok(shoal_close(&file, 0));
      if (extra) continue;
      ok(shoal_open(MPI_COMM_WORLD, "levels.nc", SHOAL_READ, nullptr, &file));
      TestArray got(SHOAL_INT, tile.count);
      ok(shoal_read(file, "flux", grid.all, got.c(), nullptr));
      std::int64_t wrong = 0;
      for_cells(tile, [&](const Dims& i) {
        wrong +=
            got.get({i[0] - tile.first[0], i[1] - tile.first[1], i[2]}) != (land(i) ? k_land : value_of(5, i))
                ? 1
                : 0;
      });
      CHECK(wrong == 0);
      ok(shoal_close(&file, 0));
    }
}
