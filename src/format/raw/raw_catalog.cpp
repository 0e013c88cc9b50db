// SPDX-License-Identifier: BSD-3-Clause
#include "format/raw/raw_catalog.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "codec/convert.hpp"
#include "format/checks.hpp"
#include "format/classic/layout.hpp"
#include "format/format_traits.hpp"
#include "format/raw/text_values.hpp"
#include "storage/leftovers.hpp"
#include "storage/paths.hpp"
#include "storage/replacement.hpp"

namespace shoal {

namespace {

// Values are converted in pieces of this many bytes of the file, so that no call needs memory that grows with
// the variable.
constexpr std::int64_t k_most_piece = std::int64_t{1} << 20;
// Most bytes that wait for a commit in memory.
constexpr std::size_t k_most_waiting = std::size_t{8} << 20;

}  // namespace

RawCatalog::RawCatalog(Format format, std::unique_ptr<Store> store, const CatalogOptions& options)
    : store_(std::move(store)), options_(options) {
  header_.schema.format = format;
  remove_file(header_path(store_->path()));
}

RawCatalog::RawCatalog(std::unique_ptr<Store> store, bool writable, const CatalogOptions& options)
    : store_(std::move(store)), options_(options), writable_(writable) {
  header_ = read_raw_header(store_->path());
  record_dim_ = header_.schema.record_dim();
  for (std::size_t v = 0; v < header_.schema.variables.size(); ++v) {
    VariableDef& variable = header_.schema.variables[v];
    variable.no_fill = found_without_fill(variable, options.fill);
    filling_.push_back({!variable.no_fill, slabs_of(static_cast<int>(v))});
  }
  committed_records_ = records();
  check_file_size();
}

void RawCatalog::check_file_size() {
  const auto end = static_cast<std::uint64_t>(header_.layout.end(records()));
  const std::uint64_t size = store_->size();
  if (size >= end) return;
  throw Error(Code::format,
              "the file is truncated: it has {} bytes, and by {} there must be {} of {} records", size,
              header_path(store_->path()), end, records())
      .in_file(store_->path());
}

void RawCatalog::need_writable() const {
  if (!writable_)
    throw Error(Code::permission, "the file was opened for reading; open it for writing")
        .in_file(store_->path());
}

Error RawCatalog::located(const Error& error, int variable) const {
  return error.in_file(store_->path()).of_variable(header_.schema.variable(variable).name);
}

const VariableDef& RawCatalog::usable(int variable) const {
  const auto& variables = header_.schema.variables;
  if (variable < 0 || static_cast<std::size_t>(variable) >= variables.size())
    throw Error(Code::not_found, "there is no variable {}; the file has {}, counted from 0", variable,
                variables.size())
        .in_file(store_->path());
  return variables[static_cast<std::size_t>(variable)];
}

void RawCatalog::check_box(int variable, const Box& box, bool may_grow) const {
  usable(variable);
  const Dims shape = header_.schema.shape(variable);
  bool inside = box.rank() == shape.size();
  if (inside && box.empty() && *std::min_element(box.count.begin(), box.count.end()) >= 0) return;
  for (int d = 0; inside && d < shape.size(); ++d) {
    const bool open_end = may_grow && d == 0 && header_.schema.has_record(variable);
    const std::int64_t length = open_end ? std::numeric_limits<std::int64_t>::max() : shape[d];
    inside = box.first[d] >= 0 && box.count[d] >= 0 && box.count[d] <= length &&
             box.first[d] <= length - box.count[d];
  }
  if (!inside)
    throw located(Error(Code::not_found, "the cells {} are not all inside of the shape {}", text_of(box),
                        text_of(shape)),
                  variable);
}

void RawCatalog::check_unlimited(int dim) const {
  if (dim < 0 || dim != record_dim_)
    throw Error(Code::invalid_argument, "dimension {} is not the unlimited one", dim).in_file(store_->path());
}

// ---- Definitions

void RawCatalog::define(const Schema& wanted) {
  need_writable();
  Schema schema;
  RawLayout layout;
  const std::size_t old_count = header_.schema.variables.size();
  try {
    schema = extended_schema(header_.schema, wanted, true, options_.fill);
    layout = extended_raw_layout(header_.layout, schema, records(), options_);
    layout.end(records());
  } catch (const Error& error) {
    throw error.in_file(store_->path());
  }
  for (std::size_t v = 0; v < old_count; ++v) {
    auto& variable = schema.variables[v];
    variable.distributed = variable.distributed || header_.schema.variables[v].distributed;
    if (variable.distributed || variable.no_fill) give_up_generation(static_cast<int>(v));
  }
  for (std::size_t v = old_count; v < schema.variables.size(); ++v)
    filling_.push_back({!schema.variables[v].distributed && !schema.variables[v].no_fill, 0});
  header_.schema = std::move(schema);
  header_.layout = std::move(layout);
  record_dim_ = header_.schema.record_dim();
}

void RawCatalog::set_distributed(int variable) {
  need_writable();
  usable(variable);
  give_up_generation(variable);
  header_.schema.variable(variable).distributed = true;
}

void RawCatalog::give_up_generation(int variable) {
  auto& filling = filling_[static_cast<std::size_t>(variable)];
  if (!filling.ours) return;
  flush();  // what was put and filled must not come out over what ranks write from now on
  filling.ours = false;
}

// ---- Places

std::int64_t RawCatalog::records() const {
  return record_dim_ < 0 ? 0 : header_.schema.dim(record_dim_).length;
}

std::int64_t RawCatalog::slabs_of(int variable) const {
  return header_.schema.has_record(variable) ? records() : 1;
}

std::int64_t RawCatalog::slab_begin(int variable, std::int64_t slab) const {
  return header_.layout.begins[static_cast<std::size_t>(variable)] + slab * header_.layout.record_bytes;
}

std::int64_t RawCatalog::width_of(int variable) const {
  return element_bytes(header_.schema.format, header_.schema.variable(variable).type);
}

Placement RawCatalog::placement(int variable) const {
  usable(variable);
  Placement placement;
  placement.chunk = header_.schema.shape(variable);
  if (header_.schema.format == Format::ascii) {
    placement.kind = Placement::Kind::library;
    return placement;
  }
  placement.swapped = header_.swapped;
  placement.begin = static_cast<std::uint64_t>(slab_begin(variable, 0));
  if (header_.schema.has_record(variable)) {
    placement.chunk[0] = 1;
    placement.stride = static_cast<std::uint64_t>(header_.layout.record_bytes);
  }
  return placement;
}

std::vector<Location> RawCatalog::place(int variable, const Box& chunks, const Box& cells,
                                        std::vector<bool>& fresh) {
  need_writable();
  check_box(variable, cells, true);
  const std::int64_t before = slabs_of(variable);
  if (header_.schema.has_record(variable) && !cells.empty()) grow_records(cells.end(0));
  auto addresses = find(variable, chunks);
  fresh.clear();
  for_each_index(chunks, [&](const Dims& index) { fresh.push_back(!index.empty() && index[0] >= before); });
  return addresses;
}

std::vector<Location> RawCatalog::find(int variable, const Box& chunks) {
  usable(variable);
  const std::int64_t slabs = slabs_of(variable);
  const bool of_records = header_.schema.has_record(variable);
  std::vector<Location> addresses;
  for_each_index(chunks, [&](const Dims& index) {
    const std::int64_t slab = of_records ? index[0] : 0;
    const bool there = slab >= 0 && slab < slabs;
    addresses.push_back({0, there ? static_cast<std::uint64_t>(slab_begin(variable, slab)) : k_unplaced});
  });
  return addresses;
}

void RawCatalog::grow(int dim, std::int64_t length) {
  need_writable();
  check_unlimited(dim);
  grow_records(length);
}

void RawCatalog::grow_records(std::int64_t length) {
  if (length <= records()) return;
  header_.layout.end(length);  // can be counted
  header_.schema.dim(record_dim_).length = length;
}

void RawCatalog::take_back(int dim, std::int64_t length) {
  need_writable();
  check_unlimited(dim);
  const std::int64_t before = records();
  const std::int64_t left = std::max(length, committed_records_);
  if (left >= before) return;
  header_.schema.dim(dim).length = left;
  for (std::size_t v = 0; v < filling_.size(); ++v) {
    const int variable = static_cast<int>(v);
    if (!header_.schema.has_record(variable)) continue;
    filling_[v].upto = std::min(filling_[v].upto, left);
    for (std::int64_t slab = left; slab < before; ++slab)
      pending_.drop(static_cast<std::uint64_t>(slab_begin(variable, slab)),
                    static_cast<std::size_t>(header_.layout.slabs[v]));
  }
}

// ---- Values

/// Calls visit(first byte in the file, elements from the start of the box, elements) for each run of the box
/// that is contiguous in the file.
template <class Visit>
void RawCatalog::for_each_run(int variable, const Box& box, Visit&& visit) const {
  if (box.empty()) return;
  Dims shape = header_.schema.shape(variable);
  const bool of_records = header_.schema.has_record(variable);
  const int first_dim = of_records ? 1 : 0;
  if (of_records) shape[0] = 1;
  // Dimensions from `inner` on are whole, so that a run spans one more dimension in front of them.
  int inner = box.rank();
  while (inner > first_dim && box.count[inner - 1] == shape[inner - 1])
    --inner;
  const int outer = std::max(inner - 1, first_dim);
  Box starts = box;
  std::int64_t run = 1;
  for (int d = outer; d < box.rank(); ++d) {
    run *= box.count[d];
    starts.count[d] = 1;
  }
  const Dims strides = row_major_strides(shape);
  std::int64_t position = 0;
  for_each_index(starts, [&](const Dims& index) {
    std::int64_t in_slab = 0;
    for (int d = first_dim; d < index.size(); ++d)
      in_slab += index[d] * strides[d];
    const std::int64_t begin = slab_begin(variable, of_records ? index[0] : 0);
    visit(static_cast<std::uint64_t>(begin + in_slab * width_of(variable)), position, run);
    position += run;
  });
}

Bytes RawCatalog::encoded(int variable, const std::byte* values, std::int64_t n) const {
  const Type type = header_.schema.variable(variable).type;
  Bytes bytes(static_cast<std::size_t>(n * width_of(variable)));
  if (header_.schema.format == Format::ascii) {
    to_text(values, type, n, reinterpret_cast<char*>(bytes.data()));
  } else if (!bytes.empty()) {
    std::memcpy(bytes.data(), values, bytes.size());
    if (header_.swapped) swap_bytes(bytes.data(), size_of(type), n);
  }
  return bytes;
}

void RawCatalog::decode(int variable, const Bytes& in_file, std::int64_t n, std::byte* values,
                        std::uint64_t offset) const {
  const VariableDef& definition = header_.schema.variable(variable);
  if (header_.schema.format != Format::ascii) {
    std::memcpy(values, in_file.data(), in_file.size());
    if (header_.swapped) swap_bytes(values, size_of(definition.type), n);
    return;
  }
  const auto* text = reinterpret_cast<const char*>(in_file.data());
  const Bytes fill = fill_of(definition);
  const std::int64_t bad = from_text(text, definition.type, n, values, fill.data());
  if (bad < 0) return;
  const std::int64_t width = width_of(variable);
  throw located(Error(Code::format, "the line at byte {}, '{}', is no {} of {} characters",
                      offset + static_cast<std::uint64_t>(bad * width),
                      std::string(text + bad * width, static_cast<std::size_t>(width - 1)),
                      name_of(definition.type), width - 1),
                variable);
}

void RawCatalog::put(int variable, const Box& box, const std::byte* values) {
  need_writable();
  check_box(variable, box, true);
  if (box.empty()) return;
  if (header_.schema.has_record(variable)) grow_records(box.end(0));
  fill_missing(variable, &box);
  const auto size = static_cast<std::int64_t>(size_of(header_.schema.variable(variable).type));
  const std::int64_t width = width_of(variable);
  for_each_run(variable, box, [&](std::uint64_t offset, std::int64_t position, std::int64_t run) {
    for (std::int64_t at = 0; at < run; at += k_most_piece / width)
      hold(offset + static_cast<std::uint64_t>(at * width),
           encoded(variable, values + (position + at) * size, std::min(k_most_piece / width, run - at)));
  });
}

void RawCatalog::get(int variable, const Box& box, std::byte* values) {
  check_box(variable, box, false);
  if (box.empty()) return;
  fill_missing(variable, nullptr);
  const auto size = static_cast<std::int64_t>(size_of(header_.schema.variable(variable).type));
  const std::int64_t width = width_of(variable);
  Bytes piece;
  for_each_run(variable, box, [&](std::uint64_t offset, std::int64_t position, std::int64_t run) {
    for (std::int64_t at = 0; at < run; at += k_most_piece / width) {
      const std::int64_t n = std::min(k_most_piece / width, run - at);
      const std::uint64_t begin = offset + static_cast<std::uint64_t>(at * width);
      piece.resize(static_cast<std::size_t>(n * width));
      read(variable, begin, piece);
      decode(variable, piece, n, values + (position + at) * size, begin);
    }
  });
}

void RawCatalog::put_strings(int variable, const Box&, const std::vector<std::string>&) {
  throw located(Error(Code::type, std::string(name_of(header_.schema.format)) +
                                      " files hold no strings; put text to a char variable, or use the "
                                      "format netcdf4"),
                variable);
}

std::vector<std::string> RawCatalog::get_strings(int variable, const Box&) {
  throw located(Error(Code::type, std::string(name_of(header_.schema.format)) +
                                      " files hold no strings; get the text of a char variable"),
                variable);
}

/// Fills the slabs that were added since the last time, but for what is about to be put.
void RawCatalog::fill_missing(int variable, const Box* put) {
  auto& filling = filling_[static_cast<std::size_t>(variable)];
  if (!filling.ours) return;
  const std::int64_t slabs = slabs_of(variable);
  const bool of_records = header_.schema.has_record(variable);
  bool whole = put != nullptr;
  if (put != nullptr) {
    const Dims shape = header_.schema.shape(variable);
    for (int d = of_records ? 1 : 0; d < shape.size(); ++d)
      whole = whole && put->count[d] == shape[d];
  }
  const std::int64_t first_put = whole && of_records ? put->first[0] : 0;
  const std::int64_t end_put = !whole ? 0 : of_records ? put->end(0) : 1;
  const VariableDef& definition = header_.schema.variable(variable);
  const std::int64_t width = width_of(variable);
  const std::int64_t cells = header_.layout.slabs[static_cast<std::size_t>(variable)] / width;
  const Bytes fill = fill_of(definition);
  for (; filling.upto < slabs; ++filling.upto) {
    if (filling.upto >= first_put && filling.upto < end_put) continue;
    const std::int64_t begin = slab_begin(variable, filling.upto);
    for (std::int64_t at = 0; at < cells; at += k_most_piece / width) {
      const std::int64_t n = std::min(k_most_piece / width, cells - at);
      Bytes values(static_cast<std::size_t>(n) * fill.size());
      fill_box(values.data(), {static_cast<std::int64_t>(fill.size())}, {n}, fill.data(), fill.size());
      hold(static_cast<std::uint64_t>(begin + at * width), encoded(variable, values.data(), n));
    }
  }
}

void RawCatalog::hold(std::uint64_t offset, const Bytes& bytes) {
  pending_.put(offset, bytes);
  if (pending_.size() > k_most_waiting) flush();
}

void RawCatalog::flush() {
  pending_.flush(
      [this](std::uint64_t offset, std::span<const std::byte> bytes) {
        store_->write(offset, bytes);
        ++traffic_.writes;
        traffic_.bytes_written += static_cast<std::int64_t>(bytes.size());
      },
      [](std::uint64_t, std::size_t) { return true; });
}

void RawCatalog::write_out(int variable) {
  usable(variable);
  if (!writable_) return;
  fill_missing(variable, nullptr);
  flush();
}

/// Bytes of a variable as they are in the file or will be; the fill value behind the end of the file. offset
/// is that of an element.
void RawCatalog::read(int variable, std::uint64_t offset, std::span<std::byte> bytes) {
  if (!pending_.covers(offset, bytes.size())) {
    const std::size_t found = store_->read(offset, bytes);
    ++traffic_.reads;
    traffic_.bytes_read += static_cast<std::int64_t>(found);
    const auto width = static_cast<std::size_t>(width_of(variable));
    const Bytes fill = fill_of(header_.schema.variable(variable));
    const Bytes one = encoded(variable, fill.data(), 1);
    // Half an element at the end of the file is none.
    for (std::size_t at = found / width * width; at < bytes.size(); at += width)
      std::memcpy(bytes.data() + at, one.data(), width);
  }
  pending_.overlay(offset, bytes);
}

// ---- Commit

void RawCatalog::commit(bool durable) {
  if (!writable_) return;
  for (std::size_t v = 0; v < filling_.size(); ++v)
    fill_missing(static_cast<int>(v), nullptr);
  flush();
  const auto end = static_cast<std::uint64_t>(header_.layout.end(records()));
  if (store_->size() < end) store_->resize(end);
  if (durable) store_->sync();
  const std::string header = encode_raw_header(header_);
  if (header != written_header_ || durable) {
    replace_whole_file(header_path(store_->path()), header, durable);
    ++traffic_.writes;
    traffic_.bytes_written += static_cast<std::int64_t>(header.size());
    written_header_ = header;
  }
  committed_records_ = records();
}

void RawCatalog::close(bool durable) {
  if (closed_) return;
  commit(durable);
  closed_ = true;
  writable_ = false;
  store_->close();
}

std::unique_ptr<Catalog> create_raw_catalog(Format format, std::unique_ptr<Store> store,
                                            const CatalogOptions& options) {
  return std::make_unique<RawCatalog>(format, std::move(store), options);
}

std::unique_ptr<Catalog> open_raw_catalog(std::unique_ptr<Store> store, bool writable,
                                          const CatalogOptions& options) {
  return std::make_unique<RawCatalog>(std::move(store), writable, options);
}

std::vector<FormatTraits> raw_formats() {
  FormatTraits raw{Format::raw, "raw", {"binary"}, number_types()};
  raw.has_header_file = true;
  raw.interleaves_records = true;
  raw.recognise = [](Store& store, std::span<const std::byte> /*start*/) {
    return format_beside(store.path());
  };
  raw.drivers = "native mpiio gather";
  raw.create = create_in_file<create_raw_catalog>;
  raw.open = open_in_file<open_raw_catalog>;
  FormatTraits ascii = raw;
  ascii.format = Format::ascii;
  ascii.name = "ascii";
  ascii.drivers = "gather";
  ascii.other_names = {"text"};
  ascii.recognise = nullptr;
  return {raw, ascii};
}

}  // namespace shoal
