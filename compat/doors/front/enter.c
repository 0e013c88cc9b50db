// SPDX-License-Identifier: BSD-3-Clause
// Whether the door serves in this process, and the core of it. Of both doors: DOOR_HEADER is the header of
// the one.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "built_with.h"
#include DOOR_HEADER

static const struct door_functions* core = NULL;
static const char k_core[] = DOOR_CORE_FILE;

const struct door_functions* door_core_functions(void) {
  return core;
}

// The launchers say which rank this is before MPI does.
void door_say(const char* what, const char* why) {
  static const char* const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID",
                                      "MPI_LOCALRANKID"};
  for (size_t i = 0; i < sizeof ranks / sizeof *ranks; ++i) {
    const char* rank = getenv(ranks[i]);
    if (rank == NULL) continue;
    if (strcmp(rank, "0") != 0) return;
    break;
  }
  fprintf(stderr, "shoal: the door for " DOOR_OF " %s: %s\n", what, why);
}

// ---- What is mapped.

enum { k_most = 16 };

struct mapped {
  int mpis, hdf5s;
  char mpi[k_most][256], hdf5[k_most][PATH_MAX];
};

static int starts(const char* text, const char* with) {
  return strncmp(text, with, strlen(with)) == 0;
}

// "libhdf5.so.103", "libhdf5_serial.so.103", and not the libraries around it.
static int is_hdf5(const char* base) {
  if (!starts(base, "libhdf5") || strstr(base, ".so") == NULL) return 0;
  static const char* const others[] = {"_hl", "_cpp", "_fortran", "_tools", "hl_", "_java"};
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
    if (strstr(base, others[i]) != NULL) return 0;
  return 1;
}

// A file of the name as the loader has it: "libmpi.so.40.30.4" is "libmpi.so.40".
static int is_mpi_of_shoal(const char* base) {
  return starts(base, SHOAL_DOOR_MPI);
}

static const char* base_of(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

static int note(struct dl_phdr_info* info, size_t size, void* noted) {
  (void)size;
  struct mapped* mapped = noted;
  const char* base = base_of(info->dlpi_name);
  if ((starts(base, "libmpi.so") || starts(base, "libmpich.so")) && mapped->mpis < k_most) {
    // Loaded by another name, as Python does: "libmpi.so" is a link to it.
    char real[PATH_MAX];
    if (!is_mpi_of_shoal(base) && realpath(info->dlpi_name, real) != NULL) base = base_of(real);
    snprintf(mapped->mpi[mapped->mpis++], sizeof mapped->mpi[0], "%.255s", base);
  }
  if (is_hdf5(base) && mapped->hdf5s < k_most)
    snprintf(mapped->hdf5[mapped->hdf5s++], sizeof mapped->hdf5[0], "%s", info->dlpi_name);
  return 0;
}

// "1.10.8"; "" where it cannot be asked.
static void version_of(const char* path, char* out, size_t size) {
  *out = '\0';
  void* library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (library == NULL) return;
  int (*ask)(unsigned*, unsigned*, unsigned*) = NULL;
  void* found = dlsym(library, "H5get_libversion");
  memcpy(&ask, &found, sizeof found);
  unsigned major = 0, minor = 0, release = 0;
  if (ask != NULL && ask(&major, &minor, &release) >= 0)
    snprintf(out, size, "%u.%u.%u", major, minor, release);
  dlclose(library);
}

static const struct mapped* look_around(void) {
  static struct mapped mapped;
  memset(&mapped, 0, sizeof mapped);
  dl_iterate_phdr(note, &mapped);
  return &mapped;
}

int door_has_other_mpi(char* why, size_t size) {
  const struct mapped* mapped = look_around();
  for (int i = 0; i < mapped->mpis; ++i)
    if (!is_mpi_of_shoal(mapped->mpi[i])) {
      snprintf(why, size,
               "the program's MPI is %s, and this Shoal was built with %s; load a Shoal of the former",
               mapped->mpi[i], SHOAL_DOOR_MPI);
      return 1;
    }
  return 0;
}

int door_fits(char* why, size_t size) {
  if (door_has_other_mpi(why, size)) return 0;
  const struct mapped* mapped = look_around();
  if (mapped->mpis == 0) {
    snprintf(why, size, "the program has no %s in it, which this Shoal was built with", SHOAL_DOOR_MPI);
    return 0;
  }
  for (int i = 0; i < mapped->hdf5s; ++i) {
    char version[32];
    version_of(mapped->hdf5[i], version, sizeof version);
    if (strcmp(version, SHOAL_DOOR_HDF5) != 0) {
      snprintf(
          why, size,
          "the program's HDF5 is %s (%s), and this Shoal was built with %s; load a Shoal of that version",
          *version != '\0' ? version : "unknown", mapped->hdf5[i], SHOAL_DOOR_HDF5);
      return 0;
    }
  }
  return 1;
}

// The core lies beside the front.
static door_core* load_core(char* why, size_t size) {
  Dl_info here;
  char path[PATH_MAX];
  if (dladdr((const void*)&k_core, &here) == 0 || strlen(here.dli_fname) + sizeof k_core > sizeof path) {
    snprintf(why, size, "the folder of the door is not known");
    return NULL;
  }
  strcpy(path, here.dli_fname);
  char* slash = strrchr(path, '/');
  strcpy(slash != NULL ? slash + 1 : path, k_core);
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  door_core* open_core = NULL;
  if (library != NULL) {
    void* found = dlsym(library, DOOR_CORE_SYMBOL);
    memcpy(&open_core, &found, sizeof found);
  }
  if (open_core == NULL) {
    const char* error = dlerror();
    snprintf(why, size, "%s", error != NULL ? error : "the core of the door has not its symbol");
  }
  return open_core;
}

const struct door_functions* door_enter(void) {
  static int tried = 0;
  if (tried) return core;
  const char* asked = getenv("SHOAL_DOORS");
  if (asked != NULL && strcmp(asked, "off") == 0) return NULL;
  const struct door_program* program = door_own_program();  // before Shoal's own netCDF-C is loaded
  tried = 1;
  char why[2 * PATH_MAX];
  door_core* open_core = door_fits(why, sizeof why) ? load_core(why, sizeof why) : NULL;
  if (open_core != NULL) core = open_core(program, why, sizeof why);
  if (core == NULL) door_say("stands aside, and files are written by the program's own library", why);
  return core;
}
