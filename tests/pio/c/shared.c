/* SPDX-License-Identifier: BSD-3-Clause
 * What costs nothing must cost nothing: calls of MPI are counted, by standing between the libraries and MPI.
 * And decompositions with one list are one. */
#include "check.h"

static int calls;

#define COUNT(NAME, PARAMETERS, ARGUMENTS) \
  int MPI_##NAME PARAMETERS {              \
    ++calls;                               \
    return PMPI_##NAME ARGUMENTS;          \
  }
COUNT(Send, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c))
COUNT(Isend, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r),
      (b, n, t, to, tag, c, r))
COUNT(Recv, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s),
      (b, n, t, from, tag, c, s))
COUNT(Irecv, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r),
      (b, n, t, from, tag, c, r))
/* Ranks that wait in the memory of their node look after MPI's messages from time to time. */
static int looks;
int MPI_Iprobe(int from, int tag, MPI_Comm c, int* f, MPI_Status* s) {
  ++looks;
  return PMPI_Iprobe(from, tag, c, f, s);
}
COUNT(Barrier, (MPI_Comm c), (c))
COUNT(Ibarrier, (MPI_Comm c, MPI_Request* r), (c, r))
COUNT(Bcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
COUNT(Ibcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* r), (b, n, t, root, c, r))
COUNT(Reduce, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c),
      (a, b, n, t, o, root, c))
/* Agreements: those of the layer itself are among them. */
static int agreements;
int MPI_Allreduce(const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c) {
  ++calls;
  ++agreements;
  return PMPI_Allreduce(a, b, n, t, o, c);
}
COUNT(Iallreduce, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* r),
      (a, b, n, t, o, c, r))
COUNT(Gather, (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, int root, MPI_Comm c),
      (a, n, t, b, m, u, root, c))
COUNT(Allgather, (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, MPI_Comm c),
      (a, n, t, b, m, u, c))
COUNT(Alltoall, (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, MPI_Comm c),
      (a, n, t, b, m, u, c))
COUNT(Allgatherv,
      (const void* a, int n, MPI_Datatype t, void* b, const int* m, const int* d, MPI_Datatype u, MPI_Comm c),
      (a, n, t, b, m, d, u, c))
COUNT(Gatherv,
      (const void* a, int n, MPI_Datatype t, void* b, const int* m, const int* d, MPI_Datatype u, int root,
       MPI_Comm c),
      (a, n, t, b, m, d, u, root, c))
COUNT(Alltoallv,
      (const void* a, const int* n, const int* e, MPI_Datatype t, void* b, const int* m, const int* d,
       MPI_Datatype u, MPI_Comm c),
      (a, n, e, t, b, m, d, u, c))
COUNT(Scan, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))
COUNT(Exscan, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))

enum { k_cells = 40 };

/* Frames, inquiry, error handlers: no call of MPI. */
static void local_calls(int iosys, int ncid, const int* v) {
  char name[PIO_MAX_NAME + 1];
  int id = 0;
  int numbers[8];
  PIO_Offset length = 0;
  nc_type type = 0;
  calls = looks = 0;
  for (int record = 2; record < 6; ++record) {
    OK(PIOc_setframe(ncid, v[0], record));
    OK(PIOc_advanceframe(ncid, v[1]));
    OK(PIOc_inq(ncid, &id, &id, &id, &id));
    OK(PIOc_inq_format(ncid, &id));
    OK(PIOc_inq_varid(ncid, "b", &id));
    OK(PIOc_inq_var(ncid, v[0], name, &type, &id, numbers, &id));
    OK(PIOc_inq_var_fill(ncid, v[0], &id, NULL));
    OK(PIOc_inq_dimid(ncid, "x", &id));
    OK(PIOc_inq_dim(ncid, id, name, &length));
    OK(PIOc_inq_dimlen(ncid, 0, &length));
    OK(PIOc_inq_att(ncid, v[0], "units", &type, &length));
    OK(PIOc_inq_attname(ncid, v[0], 0, name));
    OK(PIOc_get_att_text(ncid, v[0], "units", name));
    CHECK(PIOc_File_is_Open(ncid));
    OK(PIOc_set_iosystem_error_handling(iosys, PIO_BCAST_ERROR, NULL));
    GIVES(PIO_ENOTVAR, PIOc_inq_varid(ncid, "none", &id));
    OK(PIOc_set_iosystem_error_handling(iosys, PIO_RETURN_ERROR, NULL));
  }
  CHECK(calls == 0 && looks == 0);
}

int main(int argc, char** argv) {
  const int iosys = start(&argc, &argv);
  const int one_node = getenv("SHOAL_RANKS_PER_NODE") == NULL;
  const int n = k_cells * all_ranks;
  PIO_Offset map[k_cells];
  for (int c = 0; c < k_cells; ++c)
    map[c] = c * all_ranks + my_rank + 1;
  calls = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(calls == 1); /* this program is the one that counts */

  /* A second decomposition with the list of the first one: a single agreement. */
  int first = -1;
  int ioids[20];
  OK(PIOc_InitDecomp(iosys, PIO_DOUBLE, 1, &n, k_cells, map, &first, NULL, NULL, NULL));
  calls = agreements = 0;
  for (int i = 0; i < 20; ++i)
    OK(PIOc_InitDecomp(iosys, i % 2 == 0 ? PIO_DOUBLE : PIO_FLOAT, 1, &n, k_cells, map, &ioids[i], NULL, NULL,
                       NULL));
  CHECK(agreements == 20);
  if (one_node) CHECK(calls == 20);
  /* Also after all of them were given back. */
  calls = agreements = 0;
  for (int i = 0; i < 20; ++i)
    OK(PIOc_freedecomp(iosys, ioids[i]));
  OK(PIOc_freedecomp(iosys, first));
  CHECK(agreements == 0);
  OK(PIOc_InitDecomp(iosys, PIO_DOUBLE, 1, &n, k_cells, map, &ioids[0], NULL, NULL, NULL));
  OK(PIOc_InitDecomp(iosys, PIO_FLOAT, 1, &n, k_cells, map, &ioids[1], NULL, NULL, NULL));
  CHECK(agreements == 2);

  for (int f = 0; f < k_format_count; ++f) {
    in_case = k_formats[f].name;
    int ncid = -1;
    int dimids[2];
    int v[4];
    double values[k_cells];
    float floats[k_cells];
    for (int c = 0; c < k_cells; ++c) {
      values[c] = (double)map[c];
      floats[c] = (float)map[c];
    }
    agreements = 0;
    OK(create(iosys, &k_formats[f], "shared.nc", &ncid));
    if (one_node) CHECK(agreements == 0); /* Shoal's own agreement is in the node's memory */
    calls = 0;
    OK(PIOc_def_dim(ncid, "time", PIO_UNLIMITED, &dimids[0]));
    OK(PIOc_def_dim(ncid, "x", n, &dimids[1]));
    OK(PIOc_def_var(ncid, "a", PIO_DOUBLE, 2, dimids, &v[0]));
    OK(PIOc_def_var(ncid, "b", PIO_FLOAT, 2, dimids, &v[1]));
    OK(PIOc_def_var(ncid, "time", PIO_DOUBLE, 1, dimids, &v[2]));
    OK(PIOc_def_var(ncid, "scalar", PIO_DOUBLE, 0, NULL, &v[3]));
    OK(PIOc_put_att_text(ncid, v[0], "units", 1, "m"));
    if (one_node) CHECK(calls == 0); /* calls are matched in the node's memory */
    OK(PIOc_enddef(ncid));
    for (int warm = 0; warm < 2; ++warm) { /* the first writes prepare */
      OK(PIOc_setframe(ncid, v[0], warm));
      OK(PIOc_setframe(ncid, v[1], warm));
      OK(PIOc_write_darray(ncid, v[0], ioids[0], k_cells, values, NULL));
      OK(PIOc_write_darray(ncid, v[1], ioids[1], k_cells, floats, NULL));
    }
    local_calls(iosys, ncid, v);
    calls = 0;
    const PIO_Offset at[1] = {2};
    OK(PIOc_put_var1_double(ncid, v[2], at, values));
    OK(PIOc_put_var_double(ncid, v[3], values));
    for (int record = 2; record < 6; ++record) {
      OK(PIOc_setframe(ncid, v[0], record));
      OK(PIOc_setframe(ncid, v[1], record));
      OK(PIOc_write_darray(ncid, v[0], ioids[0], k_cells, values, NULL));
      OK(PIOc_write_darray(ncid, v[1], ioids[1], k_cells, floats, NULL));
    }
    if (one_node) CHECK(calls == 0);
    if (calls != 0 && my_rank == 0) printf("%s: %d calls of MPI in 8 writes\n", in_case, calls);
    OK(PIOc_closefile(ncid));
  }
  OK(PIOc_freedecomp(iosys, ioids[0]));
  OK(PIOc_freedecomp(iosys, ioids[1]));
  OK(PIOc_finalize(iosys));
  return finish("shared");
}
