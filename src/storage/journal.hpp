// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "storage/store.hpp"

namespace shoal {

/// New bytes for an offset of a file, in place of bytes that readers rely on.
struct Change {
  std::uint64_t offset = 0;
  std::span<const std::byte> bytes;
};

/// When a file is valid while a list of changes is made.
enum class ChangeOrder {
  any,         ///< before the first change and after the last
  each_valid,  ///< after each change, too
};

/// The writes of change_in_place, its journal included.
struct ChangesMade {
  std::int64_t writes = 0, bytes = 0;
};

/// Makes the changes, in the order given: all of them or none, also where the process is killed. Local.
///
/// A killed process leaves a valid file, or a journal behind the last byte of the file, from which the next
/// process that opens the file finishes the changes. `durable`: the same holds for a loss of power (which may
/// lose any writes since the last sync, and tear others at sectors), and afterwards the device has the
/// changes and what was written before. A journal is written where the order of the changes does not suffice.
/// It takes space of the disk before the first change is made, so a full disk fails with nothing changed.
/// Where a write fails, the old bytes are put back. Errors are those of the store; Error(not_supported): more
/// than a journal may hold (journal_format.hpp), and nothing was changed. changes: no two overlap. unsynced:
/// false if the device has what was written before already.
ChangesMade change_in_place(Store& store, const std::vector<Change>& changes, ChangeOrder order, bool durable,
                            bool unsynced = true);

/// Is there a journal of changes that a killed process did not finish (or that a process is making now)? The
/// file may come from anywhere, so a journal counts only where it is whole, its size and offsets fit the
/// file, and the bytes at these offsets are the old or the new ones. Memory is bounded by
/// k_most_journal_bytes. Local.
bool has_unfinished_changes(Store& store);

/// Makes the changes that a killed process did not finish, and removes its journal. True: there was one.
/// check: called with the file as it will be; if it throws, nothing is changed. Local.
bool finish_changes(Store& store, const std::function<void(Store& finished)>& check = {});

/// For reading: a store that shows the file as it will be when its journal is finished; without a journal the
/// same store. The file is not changed, since a process may be making these changes now, with or without a
/// lock. Local.
std::unique_ptr<Store> with_changes_finished(std::unique_ptr<Store> store);

}  // namespace shoal
