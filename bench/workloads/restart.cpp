// SPDX-License-Identifier: BSD-3-Clause
// A restart file of an atmosphere model on a cubed sphere of spectral elements (CAM with HOMME): 6 ne^2
// elements of 4x4 points, of which neighbours share their edges, so 6*9*ne^2 + 2 columns. Fields are (lev,
// ncol) or (ncol) in double precision; the columns are what is cut. Each rank has a part of a curve over
// the elements, unless they are cut in blocks.
#include <charconv>
#include <string>

#include "workload.hpp"

namespace shoal::bench {

namespace {

constexpr std::int64_t k_published_columns = 777602;   // ne120
constexpr int k_fields = 26, k_published_fields = 76;  // (lev, ncol)

void add_constants_of_restart(Content& c) {
  for (const char* name : {"nstep", "nsteph", "ntsrest", "mdcur", "mscur", "nbdate", "nbsec", "ndbase",
                           "nsbase", "date", "datesec"})
    set_attributes(c.add(name, Type::integer, "", false), "where the run is", "1");
  for (const char* name : {"time", "P0", "co2vmr", "ch4vmr", "n2ovmr", "f11vmr", "f12vmr", "sol_tsi",
                           "fixmas", "hw1", "tmass0", "zgsint"})
    set_attributes(c.add(name, Type::dbl, "", false), "parameter of the run", "1");
  for (const char* name : {"hyam", "hybm", "lev"})
    set_attributes(c.add(name, Type::dbl, "lev", false), "hybrid vertical coordinate at middles of layers",
                   "1");
  for (const char* name : {"hyai", "hybi", "ilev"})
    set_attributes(c.add(name, Type::dbl, "ilev", false), "hybrid vertical coordinate at faces of layers",
                   "1");
}

void add_state(Content& c, std::int64_t columns) {
  for (const char* name : {"lat", "lon"})
    set_attributes(c.add(name, Type::dbl, "ncol", true), "place of the column", "degree");
  set_attributes(c.add("area", Type::dbl, "ncol", true), "area of the column", "radian2");
  set_attributes(c.add("PS", Type::dbl, "ncol", true), "surface pressure", "Pa");
  set_attributes(c.add("PHIS", Type::dbl, "ncol", true), "surface geopotential", "m2 s-2");
  for (const char* name : {"TS", "TBOT", "SNOWHLND", "PBLH", "TPERT", "QPERT", "ASDIR", "LWUP"})
    set_attributes(c.add(name, Type::dbl, "ncol", true), "surface and boundary layer", "1");
  set_attributes(c.add("U", Type::dbl, "lev ncol", true), "zonal wind", "m s-1");
  set_attributes(c.add("V", Type::dbl, "lev ncol", true), "meridional wind", "m s-1");
  set_attributes(c.add("T", Type::dbl, "lev ncol", true), "temperature", "K");
  set_attributes(c.add("OMEGA", Type::dbl, "lev ncol", true), "vertical velocity", "Pa s-1");
  set_attributes(c.add("DPDRY", Type::dbl, "lev ncol", true), "dry mass of the layer", "Pa");
  for (const char* name : {"Q", "CLDLIQ", "CLDICE", "NUMLIQ", "NUMICE", "O3", "H2O2", "H2SO4", "SO2", "DMS",
                           "SOAG", "bc_a1", "dst_a1", "ncl_a1", "so4_a1"})
    set_attributes(c.add(name, Type::dbl, "lev ncol", true), "tracer", "kg/kg");
  for (const char* name : {"CLD", "CONCLD", "QRL", "QRS", "TKE", "KVH"})
    set_attributes(c.add(name, Type::dbl, "lev ncol", true), "what physics keeps from step to step", "1");
  // Chemistry and aerosols of the published file, 12.4 GB on these columns; smaller grids do without. So that
  // it fits on a workstation in /dev/shm, they have the values of the fields before, whose arrays they share.
  if (columns < k_published_columns) return;
  std::vector<std::string> others;
  for (const auto& field : c.fields)
    if (field.distributed && field.shape.size() == 2) others.push_back(field.name);
  for (int i = k_fields + 1; i <= k_published_fields; ++i) {
    auto& field = c.add("cnst_" + std::to_string(i), Type::dbl, "lev ncol", true);
    set_attributes(field, "constituent", "kg/kg");
    field.same_as = others[static_cast<std::size_t>(i) % others.size()];
  }
}

}  // namespace

bool restart_size(const std::string& text, Grid& grid) {
  std::int64_t ne = 0;
  if (!text.starts_with("ne")) return false;
  const auto [after, error] = std::from_chars(text.data() + 2, text.data() + text.size(), ne);
  if (error != std::errc{} || after != text.data() + text.size() || ne < 1 || ne > 10000) return false;
  grid = {6 * 9 * ne * ne + 2, 1, 26};
  return true;
}

Content restart_content(const Grid& grid) {
  if (grid.eta != 1) refuse_grid(grid, "columns are not on a grid: neN, or as many as there are x1x levels");
  Content c;
  c.cut = 1;
  c.scattered = true;
  c.dimension("ncol", grid.xi);
  c.dimension("lev", grid.s);
  c.dimension("ilev", grid.s + 1);
  add_constants_of_restart(c);
  add_state(c, grid.xi);
  return c;
}

}  // namespace shoal::bench
