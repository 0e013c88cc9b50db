/* SPDX-License-Identifier: BSD-3-Clause
 * Ranks that give other values: those of the first I/O rank, `base`, go to the file, and all ranks get the
 * same back. */
#include "check.h"

/* Sections whose values are the first rank's; with strides, the number of cells is the same on all ranks. */
static void put_by_parts(int ncid, int base, int varid) {
  const PIO_Offset from[1] = {0};
  const PIO_Offset steps[1] = {2};
  const PIO_Offset two[1] = {2};
  const PIO_Offset all[1] = {4};
  const int last = my_rank == all_ranks - 1;
  const int wrong[4] = {-1, -1, -1, -1};
  const PIO_Offset own[1] = {last ? 1 : 2};
  GIVES(all_ranks > 1 ? -250 : PIO_NOERR, PIOc_put_vars_int(ncid, varid, from, own, steps, wrong));
  OK(PIOc_put_vars_int(ncid, varid, from, two, steps, my_rank == base ? wrong : NULL));
  /* The buffer of a type of MPI. */
  const unsigned long numbers[4] = {(unsigned long)base, (unsigned long)base + 1, (unsigned long)base + 2,
                                    (unsigned long)base + 3};
  const int counts = my_rank == base;
  OK(PIOc_put_varm(ncid, varid, from, all, NULL, NULL, counts ? numbers : NULL, counts ? 4 : 0,
                   MPI_UNSIGNED_LONG));
  GIVES(PIO_EINVAL,
        PIOc_put_varm(ncid, varid, from, all, NULL, NULL, numbers, counts ? 3 : 4, MPI_UNSIGNED_LONG));
  int64_t found[4] = {0};
  OK(PIOc_get_varm(ncid, varid, from, all, NULL, NULL, found, 4, MPI_INT64_T));
  for (int i = 0; i < 4; ++i)
    CHECK(found[i] == base + i);
  GIVES(PIO_EINVAL, PIOc_get_varm(ncid, varid, from, all, NULL, NULL, found, last ? 3 : 4, MPI_INT64_T));
}

static void with_base(int base, const format* f) {
  char name[64];
  snprintf(name, sizeof name, "%s, base %d", f->name, base);
  in_case = name;
  int iosys = -1;
  int ncid = -1;
  int dimid = -1;
  int v[3];
  OK(PIOc_Init_Intracomm(MPI_COMM_WORLD, 1, 1, base, PIO_REARR_SUBSET, &iosys));
  bool io = false;
  int rank = -2;
  int tasks = 0;
  OK(PIOc_iam_iotask(iosys, &io));
  OK(PIOc_iotask_rank(iosys, &rank));
  OK(PIOc_get_numiotasks(iosys, &tasks));
  CHECK(io == (my_rank == base) && rank == (my_rank == base ? 0 : -1) && tasks == 1);

  OK(create(iosys, f, "who_counts.nc", &ncid));
  OK(PIOc_def_dim(ncid, "x", 4, &dimid));
  OK(PIOc_def_var(ncid, "a", PIO_INT, 1, &dimid, &v[0]));
  OK(PIOc_def_var(ncid, "one", PIO_DOUBLE, 0, NULL, &v[1]));
  OK(PIOc_def_var(ncid, "cells", PIO_INT, 1, &dimid, &v[2]));
  /* Attributes of other values and lengths: clocks, host names. */
  char history[64];
  snprintf(history, sizeof history, "made by rank %d%.*s", my_rank, my_rank, "........");
  OK(PIOc_put_att_text(ncid, PIO_GLOBAL, "history", (PIO_Offset)strlen(history), history));
  const int numbers[2] = {my_rank, 100 + my_rank};
  OK(PIOc_put_att_int(ncid, v[0], "numbers", PIO_INT, 2, numbers));
  OK(PIOc_put_att_int(ncid, v[0], "nothing", PIO_INT, 2, my_rank == base ? numbers : NULL));
  /* One value is a fill value: of the first rank, whatever others give. */
  const short fills[2] = {-7, -8};
  const int counts = my_rank == base;
  GIVES(PIO_EINVAL, PIOc_put_att_short(ncid, v[0], "_FillValue", PIO_INT, counts ? 2 : 1, fills));
  OK(PIOc_put_att_short(ncid, v[0], "_FillValue", PIO_INT, counts ? 1 : 2, fills));
  OK(PIOc_put_att_short(ncid, v[2], "_FillValue", PIO_INT, counts ? 1 : 0, counts ? fills : NULL));
  OK(PIOc_enddef(ncid));
  const int values[4] = {my_rank, my_rank + 1, my_rank + 2, my_rank + 3};
  const double one = 0.5 + my_rank;
  OK(PIOc_put_var_int(ncid, v[0], values));
  OK(PIOc_put_var_double(ncid, v[1], my_rank == base ? &one : NULL));
  put_by_parts(ncid, base, v[0]);
  /* Cells that all ranks have: any of them is right, all get the same. */
  const int n = 4;
  const PIO_Offset map[4] = {1, 2, 3, 4};
  int ioid = -1;
  OK(PIOc_InitDecomp(iosys, PIO_INT, 1, &n, 4, map, &ioid, NULL, NULL, NULL));
  OK(PIOc_write_darray(ncid, v[2], ioid, 4, values, NULL));
  OK(PIOc_closefile(ncid));

  OK(reopen(iosys, f, "who_counts.nc", PIO_NOWRITE, &ncid));
  int found[4] = {-1, -1, -1, -1};
  double found_one = 0;
  OK(PIOc_get_var_int(ncid, v[0], found));
  for (int i = 0; i < 4; ++i)
    CHECK(found[i] == base + i);
  OK(PIOc_get_var_double(ncid, v[1], &found_one));
  CHECK(found_one == 0.5 + base);
  OK(PIOc_get_var_int(ncid, v[2], found));
  for (int i = 0; i < 4; ++i)
    CHECK(found[i] == base + i);
  PIO_Offset length = 0;
  char text[64] = "";
  char expected[64];
  snprintf(expected, sizeof expected, "made by rank %d%.*s", base, base, "........");
  OK(PIOc_inq_attlen(ncid, PIO_GLOBAL, "history", &length));
  CHECK(length == (PIO_Offset)strlen(expected));
  OK(PIOc_get_att_text(ncid, PIO_GLOBAL, "history", text));
  CHECK(strcmp(text, expected) == 0);
  OK(PIOc_get_att_int(ncid, v[0], "numbers", found));
  CHECK(found[0] == base && found[1] == 100 + base);
  OK(PIOc_get_att_int(ncid, v[0], "nothing", found));
  CHECK(found[0] == base && found[1] == 100 + base);
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, ioid));
  OK(PIOc_finalize(iosys));
}

static void tasks(void) {
  in_case = "I/O ranks";
  int iosys = -1;
  GIVES(PIO_EINVAL, PIOc_Init_Intracomm(MPI_COMM_WORLD, 0, 1, 0, PIO_REARR_BOX, &iosys));
  GIVES(PIO_EINVAL, PIOc_Init_Intracomm(MPI_COMM_WORLD, all_ranks + 1, 1, 0, PIO_REARR_BOX, &iosys));
  GIVES(PIO_EINVAL, PIOc_Init_Intracomm(MPI_COMM_WORLD, 1, all_ranks + 1, 0, PIO_REARR_BOX, &iosys));
  GIVES(PIO_EINVAL, PIOc_Init_Intracomm(MPI_COMM_WORLD, 1, 1, all_ranks, PIO_REARR_BOX, &iosys));
  GIVES(PIO_EINVAL, PIOc_Init_Intracomm(MPI_COMM_WORLD, 1, 1, 0, 99, &iosys));
  GIVES(PIO_EINVAL, PIOc_Init_Intracomm(MPI_COMM_WORLD, my_rank == 0 ? 0 : 1, 1, 0, PIO_REARR_BOX, &iosys));
  /* (base + i * stride) mod ranks. */
  const int stride = all_ranks >= 4 ? 2 : 1;
  const int count = all_ranks / stride;
  const int base = all_ranks - 1;
  OK(PIOc_Init_Intracomm(MPI_COMM_WORLD, count, stride, base, PIO_REARR_BOX, &iosys));
  int expected = -1;
  for (int i = 0; i < count; ++i)
    if ((base + i * stride) % all_ranks == my_rank) expected = i;
  int rank = -2;
  bool active = false;
  OK(PIOc_iotask_rank(iosys, &rank));
  OK(PIOc_iosystem_is_active(iosys, &active));
  CHECK(rank == expected && active);
  OK(PIOc_set_rearr_opts(iosys, PIO_REARR_COMM_P2P, PIO_REARR_COMM_FC_2D_ENABLE, true, true, 64, true, false,
                         -1));
  GIVES(PIO_EINVAL, PIOc_set_rearr_opts(iosys, 9, 0, true, true, 64, true, false, 64));
  /* Files of two iosystems at once. */
  int other = -1;
  int ncid[2];
  OK(PIOc_Init_Intracomm(MPI_COMM_SELF, 1, 1, 0, PIO_REARR_BOX, &other));
  char path[32];
  snprintf(path, sizeof path, "who_alone_%d.nc", my_rank);
  OK(create(iosys, &k_formats[0], "who_all.nc", &ncid[0]));
  OK(create(other, &k_formats[3], path, &ncid[1]));
  CHECK(ncid[0] != ncid[1] && PIOc_File_is_Open(ncid[0]) && PIOc_File_is_Open(ncid[1]));
  OK(PIOc_finalize(other)); /* closes its file */
  CHECK(!PIOc_File_is_Open(ncid[1]));
  OK(PIOc_closefile(ncid[0]));
  OK(PIOc_finalize(iosys));
  GIVES(PIO_EBADID, PIOc_finalize(iosys));
}

int main(int argc, char** argv) {
  const int iosys = start(&argc, &argv);
  for (int f = 0; f < k_format_count; ++f)
    for (int base = 0; base < all_ranks && base < 4; base += base == 0 ? 1 : 2)
      with_base(base, &k_formats[f]);
  tasks();
  OK(PIOc_finalize(iosys));
  return finish("who_counts");
}
