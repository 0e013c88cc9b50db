// SPDX-License-Identifier: BSD-3-Clause
#include "data/kept.hpp"

#include <algorithm>
#include <utility>

#include "data/cells.hpp"

namespace door {

namespace {

bool grows(const File& file, const Variable& var) {
  return !var.dims.empty() && file.definitions.dims[static_cast<std::size_t>(var.dims[0])].unlimited;
}

std::int64_t shared_records(const File& file, const Variable& var) {
  return static_cast<std::int64_t>(file.shared_length(var.dims[0]));
}

}  // namespace

bool meets_kept(const File& file, const Variable& var, int varid, const Box& box) {
  if (!file.grows_alone() || file.moves_together(var)) return false;
  if (grows(file, var) && end_of(box) > shared_records(file, var)) return true;
  return std::any_of(file.kept.begin(), file.kept.end(),
                     [&](const KeptCells& kept) { return kept.varid == varid; });
}

void keep(File& file, int varid, const Box& box, std::vector<char>&& values) {
  const Variable& var = file.definitions.vars[static_cast<std::size_t>(varid)];
  if (grows(file, var)) file.kept_records = std::max(file.kept_records, end_of(box));
  file.kept.push_back({varid, box.start, box.count, box.stride, std::move(values)});
}

int read_over_kept(File& file, int varid, Box& box) {
  const Variable& var = file.definitions.vars[static_cast<std::size_t>(varid)];
  const std::size_t size = size_of(var.type);
  const Steps steps = contiguous(box.count, size);
  auto* values = static_cast<char*>(box.values);
  Box there = box;
  if (grows(file, var) && end_of(box) > shared_records(file, var)) {
    const std::int64_t records = shared_records(file, var);
    there.steps = steps;
    there.count[0] = records <= box.start[0] ? 0 : (records - 1 - box.start[0]) / box.stride[0] + 1;
    set_all(box, steps, 0, values, fill_of(var));
  }
  if (there.count.empty() || there.count[0] > 0)
    if (const int code = move_box(file, varid, &there, Direction::get); code != SHOAL_OK) return code;
  for (const KeptCells& kept : file.kept)
    if (kept.varid == varid)
      lay_over(kept, box, contiguous(kept.count, size), steps, 0, kept.values.data(), values, size);
  return SHOAL_OK;
}

int write_kept(File& file) {
  const auto& dims = file.definitions.dims;
  const bool may_keep =
      file.grows_alone() && file.writable && file.ranks > 1 &&
      std::any_of(dims.begin(), dims.end(), [](const Dimension& dim) { return dim.unlimited; });
  if (!may_keep) return SHOAL_OK;
  int some = file.kept.empty() ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &some, 1, MPI_INT, MPI_MAX, file.comm);
  if (some == 0) return SHOAL_OK;
  // What ranks wrote alone comes before what is written together.
  const int stored = shoal_sync(file.dataset, 0);
  std::vector<Box> boxes;
  for (KeptCells& kept : file.kept) {
    const nc_type type = file.definitions.vars[static_cast<std::size_t>(kept.varid)].type;
    boxes.push_back({kept.start, kept.count, kept.stride, {}, kept.values.data(), type});
  }
  std::vector<shoal_box> asked;
  for (std::size_t i = 0; i < boxes.size(); ++i)
    asked.push_back(as_shoal(file, file.kept[i].varid, boxes[i]));
  file.together = true;
  const int code = shoal_write_boxes(file.dataset, static_cast<int>(asked.size()), asked.data());
  file.kept.clear();
  file.kept_records = 0;
  return stored != SHOAL_OK ? stored : code;
}

}  // namespace door
