/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Iosystems: a communicator, what is kept for inquiry, and what files made later are to have.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "pio_meta.h"

static PIO_Offset buffer_limit = 10485760;

extern char** environ;

/* ---- The environment ----------------------------------------------------------------------- */

/* A size as Shoal's settings have it: bytes, or with KiB, MiB, GiB. Below 0: no such size. */
static int64_t size_of_text(const char* text) {
  char* end = NULL;
  const double number = strtod(text, &end);
  if (end == text || !(number >= 0)) return -1;
  while (*end == ' ')
    ++end;
  double unit = 0;
  if (strcmp(end, "") == 0) unit = 1;
  if (strcmp(end, "KiB") == 0) unit = 1024;
  if (strcmp(end, "MiB") == 0) unit = 1024. * 1024;
  if (strcmp(end, "GiB") == 0) unit = 1024. * 1024 * 1024;
  const double bytes = number * unit;
  return unit > 0 && bytes < 4e18 ? (int64_t)bytes : -1;
}

static int read_size(const char* name, int64_t* out) {
  const char* text = getenv(name);
  if (text == NULL) return PIO_NOERR;
  const int64_t bytes = size_of_text(text);
  if (bytes < 0)
    return spio_fail(PIO_EINVAL, "the environment variable %s is '%s'; it must be a size, as 64KiB", name,
                     text);
  *out = bytes;
  return PIO_NOERR;
}

/* One of two words, the first of which is the default. */
static int read_choice(const char* name, const char* usual, const char* other, int* out) {
  const char* text = getenv(name);
  if (text == NULL || strcmp(text, usual) == 0) return PIO_NOERR;
  if (strcmp(text, other) != 0)
    return spio_fail(PIO_EINVAL, "the environment variable %s is '%s'; it must be '%s' or '%s'", name, text,
                     usual, other);
  *out = 1;
  return PIO_NOERR;
}

/* A name that nobody reads is a mistake. */
static int check_names(void) {
  static const char prefix[] = "SHOAL_PIO_";
  static const char* const known[] = {"IO_TASKS=", "SYNC=", "KEEP_BYTES=", "CUT_BYTES="};
  for (char** entry = environ; entry != NULL && *entry != NULL; ++entry) {
    if (strncmp(*entry, prefix, sizeof prefix - 1) != 0) continue;
    const char* rest = *entry + sizeof prefix - 1;
    size_t i = 0;
    while (i < sizeof known / sizeof known[0] && strncmp(rest, known[i], strlen(known[i])) != 0)
      ++i;
    if (i == sizeof known / sizeof known[0])
      return spio_fail(PIO_EINVAL,
                       "the environment variable %.*s is not one of SHOAL_PIO_IO_TASKS, SHOAL_PIO_SYNC, "
                       "SHOAL_PIO_KEEP_BYTES and SHOAL_PIO_CUT_BYTES; unset it",
                       (int)strcspn(*entry, "="), *entry);
  }
  return PIO_NOERR;
}

static int read_environment(spio_policy* policy) {
  *policy = (spio_policy){0, 0, (int64_t)64 << 20, (int64_t)64 << 10};
  int code = check_names();
  if (code == PIO_NOERR) code = read_choice("SHOAL_PIO_IO_TASKS", "ignore", "use", &policy->use_io_tasks);
  if (code == PIO_NOERR) code = read_choice("SHOAL_PIO_SYNC", "commit", "lazy", &policy->lazy_sync);
  if (code == PIO_NOERR) code = read_size("SHOAL_PIO_KEEP_BYTES", &policy->keep_bytes);
  if (code == PIO_NOERR) code = read_size("SHOAL_PIO_CUT_BYTES", &policy->cut_bytes);
  return code;
}

/* The first rank's environment counts. Collective. */
static int agree_policy(MPI_Comm comm, int rank, spio_policy* policy) {
  int64_t words[5] = {0};
  if (rank == 0) {
    words[0] = read_environment(policy);
    words[1] = policy->use_io_tasks;
    words[2] = policy->lazy_sync;
    words[3] = policy->keep_bytes;
    words[4] = policy->cut_bytes;
  }
  if (MPI_Bcast(words, 5, MPI_INT64_T, 0, comm) != MPI_SUCCESS) return spio_fail(PIO_EIO, "MPI_Bcast failed");
  if (words[0] != 0) {
    if (rank != 0)
      spio_fail((int)words[0], "an environment variable SHOAL_PIO_... of the first rank is wrong");
    return (int)words[0];
  }
  *policy = (spio_policy){(int)words[1], (int)words[2], words[3], words[4]};
  return PIO_NOERR;
}

/* ---- Making and giving back ---------------------------------------------------------------- */

int spio_check_rearranger(int rearranger) {
  if (rearranger >= PIO_REARR_BOX && rearranger <= PIO_REARR_CONTIG) return PIO_NOERR;
  return spio_fail(PIO_EINVAL, "%d is no rearranger: 1 (box), 2 (subset), 3 (any), 4 (contig)", rearranger);
}

static void free_system(spio_system* system) {
  spio_free_lists(system);
  if (system->comm != MPI_COMM_NULL && !system->left_alone) MPI_Comm_free(&system->comm);
  while (system->hints != NULL) {
    spio_hint* hint = system->hints;
    system->hints = hint->next;
    free(hint->value);
    free(hint);
  }
  free(system);
}

/* What one rank alone may lack comes behind what ranks do together. */
int spio_make_system(MPI_Comm comm, int tasks, int stride, int base, int rearranger, spio_system** out) {
  spio_system made = {
      .comm = comm,
      .id = -1,
      .tasks = tasks,
      .stride = stride,
      .base = base,
      .rearranger = rearranger,
      .io_rank = -1,
      .handler = spio_default_handler(),
      .options = {PIO_REARR_COMM_COLL, PIO_REARR_COMM_FC_2D_DISABLE, {false, false, 0}, {false, false, 0}}};
  int code = PIO_NOERR;
  if (comm != MPI_COMM_NULL) {
    MPI_Comm_rank(comm, &made.rank);
    MPI_Comm_size(comm, &made.size);
    if (tasks > 0 && made.rank % stride == 0 && made.rank / stride < tasks) made.io_rank = made.rank / stride;
    code = agree_policy(comm, made.rank, &made.policy);
  }
  spio_system* system = malloc(sizeof *system);
  if (system == NULL) {
    if (code == PIO_NOERR) code = spio_fail(PIO_ENOMEM, "no memory for an iosystem");
  } else {
    *system = made;
  }
  if (code == PIO_NOERR) {
    system->id = spio_add_system(system);
    if (system->id < 0) code = spio_no_room(system->id, "iosystems", SPIO_MAX_SYSTEMS);
  }
  if (comm != MPI_COMM_NULL) code = spio_match_comm(comm, "an iosystem is made", code, "-");
  *out = code == PIO_NOERR ? system : NULL;
  if (code == PIO_NOERR) return code;
  if (system != NULL) {
    spio_remove_system(system->id);
    free_system(system);
  } else if (comm != MPI_COMM_NULL) {
    MPI_Comm_free(&comm);
  }
  return code;
}

/* What is wrong with the arguments, the same on all ranks. */
static int check_tasks(int size, int tasks, int stride, int base, int rearranger) {
  if (tasks < 1) return spio_fail(PIO_EINVAL, "%d I/O ranks: there must be one at least", tasks);
  if (stride < 1)
    return spio_fail(PIO_EINVAL, "a stride of %d between I/O ranks: it must be 1 at least", stride);
  if ((int64_t)tasks * stride > size)
    return spio_fail(PIO_EINVAL, "%d I/O ranks with a stride of %d do not fit %d ranks", tasks, stride, size);
  if (base < 0 || base >= size)
    return spio_fail(PIO_EINVAL, "the first I/O rank (base) is %d; there are ranks 0 to %d", base, size - 1);
  return spio_check_rearranger(rearranger);
}

/* All ranks come, whatever their arguments are, or none would know of a rank that does not. Collective. */
static int init_intracomm(MPI_Comm comm, int tasks, int stride, int base, int rearranger, int* iosysidp) {
  if (comm == MPI_COMM_NULL) return spio_fail(PIO_EINVAL, "the communicator is MPI_COMM_NULL");
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int code = check_tasks(size, tasks, stride, base, rearranger);
  if (code == PIO_NOERR && iosysidp == NULL) code = spio_fail(PIO_EINVAL, "no place for the id");
  code = spio_match_comm(comm, "Init_Intracomm", code, "%d I/O tasks, stride %d, base %d, rearranger %d",
                         tasks, stride, base, rearranger);
  if (code != PIO_NOERR) return code;
  MPI_Comm own = MPI_COMM_NULL;
  const int made =
      base == 0 ? MPI_Comm_dup(comm, &own) : MPI_Comm_split(comm, 0, (rank - base + size) % size, &own);
  if (made != MPI_SUCCESS) return spio_fail(PIO_EIO, "the communicator could not be duplicated");
  spio_system* system = NULL;
  code = spio_make_system(own, tasks, stride, base, rearranger, &system);
  if (code == PIO_NOERR) *iosysidp = system->id;
  return code;
}

int PIOc_Init_Intracomm(MPI_Comm comm, int num_iotasks, int stride, int base, int rearr, int* iosysidp) {
  return spio_end(NULL, "PIOc_Init_Intracomm",
                  init_intracomm(comm, num_iotasks, stride, base, rearr, iosysidp));
}

int PIOc_Init_Intracomm_from_F90(int f90_comm, int num_iotasks, int stride, int base, int rearr,
                                 rearr_opt_t* rearr_opts, int* iosysidp) {
  const int code =
      PIOc_Init_Intracomm(MPI_Comm_f2c((MPI_Fint)f90_comm), num_iotasks, stride, base, rearr, iosysidp);
  if (code == PIO_NOERR && rearr_opts != NULL) spio_system_of(*iosysidp)->options = *rearr_opts;
  return code;
}

static int finalize(spio_system* system) {
  int code = PIO_NOERR;
  spio_file* file;
  while ((file = spio_next_file(system, 0)) != NULL) {
    const int status = spio_close(file, 1);
    if (code == PIO_NOERR) code = status;
  }
  spio_decomp* decomp;
  while ((decomp = spio_next_decomp(system, 0)) != NULL) {
    spio_remove_decomp(decomp->id);
    free(decomp->dims);
    free(decomp);
  }
  return code;
}

/* The iosystem is gone, also on error; where ranks did not all come, MPI keeps its communicator. */
int PIOc_free_iosystem(int iosysid) {
  SPIO_SYSTEM_OF_ALL("PIOc_finalize", "finalize", iosysid);
  int code = PIO_NOERR;
  if (system->comm != MPI_COMM_NULL) code = spio_match(system, "finalize", PIO_NOERR, "-");
  if (code == PIO_EBADID) return spio_end(system, "PIOc_finalize", code);
  system->left_alone = code != PIO_NOERR;
  const int closed = finalize(system);
  const int left = spio_leave_async(system);
  if (code == PIO_NOERR) code = closed != PIO_NOERR ? closed : left;
  code = spio_end_system(system, "PIOc_finalize", code);
  spio_remove_system(iosysid);
  free_system(system);
  return code;
}

int PIOc_finalize(int iosysid) {
  return PIOc_free_iosystem(iosysid);
}

/* ---- Inquiry ------------------------------------------------------------------------------- */

int PIOc_iam_iotask(int iosysid, bool* ioproc) {
  SPIO_SYSTEM("PIOc_iam_iotask", iosysid);
  if (ioproc != NULL) *ioproc = system->io_rank >= 0;
  return spio_end_system(system, "PIOc_iam_iotask", PIO_NOERR);
}

int PIOc_iotask_rank(int iosysid, int* iorank) {
  SPIO_SYSTEM("PIOc_iotask_rank", iosysid);
  if (iorank != NULL) *iorank = system->io_rank;
  return spio_end_system(system, "PIOc_iotask_rank", PIO_NOERR);
}

/* A question, also of one that there is not: the handler is not asked. */
int PIOc_iosystem_is_active(int iosysid, bool* active) {
  const spio_system* system = spio_system_of(iosysid);
  if (active != NULL) *active = false;
  if (system == NULL) return spio_fail_no_system(iosysid);
  if (active != NULL) *active = system->comm != MPI_COMM_NULL;
  return PIO_NOERR;
}

int PIOc_get_numiotasks(int iosysid, int* numiotasks) {
  SPIO_SYSTEM("PIOc_get_numiotasks", iosysid);
  if (numiotasks != NULL) *numiotasks = system->tasks;
  return spio_end_system(system, "PIOc_get_numiotasks", PIO_NOERR);
}

/* ---- What is kept -------------------------------------------------------------------------- */

int PIOc_set_rearr_opts(int iosysid, int comm_type, int fcd, bool enable_hs_c2i, bool enable_isend_c2i,
                        int max_pend_req_c2i, bool enable_hs_i2c, bool enable_isend_i2c,
                        int max_pend_req_i2c) {
  const char* call = "PIOc_set_rearr_opts";
  SPIO_SYSTEM(call, iosysid);
  if ((comm_type != PIO_REARR_COMM_P2P && comm_type != PIO_REARR_COMM_COLL) ||
      fcd < PIO_REARR_COMM_FC_2D_ENABLE || fcd > PIO_REARR_COMM_FC_2D_DISABLE ||
      max_pend_req_c2i < PIO_REARR_COMM_UNLIMITED_PEND_REQ ||
      max_pend_req_i2c < PIO_REARR_COMM_UNLIMITED_PEND_REQ)
    return spio_end_system(
        system, call,
        spio_fail(PIO_EINVAL,
                  "options of the rearranger are not PIO's: way %d, direction %d, requests %d, %d", comm_type,
                  fcd, max_pend_req_c2i, max_pend_req_i2c));
  system->options = (rearr_opt_t){comm_type,
                                  fcd,
                                  {enable_hs_c2i, enable_isend_c2i, max_pend_req_c2i},
                                  {enable_hs_i2c, enable_isend_i2c, max_pend_req_i2c}};
  return spio_end_system(system, call, PIO_NOERR);
}

static int set_hint(spio_system* system, const char* key, const char* value) {
  if (key == NULL || value == NULL || key[0] == '\0' || value[0] == '\0')
    return spio_fail(PIO_EINVAL, "a hint has a name and a value");
  if (strpbrk(key, "=;,\"\n") != NULL || strpbrk(value, ";,\"\n") != NULL)
    return spio_fail(PIO_EINVAL, "the hint %s=%s has a character that separates hints", key, value);
  spio_hint* hint = system->hints;
  while (hint != NULL && strcmp(hint->key, key) != 0)
    hint = hint->next;
  char* copy = strdup(value);
  spio_hint* added = hint == NULL ? calloc(1, sizeof *added + strlen(key) + 1) : NULL;
  if (copy == NULL || (hint == NULL && added == NULL)) {
    free(copy);
    free(added);
    return spio_fail(PIO_ENOMEM, "no memory for a hint");
  }
  if (added != NULL) {
    strcpy(added->key, key);
    added->next = system->hints;
    system->hints = hint = added;
  }
  free(hint->value);
  hint->value = copy;
  return PIO_NOERR;
}

int PIOc_set_hint(int iosysid, const char* hint, const char* hintval) {
  SPIO_SYSTEM("PIOc_set_hint", iosysid);
  return spio_end_system(system, "PIOc_set_hint", set_hint(system, hint, hintval));
}

static int cache_of(spio_system* system, int iotype, spio_cache** out) {
  if (iotype != PIO_IOTYPE_NETCDF4C && iotype != PIO_IOTYPE_NETCDF4P)
    return spio_fail(PIO_ENOTNC4, "iotype %d has no chunk cache", iotype);
  *out = &system->caches[iotype];
  return PIO_NOERR;
}

int PIOc_set_chunk_cache(int iosysid, int iotype, PIO_Offset size, PIO_Offset nelems, float preemption) {
  SPIO_SYSTEM("PIOc_set_chunk_cache", iosysid);
  spio_cache* cache = NULL;
  int code = cache_of(system, iotype, &cache);
  if (code == PIO_NOERR && (size < 0 || nelems < 0 || !(preemption >= 0 && preemption <= 1)))
    code = spio_fail(PIO_EINVAL, "a chunk cache has a size, a number of chunks and a preemption of 0 to 1");
  if (code == PIO_NOERR) *cache = (spio_cache){size, nelems, preemption};
  return spio_end_system(system, "PIOc_set_chunk_cache", code);
}

int PIOc_get_chunk_cache(int iosysid, int iotype, PIO_Offset* sizep, PIO_Offset* nelemsp,
                         float* preemptionp) {
  SPIO_SYSTEM("PIOc_get_chunk_cache", iosysid);
  spio_cache* cache = NULL;
  const int code = cache_of(system, iotype, &cache);
  if (code == PIO_NOERR) {
    if (sizep != NULL) *sizep = cache->size;
    if (nelemsp != NULL) *nelemsp = cache->nelems;
    if (preemptionp != NULL) *preemptionp = cache->preemption;
  }
  return spio_end_system(system, "PIOc_get_chunk_cache", code);
}

int PIOc_set_blocksize(int newblocksize) {
  if (newblocksize < 1)
    return spio_end(NULL, "PIOc_set_blocksize", spio_fail(PIO_EINVAL, "a block of %d", newblocksize));
  return PIO_NOERR;
}

PIO_Offset PIOc_set_buffer_size_limit(PIO_Offset limit) {
  const PIO_Offset before = buffer_limit;
  if (limit >= 0) buffer_limit = limit;
  return before;
}

int PIOc_get_version_major(void) {
  return PIO_VERSION_MAJOR;
}

int PIOc_get_version_minor(void) {
  return PIO_VERSION_MINOR;
}

int PIOc_get_version_patch(void) {
  return PIO_VERSION_PATCH;
}

int PIOc_get_version_string(char* text, int size) {
  if (text != NULL && size > 0) snprintf(text, (size_t)size, "%s", PIO_VERSION);
  return PIO_NOERR;
}

int PIOc_get_version(int* major, int* minor, int* patch, char* text, int size) {
  if (major != NULL) *major = PIO_VERSION_MAJOR;
  if (minor != NULL) *minor = PIO_VERSION_MINOR;
  if (patch != NULL) *patch = PIO_VERSION_PATCH;
  return PIOc_get_version_string(text, size);
}

int PIOc_get_version_hash(char* text, int size) {
  if (text != NULL && size > 0) snprintf(text, (size_t)size, "shoal-%s", shoal_version());
  return PIO_NOERR;
}

int PIOc_get_iosystem(int ncid) {
  const spio_file* file = spio_file_of(ncid);
  return file == NULL ? -1 : file->system->id;
}
