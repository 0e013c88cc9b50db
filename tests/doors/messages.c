/* SPDX-License-Identifier: BSD-3-Clause
 * A collective put through the door, as in the step before, or as of a variable of the same lengths: no
 * message, whatever was put. The program counts MPI's calls by its profiling interface. */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { k_fields = 20, k_steps = 4, k_cells = 64 };

static int all_calls;
static const char* last_call = "";

#define COUNTED(NAME, PARAMETERS, ARGUMENTS) \
  int MPI_##NAME PARAMETERS {                \
    ++all_calls;                             \
    last_call = #NAME;                       \
    return PMPI_##NAME ARGUMENTS;            \
  }
typedef MPI_Datatype Type;
typedef MPI_Request* Request;
/* What moves data or waits for another rank, of all that Shoal calls. */
COUNTED(Allreduce, (const void* a, void* b, int n, Type t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))
COUNTED(Barrier, (MPI_Comm c), (c))
COUNTED(Bcast, (void* a, int n, Type t, int to, MPI_Comm c), (a, n, t, to, c))
COUNTED(Gather, (const void* a, int n, Type t, void* b, int m, Type u, int to, MPI_Comm c),
        (a, n, t, b, m, u, to, c))
COUNTED(Iallgather, (const void* a, int n, Type t, void* b, int m, Type u, MPI_Comm c, Request r),
        (a, n, t, b, m, u, c, r))
COUNTED(Iallreduce, (const void* a, void* b, int n, Type t, MPI_Op o, MPI_Comm c, Request r),
        (a, b, n, t, o, c, r))
COUNTED(Ialltoall, (const void* a, int n, Type t, void* b, int m, Type u, MPI_Comm c, Request r),
        (a, n, t, b, m, u, c, r))
COUNTED(Ibarrier, (MPI_Comm c, Request r), (c, r))
COUNTED(Ibcast, (void* a, int n, Type t, int to, MPI_Comm c, Request r), (a, n, t, to, c, r))
COUNTED(Igather, (const void* a, int n, Type t, void* b, int m, Type u, int to, MPI_Comm c, Request r),
        (a, n, t, b, m, u, to, c, r))
COUNTED(Irecv, (void* a, int n, Type t, int from, int tag, MPI_Comm c, Request r), (a, n, t, from, tag, c, r))
COUNTED(Isend, (const void* a, int n, Type t, int to, int tag, MPI_Comm c, Request r),
        (a, n, t, to, tag, c, r))
COUNTED(Recv, (void* a, int n, Type t, int from, int tag, MPI_Comm c, MPI_Status* s),
        (a, n, t, from, tag, c, s))
COUNTED(Scan, (const void* a, void* b, int n, Type t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))
COUNTED(Send, (const void* a, int n, Type t, int to, int tag, MPI_Comm c), (a, n, t, to, tag, c))

static int code_of(int code, const char* call) {
  if (code != NC_NOERR) fprintf(stderr, "%s: %s\n", call, nc_strerror(code));
  return code;
}
#define NEEDS(CALL) \
  if (code_of(CALL, #CALL) != NC_NOERR) MPI_Abort(MPI_COMM_WORLD, 1)

static int wrong_in(const char* path, int mode, int rank, int ranks) {
  static double values[k_cells * k_cells];
  int file, dims[3], fields[k_fields], time, wrong = 0;
  NEEDS(nc_create_par(path, mode, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
  NEEDS(nc_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
  NEEDS(nc_def_dim(file, "y", k_cells, &dims[1]));
  NEEDS(nc_def_dim(file, "x", k_cells, &dims[2]));
  NEEDS(nc_def_var(file, "time", NC_DOUBLE, 1, dims, &time));
  for (int i = 0; i < k_fields; ++i) {
    char name[16];
    snprintf(name, sizeof name, "field%d", i);
    NEEDS(nc_def_var(file, name, NC_DOUBLE, 3, dims, &fields[i]));
  }
  NEEDS(nc_enddef(file));
  NEEDS(nc_var_par_access(file, time, NC_COLLECTIVE));
  for (int i = 0; i < k_fields; ++i)
    NEEDS(nc_var_par_access(file, fields[i], NC_COLLECTIVE));
  /* Of three ranks and more the last one has no cells, as ranks on land. */
  const int parts = ranks > 2 ? ranks - 1 : ranks, mine = rank < parts;
  const size_t row = mine ? (size_t)(k_cells * rank / parts) : 0;
  const size_t rows = mine ? (size_t)(k_cells * (rank + 1) / parts) - row : 0;
  const size_t count[] = {1, rows, k_cells}, one = 1;
  all_calls = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (all_calls != 1) wrong = 1, fprintf(stderr, "MPI's calls are not counted\n");
  for (size_t step = 0; step < k_steps; ++step) {
    const size_t start[] = {step, row, 0};
    const double day = (double)step;
    all_calls = 0;
    NEEDS(nc_put_vara_double(file, time, &step, &one, &day));
    for (int i = 0; i < k_fields; ++i) {
      if (i == 1 && step == 0) all_calls = 0;
      NEEDS(nc_put_vara_double(file, fields[i], start, count, values));
    }
    if (ranks > 1 && all_calls > 0) {
      wrong = 1;
      fprintf(stderr, "%s: step %zu: rank %d called MPI %d times, the last time MPI_%s\n", path, step, rank,
              all_calls, last_call);
    }
    NEEDS(nc_sync(file));
  }
  NEEDS(nc_close(file));
  return wrong;
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int wrong = wrong_in("messages4.nc", NC_NETCDF4, rank, ranks);
  wrong += wrong_in("messages5.nc", NC_64BIT_DATA, rank, ranks);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
