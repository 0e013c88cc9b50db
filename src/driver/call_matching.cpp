// SPDX-License-Identifier: BSD-3-Clause
#include "driver/call_matching.hpp"

#include "base/hash.hpp"

namespace shoal {

Status match_field_call(const Comm& comm, const char* does, int variable, const Box& region,
                        const Status& mine, Box* of_root, bool* any_flag) {
  Hash details;
  details.add(static_cast<std::uint64_t>(variable));
  details.add(region);
  const auto match =
      comm.match_calls({does, details.value(), !mine.ok(), any_flag != nullptr && *any_flag}, of_root);
  if (any_flag != nullptr) *any_flag = match.any_flag;
  if (match.failed) return comm.agree(mine);
  if (match.same) return {};
  return {Code::out_of_step,
          std::string("ranks made different calls: each ") + does +
              ", but not the same variable or the same record; every rank must make the same calls in the "
              "same order",
          0,
          {},
          {}};
}

}  // namespace shoal
