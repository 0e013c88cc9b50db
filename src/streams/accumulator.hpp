// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/array_view.hpp"
#include "base/bytes.hpp"
#include "base/error.hpp"
#include "codec/convert.hpp"
#include "streams/configuration.hpp"
#include "streams/nth.hpp"
#include "streams/part.hpp"

namespace shoal::streams {

/// A step of the model: what is sent holds at its end, or for all of it.
struct Step {
  Instant start, end;
  std::int64_t number = 0;  ///< of the run, from 1
  std::int64_t weight() const { return end.microseconds - start.microseconds; }
};

/// What is kept of the values of a window, cell by cell.
enum class Moment {
  weighted_sum,  ///< of value * weight, which is in microseconds
  sum,           ///< of values
  square_sum,    ///< of value^2 * weight
  minimum,
  maximum,
  running_mean,       ///< weighted
  square_deviations,  ///< of (value - mean)^2 * weight: needs running_mean
  first,
  last,
};
inline constexpr int k_moments = 9;
/// "weighted_sum".
const char* name_of(Moment moment);

/// A set of moments.
class Moments {
 public:
  bool has(Moment m) const { return (bits_ >> static_cast<unsigned>(m) & 1) != 0; }
  void add(Moment m) { bits_ |= 1U << static_cast<unsigned>(m); }
  void add(const Moments& others) { bits_ |= others.bits_; }
  int count() const { return std::popcount(bits_); }
  friend bool operator==(const Moments&, const Moments&) = default;

 private:
  unsigned bits_ = 0;
};
/// Those that the operation needs. Of instant: none.
Moments moments_of(Operation operation);

/// The state of one window (of a bin of the day, of a part of the year): plain data, which checkpoints save.
struct WindowState {
  Window window;            ///< of climatologies: from the first to the last that is in it
  Instant since, until;     ///< start of the first step, end of the last
  std::int64_t weight = 0;  ///< of all steps, microseconds
  std::int64_t steps = 0;
  std::optional<Instant> hole;  ///< end of the first step in which the field was not sent
  /// [part cells], all of these: as nothing came yet for masked cells. Those of other cells mean something
  /// once there are steps.
  std::array<std::vector<double>, k_moments> moments;
  /// In place of the doubles of minimum and maximum, where the field and all arrays of the window are floats.
  std::array<std::vector<float>, 2> float_extremes;
  bool has_floats = false;
  /// Of moments that are kept in the field's type, as its bits.
  std::array<std::vector<std::int64_t>, k_moments> whole;
  std::vector<std::int64_t> cell_weights;  ///< of values that were not missing; where some may be
  std::vector<std::int64_t> cell_counts;   ///< the same, for count

  bool begun() const { return steps > 0 || hole.has_value(); }
  std::vector<double>& of(Moment m) { return nth(moments, m); }
  const std::vector<double>& of(Moment m) const { return nth(moments, m); }
  std::vector<std::int64_t>& whole_of(Moment m) { return nth(whole, m); }
  const std::vector<std::int64_t>& whole_of(Moment m) const { return nth(whole, m); }
  std::vector<float>& floats_of(Moment m) { return float_extremes[m == Moment::minimum ? 0 : 1]; }
  const std::vector<float>& floats_of(Moment m) const { return float_extremes[m == Moment::minimum ? 0 : 1]; }
};

/// Joins the values of one field over time, for one part of its cells and one kind of windows, for all
/// operations that files want of it. One pass over the cells for all of them. Local.
class Accumulator {
 public:
  /// type: of the field. missing: the value of cells that do not count (is_missing()). bins: parts of the
  /// day, each with a state of its own; slots: parts of the year. One of the two may be more than 1.
  Accumulator(std::shared_ptr<const Part> part, Type type, std::optional<double> missing, int bins,
              int slots);
  void need(Operation operation);
  /// Those that are needed, in their own order, each once.
  const std::vector<Operation>& operations() const { return operations_; }

  const Part& part() const { return *part_; }
  const std::shared_ptr<const Part>& shared_part() const { return part_; }
  const std::optional<double>& missing() const { return missing_; }
  Type type() const { return type_; }
  const Moments& moments() const { return moments_; }
  /// First, last, lowest and highest of whole numbers of 8 bytes, which doubles would round, are kept apart
  /// (whole_numbers.cpp).
  const Moments& whole_moments() const { return whole_; }
  bool is_whole(Operation operation) const { return keeps_whole(type_, operation); }
  bool counts_cells() const { return missing_.has_value(); }
  bool counts_values() const { return wants_counts_; }  ///< cell by cell
  int states() const { return static_cast<int>(states_.size()); }
  WindowState& state(int i) { return nth(states_, i); }
  const WindowState& state(int i) const { return nth(states_, i); }
  /// Had one of them a step? The same on all ranks.
  bool begun() const;

  /// A step of the window: own are this rank's cells (own_cells()). Error(range): a value does not fit the
  /// field's type, of an operation that is_whole().
  void add(const ArrayView& own, const Step& step, const Window& window, int state);
  /// The field was not sent in the step.
  void add_hole(const Step& step, const Window& window, int state);
  /// The values of an operation in n part cells from `first` on; fill in cells without a value that counts.
  void result(Operation operation, int state, double fill, std::int64_t first, std::int64_t n,
              double* out) const;
  /// The same in the field's type, as its bits, of an operation that is_whole() and no range.
  void whole_result(Operation operation, int state, double fill, std::int64_t first, std::int64_t n,
                    std::int64_t* out) const;
  /// Has the part cell a value? (It may be masked.)
  bool has_value(int state, std::int64_t cell) const;
  /// No step came.
  void reset(int state);
  /// All moments of a state are arrays of doubles; those that it does not have are as nothing came yet.
  void make_doubles(WindowState& state) const;
  /// Of memory, at most: when all states are in use, and extremes are doubles.
  std::int64_t bytes() const;

 private:
  static bool keeps_whole(Type type, Operation operation);
  static std::int64_t whole_start_of(Moment moment, Type type);
  void add_whole(const ArrayView& own, WindowState& state) const;
  void whole_as_doubles(Operation operation, int state, double fill, std::int64_t first, std::int64_t n,
                        double* out) const;
  void begin_step(const Step& step, const Window& window, WindowState& state) const;
  void allocate(WindowState& state) const;
  /// Cells `at` and behind it have no values.
  void begin_cells(WindowState& state, std::int64_t n, std::int64_t at) const;
  template <class X>
  void add_cells(WindowState& state, const X* x, std::int64_t n, std::int64_t at, std::int64_t weight,
                 Type of_array) const;
  template <class X, class Skip>
  void add_cells(WindowState& state, const X* x, std::int64_t n, std::int64_t at, std::int64_t weight,
                 const Skip& skip) const;

  std::shared_ptr<const Part> part_;
  Type type_;
  std::optional<double> missing_;
  Moments moments_, whole_;
  bool wants_counts_ = false;
  std::vector<Operation> operations_;
  std::vector<WindowState> states_;
};

/// Of values that do not fit the field's type.
Error range_error(const ConversionErrors& errors, Type type);

/// The values of one step, as they are: of the field's type.
class KeptValues {
 public:
  /// fill: what cells with the missing value are to have; the type holds it.
  KeptValues(std::shared_ptr<const Part> part, Type type, std::optional<double> missing, double fill)
      : part_(std::move(part)), type_(type), missing_(missing), fill_(fill) {}
  const Part& part() const { return *part_; }
  Type type() const { return type_; }
  double fill() const { return fill_; }
  /// Error(range): a value does not fit the type.
  void keep(const ArrayView& own);
  /// n of them from part cell `first` on; after keep().
  void as_doubles(std::int64_t first, std::int64_t n, double* out) const;
  /// [local_shape() of the part]; after keep().
  ArrayView view() { return ArrayView::contiguous(values_.data(), type_, part_->local_shape()); }
  std::int64_t bytes() const { return part_->cells() * static_cast<std::int64_t>(size_of(type_)); }

 private:
  std::shared_ptr<const Part> part_;
  Type type_;
  std::optional<double> missing_;
  double fill_;
  Bytes values_;
};

}  // namespace shoal::streams
