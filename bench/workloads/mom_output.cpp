// SPDX-License-Identifier: BSD-3-Clause
// Output of the ocean model MOM as the studies of its I/O write it: temperature, salinity, velocities and age
// as (time, z, y, x), a few fields of the surface as (time, y, x), all float, axes and grid replicated or
// cut. Each record is one output.
#include "workload.hpp"

namespace shoal::bench {

Content mom_output_content(const Grid& grid) {
  if (grid.xi < 3 || grid.eta < 3) refuse_grid(grid, "at least 3x3 points are needed");
  Content c;
  c.halo = 1;
  c.dimension("xt_ocean", grid.xi);
  c.dimension("yt_ocean", grid.eta);
  c.dimension("xu_ocean", grid.xi);
  c.dimension("yu_ocean", grid.eta);
  c.dimension("st_ocean", grid.s);
  c.dimension("st_edges_ocean", grid.s + 1);
  c.dimension("time", 0);
  for (const char* name : {"xt_ocean", "xu_ocean"})
    set_attributes(c.add(name, Type::dbl, name, false), "longitude along the first row", "degrees_E");
  for (const char* name : {"yt_ocean", "yu_ocean"})
    set_attributes(c.add(name, Type::dbl, name, false), "latitude along the first column", "degrees_N");
  for (const char* name : {"st_ocean", "st_edges_ocean"})
    set_attributes(c.add(name, Type::dbl, name, false), "depth", "meters");
  set_attributes(c.add("time", Type::dbl, "time", false), "time", "days since 0001-01-01 00:00:00");
  for (const char* name : {"geolon_t", "geolat_t", "ht"})
    set_attributes(c.add(name, Type::real, "yt_ocean xt_ocean", true), "grid at tracer points", "1");
  set_attributes(c.add("eta_t", Type::real, "time yt_ocean xt_ocean", true), "surface height", "meter");
  set_attributes(c.add("mld", Type::real, "time yt_ocean xt_ocean", true), "depth of the mixed layer",
                 "meter");
  set_attributes(c.add("sfc_hflux", Type::real, "time yt_ocean xt_ocean", true), "heat flux at the surface",
                 "Watts/m^2");
  set_attributes(c.add("tau_x", Type::real, "time yu_ocean xu_ocean", true), "wind stress", "N/m^2");
  set_attributes(c.add("tau_y", Type::real, "time yu_ocean xu_ocean", true), "wind stress", "N/m^2");
  set_attributes(c.add("temp", Type::real, "time st_ocean yt_ocean xt_ocean", true), "potential temperature",
                 "degrees C");
  set_attributes(c.add("salt", Type::real, "time st_ocean yt_ocean xt_ocean", true), "practical salinity",
                 "psu");
  set_attributes(c.add("age_global", Type::real, "time st_ocean yt_ocean xt_ocean", true), "age", "yr");
  set_attributes(c.add("u", Type::real, "time st_ocean yu_ocean xu_ocean", true), "zonal current", "m/sec");
  set_attributes(c.add("v", Type::real, "time st_ocean yu_ocean xu_ocean", true), "meridional current",
                 "m/sec");
  return c;
}

}  // namespace shoal::bench
