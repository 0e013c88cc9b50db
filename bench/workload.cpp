// SPDX-License-Identifier: BSD-3-Clause
#include "workload.hpp"

#include <charconv>
#include <stdexcept>

namespace shoal::bench {

namespace {

// NX, NXxNY or NXxNYxNZ; false for other texts.
bool numbers(const std::string& text, Grid& grid) {
  std::int64_t* const parts[] = {&grid.xi, &grid.eta, &grid.s};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (auto* part : parts) {
    const auto [after, error] = std::from_chars(at, end, *part);
    if (error != std::errc{} || *part < 1 || *part > 100'000'000'000) return false;
    if (after == end) return true;
    if (*after != 'x') return false;
    at = after + 1;
  }
  return false;
}

}  // namespace

Content content_of(const Workload& workload, const Grid& grid, const std::string& cut) {
  auto content = workload.content(grid);
  if (!cut.empty() && !content.any_scattered())
    throw std::invalid_argument("--cut is given, but " + workload.name + " is always cut in tiles");
  if (cut == "block") content.cut_in_blocks();
  return content;
}

std::string size_names(const Workload& workload) {
  std::string names;
  for (const auto& size : workload.sizes)
    names += (names.empty() ? "" : ", ") + size.name;
  return names + (*workload.rule == '\0' ? "" : std::string(", ") + workload.rule);
}

Grid find_size(const Workload& workload, const std::string& text) {
  if (text.empty()) return workload.sizes.front().grid;
  Grid grid{1, 1, 1};
  for (const auto& size : workload.sizes)
    if (size.name == text) return size.grid;
  const bool known = (workload.size_by_rule != nullptr && workload.size_by_rule(text, grid)) ||
                     (grid = {1, 1, 1}, numbers(text, grid));
  if (!known)
    throw std::invalid_argument("--size is '" + text + "'; " + workload.name + " has " +
                                size_names(workload) + ", or a grid as NXxNYxNZ");
  workload.content(grid);  // throws for a grid that makes no sense
  return grid;
}

void refuse_grid(const Grid& grid, const std::string& needed) {
  throw std::invalid_argument("--size is " + std::to_string(grid.xi) + "x" + std::to_string(grid.eta) + "x" +
                              std::to_string(grid.s) + "; " + needed);
}

}  // namespace shoal::bench
