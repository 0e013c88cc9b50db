// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#define FUSE_USE_VERSION 34
#include <fuse3/fuse_lowlevel.h>

#include <dirent.h>

#include <functional>
#include <list>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/model.hpp"
#include "mount/backing.hpp"
#include "mount/cut_call.hpp"
#include "mount/file_locks.hpp"
#include "mount/schedule.hpp"

namespace shoal::lab {

/// What all mounts show: files of the backing folder, each request answered at the moment that the model
/// says. The bytes of a write are stored when the request comes, those of a read are fetched when it is
/// answered. One thread calls it.
class Filesystem {
 public:
  /// `scale`: real seconds for one of the model; `grace`: real seconds, see Turnarounds.
  Filesystem(const std::string& backing, const Parameters& parameters, int clients, double scale,
             double grace);
  Filesystem(const Filesystem&) = delete;
  Filesystem& operator=(const Filesystem&) = delete;

  /// FUSE's calls; userdata of a session is its Mount.
  static const fuse_lowlevel_ops& operations();
  struct Mount {
    Filesystem* filesystem;
    ClientId client;
  };

  /// Requests that are handed over from now on came at this moment.
  void seen(RealTime moment) { seen_ = clock_.at(moment); }
  RealTime next_reply() const { return schedule_.next(); }
  void reply_due() { schedule_.run_due(); }

  const Model& model() const { return model_; }
  const Clock& clock() const { return clock_; }
  /// How well real time kept up with the model's.
  struct Timing {
    std::int64_t requests = 0;
    std::int64_t replies = 0;
    double waited = 0;     ///< real seconds that replies had to wait by the model
    double late = 0;       ///< sum over replies of the real seconds that programs were behind the model
    double most_late = 0;  ///< of one
  };
  const Timing& timing() const { return timing_; }

 private:
  /// One request, which knows where it came from.
  struct Request {
    fuse_req_t fuse;
    Filesystem& fs;
    ClientId client;
    pid_t thread;
    Seconds at;  ///< when it came

    /// Answers with the outcome's error, or by `reply`, at the outcome's moment.
    void finish(Model::Outcome outcome, std::function<void()> reply) const;
    /// The same, where only success is to be said; `error` of the system call that did it.
    void finish(Model::Outcome outcome, int error) const;
    /// With an error at once.
    void fail(int error) const { finish({at, error}, 0); }
  };
  struct Handle {
    Descriptor file;
    FileId number;
    bool direct;
    bool durable;
    CutCall cut{};  ///< of its writes
  };
  struct Waiter {
    fuse_req_t fuse;
    FileId file;
    FileLock lock;
  };
  struct Calls;  ///< the functions of `operations`

  Request request(fuse_req_t fuse);
  Handle& handle(const fuse_file_info* info) { return handles_.at(info->fh); }
  std::uint64_t add_handle(Descriptor file, FileId number, int flags);
  void close_handle(std::uint64_t number);
  /// What has not counted yet of the writes by the handle.
  Model::Outcome write_rest(const Request& request, FileId file, Handle& handle);
  void free_if_gone(FileId file);
  /// Finds the name, and answers with its number and attributes.
  void reply_entry(const Request& request, Model::Outcome outcome, FileId folder, const char* name);
  /// `make` makes it with a system call, in the folder that it gets, and returns what that did. 0, or errno.
  int make_entry(const Request& request, FileId folder, const char* name,
                 const std::function<int(int)>& make);
  void retry_waiters(FileId file);
  void stop_waiting(fuse_req_t fuse);
  int status_of(FileId file, struct stat& status);
  bool has_stripes() const { return model_.parameters().kind == "lustre"; }
  int stripes_of(FileId file, std::string& value);

  Backing backing_;
  Model model_;
  Clock clock_;
  Schedule schedule_;
  Turnarounds turnarounds_;
  /// The file whose attributes each thread of a client got last, with a name of it.
  std::map<std::pair<ClientId, pid_t>, FileId> told_;
  FileLocks locks_;
  std::list<Waiter> waiters_;
  std::unordered_map<std::uint64_t, Handle> handles_;
  std::unordered_map<std::uint64_t, DIR*> folders_;
  std::uint64_t next_handle_ = 1;
  std::vector<char> buffer_;
  Seconds seen_ = 0;
  Timing timing_;
};

}  // namespace shoal::lab
