// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "format/format_traits.hpp"

namespace shoal {

/// The names of the objects of a dataset by their numbers, as the format and the schema give them. May be
/// used by several threads.
class ObjectNames {
 public:
  /// Of a format that has one object: nothing is kept.
  void set(const Schema& schema) {
    if (!traits_of(schema.format).holds_objects()) return;
    auto copy = std::make_shared<const Schema>(schema);
    const std::lock_guard lock(mutex_);
    schema_ = std::move(copy);
  }
  /// Are there many?
  bool are_many() const { return now() != nullptr; }
  std::string name_of(std::uint64_t object) const {
    const auto schema = now();
    return schema ? traits_of(schema->format).object_name(*schema, object) : std::string();
  }

 private:
  std::shared_ptr<const Schema> now() const {
    const std::lock_guard lock(mutex_);
    return schema_;
  }
  mutable std::mutex mutex_;
  std::shared_ptr<const Schema> schema_;
};

}  // namespace shoal
