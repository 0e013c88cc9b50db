// SPDX-License-Identifier: BSD-3-Clause
// A file behind the door for netCDF. Once it is handed back, the program's own library does all that is
// asked of it under the id that the program knows.
#ifndef SHOAL_DOORS_FILE_FILE_HPP
#define SHOAL_DOORS_FILE_FILE_HPP

#include <memory>
#include <vector>

#include "file/served.hpp"
#include "front/door.h"

namespace door {

// Cells of a variable that a rank put alone and keeps, of the variable's type, one after the other.
struct KeptCells {
  int varid;
  std::vector<std::int64_t> start, count, stride;
  std::vector<char> values;
};

struct File : ServedFile {
  int ranks = 1;  // of the communicator
  int fill_mode = NC_FILL;
  std::vector<KeptCells> kept;  // of classic files, until ranks meet (data/kept.hpp)

  bool netcdf4() const { return format == NC_FORMAT_NETCDF4 || format == NC_FORMAT_NETCDF4_CLASSIC; }
  // The rules of netCDF-3: no define mode begins or ends by itself.
  bool strict() const { return format != NC_FORMAT_NETCDF4; }
  // Do ranks move values of the variable together? One rank alone does as all of them.
  bool moves_together(const Variable& var) const { return ranks == 1 || var.access == NC_COLLECTIVE; }
  // May a rank alone make the record dimension longer? As netCDF over PnetCDF has it.
  bool grows_alone() const { return !netcdf4(); }
  // Length of a dimension, so far; with the records that this rank keeps, or those that all ranks know.
  std::size_t length(int dimid) const;
  std::size_t shared_length(int dimid) const;
};

// ---- The files that there are.

bool has_room();
// An id for a file, which is owned from now on; there is room.
int add(std::unique_ptr<File> file);
File* file_of(int ncid);  // nullptr: NC_EBADID
int id_of(const File& file);
// The id that the library has for a file: its own, or that of one that was handed back; -1: it has none.
int library_id_of(int ncid);
void remove(int ncid);  // with what is left of it

// What the front gave; `given` is its part of it.
const door_functions& library();
const door_program& program();
void take_program(const door_program* given);

// ---- Errors.

// report_error of codes.hpp, for this file.
int report_error(const File& file, const char* call, int code);

}  // namespace door

#endif
