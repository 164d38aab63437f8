// Lets the n-th system call on files below a folder fail, fall short, or end the process; preloaded into a run.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FAIL, SHORT, KILL };
static atomic_long calls;
static long at;
static int how, error_number;
static char below[PATH_MAX];
static char last[PATH_MAX + 32];

// From now on the call number n (from 1) does not succeed; 0: all do, and are counted.
void failing_set(const char *folder, long n, int kind, int number) {
  snprintf(below, sizeof below, "%s", folder);
  at = n, how = kind, error_number = number, atomic_store(&calls, 0), last[0] = 0;
}
long failing_calls(void) { return atomic_load(&calls); }
const char *failing_last(void) { return last; }

static int inside(const char *path) {
  size_t length = strlen(below);
  return length && !strncmp(path, below, length) && (path[length] == '/' || !path[length]);
}
static int strikes(const char *call, const char *path) {
  if (atomic_fetch_add(&calls, 1) + 1 != at) return 0;
  snprintf(last, sizeof last, "%s %s", call, path);
  if (how == KILL) kill(getpid(), SIGKILL);
  errno = error_number;
  return 1;
}
static int by_path(const char *call, const char *path) {
  char whole[PATH_MAX * 2];
  if (!below[0] || !path) return 0;
  if (path[0] == '/') snprintf(whole, sizeof whole, "%s", path);
  else {
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here)) return 0;
    snprintf(whole, sizeof whole, "%s/%s", here, path);
  }
  return inside(whole) && strikes(call, whole);
}
static int by_file(const char *call, int file) {
  char name[64], path[PATH_MAX];
  if (!below[0] || file < 0) return 0;
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  ssize_t length = readlink(name, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return inside(path) && strikes(call, path);
}
#define NEXT(name) static __typeof__(name) *next; if (!next) next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

ssize_t write(int file, const void *data, size_t size) {
  NEXT(write);
  if (by_file("write", file)) {
    if (how == FAIL || size < 2) return -1;
    return next(file, data, size / 2);
  }
  return next(file, data, size);
}
ssize_t pwrite64(int file, const void *data, size_t size, off64_t offset) {
  NEXT(pwrite64);
  if (by_file("pwrite", file)) {
    if (how == FAIL || size < 2) return -1;
    return next(file, data, size / 2, offset);
  }
  return next(file, data, size, offset);
}
ssize_t pwrite(int file, const void *data, size_t size, off_t offset) { return pwrite64(file, data, size, offset); }
int fsync(int file) {
  NEXT(fsync);
  return by_file("fsync", file) ? -1 : next(file);
}
int fdatasync(int file) {
  NEXT(fdatasync);
  return by_file("fdatasync", file) ? -1 : next(file);
}
int rename(const char *old, const char *new) {
  NEXT(rename);
  return by_path("rename", new) ? -1 : next(old, new);
}
int renameat(int from, const char *old, int to, const char *new) {
  NEXT(renameat);
  return by_path("renameat", new) ? -1 : next(from, old, to, new);
}
static int mode_of(int flags, va_list rest) { return flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, int) : 0; }
#define OPEN(name)                                     \
  int name(const char *path, int flags, ...) {         \
    NEXT(name);                                        \
    va_list rest;                                      \
    va_start(rest, flags);                             \
    int mode = mode_of(flags, rest);                   \
    va_end(rest);                                      \
    return by_path("open", path) ? -1 : next(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)
#define OPENAT(name)                                   \
  int name(int folder, const char *path, int flags, ...) { \
    NEXT(name);                                        \
    va_list rest;                                      \
    va_start(rest, flags);                             \
    int mode = mode_of(flags, rest);                   \
    va_end(rest);                                      \
    return folder == AT_FDCWD && by_path("openat", path) ? -1 : next(folder, path, flags, mode); \
  }
OPENAT(openat)
OPENAT(openat64)
void *mmap64(void *address, size_t size, int protection, int flags, int file, off64_t offset) {
  NEXT(mmap64);
  return by_file("mmap", file) ? MAP_FAILED : next(address, size, protection, flags, file, offset);
}
void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
  return mmap64(address, size, protection, flags, file, offset);
}
int close(int file) {
  NEXT(close);
  int fails = by_file("close", file), number = errno;
  int result = next(file);
  if (fails) errno = number;
  return fails ? -1 : result;
}
