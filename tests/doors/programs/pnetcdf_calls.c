/* SPDX-License-Identifier: BSD-3-Clause
 *
 * PnetCDF's calls, family by family: all types and conversions, strides, memory maps, lists of boxes,
 * flexible types of MPI, data mode of a rank alone, requests, fill modes, redefinition, inquiries, and the
 * codes of what is refused.
 *   pnetcdf_calls FOLDER
 */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lines.h"

enum { k_rows = 6, k_columns = 24 };

/* Columns of this rank. */
static MPI_Offset first_column, own_columns;

static int create(const char* name, int mode) {
  int ncid;
  NEEDS(ncmpi_create(MPI_COMM_WORLD, in_folder(name), NC_CLOBBER | mode, MPI_INFO_NULL, &ncid));
  return ncid;
}

static int define_field(int ncid, const char* name, nc_type type, int rows, int columns) {
  int id;
  const int dims[] = {rows, columns};
  NEEDS(ncmpi_def_var(ncid, name, type, 2, dims, &id));
  return id;
}

static void axes(int ncid, int* rows, int* columns) {
  NEEDS(ncmpi_def_dim(ncid, "rows", k_rows, rows));
  NEEDS(ncmpi_def_dim(ncid, "columns", k_columns, columns));
}

/* All values of a field as numbers, by all ranks; their sum weighted by place, and the first ones. */
static void say_values(int ncid, int id, const char* what) {
  double found[k_rows * k_columns], sum = 0;
  memset(found, 0, sizeof found);
  const int code = ncmpi_get_var_double_all(ncid, id, found);
  for (int i = 0; i < k_rows * k_columns; ++i)
    sum += (i + 1) * found[i];
  say(what, "get %d, sum %.17g, %g %g %g %g", code, sum, found[0], found[1], found[k_columns],
      found[k_rows * k_columns - 1]);
}

/* ---- types: NAME of the calls, type in memory, type in the file ---- */
#define FOR_TYPES(DO)                   \
  DO(schar, signed char, NC_BYTE)       \
  DO(uchar, unsigned char, NC_UBYTE)    \
  DO(short, short, NC_SHORT)            \
  DO(ushort, unsigned short, NC_USHORT) \
  DO(int, int, NC_INT)                  \
  DO(uint, unsigned, NC_UINT)           \
  DO(long, long, NC_INT64)              \
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
    for (MPI_Offset i = 0; i < k_rows * own_columns; ++i)                                                   \
      values[i] = (TYPE)(i / own_columns * k_columns + first_column + i % own_columns - k_columns / 2);     \
    const int put = ncmpi_put_vara_##NAME##_all(ncid, own[n], start, count, values);                        \
    const int put_wide = ncmpi_put_vara_##NAME##_all(ncid, wide[n], start, count, values);                  \
    const int get = ncmpi_get_vara_##NAME##_all(ncid, own[n], start, count, again);                         \
    const int same = memcmp(values, again, sizeof(TYPE) * (size_t)(k_rows * own_columns)) == 0;             \
    say("type " #NAME, "put %d %d, get %d, same %d, first %g", put, put_wide, get, same, (double)again[0]); \
    check(same, "values of type " #NAME);                                                                   \
    say_values(ncid, wide[n++], "as doubles");                                                              \
  }

static void types(void) {
  int rows, columns, n = 0, own[16], wide[16], text;
  const int ncid = create("types.nc", NC_64BIT_DATA);
  axes(ncid, &rows, &columns);
  FOR_TYPES(DEFINE_TYPE)
  text = define_field(ncid, "text", NC_CHAR, rows, columns);
  NEEDS(ncmpi_enddef(ncid));
  const MPI_Offset start[] = {0, first_column}, count[] = {k_rows, own_columns};
  n = 0;
  FOR_TYPES(PUT_TYPE)
  char letters[k_rows * k_columns + 1] = "";
  for (MPI_Offset i = 0; i < k_rows * own_columns; ++i)
    letters[i] = (char)('a' + (first_column + i % own_columns));
  say("text put", "%d", ncmpi_put_vara_text_all(ncid, text, start, count, letters));
  memset(letters, 0, sizeof letters);
  say("text get", "%d", ncmpi_get_var_text_all(ncid, text, letters));
  say("text", "%s", letters);
  say("text from numbers", "%d", ncmpi_put_var1_int_all(ncid, text, start, &n));
  NEEDS(ncmpi_close(ncid));
}

/* ---- vars, varm, varn, var1, var ---- */
static void shapes(void) {
  int rows, columns;
  const int ncid = create("shapes.nc", NC_64BIT_OFFSET);
  axes(ncid, &rows, &columns);
  const int strided = define_field(ncid, "strided", NC_INT, rows, columns);
  const int mapped = define_field(ncid, "mapped", NC_FLOAT, rows, columns);
  const int listed = define_field(ncid, "listed", NC_SHORT, rows, columns);
  const int whole = define_field(ncid, "whole", NC_DOUBLE, rows, columns);
  NEEDS(ncmpi_enddef(ncid));

  /* Each rank has every all_ranks-th column, and every second row in each of two calls. */
  int numbers[k_rows * k_columns];
  const MPI_Offset columns_of = (k_columns - my_rank + all_ranks - 1) / all_ranks;
  for (int odd = 0; odd < 2; ++odd) {
    const MPI_Offset start[] = {odd, my_rank}, count[] = {k_rows / 2, columns_of}, stride[] = {2, all_ranks};
    for (MPI_Offset i = 0; i < k_rows / 2 * columns_of; ++i)
      numbers[i] = (int)((2 * (i / columns_of) + odd) * 100 + my_rank + all_ranks * (i % columns_of));
    say("put_vars", "%d", ncmpi_put_vars_int_all(ncid, strided, start, count, stride, numbers));
  }
  say_values(ncid, strided, "strided");
  const MPI_Offset corner[] = {1, 2}, some[] = {2, 3}, apart[] = {3, 7};
  int picked[6] = {0};
  say("get_vars", "%d", ncmpi_get_vars_int_all(ncid, strided, corner, some, apart, picked));
  say("picked", "%d %d %d %d %d %d", picked[0], picked[1], picked[2], picked[3], picked[4], picked[5]);
  check(picked[0] == 102 && picked[5] == 416, "picked %d %d", picked[0], picked[5]);

  /* Memory is (column, row). */
  const MPI_Offset start[] = {0, first_column}, count[] = {k_rows, own_columns}, map[] = {1, k_rows};
  float turned[k_columns][k_rows], back[k_rows][k_columns];
  for (int j = 0; j < own_columns; ++j)
    for (int i = 0; i < k_rows; ++i)
      turned[j][i] = (float)(i * 100 + first_column + j) / 4;
  say("put_varm", "%d", ncmpi_put_varm_float_all(ncid, mapped, start, count, NULL, map, &turned[0][0]));
  memset(turned, 0, sizeof turned);
  say("get_varm", "%d", ncmpi_get_varm_float_all(ncid, mapped, start, count, NULL, map, &turned[0][0]));
  say("turned", "%g %g", turned[0][1], turned[0][k_rows - 1]);
  say("get_var", "%d", ncmpi_get_var_float_all(ncid, mapped, &back[0][0]));
  check(back[2][k_columns - 1] == (200 + k_columns - 1) / 4.F, "mapped %g", back[2][k_columns - 1]);
  say_values(ncid, mapped, "mapped");

  /* Rows are dealt by turns: each a box of its own, and ranks have different numbers of boxes, none, too. */
  MPI_Offset starts[k_rows][2], counts[k_rows][2], *starts_to[k_rows], *counts_to[k_rows];
  short shorts[k_rows * k_columns];
  int boxes = 0;
  for (int i = my_rank; i < k_rows; i += all_ranks, ++boxes) {
    starts[boxes][0] = i, starts[boxes][1] = 0;
    counts[boxes][0] = 1, counts[boxes][1] = k_columns;
    starts_to[boxes] = starts[boxes], counts_to[boxes] = counts[boxes];
    for (int j = 0; j < k_columns; ++j)
      shorts[boxes * k_columns + j] = (short)(i * 1000 + j);
  }
  say("put_varn", "%d", ncmpi_put_varn_short_all(ncid, listed, boxes, starts_to, counts_to, shorts));
  memset(shorts, 0, sizeof shorts);
  say("get_varn", "%d", ncmpi_get_varn_short_all(ncid, listed, boxes, starts_to, counts_to, shorts));
  check(boxes == 0 || shorts[k_columns - 1] == my_rank * 1000 + k_columns - 1, "listed %d",
        shorts[k_columns - 1]);
  say_values(ncid, listed, "listed");

  double all[k_rows * k_columns];
  for (int i = 0; i < k_rows * k_columns; ++i)
    all[i] = i / 8.;
  say("put_var", "%d", ncmpi_put_var_double_all(ncid, whole, all));
  const MPI_Offset cell[] = {3, 4 + my_rank % 4};
  const double value = 1e10 + my_rank % 4;
  say("put_var1", "%d", ncmpi_put_var1_double_all(ncid, whole, cell, &value));
  say_values(ncid, whole, "whole");
  NEEDS(ncmpi_close(ncid));
}

/* ---- memory described by MPI ---- */
static void flexible(void) {
  int rows, columns;
  const int ncid = create("flexible.nc", NC_64BIT_DATA);
  axes(ncid, &rows, &columns);
  const int inner = define_field(ncid, "inner", NC_INT, rows, columns);
  const int spread = define_field(ncid, "spread", NC_FLOAT, rows, columns);
  const int plain = define_field(ncid, "plain", NC_DOUBLE, rows, columns);
  NEEDS(ncmpi_enddef(ncid));
  const MPI_Offset start[] = {0, first_column}, count[] = {k_rows, own_columns}, cells = k_rows * own_columns;

  /* The inside of an array with a halo of one cell. */
  int tile[(k_rows + 2) * (k_columns + 2)];
  const int sizes[] = {k_rows + 2, (int)own_columns + 2}, subsizes[] = {k_rows, (int)own_columns},
            starts[] = {1, 1};
  for (int i = 0; i < sizes[0] * sizes[1]; ++i)
    tile[i] = i / sizes[1] * 1000 + (int)first_column + i % sizes[1];
  MPI_Datatype inside, every_second;
  MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &inside);
  MPI_Type_commit(&inside);
  say("put_vara of a subarray", "%d", ncmpi_put_vara_all(ncid, inner, start, count, tile, 1, inside));
  say_values(ncid, inner, "inner");
  memset(tile, 0, sizeof tile);
  say("get_vara of a subarray", "%d", ncmpi_get_vara_all(ncid, inner, start, count, tile, 1, inside));
  say("halo, inside", "%d %d", tile[0], tile[sizes[1] + 1]);
  check(tile[0] == 0 && tile[sizes[1] + 1] == 1000 + first_column + 1, "subarray %d", tile[sizes[1] + 1]);

  /* Every second number. */
  double numbers[2 * k_rows * k_columns];
  for (int i = 0; i < 2 * cells; ++i)
    numbers[i] =
        i % 2 == 0 ? (double)(i / 2 / own_columns * k_columns + first_column + i / 2 % own_columns) : -1e30;
  MPI_Type_vector((int)cells, 1, 2, MPI_DOUBLE, &every_second);
  MPI_Type_commit(&every_second);
  say("put_vara of a vector", "%d", ncmpi_put_vara_all(ncid, spread, start, count, numbers, 1, every_second));
  say_values(ncid, spread, "spread");
  int request, status = 1;
  say("iput_vara of a vector", "%d",
      ncmpi_iput_vara(ncid, plain, start, count, numbers, 1, every_second, &request));
  say("wait_all", "%d", ncmpi_wait_all(ncid, 1, &request, &status));
  say("status", "%d", status);
  say_values(ncid, plain, "plain");
  say("put_vara with NULL as type", "%d",
      ncmpi_put_vara_all(ncid, plain, start, count, numbers, 0, MPI_DATATYPE_NULL));
  say("put_vara of too few numbers", "%d",
      ncmpi_put_vara_all(ncid, plain, start, count, numbers, cells - 1, MPI_DOUBLE));
  MPI_Type_free(&inside);
  MPI_Type_free(&every_second);
  NEEDS(ncmpi_close(ncid));
}

/* ---- data mode of a rank alone ---- */
static void independent(void) {
  int rows, columns, time, x;
  const int ncid = create("independent.nc", NC_64BIT_OFFSET);
  axes(ncid, &rows, &columns);
  NEEDS(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &time));
  NEEDS(ncmpi_def_dim(ncid, "x", 4, &x));
  const int field = define_field(ncid, "field", NC_INT, rows, columns);
  const int series = define_field(ncid, "series", NC_FLOAT, time, x);
  NEEDS(ncmpi_enddef(ncid));
  int number = 7;
  const MPI_Offset cell[] = {0, 0};
  say("put_var1 in collective mode", "%d", ncmpi_put_var1_int(ncid, field, cell, &number));
  say("begin_indep_data", "%d", ncmpi_begin_indep_data(ncid));
  say("put_var1_all in independent mode", "%d", ncmpi_put_var1_int_all(ncid, field, cell, &number));
  int codes = 0;
  for (int i = 0; i < k_rows; ++i)
    for (MPI_Offset j = first_column; j < first_column + own_columns; ++j) {
      const MPI_Offset place[] = {i, j};
      number = (int)(i * 100 + j);
      if (i == 0 && my_rank == 0) number += 5000;
      codes += ncmpi_put_var1_int(ncid, field, place, &number);
    }
  say("codes of puts", "%d", codes);
  number = 0;
  const MPI_Offset mine[] = {k_rows - 1, first_column};
  codes = ncmpi_get_var1_int(ncid, field, mine, &number);
  say("get of its own", "%d %d", codes, number);
  say("out of bounds, on rank 0 alone", "%d",
      my_rank == 0 ? ncmpi_put_var1_int(ncid, field, (MPI_Offset[]){k_rows, 0}, &number) : 0);
  /* Each rank has a record, and so the last one makes the file long. */
  float values[4];
  for (int i = 0; i < 4; ++i)
    values[i] = (float)(my_rank * 10 + i);
  const MPI_Offset record[] = {my_rank, 0}, one[] = {1, 4};
  say("put of its own record", "%d", ncmpi_put_vara_float(ncid, series, record, one, values));
  say("end_indep_data", "%d", ncmpi_end_indep_data(ncid));
  say("end_indep_data once more", "%d", ncmpi_end_indep_data(ncid));
  MPI_Offset records = 0;
  NEEDS(ncmpi_sync(ncid));
  MPI_Barrier(MPI_COMM_WORLD);
  NEEDS(ncmpi_inq_dimlen(ncid, time, &records));
  say("records", "%lld", (long long)records);
  say_values(ncid, field, "field");
  const MPI_Offset last[] = {all_ranks - 1, 0};
  say("get of the last record", "%d", ncmpi_get_vara_float_all(ncid, series, last, one, values));
  say("its values", "%g %g", values[0], values[3]);
  check(values[3] == (float)((all_ranks - 1) * 10 + 3), "the last record has %g", values[3]);
  NEEDS(ncmpi_close(ncid));
}

/* ---- requests: cancel, wait, attached buffers ---- */
static void requests(void) {
  int rows, columns, ids[3], statuses[3] = {1, 1, 1}, pending;
  const int ncid = create("requests.nc", NC_64BIT_DATA);
  axes(ncid, &rows, &columns);
  const int field = define_field(ncid, "field", NC_INT, rows, columns);
  const int other = define_field(ncid, "other", NC_INT, rows, columns);
  NEEDS(ncmpi_enddef(ncid));
  const MPI_Offset start[] = {0, first_column}, count[] = {k_rows, own_columns}, far[] = {k_rows, 0};
  const size_t cells = (size_t)(k_rows * own_columns);
  int ones[k_rows * k_columns], twos[k_rows * k_columns], threes[k_rows * k_columns];
  for (int i = 0; i < k_rows * k_columns; ++i)
    ones[i] = 1, twos[i] = 2, threes[i] = 3;
  NEEDS(ncmpi_put_vara_int_all(ncid, field, start, count, ones));
  NEEDS(ncmpi_put_vara_int_all(ncid, other, start, count, ones));

  NEEDS(ncmpi_iput_vara_int(ncid, field, start, count, twos, &ids[0]));
  NEEDS(ncmpi_iput_vara_int(ncid, other, start, count, threes, &ids[1]));
  NEEDS(ncmpi_inq_nreqs(ncid, &pending));
  say("pending", "%d", pending);
  say("cancel", "%d", ncmpi_cancel(ncid, 1, ids, statuses));
  say("its status, request null", "%d %d", statuses[0], ids[0] == NC_REQ_NULL);
  say("wait_all for all", "%d", ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL));
  say_values(ncid, field, "cancelled, so as before");
  say_values(ncid, other, "moved");

  say("request out of bounds", "%d", ncmpi_iput_vara_int(ncid, field, far, count, twos, &ids[0]));
  ids[0] = NC_REQ_NULL;
  say("wait_all for none", "%d", ncmpi_wait_all(ncid, 1, ids, statuses));
  say("bput without a buffer", "%d", ncmpi_bput_vara_int(ncid, field, start, count, twos, &ids[0]));
  NEEDS(ncmpi_buffer_attach(ncid, (MPI_Offset)(cells * sizeof(int))));
  say("a second buffer", "%d", ncmpi_buffer_attach(ncid, 100));
  say("bput", "%d", ncmpi_bput_vara_int(ncid, field, start, count, twos, &ids[0]));
  say("bput of too much", "%d", ncmpi_bput_vara_int(ncid, other, start, count, twos, &ids[1]));
  say("detach with a request", "%d", ncmpi_buffer_detach(ncid));
  say("wait_all", "%d", ncmpi_wait_all(ncid, 1, ids, statuses));
  say("detach", "%d", ncmpi_buffer_detach(ncid));
  say_values(ncid, field, "by bput");

  /* Ranks wait for different numbers of requests, one for none; and each for itself. */
  NEEDS(ncmpi_iput_vara_int(ncid, other, start, count, twos, &ids[0]));
  NEEDS(ncmpi_iget_vara_int(ncid, field, start, count, threes, &ids[1]));
  say("wait_all for some", "%d", ncmpi_wait_all(ncid, my_rank % 2 == 0 ? 2 : 1, ids, statuses));
  say("wait_all for the rest", "%d", ncmpi_wait_all(ncid, NC_GET_REQ_ALL, NULL, NULL));
  say("got", "%d", threes[0]);
  NEEDS(ncmpi_begin_indep_data(ncid));
  NEEDS(ncmpi_iput_vara_int(ncid, other, start, count, ones, &ids[0]));
  say("wait", "%d",
      my_rank == all_ranks - 1 ? ncmpi_cancel(ncid, 1, ids, statuses) : ncmpi_wait(ncid, 1, ids, statuses));
  NEEDS(ncmpi_end_indep_data(ncid));
  NEEDS(ncmpi_sync(ncid));
  MPI_Barrier(MPI_COMM_WORLD);
  say_values(ncid, other, "by wait");
  NEEDS(ncmpi_close(ncid));
}

/* ---- lists of runs, as programs of unstructured grids make them ---- */
enum { k_orders = 5, k_steps = 2, k_most = k_steps * k_rows * k_columns };
static const char* const k_names[k_orders] = {"level by level", "run by run", "cell by cell",
                                              "not on all levels", "step by step"};
typedef struct {
  int boxes, cells;
  MPI_Offset starts[k_most][3], counts[k_most][3], *starts_to[k_most], *counts_to[k_most];
  int values[k_most]; /* that the cells have, one box after another */
} run_list;

static void add_run(run_list* list, int step, int row, MPI_Offset column, MPI_Offset columns) {
  const int b = list->boxes++;
  list->starts_to[b] = list->starts[b], list->counts_to[b] = list->counts[b];
  for (int d = 0; d < 3; ++d)
    list->starts[b][d] = d == 0 ? step : d == 1 ? row : column, list->counts[b][d] = d == 2 ? columns : 1;
  for (MPI_Offset j = column; j < column + columns; ++j)
    list->values[list->cells++] = (int)((step * k_rows + row) * k_columns + j) % 113;
}

/* Own columns but for the second one, in runs of two. */
static void make_list(run_list* list, int order) {
  list->boxes = list->cells = 0;
  const MPI_Offset end = first_column + own_columns;
  const int steps = order == 4 ? k_steps : 1;
  for (int s = 0; s < steps; ++s) {
    if (order == 1) {
      for (MPI_Offset j = first_column; j < end; j += 2)
        for (int i = 0; i < k_rows; ++i)
          add_run(list, s, i, j, j == first_column || j + 1 == end ? 1 : 2);
      continue;
    }
    for (int i = 0; i < k_rows; ++i)
      for (MPI_Offset j = first_column; j < end; j += order == 2 ? 1 : 2)
        if (order != 3 || i % 2 == 0 || j > first_column)
          add_run(list, s, i, j, order == 2 || j == first_column || j + 1 == end ? 1 : 2);
  }
}

static void lists(void) {
  int rows, columns, time, fields[2 * k_orders], ids[4 * k_orders], statuses[4 * k_orders];
  const int ncid = create("lists.nc", NC_64BIT_DATA);
  axes(ncid, &rows, &columns);
  NEEDS(ncmpi_def_dim(ncid, "steps", k_steps, &time));
  for (int f = 0; f < 2 * k_orders; ++f) {
    char name[20];
    const int dims[] = {time, rows, columns};
    snprintf(name, sizeof name, "field%d", f);
    NEEDS(ncmpi_def_var(ncid, name, f % 2 == 0 ? NC_INT : NC_SHORT, 3, dims, &fields[f]));
    NEEDS(ncmpi_def_var_fill(ncid, fields[f], 0, NULL));
  }
  NEEDS(ncmpi_enddef(ncid));
  static run_list all[k_orders];
  static int back[2 * k_orders][k_most];
  int n = 0;
  for (int order = 0; order < k_orders; ++order) {
    run_list* list = &all[order];
    make_list(list, order);
    for (int twice = 0; twice < 2; ++twice)
      NEEDS(ncmpi_iput_varn_int(ncid, fields[2 * order + twice], list->boxes, list->starts_to,
                                order == 2 ? NULL : list->counts_to, list->values, &ids[n++]));
  }
  /* Some of the ids, the last one first; then the rest. */
  int some[] = {ids[7], ids[2], ids[5]};
  say("wait_all for some", "%d", ncmpi_wait_all(ncid, 3, some, statuses));
  say("their statuses", "%d %d %d", statuses[0], statuses[1], statuses[2]);
  say("wait_all for the rest", "%d", ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL));
  for (int order = 0; order < k_orders; ++order) {
    run_list* list = &all[order];
    for (int twice = 0; twice < 2; ++twice) {
      int* got = back[2 * order + twice];
      say(k_names[order], "%d",
          ncmpi_get_varn_int_all(ncid, fields[2 * order + twice], list->boxes, list->starts_to,
                                 list->counts_to, got));
      check(memcmp(got, list->values, (size_t)list->cells * sizeof(int)) == 0, "%s", k_names[order]);
    }
  }
  /* A rank alone: it puts what it has got, one more each. */
  NEEDS(ncmpi_begin_indep_data(ncid));
  for (int order = 0; order < k_orders; ++order) {
    run_list* list = &all[order];
    for (int i = 0; i < list->cells; ++i)
      back[0][i] = list->values[i] + 1;
    say("alone", "%d",
        ncmpi_put_varn_int(ncid, fields[2 * order], list->boxes, list->starts_to, list->counts_to, back[0]));
    memset(back[1], 0, sizeof back[1]);
    say("alone", "%d",
        ncmpi_get_varn_int(ncid, fields[2 * order], list->boxes, list->starts_to, list->counts_to, back[1]));
    check(memcmp(back[0], back[1], (size_t)list->cells * sizeof(int)) == 0, "%s, alone", k_names[order]);
  }
  NEEDS(ncmpi_end_indep_data(ncid));
  NEEDS(ncmpi_close(ncid));
}

/* ---- fill modes ---- */
static void fills(void) {
  int rows, columns, time, x, old, no_fill;
  const int ncid = create("fills.nc", NC_64BIT_DATA);
  axes(ncid, &rows, &columns);
  NEEDS(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &time));
  NEEDS(ncmpi_def_dim(ncid, "x", 4, &x));
  say("set_fill", "%d", ncmpi_set_fill(ncid, NC_FILL, &old));
  say("fill mode before", "%d", old == NC_NOFILL);
  const int usual = define_field(ncid, "usual", NC_FLOAT, rows, columns);
  const int own = define_field(ncid, "own", NC_INT, rows, columns);
  const int none = define_field(ncid, "none", NC_SHORT, rows, columns);
  const int series = define_field(ncid, "series", NC_DOUBLE, time, x);
  const int fill = -77;
  int found = 0;
  short zeros[k_rows * k_columns] = {0};
  say("def_var_fill", "%d", ncmpi_def_var_fill(ncid, own, 0, &fill));
  say("def_var_fill: none", "%d", ncmpi_def_var_fill(ncid, none, 1, NULL));
  NEEDS(ncmpi_enddef(ncid));
  NEEDS(ncmpi_put_var_short_all(ncid, none, zeros));
  say("inq_var_fill", "%d", ncmpi_inq_var_fill(ncid, own, &no_fill, &found));
  say("of own", "%d %d", no_fill, found);
  NEEDS(ncmpi_inq_var_fill(ncid, none, &no_fill, NULL));
  say("of none", "%d", no_fill);
  NEEDS(ncmpi_inq_att(ncid, own, "_FillValue", NULL, NULL));
  const MPI_Offset start[] = {my_rank % k_rows, first_column}, count[] = {1, 1};
  const float value = (float)my_rank;
  const int number = my_rank;
  NEEDS(ncmpi_put_vara_float_all(ncid, usual, start, count, &value));
  NEEDS(ncmpi_put_vara_int_all(ncid, own, start, count, &number));
  say_values(ncid, usual, "usual");
  say_values(ncid, own, "own");
  double values[12];
  for (MPI_Offset record = 0; record < 3; ++record) {
    say("fill_var_rec", "%d", ncmpi_fill_var_rec(ncid, series, record));
    const MPI_Offset part[] = {record, my_rank % 4}, one[] = {1, 1};
    const double mine = (double)record + my_rank % 4;
    NEEDS(ncmpi_put_vara_double_all(ncid, series, part, one, &mine));
  }
  NEEDS(ncmpi_get_var_double_all(ncid, series, values));
  say("series", "%g %g %g %g %g", values[0], values[3], values[4], values[8], values[11]);
  NEEDS(ncmpi_close(ncid));
}

/* ---- definitions changed later, inquiries ---- */
static void redefinition(void) {
  int rows, columns, ndims, nvars, natts, unlimited, number, dims[2];
  char name[NC_MAX_NAME + 1] = "";
  MPI_Offset length = 0, size = 0;
  nc_type type;
  int ncid = create("redefined.nc", 0);
  axes(ncid, &rows, &columns);
  const int field = define_field(ncid, "field", NC_INT, rows, columns);
  NEEDS(ncmpi_put_att_text(ncid, field, "units", 1, "m"));
  say("_enddef", "%d", ncmpi__enddef(ncid, 100, 4, 0, 4));
  int values[k_rows * k_columns];
  for (int i = 0; i < k_rows * k_columns; ++i)
    values[i] = 3 * i;
  NEEDS(ncmpi_put_var_int_all(ncid, field, values));
  NEEDS(ncmpi_redef(ncid));
  say("redef once more", "%d", ncmpi_redef(ncid));
  const int late = define_field(ncid, "late", NC_DOUBLE, rows, columns);
  char history[2000];
  memset(history, 'h', sizeof history);
  NEEDS(ncmpi_put_att_text(ncid, NC_GLOBAL, "history", sizeof history, history));
  const double range[] = {-1.5, 2.5};
  NEEDS(ncmpi_put_att_double(ncid, late, "valid_range", NC_FLOAT, 2, range));
  say("put in define mode", "%d", ncmpi_put_var_int_all(ncid, field, values));
  NEEDS(ncmpi_enddef(ncid));
  say("enddef once more", "%d", ncmpi_enddef(ncid));
  NEEDS(ncmpi_put_var_int_all(ncid, late, values));
  say_values(ncid, field, "field");
  say_values(ncid, late, "late");
  NEEDS(ncmpi_redef(ncid));
  say("rename_var", "%d", ncmpi_rename_var(ncid, late, "later"));
  say("rename_dim", "%d", ncmpi_rename_dim(ncid, rows, "lines"));
  say("rename_att", "%d", ncmpi_rename_att(ncid, field, "units", "unit"));
  say("copy_att", "%d", ncmpi_copy_att(ncid, field, "unit", ncid, late));
  say("del_att", "%d", ncmpi_del_att(ncid, field, "unit"));
  say("del_att of none", "%d", ncmpi_del_att(ncid, field, "unit"));
  NEEDS(ncmpi_enddef(ncid));
  NEEDS(ncmpi_close(ncid));

  NEEDS(ncmpi_open(MPI_COMM_WORLD, in_folder("redefined.nc"), NC_NOWRITE, MPI_INFO_NULL, &ncid));
  NEEDS(ncmpi_inq(ncid, &ndims, &nvars, &natts, &unlimited));
  say("inq", "%d %d %d %d", ndims, nvars, natts, unlimited);
  NEEDS(ncmpi_inq_num_rec_vars(ncid, &number)); /* PnetCDF 1.12 gives any number for a file it opened */
  NEEDS(ncmpi_inq_recsize(ncid, &size));
  say("bytes of a record", "%lld", (long long)size);
  NEEDS(ncmpi_inq_var(ncid, late, name, &type, &ndims, dims, &natts));
  say("inq_var", "%s %d %d %d %d %d", name, type, ndims, dims[0], dims[1], natts);
  NEEDS(ncmpi_inq_attname(ncid, late, 1, name));
  NEEDS(ncmpi_inq_att(ncid, late, name, &type, &length));
  say("inq_att", "%s %d %lld", name, type, (long long)length);
  say("inq_dimid of none", "%d", ncmpi_inq_dimid(ncid, "rows", &number));
  say("inq_varid of none", "%d", ncmpi_inq_varid(ncid, "late", &number));
  say("put to what was opened to read", "%d", ncmpi_put_var_int_all(ncid, field, values));
  say("redef of what was opened to read", "%d", ncmpi_redef(ncid));
  NEEDS(ncmpi_close(ncid));
}

/* ---- what is refused, on all ranks alike ---- */
static void refusals(void) {
  int rows, columns, id, ncid = create("refused.nc", NC_CLOBBER);
  axes(ncid, &rows, &columns);
  const int dims[] = {rows, columns}, no_dims[] = {rows, 99};
  say("def_dim of a name in use", "%d", ncmpi_def_dim(ncid, "rows", 3, &id));
  say("def_dim of a bad name", "%d", ncmpi_def_dim(ncid, "a/b", 3, &id));
  say("def_dim of -1 cells", "%d", ncmpi_def_dim(ncid, "negative", -1, &id));
  NEEDS(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &id));
  say("a second unlimited dimension", "%d", ncmpi_def_dim(ncid, "time2", NC_UNLIMITED, &id));
  say("def_var of a dimension that is none", "%d", ncmpi_def_var(ncid, "v", NC_INT, 2, no_dims, &id));
  say("def_var of a type that is none", "%d", ncmpi_def_var(ncid, "v", 77, 2, dims, &id));
  say("def_var of a type of CDF-5", "%d", ncmpi_def_var(ncid, "v", NC_UINT, 2, dims, &id));
  const int field = define_field(ncid, "field", NC_BYTE, rows, columns);
  say("def_var of a name in use", "%d", ncmpi_def_var(ncid, "field", NC_INT, 2, dims, &id));
  const int many = 1000;
  say("attribute out of range", "%d", ncmpi_put_att_int(ncid, field, "range", NC_BYTE, 1, &many));
  NEEDS(ncmpi_enddef(ncid));
  say("def_dim in data mode", "%d", ncmpi_def_dim(ncid, "later", 3, &id));

  int values[k_rows * k_columns] = {0};
  for (int i = 0; i < k_rows * k_columns; ++i)
    values[i] = i % 100;
  NEEDS(ncmpi_put_var_int_all(ncid, field, values));
  const MPI_Offset zero[] = {0, 0}, beyond[] = {k_rows, 0}, negative[] = {0, -1}, last[] = {k_rows - 1, 0};
  const MPI_Offset row[] = {1, k_columns}, two_rows[] = {2, k_columns}, less[] = {1, -1}, none[] = {0, 0};
  const MPI_Offset no_stride[] = {0, 1}, stride[] = {k_rows, 1};
  say("start beyond the end", "%d", ncmpi_put_vara_int_all(ncid, field, beyond, row, values));
  say("start below 0", "%d", ncmpi_put_vara_int_all(ncid, field, negative, row, values));
  say("count beyond the end", "%d", ncmpi_put_vara_int_all(ncid, field, last, two_rows, values));
  say("count below 0", "%d", ncmpi_put_vara_int_all(ncid, field, zero, less, values));
  say("no cells at the end", "%d", ncmpi_put_vara_int_all(ncid, field, beyond, none, values));
  say("stride of 0", "%d", ncmpi_put_vars_int_all(ncid, field, zero, row, no_stride, values));
  say("stride beyond the end", "%d", ncmpi_put_vars_int_all(ncid, field, zero, two_rows, stride, values));
  say("get beyond the end", "%d", ncmpi_get_vara_int_all(ncid, field, last, two_rows, values));
  say("a variable that is none", "%d", ncmpi_put_var_int_all(ncid, 99, values));
  say("a file that is none", "%d", ncmpi_put_var_int_all(-1, field, values));
  for (int i = 0; i < k_columns; ++i)
    values[i] = i == 3 ? 300 : 50 + i;
  say("a value out of range", "%d", ncmpi_put_vara_int_all(ncid, field, zero, row, values));
  say_values(ncid, field, "field");
  signed char bytes[k_columns];
  NEEDS(ncmpi_get_vara_schar_all(ncid, field, zero, row, bytes));
  say("the values beside it", "%d %d", bytes[2], bytes[4]);
  check(bytes[2] == 52 && bytes[4] == 54, "values beside one out of range");
  say("text of numbers", "%d", ncmpi_put_vara_text_all(ncid, field, zero, row, "x"));
  NEEDS(ncmpi_close(ncid));
  say("close once more", "%d", ncmpi_close(ncid));
  say("open what is none", "%d",
      ncmpi_open(MPI_COMM_WORLD, in_folder("none.nc"), NC_NOWRITE, MPI_INFO_NULL, &ncid));
  say("create what is there", "%d",
      ncmpi_create(MPI_COMM_WORLD, in_folder("refused.nc"), NC_NOCLOBBER, MPI_INFO_NULL, &ncid));
  ncid = create("aborted.nc", 0);
  ncmpi_abort(ncid); /* its code is of the rank that came first, and removed the file */
  MPI_Barrier(MPI_COMM_WORLD);
  say("an aborted file is there", "%d", access(in_folder("aborted.nc"), F_OK) == 0);
  say("text of a code", "%s", ncmpi_strerror(NC_EINDEP));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  long first, count;
  part_of(k_columns, all_ranks, my_rank, &first, &count);
  first_column = first, own_columns = count;
  types();
  shapes();
  flexible();
  independent();
  requests();
  lists();
  fills();
  redefinition();
  refusals();
  return finish();
}
