// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "comm/nodes.hpp"
#include "machine/figures.hpp"

namespace shoal {

/// What the machine does beside its file systems: memory, messages between nodes, codecs; a second or two.
/// The same on all ranks. Collective.
NodeFigures measure_nodes(const Comm& comm, const Nodes& nodes);

}  // namespace shoal
