// SPDX-License-Identifier: BSD-3-Clause
// Output of E3SM's cases F and G through Shoal and through PnetCDF alone, in turns.
//
//   mpiexec -n 16 bench-e3sm f MAP_FILE [--times N] [--reps N] [--dir D] [--methods A,B] [--json FILE]
//
// MAP_FILE is one of the published map files (map_f_case_16p.nc, map_g_case_16p.nc), or `toy` for small maps
// dealt out at random. Where there is no such file nothing is measured, and that is said. Every file is read
// back and compared. Exit codes: 0; 1 for errors; 2 for wrong values.
#include <mpi.h>

#include <algorithm>
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
using namespace shoal::bench::e3sm;

struct Options {
  std::string name, file, dir = ".", json;
  std::int64_t times = 1, repetitions = 5;
  bool help = false;
  std::vector<std::string> methods{"native", "pnetcdf"};
};

std::unique_ptr<CLI::App> command_line(Options& o) {
  auto app = std::make_unique<CLI::App>(
      "Output of E3SM's cases F and G through Shoal and through PnetCDF alone, in turns.",
      "mpiexec -n RANKS bench-e3sm");
  app->set_help_flag();
  app->get_formatter()->column_width(20);
  app->add_option("case", o.name, "the atmosphere or the ocean")->option_text("f|g");
  app->add_option("maps", o.file, "a published map file (map_f_case_16p.nc), or small maps made at random")
      ->option_text("MAP_FILE|toy");
  add_value(*app, "--times", "N", "the maps N times as large (1)",
            [&](const std::string& v) { o.times = whole_number("--times", v, 1); });
  add_value(*app, "--reps", "N", "counted repetitions, after one that is not counted (5)",
            [&](const std::string& v) { o.repetitions = whole_number("--reps", v, 1); });
  add_value(*app, "--dir", "D", "where the files go (.)", [&](const std::string& v) { o.dir = v; });
  add_value(*app, "--methods", "A,B",
            "native,pnetcdf unless given; also limit (each rank's bytes as one block), and other\n"
            "drivers of Shoal, shoal-mpiio, ...; with settings: native+writers=1+slot_bytes=2MiB",
            [&](const std::string& v) { o.methods = split(v, ','); });
  add_value(*app, "--json", "FILE", "the times of every run", [&](const std::string& v) { o.json = v; });
  app->add_flag("-h,--help", o.help, "this text");
  return app;
}

Options parse_options(const std::vector<std::string>& words) {
  Options o;
  parse(*command_line(o), words);
  if (!o.help && o.file.empty())
    throw std::invalid_argument("a case and a map file are needed; --help says which there are");
  return o;
}

std::unique_ptr<Writer> make_writer(const std::string& text) {
  const auto parts = split(text, '+');
  std::string settings;
  for (std::size_t i = 1; i < parts.size(); ++i)
    settings += (i > 1 ? ", " : "") + parts[i];
  if (parts[0] == "native") return make_shoal_writer("native", settings);
  if (parts[0].starts_with("shoal-")) return make_shoal_writer(parts[0].substr(6), settings);
  if (parts[0] == "pnetcdf" && settings.empty()) return make_pnetcdf_writer();
  if (parts[0] == "limit" && settings.empty()) return make_limit_writer();
  throw std::invalid_argument("there is no method '" + text +
                              "'; there are native, shoal-DRIVER, and without settings pnetcdf and limit");
}

// Seconds of one run, of the slowest rank.
struct Times {
  double total = 0, create = 0, post = 0, flush = 0, close = 0;
};

struct Method {
  std::string name;
  std::unique_ptr<Writer> writer;
  double prepare = 0;
  std::int64_t runs = 0, added_bytes = 0;
  std::vector<Times> times;

  double median(double Times::*part) const {
    std::vector<double> sorted;
    for (const auto& t : times)
      sorted.push_back(t.*part);
    return shoal::bench::median(sorted);
  }
};

template <class F>
double seconds_of(F&& f) {
  const double begin = MPI_Wtime();
  f();
  return MPI_Wtime() - begin;
}

// Added memory is asked of the system in the run that is not counted.
Times write_once(Method& method, const Job& job, bool first) {
  auto& w = *method.writer;
  if (first) reset_peak_memory();
  const auto before = memory_status("VmRSS"), shared_before = memory_status("RssShmem");
  std::int64_t shared = 0;
  quiet_barrier(job.comm);
  Times t;
  t.total = seconds_of([&] {
    t.create = seconds_of([&] { w.create(job); });
    t.post = seconds_of([&] { w.post(job); });
    t.flush = seconds_of([&] { w.flush(); });
    if (first) shared = memory_status("RssShmem");
    t.close = seconds_of([&] { w.close(); });
  });
  const auto peak = memory_status("VmHWM");
  quiet_barrier(job.comm);
  MPI_Allreduce(MPI_IN_PLACE, &t, 5, MPI_DOUBLE, MPI_MAX, job.comm);
  if (first)
    method.added_bytes = node_memory(job.comm, peak, shared) - node_memory(job.comm, before, shared_before);
  return t;
}

void print(const Options& o, int ranks, std::int64_t bytes, const std::vector<Method>& methods) {
  std::printf("case %s x%lld, %d ranks, %.1f MB, MPI-IO %s\n", o.name.c_str(),
              static_cast<long long>(o.times), ranks, static_cast<double>(bytes) / 1e6,
              mpi_io_of(o.dir).c_str());
  std::printf("%-28s %8s %8s %8s %8s %8s %8s %8s %10s %8s\n", "method", "median", "min", "max", "create",
              "post", "flush", "close", "runs/rank", "MiB");
  for (const auto& m : methods) {
    const auto [least, most] = std::minmax_element(
        m.times.begin(), m.times.end(), [](const Times& a, const Times& b) { return a.total < b.total; });
    std::printf("%-28s %8.4f %8.4f %8.4f %8.4f %8.4f %8.4f %8.4f %10lld %8.0f   maps %.4f s, %.2f of %s\n",
                m.name.c_str(), m.median(&Times::total), least->total, most->total, m.median(&Times::create),
                m.median(&Times::post), m.median(&Times::flush), m.median(&Times::close),
                static_cast<long long>(m.runs), static_cast<double>(m.added_bytes) / 1048576.0, m.prepare,
                m.median(&Times::total) / methods[0].median(&Times::total), methods[0].name.c_str());
  }
}

std::string json_of(const Options& o, int ranks, std::int64_t bytes, const std::vector<Method>& methods) {
  std::string out;
  for (const auto& m : methods)
    for (std::size_t r = 0; r < m.times.size(); ++r) {
      const auto& t = m.times[r];
      out += (out.empty() ? "\n" : ",\n") + line_of({{"experiment", "e3sm-" + o.name},
                                                     {"times", o.times},
                                                     {"method", m.name},
                                                     {"ranks", ranks},
                                                     {"bytes", bytes},
                                                     {"mpi_io", mpi_io_of(o.dir)},
                                                     {"repetition", r + 1},
                                                     {"verified", true},
                                                     {"seconds",
                                                      {{"total", rounded(t.total, 6)},
                                                       {"create", rounded(t.create, 6)},
                                                       {"post", rounded(t.post, 6)},
                                                       {"flush", rounded(t.flush, 6)},
                                                       {"close", rounded(t.close, 6)}}}});
    }
  return "[" + out + "\n]";
}

// 0, or 2 where a file is wrong.
int measure(MPI_Comm comm, const Options& o) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const auto& c = find_case(o.name);
  std::vector<Method> methods;
  for (const auto& name : o.methods)
    methods.push_back({name, make_writer(name), 0, 0, 0, {}});
  const auto maps = o.file == "toy" ? toy_maps(c, o.times, rank, ranks) : load_maps(comm, c, o.file, o.times);
  auto variables = variables_of(c, maps);
  std::int64_t bytes = 0;
  for (auto& v : variables) {
    const auto& map = maps[static_cast<std::size_t>(v.map)];
    fill(v, map);
    bytes += map.global_cells() * size_of(v.type);
  }
  Job job{comm, "", maps, variables};
  for (auto& m : methods) {
    m.prepare = seconds_of([&] { m.writer->prepare(job); });
    m.runs = m.writer->runs();
    MPI_Allreduce(MPI_IN_PLACE, &m.prepare, 1, MPI_DOUBLE, MPI_MAX, comm);
    MPI_Allreduce(MPI_IN_PLACE, &m.runs, 1, MPI_INT64_T, MPI_MAX, comm);
  }
  for (std::int64_t round = 0; round <= o.repetitions; ++round)
    for (std::size_t i = 0; i < methods.size(); ++i) {
      job.path = o.dir + "/e3sm-" + o.name + "-" + std::to_string(i) + ".nc";
      const auto times = write_once(methods[i], job, round == 0);
      if (round > 0) methods[i].times.push_back(times);
      const auto wrong = methods[i].writer->wrong(job);
      remove_file(job.comm, job.path);
      if (wrong == 0) continue;
      if (rank == 0)
        std::cerr << methods[i].name << ": " << wrong << " values of " << job.path << " are wrong\n";
      return 2;
    }
  if (rank == 0) {
    print(o, ranks, bytes, methods);
    if (!o.json.empty()) write_text(o.json, json_of(o, ranks, bytes, methods));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  return run_mpi_program("bench-e3sm", argc, argv, [](const std::vector<std::string>& words) {
    const auto options = parse_options(words);
    Options ignored;
    if (options.help) return say(command_line(ignored)->help());
    if (options.file != "toy" && !std::filesystem::exists(options.file))
      return say("Skipped: there is no map file " + options.file + "\n");
    return measure(MPI_COMM_WORLD, options);
  });
}
