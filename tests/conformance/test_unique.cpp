// Maps in which cells come twice, made so that each is there once: shoal_unique.
#include <set>

#include "conformance/support.hpp"
#include "support/random_maps.hpp"
#include "support/seeds.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

using Cells = std::vector<std::int64_t>;

/// A handle that is freed.
struct Made {
  Made() = default;
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  ~Made() { shoal_decomposition_free(&handle); }
  shoal_decomposition* handle = nullptr;
};

Cells cells_of(const shoal_decomposition* map) {
  shoal_map_info info = SHOAL_MAP_INFO_INIT;
  ok(shoal_decomposition_map_info(map, &info));
  Cells cells(static_cast<std::size_t>(info.ncells));
  ok(shoal_decomposition_cells(map, cells.data()));
  return cells;
}

/// What shoal_unique is to give, from the lists of all ranks.
Cells expected(const std::vector<Cells>& lists, int rank) {
  std::set<std::int64_t> taken;
  for (int r = 0; r < rank; ++r)
    taken.insert(lists[static_cast<std::size_t>(r)].begin(), lists[static_cast<std::size_t>(r)].end());
  Cells out = lists[static_cast<std::size_t>(rank)];
  for (auto cell = out.rbegin(); cell != out.rend(); ++cell)
    if (*cell != SHOAL_HOLE && !taken.insert(*cell).second) *cell = SHOAL_HOLE;
  return out;
}

void make(const Dims& global, int uncut, const Cells& cells, Made& map) {
  ok(shoal_map(MPI_COMM_WORLD, global.size(), global.data(), uncut, static_cast<std::int64_t>(cells.size()),
               cells.data(), &map.handle));
}

void check_unique(const Dims& global, int uncut, const std::vector<Cells>& lists) {
  Made twice, once, again;
  const Cells& mine = lists[static_cast<std::size_t>(world_rank())];
  make(global, uncut, mine, twice);
  ok(shoal_unique(MPI_COMM_WORLD, twice.handle, &once.handle));
  CHECK(cells_of(twice.handle) == mine);
  CHECK(cells_of(once.handle) == expected(lists, world_rank()));
  shoal_map_info info = SHOAL_MAP_INFO_INIT;
  ok(shoal_decomposition_map_info(once.handle, &info));
  CHECK(info.repeated == SHOAL_HOLE);
  CHECK(info.uncut == uncut);
  ok(shoal_unique(MPI_COMM_WORLD, once.handle, &again.handle));
  CHECK(cells_of(again.handle) == cells_of(once.handle));
}

}  // namespace

TEST_CASE("unique: the lowest rank keeps a cell, at its last place") {
  for (const Seed& seed : seeds(61)) {
    CAPTURE(seed);
    std::mt19937 random(seed.value);
    for (const std::int64_t runs : {1, 7, 60})
      for (const int unowned : {0, 40}) {
        CAPTURE(runs);
        check_unique({4, 57}, 0, random_maps(4 * 57, world_size(), {unowned, 20, runs, true}, random));
        check_unique({57, 3}, 1, random_maps(57, world_size(), {unowned, 20, runs, true}, random));
      }
  }
}

TEST_CASE("unique: all cells on all ranks, no cells at all, and indices of 64 bits") {
  const auto ranks = static_cast<std::size_t>(world_size());
  Cells all(1000);
  std::iota(all.begin(), all.end(), 0);
  check_unique({1000}, 0, std::vector<Cells>(ranks, all));
  std::vector<Cells> lists(ranks);
  check_unique({1000}, 0, lists);
  lists.back() = all;
  lists.back().insert(lists.back().end(), all.begin(), all.end());
  check_unique({1000}, 0, lists);
  // Runs that lie in each other, over the edges of ranks' parts and of 32 bits.
  const std::int64_t edge = std::int64_t{1} << 40;
  for (std::size_t r = 0; r < ranks; ++r) {
    lists[r].clear();
    for (auto i = -20 - 7 * static_cast<std::int64_t>(r); i < 20 + 5 * static_cast<std::int64_t>(ranks - r);
         ++i)
      for (const std::int64_t base : {edge / 2, edge, edge - 4000})
        if (r % 3 != 1 || i % 4 == 0) lists[r].push_back(base + i);
    std::sort(lists[r].begin(), lists[r].end());
    lists[r].push_back(edge + 1);
  }
  check_unique({1 << 20, 1 << 21}, 0, lists);
}

TEST_CASE("unique: what has each cell once comes back, blocks and masks too") {
  const std::int64_t global = 6 * world_size();
  const std::int64_t first = 6 * world_rank();
  const std::int64_t count = 6;
  Made block, same, masked, masked_twice;
  ok(shoal_block(MPI_COMM_WORLD, 1, &global, &first, &count, nullptr, nullptr, &block.handle));
  ok(shoal_unique(MPI_COMM_WORLD, block.handle, &same.handle));
  shoal_map_info info = SHOAL_MAP_INFO_INIT;
  ok(shoal_decomposition_map_info(same.handle, &info));
  CHECK(info.is_map == 0);
  CHECK(info.repeated == SHOAL_HOLE);
  CHECK(info.mapped == 6);
  std::vector<char> water(6, 1);
  const shoal_array mask = shoal_array_of(water.data(), SHOAL_BYTE, 1, &count);
  ok(shoal_masked(MPI_COMM_WORLD, block.handle, &mask, &masked.handle));
  shoal_decomposition_free(&same.handle);
  ok(shoal_unique(MPI_COMM_WORLD, masked.handle, &same.handle));

  const Cells five(6, 5);
  Made twice;
  make({global}, 0, five, twice);
  ok(shoal_decomposition_map_info(twice.handle, &info));
  CHECK(info.repeated == 5);
  CHECK(info.repeated_ranks[0] == 0);
  CHECK(info.repeated_ranks[1] <= 1);
  ok(shoal_masked(MPI_COMM_WORLD, twice.handle, &mask, &masked_twice.handle));
  Made none;
  int code = shoal_unique(MPI_COMM_WORLD, masked_twice.handle, &none.handle);
  fails(code, SHOAL_NOT_SUPPORTED, {"mask"});
  alike(code);
  CHECK(none.handle == nullptr);
  code =
      shoal_unique(MPI_COMM_WORLD, world_rank() == world_size() - 1 ? nullptr : twice.handle, &none.handle);
  fails(code, SHOAL_INVALID_ARGUMENT, {"decomposition"});
  alike(code);
  if (world_size() > 1) {
    code = shoal_unique(MPI_COMM_SELF, twice.handle, &none.handle);
    fails(code, SHOAL_INVALID_ARGUMENT, {"another communicator"});
  }
}

TEST_CASE("unique: a field that could only be read is written, on any nodes") {
  if (skipped(in_one_file(), "maps go to one file")) return;
  for (const Seed& seed : seeds(62)) {
    CAPTURE(seed);
    std::mt19937 random(seed.value);
    const std::int64_t n = 113;
    const auto lists = random_maps(n, world_size(), {20, 10, 5, true}, random);
    for (const auto& format : formats())
      for (const std::string nodes : {"", ", ranks_per_node=2"}) {
        CAPTURE(format);
        Made twice, once;
        const Cells& mine = lists[static_cast<std::size_t>(world_rank())];
        make({n}, 0, mine, twice);
        ok(shoal_unique(MPI_COMM_WORLD, twice.handle, &once.handle));
        shoal_dataset* file = nullptr;
        ok(shoal_create(MPI_COMM_WORLD, "unique.nc", ("format=" + format + nodes).c_str(), &file));
        def_dim(file, "time", SHOAL_UNLIMITED);
        def_dim(file, "x", n);
        ok(shoal_def_var(file, "v", SHOAL_FLOAT, "time x", once.handle));
        // Each place has a value of its own, so that the file says which one was written.
        TestArray values(SHOAL_DOUBLE, {static_cast<std::int64_t>(mine.size())});
        const auto value = [](int rank, std::size_t place) {
          return 1000.0 * (rank + 1) + static_cast<double>(place);
        };
        for (std::size_t i = 0; i < mine.size(); ++i)
          values.set({static_cast<std::int64_t>(i)}, value(world_rank(), i));
        ok(shoal_write(file, "v", nullptr, values.c(), SHOAL_RECORD(1)));
        values.fill(-1);
        ok(shoal_read(file, "v", twice.handle, values.c(), SHOAL_RECORD(1)));
        std::vector<double> wanted(static_cast<std::size_t>(n), fill_value(SHOAL_FLOAT));
        for (int r = 0; r < world_size(); ++r) {
          const Cells kept = expected(lists, r);
          for (std::size_t i = 0; i < kept.size(); ++i)
            if (kept[i] != SHOAL_HOLE) wanted[static_cast<std::size_t>(kept[i])] = value(r, i);
        }
        for (std::size_t i = 0; i < mine.size(); ++i)
          CHECK(values.get({static_cast<std::int64_t>(i)}) ==
                (mine[i] == SHOAL_HOLE ? -1 : wanted[static_cast<std::size_t>(mine[i])]));
        TestArray all(SHOAL_DOUBLE, {n});
        ok(shoal_get(file, "v", all.c(), SHOAL_RECORD(1)));
        for (std::int64_t i = 0; i < n; ++i)
          CHECK(all.get({i}) == wanted[static_cast<std::size_t>(i)]);
        ok(shoal_close(&file, 0));
      }
  }
}
