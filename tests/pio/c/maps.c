/* SPDX-License-Identifier: BSD-3-Clause
 * Lists of cells in files: PIO's text form and its NetCDF form, written and read again; of blocks, levels and
 * columns, which are kept in other forms. */
#include "check.h"

enum { k_rows = 3, k_columns = 4 };

/* Kinds: a box, the same columns at each row, scattered with holes. */
static int make(int kind, PIO_Offset* map) {
  const int width = k_columns * all_ranks;
  int n = 0;
  if (kind == 0)
    for (int row = 0; row < k_rows; ++row)
      for (int c = 0; c < k_columns; ++c)
        map[n++] = row * width + my_rank * k_columns + c + 1;
  if (kind == 1)
    for (int row = 0; row < k_rows; ++row)
      for (int c = 0; c < k_columns - 1; ++c)
        map[n++] = row * width + c * all_ranks + my_rank + 1;
  if (kind == 2 && my_rank != 1)
    for (int c = 0; c < 7; ++c)
      map[n++] = c == 3 ? 0 : c * all_ranks + my_rank + 1;
  if (kind == 3) /* whole rows for every rank but the last */
    for (int c = 0; my_rank < all_ranks - 1 && my_rank < k_rows && c < width; ++c)
      map[n++] = my_rank * width + c + 1;
  return n;
}

static void check_list(int iosys, int ioid, int n, const PIO_Offset* map, const char* path) {
  int ndims = 0;
  int* dims = NULL;
  PIO_Offset length = -1;
  PIO_Offset* list = NULL;
  OK(PIOc_write_decomp(path, iosys, ioid, MPI_COMM_WORLD));
  OK(PIOc_readmap(path, &ndims, &dims, &length, &list, MPI_COMM_WORLD));
  CHECK(ndims == 2 && dims != NULL && dims[0] == k_rows && dims[1] == k_columns * all_ranks && length == n);
  int wrong = 0;
  for (int i = 0; i < n && length == n; ++i)
    wrong += list[i] != map[i];
  CHECK(wrong == 0);
  free(dims);
  free(list);
}

static void one_kind(int iosys, int kind) {
  char name[32];
  snprintf(name, sizeof name, "kind %d", kind);
  in_case = name;
  PIO_Offset map[64 + k_columns * 16];
  const int n = make(kind, map);
  const int dims[2] = {k_rows, k_columns * all_ranks};
  int ioid = -1;
  OK(PIOc_InitDecomp(iosys, PIO_INT, 2, dims, n, map, &ioid, NULL, NULL, NULL));
  check_list(iosys, ioid, n, map, "maps.txt");
  for (int mode = 0; mode < 2; ++mode) {
    int back = -1;
    int order = -1;
    char title[PIO_MAX_NAME + 1] = "";
    char history[PIO_MAX_NAME + 1] = "";
    OK(PIOc_write_nc_decomp(iosys, "maps.nc", mode ? PIO_NETCDF4 : 0, ioid, "a title",
                            mode ? NULL : "a history", mode));
    OK(PIOc_read_nc_decomp(iosys, "maps.nc", &back, MPI_COMM_WORLD, PIO_INT, title, history, &order));
    CHECK(strcmp(title, "a title") == 0 && strcmp(history, mode ? "" : "a history") == 0 && order == mode);
    CHECK(PIOc_get_local_array_size(back) == n);
    check_list(iosys, back, n, map, "maps_back.txt");
    OK(PIOc_freedecomp(iosys, back));
  }
  OK(PIOc_freedecomp(iosys, ioid));
}

static void mistakes(int iosys) {
  in_case = "mistakes";
  int ndims = 0;
  int* dims = NULL;
  PIO_Offset length = 0;
  PIO_Offset* list = NULL;
  int ioid = -1;
  GIVES(2, PIOc_readmap("maps_no_such.txt", &ndims, &dims, &length, &list, MPI_COMM_WORLD));
  GIVES(PIO_EBADID, PIOc_write_decomp("maps.txt", iosys, 7777, MPI_COMM_WORLD));
  GIVES(PIO_EBADID, PIOc_write_nc_decomp(iosys, "maps.nc", 0, 7777, NULL, NULL, 0));
  GIVES(2, PIOc_read_nc_decomp(iosys, "maps_no_such.nc", &ioid, MPI_COMM_WORLD, PIO_INT, NULL, NULL, NULL));
  const PIO_Offset map[1] = {1};
  const int shape[1] = {5};
  GIVES(2, PIOc_writemap("/no/such/folder/maps.txt", 1, shape, 1, map, MPI_COMM_WORLD));
  /* A file that is there stays as it is where a rank has no list. */
  OK(PIOc_writemap("maps_kept.txt", 1, shape, my_rank == 0 ? 1 : 0, map, MPI_COMM_WORLD));
  const PIO_Offset* given = my_rank == all_ranks - 1 ? NULL : map;
  GIVES(PIO_EINVAL, PIOc_writemap("maps_kept.txt", 1, shape, 1, given, MPI_COMM_WORLD));
  OK(PIOc_readmap("maps_kept.txt", &ndims, &dims, &length, &list, MPI_COMM_WORLD));
  CHECK(ndims == 1 && dims != NULL && dims[0] == 5 && length == (my_rank == 0 ? 1 : 0));
  free(dims);
  free(list);
}

int main(int argc, char** argv) {
  const int iosys = start(&argc, &argv);
  for (int kind = 0; kind < 4; ++kind)
    one_kind(iosys, kind);
  mistakes(iosys);
  int base = -1;
  OK(PIOc_Init_Intracomm(MPI_COMM_WORLD, 1, 1, all_ranks - 1, PIO_REARR_BOX, &base));
  PIO_Offset map[64 + k_columns * 16];
  const int n = make(1, map);
  const int dims[2] = {k_rows, k_columns * all_ranks};
  int ioid = -1;
  int back = -1;
  OK(PIOc_InitDecomp(base, PIO_INT, 2, dims, n, map, &ioid, NULL, NULL, NULL));
  OK(PIOc_write_nc_decomp(base, "maps.nc", 0, ioid, NULL, NULL, 0));
  OK(PIOc_read_nc_decomp(iosys, "maps.nc", &back, MPI_COMM_WORLD, PIO_INT, NULL, NULL, NULL));
  check_list(iosys, back, n, map, "maps_back.txt");
  OK(PIOc_finalize(base));
  OK(PIOc_finalize(iosys));
  return finish("maps");
}
