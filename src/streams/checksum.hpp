// SPDX-License-Identifier: BSD-3-Clause
// Checksums of what a checkpoint holds: they do not depend on how ranks cut it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dataset/dataset.hpp"
#include "streams/part.hpp"

namespace shoal::streams {

inline constexpr const char* k_checksum_name = "checksum";

/// Of attributes, but for the one with the checksum. Local.
std::uint64_t checksum_of(const std::vector<shoal::Attribute>& attributes);

/// Of this rank's share of an array of 8-byte numbers that is cut as the part is (where it is not cut, rank
/// 0's share is all): the shares of all ranks add up to the array's. view: [local_shape() of the part]. Cells
/// that have the type's fill value count nothing, as those that no rank owns have it in the file. Local.
std::uint64_t share_of(const Comm& comm, const ArrayView& view, const Part& part);

/// Sums of shares, modulo 2^64. Collective.
std::vector<std::uint64_t> sums_of(const Comm& comm, const std::vector<std::uint64_t>& shares);

/// Reads arrays of a file in even parts, whatever ranks own of them.
class EvenReader {
 public:
  EvenReader(const Comm& comm, Dataset& file) : comm_(comm), file_(file) {}
  Dataset& file() const { return file_; }
  /// This rank's share of a variable of the type, 8 bytes. Collective.
  std::uint64_t share_of(int variable, Type type, const Dims& shape);

 private:
  const Comm& comm_;
  Dataset& file_;
  std::map<std::string, std::shared_ptr<const Decomposition>> cuts_;  // by the text of the shape
};

}  // namespace shoal::streams
