/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists of cells in files: PIO's text form, and its NetCDF form.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "pio_meta.h"

/* ---- Text ---------------------------------------------------------------------------------- */

static int read_text(const char* path, int* ndims, int** gdims, PIO_Offset* length, PIO_Offset** map,
                     MPI_Comm comm) {
  shoal_decomposition* decomposition = NULL;
  if (comm == MPI_COMM_NULL) return spio_fail(PIO_EINVAL, "the communicator is MPI_COMM_NULL");
  int code = ndims == NULL || gdims == NULL || length == NULL || map == NULL || path == NULL
                 ? spio_fail(PIO_EINVAL, "no path, or no place for what is read")
                 : PIO_NOERR;
  code = spio_match_comm(comm, "readmap", code, "'%s'", path == NULL ? "" : path);
  if (code != PIO_NOERR) return code;
  int status = shoal_decomposition_load(comm, path, "c", &decomposition);
  if (status != SHOAL_OK) return spio_code_for(status, ENOENT);
  int64_t global[SPIO_MAX_CUT];
  shoal_map_info info = SHOAL_MAP_INFO_INIT;
  status = shoal_decomposition_inquire(decomposition, ndims, global, NULL, NULL, NULL, NULL);
  if (status == SHOAL_OK) status = shoal_decomposition_map_info(decomposition, &info);
  code = spio_code(status);
  int* dims = malloc(SPIO_MAX_CUT * sizeof *dims);
  int64_t* cells = malloc((size_t)(info.ncells + 1) * sizeof *cells);
  PIO_Offset* list = malloc((size_t)(info.ncells + 1) * sizeof *list);
  if (code == PIO_NOERR && (dims == NULL || cells == NULL || list == NULL))
    code = spio_fail(PIO_ENOMEM, "no memory for a list of %lld cells", (long long)info.ncells);
  if (code == PIO_NOERR) code = spio_code(shoal_decomposition_cells(decomposition, cells));
  shoal_decomposition_free(&decomposition);
  code = spio_match_comm(comm, "readmap, its end", code, "-");
  if (code == PIO_NOERR) {
    for (int i = 0; i < *ndims; ++i)
      dims[i] = (int)global[i];
    for (int64_t i = 0; i < info.ncells; ++i)
      list[i] = (PIO_Offset)(cells[i] < 0 ? 0 : cells[i] + 1);
    *gdims = dims;
    *map = list;
    *length = (PIO_Offset)info.ncells;
  } else {
    free(dims);
    free(list);
  }
  free(cells);
  return code;
}

int PIOc_readmap(const char* file, int* ndims, int** gdims, PIO_Offset* fmaplen, PIO_Offset** map,
                 MPI_Comm comm) {
  return spio_end(NULL, "PIOc_readmap", read_text(file, ndims, gdims, fmaplen, map, comm));
}

int PIOc_readmap_from_f90(const char* file, int* ndims, int** gdims, PIO_Offset* maplen, PIO_Offset** map,
                          int f90_comm) {
  return PIOc_readmap(file, ndims, gdims, maplen, map, MPI_Comm_f2c((MPI_Fint)f90_comm));
}

static void print_list(FILE* out, int rank, int64_t length, const PIO_Offset* map) {
  fprintf(out, "%d %lld\n", rank, (long long)length);
  for (int64_t i = 0; i < length; ++i)
    fprintf(out, "%lld ", (long long)(map[i] < 0 ? 0 : map[i]));
  fprintf(out, "\n");
}

/* Rank 0 prints its own list, then that of one rank after the other. What fails there is kept until all have
 * sent theirs. */
static int print_lists(FILE* out, int ranks, int64_t length, const PIO_Offset* map, MPI_Comm comm) {
  int code = PIO_NOERR;
  print_list(out, 0, length, map);
  for (int rank = 1; rank < ranks; ++rank) {
    int64_t theirs = 0;
    MPI_Recv(&theirs, 1, MPI_INT64_T, rank, 0, comm, MPI_STATUS_IGNORE);
    PIO_Offset* list = malloc((size_t)(theirs + 1) * sizeof *list);
    const int take = list != NULL && theirs <= INT_MAX;
    MPI_Send(&take, 1, MPI_INT, rank, 0, comm);
    if (!take) {
      code = spio_fail(PIO_ENOMEM, "no memory for a list of %lld cells", (long long)theirs);
    } else {
      MPI_Recv(list, (int)theirs, MPI_OFFSET, rank, 0, comm, MPI_STATUS_IGNORE);
      print_list(out, rank, theirs, list);
    }
    free(list);
  }
  return code;
}

/* Under a name beside `path`, `made`, so that a file that is there stays until the new one is whole. */
static FILE* begin_text(const char* path, char** made, int* code) {
  const char* name = shoal_beside(path);
  *made = name == NULL ? NULL : strdup(name);
  if (*made == NULL) {
    *code = spio_fail(name == NULL ? PIO_EINVAL : PIO_ENOMEM, "%s",
                      name == NULL ? shoal_error_message() : "no memory for a path");
    return NULL;
  }
  FILE* const out = fopen(*made, "wx");
  if (out == NULL) *code = spio_fail(errno, "%s could not be made: %s", path, strerror(errno));
  return out;
}

/* code: what was wrong before; then the new file is removed. */
static int end_text(FILE* out, const char* made, const char* path, int code) {
  const int bad = ferror(out);
  const int closed = fclose(out);
  if (code == PIO_NOERR && (bad || closed != 0)) code = spio_fail(PIO_EIO, "%s could not be written", path);
  if (code == PIO_NOERR) return spio_code(shoal_take_place(made, path, 0));
  remove(made);
  return code;
}

static void send_list(int64_t length, const PIO_Offset* map, MPI_Comm comm) {
  int take = 0;
  MPI_Send(&length, 1, MPI_INT64_T, 0, 0, comm);
  MPI_Recv(&take, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
  if (take) MPI_Send(map, (int)length, MPI_OFFSET, 0, 0, comm);
}

static int write_text(const char* path, int ndims, const int* gdims, int64_t length, const PIO_Offset* map,
                      MPI_Comm comm) {
  int rank = 0;
  int ranks = 0;
  if (comm == MPI_COMM_NULL) return spio_fail(PIO_EINVAL, "the communicator is MPI_COMM_NULL");
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  int code = path == NULL || gdims == NULL || ndims < 1 || length < 0 || (length > 0 && map == NULL)
                 ? spio_fail(PIO_EINVAL, "no path, no dimensions or no list")
                 : PIO_NOERR;
  FILE* out = NULL;
  char* made = NULL;
  code = spio_match_comm(comm, "writemap", code, "'%s', %d dimensions", path == NULL ? "" : path, ndims);
  if (code != PIO_NOERR) return code;
  if (rank == 0) out = begin_text(path, &made, &code);
  const int begun = spio_match_comm(comm, "writemap, its file", code, "-");
  code = begun;
  if (begun == PIO_NOERR && rank == 0) {
    fprintf(out, "version 2001 npes %d ndims %d \n", ranks, ndims);
    for (int i = 0; i < ndims; ++i)
      fprintf(out, "%d ", gdims[i]);
    fprintf(out, "\n");
    code = print_lists(out, ranks, length, map, comm);
  } else if (begun == PIO_NOERR) {
    send_list(length, map, comm);
  }
  if (out != NULL) code = end_text(out, made, path, code);
  free(made);
  return begun == PIO_NOERR ? spio_match_comm(comm, "writemap, its end", code, "-") : begun;
}

int PIOc_writemap(const char* file, int ndims, const int* gdims, PIO_Offset maplen, const PIO_Offset* map,
                  MPI_Comm comm) {
  return spio_end(NULL, "PIOc_writemap", write_text(file, ndims, gdims, (int64_t)maplen, map, comm));
}

int PIOc_writemap_from_f90(const char* file, int ndims, const int* gdims, PIO_Offset maplen,
                           const PIO_Offset* map, int f90_comm) {
  return PIOc_writemap(file, ndims, gdims, maplen, map, MPI_Comm_f2c((MPI_Fint)f90_comm));
}

/* The list of a decomposition, from `first`; holes are below it. */
static int list_of(const spio_decomp* decomp, PIO_Offset first, PIO_Offset** out) {
  int64_t* cells = malloc((size_t)(decomp->length + 1) * sizeof *cells);
  *out = malloc((size_t)(decomp->length + 1) * sizeof **out);
  int code =
      cells == NULL || *out == NULL ? spio_fail(PIO_ENOMEM, "no memory for a list of cells") : PIO_NOERR;
  if (code == PIO_NOERR) code = spio_list_cells(decomp->list, cells);
  for (int64_t i = 0; code == PIO_NOERR && i < decomp->length; ++i)
    (*out)[i] = (PIO_Offset)(cells[i] < 0 ? first - 1 : cells[i] + first);
  free(cells);
  return code;
}

/* Ranks of an iosystem come to a call with one of its decompositions; NULL and a code: it has none of the id.
 * Collective. */
static const spio_decomp* match_decomp(const spio_system* system, const char* call, const char* path,
                                       int ioid, int* code) {
  const spio_decomp* decomp = spio_decomp_of(ioid);
  *code = PIO_NOERR;
  if (system->comm == MPI_COMM_NULL) {
    *code = spio_fail(PIO_EINVAL, "this rank is not in the component of the iosystem");
    return NULL;
  }
  if (decomp == NULL || decomp->system != system)
    *code = spio_fail(PIO_EBADID, "no decomposition of the iosystem has the id %d", ioid);
  else if (path == NULL)
    *code = spio_fail(PIO_EINVAL, "no path was given");
  *code = spio_match(system, call, *code, "'%s', decomposition %d", path == NULL ? "" : path,
                     *code == PIO_NOERR ? decomp->serial : 0);
  return *code == PIO_NOERR ? decomp : NULL;
}

static int write_decomp(spio_system* system, const char* path, int ioid, MPI_Comm comm) {
  int code = PIO_NOERR;
  const spio_decomp* decomp = match_decomp(system, "write_decomp", path, ioid, &code);
  if (decomp == NULL) return code;
  PIO_Offset* list = NULL;
  code = spio_match(system, "write_decomp, its list", list_of(decomp, 1, &list), "-");
  if (code == PIO_NOERR) code = write_text(path, decomp->ndims, decomp->dims, decomp->length, list, comm);
  free(list);
  return code;
}

int PIOc_write_decomp(const char* file, int iosysid, int ioid, MPI_Comm comm) {
  SPIO_SYSTEM_OF_ALL("PIOc_write_decomp", "write_decomp", iosysid);
  return spio_end(system, "PIOc_write_decomp", write_decomp(system, file, ioid, comm));
}

/* ---- NetCDF -------------------------------------------------------------------------------- */

/* The list of each rank is a row of a table, as long as the longest one. Rows are in the order of the ranks
 * that the program knows. */
typedef struct table {
  int ranks, row, longest;
  int* lengths; /* [ranks] */
  int* map;     /* [longest] of this rank, from 0 */
  int ioid;
} table;

/* This rank's row as a decomposition. */
static int row_decomp(int iosysid, table* t) {
  const int dims[2] = {t->ranks, t->longest};
  const long start[2] = {t->row, 0};
  const long count[2] = {1, t->longest};
  return PIOc_InitDecomp_bc(iosysid, PIO_INT, 2, dims, start, count, &t->ioid);
}

static int define_table(int ncid, const spio_decomp* decomp, const table* t, const char* title,
                        const char* history, int fortran_order, int varids[3]) {
  static const char source[] = "Shoal";
  const char* order = fortran_order ? "Fortran" : "C";
  int dimids[3] = {0};
  int code = PIOc_def_dim(ncid, "dims", decomp->ndims, &dimids[0]);
  if (code == PIO_NOERR) code = PIOc_def_dim(ncid, "task", t->ranks, &dimids[1]);
  if (code == PIO_NOERR) code = PIOc_def_dim(ncid, "map_element", t->longest, &dimids[2]);
  if (code == PIO_NOERR) code = PIOc_def_var(ncid, "global_size", PIO_INT, 1, &dimids[0], &varids[0]);
  if (code == PIO_NOERR) code = PIOc_def_var(ncid, "maplen", PIO_INT, 1, &dimids[1], &varids[1]);
  if (code == PIO_NOERR) code = PIOc_def_var(ncid, "map", PIO_INT, 2, &dimids[1], &varids[2]);
  if (code == PIO_NOERR)
    code = PIOc_put_att_text(ncid, PIO_GLOBAL, "version", (PIO_Offset)strlen(PIO_VERSION), PIO_VERSION);
  if (code == PIO_NOERR) code = PIOc_put_att_int(ncid, PIO_GLOBAL, "max_maplen", PIO_INT, 1, &t->longest);
  if (code == PIO_NOERR && title != NULL)
    code = PIOc_put_att_text(ncid, PIO_GLOBAL, "title", (PIO_Offset)strlen(title), title);
  if (code == PIO_NOERR && history != NULL)
    code = PIOc_put_att_text(ncid, PIO_GLOBAL, "history", (PIO_Offset)strlen(history), history);
  if (code == PIO_NOERR)
    code = PIOc_put_att_text(ncid, PIO_GLOBAL, "source", (PIO_Offset)strlen(source), source);
  if (code == PIO_NOERR)
    code = PIOc_put_att_text(ncid, PIO_GLOBAL, "array_order", (PIO_Offset)strlen(order), order);
  return code == PIO_NOERR ? PIOc_enddef(ncid) : code;
}

static int fill_table(const spio_system* system, const spio_decomp* decomp, table* t) {
  PIO_Offset* list = NULL;
  int code = list_of(decomp, 0, &list);
  t->ranks = system->size;
  t->row = (system->rank + system->base) % system->size;
  t->lengths = calloc((size_t)t->ranks, sizeof *t->lengths);
  int64_t cells = 1;
  for (int i = 0; i < decomp->ndims; ++i)
    if (!spio_multiply(cells, decomp->dims[i], &cells)) cells = INT64_MAX;
  if (code == PIO_NOERR && (cells > INT_MAX || decomp->length > INT_MAX))
    code = spio_fail(PIO_ERANGE, "the NetCDF form of a decomposition has cells up to 2147483647");
  if (code == PIO_NOERR && t->lengths == NULL) code = spio_fail(PIO_ENOMEM, "no memory for a list of cells");
  code = spio_match(system, "write_nc_decomp, its lists", code, "-");
  if (code == PIO_NOERR) {
    t->lengths[t->row] = (int)decomp->length;
    MPI_Allreduce(MPI_IN_PLACE, t->lengths, t->ranks, MPI_INT, MPI_SUM, system->comm);
    t->longest = 1;
    for (int r = 0; r < t->ranks; ++r)
      if (t->lengths[r] > t->longest) t->longest = t->lengths[r];
    t->map = malloc((size_t)t->longest * sizeof *t->map);
    for (int i = 0; t->map != NULL && i < t->longest; ++i)
      t->map[i] = i < decomp->length ? (int)list[i] : NC_FILL_INT;
  }
  free(list);
  return code;
}

static int write_netcdf(spio_system* system, const char* path, int cmode, int ioid, const char* title,
                        const char* history, int fortran_order) {
  table t = {0};
  int ncid = -1;
  int varids[3] = {0};
  int code = PIO_NOERR;
  const spio_decomp* decomp = match_decomp(system, "write_nc_decomp", path, ioid, &code);
  if (decomp == NULL) return code;
  code = fill_table(system, decomp, &t);
  if (code == PIO_NOERR) code = row_decomp(system->id, &t);
  if (code == PIO_NOERR) {
    code = PIOc_create(system->id, path, cmode, &ncid);
    if (code == PIO_NOERR) code = define_table(ncid, decomp, &t, title, history, fortran_order, varids);
    if (code == PIO_NOERR) code = PIOc_put_var_int(ncid, varids[0], decomp->dims);
    if (code == PIO_NOERR) code = PIOc_put_var_int(ncid, varids[1], t.lengths);
    if (code == PIO_NOERR) code = PIOc_write_darray(ncid, varids[2], t.ioid, t.longest, t.map, NULL);
    if (ncid >= 0) {
      const int closed = PIOc_closefile(ncid);
      if (code == PIO_NOERR) code = closed;
    }
    PIOc_freedecomp(system->id, t.ioid);
  }
  free(t.lengths);
  free(t.map);
  return code;
}

/* An attribute of text, cut to PIO's length. */
static int read_text_att(int ncid, const char* name, char* out) {
  PIO_Offset length = 0;
  const int code = PIOc_inq_attlen(ncid, PIO_GLOBAL, name, &length);
  if (code == PIO_ENOTATT) out[0] = '\0';
  if (code != PIO_NOERR) return code == PIO_ENOTATT ? PIO_NOERR : code;
  char* text = calloc((size_t)length + 1, 1);
  if (text == NULL) return spio_fail(PIO_ENOMEM, "no memory for attribute '%s'", name);
  const int got = PIOc_get_att_text(ncid, PIO_GLOBAL, name, text);
  if (got == PIO_NOERR) snprintf(out, PIO_MAX_NAME + 1, "%s", text);
  free(text);
  return got;
}

static int dim_length(int ncid, const char* name, int* out) {
  int dimid = 0;
  PIO_Offset length = 0;
  int code = PIOc_inq_dimid(ncid, name, &dimid);
  if (code == PIO_NOERR) code = PIOc_inq_dimlen(ncid, dimid, &length);
  *out = (int)length;
  return code;
}

static int get_ints(int ncid, const char* name, int count, int* out) {
  int varid = 0;
  int ndims = 0;
  const PIO_Offset from = 0;
  const PIO_Offset so_many = count;
  int code = PIOc_inq_varid(ncid, name, &varid);
  if (code == PIO_NOERR) code = PIOc_inq_varndims(ncid, varid, &ndims);
  if (code == PIO_NOERR && ndims != 1)
    code = spio_fail(PIO_EINVAL, "variable '%s' of a decomposition has %d dimensions, not 1", name, ndims);
  return code == PIO_NOERR ? PIOc_get_vara_int(ncid, varid, &from, &so_many, out) : code;
}

static int read_table(spio_system* system, int ncid, table* t, int* ndims, int** dims) {
  int varid = 0;
  int code = dim_length(ncid, "task", &t->ranks);
  if (code == PIO_NOERR) code = dim_length(ncid, "map_element", &t->longest);
  if (code == PIO_NOERR) code = dim_length(ncid, "dims", ndims);
  if (code != PIO_NOERR) return code;
  if (t->ranks != system->size)
    return spio_fail(PIO_EINVAL, "the decomposition is for %d ranks; there are %d", t->ranks, system->size);
  t->row = (system->rank + system->base) % system->size;
  t->lengths = calloc((size_t)t->ranks, sizeof *t->lengths);
  t->map = malloc((size_t)t->longest * sizeof *t->map);
  *dims = calloc((size_t)*ndims, sizeof **dims);
  code = row_decomp(system->id, t);
  if (code != PIO_NOERR) return code;
  code = get_ints(ncid, "global_size", *ndims, *dims);
  if (code == PIO_NOERR) code = get_ints(ncid, "maplen", t->ranks, t->lengths);
  if (code == PIO_NOERR) code = PIOc_inq_varid(ncid, "map", &varid);
  if (code == PIO_NOERR) code = PIOc_read_darray(ncid, varid, t->ioid, t->longest, t->map);
  PIOc_freedecomp(system->id, t->ioid);
  return code;
}

static int read_netcdf(spio_system* system, const char* path, int* ioid, int pio_type, char* title,
                       char* history, int* fortran_order) {
  table t = {0};
  int ncid = -1;
  int ndims = 0;
  int* dims = NULL;
  char order[PIO_MAX_NAME + 1] = "";
  if (system->comm == MPI_COMM_NULL)
    return spio_fail(PIO_EINVAL, "this rank is not in the component of the iosystem");
  int code =
      path == NULL || ioid == NULL ? spio_fail(PIO_EINVAL, "no path, or no place for the id") : PIO_NOERR;
  code = spio_match(system, "read_nc_decomp", code, "'%s', type %d", path == NULL ? "" : path, pio_type);
  if (code == PIO_NOERR) code = PIOc_open(system->id, path, PIO_NOWRITE, &ncid);
  if (code != PIO_NOERR) return code;
  code = read_table(system, ncid, &t, &ndims, &dims);
  if (code == PIO_NOERR && title != NULL) code = read_text_att(ncid, "title", title);
  if (code == PIO_NOERR && history != NULL) code = read_text_att(ncid, "history", history);
  if (code == PIO_NOERR) code = read_text_att(ncid, "array_order", order);
  code = spio_match(system, "read_nc_decomp, its table", code, "-");
  if (code == PIO_NOERR && fortran_order != NULL) *fortran_order = strcmp(order, "Fortran") == 0;
  const int closed = PIOc_closefile(ncid);
  if (code == PIO_NOERR) code = closed;
  if (code == PIO_NOERR) {
    const int length = t.lengths[t.row] < 0 || t.lengths[t.row] > t.longest ? -1 : t.lengths[t.row];
    PIO_Offset* list = malloc((size_t)(t.longest + 1) * sizeof *list);
    for (int i = 0; list != NULL && i < length; ++i)
      list[i] = t.map[i];
    code = PIOc_init_decomp(system->id, pio_type, ndims, dims, length, list, ioid, PIO_REARR_BOX, NULL, NULL);
    free(list);
  }
  free(t.lengths);
  free(t.map);
  free(dims);
  return code;
}

/* Calls within calls give their codes; the outer one's handler acts. */
int PIOc_write_nc_decomp(int iosysid, const char* filename, int cmode, int ioid, const char* title,
                         const char* history, int fortran_order) {
  SPIO_SYSTEM_OF_ALL("PIOc_write_nc_decomp", "write_nc_decomp", iosysid);
  const int handler = system->handler;
  system->handler = PIO_RETURN_ERROR;
  const int code = write_netcdf(system, filename, cmode, ioid, title, history, fortran_order);
  system->handler = handler;
  return spio_end(system, "PIOc_write_nc_decomp", code);
}

int PIOc_read_nc_decomp(int iosysid, const char* filename, int* ioid, MPI_Comm comm, int pio_type,
                        char* title, char* history, int* fortran_order) {
  SPIO_SYSTEM_OF_ALL("PIOc_read_nc_decomp", "read_nc_decomp", iosysid);
  (void)comm; /* the iosystem's ranks */
  const int handler = system->handler;
  system->handler = PIO_RETURN_ERROR;
  const int code = read_netcdf(system, filename, ioid, pio_type, title, history, fortran_order);
  system->handler = handler;
  return spio_end(system, "PIOc_read_nc_decomp", code);
}
