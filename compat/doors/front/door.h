/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the two halves of a door know of each other. The front (libshoal_netcdf.so) is what a program loads:
 * the symbols of netCDF-C, the C library, and nothing else, so that it harms no process. The core
 * (libshoal_netcdf_core.so) serves files; it needs Shoal, MPI and HDF5, and is loaded with the first file.
 */
#ifndef SHOAL_DOORS_DOOR_H
#define SHOAL_DOORS_DOOR_H

#include <mpi.h>
#include <netcdf.h>
#include <netcdf_filter.h>
#include <netcdf_mem.h>
#include <netcdf_par.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One member for each function of the table that a file can reach; NULL: the library has none. */
struct door_functions {
#define FUNCTION(name, parameters, arguments) int(*name) parameters;
#include "functions.def"
};

/* What the core gets from the front. */
struct door_program {
  const struct door_functions* library; /* of the program's own netCDF-C */
  /* The same of functions that no file of the door reaches; NULL: the library has none. */
  int (*open_one)(const char* path, int mode, int* ncidp); /* nc_open */
  int (*set_default_format)(int format, int* old_formatp); /* nc_set_default_format */
  int (*has_filter)(int id);                               /* H5Zfilter_avail of its HDF5 */
  void* (*allocate)(size_t bytes);                         /* the program's malloc: what it frees itself */
  void (*release)(void*);                                  /* its free */
};

/* Ids of files behind the door: 4,096 numbers that the library reaches after 28,672 open files. As its own,
 * they leave the last 16 bits to groups. */
#define DOOR_FIRST_ID 0x70000000
#define DOOR_IDS 4096
static inline int door_is_id(int ncid) {
  return (ncid & 0x70000000) == DOOR_FIRST_ID && ncid > 0;
}

/* The symbol of the core: its functions. Called once, before all of them. NULL: it cannot work in this
 * process, and `why` says why. */
#define DOOR_CORE_SYMBOL "shoal_door_netcdf"
#define DOOR_CORE_FILE "libshoal_netcdf_core.so"
#define DOOR_OF "netCDF"
/* A function that every netCDF-C has and the front has not; how files of it are named. */
#define DOOR_EVERY_LIBRARY "nc_inq_libvers"
#define DOOR_LIBRARY_FILE "libnetcdf"
#include "parts.h"

/* The functions of the program's own netCDF-C, looked for once: the next ones after the front in the order
 * in which the loader searches, otherwise those of a netCDF that was loaded later for one library alone, as
 * Python does. */
const struct door_functions* door_library(void);

#ifdef __cplusplus
}
#endif
#endif
