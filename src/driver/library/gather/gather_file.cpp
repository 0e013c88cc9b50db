// SPDX-License-Identifier: BSD-3-Clause
#include "driver/library/gather/gather_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "comm/tags.hpp"
#include "driver/file/shared_file.hpp"
#include "driver/library/gather/slab.hpp"
#include "driver/library/library_driver.hpp"
#include "driver/registry.hpp"
#include "format/classic/header.hpp"
#include "format/classic/layout.hpp"
#include "format/format_traits.hpp"
#include "format/netcdf4/contents.hpp"
#include "pack/pieces.hpp"

namespace shoal {

namespace {

using PackedBox = std::array<std::int64_t, 2 * static_cast<std::size_t>(k_max_dims) + 1>;

PackedBox packed(const Box& box) {
  PackedBox out{};
  for (int d = 0; d < box.rank(); ++d) {
    out[static_cast<std::size_t>(d)] = box.first[d];
    out[static_cast<std::size_t>(k_max_dims + d)] = box.count[d];
  }
  return out;
}

Box unpacked(const PackedBox& in, int rank) {
  Box box(Dims(std::span(in.data(), static_cast<std::size_t>(rank))),
          Dims(std::span(in.data() + k_max_dims, static_cast<std::size_t>(rank))));
  return box;
}

/// Do the cells of the part follow each other in the box?
bool follow(const Box& part, const Box& box) {
  int d = 0;
  while (d < part.rank() && part.count[d] == 1)
    ++d;
  for (++d; d < part.rank(); ++d)
    if (part.count[d] != box.count[d]) return false;
  return true;
}

std::int64_t offset_of(const Box& part, const Box& box, std::size_t size) {
  return position_in(part.first, box) * static_cast<std::int64_t>(size);
}

/// Copies the cells of a part from where they lie row-major in one box to where they do in another.
void copy_cells(const Box& part, Type type, const std::byte* from, const Box& from_box, std::byte* to,
                const Box& to_box) {
  const std::size_t size = size_of(type);
  const ConvertRun copy = find_conversion({type, size, false}, {type, size, false});
  copy_box(from + offset_of(part, from_box, size), byte_strides(from_box.count, size),
           to + offset_of(part, to_box, size), byte_strides(to_box.count, size), part.count, copy, nullptr);
}

}  // namespace

GatherFile::GatherFile(const LibraryContext& context) : context_(context) {
  const DriverOptions& options = context.options;
  if (options.reading.all_read)
    throw Error(Code::setting,
                "driver gather reads on rank 0 alone; take replicated_read=one, or another driver");
  for (const auto& [key, value] : options.library.hints)
    context_.counters.hints_dropped.push_back(fmt::format("{}={}", key, value));
  context.comm.handle();  // all are here to make it
  context.comm.on_root([&] {
    const Timer timer(context_.counters.open);
#ifdef SHOAL_HAVE_NETCDF
    if (!traits_of(context_.schema.format).has_header_file) {
      const OpenMode striped = with_stripes(context.path, context.mode, options.stripes, options.system,
                                            context_.counters.warnings);
      file_ = open_netcdf_file(context.path, striped, context_.schema, options);
      return;
    }
#endif
    file_ = open_catalog_file(context.path, context.mode, context_.schema.format, options,
                              context_.counters.warnings);
  });
}

LibraryTraits GatherFile::traits() const {
  LibraryTraits traits;
  traits.fills = !traits_of(context_.schema.format).interleaves_records;
  traits.holds_strings = true;
  traits.root_alone = true;
  return traits;
}

// netCDF-C has written the header when it leaves define mode.
bool GatherFile::has_place(const Schema& wanted) {
  const auto store = context_.options.system.open_store(context_.path, StoreMode::read);
  const ClassicHeader header = decode_header(*store);
  store->close();
  return context_.stays_in_place(wanted, header.begins);
}

void GatherFile::extend(const Schema& wanted, std::vector<Placement>& /*placements*/) {
  if (traits_of(wanted.format).is_classic) check_classic(wanted, context_.schema);
  if (traits_of(wanted.format).has_chunks) netcdf4::check_extension(context_.schema, wanted);
  context_.comm.on_root([&] { file_->define(context_.schema, wanted); });
}

GatherFile::GatheredBoxes GatherFile::gather_boxes(const Box& mine) const {
  GatheredBoxes gathered;
  if (context_.comm.size() == 1) {
    gathered.boxes = {mine};
    gathered.all = mine;
    return gathered;
  }
  const PackedBox own = packed(mine);
  std::vector<PackedBox> all(context_.is_root() ? static_cast<std::size_t>(context_.comm.size()) : 0);
  const int n = static_cast<int>(own.size());
  check_mpi(MPI_Gather(own.data(), n, MPI_INT64_T, all.data(), n, MPI_INT64_T, 0, context_.comm.handle()),
            "MPI_Gather");
  gathered.all = Box(Dims(mine.rank()), Dims(mine.rank()));
  for (const auto& box : all) {
    gathered.boxes.push_back(unpacked(box, mine.rank()));
    gathered.all = bounding(gathered.all, gathered.boxes.back());
  }
  PackedBox bounds = packed(gathered.all);
  check_mpi(MPI_Bcast(bounds.data(), n, MPI_INT64_T, 0, context_.comm.handle()), "MPI_Bcast");
  gathered.all = unpacked(bounds, mine.rank());
  return gathered;
}

std::vector<GatherFile::Part> GatherFile::parts_of(const GatheredBoxes& gathered, const Box& slab) {
  std::vector<Part> parts;
  for (std::size_t r = 0; r < gathered.boxes.size(); ++r) {
    const Box cells = intersection(gathered.boxes[r], slab);
    if (!cells.empty()) parts.push_back({static_cast<int>(r), cells});
  }
  return parts;
}

/// The slabs of the box, in file order, the same on all ranks.
template <class Visit>
void GatherFile::for_each_slab(const Box& all, Type type, Visit&& visit) const {
  if (all.empty()) return;
  const auto size = static_cast<std::int64_t>(size_of(type));
  Dims everything = all.count;
  for (int d = 0; d < everything.size(); ++d)
    everything[d] = all.end(d);
  for_each_piece({all}, everything,
                 std::max<std::int64_t>(gather_slab_bytes(context_.options.stage) / size, 1),
                 [&](const Piece& piece) { visit(piece.cells); });
}

/// Calls on_root(slab) on rank 0, with room for its cells in slab_, and elsewhere(this rank's part of it) on
/// the others, for each slab of the boxes of all ranks. Calls whatever fails, as other ranks wait for
/// messages.
template <class OnRoot, class Elsewhere>
void GatherFile::for_each_slab_of_ranks(int v, const Box& box, OnRoot&& on_root, Elsewhere&& elsewhere) {
  const Type type = context_.variable(v).type;
  const GatheredBoxes gathered = gather_boxes(box);
  Status status;
  for_each_slab(gathered.all, type, [&](const Box& cells) {
    ++context_.counters.slabs;
    if (!context_.is_root()) return elsewhere(intersection(box, cells));
    const Slab slab{cells, parts_of(gathered, cells), type, status};
    if (slab.parts.empty()) return;
    slab_.resize(bytes_of(cells, size_of(type)));
    on_root(slab);
    note_memory();
  });
  if (!gathered.all.empty()) --context_.counters.slabs;  // the first is no cut
  if (!status.ok()) throw Error(status);
}

void GatherFile::store(int v, const Box& box, const std::byte* cells) {
  if (context_.comm.size() == 1) {
    if (box.empty()) return;
    file_->put(v, box, cells);
    ++context_.counters.writes;
    return;
  }
  const Type type = context_.variable(v).type;
  for_each_slab_of_ranks(
      v, box, [&](const Slab& slab) { collect(v, slab, cells, box); },
      [&](const Box& part) { send(part, type, cells, box, 0); });
}

void GatherFile::collect(int v, const Slab& slab, const std::byte* mine, const Box& box) {
  const VariableDef& definition = context_.variable(v);
  const std::size_t size = size_of(slab.type);
  std::int64_t cells = 0;
  for (const auto& part : slab.parts)
    cells += part.cells.cells();
  const bool some_unowned = cells < slab.cells.cells();
  const bool keeps = some_unowned && keeps_unowned_;
  if (some_unowned && !keeps) {
    const Bytes fill = fill_of(definition);
    fill_box(slab_.data(), {static_cast<std::int64_t>(size)}, {slab.cells.cells()}, fill.data(), size);
  }
  for (const auto& part : slab.parts) {
    if (part.rank == 0)
      copy_cells(part.cells, slab.type, mine, box, slab_.data(), slab.cells);
    else
      receive(part.cells, slab.type, slab_.data(), slab.cells, part.rank);
  }
  ++context_.counters.writes;
  if (!slab.status.ok()) return;
  slab.status = caught([&] {
    if (!keeps) return file_->put(v, slab.cells, slab_.data());
    for (const auto& part : slab.parts) {
      part_.resize(bytes_of(part.cells, size));
      copy_cells(part.cells, slab.type, slab_.data(), slab.cells, part_.data(), part.cells);
      file_->put(v, part.cells, part_.data());
    }
  });
}

void GatherFile::load(int v, const Box& box, std::byte* cells, bool /*overlapping*/) {
  if (context_.comm.size() == 1) {
    if (box.empty()) return;
    file_->get(v, box, cells);
    ++context_.counters.reads;
    return;
  }
  const Type type = context_.variable(v).type;
  for_each_slab_of_ranks(
      v, box, [&](const Slab& slab) { spread(v, slab, cells, box); },
      [&](const Box& part) { receive(part, type, cells, box, 0); });
}

// Every part is sent, also where nothing could be read.
void GatherFile::spread(int v, const Slab& slab, std::byte* mine, const Box& box) {
  if (slab.status.ok()) slab.status = caught([&] { file_->get(v, slab.cells, slab_.data()); });
  for (const auto& part : slab.parts) {
    if (part.rank == 0)
      copy_cells(part.cells, slab.type, slab_.data(), slab.cells, mine, box);
    else
      send(part.cells, slab.type, slab_.data(), slab.cells, part.rank);
  }
  ++context_.counters.reads;
}

void GatherFile::send(const Box& part, Type type, const std::byte* cells, const Box& box, int to) {
  if (part.empty()) return;
  const std::size_t size = size_of(type);
  const std::size_t bytes = bytes_of(part, size);
  const std::byte* from = cells + offset_of(part, box, size);
  if (!follow(part, box)) {
    part_.resize(bytes);
    copy_cells(part, type, cells, box, part_.data(), part);
    from = part_.data();
  }
  check_mpi(MPI_Send(from, static_cast<int>(bytes), MPI_BYTE, to, tags::gathered, context_.comm.handle()),
            "MPI_Send");
}

void GatherFile::receive(const Box& part, Type type, std::byte* cells, const Box& box, int from) {
  if (part.empty()) return;
  const std::size_t size = size_of(type);
  const std::size_t bytes = bytes_of(part, size);
  const bool direct = follow(part, box);
  if (!direct) part_.resize(bytes);
  check_mpi(MPI_Recv(direct ? cells + offset_of(part, box, size) : part_.data(), static_cast<int>(bytes),
                     MPI_BYTE, from, tags::gathered, context_.comm.handle(), MPI_STATUS_IGNORE),
            "MPI_Recv");
  if (!direct) copy_cells(part, type, part_.data(), part, cells, box);
}

void GatherFile::note_memory() {
  auto& counters = context_.counters;
  counters.stage_bytes = 2 * gather_slab_bytes(context_.options.stage);
  counters.stage_high_water =
      std::max(counters.stage_high_water, static_cast<std::int64_t>(slab_.size() + part_.size()));
}

void GatherFile::store_replicated(int v, const Box& box, const std::byte* values) {
  if (context_.is_root() && !box.empty()) file_->put(v, box, values);
}

void GatherFile::store_strings(int v, const Box& box, const std::vector<std::string>& values) {
  if (context_.is_root() && !box.empty()) file_->put_strings(v, box, values);
}

void GatherFile::load_replicated(int v, const Box& box, std::byte* values, bool /*all*/) {
  if (context_.is_root() && !box.empty()) file_->get(v, box, values);
}

std::vector<std::string> GatherFile::load_strings(int v, const Box& box) {
  return box.empty() ? std::vector<std::string>{} : file_->get_strings(v, box);
}

// Records where no rank had a cell.
void GatherFile::complete_pending() {
  if (context_.is_root() && context_.writable()) file_->grow(context_.schema);
}

void GatherFile::commit(bool durable, bool /*closing*/) {
  context_.comm.on_root([&] { file_->commit(durable); });
}

void GatherFile::close(bool durable) {
  context_.comm.on_root([&] { file_->close(durable); });
}

namespace {

std::unique_ptr<LibraryFile> open_gather_file(const LibraryContext& context) {
  return std::make_unique<GatherFile>(context);
}

}  // namespace

std::unique_ptr<Driver> make_gather_driver(const Comm& comm, const std::string& path, OpenMode mode,
                                           Format format, const DriverOptions& options) {
  return std::make_unique<LibraryDriver>(comm, path, mode, format, options, open_gather_file);
}

}  // namespace shoal
