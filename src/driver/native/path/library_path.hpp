// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "driver/native/path/rearranged_path.hpp"

namespace shoal {

/// The path of variables that only the catalog's library can read: each rank reads its tile with a handle of
/// its own; of maps I/O ranks read for all.
class LibraryPath {
 public:
  LibraryPath(const NativeContext& context, RearrangedPath& rearranged)
      : context_(context), rearranged_(rearranged) {}

  /// Collective where the job's decomposition is a map.
  Status read(const FieldJob& job);

 private:
  Status read_tile(const FieldJob& job);

  const NativeContext& context_;
  RearrangedPath& rearranged_;
};

}  // namespace shoal
