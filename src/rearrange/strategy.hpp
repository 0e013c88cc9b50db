// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "machine/figures.hpp"
#include "rearrange/options.hpp"

namespace shoal {

// Whether each node stores the cells of its own ranks, or cells go to I/O ranks first (are rearranged), and
// why. Functions of counts and settings alone, all Local: who asks has added up the counts over ranks. The
// native driver, the simulation of large jobs and, through shoal-plan, `shoal explain` choose by these.

/// Prices of storing and sending.
struct CostModel {
  /// Bytes. Shorter runs are dearer to store one by one than to send: a system call of 10 microseconds or
  /// more, in which some GB/s go over the network.
  double short_run = 16 * 1024;
  /// Boxes that do not make so many times fewer runs are not worth the messages.
  double fewer_runs = 4;
  /// Of a node that stores cells of a map itself; more are sent. Each takes 150 bytes on each of its ranks.
  std::int64_t most_runs_of_node = 64 * 1024;
  /// Of this machine: where they know what messages and turns of nodes cost (know_nodes), times are compared
  /// in place of the two rules above. nullptr: not measured.
  const MachineFigures* figures = nullptr;
  /// A field goes to I/O ranks if that takes less than so much of the time.
  double worth_messages = 0.9;
  /// A node that stores its own cells opens the file, and more nodes sync it; so many fields share that.
  double fields_of_open = 8;
};
inline constexpr CostModel k_cost_model;

/// Error(setting) for settings that contradict each other. writers: of a node, as set (0: chosen).
void check_rearranging(const RearrangeOptions& options, int writers);
/// The setting that sends all cells to I/O ranks, and the one that keeps them on their node (or in their
/// group), as messages and reports name them; empty: none.
std::string setting_that_rearranges(const RearrangeOptions& options);
std::string setting_that_keeps(const RearrangeOptions& options);

/// What no setting says.
struct JobFacts {
  int nodes = 1;                     ///< or groups of I/O ranks
  bool one_node_stores = false;      ///< nodes do not see each other's writes
  std::string file_system;           ///< where that is so
  bool interleaves_records = false;  ///< the format puts records of several variables between each other
};

/// Do cells of a decomposition's fields go to I/O ranks? by_cost: choose_field_strategy says, for each field.
enum class Rearranging { never, by_cost, always };

/// Of all fields of a decomposition.
struct Strategy {
  Rearranging rearranging = Rearranging::never;
  std::string why;              ///< of never and always; empty: nothing to report
  bool nodes_can_store = true;  ///< otherwise by_cost means that every field is rearranged
};

/// As far as it is known without counts. by_cost: these are needed.
Strategy choose_strategy(const RearrangeOptions& options, const JobFacts& facts);

/// What nodes have of a decomposition, in runs of the global grid.
struct CellCounts {
  std::int64_t runs = 0, cells = 0;  ///< of all nodes, that they would store
  std::int64_t most_runs = 0;        ///< of one node, to store or to fetch; of a map
};
/// Of what by_cost leaves open. Error(setting) where a setting keeps cells on a node that has too many runs.
Strategy choose_strategy(const RearrangeOptions& options, const JobFacts& facts, const CellCounts& counts,
                         const CostModel& model = k_cost_model);

/// What storing a field takes, in runs of the file.
struct FieldCounts {
  bool counted = true;         ///< what nodes would store is known
  double runs = 0, bytes = 0;  ///< of all nodes, that they would store by themselves
  int io_ranks = 0;            ///< that get a box with cells
  int io_nodes = 0;            ///< on so many nodes at most; 0: on any
  double box_runs = 0;         ///< of all boxes of I/O ranks; 0: not counted
  double field_bytes = 0;      ///< of all cells
  int nodes = 1;
  int writers_of_node = 1;  ///< that store at a time, unless cells are sent
  double share_bytes = 0;   ///< at most in a write of the stage; 0: whole runs
  double rank_run = 0;      ///< bytes that follow each other in the file and that one rank stores; 0: any run
  bool boxes_fit = true;    ///< otherwise the section is one that I/O ranks cannot have
  bool one_rank = false;    ///< one rank has all cells, and may store them itself
};

/// What the model says of it.
struct CostEstimate {
  bool short_runs = false;  ///< nodes would store runs that are dearer than messages
  bool fewer_runs = false;  ///< boxes make much fewer
  bool timed = false;       ///< both times below are known, and compared
  Seconds local = 0;        ///< each node stores its own cells; 0: not known
  Seconds rearranged = 0;   ///< cells are sent, and I/O ranks store boxes; 0: not known
  Seconds boxes = 0;        ///< of that storing the boxes
  Seconds opens = 0;        ///< the field's share in opens by nodes that no box would be of
  double worth_messages = 1;
  bool rearranging_pays() const {
    return timed ? rearranged < worth_messages * (local + opens) : short_runs && fewer_runs;
  }
};
CostEstimate estimate_cost(const FieldCounts& counts, const CostModel& model = k_cost_model);

/// What all ranks that store a field take together, by measured figures; 0: not known.
Seconds predicted_store(const FieldCounts& counts, bool rearranged, const CostModel& model);

/// Of one field.
struct FieldStrategy {
  bool rearrange = false;
  std::string why;  ///< beside the counts; empty: these alone
};
FieldStrategy choose_field_strategy(const Strategy& strategy, const FieldCounts& counts,
                                    const CostModel& model = k_cost_model);

// ---- Lines of the report, without the field that they are about.

/// "rearrange: nodes would store 6400 runs of 1.3 KiB; 16 I/O ranks store 16 boxes of ...".
std::string report_text(const RearrangeOptions& options, const Strategy& strategy,
                        const FieldStrategy& chosen, const FieldCounts& counts,
                        const CostModel& model = k_cost_model);

/// The same of a field whose job has one node, which therefore stores it.
std::string report_text_of_one_node(const FieldCounts& counts, const CostModel& model);

/// Chunks that ranks compress whose cells were sent to them.
struct SentChunks {
  std::int64_t chunks = 0;
  std::int64_t cut = 0;                   ///< with cells of several nodes
  std::int64_t bytes = 0, elsewhere = 0;  ///< sent, and to another node
  std::int64_t coders = 0;                ///< ranks that compress
  bool several_nodes = false;
};
std::string report_text(const Strategy& strategy, const SentChunks& sent);

/// Chunks that nodes decode, each by itself, of so many.
std::string report_text_of_decoded(std::int64_t decoded, std::int64_t chunks);

/// rearranger=subset: so many groups, one of which has so many ranks.
std::string report_text_of_groups(int groups, int ranks);

}  // namespace shoal
