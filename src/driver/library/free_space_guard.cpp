// SPDX-License-Identifier: BSD-3-Clause
#include "driver/library/free_space_guard.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "pack/pieces.hpp"
#include "storage/holes.hpp"

namespace shoal {

namespace {

/// Are all cells of the variable in the file, fill values where nobody wrote, and each as large as its type?
bool is_whole(const VariableDef& variable) {
  return !variable.no_fill && variable.filters.empty() && variable.type != Type::string &&
         variable.fits_plainly;
}

std::int64_t bytes_of(const Schema& schema) {
  std::int64_t sum = 0;
  for (int v = 0; v < static_cast<int>(schema.variables.size()); ++v) {
    const auto& variable = schema.variable(v);
    if (is_whole(variable))
      sum += volume(schema.shape(v)) * static_cast<std::int64_t>(size_of(variable.type));
  }
  return sum;
}

/// Behind the last byte of all variables whose place follows from their placement alone.
std::int64_t end_of(const Schema& schema, const std::vector<Placement>& placements) {
  std::int64_t end = 0;
  for (std::size_t v = 0; v < std::min(schema.variables.size(), placements.size()); ++v) {
    const Placement& place = placements[v];
    const Dims shape = schema.shape(static_cast<int>(v));
    if (!is_whole(schema.variables[v]) || place.kind != Placement::Kind::regular ||
        place.begin == k_unplaced || volume(shape) == 0)
      continue;
    const bool grows = schema.has_record(static_cast<int>(v));
    const std::int64_t records = grows ? shape[0] : 1;
    const auto bytes = volume(shape) / records * static_cast<std::int64_t>(size_of(schema.variables[v].type));
    end = std::max(end, static_cast<std::int64_t>(place.begin) +
                            (records - 1) * static_cast<std::int64_t>(place.stride) + bytes);
  }
  return end;
}

/// Where the cells of a region begin that are not in the file, if there are any.
std::optional<std::uint64_t> hole_in(HoleFinder& file, const Schema& schema, const Placement& place,
                                     int variable, const Box& region) {
  const std::size_t size = size_of(schema.variable(variable).type);
  std::optional<std::uint64_t> found;
  ExtentMerger merger([&](const Extent& run) {
    const auto bytes = static_cast<std::uint64_t>(run.bytes);
    if (!found) found = file.first_in(run.in_file.offset, run.in_file.offset + bytes);
  });
  if (region.rank() == 0) merger.add({{0, place.begin}, 0, static_cast<std::int64_t>(size)});
  std::int64_t at = 0;
  if (region.rank() > 0 && !region.empty())
    for_each_piece({region}, place.chunk, region.cells(), [&](const Piece& piece) {
      add_extents(piece, place.chunk, size, location_of(place, piece.chunk_index[0]), at, merger);
      at += piece.cells.cells() * static_cast<std::int64_t>(size);
    });
  merger.flush();
  return found;
}

/// Do the regions of one variable differ in nothing but where they begin and end in the first dimension, and
/// does the second begin in the first or right behind?
bool goes_on(const Box& region, const Box& next) {
  if (region.rank() == 0) return true;
  for (int d = 1; d < region.rank(); ++d)
    if (region.first[d] != next.first[d] || region.count[d] != next.count[d]) return false;
  return next.first[0] >= region.first[0] && next.first[0] <= region.end(0);
}

std::string in_words(std::int64_t bytes) {
  return bytes_text(static_cast<double>(bytes));
}

}  // namespace

void FreeSpaceGuard::expect(const Schema& schema, std::int64_t more, std::int64_t new_cells) {
  unchecked_ += more;
  if (more > 0 && unchecked_ < spare_ / 16) return;
  const auto space = find_free_space_(path_);
  if (!space) return;
  const std::int64_t lacks = std::max<std::int64_t>(0, bytes_of(schema) + new_cells - space->stored);
  if (lacks > space->free)
    throw Error(Code::no_space,
                "the file needs {} more, and {} are free there: make space, or write to another file system",
                in_words(lacks), in_words(space->free))
        .in_file(path_);
  spare_ = space->free - lacks;
  unchecked_ = 0;
}

// Record after record makes one region.
void FreeSpaceGuard::note(const Schema& schema, int variable, const Box& region) {
  if (!finds_holes_ || !is_whole(schema.variable(variable))) return;
  const auto last = std::find_if(noted_.rbegin(), noted_.rend(),
                                 [&](const Region& noted) { return noted.variable == variable; });
  if (last == noted_.rend() || !goes_on(last->cells, region))
    noted_.push_back({variable, region});
  else if (region.rank() > 0)
    last->cells.count[0] = std::max(last->cells.end(0), region.end(0)) - last->cells.first[0];
}

void FreeSpaceGuard::check_stored(const Schema& schema, const std::vector<Placement>& placements) {
  check_holes(schema, placements);
  check_sizes(schema, placements);
}

void FreeSpaceGuard::check_sizes(const Schema& schema, const std::vector<Placement>& placements) const {
  const auto space = find_free_space_(path_);
  if (!space) return;
  const std::int64_t needs = bytes_of(schema);
  // Where the device compresses, less is stored; it is then not full.
  const bool lacks = space->stored < needs && needs - space->stored > space->free;
  if (!lacks && space->length >= end_of(schema, placements)) return;
  throw Error(
      Code::no_space,
      "of {} that were written, the device has no more than {}, though the library reported no error; {} are "
      "free there: make space, or write to another file system, and write the file anew",
      in_words(needs), in_words(std::min(space->stored, space->length)), in_words(space->free))
      .in_file(path_);
}

// The sum of what is stored counts whole blocks, and a header that is no variable's: a block that is missing
// need not show there.
void FreeSpaceGuard::check_holes(const Schema& schema, const std::vector<Placement>& placements) {
  std::vector<Region> regions = std::move(missing_);
  missing_.clear();
  regions.insert(regions.end(), noted_.begin(), noted_.end());
  noted_.clear();
  if (regions.empty()) return;
  HoleFinder file(find_path_ ? find_path_() : path_);
  std::uint64_t first = 0;
  for (const auto& region : regions) {
    const auto v = static_cast<std::size_t>(region.variable);
    if (v >= placements.size() || placements[v].kind != Placement::Kind::regular ||
        placements[v].begin == k_unplaced)
      continue;
    const auto hole = hole_in(file, schema, placements[v], region.variable, region.cells);
    if (!hole) continue;
    if (missing_.empty()) first = *hole;
    missing_.push_back(region);
  }
  if (missing_.empty()) return;
  const int variable = missing_.front().variable;
  const auto space = find_free_space_(path_);
  throw Error(Code::no_space,
              "cells that were written are not on the device (from byte {} of the file on), though the "
              "library reported no error; {} are free there: make space, and write again what was written "
              "since the last good sync, or write the file anew on another file system",
              first, in_words(space ? space->free : 0))
      .in_file(path_)
      .of_variable(schema.variable(variable).name);
}

}  // namespace shoal
