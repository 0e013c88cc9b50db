// SPDX-License-Identifier: BSD-3-Clause
// shoal-plan: what the ranks of a large job would plan, and what one write of a field would then move and
// store, worked out on one core without starting them. `shoal explain --simulate` runs it; it prints one JSON
// object. It links the library's modules, not libshoal, so that it can count what a plan allocates.
#include <algorithm>
#include <charconv>
#include <iostream>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "cuts.hpp"
#include "json.hpp"
#include "memory.hpp"
#include "simulate/simulation.hpp"

namespace {

using namespace shoal;
using namespace shoal::bench;

constexpr const char* k_usage =
    "usage: shoal-plan --ranks N --nodes N (--global NXxNYxNZ [--tiles AxB] | --columns ne120|FILE "
    "[--map-name NAME] [--levels N])\n"
    "  [--cell-bytes 4] [--chunk NXxNYxNZ] [--library] [--io-ranks N] [--io-ranks-per-node N] [--io-stride "
    "N] [--io-base N] [--rearranger auto|box|subset]\n"
    "  [--stage-bytes N] [--slot-bytes N] [--direct-bytes N] [--writers N] [--rearrange auto|on|off] "
    "[--seconds 60]\n"
    "--library: through a driver of another library. Shapes have the fastest dimension first.\n";

class Arguments {
 public:
  Arguments(int argc, char** argv) {
    static const std::vector<std::string> known{
        "--ranks",      "--nodes",        "--global",   "--tiles",     "--columns",           "--levels",
        "--cell-bytes", "--chunk",        "--io-ranks", "--io-stride", "--io-base",           "--stage-bytes",
        "--slot-bytes", "--direct-bytes", "--writers",  "--seconds",   "--io-ranks-per-node", "--rearrange",
        "--rearranger", "--map-name"};
    for (int i = 1; i < argc; ++i) {
      const std::string name = argv[i];
      if (name == "--library") {
        values_[name] = "1";
        continue;
      }
      if (std::find(known.begin(), known.end(), name) == known.end() || i + 1 == argc)
        throw Error(Code::invalid_argument,
                    "'" + name + "' is no option, or its value is missing\n" + k_usage);
      values_[name] = argv[++i];
    }
  }
  bool has(const std::string& name) const { return values_.count(name) != 0; }
  const std::string& text(const std::string& name) const { return values_.at(name); }
  std::int64_t number(const std::string& name, std::int64_t usual, std::int64_t least,
                      std::int64_t most) const {
    if (!has(name)) return usual;
    const std::string& value = text(name);
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
    if (error != std::errc() || end != value.data() + value.size() || n < least || n > most)
      throw Error(Code::invalid_argument, name + " is '" + value + "'; it can be " + std::to_string(least) +
                                              " to " + std::to_string(most));
    return n;
  }
  int integer(const std::string& name, int usual, int least) const {
    return static_cast<int>(number(name, usual, least, 100'000'000));
  }

 private:
  std::map<std::string, std::string> values_;
};

std::string text_of_grid(const Dims& grid) {
  std::string out;
  for (int d = grid.size(); d-- > 0;)
    out += std::to_string(grid[d]) + (d > 0 ? "x" : "");
  return out;
}

/// Which cells each rank has. Returns the tiles, the fastest dimension first, or "".
std::string cut_field(const Arguments& arguments, SimulatedField& field) {
  field.ranks = arguments.integer("--ranks", 1, 1);
  field.nodes = arguments.integer("--nodes", 1, 1);
  if (field.nodes > field.ranks)
    throw Error(Code::invalid_argument, "--nodes is " + std::to_string(field.nodes) + ", but there are " +
                                            std::to_string(field.ranks) + " ranks; each node needs one");
  field.size = static_cast<std::size_t>(arguments.number("--cell-bytes", 4, 1, 8));
  if (arguments.has("--global") == arguments.has("--columns"))
    throw Error(Code::invalid_argument, std::string("give one of --global and --columns\n") + k_usage);
  std::string tiles;
  if (arguments.has("--global")) {
    for (const char* name : {"--levels", "--map-name"})
      if (arguments.has(name))
        throw Error(Code::invalid_argument,
                    std::string(name) + " goes with --columns; --global has all dimensions");
    field.global = dims_of_text("--global", arguments.text("--global"));
    tiles = text_of_grid(cut_in_tiles(
        field, arguments.has("--tiles") ? dims_of_text("--tiles", arguments.text("--tiles")) : Dims()));
  } else {
    if (arguments.has("--tiles"))
      throw Error(Code::invalid_argument, "--tiles goes with --global; columns have no tiles");
    const std::string& columns = arguments.text("--columns");
    const std::int64_t levels = arguments.number("--levels", 0, 1, std::int64_t{1} << 40);
    std::int64_t ne = 0;
    const char* const end = columns.data() + columns.size();
    if (columns.rfind("ne", 0) == 0 && std::from_chars(columns.data() + 2, end, ne).ptr == end && ne > 0 &&
        ne <= 100'000) {
      if (arguments.has("--map-name"))
        throw Error(Code::invalid_argument,
                    "--map-name is of a file of decompositions; " + columns + " is a cubed sphere");
      cut_sphere(field, ne, levels);
    } else {
      cut_as_file(field, columns, arguments.has("--map-name") ? arguments.text("--map-name") : "", levels);
    }
  }
  if (arguments.has("--chunk")) {
    field.chunk = dims_of_text("--chunk", arguments.text("--chunk"));
    if (field.chunk.size() != field.global.size())
      throw Error(Code::invalid_argument, "--chunk has " + std::to_string(field.chunk.size()) +
                                              " dimensions, but the field has " +
                                              std::to_string(field.global.size()));
  }
  return tiles;
}

DriverOptions options_of(const Arguments& arguments) {
  DriverOptions options;
  for (const char* name : {"--rearrange", "--writers", "--slot-bytes", "--direct-bytes"})
    if (arguments.has("--library") && arguments.has(name))
      throw Error(Code::invalid_argument, std::string(name) +
                                              " is for driver native, and --library another one; leave one "
                                              "of them out");
  options.io_ranks = arguments.integer("--io-ranks", 0, 1);
  options.io_stride = arguments.integer("--io-stride", 0, 1);
  options.io_ranks_per_node = arguments.integer("--io-ranks-per-node", 0, 1);
  options.io_base = arguments.integer("--io-base", 0, 0);
  options.writers = arguments.integer("--writers", 0, 0);
  constexpr std::int64_t k_most = std::int64_t{1} << 50;
  options.slot_bytes = arguments.number("--slot-bytes", 0, 1, k_most);
  options.direct_bytes = arguments.number("--direct-bytes", 0, 1, k_most);
  options.whole_stage = arguments.has("--stage-bytes");
  options.stage_bytes = arguments.number("--stage-bytes", options.stage_bytes, 1, k_most);
  if (arguments.has("--rearrange")) {
    const std::map<std::string, Rearrange> words{
        {"auto", Rearrange::automatic}, {"on", Rearrange::on}, {"off", Rearrange::off}};
    const auto word = words.find(arguments.text("--rearrange"));
    if (word == words.end())
      throw Error(Code::invalid_argument,
                  "--rearrange is '" + arguments.text("--rearrange") + "'; it can be auto, on or off");
    options.rearrange = word->second;
  }
  if (arguments.has("--rearranger")) {
    const std::map<std::string, RearrangerKind> words{{"auto", RearrangerKind::automatic},
                                                      {"box", RearrangerKind::box},
                                                      {"subset", RearrangerKind::subset}};
    const auto word = words.find(arguments.text("--rearranger"));
    if (word == words.end())
      throw Error(Code::invalid_argument,
                  "--rearranger is '" + arguments.text("--rearranger") + "'; it can be auto, box or subset");
    options.rearranger = word->second;
  }
  return options;
}

std::string json_of(const Figures<std::int64_t>& f) {
  return Object()
      .number("count", f.count)
      .number("least", f.least)
      .number("median", f.median)
      .number("most", f.most)
      .number("sum", f.sum)
      .number("who_least", f.who_least)
      .number("who_most", f.who_most)
      .done();
}

std::string json_of(const Figures<double>& f) {
  return Object()
      .number("count", f.count)
      .real("least", "%.3e", f.least)
      .real("median", "%.3e", f.median)
      .real("most", "%.3e", f.most)
      .real("sum", "%.6e", f.sum)
      .number("who_least", f.who_least)
      .number("who_most", f.who_most)
      .done();
}

std::vector<std::int64_t> fastest_first(const Dims& dims) {
  return {std::reverse_iterator(dims.end()), std::reverse_iterator(dims.begin())};
}

std::string json_of(const std::vector<StoredBox>& boxes, std::size_t size) {
  std::vector<std::string> all;
  for (const auto& box : boxes)
    all.push_back(Object()
                      .number("rank", box.rank)
                      .list("first", fastest_first(box.cells.first))
                      .list("count", fastest_first(box.cells.count))
                      .number("bytes", box.cells.cells() * static_cast<std::int64_t>(size))
                      .done());
  return json_list(all);
}

std::string json_of(const std::vector<ServedRanks>& groups) {
  std::vector<std::string> all;
  for (const auto& group : groups)
    all.push_back(
        Object().number("rank", group.rank).number("first", group.first).number("count", group.count).done());
  return json_list(all);
}

void print(const SimulatedField& field, const std::string& tiles, const Simulation& s) {
  const char* const writers[] = {"I/O rank", "node", "rank"};
  std::cout << Object()
                   .list("shape", fastest_first(field.global))
                   .text("tiles", tiles)
                   .number("cell_bytes", static_cast<std::int64_t>(field.size))
                   .list("chunk", fastest_first(field.chunk))
                   .number("ranks", field.ranks)
                   .number("nodes", field.nodes)
                   .number("ranks_simulated", s.ranks)
                   .number("nodes_simulated", s.nodes)
                   .number("groups_simulated", s.groups)
                   .real("seconds", "%.3f", s.seconds)
                   .text("strategy", s.rearranged   ? "rearrange"
                                     : s.groups > 0 ? "subset"
                                                    : "local")
                   .text("why", s.why)
                   .text("writer", writers[static_cast<int>(s.writer)])
                   .number("writers", s.writers)
                   .number("rounds", s.rounds)
                   .raw("plan_seconds", json_of(s.plan_seconds))
                   .raw("plan_bytes", json_of(s.plan_bytes))
                   .raw("kept_bytes", json_of(s.kept_bytes))
                   .raw("rank_messages", json_of(s.messages))
                   .raw("rank_bytes", json_of(s.bytes))
                   .raw("node_sends_messages", json_of(s.node_messages))
                   .raw("node_sends_bytes", json_of(s.node_bytes))
                   .raw("node_takes_messages", json_of(s.node_takes_messages))
                   .raw("node_takes_bytes", json_of(s.node_takes_bytes))
                   .raw("writer_messages", json_of(s.writer_messages))
                   .raw("writer_bytes", json_of(s.writer_bytes))
                   .raw("loads", json_of(s.loads))
                   .raw("extents", json_of(s.extents))
                   .raw("extent_bytes", json_of(s.extent_bytes))
                   .raw("boxes", json_of(s.boxes, field.size))
                   .raw("served", json_of(s.served))
                   .done()
            << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments(argc, argv);
    SimulationWish wish;
    const std::string tiles = cut_field(arguments, wish.field);
    wish.options = options_of(arguments);
    wish.native = !arguments.has("--library");
    wish.budget = static_cast<double>(arguments.number("--seconds", 60, 0, 1'000'000));
    wish.meter = allocations();
    print(wish.field, tiles, simulate(wish));
    return 0;
  } catch (const std::bad_alloc&) {
    std::cerr
        << "shoal-plan: there is not enough memory for it on this machine; simulate fewer ranks or cells\n";
    return 2;
  } catch (const std::exception& e) {
    std::cerr << "shoal-plan: " << e.what() << "\n";
    return 2;
  }
}
