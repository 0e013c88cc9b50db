// SPDX-License-Identifier: BSD-3-Clause
#include "pnetcdf/file.hpp"

#include <algorithm>
#include <utility>

namespace door::pnetcdf {

namespace {

FileTable<File, DOOR_FIRST_ID, 1, DOOR_IDS> files;
const door_program* of_front = nullptr;

}  // namespace

bool File::grows(const Variable& var) const {
  return !var.dims.empty() && definitions.dims[static_cast<std::size_t>(var.dims[0])].unlimited;
}

std::int64_t File::shared_records() const {
  const auto is_known = [&](const Variable& var) { return var.made && grows(var); };
  const auto found = std::find_if(definitions.vars.begin(), definitions.vars.end(), is_known);
  return found == definitions.vars.end() ? 0 : shared_records(found->dims[0]);
}

std::int64_t File::records() const {
  return std::max(shared_records(), kept_records);
}

std::int64_t File::length(int dimid) const {
  const Dimension& dim = definitions.dims[static_cast<std::size_t>(dimid)];
  return dim.unlimited ? records() : static_cast<std::int64_t>(dim.length);
}

bool has_room() {
  return files.has_room();
}
int add(std::unique_ptr<File> file) {
  return files.add(std::move(file));
}
File* file_of(int ncid) {
  return files.find(ncid);
}
void remove(int ncid) {
  files.remove(ncid);
}
std::vector<int> ids() {
  return files.ids();
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
