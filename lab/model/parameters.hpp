// SPDX-License-Identifier: BSD-3-Clause
// What a file system is like, as numbers. Read from a preset (preset/read_preset.hpp); the keys there are
// these names. Bandwidths are bytes a second, durations seconds.
#pragma once

#include <cerrno>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "model/units.hpp"

namespace shoal::lab {

/// A server that has this part of the others' bandwidth.
struct SlowServer {
  int server = 0;
  double factor = 1;
};

struct ServerParameters {
  int number = 1;
  double write_bandwidth = 0;
  double read_bandwidth = 0;
  Seconds write_latency = 0;  ///< the server is busy so long for each write request, beside its bytes
  Seconds read_latency = 0;
  Seconds seek = 0;    ///< the same, where a request does not begin where the object's last one ended
  Seconds commit = 0;  ///< to bring what was written to the medium, for fsync
  double load = 0;     ///< part of the server that others use, 0 to below 1
  std::vector<SlowServer> slow;
};

struct NetworkParameters {
  double client_bandwidth = 0;  ///< of one client's link, each way
  double total_bandwidth = 0;   ///< of all together, each way; 0: no limit
  Seconds latency = 0;          ///< of a message, one way
};

struct StripingParameters {
  std::int64_t bytes = 1 << 20;  ///< on one server before the next one's turn
  int count = 1;                 ///< servers of a file; -1: all
};

enum class LockMode {
  none,    ///< nobody waits for anybody
  file,    ///< close-to-open, as NFS: an open drops pages of a file that others changed
  extents  ///< locks of byte ranges, held by a client until another one needs them
};

struct LockParameters {
  LockMode mode = LockMode::none;
  bool of_objects = true;    ///< each server's object has locks of its own (Lustre); else the file has (GPFS)
  bool grow = true;          ///< a lock gets more than was asked for, up to the next one of others
  bool revoke_whole = true;  ///< a holder loses all of a lock; else what lies on the other one's side
  Seconds enqueue = 0;       ///< the server's time for a lock
  Seconds revoke = 0;        ///< the holder's time to give one up, beside the flush of its dirty pages
};

struct CacheParameters {
  std::int64_t bytes = 0;  ///< of pages that a client keeps; 0: no cache, each write waits for the servers
  std::int64_t dirty_bytes = 0;  ///< writes wait while a client has more than this unwritten; at most `bytes`
  std::int64_t page_bytes =
      1;  ///< a part of a page is read before it is written; 1: never. A divisor of stripes
  std::int64_t request_bytes = 1 << 20;  ///< most bytes of one request to a server
  std::int64_t read_ahead_bytes = 0;     ///< fetched behind a sequential read
  Seconds writeback = 5;                 ///< dirty pages are sent after this time at the latest
  double bandwidth = 0;                  ///< of copies between programs and the cache; 0: no limit
  bool flush_on_close = false;           ///< close waits until the servers have everything
  Seconds attributes = 0;                ///< a client believes attributes for this time
};

struct MetadataParameters {
  int servers = 1;
  Seconds latency = 0;  ///< a client waits this long for each operation, beside the server's time
  // The server's time for each.
  Seconds open = 0;
  Seconds create = 0;
  Seconds create_stripe = 0;  ///< beside create, for each server of the new file
  Seconds stat = 0;
  Seconds stat_stripe = 0;  ///< beside stat, for each server of the file
  Seconds rename = 0;
  Seconds remove = 0;
  Seconds mkdir = 0;
  Seconds readdir = 0;
  Seconds truncate = 0;
  Seconds fsync = 0;
  Seconds close = 0;
  Seconds lock = 0;  ///< of fcntl
};

struct StallFault {
  int server = 0;  ///< -1: the one that the request goes to
  Seconds seconds = 0;
  std::int64_t at_request = 0;  ///< begins with the n-th such request, from 1; 0: at `at`
  Seconds at = 0;
  int client = -1;  ///< -1: requests of all clients count
};

struct ErrorFault {
  Operation operation = Operation::write;
  int client = -1;              ///< -1: requests of all clients count
  std::int64_t at_request = 1;  ///< the n-th such request fails, from 1
  std::int64_t times = 1;       ///< and so many in all; 0: all later ones, too
  int error = EIO;
};

struct FaultParameters {
  std::vector<StallFault> stalls;
  std::vector<ErrorFault> errors;
  std::int64_t space =
      std::numeric_limits<std::int64_t>::max();  ///< ENOSPC when files have more bytes than this
};

struct Parameters {
  std::string kind;  ///< the file system that this stands for, as Shoal names it: "lustre", "nfs", ...
  std::string about;
  ServerParameters servers;
  NetworkParameters network;
  StripingParameters striping;
  LockParameters locks;
  CacheParameters cache;
  MetadataParameters metadata;
  FaultParameters faults;
};

}  // namespace shoal::lab
