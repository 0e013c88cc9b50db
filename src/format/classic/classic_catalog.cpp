// SPDX-License-Identifier: BSD-3-Clause
#include "format/classic/classic_catalog.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "codec/convert.hpp"
#include "format/checks.hpp"
#include "format/format_traits.hpp"

namespace shoal {

ClassicCatalog::ClassicCatalog(Format format, std::unique_ptr<Store> store, const CatalogOptions& options)
    : store_(std::move(store)), options_(options) {
  schema_.format = format;
  layout_ = new_layout(schema_, header_bytes_of(schema_), options_);
}

ClassicCatalog::ClassicCatalog(std::unique_ptr<Store> store, bool writable, const CatalogOptions& options)
    : store_(std::move(store)), options_(options), writable_(writable) {
  ClassicHeader header = decode_header(*store_);
  schema_ = std::move(header.schema);
  record_dim_ = schema_.record_dim();
  try {
    layout_ = found_layout(schema_, header.begins, header.bytes);
    if (header.streaming && record_dim_ >= 0)
      schema_.dim(record_dim_).length = streamed_records(schema_, layout_, store_->size());
    check_file(header);
  } catch (const Error& error) {
    throw Error(Status{Code::format, error.status().message, -1, store_->path(), error.status().variable});
  }
  for (std::size_t v = 0; v < schema_.variables.size(); ++v) {
    VariableDef& variable = schema_.variables[v];
    variable.no_fill = found_without_fill(variable, options.fill);
    filling_.push_back({!variable.no_fill, slabs_of(static_cast<int>(v))});
  }
  fixed_frozen_ = !schema_.variables.empty();
  header_changed_ = header.streaming;
  visible_.header = std::move(header.raw);
  traffic_.reads = header.reads;
  traffic_.bytes_read = header.bytes_read;
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

void ClassicCatalog::need_writable() const {
  if (!writable_)
    throw Error(Code::permission, "the file was opened for reading; open it for writing")
        .in_file(store_->path());
}

Error ClassicCatalog::located(const Error& error, int variable) const {
  const bool known = variable >= 0 && static_cast<std::size_t>(variable) < schema_.variables.size();
  const Error in_file = error.in_file(store_->path());
  return known ? in_file.of_variable(schema_.variable(variable).name) : in_file;
}

const VariableDef& ClassicCatalog::usable(int variable) const {
  if (variable < 0 || static_cast<std::size_t>(variable) >= schema_.variables.size())
    throw Error(Code::not_found, "there is no variable {}; the file has {}, counted from 0", variable,
                schema_.variables.size())
        .in_file(store_->path());
  const auto& definition = schema_.variable(variable);
  if (!definition.fits_plainly)
    throw located(Error(Code::not_supported, "{} dimensions; up to {} can be read and written",
                        definition.dims.size(), k_max_dims),
                  variable);
  return definition;
}

void ClassicCatalog::check_box(int variable, const Box& box, bool may_grow) const {
  usable(variable);
  const Dims shape = schema_.shape(variable);
  bool inside = box.rank() == shape.size();
  if (inside && box.empty() && *std::min_element(box.count.begin(), box.count.end()) >= 0)
    return;  // no cells
  for (int d = 0; inside && d < shape.size(); ++d) {
    const bool open_end = may_grow && d == 0 && schema_.has_record(variable);
    const std::int64_t length = open_end ? std::numeric_limits<std::int64_t>::max() : shape[d];
    inside = box.first[d] >= 0 && box.count[d] >= 0 && box.count[d] <= length &&
             box.first[d] <= length - box.count[d];
  }
  if (!inside)
    throw located(Error(Code::not_found, "the cells {} are not all inside of the shape {}", text_of(box),
                        text_of(shape)),
                  variable);
}

void ClassicCatalog::freeze() const {
  fixed_frozen_ = true;
}

template <class Work>
auto ClassicCatalog::in_words_of_file(Work&& work) const {
  try {
    return work();
  } catch (const Error& error) {
    throw error.in_file(store_->path());
  }
}

/// What the file is to hold, checked; nothing is changed.
Schema ClassicCatalog::extended(const Schema& wanted) const {
  return extended_schema(schema_, wanted, fixed_frozen_, options_.fill);
}

/// Where all of it has a place; nothing: only if data move.
std::optional<ClassicLayout> ClassicCatalog::layout_for(const Schema& schema) const {
  auto layout = fixed_frozen_ ? extended_layout(layout_, schema, options_)
                              : new_layout(schema, header_bytes_of(schema), options_);
  if (!layout) return layout;
  check_offsets(schema, *layout);
  layout->end(records());
  return layout;
}

bool ClassicCatalog::has_place(const Schema& wanted) {
  return in_words_of_file([&] { return layout_for(extended(wanted)).has_value(); });
}

void ClassicCatalog::define(const Schema& wanted) {
  need_writable();
  const std::size_t old_count = schema_.variables.size();
  Schema schema;
  std::optional<ClassicLayout> layout;
  in_words_of_file([&] {
    schema = extended(wanted);
    layout = layout_for(schema);
    if (!layout)
      throw Error(Code::not_supported,
                  "the definitions have no place beside the data that is there, which has to move first");
    return 0;
  });
  for (std::size_t v = 0; v < old_count; ++v) {
    auto& variable = schema.variables[v];
    variable.distributed = variable.distributed || schema_.variables[v].distributed;
    if (variable.distributed || variable.no_fill) give_up_generation(static_cast<int>(v));
  }
  for (std::size_t v = old_count; v < schema.variables.size(); ++v)
    filling_.push_back({!schema.variables[v].distributed && !schema.variables[v].no_fill, 0});
  schema_ = std::move(schema);
  layout_ = std::move(*layout);
  record_dim_ = schema_.record_dim();
  header_changed_ = true;
}

void ClassicCatalog::set_distributed(int variable) {
  need_writable();
  usable(variable);
  give_up_generation(variable);
  schema_.variable(variable).distributed = true;
}

void ClassicCatalog::give_up_generation(int variable) {
  auto& filling = filling_[static_cast<std::size_t>(variable)];
  if (!filling.ours) return;
  // What was put and filled must not come out over what ranks write from now on.
  flush(false);
  filling.ours = false;
}

std::int64_t ClassicCatalog::records() const {
  return record_dim_ < 0 ? 0 : schema_.dim(record_dim_).length;
}

std::int64_t ClassicCatalog::slabs_of(int variable) const {
  return schema_.has_record(variable) ? records() : 1;
}

std::int64_t ClassicCatalog::slab_begin(int variable, std::int64_t slab) const {
  return layout_.begins[static_cast<std::size_t>(variable)] + slab * layout_.record_bytes;
}

Placement ClassicCatalog::placement(int variable) const {
  usable(variable);
  freeze();
  Placement placement;
  placement.kind = Placement::Kind::regular;
  placement.swapped = !machine_is_big_endian();
  placement.chunk = schema_.shape(variable);
  placement.begin = static_cast<std::uint64_t>(layout_.begins[static_cast<std::size_t>(variable)]);
  if (schema_.has_record(variable)) {
    placement.chunk[0] = 1;
    placement.stride = static_cast<std::uint64_t>(layout_.record_bytes);
  }
  return placement;
}

std::vector<Location> ClassicCatalog::place(int variable, const Box& chunks, const Box& cells,
                                            std::vector<bool>& fresh) {
  need_writable();
  check_box(variable, cells, true);
  const std::int64_t before = slabs_of(variable);
  if (schema_.has_record(variable) && !cells.empty()) grow_records(cells.end(0));
  auto addresses = find(variable, chunks);
  fresh.clear();
  for_each_index(chunks, [&](const Dims& index) { fresh.push_back(!index.empty() && index[0] >= before); });
  return addresses;
}

std::vector<Location> ClassicCatalog::find(int variable, const Box& chunks) {
  usable(variable);
  freeze();
  const std::int64_t slabs = slabs_of(variable);
  const bool of_records = schema_.has_record(variable);
  std::vector<Location> addresses;
  for_each_index(chunks, [&](const Dims& index) {
    const std::int64_t slab = of_records ? index[0] : 0;
    const bool there = slab >= 0 && slab < slabs;
    addresses.push_back({0, there ? static_cast<std::uint64_t>(slab_begin(variable, slab)) : k_unplaced});
  });
  return addresses;
}

void ClassicCatalog::check_unlimited(int dim) const {
  if (dim < 0 || dim != record_dim_)
    throw Error(Code::invalid_argument, "dimension {} is not the unlimited one", dim).in_file(store_->path());
}

void ClassicCatalog::grow(int dim, std::int64_t length) {
  need_writable();
  check_unlimited(dim);
  if (length > 0) freeze();
  grow_records(length);
}

void ClassicCatalog::take_back(int dim, std::int64_t length) {
  need_writable();
  check_unlimited(dim);
  const std::int64_t before = records();
  const std::int64_t left = std::max(length, visible_.records);
  if (left >= before) return;
  schema_.dim(dim).length = left;
  for (std::size_t v = 0; v < schema_.variables.size(); ++v) {
    const int variable = static_cast<int>(v);
    if (!schema_.has_record(variable)) continue;
    filling_[v].upto = std::min(filling_[v].upto, left);
    // Without records, variables may be laid out where these were: what waits must not come out over them.
    for (std::int64_t slab = left; slab < before; ++slab)
      pending_.drop(static_cast<std::uint64_t>(slab_begin(variable, slab)),
                    static_cast<std::size_t>(slab_with_padding(variable)));
  }
}

std::int64_t ClassicCatalog::slab_with_padding(int variable) const {
  return layout_.slabs[static_cast<std::size_t>(variable)] + layout_.padding(schema_, variable);
}

/// Are there bytes of the variable in this range of the file?
bool ClassicCatalog::touches(int variable, std::int64_t begin, std::int64_t end) const {
  const std::int64_t bytes = slab_with_padding(variable);
  const std::int64_t front = slab_begin(variable, 0);
  const std::int64_t stride = layout_.record_bytes;
  const bool later = schema_.has_record(variable) && begin > front && stride > 0;
  // The slab that begins last at or before the range, and the one after it.
  const std::int64_t first = later ? (begin - front) / stride : 0;
  const std::int64_t last = std::min(first + 2, slabs_of(variable));
  for (std::int64_t slab = first; slab < last; ++slab)
    if (slab_begin(variable, slab) < end && slab_begin(variable, slab) + bytes > begin) return true;
  return false;
}

void ClassicCatalog::grow_records(std::int64_t length) {
  if (length <= records()) return;
  constexpr std::int64_t k_most = std::numeric_limits<std::int32_t>::max();
  if (schema_.format != Format::cdf5 && length > k_most)
    throw Error(Code::not_supported, "{} records; {} files have up to {}: use the format cdf5 or netcdf4",
                length, name_of(schema_.format), k_most)
        .in_file(store_->path());
  layout_.end(length);  // can be counted
  schema_.dim(record_dim_).length = length;
}

void ClassicCatalog::put_strings(int variable, const Box&, const std::vector<std::string>&) {
  throw located(
      Error(Code::type, std::string(name_of(schema_.format)) +
                            " files hold no strings; put text to a char variable, or use the format netcdf4"),
      variable);
}

std::vector<std::string> ClassicCatalog::get_strings(int variable, const Box&) {
  throw located(Error(Code::type, std::string(name_of(schema_.format)) +
                                      " files hold no strings; get the text of a char variable"),
                variable);
}

void ClassicCatalog::close(bool durable) {
  if (closed_) return;
  commit(durable);
  closed_ = true;
  writable_ = false;
  store_->close();
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
