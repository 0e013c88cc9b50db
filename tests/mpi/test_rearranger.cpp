// Fields cut by maps, rearranged to even boxes and back, against a plain reference.
#include <doctest/doctest.h>

#include <sys/resource.h>

#include <array>
#include <csignal>
#include <cstring>

#include "rearrange/rearranger.hpp"
#include "support/random_maps.hpp"
#include "support/seeds.hpp"

using namespace shoal;
using testing::MapKind;
using testing::random_maps;
using testing::Seed;
using testing::seeds;

namespace {

constexpr int k_canary = 99;

int value_at(const Dims& index) {
  std::int64_t v = 3;
  for (const auto i : index)
    v = v * 31 + i;
  return static_cast<int>(v % 97);  // fits every type, and is no canary nor fill
}

double number(Type type, const std::byte* at, bool swapped = false) {
  double value = 0;
  find_conversion({type, size_of(type), swapped}, {Type::double_, 8, false})(
      at, 0, reinterpret_cast<std::byte*>(&value), 0, 1, nullptr);
  return value;
}

void set_number(Type type, std::byte* at, double value, bool swapped = false) {
  find_conversion({Type::double_, 8, false}, {type, size_of(type), swapped})(
      reinterpret_cast<const std::byte*>(&value), 0, at, 0, 1, nullptr);
}

/// A random field: a map, dimensions around it, and how it is moved.
struct Case {
  explicit Case(unsigned seed, const Comm& comm, bool repeats = false) : random(seed) {
    const int mapped_dims = 1 + pick(3);
    for (int d = 0; d < mapped_dims; ++d)
      mapped.push_back(1 + pick(mapped_dims == 1 ? 200 : 12));
    Dims global = mapped;
    for (int d = pick(3); d > 0; --d) {
      global.push_back(1 + pick(4));
      ++whole;
    }
    MapKind kind;
    kind.percent_unowned = pick(3) * 25;
    kind.percent_holes = pick(2) * 20;
    kind.runs = pick(2) == 0 ? 1 : 1 + pick(30);
    kind.repeats = repeats;
    lists = random_maps(volume(mapped), comm.size(), kind, random);
    const auto& mine = lists[static_cast<std::size_t>(comm.rank())];
    decomposition = Decomposition::map(comm, global, whole, mine);
    leads = pick(3);
    for (int d = 0; d < leads + global.size(); ++d) {
      const bool free = d < leads || d >= leads + mapped_dims;
      const std::int64_t count = d < leads ? 1 + pick(6) : global[d - leads];
      const std::int64_t first = d < leads ? pick(5) : free ? pick(static_cast<int>(count)) : 0;
      region.first.push_back(first);
      region.count.push_back(free && d >= leads ? 1 + pick(static_cast<int>(count - first)) : count);
      align.push_back(pick(2) == 0 ? 1 : 1 + pick(7));
    }
    if (pick(2) == 0) align = Dims();
    constexpr std::array types{Type::byte_,   Type::short_, Type::float_,
                               Type::double_, Type::int_,   Type::int64};
    stored = types[static_cast<std::size_t>(pick(6))];
    in_array = pick(2) == 0 ? stored : types[static_cast<std::size_t>(pick(6))];
    swapped = pick(3) == 0;
    for (int r = 0; r < comm.size(); ++r)
      if (pick(2) == 0) io_ranks.push_back(r);
    if (io_ranks.empty()) io_ranks.push_back(pick(comm.size()));
    constexpr std::array<std::int64_t, 4> sizes{1, 700, 5000, 64 << 20};
    rearrange_bytes = sizes[static_cast<std::size_t>(pick(4))];
    make_array(mine);
  }

  int pick(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

  void make_array(const std::vector<std::int64_t>& mine) {
    transfer.variable = 0;
    transfer.region = region;
    transfer.mine = region;
    transfer.decomposition = decomposition;
    Dims extents;
    for (int d = 0; d < leads; ++d)
      extents.push_back(region.count[d]);
    extents.push_back(static_cast<std::int64_t>(mine.size()));
    for (int d = region.rank() - whole; d < region.rank(); ++d)
      extents.push_back(region.count[d]);
    // Larger memory with gaps, sometimes in another order of dimensions.
    const auto size = static_cast<std::int64_t>(size_of(in_array));
    std::vector<int> order(static_cast<std::size_t>(extents.size()));
    std::iota(order.begin(), order.end(), 0);
    if (pick(3) == 0) std::shuffle(order.begin(), order.end(), random);
    const bool gaps = pick(3) == 0;
    Dims strides(extents.size());
    std::int64_t stride = size;
    for (auto d = order.rbegin(); d != order.rend(); ++d) {
      strides[*d] = stride;
      stride *= extents[*d] + (gaps ? 1 : 0);
    }
    memory.assign(static_cast<std::size_t>(stride + size), std::byte{0});
    for (std::size_t at = 0; at + size_of(in_array) <= memory.size(); at += size_of(in_array))
      set_number(in_array, memory.data() + at, k_canary);
    array = {memory.data(), in_array, size_of(in_array), extents, strides};
    transfer.array = array;
    cells = &mine;
  }

  /// visit(address, full global index) of this rank's values; the index of a hole is empty.
  template <class Visit>
  void for_values(Visit&& visit) {
    for (std::int64_t i = 0; i < volume(array.extents); ++i) {
      const Dims at = unravel(i, array.extents);
      std::byte* address = array.data;
      for (int d = 0; d < at.size(); ++d)
        address += at[d] * array.strides[d];
      const std::int64_t cell = (*cells)[static_cast<std::size_t>(at[leads])];
      Dims index;
      if (cell != k_hole) {
        for (int d = 0; d < leads; ++d)
          index.push_back(region.first[d] + at[d]);
        for (const auto n : unravel(cell, mapped))
          index.push_back(n);
        for (int d = leads + 1; d < at.size(); ++d)
          index.push_back(region.first[index.size()] + at[d]);
      }
      visit(address, index);
    }
  }

  std::int64_t cell_of(const Dims& index) const {
    std::int64_t cell = 0;
    for (int d = 0; d < mapped.size(); ++d)
      cell = cell * mapped[d] + index[leads + d];
    return cell;
  }

  /// Which ranks have a mapped cell.
  std::vector<std::vector<int>> owners() const {
    std::vector<std::vector<int>> out(static_cast<std::size_t>(volume(mapped)));
    for (std::size_t r = 0; r < lists.size(); ++r)
      for (const auto cell : lists[r])
        if (cell != k_hole) out[static_cast<std::size_t>(cell)].push_back(static_cast<int>(r));
    return out;
  }

  std::mt19937 random;
  Dims mapped;
  int whole = 0, leads = 0;
  std::vector<std::vector<std::int64_t>> lists;
  const std::vector<std::int64_t>* cells = nullptr;
  std::shared_ptr<const Decomposition> decomposition;
  Box region;
  Dims align;
  Type stored = Type::none, in_array = Type::none;
  ArrayView array;
  bool swapped = false;
  std::vector<int> io_ranks;
  std::int64_t rearrange_bytes = 0;
  Bytes memory;
  Transfer transfer;
};

template <class Visit>
void for_cells(const Box& box, Visit&& visit) {
  for (std::int64_t i = 0; i < box.cells(); ++i) {
    Dims index = unravel(i, box.count);
    for (int d = 0; d < box.rank(); ++d)
      index[d] += box.first[d];
    visit(index, static_cast<std::size_t>(i));
  }
}

Element element(Type type, bool swapped) {
  return {type, size_of(type), swapped};
}

bool is_io_rank(const Case& c, int rank) {
  return std::find(c.io_ranks.begin(), c.io_ranks.end(), rank) != c.io_ranks.end();
}

/// Writes the case and checks each piece; returns how many cells came, on all ranks together. over: there are
/// cells already, which stay where nobody has others.
std::int64_t check_write(const Comm& comm, Case& c, Rearranger& rearranger, int bad_rank = -1,
                         bool over = false) {
  c.for_values([&](std::byte* at, const Dims& index) {
    set_number(c.in_array, at, index.empty() ? k_canary : value_at(index));
  });
  if (comm.rank() == bad_rank) c.transfer.refused.why = {Code::invalid_argument, "bad", -1, {}, {}};
  const auto owners = c.owners();
  Bytes fill(size_of(c.stored));
  set_number(c.stored, fill.data(), 98, c.swapped);
  Bytes memory;
  std::int64_t came = 0;
  std::int64_t wrong = 0;
  std::int64_t calls = 0;
  Rearranger::UsePiece load;
  if (over)
    load = [&](const Box& piece, std::byte* cells) {
      for_cells(piece, [&](const Dims& index, std::size_t i) {
        set_number(c.stored, cells + i * size_of(c.stored), value_at(index) + 1, c.swapped);
      });
    };
  const ConversionErrors conversion_errors = rearranger.write(
      c.transfer, element(c.stored, c.swapped), fill.data(), {c.align},
      {[&](std::size_t bytes) {
         memory.assign(bytes, std::byte{0x55});
         return memory.data();
       },
       load,
       [&](const Box& piece, const std::byte* cells) {
         ++calls;
         came += piece.cells();
         if (!piece.empty()) CHECK(c.region.contains(piece));
         for_cells(piece, [&](const Dims& index, std::size_t i) {
           const auto& by = owners[static_cast<std::size_t>(c.cell_of(index))];
           const bool owned = !by.empty() && by.front() != bad_rank;
           const double is = number(c.stored, cells + i * size_of(c.stored), c.swapped);
           wrong += is != (owned ? value_at(index) : over ? value_at(index) + 1 : 98) ? 1 : 0;
         });
       }});
  CHECK(wrong == 0);
  CHECK(conversion_errors.count == 0);
  CHECK(comm.max(calls) == comm.min(calls));
  if (!is_io_rank(c, comm.rank())) CHECK(came == 0);
  return comm.sum(came);
}

void check_read(Case& c, Rearranger& rearranger) {
  Bytes memory;
  const ConversionErrors conversion_errors =
      rearranger.read(c.transfer, element(c.stored, c.swapped), {c.align},
                      {[&](std::size_t bytes) {
                         memory.assign(bytes, std::byte{0x55});
                         return memory.data();
                       },
                       [&](const Box& piece, std::byte* cells) {
                         for_cells(piece, [&](const Dims& index, std::size_t i) {
                           set_number(c.stored, cells + i * size_of(c.stored), value_at(index), c.swapped);
                         });
                       },
                       {}});
  CHECK(conversion_errors.count == 0);
  std::int64_t wrong = 0;
  c.for_values([&](const std::byte* at, const Dims& index) {
    wrong += number(c.in_array, at) != (index.empty() ? k_canary : value_at(index)) ? 1 : 0;
  });
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("random maps: boxes get every cell where it belongs, and the fill value elsewhere") {
  const Comm comm(MPI_COMM_WORLD);
  for (const Seed& given : seeds(0, 150)) {
    CAPTURE(given);
    const unsigned seed = given.value;
    Case c(seed, comm);
    Rearranger rearranger(comm, c.decomposition, c.io_ranks, c.rearrange_bytes);
    const int bad_rank = seed % 5 == 0 ? c.pick(comm.size()) : -1;
    CHECK(check_write(comm, c, rearranger, bad_rank) == c.region.cells());
    CHECK(check_write(comm, c, rearranger, bad_rank, true) == c.region.cells());
  }
}

TEST_CASE("random maps: ranks get their cells, also those that several have or one has twice") {
  const Comm comm(MPI_COMM_WORLD);
  for (const Seed& given : seeds(1000, 1150)) {
    CAPTURE(given);
    const unsigned seed = given.value;
    Case c(seed, comm, seed % 2 == 0);
    Rearranger rearranger(comm, c.decomposition, c.io_ranks, c.rearrange_bytes);
    check_read(c, rearranger);
  }
}

TEST_CASE("two levels: what a node's ranks have for an I/O rank goes there as one message, and back") {
  const Comm comm(MPI_COMM_WORLD);
  for (const Seed& given : seeds(2000, 2150)) {
    CAPTURE(given);
    const unsigned seed = given.value;
    Case c(seed, comm, seed % 3 == 0);
    const Nodes nodes(comm, 1 + c.pick(comm.size()));
    constexpr std::array<std::int64_t, 3> sizes{1, 5000, 1 << 20};
    NodeMessages messages(comm, nodes, c.io_ranks, sizes[static_cast<std::size_t>(c.pick(3))]);
    Rearranger rearranger(comm, c.decomposition, c.io_ranks, c.rearrange_bytes, &messages);
    if (seed % 3 == 0) {
      check_read(c, rearranger);
      continue;
    }
    const int bad_rank = seed % 5 == 0 ? c.pick(comm.size()) : -1;
    CHECK(check_write(comm, c, rearranger, bad_rank) == c.region.cells());
    CHECK(check_write(comm, c, rearranger, bad_rank, true) == c.region.cells());
    c.transfer.refused.why = {};
    check_read(c, rearranger);
  }
}

TEST_CASE("two levels: at most one message for each node, I/O rank and round") {
  const Comm comm(MPI_COMM_WORLD);
  const std::int64_t n = 1200;
  const std::int64_t levels = 40;
  std::vector<std::int64_t> cells;
  for (std::int64_t i = comm.rank(); i < n; i += comm.size())
    cells.push_back(i);
  const auto decomposition = Decomposition::map(comm, {n}, 0, cells);
  std::vector<double> values(cells.size() * static_cast<std::size_t>(levels), 1.0);
  Transfer transfer;
  transfer.variable = 0;
  transfer.region = Box({0, 0}, {levels, n});
  transfer.decomposition = decomposition;
  transfer.array =
      ArrayView::contiguous(values.data(), Type::double_, {levels, static_cast<std::int64_t>(cells.size())});
  std::vector<int> io_ranks(static_cast<std::size_t>(comm.size()));
  std::iota(io_ranks.begin(), io_ranks.end(), 0);
  const double fill = 0;
  Bytes memory;
  const auto count = [&](int ranks_per_node, std::int64_t window) {
    const Nodes nodes(comm, ranks_per_node);
    NodeMessages messages(comm, nodes, io_ranks, window);
    Rearranger rearranger(comm, decomposition, io_ranks, 64 << 20, &messages);
    std::int64_t rounds = 0;
    std::int64_t wrong = 0;
    const Rearranger::GetBuffer room = [&](std::size_t bytes) {
      memory.resize(bytes);
      return memory.data();
    };
    rearranger.write(transfer, element(Type::double_, false), reinterpret_cast<const std::byte*>(&fill), {},
                     {room, {}, [&](const Box& piece, const std::byte* at) {
                        ++rounds;
                        for (std::int64_t i = 0; i < piece.cells(); ++i)
                          wrong += number(Type::double_, at + 8 * i) != 1 ? 1 : 0;
                      }});
    CHECK(wrong == 0);
    const std::int64_t sent = comm.sum(messages.messages());
    const auto others = static_cast<std::int64_t>(nodes.count() - 1);
    const bool together = ranks_per_node > 1 && nodes.count() > 1;
    CHECK(messages.usable() == together);
    if (together) CHECK(sent <= others * comm.size() * rounds);
    if (nodes.count() == 1) CHECK(sent == 0);
    // All cells but those that stay on their node, and a byte for each rank that has some.
    const std::int64_t all = n * levels * 8;
    const std::int64_t heads = others * comm.size() * rounds * (comm.size() + 7);
    CHECK(comm.sum(messages.message_bytes()) <= all + heads);
    return sent;
  };
  const std::int64_t by_rank = count(1, 1 << 20);
  const std::int64_t by_node = count(2, 1 << 20);
  if (comm.size() == 4) {
    CHECK(by_rank == 12);
    CHECK(by_node == 4);
    CHECK(count(3, 1 << 20) == 4);
  }
  CHECK(count(2, 8192) >= by_node);  // in rounds
  if (Nodes(comm, 0).single()) CHECK(count(comm.size(), 1 << 20) == 0);
}

TEST_CASE("two levels: where a node has no shared memory left, messages go from rank to rank") {
  const Comm comm(MPI_COMM_WORLD);
  const Nodes nodes(comm, 2);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit whole{};
  getrlimit(RLIMIT_FSIZE, &whole);
  for (const Seed& given : seeds(70, 80)) {
    CAPTURE(given);
    const unsigned seed = given.value;
    Case c(seed, comm);
    NodeMessages messages(comm, nodes, c.io_ranks, 1 << 20);
    Rearranger rearranger(comm, c.decomposition, c.io_ranks, c.rearrange_bytes, &messages);
    const bool could = messages.usable();
    rlimit small = whole;
    small.rlim_cur = 0;  // a stand-in for a full /dev/shm: reserving pages obeys it
    if (comm.rank() == 0) setrlimit(RLIMIT_FSIZE, &small);
    CHECK(check_write(comm, c, rearranger) == c.region.cells());
    setrlimit(RLIMIT_FSIZE, &whole);
    check_read(c, rearranger);
    if (could && nodes.node().size() > 1) CHECK(messages.usable() == (c.region.cells() == 0));
  }
  std::signal(SIGXFSZ, SIG_DFL);
}

TEST_CASE("many fields of one map, of several shapes: lists are made once for each way to cut") {
  const Comm comm(MPI_COMM_WORLD);
  Case c(3, comm);
  c.whole = 0;
  c.leads = 1;
  c.mapped = Dims{500};
  std::mt19937 random(4);
  c.lists = random_maps(500, comm.size(), {20, 0, 1, false}, random);
  const auto& mine = c.lists[static_cast<std::size_t>(comm.rank())];
  c.decomposition = Decomposition::map(comm, c.mapped, 0, mine);
  c.align = Dims();
  std::vector<int> all(static_cast<std::size_t>(comm.size()));
  std::iota(all.begin(), all.end(), 0);
  c.io_ranks = all;
  Rearranger rearranger(comm, c.decomposition, all, 1 << 16);
  std::int64_t bytes = 0;
  for (int round = 0; round < 3; ++round) {
    for (const std::int64_t levels : {std::int64_t{1}, std::int64_t{40}}) {
      c.region = Box({0, 0}, {levels, 500});
      c.make_array(mine);
      CHECK(check_write(comm, c, rearranger) == c.region.cells());
    }
    if (round == 0)
      bytes = rearranger.bytes();
    else
      CHECK(rearranger.bytes() == bytes);
  }
  // Two lists of at most 4 bytes a cell of this rank's boxes, and two buffers.
  CHECK(bytes <= (1 << 16) + 2 * 4 * 500 + 200 * comm.size());
}

TEST_CASE("values that do not fit are counted, and the first is reported by its index") {
  const Comm comm(MPI_COMM_WORLD);
  const std::int64_t n = 60;
  std::vector<std::int64_t> cells;
  for (std::int64_t i = n - 1 - comm.rank(); i >= 0; i -= comm.size())
    cells.push_back(i);
  const auto decomposition = Decomposition::map(comm, {n, 2}, 1, cells);
  std::vector<double> values(cells.size() * 2 * 3, 1.0);
  Transfer transfer;
  transfer.variable = 0;
  transfer.region = Box({4, 0, 0}, {3, n, 2});
  transfer.decomposition = decomposition;
  transfer.array =
      ArrayView::contiguous(values.data(), Type::double_, {3, static_cast<std::int64_t>(cells.size()), 2});
  const bool bad = comm.rank() == comm.size() - 1;
  const std::size_t local = cells.size() / 2;
  if (bad) values[(cells.size() * 2 + local) * 2 + 1] = 1e6;  // third lead
  Rearranger rearranger(comm, decomposition, {0}, 1 << 20);
  std::int8_t fill = -7;
  Bytes memory;
  int found = 0;
  const ConversionErrors conversion_errors =
      rearranger.write(transfer, element(Type::byte_, false), reinterpret_cast<const std::byte*>(&fill), {},
                       {[&](std::size_t bytes) {
                          memory.resize(bytes);
                          return memory.data();
                        },
                        {},
                        [&](const Box& piece, const std::byte* at) {
                          for (std::int64_t i = 0; i < piece.cells(); ++i)
                            found += std::to_integer<int>(at[i]) == 256 - 7 ? 1 : 0;
                        }});
  CHECK(conversion_errors.count == (bad ? 1 : 0));
  if (comm.rank() == 0) CHECK(found == 1);
  if (bad) {
    VariableDef variable;
    variable.name = "v";
    variable.type = Type::byte_;
    const Status status = mapped_conversion_status(transfer, variable, conversion_errors, true);
    CHECK(status.code == Code::range);
    const std::string index = "[6, " + std::to_string(cells[local]) + ", 1]";
    CHECK(status.message.find("the value 1000000 at index " + index) == 0);
  }
}

TEST_CASE("no memory for a piece: its cells are dropped, and nobody waits for ever") {
  const Comm comm(MPI_COMM_WORLD);
  for (const Seed& given : seeds(40, 60)) {
    CAPTURE(given);
    Case c(given.value, comm);
    Rearranger rearranger(comm, c.decomposition, c.io_ranks, c.rearrange_bytes);
    Bytes fill(size_of(c.stored));
    const auto none = [](std::size_t) -> std::byte* { return nullptr; };
    const auto use = [](const Box& piece, std::byte*) { CHECK(piece.empty()); };
    rearranger.write(c.transfer, element(c.stored, false), fill.data(), {c.align}, {none, {}, use});
    rearranger.read(c.transfer, element(c.stored, false), {c.align}, {none, use, {}});
    std::int64_t changed = 0;
    c.for_values(
        [&](const std::byte* at, const Dims&) { changed += number(c.in_array, at) != k_canary ? 1 : 0; });
    CHECK(changed == 0);
  }
}
