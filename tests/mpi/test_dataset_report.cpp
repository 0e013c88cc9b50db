// The report: figures of all ranks in JSON and a table, and advice that fits the figures.
#include <doctest/doctest.h>
#include <mpi.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "base/language.hpp"
#include "comm/host.hpp"
#include "comm/nodes.hpp"
#include "dataset/report/report.hpp"
#include "shoal/shoal.h"

using namespace shoal;

namespace {

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int size_of_world() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has(const std::string& text, const std::string& words) {
  const bool found = text.find(words) != std::string::npos;
  CHECK_MESSAGE(found, "'", text, "' does not hold '", words, "'");
  return found;
}

void write_dataset(const std::string& path, const std::string& settings) {
  const std::int64_t n = 100 * size_of_world();
  const std::int64_t first = 100 * rank_of_world();
  const std::int64_t count = 100;
  shoal_decomposition* cut = nullptr;
  REQUIRE(shoal_block(MPI_COMM_WORLD, 1, &n, &first, &count, nullptr, nullptr, &cut) == SHOAL_OK);
  shoal_dataset* file = nullptr;
  REQUIRE(shoal_create(MPI_COMM_WORLD, path.c_str(), settings.c_str(), &file) == SHOAL_OK);
  CHECK(shoal_def_dim(file, "x", n) == SHOAL_OK);
  CHECK(shoal_def_var(file, "v", SHOAL_DOUBLE, "x", cut) == SHOAL_OK);
  std::vector<double> values(100, 1.0);
  const shoal_array array = shoal_array_of(values.data(), SHOAL_DOUBLE, 1, &count);
  CHECK(shoal_write(file, "v", nullptr, &array, nullptr) == SHOAL_OK);
  has(shoal_report(file), "\"fields_written\": 1");
  CHECK(shoal_close(&file, 0) == SHOAL_OK);
  shoal_decomposition_free(&cut);
}

DatasetReport invented() {
  DatasetReport report{"his.nc", "cdf5", "native", 2, {}};
  report.of_ranks.resize(2);
  for (auto& rank : report.of_ranks) {
    Counters& c = rank.counters;
    c.write_calls = 10;
    c.pack = 2;
    c.store = 2;
    c.bytes_written = 1000LL * 1024 * 1024;
    c.writes = 500;
    c.fields_written = 50;
    c.stage_bytes = 256LL * 1024 * 1024;
    c.stage_high_water = c.stage_bytes;
  }
  return report;
}

}  // namespace

TEST_CASE("reports are added to one file, or written to one each") {
  if (rank_of_world() == 0)
    for (const char* name : {"report.json", "report.txt", "run-one.json", "run-one.txt"})
      unlink(name);
  MPI_Barrier(MPI_COMM_WORLD);
  write_dataset("one.nc", "report=report.json");
  write_dataset("two.nc", "report=report.json, stage_bytes=32MiB");
  write_dataset("one.nc", "report=run-%s.json");
  MPI_Barrier(MPI_COMM_WORLD);
  const std::string lines = content("report.json");
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 2);
  has(lines, "\"file\": \"one.nc\"");
  has(lines, "\"file\": \"two.nc\"");
  has(lines, "\"ranks_reported\": " + std::to_string(size_of_world()));
  has(lines, "\"fields_written\": " + std::to_string(size_of_world()));
  has(lines, "\"stage_bytes\": {\"value\": \"32MiB\", \"from\": \"argument\"}");
  const std::string table = content("report.txt");
  has(table, "Shoal report: two.nc");
  has(table, "advice");
  has(content("run-one.json"), "\"advice\": ");
  has(content("run-one.txt"), "Shoal report: one.nc");
}

TEST_CASE("the report says which way fields went over several nodes, and why") {
  const int size = size_of_world();
  if (!Nodes(Comm(MPI_COMM_WORLD), 0).single()) return;  // what is counted here is of made nodes
  const auto report_of = [&](const std::string& settings, bool scattered) {
    const std::int64_t n = 1000 * size;
    std::vector<std::int64_t> cells;
    for (std::int64_t i = 0; i < 1000; ++i)
      cells.push_back(scattered ? i * size + rank_of_world() : rank_of_world() * 1000 + i);
    shoal_decomposition* map = nullptr;
    REQUIRE(shoal_map(MPI_COMM_WORLD, 1, &n, 0, 1000, cells.data(), &map) == SHOAL_OK);
    shoal_dataset* file = nullptr;
    REQUIRE(shoal_create(MPI_COMM_WORLD, "way.nc", settings.c_str(), &file) == SHOAL_OK);
    CHECK(shoal_def_dim(file, "x", n) == SHOAL_OK);
    CHECK(shoal_def_var(file, "v", SHOAL_DOUBLE, "x", map) == SHOAL_OK);
    std::vector<double> values(1000, 1.0);
    const std::int64_t count = 1000;
    const shoal_array array = shoal_array_of(values.data(), SHOAL_DOUBLE, 1, &count);
    CHECK(shoal_write(file, "v", nullptr, &array, nullptr) == SHOAL_OK);
    const std::string report = shoal_report(file);
    CHECK(shoal_close(&file, 0) == SHOAL_OK);
    shoal_decomposition_free(&map);
    return report;
  };
  has(report_of("", true), "\"strategies\": []");
  if (size != 4) return;
  has(report_of("ranks_per_node=2", true),
      "4000 cut by a map, 8-byte values: rearrange: nodes would store 2000 runs of 16 bytes; 4 I/O ranks "
      "store 4 "
      "boxes of ");
  has(report_of("ranks_per_node=2", true), "\"messages\": 1,");
  has(report_of("ranks_per_node=2", false), "local: nodes store 2 runs of ");
  has(report_of("ranks_per_node=2, rearrange=off", true),
      "local: rearrange=off; nodes store 2000 runs of 16 bytes\"");
  has(report_of("ranks_per_node=2, rearrange=on", false),
      "rearrange: rearrange=on; 4 I/O ranks store 4 boxes");
  has(report_of("io_ranks=1", false), "rearrange: I/O ranks are set; 1 I/O rank stores 1 box of ");
}

TEST_CASE("a report that cannot be written is refused when the file is opened") {
  shoal_dataset* file = nullptr;
  CHECK(shoal_create(MPI_COMM_WORLD, "x.nc", "report=no-folder/r.json", &file) == SHOAL_SETTING);
  has(shoal_error_message(), "no-folder");
  CHECK(file == nullptr);
}

TEST_CASE("the table says where ranks share cores") {
  DatasetReport r = invented();
  r.of_ranks[0].counters.ranks_per_node = 2;
  CHECK(table_of(r, Settings()).find("share") == std::string::npos);
  r.cores = 2;
  CHECK(table_of(r, Settings()).find("share") == std::string::npos);
  r.cores = 1;
  has(table_of(r, Settings()), "2 ranks share 1 core:");
  has(json_of(r, Settings()), "\"cores_per_node\": 1");
  CHECK(cores_of_host() > 0);
}

TEST_CASE("the report names the node that spent most time on system calls") {
  DatasetReport report{"slow.nc", "cdf5", "native", 6, {}};
  for (int r = 0; r < 6; ++r) {
    RankReport rank;
    rank.host = "node" + std::to_string(r / 2);
    rank.counters.writes = r % 2 == 0 ? 5 : 0;  // one rank of each node stores
    rank.counters.store = r % 2 == 0 ? 0.3 : 0;
    report.of_ranks.push_back(rank);
  }
  const Settings settings;
  CHECK(!slow_node(report, &Counters::store, &Counters::writes));
  CHECK(json_of(report, settings).find("\"slow_nodes\": {}") != std::string::npos);
  report.of_ranks[2].counters.store = 2.5;
  has(table_of(report, settings),
      "slow node     ranks on node1 spent 2.500 s in 'store', those of the median node 0.300 s\n");
  has(json_of(report, settings),
      "\"slow_nodes\": {\"store\": {\"host\": \"node1\", \"seconds\": 2.5, \"median\": 0.3}}");
  // Neither short times nor a node alone are worth a word.
  report.of_ranks[2].counters.store = 0.39;
  CHECK(!slow_node(report, &Counters::store, &Counters::writes));
  report.of_ranks[2].counters.store = 2.5;
  for (RankReport& rank : report.of_ranks)
    rank.host = "node1";
  CHECK(!slow_node(report, &Counters::store, &Counters::writes));
}

TEST_CASE("advice names the figure that is bad") {
  const Settings settings;
  CHECK(advice_of(invented(), settings) == "nothing to improve");
  {
    const Speaking of_pio(Language::pio);
    DatasetReport r = invented();
    for (auto& rank : r.of_ranks)
      rank.counters.blocked = 3.1;
    has(advice_of(r, settings), "set SHOAL_STAGE_BYTES to 512 MiB or more");
    r = invented();
    for (auto& rank : r.of_ranks)
      rank.counters.fields_written = 100000;
    has(advice_of(r, settings), "100000 calls of PIO_write_darray moved");
  }
  {
    DatasetReport r = invented();
    for (auto& rank : r.of_ranks)
      rank.counters.blocked = 3.1;
    CHECK(advice_of(r, settings) ==
          "ranks waited 31 % of the write time (3.1 s) for a free stage slot: set stage_bytes to 512 MiB or "
          "more");
    for (auto& rank : r.of_ranks)
      rank.counters.stage_high_water = 1024;
    has(advice_of(r, settings), "balance the work");
    for (auto& rank : r.of_ranks)
      rank.counters.store = 4.5;
    has(advice_of(r, settings), "for the file system");
    // A thread has all the time that the file is open.
    Settings background;
    background.set("background", "thread", "argument");
    for (auto& rank : r.of_ranks) {
      rank.open_seconds = 100;
      rank.counters.stage_high_water = rank.counters.stage_bytes;
    }
    has(advice_of(r, background), "ranks waited 31 % of the write time (3.1 s) for a free stage slot");
    for (auto& rank : r.of_ranks)
      rank.counters.store = 45;
    has(advice_of(r, background), "for the file system");
    for (auto& rank : r.of_ranks)
      rank.counters.encode = 90;
    has(advice_of(r, background), "choose a lower level");
  }
  {
    DatasetReport r = invented();
    r.of_ranks[0].counters.commits = r.of_ranks[1].counters.commits = 40;
    r.of_ranks[0].counters.commit = r.of_ranks[1].counters.commit = 10;
    has(advice_of(r, settings), "50 % of the output time went into 40 commits: call sync less often");
    const Speaking of_pio(Language::pio);
    has(advice_of(r, settings), "40 commits: set SHOAL_PIO_SYNC=lazy, so that PIO_syncfile");
  }
  {
    DatasetReport r = invented();
    for (auto& rank : r.of_ranks)
      rank.counters.writes = 200000;
    has(advice_of(r, settings), "writes were small, 5.1 KiB");
  }
  {
    DatasetReport r = invented();
    r.of_ranks[0].counters.pack = 20;
    r.of_ranks[1].counters.pack = 1e-3;
    r.of_ranks.resize(5);
    has(advice_of(r, settings), "one rank packs 5.0 times");
  }
  {
    DatasetReport r = invented();
    for (auto& rank : r.of_ranks)
      rank.counters.fields_written = 100000;
    has(advice_of(r, settings), "100000 calls of write");
  }
  {
    DatasetReport r = invented();
    r.of_ranks[0].counters.warnings.push_back("the stage was made smaller; give /dev/shm more room");
    has(advice_of(r, settings), "shared memory is short");
  }
}
