/* An atmosphere's files through PIO: columns lie in chunks of a fixed size, whose last places may be empty;
 * 200 fields are of one, of n and of n + 1 levels, or of n levels in double precision, each kind with a list
 * of its own; each rank builds the attribute `history` by its own clock and name. Written as history and as
 * restart, and read back by lists that deal out the columns in another way. Nothing here knows which library
 * stands behind PIO. All that is read is compared with what was written; the exit code is not 0 if anything
 * differs.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pio.h"

enum { k_columns = 331, k_places = 16, k_levels = 12, k_fields = 200, k_records = 3 };

/* Kinds of fields: so many levels, and the type in memory. */
enum { k_kinds = 4 };
static const int k_levels_of[k_kinds] = {1, k_levels, k_levels + 1, k_levels};
static const int k_type_of[k_kinds] = {PIO_FLOAT, PIO_FLOAT, PIO_FLOAT, PIO_DOUBLE};

static int rank, ranks, wrong;

static void check(int good, const char* what, int number) {
  if (good) return;
  if (++wrong <= 10) printf("pio_columns: rank %d: wrong: %s (%d)\n", rank, what, number);
}

static void ok(int code, const char* what) {
  check(code == PIO_NOERR, what, code);
}

static void* memory(size_t bytes) {
  void* result = malloc(bytes + 1);
  if (result == NULL) {
    fprintf(stderr, "pio_columns: no memory\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return result;
}

/* ---- Which columns this rank has -------------------------------------------------------------- */

/* Places of a rank's chunks: the number of a column from 0, -1: empty. */
typedef struct chunks {
  int count;
  int* columns; /* [count][k_places] */
} chunks;

/* Columns go to ranks in turn, into chunks; a chunk is begun before the one before it is full now and then.
 */
static chunks deal(int shift) {
  chunks mine = {0, memory(sizeof(int) * (k_columns + k_places) * 4)};
  int place = 0;
  for (int column = 0; column < k_columns; ++column) {
    const int owner = (column / 3 + shift * 5 + column * shift) % ranks;
    if (owner != rank) continue;
    if (place == 0 || place == k_places - (mine.count % 3)) {
      for (int i = 0; i < k_places; ++i)
        mine.columns[mine.count * k_places + i] = -1;
      ++mine.count;
      place = 0;
    }
    mine.columns[(mine.count - 1) * k_places + place++] = column;
  }
  return mine;
}

/* In memory a field is [chunk][level][place], in the file [level][column]. */
static int list_of(const chunks* mine, int levels, PIO_Offset** out) {
  const int length = mine->count * levels * k_places;
  PIO_Offset* list = memory(sizeof(PIO_Offset) * (size_t)length);
  int n = 0;
  for (int c = 0; c < mine->count; ++c)
    for (int level = 0; level < levels; ++level)
      for (int i = 0; i < k_places; ++i) {
        const int column = mine->columns[c * k_places + i];
        list[n++] = column < 0 ? 0 : (PIO_Offset)level * k_columns + column + 1;
      }
  *out = list;
  return length;
}

/* ---- Fields ------------------------------------------------------------------------------------ */

static int kind_of(int field) {
  return field % k_kinds;
}

static double truth(int field, int record, int level, int column) {
  return field + 256.0 * record + (level * k_columns + column) / 8192.0; /* a float holds it */
}

static void fill(const chunks* mine, int field, int record, void* values) {
  const int kind = kind_of(field);
  int n = 0;
  for (int c = 0; c < mine->count; ++c)
    for (int level = 0; level < k_levels_of[kind]; ++level)
      for (int i = 0; i < k_places; ++i, ++n) {
        const int column = mine->columns[c * k_places + i];
        const double value = column < 0 ? -1e30 : truth(field, record, level, column);
        if (k_type_of[kind] == PIO_FLOAT)
          ((float*)values)[n] = (float)value;
        else
          ((double*)values)[n] = value;
      }
}

static void compare(const chunks* mine, int field, int record, const void* values) {
  const int kind = kind_of(field);
  int n = 0;
  for (int c = 0; c < mine->count; ++c)
    for (int level = 0; level < k_levels_of[kind]; ++level)
      for (int i = 0; i < k_places; ++i, ++n) {
        const int column = mine->columns[c * k_places + i];
        const double found =
            k_type_of[kind] == PIO_FLOAT ? ((const float*)values)[n] : ((const double*)values)[n];
        if (column >= 0) check(found == truth(field, record, level, column), "a value of field", field);
        if (column < 0) check(found == 77, "an empty place was written to, field", field);
      }
}

/* ---- Files ------------------------------------------------------------------------------------- */

static void make_lists(int iosystem, const chunks* mine, int ioids[k_kinds]) {
  for (int kind = 0; kind < k_kinds; ++kind) {
    PIO_Offset* list;
    const int length = list_of(mine, k_levels_of[kind], &list);
    const int dims[2] = {k_levels_of[kind], k_columns};
    const int flat = k_levels_of[kind] == 1;
    ok(PIOc_InitDecomp(iosystem, k_type_of[kind], flat ? 1 : 2, flat ? &dims[1] : dims, length, list,
                       &ioids[kind], NULL, NULL, NULL),
       "InitDecomp");
    check(PIOc_get_local_array_size(ioids[kind]) == length, "local size", length);
    free(list);
  }
}

static void name_of(int field, char* name) {
  snprintf(name, PIO_MAX_NAME, "F%03d", field);
}

static int define(int ncid, int varids[k_fields], int restart) {
  int column, level, interface, time, time_id;
  ok(PIOc_def_dim(ncid, "ncol", k_columns, &column), "ncol");
  ok(PIOc_def_dim(ncid, "lev", k_levels, &level), "lev");
  ok(PIOc_def_dim(ncid, "ilev", k_levels + 1, &interface), "ilev");
  ok(PIOc_def_dim(ncid, "time", PIO_UNLIMITED, &time), "time");
  char history[120];
  snprintf(history, sizeof history, "%*swritten by rank %d at %f", rank % 7, "", rank, MPI_Wtime());
  ok(PIOc_put_att_text(ncid, PIO_GLOBAL, "history", (PIO_Offset)strlen(history), history), "history");
  ok(PIOc_def_var(ncid, "time", PIO_DOUBLE, 1, &time, &time_id), "time");
  const float no_value = 1e36f;
  for (int field = 0; field < k_fields; ++field) {
    char name[PIO_MAX_NAME + 1];
    const int kind = kind_of(field);
    const int dims[3] = {time, k_levels_of[kind] == k_levels ? level : interface, column};
    const int flat[2] = {time, column};
    /* A history is in single precision, a restart has what the model has. */
    const int type = restart ? k_type_of[kind] : PIO_FLOAT;
    name_of(field, name);
    ok(k_levels_of[kind] == 1 ? PIOc_def_var(ncid, name, type, 2, flat, &varids[field])
                              : PIOc_def_var(ncid, name, type, 3, dims, &varids[field]),
       "def_var");
    ok(PIOc_put_att_text(ncid, varids[field], "units", 1, "K"), "units");
    if (!restart)
      ok(PIOc_put_att_float(ncid, varids[field], "_FillValue", PIO_FLOAT, 1, &no_value), "_FillValue");
  }
  ok(PIOc_enddef(ncid), "enddef");
  return time_id;
}

static void write_record(int ncid, const int* varids, int time_id, const int* ioids, const chunks* mine,
                         int record, void* values) {
  const PIO_Offset start = record;
  const double day = 0.5 * record;
  ok(PIOc_put_var1_double(ncid, time_id, &start, &day), "put time");
  for (int field = 0; field < k_fields; ++field) {
    const int kind = kind_of(field);
    fill(mine, field, record, values);
    ok(PIOc_setframe(ncid, varids[field], record), "setframe");
    ok(PIOc_write_darray(ncid, varids[field], ioids[kind],
                         (PIO_Offset)mine->count * k_levels_of[kind] * k_places, values, NULL),
       "write_darray");
  }
}

static void write_files(int iosystem, const chunks* mine, const int* ioids) {
  int iotypes[2] = {PIO_IOTYPE_PNETCDF, PIO_IOTYPE_NETCDF4P};
  const char* const names[2] = {"columns.h0.nc", "columns.r.nc"};
  double* values = memory(sizeof(double) * (size_t)mine->count * (k_levels + 1) * k_places);
  for (int restart = 0; restart < 2; ++restart) {
    int ncid, varids[k_fields];
    ok(PIOc_createfile(iosystem, &ncid, &iotypes[restart], names[restart], PIO_CLOBBER | PIO_64BIT_OFFSET),
       "createfile");
    const int time_id = define(ncid, varids, restart);
    for (int record = 0; record < (restart ? 1 : k_records); ++record)
      write_record(ncid, varids, time_id, ioids, mine, record, values);
    ok(PIOc_closefile(ncid), "closefile");
  }
  free(values);
}

static void read_file(int iosystem, const char* name, const chunks* mine, const int* ioids, int records) {
  int ncid;
  int iotype = PIO_IOTYPE_NETCDF; /* opens a file of any format */
  ok(PIOc_openfile(iosystem, &ncid, &iotype, name, PIO_NOWRITE), "openfile");

  /* The history of one rank, the same on all. */
  PIO_Offset length = 0;
  char history[160] = "", first[160];
  ok(PIOc_inq_attlen(ncid, PIO_GLOBAL, "history", &length), "length of history");
  check(length < (PIO_Offset)sizeof history, "length of history", (int)length);
  ok(PIOc_get_att_text(ncid, PIO_GLOBAL, "history", history), "history");
  memcpy(first, history, sizeof first);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
  check(strcmp(first, history) == 0, "history differs between ranks", rank);
  check(strstr(history, "written by rank 0 at") != NULL, "history is not the first I/O task's", rank);

  const size_t places = (size_t)mine->count * (k_levels + 1) * k_places;
  double* values = memory(sizeof(double) * places);
  for (int field = 0; field < k_fields; ++field) {
    const int kind = kind_of(field);
    const size_t n = (size_t)mine->count * (size_t)k_levels_of[kind] * k_places;
    char variable[PIO_MAX_NAME + 1];
    int varid;
    name_of(field, variable);
    ok(PIOc_inq_varid(ncid, variable, &varid), "inq_varid");
    for (int record = records - 1; record >= 0; --record) {
      for (size_t i = 0; i < n; ++i)
        if (k_type_of[kind] == PIO_FLOAT)
          ((float*)values)[i] = 77;
        else
          values[i] = 77;
      ok(PIOc_setframe(ncid, varid, record), "setframe");
      ok(PIOc_read_darray(ncid, varid, ioids[kind], (PIO_Offset)n, values), "read_darray");
      compare(mine, field, record, values);
    }
  }
  free(values);
  ok(PIOc_closefile(ncid), "closefile");
}

static void free_lists(int iosystem, chunks* mine, int* ioids) {
  for (int kind = 0; kind < k_kinds; ++kind)
    ok(PIOc_freedecomp(iosystem, ioids[kind]), "freedecomp");
  free(mine->columns);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int iosystem, ioids[k_kinds];
  ok(PIOc_Init_Intracomm(MPI_COMM_WORLD, ranks > 1 ? ranks / 2 : 1, ranks > 1 ? 2 : 1, 0, PIO_REARR_SUBSET,
                         &iosystem),
     "Init_Intracomm");

  chunks mine = deal(0);
  make_lists(iosystem, &mine, ioids);
  write_files(iosystem, &mine, ioids);
  free_lists(iosystem, &mine, ioids);

  mine = deal(1);
  make_lists(iosystem, &mine, ioids);
  read_file(iosystem, "columns.h0.nc", &mine, ioids, k_records);
  read_file(iosystem, "columns.r.nc", &mine, ioids, 1);
  free_lists(iosystem, &mine, ioids);
  ok(PIOc_finalize(iosystem), "finalize");

  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && all == 0)
    printf("pio_columns: %d fields, %d records and a restart are as they were\n", k_fields, k_records);
  MPI_Finalize();
  return all == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
