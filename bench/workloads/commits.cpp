// SPDX-License-Identifier: BSD-3-Clause
// Records that are small enough that a sync takes most of the time of one: a time and two fields of doubles,
// or 100 fields, of which a store of Zarr has a file each.
#include <string>

#include "workload.hpp"

namespace shoal::bench {

Content commits_content(const Grid& grid) {
  Content c;
  c.dimension("time", 0);
  if (grid.s > 1) c.dimension("z", grid.s);
  c.dimension("y", grid.eta);
  c.dimension("x", grid.xi);
  c.add("time", Type::dbl, "time", false).attributes = {{"units", "seconds since 2000-01-01 00:00:00"}};
  for (const char* name : {"u", "v"})
    c.add(name, Type::dbl, grid.s > 1 ? "time z y x" : "time y x", true).attributes = {{"units", "m s-1"}};
  return c;
}

Content many_fields_content(const Grid& grid) {
  constexpr int k_fields = 100;
  Content c;
  c.dimension("time", 0);
  c.dimension("y", grid.eta);
  c.dimension("x", grid.xi);
  c.add("time", Type::dbl, "time", false).attributes = {{"units", "seconds since 2000-01-01 00:00:00"}};
  for (int i = 0; i < k_fields; ++i)
    set_attributes(c.add("field_" + std::to_string(i), Type::real, "time y x", true), "one of many", "1");
  return c;
}

}  // namespace shoal::bench
