// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "format/zarr/metadata.hpp"

namespace shoal::zarr {

/// The metadata documents of a store as text: zarr.json of each array and each group, and of the root, which
/// has them all. Definitions become text once: a commit of records changes lengths alone.
class Documents {
 public:
  /// Error(invalid_argument, not_supported): Zarr has no such array.
  explicit Documents(const Hierarchy& all);
  /// By its place in Hierarchy::arrays.
  std::string array(std::size_t number, const Dims& shape) const;
  /// By its place in Hierarchy::groups.
  const std::string& group(std::size_t number) const { return groups_[number].own; }
  /// With the lengths that the hierarchy has now.
  std::string root(const Hierarchy& all) const;

  /// A document as it stands in its own zarr.json, and in the root's.
  struct Text {
    std::string own, in_root;
    bool has_shape = true;  ///< otherwise the shape is still to be put in front
  };

 private:
  struct Node {
    std::string key;  ///< its path, in quotes
    bool is_group = false;
    std::size_t number = 0;
  };
  std::vector<Text> groups_, arrays_;
  std::vector<Node> nodes_;  ///< in the order of the root's document
  // The root's document is: begin, notes (their dimensions first), middle, nodes, end.
  std::string begin_, notes_, middle_, end_;
};

}  // namespace shoal::zarr
