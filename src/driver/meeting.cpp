// SPDX-License-Identifier: BSD-3-Clause
#include "driver/meeting.hpp"

#include "base/hash.hpp"

namespace shoal {

Status meet_for_call(const Comm& comm, const char* does, int variable, const Box& region, const Status& mine,
                     Box* of_root, bool* raised) {
  Hash details;
  details.add(static_cast<std::uint64_t>(variable));
  details.add(region);
  const auto met = comm.meet({does, details.value(), !mine.ok(), raised != nullptr && *raised}, of_root);
  if (raised != nullptr) *raised = met.raised;
  if (met.failed) return comm.agree(mine);
  if (met.same) return {};
  return {Code::out_of_step,
          std::string("ranks made different calls: each ") + does +
              ", but not the same variable or the same record; every rank must make the same calls in the "
              "same order",
          0,
          {},
          {}};
}

}  // namespace shoal
