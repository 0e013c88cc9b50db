// What several ranks read by maps though no rank has it in one piece: sets of files, and variables that only
// HDF5's library can read. I/O ranks read boxes, once, and send cells to those who want them.
#include <hdf5.h>

#include <filesystem>
#include <numeric>

#include "comm/nodes.hpp"
#include "conformance/support.hpp"
#include "support/parts.hpp"
#include "support/random_maps.hpp"
#include "support/seeds.hpp"

namespace shoal::testing {

namespace {

constexpr std::int64_t k_rows = 24, k_columns = 42, k_levels = 3, k_bands = 2;
const Dims k_grid{k_rows, k_columns};

/// Columns of tiles: one or two.
std::int64_t tile_columns() {
  return world_size() % 2 == 0 ? 2 : 1;
}

/// Tiles in rows and columns; with a gap the first rank, if it is not the only one, has none.
Box tile_of(int rank, bool gap) {
  if (gap && rank == 0 && world_size() > 1) return {Dims(2), Dims(2)};
  const std::int64_t columns = tile_columns();
  const std::int64_t rows = world_size() / columns;
  const std::int64_t row = rank / columns;
  const std::int64_t column = rank % columns;
  const Dims first{k_rows * row / rows, k_columns * column / columns};
  const Dims end{k_rows * (row + 1) / rows, k_columns * (column + 1) / columns};
  return {first, {end[0] - first[0], end[1] - first[1]}};
}

/// deep(time, z, y, x) float, thick(y, x, band) double, flat(y, x) short with a fill value of its own.
void write_set(const std::string& path, const std::string& settings, bool gap) {
  const Box tile = tile_of(world_rank(), gap);
  Box bands = tile;
  bands.first.push_back(0);
  bands.count.push_back(tile.empty() ? 0 : k_bands);
  const Cut cut(MPI_COMM_WORLD, k_grid, tile, Dims(2), Dims(2));
  const Cut cut_bands(MPI_COMM_WORLD, {k_rows, k_columns, k_bands}, bands, Dims(3), Dims(3));
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, path.c_str(), settings.c_str(), &file));
  def_dim(file, "time", 0);
  def_dim(file, "z", k_levels);
  def_dim(file, "y", k_rows);
  def_dim(file, "x", k_columns);
  def_dim(file, "band", k_bands);
  ok(shoal_def_var(file, "deep", SHOAL_FLOAT, "time z y x", cut.handle()));
  ok(shoal_def_var(file, "thick", SHOAL_DOUBLE, "y x band", cut_bands.handle()));
  ok(shoal_def_var(file, "flat", SHOAL_SHORT, "y x", cut.handle()));
  const std::int16_t fill = -7;
  ok(shoal_def_fill(file, "flat", SHOAL_SHORT, &fill));
  const auto write = [&](const char* name, int number, const Box& cells, std::int64_t record) {
    TestArray values(SHOAL_DOUBLE, cells.count);
    for_cells(Box::whole(cells.count), [&](const Dims& i) {
      Dims global = i;
      for (int d = 0; d < i.size(); ++d)
        global[d] += cells.first[d];
      values.set(i, value_of(number, record < 0 ? global : joined(Dims{record}, global)));
    });
    ok(shoal_write(file, name, nullptr, values.c(), SHOAL_RECORD(record)));
  };
  const Box levels(joined(Dims{0}, tile.first), joined(Dims{k_levels}, tile.count));
  for (std::int64_t record = 0; record < 2; ++record)
    write("deep", 0, levels, record);
  write("thick", 1, bands, SHOAL_NO_RECORD);
  write("flat", 2, tile, SHOAL_NO_RECORD);
  ok(shoal_close(&file, 0));
}

/// A map of the cells of the grid, and the same with bands behind it.
struct Maps {
  Maps(const MapKind& kind, std::mt19937& random)
      : cells(
            random_maps(volume(k_grid), world_size(), kind, random)[static_cast<std::size_t>(world_rank())]) {
    const auto n = static_cast<std::int64_t>(cells.size());
    const Dims with_bands{k_rows, k_columns, k_bands};
    ok(shoal_map(MPI_COMM_WORLD, 2, k_grid.data(), 0, n, cells.data(), &plain));
    ok(shoal_map(MPI_COMM_WORLD, 3, with_bands.data(), 1, n, cells.data(), &bands));
  }
  Maps(const Maps&) = delete;
  Maps& operator=(const Maps&) = delete;
  ~Maps() {
    shoal_decomposition_free(&plain);
    shoal_decomposition_free(&bands);
  }
  std::vector<std::int64_t> cells;
  shoal_decomposition* plain = nullptr;
  shoal_decomposition* bands = nullptr;
};

/// Reads the variable, and counts what is wrong. leads: dimensions in front of the cells; value: of a full
/// index, without the record.
template <class Value>
std::int64_t wrong_cells(shoal_dataset* file, const char* name, const Maps& maps, int type, const Dims& leads,
                         const Dims& behind, std::int64_t record, std::mt19937& random, Value&& value) {
  const auto n = static_cast<std::int64_t>(maps.cells.size());
  const Dims extents = joined(joined(leads, {n}), behind);
  TestArray values(type, extents, random);
  values.fill(-5);
  ok(shoal_read(file, name, behind.empty() ? maps.plain : maps.bands, values.c(), SHOAL_RECORD(record)));
  std::int64_t wrong = 0;
  for_cells(Box::whole(extents), [&](const Dims& i) {
    const std::int64_t cell = maps.cells[static_cast<std::size_t>(i[leads.size()])];
    Dims global;
    for (int d = 0; d < leads.size(); ++d)
      global.push_back(i[d]);
    global.push_back(cell / k_columns);
    global.push_back(cell % k_columns);
    for (int d = leads.size() + 1; d < i.size(); ++d)
      global.push_back(i[d]);
    wrong += values.get(i) != (cell == k_hole ? -5 : value(global)) ? 1 : 0;
  });
  return wrong;
}

bool is_owned(std::int64_t row, std::int64_t column, bool gap) {
  return !gap || world_size() == 1 || !tile_of(0, false).contains(Box({row, column}, {1, 1}));
}

void check_set(const std::string& settings, const Maps& maps, bool gap, std::mt19937& random) {
  shoal_dataset* file = nullptr;
  ok(shoal_open(MPI_COMM_WORLD, "set.nc", SHOAL_READ, (settings + ", quiet=true").c_str(), &file));
  for (const std::int64_t record : {1, 0, 1})
    CHECK(wrong_cells(file, "deep", maps, SHOAL_DOUBLE, {k_levels}, {}, record, random, [&](const Dims& i) {
            return is_owned(i[1], i[2], gap) ? value_of(0, joined(Dims{record}, i)) : fill_value(SHOAL_FLOAT);
          }) == 0);
  CHECK(wrong_cells(file, "thick", maps, SHOAL_DOUBLE, {}, {k_bands}, SHOAL_NO_RECORD, random,
                    [&](const Dims& i) {
                      return is_owned(i[0], i[1], gap) ? value_of(1, i) : fill_value(SHOAL_DOUBLE);
                    }) == 0);
  CHECK(wrong_cells(file, "flat", maps, SHOAL_INT, {}, {}, SHOAL_NO_RECORD, random,
                    [&](const Dims& i) { return is_owned(i[0], i[1], gap) ? value_of(2, i) : -7; }) == 0);
  // One level of all.
  const std::int64_t start[] = {1, 0, 0};
  const std::int64_t count[] = {1, k_rows, k_columns};
  const auto n = static_cast<std::int64_t>(maps.cells.size());
  TestArray level(SHOAL_FLOAT, {1, n});
  ok(shoal_read(file, "deep", maps.plain, level.c(), SHOAL_SECTION(1, 3, start, count)));
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t cell = maps.cells[static_cast<std::size_t>(i)];
    if (cell == k_hole || !is_owned(cell / k_columns, cell % k_columns, gap)) continue;
    wrong += level.get({0, i}) != value_of(0, {1, 1, cell / k_columns, cell % k_columns}) ? 1 : 0;
  }
  CHECK(wrong == 0);
  ok(shoal_close(&file, 0));
}

const std::vector<MapKind>& kinds() {
  static const std::vector<MapKind> k_kinds{{25, 10, 1, false}, {10, 5, 30, true}};
  return k_kinds;
}

std::int64_t bytes_read(const shoal_dataset* file) {
  const std::string report = shoal_report(file);
  const std::string key = "\"bytes_read\": ";
  const auto at = report.find(key);
  REQUIRE(at != std::string::npos);
  return std::stoll(report.substr(at + key.size()));
}

/// What one rank read, of `field` bytes that all ranks want: its box and the headers of few files.
void check_share(std::int64_t bytes, std::int64_t field) {
  constexpr std::int64_t k_headers = 3 * 64 * 1024;
  const std::string reported = std::to_string(bytes) + " of " + std::to_string(field) + " bytes";
  CHECK_MESSAGE(bytes <= field / world_size() + field / 24 + k_headers, reported);
  std::int64_t sum = 0;
  MPI_Allreduce(&bytes, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum >= field);
}

/// packed(y, x) int through a filter of HDF5 that Shoal has no code for, values by index.
void write_filtered(const std::string& path, const Dims& shape) {
  if (world_rank() == 0) {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const std::vector<hsize_t> lengths(shape.begin(), shape.end());
    const hid_t space = H5Screate_simple(2, lengths.data(), nullptr);
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    const std::array<hsize_t, 2> chunk{4, static_cast<hsize_t>(shape[1])};
    H5Pset_chunk(how, 2, chunk.data());
    H5Pset_scaleoffset(how, H5Z_SO_INT, 0);
    const hid_t data = H5Dcreate2(file, "packed", H5T_STD_I32BE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    std::vector<int> values;
    for_cells(Box::whole(shape), [&](const Dims& i) { values.push_back(static_cast<int>(value_of(0, i))); });
    CHECK(H5Dwrite(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
    H5Pclose(how);
    H5Dclose(data);
    H5Sclose(space);
    H5Fclose(file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

TEST_CASE("sets are read by maps, whatever their layout: some ranks have no cells, some the same") {
  const bool on_one_machine = Nodes(Comm(MPI_COMM_WORLD), 0).single();
  for (const Seed& seed : seeds(61)) {
    CAPTURE(seed);
    std::mt19937 random(seed.value);
    const std::string columns = std::to_string(tile_columns());
    const std::string domains = columns + "x" + (world_size() / tile_columns() > 1 ? "2" : "1");
    const std::vector<std::string> layouts{"layout=process", "layout=node, ranks_per_node=2",
                                           "io_layout=" + domains};
    const std::vector<std::string> formats{"cdf5", "netcdf4", "netcdf4, compression=shuffle+deflate:1"};
    for (const auto& [layout, format] : in_part(pairs_of(layouts, formats))) {
      // Of machines of other numbers of ranks, tiles of two ranks may not be neighbours.
      if (layout.starts_with("layout=node") && !on_one_machine) continue;
      const bool gap = layout == "layout=process" && format != "netcdf4";
      CAPTURE(layout);
      CAPTURE(format);
      write_set("set.nc", layout + ", quiet=true, format=" + format, gap);
      for (const auto& kind : kinds()) {
        const Maps maps(kind, random);
        for (const std::string settings : {"", "ranks_per_node=2", "io_ranks=1", "stage_bytes=64KiB"}) {
          CAPTURE(settings);
          check_set(settings, maps, gap, random);
        }
      }
    }
  }
}

TEST_CASE("no rank reads all of a set for a map, but its box") {
  constexpr std::int64_t k_lines = 192, k_cells = 512;
  const std::int64_t first = k_lines * world_rank() / world_size();
  const Box tile({first, 0}, {k_lines * (world_rank() + 1) / world_size() - first, k_cells});
  const Dims shape{k_lines, k_cells};
  std::mt19937 random(62);
  const auto cells = random_maps(volume(shape), world_size(), {0, 0, 1, false},
                                 random)[static_cast<std::size_t>(world_rank())];
  const auto n = static_cast<std::int64_t>(cells.size());
  shoal_decomposition* map = nullptr;
  ok(shoal_map(MPI_COMM_WORLD, 2, shape.data(), 0, n, cells.data(), &map));
  for (const std::string format : {"cdf5", "netcdf4"}) {
    CAPTURE(format);
    const Cut cut(MPI_COMM_WORLD, shape, tile, Dims(2), Dims(2));
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, "set.nc", ("layout=process, format=" + format).c_str(), &file));
    def_dim(file, "y", k_lines);
    def_dim(file, "x", k_cells);
    ok(shoal_def_var(file, "v", SHOAL_DOUBLE, "y x", cut.handle()));
    TestArray values(SHOAL_DOUBLE, tile.count);
    for_cells(Box::whole(tile.count), [&](const Dims& i) {
      values.set(i, value_of(0, {i[0] + first, i[1]}));
    });
    ok(shoal_write(file, "v", nullptr, values.c(), nullptr));
    ok(shoal_close(&file, 0));
    for (const std::string settings : {"", "stage_bytes=64KiB", "ranks_per_node=2"}) {
      CAPTURE(settings);
      ok(shoal_open(MPI_COMM_WORLD, "set.nc", SHOAL_READ, settings.c_str(), &file));
      const std::int64_t before = bytes_read(file);
      TestArray array(SHOAL_DOUBLE, {n});
      ok(shoal_read(file, "v", map, array.c(), nullptr));
      check_share(bytes_read(file) - before, volume(shape) * 8);
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t cell = cells[static_cast<std::size_t>(i)];
        wrong += array.get({i}) != value_of(0, {cell / k_cells, cell % k_cells}) ? 1 : 0;
      }
      CHECK(wrong == 0);
      ok(shoal_close(&file, 0));
    }
  }
  shoal_decomposition_free(&map);
}

TEST_CASE("gaps of a set that do not fit an array are no error, and values of its files are") {
  const Box tile = tile_of(world_rank(), true);
  for (const std::string format : {"cdf5", "netcdf4"})
    for (const bool large : {false, true}) {
      CAPTURE(format);
      CAPTURE(large);
      const Cut cut(MPI_COMM_WORLD, k_grid, tile, Dims(2), Dims(2));
      shoal_dataset* file = nullptr;
      ok(shoal_create(MPI_COMM_WORLD, "gaps.nc", ("layout=process, quiet=true, format=" + format).c_str(),
                      &file));
      def_dim(file, "y", k_rows);
      def_dim(file, "x", k_columns);
      ok(shoal_def_var(file, "v", SHOAL_FLOAT, "y x", cut.handle()));
      TestArray values(SHOAL_DOUBLE, tile.count);
      for_cells(Box::whole(tile.count), [&](const Dims& i) {
        const Dims global{i[0] + tile.first[0], i[1] + tile.first[1]};
        const bool last = global == Dims{k_rows - 1, k_columns - 1};
        values.set(i, large && last ? 1e6 : value_of(0, global));
      });
      ok(shoal_write(file, "v", nullptr, values.c(), nullptr));
      ok(shoal_close(&file, 0));
      // All cells, as tiles and as a map, on ranks of which only the last has an array that is too small.
      const bool last_rank = world_rank() == world_size() - 1;
      const int type = last_rank ? SHOAL_SHORT : SHOAL_DOUBLE;
      const double gap = fill_value(last_rank ? SHOAL_SHORT : SHOAL_FLOAT);
      std::vector<std::int64_t> cells(static_cast<std::size_t>(volume(k_grid)));
      std::iota(cells.rbegin(), cells.rend(), 0);
      shoal_decomposition* map = nullptr;
      ok(shoal_map(MPI_COMM_WORLD, 2, k_grid.data(), 0, volume(k_grid), cells.data(), &map));
      shoal_decomposition* tiles = nullptr;
      const Box mine = last_rank ? Box::whole(k_grid) : Box(Dims(2), Dims(2));
      ok(shoal_block(MPI_COMM_WORLD, 2, k_grid.data(), mine.first.data(), mine.count.data(), nullptr, nullptr,
                     &tiles));
      for (const bool is_map : {false, true}) {
        CAPTURE(is_map);
        ok(shoal_open(MPI_COMM_WORLD, "gaps.nc", SHOAL_READ, "quiet=true", &file));
        TestArray found(type, is_map ? Dims{volume(k_grid)} : mine.count);
        found.fill(-5);
        const int code = shoal_read(file, "v", is_map ? map : tiles, found.c(), nullptr);
        if (large)
          fails(code, SHOAL_RANGE, {"at index [23, 41] (from 0) does not fit type short; everything else"});
        else
          ok(code);
        alike(code);
        std::int64_t wrong = 0;
        for_cells(is_map ? Box::whole(k_grid) : mine, [&](const Dims& i) {
          double expected = is_owned(i[0], i[1], true) ? value_of(0, i) : gap;
          if (large && i == Dims{k_rows - 1, k_columns - 1}) expected = last_rank ? gap : 1e6;
          const Dims at = is_map ? Dims{volume(k_grid) - 1 - position_in(i, Box::whole(k_grid))} : i;
          wrong += found.get(at) != expected ? 1 : 0;
        });
        CHECK(wrong == 0);
        ok(shoal_close(&file, 0));
      }
      shoal_decomposition_free(&map);
      shoal_decomposition_free(&tiles);
    }
}

TEST_CASE("a file of a set that is gone, and bad arguments, are the same error for all who read by a map") {
  write_set("set.nc", "layout=process", false);
  std::mt19937 random(63);
  const Maps maps({0, 5, 9, false}, random);
  const auto n = static_cast<std::int64_t>(maps.cells.size());
  TestArray values(SHOAL_DOUBLE, {n});
  TestArray longer(SHOAL_DOUBLE, {n + 1});
  int last_with_cells = n > 0 ? world_rank() : -1;
  MPI_Allreduce(MPI_IN_PLACE, &last_with_cells, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  const bool odd = world_rank() == last_with_cells;
  shoal_dataset* file = nullptr;
  ok(shoal_open(MPI_COMM_WORLD, "set.nc", SHOAL_READ, nullptr, &file));
  int code = shoal_read(file, "flat", maps.plain, odd ? longer.c() : values.c(), nullptr);
  fails(code, SHOAL_INVALID_ARGUMENT, {"flat", "extents"});
  alike(code);
  code = shoal_read(file, odd ? "none" : "flat", maps.plain, values.c(), nullptr);
  fails(code, SHOAL_NOT_FOUND, {"none"});
  alike(code);
  ok(shoal_read(file, "flat", maps.plain, values.c(), nullptr));
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, "set.nc", SHOAL_READ, nullptr, &file));
  if (world_rank() == 0) std::filesystem::remove("set.nc.0000");
  MPI_Barrier(MPI_COMM_WORLD);
  code = shoal_read(file, "flat", maps.plain, values.c(), nullptr);
  fails(code, SHOAL_NOT_FOUND, {"set.nc.0000", "flat"});
  alike(code);
  ok(shoal_close(&file, 0));
}

TEST_CASE("variables that only HDF5's library can read are read by maps, each box by one rank") {
  const Dims shape{k_rows * 16, k_columns * 16};
  const std::int64_t columns = shape[1];
  write_filtered("filtered.nc", shape);
  for (const Seed& seed : seeds(64)) {
    CAPTURE(seed);
    std::mt19937 random(seed.value);
    for (const bool repeats : {false, true})
      for (const std::string settings :
           {"", "ranks_per_node=2", "io_ranks=1", "stage_bytes=64KiB", "background=thread"}) {
        CAPTURE(settings);
        const auto cells = random_maps(volume(shape), world_size(), {5, 5, repeats ? 50 : 1, repeats},
                                       random)[static_cast<std::size_t>(world_rank())];
        const auto n = static_cast<std::int64_t>(cells.size());
        shoal_decomposition* map = nullptr;
        ok(shoal_map(MPI_COMM_WORLD, 2, shape.data(), 0, n, cells.data(), &map));
        for (const int mode : {SHOAL_READ, SHOAL_WRITE}) {
          if (mode == SHOAL_WRITE && repeats) continue;
          shoal_dataset* file = nullptr;
          ok(shoal_open(MPI_COMM_WORLD, "filtered.nc", mode,
                        ("driver=native, quiet=true, " + settings).c_str(), &file));
          TestArray values(SHOAL_DOUBLE, {n}, random);
          values.fill(-5);
          const std::int64_t before = bytes_read(file);
          ok(shoal_read(file, "packed", map, values.c(), nullptr));
          const bool all_share = settings.find("io_ranks") == std::string::npos;
          // As stored: 7 bits for values below 98.
          if (all_share && world_size() > 1)
            CHECK(bytes_read(file) - before < volume(shape) * 7 / 8 * 3 / 4 + 16 * 1024);
          std::int64_t wrong = 0;
          for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t cell = cells[static_cast<std::size_t>(i)];
            const double expected = cell == k_hole ? -5 : value_of(0, {cell / columns, cell % columns});
            wrong += values.get({i}) != expected ? 1 : 0;
          }
          CHECK(wrong == 0);
          // Bad arguments of one rank stop nobody.
          const bool odd = world_rank() == world_size() - 1;
          const int code = shoal_read(file, odd ? "none" : "packed", map, values.c(), nullptr);
          fails(code, SHOAL_NOT_FOUND, {"none"});
          alike(code);
          ok(shoal_read(file, "packed", map, values.c(), nullptr));
          ok(shoal_close(&file, 0));
        }
        shoal_decomposition_free(&map);
      }
  }
}

}  // namespace shoal::testing
