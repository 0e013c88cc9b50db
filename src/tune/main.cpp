// SPDX-License-Identifier: BSD-3-Clause
// shoal-tune: measures a file system and the machine around it, under the job's own launcher, and writes a
// machine file. `shoal tune` runs it.
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "base/text.hpp"
#include "dataset/settings/settings.hpp"
#include "machine/machine_file.hpp"
#include "storage/replacement.hpp"
#include "tune/advise.hpp"
#include "tune/beside_files.hpp"
#include "tune/measure.hpp"

namespace {

using namespace shoal;

constexpr double k_most_minutes = 24 * 60;

struct Arguments {
  std::string folder, machine = k_machine_file, writer_bytes = "64MiB";
  double minutes = 2, scatter = 0.5;
};

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_option("folder", arguments.folder, "Where files are written, and removed.")
      ->required()
      ->type_name("DIR");
  app.add_option("--minutes", arguments.minutes, "The time that measuring takes (2).")->type_name("N");
  app.add_option("--machine", arguments.machine,
                 "The file that gets the figures; those of other file systems in it stay (machine.toml).")
      ->type_name("PATH");
  app.add_option(
         "--writer-bytes", arguments.writer_bytes,
         "What a rank writes at a time, at most; more than its node caches shows the servers (64MiB).")
      ->type_name("SIZE");
  app.add_option("--scatter", arguments.scatter,
                 "How much repeats may differ, as a part of their median, for a table to be kept (0.5).")
      ->type_name("X");
}

TuneRequest request_of(const Arguments& arguments) {
  if (!(arguments.minutes > 0) || arguments.minutes > k_most_minutes)
    throw Error(Code::invalid_argument, "--minutes is {}; it is more than 0, and at most {}",
                arguments.minutes, k_most_minutes);
  if (!(arguments.scatter > 0))
    throw Error(Code::invalid_argument, "--scatter is {}; it is more than 0", arguments.scatter);
  TuneRequest request{arguments.folder, 60 * arguments.minutes, parse_bytes(arguments.writer_bytes),
                      arguments.scatter};
  if (request.writer_bytes < k_tune_bytes)
    throw Error(Code::invalid_argument, "--writer-bytes is {}; it is 1MiB or more", arguments.writer_bytes);
  if (!std::filesystem::is_directory(request.folder))
    throw Error(Code::not_found, "there is no such folder: make it first").in_file(request.folder);
  return request;
}

/// What is there already, before anything is measured for nothing.
Machine machine_there(const std::string& path) {
  if (!std::filesystem::exists(path)) return {};
  if (!is_machine_file(path))
    throw Error(Code::exists, "this is no machine file of Shoal: name another one (--machine)").in_file(path);
  return read_machine(path);
}

/// Figures of the nodes: those of messages stay where one node alone was measured this time.
void replace_node(NodeFigures& there, const NodeFigures& measured) {
  const NodeFigures before = there;
  there = measured;
  if (measured.message_bytes_per_second > 0) return;
  there.message_bytes_per_second = before.message_bytes_per_second;
  there.message_seconds = before.message_seconds;
}

void run(const Arguments& arguments) {
  const Seconds begin = now();
  const Comm comm(MPI_COMM_WORLD);
  TuneRequest request;
  Machine machine;
  std::int64_t ranks_per_node = 0;
  comm.agree_or_throw(caught([&] {
    request = request_of(arguments);
    ranks_per_node = resolve_settings("", {}).count("ranks_per_node");
    if (comm.rank() == 0) {
      machine = machine_there(arguments.machine);
      text_of(machine);  // a build without TOML cannot
    }
  }));
  const Nodes nodes(comm, static_cast<int>(ranks_per_node));
  const NodeFigures node = measure_nodes(comm, nodes);
  request.seconds -= comm.max(now() - begin);  // the same on all ranks, who stop together
  const Measured measured = measure_file_system(comm, nodes, request);
  comm.on_root([&] {
    replace_node(machine.node, node);
    replace_file_system(machine, measured.figures);
    replace_whole_file(arguments.machine, text_of(machine), false);
    const MachineFigures figures{arguments.machine, machine.node, measured.figures};
    std::cout
        << text_of(measured, figures)
        << fmt::format(
               "Written to {}. Shoal finds machine.toml beside shoal.toml, and any other by the setting "
               "machine=PATH (SHOAL_MACHINE=PATH).\n",
               arguments.machine)
        << std::flush;
  });
}

int status_of(int argc, char** argv) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CLI::App app{"Measures a file system and the nodes of this job, and writes what Shoal chooses by.",
               "shoal-tune"};
  Arguments arguments;
  add_options(app, arguments);
  try {
    app.parse(argc, argv);
    run(arguments);
    return 0;
  } catch (const CLI::CallForHelp&) {
    if (rank == 0) std::cout << app.help();
    return 0;
  } catch (const CLI::ParseError& e) {
    if (rank == 0) std::cerr << "shoal-tune: " << e.what() << "; --help says what there is\n";
    return 2;
  } catch (const std::exception& e) {
    // What all ranks were told is said once. Others may wait for a rank that failed alone.
    const auto* error = dynamic_cast<const Error*>(&e);
    const bool own = error == nullptr || error->status().rank < 0;
    if (rank == 0 || own) std::cerr << "shoal-tune: " << e.what() << std::endl;
    if (own) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));  // launchers lose what is said last
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return 2;
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = status_of(argc, argv);
  MPI_Finalize();
  return status;
}
