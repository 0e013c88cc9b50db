// SPDX-License-Identifier: BSD-3-Clause
// A run of a model on a file system that fails: records are committed one by one, and what
// docs/reliability.md promises is looked at on all ranks. run.py starts it on mounts of labfs, and says what
// has to fail.
//   lab_faults FILE LAYOUT EXPECTED STALL
// LAYOUT    one, node: of the files
// EXPECTED  name of the code that a sync has to give once, or ok
// STALL     seconds for which a server does nothing; 0: none does
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <shoal/shoal.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::int64_t k_rows = 64, k_columns = 1024;  // of a rank: 256 KiB
constexpr int k_records = 6;

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int ranks_of(MPI_Comm comm) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

/// Ends the test on all ranks.
void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "lab_faults: rank %d: %s\n", rank_of(MPI_COMM_WORLD), what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// The code of a call; all ranks must have the same one, and its message when it failed.
std::string code_of(const std::function<void()>& call, std::string& message) {
  std::string name = "SHOAL_OK";
  int code = SHOAL_OK;
  try {
    call();
  } catch (const shoal::Error& error) {
    name = error.name();
    code = static_cast<int>(error.code());
    message = error.what();
  }
  int least = code, most = code;
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  require(least == most, "ranks have different codes; here it is " + name + ": " + message);
  return name;
}

class Model {
 public:
  Model(std::string path, const std::string& layout)
      : path_(std::move(path)),
        ranks_(ranks_of(MPI_COMM_WORLD)),
        rank_(rank_of(MPI_COMM_WORLD)),
        tiles_(shoal::Decomposition::block(MPI_COMM_WORLD, {k_rows * ranks_, k_columns}, {k_rows * rank_, 0},
                                           {k_rows, k_columns})),
        cells_(static_cast<std::size_t>(k_rows * k_columns)),
        file_(shoal::Dataset::create(MPI_COMM_WORLD, path_, shoal::Settings{}.layout(layout))) {
    file_.def_dim("time", SHOAL_UNLIMITED);
    file_.def_dim("y", k_rows * ranks_);
    file_.def_dim("x", k_columns);
    file_.def_var("zeta", shoal::Type::float_, "time y x", tiles_);
    file_.end_define();
  }
  void write_and_sync(int record) {
    std::fill(cells_.begin(), cells_.end(), value(record));
    file_.write("zeta", {cells_.data(), {k_rows, k_columns}}, record);
    file_.sync();
  }
  void close() { file_.close(); }
  /// Of this rank, by its report.
  double seconds(const std::string& row) const {
    const std::string report = file_.report(), begin = '"' + row + "\": {\"min\": ";
    const std::size_t at = report.find(begin);
    require(at != std::string::npos, "the report has no seconds of " + row + ": " + report);
    return std::atof(report.c_str() + at + begin.size());
  }
  /// Each of these records has its values, for a program that opens the file now. Of a set, files of nodes
  /// that did not fail may have more of them.
  void check(int records) {
    shoal::Dataset again =
        shoal::Dataset::open(MPI_COMM_WORLD, path_, shoal::Mode::read, "missing_tiles=common");
    for (int record = 0; record < records; ++record) {
      std::fill(cells_.begin(), cells_.end(), -1.0F);
      again.read("zeta", tiles_, {cells_.data(), {k_rows, k_columns}}, record);
      const bool right =
          std::all_of(cells_.begin(), cells_.end(), [&](float cell) { return cell == value(record); });
      require(right, "committed record " + std::to_string(record) + " has other values");
    }
    again.close();
  }

 private:
  float value(int record) const { return static_cast<float>(100 * record + rank_); }

  std::string path_;
  int ranks_, rank_;
  shoal::Decomposition tiles_;
  std::vector<float> cells_;
  shoal::Dataset file_;
};

/// Committed records stay through a sync that fails, for who reads at once, too; then the run goes on.
void fail_once(Model& model, const std::string& expected, const std::string& path) {
  int committed = 0, failures = 0;
  while (committed < k_records && failures < 2) {
    std::string message;
    const std::string code = code_of([&] { model.write_and_sync(committed); }, message);
    if (code == "SHOAL_OK") {
      ++committed;
      continue;
    }
    ++failures;
    require(code == expected, "sync gave " + code + " in place of " + expected + ": " + message);
    require(message.find(path) != std::string::npos, "the message does not name the file: " + message);
    require(committed > 0,
            "the failure came before the first commit, of which nothing is promised: " + message);
    model.check(committed);
  }
  require(failures > 0 || expected == "SHOAL_OK", "no sync failed");
  const bool goes_on = failures < 2;
  require(goes_on || expected == "SHOAL_NO_SPACE", "the run did not go on after the failure");
  std::string message;
  const std::string code = code_of([&] { model.close(); }, message);
  require(code == "SHOAL_OK" || (!goes_on && code == expected), "close gave " + code + ": " + message);
  model.check(committed);
}

/// All ranks have all their records after a server has stalled; ranks of which node waited, their report
/// says.
void stall(Model& model, double seconds, bool files_of_nodes) {
  const auto begin = std::chrono::steady_clock::now();
  for (int record = 0; record < k_records; ++record)
    model.write_and_sync(record);
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  require(took > 0.9 * seconds, "nothing stalled");
  const int nodes = std::atoi(std::getenv("LABFS_CLIENTS"));
  const int node = rank_of(MPI_COMM_WORLD) / (ranks_of(MPI_COMM_WORLD) / nodes);
  std::vector<double> stored(static_cast<std::size_t>(nodes), 0);
  stored[static_cast<std::size_t>(node)] = model.seconds("store");
  MPI_Allreduce(MPI_IN_PLACE, stored.data(), nodes, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const auto waited =
      std::count_if(stored.begin(), stored.end(), [&](double s) { return s > 0.8 * seconds; });
  // A file of its own for each node lies on a server of its own.
  require(files_of_nodes ? waited == 1 : waited >= 1,
          std::to_string(waited) + " of " + std::to_string(nodes) + " nodes have waited by their reports");
  model.close();
  model.check(k_records);
}

/// A rank that does not come in time is an error on all ranks, and nobody waits for the end of the stall.
void time_out(Model& model) {
  std::string message;
  std::string code;
  for (int record = 0; record < k_records && (code.empty() || code == "SHOAL_OK"); ++record)
    code = code_of([&] { model.write_and_sync(record); }, message);
  require(code == "SHOAL_TIMEOUT", "sync gave " + code + " in place of SHOAL_TIMEOUT: " + message);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  shoal::abort_on_error();
  if (argc != 5) require(false, "usage: lab_faults FILE LAYOUT EXPECTED STALL");
  const std::string path = argv[1], layout = argv[2], expected = argv[3];
  const double seconds = std::atof(argv[4]);
  Model model(path, layout);
  if (expected == "SHOAL_TIMEOUT")
    time_out(model);
  else if (seconds > 0)
    stall(model, seconds, layout == "node");
  else
    fail_once(model, expected, path);
  if (rank_of(MPI_COMM_WORLD) == 0) std::puts("passed");
  MPI_Finalize();
}
