/* SPDX-License-Identifier: BSD-3-Clause
 * Definitions and inquiries of one file in each phase, and what is wrong with them. */
#include "say.h"

static const int modes[] = {NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL};

static void inquire(int ncid) {
  int dims = -9, vars = -9, atts = -9, unlimited = -9, format = -9, several[4] = {-9, -9, -9, -9};
  SAY(nc_inq(ncid, &dims, &vars, &atts, &unlimited));
  fprintf(say_log, "%d dimensions, %d variables, %d attributes, unlimited %d\n", dims, vars, atts, unlimited);
  SAY(nc_inq_format(ncid, &format));
  SAY(nc_inq_unlimdims(ncid, &dims, several));
  fprintf(say_log, "format %d, %d unlimited, first %d\n", format, dims, several[0]);
  SAY(nc_inq_nvars(ncid, &vars));
  SAY(nc_inq_ndims(ncid, &dims));
  for (int i = -1; i <= dims; ++i) {
    char name[NC_MAX_NAME + 1] = "?";
    size_t length = 77;
    SAY(nc_inq_dim(ncid, i, name, &length));
    fprintf(say_log, "dimension %d %s %zu\n", i, name, length);
  }
  for (int i = -1; i <= vars; ++i) {
    char name[NC_MAX_NAME + 1] = "?";
    nc_type type = -9;
    int ndims = -9, ids[8] = {0}, natts = -9, no_fill = -9, shuffle = -9, deflate = -9, level = -9,
        checksum = -9;
    SAY(nc_inq_var(ncid, i, name, &type, &ndims, ids, &natts));
    fprintf(say_log, "variable %d %s type %d, %d dimensions, first %d, %d attributes\n", i, name, type, ndims,
            ids[0], natts);
    if (i < 0) continue;
    SAY(nc_inq_var_fill(ncid, i, &no_fill, NULL));
    SAY(nc_inq_var_deflate(ncid, i, &shuffle, &deflate, &level));
    SAY(nc_inq_var_fletcher32(ncid, i, &checksum));
    fprintf(say_log, "no_fill %d shuffle %d deflate %d %d checksum %d\n", no_fill, shuffle, deflate, level,
            checksum);
    for (int k = 0; k < natts && i < vars; ++k) {
      char attribute[NC_MAX_NAME + 1] = "?";
      size_t length = 77;
      SAY(nc_inq_attname(ncid, i, k, attribute));
      SAY(nc_inq_att(ncid, i, attribute, &type, &length));
      fprintf(say_log, "attribute %s type %d length %zu\n", attribute, type, length);
    }
  }
}

static void define(int ncid) {
  int time = -9, lat = -9, lon = -9, other = -9, id = -9, dims[3];
  SAY(nc_def_dim(ncid, "time", NC_UNLIMITED, &time));
  SAY(nc_def_dim(ncid, "lat", 6, &lat));
  SAY(nc_def_dim(ncid, "lon", 8, &lon));
  SAY(nc_def_dim(ncid, "lon", 9, &other));
  SAY(nc_def_dim(ncid, "a/b", 9, &other));
  SAY(nc_def_dim(ncid, "", 9, &other));
  SAY(nc_def_dim(ncid, " x", 9, &other));
  SAY(nc_def_dim(ncid, "x ", 9, &other));
  SAY(nc_def_dim(ncid, "\xE0\x80\x80x", 9, &other));
  SAY(nc_def_dim(ncid, "I\xCC\x80", 9, &other)); /* the same letter */
  SAY(nc_def_dim(ncid, "\xC3\x8C", 9, &other));
  dims[0] = time, dims[1] = lat, dims[2] = lon;
  SAY(nc_def_var(ncid, "lat", NC_DOUBLE, 1, &lat, &id));
  SAY(nc_def_var(ncid, "temp", NC_FLOAT, 3, dims, &id));
  fprintf(say_log, "temp is %d\n", id);
  SAY(nc_def_var(ncid, "temp", NC_FLOAT, 3, dims, &other));
  SAY(nc_def_var(ncid, "mask", NC_BYTE, 2, dims + 1, &other));
  SAY(nc_def_var(ncid, "one", NC_INT, 0, NULL, &other));
  SAY(nc_def_var(ncid, "none", NC_NAT, 0, NULL, &other));
  dims[2] = 40;
  SAY(nc_def_var(ncid, "bad", NC_INT, 3, dims, &other));
  SAY(nc_def_var(ncid, "bad/name", NC_INT, 0, NULL, &other));
}

static void describe(int ncid, int var) {
  const float range[2] = {-2.5F, 40.F}, fill = -99.F, big[1] = {300.F};
  const double many[3] = {1e30, 2, 1e300};
  float back[4] = {0};
  signed char small[4] = {0};
  char text[16] = "";
  SAY(nc_put_att_text(ncid, var, "units", 7, "celsius"));
  SAY(nc_put_att_float(ncid, var, "range", NC_FLOAT, 2, range));
  SAY(nc_put_att_float(ncid, var, "range", NC_DOUBLE, 2, range));
  SAY(nc_put_att_float(ncid, var, "whole", NC_INT, 2, range));
  SAY(nc_put_att_float(ncid, var, "least", NC_INT, 1, (float[]){-2147483648.F}));
  SAY(nc_put_att_double(ncid, var, "a half", NC_BYTE, 1, (double[]){127.5}));
  SAY(nc_put_att_float(ncid, var, "short", NC_BYTE, 1, big));
  SAY(nc_put_att_double(ncid, var, "many", NC_FLOAT, 3, many));
  SAY(nc_put_att_float(ncid, var, "text", NC_CHAR, 2, range));
  SAY(nc_put_att_float(ncid, var, "empty", NC_FLOAT, 0, range));
  SAY(nc_put_att_int(ncid, var, "_FillValue", NC_INT, 1, (const int[]){5}));
  SAY(nc_put_att_float(ncid, var, "_FillValue", NC_FLOAT, 1, &fill));
  SAY(nc_put_att_float(ncid, 77, "range", NC_FLOAT, 2, range));
  SAY(nc_get_att_float(ncid, var, "range", back));
  say_numbers("range", 2, (const double[]){back[0], back[1]});
  SAY(nc_get_att_schar(ncid, var, "range", small));
  SAY(nc_get_att_text(ncid, var, "units", text));
  SAY(nc_get_att_text(ncid, var, "range", text));
  SAY(nc_get_att_float(ncid, var, "units", back));
  SAY(nc_get_att_float(ncid, var, "nothing", back));
  SAY(nc_rename_att(ncid, var, "whole", "entire"));
  SAY(nc_rename_att(ncid, var, "entire", "units"));
  SAY(nc_del_att(ncid, var, "many"));
  SAY(nc_del_att(ncid, var, "many"));
  SAY(nc_put_att_text(ncid, NC_GLOBAL, "title", 4, "test"));
  SAY(nc_copy_att(ncid, var, "units", ncid, NC_GLOBAL));
}

static void store(int ncid, int var) {
  const size_t chunks[3] = {1, 6, 4}, large[3] = {1, 7, 8};
  int old = -9;
  SAY(nc_def_var_chunking(ncid, var, NC_CHUNKED, large));
  SAY(nc_def_var_chunking(ncid, var, NC_CONTIGUOUS, NULL));
  SAY(nc_def_var_chunking(ncid, var, NC_CHUNKED, chunks));
  SAY(nc_def_var_deflate(ncid, var, 1, 1, 10));
  SAY(nc_def_var_deflate(ncid, var, 1, 1, 2));
  SAY(nc_def_var_fletcher32(ncid, var, 1));
  SAY(nc_def_var_deflate(ncid, 3, 1, 1, 2));
  SAY(nc_def_var_endian(ncid, var, NC_ENDIAN_LITTLE));
  SAY(nc_def_var_endian(ncid, var, 7));
  SAY(nc_def_var_quantize(ncid, 2, NC_QUANTIZE_BITROUND, 3));
  SAY(nc_def_var_quantize(ncid, var, NC_QUANTIZE_BITROUND, 99));
  SAY(nc_def_var_fill(ncid, 2, 1, NULL));
  SAY(nc_var_par_access(ncid, var, NC_INDEPENDENT));
  SAY(nc_var_par_access(ncid, var, NC_COLLECTIVE));
  SAY(nc_var_par_access(ncid, 2, NC_COLLECTIVE));
  SAY(nc_var_par_access(ncid, 2, 5));
  SAY(nc_var_par_access(ncid, 20, NC_COLLECTIVE));
  SAY(nc_set_fill(ncid, NC_NOFILL, &old));
  fprintf(say_log, "fill mode %d\n", old);
  int loose = -9, no_fill = -9, fill = -9;
  SAY(nc_def_var(ncid, "loose", NC_INT, 0, NULL, &loose));
  SAY(nc_inq_var_fill(ncid, loose, &no_fill, &fill));
  fprintf(say_log, "no_fill %d, value %d\n", no_fill, fill);
  SAY(nc_def_var_fill(ncid, loose, NC_FILL, &(const int){7}));
  SAY(nc_inq_var_fill(ncid, loose, &no_fill, &fill));
  fprintf(say_log, "no_fill %d, value %d\n", no_fill, fill);
  SAY(nc_set_fill(ncid, NC_FILL, &old));
  SAY(nc_set_fill(ncid, 3, &old));
}

static void groups_and_types(int ncid) {
  int count = -9, other = -9;
  char name[NC_MAX_NAME + 1] = "?";
  size_t size = 77;
  nc_type type = -9;
  SAY(nc_inq_grps(ncid, &count, NULL));
  SAY(nc_inq_grpname(ncid, name));
  SAY(nc_inq_grp_parent(ncid, &other));
  SAY(nc_inq_grp_ncid(ncid, "none", &other));
  SAY(nc_inq_typeids(ncid, &count, NULL));
  SAY(nc_inq_type(ncid, NC_DOUBLE, name, &size));
  fprintf(say_log, "%s %zu\n", name, size);
  SAY(nc_inq_type(ncid, 99, name, &size));
  SAY(nc_inq_typeid(ncid, "short", &type));
  SAY(nc_inq_compound(ncid, 99, name, &size, &size));
  SAY(nc_inq_user_type(ncid, 99, name, &size, &type, &size, &count));
  SAY(nc_inq_dimid(ncid, "lat", &other));
  SAY(nc_inq_dimid(ncid, "latt", &other));
  SAY(nc_inq_varid(ncid, "temp", &other));
  SAY(nc_inq_varid(ncid, "tempp", &other));
}

int main(int argc, char** argv) {
  say_start(argc, argv);
  for (int i = 0; i < 2; ++i) {
    char path[64];
    int ncid = -9, id = -9;
    snprintf(path, sizeof path, "definitions%d.nc", i);
    SAY(nc_create_par(path, modes[i] | NC_CLOBBER, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
    define(ncid);
    describe(ncid, 1);
    store(ncid, 1);
    inquire(ncid);
    groups_and_types(ncid);
    SAY(nc_def_var_fill(ncid, 2, 0, NULL)); /* nothing is written: what is in the file would be undefined */
    SAY(nc_redef(ncid));
    SAY(nc_enddef(ncid));
    SAY(nc_enddef(ncid));
    inquire(ncid);
    SAY(nc_def_var_deflate(ncid, 2, 1, 1, 2));
    SAY(nc_def_dim(ncid, "late", 3, &id));
    SAY(nc_redef(ncid));
    SAY(nc_rename_dim(ncid, 1, "y"));
    SAY(nc_rename_dim(ncid, 1, "lon"));
    SAY(nc_rename_var(ncid, 2, "land"));
    SAY(nc_def_dim(ncid, "later", 3, &id));
    SAY(nc_def_var(ncid, "more", NC_SHORT, 1, &id, &id));
    SAY(nc_put_att_text(ncid, id, "units", 1, "1"));
    SAY(nc_sync(ncid));
    SAY(nc_enddef(ncid));
    SAY(nc_put_att_text(ncid, NC_GLOBAL, "title", 3, "end"));
    inquire(ncid);
    SAY(nc_close(ncid));
    SAY(nc_close(ncid));
    SAY(nc_enddef(ncid));
  }
  int ncid = -9;
  SAY(nc_create_par("definitions0.nc", NC_NETCDF4 | NC_NOCLOBBER, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  SAY(nc_create_par("no/such/folder.nc", NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  SAY(nc_open_par("no_such_file.nc", NC_WRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  SAY(nc_create_par("both.nc", NC_NETCDF4 | NC_64BIT_DATA, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  SAY(nc_create_par("aborted.nc", NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  nc_abort(ncid); /* several ranks of netCDF remove one file, and are not all told the same */
  return say_end();
}
