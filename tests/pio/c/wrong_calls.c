/* SPDX-License-Identifier: BSD-3-Clause
 * Random sequences of calls in which some ranks give wrong arguments, make another call or leave one out: no
 * rank waits longer than wait_seconds allows, and ranks that made the same call get the same code.
 *   wrong_calls [SEQUENCES [LEFT_OUT [ONE]]]
 * LEFT_OUT: in one of so many sequences a call is left out, 0: in none. ONE: that sequence alone, step by
 * step. TEST_SEED gives the same ones again. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

enum { k_steps = 16, k_names = 3, k_wrong = 9999, k_cells = 4 };

/* What a rank does in a step. */
typedef enum how { RIGHT, WRONG, OTHER, LEFT_OUT } how;

typedef struct state {
  MPI_Comm comm;
  int iosys, ncid, ioid, dimid, varid, fixed;
  const format* f;
  int number; /* of the sequence */
} state;

static int draw(int limit) {
  return (int)random_number((uint32_t)limit);
}

static char* name_of(char* out, const char* what, int i) {
  sprintf(out, "%s%d", what, i);
  return out;
}

/* Do ranks wait for each other in it? Then all get the code of one. */
typedef int (*step)(state* s, int wrong, int a, int b);
static int def_dim(state* s, int wrong, int a, int b) {
  char name[32];
  return PIOc_def_dim(wrong == 1 ? k_wrong : s->ncid, wrong == 2 ? NULL : name_of(name, "d", a),
                      wrong == 3 ? -1 : 1 + b, NULL);
}
static int def_var(state* s, int wrong, int a, int b) {
  char name[32];
  const int dims[1] = {wrong == 3 ? 77 : s->dimid};
  return PIOc_def_var(wrong == 1 ? k_wrong : s->ncid, wrong == 2 ? NULL : name_of(name, "v", a),
                      wrong == 4   ? 99
                      : b % 2 == 0 ? PIO_INT
                                   : PIO_DOUBLE,
                      1, dims, NULL);
}
static int put_att(state* s, int wrong, int a, int b) {
  char name[32];
  const double values[2] = {b == 0 || wrong == 4 ? 1e300 : 1, -42};
  const int type = b == 1 ? PIO_BYTE : PIO_FLOAT;
  return PIOc_put_att_double(wrong == 1 ? k_wrong : s->ncid, wrong == 2 ? 77 : s->varid,
                             name_of(name, "a", a), wrong == 3 ? 99 : type, 2, wrong == 5 ? NULL : values);
}
static int put_text(state* s, int wrong, int a, int b) {
  char name[32];
  return PIOc_put_att_text(wrong == 1 ? k_wrong : s->ncid, wrong == 2 ? 77 : PIO_GLOBAL,
                           wrong == 3 ? NULL : name_of(name, "t", a), wrong == 4 ? -1 : b, "text");
}
static int change_att(state* s, int wrong, int a, int b) {
  char name[32];
  char other[32];
  const int ncid = wrong == 1 ? k_wrong : s->ncid;
  const int varid = wrong == 2 ? 77 : s->varid;
  if (b == 0) return PIOc_del_att(ncid, varid, wrong == 3 ? NULL : name_of(name, "a", a));
  if (b == 1) return PIOc_copy_att(s->ncid, varid, name_of(name, "a", a), ncid, PIO_GLOBAL);
  return PIOc_rename_att(ncid, varid, name_of(name, "a", a), wrong == 3 ? NULL : name_of(other, "r", b));
}
static int rename_one(state* s, int wrong, int a, int b) {
  char name[32];
  const int ncid = wrong == 1 ? k_wrong : s->ncid;
  if (b % 2 == 0) return PIOc_rename_dim(ncid, wrong == 2 ? 77 : s->dimid, name_of(name, "x", a));
  return PIOc_rename_var(ncid, wrong == 2 ? 77 : s->fixed, wrong == 3 ? NULL : name_of(name, "w", a));
}
static int property(state* s, int wrong, int a, int b) {
  const int ncid = wrong == 1 ? k_wrong : s->ncid;
  const int varid = wrong == 2 ? 77 : s->varid;
  const PIO_Offset chunk[1] = {wrong == 3 ? -5 : 2};
  const int fill = -5;
  if (b == 0) return PIOc_def_var_deflate(ncid, varid, 0, 1, wrong == 3 ? 17 : a);
  if (b == 1) return PIOc_def_var_chunking(ncid, s->fixed, PIO_CHUNKED, chunk);
  if (b == 2) return PIOc_def_var_endian(ncid, varid, wrong == 3 ? 8 : 0);
  if (a == 0) return PIOc_set_fill(ncid, wrong == 3 ? 5 : PIO_FILL, NULL);
  return PIOc_def_var_fill(ncid, varid, 0, wrong == 3 ? NULL : &fill);
}
static int enddef(state* s, int wrong, int a, int b) {
  (void)b;
  const int ncid = wrong == 1 ? k_wrong : s->ncid;
  return a == 0 ? PIOc_redef(ncid) : PIOc_enddef(ncid);
}
static int sync_it(state* s, int wrong, int a, int b) {
  (void)a, (void)b;
  return PIOc_sync(wrong == 1 ? k_wrong : s->ncid);
}
static int put_var(state* s, int wrong, int a, int b) {
  const int values[k_cells] = {1, 2, 3, 4};
  const PIO_Offset start[1] = {wrong == 3 ? 17 : a};
  const PIO_Offset count[1] = {wrong == 4 ? 99 : 1};
  const int ncid = wrong == 1 ? k_wrong : s->ncid;
  const int varid = wrong == 2 ? 77 : s->fixed;
  if (b == 0) return PIOc_put_var1_text(ncid, varid, start, NULL);
  if (b == 1) return PIOc_put_var_int(ncid, varid, wrong == 5 ? NULL : values);
  return PIOc_put_vara_int(ncid, varid, start, wrong == 5 ? NULL : count, values);
}
static int get_var(state* s, int wrong, int a, int b) {
  int values[k_cells];
  const PIO_Offset start[1] = {wrong == 3 ? 17 : a};
  const PIO_Offset count[1] = {wrong == 4 ? 99 : 1};
  const int ncid = wrong == 1 ? k_wrong : s->ncid;
  const int varid = wrong == 2 ? 77 : s->fixed;
  if (b == 0) return PIOc_get_var1_int(ncid, varid, start, wrong == 5 ? NULL : values);
  if (b == 1) return PIOc_get_var_int(ncid, varid, wrong == 5 ? NULL : values);
  return PIOc_get_vara_int(ncid, varid, start, wrong == 5 ? NULL : count, values);
}
static int write_array(state* s, int wrong, int a, int b) {
  const int values[2 * k_cells] = {my_rank, 2, 3, 4, 5, 6, 7, 8};
  const int varids[2] = {wrong == 2 ? 77 : s->varid, s->varid};
  const int ioid = wrong == 3 ? k_wrong : s->ioid;
  const int length = wrong == 4 ? k_cells - 1 : k_cells;
  PIOc_setframe(s->ncid, s->varid, a);
  if (b > 0) return PIOc_write_darray(s->ncid, varids[0], ioid, length, wrong == 5 ? NULL : values, NULL);
  const int frames[2] = {a, a};
  return PIOc_write_darray_multi(s->ncid, varids, ioid, 2, length, values, frames, NULL, a == 0);
}
static int read_array(state* s, int wrong, int a, int b) {
  int values[k_cells];
  (void)b;
  const int length = wrong == 4 ? k_cells - 1 : k_cells;
  const int varid = wrong == 2 ? 77 : s->varid;
  const int ioid = wrong == 3 ? k_wrong : s->ioid;
  if (b == 0)
    return PIOc_get_vard_int(wrong == 1 ? k_wrong : s->ncid, varid, ioid, a, wrong == 5 ? NULL : values);
  PIOc_setframe(s->ncid, s->varid, a);
  return PIOc_read_darray(wrong == 1 ? k_wrong : s->ncid, varid, ioid, length, wrong == 5 ? NULL : values);
}
static int decomposition(state* s, int wrong, int a, int b) {
  PIO_Offset map[k_cells];
  int ioid = -1;
  const int n[1] = {k_cells * all_ranks + a};
  for (int i = 0; i < k_cells; ++i)
    map[i] = 1 + my_rank * k_cells + i;
  if (wrong == 2) map[0] = 100000;
  const int iosys = wrong == 1 ? k_wrong : s->iosys;
  const int type = wrong == 3 ? 99 : PIO_INT;
  int code;
  if (b == 0) {
    const long start[1] = {wrong == 2 ? 100000 : my_rank * k_cells};
    const long count[1] = {k_cells};
    code = PIOc_InitDecomp_bc(iosys, type, 1, n, start, count, wrong == 4 ? NULL : &ioid);
  } else {
    code = PIOc_InitDecomp(iosys, type, wrong == 5 ? 0 : 1, n, k_cells, map, wrong == 4 ? NULL : &ioid, NULL,
                           NULL, NULL);
  }
  return code != PIO_NOERR ? code : PIOc_freedecomp(s->iosys, ioid);
}
static int free_it(state* s, int wrong, int a, int b) {
  (void)a, (void)b;
  return PIOc_freedecomp(wrong == 1 ? k_wrong : s->iosys, k_wrong);
}
static int in_files(state* s, int wrong, int a, int b) {
  char path[64];
  int* dims = NULL;
  int ndims = 0;
  int ioid = -1;
  PIO_Offset* list = NULL;
  PIO_Offset length = 0;
  sprintf(path, "wrong_map_%d.nc", a);
  const char* given = wrong == 2 ? NULL : path;
  const int iosys = wrong == 1 ? k_wrong : s->iosys;
  int code;
  switch (b) {
    case 0:
      return PIOc_write_nc_decomp(iosys, given, 0, wrong == 3 ? k_wrong : s->ioid, "title", NULL, 0);
    case 1:
      code = PIOc_read_nc_decomp(iosys, given, wrong == 3 ? NULL : &ioid, s->comm, PIO_INT, NULL, NULL, NULL);
      return code != PIO_NOERR ? code : PIOc_freedecomp(s->iosys, ioid);
    case 2:
      return PIOc_write_decomp(given, iosys, wrong == 3 ? k_wrong : s->ioid, s->comm);
    default:
      code =
          PIOc_readmap(given, wrong == 1 ? NULL : &ndims, wrong == 3 ? NULL : &dims, &length, &list, s->comm);
      free(dims);
      free(list);
      return code;
  }
}
static int files(state* s, int wrong, int a, int b) {
  char path[64];
  int iotype = wrong == 3 ? 77 : s->f->iotype;
  int ncid = -1;
  int code;
  sprintf(path, "wrong_file_%d.nc", a);
  const char* given = wrong == 2 ? NULL : path;
  const int iosys = wrong == 1 ? k_wrong : s->iosys;
  if (b == 0) return PIOc_deletefile(iosys, given);
  if (b == 1)
    code = PIOc_createfile(iosys, wrong == 4 ? NULL : &ncid, &iotype, given, s->f->mode);
  else
    code = PIOc_openfile(iosys, wrong == 4 ? NULL : &ncid, &iotype, given, PIO_WRITE);
  return code != PIO_NOERR ? code : PIOc_closefile(ncid);
}
static int systems(state* s, int wrong, int a, int b) {
  int iosys = -1;
  (void)b;
  const int code =
      PIOc_Init_Intracomm(s->comm, wrong == 1 ? 0 : 1, wrong == 2 ? -1 : 1, wrong == 3 ? 99 : a % 2,
                          wrong == 4 ? 42 : PIO_REARR_BOX, wrong == 5 ? NULL : &iosys);
  if (code != PIO_NOERR) return code;
  PIOc_set_iosystem_error_handling(iosys, PIO_RETURN_ERROR, NULL);
  return PIOc_finalize(iosys);
}
static int make_file(state* s);
static int again(state* s, int wrong, int a, int b) {
  (void)a, (void)b;
  const int code = PIOc_closefile(wrong == 1 ? k_wrong : s->ncid);
  if (code == PIO_EBADID) return code;
  const int made = make_file(s);
  return code != PIO_NOERR ? code : made;
}
static int ask(state* s, int wrong, int a, int b) {
  char name[PIO_MAX_NAME + 1];
  int id = 0;
  (void)a;
  if (b == 0) return PIOc_inq_varid(wrong == 1 ? k_wrong : s->ncid, wrong == 2 ? NULL : "none", &id);
  if (b == 1) return PIOc_inq_dimname(s->ncid, wrong == 1 ? 77 : s->dimid, name);
  return PIOc_setframe(s->ncid, wrong == 1 ? 77 : s->varid, 0);
}

static const struct {
  step make;
  const char* name;
  int matched; /* all ranks get the code of the one that is wrong */
} k_calls[] = {{def_dim, "def_dim", 1},
               {def_var, "def_var", 1},
               {put_att, "put_att", 1},
               {put_text, "put_text", 1},
               {change_att, "change_att", 1},
               {rename_one, "rename", 1},
               {property, "property", 1},
               {enddef, "enddef", 1},
               {sync_it, "sync", 1},
               {put_var, "put_var", 1},
               {get_var, "get_var", 1},
               {write_array, "write_darray", 0},
               {read_array, "read_darray", 1},
               {decomposition, "decomposition", 1},
               {free_it, "freedecomp", 1},
               {in_files, "maps in files", 1},
               {files, "files", 1},
               {systems, "Init_Intracomm", 1},
               {again, "close and create", 1},
               {ask, "inq", 0}};
enum { k_count = sizeof k_calls / sizeof k_calls[0] };

static int make_file(state* s) {
  char path[64];
  int dims[2];
  sprintf(path, "wrong_main_%d.nc", s->number % 4);
  s->ncid = -1;
  int code = create(s->iosys, s->f, path, &s->ncid);
  if (code == PIO_NOERR) code = PIOc_def_dim(s->ncid, "time", PIO_UNLIMITED, &dims[0]);
  if (code == PIO_NOERR) code = PIOc_def_dim(s->ncid, "x", k_cells * all_ranks, &s->dimid);
  dims[1] = s->dimid;
  if (code == PIO_NOERR) code = PIOc_def_dim(s->ncid, "four", k_cells, &s->fixed);
  const int four = s->fixed;
  if (code == PIO_NOERR) code = PIOc_def_var(s->ncid, "field", PIO_INT, 2, dims, &s->varid);
  if (code == PIO_NOERR) code = PIOc_def_var(s->ncid, "list", PIO_INT, 1, &four, &s->fixed);
  return code;
}

/* What the ranks had in each step, for rank 0 to compare. */
typedef struct record {
  int how, code, call, left; /* left: it made another call before, or left one out */
  double seconds;
} record;

typedef struct tally {
  int prints;
  int steps, wrong, others, left_out, differ;
  double longest;
} tally;

static void print(const record* all, const int* calls) {
  static const char* const hows[] = {"", " wrong", " other", " left out"};
  for (int i = 0; i < k_steps; ++i) {
    printf("%2d %-16s %d:", i, k_calls[calls[i]].name, all[i].call);
    for (int r = 0; r < all_ranks; ++r)
      printf("  %4d%s", all[r * k_steps + i].code, hows[all[r * k_steps + i].how]);
    printf("\n");
  }
}

static void compare(int number, const record* all, const int* calls, tally* t) {
  int refused = 0;
  for (int i = 0; i < k_steps; ++i) {
    const record* first = NULL;
    ++t->steps;
    /* A write that one rank refuses the others hear of in the next sync, or in a write before it. */
    for (int r = 0; r < all_ranks; ++r)
      refused |= k_calls[calls[i]].make == write_array && all[r * k_steps + i].code != PIO_NOERR;
    if (k_calls[calls[i]].make == sync_it || k_calls[calls[i]].make == again) refused = 0;
    const int counts = k_calls[calls[i]].make != write_array || !refused;
    for (int r = 0; r < all_ranks; ++r) {
      const record* one = &all[r * k_steps + i];
      if (one->seconds > t->longest) t->longest = one->seconds;
      t->wrong += one->how == WRONG;
      t->others += one->how == OTHER;
      t->left_out += one->how == LEFT_OUT;
      if (!counts || one->left || one->how >= OTHER || (one->how == WRONG && !k_calls[calls[i]].matched))
        continue;
      if (first != NULL && first->code != one->code) {
        if (++t->differ <= 20)
          fprintf(stderr, "sequence %d, step %d, %s (%d): code %d on rank %d, and %d on one before\n", number,
                  i, k_calls[calls[i]].name, one->call, one->code, r, first->code);
      }
      if (first == NULL) first = one;
    }
  }
}

static void sequence(int number, int left_out, tally* t) {
  state s = {.number = number, .f = &k_formats[number % 2 == 0 ? 2 : 3]};
  record mine[k_steps] = {{0}};
  int calls[k_steps];
  MPI_Comm_dup(MPI_COMM_WORLD, &s.comm);
  CHECK(PIOc_Init_Intracomm(s.comm, 1, 1, 0, PIO_REARR_BOX, &s.iosys) == PIO_NOERR);
  PIOc_set_iosystem_error_handling(s.iosys, PIO_RETURN_ERROR, NULL);
  PIO_Offset map[k_cells];
  const int n = k_cells * all_ranks;
  for (int i = 0; i < k_cells; ++i)
    map[i] = 1 + my_rank + i * all_ranks;
  OK(PIOc_InitDecomp(s.iosys, PIO_INT, 1, &n, k_cells, map, &s.ioid, NULL, NULL, NULL));
  OK(make_file(&s));
  int left = 0;
  int missing = left_out ? draw(k_steps) : -1;
  int any_odd = missing >= 0;
  for (int i = 0; i < k_steps; ++i) {
    calls[i] = draw(k_count);
    const int a = draw(k_names);
    const int b = draw(4);
    const int chance = draw(100);
    const int wrong = 1 + draw(5);
    const int other = draw(k_count);
    const int alone = draw(all_ranks);
    const int with = draw(all_ranks);
    how what = RIGHT;
    const int odd = my_rank == alone || (chance % 2 == 0 && my_rank == with);
    if (i == missing)
      what = my_rank == alone ? LEFT_OUT : RIGHT;
    else if (chance < 30 && odd)
      what = WRONG;
    else if (chance >= 97 && my_rank == alone && number % 3 == 0)
      what = OTHER;
    any_odd |= chance >= 97 && number % 3 == 0;
    const double begin = MPI_Wtime();
    int code = PIO_NOERR;
    if (what == OTHER)
      code = k_calls[other].make(&s, 0, a, b);
    else if (what != LEFT_OUT)
      code = k_calls[calls[i]].make(&s, what == WRONG ? wrong : 0, a, b);
    left |= what >= OTHER;
    /* It still has the file that the others have closed. */
    left |= what == WRONG && k_calls[calls[i]].make == again && code != PIO_EBADID;
    mine[i] = (record){what, code, 10 * wrong + b, left, MPI_Wtime() - begin};
  }
  const double begin = MPI_Wtime();
  PIOc_finalize(s.iosys);
  mine[k_steps - 1].seconds += MPI_Wtime() - begin;
  record* all = calloc((size_t)all_ranks * k_steps, sizeof *all);
  MPI_Gather(mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (my_rank == 0) compare(number, all, calls, t);
  if (my_rank == 0 && t->prints) print(all, calls);
  free(all);
  if (!any_odd) MPI_Comm_free(&s.comm); /* else ranks may still wait in it */
}

int main(int argc, char** argv) {
  setenv("SHOAL_WAIT_SECONDS", "1", 0);
  setenv("SHOAL_QUIET", "true", 0);
  const int iosys = start(&argc, &argv);
  OK(PIOc_finalize(iosys));
  const int sequences = argc > 1 ? atoi(argv[1]) : 60;
  const int left_out = argc > 2 ? atoi(argv[2]) : 20;
  const double limit =
      10 * atof(getenv("SHOAL_WAIT_SECONDS")) + 10; /* of one call that waits for one at work */
  const unsigned seed = seed_of_run();
  const int one = argc > 3 ? atoi(argv[3]) : -1;
  tally t = {.prints = one >= 0};
  for (int i = one >= 0 ? one : 0; i < (one >= 0 ? one + 1 : sequences); ++i) {
    random_state = seed + UINT64_C(1000003) * (uint64_t)i;
    for (int warm = 0; warm < 4; ++warm)
      draw(2);
    sequence(i, left_out > 0 && i % left_out == left_out - 1, &t);
  }
  if (my_rank == 0)
    printf(
        "%d sequences, %d steps: %d wrong calls, %d other ones, %d left out; %d codes differ; longest %.2f "
        "s\n",
        sequences, t.steps, t.wrong, t.others, t.left_out, t.differ, t.longest);
  CHECK(t.differ == 0 && t.longest < limit);
  if (failures > 0 && my_rank == 0) printf("TEST_SEED=%u\n", seed);
  return finish("wrong_calls");
}
