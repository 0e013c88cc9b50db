/* SPDX-License-Identifier: BSD-3-Clause
 * A file of another program with an unlimited dimension that is not a variable's first one: it opens, and
 * what it has can be asked for; that variable alone is refused when it is used. Made of ../unlimited.cdl. */
#include "check.h"

int main(int argc, char** argv) {
  const int iosys = start(&argc, &argv);
  int ncid = -1;
  int iotype = PIO_IOTYPE_NETCDF4P;
  int first = -1;
  int last = -1;
  int fixed = -1;
  int dimids[2] = {-1, -1};
  int numbers[3] = {0};
  OK(PIOc_openfile(iosys, &ncid, &iotype, "unlimited.nc", PIO_WRITE));
  OK(PIOc_inq_varid(ncid, "first", &first));
  OK(PIOc_inq_varid(ncid, "last", &last));
  OK(PIOc_inq_varid(ncid, "fixed", &fixed));
  OK(PIOc_inq_vardimid(ncid, last, dimids));
  int unlimited = -1;
  OK(PIOc_inq_unlimdim(ncid, &unlimited));
  CHECK(dimids[1] == unlimited && dimids[0] != unlimited);
  OK(PIOc_get_var_int(ncid, first, numbers));
  CHECK(numbers[0] == 1 && numbers[2] == 3);
  OK(PIOc_get_var_int(ncid, fixed, numbers));
  CHECK(numbers[0] == 7 && numbers[2] == 9);
  GIVES(PIO_EINVAL, PIOc_get_var_int(ncid, last, numbers));
  GIVES(PIO_EINVAL, PIOc_put_var_int(ncid, last, numbers));

  const int dims[2] = {3, 1};
  const PIO_Offset map[3] = {1, 2, 3};
  const int length = my_rank == 0 ? 3 : 0;
  int ioid = -1;
  OK(PIOc_InitDecomp(iosys, PIO_INT, 2, dims, length, map, &ioid, NULL, NULL, NULL));
  GIVES(PIO_EINVAL, PIOc_write_darray(ncid, last, ioid, length, numbers, NULL));
  GIVES(PIO_EINVAL, PIOc_read_darray(ncid, last, ioid, length, numbers));
  OK(PIOc_freedecomp(iosys, ioid));
  OK(PIOc_closefile(ncid));
  OK(PIOc_finalize(iosys));
  return finish("unlimited");
}
