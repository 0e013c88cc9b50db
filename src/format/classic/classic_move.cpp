// SPDX-License-Identifier: BSD-3-Clause
#include "format/classic/classic_move.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.hpp"
#include "base/field_bytes.hpp"
#include "format/classic/header.hpp"
#include "format/flat/fill.hpp"

namespace shoal {

namespace {

// So much is read and written at a time, and so much of the old file is kept for slabs that are small.
constexpr std::int64_t k_copy_bytes = std::int64_t{1} << 20;
constexpr std::int64_t k_small = std::int64_t{64} << 10;

bool is_zero(std::span<const std::byte> bytes) {
  return bytes.empty() ||
         (bytes[0] == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

}  // namespace

/// The old file, of which slabs that are small and near each other are read at once.
class ClassicMove::Source {
 public:
  explicit Source(Store& store) : store_(store) {}

  /// Bytes read; less than asked only at the end of the file.
  std::size_t read(std::int64_t offset, std::span<std::byte> bytes) {
    const auto n = static_cast<std::int64_t>(bytes.size());
    if (n >= k_small) return store_.read(static_cast<std::uint64_t>(offset), bytes);
    if (offset < begin_ || offset + n > begin_ + asked_) {
      const bool is_near = offset >= begin_ && offset <= begin_ + asked_ + k_small;
      asked_ = is_near ? k_copy_bytes : k_small;
      begin_ = offset;
      kept_.resize(static_cast<std::size_t>(asked_));
      kept_.resize(store_.read(static_cast<std::uint64_t>(offset), kept_));
    }
    const auto at = static_cast<std::size_t>(offset - begin_);
    if (at >= kept_.size()) return 0;
    const std::size_t there = std::min(bytes.size(), kept_.size() - at);
    std::copy_n(kept_.begin() + static_cast<std::ptrdiff_t>(at), there, bytes.begin());
    return there;
  }

 private:
  Store& store_;
  std::int64_t begin_ = 0, asked_ = 0;
  Bytes kept_;
};

/// Some bytes of the new file, and which of them are there.
struct ClassicMove::Piece {
  std::int64_t begin = 0;
  std::span<std::byte> bytes;
  std::int64_t run_begin = 0, run_end = 0;

  std::int64_t end() const { return begin + static_cast<std::int64_t>(bytes.size()); }
  /// The part of the piece from one byte of the file to before another; they need not be in it.
  std::span<std::byte> part(std::int64_t from, std::int64_t to) const {
    from = std::max(from, begin);
    to = std::min(to, end());
    if (from >= to) return {};
    return bytes.subspan(static_cast<std::size_t>(from - begin), static_cast<std::size_t>(to - from));
  }
};

// Whether all data are there is not looked at: the end of a file that is being made may not be written yet.
ClassicMove ClassicMove::planned(Store& file, const Schema& wanted, const CatalogOptions& options) {
  const ClassicHeader header = decode_header(file);
  return in_context(file.path(), [&]() -> ClassicMove {
    Schema in_file = header.schema;
    const ClassicLayout old = found_layout(in_file, header.begins, header.bytes);
    if (const int dim = in_file.record_dim(); header.streaming && dim >= 0)
      in_file.dim(dim).length = streamed_records(in_file, old, file.size());
    for (auto& variable : in_file.variables)
      variable.no_fill = found_without_fill(variable, options.fill);
    const Schema schema = extended_schema(in_file, wanted, true, options.fill);
    const std::int64_t header_bytes = header_bytes_of(schema);
    // So that the next definitions have a place, as long as the format has one for that.
    CatalogOptions spacious = options;
    spacious.header_reserve = std::max(options.header_reserve, header_bytes);
    ClassicLayout layout = new_layout(schema, header_bytes, spacious);
    if (!caught([&] { check_offsets(schema, layout); }).ok()) {
      spacious.header_reserve = 0;
      layout = new_layout(schema, header_bytes, spacious);
      check_offsets(schema, layout);
    }
    return {in_file, old, static_cast<std::int64_t>(file.size()), schema, layout};
  });
}

ClassicMove::ClassicMove(const Schema& in_file, const ClassicLayout& old, std::int64_t bytes_in_file,
                         const Schema& wanted, const ClassicLayout& made)
    : header_(encode_header(wanted, made.begins, made.slabs)),
      begin_(std::numeric_limits<std::int64_t>::max()),
      record_begin_(made.record_begin),
      old_stride_(old.record_bytes),
      new_stride_(made.record_bytes) {
  const int dim = wanted.record_dim();
  records_ = dim < 0 ? 0 : wanted.dim(dim).length;
  end_ = made.end(records_);
  for (std::size_t v = 0; v < wanted.variables.size(); ++v) {
    const bool is_new = v >= in_file.variables.size();
    const VariableDef& definition = wanted.variables[v];
    const int variable = static_cast<int>(v);
    begin_ = std::min(begin_, made.begins[v]);
    if (is_new && definition.no_fill) continue;
    Slab slab;
    slab.to = made.begins[v];
    slab.from = is_new ? -1 : old.begins[v];
    slab.bytes = made.slabs[v];
    slab.padded = slab.bytes + made.padding(wanted, variable);
    const Bytes fill = fill_in_file(definition);
    slab.fill_bytes = static_cast<std::int64_t>(fill.size());
    std::copy(fill.begin(), fill.end(), slab.fill.begin());
    const bool of_records = wanted.has_record(variable);
    if (!is_new) bytes_ += of_records ? checked_product(slab.bytes, records_) : slab.bytes;
    if (slab.padded > 0) (of_records ? of_record_ : fixed_).push_back(slab);
  }
  begin_ = std::min(begin_, end_);
  const auto by_place = [](const Slab& a, const Slab& b) { return a.to < b.to; };
  std::sort(fixed_.begin(), fixed_.end(), by_place);
  std::sort(of_record_.begin(), of_record_.end(), by_place);
  if (old.end(records_) <= bytes_in_file) join_records();
}

// Records that stay what they are move as one.
void ClassicMove::join_records() {
  if (of_record_.empty() || old_stride_ != new_stride_ || records_ == 0) return;
  const std::int64_t shift = record_begin_ - of_record_.front().from;
  for (const Slab& slab : of_record_)
    if (slab.from < 0 || slab.to - slab.from != shift) return;
  Slab all = of_record_.front();
  all.bytes = all.padded = records_ * new_stride_;
  of_record_.clear();
  fixed_.push_back(all);
}

template <class Io, class Move>
void ClassicMove::visit(Io&& io, Move& move) {
  io(move.header_, move.begin_, move.end_, move.bytes_, move.records_, move.record_begin_, move.old_stride_,
     move.new_stride_, move.fixed_, move.of_record_);
}

ClassicMove::ClassicMove(ByteReader& in) {
  visit(FieldReader(in), *this);
}

void ClassicMove::pack(ByteWriter& out) const {
  visit(FieldWriter(out), *this);
}

/// Calls visit(slab, its first byte in the new file, in the old one) for each that has bytes in the range.
template <class Visit>
void ClassicMove::for_each_slab(std::int64_t begin, std::int64_t end, Visit&& visit) const {
  const auto of = [&](const std::vector<Slab>& slabs, std::int64_t new_shift, std::int64_t old_shift) {
    auto slab = std::partition_point(slabs.begin(), slabs.end(),
                                     [&](const Slab& s) { return s.to + new_shift + s.padded <= begin; });
    for (; slab != slabs.end() && slab->to + new_shift < end; ++slab)
      visit(*slab, slab->to + new_shift, slab->from + old_shift);
  };
  of(fixed_, 0, 0);
  if (of_record_.empty() || records_ == 0 || end <= record_begin_) return;
  const std::int64_t first = begin <= record_begin_ ? 0 : (begin - record_begin_) / new_stride_;
  const std::int64_t last = std::min(records_ - 1, (end - 1 - record_begin_) / new_stride_);
  for (std::int64_t record = first; record <= last; ++record)
    of(of_record_, record * new_stride_, record * old_stride_);
}

/// The bytes of a slab that are in the piece. What is behind the end of the old file reads as fill.
void ClassicMove::make(const Slab& slab, std::int64_t to, std::int64_t from, Source& source, Piece& piece) {
  const auto values = piece.part(to, to + slab.bytes);
  std::int64_t filled = std::max(to, piece.begin);
  if (slab.from >= 0 && !values.empty()) {
    const std::size_t n = source.read(from + (filled - to), values);
    filled += static_cast<std::int64_t>(n);
    if (n < values.size())  // half an element is none
      filled = std::max(to + (filled - to) / slab.fill_bytes * slab.fill_bytes, piece.begin);
  }
  fill_with(piece.part(filled, to + slab.padded),
            std::span(slab.fill).first(static_cast<std::size_t>(slab.fill_bytes)),
            static_cast<std::size_t>((filled - to) % slab.fill_bytes));
}

void ClassicMove::copy(Store& from, Store& to, std::int64_t begin, std::int64_t end) const {
  Source source(from);
  Bytes memory(static_cast<std::size_t>(std::min(k_copy_bytes, std::max<std::int64_t>(end - begin, 0))));
  const auto write = [&](Piece& piece) {
    const auto run = piece.part(piece.run_begin, piece.run_end);
    if (!is_zero(run)) to.write(static_cast<std::uint64_t>(std::max(piece.run_begin, piece.begin)), run);
  };
  while (begin < end) {
    const std::int64_t n = std::min(k_copy_bytes - begin % k_copy_bytes, end - begin);
    Piece piece{begin, std::span(memory).first(static_cast<std::size_t>(n)), begin, begin};
    for_each_slab(begin, begin + n, [&](const Slab& slab, std::int64_t new_place, std::int64_t old_place) {
      make(slab, new_place, old_place, source, piece);
      if (new_place > piece.run_end) {
        write(piece);
        piece.run_begin = new_place;
      }
      piece.run_end = new_place + slab.padded;
    });
    write(piece);
    begin += n;
  }
}

}  // namespace shoal
