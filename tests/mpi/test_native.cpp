// The native driver by itself: random tiles, nodes, slots and chunks; what one decomposition wrote another
// reads.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <numeric>
#include <thread>

#include "comm/nodes.hpp"
#include "comm/shared_window.hpp"
#include "comm/wait_state.hpp"
#include "driver/registry.hpp"
#include "support/faulty_store.hpp"
#include "support/parts.hpp"
#include "support/random_tiles.hpp"

using namespace shoal;
using testing::block_of;
using testing::random_tiles;

namespace {

float value_at(int variable, const Dims& index) {
  std::int64_t v = variable + 1;
  for (const auto i : index)
    v = v * 31 + i;
  return static_cast<float>(v % 1000003);
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

/// A record of a distributed variable with `lead` uncut levels in front of the decomposition's dimensions.
Box region_of(const Schema& schema, int variable, std::int64_t record) {
  Box box = Box::whole(schema.shape(variable));
  if (schema.has_record(variable)) {
    box.first[0] = record;
    box.count[0] = 1;
  }
  return box;
}

Box own_part(const Box& region, const Box& tile) {
  Box box = region;
  const int lead = region.rank() - tile.rank();
  for (int d = 0; d < tile.rank(); ++d) {
    box.first[lead + d] = tile.first[d];
    box.count[lead + d] = tile.count[d];
  }
  return intersection(box, region);
}

Transfer transfer_of(int variable, const Box& region, const Box& mine, std::vector<float>& data,
                     const std::shared_ptr<const Decomposition>& decomposition) {
  data.resize(static_cast<std::size_t>(mine.cells()));
  Transfer transfer;
  transfer.variable = variable;
  transfer.region = region;
  transfer.mine = mine;
  transfer.array = ArrayView::contiguous(data.data(), Type::float_, mine.count);
  transfer.decomposition = decomposition;
  return transfer;
}

Schema make_schema(Format format, const Dims& shape, std::int64_t levels, std::mt19937& random) {
  Schema schema;
  schema.format = format;
  schema.dims = {{"time", 0, true}, {"level", levels, false}};
  std::vector<int> space;
  for (int d = 0; d < shape.size(); ++d) {
    space.push_back(static_cast<int>(schema.dims.size()));
    schema.dims.push_back({"x" + std::to_string(d), shape[d], false});
  }
  const auto add = [&](const std::string& name, Type type, std::vector<int> lead) {
    VariableDef variable;
    variable.name = name;
    variable.type = type;
    variable.dims = std::move(lead);
    variable.dims.insert(variable.dims.end(), space.begin(), space.end());
    variable.distributed = true;
    if (format == Format::netcdf4 && random() % 2 == 0)
      for (const int d : variable.dims) {
        const auto& dim = schema.dim(d);
        variable.chunks.push_back(
            dim.unlimited ? 1 + static_cast<std::int64_t>(random() % 2)
                          : 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(dim.length)));
      }
    schema.variables.push_back(variable);
  };
  add("fixed", Type::float_, {});
  add("flat", Type::float_, {0});
  add("deep", Type::double_, {0, 1});
  add("unwritten", Type::float_, {0});
  return schema;
}

}  // namespace

TEST_CASE("what one decomposition wrote, another reads") {
  const Comm comm(MPI_COMM_WORLD);
  const std::string path = "native.nc";
  std::vector<int> rounds(36);
  std::iota(rounds.begin(), rounds.end(), 0);
  for (const int round : testing::in_part(rounds)) {
    std::mt19937 random(static_cast<unsigned>(100 + round));
    const Format format =
        std::array{Format::cdf5, Format::netcdf4, Format::cdf1}[static_cast<std::size_t>(round / 3 % 3)];
    const bool holes = round % 2 == 1;
    const Dims shape = round % 4 == 0 ? Dims{67, 131} : Dims{11, 40, 23};
    const std::int64_t levels = 3;
    DriverOptions options;
    options.rearranging.ranks_per_node = static_cast<int>(random() % 4);
    if (random() % 2 == 0) options.stage.slot_bytes = 64 * 1024;
    if (random() % 2 == 0) options.stage.direct_bytes = 1;
    const std::int64_t most = Nodes(comm, options.rearranging.ranks_per_node).node().size();
    const int writers = std::min(static_cast<int>(random() % 4), static_cast<int>(comm.max(most)));
    if (writers > 0) options.stage.writers = writers;
    options.rearranging.rearrange =
        std::array{Rearrange::automatic, Rearrange::on, Rearrange::off}[random() % 3];
    options.rearranging.io_ranks_per_node =
        options.rearranging.rearrange != Rearrange::off && random() % 3 == 0 ? 1 : 0;
    CAPTURE(round);
    CAPTURE(options.rearranging.ranks_per_node);

    const auto tiles = random_tiles(shape, comm.size(), holes, random);
    const auto cut = block_of(comm, shape, tiles, 0);
    const std::vector<std::int64_t> order{1, 0, 3, 2};
    std::vector<float> data;
    {
      auto driver = make_native_driver(comm, path, OpenMode::create, format, options);
      driver->define(make_schema(format, shape, levels, random), {});
      driver->prepare(cut);
      for (const auto record : order) {
        for (int v = 0; v < 3; ++v) {
          if (v == 0 && record != 1) continue;
          const Box region = [&] {
            Schema schema = driver->schema();
            schema.dims[0].length = std::max(schema.dims[0].length, record + 1);
            return region_of(schema, v, record);
          }();
          const Box mine = own_part(region, cut->tile());
          const Transfer transfer = transfer_of(v, region, mine, data, cut);
          for_cells(mine, [&](const Dims& index, std::size_t i) { data[i] = value_at(v, index); });
          driver->write(transfer);
        }
        if (record == 0) driver->sync(false);
      }
      driver->close(false);
    }
    {
      auto driver = make_native_driver(comm, path, OpenMode::read, Format::cdf5, options);
      CHECK(driver->schema().format == format);
      CHECK(driver->schema().dims[0].length == 4);
      const auto other = block_of(comm, shape, random_tiles(shape, comm.size(), false, random), 2);
      driver->prepare(other);
      const float fill = 9.9692099683868690e+36F;
      for (const auto record : {3, 0, 2, 1}) {
        for (int v = 0; v < 4; ++v) {
          const Box region = region_of(driver->schema(), v, record);
          const Box mine = own_part(region, intersection(other->tile_with_halo(), Box::whole(shape)));
          driver->read(transfer_of(v, region, mine, data, other));
          std::int64_t wrong = 0;
          for_cells(mine, [&](const Dims& index, std::size_t i) {
            bool owned = false;
            Box cell = mine;
            cell.first = index;
            cell.count = Dims(index.size(), 1);
            for (const auto& tile : tiles)
              owned = owned || (!tile.empty() && !own_part(cell, tile).empty());
            const float expected = owned && v != 3 ? value_at(v, index) : fill;
            if (data[i] != expected) ++wrong;
          });
          CAPTURE(v);
          CAPTURE(record);
          CHECK(wrong == 0);
        }
      }
      driver->close(false);
    }
    comm.barrier();
  }
  if (comm.rank() == 0) ::unlink(path.c_str());
}

TEST_CASE("with rearranger=subset I/O ranks alone store and fetch, for their groups") {
  const Comm comm(MPI_COMM_WORLD);
  if (!Nodes(comm, 0).single()) return;  // groups are counted here
  const std::string path = "native.nc";
  const Dims shape{9, 20, 31};
  for (const Format format : {Format::cdf5, Format::netcdf4})
    for (const int stride : {1, 2, 3}) {
      CAPTURE(stride);
      std::mt19937 random(static_cast<unsigned>(stride));
      DriverOptions options;
      options.rearranging.rearranger = RearrangerKind::subset;
      options.rearranging.io_stride = stride;
      options.stage.slot_bytes = 4096;
      const auto cut = block_of(comm, shape, random_tiles(shape, comm.size(), stride == 2, random), 0);
      const Schema wanted = make_schema(format, shape, 3, random);
      const bool stores = comm.rank() % stride == 0;
      const int groups = (comm.size() + stride - 1) / stride;
      std::vector<float> data;
      const auto move = [&](Driver& driver, std::int64_t record, bool writing) {
        std::int64_t wrong = 0;
        for (int v = 1; v < 3; ++v) {
          Schema schema = driver.schema();
          schema.dims[0].length = std::max(schema.dims[0].length, record + 1);
          const Box region = region_of(schema, v, record);
          const Box mine = own_part(region, cut->tile());
          const Transfer transfer = transfer_of(v, region, mine, data, cut);
          if (writing) {
            for_cells(mine, [&](const Dims& index, std::size_t i) { data[i] = value_at(v, index); });
            driver.write(transfer);
          } else {
            driver.read(transfer);
            for_cells(mine, [&](const Dims& index, std::size_t i) {
              wrong += data[i] == value_at(v, index) ? 0 : 1;
            });
          }
        }
        return wrong;
      };
      auto made = make_native_driver(comm, path, OpenMode::create, format, options);
      made->define(wanted, {});
      made->prepare(cut);
      for (std::int64_t record = 0; record < 4; ++record)
        move(*made, record, true);
      made->sync(false);
      CHECK(made->counters().nodes == groups);
      CHECK(made->counters().strategies.front().find("subset: " + std::to_string(groups)) == 0);
      // Rank 0, an I/O rank, also stores what is not of any field.
      CHECK((stores || made->counters().writes == 0));
      CHECK(comm.sum(made->counters().writes) > 0);
      made->close(false);
      const auto open = make_native_driver(comm, path, OpenMode::read, Format::cdf5, options);
      open->prepare(cut);
      for (std::int64_t record = 0; record < 4; ++record)
        CHECK(move(*open, record, false) == 0);
      CHECK((stores || open->counters().reads == 0));
      open->close(false);
      comm.barrier();
    }
  if (comm.rank() == 0) ::unlink(path.c_str());
}

TEST_CASE("a section is written, the rest of its record gets the fill value") {
  const Comm comm(MPI_COMM_WORLD);
  const Dims shape{12, 10};
  std::mt19937 random(1);
  const auto cut = block_of(comm, shape, random_tiles(shape, comm.size(), false, random), 0);
  for (const Format format : {Format::cdf2, Format::netcdf4}) {
    DriverOptions options;
    options.rearranging.ranks_per_node = 2;
    auto driver = make_native_driver(comm, "section.nc", OpenMode::create, format, options);
    driver->define(make_schema(format, shape, 5, random), {});
    driver->prepare(cut);
    Box region({0, 2, 0, 0}, {1, 2, 12, 10});
    std::vector<float> data;
    const Box mine = own_part(region, cut->tile());
    const Transfer transfer = transfer_of(2, region, mine, data, cut);
    for_cells(mine, [&](const Dims& index, std::size_t i) { data[i] = value_at(2, index); });
    driver->write(transfer);
    driver->close(false);

    driver = make_native_driver(comm, "section.nc", OpenMode::read, Format::cdf5, options);
    driver->prepare(cut);
    region = Box({0, 0, 0, 0}, {1, 5, 12, 10});
    const Box all = own_part(region, cut->tile());
    driver->read(transfer_of(2, region, all, data, cut));
    for_cells(all, [&](const Dims& index, std::size_t i) {
      CHECK(data[i] == (index[1] == 2 || index[1] == 3 ? value_at(2, index) : 9.9692099683868690e+36F));
    });
    driver->close(false);
  }
}

namespace {
/// Writes a record of variable 2 of 64 times 200 cells; fails: as a rank that found no such variable.
void write_record(Driver& driver, const std::shared_ptr<const Decomposition>& cut, std::int64_t record,
                  bool fails, std::vector<float>& data) {
  const Box region({record, 0, 0, 0}, {1, 5, 64, 200});
  Transfer transfer = transfer_of(2, region, own_part(region, cut->tile()), data, cut);
  for_cells(transfer.mine, [&](const Dims& index, std::size_t i) { data[i] = value_at(2, index); });
  if (fails)
    driver.refuse({RefusedCall::Kind::write, {Code::not_found, "no such variable", -1, {}, {}}, {}});
  else
    driver.write(transfer);
}
}  // namespace

TEST_CASE("a rank that cannot take part breaks no other") {
  const Comm comm(MPI_COMM_WORLD);
  const Dims shape{64, 200};
  std::mt19937 random(1);
  const auto cut = block_of(comm, shape, random_tiles(shape, comm.size(), false, random), 0);
  for (const Format format : {Format::cdf5, Format::netcdf4}) {
    for (const int ranks_per_node : {0, 2}) {
      DriverOptions options;
      options.rearranging.ranks_per_node = ranks_per_node;
      options.stage.slot_bytes = 64 * 1024;
      options.stage.wait_seconds = 20;
      auto driver = make_native_driver(comm, "broken.nc", OpenMode::create, format, options);
      driver->define(make_schema(format, shape, 5, random), {});
      driver->prepare(cut);
      std::vector<float> data;
      const bool is_last = comm.rank() == comm.size() - 1;
      const auto write = [&](std::int64_t record, bool fails) {
        write_record(*driver, cut, record, fails && is_last, data);
      };
      write(0, false);
      driver->sync(false);
      write(1, true);
      write(2, false);
      try {
        driver->sync(false);
        CHECK(false);
      } catch (const Error& e) {
        CHECK(e.code() == Code::not_found);
        CHECK(e.status().rank == comm.size() - 1);
      }
      for (const std::int64_t record : {1, 2, 3})
        write(record, false);
      driver->close(false);
      driver = make_native_driver(comm, "broken.nc", OpenMode::read, Format::cdf5, options);
      driver->prepare(cut);
      CHECK(driver->schema().dims[0].length == 4);
      for (std::int64_t record = 0; record < 4; ++record) {
        const Box region({record, 0, 0, 0}, {1, 5, 64, 200});
        const Box mine = own_part(region, cut->tile());
        driver->read(transfer_of(2, region, mine, data, cut));
        std::int64_t wrong = 0;
        for_cells(mine,
                  [&](const Dims& index, std::size_t i) { wrong += data[i] != value_at(2, index) ? 1 : 0; });
        CHECK(wrong == 0);
      }
      driver->close(false);
    }
  }
}

TEST_CASE("a rank that fails is named, however long others that wait for it take to wake up") {
  const Comm comm(MPI_COMM_WORLD);
  if (comm.size() == 1 || !comm.wait_state().board) return;  // several nodes
  const Dims shape{64, 200};
  std::mt19937 random(1);
  const auto cut = block_of(comm, shape, random_tiles(shape, comm.size(), false, random), 0);
  const int last = comm.size() - 1;
  const auto processes = comm.all_gather(std::int64_t{::getpid()});
  const auto signal_others = [&](int signal) {
    for (int r = 0; r < last; ++r)
      ::kill(static_cast<pid_t>(processes[static_cast<std::size_t>(r)]), signal);
  };

  DriverOptions options;
  options.stage.slot_bytes = 64 * 1024;
  options.stage.bytes = 128 * 1024;  // less than a record, so that ranks wait in write
  options.stage.wait_seconds = 20;
  auto driver = make_native_driver(comm, "stopped.nc", OpenMode::create, Format::cdf5, options);
  driver->define(make_schema(Format::cdf5, shape, 5, random), {});
  driver->prepare(cut);
  std::vector<float> data;
  write_record(*driver, cut, 0, false, data);
  driver->sync(false);
  std::thread wakes_others;
  if (comm.rank() == last) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    signal_others(SIGSTOP);
    wakes_others = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      signal_others(SIGCONT);
    });
  }
  write_record(*driver, cut, 1, comm.rank() == last, data);
  Status got;
  try {
    driver->sync(false);
  } catch (const Error& e) {
    got = e.status();
  }
  if (wakes_others.joinable()) wakes_others.join();
  CHECK(got.code == Code::not_found);
  CHECK(got.rank == last);
  write_record(*driver, cut, 1, false, data);
  driver->close(false);
}

TEST_CASE("a full disk is an error on all ranks, and the file stays as committed") {
  const Comm comm(MPI_COMM_WORLD);
  const Dims shape{64, 200};
  std::mt19937 random(1);
  const auto cut = block_of(comm, shape, random_tiles(shape, comm.size(), false, random), 0);
  for (const Format format : {Format::cdf5, Format::netcdf4}) {
    DriverOptions options;
    std::vector<float> data;
    auto driver = make_native_driver(comm, "full.nc", OpenMode::create, format, options);
    driver->define(make_schema(format, shape, 5, random), {});
    driver->prepare(cut);
    const auto write_record = [&](std::int64_t record) {
      const Box region({record, 0, 0, 0}, {1, 5, 64, 200});
      const Transfer transfer = transfer_of(2, region, own_part(region, cut->tile()), data, cut);
      for_cells(transfer.mine, [&](const Dims& index, std::size_t i) { data[i] = value_at(2, index); });
      driver->write(transfer);
    };
    write_record(0);
    driver->close(false);
    Fault fault;
    fault.times = -1;
    fault.after = 0;
    options.system.open_store = with_fault(open_posix_store, fault);
    driver = make_native_driver(comm, "full.nc", OpenMode::write, Format::cdf5, options);
    driver->prepare(cut);
    write_record(1);
    try {
      driver->close(false);
      CHECK(false);
    } catch (const Error& e) {
      CHECK(e.code() == Code::no_space);
    }
    driver.reset();
    driver = make_native_driver(comm, "full.nc", OpenMode::read, Format::cdf5, DriverOptions{});
    CHECK(driver->schema().dims[0].length == 1);
    driver->close(false);
  }
}

TEST_CASE("short shared memory shrinks the stage, none makes each rank a node, and both warn") {
  const Comm comm(MPI_COMM_WORLD);
  const std::int64_t ranks_here = Nodes(comm, 0).node().size();
  if (comm.max(ranks_here) == 1) return;  // nobody shares memory
  const Dims shape{64, 200};
  std::mt19937 random(1);
  const auto cut = block_of(comm, shape, random_tiles(shape, comm.size(), false, random), 0);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit whole{};
  getrlimit(RLIMIT_FSIZE, &whole);
  for (const rlim_t limit : {rlim_t{2} << 20, rlim_t{4096}}) {
    CAPTURE(limit);
    auto driver = make_native_driver(comm, "short.nc", OpenMode::create, Format::cdf5, DriverOptions{});
    driver->define(make_schema(Format::cdf5, shape, 5, random), {});
    SharedWindow::drop_kept();
    comm.barrier();
    rlimit small = whole;
    small.rlim_cur = limit;  // a stand-in for a small /dev/shm: reserving pages obeys it
    setrlimit(RLIMIT_FSIZE, &small);
    driver->prepare(cut);
    setrlimit(RLIMIT_FSIZE, &whole);
    REQUIRE(driver->counters().warnings.size() >= 1);
    CHECK(driver->counters().warnings.back().find("/dev/shm") != std::string::npos);
    CHECK(driver->counters().ranks_per_node == (limit == 4096 ? 1 : ranks_here));
    std::vector<float> data;
    const Box region({0, 0, 0, 0}, {1, 5, 64, 200});
    const Transfer transfer = transfer_of(2, region, own_part(region, cut->tile()), data, cut);
    for_cells(transfer.mine, [&](const Dims& index, std::size_t i) { data[i] = value_at(2, index); });
    driver->write(transfer);
    std::vector<float> back;
    driver->read(transfer_of(2, region, own_part(region, cut->tile()), back, cut));
    CHECK(back == data);
    driver->close(false);
  }
  std::signal(SIGXFSZ, SIG_DFL);
}
