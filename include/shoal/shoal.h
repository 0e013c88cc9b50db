/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shoal: parallel input and output for fields that are cut over MPI ranks.
 * The C interface. Everything else (C++, Fortran, Python) stands on it.
 *
 * Conventions, once for all functions:
 *  1. Every function returns 0 (SHOAL_OK) or an error code. Errors are never printed, nothing aborts;
 *     shoal_error_message() gives the message of the last error of this thread. Warnings (a stage that
 *     had to shrink) are printed once by rank 0 on standard error, unless the setting quiet is true.
 *  2. Indices start at 0, dimensions are in C order: the last one varies fastest in memory and file.
 *     Sizes and indices are int64_t.
 *  3. Every function is marked Collective (all ranks of the communicator call it, in the same
 *     order) or Local. Collective functions return the same code on all ranks, except shoal_write
 *     and shoal_put, whose errors are agreed on, and returned on all ranks alike, by the next
 *     shoal_sync or shoal_close.
 *  4. Handles are made by Shoal and given back with shoal_close or shoal_decomposition_free.
 *     A dataset keeps what it needs of a decomposition: it may be freed before the dataset.
 *  5. Names and arrays that Shoal returns belong to the handle and live until the next call that
 *     defines, or closes, unless said otherwise.
 *  6. Arguments are only read, unless the name of the parameter says otherwise (out, array of a read).
 *  7. Structs that a program allocates begin with struct_size, their sizeof, which says to which version of
 *     this file the program was compiled: a later library looks at, or fills, those members alone.
 *     shoal_array_of, SHOAL_RECORD and the macros SHOAL_..._INIT set it; 0 and sizes that no version has are
 *     errors (SHOAL_INVALID_ARGUMENT).
 */
#ifndef SHOAL_H
#define SHOAL_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#define SHOAL_VERSION_MAJOR 0
#define SHOAL_VERSION_MINOR 2
#define SHOAL_VERSION_PATCH 0
/* One number to compare: #if SHOAL_VERSION_NUMBER >= 200 is 0.2.0 or newer. */
#define SHOAL_VERSION_NUMBER (10000 * SHOAL_VERSION_MAJOR + 100 * SHOAL_VERSION_MINOR + SHOAL_VERSION_PATCH)

#if defined(__GNUC__)
#define SHOAL_API __attribute__((visibility("default")))
#else
#define SHOAL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Constants --------------------------------------------------------------------------- */

/* Error codes. docs/errors.md says of each what to do. */
enum {
  SHOAL_OK = 0,
  SHOAL_INVALID_ARGUMENT = 1, /* an argument makes no sense: shape, name, box, handle */
  SHOAL_NOT_FOUND = 2,        /* no such file, dimension, variable, attribute or record */
  SHOAL_EXISTS = 3,           /* the name is taken */
  SHOAL_PERMISSION = 4,       /* the system denies access */
  SHOAL_NO_SPACE = 5,         /* the disk or quota is full */
  SHOAL_IO = 6,               /* reading or writing failed for another reason */
  SHOAL_FORMAT = 7,           /* not a file that can be read, or damaged */
  SHOAL_RANGE = 8,            /* a value does not fit the type of the file or of the array */
  SHOAL_TYPE = 9,             /* types that cannot be converted into each other */
  SHOAL_NOT_SUPPORTED = 10,   /* the format or driver cannot do this; the message says which can */
  SHOAL_OVERLAP = 11,         /* two ranks own the same cell */
  SHOAL_OUT_OF_STEP = 12,     /* ranks made different calls, or in a different order */
  SHOAL_TIMEOUT = 13,         /* a rank did not come within wait_seconds */
  SHOAL_SETTING = 14,         /* unknown setting or bad value of one */
  SHOAL_STATE = 15,           /* not now: closed, read-only, still in use */
  SHOAL_NO_MEMORY = 16,       /* memory or shared memory ran out */
  SHOAL_MPI = 17,             /* an MPI call failed */
  SHOAL_INTERNAL = 18         /* a bug of Shoal */
};

/* Element types; the numbers 1 to 12 are those of NetCDF. */
enum {
  SHOAL_BYTE = 1,
  SHOAL_CHAR = 2,
  SHOAL_SHORT = 3,
  SHOAL_INT = 4,
  SHOAL_FLOAT = 5,
  SHOAL_DOUBLE = 6,
  SHOAL_UBYTE = 7,
  SHOAL_USHORT = 8,
  SHOAL_UINT = 9,
  SHOAL_INT64 = 10,
  SHOAL_UINT64 = 11,
  SHOAL_STRING = 12, /* memory: const char *, zero-terminated */
  SHOAL_LOGICAL = 13 /* memory: an integer of 1, 2, 4 or 8 bytes, 0 is false; file: bytes 0 and 1 */
};

#define SHOAL_UNLIMITED ((int64_t)0)    /* length of a dimension that grows */
#define SHOAL_SERVES (-1)               /* shoal_serve_components: this rank serves */
#define SHOAL_NO_RECORD ((int64_t)-1)   /* the variable has no record dimension */
#define SHOAL_ALL_RECORDS ((int64_t)-2) /* shoal_get, shoal_put: every record there is */
/* shoal_write, shoal_put, shoal_copy: the record of the time step that is being written. It is the last
 * record of the dimension, if that was begun since the file was opened and the variable has not been written
 * in it or later since; otherwise the one after the last. So each variable of a step is written with
 * SHOAL_NEXT, and appending to a file is the same. A variable that is not in every step comes after one that
 * is, or its program says where steps begin (shoal_begin_step). After an error at shoal_sync it is the one
 * after the last for all variables. On several ranks, a put of all records is to be followed by shoal_sync
 * first (SHOAL_STATE). */
#define SHOAL_NEXT ((int64_t)-3)
#define SHOAL_MAX_DIMS 16        /* of a variable, the record dimension included */
#define SHOAL_HOLE ((int64_t)-1) /* in the list of a map: a local cell that belongs to no global cell */

/* How a file is opened. */
enum {
  SHOAL_READ = 0,  /* read */
  SHOAL_WRITE = 1, /* read, change and append: the file exists */
  SHOAL_APPEND = 2 /* as SHOAL_WRITE; a file that does not exist is made */
};

/* ---- Arrays and sections ----------------------------------------------------------------- */

typedef struct shoal_dataset shoal_dataset;
typedef struct shoal_decomposition shoal_decomposition;
/* A variable of a dataset: its number, from 0 in the order of the file (shoal_find_var). A variable that is
 * defined is the last one. It keeps its number until shoal_close, also when it is renamed; where
 * shoal_end_define fails, those that were defined since the last time are gone, and so are their numbers. */
typedef int shoal_variable;

/* An array in the caller's memory, of any strides. */
typedef struct shoal_array {
  size_t struct_size;     /* sizeof(shoal_array) */
  void* data;             /* the element with all indices 0; may be NULL if there are no elements */
  int type;               /* SHOAL_BYTE ... */
  size_t element_size;    /* bytes; 0 means the size of the type. Needed for SHOAL_LOGICAL (1, 2, 4, 8) */
  int ndims;              /* 0 to SHOAL_MAX_DIMS */
  const int64_t* extents; /* [ndims] elements along each dimension, C order */
  const int64_t* strides; /* [ndims] bytes from one element to the next, may be negative; NULL: contiguous */
} shoal_array;

/* A contiguous array: shoal_array temp = shoal_array_of(t, SHOAL_DOUBLE, 3, extents). Other members (strides,
 * element_size) may be set afterwards. One value has 0 dimensions and extents NULL. Local. */
static inline shoal_array shoal_array_of(void* data, int type, int ndims, const int64_t* extents) {
  shoal_array array = {sizeof(shoal_array), data, type, 0, ndims, extents, NULL};
  return array;
}

/* Which part of a variable: a record, and a section of it. */
typedef struct shoal_section {
  size_t struct_size; /* sizeof(shoal_section) */
  int64_t record;     /* index of the record, SHOAL_NEXT; SHOAL_NO_RECORD: a variable without records */
  int ndims; /* numbers in start and count: one for each dimension but the record dimension; 0: neither */
  const int64_t* start; /* [ndims] first cell, NULL: 0; in dimensions that are cut it must be 0 */
  const int64_t* count; /* [ndims] cells, NULL: up to the end; where it is cut, the global length */
  int64_t records;      /* shoal_put, shoal_get: so many records, from `record` on; the array has one more
                           dimension in front, of that length, 1 too. 0: one record, without that dimension */
} shoal_section;

#define SHOAL_SECTION_INIT \
  { sizeof(shoal_section), SHOAL_NO_RECORD, 0, NULL, NULL, 0 }
/* Short for a call: shoal_write(dataset, "temp", NULL, &array, SHOAL_RECORD(step)). All are pointers to a
 * shoal_section that lives as long as the block around the call (in C++ as the call). */
#ifdef __cplusplus
struct shoal_section_value {
  shoal_section section;
  operator const shoal_section*() const noexcept { return &section; }
};
#define SHOAL_RECORDS_SECTION(index, number, dims, from, cells)                                           \
  (shoal_section_value{{sizeof(shoal_section), static_cast<int64_t>(index), static_cast<int>(dims), from, \
                        cells, static_cast<int64_t>(number)}})
#else
#define SHOAL_RECORDS_SECTION(index, number, dims, from, cells) \
  (&(const shoal_section){sizeof(shoal_section), (index), (int)(dims), (from), (cells), (number)})
#endif
#define SHOAL_SECTION(index, dims, from, cells) SHOAL_RECORDS_SECTION(index, 0, dims, from, cells)
#define SHOAL_RECORD(index) SHOAL_RECORDS_SECTION(index, 0, 0, NULL, NULL)
#define SHOAL_RECORDS(index, number) SHOAL_RECORDS_SECTION(index, number, 0, NULL, NULL)

/* A box of a variable and where its cells lie in memory: `count` cells along each dimension, from `start` on,
 * `stride` apart. */
typedef struct shoal_box {
  size_t struct_size; /* sizeof(shoal_box); the same in all boxes of a call */
  shoal_variable variable;
  int ndims;             /* of the variable, the record dimension included */
  const int64_t* start;  /* [ndims] first cell, from 0; ndims 0: NULL */
  const int64_t* count;  /* [ndims] cells, 0 or more */
  const int64_t* stride; /* [ndims] from one cell to the next, 1 or more; NULL: 1 */
  shoal_array array;     /* of extents count, any strides and type; not looked at in a box without cells */
} shoal_box;
#define SHOAL_BOX_INIT                               \
  {                                                  \
    sizeof(shoal_box), -1, 0, NULL, NULL, NULL, {    \
      sizeof(shoal_array), NULL, 0, 0, 0, NULL, NULL \
    }                                                \
  }

/* ---- Errors and the library -------------------------------------------------------------- */

/* The message of the last error of this thread, "" if there was none. Local. */
SHOAL_API const char* shoal_error_message(void);
/* Where it was, as far as it is known: the rank that failed (of the communicator of the call), -1: none or
 * not known; the path of the file, and the name of the variable, "": none or not known. They live until the
 * next call that fails in this thread. Local. */
SHOAL_API int shoal_error_rank(void);
SHOAL_API const char* shoal_error_file(void);
SHOAL_API const char* shoal_error_variable(void);
/* The name of a code ("SHOAL_RANGE"); "unknown" for other numbers. Local. */
SHOAL_API const char* shoal_error_name(int code);
/* "0.2.0". Local. */
SHOAL_API const char* shoal_version(void);
/* What this library was built with: MPI, HDF5, drivers, formats, filters; one "key: value" a line. Of each
 * driver "driver_NAME: its formats; its accesses", with blanks between. Local. */
SHOAL_API const char* shoal_build_info(void);

/* Print the message of an error on standard error and stop all ranks of the communicator (MPI_COMM_NULL: of
 * MPI_COMM_WORLD), for programs that do not go on after one. Ranks that call it with the same message, as all
 * do that get an error alike, print it once, with their number behind its first line ("on rank 0 and 511
 * other ranks"): each waits at most 2.5 seconds for that. On a communicator that no collective call of Shoal
 * was made on before (shoal_wait is the cheapest), each rank prints its own.
 *  code  the exit status; SHOAL_OK: the error is none of Shoal's, its code is not printed, the status is 1
 * Does not return. Local. */
SHOAL_API void shoal_abort(MPI_Comm comm, int code, const char* message);

/* ---- Decomposition ----------------------------------------------------------------------- */

/* Each rank owns one tile (box) of a global shape.
 *  ndims      1 to SHOAL_MAX_DIMS - 1
 *  global     [ndims] shape of the whole field, all > 0, the same on every rank
 *  first      [ndims] first cell of this rank's tile
 *  count      [ndims] cells of the tile; any may be 0 (this rank owns nothing, first is not looked at)
 *  halo_low   [ndims] halo cells before the tile in this rank's arrays, NULL: none
 *  halo_high  [ndims] halo cells after it, NULL: none
 * An array given to shoal_write or shoal_read then has either the tile's extents, or those plus the
 * halo. Tiles may come in any order of ranks and need not cover everything: cells that no rank has get the
 * fill value; with the setting fill=false, and in variables without fill unless it is fill=written, they keep
 * what the file had.
 * Errors: tiles that overlap (SHOAL_OVERLAP, naming two ranks and the box), boxes outside of the global
 * shape. Collective. */
SHOAL_API int shoal_block(MPI_Comm comm, int ndims, const int64_t* global, const int64_t* first,
                          const int64_t* count, const int64_t* halo_low, const int64_t* halo_high,
                          shoal_decomposition** out);
/* Each rank owns a list of cells of a global shape, in any order.
 *  ndims      1 to SHOAL_MAX_DIMS - 1
 *  global     [ndims] shape of the whole field, all > 0, the same on every rank
 *  uncut      so many of the last dimensions are not cut: every rank has all of them for each cell in its
 *             list. 0 to ndims - 1, the same on every rank
 *  ncells     length of this rank's list, 0 or more
 *  cells      [ncells] which global cell each local cell is: its index from 0, row-major, in the first
 *             ndims - uncut dimensions; SHOAL_HOLE: none. Only read during the call
 * An array given to shoal_write or shoal_read then has the extents [dimensions before those of the
 * decomposition, ncells, the last `uncut` dimensions]; holes are not looked at when writing, and left alone
 * when reading. Levels need no list of their own: levels that vary slower than the cells are a dimension of
 * the variable before those of the decomposition, levels that vary faster are uncut.
 * The list is kept as runs of cells that follow each other, in at most 8 bytes a cell. Cells that no rank
 * has are as for shoal_block; a rank keeps those in its even part of the global shape, 12 bytes a run or
 * less. A cell that comes twice, on any ranks, can be read; shoal_write refuses it (SHOAL_OVERLAP, naming the
 * ranks and the index). Errors: indices outside of the global shape, shapes that differ between ranks
 * (SHOAL_INVALID_ARGUMENT, on all ranks alike). Collective. */
SHOAL_API int shoal_map(MPI_Comm comm, int ndims, const int64_t* global, int uncut, int64_t ncells,
                        const int64_t* cells, shoal_decomposition** out);
/* The same decomposition, block or map, with a mask: which of this rank's cells are land. When a field is
 * written, land cells of the array are not looked at, and the file gets the variable's fill value there (the
 * default one of its type, if it has none; the attribute _FillValue says which). When it is read, they stay
 * as they are in the array, and so do cells of a halo that no rank has as water; the setting read_masked=fill
 * gives them the fill value. The other decomposition stays as it is; a mask that it has is replaced, not
 * added to.
 *  comm  the one the decomposition was made with
 *  mask  0 (false) is land, every other number (true) water; integers, SHOAL_LOGICAL or floating point. Of a
 *        block: one cell for each of the tile, without or with its halo (which is not looked at), in the
 *        last dimensions, as many as the array has, the same on every rank; the mask goes for all of the
 *        dimensions before them (levels). Of a map: [ncells], one for each in the list. Not looked at on a
 *        rank whose tile, or list, is empty. Only read during the call
 * One bit a cell is kept. Errors: other extents, NaN (SHOAL_INVALID_ARGUMENT, on all ranks alike).
 * Collective. */
SHOAL_API int shoal_masked(MPI_Comm comm, const shoal_decomposition* decomposition, const shoal_array* mask,
                           shoal_decomposition** out);
/* The same map with each cell once, so that it can be written: of a cell that comes twice, the lowest rank
 * that has it keeps its last place in the list, and all other places are holes. Lists are as long as before.
 * A decomposition without such cells, blocks too, comes back as it is; shoal_decomposition_map_info says
 * whether there are any. The other decomposition stays as it is, and can be read with.
 *  comm  the one the decomposition was made with
 * Errors: another communicator (SHOAL_INVALID_ARGUMENT); a map with a mask in which a cell comes twice
 * (SHOAL_NOT_SUPPORTED: give the mask to the unique one), on all ranks alike. Collective. */
SHOAL_API int shoal_unique(MPI_Comm comm, const shoal_decomposition* decomposition,
                           shoal_decomposition** out);
SHOAL_API int shoal_decomposition_free(shoal_decomposition** decomposition); /* Local. */
/* Shape, own tile and halo; any out pointer may be NULL; arrays of ndims. A map has no tile: it gives the whole
 * global shape on a rank that has any cell, an empty box on others, and no halo. Local. */
SHOAL_API int shoal_decomposition_inquire(const shoal_decomposition* decomposition, int* ndims,
                                          int64_t* global, int64_t* first, int64_t* count, int64_t* halo_low,
                                          int64_t* halo_high);

typedef struct shoal_map_info {
  size_t struct_size; /* sizeof(shoal_map_info) */
  int is_map;         /* 0: made by shoal_block; then uncut, runs and bytes are 0 */
  int uncut;          /* last dimensions that are not cut */
  int64_t ncells;     /* length of this rank's list, holes too; of a block, the cells of the tile */
  int64_t mapped;     /* of those, the ones that are no holes */
  int64_t runs;       /* of cells that follow each other in the list and in the global shape */
  int64_t bytes;      /* of memory that it takes on this rank: the list, and cells that no rank has */
  int64_t repeated; /* the lowest index that comes twice, on any ranks; SHOAL_HOLE: none. See shoal_unique */
  int repeated_ranks[2]; /* two ranks that have it, or one twice; the lower first. 0 where there is none */
  int leaves_cells; /* 1: some cells of the global shape are no rank's, or masked on the one that has them */
} shoal_map_info;
#define SHOAL_MAP_INFO_INIT \
  { sizeof(shoal_map_info), 0, 0, 0, 0, 0, 0, SHOAL_HOLE, {0, 0}, 0 }

SHOAL_API int shoal_decomposition_map_info(const shoal_decomposition* decomposition,
                                           shoal_map_info* out); /* Local. */
/* The list of this rank: [ncells] indices as in shoal_map; of a block, the cells of its tile, row-major.
 * Local. */
SHOAL_API int shoal_decomposition_cells(const shoal_decomposition* decomposition, int64_t* cells_out);
/* Save a decomposition, block or map, with its mask, to a NetCDF file, which is replaced if it exists. comm:
 * the one the decomposition was made with. docs/file_formats.md says what is in the file. Error: a map with
 * a mask in which a cell comes twice (SHOAL_NOT_SUPPORTED). Collective. */
SHOAL_API int shoal_decomposition_save(MPI_Comm comm, const shoal_decomposition* decomposition,
                                       const char* path);
/* The decomposition in a file: saved by Shoal, or a map file of E3SM's I/O benchmark (NetCDF), or PIO's text
 * form. On as many ranks as the file is for, each rank gets what it had, in the same order. On another number
 * of ranks, a map: the cells are cut evenly in the order of the file, without holes and halos;
 * shoal_decomposition_cells says which a rank got. No rank holds the lists of others.
 *  name  NULL or "" if the file holds one decomposition; E3SM: which one, "D1", "D2", ...; PIO: "c" if the
 *        dimensions in the file are slowest first (a C program wrote it) and not fastest first
 * Errors: SHOAL_NOT_FOUND no such file or name, SHOAL_FORMAT damaged or another kind of file. Collective. */
SHOAL_API int shoal_decomposition_load(MPI_Comm comm, const char* path, const char* name,
                                       shoal_decomposition** out);

/* ---- Files ------------------------------------------------------------------------------- */

/* Settings of a dataset come as text "key=value, key=value" (commas or newlines between; values with
 * commas in double quotes), NULL or "" for none. They go before SHOAL_* variables, the namelist and
 * shoal.toml; "key?=value" goes behind these, as the program's own default. docs/settings.md has the list.
 * Unknown keys are errors. */

/* Make a new file; one that exists is replaced (setting exists=error refuses). Collective. */
SHOAL_API int shoal_create(MPI_Comm comm, const char* path, const char* settings, shoal_dataset** out);
/* Open a file of any supported format, SHOAL_READ, SHOAL_WRITE or SHOAL_APPEND. With SHOAL_READ, path may
 * also name a dataset in several files, of Shoal, FMS, ROMS or NEMO, which is read as if it were one:
 * "his.nc" where there is no such file, but his.nc.0000 and so on (his.000.nc, his_0000.nc); a pattern
 * "his.*.nc"; or the files with blanks between. docs/layouts.md says more. With SHOAL_APPEND settings of new
 * files (format, ...) are passed over where there is a file; without one it is made (exists=replace:
 * SHOAL_SETTING). Collective. */
SHOAL_API int shoal_open(MPI_Comm comm, const char* path, int mode, const char* settings,
                         shoal_dataset** out);
/* A time step begins. SHOAL_NEXT is its record for all variables until the next step begins, also where a
 * variable is written again, or not at all; a step in which nothing is written leaves no record. Instead of
 * SHOAL_NEXT a program may give the record itself.
 *  record  its index: the one after the last of the file's record dimension (shoal_num_records); may be NULL
 * Errors: SHOAL_INVALID_ARGUMENT, the file has no record dimension, or several; SHOAL_STATE as of
 * shoal_num_records, and where the file is open for reading. After an error at shoal_sync no step is begun.
 * Local; every rank begins the same steps, in the same order as it writes. */
SHOAL_API int shoal_begin_step(shoal_dataset* dataset, int64_t* record);
/* Finish the define phase: check that all ranks defined the same, and write the header. Implicit at
 * the first shoal_write, shoal_put, shoal_read, shoal_get, shoal_sync, shoal_close after a definition.
 * When ranks differ, or the format cannot hold it, all definitions since the last time are dropped, on
 * all ranks. Collective. */
SHOAL_API int shoal_end_define(shoal_dataset* dataset);
/* Store all that was written, agree on errors, commit: what was written before is in the file even
 * if the job is killed now. durable != 0 also waits until the device has it (fsync). Collective. */
SHOAL_API int shoal_sync(shoal_dataset* dataset, int durable);
/* shoal_sync, report, close; frees the handle and sets it to NULL, also on error. durable as in
 * shoal_sync. With the setting background_close it returns while threads store: the file is whole after
 * shoal_wait, once a file of the same path is opened or made, after the next such close of the same ranks, or
 * after MPI_Finalize; what fails then comes out there. Collective. */
SHOAL_API int shoal_close(shoal_dataset** dataset, int durable);
/* Finish what shoal_close left to threads or servers (setting background_close): all files that were closed,
 * and whose ranks are all in comm, are whole; with MPI_COMM_WORLD that is every one. Files that other ranks
 * have to finish, too, stay as they are. All ranks of comm get the same code: the first failure, after all
 * files were tried, of the lowest rank that had one. Ranks wait for each other for wait_seconds. Collective
 * over comm. */
SHOAL_API int shoal_wait(MPI_Comm comm);
/* Let the last n ranks of each node compute nothing and store for the others: for datasets with the setting
 * background=ranks, which are made on *computing. There it returns MPI_COMM_NULL in *computing, when the
 * others have called shoal_stop_serving or are in MPI_Finalize; then these ranks should go on to
 * MPI_Finalize. On the others it returns at once, and *computing has them alone, in the order of `all`; the
 * caller may free it. n 0: nobody serves, *computing is a duplicate. SHOAL_STATE: ranks serve already, or
 * they cannot have threads (MPI_THREAD_SINGLE); SHOAL_INVALID_ARGUMENT: n below 0, or a node has no rank left
 * to compute; SHOAL_OUT_OF_STEP: n is not the same on all ranks. Collective over all. */
SHOAL_API int shoal_serve(MPI_Comm all, int n, MPI_Comm* computing);
/* The same for programs of several components, or whose servers are not the last ranks of their nodes: each
 * rank says what it does. component: 0 or more, it computes in that one; SHOAL_SERVES: it serves. The servers
 * of a node are dealt out to the components with ranks there, in order, and each serves one of them; one
 * without any returns at once. *computing has the ranks of this rank's component, in the order of `all`; each
 * component lets its servers go by itself (shoal_stop_serving). SHOAL_STATE as for shoal_serve;
 * SHOAL_INVALID_ARGUMENT: no such component, or a node has fewer servers than components. Collective over
 * all. */
SHOAL_API int shoal_serve_components(MPI_Comm all, int component, MPI_Comm* computing);
/* Let the ranks go that serve: shoal_serve returns there, and may be called again. What shoal_close left to
 * them is finished first (shoal_wait). SHOAL_STATE: datasets with background=ranks are open. Nothing to do
 * where nobody serves. MPI_Finalize does it, too. Collective over the computing ranks of a component. */
SHOAL_API int shoal_stop_serving(void);
/* Drop the handle without storing anything and without waiting for other ranks, and set it to NULL:
 * the file keeps what was committed before. For destructors and error paths. Local. */
SHOAL_API void shoal_abandon(shoal_dataset** dataset);

/* Two ways to read many files as one without joining them, made from files that are closed. paths has n
 * entries: one file, the files of a set, or what names a set (see shoal_open). `out` is written whole or
 * not at all.
 * A reference is a JSON file (Kerchunk's format) that says where chunks lie, for xarray and other
 * readers of Zarr; any format, also of one file. SHOAL_NOT_SUPPORTED: the tiles are cut so unevenly that
 * Zarr cannot describe them; the message names dimension and files. Local. */
SHOAL_API int shoal_write_reference(const char* const* paths, int n, const char* out);
/* A master is a small netCDF-4 file with HDF5 virtual datasets over a set of netCDF-4 files, for all
 * programs that read netCDF-4; it finds the files relative to its own folder. SHOAL_NOT_SUPPORTED: files
 * of a classic format. Local. */
SHOAL_API int shoal_write_master(const char* const* paths, int n, const char* out);
/* For tools that make a file, look at it, and give it its name only then.
 * A name in the folder of `path` (links followed) that nobody can foresee and no file has: make the file with
 * exists=error. What jobs that were killed left there for the same path a day ago or earlier, unlocked, is
 * removed. NULL: see shoal_error_message. The text lives until the next call of the thread that gives text.
 * Local. */
SHOAL_API const char* shoal_beside(const char* path);
/* The file `made`, of such a name and closed, takes the place and the permissions of the one at `path`, with
 * the header file of raw and ascii; or the folder, of format zarr. SHOAL_EXISTS: a folder that holds no
 * dataset is at `path`, and stays. A path that is a link stays one. durable: also after a loss of power.
 * Where it fails, `made` is removed. Local. */
SHOAL_API int shoal_take_place(const char* made, const char* path, int durable);
/* Finish what a killed job left half done in a file: the commit whose journal lies behind the file's end.
 * *finished: 1 if there was one, 0 if there was nothing to do (may be NULL). Opening the file for writing
 * does the same. Afterwards the file is opened to see that its header can be read. SHOAL_FORMAT: it cannot.
 * SHOAL_STATE: another job has it open for writing.
 * Local: by one rank, while nobody writes the file. */
SHOAL_API int shoal_recover(const char* path, int* finished);

/* ---- Definitions: Local; every rank makes the same ones in the same order ----------------- */

/* length SHOAL_UNLIMITED: one that grows (classic: one, netcdf4: several). */
SHOAL_API int shoal_def_dim(shoal_dataset* dataset, const char* name, int64_t length);
/* dims: names, blanks or commas between, slowest first ("ocean_time s_rho eta_rho xi_rho"), "" for a scalar.
 * A name that has blanks or commas goes in double quotes, as in "time \"sea level\""; \ before a quote or a
 * backslash in it makes that a part of the name.
 * decomposition NULL: a replicated variable. Otherwise the last dimensions of the variable are those
 * of the decomposition; dimensions before them (levels, say), except the record dimension, are not
 * cut. The record dimension is the first one if it is unlimited. */
SHOAL_API int shoal_def_var(shoal_dataset* dataset, const char* name, int type, const char* dims,
                            const shoal_decomposition* decomposition);
/* The same with the dimensions in an array, [ndims], slowest first: their names as they are, or their numbers
 * (shoal_find_dim). */
SHOAL_API int shoal_def_var_names(shoal_dataset* dataset, const char* name, int type, int ndims,
                                  const char* const* dims, const shoal_decomposition* decomposition);
SHOAL_API int shoal_def_var_dims(shoal_dataset* dataset, const char* name, int type, int ndims,
                                 const int* dims, const shoal_decomposition* decomposition);
/* The variable, which was defined without a decomposition, is going to be written with one: the decomposition
 * comes with shoal_write. It then has what variables with a decomposition have: alignment, and the settings
 * chunks, compression and quantize as far as it has no choice of its own. A shoal_put to it waits for no
 * other rank before a field was written. No effect on a variable that has a decomposition. Errors: the
 * definition is finished (SHOAL_STATE); text of any length (SHOAL_NOT_SUPPORTED); no dimension but that of
 * records (SHOAL_INVALID_ARGUMENT). */
SHOAL_API int shoal_def_cut(shoal_dataset* dataset, const char* variable);
/* Ranks are going to write the variable alone (shoal_write_independent): it gets its place in the file, and its
 * fill value in all cells, when the define phase ends, so that such writes go to the file at once. Without this
 * the first ones wait in the rank's memory for the next shoal_sync. Of the records of a variable only those
 * that are there when it is defined. Errors: the definition is finished (SHOAL_STATE); the variable is
 * compressed, or text of any length (SHOAL_NOT_SUPPORTED). */
SHOAL_API int shoal_def_independent(shoal_dataset* dataset, const char* variable);
/* A dimension for the water points of a grid alone (CF: compression by gathering): the cells of the
 * dimensions `dims` ("lat lon", slowest first, without blanks or commas in the names) that the mask of a
 * decomposition (shoal_masked), which has these dimensions, leaves, in order. Makes the dimension, as long as
 * there are such cells on all ranks, and the list of the same name, with the index of each in the grid, from
 * 0, int (int64 where that is too small), and the attribute compress; Shoal writes it when the define phase
 * ends. Variables with the dimension in place of the grid's ("time lev water") are then written and read with
 * decompositions of the grid, and with arrays as those have them. Writing leaves out what is not in the list,
 * but refuses a decomposition whose mask has water there, at any level that it has; reading gives the fill
 * value there, in the halo too, but leaves land of a masked decomposition as it is. So are variables with
 * such a list in other files, in any order of it. start and count count in the dimensions of the file: all
 * points. Errors: no mask, none or other dimensions than its, dimensions that the decomposition cuts beside,
 * no water, a name that is taken, layouts of several files. */
SHOAL_API int shoal_def_gathered(shoal_dataset* dataset, const char* name, const char* dims,
                                 const shoal_decomposition* decomposition);
/* Fill value: one of any type, which is converted to the variable's; SHOAL_RANGE where it does not fit, or
 * would lose a fraction. SHOAL_CHAR, SHOAL_STRING: of variables of these types; SHOAL_LOGICAL: one byte. NULL
 * (type is not looked at): no fill (cells that nobody writes are undefined, and what was written there stays
 * where no rank has them in later writes). Variables of numbers that get neither, and of which a
 * decomposition leaves cells out (a mask, or cells that nobody owns), get the attribute _FillValue with the
 * default of their type. Of variables that a file has already the settings fill=false and fill=written decide
 * when it is opened. With fill=written new variables have no fill before this gives one; cells that no rank
 * has get the fill value in each write all the same; a value may then be given later, too, where driver
 * native writes and the variable has no attribute _FillValue: it is that of cells left out from then on. The
 * attribute _FillValue, put by shoal_put_att, gives the value, and does not say whether cells are filled. */
SHOAL_API int shoal_def_fill(shoal_dataset* dataset, const char* variable, int type, const void* value);
/* Chunk shape, one number a dimension of the variable; netcdf4 and zarr. */
SHOAL_API int shoal_def_chunks(shoal_dataset* dataset, const char* variable, const int64_t* chunks);
/* Compression of the variable's chunks, netcdf4 and zarr: "none", or filters with + between: shuffle,
 * deflate:1 to deflate:12 or zstd:1 to zstd:22, fletcher32 (a checksum). Zarr stores their counterparts, or
 * gzip:0 to 9, blosc:zstd:5, crc32c, ... The setting compression is the default of distributed variables. */
SHOAL_API int shoal_def_compression(shoal_dataset* dataset, const char* variable, const char* filters);
/* Lossy: how much of the variable's values is kept when they are written, float and double only, any format;
 * "none", "bitround:N" (N bits of the mantissa, to the nearest; 1 to 23 for float, 52 for double) or
 * "granular_bitround:N" (as many bits as N decimal digits need, 1 to 7 for float, 15 for double). The fill
 * value, missing_value, NaN, infinity and zero never change. The file says so in netCDF's attributes and in
 * CF's, with a variable quantization_info_...; a file that says so is written on with the same. The setting
 * quantize is the default for variables with a decomposition. */
SHOAL_API int shoal_def_quantize(shoal_dataset* dataset, const char* variable, const char* how);
/* Attribute of a variable, or of the file when variable is NULL. count elements of type at values;
 * SHOAL_CHAR: count bytes of text; SHOAL_STRING: count pointers. An attribute of the name is replaced. */
SHOAL_API int shoal_put_att(shoal_dataset* dataset, const char* variable, const char* name, int type,
                            int64_t count, const void* values);
/* An attribute as another dataset has it, type and values; one string is text where the format has no
 * strings. So is a _FillValue that netCDF's rules make none, of another type than its variable or of several
 * values, which nothing uses. variable, from_variable: NULL for attributes of the file. Local. Errors:
 * SHOAL_NOT_SUPPORTED, such a _FillValue where the driver's library takes none; those of shoal_put_att. */
SHOAL_API int shoal_copy_att(shoal_dataset* dataset, const char* variable, const char* name,
                             const shoal_dataset* from, const char* from_variable);

/* Other names for what is there, and attributes that go: defined in this phase, or in the file, which may
 * have data, which stay. Indices, decompositions and open handles go on; from the call on the new name
 * counts. When the definitions are dropped (shoal_end_define), the old names are back. Attributes that name a
 * variable or dimension in their text (coordinates, bounds) stay as they are. The same name again is no
 * change. Errors: SHOAL_NOT_FOUND no such name; SHOAL_EXISTS the new one is taken; SHOAL_INVALID_ARGUMENT it
 * cannot be one; SHOAL_NOT_SUPPORTED: gathered dimensions, their lists and their grid's dimensions,
 * _FillValue of a variable in the file, what says how values are stored (compress, quantization); a group
 * (groups.h). The header of a classic file may have no room for longer names: shoal_end_define then
 * fails. */
SHOAL_API int shoal_rename_dim(shoal_dataset* dataset, const char* name, const char* new_name);
/* Of a variable with the name of a dimension this does not rename the dimension. */
SHOAL_API int shoal_rename_var(shoal_dataset* dataset, const char* name, const char* new_name);
/* variable NULL: attributes of the file. */
SHOAL_API int shoal_rename_att(shoal_dataset* dataset, const char* variable, const char* name,
                               const char* new_name);
/* Attributes behind it get the index before. */
SHOAL_API int shoal_delete_att(shoal_dataset* dataset, const char* variable, const char* name);

/* ---- Data -------------------------------------------------------------------------------- */

/* The arguments shared by shoal_write, shoal_read, shoal_put, shoal_get:
 *  section  which record, and which cells of it; SHOAL_RECORD(3) is all of record 3, NULL all of a variable
 *           without records
 *  array    extents are those of the section (one more dimension in front with SHOAL_ALL_RECORDS or
 *           SHOAL_RECORDS), with the tile's own extents, with or without halo, in the dimensions that are
 *           cut; of a map, the length of its list stands for all of these. On a rank whose tile is empty, or
 *           whose list is, it is not looked at. */

/* Write this rank's cells of a distributed variable. Returns as soon as the array may be used again.
 * decomposition NULL: the one of shoal_def_var or of the last call with one. Collective in order, but
 * without waiting for other ranks; the first call with a new decomposition communicates. */
SHOAL_API int shoal_write(shoal_dataset* dataset, const char* variable,
                          const shoal_decomposition* decomposition, const shoal_array* array,
                          const shoal_section* section);
/* shoal_write, of the cells that this rank has of a variable of another dataset, part by part: no array of
 * them all is needed.
 *  from     a set of files that is open for reading, on the same ranks; shoal_copies says whether it can be
 *           copied from (SHOAL_NOT_SUPPORTED, on all ranks, where it cannot)
 * What fails on the way comes out at shoal_sync or shoal_close of `dataset`. Collective as shoal_write. */
SHOAL_API int shoal_copy(shoal_dataset* dataset, const char* variable,
                         const shoal_decomposition* decomposition, shoal_dataset* from,
                         const char* from_variable, const shoal_section* section);
SHOAL_API int shoal_copies(const shoal_dataset* from, int* copies); /* Local. */

/* Read this rank's cells; halo cells inside of the global shape are filled too, others are left alone, and so
 * are land of a mask and holes of a map (setting read_masked). Collective. */
SHOAL_API int shoal_read(shoal_dataset* dataset, const char* variable,
                         const shoal_decomposition* decomposition, const shoal_array* array,
                         const shoal_section* section);
/* Put a replicated variable: rank 0's values go to the file, other ranks' are not looked at. Collective. */
SHOAL_API int shoal_put(shoal_dataset* dataset, const char* variable, const shoal_array* array,
                        const shoal_section* section);
/* Get the same values on every rank. SHOAL_STRING: the pointers are made by Shoal; give them back
 * with shoal_free_strings. Collective. */
SHOAL_API int shoal_get(shoal_dataset* dataset, const char* variable, const shoal_array* array,
                        const shoal_section* section);

/* The same of a variable that is given by its number, which need not be looked for in each call. All ranks
 * give the same. Collective as those. */
SHOAL_API int shoal_write_variable(shoal_dataset* dataset, shoal_variable variable,
                                   const shoal_decomposition* decomposition, const shoal_array* array,
                                   const shoal_section* section);
SHOAL_API int shoal_read_variable(shoal_dataset* dataset, shoal_variable variable,
                                  const shoal_decomposition* decomposition, const shoal_array* array,
                                  const shoal_section* section);
SHOAL_API int shoal_put_variable(shoal_dataset* dataset, shoal_variable variable, const shoal_array* array,
                                 const shoal_section* section);
SHOAL_API int shoal_get_variable(shoal_dataset* dataset, shoal_variable variable, const shoal_array* array,
                                 const shoal_section* section);
SHOAL_API int shoal_copy_variable(shoal_dataset* dataset, shoal_variable variable,
                                  const shoal_decomposition* decomposition, shoal_dataset* from,
                                  shoal_variable from_variable, const shoal_section* section);

/* Write boxes of variables on this rank alone, what MPI-IO and netCDF call independent: nobody is waited for.
 * Any number of boxes, strides and types as in shoal_write, but no compressed variables and text of any length;
 * fixed variables, and records that are there.
 *  boxes  [n], n may be 0; of cells that several boxes have the last one counts
 * Order: this rank's writes and reads, alone and with others, count in the order of its calls (but boxes of all
 * ranks: shoal_write_boxes). Other ranks see what was written alone after the next shoal_sync of all ranks; of a
 * cell that several ranks wrote alone before it, one value stays. Cells go to the file at once, or wait in
 * memory, at most a rank's part of stage_bytes: where all ranks defined, wrote or put the variable since then,
 * and in parts of a file that nobody wrote yet (shoal_def_independent).
 * Errors come in this call, on this rank, before anything is written, but for SHOAL_RANGE (all other values are
 * written) and what fails in storing, also at the next shoal_sync. SHOAL_STATE: definitions are not finished,
 * the record dimension would grow, too much waits; SHOAL_NOT_SUPPORTED: another driver than native, several
 * files, a compressed variable, nodes that do not see each other's writes (NFS). Local. */
SHOAL_API int shoal_write_independent(shoal_dataset* dataset, int n, const shoal_box* boxes);
/* Read boxes on this rank alone, of compressed variables and sets of files, too: what it wrote alone, and what
 * others wrote before the last shoal_sync. Errors as of shoal_write_independent; SHOAL_NOT_FOUND, no such record;
 * SHOAL_STATE, all ranks have written or put the variable since the last shoal_sync. Local. */
SHOAL_API int shoal_read_independent(shoal_dataset* dataset, int n, const shoal_box* boxes);

SHOAL_API void shoal_free_strings(int64_t count, char** strings); /* Local. */
/* Write the cells of this rank's boxes: any number, none too, of any variables; records are added as they say.
 *  - A cell that several ranks write gets the value of the first of them; in several boxes of a rank, the last.
 *  - Cells in no box keep what the file has; in new records, and variables written for the first time, they get
 *    the fill value where the variable is filled.
 * Calls that come again in the same order, in any records, cost a match of calls; other boxes are gathered on
 * rank 0, which makes decompositions of them. After shoal_write_independent of a variable call shoal_sync before
 * its boxes are written: cells that still wait are lost otherwise, and shoal_sync says so (SHOAL_STATE).
 * Errors: as of shoal_write. A rank with bad arguments takes part with no box, and shoal_sync says why on all
 * ranks. Collective; n, the number of boxes, is each rank's own. */
SHOAL_API int shoal_write_boxes(shoal_dataset* dataset, int n, const shoal_box* boxes);
/* Read boxes in the same way; any ranks may read the same cells. Errors: as of shoal_read. Collective. */
SHOAL_API int shoal_read_boxes(shoal_dataset* dataset, int n, const shoal_box* boxes);

/* ---- What is in a file: Local. shoal_var_info info = SHOAL_VAR_INFO_INIT; and so on ------- */

typedef struct shoal_file_info {
  size_t struct_size; /* sizeof(shoal_file_info) */
  const char* path;
  const char* format; /* "cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4-classic", "raw", "ascii" */
  const char* driver;
  int writable;
  int dimensions, variables, attributes; /* how many */
} shoal_file_info;
#define SHOAL_FILE_INFO_INIT \
  { sizeof(shoal_file_info), NULL, NULL, NULL, 0, 0, 0, 0 }

typedef struct shoal_dim_info {
  size_t struct_size; /* sizeof(shoal_dim_info) */
  const char* name;
  int64_t length; /* records so far, if unlimited */
  int unlimited;
} shoal_dim_info;
#define SHOAL_DIM_INFO_INIT \
  { sizeof(shoal_dim_info), NULL, 0, 0 }

typedef struct shoal_var_info {
  size_t struct_size; /* sizeof(shoal_var_info) */
  const char* name;
  int type;
  int ndims;
  const int* dims;       /* [ndims] indices of dimensions */
  int has_record;        /* the first dimension is unlimited */
  int attributes;        /* how many */
  int logical;           /* written by Shoal as SHOAL_LOGICAL */
  int packed;            /* arrays of float and double hold its values (packing.h) */
  const int64_t* chunks; /* [ndims] or NULL if not chunked */
  const char* storage;   /* "contiguous", "chunked", "compressed", ... */
  const char* filters;   /* "none", "shuffle+deflate:1", ...; lives until the next call in this thread */
} shoal_var_info;
#define SHOAL_VAR_INFO_INIT \
  { sizeof(shoal_var_info), NULL, 0, 0, NULL, 0, 0, 0, 0, NULL, NULL, NULL }

typedef struct shoal_att_info {
  size_t struct_size; /* sizeof(shoal_att_info) */
  const char* name;
  int type;
  int64_t count; /* SHOAL_CHAR: bytes */
} shoal_att_info;
#define SHOAL_ATT_INFO_INIT \
  { sizeof(shoal_att_info), NULL, 0, 0 }

SHOAL_API int shoal_inq_file(const shoal_dataset* dataset, shoal_file_info* out);
SHOAL_API int shoal_inq_dim(const shoal_dataset* dataset, int index, shoal_dim_info* out);
SHOAL_API int shoal_inq_var(const shoal_dataset* dataset, shoal_variable variable, shoal_var_info* out);
/* variable NULL: attributes of the file. */
SHOAL_API int shoal_inq_att(const shoal_dataset* dataset, const char* variable, int index,
                            shoal_att_info* out);
/* Indices by name; SHOAL_NOT_FOUND with the nearest name. */
SHOAL_API int shoal_find_dim(const shoal_dataset* dataset, const char* name, int* out);
SHOAL_API int shoal_find_var(const shoal_dataset* dataset, const char* name, shoal_variable* out);
SHOAL_API int shoal_find_att(const shoal_dataset* dataset, const char* variable, const char* name, int* out);
/* How many records there are: those of the file when it was opened, and what was written since, committed or
 * not; that is also the index of the record after the last. The same on all ranks that made the same calls.
 * variable  whose record dimension; NULL: that of the file. 0 where there is none
 * SHOAL_INVALID_ARGUMENT: variable is NULL, and variables have different record dimensions (the message names
 * them). SHOAL_STATE: all records of a variable were put, so that rank 0 alone knows until shoal_sync. */
SHOAL_API int shoal_num_records(const shoal_dataset* dataset, const char* variable, int64_t* out);
/* The values of an attribute, converted to type (numbers to numbers; SHOAL_CHAR: text without a
 * final zero; SHOAL_STRING: pointers to free with shoal_free_strings). values has room for the count
 * that shoal_inq_att gives. */
SHOAL_API int shoal_get_att(const shoal_dataset* dataset, const char* variable, const char* name, int type,
                            void* values);
/* What cells of a variable hold that were never written.
 *  fill   1: value; 0: anything, as the variable has no fill (shoal_def_fill with NULL, or the file says so)
 *  type   of value; numbers are converted to it (SHOAL_RANGE: it does not fit).
 *         SHOAL_STRING: a pointer to free with shoal_free_strings
 *  value  one element: shoal_def_fill's, or the attribute _FillValue of a file that was opened, otherwise the
 *         default of the variable's type. Given where fill is 0, too
 * fill and value may be NULL. SHOAL_TYPE: the types cannot be converted. */
SHOAL_API int shoal_inq_fill(const shoal_dataset* dataset, const char* variable, int* fill, int type,
                             void* value);

/* ---- Settings and report: Local ------------------------------------------------------------ */

/* Name the file that holds the Fortran namelist group &shoal; NULL: none. Counts for datasets opened
 * later. */
SHOAL_API int shoal_namelist(const char* path);
/* Every setting of a dataset, its value and where it came from, as text, one a line, the basic ones first
 * (lines "# basic" and "# expert" stand before them). dataset NULL: what a new one would get. The text lives
 * until the next call of this function in this thread. */
SHOAL_API const char* shoal_settings(const shoal_dataset* dataset);
/* Every setting that there is, one a line: name, "basic" or "expert", "new" (of files that are made) or
 * "all", the default, the values that are allowed, and what it is about, with tabs between. Same lifetime. */
SHOAL_API const char* shoal_setting_keys(void);
/* The report so far of this rank as JSON. Same lifetime as shoal_settings. */
SHOAL_API const char* shoal_report(const shoal_dataset* dataset);

#ifdef __cplusplus
}
#endif
#endif
