// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runner.hpp"

namespace shoal::bench {

/// Takes the fields of the model of experiment streams after each step, and makes the files of them. What it
/// adds to its time and memory is its own. All functions are Collective.
class StreamOutput {
 public:
  virtual ~StreamOutput() = default;
  /// What a model would have made long before. Not timed.
  virtual void prepare() {}
  virtual void create() {}
  /// The state after the step of this number, from 1.
  virtual void step(std::int64_t /*number*/) {}
  virtual void finish() {}
};

/// What outputs are made with; references live as long as they.
struct StreamRun {
  const Session& session;
  const Case& choice;
  std::vector<LocalField>& state;  ///< the model's arrays, of the content's distributed fields
  Run& whole;                      ///< of the result: phases, memory
};

std::unique_ptr<StreamOutput> make_by_hand(const StreamRun& run);          // by_hand.cpp
std::unique_ptr<StreamOutput> make_through_streams(const StreamRun& run);  // through_streams.cpp

}  // namespace shoal::bench
