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
#include "storage/container.hpp"
#include "storage/remote/remote_options.hpp"
#include "storage/striping.hpp"

namespace shoal {

// The settings for drivers: one struct for each part that reads them.

/// How ranks call a library together. nonblocking: calls are queued and moved together later.
enum class Access { collective, independent, nonblocking };

/// Hints for MPI-IO and PnetCDF: key and value.
using Hints = std::vector<std::pair<std::string, std::string>>;

/// Options for drivers of other libraries.
struct LibraryOptions {
  Access access = Access::collective;             ///< of distributed variables
  Access replicated_access = Access::collective;  ///< of replicated ones
  Hints hints;
  std::optional<std::int64_t> chunk_bytes;  ///< if it is set; otherwise the library has a default
};

/// The stage: the shared memory of a node in which its ranks assemble fields, and how many ranks store from
/// it.
struct StageOptions {
  std::int64_t bytes = 256 * 1024 * 1024;    ///< at most, on a node
  bool whole = false;                        ///< use all of these, not only as much as is fastest
  std::optional<std::int64_t> slot_bytes;    ///< one slot; otherwise the driver chooses
  std::optional<std::int64_t> direct_bytes;  ///< runs so long go past the stage; otherwise the driver chooses
  std::optional<int> writers;                ///< ranks of a node that store at a time; or the driver chooses
  // What the driver chooses unless these are set (StoringChoice). One writer: the kernel lets no second one
  // into a file of a local file system or tmpfs (the inode's lock), which one core saturates, and packing on
  // the other cores hides behind it.
  int default_writers = 1;
  std::int64_t default_slot_bytes = k_default_slot_bytes;
  double wait_seconds = 600;  ///< a rank that does not arrive within this time is an error
};

/// What stores the cells of the stage: the ranks within their calls, a thread of each rank while it computes,
/// or ranks that do nothing else.
enum class StoredBy { calls, thread, ranks };

/// Storing while the model computes, in driver native.
struct BackgroundOptions {
  StoredBy stored_by = StoredBy::calls;
  bool required = false;  ///< an error where it cannot be: the call itself sets it, or unused_settings=refuse
  double store_rate = 0;  ///< bytes a second that threads of all nodes store until close; 0: no limit
  bool past_cache = true;  ///< threads may store past the page cache while no rank waits for them
  /// A write may throw the failures of threads, on the ranks of all files of the dataset together.
  bool fails_early = true;
};

/// Servers, for driver native with StoredBy::ranks.
struct ServerOptions {
  int count = 0;       ///< the last ranks of the communicator, which have no cells
  int node_color = 0;  ///< of this rank's node, among the ranks that share memory with it
  Bytes settings;      ///< the dataset's settings, packed, for the call by which servers take part
};

/// The files of a new dataset. domains: one for each of nx x ny groups of tiles, the fastest dimension first.
struct LayoutOptions {
  enum class Kind { one, process, node, domains };
  Kind kind = Kind::one;
  int nx = 1, ny = 1;
  int ranks_per_node = 0;  ///< as in RearrangeOptions
};

/// How a file that is written is kept apart from other jobs and from an old file of its name.
struct FileOptions {
  bool locks = true;              ///< the file is locked against other jobs that write
  bool replace_at_commit = true;  ///< a file that is there stays until the new one has its first commit
  bool renamed_later = false;     ///< the file gets another name with its first commit
  /// Tells the user of work that takes long, before it begins; on rank 0.
  std::function<void(const std::string& text)> announce;
};

struct ReadOptions {
  bool all_read = false;  ///< replicated input: every rank reads for itself
  // For sets of files (FileSetOptions):
  MissingTiles missing = MissingTiles::refuse;
  std::optional<double> fill;
};

/// The functions by which drivers use the system. Tests replace them, and so does ClaimedDriver, whose files
/// are renamed later.
struct SystemOptions {
  StoreOpener open_store = open_posix_store;
  ContainerOpener open_folder;  ///< none: a folder of files that open_store opens
  FreeSpaceFinder find_free_space = free_space_of;
  FileSystemFinder find_file_system = file_system_of;
  /// What a file is called now that a driver opened by this path. Error(state): nothing has its name.
  std::function<std::string(const std::string& path)> present_name = [](const std::string& path) {
    return path;
  };
  std::vector<std::string> lustre_libraries = k_lustre_libraries;
  RemoteOptions remote;  ///< of datasets at an URL
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
  std::optional<MachineFigures> machine;     ///< figures of the machine and the file system of the file
  std::vector<std::string> machine_choices;  ///< the choices made by them, with reasons
  std::vector<std::string> warnings;         ///< on settings that the dataset cannot have
};

}  // namespace shoal
