/* SPDX-License-Identifier: BSD-3-Clause
 * Lists of cells of every kind against an array in memory: holes, a cell twice, ranks without cells, all
 * cells on all ranks, boxes, levels, columns; written, read whole, and read again by other lists. */
#include "check.h"

enum { k_most = 6000 };

typedef struct list {
  int ndims, dims[3];
  int length;
  PIO_Offset map[k_most]; /* from 1, 0: a hole */
} list;

static int cells_of(const list* l) {
  int cells = 1;
  for (int i = 0; i < l->ndims; ++i)
    cells *= l->dims[i];
  return cells;
}

static double value_of(int rank, int element) {
  return 1000. * (rank + 1) + 0.25 * element;
}

/* Kinds of lists; which element of which rank a cell has at the end comes from all lists. */
enum { k_random, k_repeated, k_all_everywhere, k_box, k_levels, k_tails, k_round_robin, k_kinds };

static void make(int kind, int rank, list* l) {
  l->ndims = kind == k_round_robin ? 1 : 2 + (int)random_number(2);
  int cells = 1;
  for (int i = 0; i < l->ndims; ++i)
    cells *= l->dims[i] = kind == k_round_robin ? 500 : 2 + (int)random_number(10);
  l->length = 0;
  const int plane = cells / l->dims[0];
  const int tail = l->dims[l->ndims - 1];
  switch (kind) {
    case k_random: /* each cell has an owner or none; holes between */
    case k_repeated:
      for (int c = 0; c < cells; ++c) {
        const int owner = (int)random_number((uint32_t)all_ranks + 1);
        const int hole = random_number(5) == 0;
        if (owner == rank && rank != 1) l->map[l->length++] = c + 1;
        if (hole && rank == owner) l->map[l->length++] = 0;
        if (kind == k_repeated && random_number(4) == 0 && (int)random_number((uint32_t)all_ranks) == rank)
          l->map[l->length++] = c + 1;
      }
      for (int n = l->length - 1; n > 0; --n) { /* in no order */
        const int m = (n * 7919 + 13) % (n + 1);
        const PIO_Offset kept = l->map[n];
        l->map[n] = l->map[m];
        l->map[m] = kept;
      }
      break;
    case k_all_everywhere:
      for (int c = 0; c < cells; ++c)
        l->map[l->length++] = c + 1;
      break;
    case k_box: { /* rows of the first dimension, cut evenly: some ranks may have none */
      const int from = l->dims[0] * rank / all_ranks;
      const int to = l->dims[0] * (rank + 1) / all_ranks;
      for (int c = from * plane; c < to * plane; ++c)
        l->map[l->length++] = c + 1;
      break;
    }
    case k_levels: /* every all_ranks-th column, with a hole, at all levels */
      for (int level = 0; level < l->dims[0]; ++level) {
        for (int c = rank; c < plane; c += all_ranks)
          l->map[l->length++] = level * plane + c + 1;
        l->map[l->length++] = 0;
      }
      break;
    case k_tails: /* whole last dimensions, backwards */
      for (int c = cells / tail - 1 - rank; c >= 0; c -= all_ranks)
        for (int t = 0; t < tail; ++t)
          l->map[l->length++] = c * tail + t + 1;
      break;
    default:
      for (int c = rank; c < cells; c += all_ranks)
        l->map[l->length++] = c + 1;
  }
}

/* What each cell must hold: the last value of the lowest rank that has it, else the fill value. */
static void expect(int kind, uint64_t seed, double fill, double* out) {
  static list l;
  for (int rank = all_ranks - 1; rank >= 0; --rank) {
    random_state = seed;
    make(kind, rank, &l);
    if (rank == all_ranks - 1)
      for (int c = 0; c < cells_of(&l); ++c)
        out[c] = fill;
    for (int n = 0; n < l.length; ++n)
      if (l.map[n] > 0) out[l.map[n] - 1] = value_of(rank, n);
  }
}

static list own;

static void one_list(int iosys, const format* f, int kind, unsigned seed) {
  static double array[k_most], expected[k_most], found[k_most];
  const uint64_t state = UINT64_C(977) * seed + (unsigned)kind;
  char path[64];
  char name[96];
  snprintf(path, sizeof path, "lists_%s_%d.nc", f->name, kind);
  snprintf(name, sizeof name, "%s, kind %d, TEST_SEED=%u", f->name, kind, seed);
  in_case = name;
  random_state = state;
  make(kind, my_rank, &own);
  expect(kind, state, PIO_FILL_DOUBLE, expected);
  for (int n = 0; n < own.length; ++n)
    array[n] = own.map[n] > 0 ? value_of(my_rank, n) : -1e30; /* a hole is not looked at */

  int ioid = -1;
  int ncid = -1;
  int dimids[4];
  int var = -1;
  int of_records = -1;
  if (!OK(PIOc_InitDecomp(iosys, PIO_DOUBLE, own.ndims, own.dims, own.length, own.map, &ioid, NULL, NULL,
                          NULL)))
    return;
  CHECK(PIOc_get_local_array_size(ioid) == own.length);
  OK(create(iosys, f, path, &ncid));
  OK(PIOc_def_dim(ncid, "time", PIO_UNLIMITED, &dimids[0]));
  static const char* const names[] = {"a", "b", "c"};
  for (int i = 0; i < own.ndims; ++i)
    OK(PIOc_def_dim(ncid, names[i], own.dims[i], &dimids[i + 1]));
  OK(PIOc_def_var(ncid, "fixed", PIO_DOUBLE, own.ndims, dimids + 1, &var));
  OK(PIOc_def_var(ncid, "series", PIO_DOUBLE, own.ndims + 1, dimids, &of_records));
  OK(PIOc_enddef(ncid));
  OK(PIOc_write_darray(ncid, var, ioid, own.length, array, NULL));
  for (int record = 0; record < 2; ++record) {
    for (int n = 0; n < own.length; ++n)
      array[n] += 0.5;
    OK(PIOc_setframe(ncid, of_records, record));
    OK(PIOc_write_darray(ncid, of_records, ioid, own.length, array, NULL));
  }
  OK(PIOc_closefile(ncid));

  OK(reopen(iosys, f, path, PIO_NOWRITE, &ncid));
  OK(PIOc_inq_varid(ncid, "fixed", &var));
  OK(PIOc_inq_varid(ncid, "series", &of_records));
  OK(PIOc_get_var_double(ncid, var, found));
  const int cells = cells_of(&own);
  int wrong = 0;
  for (int c = 0; c < cells; ++c)
    wrong += found[c] != expected[c];
  CHECK(wrong == 0);
  for (int record = 0; record < 2; ++record) {
    PIO_Offset start[4] = {record, 0, 0, 0};
    PIO_Offset count[4] = {1, own.dims[0], own.dims[1], own.dims[2]};
    OK(PIOc_get_vara_double(ncid, of_records, start, count, found));
    wrong = 0;
    for (int c = 0; c < cells; ++c)
      wrong +=
          found[c] != (expected[c] == PIO_FILL_DOUBLE ? PIO_FILL_DOUBLE : expected[c] + 0.5 * (record + 1));
    CHECK(wrong == 0);
  }
  /* By the list, and by the next rank's, for reading alone; holes stay. */
  static list next;
  random_state = state;
  make(kind, (my_rank + 1) % all_ranks, &next);
  int reading = -1;
  OK(PIOc_InitDecomp_ReadOnly(iosys, PIO_DOUBLE, next.ndims, next.dims, next.length, next.map, &reading, NULL,
                              NULL, NULL));
  for (int again = 0; again < 2; ++again) {
    const list* l = again ? &next : &own;
    for (int n = 0; n < l->length; ++n)
      found[n] = 77;
    OK(PIOc_setframe(ncid, of_records, 1));
    OK(PIOc_read_darray(ncid, of_records, again ? reading : ioid, l->length, found));
    wrong = 0;
    for (int n = 0; n < l->length; ++n) {
      const double cell = l->map[n] > 0 ? expected[l->map[n] - 1] : 0;
      wrong += found[n] != (l->map[n] <= 0 ? 77 : cell == PIO_FILL_DOUBLE ? PIO_FILL_DOUBLE : cell + 1);
    }
    CHECK(wrong == 0);
  }
  OK(PIOc_freedecomp(iosys, reading));
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, ioid));
}

/* Lists from 0, boxes by start and count, more dimensions than the variable has, and what is refused. */
static void other_forms(int iosys) {
  in_case = "other forms";
  const int dims[3] = {1, 4, all_ranks};
  const PIO_Offset from_0[5] = {my_rank, all_ranks + my_rank, -1, 2 * all_ranks + my_rank,
                                3 * all_ranks + my_rank};
  const long start[3] = {0, 0, my_rank};
  const long count[3] = {1, 4, 1};
  const int values[5] = {10 * my_rank, 10 * my_rank + 1, 99, 10 * my_rank + 2, 10 * my_rank + 3};
  const int box_values[4] = {10 * my_rank, 10 * my_rank + 1, 10 * my_rank + 2, 10 * my_rank + 3};
  int by_list = -1;
  int by_box = -1;
  int ncid = -1;
  int dimids[2];
  int varids[3];
  OK(PIOc_init_decomp(iosys, PIO_INT, 3, dims, 5, from_0, &by_list, PIO_REARR_SUBSET, NULL, NULL));
  OK(PIOc_InitDecomp_bc(iosys, PIO_INT, 3, dims, start, count, &by_box));
  OK(create(iosys, &k_formats[2], "lists_forms.nc", &ncid));
  OK(PIOc_def_dim(ncid, "y", 4, &dimids[0]));
  OK(PIOc_def_dim(ncid, "x", all_ranks, &dimids[1]));
  OK(PIOc_def_var(ncid, "a", PIO_INT, 2, dimids, &varids[0]));
  OK(PIOc_def_var(ncid, "b", PIO_SHORT, 2, dimids, &varids[1]));
  OK(PIOc_def_var(ncid, "c", PIO_INT, 1, dimids, &varids[2]));
  OK(PIOc_enddef(ncid));
  OK(PIOc_write_darray(ncid, varids[0], by_list, 5, values, NULL));
  OK(PIOc_write_darray(ncid, varids[1], by_box, 4, box_values, NULL));
  GIVES(PIO_EINVAL, PIOc_write_darray(ncid, varids[2], by_box, 4, box_values, NULL));
  OK(PIOc_sync(ncid));
  int* found = calloc(4 * (size_t)all_ranks, sizeof *found);
  for (int v = 0; v < 2; ++v) {
    OK(PIOc_get_var_int(ncid, varids[v], found));
    int wrong = 0;
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < all_ranks; ++x)
        wrong += found[y * all_ranks + x] != 10 * x + y;
    CHECK(wrong == 0);
  }
  free(found);
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, by_list));
  OK(PIOc_freedecomp(iosys, by_box));
  GIVES(PIO_EBADID, PIOc_freedecomp(iosys, by_box));

  /* One rank alone is wrong: all are told, nobody waits. */
  int ioid = -1;
  const PIO_Offset outside[1] = {my_rank == all_ranks - 1 ? 4 * all_ranks + 1 : my_rank + 1};
  GIVES(PIO_EINVAL, PIOc_InitDecomp(iosys, PIO_INT, 3, dims, 1, outside, &ioid, NULL, NULL, NULL));
  GIVES(PIO_EINVAL,
        PIOc_InitDecomp(iosys, PIO_INT, 3, dims, 1, my_rank == 0 ? NULL : from_0, &ioid, NULL, NULL, NULL));
  const int wrong_dims[3] = {1, my_rank == 0 ? 5 : 4, all_ranks};
  if (all_ranks > 1)
    GIVES(-250, PIOc_InitDecomp(iosys, PIO_INT, 3, wrong_dims, 0, NULL, &ioid, NULL, NULL, NULL));
  const int none[1] = {0};
  GIVES(PIO_EINVAL, PIOc_InitDecomp(iosys, PIO_INT, 1, none, 0, NULL, &ioid, NULL, NULL, NULL));
  GIVES(PIO_EBADTYPE, PIOc_InitDecomp(iosys, 99, 3, dims, 0, NULL, &ioid, NULL, NULL, NULL));
  const int one_type = my_rank == 0 ? 99 : PIO_INT;
  GIVES(PIO_EBADTYPE, PIOc_InitDecomp(iosys, one_type, 3, dims, 0, NULL, &ioid, NULL, NULL, NULL));
}

int main(int argc, char** argv) {
  const int iosys = start(&argc, &argv);
  const unsigned of_run = seed_of_run();
  for (int f = 0; f < k_format_count; ++f)
    for (int kind = 0; kind < k_kinds; ++kind)
      for (unsigned seed = 0; seed < 2; ++seed)
        one_list(iosys, &k_formats[f], kind, seed < 1 ? 1 : of_run);
  other_forms(iosys);
  OK(PIOc_finalize(iosys));
  return finish("lists");
}
