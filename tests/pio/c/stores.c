/* SPDX-License-Identifier: BSD-3-Clause
 * A file whose name ends with .zarr is a store of Zarr, and any where SHOAL_FORMAT is zarr: made with any
 * iotype, opened again and read. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <sys/stat.h>

#include "check.h"

enum { k_columns = 5, k_records = 3 };

static float value(int record, int cell) {
  return (float)(1000 * record + cell);
}

static void check_values(int ncid, int varid, int ioid) {
  float values[k_columns];
  for (int r = 0; r < k_records; ++r) {
    int wrong = 0;
    OK(PIOc_setframe(ncid, varid, r));
    OK(PIOc_read_darray(ncid, varid, ioid, k_columns, values));
    for (int c = 0; c < k_columns; ++c)
      wrong += values[c] != value(r, c * all_ranks + my_rank);
    CHECK(wrong == 0);
  }
}

static void with_store(int iosys, const char* name, const char* ending, int iotype) {
  in_case = name;
  const int made_with = iotype;
  char path[64];
  char inside[80];
  struct stat info;
  snprintf(path, sizeof path, "stores_%s.%s", name, ending);
  snprintf(inside, sizeof inside, "%s/zarr.json", path);
  const int n = k_columns * all_ranks;
  PIO_Offset map[k_columns];
  float values[k_columns];
  int ioid = -1, ncid = -1, varid = -1, dimids[2], found = -1;
  for (int c = 0; c < k_columns; ++c)
    map[c] = c * all_ranks + my_rank + 1;
  OK(PIOc_InitDecomp(iosys, PIO_FLOAT, 1, &n, k_columns, map, &ioid, NULL, NULL, NULL));
  OK(PIOc_createfile(iosys, &ncid, &iotype, path, PIO_CLOBBER));
  OK(PIOc_def_dim(ncid, "time", PIO_UNLIMITED, &dimids[0]));
  OK(PIOc_def_dim(ncid, "column", n, &dimids[1]));
  OK(PIOc_def_var(ncid, "a", PIO_FLOAT, 2, dimids, &varid));
  OK(PIOc_put_att_text(ncid, varid, "units", 1, "m"));
  OK(PIOc_enddef(ncid));
  for (int r = 0; r < k_records; ++r) {
    for (int c = 0; c < k_columns; ++c)
      values[c] = value(r, c * all_ranks + my_rank);
    OK(PIOc_setframe(ncid, varid, r));
    OK(PIOc_write_darray(ncid, varid, ioid, k_columns, values, NULL));
  }
  OK(PIOc_closefile(ncid));
  CHECK(stat(inside, &info) == 0 && S_ISREG(info.st_mode));
  OK(PIOc_openfile2(iosys, &ncid, &iotype, path, PIO_NOWRITE));
  CHECK(iotype == made_with);
  OK(PIOc_inq_varid(ncid, "a", &found));
  check_values(ncid, found, ioid);
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, ioid));
}

int main(int argc, char** argv) {
  int iosys = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &all_ranks);
  OK(PIOc_set_iosystem_error_handling(PIO_DEFAULT, PIO_RETURN_ERROR, NULL));
  OK(PIOc_Init_Intracomm(MPI_COMM_WORLD, all_ranks, 1, 0, PIO_REARR_BOX, &iosys));
  with_store(iosys, "pnetcdf", "zarr", PIO_IOTYPE_PNETCDF);
  with_store(iosys, "netcdf4p", "zarr", PIO_IOTYPE_NETCDF4P);
  setenv("SHOAL_FORMAT", "zarr", 1);
  with_store(iosys, "set", "nc", PIO_IOTYPE_PNETCDF);
  OK(PIOc_free_iosystem(iosys));
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures != 0;
}
