// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

namespace shoal {

/// The handles of libcurl of this process, each with the connections that it keeps open for the next request.
class Connections {
 public:
  /// Those of all that need some now; they close with the last of these.
  static std::shared_ptr<Connections> of_process();

  Connections();
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  /// A handle (CURL*) for one request, with no option set.
  class Lease {
   public:
    /// Waits while so many are out.
    Lease(Connections& connections, int most);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    void* handle() const { return handle_; }
    /// The handle goes, with its connections: after an error, not all of its options can be set any more.
    void spoil() { is_spoilt_ = true; }

   private:
    Connections& connections_;
    void* handle_;
    bool is_spoilt_ = false;
  };

 private:
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<void*> idle_;
  int busy_ = 0;
};

}  // namespace shoal
