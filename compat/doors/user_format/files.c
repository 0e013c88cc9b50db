// SPDX-License-Identifier: BSD-3-Clause
// Files of the format: netCDF-C has an id for each, and so has who answers for it, which is the core, or the
// same netCDF-C by another of its own formats.
#define _GNU_SOURCE
#include <limits.h>
#include <string.h>

#include "user_format/format.h"

// By the upper half of netCDF-C's id, whose lower half is for groups; 0: no file.
static int ids[1 << 16];

static int* place_of(int ncid) {
  return &ids[(unsigned)ncid >> 16];
}

static const struct door_functions* functions_of(int id) {
  return door_is_id(id) ? door_core_functions() : door_library();
}

static int take(int* ncid) {
  const int id = *place_of(*ncid);
  if (id != 0) *ncid = id | (*ncid & 0xFFFF);
  return id;
}

const struct door_functions* format_file(int* ncid) {
  const int id = take(ncid);
  return id != 0 ? functions_of(id) : NULL;
}

const struct door_functions* format_files(int* ncid, int* ncid_out) {
  take(ncid);
  take(ncid_out);
  return functions_of(door_is_id(*ncid) ? *ncid : *ncid_out);
}

int format_outer_id(int ncid, int id) {
  return id == *place_of(ncid) ? ncid : id;
}

// ---- Made and opened.

// Parameters of files that ranks share, as netCDF-C gives them to a format.
struct together {
  MPI_Comm comm;
  MPI_Info info;
};

// The file of an address: of "file:///a/b.nc#mode=netcdf-4,udf0" that is "/a/b.nc", for which `room` has
// PATH_MAX bytes. Other paths are files, but for addresses of other machines: NULL.
static const char* file_of(const char* path, char* room) {
  static const char scheme[] = "file://";
  if (strncmp(path, scheme, sizeof scheme - 1) != 0) return strstr(path, "://") == NULL ? path : NULL;
  path += sizeof scheme - 1;
  const size_t length = strcspn(path, "#");
  if (length >= PATH_MAX) return NULL;
  memcpy(room, path, length);
  room[length] = '\0';
  return room;
}

// Who makes and opens files: the core, or the library where the door is off or stands aside.
static const struct door_functions* makers(void) {
  const struct door_functions* core = door_enter();
  return core != NULL ? core : door_library();
}

static int create_file(const char* file, int mode, size_t initialsz, size_t* chunksizehintp, void* parameters,
                       int* id) {
  const struct format_makers* library = format_makers();
  if ((mode & NC_INMEMORY) != 0)
    return library->create_mem != NULL ? library->create_mem(file, mode, initialsz, id) : NC_ENOTBUILT;
  if (parameters == NULL)
    return library->create != NULL ? library->create(file, mode, initialsz, chunksizehintp, id)
                                   : NC_ENOTBUILT;
  const struct together* ranks = parameters;
  const struct door_functions* by = makers();
  return by->nc_create_par != NULL ? by->nc_create_par(file, mode, ranks->comm, ranks->info, id) : NC_ENOPAR;
}

int format_create(const char* path, int cmode, size_t initialsz, int basepe, size_t* chunksizehintp,
                  void* parameters, const NC_Dispatch* table, int ncid) {
  (void)basepe;
  (void)table;
  char room[PATH_MAX];
  const char* file = file_of(path, room);
  if (file == NULL) return NC_EURL;
  int mode = format_plain_mode(cmode), id = 0;
  // An address has to name netCDF-4; the mode of the program may name another format.
  if (file != path && (mode & (NC_64BIT_OFFSET | NC_64BIT_DATA)) != 0) mode &= ~NC_NETCDF4;
  const int code = create_file(file, mode, initialsz, chunksizehintp, parameters, &id);
  if (code == NC_NOERR) *place_of(ncid) = id;
  return code;
}

static int open_file(const char* file, int mode, size_t* chunksizehintp, void* parameters, int* id) {
  const struct format_makers* library = format_makers();
  if ((mode & NC_INMEMORY) != 0)
    return library->open_memio != NULL ? library->open_memio(file, mode, parameters, id) : NC_ENOTBUILT;
  if (parameters == NULL)
    return library->open != NULL ? library->open(file, mode, chunksizehintp, id) : NC_ENOTBUILT;
  const struct together* ranks = parameters;
  const struct door_functions* by = makers();
  return by->nc_open_par != NULL ? by->nc_open_par(file, mode, ranks->comm, ranks->info, id) : NC_ENOPAR;
}

int format_open(const char* path, int mode, int basepe, size_t* chunksizehintp, void* parameters,
                const NC_Dispatch* table, int ncid) {
  (void)basepe;
  (void)table;
  char room[PATH_MAX];
  const char* file = file_of(path, room);
  if (file == NULL) return NC_EURL;
  int id = 0;
  struct format_magics lifted;
  format_lift_magics(&lifted);
  const int code = open_file(file, format_plain_mode(mode), chunksizehintp, parameters, &id);
  format_put_back_magics(&lifted);
  if (code == NC_NOERR) *place_of(ncid) = id;
  return code;
}

// The core has no file after a close, whatever its code; the library has one as long as that is an error.
int format_close(int ncid, void* memory) {
  int id = ncid;
  const struct door_functions* of = format_file(&id);
  if (of == NULL) return NC_EBADID;
  const int code = memory != NULL ? of->nc_close_memio(id, memory) : of->nc_close(id);
  if (code == NC_NOERR || door_is_id(id)) *place_of(ncid) = 0;
  return code;
}

int format_abort(int ncid) {
  int id = ncid;
  const struct door_functions* of = format_file(&id);
  if (of == NULL) return NC_EBADID;
  const int code = of->nc_abort(id);
  *place_of(ncid) = 0;
  return code;
}
