// Ranks that serve (background=ranks): what they are left to store is in the file in the end, computing ranks
// wait for a free slot alone, and what fails comes out on all of these.
#include <filesystem>
#include <fstream>
#include <thread>

#include "faults/support.hpp"
#include "support/served_world.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

constexpr std::int64_t k_cells = 40000;  // 320 kB a record

DatasetOptions by_ranks(const std::string& settings) {
  DatasetOptions options;
  options.settings = "background=ranks, " + settings;
  return options;
}

void check_file(Line& line, const std::string& path, std::int64_t records) {
  DatasetOptions options;
  options.settings = "background=off";
  const auto file = Dataset::open(MPI_COMM_WORLD, path, false, options);
  CHECK(file->schema().dims[0].length == records);
  for (std::int64_t record = 0; record < records; ++record)
    line.check(*file, record);
  file->close(false);
}

/// Numbers of servers that all nodes have room for.
std::vector<int> numbers() {
  const int ranks = ranks_of_smallest_node();
  std::vector<int> some;
  for (const int n : {1, 2})
    if (n < ranks) some.push_back(n);
  return some;
}

}  // namespace

TEST_CASE("served: what ranks store that serve is in the file") {
  for (const int n : numbers()) {
    Served served(n);
    if (!served.computes) continue;
    CAPTURE(n);
    Line line(k_cells);
    for (const std::string settings :
         {n > 1 ? "format=cdf5, writers=2" : "format=cdf5", "format=cdf2", "format=netcdf4", "format=raw",
          "format=netcdf4, compression=shuffle+deflate:1, chunk_bytes=16KiB"})
      for (const std::string stage :
           {"stage_bytes=128KiB, slot_bytes=64KiB", "stage_bytes=1MiB, slot_bytes=64KiB"}) {
        CAPTURE(settings);
        CAPTURE(stage);
        all_ok(outcome_of([&] {
          auto file = Dataset::create(MPI_COMM_WORLD, "served.nc", by_ranks(settings + ", " + stage));
          line.define(*file);
          for (std::int64_t record = 0; record < 3; ++record)
            file->write(line.call(record));
          file->sync(false);
          // Once more, in an order of its own, and read while more is under way.
          for (std::int64_t record = 6; record >= 3; --record)
            file->write(line.call(record));
          line.check(*file, 4);
          file->write(line.call(7));
          file->close(false);
        }));
        all_ok(outcome_of([&] { check_file(line, "served.nc", 8); }));
      }
  }
}

TEST_CASE("served: datasets at once, defined again, opened again, left by the way") {
  for (const int n : numbers()) {
    Served served(n);
    if (!served.computes) continue;
    Line line(k_cells);
    all_ok(outcome_of([&] {
      auto a = Dataset::create(MPI_COMM_WORLD, "a.nc", by_ranks("format=netcdf4"));
      auto b = Dataset::create(MPI_COMM_WORLD, "b.nc", by_ranks("format=netcdf4, background_close=true"));
      auto c = Dataset::create(MPI_COMM_WORLD, "c.nc", by_ranks("format=cdf5"));
      for (Dataset* file : {a.get(), b.get(), c.get()})
        line.define(*file);
      for (std::int64_t record = 0; record < 3; ++record)
        for (Dataset* file : {a.get(), b.get(), c.get()})
          file->write(line.call(record));
      c.reset();
      a->sync(false);
      a->def_var("w", Type::float_, "time x", line.cut);
      a->put_att("w", "units", Type::char_, 1, "m");
      a->write(line.call(1, "w"));
      a->close(false);
      b->begin_close();
      a = Dataset::open(MPI_COMM_WORLD, "a.nc", true, by_ranks(""));
      DataCall call = line.call(3);
      call.decomposition = line.cut;
      a->write(call);
      b->close(false);
      a->close(false);
    }));
    all_ok(outcome_of([&] {
      check_file(line, "a.nc", 4);
      check_file(line, "b.nc", 3);
    }));
  }
}

TEST_CASE("served: data of a classic file move while servers have some of them") {
  for (const int n : numbers()) {
    Served served(n);
    if (!served.computes) continue;
    CAPTURE(n);
    Line line(k_cells);
    const std::string text(3000, 'x');
    for (const std::string settings : {"format=cdf1", "format=cdf5, background_close=true"}) {
      CAPTURE(settings);
      all_ok(outcome_of([&] {
        auto file = Dataset::create(
            MPI_COMM_WORLD, "served.nc",
            by_ranks(settings + ", header_reserve=0, alignment=4, stage_bytes=128KiB, slot_bytes=64KiB"));
        line.define(*file);
        for (std::int64_t record = 0; record < 3; ++record)
          file->write(line.call(record));
        file->put_att(nullptr, "long", Type::char_, static_cast<std::int64_t>(text.size()), text.data());
        file->def_var("w", Type::double_, "time x", line.cut);
        file->end_define();
        for (std::int64_t record = 2; record < 4; ++record) {
          file->write(line.call(record, "w"));
          file->write(line.call(record));
        }
        line.check(*file, 1);
        file->write(line.call(4, "w"));
        file->write(line.call(4));
        file->close(false);
      }));
      all_ok(outcome_of([&] {
        check_file(line, "served.nc", 5);
        DatasetOptions off;
        off.settings = "background=off";
        const auto file = Dataset::open(MPI_COMM_WORLD, "served.nc", false, off);
        DataCall in = line.call(4, "w");
        std::vector<double> found(line.values.size(), -1.0);
        in.decomposition = line.cut;
        in.array.cells = ArrayView::contiguous(found.data(), Type::double_, line.cut->tile().count);
        file->read(in);
        CHECK(found == line.values);
        file->close(false);
      }));
    }
  }
}

TEST_CASE("served: each rank says what it does, in one component and in several") {
  const Place place = place_in_world();
  using Deal = Role (*)(const Place&);
  // The first ranks of each node serve; one of a node with none but itself has nobody to serve.
  const Deal one_component = [](const Place& p) { return Role{p.rank == 0 ? Role::k_serves : 0}; };
  const Deal a_component_a_node = [](const Place& p) { return Role{p.rank == 0 ? Role::k_serves : p.node}; };
  const Deal two_on_large_nodes = [](const Place& p) {
    if (p.size < 4) return Role{p.rank == 0 ? Role::k_serves : 7};
    return Role{p.rank < 2 ? Role::k_serves : p.rank % 2 == 0 ? 7 : 3};
  };
  for (const Deal deal : {one_component, a_component_a_node, two_on_large_nodes}) {
    const Role role = deal(place);
    Served served(role);
    CHECK(served.computes == !role.serves());
    if (!served.computes) continue;
    CAPTURE(role.component);
    Line line(k_cells);
    const std::string path = "component" + std::to_string(role.component) + ".nc";
    for (const std::string settings :
         {"format=cdf5, stage_bytes=128KiB, slot_bytes=64KiB", "format=netcdf4",
          "format=netcdf4, compression=shuffle+deflate:1, chunk_bytes=16KiB, stage_bytes=128KiB, "
          "slot_bytes=64KiB"}) {
      CAPTURE(settings);
      all_ok(outcome_of([&] {
        auto file = Dataset::create(MPI_COMM_WORLD, path, by_ranks(settings));
        line.define(*file);
        // Components go their own ways.
        for (std::int64_t record = 0; record < 3 + role.component % 3; ++record) {
          file->write(line.call(record));
          if (role.component % 2 == 1) file->sync(false);
        }
        line.check(*file, 1);
        file->close(false);
      }));
      all_ok(outcome_of([&] { check_file(line, path, 3 + role.component % 3); }));
    }
    all_got(outcome_of([&] {
              const MPI_Comm again = serve_components(MPI_COMM_WORLD, role.component, {});
              (void)again;
            }),
            Code::state, {"serve already", "shoal_stop_serving"});
  }
}

TEST_CASE("served: components that cannot have a rank that serves") {
  const Place place = place_in_world();
  const auto divided = [](int component) {
    return outcome_of([&] {
      const MPI_Comm computing = serve_components(MPI_COMM_WORLD, component, {});
      (void)computing;
    });
  };
  all_got(divided(0), Code::invalid_argument, {"that serve", "each component"});
  all_got(divided(world_rank() == 0 ? -2 : 0), Code::invalid_argument, {"-2", "no component"});
  if (ranks_of_smallest_node() < 3) return;
  all_got(divided(place.rank == 0 ? Role::k_serves : place.rank % 2), Code::invalid_argument,
          {"let more ranks serve"});
  all_got(divided(Role::k_serves - place.rank % 2), Code::invalid_argument, {"-2", "no component"});
}

TEST_CASE("served: a store that fails on ranks that serve") {
  for (const int n : numbers())
    for (const std::string settings :
         {"format=cdf5", "format=netcdf4", "format=netcdf4, compression=deflate:1, chunk_bytes=16KiB"}) {
      ServeOptions how;
      how.open_store = with_fault_in_data({"write", 1, 6, 28});
      Served served(n, how);
      if (!served.computes) continue;
      CAPTURE(settings);
      const Quick quick;
      Line line(k_cells);
      auto file = Dataset::create(MPI_COMM_WORLD, "failed.nc",
                                  by_ranks(settings + ", stage_bytes=128KiB, slot_bytes=64KiB"));
      line.define(*file);
      int failures = 0;
      bool early = false;
      bool done = false;
      while (!done && failures < 50) {
        Outcome outcome;
        // As a model that stops at the first write that fails: the same one on all ranks.
        for (std::int64_t record = 0; record < 6 && outcome.code == Code::ok; ++record)
          outcome = outcome_of([&] { file->write(line.call(record)); });
        alike(outcome);
        early = early || outcome.code != Code::ok;
        const Outcome synced = outcome_of([&] { file->sync(false); });
        alike(synced);
        if (outcome.code != Code::ok) CHECK(synced.code == outcome.code);  // it is not forgotten
        done = synced.code == Code::ok;
        if (done) continue;
        ++failures;
        all_got(synced, Code::no_space, {"failed.nc", "variable 'v'", "rank ", "record "});
      }
      CHECK(done);
      CHECK(failures > 0);
      CHECK(early);
      all_ok(outcome_of([&] { file->close(false); }));
      all_ok(outcome_of([&] { check_file(line, "failed.nc", 6); }));
    }
}

TEST_CASE("served: calls that one computing rank gets wrong") {
  for (const int n : numbers()) {
    Served served(n);
    if (!served.computes || world_size() < 2) continue;
    for (const int odd : {0, world_size() - 1}) {
      CAPTURE(odd);
      const Quick quick;
      Line line(k_cells);
      auto file = Dataset::create(MPI_COMM_WORLD, "odd.nc",
                                  by_ranks("format=cdf5, stage_bytes=128KiB, slot_bytes=64KiB"));
      line.define(*file);
      file->write(line.call(0));
      file->sync(false);
      for (const bool more : {false, true}) {
        CAPTURE(more);
        // A variable that is not there.
        file->write(line.call(1, world_rank() == odd ? "other" : "v"));
        // Much more than all stages hold: ranks learn of it before the sync.
        Outcome outcome;
        for (std::int64_t record = 2; more && record < 4 + 2 * world_size() && outcome.code == Code::ok;
             ++record)
          outcome = outcome_of([&] { file->write(line.call(record)); });
        all_got(outcome_of([&] { file->sync(false); }), Code::not_found, {"odd.nc", "other"});
      }
      // A write that is left out.
      if (world_rank() != odd) file->write(line.call(1));
      all_got(outcome_of([&] { file->sync(false); }), Code::out_of_step, {"odd.nc", "same"});
      file->write(line.call(1));
      all_ok(outcome_of([&] { file->close(false); }));
      check_file(line, "odd.nc", 2);
    }
  }
}

TEST_CASE("served: computing ranks do not wait for the store") {
  if (ranks_of_smallest_node() < 2) return;
  // Servers open the file only when those that compute have said so, or after many seconds.
  static constexpr const char* k_go = "later.go";
  std::filesystem::remove(k_go);
  std::filesystem::remove("later.nc");  // of an old one the new one would have another name
  MPI_Barrier(MPI_COMM_WORLD);
  ServeOptions how;
  how.open_store = [](const std::string& path, StoreMode mode) {
    const Seconds start = now();
    while (mode == StoreMode::write && !std::filesystem::exists(k_go) && now() - start < 15)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return open_posix_store(path, mode);
  };
  Served served(1, how);
  if (!served.computes) return;
  Line line(k_cells);
  auto file = Dataset::create(MPI_COMM_WORLD, "later.nc", by_ranks("format=cdf5"));
  line.define(*file);
  file->end_define();
  MPI_Barrier(MPI_COMM_WORLD);
  const Seconds start = now();
  for (std::int64_t record = 0; record < 4; ++record)
    file->write(line.call(record));
  CHECK(now() - start < 10);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) {
    for (const auto& entry : std::filesystem::directory_iterator("."))  // servers have all of it
      if (entry.path().filename().string().starts_with(".later.nc.")) CHECK(entry.file_size() < 320000);
    std::ofstream(k_go) << "go";
  }
  file->close(false);
  check_file(line, "later.nc", 4);
}

TEST_CASE("served: who cannot serve or be served is reported") {
  const auto wants = [](int n) {
    return outcome_of([&] {
      const MPI_Comm computing = serve(MPI_COMM_WORLD, n, {});
      (void)computing;
    });
  };
  const auto create = [&](MPI_Comm comm, const std::string& settings) {
    return outcome_of([&] { Dataset::create(comm, "refused.nc", by_ranks(settings)); });
  };
  all_got(wants(-1), Code::invalid_argument, {"-1", "0 or more"});
  all_got(wants(ranks_of_all()), Code::invalid_argument, {std::to_string(ranks_of_all()), "compute"});
  if (ranks_of_all() > 1) {
    const Outcome outcome = wants(world_rank() == 0 ? 0 : 1);
    CHECK(outcome.code == Code::out_of_step);
  }
  all_got(create(MPI_COMM_WORLD, "format=cdf5"), Code::setting, {"shoal_serve", "background=thread"});
  if (ranks_of_smallest_node() < 2) return;
  Served served(1);
  if (!served.computes) return;
  all_got(wants(1), Code::state, {"serve already", "shoal_stop_serving"});
  all_got(create(MPI_COMM_WORLD, "layout=process"), Code::setting, {"layout", "background=thread"});
  all_got(create(MPI_COMM_WORLD, "rearranger=subset"), Code::setting, {"rearranger", "background=thread"});
  all_got(create(MPI_COMM_WORLD, "ranks_per_node=1"), Code::setting, {"ranks_per_node", "shoal_serve"});
  all_got(create(MPI_COMM_WORLD, "driver=mpiio, format=raw"), Code::setting, {"background", "native"});
  if (world_size() > 1) all_got(create(MPI_COMM_SELF, ""), Code::setting, {"another", "shoal_serve"});
  Line line(100);
  auto file = Dataset::create(MPI_COMM_WORLD, "open.nc", by_ranks("format=cdf5"));
  all_got(outcome_of([] { stop_serving(); }), Code::state, {"1 dataset", "close"});
  file->close(false);
}
