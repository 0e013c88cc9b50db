// What follows from the kind of file system, without having it: drivers are told that they are on one.
#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "comm/nodes.hpp"
#include "dataset/dataset.hpp"
#include "driver/registry.hpp"
#include "support/builds.hpp"
#include "support/faulty_store.hpp"
#include "support/random_tiles.hpp"
#include "support/watched_store.hpp"

using namespace shoal;
using testing::block_of;
using testing::random_tiles;

namespace {

/// What stores of this rank were asked to do.
struct Noted {
  int writes = 0, reads = 0, syncs = 0;
};

DatasetOptions on(const std::string& type, const std::string& settings, Noted* noted = nullptr) {
  DatasetOptions options;
  options.settings = settings;
  options.find_file_system = [type](const std::string&) { return file_system_named(type); };
  options.lustre_libraries = {"no such library.so"};
  if (noted != nullptr)
    options.open_store = testing::watched({[noted](std::uint64_t, std::size_t) { ++noted->writes; },
                                           [noted] { ++noted->reads; }, [noted] { ++noted->syncs; }});
  return options;
}

double value_at(std::int64_t record, const Dims& index) {
  double value = static_cast<double>(record + 1);
  for (const auto i : index)
    value = value * 100 + static_cast<double>(i);
  return value;
}

template <class Visit>
void for_cells(const Box& box, Visit visit) {
  for (std::int64_t i = 0; i < box.cells(); ++i) {
    Dims index = unravel(i, box.count);
    for (int d = 0; d < box.rank(); ++d)
      index[d] += box.first[d];
    visit(index, static_cast<std::size_t>(i));
  }
}

DataCall call_of(std::vector<double>& values, const Box& box, std::int64_t record,
                 const std::shared_ptr<const Decomposition>& cut) {
  DataCall call;
  call.variable = "v";
  call.decomposition = cut;
  call.section.record = record;
  call.array.cells = ArrayView::contiguous(values.data(), Type::double_, box.count);
  return call;
}

void write_record(Dataset& file, std::int64_t record, const std::shared_ptr<const Decomposition>& cut) {
  std::vector<double> values(static_cast<std::size_t>(cut->tile().cells()));
  for_cells(cut->tile(), [&](const Dims& index, std::size_t i) { values[i] = value_at(record, index); });
  file.write(call_of(values, cut->tile(), record, cut));
}

bool warns(const Driver& driver, const std::string& words) {
  const auto& warnings = driver.counters().warnings;
  return std::any_of(warnings.begin(), warnings.end(),
                     [&](const auto& w) { return w.find(words) != std::string::npos; });
}

DriverOptions driver_on(const std::string& type, int ranks_per_node) {
  DriverOptions options;
  options.rearranging.ranks_per_node = ranks_per_node;
  options.system.find_file_system = [type](const std::string&) { return file_system_named(type); };
  return options;
}

}  // namespace

TEST_CASE("on NFS one node stores and fetches for all, and flushes what it stored") {
  const Comm comm(MPI_COMM_WORLD);
  const bool several = comm.size() > 1;
  for (int round = 0; round < 8; ++round) {
    CAPTURE(round);
    std::mt19937 random(static_cast<unsigned>(700 + round));
    const std::string format =
        std::array{"cdf5", "netcdf4", "cdf1", "netcdf4"}[static_cast<std::size_t>(round % 4)];
    const bool compressed = round % 4 == 3;
    const int per_node = round < 4 ? 1 : 2;
    const bool beside_root = Nodes(comm, per_node).index() == 0;
    const Dims shape{23, 37};
    const auto cut = block_of(comm, shape, random_tiles(shape, comm.size(), round % 2 == 1, random), 1);
    const std::string settings = "quiet=true, format=" + format +
                                 ", ranks_per_node=" + std::to_string(per_node) +
                                 (compressed ? ", compression=shuffle+deflate:1, chunks=1x5x8" : "");
    Noted noted;
    {
      auto file = Dataset::create(MPI_COMM_WORLD, "nfs.nc", on("nfs", settings, &noted));
      file->def_dim("time", 0);
      file->def_dim("y", shape[0]);
      file->def_dim("x", shape[1]);
      file->def_var("v", Type::double_, "time y x", cut);
      for (int record = 0; record < 3; ++record)
        write_record(*file, record, cut);
      file->sync(false);
      // Only ranks of the first node had the file in their hands; those that wrote also brought it down.
      if (!beside_root) CHECK(noted.writes == 0);
      if (noted.writes > 0) CHECK(noted.syncs > 0);
      if (comm.rank() == 0) CHECK(noted.writes > 0);
      // Written again after it was read, by other tiles, halos included.
      const auto other = block_of(comm, shape, random_tiles(shape, comm.size(), false, random), 2);
      write_record(*file, 1, other);
      for (const bool halo : {false, true}) {
        Box around = other->tile();
        for (int d = 0; halo && d < around.rank(); ++d) {
          around.first[d] -= 2;
          around.count[d] += 4;
        }
        std::vector<double> found(static_cast<std::size_t>(around.cells()), -1);
        file->read(call_of(found, around, 1, other));
        const Box seen = other->tile().empty() ? other->tile() : intersection(around, Box::whole(shape));
        for_cells(seen, [&](const Dims& index, std::size_t) {
          CHECK(found[static_cast<std::size_t>(position_in(index, around))] == value_at(1, index));
        });
      }
      if (!beside_root) CHECK(noted.reads == 0);
      file->close(false);
    }
    // Opened to read, every node reads for itself.
    noted = {};
    auto file =
        Dataset::open(MPI_COMM_WORLD, "nfs.nc", false, on("nfs", "quiet=true, ranks_per_node=1", &noted));
    for (int record = 0; record < 3; ++record) {
      std::vector<double> own(static_cast<std::size_t>(cut->tile().cells()), -1);
      file->read(call_of(own, cut->tile(), record, cut));
      for_cells(cut->tile(),
                [&](const Dims& index, std::size_t i) { CHECK(own[i] == value_at(record, index)); });
    }
    if (!cut->tile().empty() && several) CHECK(noted.reads > 0);
    file->close(false);
  }
}

TEST_CASE("on NFS ranks that read different records are told so") {
  const Comm comm(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  const auto cut = Decomposition::block(comm, {3, 4 * comm.size()}, Box({0, 4 * comm.rank()}, {3, 4}),
                                        Dims{0, 0}, Dims{0, 0});
  auto file = Dataset::create(MPI_COMM_WORLD, "mixed.nc", on("nfs", "quiet=true, ranks_per_node=1"));
  file->def_dim("time", 0);
  file->def_dim("y", 3);
  file->def_dim("x", 4 * comm.size());
  file->def_var("v", Type::double_, "time y x", cut);
  for (int record = 0; record < 2; ++record)
    write_record(*file, record, cut);
  std::vector<double> found(12, -1);
  const Status status =
      caught([&] { file->read(call_of(found, cut->tile(), comm.rank() == 1 ? 1 : 0, cut)); });
  CHECK(status.code == Code::out_of_step);
  file->read(call_of(found, cut->tile(), 1, cut));
  for_cells(cut->tile(), [&](const Dims& index, std::size_t i) { CHECK(found[i] == value_at(1, index)); });
  file->close(false);
}

TEST_CASE("on NFS a full disk of the node that stores is an error of all") {
  const Comm comm(MPI_COMM_WORLD);
  const auto cut =
      Decomposition::block(comm, {4 * comm.size()}, Box({4 * comm.rank()}, {4}), Dims{0}, Dims{0});
  DatasetOptions options = on("nfs", "quiet=true, ranks_per_node=1");
  options.open_store = with_fault(open_posix_store, {"sync", 0, -1, ENOSPC});
  auto file = Dataset::create(MPI_COMM_WORLD, "full.nc", options);
  file->def_dim("time", 0);
  file->def_dim("x", 4 * comm.size());
  file->def_var("v", Type::double_, "time x", cut);
  write_record(*file, 0, cut);
  CHECK(caught([&] { file->sync(false); }).code == Code::no_space);
  caught([&] { file->close(false); });
}

TEST_CASE("on NFS a rank with bad values is an error of all") {
  const Comm comm(MPI_COMM_WORLD);
  const auto cut =
      Decomposition::block(comm, {4 * comm.size()}, Box({4 * comm.rank()}, {4}), Dims{0}, Dims{0});
  auto file = Dataset::create(MPI_COMM_WORLD, "bad.nc", on("nfs", "quiet=true, ranks_per_node=1"));
  file->def_dim("x", 4 * comm.size());
  file->def_var("v", Type::float_, "x", cut);
  std::vector<double> values(4, comm.rank() == comm.size() - 1 ? 1e300 : 1.0);
  DataCall call = call_of(values, cut->tile(), 0, cut);
  call.section = {};
  file->write(call);
  Status status = caught([&] { file->sync(false); });
  CHECK(status.code == Code::range);
  CHECK(status.message.find("1e+300") != std::string::npos);
  file->close(false);
}

TEST_CASE("caches of clients are a warning where several nodes write") {
  const Comm comm(MPI_COMM_WORLD);
  const bool several = comm.size() > 1;
  const bool on_one_machine = Nodes(comm, 0).single();
  for (const auto& kind : registered_drivers()) {
    const std::string name = kind.name;
    if (!testing::in_this_build("driver=" + name)) continue;
    CAPTURE(name);
    const Format format = name == "netcdf" ? Format::netcdf4 : Format::cdf5;
    const auto made = [&](const std::string& type, int ranks_per_node) {
      comm.barrier();  // of one that is there, how it is replaced would be a warning, too
      if (comm.rank() == 0) std::remove("cached.nc");
      comm.barrier();
      return make_driver(name, comm, "cached.nc", OpenMode::create, format, driver_on(type, ranks_per_node));
    };
    for (const std::string type : {"glusterfs", "nfs", "lustre", "ext4"}) {
      CAPTURE(type);
      const auto driver = made(type, 1);
      const bool unsafe = several && name != "gather" && (type == "glusterfs" || type == "nfs");
      CHECK(driver->counters().file_system == type);
      CHECK(!driver->counters().warnings.empty() == unsafe);
      if (unsafe && type == "glusterfs") CHECK(warns(*driver, "performance.write-behind"));
      if (unsafe && type == "nfs") CHECK(warns(*driver, name == "native" ? "store for all" : "noac"));
      driver->close(false);
    }
    // One node, whose kernel has all there is.
    const auto driver = made("glusterfs", 0);
    CHECK(driver->counters().warnings.empty() == (on_one_machine || name == "gather"));
    driver->close(false);
    // Who only reads loses nothing.
    const auto reader = make_driver(name, comm, "cached.nc", OpenMode::read, format, driver_on("nfs", 1));
    CHECK(reader->counters().warnings.empty());
    reader->close(false);
  }
}

TEST_CASE("a node that has mounted GlusterFS otherwise than rank 0's is found") {
  const Comm comm(MPI_COMM_WORLD);
  const bool last = comm.rank() == comm.size() - 1;
  DriverOptions options;
  options.rearranging.ranks_per_node = 1;
  for (const auto& kind : registered_drivers()) {
    if (kind.make == nullptr || kind.name == std::string("gather")) continue;
    const std::string name = kind.name;
    CAPTURE(name);
    for (const bool all_alike : {true, false}) {
      options.system.find_file_system = [=](const std::string&) {
        FileSystem where = file_system_named("glusterfs");
        if (all_alike || !last) where.sharing = FileSystem::Sharing::coherent;
        if (!all_alike && last) where.caches = {"direct-io-mode=enable"};
        return where;
      };
      const auto driver = make_driver(name, comm, "otherwise.nc", OpenMode::create,
                                      name == "netcdf" ? Format::netcdf4 : Format::cdf5, options);
      CHECK(warns(*driver, "mount with -o direct-io-mode=enable;") == (comm.size() > 1 && !all_alike));
      CHECK(driver->counters().warnings.empty() == (comm.size() == 1 || all_alike));
      driver->close(false);
    }
  }
}

TEST_CASE("on NFS, ranks of other nodes that are chosen to store are a warning") {
  const Comm comm(MPI_COMM_WORLD);
  DriverOptions options = driver_on("nfs", 1);
  options.rearranging.io_ranks = comm.size();
  const auto driver = make_native_driver(comm, "chosen.nc", OpenMode::create, Format::cdf5, options);
  CHECK(warns(*driver, "choose ranks of other nodes") == (comm.size() > 1));
  driver->close(false);
}

TEST_CASE("stripes that are asked for where there is no Lustre are a warning, bad ones an error") {
  const Comm comm(MPI_COMM_WORLD);
  for (const std::string name : {"native", "mpiio"}) {
    DriverOptions options = driver_on("ext4", 0);
    options.stripes.count = 4;
    const auto driver = make_driver(name, comm, "striped.nc", OpenMode::create, Format::cdf5, options);
    CHECK(warns(*driver, "for Lustre") == (comm.rank() == 0));
    driver->close(false);
  }
  for (const std::string bad : {"100000", "4GiB", "-1"})
    CHECK(caught([&] {
            Dataset::create(MPI_COMM_WORLD, "striped.nc", on("lustre", "stripe_bytes=" + bad));
          }).code == Code::setting);
}

TEST_CASE("on Lustre new files are made by its library, or lfs, or libraries get hints") {
  namespace fs = std::filesystem;
  const Comm comm(MPI_COMM_WORLD);
  const std::string before = std::getenv("PATH");
  const fs::path bin = fs::absolute("bin");
  if (comm.rank() == 0) {  // notes its arguments, and makes the file, which is the last of them
    fs::create_directories(bin);
    fs::remove(bin / "calls");
    std::ofstream(bin / "lfs") << "#!/bin/sh\necho \"$*\" >> " << bin.string()
                               << "/calls\nfor last; do :; done\n: > \"$last\"\n";
    fs::permissions(bin / "lfs", fs::perms::owner_all);
    setenv("PATH", (bin.string() + ":" + before).c_str(), 1);
  }
  const auto cut =
      Decomposition::block(comm, {4 * comm.size()}, Box({4 * comm.rank()}, {4}), Dims{0}, Dims{0});
  for (const auto& kind : registered_drivers()) {
    const std::string name = kind.name;
    CAPTURE(name);
    if (!testing::in_this_build("driver=" + name)) continue;
    const bool by_hints = name == "pnetcdf" || name == "netcdf";
    const std::string settings = "quiet=true, stripe_count=2, stripe_bytes=1MiB, driver=" + name +
                                 (name == "netcdf" ? ", format=netcdf4" : ", format=cdf5");
    for (const std::string exists : {"replace", "replace", "error"}) {
      if (comm.rank() == 0) {
        fs::remove(bin / "calls");
        if (exists == "error") fs::remove("lustre.nc");
      }
      comm.barrier();
      DatasetOptions options = on("lustre", settings + ", exists=" + exists);
      const bool by_library = exists == "error";
      if (by_library) options.lustre_libraries = {SHOAL_FAKE_LUSTREAPI};
      if (by_library && comm.rank() == 0) fs::remove("calls");
      auto file = Dataset::create(MPI_COMM_WORLD, "lustre.nc", options);
      file->def_dim("time", 0);
      file->def_dim("x", 4 * comm.size());
      file->def_var("v", Type::double_, "time x", cut);
      file->def_var("fixed", Type::double_, "x", cut);
      write_record(*file, 0, cut);
      const auto where = file->placement(1);
      if (name == "native" && where) CHECK(where->begin % (1024 * 1024) == 0);
      CHECK((name != "native" || where.has_value()));
      std::vector<double> found(4, -1);
      file->read(call_of(found, cut->tile(), 0, cut));
      for_cells(cut->tile(),
                [&](const Dims& index, std::size_t i) { CHECK(found[i] == value_at(0, index)); });
      file->close(false);
      if (comm.rank() != 0) continue;
      std::ifstream calls(by_library ? fs::path("calls") : bin / "calls");
      std::string line;
      std::getline(calls, line);
      const std::string first =
          by_library ? "llapi_file_create 1048576 -1 2 0 " : "setstripe -c 2 -S 1048576 ";
      CHECK((line.rfind(first, 0) == 0) == !by_hints);
    }
    if (!by_hints) continue;
    DriverOptions options = driver_on("lustre", 0);
    options.stripes.count = 2;
    const auto driver = make_driver(name, comm, "lustre.nc", OpenMode::create,
                                    name == "netcdf" ? Format::netcdf4 : Format::cdf5, options);
    const auto& counters = driver->counters();
    CHECK(counters.hints_taken.size() + counters.hints_dropped.size() == 1);
    driver->close(false);
  }
  comm.barrier();
  setenv("PATH", before.c_str(), 1);
}
