// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "base/box.hpp"
#include "base/error.hpp"
#include "driver/driver.hpp"

namespace shoal {

inline constexpr std::int64_t k_no_record = -1;    ///< the variable has no record dimension
inline constexpr std::int64_t k_all_records = -2;  ///< every record there is (put, get)
inline constexpr std::int64_t k_next_record = -3;  ///< of the time step that is being written (NextRecords)

/// The variable of a call: its name, or its number in the schema, which it keeps when it is renamed.
using VariableArgument = std::variant<std::string, int>;

/// The array of a call, or why it is none. Looked at only where elements of it are needed.
struct ArrayArgument {
  CellArray cells;
  Status problem;
};

/// Which part of a variable a call means.
struct Section {
  std::int64_t record = k_no_record;
  int ndims = 0;  ///< numbers in start and count: the dimensions but the record dimension; 0 with neither
  const std::int64_t* start = nullptr;  ///< [ndims]; nullptr: 0
  const std::int64_t* count = nullptr;  ///< [ndims]; nullptr: up to the end
  std::int64_t records = 0;             ///< put, get: so many from `record` on; 0: that one alone

  /// Has the array no dimension for records? Of a variable that has them.
  bool is_one_record() const { return record != k_all_records && records == 0; }
};

/// A box of a variable as the caller gave it, in the variable's full dimensions, and the array of its cells.
struct BoxArgument {
  int variable = -1;  ///< number in the schema
  Dims start;         ///< first cell
  Dims count;         ///< as many numbers as start, 0 or more
  Dims stride;        ///< the same, 1 or more
  ArrayArgument array;
};

/// The boxes of a rank in one call, of which there may be many: each is taken where it is looked at.
struct BoxesCall {
  int count = 0;
  std::function<BoxArgument(int)> box;  ///< by its place. Error: it cannot be taken
  Status problem;                       ///< none could be taken
};

/// The arguments of write, read, put and get as the caller gave them.
struct DataCall {
  VariableArgument variable;
  std::shared_ptr<const Decomposition>
      decomposition;  ///< nullptr: the one that is attached; write and read only
  ArrayArgument array;
  bool as_stored = false;  ///< put and get: the array has the numbers of the file, also of a packed variable
  /// In place of an array: gives cells of a part of the field in the variable's dimensions, and their type;
  /// writing only.
  CellSource source;
  Type source_type = Type::none;
  Section section;
  bool knows_section = true;  ///< false: of a refused call, nobody can say which cells the others mean
  Status problem;             ///< arguments that could not even be taken (a NULL name)
  Status
      refused;  ///< by the caller, who makes the call for the others' sake: it fails, also with an empty tile
};

enum class Direction { to_file, from_file };

/// Error(invalid_argument): start and count are not as long as the variable wants them.
void check_section_length(const Schema& schema, int variable, const Section& section);

/// The section that all ranks mean, in the full dimensions of the variable. array_extents: where lengths are
/// open (put of all records, unlimited inner dimensions), extents of the array decide; empty: current lengths
/// do. Error(invalid_argument, not_found): what is wrong with the section.
Box region_of(const Schema& schema, int variable, const Section& section, Direction direction,
              const Decomposition* decomposition, const Dims& array_extents);

/// A call of write or read as the driver takes it, with its section, in which SHOAL_NEXT is a number. What is
/// wrong with this rank's array is in `refused`. Error: the region cannot be worked out. Local.
Transfer make_transfer(const Schema& schema, int variable, const DataCall& call, const Section& section,
                       const std::shared_ptr<const Decomposition>& decomposition, Direction direction);

}  // namespace shoal
