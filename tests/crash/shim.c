/* Stands between a process and the calls of libc that write, for the files below one folder, and counts them.

   At call number `at` it does what `mode` says: kills the process (before the call, or after some of its bytes),
   or lets the call fail (undone, or done all the same), or lets the disk be full, or gone, from there on.
   What it saw is in memory that is shared with the parent, and outlives the process.

   Built with `cc -shared -fPIC`, preloaded, and armed through ctypes; see harness.py, which reads what is kept. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define ROOM (1L << 26)

enum { OFF, COUNT, KILL, TORN, LOST, KEPT, FULL, DEAD };
enum { GO, FAIL, FAIL_DONE, HALF, HALF_KILL };

static struct shared {
    int64_t calls; /* so far */
    int64_t fired; /* whether the call was reached and something done to it */
    int64_t same;  /* whether it was reached, and leaves what the point before it left */
    int64_t used;  /* bytes of `log` */
    char what[2 * PATH_MAX];
    char log[];
} *shared;

static struct {
    int mode, trace;
    long at;
    char root[PATH_MAX];
    size_t length;
    char last;
} armed;

#define REAL(type, name, ...) static type (*real_##name)(__VA_ARGS__)
REAL(int, open64, const char *, int, ...);
REAL(int, openat64, int, const char *, int, ...);
REAL(ssize_t, write, int, const void *, size_t);
REAL(ssize_t, pwrite64, int, const void *, size_t, off_t);
REAL(ssize_t, writev, int, const struct iovec *, int);
REAL(int, fsync, int);
REAL(int, fdatasync, int);
REAL(int, ftruncate64, int, off_t);
REAL(int, truncate64, const char *, off_t);
REAL(int, renameat, int, const char *, int, const char *);
REAL(int, linkat, int, const char *, int, const char *, int);
REAL(int, unlinkat, int, const char *, int);
REAL(int, mkdirat, int, const char *, mode_t);
REAL(int, fchmod, int, mode_t);
REAL(int, fchmodat, int, const char *, mode_t, int);

__attribute__((constructor)) static void begin(void) {
#define FIND(name) *(void **)&real_##name = dlsym(RTLD_NEXT, #name)
    FIND(open64), FIND(openat64), FIND(write), FIND(pwrite64), FIND(writev), FIND(fsync), FIND(fdatasync);
    FIND(ftruncate64), FIND(truncate64), FIND(renameat), FIND(linkat), FIND(unlinkat), FIND(mkdirat);
    FIND(fchmod), FIND(fchmodat);
    shared = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) abort();
}

/* --- what the harness calls ------------------------------------------------------------------------------ */

void shim_arm(const char *root, int mode, long at, int trace) {
    armed.mode = OFF;
    snprintf(armed.root, sizeof armed.root, "%s", root);
    armed.length = strlen(root);
    armed.at = at, armed.trace = trace, armed.last = 0;
    shared->calls = shared->fired = shared->same = shared->used = 0;
    shared->what[0] = 0;
    armed.mode = mode;
}

void shim_disarm(void) { armed.mode = OFF; }
struct shared *shim_shared(void) { return shared; }

static void keep(char op, int done, uint64_t file, int64_t number, const char *one, const char *two,
                 const void *data, size_t size) {
    struct __attribute__((packed)) {
        char op;
        int8_t done;
        uint64_t file;
        int64_t number;
        uint32_t one, two, size;
    } head = {op, done, file, number, strlen(one), strlen(two), size};
    char *to = shared->log + shared->used;
    if (to + sizeof head + head.one + head.two + size > (char *)shared + ROOM) abort();
    to = mempcpy(to, &head, sizeof head);
    to = mempcpy(to, one, head.one);
    to = mempcpy(to, two, head.two);
    if (size) to = mempcpy(to, data, size);
    shared->used = to - shared->log;
}

void shim_mark(const char *text) {
    if (armed.mode) keep('#', 1, 0, 0, text, "", NULL, 0);
}

/* --- which calls count, and what becomes of them --------------------------------------------------------- */

static int resolve(int folder, const char *path, char *into) {
    char base[PATH_MAX] = "";
    if (path[0] != '/') {
        if (folder == AT_FDCWD) {
            if (!getcwd(base, sizeof base)) return 0;
        } else {
            char link[40];
            snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
            ssize_t size = readlink(link, base, sizeof base - 1);
            if (size < 0) return 0;
            base[size] = 0;
        }
    }
    int size = snprintf(into, PATH_MAX, "%s%s%s", base, path[0] == '/' ? "" : "/", path);
    return size < PATH_MAX && !strncmp(into, armed.root, armed.length) && into[armed.length] == '/';
}

static int tracked(int fd, char *into) {
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, into, PATH_MAX - 1);
    if (size < 0) return 0;
    into[size] = 0;
    return !strncmp(into, armed.root, armed.length) && into[armed.length] == '/';
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static void like_before(void) {
    shared->same = 1;
    die();
}

/* `grows`: whether the call needs room on the disk; `bytes`: how many it would write. */
static int decide(char op, const char *path, int grows, size_t bytes) {
    long call = ++shared->calls;
    char last = armed.last;
    int flush = op == 's';
    armed.last = op;
    if (armed.mode == COUNT || call < armed.at) return GO;
    if (call == armed.at) snprintf(shared->what, sizeof shared->what, "%c %s", op, path);
    switch (armed.mode) {
    case KILL:
        if (last == 's') like_before(); /* a flush changes nothing that is seen */
        shared->fired = 1;
        die();
        break;
    case TORN:
        if (bytes < 2) like_before(); /* as if killed before the next call */
        shared->fired = 1;
        return HALF_KILL;
    case LOST:
    case KEPT:
        if (call > armed.at) return GO;
        if (armed.mode == KEPT && flush) like_before(); /* flushed or not, it looks the same */
        shared->fired = 1;
        errno = EIO;
        return armed.mode == LOST ? FAIL : FAIL_DONE;
    case FULL:
        if (!grows && call == armed.at) like_before(); /* as if full from the next call on */
        if (!grows) return GO;
        shared->fired = 1;
        errno = ENOSPC;
        return call == armed.at && bytes > 1 ? HALF : FAIL;
    case DEAD:
        shared->fired = 1;
        errno = EIO;
        return FAIL;
    }
    return GO;
}

static uint64_t file_of(int fd) {
    struct stat status;
    int saved = errno;
    uint64_t file = fstat(fd, &status) ? 0 : status.st_ino;
    errno = saved;
    return file;
}

/* Do the call, or not, as decided; `undo` is what takes back its answer, not its effect. */
#define CARRY_OUT(verdict, type, call, undo)                                                                 \
    type answer = (type)-1;                                                                                  \
    int verdict_ = (verdict);                                                                                \
    if (verdict_ != FAIL) {                                                                                  \
        int saved = errno;                                                                                   \
        answer = (call);                                                                                     \
        if (verdict_ == FAIL_DONE && answer != (type)-1) {                                                   \
            undo;                                                                                            \
            answer = (type)-1, errno = saved;                                                                \
        }                                                                                                    \
    }

#define KEEP(op, file, number, one, two, data, size)                                                         \
    if (armed.trace && answer != (__typeof__(answer)) - 1) keep(op, 1, file, number, one, two, data, size)

/* --- opening --------------------------------------------------------------------------------------------- */

static int opened(int folder, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    struct stat status;
    int saved = errno;
    if (!armed.mode || !resolve(folder, name, path)) return real_openat64(folder, name, flags, mode);
    int nameless = (flags & O_TMPFILE) == O_TMPFILE;
    int fresh = nameless || ((flags & O_CREAT) && lstat(path, &status));
    errno = saved;
    if (!fresh && !(flags & O_TRUNC)) return real_openat64(folder, name, flags, mode);
    CARRY_OUT(decide('o', path, fresh, 0), int, real_openat64(folder, name, flags, mode), close(answer));
    KEEP('o', file_of(answer), nameless, path, "", NULL, 0);
    return answer;
}

#define MODE(flags)                                                                                          \
    mode_t mode = 0;                                                                                         \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                                                   \
        va_list rest;                                                                                        \
        va_start(rest, flags);                                                                               \
        mode = va_arg(rest, mode_t);                                                                         \
        va_end(rest);                                                                                        \
    }

int open(const char *name, int flags, ...) {
    MODE(flags);
    return opened(AT_FDCWD, name, flags, mode);
}
int open64(const char *name, int flags, ...) {
    MODE(flags);
    return opened(AT_FDCWD, name, flags, mode);
}
int openat(int folder, const char *name, int flags, ...) {
    MODE(flags);
    return opened(folder, name, flags, mode);
}
int openat64(int folder, const char *name, int flags, ...) {
    MODE(flags);
    return opened(folder, name, flags, mode);
}
int creat(const char *name, mode_t mode) { return opened(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int __open_2(const char *name, int flags) { return opened(AT_FDCWD, name, flags, 0); }
int __open64_2(const char *name, int flags) { return opened(AT_FDCWD, name, flags, 0); }

/* --- content --------------------------------------------------------------------------------------------- */

static ssize_t written(int fd, const void *data, size_t size, off_t offset, int moves) {
    char path[PATH_MAX];
    struct stat status = {0};
    int saved = errno;
    fstat(fd, &status);
    if (moves) offset = fcntl(fd, F_GETFL) & O_APPEND ? status.st_size : lseek(fd, 0, SEEK_CUR);
    errno = saved;
    int verdict = decide('w', tracked(fd, path) ? path : "", offset + (off_t)size > status.st_size, size);
    if (verdict == HALF || verdict == HALF_KILL) size = size > 256 ? 97 : size / 2; /* what ends in zeros, too */
    CARRY_OUT(verdict, ssize_t, moves ? real_write(fd, data, size) : real_pwrite64(fd, data, size, offset), );
    if (verdict == HALF_KILL) die();
    KEEP('w', status.st_ino, offset, path, "", data, answer);
    return answer;
}

static int watched(int fd) {
    char path[PATH_MAX];
    int saved = errno;
    int answer = armed.mode && tracked(fd, path);
    errno = saved;
    return answer;
}

ssize_t write(int fd, const void *data, size_t size) {
    return watched(fd) ? written(fd, data, size, 0, 1) : real_write(fd, data, size);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off_t offset) {
    return watched(fd) ? written(fd, data, size, offset, 0) : real_pwrite64(fd, data, size, offset);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) { return pwrite64(fd, data, size, offset); }
ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (!watched(fd)) return real_writev(fd, parts, count);
    ssize_t all = 0;
    for (int part = 0; part < count; part++) {
        ssize_t done = written(fd, parts[part].iov_base, parts[part].iov_len, 0, 1);
        if (done < 0) return all ? all : -1;
        all += done;
        if ((size_t)done < parts[part].iov_len) break;
    }
    return all;
}

static int truncated(int fd, off_t size) {
    char path[PATH_MAX];
    struct stat status = {0};
    if (!watched(fd)) return real_ftruncate64(fd, size);
    tracked(fd, path), fstat(fd, &status);
    if (status.st_size == size) return real_ftruncate64(fd, size);
    CARRY_OUT(decide('t', path, 0, 0), int, real_ftruncate64(fd, size), );
    KEEP('t', status.st_ino, size, path, "", NULL, 0);
    return answer;
}
int ftruncate(int fd, off_t size) { return truncated(fd, size); }
int ftruncate64(int fd, off_t size) { return truncated(fd, size); }
int truncate64(const char *name, off_t size) {
    char path[PATH_MAX];
    if (!armed.mode || !resolve(AT_FDCWD, name, path)) return real_truncate64(name, size);
    abort(); /* nothing here does; whoever begins to must be counted */
}
int truncate(const char *name, off_t size) { return truncate64(name, size); }
int fallocate(int fd, int mode, off_t offset, off_t size) { abort(); }
int fallocate64(int fd, int mode, off_t offset, off_t size) { abort(); }
ssize_t copy_file_range(int from, off_t *at, int to, off_t *place, size_t size, unsigned flags) {
    errno = ENOSYS; /* whoever copies falls back to writing */
    return -1;
}
ssize_t sendfile(int to, int from, off_t *offset, size_t size) {
    errno = EINVAL;
    return -1;
}
ssize_t sendfile64(int to, int from, off_t *offset, size_t size) { return sendfile(to, from, offset, size); }

/* Nothing is really flushed: a kill does not need it, and it takes its time. */
static int flushed(int fd) {
    char path[PATH_MAX];
    if (!watched(fd)) return 0;
    tracked(fd, path);
    CARRY_OUT(decide('s', path, 0, 0), int, 0, );
    KEEP('s', file_of(fd), 0, path, "", NULL, 0);
    return answer;
}
int fsync(int fd) { return flushed(fd); }
int fdatasync(int fd) { return flushed(fd); }

/* --- names ----------------------------------------------------------------------------------------------- */

int renameat(int from, const char *old, int to, const char *new) {
    char one[PATH_MAX], two[PATH_MAX];
    if (!armed.mode || !resolve(to, new, two)) return real_renameat(from, old, to, new);
    resolve(from, old, one);
    CARRY_OUT(decide('r', two, 0, 0), int, real_renameat(from, old, to, new), );
    KEEP('r', 0, 0, one, two, NULL, 0);
    return answer;
}
int rename(const char *old, const char *new) { return renameat(AT_FDCWD, old, AT_FDCWD, new); }

int linkat(int from, const char *old, int to, const char *new, int flags) {
    char one[PATH_MAX], two[PATH_MAX];
    if (!armed.mode || !resolve(to, new, two)) return real_linkat(from, old, to, new, flags);
    resolve(from, old, one);
    CARRY_OUT(decide('l', two, 1, 0), int, real_linkat(from, old, to, new, flags), );
    KEEP('l', 0, 0, one, two, NULL, 0);
    return answer;
}
int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }

int unlinkat(int folder, const char *name, int flags) {
    char path[PATH_MAX];
    struct stat status;
    int saved = errno;
    int there = armed.mode && resolve(folder, name, path) && !lstat(path, &status);
    errno = saved;
    if (!there) return real_unlinkat(folder, name, flags);
    CARRY_OUT(decide('u', path, 0, 0), int, real_unlinkat(folder, name, flags), );
    KEEP('u', 0, 0, path, "", NULL, 0);
    return answer;
}
int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }
int remove(const char *name) { return unlink(name) && errno == EISDIR ? rmdir(name) : 0; }

int mkdirat(int folder, const char *name, mode_t mode) {
    char path[PATH_MAX];
    struct stat status;
    int saved = errno;
    int new = armed.mode && resolve(folder, name, path) && lstat(path, &status);
    errno = saved;
    if (!new) return real_mkdirat(folder, name, mode);
    CARRY_OUT(decide('m', path, 1, 0), int, real_mkdirat(folder, name, mode), );
    KEEP('m', 0, 0, path, "", NULL, 0);
    return answer;
}
int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }

int fchmodat(int folder, const char *name, mode_t mode, int flags) {
    char path[PATH_MAX];
    if (!armed.mode || !resolve(folder, name, path)) return real_fchmodat(folder, name, mode, flags);
    CARRY_OUT(decide('c', path, 0, 0), int, real_fchmodat(folder, name, mode, flags), );
    KEEP('c', 0, 0, path, "", NULL, 0);
    return answer;
}
int chmod(const char *name, mode_t mode) { return fchmodat(AT_FDCWD, name, mode, 0); }
int fchmod(int fd, mode_t mode) {
    char path[PATH_MAX];
    if (!watched(fd)) return real_fchmod(fd, mode);
    tracked(fd, path);
    CARRY_OUT(decide('c', path, 0, 0), int, real_fchmod(fd, mode), );
    KEEP('c', 0, 0, path, "", NULL, 0);
    return answer;
}
