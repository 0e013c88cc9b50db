// SPDX-License-Identifier: BSD-3-Clause
// What a model sends to streams: the state of a ROMS history, and fields that follow from it, 8 of the volume
// and 12 of the surface. The content is that of the file of daily means; the other files have some of its
// fields.
#include "workloads/streams.hpp"

#include <algorithm>

#include "workload.hpp"

namespace shoal::bench {

const std::vector<DerivedField>& derived_fields() {
  using enum DerivedField::From;
  static const std::vector<DerivedField> all{
      {"sst", "temp", surface, false},        {"sss", "salt", surface, false},
      {"surface_rho", "rho", surface, false}, {"bottom_temp", "temp", bottom, false},
      {"bottom_salt", "salt", bottom, false}, {"bottom_rho", "rho", bottom, false},
      {"zeta2", "zeta", surface, true},       {"sst2", "temp", surface, true},
      {"sss2", "salt", surface, true},        {"temp2", "temp", volume, true},
      {"salt2", "salt", volume, true}};
  return all;
}

Content streams_content(const Grid& grid) {
  const auto roms = roms_content(grid);
  Content c;
  c.halo = roms.halo;
  for (const auto& d : roms.dimensions)
    if (d.length > 0 && d.name != "tracer" && !d.name.ends_with("_psi")) c.dimension(d.name, d.length);
  c.dimension("bnds", 2);
  c.dimension("time", 0);
  c.add("time", Type::dbl, "time", false).attributes = {{"units", "seconds since 2000-01-01 00:00:00"}};
  c.add("time_bounds", Type::dbl, "time bnds", false);
  for (const auto& field : roms.fields) {
    if (!field.record || !field.distributed) continue;
    std::string dims = "time";
    std::for_each(field.dims.begin() + 1, field.dims.end(), [&](const auto& name) { dims += " " + name; });
    c.add(field.name, field.type, dims, true).attributes = field.attributes;
  }
  for (const auto& field : derived_fields()) {
    const bool volume = field.from == DerivedField::From::volume;
    set_attributes(
        c.add(field.name, Type::real, volume ? "time s_rho eta_rho xi_rho" : "time eta_rho xi_rho", true),
        std::string(field.squared ? "square of " : "") + field.of, "");
  }
  return c;
}

}  // namespace shoal::bench
