/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks that stop with the same error print it once: all of them, or, with an argument, the last one alone,
 * where the others would wait for ever. What is printed the test looks at. */
#include <mpi.h>
#include <shoal/shoal.h>

int main(int count, char** arguments) {
  (void)arguments;
  int rank = 0;
  int size = 1;
  shoal_dataset* file = NULL;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int code = shoal_open(MPI_COMM_WORLD, "no_such.nc", SHOAL_READ, NULL, &file);
  if (count == 1 || rank == size - 1) shoal_abort(MPI_COMM_WORLD, code, shoal_error_message());
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
