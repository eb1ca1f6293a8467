/* Counts the calls of the system that a process makes, and makes one of them fail.

       cc -shared -fPIC -O2 calls.c -o calls.so -ldl -pthread
       LD_PRELOAD=./calls.so python ...

   Between faults_begin() and faults_end() each call below gets a number, from 1 on. The call `chosen` fails with the
   errno `how`; if `how` is HALF, it reads or writes half of what it was asked for, and at least one byte. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { HALF = -1, MOST = 1 << 14, LONGEST = 240, FILES = 4096 };

typedef struct { char kind[16]; char name[LONGEST]; int64_t size; } Call;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counting, chosen, how;
static int64_t met;
static Call calls[MOST];
static char opened[FILES][LONGEST]; /* the names of the files that are open */

void faults_begin(int the_chosen, int the_how) {
    chosen = the_chosen, how = the_how, met = 0, counting = 1;
}
int64_t faults_end(void) {
    counting = 0;
    return met;
}
const Call *faults_calls(void) { return calls; }

static int next(const char *kind, const char *name, int64_t size) { /* what happens to this call: 0, HALF or an errno */
    if (!counting) return 0;
    pthread_mutex_lock(&lock);
    int64_t number = ++met;
    if (number <= MOST) {
        Call *call = &calls[number - 1];
        snprintf(call->kind, sizeof call->kind, "%s", kind);
        snprintf(call->name, sizeof call->name, "%s", name ? name : "");
        call->size = size;
    }
    pthread_mutex_unlock(&lock);
    return number == chosen ? how : 0;
}
static const char *of(int file) { return file >= 0 && file < FILES ? opened[file] : ""; }
static int names(int file, const char *name) {
    if (file >= 0 && file < FILES) snprintf(opened[file], LONGEST, "%s", name ? name : "");
    return file;
}

#define REAL(name)                                                                                                     \
    static __typeof__(&name) real;                                                                                     \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);
#define FAILS(name, kind, of_what, size)                                                                               \
    REAL(name)                                                                                                         \
    int fate = next(kind, of_what, size);                                                                              \
    if (fate > 0) {                                                                                                    \
        errno = fate;                                                                                                  \
        return -1;                                                                                                     \
    }
#define SIMPLE(name, kind, parameters, arguments, of_what)                                                             \
    int name parameters {                                                                                              \
        FAILS(name, kind, of_what, 0)                                                                                  \
        return real arguments;                                                           \
    }
#define OPENING(name, parameters, arguments)                                                                           \
    int name parameters {                                                                                              \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                        \
        va_end(rest);                                                                                                  \
        FAILS(name, flags & (O_WRONLY | O_RDWR) ? "open to write" : "open", path, 0)                                         \
        return names(real arguments, path);                                                                      \
    }
/* The bytes of a transfer, halved if that is its fate. */
#define TRANSFER(name, kind, parameters, arguments)                                                                    \
    ssize_t name parameters {                                                                                          \
        FAILS(name, kind, of(file), (int64_t)size)                                                                     \
        if (fate == HALF && size > 1) size /= 2;                                  \
        return real arguments;                                                                                   \
    }
/* A transfer in pieces, of which half the pieces are left, or half of a single one. */
#define PIECES(name, kind, parameters, arguments)                                                                      \
    ssize_t name parameters {                                                                                          \
        FAILS(name, kind, of(file), count)                                                                             \
        struct iovec half;                                                                \
        if (fate == HALF && count > 1) count /= 2;                                                                     \
        else if (fate == HALF && pieces->iov_len > 1) {                                                                \
            half = *pieces, half.iov_len /= 2, pieces = &half;                                                         \
        }                                                                                                              \
        return real arguments;                                                                                   \
    }

OPENING(open, (const char *path, int flags, ...), (path, flags, mode))
OPENING(open64, (const char *path, int flags, ...), (path, flags, mode))
OPENING(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPENING(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
TRANSFER(read, "read", (int file, void *buffer, size_t size), (file, buffer, size))
TRANSFER(write, "write", (int file, const void *buffer, size_t size), (file, buffer, size))
TRANSFER(pread, "read", (int file, void *buffer, size_t size, off_t at), (file, buffer, size, at))
TRANSFER(pread64, "read", (int file, void *buffer, size_t size, off64_t at), (file, buffer, size, at))
TRANSFER(pwrite, "write", (int file, const void *buffer, size_t size, off_t at), (file, buffer, size, at))
TRANSFER(pwrite64, "write", (int file, const void *buffer, size_t size, off64_t at), (file, buffer, size, at))
PIECES(readv, "read", (int file, const struct iovec *pieces, int count), (file, pieces, count))
PIECES(writev, "write", (int file, const struct iovec *pieces, int count), (file, pieces, count))
PIECES(preadv2, "read", (int file, const struct iovec *pieces, int count, off_t at, int flags),
       (file, pieces, count, at, flags))
PIECES(preadv64v2, "read", (int file, const struct iovec *pieces, int count, off64_t at, int flags),
       (file, pieces, count, at, flags))
PIECES(pwritev2, "write", (int file, const struct iovec *pieces, int count, off_t at, int flags),
       (file, pieces, count, at, flags))
PIECES(pwritev64v2, "write", (int file, const struct iovec *pieces, int count, off64_t at, int flags),
       (file, pieces, count, at, flags))
SIMPLE(fsync, "flush", (int file), (file), of(file))
SIMPLE(fdatasync, "flush", (int file), (file), of(file))
SIMPLE(ftruncate, "truncate", (int file, off_t size), (file, size), of(file))
SIMPLE(ftruncate64, "truncate", (int file, off64_t size), (file, size), of(file))
SIMPLE(flock, "lock", (int file, int operation), (file, operation), of(file))
SIMPLE(rename, "rename", (const char *from, const char *to), (from, to), to)
SIMPLE(renameat, "rename", (int a, const char *from, int b, const char *to), (a, from, b, to), to)
SIMPLE(link, "link", (const char *from, const char *to), (from, to), to)
SIMPLE(linkat, "link", (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags), to)
SIMPLE(symlink, "link", (const char *from, const char *to), (from, to), to)
SIMPLE(unlink, "unlink", (const char *path), (path), path)
SIMPLE(unlinkat, "unlink", (int folder, const char *path, int flags), (folder, path, flags), path)
SIMPLE(rmdir, "rmdir", (const char *path), (path), path)
SIMPLE(mkdir, "mkdir", (const char *path, mode_t mode), (path, mode), path)
SIMPLE(mkdirat, "mkdir", (int folder, const char *path, mode_t mode), (folder, path, mode), path)
SIMPLE(chmod, "chmod", (const char *path, mode_t mode), (path, mode), path)
SIMPLE(fchmod, "chmod", (int file, mode_t mode), (file, mode), of(file))
SIMPLE(fchmodat, "chmod", (int folder, const char *path, mode_t mode, int flags), (folder, path, mode, flags), path)
SIMPLE(stat, "stat", (const char *path, struct stat *out), (path, out), path)
SIMPLE(stat64, "stat", (const char *path, struct stat64 *out), (path, out), path)
SIMPLE(lstat, "stat", (const char *path, struct stat *out), (path, out), path)
SIMPLE(lstat64, "stat", (const char *path, struct stat64 *out), (path, out), path)
SIMPLE(fstat, "fstat", (int file, struct stat *out), (file, out), of(file))
SIMPLE(fstat64, "fstat", (int file, struct stat64 *out), (file, out), of(file))
SIMPLE(fstatat, "stat", (int folder, const char *path, struct stat *out, int flags), (folder, path, out, flags), path)
SIMPLE(fstatat64, "stat", (int folder, const char *path, struct stat64 *out, int flags), (folder, path, out, flags),
       path)
SIMPLE(socket, "socket", (int domain, int type, int protocol), (domain, type, protocol), "")
SIMPLE(bind, "bind", (int file, const struct sockaddr *address, socklen_t size), (file, address, size), "")
SIMPLE(connect, "connect", (int file, const struct sockaddr *address, socklen_t size), (file, address, size), "")

int close(int file) { /* Linux closes a file whatever close() returns */
    REAL(close)
    int fate = next("close", of(file), 0), result = real(file);
    if (fate > 0) errno = fate, result = -1;
    return result;
}

DIR *opendir(const char *path) {
    REAL(opendir)
    int fate = next("list", path, 0);
    if (fate > 0) return errno = fate, (DIR *)0;
    return real(path);
}
