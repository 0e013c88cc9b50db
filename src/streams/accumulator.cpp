// SPDX-License-Identifier: BSD-3-Clause
#include "streams/accumulator.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/language.hpp"
#include "codec/convert.hpp"
#include "codec/isa.hpp"
#include "streams/descriptions.hpp"
#include "streams/nth.hpp"

namespace shoal::streams {

namespace {

constexpr std::int64_t k_block = 1024;  // cells at a time, so that they stay in the first cache

// Which values do not count. Values are compared as wide as what they are added to: a vector of comparisons
// then chooses among as many cells.
struct CountsAll {
  [[gnu::always_inline]] bool operator()(double) const { return false; }
};
struct SkipsNan {
  template <class V>
  [[gnu::always_inline]] bool operator()(V v) const {
    return v != v;
  }
};
struct Skips {
  double missing;  ///< as the array's type has it
  template <class V>
  [[gnu::always_inline]] bool operator()(V v) const {
    return v == static_cast<V>(missing);
  }
};
/// Of arrays of doubles for fields of floats.
struct SkipsAsFloat {
  float missing;
  [[gnu::always_inline]] bool operator()(double v) const { return static_cast<float>(v) == missing; }
};

template <class Cell, class X, class Skip, class Join>
[[gnu::always_inline]] inline void join(Cell* cells, const X* x, std::int64_t n, const Skip& skip,
                                        Join&& join) {
  for (std::int64_t i = 0; i < n; ++i) {
    const auto v = static_cast<Cell>(x[i]);
    const Cell joined = join(cells[i], v);
    cells[i] = skip(v) ? cells[i] : joined;
  }
}

/// Of doubles, or floats where the array has them, too. NaN stays.
template <Moment moment, class X, class Skip>
[[gnu::always_inline]] inline void keep_extreme(WindowState& state, std::int64_t at, const X* x,
                                                std::int64_t n, const Skip& skip) {
  const auto further = [](auto a, auto v) {
    return (moment == Moment::minimum ? v < a : v > a) || v != v ? v : a;
  };
  if (state.has_floats) return join(state.floats_of(moment).data() + at, x, n, skip, further);
  join(state.of(moment).data() + at, x, n, skip, further);
}

// Of West (1979): stable, and one pass. total(i): weight of all values of cell i, with this one. What is
// added to the deviations is no difference of values that are almost the same, whatever the weights are. Both
// results are there before one is stored, as the loop is no vector loop otherwise.
template <class X, class Skip, class Total>
[[gnu::always_inline]] inline void add_deviations(double* mean, double* deviations, const X* x,
                                                  std::int64_t n, const Skip& skip, double w, Total&& total) {
  for (std::int64_t i = 0; i < n; ++i) {
    const auto v = static_cast<double>(x[i]);
    const double mean_before = mean[i], sum_before = deviations[i];
    const double off = v - mean_before, share = w / total(i);
    const double now = mean_before + off * share;
    const double sum = sum_before + off * off * (share * (total(i) - w));
    const double new_mean = skip(v) ? mean_before : now, new_sum = skip(v) ? sum_before : sum;
    mean[i] = new_mean;
    deviations[i] = new_sum;
  }
}

// Counts values that are not skipped, each as so many.
template <class X, class Skip>
[[gnu::always_inline]] inline void count(std::int64_t* counts, const X* x, std::int64_t n, const Skip& skip,
                                         std::int64_t as) {
  for (std::int64_t i = 0; i < n; ++i)
    counts[i] += skip(static_cast<double>(x[i])) ? 0 : as;
}

/// Cells of a state that get values.
struct Cells {
  Moments moments;
  WindowState* state;
  std::int64_t at, n, weight;
  bool counts_cells, counts_values;
};

/// All moments of the cells, one after the other: the values are in the cache after the first. Products are
/// not joined with sums in any instruction set, so that all give the same bits.
template <class X, class Skip>
struct AddCells {
  [[gnu::always_inline]] static inline void run(Cells of, const X* x, Skip skip) {
    WindowState& state = *of.state;
    const std::int64_t n = of.n, at = of.at, weight = of.weight;
    const auto w = static_cast<double>(weight);
    const auto cells = [&](Moment moment) { return state.of(moment).data() + at; };
    std::int64_t* const weights = of.counts_cells ? state.cell_weights.data() + at : nullptr;
    if (of.moments.has(Moment::weighted_sum))
      join(cells(Moment::weighted_sum), x, n, skip, [w](double a, double v) { return a + w * v; });
    if (of.moments.has(Moment::sum))
      join(cells(Moment::sum), x, n, skip, [](double a, double v) { return a + v; });
    if (of.moments.has(Moment::square_sum))
      join(cells(Moment::square_sum), x, n, skip, [w](double a, double v) { return a + w * (v * v); });
    if (of.moments.has(Moment::minimum)) keep_extreme<Moment::minimum>(state, at, x, n, skip);
    if (of.moments.has(Moment::maximum)) keep_extreme<Moment::maximum>(state, at, x, n, skip);
    if (of.moments.has(Moment::square_deviations)) {
      double *const mean = cells(Moment::running_mean), *const deviations = cells(Moment::square_deviations);
      if (weights != nullptr) {
        // Apart from the rest, as there are no vectors of such a conversion before AVX-512.
        std::array<double, k_block> sums;
        for (std::int64_t i = 0; i < n; ++i)
          nth(sums, i) = static_cast<double>(weights[i] + weight);
        add_deviations(mean, deviations, x, n, skip, w, [&](std::int64_t i) { return nth(sums, i); });
      } else {
        const auto total = static_cast<double>(state.weight + weight);
        add_deviations(mean, deviations, x, n, skip, w, [total](std::int64_t) { return total; });
      }
    }
    if (of.moments.has(Moment::first)) {
      double* const first = cells(Moment::first);
      if (weights != nullptr)
        for (std::int64_t i = 0; i < n; ++i) {
          if (weights[i] == 0 && !skip(static_cast<double>(x[i]))) first[i] = static_cast<double>(x[i]);
        }
      else if (state.steps == 0)
        std::copy_n(x, n, first);
    }
    if (of.moments.has(Moment::last))
      join(cells(Moment::last), x, n, skip, [](double, double v) { return v; });
    if (weights != nullptr) count(weights, x, n, skip, weight);
    if (of.counts_values) count(state.cell_counts.data() + at, x, n, skip, 1);
  }
};

bool is_extreme(Moment moment) {
  return moment == Moment::minimum || moment == Moment::maximum;
}

double start_of(Moment moment) {
  if (moment == Moment::minimum) return std::numeric_limits<double>::infinity();
  if (moment == Moment::maximum) return -std::numeric_limits<double>::infinity();
  return 0;
}

}  // namespace

const char* name_of(Moment moment) {
  constexpr std::array k_names = {"weighted_sum",      "sum",     "square_sum",
                                  "minimum",           "maximum", "running_mean",
                                  "square_deviations", "first",   "last"};
  return nth(k_names, moment);
}

Moments moments_of(Operation operation) {
  Moments out;
  switch (operation) {
    case Operation::instant:
    case Operation::count:
      break;
    case Operation::first:
      out.add(Moment::first);
      break;
    case Operation::last:
      out.add(Moment::last);
      break;
    case Operation::mean:
    case Operation::diurnal:
      out.add(Moment::weighted_sum);
      break;
    case Operation::sum:
      out.add(Moment::sum);
      break;
    case Operation::minimum:
      out.add(Moment::minimum);
      break;
    case Operation::maximum:
      out.add(Moment::maximum);
      break;
    case Operation::range:
      out.add(Moment::minimum);
      out.add(Moment::maximum);
      break;
    case Operation::variance:
    case Operation::standard_deviation:
      out.add(Moment::running_mean);
      out.add(Moment::square_deviations);
      break;
    case Operation::rms:
      out.add(Moment::square_sum);
      break;
  }
  return out;
}

Accumulator::Accumulator(std::shared_ptr<const Part> part, Type type, std::optional<double> missing, int bins,
                         int slots)
    : part_(std::move(part)),
      type_(type),
      missing_(missing),
      states_(static_cast<std::size_t>(std::max({1, bins, slots}))) {}

void Accumulator::need(Operation operation) {
  const auto at = std::lower_bound(operations_.begin(), operations_.end(), operation);
  if (at == operations_.end() || *at != operation) operations_.insert(at, operation);
  (is_whole(operation) ? whole_ : moments_).add(moments_of(operation));
  wants_counts_ = wants_counts_ || (operation == Operation::count && counts_cells());
}

void Accumulator::allocate(WindowState& state) const {
  const auto cells = static_cast<std::size_t>(part_->cells());
  const auto make_room = [&](auto& array, auto start) {
    if (array.size() != cells) array.assign(cells, start);
  };
  for (int m = 0; m < k_moments; ++m) {
    const auto moment = static_cast<Moment>(m);
    if (!moments_.has(moment)) continue;
    if (!is_extreme(moment)) {
      make_room(state.of(moment), start_of(moment));
    } else if (state.has_floats) {
      make_room(state.floats_of(moment), static_cast<float>(start_of(moment)));
      state.of(moment) = {};
    } else {
      make_room(state.of(moment), start_of(moment));
      state.floats_of(moment) = {};
    }
  }
  for (int m = 0; m < k_moments; ++m)
    if (const auto moment = static_cast<Moment>(m); whole_.has(moment))
      make_room(state.whole_of(moment), whole_start_of(moment, type_));
  if (counts_cells()) make_room(state.cell_weights, 0);
  if (wants_counts_) make_room(state.cell_counts, 0);
}

void Accumulator::make_doubles(WindowState& state) const {
  if (std::exchange(state.has_floats, false))
    for (const Moment moment : {Moment::minimum, Moment::maximum})
      state.of(moment).assign(state.floats_of(moment).begin(), state.floats_of(moment).end());
  allocate(state);
}

std::int64_t Accumulator::bytes() const {
  const std::int64_t arrays =
      moments_.count() + whole_.count() + (counts_cells() ? 1 : 0) + (wants_counts_ ? 1 : 0);
  return part_->cells() * arrays * 8 * states();
}

void Accumulator::reset(int i) {
  WindowState& old = state(i);
  WindowState fresh;  // the memory of its arrays stays
  fresh.moments = std::move(old.moments);
  fresh.float_extremes = std::move(old.float_extremes);
  for (int m = 0; m < k_moments; ++m) {
    auto& whole = nth(old.whole, m);
    std::fill(whole.begin(), whole.end(), whole_start_of(static_cast<Moment>(m), type_));
  }
  fresh.whole = std::move(old.whole);
  fresh.cell_weights = std::move(old.cell_weights);
  fresh.cell_counts = std::move(old.cell_counts);
  old = std::move(fresh);
}

void Accumulator::begin_step(const Step& step, const Window& window, WindowState& state) const {
  if (!state.begun()) {
    state.window = window;
    state.since = step.start;
  }
  state.window.end = window.end;
  state.until = step.end;
}

void Accumulator::add_hole(const Step& step, const Window& window, int i) {
  WindowState& into = state(i);
  begin_step(step, window, into);
  if (!into.hole) into.hole = step.end;
}

void Accumulator::add(const ArrayView& own, const Step& step, const Window& window, int i) {
  WindowState& into = state(i);
  begin_step(step, window, into);
  if (into.steps == 0) into.has_floats = type_ == Type::float_ && own.type == Type::float_;
  if (own.type == Type::float_)
    allocate(into);
  else
    make_doubles(into);
  if (whole_.count() > 0) add_whole(own, into);
  const std::int64_t weight = step.weight();
  std::array<double, k_block> block;
  const auto size = static_cast<std::int64_t>(own.element_size);
  const bool as_it_is = own.type == Type::float_ || own.type == Type::double_;
  const ConvertRun to_double =
      find_conversion({own.type, own.element_size, false}, {Type::double_, sizeof(double), false});
  part_->for_each_run(own, [&](const std::byte* data, std::int64_t stride, std::int64_t n,
                               std::int64_t cell) {
    for (std::int64_t at = 0; at < n; at += k_block) {
      const std::int64_t count = std::min(k_block, n - at);
      const std::byte* from = data + at * stride;
      if (as_it_is && stride == size && reinterpret_cast<std::uintptr_t>(from) % own.element_size == 0) {
        if (own.type == Type::float_)
          add_cells(into, reinterpret_cast<const float*>(from), count, cell + at, weight, own.type);
        else
          add_cells(into, reinterpret_cast<const double*>(from), count, cell + at, weight, own.type);
      } else {
        to_double(from, stride, reinterpret_cast<std::byte*>(block.data()), sizeof(double), count, nullptr);
        add_cells(into, block.data(), count, cell + at, weight, own.type);
      }
    }
  });
  into.steps += 1;
  into.weight += weight;
}

template <class X>
void Accumulator::add_cells(WindowState& state, const X* x, std::int64_t n, std::int64_t at,
                            std::int64_t weight, Type of_array) const {
  if (!missing_)
    add_cells(state, x, n, at, weight, CountsAll());
  else if (std::isnan(*missing_))
    add_cells(state, x, n, at, weight, SkipsNan());
  else if (of_array == Type::float_ && std::abs(*missing_) > std::numeric_limits<float>::max())
    add_cells(state, x, n, at, weight, CountsAll());
  else if (of_array == Type::float_)
    add_cells(state, x, n, at, weight, Skips{static_cast<double>(static_cast<float>(*missing_))});
  else if (type_ == Type::float_)
    add_cells(state, x, n, at, weight, SkipsAsFloat{static_cast<float>(*missing_)});
  else
    add_cells(state, x, n, at, weight, Skips{*missing_});
}

void Accumulator::begin_cells(WindowState& state, std::int64_t n, std::int64_t at) const {
  for (int m = 0; m < k_moments; ++m)
    if (const auto moment = static_cast<Moment>(m); moments_.has(moment)) {
      if (state.has_floats && is_extreme(moment))
        std::fill_n(state.floats_of(moment).data() + at, n, static_cast<float>(start_of(moment)));
      else
        std::fill_n(state.of(moment).data() + at, n, start_of(moment));
    }
  if (counts_cells()) std::fill_n(state.cell_weights.data() + at, n, 0);
  if (wants_counts_) std::fill_n(state.cell_counts.data() + at, n, 0);
}

template <class X, class Skip>
void Accumulator::add_cells(WindowState& state, const X* x, std::int64_t n, std::int64_t at,
                            std::int64_t weight, const Skip& skip) const {
  if (state.steps == 0) begin_cells(state, n, at);  // what a window before has left, while it is in the cache
  const Cells cells{moments_, &state, at, n, weight, counts_cells(), wants_counts_};
  run_best<AddCells<X, Skip>>(cells, x, skip);
}

bool Accumulator::begun() const {
  return std::any_of(states_.begin(), states_.end(), [](const WindowState& state) { return state.begun(); });
}

bool Accumulator::has_value(int i, std::int64_t cell) const {
  const WindowState& of = state(i);
  if (of.steps == 0) return false;
  return !counts_cells() || nth(of.cell_weights, cell) > 0;
}

void Accumulator::result(Operation operation, int i, double fill, std::int64_t first, std::int64_t n,
                         double* out) const {
  const WindowState& of = state(i);
  if (operation == Operation::count) {
    for (std::int64_t cell = 0; cell < n; ++cell)
      out[cell] =
          static_cast<double>(wants_counts_ && of.steps > 0 ? nth(of.cell_counts, first + cell) : of.steps);
    return;
  }
  if (of.steps == 0) {
    std::fill_n(out, n, fill);
    return;
  }
  if (is_whole(operation)) return whole_as_doubles(operation, i, fill, first, n, out);
  const auto cells = [&](Moment moment) { return of.of(moment).data() + first; };
  const auto each = [&](auto&& value) {
    if (counts_cells()) {
      const std::int64_t* const weights = of.cell_weights.data() + first;
      for (std::int64_t cell = 0; cell < n; ++cell)
        out[cell] = weights[cell] > 0 ? value(cell, static_cast<double>(weights[cell])) : fill;
    } else {
      const auto weight = static_cast<double>(of.weight);
      for (std::int64_t cell = 0; cell < n; ++cell)
        out[cell] = value(cell, weight);
    }
  };
  const auto plain = [&](Moment moment) {
    if (of.has_floats && is_extreme(moment))
      each([from = of.floats_of(moment).data() + first](std::int64_t cell, double) {
        return static_cast<double>(from[cell]);
      });
    else
      each([from = cells(moment)](std::int64_t cell, double) { return from[cell]; });
  };
  const auto divided = [&](Moment moment) {
    each([from = cells(moment)](std::int64_t cell, double w) { return from[cell] / w; });
  };
  switch (operation) {
    case Operation::mean:
    case Operation::diurnal:
      return divided(Moment::weighted_sum);
    case Operation::variance:
      return divided(Moment::square_deviations);
    case Operation::standard_deviation:
      return each([from = cells(Moment::square_deviations)](std::int64_t cell, double w) {
        return std::sqrt(from[cell] / w);
      });
    case Operation::rms:
      return each([from = cells(Moment::square_sum)](std::int64_t cell, double w) {
        return std::sqrt(from[cell] / w);
      });
    case Operation::range: {
      const auto range = [&](const auto* low, const auto* high) {
        each([&](std::int64_t cell, double) {
          return static_cast<double>(high[cell]) - static_cast<double>(low[cell]);
        });
      };
      if (of.has_floats)
        return range(of.floats_of(Moment::minimum).data() + first,
                     of.floats_of(Moment::maximum).data() + first);
      return range(cells(Moment::minimum), cells(Moment::maximum));
    }
    case Operation::sum:
      return plain(Moment::sum);
    case Operation::minimum:
      return plain(Moment::minimum);
    case Operation::maximum:
      return plain(Moment::maximum);
    case Operation::first:
      return plain(Moment::first);
    case Operation::last:
      return plain(Moment::last);
    case Operation::instant:
    case Operation::count:
      break;
  }
  throw Error(Code::internal, "an accumulator has no values of the operation {}", name_of(operation));
}

void KeptValues::as_doubles(std::int64_t first, std::int64_t n, double* out) const {
  const auto size = static_cast<std::int64_t>(size_of(type_));
  constexpr std::int64_t k_double = sizeof(double);
  find_conversion({type_, size_of(type_), false}, {Type::double_, k_double, false})(
      values_.data() + first * size, size, reinterpret_cast<std::byte*>(out), k_double, n, nullptr);
}

void KeptValues::keep(const ArrayView& own) {
  const std::size_t size = size_of(type_);
  values_.resize(static_cast<std::size_t>(part_->cells()) * size);
  const ConvertRun convert = find_conversion({own.type, own.element_size, false}, {type_, size, false});
  ConversionErrors errors;
  part_->for_each_run(
      own, [&](const std::byte* data, std::int64_t stride, std::int64_t n, std::int64_t cell) {
        errors.merge(convert(data, stride, values_.data() + static_cast<std::size_t>(cell) * size,
                             static_cast<std::int64_t>(size), n, nullptr),
                     cell);
      });
  if (errors.count > 0) throw range_error(errors, type_);
  // The missing value as a float, or a whole number that no double is.
  const bool is_double = own.type == Type::float_ && type_ == Type::double_;
  if (!missing_ || !(is_double || type_ == Type::int64 || type_ == Type::uint64)) return;
  with_number(type_, [&](auto number) {
    using T = decltype(number);
    for (std::int64_t cell = 0; cell < part_->cells(); ++cell) {
      T value{};
      std::byte* const at = values_.data() + static_cast<std::size_t>(cell) * size;
      std::memcpy(&value, at, sizeof value);
      if (!is_missing(static_cast<double>(value), own.type, *missing_, type_)) continue;
      value = static_cast<T>(fill_);
      std::memcpy(at, &value, sizeof value);
    }
  });
}

Error range_error(const ConversionErrors& errors, Type type) {
  const std::string which = errors.count == 1 ? "1 value of the array does"
                                              : fmt::format("{} values of the array do", errors.count);
  return {Code::range,
          "{} not fit type {}, the first in cell {} of this rank, counted {}",
          which,
          name_of(type),
          as_index(errors.first),
          counted_from()};
}

}  // namespace shoal::streams
