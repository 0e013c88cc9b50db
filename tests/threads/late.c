/* A rank comes to MPI_Finalize later than the others wait for it: what is not closed there is lost, on all
 * ranks alike and with a word on standard error, and the program ends. Ranks that come in time lose nothing.
 */
#define _POSIX_C_SOURCE 200809L /* pread */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shoal/shoal.h"

enum { k_cells = 3000, k_records = 2 };

static int g_rank, g_size, g_failures;

static void ok(int code, const char* what) {
  if (code == SHOAL_OK) return;
  fprintf(stderr, "rank %d: %s: %s\n", g_rank, what, shoal_error_message());
  ++g_failures;
}

/* Rank 0 looks at the number of records that the header reports; 0 if there is no header yet. */
static void expect(const char* path, long records) {
  if (g_rank != 0) return;
  unsigned char head[12];
  FILE* file = fopen(path, "rb");
  long found = 0;
  if (file != NULL && fread(head, 1, sizeof head, file) == sizeof head) {
    for (int i = 4; i < 12; ++i)
      found = found * 256 + head[i];
  }
  if (file != NULL) fclose(file);
  if (found == records) return;
  fprintf(stderr, "%s has %ld records, not %ld\n", path, found, records);
  ++g_failures;
}

/* Is it in what rank 0 printed? */
static void expect_reported(int log, const char* words, int wanted) {
  static char all[8192];
  if (log < 0) return;
  const ssize_t got = pread(log, all, sizeof all - 1, 0);
  all[got < 0 ? 0 : got] = 0;
  if ((strstr(all, words) != NULL) == wanted) return;
  fprintf(stderr, "'%s' was%s printed:\n%s", words, wanted ? " not" : "", all);
  ++g_failures;
}

static shoal_dataset* written(const char* path, const char* settings, shoal_decomposition* cut,
                              int64_t count) {
  shoal_dataset* file = NULL;
  double* values = calloc((size_t)(count + 1), sizeof(double));
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
  shoal_dataset* file = written(
      "late-closing.nc", "background=thread, background_close=true, wait_seconds=1, quiet=true", cut, count);
  ok(shoal_close(&file, 0), "close");
  shoal_dataset* left[2] = {written("late-left.nc", "wait_seconds=1, quiet=true", cut, count),
                            written("in-time.nc", "wait_seconds=60, quiet=true", cut, count)};
  shoal_decomposition_free(&cut);
  if (g_size > 1 && g_rank == g_size - 1) sleep(6);
  const int terminal = dup(STDERR_FILENO);
  const int log = g_rank == 0 ? open("late.log", O_RDWR | O_CREAT | O_TRUNC, 0666) : -1;
  if (log >= 0) dup2(log, STDERR_FILENO);
  MPI_Finalize();
  fflush(stderr);
  dup2(terminal, STDERR_FILENO);
  /* Quiet or not, what is lost is reported; that a file was closed late is a warning. */
  expect_reported(log, "late-closing.nc: closing it in the background failed", g_size > 1);
  expect_reported(log, "late-left.nc: the dataset was not closed", g_size > 1);
  expect_reported(log, "in-time.nc", 0);
  /* Alone nobody is late. */
  expect("late-closing.nc", g_size == 1 ? k_records : 0);
  expect("late-left.nc", g_size == 1 ? k_records : 0);
  expect("in-time.nc", k_records);
  for (int i = 0; i < 2; ++i)
    shoal_abandon(&left[i]);
  return g_failures == 0 ? 0 : 1;
}
