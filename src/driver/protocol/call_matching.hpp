// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "base/box.hpp"
#include "base/error.hpp"
#include "comm/comm.hpp"

namespace shoal {

/// Matches a call for one field (Comm::match_calls). Returns, on all ranks alike, the failure of a rank, or
/// out_of_step where ranks have different variables or regions; throws Error(out_of_step) where they are in
/// different calls. does: the call in words, "writes"; of_root: becomes rank 0's; any_flag: becomes true if
/// it is on any rank; difference: gives the text of the calls that differ, Collective. Collective.
Status match_field_call(const Comm& comm, const char* does, int variable, const Box& region,
                        const Status& mine, Box* of_root = nullptr, bool* any_flag = nullptr,
                        const std::function<std::string()>& difference = {});

/// The same on a rank that refuses the call: all ranks get the failure. Collective.
Status match_refused_call(const Comm& comm, const char* does, const Status& why);

}  // namespace shoal
