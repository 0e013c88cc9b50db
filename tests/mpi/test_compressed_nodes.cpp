// Compressed fields whose chunks have cells of several nodes: who reads, and what the report says.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "comm/nodes.hpp"
#include "decomp/decomposition.hpp"
#include "shoal/shoal.h"

using namespace shoal;

namespace {

constexpr std::int64_t k_levels = 7, k_rows = 6, k_columns = 40;

double value(std::int64_t level, std::int64_t row, std::int64_t column) {
  return static_cast<double>(10000 * level + 100 * row + column);
}

int rank() {
  return Comm(MPI_COMM_WORLD).rank();
}
int size() {
  return Comm(MPI_COMM_WORLD).size();
}

void ok(int code) {
  REQUIRE_MESSAGE(code == SHOAL_OK, shoal_error_message());
}

/// Columns of each rank, of all rows, with a halo of one cell on both sides.
struct Tile {
  std::int64_t begin = k_columns * rank() / size(), end = k_columns * (rank() + 1) / size();
  shoal_decomposition* handle = nullptr;

  Tile() {
    const std::array<std::int64_t, 2> global{k_rows, k_columns}, first{0, begin}, count{k_rows, end - begin},
        halo{0, 1};
    ok(shoal_block(MPI_COMM_WORLD, 2, global.data(), first.data(), count.data(), halo.data(), halo.data(),
                   &handle));
  }
  ~Tile() { shoal_decomposition_free(&handle); }
  Tile(const Tile&) = delete;
  Tile& operator=(const Tile&) = delete;
};

/// Levels of this rank's columns, with so many more on both sides.
struct Array {
  std::int64_t low, levels, first, columns;
  std::vector<double> values;
  std::array<std::int64_t, 3> extents, start, count;

  Array(const Tile& tile, std::int64_t low_level, std::int64_t n, std::int64_t more)
      : low(low_level),
        levels(n),
        first(tile.begin - more),
        columns(tile.end - tile.begin + 2 * more),
        values(static_cast<std::size_t>(n * k_rows * columns), -1),
        extents{n, k_rows, columns},
        start{low_level, 0, 0},
        count{n, k_rows, k_columns} {}
  shoal_array c() { return shoal_array_of(values.data(), SHOAL_DOUBLE, 3, extents.data()); }
  template <class Visit>
  void for_each(Visit visit) {
    std::size_t i = 0;
    for (std::int64_t l = low; l < low + levels; ++l)
      for (std::int64_t r = 0; r < k_rows; ++r)
        for (std::int64_t c = first; c < first + columns; ++c)
          visit(values[i++], c >= 0 && c < k_columns ? value(l, r, c) : -1);
  }
};

shoal_dataset* created(const std::string& settings, const std::string& chunks = "2x3x8") {
  shoal_dataset* file = nullptr;
  const std::string all =
      "quiet=true, wait_seconds=60, format=netcdf4, compression=deflate:1, chunks=" + chunks + settings;
  ok(shoal_create(MPI_COMM_WORLD, "coded.nc", all.c_str(), &file));
  ok(shoal_def_dim(file, "z", k_levels));
  ok(shoal_def_dim(file, "y", k_rows));
  ok(shoal_def_dim(file, "x", k_columns));
  return file;
}

void write(shoal_dataset* file, const Tile& tile) {
  ok(shoal_def_var(file, "v", SHOAL_DOUBLE, "z y x", tile.handle));
  Array all(tile, 0, k_levels, 0);
  all.for_each([](double& cell, double wanted) { cell = wanted; });
  const shoal_array array = all.c();
  ok(shoal_write(file, "v", nullptr, &array, nullptr));
}

void check_read(shoal_dataset* file, const Tile& tile, std::int64_t low, std::int64_t levels,
                std::int64_t more) {
  Array part(tile, low, levels, more);
  const shoal_array array = part.c();
  ok(shoal_read(file, "v", tile.handle, &array,
                SHOAL_SECTION(SHOAL_NO_RECORD, 3, part.start.data(), part.count.data())));
  int wrong = 0;
  part.for_each([&](double cell, double wanted) { wrong += cell == wanted ? 0 : 1; });
  CHECK(wrong == 0);
}

/// A number of this rank's report.
std::int64_t reported(shoal_dataset* file, const std::string& name) {
  const std::string report = shoal_report(file);
  const auto at = report.find("\"" + name + "\"");
  REQUIRE_MESSAGE(at != std::string::npos, "no ", name, " in ", report);
  return std::atoll(report.c_str() + report.find(':', at) + 1);
}

}  // namespace

TEST_CASE("compressed tiles are fetched by I/O ranks alone, where these are set") {
  const Tile tile;
  for (const std::string nodes : {"", ", ranks_per_node=1", ", ranks_per_node=2"}) {
    CAPTURE(nodes);
    const std::string settings = nodes + ", io_ranks=1";
    shoal_dataset* file = created(settings);
    write(file, tile);
    for (const bool open : {false, true}) {
      CAPTURE(open);
      if (open) {
        ok(shoal_close(&file, 0));
        ok(shoal_open(MPI_COMM_WORLD, "coded.nc", SHOAL_READ, ("wait_seconds=60" + settings).c_str(), &file));
      }
      for (const std::int64_t more : {0, 1}) {
        check_read(file, tile, 0, k_levels, more);
        check_read(file, tile, 3, 1, more);
        check_read(file, tile, 1, 4, more);
      }
      if (rank() != 0) CHECK(reported(file, "reads") == 0);
    }
    CHECK((rank() != 0 || reported(file, "reads") > 0));
    // What was decoded for some levels is there for others of the same chunks.
    const std::int64_t before = reported(file, "reads");
    for (std::int64_t level = 0; level < 6; ++level)
      check_read(file, tile, level, 1, 0);
    CHECK(reported(file, "reads") == before);
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("the report says of compressed fields which way they went, and how many chunks nodes cut") {
  if (size() != 4 || !Nodes(Comm(MPI_COMM_WORLD), 0).single()) return;  // figures of made nodes
  const Tile
      tile;  // 10 columns; chunks of 8: of five in a row the second and the fourth have two ranks' cells
  const auto report_of = [&](const std::string& settings, bool reads) {
    shoal_dataset* file = created(settings);
    write(file, tile);
    if (reads) check_read(file, tile, 0, k_levels, 0);
    const std::string report = shoal_report(file);
    ok(shoal_close(&file, 0));
    return report;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, "no '", part, "' in ", text);
  };
  const std::string field = "6x40 cut into tiles, 8-byte values x 7 in chunks of 2x3x8: ";
  // Four layers of levels and two of rows, of five chunks each. Nodes meet at column 20, in the third.
  has(report_of(", ranks_per_node=2", false),
      field + "rearrange: a chunk is compressed as a whole; 8 of 40 chunks have cells of several nodes, ");
  has(report_of(", ranks_per_node=2", false), "; 4 ranks compress 40 chunks\"");
  has(report_of(", ranks_per_node=1", false), "24 of 40 chunks have cells of several nodes, ");
  // All but rank 0's cells.
  has(report_of(", ranks_per_node=1, io_ranks=1", false),
      field +
          "rearrange: I/O ranks are set; 24 of 40 chunks have cells of several nodes, 9.8 KiB of 13.1 KiB go "
          "to "
          "another node; 1 rank compresses 40 chunks\"");
  has(report_of(", io_ranks=1", false),
      field + "rearrange: I/O ranks are set; 1 rank compresses 40 chunks\"");
  // Each node wants three chunks of five in a row.
  has(report_of(", ranks_per_node=2", true),
      field + "local: each node decodes what its ranks read; nodes decode 48 chunks of 40\"");
  has(report_of("", true), "\"strategies\": []");
}

TEST_CASE("what is sent to fewer ranks than could compress is counted, too") {
  if (!Nodes(Comm(MPI_COMM_WORLD), 0).single()) return;
  const Tile tile;
  shoal_dataset* file = created(", ranks_per_node=1", "7x6x40");
  write(file, tile);
  const std::int64_t own = k_levels * k_rows * (tile.end - tile.begin) * 8;
  CHECK(reported(file, "messages") == (rank() == 0 ? 0 : 1));  // the one chunk is rank 0's
  CHECK(reported(file, "message_bytes") == (rank() == 0 ? 0 : own));
  ok(shoal_close(&file, 0));
}
