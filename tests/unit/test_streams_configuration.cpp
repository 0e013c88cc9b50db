// What a configuration of streams may say, and what is wrong with those that are refused.
#include <doctest/doctest.h>

#include "base/error.hpp"
#include "streams/configuration.hpp"
#include "streams/exact_sum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace shoal;
using namespace shoal::streams;

namespace {

const std::string k_head =
    "[[file]]\nname = \"a.nc\"\nevery = \"1 day\"\noperation = \"mean\"\nfields = [\"temp\"]\n";

void refused(const std::string& text, const std::string& part) {
  std::vector<Problem> problems;
  read_configuration(text, "test.toml", problems);
  REQUIRE_MESSAGE(!problems.empty(), text);
  std::string all;
  for (const auto& problem : problems)
    all += text_of(problem) + "\n";
  CHECK_MESSAGE(all.find(part) != std::string::npos, all);
}

}  // namespace

TEST_CASE("configuration of streams: a name that ends with .zarr says the format, unless the file does") {
  const auto settings = [](const std::string& defaults, const std::string& file) {
    const Configuration c = read_configuration(
        defaults + "[[file]]\nevery = \"1 day\"\noperation = \"mean\"\nfields = [\"temp\"]\n" + file,
        "test.toml");
    return c.files.at(0).settings_text();
  };
  const std::string netcdf4 = "[defaults]\nformat = \"netcdf4\"\n";
  CHECK(settings(netcdf4, "name = \"a.zarr\"\n") == "format=zarr");
  CHECK(settings("", "name = \"a_%Y.zarr\"\nchunks = \"map\"\n") == "format=zarr, chunks=map");
  CHECK(settings(netcdf4, "name = \"a.nc\"\n") == "format=netcdf4");
  CHECK(settings(netcdf4, "name = \"a.zarr\"\nformat = \"cdf5\"\n") == "format=cdf5");
}

TEST_CASE("configuration of streams: defaults, files, fields") {
  const Configuration c = read_configuration(R"toml(
report = "streams.json"
title = "of a test"
calendar_note = "the model says it"
[defaults]
format = "netcdf4"
compression = "shuffle+zstd:1"
operation = "max"
[[file]]
name = "ocean_%Y-%m.nc"
every = "15 min"
new_file = "1 month"
operation = "mean"
fields = ["temp", "u*", { field = "zeta", name = "ssh", operation = "diurnal(24)" }, { group = "tracers" },
          { expression = "temp * salt", name = "ts", attributes = { n = 3, scale = [1.5, 2], note = "x" } }]
region = { lon = [140, 150.5] }
indices = { x = [0, -1, 2] }
levels = { lev = [0, 2] }
reduce = { dims = ["x", "y"], operation = "sum", weights = "none" }
compression = "deflate:1"
time_units = "days"
[[file]]
name = "b.nc"
every = "1 step"
fields = ["salt"]
[[file]]
name = "c.nc"
every = "1 step"
fields = ["salt"]
enabled = false
)toml",
                                             "test.toml");
  REQUIRE(c.files.size() == 2);
  CHECK(c.report == "streams.json");
  const FileChoice& a = c.files[0];
  CHECK(a.every == parse_duration("15 min"));
  CHECK(a.settings_text() == "format=netcdf4, compression=deflate:1");
  REQUIRE(a.fields.size() == 5);
  CHECK(a.fields[1].by == FieldChoice::By::pattern);
  CHECK(a.fields[2].operation->bins == 24);
  CHECK(a.fields[3].by == FieldChoice::By::group);
  CHECK(a.fields[4].attributes.size() == 3);
  CHECK(a.fields[4].line == 15);
  CHECK(a.region[0].high == 150.5);
  CHECK(a.indices[0].stride == 2);
  CHECK(a.levels[0].dim == "lev");
  CHECK(a.reduce->weights == CellWeights::none);
  CHECK(a.time_units == TimeUnit::days);
  CHECK(a.line_of("every") == 11);
  CHECK(c.files[1].operation->operation == Operation::maximum);
}

TEST_CASE("configuration of streams: mistakes have line, key and the nearest known") {
  refused("[[file]\n", "line 1");
  refused("", "there is no table [[file]]");
  refused(k_head + "everi = \"1 day\"\n", "line 6: everi: unknown key of [[file]]; did you mean 'every'?");
  refused(k_head + "compresion = \"none\"\n", "did you mean 'compression'?");
  refused(k_head + "compression = \"lzma\"\n", "line 6: compression:");
  refused(k_head + "missing = \"ignore\"\n", "'ignore' is not one of: error, warn");
  refused(k_head + "interpolate = { to = [5, 1, 7] }\n",
          "line 6: interpolate.to: is a list of numbers that go up or down");
  refused(k_head + "new_file = \"1 month\"\n", "no date");
  refused(k_head + "levels = [3, 1]\n", "ascending");
  refused(k_head + "region = { lon = 3 }\n", "line 6: region.lon:");
  refused(k_head + "climatology = true\n", "climatology:");
  refused("[[file]]\nname = \"a.nc\"\nevery = \"1 dya\"\noperation = \"meen\"\nfields = [3]\n",
          "line 4: operation: 'meen' is no operation; did you mean 'mean'?");
  refused("[[file]]\nname = \"a.nc\"\nevery = \"1 day\"\nfields = [\"temp\"]\n", "operation: is missing");
  refused("[[file]]\nname = \"a.nc\"\nfields = [\"temp\"]\noperation = \"mean\"\n", "every: is missing");
  refused(
      k_head + "[[file]]\nname = \"a.nc\"\nevery = \"1 day\"\noperation = \"mean\"\nfields = [\"temp\"]\n",
      "is the file of line 1, too");
  refused(
      "[[file]]\nname = \"a.nc\"\nevery = \"1 day\"\noperation = \"mean\"\nfields = [\"temp\",\n"
      "{ field = \"salt\", name = \"temp\" }]\n",
      "line 6: fields: the file has 'temp' twice");
  refused("[defaults]\nname = \"x\"\n" + k_head, "line 2: name:");
  refused("fil = 3\n" + k_head, "did you mean 'file'?");
  CHECK(caught([&] { read_configuration("a = 1\nb = 2\n", "t.toml"); }).text().find("t.toml: line 1: a:") ==
        0);
  CHECK_THROWS_AS(parse_operation("diurnal(1)"), Error);
  CHECK(text_of(parse_operation(" Diurnal( 8 )")) == "diurnal(8)");
}

TEST_CASE("exact sums: of any order, rounded once") {
  const auto sum = [](const std::vector<double>& terms) {
    ExactSum all;
    for (const double term : terms)
      all.add(term);
    return all.value();
  };
  CHECK(sum({}) == 0);
  CHECK(sum({1e308, 1.0, -1e308}) == 1.0);
  CHECK(sum({1.0, 1e-30, -1.0}) == 1e-30);
  CHECK(sum({5e-324, 5e-324}) == 1e-323);
  CHECK(sum({1.0, 0x1p-53}) == 1.0);                    // a tie, to even
  CHECK(sum({1.0, 0x1p-53, 5e-324}) == 1.0 + 0x1p-52);  // and just above it
  CHECK(sum({-1.0, -0x1p-53, -5e-324}) == -1.0 - 0x1p-52);
  CHECK(sum({1.7e308, 1.7e308}) == std::numeric_limits<double>::infinity());
  CHECK(std::isnan(sum({1.0, std::numeric_limits<double>::quiet_NaN()})));
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    // Terms and their opposites, but one: the sum is that one.
    std::vector<double> terms;
    for (int i = 0; i < 50; ++i) {
      const double term = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())),
                                     static_cast<int>(random() % 1900) - 1060);
      if (!std::isfinite(term)) continue;
      terms.push_back(term);
      terms.push_back(-term);
    }
    const double left = terms[0];
    terms[1] = 0;
    std::shuffle(terms.begin(), terms.end(), random);
    CHECK(sum(terms) == left);
    // In two parts, as words.
    ExactSum a, b;
    for (std::size_t i = 0; i < terms.size(); ++i)
      (i % 3 == 0 ? a : b).add(terms[i]);
    std::vector<std::int64_t> words(ExactSum::k_words), more(ExactSum::k_words);
    a.words(words);
    b.words(more);
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] += more[i];
    CHECK(ExactSum::of(words).value() == left);
  }
}

TEST_CASE("configuration of streams: zero bytes are refused, and names are composed") {
  refused("[[file]]\nname = \"a\\u0000.nc\"\nevery = \"1 day\"\nfields = [\"t\"]\n",
          "name: has a zero byte inside");
  refused("report = \"r\\u0000.json\"\n" + k_head, "report: has a zero byte inside");
  const Configuration c = read_configuration(
      "[[file]]\nname = \"te\u0301.nc\"\nevery = \"1 day\"\noperation = \"mean\"\nfields = [\"te\u0301\", "
      "\"u*e\u0301\"]\n"
      "indices = { \"e\u0301\" = [0, 2] }\nlevels = { \"e\u0301\" = [0] }\n",
      "test.toml");
  CHECK(c.files[0].name == "te\u0301.nc");  // of files as it is
  CHECK(c.files[0].fields[0].text == "t\u00e9");
  CHECK(c.files[0].fields[1].text == "u*\u00e9");
  CHECK(c.files[0].indices[0].dim == "\u00e9");
  CHECK(c.files[0].levels[0].dim == "\u00e9");
}
