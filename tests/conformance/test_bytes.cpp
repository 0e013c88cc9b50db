// The file does not depend on how the model was cut: files written on fewer ranks have the same bytes.
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <iterator>
#include <thread>

#include "conformance/support.hpp"
#include "support/parts.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

constexpr std::int64_t k_nx = 37;
constexpr std::int64_t k_ny = 11;
constexpr std::int64_t k_nz = 3;

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Box tile_of(int rank, int size, bool along_x) {
  const std::int64_t n = along_x ? k_nx : k_ny;
  const std::int64_t from = n * rank / size;
  const std::int64_t to = n * (rank + 1) / size;
  return along_x ? Box({0, from}, {k_ny, to - from}) : Box({from, 0}, {to - from, k_nx});
}

void write_file(MPI_Comm comm, const std::string& path, const std::string& format) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const Box tile = tile_of(rank, size, size % 2 == 0);
  const Cut cut(comm, {k_ny, k_nx}, tile, Dims(2), Dims(2));
  shoal_dataset* file = nullptr;
  ok(shoal_create(comm, path.c_str(), ("format=" + format).c_str(), &file));
  def_dim(file, "time", SHOAL_UNLIMITED);
  def_dim(file, "z", k_nz);
  def_dim(file, "y", k_ny);
  def_dim(file, "x", k_nx);
  ok(shoal_def_var(file, "time", SHOAL_DOUBLE, "time", nullptr));
  ok(shoal_def_var(file, "depth", SHOAL_SHORT, "y x", cut.handle()));
  ok(shoal_def_var(file, "temp", SHOAL_FLOAT, "time z y x", cut.handle()));
  ok(shoal_def_var(file, "flag", SHOAL_BYTE, "time y x", cut.handle()));
  ok(shoal_put_att(file, "temp", "units", SHOAL_CHAR, 7, "Celsius"));
  const auto write = [&](const char* name, int number, const Dims& levels, std::int64_t record) {
    TestArray array(SHOAL_DOUBLE, joined(levels, tile.count));
    for_cells(Box(joined(Dims(levels.size()), tile.first), joined(levels, tile.count)),
              [&](const Dims& index) {
                Dims at = index;
                for (int d = 0; d < 2; ++d)
                  at[levels.size() + d] -= tile.first[d];
                array.set(at, value_of(number, joined(Dims{record}, index)));
              });
    ok(shoal_write(file, name, nullptr, array.c(), SHOAL_RECORD(record)));
  };
  write("depth", 0, {}, SHOAL_NO_RECORD);
  for (const std::int64_t record : {0, 1, 2}) {
    double time = 0.5 * static_cast<double>(record);
    const shoal_array array = scalar(time, SHOAL_DOUBLE);
    ok(shoal_put(file, "time", &array, SHOAL_RECORD(record)));
    write("temp", 1, {k_nz}, record);
    write("flag", 2, {}, record);
    if (record == 1) ok(shoal_sync(file, 0));
  }
  ok(shoal_close(&file, 0));
}

}  // namespace

TEST_CASE("files written on any number of ranks have the same bytes") {
  if (skipped(is_native(), "MPI-IO leaves what it likes between variables")) return;
  for (const auto& format : in_part(formats())) {
    CAPTURE(format);
    std::string first;
    for (int ranks = 1; ranks <= world_size(); ++ranks) {
      const bool mine = world_rank() < ranks;
      MPI_Comm part = MPI_COMM_NULL;
      MPI_Comm_split(MPI_COMM_WORLD, mine ? 0 : MPI_UNDEFINED, 0, &part);
      const std::string path = "bytes-" + std::to_string(ranks) + ".nc";
      if (mine) {
        write_file(part, path, format);
        MPI_Comm_free(&part);
      }
      MPI_Barrier(MPI_COMM_WORLD);
      const std::string bytes = content(path);
      if (ranks == 1)
        first = bytes;
      else
        CHECK_MESSAGE(bytes == first, ranks, " ranks: ", bytes.size(), " bytes, ", first.size(),
                      " on one rank");
      MPI_Barrier(MPI_COMM_WORLD);
      if (world_rank() == 0) unlink(path.c_str());
    }
  }
}

TEST_CASE("files of equal contents have the same bytes at any time of day") {
  if (skipped(is_native(), "libraries store what time it is")) return;
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() == 0 ? 0 : MPI_UNDEFINED, 0, &part);
  if (world_rank() == 0) {
    const auto write_all = [&](const std::string& prefix) {
      for (const auto& format : formats())
        write_file(part, prefix + format, format);
    };
    write_all("time-1-");
    const std::time_t before = std::time(nullptr);
    while (std::time(nullptr) == before)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    write_all("time-2-");
    MPI_Comm_free(&part);
    for (const auto& format : formats()) {
      CAPTURE(format);
      const std::string one = "time-1-" + format, two = "time-2-" + format;
      CHECK(content(one) == content(two));
      unlink(one.c_str());
      unlink(two.c_str());
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}
