/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files: making, opening, syncing, closing.
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

/* ---- Settings ------------------------------------------------------------------------------ */

static const struct {
  const char* name;
  int format;
} k_formats[] = {{"cdf1", PIO_FORMAT_CLASSIC},
                 {"cdf2", PIO_FORMAT_64BIT_OFFSET},
                 {"cdf5", PIO_FORMAT_CDF5},
                 {"netcdf4", PIO_FORMAT_NETCDF4},
                 {"netcdf4-classic", PIO_FORMAT_NETCDF4_CLASSIC},
                 {"zarr", PIO_FORMAT_NETCDF4}, /* of that model */
                 {"zarr2", PIO_FORMAT_NETCDF4}};

static const char* format_name(int format) {
  for (size_t i = 0; i < sizeof k_formats / sizeof k_formats[0]; ++i)
    if (k_formats[i].format == format) return k_formats[i].name;
  return "";
}

/* Is a new file a store of Zarr, whatever iotype the program makes it with? Its name ends so, or SHOAL_FORMAT
 * is zarr. */
static int makes_store(const char* path) {
  const char ending[] = ".zarr";
  const char* const asked = getenv("SHOAL_FORMAT");
  const size_t n = strlen(path);
  return (asked != NULL && strcmp(asked, "zarr") == 0) ||
         (n >= sizeof ending && strcmp(path + n - (sizeof ending - 1), ending) == 0);
}

static int format_of(int iotype, int mode) {
  if (iotype == PIO_IOTYPE_PNETCDF || iotype == PIO_IOTYPE_NETCDF)
    return mode & PIO_64BIT_DATA     ? PIO_FORMAT_CDF5
           : mode & PIO_64BIT_OFFSET ? PIO_FORMAT_64BIT_OFFSET
                                     : PIO_FORMAT_CLASSIC;
  return mode & PIO_CLASSIC_MODEL ? PIO_FORMAT_NETCDF4_CLASSIC : PIO_FORMAT_NETCDF4;
}

/* Hints that are settings of Shoal, of files that are made, and the numbers that these can have. */
static const struct {
  const char *hint, *setting;
  int classic_only;
  long long least, most, unit;
} k_hints[] = {{"striping_factor", "stripe_count", 0, 0, 1000000000, 1},
               {"striping_unit", "stripe_bytes", 0, 0, (1LL << 32) - 1, 64 * 1024},
               {"nc_header_align_size", "header_reserve", 1, 0, 1LL << 40, 1},
               {"nc_var_align_size", "alignment", 0, 1, 1LL << 40, 1}};
enum { k_hint_count = sizeof k_hints / sizeof k_hints[0] };

/* The entry of k_hints that a hint is, k_hint_count: none. A hint is no more than that: with a value that no
 * setting has, it goes to those that the report lists as not taken. */
static size_t setting_of(const spio_hint* hint) {
  size_t i = 0;
  while (i < k_hint_count && strcmp(hint->key, k_hints[i].hint) != 0)
    ++i;
  if (i == k_hint_count) return i;
  char* end = NULL;
  errno = 0;
  const long long number = strtoll(hint->value, &end, 10);
  const int good = errno == 0 && *end == '\0' && number >= k_hints[i].least && number <= k_hints[i].most &&
                   number % k_hints[i].unit == 0;
  return good ? i : (size_t)k_hint_count;
}

typedef struct text {
  char* data;
  size_t used, room;
  int failed;
} text;

static void append(text* out, const char* more) {
  const size_t length = strlen(more);
  if (out->used + length + 1 > out->room) {
    const size_t room = 2 * (out->used + length + 1);
    char* data = realloc(out->data, room);
    if (data == NULL) {
      out->failed = 1;
      return;
    }
    out->data = data;
    out->room = room;
  }
  memcpy(out->data + out->used, more, length + 1);
  out->used += length;
}

static void append_setting(text* out, const char* key, const char* value) {
  append(out, ", ");
  append(out, key);
  append(out, "=");
  append(out, value);
}

static void append_hints(text* out, const spio_system* system, int format) {
  text others = {0};
  for (const spio_hint* hint = system->hints; hint != NULL; hint = hint->next) {
    const size_t i = setting_of(hint);
    if (i == k_hint_count) {
      if (others.used > 0) append(&others, "; ");
      append(&others, hint->key);
      append(&others, "=");
      append(&others, hint->value);
    } else if (format != 0 && !(k_hints[i].classic_only && format >= PIO_FORMAT_NETCDF4 &&
                                format <= PIO_FORMAT_NETCDF4_CLASSIC)) {
      append_setting(out, k_hints[i].setting, hint->value);
    }
  }
  if (others.used > 0) append_setting(out, "hints", others.data);
  out->failed |= others.failed;
  free(others.data);
}

static void warn_of(const char* name, const char* allowed, const char* why) {
  const char* const value = getenv(name);
  if (value != NULL && *value != '\0' && strcmp(value, allowed) != 0)
    fprintf(stderr, "shoal: %s is '%s', and %s; it is for Shoal's own calls\n", name, value, why);
}

/* Programs ask PIO for types and fill values, which would not be theirs if Shoal packed; and iotypes say the
 * formats of files. */
static void warn_of_settings(const spio_system* system) {
  static int warned;
  if (warned || system->rank != 0) return;
  warned = 1;
  warn_of("SHOAL_PACK", "none", "PIO's calls do not pack");
  warn_of("SHOAL_FORMAT", "zarr", "only zarr can replace the formats of PIO's iotypes");
}

/* format 0: a file that is opened. */
static void dataset_settings(text* out, const spio_system* system, const char* path, int format,
                             int may_replace, int writable) {
  append(out, "fill?=written, attributes=rank0, pack=none"); /* SHOAL_FILL counts before ours */
  warn_of_settings(system);
  if (system->served && writable) append_setting(out, "background", "ranks");
  const int is_store = format != 0 && makes_store(path);
  if (format != 0) {
    append_setting(out, "format", is_store ? "zarr" : format_name(format));
    append_setting(out, "exists", may_replace ? "replace" : "error");
  }
  append_hints(out, system, is_store ? PIO_FORMAT_NETCDF4 : format);
  if (system->policy.use_io_tasks && !system->served) { /* those that serve are the I/O ranks */
    char numbers[96];
    snprintf(numbers, sizeof numbers, ", io_ranks=%d, io_stride=%d, io_base=0", system->tasks,
             system->stride);
    append(out, numbers);
    append_setting(out, "rearranger", system->rearranger == PIO_REARR_SUBSET ? "subset" : "box");
  }
}

/* ---- Making and opening -------------------------------------------------------------------- */

int PIOc_iotype_available(int iotype) {
  return (iotype >= PIO_IOTYPE_PNETCDF && iotype <= PIO_IOTYPE_NETCDF4P) || iotype == PIO_IOTYPE_HDF5 ||
         iotype == PIO_IOTYPE_HDF5C;
}

static int check_iotype(int iotype) {
  if (PIOc_iotype_available(iotype)) return PIO_NOERR;
  return spio_fail(PIO_EBADIOTYPE,
                   "iotype %d: there are 1 (pnetcdf), 2 (netcdf), 3 (netcdf4c), 4 (netcdf4p), 8 and 9 (hdf5)",
                   iotype);
}

static void drop_file(spio_file* file) {
  if (file == NULL) return;
  spio_remove_file(file->id);
  spio_forget_variables(file, 0);
  free(file->variables);
  free(file->names.ids);
  free(file->buffer);
  free(file);
}

/* What a file needs that one rank alone may not have: taken before ranks make or open it together, so that
 * they agree on it in that call. Local. */
static spio_file* new_file(spio_system* system, int iotype, int* code) {
  spio_file* file = calloc(1, sizeof *file);
  if (file == NULL) {
    *code = spio_fail(PIO_ENOMEM, "no memory for a file");
    return NULL;
  }
  file->system = system;
  file->iotype = iotype;
  file->fill_mode = PIO_NOFILL;
  file->id = spio_add_file(file);
  if (file->id >= 0) return file;
  *code = spio_no_room(file->id, "files", SPIO_MAX_FILES);
  free(file);
  return NULL;
}

/* Without links; of a new file, which has no name before its first commit, those of its folder. */
static int resolved(const char* path, char* out) {
  char folder[PATH_MAX];
  if (realpath(path, out) != NULL) return 1;
  const char* slash = strrchr(path, '/');
  const char* name = slash == NULL ? path : slash + 1;
  const int n = snprintf(folder, sizeof folder, "%.*s", slash == NULL ? 1 : (int)(slash - path) + 1,
                         slash == NULL ? "." : path);
  if (n < 0 || n >= PATH_MAX || realpath(folder, out) == NULL) return 0;
  const size_t used = strlen(out);
  return snprintf(out + used, PATH_MAX - used, "/%s", name) < (int)(PATH_MAX - used);
}

/* The id of the file of this path, -1: it is not open. */
static int open_as(const char* path) {
  char wanted[PATH_MAX];
  char found[PATH_MAX];
  if (!resolved(path, wanted)) return -1;
  for (const spio_file* file = spio_next_file(NULL, 0); file != NULL; file = spio_next_file(NULL, file->id)) {
    shoal_file_info info = SHOAL_FILE_INFO_INIT;
    if (file->dataset == NULL || shoal_inq_file(file->dataset, &info) != SHOAL_OK) continue;
    if (resolved(info.path, found) && strcmp(wanted, found) == 0) return file->id;
  }
  return -1;
}

/* The dataset that was made or opened. Of a new one, which has no variables, the code is the same on all
 * ranks. */
static int take_dataset(spio_file* file, shoal_dataset* dataset, enum spio_mode mode) {
  shoal_file_info info = SHOAL_FILE_INFO_INIT;
  file->dataset = dataset;
  file->mode = mode;
  file->committed = MPI_Wtime();
  int code = spio_code(shoal_inq_file(dataset, &info));
  if (code != PIO_NOERR) return code;
  for (size_t i = 0; i < sizeof k_formats / sizeof k_formats[0]; ++i)
    if (strcmp(info.format, k_formats[i].name) == 0) file->format = k_formats[i].format;
  if (file->format == 0) return spio_fail(PIO_ENOTNC, "%s has the format %s", info.path, info.format);
  file->writable = info.writable;
  code = spio_refresh(file);
  file->settled = file->nvariables;
  return code;
}

/* A request for a file, and what is wrong with it on this rank. */
typedef struct request {
  const char* path;
  int iotype, mode;
  int wrong;
  text settings;
} request;

/* format 0: a file that is opened. Local. */
static void check_request(const spio_system* system, request* r, int format) {
  if (r->wrong == PIO_NOERR) r->wrong = check_iotype(r->iotype);
  if (r->wrong == PIO_NOERR && (r->path == NULL || r->path[0] == '\0'))
    r->wrong = spio_fail(PIO_EINVAL, "no path was given");
  if (r->wrong != PIO_NOERR) return;
  dataset_settings(&r->settings, system, r->path, format, !(r->mode & PIO_NOCLOBBER),
                   format != 0 || (r->mode & PIO_WRITE) != 0);
  if (r->settings.failed) r->wrong = spio_fail(PIO_ENOMEM, "no memory for settings");
}

static int not_in_component(void) {
  return spio_fail(PIO_EINVAL, "this rank is not in the component of the iosystem");
}

/* A file that is open here already: which one. A new one has no name before its first commit: it is not found
 * then, and ranks agree on whether it is open on any of them. Collective where status is SHOAL_NOT_FOUND. */
static int code_of_opening(spio_system* system, int status, const char* path, int not_found) {
  char message[1024];
  if (status != SHOAL_STATE && status != SHOAL_NOT_FOUND) return spio_code_for(status, not_found);
  const int code = status == SHOAL_STATE ? spio_fail(PIO_EINVAL, "%s", shoal_error_message())
                                         : spio_code_for(status, not_found);
  snprintf(message, sizeof message, "%s", spio_message());
  const int id = open_as(path);
  const int open =
      id < 0 ? PIO_NOERR
             : spio_fail(PIO_EINVAL, "%s is open already, with the id %d: close it first", path, id);
  if (status == SHOAL_STATE && open != PIO_NOERR) return open;
  if (status == SHOAL_NOT_FOUND) {
    const int agreed = spio_match(system, "opening, whether it is open here", open, "-");
    if (agreed != PIO_NOERR) return agreed;
  }
  return spio_fail(code, "%s", message);
}

/* wrong: what this rank found wrong with its arguments. Collective. */
static int create(spio_system* system, const char* path, int iotype, int mode, int wrong, int* ncidp) {
  if (system->comm == MPI_COMM_NULL) return not_in_component();
  request r = {path, iotype, mode, wrong, {0}};
  check_request(system, &r, format_of(iotype, mode));
  spio_file* file = r.wrong == PIO_NOERR ? new_file(system, iotype, &r.wrong) : NULL;
  shoal_dataset* dataset = NULL;
  int code = spio_match(system, "createfile", r.wrong, "'%s', iotype %d, mode %d", path == NULL ? "" : path,
                        iotype, mode);
  const int spoke = shoal_speak(SHOAL_SPEAK_PIO); /* which the dataset keeps */
  if (code == PIO_NOERR)
    code = code_of_opening(system, shoal_create(system->comm, path, r.settings.data, &dataset), path, 2);
  shoal_speak(spoke);
  free(r.settings.data);
  if (code == PIO_NOERR) code = take_dataset(file, dataset, SPIO_DEFINING);
  if (code == PIO_NOERR) {
    *ncidp = file->id;
    return code;
  }
  drop_file(file);
  if (dataset != NULL) shoal_close(&dataset, 0);
  return code;
}

/* retry: take any format. *iotype becomes what the file is. Collective. */
static int open_file(spio_system* system, const char* path, int* iotype, int mode, int retry, int wrong,
                     int* ncidp) {
  if (system->comm == MPI_COMM_NULL) return not_in_component();
  request r = {path, *iotype, mode, wrong, {0}};
  check_request(system, &r, 0);
  spio_file* file = r.wrong == PIO_NOERR ? new_file(system, *iotype, &r.wrong) : NULL;
  shoal_dataset* dataset = NULL;
  int code = spio_match(system, "openfile", r.wrong, "'%s', iotype %d, mode %d, retry %d",
                        path == NULL ? "" : path, *iotype, mode, retry);
  const int spoke = shoal_speak(SHOAL_SPEAK_PIO);
  if (code == PIO_NOERR)
    code = code_of_opening(system,
                           shoal_open(system->comm, path, mode & PIO_WRITE ? SHOAL_WRITE : SHOAL_READ,
                                      r.settings.data, &dataset),
                           path, *iotype == PIO_IOTYPE_PNETCDF ? -220 : ENOENT);
  shoal_speak(spoke);
  free(r.settings.data);
  if (code != PIO_NOERR) {
    drop_file(file);
    return code;
  }
  /* The variables of a file that exists may find no memory on one rank: then it is open on none. */
  code = spio_match(system, "openfile, its variables", take_dataset(file, dataset, SPIO_DATA), "-");
  if (code != PIO_NOERR) {
    drop_file(file);
    shoal_close(&dataset, 0);
    return code;
  }
  const int netcdf4 = spio_is_netcdf4(file);
  shoal_file_info info = SHOAL_FILE_INFO_INIT;
  const int is_store = shoal_inq_file(dataset, &info) == SHOAL_OK && strncmp(info.format, "zarr", 4) == 0;
  const int fits = is_store || (netcdf4 ? *iotype != PIO_IOTYPE_PNETCDF : *iotype < PIO_IOTYPE_NETCDF4P);
  if (!fits && !retry) {
    spio_close(file, 1);
    return spio_fail(PIO_ENOTNC, "%s has another format than iotype %d opens", path, *iotype);
  }
  if (!fits) file->iotype = *iotype = PIO_IOTYPE_NETCDF;
  *ncidp = file->id;
  return PIO_NOERR;
}

static int no_place(const void* a, const void* b) {
  return a == NULL || b == NULL ? spio_fail(PIO_EINVAL, "no place for the id, or no iotype") : PIO_NOERR;
}

int PIOc_createfile(int iosysid, int* ncidp, const int* iotype, const char* fname, int mode) {
  SPIO_SYSTEM_OF_ALL("PIOc_createfile", "createfile", iosysid);
  const int wrong = no_place(ncidp, iotype);
  return spio_end(system, "PIOc_createfile",
                  create(system, fname, iotype == NULL ? PIO_IOTYPE_NETCDF : *iotype, mode, wrong, ncidp));
}

static int iotype_of_mode(int mode) {
  return mode & PIO_NETCDF4 ? PIO_IOTYPE_NETCDF4C : PIO_IOTYPE_NETCDF;
}

int PIOc_create(int iosysid, const char* path, int cmode, int* ncidp) {
  SPIO_SYSTEM_OF_ALL("PIOc_create", "createfile", iosysid);
  return spio_end(system, "PIOc_create",
                  create(system, path, iotype_of_mode(cmode), cmode, no_place(ncidp, ncidp), ncidp));
}

static int open_named(const char* call, int iosysid, int* ncidp, int* iotype, const char* fname, int mode,
                      int retry) {
  SPIO_SYSTEM_OF_ALL(call, "openfile", iosysid);
  int usual = PIO_IOTYPE_NETCDF;
  const int wrong = no_place(ncidp, iotype);
  return spio_end(system, call,
                  open_file(system, fname, iotype == NULL ? &usual : iotype, mode, retry, wrong, ncidp));
}

int PIOc_openfile(int iosysid, int* ncidp, int* iotype, const char* fname, int mode) {
  return open_named("PIOc_openfile", iosysid, ncidp, iotype, fname, mode, 1);
}

int PIOc_openfile2(int iosysid, int* ncidp, int* iotype, const char* fname, int mode) {
  return open_named("PIOc_openfile2", iosysid, ncidp, iotype, fname, mode, 0);
}

int PIOc_openfile_retry(int iosysid, int* ncidp, int* iotype, const char* fname, int mode, int retry) {
  return open_named("PIOc_openfile_retry", iosysid, ncidp, iotype, fname, mode, retry);
}

int PIOc_open(int iosysid, const char* path, int mode, int* ncidp) {
  int iotype = iotype_of_mode(mode);
  return open_named("PIOc_open", iosysid, ncidp, &iotype, path, mode, 0);
}

/* ---- Syncing and closing ------------------------------------------------------------------- */

/* The first error counts, with its message. */
static int first_of(int first, const char* message, int second) {
  return first == PIO_NOERR ? second : spio_fail(first, "%s", message);
}

int spio_close(spio_file* file, int always) {
  char message[512];
  int untold = PIO_NOERR;
  int code = spio_match_refused(file, "closefile", &untold);
  if (code == PIO_EBADID && !always) return code;
  if (code == PIO_NOERR) code = untold;
  snprintf(message, sizeof message, "%s", spio_message());
  int closed = spio_settle(file);
  const int status = spio_code_for(shoal_close(&file->dataset, 0), PIO_EINVALCOORDS);
  if (closed == PIO_NOERR) closed = status;
  if (closed == PIO_NOERR) closed = spio_earlier(&file->deferred, "file");
  drop_file(file);
  return first_of(code, message, closed);
}

int PIOc_closefile(int ncid) {
  SPIO_FILE_OF_ALL("PIOc_closefile", "closefile", ncid);
  spio_system* system = file->system;
  return spio_end(system, "PIOc_closefile", spio_close(file, 0));
}

/* With SHOAL_PIO_SYNC=lazy every half minute by the first rank's clock is enough. Collective. */
static int wants_commit(spio_file* file, int* out) {
  *out = 1;
  if (!file->system->policy.lazy_sync) return PIO_NOERR;
  const double now = MPI_Wtime();
  *out = now - file->committed >= 30.;
  if (MPI_Bcast(out, 1, MPI_INT, 0, file->system->comm) != MPI_SUCCESS)
    return spio_fail(PIO_EIO, "MPI_Bcast failed");
  if (*out) file->committed = now;
  return PIO_NOERR;
}

int spio_sync(spio_file* file) {
  char message[512];
  int untold = PIO_NOERR;
  int code = spio_match_refused(file, "sync", &untold);
  if (code != PIO_NOERR || !file->writable) return code != PIO_NOERR ? code : untold;
  snprintf(message, sizeof message, "%s", spio_message());
  int commit = 1;
  code = spio_settle(file);
  if (code == PIO_NOERR) code = wants_commit(file, &commit);
  if (code == PIO_NOERR && commit) code = spio_code(shoal_sync(file->dataset, 0));
  const int refreshed = spio_refresh(file);
  return first_of(untold, message, code != PIO_NOERR ? code : refreshed);
}

int PIOc_sync(int ncid) {
  SPIO_FILE_OF_ALL("PIOc_sync", "sync", ncid);
  return spio_end_file(file, "PIOc_sync", spio_sync(file));
}

/* The first rank deletes it. */
static int delete_file(const spio_system* system, const char* path) {
  if (system->comm == MPI_COMM_NULL) return not_in_component();
  int code = path == NULL ? spio_fail(PIO_EINVAL, "no path was given") : PIO_NOERR;
  code = spio_match(system, "deletefile", code, "'%s'", path == NULL ? "" : path);
  if (code != PIO_NOERR) return code;
  if (system->rank == 0 && unlink(path) != 0)
    code = spio_fail(errno, "%s could not be deleted: %s", path, strerror(errno));
  return spio_match(system, "deletefile, its end", code, "-");
}

int PIOc_deletefile(int iosysid, const char* filename) {
  SPIO_SYSTEM_OF_ALL("PIOc_deletefile", "deletefile", iosysid);
  return spio_end_system(system, "PIOc_deletefile", delete_file(system, filename));
}

int PIOc_File_is_Open(int ncid) {
  return spio_file_of(ncid) != NULL;
}
