// SPDX-License-Identifier: BSD-3-Clause
#include "codec/packing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/text.hpp"
#include "codec/isa.hpp"

namespace shoal {

namespace {

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();
/// Added to a number below 2^51 and taken away again, it leaves the nearest whole one, ties to even.
constexpr double k_rounds = 6755399441055744.0;  // 1.5 * 2^52

/// Whole numbers in the order of the numbers, with NaNs at both ends. Comparing them raises no floating-point
/// exception, which models often turn into a stop.
[[gnu::always_inline]] inline std::int64_t order_key(double value) {
  const auto bits = std::bit_cast<std::int64_t>(value);
  return bits ^ static_cast<std::int64_t>(static_cast<std::uint64_t>(bits >> 63) >> 1);
}

struct PackLoop {
  struct Numbers {
    double scale_factor, add_offset, low, high, fill;
    std::int64_t least_key, greatest_key;
  };
  /// 0: all fit.
  [[gnu::always_inline]] static inline std::uint64_t run(const double* __restrict values,
                                                         double* __restrict packed, std::int64_t n,
                                                         const Numbers* given) {
    const Numbers numbers = *given;
    const auto fill = std::bit_cast<std::uint64_t>(numbers.fill);
    const auto instead = std::bit_cast<std::uint64_t>(numbers.add_offset);
    std::uint64_t any_error = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t key = order_key(values[i]);
      const std::uint64_t near = -static_cast<std::uint64_t>(static_cast<int>(key >= numbers.least_key) &
                                                             static_cast<int>(key <= numbers.greatest_key));
      const auto value =
          std::bit_cast<double>((std::bit_cast<std::uint64_t>(values[i]) & near) | (instead & ~near));
      const double exact = (value - numbers.add_offset) / numbers.scale_factor;
      const double nearest = (exact + k_rounds) - k_rounds;
      const std::uint64_t fits =
          near & -static_cast<std::uint64_t>(static_cast<int>(nearest >= numbers.low) &
                                             static_cast<int>(nearest <= numbers.high));
      packed[i] = std::bit_cast<double>((std::bit_cast<std::uint64_t>(nearest) & fits) | (fill & ~fits));
      any_error |= ~fits;
    }
    return any_error;
  }
};

struct UnpackLoop {
  [[gnu::always_inline]] static inline void run(double* values, std::int64_t n, const Packing* given,
                                                const std::array<double, Packer::k_most_missing>* of) {
    const Packing packing = *given;
    const auto reserved = *of;
    for (std::int64_t i = 0; i < n; ++i) {
      const double packed = values[i];
      bool missing = false;
      for (const double number : reserved)
        missing |= packed == number;
      const double value = packed * packing.scale_factor + packing.add_offset;
      values[i] = missing ? k_nan : value;
    }
  }
};

std::pair<double, double> numbers_of(Type type) {
  return with_number(type, [](auto number) -> std::pair<double, double> {
    using Limits = std::numeric_limits<decltype(number)>;
    return {static_cast<double>(Limits::lowest()), static_cast<double>(Limits::max())};
  });
}

// "short(-2, 35)" in parts; nothing: it is not of the form.
std::optional<PackRequest> range_request(const std::string& text) {
  const std::size_t open = text.find('('), comma = text.find(',');
  if (open == std::string::npos || comma == std::string::npos || comma < open || text.back() != ')')
    return std::nullopt;
  const auto number = [](const std::string& word) -> std::optional<double> {
    double value = 0;
    const char* const end = word.data() + word.size();
    const auto [read, error] = std::from_chars(word.data(), end, value);
    if (error != std::errc() || read != end || !std::isfinite(value)) return std::nullopt;
    return value;
  };
  const auto least = number(trimmed(text.substr(open + 1, comma - open - 1)));
  const auto most = number(trimmed(text.substr(comma + 1, text.size() - comma - 2)));
  Type type = Type::none;
  if (!caught([&] { type = type_of(trimmed(text.substr(0, open))); }).ok()) return std::nullopt;
  if (!least || !most || !(*least < *most) || !packs_into(type)) return std::nullopt;
  if (!std::isfinite(2 * (*most - *least))) return std::nullopt;
  return PackRequest{PackRequest::Kind::range, type, *least, *most};
}

}  // namespace

bool packs_into(Type type) {
  switch (type) {
    case Type::byte_:
    case Type::ubyte:
    case Type::short_:
    case Type::ushort:
    case Type::int_:
    case Type::uint:
      return true;
    default:
      return false;
  }
}

std::string text_of(const PackRequest& request) {
  switch (request.kind) {
    case PackRequest::Kind::none:
      return "none";
    case PackRequest::Kind::attributes:
      return "attributes";
    case PackRequest::Kind::range:
      return fmt::format("{}({}, {})", name_of(request.type), request.least, request.most);
  }
  return "none";
}

PackRequest pack_request_of(const std::string& given) {
  const std::string text = lower(trimmed(given));
  if (text == "none") return {};
  if (text == "attributes") return {PackRequest::Kind::attributes, Type::none, 0, 0};
  if (!text.empty())
    if (const auto request = range_request(text)) return *request;
  throw Error(
      Code::setting,
      "'{}' is no packing; allowed are none, attributes (as scale_factor and add_offset of the "
      "variable say), and a whole-number type of up to 4 bytes with the least and the greatest value, "
      "as in short(-2, 35)",
      given);
}

void OutOfRange::add(const OutOfRange& more) {
  if (more.count == 0) return;
  lowest = count == 0 ? more.lowest : std::min(lowest, more.lowest);
  highest = count == 0 ? more.highest : std::max(highest, more.highest);
  count += more.count;
}

std::string text_of(const OutOfRange& values) {
  const std::string which = values.count == 1 ? fmt::format("1 value, {:.6g}, is", values.lowest)
                                              : fmt::format("{} values, from {:.6g} to {:.6g}, are",
                                                            values.count, values.lowest, values.highest);
  return which + " out of the range that is packed; the file has the fill value there";
}

Packer::Packer(Type type, double fill, const Packing& packing) : type_(type), packing_(packing) {
  if (!packs_into(type))
    throw Error(Code::type, "values cannot be packed as {}; whole numbers of 1, 2 and 4 bytes can be packed",
                name_of(type));
  reserved_.fill(fill);
  find_range();
}

void Packer::find_range() {
  const auto [first, last] = numbers_of(type_);
  low_ = first, high_ = last;
  for (const double number : reserved_) {
    if (number <= first + 1) low_ = std::max(low_, number + 1);
    if (number >= last - 1) high_ = std::min(high_, number - 1);
  }
  has_gaps_ = std::any_of(reserved_.begin(), reserved_.end(),
                          [&](double number) { return number >= low_ && number <= high_; });
  const double a = (low_ - 1) * packing_.scale_factor + packing_.add_offset;
  const double b = (high_ + 1) * packing_.scale_factor + packing_.add_offset;
  if (!std::isfinite(a) || !std::isfinite(b) || packing_.scale_factor == 0)
    throw Error(
        Code::invalid_argument,
        "nothing can be packed with scale_factor {} and add_offset {}; they must be finite numbers, and "
        "scale_factor not 0",
        packing_.scale_factor, packing_.add_offset);
  least_key_ = order_key(std::min(a, b));
  greatest_key_ = order_key(std::max(a, b));
}

Packing Packer::packing_of(Type type, double fill, double least, double most) {
  const auto [low, high] = Packer(type, fill, {}).packed_range();
  const double scale_factor = (most - least) / (high - low);
  return {scale_factor, least - low * scale_factor};
}

void Packer::set_missing(const std::vector<double>& packed) {
  if (packed.size() >= k_most_missing)
    throw Error(Code::not_supported, "{} packed numbers stand for missing values; up to {} are allowed",
                packed.size(), k_most_missing - 1);
  std::copy(packed.begin(), packed.end(), reserved_.begin() + 1);
  find_range();
}

// Compares as float too: arrays of either kind have the value that a program gave in one.
bool Packer::is_missing(double value) const {
  constexpr double k_most = std::numeric_limits<float>::max();
  const auto as_float = [&](double number) {
    return std::abs(number) <= k_most ? static_cast<double>(static_cast<float>(number)) : number;
  };
  return std::isnan(value) ||
         std::any_of(missing_values_.begin(), missing_values_.end(), [&](double missing) {
           return value == missing || as_float(value) == as_float(missing);
         });
}

bool Packer::has_number_for(double value) const {
  Packer alone = *this;
  alone.missing_values_.clear();
  alone.counted_ = nullptr;
  return !std::isnan(value) && alone.pack(&value, 1).count == 0;
}

ConversionErrors Packer::pack(const double* values, double* packed, std::int64_t n) const {
  const PackLoop::Numbers numbers{packing_.scale_factor, packing_.add_offset, low_,         high_,
                                  reserved_[0],          least_key_,          greatest_key_};
  bool all_fit = run_best<PackLoop>(values, packed, n, &numbers) == 0;
  for (std::int64_t i = 0; has_gaps_ && i < n; ++i)
    if (std::find(reserved_.begin(), reserved_.end(), packed[i]) != reserved_.end())
      packed[i] = reserved_[0], all_fit = false;
  return all_fit ? ConversionErrors() : note_errors(values, packed, n);
}

ConversionErrors Packer::pack(double* values, std::int64_t n) const {
  constexpr std::int64_t k_block = 512;  // values that stay in the first-level cache
  std::array<double, k_block> block;
  ConversionErrors errors;
  for (std::int64_t at = 0; at < n; at += k_block) {
    const std::int64_t m = std::min(k_block, n - at);
    std::copy_n(values + at, m, block.begin());
    errors.merge(pack(block.data(), values + at, m), at);
  }
  return errors;
}

ConversionErrors Packer::note_errors(const double* values, const double* packed, std::int64_t n) const {
  ConversionErrors errors;
  OutOfRange outside;
  for (std::int64_t i = 0; i < n; ++i) {
    if (packed[i] != reserved_[0] || is_missing(values[i])) continue;
    outside.add({1, values[i], values[i]});
    if (errors.count++ == 0) errors.first = i;
  }
  if (counted_ == nullptr) return errors;
  counted_->add(outside);
  return {};
}

void Packer::unpack(double* values, std::int64_t n) const {
  auto missing = reserved_;
  if (reads_fill_) std::replace(missing.begin(), missing.end(), reserved_[0], k_nan);
  run_best<UnpackLoop>(values, n, &packing_, &missing);
}

std::pair<double, double> Packer::range() const {
  const double a = low_ * packing_.scale_factor + packing_.add_offset,
               b = high_ * packing_.scale_factor + packing_.add_offset;
  return {std::min(a, b), std::max(a, b)};
}

std::string Packer::range_text() const {
  const auto [least, most] = range();
  return fmt::format("{:.9g} to {:.9g}", least, most);
}

}  // namespace shoal
