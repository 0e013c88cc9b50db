// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "format/format_traits.hpp"

namespace shoal {

/// The names of the objects of a dataset by their numbers, as the format and the placements give them. May be
/// used by several threads.
class ObjectNames {
 public:
  /// Of a format that has one object: nothing is kept.
  void set(Format format, const Numbered<Placement>& placements) {
    const FormatTraits& traits = traits_of(format);
    if (!traits.holds_objects()) return;
    auto copy = std::make_shared<const Known>(Known{&traits, placements});
    const std::lock_guard lock(mutex_);
    known_ = std::move(copy);
  }
  /// Are there many?
  bool are_many() const { return now() != nullptr; }
  std::string name_of(std::uint64_t object) const {
    const auto known = now();
    if (!known) return {};
    const int variable = ObjectNumber::of(object).variable;
    const bool is_known = known->placements.has(variable);
    return known->format->object_name(is_known ? &known->placements[variable] : nullptr, object);
  }

 private:
  struct Known {
    const FormatTraits* format;
    Numbered<Placement> placements;
  };
  std::shared_ptr<const Known> now() const {
    const std::lock_guard lock(mutex_);
    return known_;
  }
  mutable std::mutex mutex_;
  std::shared_ptr<const Known> known_;
};

}  // namespace shoal
