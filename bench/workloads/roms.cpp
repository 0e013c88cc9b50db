// SPDX-License-Identifier: BSD-3-Clause
// A history file of the ocean model ROMS: free surface, momentum and tracers on the staggered C grid (Arakawa
// C), the horizontal grid in double precision, and the scalars, switches and vertical coordinates that every
// such file has.
#include "workload.hpp"

namespace shoal::bench {

namespace {

void add_constants_of_roms(Content& c) {
  for (const char* name : {"ntimes", "ndtfast", "nHIS", "nAVG", "nRST", "ndefHIS", "Vtransform",
                           "Vstretching", "NSTA", "nFLT", "ndefAVG", "nSTA", "nDIA", "ndefDIA"})
    set_attributes(c.add(name, Type::integer, "", false), "step counter or choice of the vertical grid", "");
  for (const char* name : {"spherical", "LuvSrc", "LwSrc", "Lm2CLM", "Lm3CLM", "LnudgeM2CLM", "LnudgeM3CLM"})
    set_attributes(c.add(name, Type::integer, "", false), "switch, 1 is true", "");
  for (const char* name :
       {"dt",     "dtfast", "dstart", "Falpha", "Fbeta",  "Fgamma",  "rdrg",    "rdrg2", "Zob",     "Zos",
        "gamma2", "rho0",   "R0",     "Tcoef",  "Scoef",  "bvf_bak", "xl",      "el",    "theta_s", "theta_b",
        "Tcline", "hc",     "Znudg",  "M2nudg", "M3nudg", "visc2",   "Akv_bak", "DAYS"})
    set_attributes(c.add(name, Type::dbl, "", false), "parameter of the run", "1");
  for (const char* name : {"tnu2", "Akt_bak", "Tnudg"})
    set_attributes(c.add(name, Type::dbl, "tracer", false), "parameter of each tracer", "1");
  for (const char* name : {"LtracerSrc", "LtracerCLM", "LnudgeTCLM"})
    set_attributes(c.add(name, Type::integer, "tracer", false), "switch of each tracer, 1 is true", "");
  for (const char* name : {"s_rho", "Cs_r"})
    set_attributes(c.add(name, Type::dbl, "s_rho", false), "vertical coordinate", "1");
  for (const char* name : {"s_w", "Cs_w"})
    set_attributes(c.add(name, Type::dbl, "s_w", false), "vertical coordinate", "1");
  set_attributes(c.add("ocean_time", Type::dbl, "ocean_time", false), "time since initialization",
                 "seconds since 1900-01-01 00:00:00");
}

void add_grid(Content& c) {
  for (const char* name : {"h", "f", "pm", "pn", "lon_rho", "lat_rho", "angle"})
    set_attributes(c.add(name, Type::dbl, "eta_rho xi_rho", true), "horizontal grid at rho points", "1");
  for (const char* name : {"lon_u", "lat_u"})
    set_attributes(c.add(name, Type::dbl, "eta_u xi_u", true), "horizontal grid at u points", "degree");
  for (const char* name : {"lon_v", "lat_v"})
    set_attributes(c.add(name, Type::dbl, "eta_v xi_v", true), "horizontal grid at v points", "degree");
  for (const char* name : {"lon_psi", "lat_psi"})
    set_attributes(c.add(name, Type::dbl, "eta_psi xi_psi", true), "horizontal grid at psi points", "degree");
}

void add_state(Content& c) {
  set_attributes(c.add("zeta", Type::real, "ocean_time eta_rho xi_rho", true), "free surface", "meter");
  set_attributes(c.add("ubar", Type::real, "ocean_time eta_u xi_u", true), "vertically integrated u momentum",
                 "meter second-1");
  set_attributes(c.add("vbar", Type::real, "ocean_time eta_v xi_v", true), "vertically integrated v momentum",
                 "meter second-1");
  set_attributes(c.add("u", Type::real, "ocean_time s_rho eta_u xi_u", true), "u momentum", "meter second-1");
  set_attributes(c.add("v", Type::real, "ocean_time s_rho eta_v xi_v", true), "v momentum", "meter second-1");
  set_attributes(c.add("w", Type::real, "ocean_time s_w eta_rho xi_rho", true), "vertical momentum",
                 "meter second-1");
  set_attributes(c.add("temp", Type::real, "ocean_time s_rho eta_rho xi_rho", true), "potential temperature",
                 "Celsius");
  set_attributes(c.add("salt", Type::real, "ocean_time s_rho eta_rho xi_rho", true), "salinity", "1");
  set_attributes(c.add("rho", Type::real, "ocean_time s_rho eta_rho xi_rho", true), "density anomaly",
                 "kilogram meter-3");
}

}  // namespace

Content roms_content(const Grid& grid) {
  if (grid.xi < 3 || grid.eta < 3) refuse_grid(grid, "at least 3x3 points are needed");
  Content c;
  c.halo = 2;
  c.dimension("xi_rho", grid.xi);
  c.dimension("xi_u", grid.xi - 1);
  c.dimension("xi_v", grid.xi);
  c.dimension("xi_psi", grid.xi - 1);
  c.dimension("eta_rho", grid.eta);
  c.dimension("eta_u", grid.eta);
  c.dimension("eta_v", grid.eta - 1);
  c.dimension("eta_psi", grid.eta - 1);
  c.dimension("s_rho", grid.s);
  c.dimension("s_w", grid.s + 1);
  c.dimension("tracer", 2);
  c.dimension("ocean_time", 0);
  add_constants_of_roms(c);
  add_grid(c);
  add_state(c);
  return c;
}

}  // namespace shoal::bench
