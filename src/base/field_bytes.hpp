// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>
#include <vector>

#include "base/bytes.hpp"

namespace shoal {

/// Plain values, texts and vectors as bytes, and back.
template <class... Values>
Bytes bytes_of_values(const Values&... values) {
  ByteWriter out;
  (out.put(values), ...);
  return out.take();
}
template <class... Values>
void get_values(const Bytes& bytes, Values&... values) {
  ByteReader in(bytes);
  (in.get(values), ...);
}

// Fields of a struct as bytes, which one function names for both directions:
//
//   template <class Io, class Thing>
//   void visit_thing(Io& io, Thing& thing) {
//     io(thing.name, thing.count);
//     io.each(thing.parts, [](auto& io, auto& part) { io(part.first, part.last); });
//   }

/// To a ByteWriter.
class FieldWriter {
 public:
  explicit FieldWriter(ByteWriter& out) : out_(out) {}
  template <class... Fields>
  void operator()(const Fields&... fields) {
    (put(fields), ...);
  }
  template <class Items, class Visit>
  void each(const Items& items, Visit&& visit) {
    out_.put(static_cast<std::uint64_t>(items.size()));
    for (const auto& item : items)
      visit(*this, item);
  }

 private:
  template <class Field>
  void put(const Field& field) {
    if constexpr (std::is_base_of_v<std::vector<bool>, Field>)
      out_.put(std::vector<char>(field.begin(), field.end()));
    else
      out_.put(field);
  }
  ByteWriter& out_;
};

/// From a ByteReader. Error(internal): it has too few bytes.
class FieldReader {
 public:
  explicit FieldReader(ByteReader& in) : in_(in) {}
  template <class... Fields>
  void operator()(Fields&... fields) {
    (get(fields), ...);
  }
  template <class Items, class Visit>
  void each(Items& items, Visit&& visit) {
    items.resize(in_.length(1));
    for (auto& item : items)
      visit(*this, item);
  }

 private:
  template <class Field>
  void get(Field& field) {
    if constexpr (std::is_base_of_v<std::vector<bool>, Field>) {
      const auto chars = in_.get<std::vector<char>>();
      field.assign(chars.begin(), chars.end());
    } else {
      in_.get(field);
    }
  }
  ByteReader& in_;
};

}  // namespace shoal
