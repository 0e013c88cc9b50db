// Operations over time against the same made step by step, bit for bit.
#include <limits>

#include "toy_model.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

constexpr const char* k_all_operations = R"toml(
[defaults]
format = "netcdf4"
[[file]]
name = "NAME"
every = "1 day"
fields = [
  { field = "FIELD", operation = "mean", name = "v_mean", type = "double" },
  { field = "FIELD", operation = "sum", name = "v_sum", type = "double" },
  { field = "FIELD", operation = "minimum", name = "v_minimum" , type = "double"},
  { field = "FIELD", operation = "maximum", name = "v_maximum", type = "double" },
  { field = "FIELD", operation = "range", name = "v_range", type = "double" },
  { field = "FIELD", operation = "variance", name = "v_variance", type = "double" },
  { field = "FIELD", operation = "standard_deviation", name = "v_std", type = "double" },
  { field = "FIELD", operation = "rms", name = "v_rms", type = "double" },
  { field = "FIELD", operation = "first", name = "v_first", type = "double" },
  { field = "FIELD", operation = "last", name = "v_last", type = "double" },
  { field = "FIELD", operation = "count", name = "v_count" },
  { field = "FIELD", operation = "instant", name = "v_instant", type = "double" },
  { field = "FIELD", operation = "diurnal(4)", name = "v_diurnal", type = "double" },
]
)toml";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// The values of a window in one cell, as plain sums.
struct Plain {
  double weighted = 0, sum = 0, squares = 0, low = std::numeric_limits<double>::infinity(), high = -low,
         mean = 0, deviations = 0, first = 0, last = 0;
  std::int64_t weight = 0, n = 0;
  void add(double v, std::int64_t w) {
    const auto wd = static_cast<double>(w);
    weighted += wd * v;
    sum += v;
    squares += wd * (v * v);
    low = std::min(low, v);
    high = std::max(high, v);
    const auto total = static_cast<double>(weight + w);
    const double off = v - mean, share = wd / total;
    mean += off * share;
    deviations += off * off * (share * (total - wd));
    if (n == 0) first = v;
    last = v;
    weight += w;
    ++n;
  }
};

void check_field(const std::string& field, Cut how, bool masked, bool halo) {
  CAPTURE(field);
  const SharedFolder folder;
  Run run;
  run.configuration = replaced(replaced(k_all_operations, "NAME", folder.file("all.nc")), "FIELD", field);
  run.how = how;
  run.masked = masked;
  run.halo = halo;
  run.steps = uneven_steps(3, 17, 18 * 3600.0);
  Toy toy(run);
  const int number = toy.numbers.at(field);
  toy.go();

  const std::int64_t levels = field == "temp" ? k_levels : 1;
  const auto read = [&](const std::string& name) {
    return read_variable(folder.file("all.nc"), name).values;
  };
  const std::vector<std::string> names = {"v_mean",  "v_sum",      "v_minimum", "v_maximum",
                                          "v_range", "v_variance", "v_std",     "v_rms",
                                          "v_first", "v_last",     "v_count",   "v_instant"};
  std::map<std::string, std::vector<double>> got;
  for (const auto& name : names)
    got[name] = read(name);
  const auto diurnal = read("v_diurnal");
  const std::int64_t cells = levels * k_rows * k_columns;
  REQUIRE(static_cast<std::int64_t>(got["v_mean"].size()) == 3 * cells);
  // Seconds since the start of the run: windows end at midnight.
  std::int64_t differ = 0;
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    const std::int64_t lev = cell / (k_rows * k_columns), y = cell / k_columns % k_rows, x = cell % k_columns;
    if (masked && is_land(y, x)) continue;
    std::int64_t at = 0;  // microseconds since the start, which is at 06:00
    for (int day = 0, step = 0; day < 3; ++day) {
      Plain plain, parts[4];
      double instant = 0;
      const std::int64_t end = (std::int64_t{18} + 24 * day) * 3600 * 1000000;
      while (at < end) {
        const auto w = std::llround(run.steps[static_cast<std::size_t>(step)] * 1e6);
        ++step;
        double v = value(number, step, lev, y, x);
        if (field != "zeta") v = static_cast<float>(v);
        if (field == "count") v = static_cast<std::int32_t>(value(number, step, lev, y, x));
        const bool missing = field == "zeta" && is_missing(step, y, x);
        instant = missing ? k_missing : v;
        const std::int64_t middle = at + w / 2 + std::int64_t{6} * 3600 * 1000000;
        at += w;
        if (missing) continue;
        plain.add(v, w);
        parts[middle % (std::int64_t{86400} * 1000000) / (std::int64_t{21600} * 1000000)].add(v, w);
      }
      const auto weight = static_cast<double>(plain.weight);
      const bool none = plain.n == 0;
      const std::map<std::string, double> wanted = {{"v_mean", plain.weighted / weight},
                                                    {"v_sum", plain.sum},
                                                    {"v_minimum", plain.low},
                                                    {"v_maximum", plain.high},
                                                    {"v_range", plain.high - plain.low},
                                                    {"v_variance", plain.deviations / weight},
                                                    {"v_std", std::sqrt(plain.deviations / weight)},
                                                    {"v_rms", std::sqrt(plain.squares / weight)},
                                                    {"v_first", plain.first},
                                                    {"v_last", plain.last},
                                                    {"v_count", static_cast<double>(plain.n)},
                                                    {"v_instant", instant}};
      for (const auto& [name, want] : wanted) {
        const double mine = got[name][static_cast<std::size_t>(day * cells + cell)];
        const double expected = none && name != "v_count" && name != "v_instant" ? k_missing : want;
        if (mine != expected) {
          if (++differ < 4)
            MESSAGE(name << " day " << day << " cell " << cell << ": " << mine << " expected " << expected);
        }
      }
      for (int part = 0; part < 4; ++part) {
        const double mine = diurnal[static_cast<std::size_t>((day * 4 + part) * cells + cell)];
        if (parts[part].n == 0) continue;
        if (mine != parts[part].weighted / static_cast<double>(parts[part].weight)) {
          if (++differ < 4)
            MESSAGE("diurnal part " << part << " day " << day << " cell " << cell << ": " << mine);
        }
      }
    }
  }
  CHECK(differ == 0);
}

}  // namespace

TEST_CASE("operations: each against the same made step by step") {
  check_field("temp", Cut::columns, true, false);
  check_field("zeta", Cut::rows, false, true);
  check_field("count", Cut::map, true, false);
  check_field("temp", Cut::rows, true, true);
  check_field("zeta", Cut::map, true, false);
}

TEST_CASE("operations: time, its bounds and cell methods") {
  const SharedFolder folder;
  Run run;
  run.configuration = replaced(replaced(k_all_operations, "NAME", folder.file("all.nc")), "FIELD", "temp");
  run.steps = uneven_steps(2, 3, 18 * 3600.0);
  Toy(run).go();
  const Read time = read_variable(folder.file("all.nc"), "time");
  CHECK(time.values == std::vector<double>{9 * 3600.0, 30 * 3600.0});
  CHECK(time.texts.at("units") == "seconds since 2001-01-30 06:00:00");
  CHECK(time.texts.at("calendar") == "standard");
  CHECK(time.texts.at("bounds") == "time_bounds");
  CHECK(read_variable(folder.file("all.nc"), "time_bounds").values ==
        std::vector<double>{0, 18 * 3600.0, 18 * 3600.0, 42 * 3600.0});
  const Read mean = read_variable(folder.file("all.nc"), "v_mean");
  CHECK(mean.texts.at("cell_methods") == "time: mean");
  CHECK(mean.texts.at("coordinates") == "lon");
  CHECK(mean.texts.at("cell_measures") == "area: area");
  CHECK(read_variable(folder.file("all.nc"), "area").texts.at("standard_name") == "cell_area");
  CHECK(mean.dims == std::vector<std::string>{"time", "lev", "y", "x"});
  CHECK(read_variable(folder.file("all.nc"), "v_variance").texts.at("units") == "K2");
  CHECK(read_variable(folder.file("all.nc"), "v_instant").texts.at("cell_methods") == "time: point");
  CHECK(read_variable(folder.file("all.nc"), "v_diurnal").dims[1] == "time_of_day_4");
  CHECK(read_variable(folder.file("all.nc"), "lev_bounds").values ==
        std::vector<double>{0, 10, 10, 30, 30, 90});
}
