// SPDX-License-Identifier: BSD-3-Clause
#include "driver/rearrangers.hpp"

#include "driver/rearrange_bytes.hpp"
#include "rearrange/io_ranks.hpp"

namespace shoal {

Rearrangers::Rearrangers(const Comm& comm, const RearrangeOptions& options, const StageOptions& stage,
                         std::vector<int> io_ranks)
    : comm_(comm),
      rearrange_bytes_(rearrange_bytes(stage)),
      io_ranks_(std::move(io_ranks)),
      nodes_(comm, options.ranks_per_node) {
  if (!nodes_.single())
    messages_ = std::make_unique<NodeMessages>(comm, nodes_, io_ranks_, window_bytes(stage));
}

Rearranger& Rearrangers::of(const std::shared_ptr<const Decomposition>& map) {
  for (const auto& [known, rearranger] : known_)
    if (known == map) return *rearranger;
  known_.emplace_back(map,
                      std::make_unique<Rearranger>(comm_, map, io_ranks_, rearrange_bytes_, messages_.get()));
  return *known_.back().second;
}

void Rearrangers::report(Counters& counters) const {
  if (!messages_) return;
  counters.messages = messages_->messages();
  counters.message_bytes = messages_->message_bytes();
}

}  // namespace shoal
