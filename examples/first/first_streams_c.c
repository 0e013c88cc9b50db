/* A model sends a field after each step of six hours; the configuration asks for the means of days. */
#include <shoal/streams.h>
#include <stdio.h>

static void check(int code) {
  if (code != SHOAL_OK) shoal_abort(MPI_COMM_WORLD, code, shoal_error_message());
}

static const char* daily =
    "[[file]]\n"
    "name = \"first_streams_c.nc\"\n"
    "every = \"1 day\"\n"
    "operation = \"mean\"\n"
    "fields = [\"zeta\"]\n";

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, field;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  enum { rows = 4, nx = 8 };
  const int64_t global[2] = {rows * (int64_t)ranks, nx}, start[2] = {rows * (int64_t)rank, 0};
  const int64_t count[2] = {rows, nx};
  shoal_decomposition* tiles = NULL;
  check(shoal_block(MPI_COMM_WORLD, 2, global, start, count, NULL, NULL, &tiles));

  float zeta[rows * nx];
  const shoal_array array = shoal_array_of(zeta, SHOAL_FLOAT, 2, count);
  shoal_streams* streams = NULL;
  check(shoal_streams_open(MPI_COMM_WORLD, daily, "noleap", "2001-01-01", NULL, &streams));
  check(shoal_streams_grid(streams, "sea", "y x", tiles));
  check(shoal_streams_field(streams, "zeta", SHOAL_FLOAT, "y x", "sea", NULL, SHOAL_AT_INSTANT, &field));
  check(shoal_streams_put_att(streams, "zeta", "units", SHOAL_CHAR, 1, "m"));
  for (int step = 1; step <= 8; ++step) {
    for (int i = 0; i < rows * nx; ++i)
      zeta[i] = (float)step;
    check(shoal_streams_advance(streams, 21600.0 * step)); /* the clock first: the step ends here */
    check(shoal_streams_send(streams, field, &array));
  }
  check(shoal_streams_close(&streams));

  /* The second day has steps 5 to 8. */
  shoal_dataset* file = NULL;
  double bounds[2];
  check(shoal_open(MPI_COMM_WORLD, "first_streams_c.nc", SHOAL_READ, NULL, &file));
  check(shoal_read(file, "zeta", tiles, &array, SHOAL_RECORD(1)));
  const shoal_array ends = shoal_array_of(bounds, SHOAL_DOUBLE, 1, (const int64_t[]){2});
  check(shoal_get(file, "time_bounds", &ends, SHOAL_RECORD(1)));
  check(shoal_close(&file, 0));
  check(shoal_decomposition_free(&tiles));
  if (zeta[0] != 6.5F || bounds[1] != 2 * bounds[0]) shoal_abort(MPI_COMM_WORLD, 0, "a wrong mean");
  MPI_Finalize();
  return 0;
}
