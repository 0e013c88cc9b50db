/* SPDX-License-Identifier: BSD-3-Clause
 * The codes of mistakes; no rank hangs when one alone is wrong; handlers. */
#include "check.h"

static void of_ids(int iosys) {
  in_case = "ids";
  int value = 0;
  bool flag = false;
  GIVES(PIO_EBADID, PIOc_inq_nvars(iosys, &value)); /* an id of another kind */
  GIVES(PIO_EBADID, PIOc_closefile(500));
  GIVES(PIO_EBADID, PIOc_iam_iotask(128, &flag));
  GIVES(PIO_EBADID, PIOc_freedecomp(iosys, 128));
  CHECK(PIOc_get_local_array_size(12345) == PIO_EBADID);
  CHECK(!PIOc_File_is_Open(128));
  CHECK(PIOc_iotype_available(1) && PIOc_iotype_available(4) && !PIOc_iotype_available(6) &&
        !PIOc_iotype_available(0));
}

static void of_files(int iosys) {
  in_case = "files";
  int ncid = -1;
  int iotype = PIO_IOTYPE_ADIOS;
  GIVES(PIO_EBADIOTYPE, PIOc_createfile(iosys, &ncid, &iotype, "errors_x.nc", 0));
  iotype = 77;
  GIVES(PIO_EBADIOTYPE, PIOc_openfile(iosys, &ncid, &iotype, "errors_x.nc", 0));
  iotype = PIO_IOTYPE_PNETCDF;
  GIVES(-220, PIOc_openfile(iosys, &ncid, &iotype, "errors_no_such.nc", 0));
  iotype = PIO_IOTYPE_NETCDF4P;
  GIVES(2, PIOc_openfile(iosys, &ncid, &iotype, "errors_no_such.nc", 0));
  GIVES(PIO_EINVAL,
        PIOc_createfile(iosys, &ncid, &iotype, my_rank == all_ranks - 1 ? NULL : "errors_x.nc", 0));
  if (my_rank == 0) {
    FILE* out = fopen("errors_text.nc", "w");
    fputs("this is no NetCDF file, and long enough to be looked at as one\n", out);
    fclose(out);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  GIVES(PIO_ENOTNC, PIOc_openfile(iosys, &ncid, &iotype, "errors_text.nc", 0));
  /* Formats and iotypes. */
  for (int f = 0; f < k_format_count; ++f) {
    const format* made_as = &k_formats[f];
    int number = 0;
    OK(create(iosys, made_as, "errors_kind.nc", &ncid));
    OK(PIOc_inq_format(ncid, &number));
    CHECK(number == made_as->number);
    OK(PIOc_closefile(ncid));
    int made = made_as->iotype;
    GIVES(PIO_EEXIST, PIOc_createfile(iosys, &ncid, &made, "errors_kind.nc", made_as->mode | PIO_NOCLOBBER));
    for (iotype = PIO_IOTYPE_PNETCDF; iotype <= PIO_IOTYPE_NETCDF4P; ++iotype) {
      int got = iotype;
      OK(PIOc_openfile(iosys, &ncid, &got, "errors_kind.nc", 0));
      OK(PIOc_closefile(ncid));
      const int fits = is_classic(made_as) ? iotype != PIO_IOTYPE_NETCDF4P : iotype != PIO_IOTYPE_PNETCDF;
      CHECK(got == (fits ? iotype : PIO_IOTYPE_NETCDF));
      got = iotype;
      if (fits) {
        OK(PIOc_openfile2(iosys, &ncid, &got, "errors_kind.nc", 0));
        OK(PIOc_closefile(ncid));
      } else {
        GIVES(PIO_ENOTNC, PIOc_openfile2(iosys, &ncid, &got, "errors_kind.nc", 0));
      }
    }
  }
  OK(PIOc_create(iosys, "errors_kind.nc", PIO_NETCDF4 | PIO_CLASSIC_MODEL, &ncid));
  int number = 0;
  OK(PIOc_inq_format(ncid, &number));
  CHECK(number == PIO_FORMAT_NETCDF4_CLASSIC);
  OK(PIOc_closefile(ncid));
  OK(PIOc_open(iosys, "errors_kind.nc", 0, &ncid));
  OK(PIOc_closefile(ncid));
  OK(PIOc_deletefile(iosys, "errors_kind.nc"));
  GIVES(2, PIOc_deletefile(iosys, "errors_kind.nc"));
}

static void of_definitions(int iosys, const format* f) {
  in_case = f->name;
  int ncid = -1;
  int dimids[3];
  int v[4];
  int value = 0;
  const int classic = is_classic(f);
  OK(create(iosys, f, "errors_definitions.nc", &ncid));
  OK(PIOc_def_dim(ncid, "time", PIO_UNLIMITED, &dimids[0]));
  OK(PIOc_def_dim(ncid, "x", 5, &dimids[1]));
  GIVES(PIO_ENAMEINUSE, PIOc_def_dim(ncid, "x", 6, NULL));
  GIVES(PIO_EDIMSIZE, PIOc_def_dim(ncid, "below", -1, NULL));
  GIVES(PIO_EINVAL, PIOc_def_dim(ncid, NULL, 3, NULL));
  char long_name[PIO_MAX_NAME + 20];
  memset(long_name, 'n', sizeof long_name);
  long_name[sizeof long_name - 1] = '\0';
  GIVES(PIO_EMAXNAME, PIOc_def_dim(ncid, long_name, 3, NULL));
  GIVES(classic ? PIO_EUNLIMIT : PIO_NOERR, PIOc_def_dim(ncid, "more", PIO_UNLIMITED, NULL));
  OK(PIOc_def_var(ncid, "a", PIO_INT, 2, dimids, &v[0]));
  OK(PIOc_def_var(ncid, "b", PIO_INT, 1, &dimids[1], &v[1]));
  GIVES(PIO_ENAMEINUSE, PIOc_def_var(ncid, "a", PIO_INT, 2, dimids, NULL));
  GIVES(PIO_EBADTYPE, PIOc_def_var(ncid, "c", 99, 2, dimids, NULL));
  const int wrong[2] = {99, dimids[1]};
  GIVES(PIO_EBADDIM, PIOc_def_var(ncid, "c", PIO_INT, 2, wrong, NULL));
  const int turned[2] = {dimids[1], dimids[0]};
  GIVES(PIO_EINVAL, PIOc_def_var(ncid, "c", PIO_INT, 2, turned, NULL));
  GIVES(PIO_EMAXDIMS, PIOc_def_var(ncid, "c", PIO_INT, 17, wrong, NULL));
  GIVES(classic ? PIO_ENOTNC4 : PIO_NOERR, PIOc_def_var_deflate(ncid, v[0], 1, 1, 2));
  if (classic) {
    GIVES(PIO_EINDEFINE, PIOc_redef(ncid));
    GIVES(PIO_EINDEFINE, PIOc_put_var_int(ncid, v[1], dimids));
    GIVES(PIO_EINDEFINE, PIOc_get_var_int(ncid, v[1], dimids));
  } else {
    GIVES(PIO_EFILTER, PIOc_def_var_bzip2(ncid, v[1], 5));
    GIVES(PIO_EINVAL, PIOc_def_var_quantize(ncid, v[1], PIO_QUANTIZE_BITGROOM, 3));
    const PIO_Offset chunk[1] = {9};
    GIVES(PIO_EBADCHUNK, PIOc_def_var_chunking(ncid, v[1], PIO_CHUNKED, chunk));
  }
  GIVES(PIO_ENOTVAR, PIOc_put_att_text(ncid, 77, "x", 1, "x"));
  GIVES(PIO_ENOTATT, PIOc_inq_attlen(ncid, v[0], "none", NULL));
  GIVES(PIO_ENOTATT, PIOc_del_att(ncid, v[0], "none"));
  GIVES(PIO_EBADDIM, PIOc_inq_dimid(ncid, "none", &value));
  GIVES(PIO_EBADDIM, PIOc_inq_dimlen(ncid, 77, NULL));
  GIVES(PIO_ENOTVAR, PIOc_inq_varid(ncid, "none", &value));
  GIVES(PIO_ENOTVAR, PIOc_inq_varndims(ncid, 77, &value));
  OK(PIOc_enddef(ncid));
  if (classic) {
    GIVES(PIO_ENOTINDEFINE, PIOc_enddef(ncid));
    GIVES(PIO_ENOTINDEFINE, PIOc_def_dim(ncid, "late", 3, NULL));
    GIVES(PIO_ENOTINDEFINE, PIOc_def_var(ncid, "late", PIO_INT, 1, dimids, NULL));
    GIVES(PIO_ENOTINDEFINE, PIOc_put_att_text(ncid, PIO_GLOBAL, "late", 3, "abc"));
    OK(PIOc_redef(ncid));
    OK(PIOc_put_att_text(ncid, PIO_GLOBAL, "late", 3, "abc"));
    OK(PIOc_enddef(ncid));
    OK(PIOc_put_att_text(ncid, PIO_GLOBAL, "late", 2, "de")); /* no longer than before */
  } else {
    GIVES(PIO_ENOTINDEFINE, PIOc_enddef(ncid));
    GIVES(PIO_ELATEDEF, PIOc_def_var_deflate(ncid, v[0], 1, 1, 3));
    GIVES(PIO_ELATEDEF, PIOc_def_var_chunking(ncid, v[0], PIO_CONTIGUOUS, NULL));
    OK(PIOc_def_var(ncid, "late", PIO_INT, 1, &dimids[1], NULL));
  }

  /* Sections. */
  int numbers[10] = {0};
  const PIO_Offset start[2] = {0, 3};
  const PIO_Offset count[2] = {1, 3};
  const PIO_Offset beyond[2] = {0, 5};
  const PIO_Offset stride[2] = {1, 0};
  GIVES(PIO_EEDGE, PIOc_put_vara_int(ncid, v[0], start, count, numbers));
  GIVES(PIO_EINVALCOORDS, PIOc_put_vara_int(ncid, v[0], beyond, count, numbers));
  GIVES(PIO_EINVALCOORDS, PIOc_put_var1_int(ncid, v[0], beyond, numbers));
  GIVES(PIO_ESTRIDE, PIOc_put_vars_int(ncid, v[0], start, count, stride, numbers));
  GIVES(PIO_EINVALCOORDS, PIOc_get_vara_int(ncid, v[0], start, count, numbers)); /* no record yet */
  GIVES(PIO_ECHAR, PIOc_put_var_text(ncid, v[1], "abc"));
  GIVES(PIO_ENOTVAR, PIOc_put_var_int(ncid, 77, numbers));
  /* One rank alone is wrong in a call in which all take part: they get its error. */
  const int last = my_rank == all_ranks - 1;
  GIVES(PIO_EINVAL, PIOc_get_var_int(ncid, v[1], last ? NULL : numbers));
  GIVES(PIO_ENOTVAR, PIOc_get_var_int(ncid, last ? 77 : v[1], numbers));
  OK(PIOc_closefile(ncid));

  OK(reopen(iosys, f, "errors_definitions.nc", PIO_NOWRITE, &ncid));
  GIVES(PIO_EPERM, PIOc_redef(ncid));
  GIVES(PIO_EPERM, PIOc_def_dim(ncid, "late", 3, NULL));
  GIVES(PIO_EPERM, PIOc_put_att_text(ncid, PIO_GLOBAL, "late", 3, "abc"));
  GIVES(PIO_EPERM, PIOc_put_var_int(ncid, v[1], numbers));
  GIVES(PIO_EPERM, PIOc_set_fill(ncid, PIO_FILL, NULL));
  OK(PIOc_sync(ncid));
  OK(PIOc_closefile(ncid));
}

static void of_arrays(int iosys, const format* f) {
  in_case = f->name;
  const int n = 3 * all_ranks;
  PIO_Offset map[3];
  int values[3];
  for (int i = 0; i < 3; ++i) {
    map[i] = i * all_ranks + my_rank + 1;
    values[i] = (int)map[i];
  }
  int ioid = -1;
  int reading = -1;
  int ncid = -1;
  int dimids[2];
  int v[2];
  OK(PIOc_InitDecomp(iosys, PIO_INT, 1, &n, 3, map, &ioid, NULL, NULL, NULL));
  OK(PIOc_InitDecomp_ReadOnly(iosys, PIO_INT, 1, &n, 3, map, &reading, NULL, NULL, NULL));
  OK(create(iosys, f, "errors_arrays.nc", &ncid));
  OK(PIOc_def_dim(ncid, "x", n, &dimids[0]));
  OK(PIOc_def_dim(ncid, "y", n + 1, &dimids[1]));
  OK(PIOc_def_var(ncid, "a", PIO_INT, 1, &dimids[0], &v[0]));
  OK(PIOc_def_var(ncid, "b", PIO_INT, 1, &dimids[1], &v[1]));
  const int fill = -5;
  OK(PIOc_def_var_fill(ncid, v[0], 0, &fill));
  /* In define mode: the write ends it. */
  OK(PIOc_write_darray(ncid, v[0], ioid, 3, values, NULL));
  if (is_classic(f)) GIVES(PIO_ENOTINDEFINE, PIOc_enddef(ncid));
  GIVES(PIO_EINVAL, PIOc_write_darray(ncid, v[0], reading, 3, values, NULL));
  GIVES(PIO_EINVAL, PIOc_write_darray(ncid, v[1], ioid, 3, values, NULL));
  GIVES(PIO_EBADID, PIOc_write_darray(ncid, v[0], 9999, 3, values, NULL));
  GIVES(PIO_ENOTVAR, PIOc_write_darray(ncid, 99, ioid, 3, values, NULL));
  GIVES(PIO_EBADID, PIOc_read_darray(ncid, v[0], 9999, 3, values));
  const int other_fill = 7;
  GIVES(PIO_EINVAL, PIOc_write_darray(ncid, v[0], ioid, 3, values, &other_fill));
  OK(PIOc_write_darray(ncid, v[0], ioid, 3, values, &fill));
  OK(PIOc_sync(ncid));
  /* Longer arrays: the rest is not looked at. */
  const int longer[5] = {values[0], values[1], values[2], -1, -1};
  OK(PIOc_write_darray(ncid, v[0], ioid, 5, longer, NULL));
  OK(PIOc_sync(ncid));
  /* One rank alone gives too few values, or none: it is told at once, the others at sync. */
  const int at_sync = all_ranks > 1 ? PIO_EINVAL : PIO_NOERR;
  const int last = my_rank == all_ranks - 1;
  GIVES(last ? PIO_EINVAL : PIO_NOERR, PIOc_write_darray(ncid, v[0], ioid, last ? 2 : 3, values, NULL));
  GIVES(at_sync, PIOc_sync(ncid));
  GIVES(last ? PIO_EINVAL : PIO_NOERR, PIOc_write_darray(ncid, v[0], ioid, 3, last ? NULL : values, NULL));
  GIVES(at_sync, PIOc_sync(ncid));
  GIVES(PIO_EINVAL, PIOc_read_darray(ncid, v[0], ioid, last ? 2 : 3, values));
  OK(PIOc_write_darray(ncid, v[0], ioid, 3, longer, NULL));
  OK(PIOc_closefile(ncid));
  OK(reopen(iosys, f, "errors_arrays.nc", PIO_NOWRITE, &ncid));
  int found[3] = {0};
  OK(PIOc_read_darray(ncid, v[0], ioid, 3, found));
  CHECK(found[0] == longer[0] && found[1] == longer[1] && found[2] == longer[2]);
  GIVES(PIO_EPERM, PIOc_write_darray(ncid, v[0], ioid, 3, values, NULL));
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, ioid));
  OK(PIOc_freedecomp(iosys, reading));
}

/* Ranks that define other things are told so, all of them. */
static void of_ranks(int iosys, const format* f) {
  in_case = f->name;
  int ncid = -1;
  int dimid = -1;
  OK(create(iosys, f, "errors_ranks.nc", &ncid));
  GIVES(all_ranks > 1 ? -250 : PIO_NOERR, PIOc_def_dim(ncid, "x", my_rank == all_ranks - 1 ? 4 : 3, &dimid));
  OK(PIOc_def_dim(ncid, "y", 3, &dimid)); /* and go on together */
  OK(PIOc_enddef(ncid));
  OK(PIOc_closefile(ncid));
}

static void of_handlers(int iosys) {
  in_case = "handlers";
  int ncid = -1;
  int before = 0;
  int varid = -1;
  char text[PIO_MAX_NAME + 1];
  CHECK(PIOc_Set_IOSystem_Error_Handling(iosys, PIO_BCAST_ERROR) == PIO_RETURN_ERROR);
  CHECK(PIOc_Set_IOSystem_Error_Handling(iosys, PIO_REDUCE_ERROR) == PIO_BCAST_ERROR);
  GIVES(PIO_EINVAL, PIOc_set_iosystem_error_handling(iosys, -99, NULL));
  OK(PIOc_set_iosystem_error_handling(iosys, PIO_RETURN_ERROR, &before));
  CHECK(before == PIO_REDUCE_ERROR);
  OK(create(iosys, &k_formats[0], "errors_handlers.nc", &ncid));
  CHECK(PIOc_Set_File_Error_Handling(ncid, PIO_BCAST_ERROR) == PIO_RETURN_ERROR);
  GIVES(PIO_ENOTVAR, PIOc_inq_varid(ncid, "no_such", &varid));
  OK(PIOc_strerror(PIO_ENOTVAR, text));
  CHECK(strstr(text, "no_such") != NULL);
  OK(PIOc_strerror(PIO_EBADDIM, text));
  CHECK(strstr(text, "no_such") == NULL && strstr(text, "dimension") != NULL);
  OK(PIOc_strerror(2, text));
  CHECK(strcmp(text, strerror(2)) == 0);
  OK(PIOc_strerror(PIO_NOERR, text));
  OK(PIOc_set_log_level(-1));
  OK(PIOc_closefile(ncid));
}

int main(int argc, char** argv) {
  const int iosys = start(&argc, &argv);
  of_ids(iosys);
  of_files(iosys);
  /* All handlers that give codes give the same ones; of the classic formats one is enough for the others. */
  static const int handlers[] = {PIO_RETURN_ERROR, PIO_BCAST_ERROR, PIO_REDUCE_ERROR};
  for (int h = 0; h < 3; ++h) {
    OK(PIOc_set_iosystem_error_handling(iosys, handlers[h], NULL));
    for (int f = 0; f < k_format_count; f += h == 0 ? 1 : k_format_count - 1) {
      of_definitions(iosys, &k_formats[f]);
      of_arrays(iosys, &k_formats[f]);
      of_ranks(iosys, &k_formats[f]);
    }
  }
  OK(PIOc_set_iosystem_error_handling(iosys, PIO_RETURN_ERROR, NULL));
  of_handlers(iosys);
  OK(PIOc_finalize(iosys));
  return finish("errors");
}
