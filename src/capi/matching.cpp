// SPDX-License-Identifier: BSD-3-Clause
// Collective calls of programs and libraries above, matched as those of Shoal are.
#include <functional>

#include "capi/own_comm.hpp"
#include "comm/cached_duplicate.hpp"
#include "comm/program_call.hpp"

using namespace shoal;        // NOLINT
using namespace shoal::capi;  // NOLINT

namespace {

ProgramCall call_of(const char* name, const char* details, const int* code, const char* message) {
  return {required_text(name, "call"), text_or_empty(details), *code, text_or_empty(message)};
}

int match(const char* name, const char* details, int* code, const char* message,
          const std::function<ProgramOutcome(const ProgramCall&)>& by) {
  return guard([&] {
    require(code, "code");
    const ProgramOutcome outcome = by(call_of(name, details, code, message));
    *code = outcome.code;
    if (outcome.code != 0) keep(outcome.status);
  });
}

}  // namespace

int shoal_match(MPI_Comm comm, const char* call, const char* details, int* code, const char* message) {
  return match(call, details, code, message, [&](const ProgramCall& mine) {
    require_mpi(comm);
    // The first one: ranks agree how long they wait for each other in all of them (wait_seconds).
    if (!cached_duplicate(comm)) Own(comm, call).agree_or_throw({});
    const CachedDuplicate ranks = cached_duplicate(comm);
    ranks->require_together();
    const Comm::Calling calling(*ranks, call, "");
    return match_program_call(*ranks, mine, [&](const CallSignature& s) { return ranks->match_calls(s); });
  });
}

int shoal_match_data(shoal_dataset* dataset, const char* call, const char* details, int* code,
                     const char* message) {
  return match(call, details, code, message,
               [&](const ProgramCall& mine) { return dataset_of(dataset).match_program_call(mine); });
}
