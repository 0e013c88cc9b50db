// Fields with masks: land gets the fill value whatever the array holds, and reading leaves it as it is in the
// array, or gives it the fill value where that is asked for; blocks with halo and maps, of any type, in every
// format.
#include "conformance/support.hpp"
#include "support/parts.hpp"
#include "support/random_maps.hpp"
#include "support/random_tiles.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

/// Land or water of global cells, the same on all ranks.
struct MaskedGrid {
  Dims shape;
  std::vector<bool> land;

  MaskedGrid(const Dims& cells, int percent_land, std::int64_t runs, std::mt19937& random) : shape(cells) {
    while (static_cast<std::int64_t>(land.size()) < volume(shape)) {
      const bool is_masked = static_cast<int>(random() % 100) < percent_land;
      land.insert(land.end(), 1 + random() % static_cast<std::uint64_t>(runs), is_masked);
    }
  }
  bool is_masked(const Dims& cell) const {
    return land[static_cast<std::size_t>(position_in(cell, Box::whole(shape)))];
  }
};

/// A masked counterpart of a decomposition.
class Masked {
 public:
  Masked(const shoal_decomposition* base, const shoal_array* mask) {
    ok(shoal_masked(MPI_COMM_WORLD, base, mask, &handle_));
  }
  Masked(const Masked&) = delete;
  Masked& operator=(const Masked&) = delete;
  ~Masked() { shoal_decomposition_free(&handle_); }
  const shoal_decomposition* handle() const { return handle_; }

 private:
  shoal_decomposition* handle_ = nullptr;
};

constexpr std::array k_mask_types{SHOAL_BYTE, SHOAL_INT, SHOAL_INT64, SHOAL_FLOAT, SHOAL_DOUBLE};

/// The mask of the last dimensions of a tile, with or without halo; water is any number but 0, the halo
/// nonsense.
TestArray mask_array(const MaskedGrid& world, const Cut& cut, int type, bool halo, std::mt19937& own) {
  const int n = world.shape.size();
  const auto last = [&](const Box& box) { return Box(tail(box.first, n), tail(box.count, n)); };
  const Box tile = last(cut.tile());
  const Box local = halo ? last(cut.around()) : tile;
  TestArray mask(type, local.count, own);
  mask.fill(7);
  for_cells(tile, [&](const Dims& cell) {
    Dims at = cell;
    for (int d = 0; d < n; ++d)
      at[d] -= local.first[d];
    mask.set(at, world.is_masked(cell) ? 0 : 1 + static_cast<double>(own() % 5));
  });
  return mask;
}

struct Field {
  Dims levels, global;
  int type = SHOAL_FLOAT;
  Dims shape() const { return joined(levels, global); }
};

void create(const std::string& settings, const Field& field, const shoal_decomposition* cut,
            shoal_dataset** file) {
  ok(shoal_create(MPI_COMM_WORLD, "mask.nc", settings.c_str(), file));
  def_dim(*file, "time", 0);
  std::string names = "time";
  for (int d = 0; d < field.shape().size(); ++d) {
    def_dim(*file, "d" + std::to_string(d), field.shape()[d]);
    names += " d" + std::to_string(d);
  }
  ok(shoal_def_var(*file, "grows", field.type, names.c_str(), cut));
  ok(shoal_def_var(*file, "fixed", field.type, names.c_str() + 5, cut));
  with_type(field.type, [&](auto value) {
    value = 98;
    ok(shoal_def_fill(*file, "fixed", field.type, &value));
    return 0.0;
  });
}

/// owned: of the cells of field.global.
double expected(const Field& field, const MaskedGrid& world, const std::vector<bool>& owned,
                std::int64_t record, const Dims& index) {
  const Dims cell = tail(index, field.global.size());
  const bool is_owned = owned[static_cast<std::size_t>(position_in(cell, Box::whole(field.global)))];
  if (!is_owned || world.is_masked(tail(index, world.shape.size())))
    return record < 0 ? 98 : fill_value(field.type);
  return value_of(1, joined(Dims{record}, index));
}

/// Values of water; land and halo hold what fits no integer.
void write(shoal_dataset* file, const Field& field, const MaskedGrid& world, const Cut& cut,
           std::int64_t record, int memory, std::mt19937& own) {
  const bool halo = own() % 2 == 0;
  const Box local = halo ? cut.around() : cut.tile();
  TestArray array = own() % 2 == 0 ? TestArray(memory, joined(field.levels, local.count), own)
                                   : TestArray(memory, joined(field.levels, local.count));
  array.fill(memory == SHOAL_DOUBLE ? 1e300 : 101);
  for_cells(Box(joined(Dims(field.levels.size()), cut.tile().first), joined(field.levels, cut.tile().count)),
            [&](const Dims& index) {
              if (world.is_masked(tail(index, world.shape.size()))) return;
              Dims at = index;
              for (int d = 0; d < local.rank(); ++d)
                at[field.levels.size() + d] -= local.first[d];
              array.set(at, value_of(1, joined(Dims{record}, index)));
            });
  ok(shoal_write(file, record < 0 ? "fixed" : "grows", nullptr, array.c(), SHOAL_RECORD(record)));
}

void check(shoal_dataset* file, const Field& field, const MaskedGrid& world, const std::vector<bool>& owned,
           std::int64_t record) {
  TestArray all(SHOAL_DOUBLE, field.shape());
  ok(shoal_get(file, record < 0 ? "fixed" : "grows", all.c(), SHOAL_RECORD(record)));
  std::int64_t wrong = 0;
  for_cells(Box::whole(field.shape()), [&](const Dims& index) {
    wrong += all.get(index) != expected(field, world, owned, record, index) ? 1 : 0;
  });
  CHECK(wrong == 0);
}

/// What reading does with land of the mask, and with what nobody owns around the tile.
enum class Land { read, left, filled };

void check_read(shoal_dataset* file, const Field& field, const MaskedGrid& world,
                const std::vector<bool>& owned, const Cut& cut, const shoal_decomposition* handle,
                std::int64_t record, Land land, std::mt19937& own) {
  const bool halo = own() % 2 == 0;
  const Box local = halo ? cut.around() : cut.tile();
  const int levels = field.levels.size();
  const int memory = own() % 2 == 0 ? field.type : SHOAL_DOUBLE;
  const Dims extents = joined(field.levels, local.count);
  TestArray array = own() % 2 == 0 ? TestArray(memory, extents) : TestArray(memory, extents, own);
  array.fill(-5);
  ok(shoal_read(file, record < 0 ? "fixed" : "grows", handle, array.c(), SHOAL_RECORD(record)));
  std::int64_t wrong = 0;
  const Box inside = Box::whole(field.global);
  if (cut.tile().empty()) return;
  for_cells(Box(joined(Dims(levels), local.first), joined(field.levels, local.count)),
            [&](const Dims& index) {
              const Dims cell = tail(index, field.global.size());
              Dims at = index;
              for (int d = 0; d < local.rank(); ++d)
                at[levels + d] -= local.first[d];
              double wanted = -5;
              if (inside.contains(Box(cell, Dims(cell.size(), 1)))) {
                const bool is_active = owned[static_cast<std::size_t>(position_in(cell, inside))] &&
                                       !world.is_masked(tail(index, world.shape.size()));
                if (is_active || land != Land::left) wanted = expected(field, world, owned, record, index);
              }
              wrong += array.get(at) != wanted ? 1 : 0;
            });
  CHECK(wrong == 0);
}

/// Of the settings of a new file those that are for reading it, too.
std::string way_of(const std::string& settings) {
  const std::size_t at = settings.rfind(", ");
  return at == std::string::npos ? "" : settings.substr(at);
}

void blocks(const std::string& settings, const Field& field, const MaskedGrid& world, bool holes,
            std::int64_t halo, std::mt19937& random) {
  const int n = field.global.size();
  const auto tiles = random_tiles(field.global, world_size(), holes, random);
  const Box tile = tiles[static_cast<std::size_t>(world_rank())];
  const Cut cut(MPI_COMM_WORLD, field.global, tile, Dims(n, halo), Dims(n, halo));
  std::mt19937 own(static_cast<unsigned>(random() + static_cast<unsigned>(world_rank())));
  TestArray mask = mask_array(world, cut, k_mask_types[own() % k_mask_types.size()], own() % 2 == 0, own);
  const Masked masked(cut.handle(), tile.empty() ? nullptr : mask.c());
  std::vector<bool> owned(static_cast<std::size_t>(volume(field.global)), false);
  for (const auto& box : tiles)
    for_cells(box, [&](const Dims& cell) {
      owned[static_cast<std::size_t>(position_in(cell, Box::whole(field.global)))] = true;
    });
  shoal_dataset* file = nullptr;
  create(settings, field, masked.handle(), &file);
  const std::vector<int> memories{field.type, SHOAL_DOUBLE};
  for (std::int64_t record = -1; record < 2; ++record)
    write(file, field, world, cut, record, memories[own() % 2], own);
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, "mask.nc", SHOAL_READ, way_of(settings).c_str(), &file));
  for (std::int64_t record = -1; record < 2; ++record) {
    check(file, field, world, owned, record);
    check_read(file, field, world, owned, cut, masked.handle(), record, Land::left, own);
    check_read(file, field, world, owned, cut, cut.handle(), record, Land::read, own);
  }
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, "mask.nc", SHOAL_READ, ("read_masked=fill" + way_of(settings)).c_str(),
                &file));
  for (std::int64_t record = -1; record < 2; ++record)
    check_read(file, field, world, owned, cut, masked.handle(), record, Land::filled, own);
  ok(shoal_close(&file, 0));
}

/// "format=..." and more.
std::vector<std::string> variants() {
  std::vector<std::string> all;
  for (const auto& format : formats())
    all.push_back("format=" + format);
  if (!is_native() || !in_one_file()) return all;
  all.push_back("format=cdf5, ranks_per_node=2");
  all.push_back("format=netcdf4, ranks_per_node=2");
  all.push_back("format=cdf5, direct_bytes=1");
  all.push_back("format=cdf5, slot_bytes=4096");
  all.push_back("format=cdf5, io_ranks=1");
  all.push_back("format=netcdf4, compression=deflate:1, ranks_per_node=2");
  return all;
}

}  // namespace

TEST_CASE("masks of blocks") {
  std::mt19937 random(20250607);
  const std::vector<std::pair<int, std::int64_t>> grids{{0, 0}, {0, 2}, {35, 0}, {35, 2}, {100, 0}, {100, 2}};
  const auto& types = types_of("cdf1");
  for (const auto& [grid, settings] : in_part(pairs_of(grids, variants()))) {
    const auto [percent_land, halo] = grid;
    CAPTURE(settings);
    CAPTURE(percent_land);
    CAPTURE(halo);
    Field field;
    field.levels = random() % 2 == 0 ? Dims{3} : Dims();
    field.global = {5 + static_cast<std::int64_t>(random() % 9),
                    70 + static_cast<std::int64_t>(random() % 90)};
    field.type = types[random() % types.size()];
    const MaskedGrid world(field.global, percent_land, 20, random);
    blocks(settings, field, world, false, halo, random);
    blocks(settings, field, world, true, halo, random);
  }
}

TEST_CASE(
    "a mask of the last dimensions goes for all levels of a block, and one of all dimensions for each") {
  std::mt19937 random(77);
  Field field;
  field.global = {4, 6, 11};
  for (const auto& format : formats()) {
    CAPTURE(format);
    blocks("format=" + format, field, MaskedGrid(Dims{6, 11}, 40, 5, random), false, 1, random);
    blocks("format=" + format, field, MaskedGrid(Dims{4, 6, 11}, 40, 5, random), false, 1, random);
    blocks("format=" + format, field, MaskedGrid(Dims{11}, 40, 2, random), false, 1, random);
  }
}

TEST_CASE("masks of maps") {
  if (skipped(in_one_file(), "a map goes to one file")) return;
  std::mt19937 random(99);
  const std::vector<std::int64_t> both{1, 12};
  for (const auto& [settings, runs] : in_part(pairs_of(variants(), both))) {
    CAPTURE(settings);
    CAPTURE(runs);
    const std::int64_t ncol = 190;
    const std::int64_t lev = 1 + static_cast<std::int64_t>(random() % 3);
    const MaskedGrid world(Dims{ncol}, 30, 6, random);
    const auto lists = random_maps(ncol, world_size(), {10, 10, runs, false}, random);
    const auto& mine = lists[static_cast<std::size_t>(world_rank())];
    const auto n = static_cast<std::int64_t>(mine.size());
    std::vector<bool> owned(static_cast<std::size_t>(ncol), false);
    for (const auto& list : lists)
      for (const auto cell : list)
        if (cell >= 0) owned[static_cast<std::size_t>(cell)] = true;
    const Dims global{ncol, lev};
    shoal_decomposition* base = nullptr;
    ok(shoal_map(MPI_COMM_WORLD, 2, global.data(), 1, n, mine.data(), &base));
    std::vector<std::int32_t> mask;
    for (const auto cell : mine)
      mask.push_back(cell < 0 || world.is_masked({cell}) ? 0 : 1);
    const shoal_array mask_of_list = shoal_array_of(mask.data(), SHOAL_INT, 1, &n);
    const Masked masked(base, &mask_of_list);
    shoal_dataset* file = nullptr;
    Field field;
    field.global = global;
    field.type = SHOAL_SHORT;
    create(settings, field, masked.handle(), &file);
    const auto value = [&](std::int64_t record, std::int64_t cell, std::int64_t level) {
      return world.is_masked({cell}) || !owned[static_cast<std::size_t>(cell)]
                 ? (record < 0 ? 98 : fill_value(SHOAL_SHORT))
                 : value_of(2, {record, cell, level});
    };
    const Dims extents{n, lev};
    for (std::int64_t record = -1; record < 2; ++record) {
      TestArray array(SHOAL_DOUBLE, extents, random);
      array.fill(1e300);
      for_cells(Box::whole(extents), [&](const Dims& i) {
        const std::int64_t cell = mine[static_cast<std::size_t>(i[0])];
        if (cell >= 0 && !world.is_masked({cell})) array.set(i, value(record, cell, i[1]));
      });
      ok(shoal_write(file, record < 0 ? "fixed" : "grows", nullptr, array.c(), SHOAL_RECORD(record)));
    }
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, "mask.nc", SHOAL_READ, way_of(settings).c_str(), &file));
    for (std::int64_t record = -1; record < 2; ++record) {
      const char* name = record < 0 ? "fixed" : "grows";
      TestArray all(SHOAL_DOUBLE, global);
      ok(shoal_get(file, name, all.c(), SHOAL_RECORD(record)));
      std::int64_t wrong = 0;
      for_cells(Box::whole(global),
                [&](const Dims& i) { wrong += all.get(i) != value(record, i[0], i[1]) ? 1 : 0; });
      for (const auto* handle : {masked.handle(), static_cast<const shoal_decomposition*>(base)})
        for (const int memory : {SHOAL_DOUBLE, SHOAL_SHORT}) {
          TestArray own(memory, extents, random);
          own.fill(-5);
          ok(shoal_read(file, name, handle, own.c(), SHOAL_RECORD(record)));
          for_cells(Box::whole(extents), [&](const Dims& i) {
            const std::int64_t cell = mine[static_cast<std::size_t>(i[0])];
            const bool left = cell < 0 || (handle == masked.handle() && world.is_masked({cell}));
            wrong += own.get(i) != (left ? -5 : value(record, cell, i[1])) ? 1 : 0;
          });
        }
      CHECK(wrong == 0);
    }
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, "mask.nc", SHOAL_READ, ("read_masked=fill" + way_of(settings)).c_str(),
                  &file));
    for (const auto* handle : {masked.handle(), static_cast<const shoal_decomposition*>(base)}) {
      TestArray own(SHOAL_DOUBLE, extents, random);
      own.fill(-5);
      ok(shoal_read(file, "fixed", handle, own.c(), nullptr));
      std::int64_t wrong = 0;
      for_cells(Box::whole(extents), [&](const Dims& i) {
        const std::int64_t cell = mine[static_cast<std::size_t>(i[0])];
        wrong += own.get(i) != (cell < 0 ? 98 : value(-1, cell, i[1])) ? 1 : 0;
      });
      CHECK(wrong == 0);
    }
    ok(shoal_close(&file, 0));
    shoal_decomposition_free(&base);
  }
}

TEST_CASE("masks that are wrong on one rank are refused on all alike") {
  const Dims global{4, static_cast<std::int64_t>(6 * world_size())};
  const Cut cut(MPI_COMM_WORLD, global, Box({0, std::int64_t{6} * world_rank()}, {4, 6}), {0, 1}, {0, 1});
  const int odd = world_size() - 1;
  std::vector<double> values(200, 1.0);
  const auto refused = [&](const Dims& extents, int type, const std::vector<std::string>& says) {
    const Dims good{4, 6};
    const Dims& mine = world_rank() == odd ? extents : good;
    const shoal_array mask =
        shoal_array_of(values.data(), world_rank() == odd ? type : SHOAL_DOUBLE, mine.size(), mine.data());
    shoal_decomposition* out = nullptr;
    const int code = shoal_masked(MPI_COMM_WORLD, cut.handle(), &mask, &out);
    fails(code, SHOAL_INVALID_ARGUMENT, says);
    alike(code);
    CHECK(out == nullptr);
  };
  refused({4, 7}, SHOAL_DOUBLE, {"4x7", "4x6", "4x8", "rank " + std::to_string(odd)});
  refused({4}, SHOAL_DOUBLE, {"the mask has the extents 4"});
  refused({1, 4, 6}, SHOAL_DOUBLE, {"3 dimensions"});
  refused({}, SHOAL_DOUBLE, {"0 dimensions"});
  if (world_size() > 1) refused({6}, SHOAL_DOUBLE, {"dimensions here"});
  if (world_rank() == odd) values[9] = std::numeric_limits<double>::quiet_NaN();
  refused({4, 6}, SHOAL_DOUBLE, {"NaN at [1, 3]"});
  shoal_decomposition* out = nullptr;
  int code = shoal_masked(MPI_COMM_WORLD, cut.handle(), nullptr, &out);
  fails(code, SHOAL_INVALID_ARGUMENT, {"array is NULL"});
  alike(code);
  code = shoal_masked(MPI_COMM_WORLD, nullptr, nullptr, &out);
  fails(code, SHOAL_INVALID_ARGUMENT, {"decomposition is NULL"});
  alike(code);
}

TEST_CASE("a mask is saved with its decomposition, and a new one replaces it") {
  const Dims global{static_cast<std::int64_t>(3 * world_size())};
  const Cut cut(MPI_COMM_WORLD, global, Box({std::int64_t{3} * world_rank()}, {3}), {0}, {0});
  std::vector<std::int8_t> land{0, 0, 0};
  std::vector<std::int8_t> active{1, 0, 1};
  const std::int64_t n = 3;
  const shoal_array first{sizeof(shoal_array), land.data(), SHOAL_LOGICAL, 1, 1, &n, nullptr};
  const shoal_array second{sizeof(shoal_array), active.data(), SHOAL_LOGICAL, 1, 1, &n, nullptr};
  const Masked all_land(cut.handle(), &first);
  const Masked masked(all_land.handle(), &second);
  ok(shoal_decomposition_save(MPI_COMM_WORLD, masked.handle(), "mask_map.nc"));
  shoal_decomposition* loaded = nullptr;
  ok(shoal_decomposition_load(MPI_COMM_WORLD, "mask_map.nc", nullptr, &loaded));
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, "mask.nc", ("format=" + formats().front()).c_str(), &file));
  def_dim(file, "x", global[0]);
  for (const char* name : {"v", "w"})
    ok(shoal_def_var(file, name, SHOAL_INT, "x", name[0] == 'v' ? masked.handle() : loaded));
  for (const char* name : {"v", "w"}) {
    std::vector<std::int32_t> values{4, 5, 6};
    const shoal_array array = shoal_array_of(values.data(), SHOAL_INT, 1, &n);
    ok(shoal_write(file, name, nullptr, &array, nullptr));
  }
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, "mask.nc", SHOAL_READ, nullptr, &file));
  for (const char* name : {"v", "w"}) {
    std::vector<std::int32_t> values{0, 0, 0};
    const shoal_array array = shoal_array_of(values.data(), SHOAL_INT, 1, &n);
    ok(shoal_read(file, name, cut.handle(), &array, nullptr));
    CHECK(values == std::vector<std::int32_t>{4, -2147483647, 6});
  }
  ok(shoal_close(&file, 0));
  shoal_decomposition_free(&loaded);
}
