/* SPDX-License-Identifier: BSD-3-Clause
 * What is defined is what inquiry gives, before and after; put and get of whole variables, values, boxes,
 * strides and records; properties of netCDF-4; names that change; fill values. */
#include "check.h"

static void inquiry(int ncid, const format* f, const int* dimids, const int* v) {
  int ndims = 0;
  int nvars = 0;
  int natts = 0;
  int unlimited = -2;
  char name[PIO_MAX_NAME + 1];
  OK(PIOc_inq(ncid, &ndims, &nvars, &natts, &unlimited));
  CHECK(ndims == 3 && nvars == 3 && natts == 2 && unlimited == dimids[0]);
  OK(PIOc_inq_ndims(ncid, &ndims));
  OK(PIOc_inq_nvars(ncid, &nvars));
  OK(PIOc_inq_natts(ncid, &natts));
  OK(PIOc_inq_unlimdim(ncid, &unlimited));
  CHECK(ndims == 3 && nvars == 3 && natts == 2 && unlimited == dimids[0]);
  int count = 0;
  int ids[8];
  OK(PIOc_inq_unlimdims(ncid, &count, ids));
  CHECK(count == 1 && ids[0] == dimids[0]);
  int number = 0;
  OK(PIOc_inq_format(ncid, &number));
  CHECK(number == f->number);
  PIO_Offset size = 0;
  OK(PIOc_inq_type(ncid, PIO_DOUBLE, name, &size));
  CHECK(strcmp(name, "double") == 0 && size == 8);
  GIVES(PIO_EBADTYPE, PIOc_inq_type(ncid, 40, name, &size));

  PIO_Offset length = -1;
  int id = -1;
  OK(PIOc_inq_dim(ncid, dimids[1], name, &length));
  CHECK(strcmp(name, "y") == 0 && length == 4);
  OK(PIOc_inq_dimname(ncid, dimids[2], name));
  OK(PIOc_inq_dimlen(ncid, dimids[2], &length));
  OK(PIOc_inq_dimid(ncid, "x", &id));
  CHECK(strcmp(name, "x") == 0 && length == 6 && id == dimids[2]);

  nc_type type = 0;
  OK(PIOc_inq_varid(ncid, "series", &id));
  CHECK(id == v[1]);
  OK(PIOc_inq_var(ncid, v[1], name, &type, &ndims, ids, &natts));
  CHECK(strcmp(name, "series") == 0 && type == PIO_DOUBLE && ndims == 3 && natts == 2);
  CHECK(ids[0] == dimids[0] && ids[1] == dimids[1] && ids[2] == dimids[2]);
  OK(PIOc_inq_varname(ncid, v[0], name));
  OK(PIOc_inq_vartype(ncid, v[0], &type));
  OK(PIOc_inq_varndims(ncid, v[0], &ndims));
  OK(PIOc_inq_vardimid(ncid, v[0], ids));
  OK(PIOc_inq_varnatts(ncid, v[0], &natts));
  CHECK(strcmp(name, "grid") == 0 && type == PIO_INT && ndims == 2 && ids[0] == dimids[1] && natts == 0);

  OK(PIOc_inq_att(ncid, v[1], "units", &type, &length));
  CHECK(type == PIO_CHAR && length == 3);
  OK(PIOc_inq_attname(ncid, v[1], 1, name));
  OK(PIOc_inq_attid(ncid, v[1], "range", &id));
  OK(PIOc_inq_atttype(ncid, v[1], "range", &type));
  OK(PIOc_inq_attlen(ncid, v[1], "range", &length));
  CHECK(strcmp(name, "range") == 0 && id == 1 && type == PIO_FLOAT && length == 2);
  double range[2] = {0};
  float as_is[2] = {0};
  OK(PIOc_get_att_double(ncid, v[1], "range", range));
  OK(PIOc_get_att(ncid, v[1], "range", as_is));
  CHECK(range[0] == -1.5 && range[1] == 2.5 && as_is[1] == 2.5f);
  GIVES(PIO_ENOTATT, PIOc_inq_attname(ncid, v[1], 9, name));
}

static void one_file(int iosys, const format* f) {
  in_case = f->name;
  char path[64];
  snprintf(path, sizeof path, "contents_%s.nc", f->name);
  int ncid = -1;
  int dimids[3];
  int v[3];
  const float range[2] = {-1.5f, 2.5f};
  OK(create(iosys, f, path, &ncid));
  OK(PIOc_def_dim(ncid, "time", PIO_UNLIMITED, &dimids[0]));
  OK(PIOc_def_dim(ncid, "y", 4, &dimids[1]));
  OK(PIOc_def_dim(ncid, "x", 6, &dimids[2]));
  OK(PIOc_def_var(ncid, "grid", PIO_INT, 2, &dimids[1], &v[0]));
  OK(PIOc_def_var(ncid, "series", PIO_DOUBLE, 3, dimids, &v[1]));
  OK(PIOc_def_var(ncid, "time", PIO_DOUBLE, 1, dimids, &v[2]));
  OK(PIOc_put_att_text(ncid, PIO_GLOBAL, "title", 5, "whole"));
  OK(PIOc_put_att_int(ncid, PIO_GLOBAL, "number", PIO_INT, 1, &dimids[1]));
  OK(PIOc_put_att_text(ncid, v[1], "units", 3, "m/s"));
  OK(PIOc_put_att_float(ncid, v[1], "range", PIO_FLOAT, 2, range));
  inquiry(ncid, f, dimids, v);
  OK(PIOc_enddef(ncid));
  inquiry(ncid, f, dimids, v);

  /* Whole, boxes, strides, values; other ranks' values are not looked at. */
  int grid[24];
  for (int i = 0; i < 24; ++i)
    grid[i] = my_rank == 0 ? i : -7;
  OK(PIOc_put_var_int(ncid, v[0], grid));
  const PIO_Offset start[3] = {0, 1, 1};
  const PIO_Offset count[3] = {1, 2, 3};
  const PIO_Offset stride[3] = {1, 2, 2};
  const long long box[6] = {100, 101, 102, 103, 104, 105};
  OK(PIOc_put_vara_longlong(ncid, v[0], start + 1, count + 1, box));
  const short spread[6] = {200, 201, 202, 203, 204, 205};
  const PIO_Offset corner[2] = {1, 0};
  OK(PIOc_put_vars_short(ncid, v[0], corner, count + 1, stride + 1, spread)); /* rows 1, 3; columns 0, 2, 4 */
  const PIO_Offset at[2] = {0, 5};
  const float one = 55;
  OK(PIOc_put_var1_float(ncid, v[0], at, &one));
  int expected[24];
  for (int i = 0; i < 24; ++i)
    expected[i] = i;
  for (int i = 0; i < 6; ++i)
    expected[(1 + i / 3) * 6 + 1 + i % 3] = 100 + i;
  for (int i = 0; i < 6; ++i)
    expected[(1 + 2 * (i / 3)) * 6 + 2 * (i % 3)] = 200 + i;
  expected[5] = 55;
  int found[24];
  OK(PIOc_get_var_int(ncid, v[0], found));
  CHECK(memcmp(found, expected, sizeof found) == 0);
  OK(PIOc_get_vars_int(ncid, v[0], corner, count + 1, stride + 1, found));
  for (int i = 0; i < 6; ++i)
    CHECK(found[i] == 200 + i);
  long long far = 0;
  OK(PIOc_get_var1_longlong(ncid, v[0], at, &far));
  CHECK(far == 55);
  const PIO_Offset imap[2] = {3, 1};
  OK(PIOc_get_varm_int(ncid, v[0], corner, count + 1, stride + 1, imap, found));
  CHECK(found[0] == 200 && found[5] == 205);
  const PIO_Offset turned[2] = {1, 2};
  GIVES(PIO_EINVAL, PIOc_get_varm_int(ncid, v[0], corner, count + 1, stride + 1, turned, found));
  const PIO_Offset none[2] = {0, 3};
  OK(PIOc_get_vara_int(ncid, v[0], corner, none, found)); /* nothing */
  OK(PIOc_put_vars_short(ncid, v[0], corner, none, stride + 1, spread));
  OK(PIOc_put_vars_short(ncid, v[0], corner, none, stride + 1, NULL));
  OK(PIOc_get_var_int(ncid, v[0], found));
  CHECK(memcmp(found, expected, sizeof found) == 0);

  /* Records: several at once, every second one, one value, the whole. */
  double series[4 * 24];
  for (int i = 0; i < 96; ++i)
    series[i] = 0.5 * i;
  const PIO_Offset begin[3] = {0, 0, 0};
  const PIO_Offset four[3] = {4, 4, 6};
  OK(PIOc_put_vara_double(ncid, v[1], begin, four, series));
  const double times[2] = {10, 12};
  const PIO_Offset first[1] = {0};
  const PIO_Offset two[1] = {2};
  OK(PIOc_put_vars_double(ncid, v[2], first, two, two, times)); /* records 0 and 2 */
  const PIO_Offset record[1] = {1};
  const double time = 11;
  OK(PIOc_put_var1_double(ncid, v[2], record, &time));
  double read[96];
  OK(PIOc_put_vars_double(ncid, v[1], begin, (const PIO_Offset[]){1, 0, 3}, (const PIO_Offset[]){1, 1, 2},
                          times)); /* nothing */
  OK(PIOc_get_var_double(ncid, v[1], read));
  CHECK(memcmp(read, series, sizeof read) == 0);
  const PIO_Offset second[3] = {1, 2, 3};
  const PIO_Offset some[3] = {2, 2, 2};
  const PIO_Offset steps[3] = {2, 1, 2};
  OK(PIOc_get_vars_double(ncid, v[1], second, some, steps, read)); /* records 1, 3; rows 2, 3; columns 3, 5 */
  for (int i = 0; i < 8; ++i)
    CHECK(read[i] == series[24 * (1 + 2 * (i / 4)) + 6 * (2 + i / 2 % 2) + 3 + 2 * (i % 2)]);
  PIO_Offset length = 0;
  OK(PIOc_inq_dimlen(ncid, dimids[0], &length));
  CHECK(length == 4);
  OK(PIOc_get_vara_double(ncid, v[2], first, (const PIO_Offset[]){3}, read));
  CHECK(read[0] == 10 && read[1] == 11 && read[2] == 12);
  OK(PIOc_closefile(ncid));

  OK(reopen(iosys, f, path, PIO_WRITE, &ncid));
  inquiry(ncid, f, dimids, v);
  OK(PIOc_get_var_int(ncid, v[0], found));
  CHECK(memcmp(found, expected, sizeof found) == 0);
  OK(PIOc_get_var_double(ncid, v[1], read));
  CHECK(memcmp(read, series, sizeof read) == 0);

  /* Names that change, attributes that go or are copied. */
  OK(PIOc_redef(ncid));
  OK(PIOc_rename_var(ncid, v[0], "a_much_longer_name_for_the_grid"));
  OK(PIOc_rename_dim(ncid, dimids[2], "longitude"));
  OK(PIOc_rename_att(ncid, v[1], "units", "unit_of_series"));
  OK(PIOc_del_att(ncid, PIO_GLOBAL, "number"));
  OK(PIOc_copy_att(ncid, v[1], "range", ncid, v[2]));
  GIVES(PIO_ENAMEINUSE, PIOc_rename_var(ncid, v[0], "series"));
  OK(PIOc_enddef(ncid));
  OK(PIOc_closefile(ncid));
  OK(reopen(iosys, f, path, PIO_NOWRITE, &ncid));
  int id = -1;
  OK(PIOc_inq_varid(ncid, "a_much_longer_name_for_the_grid", &id));
  OK(PIOc_get_var_int(ncid, id, found));
  CHECK(memcmp(found, expected, sizeof found) == 0);
  OK(PIOc_inq_dimid(ncid, "longitude", &id));
  CHECK(id == dimids[2]);
  OK(PIOc_inq_attlen(ncid, v[1], "unit_of_series", &length));
  OK(PIOc_inq_attlen(ncid, v[2], "range", &length));
  CHECK(length == 2);
  GIVES(PIO_ENOTATT, PIOc_inq_attlen(ncid, PIO_GLOBAL, "number", &length));
  OK(PIOc_closefile(ncid));
}

/* SCORPIO's: sections with a type of MPI, the iosystem of a file, versions. */
static void of_scorpio(int iosys, const format* f) {
  in_case = f->name;
  int ncid = -1;
  int dimids[2];
  int varid = -1;
  OK(create(iosys, f, "contents_scorpio.nc", &ncid));
  OK(PIOc_def_dim(ncid, "y", 2, &dimids[0]));
  OK(PIOc_def_dim(ncid, "x", 3, &dimids[1]));
  OK(PIOc_def_var(ncid, "v", PIO_SHORT, 2, dimids, &varid));
  OK(PIOc_enddef(ncid));
  const PIO_Offset start[2] = {0, 0};
  const PIO_Offset count[2] = {2, 3};
  const double values[6] = {1, 2, 3, 4, 5, 6};
  short found[6] = {0};
  long long wide[6] = {0};
  OK(PIOc_put_varm(ncid, varid, start, count, NULL, NULL, values, 6, MPI_DOUBLE));
  OK(PIOc_get_varm(ncid, varid, start, count, NULL, NULL, found, 12, MPI_BYTE));
  OK(PIOc_get_varm(ncid, varid, start, count, NULL, NULL, wide, 6, MPI_LONG_LONG));
  for (int i = 0; i < 6; ++i)
    CHECK(found[i] == i + 1 && wide[i] == i + 1);
  memset(found, 0, sizeof found);
  OK(PIOc_get_varm(ncid, varid, start, count, NULL, NULL, found, 0, MPI_DATATYPE_NULL));
  CHECK(found[0] == 1 && found[5] == 6);
  GIVES(PIO_EINVAL, PIOc_get_varm(ncid, varid, start, count, NULL, NULL, found, 11, MPI_BYTE));
  GIVES(PIO_EINVAL, PIOc_get_varm(ncid, varid, start, count, NULL, NULL, found, 6, MPI_2INT));
  GIVES(PIO_ENOTVAR, PIOc_get_varm(ncid, 77, start, count, NULL, NULL, found, 6, MPI_SHORT));
  CHECK(PIOc_get_iosystem(ncid) == iosys && PIOc_get_iosystem(-5) == -1);
  char hash[16] = "";
  OK(PIOc_get_version_hash(hash, sizeof hash));
  CHECK(strncmp(hash, "shoal-", 6) == 0 && strlen(hash) < sizeof hash);
  OK(PIOc_closefile(ncid));
}

static void fill_values(int iosys, const format* f) {
  in_case = f->name;
  int ncid = -1;
  int dimid = -1;
  int v[6];
  int mode = -1;
  const float own = -9.f;
  const float usual = PIO_FILL_FLOAT;
  OK(create(iosys, f, "contents_fill.nc", &ncid));
  OK(PIOc_def_dim(ncid, "x", 5, &dimid));
  OK(PIOc_def_var(ncid, "nothing", PIO_FLOAT, 1, &dimid, &v[0]));
  OK(PIOc_def_var(ncid, "own", PIO_FLOAT, 1, &dimid, &v[1]));
  OK(PIOc_def_var(ncid, "usual", PIO_INT, 1, &dimid, &v[2]));
  OK(PIOc_def_var(ncid, "off", PIO_INT, 1, &dimid, &v[3]));
  OK(PIOc_def_var_fill(ncid, v[1], 0, &own));
  OK(PIOc_def_var_fill(ncid, v[2], 0, NULL));
  OK(PIOc_def_var_fill(ncid, v[3], 1, NULL));
  int no_fill = -1;
  float value = 0;
  int number = 0;
  OK(PIOc_inq_var_fill(ncid, v[1], &no_fill, &value));
  CHECK(no_fill == 0 && value == own);
  OK(PIOc_inq_var_fill(ncid, v[2], &no_fill, &number));
  CHECK(no_fill == 0 && number == PIO_FILL_INT);
  OK(PIOc_inq_var_fill(ncid, v[3], &no_fill, NULL));
  CHECK(no_fill == 1);
  OK(PIOc_set_fill(ncid, PIO_FILL, &mode));
  CHECK(mode == PIO_NOFILL);
  GIVES(PIO_EINVAL, PIOc_set_fill(ncid, 5, NULL));
  OK(PIOc_def_var(ncid, "never", PIO_SHORT, 1, &dimid, &v[4])); /* and never written */
  OK(PIOc_put_att_float(ncid, v[0], "_FillValue", PIO_FLOAT, 1, &usual));
  OK(PIOc_enddef(ncid));
  OK(PIOc_set_fill(ncid, PIO_NOFILL, &mode));
  CHECK(mode == PIO_FILL);
  GIVES(is_classic(f) ? PIO_ENOTINDEFINE : PIO_ELATEDEF, PIOc_def_var_fill(ncid, v[1], 1, NULL));
  /* Two of the cells; the others are filled, whatever the mode is. */
  const int n = 5;
  const PIO_Offset map[2] = {2, 4};
  const float floats[2] = {20, 40};
  const int ints[2] = {20, 40};
  int real = -1;
  int whole = -1;
  const int length = my_rank == 0 ? 2 : 0;
  OK(PIOc_InitDecomp(iosys, PIO_FLOAT, 1, &n, length, map, &real, NULL, NULL, NULL));
  OK(PIOc_InitDecomp(iosys, PIO_INT, 1, &n, length, map, &whole, NULL, NULL, NULL));
  for (int again = 0; again < 2; ++again) {
    OK(PIOc_write_darray(ncid, v[0], real, length, floats, NULL));
    OK(PIOc_write_darray(ncid, v[1], real, length, floats, NULL));
    OK(PIOc_write_darray(ncid, v[2], whole, length, ints, NULL));
    OK(PIOc_write_darray(ncid, v[3], whole, length, ints, NULL));
    OK(PIOc_sync(ncid));
  }
  float found[5];
  int numbers[5];
  OK(PIOc_get_var_float(ncid, v[0], found));
  CHECK(found[0] == PIO_FILL_FLOAT && found[1] == 20 && found[2] == PIO_FILL_FLOAT && found[3] == 40);
  OK(PIOc_get_var_float(ncid, v[1], found));
  CHECK(found[0] == own && found[1] == 20 && found[2] == own && found[3] == 40 && found[4] == own);
  OK(PIOc_get_var_int(ncid, v[2], numbers));
  CHECK(numbers[0] == PIO_FILL_INT && numbers[1] == 20 && numbers[4] == PIO_FILL_INT);
  OK(PIOc_get_var_int(ncid, v[3], numbers));
  CHECK(numbers[1] == 20 && numbers[3] == 40);
  OK(PIOc_get_var_int(ncid, v[4], numbers));
  for (int i = 0; i < 5; ++i)
    CHECK(numbers[i] == PIO_FILL_SHORT);
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, real));
  OK(PIOc_freedecomp(iosys, whole));
}

static void properties(int iosys) {
  const format* f = &k_formats[3];
  in_case = "properties";
  int ncid = -1;
  int dimids[2];
  int v[5];
  OK(create(iosys, f, "contents_properties.nc", &ncid));
  OK(PIOc_def_dim(ncid, "time", PIO_UNLIMITED, &dimids[0]));
  OK(PIOc_def_dim(ncid, "x", 100, &dimids[1]));
  OK(PIOc_def_var(ncid, "deflated", PIO_FLOAT, 2, dimids, &v[0]));
  OK(PIOc_def_var(ncid, "rounded", PIO_FLOAT, 2, dimids, &v[1]));
  OK(PIOc_def_var(ncid, "plain", PIO_FLOAT, 1, &dimids[1], &v[2]));
  OK(PIOc_def_var(ncid, "chained", PIO_FLOAT, 1, &dimids[1], &v[3]));
  const PIO_Offset chunks[2] = {2, 50};
  OK(PIOc_def_var_chunking(ncid, v[0], PIO_CHUNKED, chunks));
  OK(PIOc_def_var_deflate(ncid, v[0], 1, 1, 4));
  OK(PIOc_def_var_quantize(ncid, v[1], PIO_QUANTIZE_GRANULARBR, 3));
  GIVES(PIO_ESTORAGE, PIOc_def_var_chunking(ncid, v[0], PIO_CONTIGUOUS, NULL));
  OK(PIOc_def_var_endian(ncid, v[2], PIO_ENDIAN_LITTLE));
  GIVES(PIO_ENOTBUILT, PIOc_def_var_endian(ncid, v[2], PIO_ENDIAN_BIG));
  OK(PIOc_def_var_filter(ncid, v[3], 2, 0, NULL));
  unsigned level = 2;
  OK(PIOc_def_var_filter(ncid, v[3], 1, 1, &level));
  GIVES(PIO_EFILTER, PIOc_def_var_filter(ncid, v[3], 307, 1, &level));
  OK(PIOc_def_var(ncid, "after", PIO_FLOAT, 1, &dimids[1], &v[4]));
  CHECK(v[4] == 4); /* what Shoal adds for "rounded" has no id */
  OK(PIOc_set_var_chunk_cache(ncid, v[0], 1000, 10, 0.5f));
  OK(PIOc_set_chunk_cache(iosys, PIO_IOTYPE_NETCDF4P, 2000, 20, 0.25f));
  GIVES(PIO_EINVAL, PIOc_set_chunk_cache(iosys, PIO_IOTYPE_NETCDF4P, 2000, 20, 2.f));
  GIVES(PIO_ENOTNC4, PIOc_set_chunk_cache(iosys, PIO_IOTYPE_PNETCDF, 2000, 20, 0.25f));
  OK(PIOc_enddef(ncid));
  int nvars = 0;
  OK(PIOc_inq_nvars(ncid, &nvars));
  CHECK(nvars == 5);
  float values[100];
  for (int i = 0; i < 100; ++i)
    values[i] = 1.f + (float)i / 7;
  const PIO_Offset start[2] = {0, 0};
  const PIO_Offset count[2] = {1, 100};
  OK(PIOc_put_vara_float(ncid, v[0], start, count, values));
  OK(PIOc_put_var_float(ncid, v[3], values));
  OK(PIOc_put_var_float(ncid, v[4], values));
  OK(PIOc_closefile(ncid));
  OK(reopen(iosys, f, "contents_properties.nc", PIO_NOWRITE, &ncid));
  OK(PIOc_inq_nvars(ncid, &nvars));
  CHECK(nvars == 5);
  OK(PIOc_inq_varid(ncid, "after", &v[4]));
  CHECK(v[4] == 4);
  int shuffle = -1;
  int deflate = -1;
  int found_level = -1;
  OK(PIOc_inq_var_deflate(ncid, v[0], &shuffle, &deflate, &found_level));
  CHECK(shuffle == 1 && deflate == 1 && found_level == 4);
  OK(PIOc_inq_var_deflate(ncid, v[2], &shuffle, &deflate, &found_level));
  CHECK(shuffle == 0 && deflate == 0);
  int storage = -1;
  PIO_Offset found_chunks[2] = {0, 0};
  OK(PIOc_inq_var_chunking(ncid, v[0], &storage, found_chunks));
  CHECK(storage == PIO_CHUNKED && found_chunks[0] == 2 && found_chunks[1] == 50);
  size_t filters = 9;
  unsigned ids[8] = {0};
  OK(PIOc_inq_var_filter_ids(ncid, v[3], &filters, ids));
  CHECK(filters == 2 && ids[0] == 2 && ids[1] == 1);
  size_t params = 9;
  unsigned numbers[8] = {0};
  OK(PIOc_inq_var_filter_info(ncid, v[3], 1, &params, numbers));
  CHECK(params == 1 && numbers[0] == 2);
  GIVES(PIO_ENOFILTER, PIOc_inq_var_filter_info(ncid, v[3], 307, &params, numbers));
  GIVES(PIO_ENOFILTER, PIOc_inq_filter_avail(ncid, 307));
  OK(PIOc_inq_filter_avail(ncid, 1));
  int has = -1;
  OK(PIOc_inq_var_zstandard(ncid, v[3], &has, &found_level));
  CHECK(has == 0);
  OK(PIOc_inq_var_bzip2(ncid, v[3], &has, &found_level));
  CHECK(has == 0);
  int mask = -1;
  OK(PIOc_inq_var_szip(ncid, v[3], &mask, NULL));
  CHECK(mask == 0);
  int quantized = -1;
  int digits = -1;
  OK(PIOc_inq_var_quantize(ncid, v[1], &quantized, &digits));
  CHECK(quantized == PIO_QUANTIZE_GRANULARBR && digits == 3);
  OK(PIOc_inq_var_quantize(ncid, v[0], &quantized, &digits));
  CHECK(quantized == PIO_NOQUANTIZE);
  int endian = -1;
  OK(PIOc_inq_var_endian(ncid, v[0], &endian));
  CHECK(endian == PIO_ENDIAN_NATIVE);
  PIO_Offset size = 0;
  PIO_Offset elements = 0;
  float preemption = 0;
  OK(PIOc_get_chunk_cache(iosys, PIO_IOTYPE_NETCDF4P, &size, &elements, &preemption));
  CHECK(size == 2000 && elements == 20 && preemption == 0.25f);
  float found[100];
  OK(PIOc_get_var_float(ncid, v[4], found));
  CHECK(memcmp(found, values, sizeof found) == 0);
  OK(PIOc_closefile(ncid));
}

static void hints_and_versions(int iosys) {
  in_case = "hints";
  OK(PIOc_set_hint(iosys, "nc_header_align_size", "8192"));
  OK(PIOc_set_hint(iosys, "nc_var_align_size", "1024"));
  OK(PIOc_set_hint(iosys, "nc_var_align_size", "2048"));
  OK(PIOc_set_hint(iosys, "romio_cb_write", "enable"));
  GIVES(PIO_EINVAL, PIOc_set_hint(iosys, "a=b", "1"));
  for (int f = 0; f < k_format_count; ++f) {
    int ncid = -1;
    OK(create(iosys, &k_formats[f], "contents_hints.nc", &ncid));
    OK(PIOc_closefile(ncid));
  }
  OK(PIOc_set_blocksize(4096));
  GIVES(PIO_EINVAL, PIOc_set_blocksize(0));
  const PIO_Offset before = PIOc_set_buffer_size_limit(123456);
  CHECK(before > 0 && PIOc_set_buffer_size_limit(-1) == 123456);
  int major = 0;
  int minor = 0;
  int patch = -1;
  char text[16];
  OK(PIOc_get_version(&major, &minor, &patch, text, sizeof text));
  CHECK(major == 2 && minor == 7 && patch == 0 && strcmp(text, "2.7.0") == 0);
  CHECK(PIOc_get_version_major() == 2 && PIOc_get_version_minor() == 7 && PIOc_get_version_patch() == 0);
}

int main(int argc, char** argv) {
  const int iosys = start(&argc, &argv);
  for (int f = 0; f < k_format_count; ++f) {
    one_file(iosys, &k_formats[f]);
    fill_values(iosys, &k_formats[f]);
    of_scorpio(iosys, &k_formats[f]);
  }
  properties(iosys);
  hints_and_versions(iosys);
  OK(PIOc_finalize(iosys));
  return finish("contents");
}
