// SPDX-License-Identifier: BSD-3-Clause
#include "driver/device_room.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"

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
    const auto& variable = schema.variables[static_cast<std::size_t>(v)];
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

std::string in_words(std::int64_t bytes) {
  return bytes_text(static_cast<double>(bytes));
}

}  // namespace

void DeviceRoom::expect(const Schema& schema, std::int64_t more, std::int64_t new_cells) {
  unchecked_ += more;
  if (more > 0 && unchecked_ < spare_ / 16) return;
  const auto room = find_room_(path_);
  if (!room) return;
  const std::int64_t lacks = std::max<std::int64_t>(0, bytes_of(schema) + new_cells - room->stored);
  if (lacks > room->free)
    throw Error(Code::no_space, "the file needs " + in_words(lacks) + " more, and " + in_words(room->free) +
                                    " are free there: make space, or write to another file system")
        .in_file(path_);
  spare_ = room->free - lacks;
  unchecked_ = 0;
}

void DeviceRoom::check_stored(const Schema& schema, const std::vector<Placement>& placements) const {
  const auto room = find_room_(path_);
  if (!room) return;
  const std::int64_t needs = bytes_of(schema);
  // Where the device compresses, less is stored; it is then not full.
  const bool lacks = room->stored < needs && needs - room->stored > room->free;
  if (!lacks && room->length >= end_of(schema, placements)) return;
  throw Error(Code::no_space, "of " + in_words(needs) + " that were written, the device has no more than " +
                                  in_words(std::min(room->stored, room->length)) +
                                  ", though the library reported no error; " + in_words(room->free) +
                                  " are free there: make space, or write to another file system, and write "
                                  "the file anew")
      .in_file(path_);
}

}  // namespace shoal
