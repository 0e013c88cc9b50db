/* Appends two days to a series; makes the file if there is none. Run it again, on any number of ranks. */
#include <shoal/shoal.h>

enum { NX = 8, NY = 6 };

static void check(int code) {
  if (code != SHOAL_OK) shoal_abort(MPI_COMM_WORLD, code, shoal_error_message());
}

static void define(shoal_dataset* file, const shoal_decomposition* rows) {
  check(shoal_def_dim(file, "time", SHOAL_UNLIMITED));
  check(shoal_def_dim(file, "y", NY));
  check(shoal_def_dim(file, "x", NX));
  check(shoal_def_var(file, "time", SHOAL_DOUBLE, "time", NULL));
  check(shoal_put_att(file, "time", "units", SHOAL_CHAR, 21, "days since 2000-01-01"));
  check(shoal_def_var(file, "temp", SHOAL_FLOAT, "time y x", rows));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int64_t begin = NY * rank / ranks, end = NY * (rank + 1) / ranks;
  const int64_t global[2] = {NY, NX}, first[2] = {begin, 0}, count[2] = {end - begin, NX};
  shoal_decomposition* rows = NULL;
  check(shoal_block(MPI_COMM_WORLD, 2, global, first, count, NULL, NULL, &rows));

  shoal_dataset* file = NULL;
  const int code = shoal_open(MPI_COMM_WORLD, "append_c.nc", SHOAL_WRITE, NULL, &file);
  if (code == SHOAL_NOT_FOUND) { /* the same on all ranks */
    check(shoal_create(MPI_COMM_WORLD, "append_c.nc", "format=netcdf4", &file));
    define(file, rows);
  } else {
    check(code);
  }

  int index;
  check(shoal_find_dim(file, "time", &index));
  for (int i = 0; i < 2; ++i) {
    shoal_dim_info time = SHOAL_DIM_INFO_INIT;
    check(shoal_inq_dim(file, index, &time)); /* time.length: records so far */
    double day = (double)time.length;
    float temp[NY * NX];
    for (int cell = 0; cell < NY * NX; ++cell)
      temp[cell] = (float)day;
    const shoal_array now = shoal_array_of(&day, SHOAL_DOUBLE, 0, NULL);
    const shoal_array field = shoal_array_of(temp, SHOAL_FLOAT, 2, count);
    check(shoal_put(file, "time", &now, SHOAL_RECORD(time.length)));
    check(shoal_write(file, "temp", rows, &field, SHOAL_RECORD(time.length)));
    check(shoal_sync(file, 0)); /* committed: a job that is killed now leaves this record */
  }
  check(shoal_close(&file, 0));
  check(shoal_decomposition_free(&rows));
  MPI_Finalize();
  return 0;
}
