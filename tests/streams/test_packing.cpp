// Values packed into whole numbers by scale_factor and add_offset, as CF has them.
#include <limits>

#include "codec/packing.hpp"
#include "toy_model.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

constexpr double k_scale = 0.01, k_offset = 5.0;

std::string file_of(const SharedFolder& folder, const std::string& keys) {
  return "[[file]]\nname = \"" + folder.file("packed.nc") + "\"\nevery = \"1 day\"\n" + keys;
}

Run two_steps(const std::string& configuration, Cut how) {
  Run run;
  run.configuration = configuration;
  run.start = "2001-01-30";
  run.steps = {43200.0, 43200.0};
  run.how = how;
  return run;
}

Status run_of(const std::string& keys) {
  const SharedFolder folder;
  return caught([&] { Toy(two_steps(file_of(folder, keys), Cut::rows)).go(); });
}

void refuses(const std::string& keys, const std::string& part) {
  const Status status = run_of(keys);
  CHECK(status.code == Code::setting);
  CHECK_MESSAGE(status.message.starts_with(part), status.text());
}

}  // namespace

TEST_CASE("packing: to the nearest, missing cells and land get the fill value") {
  const std::string keys =
      "operation = \"mean\"\ntype = \"short\"\nscale_factor = 0.01\nadd_offset = 5\n"
      "fields = [\"temp\", \"zeta\", { field = \"zeta\", name = \"now\", operation = \"instant\" },\n"
      "  { expression = \"zeta + 1\", name = \"more\" },\n"
      "  { field = \"zeta\", name = \"small\", type = \"ubyte\", scale_factor = 0.5, add_offset = -40 }]\n";
  for (const Cut how : {Cut::columns, Cut::rows, Cut::map}) {
    const SharedFolder folder;
    Toy(two_steps(file_of(folder, keys), how)).go();
    const Read zeta = read_variable(folder.file("packed.nc"), "zeta");
    CHECK(zeta.type == Type::short_);
    const Read temp = read_variable(folder.file("packed.nc"), "temp"),
               now = read_variable(folder.file("packed.nc"), "now"),
               more = read_variable(folder.file("packed.nc"), "more"),
               small = read_variable(folder.file("packed.nc"), "small");
    CHECK(small.type == Type::ubyte);
    for (std::int64_t y = 0; y < k_rows; ++y)
      for (std::int64_t x = 0; x < k_columns; ++x) {
        const auto i = static_cast<std::size_t>(y * k_columns + x);
        CAPTURE(i);
        double sum = 0;
        int counted = 0;
        for (const std::int64_t step : {1, 2})
          if (!testing::is_missing(step, y, x)) {
            sum += value(1, step, 0, y, x);
            ++counted;
          }
        const bool has_now = !testing::is_missing(2, y, x) && !is_land(y, x);
        CHECK(now.values[i] ==
              (has_now ? std::nearbyint((value(1, 2, 0, y, x) - k_offset) / k_scale) : -32767.0));
        if (is_land(y, x) || counted == 0) {
          CHECK(zeta.values[i] == -32767.0);
          CHECK(more.values[i] == -32767.0);
          CHECK(small.values[i] == 255.0);
          continue;
        }
        const double mean = sum / counted;
        CHECK(std::abs(zeta.values[i] * k_scale + k_offset - mean) <= 0.0050001);
        CHECK(std::abs(more.values[i] * k_scale + k_offset - mean - 1) <= 0.0050001);
        CHECK(std::abs(small.values[i] * 0.5 - 40 - mean) <= 0.2500001);
        for (std::int64_t lev = 0; lev < k_levels; ++lev) {
          const double both = (value(0, 1, lev, y, x) + value(0, 2, lev, y, x)) / 2;
          CHECK(std::abs(temp.values[i + static_cast<std::size_t>(lev * k_rows * k_columns)] * k_scale +
                         k_offset - both) <= 0.0050002);
        }
      }
  }
}

TEST_CASE("packing: reduced cells, parts of the day, and windows with a hole") {
  const SharedFolder folder;
  Run run = two_steps(
      file_of(folder,
              "operation = \"diurnal(2)\"\ntype = \"int\"\nscale_factor = 0.001\nmissing = \"warn\"\n"
              "fields = [\"zeta\", \"rain\"]\nreduce = { dims = [\"y\", \"x\"], weights = \"none\" }\n"),
      Cut::columns);
  run.sends = [](const std::string& field, std::size_t step) { return field != "rain" || step != 1; };
  Toy(run).go();
  const Read zeta = read_variable(folder.file("packed.nc"), "zeta"),
             rain = read_variable(folder.file("packed.nc"), "rain");
  REQUIRE(zeta.shape == Dims{1, 2});
  for (const std::int64_t step : {1, 2}) {
    double sum = 0;
    int counted = 0;
    for (std::int64_t y = 0; y < k_rows; ++y)
      for (std::int64_t x = 0; x < k_columns; ++x)
        if (!is_land(y, x) && !testing::is_missing(step, y, x)) {
          sum += value(1, step, 0, y, x);
          ++counted;
        }
    CHECK(std::abs(zeta.values[static_cast<std::size_t>(step - 1)] * 0.001 - sum / counted) <= 0.00050001);
  }
  CHECK(rain.values == std::vector<double>(2, -2147483647.0));
}

TEST_CASE("packing: values that do not fit are counted, an error of all ranks, and the fill value") {
  const SharedFolder folder;
  const std::string keys =
      "operation = \"instant\"\ntype = \"byte\"\nscale_factor = 0.05\nfields = [\"zeta\", \"total\"]\n";
  for (const Cut how : {Cut::rows, Cut::map}) {
    Toy toy(two_steps(file_of(folder, keys), how));
    Status status = toy.advance_and_send_anyway(0);
    status.merge(toy.advance_and_send_anyway(1));
    CHECK(status.ok());
    status = caught([&] { toy.streams->close(); });
    int outside = 0;
    const auto got = read_variable(folder.file("packed.nc"), "zeta").values;
    for (std::int64_t y = 0; y < k_rows; ++y)
      for (std::int64_t x = 0; x < k_columns; ++x) {
        const double packed = std::nearbyint(value(1, 2, 0, y, x) / 0.05);
        const bool counts = !is_land(y, x) && !testing::is_missing(2, y, x);
        const bool fits = counts && packed >= -126 && packed <= 127;
        outside += counts && !fits ? 1 : 0;
        CHECK(got[static_cast<std::size_t>(y * k_columns + x)] == (fits ? packed : -127));
      }
    REQUIRE(outside > 0);
    CHECK(status.code == Code::range);
    CHECK(status.file == folder.file("packed.nc"));
    CHECK(status.variable == "zeta");
    CHECK_MESSAGE(status.message.starts_with(std::to_string(outside) + " of its values, of "), status.text());
    CHECK_MESSAGE(
        status.message.find("do not fit type byte with scale_factor 0.05 and add_offset 0, which has "
                            "-6.3") != std::string::npos,
        status.text());
  }
}

TEST_CASE("packing: the key pack chooses type, scale_factor and add_offset") {
  const SharedFolder folder;
  Toy(two_steps(
          file_of(folder,
                  "operation = \"instant\"\npack = \"short(-500, 500)\"\n"
                  "fields = [\"zeta\", { field = \"zeta\", name = \"own\", pack = \"ubyte(-400, 600)\" },\n"
                  "  { field = \"zeta\", name = \"by\", type = \"int\", scale_factor = 0.01 },\n"
                  "  { field = \"zeta\", name = \"plain\", pack = \"none\" }]\n"),
          Cut::rows))
      .go();
  const auto read = [&](const char* name) { return read_variable(folder.file("packed.nc"), name); };
  const Read zeta = read("zeta"), own = read("own"), by = read("by"), plain = read("plain");
  CHECK(zeta.type == Type::short_);
  CHECK(own.type == Type::ubyte);
  CHECK(by.type == Type::int_);
  CHECK((plain.type == Type::float_ || plain.type == Type::double_));
  const Packing of_zeta = Packer::packing_of(Type::short_, -32767, -500, 500),
                of_own = Packer::packing_of(Type::ubyte, 255, -400, 600);
  for (std::int64_t y = 0; y < k_rows; ++y)
    for (std::int64_t x = 0; x < k_columns; ++x) {
      const auto i = static_cast<std::size_t>(y * k_columns + x);
      const bool has = !testing::is_missing(2, y, x) && !is_land(y, x);
      const double now = value(1, 2, 0, y, x);
      const auto packed = [&](const Packing& packing, double fill) {
        return has ? std::nearbyint((now - packing.add_offset) / packing.scale_factor) : fill;
      };
      CHECK(zeta.values[i] == packed(of_zeta, -32767));
      CHECK(own.values[i] == packed(of_own, 255));
      CHECK(by.values[i] == packed({0.01, 0}, -2147483647.0));
    }
  const std::string file = "operation = \"mean\"\nfields = [\"zeta\"]\n";
  refuses(file + "pack = \"short\"\n", "line 6: pack");
  refuses(file + "pack = \"attributes\"\n", "line 6: pack");
  refuses(file + "pack = \"short(1, 2)\"\ntype = \"int\"\n", "line 6: pack");
  const Status narrow = run_of(file + "pack = \"ubyte(0, 1)\"\n");
  CHECK(narrow.code == Code::range);
  CHECK(run_of(file + "pack = \"ubyte(0, 1)\"\npack_out_of_range = \"fill\"\n").ok());
}

TEST_CASE("packing: whole numbers are refused for what has fractions") {
  const std::string mean = "operation = \"mean\"\n";
  refuses(mean + "type = \"short\"\nfields = [\"zeta\"]\n",
          "line 5: type: short has no fractions, and 'zeta' (mean) has some; choose float or double, or say "
          "scale_factor");
  refuses(mean + "fields = [\"zeta\", { field = \"count\", type = \"int\" }]\n",
          "line 5: type: int has no fractions, and 'count' (mean)");
  refuses("operation = \"instant\"\ntype = \"int\"\nfields = [\"zeta\"]\n", "line 5: type: int has no");
  refuses("operation = \"maximum\"\ntype = \"int64\"\nfields = [{ expression = \"zeta\", name = \"z\" }]\n",
          "line 5: type: int64 has no");
  refuses("operation = \"sum\"\ntype = \"int\"\nfields = [\"count\"]\nreduce = { dims = [\"y\"] }\n",
          "line 5: type: int has no");
  refuses(mean + "scale_factor = 0.1\nfields = [\"zeta\"]\n",
          "line 5: scale_factor: 'zeta' would be packed into double; the type of packed values is byte,");
  refuses(mean + "fields = [{ field = \"zeta\", type = \"int64\", add_offset = 1 }]\n",
          "line 5: add_offset: 'zeta' would be packed into int64");
  refuses(mean + "scale_factor = 0\nfields = [\"zeta\"]\n", "line 5: scale_factor: is not 0");
  refuses(mean + "add_offset = \"1\"\nfields = [\"zeta\"]\n", "line 5: add_offset: is a number");
  refuses(mean + "fields = [{ field = \"zeta\", attributes = { scale_factor = 1.0 } }]\n",
          "line 5: attributes.scale_factor: is a key beside attributes");
  // These have none.
  const std::string count = "fields = [\"count\"]\ntype = \"int\"\noperation = ";
  for (const std::string operation : {"\"maximum\"\n", "\"sum\"\n", "\"instant\"\n", "\"range\"\n"})
    CHECK(run_of(count + operation).ok());
  CHECK(run_of(count + "\"maximum\"\nreduce = { dims = [\"y\"], operation = \"maximum\" }\n").ok());
  CHECK(run_of("fields = [\"zeta\"]\ntype = \"short\"\noperation = \"count\"\n").ok());
}
