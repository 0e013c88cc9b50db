/* SPDX-License-Identifier: BSD-3-Clause
 * Rules of PIO that are easy to get wrong and have no test of their own: numbers of ids, dimensions of length
 * 1 that a variable does not have, define mode, how iotype and mode give the format, what freeing does. */
#include "check.h"

enum { k_rows = 4 };

/* Column my_rank of [rows][ranks]; with `lead` dimensions of length 1 before them, and a last one of the
 * rest. */
static int make_column(int iosys, int type, int lead) {
  const int dims[4] = {1, 1, k_rows, all_ranks};
  PIO_Offset map[k_rows];
  int ioid = -1;
  for (int row = 0; row < k_rows; ++row)
    map[row] = row * all_ranks + my_rank + 1;
  OK(PIOc_InitDecomp(iosys, type, 2 + lead, dims + 2 - lead, k_rows, map, &ioid, NULL, NULL, NULL));
  return ioid;
}

static void fill_column(int* values, int factor) {
  for (int row = 0; row < k_rows; ++row)
    values[row] = factor * (row * all_ranks + my_rank + 1);
}

static void check_whole(int ncid, int varid, int factor) {
  const int cells = k_rows * all_ranks;
  int* found = calloc((size_t)cells, sizeof *found);
  OK(PIOc_get_var_int(ncid, varid, found));
  int wrong = 0;
  for (int cell = 0; cell < cells; ++cell)
    wrong += found[cell] != factor * (cell + 1);
  CHECK(wrong == 0);
  free(found);
}

/* A file with the dimensions y, x and the variable a of both, in define mode. */
static int make_file(int iosys, const format* f, const char* name, int* varid) {
  char path[64];
  int ncid = -1;
  int dimids[2];
  snprintf(path, sizeof path, "rules_%s_%s.nc", name, f->name);
  OK(create(iosys, f, path, &ncid));
  OK(PIOc_def_dim(ncid, "y", k_rows, &dimids[0]));
  OK(PIOc_def_dim(ncid, "x", all_ranks, &dimids[1]));
  OK(PIOc_def_var(ncid, "a", PIO_INT, 2, dimids, varid));
  return ncid;
}

/* Ids of files begin at 128, those of decompositions at 512, those of iosystems at 65536 in steps of as much:
 * one of another kind is never taken for another. Dimensions, variables and attributes count from 0. */
static void numbers(int iosys, const format* f) {
  int varid = -1;
  int value = -2;
  const int ncid = make_file(iosys, f, "numbers", &varid);
  const int ioid = make_column(iosys, PIO_INT, 0);
  CHECK(ncid >= 128 && ncid < 512);
  CHECK(ioid >= 512 && ioid < 65536);
  CHECK(iosys >= 65536 && iosys % 65536 == 0);
  GIVES(PIO_EBADID, PIOc_inq_ndims(ioid, &value));
  GIVES(PIO_EBADID, PIOc_inq_ndims(iosys, &value));
  GIVES(PIO_EBADID, PIOc_freedecomp(iosys, ncid));
  GIVES(PIO_EBADID, PIOc_freedecomp(ioid, ioid));
  GIVES(PIO_EBADID, PIOc_get_numiotasks(ncid, &value));
  CHECK(varid == 0);
  OK(PIOc_inq_dimid(ncid, "x", &value));
  CHECK(value == 1);
  OK(PIOc_inq_unlimdim(ncid, &value));
  CHECK(value == -1);
  OK(PIOc_put_att_int(ncid, PIO_GLOBAL, "first", PIO_INT, 1, &value));
  OK(PIOc_inq_attid(ncid, PIO_GLOBAL, "first", &value));
  CHECK(value == 0);
  OK(PIOc_enddef(ncid));
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, ioid));
}

/* Leading dimensions of the list of length 1 that the variable does not have are dropped, others are not. */
static void more_dimensions(int iosys, const format* f) {
  int varid = -1;
  int values[k_rows];
  const int ncid = make_file(iosys, f, "dropped", &varid);
  OK(PIOc_enddef(ncid));
  for (int lead = 0; lead < 3; ++lead) {
    const int ioid = make_column(iosys, PIO_INT, lead);
    fill_column(values, 1 + lead);
    OK(PIOc_write_darray(ncid, varid, ioid, k_rows, values, NULL));
    OK(PIOc_sync(ncid));
    check_whole(ncid, varid, 1 + lead);
    memset(values, 0, sizeof values);
    OK(PIOc_read_darray(ncid, varid, ioid, k_rows, values));
    CHECK(values[1] == (1 + lead) * (all_ranks + my_rank + 1));
    OK(PIOc_freedecomp(iosys, ioid));
  }
  const int dims[3] = {2, k_rows, all_ranks};
  const PIO_Offset map[1] = {my_rank + 1};
  int ioid = -1;
  OK(PIOc_InitDecomp(iosys, PIO_INT, 3, dims, 1, map, &ioid, NULL, NULL, NULL));
  GIVES(PIO_EINVAL, PIOc_write_darray(ncid, varid, ioid, 1, values, NULL));
  GIVES(PIO_EINVAL, PIOc_read_darray(ncid, varid, ioid, 1, values));
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, ioid));
}

/* write_darray ends the define mode, and needs it to have begun in no file; netCDF-4 has it at any time. */
static void define_mode(int iosys, const format* f) {
  int varid = -1;
  int values[k_rows];
  const int ncid = make_file(iosys, f, "mode", &varid);
  const int ioid = make_column(iosys, PIO_INT, 0);
  fill_column(values, 3);
  OK(PIOc_write_darray(ncid, varid, ioid, k_rows, values, NULL));
  GIVES(is_classic(f) ? PIO_ENOTINDEFINE : PIO_NOERR, PIOc_def_dim(ncid, "late", 2, NULL));
  OK(PIOc_redef(ncid));
  OK(PIOc_put_att_text(ncid, varid, "units", 1, "m"));
  fill_column(values, 4);
  OK(PIOc_write_darray(ncid, varid, ioid, k_rows, values,
                       NULL)); /* once more, with an attribute that is new */
  check_whole(ncid, varid, 4);
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, ioid));
}

/* Freeing by a file syncs it: what a put could not say comes out. Freeing by the iosystem takes nothing from
 * a file that is being written. */
static void freeing(int iosys, const format* f) {
  int varid = -1;
  int bytes = -1;
  int dimid = -1;
  int values[k_rows];
  const int ncid = make_file(iosys, f, "freed", &varid);
  OK(PIOc_def_dim(ncid, "one", 1, &dimid));
  OK(PIOc_def_var(ncid, "bytes", PIO_BYTE, 1, &dimid, &bytes));
  OK(PIOc_enddef(ncid));
  int ioid = make_column(iosys, PIO_INT, 0);
  fill_column(values, 5);
  OK(PIOc_write_darray(ncid, varid, ioid, k_rows, values, NULL));
  OK(PIOc_freedecomp(iosys, ioid));
  GIVES(PIO_EBADID, PIOc_write_darray(ncid, varid, ioid, k_rows, values, NULL));
  check_whole(ncid, varid, 5);
  ioid = make_column(iosys, PIO_INT, 0);
  const int much = 1000;
  const int put = PIOc_put_var_int(ncid, bytes, &much);
  CHECK(put == PIO_NOERR || put == PIO_ERANGE);
  GIVES(PIO_ERANGE, PIOc_freedecomp(ncid, ioid));
  GIVES(PIO_EBADID, PIOc_get_local_array_size(ioid)); /* freed all the same */
  OK(PIOc_sync(ncid));
  OK(PIOc_closefile(ncid));
}

/* No fill is the mode of a new file: neither a file that is opened nor one that is made has it on. */
static void fill_mode(int iosys, const format* f) {
  int varid = -1;
  int no_fill = -1;
  int mode = -1;
  int ncid = make_file(iosys, f, "fill", &varid);
  OK(PIOc_inq_var_fill(ncid, varid, &no_fill, NULL));
  CHECK(no_fill == 1);
  OK(PIOc_set_fill(ncid, PIO_NOFILL, &mode));
  CHECK(mode == PIO_NOFILL);
  /* The first fill value that comes with values which leave cells out is the variable's from then on. */
  const int dims[2] = {k_rows, all_ranks};
  const PIO_Offset map[1] = {1};
  const int length = my_rank == 0 ? 1 : 0;
  const int value = 5;
  const int other = -77;
  int ioid = -1;
  OK(PIOc_InitDecomp(iosys, PIO_INT, 2, dims, length, map, &ioid, NULL, NULL, NULL));
  OK(PIOc_write_darray(ncid, varid, ioid, length, &value, &other));
  const int third = -3;
  OK(PIOc_write_darray(ncid, varid, ioid, length, &value, &third));
  int* found = calloc((size_t)(k_rows * all_ranks), sizeof *found);
  OK(PIOc_get_var_int(ncid, varid, found));
  CHECK(found[0] == 5 && found[1] == other && found[k_rows * all_ranks - 1] == other);
  free(found);
  int attribute = 0;
  OK(PIOc_get_att_int(ncid, varid, "_FillValue", &attribute));
  CHECK(attribute == other);
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, ioid));
}

/* Values that leave nothing out make no fill value; one that is there stays; after closing it is known. */
static void fill_of_call(int iosys, const format* f) {
  in_case = f->name;
  int ncid = -1;
  int dimid = -1;
  int v[3];
  int ioid = -1;
  const int n = 4 * all_ranks;
  OK(create(iosys, f, "rules_fill.nc", &ncid));
  OK(PIOc_def_dim(ncid, "x", n, &dimid));
  OK(PIOc_def_var(ncid, "whole", PIO_FLOAT, 1, &dimid, &v[0]));
  OK(PIOc_def_var(ncid, "own", PIO_SHORT, 1, &dimid, &v[1]));
  OK(PIOc_def_var(ncid, "holes", PIO_SHORT, 1, &dimid, &v[2]));
  const short own = -9;
  OK(PIOc_put_att_short(ncid, v[1], "_FillValue", PIO_SHORT, 1, &own));
  OK(PIOc_enddef(ncid));
  PIO_Offset map[4];
  float values[4];
  for (int i = 0; i < 4; ++i) {
    map[i] = i * all_ranks + my_rank + 1;
    values[i] = (float)(i + 1);
  }
  OK(PIOc_InitDecomp(iosys, PIO_FLOAT, 1, &n, 4, map, &ioid, NULL, NULL, NULL));
  const float given = -2;
  OK(PIOc_write_darray(ncid, v[0], ioid, 4, values, &given));
  OK(PIOc_freedecomp(iosys, ioid));
  map[2] = 0;
  OK(PIOc_InitDecomp(iosys, PIO_FLOAT, 1, &n, 4, map, &ioid, NULL, NULL, NULL));
  OK(PIOc_write_darray(ncid, v[1], ioid, 4, values, &given));
  OK(PIOc_write_darray(ncid, v[2], ioid, 4, values, &given)); /* of another type than the variable */
  OK(PIOc_closefile(ncid));
  OK(reopen(iosys, f, "rules_fill.nc", PIO_WRITE, &ncid));
  int no_fill = -1;
  short value = 0;
  short* found = calloc((size_t)n, sizeof *found);
  GIVES(PIO_ENOTATT, PIOc_inq_attid(ncid, v[0], "_FillValue", &no_fill));
  for (int i = 1; i < 3; ++i) {
    const short wanted = i == 1 ? own : (short)given;
    OK(PIOc_inq_var_fill(ncid, v[i], &no_fill, &value));
    CHECK(value == wanted && (no_fill == 0 || !is_classic(f)));
    OK(PIOc_get_var_short(ncid, v[i], found));
    CHECK(found[0] == 1 && found[2 * all_ranks] == wanted && found[3 * all_ranks] == 4);
  }
  free(found);
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, ioid));
}

/* Frames that nobody wrote, of a file with fill: the fill value, in each format, also after going on. */
static void frames_left_out(int iosys, const format* f) {
  in_case = f->name;
  int ncid = -1;
  int dimids[2];
  int varid = -1;
  int ioid = -1;
  const int n = all_ranks;
  const PIO_Offset map[1] = {my_rank + 1};
  const int value = 7;
  const int rounds[2][2] = {{0, 4}, {6, 6}};
  OK(create(iosys, f, "rules_frames.nc", &ncid));
  OK(PIOc_set_fill(ncid, PIO_FILL, NULL));
  OK(PIOc_def_dim(ncid, "time", PIO_UNLIMITED, &dimids[0]));
  OK(PIOc_def_dim(ncid, "x", n, &dimids[1]));
  OK(PIOc_def_var(ncid, "v", PIO_INT, 2, dimids, &varid));
  OK(PIOc_enddef(ncid));
  OK(PIOc_InitDecomp(iosys, PIO_INT, 1, &n, 1, map, &ioid, NULL, NULL, NULL));
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 2; ++i) {
      OK(PIOc_setframe(ncid, varid, rounds[round][i]));
      OK(PIOc_write_darray(ncid, varid, ioid, 1, &value, NULL));
    }
    OK(PIOc_closefile(ncid));
    OK(reopen(iosys, f, "rules_frames.nc", PIO_WRITE, &ncid));
  }
  for (int frame = 0; frame < 7; ++frame) {
    const PIO_Offset at[2] = {frame, n - 1};
    int found = 0;
    OK(PIOc_get_var1_int(ncid, varid, at, &found));
    CHECK(found == (frame == 0 || frame == 4 || frame == 6 ? value : PIO_FILL_INT));
  }
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, ioid));
}

/* A fill value of text must be the variable's in fill mode; a byte has no sign only where the format has
 * none. */
static void text_and_bytes(int iosys, const format* f) {
  in_case = f->name;
  int ncid = -1;
  int dimid = -1;
  int v[2];
  int ioid = -1;
  const int n = all_ranks;
  const PIO_Offset map[1] = {my_rank + 1};
  OK(create(iosys, f, "rules_text.nc", &ncid));
  OK(PIOc_set_fill(ncid, PIO_FILL, NULL));
  OK(PIOc_def_dim(ncid, "x", n, &dimid));
  OK(PIOc_def_var(ncid, "c", PIO_CHAR, 1, &dimid, &v[0]));
  OK(PIOc_def_var(ncid, "b", PIO_BYTE, 1, &dimid, &v[1]));
  OK(PIOc_enddef(ncid));
  OK(PIOc_InitDecomp(iosys, PIO_CHAR, 1, &n, 1, map, &ioid, NULL, NULL, NULL));
  GIVES(PIO_EINVAL, PIOc_write_darray(ncid, v[0], ioid, 1, "x", "#"));
  OK(PIOc_write_darray(ncid, v[0], ioid, 1, "x", ""));
  signed char* bytes = calloc((size_t)n, 1);
  bytes[0] = -42;
  OK(PIOc_put_var_schar(ncid, v[1], bytes));
  OK(PIOc_sync(ncid));
  const int has_ubyte = f->number != PIO_FORMAT_CLASSIC && f->number != PIO_FORMAT_64BIT_OFFSET;
  GIVES(has_ubyte ? PIO_ERANGE : PIO_NOERR, PIOc_get_var_uchar(ncid, v[1], (unsigned char*)bytes));
  free(bytes);
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, ioid));
}

/* Of a list [1, x] a frame says which index of a limited first dimension is meant. */
static void frames_of_one(int iosys, const format* f) {
  in_case = f->name;
  int ncid = -1;
  int dimids[2];
  int varid = -1;
  const int n = all_ranks;
  const PIO_Offset map[1] = {my_rank + 1};
  OK(create(iosys, f, "rules_one.nc", &ncid));
  OK(PIOc_def_dim(ncid, "layer", 3, &dimids[0]));
  OK(PIOc_def_dim(ncid, "x", n, &dimids[1]));
  OK(PIOc_def_var(ncid, "v", PIO_INT, 2, dimids, &varid));
  OK(PIOc_enddef(ncid));
  for (int lead = 1; lead < 3; ++lead) {
    const int dims[3] = {1, lead == 1 ? n : 1, n};
    int ioid = -1;
    OK(PIOc_InitDecomp(iosys, PIO_INT, lead + 1, dims, 1, map, &ioid, NULL, NULL, NULL));
    OK(PIOc_setframe(ncid, varid, -1));
    const int none = 0;
    GIVES(PIO_EINVAL, PIOc_write_darray(ncid, varid, ioid, 1, &none, NULL));
    for (int frame = 2; frame >= 0; --frame) {
      const int value = 100 * lead + 10 * frame + my_rank;
      int found = 0;
      OK(PIOc_setframe(ncid, varid, frame));
      OK(PIOc_write_darray(ncid, varid, ioid, 1, &value, NULL));
      OK(PIOc_read_darray(ncid, varid, ioid, 1, &found));
      CHECK(found == value);
    }
    const PIO_Offset at[2] = {2, n - 1};
    int found = 0;
    OK(PIOc_get_var1_int(ncid, varid, at, &found));
    CHECK(found == 100 * lead + 20 + n - 1);
    OK(PIOc_setframe(ncid, varid, 3));
    GIVES(PIO_EINVALCOORDS, PIOc_read_darray(ncid, varid, ioid, 1, &found));
    OK(PIOc_freedecomp(iosys, ioid));
  }
  OK(PIOc_closefile(ncid));
}

/* Hints that a setting cannot have are hints all the same. */
static void hints(void) {
  in_case = "hints";
  static const char* const k_bad[][2] = {{"striping_unit", "1024"},      {"striping_unit", "1M"},
                                         {"striping_factor", "many"},    {"striping_factor", "-2"},
                                         {"nc_var_align_size", "0"},     {"nc_var_align_size", "4k"},
                                         {"nc_header_align_size", "-1"}, {"cb_nodes", "no number"}};
  for (size_t i = 0; i < sizeof k_bad / sizeof k_bad[0]; ++i)
    for (int f = 0; f < k_format_count; f += k_format_count - 1) {
      int iosys = -1;
      int ncid = -1;
      OK(PIOc_Init_Intracomm(MPI_COMM_WORLD, 1, 1, 0, PIO_REARR_BOX, &iosys));
      OK(PIOc_set_hint(iosys, k_bad[i][0], k_bad[i][1]));
      OK(create(iosys, &k_formats[f], "rules_hints.nc", &ncid));
      OK(PIOc_closefile(ncid));
      OK(reopen(iosys, &k_formats[f], "rules_hints.nc", PIO_WRITE, &ncid));
      OK(PIOc_closefile(ncid));
      OK(PIOc_finalize(iosys));
    }
}

/* What iotype and mode make, and that no iotype compresses by itself. */
static void formats(int iosys) {
  static const struct {
    int iotype, mode, number;
  } k_made[] = {{PIO_IOTYPE_PNETCDF, 0, PIO_FORMAT_CLASSIC},
                {PIO_IOTYPE_PNETCDF, PIO_64BIT_OFFSET, PIO_FORMAT_64BIT_OFFSET},
                {PIO_IOTYPE_PNETCDF, PIO_64BIT_DATA, PIO_FORMAT_CDF5},
                {PIO_IOTYPE_NETCDF, 0, PIO_FORMAT_CLASSIC},
                {PIO_IOTYPE_NETCDF, PIO_64BIT_OFFSET, PIO_FORMAT_64BIT_OFFSET},
                {PIO_IOTYPE_NETCDF, PIO_64BIT_DATA, PIO_FORMAT_CDF5},
                {PIO_IOTYPE_NETCDF4C, 0, PIO_FORMAT_NETCDF4},
                {PIO_IOTYPE_NETCDF4P, 0, PIO_FORMAT_NETCDF4},
                {PIO_IOTYPE_NETCDF4C, NC_CLASSIC_MODEL, PIO_FORMAT_NETCDF4_CLASSIC},
                {PIO_IOTYPE_NETCDF4P, NC_CLASSIC_MODEL, PIO_FORMAT_NETCDF4_CLASSIC},
                {PIO_IOTYPE_HDF5, 0, PIO_FORMAT_NETCDF4},
                {PIO_IOTYPE_HDF5C, 0, PIO_FORMAT_NETCDF4}};
  in_case = "formats";
  for (size_t i = 0; i < sizeof k_made / sizeof k_made[0]; ++i) {
    int ncid = -1;
    int number = 0;
    int dimid = -1;
    int varid = -1;
    int deflate = 1;
    int shuffle = 1;
    OK(PIOc_createfile(iosys, &ncid, &k_made[i].iotype, "rules_formats.nc", PIO_CLOBBER | k_made[i].mode));
    OK(PIOc_inq_format(ncid, &number));
    CHECK(number == k_made[i].number);
    OK(PIOc_def_dim(ncid, "x", 100000, &dimid));
    OK(PIOc_def_var(ncid, "a", PIO_DOUBLE, 1, &dimid, &varid));
    OK(PIOc_enddef(ncid));
    if (number == PIO_FORMAT_NETCDF4 || number == PIO_FORMAT_NETCDF4_CLASSIC) {
      OK(PIOc_inq_var_deflate(ncid, varid, &shuffle, &deflate, NULL));
      CHECK(deflate == 0 && shuffle == 0);
    }
    OK(PIOc_closefile(ncid));
  }
}

int main(int argc, char** argv) {
  const int iosys = start(&argc, &argv);
  for (int f = 0; f < k_format_count; ++f) {
    in_case = k_formats[f].name;
    numbers(iosys, &k_formats[f]);
    more_dimensions(iosys, &k_formats[f]);
    define_mode(iosys, &k_formats[f]);
    freeing(iosys, &k_formats[f]);
    fill_mode(iosys, &k_formats[f]);
    fill_of_call(iosys, &k_formats[f]);
    frames_left_out(iosys, &k_formats[f]);
    text_and_bytes(iosys, &k_formats[f]);
    frames_of_one(iosys, &k_formats[f]);
  }
  formats(iosys);
  hints();
  OK(PIOc_finalize(iosys));
  return finish("rules");
}
