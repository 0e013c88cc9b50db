// Files that go on in the next job, whose configuration is another one then.
#include "toy_model.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

/// Eight steps of half a day, in two jobs of four; the first makes the file, with two of its four records.
struct ChangedFile {
  SharedFolder folder;
  std::string path = folder.file("one.nc");

  Run run(const std::string& keys) const {
    Run out;
    out.configuration = "[[file]]\nname = \"" + path + "\"\nevery = \"1 day\"\n" + keys;
    out.start = "2001-01-30";
    out.steps = std::vector<double>(8, 43200.0);
    return out;
  }
  void first(const std::string& keys) const {
    Run out = run(keys);
    out.end = 4;
    out.checkpoint = folder.file("saved.nc");
    Toy(out).go();
  }
  Run second(const std::string& keys) const {
    Run out = run(keys);
    out.first = 4;
    out.how = Cut::map;
    out.resume = folder.file("saved.nc");
    return out;
  }
};

struct Encoded {
  std::string keys;
  double scale_factor, add_offset, fill, error;
};

/// Values of zeta, as the file's attributes decode them: its means, and the last steps of the days.
void check_decoded(const std::string& path, const Encoded& as) {
  const Read mean = read_variable(path, "mean"), now = read_variable(path, "now");
  REQUIRE(mean.shape == Dims{4, k_rows, k_columns});
  for (std::int64_t i = 0; i < volume(mean.shape); ++i) {
    const std::int64_t step = i / (k_rows * k_columns) * 2 + 1, y = i / k_columns % k_rows, x = i % k_columns;
    const bool has_first = !testing::is_missing(step, y, x) && !is_land(y, x),
               has_last = !testing::is_missing(step + 1, y, x) && !is_land(y, x);
    const double first = value(1, step, 0, y, x), last = value(1, step + 1, 0, y, x);
    const auto is = [&](const Read& read, bool has, double expected) {
      CAPTURE(i);
      const double stored = read.values[static_cast<std::size_t>(i)];
      if (has)
        CHECK(std::abs(stored * as.scale_factor + as.add_offset - expected) <= as.error);
      else
        CHECK(stored == as.fill);
    };
    is(now, has_last, last);
    is(mean, has_first || has_last, has_first && has_last ? (first + last) / 2 : has_first ? first : last);
  }
}

}  // namespace

TEST_CASE("changed file: records go on in the type, fill value, scale and offset that the file has") {
  const std::vector<Encoded> encodings = {
      {"type = \"short\", scale_factor = 0.01", 0.01, 0, -32767, 0.0050001},
      {"type = \"short\", scale_factor = 0.02, add_offset = 5", 0.02, 5, -32767, 0.0100001},
      {"type = \"ubyte\", scale_factor = 0.5, add_offset = -40", 0.5, -40, 255, 0.2500001},
      {"type = \"float\"", 1, 0, k_missing, 1e-5},
      {"type = \"double\"", 1, 0, k_missing, 1e-13}};
  for (const Encoded& before : encodings)
    for (const Encoded& now : encodings) {
      CAPTURE(before.keys);
      CAPTURE(now.keys);
      const auto keys = [](const Encoded& as) {
        return "fields = [{ field = \"zeta\", name = \"mean\", operation = \"mean\", " + as.keys +
               " },\n{ field = \"zeta\", name = \"now\", operation = \"instant\", " + as.keys + " }]\n";
      };
      const ChangedFile file;
      file.first(keys(before));
      Toy(file.second(keys(now))).go();
      check_decoded(file.path, before);
    }
}

TEST_CASE("changed file: the next file has what the configuration says") {
  const SharedFolder folder;
  const auto job = [&](const std::string& keys) {
    Run run;
    run.configuration = "[[file]]\nname = \"" + folder.file("%Y-%m-%d.nc") +
                        "\"\nevery = \"12 h\"\nnew_file = \"1 day\"\noperation = \"mean\"\n"
                        "fields = [{ field = \"total\", " +
                        keys + " }]\n";
    run.start = "2001-01-30";
    run.steps = std::vector<double>(4, 43200.0);
    return run;
  };
  Run first = job("type = \"int\", scale_factor = 0.001");
  first.end = 1;
  first.checkpoint = folder.file("saved.nc");
  Toy(first).go();
  Run second = job("type = \"short\", scale_factor = 0.01");
  second.first = 1;
  second.resume = first.checkpoint;
  Toy(second).go();
  const Read kept = read_variable(folder.file("2001-01-30.nc"), "total"),
             next = read_variable(folder.file("2001-01-31.nc"), "total");
  CHECK(kept.type == Type::int_);
  CHECK(next.type == Type::short_);
  for (const std::int64_t step : {1, 2}) {
    const auto i = static_cast<std::size_t>(step - 1);
    CHECK(std::abs(kept.values[i] * 0.001 - value(3, step, 0, 0, 0)) <= 0.00050001);
    CHECK(std::abs(next.values[i] * 0.01 - value(3, step + 2, 0, 0, 0)) <= 0.0050001);
  }
}

TEST_CASE("changed file: a window that was not sent has the fill value of the file") {
  const auto keys = [](const std::string& type) {
    return "operation = \"maximum\"\nmissing = \"warn\"\nfields = [{ field = \"count\", type = \"" + type +
           "\" }]\n";
  };
  const ChangedFile file;
  file.first(keys("double"));
  Run second = file.second(keys("int"));
  second.sends = [](const std::string& field, std::size_t step) { return field != "count" || step < 6; };
  Toy(second).go();
  const Read count = read_variable(file.path, "count");
  const auto cells = static_cast<std::size_t>(k_rows * k_columns);
  REQUIRE(count.values.size() == 4 * cells);
  const double fill = 9.969209968386869e36;  // netCDF's of double
  for (std::size_t i = 0; i < cells; ++i)
    if (!is_land(static_cast<std::int64_t>(i) / k_columns, static_cast<std::int64_t>(i) % k_columns)) {
      CHECK(count.values[2 * cells + i] < 100);
      CHECK(count.values[3 * cells + i] == fill);
    }
}

TEST_CASE("changed file: a variable that is added brings its dimensions and coordinates") {
  const std::string zeta = "operation = \"mean\"\nfields = [\"zeta\"", temp = ", \"temp\"";
  const ChangedFile file;
  file.first(zeta + "]\n");
  Toy(file.second(zeta + temp + "]\n")).go();
  const Read lev = read_variable(file.path, "lev"), bounds = read_variable(file.path, "lev_bounds");
  CHECK(lev.shape == Dims{k_levels});
  CHECK(bounds.shape == Dims{k_levels, 2});
  const ChangedFile whole;
  Toy(whole.run(zeta + temp + "]\n")).go();
  CHECK(lev.values == read_variable(whole.path, "lev").values);
  CHECK(bounds.values == read_variable(whole.path, "lev_bounds").values);
  const Read added = read_variable(file.path, "temp"), all = read_variable(whole.path, "temp");
  REQUIRE(added.shape == Dims{4, k_levels, k_rows, k_columns});
  const auto half = static_cast<std::ptrdiff_t>(all.values.size() / 2);
  CHECK(std::equal(added.values.begin() + half, added.values.end(), all.values.begin() + half));
}

TEST_CASE("changed file: coordinates may differ in their last digits") {
  for (const double factor : {1 + 1e-15, 1 + 1e-9}) {
    CAPTURE(factor);
    const ChangedFile file;
    const std::string keys = "operation = \"mean\"\nfields = [\"zeta\"]\n";
    file.first(keys);
    Run second = file.second(keys);
    second.longitudes = factor;
    const Status status = caught([&] { Toy(second).go(); });
    CHECK(status.code == (factor < 1 + 1e-12 ? Code::ok : Code::state));
    CHECK(read_variable(file.path, "time").shape == Dims{status.ok() ? 4 : 2});
  }
}

TEST_CASE("changed file: what records mean, where they are and when does not change in a file") {
  struct Change {
    std::string before, now, part;
  };
  const std::string mean = "operation = \"mean\"\n", zeta = "fields = [\"zeta\"]\n";
  const std::string depths = "fields = [{ field = \"temp\", operation = \"mean\" }]\nlevels = ";
  const std::string maximum = "operation = \"maximum\"\n";
  const std::vector<Change> changes = {
      {mean + zeta, maximum + zeta, "cell_methods 'time: mean', and its description has 'time: maximum'"},
      {mean + zeta, mean + "fields = [{ field = \"zeta\", attributes = { units = \"cm\" } }]\n",
       "units '', and its description has 'cm'"},
      {mean + zeta, mean + "time_units = \"hours\"\n" + zeta, "time in 'seconds since "},
      {mean + zeta, "operation = \"instant\"\n" + zeta, "variable 'zeta': the file goes on"},
      {"operation = \"first\"\n" + zeta, "operation = \"instant\"\n" + zeta, "time_bounds"},
      {mean + zeta, mean + "fms_attributes = true\n" + zeta, "average_T1"},
      {mean + "indices = { x = [1, 9] }\n" + zeta, mean + "indices = { x = [1, 8] }\n" + zeta,
       "8 cells of 'x', and its description has 7"},
      {mean + "indices = { x = [1, 8] }\n" + zeta, mean + "indices = { x = [2, 9] }\n" + zeta,
       "variable 'lon': the file goes on, where it has other values"},
      {mean + "indices = { y = [1, 3] }\n" + zeta, mean + "indices = { y = [2, 4] }\n" + zeta,
       "variable 'y': the file goes on, where it has other values"},
      {depths + "[0, 1]\n", depths + "[1, 2]\n",
       "variable 'lev': the file goes on, where it has other values"},
      {depths + "[0, 1]\nreduce = { dims = [\"lev\"] }\n", depths + "[1, 2]\nreduce = { dims = [\"lev\"] }\n",
       "variable 'lev': the file goes on, where it has other values"},
      {maximum + "fields = [\"count\"]\n",
       maximum + "fields = [{ expression = \"count / 2\", name = \"count\", type = \"double\" }]\n",
       "type int, which has no fractions"}};
  for (const Change& change : changes) {
    CAPTURE(change.now);
    const ChangedFile file;
    file.first(change.before);
    const Status status = caught([&] { Toy(file.second(change.now)).go(); });
    CHECK(status.code == Code::state);
    CHECK(status.file == file.path);
    CHECK_MESSAGE(status.text().find(change.part) != std::string::npos, status.text());
    CHECK(read_variable(file.path, "time").shape == Dims{2});
    Toy(file.second(change.before)).go();  // as before: it goes on
    CHECK(read_variable(file.path, "time").shape == Dims{4});
  }
}
