// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "storage/store.hpp"

namespace shoal {

/// New bytes for a place of a file that readers rely on.
struct Change {
  std::uint64_t offset = 0;
  std::span<const std::byte> bytes;
};

/// What the caller knows of a list of changes.
enum class ChangeOrder {
  any,         ///< the file is valid before the first and after the last one only
  each_valid,  ///< and between any two of them
};

/// What change_in_place wrote, its journal included.
struct ChangesMade {
  std::int64_t writes = 0, bytes = 0;
};

/// Make the changes, in the order given, so that nothing ends between before and after. Local.
///
/// A killed process leaves a file that is valid as it lies, or a journal behind its last byte, from which the
/// next one that opens it finishes the work. `durable`: so does a loss of power (any writes since the last
/// sync may be lost then, and others torn at sectors); the device has what was written before, and the
/// changes. A journal is written where the order of the changes does not suffice: it takes space of the disk
/// before the first change is made, so a full disk fails with nothing changed. Where a write fails, the old
/// bytes are put back. Errors are those of the store; Error(not_supported): more than a journal may hold
/// (journal_format.hpp), and nothing was changed.
/// changes: no two overlap. unsynced: false if the device has what was written before already.
ChangesMade change_in_place(Store& store, const std::vector<Change>& changes, ChangeOrder order, bool durable,
                            bool unsynced = true);

/// Did a killed process leave changes undone (or is another one in the midst of them)? A journal is looked at
/// with suspicion, since anybody may have made the file: it counts where it is whole, its size and places fit
/// the file, and what lies at these places is what it says. Memory is bounded by k_most_journal_bytes. Local.
bool has_unfinished_changes(Store& store);

/// The changes that a killed process did not finish are made now, and its journal goes. Returns whether there
/// was one. check: gets the file as it will be, and throws where it is not to become that; nothing has been
/// changed then. Local.
bool finish_changes(Store& store, const std::function<void(Store& finished)>& check = {});

/// For those who only read: the store as it will be when its journal is finished. The file stays as it is,
/// since somebody may be in the middle of these changes, who need not have a lock. Without a journal, the
/// same store. Local.
std::unique_ptr<Store> with_changes_finished(std::unique_ptr<Store> store);

}  // namespace shoal
