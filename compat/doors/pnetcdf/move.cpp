// SPDX-License-Identifier: BSD-3-Clause
// Boxes move by Shoal: of all ranks together, or of this one alone, which keeps what Shoal cannot take yet.
#include <algorithm>
#include <array>
#include <cstring>
#include <deque>

#include "pnetcdf/file.hpp"
#include "pnetcdf/lists.hpp"
#include "pnetcdf/memory.hpp"

namespace door::pnetcdf {

namespace {

shoal_box as_shoal(const File& file, const Box& box) {
  const int ndims = static_cast<int>(box.count.size());
  shoal_box asked = SHOAL_BOX_INIT;
  asked.variable = file.definitions.vars[static_cast<std::size_t>(box.varid)].number;
  asked.ndims = ndims;
  asked.start = box.start.data();
  asked.count = box.count.data();
  if (std::any_of(box.stride.begin(), box.stride.end(), [](std::int64_t stride) { return stride != 1; }))
    asked.stride = box.stride.data();
  asked.array = shoal_array_of(box.values, box.type, ndims, box.count.data());
  if (!box.steps.empty()) asked.array.strides = box.steps.data();
  return asked;
}

int told(const File& file, bool puts, int code) {
  if (code == SHOAL_OK) return NC_NOERR;
  return report_error(file.comm, file.path, puts ? "ncmpi_put_var" : "ncmpi_get_var", code);
}

Steps steps_of(const Box& box) {
  return box.steps.empty() ? contiguous(box.count, size_of(box.type)) : box.steps;
}

bool is_kept(const File& file, int varid) {
  return std::any_of(file.kept.begin(), file.kept.end(), [&](const Move& move) {
    return std::any_of(move.boxes.begin(), move.boxes.end(),
                       [&](const Box& box) { return box.varid == varid; });
  });
}

// Must the boxes wait for the other ranks? Records that are not there; what comes over cells that wait.
bool waits(const File& file, const Move& move) {
  const std::int64_t records = file.shared_records();
  return std::any_of(move.boxes.begin(), move.boxes.end(), [&](const Box& box) {
    const Variable& var = file.definitions.vars[static_cast<std::size_t>(box.varid)];
    return (file.grows(var) && end_of(box) > records) || is_kept(file, box.varid);
  });
}

// Bytes of the file, for those who ask how many were moved.
void count_bytes(File& file, bool puts, const Move& move) {
  if (move.is_empty()) return;
  const int varid = move.list != nullptr ? move.of_list.varid : move.boxes[0].varid;
  const Variable& var = file.definitions.vars[static_cast<std::size_t>(varid)];
  (puts ? file.put_bytes : file.got_bytes) += move.cells * static_cast<std::int64_t>(size_of(var.type));
}

// The boxes of a list, which point into it and, where they do not lie contiguous, into `steps`.
void add_list(const File& file, const Move& move, std::vector<shoal_box>& boxes, std::deque<Steps>& steps) {
  const List& list = *move.list;
  const Box& all = move.of_list;
  const std::size_t ndims = list.ndims();
  const auto size = static_cast<std::int64_t>(size_of(all.type));
  Steps* const own = list.steps(0) == nullptr ? nullptr : &steps.emplace_back(list.size() * ndims);
  shoal_box box = SHOAL_BOX_INIT;
  box.variable = file.definitions.vars[static_cast<std::size_t>(all.varid)].number;
  box.ndims = static_cast<int>(ndims);
  for (std::size_t i = 0; i < list.size(); ++i) {
    box.start = list.start(i);
    box.count = list.count(i);
    box.array =
        shoal_array_of(static_cast<char*>(all.values) + list.first(i) * size, all.type, box.ndims, box.count);
    for (std::size_t d = 0; own != nullptr && d < ndims; ++d)
      (*own)[i * ndims + d] = list.steps(i)[d] * size;
    if (own != nullptr) box.array.strides = own->data() + i * ndims;
    boxes.push_back(box);
  }
}

// Of a call without cells: the variable alone, so that ranks with cells in it know that this one has none.
shoal_box without_cells(const File& file, int varid) {
  static constexpr std::array<std::int64_t, NC_MAX_VAR_DIMS> zeros{};
  const Variable& var = file.definitions.vars[static_cast<std::size_t>(varid)];
  shoal_box box = SHOAL_BOX_INIT;
  box.variable = var.number;
  box.ndims = static_cast<int>(var.dims.size());
  box.start = box.count = zeros.data();
  box.array = shoal_array_of(nullptr, var.type, box.ndims, zeros.data());
  return box;
}

// A list as boxes.
void spread(Move& move) {
  if (move.list == nullptr) return;
  for (std::size_t i = 0; i < move.list->size(); ++i)
    move.boxes.push_back(move.list->box_of(i, move.of_list));
  move.list = nullptr;
}

}  // namespace

int move_together(File& file, bool puts, const std::vector<Move*>& moves) {
  std::size_t all = 0;
  for (const Move* move : moves)
    all += move->list != nullptr ? move->list->size() : std::max<std::size_t>(1, move->boxes.size());
  std::vector<shoal_box> boxes;
  boxes.reserve(all);
  std::deque<Steps> steps;
  for (const Move* move : moves) {
    const int varid = move->of_list.varid;
    if (move->is_empty() && varid >= 0 && !file.variable(varid)->dims.empty())
      boxes.push_back(without_cells(file, varid));
    if (move->list != nullptr) add_list(file, *move, boxes, steps);
    for (const Box& box : move->boxes)
      boxes.push_back(as_shoal(file, box));
    count_bytes(file, puts, *move);
  }
  file.together |= puts;
  const int count = static_cast<int>(boxes.size());
  return told(file, puts,
              puts ? shoal_write_boxes(file.dataset, count, boxes.data())
                   : shoal_read_boxes(file.dataset, count, boxes.data()));
}

int move_alone(File& file, Move& move) {
  if (move.is_empty()) return NC_NOERR;
  spread(move);
  if (!move.puts) return read_over(file, move);
  if (!waits(file, move)) {
    file.put_alone = true;
    std::vector<shoal_box> boxes;
    for (const Box& box : move.boxes)
      boxes.push_back(as_shoal(file, box));
    const int code = shoal_write_independent(file.dataset, static_cast<int>(boxes.size()), boxes.data());
    if (code == SHOAL_OK) count_bytes(file, true, move);
    if (code != SHOAL_STATE) return told(file, true, code);
  }
  keep(file, std::move(move));
  return NC_NOERR;
}

void keep(File& file, Move&& move) {
  Move kept;
  kept.cells = move.cells;
  for (const Box& box : move.boxes) {
    std::size_t cells = 1;
    for (const std::int64_t count : box.count)
      cells *= static_cast<std::size_t>(count);
    const std::size_t size = size_of(box.type), before = kept.values.size();
    kept.values.resize(before + cells * size);
    copy(box.count, size, static_cast<const char*>(box.values), steps_of(box), kept.values.data() + before,
         contiguous(box.count, size));
    kept.boxes.push_back(box);
    const Variable& var = file.definitions.vars[static_cast<std::size_t>(box.varid)];
    if (file.grows(var)) file.kept_records = std::max(file.kept_records, end_of(box));
  }
  char* at = kept.values.data();
  for (Box& box : kept.boxes) {
    box.steps.clear();
    box.values = at;
    at += contiguous(box.count, size_of(box.type)).empty()
              ? static_cast<std::int64_t>(size_of(box.type))
              : contiguous(box.count, size_of(box.type))[0] * box.count[0];
  }
  file.kept.push_back(std::move(kept));
}

int read_over(File& file, Move& move) {
  count_bytes(file, false, move);
  const std::int64_t records = file.shared_records();
  for (Box& box : move.boxes) {
    const Variable& var = file.definitions.vars[static_cast<std::size_t>(box.varid)];
    const Steps steps = steps_of(box);
    auto* values = static_cast<char*>(box.values);
    Box there = box;
    if (file.grows(var) && end_of(box) > records) {
      there.steps = steps;
      there.count[0] = records <= box.start[0] ? 0 : (records - 1 - box.start[0]) / box.stride[0] + 1;
      set_all(box, steps, 0, values, fill_of(var));
    }
    if (there.count.empty() || there.count[0] > 0) {
      const shoal_box asked = as_shoal(file, there);
      if (const int code = shoal_read_independent(file.dataset, 1, &asked); code != SHOAL_OK)
        return told(file, false, code);
    }
    for (const Move& kept : file.kept)
      for (const Box& over : kept.boxes)
        if (over.varid == box.varid)
          lay_over(over, box, contiguous(over.count, size_of(over.type)), steps, 0,
                   static_cast<const char*>(over.values), values, size_of(box.type));
  }
  return NC_NOERR;
}

}  // namespace door::pnetcdf
