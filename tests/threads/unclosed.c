/* What becomes of files that are not closed, or not whole yet, when a program ends with MPI_Finalize; and of
 * files whose close is left to threads. Rank 0 looks at the bytes afterwards: cdf5, big-endian. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shoal/shoal.h"

enum { k_cells = 30000, k_records = 3 };

static int g_rank, g_size, g_failures;

static void ok(int code, const char* what) {
  if (code == SHOAL_OK) return;
  fprintf(stderr, "rank %d: %s: %s\n", g_rank, what, shoal_error_message());
  ++g_failures;
}

/* The number of records that the header reports; -1: there is no such file. */
static long records_of(const char* path) {
  unsigned char head[12];
  FILE* file = fopen(path, "rb");
  if (file == NULL) return -1;
  const size_t got = fread(head, 1, sizeof head, file);
  fclose(file);
  long records = 0;
  for (int i = 4; i < 12; ++i)
    records = records * 256 + head[i];
  return got == sizeof head ? records : -1;
}

static void expect(const char* path, long records) {
  if (g_rank != 0 || records_of(path) == records) return;
  fprintf(stderr, "%s has %ld records, not %ld\n", path, records_of(path), records);
  ++g_failures;
}

static shoal_dataset* written(const char* path, const char* settings, shoal_decomposition* cut,
                              int64_t count) {
  shoal_dataset* file = NULL;
  double* values = malloc(sizeof(double) * (size_t)(count + 1));
  for (int64_t i = 0; i < count; ++i)
    values[i] = (double)i;
  ok(shoal_create(MPI_COMM_WORLD, path, settings, &file), "create");
  ok(shoal_def_dim(file, "time", SHOAL_UNLIMITED), "def_dim");
  ok(shoal_def_dim(file, "x", k_cells), "def_dim");
  ok(shoal_def_var(file, "v", SHOAL_DOUBLE, "time x", cut), "def_var");
  const shoal_array array = shoal_array_of(values, SHOAL_DOUBLE, 1, &count);
  for (int64_t record = 0; record < k_records; ++record)
    ok(shoal_write(file, "v", NULL, &array, SHOAL_RECORD(record)), "write");
  free(values);
  return file;
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_size);
  const int64_t first = (int64_t)k_cells * g_rank / g_size;
  const int64_t count = (int64_t)k_cells * (g_rank + 1) / g_size - first;
  const int64_t global = k_cells;
  shoal_decomposition* cut = NULL;
  ok(shoal_block(MPI_COMM_WORLD, 1, &global, &first, &count, NULL, NULL, &cut), "block");
  const char* in_background = "background=thread, background_close=true, stage_bytes=4MiB, slot_bytes=64KiB";

  /* Closed and waited for. */
  shoal_dataset* file = written("day1.nc", in_background, cut, count);
  ok(shoal_close(&file, 0), "close");
  if (file != NULL) ++g_failures;
  file = written("day2.nc", in_background, cut, count);
  ok(shoal_close(&file, 0), "close of the next"); /* finishes the first */
  expect("day1.nc", k_records);
  ok(shoal_wait(MPI_COMM_WORLD), "wait");
  expect("day2.nc", k_records);
  ok(shoal_wait(MPI_COMM_WORLD), "wait for nothing");

  /* Opened again under another spelling of the same name. */
  file = written("day3.nc", in_background, cut, count);
  ok(shoal_close(&file, 0), "close");
  ok(shoal_open(MPI_COMM_WORLD, "./day3.nc", SHOAL_READ, NULL, &file), "open");
  expect("day3.nc", k_records);
  ok(shoal_close(&file, 0), "close after reading");

  char folder[4096] = "", whole[4200];
  if (getcwd(folder, sizeof folder) == NULL) ++g_failures;
  snprintf(whole, sizeof whole, "%s/day4.nc", folder);
  file = written("day4.nc", in_background, cut, count);
  ok(shoal_close(&file, 0), "close");
  ok(shoal_open(MPI_COMM_WORLD, whole, SHOAL_READ, NULL, &file), "open");
  expect("day4.nc", k_records);
  ok(shoal_close(&file, 0), "close after reading");

  /* Some of the ranks that closed it cannot finish it: reported, not waited for. */
  file = written("day5.nc", in_background, cut, count);
  ok(shoal_close(&file, 0), "close");
  if (g_size > 1 && g_rank == 0 &&
      (shoal_open(MPI_COMM_SELF, "day5.nc", SHOAL_READ, NULL, &file) != SHOAL_STATE ||
       strstr(shoal_error_message(), "shoal_wait") == NULL))
    ++g_failures;
  ok(shoal_wait(MPI_COMM_SELF), "wait for files of one rank");
  if (g_size > 1 && g_rank == 0 &&
      shoal_open(MPI_COMM_SELF, "day5.nc", SHOAL_READ, NULL, &file) != SHOAL_STATE)
    ++g_failures; /* others have to finish it, too */
  ok(shoal_wait(MPI_COMM_WORLD), "wait");
  ok(shoal_open(MPI_COMM_SELF, "day5.nc", SHOAL_READ, NULL, &file), "open alone");
  ok(shoal_close(&file, 0), "close alone");

  /* The setting needs a thread. */
  if (shoal_create(MPI_COMM_WORLD, "no.nc", "background_close=true", &file) != SHOAL_SETTING) ++g_failures;
  if (shoal_create(MPI_COMM_WORLD, "no.nc", "store_bytes_per_second=1MiB", &file) != SHOAL_SETTING)
    ++g_failures;

  /* Left to MPI_Finalize: one that is closing, and three that nobody closed. */
  file = written("closing.nc", in_background, cut, count);
  ok(shoal_close(&file, 0), "close");
  shoal_dataset* left[3] = {written("left-thread.nc", "background=thread, quiet=true", cut, count),
                            written("left-off.nc", "quiet=true", cut, count),
                            written("left-mpiio.nc", "driver=mpiio, quiet=true", cut, count)};
  shoal_decomposition_free(&cut);
  MPI_Finalize();
  expect("closing.nc", k_records);
  expect("left-thread.nc", k_records);
  expect("left-off.nc", k_records);
  expect("left-mpiio.nc", k_records);
  for (int i = 0; i < 3; ++i)
    shoal_abandon(&left[i]);
  return g_failures == 0 ? 0 : 1;
}
