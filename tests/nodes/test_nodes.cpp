// What is true only of nodes that are apart; run.sh starts this program on them. TEST_NODES: how many they
// are.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include "comm/nodes.hpp"
#include "faults/support.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

int nodes_asked_for() {
  const char* text = std::getenv("TEST_NODES");
  return text == nullptr ? 0 : std::atoi(text);
}

std::string format_asked_for() {
  const char* text = std::getenv("TEST_FORMAT");
  return text == nullptr ? "cdf5" : text;
}

std::string host_name() {
  std::array<char, 256> name{};
  REQUIRE(gethostname(name.data(), name.size() - 1) == 0);
  return name.data();
}

std::vector<std::string> of_all(const Comm& comm, const std::string& mine) {
  std::vector<std::string> all;
  ByteWriter out;
  out.put(mine);
  for (const Bytes& bytes : comm.all_gather(out.take()))
    all.push_back(ByteReader(bytes).get<std::string>());
  return all;
}

constexpr std::int64_t k_cells = 40000;
constexpr std::int64_t k_committed = 3;

}  // namespace

TEST_CASE("nodes are the machines that MPI was started on") {
  const Comm comm(MPI_COMM_WORLD);
  const Nodes nodes(comm, 0);
  const auto hosts = of_all(comm, host_name());
  const auto indices = comm.all_gather(std::int64_t{nodes.index()});
  std::map<std::string, std::int64_t> index_of;  // a new host gets the next number
  std::string list;
  for (std::size_t r = 0; r < hosts.size(); ++r) {
    const auto [entry, is_new] = index_of.try_emplace(hosts[r], static_cast<std::int64_t>(index_of.size()));
    CHECK(indices[r] == entry->second);
    list += " " + std::to_string(indices[r]);
  }
  CHECK(nodes.count() == static_cast<int>(index_of.size()));
  if (nodes_asked_for() > 0) CHECK(nodes.count() == nodes_asked_for());
  if (comm.rank() == 0) MESSAGE("nodes: ", comm.size(), " ranks on ", nodes.count(), " nodes:", list);
}

TEST_CASE("nodes do not see each other's shared memory") {
  const Comm comm(MPI_COMM_WORLD);
  const Nodes nodes(comm, 0);
  // Several runs at a time on a machine that is one node do not meet.
  const std::int64_t run = comm.max(std::int64_t{comm.rank() == 0 ? getpid() : 0});
  const auto name_of_node = [&](int index) {
    return "/shoal-apart-" + std::to_string(run) + "-" + std::to_string(index);
  };
  const std::string own = name_of_node(nodes.index());
  const bool first = nodes.node().rank() == 0;
  if (first) {
    const int fd = shm_open(own.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    CHECK(fd >= 0);
    if (fd >= 0) close(fd);
  }
  comm.barrier();
  for (int index = 0; index < nodes.count(); ++index) {
    const int fd = shm_open(name_of_node(index).c_str(), O_RDWR, 0600);
    CHECK((fd >= 0) == (index == nodes.index()));
    if (fd >= 0) close(fd);
  }
  comm.barrier();
  if (first) shm_unlink(own.c_str());
}

TEST_CASE("ranks_per_node makes no node of ranks that share no memory") {
  const Comm comm(MPI_COMM_WORLD);
  const auto hosts = of_all(comm, host_name());
  for (const int per_node : {1, 2, 3}) {
    const Nodes nodes(comm, per_node);
    CHECK(nodes.node().size() <= per_node);
    for (const auto& host : of_all(nodes.node(), host_name()))
      CHECK(host == host_name());
    std::map<std::string, int> ranks;
    for (const auto& host : hosts)
      ++ranks[host];
    int expected = 0;
    for (const auto& [host, count] : ranks)
      expected += (count + per_node - 1) / per_node;
    CHECK(nodes.count() == expected);
  }
}

TEST_CASE("a folder that each node has for itself is refused, and nobody waits") {
  const Comm comm(MPI_COMM_WORLD);
  const Nodes nodes(comm, 0);
  const Quick quick;
  const std::string path = nodes.single() ? "own.nc" : "/dev/shm/each-its-own.nc";
  const auto remove = [&] {
    comm.barrier();
    if (nodes.node().rank() == 0) std::remove(path.c_str());
    comm.barrier();
  };
  for (const bool one_is_there : {false, true}) {  // on other nodes, of an earlier run
    CAPTURE(one_is_there);
    remove();
    if (one_is_there && nodes.index() > 0 && nodes.node().rank() == 0) std::ofstream(path) << "old";
    comm.barrier();
    Line line(k_cells);
    DatasetOptions at_once;
    at_once.settings = "replace=at_once";  // else the new file has a name of its own, which nobody has
    const Outcome outcome = outcome_of([&] {
      auto file = Dataset::create(MPI_COMM_WORLD, path, at_once);
      line.define(*file);
      file->write(line.call(0));
      file->close(false);
    });
    if (nodes.single()) {
      all_ok(outcome);
    } else {
      all_got(outcome, Code::io,
              {path, one_is_there ? "has another file" : "has no such file", "layout=node"});
    }
  }
  // A file for each process is what such folders are for.
  remove();
  Line line(k_cells);
  DatasetOptions options;
  options.settings = "layout=process";
  all_ok(outcome_of([&] {
    auto file = Dataset::create(MPI_COMM_WORLD, path, options);
    line.define(*file);
    file->write(line.call(0));
    file->close(false);
  }));
  comm.barrier();
  for (int r = 0; r < comm.size(); ++r)
    std::remove((path + ".000" + std::to_string(r)).c_str());
  remove();
}

// Run by themselves, with --no-skip: the first ends the job. TEST_FORMAT: the format of the file.
TEST_CASE("killed: a rank of the last node, after three records were committed" * doctest::skip()) {
  Line line(k_cells);
  auto file =
      Dataset::create(MPI_COMM_WORLD, "killed.nc", options_with("format=" + format_asked_for(), -1, {}));
  line.define(*file);
  for (std::int64_t record = 0; record < 2 * k_committed; ++record) {
    file->write(line.call(record));
    if (record + 1 == k_committed) file->sync(false);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == world_size() - 1) kill(getpid(), SIGKILL);
  file->sync(false);  // where the others wait for the one that is no more
}

TEST_CASE("killed: what was committed is there" * doctest::skip()) {
  Line line(k_cells);
  const auto file = Dataset::open(MPI_COMM_WORLD, "killed.nc", false, {});
  CHECK(file->schema().dims[0].length == k_committed);
  for (std::int64_t record = 0; record < k_committed; ++record)
    line.check(*file, record);
  file->close(false);
}
