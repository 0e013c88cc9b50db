/* What becomes of ranks that serve when a program does not go as planned. The argument says how:
 *   single     MPI was started without threads: all ranks get an error
 *   unclosed   MPI_Finalize comes with a dataset open: it is closed, and the servers go home
 *   server     a rank that serves dies; computing: one that computes. The launcher ends the job, and
 *   check      what was there at the last sync is whole. */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shoal/shoal.h"

enum { k_cells = 30000, k_limit = 120 };

static const char* const k_go = "served.go"; /* there when what was to be synced is */

static int g_failures;

static void ok(int code, const char* what) {
  if (code == SHOAL_OK) return;
  fprintf(stderr, "%s: %s\n", what, shoal_error_message());
  ++g_failures;
}

/* The number of records that a cdf5 header reports; -1: there is no such file. */
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

static int expect(const char* path, long records) {
  if (records_of(path) == records) return 0;
  fprintf(stderr, "%s has %ld records, not %ld\n", path, records_of(path), records);
  return 1;
}

static int single(int* argc, char*** argv) {
  MPI_Comm computing = MPI_COMM_WORLD;
  int level = 0;
  int size = 1;
  MPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, &level);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > 1 && level == MPI_THREAD_SINGLE) {
    const int code = shoal_serve(MPI_COMM_WORLD, 1, &computing);
    if (code != SHOAL_STATE || strstr(shoal_error_message(), "MPI_THREAD_FUNNELED") == NULL ||
        computing != MPI_COMM_NULL) {
      fprintf(stderr, "code %d: %s\n", code, shoal_error_message());
      ++g_failures;
    }
  }
  MPI_Finalize();
  return g_failures;
}

static void model(MPI_Comm comm, const char* how) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int64_t cells = k_cells;
  const int64_t first = cells * rank / size;
  const int64_t count = cells * (rank + 1) / size - first;
  double* values = calloc((size_t)count + 1, sizeof(double));
  shoal_decomposition* cut = NULL;
  shoal_dataset* file = NULL;
  ok(shoal_block(comm, 1, &cells, &first, &count, NULL, NULL, &cut), "block");
  ok(shoal_create(comm, "served.nc", "format=cdf5, background=ranks", &file), "create");
  ok(shoal_def_dim(file, "time", SHOAL_UNLIMITED), "def_dim");
  ok(shoal_def_dim(file, "x", k_cells), "def_dim");
  ok(shoal_def_var(file, "v", SHOAL_DOUBLE, "time x", cut), "def_var");
  const shoal_array array = shoal_array_of(values, SHOAL_DOUBLE, 1, &count);
  for (int64_t record = 0; record < 2; ++record)
    ok(shoal_write(file, "v", NULL, &array, SHOAL_RECORD(record)), "write");
  ok(shoal_sync(file, 0), "sync");
  for (int64_t record = 2; record < 5; ++record)
    ok(shoal_write(file, "v", NULL, &array, SHOAL_RECORD(record)), "write");
  if (strcmp(how, "computing") == 0 && rank == size - 1) raise(SIGKILL);
  if (strcmp(how, "server") == 0) {
    MPI_Barrier(comm);
    if (rank == 0) fclose(fopen(k_go, "w"));
  }
  if (strcmp(how, "unclosed") != 0)
    for (;;)
      sleep(1);
  ok(shoal_decomposition_free(&cut), "free");
  free(values);
}

/* Of a rank that serves: it dies when it is asked nothing any more. */
static void on_alarm(int number) {
  static int seconds = 0;
  if (access(k_go, F_OK) == 0 || ++seconds > k_limit) {
    signal(number, SIG_DFL);
    raise(number);
  } else {
    alarm(1);
  }
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "unclosed";
  alarm(k_limit);
  if (strcmp(how, "single") == 0) return single(&argc, &argv);
  if (strcmp(how, "check") == 0) return expect("served.nc", 2);
  int level = 0;
  int rank = 0;
  int size = 1;
  MPI_Comm computing = MPI_COMM_NULL;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  /* The last rank serves. */
  if (strcmp(how, "server") == 0 && rank == size - 1) {
    signal(SIGALRM, on_alarm);
    alarm(1);
  }
  ok(shoal_serve(MPI_COMM_WORLD, 1, &computing), "serve");
  if (computing != MPI_COMM_NULL) model(computing, how);
  MPI_Finalize();
  if (rank == 0) g_failures += expect("served.nc", 5);
  return g_failures;
}
