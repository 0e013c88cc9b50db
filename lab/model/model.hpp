// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/client_cache.hpp"
#include "model/faults.hpp"
#include "model/interval_set.hpp"
#include "model/lock_table.hpp"
#include "model/metadata.hpp"
#include "model/parameters.hpp"
#include "model/striping.hpp"
#include "model/transport.hpp"

namespace shoal::lab {

/// A parallel file system that has times and no bytes: told what a client asks for and when, it says when
/// that is done. The same requests give the same times. Requests come in the order of their times, nearly:
/// one that comes late finds what was booked before it.
class Model {
 public:
  /// Error std::invalid_argument: parameters that `check` refuses, or no client.
  Model(const Parameters& parameters, int clients);

  struct Outcome {
    Seconds done = 0;
    int error = 0;  ///< errno; 0: it worked
  };

  Outcome open(Seconds now, ClientId client, FileId file, FileId folder);
  /// The request comes first, as it may fail; the file, which then has a number, after it.
  Outcome create(Seconds now, ClientId client, FileId folder);
  void add_file(ClientId client, FileId file, FileId folder, Seconds now);
  void add_folder(FileId folder, FileId parent);
  bool knows(FileId file) const { return files_.count(file) > 0; }
  /// A file that was there before the model.
  void adopt_file(FileId file, FileId folder, std::int64_t size);
  /// rename, remove, mkdir, readdir.
  Outcome name(Operation operation, Seconds now, ClientId client, FileId folder);
  Outcome stat(Seconds now, ClientId client, FileId file, FileId folder);
  Outcome truncate(Seconds now, ClientId client, FileId file, std::int64_t size);
  /// fallocate: takes space. `grows`: and the file is longer then.
  Outcome allocate(Seconds now, ClientId client, FileId file, Extent extent, bool grows);
  /// fallocate's FALLOC_FL_PUNCH_HOLE.
  Outcome punch(Seconds now, ClientId client, FileId file, Extent extent);
  /// `direct`: past the cache, as with O_DIRECT or O_SYNC; `durable`: and to the medium, as with O_SYNC or
  /// O_DSYNC.
  Outcome write(Seconds now, ClientId client, FileId file, Extent extent, bool direct = false,
                bool durable = false);
  Outcome read(Seconds now, ClientId client, FileId file, Extent extent, bool direct = false);
  Outcome fsync(Seconds now, ClientId client, FileId file);
  Outcome close(Seconds now, ClientId client, FileId file);
  /// fcntl: what NFS does, pages of the file are written back before an unlock, and dropped by a lock.
  Outcome lock(Seconds now, ClientId client, FileId file, bool unlocks);
  /// A file's last name and last handle are gone.
  void remove_file(FileId file);

  /// Stripes of new files of a folder, or of a file that has no data yet. 0, or EEXIST: there is data;
  /// EINVAL: no such stripes. bytes 0: the preset's; count 0: the preset's; -1, or more than there are
  /// servers: all.
  int set_striping(FileId file, bool is_folder, StripingParameters striping);
  /// What a folder gives its files.
  StripingParameters striping_of_folder(FileId folder) const;
  Layout layout(FileId file) const;

  /// What files may take, and take.
  std::int64_t space() const { return parameters_.faults.space; }
  std::int64_t used() const { return used_; }
  const Parameters& parameters() const { return parameters_; }

  struct Counters {
    std::int64_t lock_requests = 0;
    std::int64_t revocations = 0;
    std::int64_t partial_page_reads = 0;
    std::int64_t metadata_requests = 0;
  };
  Counters counters() const;
  const std::vector<Server>& servers() const { return transport_.servers(); }

 private:
  struct File {
    Layout layout;
    std::int64_t size = 0;
    IntervalSet allocated;
    std::map<int, LockTable> locks;  ///< of each object, or of all in 0
    std::uint64_t data = 0;          ///< goes up with each change, as do attributes
    std::uint64_t attributes = 0;
  };

  void advance(Seconds now);
  ClientCache& cache(ClientId client) { return *caches_[static_cast<std::size_t>(client)]; }
  File& file(FileId id) { return files_[id]; }
  Outcome failed(Seconds now, int error) const { return {now + 2 * transport_.latency(), error}; }
  Extent whole_pages(Extent extent) const;
  Seconds take_lock(ClientId client, FileId id, Extent extent, LockTable::Mode mode, Seconds now);
  Seconds take_one(LockTable& table, int object, Extent extent, ClientId client, FileId id,
                   LockTable::Mode mode, Seconds now);
  void use_lock(ClientId client, File& of, Extent extent, Seconds until);
  Seconds read_partial_pages(ClientId client, FileId id, Extent extent, Seconds now);
  void keep_zeros(ClientId client, FileId id, std::int64_t next);
  void read_ahead(ClientId client, FileId id, Extent extent, Seconds now);
  void changed(ClientId client, FileId id, Seconds now);
  int take_space(File& of, Extent extent);

  Parameters parameters_;
  Faults faults_;
  Transport transport_;
  Metadata metadata_;
  std::vector<std::unique_ptr<ClientCache>> caches_;
  std::unordered_map<FileId, File> files_;
  std::unordered_map<FileId, StripingParameters> folders_;
  int next_server_ = 0;
  std::int64_t used_ = 0;
  Counters counters_;
};

/// Error std::invalid_argument: what cannot be, with its name and what is allowed.
void check(const Parameters& parameters);

}  // namespace shoal::lab
