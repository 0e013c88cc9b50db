/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the two halves of the door for PnetCDF know of each other: the front (libshoal_pnetcdf.so), which has
 * the symbols and needs the C library alone, and the core (libshoal_pnetcdf_core.so), which serves files.
 */
#ifndef SHOAL_DOORS_PNETCDF_FRONT_DOOR_H
#define SHOAL_DOORS_PNETCDF_FRONT_DOOR_H

#include <mpi.h>
#include <netcdf.h>
#include <pnetcdf.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { door_put, door_get, door_iput, door_iget, door_bput };
enum { door_var, door_var1, door_vara, door_vars, door_varm, door_varn };

/* A call on values, as the program makes it. */
struct door_call {
  int verb, form;
  int together; /* all ranks make it */
  const MPI_Offset *start, *count, *stride, *imap;
  int num; /* of varn: boxes */
  MPI_Offset *const *starts, *const *counts;
  nc_type memory; /* of the values; NC_NAT: bufcount of buftype */
  const void* values;
  MPI_Offset bufcount;
  MPI_Datatype buftype;
  int* request;
};

/* The same of several variables: ncmpi_mput_, ncmpi_mget_. */
struct door_calls {
  int gets, form, together;
  MPI_Offset *const *starts, *const *counts, *const *strides, *const *imaps;
  nc_type memory;
  const void* values; /* pointers, one a variable */
  const MPI_Offset* bufcounts;
  const MPI_Datatype* buftypes;
};

/* The core's functions, and those of the program's own library, which has no others than the rows of the
 * table; NULL: it lacks one. Of the core each may answer DOOR_PASS_ON: the file is the library's, under the
 * id that library_id says. */
#define DOOR_PASS_ON 1
struct door_functions {
#define FUNCTION(name, parameters, arguments) int(*name) parameters;
#include "pnetcdf/front/functions.def"
  int (*move)(int ncid, int varid, const struct door_call* call);
  int (*move_many)(int ncid, int num, const int* varids, const struct door_calls* calls);
  int (*put_att_of)(int ncid, int varid, const char* name, nc_type xtype, MPI_Offset len, const void* values,
                    nc_type memory);
  int (*get_att_of)(int ncid, int varid, const char* name, void* values, nc_type memory);
  int (*hand_back)(int ncid, const char* call, int together);
  int (*library_id)(int ncid);
};

struct door_program {
  const struct door_functions* library; /* of the program's own PnetCDF */
  int (*default_format)(int* formatp);  /* its ncmpi_inq_default_format */
};

#define DOOR_FIRST_ID 0x60000000
#define DOOR_IDS 4096
static inline int door_is_id(int ncid) {
  return ncid >= DOOR_FIRST_ID && ncid < DOOR_FIRST_ID + DOOR_IDS;
}

#define DOOR_CORE_SYMBOL "shoal_door_pnetcdf"
#define DOOR_CORE_FILE "libshoal_pnetcdf_core.so"
#define DOOR_OF "PnetCDF"
/* A function that every PnetCDF has and the front has not; how files of it are named. */
#define DOOR_EVERY_LIBRARY "ncmpi_inq_libvers"
#define DOOR_LIBRARY_FILE "libpnetcdf"
#include "front/parts.h"

#ifdef __cplusplus
}
#endif
#endif
