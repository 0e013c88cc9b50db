/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Decompositions: a type and a shared list of cells. All ranks come to the making, also those whose arguments
 * are wrong; the list is agreed on.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* first: the number that programs give the first cell. */
typedef struct request {
  int type, ndims;
  const int* dims;
  int64_t length;
  const PIO_Offset* map;
  PIO_Offset first;
  int rearranger;
  int read_only;
  int wrong; /* what was found wrong before */
} request;

static int check(const request* want, const int* ioidp) {
  if (want->wrong != PIO_NOERR) return want->wrong;
  if (ioidp == NULL) return spio_fail(PIO_EINVAL, "no place for the id");
  if (want->type < PIO_BYTE || want->type > PIO_UINT64)
    return spio_fail(PIO_EBADTYPE, "type %d is none of a decomposition", want->type);
  if (want->ndims < 1 || want->dims == NULL)
    return spio_fail(PIO_EINVAL, "a decomposition of %d dimensions", want->ndims);
  if (want->length < 0 || (want->length > 0 && want->map == NULL))
    return spio_fail(PIO_EINVAL, "a list of %lld cells%s", (long long)want->length,
                     want->map == NULL ? ", and none was given" : "");
  return want->rearranger == 0 ? PIO_NOERR : spio_check_rearranger(want->rearranger);
}

static int make(spio_system* system, const request* want, int* ioidp) {
  if (system->comm == MPI_COMM_NULL)
    return spio_fail(PIO_EINVAL, "this rank is not in the component of the iosystem");
  int code = check(want, ioidp);
  spio_decomp* decomp = NULL;
  int* dims = NULL;
  if (code == PIO_NOERR) {
    decomp = calloc(1, sizeof *decomp);
    dims = malloc((size_t)want->ndims * sizeof *dims);
    if (decomp == NULL || dims == NULL) code = spio_fail(PIO_ENOMEM, "no memory for a decomposition");
  }
  if (code == PIO_NOERR) memcpy(dims, want->dims, (size_t)want->ndims * sizeof *dims);
  const spio_cells cells = {want->length, want->map, want->first};
  spio_list* list = NULL;
  char kind[40];
  snprintf(kind, sizeof kind, "type %d%s", want->type, want->read_only ? ", read only" : "");
  code = spio_take_list(system, kind, want->ndims, want->dims, &cells, code, &list);
  if (code == PIO_NOERR) {
    *decomp = (spio_decomp){.system = system,
                            .type = want->type,
                            .ndims = want->ndims,
                            .dims = dims,
                            .length = want->length,
                            .read_only = want->read_only,
                            .serial = ++system->decomps,
                            .list = list};
    decomp->id = spio_add_decomp(decomp);
    if (decomp->id >= 0) {
      *ioidp = decomp->id;
      return PIO_NOERR;
    }
    code = spio_no_room(decomp->id, "decompositions", PIO_IODESC_MAX_IDS);
    spio_release_list(system, list);
  }
  free(dims);
  free(decomp);
  return code;
}

static int init(const char* call, int iosysid, const request* want, int* ioidp) {
  SPIO_SYSTEM_OF_ALL(call, "InitDecomp", iosysid);
  return spio_end(system, call, make(system, want, ioidp));
}

int PIOc_InitDecomp(int iosysid, int pio_type, int ndims, const int* gdimlen, int maplen,
                    const PIO_Offset* compmap, int* ioidp, const int* rearr, const PIO_Offset* iostart,
                    const PIO_Offset* iocount) {
  (void)iostart;
  (void)iocount;
  const request want = {pio_type, ndims, gdimlen, maplen, compmap, 1, rearr == NULL ? 0 : *rearr, 0, 0};
  return init("PIOc_InitDecomp", iosysid, &want, ioidp);
}

int PIOc_InitDecomp_ReadOnly(int iosysid, int pio_type, int ndims, const int* gdimlen, int maplen,
                             const PIO_Offset* compmap, int* ioidp, const int* rearr,
                             const PIO_Offset* iostart, const PIO_Offset* iocount) {
  (void)iostart;
  (void)iocount;
  const request want = {pio_type, ndims, gdimlen, maplen, compmap, 1, rearr == NULL ? 0 : *rearr, 1, 0};
  return init("PIOc_InitDecomp_ReadOnly", iosysid, &want, ioidp);
}

int PIOc_init_decomp(int iosysid, int pio_type, int ndims, const int* gdimlen, int maplen,
                     const PIO_Offset* compmap, int* ioidp, int rearranger, const PIO_Offset* iostart,
                     const PIO_Offset* iocount) {
  (void)iostart;
  (void)iocount;
  const request want = {pio_type, ndims, gdimlen, maplen, compmap, 0, rearranger, 0, 0};
  return init("PIOc_init_decomp", iosysid, &want, ioidp);
}

int PIOc_init_decomp_ReadOnly(int iosysid, int pio_type, int ndims, const int* gdimlen, int maplen,
                              const PIO_Offset* compmap, int* ioidp, int rearranger,
                              const PIO_Offset* iostart, const PIO_Offset* iocount) {
  (void)iostart;
  (void)iocount;
  const request want = {pio_type, ndims, gdimlen, maplen, compmap, 0, rearranger, 1, 0};
  return init("PIOc_init_decomp_ReadOnly", iosysid, &want, ioidp);
}

/* The cells of a box as a list, from 0. Below 0: a code. */
static int64_t box_list(int ndims, const int* dims, const long* start, const long* count, PIO_Offset** out) {
  if (ndims < 1 || dims == NULL || start == NULL || count == NULL)
    return spio_fail(PIO_EINVAL, "a box needs dimensions, start and count");
  int64_t length = 1;
  for (int i = 0; i < ndims; ++i) {
    if (start[i] < 0 || count[i] < 0 || start[i] > dims[i] - count[i])
      return spio_fail(PIO_EINVAL, "a box of start %ld, count %ld in dimension %d of length %d", start[i],
                       count[i], i, dims[i]);
    if (!spio_multiply(length, count[i], &length))
      return spio_fail(PIO_EINVAL, "a box has more cells than can be counted");
  }
  if (length > INT_MAX)
    return spio_fail(PIO_EINVAL, "a box of %lld cells; 2147483647 are allowed", (long long)length);
  *out = malloc((size_t)(length + 1) * sizeof **out);
  if (*out == NULL) return spio_fail(PIO_ENOMEM, "no memory for a list of %lld cells", (long long)length);
  for (int64_t n = 0; n < length; ++n) {
    int64_t rest = n;
    int64_t cell = 0;
    int64_t step = 1;
    for (int i = ndims - 1; i >= 0; --i) {
      cell += (start[i] + rest % count[i]) * step;
      rest /= count[i];
      step *= dims[i];
    }
    (*out)[n] = (PIO_Offset)cell;
  }
  return length;
}

int PIOc_InitDecomp_bc(int iosysid, int pio_type, int ndims, const int* gdimlen, const long int* start,
                       const long int* count, int* ioidp) {
  PIO_Offset* map = NULL;
  const int64_t length = box_list(ndims, gdimlen, start, count, &map);
  const request want = {
      pio_type, ndims, gdimlen, length < 0 ? 0 : length, map, 0, 0, 0, length < 0 ? (int)length : PIO_NOERR};
  const int code = init("PIOc_InitDecomp_bc", iosysid, &want, ioidp);
  free(map);
  return code;
}

static int free_decomp(spio_system* system, int ioid) {
  spio_decomp* decomp = spio_decomp_of(ioid);
  if (system->comm == MPI_COMM_NULL)
    return spio_fail(PIO_EINVAL, "this rank is not in the component of the iosystem");
  if (decomp != NULL && decomp->system != system) decomp = NULL;
  int code = decomp == NULL ? spio_fail(PIO_EBADID, "no decomposition of the iosystem has the id %d", ioid)
                            : PIO_NOERR;
  code = spio_match(system, "freedecomp", code, "decomposition %d", decomp == NULL ? 0 : decomp->serial);
  if (code != PIO_NOERR) return code;
  spio_remove_decomp(ioid);
  spio_release_list(system, decomp->list);
  free(decomp->dims);
  free(decomp);
  return PIO_NOERR;
}

int PIOc_freedecomp(int iosysid, int ioid) {
  spio_file* file = spio_file_of(iosysid);
  if (file != NULL) {
    const int synced = PIOc_sync(iosysid);
    const int freed = spio_end_file(file, "PIOc_freedecomp", free_decomp(file->system, ioid));
    return synced != PIO_NOERR ? synced : freed;
  }
  SPIO_SYSTEM_OF_ALL("PIOc_freedecomp", "freedecomp", iosysid);
  return spio_end(system, "PIOc_freedecomp", free_decomp(system, ioid));
}

int PIOc_get_local_array_size(int ioid) {
  const spio_decomp* decomp = spio_decomp_of(ioid);
  if (decomp == NULL)
    return spio_end(NULL, "PIOc_get_local_array_size",
                    spio_fail(PIO_EBADID, "no decomposition has the id %d", ioid));
  return decomp->length > INT_MAX ? INT_MAX : (int)decomp->length;
}
