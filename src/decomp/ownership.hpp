// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "comm/comm.hpp"
#include "decomp/index_map.hpp"

namespace shoal {

/// A global index that two local cells have, of two ranks or of one.
struct RepeatedCell {
  std::int64_t index = 0;
  int rank_a = 0, rank_b = 0;  ///< rank_a <= rank_b
  std::int64_t local_a = 0, local_b = 0;
};

/// Who owns the cells of a map, as all ranks' lists together say.
struct Ownership {
  std::optional<RepeatedCell> repeated;  ///< of the lowest index; the same on all ranks
  std::int64_t owned = 0;                ///< cells that some rank has, each counted once; on all ranks
  IndexMap unowned;                      ///< those nobody has, in this rank's even part of the cells
};

/// The cells 0 .. global_cells - 1 are cut evenly over the ranks; each hears which of its part the others
/// have, a few bytes a run. Collective; a failure is thrown on all ranks.
Ownership ownership_of(const Comm& comm, const IndexMap& map, std::int64_t global_cells);

/// The map's list with each cell in one place of all ranks' lists: of those of a cell that comes twice, the
/// last one of the lowest rank that has it. All others are k_hole. Asks as ownership_of does. Collective; a
/// failure is thrown on all ranks.
std::vector<std::int64_t> unique_cells(const Comm& comm, const IndexMap& map, std::int64_t global_cells);

// What a rank does for these by itself.

/// The first cell of an even part of the cells; parts differ by at most one.
std::int64_t first_of_part(std::int64_t cells, int parts, int part);
/// Which of the cells each other rank has to hear of, ascending; nothing for those that need not.
std::vector<RankMessage> runs_by_part(const IndexMap& map, std::int64_t global_cells, int parts);

/// What the runs of all ranks say of one part.
struct OwnedPart {
  std::int64_t repeated = -1;  ///< the lowest index that comes twice; -1: none
  int rank_a = -1, rank_b = -1;
  std::int64_t owned = 0;
  IndexMap unowned;
};
OwnedPart ownership_of_part(const std::vector<RankMessage>& runs, std::int64_t global_cells, int parts,
                            int part);
/// Of the runs of all ranks, what each may keep: the cells that no lower rank has. Ranks ascending, without
/// those that keep nothing; runs as in runs_by_part.
std::vector<RankMessage> kept_of_part(const std::vector<RankMessage>& runs, std::int64_t global_cells,
                                      int parts, int part);

}  // namespace shoal
