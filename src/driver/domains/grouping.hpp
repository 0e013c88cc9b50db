// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "comm/comm.hpp"
#include "decomp/decomposition.hpp"
#include "driver/driver.hpp"

namespace shoal {

/// How ranks are grouped into I/O domains, each with a file of its own.
struct Grouping {
  int domain = 0;   ///< of this rank; numbered from 0 without gaps
  int domains = 1;  ///< how many there are
};

/// The domain of each rank for a layout other than one. Ranks without cells in any of the decompositions join
/// the first domain. Errors on all ranks alike: a layout by io_layout whose tiles do not form a grid, or that
/// has more domains than the grid has rows or columns. Collective.
Grouping group_ranks(const Comm& comm, const LayoutOptions& layout, const Cuts& cuts);

/// The box of a decomposition that the file of one domain holds: the bounding box of its ranks' tiles; empty
/// if they have no cells. Error, with the numbers of the domains, on all ranks of all domains alike: the
/// boxes of two domains overlap. Collective over comm and domain.
Box box_of_domain(const Comm& comm, const Comm& domain, int number, const Decomposition& decomposition);

}  // namespace shoal
