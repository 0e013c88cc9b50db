/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A library to be preloaded into the ranks of a job. It writes down, in one order for all ranks, every change
 * of the files in a folder, so that each state in which a crash could have left them can be built afterwards
 * (replay.py). It can also kill ranks, or let a change fail, at the k-th change.
 *
 *   CRASH_FOLDER   the folder whose files are watched, and the folders in it
 *   CRASH_PROMISE  a file elsewhere, in which the program says what it was promised; its lines get a place in
 *                  the order, but are never counted, failed or killed at
 *   CRASH_STATE    a file of sizeof(State) bytes, shared by all ranks: counters and orders (crash_log.py)
 *   CRASH_LOG      a folder for the logs, one for each process; unset: nothing is written down
 *
 * The order is true because a lock is held around each call: by a file, since the system takes that lock away
 * from a process that dies. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
  k_write = 1,
  k_truncate,
  k_sync,
  k_create,
  k_rename,
  k_unlink,
  k_allocate,
  k_promise,
  k_link,
  k_make_folder,
  k_remove_folder
};
enum { k_magic = 0x4c4f4853, k_page = 4096, k_most_ranks = 32 };
enum { k_fail_changes = 1, k_fail_syncs = 2 };
/* In place of the file of a change: it needs space, it may need some, it frees some. */
enum { k_needs_space = -1, k_renames = -2, k_removes = -3 };

/* The same on both sides: crash_log.py writes and reads it by its place. */
typedef struct State {
  int64_t number;    /* of the next line of the logs */
  int64_t changes;   /* counted so far: writes, truncations, allocations; with `names` those of names, too */
  int64_t syncs;     /* the same of fsync and fdatasync of files */
  int64_t kill_at;   /* kill before the change of this number, counted from 1; 0: never */
  int64_t kill_rank; /* count the changes of this rank alone; -1: of all */
  int64_t kill_all;  /* 1: all ranks die at once, 0: the one that makes the change */
  int64_t kill_torn; /* 1: the part of the write before a page's border is still done */
  int64_t fail_at;   /* let the change (or sync) of this number fail; 0: none */
  int64_t fail_how;  /* errno; 0: half of the write is done, and said to be */
  int64_t fail_on; /* 1: all from there on, until somebody sets fail_at to 0; 2: those that need new space */
  int64_t fail_what; /* k_fail_changes or k_fail_syncs */
  int64_t failed;    /* how many were made to fail */
  int64_t names;     /* 1: files and folders that are made, renamed, linked and removed are changes, too */
  int64_t ranks;     /* how many processes have come */
  int64_t pids[k_most_ranks];
} State;

typedef struct Line {
  uint32_t magic;
  uint16_t what;
  uint16_t path_bytes;
  int64_t number;
  int64_t
      offset; /* of truncations the new size, of creations 1 if what was there is dropped, of renames flags */
  int64_t length;
  int32_t rank;
  uint32_t payload_bytes;
} Line;

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static State* g_state;
static char g_folder[PATH_MAX];
static char g_promise[PATH_MAX];
static int g_lock = -1;
static int g_log = -1;
static int g_rank;

static int own_rank(void) {
  static const char* const k_names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
  for (size_t i = 0; i < sizeof k_names / sizeof k_names[0]; ++i)
    if (getenv(k_names[i]) != NULL) return atoi(getenv(k_names[i]));
  return 0;
}

static void take_name(char* to, const char* from) {
  if (from == NULL || realpath(from, to) == NULL) snprintf(to, PATH_MAX, "%s", from == NULL ? "" : from);
}

static int open_log(void) {
  char path[PATH_MAX];
  const char* folder = getenv("CRASH_LOG");
  if (folder == NULL) return -1;
  snprintf(path, sizeof path, "%s/%ld.log", folder, (long)getpid());
  return (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

__attribute__((constructor)) static void begin(void) {
  const char* state = getenv("CRASH_STATE");
  if (state == NULL || getenv("CRASH_FOLDER") == NULL) return;
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, state, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0) return;
  void* p = mmap(NULL, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) {
    close(fd);
    return;
  }
  take_name(g_folder, getenv("CRASH_FOLDER"));
  take_name(g_promise, getenv("CRASH_PROMISE"));
  g_rank = own_rank();
  g_log = open_log();
  g_lock = fd;
  g_state = p;
  const int64_t mine = __atomic_fetch_add(&g_state->ranks, 1, __ATOMIC_SEQ_CST);
  if (mine < k_most_ranks) g_state->pids[mine] = getpid();
}

static void* next_of(const char* name) {
  void* f = dlsym(RTLD_NEXT, name);
  if (f == NULL) abort();
  return f;
}

/* The function of this name behind this library. */
#define NEXT(type, name)                \
  static type s_next;                   \
  if (s_next == NULL) {                 \
    const int kept_errno = errno;       \
    *(void**)(&s_next) = next_of(name); \
    errno = kept_errno;                 \
  }

static void enter(void) {
  pthread_mutex_lock(&g_mutex);
  while (flock(g_lock, LOCK_EX) != 0 && errno == EINTR)
    continue;
}

static void leave(void) {
  const int kept_errno = errno;
  flock(g_lock, LOCK_UN);
  pthread_mutex_unlock(&g_mutex);
  errno = kept_errno;
}

static int is_watched(const char* path) {
  const size_t n = strlen(g_folder);
  return strncmp(path, g_folder, n) == 0 && path[n] == '/';
}

/* k_write for a watched file or folder, k_promise for the file of promises, 0 for all others. */
static int find_file(int fd, char path[PATH_MAX]) {
  char link[64];
  if (g_state == NULL) return 0;
  const int kept_errno = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, PATH_MAX - 1);
  errno = kept_errno;
  if (n <= 0) return 0;
  path[n] = '\0';
  if (strcmp(path, g_promise) == 0) return k_promise;
  return is_watched(path) ? k_write : 0;
}

/* A path below an open folder, or AT_FDCWD. */
static int find_path_at(int at, const char* given, char path[PATH_MAX]) {
  if (g_state == NULL) return 0;
  const int kept_errno = errno;
  char folder[PATH_MAX];
  if (at == AT_FDCWD || given[0] == '/')
    snprintf(folder, sizeof folder, "%s", given);
  else
    snprintf(folder, sizeof folder, "/proc/self/fd/%d/%s", at, given);
  for (size_t n = strlen(folder); n > 1 && folder[n - 1] == '/'; --n)
    folder[n - 1] = '\0';
  char* slash = strrchr(folder, '/');
  char name[PATH_MAX];
  snprintf(name, sizeof name, "%s", slash == NULL ? folder : slash + 1);
  if (slash != NULL) *slash = '\0';
  char whole[PATH_MAX];
  int found = 0;
  if (realpath(slash == NULL ? "." : slash == folder ? "/" : folder, whole) != NULL) {
    snprintf(path, PATH_MAX, "%.*s/%.*s", PATH_MAX / 2 - 1, whole, PATH_MAX / 2 - 1, name);
    found = is_watched(path);
  }
  errno = kept_errno;
  return found;
}

static int find_path(const char* given, char path[PATH_MAX]) {
  return find_path_at(AT_FDCWD, given, path);
}

static void note(int what, const char* path, int64_t offset, int64_t length, const struct iovec* payload,
                 int pieces) {
  const int64_t number = g_state->number++;
  if (g_log < 0) return;
  const int kept_errno = errno;
  const size_t whole = strlen(g_folder); /* the folder itself is called "" */
  const char* name = what == k_promise || strlen(path) <= whole ? "" : path + whole + 1;
  Line line = {k_magic, (uint16_t)what, (uint16_t)strlen(name), number, offset, length, g_rank, 0};
  struct iovec all[2 + 64] = {{&line, sizeof line}, {(void*)name, strlen(name)}};
  /* What was written may be less than what was given. */
  int64_t left = what == k_write || what == k_promise ? length : INT64_MAX;
  int n = 2;
  for (int i = 0; i < pieces && i < 64 && left > 0; ++i, ++n) {
    all[n] = payload[i];
    if ((int64_t)all[n].iov_len > left) all[n].iov_len = (size_t)left;
    left -= (int64_t)all[n].iov_len;
    line.payload_bytes += (uint32_t)all[n].iov_len;
  }
  ssize_t expected = 0;
  for (int i = 0; i < n; ++i)
    expected += (ssize_t)all[i].iov_len;
  if (syscall(SYS_writev, g_log, all, n) != expected) abort(); /* a log with gaps would prove nothing */
  errno = kept_errno;
}

static void kill_now(void) {
  const int64_t ranks = g_state->ranks < k_most_ranks ? g_state->ranks : k_most_ranks;
  for (int64_t i = 0; g_state->kill_all && i < ranks; ++i)
    if (g_state->pids[i] != getpid()) kill((pid_t)g_state->pids[i], SIGKILL);
  kill(getpid(), SIGKILL);
  for (;;)
    pause();
}

/* Whether a write needs space that the file does not have yet: behind its end, or in a hole. */
static int needs_space(int fd, int64_t offset, int64_t n) {
  if (fd < 0) return fd == k_needs_space;
  const off64_t place = lseek64(fd, 0, SEEK_CUR);
  const off64_t hole = lseek64(fd, offset, SEEK_HOLE); /* fails behind the end, which is a hole as well */
  lseek64(fd, place, SEEK_SET);
  return hole < 0 || hole < offset + n;
}

/* Counts a change that is about to be made. What becomes of it: all of the n bytes (n), a part of them, or
 * -1 with errno set. */
static int64_t order(int fd, int64_t offset, int64_t n, int* dies) {
  State* s = g_state;
  *dies = 0;
  if (s->kill_rank < 0 || s->kill_rank == g_rank || s->kill_at == 0)
    ++s->changes;
  else
    return n;
  if (s->kill_at > 0 && s->changes == s->kill_at) {
    const int64_t border = (offset / k_page + 1) * k_page - offset;
    if (!s->kill_torn || border >= n) kill_now();
    *dies = 1;
    return border;
  }
  if (s->fail_what != k_fail_changes || s->fail_at == 0 || s->changes < s->fail_at) return n;
  if (s->changes > s->fail_at && !s->fail_on) return n;
  if (s->fail_on == 2 && !needs_space(fd, offset, n)) return n;
  if (fd == k_removes && (s->fail_how == ENOSPC || s->fail_how == EDQUOT)) return n;
  ++s->failed;
  if (s->fail_how == 0) return n > 1 ? n / 2 : n;
  errno = (int)s->fail_how;
  return -1;
}

/* For the program: what fails on purpose fails no more. */
__attribute__((visibility("default"))) void crash_clear_fault(void) {
  if (g_state == NULL) return;
  enter();
  g_state->fail_at = 0;
  leave();
}

/* ---- Writes ---------------------------------------------------------------------------------- */

typedef ssize_t (*Write)(int, const void*, size_t);
typedef ssize_t (*WriteAt)(int, const void*, size_t, off64_t);
typedef ssize_t (*WriteAllAt)(int, const struct iovec*, int, off64_t);

static ssize_t next_write(int fd, const void* bytes, size_t n) {
  NEXT(Write, "write")
  return s_next(fd, bytes, n);
}
static ssize_t next_write_at(int fd, const void* bytes, size_t n, off64_t at) {
  NEXT(WriteAt, "pwrite64")
  return s_next(fd, bytes, n, at);
}

/* at < 0: where the descriptor stands. */
static ssize_t write_watched(int fd, const void* bytes, size_t n, off64_t at) {
  char path[PATH_MAX];
  const int what = find_file(fd, path);
  if (what == 0) return at < 0 ? next_write(fd, bytes, n) : next_write_at(fd, bytes, n, at);
  enter();
  int64_t offset = at;
  if (at < 0) offset = lseek(fd, 0, (fcntl(fd, F_GETFL) & O_APPEND) != 0 ? SEEK_END : SEEK_CUR);
  int dies = 0;
  const int64_t allowed = what == k_promise ? (int64_t)n : order(fd, offset, (int64_t)n, &dies);
  ssize_t done = -1;
  if (allowed >= 0) {
    done = at < 0 ? next_write(fd, bytes, (size_t)allowed) : next_write_at(fd, bytes, (size_t)allowed, at);
    const struct iovec payload = {(void*)bytes, done > 0 ? (size_t)done : 0};
    if (done >= 0) note(what, path, offset, done, &payload, 1);
  }
  if (dies) kill_now();
  leave();
  return done;
}

ssize_t write(int fd, const void* bytes, size_t n) {
  return write_watched(fd, bytes, n, -1);
}
ssize_t pwrite(int fd, const void* bytes, size_t n, off_t at) {
  return write_watched(fd, bytes, n, at);
}
ssize_t pwrite64(int fd, const void* bytes, size_t n, off64_t at) {
  return write_watched(fd, bytes, n, at);
}

/* Piece by piece: a system may stop between any two of them as well. */
static ssize_t write_pieces(int fd, const struct iovec* pieces, int count, off64_t at) {
  ssize_t done = 0;
  for (int i = 0; i < count; ++i) {
    if (pieces[i].iov_len == 0) continue;
    const ssize_t n = write_watched(fd, pieces[i].iov_base, pieces[i].iov_len, at < 0 ? at : at + done);
    if (n < 0) return done > 0 ? done : n;
    done += n;
    if ((size_t)n < pieces[i].iov_len) break;
  }
  return done;
}

ssize_t writev(int fd, const struct iovec* pieces, int count) {
  typedef ssize_t (*WriteAll)(int, const struct iovec*, int);
  NEXT(WriteAll, "writev")
  char path[PATH_MAX];
  return find_file(fd, path) == 0 ? s_next(fd, pieces, count) : write_pieces(fd, pieces, count, -1);
}
ssize_t pwritev64(int fd, const struct iovec* pieces, int count, off64_t at) {
  NEXT(WriteAllAt, "pwritev64")
  char path[PATH_MAX];
  return find_file(fd, path) == 0 ? s_next(fd, pieces, count, at) : write_pieces(fd, pieces, count, at);
}
ssize_t pwritev(int fd, const struct iovec* pieces, int count, off_t at) {
  return pwritev64(fd, pieces, count, at);
}
ssize_t pwritev64v2(int fd, const struct iovec* pieces, int count, off64_t at, int flags) {
  typedef ssize_t (*WriteAllFlags)(int, const struct iovec*, int, off64_t, int);
  NEXT(WriteAllFlags, "pwritev64v2")
  char path[PATH_MAX];
  return find_file(fd, path) == 0 ? s_next(fd, pieces, count, at, flags)
                                  : write_pieces(fd, pieces, count, at);
}
ssize_t pwritev2(int fd, const struct iovec* pieces, int count, off_t at, int flags) {
  return pwritev64v2(fd, pieces, count, at, flags);
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

/* Truncations and allocations: `change` does it. */
typedef struct Change {
  int what;
  int fd;           /* -1: by path */
  const char* path; /* of truncate */
  int mode;         /* of fallocate; -1: posix_fallocate, which returns the error */
  int64_t offset;
  int64_t length;
} Change;

static int do_change(const Change* c) {
  if (c->what == k_truncate && c->fd >= 0) {
    typedef int (*F)(int, off64_t);
    NEXT(F, "ftruncate64")
    return s_next(c->fd, c->offset);
  }
  if (c->what == k_truncate) {
    typedef int (*F)(const char*, off64_t);
    NEXT(F, "truncate64")
    return s_next(c->path, c->offset);
  }
  if (c->mode >= 0) {
    typedef int (*F)(int, int, off64_t, off64_t);
    NEXT(F, "fallocate64")
    return s_next(c->fd, c->mode, c->offset, c->length);
  }
  typedef int (*F)(int, off64_t, off64_t);
  NEXT(F, "posix_fallocate64")
  return s_next(c->fd, c->offset, c->length);
}

static int change_watched(const Change* c) {
  char path[PATH_MAX];
  if ((c->fd >= 0 ? find_file(c->fd, path) : find_path(c->path, path)) == 0) return do_change(c);
  enter();
  int dies = 0;
  const int returns_error = c->what == k_allocate && c->mode < 0;
  int result = -1;
  if (order(k_needs_space, 0, 1, &dies) >= 0) {
    result = do_change(c);
    const int64_t mode = c->mode > 0 ? c->mode : 0;
    const struct iovec payload = {(void*)&mode, sizeof mode};
    if (result == 0) note(c->what, path, c->offset, c->length, &payload, c->what == k_allocate ? 1 : 0);
  } else if (returns_error) {
    result = errno;
  }
  leave();
  return result;
}

int ftruncate64(int fd, off64_t size) {
  const Change c = {k_truncate, fd, NULL, 0, size, 0};
  return change_watched(&c);
}
int ftruncate(int fd, off_t size) {
  return ftruncate64(fd, size);
}
int truncate64(const char* path, off64_t size) {
  const Change c = {k_truncate, -1, path, 0, size, 0};
  return change_watched(&c);
}
int truncate(const char* path, off_t size) {
  return truncate64(path, size);
}
int fallocate64(int fd, int mode, off64_t offset, off64_t length) {
  const Change c = {k_allocate, fd, NULL, mode, offset, length};
  return change_watched(&c);
}
int fallocate(int fd, int mode, off_t offset, off_t length) {
  return fallocate64(fd, mode, offset, length);
}
int posix_fallocate64(int fd, off64_t offset, off64_t length) {
  const Change c = {k_allocate, fd, NULL, -1, offset, length};
  return change_watched(&c);
}
int posix_fallocate(int fd, off_t offset, off_t length) {
  return posix_fallocate64(fd, offset, length);
}

/* ---- fsync ----------------------------------------------------------------------------------- */

typedef int (*Sync)(int);

static int sync_watched(int fd, Sync next) {
  char path[PATH_MAX] = "";
  if (find_file(fd, path) != k_write && (g_state == NULL || strcmp(path, g_folder) != 0)) return next(fd);
  enter();
  State* s = g_state;
  struct stat status;
  const int is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  s->syncs += is_file;
  int result = -1;
  if (is_file && s->fail_what == k_fail_syncs && s->fail_at > 0 &&
      (s->syncs == s->fail_at || (s->fail_on && s->syncs > s->fail_at))) {
    ++s->failed;
    errno = (int)s->fail_how;
  } else {
    result = next(fd);
    if (result == 0) note(k_sync, path, 0, 0, NULL, 0);
  }
  leave();
  return result;
}

int fsync(int fd) {
  NEXT(Sync, "fsync")
  return sync_watched(fd, s_next);
}
int fdatasync(int fd) {
  NEXT(Sync, "fdatasync")
  return sync_watched(fd, s_next);
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Whether a name that is about to change may: 0, or -1 with errno set. */
static int order_name(int space) {
  int dies = 0;
  return !g_state->names || order(space, 0, 1, &dies) >= 0 ? 0 : -1;
}

typedef int (*OpenAt)(int, const char*, int, ...);

static int open_watched(int folder, const char* given, int flags, mode_t mode) {
  NEXT(OpenAt, "openat64")
  char path[PATH_MAX];
  if ((flags & (O_CREAT | O_TRUNC)) == 0 || !find_path_at(folder, given, path))
    return s_next(folder, given, flags, mode);
  enter();
  const int kept_errno = errno;
  const int makes = (flags & O_CREAT) != 0 && syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0;
  errno = kept_errno;
  int fd = -1;
  if (!makes || order_name(k_needs_space) == 0) fd = s_next(folder, given, flags, mode);
  if (fd >= 0 && find_file(fd, path) == k_write) note(k_create, path, (flags & O_TRUNC) != 0, 0, NULL, 0);
  leave();
  return fd;
}

static mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? (mode_t)va_arg(arguments, int) : 0;
}

#define OPEN(name)                                    \
  int name(const char* path, int flags, ...) {        \
    va_list arguments;                                \
    va_start(arguments, flags);                       \
    const mode_t mode = mode_of(flags, arguments);    \
    va_end(arguments);                                \
    return open_watched(AT_FDCWD, path, flags, mode); \
  }
#define OPENAT(name)                                       \
  int name(int folder, const char* path, int flags, ...) { \
    va_list arguments;                                     \
    va_start(arguments, flags);                            \
    const mode_t mode = mode_of(flags, arguments);         \
    va_end(arguments);                                     \
    return open_watched(folder, path, flags, mode);        \
  }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
int creat(const char* path, mode_t mode) {
  return open_watched(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
int creat64(const char* path, mode_t mode) {
  return open_watched(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  typedef int (*F)(int, const char*, int, const char*, unsigned);
  NEXT(F, "renameat2")
  char old_path[PATH_MAX], new_path[PATH_MAX];
  if (!find_path_at(from_folder, from, old_path) || !find_path_at(to_folder, to, new_path))
    return s_next(from_folder, from, to_folder, to, flags);
  enter();
  int result = order_name(k_renames);
  if (result == 0) result = s_next(from_folder, from, to_folder, to, flags);
  const char* name = new_path + strlen(g_folder) + 1;
  const struct iovec payload = {(void*)name, strlen(name)};
  if (result == 0) note(k_rename, old_path, flags, 0, &payload, 1);
  leave();
  return result;
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  return renameat2(from_folder, from, to_folder, to, 0);
}
int rename(const char* from, const char* to) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  typedef int (*F)(int, const char*, int, const char*, int);
  NEXT(F, "linkat")
  char old_path[PATH_MAX], new_path[PATH_MAX];
  if (!find_path_at(to_folder, to, new_path)) return s_next(from_folder, from, to_folder, to, flags);
  if (!find_path_at(from_folder, from, old_path)) abort(); /* its bytes are in no log */
  enter();
  int result = order_name(k_needs_space);
  if (result == 0) result = s_next(from_folder, from, to_folder, to, flags);
  const char* name = new_path + strlen(g_folder) + 1;
  const struct iovec payload = {(void*)name, strlen(name)};
  if (result == 0) note(k_link, old_path, 0, 0, &payload, 1);
  leave();
  return result;
}
int link(const char* from, const char* to) {
  return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int mkdirat(int folder, const char* given, mode_t mode) {
  typedef int (*F)(int, const char*, mode_t);
  NEXT(F, "mkdirat")
  char path[PATH_MAX];
  if (!find_path_at(folder, given, path)) return s_next(folder, given, mode);
  enter();
  const int kept_errno = errno;
  const int is_there = syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
  errno = kept_errno;
  int result = is_there ? 0 : order_name(k_needs_space);
  if (result == 0) result = s_next(folder, given, mode);
  if (result == 0) note(k_make_folder, path, 0, 0, NULL, 0);
  leave();
  return result;
}
int mkdir(const char* given, mode_t mode) {
  return mkdirat(AT_FDCWD, given, mode);
}

int unlinkat(int folder, const char* given, int flags) {
  typedef int (*F)(int, const char*, int);
  NEXT(F, "unlinkat")
  char path[PATH_MAX];
  if (!find_path_at(folder, given, path)) return s_next(folder, given, flags);
  enter();
  int result = order_name(k_removes);
  if (result == 0) result = s_next(folder, given, flags);
  const int what = (flags & AT_REMOVEDIR) != 0 ? k_remove_folder : k_unlink;
  if (result == 0) note(what, path, 0, 0, NULL, 0);
  leave();
  return result;
}
int unlink(const char* given) {
  return unlinkat(AT_FDCWD, given, 0);
}
int rmdir(const char* given) {
  return unlinkat(AT_FDCWD, given, AT_REMOVEDIR);
}
int remove(const char* given) {
  if (unlink(given) == 0) return 0;
  return errno == EISDIR || errno == EPERM ? rmdir(given) : -1;
}
