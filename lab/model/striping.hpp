// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "model/units.hpp"

namespace shoal::lab {

/// How a file lies on servers. Stripes go round its objects, one on each server; bytes of an object are
/// counted from its own begin.
struct Layout {
  std::int64_t stripe_bytes = 1 << 20;
  int stripe_count = 1;  ///< objects
  int first_server = 0;  ///< of object 0; the others follow

  /// Bytes of one object. A contiguous extent of the file is one extent of each object that it meets.
  struct Part {
    int object;
    Extent extent;
  };
  std::vector<Part> parts(Extent of_file) const;
  /// Where byte `at` of an object lies in the file.
  std::int64_t file_offset(int object, std::int64_t at) const;
  int server(int object, int servers) const { return (first_server + object) % servers; }
};

}  // namespace shoal::lab
