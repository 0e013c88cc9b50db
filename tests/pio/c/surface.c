/* SPDX-License-Identifier: BSD-3-Clause
 * Each function has the signature that surface.inc lists, and is in the library. Constants have PIO's
 * numbers. */
#include <stdio.h>

#include "pio.h"
#include "pio_meta.h"

/* A pointer of another type would be an error of the compiler. */
#define FUNCTION(RETURNS, NAME, ARGUMENTS) static RETURNS(*const at_##NAME) ARGUMENTS = NAME;
#include "surface.inc"
#undef FUNCTION

static const struct {
  const char* name;
  long value, wanted;
} k_numbers[] = {
#define NUMBER(NAME, VALUE) \
  { #NAME, (long)(NAME), VALUE }
    NUMBER(PIO_IOTYPE_PNETCDF, 1),
    NUMBER(PIO_IOTYPE_NETCDF, 2),
    NUMBER(PIO_IOTYPE_NETCDF4C, 3),
    NUMBER(PIO_IOTYPE_NETCDF4P, 4),
    NUMBER(PIO_REARR_BOX, 1),
    NUMBER(PIO_REARR_SUBSET, 2),
    NUMBER(PIO_INTERNAL_ERROR, -51),
    NUMBER(PIO_BCAST_ERROR, -52),
    NUMBER(PIO_RETURN_ERROR, -53),
    NUMBER(PIO_BYTE, 1),
    NUMBER(PIO_CHAR, 2),
    NUMBER(PIO_SHORT, 3),
    NUMBER(PIO_INT, 4),
    NUMBER(PIO_REAL, 5),
    NUMBER(PIO_DOUBLE, 6),
    NUMBER(PIO_UINT64, 11),
    NUMBER(PIO_STRING, 12),
    NUMBER(PIO_GLOBAL, -1),
    NUMBER(PIO_UNLIMITED, 0),
    NUMBER(PIO_WRITE, 1),
    NUMBER(PIO_NOCLOBBER, 4),
    NUMBER(PIO_64BIT_OFFSET, 512),
    NUMBER(PIO_64BIT_DATA, 32),
    NUMBER(PIO_FILL, 0),
    NUMBER(PIO_NOFILL, 256),
    NUMBER(PIO_MAX_NAME, 256),
    NUMBER(PIO_EBADID, -33),
    NUMBER(PIO_EINVAL, -36),
    NUMBER(PIO_ENOTVAR, -49),
    NUMBER(PIO_ENOTATT, -43),
    NUMBER(PIO_EBADDIM, -46),
    NUMBER(PIO_ERANGE, -60),
    NUMBER(PIO_ENOTNC4, -111),
    NUMBER(PIO_EFILTER, -132),
    NUMBER(PIO_EINDEP, -203),
    NUMBER(PIO_EBADIOTYPE, -500),
    NUMBER(NC_GLOBAL, -1),
    NUMBER(NC_NOERR, 0),
    NUMBER(NC_DOUBLE, 6),
};

int main(void) {
  int functions = 0;
  int wrong = 0;
#define FUNCTION(RETURNS, NAME, ARGUMENTS) \
  if (at_##NAME != 0) ++functions;
#include "surface.inc"
#undef FUNCTION
  for (size_t i = 0; i < sizeof k_numbers / sizeof k_numbers[0]; ++i)
    if (k_numbers[i].value != k_numbers[i].wanted) {
      printf("%s is %ld, not %ld\n", k_numbers[i].name, k_numbers[i].value, k_numbers[i].wanted);
      ++wrong;
    }
  printf("%d functions\n", functions);
  return wrong == 0 && functions >= 255 ? 0 : 1;
}
