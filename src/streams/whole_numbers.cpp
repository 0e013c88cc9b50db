// SPDX-License-Identifier: BSD-3-Clause
// First, last, lowest and highest of whole numbers of 8 bytes: in the field's type, as a double does not have
// all of them.
#include <limits>

#include "codec/convert.hpp"
#include "streams/accumulator.hpp"
#include "streams/descriptions.hpp"
#include "streams/nth.hpp"

namespace shoal::streams {

namespace {

/// What the bits are as a number of the type.
double whole_as_double(std::int64_t bits, Type type) {
  return type == Type::uint64 ? static_cast<double>(static_cast<std::uint64_t>(bits))
                              : static_cast<double>(bits);
}

bool is_below(std::int64_t a, std::int64_t b, Type type) {
  return type == Type::uint64 ? static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b) : a < b;
}

}  // namespace

bool Accumulator::keeps_whole(Type type, Operation operation) {
  if (type != Type::int64 && type != Type::uint64) return false;
  switch (operation) {
    case Operation::first:
    case Operation::last:
    case Operation::minimum:
    case Operation::maximum:
    case Operation::range:
      return true;
    default:
      return false;
  }
}

std::int64_t Accumulator::whole_start_of(Moment moment, Type type) {
  const bool is_lowest = moment == Moment::minimum;
  if (!is_lowest && moment != Moment::maximum) return 0;
  if (type == Type::uint64)
    return static_cast<std::int64_t>(is_lowest ? std::numeric_limits<std::uint64_t>::max() : 0U);
  return is_lowest ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

// Before weights are counted, which say whether a cell had a value. All values are looked at first, so that
// those of an array that does not fit change nothing.
void Accumulator::add_whole(const ArrayView& own, WindowState& state) const {
  std::vector<std::int64_t> values(static_cast<std::size_t>(part_->cells()));
  const auto size = static_cast<std::int64_t>(sizeof(std::int64_t));
  const ConvertRun convert =
      find_conversion({own.type, own.element_size, false}, {type_, sizeof(std::int64_t), false});
  ConversionErrors errors;
  part_->for_each_run(own,
                      [&](const std::byte* data, std::int64_t stride, std::int64_t n, std::int64_t cell) {
                        auto* const to = reinterpret_cast<std::byte*>(values.data() + cell);
                        errors.merge(convert(data, stride, to, size, n, nullptr), cell);
                      });
  if (errors.count > 0) throw range_error(errors, type_);
  const auto counts = [&](std::int64_t value) {
    return !missing_ || !is_missing(whole_as_double(value, type_), own.type, *missing_, type_);
  };
  // Cells of the part that no run has, of a masked grid, may have anything.
  const auto join = [&](Moment moment, auto&& takes) {
    if (!whole_.has(moment)) return;
    std::vector<std::int64_t>& cells = state.whole_of(moment);
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (counts(values[i]) && takes(i, cells[i])) cells[i] = values[i];
  };
  join(Moment::minimum,
       [&](std::size_t i, std::int64_t so_far) { return is_below(values[i], so_far, type_); });
  join(Moment::maximum,
       [&](std::size_t i, std::int64_t so_far) { return is_below(so_far, values[i], type_); });
  join(Moment::last, [](std::size_t, std::int64_t) { return true; });
  join(Moment::first, [&](std::size_t i, std::int64_t) {
    return state.steps == 0 || (counts_cells() && state.cell_weights[i] == 0);
  });
}

void Accumulator::whole_result(Operation operation, int i, double fill, std::int64_t first, std::int64_t n,
                               std::int64_t* out) const {
  const WindowState& of = state(i);
  const std::int64_t none = type_ == Type::uint64
                                ? static_cast<std::int64_t>(static_cast<std::uint64_t>(fill))
                                : static_cast<std::int64_t>(fill);
  Moment moment = Moment::first;
  if (operation == Operation::last) moment = Moment::last;
  if (operation == Operation::minimum) moment = Moment::minimum;
  if (operation == Operation::maximum) moment = Moment::maximum;
  for (std::int64_t cell = first; cell < first + n; ++cell)
    *out++ = has_value(i, cell) ? nth(of.whole_of(moment), cell) : none;
}

void Accumulator::whole_as_doubles(Operation operation, int i, double fill, std::int64_t first,
                                   std::int64_t n, double* out) const {
  const WindowState& of = state(i);
  for (std::int64_t cell = first; cell < first + n; ++cell, ++out) {
    const auto at = static_cast<std::size_t>(cell);
    std::int64_t whole = 0;
    if (!has_value(i, cell)) {
      *out = fill;
    } else if (operation == Operation::range) {
      *out = static_cast<double>(static_cast<std::uint64_t>(of.whole_of(Moment::maximum)[at]) -
                                 static_cast<std::uint64_t>(of.whole_of(Moment::minimum)[at]));
    } else {
      whole_result(operation, i, 0, cell, 1, &whole);
      *out = whole_as_double(whole, type_);
    }
  }
}

}  // namespace shoal::streams
