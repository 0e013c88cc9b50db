// SPDX-License-Identifier: BSD-3-Clause
#include "format/classic/classic_catalog.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "codec/convert.hpp"
#include "format/format_traits.hpp"
#include "storage/journal.hpp"

namespace shoal {

ClassicCatalog::ClassicCatalog(Format format, std::unique_ptr<Store> store, const CatalogOptions& options)
    : FlatCatalog(std::move(store), true, options) {
  schema_.format = format;
  swapped_ = !machine_is_big_endian();
  layout_ = new_layout(schema_, header_bytes_of(schema_), options_);
}

ClassicCatalog::ClassicCatalog(std::unique_ptr<Store> store, bool writable, const CatalogOptions& options)
    : FlatCatalog(std::move(store), writable, options) {
  ClassicHeader header = decode_header(*store_);
  schema_ = std::move(header.schema);
  swapped_ = !machine_is_big_endian();
  try {
    layout_ = found_layout(schema_, header.begins, header.bytes);
    if (const int dim = schema_.record_dim(); header.streaming && dim >= 0)
      schema_.dim(dim).length = streamed_records(schema_, layout_, store_->size());
    note_found();
    check_file(header);
  } catch (const Error& error) {
    throw Error(Status{Code::format, error.status().message, -1, store_->path(), error.status().variable});
  }
  is_used_ = !schema_.variables.empty();
  header_changed_ = header.streaming;
  visible_.header = std::move(header.raw);
  traffic_.reads = header.reads;
  traffic_.bytes_read = header.bytes_read;
  note_visible();
}

void ClassicCatalog::note_visible() {
  visible_.fixed_end = layout_.fixed_end;
  visible_.record_begin = layout_.record_begin;
  visible_.record_end = layout_.end(records());
  visible_.records = records();
}

void ClassicCatalog::check_file(const ClassicHeader& header) {
  const auto size = static_cast<std::int64_t>(
      std::min<std::uint64_t>(store_->size(), std::numeric_limits<std::int64_t>::max()));
  const std::int64_t n = records();
  // Writers that do not fill leave out the end of what lies last: the last record, or the last variable of a
  // file without records.
  const bool ends_with_records = layout_.has_records && n > 0;
  std::int64_t last_begin = 0;
  for (const std::int64_t begin : layout_.begins)
    last_begin = std::max(last_begin, begin);
  for (std::size_t v = 0; v < layout_.begins.size(); ++v) {
    const std::int64_t begin = layout_.begins[v];
    const auto wrong = [&](const std::string& what) {
      return Error(Code::format, "damaged or truncated file of {} bytes: {}", size, what)
          .of_variable(schema_.variables[v].name);
    };
    if (layout_.slabs[v] == 0) continue;
    if (begin < header.bytes)
      throw wrong(fmt::format("it starts at byte {}, inside of the header of {} bytes", begin, header.bytes));
    const bool of_records = schema_.has_record(static_cast<int>(v));
    const std::int64_t records_at = layout_.record_begin;
    if (of_records) {
      if (begin - records_at > layout_.record_bytes - layout_.slabs[v])
        throw wrong(
            fmt::format("it starts at byte {}, which is not in the first record of {} bytes from byte {} on",
                        begin, layout_.record_bytes, records_at));
      if (n > 0 && (records_at > size || n - 1 > (size - records_at) / layout_.record_bytes))
        throw wrong(fmt::format("its {} records, from byte {} on every {} bytes, reach behind the end", n,
                                records_at, layout_.record_bytes));
    } else {
      const bool may_lack_end = !ends_with_records && begin == last_begin;
      if (begin > size || (!may_lack_end && layout_.slabs[v] > size - begin))
        throw wrong(
            fmt::format("its {} bytes from byte {} on reach behind the end", layout_.slabs[v], begin));
    }
  }
  layout_.end(n);  // can be counted
  check_overlaps();
}

// Whoever writes the one variable would change the other.
void ClassicCatalog::check_overlaps() {
  struct Range {
    std::int64_t begin, end;
    std::size_t variable;
  };
  const auto in_order = [](std::vector<Range>& ranges) {
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  };
  const auto lies_over = [&](const Range& one, const Range& other, const std::string& when) {
    throw Error(Code::format, "damaged file: its bytes from {} to {} are also bytes of variable '{}'{}",
                one.begin, one.end, schema_.variables[other.variable].name, when)
        .of_variable(schema_.variables[one.variable].name);
  };
  std::vector<Range> fixed;
  std::vector<Range> first_record;
  for (std::size_t v = 0; v < layout_.begins.size(); ++v) {
    const Range range{layout_.begins[v], checked_sum(layout_.begins[v], layout_.slabs[v]), v};
    if (layout_.slabs[v] > 0)
      (schema_.has_record(static_cast<int>(v)) ? first_record : fixed).push_back(range);
  }
  for (auto* ranges : {&fixed, &first_record}) {
    in_order(*ranges);
    for (std::size_t i = 1; i < ranges->size(); ++i)
      if ((*ranges)[i].begin < (*ranges)[i - 1].end) lies_over((*ranges)[i], (*ranges)[i - 1], "");
  }
  if (fixed.empty() || first_record.empty() || fixed.back().end <= layout_.record_begin) return;
  const std::int64_t record_end = layout_.record_begin + records() * layout_.record_bytes;
  // Records to come reach as far as they like.
  for (const Range& range : fixed)
    if (range.end > layout_.record_begin && (writable_ || range.begin < record_end))
      lies_over(range, first_record.front(), range.begin < record_end ? "" : " in records that are added");
}

/// What the file is to hold, checked; nothing is changed.
Schema ClassicCatalog::extended(const Schema& wanted) const {
  return extended_schema(schema_, wanted, is_used_, options_.fill);
}

/// Where all of it has a place; nothing: only if data move.
std::optional<ClassicLayout> ClassicCatalog::layout_for(const Schema& schema) const {
  auto layout = is_used_ ? extended_layout(layout_, schema, options_)
                         : new_layout(schema, header_bytes_of(schema), options_);
  if (!layout) return layout;
  check_offsets(schema, *layout);
  layout->end(records());
  return layout;
}

bool ClassicCatalog::has_place(const Schema& wanted) {
  return in_context(store_->path(), [&] { return layout_for(extended(wanted)).has_value(); });
}

void ClassicCatalog::define(const Schema& wanted) {
  need_writable();
  in_context(store_->path(), [&] {
    Schema schema = extended(wanted);
    auto layout = layout_for(schema);
    if (!layout)
      throw Error(Code::not_supported,
                  "the definitions have no place beside the data that is there, which has to move first");
    take_definitions(std::move(schema));
    layout_ = std::move(*layout);
  });
  header_changed_ = true;
}

void ClassicCatalog::check_records(std::int64_t length) const {
  constexpr std::int64_t k_most = std::numeric_limits<std::int32_t>::max();
  if (schema_.format != Format::cdf5 && length > k_most)
    throw Error(Code::not_supported, "{} records; {} files have up to {}: use the format cdf5 or netcdf4",
                length, name_of(schema_.format), k_most)
        .in_file(store_->path());
}

bool ClassicCatalog::is_visible(std::int64_t begin, std::int64_t end) const {
  return begin < visible_.fixed_end || (end > visible_.record_begin && begin < visible_.record_end);
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
  reach_end();
  commit_header(durable);
  in_commit_ = false;
  is_used_ = is_used_ || !schema_.variables.empty();
  note_visible();
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

std::unique_ptr<Catalog> create_classic_catalog(Format format, std::unique_ptr<Store> store,
                                                const CatalogOptions& options) {
  return std::make_unique<ClassicCatalog>(format, std::move(store), options);
}

std::unique_ptr<Catalog> open_classic_catalog(std::unique_ptr<Store> store, bool writable,
                                              const CatalogOptions& options) {
  return std::make_unique<ClassicCatalog>(std::move(store), writable, options);
}

namespace {

std::optional<Format> recognise_classic(Store& store, std::span<const std::byte> start) {
  if (start.size() < 4 || std::memcmp(start.data(), "CDF", 3) != 0) return std::nullopt;
  switch (const int version = std::to_integer<int>(start[3])) {
    case 1:
      return Format::cdf1;
    case 2:
      return Format::cdf2;
    case 5:
      return Format::cdf5;
    default:
      throw Error(Code::format,
                  "the file starts with 'CDF' and the version {}; the classic formats have the versions 1, 2 "
                  "and 5",
                  version)
          .in_file(store.path());
  }
}

}  // namespace

std::vector<FormatTraits> classic_formats() {
  FormatTraits row{
      Format::cdf1, "cdf1", {"cdf-1", "classic", "nc3", "netcdf3", "netcdf3_classic"}, classic_types()};
  row.is_classic = true;
  row.interleaves_records = true;
  row.drivers = "native pnetcdf mpiio gather";
  row.create = create_in_file<create_classic_catalog>;
  row.open = open_in_file<open_classic_catalog>;
  std::vector<FormatTraits> rows(3, row);
  rows[0].recognise = recognise_classic;
  rows[1].format = Format::cdf2;
  rows[1].name = "cdf2";
  rows[1].other_names = {"cdf-2", "64bit-offset",  "64-bit-offset",       "64-bit offset",
                         "nc6",   "netcdf3_64bit", "netcdf3_64bit_offset"};
  rows[2].format = Format::cdf5;
  rows[2].name = "cdf5";
  rows[2].other_names = {"cdf-5", "64bit-data", "64-bit-data", "64-bit data", "nc5", "netcdf3_64bit_data"};
  rows[2].types = number_types();
  return rows;
}

}  // namespace shoal
