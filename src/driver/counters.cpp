// SPDX-License-Identifier: BSD-3-Clause
#include "driver/counters.hpp"

#include <algorithm>

#include "base/field_bytes.hpp"

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

namespace {

template <class Io, class AnyCounters>
void visit_counters(Io& io, AnyCounters& c) {
  for (const auto& t : k_times)
    io(c.*t.field);
  for (const auto& n : k_counts)
    io(c.*n.field);
  io(c.store_predicted, c.commits, c.stage_bytes, c.stage_high_water, c.slabs, c.nodes, c.ranks_per_node,
     c.writers, c.file_system, c.hints_taken, c.hints_dropped, c.warnings, c.strategies);
}

}  // namespace

void pack(ByteWriter& out, const Counters& counters) {
  FieldWriter io(out);
  visit_counters(io, counters);
}

Counters unpack_counters(ByteReader& in) {
  Counters counters;
  FieldReader io(in);
  visit_counters(io, counters);
  return counters;
}

}  // namespace shoal
