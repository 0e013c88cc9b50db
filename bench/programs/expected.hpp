// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runner.hpp"

namespace shoal::bench {

/// What a file of a model that runs should hold of one rank's cells: record by record, the packed fields with
/// records in their order.
class Expected {
 public:
  /// The next record is what the arrays hold now.
  void remember(const std::vector<LocalField>& arrays);
  const std::vector<std::byte>& of(std::int64_t record, std::size_t field) const {
    return records_[static_cast<std::size_t>(record)][field];
  }
  /// Of the last record, the last field.
  const std::vector<std::byte>& last() const { return records_.back().back(); }

 private:
  std::vector<std::vector<std::vector<std::byte>>> records_;
};

/// Compares the file of a run with what it should hold: fields with records as remembered, in the order of
/// the run's arrays, all others as the workload makes them up. By other code than what wrote the file, where
/// there is some; otherwise by the method. Returns what is wrong in this rank's part; rank 0 looks at what is
/// replicated. Collective.
std::int64_t wrong_in_run(Session& session, const MethodEntry& entry, Run& run, const Expected& expected);

/// Spoils a byte of the first value of the last field's last record. Called by one rank whose tile is not
/// empty.
void inject_error_in_last(const Run& run, const Expected& expected);

}  // namespace shoal::bench
