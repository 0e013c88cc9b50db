/* A program that started MPI without threads: storing in the background is refused, on all ranks alike and
 * with the way out; everything else works. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "shoal/shoal.h"

static int says(const char* word) {
  if (strstr(shoal_error_message(), word) != NULL) return 1;
  fprintf(stderr, "'%s' does not say '%s'\n", shoal_error_message(), word);
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  shoal_dataset* file = NULL;
  int good = 1;
  const int code = shoal_create(MPI_COMM_WORLD, "single.nc", "background=thread", &file);
  if (level >= MPI_THREAD_FUNNELED) {
    /* Some MPI libraries always give more than was asked for. */
    good = code == SHOAL_OK && shoal_close(&file, 0) == SHOAL_OK;
  } else {
    good = code == SHOAL_SETTING && says("MPI_THREAD_SINGLE") && says("MPI_Init_thread") &&
           says("MPI_THREAD_FUNNELED") && says("background");
    good = good && shoal_create(MPI_COMM_WORLD, "single.nc", "background=off", &file) == SHOAL_OK &&
           shoal_close(&file, 0) == SHOAL_OK;
  }
  if (!good) fprintf(stderr, "level %d, code %d: %s\n", level, code, shoal_error_message());
  MPI_Finalize();
  return good ? 0 : 1;
}
