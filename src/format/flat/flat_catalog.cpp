// SPDX-License-Identifier: BSD-3-Clause
#include "format/flat/flat_catalog.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "codec/convert.hpp"
#include "format/flat/fill.hpp"
#include "format/format_traits.hpp"

namespace shoal {

namespace {

// Values are converted and filled in pieces of this size, so that no call needs memory that grows with the
// variable.
constexpr std::int64_t k_piece = std::int64_t{1} << 20;
// Most bytes that wait for a commit in memory.
constexpr std::size_t k_most_pending = std::size_t{8} << 20;

}  // namespace

// ---- Definitions

void FlatCatalog::need_writable() const {
  if (!writable_)
    throw Error(Code::permission, "the file was opened for reading; open it for writing")
        .in_file(store_->path());
}

Error FlatCatalog::located(const Error& error, int variable) const {
  const Error in_file = error.in_file(store_->path());
  return schema_.variables.has(variable) ? in_file.of_variable(schema_.variable(variable).name) : in_file;
}

const VariableDef& FlatCatalog::usable(int variable) const {
  if (!schema_.variables.has(variable))
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

void FlatCatalog::check_box(int variable, const Box& box, bool may_grow) const {
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

void FlatCatalog::check_unlimited(int dim) const {
  if (dim < 0 || dim != record_dim_)
    throw Error(Code::invalid_argument, "dimension {} is not the unlimited one", dim).in_file(store_->path());
}

void FlatCatalog::note_found() {
  record_dim_ = schema_.record_dim();
  for (int v = 0; v < schema_.variables.count(); ++v) {
    VariableDef& variable = schema_.variable(v);
    variable.no_fill = found_without_fill(variable, options_.fill);
    filling_.push_back({!variable.no_fill, slabs_of(v)});
  }
}

void FlatCatalog::take_definitions(Schema schema) {
  for (int v = 0; v < schema.variables.count(); ++v) {
    auto& variable = schema.variable(v);
    if (!schema_.variables.has(v)) {
      filling_.push_back({!variable.distributed && !variable.no_fill, 0});
      continue;
    }
    variable.distributed = variable.distributed || schema_.variable(v).distributed;
    if (variable.distributed || variable.no_fill) give_up_generation(v);
  }
  schema_ = std::move(schema);
  record_dim_ = schema_.record_dim();
}

void FlatCatalog::set_distributed(int variable) {
  need_writable();
  usable(variable);
  give_up_generation(variable);
  schema_.variable(variable).distributed = true;
}

void FlatCatalog::give_up_generation(int variable) {
  if (!filling_[variable].ours) return;
  // What was put and filled must not come out over what ranks write from now on.
  flush(false);
  filling_[variable].ours = false;
}

// ---- Places

std::int64_t FlatCatalog::slab_begin(int variable, std::int64_t slab) const {
  return layout().begins[variable] + slab * layout().record_bytes;
}

std::int64_t FlatCatalog::slab_with_padding(int variable) const {
  return layout().slabs[variable] + padding(variable);
}

Placement FlatCatalog::placement(int variable) const {
  usable(variable);
  is_used_ = true;
  Placement placement;
  placement.swapped = swapped_;
  placement.chunk = schema_.shape(variable);
  placement.begin = static_cast<std::uint64_t>(slab_begin(variable, 0));
  if (schema_.has_record(variable)) {
    placement.chunk[0] = 1;
    placement.stride = static_cast<std::uint64_t>(layout().record_bytes);
  }
  return placement;
}

std::vector<Location> FlatCatalog::place(int variable, const Box& chunks, const Box& cells,
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

std::vector<Location> FlatCatalog::find(int variable, const Box& chunks) {
  usable(variable);
  is_used_ = true;
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

void FlatCatalog::grow(int dim, std::int64_t length) {
  need_writable();
  check_unlimited(dim);
  if (length > 0) is_used_ = true;
  grow_records(length);
}

void FlatCatalog::grow_records(std::int64_t length) {
  if (length <= records()) return;
  check_records(length);
  end_of(length);  // can be counted
  schema_.dim(record_dim_).length = length;
}

void FlatCatalog::take_back(int dim, std::int64_t length) {
  need_writable();
  check_unlimited(dim);
  const std::int64_t before = records();
  const std::int64_t left = std::max(length, committed_records());
  if (left >= before) return;
  schema_.dim(dim).length = left;
  for (int v = 0; v < schema_.variables.count(); ++v) {
    if (!schema_.has_record(v)) continue;
    filling_[v].upto = std::min(filling_[v].upto, left);
    // Without records, variables may be laid out where these were: what waits must not come out over them.
    for (std::int64_t slab = left; slab < before; ++slab)
      pending_.drop(static_cast<std::uint64_t>(slab_begin(v, slab)),
                    static_cast<std::size_t>(slab_with_padding(v)));
  }
}

/// Are there bytes of the variable in this range of the file?
bool FlatCatalog::touches(int variable, std::int64_t begin, std::int64_t end) const {
  const std::int64_t bytes = slab_with_padding(variable);
  const std::int64_t front = slab_begin(variable, 0);
  const std::int64_t stride = layout().record_bytes;
  const bool later = schema_.has_record(variable) && begin > front && stride > 0;
  // The slab that begins last at or before the range, and the one after it.
  const std::int64_t first = later ? (begin - front) / stride : 0;
  const std::int64_t last = std::min(first + 2, slabs_of(variable));
  for (std::int64_t slab = first; slab < last; ++slab)
    if (slab_begin(variable, slab) < end && slab_begin(variable, slab) + bytes > begin) return true;
  return false;
}

// ---- Values

std::int64_t FlatCatalog::width_of(int variable) const {
  return static_cast<std::int64_t>(size_of(schema_.variable(variable).type));
}

void FlatCatalog::encode(int variable, const std::byte* values, std::int64_t n, Bytes& to) const {
  const std::size_t size = size_of(schema_.variable(variable).type);
  to.assign(values, values + n * static_cast<std::int64_t>(size));
  if (swapped_) swap_bytes(to.data(), size, n);
}

void FlatCatalog::get_run(int variable, std::int64_t offset, std::int64_t n, std::byte* values,
                          const Bytes& fill) {
  const std::size_t size = size_of(schema_.variable(variable).type);
  read(offset, {values, static_cast<std::size_t>(n) * size}, fill);
  if (swapped_) swap_bytes(values, size, n);
}

/// Calls visit(offset in the file, elements from the start of the box, elements) for each run of the box that
/// is contiguous in the file.
template <class Visit>
void FlatCatalog::for_each_run(int variable, const Box& box, Visit&& visit) const {
  Dims slab_shape = schema_.shape(variable);
  const bool of_records = schema_.has_record(variable);
  const int first_dim = of_records ? 1 : 0;
  if (of_records) slab_shape[0] = 1;
  // Dimensions from `inner` on are whole, so that a run spans one more dimension in front of them.
  int inner = box.rank();
  while (inner > first_dim && box.count[inner - 1] == slab_shape[inner - 1])
    --inner;
  const int outer = std::max(inner - 1, first_dim);
  Box starts = box;
  std::int64_t run = 1;
  for (int d = outer; d < box.rank(); ++d) {
    run *= box.count[d];
    starts.count[d] = 1;
  }
  const Dims strides = row_major_strides(slab_shape);
  const std::int64_t width = width_of(variable);
  std::int64_t position = 0;
  for_each_index(starts, [&](const Dims& index) {
    std::int64_t in_slab = 0;
    for (int d = first_dim; d < index.size(); ++d)
      in_slab += index[d] * strides[d];
    visit(slab_begin(variable, of_records ? index[0] : 0) + in_slab * width, position, run);
    position += run;
  });
}

void FlatCatalog::put(int variable, const Box& box, const std::byte* values) {
  need_writable();
  check_box(variable, box, true);
  if (box.empty()) return;
  is_used_ = true;
  if (schema_.has_record(variable)) grow_records(box.end(0));
  fill_missing(variable, &box);
  const auto size = static_cast<std::int64_t>(size_of(schema_.variable(variable).type));
  const std::int64_t width = width_of(variable);
  const std::int64_t step = k_piece / width;
  Bytes piece;
  for_each_run(variable, box, [&](std::int64_t offset, std::int64_t position, std::int64_t n) {
    for (std::int64_t at = 0; at < n; at += step) {
      encode(variable, values + (position + at) * size, std::min(step, n - at), piece);
      hold(offset + at * width, piece);
    }
  });
}

void FlatCatalog::get(int variable, const Box& box, std::byte* values) {
  check_box(variable, box, false);
  if (box.empty()) return;
  fill_missing(variable, nullptr);
  const auto size = static_cast<std::int64_t>(size_of(schema_.variable(variable).type));
  const Bytes fill = encoded_fill(variable);
  for_each_run(variable, box, [&](std::int64_t offset, std::int64_t position, std::int64_t n) {
    get_run(variable, offset, n, values + position * size, fill);
  });
}

void FlatCatalog::put_strings(int variable, const Box&, const std::vector<std::string>&) {
  throw located(Error(Code::type, std::string(name_of(schema_.format)) +
                                      " files hold no strings; put text to a char variable, or use the "
                                      "format netcdf4"),
                variable);
}

std::vector<std::string> FlatCatalog::get_strings(int variable, const Box&) {
  throw located(Error(Code::type, std::string(name_of(schema_.format)) +
                                      " files hold no strings; get the text of a char variable"),
                variable);
}

Bytes FlatCatalog::encoded_fill(int variable) const {
  Bytes fill;
  encode(variable, fill_of(schema_.variable(variable)).data(), 1, fill);
  return fill;
}

/// Fills the slabs that were added since the last time, but for what is about to be put.
void FlatCatalog::fill_missing(int variable, const Box* put) {
  auto& filling = filling_[variable];
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

void FlatCatalog::fill_slab(int variable, std::int64_t slab, bool padding_only) {
  const Bytes fill = encoded_fill(variable);
  const std::int64_t begin = slab_begin(variable, slab);
  const std::int64_t end = slab_with_padding(variable);
  Bytes piece;
  for (std::int64_t at = padding_only ? layout().slabs[variable] : 0; at < end; at += k_piece) {
    piece.resize(static_cast<std::size_t>(std::min(k_piece, end - at)));
    fill_with(piece, fill, static_cast<std::size_t>(at) % fill.size());
    hold(begin + at, piece);
  }
}

void FlatCatalog::fill_all_missing() {
  for (int v = 0; v < filling_.count(); ++v)
    fill_missing(v, nullptr);
}

// ---- Bytes that wait

void FlatCatalog::hold(std::int64_t offset, std::span<const std::byte> bytes) {
  pending_.put(static_cast<std::uint64_t>(offset), bytes);
  if (pending_.size() <= k_most_pending) return;
  flush(true);
  if (pending_.size() > k_most_pending) flush(false);
}

void FlatCatalog::write_out(int variable) {
  usable(variable);
  if (!writable_) return;  // nothing was put
  fill_missing(variable, nullptr);
  flush_chosen([&](std::uint64_t offset, std::size_t n) {
    const auto begin = static_cast<std::int64_t>(offset);
    return touches(variable, begin, begin + static_cast<std::int64_t>(n));
  });
}

void FlatCatalog::flush(bool invisible_only) {
  flush_chosen([&](std::uint64_t offset, std::size_t n) {
    const auto begin = static_cast<std::int64_t>(offset);
    return !invisible_only || !is_visible(begin, begin + static_cast<std::int64_t>(n));
  });
}

void FlatCatalog::flush_chosen(const PendingBytes::Choice& chosen) {
  pending_.flush([this](std::uint64_t offset, std::span<const std::byte> bytes) { write(offset, bytes); },
                 chosen);
}

void FlatCatalog::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  store_->write(offset, bytes);
  unsynced_ = true;
  ++traffic_.writes;
  traffic_.bytes_written += static_cast<std::int64_t>(bytes.size());
}

void FlatCatalog::read(std::int64_t offset, std::span<std::byte> bytes, const Bytes& fill) {
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

// Readers take a file that is shorter than its header says for a damaged one.
void FlatCatalog::reach_end() {
  const auto end = static_cast<std::uint64_t>(end_of(records()));
  if (end > ensured_end_ && store_->size() < end) {
    store_->resize(end);
    unsynced_ = true;
  }
  ensured_end_ = std::max(ensured_end_, end);
}

void FlatCatalog::close(bool durable) {
  if (closed_) return;
  commit(durable);
  closed_ = true;
  writable_ = false;
  store_->close();
}

}  // namespace shoal
