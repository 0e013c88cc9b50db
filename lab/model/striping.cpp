// SPDX-License-Identifier: BSD-3-Clause
#include "model/striping.hpp"

#include <algorithm>

namespace shoal::lab {

std::vector<Layout::Part> Layout::parts(Extent of_file) const {
  std::vector<Part> out;
  if (of_file.empty()) return out;
  const std::int64_t first = of_file.begin / stripe_bytes;
  const std::int64_t last = (of_file.end - 1) / stripe_bytes;
  const std::int64_t objects = std::min<std::int64_t>(stripe_count, last - first + 1);
  for (std::int64_t stripe = first; stripe < first + objects; ++stripe) {
    // This object's first and last stripe of the extent.
    const std::int64_t final_stripe = last - (last - stripe) % stripe_count;
    const auto at = [&](std::int64_t of, std::int64_t byte) {
      return of / stripe_count * stripe_bytes +
             std::clamp<std::int64_t>(byte - of * stripe_bytes, 0, stripe_bytes);
    };
    out.push_back({static_cast<int>(stripe % stripe_count),
                   {at(stripe, of_file.begin), at(final_stripe, of_file.end)}});
  }
  return out;
}

std::int64_t Layout::file_offset(int object, std::int64_t at) const {
  return (at / stripe_bytes * stripe_count + object) * stripe_bytes + at % stripe_bytes;
}

}  // namespace shoal::lab
