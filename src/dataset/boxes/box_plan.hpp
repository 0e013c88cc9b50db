// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/numbered.hpp"
#include "dataset/arguments.hpp"
#include "dataset/boxes/call_boxes.hpp"
#include "decomp/decomposition.hpp"
#include "format/schema.hpp"

namespace shoal {

/// What ranks do together for the boxes of one call in some records of one variable. The same on all ranks.
struct BoxField {
  enum class Kind : std::uint8_t {
    whole,  ///< one box, whose values rank `owner` has: put, get
    cut     ///< cells of a decomposition: write, read
  };
  Kind kind = Kind::cut;
  int variable = -1;
  std::int64_t record = 0, records = 0;  ///< records 0: the variable has none
  int owner = 0;                         ///< of Kind::whole
  int cut = -1;                          ///< number of the decomposition; of Kind::cut
  Box section;                           ///< behind the record dimension; whole where the decomposition is
};

/// Boxes of this rank's call, one after another, that have cells in a field.
struct FieldBoxes {
  int first = 0;  ///< place of the first one in the call
  int count = 1;
  std::int64_t record = 0;  ///< which of their records is the field's first
  friend bool operator==(const FieldBoxes&, const FieldBoxes&) = default;
};

/// A decomposition that no call had before, of the last dimensions of a variable.
struct NewCut {
  Dims global;
  bool is_map = false;
  int uncut_dims = 0;  ///< of a map
  BoxList mine;        ///< this rank's boxes in it
  BoxList others;      ///< of a map: cells in these belong to ranks before this one
};

/// What one rank gets of a plan.
struct BoxPlanPart {
  std::vector<BoxField> fields;
  std::vector<std::vector<FieldBoxes>> mine;  ///< of each field
  std::vector<NewCut> new_cuts;               ///< in the order of their numbers, behind those that there were

  Bytes packed() const;
  static BoxPlanPart unpacked(const Bytes& bytes);
};

/// Numbers of decompositions by a hash of the boxes of all ranks, which rank 0 keeps.
using CutNumbers = std::map<TwoHashes, int>;

/// The plan of a call from the boxes of all ranks, one part a rank. Cells that several ranks write belong to
/// the first of them. What has no number in `known` gets the next one. Where all ranks have the lists of a
/// variable or record that came before, what was found for that is used. Local; rank 0's work.
std::vector<BoxPlanPart> plan_boxes(const Schema& schema, Direction direction,
                                    const std::vector<CallBoxes>& ranks, CutNumbers& known);

/// The cells of a rank in a map: those of its boxes, one after another, row-major in the dimensions that the
/// map cuts; to write, k_hole where a later box of the rank, or another rank, has the cell.
std::vector<std::int64_t> listed_cells(const NewCut& cut, Direction direction);

}  // namespace shoal
