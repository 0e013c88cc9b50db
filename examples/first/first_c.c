/* Every rank owns some rows of a field and writes them, three records, to one NetCDF file. */
#include <shoal/shoal.h>

static void check(int code) {
  if (code != SHOAL_OK) shoal_abort(MPI_COMM_WORLD, code, shoal_error_message());
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  const int64_t rows = 4, nx = 8;
  const int64_t global[2] = {rows * ranks, nx}, start[2] = {rows * rank, 0}, count[2] = {rows, nx};
  shoal_decomposition* tiles = NULL;
  check(shoal_block(MPI_COMM_WORLD, 2, global, start, count, NULL, NULL, &tiles));

  float zeta[4 * 8];
  const shoal_array array = shoal_array_of(zeta, SHOAL_FLOAT, 2, count);
  shoal_dataset* file = NULL;
  check(shoal_create(MPI_COMM_WORLD, "first_c.nc", "format=netcdf4", &file));
  check(shoal_def_dim(file, "time", SHOAL_UNLIMITED));
  check(shoal_def_dim(file, "y", global[0]));
  check(shoal_def_dim(file, "x", global[1]));
  check(shoal_def_var(file, "zeta", SHOAL_FLOAT, "time y x", tiles));
  check(shoal_put_att(file, "zeta", "units", SHOAL_CHAR, 1, "m"));
  for (int64_t step = 0; step < 3; ++step) {
    for (int i = 0; i < 32; ++i)
      zeta[i] = (float)(10 * rank + (int)step);
    check(shoal_write(file, "zeta", NULL, &array, SHOAL_RECORD(step)));
  }
  check(shoal_close(&file, 0));
  check(shoal_decomposition_free(&tiles));
  MPI_Finalize();
  return 0;
}
