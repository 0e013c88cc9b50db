// SPDX-License-Identifier: BSD-3-Clause
// Packed variables: every driver, format and kind of decomposition stores what packing each value gives, and
// reads it as values, or as the numbers that are there.
#include <cmath>
#include <limits>

#include "codec/packing.hpp"
#include "conformance/support.hpp"
#include "shoal/packing.h"
#include "support/random_maps.hpp"
#include "support/random_tiles.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

const char* const k_path = "packed.nc";
const Dims k_shape{2, 13, 17};  // levels and the dimensions that are cut
constexpr float k_missing = -999.9F;
constexpr double k_least = -300, k_most = 300;
constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

/// Values of the range, some missing in one way or another, some out of it, the same on all ranks.
float value(std::int64_t record, std::int64_t cell) {
  if (cell % 11 == 3) return k_missing;
  if (cell % 29 == 5) return std::numeric_limits<float>::quiet_NaN();
  if (cell % 31 == 7) return static_cast<float>(fill_value(SHOAL_FLOAT));
  if (cell % 23 == 2) return cell % 2 == 0 ? 1e30F : -305.0F;
  return static_cast<float>(std::sin(0.37 * static_cast<double>(cell + 1000 * record)) * 300.0);
}

bool is_out(float v) {
  return v == 1e30F || v == -305.0F;
}

struct Variant {
  std::string text;
  int type;
  double least, most, fill;  ///< packed numbers
  double scale() const { return (k_most - k_least) / (most - least); }
  double offset() const { return k_least - least * scale(); }
  double packed(double v) const {
    const double number = std::nearbyint((v - offset()) / scale());
    return number >= least && number <= most && !std::isnan(v) ? number : fill;
  }
  double unpacked(double number) const { return number == fill ? k_nan : number * scale() + offset(); }
};

const std::vector<Variant> k_variants{{"short(-300, 300)", SHOAL_SHORT, -32766, 32767, -32767},
                                      {"byte(-300, 300)", SHOAL_BYTE, -126, 127, -127},
                                      {"ubyte(-300, 300)", SHOAL_UBYTE, 0, 254, 255},
                                      {"uint(-300, 300)", SHOAL_UINT, 0, 4294967294.0, 4294967295.0}};

bool has_type(const std::string& format, int type) {
  const auto types = types_of(format);
  return std::find(types.begin(), types.end(), type) != types.end();
}

bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

void define(shoal_dataset* file, const char* name, int type, const shoal_decomposition* cut) {
  ok(shoal_def_var(file, name, type, "time z y x", cut));
  ok(shoal_put_att(file, name, "missing_value", SHOAL_FLOAT, 1, &k_missing));
  const float range[] = {-200, 250};
  ok(shoal_put_att(file, name, "valid_range", SHOAL_FLOAT, 2, range));
}

void define_dims(shoal_dataset* file) {
  def_dim(file, "time", SHOAL_UNLIMITED);
  def_dim(file, "z", k_shape[0]);
  def_dim(file, "y", k_shape[1]);
  def_dim(file, "x", k_shape[2]);
}

Box with_levels(const Box& box) {
  return {joined(Dims{0}, box.first), joined(Dims{k_shape[0]}, box.count)};
}

/// This rank's cells by a block, from an array of the type with the halo all around.
void write_block(shoal_dataset* file, const char* name, int type, const Cut& cut, std::int64_t record,
                 std::mt19937& own) {
  const Box local = cut.around();
  TestArray array(type, joined(Dims{k_shape[0]}, local.count), own);
  array.fill(101);
  for_local_cells(Dims{k_shape[0]}, cut.tile(), local, [&](const Dims& index, const Dims& at) {
    array.set(at, static_cast<double>(value(record, position_in(index, Box::whole(k_shape)))));
  });
  ok(shoal_write(file, name, cut.handle(), array.c(), SHOAL_RECORD(record)));
}

void write_map(shoal_dataset* file, const char* name, const shoal_decomposition* map,
               const std::vector<std::int64_t>& cells, std::int64_t record) {
  TestArray array(SHOAL_FLOAT, {k_shape[0], static_cast<std::int64_t>(cells.size())});
  for (std::int64_t z = 0; z < k_shape[0]; ++z)
    for (std::size_t i = 0; i < cells.size(); ++i)
      array.set({z, static_cast<std::int64_t>(i)},
                static_cast<double>(value(record, z * k_shape[1] * k_shape[2] + cells[i])));
  ok(shoal_write(file, name, map, array.c(), SHOAL_RECORD(record)));
}

/// All cells on every rank, as an array of the type.
void check_all(shoal_dataset* file, const char* name, int type, const Variant& variant, std::int64_t record,
               bool as_values) {
  TestArray array(type, k_shape);
  ok(shoal_get(file, name, array.c(), SHOAL_RECORD(record)));
  int wrong = 0;
  for_cells(Box::whole(k_shape), [&](const Dims& index) {
    const double packed =
        variant.packed(static_cast<double>(value(record, position_in(index, Box::whole(k_shape)))));
    double wanted = as_values ? variant.unpacked(packed) : packed;
    if (type == SHOAL_FLOAT) wanted = static_cast<double>(static_cast<float>(wanted));
    wrong += same(array.get(index), wanted) ? 0 : 1;
  });
  CHECK_MESSAGE(wrong == 0, wrong, " wrong cells in ", name, ", record ", record, ", as type ", type);
}

/// This rank's cells with their halo, as values.
void check_block(shoal_dataset* file, const char* name, int type, const Cut& cut, const Variant& variant,
                 std::int64_t record, std::mt19937& own) {
  const Box local = cut.around();
  TestArray array(type, joined(Dims{k_shape[0]}, local.count), own);
  array.fill(101);
  ok(shoal_read(file, name, cut.handle(), array.c(), SHOAL_RECORD(record)));
  int wrong = 0;
  if (cut.tile().empty()) return;
  const Box there = intersection(local, Box::whole({k_shape[1], k_shape[2]}));
  for_local_cells(Dims{k_shape[0]}, there, local, [&](const Dims& index, const Dims& at) {
    double wanted = variant.unpacked(
        variant.packed(static_cast<double>(value(record, position_in(index, Box::whole(k_shape))))));
    if (type == SHOAL_FLOAT) wanted = static_cast<double>(static_cast<float>(wanted));
    wrong += same(array.get(at), wanted) ? 0 : 1;
  });
  CHECK_MESSAGE(wrong == 0, wrong, " wrong cells of this rank in ", name, ", record ", record);
}

double number_attribute(shoal_dataset* file, const char* variable, const char* name) {
  double number = 0;
  ok(shoal_get_att(file, variable, name, SHOAL_DOUBLE, &number));
  return number;
}

int type_in_file(shoal_dataset* file, const char* variable) {
  int index = -1;
  ok(shoal_find_var(file, variable, &index));
  shoal_var_info info{};
  info.struct_size = sizeof info;
  ok(shoal_inq_var(file, index, &info));
  return info.type;
}

/// Every cell once, cell i on rank i modulo ranks, backwards.
std::vector<std::int64_t> scattered_cells() {
  std::vector<std::int64_t> cells;
  for (std::int64_t cell = k_shape[1] * k_shape[2] - 1; cell >= 0; --cell)
    if (cell % world_size() == world_rank()) cells.push_back(cell);
  return cells;
}

std::int64_t cells_out_of_range(std::int64_t records) {
  std::int64_t n = 0;
  for (std::int64_t record = 0; record < records; ++record)
    for (std::int64_t cell = 0; cell < volume(k_shape); ++cell)
      n += is_out(value(record, cell)) ? 1 : 0;
  return n;
}

/// What this rank's report counts for the variable.
std::int64_t counted_here(shoal_dataset* file, const std::string& name) {
  const std::string report = shoal_report(file);
  const auto all = report.find("\"values_out_of_range\"");
  REQUIRE(all != std::string::npos);
  const std::string mark = "\"" + name + "\": {\"count\": ";
  const auto at = report.find(mark, all);
  return at == std::string::npos ? 0 : std::atoll(report.c_str() + at + mark.size());
}

std::int64_t sum_over_ranks(std::int64_t mine) {
  std::int64_t sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

/// Boxes of two types on each rank, and a variable that the last rank has and all read in two boxes.
void check_mixed_boxes(shoal_dataset* file, const Box& tile, const Variant& variant) {
  int mixed = 0, levels = 0;
  ok(shoal_find_var(file, "mixed", &mixed));
  ok(shoal_find_var(file, "levels", &levels));
  const auto value_at = [&](std::int64_t z, std::int64_t cell) {
    return static_cast<double>(z * 100 - 120) + static_cast<double>(cell % 50);
  };
  const auto wanted = [&](double v) { return variant.unpacked(variant.packed(v)); };
  std::int64_t first[2][3], counts[3] = {1, tile.count[0], tile.count[1]};
  TestArray floats(SHOAL_FLOAT, {1, tile.count[0], tile.count[1]}),
      doubles(SHOAL_DOUBLE, {1, tile.count[0], tile.count[1]});
  shoal_box boxes[2] = {SHOAL_BOX_INIT, SHOAL_BOX_INIT};
  for (int z = 0; z < 2; ++z) {
    TestArray& array = z == 0 ? floats : doubles;
    for_cells(tile, [&](const Dims& index) {
      array.set({0, index[0] - tile.first[0], index[1] - tile.first[1]},
                value_at(z, index[0] * k_shape[2] + index[1]));
    });
    first[z][0] = z, first[z][1] = tile.first[0], first[z][2] = tile.first[1];
    boxes[z].variable = mixed;
    boxes[z].ndims = 3;
    boxes[z].start = first[z];
    boxes[z].count = counts;
    boxes[z].array = *array.c();
  }
  ok(shoal_write_boxes(file, 2, boxes));
  for (TestArray* const array : {&floats, &doubles})
    array->fill(0);
  ok(shoal_read_boxes(file, 2, boxes));
  int wrong = 0;
  for (int z = 0; z < 2; ++z)
    for_cells(tile, [&](const Dims& index) {
      TestArray& array = z == 0 ? floats : doubles;
      double value = wanted(value_at(z, index[0] * k_shape[2] + index[1]));
      if (z == 0) value = static_cast<double>(static_cast<float>(value));
      wrong += array.get({0, index[0] - tile.first[0], index[1] - tile.first[1]}) == value ? 0 : 1;
    });
  CHECK(wrong == 0);

  const std::int64_t zero = 0, one = 1, two = 2;
  TestArray of_last(SHOAL_DOUBLE, {2});
  of_last.set({0}, -250);
  of_last.set({1}, 125.5);
  shoal_box box = SHOAL_BOX_INIT;
  box.variable = levels;
  box.ndims = 1;
  box.start = &zero;
  box.count = &two;
  box.array = *of_last.c();
  ok(shoal_write_boxes(file, world_rank() == world_size() - 1 ? 1 : 0, &box));
  TestArray low(SHOAL_DOUBLE, {1}), high(SHOAL_DOUBLE, {1});
  shoal_box parts[2] = {box, box};
  parts[0].count = parts[1].count = &one;
  parts[1].start = &one;
  parts[0].array = *low.c();
  parts[1].array = *high.c();
  ok(shoal_read_boxes(file, 2, parts));
  CHECK(low.get({0}) == wanted(-250));
  CHECK(high.get({0}) == wanted(125.5));
}

}  // namespace

TEST_CASE("packing: blocks, maps and replicated variables have the same numbers, whatever the format") {
  std::mt19937 random(43);
  std::mt19937 own(700 + static_cast<unsigned>(world_rank()));
  const Dims cut_shape{k_shape[1], k_shape[2]};
  const auto tiles = random_tiles(cut_shape, world_size(), false, random);
  const Box tile = tiles[static_cast<std::size_t>(world_rank())];
  const Cut haloed(MPI_COMM_WORLD, cut_shape, tile, Dims(2, 1), Dims(2, 1));
  const Cut bare(MPI_COMM_WORLD, cut_shape, tile, Dims(2), Dims(2));
  const auto cells = scattered_cells();
  shoal_decomposition* map = nullptr;
  ok(shoal_map(MPI_COMM_WORLD, 2, cut_shape.begin(), 0, static_cast<std::int64_t>(cells.size()), cells.data(),
               &map));
  for (const auto& format : formats())
    for (const auto& variant : k_variants) {
      if (format == "ascii" || !has_type(format, variant.type)) continue;
      CAPTURE(format);
      CAPTURE(variant.text);
      shoal_dataset* file = nullptr;
      ok(shoal_create(MPI_COMM_WORLD, k_path,
                      ("format=" + format + ", quiet=true, pack=exact=none; " + variant.text).c_str(),
                      &file));
      define_dims(file);
      define(file, "haloed", SHOAL_FLOAT, haloed.handle());
      define(file, "bare", SHOAL_DOUBLE, bare.handle());
      const bool maps = in_one_file();
      if (maps) define(file, "mapped", SHOAL_FLOAT, map);
      define(file, "exact", SHOAL_FLOAT, bare.handle());
      ok(shoal_def_var(file, "count", SHOAL_INT, "y x", bare.handle()));
      ok(shoal_def_var(file, "x", SHOAL_DOUBLE, "x", nullptr));
      ok(shoal_def_var(file, "scale", SHOAL_FLOAT, "z", nullptr));
      ok(shoal_def_pack(file, "scale", variant.text.c_str()));
      for (const std::int64_t record : {0, 1}) {
        write_block(file, "haloed", SHOAL_DOUBLE, haloed, record, own);
        write_block(file, "bare", SHOAL_FLOAT, bare, record, own);
        if (maps) write_map(file, "mapped", map, cells, record);
        write_block(file, "exact", SHOAL_FLOAT, bare, record, own);
      }
      float scale[] = {31.4F, k_missing};  // out of the range, and nobody said that it is missing
      const std::int64_t two = 2;
      const shoal_array array = shoal_array_of(scale, SHOAL_FLOAT, 1, &two);
      ok(shoal_put(file, "scale", &array, nullptr));
      ok(shoal_sync(file, 0));
      CHECK(sum_over_ranks(counted_here(file, "haloed")) == cells_out_of_range(2));
      CHECK(sum_over_ranks(counted_here(file, "bare")) == cells_out_of_range(2));
      if (maps) CHECK(sum_over_ranks(counted_here(file, "mapped")) == cells_out_of_range(2));
      CHECK(sum_over_ranks(counted_here(file, "scale")) == 1);
      ok(shoal_close(&file, 0));

      for (const char* const setting : {"pack=attributes", "pack=none"}) {
        const bool unpacks = setting != std::string("pack=none");
        ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, setting, &file));
        for (const std::int64_t record : {0, 1})
          for (const char* const name : {"haloed", "bare", "mapped"}) {
            if (name == std::string("mapped") && !maps) continue;
            check_all(file, name, SHOAL_FLOAT, variant, record, unpacks);
            check_all(file, name, SHOAL_DOUBLE, variant, record, unpacks);
            check_all(file, name, SHOAL_INT64, variant, record, false);
            if (unpacks) check_block(file, name, SHOAL_FLOAT, haloed, variant, record, own);
            if (unpacks) check_block(file, name, SHOAL_DOUBLE, bare, variant, record, own);
          }
        ok(shoal_close(&file, 0));
      }
      ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
      for (const char* const name : {"haloed", "bare", "scale"}) {
        CHECK(type_in_file(file, name) == variant.type);
        CHECK(number_attribute(file, name, "_FillValue") == variant.fill);
        CHECK(number_attribute(file, name, "scale_factor") == variant.scale());
        CHECK(number_attribute(file, name, "add_offset") == variant.offset());
        int index = -1;
        fails(shoal_find_att(file, name, "missing_value", &index), SHOAL_NOT_FOUND);
      }
      double range[2];
      ok(shoal_get_att(file, "bare", "valid_range", SHOAL_DOUBLE, range));
      CHECK(range[0] == variant.packed(-200));
      CHECK(range[1] == variant.packed(250));
      CHECK(type_in_file(file, "exact") == SHOAL_FLOAT);
      CHECK(type_in_file(file, "count") == SHOAL_INT);
      CHECK(type_in_file(file, "x") == SHOAL_DOUBLE);
      ok(shoal_close(&file, 0));
    }
  ok(shoal_decomposition_free(&map));
}

TEST_CASE("packing: a file goes on with it, compressed in parts of chunks too") {
  if (skipped(in_one_file(), "sets of files are not written on")) return;
  std::mt19937 random(44);
  std::mt19937 own(800 + static_cast<unsigned>(world_rank()));
  const Dims cut_shape{k_shape[1], k_shape[2]};
  const auto tiles = random_tiles(cut_shape, world_size(), false, random);
  const Cut cut(MPI_COMM_WORLD, cut_shape, tiles[static_cast<std::size_t>(world_rank())], Dims(2, 1),
                Dims(2, 1));
  const auto cells = scattered_cells();
  shoal_decomposition* map = nullptr;
  ok(shoal_map(MPI_COMM_WORLD, 2, cut_shape.begin(), 0, static_cast<std::int64_t>(cells.size()), cells.data(),
               &map));
  const Variant& variant = k_variants.front();
  for (const auto& format : formats()) {
    if (format == "ascii") continue;
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, k_path, ("quiet=true, format=" + format).c_str(), &file));
    define_dims(file);
    for (const char* const name : {"v", "m"}) {
      define(file, name, SHOAL_DOUBLE, name[0] == 'v' ? cut.handle() : map);
      ok(shoal_def_pack(file, name, variant.text.c_str()));
      const std::int64_t chunks[] = {2, 1, 5, 6};
      if (has_chunks(format)) ok(shoal_def_chunks(file, name, chunks));
      if (has_chunks(format) && compresses_parts())
        ok(shoal_def_compression(file, name, "shuffle+deflate:1"));
    }
    // By attributes of the program's.
    ok(shoal_def_var(file, "own", SHOAL_SHORT, "time z y x", cut.handle()));
    const double scale = variant.scale(), offset = variant.offset();
    ok(shoal_put_att(file, "own", "scale_factor", SHOAL_DOUBLE, 1, &scale));
    ok(shoal_put_att(file, "own", "add_offset", SHOAL_DOUBLE, 1, &offset));
    ok(shoal_def_pack(file, "own", "attributes"));
    const auto write = [&](std::int64_t record) {
      write_block(file, "v", SHOAL_FLOAT, cut, record, own);
      write_map(file, "m", map, cells, record);
      write_block(file, "own", SHOAL_DOUBLE, cut, record, own);
    };
    write(0);
    // What was written in this file is read as it will be.
    ok(shoal_sync(file, 0));
    check_block(file, "v", SHOAL_DOUBLE, cut, variant, 0, own);
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_WRITE, "quiet=true, pack=attributes", &file));
    fails(shoal_delete_att(file, "v", "scale_factor"), SHOAL_NOT_SUPPORTED, {"scale_factor", "'v'"});
    fails(shoal_put_att(file, "v", "add_offset", SHOAL_DOUBLE, 1, &offset), SHOAL_NOT_SUPPORTED,
          {"add_offset"});
    write(1);
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, "pack=v=attributes; m=attributes", &file));
    for (const std::int64_t record : {0, 1}) {
      // Missing values that the program gave when it defined "v" are out of the range of one that goes on.
      check_all(file, "v", SHOAL_DOUBLE, variant, record, true);
      check_all(file, "m", SHOAL_FLOAT, variant, record, true);
      check_all(file, "own", SHOAL_SHORT, variant, record, false);
    }
    ok(shoal_close(&file, 0));
    const int code = shoal_open(MPI_COMM_WORLD, k_path, SHOAL_WRITE, "pack=v=short(-2, 35)", &file);
    fails(code, SHOAL_SETTING, {"'v'", "short(-2, 35)", "pack=v=attributes"});
    alike(code);
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_WRITE, "pack=v=short(-300, 300)", &file));
    ok(shoal_close(&file, 0));
  }
  ok(shoal_decomposition_free(&map));
}

TEST_CASE("packing: cells that nobody has, boxes, and calls of one rank") {
  if (skipped(in_one_file(), "sets of files have no boxes")) return;
  std::mt19937 random(45);
  const Dims cut_shape{k_shape[1], k_shape[2]};
  const auto tiles = random_tiles(cut_shape, world_size(), false, random);
  const Box tile = tiles[static_cast<std::size_t>(world_rank())];
  const Cut cut(MPI_COMM_WORLD, cut_shape, tile, Dims(2), Dims(2));
  TestArray water(SHOAL_INT, tile.count);
  const auto is_land = [](const Dims& index) { return (index[0] + index[1]) % 3 == 0; };
  for_cells(tile, [&](const Dims& index) {
    water.set({index[0] - tile.first[0], index[1] - tile.first[1]}, is_land(index) ? 0 : 1);
  });
  shoal_decomposition* masked = nullptr;
  ok(shoal_masked(MPI_COMM_WORLD, cut.handle(), water.c(), &masked));
  const Variant& variant = k_variants.front();
  for (const auto& format : formats()) {
    if (format == "ascii") continue;
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, k_path,
                    ("quiet=true, read_masked=fill, pack=short(-300, 300), format=" + format).c_str(),
                    &file));
    define_dims(file);
    define(file, "land", SHOAL_FLOAT, masked);
    ok(shoal_def_var(file, "boxes", SHOAL_FLOAT, "z y x", nullptr));
    ok(shoal_def_pack(file, "boxes", variant.text.c_str()));
    ok(shoal_def_var(file, "alone", SHOAL_DOUBLE, "z y x", nullptr));
    ok(shoal_def_pack(file, "alone", variant.text.c_str()));
    const bool alone = writes_alone() && shoal_def_independent(file, "alone") == SHOAL_OK;
    ok(shoal_def_var(file, "mixed", SHOAL_FLOAT, "z y x", nullptr));
    ok(shoal_def_pack(file, "mixed", variant.text.c_str()));
    ok(shoal_def_var(file, "levels", SHOAL_FLOAT, "z", nullptr));
    ok(shoal_def_pack(file, "levels", variant.text.c_str()));
    ok(shoal_end_define(file));
    TestArray cells(SHOAL_FLOAT, joined(Dims{k_shape[0]}, tile.count));
    for_local_cells(Dims{k_shape[0]}, tile, tile, [&](const Dims& index, const Dims& at) {
      cells.set(at, static_cast<double>(value(0, position_in(index, Box::whole(k_shape)))));
    });
    ok(shoal_write(file, "land", masked, cells.c(), SHOAL_RECORD(0)));
    const Box mine = with_levels(tile);
    int numbers[2];
    ok(shoal_find_var(file, "boxes", &numbers[0]));
    ok(shoal_find_var(file, "alone", &numbers[1]));
    shoal_box box{};
    box.struct_size = sizeof box;
    box.ndims = 3;
    box.variable = numbers[0];
    box.start = mine.first.data();
    box.count = mine.count.data();
    box.array = *cells.c();
    ok(shoal_write_boxes(file, 1, &box));
    box.variable = numbers[1];
    if (alone) ok(shoal_write_independent(file, 1, &box));
    ok(shoal_sync(file, 0));
    TestArray found(SHOAL_DOUBLE, joined(Dims{k_shape[0]}, tile.count));
    const auto check_found = [&](bool land) {
      int wrong = 0;
      for_local_cells(Dims{k_shape[0]}, tile, tile, [&](const Dims& index, const Dims& at) {
        const double v = static_cast<double>(value(0, position_in(index, Box::whole(k_shape))));
        // Of the others nobody said what is missing: such values are out of the range.
        const double wanted =
            land && is_land({index[1], index[2]}) ? k_nan : variant.unpacked(variant.packed(v));
        wrong += same(found.get(at), wanted) ? 0 : 1;
      });
      CHECK(wrong == 0);
      found.fill(7);
    };
    found.fill(7);
    ok(shoal_read(file, "land", masked, found.c(), SHOAL_RECORD(0)));
    check_found(true);
    box.array = *found.c();
    box.variable = numbers[0];
    ok(shoal_read_boxes(file, 1, &box));
    check_found(false);
    box.variable = numbers[1];
    if (alone) {
      ok(shoal_read_independent(file, 1, &box));
      check_found(false);
    }
    check_mixed_boxes(file, tile, variant);
    ok(shoal_close(&file, 0));
  }
  ok(shoal_decomposition_free(&masked));
}

TEST_CASE(
    "packing: arrays of whole numbers hold values of a variable that was defined as of floating point") {
  if (skipped(in_one_file() && !formats().empty(), "sets of files are not written on")) return;
  for (const auto& format : formats()) {
    if (format == "ascii") continue;
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    const std::string settings = "quiet=true, pack=v=short(-2, 35), format=" + format;
    const std::int64_t extents[] = {2};
    const auto put = [&](std::vector<int> numbers, int record) {
      const shoal_array array = shoal_array_of(numbers.data(), SHOAL_INT, 1, extents);
      ok(shoal_put(file, "v", &array, SHOAL_RECORD(record)));
    };
    ok(shoal_create(MPI_COMM_WORLD, k_path, settings.c_str(), &file));
    define_dims(file);
    ok(shoal_def_var(file, "v", SHOAL_DOUBLE, "time z", nullptr));
    put({1, 30}, 0);
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_WRITE, "quiet=true, pack=v=short(-2, 35)", &file));
    put({2, 31}, 1);
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, "pack=attributes", &file));
    for (const int record : {0, 1}) {
      double found[2];
      const shoal_array array = shoal_array_of(found, SHOAL_DOUBLE, 1, extents);
      ok(shoal_get(file, "v", &array, SHOAL_RECORD(record)));
      CHECK(std::abs(found[0] - 1 - record) < 0.0003);
      CHECK(std::abs(found[1] - 30 - record) < 0.0003);
    }
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("packing: a pattern passes over what cannot be packed") {
  if (skipped(in_one_file() && !formats().empty(), "sets of files are not written on")) return;
  const std::string format = formats().front();
  if (format == "ascii") return;
  const Dims cut_shape{k_shape[1], k_shape[2]};
  std::mt19937 random(48);
  const auto tiles = random_tiles(cut_shape, world_size(), false, random);
  const Cut cut(MPI_COMM_WORLD, cut_shape, tiles[static_cast<std::size_t>(world_rank())], Dims(2), Dims(2));
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_path, ("quiet=true, pack=short(-1000, 300), format=" + format).c_str(),
                  &file));
  define_dims(file);
  define(file, "v", SHOAL_FLOAT, cut.handle());  // whose missing values would have numbers
  ok(shoal_def_var(file, "w", SHOAL_FLOAT, "z y x", cut.handle()));
  ok(shoal_def_var(file, "odd", SHOAL_SHORT, "y x", cut.handle()));
  ok(shoal_put_att(file, "odd", "scale_factor", SHOAL_CHAR, 1, "2"));
  ok(shoal_end_define(file));
  CHECK(type_in_file(file, "v") == SHOAL_FLOAT);
  CHECK(type_in_file(file, "w") == SHOAL_SHORT);
  CHECK(std::string(shoal_report(file)).find("variable 'v' stays as it is") != std::string::npos);
  const double scale = 3;
  ok(shoal_put_att(file, "w", "factor", SHOAL_DOUBLE, 1, &scale));
  fails(shoal_rename_att(file, "w", "factor", "missing_value"), SHOAL_NOT_SUPPORTED, {"'factor'"});
  ok(shoal_close(&file, 0));
  // What new variables get says nothing of files that are read.
  ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, "pack=short(0, 1)", &file));
  int index = 0;
  ok(shoal_find_var(file, "w", &index));
  shoal_var_info info = SHOAL_VAR_INFO_INIT;
  ok(shoal_inq_var(file, index, &info));
  CHECK(info.packed == 0);
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, "quiet=true, pack=attributes", &file));
  ok(shoal_inq_var(file, index, &info));
  CHECK(info.packed == 1);
  ok(shoal_close(&file, 0));
  const int code = shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, "pack=odd=attributes", &file);
  fails(code, SHOAL_TYPE, {"packed.nc", "'odd'", "scale_factor"});
  alike(code);
}

TEST_CASE("packing: values out of the range are an error where that is asked for") {
  if (skipped(!formats().empty(), "it has none of the formats")) return;
  const Dims cut_shape{k_shape[1], k_shape[2]};
  std::mt19937 random(46), own(1);
  const auto tiles = random_tiles(cut_shape, world_size(), false, random);
  const Cut cut(MPI_COMM_WORLD, cut_shape, tiles[static_cast<std::size_t>(world_rank())], Dims(2), Dims(2));
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_path,
                  ("pack=short(-300, 300), pack_out_of_range=error, format=" + formats().front()).c_str(),
                  &file));
  define_dims(file);
  define(file, "v", SHOAL_FLOAT, cut.handle());
  write_block(file, "v", SHOAL_FLOAT, cut, 0, own);
  const int code = shoal_close(&file, 0);
  fails(code, SHOAL_RANGE, {"'v'", "-300", "300"});
  alike(code);
}

TEST_CASE("packing: what cannot be packed is refused") {
  if (skipped(!formats().empty(), "it has none of the formats")) return;
  const Dims cut_shape{k_shape[1], k_shape[2]};
  std::mt19937 random(47);
  const auto tiles = random_tiles(cut_shape, world_size(), false, random);
  const Cut cut(MPI_COMM_WORLD, cut_shape, tiles[static_cast<std::size_t>(world_rank())], Dims(2), Dims(2));
  shoal_dataset* file = nullptr;
  for (const char* const wrong :
       {"pack=short", "pack=short(3, 2)", "pack=double(1, 2)", "pack=short(1)", "pack=v=shirt(1, 2)"})
    fails(shoal_create(MPI_COMM_WORLD, k_path, wrong, &file), SHOAL_SETTING, {"short(-2, 35)"});
  ok(shoal_create(MPI_COMM_WORLD, k_path, ("format=" + formats().front()).c_str(), &file));
  define_dims(file);
  define(file, "v", SHOAL_FLOAT, cut.handle());
  ok(shoal_def_var(file, "n", SHOAL_INT, "y x", cut.handle()));
  ok(shoal_def_var(file, "text", SHOAL_CHAR, "x", nullptr));
  fails(shoal_def_pack(file, "w", "short(1, 2)"), SHOAL_NOT_FOUND, {"w"});
  fails(shoal_def_pack(file, "v", "short"), SHOAL_INVALID_ARGUMENT, {"'v'", "short(-2, 35)"});
  fails(shoal_def_pack(file, "n", "short(1, 2)"), SHOAL_TYPE, {"'n'", "int", "attributes"});
  fails(shoal_def_pack(file, "text", "short(1, 2)"), SHOAL_TYPE, {"'text'", "char"});
  const auto refused = [&](int expected, const std::vector<std::string>& words) {
    const int code = shoal_end_define(file);
    fails(code, expected, words);
    alike(code);
    define_dims(file);
    define(file, "v", SHOAL_FLOAT, cut.handle());
  };
  ok(shoal_def_pack(file, "v", "short(-1000, 1000)"));
  refused(SHOAL_INVALID_ARGUMENT, {"'v'", "-999.9", "fill value"});
  ok(shoal_def_pack(file, "v", "attributes"));
  refused(SHOAL_TYPE, {"'v'", "float"});
  const double scale = 2;
  ok(shoal_put_att(file, "v", "scale_factor", SHOAL_DOUBLE, 1, &scale));
  ok(shoal_def_pack(file, "v", "short(-300, 300)"));
  refused(SHOAL_EXISTS, {"'v'", "scale_factor"});
  ok(shoal_def_quantize(file, "v", "bitround:3"));
  ok(shoal_def_pack(file, "v", "short(-300, 300)"));
  refused(SHOAL_INVALID_ARGUMENT, {"'v'", "bitround:3", "short(-300, 300)"});
  if (world_size() > 1) {
    ok(shoal_def_pack(file, "v", world_rank() == 0 ? "none" : "short(-300, 300)"));
    refused(SHOAL_OUT_OF_STEP, {"'v'"});
  }
  ok(shoal_def_var(file, "s", SHOAL_SHORT, "y x", cut.handle()));
  ok(shoal_def_pack(file, "s", "attributes"));
  refused(SHOAL_NOT_FOUND, {"'s'", "scale_factor"});
  ok(shoal_def_var(file, "s", SHOAL_SHORT, "y x", cut.handle()));
  ok(shoal_put_att(file, "s", "scale_factor", SHOAL_CHAR, 1, "2"));
  ok(shoal_def_pack(file, "s", "attributes"));
  refused(SHOAL_TYPE, {"'s'", "scale_factor"});
  ok(shoal_end_define(file));
  fails(shoal_def_pack(file, "v", "none"), SHOAL_STATE, {"'v'"});
  shoal_close(&file, 0);
}
