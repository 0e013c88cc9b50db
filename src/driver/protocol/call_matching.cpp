// SPDX-License-Identifier: BSD-3-Clause
#include "driver/protocol/call_matching.hpp"

#include <fmt/core.h>

#include "driver/protocol/call_hash.hpp"

namespace shoal {

Status match_field_call(const Comm& comm, const char* does, int variable, const Box& region,
                        const Status& mine, Box* of_root, bool* any_flag,
                        const std::function<std::string()>& difference) {
  const auto match = comm.match_calls(
      {does, hash_of_call(variable, region), !mine.ok(), any_flag != nullptr && *any_flag}, of_root);
  if (any_flag != nullptr) *any_flag = match.any_flag;
  if (match.failed) return comm.agree(mine);
  if (match.same) return {};
  std::string calls = difference ? difference() : "";
  if (calls.empty())
    calls = fmt::format("ranks made different calls: each {}, but not the same variable or the same record",
                        does);
  return {Code::out_of_step, calls + "; every rank must make the same calls in the same order", 0};
}

Status match_refused_call(const Comm& comm, const char* does, const Status& why) {
  comm.match_calls({does, 0, true});
  return comm.agree(why);
}

}  // namespace shoal
