// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "capi/handles.hpp"

namespace shoal::capi {

/// A call on a communicator. Each begins with an agreement on the arguments: that is where a rank that
/// refuses takes part.
class Own {
 public:
  Own(MPI_Comm comm, const char* name, const std::string& path = {})
      : comm_(comm, CollectiveMethod::anyhow, {wait_seconds_here(), name, path}),
        calling_(comm_, name, path) {}
  const Comm& comm() const { return comm_; }
  /// The settings' wait_seconds counts that rank 0 finds.
  void agree_or_throw(const Status& status) const {
    comm_.agree_or_throw(status);
    double seconds = wait_seconds_of_settings();
    comm_.broadcast(reinterpret_cast<std::byte*>(&seconds), sizeof seconds, 0);
    comm_.wait_at_most(seconds, true);
  }

 private:
  // Of the environment; without: as was said last.
  static double wait_seconds_here() {
    double seconds = 0;
    caught([&] {
      const Settings mine = resolve_settings("", {"", ""});
      if (!mine.is_default("wait_seconds")) seconds = mine.seconds("wait_seconds");
    });  // wrong ones are reported where a dataset is opened
    return seconds;
  }
  double wait_seconds_of_settings() const {
    double seconds = comm_.wait_seconds();
    if (comm_.rank() == 0)
      caught([&] { seconds = resolve_settings("", current_sources()).seconds("wait_seconds"); });
    return seconds;
  }
  Comm comm_;
  Comm::Calling calling_;
};

}  // namespace shoal::capi
