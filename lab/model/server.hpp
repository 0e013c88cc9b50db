// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <utility>

#include "model/parameters.hpp"
#include "model/timetable.hpp"

namespace shoal::lab {

enum class Direction { write, read };

/// One server of data (OST, NSD, brick): it serves one request at a time.
class Server {
 public:
  Server(const ServerParameters& parameters, int number);

  /// When a request that arrives then is done. `object` says which bytes lie beside each other.
  Seconds serve(Direction direction, std::pair<FileId, int> object, Extent extent, Seconds arrival);
  /// What waits for the same commit shares it, as in a journal.
  Seconds commit(Seconds arrival);
  void stall(Seconds begin, Seconds seconds) { timetable_.block(begin, begin + seconds); }
  void forget(FileId file);
  std::int64_t bytes() const { return bytes_; }
  std::int64_t requests() const { return requests_; }

 private:
  ServerParameters parameters_;
  double share_;  ///< of the bandwidth that is left to us
  Timetable timetable_;
  std::map<std::pair<FileId, int>, std::int64_t> ends_;  ///< of each object's last request
  struct Commit {
    Seconds asked, begin, end;  ///< when it was asked for first
  };
  Commit last_commit_{0, -1, -1};
  std::int64_t bytes_ = 0;
  std::int64_t requests_ = 0;
};

}  // namespace shoal::lab
