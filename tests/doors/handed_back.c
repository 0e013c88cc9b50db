/* SPDX-License-Identifier: BSD-3-Clause
 * Files that Shoal cannot write: they go to netCDF, at once or later, and nothing else changes. */
#include "say.h"

static int begin(const char* path, int* var) {
  int ncid = -9, dim = -9;
  SAY(nc_create_par(path, NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  SAY(nc_def_dim(ncid, "x", 12, &dim));
  SAY(nc_def_var(ncid, "before", NC_FLOAT, 1, &dim, var));
  SAY(nc_put_att_text(ncid, *var, "units", 1, "1"));
  SAY(nc_var_par_access(ncid, *var, NC_COLLECTIVE));
  return ncid;
}

static void end(int ncid, int var) {
  const size_t start = (size_t)(12 * rank / ranks), count = (size_t)(12 * (rank + 1) / ranks) - start;
  float values[12], back[12];
  for (int i = 0; i < 12; ++i)
    values[i] = (float)(100 * rank + i);
  SAY(nc_put_vara_float(ncid, var, &start, &count, values));
  SAY(nc_get_vara_float(ncid, var, &start, &count, back));
  fprintf(say_log, "%s\n", memcmp(values, back, count * sizeof *back) == 0 ? "alike" : "differ");
  SAY(nc_close(ncid));
}

static void group(void) {
  int var = -9, inner = -9, dim = -9, other = -9, count = -9;
  const int ncid = begin("group.nc", &var);
  SAY(nc_def_grp(ncid, "inside", &inner));
  SAY(nc_def_dim(inner, "y", 3, &dim));
  SAY(nc_def_var(inner, "within", NC_INT, 1, &dim, &other));
  SAY(nc_inq_grps(ncid, &count, NULL));
  fprintf(say_log, "%d groups\n", count);
  end(ncid, var);
}

static void type(void) {
  int var = -9, other = -9;
  nc_type pair = -9;
  const int ncid = begin("type.nc", &var);
  SAY(nc_def_compound(ncid, 8, "pair", &pair));
  SAY(nc_insert_compound(ncid, pair, "first", 0, NC_INT));
  SAY(nc_insert_compound(ncid, pair, "second", 4, NC_INT));
  SAY(nc_def_var(ncid, "pairs", pair, 0, NULL, &other));
  fprintf(say_log, "type %d variable %d\n", pair, other);
  end(ncid, var);
}

static void many_dims(void) {
  int var = -9, other = -9, dims[17];
  const int ncid = begin("dims.nc", &var);
  for (int i = 0; i < 17; ++i) {
    char name[8];
    snprintf(name, sizeof name, "d%d", i);
    SAY(nc_def_dim(ncid, name, 1, &dims[i]));
  }
  SAY(nc_def_var(ncid, "deep", NC_INT, 17, dims, &other));
  end(ncid, var);
}

static void inner_unlimited(void) {
  int var = -9, other = -9, dims[2] = {0, -9};
  const int ncid = begin("inner.nc", &var);
  SAY(nc_def_dim(ncid, "t", NC_UNLIMITED, &dims[1]));
  SAY(nc_def_var(ncid, "turned", NC_INT, 2, dims, &other));
  end(ncid, var);
}

/* It was served, and needs a group later. */
static void later(void) {
  int var = -9, inner = -9, other = -9;
  const int ncid = begin("later.nc", &var);
  SAY(nc_enddef(ncid));
  SAY(nc_redef(ncid));
  SAY(nc_def_grp(ncid, "inside", &inner));
  SAY(nc_def_var(inner, "one", NC_INT, 0, NULL, &other));
  SAY(nc_enddef(ncid));
  end(ncid, var);
}

/* It was served, with data in it, and a change comes that Shoal does not make when the define mode ends. */
static void renamed(void) {
  int var = -9, dim = -9;
  const float fill = -1;
  const int ncid = begin("renamed.nc", &var);
  SAY(nc_put_att_float(ncid, var, "_FillValue", NC_FLOAT, 1, &fill));
  SAY(nc_enddef(ncid));
  const size_t start = (size_t)(12 * rank / ranks), count = (size_t)(12 * (rank + 1) / ranks) - start;
  SAY(nc_put_vara_float(ncid, var, &start, &count, (const float[12]){1, 2, 3}));
  SAY(nc_redef(ncid));
  SAY(nc_def_dim(ncid, "more", 2, &dim));
  SAY(nc_rename_att(ncid, var, "_FillValue", "old_fill"));
  SAY(nc_enddef(ncid));
  end(ncid, var);
}

/* A mode that this version of netCDF has no name for. */
static void later_mode(void) {
  int ncid = -9, dim = -9, var = -9;
  SAY(nc_create_par("mode.nc", NC_NETCDF4 | 0x10000, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  SAY(nc_def_dim(ncid, "x", 12, &dim));
  SAY(nc_def_var(ncid, "before", NC_FLOAT, 1, &dim, &var));
  SAY(nc_close(ncid));
}

int main(int argc, char** argv) {
  say_start(argc, argv);
  group();
  type();
  many_dims();
  inner_unlimited();
  later();
  renamed();
  later_mode();
  int ncid = -9, count = -9;
  SAY(nc_open_par("group.nc", NC_WRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  SAY(nc_inq_grps(ncid, &count, NULL));
  SAY(nc_close(ncid));
  return say_end();
}
