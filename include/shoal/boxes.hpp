// SPDX-License-Identifier: BSD-3-Clause
//
// What shoal.hpp includes: boxes of variables, for calls that take several.
#ifndef SHOAL_BOXES_HPP
#define SHOAL_BOXES_HPP

#include <shoal/arrays.hpp>

#include <utility>
#include <variant>
#include <vector>

namespace shoal {
inline namespace api {

/// A variable: its name, or its number (Dataset::find_var), which need not be looked for in each call.
using VariableArgument = std::variant<std::string, shoal_variable>;

/// A box of a variable, and the array of its cells: `count` along each dimension, the record dimension
/// included, from `start` on, `stride` apart (empty: 1).
template <class ArrayKind>
struct BasicBox {
  BasicBox(VariableArgument of, ArrayKind cells, std::vector<std::int64_t> first,
           std::vector<std::int64_t> number, std::vector<std::int64_t> step = {})
      : variable(std::move(of)),
        array(std::move(cells)),
        start(std::move(first)),
        count(std::move(number)),
        stride(std::move(step)) {
    if (count.size() != start.size() || (!stride.empty() && stride.size() != start.size()))
      detail::refuse("start of a box has " + std::to_string(start.size()) + " numbers, count " +
                     std::to_string(count.size()) + " and stride " + std::to_string(stride.size()) +
                     "; each has one for each dimension of the variable");
  }

  VariableArgument variable;
  ArrayKind array;
  std::vector<std::int64_t> start, count, stride;

  /// What shoal.h takes; lives as long as this object.
  shoal_box c_box(shoal_variable number) const noexcept {
    return {sizeof(shoal_box), number,       static_cast<int>(start.size()),
            start.data(),      count.data(), stride.empty() ? nullptr : stride.data(),
            array.c_array()};
  }
};

/// A box that Shoal fills (read).
using Box = BasicBox<Array>;
/// A box that Shoal only reads (write).
using ConstBox = BasicBox<ConstArray>;

}  // namespace api
}  // namespace shoal

#endif
