/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists of cells. Programs make one decomposition for each type, often for each file, with the same list;
 * here they are one, so that a dataset prepares it once. A list that is a box on each rank is made a block,
 * one that repeats the same columns at each level a map of the columns.
 *
 * The lists of an iosystem are the same ones in the same order on all ranks: they are made together, found by
 * agreement, and freed by numbers that are the same on all of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* ---- What a rank finds in its list --------------------------------------------------------- */

typedef struct shape {
  int is_box;
  int64_t first[SPIO_MAX_CUT], count[SPIO_MAX_CUT]; /* of the box */
  unsigned leads;                                   /* bit k: the first k dimensions repeat the same cells */
  unsigned uncuts;                                  /* bit k: the last k dimensions are whole for each cell */
} shape;

static int64_t product(const int64_t* dims, int count) {
  int64_t cells = 1;
  for (int i = 0; i < count; ++i)
    cells *= dims[i];
  return cells;
}

int spio_multiply(int64_t a, int64_t b, int64_t* out) {
  if (b > 0 && a > INT64_MAX / b) return 0;
  *out = a * b;
  return 1;
}

static void coordinates(int ndims, const int64_t* dims, int64_t cell, int64_t* out) {
  for (int i = ndims - 1; i >= 0; --i) {
    out[i] = cell % dims[i];
    cell /= dims[i];
  }
}

/* Is the list all cells of a box, row-major? An empty one is an empty box. */
static int find_box(int ndims, const int64_t* dims, int64_t length, const int64_t* cells, shape* out) {
  for (int i = 0; i < ndims; ++i)
    out->first[i] = out->count[i] = 0;
  if (length == 0) return 1;
  if (cells[0] < 0 || cells[length - 1] < cells[0]) return 0;
  int64_t last[SPIO_MAX_CUT];
  coordinates(ndims, dims, cells[0], out->first);
  coordinates(ndims, dims, cells[length - 1], last);
  for (int i = 0; i < ndims; ++i) {
    out->count[i] = last[i] - out->first[i] + 1;
    if (out->count[i] < 1) return 0;
  }
  if (product(out->count, ndims) != length) return 0;
  int64_t at[SPIO_MAX_CUT] = {0};
  for (int64_t n = 0; n < length; n += out->count[ndims - 1]) {
    int64_t cell = 0;
    for (int i = 0; i < ndims; ++i)
      cell = cell * dims[i] + out->first[i] + at[i];
    for (int64_t j = 0; j < out->count[ndims - 1]; ++j)
      if (cells[n + j] != cell + j) return 0;
    for (int i = ndims - 2; i >= 0 && ++at[i] == out->count[i]; --i)
      at[i] = 0;
  }
  return 1;
}

static int repeats_levels(int ndims, const int64_t* dims, int lead, int64_t length, const int64_t* cells) {
  const int64_t levels = product(dims, lead);
  const int64_t plane = product(dims + lead, ndims - lead);
  if (length % levels != 0) return 0;
  const int64_t columns = length / levels;
  for (int64_t j = 0; j < columns; ++j)
    if (cells[j] >= plane) return 0;
  for (int64_t n = columns; n < length; ++n) {
    const int64_t of_column = cells[n % columns];
    if (of_column < 0 ? cells[n] >= 0 : cells[n] != of_column + n / columns * plane) return 0;
  }
  return 1;
}

static int has_whole_tails(int ndims, const int64_t* dims, int uncut, int64_t length, const int64_t* cells) {
  const int64_t tail = product(dims + ndims - uncut, uncut);
  if (length % tail != 0) return 0;
  for (int64_t n = 0; n < length; n += tail) {
    const int hole = cells[n] < 0;
    if (!hole && cells[n] % tail != 0) return 0;
    for (int64_t t = 1; t < tail; ++t)
      if (hole ? cells[n + t] >= 0 : cells[n + t] != cells[n] + t) return 0;
  }
  return 1;
}

static void find_shape(int ndims, const int64_t* dims, int64_t length, const int64_t* cells, shape* out) {
  out->is_box = find_box(ndims, dims, length, cells, out);
  out->leads = out->uncuts = 1;
  for (int k = 1; k < ndims; ++k) {
    if (repeats_levels(ndims, dims, k, length, cells)) out->leads |= 1u << k;
    if (has_whole_tails(ndims, dims, k, length, cells)) out->uncuts |= 1u << k;
  }
}

static uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static int64_t cell_of(const spio_cells* cells, int64_t i) {
  return cells->numbers[i] < cells->base ? SHOAL_HOLE : (int64_t)(cells->numbers[i] - cells->base);
}

/* Numbers go to four chains in turn, none of which waits for another. highest: the highest cell, -1: none. */
static void hash_cells(const spio_cells* cells, uint64_t out[2], int64_t* highest) {
  enum { k_chains = 4 };
  uint64_t sums[k_chains], turned[k_chains];
  int64_t most[k_chains];
  for (int k = 0; k < k_chains; ++k) {
    sums[k] = mix(0x9e3779b97f4a7c15u * (uint64_t)(k + 1));
    turned[k] = mix(0xc2b2ae3d27d4eb4fu * (uint64_t)(k + 1));
    most[k] = SHOAL_HOLE;
  }
  int64_t i = 0;
  for (; i + k_chains <= cells->length; i += k_chains)
    for (int k = 0; k < k_chains; ++k) {
      const int64_t cell = cell_of(cells, i + k);
      const uint64_t number = (uint64_t)cell;
      most[k] = cell > most[k] ? cell : most[k];
      sums[k] = ((sums[k] << 31 | sums[k] >> 33) ^ number) * 0x9fb21c651e98df25u;
      turned[k] = ((turned[k] << 27 | turned[k] >> 37) + number) * 0xd6e8feb86659fd93u;
    }
  for (; i < cells->length; ++i) {
    const int64_t cell = cell_of(cells, i);
    most[0] = cell > most[0] ? cell : most[0];
    sums[0] = mix(sums[0] ^ (uint64_t)cell);
    turned[0] = mix(turned[0] + (uint64_t)cell);
  }
  out[0] = mix((uint64_t)cells->length);
  out[1] = mix(~(uint64_t)cells->length);
  *highest = SHOAL_HOLE;
  for (int k = 0; k < k_chains; ++k) {
    out[0] = mix(out[0] + sums[k]);
    out[1] = mix(out[1] ^ turned[k]);
    *highest = most[k] > *highest ? most[k] : *highest;
  }
}

/* ---- What ranks agree on ------------------------------------------------------------------- */

enum { k_candidates = 64 };

static int same_dims(const spio_list* list, int ndims, const int64_t* dims) {
  return list->ndims == ndims && memcmp(list->dims, dims, (size_t)ndims * sizeof *dims) == 0;
}

/* The list that all ranks have: their dims are the same. Collective. */
static int agree_on_list(const spio_system* system, int ndims, const int64_t* dims, int64_t length,
                         const uint64_t hash[2], spio_list** same) {
  uint64_t mine = 0;
  spio_list* candidates[k_candidates];
  int n = 0;
  for (spio_list* list = system->lists.first; list != NULL && n < k_candidates; list = list->next) {
    if (!same_dims(list, ndims, dims)) continue;
    if (list->length == length && memcmp(list->hash, hash, 2 * sizeof *hash) == 0) mine |= UINT64_C(1) << n;
    candidates[n++] = list;
  }
  uint64_t all = 0;
  if (MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_BAND, system->comm) != MPI_SUCCESS)
    return spio_fail(PIO_EIO, "MPI_Allreduce failed");
  *same = NULL;
  for (int i = 0; i < n && *same == NULL; ++i)
    if (all >> i & 1) *same = candidates[i];
  return PIO_NOERR;
}

/* What the list is on all ranks. Collective. */
static int agree_on_shape(const spio_system* system, int ok, shape* found) {
  enum { k_right = 1, k_box = 2 };
  const uint64_t mine = !ok ? 0
                            : k_right | (found->is_box ? k_box : 0u) | (uint64_t)found->leads << 8 |
                                  (uint64_t)found->uncuts << 16;
  uint64_t all = 0;
  if (MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_BAND, system->comm) != MPI_SUCCESS)
    return spio_fail(PIO_EIO, "MPI_Allreduce failed");
  if (!(all & k_right)) return spio_fail(PIO_ENOMEM, "a rank has no memory for a decomposition");
  found->is_box = (all & k_box) != 0;
  found->leads = (unsigned)(all >> 8 & 0xff);
  found->uncuts = (unsigned)(all >> 16 & 0xff);
  return PIO_NOERR;
}

/* ---- Making -------------------------------------------------------------------------------- */

static void free_list(spio_list* list) {
  for (int r = 0; r < SPIO_MAX_RECORDS; ++r)
    if (list->records[r] != NULL) free_list(list->records[r]);
  if (list->writing != NULL && list->writing != list->reading) shoal_decomposition_free(&list->writing);
  if (list->reading != NULL) shoal_decomposition_free(&list->reading);
  free(list);
}

static int highest(unsigned bits) {
  int k = 0;
  while (bits > 1) {
    bits >>= 1;
    ++k;
  }
  return k;
}

static int make_map(MPI_Comm comm, spio_list* list, const int64_t* cells, const shape* found) {
  list->lead = highest(found->leads);
  list->uncut = list->lead == 0 ? highest(found->uncuts) : 0;
  const int64_t tail = product(list->dims + list->ndims - list->uncut, list->uncut);
  list->core_length = list->length / product(list->dims, list->lead) / tail;
  int64_t* of_tails = NULL;
  if (tail > 1) {
    of_tails = malloc((size_t)(list->core_length + 1) * sizeof *of_tails);
    if (of_tails != NULL)
      for (int64_t n = 0; n < list->core_length; ++n)
        of_tails[n] = cells[n * tail] < 0 ? SHOAL_HOLE : cells[n * tail] / tail;
  }
  int status;
  if (tail > 1 && of_tails == NULL)
    status = shoal_refuse(comm, SHOAL_NO_MEMORY, "no memory for the list of a decomposition");
  else
    status = shoal_map(comm, list->ndims - list->lead, list->dims + list->lead, list->uncut,
                       list->core_length, tail > 1 ? of_tails : cells, &list->reading);
  free(of_tails);
  return spio_code(status);
}

static int make_list(MPI_Comm comm, int ndims, const int64_t* dims, int64_t length, const int64_t* cells,
                     const shape* found, spio_list** out) {
  spio_list* list = calloc(1, sizeof *list);
  if (list == NULL) {
    const char* why = "no memory for a decomposition";
    return spio_code(shoal_refuse(comm, SHOAL_NO_MEMORY, why));
  }
  list->ndims = ndims;
  memcpy(list->dims, dims, (size_t)ndims * sizeof *dims);
  list->length = length;
  int status = SHOAL_OVERLAP;
  if (found->is_box) {
    list->is_block = 1;
    memcpy(list->tile, found->count, (size_t)ndims * sizeof *dims);
    status = shoal_block(comm, ndims, dims, found->first, found->count, NULL, NULL, &list->reading);
  }
  int code = PIO_NOERR;
  if (status == SHOAL_OVERLAP) { /* on all ranks alike: boxes that share cells are lists like others */
    list->is_block = 0;
    code = make_map(comm, list, cells, found);
  } else {
    code = spio_code(status);
  }
  int64_t bytes = 0;
  if (code == PIO_NOERR) {
    shoal_map_info info = SHOAL_MAP_INFO_INIT;
    if (shoal_decomposition_map_info(list->reading, &info) == SHOAL_OK) {
      bytes = info.bytes;
      list->leaves_cells = info.leaves_cells;
    }
    bytes += (int64_t)sizeof *list;
    if (MPI_Allreduce(&bytes, &list->bytes, 1, MPI_INT64_T, MPI_MAX, comm) != MPI_SUCCESS)
      code = spio_fail(PIO_EIO, "MPI_Allreduce failed");
  }
  if (code != PIO_NOERR) {
    free_list(list);
    return code;
  }
  *out = list;
  return PIO_NOERR;
}

static int fail_out_of_shape(const spio_cells* cells, int64_t limit) {
  int64_t i = 0;
  while (cell_of(cells, i) < limit)
    ++i;
  return spio_fail(PIO_EINVAL, "element %lld of the list is cell %lld (from 0) of an array of %lld cells",
                   (long long)i, (long long)cell_of(cells, i), (long long)limit);
}

/* A list that no rank has yet, or not all of them. Collective. */
static int make_new_list(const spio_system* system, int ndims, const int64_t* dims, const spio_cells* cells,
                         spio_list** out) {
  shape found = {0};
  int64_t* const from_0 = malloc((size_t)(cells->length + 1) * sizeof *from_0);
  if (from_0 != NULL) {
    for (int64_t i = 0; i < cells->length; ++i)
      from_0[i] = cell_of(cells, i);
    find_shape(ndims, dims, cells->length, from_0, &found);
  }
  int code = agree_on_shape(system, from_0 != NULL, &found);
  if (code == PIO_NOERR) code = make_list(system->comm, ndims, dims, cells->length, from_0, &found, out);
  free(from_0);
  return code;
}

/* dims without leading ones of length 1, and the number of cells. */
static int take_dims(int ndims, const int* dims, int64_t* out, int* kept, int64_t* cells) {
  *kept = 0;
  *cells = 1;
  for (int i = 0; i < ndims; ++i) {
    if (dims[i] < 1)
      return spio_fail(PIO_EINVAL, "dimension %d of a decomposition has the length %d", i, dims[i]);
    if (*kept == SPIO_MAX_CUT)
      return spio_fail(PIO_EINVAL, "a decomposition has at most %d dimensions", SPIO_MAX_CUT);
    if (!spio_multiply(*cells, dims[i], cells))
      return spio_fail(PIO_EINVAL, "a decomposition has more cells than can be counted");
    if (*kept > 0 || dims[i] > 1 || i == ndims - 1) out[(*kept)++] = dims[i];
  }
  return PIO_NOERR;
}

int spio_take_list(spio_system* system, const char* kind, int ndims, const int* dims, const spio_cells* cells,
                   int code, spio_list** out) {
  int64_t shape_dims[SPIO_MAX_CUT] = {0};
  uint64_t hash[2] = {0, 0};
  int kept = 0;
  int64_t limit = 1;
  if (code == PIO_NOERR) code = take_dims(ndims, dims, shape_dims, &kept, &limit);
  if (code == PIO_NOERR) {
    int64_t highest_cell = SHOAL_HOLE;
    hash_cells(cells, hash, &highest_cell);
    if (highest_cell >= limit) code = fail_out_of_shape(cells, limit);
  }
  char text[200] = "";
  for (int i = 0, used = 0; i < kept; ++i)
    used += snprintf(text + used, sizeof text - (size_t)used, "%s%lld", i > 0 ? " x " : "",
                     (long long)shape_dims[i]);
  code = spio_match(system, "InitDecomp", code, "%s, %s", text, kind);
  if (code == PIO_NOERR) code = agree_on_list(system, kept, shape_dims, cells->length, hash, out);
  if (code != PIO_NOERR) return code;
  if (*out == NULL) {
    code = make_new_list(system, kept, shape_dims, cells, out);
    if (code != PIO_NOERR) return code;
    memcpy((*out)->hash, hash, sizeof hash);
    (*out)->serial = ++system->lists.made;
    (*out)->next = system->lists.first;
    system->lists.first = *out;
  }
  ++(*out)->users;
  return PIO_NOERR;
}

/* ---- Giving back --------------------------------------------------------------------------- */

/* Free lists without users, the one that was released first before others, until the rest fits. */
static void trim(spio_system* system) {
  for (;;) {
    int64_t bytes = 0;
    spio_list** oldest = NULL;
    for (spio_list** at = &system->lists.first; *at != NULL; at = &(*at)->next) {
      if ((*at)->users > 0) continue;
      bytes += (*at)->bytes;
      if (oldest == NULL || (*at)->released < (*oldest)->released) oldest = at;
    }
    if (oldest == NULL || bytes <= system->policy.keep_bytes) return;
    spio_list* gone = *oldest;
    *oldest = gone->next;
    free_list(gone);
  }
}

void spio_release_list(spio_system* system, spio_list* list) {
  if (--list->users > 0) return;
  list->released = ++system->lists.releases;
  trim(system);
}

void spio_free_lists(spio_system* system) {
  while (system->lists.first != NULL) {
    spio_list* list = system->lists.first;
    system->lists.first = list->next;
    free_list(list);
  }
}

/* ---- Forms that are made when they are needed ---------------------------------------------- */

int spio_writable(spio_system* system, spio_list* list, shoal_decomposition** out) {
  static int warned;
  if (list->writing == NULL) {
    shoal_map_info info = SHOAL_MAP_INFO_INIT;
    int status = shoal_decomposition_map_info(list->reading, &info);
    if (status == SHOAL_OK && info.repeated < 0) {
      list->writing = list->reading;
    } else if (status == SHOAL_OK) {
      if (!warned && system->rank == 0)
        fprintf(stderr,
                "shoal: a decomposition has cell %lld twice, on ranks %d and %d; it is written once: the "
                "lowest rank's "
                "value counts, and there the last one\n",
                (long long)info.repeated, info.repeated_ranks[0], info.repeated_ranks[1]);
      warned = 1;
      status = shoal_unique(system->comm, list->reading, &list->writing);
      list->bytes *= 2;
    }
    if (status != SHOAL_OK) return spio_code(status);
  }
  *out = list->writing;
  return PIO_NOERR;
}

int spio_list_cells(const spio_list* list, int64_t* cells) {
  const int64_t levels = product(list->dims, list->lead);
  const int64_t plane = product(list->dims + list->lead, list->ndims - list->lead);
  const int64_t tail = product(list->dims + list->ndims - list->uncut, list->uncut);
  const int64_t core = list->length / levels / tail;
  const int status = shoal_decomposition_cells(list->reading, cells);
  if (status != SHOAL_OK) return spio_code(status);
  for (int64_t n = core - 1; n >= 0; --n) /* from the back: what is read was not overwritten yet */
    for (int64_t t = tail - 1; t >= 0; --t)
      cells[n * tail + t] = cells[n] < 0 ? SHOAL_HOLE : cells[n] * tail + t;
  for (int64_t l = levels - 1; l > 0; --l)
    for (int64_t n = 0; n < core * tail; ++n)
      cells[l * core * tail + n] = cells[n] < 0 ? SHOAL_HOLE : cells[n] + l * plane;
  return PIO_NOERR;
}

int spio_record_list(spio_system* system, spio_list* list, int64_t record, spio_list** out) {
  if (list->dims[0] > SPIO_MAX_RECORDS)
    return spio_fail(PIO_EINVAL, "a decomposition over %lld records; there can be at most %d",
                     (long long)list->dims[0], SPIO_MAX_RECORDS);
  if (list->records[record] == NULL) {
    const int64_t plane = product(list->dims + 1, list->ndims - 1);
    int64_t* cells = malloc((size_t)(list->length + 1) * sizeof *cells);
    int code = cells == NULL ? spio_fail(PIO_ENOMEM, "no memory for the list of a record")
                             : spio_list_cells(list, cells);
    shape found = {0, {0}, {0}, 1, 1};
    if (code == PIO_NOERR) {
      for (int64_t n = 0; n < list->length; ++n)
        cells[n] = cells[n] >= 0 && cells[n] / plane == record ? cells[n] - record * plane : SHOAL_HOLE;
      code = make_list(system->comm, list->ndims - 1, list->dims + 1, list->length, cells, &found,
                       &list->records[record]);
    } else {
      spio_code(shoal_refuse(system->comm, SHOAL_NO_MEMORY, spio_message()));
    }
    free(cells);
    if (code != PIO_NOERR) return code;
    list->bytes += list->records[record]->bytes;
  }
  *out = list->records[record];
  return PIO_NOERR;
}
