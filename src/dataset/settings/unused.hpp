// SPDX-License-Identifier: BSD-3-Clause
// Nothing that is set is passed over in silence.
#pragma once

#include <string>
#include <vector>

#include "dataset/definitions/definitions.hpp"
#include "dataset/settings/settings.hpp"

namespace shoal {

/// What decides which settings a dataset has a use for.
struct DatasetKind {
  Format format;
  std::string driver;  ///< or "tiles", for a set of files that is read
  bool writable;
  bool is_remote = false;  ///< its path is an address (is_remote)
};

/// Settings that such a dataset has no use for, as warnings: sources other than the argument may speak of all
/// datasets, whatever they are; also of old names that were used. Error(setting): the argument of the call
/// itself has no use, or any source's with unused_settings=refuse; compression is one that the format has
/// not. Local.
std::vector<std::string> unused_settings(const Settings& settings, const DatasetKind& kind);

/// Names and patterns of the settings by variable ("temp=...; salt*=...") that were used for no variable that
/// was defined, as warnings that say which variables there are. Local.
std::vector<std::string> unused_choices(const Settings& settings, const Definitions& definitions);

}  // namespace shoal
