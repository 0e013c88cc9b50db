// SPDX-License-Identifier: BSD-3-Clause
// The data calls of one rank alone.
#include <fmt/core.h>

#include <algorithm>

#include "base/language.hpp"
#include "codec/quantize.hpp"
#include "dataset/dataset.hpp"
#include "driver/protocol/protocol.hpp"
#include "pack/cells.hpp"
#include "pack/strided_box.hpp"

namespace shoal {

/// A box of a call of this rank, which has been checked.
struct Dataset::OwnBox {
  int variable = 0;
  StridedBox cells;
  CellArray array;  ///< of extents cells.count; not looked at if there are none
};

namespace {

constexpr std::int64_t k_part = 1 << 20;  // bytes, on their way between an array and a driver

// Cells first, first + stride ... of a dimension.
void check_range(const Dimension& dim, std::int64_t first, std::int64_t count, std::int64_t stride,
                 Direction direction) {
  if (count == 0 || (first < dim.length && (count - 1) <= (dim.length - 1 - first) / stride)) return;
  const bool counts_far = count - 1 > (INT64_MAX - first) / stride;
  const std::int64_t last = counts_far ? INT64_MAX : first + (count - 1) * stride;
  if (dim.unlimited && direction == Direction::to_file)
    throw Error(Code::state,
                "the box ends at {} of dimension '{}', which has {} so far, and a rank alone cannot make it "
                "longer; write what is new with all ranks (write, put)",
                as_index(last), dim.name, dim.length);
  throw Error(dim.unlimited ? Code::not_found : Code::invalid_argument,
              "the box starts at {} and ends at {} in dimension '{}', whose last cell is {}", as_index(first),
              as_index(last), dim.name, as_index(dim.length - 1));
}

template <class Work>
void in_file(const std::string& path, Work&& work) {
  try {
    work();
  } catch (const Error& e) {
    throw e.in_file(path);
  }
}

// Why the values of a box did not fit; ok: they did.
Status range_status(const CellArray& array, const StridedBox& box, const VariableDef& variable,
                    std::int64_t count, const Dims& first, bool writing) {
  if (count == 0) return {};
  Transfer of_array;
  of_array.array = array;
  return unfitting(of_array, variable, count, box.index_of(first), first, writing);
}

// The errors of the parts of a box.
struct Unfitting {
  std::int64_t count = 0;
  Dims first;  // in the array

  void add(const ConversionErrors& errors, const Box& cells) {
    if (errors.count == 0) return;
    if (count == 0) {
      first = unravel(errors.first, cells.count);
      for (int d = 0; d < first.size(); ++d)
        first[d] += cells.first[d];
    }
    count += errors.count;
  }
};

// From one cell of a part to the next in a buffer that has its box of the variable.
Dims strides_in(const StridedPart& part, std::size_t size) {
  Dims strides = byte_strides(part.in_variable.count, size);
  for (int d = 0; d < strides.size(); ++d)
    strides[d] *= part.steps[d];
  return strides;
}

}  // namespace

Dataset::OwnBox Dataset::own_box(const BoxArgument& box, Direction direction) {
  const bool writes = direction == Direction::to_file;
  const VariableDef& variable = schema().variable(box.variable);
  require_plain(variable);
  const int n = variable.dims.count();
  if (box.start.size() != n)
    throw Error(Code::invalid_argument, "the box has {} dimensions; the variable has {}", box.start.size(),
                n);
  if (variable.type == Type::string || box.array.cells.type() == Type::string)
    throw Error(Code::not_supported,
                "strings are not written or read by a rank alone; use put and get, of all ranks, or a "
                "variable of type char");
  for (int d = 0; d < n; ++d)
    check_range(schema().dim(variable.dims[d]), box.start[d], box.count[d], box.stride[d], direction);
  OwnBox own{box.variable, {box.start, box.count, box.stride}, as_values(box.variable, box.array.cells)};
  if (writes) {
    const Placement& where = driver_->placement(box.variable);
    if (where.kind == Placement::Kind::encoded && variable.filters.empty())
      throw Error(
          Code::not_supported,
          "an object of an object store is stored as a whole, by all ranks together: write it with all "
          "ranks (write, put), or to a local file");
    if (where.kind == Placement::Kind::encoded)
      throw Error(Code::not_supported,
                  "the variable is compressed, and a chunk is compressed as a whole: write it with all ranks "
                  "(write, put)");
    if (where.kind == Placement::Kind::library)
      throw Error(Code::not_supported,
                  "the variable is stored in a way that only its library can write; write it with all ranks "
                  "(put), or to a new variable");
  }
  if (own.cells.empty()) return own;
  if (!box.array.problem.ok()) throw Error(box.array.problem);
  if (!(own.array.extents() == box.count))
    throw Error(Code::invalid_argument, "the array has the extents {}; expected {}, those of the box",
                text_of(own.array.extents()), text_of(box.count));
  if (!own.array.has_cells()) throw Error(Code::invalid_argument, "the array's data is NULL");
  const Element in_file{variable.type, size_of(variable.type), false};
  if (writes)
    find_conversion(own.array.element(), in_file);
  else
    find_conversion(in_file, own.array.element());
  return own;
}

std::vector<Dataset::OwnBox> Dataset::own_boxes(const std::vector<BoxArgument>& boxes, Direction direction) {
  comm_.require_together();
  if (defining_)
    throw Error(
        Code::state,
        "definitions are not finished, which takes all ranks: call end_define before a rank writes or "
        "reads alone");
  const bool writes = direction == Direction::to_file;
  if (writes ? !driver_->stores() : !driver_->fetches())
    throw Error(Code::not_supported,
                "driver {}{} has no calls of one rank alone; {}, or use driver native and one file",
                driver_name_, settings_.text("layout") == "one" ? "" : ", layout " + settings_.text("layout"),
                writes ? "write with all ranks (write, put)" : "read with all ranks (read, get)");
  std::vector<OwnBox> own;
  own.reserve(boxes.size());
  for (const BoxArgument& box : boxes) {
    const int number = variable_number(box.variable);
    try {
      own.push_back(own_box(box, direction));
    } catch (const Error& e) {
      throw e.of_variable(schema().variable(number).name);
    }
  }
  return own;
}

void Dataset::write_independent(const std::vector<BoxArgument>& boxes) {
  check_writable();
  const Comm::Calling calling(comm_, "write_independent", path_);
  shoal::in_file(path_, [&] {
    Status status;
    for (const OwnBox& box : own_boxes(boxes, Direction::to_file))
      merge_named(status, store_own(box));
    if (!status.ok()) throw Error(status);
  });
}

void Dataset::read_independent(const std::vector<BoxArgument>& boxes) {
  check_open();
  const Comm::Calling calling(comm_, "read_independent", path_);
  shoal::in_file(path_, [&] {
    Status status;
    for (const OwnBox& box : own_boxes(boxes, Direction::from_file))
      merge_named(status, fetch_own(box));
    if (!status.ok()) throw Error(status);
  });
}

Status Dataset::store_own(const OwnBox& own) {
  const VariableDef& variable = schema().variable(own.variable);
  if (own.cells.empty()) return {};
  const auto rounding = rounding_of_variable(own.variable);
  const bool swapped = driver_->placement(own.variable).swapped && size_of(variable.type) > 1;
  const Element stored{variable.type, size_of(variable.type), swapped};
  Unfitting unfit;
  Status status = caught([&] {
    const std::byte* const plain = own.array.host_cells_as(variable.type);
    if (plain != nullptr && !swapped && !rounding && own.cells.is_dense())
      return driver_->store(own.variable, own.cells.dense(), plain);
    const ConvertRun convert = find_conversion(own.array.element(), stored).rounded(rounding.get(), stored);
    const Bytes fill = stored_fill(variable, swapped);
    const auto most = k_part / static_cast<std::int64_t>(stored.size);
    for_each_strided_part(own.cells, most, false, [&](const StridedPart& part) {
      std::byte* const cells = own_cells_.of(bytes_of(part.in_variable, stored.size));
      unfit.add(own.array.gather(BlockCells{part.cells, strides_in(part, stored.size)}, cells,
                                 {convert, fill.data()}),
                part.cells);
      driver_->store(own.variable, part.in_variable, cells);
    });
  });
  if (status.ok()) status = range_status(own.array, own.cells, variable, unfit.count, unfit.first, true);
  return named(status, variable.name);
}

Status Dataset::fetch_own(const OwnBox& own) {
  const VariableDef& variable = schema().variable(own.variable);
  if (own.cells.empty()) return {};
  const Element in_file{variable.type, size_of(variable.type), false};
  Unfitting unfit;
  Status status = caught([&] {
    std::byte* const plain = own.array.host_cells_as(variable.type);
    if (plain != nullptr && own.cells.is_dense())
      return driver_->fetch(own.variable, own.cells.dense(), plain);
    const ConvertRun convert = find_conversion(in_file, own.array.element());
    const auto most = k_part / static_cast<std::int64_t>(in_file.size);
    for_each_strided_part(own.cells, most, true, [&](const StridedPart& part) {
      std::byte* const values = own_cells_.of(bytes_of(part.in_variable, in_file.size));
      driver_->fetch(own.variable, part.in_variable, values);
      unfit.add(own.array.scatter(BlockCells{part.cells, strides_in(part, in_file.size)}, values,
                                  {convert, substitute_for(own.array.type())}),
                part.cells);
    });
  });
  if (status.ok()) status = range_status(own.array, own.cells, variable, unfit.count, unfit.first, false);
  return named(status, variable.name);
}

}  // namespace shoal
