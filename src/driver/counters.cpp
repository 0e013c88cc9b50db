// SPDX-License-Identifier: BSD-3-Clause
#include "driver/counters.hpp"

#include <algorithm>

namespace shoal {

Counters added(const Counters& earlier, Counters now) {
  for (const auto& t : k_times)
    now.*t.field += earlier.*t.field;
  for (const auto& n : k_counts)
    now.*n.field += earlier.*n.field;
  now.store_predicted += earlier.store_predicted;
  now.commits += earlier.commits;
  now.slabs += earlier.slabs;
  now.stage_high_water = std::max(now.stage_high_water, earlier.stage_high_water);
  const auto join = [](std::vector<std::string>& texts, std::vector<std::string> all) {
    for (auto& text : texts)
      if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
    texts = std::move(all);
  };
  join(now.warnings, earlier.warnings);
  join(now.strategies, earlier.strategies);
  return now;
}

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
