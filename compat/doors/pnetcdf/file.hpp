// SPDX-License-Identifier: BSD-3-Clause
// A file behind the door for PnetCDF. Once it is handed back, the program's own library does all that is
// asked of it under the id that the program knows.
#ifndef SHOAL_DOORS_PNETCDF_FILE_HPP
#define SHOAL_DOORS_PNETCDF_FILE_HPP

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "file/served.hpp"
#include "pnetcdf/front/door.h"

namespace door::pnetcdf {

class List;

// Cells of a variable, and where they lie in memory: `values` is the first one, `steps` are bytes from one
// cell to the next (empty: contiguous), `type` is PnetCDF's number of theirs.
struct Box {
  int varid = -1;
  std::vector<std::int64_t> start, count, stride, steps;
  void* values = nullptr;
  nc_type type = NC_NAT;
};

// What a call moves, checked, with the values that were converted or packed for it.
struct Move {
  bool puts = true;
  std::vector<Box> boxes;
  std::shared_ptr<const List> list;  // in place of boxes: many of one variable
  Box of_list;                       // that has the variable (-1: none), the first value, and the type
  std::vector<char> values;          // what boxes point into, where it is not the program's array
  std::int64_t cells = 0;
  int code = NC_NOERR;                // NC_ERANGE of what was converted
  std::function<int(Move&)> deliver;  // of gets: gives values to the program; empty: they are there

  bool is_empty() const { return boxes.empty() && list == nullptr; }
  void clear() { boxes.clear(), list = nullptr, of_list.varid = -1; }
};

struct Request {
  int id;
  Move move;
  std::int64_t buffered = 0;  // bytes of the attached buffer; -1: of no bput
};

struct File : ServedFile {
  bool alone = false;   // independent data mode
  bool strict = false;  // no box begins behind the last cell, not even an empty one
  int fill_mode = NC_NOFILL;
  bool put_alone = false;  // this rank has put values alone since the last sync
  std::vector<Request> requests;
  std::int64_t buffer = -1, buffered = 0;  // attached bytes, -1: none; those in use
  // Cells that this rank put alone and Shoal could not take, as records that are not there: until ranks meet.
  std::vector<Move> kept;
  std::int64_t put_bytes = 0, got_bytes = 0;
  std::shared_ptr<const List> list;  // the last one that a call gave

  bool grows(const Variable& var) const;  // along its first dimension
  using ServedFile::shared_records;
  std::int64_t shared_records() const;  // that all ranks know of
  std::int64_t records() const;         // with those that this rank keeps
  std::int64_t length(int dimid) const;
};

// NC_NOERR, or why nothing is looked up by such a name.
inline int check_key(const char* name) {
  if (name == nullptr || *name == '\0') return NC_EBADNAME;
  return std::strlen(name) > NC_MAX_NAME ? NC_EMAXNAME : check_asked(name);
}

bool has_room();
int add(std::unique_ptr<File> file);  // its id; there is room
File* file_of(int ncid);              // nullptr: NC_EBADID
void remove(int ncid);                // with what is left of it
std::vector<int> ids();

const door_functions& library();
const door_program& program();
void take_program(const door_program* given);

bool fits(const File& file, const Variable& var, std::int64_t most);

// ---- Phases: Collective.
int end_definitions(File& file);
// What ranks kept or put alone comes into the file; `always`: all else, too (a commit).
int meet(File& file, bool always, const char* call);
int hand_back(File& file, const std::string& reason);

// ---- Data.
// The boxes of a call, checked, and their values converted; a `copy` of them where the program may change
// them. A code but NC_NOERR and NC_ERANGE: there are none.
int prepare(File& file, int varid, const door_call& call, bool puts, bool copy, Move& move);
// Moves them, with those of the other ranks or alone; Shoal's errors are told.
int move_together(File& file, bool puts, const std::vector<Move*>& moves);
int move_alone(File& file, Move& move);
// Ends a get: what was read goes to the program.
int deliver(Move& move);
// Keeps values until ranks meet; lays them over what was read.
void keep(File& file, Move&& move);
int read_over(File& file, Move& move);

// The functions of the table.
namespace serve {
#define FUNCTION(name, parameters, arguments) int name parameters;
#include "pnetcdf/front/functions.def"
int move(int ncid, int varid, const door_call* call);
int move_many(int ncid, int num, const int* varids, const door_calls* calls);
int put_att_of(int ncid, int varid, const char* name, nc_type xtype, MPI_Offset len, const void* values,
               nc_type memory);
int get_att_of(int ncid, int varid, const char* name, void* values, nc_type memory);
int hand_back(int ncid, const char* call, int together);
int library_id(int ncid);
}  // namespace serve

// Runs a call on a file that Shoal serves; hands the file back where the call cannot be served.
template <class Serve>
int answer(int ncid, Serve&& serve) {
  File* file = file_of(ncid);
  if (file == nullptr) return NC_EBADID;
  if (file->failure != NC_NOERR) return file->failure;
  if (file->handed_back()) return DOOR_PASS_ON;
  try {
    try {
      return serve(*file);
    } catch (const HandBack& back) {
      const int code = pnetcdf::hand_back(*file, back.reason);
      return code == NC_NOERR ? DOOR_PASS_ON : code;
    }
  } catch (const std::bad_alloc&) {
    return NC_ENOMEM;
  } catch (const std::exception&) {
    return NC_EINTERNAL;
  }
}

}  // namespace door::pnetcdf

#endif
