// SPDX-License-Identifier: BSD-3-Clause
#include "driver/mpiio/mpiio_driver.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "driver/file_catalog.hpp"
#include "driver/registry.hpp"
#include "pack/pieces.hpp"

namespace shoal {

namespace {

constexpr std::int64_t k_most_bytes = 1 << 30;  // counts of MPI are int

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

MpiioDriver::MpiioDriver(const Comm& comm, const std::string& path, OpenMode mode, Format format,
                         const DriverOptions& options)
    : BoxDriver(comm, path, mode, format, options) {
  if (is_classic_file(schema().format) || schema().format == Format::raw) {
    const Timer timer(count().open);
    refuse_lossy_hints(path, options.hints);
    comm.on_root([&] {
      catalog_ = catalog_of_file(path, mode, format, options, count().warnings);
      if (mode == OpenMode::write) nothing_through_catalog();
    });
    open_files();
    warn_of_sharing();
    watch_device(is_ompio(path));
    return;
  }
  throw Error(Code::not_supported, std::string("driver mpiio cannot read format ") +
                                       name_of(schema().format) +
                                       ", only raw, cdf1, cdf2 and cdf5; use driver native");
}

void MpiioDriver::open_files() {
  const MpiInfo hints(options().hints);
  shared_ = std::make_unique<MpiFile>(comm(), path(), writable(), hints);
  single_ = std::make_unique<MpiFile>(comm(), path(), writable(), hints);
  MpiInfo used;
  shared_->info(used);
  note_hints(options().hints, used, count());
  overlaps_alone_ = comm().size() > 1 && is_ompio(path());
}

// So that it does not fill what ranks write.
void MpiioDriver::nothing_through_catalog() {
  for (int v = 0; v < static_cast<int>(catalog_->schema().variables.size()); ++v)
    catalog_->set_distributed(v);
}

void MpiioDriver::extend(const Schema& wanted) {
  constexpr std::int64_t k_longest = std::numeric_limits<int>::max();
  for (const auto& dim : wanted.dims)
    if (!dim.unlimited && dim.length > k_longest)
      throw Error(Code::not_supported, "dimension '" + dim.name + "' is " + std::to_string(dim.length) +
                                           " long; datatypes of MPI allow up to " +
                                           std::to_string(k_longest) + ": use driver native");
  const Bytes message = comm().from_root([&] {
    const auto& dims = catalog_->schema().dims;
    for (int d = 0; d < static_cast<int>(dims.size()); ++d)  // where there are records, nothing moves
      if (dims[static_cast<std::size_t>(d)].unlimited)
        catalog_->grow(d, schema().dims[static_cast<std::size_t>(d)].length);
    catalog_->define(wanted);
    std::vector<Placement> placements;
    for (int v = 0; v < static_cast<int>(wanted.variables.size()); ++v)
      placements.push_back(catalog_->placement(v));
    nothing_through_catalog();
    ByteWriter out;
    out.put(placements);
    return out.take();
  });
  ByteReader(message).get(placements_);
}

std::int64_t MpiioDriver::most_bytes() const {
  return k_most_bytes;
}

/// The places of a box's cells, from the first of them on.
std::optional<MpiType> MpiioDriver::filetype(int v, const Box& box) const {
  const std::size_t size = size_of(variable(v).type);
  const bool of_records = schema().has_record(v);
  const Dims shape = schema().shape(v);
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
    const auto stride = static_cast<MPI_Aint>(where(v).stride);
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
void MpiioDriver::for_each_run(int v, const Box& box, Visit&& visit) const {
  const Placement& place = where(v);
  const std::size_t size = size_of(variable(v).type);
  ExtentMerger merger([&](const Extent& extent) { visit(extent.in_file, extent.in_stage, extent.bytes); });
  if (box.rank() == 0) {
    merger.add({place.begin, 0, static_cast<std::int64_t>(size)});
  } else {
    std::int64_t packed = 0;
    for_each_piece({box}, place.chunk, box.cells(), [&](const Piece& piece) {
      const auto address = place.begin + place.stride * static_cast<std::uint64_t>(piece.chunk_index[0]);
      add_extents(piece, place.chunk, size, address, packed, merger);
      packed += piece.cells.cells() * static_cast<std::int64_t>(size);
    });
  }
  merger.flush();
}

void MpiioDriver::write(int v, const Box& box, const std::byte* cells, bool have, Access access) {
  const std::size_t size = size_of(variable(v).type);
  if (access == Access::independent) {
    if (!have) return;
    for_each_run(v, box, [&](std::uint64_t offset, std::int64_t at, std::int64_t bytes) {
      single_->write_at(offset, cells + at, bytes);
      ++count().writes;
    });
    return;
  }
  ++count().writes;
  const Placement& place = where(v);
  const auto type = have ? filetype(v, box) : std::nullopt;
  const std::int64_t record = have && schema().has_record(v) ? box.first[0] : 0;
  shared_->write_all(place.begin + place.stride * static_cast<std::uint64_t>(record), element_of(size),
                     type ? &*type : nullptr, cells, have ? box.cells() : 0);
}

void MpiioDriver::read(int v, const Box& box, std::byte* cells, bool have, Access access) {
  const std::size_t size = size_of(variable(v).type);
  if (access == Access::independent) {
    if (!have) return;
    for_each_run(v, box, [&](std::uint64_t offset, std::int64_t at, std::int64_t bytes) {
      single_->read_at(offset, cells + at, bytes);
      ++count().reads;
    });
  } else {
    ++count().reads;
    const Placement& place = where(v);
    const auto type = have ? filetype(v, box) : std::nullopt;
    const std::int64_t record = have && schema().has_record(v) ? box.first[0] : 0;
    shared_->read_all(place.begin + place.stride * static_cast<std::uint64_t>(record), element_of(size),
                      type ? &*type : nullptr, cells, have ? box.cells() : 0);
  }
}

Element MpiioDriver::stored(int v) const {
  Element element = BoxDriver::stored(v);
  element.swapped = where(v).swapped;
  return element;
}

void MpiioDriver::store(int v, const Box& box, const std::byte* cells) {
  write(v, box, cells, !box.empty(), options().access);
}

void MpiioDriver::load(int v, const Box& box, std::byte* cells) {
  read(v, box, cells, !box.empty(),
       overlapping() && overlaps_alone_ ? Access::independent : options().access);
}

// The box of a scalar is never empty.
void MpiioDriver::store_replicated(int v, const Box& box, const std::byte* values) {
  const bool have = root() && !box.empty();
  Bytes in_file;
  if (have && where(v).swapped) {
    const std::size_t size = size_of(variable(v).type);
    in_file.assign(values, values + box.cells() * static_cast<std::int64_t>(size));
    swap_as_in_file(in_file.data(), size, box.cells(), where(v));
    values = in_file.data();
  }
  write(v, box, values, have, options().replicated_access);
}

void MpiioDriver::load_replicated(int v, const Box& box, std::byte* values, bool all) {
  const bool have = (root() || all) && !box.empty();
  read(v, box, values, have, all && overlaps_alone_ ? Access::independent : options().replicated_access);
  if (have) swap_as_in_file(values, size_of(variable(v).type), box.cells(), where(v));
}

// Ranks of other nodes see what was stored once both sides synchronised (MPI's sync, barrier, sync).
void MpiioDriver::complete_pending() {
  if (!must_flush() || !writable()) return;
  for (MpiFile* file : {shared_.get(), single_.get()})
    file->sync();
  comm().barrier();
  for (MpiFile* file : {shared_.get(), single_.get()})
    file->sync();
}

void MpiioDriver::commit(bool durable) {
  durable_ = durable;
  if (durable) shared_->sync();
  comm().on_root([&] {
    const auto& dims = schema().dims;
    for (int d = 0; d < static_cast<int>(dims.size()); ++d)
      if (dims[static_cast<std::size_t>(d)].unlimited)
        catalog_->grow(d, dims[static_cast<std::size_t>(d)].length);
    catalog_->commit(durable);
  });
}

void MpiioDriver::close_file() {
  const Status closed = caught([&] {
    single_->close();
    shared_->close();
  });
  comm().on_root([&] { catalog_->close(durable_); });
  if (!closed.ok()) throw Error(closed);
}

std::unique_ptr<Driver> make_mpiio_driver(const Comm& comm, const std::string& path, OpenMode mode,
                                          Format format, const DriverOptions& options) {
  return std::make_unique<MpiioDriver>(comm, path, mode, format, options);
}

}  // namespace shoal
