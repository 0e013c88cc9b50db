/* SPDX-License-Identifier: BSD-3-Clause
 * What a list of cells becomes, and that a list is kept once: a box is a block, levels and whole columns are
 * not repeated, a list that was seen before takes no memory. Sees the insides of libshoal_pioc, whose objects
 * it links. */
#include "../check.h"
#include "internal.h"
#if defined(__GLIBC__)
#include <malloc.h>
#endif

enum { k_rows = 3, k_columns = 4, k_levels = 2, k_many = 1000000 };

static PIO_Offset cells[k_many];

static int make(int iosys, int type, int ndims, const int* dims, int length) {
  int ioid = -1;
  OK(PIOc_InitDecomp(iosys, type, ndims, dims, length, cells, &ioid, NULL, NULL, NULL));
  return ioid;
}

static const spio_list* list_of(int ioid) {
  return spio_decomp_of(ioid)->list;
}

/* Rows rank * k_rows and after of [levels][rows of all][k_columns], in the order of the file. */
static int fill_box(int levels) {
  int n = 0;
  for (int level = 0; level < levels; ++level)
    for (int row = 0; row < k_rows; ++row)
      for (int column = 0; column < k_columns; ++column)
        cells[n++] =
            1 + column + k_columns * (my_rank * k_rows + row + (PIO_Offset)level * k_rows * all_ranks);
  return n;
}

static void boxes(int iosys) {
  in_case = "boxes";
  const int dims[3] = {k_levels, k_rows * all_ranks, k_columns};
  int length = fill_box(k_levels);
  int ioid = make(iosys, PIO_DOUBLE, 3, dims, length);
  CHECK(list_of(ioid)->is_block);
  CHECK(list_of(ioid)->tile[0] == k_levels && list_of(ioid)->tile[1] == k_rows &&
        list_of(ioid)->tile[2] == k_columns);
  OK(PIOc_freedecomp(iosys, ioid));
  /* Ranks without cells have an empty box. */
  length = fill_box(1);
  ioid = make(iosys, PIO_DOUBLE, 2, dims + 1, my_rank == 0 ? length : 0);
  CHECK(list_of(ioid)->is_block);
  OK(PIOc_freedecomp(iosys, ioid));
  /* A hole, or cells in another order, on one rank: it is a map on all. */
  fill_box(1);
  if (my_rank == all_ranks - 1) cells[length - 1] = 0;
  ioid = make(iosys, PIO_DOUBLE, 2, dims + 1, length);
  CHECK(!list_of(ioid)->is_block);
  OK(PIOc_freedecomp(iosys, ioid));
  fill_box(1);
  if (my_rank == 0) {
    cells[0] = 2;
    cells[1] = 1;
  }
  ioid = make(iosys, PIO_DOUBLE, 2, dims + 1, length);
  CHECK(!list_of(ioid)->is_block);
  OK(PIOc_freedecomp(iosys, ioid));
}

static void levels_and_columns(int iosys) {
  in_case = "levels";
  const int columns = 5 * all_ranks;
  const int levels_first[2] = {k_levels, columns};
  const int levels_last[2] = {columns, k_levels};
  int n = 0;
  for (int level = 0; level < k_levels; ++level)
    for (int c = 0; c < 5; ++c)
      cells[n++] = 1 + c * all_ranks + my_rank + level * columns;
  int ioid = make(iosys, PIO_DOUBLE, 2, levels_first, n);
  if (all_ranks > 1)
    CHECK(!list_of(ioid)->is_block && list_of(ioid)->lead == 1 && list_of(ioid)->core_length == 5);
  OK(PIOc_freedecomp(iosys, ioid));
  n = 0;
  for (int c = 4; c >= 0; --c) /* backwards: no box, on one rank either */
    for (int level = 0; level < k_levels; ++level)
      cells[n++] = 1 + level + k_levels * (c * all_ranks + my_rank);
  ioid = make(iosys, PIO_DOUBLE, 2, levels_last, n);
  CHECK(!list_of(ioid)->is_block && list_of(ioid)->uncut == 1 && list_of(ioid)->core_length == 5);
  OK(PIOc_freedecomp(iosys, ioid));
}

/* All types have one list, also after it was given back; a list that differs on one rank is another one. */
static void shared(int iosys) {
  in_case = "shared";
  const int dims[1] = {7 * all_ranks};
  for (int c = 0; c < 7; ++c)
    cells[c] = 1 + c * all_ranks + my_rank;
  const int first = make(iosys, PIO_DOUBLE, 1, dims, 7);
  const int second = make(iosys, PIO_FLOAT, 1, dims, 7);
  const spio_list* list = list_of(first);
  CHECK(first != second && list_of(second) == list && list->users == 2);
  OK(PIOc_freedecomp(iosys, first));
  OK(PIOc_freedecomp(iosys, second));
  CHECK(list->users == 0);
  const int third = make(iosys, PIO_INT, 1, dims, 7);
  CHECK(list_of(third) == list && list->users == 1);
  if (my_rank == 0) cells[3] = 0;
  const int other = make(iosys, PIO_INT, 1, dims, 7);
  CHECK(list_of(other) != list);
  OK(PIOc_freedecomp(iosys, third));
  OK(PIOc_freedecomp(iosys, other));
}

/* Bytes that the program has of malloc; 0 where nobody says. */
static long long in_use(void) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  const struct mallinfo2 all = mallinfo2();
  return (long long)(all.uordblks + all.hblkhd);
#else
  return 0;
#endif
}

/* A million cells on each rank, 8 bytes each in a map: a box takes nothing of that, nor does a list that is
 * there. */
static void memory(int iosys) {
  enum { k_little = 200000 };
  in_case = "memory";
  const int dims[2] = {k_many / 1000 * all_ranks, 1000};
  int ioids[20];
  for (int n = 0; n < k_many; ++n)
    cells[n] = 1 + n + (PIO_Offset)my_rank * k_many;
  long long before = in_use();
  ioids[0] = make(iosys, PIO_DOUBLE, 2, dims, k_many);
  CHECK(list_of(ioids[0])->is_block && in_use() - before < k_little && list_of(ioids[0])->bytes < k_little);
  OK(PIOc_freedecomp(iosys, ioids[0]));

  for (int n = 0; n < k_many; ++n) /* backwards */
    cells[n] = (PIO_Offset)(my_rank + 1) * k_many - n;
  before = in_use();
  ioids[0] = make(iosys, PIO_DOUBLE, 2, dims, k_many);
  CHECK(!list_of(ioids[0])->is_block && list_of(ioids[0])->bytes >= k_many * (long long)sizeof(PIO_Offset));
  if (before > 0) CHECK(in_use() - before >= k_many * (long long)sizeof(PIO_Offset)); /* this counts */
  before = in_use();
  for (int i = 1; i < 20; ++i)
    ioids[i] = make(iosys, i % 2 == 0 ? PIO_DOUBLE : PIO_FLOAT, 2, dims, k_many);
  CHECK(in_use() - before < k_little);
  for (int i = 0; i < 20; ++i)
    OK(PIOc_freedecomp(iosys, ioids[i]));
}

int main(int argc, char** argv) {
  const int iosys = start(&argc, &argv);
  boxes(iosys);
  levels_and_columns(iosys);
  shared(iosys);
  memory(iosys);
  OK(PIOc_finalize(iosys));
  return finish("shapes");
}
