// What one driver wrote every other reads, in every format; and what single drivers promise of themselves.
#include <map>

#include "base/text.hpp"
#include "conformance/support.hpp"
#include "driver/registry.hpp"
#include "support/parts.hpp"
#include "support/random_tiles.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

constexpr const char* k_file = "drivers_cross.data";
constexpr std::int64_t k_records = 3;  // of which the one in the middle is not written
const Dims k_grid{13, 17};

bool has_format(const RegisteredDriver& driver, const std::string& word) {
  const auto all = formats_of(driver);
  return std::find(all.begin(), all.end(), word) != all.end();
}

/// Settings of every way to write or read the format: "driver=mpiio, access=independent".
std::vector<std::string> variants(const std::string& format, bool to_read) {
  std::vector<std::string> found;
  for (const auto& kind : registered_drivers()) {
    // Rank 0's catalog reads every format for native and gather.
    const bool any = to_read && (std::string(kind.name) == "native" || std::string(kind.name) == "gather");
    if (kind.make == nullptr || !(has_format(kind, format) || any)) continue;
    const std::string driver = "driver=" + std::string(kind.name);
    if (*kind.accesses == '\0') found.push_back(driver);
    for (const auto& access : words(kind.accesses))
      found.push_back(driver + ", access=" + access);
    if (std::string(kind.name) != "native") found.push_back(driver + ", io_stride=2");  // through I/O ranks
  }
  return found;
}

/// The tiles of all ranks, the same on each; some own nothing.
std::vector<Box> tiles(unsigned seed) {
  std::mt19937 random(seed);
  return random_tiles(k_grid, world_size(), true, random);
}

bool owned(const std::vector<Box>& by, const Dims& cell) {
  const Box one(cell, Dims(cell.size(), 1));
  return std::any_of(by.begin(), by.end(), [&](const Box& tile) { return tile.contains(one); });
}

/// Shapes: height (y, x) double; temp (time, y, x) short with a fill value of its own; never (time, y, x)
/// int, never written; time (time) float, replicated; scale, an int scalar.
void write_all(const std::string& settings, const std::vector<Box>& by) {
  const Cut cut(MPI_COMM_WORLD, k_grid, by[static_cast<std::size_t>(world_rank())], {0, 0}, {0, 0});
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_file, settings.c_str(), &file));
  def_dim(file, "time", SHOAL_UNLIMITED);
  def_dim(file, "y", k_grid[0]);
  def_dim(file, "x", k_grid[1]);
  ok(shoal_def_var(file, "height", SHOAL_DOUBLE, "y x", cut.handle()));
  ok(shoal_def_var(file, "temp", SHOAL_SHORT, "time y x", cut.handle()));
  const std::int16_t fill = -7;
  ok(shoal_def_fill(file, "temp", SHOAL_SHORT, &fill));
  ok(shoal_def_var(file, "never", SHOAL_INT, "time y x", cut.handle()));
  ok(shoal_def_var(file, "time", SHOAL_FLOAT, "time", nullptr));
  ok(shoal_def_var(file, "scale", SHOAL_INT, "", nullptr));
  ok(shoal_put_att(file, "temp", "units", SHOAL_CHAR, 7, "Celsius"));
  TestArray height(SHOAL_DOUBLE, cut.tile().count);
  TestArray temp(SHOAL_SHORT, cut.tile().count);
  const auto set = [&](TestArray& array, int number) {
    for_cells(cut.tile(), [&](const Dims& i) {
      array.set({i[0] - cut.tile().first[0], i[1] - cut.tile().first[1]}, value_of(number, i));
    });
  };
  set(height, 99);
  ok(shoal_write(file, "height", cut.handle(), height.c(), nullptr));
  for (const int record : {0, 2}) {
    set(temp, record);
    ok(shoal_write(file, "temp", cut.handle(), temp.c(), SHOAL_RECORD(record)));
    float time = static_cast<float>(record) + 0.5F;
    const shoal_array value = scalar(time, SHOAL_FLOAT);
    ok(shoal_put(file, "time", &value, SHOAL_RECORD(record)));
  }
  int scale = 42;
  const shoal_array value = scalar(scale, SHOAL_INT);
  ok(shoal_put(file, "scale", &value, nullptr));
  ok(shoal_close(&file, 0));
}

void check_field(shoal_dataset* file, const char* name, const Cut& cut, std::int64_t record, int number,
                 double fill, const std::vector<Box>& by) {
  CAPTURE(name);
  CAPTURE(record);
  TestArray array(SHOAL_DOUBLE, cut.around().count);
  ok(shoal_read(file, name, cut.handle(), array.c(), SHOAL_RECORD(record)));
  int wrong = 0;
  for_cells(intersection(cut.around(), Box::whole(k_grid)), [&](const Dims& i) {
    const double is = array.get({i[0] - cut.around().first[0], i[1] - cut.around().first[1]});
    wrong += is != (number >= 0 && owned(by, i) ? value_of(number, i) : fill) ? 1 : 0;
  });
  CHECK(wrong == 0);
}

void read_all(const std::string& settings, const std::vector<Box>& by) {
  const Cut cut(MPI_COMM_WORLD, k_grid, tiles(77)[static_cast<std::size_t>(world_rank())], {1, 2}, {1, 0});
  shoal_dataset* file = nullptr;
  ok(shoal_open(MPI_COMM_WORLD, k_file, SHOAL_READ, settings.c_str(), &file));
  check_field(file, "height", cut, SHOAL_NO_RECORD, 99, fill_value(SHOAL_DOUBLE), by);
  for (std::int64_t record = 0; record < k_records; ++record) {
    check_field(file, "temp", cut, record, record == 1 ? -1 : static_cast<int>(record), -7, by);
    check_field(file, "never", cut, record, -1, fill_value(SHOAL_INT), by);
    float time = 0;
    const shoal_array value = scalar(time, SHOAL_FLOAT);
    ok(shoal_get(file, "time", &value, SHOAL_RECORD(record)));
    CHECK(static_cast<double>(time) ==
          (record == 1 ? fill_value(SHOAL_FLOAT) : static_cast<double>(record) + 0.5));
  }
  int scale = 0;
  const shoal_array value = scalar(scale, SHOAL_INT);
  ok(shoal_get(file, "scale", &value, nullptr));
  CHECK(scale == 42);
  char units[8] = {};
  ok(shoal_get_att(file, "temp", "units", SHOAL_CHAR, units));
  CHECK(std::string(units, 7) == "Celsius");
  ok(shoal_close(&file, 0));
}

}  // namespace

TEST_CASE("what one driver wrote every other reads") {
  std::vector<std::pair<std::string, std::string>> written;
  for (const std::string format : {"cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4-classic", "raw", "ascii"})
    for (const auto& writer : variants(format, false))
      written.emplace_back(format, writer);
  unsigned seed = 0;
  for (const auto& [format, writer] : in_part(written)) {
    CAPTURE(format);
    CAPTURE(writer);
    const auto by = tiles(seed++);
    write_all(writer + ", format=" + format, by);
    const auto readers = variants(format, true);
    CHECK(!readers.empty());
    for (const auto& reader : readers) {
      CAPTURE(reader);
      read_all(reader, by);
    }
  }
}

TEST_CASE("mpiio: what lies behind the end of the file is the fill value, not what was in memory before") {
  const Dims grid{6, 40};
  const std::int64_t from = 40 * world_rank() / world_size();
  const std::int64_t to = 40 * (world_rank() + 1) / world_size();
  const Cut cut(MPI_COMM_WORLD, grid, Box({0, from}, {6, to - from}), {0, 0}, {0, 0});
  for (const std::string access : {"collective", "independent"})
    for (const std::string format : {"cdf5", "raw"}) {
      CAPTURE(access);
      CAPTURE(format);
      shoal_dataset* file = nullptr;
      const std::string settings = "driver=mpiio, access=" + access + ", format=" + format;
      ok(shoal_create(MPI_COMM_WORLD, k_file, settings.c_str(), &file));
      def_dim(file, "y", grid[0]);
      def_dim(file, "x", grid[1]);
      ok(shoal_def_var(file, "before", SHOAL_INT, "y x", cut.handle()));
      ok(shoal_def_var(file, "behind", SHOAL_INT, "y x", cut.handle()));
      ok(shoal_def_var(file, "last", SHOAL_INT, "", nullptr));
      TestArray array(SHOAL_INT, cut.tile().count);
      for_cells(cut.tile(), [&](const Dims& i) { array.set({i[0], i[1] - from}, value_of(0, i)); });
      ok(shoal_write(file, "before", cut.handle(), array.c(), nullptr));
      ok(shoal_read(file, "before", cut.handle(), array.c(), nullptr));
      ok(shoal_read(file, "behind", cut.handle(), array.c(), nullptr));
      int wrong = 0;
      for_cells(Box::whole(cut.tile().count),
                [&](const Dims& i) { wrong += array.get(i) != fill_value(SHOAL_INT) ? 1 : 0; });
      CHECK(wrong == 0);
      std::int32_t last = 5;
      const shoal_array value = scalar(last, SHOAL_INT);
      ok(shoal_get(file, "last", &value, nullptr));
      CHECK(last == static_cast<std::int32_t>(fill_value(SHOAL_INT)));
      ok(shoal_close(&file, 0));
    }
}

TEST_CASE("gather: memory on rank 0 is bounded by stage_bytes, whatever the slabs cut") {
  const Dims grid{64, 3000};
  const std::int64_t from = 3000 * world_rank() / world_size();
  const std::int64_t to = 3000 * (world_rank() + 1) / world_size();
  const Cut cut(MPI_COMM_WORLD, grid, Box({0, from}, {64, to - from}), {0, 1}, {0, 1});
  for (const char* format : {"raw", "ascii"}) {
    const std::string settings = std::string("driver=gather, stage_bytes=64KiB, format=") + format;
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, k_file, settings.c_str(), &file));
    def_dim(file, "y", grid[0]);
    def_dim(file, "x", grid[1]);
    ok(shoal_def_var(file, "v", SHOAL_INT64, "y x", cut.handle()));
    TestArray array(SHOAL_INT64, cut.tile().count);
    for_cells(cut.tile(), [&](const Dims& i) { array.set({i[0], i[1] - from}, value_of(0, i)); });
    ok(shoal_write(file, "v", cut.handle(), array.c(), nullptr));
    const std::string report = shoal_report(file);
    ok(shoal_close(&file, 0));
    if (world_rank() == 0 && world_size() > 1) {
      const auto number = [&](const std::string& key) {
        const std::size_t at = report.find("\"" + key + "\"");
        REQUIRE_MESSAGE(at != std::string::npos, report);
        return std::stoll(report.substr(report.find(':', at) + 1));
      };
      CHECK(number("high_water") > 0);
      CHECK(number("high_water") <= 64 * 1024);
      CHECK(number("slabs") >= 40);  // 1.5 MB in 32 KiB
    }
    ok(shoal_open(MPI_COMM_WORLD, k_file, SHOAL_READ, "driver=gather, stage_bytes=64KiB", &file));
    TestArray back(SHOAL_DOUBLE, cut.around().count);
    ok(shoal_read(file, "v", cut.handle(), back.c(), nullptr));
    int wrong = 0;
    for_cells(intersection(cut.around(), Box::whole(grid)), [&](const Dims& i) {
      wrong += back.get({i[0], i[1] - cut.around().first[1]}) != value_of(0, i) ? 1 : 0;
    });
    CHECK(wrong == 0);
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("what a driver has not is refused on all ranks, with what to take instead") {
  shoal_dataset* file = nullptr;
  const auto refused = [&](const char* settings, const std::vector<std::string>& messages) {
    CAPTURE(std::string(settings));
    const int code = shoal_create(MPI_COMM_WORLD, k_file, settings, &file);
    fails(code, SHOAL_SETTING, messages);
    alike(code);
  };
  refused("driver=gather, format=raw, replicated_read=all", {"gather", "replicated_read=one"});
  refused("driver=native, format=ascii", {"native", "ascii", "gather"});
  refused("driver=mpiio, format=netcdf4", {"mpiio", "netcdf4", "native"});
  refused("driver=mpiio, format=raw, access=nonblocking",
          {"mpiio", "nonblocking", "collective, independent"});
}
