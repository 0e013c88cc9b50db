// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "base/bytes.hpp"

namespace shoal {

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
    out_.put(field);
  }
  void put(const std::vector<bool>& field) { out_.put(std::vector<char>(field.begin(), field.end())); }
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
    in_.get(field);
  }
  void get(std::vector<bool>& field) {
    std::vector<char> chars;
    in_.get(chars);
    field.assign(chars.begin(), chars.end());
  }
  ByteReader& in_;
};

}  // namespace shoal
