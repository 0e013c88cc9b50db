// SPDX-License-Identifier: BSD-3-Clause
// The calls of Dataset in which each rank brings boxes.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <span>

#include "base/language.hpp"
#include "dataset/boxes/box_arrays.hpp"
#include "dataset/dataset.hpp"
#include "dataset/values.hpp"
#include "driver/protocol/protocol.hpp"

namespace shoal {

namespace {

// Error(invalid_argument, not_found): the box is none of the variable's.
void check_box(const Schema& schema, const BoxArgument& box, Direction direction) {
  const auto& dims = schema.variable(box.variable).dims;
  if (box.start.size() != dims.count())
    throw Error(Code::invalid_argument, "the box has {} dimensions, and the variable {}", box.start.size(),
                dims.size());
  for (int d = 0; d < dims.count(); ++d) {
    const Dimension& dim = schema.dim(dims[d]);
    if (box.start[d] < 0 || box.count[d] < 0 || box.stride[d] < 1)
      throw Error(
          Code::invalid_argument,
          "the box starts at {}, counts {} and has the stride {} in dimension '{}'; allowed are {}, 0 "
          "and 1, or more",
          as_index(box.start[d]), box.count[d], box.stride[d], dim.name, as_index(0));
    if (box.count[d] == 0) continue;
    const bool grows = dim.unlimited && direction == Direction::to_file;
    const std::int64_t most = grows ? INT64_MAX : dim.length;
    if (box.start[d] >= most || box.count[d] - 1 > (most - 1 - box.start[d]) / box.stride[d])
      throw Error(
          dim.unlimited ? Code::not_found : Code::invalid_argument,
          "the box starts at {}, counts {} and has the stride {} in dimension '{}', whose length is {}",
          as_index(box.start[d]), box.count[d], box.stride[d], dim.name, dim.length);
  }
}

void check_array(const VariableDef& variable, const BoxArgument& box, Direction direction) {
  if (volume(box.count) == 0) return;
  if (!box.array.problem.ok()) throw Error(box.array.problem);
  const CellArray& cells = box.array.cells;
  if (!(cells.extents() == box.count))
    throw Error(Code::invalid_argument, "the array has the extents {}; expected {}, those of the box",
                text_of(cells.extents()), text_of(box.count));
  if (!cells.has_cells()) throw Error(Code::invalid_argument, "the array's data is NULL");
  if (variable.type == Type::string || cells.type() == Type::string) {
    if (variable.type == cells.type()) return;
    throw Error(Code::type,
                "the variable is of type {} and the array of type {}; strings go with strings only",
                name_of(variable.type), name_of(cells.type()));
  }
  const Element in_file{variable.type, size_of(variable.type), false};
  if (direction == Direction::to_file)
    find_conversion(cells.element(), in_file);
  else
    find_conversion(in_file, cells.element());
}

void add_box(const Schema& schema, const BoxArgument& box, CallBoxes& boxes) {
  CallBoxes::Records of;
  of.variable = box.variable;
  StridedBox cells{box.start, box.count, box.stride};
  if (schema.has_record(box.variable)) {
    of.of_records = true;
    of.record = box.start[0];
    of.records = box.count[0];
    of.record_step = box.stride[0];
    cells = cells.from(1);
  }
  boxes.add(of, cells);
}

// Frees the texts of an array when it goes.
class TextsInArray {
 public:
  explicit TextsInArray(const ArrayView& view) : view_(view) {}
  TextsInArray(const TextsInArray&) = delete;
  TextsInArray& operator=(const TextsInArray&) = delete;
  ~TextsInArray() {
    for (char* const text : all())
      std::free(text);
  }
  std::vector<std::string> copies() const { return gather_strings(view_); }

 private:
  std::span<char* const> all() const {
    const auto n = view_.data == nullptr ? 0 : static_cast<std::size_t>(volume(view_.extents));
    return {reinterpret_cast<char* const*>(view_.data), n};
  }
  ArrayView view_;
};

}  // namespace

// What is wrong with a box of this rank is in `refused`, and then there are none.
CallBoxes Dataset::call_boxes(const BoxesCall& call, Direction direction, Status& refused) const {
  CallBoxes out;
  refused = call.problem;
  const std::string* name = nullptr;
  const Status wrong = caught([&] {
    for (int i = 0; i < call.count; ++i) {
      name = nullptr;
      const BoxArgument box = call.box(i);
      variable_number(box.variable);
      const VariableDef& variable = schema().variable(box.variable);
      name = &variable.name;
      require_plain(variable);
      check_box(schema(), box, direction);
      check_array(variable, box, direction);
      add_box(schema(), box, out);
    }
    out.end();
  });
  if (!wrong.ok()) {
    refused.merge(wrong);
    if (refused.variable.empty() && name != nullptr) refused.variable = *name;
    if (refused.file.empty()) refused.file = path_;
    out = {};
  }
  if (!refused.ok() && comm_.size() == 1) throw Error(refused);
  return out;
}

BoxPlan Dataset::box_plan(const BoxesCall& call, Direction direction, Status& refused) {
  const auto mine = call_boxes(call, direction, refused);
  const BoxCalls::Together ranks{
      comm_, [this](const CallSignature& signature) { return driver_->match_calls(comm_, signature); },
      [this](const auto& cut) { adopt(cut); }};
  return box_calls_.plan(ranks, schema(), direction, mine, !refused.ok());
}

void Dataset::write_boxes(const BoxesCall& call) {
  check_writable();
  const Comm::Calling calling(comm_, "write_boxes", path_);
  comm_.require_together();
  finish_definitions();
  Status refused;
  const BoxPlan plan = box_plan(call, Direction::to_file, refused);
  for (std::size_t i = 0; i < plan.fields.size(); ++i)
    write_box_field(plan.fields[i], plan.mine[i], call);
  // The others' cells are written; all ranks learn of it at sync.
  if (!refused.ok()) merge_named(late_, refused);
}

void Dataset::read_boxes(const BoxesCall& call) {
  check_open();
  const Comm::Calling calling(comm_, "read_boxes", path_);
  comm_.require_together();
  finish_definitions();
  Status refused;
  const BoxPlan plan = box_plan(call, Direction::from_file, refused);
  Status status;
  for (std::size_t i = 0; i < plan.fields.size(); ++i)
    status.merge(caught([&] { read_box_field(plan.fields[i], plan.mine[i], call); }));
  if (plan.refused) comm_.agree_or_throw(refused);
  if (!status.ok()) throw Error(status);
}

// The array of a box from a record of it on, with its record dimension where the variable has one.
CellArray Dataset::records_of_box(const BoxField& field, std::int64_t record, const BoxArgument& box) {
  const CellArray& cells = box.array.cells;
  if (field.records == 0) return cells;
  Box part = Box::whole(cells.extents());
  part.first[0] = record;
  part.count[0] = field.records;
  return cells.part(part);
}

std::vector<CellArray> Dataset::cells_of_boxes(const BoxField& field, std::int64_t record,
                                               const std::vector<FieldBoxes>& mine, const BoxesCall& boxes) {
  int count = 0;
  for (const auto& own : mine)
    count += own.count;
  std::vector<CellArray> arrays;
  arrays.reserve(static_cast<std::size_t>(count));
  for (const auto& own : mine)
    for (int i = own.first; i < own.first + own.count; ++i) {
      const CellArray cells = as_values(field.variable, records_of_box(field, own.record, boxes.box(i)));
      arrays.push_back(field.records == 0 ? cells : cells.at(record));
    }
  return arrays;
}

// One record of a field that is cut: the call of write or read that it is.
DataCall Dataset::call_of_field(const BoxField& field, std::int64_t record) const {
  DataCall call;
  call.variable = field.variable;
  call.decomposition = box_calls_.cut(field.cut);
  call.section.record = field.records == 0 ? k_no_record : field.record + record;
  call.section.ndims = field.section.rank();
  call.section.start = field.section.first.data();
  call.section.count = field.section.count.data();
  return call;
}

void Dataset::write_box_field(const BoxField& field, const std::vector<FieldBoxes>& mine,
                              const BoxesCall& boxes) {
  if (field.kind == BoxField::Kind::whole) return put_box(field, mine, boxes);
  const VariableDef& definition = schema().variable(field.variable);
  for (std::int64_t r = 0; r < std::max<std::int64_t>(1, field.records); ++r) {
    DataCall call = call_of_field(field, r);
    ConversionErrors errors;
    std::optional<BoxArrays> cells;
    call.array.problem = caught([&] {
      cells.emplace(definition, cells_of_boxes(field, r, mine, boxes), field.section, *call.decomposition);
      cells->gather(errors);
      call.array.cells = cells->array();
    });
    write_cells(call);
    if (errors.count > 0) note_box_errors(field, errors, Direction::to_file, boxes, mine);
  }
}

// Of values that did not fit when boxes of several types were brought to the variable's.
void Dataset::note_box_errors(const BoxField& field, const ConversionErrors& errors, Direction direction,
                              const BoxesCall& boxes, const std::vector<FieldBoxes>& mine) {
  const VariableDef& definition = schema().variable(field.variable);
  const Type type = boxes.box(mine.front().first).array.cells.type();
  const bool writes = direction == Direction::to_file;
  Status status = conversion_status(errors, field.section, writes ? type : definition.type,
                                    writes ? definition.type : type);
  status.variable = definition.name;
  status.file = path_;
  if (!writes) throw Error(status);
  merge_named(late_, status);
}

// Records after one in which values do not fit are read as well: other ranks read them, too.
void Dataset::read_box_field(const BoxField& field, const std::vector<FieldBoxes>& mine,
                             const BoxesCall& boxes) {
  if (field.kind == BoxField::Kind::whole) return get_box(field, mine, boxes);
  const VariableDef& definition = schema().variable(field.variable);
  Status status;
  for (std::int64_t r = 0; r < std::max<std::int64_t>(1, field.records); ++r) {
    DataCall call = call_of_field(field, r);
    std::optional<BoxArrays> cells;
    call.array.problem = caught([&] {
      cells.emplace(definition, cells_of_boxes(field, r, mine, boxes), field.section, *call.decomposition);
      call.array.cells = cells->array();
    });
    status.merge(caught([&] {
      read_cells(call);
      ConversionErrors errors;
      cells->scatter(errors);
      if (errors.count > 0) note_box_errors(field, errors, Direction::from_file, boxes, mine);
    }));
  }
  if (!status.ok()) throw Error(status);
}

// The values of the owner, which rank 0 puts.
void Dataset::put_box(const BoxField& field, const std::vector<FieldBoxes>& mine, const BoxesCall& boxes) {
  const VariableDef& definition = schema().variable(field.variable);
  DataCall call = call_of_whole(field);
  Bytes values;
  if (field.owner == 0) {
    if (comm_.rank() == 0) {
      const auto& own = mine.back();
      call.array.cells = records_of_box(field, own.record, boxes.box(own.first));
    }
  } else {
    values = comm_.from_root(
        [&] {
          if (definition.type == Type::string)
            throw Error(Code::not_supported,
                        "strings are taken from all ranks, or from rank 0; give the same box on all ranks")
                .of_variable(definition.name);
          const auto& own = mine.back();
          const HostArray on_host(
              as_values(field.variable, records_of_box(field, own.record, boxes.box(own.first))));
          ConversionErrors errors;
          Bytes gathered =
              gather_values(on_host.view(), definition, rounding_of_variable(field.variable).get(), errors);
          if (errors.count > 0) note_box_errors(field, errors, Direction::to_file, boxes, mine);
          return gathered;
        },
        field.owner);
    Dims extents = field.section.count;
    if (field.records > 0) extents = joined(Dims{field.records}, extents);
    call.array.cells = ArrayView::contiguous(values.data(), definition.type, extents);
    call.as_stored = true;
  }
  put(call);
}

// A rank that has the box not once takes part with memory of its own.
void Dataset::get_box(const BoxField& field, const std::vector<FieldBoxes>& mine, const BoxesCall& boxes) {
  const auto array_of = [&](const FieldBoxes& own) {
    return as_values(field.variable, records_of_box(field, own.record, boxes.box(own.first)));
  };
  const VariableDef& definition = schema().variable(field.variable);
  DataCall call = call_of_whole(field);
  if (mine.size() == 1) {
    call.array.cells = array_of(mine.front());
    return get(call);
  }
  Dims extents = field.section.count;
  if (field.records > 0) extents = joined(Dims{field.records}, extents);
  const auto cells = static_cast<std::size_t>(volume(extents));
  const bool strings = definition.type == Type::string;
  Bytes values(cells * (strings ? sizeof(char*) : size_of(definition.type)));
  const ArrayView own = ArrayView::contiguous(values.data(), definition.type, extents);
  call.array.cells = own;
  call.as_stored = true;
  const TextsInArray texts(strings ? own : ArrayView());
  get(call);
  for (const auto& wanted : mine) {
    const HostArray on_host(array_of(wanted), HostArray::Copy::empty);
    ConversionErrors errors;
    if (strings)
      scatter_strings(texts.copies(), on_host.view());
    else
      scatter_values(values.data(), definition, on_host.view(), errors);
    on_host.store();
    if (errors.count > 0) note_box_errors(field, errors, Direction::from_file, boxes, mine);
  }
}

DataCall Dataset::call_of_whole(const BoxField& field) {
  DataCall call;
  call.variable = field.variable;
  call.section.record = field.records == 0 ? k_no_record : field.record;
  call.section.records = field.records;
  call.section.ndims = field.section.rank();
  call.section.start = field.section.first.data();
  call.section.count = field.section.count.data();
  return call;
}

}  // namespace shoal
