// SPDX-License-Identifier: BSD-3-Clause
#include "file/file.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace door {

namespace {

// As the library's, ids leave the last 16 bits to groups.
FileTable<File, DOOR_FIRST_ID, 1 << 16, DOOR_IDS> files;
const door_program* of_front = nullptr;

}  // namespace

std::size_t File::length(int dimid) const {
  const bool unlimited = definitions.dims[static_cast<std::size_t>(dimid)].unlimited;
  const std::size_t length = shared_length(dimid);
  return unlimited ? std::max(length, static_cast<std::size_t>(kept_records)) : length;
}

std::size_t File::shared_length(int dimid) const {
  const Dimension& dim = definitions.dims[static_cast<std::size_t>(dimid)];
  if (!dim.unlimited) return dim.length;
  return static_cast<std::size_t>(shared_records(dimid));
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
int id_of(const File& file) {
  return files.id_of(file);
}

int library_id_of(int ncid) {
  if (!door_is_id(ncid)) return ncid;
  const File* file = file_of(ncid);
  return file == nullptr ? -1 : file->library_id;
}

void remove(int ncid) {
  files.remove(ncid);
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
