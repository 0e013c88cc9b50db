// SPDX-License-Identifier: BSD-3-Clause
// The part of ClassicCatalog that moves bytes: values, fill, commit.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "format/classic/classic_catalog.hpp"
#include "format/classic/fill.hpp"
#include "storage/journal.hpp"

namespace shoal {

namespace {

// Values are converted and filled in pieces of this size, so that no call needs memory that grows with the
// variable.
constexpr std::int64_t k_piece = std::int64_t{1} << 20;
// Most bytes that wait for a commit in memory.
constexpr std::size_t k_most_pending = std::size_t{8} << 20;

}  // namespace

/// Calls visit(offset in the file, elements from the start of the box, elements) for each run of the box that
/// is contiguous in the file.
template <class Visit>
void ClassicCatalog::for_each_run(int variable, const Box& box, Visit&& visit) const {
  if (box.empty()) return;
  Dims slab_shape = schema_.shape(variable);
  const bool of_records = schema_.has_record(variable);
  const int first_dim = of_records ? 1 : 0;
  if (of_records) slab_shape[0] = 1;
  // Dimensions from `inner` on are whole, so that a run spans one more dimension in front of them.
  int inner = box.rank();
  while (inner > first_dim && box.count[inner - 1] == slab_shape[inner - 1])
    --inner;
  const int outer = std::max(inner - 1, first_dim);
  std::int64_t run = 1;
  for (int d = outer; d < box.rank(); ++d)
    run *= box.count[d];
  const Dims strides = row_major_strides(slab_shape);
  const auto size = static_cast<std::int64_t>(size_of(schema_.variable(variable).type));
  Box starts = box;
  for (int d = outer; d < box.rank(); ++d)
    starts.count[d] = 1;
  std::int64_t position = 0;
  for_each_index(starts, [&](const Dims& index) {
    std::int64_t in_slab = 0;
    for (int d = first_dim; d < index.size(); ++d)
      in_slab += index[d] * strides[d];
    visit(slab_begin(variable, of_records ? index[0] : 0) + in_slab * size, position, run);
    position += run;
  });
}

void ClassicCatalog::put(int variable, const Box& box, const std::byte* values) {
  need_writable();
  check_box(variable, box, true);
  if (box.empty()) return;
  const auto v = static_cast<std::size_t>(variable);
  freeze();
  if (schema_.has_record(variable)) grow_records(box.end(0));
  fill_missing(variable, &box);
  const std::size_t size = size_of(schema_.variables[v].type);
  Bytes piece;
  for_each_run(variable, box, [&](std::int64_t offset, std::int64_t position, std::int64_t n) {
    const std::byte* from = values + position * static_cast<std::int64_t>(size);
    const std::int64_t bytes = n * static_cast<std::int64_t>(size);
    for (std::int64_t at = 0; at < bytes; at += k_piece) {
      piece.assign(from + at, from + std::min(at + k_piece, bytes));
      swap_to_or_from_file(piece, size);
      hold(offset + at, piece);
    }
  });
}

void ClassicCatalog::get(int variable, const Box& box, std::byte* values) {
  check_box(variable, box, false);
  if (box.empty()) return;
  fill_missing(variable, nullptr);
  const auto& definition = schema_.variable(variable);
  const std::size_t size = size_of(definition.type);
  const Bytes fill = fill_in_file(definition);
  for_each_run(variable, box, [&](std::int64_t offset, std::int64_t position, std::int64_t n) {
    const std::span run(values + position * static_cast<std::int64_t>(size),
                        static_cast<std::size_t>(n) * size);
    read(offset, run, fill);
    swap_to_or_from_file(run, size);
  });
}

/// Fills the slabs that were added since the last time, but for what is about to be put.
void ClassicCatalog::fill_missing(int variable, const Box* put) {
  auto& filling = filling_[static_cast<std::size_t>(variable)];
  if (!filling.ours) return;
  const std::int64_t slabs = slabs_of(variable);
  std::int64_t first_put = 0;
  std::int64_t end_put = 0;
  if (put != nullptr) {
    const bool of_records = schema_.has_record(variable);
    const Dims shape = schema_.shape(variable);
    bool whole = true;
    for (int d = of_records ? 1 : 0; d < shape.size(); ++d)
      whole = whole && put->count[d] == shape[d];
    if (whole) {
      first_put = of_records ? put->first[0] : 0;
      end_put = of_records ? put->end(0) : 1;
    }
  }
  for (; filling.upto < slabs; ++filling.upto)
    fill_slab(variable, filling.upto, filling.upto >= first_put && filling.upto < end_put);
}

void ClassicCatalog::fill_slab(int variable, std::int64_t slab, bool padding_only) {
  const auto v = static_cast<std::size_t>(variable);
  const Bytes fill = fill_in_file(schema_.variables[v]);
  const std::int64_t begin = slab_begin(variable, slab);
  const std::int64_t bytes = layout_.slabs[v];
  const std::int64_t end = bytes + layout_.padding(schema_, variable);
  Bytes piece;
  for (std::int64_t at = padding_only ? bytes : 0; at < end; at += k_piece) {
    piece.resize(static_cast<std::size_t>(std::min(k_piece, end - at)));
    fill_with(piece, fill, static_cast<std::size_t>(at) % fill.size());
    hold(begin + at, piece);
  }
}

void ClassicCatalog::hold(std::int64_t offset, std::span<const std::byte> bytes) {
  pending_.put(static_cast<std::uint64_t>(offset), bytes);
  if (pending_.size() <= k_most_pending) return;
  flush(true);
  if (pending_.size() > k_most_pending) flush(false);
}

void ClassicCatalog::write_out(int variable) {
  usable(variable);
  if (!writable_) return;  // nothing was put
  fill_missing(variable, nullptr);
  pending_.flush([this](std::uint64_t offset, std::span<const std::byte> bytes) { write(offset, bytes); },
                 [&](std::uint64_t offset, std::size_t n) {
                   const auto begin = static_cast<std::int64_t>(offset);
                   return touches(variable, begin, begin + static_cast<std::int64_t>(n));
                 });
}

void ClassicCatalog::flush(bool invisible_only) {
  const auto invisible = [this](std::uint64_t offset, std::size_t n) {
    const auto begin = static_cast<std::int64_t>(offset);
    const std::int64_t end = begin + static_cast<std::int64_t>(n);
    return begin >= visible_.fixed_end && (end <= visible_.record_begin || begin >= visible_.record_end);
  };
  const auto all = [](std::uint64_t, std::size_t) { return true; };
  const auto chosen = invisible_only ? PendingBytes::Choice(invisible) : PendingBytes::Choice(all);
  pending_.flush([this](std::uint64_t offset, std::span<const std::byte> bytes) { write(offset, bytes); },
                 chosen);
}

void ClassicCatalog::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  store_->write(offset, bytes);
  unsynced_ = true;
  ++traffic_.writes;
  traffic_.bytes_written += static_cast<std::int64_t>(bytes.size());
}

/// Bytes of a variable as they are in the file or will be; the fill value behind the end of the file. offset
/// is that of an element.
void ClassicCatalog::read(std::int64_t offset, std::span<std::byte> bytes, const Bytes& fill) {
  const auto at = static_cast<std::uint64_t>(offset);
  if (!pending_.covers(at, bytes.size())) {
    const std::size_t n = store_->read(at, bytes);
    ++traffic_.reads;
    traffic_.bytes_read += static_cast<std::int64_t>(n);
    // Half an element at the end of the file is none.
    const std::size_t whole = n / fill.size() * fill.size();
    fill_with(bytes.subspan(whole), fill, 0);
  }
  pending_.overlay(at, bytes);
}

void ClassicCatalog::fill_all_missing() {
  for (std::size_t v = 0; v < filling_.size(); ++v)
    fill_missing(static_cast<int>(v), nullptr);
}

void ClassicCatalog::write_ahead(bool sync) {
  if (!writable_ || in_commit_) return;  // one that failed is finished first
  fill_all_missing();
  flush(true);
  if (!sync) return;
  if (unsynced_) store_->sync();
  unsynced_ = false;
}

void ClassicCatalog::commit(bool durable) {
  if (!writable_) return;  // nothing was put
  if (in_commit_) finish_changes(*store_);
  in_commit_ = true;
  fill_all_missing();
  flush(false);
  // Readers take a file that is shorter than its header says for a damaged one.
  const auto end = static_cast<std::uint64_t>(layout_.end(records()));
  if (end > ensured_end_ && store_->size() < end) {
    store_->resize(end);
    unsynced_ = true;
  }
  ensured_end_ = std::max(ensured_end_, end);
  commit_header(durable);
  in_commit_ = false;
  fixed_frozen_ = fixed_frozen_ || !schema_.variables.empty();
  visible_.fixed_end = layout_.fixed_end;
  visible_.record_begin = layout_.record_begin;
  visible_.record_end = layout_.end(records());
  visible_.records = records();
}

/// Changes what is new in the header: often the number of records alone.
void ClassicCatalog::commit_header(bool durable) {
  const auto records_at = static_cast<std::size_t>(k_records_at);
  const auto records_end = records_at + static_cast<std::size_t>(bytes_of_records(schema_.format));
  Bytes header;
  if (header_changed_ || visible_.header.empty()) {
    header = encode_header(schema_, layout_.begins, layout_.slabs);
    // Zeros over the rest of a longer one, so that the file does not say its history.
    if (header.size() < visible_.header.size()) header.resize(visible_.header.size());
  } else {
    header = visible_.header;
    const std::int64_t n = records();
    for (std::size_t i = records_at; i < records_end; ++i)
      header[i] = static_cast<std::byte>(n >> (8 * (records_end - 1 - i)));
  }
  const std::size_t common = std::min(header.size(), visible_.header.size());
  std::size_t first = 0;
  while (first < common && header[first] == visible_.header[first])
    ++first;
  std::size_t end = header.size();
  if (header.size() == visible_.header.size())
    while (end > first && header[end - 1] == visible_.header[end - 1])
      --end;
  if (first >= records_at && first < records_end) first = records_at;
  if (end > records_at && end < records_end) end = records_end;
  const auto news = std::span(header).subspan(first, end - first);
  if (visible_.header.empty()) {  // a new file, of which nobody has read anything
    // What ranks have stored they have synced, by handles of their own.
    if (durable && unsynced_) store_->sync();
    write(first, news);
    if (durable) store_->sync();
    unsynced_ = !durable;
  } else if (!news.empty()) {
    const auto made = change_in_place(*store_, {{first, news}}, ChangeOrder::any, durable);
    traffic_.writes += made.writes;
    traffic_.bytes_written += made.bytes;
    unsynced_ = !durable;
  } else if (durable && unsynced_) {
    store_->sync();
    unsynced_ = false;
  }
  visible_.header = std::move(header);
  header_changed_ = false;
}

}  // namespace shoal
