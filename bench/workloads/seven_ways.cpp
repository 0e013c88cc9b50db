// SPDX-License-Identifier: BSD-3-Clause
// One plain array of doubles, shared evenly by all ranks: the first N mod R of N elements make no rank longer
// than another by more than one.
#include "workload.hpp"

namespace shoal::bench {

Content seven_ways_content(const Grid& grid) {
  if (grid.eta != 1 || grid.s != 1) refuse_grid(grid, "a plain array has one length, NX");
  Content c;
  c.cut = 1;
  c.dimension("n", grid.xi);
  c.add("data", Type::dbl, "n", true).attributes = {{"long_name", "plain array"}, {"units", "1"}};
  return c;
}

}  // namespace shoal::bench
