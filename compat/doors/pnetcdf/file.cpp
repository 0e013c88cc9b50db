// SPDX-License-Identifier: BSD-3-Clause
#include "pnetcdf/file.hpp"

#include <algorithm>
#include <array>

namespace door::pnetcdf {

namespace {

std::array<std::unique_ptr<File>, DOOR_IDS> files;
const door_program* of_front = nullptr;

}  // namespace

Variable* File::variable(int varid) {
  const bool there = varid >= 0 && static_cast<std::size_t>(varid) < definitions.vars.size();
  return there ? &definitions.vars[static_cast<std::size_t>(varid)] : nullptr;
}

Attributes* File::attributes(int varid) {
  if (varid == NC_GLOBAL) return &definitions.attributes;
  Variable* var = variable(varid);
  return var == nullptr ? nullptr : &var->attributes;
}

bool File::grows(const Variable& var) const {
  return !var.dims.empty() && definitions.dims[static_cast<std::size_t>(var.dims[0])].unlimited;
}

std::int64_t File::shared_records() const {
  for (const Variable& var : definitions.vars) {
    std::int64_t found = 0;
    if (!var.made || dataset == nullptr || !grows(var)) continue;
    shoal_var_info shown = SHOAL_VAR_INFO_INIT;  // its name may be another one since the last definitions
    if (shoal_inq_var(dataset, var.number, &shown) != SHOAL_OK) return 0;
    return shoal_num_records(dataset, shown.name, &found) == SHOAL_OK ? found : 0;
  }
  return 0;
}

std::int64_t File::records() const {
  return std::max(shared_records(), kept_records);
}

std::int64_t File::length(int dimid) const {
  const Dimension& dim = definitions.dims[static_cast<std::size_t>(dimid)];
  return dim.unlimited ? records() : static_cast<std::int64_t>(dim.length);
}

bool has_room() {
  return std::find(files.begin(), files.end(), nullptr) != files.end();
}

int add(std::unique_ptr<File> file) {
  const auto free = std::find(files.begin(), files.end(), nullptr);
  *free = std::move(file);
  return DOOR_FIRST_ID + static_cast<int>(free - files.begin());
}

File* file_of(int ncid) {
  return door_is_id(ncid) ? files[static_cast<std::size_t>(ncid - DOOR_FIRST_ID)].get() : nullptr;
}

void remove(int ncid) {
  File* file = file_of(ncid);
  if (file == nullptr) return;
  if (file->dataset != nullptr) shoal_abandon(&file->dataset);
  if (file->comm != MPI_COMM_NULL) MPI_Comm_free(&file->comm);
  if (file->info != MPI_INFO_NULL) MPI_Info_free(&file->info);
  files[static_cast<std::size_t>(ncid - DOOR_FIRST_ID)].reset();
}

std::vector<int> ids() {
  std::vector<int> found;
  for (int i = 0; i < DOOR_IDS; ++i)
    if (files[static_cast<std::size_t>(i)] != nullptr) found.push_back(DOOR_FIRST_ID + i);
  return found;
}

const door_program& program() {
  return *of_front;
}
const door_functions& library() {
  return *of_front->library;
}
void take_program(const door_program* given) {
  of_front = given;
}

}  // namespace door::pnetcdf
