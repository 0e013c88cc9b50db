/* SPDX-License-Identifier: BSD-3-Clause
 * Values: tiles of all ranks, replicated and single values, conversions, strides and maps of memory, records,
 * an extended file. */
#include "say.h"

enum { k_lat = 6, k_lon = 8, k_halo = 1, k_records = 3 };

/* The rows of this rank: first, count. */
static void rows(size_t* start, size_t* count) {
  start[0] = (size_t)(k_lat * rank / ranks);
  count[0] = (size_t)(k_lat * (rank + 1) / ranks) - start[0];
  start[1] = 0;
  count[1] = k_lon;
}

static double cell(size_t record, size_t y, size_t x) {
  return 100. * (double)record + 10. * (double)y + (double)x + 0.25;
}

static int define(const char* path, int* vars) {
  static const char* const names[] = {"temp", "salt", "counts", "depth", "packed", "steps", "label"};
  static const nc_type types[] = {NC_FLOAT, NC_DOUBLE, NC_INT, NC_DOUBLE, NC_SHORT, NC_DOUBLE, NC_CHAR};
  int ncid = -9, dims[3], lat[1];
  SAY(nc_create_par(path, NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  SAY(nc_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]));
  SAY(nc_def_dim(ncid, "lat", k_lat, &dims[1]));
  SAY(nc_def_dim(ncid, "lon", k_lon, &dims[2]));
  lat[0] = dims[1];
  for (int i = 0; i < 7; ++i) {
    const int ndims = i == 3 || i > 4 ? 1 : i == 2 ? 2 : 3;
    SAY(nc_def_var(ncid, names[i], types[i], ndims,
                   i == 3 || i == 6 ? lat
                   : i == 2         ? dims + 1
                                    : dims,
                   &vars[i]));
  }
  SAY(nc_put_att_text(ncid, vars[0], "units", 7, "celsius"));
  SAY(nc_enddef(ncid));
  return ncid;
}

static void put_records(int ncid, const int* vars) {
  for (size_t record = 0; record < k_records; ++record) {
    size_t tile[2], cells[2];
    rows(tile, cells);
    const size_t start[3] = {record, tile[0], 0}, count[3] = {1, cells[0], k_lon};
    /* As a model has it: halos around the tile. */
    double with_halo[(k_lat + 2 * k_halo) * (k_lon + 2 * k_halo)];
    float tight[k_lat * k_lon];
    const ptrdiff_t imap[3] = {1, k_lon + 2 * k_halo, 1};
    for (size_t y = 0; y < cells[0]; ++y)
      for (size_t x = 0; x < k_lon; ++x) {
        tight[y * k_lon + x] = (float)cell(record, tile[0] + y, x);
        with_halo[(y + k_halo) * (k_lon + 2 * k_halo) + x + k_halo] = -cell(record, tile[0] + y, x);
      }
    SAY(nc_put_vara_float(ncid, vars[0], start, count, tight));
    SAY(nc_put_varm_double(ncid, vars[1], start, count, NULL, imap, with_halo + k_lon + 2 * k_halo + k_halo));
    SAY(nc_put_vara_float(ncid, vars[4], start, count, tight));
    const double step = 3600. * (double)record;
    SAY(nc_put_var1_double(ncid, vars[5], start, &step));
    if (record == 1) SAY(nc_sync(ncid));
  }
}

static void put_fixed(int ncid, const int* vars) {
  double depth[k_lat];
  int every_second[k_lat * k_lon / 2];
  size_t tile[2], cells[2];
  rows(tile, cells);
  for (int i = 0; i < k_lat; ++i)
    depth[i] = 5. * i;
  SAY(nc_put_var_double(ncid, vars[3], depth)); /* the same on all ranks */
  SAY(nc_put_vara_text(ncid, vars[6], tile, cells, "abcdef" + tile[0]));
  SAY(nc_put_vara_float(ncid, vars[6], tile, cells, NULL));
  const size_t count[2] = {cells[0], k_lon / 2};
  const ptrdiff_t stride[2] = {1, 2};
  for (size_t i = 0; i < count[0] * count[1]; ++i)
    every_second[i] = rank * 100 + (int)i;
  SAY(nc_put_vars_int(ncid, vars[2], tile, count, stride, every_second));
}

static void get_all(int ncid, const int* vars) {
  size_t tile[2], cells[2];
  rows(tile, cells);
  const size_t start[3] = {1, tile[0], 0}, count[3] = {2, cells[0], k_lon};
  double values[2 * k_lat * k_lon];
  int whole[2 * k_lat * k_lon];
  signed char small[2 * k_lat * k_lon];
  const size_t n = 2 * cells[0] * k_lon;
  memset(values, 0, sizeof values);
  SAY(nc_get_vara_double(ncid, vars[0], start, count, values));
  say_numbers("temp", n, values);
  SAY(nc_get_vara_double(ncid, vars[1], start, count, values));
  say_numbers("salt", n, values);
  SAY(nc_get_vara_int(ncid, vars[1], start, count, whole));
  for (size_t i = 0; i < n; ++i)
    values[i] = whole[i];
  say_numbers("salt, whole", n, values);
  SAY(nc_get_vara_schar(ncid, vars[0], start, count, small)); /* some do not fit */
  SAY(nc_get_var_double(ncid, vars[3], values));
  say_numbers("depth", k_lat, values);
  SAY(nc_get_var_int(ncid, vars[2], whole));
  for (size_t i = 0; i < k_lat * k_lon; ++i)
    values[i] = whole[i];
  say_numbers("counts", k_lat * k_lon, values);
  char label[k_lat + 1] = "";
  SAY(nc_get_var_text(ncid, vars[6], label));
  fprintf(say_log, "label %s\n", label);
  SAY(nc_get_var_double(ncid, vars[5], values));
  say_numbers("steps", k_records, values);
}

/* What all ranks do wrong alike. */
static void wrong(int ncid, const int* vars) {
  float values[k_lat * k_lon] = {0};
  size_t start[3] = {0, 0, 0}, count[3] = {1, 1, 1};
  const ptrdiff_t none[3] = {1, 0, 1};
  SAY(nc_put_vara_float(ncid, 99, start, count, values));
  SAY(nc_put_vara_text(ncid, vars[0], start, count, "x"));
  start[1] = k_lat + 1;
  SAY(nc_put_vara_float(ncid, vars[0], start, count, values));
  start[1] = 1, count[1] = k_lat;
  SAY(nc_put_vara_float(ncid, vars[0], start, count, values));
  SAY(nc_get_vara_float(ncid, vars[0], start, count, values));
  count[1] = (size_t)-1;
  SAY(nc_put_vara_float(ncid, vars[0], start, count, values));
  start[0] = 40, count[1] = 1;
  SAY(nc_get_vara_float(ncid, vars[0], start, count, values));
  start[0] = 0;
  SAY(nc_put_vars_float(ncid, vars[0], start, count, none, values));
  SAY(nc_put_vara_float(ncid, vars[0], NULL, count, values));
}

static void lengths(int ncid) {
  size_t length = 77;
  SAY(nc_inq_dimlen(ncid, 0, &length));
  fprintf(say_log, "%zu records\n", length);
}

/* Values next to the limits of types. */
static void limits(int ncid) {
  static const double values[] = {
      127.5,         -0.5,  -128.5,       2147483647.,          2147483647.5,         -2147483648.,
      -2147483648.5, 255.5, 4294967295.5, 9223372036854775807., -9223372036854775808.};
  for (nc_type type = NC_BYTE; type <= NC_UINT64; ++type)
    for (int i = 0; type != NC_CHAR && i < 11; ++i) {
      const float single = (float)values[i];
      double back[2] = {0};
      SAY(nc_put_att_double(ncid, NC_GLOBAL, "limit", type, 1, &values[i]));
      if (values[i] < 9e18 || type > NC_INT64) SAY(nc_get_att_double(ncid, NC_GLOBAL, "limit", back));
      /* What the machine makes of such a float is no rule. */
      const int beyond = single > 2e9f && (type == NC_INT || type == NC_UINT || type >= NC_INT64);
      if (!beyond) SAY(nc_put_att_float(ncid, NC_GLOBAL, "limit", type, 1, &single));
      if (!beyond) SAY(nc_get_att_double(ncid, NC_GLOBAL, "limit", back + 1));
      say_numbers("limits", 2, back);
    }
}

/* A file that was closed is opened again, and goes on; `collective` or by single ranks. */
static void extend(const char* path, const int* vars, int collective) {
  int ncid = -9, more = -9, dim = -9;
  double depth[1] = {-1};
  SAY(nc_open_par(path, NC_WRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  lengths(ncid);
  if (collective)
    for (int i = 0; i < 7; ++i)
      SAY(nc_var_par_access(ncid, vars[i], NC_COLLECTIVE));
  const size_t first[3] = {k_records, 0, 0}, one[3] = {1, 1, 1};
  SAY(nc_put_vara_double(ncid, vars[5], first, one, depth)); /* alone it grows no file */
  if (!collective) SAY(nc_put_vara_double(ncid, vars[5], (const size_t[]){k_records + 5}, one, depth));
  const size_t mine[3] = {0, (size_t)rank % k_lat, 0};
  const float value = (float)rank;
  SAY(nc_put_var1_float(ncid, vars[0], mine, &value));
  if (collective || rank == 0) SAY(nc_put_vara_double(ncid, vars[3], first + 1, one, depth));
  MPI_Barrier(MPI_COMM_WORLD);
  SAY(nc_redef(ncid));
  SAY(nc_inq_dimid(ncid, "lat", &dim));
  SAY(nc_def_var(ncid, collective ? "both" : "each", NC_INT, 1, &dim, &more));
  SAY(nc_put_att_text(ncid, more, "note", 5, "later"));
  SAY(nc_enddef(ncid));
  const size_t place = (size_t)rank % k_lat;
  SAY(nc_put_var1_int(ncid, more, &place, &(const int){rank + 1}));
  SAY(nc_close(ncid));
}

int main(int argc, char** argv) {
  say_start(argc, argv);
  int vars[7];
  const int ncid = define("values.nc", vars);
  limits(ncid);
  for (int i = 0; i < 7; ++i)
    SAY(nc_var_par_access(ncid, vars[i], NC_COLLECTIVE));
  lengths(ncid);
  put_fixed(ncid, vars);
  put_records(ncid, vars);
  lengths(ncid);
  get_all(ncid, vars);
  wrong(ncid, vars);
  SAY(nc_close(ncid));
  extend("values.nc", vars, 1);
  extend("values.nc", vars, 0);
  return say_end();
}
