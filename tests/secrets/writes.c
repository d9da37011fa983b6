/* Preloaded into a process, it looks at every byte that goes out of it: to a file, whatever becomes of that, to a
 * pipe, to a terminal. Where $LACRE_WATCH_FOR is among them, or a file that holds it is copied or mapped to be
 * written to, a line is added to the file $LACRE_WATCH_LOG: the call, and the file's name. `seen` and the number of
 * calls are added at the process's end, so that a shim that was never in place is told from a process that told
 * nothing.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(type, name, ...) \
  static type (*real)(__VA_ARGS__) = NULL; \
  if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static long calls = 0;

static void note(const char *line, size_t size) {
  const char *log = getenv("LACRE_WATCH_LOG");
  REAL(ssize_t, "write", int, const void *, size_t);
  int handle = log ? open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (handle < 0) return;
  if (real(handle, line, size) < 0) abort();
  close(handle);
}

static void tell(const char *call, int handle) {
  char link[64], name[4096], line[4300];
  snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
  ssize_t size = readlink(link, name, sizeof name - 1);
  name[size < 0 ? 0 : size] = 0;
  note(line, (size_t)snprintf(line, sizeof line, "%s %s\n", call, name));
}

static void look(const char *call, int handle, const void *data, size_t size) {
  const char *word = getenv("LACRE_WATCH_FOR");
  __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
  if (word && data && memmem(data, size, word, strlen(word))) tell(call, handle);
}

static void look_each(const char *call, int handle, const struct iovec *parts, int count) {
  for (int n = 0; n < count; n++) look(call, handle, parts[n].iov_base, parts[n].iov_len);
}

/* What is copied by the system is read here by itself. */
static void look_at_file(const char *call, int from, int to) {
  static char data[1 << 20];
  REAL(ssize_t, "pread64", int, void *, size_t, off64_t);
  ssize_t size = real(from, data, sizeof data, 0);
  if (size > 0) look(call, to, data, (size_t)size);
}

__attribute__((destructor)) static void end(void) {
  char line[64];
  note(line, (size_t)snprintf(line, sizeof line, "seen %ld\n", calls));
}

ssize_t write(int handle, const void *data, size_t size) {
  REAL(ssize_t, "write", int, const void *, size_t);
  look("write", handle, data, size);
  return real(handle, data, size);
}

ssize_t pwrite64(int handle, const void *data, size_t size, off64_t at) {
  REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
  look("pwrite", handle, data, size);
  return real(handle, data, size, at);
}

ssize_t pwrite(int handle, const void *data, size_t size, off_t at) { return pwrite64(handle, data, size, at); }

ssize_t writev(int handle, const struct iovec *parts, int count) {
  REAL(ssize_t, "writev", int, const struct iovec *, int);
  look_each("writev", handle, parts, count);
  return real(handle, parts, count);
}

ssize_t pwritev64(int handle, const struct iovec *parts, int count, off64_t at) {
  REAL(ssize_t, "pwritev64", int, const struct iovec *, int, off64_t);
  look_each("pwritev", handle, parts, count);
  return real(handle, parts, count, at);
}

ssize_t pwritev(int handle, const struct iovec *parts, int count, off_t at) {
  return pwritev64(handle, parts, count, at);
}

ssize_t send(int handle, const void *data, size_t size, int flags) {
  REAL(ssize_t, "send", int, const void *, size_t, int);
  look("send", handle, data, size);
  return real(handle, data, size, flags);
}

ssize_t sendto(int handle, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t length) {
  REAL(ssize_t, "sendto", int, const void *, size_t, int, const struct sockaddr *, socklen_t);
  look("sendto", handle, data, size);
  return real(handle, data, size, flags, to, length);
}

ssize_t sendfile64(int to, int from, off64_t *at, size_t size) {
  REAL(ssize_t, "sendfile64", int, int, off64_t *, size_t);
  look_at_file("sendfile", from, to);
  return real(to, from, at, size);
}

ssize_t sendfile(int to, int from, off_t *at, size_t size) { return sendfile64(to, from, (off64_t *)at, size); }

ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *to_at, size_t size, unsigned flags) {
  REAL(ssize_t, "copy_file_range", int, off64_t *, int, off64_t *, size_t, unsigned);
  look_at_file("copy_file_range", from, to);
  return real(from, at, to, to_at, size, flags);
}

void *mmap64(void *place, size_t size, int may, int flags, int handle, off64_t at) {
  REAL(void *, "mmap64", void *, size_t, int, int, int, off64_t);
  if (handle >= 0 && (flags & MAP_SHARED) && (may & PROT_WRITE)) tell("mmap", handle);
  return real(place, size, may, flags, handle, at);
}

void *mmap(void *place, size_t size, int may, int flags, int handle, off_t at) {
  return mmap64(place, size, may, flags, handle, at);
}

size_t fwrite(const void *data, size_t size, size_t count, FILE *file) {
  REAL(size_t, "fwrite", const void *, size_t, size_t, FILE *);
  look("fwrite", fileno(file), data, size * count);
  return real(data, size, count, file);
}
