// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/box.hpp"
#include "comm/comm.hpp"
#include "format/schema.hpp"

namespace shoal {

/// The writes and puts of a rank since ranks last found that they made the same calls. The message of an
/// error names by it the first calls that differ.
class CallLog {
 public:
  enum class Verb : std::int64_t { wrote, put };
  /// variable: none where this rank does not know it. Local.
  void note(Verb verb, std::optional<int> variable, const Box& region);
  /// Ranks have compared their calls. Local.
  void compared();
  /// The first calls that differ, on all ranks: "call 7: rank 0 wrote temp record 1, rank 2 zeta record 1";
  /// calls count from 1 since the file was opened. "": none differ. odd: becomes the first rank that differs
  /// from rank 0, or 0. Collective.
  std::string difference(const Comm& comm, const Schema& schema, int* odd = nullptr) const;

 private:
  struct Call {
    std::int64_t verb = 0, variable = 0, first = 0;
    std::int64_t cells = 0;  ///< hash of the region
    friend bool operator==(const Call&, const Call&) = default;
  };
  std::string text_of(const Call& call, const Schema& schema, bool with_verb) const;
  std::vector<std::int64_t> numbers() const;
  int odd_rank(const Comm& comm) const;

  std::vector<Call> calls_;
  std::int64_t before_ = 0;  // calls that were compared
};

}  // namespace shoal
