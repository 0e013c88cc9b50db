// Water points alone (CF: compression by gathering): numbered from a mask, written from full-grid arrays,
// read back to full grids with halo by blocks and maps; lists in any order, and lists that are damaged.
#include "conformance/support.hpp"
#include "support/parts.hpp"
#include "support/random_maps.hpp"
#include "support/random_tiles.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

constexpr std::int64_t k_lat = 13, k_lon = 37, k_lev = 3;
const Dims k_grid{k_lat, k_lon};

bool is_masked(std::int64_t cell) {
  return (cell / 5 + cell / k_lon) % 3 == 0;
}

double value(std::int64_t record, std::int64_t level, std::int64_t cell) {
  return value_of(3, {record, level, cell});
}

std::vector<std::int64_t> active() {
  std::vector<std::int64_t> cells;
  for (std::int64_t cell = 0; cell < volume(k_grid); ++cell)
    if (!is_masked(cell)) cells.push_back(cell);
  return cells;
}

/// A decomposition and its masked counterpart.
struct Grid {
  shoal_decomposition* all = nullptr;
  shoal_decomposition* masked = nullptr;
  std::vector<std::int64_t> cells;   ///< of the tile, or of the list
  std::vector<std::int64_t> around;  ///< with halo; -1: outside
  std::vector<std::int8_t> owned;    ///< of all cells: some rank has it
  Dims extents, extents_around;

  ~Grid() {
    shoal_decomposition_free(&all);
    shoal_decomposition_free(&masked);
  }
  void mask() {
    std::vector<std::int8_t> flags;
    for (const auto cell : cells)
      flags.push_back(cell >= 0 && !is_masked(cell) ? 1 : 0);
    const shoal_array array = shoal_array_of(flags.data(), SHOAL_BYTE, extents.size(), extents.data());
    ok(shoal_masked(MPI_COMM_WORLD, all, &array, &masked));
    owned.assign(static_cast<std::size_t>(volume(k_grid)), 0);
    for (const auto cell : cells)
      if (cell >= 0) owned[static_cast<std::size_t>(cell)] = 1;
    MPI_Allreduce(MPI_IN_PLACE, owned.data(), static_cast<int>(owned.size()), MPI_INT8_T, MPI_MAX,
                  MPI_COMM_WORLD);
  }
};

void make_block(Grid& grid, bool holes, std::int64_t halo, std::mt19937& random) {
  const auto tiles = random_tiles(k_grid, world_size(), holes, random);
  const Box tile = tiles[static_cast<std::size_t>(world_rank())];
  const Dims width(2, halo);
  ok(shoal_block(MPI_COMM_WORLD, 2, k_grid.data(), tile.first.data(), tile.count.data(), width.data(),
                 width.data(), &grid.all));
  Box box = tile;
  for (int d = 0; d < 2 && !tile.empty(); ++d) {
    box.first[d] -= halo;
    box.count[d] += 2 * halo;
  }
  const Box whole = Box::whole(k_grid);
  for_cells(tile, [&](const Dims& i) { grid.cells.push_back(position_in(i, whole)); });
  for_cells(box, [&](const Dims& i) {
    grid.around.push_back(whole.contains(Box(i, {1, 1})) ? position_in(i, whole) : -1);
  });
  grid.extents = tile.count;
  grid.extents_around = box.count;
  grid.mask();
}

void make_map(Grid& grid, std::int64_t runs, std::mt19937& random) {
  const auto lists = random_maps(volume(k_grid), world_size(), {0, 10, runs, false}, random);
  grid.cells = grid.around = lists[static_cast<std::size_t>(world_rank())];
  const auto n = static_cast<std::int64_t>(grid.cells.size());
  ok(shoal_map(MPI_COMM_WORLD, 2, k_grid.data(), 0, n, grid.cells.data(), &grid.all));
  grid.extents = grid.extents_around = {n};
  grid.mask();
}

void def_grid(shoal_dataset* file) {
  def_dim(file, "time", 0);
  def_dim(file, "lev", k_lev);
  def_dim(file, "lat", k_lat);
  def_dim(file, "lon", k_lon);
}

void write_record(shoal_dataset* file, const Grid& grid, std::int64_t record, bool halo, std::mt19937& own) {
  const auto& cells = halo ? grid.around : grid.cells;
  const Dims extents = joined({k_lev}, halo ? grid.extents_around : grid.extents);
  TestArray array(SHOAL_DOUBLE, extents, own);
  array.fill(1e300);
  const auto n = static_cast<std::int64_t>(cells.size());
  for (std::int64_t i = 0; i < k_lev * n; ++i) {
    const std::int64_t cell = cells[static_cast<std::size_t>(i % n)];
    if (cell >= 0 && !is_masked(cell)) array.set(unravel(i, extents), value(record, i / n, cell));
  }
  ok(shoal_write(file, "temp", nullptr, array.c(), SHOAL_RECORD(record)));
}

void check_read(shoal_dataset* file, const Grid& grid, const shoal_decomposition* cut, std::int64_t record,
                int memory, std::mt19937& own) {
  const Dims extents = joined({k_lev}, grid.extents_around);
  TestArray array(memory, extents, own);
  array.fill(5);
  ok(shoal_read(file, "temp", cut, array.c(), SHOAL_RECORD(record)));
  std::int64_t wrong = 0;
  const auto n = static_cast<std::int64_t>(grid.around.size());
  for (std::int64_t i = 0; i < k_lev * n && !grid.cells.empty(); ++i) {
    const std::int64_t cell = grid.around[static_cast<std::size_t>(i % n)];
    const bool left = cell < 0 || (cut == grid.masked &&
                                   (is_masked(cell) || grid.owned[static_cast<std::size_t>(cell)] == 0));
    const double expected = left ? 5 : is_masked(cell) ? -9 : value(record, i / n, cell);
    wrong += array.get(unravel(i, extents)) != expected ? 1 : 0;
  }
  CHECK(wrong == 0);
}

/// The file itself: list and values, as any reader sees them.
void check_file(shoal_dataset* file, const std::vector<std::int64_t>& order) {
  const auto n = static_cast<std::int64_t>(order.size());
  std::vector<std::int64_t> list(order.size());
  const shoal_array of_list = shoal_array_of(list.data(), SHOAL_INT64, 1, &n);
  ok(shoal_get(file, "water", &of_list, nullptr));
  CHECK(list == order);
  std::int64_t wrong = 0;
  TestArray values(SHOAL_DOUBLE, {k_lev, n});
  for (std::int64_t record = 0; record < 2; ++record) {
    ok(shoal_get(file, "temp", values.c(), SHOAL_RECORD(record)));
    for_cells(Box::whole({k_lev, n}), [&](const Dims& i) {
      wrong += values.get(i) !=
                       value(record, i[0], std::max<std::int64_t>(0, order[static_cast<std::size_t>(i[1])]))
                   ? 1
                   : 0;
    });
  }
  CHECK(wrong == 0);
}

std::vector<std::string> variants() {
  std::vector<std::string> all;
  for (const auto& format : formats())
    all.push_back("format=" + format);
  if (!is_native()) return all;
  all.push_back("format=cdf5, ranks_per_node=2");
  all.push_back("format=netcdf4, ranks_per_node=2");
  all.push_back("format=cdf5, io_ranks=1");
  return all;
}

/// A file as somebody else might have made it: a list in this order, put by rank 0.
void foreign(const std::string& settings, std::vector<std::int64_t> order, const char* compress, int type) {
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, "water.nc", settings.c_str(), &file));
  def_grid(file);
  const auto n = static_cast<std::int64_t>(order.size());
  def_dim(file, "water", n);
  ok(shoal_def_var(file, "water", type, "water", nullptr));
  ok(shoal_put_att(file, "water", "compress", SHOAL_CHAR, static_cast<std::int64_t>(std::strlen(compress)),
                   compress));
  ok(shoal_def_var(file, "temp", SHOAL_SHORT, "time lev water", nullptr));
  const std::int16_t fill = -9;
  ok(shoal_def_fill(file, "temp", SHOAL_SHORT, &fill));
  const shoal_array list = shoal_array_of(order.data(), SHOAL_INT64, 1, &n);
  ok(shoal_put(file, "water", &list, nullptr));
  for (std::int64_t record = 0; record < 2; ++record) {
    TestArray values(SHOAL_DOUBLE, {k_lev, n});
    for_cells(Box::whole({k_lev, n}), [&](const Dims& i) {
      const std::int64_t cell = order[static_cast<std::size_t>(i[1])];
      values.set(i, value(record, i[0], cell < 0 ? 0 : cell));
    });
    ok(shoal_put(file, "temp", values.c(), SHOAL_RECORD(record)));
  }
  ok(shoal_close(&file, 0));
}

}  // namespace

TEST_CASE("water points are numbered in order, written from full grids, and read back to them") {
  if (skipped(in_one_file(), "water points go to one file")) return;
  std::mt19937 random(31);
  const std::vector<int> kinds{0, 1, 2, 3};
  for (const auto& [settings, kind] : in_part(pairs_of(variants(), kinds))) {
    CAPTURE(settings);
    CAPTURE(kind);
    Grid grid;
    Grid other;
    if (kind < 2) {
      make_block(grid, false, kind * 2, random);
      make_map(other, 4, random);
    } else {
      make_map(grid, kind == 2 ? 1 : 9, random);
      make_block(other, true, 1, random);
    }
    std::mt19937 own(static_cast<unsigned>(world_rank()) * 7 + 1);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, "water.nc", settings.c_str(), &file));
    def_grid(file);
    ok(shoal_def_gathered(file, "water", "lat lon", grid.masked));
    ok(shoal_def_var(file, "temp", SHOAL_SHORT, "time lev water", grid.masked));
    const std::int16_t fill = -9;
    ok(shoal_def_fill(file, "temp", SHOAL_SHORT, &fill));
    for (std::int64_t record = 0; record < 2; ++record)
      write_record(file, grid, record, own() % 2 == 0, own);
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, "water.nc", SHOAL_READ, nullptr, &file));
    check_file(file, active());
    for (std::int64_t record = 0; record < 2; ++record) {
      check_read(file, grid, grid.masked, record, SHOAL_DOUBLE, own);
      check_read(file, grid, grid.all, record, SHOAL_SHORT, own);
      check_read(file, other, other.all, record, SHOAL_FLOAT, own);
      check_read(file, other, other.masked, record, SHOAL_BYTE, own);
    }
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("lists of others are read in any order, and their files written on") {
  if (skipped(in_one_file(), "water points go to one file")) return;
  std::mt19937 random(32);
  const std::vector<int> types{SHOAL_INT, SHOAL_SHORT, SHOAL_DOUBLE};
  for (const auto& [type, format] : in_part(pairs_of(types, formats()))) {
    CAPTURE(format);
    CAPTURE(type);
    auto order = active();
    std::shuffle(order.begin(), order.end(), random);
    foreign("format=" + format, order, "lat lon", type);
    Grid grid;
    make_block(grid, false, 1, random);
    Grid map;
    make_map(map, 5, random);
    std::mt19937 own(static_cast<unsigned>(world_rank()));
    shoal_dataset* file = nullptr;
    ok(shoal_open(MPI_COMM_WORLD, "water.nc", SHOAL_READ, nullptr, &file));
    if (type == SHOAL_DOUBLE) {
      TestArray array(SHOAL_DOUBLE, joined({k_lev}, grid.extents));
      const int code = shoal_read(file, "temp", grid.all, array.c(), SHOAL_RECORD(0));
      fails(code, SHOAL_FORMAT, {"water", "double"});
      alike(code);
      ok(shoal_close(&file, 0));
      continue;
    }
    check_file(file, order);
    check_read(file, grid, grid.all, 0, SHOAL_DOUBLE, own);
    check_read(file, map, map.all, 1, SHOAL_INT, own);
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, "water.nc", SHOAL_WRITE, nullptr, &file));
    TestArray array(SHOAL_INT, joined({k_lev}, grid.extents));
    for_cells(Box::whole(joined({k_lev}, grid.extents)), [&](const Dims& i) {
      const auto cell =
          grid.cells[static_cast<std::size_t>(position_in({i[1], i[2]}, Box::whole(grid.extents)))];
      array.set(i, value(1, i[0], cell));
    });
    ok(shoal_write(file, "temp", grid.all, array.c(), SHOAL_RECORD(1)));
    ok(shoal_write(file, "temp", nullptr, array.c(), SHOAL_RECORD(2)));
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, "water.nc", SHOAL_READ, nullptr, &file));
    check_file(file, order);
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("damaged lists are reported by name, on all ranks alike, and only to those who use them") {
  if (skipped(in_one_file(), "water points go to one file")) return;
  std::mt19937 random(33);
  const std::string settings = "format=" + formats().front();
  const auto refused = [&](const std::vector<std::int64_t>& order, const char* compress,
                           const std::vector<std::string>& says, int expected = SHOAL_FORMAT) {
    foreign(settings, order, compress, SHOAL_INT);
    Grid grid;
    make_block(grid, false, 1, random);
    shoal_dataset* file = nullptr;
    ok(shoal_open(MPI_COMM_WORLD, "water.nc", SHOAL_READ, nullptr, &file));
    TestArray array(SHOAL_DOUBLE, joined({k_lev}, grid.extents));
    for (int again = 0; again < 2; ++again) {
      const int code = shoal_read(file, "temp", grid.all, array.c(), SHOAL_RECORD(0));
      fails(code, expected, says);
      alike(code);
    }
    check_file(file, order);
    ok(shoal_close(&file, 0));
  };
  auto order = active();
  order[order.size() - 2] = volume(k_grid);
  refused(order, "lat lon",
          {"water", std::to_string(volume(k_grid)), "position " + std::to_string(order.size() - 2)});
  order[order.size() - 2] = -1;
  refused(order, "lat lon", {"water", "-1", "480"});
  order[order.size() - 2] = order[4];
  refused(order, "lat lon", {"water", "twice", "positions 4 and " + std::to_string(order.size() - 2)});
  refused(active(), "lat longitude", {"water", "longitude", "compress"});
  refused(active(), "", {"water", "compress"});
  refused(active(), "time lon", {"time", "unlimited"});
  refused(active(), "lon lat", {"does not fit"}, SHOAL_INVALID_ARGUMENT);
}

TEST_CASE("a list that the model defines and puts itself counts from the next sync on") {
  if (skipped(in_one_file(), "water points go to one file")) return;
  std::mt19937 random(37);
  for (const auto& format : formats()) {
    CAPTURE(format);
    Grid grid;
    make_block(grid, false, 1, random);
    auto order = active();
    std::shuffle(order.begin(), order.end(), random);
    const auto n = static_cast<std::int64_t>(order.size());
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, "water.nc", ("format=" + format).c_str(), &file));
    def_grid(file);
    def_dim(file, "water", n);
    ok(shoal_def_var(file, "water", SHOAL_INT, "water", nullptr));
    ok(shoal_put_att(file, "water", "compress", SHOAL_CHAR, 7, "lat lon"));
    ok(shoal_def_var(file, "temp", SHOAL_SHORT, "time lev water", grid.masked));
    const std::int16_t fill = -9;
    ok(shoal_def_fill(file, "temp", SHOAL_SHORT, &fill));
    const shoal_array list = shoal_array_of(order.data(), SHOAL_INT64, 1, &n);
    ok(shoal_put(file, "water", &list, nullptr));
    ok(shoal_sync(file, 0));
    std::mt19937 own(static_cast<unsigned>(world_rank()));
    for (std::int64_t record = 0; record < 2; ++record)
      write_record(file, grid, record, false, own);
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, "water.nc", SHOAL_READ, nullptr, &file));
    check_file(file, order);
    check_read(file, grid, grid.all, 1, SHOAL_DOUBLE, own);
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("damaged lists: a rank that reads something else is found where calls are matched") {
  if (skipped(in_one_file(), "water points go to one file")) return;
  std::mt19937 random(34);
  auto order = active();
  order[4] = -1;
  for (const auto& settings : variants()) {
    CAPTURE(settings);
    foreign(settings.substr(0, settings.find(',')), order, "lat lon", SHOAL_INT);
    Grid grid;
    make_block(grid, false, 1, random);
    const std::size_t comma = settings.find(',');
    const std::string rest = comma == std::string::npos ? "" : settings.substr(comma + 1);
    shoal_dataset* file = nullptr;
    ok(shoal_open(MPI_COMM_WORLD, "water.nc", SHOAL_READ, rest.c_str(), &file));
    TestArray array(SHOAL_DOUBLE, joined({k_lev}, grid.extents));
    for (int again = 0; again < 2; ++again) {
      const bool odd = world_rank() == world_size() - 1;
      const int code =
          shoal_read(file, odd && world_size() > 1 ? "tmep" : "temp", grid.all, array.c(), SHOAL_RECORD(0));
      fails(code, SHOAL_FORMAT, {"water", "-1", "position 4"});
      alike(code);
    }
    check_file(file, order);
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("water points with bands behind them and levels before, whole and in sections") {
  if (skipped(in_one_file(), "water points go to one file")) return;
  constexpr std::int64_t k_bands = 2;
  std::mt19937 random(35);
  const Dims global{k_lat, k_lon, k_bands};
  const auto points = active();
  const auto n_active = static_cast<std::int64_t>(points.size());
  const auto expected = [&](const Dims& i) {  // level, cell, band
    return is_masked(i[1]) ? -9 : value_of(3, {i[0], i[1], i[2]});
  };
  for (const auto& settings : variants())
    for (const bool by_map : {true, false}) {
      CAPTURE(settings);
      CAPTURE(by_map);
      const auto lists = random_maps(volume(k_grid), world_size(), {0, 10, 3, false}, random);
      const auto& cells = lists[static_cast<std::size_t>(world_rank())];
      const auto n = static_cast<std::int64_t>(cells.size());
      std::vector<std::int8_t> flags;
      for (const auto cell : cells)
        flags.push_back(cell >= 0 && !is_masked(cell) ? 1 : 0);
      shoal_decomposition* map = nullptr;
      shoal_decomposition* masked = nullptr;
      ok(shoal_map(MPI_COMM_WORLD, 3, global.data(), 1, n, cells.data(), &map));
      const shoal_array mask = shoal_array_of(flags.data(), SHOAL_BYTE, 1, &n);
      ok(shoal_masked(MPI_COMM_WORLD, map, &mask, &masked));
      const auto tiles = random_tiles(k_grid, world_size(), false, random);
      const Box flat = tiles[static_cast<std::size_t>(world_rank())];
      const Box tile(joined(flat.first, {0}), joined(flat.count, {flat.empty() ? 0 : k_bands}));
      const Cut cut(MPI_COMM_WORLD, global, tile, {1, 1, 0}, {1, 1, 0});

      shoal_dataset* file = nullptr;
      ok(shoal_create(MPI_COMM_WORLD, "water.nc", settings.c_str(), &file));
      def_grid(file);
      def_dim(file, "band", k_bands);
      ok(shoal_def_gathered(file, "water", "lat lon", masked));
      ok(shoal_def_var(file, "temp", SHOAL_SHORT, "lev water band", nullptr));
      const std::int16_t fill = -9;
      ok(shoal_def_fill(file, "temp", SHOAL_SHORT, &fill));
      // Levels 0 and 1 whole, the last in two sections.
      std::mt19937 own(static_cast<unsigned>(world_rank()));
      for (int part = 0; part < 3; ++part) {
        const Dims start{part == 0 ? 0 : 2, 0, part == 2 ? 1 : 0};
        const Dims count{part == 0 ? 2 : 1, n_active, part == 0 ? 2 : 1};
        const Dims middle = by_map ? Dims{n} : flat.count;
        const Dims extents = joined(joined({count[0]}, middle), {count[2]});
        TestArray array(SHOAL_DOUBLE, extents, own);
        for_cells(Box::whole(extents), [&](const Dims& i) {
          const std::int64_t cell =
              by_map ? cells[static_cast<std::size_t>(i[1])]
                     : position_in({i[1] + flat.first[0], i[2] + flat.first[1]}, Box::whole(k_grid));
          const bool plain = cell >= 0 && !is_masked(cell);
          array.set(i, plain ? expected({i[0] + start[0], cell, i[i.size() - 1] + start[2]}) : 7.0);
        });
        ok(shoal_write(file, "temp", by_map ? masked : cut.handle(), array.c(),
                       SHOAL_SECTION(SHOAL_NO_RECORD, start.size(), start.data(), count.data())));
      }
      const Dims short_count{1, n_active - 1, 2};
      TestArray nothing(SHOAL_DOUBLE, {1, n, 2});
      int code = shoal_read(file, "temp", masked, nothing.c(),
                            SHOAL_SECTION(SHOAL_NO_RECORD, short_count.size(), nullptr, short_count.data()));
      fails(code, SHOAL_INVALID_ARGUMENT, {"water", std::to_string(n_active - 1), std::to_string(n_active)});
      alike(code);
      ok(shoal_close(&file, 0));

      ok(shoal_open(MPI_COMM_WORLD, "water.nc", SHOAL_READ, nullptr, &file));
      std::int64_t wrong = 0;
      TestArray all(SHOAL_DOUBLE, {k_lev, n_active, k_bands});
      ok(shoal_get(file, "temp", all.c(), nullptr));
      for_cells(Box::whole({k_lev, n_active, k_bands}), [&](const Dims& i) {
        wrong += all.get(i) != expected({i[0], points[static_cast<std::size_t>(i[1])], i[2]}) ? 1 : 0;
      });
      CHECK(wrong == 0);
      const Dims start{1, 0, 1};
      const Dims count{2, n_active, 1};
      TestArray of_map(SHOAL_INT, {2, n, 1}, own);
      of_map.fill(5);
      ok(shoal_read(file, "temp", map, of_map.c(),
                    SHOAL_SECTION(SHOAL_NO_RECORD, start.size(), start.data(), count.data())));
      for_cells(Box::whole({2, n, 1}), [&](const Dims& i) {
        const std::int64_t cell = cells[static_cast<std::size_t>(i[1])];
        wrong += of_map.get(i) != (cell < 0 ? 5 : expected({i[0] + 1, cell, 1})) ? 1 : 0;
      });
      CHECK(wrong == 0);
      const Dims around{2, flat.count[0] + 2, flat.count[1] + 2, 1};
      TestArray of_block(SHOAL_FLOAT, around, own);
      of_block.fill(5);
      ok(shoal_read(file, "temp", cut.handle(), of_block.c(),
                    SHOAL_SECTION(SHOAL_NO_RECORD, start.size(), start.data(), count.data())));
      if (!flat.empty())
        for_cells(Box::whole(around), [&](const Dims& i) {
          const Dims at{i[1] - 1 + flat.first[0], i[2] - 1 + flat.first[1]};
          const bool outside = at[0] < 0 || at[0] >= k_lat || at[1] < 0 || at[1] >= k_lon;
          wrong +=
              of_block.get(i) != (outside ? 5 : expected({i[0] + 1, position_in(at, Box::whole(k_grid)), 1}))
                  ? 1
                  : 0;
        });
      CHECK(wrong == 0);
      ok(shoal_close(&file, 0));
      shoal_decomposition_free(&map);
      shoal_decomposition_free(&masked);
    }
}

TEST_CASE("water points: one rank's array that does not fit, and values that do not") {
  if (skipped(in_one_file(), "water points go to one file")) return;
  std::mt19937 random(36);
  for (const auto& settings : variants())
    for (const bool by_map : {true, false}) {
      CAPTURE(settings);
      CAPTURE(by_map);
      Grid grid;
      if (by_map)
        make_map(grid, 4, random);
      else
        make_block(grid, false, 0, random);
      shoal_dataset* file = nullptr;
      ok(shoal_create(MPI_COMM_WORLD, "water.nc", settings.c_str(), &file));
      def_grid(file);
      ok(shoal_def_gathered(file, "water", "lat lon", grid.masked));
      ok(shoal_def_var(file, "a", SHOAL_BYTE, "water", grid.masked));
      ok(shoal_def_var(file, "b", SHOAL_BYTE, "water", grid.masked));
      // Who has the first water cell.
      const std::int64_t cell = active().front();
      const auto found = std::find(grid.cells.begin(), grid.cells.end(), cell);
      const bool odd = found != grid.cells.end();
      TestArray values(SHOAL_INT, grid.extents);
      values.fill(3);
      if (odd) values.set(unravel(found - grid.cells.begin(), grid.extents), 1000);
      ok(shoal_write(file, "a", nullptr, values.c(), nullptr));
      int code = shoal_sync(file, 0);
      fails(code, SHOAL_RANGE, {"1000", "a"});
      alike(code);
      Dims longer = grid.extents;
      longer[0] += 1;
      TestArray bad(SHOAL_INT, longer);
      values.fill(4);
      code = shoal_write(file, "b", nullptr, odd ? bad.c() : values.c(), nullptr);
      if (world_size() > 1) {
        ok(code);
        code = shoal_sync(file, 0);
      }
      fails(code, SHOAL_INVALID_ARGUMENT, {odd ? "extents " + text_of(longer) : "extents", "b"});
      alike(code);
      ok(shoal_close(&file, 0));
      ok(shoal_open(MPI_COMM_WORLD, "water.nc", SHOAL_READ, nullptr, &file));
      TestArray got(SHOAL_INT, {static_cast<std::int64_t>(active().size())});
      ok(shoal_get(file, "a", got.c(), nullptr));
      CHECK(got.get({0}) == fill_value(SHOAL_BYTE));
      CHECK(got.get({1}) == 3);
      code = shoal_read(file, "a", grid.all, odd ? bad.c() : values.c(), nullptr);
      fails(code, SHOAL_INVALID_ARGUMENT, {odd ? "extents " + text_of(longer) : "extents", "a"});
      alike(code);
      ok(shoal_close(&file, 0));
    }
}

TEST_CASE("what cannot be gathered is refused") {
  const Dims global{4, static_cast<std::int64_t>(6 * world_size())};
  const Cut cut(MPI_COMM_WORLD, global, Box({0, std::int64_t{6} * world_rank()}, {4, 6}), {0, 1}, {0, 1});
  std::vector<std::int8_t> flags(24, 1);
  const Dims extents{4, 6};
  const shoal_array all = shoal_array_of(flags.data(), SHOAL_BYTE, 2, extents.data());
  const shoal_array last = shoal_array_of(flags.data(), SHOAL_BYTE, 1, extents.data() + 1);
  shoal_decomposition* masked = nullptr;
  shoal_decomposition* one = nullptr;
  shoal_decomposition* none = nullptr;
  flags[0] = 0;
  ok(shoal_masked(MPI_COMM_WORLD, cut.handle(), &all, &masked));
  ok(shoal_masked(MPI_COMM_WORLD, cut.handle(), &last, &one));
  std::fill(flags.begin(), flags.end(), std::int8_t{0});
  ok(shoal_masked(MPI_COMM_WORLD, cut.handle(), &all, &none));
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, "water.nc", ("format=" + formats().front()).c_str(), &file));
  def_dim(file, "y", 4);
  def_dim(file, "x", global[1]);
  def_dim(file, "t", 0);
  fails(shoal_def_gathered(file, "w", "y x", cut.handle()), SHOAL_INVALID_ARGUMENT, {"mask", "shoal_masked"});
  fails(shoal_def_gathered(file, "w", "y x", none), SHOAL_INVALID_ARGUMENT, {"no water"});
  fails(shoal_def_gathered(file, "w", "x", masked), SHOAL_INVALID_ARGUMENT, {"2 dimensions", "1 are named"});
  fails(shoal_def_gathered(file, "w", "x y", masked), SHOAL_INVALID_ARGUMENT, {"'x'"});
  fails(shoal_def_gathered(file, "w", "t x", masked), SHOAL_INVALID_ARGUMENT, {"unlimited"});
  fails(shoal_def_gathered(file, "w", "y z", masked), SHOAL_NOT_FOUND, {"'z'"});
  fails(shoal_def_gathered(file, "x", "y x", masked), SHOAL_EXISTS, {"'x'"});
  fails(shoal_def_gathered(file, "w", "y x", nullptr), SHOAL_INVALID_ARGUMENT, {"NULL"});
  if (!in_one_file()) {
    ok(shoal_def_gathered(file, "w", "y x", masked));
    const int code = shoal_end_define(file);
    fails(code, SHOAL_NOT_SUPPORTED, {"layout=one"});
    alike(code);
  } else {
    ok(shoal_def_gathered(file, "w", "y x", masked));
    ok(shoal_def_var(file, "v", SHOAL_INT, "w", masked));
    // A mask with water that the list has not.
    std::fill(flags.begin(), flags.end(), std::int8_t{1});
    shoal_decomposition* more = nullptr;
    ok(shoal_masked(MPI_COMM_WORLD, cut.handle(), &all, &more));
    std::vector<std::int32_t> values(24, 3);
    const shoal_array array = shoal_array_of(values.data(), SHOAL_INT, 2, extents.data());
    const int code = shoal_write(file, "v", more, &array, nullptr);
    fails(code, SHOAL_INVALID_ARGUMENT, {"cell 0", "water"});
    alike(code);
    ok(shoal_write(file, "v", masked, &array, nullptr));
    shoal_decomposition_free(&more);
  }
  ok(shoal_close(&file, 0));
  shoal_decomposition_free(&masked);
  shoal_decomposition_free(&one);
  shoal_decomposition_free(&none);
}
