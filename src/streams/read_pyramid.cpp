// SPDX-License-Identifier: BSD-3-Clause
// The key `pyramid`: coarser copies of the fields of a file.
#include <fmt/core.h>

#include <algorithm>

#include "streams/value_reader.hpp"

namespace shoal::streams {

namespace {

const std::vector<std::string> k_pyramid_keys = {"levels", "factor"};
constexpr std::int64_t k_most_levels = 32, k_most_factor = 1 << 20;

}  // namespace

std::optional<PyramidChoice> SelectionReader::pyramid(const toml::node& node) {
  const auto* table = node.as_table();
  if (table == nullptr) {
    problem(node, "pyramid", "is a table: { levels = 3, factor = [1, 2, 2] }");
    return {};
  }
  check_keys(*table, k_pyramid_keys, "pyramid");
  PyramidChoice out;
  out.line = out.factor_line = line_of_node(node);
  const auto* levels = table->get("levels");
  const auto given = levels == nullptr ? std::nullopt : levels->value_exact<std::int64_t>();
  if (given && *given >= 1 && *given <= k_most_levels)
    out.levels = static_cast<int>(*given);
  else
    problem(
        levels == nullptr ? node : *levels, "pyramid.levels",
        fmt::format("is how many there are, with the one of the fields themselves: 1 to {}", k_most_levels));
  if (const auto* factor = table->get("factor")) {
    out.factor_line = line_of_node(*factor);
    const auto* list = factor->as_array();
    out.is_for_all = list == nullptr;
    out.factor.clear();
    bool good = list == nullptr || !list->empty();
    const auto add = [&](const toml::node& item) {
      const auto number = item.value_exact<std::int64_t>();
      good = good && number && *number >= 1 && *number <= k_most_factor;
      if (good) out.factor.push_back(*number);
    };
    if (list == nullptr)
      add(*factor);
    else
      for (const auto& item : *list)
        add(item);
    if (!good)
      problem(*factor, "pyramid.factor",
              fmt::format("is how many cells become one, 1 to {}, along the dimensions of the grid, as 2, or "
                          "along each of the last dimensions of a field: [1, 2, 2]",
                          k_most_factor));
  }
  return out;
}

}  // namespace shoal::streams
