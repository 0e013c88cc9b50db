/* SPDX-License-Identifier: BSD-3-Clause
 * What is known of a variable and a decomposition after they met is forgotten where it may have changed:
 * fill values, names, definitions, another decomposition, a frame that is given or not. */
#include "check.h"

static int decomposition(int iosys, int ndims, const int* dims) {
  const PIO_Offset map[1] = {my_rank + 1};
  int ioid = -1;
  OK(PIOc_InitDecomp(iosys, PIO_INT, ndims, dims, 1, map, &ioid, NULL, NULL, NULL));
  return ioid;
}

static void check_cells(int ncid, int varid, int first) {
  int* found = calloc((size_t)all_ranks, sizeof *found);
  int wrong = 0;
  OK(PIOc_get_var_int(ncid, varid, found));
  for (int r = 0; r < all_ranks; ++r)
    wrong += found[r] != first + r;
  CHECK(wrong == 0);
  free(found);
}

/* The fill value that a call gives must be the variable's, as it is now. */
static void fill_values(int iosys, const format* f) {
  in_case = f->name;
  const int n = all_ranks;
  const int fills[4] = {-1, -2, -3, PIO_FILL_INT};
  const int value = 10 + my_rank;
  const int again = 20 + my_rank;
  const int ioid = decomposition(iosys, 1, &n);
  int ncid = -1;
  int dimid = -1;
  int v[2] = {-1, -1};
  OK(create(iosys, f, "pairs_fill.nc", &ncid));
  OK(PIOc_def_dim(ncid, "x", n, &dimid));
  OK(PIOc_def_var(ncid, "v", PIO_INT, 1, &dimid, &v[0]));
  OK(PIOc_def_var(ncid, "w", PIO_INT, 1, &dimid, &v[1]));
  /* Writes that are refused end no definitions. */
  OK(PIOc_def_var_fill(ncid, v[0], 0, &fills[0]));
  GIVES(PIO_EINVAL, PIOc_write_darray(ncid, v[0], ioid, 1, &value, &fills[1]));
  OK(PIOc_def_var_fill(ncid, v[0], 0, &fills[1]));
  GIVES(PIO_EINVAL, PIOc_write_darray(ncid, v[0], ioid, 1, &value, &fills[0]));
  GIVES(PIO_EINVAL, PIOc_write_darray(ncid, v[0], ioid, 1, &value, &fills[2]));
  OK(PIOc_put_att_int(ncid, v[0], "_FillValue", PIO_INT, 1, &fills[2]));
  GIVES(PIO_EINVAL, PIOc_write_darray(ncid, v[0], ioid, 1, &value, &fills[1]));
  OK(PIOc_write_darray(ncid, v[0], ioid, 1, &value, &fills[2]));
  check_cells(ncid, v[0], 10);
  /* In no-fill mode any counts that no definition stands against. */
  OK(PIOc_write_darray(ncid, v[1], ioid, 1, &value, &fills[0]));
  OK(PIOc_set_fill(ncid, PIO_FILL, NULL));
  const int strict = PIOc_write_darray(ncid, v[1], ioid, 1, &value, &fills[1]);
  OK(PIOc_set_fill(ncid, PIO_NOFILL, NULL));
  OK(PIOc_write_darray(ncid, v[1], ioid, 1, &value, &fills[1]));
  OK(PIOc_set_fill(ncid, PIO_FILL, NULL));
  GIVES(strict, PIOc_write_darray(ncid, v[1], ioid, 1, &value, &fills[1]));
  /* A name is not what it hangs on, and neither is a commit. */
  OK(PIOc_redef(ncid));
  OK(PIOc_rename_var(ncid, v[0], "w2"));
  OK(PIOc_rename_var(ncid, v[1], "v"));
  OK(PIOc_enddef(ncid));
  OK(PIOc_sync(ncid));
  OK(PIOc_write_darray(ncid, v[0], ioid, 1, &again, &fills[2]));
  GIVES(PIO_EINVAL, PIOc_write_darray(ncid, v[0], ioid, 1, &value, &fills[3]));
  check_cells(ncid, v[0], 20);
  check_cells(ncid, v[1], 10);
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, ioid));
}

/* One variable, several decompositions, frames that are given or not, and definitions in between. */
static void decompositions(int iosys, const format* f) {
  in_case = f->name;
  const int n = all_ranks;
  const int shapes[3][2] = {{n, 1}, {1, n}, {n + 1, 1}};
  int ioids[3];
  int ncid = -1;
  int dimids[2];
  int v[9];
  for (int i = 0; i < 3; ++i)
    ioids[i] = decomposition(iosys, i == 1 ? 2 : 1, shapes[i]);
  const int both[2] = {2, n};
  const PIO_Offset columns[2] = {my_rank + 1, n + my_rank + 1};
  int whole = -1;
  OK(PIOc_InitDecomp(iosys, PIO_INT, 2, both, 2, columns, &whole, NULL, NULL, NULL));
  OK(create(iosys, f, "pairs_lists.nc", &ncid));
  OK(PIOc_def_dim(ncid, "layer", 2, &dimids[0]));
  OK(PIOc_def_dim(ncid, "x", n, &dimids[1]));
  OK(PIOc_def_var(ncid, "v", PIO_INT, 2, dimids, &v[0]));
  OK(PIOc_enddef(ncid));
  for (int round = 0; round < 8; ++round) { /* a new variable each round: there must be room for more */
    int value = 100 * round + my_rank;
    char name[16];
    const int values[2] = {value + 7, value + 50};
    OK(PIOc_setframe(ncid, v[0], 0));
    OK(PIOc_write_darray(ncid, v[0], whole, 2, values, NULL));
    OK(PIOc_write_darray(ncid, v[0], ioids[0], 1, &value, NULL));
    if (round % 2 == 0) {
      OK(PIOc_write_darray(ncid, v[0], whole, 2, values, NULL));
      OK(PIOc_write_darray(ncid, v[0], ioids[0], 1, &value, NULL));
    }
    GIVES(PIO_EINVAL, PIOc_write_darray(ncid, v[0], ioids[2], 1, &value, NULL));
    OK(PIOc_setframe(ncid, v[0], 1));
    value += 50;
    OK(PIOc_write_darray(ncid, v[0], ioids[1], 1, &value, NULL));
    OK(PIOc_setframe(ncid, v[0], -1));
    GIVES(PIO_EINVAL, PIOc_write_darray(ncid, v[0], ioids[1], 1, &value, NULL));
    GIVES(PIO_EINVAL, PIOc_write_darray(ncid, v[0], ioids[0], 1, &value, NULL));
    for (int layer = 0; layer < 2; ++layer) {
      const PIO_Offset at[2] = {layer, n - 1};
      int found = -1;
      OK(PIOc_get_var1_int(ncid, v[0], at, &found));
      CHECK(found == 100 * round + 50 * layer + n - 1);
    }
    OK(PIOc_freedecomp(iosys, ioids[1]));
    ioids[1] = decomposition(iosys, 2, shapes[1]);
    OK(PIOc_redef(ncid));
    snprintf(name, sizeof name, "v%d", round);
    OK(PIOc_def_var(ncid, name, PIO_INT, 1, &dimids[1], &v[round + 1]));
    OK(PIOc_enddef(ncid));
    OK(PIOc_write_darray(ncid, v[round + 1], ioids[0], 1, &value, NULL));
    check_cells(ncid, v[round + 1], 100 * round + 50);
  }
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, whole));
  for (int i = 0; i < 3; ++i)
    OK(PIOc_freedecomp(iosys, ioids[i]));
}

int main(int argc, char** argv) {
  const int iosys = start(&argc, &argv);
  for (int i = 0; i < k_format_count; ++i) {
    fill_values(iosys, &k_formats[i]);
    decompositions(iosys, &k_formats[i]);
  }
  OK(PIOc_free_iosystem(iosys));
  return finish("pairs");
}
