// SPDX-License-Identifier: BSD-3-Clause
// A file behind the door. Shoal serves it, until it is handed back to the program's own library, which then
// does all that is asked of it under the id that the program knows.
#ifndef SHOAL_DOORS_FILE_FILE_HPP
#define SHOAL_DOORS_FILE_FILE_HPP

#include <shoal/bindings.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "file/codes.hpp"
#include "file/definitions.hpp"
#include "front/door.h"

namespace door {

// One definition, as it is made again: in Shoal at the end of the define mode, or in the library.
struct Step {
  std::function<int(const door_functions& library, int ncid)> in_library;  // returns netCDF's code
  std::function<int(shoal_dataset*)> in_shoal;  // Shoal's; empty: nothing, or it comes with the variable
};

// Cells of a variable that a rank put alone and keeps, of the variable's type, one after the other.
struct KeptCells {
  int varid;
  std::vector<std::int64_t> start, count, stride;
  std::vector<char> values;
};

struct File {
  std::string path;
  int mode = 0;                   // as the program gave it: NC_NETCDF4, NC_WRITE ...
  int format = 0;                 // NC_FORMAT_...
  MPI_Comm comm = MPI_COMM_NULL;  // a duplicate of the program's
  int ranks = 1;                  // of it
  MPI_Info info = MPI_INFO_NULL;  // the same
  bool writable = false;
  bool is_new = false;    // made by this program
  bool in_place = false;  // its header was written: Shoal has ended a define mode, or the file was opened
  bool defining = false;
  int fill_mode = NC_FILL;
  Definitions definitions;
  std::vector<Step> steps;  // definitions since the last end of a define mode

  shoal_dataset* dataset = nullptr;  // while Shoal serves it
  bool together = false;             // ranks have put values together since the last sync
  bool stored = false;               // all of its data are in the file, and definitions may be half made
  std::vector<KeptCells> kept;       // of classic files, until ranks meet (data/kept.hpp)
  std::int64_t kept_records = 0;     // records that there are with them
  int library_id = -1;               // 0 or more: handed back
  int failure = NC_NOERR;            // it could not be handed back: the code of all that follows

  bool handed_back() const { return library_id >= 0; }
  bool netcdf4() const { return format == NC_FORMAT_NETCDF4 || format == NC_FORMAT_NETCDF4_CLASSIC; }
  // The rules of netCDF-3: no define mode begins or ends by itself.
  bool strict() const { return format != NC_FORMAT_NETCDF4; }
  // Do ranks move values of the variable together? One rank alone does as all of them.
  bool moves_together(const Variable& var) const { return ranks == 1 || var.access == NC_COLLECTIVE; }
  // May a rank alone make the record dimension longer? As netCDF over PnetCDF has it.
  bool grows_alone() const { return !netcdf4(); }
  // nullptr: no such number.
  Variable* variable(int varid);
  // The attributes of a variable or, for NC_GLOBAL, of the file; nullptr: NC_ENOTVAR.
  Attributes* attributes(int varid);
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
void remove(int ncid);

// What the front gave; `given` is its part of it.
const door_functions& library();
const door_program& program();
void take_program(const door_program* given);

// ---- Errors.

// report_error of codes.hpp, for this file.
int report_error(const File& file, const char* call, int code);

}  // namespace door

#endif
