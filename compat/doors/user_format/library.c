// SPDX-License-Identifier: BSD-3-Clause
// The netCDF-C that has loaded this library: its functions, and what it knows of formats.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "user_format/format.h"

// A process may have several: the one that has asked for the table is the one that sends calls here.
static void* library = NULL;

int format_take_library(const void* caller) {
  Dl_info info;
  void* found = NULL;
  if (dladdr(caller, &info) != 0 && info.dli_fname != NULL)
    found = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (found == NULL || dlsym(found, DOOR_EVERY_LIBRARY) == NULL) found = dlopen(NULL, RTLD_LAZY);
  if (found == NULL || dlsym(found, DOOR_EVERY_LIBRARY) == NULL) return 0;
  if (library == NULL) library = found;
  return library == found;
}

static void set(void* member, const char* name) {
  void* found = library != NULL ? dlsym(library, name) : NULL;
  memcpy(member, &found, sizeof found);
}

int format_version_of_library(void) {
  // The table of classic files, which every netCDF-C has, and exports so far.
  const NC_Dispatch* const* table = NULL;
  set(&table, "NC3_dispatch_table");
  return table != NULL && *table != NULL ? (*table)->dispatch_version : -1;
}

int format_has_fortran(void) {
  return dlsym(RTLD_DEFAULT, "nf_def_var_chunking_") != NULL;
}

// ---- Magic numbers.

// NC_UDF0 to NC_UDF9, of which headers before 4.10 name two.
static const int k_flags[k_slots] = {0x40,     0x80,     0x10000,  0x80000,   0x100000,
                                     0x200000, 0x400000, 0x800000, 0x1000000, 0x2000000};

// Whether a slot has our table, and the magic number of its files.
static int is_ours(int slot, char* magic) {
  static int (*inquire)(int, NC_Dispatch**, char*) = NULL;
  NC_Dispatch* table = NULL;
  if (inquire == NULL) set(&inquire, "nc_inq_user_format");
  return inquire != NULL && inquire(k_flags[slot], &table, magic) == NC_NOERR && table == &format_table;
}

int format_plain_mode(int mode) {
  for (int i = 0; i < k_slots; ++i)
    if ((mode & k_flags[i]) != 0 && is_ours(i, NULL)) mode &= ~k_flags[i];
  return mode;
}

static void set_magic(int slot, const char* magic) {
  int (*define)(int, NC_Dispatch*, char*) = NULL;
  char copy[NC_MAX_MAGIC_NUMBER_LEN + 1];
  set(&define, "nc_def_user_format");
  strcpy(copy, magic);
  if (define != NULL) define(k_flags[slot], &format_table, copy);
}

void format_lift_magics(struct format_magics* lifted) {
  memset(lifted, 0, sizeof *lifted);
  for (int i = 0; i < k_slots; ++i) {
    char* magic = lifted->of_slot[i];
    if (!is_ours(i, magic)) *magic = '\0';
    if (*magic != '\0') set_magic(i, "");
  }
}

void format_put_back_magics(const struct format_magics* lifted) {
  for (int i = 0; i < k_slots; ++i)
    if (lifted->of_slot[i][0] != '\0') set_magic(i, lifted->of_slot[i]);
}

// ---- Functions of the library. Two of them read a file's magic number.

static int (*own_open)(const char*, int, int*);
static int (*own_open_par)(const char*, int, MPI_Comm, MPI_Info, int*);

static int open_one(const char* path, int mode, int* ncid) {
  struct format_magics lifted;
  format_lift_magics(&lifted);
  const int code = own_open(path, mode, ncid);
  format_put_back_magics(&lifted);
  return code;
}

static int open_par(const char* path, int mode, MPI_Comm comm, MPI_Info info, int* ncid) {
  struct format_magics lifted;
  format_lift_magics(&lifted);
  const int code = own_open_par(path, mode, comm, info, ncid);
  format_put_back_magics(&lifted);
  return code;
}

void* door_library_symbol(const char* name) {
  void* found = NULL;
  set(&found, name);
  if (found == NULL) return NULL;
  if (strcmp(name, "nc_open") == 0) {
    int (*ours)(const char*, int, int*) = open_one;
    memcpy(&own_open, &found, sizeof found);
    memcpy(&found, &ours, sizeof found);
  } else if (strcmp(name, "nc_open_par") == 0) {
    int (*ours)(const char*, int, MPI_Comm, MPI_Info, int*) = open_par;
    memcpy(&own_open_par, &found, sizeof found);
    memcpy(&found, &ours, sizeof found);
  }
  return found;
}

const struct format_makers* format_makers(void) {
  static struct format_makers makers;
  set(&makers.create, "nc__create");
  set(&makers.open, "nc__open");
  set(&makers.create_mem, "nc_create_mem");
  set(&makers.open_memio, "nc_open_memio");
  return &makers;
}
