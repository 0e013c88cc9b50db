// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "format/catalog.hpp"
#include "format/tiles/file_set.hpp"
#include "machine/figures.hpp"
#include "rearrange/options.hpp"
#include "rearrange/storing_choice.hpp"
#include "storage/store.hpp"
#include "storage/striping.hpp"

namespace shoal {

// What settings say to drivers, by who reads it.

/// How ranks call a library together. nonblocking: calls are queued and moved together later.
enum class Access { collective, independent, nonblocking };

/// For MPI-IO and PnetCDF: key and value.
using Hints = std::vector<std::pair<std::string, std::string>>;

/// For drivers of other libraries.
struct LibraryOptions {
  Access access = Access::collective;             ///< of distributed variables
  Access replicated_access = Access::collective;  ///< of replicated ones
  Hints hints;
  std::optional<std::int64_t> chunk_bytes;  ///< if somebody set it; a library may have its own default
};

/// The shared memory of a node in which its ranks assemble fields, and who writes from there.
struct StageOptions {
  std::int64_t bytes = 256 * 1024 * 1024;    ///< the most of a node
  bool whole = false;                        ///< use all of them, not only as much as is fastest
  std::optional<std::int64_t> slot_bytes;    ///< one slot; otherwise the driver chooses
  std::optional<std::int64_t> direct_bytes;  ///< runs so long go past the stage; otherwise the driver chooses
  std::optional<int> writers;                ///< ranks of a node that store at a time; or the driver chooses
  // What the driver chooses unless these are set (StoringChoice).
  int default_writers = 1;
  std::int64_t default_slot_bytes = k_default_slot_bytes;
  double wait_seconds = 600;  ///< a rank that does not come within this time is an error
};

/// Who stores what the stage holds: the ranks within their calls, a thread of each while they compute, or
/// ranks that do nothing else.
enum class StoredBy { calls, thread, ranks };

/// Driver native: what is stored while the model computes.
struct BackgroundOptions {
  StoredBy stored_by = StoredBy::calls;
  bool required = false;   ///< not to be passed over: the call itself sets it, or unused_settings=refuse
  double store_rate = 0;   ///< bytes a second that threads of all nodes store until close; 0: no limit
  bool past_cache = true;  ///< threads may store past the page cache while nobody waits for them
  /// A write may throw what threads failed to store, as ranks of all files of the dataset do so together.
  bool fails_early = true;
};

/// StoredBy::ranks, for driver native: so many ranks, the last of the communicator, have no cells; and the
/// node of this rank among those that share memory with it.
struct ServerOptions {
  int count = 0;
  int node_color = 0;
  /// For who asks the servers to take part: the dataset's settings, packed.
  Bytes settings;
};

/// How many files a new dataset is. domains: nx x ny groups of tiles, the fastest dimension first.
struct LayoutOptions {
  enum class Kind { one, process, node, domains };
  Kind kind = Kind::one;
  int nx = 1, ny = 1;
  int ranks_per_node = 0;  ///< as in RearrangeOptions
};

/// A file that is written, beside others of its name and beside who else opens it.
struct FileOptions {
  bool locks = true;              ///< who writes a file locks it against others
  bool replace_at_commit = true;  ///< a file that is there stays until the new one has its first commit
  bool renamed_later = false;     ///< the file gets another name with its first commit
  /// What takes long is said to the user before it begins; on rank 0.
  std::function<void(const std::string& text)> announce;
};

struct ReadOptions {
  bool all_read = false;  ///< replicated input: every rank reads for itself
  // Of a set of files, as FileSetOptions has them:
  MissingTiles missing = MissingTiles::refuse;
  std::optional<double> fill;
};

/// What drivers ask of the system. Tests, and files that get another name later, put others in their place.
struct SystemOptions {
  StoreOpener open_store = open_posix_store;
  FreeSpaceFinder find_free_space = free_space_of;
  FileSystemFinder find_file_system = file_system_of;
  std::vector<std::string> lustre_libraries = k_lustre_libraries;
};

struct DriverOptions {
  LayoutOptions layout;
  RearrangeOptions rearranging;
  StageOptions stage;
  BackgroundOptions background;
  ServerOptions servers;
  LibraryOptions library;
  CatalogOptions catalog;
  Stripes stripes;  ///< of new files on Lustre
  FileOptions file;
  ReadOptions reading;
  SystemOptions system;
  std::optional<MachineFigures> machine;     ///< what was measured where the file is
  std::vector<std::string> machine_choices;  ///< what was chosen by it, and why
  std::vector<std::string> warnings;         ///< of what the settings ask for and the dataset cannot have
};

}  // namespace shoal
