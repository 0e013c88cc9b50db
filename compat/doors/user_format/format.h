/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The door as a user-defined format of netCDF-C: a table of functions that netCDF-C itself loads, because a
 * line of .ncrc names it, and calls for the files that a path or a mode gives to it. Nothing is preloaded.
 */
#ifndef SHOAL_DOORS_USER_FORMAT_FORMAT_H
#define SHOAL_DOORS_USER_FORMAT_FORMAT_H

#include "front/door.h"

/* before netcdf_dispatch.h, which needs netcdf.h first */
#include <netcdf_dispatch.h>

/* The table; netCDF-C has no const in its functions of formats. */
extern NC_Dispatch format_table;

/* ---- The netCDF-C that has loaded this library (library.c) -------------------------------------- */

/* Takes the library to which the code at `caller` belongs, or, where it is no netCDF-C, that of the program.
 * 0: neither has symbols of netCDF-C, or another one was taken. */
int format_take_library(const void* caller);
/* The version of that library's own tables, NC_DISPATCH_VERSION; -1: it cannot be asked. */
int format_version_of_library(void);
/* 1: this process has netCDF-Fortran in it. */
int format_has_fortran(void);

/* While a call goes on to that library, a magic number would bring the file here again. */
enum { k_slots = 10 };
struct format_magics {
  char of_slot[k_slots][NC_MAX_MAGIC_NUMBER_LEN + 1]; /* "": none, or another one's table */
};
void format_lift_magics(struct format_magics* lifted);
void format_put_back_magics(const struct format_magics* lifted);
/* `mode` without the flags by which a file comes here. */
int format_plain_mode(int mode);

/* Functions of that library that no file of a door reaches; NULL: it has none. */
struct format_makers {
  int (*create)(const char*, int, size_t, size_t*, int*); /* nc__create */
  int (*open)(const char*, int, size_t*, int*);           /* nc__open */
  int (*create_mem)(const char*, int, size_t, int*);      /* nc_create_mem */
  int (*open_memio)(const char*, int, NC_memio*, int*);   /* nc_open_memio */
};
const struct format_makers* format_makers(void);

/* ---- Files (files.c) -------------------------------------------------------------------------------- */

/* The functions that answer for a file, and its id among theirs in place of netCDF-C's. NULL: there is no
 * such file. */
const struct door_functions* format_file(int* ncid);
/* The same for a call on two files, of which one is this format's. */
const struct door_functions* format_files(int* ncid, int* ncid_out);
/* netCDF-C's id of that file, where `id` is the one among theirs. */
int format_outer_id(int ncid, int id);

int format_create(const char* path, int cmode, size_t initialsz, int basepe, size_t* chunksizehintp,
                  void* parameters, const NC_Dispatch* table, int ncid);
int format_open(const char* path, int mode, int basepe, size_t* chunksizehintp, void* parameters,
                const NC_Dispatch* table, int ncid);
int format_close(int ncid, void* memory);
int format_abort(int ncid);

#endif
