/* SPDX-License-Identifier: BSD-3-Clause
 * Values with fewer bits (nc_def_var_quantize), and what netCDF tells of them. */
#include "say.h"

enum { k_cells = 12, k_vars = 4 };

static const nc_type types[k_vars] = {NC_FLOAT, NC_DOUBLE, NC_FLOAT, NC_DOUBLE};
static const int modes[k_vars] = {NC_QUANTIZE_BITGROOM, NC_QUANTIZE_BITGROOM, NC_QUANTIZE_BITROUND,
                                  NC_QUANTIZE_BITROUND};
static const int digits[k_vars] = {3, 5, 7, 23};

static void tell(int ncid, int var) {
  int mode = -9, number = -9, attributes = -9;
  SAY(nc_inq_var_quantize(ncid, var, &mode, &number));
  SAY(nc_inq_varnatts(ncid, var, &attributes));
  fprintf(say_log, "mode %d of %d, %d attributes\n", mode, number, attributes);
}

/* The cells of this rank, as doubles or as floats; read in the same form. */
static void move(int ncid, int var, int as_double, double shift) {
  const size_t start = (size_t)(k_cells * rank / ranks),
               count = (size_t)(k_cells * (rank + 1) / ranks) - start;
  double values[k_cells];
  float singles[k_cells];
  for (size_t i = 0; i < count; ++i) {
    values[i] = (i == 1 ? -1 : 1) * (1.0 / 3 + (double)(start + i)) * (i % 3 == 0 ? 1e5 : 0.7) + shift;
    if (start + i == 4) values[i] = -99.5;
    if (start + i == 5) values[i] = 0;
    singles[i] = (float)values[i];
  }
  if (as_double)
    SAY(nc_put_vara_double(ncid, var, &start, &count, values));
  else
    SAY(nc_put_vara_float(ncid, var, &start, &count, singles));
  /* netCDF does it again as it reads, in the type that is asked for: in the variable's own nothing
   * changes. */
  nc_type type = NC_NAT;
  SAY(nc_inq_vartype(ncid, var, &type));
  SAY(nc_get_vara(ncid, var, &start, &count, type == NC_FLOAT ? (void*)singles : (void*)values));
  for (size_t i = 0; i < count; ++i)
    fprintf(say_log, " %a", type == NC_FLOAT ? (double)singles[i] : values[i]);
  fprintf(say_log, "\n");
}

static int define(const char* path, int* vars) {
  int ncid = -9, dim = -9;
  const float fill = -99.5F;
  SAY(nc_create_par(path, NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  SAY(nc_def_dim(ncid, "x", k_cells, &dim));
  for (int i = 0; i < k_vars; ++i) {
    SAY(nc_def_var(ncid, (const char*[]){"a", "b", "c", "d"}[i], types[i], 1, &dim, &vars[i]));
    if (i % 2 == 0) SAY(nc_put_att_float(ncid, vars[i], "_FillValue", NC_FLOAT, 1, &fill));
    SAY(nc_def_var_quantize(ncid, vars[i], modes[i], digits[i]));
    SAY(nc_put_att_text(ncid, vars[i], "units", 1, "1"));
    tell(ncid, vars[i]);
  }
  return ncid;
}

int main(int argc, char** argv) {
  int vars[k_vars];
  say_start(argc, argv);
  int ncid = define("quantize.nc", vars);
  SAY(nc_def_var_quantize(ncid, vars[0], NC_QUANTIZE_BITGROOM, 0));
  SAY(nc_def_var_quantize(ncid, vars[0], 4, 3));
  SAY(nc_enddef(ncid));
  for (int i = 0; i < k_vars; ++i) {
    tell(ncid, vars[i]);
    SAY(nc_var_par_access(ncid, vars[i], i == 1 ? NC_INDEPENDENT : NC_COLLECTIVE));
    move(ncid, vars[i], 1, 0);
    if (types[i] == NC_FLOAT) move(ncid, vars[i], 0, 0.25);
  }
  SAY(nc_def_var_quantize(ncid, vars[0], NC_QUANTIZE_BITGROOM, 2));
  SAY(nc_close(ncid));
  SAY(nc_open_par("quantize.nc", NC_WRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  for (int i = 0; i < k_vars; ++i) {
    tell(ncid, vars[i]);
    move(ncid, vars[i], 1, 0.125);
  }
  SAY(nc_inq_attname(ncid, 0, 0, NULL));
  SAY(nc_get_att_int(ncid, 0, NULL, NULL));
  SAY(nc_close(ncid));
  ncid = define("granular.nc", vars);
  SAY(nc_def_var_quantize(ncid, vars[1], NC_QUANTIZE_GRANULARBR, 4));
  SAY(nc_var_par_access(ncid, vars[0], NC_COLLECTIVE));
  move(ncid, vars[0], 1, 0);
  tell(ncid, vars[1]);
  SAY(nc_close(ncid));
  SAY(nc_open_par("granular.nc", NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  SAY(nc_enddef(ncid));
  for (int i = 0; i < k_vars; ++i)
    tell(ncid, vars[i]);
  SAY(nc_close(ncid));
  return say_end();
}
