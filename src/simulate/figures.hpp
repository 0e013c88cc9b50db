// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace shoal {

/// A number of many ranks, nodes or writes: the smallest and largest and whose they are, the median, the sum.
template <class T>
struct Figures {
  std::int64_t count = 0;
  T least{}, median{}, most{}, sum{};
  std::int64_t who_least = -1, who_most = -1;
};

/// Collects them.
template <class T>
class Collector {
 public:
  void add(T value, std::int64_t who) {
    values_.push_back(value);
    who_.push_back(static_cast<std::int32_t>(who));
  }
  /// The lowest of equals is named.
  Figures<T> figures() const;

 private:
  std::vector<T> values_;
  std::vector<std::int32_t> who_;
};

/// The same of very many numbers, few of which differ.
class Tally {
 public:
  void add(std::int64_t value, std::int64_t who) {
    if (value != last_ || counted_ == nullptr) {
      last_ = value;
      counted_ = &counts_.try_emplace(value, Counted{0, who}).first->second;
    }
    ++counted_->count;
  }
  Figures<std::int64_t> figures() const;

 private:
  struct Counted {
    std::int64_t count, first_who;
  };
  std::map<std::int64_t, Counted> counts_;
  std::int64_t last_ = 0;
  Counted* counted_ = nullptr;  // of the last
};

}  // namespace shoal
