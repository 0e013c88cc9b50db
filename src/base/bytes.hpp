// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace shoal {

using Bytes = std::vector<std::byte>;
class ByteWriter;
class ByteReader;

static_assert(sizeof(std::size_t) == sizeof(std::uint64_t), "sizes in files are sizes in memory");

/// A value that says itself what of it is packed: pack(writer), unpack(reader).
template <class T>
concept PacksItself = requires(T& value, const T& packed, ByteWriter& out, ByteReader& in) {
  packed.pack(out);
  value.unpack(in);
};

/// Packs plain values into bytes that another rank of the same job unpacks with ByteReader.
class ByteWriter {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) {
    if (sizeof(T) > bytes_.size() - size_) grow(sizeof(T));
    std::memcpy(bytes_.data() + size_, &value, sizeof(T));
    size_ += sizeof(T);
  }
  template <PacksItself T>
  void put(const T& value) {
    value.pack(*this);
  }
  template <PacksItself T>
  void put(const std::vector<T>& values) {
    put(static_cast<std::uint64_t>(values.size()));
    for (const T& value : values)
      value.pack(*this);
  }
  void put(const std::string& text) { put_range(text.data(), text.size()); }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(const std::vector<T>& values) { put_range(values.data(), values.size()); }
  void put(const std::vector<std::string>& texts) {
    put(static_cast<std::uint64_t>(texts.size()));
    for (const auto& t : texts)
      put(t);
  }
  Bytes take() {
    bytes_.resize(std::exchange(size_, 0));
    return std::exchange(bytes_, {});
  }

 private:
  template <class T>
  void put_range(const T* values, std::size_t n) {
    put(static_cast<std::uint64_t>(n));
    append(values, n * sizeof(T));
  }
  void append(const void* from, std::size_t n) {
    constexpr std::size_t k_many = 4096;
    if (n > k_many) {  // room for more would be filled in vain
      const auto* const p = static_cast<const std::byte*>(from);
      bytes_.resize(size_);
      bytes_.insert(bytes_.end(), p, p + n);
    } else if (n > 0) {
      if (n > bytes_.size() - size_) grow(n);
      std::memcpy(bytes_.data() + size_, from, n);
    }
    size_ += n;
  }
  void grow(std::size_t n) {
    constexpr std::size_t k_first = 256;
    bytes_.resize(std::max(k_first, 2 * bytes_.size()) + n);
  }
  Bytes bytes_;  // and room behind them, so that small values are copied in place
  std::size_t size_ = 0;
};

class ByteReader {
 public:
  explicit ByteReader(const Bytes& bytes) : bytes_(bytes) {}

  template <class T>
  requires(std::is_trivially_copyable_v<T> || std::is_same_v<T, std::string>) void get(T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      value.resize(length(1));
      copy(value.data(), value.size());
    } else {
      copy(&value, sizeof(T));
    }
  }
  template <PacksItself T>
  void get(T& value) {
    value.unpack(*this);
  }
  template <class T>
  void get(std::vector<T>& values) {
    if constexpr (std::is_same_v<T, std::string> || PacksItself<T>) {
      values.resize(length(1));
      for (auto& v : values)
        get(v);
    } else {
      values.resize(length(sizeof(T)));
      copy(values.data(), values.size() * sizeof(T));
    }
  }
  template <class T>
  T get() {
    T value{};
    get(value);
    return value;
  }

  /// A number of elements that follow, of at least so many bytes each.
  std::size_t length(std::size_t element) {
    std::uint64_t n = 0;
    copy(&n, sizeof n);
    if (n > (bytes_.size() - at_) / element)
      throw Error(Code::internal, "message between ranks is too short");
    return n;
  }

 private:
  void copy(void* to, std::size_t n) {
    if (n > bytes_.size() - at_) throw Error(Code::internal, "message between ranks is too short");
    if (n > 0) std::memcpy(to, bytes_.data() + at_, n);
    at_ += n;
  }
  const Bytes& bytes_;
  std::size_t at_ = 0;
};

}  // namespace shoal
