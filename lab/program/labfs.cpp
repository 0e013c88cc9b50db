// SPDX-License-Identifier: BSD-3-Clause
// labfs: an emulated parallel file system, one mount for each emulated node.
#include <fmt/core.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "mount/daemon.hpp"
#include "mount/places.hpp"
#include "preset/read_preset.hpp"

namespace fs = std::filesystem;
using namespace shoal::lab;

namespace {

constexpr int k_cannot_mount = 77;  // as tests say that they cannot run here

/// The folder above that of this program.
fs::path home() {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path();
}
fs::path preset_folder() {
  return home() / "share/shoal/lab";
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(fmt::format("cannot read {}", path.string()));
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(preset_folder(), none))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

/// A name of the package, or the path of a file, which has a slash or ends with .toml.
Parameters preset(const std::string& name, const std::vector<std::string>& changes) {
  const bool is_path = name.find('/') != std::string::npos || fs::path(name).extension() == ".toml";
  const fs::path path = is_path ? fs::path(name) : preset_folder() / (name + ".toml");
  if (!fs::exists(path)) {
    std::string known;
    for (const std::string& each : preset_names())
      known += (known.empty() ? "" : ", ") + each;
    throw std::runtime_error(fmt::format(
        "there is no preset '{}'; there are {} (in {}), or give the path of a file of your own, with a slash",
        name, known.empty() ? "none" : known, preset_folder().string()));
  }
  return read_preset(text_of(path), path.filename(), changes);
}

int list_presets() {
  for (const std::string& name : preset_names())
    fmt::print("{:<14} {}\n", name, preset(name, {}).about);
  return 0;
}

/// Bytes a second of one file, by all clients together: what their links and the file's servers bear.
double fastest(const Parameters& file_system, int clients) {
  const auto at_most = [](double rate, double limit) { return limit > 0 ? std::min(rate, limit) : rate; };
  const double links =
      at_most(clients * file_system.network.client_bandwidth, file_system.network.total_bandwidth);
  const ServerParameters& servers = file_system.servers;
  const int count =
      file_system.striping.count < 0 ? servers.number : std::min(file_system.striping.count, servers.number);
  return std::min(links,
                  count * (1 - servers.load) * std::max(servers.write_bandwidth, servers.read_bandwidth));
}

/// For programs that start labfs: what they have to know of the file system.
int describe(const DaemonOptions& options) {
  const Parameters& file_system = options.parameters;
  fmt::print("{{\"kind\": \"{}\", \"servers\": {}, \"stripe_count\": {}, \"bytes_per_second\": {:.0f}}}\n",
             file_system.kind, file_system.servers.number, file_system.striping.count,
             fastest(file_system, options.clients));
  return 0;
}

int start(const DaemonOptions& options) {
  if (const std::string why = why_no_mounts(); !why.empty()) {
    fmt::print(stderr, "labfs: {}\n", why);
    return k_cannot_mount;
  }
  return serve(options);
}

int number_from(const std::vector<const char*>& names, int otherwise) {
  for (const char* const name : names)
    if (const char* const value = std::getenv(name); value != nullptr && *value != '\0')
      return std::atoi(value);
  return otherwise;
}

/// Starts the command on an emulated node: the mount of one client is at DIR/here, and the host has its name.
int enter(int client, std::vector<std::string> command) {
  const char* const dir = std::getenv("LABFS_DIR");
  if (dir == nullptr)
    throw std::runtime_error("LABFS_DIR is not set: 'enter' is for programs that 'labfs run' starts");
  const int clients = number_from({"LABFS_CLIENTS"}, 1);
  if (client < 0) {
    const int rank = number_from({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}, -1);
    if (rank < 0)
      throw std::runtime_error("this is no rank of a job of MPI; say which client it is: --client");
    client = rank / std::max(1, number_from({"SHOAL_RANKS_PER_NODE"}, 1));
  }
  if (client >= clients)
    throw std::runtime_error(
        fmt::format("there is no client {}; labfs serves {}, counted from 0. SHOAL_RANKS_PER_NODE "
                    "says how many ranks are one client",
                    client, clients));
  const fs::path mount = fs::path(dir) / std::to_string(client);
  const fs::path place = common_place(dir);
  // A host name for each node: ROMIO takes one aggregator a name.
  const std::string host = fmt::format("node{}", client);
  if (::unshare(CLONE_NEWNS | CLONE_NEWUTS) != 0 || ::sethostname(host.data(), host.size()) != 0 ||
      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount(mount.c_str(), place.c_str(), nullptr, MS_BIND, nullptr) != 0)
    throw std::runtime_error(
        fmt::format("cannot put {} at {} for one program: {}. That needs root; without, use the "
                    "path {} itself",
                    mount.string(), place.string(), std::strerror(errno), mount.string()));
  std::vector<char*> arguments;
  for (std::string& word : command)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  throw std::runtime_error(fmt::format("cannot start {}: {}", command[0], std::strerror(errno)));
}

struct CommandLine {
  std::string preset;
  std::vector<std::string> changes;
  std::string dir, backing, report;
  int clients = 1;
  double scale = 1, grace = DaemonOptions{}.grace;

  void add_to(CLI::App& app) {
    app.add_option("--preset", preset,
                   "Name of a file system, or path of a TOML file; --list shows the names");
    app.add_option("--clients", clients, "Emulated nodes, each with a mount of its own")
        ->check(CLI::Range(1, 4096));
    app.add_option("--dir", dir, "Folder of the mounts: DIR/0, DIR/1, ...");
    app.add_option("--backing", backing,
                   "Folder of the bytes, kept afterwards; otherwise memory, which is given back");
    app.add_option("--scale", scale, "Real seconds for one second of the model")->check(CLI::PositiveNumber);
    app.add_option(
           "--grace", grace,
           "Real seconds that real time may be behind the model's, as busy machines are late; shorter pauses "
           "of a program between two requests count as none")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--set", changes, "A line of TOML that changes the preset: 'servers.number = 16'")
        ->allow_extra_args(false);
    app.add_option("--report", report,
                   "File that gets a JSON object at the end: bytes and requests of each server, "
                   "locks, and how late replies were");
  }
  DaemonOptions options(std::vector<std::string> command) const {
    if (preset.empty()) throw std::runtime_error("--preset is missing; 'labfs --list' shows the names");
    DaemonOptions out;
    out.parameters = ::preset(preset, changes);
    out.clients = clients;
    out.dir = dir;
    out.backing = backing;
    out.scale = scale;
    out.grace = grace;
    // Its folder is another one for who works elsewhere.
    if (!report.empty()) out.report = fs::absolute(report);
    out.command = std::move(command);
    out.tools = home() / "libexec/shoal-lab";
    return out;
  }
};

int run(int argc, char** argv) {
  // What stands behind "--" is the command's.
  char** const separator = std::find(argv, argv + argc, std::string("--"));
  const std::vector<std::string> command(std::min(separator + 1, argv + argc), argv + argc);

  CLI::App app(
      "An emulated parallel file system: bytes in memory, times from a model.\n"
      "  labfs --preset NAME --clients N --dir DIR          serve mounts until SIGTERM\n"
      "  labfs run --preset NAME --clients N -- COMMAND     serve them for one command, in $LABFS_DIR\n"
      "  labfs enter -- COMMAND                             in there: this rank's mount at $LABFS_DIR/here\n"
      "Exit code 77: this machine cannot mount.");
  CommandLine line;
  line.add_to(app);
  bool cleans = false, lists = false, describes = false;
  app.add_flag("--clean", cleans,
               "Remove from --dir mounts that nobody serves, after labfs was killed with all it started");
  app.add_flag("--list", lists, "Show the presets");
  app.add_flag("--describe", describes,
               "Print kind, servers, stripes and bandwidth of --preset for --clients, as a JSON object");
  CLI::App* const run_command = app.add_subcommand("run", "Mount, run a command, unmount");
  CommandLine run_line;
  run_line.add_to(*run_command);
  CLI::App* const enter_command =
      app.add_subcommand("enter", "Run a command with its node's mount at $LABFS_DIR/here");
  int client = -1;
  enter_command->add_option("--client", client,
                            "The node; otherwise the rank of MPI by SHOAL_RANKS_PER_NODE");
  app.require_subcommand(0, 1);
  CLI11_PARSE(app, static_cast<int>(separator - argv), argv);

  const bool needs_command = *run_command || *enter_command;
  if (needs_command && command.empty()) throw std::runtime_error("the command is missing: ... -- COMMAND");
  if (!needs_command && !command.empty())
    throw std::runtime_error("a command is for 'labfs run' and 'labfs enter'");
  if (*enter_command) return enter(client, command);
  if (lists) return list_presets();
  if (describes) return describe(line.options({}));
  if (*run_command) {
    if (run_line.dir.empty()) {
      std::string made = (fs::temp_directory_path() / "labfs-mounts-XXXXXX").string();
      if (::mkdtemp(made.data()) == nullptr)
        throw std::runtime_error(fmt::format("cannot make a folder {}: {}", made, std::strerror(errno)));
      ::rmdir(made.c_str());  // it is made again by who removes it
      run_line.dir = made;
    }
    return start(run_line.options(command));
  }
  if (line.dir.empty()) throw std::runtime_error("--dir is missing: the folder of the mounts");
  if (cleans) {
    const int served = clean(line.dir);
    if (served > 0)
      fmt::print(stderr, "labfs: {} mounts in {} are served, and stay; stop their labfs\n", served, line.dir);
    return served > 0 ? 1 : 0;
  }
  return start(line.options({}));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "labfs: {}\n", error.what());
    return 1;
  }
}
