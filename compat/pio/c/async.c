/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The asynchronous forms: an iosystem for each component, by lists of ranks or by communicators.
 */
#include <stdlib.h>

#include "internal.h"

/* ---- Components ---------------------------------------------------------------------------- */

/* An iosystem for each component, also for those that this rank is not in; I/O ranks come back when all are
 * finished. comps[component_count] are kept, and so is `all`, which has every rank. Collective over all. */
static int make_components(MPI_Comm all, int component_count, const MPI_Comm* comps, int is_io,
                           int rearranger, int* iosysidp) {
  int ranks = 0;
  MPI_Comm_size(all, &ranks);
  spio_async* async = calloc(1, sizeof *async);
  int* flags = calloc((size_t)ranks, sizeof *flags);
  int code = async == NULL || flags == NULL ? spio_fail(PIO_ENOMEM, "no memory for components") : PIO_NOERR;
  int worst = code;
  MPI_Allreduce(&code, &worst, 1, MPI_INT, MPI_MIN, all);
  if (worst != PIO_NOERR) {
    free(flags);
    free(async);
    MPI_Comm_free(&all);
    return code != PIO_NOERR ? code : spio_fail(worst, "another rank has no memory for components");
  }
  *async = (spio_async){all, 0, flags};
  MPI_Allgather(&is_io, 1, MPI_INT, flags, 1, MPI_INT, all);
  for (int c = 0; c < component_count; ++c) {
    const int member = comps[c] != MPI_COMM_NULL;
    int rank = -1;
    if (member) MPI_Comm_rank(comps[c], &rank);
    spio_system* system = NULL;
    const int status = spio_make_system(comps[c], is_io ? 0 : 1, 1, 0, rearranger, &system);
    if (code == PIO_NOERR) code = status;
    iosysidp[c] = system == NULL ? -1 : system->id;
    if (system != NULL && member) {
      system->async = async;
      ++async->components;
    } else if (rank == 0) {
      spio_tell_io_ranks(async); /* a component that could not begin */
    }
  }
  const int served = spio_let_serve(all, component_count, comps, is_io, code);
  for (int c = 0; c < component_count; ++c)
    if (comps[c] != MPI_COMM_NULL && iosysidp[c] != -1) spio_system_of(iosysidp[c])->served = served;
  if (is_io) {
    const int waited = spio_wait_for_components(async, component_count);
    if (code == PIO_NOERR) code = waited;
  }
  if (async->components == 0) spio_free_async(async);
  return code;
}

/* ---- By lists of ranks --------------------------------------------------------------------- */

typedef struct lists {
  int world, io_count, component_count;
  const int* io;     /* NULL: the first ranks */
  const int* counts; /* [component_count] */
  int** procs;       /* NULL: the ranks behind the I/O ranks, in order */
  int* first;        /* [component_count], where procs is NULL */
} lists;

static int io_rank_of(const lists* l, int i) {
  return l->io == NULL ? i : l->io[i];
}

static int rank_of(const lists* l, int component, int i) {
  return l->procs == NULL ? l->first[component] + i : l->procs[component][i];
}

static int is_rank(const lists* l, int rank) {
  return rank >= 0 && rank < l->world;
}

static int check_lists(const lists* l) {
  if (l->io_count < 1 || l->component_count < 1 || l->counts == NULL)
    return spio_fail(PIO_EINVAL, "%d I/O ranks and %d components: there must be one of each at least",
                     l->io_count, l->component_count);
  for (int i = 0; i < l->io_count; ++i)
    if (!is_rank(l, io_rank_of(l, i)))
      return spio_fail(PIO_EINVAL, "there is no rank %d for I/O", io_rank_of(l, i));
  for (int c = 0; c < l->component_count; ++c) {
    if (l->counts[c] < 1) return spio_fail(PIO_EINVAL, "component %d has %d ranks", c, l->counts[c]);
    if (l->procs != NULL && l->procs[c] == NULL) return spio_fail(PIO_EINVAL, "component %d has no list", c);
    for (int i = 0; i < l->counts[c]; ++i) {
      const int rank = rank_of(l, c, i);
      if (!is_rank(l, rank)) return spio_fail(PIO_EINVAL, "component %d: there is no rank %d", c, rank);
      for (int n = 0; n < l->io_count; ++n)
        if (io_rank_of(l, n) == rank)
          return spio_fail(PIO_EINVAL, "component %d: rank %d is for I/O", c, rank);
    }
  }
  return PIO_NOERR;
}

/* Of right lists. */
static uint64_t hash_lists(const lists* l) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (int i = 0; i < l->io_count; ++i)
    hash = (hash ^ (uint64_t)io_rank_of(l, i)) * UINT64_C(1099511628211);
  for (int c = 0; c < l->component_count; ++c)
    for (int i = -1; i < l->counts[c]; ++i)
      hash = (hash ^ (uint64_t)(i < 0 ? l->counts[c] : rank_of(l, c, i))) * UINT64_C(1099511628211);
  return hash;
}

/* A communicator of ranks in the order of their list. Collective over world. */
static MPI_Comm comm_of(MPI_Comm world, int position) {
  MPI_Comm out = MPI_COMM_NULL;
  MPI_Comm_split(world, position < 0 ? MPI_UNDEFINED : 0, position < 0 ? 0 : position, &out);
  return out;
}

static int position_in_component(const lists* l, int component, int rank) {
  for (int i = 0; i < l->counts[component]; ++i)
    if (rank_of(l, component, i) == rank) return i;
  return -1;
}

static int position_in_io(const lists* l, int rank) {
  for (int i = 0; i < l->io_count; ++i)
    if (io_rank_of(l, i) == rank) return i;
  return -1;
}

static int init_by_lists(MPI_Comm world, const lists* given, MPI_Comm* io_comm, MPI_Comm* comp_comm,
                         int rearranger, int* iosysidp) {
  lists l = *given;
  int me = 0;
  if (world == MPI_COMM_NULL) return spio_fail(PIO_EINVAL, "the communicator is MPI_COMM_NULL");
  MPI_Comm_rank(world, &me);
  MPI_Comm_size(world, &l.world);
  const int components = l.component_count > 0 ? l.component_count : 0;
  l.first = calloc((size_t)components + 1, sizeof *l.first);
  MPI_Comm* comps = calloc((size_t)components + 1, sizeof *comps);
  int code = l.first == NULL || comps == NULL || iosysidp == NULL ? spio_fail(PIO_EINVAL, "no place for ids")
                                                                  : PIO_NOERR;
  for (int c = 0; code == PIO_NOERR && l.counts != NULL && c < components; ++c)
    l.first[c] =
        c == 0 ? l.io_count : l.first[c - 1] + (l.counts[c - 1] < l.world ? l.counts[c - 1] : l.world);
  if (code == PIO_NOERR) code = check_lists(&l);
  if (code == PIO_NOERR) code = spio_check_rearranger(rearranger);
  code = spio_match_comm(
      world, "init_async", code, "%d I/O ranks, %d components, lists %016llx, rearranger %d", l.io_count,
      l.component_count, (unsigned long long)(code == PIO_NOERR ? hash_lists(&l) : 0), rearranger);
  if (code == PIO_NOERR) {
    const int io = position_in_io(&l, me);
    MPI_Comm own_io = comm_of(world, io);
    if (io_comm != NULL)
      *io_comm = own_io;
    else if (own_io != MPI_COMM_NULL)
      MPI_Comm_free(&own_io);
    int used = io >= 0;
    for (int c = 0; c < components; ++c) {
      const int position = position_in_component(&l, c, me);
      used = used || position >= 0;
      comps[c] = comm_of(world, position);
      if (comp_comm != NULL) {
        comp_comm[c] = MPI_COMM_NULL;
        if (comps[c] != MPI_COMM_NULL) MPI_Comm_dup(comps[c], &comp_comm[c]);
      }
    }
    MPI_Comm all = comm_of(world, used ? me : -1);
    if (used)
      code = make_components(all, components, comps, io >= 0, rearranger, iosysidp);
    else
      for (int c = 0; c < components; ++c)
        iosysidp[c] = -1;
  }
  free(l.first);
  free(comps);
  return code;
}

int PIOc_init_async(MPI_Comm world, int num_io_procs, int* io_proc_list, int component_count,
                    int* num_procs_per_comp, int** proc_list, MPI_Comm* io_comm, MPI_Comm* comp_comm,
                    int rearranger, int* iosysidp) {
  const lists l = {0, num_io_procs, component_count, io_proc_list, num_procs_per_comp, proc_list, NULL};
  return spio_end(NULL, "PIOc_init_async",
                  init_by_lists(world, &l, io_comm, comp_comm, rearranger, iosysidp));
}

int PIOc_init_async_from_F90(int f90_world, int num_io_procs, int* io_proc_list, int component_count,
                             int* num_procs_per_comp, int* proc_list, int* f90_io_comm, int* f90_comp_comm,
                             int rearranger, int* iosysidp) {
  const int components = component_count > 0 ? component_count : 0;
  int longest = 0;
  for (int c = 0; c < components; ++c)
    if (num_procs_per_comp[c] > longest) longest = num_procs_per_comp[c];
  int** rows = calloc((size_t)components + 1, sizeof *rows);
  MPI_Comm* comps = calloc((size_t)components + 1, sizeof *comps);
  MPI_Comm io = MPI_COMM_NULL;
  if (rows == NULL || comps == NULL) abort();
  for (int c = 0; c < components && proc_list != NULL; ++c)
    rows[c] = proc_list + (size_t)c * (size_t)longest;
  const int code =
      PIOc_init_async(MPI_Comm_f2c((MPI_Fint)f90_world), num_io_procs, io_proc_list, component_count,
                      num_procs_per_comp, proc_list == NULL ? NULL : rows, &io, comps, rearranger, iosysidp);
  if (code == PIO_NOERR) {
    if (f90_io_comm != NULL) *f90_io_comm = (int)MPI_Comm_c2f(io);
    for (int c = 0; c < components && f90_comp_comm != NULL; ++c)
      f90_comp_comm[c] = (int)MPI_Comm_c2f(comps[c]);
  }
  free(rows);
  free(comps);
  return code;
}

/* ---- By communicators ---------------------------------------------------------------------- */

static int init_by_comms(MPI_Comm world, int component_count, const MPI_Comm* given, MPI_Comm io_comm,
                         int rearranger, int* iosysidp) {
  const int components = component_count > 0 ? component_count : 0;
  MPI_Comm* comps = calloc((size_t)components + 1, sizeof *comps);
  int code = PIO_NOERR;
  if (components < 1 || given == NULL || iosysidp == NULL || comps == NULL)
    code = spio_fail(PIO_EINVAL, "%d components, with their communicators", component_count);
  if (code == PIO_NOERR) code = spio_check_rearranger(rearranger);
  if (world == MPI_COMM_NULL) code = spio_fail(PIO_EINVAL, "the communicator is MPI_COMM_NULL");
  if (world != MPI_COMM_NULL)
    code = spio_match_comm(world, "init_async_from_comms", code, "%d components, rearranger %d", components,
                           rearranger);
  if (code == PIO_NOERR) {
    MPI_Comm all = MPI_COMM_NULL;
    MPI_Comm_dup(world, &all);
    for (int c = 0; c < components; ++c) {
      comps[c] = MPI_COMM_NULL;
      if (given[c] != MPI_COMM_NULL) MPI_Comm_dup(given[c], &comps[c]);
    }
    code = make_components(all, components, comps, io_comm != MPI_COMM_NULL, rearranger, iosysidp);
  }
  free(comps);
  return code;
}

int PIOc_init_async_from_comms(MPI_Comm world, int component_count, MPI_Comm* comp_comm, MPI_Comm io_comm,
                               int rearranger, int* iosysidp) {
  return spio_end(NULL, "PIOc_init_async_from_comms",
                  init_by_comms(world, component_count, comp_comm, io_comm, rearranger, iosysidp));
}

int PIOc_init_intercomm(int component_count, MPI_Comm peer_comm, const MPI_Comm* comp_comms, MPI_Comm io_comm,
                        int rearranger, int* iosysidp) {
  return spio_end(NULL, "PIOc_init_intercomm",
                  init_by_comms(peer_comm, component_count, comp_comms, io_comm, rearranger, iosysidp));
}

int PIOc_init_async_comms_from_F90(int f90_world, int component_count, int* f90_comp_comms, int f90_io_comm,
                                   int rearranger, int* iosysidp) {
  const int components = component_count > 0 ? component_count : 0;
  MPI_Comm* comps = calloc((size_t)components + 1, sizeof *comps);
  if (comps == NULL) abort();
  for (int c = 0; c < components; ++c)
    comps[c] = MPI_Comm_f2c((MPI_Fint)f90_comp_comms[c]);
  const int code = PIOc_init_async_from_comms(MPI_Comm_f2c((MPI_Fint)f90_world), component_count, comps,
                                              MPI_Comm_f2c((MPI_Fint)f90_io_comm), rearranger, iosysidp);
  free(comps);
  return code;
}

int PIOc_Init_Intercomm_from_F90(int component_count, int f90_peer_comm, const int* f90_comp_comms,
                                 int f90_io_comm, int rearranger, int* iosysidp) {
  return PIOc_init_async_comms_from_F90(f90_peer_comm, component_count, (int*)(uintptr_t)f90_comp_comms,
                                        f90_io_comm, rearranger, iosysidp);
}
