// A thread of each rank stores while the model computes: what was written is there in the end, a write waits
// for a free slot alone, and what fails comes out on all ranks with file, variable and record.
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "faults/support.hpp"
#include "storage/past_cache.hpp"
#include "support/watched_store.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

constexpr std::int64_t k_cells = 40000;  // 320 kB a record

void sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

DatasetOptions in_background(const std::string& settings) {
  DatasetOptions options;
  options.settings = "background=thread, " + settings;
  return options;
}

double most(double seconds) {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

}  // namespace

TEST_CASE("what a thread stores is in the file") {
  for (const std::string settings :
       {"format=cdf5", "format=netcdf4", "format=cdf5, ranks_per_node=1", "format=netcdf4, ranks_per_node=2",
        "format=cdf5, layout=process", "format=netcdf4, compression=shuffle+deflate:1, chunk_bytes=16KiB",
        world_size() > 1 && on_one_node() ? "format=cdf5, writers=2" : "format=cdf5, writers=1",
        "format=raw"})
    for (const std::string stage :
         {"stage_bytes=128KiB, slot_bytes=64KiB", "stage_bytes=1MiB, slot_bytes=64KiB"}) {
      if (!on_one_node() && settings.find("compression") != std::string::npos) continue;
      CAPTURE(settings);
      CAPTURE(stage);
      Line line(k_cells);
      const bool set = settings.find("layout") != std::string::npos;
      all_ok(outcome_of([&] {
        auto file = Dataset::create(MPI_COMM_WORLD, "stored.nc", in_background(settings + ", " + stage));
        line.define(*file);
        for (std::int64_t record = 0; record < 5; ++record)
          file->write(line.call(record));
        file->sync(false);
        // Once more, in an order of its own, and read while more is under way.
        for (std::int64_t record = 6; record >= 3; --record) {
          file->write(line.call(record + 10));
          file->write(line.call(record));
        }
        if (!set) line.check(*file, 4);
        file->write(line.call(7));
        file->close(false);
      }));
      all_ok(outcome_of([&] {
        const auto file = Dataset::open(MPI_COMM_WORLD, "stored.nc", false, {});
        for (const auto& [first, end] : {std::pair{0, 8}, std::pair{13, 17}})
          for (std::int64_t record = first; record < end; ++record)
            line.check(*file, record);
        file->close(false);
      }));
      if (set && world_rank() == 0)
        for (const auto& entry : std::filesystem::directory_iterator("."))
          if (entry.path().filename().string().starts_with("stored.nc.")) std::filesystem::remove(entry);
      MPI_Barrier(MPI_COMM_WORLD);
    }
}

TEST_CASE("while nobody waits for it, a thread stores past the page cache where the file system can") {
  Line line(400000);  // 3.2 MB a record
  const auto past_cache = [&](const std::string& settings) {
    all_ok(outcome_of([&] {
      auto file =
          Dataset::create(MPI_COMM_WORLD, "direct.nc", in_background("report=direct.json, " + settings));
      line.define(*file);
      for (std::int64_t record = 0; record < 4; ++record) {
        file->write(line.call(record));
        sleep_for(0.05);
      }
      file->sync(false);
      for (std::int64_t record = 0; record < 4; ++record)
        line.check(*file, record);
      file->close(false);
    }));
    check_records(line, "direct.nc", 4);
    std::int64_t bytes = -1;
    if (world_rank() == 0) {
      std::ifstream in("direct.json");
      const std::string report{std::istreambuf_iterator<char>(in), {}};
      const std::string key = "\"bytes_past_cache\": ";
      if (const auto at = report.find(key); at != std::string::npos)
        bytes = std::stoll(report.substr(at + key.size()));
      std::filesystem::remove("direct.json");
      std::filesystem::remove("direct.txt");
    }
    MPI_Bcast(&bytes, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return bytes;
  };
  int possible = 0;
  if (world_rank() == 0) {
    const int descriptor = ::open("direct.probe", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    possible = PastCache(descriptor).possible() ? 1 : 0;
    ::close(descriptor);
    std::filesystem::remove("direct.probe");
    if (possible == 0) MESSAGE("no files here are written past the page cache: only that nothing is lost");
  }
  MPI_Bcast(&possible, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (const std::string settings :
       {"format=cdf5", "format=netcdf4", "format=netcdf4, compression=fletcher32, chunk_bytes=512KiB"}) {
    if (!on_one_node() && settings.find("compression") != std::string::npos) continue;
    CAPTURE(settings);
    std::int64_t bytes = past_cache(settings);
    // On a machine that has much else to do, the threads may have come to nothing before the sync.
    for (int again = 0; again < 5 && bytes == 0 && possible > 0; ++again)
      bytes = past_cache(settings);
    CHECK(bytes >= 0);
    CHECK(bytes <= 4 * 8 * line.length + 65536);
    CHECK((bytes > 0) == (possible > 0));
    CHECK(past_cache(settings + ", bypass_page_cache=off") == 0);
  }
}

TEST_CASE("a write waits for a free slot and for nothing else") {
  Line line(k_cells);
  // Seconds that four writes take, 1.28 MB in 20 slots, while no rank stores anything: until the writes are
  // done, or these seconds are over.
  const auto seconds_of_writes = [&](const std::string& stage, double closed) {
    constexpr Seconds k_never = 1e300;
    std::atomic<Seconds> opens = 0;
    DatasetOptions options = in_background("format=cdf5, slot_bytes=64KiB, " + stage);
    options.open_store = watched({[&](std::uint64_t, std::size_t) {
      while (now() < opens)
        sleep_for(1e-3);
    }});
    auto file = Dataset::create(MPI_COMM_WORLD, "gate.nc", options);
    line.define(*file);
    file->end_define();
    opens = k_never;
    MPI_Barrier(MPI_COMM_WORLD);  // so it is on all ranks
    const Seconds start = now();
    opens = start + closed;
    for (std::int64_t record = 0; record < 4; ++record)
      file->write(line.call(record));
    const double took = most(now() - start);
    opens = 0;
    file->close(false);
    check_records(line, "gate.nc", 4);
    return took;
  };
  CHECK(seconds_of_writes("stage_bytes=4MiB", 15) < 15);
  if (!on_one_node()) return;  // each then has few of the slots to store
  CHECK(seconds_of_writes("stage_bytes=128KiB", 0.4) >= 0.4);
}

TEST_CASE("no more bytes a second are stored than the setting allows, until close") {
  Line line(k_cells);
  const auto paced = [&](const std::string& pace) {
    auto file = Dataset::create(
        MPI_COMM_WORLD, "paced.nc",
        in_background("format=cdf5, stage_bytes=4MiB, slot_bytes=64KiB, store_bytes_per_second=" + pace));
    line.define(*file);
    file->end_define();
    MPI_Barrier(MPI_COMM_WORLD);
    return file;
  };
  auto file = paced("640KiB");
  const Seconds start = now();
  for (std::int64_t record = 0; record < 3; ++record)
    file->write(line.call(record));
  file->sync(false);  // 960 kB
  if (on_one_node()) CHECK(most(now() - start) > 1.0);
  file->close(false);
  check_records(line, "paced.nc", 3);
  // Neither writes nor the close wait for what would take 44 s.
  file = paced("64KiB");
  const Seconds again = now();
  for (std::int64_t record = 0; record < 9; ++record)
    file->write(line.call(record));
  file->close(false);
  CHECK(most(now() - again) < 15.0);
  check_records(line, "paced.nc", 9);
}

TEST_CASE("a store that fails in the background") {
  // So many that ranks apart ask each other once more after the first failure, however late their threads
  // are.
  constexpr std::int64_t k_records = 12;
  for (const std::string settings :
       {"format=cdf5", "format=netcdf4", "format=cdf5, ranks_per_node=1", "format=cdf5, layout=process",
        "format=netcdf4, compression=deflate:1, chunk_bytes=16KiB"})
    for (const int rank : {0, world_size() - 1}) {
      if (!on_one_node() && settings.find("compression") != std::string::npos) continue;
      CAPTURE(settings);
      CAPTURE(rank);
      const Quick quick;
      Line line(k_cells);
      DatasetOptions options = in_background(settings + ", stage_bytes=128KiB, slot_bytes=64KiB");
      // Once the failures are over all can be written.
      // Who compresses a chunk is not known before.
      const bool any = settings.find("compression") != std::string::npos;
      if (any || world_rank() == rank) options.open_store = with_fault_in_data({"write", 1, 6, 28});
      auto file = Dataset::create(MPI_COMM_WORLD, "failed.nc", options);
      line.define(*file);
      int failures = 0;
      bool early = false;
      bool done = false;
      while (!done && failures < 50) {
        Outcome outcome;
        // As a model that stops at the first write that fails: the same one on all ranks.
        for (std::int64_t record = 0; record < k_records && outcome.code == Code::ok; ++record)
          outcome = outcome_of([&] { file->write(line.call(record)); });
        alike(outcome);
        early = early || outcome.code != Code::ok;
        const Outcome synced = outcome_of([&] { file->sync(false); });
        alike(synced);
        if (outcome.code != Code::ok) CHECK(synced.code == outcome.code);  // it is not forgotten
        done = synced.code == Code::ok;
        if (done) continue;
        ++failures;
        all_got(synced, Code::no_space,
                {"failed.nc", "variable 'v'", any ? "rank " : "rank " + std::to_string(rank), "record "});
      }
      CHECK(done);
      CHECK(failures > 0);
      CHECK(early);
      all_ok(outcome_of([&] { file->close(false); }));
      check_records(line, "failed.nc", k_records);
    }
}

TEST_CASE("a disk that fails for good in the background") {
  const Quick quick;
  Line line(k_cells);
  DatasetOptions options = in_background("format=cdf5, stage_bytes=128KiB, slot_bytes=64KiB");
  auto file = Dataset::create(MPI_COMM_WORLD, "broken.nc", options);
  line.define(*file);
  file->write(line.call(0));
  file->close(false);
  options = in_background("stage_bytes=128KiB, slot_bytes=64KiB");
  options.open_store = with_fault(open_posix_store, {"write", 0, -1, 5});
  file = Dataset::open(MPI_COMM_WORLD, "broken.nc", true, options);
  const auto write = [&](std::int64_t record) {
    DataCall call = line.call(record);
    call.decomposition = line.cut;
    file->write(call);
  };
  Outcome outcome;
  for (std::int64_t record = 1; record < 8 && outcome.code == Code::ok; ++record)
    outcome = outcome_of([&] { write(record); });
  all_got(outcome, Code::io, {"broken.nc", "variable 'v'", "record 1"});
  const Outcome closed = outcome_of([&] { file->close(false); });
  all_got(closed, Code::io, {"broken.nc"});
  file.reset();
  MPI_Barrier(MPI_COMM_WORLD);
  check_records(line, "broken.nc", 1);
}

TEST_CASE("over several nodes or files a rank that leaves out a write is missed before the sync") {
  if (world_size() < 2) return;
  struct Case {
    std::string settings;
    bool puts;  // so that the calls of the writes that follow are matched
  };
  for (const auto& [settings, puts] :
       {Case{"format=cdf5", false}, Case{"format=cdf5", true}, Case{"format=cdf5, rearrange=on", false},
        Case{"format=cdf5, layout=process", false}, Case{"format=cdf5, layout=process", true}})
    for (const int odd : {0, world_size() - 1}) {
      CAPTURE(settings);
      CAPTURE(puts);
      CAPTURE(odd);
      const Quick quick;
      Line line(k_cells);
      auto file = Dataset::create(
          MPI_COMM_WORLD, "missed.nc",
          in_background(settings + ", ranks_per_node=1, stage_bytes=128KiB, slot_bytes=64KiB"));
      line.define(*file);
      file->def_var("factor", Type::double_, "", nullptr);
      file->write(line.call(0));
      file->sync(false);
      double value = 2.5;
      DataCall factor;
      factor.variable = "factor";
      factor.array.cells = ArrayView::contiguous(&value, Type::double_, Dims());
      const bool wrong = world_rank() == odd;
      file->write(line.call(1, wrong ? "other" : "v"));  // there is no such variable
      if (puts) file->put(factor);
      Outcome outcome;
      // Much more than all stages hold.
      for (std::int64_t record = 2; record < 2 + 2 * world_size() && outcome.code == Code::ok; ++record)
        outcome = outcome_of([&] { file->write(line.call(record)); });
      if (!wrong && !puts && settings.find("rearrange=on") == std::string::npos)
        CHECK(outcome.code == Code::not_found);
      all_got(outcome_of([&] { file->sync(false); }), Code::not_found, {"missed.nc", "other"});
      all_ok(outcome_of([&] {
        file->put(factor);
        for (std::int64_t record = 1; record < 4; ++record)
          file->write(line.call(record));
        file->close(false);
      }));
      check_records(line, "missed.nc", 4);
    }
}

TEST_CASE("a disk that is full when fields that waited for their files are stored: the set goes on") {
  const Quick quick;
  if (world_size() == 1) return;
  for (const std::string format : {"cdf5", "netcdf4"}) {
    CAPTURE(format);
    Line line(k_cells);
    DatasetOptions options =
        in_background("layout=process, stage_bytes=128KiB, slot_bytes=64KiB, format=" + format);
    if (world_rank() == world_size() - 1) options.open_store = with_fault_in_data({"write", 0, 1});
    auto file = Dataset::create(MPI_COMM_WORLD, "waited.nc", options);
    file->def_dim("time", 0);
    file->def_dim("x", k_cells);
    file->def_dim("y", k_cells);
    for (const char* name : {"v", "w"}) {  // how y is cut nobody knows before w comes
      file->def_var(name, Type::double_, *name == 'v' ? "time x" : "time y", nullptr);
      file->def_cut(name);
    }
    file->end_define();
    const auto write_all = [&] {
      for (std::int64_t record = 0; record < 8; ++record) {
        DataCall call = line.call(record);
        // Floats that wait take half of the bytes that they have in the file.
        std::vector<float> floats(line.values.begin(), line.values.end());
        call.array.cells = ArrayView::contiguous(floats.data(), Type::float_, line.cut->tile().count);
        call.decomposition = line.cut;
        file->write(call);
      }
    };
    const Outcome written = outcome_of(write_all), synced = outcome_of([&] { file->sync(false); });
    all_got(written.code == Code::ok ? synced : written, Code::no_space, {"waited.nc"});
    all_ok(outcome_of([&] {
      write_all();
      file->close(false);
    }));
    check_records(line, "waited.nc", 8);
  }
}

TEST_CASE("a small tmpfs that fills up in the background") {
  const Quick quick;
  if (!on_one_node()) return;  // other nodes do not see what one of them mounts
  const SmallFolder folder("small-tmpfs-background");
  if (!folder.is_there()) return;
  Line line(k_cells);
  auto file = Dataset::create(MPI_COMM_WORLD, folder.file(),
                              in_background("format=cdf5, stage_bytes=128KiB, slot_bytes=64KiB"));
  line.define(*file);
  file->write(line.call(0));
  file->sync(false);
  Outcome failed;
  std::int64_t tried = 0;
  for (std::int64_t record = 1; record < 40 && failed.code == Code::ok; ++record, ++tried)
    failed = outcome_of([&] { file->write(line.call(record)); });
  all_got(failed, Code::no_space, {"small.nc", "variable 'v'", "record "});
  CHECK(tried < 12);  // a model need not compute to its end before it learns of it
  all_got(outcome_of([&] { file->close(false); }), Code::no_space, {"small.nc"});
  check_records(line, folder.file(), 1);
}

TEST_CASE("a dataset that is dropped while a thread stores") {
  const Quick quick;
  Line line(k_cells);
  for (int i = 0; i < 3; ++i) {
    DatasetOptions options = in_background("format=cdf5, stage_bytes=1MiB, slot_bytes=64KiB");
    options.open_store = watched({[](std::uint64_t, std::size_t) { sleep_for(0.02); }});
    auto file = Dataset::create(MPI_COMM_WORLD, "dropped.nc", options);
    line.define(*file);
    file->write(line.call(0));
    file->sync(false);
    for (std::int64_t record = 1; record < 4; ++record)
      file->write(line.call(record));
    file.reset();
    MPI_Barrier(MPI_COMM_WORLD);
    check_records(line, "dropped.nc", 1);
  }
}

TEST_CASE("a rank that gets no thread is an error on all ranks, and no end") {
  const Quick quick;
  Line line(k_cells);
  for (const bool define_again : {false, true}) {
    // Over several nodes chunks do not come through the stage.
    if (define_again && !on_one_node()) continue;
    CAPTURE(define_again);
    pthread_attr_t usual;
    REQUIRE(pthread_getattr_default_np(&usual) == 0);
    const auto no_threads = [&] {  // of so large a stack
      pthread_attr_t huge = usual;
      pthread_attr_setstacksize(&huge, std::size_t{1} << 46);
      if (world_rank() == world_size() - 1) REQUIRE(pthread_setattr_default_np(&huge) == 0);
    };
    DatasetOptions options = in_background("format=netcdf4, stage_bytes=1MiB, compression=deflate");
    auto file = Dataset::create(MPI_COMM_WORLD, "threads.nc", options);
    const std::vector<std::string> words{"thread", "ulimit", "background=off"};
    if (!define_again) no_threads();
    const Outcome first = outcome_of([&] {
      line.define(*file);
      file->end_define();
    });
    if (define_again) {
      all_ok(first);
      file->write(line.call(0));
      no_threads();
      // Its chunks need a larger stage, with new threads.
      file->def_dim("z", 400);
      file->def_var("w", Type::double_, "z x", line.cut);
      const std::int64_t chunk[2] = {400, 1000};
      file->def_chunks("w", chunk);
      file->def_compression("w", "deflate:1");
      all_got(outcome_of([&] { file->end_define(); }), Code::no_memory, words);
    } else {
      all_got(first, Code::no_memory, words);
      all_got(outcome_of([&] { file->write(line.call(0)); }), Code::no_memory, words);
    }
    REQUIRE(pthread_setattr_default_np(&usual) == 0);
    all_ok(outcome_of([&] { file->write(line.call(define_again ? 1 : 0)); }));
    all_ok(outcome_of([&] { file->close(false); }));
    check_records(line, "threads.nc", define_again ? 2 : 1);
  }
}

TEST_CASE("who cannot store in the background is reported") {
  const auto create = [&](const std::string& settings) {
    return outcome_of([&] {
      DatasetOptions options;
      options.settings = settings;
      Dataset::create(MPI_COMM_WORLD, "refused.nc", options);
    });
  };
  all_got(create("background=on"), Code::setting, {"background", "off", "thread", "ranks"});
  all_got(create("background=thread, store_bytes_per_second=1KiB"), Code::setting, {"64KiB"});
  all_got(create("background=thread, driver=mpiio"), Code::setting, {"background", "mpiio", "native"});
}
