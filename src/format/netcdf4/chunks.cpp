// SPDX-License-Identifier: BSD-3-Clause
// Where the bytes of variables lie: placement, place and find of the netCDF-4 catalog.
#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <span>

#include "codec/convert.hpp"
#include "format/netcdf4/netcdf4_catalog.hpp"

namespace shoal::netcdf4 {

namespace {

using Offsets = std::array<hsize_t, k_max_dims + 1>;

Offsets offsets_of(const Dims& numbers) {
  Offsets result{};
  std::copy(numbers.begin(), numbers.end(), result.begin());
  return result;
}

// Raw data that nobody reads or writes: tracing takes the addresses only.
std::byte k_no_data[1] = {};

}  // namespace

Placement Netcdf4Catalog::placement(int variable) const {
  return guarded(variable, [&] {
    require_variable(variable);
    const auto& s = contents_.variables[variable];
    Placement result;
    result.chunk = s.chunk;
    result.swapped = s.type.swapped;
    result.late = s.late;
    result.begin = k_unplaced;
    const bool plain = def(variable).fits_plainly && s.type.plain;
    const bool known = !s.filtered || missing_code(def(variable).filters).empty();
    if (!plain || !known || s.layout == StoredVariable::Layout::other) {
      result.kind = Placement::Kind::library;
      return result;
    }
    const hid_t dataset = contents_.open_variable(file_, variable);
    if (s.layout == StoredVariable::Layout::chunked) {
      result.kind = s.filtered ? Placement::Kind::encoded : Placement::Kind::listed;
      // The reader would fill what was never written with another value than HDF5 does.
      if (s.odd_fill &&
          H5Dget_storage_size(dataset) < static_cast<hsize_t>(volume(s.extent)) * size_of(s.type.type))
        result.kind = Placement::Kind::library;
      return result;
    }
    const auto address = H5Dget_offset(dataset);
    if (address != HADDR_UNDEF && !s.unfilled) result.begin = address;
    if (s.odd_fill && address == HADDR_UNDEF) result.kind = Placement::Kind::library;
    return result;
  });
}

// Inside of the data set's shape, so that HDF5 may be asked for it.
bool Netcdf4Catalog::known_chunk(const StoredVariable& s, const Dims& index) const {
  for (int d = 0; d < index.size(); ++d)
    if (index[d] * s.chunk[d] >= s.extent[d]) return false;
  return true;
}

// HDF5's own question for one chunk's address goes through all chunks; reading one goes down its tree, and
// the read itself is not done.
std::uint64_t Netcdf4Catalog::look_up(int variable, const Dims& index, std::uint32_t* filters_left_out) {
  auto& s = stored(variable);
  const auto given = s.reserved.find(index);
  if (given != s.reserved.end()) {
    if (filters_left_out != nullptr) *filters_left_out = given->second.left_out;
    return given->second.address.offset;
  }
  if (!known_chunk(s, index)) return k_unplaced;
  auto offsets = offsets_of(cells_of_chunk(index, s.chunk).first);
  const FileImage::Tracing tracing(*image_, true);
  std::uint32_t filters = 0;
  const hid_t dataset = contents_.open_variable(file_, variable);
  if (H5Dread_chunk(dataset, H5P_DEFAULT, offsets.data(), &filters, k_no_data) < 0) {
    const auto reason = innermost_reason();
    if (reason.find("isn't defined") == std::string::npos &&
        reason.find("not initialized") == std::string::npos)
      throw hdf5_error("look for a chunk");
    return k_unplaced;
  }
  if (!tracing.address()) throw Error(Code::internal, "HDF5 did not say where a chunk lies");
  s.left_out = s.left_out || filters != 0;
  if (filters_left_out != nullptr) *filters_left_out = filters;
  return *tracing.address();
}

void Netcdf4Catalog::grow_to(int variable, const Box& cells) {
  if (cells.empty()) return;
  auto& s = stored(variable);
  for (int d = 0; d < cells.rank(); ++d) {
    auto& dim = contents_.schema.dim(def(variable).dims[d]);
    if (!dim.unlimited) continue;
    dim.length = std::max(dim.length, cells.end(d));
    s.needed[d] = std::max(s.needed[d], cells.end(d));
  }
}

std::vector<Location> Netcdf4Catalog::place(int variable, const Box& chunks, const Box& cells,
                                            std::vector<bool>& fresh) {
  return guarded(variable, [&] {
    require_variable(variable);
    require_writable();
    auto& s = stored(variable);
    const auto kind = placement(variable).kind;
    if (kind == Placement::Kind::library || kind == Placement::Kind::encoded)
      throw Error(Code::not_supported,
                  "the variable is stored in a way that only HDF5 can write (filters, compact or external "
                  "storage, an "
                  "unusual type): ranks cannot write to it directly");
    if (!cells.empty()) require_inside(variable, cells, true);
    note_change();
    const auto n = static_cast<std::size_t>(chunks.cells());
    if (kind == Placement::Kind::regular) {
      const bool placed = placement(variable).begin != k_unplaced;
      if (s.unfilled) image_->write_raw();  // fill values that could not be written must not come later
      if (!placed) place_contiguous(variable);
      s.unfilled = false;
      grow_to(variable, cells);
      fresh.assign(n, !placed);
      return std::vector<Location>(n, Location{0, placement(variable).begin});
    }
    std::vector<Location> result;
    result.reserve(n);
    std::uint64_t missing = 0;
    for_each_index(chunks, [&](const Dims& index) {
      result.push_back({0, look_up(variable, index)});
      missing += result.back().is_placed() || s.unplaced.contains(index) ? 0 : 1;
    });
    fresh.assign(result.size(), false);
    // One run for all of them: the chunks of a record lie one after another.
    std::uint64_t next = missing > 0 ? image_->reserve(missing * s.chunk_bytes()) : 0;
    std::size_t i = 0;
    for_each_index(chunks, [&](const Dims& index) {
      if (!result[i].is_placed()) {
        const auto before = s.unplaced.extract(index);
        result[i] = before ? before.mapped() : Location{0, next};
        if (!before) next += s.chunk_bytes();
        fresh[i] = true;
        s.reserved.emplace(index, StoredChunk{result[i], s.chunk_bytes(), 0});
      }
      ++i;
    });
    for (int d = 0; d < chunks.rank(); ++d)
      if (!chunks.empty()) s.asked[d] = std::max(s.asked[d], chunks.end(d) * s.chunk[d]);
    grow_to(variable, cells);
    return result;
  });
}

std::vector<Location> Netcdf4Catalog::find(int variable, const Box& chunks) {
  return guarded(variable, [&] {
    require_variable(variable);
    const auto where = placement(variable);
    if (where.kind == Placement::Kind::library || where.kind == Placement::Kind::encoded)
      throw Error(Code::not_supported,
                  "the variable is stored in a way that only HDF5 can read; its parts have no addresses");
    const auto n = static_cast<std::size_t>(chunks.cells());
    if (where.kind == Placement::Kind::regular) return std::vector<Location>(n, Location{0, where.begin});
    std::vector<Location> result;
    result.reserve(n);
    for_each_index(chunks, [&](const Dims& index) { result.push_back({0, look_up(variable, index)}); });
    return result;
  });
}

void Netcdf4Catalog::unplace(int variable, const Box& chunks, const std::vector<bool>& fresh) {
  guarded(variable, [&] {
    require_variable(variable);
    require_writable();
    auto& s = stored(variable);
    if (placement(variable).kind == Placement::Kind::regular) {
      s.unfilled = s.unfilled || (!fresh.empty() && fresh.front());
      return;
    }
    std::size_t i = 0;
    for_each_index(chunks, [&](const Dims& index) {
      if (!fresh[i++]) return;
      const auto given = s.reserved.extract(index);
      if (!given) throw Error(Code::internal, "a chunk without values is in the file already");
      s.unplaced.emplace(index, given.mapped().address);
    });
  });
}

void Netcdf4Catalog::enter(int variable, const std::vector<NewChunk>& chunks) {
  guarded(variable, [&] {
    require_variable(variable);
    require_writable();
    auto& s = stored(variable);
    if (placement(variable).kind != Placement::Kind::encoded)
      throw Error(Code::internal, "chunks were stored of a variable that is not encoded");
    note_change();
    for (const auto& chunk : chunks) {
      s.reserved.insert_or_assign(chunk.index, chunk.stored);
      for (int d = 0; d < chunk.index.size(); ++d)
        s.asked[d] = std::max(s.asked[d], (chunk.index[d] + 1) * s.chunk[d]);
    }
  });
}

std::vector<StoredChunk> Netcdf4Catalog::stored_chunks(int variable, const Box& chunks) {
  return guarded(variable, [&] {
    require_variable(variable);
    auto& s = stored(variable);
    if (s.layout != StoredVariable::Layout::chunked)
      throw Error(Code::not_supported, "the variable is not stored in chunks");
    const hid_t dataset = contents_.open_variable(file_, variable);
    // What HDF5 still has in memory would be lost while addresses are traced.
    if (s.held) {
      check(H5Dflush(dataset), "write values");
      s.held = false;
    }
    if (writable_ && s.filtered) image_->write_raw();
    std::vector<StoredChunk> result;
    for_each_index(chunks, [&](const Dims& index) {
      StoredChunk chunk;
      const auto given = s.reserved.find(index);
      if (given != s.reserved.end()) {  // HDF5 does not know of it yet
        result.push_back(given->second);
        return;
      }
      chunk.address.offset = look_up(variable, index, &chunk.left_out);
      if (chunk.address.is_placed() && known_chunk(s, index)) {
        const auto offsets = offsets_of(cells_of_chunk(index, s.chunk).first);
        hsize_t bytes = 0;
        check(H5Dget_chunk_storage_size(dataset, offsets.data(), &bytes), "report the size of a chunk");
        chunk.bytes = bytes;
      }
      result.push_back(chunk);
    });
    return result;
  });
}

// HDF5 allocates the space of a contiguous data set when it is first written; the write itself is not done.
void Netcdf4Catalog::place_contiguous(int variable) {
  auto& s = stored(variable);
  if (volume(s.extent) == 0) return;
  const hid_t dataset = contents_.open_variable(file_, variable);
  const Id type(check(H5Dget_type(dataset), "read the type of a data set"));
  const FileImage::Tracing tracing(*image_, false);
  check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, k_no_data), "allocate space");
}

// What HDF5 takes for values must be some.
void Netcdf4Catalog::fill_contiguous(int variable) {
  constexpr std::size_t k_most_cells = 1 << 17;
  auto& s = stored(variable);
  if (!def(variable).no_fill) {
    Bytes value = fill_of(def(variable));
    if (s.type.swapped) swap_bytes(value.data(), value.size(), 1);
    const auto cells = static_cast<std::size_t>(volume(s.extent));
    Bytes values;
    for (std::size_t i = 0; i < std::min(cells, k_most_cells); ++i)
      values.insert(values.end(), value.begin(), value.end());
    const std::uint64_t address = H5Dget_offset(contents_.open_variable(file_, variable));
    for (std::size_t at = 0; at < cells * value.size(); at += values.size())
      image_->write(FileImage::Kind::raw, address + at,
                    std::span(values).first(std::min(values.size(), cells * value.size() - at)));
    image_->write_raw();  // ranks may write there next
  }
  s.unfilled = false;
}

// Tell HDF5 the shape and the chunks that are now inside of it.
void Netcdf4Catalog::realise(int variable) {
  auto& s = stored(variable);
  if (s.unfilled) fill_contiguous(variable);
  const bool grows = !(s.needed == s.extent);
  if (!grows && s.reserved.empty()) return;
  const hid_t dataset = contents_.open_variable(file_, variable);
  if (grows) {
    const auto extent = offsets_of(s.needed);
    check(H5Dset_extent(dataset, extent.data()), "extend a data set");
    s.extent = s.needed;
  }
  for (auto it = s.reserved.begin(); it != s.reserved.end();) {
    if (!known_chunk(s, it->first)) {
      ++it;
      continue;
    }
    const auto offsets = offsets_of(cells_of_chunk(it->first, s.chunk).first);
    const auto& [location, bytes, left_out] = it->second;
    const std::uint64_t address = location.offset;
    const FileImage::Tracing tracing(*image_, false, FileImage::Place{address, bytes});
    check(H5Dwrite_chunk(dataset, H5P_DEFAULT, left_out, offsets.data(), bytes, k_no_data), "enter a chunk");
    if (tracing.address() != address) image_->move_raw(address, tracing.address().value(), bytes);
    s.left_out = s.left_out || left_out != 0;
    it = s.reserved.erase(it);
  }
  // Of the last chunk HDF5 remembers the filters that the one before it at its place went through. It forgets
  // that with the data set.
  if (s.left_out) s.dataset = Id();
}

// What ranks stored of records from `length` on never was, and is not to show where others write next.
void Netcdf4Catalog::unplace_records(int variable, int dim, std::int64_t length) {
  auto& s = stored(variable);
  const auto& numbers = def(variable).dims;
  if (s.filtered) return;
  for (auto it = s.reserved.begin(); it != s.reserved.end();) {
    bool beyond = false;
    for (int d = 0; d < s.chunk.size(); ++d)
      beyond = beyond || (numbers[d] == dim && it->first[d] * s.chunk[d] >= length);
    if (beyond) s.unplaced.emplace(it->first, it->second.address);
    it = beyond ? s.reserved.erase(it) : std::next(it);
  }
}

// The variable needs no more than `length` records of the dimension, but what was committed. Returns whether
// HDF5 gave up chunks. `asked` stays: ranks may write to the same places again, and grow must see them.
bool Netcdf4Catalog::shrink(int variable, int dim, std::int64_t length) {
  auto& s = stored(variable);
  const auto& numbers = def(variable).dims;
  const auto before = s.extent;
  for (int d = 0; d < s.needed.size(); ++d) {
    if (numbers[d] != dim) continue;
    const auto least = std::max(length, s.committed.empty() ? 0 : s.committed[d]);
    s.needed[d] = std::min(s.needed[d], least);
  }
  // Whoever writes there again stores other chunks.
  if (s.filtered)
    std::erase_if(s.reserved, [&](const auto& chunk) {
      for (int d = 0; d < chunk.first.size(); ++d)
        if (chunk.first[d] * s.chunk[d] >= s.needed[d]) return true;
      return false;
    });
  Dims after = before;
  for (int d = 0; d < after.size(); ++d)
    after[d] = std::min(before[d], s.needed[d]);
  if (after == before) return false;
  const hid_t dataset = contents_.open_variable(file_, variable);
  const auto extent = offsets_of(after);
  if (s.layout != StoredVariable::Layout::chunked) {
    check(H5Dset_extent(dataset, extent.data()), "shorten a data set");
    s.extent = after;
    return false;
  }
  const auto old_chunks = chunks_of(Box::whole(before), s.chunk);
  const auto new_chunks = chunks_of(Box::whole(after), s.chunk);
  const bool placed = std::any_of(s.asked.begin(), s.asked.end(), [](std::int64_t n) { return n > 0; });
  if (placed && !s.filtered) {
    // What ranks know the place of stays there, and HDF5 must not write to it: they may do so again.
    for_each_index(old_chunks, [&](const Dims& index) {
      for (int d = 0; d < index.size(); ++d) {
        if (index[d] < new_chunks.end(d)) continue;
        const auto address = look_up(variable, index);
        if (address != k_unplaced) s.unplaced.emplace(index, Location{0, address});
        return;
      }
    });
    const FileImage::Tracing tracing(*image_, true);
    check(H5Dset_extent(dataset, extent.data()), "shorten a data set");
  } else {
    check(H5Dset_extent(dataset, extent.data()), "shorten a data set");
  }
  s.extent = after;
  return old_chunks.count != new_chunks.count;
}

}  // namespace shoal::netcdf4
