/* One rank of each node serves: it stores what the others write, while these compute the next step. On 2
 * ranks or more. */
#include <shoal/shoal.h>
#include <stdio.h>

enum { k_rows = 4, k_columns = 8, k_cells = k_rows * k_columns, k_steps = 5 };

static void check(int code) {
  if (code != SHOAL_OK) shoal_abort(MPI_COMM_WORLD, code, shoal_error_message());
}

/* What a step makes of the field of these rows; stands for a model. */
static void compute(float* zeta, int rank, int step) {
  for (int i = 0; i < k_cells; ++i)
    zeta[i] = (float)(100 * step + 10 * rank) + (float)i / k_cells;
}

/* Knows nothing of the ranks that serve, but for the setting: it could stand in the environment as well. */
static void run_model(MPI_Comm comm) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int64_t global[2] = {k_rows * ranks, k_columns}, start[2] = {k_rows * rank, 0};
  const int64_t count[2] = {k_rows, k_columns};
  shoal_decomposition* tiles = NULL;
  check(shoal_block(comm, 2, global, start, count, NULL, NULL, &tiles));

  float zeta[k_cells], back[k_cells];
  const shoal_array array = shoal_array_of(zeta, SHOAL_FLOAT, 2, count);
  shoal_dataset* file = NULL;
  check(shoal_create(comm, "servers_c.nc", "format=netcdf4, background=ranks", &file));
  check(shoal_def_dim(file, "time", SHOAL_UNLIMITED));
  check(shoal_def_dim(file, "y", global[0]));
  check(shoal_def_dim(file, "x", global[1]));
  check(shoal_def_var(file, "zeta", SHOAL_FLOAT, "time y x", tiles));
  for (int step = 0; step < k_steps; ++step) {
    compute(zeta, rank, step);
    check(shoal_write(file, "zeta", NULL, &array, SHOAL_RECORD(step))); /* over when zeta was copied */
  }
  check(shoal_close(&file, 0)); /* waits until all is stored */

  const shoal_array last = shoal_array_of(back, SHOAL_FLOAT, 2, count);
  check(shoal_open(comm, "servers_c.nc", SHOAL_READ, NULL, &file));
  check(shoal_read(file, "zeta", tiles, &last, SHOAL_RECORD(k_steps - 1)));
  check(shoal_close(&file, 0));
  check(shoal_decomposition_free(&tiles));
  for (int i = 0; i < k_cells; ++i)
    if (back[i] != zeta[i]) {
      fprintf(stderr, "rank %d: cell %d came back as %g\n", rank, i, back[i]);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided); /* servers store in threads of their own */
  MPI_Comm comm;
  check(shoal_serve(MPI_COMM_WORLD, 1, &comm)); /* on a rank that serves: over when the model is done */
  if (comm != MPI_COMM_NULL) {
    run_model(comm);
    MPI_Comm_free(&comm);
  }
  MPI_Finalize(); /* of the others: here servers go home */
  return 0;
}
