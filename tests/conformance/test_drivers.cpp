// What drivers have in common beside the data: hints, files that are not theirs, ranks that fail alone.
#include <filesystem>
#include <fstream>

#include "conformance/support.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

constexpr std::int64_t k_each = 3;  // cells of a rank

Cut line() {
  return {MPI_COMM_WORLD, {k_each * world_size()}, Box({k_each * world_rank()}, {k_each}), {0}, {0}};
}

int write_record(shoal_dataset* file, const char* name, std::int64_t record, std::int64_t cells = k_each) {
  TestArray array(SHOAL_DOUBLE, {cells});
  array.fill(static_cast<double>(100 * record + world_rank()));
  return shoal_write(file, name, nullptr, array.c(), SHOAL_RECORD(record));
}

/// Cells of the ranks, the fill value where `filled` says so.
template <class Filled>
void check_record(shoal_dataset* file, std::int64_t record, Filled filled) {
  CAPTURE(record);
  const std::int64_t n = k_each * world_size();
  TestArray found(SHOAL_DOUBLE, {n});
  ok(shoal_get(file, "a", found.c(), SHOAL_RECORD(record)));
  for (std::int64_t i = 0; i < n; ++i) {
    const auto rank = static_cast<int>(i / k_each);
    CHECK(found.get({i}) ==
          (filled(rank) ? fill_value(SHOAL_DOUBLE) : static_cast<double>(100 * record + rank)));
  }
}

}  // namespace

TEST_CASE("the report says of each hint whether it was taken") {
  if (skipped(!is_native(), "it has no use for hints")) return;
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, "hints.nc",
                    ("format=" + format + ", hints=\"cb_nodes=1; no_such_hint=blue\"").c_str(), &file));
    def_dim(file, "x", k_each * world_size());
    const Cut cut = line();
    ok(shoal_def_var(file, "a", SHOAL_DOUBLE, "x", cut.handle()));
    ok(shoal_end_define(file));
    const std::string report = shoal_report(file);
    const auto from = report.find("\"hints\"");
    REQUIRE(from != std::string::npos);
    // (OMPIO says that it takes everything.)
    CHECK_MESSAGE(report.find("no_such_hint=blue", from) != std::string::npos, report);
    CHECK_MESSAGE(report.find("cb_nodes=1", from) != std::string::npos, report);
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE(
    "a file that stands where the header of raw cells would go stays, and so does the one it stands beside") {
  if (skipped(in_one_file(), "one file is enough")) return;
  const auto content = [](const char* path) {
    std::string text;
    std::getline(std::ifstream(path), text);
    return text;
  };
  if (world_rank() == 0) {
    std::filesystem::remove_all("mine");  // of a run before
    std::ofstream("mine") << "a diary";
    std::ofstream("mine.json") << "its index";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (const std::string format : {"raw", "ascii"}) {
    if (!has_format(format)) continue;
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    const int code = shoal_create(MPI_COMM_WORLD, "mine", ("format=" + format).c_str(), &file);
    fails(code, SHOAL_EXISTS, {"mine.json", "another name"});
    alike(code);
    CHECK(content("mine") == "a diary");
    CHECK(content("mine.json") == "its index");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) {
    std::filesystem::remove_all("mine");
    std::filesystem::remove("mine.json");
  }
}

#ifdef OPEN_MPI
TEST_CASE("a hint with which OMPIO stores wrong data is refused, and ROMIO gets it") {
  if (skipped(driver() == "pnetcdf" || driver() == "netcdf" || driver() == "mpiio", "it uses no MPI-IO"))
    return;
  if (skipped(in_one_file(), "one file is enough")) return;
  const char* io = std::getenv("OMPI_MCA_io");
  const bool ompio = io == nullptr || std::string(io).find("romio") == std::string::npos;
  shoal_dataset* file = nullptr;
  const int code = shoal_create(MPI_COMM_WORLD, "hint.nc",
                                ("format=" + formats().front() + ", hints=cb_nodes=2").c_str(), &file);
  if (ompio) {
    fails(code, SHOAL_SETTING, {"cb_nodes=2", "OMPIO", "romio321"});
    alike(code);
  } else {
    ok(code);
    ok(shoal_close(&file, 0));
  }
}
#endif

TEST_CASE(
    "files and formats of other drivers are refused on all ranks alike, with a driver that takes them") {
  const auto has_all = formats().size() == 5;
  if (skipped(!has_all, "it has every format")) return;
  if (skipped(std::getenv("CONFORMANCE_FORMATS") == nullptr, "it has more formats than are asked for"))
    return;
  if (skipped(in_one_file(), "sets of files are read without its library")) return;
  for (const std::string format : {"cdf1", "cdf5", "netcdf4", "netcdf4-classic"}) {
    CAPTURE(format);
    if (has_format(format)) continue;
    shoal_dataset* file = nullptr;
    int code = shoal_create(MPI_COMM_WORLD, "foreign.nc", ("format=" + format).c_str(), &file);
    fails(code, SHOAL_SETTING, {driver(), format, "native"});
    alike(code);
    ok(shoal_create(MPI_COMM_WORLD, "foreign.nc", ("driver=native, format=" + format).c_str(), &file));
    def_dim(file, "x", 4);
    ok(shoal_def_var(file, "a", SHOAL_INT, "x", nullptr));
    ok(shoal_close(&file, 0));
    code = shoal_open(MPI_COMM_WORLD, "foreign.nc", SHOAL_READ, nullptr, &file);
    fails(code, SHOAL_NOT_SUPPORTED, {driver(), format, "native"});
    alike(code);
  }
}

TEST_CASE("a rank with bad arguments does not stop the others, and all learn of it") {
  if (world_size() == 1) return;
  if (skipped(in_one_file(), "its ranks write files of their own")) return;
  const int bad = world_size() - 1;
  const Cut cut = line();
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, "alone.nc", ("format=" + format).c_str(), &file));
    def_dim(file, "time", SHOAL_UNLIMITED);
    def_dim(file, "x", k_each * world_size());
    ok(shoal_def_var(file, "a", SHOAL_DOUBLE, "time x", cut.handle()));
    ok(write_record(file, "a", 0));
    // An array of the wrong shape: what it should have written gets the fill value.
    ok(write_record(file, "a", 1, world_rank() == bad ? k_each + 1 : k_each));
    int code = shoal_sync(file, 0);
    fails(code, SHOAL_INVALID_ARGUMENT, {"alone.nc", "'a'", "rank " + std::to_string(bad)});
    alike(code);
    ok(write_record(file, "a", 2));
    ok(shoal_sync(file, 0));
    check_record(file, 0, [](int) { return false; });
    check_record(file, 1, [&](int rank) { return rank == bad; });
    check_record(file, 2, [](int) { return false; });
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("a rank that names no variable is found out, and the file can be used on") {
  if (world_size() == 1) return;
  if (skipped(in_one_file(), "its ranks write files of their own")) return;
  if (skipped(!is_native(), "its ranks wait for one another")) return;
  const int bad = world_size() / 2;
  const Cut cut = line();
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, "alone.nc", ("format=" + format).c_str(), &file));
    def_dim(file, "time", SHOAL_UNLIMITED);
    def_dim(file, "x", k_each * world_size());
    ok(shoal_def_var(file, "a", SHOAL_DOUBLE, "time x", cut.handle()));
    ok(write_record(file, "a", 0));
    ok(write_record(file, world_rank() == bad ? "no_such" : "a", 1));
    ok(write_record(file, "a", 2));
    int code = shoal_sync(file, 0);
    fails(code, SHOAL_NOT_FOUND, {"alone.nc", "no_such", "rank " + std::to_string(bad)});
    alike(code);
    ok(write_record(file, "a", 1));
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, "alone.nc", SHOAL_READ, nullptr, &file));
    for (const std::int64_t record : {0, 1, 2})
      check_record(file, record, [](int) { return false; });
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("replicated variables in the other access, read by all ranks") {
  if (skipped(driver() != "gather", "it has one access, and one rank that reads")) return;
  for (const auto& format : formats()) {
    for (const std::string access : {"collective", "independent"}) {
      CAPTURE(format);
      CAPTURE(access);
      // (Driver native has no access to choose.)
      const std::string settings =
          (is_native() ? std::string() : "replicated_access=" + access + ", ") + "replicated_read=all";
      shoal_dataset* file = nullptr;
      ok(shoal_create(MPI_COMM_WORLD, "replicated.nc", ("format=" + format + ", " + settings).c_str(),
                      &file));
      const Cut cut = line();
      def_dim(file, "time", SHOAL_UNLIMITED);
      def_dim(file, "x", k_each * world_size());
      ok(shoal_def_var(file, "a", SHOAL_DOUBLE, "time x", cut.handle()));
      ok(shoal_def_var(file, "t", SHOAL_FLOAT, "time", nullptr));
      ok(shoal_def_var(file, "lat", SHOAL_DOUBLE, "x", nullptr));
      ok(shoal_def_var(file, "version", SHOAL_INT, "", nullptr));
      int version = 0;
      const shoal_array one = scalar(version, SHOAL_INT);
      for (const std::int64_t record : {0, 1, 2}) {
        double time = 1.5 * static_cast<double>(record);
        const shoal_array now = scalar(time, SHOAL_DOUBLE);
        ok(shoal_put(file, "t", &now, SHOAL_RECORD(record)));
        ok(write_record(file, "a", record));
        version = static_cast<int>(record);
        ok(shoal_put(file, "version", &one, nullptr));
      }
      TestArray lat(SHOAL_DOUBLE, {k_each * world_size()});
      for_cells(Box::whole({k_each * world_size()}), [&](const Dims& i) { lat.set(i, value_of(3, i)); });
      ok(shoal_put(file, "lat", lat.c(), nullptr));
      ok(shoal_close(&file, 0));
      ok(shoal_open(MPI_COMM_WORLD, "replicated.nc", SHOAL_READ, settings.c_str(), &file));
      TestArray times(SHOAL_DOUBLE, {3});
      ok(shoal_get(file, "t", times.c(), SHOAL_RECORD(SHOAL_ALL_RECORDS)));
      for (std::int64_t record = 0; record < 3; ++record) {
        CHECK(times.get({record}) == 1.5 * static_cast<double>(record));
        check_record(file, record, [](int) { return false; });
      }
      lat.fill(0);
      ok(shoal_get(file, "lat", lat.c(), nullptr));
      for_cells(Box::whole({k_each * world_size()}),
                [&](const Dims& i) { CHECK(lat.get(i) == value_of(3, i)); });
      version = -1;
      ok(shoal_get(file, "version", &one, nullptr));
      CHECK(version == 2);
      ok(shoal_close(&file, 0));
    }
  }
}
