/* A program that started MPI without threads: ranks store within their calls where background=thread is asked
 * for, with a warning that says the way out; with unused_settings=refuse that is an error, on all ranks
 * alike. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shoal/shoal.h"

static int says(const char* word) {
  if (strstr(shoal_error_message(), word) != NULL) return 1;
  fprintf(stderr, "'%s' does not say '%s'\n", shoal_error_message(), word);
  return 0;
}

/* Records are written and read back; the report of rank 0 has the warning. */
static int works(const char* settings, const char* warning) {
  shoal_dataset* file = NULL;
  int64_t value = 17;
  int64_t found = 0;
  const shoal_array in = shoal_array_of(&value, SHOAL_INT64, 0, NULL);
  const shoal_array out = shoal_array_of(&found, SHOAL_INT64, 0, NULL);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int good = shoal_create(MPI_COMM_WORLD, "single.nc", settings, &file) == SHOAL_OK &&
             shoal_def_dim(file, "time", SHOAL_UNLIMITED) == SHOAL_OK &&
             shoal_def_var(file, "v", SHOAL_INT64, "time", NULL) == SHOAL_OK;
  for (int64_t record = 0; good && record < 3; ++record)
    good = shoal_put(file, "v", &in, SHOAL_RECORD(record)) == SHOAL_OK;
  const char* report = good ? shoal_report(file) : "";
  if (good && rank == 0 && strstr(report, warning) == NULL) {
    fprintf(stderr, "the report does not say '%s':\n%s\n", warning, report);
    good = 0;
  }
  good = good && shoal_close(&file, 0) == SHOAL_OK && shoal_wait(MPI_COMM_WORLD) == SHOAL_OK &&
         shoal_open(MPI_COMM_WORLD, "single.nc", SHOAL_READ, "", &file) == SHOAL_OK &&
         shoal_get(file, "v", &out, SHOAL_RECORD(2)) == SHOAL_OK && shoal_close(&file, 0) == SHOAL_OK;
  return good && found == 17;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  shoal_dataset* file = NULL;
  int good = 1;
  const int code =
      shoal_create(MPI_COMM_WORLD, "single.nc", "background=thread, unused_settings=refuse", &file);
  if (level >= MPI_THREAD_FUNNELED) {
    /* Some MPI libraries always give more than was asked for. */
    good = code == SHOAL_OK && shoal_close(&file, 0) == SHOAL_OK;
  } else {
    good = code == SHOAL_SETTING && says("MPI_THREAD_SINGLE") && says("MPI_Init_thread") &&
           says("MPI_THREAD_FUNNELED") && says("background");
    good =
        good && works("background=off", "") &&
        works("background=thread", "started MPI without threads (MPI_THREAD_SINGLE), so ranks store within");
    setenv("SHOAL_BACKGROUND", "thread", 1);
    good = good && works("background_close=true", "background is 'thread' (from SHOAL_BACKGROUND)");
  }
  if (!good) fprintf(stderr, "level %d, code %d: %s\n", level, code, shoal_error_message());
  MPI_Finalize();
  return good ? 0 : 1;
}
