// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/remote/ranged_object.hpp"
#include "storage/remote/requests.hpp"

namespace shoal {

/// The objects of a bucket. Several threads may use it. All is Local; errors name the object:
/// Error(not_found, exists, permission, no_space, io).
class S3Bucket {
 public:
  S3Bucket(std::string bucket, const RemoteOptions& options, VariableFinder variable = environment_variable);

  /// "s3://bucket/key".
  std::string shown(const std::string& key) const;
  std::unique_ptr<RangedObject> open(const std::string& key) const;
  bool has(const std::string& key) const;
  /// Stores an object as a whole, in parts where it is large. only_new: Error(exists) where there is one, and
  /// of all who store it so at once, one does. Error(not_supported): the server does not see to that.
  void put(const std::string& key, std::span<const std::byte> bytes, bool only_new) const;
  /// On the server. What had the name goes.
  void copy(const std::string& key, const std::string& to) const;
  /// Does nothing where there is none.
  void remove(const std::string& key) const;
  void remove(const std::vector<std::string>& keys) const;
  /// Gives all objects whose keys begin so, page by page. by_folder: what is deeper, as its folder.
  void list(const std::string& prefix, bool by_folder, const std::function<void(ObjectPage&&)>& take) const;

 private:
  Request request_of(const std::string& method, const std::string& key, const std::string& query,
                     const std::string& doing) const;
  void put_whole(const std::string& key, std::span<const std::byte> bytes, bool only_new) const;
  void check_condition(const Request& claim) const;
  void put_parts(const std::string& key, std::span<const std::byte> bytes, bool only_new) const;
  void finish_parts(const std::string& key, const std::string& upload, const std::vector<std::string>& tags,
                    bool only_new, const std::string& mark) const;
  bool is_marked(const std::string& key, const std::string& mark) const;
  void remove_some(std::span<const std::string> keys) const;
  Answer run(const Request& request) const;

  std::string bucket_;
  std::shared_ptr<Requests> requests_;
  std::string url_;
  mutable std::atomic<bool> knows_condition_{false};
};

}  // namespace shoal
