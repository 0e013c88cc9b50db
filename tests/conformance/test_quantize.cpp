// SPDX-License-Identifier: BSD-3-Clause
// Quantized variables: every driver, format and kind of decomposition stores what rounding each value gives.
#include <bit>
#include <map>

#include "codec/quantize.hpp"
#include "conformance/support.hpp"
#include "support/random_maps.hpp"
#include "support/random_tiles.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

const char* const k_path = "quantized.nc";
const Dims k_shape{2, 13, 17};  // levels and the dimensions that are cut
constexpr float k_missing = -999.9F;

/// Values whose bits all count, some missing, the same on all ranks.
float value(std::int64_t record, std::int64_t cell) {
  if (cell % 11 == 3) return k_missing;
  if (cell % 29 == 5) return 0.0F;
  return static_cast<float>(std::sin(0.37 * static_cast<double>(cell + 1000 * record)) * 300.0);
}

struct Variant {
  std::string text;
  Quantization::Mode mode;
  int number;
};

const std::vector<Variant> k_variants{{"bitround:5", Quantization::Mode::bitround, 5},
                                      {"granular_bitround:2", Quantization::Mode::granular, 2}};

/// A variant has tables, which are made once.
const Rounding& rounding_of(const Variant& variant) {
  static std::map<std::string, Rounding> made;
  const auto found = made.find(variant.text);
  if (found != made.end()) return found->second;
  const float kept[] = {k_missing, static_cast<float>(fill_value(SHOAL_FLOAT))};
  const Quantization quantization{variant.mode, variant.number};
  return made.try_emplace(variant.text, Type::float_, quantization, std::as_bytes(std::span(kept)))
      .first->second;
}

float expected(const Variant& variant, float v) {
  rounding_of(variant).apply(reinterpret_cast<std::byte*>(&v), sizeof v, 1, false);
  return v;
}

void define(shoal_dataset* file, const char* name, const shoal_decomposition* cut) {
  ok(shoal_def_var(file, name, SHOAL_FLOAT, "time z y x", cut));
  ok(shoal_put_att(file, name, "missing_value", SHOAL_FLOAT, 1, &k_missing));
}

void define_dims(shoal_dataset* file) {
  def_dim(file, "time", SHOAL_UNLIMITED);
  def_dim(file, "z", k_shape[0]);
  def_dim(file, "y", k_shape[1]);
  def_dim(file, "x", k_shape[2]);
}

/// This rank's cells by a block, with values of double, halo all around.
void write_block(shoal_dataset* file, const char* name, const Cut& cut, std::int64_t record,
                 std::mt19937& own) {
  const Box local = cut.around();
  TestArray array(SHOAL_DOUBLE, joined(Dims{k_shape[0]}, local.count), own);
  array.fill(101);
  for_cells(Box(joined(Dims{0}, cut.tile().first), joined(Dims{k_shape[0]}, cut.tile().count)),
            [&](const Dims& index) {
              Dims at = index;
              for (int d = 0; d < 2; ++d)
                at[d + 1] -= local.first[d];
              array.set(at, value(record, position_in(index, Box::whole(k_shape))));
            });
  ok(shoal_write(file, name, cut.handle(), array.c(), SHOAL_RECORD(record)));
}

/// Arrays that lie as the file wants them, so that nothing has to be copied: still they are rounded.
void write_plain(shoal_dataset* file, const char* name, const Cut& cut, const Box& tile,
                 std::int64_t record) {
  std::vector<float> cells;
  for_cells(Box(joined(Dims{0}, tile.first), joined(Dims{k_shape[0]}, tile.count)), [&](const Dims& index) {
    cells.push_back(value(record, position_in(index, Box::whole(k_shape))));
  });
  const std::vector<float> before = cells;
  const std::int64_t extents[] = {k_shape[0], tile.count[0], tile.count[1]};
  const shoal_array array = shoal_array_of(cells.data(), SHOAL_FLOAT, 3, extents);
  ok(shoal_write(file, name, cut.handle(), &array, SHOAL_RECORD(record)));
  CHECK(cells == before);
}

void write_map(shoal_dataset* file, const char* name, const shoal_decomposition* map,
               const std::vector<std::int64_t>& cells, std::int64_t record) {
  std::vector<float> values;
  for (std::int64_t z = 0; z < k_shape[0]; ++z)
    for (const auto cell : cells)
      values.push_back(cell < 0 ? 0 : value(record, z * k_shape[1] * k_shape[2] + cell));
  const std::int64_t extents[] = {k_shape[0], static_cast<std::int64_t>(cells.size())};
  const shoal_array array = shoal_array_of(values.data(), SHOAL_FLOAT, 2, extents);
  ok(shoal_write(file, name, map, &array, SHOAL_RECORD(record)));
}

void check(shoal_dataset* file, const char* name, const Variant* variant, std::int64_t record) {
  std::vector<float> found(static_cast<std::size_t>(volume(k_shape)));
  const std::int64_t extents[] = {k_shape[0], k_shape[1], k_shape[2]};
  const shoal_array array = shoal_array_of(found.data(), SHOAL_FLOAT, 3, extents);
  ok(shoal_get(file, name, &array, SHOAL_RECORD(record)));
  int wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const float v = value(record, static_cast<std::int64_t>(i));
    const float wanted = variant == nullptr ? v : expected(*variant, v);
    wrong += std::bit_cast<std::uint32_t>(found[i]) != std::bit_cast<std::uint32_t>(wanted) ? 1 : 0;
  }
  CHECK_MESSAGE(wrong == 0, wrong, " wrong cells in ", name, ", record ", record);
}

std::int64_t int_attribute(shoal_dataset* file, const char* variable, const char* name) {
  std::int64_t value = -1;
  ok(shoal_get_att(file, variable, name, SHOAL_INT64, &value));
  return value;
}

/// Every cell once, cell i on rank i modulo ranks, backwards.
std::vector<std::int64_t> scattered_cells() {
  std::vector<std::int64_t> cells;
  for (std::int64_t cell = k_shape[1] * k_shape[2] - 1; cell >= 0; --cell)
    if (cell % world_size() == world_rank()) cells.push_back(cell);
  return cells;
}

}  // namespace

TEST_CASE("quantize: blocks, maps and replicated variables are rounded once, whatever the format") {
  std::mt19937 random(41);
  std::mt19937 own(400 + static_cast<unsigned>(world_rank()));
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
      if (format == "ascii") continue;  // text has as many digits as it has
      CAPTURE(format);
      CAPTURE(variant.text);
      shoal_dataset* file = nullptr;
      ok(shoal_create(MPI_COMM_WORLD, k_path,
                      ("format=" + format + ", quantize=exact=none; " + variant.text).c_str(), &file));
      define_dims(file);
      define(file, "haloed", haloed.handle());
      define(file, "bare", bare.handle());
      const bool maps = in_one_file();
      if (maps) define(file, "mapped", map);
      define(file, "exact", bare.handle());
      ok(shoal_def_var(file, "count", SHOAL_INT, "y x", bare.handle()));
      ok(shoal_def_var(file, "scale", SHOAL_FLOAT, "z", nullptr));
      ok(shoal_def_quantize(file, "scale", variant.text.c_str()));
      for (const std::int64_t record : {0, 1}) {
        write_block(file, "haloed", haloed, record, own);
        write_plain(file, "bare", bare, tile, record);
        if (maps) write_map(file, "mapped", map, cells, record);
        write_plain(file, "exact", bare, tile, record);
      }
      const float scale[] = {3.14159F, k_missing};
      const std::int64_t two = 2;
      const shoal_array array = shoal_array_of(const_cast<float*>(scale), SHOAL_FLOAT, 1, &two);
      ok(shoal_put(file, "scale", &array, nullptr));
      ok(shoal_close(&file, 0));

      ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
      for (const std::int64_t record : {0, 1}) {
        check(file, "haloed", &variant, record);
        check(file, "bare", &variant, record);
        if (maps) check(file, "mapped", &variant, record);
        check(file, "exact", nullptr, record);
      }
      float found[2];
      const shoal_array got = shoal_array_of(found, SHOAL_FLOAT, 1, &two);
      ok(shoal_get(file, "scale", &got, nullptr));
      CHECK(found[0] == expected(variant, scale[0]));
      const bool bits = variant.mode == Quantization::Mode::bitround;
      CHECK(int_attribute(file, "haloed", bits ? "quantization_nsb" : "quantization_nsd") == variant.number);
      CHECK(int_attribute(file, "haloed",
                          bits ? "_QuantizeBitRoundNumberOfSignificantBits"
                               : "_QuantizeGranularBitRoundNumberOfSignificantDigits") == variant.number);
      int index = -1;
      fails(shoal_find_att(file, "exact", "quantization", &index), SHOAL_NOT_FOUND);
      fails(shoal_find_att(file, "count", "quantization", &index), SHOAL_NOT_FOUND);
      ok(shoal_find_var(file, bits ? "quantization_info_bitround" : "quantization_info_granular_bitround",
                        &index));
      ok(shoal_close(&file, 0));
    }
  ok(shoal_decomposition_free(&map));
}

TEST_CASE("quantize: a file that says so goes on with it, an attribute that is copied does nothing") {
  if (skipped(in_one_file(), "sets of files are not written on")) return;
  std::mt19937 random(42);
  const Dims cut_shape{k_shape[1], k_shape[2]};
  const auto tiles = random_tiles(cut_shape, world_size(), false, random);
  const Box tile = tiles[static_cast<std::size_t>(world_rank())];
  const Cut cut(MPI_COMM_WORLD, cut_shape, tile, Dims(2), Dims(2));
  for (const auto& format : formats()) {
    if (format == "ascii") continue;
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, k_path, ("format=" + format).c_str(), &file));
    define_dims(file);
    define(file, "v", cut.handle());
    ok(shoal_def_quantize(file, "v", "granular_bitround:2"));
    define(file, "copied", cut.handle());
    const int digits = 2;
    ok(shoal_put_att(file, "copied", "_QuantizeGranularBitRoundNumberOfSignificantDigits", SHOAL_INT, 1,
                     &digits));
    write_plain(file, "v", cut, tile, 0);
    write_plain(file, "copied", cut, tile, 0);
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_WRITE, nullptr, &file));
    const bool library = has_chunks(format) && (driver() == "netcdf" || driver() == "gather");
    if (library) {
      // The library would round once more.
      std::vector<float> none(1);
      const std::int64_t extents[] = {k_shape[0], tile.count[0], tile.count[1]};
      std::vector<float> cells(
          static_cast<std::size_t>(volume(Dims{k_shape[0], tile.count[0], tile.count[1]})));
      const shoal_array array = shoal_array_of(cells.data(), SHOAL_FLOAT, 3, extents);
      int code = shoal_write(file, "v", cut.handle(), &array, SHOAL_RECORD(1));
      if (code == SHOAL_OK) code = shoal_sync(file, 0);
      fails(code, SHOAL_NOT_SUPPORTED, {"'v'", "driver native"});
      alike(code);
    } else {
      write_plain(file, "v", cut, tile, 1);
    }
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
    check(file, "v", &k_variants[1], 0);
    if (!library) check(file, "v", &k_variants[1], 1);
    check(file, "copied", nullptr, 0);
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("quantize: a setting that names no variable leaves coordinates as they are") {
  if (skipped(in_one_file(), "attributes of sets are those of files")) return;
  const Dims cut_shape{k_shape[1], k_shape[2]};
  std::mt19937 random(43);
  const auto tiles = random_tiles(cut_shape, world_size(), false, random);
  const Cut cut(MPI_COMM_WORLD, cut_shape, tiles[static_cast<std::size_t>(world_rank())], Dims(2), Dims(2));
  const auto att = [](shoal_dataset* file, const char* name, const std::string& text) {
    ok(shoal_put_att(file, "v", name, SHOAL_CHAR, static_cast<std::int64_t>(text.size()), text.c_str()));
  };
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    ok(shoal_create(
        MPI_COMM_WORLD, k_path,
        ("format=" + format + ", quiet=true, quantize=\"lat=bitround:7; l*=bitround:5; bitround:4\"").c_str(),
        &file));
    define_dims(file);
    for (const char* name : {"lon", "lat", "lon_edges", "area", "depth", "level", "other", "v"})
      ok(shoal_def_var(file, name, SHOAL_FLOAT, "y x", cut.handle()));
    ok(shoal_def_quantize(file, "depth", "bitround:6"));
    att(file, "coordinates", "lon lat");
    att(file, "bounds", "lon_edges");
    att(file, "cell_measures", "area: area");
    att(file, "formula_terms", "s: other_file depth: depth");
    ok(shoal_end_define(file));
    int index = -1;
    for (const char* name : {"lon", "lon_edges", "area"})
      fails(shoal_find_att(file, name, "quantization", &index), SHOAL_NOT_FOUND);
    // Those that are named, or given it, and all others.
    for (const auto& [name, bits] : {std::pair{"lat", 7}, {"depth", 6}, {"level", 5}, {"other", 4}, {"v", 4}})
      CHECK(int_attribute(file, name, "quantization_nsb") == bits);
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("quantize: what cannot be is refused, and says what can") {
  if (skipped(has_format("cdf5"), "it has no cdf5")) return;
  shoal_dataset* file = nullptr;
  fails(shoal_create(MPI_COMM_WORLD, k_path, "quantize=bitgroom:3", &file), SHOAL_SETTING,
        {"bitgroom:3", "argument", "granular_bitround:N"});
  fails(shoal_create(MPI_COMM_WORLD, k_path, "quantize=bitround:3; v=none", &file), SHOAL_SETTING,
        {"quantize", "v=none", "last"});
  const Cut cut(MPI_COMM_WORLD, {40},
                Box({40 * world_rank() / world_size()},
                    {40 * (world_rank() + 1) / world_size() - 40 * world_rank() / world_size()}),
                {0}, {0});
  ok(shoal_create(MPI_COMM_WORLD, k_path, "format=cdf5, quantize=whole=bitround:3; many*=bitround:30",
                  &file));
  def_dim(file, "x", 40);
  fails(shoal_def_var(file, "whole", SHOAL_INT, "x", cut.handle()), SHOAL_TYPE,
        {"'whole'", "float and double"});
  ok(shoal_def_var(file, "many_ints", SHOAL_INT, "x", cut.handle()));
  ok(shoal_def_var(file, "many_floats", SHOAL_FLOAT, "x", cut.handle()));
  ok(shoal_def_var(file, "v", SHOAL_FLOAT, "x", cut.handle()));
  fails(shoal_def_quantize(file, "w", "bitround:3"), SHOAL_NOT_FOUND, {"w"});
  fails(shoal_def_quantize(file, "v", "bitround"), SHOAL_INVALID_ARGUMENT, {"'v'", "bitround:N"});
  fails(shoal_def_quantize(file, "v", "bitround:24"), SHOAL_INVALID_ARGUMENT, {"'v'", "at most 23 bits"});
  fails(shoal_def_quantize(file, "many_ints", "bitround:3"), SHOAL_TYPE, {"'many_ints'", "int"});
  ok(shoal_def_quantize(file, "v", "bitround:3"));
  ok(shoal_def_quantize(file, "v", "none"));
  ok(shoal_end_define(file));
  int index = -1;
  for (const char* name : {"v", "many_ints", "many_floats"})
    fails(shoal_find_att(file, name, "quantization", &index), SHOAL_NOT_FOUND);
  fails(shoal_def_quantize(file, "v", "bitround:3"), SHOAL_STATE, {"quantization"});

  ok(shoal_def_var(file, "holes", SHOAL_FLOAT, "x", cut.handle()));
  ok(shoal_def_quantize(file, "holes", "bitround:3"));
  const float many[] = {1.1F, 2.2F, 3.3F, 4.4F};
  ok(shoal_put_att(file, "holes", "missing_value", SHOAL_FLOAT, 4, many));
  const int code = shoal_end_define(file);
  fails(code, SHOAL_NOT_SUPPORTED, {"'holes'", "missing_value", "4"});
  alike(code);
  ok(shoal_close(&file, 0));
}
