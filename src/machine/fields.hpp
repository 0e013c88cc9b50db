// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "machine/figures.hpp"

namespace shoal {

// The keys of a machine file and their values, once for reading, writing and messages between ranks. visit
// gets (key, value), and of a table (key, name of its first row, table).

template <class Figures, class Visit>
void visit_node(Figures& f, Visit&& visit) {
  visit("cores", f.cores);
  visit("copy_bytes_per_second", f.copy_bytes_per_second);
  visit("message_seconds", f.message_seconds);
  visit("message_bytes_per_second", f.message_bytes_per_second);
  visit("shuffle_bytes_per_second", f.shuffle_bytes_per_second);
  visit("deflate_bytes_per_second", f.deflate_bytes_per_second);
  visit("zstd_bytes_per_second", f.zstd_bytes_per_second);
}

template <class Figures, class Visit>
void visit_file_system(Figures& f, Visit&& visit) {
  visit("mount_point", f.mount_point);
  visit("kind", f.kind);
  visit("measured", f.measured);
  visit("version", f.version);
  visit("nodes", f.nodes);
  visit("ranks_per_node", f.ranks_per_node);
  visit("create_seconds", f.create_seconds);
  visit("open_seconds", f.open_seconds);
  visit("sync_seconds", f.sync_seconds);
  visit("sync_bytes_per_second", f.sync_bytes_per_second);
  visit("stripe_count", f.stripe_count);
  visit("stripe_bytes", f.stripe_bytes);
  visit("write_by_writers", "writers", f.by_writers);
  visit("write_by_nodes", "nodes", f.by_nodes);
  visit("write_own_files", "nodes", f.own_files);
  visit("write_by_size", "write_bytes", f.by_size);
  visit("write_unaligned", "write_bytes", f.unaligned);
  visit("write_in_turns", "turn_bytes", f.in_turns);
  visit("write_by_stripes", "stripes", f.by_stripes);
}

}  // namespace shoal
