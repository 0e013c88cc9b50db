// SPDX-License-Identifier: BSD-3-Clause
#include "format/raw/raw_layout.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "format/classic/layout.hpp"
#include "format/raw/text_values.hpp"

namespace shoal {

namespace {

std::int64_t round_up(std::int64_t n, std::int64_t to) {
  return checked_sum(n, to - 1) / to * to;
}

/// What its slabs start at multiples of.
std::int64_t grain_of(Format format, Type type) {
  return format == Format::ascii ? 1 : element_bytes(format, type);
}

std::int64_t alignment_of(const Schema& schema, bool distributed, const CatalogOptions& options) {
  return schema.format == Format::ascii || !distributed ? 1 : std::max<std::int64_t>(options.alignment, 1);
}

/// A record's slabs, laid out anew.
void lay_out_records(RawLayout& layout, const Schema& schema, const CatalogOptions& options) {
  std::int64_t largest_grain = 1;
  bool distributed = false;
  for (int v = 0; v < static_cast<int>(schema.variables.size()); ++v) {
    if (!schema.has_record(v)) continue;
    const auto& variable = schema.variable(v);
    largest_grain = std::max(largest_grain, grain_of(schema.format, variable.type));
    distributed = distributed || variable.distributed;
  }
  layout.record_begin =
      round_up(round_up(layout.fixed_end, alignment_of(schema, distributed, options)), largest_grain);
  std::int64_t at = layout.record_begin;
  for (int v = 0; v < static_cast<int>(schema.variables.size()); ++v) {
    if (!schema.has_record(v)) continue;
    at = round_up(at, grain_of(schema.format, schema.variable(v).type));
    layout.begins[v] = at;
    layout.slabs[v] = raw_slab_bytes(schema, v);
    at = checked_sum(at, layout.slabs[v]);
  }
  layout.record_bytes = round_up(at - layout.record_begin, largest_grain);
}

}  // namespace

std::int64_t RawLayout::end(std::int64_t records) const {
  if (record_bytes == 0 || records == 0) return fixed_end;
  return checked_sum(record_begin, checked_product(records, record_bytes));
}

std::int64_t element_bytes(Format format, Type type) {
  return format == Format::ascii ? text_width(type) : static_cast<std::int64_t>(size_of(type));
}

std::int64_t raw_slab_bytes(const Schema& schema, int variable) {
  const auto& definition = schema.variable(variable);
  std::int64_t bytes = element_bytes(schema.format, definition.type);
  for (std::size_t d = schema.has_record(variable) ? 1 : 0; d < definition.dims.size(); ++d)
    bytes = checked_product(bytes, schema.dim(definition.dims[d]).length);
  return bytes;
}

RawLayout extended_raw_layout(const RawLayout& layout, const Schema& schema, std::int64_t records,
                              const CatalogOptions& options) {
  RawLayout out = layout;
  const std::size_t old_count = layout.begins.size();
  out.begins.resize(schema.variables.size());
  out.slabs.resize(schema.variables.size());
  for (std::size_t v = old_count; v < schema.variables.size(); ++v) {
    const auto& variable = schema.variables[v];
    const bool of_records = schema.has_record(static_cast<int>(v));
    if (records > 0 && (of_records || out.record_bytes > 0))
      throw Error(Code::not_supported,
                  "the file has {} records, and format {} has no room for more variables then; define it "
                  "before the first record is written, or use the format cdf5 or netcdf4",
                  records, name_of(schema.format))
          .of_variable(variable.name);
    if (of_records) continue;
    out.begins[v] = round_up(round_up(out.fixed_end, alignment_of(schema, variable.distributed, options)),
                             grain_of(schema.format, variable.type));
    out.slabs[v] = raw_slab_bytes(schema, static_cast<int>(v));
    out.fixed_end = checked_sum(out.begins[v], out.slabs[v]);
  }
  if (records == 0) lay_out_records(out, schema, options);
  return out;
}

}  // namespace shoal
