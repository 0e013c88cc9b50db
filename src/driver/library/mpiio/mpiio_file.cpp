// SPDX-License-Identifier: BSD-3-Clause
#include "driver/library/mpiio/mpiio_file.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "driver/file/file_catalog.hpp"
#include "driver/library/library_driver.hpp"
#include "driver/protocol/root_values.hpp"
#include "driver/registry.hpp"
#include "format/format_traits.hpp"
#include "pack/pieces.hpp"

namespace shoal {

namespace {

/// Only the size counts.
MPI_Datatype element_of(std::size_t size) {
  switch (size) {
    case 1:
      return MPI_BYTE;
    case 2:
      return MPI_INT16_T;
    case 4:
      return MPI_INT32_T;
    default:
      return MPI_INT64_T;
  }
}

/// Cells between this machine's byte order and the file's, in place.
void swap_as_in_file(std::byte* cells, std::size_t size, std::int64_t n, const Placement& where) {
  if (where.swapped && size > 1) swap_bytes(cells, size, n);
}

}  // namespace

MpiioFile::MpiioFile(const LibraryContext& context) : context_(context) {
  if (traits_of(context_.schema.format).is_classic || context_.schema.format == Format::raw) {
    const Timer timer(context_.counters.open);
    refuse_lossy_hints(context.path, context.options.library.hints);
    context.comm.on_root([&] {
      catalog_ = catalog_of_file(context.path, context.mode, context.schema.format, context.options,
                                 context.counters.warnings);
      if (context.mode == OpenMode::write) nothing_through_catalog();
    });
    open_files();
    return;
  }
  throw Error(Code::not_supported,
              "driver mpiio cannot read format {}, only raw, cdf1, cdf2 and cdf5; use driver native",
              name_of(context_.schema.format));
}

LibraryTraits MpiioFile::traits() const {
  LibraryTraits traits;
  traits.in_file_order = true;
  traits.may_hide_no_space = is_ompio(context_.path);
  traits.most_bytes = k_most_bytes;
  return traits;
}

void MpiioFile::open_files() {
  const MpiInfo hints(context_.options.library.hints);
  shared_ = std::make_unique<MpiFile>(context_.comm, context_.path, context_.writable(), hints);
  single_ = std::make_unique<MpiFile>(context_.comm, context_.path, context_.writable(), hints);
  MpiInfo used;
  shared_->info(used);
  note_hints(context_.options.library.hints, used, context_.counters);
  overlaps_alone_ = context_.comm.size() > 1 && is_ompio(context_.path);
}

// So that it does not fill what ranks write.
void MpiioFile::nothing_through_catalog() {
  for (int v = 0; v < static_cast<int>(catalog_->schema().variables.size()); ++v)
    catalog_->set_distributed(v);
}

void MpiioFile::report_records() {
  const auto& dims = catalog_->schema().dims;
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d].unlimited) catalog_->grow(static_cast<int>(d), context_.schema.dims[d].length);
}

bool MpiioFile::has_place(const Schema& wanted) {
  report_records();
  return catalog_->has_place(wanted);
}

void MpiioFile::extend(const Schema& wanted, std::vector<Placement>& placements) {
  constexpr std::int64_t k_longest = std::numeric_limits<int>::max();
  for (const auto& dim : wanted.dims)
    if (!dim.unlimited && dim.length > k_longest)
      throw Error(Code::not_supported,
                  "dimension '{}' is {} long; datatypes of MPI allow up to {}: use driver native", dim.name,
                  dim.length, k_longest);
  placements = value_of_root(context_.comm, [&] {
    report_records();  // where there are records, nothing moves
    catalog_->define(wanted);
    std::vector<Placement> made;
    for (int v = 0; v < static_cast<int>(wanted.variables.size()); ++v)
      made.push_back(catalog_->placement(v));
    nothing_through_catalog();
    return made;
  });
}

/// The places of a box's cells, from the first of them on.
std::optional<MpiType> MpiioFile::filetype(int v, const Box& box) const {
  const std::size_t size = size_of(context_.variable(v).type);
  const bool of_records = context_.schema.has_record(v);
  const Dims shape = context_.schema.shape(v);
  std::vector<int> sizes;
  std::vector<int> counts;
  std::vector<int> starts;
  for (int d = of_records ? 1 : 0; d < box.rank(); ++d) {
    sizes.push_back(static_cast<int>(shape[d]));
    counts.push_back(static_cast<int>(box.count[d]));
    starts.push_back(static_cast<int>(box.first[d]));
  }
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const MPI_Datatype element = element_of(size);
  const auto n = static_cast<int>(sizes.size());
  if (n > 0)
    check_mpi(
        MPI_Type_create_subarray(n, sizes.data(), counts.data(), starts.data(), MPI_ORDER_C, element, &made),
        "MPI_Type_create_subarray");
  else
    check_mpi(MPI_Type_contiguous(1, element, &made), "MPI_Type_contiguous");
  std::optional<MpiType> type(std::in_place, made);
  if (of_records && box.count[0] > 1) {
    const auto stride = static_cast<MPI_Aint>(context_.placement(v).stride);
    MPI_Datatype records = MPI_DATATYPE_NULL;
    check_mpi(MPI_Type_create_hvector(static_cast<int>(box.count[0]), 1, stride, type->get(), &records),
              "MPI_Type_create_hvector");
    type.emplace(records);
    made = records;
  }
  check_mpi(MPI_Type_commit(&made), "MPI_Type_commit");
  return type;
}

/// Calls visit(offset in the file, byte in the packed box, bytes).
template <class Visit>
void MpiioFile::for_each_run(int v, const Box& box, Visit&& visit) const {
  const Placement& place = context_.placement(v);
  const std::size_t size = size_of(context_.variable(v).type);
  ExtentMerger merger(
      [&](const Extent& extent) { visit(extent.in_file.offset, extent.in_memory, extent.bytes); });
  if (box.rank() == 0) {
    merger.add({{0, place.begin}, 0, static_cast<std::int64_t>(size)});
  } else {
    std::int64_t packed = 0;
    for_each_piece({box}, place.chunk, box.cells(), [&](const Piece& piece) {
      add_extents(piece, place.chunk, size, location_of(place, piece.chunk_index[0]), packed, merger);
      packed += piece.cells.cells() * static_cast<std::int64_t>(size);
    });
  }
  merger.flush();
}

void MpiioFile::write(int v, const Box& box, const std::byte* cells, bool have, Access access) {
  const std::size_t size = size_of(context_.variable(v).type);
  if (access == Access::independent) {
    if (!have) return;
    for_each_run(v, box, [&](std::uint64_t offset, std::int64_t at, std::int64_t bytes) {
      single_->write_at(offset, cells + at, bytes);
      ++context_.counters.writes;
    });
    return;
  }
  ++context_.counters.writes;
  const Placement& place = context_.placement(v);
  const auto type = have ? filetype(v, box) : std::nullopt;
  const std::int64_t record = have && context_.schema.has_record(v) ? box.first[0] : 0;
  shared_->write_all(place.begin + place.stride * static_cast<std::uint64_t>(record), element_of(size),
                     type ? &*type : nullptr, cells, have ? box.cells() : 0);
}

void MpiioFile::read(int v, const Box& box, std::byte* cells, bool have, Access access) {
  const std::size_t size = size_of(context_.variable(v).type);
  if (access == Access::independent) {
    if (!have) return;
    for_each_run(v, box, [&](std::uint64_t offset, std::int64_t at, std::int64_t bytes) {
      single_->read_at(offset, cells + at, bytes);
      ++context_.counters.reads;
    });
  } else {
    ++context_.counters.reads;
    const Placement& place = context_.placement(v);
    const auto type = have ? filetype(v, box) : std::nullopt;
    const std::int64_t record = have && context_.schema.has_record(v) ? box.first[0] : 0;
    shared_->read_all(place.begin + place.stride * static_cast<std::uint64_t>(record), element_of(size),
                      type ? &*type : nullptr, cells, have ? box.cells() : 0);
  }
}

void MpiioFile::store(int v, const Box& box, const std::byte* cells) {
  write(v, box, cells, !box.empty(), context_.options.library.access);
}

void MpiioFile::load(int v, const Box& box, std::byte* cells, bool overlapping) {
  read(v, box, cells, !box.empty(),
       overlapping && overlaps_alone_ ? Access::independent : context_.options.library.access);
}

// The box of a scalar is never empty.
void MpiioFile::store_replicated(int v, const Box& box, const std::byte* values) {
  const bool have = context_.is_root() && !box.empty();
  Bytes in_file;
  if (have && context_.placement(v).swapped) {
    const std::size_t size = size_of(context_.variable(v).type);
    in_file.assign(values, values + box.cells() * static_cast<std::int64_t>(size));
    swap_as_in_file(in_file.data(), size, box.cells(), context_.placement(v));
    values = in_file.data();
  }
  write(v, box, values, have, context_.options.library.replicated_access);
}

void MpiioFile::load_replicated(int v, const Box& box, std::byte* values, bool all) {
  const bool have = (context_.is_root() || all) && !box.empty();
  read(v, box, values, have,
       all && overlaps_alone_ ? Access::independent : context_.options.library.replicated_access);
  if (have) swap_as_in_file(values, size_of(context_.variable(v).type), box.cells(), context_.placement(v));
}

// Ranks of other nodes see what was stored once both sides synchronised (MPI's sync, barrier, sync).
void MpiioFile::complete_pending() {
  if (!context_.must_flush() || !context_.writable()) return;
  for (MpiFile* file : {shared_.get(), single_.get()})
    file->sync();
  context_.comm.barrier();
  for (MpiFile* file : {shared_.get(), single_.get()})
    file->sync();
}

void MpiioFile::commit(bool durable, bool /*closing*/) {
  if (durable) shared_->sync();
  context_.comm.on_root([&] {
    report_records();
    catalog_->commit(durable);
  });
}

void MpiioFile::close(bool durable) {
  const Status closed = caught([&] {
    single_->close();
    shared_->close();
  });
  context_.comm.on_root([&] { catalog_->close(durable); });
  if (!closed.ok()) throw Error(closed);
}

namespace {

std::unique_ptr<LibraryFile> open_mpiio_file(const LibraryContext& context) {
  return std::make_unique<MpiioFile>(context);
}

}  // namespace

std::unique_ptr<Driver> make_mpiio_driver(const Comm& comm, const std::string& path, OpenMode mode,
                                          Format format, const DriverOptions& options) {
  return std::make_unique<LibraryDriver>(comm, path, mode, format, options, open_mpiio_file);
}

}  // namespace shoal
