// Keys that say what a variable is called, from when time counts, and how often values are taken.
#include <limits>

#include "toy_model.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

constexpr double k_hours = 3600;

Run run_of(const std::string& file, const std::string& keys) {
  Run run;
  run.configuration = "[[file]]\nname = \"" + file + "\"\n" + keys;
  run.start = "2001-01-30";
  run.steps.assign(16, 6 * k_hours);
  return run;
}

Status status_of(const std::string& keys) {
  const SharedFolder folder;
  return caught([&] { Toy(run_of(folder.file("a.nc"), keys)).go(); });
}

void refuses(const std::string& keys, const std::string& part) {
  const Status status = status_of(keys);
  CHECK(status.code == Code::setting);
  CHECK_MESSAGE(status.message.starts_with(part), status.text());
}

const std::string k_day_mean = "every = \"1 day\"\noperation = \"mean\"\n";

/// Means of days of what was sent at the ends of some steps, which count for so many hours each.
double mean_of(std::int64_t day, std::int64_t lev, std::int64_t y, std::int64_t x,
               const std::vector<std::int64_t>& steps, double hours) {
  double sum = 0, weights = 0;
  for (const std::int64_t step : steps) {
    sum +=
        hours * k_hours * 1e6 * static_cast<double>(static_cast<float>(value(0, 4 * day + step, lev, y, x)));
    weights += hours * k_hours * 1e6;
  }
  return sum / weights;
}

std::int64_t differing(const Read& got, const std::vector<std::int64_t>& steps, double hours) {
  REQUIRE(got.shape == Dims{4, k_levels, k_rows, k_columns});
  std::int64_t differ = 0;
  std::size_t i = 0;
  for (std::int64_t day = 0; day < 4; ++day)
    for (std::int64_t lev = 0; lev < k_levels; ++lev)
      for (std::int64_t y = 0; y < k_rows; ++y)
        for (std::int64_t x = 0; x < k_columns; ++x, ++i)
          differ += !is_land(y, x) && got.values[i] != mean_of(day, lev, y, x, steps, hours) ? 1 : 0;
  return differ;
}

}  // namespace

TEST_CASE("keys: names, units and missing values of a field") {
  const SharedFolder folder;
  const std::string file = folder.file("a.nc");
  Toy(run_of(file,
             k_day_mean +
                 "fields = [{ field = \"zeta\", long_name = \"height\", units = \"cm\", missing_value = -7,"
                 " standard_name = \"sea_surface_height\" },\n"
                 "  { field = \"temp\", name = \"t\", missing_value = nan, attributes = { note = \"x\" } },\n"
                 "  { field = \"zeta\", name = \"now\", operation = \"instant\", missing_value = 1e20 },\n"
                 "  { field = \"count\", name = \"c\", operation = \"last\", missing_value = -1000 }]\n"))
      .go();
  const Read zeta = read_variable(file, "zeta"), t = read_variable(file, "t"),
             now = read_variable(file, "now"), c = read_variable(file, "c");
  CHECK(zeta.texts.at("long_name") == "height");
  CHECK(zeta.texts.at("units") == "cm");
  CHECK(zeta.texts.at("standard_name") == "sea_surface_height");
  CHECK(t.texts.at("note") == "x");
  for (std::int64_t y = 0; y < k_rows; ++y)
    for (std::int64_t x = 0; x < k_columns; ++x) {
      const auto i = static_cast<std::size_t>(y * k_columns + x);
      CHECK((zeta.values[i] == -7) == (is_land(y, x) || x == 2));
      CHECK(std::isnan(t.values[i]) == is_land(y, x));
      CHECK((now.values[i] == 1e20) == (is_land(y, x) || testing::is_missing(4, y, x)));
      CHECK((c.values[i] == -1000) == is_land(y, x));
    }
  const std::string head = k_day_mean + "fields = [{ field = \"temp\", ";
  refuses(head + "missing_value = 1e300 }]\n", "line 5: missing_value: 1e+300 is no number of type float");
  refuses(head + "missing_value = 0.5, type = \"short\", scale_factor = 0.1 }]\n",
          "line 5: missing_value: 'temp' is packed");
  refuses(head + "units = \"K\", attributes = { units = \"K\" } }]\n",
          "line 5: units: stands in attributes, too");
  refuses(head + "missing_value = 1, attributes = { _FillValue = 1 } }]\n",
          "line 5: missing_value: stands in attributes, too");
  refuses(k_day_mean + "fields = [{ field = \"count\", operation = \"last\", missing_value = 0.5 }]\n",
          "line 5: missing_value: 0.5 is no number of type int");
}

TEST_CASE("keys: time counts from another date, and names have the date of the end") {
  const SharedFolder folder;
  const std::string file = folder.file("a_%Y%m%d-%EY%Em%Ed.nc");
  Toy(run_of(file, k_day_mean + "new_file = \"1 month\"\ntime_units = \"days\"\nfms_attributes = true\n" +
                       "time_origin = \"1900-01-01\"\nfields = [\"temp\"]\n"))
      .go();
  const std::string january = folder.file("a_20010130-20010131.nc"),
                    february = folder.file("a_20010201-20010228.nc");
  const Read time = read_variable(january, "time");
  CHECK(time.texts.at("units") == "days since 1900-01-01 00:00:00");
  CHECK(time.values == std::vector<double>{36919.5, 36920.5});
  CHECK(read_variable(january, "average_DT").values == std::vector<double>{1, 1});
  CHECK(read_variable(february, "time").values == std::vector<double>{36921.5, 36922.5});
  // The last one ends with the run's part of it.
  Toy(run_of(file, k_day_mean + "until = \"2001-02-02\"\nfields = [\"temp\"]\n")).go();
  CHECK(read_variable(folder.file("a_20010130-20010201.nc"), "time").shape == Dims{3});
  CHECK(status_of(k_day_mean + "time_origin = \"1900-02-30\"\nfields = [\"temp\"]\n")
            .message.starts_with("line 5: time_origin: "));
  const Status status = caught([&] { Toy(run_of(file, k_day_mean + "fields = [\"temp\"]\n")).go(); });
  CHECK_MESSAGE(status.message.starts_with("line 2: name: a date of the end of the file"), status.text());
}

TEST_CASE("keys: operations take values now and then, also where a job ends between two of them") {
  const std::string keys = k_day_mean + "type = \"double\"\nsample_every = \"12 h\"\nfields = [\"temp\",\n" +
                           "  { field = \"temp\", name = \"often\", sample_every = \"1 step\" },\n" +
                           "  { field = \"temp\", name = \"rare\", sample_every = \"1 day\" },\n" +
                           "  { field = \"temp\", name = \"counted\", sample_every = \"2 steps\" },\n" +
                           "  { field = \"temp\", name = \"n\", operation = \"count\" },\n" +
                           "  { field = \"temp\", name = \"now\", operation = \"instant\" }]\n";
  for (const bool in_two_jobs : {false, true}) {
    const SharedFolder folder;
    const std::string file = folder.file("a.nc");
    Run run = run_of(file, keys);
    std::vector<bool> wanted;
    const auto go = [&] { Toy(run).go(); };
    if (in_two_jobs) {
      run.end = 7;  // one step before the second value of the second day
      run.checkpoint = folder.file("saved.nc");
      go();
      run.first = 7;
      run.end = 0;
      run.resume = run.checkpoint;
      run.checkpoint.clear();
    }
    go();
    CHECK(differing(read_variable(file, "temp"), {2, 4}, 12) == 0);
    CHECK(differing(read_variable(file, "often"), {1, 2, 3, 4}, 6) == 0);
    CHECK(differing(read_variable(file, "rare"), {4}, 24) == 0);
    CHECK(differing(read_variable(file, "counted"), {2, 4}, 12) == 0);
    CHECK(read_variable(file, "n").values[0] == 2);
    CHECK(read_variable(file, "time_bounds").values ==
          std::vector<double>{0, 86400, 86400, 2 * 86400, 2 * 86400, 3 * 86400, 3 * 86400, 4 * 86400});
  }
  refuses(k_day_mean + "sample_every = \"2 days\"\nfields = [\"temp\"]\n",
          "line 5: sample_every: 2 days is longer than the windows of 1 day");
  refuses(k_day_mean + "fields = [{ field = \"temp\", operation = \"instant\", sample_every = \"6 h\" }]\n",
          "line 5: sample_every: an instant is the value at the end of its window");
  refuses(k_day_mean + "sample_every = \"0 h\"\nfields = [\"temp\"]\n", "line 5: sample_every: ");
}

TEST_CASE("keys: a field is wanted where its values are taken, and the window that goes on is written") {
  const SharedFolder folder;
  Run run = run_of(folder.file("a.nc"), k_day_mean + "unfinished = \"write\"\ntype = \"double\"\n" +
                                            "fields = [{ field = \"temp\", sample_every = \"12 h\" }]\n");
  Toy toy(run);
  std::vector<bool> wants;
  for (std::size_t step = 0; step < 7; ++step) {
    toy.seconds += 6 * k_hours;
    toy.streams->advance(toy.seconds);
    wants.push_back(toy.streams->wants(toy.numbers.at("temp")));
    if (wants.back()) toy.send("temp", static_cast<std::int64_t>(step) + 1);
  }
  toy.streams->close();
  CHECK(wants == std::vector<bool>{false, true, false, true, false, true, false});
  const Read temp = read_variable(folder.file("a.nc"), "temp");
  REQUIRE(temp.shape == Dims{2, k_levels, k_rows, k_columns});
  CHECK(temp.values[static_cast<std::size_t>(k_levels * k_rows * k_columns)] ==
        static_cast<float>(value(0, 6, 0, 0, 0)));
}
