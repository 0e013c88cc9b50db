// SPDX-License-Identifier: BSD-3-Clause
#include "capi/closing.hpp"
#include "dataset/serve.hpp"

using namespace shoal;        // NOLINT
using namespace shoal::capi;  // NOLINT

int shoal_serve(MPI_Comm all, int n, MPI_Comm* computing) {
  return guard([&] {
    if (computing != nullptr) *computing = MPI_COMM_NULL;
    require_mpi(all);
    ServeOptions options;
    options.sources = current_sources();
    options.problem = caught([&] { require(computing, "computing"); });
    ask_for_finalize();
    *computing = serve(all, n, options);
  });
}

int shoal_stop_serving(void) {
  return guard([&] {
    finish_closing(nullptr);
    stop_serving();
  });
}
