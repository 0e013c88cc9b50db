// Long lists of cases, of which the entries of one run of ctest take a part each, and together all.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace shoal::testing {

/// The environment's TEST_PART=K/N: case K of each N, K from 0. All cases where it is not set. The same on
/// all ranks.
struct Part {
  std::size_t number = 0;
  std::size_t of = 1;
};
Part part_of_run();

/// The cases of this part, in their order. Of fewer cases than there are parts each part has one.
template <class Case>
std::vector<Case> in_part(const std::vector<Case>& all) {
  Part part = part_of_run();
  if (!all.empty() && all.size() < part.of) part.number %= all.size();
  std::vector<Case> some;
  for (std::size_t i = part.number; i < all.size(); i += part.of)
    some.push_back(all[i]);
  return some;
}

/// Each of the first with each of the second.
template <class First, class Second>
std::vector<std::pair<First, Second>> pairs_of(const std::vector<First>& first,
                                               const std::vector<Second>& second) {
  std::vector<std::pair<First, Second>> all;
  for (const First& one : first)
    for (const Second& other : second)
      all.emplace_back(one, other);
  return all;
}

}  // namespace shoal::testing
