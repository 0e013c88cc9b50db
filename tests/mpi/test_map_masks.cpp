// Masks of decompositions that are saved to files and loaded on the same and other numbers of ranks.
#include <doctest/doctest.h>

#include "map_files.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

/// Of each local cell, whatever the dimensions of the mask are; holes are neither land nor water.
Numbers active_of(const Decomposition& d) {
  Numbers active = local_cells(d);
  for (std::size_t i = 0; i < active.size(); ++i)
    if (active[i] != k_hole)
      active[i] = d.mask() != nullptr && d.mask()->is_masked(static_cast<std::int64_t>(i) % d.mask()->cells())
                      ? 0
                      : 1;
  return active;
}

CellMask some_land(const Dims& shape, std::int64_t seed) {
  CellMask mask(shape);
  for (std::int64_t i = 0; i < mask.cells(); ++i)
    if ((i * 7 + seed * 3) % 5 < 2) mask.set_masked(i);
  return mask;
}

/// Saved, and loaded on all numbers of ranks: the same cells are water.
void check_mask_comes_back(const Shared& masked) {
  const Scratch file("masked.nc");
  save_decomposition(MPI_COMM_WORLD, masked.get(), file.path);
  const auto loaded = load_decomposition(MPI_COMM_WORLD, file.path, "");
  check_same(*loaded, *masked);
  CHECK(loaded->is_masked());
  CHECK(active_of(*loaded) == active_of(*masked));
  CHECK(loaded->halo_high() == masked->halo_high());
  // Holes are left out on other ranks.
  Numbers saved = all_lists(world(), local_cells(*masked));
  Numbers active = all_lists(world(), active_of(*masked));
  std::erase(saved, k_hole);
  std::erase(active, k_hole);
  for (int others = 1; others < world().size(); ++others)
    on_ranks(others, [&](const Comm& comm) {
      const auto map = load_decomposition(comm.handle(), file.path, "");
      CHECK(all_lists(comm, local_cells(*map)) == saved);
      CHECK(all_lists(comm, active_of(*map)) == active);
    });
}

}  // namespace

TEST_CASE("saved masks: come back, on as many ranks and on others") {
  const int ranks = world().size(), rank = world().rank();
  // A horizontal mask for all levels; the last rank has no cells.
  const std::int64_t count = rank == ranks - 1 && ranks > 1 ? 0 : 3;
  const Dims global{2, 4, 3 * ranks};
  const auto columns =
      Decomposition::block(world(), global, Box({0, 0, 3 * rank}, {2, 4, count}), {0, 1, 1}, {0, 1, 1});
  const auto flat = Decomposition::masked(world(), columns.get(), some_land({4, count}, rank));
  check_mask_comes_back(flat);
  check_mask_comes_back(Decomposition::masked(world(), columns.get(), some_land({2, 4, count}, rank)));
  // One that has no land.
  check_mask_comes_back(Decomposition::masked(world(), columns.get(), CellMask({4, count})));
  // Each rank has a level, with a mask of its own.
  const auto levels =
      Decomposition::block(world(), {ranks, 4, 5}, Box({rank, 0, 0}, {1, 4, 5}), {0, 0, 0}, {0, 0, 0});
  check_mask_comes_back(Decomposition::masked(world(), levels.get(), some_land({4, 5}, rank)));
  // Maps with holes, with a dimension that is not cut, and without any cell.
  const Numbers list = random_list(60, 5, 3);
  const auto map = Decomposition::map(world(), {6, 10, 2}, 1, list);
  check_mask_comes_back(
      Decomposition::masked(world(), map.get(), some_land({static_cast<std::int64_t>(list.size())}, rank)));
  const auto none = Decomposition::map(world(), {6}, 0, Numbers{});
  check_mask_comes_back(Decomposition::masked(world(), none.get(), CellMask(Dims{0})));
}

TEST_CASE("saved masks: that cannot be saved or are damaged") {
  const Scratch file("no_mask.nc");
  const auto twice = Decomposition::map(world(), {4}, 0, Numbers{2, 2});
  const auto masked = Decomposition::masked(world(), twice.get(), some_land({2}, 0));
  const Status refused = caught([&] { save_decomposition(MPI_COMM_WORLD, masked.get(), file.path); });
  CHECK(refused.code == Code::not_supported);
  CHECK_MESSAGE(refused.message.find("index 2") != std::string::npos, refused.message);
  const std::int64_t mine = world().rank();
  const auto plain = Decomposition::block(world(), {world().size()}, Box({mine}, {1}), {0}, {0});
  save_decomposition(MPI_COMM_WORLD, Decomposition::masked(world(), plain.get(), CellMask(Dims{1})).get(),
                     file.path);
  {
    const auto f = Dataset::open(MPI_COMM_WORLD, file.path, true, quietly());
    std::int8_t wrong = 3;
    DataCall call;
    call.variable = "water";
    const std::int64_t at = world().size() - 1;
    const std::int64_t one = 1;
    call.section.ndims = 1;
    call.section.start = &at;
    call.section.count = &one;
    call.array.cells = ArrayView::contiguous(&wrong, Type::byte_, {1});
    f->put(call);
    f->close(false);
  }
  fails(world(), file.path, "", Code::format,
        {"'water'", "has 3 at cell " + std::to_string(world().size() - 1)});
  {
    const auto f = Dataset::create(MPI_COMM_WORLD, file.path, quietly());
    const std::int32_t version = 2;
    f->put_att(nullptr, "shoal_decomposition", Type::char_, 5, "block");
    f->put_att(nullptr, "shoal_decomposition_version", Type::int_, 1, &version);
    f->def_dim("one", 1);
    f->def_dim("two", 1);
    const std::vector<std::pair<std::string, std::int64_t>> all = {
        {"first", 0}, {"count", 1}, {"halo_low", 0}, {"halo_high", 0}};
    f->def_var("global_shape", Type::int64, "one", nullptr);
    for (const auto& part : all)
      f->def_var(part.first, Type::int64, "two one", nullptr);
    const auto put = [&](const std::string& name, std::int64_t value, int dims) {
      DataCall call;
      call.variable = name;
      call.array.cells = ArrayView::contiguous(&value, Type::int64, Dims(dims, 1));
      f->put(call);
    };
    put("global_shape", 1, 1);
    for (const auto& part : all)
      put(part.first, part.second, 2);
    f->close(false);
  }
  on_ranks(1, [&](const Comm& comm) { fails(comm, file.path, "", Code::format, {"'water'", "not there"}); });
}
