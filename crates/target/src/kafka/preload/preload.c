/*
 * Preloaded into brokers of Apache Kafka that kgauge starts. It records how much of each data file was flushed, and lets
 * flushes be late or fail, and the disk be full, as the control file demands. Everything else passes through.
 *
 * Environment:
 *   KGAUGE_PRELOAD_CONTROL  a file of three 64-bit integers, which kgauge changes while the broker runs
 *   KGAUGE_PRELOAD_RECORD   a file that gets four 64-bit integers per event
 *   KGAUGE_PRELOAD_DIRS     the broker's data folders, absolute, with a colon between them
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* Shared with kgauge; read at every call. */
struct control {
    int64_t flush_delay_ns;
    /* 0, or the error of every flush. */
    int64_t flush_error;
    /* Bytes that still fit; negative: no limit. */
    int64_t space_left;
};

enum event { LOADED = 0, CREATED = 1, FLUSHED = 2, CUT = 3 };

static struct control *control;
static int record_fd = -1;
static const char *dirs = "";

static int64_t load(const int64_t *value) { return __atomic_load_n(value, __ATOMIC_RELAXED); }

/* The function that this one stands in front of. */
#define NEXT(type, name)                                     \
    static type next_##name;                                 \
    if (!next_##name) {                                      \
        next_##name = (type)dlsym(RTLD_NEXT, #name);         \
    }

/* Events are whole: appending so few bytes is atomic. */
static void note(enum event what, uint64_t device, uint64_t inode, uint64_t length) {
    typedef ssize_t (*write_type)(int, const void *, size_t);
    NEXT(write_type, write)
    uint64_t entry[4] = {what, device, inode, length};
    if (record_fd >= 0) {
        ssize_t written = next_write(record_fd, entry, sizeof entry);
        (void)written;
    }
}

__attribute__((constructor)) static void begin(void) {
    const char *control_path = getenv("KGAUGE_PRELOAD_CONTROL");
    const char *record_path = getenv("KGAUGE_PRELOAD_RECORD");
    const char *data_dirs = getenv("KGAUGE_PRELOAD_DIRS");
    if (!control_path || !record_path || !data_dirs) {
        return;
    }
    typedef int (*open_type)(const char *, int, ...);
    NEXT(open_type, open)
    int control_fd = next_open(control_path, O_RDONLY | O_CLOEXEC);
    record_fd = next_open(record_path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (control_fd < 0 || record_fd < 0) {
        return;
    }
    void *shared = mmap(NULL, sizeof(struct control), PROT_READ, MAP_SHARED, control_fd, 0);
    close(control_fd);
    if (shared == MAP_FAILED) {
        return;
    }
    dirs = data_dirs;
    control = shared;
    note(LOADED, 0, 0, (uint64_t)getpid());
}

/* Whether a file is in one of the data folders. */
static int is_data(int fd) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) {
        return 0;
    }
    path[length] = 0;
    for (const char *dir = dirs; *dir;) {
        size_t end = strcspn(dir, ":");
        if (end > 0 && strncmp(path, dir, end) == 0 && (path[end] == '/' || path[end] == 0)) {
            return 1;
        }
        dir += end + (dir[end] == ':');
    }
    return 0;
}

static void note_file(enum event what, int fd, int64_t length) {
    struct stat status;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        uint64_t bytes = length >= 0 ? (uint64_t)length : (uint64_t)status.st_size;
        note(what, (uint64_t)status.st_dev, (uint64_t)status.st_ino, bytes);
    }
}

static void sleep_ns(int64_t ns) {
    struct timespec left = {ns / 1000000000, ns % 1000000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

static int flush_with(int (*next)(int), int fd) {
    if (!control || !is_data(fd)) {
        return next(fd);
    }
    int64_t delay_ns = load(&control->flush_delay_ns);
    if (delay_ns > 0) {
        sleep_ns(delay_ns);
    }
    int64_t error = load(&control->flush_error);
    if (error != 0) {
        errno = (int)error;
        return -1;
    }
    /* What is written during the flush may be flushed or not: it does not count. */
    struct stat before;
    int is_known = fstat(fd, &before) == 0;
    int result = next(fd);
    if (result == 0 && is_known) {
        note_file(FLUSHED, fd, before.st_size);
    }
    return result;
}

int fsync(int fd) {
    typedef int (*fsync_type)(int);
    NEXT(fsync_type, fsync)
    return flush_with(next_fsync, fd);
}

int fdatasync(int fd) {
    typedef int (*fdatasync_type)(int);
    NEXT(fdatasync_type, fdatasync)
    return flush_with(next_fdatasync, fd);
}

/* A file that begins to exist has nothing that was flushed, even if another one had its inode. */
static int opened(int fd, int flags) {
    int error = errno;
    struct stat status;
    if (fd >= 0 && control && (flags & O_CREAT) && is_data(fd) && fstat(fd, &status) == 0 &&
        status.st_size == 0) {
        note_file(CREATED, fd, 0);
    }
    errno = error;
    return fd;
}

#define MODE_OF(flags, mode)                                 \
    mode_t mode = 0;                                         \
    if (((flags) & O_CREAT) || ((flags) & O_TMPFILE) == O_TMPFILE) { \
        va_list rest;                                        \
        va_start(rest, flags);                               \
        mode = (mode_t)va_arg(rest, int);                    \
        va_end(rest);                                        \
    }

#define OPEN(name)                                           \
    int name(const char *path, int flags, ...) {             \
        typedef int (*open_type)(const char *, int, ...);    \
        NEXT(open_type, name)                                \
        MODE_OF(flags, mode)                                 \
        return opened(next_##name(path, flags, mode), flags); \
    }

#define OPENAT(name)                                         \
    int name(int dir, const char *path, int flags, ...) {    \
        typedef int (*openat_type)(int, const char *, int, ...); \
        NEXT(openat_type, name)                              \
        MODE_OF(flags, mode)                                 \
        return opened(next_##name(dir, path, flags, mode), flags); \
    }

#define FTRUNCATE(name, offset_type)                         \
    int name(int fd, offset_type length) {                   \
        typedef int (*ftruncate_type)(int, offset_type);     \
        NEXT(ftruncate_type, name)                           \
        int result = next_##name(fd, length);                \
        if (result == 0 && control && is_data(fd)) {         \
            note_file(CUT, fd, (int64_t)length);             \
        }                                                    \
        return result;                                       \
    }

/* Takes bytes of the space that is left; no limit is the usual case. */
static int is_full(int fd, size_t bytes) {
    static int64_t taken;
    if (!control) {
        return 0;
    }
    int64_t space = load(&control->space_left);
    if (space < 0) {
        __atomic_store_n(&taken, 0, __ATOMIC_RELAXED);
        return 0;
    }
    if (!is_data(fd)) {
        return 0;
    }
    int64_t before = __atomic_fetch_add(&taken, (int64_t)bytes, __ATOMIC_RELAXED);
    if (before + (int64_t)bytes <= space) {
        return 0;
    }
    __atomic_fetch_sub(&taken, (int64_t)bytes, __ATOMIC_RELAXED);
    errno = ENOSPC;
    return 1;
}

static size_t bytes_of(const struct iovec *parts, int count) {
    size_t bytes = 0;
    for (int at = 0; at < count; at++) {
        bytes += parts[at].iov_len;
    }
    return bytes;
}

ssize_t write(int fd, const void *from, size_t bytes) {
    typedef ssize_t (*write_type)(int, const void *, size_t);
    NEXT(write_type, write)
    return is_full(fd, bytes) ? -1 : next_write(fd, from, bytes);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    typedef ssize_t (*writev_type)(int, const struct iovec *, int);
    NEXT(writev_type, writev)
    return is_full(fd, bytes_of(parts, count)) ? -1 : next_writev(fd, parts, count);
}

#define PWRITE(name, offset_type)                            \
    ssize_t name(int fd, const void *from, size_t bytes, offset_type at) { \
        typedef ssize_t (*pwrite_type)(int, const void *, size_t, offset_type); \
        NEXT(pwrite_type, name)                              \
        return is_full(fd, bytes) ? -1 : next_##name(fd, from, bytes, at); \
    }

#define PWRITEV(name, offset_type)                           \
    ssize_t name(int fd, const struct iovec *parts, int count, offset_type at) { \
        typedef ssize_t (*pwritev_type)(int, const struct iovec *, int, offset_type); \
        NEXT(pwritev_type, name)                             \
        return is_full(fd, bytes_of(parts, count)) ? -1 : next_##name(fd, parts, count, at); \
    }

OPEN(open)
OPENAT(openat)
FTRUNCATE(ftruncate, off_t)
PWRITE(pwrite, off_t)
PWRITEV(pwritev, off_t)
#ifdef __GLIBC__
OPEN(open64)
OPENAT(openat64)
FTRUNCATE(ftruncate64, off64_t)
PWRITE(pwrite64, off64_t)
PWRITEV(pwritev64, off64_t)
#endif
