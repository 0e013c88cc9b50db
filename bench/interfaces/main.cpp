// SPDX-License-Identifier: BSD-3-Clause
// What other interfaces cost: the same fields by shoal_write, through PIO on Shoal, and by the calls of
// netCDF and PnetCDF through Shoal's doors, in turns.
//
//   mpiexec -n 16 bench-interfaces [CASE...] [--reps N] [--dir D] [--json FILE] [--toy]
//
// Cases: large, lists (through PIO alone) and small are written in turns, in the other order every other
// time, after a round that is not counted, in which every value is read back and compared. initdecomp times
// decompositions of 1e7 cells on a rank, of a list that is new and of one that was seen before. memory is the
// peak of a rank that writes arrays larger than the stage. Each line ends with the goal, and whether it was
// reached. Exit codes: 0; 1 for errors; 2 for wrong values.
#include <mpi.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>

#include "command_line.hpp"
#include "json.hpp"
#include "mpi_program.hpp"
#include "node.hpp"
#include "writers.hpp"

namespace {

using namespace shoal::bench;
using namespace shoal::bench::interfaces;

struct Options {
  std::vector<std::string> cases;
  std::string dir = ".", json;
  std::int64_t repetitions = 9;
  bool toy = false, help = false;
};

std::unique_ptr<CLI::App> command_line(Options& o) {
  auto app =
      std::make_unique<CLI::App>("The same fields by shoal_write and through other interfaces, in turns.",
                                 "mpiexec -n RANKS bench-interfaces");
  app->set_help_flag();
  app->get_formatter()->column_width(20);
  app->add_option("cases", o.cases, "large lists small initdecomp memory; all unless given")
      ->option_text("CASE...");
  add_value(*app, "--reps", "N", "counted repetitions, after one that is not counted (9)",
            [&](const std::string& v) { o.repetitions = whole_number("--reps", v, 1); });
  add_value(*app, "--dir", "D", "where the files go (.)", [&](const std::string& v) { o.dir = v; });
  add_value(*app, "--json", "FILE", "all figures, with the times of every run",
            [&](const std::string& v) { o.json = v; });
  app->add_flag("--toy", o.toy, "tiny sizes, to see that it works");
  app->add_flag("-h,--help", o.help, "this text");
  return app;
}

Options parse_options(const std::vector<std::string>& words) {
  Options o;
  parse(*command_line(o), words);
  if (o.cases.empty()) o.cases = {"large", "lists", "small", "initdecomp", "memory"};
  return o;
}

const char* verdict(bool reached) {
  return reached ? "reached" : "missed";
}

double mib(std::int64_t bytes) {
  return static_cast<double>(bytes) / 1048576.0;
}

/// What all cases share.
class Bench {
 public:
  Bench(MPI_Comm comm, const Options& options) : comm_(comm), options_(options) {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &ranks_);
    one_node_ = on_one_node(comm_);
  }

  /// False: values are wrong.
  bool run(const std::string& name) {
    if (name == "initdecomp") {
      init_decomp();
      return true;
    }
    if (name == "memory") return memory();
    return in_turns(make_case(name, options_.toy, rank_, ranks_));
  }

  const Json& figures() const { return figures_; }

 private:
  std::string path_of(const char* who) const {
    return (std::filesystem::path(options_.dir) / ("bench-interfaces-" + std::string(who) + ".nc")).string();
  }

  double seconds_of(Writer& writer, const std::string& path, const Case& c) const {
    const auto begin = start_together(comm_, one_node_);
    writer.write(path, c);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm_);
    return seconds;
  }

  bool right(ShoalWriter& reader, const std::string& path, const Case& c) const {
    const auto wrong = reader.wrong(path, c);
    if (wrong > 0 && rank_ == 0) std::cerr << path << ": " << wrong << " values are wrong\n";
    return wrong == 0;
  }

  void keep(const Json& figure) {
    Json all = {{"ranks", ranks_}, {"toy", options_.toy}};
    all.update(figure);
    figures_.push_back(all);
  }

  struct Turn {
    const char* interface;
    Writer* writer;
    std::string path;
    std::vector<double> seconds = {};
  };

  bool in_turns(const Case& c) {
    ShoalWriter direct(comm_);
    const auto pio = make_pio_writer(comm_), netcdf = make_netcdf_writer(comm_),
               pnetcdf = make_pnetcdf_writer(comm_);
    std::vector<Turn> turns{{"shoal_write", &direct, path_of("shoal")}};
    for (const auto& [interface, writer] :
         {std::pair{"pio", pio.get()}, {"netcdf-door", netcdf.get()}, {"pnetcdf-door", pnetcdf.get()}})
      if (writer != nullptr && writer->takes(c)) turns.push_back({interface, writer, path_of(interface)});
    for (auto& turn : turns)
      turn.writer->prepare(c);
    for (std::int64_t round = 0; round <= options_.repetitions; ++round)
      for (std::size_t i = 0; i < turns.size(); ++i) {
        auto& turn = turns[round % 2 == 0 ? i : turns.size() - 1 - i];
        const double seconds = seconds_of(*turn.writer, turn.path, c);
        if (round > 0)
          turn.seconds.push_back(seconds);
        else if (!right(direct, turn.path, c))
          return false;
        remove_file(comm_, turn.path);
      }
    for (std::size_t i = 1; i < turns.size(); ++i)
      tell(c, turns[0], turns[i]);
    return true;
  }

  void tell(const Case& c, const Turn& direct, const Turn& other) {
    const double by_shoal = median(direct.seconds), by_other = median(other.seconds);
    const double ratio = by_other / by_shoal,
                 goal = c.name == "small" && std::string(other.interface) != "pio" ? 1.1 : 1.05;
    const auto calls = static_cast<double>(c.fields.size()) * c.records;
    if (rank_ == 0)
      std::printf(
          "%-10s %3d ranks  shoal_write %8.4f s  %-12s %8.4f s  %.3f times, %+.1f us a call  (%.2f: %s)  "
          "%s\n",
          c.name.c_str(), ranks_, by_shoal, other.interface, by_other, ratio,
          (by_other - by_shoal) / calls * 1e6, goal, verdict(ratio <= goal), c.summary.c_str());
    keep({{"case", c.name},
          {"interface", other.interface},
          {"shoal_write", direct.seconds},
          {"seconds", other.seconds},
          {"ratio", ratio}});
  }

  void init_decomp() {
    const std::int64_t row = 1000, rows = options_.toy ? 10 : 10000;
    const Cut box = box_of({rows * ranks_, row}, 0, rank_, ranks_);
    Cut scattered{{rows * ranks_ * row}, 0, {}, {}, {}};
    for (std::int64_t i = 0; i < rows * row; ++i)
      scattered.cells.push_back(i * ranks_ + rank_);
    for (const auto& [name, cut] :
         {std::pair<const char*, const Cut&>{"box", box}, {"scattered", scattered}}) {
      const auto found = time_initdecomp(comm_, cut, static_cast<int>(options_.repetitions));
      if (rank_ == 0)
        std::printf(
            "initdecomp %3d ranks  %-9s %.0e cells a rank  new %8.4f s %7.1f MiB  seen before %8.4f s "
            "%7.1f MiB  (0.1 s, 1 MiB: %s)\n",
            ranks_, name, static_cast<double>(rows * row), found.first_seconds, mib(found.first_bytes),
            found.again_seconds, mib(found.again_bytes),
            verdict(found.again_seconds < 0.1 && mib(found.again_bytes) < 1));
      keep({{"case", "initdecomp"},
            {"list", name},
            {"cells", rows * row},
            {"new_seconds", found.first_seconds},
            {"new_bytes", found.first_bytes},
            {"again_seconds", found.again_seconds},
            {"again_bytes", found.again_bytes}});
    }
  }

  // Added by a rank since before it had the array: the array, the stage as far as the rank touched it, and
  // whatever else. What libraries take once was taken before.
  std::int64_t added_bytes(Writer& writer, const std::string& path, const Case& c,
                           std::int64_t before) const {
    writer.prepare(c);  // the lists that a program makes for PIO are its own
    give_back_memory();
    reset_peak_memory();
    writer.write(path, c);
    std::int64_t added = memory_status("VmHWM") - before;
    MPI_Allreduce(MPI_IN_PLACE, &added, 1, MPI_INT64_T, MPI_MAX, comm_);
    return added;
  }

  // Arrays larger than the stage, of pieces that go through it: one that is kept a second time is seen.
  bool memory() {
    setenv("SHOAL_STAGE_BYTES", "16MiB", 0);
    ShoalWriter direct(comm_);
    const auto through = make_pio_writer(comm_);
    const auto warm_up = make_case("large", true, rank_, ranks_);
    for (Writer* writer : {static_cast<Writer*>(&direct), through.get()}) {
      writer->prepare(warm_up);
      writer->write(path_of("memory"), warm_up);
    }
    give_back_memory();
    const auto before = memory_status("VmRSS");
    Case c{"memory", "", {}, {0, 0, 0, 0}, 1};
    c.cuts = {columns_box_of({options_.toy ? 128 : 4096, 128 * ranks_}, 32, rank_, ranks_)};
    fill(c.cuts[0]);
    const auto array = static_cast<std::int64_t>(c.cuts[0].values.size() * sizeof(float));
    const auto pio = added_bytes(*through, path_of("memory"), c, before);
    const auto shoal = added_bytes(direct, path_of("memory"), c, before);
    constexpr std::int64_t little = 1 << 20;
    const auto bound = array + direct.stage_bytes() + little;
    const bool good = right(direct, path_of("memory"), c);
    remove_file(comm_, path_of("memory"));
    if (rank_ == 0)
      std::printf(
          "memory     %3d ranks  array %7.1f MiB  stage %7.1f MiB  peak of a rank: shoal_write %7.1f MiB, "
          "PIO on Shoal %7.1f MiB  (array, stage and 1 MiB: %.1f MiB: %s)\n",
          ranks_, mib(array), mib(direct.stage_bytes()), mib(shoal), mib(pio), mib(bound),
          verdict(pio <= bound));
    keep({{"case", "memory"},
          {"array_bytes", array},
          {"stage_bytes", direct.stage_bytes()},
          {"bound", bound},
          {"shoal_write", shoal},
          {"pio", pio}});
    return good;
  }

  MPI_Comm comm_;
  const Options& options_;
  int rank_ = 0, ranks_ = 1;
  bool one_node_ = true;
  Json figures_ = Json::array();
};

// 0, or 2 where a file is wrong.
int measure(MPI_Comm comm, const Options& options) {
  Bench bench(comm, options);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  for (const auto& name : options.cases)
    if (!bench.run(name)) return 2;
  if (rank == 0 && !options.json.empty()) write_text(options.json, line_of(bench.figures()));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run_mpi_program("bench-interfaces", argc, argv, [](const std::vector<std::string>& words) {
    const auto options = parse_options(words);
    Options ignored;
    return options.help ? say(command_line(ignored)->help()) : measure(MPI_COMM_WORLD, options);
  });
}
