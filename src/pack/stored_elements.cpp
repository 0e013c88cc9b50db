// SPDX-License-Identifier: BSD-3-Clause
#include "pack/stored_elements.hpp"

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <string>

#include "base/language.hpp"
#include "codec/packing.hpp"

namespace shoal {

namespace {

std::string value_text(const CellArray& array, const Dims& index) {
  double value = 0;
  const Status known = caught([&] {
    Element element = array.element();
    element.packer = nullptr;
    const Element number{Type::double_, sizeof value, false};
    const Box cell(index, Dims(index.size(), 1));
    array.gather(BlockCells{cell, byte_strides(cell.count, sizeof value)},
                 reinterpret_cast<std::byte*>(&value), {find_conversion(element, number), nullptr});
  });
  if (!known.ok()) return "the value";
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.17g", value);
  return std::string("the value ") + text.data();
}

}  // namespace

Bytes stored_fill(const VariableDef& variable, bool swapped) {
  Bytes fill = fill_of(variable);
  if (swapped) swap_bytes(fill.data(), fill.size(), 1);
  return fill;
}

Bytes stored_absent_value(const VariableDef& variable, bool swapped) {
  Bytes value = absent_value_of(variable);
  if (swapped) swap_bytes(value.data(), value.size(), 1);
  return value;
}

const std::byte* substitute_for(Type type) {
  static constexpr std::array<std::byte, 8> k_false{};
  return type == Type::logical ? k_false.data() : static_cast<const std::byte*>(default_fill(type));
}

Status unfitting(const Transfer& transfer, const VariableDef& variable, std::int64_t count, Dims global,
                 const Dims& in_array, bool writing) {
  for (int d = 0; d < transfer.origin.size(); ++d)
    global[d] += transfer.origin[d];
  const std::string value = writing ? value_text(transfer.array, in_array) : "the file's value";
  const Packer* const packer = in_memory(transfer).packer;
  const std::string target = writing ? name_of(variable.type) : name_of(transfer.array.type());
  std::string message = fmt::format("{} at index [{}] ({}) does not fit type {}", value, index_text(global),
                                    counted_from(), target);
  if (writing && packer != nullptr) message += fmt::format(" as it packs {}", packer->range_text());
  if (count > 1) message += fmt::format(", nor do {} more", count - 1);
  message +=
      writing ? "; the fill value was written there, everything else as it is" : "; everything else was read";
  return {Code::range, message, -1, {}, variable.name};
}

bool loses_bytes(const Status& status) {
  switch (status.code) {
    case Code::ok:
    case Code::invalid_argument:
    case Code::not_found:
    case Code::range:
    case Code::type:
    case Code::not_supported:
    case Code::state:
      return false;
    default:
      return true;
  }
}

}  // namespace shoal
