// The setting machine: where its file is found, and what datasets do by it.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "dataset/dataset.hpp"
#include "machine/machine_file.hpp"

using namespace shoal;

namespace {

constexpr std::int64_t k_kib = 1024, k_mib = 1024 * k_kib;

/// Nodes lose much by turns of less than 1 MiB; two ranks of a node write twice as fast as one.
Machine some_machine() {
  Machine machine;
  machine.node.copy_bytes_per_second = 5e9;
  machine.node.message_seconds = 5e-6;
  machine.node.message_bytes_per_second = 5e9;
  FileSystemFigures f;
  f.mount_point = "/";
  f.kind = "lustre";
  f.measured = date_of_today();
  f.by_writers = {{1, 2}, {1e9, 2e9}};
  f.by_nodes = {{1, 2, 8}, {1e9, 2e9, 8e9}};
  f.by_size = {{64 * k_kib, k_mib}, {4e9, 4e9}};
  f.in_turns = {{64 * k_kib, k_mib}, {0.1e9, 4e9}};
  machine.file_systems = {f};
  return machine;
}

/// The path of a file with this text, which rank 0 has written.
std::string file_of(const Comm& comm, const std::string& path, const std::string& text) {
  comm.on_root([&] {
    const auto folder = std::filesystem::path(path).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder);
    std::ofstream(path) << text;
  });
  return path;
}

DatasetOptions with(const std::string& settings, const std::string& kind = "lustre") {
  DatasetOptions options;
  options.settings = "quiet=true" + (settings.empty() ? "" : ", " + settings);
  options.sources = {"", ""};
  options.find_file_system = [kind](const std::string&) { return file_system_named(kind); };
  options.lustre_libraries = {"no such library.so"};
  return options;
}

/// The report of a dataset whose ranks each have so many cells of 8 bytes in each row, once it is written and
/// read back.
std::string report_of(const Comm& comm, const DatasetOptions& options, std::int64_t cells = 8192) {
  const Dims shape{16, cells * comm.size()};
  const Box mine{{0, cells * comm.rank()}, {16, cells}};
  const auto cut = Decomposition::block(comm, shape, mine, Dims(2, 0), Dims(2, 0));
  auto file = Dataset::create(MPI_COMM_WORLD, "machine.nc", options);
  file->def_dim("time", 0);
  file->def_dim("y", shape[0]);
  file->def_dim("x", shape[1]);
  file->def_var("v", Type::double_, "time y x", cut);
  std::vector<double> values(static_cast<std::size_t>(mine.cells()), 1 + comm.rank());
  DataCall call;
  call.variable = "v";
  call.section.record = 0;
  call.array.cells = ArrayView::contiguous(values.data(), Type::double_, mine.count);
  file->write(call);
  file->sync(false);
  std::fill(values.begin(), values.end(), 0);
  file->read(call);
  CHECK(std::count(values.begin(), values.end(), 1.0 + comm.rank()) == mine.cells());
  std::string report = file->report_text();
  file->close(false);
  return report;
}

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

std::string error_of(const Comm& comm, const DatasetOptions& options) {
  try {
    report_of(comm, options);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("figures of the machine choose, and the report says so") {
  const Comm comm(MPI_COMM_WORLD);
  const bool several = comm.size() > 1;
  const std::string path = file_of(comm, "set_machine.toml", text_of(some_machine()));
  const std::string plain = report_of(comm, with("ranks_per_node=1, machine=none"));
  CHECK(has(plain, "\"machine\": null"));
  CHECK(!has(plain, "predicted"));
  CHECK(!has(plain, ": rearrange: "));
  const std::string chosen = report_of(comm, with("ranks_per_node=1, machine=" + path));
  CHECK(has(chosen, "\"path\": \"set_machine.toml\""));
  CHECK(has(chosen, "machine: writers=2: 2 ranks of a node write 2.0 times as fast as 1"));
  CHECK(has(chosen, "predicted: local "));
  CHECK(has(chosen, ": rearrange: ") == several);  // in turns of 64 KiB nodes lose
  CHECK(has(chosen, "\"warnings\": []"));
  // What is set stays.
  const std::string set =
      report_of(comm, with("ranks_per_node=1, writers=1, rearrange=off, machine=" + path));
  CHECK(!has(set, "machine: writers"));
  CHECK(!has(set, ": rearrange: "));
  CHECK(has(set, "predicted: local "));
}

TEST_CASE("nodes with different numbers of ranks choose the same") {
  const Comm comm(MPI_COMM_WORLD);
  // By its own number of writers, a node of two ranks would store its cells, and a node of one rank send
  // them.
  Machine machine = some_machine();
  machine.file_systems.front().by_writers = {{1, 2}, {0.1e9, 4e9}};
  machine.file_systems.front().by_nodes = {{1, 2, 8}, {0.1e9, 0.2e9, 0.8e9}};
  machine.file_systems.front().in_turns = {{64 * k_kib, k_mib}, {0.4e9, 4e9}};
  const std::string path = file_of(comm, "set_nodes.toml", text_of(machine));
  const std::string report = report_of(comm, with("ranks_per_node=2, machine=" + path), 32 * k_kib);
  CHECK(has(report, ": local: "));
}

TEST_CASE("default figures choose, where nothing was measured and nodes are in each other's way") {
  const Comm comm(MPI_COMM_WORLD);
  const bool several = comm.size() > 1;
  for (const char* kind : {"lustre", "gpfs", "beegfs", "0x9fa0"}) {
    const std::string report = report_of(comm, with("ranks_per_node=1", kind));
    CHECK(has(report, "\"machine\": null"));
    CHECK(!has(report, "predicted"));
    CHECK(has(report, ": rearrange: ") == several);
    CHECK(has(report, "; 1 I/O rank stores 1 box of ") == several);  // smaller than one box may be
    const bool known = std::string(kind) != "0x9fa0";
    const std::string figures = known ? kind : "a file system that is not known";
    CHECK(has(report, "times as slow (default figures of " + figures) == several);
    // I/O ranks that are set have boxes of any size.
    const std::string set = report_of(comm, with("ranks_per_node=1, io_ranks_per_node=1", kind));
    CHECK(!has(set, "default figures"));
    CHECK(has(set, std::to_string(comm.size()) + " I/O ranks store ") == several);
  }
  const std::string striped = report_of(comm, with("ranks_per_node=1, stripe_count=2"));
  CHECK(has(striped,
            "I/O ranks on 2 nodes at most: more of them write no faster (default figures of lustre "
            "with 2 stripes)") == several);
  CHECK(!has(report_of(comm, with("ranks_per_node=1", "ceph")), ": rearrange: "));
}

TEST_CASE("a machine file is found beside shoal.toml, unless none is wanted") {
  const Comm comm(MPI_COMM_WORLD);
  file_of(comm, "found/machine.toml", text_of(some_machine()));
  DatasetOptions options = with("");
  options.sources.toml = "found/shoal.toml";  // which need not be there
  CHECK(has(report_of(comm, options), "\"path\": \"found/machine.toml\""));
  options.settings = "quiet=true, machine=none";
  CHECK(has(report_of(comm, options), "\"machine\": null"));
  CHECK(has(report_of(comm, with("")), "\"machine\": null"));
}

TEST_CASE("figures that do not fit are passed over with a warning, wrong files refused by all ranks") {
  const Comm comm(MPI_COMM_WORLD);
  const std::string path = file_of(comm, "fit_machine.toml", text_of(some_machine()));
  const std::string other = report_of(comm, with("machine=" + path, "ext4"));
  CHECK(has(other, "\"machine\": null"));
  CHECK(has(other, "is lustre, and here it is ext4"));
  const std::string bad = file_of(comm, "bad_setting.toml", "shoal_machine = 1\n[node]\ncore = 3\n");
  CHECK(has(error_of(comm, with("machine=" + bad)), "bad_setting.toml: "));
  CHECK(has(error_of(comm, with("machine=" + bad)), "did you mean 'cores'"));
  CHECK(has(error_of(comm, with("machine=nowhere.toml")), "no such machine file"));
  CHECK(has(error_of(comm, with("driver=gather, machine=" + path)), "choose driver native"));
}
