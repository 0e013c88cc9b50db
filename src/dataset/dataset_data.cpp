// SPDX-License-Identifier: BSD-3-Clause
// The data calls of Dataset: write, read, put, get.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/language.hpp"
#include "dataset/dataset.hpp"
#include "dataset/definitions/quantized.hpp"
#include "dataset/values.hpp"
#include "driver/protocol/protocol.hpp"
#include "pack/cells.hpp"

namespace shoal {

namespace {

Status with_context(Status status, const std::string& file, const std::string& variable) {
  if (status.ok()) return status;
  if (status.file.empty()) status.file = file;
  if (status.variable.empty()) status.variable = variable;
  return status;
}

Dims without_last(const Dims& dims) {
  return Dims(std::span(dims.begin(), dims.end() - 1));
}

// The view in all dimensions of the box; a logical array may lack the text length of a char variable.
CellArray fitted(const ArrayArgument& array, const Box& box, const Section& section, const Schema& schema,
                 int index) {
  const bool single_record = schema.has_record(index) && section.is_one_record();
  const VariableDef& variable = schema.variable(index);
  if (!array.problem.ok()) throw Error(array.problem);
  CellArray cells = single_record ? array.cells.with_leading_dim() : array.cells;
  const Dims& extents = cells.extents();
  const bool first_characters = variable.type == Type::char_ && cells.type() == Type::logical &&
                                box.rank() > 0 && extents.size() == box.rank() - 1;
  const Dims expected = first_characters ? without_last(box.count) : box.count;
  if (!(extents == expected)) {
    const int skip = single_record ? 1 : 0;
    if (section.record == k_all_records && schema.has_record(index) && extents.size() == box.rank() - 1)
      throw Error(
          Code::invalid_argument,
          "the array is that of one record, and the call names none of the record dimension '{}'; give {}, "
          "{} for the first one, or an array of all records",
          schema.dim(variable.dims[0]).name, argument("record"), as_index(0));
    throw Error(Code::invalid_argument, "the array has the extents {}; expected {}",
                text_of(array.cells.extents()), text_of(tail(expected, expected.size() - skip)));
  }
  if (volume(extents) > 0 && !cells.has_cells())
    throw Error(Code::invalid_argument, "the array's data is NULL");
  return cells;
}

void check_value_types(const VariableDef& variable, Type type) {
  require_plain(variable);
  if ((variable.type == Type::string) != (type == Type::string))
    throw Error(Code::type,
                "the variable is of type {} and the array of type {}; strings go with strings only",
                name_of(variable.type), name_of(type));
}

}  // namespace

int Dataset::variable_number(const VariableArgument& variable) const {
  if (const auto* const name = std::get_if<std::string>(&variable)) return definitions_.variable(*name);
  const int number = std::get<int>(variable);
  const auto there = static_cast<std::int64_t>(schema().variables.size());
  if (number < 0 || number >= there)
    throw Error(Code::invalid_argument, "there is no variable {}; the dataset has {}", as_index(number),
                there);
  return number;
}

std::string Dataset::variable_name(const VariableArgument& variable) const {
  if (const auto* const name = std::get_if<std::string>(&variable)) return *name;
  const auto number = static_cast<std::size_t>(std::get<int>(variable));
  return number < schema().variables.size() ? schema().variables[number].name : "";
}

Status Dataset::in_call(const Status& status, const DataCall& call) const {
  return status.ok() ? status : with_context(status, path_, variable_name(call.variable));
}

template <class Work>
void Dataset::in_call(const DataCall& call, Work&& work) const {
  try {
    work();
  } catch (const Error& e) {
    throw e.of_variable(variable_name(call.variable)).in_file(path_);
  }
}

// A decomposition that this dataset has not seen yet: ranks look at it together, also those whose other
// arguments are bad.
void Dataset::adopt(const std::shared_ptr<const Decomposition>& decomposition) {
  if (decomposition == nullptr ||
      std::find(prepared_.begin(), prepared_.end(), decomposition) != prepared_.end())
    return;
  ByteWriter shape;
  for (const auto n : decomposition->global())
    shape.put(n);
  const Bytes mine = shape.take();
  Status status;
  if (const auto of_root = match_with_root("brings a new decomposition", mine); of_root && *of_root != mine)
    status = {
        Code::out_of_step,
        fmt::format(
            "the decomposition of shape {} is not the one that rank 0 gives; every rank must give the same",
            text_of(decomposition->global()))};
  status.merge(caught([&] { check_ranks(decomposition.get()); }));
  comm_.agree_or_throw(status);
  driver_->prepare(decomposition);
  prepared_.push_back(decomposition);
  find_gathered_fields();
}

std::shared_ptr<const Decomposition> Dataset::decomposition_of(int variable, const DataCall& call) {
  const auto& attached = definitions_.decomposition(variable);
  if (call.decomposition == nullptr || call.decomposition == attached) return attached;
  check_decomposition_fits(schema(), variable, *call.decomposition);
  definitions_.attach(variable, call.decomposition);
  return call.decomposition;
}

// With the index of the record in place of SHOAL_NEXT.
Section Dataset::section_to_write(const Section& section, int variable) {
  Section out = section;
  if (!schema().has_record(variable)) return out;
  if (section.record == k_next_record) out.record = next_records_.of(schema(), variable);
  if (out.record == k_all_records && comm_.size() > 1) next_records_.lose(variable);
  return out;
}

std::variant<Transfer, RefusedCall> Dataset::field_call(const DataCall& call, Direction direction) {
  const bool writes = direction == Direction::to_file;
  auto decomposition = call.decomposition;
  Transfer transfer;
  const Status unknown = caught([&] {
    if (!call.problem.ok()) throw Error(call.problem);
    const int variable = variable_number(call.variable);
    const Section section = writes ? section_to_write(call.section, variable) : call.section;
    auto found = decomposition_of(variable, call);
    if (!call.knows_section) throw Error(call.refused);
    decomposition = std::move(found);
    const auto how =
        decomposition == nullptr ? std::nullopt : on_grid(schema(), gatherings_, variable, *decomposition);
    transfer = how ? transfer_on_grid(*how, variable, call, section, decomposition, direction)
                   : make_transfer(schema(), variable, call, section, decomposition, direction);
    if (!definitions_.packings().empty()) transfer.array = as_values(variable, transfer.array);
    if (writes) transfer.rounding = rounding_of_variable(variable);
  });
  // What the caller found comes before what this call finds.
  Status why = call.refused;
  why.merge(transfer.refused.why);
  why.merge(unknown);
  why = in_call(why, call);
  if (comm_.size() == 1 && !why.ok()) throw Error(why);
  // All ranks know, and nothing is written.
  if (writes && decomposition && !decomposition->writable().ok()) throw Error(decomposition->writable());
  if (!unknown.ok()) return RefusedCall{writes ? RefusedCall::Kind::write : RefusedCall::Kind::read, why, {}};
  transfer.refused.why = why;
  return transfer;
}

// nullptr: its values stay as they are.
std::shared_ptr<const Rounding> Dataset::rounding_of_variable(int variable) {
  if (definitions_.quantized().empty()) return nullptr;
  const auto known = roundings_.find(variable);
  if (known != roundings_.end()) return known->second;
  const VariableDef& definition = schema().variable(variable);
  const auto wanted = definitions_.quantized().find(definition.name);
  std::shared_ptr<const Rounding> rounding;
  if (wanted != definitions_.quantized().end()) {
    if (library_rounds_)
      throw Error(Code::not_supported,
                  "the values are quantized, as the file says, and the netCDF library of driver {} would "
                  "round them once more; write on with driver native",
                  driver_name_)
          .of_variable(definition.name);
    rounding = rounding_of(definition, wanted->second);
  }
  return roundings_[variable] = rounding;
}

CellArray Dataset::as_values(int variable, const CellArray& array) {
  if (definitions_.packings().empty() || !is_number(array.type())) return array;
  const bool real = array.type() == Type::float_ || array.type() == Type::double_;
  auto known = packed_.find(variable);
  if (known == packed_.end()) {
    const VariableDef& definition = schema().variable(variable);
    const auto packing = definitions_.packings().find(definition.name);
    if (packing == definitions_.packings().end()) return array;
    known = packed_
                .emplace(variable, PackedVariable{packer_of(definition, packing->second),
                                                  packing->second.of_floating_point})
                .first;
    PackedVariable& packed = known->second;
    if (settings_.text("pack_out_of_range") == "fill") packed.packer.count_in(&packed.out_of_range);
  }
  return real || known->second.of_floating_point ? array.packed_by(&known->second.packer) : array;
}

// All ranks come to a failure.
template <class Work>
void Dataset::or_restart_records(Work&& work) {
  try {
    work();
  } catch (const Error&) {
    if (comm_.size() > 1) next_records_.start(schema());
    throw;
  }
}

void Dataset::write(const DataCall& call) {
  check_writable();
  const Comm::Calling calling(comm_, "write", path_);
  comm_.require_together();
  finish_definitions();
  in_call(call, [&] {
    adopt(call.decomposition);
    auto field = field_call(call, Direction::to_file);
    if (auto* const transfer = std::get_if<Transfer>(&field))
      write_field(*transfer);
    else
      or_restart_records([&] { driver_->refuse(std::get<RefusedCall>(field)); });
    check_section_here(call);
  });
}

void Dataset::write_field(Transfer& transfer) {
  // Who asks for no report pays nothing for it.
  if (is_masked(transfer) && !settings_.text("report").empty())
    transfer.fill_cells = &fill_cells_[transfer.variable];
  if (transfer.decomposition->leaves_cells()) definitions_.note_left_cells(transfer.variable);
  const GatheredField* const gathered = gathered_field_of(transfer);
  or_restart_records([&] {
    if (gathered != nullptr)
      write_gathered(*gathered, transfer);
    else
      driver_->write(transfer);
  });
  next_records_.note(schema(), transfer.variable, transfer.region);
}

// Of ranks that know different lengths, one may not know the section that the others mean.
std::variant<Transfer, RefusedCall> Dataset::cells_call(const DataCall& call, Direction direction) const {
  const bool writes = direction == Direction::to_file;
  Transfer transfer;
  Status unknown = caught([&] {
    transfer = make_transfer(schema(), variable_number(call.variable), call, call.section, call.decomposition,
                             direction);
  });
  if (unknown.ok() && (comm_.size() > 1 || !transfer.refused)) return transfer;
  unknown.merge(transfer.refused.why);
  unknown = in_call(unknown, call);
  if (comm_.size() == 1) throw Error(unknown);
  return RefusedCall{writes ? RefusedCall::Kind::write : RefusedCall::Kind::read, unknown, {}};
}

void Dataset::write_cells(const DataCall& call) {
  in_call(call, [&] {
    auto cells = cells_call(call, Direction::to_file);
    or_restart_records([&] {
      if (const auto* const refused = std::get_if<RefusedCall>(&cells)) return driver_->refuse(*refused);
      auto& transfer = std::get<Transfer>(cells);
      transfer.rounding = rounding_of_variable(transfer.variable);
      transfer.keeps_unowned = true;
      driver_->write(transfer);
      next_records_.note(schema(), transfer.variable, transfer.region);
    });
  });
}

void Dataset::read_cells(const DataCall& call) {
  in_call(call, [&] {
    const auto cells = cells_call(call, Direction::from_file);
    if (const auto* const refused = std::get_if<RefusedCall>(&cells)) return driver_->refuse(*refused);
    driver_->read(std::get<Transfer>(cells));
  });
}

// Others get it at sync; this rank need not wait for it, as it is a mistake of the program's text.
void Dataset::check_section_here(const DataCall& call) const {
  const Section& section = call.section;
  if (section.ndims == 0 && section.start == nullptr && section.count == nullptr) return;
  if (call.problem.ok()) check_section_length(schema(), variable_number(call.variable), section);
}

bool Dataset::copies() const {
  return !writable_ && driver_ && driver_->copies();
}

void Dataset::copy(const DataCall& call, Dataset* source, const VariableArgument& from_variable) {
  if (source == nullptr) return write(call);  // whose problem says why
  Dataset& from = *source;
  DataCall filled = call;
  if (!from.copies())
    throw Error(Code::not_supported,
                "cells cannot be copied from '{}': only sets of files that are open for reading can be; read "
                "them to an array, and write that",
                from.path());
  const Status known = caught([&] {
    if (!call.problem.ok()) throw Error(call.problem);
    const int v = from.variable_number(from_variable);
    const Schema& schema = from.schema();
    const auto& definition = schema.variable(v);
    const Dims there = schema.shape(v);
    filled.source_type = definition.type;
    filled.source = [&, v, there](const Box& part, std::byte* to) {
      if (part.rank() != there.size() || !Box::whole(there).contains(part))
        throw Error(Code::invalid_argument, "cells {} are asked for, and the variable is {}", text_of(part),
                    text_of(there))
            .of_variable(from.variable_name(from_variable))
            .in_file(from.path());
      from.driver_->fetch(v, part, to);
    };
  });
  filled.problem.merge(known);
  write(filled);
}

// Cells that reading leaves as they are get the variable's fill value, if the array's type has it. Local.
void Dataset::fill_masked(const Transfer& transfer) const {
  if (transfer.refused || settings_.text("read_masked") != "fill") return;
  if (transfer.mine.empty()) return;  // and nothing is checked that ranks with cells found wrong
  const VariableDef& definition = schema().variable(transfer.variable);
  const Bytes fill = fill_of(definition);
  std::array<std::byte, 16> value{};
  find_conversion({definition.type, fill.size(), false}, in_memory(transfer))(
      fill.data(), 0, value.data(), 0, 1, substitute_for(transfer.array.type()));
  fill_left(transfer, value.data());
}

void Dataset::read(const DataCall& call) {
  check_open();
  const Comm::Calling calling(comm_, "read", path_);
  comm_.require_together();
  finish_definitions();
  in_call(call, [&] {
    adopt(call.decomposition);
    auto field = field_call(call, Direction::from_file);
    const GatheredField* gathered = nullptr;
    if (const auto* const transfer = std::get_if<Transfer>(&field)) {
      const Status known = caught([&] { gathered = gathered_field_of(*transfer); });
      if (!known.ok() && comm_.size() == 1) throw Error(known);
      // A rank with bad arguments does not know, and waits in the driver.
      if (!known.ok()) field = RefusedCall{RefusedCall::Kind::read, in_call(known, call), {}};
    }
    if (const auto* const refused = std::get_if<RefusedCall>(&field)) return driver_->refuse(*refused);
    const auto& transfer = std::get<Transfer>(field);
    fill_masked(transfer);
    if (gathered != nullptr)
      read_gathered(*gathered, transfer);
    else
      driver_->read(transfer);
  });
}

void Dataset::put(const DataCall& call) {
  check_writable();
  const Comm::Calling calling(comm_, "put", path_);
  comm_.require_together();
  finish_definitions();
  std::optional<int> variable;
  Box box;
  Status status = caught([&] {
    if (!call.problem.ok()) throw Error(call.problem);
    // Ranks match calls for some variables, whatever is wrong here.
    variable = variable_number(call.variable);
    const Section section = section_to_write(call.section, *variable);
    const bool mine = comm_.rank() == 0;
    if (mine && !call.refused.ok()) throw Error(call.refused);
    if (mine && !call.array.problem.ok()) throw Error(call.array.problem);
    box = region_of(schema(), *variable, section, Direction::to_file, nullptr,
                    mine ? call.array.cells.extents() : Dims());
  });
  if (status.ok() && comm_.rank() == 0) {
    status = caught([&] { put_values(*variable, box, call); });
    if (status.code == Code::invalid_argument && definitions_.decomposition(*variable) != nullptr)
      status.message +=
          "; the variable is cut over ranks: each rank writes its part of it with write, and put takes all "
          "of it from rank 0";
  } else if (status.ok()) {
    driver_->put(*variable, box, nullptr, {});
  }
  const bool refused = !status.ok();
  if (refused) {
    status = in_call(status, call);
    if (comm_.size() == 1) throw Error(status);
    driver_->refuse({RefusedCall::Kind::put, status, variable});
  } else {
    next_records_.note(schema(), *variable, box);
  }
  if (comm_.rank() == 0 && !refused) return;
  in_call(call, [&] { check_section_here(call); });
}

CellArray Dataset::array_of_call(const DataCall& call, int variable, const Box& box) {
  const CellArray cells = fitted(call.array, box, call.section, schema(), variable);
  return call.as_stored ? cells : as_values(variable, cells);
}

void Dataset::put_values(int variable, const Box& box, const DataCall& call) {
  const VariableDef& definition = schema().variable(variable);
  const CellArray cells = array_of_call(call, variable, box);
  check_value_types(definition, cells.type());
  const HostArray on_host(cells);
  const ArrayView& view = on_host.view();
  if (definition.type == Type::string) {
    driver_->put(variable, box, nullptr, gather_strings(view));
    return;
  }
  const auto rounding = rounding_of_variable(variable);
  if (is_plain(view, definition.type) && !rounding) {
    driver_->put(variable, box, view.data, {});
  } else {
    ConversionErrors conversion_errors;
    const Bytes values = gather_values(view, definition, rounding.get(), conversion_errors);
    driver_->put(variable, box, values.data(), {});
    // The rest is written, as netCDF does; the failure comes out at sync, on all ranks.
    merge_named(late_, with_context(conversion_status(conversion_errors, box, view.type, definition.type),
                                    path_, definition.name));
  }
}

void Dataset::get(const DataCall& call) {
  check_open();
  const Comm::Calling calling(comm_, "get", path_);
  comm_.require_together();
  finish_definitions();
  int variable = 0;
  Box box;
  CellArray cells;
  Status status = caught([&] {
    if (!call.refused.ok()) throw Error(call.refused);
    if (!call.problem.ok()) throw Error(call.problem);
    variable = variable_number(call.variable);
    const VariableDef& definition = schema().variable(variable);
    box = region_of(schema(), variable, call.section, Direction::from_file, nullptr, Dims());
    cells = array_of_call(call, variable, box);
    check_value_types(definition, cells.type());
    if (definition.type != Type::string)
      find_conversion({definition.type, size_of(definition.type), false}, cells.element());
  });
  status = in_call(status, call);
  in_call(call, [&] {
    if (status.ok()) {
      get_values(variable, box, cells);
    } else {
      if (comm_.size() == 1) throw Error(status);
      driver_->refuse({RefusedCall::Kind::get, status, {}});
    }
  });
}

void Dataset::get_values(int variable, const Box& box, const CellArray& cells) {
  const HostArray on_host(cells, HostArray::Copy::empty);
  const ArrayView& view = on_host.view();
  const VariableDef& definition = schema().variable(variable);
  std::vector<std::string> strings;
  if (definition.type == Type::string) {
    driver_->get(variable, box, nullptr, strings);
    scatter_strings(strings, view);
    return;
  }
  if (is_plain(view, definition.type)) {
    driver_->get(variable, box, view.data, strings);
    on_host.store();
    return;
  }
  Bytes values(bytes_of(box, size_of(definition.type)));
  driver_->get(variable, box, values.data(), strings);
  if (view.extents.size() == box.rank() - 1) {
    // Logical values kept as text, one word a value: the first letter says. Others are passed over.
    const auto letters = static_cast<std::size_t>(box.count[box.rank() - 1]);
    if (letters == 0) throw Error(Code::type, "texts of length 0 cannot be read as logical values");
    for (std::size_t i = 0; i * letters < values.size(); ++i)
      values[i] = values[i * letters];
  }
  ConversionErrors conversion_errors;
  scatter_values(values.data(), definition, view, conversion_errors);
  on_host.store();
  const Box values_of = view.extents.size() == box.rank() ? box : Box(without_last(box.first), view.extents);
  const Status conversion_error = conversion_status(conversion_errors, values_of, definition.type, view.type);
  if (!conversion_error.ok()) throw Error(conversion_error);
}

}  // namespace shoal
