// Machine files, what their figures say of times, and what is chosen by them.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "machine/default_figures.hpp"
#include "machine/machine_file.hpp"
#include "rearrange/storing_choice.hpp"
#include "rearrange/strategy.hpp"
#include "storage/temporary_name.hpp"
#include "support/says.hpp"

using namespace shoal;

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t k_kib = 1024, k_mib = 1024 * k_kib;

/// A file system on which 4 ranks of a node write twice as fast as one, and nodes lose by turns below 1 MiB.
FileSystemFigures some_file_system(const std::string& mount_point, const std::string& kind = "lustre") {
  FileSystemFigures f;
  f.mount_point = mount_point;
  f.kind = kind;
  f.measured = "2026-11-25";
  f.version = "0.2.0";
  f.nodes = 4;
  f.ranks_per_node = 8;
  f.create_seconds = 0.5e-3;
  f.stripe_count = 1;
  f.stripe_bytes = k_mib;
  f.by_writers = {{1, 2, 4, 8}, {1e9, 1.6e9, 2e9, 2e9}};
  f.by_nodes = {{1, 2, 4}, {1e9, 2e9, 4e9}};
  f.by_size = {{64 * k_kib, k_mib, 4 * k_mib}, {2e9, 4e9, 4.1e9}};
  f.in_turns = {{64 * k_kib, k_mib, 4 * k_mib}, {0.1e9, 3.9e9, 4e9}};
  return f;
}

MachineFigures some_figures() {
  MachineFigures figures{"machine.toml", {}, some_file_system("/scratch")};
  figures.node.cores = 8;
  figures.node.copy_bytes_per_second = 5e9;
  figures.node.message_seconds = 5e-6;
  figures.node.message_bytes_per_second = 5e9;
  return figures;
}

/// A file in a folder that goes with it.
class Written {
 public:
  Written(const std::string& name, const std::string& text)
      : folder_(fs::temp_directory_path() / temporary_name("shoal_machine").substr(1)),
        path_(folder_ / name) {
    fs::create_directories(folder_);
    replace(text);
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  ~Written() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  void replace(const std::string& text) const { std::ofstream(path_) << text; }
  std::string folder() const { return folder_.string(); }
  std::string path() const { return path_.string(); }

 private:
  fs::path folder_, path_;
};

std::string error_of(const std::string& text) {
  const Written file("machine.toml", text);
  try {
    read_machine(file.path());
  } catch (const Error& e) {
    CHECK(e.status().file == file.path());
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("rates between rows and beyond them") {
  const RateTable table{{1, 4, 16}, {100, 200, 50}};
  CHECK(table.at_number(1) == 100);
  CHECK(table.at_number(2) == doctest::Approx(150));
  CHECK(table.at_number(4) == 200);
  CHECK(table.at_number(64) == 50);
  CHECK(table.at_size(0.5) == doctest::Approx(50));  // half as much in the same time
  CHECK(table.best() == 200);
  CHECK(table.first_with(0.4) == 1);
  CHECK(table.first_with(0.9) == 4);
  CHECK(RateTable{}.at_number(3) == 0);
  CHECK(RateTable{}.first_with(0.9) == 0);
}

TEST_CASE("a machine file is read as it was written") {
  Machine machine;
  machine.node = some_figures().node;
  machine.file_systems = {some_file_system("/scratch"), some_file_system("/home \"of\" all", "nfs")};
  const Written file("machine.toml", text_of(machine));
  const std::string path = file.path();
  CHECK(is_machine_file(path));
  const Machine read = read_machine(path);
  CHECK(text_of(read) == text_of(machine));
  REQUIRE(read.file_systems.size() == 2);
  CHECK(read.file_systems[0].by_size.at == machine.file_systems[0].by_size.at);
  CHECK(read.file_systems[0].by_size.bytes_per_second[2] == doctest::Approx(4.1e9));
  CHECK(read.file_systems[0].own_files.empty());
  CHECK(read.file_systems[1].mount_point == "/home \"of\" all");
  CHECK(read.node.message_seconds == doctest::Approx(5e-6));

  ByteWriter out;
  pack(out, MachineFigures{path, read.node, read.file_systems[0]});
  pack(out, std::nullopt);
  const Bytes bytes = out.take();
  ByteReader in(bytes);
  const auto unpacked = unpack_machine_figures(in);
  REQUIRE(unpacked);
  CHECK(unpacked->path == path);
  CHECK(unpacked->file_system.in_turns.at == read.file_systems[0].in_turns.at);
  CHECK(unpacked->node.cores == 8);
  CHECK(!unpack_machine_figures(in));
}

TEST_CASE("figures of a mount point are replaced, those of others stay") {
  Machine machine;
  replace_file_system(machine, some_file_system("/a"));
  replace_file_system(machine, some_file_system("/b"));
  replace_file_system(machine, some_file_system("/a", "gpfs"));
  REQUIRE(machine.file_systems.size() == 2);
  CHECK(machine.file_systems[0].kind == "gpfs");
  CHECK(machine.file_systems[1].mount_point == "/b");
}

TEST_CASE("what is wrong with a machine file is said, with its line") {
  const std::string head = "shoal_machine = 1\n";
  const std::string where =
      "[[file_system]]\nmount_point = \"/a\"\nkind = \"xfs\"\nmeasured = \"2026-01-02\"\n";
  says(error_of(""), "shoal_machine = 1 is missing");
  says(error_of(head + "nodes = 3\n"), "line 2: the file has no key 'nodes'; did you mean 'node'?");
  says(error_of(head + "[node]\ncopy_byte_per_second = 3\n"), "did you mean 'copy_bytes_per_second'");
  says(error_of(head + where + "stripe_byte = 1\n"),
       "[[file_system]] has no key 'stripe_byte'; did you mean 'stripe_bytes'");
  says(error_of(head + where + "[file_system.write_by_size]\nwriters = [1]\nbytes_per_second = [1.0]\n"),
       "write_bytes");
  says(error_of(head + where +
                "[file_system.write_by_size]\nwrite_bytes = [2, 1]\nbytes_per_second = [1.0, 2.0]\n"),
       "ascend");
  says(error_of(head + where + "[file_system.write_by_size]\nwrite_bytes = [1]\nbytes_per_second = []\n"),
       "as many");
  says(error_of(head + where + "[file_system.write_by_size]\nwrite_bytes = [1]\nbytes_per_second = [0]\n"),
       "above 0");
  says(error_of(head + where + "create_seconds = -1\n"),
       "line 6: 'create_seconds' is no number of 0 or more");
  says(error_of(head + where + "nodes = 0\n"), "1 or more");
  says(error_of(head + "[[file_system]]\nmount_point = \"a\"\nmeasured = \"2026-01-02\"\n"), "mount_point");
  says(error_of(head + "[[file_system]]\nmount_point = \"/a\"\nmeasured = \"2026-02-30\"\n"), "no date");
  says(error_of(head + "file_system = 3\n"), "no list of tables");
  says(error_of("shoal_machine = \n"), "line 1");
  CHECK(error_of(head + where) == "no error");
  CHECK_THROWS_AS(read_machine("nowhere.toml"), Error);
}

TEST_CASE("the file system of a path is the one with the longest mount point above it") {
  Machine machine;
  machine.file_systems = {some_file_system("/"), some_file_system("/scratch"),
                          some_file_system("/scratch/fast/")};
  const auto found = [&](const std::string& path) { return file_system_for(machine, path)->mount_point; };
  CHECK(found("/scratch/run/his.nc") == "/scratch");
  CHECK(found("/scratch/fast/his.nc") == "/scratch/fast/");
  CHECK(found("/scratches/his.nc") == "/");
  machine.file_systems.erase(machine.file_systems.begin());
  CHECK(file_system_for(machine, "/home/his.nc") == nullptr);
}

TEST_CASE("figures that are old, of another file system, or of none") {
  Machine machine;
  machine.file_systems = {some_file_system("/scratch")};
  const Written file("machine.toml", text_of(machine));
  const std::string path = file.path();
  const auto found = [&](const std::string& request, const std::string& dataset, const std::string& kind,
                         const std::string& today) {
    return find_machine(request, path, dataset, kind, today);
  };
  const FoundMachine good = found("auto", "/scratch/his.nc", "lustre", "2026-12-01");
  REQUIRE(good.figures);
  CHECK(good.warnings.empty());
  says(text_of(*good.figures), path + ", /scratch (lustre, measured 2026-11-25)");
  const FoundMachine old = found(path, "/scratch/his.nc", "lustre", "2027-11-26");
  CHECK(old.figures);
  REQUIRE(old.warnings.size() == 1);
  says(old.warnings[0], "366 days ago");
  says(old.warnings[0], "shoal tune /scratch");
  CHECK(found(path, "/scratch/his.nc", "lustre", "2027-11-25").warnings.empty());
  const FoundMachine foreign = found("auto", "/scratch/his.nc", "ext4", "2026-12-01");
  CHECK(!foreign.figures);
  REQUIRE(foreign.warnings.size() == 1);
  says(foreign.warnings[0], "is lustre, and here it is ext4");
  // One that was not asked for need not be about all folders.
  CHECK(found("auto", "/home/his.nc", "nfs", "2026-12-01").warnings.empty());
  const FoundMachine none = found(path, "/home/his.nc", "nfs", "2026-12-01");
  CHECK(!none.figures);
  REQUIRE(none.warnings.size() == 1);
  says(none.warnings[0], "no file system above /home/his.nc");
  CHECK(!found("none", "/scratch/his.nc", "lustre", "2026-12-01").figures);
  CHECK(!find_machine("auto", "shoal.toml", "/scratch/his.nc", "lustre", "2026-12-01").figures);
  file.replace("cores = 3\n");
  const FoundMachine other = found("auto", "/scratch/his.nc", "lustre", "2026-12-01");
  REQUIRE(other.warnings.size() == 1);
  says(other.warnings[0], "no machine file");
  CHECK_THROWS_AS(found(path, "/scratch/his.nc", "lustre", "2026-12-01"), Error);
}

TEST_CASE("times of storing, by figures") {
  const MachineFigures figures = some_figures();
  CHECK(store_seconds(figures, {4e9, 4, 1, k_mib, 0}) == doctest::Approx(1));
  CHECK(store_seconds(figures, {4e9, 4, 4, k_mib, 0}) == doctest::Approx(0.5));
  CHECK(store_seconds(figures, {4e9, 1, 1, k_mib, 0}) == doctest::Approx(4));
  CHECK(store_seconds(figures, {4e9, 4, 1, 64 * k_kib, 0}) == doctest::Approx(2));
  CHECK(store_seconds(figures, {4e9, 4, 1, 64 * k_kib, 64 * k_kib}) == doctest::Approx(40));
  // One node takes no turns; a table that is missing says nothing.
  CHECK(store_seconds(figures, {1e9, 1, 1, k_mib, 64 * k_kib}) == doctest::Approx(1));
  CHECK(store_seconds(MachineFigures{}, {1e9, 1, 1, k_mib, 0}) == 0);
  CHECK(message_seconds(figures, 5e9, 2, 2, 8) == doctest::Approx(1 + 0.25 + 40e-6));
  CHECK(message_seconds(figures, 5e9, 2, 1, 8) == doctest::Approx(1.5 + 0.5 + 40e-6));
  CHECK(harmless_turn(figures.file_system) == k_mib);
  CHECK(know_nodes(figures));
  MachineFigures one = figures;
  one.file_system.in_turns = {};
  CHECK(!know_nodes(one));
}

TEST_CASE("without figures nothing is chosen by them") {
  const StoringChoice choice = choose_storing(nullptr);
  CHECK(choice.writers == 1);
  CHECK(choice.slot_bytes == k_mib);
  CHECK(choice.io_ranks_of_node == 8);
  CHECK(choice.stripe_count == 0);
  CHECK(choice.why.empty());
  const MachineFigures nothing;
  const StoringChoice of_nothing = choose_storing(&nothing);
  CHECK(of_nothing.writers == 1);
  CHECK(of_nothing.why.empty());
}

TEST_CASE("what a file system's figures choose") {
  MachineFigures figures = some_figures();
  FileSystemFigures& f = figures.file_system;
  StoringChoice choice = choose_storing(&figures);
  CHECK(choice.writers == 4);
  CHECK(choice.io_ranks_of_node == 8);
  CHECK(choice.slot_bytes == 4 * k_mib);  // four writes of 1 MiB
  CHECK(choice.io_nodes == 0);
  CHECK(choice.least_box_bytes == k_mib);
  CHECK(choice.why.size() == 3);

  f.by_writers.bytes_per_second = {1e9, 1.05e9, 0.8e9, 0.3e9};
  choice = choose_storing(&figures);
  CHECK(choice.writers == 1);
  CHECK(choice.io_ranks_of_node == 2);
  CHECK(choice.slot_bytes == k_mib);

  f.by_size.bytes_per_second = {1e9, 2e9, 4e9};
  CHECK(choose_storing(&figures).slot_bytes == 4 * k_mib);

  f.in_turns = f.by_size;
  CHECK(choose_storing(&figures).least_box_bytes == 0);

  f.by_stripes = {{1, 2, 4, 8}, {1e9, 2e9, 3.9e9, 4e9}};
  f.by_nodes = {{1, 4}, {5e9, 5e9}};  // into caches, which says nothing of servers
  CHECK(choose_storing(&figures).stripe_count == 4);
  f.stripe_count = 3;  // 2.95e9
  CHECK(choose_storing(&figures).stripe_count == 0);
  f.stripe_count = 4;
  CHECK(choose_storing(&figures).stripe_count == 0);
}

TEST_CASE("nodes that gain nothing have no I/O ranks") {
  MachineFigures figures = some_figures();
  figures.file_system.by_nodes = {{1, 2, 4, 8}, {1e9, 2e9, 2.1e9, 1.9e9}};
  const StoringChoice choice = choose_storing(&figures);
  CHECK(choice.io_nodes == 2);
  CHECK(choice.why.size() == 4);
}

TEST_CASE("kinds of file systems that have figures without a measurement") {
  for (const char* kind : {"ext4", "tmpfs", "nfs", "glusterfs", "ceph", "fuse", ""})
    CHECK(!default_figures(kind, 0));
  const auto choice = [](const char* kind, std::int64_t stripes) {
    const auto figures = default_figures(kind, stripes);
    REQUIRE(figures);
    CHECK(!figures->measured());
    CHECK(know_nodes(*figures));
    return choose_storing(&*figures);
  };
  for (const std::int64_t stripes : {1, 2, 3, 4, 12, 100})
    CHECK(choice("lustre", stripes).io_nodes == stripes);
  for (const StoringChoice& c : {choice("lustre", 0), choice("gpfs", 0)}) {
    CHECK(c.io_nodes == 0);
    CHECK(c.least_box_bytes == 16 * k_mib);
    // All else as on other file systems.
    CHECK(c.writers == 1);
    CHECK(c.slot_bytes == k_mib);
    CHECK(c.io_ranks_of_node == 8);
    CHECK(c.stripe_count == 0);
  }
  CHECK(choice("beegfs", 0).io_nodes == 0);
  CHECK(choice("beegfs", 0).least_box_bytes == 4 * k_mib);
  CHECK(text_of(*default_figures("lustre", 4)) == "default figures of lustre with 4 stripes");
  CHECK(text_of(*default_figures("lustre", 65535)) == "default figures of lustre");
  CHECK(text_of(*default_figures("gpfs", 0)) == "default figures of gpfs");
  CHECK(text_of(*default_figures("0x9fa0", 0, false)) ==
        "default figures of a file system that is not known");
}

TEST_CASE("what was not measured of nodes is taken from default figures, at the rate that was measured") {
  MachineFigures measured{"machine.toml", {}, {}};
  FileSystemFigures& f = measured.file_system;
  f.kind = "lustre";
  f.by_size = {{1 << 16, 1 << 20}, {4e8, 4e8}};
  f.by_nodes = {{1, 2}, {4e8, 3e8}};
  complete_with_defaults(measured, default_figures("lustre", 2));
  CHECK(measured.default_turns);
  REQUIRE(know_nodes(measured));
  CHECK(f.by_nodes.at_number(2) == doctest::Approx(3e8));  // measured figures stay
  CHECK(choose_storing(&measured).io_nodes == 1);
  CHECK(f.in_turns.at_size(16 << 20) == doctest::Approx(f.by_size.at_size(16 << 20)));
  CHECK(f.in_turns.at_size(1 << 16) < 0.1 * f.by_size.at_size(1 << 16));
  f.by_nodes = {{1}, {4e8}};  // of a job of one node
  complete_with_defaults(measured, default_figures("lustre", 2));
  CHECK(f.by_nodes.at_number(1) == doctest::Approx(4e8));
  CHECK(f.by_nodes.at_number(2) == doctest::Approx(8e8));
  CHECK(choose_storing(&measured).io_nodes == 2);
  CHECK(text_of(measured).find("default figures") != std::string::npos);

  measured.default_turns = false;
  f.by_nodes = {{1, 2}, {4e8, 3e8}};
  complete_with_defaults(measured, default_figures("lustre", 2));  // nothing lacks
  CHECK_FALSE(measured.default_turns);
  CHECK(f.by_nodes.at_number(2) == doctest::Approx(3e8));

  MachineFigures other{"machine.toml", {}, {}};
  other.file_system.kind = "ext4";
  complete_with_defaults(other, default_figures("ext4", 0));
  CHECK_FALSE(know_nodes(other));
}

TEST_CASE("by default figures short runs are sent, and long ones stay") {
  const auto figures = default_figures("lustre", 4);
  CostModel model;
  model.figures = &*figures;
  FieldCounts counts;
  counts.bytes = counts.field_bytes = 256.0 * k_mib;
  counts.nodes = 4;
  counts.io_ranks = counts.io_nodes = 4;
  counts.box_runs = 4;
  counts.share_bytes = k_mib;
  counts.runs = 4096;  // of 64 KiB, which are long enough elsewhere
  CHECK(estimate_cost(counts, model).rearranging_pays());
  CHECK(!estimate_cost(counts).rearranging_pays());
  counts.runs = 16;  // of 16 MiB
  CHECK(!estimate_cost(counts, model).rearranging_pays());
}

namespace {

/// Four nodes with a run each, or one I/O rank with one box.
FieldCounts four_runs_or_one_box(double bytes) {
  FieldCounts counts;
  counts.nodes = 4;
  counts.field_bytes = counts.bytes = bytes;
  counts.runs = 4;
  counts.io_ranks = 1;
  counts.box_runs = 1;
  return counts;
}

}  // namespace

TEST_CASE("a node that would open the file to store its cells has to gain by it") {
  MachineFigures figures = some_figures();
  CostModel model;
  model.figures = &figures;
  FieldCounts counts = four_runs_or_one_box(64.0 * k_kib);
  figures.file_system.open_seconds = 0;
  const CostEstimate cost = estimate_cost(counts, model);
  REQUIRE(cost.timed);
  CHECK(cost.opens == 0);
  figures.file_system.open_seconds = 16 * (cost.rearranged + cost.local);
  CHECK(estimate_cost(counts, model).opens == doctest::Approx(2 * (cost.rearranged + cost.local)));
  CHECK(estimate_cost(counts, model).rearranging_pays());
  counts.io_ranks = counts.io_nodes = 4;  // all nodes store boxes
  counts.box_runs = 4;
  CHECK(estimate_cost(counts, model).opens == 0);
  // What ranks take together: of boxes those that have one, of their own cells all writers.
  counts.io_ranks = 1;
  counts.writers_of_node = 2;
  const CostEstimate both = estimate_cost(counts, model);
  CHECK(predicted_store(counts, true, model) == doctest::Approx(both.boxes));
  CHECK(predicted_store(counts, false, model) == doctest::Approx(8 * both.local));
  CHECK(predicted_store(counts, false, {}) == 0);
}

TEST_CASE("ranks that store parts of a run themselves take turns of these parts") {
  const auto figures = default_figures("lustre", 1);
  CostModel model;
  model.figures = &*figures;
  FieldCounts counts = four_runs_or_one_box(16.0 * k_mib);
  const CostEstimate nodes = estimate_cost(counts, model);
  CHECK(!nodes.rearranging_pays());
  counts.rank_run = 2.0 * k_mib;
  const CostEstimate ranks = estimate_cost(counts, model);
  CHECK(ranks.local > nodes.local);
  CHECK(ranks.rearranging_pays());
  counts.rank_run = 64.0 * k_mib;  // a run is no longer than it is
  CHECK(estimate_cost(counts, model).local == nodes.local);
}

TEST_CASE("cells are sent where the figures say that it takes less time") {
  const MachineFigures figures = some_figures();
  CostModel model;
  model.figures = &figures;
  const JobFacts four{4, false, {}, true};
  FieldCounts counts;
  counts.nodes = 4;
  counts.field_bytes = counts.bytes = 1024.0 * 64 * 1024;
  counts.share_bytes = k_mib;
  counts.io_ranks = 32;
  counts.box_runs = 32;
  counts.runs = 1024;  // of 64 KiB: long without figures, short where nodes lose by turns
  const Strategy by_cost = choose_strategy({}, four, {1024, 1024 * 16 * k_kib, 5}, model);
  CHECK(by_cost.rearranging == Rearranging::by_cost);
  CHECK(choose_strategy({}, four, {1024, 1024 * 16 * k_kib, 5}).rearranging == Rearranging::never);
  const CostEstimate cost = estimate_cost(counts, model);
  CHECK(cost.timed);
  CHECK(cost.rearranged < cost.local);
  CHECK(choose_field_strategy(by_cost, counts, model).rearrange);
  CHECK(!choose_field_strategy(by_cost, counts).rearrange);
  counts.runs = 16;  // of 4 MiB
  CHECK(!choose_field_strategy(by_cost, counts, model).rearrange);
  counts.runs = 65536;  // of 1 KiB, and messages that cost more than anything
  CHECK(choose_field_strategy(by_cost, counts, model).rearrange);
  MachineFigures slow = figures;
  slow.node.message_bytes_per_second = 1e4;
  model.figures = &slow;
  CHECK(!choose_field_strategy(by_cost, counts, model).rearrange);
  // Figures of one node say nothing of this.
  slow.file_system.in_turns = {};
  CHECK(!estimate_cost(counts, model).timed);
  CHECK(choose_field_strategy(by_cost, counts, model).rearrange);
  says(report_text({}, by_cost, {true, ""}, counts, model), "predicted: local ");
}
