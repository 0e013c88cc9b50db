// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "driver/driver.hpp"
#include "rearrange/rearranger.hpp"

namespace shoal {

/// The Rearrangers of one dataset, which its maps get as they are used, and what these share.
class Rearrangers {
 public:
  /// io_ranks: as of a Rearranger. comm outlives this. Collective.
  Rearrangers(const Comm& comm, const RearrangeOptions& options, const StageOptions& stage,
              std::vector<int> io_ranks);

  /// Collective the first time.
  Rearranger& of(const std::shared_ptr<const Decomposition>& map);
  const std::vector<int>& io_ranks() const { return io_ranks_; }
  /// Messages so far. Local.
  void report(Counters& counters) const;

 private:
  const Comm& comm_;
  std::int64_t rearrange_bytes_;
  std::vector<int> io_ranks_;
  Nodes nodes_;
  std::unique_ptr<NodeMessages> messages_;  ///< over several nodes
  std::vector<std::pair<std::shared_ptr<const Decomposition>, std::unique_ptr<Rearranger>>> known_;
};

}  // namespace shoal
