// SPDX-License-Identifier: BSD-3-Clause
#include "format/raw/raw_catalog.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "format/classic/layout.hpp"
#include "format/format_traits.hpp"
#include "format/raw/text_values.hpp"
#include "storage/leftovers.hpp"
#include "storage/paths.hpp"
#include "storage/replacement.hpp"

namespace shoal {

namespace {

// Text is read in pieces of this many bytes, so that no call needs memory that grows with the variable.
constexpr std::int64_t k_text_piece = std::int64_t{1} << 20;

}  // namespace

RawCatalog::RawCatalog(Format format, std::unique_ptr<Store> store, const CatalogOptions& options)
    : FlatCatalog(std::move(store), true, options) {
  schema_.format = format;
  remove_file(header_path(store_->path()));
}

RawCatalog::RawCatalog(std::unique_ptr<Store> store, bool writable, const CatalogOptions& options)
    : FlatCatalog(std::move(store), writable, options) {
  RawHeader header = read_raw_header(store_->path());
  schema_ = std::move(header.schema);
  layout_ = std::move(header.layout);
  swapped_ = header.swapped;
  note_found();
  committed_records_ = records();
  check_file_size();
}

void RawCatalog::check_file_size() {
  const auto end = static_cast<std::uint64_t>(layout_.end(records()));
  const std::uint64_t size = store_->size();
  if (size >= end) return;
  throw Error(Code::format,
              "the file is truncated: it has {} bytes, and by {} there must be {} of {} records", size,
              header_path(store_->path()), end, records())
      .in_file(store_->path());
}

void RawCatalog::define(const Schema& wanted) {
  need_writable();
  in_context(store_->path(), [&] {
    Schema schema = extended_schema(schema_, wanted, true, options_.fill);
    RawLayout layout = extended_raw_layout(layout_, schema, records(), options_);
    layout.end(records());
    take_definitions(std::move(schema));
    layout_ = std::move(layout);
  });
}

Placement RawCatalog::placement(int variable) const {
  if (!is_text()) return FlatCatalog::placement(variable);
  usable(variable);
  Placement placement;
  placement.kind = Placement::Kind::library;
  placement.chunk = schema_.shape(variable);
  return placement;
}

std::int64_t RawCatalog::width_of(int variable) const {
  return element_bytes(schema_.format, schema_.variable(variable).type);
}

void RawCatalog::encode(int variable, const std::byte* values, std::int64_t n, Bytes& to) const {
  if (!is_text()) return FlatCatalog::encode(variable, values, n, to);
  to.resize(static_cast<std::size_t>(n * width_of(variable)));
  to_text(values, schema_.variable(variable).type, n, reinterpret_cast<char*>(to.data()));
}

void RawCatalog::get_run(int variable, std::int64_t offset, std::int64_t n, std::byte* values,
                         const Bytes& fill) {
  if (!is_text()) return FlatCatalog::get_run(variable, offset, n, values, fill);
  const auto size = static_cast<std::int64_t>(size_of(schema_.variable(variable).type));
  const std::int64_t width = width_of(variable);
  const std::int64_t step = k_text_piece / width;
  Bytes piece;
  for (std::int64_t at = 0; at < n; at += step) {
    const std::int64_t part = std::min(step, n - at);
    piece.resize(static_cast<std::size_t>(part * width));
    read(offset + at * width, piece, fill);
    decode(variable, piece, part, values + at * size, offset + at * width);
  }
}

void RawCatalog::decode(int variable, const Bytes& in_file, std::int64_t n, std::byte* values,
                        std::int64_t offset) const {
  const VariableDef& definition = schema_.variable(variable);
  const auto* text = reinterpret_cast<const char*>(in_file.data());
  const Bytes fill = fill_of(definition);
  const std::int64_t bad = from_text(text, definition.type, n, values, fill.data());
  if (bad < 0) return;
  const std::int64_t width = width_of(variable);
  throw located(
      Error(Code::format, "the line at byte {}, '{}', is no {} of {} characters", offset + bad * width,
            std::string(text + bad * width, static_cast<std::size_t>(width - 1)), name_of(definition.type),
            width - 1),
      variable);
}

void RawCatalog::commit(bool durable) {
  if (!writable_) return;
  fill_all_missing();
  flush(false);
  reach_end();
  if (durable) store_->sync();
  const std::string header = encode_raw_header(schema_, layout_, swapped_);
  if (header != written_header_ || durable) {
    replace_whole_file(header_path(store_->path()), header, durable);
    ++traffic_.writes;
    traffic_.bytes_written += static_cast<std::int64_t>(header.size());
    written_header_ = header;
  }
  committed_records_ = records();
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
