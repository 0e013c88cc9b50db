// SPDX-License-Identifier: BSD-3-Clause
#include "capi/closing.hpp"
#include "dataset/serve.hpp"

using namespace shoal;        // NOLINT
using namespace shoal::capi;  // NOLINT

namespace {

int divide(MPI_Comm all, int how, MPI_Comm* computing,
           MPI_Comm (*divided)(MPI_Comm, int, const ServeOptions&)) {
  return guard([&] {
    if (computing != nullptr) *computing = MPI_COMM_NULL;
    require_mpi(all);
    ServeOptions options;
    options.sources = current_sources();
    options.problem = caught([&] { require(computing, "computing"); });
    ask_for_finalize();
    *computing = divided(all, how, options);
  });
}

}  // namespace

int shoal_serve(MPI_Comm all, int n, MPI_Comm* computing) {
  return divide(all, n, computing, serve);
}

int shoal_serve_components(MPI_Comm all, int component, MPI_Comm* computing) {
  return divide(all, component, computing, serve_components);
}

int shoal_stop_serving(void) {
  return guard([&] {
    finish_closing(nullptr);
    stop_serving();
  });
}
