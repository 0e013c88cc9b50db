/* SPDX-License-Identifier: BSD-3-Clause
 * A model whose files are named by its user: by a path, or by an address that gives them to a format of
 * netCDF-C.
 *   address BEFORE AFTER [opened]     what stands around names of files that are made: nothing, or
 *                                     "file:///folder/" and "#mode=netcdf-4,udf0"; and that are opened */
#include "say.h"

/* after netcdf.h */
#include <netcdf_mem.h>

enum { k_rows = 6, k_columns = 8, k_records = 3 };

static const char *before, *after;
static int opened; /* by addresses, too */

static const char* named(const char* name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s%s%s", before, name, after);
  return path;
}

/* Rows of this rank. */
static void own(size_t* start, size_t* count) {
  start[0] = 0, start[1] = (size_t)(k_rows * rank / ranks), start[2] = 0;
  count[0] = 1, count[1] = (size_t)(k_rows * (rank + 1) / ranks) - start[1], count[2] = k_columns;
}

static void put_record(int ncid, int var, int record) {
  size_t start[3], count[3];
  float values[k_rows * k_columns];
  own(start, count);
  start[0] = (size_t)record;
  for (int i = 0; i < k_rows * k_columns; ++i)
    values[i] = (float)(1000 * record + 100 * rank + i);
  SAY(nc_put_vara_float(ncid, var, start, count, values));
}

static void get_all(int ncid, int var) {
  static const size_t start[3] = {0, 0, 0}, count[3] = {k_records, k_rows, k_columns};
  double values[k_records * k_rows * k_columns];
  memset(values, 0, sizeof values);
  SAY(nc_get_vara_double(ncid, var, start, count, values));
  say_numbers("all", k_records * k_rows * k_columns, values);
}

static void write_file(const char* name, int mode) {
  int ncid = -9, dims[3], field = -9, tight = -9, times = -9, scalar = -9, shuffle = -9, deflate = -9,
      level = -9;
  SAY(nc_create_par(named(name), mode, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  SAY(nc_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]));
  SAY(nc_def_dim(ncid, "y", k_rows, &dims[1]));
  SAY(nc_def_dim(ncid, "x", k_columns, &dims[2]));
  SAY(nc_def_var(ncid, "field", NC_FLOAT, 3, dims, &field));
  SAY(nc_put_att_text(ncid, field, "units", 1, "K"));
  SAY(nc_put_att_double(ncid, NC_GLOBAL, "step", NC_FLOAT, 1, &(const double){0.5}));
  SAY(nc_def_var(ncid, "tight", NC_SHORT, 3, dims, &tight));
  SAY(nc_def_var_deflate(ncid, tight, 1, 1, 2));
  if ((mode & NC_NETCDF4) != 0)
    SAY(nc_def_var_chunking(ncid, tight, NC_CHUNKED, (const size_t[]){1, 3, k_columns}));
  SAY(nc_inq_var_deflate(ncid, tight, &shuffle, &deflate, &level));
  fprintf(say_log, "shuffle %d deflate %d level %d\n", shuffle, deflate, level);
  SAY(nc_def_var(ncid, "time", NC_DOUBLE, 1, dims, &times));
  SAY(nc_def_var(ncid, "time", NC_DOUBLE, 1, dims, &times)); /* the name is in use */
  SAY(nc_enddef(ncid));
  SAY(nc_var_par_access(ncid, NC_GLOBAL, NC_COLLECTIVE));
  for (int id = 0; id < 3; ++id)
    SAY(nc_var_par_access(ncid, id, NC_COLLECTIVE));
  for (int record = 0; record < k_records; ++record) {
    put_record(ncid, field, record);
    put_record(ncid, tight, record);
    SAY(nc_put_var1_double(ncid, times, &(const size_t){(size_t)record}, &(const double){record * 0.25}));
  }
  SAY(nc_sync(ncid));
  MPI_Barrier(MPI_COMM_WORLD);
  get_all(ncid, field);
  SAY(nc_var_par_access(ncid, field, NC_INDEPENDENT));
  put_record(ncid, field, 1);
  SAY(nc_var_par_access(ncid, field, NC_COLLECTIVE));
  SAY(nc_redef(ncid));
  SAY(nc_def_var(ncid, "scalar", NC_INT, 0, NULL, &scalar));
  SAY(nc_rename_dim(ncid, dims[2], "columns"));
  SAY(nc_put_att_text(ncid, scalar, "long_name", 5, "alone"));
  SAY(nc_enddef(ncid));
  SAY(nc_var_par_access(ncid, scalar, NC_COLLECTIVE));
  SAY(nc_put_var_int(ncid, scalar, &(const int){7}));
  SAY(nc_put_vara_float(ncid, field, (const size_t[]){0, k_rows, 0}, (const size_t[]){1, 1, 1},
                        (float[]){0}));
  SAY(nc_put_var_int(ncid, 99, &(const int){7}));
  SAY(nc_close(ncid));
  SAY(nc_close(ncid));
}

static void read_file(const char* name, int mode) {
  int ncid = -9, root = -9, vars = -9, dims = -9, unlimited = -9, varid = -9;
  SAY(nc_open_par(opened ? named(name) : name, mode, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  SAY(nc_inq(ncid, &dims, &vars, NULL, &unlimited));
  fprintf(say_log, "%d dimensions, %d variables, unlimited %d\n", dims, vars, unlimited);
  if (mode != NC_WRITE) {
    SAY(nc_inq_ncid(ncid, NULL, &root));
    fprintf(say_log, "root is %s\n", root == ncid ? "the file" : "another one");
  }
  SAY(nc_inq_varid(ncid, "field", &varid));
  get_all(ncid, varid);
  if ((mode & NC_WRITE) != 0) {
    SAY(nc_var_par_access(ncid, varid, NC_COLLECTIVE));
    put_record(ncid, varid, 2);
    SAY(nc_put_att_text(ncid, NC_GLOBAL, "history", 8, "appended"));
  }
  SAY(nc_close(ncid));
}

/* Without a communicator the format has no part in a file, but for the way to it. */
static void alone(const char* name) {
  int ncid = -9, dim = -9, var = -9;
  static const double values[4] = {1, 2, 3, 4};
  double back[4] = {0};
  if (rank != 0) return;
  SAY(nc_create(named(name), NC_NETCDF4, &ncid));
  SAY(nc_def_dim(ncid, "x", 4, &dim));
  SAY(nc_def_var(ncid, "v", NC_INT, 1, &dim, &var));
  SAY(nc_put_var_double(ncid, var, values));
  SAY(nc_close(ncid));
  SAY(nc_open(name, NC_NOWRITE, &ncid));
  SAY(nc_get_var_double(ncid, 0, back));
  say_numbers("alone", 4, back);
  SAY(nc_close(ncid));
  static char bytes[1 << 20];
  FILE* file = fopen(name, "rb");
  const size_t size = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
  if (file != NULL) fclose(file);
  SAY(nc_open_mem("memory.nc", NC_NOWRITE, size, bytes, &ncid));
  SAY(nc_get_var_double(ncid, 0, back));
  say_numbers("memory", 4, back);
  SAY(nc_close(ncid));
}

int main(int argc, char** argv) {
  before = argc > 2 ? argv[1] : "";
  after = argc > 2 ? argv[2] : "";
  opened = argc > 3;
  say_start(argc, argv);
  write_file("address.nc", NC_NETCDF4);
  write_file("of a name.nc", NC_NETCDF4 | NC_CLASSIC_MODEL);
  write_file("address5.nc", NC_64BIT_DATA);
  read_file("address.nc", NC_NOWRITE);
  read_file("address.nc", NC_WRITE);
  read_file("address5.nc", NC_WRITE);
  opened = 0; /* curl takes no address with blanks */
  read_file("of a name.nc", NC_NOWRITE);
  alone("alone.nc");
  MPI_Barrier(MPI_COMM_WORLD);
  return say_end();
}
