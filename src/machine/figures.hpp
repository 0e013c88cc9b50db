// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/clock.hpp"

namespace shoal {

// What `shoal tune` measured of a machine, and what it says of times. Values and arithmetic, all Local.

/// Bytes a second at numbers (of ranks, nodes, stripes) or sizes (bytes), which ascend from 1 or more.
struct RateTable {
  std::vector<std::int64_t> at;
  std::vector<double> bytes_per_second;

  bool empty() const { return at.empty(); }
  void add(std::int64_t where, double rate) {
    at.push_back(where);
    bytes_per_second.push_back(rate);
  }
  /// At a number of writers: between two rows by the logarithm of the number, beyond them the nearest row. 0
  /// of an empty table.
  double at_number(double number) const;
  /// At a size of writes: the same, but what is smaller than the first row takes its time a write.
  double at_size(double bytes) const;
  double best() const;
  /// The first row that has so much of the best rate; 0 of an empty table.
  std::int64_t first_with(double share_of_best) const;
};

/// Of one file system. Tables may be empty, and seconds 0: not measured. Rates are of all ranks that write
/// together, as write calls take the bytes; unless it is said otherwise a writer writes k_tune_bytes a call.
struct FileSystemFigures {
  std::string mount_point;  ///< in full
  std::string kind;         ///< as FileSystem::type
  std::string measured;     ///< the day, "2026-11-25"
  std::string version;      ///< of Shoal
  std::int64_t nodes = 1, ranks_per_node = 1;
  double create_seconds = 0, open_seconds = 0;
  double sync_seconds = 0;           ///< fsync of a file with nothing to send
  double sync_bytes_per_second = 0;  ///< write and fsync, one rank of each node
  std::int64_t stripe_count = 0;     ///< of new files of the folder; 0: no stripes, or not known
  std::int64_t stripe_bytes = 0;
  RateTable by_writers;  ///< ranks of one node, each in its own part of one file
  RateTable by_nodes;    ///< one rank of each of so many nodes, each in its own part of one file
  RateTable own_files;   ///< the same, each in a file of its own
  RateTable by_size;     ///< bytes a call, at multiples of it; one rank of each node, in its own part
  RateTable unaligned;   ///< the same, at other offsets
  RateTable in_turns;    ///< the same, but nodes take turns in the file: node 0, node 1, ...
  RateTable by_stripes;  ///< stripes of the file; one rank of each node
};
inline constexpr std::int64_t k_tune_bytes = std::int64_t{1} << 20;

/// Of the machine beside its file systems; 0: not measured.
struct NodeFigures {
  std::int64_t cores = 0;
  double copy_bytes_per_second = 0;     ///< of one rank, memory to memory
  double message_seconds = 0;           ///< a message of 8 bytes to another node
  double message_bytes_per_second = 0;  ///< of one node to another, in large messages
  double shuffle_bytes_per_second = 0;  ///< of one rank, before compression
  double deflate_bytes_per_second = 0;  ///< level 1, with shuffle
  double zstd_bytes_per_second = 0;     ///< level 1, with shuffle
};

struct Machine {
  NodeFigures node;
  std::vector<FileSystemFigures> file_systems;
};

/// As the kind of file systems that Shoal does not know (FileSystem::Sharing::unknown): where several nodes
/// have one, there are servers.
inline constexpr const char* k_unknown_kind = "unknown";

/// What counts for one file.
struct MachineFigures {
  std::string path;  ///< of the machine file; empty: default figures (default_figures.hpp)
  NodeFigures node;
  FileSystemFigures file_system;
  bool default_turns = false;  ///< what nodes do to each other was not measured: default figures count

  bool measured() const { return !path.empty(); }
};
void pack(ByteWriter& out, const std::optional<MachineFigures>& figures);
std::optional<MachineFigures> unpack_machine_figures(ByteReader& in);

/// "machine.toml, /scratch (lustre, measured 2026-11-25)"; "default figures of lustre with 4 stripes".
std::string text_of(const MachineFigures& figures);

/// How bytes go to a file.
struct StoreUse {
  double bytes = 0;
  double nodes = 1;            ///< that store at the same time
  double writers_of_node = 1;  ///< ranks of each of them
  double write_bytes = 0;      ///< of a call
  double turn_bytes = 0;       ///< nodes take turns in the file after so many; 0: each has a part of its own
};
/// How long they take; 0: not measured.
Seconds store_seconds(const MachineFigures& figures, const StoreUse& use);

/// Do figures say what nodes lose by taking turns, and what messages between them cost?
bool know_nodes(const MachineFigures& figures);
/// Of cells that the ranks of nodes put together, send to so many of the nodes in so many messages each, and
/// take apart there.
Seconds message_seconds(const MachineFigures& figures, double bytes, double nodes, double io_nodes,
                        double messages_of_node);

/// Nodes that take turns in a file lose nothing from so many bytes a turn on; 0: not measured, or they always
/// do.
std::int64_t harmless_turn(const FileSystemFigures& figures);

}  // namespace shoal
