/* SPDX-License-Identifier: BSD-3-Clause
 * Writes that some ranks refuse, and fill values that some ranks give: no rank waits in a write for one that
 * has refused it, all are told, and what comes afterwards goes on as if nothing had been. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

enum { k_cells = 4 };

typedef struct model {
  int iosys, ncid, ioid, other; /* lists with holes, of the same cells; the second one begins with a hole */
  int dimid;
  int v[4];
  int length; /* of this rank's list */
  int values[k_cells];
} model;

/* The last rank has no cells; on one rank alone there is no such rank. */
static void make_lists(model* m, int n) {
  PIO_Offset map[k_cells + 1] = {0};
  m->length = all_ranks > 1 && my_rank == all_ranks - 1 ? 0 : k_cells;
  for (int i = 0; i < k_cells; ++i) {
    map[i + 1] = 1 + i * all_ranks + my_rank;
    m->values[i] = (int)map[i + 1];
  }
  OK(PIOc_InitDecomp(m->iosys, PIO_INT, 1, &n, m->length, map + 1, &m->ioid, NULL, NULL, NULL));
  OK(PIOc_InitDecomp(m->iosys, PIO_INT, 1, &n, m->length == 0 ? 0 : k_cells, map, &m->other, NULL, NULL,
                     NULL));
}

static void begin(model* m, const format* f) {
  const int n = k_cells * all_ranks + 1; /* a cell that no rank has */
  in_case = f->name;
  make_lists(m, n);
  OK(create(m->iosys, f, "refused.nc", &m->ncid));
  OK(PIOc_def_dim(m->ncid, "x", n, &m->dimid));
  for (int i = 0; i < 4; ++i) {
    char name[16];
    snprintf(name, sizeof name, "v%d", i);
    OK(PIOc_def_var(m->ncid, name, i == 3 ? PIO_SHORT : PIO_INT, 1, &m->dimid, &m->v[i]));
  }
  OK(PIOc_enddef(m->ncid));
}

static void end(model* m) {
  OK(PIOc_closefile(m->ncid));
  OK(PIOc_freedecomp(m->iosys, m->ioid));
  OK(PIOc_freedecomp(m->iosys, m->other));
}

static void check_cells(const model* m, int varid, int fill, int fill_of_last) {
  const int n = k_cells * all_ranks + 1;
  int* found = calloc((size_t)n, sizeof *found);
  OK(PIOc_get_var_int(m->ncid, varid, found));
  int wrong = 0;
  for (int cell = 0; cell < n; ++cell) {
    const int of_last = all_ranks > 1 && cell % all_ranks == all_ranks - 1;
    wrong += found[cell] != (cell == n - 1 ? fill : of_last ? fill_of_last : cell + 1);
  }
  CHECK(wrong == 0);
  free(found);
}

/* A rank without cells gives no fill value; one that does not fit is refused on all ranks, whoever gives it;
 * the first write that leaves cells out decides. */
static void fill_of_some(int iosys, const format* f) {
  model m = {.iosys = iosys};
  begin(&m, f);
  const int fill = -77;
  const int other = -3;
  const int large = 100000;
  const int* given = m.length > 0 ? &fill : NULL;
  OK(PIOc_write_darray(m.ncid, m.v[0], m.ioid, m.length, m.values, given));
  OK(PIOc_write_darray(m.ncid, m.v[1], m.ioid, m.length, m.values, given)); /* the list is known */
  OK(PIOc_write_darray(m.ncid, m.v[0], m.ioid, m.length, m.values, &other));
  OK(PIOc_write_darray(m.ncid, m.v[2], m.ioid, m.length, m.values, NULL));
  OK(PIOc_write_darray(m.ncid, m.v[2], m.ioid, m.length, m.values, &other));
  GIVES(PIO_ERANGE,
        PIOc_write_darray(m.ncid, m.v[3], m.ioid, m.length, m.values, m.length > 0 ? &large : NULL));
  OK(PIOc_write_darray(m.ncid, m.v[3], m.ioid, m.length, m.values, my_rank == 0 ? &fill : NULL));
  OK(PIOc_sync(m.ncid));
  const int numbers[4] = {fill, fill, PIO_FILL_INT, fill};
  for (int i = 0; i < 4; ++i) {
    int found = 0;
    check_cells(&m, m.v[i], numbers[i], numbers[i]);
    OK(PIOc_get_att_int(m.ncid, m.v[i], "_FillValue", &found));
    CHECK(found == numbers[i]);
  }
  end(&m);
}

/* One rank does not know the variable, the decomposition or the file of a write in which the others come
 * together: they get its code, and it goes on with them. */
static void unknown_on_one(int iosys, const format* f) {
  model m = {.iosys = iosys};
  begin(&m, f);
  const int fill = -5;
  const int last = my_rank == all_ranks - 1;
  const int alone = all_ranks == 1;
  OK(PIOc_write_darray(m.ncid, m.v[0], m.ioid, m.length, m.values, &fill));
  GIVES(PIO_ENOTVAR, PIOc_write_darray(m.ncid, last ? 77 : m.v[1], m.ioid, m.length, m.values, &fill));
  OK(PIOc_sync(m.ncid));
  OK(PIOc_write_darray(m.ncid, m.v[1], m.ioid, m.length, m.values, &fill));
  /* Two in a row, and then another write. */
  GIVES(PIO_ENOTVAR, PIOc_write_darray(m.ncid, last ? 77 : m.v[2], m.ioid, m.length, m.values, &fill));
  GIVES(PIO_ENOTVAR, PIOc_write_darray(m.ncid, last ? 78 : m.v[2], m.ioid, m.length, m.values, &fill));
  OK(PIOc_write_darray(m.ncid, m.v[2], m.ioid, m.length, m.values, &fill));
  /* A list that is new, and a file. */
  GIVES(PIO_EBADID, PIOc_write_darray(m.ncid, m.v[0], last ? 7777 : m.other, k_cells, m.values, &fill));
  OK(PIOc_sync(m.ncid));
  OK(PIOc_redef(m.ncid));
  OK(PIOc_put_att_text(m.ncid, m.v[0], "units", 1, "m"));
  GIVES(PIO_EBADID, PIOc_write_darray(last ? 500 : m.ncid, m.v[0], m.ioid, m.length, m.values, &fill));
  OK(PIOc_write_darray(m.ncid, m.v[0], m.ioid, m.length, m.values, &fill));
  OK(PIOc_sync(m.ncid));
  /* In which nobody comes together: told by the sync. */
  GIVES(last ? PIO_ENOTVAR : PIO_NOERR,
        PIOc_write_darray(m.ncid, last ? 77 : m.v[1], m.ioid, m.length, m.values, &fill));
  GIVES(alone ? PIO_NOERR : PIO_ENOTVAR, PIOc_sync(m.ncid));
  GIVES(last ? PIO_EBADID : PIO_NOERR,
        PIOc_write_darray(last ? 500 : m.ncid, m.v[1], m.ioid, m.length, m.values, &fill));
  GIVES(alone ? PIO_NOERR : PIO_EBADID, PIOc_sync(m.ncid));
  OK(PIOc_write_darray(m.ncid, m.v[1], m.ioid, m.length, m.values, &fill));
  OK(PIOc_sync(m.ncid));
  for (int i = 0; i < 3; ++i)
    check_cells(&m, m.v[i], fill, fill);
  end(&m);
}

/* Several variables, with more values than can be counted on one rank. */
static void too_many(int iosys, const format* f) {
  model m = {.iosys = iosys};
  begin(&m, f);
  const int last = my_rank == all_ranks - 1;
  const PIO_Offset length = last ? INT64_MAX / 2 : m.length;
  GIVES(PIO_EINVAL, PIOc_write_darray_multi(m.ncid, m.v, m.ioid, 1, length, m.values, NULL, NULL, false));
  OK(PIOc_write_darray_multi(m.ncid, m.v, m.ioid, 1, m.length, m.values, NULL, NULL, true));
  check_cells(&m, m.v[0], PIO_FILL_INT, PIO_FILL_INT);
  end(&m);
}

/* Several variables with records: what one rank refuses of the first one ends the call on all. */
static void one_of_several(int iosys, const format* f) {
  model m = {.iosys = iosys};
  begin(&m, f);
  const int fill = -77;
  int dims[2] = {-1, m.dimid};
  int r[2] = {-1, -1};
  OK(PIOc_redef(m.ncid));
  OK(PIOc_def_dim(m.ncid, "time", PIO_UNLIMITED, &dims[0]));
  OK(PIOc_def_var(m.ncid, "r0", PIO_INT, 2, dims, &r[0]));
  OK(PIOc_def_var(m.ncid, "r1", PIO_INT, 2, dims, &r[1]));
  OK(PIOc_enddef(m.ncid));
  OK(PIOc_write_darray(m.ncid, m.v[0], m.ioid, m.length, m.values, &fill));
  int values[2 * k_cells];
  for (int i = 0; i < 2 * m.length; ++i)
    values[i] = m.values[i % m.length];
  const int last = my_rank == all_ranks - 1;
  int frames[2] = {last ? -1 : 0, 0};
  const int code = PIOc_write_darray_multi(m.ncid, r, m.ioid, 2, m.length, values, frames, NULL, false);
  CHECK(code != PIO_NOERR && code != -250);
  CHECK(PIOc_sync(m.ncid) != -250);
  frames[0] = 0;
  OK(PIOc_write_darray_multi(m.ncid, r, m.ioid, 2, m.length, values, frames, NULL, true));
  end(&m);
}

/* The end of the iosystem closes its files, and tells what closefile would tell. */
static void ended(const format* f) {
  model m = {.iosys = -1};
  OK(PIOc_Init_Intracomm(MPI_COMM_WORLD, 1, 1, 0, PIO_REARR_BOX, &m.iosys));
  begin(&m, f);
  OK(PIOc_write_darray(m.ncid, m.v[0], m.ioid, m.length, m.values, NULL));
  const int short_of = my_rank == 0 ? 1 : 0;
  GIVES(my_rank == 0 ? PIO_EINVAL : PIO_NOERR,
        PIOc_write_darray(m.ncid, m.v[0], m.ioid, m.length - short_of, m.values, NULL));
  GIVES(all_ranks > 1 ? PIO_EINVAL : PIO_NOERR, PIOc_finalize(m.iosys));
}

/* Lists that are made, written with and freed one after the other: where the memory of one is that of another
 * on some ranks, and not on others, it is a new list on all of them. */
static void made_and_freed(int iosys, const format* f) {
  enum { k_rounds = 12, k_blocks = 128 };
  model m = {.iosys = iosys};
  begin(&m, f);
  const int n = k_cells * all_ranks + 1;
  void* blocks[k_rounds][k_blocks] = {{NULL}};
  for (int round = 0; round < k_rounds; ++round) {
    const PIO_Offset map[1] = {1 + my_rank};
    int ioid = -1;
    for (int i = 0; i < k_blocks && my_rank % 2 == 1; ++i)
      blocks[round][i] = malloc((size_t)(16 * i + 16));
    OK(PIOc_InitDecomp(iosys, PIO_INT, 1, &n, 1, map, &ioid, NULL, NULL, NULL));
    OK(PIOc_write_darray(m.ncid, m.v[0], ioid, 1, m.values, NULL));
    OK(PIOc_freedecomp(iosys, ioid));
  }
  for (int round = 0; round < k_rounds; ++round)
    for (int i = 0; i < k_blocks; ++i)
      free(blocks[round][i]);
  end(&m);
}

/* A rank has a file of its own: an id that nobody knows is still one of the file that all have. */
static void file_of_one(int iosys, const format* f) {
  model m = {.iosys = iosys};
  int own = -1;
  int alone = -1;
  begin(&m, f);
  const int last = my_rank == all_ranks - 1;
  OK(PIOc_Init_Intracomm(MPI_COMM_SELF, 1, 1, 0, PIO_REARR_BOX, &own));
  if (last) OK(create(own, f, "refused_alone.nc", &alone));
  GIVES(PIO_EBADID, PIOc_sync(500));
  GIVES(PIO_EBADID, PIOc_write_darray(500, m.v[0], m.ioid, m.length, m.values, NULL));
  GIVES(PIO_EBADID, PIOc_sync(last ? 500 : m.ncid));
  OK(PIOc_write_darray(m.ncid, m.v[0], m.ioid, m.length, m.values, NULL));
  OK(PIOc_sync(m.ncid));
  check_cells(&m, m.v[0], PIO_FILL_INT, PIO_FILL_INT);
  OK(PIOc_finalize(own));
  end(&m);
}

int main(int argc, char** argv) {
  setenv("SHOAL_WAIT_SECONDS", "20", 0);
  setenv("SHOAL_PIO_KEEP_BYTES", "0", 0);
  const int iosys = start(&argc, &argv);
  for (int f = 0; f < k_format_count; f += k_format_count - 1) {
    fill_of_some(iosys, &k_formats[f]);
    unknown_on_one(iosys, &k_formats[f]);
    too_many(iosys, &k_formats[f]);
    one_of_several(iosys, &k_formats[f]);
    ended(&k_formats[f]);
    made_and_freed(iosys, &k_formats[f]);
    file_of_one(iosys, &k_formats[f]);
  }
  OK(PIOc_finalize(iosys));
  return finish("refused");
}
