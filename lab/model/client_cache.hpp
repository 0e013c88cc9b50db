// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "model/interval_set.hpp"
#include "model/parameters.hpp"
#include "model/timetable.hpp"
#include "model/transport.hpp"

namespace shoal::lab {

/// The pages of one client: which it has, which of them are dirty, and which are on their way. It knows times
/// and no bytes.
class ClientCache {
 public:
  ClientCache(const CacheParameters& parameters, ClientId client, Transport& transport)
      : parameters_(parameters), client_(client), transport_(transport) {}

  bool enabled() const { return parameters_.bytes > 0; }

  /// When a write is in the cache. It waits while there is too much that is dirty. What fills a request goes
  /// to the server at once.
  Seconds write(FileId file, const Layout& layout, Layout::Part part, Seconds now);
  /// When these bytes are in the cache; those that are missing are fetched.
  Seconds read(FileId file, const Layout& layout, Layout::Part part, Seconds now);
  /// A copy between a program and the cache.
  Seconds copy(std::int64_t bytes, Seconds now);
  bool holds(FileId file, Layout::Part part) const;
  /// These bytes are in the cache, or on the server, by another way.
  void keep(FileId file, const Layout& layout, Layout::Part part);
  /// They went to the server past the cache: fsync has to commit them.
  void passed_by(FileId file, const Layout& layout, int object);

  /// When what is dirty of these bytes is on the servers. Sends what has not been sent.
  Seconds flush(FileId file, Layout::Part part, Seconds now);
  Seconds flush(FileId file, Seconds now);
  /// When the servers have brought to their media what this client wrote.
  Seconds commit(FileId file, Seconds now);
  /// Sends what has been dirty for long by then.
  void send_aged(Seconds now);

  /// Pages go, dirty or not.
  void drop(FileId file, Layout::Part part);
  /// Pages that are not dirty go.
  void drop_clean(FileId file);
  void forget(FileId file);

  /// What a client believes of a file.
  struct Seen {
    Seconds attributes_at = -1;  ///< when they came; below 0: never
    std::uint64_t attributes = 0;
    std::uint64_t data = 0;
    std::int64_t read_to = 0;  ///< where its last read ended
  };
  Seen& seen(FileId file) { return files_[file].seen; }

 private:
  struct Moving {
    Extent extent;
    Seconds done;
  };
  struct Pages {
    IntervalSet valid;    ///< in the cache, dirty ones too
    IntervalSet pending;  ///< dirty, not sent
    Seconds pending_since = 0;
    std::vector<Moving> sent;
    std::vector<Moving> fetched;
    bool uncommitted = false;
  };
  struct File {
    Layout layout;
    std::map<int, Pages> objects;
    Seen seen;
  };
  struct Due {
    Seconds since;
    FileId file;
    int object;
  };
  struct Kept {
    FileId file;
    Layout::Part part;
  };

  Pages& pages(FileId file, const Layout& layout, int object);
  Pages* find(FileId file, int object);
  void send(FileId file, File& of, int object, Extent extent, Seconds now);
  void send_pending(FileId file, File& of, int object, Extent extent, Seconds now);
  Seconds room(std::int64_t bytes, Seconds now);
  void validate(FileId file, int object, Pages& of, Extent extent);
  void evict();

  CacheParameters parameters_;
  ClientId client_;
  Transport& transport_;
  std::map<FileId, File> files_;
  std::multimap<Seconds, std::int64_t> in_flight_;  ///< sent: when done, bytes
  std::int64_t in_flight_bytes_ = 0;
  std::int64_t pending_bytes_ = 0;
  std::deque<Due> due_;
  std::deque<Kept> kept_;  ///< oldest first
  std::int64_t kept_bytes_ = 0;
  Timetable memory_;
};

}  // namespace shoal::lab
