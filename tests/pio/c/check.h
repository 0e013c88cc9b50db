/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests of the PIO drop-in in C share: checks that are counted on all ranks, formats, random
 * numbers. A program fails by its exit code.
 */
#ifndef SHOAL_TESTS_PIO_CHECK_H
#define SHOAL_TESTS_PIO_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pio.h"

static int failures;
static int my_rank;
static int all_ranks;
static const char* in_case = "";

static inline void failed(const char* file, int line, const char* what) {
  if (++failures <= 20) fprintf(stderr, "rank %d: %s:%d: %s: %s\n", my_rank, file, line, in_case, what);
}

#define CHECK(CONDITION)                                      \
  do {                                                        \
    if (!(CONDITION)) failed(__FILE__, __LINE__, #CONDITION); \
  } while (0)

static inline int gives(const char* file, int line, const char* call, int code, int wanted) {
  if (code == wanted) return 1;
  char words[PIO_MAX_NAME + 1] = "";
  char text[700];
  PIOc_strerror(code, words);
  snprintf(text, sizeof text, "%s is %d (%s), not %d", call, code, words, wanted);
  failed(file, line, text);
  return 0;
}

#define GIVES(CODE, CALL) gives(__FILE__, __LINE__, #CALL, CALL, CODE)
#define OK(CALL) GIVES(PIO_NOERR, CALL)

typedef struct format {
  const char* name;
  int iotype, mode, number;
} format;

static const format k_formats[] = {{"cdf1", PIO_IOTYPE_NETCDF, 0, PIO_FORMAT_CLASSIC},
                                   {"cdf2", PIO_IOTYPE_PNETCDF, PIO_64BIT_OFFSET, PIO_FORMAT_64BIT_OFFSET},
                                   {"cdf5", PIO_IOTYPE_PNETCDF, PIO_64BIT_DATA, PIO_FORMAT_CDF5},
                                   {"netcdf4", PIO_IOTYPE_NETCDF4P, 0, PIO_FORMAT_NETCDF4}};
enum { k_format_count = 4 };

static inline int is_classic(const format* f) {
  return f->number != PIO_FORMAT_NETCDF4;
}

/* The same numbers on all ranks, of a seed. */
static uint64_t random_state = 1;
static inline uint32_t random_number(uint32_t limit) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(random_state >> 33) % limit;
}

/* Of this run: the environment's TEST_SEED, or any; the same on all ranks. */
static inline unsigned seed_of_run(void) {
  unsigned seed = (unsigned)time(NULL);
  if (getenv("TEST_SEED") != NULL) seed = (unsigned)atoi(getenv("TEST_SEED"));
  MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  return seed;
}

/* An iosystem over all ranks that gives codes back. */
static inline int start(int* argc, char*** argv) {
  int level = 0;
  MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &all_ranks);
  int iosys = -1;
  OK(PIOc_Init_Intracomm(MPI_COMM_WORLD, 1, 1, 0, PIO_REARR_BOX, &iosys));
  OK(PIOc_set_iosystem_error_handling(iosys, PIO_RETURN_ERROR, NULL));
  OK(PIOc_set_iosystem_error_handling(PIO_DEFAULT, PIO_RETURN_ERROR, NULL));
  return iosys;
}

static inline int finish(const char* name) {
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (my_rank == 0) printf("%s: %s\n", name, all == 0 ? "passed" : "FAILED");
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}

static inline int create(int iosys, const format* f, const char* path, int* ncid) {
  const int iotype = f->iotype;
  return PIOc_createfile(iosys, ncid, &iotype, path, PIO_CLOBBER | f->mode);
}

static inline int reopen(int iosys, const format* f, const char* path, int mode, int* ncid) {
  int iotype = f->iotype;
  return PIOc_openfile(iosys, ncid, &iotype, path, mode);
}

#endif
