// Fields of random shapes, types, tiles, halos and layouts in memory: what one cut writes another reads, in
// every format.
#include "conformance/support.hpp"
#include "support/parts.hpp"
#include "support/random_tiles.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

struct Field {
  std::string name;
  int type = SHOAL_FLOAT;
  bool record = false;
  Dims levels;  // dimensions that are not cut, in front
  Dims cut;     // dimensions of the decomposition
  bool staggered = false;

  Dims shape() const { return joined(levels, cut); }
};

int pick(std::mt19937& random, const std::vector<int>& from) {
  return from[random() % from.size()];
}

Dims random_dims(std::mt19937& random, int least, int most, int longest) {
  Dims dims;
  const int n = least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
  for (int d = 0; d < n; ++d)
    dims.push_back(1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(longest)));
  return dims;
}

// Fields on one grid and on a staggered one, that is one longer in the last dimension.
std::vector<Field> random_fields(std::mt19937& random, const std::string& format) {
  const Dims grid = random_dims(random, 1, 3, 13);
  std::vector<Field> fields;
  for (int i = 0; i < 4; ++i) {
    Field field;
    field.name = "field" + std::to_string(i);
    field.type = pick(random, types_of(format));
    field.record = random() % 3 != 0;
    field.levels = random_dims(random, 0, 2, 4);
    field.cut = grid;
    field.staggered = random() % 2 == 0;
    if (field.staggered) field.cut[grid.size() - 1] += 1;
    fields.push_back(field);
  }
  return fields;
}

void define(shoal_dataset* file, const Field& field, const shoal_decomposition* cut) {
  std::string dims = field.record ? "time" : "";
  const Dims shape = field.shape();
  for (int d = 0; d < shape.size(); ++d) {
    const std::string name = field.name + "_d" + std::to_string(d);
    def_dim(file, name, shape[d]);
    dims += " " + name;
  }
  ok(shoal_def_var(file, field.name.c_str(), field.type, dims.c_str(), cut));
}

Dims random_halo(std::mt19937& random, int n) {
  Dims halo(n);
  for (auto& h : halo)
    h = static_cast<std::int64_t>(random() % 4);
  return halo;
}

Dims cell(const Field& field, std::int64_t record, const Dims& index) {
  return field.record ? joined(Dims{record}, index) : index;
}

/// One record, or one section of its levels, written by this rank.
void write_part(shoal_dataset* file, int number, const Field& field, const Cut& cut, std::int64_t record,
                const Box& levels, bool sectioned, int memory_type, bool halo, std::mt19937& random) {
  const Box local = halo ? cut.around() : cut.tile();
  TestArray array(memory_type, joined(levels.count, local.count), random);
  array.fill(101);  // halo cells must not get into the file
  for_cells(Box(joined(levels.first, cut.tile().first), joined(levels.count, cut.tile().count)),
            [&](const Dims& index) {
              Dims at = index;
              for (int d = 0; d < levels.rank(); ++d)
                at[d] -= levels.first[d];
              for (int d = 0; d < local.rank(); ++d)
                at[levels.rank() + d] -= local.first[d];
              array.set(at, value_of(number, cell(field, record, index)));
            });
  const Dims start = joined(levels.first, Dims(field.cut.size()));
  const Dims count = joined(levels.count, field.cut);
  ok(shoal_write(file, field.name.c_str(), nullptr, array.c(),
                 SHOAL_SECTION(field.record ? record : SHOAL_NO_RECORD, sectioned ? start.size() : 0,
                               sectioned ? start.data() : nullptr, sectioned ? count.data() : nullptr)));
}

void write_field(shoal_dataset* file, int number, const Field& field, const Cut& cut, std::int64_t record,
                 std::mt19937& random, std::mt19937& own) {
  const Box everything = Box::whole(field.levels);
  const int memory_type = pick(own, types_of("netcdf4"));  // differs from rank to rank
  const bool halo = own() % 2 == 0;
  if (field.levels.empty() || random() % 2 == 0)
    return write_part(file, number, field, cut, record, everything, false, memory_type, halo, own);
  for (std::int64_t level = field.levels[0] - 1; level >= 0; --level) {  // in sections, the last one first
    Box part = everything;
    part.first[0] = level;
    part.count[0] = 1;
    write_part(file, number, field, cut, record, part, true, memory_type, halo, own);
  }
}

void read_field(shoal_dataset* file, int number, const Field& field, const Cut& cut,
                const std::vector<Box>& written, std::int64_t record, std::mt19937& own) {
  const bool halo = own() % 2 == 0;
  const int memory_type = pick(own, {SHOAL_DOUBLE, SHOAL_INT64, SHOAL_FLOAT});
  const Box local = halo ? cut.around() : cut.tile();
  TestArray array(memory_type == SHOAL_INT64 && field.type >= SHOAL_FLOAT ? SHOAL_DOUBLE : memory_type,
                  joined(field.levels, local.count), own);
  array.fill(102);
  ok(shoal_read(file, field.name.c_str(), cut.handle(), array.c(),
                SHOAL_RECORD(field.record ? record : SHOAL_NO_RECORD)));
  if (cut.tile().empty()) return;
  const Box global = Box::whole(field.cut);
  int wrong = 0;
  for_local_cells(field.levels, local, local, [&](const Dims& index, const Dims& at) {
    const Box here(tail(index, local.rank()), Dims(local.rank(), 1));
    double expected = fill_value(field.type);
    if (!global.contains(here))
      expected = 102;  // outside of the global shape nothing is touched
    else if (std::any_of(written.begin(), written.end(),
                         [&](const Box& tile) { return tile.contains(here); }))
      expected = value_of(number, cell(field, record, index));
    const double found = array.get(at);
    if (found != expected && static_cast<float>(found) != static_cast<float>(expected)) ++wrong;
  });
  CHECK_MESSAGE(wrong == 0, wrong, " wrong cells in ", field.name, " of type ", field.type, ", record ",
                record, ", halo ", halo);
}

struct Case {
  std::string format;
  std::string settings;
  unsigned seed;
};

// A setting that a format without them refuses.
std::string small_chunks(const std::string& format) {
  return has_chunks(format) ? ", chunk_bytes=1KiB" : "";
}

void round_trip(const Case& c) {
  CAPTURE(c.format);
  CAPTURE(c.settings);
  CAPTURE(c.seed);
  std::mt19937 random(c.seed);                                            // the same on all ranks
  std::mt19937 own(c.seed * 1000 + static_cast<unsigned>(world_rank()));  // not
  const auto fields = random_fields(random, c.format);
  const std::string path = "fields.nc";
  const auto me = static_cast<std::size_t>(world_rank());
  std::vector<std::vector<Box>> tiles;
  std::vector<std::unique_ptr<Cut>> cuts;
  const auto new_cuts = [&](bool holes) {
    tiles.clear();
    cuts.clear();
    for (const auto& field : fields) {
      tiles.push_back(random_tiles(field.cut, world_size(), holes, random));
      const int n = field.cut.size();
      const Dims low = random_halo(random, n);
      const Dims high = random_halo(random, n);
      cuts.push_back(std::make_unique<Cut>(MPI_COMM_WORLD, field.cut, tiles.back()[me], low, high));
    }
  };
  new_cuts(c.seed % 2 == 1);
  std::vector<std::int64_t> records{0, 1, 2, 3, 4};
  std::shuffle(records.begin(), records.end(), random);

  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, path.c_str(), ("format=" + c.format + ", " + c.settings).c_str(), &file));
  def_dim(file, "time", SHOAL_UNLIMITED);
  for (std::size_t i = 0; i < fields.size(); ++i)
    define(file, fields[i], cuts[i]->handle());
  for (const auto record : records)
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (fields[i].record || record == 0)
        write_field(file, static_cast<int>(i), fields[i], *cuts[i], record, random, own);
  ok(shoal_close(&file, 0));
  CHECK(file == nullptr);

  const auto written = tiles;
  new_cuts(false);
  ok(shoal_open(MPI_COMM_WORLD, path.c_str(), SHOAL_READ, c.settings.c_str(), &file));
  for (std::size_t i = 0; i < fields.size(); ++i)
    for (std::int64_t record = 0; record < (fields[i].record ? 5 : 1); ++record)
      read_field(file, static_cast<int>(i), fields[i], *cuts[i], written[i], record, own);
  ok(shoal_close(&file, 0));
}

}  // namespace

TEST_CASE("what one cut writes another reads, in every format") {
  for (const auto& format : formats())
    for (unsigned seed = 0; seed < 8; ++seed)
      round_trip({format, "", seed});
}

TEST_CASE("a stage that is far smaller than a field, and several nodes") {
  if (skipped(is_native(), "it has no stage")) return;
  const std::vector<std::string> files{"cdf5", "netcdf4"};
  const std::vector<unsigned> some_seeds{20, 21, 22};
  for (const auto& [format, seed] : in_part(pairs_of(files, some_seeds))) {
    round_trip({format, "stage_bytes=128KiB, slot_bytes=64KiB", seed});
    round_trip({format, "ranks_per_node=1", seed});
    // Of ranks that serve a node may have one.
    const bool two = world_size() > 1 && in_one_file() && std::getenv("TEST_SERVERS") == nullptr;
    const std::string writers = two ? "2" : "1";
    round_trip({format, "ranks_per_node=2, writers=" + writers + small_chunks(format), seed});
  }
}

TEST_CASE("tiles in boxes of I/O ranks, through other drivers") {
  if (skipped(!is_native(), "see below")) return;
  for (const auto& format : formats())
    for (const std::string variant :
         {"rearranger=box", "rearranger=box, ranks_per_node=2", "rearranger=box, io_ranks=1"})
      if (in_one_file() || variant.find("io_ranks") == std::string::npos)
        for (unsigned seed = 40; seed < 42; ++seed)
          round_trip({format, variant, seed});
}

TEST_CASE("sections of a field that one rank has, where I/O ranks are asked for") {
  if (skipped(in_one_file(), "a set is not asked for them")) return;
  const std::int64_t rows = 6, columns = 8;
  for (const auto& format : formats())
    for (const std::string variant : {"io_ranks=1", "rearranger=box"}) {
      CAPTURE(format);
      CAPTURE(variant);
      const bool mine = world_rank() == world_size() - 1;
      const Cut cut(MPI_COMM_WORLD, {rows, columns}, Box({0, 0}, mine ? Dims{rows, columns} : Dims{0, 0}),
                    {0, 0}, {0, 0});
      const std::string settings = "format=" + format + ", " + variant;
      shoal_dataset* file = nullptr;
      ok(shoal_create(MPI_COMM_WORLD, "section.nc", settings.c_str(), &file));
      def_dim(file, "y", rows);
      def_dim(file, "x", columns);
      ok(shoal_def_var(file, "v", SHOAL_DOUBLE, "y x", cut.handle()));
      std::vector<double> row(static_cast<std::size_t>(columns));
      const std::int64_t extents[] = {mine ? 1 : 0, mine ? columns : 0};
      const shoal_array array = shoal_array_of(row.data(), SHOAL_DOUBLE, 2, extents);
      const std::int64_t count[] = {1, columns};
      for (const std::int64_t y : {4, 0, 5, 1, 2, 3}) {
        std::iota(row.begin(), row.end(), static_cast<double>(y * columns));
        const std::int64_t start[] = {y, 0};
        ok(shoal_write(file, "v", cut.handle(), &array, SHOAL_SECTION(SHOAL_NO_RECORD, 2, start, count)));
      }
      ok(shoal_close(&file, 0));
      ok(shoal_open(MPI_COMM_WORLD, "section.nc", SHOAL_READ, variant.c_str(), &file));
      for (std::int64_t y = 0; y < rows; ++y) {
        std::fill(row.begin(), row.end(), -1);
        const std::int64_t start[] = {y, 0};
        ok(shoal_read(file, "v", cut.handle(), &array, SHOAL_SECTION(SHOAL_NO_RECORD, 2, start, count)));
        if (!mine) continue;
        CHECK(row.front() == static_cast<double>(y * columns));
        CHECK(row.back() == static_cast<double>((y + 1) * columns - 1));
      }
      ok(shoal_close(&file, 0));
    }
}

TEST_CASE("a section of the wrong length is refused on all ranks, with both numbers") {
  const std::int64_t rows = 2;
  const Dims global{rows * world_size(), 3};
  const Cut cut(MPI_COMM_WORLD, global, Box({rows * world_rank(), 0}, {rows, 3}), {0, 0}, {0, 0});
  const bool odd = world_rank() == world_size() - 1;
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, "length.nc", ("format=" + format).c_str(), &file));
    def_dim(file, "time", SHOAL_UNLIMITED);
    def_dim(file, "z", 2);
    def_dim(file, "y", global[0]);
    def_dim(file, "x", global[1]);
    ok(shoal_def_var(file, "v", SHOAL_INT, "time z y x", cut.handle()));
    ok(shoal_def_var(file, "r", SHOAL_INT, "z x", nullptr));
    TestArray all(SHOAL_INT, {2, rows, 3}), level(SHOAL_INT, {1, rows, 3}), row(SHOAL_INT, {1, 3});
    all.fill(5);
    row.fill(6);
    const std::int64_t start[] = {1, 0, 0, 0}, count[] = {1, global[0], global[1], 1};
    const std::int64_t of_row[] = {1, 3};
    ok(shoal_write(file, "v", nullptr, all.c(), SHOAL_RECORD(0)));
    ok(shoal_put(file, "r", row.c(), SHOAL_SECTION(SHOAL_NO_RECORD, 2, start, of_row)));
    ok(shoal_sync(file, 0));
    if (in_one_file()) {
      // 2 as if there were no records, 4 with them, -1, and none where there are numbers.
      for (const int wrong : {2, 4, -1, 0}) {
        const int code =
            shoal_read(file, "v", cut.handle(), level.c(), SHOAL_SECTION(0, odd ? wrong : 3, start, count));
        fails(code, SHOAL_INVALID_ARGUMENT,
              {"'v'", "length.nc", "have " + std::to_string(wrong), "has 3 dimensions"});
        alike(code);
      }
      const int code =
          shoal_get(file, "r", row.c(), SHOAL_SECTION(SHOAL_NO_RECORD, odd ? 1 : 2, start, of_row));
      fails(code, SHOAL_INVALID_ARGUMENT, {"'r'", "have 1 number;", "has 2 dimensions"});
      alike(code);
    }
    const int code = shoal_write(file, "v", nullptr, level.c(), SHOAL_SECTION(0, odd ? 2 : 3, start, count));
    CHECK(code == (odd ? SHOAL_INVALID_ARGUMENT : SHOAL_OK));  // who is wrong learns of it at once
    const int synced = shoal_sync(file, 0);
    if (world_size() > 1) fails(synced, SHOAL_INVALID_ARGUMENT, {"have 2 numbers", "has 3 dimensions"});
    alike(synced);
    shoal_close(&file, 0);
  }
}

TEST_CASE("tiles of several nodes: sent to I/O ranks, or stored by each node") {
  if (skipped(is_native() && in_one_file(), "it has no such setting")) return;
  const std::vector<std::string> files{"cdf5", "netcdf4"};
  const std::vector<std::string> variants{"rearrange=on",
                                          "ranks_per_node=2, rearrange=on",
                                          "ranks_per_node=1, rearrange=off",
                                          "ranks_per_node=2, io_ranks_per_node=1",
                                          "io_ranks=1",
                                          "rearranger=box",
                                          "rearranger=subset",
                                          "rearranger=subset, io_stride=2",
                                          "ranks_per_node=3, rearranger=subset",
                                          "ranks_per_node=2, rearrange=on, stage_bytes=64KiB"};
  for (const auto& [format, variant] : in_part(pairs_of(files, variants)))
    for (unsigned seed = 40; seed < 42; ++seed)
      round_trip({format, variant.ends_with("KiB") ? variant + small_chunks(format) : variant, seed});
}

TEST_CASE("fields: arrays in guarded memory go through their access, and others through none") {
  const std::int64_t from = 21 * world_rank() / world_size(), to = 21 * (world_rank() + 1) / world_size();
  const Cut cut(MPI_COMM_WORLD, {21}, Box({from}, {to - from}), {0}, {0});
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, "guarded.nc", nullptr, &file));
  def_dim(file, "x", 21);
  ok(shoal_def_var(file, "v", SHOAL_DOUBLE, "x", cut.handle()));
  TestArray array(SHOAL_DOUBLE, {to - from});
  array.fill(3);
  CHECK((array.c()->data == array.at({0})) != guards_memory());
  const std::int64_t before = guarded_boxes();
  ok(shoal_write(file, "v", nullptr, array.c(), nullptr));
  ok(shoal_close(&file, 0));
  CHECK((guarded_boxes() > before) == guards_memory());
}
