// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "storage/remote/requests.hpp"
#include "storage/store.hpp"

namespace shoal {

/// An object of a server that is read in pieces. All pieces are of the object as it was when it was opened:
/// one that was replaced since is an Error(io).
class RangedObject {
 public:
  /// Asks for the first bytes, which says whether it is there, and how long it is: small objects and the
  /// indexes of shards need no other request. Error(not_found, ...).
  RangedObject(std::shared_ptr<Requests> requests, std::string url, std::string shown,
               std::size_t first_bytes);

  const std::string& shown() const { return shown_; }
  std::uint64_t size() const { return size_; }
  /// So many bytes from the begin on are read without a request.
  std::uint64_t known() const { return first_.size(); }
  /// The bytes that are there; large runs in several requests at once.
  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes);

 private:
  Request request_of(std::uint64_t offset, std::size_t bytes) const;
  void fetch(std::uint64_t offset, std::span<std::byte> bytes);
  void take_first(const Answer& answer, const Request& request);

  std::shared_ptr<Requests> requests_;
  std::string url_;
  std::string shown_;
  std::uint64_t size_ = 0;
  std::string version_;  // by which the server tells objects of one name apart
  std::string first_;
};

/// A Store over it that can only be read. cached: small reads take whole blocks, and keep some.
std::unique_ptr<Store> reading_store(std::unique_ptr<RangedObject> object, bool cached);

}  // namespace shoal
