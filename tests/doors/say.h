/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs of netCDF that are run without and with a door: each call says its code in the log of its rank,
 * and so do values; logs and files are then compared. */
#ifndef TESTS_DOORS_SAY_H
#define TESTS_DOORS_SAY_H

#include <mpi.h>
#include <netcdf.h>
#include <netcdf_filter.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE* say_log;
static int rank, ranks;

/* One line for a call: its text and code. */
#define SAY(call)                             \
  do {                                        \
    const int said = (call);                  \
    fprintf(say_log, "%d %s\n", said, #call); \
    fflush(say_log);                          \
  } while (0)

static inline void say_start(int argc, char** argv) {
  char name[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  snprintf(name, sizeof name, "log.%d", rank);
  say_log = fopen(name, "w");
  if (say_log == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline int say_end(void) {
  fclose(say_log);
  MPI_Finalize();
  return 0;
}

static inline void say_numbers(const char* what, size_t count, const double* values) {
  fprintf(say_log, "%s:", what);
  for (size_t i = 0; i < count; ++i)
    fprintf(say_log, " %.9g", values[i]);
  fprintf(say_log, "\n");
}

#endif
