/* SPDX-License-Identifier: BSD-3-Clause
 * Definitions in a file without free space behind its header, as other programs make them: the data move. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

enum { k_cells = 3000 };

/* This rank's cells, every so many of all. */
static int own_cells(PIO_Offset* map) {
  int n = 0;
  for (int cell = my_rank; cell < k_cells; cell += all_ranks)
    map[n++] = cell + 1;
  return n;
}

static void write_frame(int ncid, int var, int ioid, const PIO_Offset* map, int n, int frame) {
  static int values[k_cells];
  for (int i = 0; i < n; ++i)
    values[i] = 10000 * frame + (int)map[i];
  OK(PIOc_setframe(ncid, var, frame));
  OK(PIOc_write_darray(ncid, var, ioid, n, values, NULL));
}

static void check_frame(int ncid, int var, int ioid, const PIO_Offset* map, int n, int frame) {
  static int values[k_cells];
  OK(PIOc_setframe(ncid, var, frame));
  OK(PIOc_read_darray(ncid, var, ioid, n, values));
  for (int i = 0; i < n; ++i)
    CHECK(values[i] == 10000 * frame + (int)map[i]);
}

static void redefine(int iosys, const format* f) {
  static PIO_Offset map[k_cells];
  const int n = own_cells(map);
  const int shape[1] = {k_cells};
  const char* const path = "pio_growth.nc";
  int ioid = -1, ncid = -1, var = -1, late = -1, iotype = f->iotype;
  int dims[2] = {-1, -1};
  in_case = f->name;
  OK(PIOc_InitDecomp(iosys, PIO_INT, 1, shape, n, map, &ioid, NULL, NULL, NULL));
  OK(PIOc_createfile(iosys, &ncid, &iotype, path, f->mode));
  OK(PIOc_def_dim(ncid, "time", PIO_UNLIMITED, &dims[0]));
  OK(PIOc_def_dim(ncid, "x", k_cells, &dims[1]));
  OK(PIOc_def_var(ncid, "temp", PIO_INT, 2, dims, &var));
  OK(PIOc_enddef(ncid));
  for (int frame = 0; frame < 2; ++frame)
    write_frame(ncid, var, ioid, map, n, frame);
  OK(PIOc_closefile(ncid));

  OK(PIOc_openfile(iosys, &ncid, &iotype, path, PIO_WRITE));
  OK(PIOc_inq_varid(ncid, "temp", &var));
  OK(PIOc_redef(ncid));
  OK(PIOc_put_att_text(ncid, PIO_GLOBAL, "note", 4, "text"));
  OK(PIOc_enddef(ncid));
  check_frame(ncid, var, ioid, map, n, 1);
  OK(PIOc_redef(ncid));
  OK(PIOc_rename_var(ncid, var, "temperature_of_the_water_of_the_sea"));
  OK(PIOc_rename_dim(ncid, dims[1], "number_of_the_cell_from_one_on"));
  OK(PIOc_def_var(ncid, "late", PIO_INT, 2, dims, &late));
  OK(PIOc_enddef(ncid));
  write_frame(ncid, late, ioid, map, n, 1);
  write_frame(ncid, var, ioid, map, n, 2);
  OK(PIOc_closefile(ncid));

  char text[5] = "";
  OK(PIOc_openfile(iosys, &ncid, &iotype, path, PIO_NOWRITE));
  OK(PIOc_inq_varid(ncid, "temperature_of_the_water_of_the_sea", &var));
  OK(PIOc_inq_varid(ncid, "late", &late));
  for (int frame = 0; frame < 3; ++frame)
    check_frame(ncid, var, ioid, map, n, frame);
  check_frame(ncid, late, ioid, map, n, 1);
  OK(PIOc_get_att_text(ncid, PIO_GLOBAL, "note", text));
  CHECK(strcmp(text, "text") == 0);
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, ioid));
}

int main(int argc, char** argv) {
  setenv("SHOAL_HEADER_RESERVE", "0", 1);
  setenv("SHOAL_ALIGNMENT", "4", 1);
  const int iosys = start(&argc, &argv);
  for (int f = 0; f < k_format_count; ++f)
    if (is_classic(&k_formats[f])) redefine(iosys, &k_formats[f]);
  OK(PIOc_finalize(iosys));
  return finish("growth");
}
