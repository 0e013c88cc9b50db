// Coarser copies of fields: means over active cells, the same bits however the model is cut.
#include "toy_model.hpp"

namespace shoal::testing {
namespace {

double area(std::int64_t y, std::int64_t x) {
  return 1.0 + static_cast<double>((y * k_columns + x) % 3);
}

/// Means and weights of the next level of [fields][rows][columns], where a cell without weight has none.
struct Level {
  std::int64_t fields, rows, columns;
  std::vector<double> values, weights;
};
Level coarser(const Level& fine, std::int64_t fy, std::int64_t fx) {
  Level out{fine.fields, (fine.rows + fy - 1) / fy, (fine.columns + fx - 1) / fx, {}, {}};
  for (std::int64_t f = 0; f < fine.fields; ++f)
    for (std::int64_t y = 0; y < out.rows; ++y)
      for (std::int64_t x = 0; x < out.columns; ++x) {
        double total = 0, weight = 0;
        for (std::int64_t j = y * fy; j < std::min(fine.rows, (y + 1) * fy); ++j)
          for (std::int64_t i = x * fx; i < std::min(fine.columns, (x + 1) * fx); ++i) {
            const auto at = static_cast<std::size_t>((f * fine.rows + j) * fine.columns + i);
            if (!(fine.weights[at] > 0)) continue;
            total += fine.weights[at] * fine.values[at];
            weight += fine.weights[at];
          }
        out.values.push_back(weight > 0 ? total / weight : 0);
        out.weights.push_back(weight);
      }
  return out;
}

std::string pyramid_table(const std::string& name, const std::string& keys) {
  return "[[file]]\nname = \"" + name + "\"\n" + keys;
}

/// What the file has must be what the values at full resolution give.
void check_levels(const std::string& path, const std::string& name, const Run& run, int levels,
                  std::int64_t fy, std::int64_t fx, double fill) {
  const Read full = read_variable(path, "0/" + name);
  Level level{volume(full.shape) / (k_rows * k_columns), k_rows, k_columns, full.values, {}};
  for (std::size_t i = 0; i < full.values.size(); ++i) {
    const auto cell = static_cast<std::int64_t>(i) % (k_rows * k_columns);
    const std::int64_t y = cell / k_columns, x = cell % k_columns;
    const bool counts = !(run.masked && is_land(y, x)) && full.values[i] != fill;
    level.weights.push_back(counts ? area(y, x) : 0);
  }
  for (int l = 1; l < levels; ++l) {
    level = coarser(level, fy, fx);
    const Read read = read_variable(path, std::to_string(l) + "/" + name);
    REQUIRE(read.values.size() == level.values.size());
    CHECK(read.shape[read.shape.size() - 2] == level.rows);
    CHECK(read.shape[read.shape.size() - 1] == level.columns);
    int wrong = 0;
    for (std::size_t i = 0; i < read.values.size(); ++i)
      wrong += level.weights[i] > 0 ? read.values[i] != level.values[i] : read.values[i] != fill;
    INFO(name, " level ", l);
    CHECK(wrong == 0);
  }
}

Run pyramid_run(const std::string& configuration) {
  Run run;
  run.start = "2001-01-30";
  run.configuration = configuration;
  run.steps = uneven_steps(2, 5, 86400);
  return run;
}

}  // namespace

TEST_CASE("pyramid: levels are means of active cells, whatever the cut, mask and format") {
  for (const std::string format : {"zarr", "netcdf4"})
    for (const bool masked : {true, false}) {
      std::vector<std::vector<double>> first;
      for (const Cut how : {Cut::columns, Cut::rows, Cut::map}) {
        const SharedFolder folder;
        const std::string path = folder.file("his");
        Run run = pyramid_run(pyramid_table(
            path,
            "every = \"1 day\"\noperation = \"mean\"\ntype = \"double\"\nformat = \"" + format +
                "\"\npyramid = { levels = 3, factor = [1, 2, 3] }\n"
                "fields = [\"temp\", \"zeta\", \"total\", { field = \"count\", name = \"last\", operation = "
                "\"last\", type = \"int\" }]\n"));
        run.how = how;
        run.masked = masked;
        run.halo = how == Cut::columns;
        Toy(run).go();
        check_levels(path, "temp", run, 3, 2, 3, 9.9692099683868690e+36);
        check_levels(path, "zeta", run, 3, 2, 3, k_missing);
        CHECK(read_variable(path, "1/last").type == Type::double_);
        CHECK(read_variable(path, "0/last").type == Type::int_);
        CHECK(read_variable(path, "0/total").values.size() == 2);
        CHECK(read_variable(path, "2/time").values == read_variable(path, "time").values);
        CHECK(read_variable(path, "2/time_bounds").values == read_variable(path, "time_bounds").values);
        CHECK(read_variable(path, "1/y").values == std::vector<double>{10.5, 12.5, 14});
        CHECK(read_variable(path, "2/y").values == std::vector<double>{11.5, 14});
        CHECK(read_variable(path, "2/lev").values == std::vector<double>{5, 20, 60});
        const Read temp = read_variable(path, "1/temp");
        CHECK(temp.dims == std::vector<std::string>{"time", "1/lev", "1/y", "1/x"});
        CHECK(temp.texts.at("cell_methods") == "time: mean area: mean");
        CHECK(temp.texts.at("units") == "K");
        // 340, 344, ...: the third group of columns begins with 364, which stays above 360.
        CHECK(read_variable(path, "1/lon").values ==
              std::vector<double>{344, 356, 368, 378, 344, 356, 368, 378, 344, 356, 368, 378});
        DatasetOptions options;
        options.sources = {"", ""};
        const auto file = Dataset::open(MPI_COMM_WORLD, path, false, options);
        const auto* scales = find_attribute(file->schema().attributes, "multiscales");
        REQUIRE(scales != nullptr);
        CHECK(scales->type == Type::char_);
        file->close(false);
        if (format == "zarr") {
          std::ifstream in(path + "/zarr.json");
          const std::string json{std::istreambuf_iterator<char>(in), {}};
          CHECK(json.find(R"("multiscales":{"layout":[{"asset":"0","transform")") != std::string::npos);
        }
        double all = 0, coarse = 0;
        for (std::int64_t y = 0; y < k_rows; ++y)
          for (std::int64_t x = 0; x < k_columns; ++x)
            all += area(y, x);
        for (const double one : read_variable(path, "2/area").values)
          coarse += one;
        CHECK(all == coarse);
        std::vector<std::vector<double>> now;
        for (const char* name : {"0/temp", "1/temp", "2/temp", "1/zeta", "2/zeta", "1/last", "2/last"})
          now.push_back(read_variable(path, name).values);
        if (first.empty()) first = now;
        CHECK(now == first);
      }
    }
}

TEST_CASE("pyramid: instants, extremes, packed values and one level") {
  const SharedFolder folder;
  const std::string path = folder.file("max.zarr"), one = folder.file("one.zarr");
  const Run run = pyramid_run(
      "[defaults]\nformat = \"zarr\"\nevery = \"1 day\"\n" +
      pyramid_table(
          path,
          "pyramid = { levels = 2, factor = 4 }\nfields = [{ field = \"zeta\", operation = "
          "\"instant\" }, { field = \"rain\", operation = \"maximum\", pack = \"short(-60, 60)\" }]\n") +
      pyramid_table(one, "pyramid = { levels = 1 }\nfields = [\"zeta\"]\noperation = \"maximum\"\n"));
  Toy(run).go();
  check_levels(path, "zeta", run, 2, 4, 4, k_missing);
  CHECK(read_variable(one, "0/zeta").values.size() == 2 * k_rows * k_columns);
  CHECK_THROWS_AS(read_variable(one, "1/zeta"), Error);
  const Read full = read_variable(path, "0/rain"), coarse = read_variable(path, "1/rain");
  CHECK(coarse.type == Type::short_);
  REQUIRE(coarse.shape == Dims{2, 2, 3});
  // The first coarse cell, to the rounding of packed numbers.
  double total = 0, weight = 0;
  for (std::int64_t y = 0; y < 4; ++y)
    for (std::int64_t x = 0; x < 4; ++x)
      if (!is_land(y, x)) {
        total += area(y, x) * full.values[static_cast<std::size_t>(y * k_columns + x)];
        weight += area(y, x);
      }
  CHECK(std::abs(coarse.values[0] - total / weight) <= 1);
}

TEST_CASE("pyramid: a run that goes on from a checkpoint gives the same levels") {
  const SharedFolder folder;
  const auto table = [&](const std::string& name) {
    return pyramid_table(folder.file(name),
                         "every = \"1 day\"\noperation = \"mean\"\nformat = \"zarr\"\n"
                         "pyramid = { levels = 3, factor = 2 }\nfields = [\"temp\", \"zeta\"]\n");
  };
  Run whole = pyramid_run(table("whole.zarr"));
  whole.steps = uneven_steps(4, 9, 86400);
  Toy(whole).go();
  Run part = whole;
  part.configuration = table("parts.zarr");
  part.end = part.steps.size() / 2;
  part.checkpoint = folder.file("checkpoint.nc");
  Toy(part).go();
  part.first = part.end;
  part.end = 0;
  part.resume = part.checkpoint;
  part.checkpoint.clear();
  SUBCASE("goes on") {
    part.how = Cut::rows;
    Toy(part).go();
    for (const char* name : {"0/temp", "1/temp", "2/temp", "2/zeta", "1/time", "1/lon"})
      CHECK(read_variable(folder.file("parts.zarr"), name).values ==
            read_variable(folder.file("whole.zarr"), name).values);
  }
  SUBCASE("other levels are refused") {
    const std::size_t at = part.configuration.find("levels = 3");
    part.configuration.replace(at, 10, "levels = 2");
    const Status status = caught([&] { Toy(part).go(); });
    CHECK(status.code == Code::state);
    CHECK(status.message.find("a pyramid of 3 levels") != std::string::npos);
  }
}

TEST_CASE("pyramid: what cannot be is refused with its line") {
  const auto refusal = [](const std::string& keys) {
    return caught([&] {
      Toy toy(pyramid_run(pyramid_table("never.zarr", "every = \"1 day\"\noperation = \"mean\"\n" + keys)));
      toy.advance_and_send(0);
    });
  };
  const auto check = [&](const std::string& keys, const std::string& expected) {
    const Status status = refusal(keys);
    INFO(status.message);
    CHECK(status.code == Code::setting);
    CHECK(status.message.find(expected) != std::string::npos);
  };
  const std::string zarr = "format = \"zarr\"\nfields = [\"temp\"]\n";
  check("fields = [\"temp\"]\nformat = \"cdf5\"\npyramid = { levels = 2 }\n",
        "line 7: pyramid: has its levels in groups, which format cdf5 does not have");
  check(zarr + "pyramid = 3\n", "line 7: pyramid: is a table");
  check(zarr + "pyramid = { factor = 2 }\n", "pyramid.levels: is how many");
  check(zarr + "pyramid = { levels = 0 }\n", "pyramid.levels: is how many");
  check(zarr + "pyramid = { levels = 2, factor = 0 }\n", "pyramid.factor: is how many");
  check(zarr + "pyramid = { levels = 2, factor = [] }\n", "pyramid.factor: is how many");
  check(zarr + "pyramid = { levels = 2, factors = 2 }\n", "factor");
  check(zarr + "pyramid = { levels = 2, factor = [2] }\n",
        "line 7: pyramid.factor: has one number for the 2 dimensions of the grid of 'temp'");
  check(zarr + "pyramid = { levels = 2, factor = [2, 2, 2] }\n", "is 1 for dimensions that are none");
  check(zarr + "pyramid = { levels = 2 }\nat = { lon = 350, y = 12 }\n", "this file has at");
  check(zarr + "pyramid = { levels = 2 }\nreduce = { dims = [\"x\"], operation = \"maximum\" }\n",
        "reduce joins cells");
  check("format = \"zarr\"\nfields = [\"total\"]\npyramid = { levels = 2 }\n",
        "none of the fields is on a grid");
  check("format = \"zarr\"\nfields = [{ field = \"temp\", name = \"sea/temp\" }]\npyramid = { levels = 2 }\n",
        "is in a group");
}

}  // namespace shoal::testing
