/* Counts the calls of the system that a process makes, and makes one of them fail.

       cc -shared -fPIC -O2 calls.c -o calls.so -ldl -pthread
       LD_PRELOAD=./calls.so python ...

   Between faults_begin() and faults_end() each call below gets a number, from 1 on. The call `chosen` fails with the
   errno `how`; if `how` is HALF, it reads or writes half of what it was asked for, and at least one byte.

   After faults_record(FILE) each call that changes files, and succeeds, is written to that file: a Change, two names of
   which the second may be empty, and the bytes. */
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
#include <sys/syscall.h>
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

typedef struct { char kind[16]; int64_t node, at, size, names[2]; } Change;

static int record = -1;

void faults_record(int file) { record = file; }

static void put(const void *bytes, size_t size) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    while (size) {
        ssize_t done = real(record, bytes, size);
        if (done <= 0) _exit(99);
        bytes = (const char *)bytes + done, size -= (size_t)done;
    }
}
/* Tell a change of the file `node`: what was written at a byte, or which names it got or lost. */
static void tell(const char *kind, int64_t node, int64_t at, const char *name, const char *other,
                 const struct iovec *pieces, int count, int64_t size) {
    if (record < 0 || !counting) return;
    int kept = errno;
    Change change = {.node = node, .at = at, .size = size, .names = {strlen(name), strlen(other)}};
    snprintf(change.kind, sizeof change.kind, "%s", kind);
    pthread_mutex_lock(&lock);
    put(&change, sizeof change), put(name, strlen(name)), put(other, strlen(other));
    for (int64_t left = pieces ? size : 0; left > 0 && count; pieces++, count--) {
        size_t some = (int64_t)pieces->iov_len < left ? pieces->iov_len : (size_t)left;
        put(pieces->iov_base, some), left -= (int64_t)some;
    }
    pthread_mutex_unlock(&lock);
    errno = kept;
}
static int64_t node_of(int file) { /* its number in the file system */
    struct stat found;
    return syscall(SYS_fstat, file, &found) ? -1 : (int64_t)found.st_ino;
}
static int64_t node_at(const char *path) {
    struct stat found;
    return syscall(SYS_newfstatat, AT_FDCWD, path, &found, AT_SYMLINK_NOFOLLOW) ? -1 : (int64_t)found.st_ino;
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
        return real arguments;                                                                                         \
    }
#define CHANGING(name, kind, parameters, arguments, of_what, node, at, from, to)                                       \
    int name parameters {                                                                                              \
        FAILS(name, kind, of_what, 0)                                                                                  \
        int64_t changed = node;                                                                                        \
        int result = real arguments;                                                                                   \
        if (!result) tell(kind, changed, at, from, to, 0, 0, 0);                                                       \
        return result;                                                                                                 \
    }
#define OPENING(name, parameters, arguments)                                                                           \
    int name parameters {                                                                                              \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                        \
        va_end(rest);                                                                                                  \
        FAILS(name, flags & (O_WRONLY | O_RDWR) ? "open to write" : "open", path, 0)                                   \
        int is_new = node_at(path) < 0, file = real arguments;                                                         \
        if (file >= 0 && is_new) tell("create", node_of(file), 0, path, "", 0, 0, 0);                                  \
        else if (file >= 0 && flags & O_TRUNC) tell("truncate", node_of(file), 0, path, "", 0, 0, 0);                  \
        return names(file, path);                                                                                      \
    }
/* The bytes of a transfer, halved if that is its fate. */
#define READING(name, parameters, arguments)                                                                           \
    ssize_t name parameters {                                                                                          \
        FAILS(name, "read", of(file), (int64_t)size)                                                                   \
        if (fate == HALF && size > 1) size /= 2;                                                                       \
        return real arguments;                                                                                         \
    }
#define WRITING(name, parameters, arguments, place)                                                                    \
    ssize_t name parameters {                                                                                          \
        FAILS(name, "write", of(file), (int64_t)size)                                                                  \
        if (fate == HALF && size > 1) size /= 2;                                                                       \
        ssize_t done = real arguments;                                                                                 \
        struct iovec piece = {(void *)buffer, size};                                                                   \
        if (done > 0) tell("write", node_of(file), place, of(file), "", &piece, 1, done);                              \
        return done;                                                                                                   \
    }
/* A transfer in pieces, of which half the pieces are left, or half of a single one. */
#define PIECES(name, kind, parameters, arguments, place)                                                               \
    ssize_t name parameters {                                                                                          \
        FAILS(name, kind, of(file), count)                                                                             \
        struct iovec half;                                                                                             \
        if (fate == HALF && count > 1) count /= 2;                                                                     \
        else if (fate == HALF && pieces->iov_len > 1) {                                                                \
            half = *pieces, half.iov_len /= 2, pieces = &half;                                                         \
        }                                                                                                              \
        ssize_t done = real arguments;                                                                                 \
        if (done > 0 && *kind == 'w') tell(kind, node_of(file), place, of(file), "", pieces, count, done);             \
        return done;                                                                                                   \
    }
#define HERE (lseek(file, 0, SEEK_CUR) - done)

OPENING(open, (const char *path, int flags, ...), (path, flags, mode))
OPENING(open64, (const char *path, int flags, ...), (path, flags, mode))
OPENING(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPENING(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
READING(read, (int file, void *buffer, size_t size), (file, buffer, size))
WRITING(write, (int file, const void *buffer, size_t size), (file, buffer, size), HERE)
READING(pread, (int file, void *buffer, size_t size, off_t at), (file, buffer, size, at))
READING(pread64, (int file, void *buffer, size_t size, off64_t at), (file, buffer, size, at))
WRITING(pwrite, (int file, const void *buffer, size_t size, off_t at), (file, buffer, size, at), at)
WRITING(pwrite64, (int file, const void *buffer, size_t size, off64_t at), (file, buffer, size, at), at)
PIECES(readv, "read", (int file, const struct iovec *pieces, int count), (file, pieces, count), 0)
PIECES(writev, "write", (int file, const struct iovec *pieces, int count), (file, pieces, count), HERE)
PIECES(preadv2, "read", (int file, const struct iovec *pieces, int count, off_t at, int flags),
       (file, pieces, count, at, flags), at)
PIECES(preadv64v2, "read", (int file, const struct iovec *pieces, int count, off64_t at, int flags),
       (file, pieces, count, at, flags), at)
PIECES(pwritev2, "write", (int file, const struct iovec *pieces, int count, off_t at, int flags),
       (file, pieces, count, at, flags), at)
PIECES(pwritev64v2, "write", (int file, const struct iovec *pieces, int count, off64_t at, int flags),
       (file, pieces, count, at, flags), at)
CHANGING(fsync, "flush", (int file), (file), of(file), node_of(file), 0, of(file), "")
CHANGING(fdatasync, "flush", (int file), (file), of(file), node_of(file), 0, of(file), "")
CHANGING(ftruncate, "truncate", (int file, off_t size), (file, size), of(file), node_of(file), size, of(file), "")
CHANGING(ftruncate64, "truncate", (int file, off64_t size), (file, size), of(file), node_of(file), size, of(file), "")
SIMPLE(flock, "lock", (int file, int operation), (file, operation), of(file))
CHANGING(rename, "rename", (const char *from, const char *to), (from, to), to, node_at(from), 0, from, to)
CHANGING(renameat, "rename", (int a, const char *from, int b, const char *to), (a, from, b, to),
         to, node_at(from), 0, from, to)
CHANGING(link, "link", (const char *from, const char *to), (from, to), to, node_at(from), 0, to, "")
CHANGING(linkat, "link", (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags),
         to, node_at(from), 0, to, "")
SIMPLE(symlink, "link", (const char *from, const char *to), (from, to), to)
CHANGING(unlink, "unlink", (const char *path), (path), path, node_at(path), 0, path, "")
CHANGING(unlinkat, "unlink", (int folder, const char *path, int flags), (folder, path, flags),
         path, node_at(path), 0, path, "")
CHANGING(rmdir, "rmdir", (const char *path), (path), path, 0, 0, path, "")
CHANGING(mkdir, "mkdir", (const char *path, mode_t mode), (path, mode), path, 0, 0, path, "")
CHANGING(mkdirat, "mkdir", (int folder, const char *path, mode_t mode), (folder, path, mode), path, 0, 0, path, "")
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
