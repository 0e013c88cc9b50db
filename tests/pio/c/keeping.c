/* SPDX-License-Identifier: BSD-3-Clause
 * Tiles that come one after the other, into a file that has values: cells that nobody owns get the fill value
 * in each write; with SHOAL_FILL=false they keep what the file has. */
#include "check.h"

enum { k_rows = 6 };

static void tiles(int iosys, const format* f, int keeps) {
  in_case = f->name;
  const int n = k_rows * all_ranks;
  int ncid = -1;
  int dimid = -1;
  int varid = -1;
  int ioid = -1;
  PIO_Offset map[k_rows];
  int values[k_rows];
  for (int i = 0; i < k_rows; ++i) {
    map[i] = my_rank * k_rows + i + 1;
    values[i] = 7;
  }
  OK(create(iosys, f, "keeping.nc", &ncid));
  OK(PIOc_def_dim(ncid, "x", n, &dimid));
  OK(PIOc_def_var(ncid, "v", PIO_INT, 1, &dimid, &varid));
  OK(PIOc_enddef(ncid));
  OK(PIOc_InitDecomp(iosys, PIO_INT, 1, &n, k_rows, map, &ioid, NULL, NULL, NULL));
  OK(PIOc_write_darray(ncid, varid, ioid, k_rows, values, NULL));
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, ioid));
  /* A tile that is missing, then holes in the others: once as boxes, once as a list. */
  for (int part = 0; part < 2; ++part) {
    const int cells = part == 0 ? (my_rank == all_ranks - 1 ? 0 : k_rows) : k_rows / 2;
    for (int i = 0; i < cells; ++i) {
      map[i] = my_rank * k_rows + (part == 0 ? i : 2 * i) + 1;
      values[i] = 100 * (part + 1) + my_rank;
    }
    OK(reopen(iosys, f, "keeping.nc", PIO_WRITE, &ncid));
    OK(PIOc_InitDecomp(iosys, PIO_INT, 1, &n, cells, map, &ioid, NULL, NULL, NULL));
    OK(PIOc_write_darray(ncid, varid, ioid, cells, values, NULL));
    OK(PIOc_closefile(ncid));
    OK(PIOc_freedecomp(iosys, ioid));
    int* found = calloc((size_t)n, sizeof *found);
    OK(reopen(iosys, f, "keeping.nc", PIO_NOWRITE, &ncid));
    OK(PIOc_get_var_int(ncid, varid, found));
    OK(PIOc_closefile(ncid));
    for (int c = 0; c < n; ++c) {
      const int rank = c / k_rows;
      const int before = part == 0 || rank == all_ranks - 1 ? 7 : 100 + rank;
      const int written = part == 0 ? rank < all_ranks - 1 : c % k_rows % 2 == 0;
      CHECK(found[c] == (written ? 100 * (part + 1) + rank : keeps ? before : PIO_FILL_INT));
    }
    free(found);
  }
}

int main(int argc, char** argv) {
  const int iosys = start(&argc, &argv);
  const char* fill = getenv("SHOAL_FILL");
  for (int f = 0; f < k_format_count; ++f)
    tiles(iosys, &k_formats[f], fill != NULL && strcmp(fill, "false") == 0);
  OK(PIOc_finalize(iosys));
  return finish("keeping");
}
