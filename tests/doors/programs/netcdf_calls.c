/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parallel netCDF-4's calls, family by family: all types and conversions, strides, memory maps, overlapping
 * halos, ranks with nothing, collective and independent access, storage of variables, what goes beyond the
 * classic model, and the codes of what is refused.
 *   netcdf_calls FOLDER
 */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

enum { k_rows = 6, k_columns = 24 };

/* Columns of this rank. */
static size_t first_column, own_columns;

static int create(const char* name, int mode) {
  int ncid;
  NEEDS(nc_create_par(in_folder(name), NC_NETCDF4 | NC_MPIIO | NC_CLOBBER | mode, MPI_COMM_WORLD,
                      MPI_INFO_NULL, &ncid));
  return ncid;
}

static int define_field(int ncid, const char* name, nc_type type, int rows, int columns) {
  int id;
  const int dims[] = {rows, columns};
  NEEDS(nc_def_var(ncid, name, type, 2, dims, &id));
  return id;
}

static void axes(int ncid, int* rows, int* columns) {
  NEEDS(nc_def_dim(ncid, "rows", k_rows, rows));
  NEEDS(nc_def_dim(ncid, "columns", k_columns, columns));
}

/* Data mode, with collective access to all variables that there are now. */
static void begin_data(int ncid) {
  int variables;
  NEEDS(nc_enddef(ncid));
  NEEDS(nc_inq_nvars(ncid, &variables));
  for (int id = 0; id < variables; ++id)
    NEEDS(nc_var_par_access(ncid, id, NC_COLLECTIVE));
}

/* All values of a field as numbers, by all ranks; their sum weighted by place, and some. */
static void say_values(int ncid, int id, const char* what) {
  double found[k_rows * k_columns], sum = 0;
  memset(found, 0, sizeof found);
  const int code = nc_get_var_double(ncid, id, found);
  for (int i = 0; i < k_rows * k_columns; ++i)
    sum += (i + 1) * found[i];
  say(what, "get %d, sum %.17g, %g %g %g %g", code, sum, found[0], found[1], found[k_columns],
      found[k_rows * k_columns - 1]);
}

/* What was written before is read by others from here on. */
static void settle(int ncid) {
  NEEDS(nc_sync(ncid));
  MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- types: NAME of the calls, type in memory, type in the file ---- */
#define FOR_TYPES(DO)                   \
  DO(schar, signed char, NC_BYTE)       \
  DO(uchar, unsigned char, NC_UBYTE)    \
  DO(short, short, NC_SHORT)            \
  DO(ushort, unsigned short, NC_USHORT) \
  DO(int, int, NC_INT)                  \
  DO(uint, unsigned, NC_UINT)           \
  DO(long, long, NC_INT)                \
  DO(float, float, NC_FLOAT)            \
  DO(double, double, NC_DOUBLE)         \
  DO(longlong, long long, NC_INT64)     \
  DO(ulonglong, unsigned long long, NC_UINT64)

#define DEFINE_TYPE(NAME, TYPE, NUMBER)                            \
  own[n] = define_field(ncid, "of_" #NAME, NUMBER, rows, columns); \
  wide[n++] = define_field(ncid, "double_" #NAME, NC_DOUBLE, rows, columns);

/* Columns of this rank in the type itself and as doubles, and back in the type. */
#define PUT_TYPE(NAME, TYPE, NUMBER)                                                                        \
  {                                                                                                         \
    TYPE values[k_rows * k_columns], again[k_rows * k_columns];                                             \
    memset(again, 0, sizeof again);                                                                         \
    for (size_t i = 0; i < k_rows * own_columns; ++i)                                                       \
      values[i] = (TYPE)(i / own_columns * k_columns + first_column + i % own_columns);                     \
    const int put = nc_put_vara_##NAME(ncid, own[n], start, count, values);                                 \
    const int put_wide = nc_put_vara_##NAME(ncid, wide[n], start, count, values);                           \
    const int get = nc_get_vara_##NAME(ncid, own[n], start, count, again);                                  \
    const int same = put != NC_NOERR || memcmp(values, again, sizeof(TYPE) * k_rows * own_columns) == 0;    \
    say("type " #NAME, "put %d %d, get %d, same %d, first %g", put, put_wide, get, same, (double)again[0]); \
    check(same, "values of type " #NAME);                                                                   \
    wide_ids[n] = wide[n];                                                                                  \
    ++n;                                                                                                    \
  }

static void types(void) {
  int rows, columns, n = 0, own[16], wide[16], wide_ids[16];
  const char* const words[] = {"one", "", "three words here"};
  const int ncid = create("types.nc", 0);
  axes(ncid, &rows, &columns);
  FOR_TYPES(DEFINE_TYPE)
  const int text = define_field(ncid, "text", NC_CHAR, rows, columns);
  NEEDS(nc_put_att_string(ncid, text, "words", 3, (const char**)words));
  NEEDS(nc_put_att_text(ncid, text, "long_name", 7, "letters"));
  const unsigned long long large = 18446744073709551615ULL;
  NEEDS(nc_put_att_ulonglong(ncid, NC_GLOBAL, "large", NC_UINT64, 1, &large));
  begin_data(ncid);
  const size_t start[] = {0, first_column}, count[] = {k_rows, own_columns};
  n = 0;
  FOR_TYPES(PUT_TYPE)
  settle(ncid);
  for (int i = 0; i < n; ++i)
    say_values(ncid, wide_ids[i], "as doubles");
  char letters[k_rows * k_columns + 1] = "";
  for (size_t i = 0; i < k_rows * own_columns; ++i)
    letters[i] = (char)('a' + (first_column + i % own_columns));
  say("text put", "%d", nc_put_vara_text(ncid, text, start, count, letters));
  settle(ncid);
  memset(letters, 0, sizeof letters);
  say("text get", "%d", nc_get_var_text(ncid, text, letters));
  say("text", "%s", letters);
  say("text from numbers", "%d", nc_put_var1_int(ncid, text, start, &n));
  char* strings[3] = {NULL};
  NEEDS(nc_get_att_string(ncid, text, "words", strings));
  say("words", "'%s' '%s' '%s'", strings[0], strings[1], strings[2]);
  NEEDS(nc_free_string(3, strings));
  NEEDS(nc_close(ncid));
}

/* ---- vars, varm, var1, var, halos, ranks with nothing ---- */
static void shapes(void) {
  int rows, columns;
  const int ncid = create("shapes.nc", 0);
  axes(ncid, &rows, &columns);
  const int strided = define_field(ncid, "strided", NC_INT, rows, columns);
  const int mapped = define_field(ncid, "mapped", NC_FLOAT, rows, columns);
  const int halos = define_field(ncid, "halos", NC_DOUBLE, rows, columns);
  const int few = define_field(ncid, "few", NC_SHORT, rows, columns);
  const int whole = define_field(ncid, "whole", NC_INT64, rows, columns);
  begin_data(ncid);

  /* Each rank has every all_ranks-th column, and every second row in each of two calls. */
  int numbers[k_rows * k_columns];
  const size_t columns_of = (size_t)(k_columns - my_rank + all_ranks - 1) / (size_t)all_ranks;
  for (size_t odd = 0; odd < 2; ++odd) {
    const size_t start[] = {odd, (size_t)my_rank}, count[] = {k_rows / 2, columns_of};
    const ptrdiff_t stride[] = {2, all_ranks};
    for (size_t i = 0; i < k_rows / 2 * columns_of; ++i)
      numbers[i] =
          (int)((2 * (i / columns_of) + odd) * 100 + start[1] + (size_t)all_ranks * (i % columns_of));
    say("put_vars", "%d", nc_put_vars_int(ncid, strided, start, count, stride, numbers));
  }
  /* Memory is (column, row). */
  const size_t start[] = {0, first_column}, count[] = {k_rows, own_columns};
  const ptrdiff_t map[] = {1, k_rows};
  float turned[k_columns][k_rows], back[k_rows][k_columns];
  for (size_t j = 0; j < own_columns; ++j)
    for (size_t i = 0; i < k_rows; ++i)
      turned[j][i] = (float)(i * 100 + first_column + j) / 4;
  say("put_varm", "%d", nc_put_varm_float(ncid, mapped, start, count, NULL, map, &turned[0][0]));
  settle(ncid);
  say_values(ncid, strided, "strided");
  const size_t corner[] = {1, 2}, some[] = {2, 3};
  const ptrdiff_t apart[] = {3, 7};
  int picked[6] = {0};
  say("get_vars", "%d", nc_get_vars_int(ncid, strided, corner, some, apart, picked));
  say("picked", "%d %d %d %d %d %d", picked[0], picked[1], picked[2], picked[3], picked[4], picked[5]);
  check(picked[0] == 102 && picked[5] == 416, "picked %d %d", picked[0], picked[5]);
  memset(turned, 0, sizeof turned);
  say("get_varm", "%d", nc_get_varm_float(ncid, mapped, start, count, NULL, map, &turned[0][0]));
  say("turned", "%g %g", turned[0][1], turned[0][k_rows - 1]);
  say("get_var", "%d", nc_get_var_float(ncid, mapped, &back[0][0]));
  check(back[2][k_columns - 1] == (200 + k_columns - 1) / 4.F, "mapped %g", back[2][k_columns - 1]);
  say_values(ncid, mapped, "mapped");

  /* Two columns more on each side, with the same values as the neighbour has. */
  double tile[k_rows * k_columns];
  const size_t from = first_column < 2 ? 0 : first_column - 2, to = first_column + own_columns + 2;
  const size_t halo_start[] = {0, from}, halo_count[] = {k_rows, (to > k_columns ? k_columns : to) - from};
  for (size_t i = 0; i < k_rows * halo_count[1]; ++i)
    tile[i] = (double)(i / halo_count[1] * 100 + from + i % halo_count[1]);
  say("put with halos", "%d", nc_put_vara_double(ncid, halos, halo_start, halo_count, tile));
  /* The first half of the ranks writes all rows, the others come with nothing. */
  const size_t writers = (size_t)(all_ranks + 1) / 2, writer = (size_t)my_rank;
  const size_t few_start[] = {writer < writers ? k_rows * writer / writers : 0, 0};
  const size_t few_count[] = {writer < writers ? k_rows * (writer + 1) / writers - few_start[0] : 0,
                              writer < writers ? k_columns : 0};
  short shorts[k_rows * k_columns];
  for (size_t i = 0; i < k_rows * k_columns; ++i)
    shorts[i] = (short)(few_start[0] * k_columns + i);
  say("put by some", "%d", nc_put_vara_short(ncid, few, few_start, few_count, shorts));
  long long all[k_rows * k_columns];
  for (int i = 0; i < k_rows * k_columns; ++i)
    all[i] = i * 10000000000LL;
  say("put_var", "%d", nc_put_var_longlong(ncid, whole, all));
  settle(ncid);
  const size_t cell[] = {3, 4 + (size_t)my_rank % 4};
  const long long value = 5 + my_rank % 4;
  say("put_var1", "%d", nc_put_var1_longlong(ncid, whole, cell, &value));
  settle(ncid);
  say_values(ncid, halos, "halos");
  say_values(ncid, few, "few");
  say_values(ncid, whole, "whole");
  memset(shorts, 0, sizeof shorts);
  say("get by some", "%d", nc_get_vara_short(ncid, few, few_start, few_count, shorts));
  NEEDS(nc_close(ncid));
}

/* ---- each rank for itself ---- */
static void independent(void) {
  int rows, columns, time, x, codes = 0, number = 0;
  const int ncid = create("independent.nc", 0);
  axes(ncid, &rows, &columns);
  NEEDS(nc_def_dim(ncid, "time", NC_UNLIMITED, &time));
  NEEDS(nc_def_dim(ncid, "x", 4, &x));
  const int field = define_field(ncid, "field", NC_INT, rows, columns);
  const int series = define_field(ncid, "series", NC_FLOAT, time, x);
  NEEDS(nc_enddef(ncid));
  /* Independent access is the default. Ranks call different numbers of times, and rank 0 once wrongly. */
  for (size_t i = 0; i < k_rows; ++i)
    for (size_t j = first_column; j < first_column + own_columns; ++j) {
      const size_t place[] = {i, j};
      number = (int)(i * 100 + j);
      codes += nc_put_var1_int(ncid, field, place, &number);
    }
  say("codes of puts", "%d", codes);
  const size_t mine[] = {k_rows - 1, first_column}, far[] = {k_rows, 0};
  codes = nc_get_var1_int(ncid, field, mine, &number);
  say("get of its own", "%d %d", codes, number);
  check(number == (int)((k_rows - 1) * 100 + first_column), "its own is %d", number);
  say("out of bounds, on rank 0 alone", "%d", my_rank == 0 ? nc_put_var1_int(ncid, field, far, &number) : 0);
  const size_t record[] = {0, 0}, one[] = {1, 4};
  const float values[] = {1, 2, 3, 4};
  say("a new record", "%d", nc_put_vara_float(ncid, series, record, one, values));
  /* Together it is made, then each rank fills its own. */
  NEEDS(nc_var_par_access(ncid, series, NC_COLLECTIVE));
  const size_t last[] = {(size_t)all_ranks - 1, 0};
  say("all records together", "%d", nc_put_vara_float(ncid, series, last, one, values));
  settle(ncid);
  NEEDS(nc_var_par_access(ncid, series, NC_INDEPENDENT));
  const float own[] = {(float)my_rank, (float)my_rank + .25F, (float)my_rank + .5F, (float)my_rank + .75F};
  const size_t own_record[] = {(size_t)my_rank, 0};
  say("its own record", "%d", nc_put_vara_float(ncid, series, own_record, one, own));
  settle(ncid);
  size_t records = 0;
  float found[4] = {0};
  NEEDS(nc_inq_dimlen(ncid, time, &records));
  say("get of the last record", "%d", nc_get_vara_float(ncid, series, last, one, found));
  say("records, values", "%zu: %g %g", records, found[0], found[3]);
  check(found[3] == (float)all_ranks - .25F, "the last record has %g", found[3]);
  say_values(ncid, field, "field");
  say("access that is none", "%d", nc_var_par_access(ncid, field, 9));
  NEEDS(nc_close(ncid));
}

/* ---- records that ranks begin together, several unlimited dimensions ---- */
static void records(void) {
  int time, member, x, id, several;
  const int ncid = create("records.nc", 0);
  NEEDS(nc_def_dim(ncid, "time", NC_UNLIMITED, &time));
  NEEDS(nc_def_dim(ncid, "member", NC_UNLIMITED, &member));
  NEEDS(nc_def_dim(ncid, "x", 8, &x));
  const int dims[] = {time, x}, both[] = {time, member, x};
  NEEDS(nc_def_var(ncid, "series", NC_DOUBLE, 2, dims, &id));
  NEEDS(nc_def_var(ncid, "members", NC_FLOAT, 3, both, &several));
  begin_data(ncid);
  /* Each rank begins with a record of its own, and all end with the same one. */
  double values[24];
  for (int i = 0; i < 24; ++i)
    values[i] = my_rank + i / 32.;
  const size_t own[] = {(size_t)my_rank, 0}, one[] = {1, 8}, next[] = {(size_t)all_ranks, 0},
               three[] = {3, 8};
  say("a record each", "%d", nc_put_vara_double(ncid, id, own, one, values));
  for (int i = 0; i < 24; ++i)
    values[i] = 100 + i;
  say("three records by all", "%d", nc_put_vara_double(ncid, id, next, three, values));
  const size_t part[] = {1, (size_t)my_rank, 0}, part_count[] = {1, 1, 8};
  say("a member each", "%d", nc_put_vara_double(ncid, several, part, part_count, values));
  settle(ncid);
  size_t lengths[2];
  int unlimited[2], number;
  NEEDS(nc_inq_dimlen(ncid, time, &lengths[0]));
  NEEDS(nc_inq_dimlen(ncid, member, &lengths[1]));
  NEEDS(nc_inq_unlimdims(ncid, &number, unlimited));
  say("lengths", "%zu %zu of %d unlimited", lengths[0], lengths[1], number);
  double found[8] = {0};
  const size_t last[] = {(size_t)all_ranks - 1, 0}, hole[] = {0, 0, 0};
  NEEDS(nc_get_vara_double(ncid, id, last, one, found));
  say("the last rank's record", "%g %g", found[0], found[7]);
  check(found[7] == all_ranks - 1 + 7 / 32., "the last rank's record has %g", found[7]);
  say("a member that nobody wrote", "%d", nc_get_vara_double(ncid, several, hole, part_count, found));
  say("its fill value", "%g", found[0]);
  say("beyond the last record", "%d", nc_get_vara_double(ncid, id, (size_t[]){lengths[0], 0}, one, found));
  NEEDS(nc_close(ncid));
}

/* ---- storage: chunks, filters, fill, endianness ---- */
static void storage(void) {
  int rows, columns, number, shuffle, deflate, level, checksum, endian, no_fill, kind;
  const int ncid = create("storage.nc", 0);
  axes(ncid, &rows, &columns);
  const int packed = define_field(ncid, "packed", NC_FLOAT, rows, columns);
  const int summed = define_field(ncid, "summed", NC_INT, rows, columns);
  const int big = define_field(ncid, "big", NC_SHORT, rows, columns);
  const int filled = define_field(ncid, "filled", NC_INT, rows, columns);
  const int plain = define_field(ncid, "plain", NC_DOUBLE, rows, columns);
  const size_t chunks[] = {3, 8}, bad_chunks[] = {3, 100};
  size_t sizes[2];
  const int fill = -5;
  say("def_var_chunking", "%d", nc_def_var_chunking(ncid, packed, NC_CHUNKED, chunks));
  say("chunks that are too large", "%d", nc_def_var_chunking(ncid, summed, NC_CHUNKED, bad_chunks));
  say("def_var_deflate", "%d", nc_def_var_deflate(ncid, packed, 1, 1, 4));
  say("def_var_fletcher32", "%d", nc_def_var_fletcher32(ncid, summed, NC_FLETCHER32));
  say("def_var_endian", "%d", nc_def_var_endian(ncid, big, NC_ENDIAN_BIG));
  say("def_var_fill", "%d", nc_def_var_fill(ncid, filled, 0, &fill));
  say("contiguous", "%d", nc_def_var_chunking(ncid, plain, NC_CONTIGUOUS, NULL));
  begin_data(ncid);
  float values[k_rows * k_columns];
  for (size_t i = 0; i < k_rows * own_columns; ++i)
    values[i] = (float)(i / own_columns * 100 + first_column + i % own_columns);
  const size_t start[] = {0, first_column}, count[] = {k_rows, own_columns}, row[] = {1, own_columns};
  say("put", "%d", nc_put_vara_float(ncid, packed, start, count, values));
  say("put", "%d", nc_put_vara_float(ncid, summed, start, count, values));
  say("put", "%d", nc_put_vara_float(ncid, big, start, count, values));
  say("put of a row", "%d", nc_put_vara_float(ncid, filled, start, row, values));
  say("put", "%d", nc_put_vara_float(ncid, plain, start, count, values));
  say("chunks after data", "%d", nc_def_var_chunking(ncid, plain, NC_CHUNKED, chunks));
  settle(ncid);
  say_values(ncid, packed, "packed");
  say_values(ncid, summed, "summed");
  say_values(ncid, big, "big");
  say_values(ncid, filled, "filled");
  say_values(ncid, plain, "plain");
  NEEDS(nc_inq_var_chunking(ncid, packed, &kind, sizes));
  say("chunks of packed", "%d, %zu %zu", kind, sizes[0], sizes[1]);
  NEEDS(nc_inq_var_deflate(ncid, packed, &shuffle, &deflate, &level));
  say("filters of packed", "%d %d %d", shuffle, deflate, level);
  NEEDS(nc_inq_var_fletcher32(ncid, summed, &checksum));
  NEEDS(nc_inq_var_endian(ncid, big, &endian));
  NEEDS(nc_inq_var_fill(ncid, filled, &no_fill, &number));
  say("checksum, endianness, fill", "%d %d %d %d", checksum, endian, no_fill, number);
  NEEDS(nc_inq_var_chunking(ncid, plain, &kind, NULL));
  say("storage of plain", "%d", kind);
  NEEDS(nc_close(ncid));
}

/* ---- the classic model in netCDF-4's format ---- */
static void classic_model(void) {
  int rows, columns, id, old;
  const int ncid = create("classic_model.nc", NC_CLASSIC_MODEL);
  axes(ncid, &rows, &columns);
  const int field = define_field(ncid, "field", NC_FLOAT, rows, columns);
  say("set_fill", "%d", nc_set_fill(ncid, NC_NOFILL, &old));
  say("before", "%d", old);
  say("a type that the model lacks", "%d", nc_def_var(ncid, "u", NC_UINT, 1, &rows, &id));
  int values[k_rows * k_columns] = {0};
  for (int i = 0; i < k_rows * k_columns; ++i)
    values[i] = 2 * i;
  say("put in define mode", "%d", nc_put_var_int(ncid, field, values));
  begin_data(ncid);
  NEEDS(nc_put_var_int(ncid, field, values));
  say("def_dim in data mode", "%d", nc_def_dim(ncid, "later", 3, &id));
  say("enddef once more", "%d", nc_enddef(ncid));
  NEEDS(nc_redef(ncid));
  say("redef once more", "%d", nc_redef(ncid));
  const int late = define_field(ncid, "late", NC_DOUBLE, rows, columns);
  NEEDS(nc_put_att_text(ncid, late, "units", 1, "m"));
  NEEDS(nc_rename_var(ncid, late, "later"));
  NEEDS(nc_rename_att(ncid, late, "units", "unit"));
  begin_data(ncid);
  NEEDS(nc_put_var_int(ncid, late, values));
  settle(ncid);
  say_values(ncid, field, "field");
  say_values(ncid, late, "later");
  NEEDS(nc_close(ncid));
}

/* ---- beyond the classic model: groups, types of the user; and a group that comes when data are there ----
 * */
typedef struct sounding {
  int level;
  double temperature;
} sounding;

static void groups(void) {
  int rows, columns, group, type, compound, late;
  int ncid = create("groups.nc", 0);
  axes(ncid, &rows, &columns);
  const int field = define_field(ncid, "field", NC_INT, rows, columns);
  NEEDS(nc_put_att_text(ncid, field, "units", 1, "m"));
  NEEDS(nc_def_grp(ncid, "members", &group));
  const int inside = define_field(group, "inside", NC_FLOAT, rows, columns);
  NEEDS(nc_def_compound(ncid, sizeof(sounding), "sounding", &type));
  NEEDS(nc_insert_compound(ncid, type, "level", NC_COMPOUND_OFFSET(sounding, level), NC_INT));
  NEEDS(nc_insert_compound(ncid, type, "temperature", NC_COMPOUND_OFFSET(sounding, temperature), NC_DOUBLE));
  NEEDS(nc_def_var(ncid, "soundings", type, 1, &rows, &compound));
  begin_data(ncid);
  NEEDS(nc_var_par_access(group, inside, NC_COLLECTIVE));
  const size_t start[] = {0, first_column}, count[] = {k_rows, own_columns};
  float values[k_rows * k_columns];
  for (size_t i = 0; i < k_rows * own_columns; ++i)
    values[i] = (float)(i / own_columns * 100 + first_column + i % own_columns);
  NEEDS(nc_put_vara_float(ncid, field, start, count, values));
  NEEDS(nc_put_vara_float(group, inside, start, count, values));
  sounding soundings[k_rows];
  memset(soundings, 0, sizeof soundings);
  for (int i = 0; i < k_rows; ++i)
    soundings[i].level = i, soundings[i].temperature = 270 + i / 2.;
  NEEDS(nc_put_var(ncid, compound, soundings));
  settle(ncid);
  say_values(ncid, field, "field");
  say_values(group, inside, "inside");
  memset(soundings, 0, sizeof soundings);
  NEEDS(nc_get_var(ncid, compound, soundings));
  say("soundings", "%d %g", soundings[5].level, soundings[5].temperature);
  NEEDS(nc_close(ncid));

  ncid = create("late_group.nc", 0);
  axes(ncid, &rows, &columns);
  const int first = define_field(ncid, "first", NC_FLOAT, rows, columns);
  begin_data(ncid);
  NEEDS(nc_put_vara_float(ncid, first, start, count, values));
  say("def_grp after data", "%d", nc_def_grp(ncid, "late", &group));
  late = define_field(group, "second", NC_FLOAT, rows, columns);
  NEEDS(nc_enddef(ncid));
  NEEDS(nc_var_par_access(group, late, NC_COLLECTIVE));
  NEEDS(nc_put_vara_float(group, late, start, count, values));
  settle(ncid);
  say_values(ncid, first, "first");
  say_values(group, late, "second");
  NEEDS(nc_close(ncid));
}

/* ---- what is refused, on all ranks alike ---- */
static void refusals(void) {
  int rows, columns, id, ncid = create("refused.nc", 0);
  axes(ncid, &rows, &columns);
  const int dims[] = {rows, columns}, no_dims[] = {rows, 99};
  say("def_dim of a name in use", "%d", nc_def_dim(ncid, "rows", 3, &id));
  say("def_dim of a bad name", "%d", nc_def_dim(ncid, "a/b", 3, &id));
  say("def_var of a dimension that is none", "%d", nc_def_var(ncid, "v", NC_INT, 2, no_dims, &id));
  say("def_var of a type that is none", "%d", nc_def_var(ncid, "v", 77, 2, dims, &id));
  const int field = define_field(ncid, "field", NC_BYTE, rows, columns);
  say("def_var of a name in use", "%d", nc_def_var(ncid, "field", NC_INT, 2, dims, &id));
  const int many = 1000;
  say("attribute out of range", "%d", nc_put_att_int(ncid, field, "range", NC_BYTE, 1, &many));
  say("attribute of a variable that is none", "%d", nc_put_att_text(ncid, 99, "a", 1, "x"));
  begin_data(ncid);
  int values[k_rows * k_columns] = {0};
  for (int i = 0; i < k_rows * k_columns; ++i)
    values[i] = i % 100;
  NEEDS(nc_put_var_int(ncid, field, values));
  const size_t zero[] = {0, 0}, beyond[] = {k_rows, 0}, past[] = {k_rows + 1, 0}, last[] = {k_rows - 1, 0};
  const size_t row[] = {1, k_columns}, two_rows[] = {2, k_columns}, none[] = {0, 0};
  const ptrdiff_t no_stride[] = {0, 1}, stride[] = {k_rows, 1};
  say("start beyond the end", "%d", nc_put_vara_int(ncid, field, beyond, row, values));
  say("start past the end", "%d", nc_put_vara_int(ncid, field, past, none, values));
  say("count beyond the end", "%d", nc_put_vara_int(ncid, field, last, two_rows, values));
  say("no cells at the end", "%d", nc_put_vara_int(ncid, field, beyond, none, values));
  say("stride of 0", "%d", nc_put_vars_int(ncid, field, zero, row, no_stride, values));
  say("stride beyond the end", "%d", nc_put_vars_int(ncid, field, zero, two_rows, stride, values));
  say("get beyond the end", "%d", nc_get_vara_int(ncid, field, last, two_rows, values));
  say("a variable that is none", "%d", nc_put_var_int(ncid, 99, values));
  say("a file that is none", "%d", nc_put_var_int(ncid + (99 << 16), field, values));
  for (int i = 0; i < k_columns; ++i)
    values[i] = i == 3 ? 300 : 50 + i;
  say("a value out of range", "%d", nc_put_vara_int(ncid, field, zero, row, values));
  settle(ncid);
  signed char bytes[k_columns];
  NEEDS(nc_get_vara_schar(ncid, field, zero, row, bytes));
  say("the values beside it", "%d %d", bytes[2], bytes[4]);
  check(bytes[2] == 52 && bytes[4] == 54, "values beside one out of range");
  say("text of numbers", "%d", nc_put_vara_text(ncid, field, zero, row, "x"));
  say("inq_varid of none", "%d", nc_inq_varid(ncid, "none", &id));
  say("inq_dimid of none", "%d", nc_inq_dimid(ncid, "none", &id));
  say("get_att of none", "%d", nc_get_att_int(ncid, field, "none", &id));
  NEEDS(nc_close(ncid));
  say("close once more", "%d", nc_close(ncid));
  NEEDS(nc_open_par(in_folder("refused.nc"), NC_NOWRITE | NC_MPIIO, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  say("put to what was opened to read is refused", "%d", nc_put_var_int(ncid, field, values) != NC_NOERR);
  say("redef of what was opened to read", "%d", nc_redef(ncid));
  NEEDS(nc_close(ncid));
  say("text of a code", "%s", nc_strerror(NC_EEDGE));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  long first, count;
  part_of(k_columns, all_ranks, my_rank, &first, &count);
  first_column = (size_t)first, own_columns = (size_t)count;
  types();
  shapes();
  independent();
  records();
  storage();
  classic_model();
  groups();
  refusals();
  return finish();
}
