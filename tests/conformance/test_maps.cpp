// Fields cut by maps: any order, holes, ranks without cells, levels in front, dimensions behind that are not
// cut, sections, several nodes; read back by other maps and as blocks.
#include "conformance/support.hpp"
#include "support/parts.hpp"
#include "support/random_maps.hpp"
#include "support/seeds.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

/// A map's handle and this rank's list.
class Map {
 public:
  Map(const Dims& global, int whole, std::vector<std::int64_t> cells) : cells_(std::move(cells)) {
    for (int d = 0; d < global.size() - whole; ++d)
      mapped_.push_back(global[d]);
    ok(shoal_map(MPI_COMM_WORLD, global.size(), global.data(), whole, size(), cells_.data(), &handle_));
  }
  Map(const Map&) = delete;
  Map& operator=(const Map&) = delete;
  ~Map() { shoal_decomposition_free(&handle_); }

  const shoal_decomposition* handle() const { return handle_; }
  std::int64_t size() const { return static_cast<std::int64_t>(cells_.size()); }
  bool hole(std::int64_t i) const { return cells_[static_cast<std::size_t>(i)] < 0; }
  /// Global index of an element of an array [lead..., cells, whole...] in all dimensions.
  Dims global(const Dims& local, int leads, const Dims& first) const {
    Dims index;
    for (int d = 0; d < leads; ++d)
      index.push_back(local[d] + first[d]);
    for (const auto i : unravel(cells_[static_cast<std::size_t>(local[leads])], mapped_))
      index.push_back(i);
    for (int d = leads + 1; d < local.size(); ++d)
      index.push_back(local[d] + first[index.size()]);
    return index;
  }

 private:
  std::vector<std::int64_t> cells_;
  Dims mapped_;
  shoal_decomposition* handle_ = nullptr;
};

struct Shape {
  Dims lead, mapped, whole;
  Dims all() const { return joined(joined(lead, mapped), whole); }
  Dims global() const { return joined(mapped, whole); }
};

/// Which cells somebody has, by linear index.
std::vector<bool> owned_by(const std::vector<std::vector<std::int64_t>>& lists, std::int64_t cells) {
  std::vector<bool> owned(static_cast<std::size_t>(cells), false);
  for (const auto& list : lists)
    for (const auto cell : list)
      if (cell >= 0) owned[static_cast<std::size_t>(cell)] = true;
  return owned;
}

std::vector<std::int64_t> mine(const std::vector<std::vector<std::int64_t>>& lists) {
  return lists[static_cast<std::size_t>(world_rank())];
}

void define(shoal_dataset* file, const Shape& shape, int type, const shoal_decomposition* cut) {
  std::string names;
  const Dims all = shape.all();
  def_dim(file, "time", 0);
  for (int d = 0; d < all.size(); ++d) {
    const std::string name = "d" + std::to_string(d);
    def_dim(file, name, all[d]);
    names += " " + name;
  }
  ok(shoal_def_var(file, "fixed", type, names.c_str() + 1, cut));
  ok(shoal_def_var(file, "grows", type, ("time" + names).c_str(), cut));
}

/// number: of the variable; record -1: it has none.
double expected(int number, std::int64_t record, const Dims& index) {
  return value_of(number, record < 0 ? index : joined(Dims{record}, index));
}

void write(shoal_dataset* file, const char* name, const Map& map, const Shape& shape, int type,
           std::int64_t record, std::mt19937& random, const shoal_decomposition* cut = nullptr) {
  const int leads = shape.lead.size();
  const Dims extents = joined(joined(shape.lead, Dims{map.size()}), shape.whole);
  TestArray values(type, extents, random);
  for_cells(Box::whole(extents), [&](const Dims& i) {
    values.set(i, map.hole(i[leads])
                      ? 99
                      : expected(record < 0 ? 0 : 1, record, map.global(i, leads, Dims(shape.all().size()))));
  });
  ok(shoal_write(file, name, cut, values.c(), SHOAL_RECORD(record)));
}

/// Read by another map, and a section of the dimensions that are not cut.
void check(shoal_dataset* file, const char* name, const Map& map, const Shape& shape,
           const std::vector<bool>& owned, int type, int file_type, std::int64_t record, bool section,
           std::mt19937& random) {
  const int leads = shape.lead.size();
  const Dims all = shape.all();
  Box part = Box::whole(all);
  if (section)
    for (int d = 0; d < all.size(); ++d)
      if (d < leads || d >= all.size() - shape.whole.size()) {
        part.first[d] = all[d] / 3;
        part.count[d] = all[d] - 2 * (all[d] / 3);
      }
  Dims extents;
  for (int d = 0; d < leads; ++d)
    extents.push_back(part.count[d]);
  extents.push_back(map.size());
  for (int d = all.size() - shape.whole.size(); d < all.size(); ++d)
    extents.push_back(part.count[d]);
  TestArray values(type, extents, random);
  values.fill(-5);
  ok(shoal_read(file, name, map.handle(), values.c(),
                SHOAL_SECTION(record, part.rank(), part.first.data(), part.count.data())));
  std::int64_t wrong = 0;
  for_cells(Box::whole(extents), [&](const Dims& i) {
    double wanted = -5;
    if (!map.hole(i[leads])) {
      const Dims index = map.global(i, leads, part.first);
      Dims cell;
      for (int d = 0; d < shape.mapped.size(); ++d)
        cell.push_back(index[leads + d]);
      const auto at = static_cast<std::size_t>(position_in(cell, Box::whole(shape.mapped)));
      wanted = owned[at] ? expected(record < 0 ? 0 : 1, record, index) : fill_value(file_type);
    }
    wrong += values.get(i) != wanted ? 1 : 0;
  });
  CHECK(wrong == 0);
}

void check_all(shoal_dataset* file, const char* name, const Shape& shape, const std::vector<bool>& owned,
               int file_type, std::int64_t record) {
  TestArray values(SHOAL_DOUBLE, shape.all());
  ok(shoal_get(file, name, values.c(), SHOAL_RECORD(record)));
  std::int64_t wrong = 0;
  const int leads = shape.lead.size();
  for_cells(Box::whole(shape.all()), [&](const Dims& i) {
    Dims cell;
    for (int d = 0; d < shape.mapped.size(); ++d)
      cell.push_back(i[leads + d]);
    const auto at = static_cast<std::size_t>(position_in(cell, Box::whole(shape.mapped)));
    wrong += values.get(i) != (owned[at] ? expected(record < 0 ? 0 : 1, record, i) : fill_value(file_type))
                 ? 1
                 : 0;
  });
  CHECK(wrong == 0);
}

void write_and_read(const std::string& settings, const Shape& shape, const MapKind& kind, int file_type,
                    int type, const std::vector<std::int64_t>& chunks, std::mt19937& random) {
  const std::int64_t cells = volume(shape.mapped);
  const auto lists = random_maps(cells, world_size(), kind, random);
  MapKind reading = kind;
  reading.repeats = true;
  reading.percent_unowned = 30;
  const auto others = random_maps(cells, world_size(), reading, random);
  const auto owned = owned_by(lists, cells);
  const Map map(shape.global(), shape.whole.size(), mine(lists));
  const Map other(shape.global(), shape.whole.size(), mine(others));
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, "map.nc", settings.c_str(), &file));
  define(file, shape, file_type, map.handle());
  if (!chunks.empty()) {
    ok(shoal_def_chunks(file, "fixed", chunks.data() + 1));
    ok(shoal_def_chunks(file, "grows", chunks.data()));
  }
  write(file, "fixed", map, shape, type, SHOAL_NO_RECORD, random);
  for (std::int64_t record = 0; record < 3; ++record)
    write(file, "grows", map, shape, type, record, random);
  ok(shoal_close(&file, 0));
  const auto of_new_files = settings.find(", format=");
  const std::string others_too = of_new_files == std::string::npos ? "" : settings.substr(0, of_new_files);
  ok(shoal_open(MPI_COMM_WORLD, "map.nc", SHOAL_READ, others_too.c_str(), &file));
  for (const std::int64_t record : {2, 0}) {
    check_all(file, "grows", shape, owned, file_type, record);
    check(file, "grows", other, shape, owned, SHOAL_DOUBLE, file_type, record, record == 0, random);
  }
  check_all(file, "fixed", shape, owned, file_type, SHOAL_NO_RECORD);
  check(file, "fixed", other, shape, owned, SHOAL_DOUBLE, file_type, SHOAL_NO_RECORD, true, random);
  ok(shoal_close(&file, 0));
}

const std::vector<Shape> k_shapes{
    {{}, {113}, {}}, {{5}, {113}, {}}, {{}, {113}, {3}}, {{2, 3}, {7, 11}, {2}}, {{}, {5, 4, 6}, {}}};

}  // namespace

TEST_CASE("maps: columns with levels before and bands behind, written and read back by other maps") {
  if (skipped(in_one_file(), "maps go to one file")) return;
  for (const Seed& seed : seeds(11)) {
    CAPTURE(seed);
    std::mt19937 random(seed.value);
    for (const auto& format : formats())
      for (const auto& shape : k_shapes)
        for (const MapKind& kind :
             {MapKind{0, 0, 1, false}, MapKind{25, 20, 1, false}, MapKind{10, 5, 30, false}}) {
          CAPTURE(format);
          CAPTURE(text_of(shape.all()));
          CAPTURE(kind.runs);
          CAPTURE(kind.percent_unowned);
          write_and_read("format=" + format, shape, kind, SHOAL_FLOAT, SHOAL_DOUBLE, {}, random);
        }
  }
}

TEST_CASE("maps: every type, and its own type in memory") {
  if (skipped(in_one_file(), "maps go to one file")) return;
  for (const Seed& seed : seeds(12)) {
    CAPTURE(seed);
    std::mt19937 random(seed.value);
    for (const auto& format : formats())
      for (const int type : types_of(format)) {
        CAPTURE(format);
        CAPTURE(type);
        write_and_read("format=" + format, k_shapes[1], {20, 10, 1, false}, type, type, {}, random);
        write_and_read("format=" + format, k_shapes[3], {20, 10, 9, false}, type, SHOAL_INT, {}, random);
      }
  }
}

TEST_CASE("maps: chunks that cut the mapped dimensions") {
  if (skipped(in_one_file(), "maps go to one file")) return;
  for (const Seed& seed : seeds(13)) {
    CAPTURE(seed);
    std::mt19937 random(seed.value);
    if (skipped(has_full_format(), "it has no chunks")) return;
    write_and_read(full_settings(), k_shapes[3], {20, 10, 1, false}, SHOAL_FLOAT, SHOAL_FLOAT,
                   {1, 1, 2, 3, 4, 1}, random);
    write_and_read(full_settings(), k_shapes[4], {20, 10, 5, false}, SHOAL_FLOAT, SHOAL_FLOAT, {2, 3, 3, 4},
                   random);
    write_and_read(full_settings(), k_shapes[1], {20, 10, 5, false}, SHOAL_SHORT, SHOAL_INT, {1, 2, 50},
                   random);
  }
}

TEST_CASE("maps: a small stage, several nodes, and chosen I/O ranks") {
  if (skipped(in_one_file(), "maps go to one file")) return;
  for (const Seed& seed : seeds(14)) {
    CAPTURE(seed);
    std::mt19937 random(seed.value);
    const std::string last = std::to_string(world_size());
    std::vector<std::string> variants{"io_ranks=1", "io_ranks=" + last, "io_stride=2",
                                      "ranks_per_node=1, io_ranks_per_node=1"};
    if (is_native())
      for (const char* variant :
           {"slot_bytes=4096", "ranks_per_node=1", "ranks_per_node=2", "ranks_per_node=2, rearrange=on"})
        variants.emplace_back(variant);
    if (writes_alone())  // else a shard may need cells of several nodes
      for (const char* variant : {"ranks_per_node=1, rearrange=off", "ranks_per_node=2, rearrange=off",
                                  "rearranger=subset, io_stride=2"})
        variants.emplace_back(variant);
    for (const auto& [format, variant] : in_part(pairs_of(formats(), variants))) {
      CAPTURE(format);
      CAPTURE(variant);
      write_and_read(variant + ", format=" + format, k_shapes[1], {20, 10, 1, false}, SHOAL_FLOAT,
                     SHOAL_DOUBLE, {}, random);
      write_and_read(variant + ", format=" + format, k_shapes[3], {20, 10, 7, false}, SHOAL_SHORT, SHOAL_INT,
                     {}, random);
      if (format == full_format())
        write_and_read(variant + ", " + full_settings(), k_shapes[4], {20, 10, 5, false}, SHOAL_FLOAT,
                       SHOAL_FLOAT, {2, 3, 3, 4}, random);
    }
  }
}

/// An even part of the cells on each rank.
static Cut even_block(std::int64_t cells) {
  const std::int64_t first = cells * world_rank() / world_size();
  const std::int64_t end = cells * (world_rank() + 1) / world_size();
  return {MPI_COMM_WORLD, {cells}, {{first}, {end - first}}, {0}, {0}};
}

TEST_CASE("maps: blocks and maps write and read the same variable") {
  if (skipped(in_one_file(), "maps go to one file")) return;
  for (const Seed& seed : seeds(15)) {
    CAPTURE(seed);
    std::mt19937 random(seed.value);
    const Shape& shape = k_shapes[1];
    const auto lists = random_maps(113, world_size(), {0, 10, 4, false}, random);
    const std::vector<bool> owned(113, true);
    for (const auto& format : formats()) {
      CAPTURE(format);
      const Map map(shape.global(), 0, mine(lists));
      const Cut block = even_block(113);
      const std::int64_t first = block.tile().first[0];
      shoal_dataset* file = nullptr;
      ok(shoal_create(MPI_COMM_WORLD, "map.nc", ("format=" + format).c_str(), &file));
      define(file, shape, SHOAL_INT, map.handle());
      TestArray values(SHOAL_INT, joined(shape.lead, block.tile().count));
      for (const bool by_block : {true, false, true}) {
        if (by_block) {
          for_cells(Box::whole(joined(shape.lead, block.tile().count)), [&](const Dims& i) {
            values.set(i, expected(1, 0, {i[0], i[1] + first}) + 1);
          });
          ok(shoal_write(file, "grows", block.handle(), values.c(), SHOAL_RECORD(0)));
        } else {
          ok(shoal_sync(file, 0));
          const Dims extents = joined(shape.lead, Dims{map.size()});
          TestArray mapped(SHOAL_INT, extents);
          for_cells(Box::whole(extents), [&](const Dims& i) {
            mapped.set(i, map.hole(i[1]) ? 99 : expected(1, 0, map.global(i, 1, {0, 0})));
          });
          ok(shoal_write(file, "grows", map.handle(), mapped.c(), SHOAL_RECORD(0)));
          ok(shoal_sync(file, 0));
          check(file, "grows", map, shape, owned, SHOAL_INT, SHOAL_INT, 0, false, random);
        }
      }
      ok(shoal_close(&file, 0));
    }
  }
}

TEST_CASE("maps: several nodes, cells written again another way without a sync: the later ones stay") {
  if (skipped(in_one_file() && is_native(), "it has no choice of rearranging")) return;
  for (const Seed& seed : seeds(17)) {
    CAPTURE(seed);
    std::mt19937 random(seed.value);
    const Shape& shape = k_shapes[1];
    const auto lists = random_maps(113, world_size(), {0, 10, 1, false}, random);
    const std::vector<bool> owned(113, true);
    const std::vector<std::string> variants{
        "ranks_per_node=2, format=cdf5", "ranks_per_node=1, format=cdf5", "ranks_per_node=2, format=netcdf4",
        "ranks_per_node=1, rearrange=off, format=cdf5", "rearranger=subset, io_stride=2, format=cdf5"};
    for (const auto& settings : in_part(variants)) {
      CAPTURE(settings);
      const Map map(shape.global(), 0, mine(lists));
      const Cut block = even_block(113);
      const std::int64_t first = block.tile().first[0];
      shoal_dataset* file = nullptr;
      ok(shoal_create(MPI_COMM_WORLD, "map.nc", settings.c_str(), &file));
      define(file, shape, SHOAL_INT, map.handle());
      const Dims tile = joined(shape.lead, block.tile().count);
      TestArray values(SHOAL_INT, tile);
      for (std::int64_t record = 0; record < 20; ++record) {
        const bool block_last = record % 2 == 1;
        for (const bool by_block : {!block_last, block_last}) {
          if (!by_block) {
            write(file, "grows", map, shape, SHOAL_INT, record, random, map.handle());
            continue;
          }
          for_cells(Box::whole(tile), [&](const Dims& i) {
            values.set(i, expected(1, record, {i[0], i[1] + first}) + (block_last ? 0 : 1));
          });
          ok(shoal_write(file, "grows", block.handle(), values.c(), SHOAL_RECORD(record)));
        }
      }
      for (std::int64_t record = 0; record < 20; ++record)
        check(file, "grows", map, shape, owned, SHOAL_INT, SHOAL_INT, record, false, random);
      ok(shoal_close(&file, 0));
    }
  }
}

TEST_CASE("maps: bad arguments of one rank, values that do not fit, cells owned twice") {
  if (skipped(in_one_file(), "maps go to one file")) return;
  for (const auto& format : formats()) {
    CAPTURE(format);
    const std::int64_t n = world_size();
    const Dims global{4 * n};
    std::vector<std::int64_t> cells;
    for (std::int64_t i = 0; i < 4; ++i)
      cells.push_back(i * n + world_rank());
    const Map map(global, 0, cells);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, "map.nc", ("format=" + format).c_str(), &file));
    def_dim(file, "x", 4 * n);
    ok(shoal_def_var(file, "a", SHOAL_BYTE, "x", map.handle()));
    ok(shoal_def_var(file, "b", SHOAL_BYTE, "x", map.handle()));
    const bool last = world_rank() == world_size() - 1;
    TestArray values(SHOAL_INT, {4});
    for (std::int64_t i = 0; i < 4; ++i)
      values.set({i}, static_cast<double>(last && i == 2 ? 1000 : i + 1));
    ok(shoal_write(file, "a", nullptr, values.c(), nullptr));
    int code = shoal_sync(file, 0);
    fails(code, SHOAL_RANGE, {"1000", "[" + std::to_string(2 * n + n - 1) + "]", "a"});
    alike(code);
    TestArray shorter(SHOAL_INT, {3});
    shorter.fill(5);
    values.fill(5);
    code = shoal_write(file, "b", nullptr, last ? shorter.c() : values.c(), nullptr);
    if (n > 1) {
      ok(code);
      code = shoal_sync(file, 0);
    }
    fails(code, SHOAL_INVALID_ARGUMENT, {"extents 3", "expected 4"});
    alike(code);
    const Map twice(global, 0, last ? std::vector<std::int64_t>{0, 1, 0} : cells);
    TestArray three(SHOAL_INT, {last ? 3 : 4});
    three.fill(1);
    code = shoal_write(file, "a", twice.handle(), three.c(), nullptr);
    fails(code, SHOAL_OVERLAP, {"index 0"});
    alike(code);
    ok(shoal_read(file, "a", twice.handle(), three.c(), nullptr));
    if (last) {
      CHECK(three.get({0}) == 1);
      CHECK(three.get({2}) == 1);
    }
    TestArray got(SHOAL_DOUBLE, global);
    ok(shoal_get(file, "a", got.c(), nullptr));
    for (std::int64_t i = 0; i < 4 * n; ++i)
      CHECK(got.get({i}) == (i == 3 * n - 1 ? fill_value(SHOAL_BYTE) : static_cast<double>(i / n + 1)));
    if (n > 1) {
      ok(shoal_get(file, "b", got.c(), nullptr));
      for (std::int64_t i = 0; i < 4 * n; ++i)
        CHECK(got.get({i}) == (i % n == n - 1 ? fill_value(SHOAL_BYTE) : 5));
    }
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("maps: cells that nobody owns stay as they are in variables without fill") {
  if (skipped(in_one_file(), "maps go to one file")) return;
  for (const auto& format : formats())
    for (const std::string before : {"map", "tiles", "put"}) {
      CAPTURE(format);
      CAPTURE(before);
      const std::int64_t n = world_size();
      const Dims global{3, 4 * n};
      shoal_dataset* file = nullptr;
      ok(shoal_create(MPI_COMM_WORLD, "map.nc", ("format=" + format).c_str(), &file));
      def_dim(file, "z", 3);
      def_dim(file, "x", 4 * n);
      ok(shoal_def_var(file, "a", SHOAL_INT, "z x", nullptr));
      ok(shoal_def_fill(file, "a", 0, nullptr));
      // First everything, then every second cell of each rank.
      std::vector<std::int64_t> all;
      std::vector<std::int64_t> some;
      for (std::int64_t i = 0; i < 4; ++i) {
        all.push_back(i * n + world_rank());
        if (i % 2 == 0) some.push_back(i * n + world_rank());
      }
      const Map first({4 * n}, 0, all);
      const Map then({4 * n}, 0, some);
      const Cut tiles(MPI_COMM_WORLD, {4 * n}, {{4 * world_rank()}, {4}}, {0}, {0});
      TestArray values(SHOAL_INT, {3, 4});
      values.fill(5);
      TestArray everything(SHOAL_INT, global);
      everything.fill(5);
      if (before == "put")
        ok(shoal_put(file, "a", everything.c(), nullptr));
      else
        ok(shoal_write(file, "a", before == "map" ? first.handle() : tiles.handle(), values.c(), nullptr));
      ok(shoal_sync(file, 0));
      TestArray others(SHOAL_INT, {3, 2});
      others.fill(7);
      ok(shoal_write(file, "a", then.handle(), others.c(), nullptr));
      ok(shoal_close(&file, 0));
      ok(shoal_open(MPI_COMM_WORLD, "map.nc", SHOAL_READ, nullptr, &file));
      TestArray got(SHOAL_INT, global);
      ok(shoal_get(file, "a", got.c(), nullptr));
      std::int64_t wrong = 0;
      for_cells(Box::whole(global),
                [&](const Dims& i) { wrong += got.get(i) != (i[1] / n % 2 == 0 ? 7 : 5) ? 1 : 0; });
      CHECK(wrong == 0);
      ok(shoal_close(&file, 0));
    }
}

TEST_CASE("I/O ranks that cannot be are refused on all ranks alike") {
  const auto refused = [](const std::string& settings, const std::vector<std::string>& words) {
    CAPTURE(settings);
    shoal_dataset* file = nullptr;
    const int code = shoal_create(MPI_COMM_WORLD, "map.nc", settings.c_str(), &file);
    fails(code, SHOAL_SETTING, words);
    alike(code);
    CHECK(file == nullptr);
  };
  if (skipped(in_one_file(), "sets have I/O ranks of their own")) return;
  const std::string more = std::to_string(world_size() + 1);
  refused("io_ranks_per_node=" + more, {"io_ranks_per_node is " + more, "node 0 has"});
  refused("io_ranks_per_node=2, ranks_per_node=1", {"node 0 has 1 rank", "can be 1 to 1"});
  refused("io_ranks_per_node=1, ranks_per_node=1, io_ranks=" + more, {"contradict", "leave one"});
  refused("io_ranks_per_node=1, ranks_per_node=1, io_base=1", {"io_base can be 0 to 0"});
  if (is_native()) {
    refused("rearrange=off, io_ranks=1", {"rearrange=off", "contradict", "rearranger=subset"});
    refused("rearrange=off, rearranger=box", {"rearrange=off", "rearranger=box", "contradict"});
    refused("rearrange=on, rearranger=subset", {"rearrange=on", "rearranger=subset", "contradict"});
    refused("rearranger=subset, writers=2", {"writers=2", "io_ranks_per_node"});
    if (world_size() > 1)
      refused("rearranger=subset, ranks_per_node=1, io_ranks=1",
              {"node 1 has no I/O rank", "io_ranks_per_node"});
  } else {
    refused("rearrange=on", {"driver native"});
    refused("rearranger=subset", {"driver native"});
  }
  refused("rearranger=circle", {"rearranger", "auto", "box", "subset"});
}
