// Parts of the cells: regions, indices, levels; and dimensions that are reduced.
#include "toy_model.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

Read run_and_read(const std::string& keys, const std::string& field, Cut how, bool masked,
                  const std::string& variable) {
  const SharedFolder folder;
  Run run;
  run.configuration = "[[file]]\nname = \"" + folder.file("part.nc") +
                      "\"\nevery = \"1 day\"\noperation = \"last\"\n" + "type = \"double\"\nfields = [\"" +
                      field + "\"]\n" + keys;
  run.how = how;
  run.masked = masked;
  run.steps = {18 * 3600.0};
  Toy(run).go();
  return read_variable(folder.file("part.nc"), variable);
}

double field_value(const char* name, std::int64_t lev, std::int64_t y, std::int64_t x) {
  const int number = std::string(name) == "temp" ? 0 : 1;
  return number == 0 ? static_cast<float>(value(0, 1, lev, y, x)) : value(1, 1, lev, y, x);
}

}  // namespace

TEST_CASE("selection: indices, strides and levels") {
  for (const Cut how : {Cut::columns, Cut::rows, Cut::map}) {
    const std::string keys = "indices = { x = [1, 10, 3], y = [2, -1] }\nlevels = [0, 2]\n";
    const Read got = run_and_read(keys, "temp", how, false, "temp");
    REQUIRE(got.shape == Dims{1, 2, 3, 3});
    std::size_t i = 0;
    std::int64_t differ = 0;
    for (const std::int64_t lev : {0, 2})
      for (std::int64_t y = 2; y < 5; ++y)
        for (const std::int64_t x : {1, 4, 7})
          differ += got.values[i++] != field_value("temp", lev, y, x) ? 1 : 0;
    CHECK(differ == 0);
    CHECK(run_and_read(keys, "temp", how, true, "lon").values ==
          std::vector<double>{344, 356, 368, 344, 356, 368, 344, 356, 368});
    CHECK(run_and_read(keys, "temp", how, true, "lev").values == std::vector<double>{5, 60});
  }
}

TEST_CASE("selection: a region of coordinates, around the circle and on an axis") {
  // lon is 340, 344, ... 380: 356 to 8 (368) are columns 4 to 7.
  for (const Cut how : {Cut::columns, Cut::map}) {
    const Read got =
        run_and_read("region = { lon = [355, 9], y = [11, 12.5] }\n", "temp", how, false, "temp");
    REQUIRE(got.shape == Dims{1, 3, 2, 4});
    std::int64_t differ = 0;
    std::size_t i = 0;
    for (std::int64_t lev = 0; lev < 3; ++lev)
      for (std::int64_t y = 1; y < 3; ++y)
        for (std::int64_t x = 4; x < 8; ++x)
          differ += got.values[i++] != field_value("temp", lev, y, x) ? 1 : 0;
    CHECK(differ == 0);
  }
  const auto fails = [&](const std::string& keys, const std::string& part) {
    const Status status = caught([&] { run_and_read(keys, "temp", Cut::rows, true, "temp"); });
    CHECK_MESSAGE(status.message.starts_with(part), status.text());
    CHECK(status.file == "the configuration");
  };
  // Each with its own line and key, whatever else is chosen.
  const std::string region = "region = { y = [10, 12] }\n";
  fails("region = { lon = [100, 110], y = [10, 12] }\n",
        "line 7: region.lon: no cell of grid 'sea' lies in the region");
  fails("[file.region]\ny = [10, 12]\nlat = [10, 11]\n",
        "line 9: region.lat: no field of the file has the coordinate 'lat'");
  fails(region + "indices = { x = [5, 12] }\n",
        "line 8: indices.x: cells 5 to 11 of 'x' do not exist; the last is 10, counted from 0");
  fails(region + "indices = { z = [5, 12] }\n",
        "line 8: indices.z: no field of the file has the dimension 'z'");
  fails(region + "indices = { y = [4, 5] }\n", "line 7: region.y: no cell of dimension 'y' is left");
  fails(region + "levels = [0, 3]\n", "line 8: levels: cell 3 of 'lev' does not exist; the last is 2");
  fails(region + "levels = { depth = [0] }\n",
        "line 8: levels.depth: no field of the file has the dimension 'depth'");
  fails(region + "reduce = { dims = [\"lev\", \"depth\"] }\n",
        "line 8: reduce.dims: no field of the file has the dimension 'depth'");
  fails("[file.reduce]\noperation = \"mean\"\ndims = [\"yy\"]\n",
        "line 9: reduce.dims: field 'temp' (\"lev y x\") has none of the dimensions yy");
}

TEST_CASE("selection: several regions in one file") {
  const std::string keys =
      "regions = { west = { lon = [339, 350] }, east = { lon = [355, 9], y = [11, 12.5] } }\n";
  for (const Cut how : {Cut::columns, Cut::map}) {
    const SharedFolder folder;
    const std::string file = folder.file("part.nc");
    Run run;
    run.configuration = "[[file]]\nname = \"" + file + "\"\nevery = \"1 day\"\noperation = \"last\"\n" +
                        "type = \"double\"\nfields = [\"temp\", \"total\"]\n" + keys;
    run.how = how;
    run.masked = false;
    run.steps = {18 * 3600.0};
    Toy(run).go();
    const Read west = read_variable(file, "temp_west"), east = read_variable(file, "temp_east");
    CHECK(west.dims == std::vector<std::string>{"time", "lev", "y_west", "x_west"});
    CHECK(east.dims == std::vector<std::string>{"time", "lev", "y_east", "x_east"});
    REQUIRE(west.shape == Dims{1, 3, 5, 3});
    REQUIRE(east.shape == Dims{1, 3, 2, 4});
    CHECK(west.texts.at("coordinates") == "lon_west");
    CHECK(east.texts.at("cell_measures") == "area: area_east");
    CHECK(read_variable(file, "lon_west").values[2] == 348);
    CHECK(read_variable(file, "y_east").values == std::vector<double>{11, 12});
    CHECK(read_variable(file, "total").shape == Dims{1});  // once, of no region
    std::int64_t differ = 0;
    std::size_t i = 0;
    for (std::int64_t lev = 0; lev < 3; ++lev)
      for (std::int64_t y = 1; y < 3; ++y)
        for (std::int64_t x = 4; x < 8; ++x)
          differ += east.values[i++] != field_value("temp", lev, y, x) ? 1 : 0;
    CHECK(differ == 0);
  }
  const Read mean =
      run_and_read(keys + "reduce = { dims = [\"y\", \"x\"] }\n", "zeta", Cut::rows, true, "zeta_east");
  CHECK(mean.shape == Dims{1});
  const auto fails = [&](const std::string& more, const std::string& part) {
    const Status status = caught([&] { run_and_read(more, "temp", Cut::rows, true, "temp_a"); });
    CHECK_MESSAGE(status.message.starts_with(part), status.text());
  };
  fails("region = { y = [10, 12] }\n" + keys,
        "line 8: regions: a file has one of region, regions, at and section");
  fails("regions = { a = { lon = [100, 110] } }\n",
        "line 7: regions.a.lon: no cell of grid 'sea' lies in the region");
  fails("regions = { a = { lat = [10, 11] } }\n",
        "line 7: regions.a.lat: no field of the file has the coordinate");
}

TEST_CASE("selection: levels of fields that have none") {
  const Status status = caught([] { run_and_read("levels = [0]\n", "rain", Cut::rows, true, "rain"); });
  CHECK_MESSAGE(
      status.message == "line 7: levels: no field of the file has a dimension that is not its grid's",
      status.text());
}

TEST_CASE("reduction: weighted means, sums and extremes, the same bits however the model is cut") {
  std::vector<double> means;
  for (const Cut how : {Cut::columns, Cut::rows, Cut::map}) {
    const Read mean = run_and_read("reduce = { dims = [\"lev\", \"y\", \"x\"], operation = \"mean\" }\n",
                                   "temp", how, true, "temp");
    REQUIRE(mean.shape == Dims{1});
    CHECK(mean.texts.at("cell_methods") == "time: point lev: area: mean");
    means.push_back(mean.values[0]);
  }
  CHECK(means[0] == means[1]);
  CHECK(means[0] == means[2]);
  long double total = 0, weights = 0;
  const double thickness[] = {10, 20, 60};
  double low = 1e30;
  for (std::int64_t lev = 0; lev < 3; ++lev)
    for (std::int64_t y = 0; y < k_rows; ++y)
      for (std::int64_t x = 0; x < k_columns; ++x) {
        if (is_land(y, x)) continue;
        const double weight = thickness[lev] * static_cast<double>(1 + (y * k_columns + x) % 3);
        total += static_cast<long double>(weight * field_value("temp", lev, y, x));
        weights += static_cast<long double>(weight);
        low = std::min(low, field_value("temp", lev, y, x));
      }
  CHECK(means[0] == doctest::Approx(static_cast<double>(total / weights)).epsilon(1e-15));
  CHECK(run_and_read("reduce = { dims = [\"lev\", \"y\", \"x\"], operation = \"minimum\" }\n", "temp",
                     Cut::map, true, "temp")
            .values[0] == low);
  // Over levels alone the result is cut as the field is; over columns it is not.
  const Read column = run_and_read("reduce = { dims = [\"lev\"], operation = \"sum\", weights = \"none\" }\n",
                                   "temp", Cut::rows, false, "temp");
  REQUIRE(column.shape == Dims{1, k_rows, k_columns});
  CHECK(column.values[13] ==
        field_value("temp", 0, 1, 2) + field_value("temp", 1, 1, 2) + field_value("temp", 2, 1, 2));
  const Read zonal = run_and_read("reduce = { dims = [\"x\"], operation = \"maximum\" }\n", "temp",
                                  Cut::columns, true, "temp");
  REQUIRE(zonal.shape == Dims{1, k_levels, k_rows});
  double high = -1e30;
  for (std::int64_t x = 0; x < k_columns; ++x)
    if (!is_land(3, x)) high = std::max(high, field_value("temp", 1, 3, x));
  CHECK(zonal.values[1 * k_rows + 3] == high);
  // Missing values do not count.
  const Read zeta =
      run_and_read("reduce = { dims = [\"y\", \"x\"], operation = \"sum\", weights = \"none\" }\n", "zeta",
                   Cut::columns, false, "zeta");
  long double sum = 0;
  for (std::int64_t y = 0; y < k_rows; ++y)
    for (std::int64_t x = 0; x < k_columns; ++x)
      if (!is_missing(1, y, x)) sum += static_cast<long double>(field_value("zeta", 0, y, x));
  CHECK(zeta.values[0] == doctest::Approx(static_cast<double>(sum)).epsilon(1e-14));
}
