// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "comm/comm.hpp"

namespace shoal {

/// A collective call of a program, or of a library above, that Shoal matches for it.
struct ProgramCall {
  std::string name;     ///< in words: "put_att"
  std::string details;  ///< what must be the same on all ranks, in words
  int code = 0;         ///< the program's number for what is wrong here; 0: nothing
  std::string message;  ///< of that
};

/// The code of the lowest rank that has one.
struct ProgramOutcome {
  int code = 0;   ///< 0: no rank has one
  Status status;  ///< with its message and the rank
};

/// Matches a call of the program. Error(out_of_step) where ranks have other names or, without a code on any
/// rank, other details; ranks have not diverged then. match: Comm::match_calls, or the driver's. Collective.
ProgramOutcome match_program_call(const Comm& comm, const ProgramCall& mine,
                                  const std::function<CallMatch(const CallSignature&)>& match);

}  // namespace shoal
