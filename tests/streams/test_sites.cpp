// Cells one by one: the nearest ones to places, and those along a line.
#include "toy_model.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

Run run_of(const std::string& file, const std::string& keys, Cut how, bool masked) {
  Run run;
  run.configuration = "[[file]]\nname = \"" + file + "\"\nevery = \"1 day\"\noperation = \"last\"\n" +
                      "type = \"double\"\n" + keys;
  run.how = how;
  run.masked = masked;
  run.steps = {18 * 3600.0};
  return run;
}

double temp_of(std::int64_t lev, std::int64_t y, std::int64_t x) {
  return static_cast<float>(value(0, 1, lev, y, x));
}

/// The nearest cell by looking at all; lon is 340 + 4 x, y 10 + y.
std::int64_t nearest(double lon, double y, bool masked) {
  std::int64_t best = -1;
  double least = 1e300;
  for (std::int64_t cell = 0; cell < k_rows * k_columns; ++cell) {
    const std::int64_t row = cell / k_columns, column = cell % k_columns;
    if (masked && is_land(row, column)) continue;
    const double across = std::remainder(lon - (340.0 + 4.0 * static_cast<double>(column)), 360.0),
                 up = y - (10.0 + static_cast<double>(row)), off = across * across + up * up;
    if (off < least) {
      least = off;
      best = cell;
    }
  }
  return best;
}

struct Asked {
  double lon, y;
};
// Middles between cells, around the circle, far away, land.
const std::vector<Asked> k_places = {{342, 10}, {341, 10.4}, {-18, 12.5}, {20, 14},
                                     {362, 99}, {352, 10},   {352, 10}};

std::string at_text() {
  std::string text = "at = [";
  for (std::size_t i = 0; i < k_places.size(); ++i)
    text += (i > 0 ? ", " : "") + std::string("{ lon = ") + std::to_string(k_places[i].lon) +
            ", y = " + std::to_string(k_places[i].y) + (i == 1 ? ", name = \"one\"" : "") + " }";
  return text + "]\n";
}

void check_cells(const Read& got, const std::vector<std::int64_t>& cells,
                 const std::vector<std::int64_t>& levels) {
  REQUIRE(got.shape ==
          Dims{1, static_cast<std::int64_t>(levels.size()), static_cast<std::int64_t>(cells.size())});
  std::size_t i = 0;
  std::int64_t differ = 0;
  for (const std::int64_t lev : levels)
    for (const std::int64_t cell : cells)
      differ += got.values[i++] != temp_of(lev, cell / k_columns, cell % k_columns) ? 1 : 0;
  CHECK(differ == 0);
}

}  // namespace

TEST_CASE("sites: the nearest active cells, however the model is cut") {
  for (const Cut how : {Cut::columns, Cut::rows, Cut::map})
    for (const bool masked : {false, true}) {
      CAPTURE(masked);
      const SharedFolder folder;
      const std::string file = folder.file("a.nc");
      Toy toy(run_of(file, "fields = [\"temp\"]\nlevels = [0, 2]\n" + at_text(), how, masked));
      toy.advance_and_send(0);
      const std::string report = toy.streams->report();
      toy.streams->close();
      std::vector<std::int64_t> cells;
      for (const Asked& asked : k_places)
        cells.push_back(nearest(asked.lon, asked.y, masked));
      const Read temp = read_variable(file, "temp");
      CHECK(temp.dims == std::vector<std::string>{"time", "lev", "station"});
      CHECK(temp.texts.at("coordinates") == "lon y station_name");
      check_cells(temp, cells, {0, 2});
      const Read lon = read_variable(file, "lon"), y = read_variable(file, "y"),
                 x_number = read_variable(file, "station_x_index"),
                 asked = read_variable(file, "station_lon_asked"),
                 distance = read_variable(file, "station_distance");
      CHECK(y.dims == std::vector<std::string>{"station"});
      for (std::size_t i = 0; i < cells.size(); ++i) {
        CHECK(lon.values[i] == 340.0 + 4.0 * static_cast<double>(cells[i] % k_columns));
        CHECK(y.values[i] == 10.0 + static_cast<double>(cells[i] / k_columns));
        CHECK(x_number.values[i] == static_cast<double>(cells[i] % k_columns));
        CHECK(asked.values[i] == k_places[i].lon);
        const double across = std::remainder(k_places[i].lon - lon.values[i], 360.0),
                     up = k_places[i].y - y.values[i];
        CHECK(distance.values[i] == std::sqrt(up * up + across * across));
      }
      CHECK(report.find("\"name\": \"one\"") != std::string::npos);
      CHECK(report.find("\"asked\"") != std::string::npos);
    }
}

TEST_CASE("sites: means and missing values, and a job that goes on with them") {
  const SharedFolder folder;
  Run run = run_of(folder.file("whole.nc"),
                   "fields = [{ field = \"zeta\", operation = \"mean\" }]\n" + at_text(), Cut::rows, true);
  run.start = "2001-01-30";
  run.steps.assign(8, 21600.0);
  const Run whole = run;
  Toy(whole).go();
  const std::string name = folder.file("split.nc");
  run.configuration.replace(run.configuration.find(folder.file("whole.nc")), folder.file("whole.nc").size(),
                            name);
  run.end = 6;
  run.checkpoint = folder.file("saved.nc");
  Toy(run).go();
  run.first = 6;
  run.end = 0;
  run.resume = run.checkpoint;
  run.checkpoint.clear();
  run.how = Cut::map;
  Toy(run).go();
  CHECK(read_variable(name, "zeta").values == read_variable(folder.file("whole.nc"), "zeta").values);
  CHECK(read_variable(name, "zeta").shape == Dims{2, static_cast<std::int64_t>(k_places.size())});
}

TEST_CASE("sites: places from a table, one place, and an ocean floor's mean") {
  const SharedFolder folder;
  const std::string table = folder.file("places.csv"), file = folder.file("a.nc");
  world().on_root([&] {
    std::ofstream(table)
        << "\xEF\xBB\xBFlon;name;y\r\n# a comment\r\n341;\"a; \"\"b\"\"\";10.4\r\n\n20;c;14\n";
  });
  Toy(run_of(file, "fields = [\"temp\", \"total\"]\nat = \"" + table + "\"\n", Cut::columns, true)).go();
  check_cells(read_variable(file, "temp"), {nearest(341, 10.4, true), nearest(20, 14, true)}, {0, 1, 2});
  Toy(run_of(
          file,
          "fields = [\"temp\"]\nat = { lon = 20, y = 14 }\nreduce = { dims = [\"lev\"], operation = \"sum\", "
          "weights = \"none\" }\n",
          Cut::map, true))
      .go();
  const Read sum = read_variable(file, "temp");
  REQUIRE(sum.shape == Dims{1, 1});
  const std::int64_t cell = nearest(20, 14, true), row = cell / k_columns, column = cell % k_columns;
  CHECK(sum.values[0] == temp_of(0, row, column) + temp_of(1, row, column) + temp_of(2, row, column));
  const auto fails = [&](const std::string& keys, const std::string& part) {
    const Status status =
        caught([&] { Toy(run_of(file, "fields = [\"temp\"]\n" + keys, Cut::rows, true)).go(); });
    CHECK_MESSAGE(status.message.starts_with(part), status.text());
  };
  fails("at = { lon = 1, lat = 2 }\n", "line 7: at: grid 'sea' has no coordinate 'lat' with values");
  fails("at = { lon = \"east\" }\n", "line 7: at: is a place, ");
  fails("at = [{ lon = 1, y = 2 }, { lon = 1 }]\n", "line 7: at: is a place, ");
  fails("at = [{ lon = 1, y = 2, name = \"a\" }, { lon = 1, y = 3, name = \"a\" }]\n",
        "line 7: at: there are two places with the name 'a'");
  fails("at = { lon = 1, y = 2 }\nindices = { x = [0, 2] }\n",
        "line 7: at: chooses cells of 'x', of which indices");
  fails("at = { lon = 1, y = 2 }\nreduce = { dims = [\"x\"] }\n",
        "line 8: reduce.dims: cells of grid 'sea' are chosen one by one, and 'x' cannot be joined");
  fails("at = { lon = 1, y = 2 }\nregion = { y = [10, 12] }\n",
        "line 7: at: a file has one of region, regions, at");
  fails("at = \"" + folder.file("none.csv") + "\"\n", "");
  world().on_root([&] { std::ofstream(table) << "name,lon,y\na,1\n"; });
  fails("at = \"" + table + "\"\n", "line 2: it has 2 columns, and the first line 3");
  world().on_root([&] { std::ofstream(table) << "name,lon,y\na,1,x\n"; });
  fails("at = \"" + table + "\"\n", "line 2: y is 'x', which is no number");
}

TEST_CASE("sites: a section has its cells in order, land too") {
  for (const Cut how : {Cut::columns, Cut::rows, Cut::map}) {
    const SharedFolder folder;
    const std::string file = folder.file("a.nc");
    Toy(run_of(file, "fields = [\"temp\"]\nsection = { lon = [381, 339], y = [12.1, 12.1] }\n", how, false))
        .go();
    std::vector<std::int64_t> cells;
    for (std::int64_t x = k_columns - 1; x >= 0; --x)
      cells.push_back(2 * k_columns + x);
    check_cells(read_variable(file, "temp"), cells, {0, 1, 2});
    const Read along = read_variable(file, "section");
    CHECK(along.dims == std::vector<std::string>{"section"});
    CHECK(std::is_sorted(along.values.begin(), along.values.end(), std::less_equal<>()));
    CHECK(along.values[1] == doctest::Approx(5).epsilon(0.05));
    // With a turn: along a row, then up a column.
    Toy(run_of(file,
               "fields = [\"temp\"]\nsection = { lon = [348, 356, 356], y = [10, 10, 13], spacing = 0.1 }\n",
               how, true))
        .go();
    const Read x = read_variable(file, "section_x_index"), y = read_variable(file, "section_y_index"),
               temp = read_variable(file, "temp");
    CHECK(x.values == std::vector<double>{2, 3, 4, 4, 4, 4});
    CHECK(y.values == std::vector<double>{0, 0, 0, 1, 2, 3});
    for (std::size_t i = 0; i < 6; ++i) {
      const auto row = static_cast<std::int64_t>(y.values[i]),
                 column = static_cast<std::int64_t>(x.values[i]);
      CHECK((temp.values[i] == temp_of(0, row, column)) == !is_land(row, column));
    }
  }
}
