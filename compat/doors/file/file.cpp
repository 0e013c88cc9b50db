// SPDX-License-Identifier: BSD-3-Clause
#include "file/file.hpp"

#include <algorithm>
#include <array>
#include <memory>

namespace door {

namespace {

std::array<std::unique_ptr<File>, DOOR_IDS> files;
const door_program* of_front = nullptr;

std::size_t place_of(int ncid) {
  return static_cast<std::size_t>((ncid - DOOR_FIRST_ID) >> 16);
}

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

std::size_t File::length(int dimid) const {
  const bool unlimited = definitions.dims[static_cast<std::size_t>(dimid)].unlimited;
  const std::size_t length = shared_length(dimid);
  return unlimited ? std::max(length, static_cast<std::size_t>(kept_records)) : length;
}

std::size_t File::shared_length(int dimid) const {
  const Dimension& dim = definitions.dims[static_cast<std::size_t>(dimid)];
  if (!dim.unlimited) return dim.length;
  // Of any variable with it: records are the dimension's.
  for (const Variable& var : definitions.vars) {
    std::int64_t records = 0;
    if (!var.made || dataset == nullptr || var.dims.empty() || var.dims[0] != dimid) continue;
    // By the name that Shoal has: it may have got another one since then.
    shoal_var_info shown = SHOAL_VAR_INFO_INIT;
    const bool known = shoal_inq_var(dataset, var.number, &shown) == SHOAL_OK &&
                       shoal_num_records(dataset, shown.name, &records) == SHOAL_OK;
    return known ? static_cast<std::size_t>(records) : 0;
  }
  return 0;
}

bool has_room() {
  return std::find(files.begin(), files.end(), nullptr) != files.end();
}

int add(std::unique_ptr<File> file) {
  const auto free = std::find(files.begin(), files.end(), nullptr);
  *free = std::move(file);
  return DOOR_FIRST_ID + (static_cast<int>(free - files.begin()) << 16);
}

File* file_of(int ncid) {
  return (ncid & 0xFFFF) == 0 ? files[place_of(ncid)].get() : nullptr;
}

int id_of(const File& file) {
  const auto found =
      std::find_if(files.begin(), files.end(), [&](const auto& one) { return one.get() == &file; });
  return DOOR_FIRST_ID + (static_cast<int>(found - files.begin()) << 16);
}

int library_id_of(int ncid) {
  if (!door_is_id(ncid)) return ncid;
  const File* file = file_of(ncid);
  return file == nullptr ? -1 : file->library_id;
}

void remove(int ncid) {
  files[place_of(ncid)].reset();
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

int report_error(const File& file, const char* call, int code) {
  return report_error(file.comm, file.path, call, code);
}

}  // namespace door
