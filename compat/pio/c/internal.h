/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the sources of libshoal_pioc share. A source calls those above it in this table alone, never one below
 * (tools/check_circles.py), and each part of the state has one owner, the file that changes it:
 *
 *   source            owns                            remarks
 *   tables.c          ids of everything
 *   errors.c          last error of this thread,
 *                     handlers, log level
 *   matching.c        writes that were refused
 *   shared_lists.c    lists of cells
 *   variables.c       what is known of variables      names, types and shapes are copies of the dataset's
 *   definitions.c     define mode, what is settled
 *   inquire.c
 *   properties.c      filters of new variables
 *   attributes.c
 *   values.c
 *   bridge.c                                          for Fortran
 *   files.c           open files
 *   io_ranks.c        what components share with      made by async.c
 *                     their I/O ranks
 *   system.c          iosystems                       made by Init_Intracomm, and by init_async (async.c);
 *                                                     freed by finalize
 *   async.c
 *   decompositions.c  decompositions
 *   darray.c          frames
 *   map_files.c
 *
 * PIO is not for several threads at once, and neither is this.
 */
#ifndef SHOAL_PIO_INTERNAL_H
#define SHOAL_PIO_INTERNAL_H

#include <shoal/bindings.h>

#include "bridge.h"
#include "pio.h"

#define SPIO_MAX_CUT 7      /* dimensions of a decomposition */
#define SPIO_MAX_RECORDS 64 /* of a decomposition that has a variable's unlimited dimension */
#define SPIO_NO_FRAME (-1)  /* a variable whose frame was not set */
#define SPIO_IOTYPES 10
#define SPIO_USED_LISTS 32 /* of a file, that it remembers */
#define SPIO_MAX_SYSTEMS 32767
#define SPIO_MAX_FILES 384

/* ---- Lists of cells (shared_lists.c) ------------------------------------------------------- */

/* A list of cells as Shoal has it, of all ioids with the same list. Leading dimensions of length 1 are not in
 * it. An array of it has the extents dims[0 .. lead), then the tile or the length of the core's list, then
 * the last `uncut` dims. */
typedef struct spio_list {
  int ndims; /* 1 to SPIO_MAX_CUT */
  int64_t dims[SPIO_MAX_CUT];
  int64_t length;   /* of this rank's list: the elements of an array */
  uint64_t hash[2]; /* of this rank's list */
  int lead;         /* so many first dimensions repeat the same cells: levels */
  int uncut;        /* so many last ones are whole for each cell */
  int is_block;     /* then lead and uncut are 0 */
  int64_t tile[SPIO_MAX_CUT];
  int64_t core_length; /* length of the map's list */
  int leaves_cells;    /* some cells are no rank's */
  shoal_decomposition* reading;
  shoal_decomposition* writing; /* NULL: not asked for yet; the same as reading where no cell comes twice */
  struct spio_list*
      records[SPIO_MAX_RECORDS]; /* parts with one index of the first dimension; NULL: not asked for */
  uint64_t serial;               /* among those of the iosystem, from 1, as all ranks know it */
  int users;                     /* ioids; 0: kept for the next one with this list */
  uint64_t released;             /* when the last user went, as a count */
  int64_t bytes;                 /* of memory, the largest of any rank */
  struct spio_list* next;        /* the one made before */
} spio_list;

typedef struct spio_lists {
  spio_list* first; /* the same ones in the same order on all ranks */
  uint64_t made;
  uint64_t releases;
} spio_lists;

/* ---- Iosystems (system.c) ------------------------------------------------------------------ */

/* What the environment says (SHOAL_PIO_*), as the iosystem's first rank has it. */
typedef struct spio_policy {
  int use_io_tasks;   /* SHOAL_PIO_IO_TASKS=use */
  int lazy_sync;      /* SHOAL_PIO_SYNC=lazy */
  int64_t keep_bytes; /* SHOAL_PIO_KEEP_BYTES */
  int64_t cut_bytes;  /* SHOAL_PIO_CUT_BYTES */
} spio_policy;

typedef struct spio_cache {
  PIO_Offset size, nelems;
  float preemption;
} spio_cache;

typedef struct spio_hint {
  struct spio_hint* next;
  char* value;
  char key[];
} spio_hint;

/* An error that a call could not give to its caller, as Fortran's subroutines have no code. */
typedef struct spio_deferred {
  int code;    /* that the next call gives, 0: none */
  int printed; /* the code that was last printed: once is enough */
} spio_deferred;

/* What the components of this rank share with the I/O ranks. */
typedef struct spio_async {
  MPI_Comm all;   /* computing ranks and I/O ranks */
  int components; /* that this rank is in and has not finished */
  int* is_io;     /* [ranks of all] */
} spio_async;

typedef struct spio_system {
  int id;
  MPI_Comm comm; /* the rank `base` first; MPI_COMM_NULL: a component that this rank is not in */
  int rank, size;
  int tasks, stride, base, rearranger;
  int io_rank;            /* of this rank among the I/O ranks, -1: it is none */
  int handler;            /* PIO_INTERNAL_ERROR ... */
  spio_deferred deferred; /* of calls of the iosystem itself, and of closing */
  rearr_opt_t options;
  spio_policy policy;
  spio_cache caches[SPIO_IOTYPES];
  spio_hint* hints; /* for files made or opened later */
  spio_lists lists;
  int decomps;       /* that were made so far */
  int left_alone;    /* ranks did not all come to its end */
  spio_async* async; /* NULL: it has no I/O ranks of its own */
  int served;        /* I/O ranks store what the component writes */
} spio_system;

/* ---- Decompositions (decompositions.c) ----------------------------------------------------- */

typedef struct spio_decomp {
  int id;
  spio_system* system;
  int type;
  int ndims;
  int* dims; /* as the call gave them */
  int64_t length;
  int read_only;
  int serial; /* among those of the iosystem, as all ranks know it */
  spio_list* list;
} spio_decomp;

/* ---- Files (files.c) ----------------------------------------------------------------------- */

/* Writes that this rank refused, since the last sync or the last match. */
typedef struct spio_refused {
  uint64_t which; /* hash of their numbers among the writes, or how many; 0: none */
  int code;       /* of the first */
  char message[512];
} spio_refused;

enum spio_mode { SPIO_DEFINING, SPIO_DATA };

typedef struct spio_filters {
  int shuffle;
  int deflate; /* level, 0: none */
  int zstd;    /* level, 0: none */
  int fletcher;
} spio_filters;

/* What a variable and a decomposition are to each other, as it was found when they met last. */
typedef struct spio_pair {
  uint64_t known;  /* the file's `changes` then, 0: never */
  int decomp;      /* its serial, which no other one of the iosystem gets */
  int has_frame;   /* a frame was given, which says what leading dimensions of 1 are */
  int framed;      /* the variable's first dimension is not in the list: the frame is its index */
  int64_t records; /* the list has so many records of the variable in it; 0: none */
  int fill_type;   /* of the fill value; 0: it was not asked for */
  int fills;
  unsigned char fill[8];
} spio_pair;

typedef struct spio_variable {
  int index; /* in the dataset */
  char* name;
  int type;
  int ndims;
  int dims[SHOAL_MAX_DIMS];
  int64_t lengths[SHOAL_MAX_DIMS]; /* 0: unlimited */
  int has_record;
  int frame;
  int own_fill;   /* def_var_fill was called */
  int knows_fill; /* it is settled whether it takes the fill value of a write */
  spio_filters filters;
  spio_cache cache;
  spio_pair pair;
} spio_variable;

/* Ids of variables by name, as far as they were asked for. */
typedef struct spio_names {
  int* ids;  /* [room], -1: free */
  int room;  /* a power of two, or 0 */
  int count; /* the first so many variables are in it; 0: begin again */
} spio_names;

typedef struct spio_file {
  int id;
  spio_system* system;
  shoal_dataset* dataset;
  int iotype;
  int format; /* PIO_FORMAT_CLASSIC ... */
  int writable;
  enum spio_mode mode;
  int meets;                      /* ranks leave define mode together in the next call with data */
  uint64_t used[SPIO_USED_LISTS]; /* lists that were written with, the last one at nused - 1, around */
  int nused;
  int fill_mode;            /* PIO_FILL, PIO_NOFILL: of new variables */
  spio_variable* variables; /* [room] */
  int nvariables, room;
  spio_names names;
  int seen;         /* variables of the dataset that were looked at; some have no id */
  int settled;      /* so many variables' definitions are in the file */
  uint64_t changes; /* of definitions so far, at least: what is known of variables may be old */
  void* buffer;     /* for arrays with strides */
  size_t buffer_bytes;
  spio_deferred deferred;
  uint64_t writes; /* of distributed arrays, so far */
  spio_refused refused;
  spio_refused unanswered; /* writes that this rank refused, and in which the others may wait for it */
  int met;                 /* ranks came together in the last write */
  double committed;        /* when, by MPI_Wtime of the first rank */
} spio_file;

/* ---- tables.c: ids ------------------------------------------------------------------------- */

/* Give an id; PIO_ENOMEM, PIO_ENFILE: there is no room (spio_no_room). Local. */
int spio_add_system(spio_system* system);
int spio_add_file(spio_file* file);
int spio_add_decomp(spio_decomp* decomp);
void spio_remove_system(int id);
void spio_remove_file(int id);
void spio_remove_decomp(int id);
/* NULL where there is none of the id. */
spio_system* spio_system_of(int id);
spio_file* spio_file_of(int id);
spio_decomp* spio_decomp_of(int id);
/* The one that there is; NULL: there is none, or there are several. */
spio_system* spio_only_system(void); /* of several ranks */
spio_file* spio_only_file(void);     /* of several ranks */
/* The first file or decomposition of an iosystem (NULL: of any) with an id above `after` (0: any), NULL. */
spio_file* spio_next_file(const spio_system* system, int after);
spio_decomp* spio_next_decomp(const spio_system* system, int after);

/* ---- errors.c ------------------------------------------------------------------------------ */

#if defined(__GNUC__)
#define SPIO_PRINTF(FORMAT) __attribute__((format(printf, FORMAT, FORMAT + 1)))
#else
#define SPIO_PRINTF(FORMAT)
#endif
#define SPIO_EOUTOFSTEP (-250) /* ranks made different calls */
/* Keep the message of a code and return it. */
int spio_fail(int code, const char* format, ...) SPIO_PRINTF(2);
/* Keep the message of a table that took no id, and return its code. what: "files", of which there can be
 * `limit`. */
int spio_no_room(int code, const char* what, int limit);
/* PIO's code of an error of Shoal, with its message; 0 stays 0. The second form says what SHOAL_NOT_FOUND
 * is. */
int spio_code(int shoal_code);
int spio_code_for(int shoal_code, int not_found);
/* Shoal's code that is nearest to one of PIO's, for calls that other ranks make. */
int spio_shoal_code(int code);
const char* spio_message(void);
/* End of each call: what the handler says is done, the code is returned. system NULL: the default handler. */
int spio_end(spio_system* system, const char* call, int code);
/* The same for a call of a file, and of an iosystem as a whole, which give what an earlier one could not. */
int spio_end_file(spio_file* file, const char* call, int code);
int spio_end_system(spio_system* system, const char* call, int code);
/* What an earlier call could not give, once; 0: nothing. of_what: for the message. */
int spio_earlier(spio_deferred* deferred, const char* of_what);
/* An id that there is not. */
int spio_fail_no_file(int ncid);
int spio_fail_no_system(int iosysid);
/* End of a local call with it. */
int spio_no_file(const char* call, int ncid);
int spio_no_system(const char* call, int iosysid);
/* What iosystems get when they are made. */
int spio_default_handler(void);

/* ---- matching.c ---------------------------------------------------------------------------- */

/* Ranks match a collective call before they do anything in it. code: what is wrong with this rank's
 * arguments; format: those that must be the same on all ranks. Returns the code of the lowest rank that has
 * one, on all ranks alike; or SPIO_EOUTOFSTEP, PIO_EIO. Collective, over comm, the iosystem, the file's. */
int spio_match_comm(MPI_Comm comm, const char* call, int code, const char* format, ...) SPIO_PRINTF(4);
int spio_match(const spio_system* system, const char* call, int code, const char* format, ...) SPIO_PRINTF(4);
int spio_match_file(spio_file* file, const char* call, int code, const char* format, ...) SPIO_PRINTF(4);
/* A write of a distributed array, as it is matched. */
#define SPIO_WRITE "write_darray"
/* This rank refuses a write and does not know whether the others match it: where they do, they get the code
 * when this rank comes to its next match, which then comes again. Local. */
void spio_refuse_unmatched(spio_file* file, int code);
/* "(none)" for NULL, for the details of a match. */
const char* spio_text(const char* text);
/* End of a collective call with an id that this rank does not have. matched: the call as it is matched. */
int spio_no_file_of_all(const char* call, const char* matched, int ncid);
int spio_no_system_of_all(const char* call, const char* matched, int iosysid);
/* A write of a distributed array, in which no rank waits for the others, was made or refused; its end. */
void spio_note_write(spio_file* file, int code);
int spio_end_write(spio_file* file, const char* call, int code);
/* spio_match_file of a call that tells what writes could not. untold: the code of one that some ranks
 * refused, and not all; its message is the last one. */
int spio_match_refused(spio_file* file, const char* call, int* untold);

/* ---- shared_lists.c ------------------------------------------------------------------------ */

/* The product of two numbers that are not negative. 0: it is too large. */
int spio_multiply(int64_t a, int64_t b, int64_t* out);

/* A rank's list as programs give it: `base` is the number of the first cell, those below it are holes. */
typedef struct spio_cells {
  int64_t length;
  const PIO_Offset* numbers;
  PIO_Offset base;
} spio_cells;

/* The list with these dims and cells, made or found; one that is found is read once. code: what is wrong with
 * this rank's arguments so far; all ranks get the code of one. kind: what else must be the same on all ranks.
 * Returns a code of PIO. Collective. */
int spio_take_list(spio_system* system, const char* kind, int ndims, const int* dims, const spio_cells* cells,
                   int code, spio_list** out);
void spio_release_list(spio_system* system, spio_list* list); /* Local, on all ranks alike. */
void spio_free_lists(spio_system* system);
/* To write with: each cell once. Collective at the first call for a list, local afterwards. */
int spio_writable(spio_system* system, spio_list* list, shoal_decomposition** out);
/* The part of index `record` of the first dimension. Collective at the first call for a list. */
int spio_record_list(spio_system* system, spio_list* list, int64_t record, spio_list** out);
/* cells[length] of this rank, from 0, below 0: holes. Local. */
int spio_list_cells(const spio_list* list, int64_t* cells);

/* ---- variables.c --------------------------------------------------------------------------- */

/* NULL and the error in *code where there is no such variable. */
spio_variable* spio_variable_of(spio_file* file, int varid, int* code);
int spio_variable_named(spio_file* file, const char* name); /* id, -1: none */
/* Name for Shoal: NULL for PIO_GLOBAL. Returns a code. */
int spio_owner_name(spio_file* file, int varid, const char** out);
/* Look at the dataset again: variables were added, dropped or renamed. A change (spio_file). */
int spio_refresh(spio_file* file);
/* Those from this id on are forgotten. */
void spio_forget_variables(spio_file* file, int from);
int spio_is_netcdf4(const spio_file* file);
size_t spio_type_size(int type); /* 0: no such type */

/* ---- definitions.c ------------------------------------------------------------------------- */

/* May the file be defined in? PIO_EPERM, PIO_ENOTINDEFINE. A definition begins, for which a netCDF-4 file
 * enters define mode by itself. The third form does both, after ranks have matched the call. */
int spio_check_define(const spio_file* file);
void spio_begin_define(spio_file* file);
int spio_may_define(spio_file* file);
/* Is the variable new, so that its properties can be set? PIO_ELATEDEF. */
int spio_is_new(const spio_file* file, int varid);
/* Before a call that ends the define phase of the dataset. Local. */
int spio_settle(spio_file* file);
/* The types of a format are PIO_BYTE up to this one. */
int spio_last_type(int format);
/* Its name, "float"; "" if there is none of the number. */
const char* spio_type_name(nc_type xtype);
/* Type of values in memory, where the file has `stored`: in formats without an unsigned one (CDF-1, CDF-2) a
 * byte has no sign of its own. */
int spio_memory_type(const spio_file* file, int stored, int type);
/* Are values of these types converted into each other? */
int spio_converts(int a, int b);
/* Strings that Shoal made, as the caller may give them back: by free. */
int spio_own_strings(int64_t count, char** strings);
/* A name that can be given. */
int spio_check_name(const char* name);

/* ---- darray.c ------------------------------------------------------------------------------ */

/* Values of a distributed array in memory. */
typedef struct spio_values {
  const void* data;
  int type;
  int64_t length;           /* elements there are */
  const shoal_array* array; /* NULL: contiguous */
} spio_values;

/* ---- values.c, attributes.c ---------------------------------------------------------------- */

/* Ranks match a call of put_var or get_var; details: which cells (spio_match_file). */
int spio_match_values(spio_file* file, int writing, int code, const char* details);
/* Type of a family of functions. */
#define SPIO_TYPE_text PIO_CHAR
#define SPIO_TYPE_schar PIO_BYTE
#define SPIO_TYPE_short PIO_SHORT
#define SPIO_TYPE_int PIO_INT
#define SPIO_TYPE_long (sizeof(long) == 8 ? PIO_INT64 : PIO_INT)
#define SPIO_TYPE_float PIO_FLOAT
#define SPIO_TYPE_double PIO_DOUBLE
#define SPIO_TYPE_uchar PIO_UBYTE
#define SPIO_TYPE_ushort PIO_USHORT
#define SPIO_TYPE_uint PIO_UINT
#define SPIO_TYPE_longlong PIO_INT64
#define SPIO_TYPE_ulonglong PIO_UINT64
#define SPIO_NUMBERS(X)     \
  X(schar, signed char)     \
  X(short, short)           \
  X(int, int)               \
  X(float, float)           \
  X(double, double)         \
  X(uchar, unsigned char)   \
  X(ushort, unsigned short) \
  X(uint, unsigned int)     \
  X(longlong, long long)    \
  X(ulonglong, unsigned long long)

/* ---- files.c ------------------------------------------------------------------------------- */

int spio_sync(spio_file* file); /* Collective. */
/* The file is gone, also on error; but where one rank has its id wrong it stays, unless `always`.
 * Collective. */
int spio_close(spio_file* file, int always);

/* ---- io_ranks.c ---------------------------------------------------------------------------- */

/* An I/O rank: until each component has said that it is finished. Does not use the core. */
int spio_wait_for_components(const spio_async* async, int component_count);
/* The first rank of a component says it; a message without contents waits for nobody. */
void spio_tell_io_ranks(const spio_async* async);
/* Let the I/O ranks serve; they come back when the component that they serve has finished. Returns whether
 * they do. Says once why not. code: what went wrong here so far. Collective over all. */
int spio_let_serve(MPI_Comm all, int component_count, const MPI_Comm* comps, int is_io, int code);
void spio_free_async(spio_async* async);
/* A component is finished; I/O ranks go on when all are. Nothing for an iosystem without such ranks. Returns
 * a code. Collective over the component where ranks serve it. */
int spio_leave_async(spio_system* system);

/* ---- system.c ------------------------------------------------------------------------------ */

/* An iosystem over a communicator, which it keeps and frees. comm MPI_COMM_NULL: one that this rank is not
 * in. Collective over comm. */
int spio_make_system(MPI_Comm comm, int tasks, int stride, int base, int rearranger, spio_system** out);
int spio_check_rearranger(int rearranger);

/* At the begin of each local call with the id of a file or an iosystem. */
#define SPIO_FILE(CALL, NCID)           \
  spio_file* file = spio_file_of(NCID); \
  if (file == NULL) return spio_no_file(CALL, NCID)
#define SPIO_SYSTEM(CALL, ID)               \
  spio_system* system = spio_system_of(ID); \
  if (system == NULL) return spio_no_system(CALL, ID)

/* The same for a collective one. */
#define SPIO_FILE_OF_ALL(CALL, MATCHED, NCID) \
  spio_file* file = spio_file_of(NCID);       \
  if (file == NULL) return spio_no_file_of_all(CALL, MATCHED, NCID)
#define SPIO_SYSTEM_OF_ALL(CALL, MATCHED, ID) \
  spio_system* system = spio_system_of(ID);   \
  if (system == NULL) return spio_no_system_of_all(CALL, MATCHED, ID)

#endif
