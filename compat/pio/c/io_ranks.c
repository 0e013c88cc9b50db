/* SPDX-License-Identifier: BSD-3-Clause
 *
 * I/O ranks of the asynchronous forms. Where each component has I/O ranks of its own on each of its nodes,
 * these serve it (shoal_serve_components): what it writes they store. Otherwise they sleep until every
 * component has called PIOc_finalize, and the components store their files themselves.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "internal.h"

static void sleep_a_little(void) {
  const struct timespec nap = {0, 10 * 1000 * 1000};
  nanosleep(&nap, NULL);
}

int spio_wait_for_components(const spio_async* async, int component_count) {
  for (int c = 0; c < component_count; ++c) {
    MPI_Request request;
    if (MPI_Irecv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, 0, async->all, &request) != MPI_SUCCESS)
      return spio_fail(PIO_EIO, "MPI_Irecv failed");
    for (int done = 0; !done;) {
      if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return spio_fail(PIO_EIO, "MPI_Test failed");
      if (!done) sleep_a_little();
    }
  }
  return PIO_NOERR;
}

void spio_tell_io_ranks(const spio_async* async) {
  int ranks = 0;
  MPI_Comm_size(async->all, &ranks);
  for (int rank = 0; rank < ranks; ++rank)
    if (async->is_io[rank]) MPI_Send(NULL, 0, MPI_BYTE, rank, 0, async->all);
}

void spio_free_async(spio_async* async) {
  MPI_Comm_free(&async->all);
  free(async->is_io);
  free(async);
}

int spio_leave_async(spio_system* system) {
  spio_async* async = system->async;
  if (async == NULL) return PIO_NOERR;
  const int code = system->served ? spio_code(shoal_stop_serving()) : PIO_NOERR;
  if (system->rank == 0) spio_tell_io_ranks(async);
  if (--async->components == 0) spio_free_async(async);
  return code;
}

/* ---- Serving ------------------------------------------------------------------------------- */

/* Do the ranks of comp follow one another as they do in all? Local. */
static int same_order(MPI_Comm comp, MPI_Comm all) {
  MPI_Group part;
  MPI_Group whole;
  MPI_Comm_group(comp, &part);
  MPI_Comm_group(all, &whole);
  int ranks = 0;
  MPI_Group_size(part, &ranks);
  int before = -1;
  int same = 1;
  for (int rank = 0; rank < ranks && same; ++rank) {
    int there = MPI_UNDEFINED;
    MPI_Group_translate_ranks(part, 1, &rank, whole, &there);
    same = there > before;
    before = there;
  }
  MPI_Group_free(&part);
  MPI_Group_free(&whole);
  return same;
}

/* What this rank does, SHOAL_SERVES or a component. Returns why ranks cannot serve, the same on all ranks;
 * NULL: they can. code: what went wrong here so far. Collective over all. */
static const char* role_of(MPI_Comm all, int component_count, const MPI_Comm* comps, int is_io, int code,
                           int* role) {
  int roles = is_io ? 1 : 0;
  int same = 1;
  *role = SHOAL_SERVES;
  for (int c = 0; c < component_count; ++c) {
    if (comps[c] == MPI_COMM_NULL) continue;
    *role = c;
    ++roles;
    if (code == PIO_NOERR) same = same && same_order(comps[c], all);
  }
  int wrong[3] = {code != PIO_NOERR, roles != 1, !same};
  if (MPI_Allreduce(MPI_IN_PLACE, wrong, 3, MPI_INT, MPI_MAX, all) != MPI_SUCCESS)
    return "MPI_Allreduce failed";
  if (wrong[0]) return "an iosystem could not be made";
  if (wrong[1]) return "a rank is in none or in several of the components";
  return wrong[2] ? "the ranks of a component are not in ascending order" : NULL;
}

int spio_let_serve(MPI_Comm all, int component_count, const MPI_Comm* comps, int is_io, int code) {
  static int said = 0;
  int role = SHOAL_SERVES;
  MPI_Comm computing = MPI_COMM_NULL;
  const char* why_not = role_of(all, component_count, comps, is_io, code, &role);
  if (why_not == NULL && shoal_serve_components(all, role, &computing) != SHOAL_OK)
    why_not = shoal_error_message();
  if (computing != MPI_COMM_NULL) MPI_Comm_free(&computing);
  int rank = 0;
  MPI_Comm_rank(all, &rank);
  if (why_not != NULL && rank == 0 && !said)
    fprintf(stderr, "shoal: the I/O ranks wait and the computing ranks store their files themselves: %s\n",
            why_not);
  said = said || why_not != NULL;
  return why_not == NULL;
}
