// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include "mount/backing.hpp"
#include "mount/places.hpp"

namespace shoal::lab {

/// A small process that cleans up after the daemon, however that ends: a killed daemon leaves mounts that
/// answer "Transport endpoint is not connected". It is in a session of its own, so that what is sent to the
/// daemon's group does not reach it.
class Guardian {
 public:
  /// Forks. Call it while there is one thread.
  explicit Guardian(const Places& places);
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;
  /// All has been removed: the guardian goes, and this waits for it.
  ~Guardian();
  /// Readable when the guardian is dead: nobody would clean up any more.
  int gone() const { return from_.number(); }

 private:
  Descriptor to_;
  Descriptor from_;
  pid_t process_ = -1;
};

}  // namespace shoal::lab
