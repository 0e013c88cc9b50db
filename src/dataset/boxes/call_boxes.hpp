// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "dataset/boxes/box_list.hpp"

namespace shoal {

/// The boxes of a call as ranks tell each other of them, without their arrays: lists of boxes, each of which
/// may belong to several variables or records. Boxes without cells are left out.
class CallBoxes {
 public:
  /// Which records of a variable; of one that has none, one at 0.
  struct Records {
    int variable = -1;
    bool of_records = false;
    std::int64_t record = 0, records = 1, record_step = 1;
    friend bool operator==(const Records&, const Records&) = default;
  };
  /// Boxes that follow each other in the call.
  struct Part {
    Records of;
    int first = 0;  ///< place of the first one in the call
    int list = 0;   ///< its cells, in the dimensions behind the record dimension
  };

  /// The next box of the call.
  void add(const Records& of, const StridedBox& cells);
  /// After the last one.
  void end();

  const std::vector<Part>& parts() const { return parts_; }
  /// Of all boxes, also of those without cells, each once.
  const std::vector<int>& variables() const { return variables_; }
  const BoxList& list(const Part& part) const { return lists_[static_cast<std::size_t>(part.list)]; }

  /// Records count from `base`.
  Bytes packed(std::int64_t base) const;
  static CallBoxes unpacked(const Bytes& bytes);
  void add_to(Hash& hash, std::int64_t base) const;
  /// With the place of each variable in variables() in place of its number.
  void add_places_to(Hash& hash, std::int64_t base) const;

 private:
  template <class CodeOf>
  void add_to(Hash& hash, std::int64_t base, CodeOf&& code_of) const;
  int place_of(int variable) const;

  std::vector<Part> parts_;
  std::vector<int> variables_;
  std::vector<BoxList> lists_;  // each is there once
  std::map<TwoHashes, int> numbers_of_lists_;
  int count_ = 0;  // of boxes
  // The part that boxes are added to; as many as open_ has.
  Part last_;
  BoxList open_;
};

}  // namespace shoal
