// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "arrays.hpp"
#include "programs/stream_files.hpp"

namespace shoal::bench {

/// Records of the files of experiment streams as a careful model works them out by hand: sums of
/// doubles, and the highest and lowest values in arrays of floats, each in a loop of its own over the cells
/// that this rank owns.
class DaySums {
 public:
  /// state: the model's arrays, which must outlive this, as the session.
  DaySums(const Session& session, const std::vector<LocalField>& state);
  /// The model's step of this number, from 1, is added. Where it ends a day, the arrays of means and extremes
  /// have the day's.
  void step(std::int64_t number);
  /// After step(): f(file, record) for each record that is whole (StreamFile).
  template <class F>
  void for_records(std::int64_t number, F&& f) const {
    f(k_instants, number - 1);
    if (number % steps_ != 0) return;
    for (const auto file : {k_means, k_extremes})
      f(file, number / steps_ - 1);
  }
  /// What the file's next record is: those of instants are the model's.
  std::vector<LocalField>& arrays(std::size_t file) { return arrays_[file]; }

 private:
  struct Mean {
    const LocalField* from;
    LocalField* into;
    std::vector<double> sums;  ///< of owned cells
  };
  struct Highest {
    const LocalField* from;
    LocalField* into;
    bool highest;
  };

  void add(double weight);
  void finish();

  std::int64_t steps_;  ///< of a day
  std::array<std::vector<LocalField>, 3> arrays_;
  std::vector<Mean> sums_;
  std::vector<Highest> kept_;
  double weight_ = 0;  ///< of the day so far
};

}  // namespace shoal::bench
