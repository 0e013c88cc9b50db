// A disk that fills up under the libraries of other drivers, and gets room again: no file that lacks
// something passes for whole.
#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "driver/file/mpi_info.hpp"
#include "driver/library/free_space_guard.hpp"
#include "driver/registry.hpp"
#include "faults/support.hpp"
#include "storage/holes.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

bool has(const std::string& driver, const std::string& format) {
  for (const auto& kind : registered_drivers()) {
    const auto formats = formats_of(kind);
    if (driver == kind.name && kind.make != nullptr)
      return std::find(formats.begin(), formats.end(), format) != formats.end();
  }
  return false;
}

Outcome write_and_sync(Dataset& file, Line& line, std::int64_t record) {
  return outcome_of([&] {
    file.write(line.call(record));
    file.sync(false);
  });
}

/// Bytes of a file, behind what may be a hole.
void put_bytes(const std::string& path, std::int64_t offset, std::size_t count) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(offset);
  const std::vector<char> bytes(count, 'x');
  file.write(bytes.data(), static_cast<std::streamsize>(count));
}

/// Records until one fails; how many did not.
std::int64_t fill_up(Dataset& file, Line& line) {
  for (std::int64_t record = 0; record < 1000; ++record) {
    const Outcome outcome = write_and_sync(file, line, record);
    if (outcome.code == Code::ok) continue;
    all_got(outcome, Code::no_space, {"small.nc"});
    return record;
  }
  FAIL("never full");
  return 0;
}

}  // namespace

TEST_CASE("once netCDF failed to write, each sync and close of driver gather says so, room or none") {
  for (const std::string format : {"netcdf4", "netcdf4-classic", "cdf5"})
    for (const bool room : {true, false}) {
      if (!has("gather", format)) continue;
      CAPTURE(format);
      CAPTURE(room);
      const Quick quick;
      const SmallFolder folder("small-tmpfs-gather");
      if (!folder.is_there()) return;
      Line line(2000);
      DatasetOptions options;
      options.settings = "driver=gather, format=" + format;
      auto file = Dataset::create(MPI_COMM_WORLD, folder.file(), options);
      line.define(*file);
      const std::int64_t committed = fill_up(*file, line);
      const std::vector<std::string> words{"small.nc", "not whole", "No space left", "anew", "native"};
      if (room) folder.grow();
      for (std::int64_t record = committed; record < committed + 2; ++record)
        all_got(write_and_sync(*file, line, record), Code::no_space, words);
      all_got(outcome_of([&] { file->sync(false); }), Code::no_space, words);
      all_got(outcome_of([&] { file->close(false); }), Code::no_space, words);
    }
}

TEST_CASE("driver gather goes on in formats that no library writes, once there is room") {
  const Quick quick;
  const SmallFolder folder("small-tmpfs-gather-raw");
  if (!folder.is_there()) return;
  Line line(2000);
  DatasetOptions options;
  options.settings = "driver=gather, format=raw";
  auto file = Dataset::create(MPI_COMM_WORLD, folder.file(), options);
  line.define(*file);
  const std::int64_t committed = fill_up(*file, line);
  folder.grow();
  all_ok(write_and_sync(*file, line, committed));
  all_ok(outcome_of([&] { file->close(false); }));
  check_records(line, folder.file(), committed + 1);
}

TEST_CASE("driver netcdf on one rank: once it failed to write, each sync and close says so") {
  if (world_size() > 1 || !has("netcdf", "netcdf4")) return;  // other ranks could wait in HDF5 for ever
  const Quick quick;
  const SmallFolder folder("small-tmpfs-netcdf");
  if (!folder.is_there()) return;
  Line line(2048);
  DatasetOptions options;
  options.settings = "driver=netcdf, format=netcdf4";
  auto file = Dataset::create(MPI_COMM_WORLD, folder.file(), options);
  line.define(*file);
  Outcome failed;
  std::int64_t record = 0;
  while (failed.code == Code::ok && record < 1000)
    failed = write_and_sync(*file, line, record++);
  REQUIRE(failed.code != Code::ok);
  if (failed.message.find("free there") != std::string::npos) return;  // found before the library was asked
  folder.grow();
  all_got(write_and_sync(*file, line, record - 1), failed.code, {"small.nc", "not whole", "native"});
  all_got(outcome_of([&] { file->close(false); }), failed.code, {"small.nc", "not whole", "native"});
}

// 64 records are all that the device has room for, but for the header: the last block of the last record has
// none, which the sum of all blocks does not say.
TEST_CASE("no sync of MPI-IO confirms records whose last block has no room") {
  if (!is_ompio(".")) return;  // other libraries say it, and may leave ranks in their call
  for (const std::string settings :
       {"driver=mpiio, format=cdf5", "driver=mpiio, format=cdf1", "driver=pnetcdf, format=cdf5"}) {
    const auto driver = settings.substr(7, settings.find(',') - 7);
    if (!has(driver, settings.substr(settings.size() - 4))) continue;
    CAPTURE(settings);
    const Quick quick;
    const SmallFolder folder("small-tmpfs-mpiio");
    if (!folder.is_there()) return;
    Line line(2048);
    DatasetOptions options;
    options.settings = settings + ", access=collective";
    auto file = Dataset::create(MPI_COMM_WORLD, folder.file(), options);
    line.define(*file);
    const std::int64_t committed = fill_up(*file, line);
    CHECK(committed == 63);
    // Still reported, though nothing more is written.
    all_got(outcome_of([&] { file->sync(false); }), Code::no_space, {"small.nc", "'v'", "not on the device"});
    folder.grow();
    all_got(outcome_of([&] { file->sync(false); }), Code::no_space, {"small.nc", "'v'", "not on the device"});
    all_ok(write_and_sync(*file, line, committed));
    all_ok(outcome_of([&] { file->close(false); }));
    check_records(line, folder.file(), committed + 1);
  }
}

TEST_CASE("holes count among the cells that were written, and nowhere else") {
  if (!reports_holes(file_system_of(".").type)) return;
  constexpr std::int64_t k_block = 1 << 16;  // bytes, as many as any file system keeps together
  const std::string path = "holes_" + std::to_string(world_rank()) + ".data";
  std::ofstream(path).put('x');
  put_bytes(path, 3 * k_block, k_block);  // the first block is there in part, the next two are holes
  Schema schema;
  schema.dims = {{"time", 4, true}, {"x", k_block / 8, false}};
  VariableDef field;
  field.name = "field";
  field.type = Type::double_;
  field.dims = {0, 1};
  schema.variables = {field};
  Placement place;
  place.chunk = Dims{1, k_block / 8};
  place.stride = k_block;
  const auto record = [&](std::int64_t index) { return Box({index, 0}, {1, k_block / 8}); };
  FreeSpaceGuard room(path, free_space_of, true);
  const auto check = [&] { return caught([&] { room.check_stored(schema, {place}); }); };

  CHECK(check().ok());
  room.note(schema, 0, record(3));
  CHECK(check().ok());
  room.note(schema, 0, record(2));
  room.note(schema, 0, record(3));
  const Status missing = check();
  CHECK(missing.code == Code::no_space);
  CHECK(missing.text().find("'field'") != std::string::npos);
  CHECK(missing.text().find("byte " + std::to_string(2 * k_block)) != std::string::npos);
  room.note(schema, 0, record(1));
  room.forget();  // as it was not stored; the other one is still missing
  CHECK(check().code == Code::no_space);
  put_bytes(path, 2 * k_block, k_block);
  CHECK(check().ok());
  room.note(schema, 0, Box({4, 5}, {1, 1}));  // behind the end
  CHECK(check().code == Code::no_space);
  std::filesystem::remove(path);
}
