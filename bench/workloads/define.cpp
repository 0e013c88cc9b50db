// SPDX-License-Identifier: BSD-3-Clause
// The cost of definitions alone: 1,000 replicated and 300 distributed four-dimensional variables, three
// attributes each.
#include "workload.hpp"

namespace shoal::bench {

Content define_content(const Grid& grid) {
  if (grid.xi < 3 || grid.eta < 3) refuse_grid(grid, "at least 3x3 points are needed");
  Content c;
  c.halo = 2;
  c.define_only = true;
  c.dimension("xi_rho", grid.xi);
  c.dimension("eta_rho", grid.eta);
  c.dimension("s_rho", grid.s);
  c.dimension("ocean_time", 0);
  const auto describe = [](Field& field) {
    field.attributes = {{"long_name", "variable number " + field.name},
                        {"units", "meter second-1"},
                        {"field", field.name + ", scalar, series"}};
  };
  for (int i = 0; i < 1000; ++i)
    describe(c.add("scalar_" + std::to_string(i), Type::dbl, "", false));
  for (int i = 0; i < 300; ++i)
    describe(c.add("tracer_" + std::to_string(i), Type::real, "ocean_time s_rho eta_rho xi_rho", true));
  return c;
}

}  // namespace shoal::bench
