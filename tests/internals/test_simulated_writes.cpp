// What is simulated is what happens: messages, bytes, loads and extents of real ranks, counted where MPI and
// the file are called, against those of the same ranks that only were pretended.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "comm/nodes.hpp"
#include "driver/registry.hpp"
#include "simulate/groups.hpp"
#include "simulate/simulation.hpp"
#include "support/random_maps.hpp"
#include "support/random_tiles.hpp"

using namespace shoal;
using testing::MapKind;
using testing::random_maps;
using testing::random_tiles;

namespace {

struct Sent {
  int to = 0;
  std::int64_t bytes = 0;
};
std::vector<Sent>* watched = nullptr;

}  // namespace

// Between MPI and who calls it: counts what is sent while somebody watches.
extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  if (watched != nullptr) {
    int size = 0;
    MPI_Type_size(type, &size);
    watched->push_back({to, std::int64_t{count} * size});
  }
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

namespace {

/// What all ranks did, as Simulation has it.
struct Happened {
  Simulation figures;
  std::int64_t written = 0;
};

/// Writes the field twice, as plans are made at the first time, and counts at the second.
Happened write_field(const Comm& comm, const SimulatedField& field, const DriverOptions& options,
                     Format format, const std::shared_ptr<const Decomposition>& cut, bool rearranged) {
  Schema schema;
  schema.format = format;
  VariableDef variable;
  variable.name = "field";
  variable.type = Type::float_;
  variable.distributed = true;
  for (int d = 0; d < field.global.size(); ++d) {
    variable.dims.push_back(d);
    schema.dims.push_back({"d" + std::to_string(d), field.global[d], false});
    if (!field.chunk.empty()) variable.chunks.push_back(field.chunk[d]);
  }
  schema.variables.push_back(variable);
  const auto driver = make_native_driver(comm, "simulated.nc", OpenMode::create, format, options);
  driver->define(schema, {});
  driver->prepare(cut);

  Transfer transfer;
  transfer.variable = 0;
  transfer.region = Box::whole(field.global);
  transfer.decomposition = cut;
  Dims extents;
  if (field.is_map()) {
    transfer.mine = transfer.region;
    for (int d = 0; d < field.outer_dims; ++d)
      extents.push_back(field.global[d]);
    extents.push_back(cut->map()->local_cells());
    for (int d = field.global.size() - field.uncut_dims; d < field.global.size(); ++d)
      extents.push_back(field.global[d]);
  } else {
    transfer.mine = cut->tile();
    extents = transfer.mine.count;
  }
  std::vector<float> data(static_cast<std::size_t>(volume(extents)), 3.0F);
  std::vector<float> none(1);
  transfer.array = ArrayView::contiguous(data.empty() ? none.data() : data.data(), Type::float_, extents);
  driver->write(transfer);
  driver->sync(false);
  const Counters before = driver->counters();
  std::vector<Sent> sent;
  comm.barrier();
  watched = &sent;
  driver->write(transfer);
  driver->sync(false);  // what waited for other fields goes
  watched = nullptr;
  const Counters after = driver->counters();
  driver->close(false);

  Happened out;
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::int64_t> to(2 * ranks, 0);
  for (const auto& message : sent) {
    to[2 * static_cast<std::size_t>(message.to)] += 1;
    to[2 * static_cast<std::size_t>(message.to) + 1] += message.bytes;
  }
  to.push_back(after.bytes_written - before.bytes_written);
  to.push_back(after.writes - before.writes);
  std::vector<std::vector<std::int64_t>> all;
  ByteWriter packed;
  packed.put(to);
  for (const auto& bytes : comm.all_gather(packed.take())) {
    ByteReader in(bytes);
    in.get(all.emplace_back());
  }
  std::vector<int> node(ranks);
  for (int n = 0; n < field.nodes; ++n)
    for (int r = field.first_of_node(n); r < field.first_of_node(n + 1); ++r)
      node[static_cast<std::size_t>(r)] = n;
  using Numbers = std::vector<std::int64_t>;
  const auto nodes = static_cast<std::size_t>(field.nodes);
  Numbers messages(ranks), bytes(ranks), got(ranks), got_bytes(ranks);
  Numbers node_out(nodes), node_out_bytes(nodes), node_in(nodes), node_in_bytes(nodes), load(nodes),
      writes(nodes);
  for (std::size_t a = 0; a < ranks; ++a) {
    const auto na = static_cast<std::size_t>(node[a]);
    load[na] += all[a][2 * ranks];
    writes[na] += all[a][2 * ranks + 1];
    out.written += all[a][2 * ranks];
    for (std::size_t b = 0; b < ranks; ++b) {
      const auto nb = static_cast<std::size_t>(node[b]);
      messages[a] += all[a][2 * b];
      bytes[a] += all[a][2 * b + 1];
      got[b] += all[a][2 * b];
      got_bytes[b] += all[a][2 * b + 1];
      if (na == nb) continue;
      node_out[na] += all[a][2 * b];
      node_out_bytes[na] += all[a][2 * b + 1];
      node_in[nb] += all[a][2 * b];
      node_in_bytes[nb] += all[a][2 * b + 1];
    }
  }
  const auto figures = [](const Numbers& numbers) {
    Collector<std::int64_t> all_of;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      all_of.add(numbers[i], static_cast<std::int64_t>(i));
    return all_of.figures();
  };
  out.figures.messages = figures(messages);
  out.figures.bytes = figures(bytes);
  out.figures.node_messages = figures(node_out);
  out.figures.node_bytes = figures(node_out_bytes);
  out.figures.node_takes_messages = figures(node_in);
  out.figures.node_takes_bytes = figures(node_in_bytes);
  // Of I/O ranks: all of them, ascending.
  const bool subset = options.rearranging.rearranger == RearrangerKind::subset;
  const auto io_ranks =
      subset ? simulated_groups(field, options).io_ranks : simulated_io_ranks(field, options);
  Collector<std::int64_t> m, b, l, e;
  for (const int r : io_ranks) {
    const auto i = static_cast<std::size_t>(r);
    m.add(got[i], r);
    b.add(got_bytes[i], r);
    l.add(all[i][2 * ranks], r);
    e.add(all[i][2 * ranks + 1], r);
  }
  out.figures.writer_messages = m.figures();
  out.figures.writer_bytes = b.figures();
  if (rearranged || subset) {
    out.figures.loads = l.figures();
    out.figures.extents = e.figures();
  } else {
    out.figures.loads = figures(load);
    out.figures.extents = figures(writes);
  }
  return out;
}

void check_same(const char* what, const Figures<std::int64_t>& simulated, const Figures<std::int64_t>& real) {
  CAPTURE(what);
  CHECK(simulated.count == real.count);
  CHECK(simulated.least == real.least);
  CHECK(simulated.median == real.median);
  CHECK(simulated.most == real.most);
  CHECK(simulated.sum == real.sum);
  CHECK(simulated.who_least == real.who_least);
  CHECK(simulated.who_most == real.who_most);
}

void compare(const Comm& comm, const SimulationRequest& request, const Simulation& simulated, Format format,
             const std::shared_ptr<const Decomposition>& cut) {
  const Happened real = write_field(comm, request.field, request.options, format, cut, simulated.rearranged);
  CHECK(simulated.ranks == comm.size());
  CHECK(real.written == volume(request.field.global) * 4);
  CHECK(simulated.loads.sum == real.written);
  if (simulated.rearranged) {
    check_same("messages", simulated.messages, real.figures.messages);
    check_same("bytes", simulated.bytes, real.figures.bytes);
    check_same("node messages", simulated.node_messages, real.figures.node_messages);
    check_same("node bytes", simulated.node_bytes, real.figures.node_bytes);
    check_same("node takes messages", simulated.node_takes_messages, real.figures.node_takes_messages);
    check_same("node takes bytes", simulated.node_takes_bytes, real.figures.node_takes_bytes);
    check_same("writer messages", simulated.writer_messages, real.figures.writer_messages);
    check_same("writer bytes", simulated.writer_bytes, real.figures.writer_bytes);
  } else {
    CHECK(real.figures.messages.sum == 0);
  }
  if (simulated.writer == Writer::rank) return;
  check_same("loads", simulated.loads, real.figures.loads);
  check_same("extents", simulated.extents, real.figures.extents);
}

/// How many of comm's ranks a node has, so that nodes are as the simulation has them.
std::vector<int> even_nodes(int ranks) {
  std::vector<int> sizes{1};
  if (ranks % 2 == 0) sizes.push_back(2);
  if (ranks > 2) sizes.push_back(ranks);
  return sizes;
}

int any_of(const std::vector<int>& sizes, std::mt19937& random) {
  return sizes[random() % sizes.size()];
}

}  // namespace

TEST_CASE("maps: simulated messages, loads and extents are those that happen") {
  const Comm comm(MPI_COMM_WORLD);
  if (!Nodes(comm, 0).single()) return;  // the nodes here are made of ranks that share memory
  std::mt19937 random(31);
  for (int round = 0; round < 24; ++round) {
    const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    SimulatedField field;
    field.ranks = comm.size();
    const Format format = round % 3 == 2 ? Format::netcdf4 : Format::cdf5;
    const std::int64_t levels = 1 + pick(5);
    const Dims mapped = pick(2) == 0 ? Dims{100 + pick(300)} : Dims{20 + pick(9), 10 + pick(9)};
    field.outer_dims = pick(2);
    field.uncut_dims = pick(2);
    field.global = joined(field.outer_dims == 1 ? Dims{levels} : Dims(), mapped);
    if (field.uncut_dims == 1) field.global.push_back(3);
    if (format == Format::netcdf4)
      for (const auto n : field.global)
        field.chunk.push_back(1 + n / 3);
    MapKind kind;
    kind.percent_unowned = 20 * pick(2);
    kind.percent_holes = 20 * pick(2);
    kind.runs = pick(2) == 0 ? 1 : 25;
    const auto lists = random_maps(volume(mapped), comm.size(), kind, random);
    field.cells = [&](int rank) { return lists[static_cast<std::size_t>(rank)]; };

    DriverOptions options;
    options.rearranging.ranks_per_node = any_of(even_nodes(comm.size()), random);
    field.nodes = comm.size() / options.rearranging.ranks_per_node;
    if (pick(3) == 0)
      options.rearranging.io_ranks = 1 + pick(comm.size());
    else if (pick(3) == 0)
      options.rearranging.io_ranks_per_node = 1 + pick(options.rearranging.ranks_per_node);
    else if (pick(2) == 0)
      options.rearranging.rearrange = Rearrange::on;
    else if (pick(2) == 0)
      options.rearranging.rearrange = Rearrange::off;
    const bool groups = pick(3) == 0 && options.rearranging.ranks_per_node > 1;
    if (groups) {
      options.rearranging.rearrange = Rearrange::automatic;
      options.rearranging.rearranger = RearrangerKind::subset;
      options.rearranging.io_ranks = 0;
      options.rearranging.io_ranks_per_node = 2;
    }
    if (pick(3) == 0) {  // many rounds
      options.stage.bytes = 512;
      options.stage.whole = true;
    }
    CAPTURE(round);
    CAPTURE(text_of(field.global));
    CAPTURE(options.rearranging.io_ranks);
    CAPTURE(options.rearranging.ranks_per_node);
    CAPTURE(groups);
    const auto tail_dims = tail(field.global, field.global.size() - field.outer_dims);
    const auto cut =
        Decomposition::map(comm, tail_dims, field.uncut_dims, lists[static_cast<std::size_t>(comm.rank())]);
    SimulationRequest request;
    request.field = field;
    request.options = options;
    const Simulation simulated = simulate(request);
    compare(comm, request, simulated, format, cut);
  }
}

TEST_CASE("tiles: simulated loads and extents are those that happen") {
  const Comm comm(MPI_COMM_WORLD);
  if (!Nodes(comm, 0).single()) return;  // the nodes here are made of ranks that share memory
  std::mt19937 random(32);
  for (int round = 0; round < 16; ++round) {
    const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    SimulatedField field;
    field.ranks = comm.size();
    field.global = round % 2 == 0 ? Dims{67, 131} : Dims{11, 40, 23};
    const Format format = round % 3 == 2 ? Format::netcdf4 : Format::cdf5;
    if (format == Format::netcdf4)
      for (const auto n : field.global)
        field.chunk.push_back(1 + n / 2);
    const auto tiles = random_tiles(field.global, comm.size(), pick(2) == 0, random);
    field.tile = [&](int rank) { return tiles[static_cast<std::size_t>(rank)]; };
    DriverOptions options;
    options.rearranging.ranks_per_node = any_of(even_nodes(comm.size()), random);
    if (pick(2) == 0) options.stage.slot_bytes = 64 * 1024;
    int writers = std::min(pick(3), options.rearranging.ranks_per_node);
    field.nodes = comm.size() / options.rearranging.ranks_per_node;
    const bool groups = pick(3) == 0;
    const bool sends = !groups && pick(2) == 0;
    if (groups) {
      writers = std::min(writers, 1);
      options.rearranging.rearranger = RearrangerKind::subset;
      if (pick(2) == 0) options.rearranging.io_ranks_per_node = 1 + pick(options.rearranging.ranks_per_node);
      if (pick(3) == 0) options.rearranging.io_base = pick(options.rearranging.ranks_per_node);
      const int each = std::max(options.rearranging.io_ranks_per_node, 1);
      options.rearranging.io_base =
          std::min(options.rearranging.io_base, options.rearranging.ranks_per_node - each);
    } else if (sends && pick(2) == 0)
      options.rearranging.io_ranks = 1 + pick(comm.size());
    else
      options.rearranging.rearrange = sends ? Rearrange::on : Rearrange::off;
    CAPTURE(round);
    CAPTURE(sends);
    CAPTURE(groups);
    CAPTURE(options.rearranging.ranks_per_node);
    CAPTURE(options.rearranging.io_ranks_per_node);
    CAPTURE(options.rearranging.io_base);
    if (writers > 0) options.stage.writers = writers;
    CAPTURE(writers);
    const auto cut = testing::block_of(comm, field.global, tiles, 0);
    SimulationRequest request;
    request.field = field;
    request.options = options;
    const Simulation simulated = simulate(request);
    CHECK(simulated.rearranged == sends);
    compare(comm, request, simulated, format, cut);
  }
}

TEST_CASE("boxes that begin at stripes: simulated messages, loads and extents are those that happen") {
  const Comm comm(MPI_COMM_WORLD);
  if (!Nodes(comm, 0).single()) return;  // the nodes here are made of ranks that share memory
  std::mt19937 random(33);
  for (int round = 0; round < 12; ++round) {
    const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    SimulatedField field;
    field.ranks = comm.size();
    field.global =
        std::array{Dims{67, 131}, Dims{9001}, Dims{3, 40, 101}}[static_cast<std::size_t>(round % 3)];
    DriverOptions options;
    options.rearranging.alignment_bytes = options.catalog.alignment = 4096;
    options.rearranging.ranks_per_node = any_of(even_nodes(comm.size()), random);
    field.nodes = comm.size() / options.rearranging.ranks_per_node;
    options.rearranging.io_ranks = 1 + pick(comm.size());
    const Format format = round % 4 == 3 ? Format::netcdf4 : Format::cdf5;
    if (format == Format::netcdf4)
      for (const auto n : field.global)
        field.chunk.push_back(1 + n / 2);
    std::shared_ptr<const Decomposition> cut;
    if (pick(2) == 0) {
      const auto tiles = random_tiles(field.global, comm.size(), pick(2) == 0, random);
      field.tile = [tiles](int rank) { return tiles[static_cast<std::size_t>(rank)]; };
      cut = testing::block_of(comm, field.global, tiles, 0);
    } else {
      field.outer_dims = round % 3 == 2 ? 1 : 0;
      const Dims mapped = tail(field.global, field.global.size() - field.outer_dims);
      const auto lists = random_maps(volume(mapped), comm.size(), {}, random);
      field.cells = [lists](int rank) { return lists[static_cast<std::size_t>(rank)]; };
      cut = Decomposition::map(comm, mapped, 0, lists[static_cast<std::size_t>(comm.rank())]);
    }
    CAPTURE(round);
    CAPTURE(options.rearranging.io_ranks);
    CAPTURE(options.rearranging.ranks_per_node);
    SimulationRequest request;
    request.field = field;
    request.options = options;
    const Simulation simulated = simulate(request);
    CHECK(simulated.rearranged);
    compare(comm, request, simulated, format, cut);
  }
}
