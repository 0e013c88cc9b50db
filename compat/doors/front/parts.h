/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parts of the front of either door, which includes this behind its door_functions and door_program.
 */
#ifndef SHOAL_DOORS_PARTS_H
#define SHOAL_DOORS_PARTS_H

#include <stddef.h>
#include <string.h>

/* The core's symbol, DOOR_CORE_SYMBOL. */
typedef const struct door_functions* door_core(const struct door_program* program, char* why, size_t size);

/* The program's own library, looked for once. */
const struct door_program* door_own_program(void);
/* A function of that library by its name; NULL: there is none. */
void* door_library_symbol(const char* name);
/* The same into a pointer to a function: ISO C has none in a void *, POSIX has. */
static inline void door_find(void* pointer, const char* name) {
  void* found = door_library_symbol(name);
  memcpy(pointer, &found, sizeof found);
}
/* The core's functions, once it is loaded; NULL: not (yet). */
const struct door_functions* door_core_functions(void);
/* The same for a call that makes or opens a file: loads the core, unless the door is off (SHOAL_DOORS), or
 * has to stand aside. */
const struct door_functions* door_enter(void);
/* 1: this process may have Shoal's MPI and HDF5 in it. 0: it has others; `why` says which, and what to do. */
int door_fits(char* why, size_t size);
/* 1: this process has another MPI than Shoal's in it, which is the first that door_fits looks at. */
int door_has_other_mpi(char* why, size_t size);
/* "shoal: the door for netCDF WHAT: WHY" on standard error, by one rank. */
void door_say(const char* what, const char* why);

#endif
