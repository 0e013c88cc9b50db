// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "streams/configuration.hpp"
#include "streams/time/window.hpp"

namespace shoal::streams {

/// A run, or a part of it after a restart, of steps of one length.
struct RunOfSteps {
  Calendar calendar;
  Instant start;          ///< of the whole run
  Instant from, to;       ///< of this part
  std::int64_t step = 0;  ///< microseconds
};

/// A file that would be written.
struct WrittenFile {
  std::string name;
  std::int64_t records = 0;
  Window first, last;  ///< of its records
};

/// What a [[file]] would write.
struct Schedule {
  std::vector<WrittenFile> files;
  std::vector<Window> windows;       ///< of its records, the first k_most_windows
  std::optional<Window> unfinished;  ///< the window that the run ends in
  std::string crossing;  ///< the first step that a window ends in the middle of; "": there is none
  std::int64_t records() const;

  static constexpr std::size_t k_most_windows = 400;
};

/// Error(setting, invalid_argument): dates that are none, steps that are longer than windows.
Schedule schedule_of(const FileChoice& choice, const RunOfSteps& run);

}  // namespace shoal::streams
