/* SPDX-License-Identifier: BSD-3-Clause */
#include "lines.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { k_width = 400 };

int my_rank, all_ranks;
static int failures;
static const char* folder;

const char* begin(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &all_ranks);
  if (*argc < 2) {
    fprintf(stderr, "usage: %s FOLDER [argument...]\n", (*argv)[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  folder = (*argv)[1];
  if (my_rank == 0) tell_libraries();
  return folder;
}

int finish(void) {
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (my_rank == 0) printf("failed checks: %d\n", all);
  fflush(stdout);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}

const char* in_folder(const char* name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

void say(const char* what, const char* format, ...) {
  char mine[k_width] = "";
  va_list values;
  va_start(values, format);
  vsnprintf(mine, sizeof mine, format, values);
  va_end(values);
  char* all = my_rank == 0 ? malloc((size_t)all_ranks * k_width) : NULL;
  MPI_Gather(mine, k_width, MPI_CHAR, all, k_width, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (my_rank != 0) return;
  int alike = 1;
  for (int r = 1; r < all_ranks; ++r)
    alike = alike && strcmp(all, all + (size_t)r * k_width) == 0;
  printf("%s:", what);
  if (alike) printf(" %s", all);
  for (int r = 0; r < all_ranks && !alike; ++r)
    printf(" [%d] %s", r, all + (size_t)r * k_width);
  printf("\n");
  fflush(stdout);
  free(all);
}

void check(int good, const char* format, ...) {
  if (good || ++failures > 20) return;
  char text[k_width];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  fprintf(stderr, "rank %d: %s\n", my_rank, text);
}

void needs(int code, const char* call, const char* file, int line) {
  if (code == 0) return;
  fprintf(stderr, "rank %d: %s:%d: %s gave %d\n", my_rank, file, line, call, code);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void part_of(long all, int parts, int part, long* first, long* count) {
  *first = all * part / parts;
  *count = all * (part + 1) / parts - *first;
}
