// SPDX-License-Identifier: BSD-3-Clause
#include "driver/counters.hpp"

namespace shoal {

void pack(ByteWriter& out, const Counters& c) {
  for (const auto& t : k_times)
    out.put(c.*t.field);
  for (const auto& n : k_counts)
    out.put(c.*n.field);
  out.put(c.store_predicted);
  out.put(std::array<std::int64_t, 7>{c.commits, c.stage_bytes, c.stage_high_water, c.slabs, c.nodes,
                                      c.ranks_per_node, c.writers});
  out.put(c.file_system);
  out.put(c.hints_taken);
  out.put(c.hints_dropped);
  out.put(c.warnings);
  out.put(c.strategies);
}

Counters unpack_counters(ByteReader& in) {
  Counters c;
  for (const auto& t : k_times)
    in.get(c.*t.field);
  for (const auto& n : k_counts)
    in.get(c.*n.field);
  in.get(c.store_predicted);
  const auto rest = in.get<std::array<std::int64_t, 7>>();
  c.commits = rest[0];
  c.stage_bytes = rest[1];
  c.stage_high_water = rest[2];
  c.slabs = rest[3];
  c.nodes = static_cast<int>(rest[4]);
  c.ranks_per_node = static_cast<int>(rest[5]);
  c.writers = static_cast<int>(rest[6]);
  in.get(c.file_system);
  in.get(c.hints_taken);
  in.get(c.hints_dropped);
  in.get(c.warnings);
  in.get(c.strategies);
  return c;
}

}  // namespace shoal
