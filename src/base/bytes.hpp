// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.hpp"

namespace shoal {

using Bytes = std::vector<std::byte>;

/// Packs plain values into bytes that another rank of the same job unpacks with ByteReader.
class ByteWriter {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) {
    const auto* p = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), p, p + sizeof(T));
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
  Bytes take() { return std::move(bytes_); }

 private:
  template <class T>
  void put_range(const T* values, std::size_t n) {
    put(static_cast<std::uint64_t>(n));
    const auto* p = reinterpret_cast<const std::byte*>(values);
    bytes_.insert(bytes_.end(), p, p + n * sizeof(T));
  }
  Bytes bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(const Bytes& bytes) : bytes_(bytes) {}

  template <class T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      value.resize(length(1));
      copy(value.data(), value.size());
    } else {
      static_assert(std::is_trivially_copyable_v<T>);
      copy(&value, sizeof(T));
    }
  }
  template <class T>
  void get(std::vector<T>& values) {
    if constexpr (std::is_same_v<T, std::string>) {
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

 private:
  std::size_t length(std::size_t element) {
    std::uint64_t n = 0;
    copy(&n, sizeof n);
    if (n > (bytes_.size() - at_) / element)
      throw Error(Code::internal, "message between ranks is too short");
    return static_cast<std::size_t>(n);
  }
  void copy(void* to, std::size_t n) {
    if (n > bytes_.size() - at_) throw Error(Code::internal, "message between ranks is too short");
    if (n > 0) std::memcpy(to, bytes_.data() + at_, n);
    at_ += n;
  }
  const Bytes& bytes_;
  std::size_t at_ = 0;
};

}  // namespace shoal
