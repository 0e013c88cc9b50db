/* A rank is killed while threads store: what was committed before is in the file, and the file opens. Without
 * an argument the program writes and loses its last rank; with one it looks at what is left. */
#define _POSIX_C_SOURCE 200809L /* kill */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "shoal/shoal.h"

enum { k_cells = 200000, k_committed = 2, k_more = 40 };

static void ok(int code, const char* what) {
  if (code == SHOAL_OK) return;
  fprintf(stderr, "%s: %s\n", what, shoal_error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double value(int64_t record, int64_t cell) {
  return (double)(record * k_cells + cell);
}

int main(int argc, char** argv) {
  int level = 0, rank = 0, size = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int checks = argc > 1;
  const int64_t first = (int64_t)k_cells * rank / size;
  const int64_t count = (int64_t)k_cells * (rank + 1) / size - first;
  const int64_t global = k_cells;
  double* values = malloc(sizeof(double) * (size_t)(count + 1));
  const shoal_array array = shoal_array_of(values, SHOAL_DOUBLE, 1, &count);
  shoal_decomposition* cut = NULL;
  shoal_dataset* file = NULL;
  ok(shoal_block(MPI_COMM_WORLD, 1, &global, &first, &count, NULL, NULL, &cut), "block");
  if (checks) {
    int wrong = 0;
    ok(shoal_open(MPI_COMM_WORLD, "killed.nc", SHOAL_READ, NULL, &file), "open");
    shoal_dim_info time = SHOAL_DIM_INFO_INIT;
    ok(shoal_inq_dim(file, 0, &time), "inq_dim");
    if (time.length != k_committed) ++wrong;
    for (int64_t record = 0; record < k_committed; ++record) {
      ok(shoal_read(file, "v", cut, &array, SHOAL_RECORD(record)), "read");
      for (int64_t i = 0; i < count; ++i)
        wrong += values[i] != value(record, first + i);
    }
    if (wrong != 0) fprintf(stderr, "%ld records, %d values wrong\n", (long)time.length, wrong);
    ok(shoal_close(&file, 0), "close");
    shoal_decomposition_free(&cut);
    free(values);
    MPI_Finalize();
    return wrong == 0 ? 0 : 1;
  }
  ok(shoal_create(MPI_COMM_WORLD, "killed.nc", "background=thread, slot_bytes=64KiB", &file), "create");
  ok(shoal_def_dim(file, "time", SHOAL_UNLIMITED), "def_dim");
  ok(shoal_def_dim(file, "x", k_cells), "def_dim");
  ok(shoal_def_var(file, "v", SHOAL_DOUBLE, "time x", cut), "def_var");
  for (int64_t record = 0; record < k_committed + k_more; ++record) {
    for (int64_t i = 0; i < count; ++i)
      values[i] = value(record, first + i);
    ok(shoal_write(file, "v", NULL, &array, SHOAL_RECORD(record)), "write");
    if (record + 1 == k_committed) ok(shoal_sync(file, 0), "sync");
  }
  if (rank == size - 1) kill(getpid(), SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
  return 1; /* the launcher ends the others */
}
