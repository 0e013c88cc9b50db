// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "base/box.hpp"
#include "base/error.hpp"
#include "comm/comm.hpp"

namespace shoal {

/// Ranks are about to make a call together. The failure of any of them, or Error's Status out_of_step if they
/// would make it for other variables or cells, on all ranks alike; out_of_step is thrown if they are in
/// different calls. does: in words, "writes"; of_root: becomes rank 0's; any_flag: true if it is on any rank;
/// difference: says which calls these are, on all ranks together. Collective.
Status match_field_call(const Comm& comm, const char* does, int variable, const Box& region,
                        const Status& mine, Box* of_root = nullptr, bool* any_flag = nullptr,
                        const std::function<std::string()>& difference = {});

}  // namespace shoal
