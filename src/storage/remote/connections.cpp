// SPDX-License-Identifier: BSD-3-Clause
#include "storage/remote/connections.hpp"

#ifdef SHOAL_HAVE_CURL
#include <curl/curl.h>

#include <new>

#include "base/error.hpp"

namespace shoal {

std::shared_ptr<Connections> Connections::of_process() {
  static std::mutex mutex;
  static std::weak_ptr<Connections> all;
  const std::lock_guard lock(mutex);
  auto connections = all.lock();
  if (!connections) all = connections = std::make_shared<Connections>();
  return connections;
}

Connections::Connections() {
  // Once for the process, and never undone: others in it may use libcurl as well.
  static const CURLcode begun = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (begun != CURLE_OK)
    throw Error(Code::internal, "libcurl cannot be started: {}", curl_easy_strerror(begun));
}

Connections::~Connections() {
  for (void* handle : idle_)
    curl_easy_cleanup(handle);
}

Connections::Lease::Lease(Connections& connections, int most) : connections_(connections), handle_(nullptr) {
  {
    std::unique_lock lock(connections_.mutex_);
    connections_.freed_.wait(lock, [&] { return connections_.busy_ < most; });
    // All of them come back, and that may not fail.
    connections_.idle_.reserve(connections_.idle_.size() + static_cast<std::size_t>(connections_.busy_) + 1);
    ++connections_.busy_;
    if (!connections_.idle_.empty()) {
      handle_ = connections_.idle_.back();
      connections_.idle_.pop_back();
    }
  }
  if (handle_ == nullptr) handle_ = curl_easy_init();
  if (handle_ == nullptr) {
    const std::lock_guard lock(connections_.mutex_);
    --connections_.busy_;
    connections_.freed_.notify_one();
    throw std::bad_alloc();
  }
}

Connections::Lease::~Lease() {
  if (is_spoilt_)
    curl_easy_cleanup(handle_);
  else
    curl_easy_reset(handle_);  // keeps the connections, not what the request was made of
  const std::lock_guard lock(connections_.mutex_);
  if (!is_spoilt_) connections_.idle_.push_back(handle_);
  --connections_.busy_;
  connections_.freed_.notify_one();
}

}  // namespace shoal
#endif
