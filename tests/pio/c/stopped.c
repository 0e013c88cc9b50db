/* SPDX-License-Identifier: BSD-3-Clause
 * The handler that iosystems have at first: a message, and all ranks stop. Never gets to its end. With an
 * argument one rank alone makes the mistake. */
#include "check.h"

int main(int argc, char** argv) {
  int iosys = -1;
  int ncid = -1;
  int varid = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  PIOc_Init_Intracomm(MPI_COMM_WORLD, 1, 1, 0, PIO_REARR_BOX, &iosys);
  create(iosys, &k_formats[2], "stopped.nc", &ncid);
  if (argc < 2 || my_rank == 1) PIOc_inq_varid(ncid, "no_such_variable", &varid);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("not reached\n");
  MPI_Finalize();
  return 0;
}
