// SPDX-License-Identifier: BSD-3-Clause
//
// What shoal.hpp builds on, and includes: errors as exceptions, and arrays of the caller.
#ifndef SHOAL_ARRAYS_HPP
#define SHOAL_ARRAYS_HPP

#include <shoal/shoal.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>
#if __has_include(<version>)
#include <version>
#endif
#if defined(__cpp_lib_span)
#include <span>
#endif

namespace shoal {
inline namespace api {

// ---- Constants of shoal.h, as types ----------------------------------------------------------

/// Error codes; docs/errors.md says of each what to do.
enum class Code : int {
  ok = SHOAL_OK,
  invalid_argument = SHOAL_INVALID_ARGUMENT,
  not_found = SHOAL_NOT_FOUND,
  exists = SHOAL_EXISTS,
  permission = SHOAL_PERMISSION,
  no_space = SHOAL_NO_SPACE,
  io = SHOAL_IO,
  format = SHOAL_FORMAT,
  range = SHOAL_RANGE,
  type = SHOAL_TYPE,
  not_supported = SHOAL_NOT_SUPPORTED,
  overlap = SHOAL_OVERLAP,
  out_of_step = SHOAL_OUT_OF_STEP,
  timeout = SHOAL_TIMEOUT,
  setting = SHOAL_SETTING,
  state = SHOAL_STATE,
  no_memory = SHOAL_NO_MEMORY,
  mpi = SHOAL_MPI,
  internal = SHOAL_INTERNAL,
};

/// Element types. An underscore ends what is a word of C++ already.
enum class Type : int {
  byte = SHOAL_BYTE,
  char_ = SHOAL_CHAR,
  short_ = SHOAL_SHORT,
  int_ = SHOAL_INT,
  float_ = SHOAL_FLOAT,
  double_ = SHOAL_DOUBLE,
  ubyte = SHOAL_UBYTE,
  ushort = SHOAL_USHORT,
  uint = SHOAL_UINT,
  int64 = SHOAL_INT64,
  uint64 = SHOAL_UINT64,
  string = SHOAL_STRING,
  logical = SHOAL_LOGICAL,
};

/// How a file is opened. write: read, change and append; append: as write, and makes a file that does not exist.
enum class Mode : int { read = SHOAL_READ, write = SHOAL_WRITE, append = SHOAL_APPEND };

// ---- Errors ---------------------------------------------------------------------------------

/// What every failure throws: the code (Code::range, ...) and the message that says what failed,
/// where, and what to do.
class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& message, int rank = -1, std::string file = {},
        std::string variable = {})
      : std::runtime_error(message),
        code_(code),
        rank_(rank),
        file_(std::move(file)),
        variable_(std::move(variable)) {}
  /// What kind of failure. Local.
  Code code() const noexcept { return code_; }
  /// The name of the code, "SHOAL_RANGE". Local.
  const char* name() const noexcept { return shoal_error_name(static_cast<int>(code_)); }
  /// The rank that failed, -1: none or not known. Local.
  int rank() const noexcept { return rank_; }
  /// The path of the file, "": none or not known. Local.
  const std::string& file() const noexcept { return file_; }
  /// The name of the variable, "": none or not known. Local.
  const std::string& variable() const noexcept { return variable_; }

 private:
  Code code_;
  int rank_;
  std::string file_, variable_;
};

namespace detail {

/// The last error of this thread, as this code.
inline Error last_error(Code code) {
  return Error(code, shoal_error_message(), shoal_error_rank(), shoal_error_file(), shoal_error_variable());
}

inline void check(int code) {
  if (code != SHOAL_OK) throw last_error(static_cast<Code>(code));
}

/// Read back as the same number.
inline std::string text_of_number(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", number);
  return text;
}

/// For C, whose text ends with a zero byte. One that has a zero byte before its end becomes one that C
/// refuses, as do the ranks that wait for this one in a collective call.
inline const char* text(const std::string& text) {
  return text.find('\0') == std::string::npos ? text.c_str() : "\x01";
}

/// As shoal_def_var takes them: in double quotes where it is needed.
inline std::string text_of_names(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) {
    if (!text.empty()) text += ' ';
    if (!name.empty() && name[0] != '"' && name.find_first_of(" \t\r\n,") == std::string::npos) {
      text += name;
      continue;
    }
    text += '"';
    for (const char c : name) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += '"';
  }
  return text;
}

inline std::vector<const char*> pointers_of(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const auto& one : texts)
    pointers.push_back(text(one));
  return pointers;
}

[[noreturn]] inline void refuse(const std::string& message) {
  throw Error(Code::invalid_argument, message);
}

template <class T>
constexpr Type integer_type() {
  constexpr bool is_signed = std::is_signed_v<T>;
  if constexpr (sizeof(T) == 1) return is_signed ? Type::byte : Type::ubyte;
  if constexpr (sizeof(T) == 2) return is_signed ? Type::short_ : Type::ushort;
  if constexpr (sizeof(T) == 4) return is_signed ? Type::int_ : Type::uint;
  if constexpr (sizeof(T) == 8) return is_signed ? Type::int64 : Type::uint64;
}

template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, bool>)
    return Type::logical;
  else if constexpr (std::is_same_v<T, char>)
    return Type::char_;
  else if constexpr (std::is_same_v<T, float>)
    return Type::float_;
  else if constexpr (std::is_same_v<T, double>)
    return Type::double_;
  else if constexpr (std::is_same_v<T, const char*> || std::is_same_v<T, char*>)
    return Type::string;
  else {
    static_assert(std::is_integral_v<T> && sizeof(T) <= 8,
                  "Shoal takes bool, char, integers up to 64 bits, float, double and const char*");
    return integer_type<T>();
  }
}

}  // namespace detail

/// The Type of a C++ type: type_of<float> is Type::float_. bool is Type::logical, char is text, signed char
/// is Type::byte, const char* is Type::string.
template <class T>
inline constexpr Type type_of = detail::type_of<std::remove_cv_t<T>>();

// ---- Arrays of the caller -------------------------------------------------------------------

/// An array in the caller's memory: pointer, type, extents and byte strides. Never owns.
/// Pointer is `void*` for arrays that Shoal fills, `const void*` for those that it only reads.
template <class Pointer>
class BasicArray {
 public:
  using Shape = std::array<std::int64_t, SHOAL_MAX_DIMS>;

  /// Any type. element_size: bytes; 0 is the size of the type. strides: bytes; empty is contiguous.
  BasicArray(Pointer data, Type type, std::size_t element_size, const std::vector<std::int64_t>& extents,
             const std::vector<std::int64_t>& strides = {})
      : data_(data), type_(type), element_size_(element_size) {
    set_shape(extents.data(), extents.size(), strides.data(), strides.size());
  }

  /// From a pointer to the element with all indices 0; `{}` as extents is one value.
  template <class T, class = std::enable_if_t<std::is_convertible_v<T*, Pointer> && !std::is_void_v<T>>>
  BasicArray(T* data, std::initializer_list<std::int64_t> extents,
             std::initializer_list<std::int64_t> strides = {})
      : data_(data), type_(type_of<T>), element_size_(sizeof(T)) {
    set_shape(extents.begin(), extents.size(), strides.begin(), strides.size());
  }
  template <class T, class = std::enable_if_t<std::is_convertible_v<T*, Pointer> && !std::is_void_v<T>>>
  BasicArray(T* data, const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides = {})
      : BasicArray(data, type_of<T>, sizeof(T), extents, strides) {}

  /// A vector as an array of one dimension.
  template <class T, class = std::enable_if_t<!std::is_same_v<T, bool>>>
  BasicArray(std::vector<T>& values)
      : BasicArray(values.data(), {static_cast<std::int64_t>(values.size())}) {}
  template <class T, class P = Pointer,
            class = std::enable_if_t<!std::is_same_v<T, bool> && std::is_same_v<P, const void*>>>
  BasicArray(const std::vector<T>& values)
      : BasicArray(values.data(), {static_cast<std::int64_t>(values.size())}) {}
#if defined(__cpp_lib_span)
  /// A span as an array of one dimension.
  template <class T, std::size_t N, class = std::enable_if_t<std::is_convertible_v<T*, Pointer>>>
  BasicArray(std::span<T, N> values)
      : BasicArray(values.data(), {static_cast<std::int64_t>(values.size())}) {}
#endif

  /// An array that Shoal may fill is also one that it may read.
  template <class Q,
            class = std::enable_if_t<std::is_same_v<Q, void*> && std::is_same_v<Pointer, const void*>>>
  BasicArray(const BasicArray<Q>& other)
      : data_(other.data_),
        type_(other.type_),
        element_size_(other.element_size_),
        ndims_(other.ndims_),
        has_strides_(other.has_strides_),
        extents_(other.extents_),
        strides_(other.strides_) {}

  /// What shoal.h takes; lives as long as this object.
  shoal_array c_array() const noexcept {
    return {sizeof(shoal_array),
            const_cast<void*>(static_cast<const void*>(data_)),
            static_cast<int>(type_),
            element_size_,
            ndims_,
            extents_.data(),
            has_strides_ ? strides_.data() : nullptr};
  }

 private:
  template <class>
  friend class BasicArray;

  void set_shape(const std::int64_t* extents, std::size_t ndims, const std::int64_t* strides,
                 std::size_t stride_count) {
    if (ndims > SHOAL_MAX_DIMS)
      detail::refuse("An array has " + std::to_string(ndims) + " dimensions; at most " +
                     std::to_string(SHOAL_MAX_DIMS) + " are possible.");
    if (stride_count != 0 && stride_count != ndims)
      detail::refuse("An array has " + std::to_string(ndims) + " extents but " +
                     std::to_string(stride_count) +
                     " strides; give one stride (bytes) for each extent, or none.");
    ndims_ = static_cast<int>(ndims);
    has_strides_ = stride_count != 0;
    for (std::size_t i = 0; i < ndims; ++i) {
      extents_[i] = extents[i];
      if (has_strides_) strides_[i] = strides[i];
    }
  }

  Pointer data_;
  Type type_;
  std::size_t element_size_;
  int ndims_ = 0;
  bool has_strides_ = false;
  Shape extents_{};
  Shape strides_{};
};

/// An array that Shoal fills (read, get).
using Array = BasicArray<void*>;
/// An array that Shoal only reads (write, put).
using ConstArray = BasicArray<const void*>;

/// One value as an array without dimensions.
template <class T>
Array scalar(T& value) {
  return Array(&value, std::initializer_list<std::int64_t>{});
}
template <class T>
ConstArray scalar(const T& value) {
  return ConstArray(&value, std::initializer_list<std::int64_t>{});
}

}  // namespace api
}  // namespace shoal

#endif
