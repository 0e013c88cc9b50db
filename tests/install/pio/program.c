/* SPDX-License-Identifier: BSD-3-Clause
 * A program that knows PIO alone. */
#include <pio.h>
#include <pio_meta.h>

int main(int argc, char** argv) {
  int rank = 0;
  int ranks = 0;
  int iosys = 0;
  int ioid = 0;
  int ncid = 0;
  int dimid = 0;
  int varid = 0;
  int iotype = PIO_IOTYPE_PNETCDF;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const PIO_Offset cell[1] = {rank + 1};
  const double value = 10.0 * rank;
  PIOc_Init_Intracomm(MPI_COMM_WORLD, 1, 1, 0, PIO_REARR_BOX, &iosys);
  PIOc_InitDecomp(iosys, PIO_DOUBLE, 1, &ranks, 1, cell, &ioid, NULL, NULL, NULL);
  PIOc_createfile(iosys, &ncid, &iotype, "program_pio.nc", PIO_CLOBBER);
  PIOc_def_dim(ncid, "x", ranks, &dimid);
  PIOc_def_var(ncid, "a", PIO_DOUBLE, 1, &dimid, &varid);
  PIOc_enddef(ncid);
  PIOc_write_darray(ncid, varid, ioid, 1, &value, NULL);
  PIOc_closefile(ncid);
  double found = -1;
  PIOc_openfile(iosys, &ncid, &iotype, "program_pio.nc", PIO_NOWRITE);
  PIOc_read_darray(ncid, varid, ioid, 1, &found);
  PIOc_closefile(ncid);
  PIOc_freedecomp(iosys, ioid);
  PIOc_finalize(iosys);
  if (rank == 0) printf("PIO %s in C: %s\n", PIO_VERSION, found == value ? "right" : "wrong");
  MPI_Finalize();
  return found == value ? 0 : 1;
}
