// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/serve.hpp"

#include <fmt/core.h>

#include "dataset/settings/driver_options.hpp"
#include "driver/protocol/root_values.hpp"
#include "driver/served/serving.hpp"

namespace shoal {

namespace {

int ranks_per_node_of(const Comm& all, const SettingSources& sources) {
  return static_cast<int>(
      value_of_root(all, [&] { return resolve_settings("", sources).count("ranks_per_node"); }));
}

// For the caller, with errors handled as in its own.
MPI_Comm duplicate(const Comm& comm, MPI_Comm all) {
  MPI_Comm out = MPI_COMM_NULL;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  check_mpi(MPI_Comm_dup(comm.handle(), &out), "MPI_Comm_dup");
  check_mpi(MPI_Comm_get_errhandler(all, &handler), "MPI_Comm_get_errhandler");
  check_mpi(MPI_Comm_set_errhandler(out, handler), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Errhandler_free(&handler), "MPI_Errhandler_free");
  return out;
}

Error serve_already() {
  return {Code::state,
          "ranks serve already; call shoal_serve or shoal_serve_components once, or shoal_stop_serving "
          "before"};
}

OptionsOf options_with(const ServeOptions& how) {
  return [&how](const Bytes& packed) {
    ByteReader in(packed);
    const Settings settings = Settings::unpack(in);
    DriverOptions out = driver_options_of(settings, unpack_machine_figures(in));
    out.system.open_store = how.open_store;
    out.system.find_file_system = how.find_file_system;
    return out;
  };
}

// Servers serve until they are let go; the others go on with their communicator.
MPI_Comm divide(const Comm& own, MPI_Comm all, const Role& role, int ranks_per_node,
                const ServeOptions& options) {
  const auto servers = std::make_shared<Servers>(own, role, ranks_per_node, options.problem);
  if (servers->serves()) {
    if (servers->needed()) serve(*servers, options_with(options));
    return MPI_COMM_NULL;
  }
  current_servers() = servers;
  return duplicate(servers->computing(), all);
}

}  // namespace

MPI_Comm serve(MPI_Comm all, int of_node, const ServeOptions& options) {
  // Those that serve already could not come to any match of calls.
  if (current_servers() != nullptr) throw serve_already();
  const Comm own(all);
  const int ranks_per_node = ranks_per_node_of(own, options.sources);
  if (own.max(std::int64_t{of_node != 0 || !options.problem.ok() ? 1 : 0}) == 0) return duplicate(own, all);
  return divide(own, all, last_ranks_serve(own, of_node, ranks_per_node, options.problem), ranks_per_node,
                options);
}

MPI_Comm serve_components(MPI_Comm all, int component, const ServeOptions& options) {
  if (current_servers() != nullptr) throw serve_already();
  const Comm own(all);
  const int ranks_per_node = ranks_per_node_of(own, options.sources);
  return divide(own, all, Role{component}, ranks_per_node, options);
}

void stop_serving() {
  const auto servers = current_servers();
  if (servers == nullptr) return;
  Status status;
  if (servers->datasets() > 0)
    status = {Code::state,
              fmt::format("{}{} open; close first", servers->datasets(),
                          servers->datasets() == 1 ? " dataset that the ranks store that serve is"
                                                   : " datasets that the ranks store that serve are")};
  servers->computing().agree_or_throw(status);
  stop_servers(*servers);
  current_servers().reset();
}

void stop_serving_at_end() noexcept {
  if (current_servers() != nullptr) caught([] { stop_servers(*current_servers()); });
}

}  // namespace shoal
