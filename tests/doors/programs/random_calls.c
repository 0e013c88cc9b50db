/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sequences of calls by chance: definitions, puts and gets in all forms, by all ranks together, by each
 * alone, queued; sync, redefinition, closing and opening again. Every rank knows what all ranks write, and so
 * what the file must have.
 *   random_calls FOLDER netcdf|netcdf3|pnetcdf FIRST_SEED SEQUENCES [faults]
 * netcdf3: classic files through netCDF, which needs a door, or a netCDF built with PnetCDF.
 * faults: in many collective calls one rank has bad arguments. It must get a code, and write nothing; the
 * others must write theirs, and nobody may wait for ever. Libraries that do not promise this may hang on
 * several ranks.
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "random_library.h"

/* Numbers that both libraries have. */
enum { k_byte = 1, k_short = 3, k_int = 4, k_float = 5, k_double = 6, k_int64 = 10, k_range = -60 };
enum { k_records = 10, k_lengths = 5, k_variables = 7, k_requests = 3 };

typedef struct variable {
  int id, type, ndims, dims[k_dims], packed;
  double fill;   /* of cells that nobody wrote */
  double* cells; /* what the file must have, room for k_records; NAN: anything, after a value out of range */
  long long extent;  /* cells, of a record where there are records */
  long long records; /* that were written of it, which may be fewer than there are */
} variable;

typedef struct dataset {
  const library* lib;
  char path[4096];
  int ncid, format, ndims, nvars, dim_ids[k_lengths];
  long long lengths[k_lengths]; /* 0: unlimited, always the first one */
  long long records;
  variable vars[k_variables];
  unsigned seed, op;
  int faults, wild; /* wild: some cells of this call get what a byte cannot hold */
  int alone;        /* ranks put values alone since the last sync */
} dataset;

/* ---- chance: the same on all ranks, for each (seed, call, rank) ---- */
typedef struct stream {
  uint64_t state;
} stream;

static unsigned pick(stream* s, unsigned limit) {
  uint64_t z = (s->state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (unsigned)((z ^ (z >> 31)) >> 33) % limit;
}

/* Of what all ranks do alike: rank -1. */
static stream stream_of(const dataset* d, int rank) {
  stream s = {((uint64_t)d->seed * 100003 + d->op) * 1009 + (uint64_t)(rank + 1)};
  pick(&s, 2);
  return s;
}

static int is_record(const dataset* d, const variable* v) {
  return v->ndims > 0 && d->lengths[v->dims[0]] == 0;
}

/* ---- definitions ---- */
static double usual_fill(int type) {
  return type == k_byte    ? -127
         : type == k_short ? -32767
         : type == k_int   ? -2147483647
         : type == k_int64 ? -9223372036854775806.
                           : 9.9692099683868690e+36;
}

static void define_attribute(dataset* d, stream* s, int id) {
  char name[32];
  const double values[] = {(double)pick(s, 100), -1, 2.5};
  const int types[] = {k_byte, k_short, k_int, k_float, k_double};
  snprintf(name, sizeof name, "a%u_%u", d->op, pick(s, 3));
  NEEDS(pick(s, 2) == 0 ? d->lib->put_text(d->ncid, id, name, "words of an attribute")
                        : d->lib->put_att(d->ncid, id, name, types[pick(s, 5)], 1 + (int)pick(s, 3), values));
}

static void define_variable(dataset* d, stream* s) {
  const int types[] = {k_byte, k_short, k_int, k_float, k_double, k_int64};
  variable* v = &d->vars[d->nvars];
  memset(v, 0, sizeof *v);
  int ids[k_dims];
  char name[32];
  v->type = types[pick(s, d->format >= 4 ? 6 : 5)];
  v->ndims = (int)pick(s, k_dims + 1);
  v->extent = 1;
  for (int i = 0; i < v->ndims; ++i) {
    v->dims[i] = i == 0 ? (int)pick(s, (unsigned)d->ndims) : 1 + (int)pick(s, (unsigned)d->ndims - 1);
    ids[i] = d->dim_ids[v->dims[i]];
    if (d->lengths[v->dims[i]] > 0) v->extent *= d->lengths[v->dims[i]];
  }
  snprintf(name, sizeof name, "v%d_%u", d->nvars, d->op);
  NEEDS(d->lib->def_var(d->ncid, name, v->type, v->ndims, ids, &v->id));
  v->fill = usual_fill(v->type);
  if (pick(s, 3) == 0) {
    v->fill = 99;
    NEEDS(d->lib->set_fill(d->ncid, v->id, v->fill));
  }
  v->packed = d->lib->pack != NULL && v->ndims > 0 && pick(s, 3) == 0;
  if (v->packed) NEEDS(d->lib->pack(d->ncid, v->id));
  if (pick(s, 2) == 0) define_attribute(d, s, v->id);
  const long long room = v->extent * (is_record(d, v) ? k_records : 1);
  v->cells = malloc((size_t)room * sizeof(double));
  for (long long i = 0; i < room; ++i)
    v->cells[i] = v->fill;
  ++d->nvars;
}

static void all_collective(dataset* d) {
  for (int i = 0; i < d->nvars; ++i)
    NEEDS(d->lib->access(d->ncid, d->vars[i].id, collective));
}

static void begin_dataset(dataset* d) {
  stream s = stream_of(d, -1);
  const int classic[] = {1, 2, 5}, of_netcdf[] = {3, 4, 4};
  d->format = d->lib == &netcdf_library ? of_netcdf[pick(&s, 3)] : classic[pick(&s, 3)];
  NEEDS(d->lib->create(d->path, d->format, &d->ncid));
  d->ndims = 2 + (int)pick(&s, k_lengths - 1);
  for (int i = 0; i < d->ndims; ++i) {
    char name[16];
    snprintf(name, sizeof name, "d%d", i);
    d->lengths[i] = i == 0 && pick(&s, 4) != 0 ? 0 : 1 + pick(&s, 6);
    NEEDS(d->lib->def_dim(d->ncid, name, d->lengths[i], &d->dim_ids[i]));
  }
  const unsigned variables = 1 + pick(&s, 4);
  for (unsigned i = 0; i < variables; ++i)
    define_variable(d, &s);
  define_attribute(d, &s, -1);
  NEEDS(d->lib->enddef(d->ncid));
  all_collective(d);
}

/* ---- what a rank asks for in a call ---- */
typedef enum { alike, cut, anywhere, k_places } places;

/* Of one collective call, or of one step of calls that are queued or independent. */
typedef struct step {
  int var, how, form, memory, get, bad_rank, bad_kind;
  places where;
  long long records; /* that places may be in */
} step;

/* Records of a variable that a call may reach. With netCDF-4 a rank alone makes no records, and with all of
 * netCDF it asks all ranks for their number when it reads. */
static long long reach(const dataset* d, const variable* v, const step* c) {
  if (c->how != independent || d->lib == &pnetcdf_library) return c->records;
  if (!c->get && d->lib == &classic_library) return c->records;
  return c->get ? 0 : v->records;
}

/* Memory is in the order of dimensions, in varm the other way round. */
static void order_memory(const variable* v, int form, box* b) {
  long long apart = 1;
  for (int i = 0; i < v->ndims; ++i) {
    const int at = form == varm ? i : v->ndims - 1 - i;
    b->map[at] = apart;
    apart *= b->count[at];
  }
}

static void random_box(stream* s, const dataset* d, const variable* v, const step* c, int form, int rank,
                       box* b) {
  const int cut_dim = v->ndims > 0 && c->where == cut ? (int)(d->op % (unsigned)v->ndims) : -1;
  const int none = c->where == anywhere && form != var1 && pick(s, 6) == 0;
  for (int i = 0; i < k_dims; ++i) {
    b->start[i] = 0, b->count[i] = 1, b->stride[i] = 1;
    if (i >= v->ndims) continue;
    const long long length = i == 0 && is_record(d, v) ? reach(d, v, c) : d->lengths[v->dims[i]];
    b->start[i] = pick(s, (unsigned)length);
    if (form == vars || form == varm) b->stride[i] = 1 + pick(s, 3);
    const long long most = (length - b->start[i] - 1) / b->stride[i] + 1;
    b->count[i] = form == var1 ? 1 : 1 + pick(s, (unsigned)most);
    if (i == cut_dim && form != var1) {
      b->stride[i] = 1;
      b->start[i] = length * rank / all_ranks;
      b->count[i] = length * (rank + 1) / all_ranks - b->start[i];
    }
    if (none) b->count[i] = 0;
  }
  order_memory(v, form, b);
}

/* Makes a list of one box: its parts along the first dimension, of a record variable a record each; of an
 * empty one no parts. With others PnetCDF 1.12 reads and writes nonsense, or memory that is not its own:
 * boxes of a call or of a wait that overlap or lie between each other, an empty one, several records. */
static void split_box(const dataset* d, const variable* v, request* r) {
  box whole = r->boxes[0];
  for (int i = 0; i < v->ndims; ++i)
    if (whole.count[i] == 0) whole.count[0] = 0;
  if (is_record(d, v) && whole.count[0] > r->n) whole.count[0] = r->n;
  if (is_record(d, v) || whole.count[0] < r->n) r->n = (int)whole.count[0];
  for (int b = 0; b < r->n; ++b) {
    const long long from = whole.count[0] * b / r->n, to = whole.count[0] * (b + 1) / r->n;
    r->boxes[b] = whole;
    r->boxes[b].start[0] = whole.start[0] + from;
    r->boxes[b].count[0] = to - from;
    order_memory(v, vara, &r->boxes[b]);
  }
}

static long long cells_of(const variable* v, const box* b) {
  long long cells = 1;
  for (int i = 0; i < v->ndims; ++i)
    cells *= b->count[i];
  return cells;
}

/* The place in the variable and in memory of cell n of a box. */
static long long place_of(const dataset* d, const variable* v, const box* b, long long n, long long* memory) {
  long long place = 0, apart = 1;
  *memory = 0;
  for (int i = v->ndims - 1; i >= 0; --i) {
    const long long at = n % b->count[i];
    n /= b->count[i];
    place += (b->start[i] + at * b->stride[i]) * apart;
    apart *= d->lengths[v->dims[i]];
    *memory += at * b->map[i];
  }
  return place;
}

/* What `rank` asks for; returns the number of its requests, with the variable of each. */
static int plan(const dataset* d, const step* c, int rank, request* requests, int* of) {
  stream s = stream_of(d, c->where == alike ? all_ranks : rank);
  const int one = c->how == collective;
  const int n = one ? 1 : c->where == alike ? 2 : (int)pick(&s, k_requests + 1);
  int made = 0;
  for (int i = 0; i < n; ++i) {
    request* r = &requests[made];
    const int var = one ? c->var : (int)pick(&s, (unsigned)d->nvars);
    const variable* v = &d->vars[var];
    const unsigned form = pick(&s, 5), memory = pick(&s, k_memories), boxes = 1 + pick(&s, k_boxes);
    if (c->how == independent && v->packed) continue;
    int again = 0;
    for (int k = 0; k < made; ++k)
      again = again || of[k] == var;
    if (again && c->how != independent) continue;
    if (is_record(d, v) && reach(d, v, c) == 0) continue;
    r->id = v->id;
    r->ndims = v->ndims;
    r->form = c->form >= 0 ? c->form : (int)form;
    if (c->form < 0 && one && r->form == lists)
      r->form = vara; /* PnetCDF's varn: all ranks together, or none */
    /* netCDF-4's varm makes calls of all ranks, for each row or cell. */
    if (r->form == varm && d->lib != &pnetcdf_library && c->where != alike) r->form = vars;
    if (r->form == lists && (d->lib->wait_all == NULL || v->ndims == 0)) r->form = vara;
    r->memory = c->memory >= 0 ? c->memory : (int)memory;
    r->n = r->form == lists ? (int)boxes : 1;
    random_box(&s, d, v, c, r->form, rank, &r->boxes[0]);
    if (r->form == lists) split_box(d, v, r);
    of[made++] = var;
  }
  return made;
}

/* ---- values ---- */
static double value_of(const dataset* d, int var, long long place) {
  return (double)((place * 7 + d->op * 13 + (unsigned)var * 5) % 101) - 20;
}
static int is_wild(const dataset* d, const variable* v, long long place) {
  return d->wild && v->type == k_byte && place % 5 == 0;
}

static const size_t k_sizes[] = {
    1, sizeof(short), sizeof(int), sizeof(float), sizeof(double), sizeof(long long)};

static void set_value(void* values, int memory, long long at, double value) {
  switch (memory) {
    case as_schar:
      ((signed char*)values)[at] = (signed char)value;
      break;
    case as_short:
      ((short*)values)[at] = (short)value;
      break;
    case as_int:
      ((int*)values)[at] = (int)value;
      break;
    case as_float:
      ((float*)values)[at] = (float)value;
      break;
    case as_double:
      ((double*)values)[at] = value;
      break;
    default:
      ((long long*)values)[at] = (long long)value;
  }
}
static double value_at(const void* values, int memory, long long at) {
  switch (memory) {
    case as_schar:
      return ((const signed char*)values)[at];
    case as_short:
      return ((const short*)values)[at];
    case as_int:
      return ((const int*)values)[at];
    case as_float:
      return ((const float*)values)[at];
    case as_double:
      return ((const double*)values)[at];
    default:
      return (double)((const long long*)values)[at];
  }
}

static long long cells_of_all(const variable* v, const request* r) {
  long long cells = 0;
  for (int b = 0; b < r->n; ++b)
    cells += cells_of(v, &r->boxes[b]);
  return cells;
}

static void make_values(const dataset* d, int var, request* r) {
  const variable* v = &d->vars[var];
  long long before = 0, memory;
  r->values = calloc((size_t)cells_of_all(v, r) + 1, sizeof(double));
  for (int b = 0; b < r->n; ++b) {
    const long long cells = cells_of(v, &r->boxes[b]);
    for (long long n = 0; n < cells; ++n) {
      const long long place = place_of(d, v, &r->boxes[b], n, &memory);
      const double value = value_of(d, var, place) + (is_wild(d, v, place) ? 1000 : 0);
      set_value(r->values, r->memory, before + memory, value);
    }
    before += cells;
  }
}

/* What the file must have after this request of any rank. */
static void note_values(dataset* d, int var, const request* r) {
  variable* v = &d->vars[var];
  long long memory;
  for (int b = 0; b < r->n; ++b)
    for (long long n = 0; n < cells_of(v, &r->boxes[b]); ++n) {
      const long long place = place_of(d, v, &r->boxes[b], n, &memory);
      v->cells[place] = is_wild(d, v, place) ? NAN : value_of(d, var, place);
    }
}

/* Whether a value of the file can be told in this type of memory. */
static int is_told(const variable* v, double value, int memory) {
  if (isnan(value)) return 0;
  return value != v->fill || fabs(value) < 100 || memory == as_double ||
         (v->type == k_float && memory == as_float) ||
         (v->type != k_float && v->type != k_double && memory == as_longlong);
}

/* Compares what was read; returns a sum of it, without what cannot be told. */
static double check_values(const dataset* d, int var, const request* r) {
  const variable* v = &d->vars[var];
  double sum = 0;
  long long before = 0, memory;
  for (int b = 0; b < r->n; ++b) {
    const long long cells = cells_of(v, &r->boxes[b]);
    for (long long n = 0; n < cells; ++n) {
      const long long place = place_of(d, v, &r->boxes[b], n, &memory);
      if (!is_told(v, v->cells[place], r->memory)) continue;
      const double found = value_at(r->values, r->memory, before + memory), wanted = v->cells[place];
      check(found == (v->type == k_float || r->memory == as_float ? (float)wanted : wanted),
            "seed %u, call %u: variable %d, form %d, type %d in memory, cell %lld is %.17g, not %.17g",
            d->seed, d->op, var, r->form, r->memory, place, found, wanted);
      sum += found == v->fill ? 1000 : found * (double)(n % 17 + 1);
    }
    before += cells;
  }
  return sum;
}

/* ---- calls ---- */
static void spoil(const dataset* d, const step* c, request* r) {
  const variable* v = &d->vars[c->var];
  const long long length = v->ndims == 0                      ? 0
                           : is_record(d, v) && v->ndims == 1 ? -1
                                                              : d->lengths[v->dims[v->ndims - 1]];
  if (v->ndims == 0 || length < 0 || c->bad_kind == 0)
    r->id = 99;
  else if (c->bad_kind == 1)
    r->boxes[0].start[v->ndims - 1] = length + 3;
  else if (c->bad_kind == 2)
    r->boxes[0].count[v->ndims - 1] = length + 7;
  else
    r->form = vars, r->boxes[0].stride[v->ndims - 1] = 0;
  if (r->form == var1) r->form = vara;
  if (r->n == 0) r->n = 1;
  for (int i = 0; i < v->ndims; ++i)
    if (r->boxes[0].count[i] == 0) r->boxes[0].count[i] = 1;
}

/* Records become as many as the ranks write; where they are not filled by themselves, each is filled before.
 * */
static void grow(dataset* d, const step* c) {
  long long records = d->records;
  for (int rank = 0; rank < all_ranks; ++rank) {
    request requests[k_requests];
    int of[k_requests];
    const int n = rank == c->bad_rank ? 0 : plan(d, c, rank, requests, of);
    for (int i = 0; i < n; ++i) {
      if (!is_record(d, &d->vars[of[i]])) continue;
      for (int b = 0; b < requests[i].n; ++b) {
        const box* each = &requests[i].boxes[b];
        const long long end = each->start[0] + (each->count[0] - 1) * each->stride[0] + 1;
        if (cells_of(&d->vars[of[i]], each) == 0) continue;
        records = end > records ? end : records;
        if (end > d->vars[of[i]].records) d->vars[of[i]].records = end;
      }
    }
  }
  for (long long record = d->records; record < records && d->lib->fill_record != NULL; ++record)
    for (int i = 0; i < d->nvars; ++i)
      if (is_record(d, &d->vars[i])) {
        const int code = d->lib->fill_record(d->ncid, d->vars[i].id, record);
        check(code == 0, "seed %u, call %u: fill_record gave %d", d->seed, d->op, code);
      }
  d->records = records;
}

static void settle(dataset* d) {
  const int code = d->lib->sync(d->ncid);
  check(code == 0, "seed %u, call %u: sync gave %d", d->seed, d->op, code);
  d->alone = 0;
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Codes that are right: none, or a value out of range where there may be one. */
static int is_right(const step* c, const variable* v, int code) {
  if (c->bad_rank == my_rank || c->bad_rank == -2) return code != 0;
  return code == 0 || (code == k_range && (c->get || v->type == k_byte));
}

static void do_step(dataset* d, const step* c) {
  request requests[k_requests];
  int of[k_requests], codes[k_requests] = {0}, waited = 0, bad = c->bad_rank == my_rank || c->bad_rank == -2;
  double sum = 0;
  char text[200] = "";
  if (!c->get && c->bad_rank != -2) grow(d, c);
  /* MPI-IO gives ranks that write a cell alone, one after the other, no order but by a sync. */
  const int puts_alone = c->how == independent && !c->get;
  if (c->get || (puts_alone && d->alone)) settle(d);
  if (puts_alone) d->alone = 1;
  if (c->how == independent) {
    for (int i = 0; i < d->nvars; ++i)
      if (!d->vars[i].packed) NEEDS(d->lib->access(d->ncid, d->vars[i].id, independent));
  }
  const int n = plan(d, c, my_rank, requests, of);
  for (int i = 0; i < n; ++i) {
    request* r = &requests[i];
    make_values(d, of[i], r);
    if (c->get) memset(r->values, 0, (size_t)cells_of_all(&d->vars[of[i]], r) * k_sizes[r->memory]);
    if (bad) spoil(d, c, r);
    codes[i] = c->get ? d->lib->get(d->ncid, r, c->how) : d->lib->put(d->ncid, r, c->how);
    check(is_right(c, &d->vars[of[i]], codes[i]), "seed %u, call %u: variable %d, form %d, how %d: %d",
          d->seed, d->op, of[i], r->form, c->how, codes[i]);
  }
  if (c->how == queued || c->how == copied) waited = d->lib->wait_all(d->ncid);
  check(waited == 0 || waited == k_range, "seed %u, call %u: wait_all gave %d", d->seed, d->op, waited);
  for (int i = 0; i < n; ++i) {
    if (c->get && !bad) sum += check_values(d, of[i], &requests[i]);
    snprintf(text + strlen(text), sizeof text - strlen(text), " v%d.%d:%d", of[i], requests[i].form,
             codes[i]);
    free(requests[i].values);
  }
  if (c->how == independent) {
    MPI_Barrier(MPI_COMM_WORLD);
    all_collective(d);
  }
  for (int rank = 0; rank < all_ranks && !c->get && c->bad_rank != -2; ++rank) {
    const int theirs = rank == c->bad_rank ? 0 : plan(d, c, rank, requests, of);
    for (int i = 0; i < theirs; ++i)
      note_values(d, of[i], &requests[i]);
  }
  say(c->get ? "get" : "put", "%u: how %d, wait %d, sum %.17g,%s", d->op, c->how, waited, sum, text);
}

/* A put or get by chance. */
static void data_calls(dataset* d, stream* s) {
  step c = {.get = pick(s, 5) < 2, .form = -1, .memory = -1, .bad_rank = -1};
  c.var = (int)pick(s, (unsigned)d->nvars);
  c.where = (places)pick(s, k_places);
  const int hows[] = {collective, collective, independent, queued, copied};
  c.how = hows[pick(s, d->lib->wait_all == NULL ? 3 : 5)];
  if (c.get && c.how == copied) c.how = queued;
  c.records = c.get || c.how == independent ? d->records
              : d->records + 2 > k_records  ? k_records
                                            : d->records + 2;
  if (is_record(d, &d->vars[c.var]) && c.records == 0) return;
  const unsigned form = pick(s, 5), fault = pick(s, 12);
  c.bad_kind = (int)pick(s, 4);
  if (d->lib == &pnetcdf_library && form == lists) c.form = lists;
  d->wild = !c.get && c.how == collective && d->op % 5 == 0;
  if (d->wild) c.memory = as_int;
  if (c.how == collective && fault == 0) {
    c.bad_rank = -2, c.where = alike; /* all ranks alike */
    c.form = vara;
  } else if (d->faults && c.how == collective && fault < 8) {
    c.bad_rank = (int)pick(s, (unsigned)all_ranks);
  }
  do_step(d, &c);
}

static void redefine(dataset* d, stream* s) {
  const int code = d->lib->redef(d->ncid);
  check(code == 0, "seed %u, call %u: redef gave %d", d->seed, d->op, code);
  if (d->nvars < k_variables && pick(s, 2) == 0) define_variable(d, s);
  define_attribute(d, s, pick(s, 2) == 0 ? -1 : d->vars[0].id);
  if (d->lib->rename_var != NULL && pick(s, 3) == 0) {
    char name[32];
    snprintf(name, sizeof name, "r%u", d->op);
    NEEDS(d->lib->rename_var(d->ncid, d->vars[pick(s, (unsigned)d->nvars)].id, name));
  }
  if (d->faults && pick(s, 3) == 0 && my_rank == (int)pick(s, (unsigned)all_ranks)) {
    const double value = 1;
    check(d->lib->put_att(d->ncid, 99, "of_one_rank", k_double, 1, &value) != 0,
          "a variable that is none was taken");
  }
  const int ended = d->lib->enddef(d->ncid);
  check(ended == 0, "seed %u, call %u: enddef gave %d", d->seed, d->op, ended);
  all_collective(d);
  say("redefinition", "%u: %d variables", d->op, d->nvars);
}

static void reopen(dataset* d) {
  NEEDS(d->lib->close(d->ncid));
  NEEDS(d->lib->open(d->path, &d->ncid));
  all_collective(d);
  say("opened again", "%u", d->op);
}

static void say_length(dataset* d) {
  long long length = -1;
  settle(d);
  const int code = d->lib->length(d->ncid, d->dim_ids[0], &length);
  const long long wanted = d->lengths[0] == 0 ? d->records : d->lengths[0];
  check(length == wanted, "seed %u, call %u: length %lld, not %lld", d->seed, d->op, length, wanted);
  say("length", "%u: %d %lld", d->op, code, length);
}

/* All cells of all variables, by all ranks. */
static void read_all(dataset* d) {
  for (int i = 0; i < d->nvars; ++i) {
    const variable* v = &d->vars[i];
    if (is_record(d, v) && d->records == 0) continue;
    request r = {.id = v->id, .ndims = v->ndims, .form = vara, .memory = as_double, .n = 1};
    long long apart = 1;
    for (int k = v->ndims - 1; k >= 0; --k) {
      r.boxes[0].count[k] = k == 0 && is_record(d, v) ? d->records : d->lengths[v->dims[k]];
      r.boxes[0].stride[k] = 1;
      r.boxes[0].map[k] = apart;
      apart *= r.boxes[0].count[k];
    }
    r.values = calloc((size_t)apart + 1, sizeof(double));
    const int code = d->lib->get(d->ncid, &r, collective);
    check(code == 0, "seed %u: reading variable %d gave %d", d->seed, i, code);
    say("all of it", "variable %d: %d, sum %.17g", i, code, check_values(d, i, &r));
    free(r.values);
  }
}

static void sequence(const library* lib, const char* name, unsigned seed, int faults) {
  dataset* d = calloc(1, sizeof *d);
  char file[64];
  d->lib = lib, d->seed = seed, d->faults = faults;
  snprintf(file, sizeof file, "random_%s_%u.nc", name, seed);
  snprintf(d->path, sizeof d->path, "%s", in_folder(file));
  say("seed", "%u", seed);
  begin_dataset(d);
  stream s = stream_of(d, -1);
  const unsigned ops = 6 + pick(&s, 12);
  for (unsigned op = 1; op <= ops; ++op) {
    d->op = op;
    s = stream_of(d, -1);
    const unsigned kind = pick(&s, 20);
    if (kind < 15)
      data_calls(d, &s);
    else if (kind < 17)
      redefine(d, &s);
    else if (kind == 17)
      reopen(d);
    else
      say_length(d);
  }
  d->op = ops + 1;
  reopen(d);
  say_length(d);
  read_all(d);
  NEEDS(d->lib->close(d->ncid));
  for (int i = 0; i < d->nvars; ++i)
    free(d->vars[i].cells);
  free(d);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  if (argc < 5) {
    if (my_rank == 0)
      fprintf(stderr, "usage: %s FOLDER netcdf|netcdf3|pnetcdf FIRST_SEED SEQUENCES [faults]\n", argv[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const library* lib = strcmp(argv[2], "pnetcdf") == 0   ? &pnetcdf_library
                       : strcmp(argv[2], "netcdf3") == 0 ? &classic_library
                                                         : &netcdf_library;
  const unsigned first = (unsigned)strtoul(argv[3], NULL, 10),
                 sequences = (unsigned)strtoul(argv[4], NULL, 10);
  for (unsigned i = 0; i < sequences; ++i)
    sequence(lib, argv[2], first + i, argc > 5 && strcmp(argv[5], "faults") == 0);
  return finish();
}
