// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace shoal {

/// Whose conventions say where the cells of a file belong:
/// - fms: attribute domain_decomposition of coordinate variables, NumFilesInSet; Shoal writes these too;
/// - roms: global attribute partition, of UCLA's (node, nodes, first xi, first eta) or of CROCO and AGRIF
///   (tile number in xi and eta, tiles in xi and eta);
/// - nemo: global attributes DOMAIN_*, also those of XIOS; halos are left out.
enum class SetStyle : int { fms, roms, nemo };
const char* name_of(SetStyle style);

/// What one file holds of one dimension of the whole. 0-based.
struct Span {
  std::int64_t first = 0;   ///< in the whole, of the cells that count as this file's
  std::int64_t count = 0;   ///< of them
  std::int64_t before = 0;  ///< halo cells in the file in front of them
  std::int64_t stored = 0;  ///< length of the dimension in the file
};

}  // namespace shoal
