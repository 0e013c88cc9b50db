// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "runner.hpp"

namespace shoal::bench {

/// A model that runs: Ocean, with a history record and one of means every so many steps, in two files that
/// stay open. One result a run, "run", with the processor time of all ranks.
std::unique_ptr<Program> make_roms_benchmark(Session& session);

/// What a run knows of itself goes into the content: its time, and its switches as integers 0 and 1, read
/// from
/// --switches if that is given. std::invalid_argument if that file has none of them. Collective.
void give_run_values(MPI_Comm comm, const Setup& setup, Content& content);

}  // namespace shoal::bench
