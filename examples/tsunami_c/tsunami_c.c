/* SPDX-License-Identifier: BSD-3-Clause
 * A tsunami off Japan in C: examples/tsunami in short, in bands of latitude and on an earth that does
 * not turn.    tsunami_c [relief file] [hours]     writes tsunami_c.nc, a record an hour */
#include <math.h>
#include <shoal/shoal.h>
#include <stdio.h>
#include <stdlib.h>

static const double k_earth = 6371000.0, k_gravity = 9.81, k_degree = 3.14159265358979 / 180;
static const float k_fill = 9.9692099683868690e36f;

static void check(int code) {
  if (code != SHOAL_OK) shoal_abort(MPI_COMM_WORLD, code, shoal_error_message());
}

/* One row to a neighbour, and one from the other side into the halo. */
static void pass(const double* row, int to, double* halo, int from, int64_t n) {
  MPI_Sendrecv(row, (int)n, MPI_DOUBLE, to, 0, halo, (int)n, MPI_DOUBLE, from, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int hours = argc > 2 ? atoi(argv[2]) : 2;
  int rank, ranks, id;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL, above = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;

  /* Of the relief, the rows between 65 S and 65 N, and of these our band with a row more on each side. */
  shoal_dataset* file = NULL;
  shoal_var_info rose = SHOAL_VAR_INFO_INIT;
  const char* path = argc > 1 ? argv[1] : "/usr/share/ferret-vis/data/etopo20.cdf";
  check(shoal_open(MPI_COMM_WORLD, path, SHOAL_READ, NULL, &file));
  static double latitudes[4400], lon[4400]; /* as many as etopo5 has */
  int64_t sizes[2], south = 0, ny = 0;
  for (int k = 0; k < 2; ++k) {
    shoal_dim_info dim = SHOAL_DIM_INFO_INIT;
    check(shoal_find_var(file, "ROSE", &id) || shoal_inq_var(file, id, &rose));
    check(shoal_inq_dim(file, rose.dims[k], &dim));
    sizes[k] = dim.length;
    if (dim.length > 4400) MPI_Abort(MPI_COMM_WORLD, 1);
    const shoal_array values = shoal_array_of(k ? lon : latitudes, SHOAL_DOUBLE, 1, &sizes[k]);
    check(shoal_get(file, dim.name, &values, NULL));
  }
  for (int64_t j = 0; j < sizes[0]; ++j)
    south += latitudes[j] < -65, ny += fabs(latitudes[j]) <= 65;
  const int64_t nx = sizes[1] - (lon[sizes[1] - 1] - lon[0] > 359.9); /* the first column again? */
  const int64_t j0 = ny * rank / ranks, n = ny * (rank + 1) / ranks - j0, high = n + 2;
  const int64_t global[2] = {ny, nx}, count[2] = {n, nx}, extents[2] = {high, nx};
  const int64_t first_in_file[2] = {south + j0, 0}, first[2] = {j0, 0}, halo[2] = {1, 0};
  shoal_decomposition *rows, *cells;
  check(shoal_block(MPI_COMM_WORLD, 2, sizes, first_in_file, count, halo, halo, &rows));
  check(shoal_block(MPI_COMM_WORLD, 2, global, first, count, halo, halo, &cells));
  double(*h)[nx] = calloc((size_t)high, sizeof *h), (*zeta)[nx] = calloc((size_t)high, sizeof *zeta);
  double(*u)[nx] = calloc((size_t)high, sizeof *u), (*v)[nx] = calloc((size_t)high, sizeof *v);
  const shoal_array h_array = shoal_array_of(h, SHOAL_DOUBLE, 2, extents);
  const shoal_array zeta_array = shoal_array_of(zeta, SHOAL_DOUBLE, 2, extents);
  check(shoal_read(file, "ROSE", rows, &h_array, NULL));
  check(shoal_close(&file, 0));

  /* The sea is where the relief is below zero; it is heaved up at 143 E, 38 N. Both ends are walls. */
  const double* lat = latitudes + south + j0 - 1; /* of our row j, 1 to n */
  for (int64_t j = 0; j < high; ++j)
    for (int64_t i = 0; i < nx; ++i) {
      h[j][i] = j0 + j == 0 || j0 + j == ny + 1 || h[j][i] >= 0 ? 0 : fmax(-h[j][i], 20);
      zeta[j][i] = h[j][i] > 0 ? 6 * exp(-pow(lon[i] - 143, 2) - pow(lat[j] - 38, 2) / 2.4) : k_fill;
    }
  const double d = (lon[1] - lon[0]) * k_degree * k_earth;               /* m */
  const int steps = (int)(3600 / d * sqrt(k_gravity * 11000 * 6.6)) + 1; /* 11 km deep; 1 + 1/cos(65)^2 */
  const double c = 3600.0 / steps / d, g = c * k_gravity / 2;
  check(shoal_create(MPI_COMM_WORLD, "tsunami_c.nc", "format=netcdf4", &file));
  check(shoal_def_dim(file, "time", SHOAL_UNLIMITED));
  check(shoal_def_dim(file, "lat", ny) || shoal_def_dim(file, "lon", nx));
  check(shoal_def_var(file, "zeta", SHOAL_FLOAT, "time lat lon", cells));
  check(shoal_def_fill(file, "zeta", SHOAL_FLOAT, &k_fill));
  for (int step = 0; step <= hours * steps; ++step) {
    if (step % steps == 0) check(shoal_write(file, "zeta", NULL, &zeta_array, SHOAL_RECORD(step / steps)));
    /* The flow u to the east and v to the north of a cell, in m2 s-1, also of the row below ours. */
    for (int64_t j = 0; j <= n; ++j)
      for (int64_t i = 0, e = 1; i < nx; ++i, e = (i + 1) % nx) {
        const double here = h[j][i], east = h[j][e], north = h[j + 1][i], a = lat[j] * k_degree;
        if (here * east > 0) u[j][i] -= g / cos(a) * (here + east) * (zeta[j][e] - zeta[j][i]);
        if (here * north > 0) v[j][i] -= g * (here + north) * (zeta[j + 1][i] - zeta[j][i]);
      }
    for (int64_t j = 1; j <= n; ++j) {
      const double a = lat[j] * k_degree, half = d / k_earth / 2, s = cos(a - half), t = cos(a + half);
      for (int64_t i = 0, w = nx - 1; i < nx; w = i++)
        zeta[j][i] -= c / cos(a) * (u[j][i] - u[j][w] + t * v[j][i] - s * v[j - 1][i]);
    }
    pass(zeta[1], below, zeta[n + 1], above, nx);
    pass(zeta[n], above, zeta[0], below, nx);
  }
  check(shoal_close(&file, 0));
  if (rank == 0) printf("tsunami_c.nc: %d hours of %d steps\n", hours, steps);
  return MPI_Finalize();
}
