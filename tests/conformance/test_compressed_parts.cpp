// Parts of compressed chunks: levels and records one after the other or in any order, again, by several
// variables in turn, with syncs, reading and other sessions between.
#include <cmath>
#include <map>
#include <memory>

#include "codec/filters.hpp"
#include "conformance/support.hpp"
#include "support/parts.hpp"
#include "support/random_maps.hpp"
#include "support/random_tiles.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

const char* const k_path = "parts.nc";
constexpr std::int64_t k_levels = 7, k_rows = 13, k_columns = 17;
constexpr std::int64_t k_cells = k_rows * k_columns;

/// Cells of a level that this rank has, in the order of its arrays.
struct Own {
  Dims extents;
  std::vector<std::int64_t> cells;  ///< k_hole: none
};

Own own_of(const Box& tile) {
  Own own{tile.count, {}};
  for_cells(tile, [&](const Dims& i) { own.cells.push_back(i[0] * k_columns + i[1]); });
  return own;
}

/// A variable of levels, and what was written to it.
struct Field {
  std::string name, dims;
  int type = SHOAL_FLOAT;
  std::vector<std::int64_t> chunk;
  Dims cut;  ///< dimensions behind the levels
  Own own;
  std::vector<bool> owned = std::vector<bool>(static_cast<std::size_t>(k_cells), false);
  shoal_decomposition* handle = nullptr;
  std::map<std::int64_t, std::vector<int>> versions = {};  ///< of levels, by record; 0: not written
};

double value(int version, std::int64_t record, std::int64_t level, std::int64_t cell) {
  return static_cast<double>((version * 11 + record * 5 + level * 3 + cell / 4) % 100);
}

class Fields {
 public:
  Fields(std::mt19937& random, bool holes) {
    const auto me = static_cast<std::size_t>(world_rank());
    const auto tiles = random_tiles({k_rows, k_columns}, world_size(), holes, random);
    const auto lists = random_maps(k_cells, world_size(), {holes ? 20 : 0, 10, 5, false}, random);
    for (int i = 0; i < 3; ++i) {
      Field& f = fields.emplace_back();
      f.name = "v" + std::to_string(i);
      f.type = i == 1 ? SHOAL_SHORT : SHOAL_FLOAT;
      f.own = own_of(tiles[me]);
      for (const auto& tile : tiles)
        for_cells(tile,
                  [&](const Dims& c) { f.owned[static_cast<std::size_t>(c[0] * k_columns + c[1])] = true; });
    }
    tile(fields[0], tiles[me], false);
    tile(fields[1], tiles[me], true);
    Field& map = fields[2];
    map.dims = "time z c";
    map.chunk = {2, 3, 50};
    map.cut = {k_cells};
    map.own = {{static_cast<std::int64_t>(lists[me].size())}, lists[me]};
    map.owned.assign(static_cast<std::size_t>(k_cells), false);
    for (const auto& list : lists)
      for (const auto cell : list)
        if (cell != k_hole) map.owned[static_cast<std::size_t>(cell)] = true;
    ok(shoal_map(MPI_COMM_WORLD, 1, map.cut.data(), 0, static_cast<std::int64_t>(lists[me].size()),
                 lists[me].data(), &map.handle));
  }
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;
  ~Fields() {
    for (auto& f : fields)
      shoal_decomposition_free(&f.handle);
  }
  std::vector<Field> fields;

 private:
  static void tile(Field& f, const Box& tile, bool levels) {
    f.dims = "time z y x";
    f.chunk = levels ? std::vector<std::int64_t>{1, 4, 6, 6} : std::vector<std::int64_t>{3, 2, 5, 8};
    f.cut = {k_rows, k_columns};
    const Dims lead = levels ? Dims{k_levels} : Dims{};
    const Dims global = joined(lead, f.cut), zero(global.size());
    const Box box(joined(Dims(lead.size()), tile.first),
                  joined(tile.empty() ? Dims(lead.size()) : lead, tile.count));
    ok(shoal_block(MPI_COMM_WORLD, global.size(), global.data(), box.first.data(), box.count.data(),
                   zero.data(), zero.data(), &f.handle));
  }
};

shoal_dataset* create(const Fields& all, const std::string& settings) {
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_path, (full_settings() + settings).c_str(), &file));
  def_dim(file, "time", SHOAL_UNLIMITED);
  def_dim(file, "z", k_levels);
  def_dim(file, "y", k_rows);
  def_dim(file, "x", k_columns);
  def_dim(file, "c", k_cells);
  for (const auto& f : all.fields) {
    ok(shoal_def_var(file, f.name.c_str(), f.type, f.dims.c_str(), f.handle));
    ok(shoal_def_chunks(file, f.name.c_str(), f.chunk.data()));
    ok(shoal_def_compression(file, f.name.c_str(), "shuffle+deflate:1"));
  }
  return file;
}

void write(shoal_dataset* file, Field& f, int version, std::int64_t record, std::int64_t first,
           std::int64_t n, std::mt19937& random) {
  TestArray array(SHOAL_DOUBLE, joined({n}, f.own.extents), random);
  array.fill(1e30);  // fits no short: nobody may look at what is no cell
  if (!f.own.cells.empty())
    for_cells(Box::whole(joined({n}, f.own.extents)), [&](const Dims& i) {
      const auto cell =
          f.own
              .cells[static_cast<std::size_t>(position_in(tail(i, i.size() - 1), Box::whole(f.own.extents)))];
      if (cell != k_hole) array.set(i, value(version, record, first + i[0], cell));
    });
  const Dims start = joined({first}, Dims(f.cut.size()));
  const Dims count = joined({n}, f.cut);
  ok(shoal_write(file, f.name.c_str(), f.handle, array.c(),
                 SHOAL_SECTION(record, start.size(), start.data(), count.data())));
  auto& versions = f.versions[record];
  versions.resize(static_cast<std::size_t>(k_levels), 0);
  std::fill_n(versions.begin() + first, n, version);
}

void check(shoal_dataset* file, Field& f, std::int64_t record) {
  TestArray array(SHOAL_DOUBLE, joined({k_levels}, f.own.extents));
  array.fill(-5);
  ok(shoal_read(file, f.name.c_str(), f.handle, array.c(), SHOAL_RECORD(record)));
  auto& versions = f.versions[record];
  versions.resize(static_cast<std::size_t>(k_levels), 0);
  int wrong = 0;
  if (!f.own.cells.empty())
    for_cells(Box::whole(joined({k_levels}, f.own.extents)), [&](const Dims& i) {
      const auto cell =
          f.own
              .cells[static_cast<std::size_t>(position_in(tail(i, i.size() - 1), Box::whole(f.own.extents)))];
      const int version = versions[static_cast<std::size_t>(i[0])];
      double wanted = cell == k_hole ? -5 : fill_value(f.type);
      if (cell != k_hole && version > 0) wanted = value(version, record, i[0], cell);
      wrong += static_cast<float>(array.get(i)) != static_cast<float>(wanted) ? 1 : 0;
    });
  CHECK_MESSAGE(wrong == 0, wrong, " wrong cells in ", f.name, ", record ", record);
}

/// All of it, on each rank, without a decomposition: what nobody owns is fill.
void check_whole(shoal_dataset* file, const Field& f, std::int64_t record) {
  std::vector<double> found(static_cast<std::size_t>(k_levels * k_cells));
  const Dims extents = joined({k_levels}, f.cut);
  const Dims strides = row_major_strides(extents);
  Dims bytes = strides;
  for (auto& s : bytes)
    s *= 8;
  const shoal_array array{sizeof(shoal_array), found.data(),   SHOAL_DOUBLE, 0,
                          extents.size(),      extents.data(), bytes.data()};
  ok(shoal_get(file, f.name.c_str(), &array, SHOAL_RECORD(record)));
  const auto versions = f.versions.find(record);
  int wrong = 0;
  for (std::int64_t level = 0; level < k_levels; ++level)
    for (std::int64_t cell = 0; cell < k_cells; ++cell) {
      const int version =
          versions == f.versions.end() ? 0 : versions->second[static_cast<std::size_t>(level)];
      const double wanted = version > 0 && f.owned[static_cast<std::size_t>(cell)]
                                ? value(version, record, level, cell)
                                : fill_value(f.type);
      wrong += static_cast<float>(found[static_cast<std::size_t>(level * k_cells + cell)]) !=
                       static_cast<float>(wanted)
                   ? 1
                   : 0;
    }
  CHECK_MESSAGE(wrong == 0, wrong, " wrong cells of the whole ", f.name, ", record ", record);
}

/// Nodes of one machine.
const std::vector<std::string> k_nodes{"", ", ranks_per_node=1", ", ranks_per_node=2", ", io_ranks=1"};

std::int64_t records_of(const Fields& all) {
  std::int64_t records = 0;
  for (const auto& f : all.fields)
    if (!f.versions.empty()) records = std::max(records, f.versions.rbegin()->first + 1);
  return records;
}

void check_all(Fields& all, std::int64_t records, const std::string& settings = "") {
  shoal_dataset* file = nullptr;
  ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, ("wait_seconds=60" + settings).c_str(), &file));
  for (auto& f : all.fields)
    for (std::int64_t record = 0; record < records; ++record) {
      check(file, f, record);
      check_whole(file, f, record);
    }
  ok(shoal_close(&file, 0));
}

/// A number of this rank's report.
std::int64_t own_reported(shoal_dataset* file, const std::string& name) {
  const std::string report = shoal_report(file);
  const auto at = report.find("\"" + name + "\"");
  REQUIRE_MESSAGE(at != std::string::npos, "no ", name, " in ", report);
  return std::atoll(report.c_str() + report.find(':', at) + 1);
}

/// The same, over all ranks.
std::int64_t reported(shoal_dataset* file, const std::string& name) {
  const std::int64_t mine = own_reported(file, name);
  std::int64_t all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

}  // namespace

TEST_CASE("compression: levels and records that come one after the other are compressed once") {
  if (skipped(compresses_parts(), "it has no compression")) return;
  for (const auto& nodes : k_nodes) {
    CAPTURE(nodes);
    std::mt19937 random(41);
    std::mt19937 own(400 + static_cast<unsigned>(world_rank()));
    Fields all(random, world_size() > 2);
    shoal_dataset* file = create(all, is_native() ? nodes : "");
    constexpr std::int64_t k_records = 6;
    for (std::int64_t record = 0; record < k_records; ++record)
      for (std::int64_t level = 0; level < k_levels; ++level)
        for (auto& f : all.fields)
          write(file, f, 1, record, level, 1, own);
    ok(shoal_sync(file, 0));
    if (is_native() && std::getenv("TEST_SERVERS") == nullptr) {  // what ranks that serve count is theirs
      std::int64_t whole = 0;
      const auto bytes = [&](std::int64_t chunks, std::int64_t size) { whole += chunks * size; };
      bytes(k_records / 3 * 4 * 3 * 3, 3 * 2 * 5 * 8 * 4);
      bytes(k_records * 2 * 3 * 3, 4 * 6 * 6 * 2);
      bytes(k_records / 2 * 3 * 5, 2 * 3 * 50 * 4);
      CHECK(reported(file, "bytes_encoded") == whole);
      CHECK(reported(file, "bytes_encoded_again") == 0);
    }
    ok(shoal_close(&file, 0));
    check_all(all, k_records, is_native() ? nodes : "");
  }
}

TEST_CASE("compression: parts of chunks in any order, with syncs, reading and other sessions between") {
  if (skipped(compresses_parts(), "it has no compression")) return;
  // Memory for parts: plenty, little (each part alone), some.
  const std::vector<std::string> memory{"", ", stage_bytes=131072", ", stage_bytes=200000"};
  const std::vector<unsigned> cases{1, 2, 3, 4, 5, 6, 7, 8};
  for (const auto& [settings, seed] : in_part(pairs_of(memory, cases))) {
    const std::string& nodes = k_nodes[seed % 4];
    CAPTURE(nodes);
    CAPTURE(settings);
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::mt19937 own(seed * 1000 + static_cast<unsigned>(world_rank()));
    Fields all(random, world_size() > 1 && seed > 1);
    const std::string later = "wait_seconds=60" + nodes;
    shoal_dataset* file = create(all, is_native() ? settings + nodes : "");
    for (int step = 1; step <= 60; ++step) {
      Field& f = all.fields[random() % all.fields.size()];
      const auto action = random() % 20;
      if (action == 0) {
        ok(shoal_sync(file, 0));
      } else if (action == 1 && records_of(all) > 0) {
        if (driver() == "netcdf") continue;  // HDF5 reads nothing that was written in another session too
        check(file, f, static_cast<std::int64_t>(random()) % records_of(all));
      } else if (action == 2) {
        ok(shoal_close(&file, 0));
        ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_WRITE, is_native() ? later.c_str() : nullptr, &file));
      } else {
        const auto first = static_cast<std::int64_t>(random() % k_levels);
        const auto n = 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(k_levels - first));
        const auto record = static_cast<std::int64_t>(random() % 5);
        const bool all_levels = random() % 4 == 0;
        write(file, f, step, record, all_levels ? 0 : first, all_levels ? k_levels : n, own);
      }
    }
    ok(shoal_close(&file, 0));
    check_all(all, records_of(all), is_native() ? nodes : "");
  }
}

TEST_CASE("compression: a rank that cannot give its part of a chunk leaves the others' in the file") {
  if (skipped(compresses_parts() && is_native() && world_size() > 1, "it needs driver native, and others"))
    return;
  std::mt19937 random(43);
  std::mt19937 own(500 + static_cast<unsigned>(world_rank()));
  Fields all(random, false);
  // Of the three or two records of a chunk one is bad, the first of them or a later one.
  for (auto& [f, records, bad_record] :
       {std::tuple{&all.fields[0], 3, 2}, {&all.fields[2], 2, 1}, {&all.fields[2], 2, 0}}) {
    CAPTURE(f->name);
    CAPTURE(bad_record);
    f->versions.clear();
    shoal_dataset* file = create(all, "");
    // The last rank's array is too small.
    const bool bad = world_rank() == world_size() - 1;
    for (std::int64_t record = 0; record < records; ++record) {
      if (record != bad_record) {
        write(file, *f, 1, record, 0, k_levels, own);
        continue;
      }
      Dims extents = joined({k_levels}, f->own.extents);
      if (bad) extents[0] = 1;
      TestArray array(SHOAL_DOUBLE, extents);
      array.fill(3);
      shoal_write(file, f->name.c_str(), f->handle, array.c(), SHOAL_RECORD(record));
    }
    const int code = shoal_sync(file, 0);
    int wanted = bad && f->own.cells.empty() ? SHOAL_OK : SHOAL_INVALID_ARGUMENT;
    MPI_Bcast(&wanted, 1, MPI_INT, world_size() - 1, MPI_COMM_WORLD);
    CHECK(code == wanted);
    alike(code);
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
    for (std::int64_t record = 0; record < records; ++record)
      if (record != bad_record) check(file, *f, record);
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("compression: ranks of several nodes compress as much, whoever has the cells") {
  if (skipped(writes_alone() && in_one_file() && world_size() > 1,
              "it needs driver native, several ranks, and chunks that are stored one by one"))
    return;
  constexpr std::int64_t k_records = 3, k_size = 24;
  // All cells are one rank's.
  const Box tile = world_rank() == 0 ? Box::whole({k_size, k_size}) : Box({0, 0}, {0, 0});
  const Cut cut(MPI_COMM_WORLD, {k_size, k_size}, tile, {0, 0}, {0, 0});
  const std::int64_t chunk[] = {1, 3, 8};
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_path, full_settings(", compression=deflate, ranks_per_node=1").c_str(),
                  &file));
  def_dim(file, "time", SHOAL_UNLIMITED);
  def_dim(file, "y", k_size);
  def_dim(file, "x", k_size);
  ok(shoal_def_var(file, "v", SHOAL_DOUBLE, "time y x", cut.handle()));
  ok(shoal_def_chunks(file, "v", chunk));
  TestArray array(SHOAL_DOUBLE, tile.count);
  for_cells(tile, [&](const Dims& i) { array.set(i, value_of(0, i)); });
  for (std::int64_t record = 0; record < k_records; ++record)
    ok(shoal_write(file, "v", nullptr, array.c(), SHOAL_RECORD(record)));
  ok(shoal_sync(file, 0));
  constexpr std::int64_t k_chunks = 8 * 3, k_bytes = 3 * 8 * 8;
  const std::int64_t mine = own_reported(file, "bytes_encoded") / k_bytes;
  CHECK(reported(file, "bytes_encoded") == k_records * k_chunks * k_bytes);
  CHECK(mine <= k_records * (k_chunks / world_size() + 1));
  CHECK(mine >= k_records * (k_chunks / world_size()));
  ok(shoal_close(&file, 0));
}

TEST_CASE("compression: maps with dimensions behind, that chunks cut or not, in sections") {
  if (skipped(compresses_parts(), "it has no compression")) return;
  constexpr std::int64_t k_mapped = 41, k_behind = 6, k_records = 3;
  const std::vector<std::vector<std::int64_t>> all_chunks{{1, 7, 6}, {1, 7, 4}, {2, 41, 6}, {2, 5, 1}};
  unsigned seed = 50;
  for (const auto& [nodes, chunk] : in_part(pairs_of(k_nodes, all_chunks))) {
    CAPTURE(nodes);
    CAPTURE(chunk);
    std::mt19937 random(++seed);
    const auto lists = random_maps(k_mapped, world_size(), {15, 10, 3, false}, random);
    const auto& list = lists[static_cast<std::size_t>(world_rank())];
    const auto n = static_cast<std::int64_t>(list.size());
    const std::int64_t global[] = {k_mapped, k_behind};
    shoal_decomposition* map = nullptr;
    ok(shoal_map(MPI_COMM_WORLD, 2, global, 1, n, list.data(), &map));
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, k_path,
                    (full_settings(", compression=shuffle+deflate") + (is_native() ? nodes : "")).c_str(),
                    &file));
    def_dim(file, "time", SHOAL_UNLIMITED);
    def_dim(file, "c", k_mapped);
    def_dim(file, "k", k_behind);
    ok(shoal_def_var(file, "v", SHOAL_INT, "time c k", map));
    ok(shoal_def_chunks(file, "v", chunk.data()));
    for (std::int64_t record = 0; record < k_records; ++record)
      for (const auto& [first, count] : {std::pair<std::int64_t, std::int64_t>{0, 4}, {4, 2}, {1, 1}}) {
        TestArray array(SHOAL_DOUBLE, {n, count});
        array.fill(1e30);
        for_cells(Box::whole({n, count}), [&](const Dims& i) {
          const auto cell = list[static_cast<std::size_t>(i[0])];
          if (cell != k_hole) array.set(i, value_of(static_cast<int>(record + count), {cell, first + i[1]}));
        });
        const std::int64_t start[] = {0, first}, counts[] = {k_mapped, count};
        ok(shoal_write(file, "v", map, array.c(), SHOAL_SECTION(record, 2, start, counts)));
      }
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ,
                  ("wait_seconds=60" + (is_native() ? nodes : "")).c_str(), &file));
    std::mt19937 own(seed * 10 + static_cast<unsigned>(world_rank()));
    int wrong = 0;
    for (std::int64_t record = 0; record < k_records; ++record) {
      TestArray array(SHOAL_DOUBLE, {n, k_behind}, own);
      array.fill(-3);
      ok(shoal_read(file, "v", map, array.c(), SHOAL_RECORD(record)));
      for_cells(Box::whole({n, k_behind}), [&](const Dims& i) {
        const auto cell = list[static_cast<std::size_t>(i[0])];
        const int version = static_cast<int>(record) + (i[1] == 1 ? 1 : i[1] < 4 ? 4 : 2);
        wrong += array.get(i) != (cell == k_hole ? -3 : value_of(version, {cell, i[1]})) ? 1 : 0;
      });
    }
    CHECK(wrong == 0);
    ok(shoal_close(&file, 0));
    shoal_decomposition_free(&map);
  }
}

TEST_CASE("compression: a part that is written again is fill where no rank has a cell") {
  if (skipped(compresses_parts(), "it has no compression")) return;
  constexpr std::int64_t k_all = 40, k_two = 2;
  const std::int64_t global[] = {k_all}, chunk[] = {k_two, 16};
  const Box tile = world_rank() == 0 ? Box::whole({k_all}) : Box({0}, {0});
  const Cut cut(MPI_COMM_WORLD, {k_all}, tile, {0}, {0});
  std::vector<std::int64_t> list;  // of the even cells
  for (std::int64_t cell = 2 * world_rank(); cell < k_all; cell += 2 * world_size())
    list.push_back(cell);
  const auto n = static_cast<std::int64_t>(list.size());
  shoal_decomposition* map = nullptr;
  ok(shoal_map(MPI_COMM_WORLD, 1, global, 0, n, list.data(), &map));
  for (const auto& nodes : k_nodes) {
    CAPTURE(nodes);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, k_path,
                    (full_settings(", compression=shuffle+deflate") + (is_native() ? nodes : "")).c_str(),
                    &file));
    def_dim(file, "z", k_two);
    def_dim(file, "c", k_all);
    ok(shoal_def_var(file, "v", SHOAL_INT, "z c", map));
    ok(shoal_def_chunks(file, "v", chunk));
    TestArray before(SHOAL_INT, joined({k_two}, tile.count));
    before.fill(7);
    ok(shoal_write(file, "v", cut.handle(), before.c(), nullptr));
    TestArray part(SHOAL_INT, {1, n});
    part.fill(9);
    const std::int64_t start[] = {1, 0}, count[] = {1, k_all};
    ok(shoal_write(file, "v", map, part.c(), SHOAL_SECTION(SHOAL_NO_RECORD, 2, start, count)));
    ok(shoal_close(&file, 0));

    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
    TestArray all(SHOAL_INT, {k_two, k_all});
    ok(shoal_get(file, "v", all.c(), nullptr));
    int wrong = 0;
    for_cells(Box::whole({k_two, k_all}), [&](const Dims& i) {
      const double now = i[1] % 2 == 0 ? 9 : fill_value(SHOAL_INT);
      wrong += all.get(i) != (i[0] == 0 ? 7 : now) ? 1 : 0;
    });
    CHECK(wrong == 0);
    ok(shoal_close(&file, 0));
  }
  shoal_decomposition_free(&map);
}

TEST_CASE("compression: chunks of many records are decoded once for reading record by record") {
  if (skipped(is_native() && in_one_file(), "it needs driver native")) return;
  constexpr std::int64_t k_records = 16, k_size = 20, k_chunks = 4;
  const auto tiles = [&] {
    std::mt19937 random(61);
    return random_tiles({k_size, k_size}, world_size(), false, random);
  }();
  const Box tile = tiles[static_cast<std::size_t>(world_rank())];
  const Cut cut(MPI_COMM_WORLD, {k_size, k_size}, tile, {0, 0}, {0, 0});
  const std::int64_t chunk[] = {k_records, 10, 10};
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_path, full_settings(", compression=shuffle+deflate").c_str(), &file));
  def_dim(file, "time", SHOAL_UNLIMITED);
  def_dim(file, "y", k_size);
  def_dim(file, "x", k_size);
  ok(shoal_def_var(file, "v", SHOAL_INT, "time y x", cut.handle()));
  ok(shoal_def_chunks(file, "v", chunk));
  TestArray array(SHOAL_INT, tile.count);
  const auto of_record = [&](std::int64_t record, const Dims& i) {
    return static_cast<double>(record * 1000 + (tile.first[0] + i[0]) * k_size + tile.first[1] + i[1]);
  };
  for (std::int64_t record = 0; record < k_records; ++record) {
    for_cells(Box::whole(tile.count), [&](const Dims& i) { array.set(i, of_record(record, i)); });
    ok(shoal_write(file, "v", cut.handle(), array.c(), SHOAL_RECORD(record)));
  }
  ok(shoal_close(&file, 0));
  // Room for all chunks, and for less than one.
  for (const std::string room : {"", "stage_bytes=65536"}) {
    CAPTURE(room);
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, room.c_str(), &file));
    int wrong = 0;
    for (std::int64_t record = 0; record < k_records; ++record) {
      array.fill(-1);
      ok(shoal_read(file, "v", cut.handle(), array.c(), SHOAL_RECORD(record)));
      for_cells(Box::whole(tile.count),
                [&](const Dims& i) { wrong += array.get(i) != of_record(record, i) ? 1 : 0; });
    }
    CHECK(wrong == 0);
    // A rank decodes what others have decoded, where it is there first.
    if (room.empty()) CHECK(reported(file, "reads") <= k_chunks * world_size());
    ok(shoal_close(&file, 0));
  }
}
