// Decompositions saved to files and loaded on the same and other numbers of ranks; files of others; bad
// files.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <numeric>
#include <random>

#include "map_files.hpp"
#include "shoal/shoal.h"

using namespace shoal;
using namespace shoal::testing;

TEST_CASE("map file: a map comes back as it was on as many ranks, and evenly cut on others") {
  const Scratch file("map.nc");
  int seed = 0;
  for (const std::int64_t stretch : {1, 2, 7})
    for (const int whole : {0, 1}) {
      const Dims global{13, 20, 5};
      const std::int64_t cells = whole == 0 ? 1300 : 260;
      const Numbers mine = random_list(cells, ++seed, stretch);
      const auto made = Decomposition::map(world(), global, whole, mine);
      save_decomposition(MPI_COMM_WORLD, made.get(), file.path);
      CHECK(local_cells(*made) == mine);
      check_same(*load_decomposition(MPI_COMM_WORLD, file.path, ""), *made);

      const Numbers saved = without_holes(all_lists(world(), mine));
      for (int ranks = 1; ranks < world().size(); ++ranks)
        on_ranks(ranks, [&](const Comm& comm) {
          const auto loaded = load_decomposition(comm.handle(), file.path, "");
          const Numbers list = local_cells(*loaded);
          CHECK(all_lists(comm, list) == saved);
          CHECK(loaded->global() == global);
          CHECK(loaded->uncut_dims() == whole);
          const auto n = static_cast<std::int64_t>(list.size());
          CHECK(comm.max(n) - comm.min(n) <= 1);
        });
    }
}

TEST_CASE("map file: few ranks save, many load; one run is cut too") {
  const Scratch file("few.nc");
  Numbers list(1000);
  std::iota(list.begin(), list.end(), 500);
  list[0] = k_hole;
  on_ranks(1, [&](const Comm& comm) {
    save_decomposition(comm.handle(), Decomposition::map(comm, {50, 40}, 0, list).get(), file.path);
  });
  const auto loaded = load_decomposition(MPI_COMM_WORLD, file.path, "");
  const Numbers expected = world().size() == 1 ? list : without_holes(list);
  CHECK(all_lists(world(), local_cells(*loaded)) == expected);
  CHECK(loaded->owned_cells() == 999);
}

TEST_CASE("map file: more ranks than cells, and no cells at all") {
  const Scratch file("none.nc");
  for (const Numbers& list : {Numbers{}, Numbers{k_hole, k_hole}, Numbers{k_hole, 2}}) {
    const Numbers mine = world().rank() == 0 ? list : Numbers{};
    const auto made = Decomposition::map(world(), {3}, 0, mine);
    save_decomposition(MPI_COMM_WORLD, made.get(), file.path);
    check_same(*load_decomposition(MPI_COMM_WORLD, file.path, ""), *made);
    on_ranks(std::max(1, world().size() - 1), [&](const Comm& comm) {
      const auto loaded = load_decomposition(comm.handle(), file.path, "");
      const Numbers expected = comm.size() == world().size() ? list : without_holes(list);
      CHECK(all_lists(comm, local_cells(*loaded)) == expected);
    });
  }
}

TEST_CASE("map file: indices beyond 32 bits, and a scattered list takes 8 bytes a cell") {
  const Scratch file("large.nc");
  const std::int64_t far = std::int64_t{1} << 45;
  const Dims global{std::int64_t{1} << 20, std::int64_t{1} << 30};
  Numbers mine;
  for (std::int64_t i = 0; i < 5000; ++i)
    mine.push_back(far + (4999 - i) * 3 * world().size() + world().rank());
  const auto made = Decomposition::map(world(), global, 0, mine);
  save_decomposition(MPI_COMM_WORLD, made.get(), file.path);
  check_same(*load_decomposition(MPI_COMM_WORLD, file.path, ""), *made);
  if (world().rank() == 0) {
    std::ifstream in(file.path, std::ios::binary | std::ios::ate);
    // Variables begin at multiples of 4 KiB, behind the space kept for the header.
    CHECK(static_cast<std::int64_t>(in.tellg()) < world().size() * 5000 * 8 + 100 * 1024);
  }
}

TEST_CASE("map file: a cell that two ranks have is loaded") {
  const Scratch file("twice.nc");
  const Numbers mine{7, 3};
  const auto made = Decomposition::map(world(), {9}, 0, mine);
  save_decomposition(MPI_COMM_WORLD, made.get(), file.path);
  const auto loaded = load_decomposition(MPI_COMM_WORLD, file.path, "");
  check_same(*loaded, *made);
  CHECK(loaded->repeated().has_value() == (world().size() > 1));
}

TEST_CASE("map file: a block comes back with its halo, and as a map on other ranks") {
  const Scratch file("block.nc");
  const int ranks = world().size(), rank = world().rank();
  // Columns of uneven width, the last rank has none.
  const std::int64_t begin = rank * 3, count = rank == ranks - 1 && ranks > 1 ? 0 : 2;
  const Box tile({1, begin, 0}, {4, count, 2});
  const auto made = Decomposition::block(world(), {6, 3 * ranks, 2}, tile, {0, 1, 0}, {1, 2, 0});
  save_decomposition(MPI_COMM_WORLD, made.get(), file.path);
  const auto loaded = load_decomposition(MPI_COMM_WORLD, file.path, "");
  check_same(*loaded, *made);
  CHECK(loaded->tile() == made->tile());
  CHECK(loaded->halo_low() == made->halo_low());
  CHECK(loaded->halo_high() == made->halo_high());

  const Numbers saved = all_lists(world(), local_cells(*made));
  for (int others = 1; others < ranks; ++others)
    on_ranks(others, [&](const Comm& comm) {
      const auto map = load_decomposition(comm.handle(), file.path, "");
      CHECK(map->map() != nullptr);
      const Numbers list = local_cells(*map);
      CHECK(all_lists(comm, list) == saved);
      const auto n = static_cast<std::int64_t>(list.size());
      CHECK(comm.max(n) - comm.min(n) <= 1);
    });
}

TEST_CASE("map file: PIO's text form") {
  const Scratch file("pio.txt");
  // Three ranks, the second of which has no list; then what PIO appends.
  write_text(file.path,
             "version 2001 npes 3 ndims 2 \n4 3 \n0 5\n1 0 12 3 2 \n2 4\n11 10 \n9 4\n\n"
             "Obtained 10 stack frames.\n./a.out() [0x1]\nioid\t512\n");
  const Numbers first{0, k_hole, 11, 2, 1}, third{10, 9, 8, 3};
  for (int ranks = 1; ranks <= world().size(); ++ranks)
    on_ranks(ranks, [&](const Comm& comm) {
      const auto loaded = load_decomposition(comm.handle(), file.path, "");
      CHECK(loaded->global() == Dims{3, 4});
      const Numbers list = local_cells(*loaded);
      if (ranks == 3)
        CHECK(list == (comm.rank() == 0 ? first : comm.rank() == 1 ? Numbers{} : third));
      else
        CHECK(all_lists(comm, list) == Numbers{0, 11, 2, 1, 10, 9, 8, 3});
      CHECK(load_decomposition(comm.handle(), file.path, "c")->global() == Dims{4, 3});
    });
  fails(world(), file.path, "D1", Code::not_found, {"D1", "fortran", file.path});
}

TEST_CASE("map file: a long list in PIO's form goes through in pieces") {
  const Scratch file("pio_long.txt");
  const std::int64_t n = 400000;
  if (world().rank() == 0) {
    std::ofstream out(file.path);
    out << "version 2001 npes 2 ndims 1 \n" << n << "\n0 " << n << "\n";
    for (std::int64_t i = n; i > 0; --i)
      out << i << ' ';
    out << "\n1 0\n\n";
  }
  world().barrier();
  const Numbers cells = local_cells(*load_decomposition(MPI_COMM_WORLD, file.path, ""));
  Numbers expected(static_cast<std::size_t>(n));
  std::iota(expected.rbegin(), expected.rend(), 0);
  CHECK(all_lists(world(), cells) == expected);
}

TEST_CASE("map file: damaged text is refused, with the line") {
  const Scratch file("bad.txt");
  const auto refused = [&](const std::string& text, const std::vector<std::string>& words) {
    write_text(file.path, text);
    fails(world(), file.path, "", Code::format, words);
  };
  refused("version 1999 npes 1 ndims 1\n4\n", {"2001", "1999"});
  refused("version 2001 npes 0 ndims 1\n4\n", {"0 ranks"});
  refused("version 2001 npes 1 ndims 16\n4\n", {"16 dimensions; 1 to 15"});
  refused("version 2001 npes 1 ndims 2\n4 0\n", {"length 0"});
  refused("version 2001 npes 1 ndims 2\n9000000000000000000 9000000000000000000\n", {"line 2"});
  refused("version 2001 npes 1 ndims 1\n4\n0 3\n1 2", {"cut off", "index of a cell"});
  refused("version 2001 npes 1 ndims 1\n4\n0 2\n1 x\n", {"line 4", "'x'"});
  refused("version 2001 npes 1 ndims 1\n4\n0 2\n1 5\n", {"line 4", "rank 0", "index 5", "1 to 4"});
  refused("version 2001 npes 2 ndims 1\n4\n1 1\n1\n0 1\n2\n", {"rank 0", "line 5"});
  refused("version 2001 npes 2 ndims 1\n4\n0 -1\n", {"-1 cells"});
}

TEST_CASE("map file: other files, missing files and different arguments are refused alike") {
  const Scratch file("bad.nc");
  fails(world(), "map_file_there_is_none.nc", "", Code::not_found, {"map_file_there_is_none.nc"});
  write_text(file.path, "something else altogether");
  fails(world(), file.path, "", Code::format, {file.path});
  {
    const auto plain = Dataset::create(MPI_COMM_WORLD, file.path, quietly());
    plain->def_dim("x", 3);
    plain->close(false);
  }
  fails(world(), file.path, "", Code::format, {"no decomposition"});

  const auto made = Decomposition::map(world(), {9}, 0, {});
  save_decomposition(MPI_COMM_WORLD, made.get(), file.path);
  fails(world(), file.path, "D1", Code::not_found, {"D1"});
  if (world().size() > 1) {
    const bool last = world().rank() == world().size() - 1;
    fails(world(), last ? "another.nc" : file.path, "", Code::out_of_step, {"another.nc"});
    Status status =
        caught([&] { save_decomposition(MPI_COMM_WORLD, last ? nullptr : made.get(), file.path); });
    CHECK(status.code == Code::invalid_argument);
    const Comm other = world().split(world().rank() % 2);
    status = caught([&] { save_decomposition(other.handle(), made.get(), file.path); });
    CHECK(status.code == Code::invalid_argument);
  }
}

TEST_CASE("map file: a damaged file of Shoal's is refused") {
  const Scratch file("damaged.nc");
  // What a file says, one thing of which is wrong.
  struct Content {
    Numbers shape{6}, entries{2, 1}, cells{3, 1}, index{0, 4, 3}, length{2, 1, 1};
    std::int32_t whole = 0, version = 1;
    std::string kind = "map";
    std::string without;
  };
  const auto make = [&](const Content& c) {
    const auto f = Dataset::create(MPI_COMM_WORLD, file.path, quietly());
    f->put_att(nullptr, "shoal_decomposition", Type::char_, static_cast<std::int64_t>(c.kind.size()),
               c.kind.data());
    f->put_att(nullptr, "shoal_decomposition_version", Type::int_, 1, &c.version);
    f->put_att(nullptr, "whole", Type::int_, 1, &c.whole);
    const std::vector<std::pair<std::string, const Numbers*>> all = {{"global_shape", &c.shape},
                                                                     {"entries", &c.entries},
                                                                     {"cells", &c.cells},
                                                                     {"index", &c.index},
                                                                     {"length", &c.length}};
    for (const auto& [name, values] : all) {
      if (name == c.without) continue;
      f->def_dim("n_" + name, static_cast<std::int64_t>(values->size()));
      f->def_var(name, Type::int64, "n_" + name, nullptr);
    }
    for (const auto& [name, values] : all) {
      if (name == c.without) continue;
      DataCall call;
      call.variable = name;
      call.array.cells = ArrayView::contiguous(const_cast<std::int64_t*>(values->data()), Type::int64,
                                               {static_cast<std::int64_t>(values->size())});
      f->put(call);
    }
    f->close(false);
  };
  const auto refused = [&](const std::function<void(Content&)>& spoil, const std::vector<std::string>& words,
                           Code code = Code::format) {
    Content content;
    spoil(content);
    make(content);
    for (int ranks = 1; ranks <= world().size(); ++ranks)
      on_ranks(ranks, [&](const Comm& comm) { fails(comm, file.path, "", code, words); });
  };
  make({});
  on_ranks(1, [&](const Comm& comm) {
    CHECK(local_cells(*load_decomposition(comm.handle(), file.path, "")) == Numbers{0, 1, 4, 3});
  });
  refused([](Content& c) { c.shape = {0}; }, {"length 0"});
  refused([](Content& c) { c.shape.assign(16, 1); }, {"16 dimensions, not 1 to 15"});
  refused([](Content& c) { c.entries = {2, 2}; }, {"'index'", "3 values", "4 entries"});
  refused([](Content& c) { c.entries = {4, -1}; }, {"rank 1", "-1 entries"});
  refused([](Content& c) { c.length = {2, 1}; }, {"'length'", "2 values"});
  refused([](Content& c) { c.length = {2, -1, 1}; }, {"entry 1", "-1 cells"});
  refused([](Content& c) { c.index = {0, -2, 3}; }, {"entry 1", "index -2"});
  refused([](Content& c) { c.whole = 1; }, {"whole"});
  refused([](Content& c) { c.kind = "star"; }, {"'star'"});
  refused([](Content& c) { c.without = "index"; }, {"'index'"});
  refused([](Content& c) { c.without = "entries"; }, {"'entries'"});
  refused([](Content& c) { c.version = 3; }, {"later Shoal", "1 and 2"}, Code::not_supported);
  refused([](Content& c) { c.index = {0, 6, 3}; }, {"entry 1", "index 6", "0 to 5"});
  refused([](Content& c) { c.index = {5, 4, 3}; }, {"entry 0", "index 5", "2 cells"});
  refused([](Content& c) { c.cells = {3}; }, {"'entries' are of 2", "'cells' of 1"});
  refused([](Content& c) { c.shape = {std::int64_t{1} << 40, std::int64_t{1} << 30}; }, {"2^63"});
  // On as many ranks lists are made as they were; on others without holes.
  const auto refused_on_two = [&](const Content& content, const std::vector<std::string>& words) {
    make(content);
    if (world().size() > 1)
      on_ranks(2, [&](const Comm& comm) { fails(comm, file.path, "", Code::format, words); });
  };
  Content shorter;
  shorter.cells = {2, 1};
  refused_on_two(shorter, {"rank 0", "2 cells", "have 3"});
  Content holes;  // refused before there is memory for them
  holes.index = {0, 4, -1};
  holes.length = {2, 1, (std::int64_t{1} << 32) - 1};
  refused_on_two(holes, {"rank 1", "1 cells", "have 4294967295"});
}

TEST_CASE("map file: the maps of E3SM's benchmark") {
  const char* found = std::getenv("E3SM_MAPS");
  const std::string folder = found != nullptr ? found : SHOAL_SOURCE_DIR "/../shared/data/e3sm";
  struct Known {
    const char *file, *name;
    Dims global;
  };
  const std::vector<Known> all = {{"f", "D1", {866}},      {"f", "D2", {866}},      {"f", "D3", {72, 866}},
                                  {"g", "D1", {285}},      {"g", "D2", {879}},      {"g", "D3", {285, 100}},
                                  {"g", "D4", {879, 100}}, {"g", "D5", {593, 100}}, {"g", "D6", {285, 101}}};
  for (const Known& known : all) {
    const std::string path = folder + "/map_" + known.file + "_case_16p.nc";
    if (access(path.c_str(), R_OK) != 0) {
      MESSAGE("skipped: there is no ", path, " (E3SM_MAPS names the folder of E3SM's map files)");
      return;
    }
    const auto loaded = load_decomposition(MPI_COMM_WORLD, path, known.name);
    CHECK(loaded->global() == known.global);
    CHECK(loaded->owned_cells() == volume(known.global));
    CHECK(!loaded->repeated().has_value());
    // The same cells one by one, as the file has them too: from 1.
    const auto file = Dataset::open(MPI_COMM_WORLD, path, false, quietly());
    Numbers raw(static_cast<std::size_t>(volume(known.global)));
    DataCall call;
    call.variable = std::string(known.name) + ".raw_offsets";
    call.array.cells = ArrayView::contiguous(raw.data(), Type::int64, {volume(known.global)});
    file->get(call);
    file->close(false);
    for (auto& cell : raw)
      --cell;
    CHECK(all_lists(world(), local_cells(*loaded)) == raw);
  }
  fails(world(), folder + "/map_f_case_16p.nc", "D9", Code::not_found, {"D9", "D1, D2, D3"});
  fails(world(), folder + "/map_f_case_16p.nc", "", Code::invalid_argument, {"D1, D2, D3"});
}

TEST_CASE("map file: a file as E3SM's with gaps that somebody fills, on as many ranks and on others") {
  const Scratch file("e3sm.nc");
  // Two ranks; the last request of the second one is a gap.
  const std::vector<std::pair<std::string, Numbers>> content = {{"D1.nreqs", {2, 2}},
                                                                {"D1.fill_starts", {2, 1}},
                                                                {"D1.offsets", {4, 0, 6, 2}},
                                                                {"D1.lengths", {2, 1, 2, 2}}};
  {
    const auto f = Dataset::create(MPI_COMM_WORLD, file.path, quietly());
    const std::int32_t dims[] = {2, 4};
    f->put_att(nullptr, "D1.dims", Type::int_, 2, dims);
    f->def_dim("decomp_nprocs", 2);
    f->def_dim("D1.total_nreqs", 4);
    for (const auto& [name, values] : content)
      f->def_var(name, Type::int_, values.size() == 2 ? "decomp_nprocs" : "D1.total_nreqs", nullptr);
    for (const auto& [name, values] : content) {
      DataCall call;
      call.variable = name;
      call.array.cells = ArrayView::contiguous(const_cast<std::int64_t*>(values.data()), Type::int64,
                                               {static_cast<std::int64_t>(values.size())});
      f->put(call);
    }
    f->close(false);
  }
  for (int ranks = 1; ranks <= world().size(); ++ranks)
    on_ranks(ranks, [&](const Comm& comm) {
      const auto loaded = load_decomposition(comm.handle(), file.path, "");  // the only one needs no name
      const Numbers list = local_cells(*loaded);
      CHECK(loaded->global() == Dims{2, 4});
      CHECK(all_lists(comm, list) == Numbers{4, 5, 0, 6, 7});
      if (ranks == 2) CHECK(list == (comm.rank() == 0 ? Numbers{4, 5, 0} : Numbers{6, 7}));
    });
}

TEST_CASE("map file: the C interface") {
  const Scratch file("c.nc");
  const int rank = world().rank(), ranks = world().size();
  const std::int64_t global[] = {2 * ranks, 3};
  const std::int64_t cells[] = {2 * rank + 1, SHOAL_HOLE, 2 * rank};
  shoal_decomposition* map = nullptr;
  REQUIRE(shoal_map(MPI_COMM_WORLD, 2, global, 1, 3, cells, &map) == SHOAL_OK);
  shoal_map_info info = SHOAL_MAP_INFO_INIT;
  CHECK(shoal_decomposition_map_info(map, &info) == SHOAL_OK);
  CHECK(info.is_map == 1);
  CHECK(info.uncut == 1);
  CHECK(info.ncells == 3);
  CHECK(info.mapped == 2);
  CHECK(info.runs == 2);
  CHECK(info.bytes > 0);
  std::int64_t first[7], count[7];
  int ndims = 0;
  CHECK(shoal_decomposition_inquire(map, &ndims, nullptr, first, count, nullptr, nullptr) == SHOAL_OK);
  CHECK(ndims == 2);
  CHECK(first[0] == 0);
  CHECK(count[0] == 2 * ranks);
  CHECK(shoal_decomposition_save(MPI_COMM_WORLD, map, file.path.c_str()) == SHOAL_OK);
  shoal_decomposition_free(&map);

  REQUIRE(shoal_decomposition_load(MPI_COMM_WORLD, file.path.c_str(), nullptr, &map) == SHOAL_OK);
  Numbers again(3);
  CHECK(shoal_decomposition_cells(map, again.data()) == SHOAL_OK);
  CHECK(again == Numbers(cells, cells + 3));
  CHECK(shoal_decomposition_cells(map, nullptr) == SHOAL_INVALID_ARGUMENT);
  CHECK(shoal_decomposition_map_info(map, nullptr) == SHOAL_INVALID_ARGUMENT);
  shoal_decomposition_free(&map);

  // A block says what it is too.
  const std::int64_t tile_first[] = {2 * rank, 1}, tile_count[] = {2, 2};
  REQUIRE(shoal_block(MPI_COMM_WORLD, 2, global, tile_first, tile_count, nullptr, nullptr, &map) == SHOAL_OK);
  CHECK(shoal_decomposition_map_info(map, &info) == SHOAL_OK);
  CHECK(info.is_map == 0);
  CHECK(info.ncells == 4);
  Numbers tile(4);
  CHECK(shoal_decomposition_cells(map, tile.data()) == SHOAL_OK);
  CHECK(tile == Numbers{6 * rank + 1, 6 * rank + 2, 6 * rank + 4, 6 * rank + 5});
  shoal_decomposition_free(&map);

  // Bad on the last rank only: all ranks get the code, and nobody waits.
  const bool bad = rank == ranks - 1;
  const auto all_refuse = [&](int code, int expected) {
    CHECK(code == expected);
    CHECK(map == nullptr);
  };
  const std::int64_t outside[] = {2 * ranks};
  all_refuse(shoal_map(MPI_COMM_WORLD, 2, global, 1, 1, bad ? outside : cells, &map), SHOAL_INVALID_ARGUMENT);
  all_refuse(shoal_map(MPI_COMM_WORLD, 2, global, 1, bad ? -1 : 1, cells, &map), SHOAL_INVALID_ARGUMENT);
  all_refuse(shoal_map(MPI_COMM_WORLD, 2, global, 1, 1, bad ? nullptr : cells, &map), SHOAL_INVALID_ARGUMENT);
  all_refuse(shoal_map(MPI_COMM_WORLD, bad ? 8 : 2, global, 1, 1, cells, &map), SHOAL_INVALID_ARGUMENT);
  all_refuse(shoal_map(MPI_COMM_WORLD, 2, bad ? nullptr : global, 1, 1, cells, &map), SHOAL_INVALID_ARGUMENT);
  all_refuse(shoal_map(MPI_COMM_WORLD, 2, global, 2, 1, cells, &map), SHOAL_INVALID_ARGUMENT);
  all_refuse(shoal_map(MPI_COMM_WORLD, 2, global, -1, 1, cells, &map), SHOAL_INVALID_ARGUMENT);
  all_refuse(shoal_decomposition_load(MPI_COMM_WORLD, bad ? nullptr : file.path.c_str(), nullptr, &map),
             SHOAL_INVALID_ARGUMENT);
  CHECK(shoal_decomposition_save(MPI_COMM_WORLD, nullptr, file.path.c_str()) == SHOAL_INVALID_ARGUMENT);
}
