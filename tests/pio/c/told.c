/* SPDX-License-Identifier: BSD-3-Clause
 * An error is told once, and on all ranks alike. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

static void writes(int iosys, const format* f) {
  in_case = f->name;
  const int n = 4 * all_ranks;
  PIO_Offset map[4];
  int values[4];
  int ioid = -1;
  int ncid = -1;
  int dimid = -1;
  int v = -1;
  for (int i = 0; i < 4; ++i) {
    map[i] = 1 + i * all_ranks + my_rank;
    values[i] = (int)map[i];
  }
  OK(PIOc_InitDecomp(iosys, PIO_INT, 1, &n, 4, map, &ioid, NULL, NULL, NULL));
  OK(create(iosys, f, "told.nc", &ncid));
  OK(PIOc_def_dim(ncid, "x", n, &dimid));
  OK(PIOc_def_var(ncid, "v", PIO_INT, 1, &dimid, &v));
  OK(PIOc_enddef(ncid));
  GIVES(PIO_ENOTINDEFINE, PIOc_enddef(ncid));
  OK(PIOc_write_darray(ncid, v, ioid, 4, values, NULL));
  OK(PIOc_sync(ncid));
  const int last = my_rank == all_ranks - 1;
  /* A write ends define mode on all ranks, or on none, also where a sync came between. */
  if (is_classic(f)) {
    OK(PIOc_redef(ncid));
    OK(PIOc_sync(ncid));
    GIVES(PIO_EBADID, PIOc_write_darray(ncid, v, last ? 7777 : ioid, 4, values, NULL));
    OK(PIOc_def_dim(ncid, "y", 2, &dimid));
    OK(PIOc_enddef(ncid));
  }
  /* All were told: neither sync nor close tells it again. */
  GIVES(PIO_EINVAL, PIOc_write_darray(ncid, v, ioid, 3, values, NULL));
  OK(PIOc_write_darray(ncid, v, ioid, 4, values, NULL));
  OK(PIOc_sync(ncid));
  GIVES(PIO_EINVAL, PIOc_write_darray(ncid, v, ioid, 3, values, NULL));
  OK(PIOc_write_darray(ncid, v, ioid, 4, values, NULL));
  OK(PIOc_set_iosystem_error_handling(iosys, PIO_INTERNAL_ERROR, NULL));
  OK(PIOc_closefile(ncid));
  OK(PIOc_set_iosystem_error_handling(iosys, PIO_RETURN_ERROR, NULL));
  /* One was told: the others are. */
  OK(reopen(iosys, f, "told.nc", PIO_WRITE, &ncid));
  OK(PIOc_write_darray(ncid, v, ioid, 4, values, NULL));
  GIVES(last ? PIO_EINVAL : PIO_NOERR, PIOc_write_darray(ncid, v, ioid, last ? 3 : 4, values, NULL));
  GIVES(all_ranks > 1 ? PIO_EINVAL : PIO_NOERR, PIOc_closefile(ncid));
  OK(reopen(iosys, f, "told.nc", PIO_NOWRITE, &ncid));
  int found[4] = {0};
  OK(PIOc_read_darray(ncid, v, ioid, 4, found));
  CHECK(last || memcmp(found, values, sizeof values) == 0);
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, ioid));
}

static void codes(int iosys) {
  in_case = "codes";
  int ncid = -1;
  int other = -1;
  int dims[9];
  int v = -1;
  OK(create(iosys, &k_formats[3], "told_codes.nc", &ncid));
  GIVES(PIO_EINVAL, create(iosys, &k_formats[3], "told_codes.nc", &other));
  char text[PIO_MAX_NAME + 1] = "";
  OK(PIOc_strerror(PIO_EINVAL, text));
  CHECK(strstr(text, "is open already, with the id") != NULL);
  /* Also one that no folder shows yet. */
  int classic = -1;
  OK(create(iosys, &k_formats[0], "told_classic.nc", &classic));
  OK(PIOc_enddef(classic));
  GIVES(PIO_EINVAL, reopen(iosys, &k_formats[0], "told_classic.nc", PIO_WRITE, &other));
  OK(PIOc_strerror(PIO_EINVAL, text));
  CHECK(strstr(text, "told_classic.nc is open already, with the id") != NULL);
  OK(PIOc_closefile(classic));
  OK(PIOc_def_dim(ncid, "x", 20, &dims[0]));
  OK(PIOc_def_var(ncid, "text", PIO_CHAR, 1, dims, &v));
  const signed char small[1] = {-42};
  const double large[1] = {1e300};
  GIVES(PIO_ERANGE, PIOc_put_att_schar(ncid, v, "small", PIO_UBYTE, 1, small));
  OK(PIOc_strerror(PIO_ERANGE, text));
  CHECK(strstr(text, "'small': -42 (value 1 of 1) does not fit ubyte") != NULL);
  GIVES(PIO_ERANGE, PIOc_put_att_double(ncid, v, "large", PIO_FLOAT, 1, large));
  OK(PIOc_strerror(PIO_ERANGE, text));
  CHECK(strstr(text, "'large': 1e+300 (value 1 of 1) does not fit float") != NULL);
  /* The first rank's values count, and so does what is wrong with them. */
  OK(PIOc_put_att_double(ncid, v, "others", PIO_FLOAT, 1, my_rank == 0 ? (const double[]){1} : large));
  const PIO_Offset at[1] = {0};
  GIVES(PIO_EINVAL, PIOc_put_var1_text(ncid, v, at, NULL));
  /* An id that one rank alone has wrong. */
  const int last = my_rank == all_ranks - 1;
  GIVES(PIO_EBADID, PIOc_sync(last ? 500 : ncid));
  GIVES(PIO_EBADID, PIOc_closefile(last ? 500 : ncid));
  GIVES(PIO_EBADID, PIOc_write_nc_decomp(iosys, "told_map.nc", 0, 7777, NULL, NULL, 0));
  GIVES(PIO_EBADID, PIOc_deletefile(last ? 77 : iosys, "told_none.nc"));
  /* More values than can be counted. */
  for (int i = 0; i < 8; ++i) {
    char name[16];
    snprintf(name, sizeof name, "d%d", i);
    OK(PIOc_def_dim(ncid, name, 2147483647, &dims[i]));
  }
  GIVES(PIO_EVARSIZE, PIOc_def_var(ncid, "huge", PIO_INT, 8, dims, &v));
  OK(PIOc_closefile(ncid));
}

/* One call in place of another, each matched once: then ranks are in step again. */
static void other_calls(int iosys) {
  in_case = "other calls";
  int ncid = -1;
  OK(create(iosys, &k_formats[3], "told_others.nc", &ncid));
  const int last = my_rank == all_ranks - 1;
  for (int wrong = 0; wrong < 2 && all_ranks > 1; ++wrong) {
    GIVES(-250, last ? PIOc_redef(ncid) : PIOc_sync(wrong && my_rank == 0 ? 500 : ncid));
    OK(PIOc_put_att_text(ncid, PIO_GLOBAL, "title", 4, "text"));
  }
  OK(PIOc_closefile(ncid));
}

static void systems(void) {
  in_case = "iosystems";
  bool active = true;
  OK(PIOc_set_iosystem_error_handling(PIO_DEFAULT, PIO_INTERNAL_ERROR, NULL));
  GIVES(PIO_EBADID, PIOc_iosystem_is_active(77, &active));
  OK(PIOc_set_iosystem_error_handling(PIO_DEFAULT, PIO_RETURN_ERROR, NULL));
  CHECK(!active);
  int iosys = -1;
  int count[1] = {all_ranks > 1 ? all_ranks - 1 : 1};
  GIVES(PIO_EINVAL, PIOc_init_async(MPI_COMM_WORLD, 1, NULL, 1, count, NULL, NULL, NULL, 42, &iosys));
}

int main(int argc, char** argv) {
  setenv("SHOAL_WAIT_SECONDS", "20", 0);
  const int iosys = start(&argc, &argv);
  for (int f = 0; f < k_format_count; ++f)
    writes(iosys, &k_formats[f]);
  codes(iosys);
  other_calls(iosys);
  systems();
  OK(PIOc_finalize(iosys));
  return finish("told");
}
