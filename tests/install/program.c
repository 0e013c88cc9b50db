/* Writes a row of numbers cut over the ranks and reads it back. Exit code 0 if all is well. */
#include <shoal/shoal.h>
#include <stdio.h>

static void check(int code) {
  if (code != SHOAL_OK) {
    fprintf(stderr, "%s: %s\n", shoal_error_name(code), shoal_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  enum { CELLS = 10 };
  const int64_t global = CELLS * (int64_t)size, first = CELLS * (int64_t)rank, count = CELLS;
  shoal_decomposition* row = NULL;
  check(shoal_block(MPI_COMM_WORLD, 1, &global, &first, &count, NULL, NULL, &row));

  double values[CELLS], back[CELLS] = {0};
  for (int i = 0; i < CELLS; ++i)
    values[i] = (double)(first + i);
  const shoal_array array = shoal_array_of(values, SHOAL_DOUBLE, 1, &count);
  const shoal_array target = shoal_array_of(back, SHOAL_DOUBLE, 1, &count);

  shoal_dataset* file = NULL;
  check(shoal_create(MPI_COMM_WORLD, "installed_c.nc", "format=cdf5", &file));
  check(shoal_def_dim(file, "x", global));
  check(shoal_def_var(file, "row", SHOAL_DOUBLE, "x", row));
  check(shoal_write(file, "row", NULL, &array, NULL));
  check(shoal_close(&file, 0));

  check(shoal_open(MPI_COMM_WORLD, "installed_c.nc", SHOAL_READ, NULL, &file));
  check(shoal_read(file, "row", row, &target, NULL));
  check(shoal_close(&file, 0));
  check(shoal_decomposition_free(&row));

  int wrong = 0;
  for (int i = 0; i < CELLS; ++i)
    wrong += back[i] != values[i];
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("C, shoal %s: %d of %d values wrong\n", shoal_version(), wrong, CELLS * size);
  MPI_Finalize();
  return wrong != 0;
}
