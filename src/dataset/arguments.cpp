// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/arguments.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/language.hpp"
#include "base/text.hpp"
#include "codec/convert.hpp"
#include "dataset/definitions/definitions.hpp"

namespace shoal {

namespace {

const Dimension& dim_of(const Schema& schema, int variable, int d) {
  return schema.dims[static_cast<std::size_t>(schema.variable(variable).dims[static_cast<std::size_t>(d)])];
}

// First record and number of records.
std::pair<std::int64_t, std::int64_t> records_of(const Schema& schema, int variable, const Section& section,
                                                 Direction direction, const Dims& array_extents) {
  const Dimension& dim = dim_of(schema, variable, 0);
  const std::int64_t record = section.record;
  const std::int64_t count = section.is_one_record() ? 1 : section.records;
  if (section.records < 0)
    throw Error(Code::invalid_argument, "{} is {}; it must be 1 or more, or left out for one record",
                argument("records"), section.records);
  if (record == k_all_records) {
    if (section.records > 0)
      throw Error(Code::invalid_argument, "{} is {}, and {} is {}, which is every record there is",
                  argument("records"), section.records, argument("record"), word_for_all_records());
    const bool open = direction == Direction::to_file && !array_extents.empty();
    return {0, open ? array_extents[0] : dim.length};
  }
  if (record == k_no_record)
    throw Error(
        Code::invalid_argument,
        "the variable has the record dimension '{}', and the call names no record; give {}, {} for the "
        "first one",
        dim.name, argument("record"), as_index(0));
  if (record == k_next_record)  // of a write it was resolved before
    throw Error(
        Code::invalid_argument,
        "{} is SHOAL_NEXT, which is for writing; dimension '{}' has {} records to read, the first is {}",
        argument("record"), dim.name, dim.length, as_index(0));
  if (record < 0)
    throw Error(Code::invalid_argument,
                "{} is {}; allowed are {} or more, and in writing SHOAL_NEXT for the one after the last",
                argument("record"), as_index(record), as_index(0));
  if (direction == Direction::from_file && (record >= dim.length || count > dim.length - record))
    throw Error(Code::not_found, "there is no record {}; dimension '{}' has {}{}",
                as_index(std::max(record, dim.length)), dim.name, dim.length,
                dim.length > 0 ? fmt::format(", {} to {}", as_index(0), as_index(dim.length - 1)) : "");
  if (count > INT64_MAX - record)
    throw Error(Code::invalid_argument, "{} is {}, too many", argument("records"), count);
  return {record, count};
}

// Length of a dimension as a section of this call may use it.
std::int64_t open_length(const Schema& schema, int variable, int d, const Decomposition* decomposition) {
  const Dimension& dim = dim_of(schema, variable, d);
  const int nd = static_cast<int>(schema.variable(variable).dims.size());
  if (dim.unlimited && decomposition != nullptr && d >= nd - decomposition->rank())
    return decomposition->global()[d - (nd - decomposition->rank())];
  return dim.length;
}

void check_section(const Dimension& dim, std::int64_t first, std::int64_t count, std::int64_t length,
                   bool may_grow) {
  // A text that each call would make, and nearly none needs.
  const auto where = [&] { return fmt::format("in dimension '{}' of length {}", dim.name, length); };
  if (first < 0 || count < 0)
    throw Error(Code::invalid_argument,
                "the section {} starts at {} and counts {}; it must start at {} or more, and count 0 or more",
                where(), as_index(first), count, as_index(0));
  if (may_grow) {
    if (count > INT64_MAX - first) throw Error(Code::invalid_argument, "the section {} is too long", where());
  } else if (first > length || count > length - first) {
    throw Error(Code::invalid_argument,
                "the section {} starts at {} and counts {}; its last cell is {}, that of the dimension {}",
                where(), as_index(first), count, as_index(first + count - 1), as_index(length - 1));
  }
}

std::string extents_or_halo(const Dims& plain, const Dims& with_halo) {
  std::string text = text_of(plain);
  if (!(plain == with_halo)) text += fmt::format(" (the tile) or {} (with its halo)", text_of(with_halo));
  return text;
}

// The right numbers from back to front?
const char* reversed_hint(const Dims& given, const Dims& expected) {
  Dims turned = given;
  std::reverse(turned.begin(), turned.end());
  if (given == expected || !(turned == expected)) return "";
  return language() == Language::fortran
             ? ": its dimensions are in the order of C; in Fortran the fastest comes first"
             : ": its dimensions are from back to front; the slowest comes first";
}

// What this rank has of the region, and where that lies in its array.
struct Share {
  Box mine;           // cells to move
  Dims plain;         // extents of an array without halo, record dimension left out
  Dims with_halo;     // and with it
  Box tile_in_array;  // of an array with halo: the cells that are moved
};

Share share_of(const Box& region, const Decomposition& decomposition, int record_dims, bool halo_too) {
  const int nd = region.rank();
  const int cut = decomposition.rank();
  Share share;
  share.mine = region;
  Dims first_in_array;
  Dims count_in_array;
  const int mapped = decomposition.map() != nullptr ? cut - decomposition.uncut_dims() : 0;
  for (int d = record_dims; d < nd; ++d) {
    const int c = d - (nd - cut);
    if (c >= 0 && c < mapped) {  // together one dimension of the array
      if (c > 0) continue;
      share.plain.push_back(decomposition.map()->local_cells());
      share.with_halo.push_back(decomposition.map()->local_cells());
      continue;
    }
    const bool sectioned = c < 0 || region.first[d] != 0 || region.count[d] != decomposition.global()[c];
    if (sectioned) {
      share.plain.push_back(region.count[d]);
      share.with_halo.push_back(region.count[d]);
      first_in_array.push_back(0);
      count_in_array.push_back(region.count[d]);
      continue;
    }
    const std::int64_t low = decomposition.halo_low()[c];
    const std::int64_t high = decomposition.halo_high()[c];
    const std::int64_t first = decomposition.tile().first[c];
    const std::int64_t count = decomposition.tile().count[c];
    share.plain.push_back(count);
    share.with_halo.push_back(low + count + high);
    const std::int64_t from = halo_too ? std::max<std::int64_t>(0, first - low) : first;
    const std::int64_t to =
        halo_too ? std::min(decomposition.global()[c], first + count + high) : first + count;
    share.mine.first[d] = from;
    share.mine.count[d] = to - from;
    first_in_array.push_back(from - (first - low));
    count_in_array.push_back(to - from);
  }
  share.tile_in_array = Box(first_in_array, count_in_array);
  return share;
}

void check_types(const VariableDef& variable, const Element& in_array, Direction direction) {
  if (variable.type == Type::string || in_array.type == Type::string)
    throw Error(Code::not_supported,
                "strings cannot be cut over ranks; use put and get, or a variable of type char");
  const Element in_file{variable.type, size_of(variable.type), false};
  if (direction == Direction::to_file)
    find_conversion(in_array, in_file);
  else
    find_conversion(in_file, in_array);
}

void fill_in_array(Transfer& transfer, const VariableDef& variable, const DataCall& call, int record_dims,
                   Direction direction) {
  const Decomposition& decomposition = *transfer.decomposition;
  const Share plain = share_of(transfer.region, decomposition, record_dims, false);
  if (decomposition.tile().empty() || transfer.region.empty()) return;  // the array is not looked at
  if (!call.array.problem.ok()) throw Error(call.array.problem);
  if (call.source && decomposition.map() != nullptr)
    throw Error(Code::not_supported,
                "cells of a map cannot be copied part by part; read them to an array, and write that");
  if (call.source) {
    check_types(variable, {call.source_type, size_of(call.source_type), false}, direction);
    transfer.mine = plain.mine;
    transfer.array = CellArray::of_source(call.source_type, plain.mine.count, call.source, plain.mine.first);
    return;
  }
  CellArray array = call.array.cells;
  check_types(variable, array.element(), direction);
  const bool with_halo = !(array.extents() == plain.plain);
  if (with_halo && !(array.extents() == plain.with_halo))
    throw Error(Code::invalid_argument, "the array has the extents {}; expected {}{}",
                text_of(array.extents()), extents_or_halo(plain.plain, plain.with_halo),
                reversed_hint(array.extents(), plain.plain));
  if (!array.has_cells()) throw Error(Code::invalid_argument, "the array's data is NULL");
  transfer.mine = plain.mine;
  if (with_halo) {
    const bool halo_too = direction == Direction::from_file;
    const Share share = halo_too ? share_of(transfer.region, decomposition, record_dims, true) : plain;
    transfer.mine = share.mine;
    array = array.part(share.tile_in_array);
  }
  transfer.array = record_dims != 0 ? array.with_leading_dim() : array;
}

}  // namespace

void check_section_length(const Schema& schema, int variable, const Section& section) {
  if (section.ndims == 0 && section.start == nullptr && section.count == nullptr) return;
  const bool record = schema.has_record(variable);
  const int dims = static_cast<int>(schema.variable(variable).dims.size()) - (record ? 1 : 0);
  if (section.ndims != dims)
    throw Error(Code::invalid_argument, "{} and {} have {}{}; the variable has {} dimension{}{}",
                argument("start"), argument("count"), section.ndims,
                section.ndims == 1 ? " number" : " numbers", dims, dims == 1 ? "" : "s",
                record ? " beside the record dimension" : "");
}

Box region_of(const Schema& schema, int variable, const Section& section, Direction direction,
              const Decomposition* decomposition, const Dims& array_extents) {
  check_section_length(schema, variable, section);
  const int nd = static_cast<int>(schema.variable(variable).dims.size());
  const int record_dims = schema.has_record(variable) ? 1 : 0;
  Box region = Box::whole(Dims(nd));
  if (record_dims != 0)
    std::tie(region.first[0], region.count[0]) =
        records_of(schema, variable, section, direction, array_extents);
  else if (section.records != 0)
    throw Error(Code::invalid_argument, "the variable has no record dimension, but {} is {}; {}",
                argument("records"), section.records, leave_record_out());
  else if (section.record != k_no_record)
    throw Error(Code::invalid_argument, "the variable has no record dimension, but {} is {}; {}",
                argument("record"),
                section.record == k_next_record ? "SHOAL_NEXT"
                : section.record < 0            ? "given"
                                                : std::to_string(as_index(section.record)),
                leave_record_out());
  const int array_offset = array_extents.size() - nd;  // of dimension d in the array: d + offset
  for (int d = record_dims; d < nd; ++d) {
    const Dimension& dim = dim_of(schema, variable, d);
    const std::int64_t length = open_length(schema, variable, d, decomposition);
    const bool may_grow = dim.unlimited && direction == Direction::to_file;
    if (direction == Direction::from_file && length > dim.length)
      throw Error(Code::not_found, "the decomposition is {} long in dimension '{}', which has {} so far",
                  length, dim.name, dim.length);
    region.first[d] = section.start == nullptr ? 0 : section.start[d - record_dims];
    if (section.count != nullptr)
      region.count[d] = section.count[d - record_dims];
    else if (may_grow && decomposition == nullptr && !array_extents.empty() && d + array_offset >= 0)
      region.count[d] = array_extents[d + array_offset];
    else
      region.count[d] = length - region.first[d];
    check_section(dim, region.first[d], region.count[d], length, may_grow);
    const int c = decomposition == nullptr ? -1 : d - (nd - decomposition->rank());
    if (c >= 0 && decomposition->is_cut(c) && (region.first[d] != 0 || region.count[d] != length))
      throw Error(Code::invalid_argument,
                  "the section starts at {} and counts {} in dimension '{}', which is cut over ranks; there "
                  "it must be all {} cells",
                  as_index(region.first[d]), region.count[d], dim.name, length);
  }
  return region;
}

Transfer make_transfer(const Schema& schema, int variable, const DataCall& call, const Section& section,
                       const std::shared_ptr<const Decomposition>& decomposition, Direction direction) {
  const VariableDef& definition = schema.variable(variable);
  require_plain(definition);
  if (decomposition == nullptr)
    throw Error(Code::invalid_argument, "the variable has no decomposition: {}",
                direction == Direction::to_file
                    ? "if its values are the same on all ranks, use put; if each rank has a part of it, give "
                      "a decomposition in this call or when it is defined"
                    : "if all ranks want the same values, use get; if each wants its part, give a "
                      "decomposition in this call");
  check_decomposition_fits(schema, variable, *decomposition);
  if (section.record == k_all_records || section.records != 0)
    throw Error(Code::invalid_argument, "{} is for put and get; write and read take one record a call",
                section.records != 0 ? argument("records") : word_for_all_records());
  Transfer transfer;
  transfer.variable = variable;
  transfer.decomposition = decomposition;
  transfer.region = region_of(schema, variable, section, direction, decomposition.get(), Dims());
  const int nd = transfer.region.rank();
  transfer.mine = no_cells(nd);
  transfer.array = ArrayView{nullptr, definition.type, size_of(definition.type), Dims(nd), Dims(nd)};
  Status& why = transfer.refused.why = caught(
      [&] { fill_in_array(transfer, definition, call, schema.has_record(variable) ? 1 : 0, direction); });
  if (!why.ok() && why.variable.empty()) why.variable = definition.name;
  return transfer;
}

}  // namespace shoal
