/* SPDX-License-Identifier: BSD-3-Clause
 * The asynchronous forms: I/O ranks come back when all components have finished, files are right, components
 * may end at different times. */
#include "check.h"

static void write_and_read(int iosys, int component, MPI_Comm comm) {
  char path[64];
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  snprintf(path, sizeof path, "async_%d.nc", component);
  const int n = 3 * size;
  PIO_Offset map[3];
  int values[3];
  for (int i = 0; i < 3; ++i) {
    map[i] = i * size + rank + 1;
    values[i] = 100 * component + i * size + rank;
  }
  int ioid = -1;
  int ncid = -1;
  int dimid = -1;
  int varid = -1;
  OK(PIOc_InitDecomp(iosys, PIO_INT, 1, &n, 3, map, &ioid, NULL, NULL, NULL));
  OK(create(iosys, &k_formats[component % k_format_count], path, &ncid));
  OK(PIOc_def_dim(ncid, "x", n, &dimid));
  OK(PIOc_def_var(ncid, "a", PIO_INT, 1, &dimid, &varid));
  OK(PIOc_enddef(ncid));
  OK(PIOc_write_darray(ncid, varid, ioid, 3, values, NULL));
  OK(PIOc_closefile(ncid));
  int iotype = PIO_IOTYPE_NETCDF;
  int* found = calloc((size_t)n, sizeof *found);
  OK(PIOc_openfile(iosys, &ncid, &iotype, path, 0));
  OK(PIOc_get_var_int(ncid, varid, found));
  for (int i = 0; i < n; ++i)
    CHECK(found[i] == 100 * component + i);
  free(found);
  OK(PIOc_closefile(ncid));
  OK(PIOc_freedecomp(iosys, ioid));
}

/* One I/O rank, the last; components of one rank and of the others; of one rank there is nothing. */
static void by_lists(void) {
  in_case = "lists";
  int io[1] = {all_ranks - 1};
  const int components = all_ranks > 2 ? 2 : 1;
  int counts[2] = {1, all_ranks - 2};
  int first[1] = {0};
  int others[64];
  for (int i = 0; i < all_ranks - 2; ++i)
    others[i] = i + 1;
  int* lists[2] = {first, others};
  MPI_Comm io_comm = MPI_COMM_NULL;
  MPI_Comm comps[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
  int iosys[2] = {-1, -1};
  int wrong[1] = {all_ranks};
  GIVES(PIO_EINVAL,
        PIOc_init_async(MPI_COMM_WORLD, 1, wrong, components, counts, lists, &io_comm, comps, 1, iosys));
  GIVES(PIO_EINVAL,
        PIOc_init_async(MPI_COMM_WORLD, 1, first, components, counts, lists, &io_comm, comps, 1, iosys));
  OK(PIOc_init_async(MPI_COMM_WORLD, 1, io, components, counts, lists, &io_comm, comps, PIO_REARR_BOX,
                     iosys));
  CHECK((io_comm != MPI_COMM_NULL) == (my_rank == all_ranks - 1));
  for (int c = 0; c < components; ++c) {
    const int mine = c == 0 ? my_rank == 0 : my_rank > 0 && my_rank < all_ranks - 1;
    bool active = !mine;
    CHECK((comps[c] != MPI_COMM_NULL) == mine);
    OK(PIOc_iosystem_is_active(iosys[c], &active));
    CHECK(active == mine);
    if (mine) {
      write_and_read(iosys[c], c, comps[c]);
      MPI_Comm_free(&comps[c]);
    }
    OK(PIOc_finalize(iosys[c]));
  }
  if (io_comm != MPI_COMM_NULL) MPI_Comm_free(&io_comm);
}

/* The same with communicators that exist. */
static void by_comms(int scorpio) {
  in_case = scorpio ? "init_intercomm" : "comms";
  const int is_io = my_rank == 0;
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, is_io, my_rank, &own);
  MPI_Comm comp = is_io ? MPI_COMM_NULL : own;
  int iosys = -1;
  if (scorpio)
    OK(PIOc_init_intercomm(1, MPI_COMM_WORLD, &comp, is_io ? own : MPI_COMM_NULL, PIO_REARR_ANY, &iosys));
  else
    OK(PIOc_init_async_from_comms(MPI_COMM_WORLD, 1, &comp, is_io ? own : MPI_COMM_NULL, PIO_REARR_BOX,
                                  &iosys));
  if (!is_io) write_and_read(iosys, 2, comp);
  OK(PIOc_finalize(iosys));
  MPI_Comm_free(&own);
}

int main(int argc, char** argv) {
  const int iosys = start(&argc, &argv);
  if (all_ranks > 1) {
    by_lists();
    by_comms(0);
    by_comms(1);
  }
  OK(PIOc_finalize(iosys));
  return finish("async");
}
