// Cells that a decomposition leaves out, as land or as nobody owns them, have the fill value, and the
// attribute _FillValue says so: of masks, maps and tiles, of variables that are defined so and of such as get
// their decomposition later; and not where nothing is left out, or no fill was asked for.
#include <array>
#include <functional>

#include "conformance/support.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

constexpr const char* k_path = "left.nc";
constexpr std::int64_t k_rows = 3, k_each = 4;

std::int64_t columns() {
  return k_each * (world_size() + 1);
}

/// Decompositions of rows and columns, each rank with the same columns, all of which leave cells out, but for
/// the last one.
struct Several {
  shoal_decomposition *tiles = nullptr, *masked = nullptr, *map = nullptr, *masked_map = nullptr,
                      *all = nullptr;

  Several() {
    const Dims global{k_rows, columns()};
    const Dims first{0, k_each * world_rank()};
    const bool last = world_rank() == world_size() - 1;
    const Dims part{k_rows, k_each};
    const Dims rest{k_rows, last ? 2 * k_each : k_each};
    ok(shoal_block(MPI_COMM_WORLD, 2, global.data(), first.data(), part.data(), nullptr, nullptr, &tiles));
    ok(shoal_block(MPI_COMM_WORLD, 2, global.data(), first.data(), rest.data(), nullptr, nullptr, &all));
    // Land on one rank alone.
    std::vector<std::int8_t> active(static_cast<std::size_t>(volume(rest)), 1);
    if (last) active[1] = 0;
    const shoal_array mask = shoal_array_of(active.data(), SHOAL_BYTE, 2, rest.data());
    ok(shoal_masked(MPI_COMM_WORLD, all, &mask, &masked));
    std::vector<std::int64_t> cells;
    for (std::int64_t cell = world_rank(); cell < volume(global); cell += world_size())
      cells.push_back(cell);
    const auto n = static_cast<std::int64_t>(cells.size());
    active.assign(cells.size(), 1);
    if (last) active[1] = 0;
    const shoal_array list = shoal_array_of(active.data(), SHOAL_BYTE, 1, &n);
    shoal_decomposition* whole = nullptr;
    ok(shoal_map(MPI_COMM_WORLD, 2, global.data(), 0, n, cells.data(), &whole));
    ok(shoal_masked(MPI_COMM_WORLD, whole, &list, &masked_map));
    ok(shoal_decomposition_free(&whole));
    if (last) cells.back() = -1;
    ok(shoal_map(MPI_COMM_WORLD, 2, global.data(), 0, n, cells.data(), &map));
  }
  Several(const Several&) = delete;
  Several& operator=(const Several&) = delete;
  ~Several() {
    for (auto** one : {&tiles, &masked, &map, &masked_map, &all})
      shoal_decomposition_free(one);
  }
};

shoal_dataset* create(const std::string& settings) {
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_path, settings.c_str(), &file));
  def_dim(file, "time", SHOAL_UNLIMITED);
  def_dim(file, "y", k_rows);
  def_dim(file, "x", columns());
  return file;
}

void write(shoal_dataset* file, const char* name, const shoal_decomposition* cut, int type, double value,
           std::int64_t record = SHOAL_NO_RECORD) {
  shoal_map_info info = SHOAL_MAP_INFO_INIT;
  std::array<std::int64_t, 7> count{};
  ok(shoal_decomposition_map_info(cut, &info));
  ok(shoal_decomposition_inquire(cut, nullptr, nullptr, nullptr, count.data(), nullptr, nullptr));
  TestArray array(type, info.is_map != 0 ? Dims{info.ncells} : Dims{count[0], count[1]});
  array.fill(value);
  ok(shoal_write(file, name, cut, array.c(), SHOAL_RECORD(record)));
}

/// How many attributes _FillValue there are, which has the value.
void check_fill(const shoal_dataset* file, const std::string& name, int type, double value, int count = 1) {
  CAPTURE(name);
  int at = -1;
  const bool found_it = shoal_find_att(file, name.c_str(), "_FillValue", &at) == SHOAL_OK;
  CHECK((found_it ? 1 : 0) == count);
  if (!found_it) return;
  shoal_att_info info = SHOAL_ATT_INFO_INIT;
  ok(shoal_inq_att(file, name.c_str(), at, &info));
  CHECK(info.type == type);
  CHECK(info.count == 1);
  std::array<std::byte, 8> found{};
  ok(shoal_get_att(file, name.c_str(), "_FillValue", type, found.data()));
  CHECK(value_at(type, found.data()) == value);
}

// A set that is read says it of all cells that are in none of its files.
void check_none(const shoal_dataset* file, const std::string& name) {
  if (in_one_file()) check_fill(file, name, SHOAL_INT, 0, 0);
}

/// While it is written, and as the file has it.
void in_file_too(shoal_dataset** file, const std::function<void(const shoal_dataset*)>& check) {
  check(*file);
  ok(shoal_close(file, 0));
  ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, file));
  check(*file);
  ok(shoal_close(file, 0));
}

/// Can a variable that is there get _FillValue? PnetCDF takes none, nor netCDF-C in netCDF-4.
bool takes_late(const std::string& format) {
  return driver() != "pnetcdf" && (!has_chunks(format) || is_native());
}

}  // namespace

TEST_CASE("variables whose decomposition leaves cells out say what these hold") {
  const Several cuts;
  for (const auto& format : formats())
    for (const int type : types_of(format)) {
      CAPTURE(format);
      CAPTURE(type);
      shoal_dataset* file = create("format=" + format);
      std::vector<std::pair<std::string, const shoal_decomposition*>> left{{"tiles", cuts.tiles},
                                                                           {"masked", cuts.masked}};
      if (in_one_file()) {
        left.emplace_back("map", cuts.map);
        left.emplace_back("masked_map", cuts.masked_map);
      } else {
        left.resize(1);  // one cut a set
      }
      for (const auto& [name, cut] : left) {
        ok(shoal_def_var(file, name.c_str(), type, "y x", cut));
        ok(shoal_def_var(file, (name + "_grows").c_str(), type, "time y x", cut));
        ok(shoal_def_var(file, (name + "_own").c_str(), type, "y x", cut));
        ok(shoal_def_var(file, (name + "_none").c_str(), type, "y x", cut));
        with_type(type, [&, &its = name](auto value) {
          value = 99;
          ok(shoal_def_fill(file, (its + "_own").c_str(), type, &value));
          ok(shoal_put_att(file, its.c_str(), "missing_value", type, 1, &value));
          return 0.0;
        });
        ok(shoal_def_fill(file, (name + "_none").c_str(), 0, nullptr));
      }
      if (in_one_file()) ok(shoal_def_var(file, "all", type, "y x", cuts.all));
      ok(shoal_def_var(file, "replicated", type, "x", nullptr));
      for (const auto& [name, cut] : left) {
        write(file, name.c_str(), cut, type, 7);
        write(file, (name + "_grows").c_str(), cut, type, 7, 0);
        write(file, (name + "_own").c_str(), cut, type, 7);
      }
      in_file_too(&file, [&](const shoal_dataset* now) {
        for (const auto& [name, cut] : left) {
          check_fill(now, name, type, fill_value(type));
          check_fill(now, name + "_grows", type, fill_value(type));
          check_fill(now, name + "_own", type, 99);
          check_none(now, name + "_none");
          std::array<std::byte, 8> found{};
          ok(shoal_get_att(now, name.c_str(), "missing_value", type, found.data()));
          CHECK(value_at(type, found.data()) == 99);
        }
        if (in_one_file()) check_none(now, "all");
        check_none(now, "replicated");
      });
      ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
      for (const auto& [name, cut] : left) {
        TestArray values(SHOAL_DOUBLE, {k_rows, columns()});
        ok(shoal_get(file, name.c_str(), values.c(), nullptr));
        std::int64_t others = 0;
        for_cells(Box::whole({k_rows, columns()}), [&](const Dims& i) {
          others += values.get(i) == 7 ? 0 : values.get(i) == fill_value(type) ? 1 : 1000;
        });
        CHECK(others == (name == "tiles" ? k_rows * k_each : 1));
      }
      ok(shoal_close(&file, 0));
    }
}

TEST_CASE("nothing is said of cells that stay, nor of text") {
  const Several cuts;
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = create("format=" + format + ", fill=false");
    ok(shoal_def_var(file, "quiet", SHOAL_FLOAT, "y x", cuts.tiles));
    ok(shoal_def_var(file, "asked", SHOAL_FLOAT, "y x", cuts.tiles));
    const float fill = -3;
    ok(shoal_def_fill(file, "asked", SHOAL_FLOAT, &fill));
    ok(shoal_def_var(file, "text", SHOAL_CHAR, "y x", cuts.tiles));
    in_file_too(&file, [&](const shoal_dataset* now) {
      check_none(now, "quiet");
      check_fill(now, "asked", SHOAL_FLOAT, -3);
      check_none(now, "text");
    });
    file = create("format=" + format);
    ok(shoal_def_var(file, "text", SHOAL_CHAR, "y x", cuts.tiles));
    ok(shoal_def_var(file, "numbers", SHOAL_BYTE, "y x", cuts.tiles));
    ok(shoal_end_define(file));
    in_file_too(&file, [&](const shoal_dataset* now) {
      check_none(now, "text");
      check_fill(now, "numbers", SHOAL_BYTE, -127);
    });
  }
}

TEST_CASE("variables in a gathered dimension say what land is") {
  if (skipped(in_one_file(), "water points go to one file")) return;
  const Several cuts;
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = create("format=" + format);
    ok(shoal_def_gathered(file, "water", "y x", cuts.masked));
    ok(shoal_def_var(file, "v", SHOAL_DOUBLE, "time water", cuts.masked));
    write(file, "v", cuts.masked, SHOAL_DOUBLE, 7, 0);
    in_file_too(&file, [&](const shoal_dataset* now) {
      check_fill(now, "v", SHOAL_DOUBLE, fill_value(SHOAL_DOUBLE));
      check_none(now, "water");
    });
  }
}

TEST_CASE(
    "a decomposition that comes with a write: said at the next sync or close, where the file takes it") {
  if (skipped(in_one_file(), "a set is cut by the decompositions of its definitions")) return;
  const Several cuts;
  for (const auto& format : formats())
    for (const bool opened : {false, true}) {
      CAPTURE(format);
      CAPTURE(opened);
      shoal_dataset* file = create("format=" + format + ", quiet=true");
      for (const char* name : {"plain", "whole", "quiet"}) {
        ok(shoal_def_var(file, name, SHOAL_FLOAT, "time y x", nullptr));
        if (name[0] == 'q') ok(shoal_def_fill(file, name, 0, nullptr));
      }
      ok(shoal_def_var(file, "other", SHOAL_INT, "y x", cuts.all));
      ok(shoal_put_att(file, "plain", "units", SHOAL_CHAR, 1, "m"));
      if (opened) {
        for (const char* name : {"plain", "whole"})
          write(file, name, cuts.all, SHOAL_FLOAT, 5, 0);
        ok(shoal_close(&file, 0));
        ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_WRITE, "quiet=true", &file));
      }
      write(file, "plain", cuts.masked, SHOAL_FLOAT, 7, 1);
      write(file, "whole", cuts.all, SHOAL_FLOAT, 7, 1);
      if (!opened) write(file, "quiet", cuts.masked, SHOAL_FLOAT, 7, 1);
      ok(shoal_sync(file, 0));
      const std::string said = shoal_report(file);
      const bool takes = takes_late(format);
      CHECK((said.find("'plain' was written with a decomposition that leaves") == std::string::npos) ==
            takes);
      CHECK((said.find("\"fill_values_added\": [\"plain\"]") != std::string::npos) == takes);
      CHECK(said.find("'whole'") == std::string::npos);
      CHECK(said.find("'quiet'") == std::string::npos);
      write(file, "plain", cuts.tiles, SHOAL_FLOAT, 8, 2);
      in_file_too(&file, [&](const shoal_dataset* now) {
        check_fill(now, "plain", SHOAL_FLOAT, fill_value(SHOAL_FLOAT), takes ? 1 : 0);
        check_none(now, "whole");
        if (!opened) check_none(now, "quiet");
        check_none(now, "other");
      });
      ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
      TestArray values(SHOAL_DOUBLE, {k_rows, columns()});
      for (const std::int64_t record : {1, 2}) {
        ok(shoal_get(file, "plain", values.c(), SHOAL_RECORD(record)));
        std::int64_t left = 0;
        for_cells(Box::whole({k_rows, columns()}), [&](const Dims& i) {
          const double found = values.get(i);
          left += found == (record == 1 ? 7 : 8) ? 0 : found == fill_value(SHOAL_FLOAT) ? 1 : 1000;
        });
        CHECK(left == (record == 1 ? 1 : k_rows * k_each));
      }
      ok(shoal_close(&file, 0));
    }
}

TEST_CASE("a rank that could not take part in such a write hears of the attribute with the others") {
  if (skipped(in_one_file(), "a set is cut by the decompositions of its definitions") || world_size() == 1)
    return;
  const Several cuts;
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = create("format=" + format + ", quiet=true");
    ok(shoal_def_var(file, "plain", SHOAL_FLOAT, "y x", nullptr));
    ok(shoal_def_var(file, "other", SHOAL_FLOAT, "y x", cuts.masked));
    write(file, "other", cuts.masked, SHOAL_FLOAT, 7);
    TestArray array(SHOAL_FLOAT, {k_rows, world_rank() == world_size() - 1 ? 2 * k_each : k_each});
    array.fill(7);
    const char* name = world_rank() == 0 ? "plane" : "plain";
    ok(shoal_write(file, name, cuts.masked, array.c(), nullptr));
    const int code = shoal_sync(file, 0);
    CHECK(code != SHOAL_OK);
    alike(code);
    int at = -1;
    CHECK((shoal_find_att(file, "plain", "_FillValue", &at) == SHOAL_OK) == takes_late(format));
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("a header without room: the data move, and the attribute is there") {
  if (skipped(in_one_file() && has_format("cdf5") && takes_late("cdf5"), "one cdf5 file that takes it"))
    return;
  const Several cuts;
  shoal_dataset* file = create("format=cdf5, header_reserve=0, alignment=4");
  ok(shoal_def_var(file, "plain", SHOAL_FLOAT, "y x", nullptr));
  write(file, "plain", cuts.masked, SHOAL_FLOAT, 7);
  ok(shoal_sync(file, 0));
  const std::string said = shoal_report(file);
  CHECK(said.find("\"fill_values_added\": [\"plain\"]") != std::string::npos);
  in_file_too(&file, [&](const shoal_dataset* now) {
    check_fill(now, "plain", SHOAL_FLOAT, fill_value(SHOAL_FLOAT), 1);
  });
}
