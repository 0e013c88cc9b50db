// Expressions of fields.
#include "toy_model.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

std::string table(const SharedFolder& folder, const std::string& expression) {
  return "[[file]]\nname = \"" + folder.file("e.nc") + "\"\nevery = \"1 day\"\noperation = \"mean\"\n" +
         "fields = [{ expression = \"" + expression + "\", name = \"made\", type = \"double\" }, \"rain\", " +
         "{ expression = \"" + expression + "\", name = \"now\", operation = \"instant\" }]\n";
}

Run days(const std::string& configuration) {
  Run run;
  run.configuration = configuration;
  run.start = "2001-01-30";
  run.steps = std::vector<double>(4, 43200.0);
  run.masked = false;
  return run;
}

bool has_expressions() {
  return caught([] { Expression::parse("a + b"); }).ok();
}

}  // namespace

TEST_CASE("expressions: of fields on one grid; a cell that is missing in one is missing") {
  const SharedFolder folder;
  if (!has_expressions()) {
    const Status refused = caught([&] { Toy(days(table(folder, "rain + zeta"))).go(); });
    CHECK(refused.code == Code::not_supported);
    CHECK(refused.message.find("muParser") != std::string::npos);
    return;
  }
  for (const Cut how : {Cut::columns, Cut::map}) {
    Run run = days(table(folder, "sqrt(zeta**2 + rain**2)"));
    run.how = how;
    Toy(run).go();
    const auto got = read_variable(folder.file("e.nc"), "made").values;
    REQUIRE(got.size() == 2 * k_rows * k_columns);
    std::int64_t differ = 0;
    for (std::int64_t cell = 0; cell < k_rows * k_columns; ++cell) {
      const std::int64_t y = cell / k_columns, x = cell % k_columns;
      double sum = 0, weight = 0;
      for (const std::int64_t step : {1, 2}) {
        if (is_missing(step, y, x)) continue;
        const double zeta = value(1, step, 0, y, x), rain = static_cast<float>(value(2, step, 0, y, x));
        sum += 43200e6 * std::sqrt(zeta * zeta + rain * rain);
        weight += 43200e6;
      }
      const double mine = got[static_cast<std::size_t>(cell)];
      differ += weight == 0 ? (mine > 1e36 ? 0 : 1)
                            : (std::abs(mine - sum / weight) > 1e-13 * std::abs(mine) ? 1 : 0);
    }
    CHECK(differ == 0);
    const auto now = read_variable(folder.file("e.nc"), "now").values;
    CHECK(now[2] > 1e36);
    const double zeta = value(1, 2, 0, 0, 3), rain = static_cast<float>(value(2, 2, 0, 0, 3));
    CHECK(now[3] == doctest::Approx(std::sqrt(zeta * zeta + rain * rain)));
  }
}

TEST_CASE("expressions: mistakes") {
  if (!has_expressions()) return;
  const auto fails = [](const std::string& expression, Code code, const std::string& part) {
    const SharedFolder folder;
    const Status status = caught([&] { Toy(days(table(folder, expression))).go(); });
    CHECK(status.code == code);
    CHECK_MESSAGE(status.text().find(part) != std::string::npos, status.text());
  };
  fails("zeta + (rain", Code::setting, "line 5: expression:");
  fails("zeta + rian", Code::not_found, "the model has no field 'rian'; did you mean 'rain'?");
  fails("zeta + temp", Code::setting, "differ in their dimensions or grid");
  fails("1 + 2", Code::setting, "names no field");
}

TEST_CASE("expressions: one value each; no assignments and no lists") {
  if (!has_expressions()) return;
  const auto why = [](const std::string& text) { return caught([&] { Expression::parse(text); }).message; };
  for (const char* text :
       {"rain == 5", "rain <= 5", "rain >= 5", "rain != 5", "max(rain, 7)", "rain > 1 ? rain : 7"})
    CHECK_MESSAGE(why(text).empty(), text);
  for (const char* text : {"rain = 5", "rain=5", "(rain = 5)", "zeta + (rain=5)"})
    CHECK_MESSAGE(why(text).find("gives a value to a name") != std::string::npos, text);
  for (const char* text : {"rain, 7", "rain,zeta", "max(rain, 7), 1"})
    CHECK_MESSAGE(why(text).find("is a list of values") != std::string::npos, text);
  CHECK(!why("(rain, 7)").empty());
  const std::string long_one = why(std::string(9000000, '('));
  CHECK(!long_one.empty());
  CHECK(long_one.size() < 10000);
}
