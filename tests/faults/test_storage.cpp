// Disks that fail on one rank: the same error on all, what was committed before stays, the file can be used
// on.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "comm/nodes.hpp"
#include "faults/support.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

// Slots this small that the ranks store while they write.
constexpr const char* k_small_stage = ", stage_bytes=128KiB, slot_bytes=64KiB";
constexpr std::int64_t k_cells = 40000;  // 320 kB a record

int culprit() {
  return world_size() - 1;
}

}  // namespace

TEST_CASE("a disk that is full on one rank") {
  for (const std::string format : {"cdf5", "netcdf4", "cdf5, rearrange=on", "netcdf4, io_ranks_per_node=1"})
    for (const int rank : {0, culprit()}) {
      CAPTURE(format);
      CAPTURE(rank);
      const Quick quick;
      Line line(k_cells);
      // Nodes of one rank make every rank store.
      DatasetOptions options = options_with("ranks_per_node=1, format=" + format + k_small_stage, -1, {});
      if (world_rank() == rank) options.open_store = with_fault_in_data({"write", 1, 1, 28});
      auto file = Dataset::create(MPI_COMM_WORLD, "full.nc", options);
      line.define(*file);
      Outcome failed;
      for (std::int64_t record = 0; record < 4 && failed.code == Code::ok; ++record)
        failed = outcome_of([&] {
          file->write(line.call(record));
          file->sync(false);
        });
      all_got(failed, Code::no_space, {"full.nc", "variable 'v'", "record "});
      const auto write_all = [&] {
        for (std::int64_t record = 0; record < 4; ++record)
          file->write(line.call(record));
        file->sync(false);
      };
      // Where threads store, the rank has two handles of the file, of which each fails once.
      const Outcome again = outcome_of(write_all);
      if (again.code != Code::ok) all_got(again, Code::no_space, {"full.nc", "variable 'v'", "record "});
      // The fault is over: everything can be written again.
      all_ok(outcome_of([&] {
        write_all();
        for (std::int64_t record = 0; record < 4; ++record)
          line.check(*file, record);
        file->close(false);
      }));
      check_records(line, "full.nc", 4);
    }
}

TEST_CASE("a disk that is full while chunks are compressed") {
  for (const std::string nodes : {"", ", ranks_per_node=1"}) {
    CAPTURE(nodes);
    const Quick quick;
    Line line(k_cells);
    DatasetOptions options =
        options_with("format=netcdf4, compression=shuffle+deflate:1, chunk_bytes=16KiB" + nodes, -1, {});
    // Whoever stores a chunk: once on each rank.
    options.open_store = with_fault_in_data({"write", 1, 1, 28});
    auto file = Dataset::create(MPI_COMM_WORLD, "full.nc", options);
    line.define(*file);
    int failures = 0;
    bool done = false;
    while (!done && failures <= 2 * world_size()) {
      const Outcome outcome = outcome_of([&] {
        for (std::int64_t record = 0; record < 4; ++record)
          file->write(line.call(record));
        file->sync(false);
      });
      done = outcome.code == Code::ok;
      if (done) continue;
      ++failures;
      all_got(outcome, Code::no_space, {"full.nc", "variable 'v'", "record "});
    }
    CHECK(done);
    CHECK(failures > 0);
    all_ok(outcome_of([&] {
      for (std::int64_t record = 0; record < 4; ++record)
        line.check(*file, record);
      file->close(false);
    }));
    check_records(line, "full.nc", 4);
  }
}

TEST_CASE("what was committed before a disk fails for good stays readable") {
  for (const std::string format : {"cdf5", "netcdf4"}) {
    CAPTURE(format);
    const Quick quick;
    Line line(k_cells);
    {
      auto file = Dataset::create(MPI_COMM_WORLD, "committed.nc", options_with("format=" + format, -1, {}));
      line.define(*file);
      file->write(line.call(0));
      file->close(false);
    }
    const Fault broken{"write", 0, -1, 5};
    auto file =
        Dataset::open(MPI_COMM_WORLD, "committed.nc", true,
                      options_with(std::string("ranks_per_node=1") + k_small_stage, culprit(), broken));
    const Outcome failed = outcome_of([&] {
      DataCall call = line.call(1);
      call.decomposition = line.cut;
      file->write(call);
      file->sync(false);
    });
    all_got(failed, Code::io, {"committed.nc"});
    file.reset();  // as if the job died here: nothing is stored any more
    MPI_Barrier(MPI_COMM_WORLD);
    check_records(line, "committed.nc", 1);
  }
}

TEST_CASE("files that cannot be opened, read, synced or closed on one rank") {
  const Quick quick;
  Line line(k_cells);
  {
    auto file = Dataset::create(MPI_COMM_WORLD, "faulty.nc", {});
    line.define(*file);
    file->write(line.call(0));
    file->close(false);
  }
  DataCall in = line.call(0);
  in.decomposition = line.cut;
  all_got(outcome_of([&] {
            const auto file = Dataset::open(MPI_COMM_WORLD, "faulty.nc", false,
                                            options_with("ranks_per_node=1", 0, {"open", 0, 1, 13}));
          }),
          Code::permission, {"faulty.nc"});
  {
    // The first read of another rank, or of rank 0 after it looked for a journal and at the header.
    const int rank = culprit();
    auto file = Dataset::open(MPI_COMM_WORLD, "faulty.nc", false,
                              options_with("ranks_per_node=1", rank, {"read", rank == 0 ? 4 : 0, -1, 5}));
    const Outcome outcome = outcome_of([&] {
      for (int i = 0; i < 8; ++i)
        file->read(in);
    });
    all_got(outcome, Code::io, {"faulty.nc"});
    alike(outcome_of([&] { file->close(false); }));
  }
  {
    auto file = Dataset::open(MPI_COMM_WORLD, "faulty.nc", true,
                              options_with("ranks_per_node=1", culprit(), {"sync", 0, 1, 5}));
    all_ok(outcome_of([&] {
      DataCall call = line.call(1);
      call.decomposition = line.cut;
      file->write(call);
    }));
    all_got(outcome_of([&] { file->sync(true); }), Code::io, {"faulty.nc"});
    all_ok(outcome_of([&] {
      file->write(line.call(1));
      file->sync(true);
      line.check(*file, 1);
      file->close(true);
    }));
  }
}

TEST_CASE("a set whose files cannot be made: each call says so, and going on is no end") {
  const Quick quick;
  Line line(k_cells);
  DatasetOptions options = options_with("layout=process", world_size() - 1, {"open", 0, -1, 13});
  auto file = Dataset::create(MPI_COMM_WORLD, "unmade.nc", options);
  line.define(*file);
  all_got(outcome_of([&] { file->end_define(); }), Code::permission, {"unmade.nc"});
  for (std::int64_t record = 0; record < 2; ++record) {
    DataCall call = line.call(record);
    for (const auto& cut : {line.cut, {}}) {
      call.decomposition = cut;
      const Outcome outcome = outcome_of([&] { file->write(call); });
      CHECK(outcome.code != Code::ok);
      alike(outcome);
    }
    alike(outcome_of([&] { file->put(call); }));
    alike(outcome_of([&] { file->get(call); }));
    alike(outcome_of([&] { file->sync(false); }));
  }
  alike(outcome_of([&] { file->close(false); }));
  CHECK(!std::filesystem::exists("unmade.nc.0000"));
}

TEST_CASE("a small tmpfs that fills up") {
  const Quick quick;
  // Nodes that are apart do not see what one of them mounts: there it is given.
  const SmallFolder folder("small-tmpfs", std::getenv("TEST_SMALL_FOLDER"));
  if (!folder.is_there()) return;
  Line line(k_cells);
  DatasetOptions options;
  options.settings = std::string("format=cdf5") + k_small_stage;
  auto file = Dataset::create(MPI_COMM_WORLD, folder.file(), options);
  line.define(*file);
  Outcome failed;
  std::int64_t committed = 0;
  for (std::int64_t record = 0; record < 8 && failed.code == Code::ok; ++record) {
    failed = outcome_of([&] {
      file->write(line.call(record));
      file->sync(false);
    });
    if (failed.code == Code::ok) ++committed;
  }
  all_got(failed, Code::no_space, {"small.nc"});
  CHECK(committed >= 1);
  alike(outcome_of([&] { file->close(false); }));
  check_records(line, folder.file(), committed);
}

TEST_CASE("a full disk after values that did not fit is reported, and the record is not there") {
  const Quick quick;
  if (!is_native()) return;
  for (const std::string format : {"cdf5", "netcdf4"}) {
    CAPTURE(format);
    DatasetOptions options;
    options.settings = "format=" + format;
    options.open_store = with_fault_in_data({"write", 0, -1});
    const auto file = Dataset::create(MPI_COMM_WORLD, "faults.nc", options);
    Line line(60);
    line.define(*file);
    file->def_var("whole", Type::int_, "time x", line.cut);
    file->end_define();
    DataCall call = line.call(0, "whole");
    line.values[0] = 1e300;
    file->write(call);
    file->write(line.call(0));
    all_got(outcome_of([&] { file->sync(false); }), Code::no_space, {"faults.nc", "1e+300"});
    CHECK(file->schema().dims[0].length == 0);
    caught([&] { file->close(false); });
    check_records(line, "faults.nc", 0);
  }
}
