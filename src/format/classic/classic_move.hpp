// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "format/classic/layout.hpp"
#include "storage/store.hpp"

namespace shoal {

/// How the data of a classic file come to other places in a new file: for definitions that have no place
/// beside them. The new file has these definitions; new variables are filled, unless they are no_fill. Any
/// part of the new file can be written by any rank. The same on all ranks, once packed and unpacked.
class ClassicMove {
 public:
  /// Of a file that is committed: to one with these definitions and free space for as many again, but not
  /// less than header_reserve. Errors as of Catalog::define.
  static ClassicMove planned(Store& file, const Schema& wanted, const CatalogOptions& options);
  explicit ClassicMove(ByteReader& in);
  void pack(ByteWriter& out) const;

  /// Of the new file, from its first byte on.
  const Bytes& header() const { return header_; }
  /// The new file's data lie from the one byte to before the other.
  std::int64_t begin() const { return begin_; }
  std::int64_t end() const { return end_; }
  /// Bytes of the old file that are copied.
  std::int64_t bytes() const { return bytes_; }

  /// Writes the data of the new file, which is empty there, from one byte to before another, in pieces of a
  /// megabyte; that much memory. Zeros are not written. Local.
  void copy(Store& from, Store& to, std::int64_t begin, std::int64_t end) const;

 private:
  /// A whole variable, or one record of it: bytes at a place of the old file, and fill up to the padded end.
  struct Slab {
    std::int64_t to = 0, from = -1;  ///< of records: in the first one; -1: a new variable
    std::int64_t bytes = 0, padded = 0;
    std::array<std::byte, 8> fill{};
    std::int64_t fill_bytes = 1;
  };
  class Source;
  struct Piece;
  /// in_file, old: what is in the file of so many bytes; wanted, made: what is to be, with as many records.
  ClassicMove(const Schema& in_file, const ClassicLayout& old, std::int64_t bytes_in_file,
              const Schema& wanted, const ClassicLayout& made);
  template <class Io, class Move>
  static void visit(Io&& io, Move& move);
  void join_records();
  template <class Visit>
  void for_each_slab(std::int64_t begin, std::int64_t end, Visit&& visit) const;
  static void make(const Slab& slab, std::int64_t to, std::int64_t from, Source& source, Piece& piece);

  Bytes header_;
  std::int64_t begin_ = 0, end_ = 0, bytes_ = 0;
  std::int64_t records_ = 0, record_begin_ = 0;
  std::int64_t old_stride_ = 0, new_stride_ = 0;
  std::vector<Slab> fixed_, of_record_;  ///< in the order of the new file
};

}  // namespace shoal
