/* SPDX-License-Identifier: BSD-3-Clause
 * Frames: kept for each variable of a file; which index they are; variables with as many dimensions as the
 * list. */
#include "check.h"

enum { k_columns = 7 };

static int global_length(void) {
  return k_columns * all_ranks;
}

/* Column c of this rank is cell c * ranks + rank. */
static void columns(PIO_Offset* map) {
  for (int c = 0; c < k_columns; ++c)
    map[c] = c * all_ranks + my_rank + 1;
}

static void fill_values(float* values, int series, int record) {
  for (int c = 0; c < k_columns; ++c)
    values[c] = (float)(1000 * series + 100 * record + c * all_ranks + my_rank);
}

/* Are the values of a record right? */
static void check_record(int ncid, int varid, int series, int record, int at) {
  const int n = global_length();
  float* found = calloc((size_t)n, sizeof *found);
  const PIO_Offset start[2] = {at, 0};
  const PIO_Offset count[2] = {1, n};
  int wrong = 0;
  OK(PIOc_get_vara_float(ncid, varid, start, count, found));
  for (int c = 0; c < n; ++c)
    wrong += found[c] != (float)(1000 * series + 100 * record + c);
  CHECK(wrong == 0);
  free(found);
}

static void with_records(int iosys, const format* f) {
  in_case = f->name;
  char path[64];
  snprintf(path, sizeof path, "frames_%s.nc", f->name);
  const int n = global_length();
  PIO_Offset map[k_columns];
  float values[k_columns];
  int ioid = -1;
  int ncid = -1;
  int dimids[2];
  int fixed_dims[2];
  int v[3];
  columns(map);
  OK(PIOc_InitDecomp(iosys, PIO_FLOAT, 1, &n, k_columns, map, &ioid, NULL, NULL, NULL));
  OK(create(iosys, f, path, &ncid));
  OK(PIOc_def_dim(ncid, "time", PIO_UNLIMITED, &dimids[0]));
  OK(PIOc_def_dim(ncid, "column", n, &dimids[1]));
  OK(PIOc_def_dim(ncid, "layer", 3, &fixed_dims[0]));
  fixed_dims[1] = dimids[1];
  OK(PIOc_def_var(ncid, "a", PIO_FLOAT, 2, dimids, &v[0]));
  OK(PIOc_def_var(ncid, "b", PIO_FLOAT, 2, dimids, &v[1]));
  OK(PIOc_def_var(ncid, "layers", PIO_FLOAT, 2, fixed_dims, &v[2]));
  OK(PIOc_enddef(ncid));

  /* No frame: nothing is written. */
  fill_values(values, 1, 0);
  GIVES(PIO_EINVAL, PIOc_write_darray(ncid, v[0], ioid, k_columns, values, NULL));
  GIVES(PIO_EINVAL, PIOc_write_darray(ncid, v[2], ioid, k_columns, values, NULL));
  /* Two variables at frames of their own, out of order; a frame is kept until it is set again. */
  for (int record = 2; record >= 0; --record) {
    OK(PIOc_setframe(ncid, v[0], record));
    fill_values(values, 1, record);
    OK(PIOc_write_darray(ncid, v[0], ioid, k_columns, values, NULL));
  }
  OK(PIOc_setframe(ncid, v[1], 0));
  for (int record = 0; record < 3; ++record) {
    fill_values(values, 2, record);
    OK(PIOc_write_darray(ncid, v[1], ioid, k_columns, values, NULL));
    OK(PIOc_advanceframe(ncid, v[1]));
  }
  /* A first dimension that is not unlimited takes a frame, too, and has an end. */
  for (int layer = 0; layer < 3; ++layer) {
    OK(PIOc_setframe(ncid, v[2], layer));
    fill_values(values, 3, layer);
    OK(PIOc_write_darray(ncid, v[2], ioid, k_columns, values, NULL));
  }
  OK(PIOc_setframe(ncid, v[2], 3));
  GIVES(PIO_EINVALCOORDS, PIOc_write_darray(ncid, v[2], ioid, k_columns, values, NULL));
  /* Below 0: none again. */
  OK(PIOc_setframe(ncid, v[0], -1));
  GIVES(PIO_EINVAL, PIOc_write_darray(ncid, v[0], ioid, k_columns, values, NULL));
  GIVES(PIO_ENOTVAR, PIOc_setframe(ncid, 99, 0));
  OK(PIOc_sync(ncid));
  for (int record = 0; record < 3; ++record) {
    check_record(ncid, v[0], 1, record, record);
    check_record(ncid, v[1], 2, record, record);
    check_record(ncid, v[2], 3, record, record);
  }
  PIO_Offset length = 0;
  OK(PIOc_inq_dimlen(ncid, dimids[0], &length));
  CHECK(length == 3);
  OK(PIOc_closefile(ncid));

  OK(reopen(iosys, f, path, PIO_WRITE, &ncid));
  OK(PIOc_inq_varid(ncid, "a", &v[0]));
  OK(PIOc_inq_varid(ncid, "layers", &v[2]));
  /* Reading without a frame: the first one. */
  int wrong = 0;
  OK(PIOc_read_darray(ncid, v[0], ioid, k_columns, values));
  for (int c = 0; c < k_columns; ++c)
    wrong += values[c] != (float)(1000 + c * all_ranks + my_rank);
  OK(PIOc_setframe(ncid, v[0], 2));
  OK(PIOc_read_darray(ncid, v[0], ioid, k_columns, values));
  for (int c = 0; c < k_columns; ++c)
    wrong += values[c] != (float)(1200 + c * all_ranks + my_rank);
  OK(PIOc_setframe(ncid, v[2], 1));
  OK(PIOc_read_darray(ncid, v[2], ioid, k_columns, values));
  for (int c = 0; c < k_columns; ++c)
    wrong += values[c] != (float)(3100 + c * all_ranks + my_rank);
  CHECK(wrong == 0);
  OK(PIOc_setframe(ncid, v[0], 3));
  GIVES(PIO_EINVALCOORDS, PIOc_read_darray(ncid, v[0], ioid, k_columns, values));
  /* Going on after the last record. */
  OK(PIOc_setframe(ncid, v[0], 3));
  fill_values(values, 1, 3);
  OK(PIOc_write_darray(ncid, v[0], ioid, k_columns, values, NULL));
  check_record(ncid, v[0], 1, 3, 3);
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, ioid));
}

/* The list has the unlimited dimension in it: it begins at record `frame`. */
static void records_in_list(int iosys, const format* f, int repeats) {
  in_case = f->name;
  const int n = global_length();
  const int dims[2] = {2, n};
  PIO_Offset map[2 * k_columns];
  float values[2 * k_columns];
  int ioid = -1;
  int one = -1;
  int ncid = -1;
  int dimids[2];
  int v[2];
  columns(map);
  for (int c = 0; c < k_columns; ++c) /* the same columns of both, or in another order */
    map[k_columns + c] = n + map[repeats ? c : k_columns - 1 - c];
  OK(PIOc_InitDecomp(iosys, PIO_FLOAT, 2, dims, 2 * k_columns, map, &ioid, NULL, NULL, NULL));
  const int dims_of_one[2] = {1, n};
  OK(PIOc_InitDecomp(iosys, PIO_FLOAT, 2, dims_of_one, k_columns, map, &one, NULL, NULL, NULL));
  OK(create(iosys, f, "frames_inside.nc", &ncid));
  OK(PIOc_def_dim(ncid, "time", PIO_UNLIMITED, &dimids[0]));
  OK(PIOc_def_dim(ncid, "column", n, &dimids[1]));
  OK(PIOc_def_var(ncid, "a", PIO_FLOAT, 2, dimids, &v[0]));
  OK(PIOc_def_var(ncid, "time", PIO_FLOAT, 1, dimids, &v[1]));
  OK(PIOc_enddef(ncid));
  for (int i = 0; i < 2 * k_columns; ++i)
    values[i] = (float)(1000 + 100 * ((map[i] - 1) / n) + (map[i] - 1) % n);
  OK(PIOc_write_darray(ncid, v[0], ioid, 2 * k_columns, values, NULL)); /* no frame: from record 0 */
  check_record(ncid, v[0], 1, 0, 0);
  check_record(ncid, v[0], 1, 1, 1);
  OK(PIOc_setframe(ncid, v[0], 3));
  OK(PIOc_write_darray(ncid, v[0], ioid, 2 * k_columns, values, NULL));
  check_record(ncid, v[0], 1, 0, 3);
  check_record(ncid, v[0], 1, 1, 4);
  OK(PIOc_setframe(ncid, v[0], 2));
  OK(PIOc_write_darray(ncid, v[0], one, k_columns, values, NULL));
  check_record(ncid, v[0], 1, 0, 2);
  float found[2 * k_columns];
  OK(PIOc_setframe(ncid, v[0], 3));
  OK(PIOc_read_darray(ncid, v[0], ioid, 2 * k_columns, found));
  CHECK(memcmp(found, values, sizeof values) == 0);
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, one));
  OK(PIOc_freedecomp(iosys, ioid));
}

/* Several variables at once, each with its frame. */
static void multi(int iosys, const format* f) {
  in_case = f->name;
  const int n = global_length();
  PIO_Offset map[k_columns];
  float values[3 * k_columns];
  int ioid = -1;
  int ncid = -1;
  int dimids[2];
  int v[4];
  const int frames[3] = {1, 0, 1};
  columns(map);
  OK(PIOc_InitDecomp(iosys, PIO_FLOAT, 1, &n, k_columns, map, &ioid, NULL, NULL, NULL));
  OK(create(iosys, f, "frames_multi.nc", &ncid));
  OK(PIOc_def_dim(ncid, "time", PIO_UNLIMITED, &dimids[0]));
  OK(PIOc_def_dim(ncid, "column", n, &dimids[1]));
  OK(PIOc_def_var(ncid, "a", PIO_FLOAT, 2, dimids, &v[0]));
  OK(PIOc_def_var(ncid, "b", PIO_FLOAT, 2, dimids, &v[1]));
  OK(PIOc_def_var(ncid, "c", PIO_FLOAT, 2, dimids, &v[2]));
  OK(PIOc_def_var(ncid, "fixed", PIO_FLOAT, 1, &dimids[1], &v[3]));
  OK(PIOc_enddef(ncid));
  for (int i = 0; i < 3; ++i)
    fill_values(values + i * k_columns, i + 1, frames[i]);
  OK(PIOc_write_darray_multi(ncid, v, ioid, 3, k_columns, values, frames, NULL, true));
  for (int i = 0; i < 3; ++i)
    check_record(ncid, v[i], i + 1, frames[i], frames[i]);
  OK(PIOc_write_darray_multi(ncid, &v[3], ioid, 1, k_columns, values, NULL, NULL, false));
  GIVES(PIO_EVARDIMMISMATCH,
        PIOc_write_darray_multi(ncid, &v[2], ioid, 2, k_columns, values, frames, NULL, false));
  OK(PIOc_put_vard_float(ncid, v[1], ioid, 2, values + k_columns));
  check_record(ncid, v[1], 2, 0, 2);
  int as_int[k_columns];
  int wrong = 0;
  OK(PIOc_get_vard_int(ncid, v[1], ioid, 2, as_int));
  for (int c = 0; c < k_columns; ++c)
    wrong += as_int[c] != 2000 + c * all_ranks + my_rank;
  CHECK(wrong == 0);
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, ioid));
}

int main(int argc, char** argv) {
  const int iosys = start(&argc, &argv);
  for (int f = 0; f < k_format_count; ++f) {
    with_records(iosys, &k_formats[f]);
    records_in_list(iosys, &k_formats[f], 1);
    records_in_list(iosys, &k_formats[f], 0);
    multi(iosys, &k_formats[f]);
  }
  OK(PIOc_finalize(iosys));
  return finish("frames");
}
