// SPDX-License-Identifier: BSD-3-Clause
// shoal-plan: what the ranks of a large job would plan, and what one write of a field would then move and
// store, worked out on one core without starting them. `shoal explain layout` and `simulate` run it;
// it prints one JSON object. It links the library's rooms, not libshoal, so that it can count what a plan
// allocates.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "comm/nodes.hpp"
#include "dataset/driver_options.hpp"
#include "driver/library/gather/slab.hpp"
#include "driver/native/stage/stage.hpp"
#include "machine/default_figures.hpp"
#include "machine/machine_file.hpp"
#include "plan/cuts.hpp"
#include "plan/memory.hpp"
#include "simulate/explained.hpp"
#include "simulate/simulation.hpp"
#include "storage/file_system.hpp"

namespace {

using namespace shoal;
using namespace shoal::plan;
using Json = nlohmann::ordered_json;

class Arguments {
 public:
  Arguments(int argc, char** argv) {
    app_.set_help_flag();
    app_.get_formatter()->column_width(28);
    add("--ranks", "N", "ranks of the job");
    add("--nodes", "N", "nodes that they are on");
    add("--global", "NXxNYxNZ", "global cells, the fastest dimension first");
    add("--tiles", "AxB",
        "with --global: tiles along the first dimensions; as square as possible unless given");
    add("--columns", "ne120|FILE",
        "in place of --global: of a cubed sphere, or of a decomposition in a file");
    add("--map-name", "NAME", "which decomposition of a file that holds several");
    add("--levels", "N", "with --columns: a dimension that is not cut");
    add("--cell-bytes", "N", "bytes of a value (4)");
    add("--chunk", "NXxNYxNZ", "of the variable; it has no chunks unless given");
    app_.add_flag("--library", library_, "through a driver of another library");
    add("--io-ranks", "N", "how many ranks store and fetch");
    add("--io-ranks-per-node", "N", "the same, of each node");
    add("--io-stride", "N", "every so many ranks there is one");
    add("--io-base", "N", "the first of them");
    add("--rearranger", "auto|box|subset", "even boxes, or what the ranks of a group have");
    add("--stage-bytes", "N", "of the stage of a node");
    add("--slot-bytes", "N", "of a slot of it");
    add("--direct-bytes", "N", "from how long runs on a rank stores its own");
    add("--writers", "N", "how many ranks of a node store at once");
    add("--rearrange", "auto|on|off", "of cells between nodes");
    add("--seconds", "N", "if all ranks would take longer, those of some nodes are taken (60)");
    app_.add_flag("--explain", explain_, "what one write does, without plans of ranks; needs --global");
    add("--ranks-per-node", "N", "in place of --nodes: ranks of each node but the last");
    add("--background", "off|thread|ranks|auto", "who stores what is in the stage");
    add("--servers", "N", "of each node, beside --ranks; with --background ranks");
    add("--machine", "PATH", "what shoal tune measured: choose by it, and say times");
    add("--folder", "DIR", "where the file will be: of the machine file, or else the default figures there");
    add("--file-system", "lustre|gpfs|beegfs",
        "on another machine that was not measured: its default figures");
    add("--stripes", "N", "with --file-system lustre: of the file (1)");
    add("--cores", "N", "of a node; --background auto chooses by them");
    app_.add_flag("-h,--help", help_, "this text");
    app_.allow_extras();
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
      throw Error(Code::invalid_argument, std::string(e.what()) + "; --help says what options take");
    }
    if (const auto unknown = app_.remaining(); !unknown.empty())
      throw Error(Code::invalid_argument, "'{}' is no option; --help lists them", unknown.front());
    for (const char* name : {"--servers", "--background", "--cores", "--ranks-per-node"})
      if (has(name) && !has("--explain"))
        throw Error(Code::invalid_argument, std::string(name) + " needs --explain");
  }
  bool has(const std::string& name) const { return app_.count(name) > 0; }
  std::string text(const std::string& name) const { return app_.get_option(name)->as<std::string>(); }
  std::string help() const { return app_.help(); }
  std::int64_t number(const std::string& name, std::int64_t usual, std::int64_t least,
                      std::int64_t most) const {
    if (!has(name)) return usual;
    const std::string value = text(name);
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
    if (error != std::errc() || end != value.data() + value.size() || n < least || n > most)
      throw Error(Code::invalid_argument, "{} is '{}'; it can be {} to {}", name, value, least, most);
    return n;
  }
  int integer(const std::string& name, int usual, int least) const {
    return static_cast<int>(number(name, usual, least, 100'000'000));
  }

 private:
  void add(const std::string& name, const std::string& value, const std::string& description) {
    app_.add_option(name, description)->expected(1)->type_name(value)->take_last();
  }

  bool library_ = false, explain_ = false, help_ = false;
  CLI::App app_{"What the ranks of a large job would plan, and what one write of a field would then move.",
                "shoal-plan"};
};

std::string text_of_grid(const Dims& grid) {
  std::string out;
  for (int d = grid.size(); d-- > 0;)
    out += std::to_string(grid[d]) + (d > 0 ? "x" : "");
  return out;
}

/// Even nodes, or as many ranks on each but the last.
void cut_in_nodes(const Arguments& arguments, SimulatedField& field) {
  field.ranks = arguments.integer("--ranks", 1, 1);
  if (!arguments.has("--ranks-per-node")) {
    field.nodes = arguments.integer("--nodes", 1, 1);
  } else {
    if (arguments.has("--nodes"))
      throw Error(Code::invalid_argument, "give one of --nodes and --ranks-per-node");
    const int each = arguments.integer("--ranks-per-node", 1, 1);
    for (int first = 0; first < field.ranks; first += each)
      field.firsts.push_back(first);
    field.nodes = static_cast<int>(field.firsts.size());
    field.firsts.push_back(field.ranks);
  }
  if (field.nodes > field.ranks)
    throw Error(Code::invalid_argument, "--nodes is {}, but there are {} ranks; each node needs one",
                field.nodes, field.ranks);
}

/// Which cells each rank has. Returns the tiles, the fastest dimension first, or "".
std::string cut_field(const Arguments& arguments, SimulatedField& field) {
  cut_in_nodes(arguments, field);
  field.size = static_cast<std::size_t>(arguments.number("--cell-bytes", 4, 1, 8));
  if (arguments.has("--global") == arguments.has("--columns"))
    throw Error(Code::invalid_argument, "give one of --global and --columns; --help says what they take");
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
    const std::string columns = arguments.text("--columns");
    const std::int64_t levels = arguments.number("--levels", 0, 1, std::int64_t{1} << 40);
    std::int64_t ne = 0;
    const char* const end = columns.data() + columns.size();
    if (columns.rfind("ne", 0) == 0 && std::from_chars(columns.data() + 2, end, ne).ptr == end && ne > 0 &&
        ne <= 100'000) {
      if (arguments.has("--map-name"))
        throw Error(Code::invalid_argument, "--map-name is of a file of decompositions; {} is a cubed sphere",
                    columns);
      cut_sphere(field, ne, levels);
    } else {
      cut_as_file(field, columns, arguments.has("--map-name") ? arguments.text("--map-name") : "", levels);
    }
  }
  if (arguments.has("--chunk")) {
    field.chunk = dims_of_text("--chunk", arguments.text("--chunk"));
    if (field.chunk.size() != field.global.size())
      throw Error(Code::invalid_argument, "--chunk has {} dimensions, but the field has {}",
                  field.chunk.size(), field.global.size());
  }
  return tiles;
}

DriverOptions options_of(const Arguments& arguments) {
  DriverOptions options;
  for (const char* name : {"--rearrange", "--writers", "--slot-bytes", "--direct-bytes", "--machine",
                           "--folder", "--file-system"})
    if (arguments.has("--library") && arguments.has(name))
      throw Error(Code::invalid_argument, std::string(name) +
                                              " is for driver native, and --library another one; leave one "
                                              "of them out");
  options.rearranging.io_ranks = arguments.integer("--io-ranks", 0, 1);
  options.rearranging.io_stride = arguments.integer("--io-stride", 0, 1);
  options.rearranging.io_ranks_per_node = arguments.integer("--io-ranks-per-node", 0, 1);
  options.rearranging.io_base = arguments.integer("--io-base", 0, 0);
  if (const int writers = arguments.integer("--writers", 0, 0); writers > 0) options.stage.writers = writers;
  constexpr std::int64_t k_most = std::int64_t{1} << 50;
  if (arguments.has("--slot-bytes"))
    options.stage.slot_bytes = arguments.number("--slot-bytes", 0, 1, k_most);
  if (arguments.has("--direct-bytes"))
    options.stage.direct_bytes = arguments.number("--direct-bytes", 0, 1, k_most);
  options.stage.whole = arguments.has("--stage-bytes");
  options.stage.bytes = arguments.number("--stage-bytes", options.stage.bytes, 1, k_most);
  if (arguments.has("--rearrange")) {
    const std::map<std::string, Rearrange> words{
        {"auto", Rearrange::automatic}, {"on", Rearrange::on}, {"off", Rearrange::off}};
    const auto word = words.find(arguments.text("--rearrange"));
    if (word == words.end())
      throw Error(Code::invalid_argument, "--rearrange is '{}'; it can be auto, on or off",
                  arguments.text("--rearrange"));
    options.rearranging.rearrange = word->second;
  }
  if (arguments.has("--rearranger")) {
    const std::map<std::string, RearrangerKind> words{{"auto", RearrangerKind::automatic},
                                                      {"box", RearrangerKind::box},
                                                      {"subset", RearrangerKind::subset}};
    const auto word = words.find(arguments.text("--rearranger"));
    if (word == words.end())
      throw Error(Code::invalid_argument, "--rearranger is '{}'; it can be auto, box or subset",
                  arguments.text("--rearranger"));
    options.rearranging.rearranger = word->second;
  }
  return options;
}

/// Of the file system of a folder in a machine file, or of the only one there is.
MachineFigures figures_of_file(const Arguments& arguments) {
  const std::string path = arguments.text("--machine");
  const Machine machine = read_machine(path);
  const FileSystemFigures* figures = nullptr;
  if (arguments.has("--folder"))
    figures = file_system_for(machine, arguments.text("--folder"));
  else if (machine.file_systems.size() == 1)
    figures = &machine.file_systems.front();
  std::vector<std::string> mount_points;
  for (const auto& there : machine.file_systems)
    mount_points.push_back(there.mount_point);
  if (figures == nullptr)
    throw Error(Code::invalid_argument, "--folder says which file system is meant; {} has: {}", path,
                joined(mount_points, ", "));
  MachineFigures found{path, machine.node, *figures};
  const bool known = file_system_named(figures->kind).sharing != FileSystem::Sharing::unknown;
  complete_with_defaults(found, default_figures(figures->kind, figures->stripe_count, known));
  return found;
}

/// Measured figures, or the default ones of a kind of file system, as a run there would go by.
void choose_by_figures(const Arguments& arguments, DriverOptions& options) {
  const bool is_lustre = arguments.has("--file-system") && arguments.text("--file-system") == "lustre";
  if (arguments.has("--stripes") && !is_lustre)
    throw Error(Code::invalid_argument, "--stripes needs --file-system lustre");
  if (arguments.has("--file-system")) {
    if (arguments.has("--machine") || arguments.has("--folder"))
      throw Error(Code::invalid_argument,
                  "--file-system is for a machine that is not here and was not measured; leave --machine and "
                  "--folder out");
    const std::string kind = arguments.text("--file-system");
    options.machine = default_figures(kind, arguments.number("--stripes", 1, 1, 65534));
    if (!options.machine)
      throw Error(
          Code::invalid_argument,
          "--file-system is '{}'; there are default figures of lustre, gpfs and beegfs, and on others a run "
          "goes by none",
          kind);
  } else if (arguments.has("--machine")) {
    options.machine = figures_of_file(arguments);
  } else if (arguments.has("--folder")) {
    // As a run that starts here finds it: machine.toml, or default figures.
    const std::string dataset = (std::filesystem::path(arguments.text("--folder")) / "dataset.nc").string();
    const FoundMachine found =
        resolve_machine(resolve_settings("", {}), {}, dataset, file_system_of, OpenMode::create);
    for (const std::string& warning : found.warnings)
      std::cerr << "shoal-plan: " << printable(warning) << "\n";
    options.machine = found.figures;
  }
  if (options.machine) choose_by_machine(options);
}

Json json_of(const std::optional<MachineFigures>& figures, const std::vector<std::string>& choices,
             const CostEstimate& cost) {
  if (!figures) return nullptr;
  const bool predicts = figures->measured();
  return {{"figures", text_of(*figures)},
          {"choices", choices},
          {"local_seconds", predicts ? cost.local : 0},
          {"rearranged_seconds", predicts ? cost.rearranged : 0}};
}

int most_ranks_of_node(const SimulatedField& field) {
  int most = 0;
  for (int n = 0; n < field.nodes; ++n)
    most = std::max(most, field.first_of_node(n + 1) - field.first_of_node(n));
  return most;
}

/// Who stores what is in the stage: as asked for, or chosen by cores.
void choose_background(const Arguments& arguments, const SimulatedField& field, DriverOptions& options) {
  std::string word = arguments.has("--background") ? arguments.text("--background") : "off";
  if (word == "auto")
    word = have_cores_for_threads(arguments.integer("--cores", 0, 1), most_ranks_of_node(field)) ? "thread"
                                                                                                 : "off";
  const std::map<std::string, StoredBy> words{
      {"off", StoredBy::calls}, {"thread", StoredBy::thread}, {"ranks", StoredBy::ranks}};
  const auto found = words.find(word);
  if (found == words.end())
    throw Error(Code::invalid_argument, "--background is '{}'; it can be off, thread, ranks or auto", word);
  options.background.stored_by = found->second;
  if (options.background.stored_by == StoredBy::ranks)
    options.servers.count = arguments.integer("--servers", 1, 1) * field.nodes;
}

template <class T>
Json json_of(const Figures<T>& f) {
  return {{"count", f.count}, {"least", f.least},         {"median", f.median},    {"most", f.most},
          {"sum", f.sum},     {"who_least", f.who_least}, {"who_most", f.who_most}};
}

std::vector<std::int64_t> fastest_first(const Dims& dims) {
  return {std::reverse_iterator(dims.end()), std::reverse_iterator(dims.begin())};
}

Json json_of(const StoredBox& box, std::size_t size) {
  return {{"rank", box.rank},
          {"first", fastest_first(box.cells.first)},
          {"count", fastest_first(box.cells.count)},
          {"bytes", box.cells.cells() * static_cast<std::int64_t>(size)}};
}

Json json_of(const std::vector<StoredBox>& boxes, std::size_t size) {
  auto all = Json::array();
  for (const auto& box : boxes)
    all.push_back(json_of(box, size));
  return all;
}

Json json_of(const std::vector<ServedRanks>& groups) {
  auto all = Json::array();
  for (const auto& group : groups)
    all.push_back({{"rank", group.rank}, {"first", group.first}, {"count", group.count}});
  return all;
}

Json json_of(const FieldCounts& counts) {
  if (!counts.counted) return nullptr;
  const auto whole = [](double n) { return static_cast<std::int64_t>(n); };
  return {{"runs", whole(counts.runs)},
          {"bytes", whole(counts.bytes)},
          {"io_ranks", counts.io_ranks},
          {"box_runs", whole(counts.box_runs)}};
}

void print(const SimulationRequest& request, const Explained& e) {
  const char* const background[] = {"off", "thread", "ranks"};
  auto nodes = Json::array(), boxes = Json::array();
  for (const auto& node : e.nodes)
    nodes.push_back({{"first", node.first},
                     {"count", node.count},
                     {"io_rank", node.io_rank},
                     {"past_stage", node.past_stage},
                     {"slot_generations", node.slot_generations},
                     {"writes", node.writes}});
  for (const auto& box : e.boxes) {
    boxes.push_back(json_of(box.stored, request.field.size));
    boxes.back()["runs"] = box.runs;
  }
  const Json explained{{"rearranged", e.rearranged},
                       {"setting", e.setting},
                       {"counts", json_of(e.counts)},
                       {"machine", json_of(request.options.machine, request.options.machine_choices, e.cost)},
                       {"background", background[static_cast<int>(request.options.background.stored_by)]},
                       {"cores_of_rank_and_thread", k_cores_of_rank_and_thread},
                       {"most_ranks_of_node", most_ranks_of_node(request.field)},
                       {"stage_bytes", request.options.stage.bytes},
                       {"gather_slab_bytes", gather_slab_bytes(request.options.stage)},
                       {"slots", e.stage.slots},
                       {"first_slots", Stage::first_slots(e.stage.slot_bytes)},
                       {"slot_bytes", e.stage.slot_bytes},
                       {"share_bytes", e.share_bytes},
                       {"writers", e.stage.writers},
                       {"long_run_bytes", k_long_run},
                       {"groups_of_node", e.groups_of_node},
                       {"nodes", nodes},
                       {"by_nodes", e.by_nodes},
                       {"window_bytes", e.window_bytes},
                       {"most_piece_bytes", e.most_piece_bytes},
                       {"boxes", boxes}};
  std::cout << explained.dump() << "\n";
}

void print(const SimulatedField& field, const std::string& tiles, const Simulation& s) {
  const char* const writers[] = {"I/O rank", "node", "rank"};
  const char* const strategy = s.rearranged ? "rearrange" : s.groups > 0 ? "subset" : "local";
  const Json reported{{"shape", fastest_first(field.global)},
                      {"tiles", tiles},
                      {"cell_bytes", field.size},
                      {"chunk", fastest_first(field.chunk)},
                      {"ranks", field.ranks},
                      {"nodes", field.nodes},
                      {"ranks_simulated", s.ranks},
                      {"nodes_simulated", s.nodes},
                      {"groups_simulated", s.groups},
                      {"seconds", s.seconds},
                      {"strategy", strategy},
                      {"why", s.why},
                      {"writer", writers[static_cast<int>(s.writer)]},
                      {"writers", s.writers},
                      {"rounds", s.rounds},
                      {"plan_seconds", json_of(s.plan_seconds)},
                      {"plan_bytes", json_of(s.plan_bytes)},
                      {"kept_bytes", json_of(s.kept_bytes)},
                      {"rank_messages", json_of(s.messages)},
                      {"rank_bytes", json_of(s.bytes)},
                      {"node_sends_messages", json_of(s.node_messages)},
                      {"node_sends_bytes", json_of(s.node_bytes)},
                      {"node_takes_messages", json_of(s.node_takes_messages)},
                      {"node_takes_bytes", json_of(s.node_takes_bytes)},
                      {"writer_messages", json_of(s.writer_messages)},
                      {"writer_bytes", json_of(s.writer_bytes)},
                      {"loads", json_of(s.loads)},
                      {"extents", json_of(s.extents)},
                      {"extent_bytes", json_of(s.extent_bytes)},
                      {"boxes", json_of(s.boxes, field.size)},
                      {"served", json_of(s.served)}};
  std::cout << reported.dump() << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments(argc, argv);
    if (arguments.has("--help")) {
      std::cout << arguments.help();
      return 0;
    }
    SimulationRequest request;
    const std::string tiles = cut_field(arguments, request.field);
    request.options = options_of(arguments);
    choose_by_figures(arguments, request.options);
    request.native = !arguments.has("--library");
    if (arguments.has("--explain")) {
      if (request.field.is_map())
        throw Error(Code::invalid_argument, "--explain is of tiles; give --global, not --columns");
      choose_background(arguments, request.field, request.options);
      print(request, explain(request));
      return 0;
    }
    request.budget = static_cast<double>(arguments.number("--seconds", 60, 0, 1'000'000));
    request.meter = allocations();
    print(request.field, tiles, simulate(request));
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
