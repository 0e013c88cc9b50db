// Variables of as many dimensions as there may be (SHOAL_MAX_DIMS), cut in several of them.
#include "conformance/support.hpp"

namespace shoal::testing {

namespace {

constexpr int k_grid_dims = SHOAL_MAX_DIMS - 1;
constexpr int k_cut[] = {4, 9, 14};  // halves, halves, and as many parts as it takes

const Dims& grid() {
  static const Dims k_shape{1, 2, 1, 1, 5, 1, 1, 2, 1, 3, 1, 1, 1, 2, 11};
  return k_shape;
}

/// Numbers of ranks that are no power of two leave cells that nobody owns.
Box tile_of(int rank, int ranks) {
  Box tile = Box::whole(grid());
  const int parts[] = {ranks > 1 ? 2 : 1, ranks > 2 ? 2 : 1, (ranks + 3) / 4};
  const int part[] = {rank % 2, rank / 2 % 2, rank / 4};
  for (int i = 0; i < 3; ++i) {
    const std::int64_t length = grid()[k_cut[i]];
    tile.first[k_cut[i]] = length * part[i] / parts[i];
    tile.count[k_cut[i]] = length * (part[i] + 1) / parts[i] - tile.first[k_cut[i]];
  }
  return tile;
}

bool owned(const Dims& cell) {
  for (int rank = 0; rank < world_size(); ++rank)
    if (tile_of(rank, world_size()).contains(Box(cell, Dims(k_grid_dims, 1)))) return true;
  return false;
}

std::vector<const char*> names(bool record) {
  static const char* const k_names[] = {"t",  "d0", "d1", "d2",  "d3",  "d4",  "d5",  "d6",
                                        "d7", "d8", "d9", "d10", "d11", "d12", "d13", "d14"};
  std::vector<const char*> out(std::begin(k_names), std::end(k_names));
  if (!record) out.front() = "e";  // of length 2
  return out;
}

void define(shoal_dataset* file, const char* name, int type, bool record, const shoal_decomposition* cut) {
  const auto dims = names(record);
  ok(shoal_def_var_names(file, name, type, SHOAL_MAX_DIMS, dims.data(), cut));
}

Dims with(std::int64_t front, const Dims& cell) {
  return joined(Dims{front}, cell);
}

}  // namespace

TEST_CASE("many dimensions: written and read") {
  std::mt19937 random(3);
  const Box tile = tile_of(world_rank(), world_size());
  const Cut cut(MPI_COMM_WORLD, grid(), tile, Dims(k_grid_dims), Dims(k_grid_dims));
  std::vector<std::int64_t> cells;  // of the same tile, without the last dimension
  const Dims columns(std::span(grid().begin(), grid().end() - 1));
  Box of_map(Dims(std::span(tile.first.begin(), tile.first.end() - 1)),
             Dims(std::span(tile.count.begin(), tile.count.end() - 1)));
  if (world_rank() >= 4 || tile.empty()) of_map.count = Dims(k_grid_dims - 1);
  for_cells(of_map, [&](const Dims& i) { cells.push_back(position_in(i, Box::whole(columns))); });
  shoal_decomposition* map = nullptr;
  ok(shoal_map(MPI_COMM_WORLD, k_grid_dims, grid().data(), 1, static_cast<std::int64_t>(cells.size()),
               cells.data(), &map));
  for (const auto& format : formats())
    for (const bool compressed : {false, true}) {
      if (compressed && (!has_chunks(format) || !compresses_parts())) continue;
      CAPTURE(format);
      CAPTURE(compressed);
      const std::string settings = "format=" + format + (compressed ? ",compression=deflate:1" : "");
      shoal_dataset* file = nullptr;
      ok(shoal_create(MPI_COMM_WORLD, "deep.nc", settings.c_str(), &file));
      def_dim(file, "t", SHOAL_UNLIMITED);
      def_dim(file, "e", 2);
      for (int d = 0; d < k_grid_dims; ++d)
        def_dim(file, names(true)[static_cast<std::size_t>(d) + 1], grid()[d]);
      define(file, "deep", SHOAL_FLOAT, true, cut.handle());
      if (in_one_file()) define(file, "mapped", SHOAL_SHORT, true, map);  // a set of files takes no maps
      define(file, "fixed", SHOAL_DOUBLE, false, cut.handle());
      define(file, "same", SHOAL_INT, true, nullptr);
      // Two records of the tile, one of the map; both halves of the fixed one in one array.
      TestArray values(SHOAL_DOUBLE, tile.count, random);
      for (const std::int64_t record : {0, 1}) {
        for_cells(Box::whole(tile.count), [&](const Dims& i) {
          Dims cell = i;
          for (int d = 0; d < k_grid_dims; ++d)
            cell[d] += tile.first[d];
          values.set(i, value_of(static_cast<int>(record), cell));
        });
        ok(shoal_write(file, "deep", nullptr, values.c(), SHOAL_RECORD(record)));
      }
      const Dims mapped_shape{static_cast<std::int64_t>(cells.size()), grid()[k_grid_dims - 1]};
      TestArray mapped(SHOAL_DOUBLE, mapped_shape, random);
      const auto of_cell = [&](std::int64_t cell, std::int64_t last) {
        return value_of(5, joined(unravel(cell, columns), Dims{last}));
      };
      for_cells(Box::whole(mapped_shape),
                [&](const Dims& i) { mapped.set(i, of_cell(cells[static_cast<std::size_t>(i[0])], i[1])); });
      if (in_one_file()) ok(shoal_write(file, "mapped", nullptr, mapped.c(), SHOAL_RECORD(0)));
      TestArray halves(SHOAL_DOUBLE, with(2, tile.count), random);
      for_cells(Box::whole(with(2, tile.count)), [&](const Dims& i) {
        Dims cell = i;
        for (int d = 0; d < k_grid_dims; ++d)
          cell[d + 1] += tile.first[d];
        halves.set(i, value_of(7, cell));
      });
      ok(shoal_write(file, "fixed", nullptr, halves.c(), nullptr));
      TestArray all(SHOAL_INT, grid(), random);
      for_cells(Box::whole(grid()), [&](const Dims& i) { all.set(i, value_of(9, i)); });
      ok(shoal_put(file, "same", all.c(), SHOAL_RECORD(1)));
      ok(shoal_close(&file, 0));

      ok(shoal_open(MPI_COMM_WORLD, "deep.nc", SHOAL_READ, nullptr, &file));
      TestArray got(SHOAL_DOUBLE, tile.count, random);
      ok(shoal_read(file, "deep", cut.handle(), got.c(), SHOAL_RECORD(1)));
      std::int64_t wrong = 0;
      for_cells(Box::whole(tile.count), [&](const Dims& i) { wrong += got.get(i) != values.get(i) ? 1 : 0; });
      CHECK(wrong == 0);
      TestArray got_mapped(SHOAL_DOUBLE, mapped_shape, random);
      if (in_one_file()) {
        ok(shoal_read(file, "mapped", map, got_mapped.c(), SHOAL_RECORD(0)));
        for_cells(Box::whole(mapped_shape),
                  [&](const Dims& i) { wrong += got_mapped.get(i) != mapped.get(i) ? 1 : 0; });
        CHECK(wrong == 0);
      }
      TestArray got_halves(SHOAL_DOUBLE, with(2, tile.count), random);
      ok(shoal_read(file, "fixed", cut.handle(), got_halves.c(), nullptr));
      for_cells(Box::whole(with(2, tile.count)),
                [&](const Dims& i) { wrong += got_halves.get(i) != halves.get(i) ? 1 : 0; });
      CHECK(wrong == 0);
      // All of it on each rank: other ranks' cells, and those that nobody owns.
      TestArray whole(SHOAL_DOUBLE, with(2, grid()), random);
      ok(shoal_get(file, "deep", whole.c(), SHOAL_RECORDS(0, 2)));
      for_cells(Box::whole(with(2, grid())), [&](const Dims& i) {
        const Dims cell = tail(i, k_grid_dims);
        const double expected =
            owned(cell) ? value_of(static_cast<int>(i[0]), cell) : fill_value(SHOAL_FLOAT);
        wrong += whole.get(i) != expected ? 1 : 0;
      });
      CHECK(wrong == 0);
      Box part = Box::whole(grid());
      part.first[14] = 3, part.count[14] = 5, part.first[4] = 1, part.count[4] = 2;
      TestArray section(SHOAL_INT, part.count, random);
      ok(shoal_get(file, "same", section.c(),
                   SHOAL_SECTION(1, k_grid_dims, part.first.data(), part.count.data())));
      for_cells(Box::whole(part.count), [&](const Dims& i) {
        Dims cell = i;
        cell[14] += 3, cell[4] += 1;
        // Files of a set are as large as their tiles, and have nothing of cells that no tile has.
        if (in_one_file() || owned(cell)) wrong += section.get(i) != value_of(9, cell) ? 1 : 0;
      });
      CHECK(wrong == 0);
      ok(shoal_close(&file, 0));
    }
  shoal_decomposition_free(&map);
}

TEST_CASE("many dimensions: boxes of a call, and of one rank alone") {
  if (skipped(in_one_file(), "a set of files is written by the decompositions of its variables")) return;
  const Box tile = tile_of(world_rank(), world_size());
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, "boxes.nc", ("format=" + format).c_str(), &file));
    def_dim(file, "e", 2);
    for (int d = 0; d < k_grid_dims; ++d)
      def_dim(file, names(true)[static_cast<std::size_t>(d) + 1], grid()[d]);
    define(file, "together", SHOAL_INT, false, nullptr);
    define(file, "alone", SHOAL_INT, false, nullptr);
    ok(shoal_end_define(file));
    shoal_variable together = -1, alone = -1;
    ok(shoal_find_var(file, "together", &together));
    ok(shoal_find_var(file, "alone", &alone));
    const Dims first = with(1, tile.first), count = with(1, tile.count);
    TestArray values(SHOAL_INT, count);
    for_cells(Box::whole(count), [&](const Dims& i) {
      Dims cell = tail(i, k_grid_dims);
      for (int d = 0; d < k_grid_dims; ++d)
        cell[d] += tile.first[d];
      values.set(i, value_of(1, cell));
    });
    shoal_box box = SHOAL_BOX_INIT;
    box.variable = together;
    box.ndims = SHOAL_MAX_DIMS;
    box.start = first.data();
    box.count = count.data();
    box.array = *values.c();
    ok(shoal_write_boxes(file, 1, &box));
    box.variable = alone;
    if (writes_alone()) ok(shoal_write_independent(file, 1, &box));
    ok(shoal_sync(file, 0));
    for (const char* name : {"together", "alone"}) {
      if (!writes_alone() && name == std::string("alone")) continue;  // no calls of a rank alone
      CAPTURE(name);
      TestArray whole(SHOAL_INT, with(2, grid()));
      ok(shoal_get(file, name, whole.c(), nullptr));
      std::int64_t wrong = 0;
      for_cells(Box::whole(grid()), [&](const Dims& i) {
        if (owned(i)) wrong += whole.get(with(1, i)) != value_of(1, i) ? 1 : 0;
      });
      CHECK(wrong == 0);
    }
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("many dimensions: one more is refused") {
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, "deeper.nc", ("format=" + format).c_str(), &file));
    def_dim(file, "x", 1);
    const std::vector<const char*> dims(SHOAL_MAX_DIMS + 1, "x");
    fails(shoal_def_var_names(file, "deeper", SHOAL_INT, SHOAL_MAX_DIMS + 1, dims.data(), nullptr),
          SHOAL_INVALID_ARGUMENT, {"deeper", "ndims is 17", "0 to 16"});
    shoal_abandon(&file);
  }
  const std::vector<std::int64_t> ones(SHOAL_MAX_DIMS, 1), zeros(SHOAL_MAX_DIMS, 0);
  shoal_decomposition* cut = nullptr;
  fails(shoal_block(MPI_COMM_WORLD, SHOAL_MAX_DIMS, ones.data(), zeros.data(), ones.data(), nullptr, nullptr,
                    &cut),
        SHOAL_INVALID_ARGUMENT, {"1 to 15 dimensions, not 16"});
}

}  // namespace shoal::testing
