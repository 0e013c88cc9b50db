// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/type.hpp"
#include "codec/element.hpp"

namespace shoal {

/// Values as whole numbers of a few bytes, as CF packs them: value = packed * scale_factor + add_offset.
struct Packing {
  double scale_factor = 1, add_offset = 0;
  bool operator==(const Packing&) const = default;
};

/// Has the type numbers to pack into: whole ones of 1, 2 or 4 bytes?
bool packs_into(Type type);

/// How a variable is to be packed.
struct PackRequest {
  enum class Kind {
    none,
    attributes,  ///< as its attributes scale_factor and add_offset say
    range        ///< into numbers of the type, for values from least to most
  };
  Kind kind = Kind::none;
  Type type = Type::none;
  double least = 0, most = 0;
  bool operator==(const PackRequest&) const = default;
};
/// "none", "attributes", "short(-2, 35)".
std::string text_of(const PackRequest& request);
/// What text_of gives. Error(setting) says what is allowed. Local.
PackRequest pack_request_of(const std::string& text);

/// Values that no packed number stands for, of one rank or of all.
struct OutOfRange {
  std::int64_t count = 0;
  double lowest = 0, highest = 0;  ///< of them, if there are some

  void add(const OutOfRange& more);
};
/// "12 values, from -3.5 to 40, are out of the range that is packed; the file has the fill value there".
std::string text_of(const OutOfRange& values);

/// Packs values of one variable, and unpacks them. NaN stands for no value: it is packed as the fill value,
/// and what is packed as that, or as one of the missing numbers, is NaN.
class Packer {
 public:
  static constexpr std::size_t k_most_missing = 4;

  /// type: one that packs_into. fill: a number of the type. All others stand for values, but for those that
  /// lie behind the fill value at an end of the type. Error(invalid_argument): numbers that cannot be.
  Packer(Type type, double fill, const Packing& packing);
  /// The packing by which least and most are the first and the last of the values that fit. fill: at an end
  /// of the type's numbers, or next to it.
  static Packing packing_of(Type type, double fill, double least, double most);

  /// Packed numbers that stand for no value, beside the fill value. Error(not_supported): too many.
  void set_missing(const std::vector<double>& packed);
  /// Values that stand for none, beside NaN, in float as well.
  void set_missing_values(std::vector<double> values) { missing_values_ = std::move(values); }
  /// In reading the fill value is a number as others are.
  void read_fill_as_number() { reads_fill_ = true; }
  /// Where values that do not fit are counted, which must stay; unless given, they are conversion errors.
  void count_in(OutOfRange* counted) { counted_ = counted; }

  /// n values to the nearest packed numbers, ties to even ones. Those that do not fit become the fill value,
  /// and conversion errors unless they are counted. The arrays must not overlap.
  ConversionErrors pack(const double* values, double* packed, std::int64_t n) const;
  /// The same where the values are.
  ConversionErrors pack(double* values, std::int64_t n) const;
  void unpack(double* values, std::int64_t n) const;

  bool has_number_for(double value) const;
  /// The first and the last packed number that stands for a value.
  std::pair<double, double> packed_range() const { return {low_, high_}; }
  /// The least and the greatest value that fits.
  std::pair<double, double> range() const;
  /// "-307.66 to 347.67".
  std::string range_text() const;

 private:
  void find_range();
  bool is_missing(double value) const;
  ConversionErrors note_errors(const double* values, const double* packed, std::int64_t n) const;

  Type type_;
  Packing packing_;
  std::array<double, k_most_missing> reserved_;  // packed numbers without a value: the fill value, ...
  double low_ = 0, high_ = 0;
  bool has_gaps_ = false;  // reserved numbers between them
  bool reads_fill_ = false;
  std::int64_t least_key_ = 0, greatest_key_ = 0;  // of values that are looked at
  std::vector<double> missing_values_;
  OutOfRange* counted_ = nullptr;
};

}  // namespace shoal
