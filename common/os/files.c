/* SPDX-License-Identifier: MIT */
/* Files: see files.h. */
#include "common/os/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* file_lock() tries again every LOOK_MS until it gets the lock. It gives up after LEAVING_MS. */
#define LEAVING_MS 1000
#define LOOK_MS    20
#define OPEN_TRIES 100

static char *read_stream(FILE *file, const char *path, struct error *error)
{
    size_t length = 0, capacity = 4096;
    char *text = malloc(capacity + 1);
    while (text != NULL) {
        length += fread(text + length, 1, capacity - length, file);
        if (length < capacity)
            break;
        if (capacity >= FILE_READ_MAX) {
            free(text);
            error_set(error, "%s: larger than %u bytes", path, FILE_READ_MAX);
            return NULL;
        }
        char *grown = realloc(text, 2 * capacity + 1);
        if (grown == NULL)
            free(text);
        text = grown;
        capacity *= 2;
    }
    if (text == NULL || ferror(file)) {
        error_set(error, "%s: %s", path, strerror(text == NULL ? ENOMEM : errno));
        free(text);
        return NULL;
    }
    text[length] = '\0';
    return text;
}

char *file_read(const char *path, struct error *error)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        error_set(error, "%s: not a regular file", path);
        return NULL;
    }
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        error_set(error, "%s: %s", path, strerror(errno));
        return NULL;
    }
    char *text = read_stream(file, path, error);
    fclose(file);
    return text;
}

/* Returns the name of the file to write: `path` for a device, pipe or link, otherwise a temporary name. The caller
 * frees it. Returns NULL if memory runs out. */
static char *temporary_name(const char *path)
{
    struct stat status;
    char *name = NULL;
    bool in_place = lstat(path, &status) == 0 && !S_ISREG(status.st_mode);
    return asprintf(&name, in_place ? "%s" : "%s.tmp", path) < 0 ? NULL : name;
}

int file_open_to_write(const char *path, int flags)
{
    const int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | flags, 0666);
    const int set = fd < 0 ? -1 : fcntl(fd, F_GETFL);
    if (set >= 0)
        fcntl(fd, F_SETFL, set & ~O_NONBLOCK);
    return fd;
}

const char *file_write_error(int reason)
{
    return reason == ENXIO ? "a pipe that nobody reads, or no device" : strerror(reason);
}

/* Creates a temporary file with O_EXCL. If a file or link of this name exists already, nothing is written to it. */
static FILE *open_named(const char *name, const char *path)
{
    const bool is_new = strcmp(name, path) != 0;
    if (is_new)
        unlink(name);
    const int fd = file_open_to_write(name, O_CREAT | (is_new ? O_EXCL : O_TRUNC));
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (fd >= 0 && file == NULL)
        close(fd);
    return file;
}

static int write_anew(const char *path, const char *text, size_t length, bool is_public, struct error *error)
{
    char *name = temporary_name(path);
    FILE *file = name == NULL ? NULL : open_named(name, path);
    int reason = 0;
    if (file == NULL) {
        reason = name == NULL ? ENOMEM : errno;
    } else {
        const bool is_new = strcmp(name, path) != 0;
        bool written = (!is_new || !is_public || fchmod(fileno(file), 0644) == 0) &&
                       fwrite(text, 1, length, file) == length && fflush(file) == 0;
        reason = written ? 0 : errno;
        if (fclose(file) != 0 && reason == 0)
            reason = errno;
        if (reason == 0 && is_new && rename(name, path) != 0)
            reason = errno;
        if (reason != 0 && is_new)
            unlink(name);
    }
    free(name);
    return reason == 0 ? 0 : error_set(error, "%s: %s", path, file_write_error(reason));
}

int file_write(const char *path, const char *text, size_t length, struct error *error)
{
    return write_anew(path, text, length, false, error);
}

int file_publish(const char *path, const char *text, size_t length, struct error *error)
{
    return write_anew(path, text, length, true, error);
}

static void files_folder_of(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    int length = slash == NULL ? 0 : slash == path ? 1 : (int)(slash - path);
    snprintf(folder, PATH_MAX, "%.*s", length > 0 ? length : 1, length > 0 ? path : ".");
}

int file_check_folder(const char *path, struct error *error)
{
    char folder[PATH_MAX];
    struct stat status;
    files_folder_of(path, folder);
    if (stat(folder, &status) < 0 && errno == ENOENT)
        return error_set(error, "%.130s: there is no folder %.130s; `mkdir -p %.130s` makes it", path, folder, folder);
    if (stat(folder, &status) == 0 && !S_ISDIR(status.st_mode))
        return error_set(error, "%.180s: %.180s is not a folder", path, folder);
    if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0)
        return 0;
    return error_set(error, "%.150s: cannot be made in the folder %.150s: %s", path, folder, strerror(errno));
}

int file_refuse_folder(const char *path, const char *name, struct error *error)
{
    struct stat status;
    size_t length = strlen(path);
    if (stat(path, &status) < 0 || !S_ISDIR(status.st_mode))
        return 0;
    return error_set(error, "%.180s: it is a folder; accepted: the name of a file, such as %.180s%s%s", path, path,
                     length > 0 && path[length - 1] == '/' ? "" : "/", name);
}

static int fail_to_make(const char *path, struct error *error)
{
    return error_set(error, "cannot make the folder %.300s: %s", path, strerror(errno));
}

int file_make_folders(const char *path, struct error *error)
{
    char *above = strdup(path);
    int result = above != NULL ? 0 : error_set(error, "out of memory");
    for (char *slash = above; result == 0 && (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = '\0';
        if (mkdir(above, 0700) < 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
            result = fail_to_make(above, error);
        *slash = '/';
    }
    free(above);
    if (result == 0 && mkdir(path, 0700) < 0 && errno != EEXIST)
        result = fail_to_make(path, error);
    return result;
}

int file_open_own_folder(const char *path, struct error *error)
{
    struct stat status;
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return error_set(error, "%.300s: %s", path, strerror(errno));
    if (fstat(folder, &status) < 0 || status.st_uid != geteuid())
        error_set(error, "%.300s belongs to another user", path);
    else if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        error_set(error, "others may write in %.300s, which has the mode %04o; accepted: 0700", path,
                  (unsigned)status.st_mode & 07777);
    else
        return folder;
    close(folder);
    return -1;
}

int file_check_writable(const char *path, struct error *error)
{
    struct stat status;
    if (file_refuse_folder(path, "NAME", error) < 0)
        return -1;
    char *name = temporary_name(path);
    if (name == NULL)
        return error_set(error, "%.200s: out of memory", path);
    bool in_place = strcmp(name, path) == 0;
    bool is_there = lstat(name, &status) == 0;
    int reason = is_there || errno == ENOENT || errno == ENOTDIR ? 0 : errno;
    free(name);
    if (reason != 0)
        return error_set(error, "%.200s: %s", path, strerror(reason));
    if (!in_place)
        return file_check_folder(path, error);
    if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 || errno == ENOENT)
        return 0;
    return error_set(error, "%.200s: %s", path, strerror(errno));
}

int file_read_at(int fd, void *bytes, size_t size, uint64_t offset)
{
    char *to = bytes;
    while (size > 0) {
        ssize_t got = pread(fd, to, size, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0 ? FILE_ENDS : -1;
        to += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return 0;
}

int file_write_at(int fd, const void *bytes, size_t size, uint64_t offset)
{
    const char *from = bytes;
    while (size > 0) {
        ssize_t done = pwrite(fd, from, size, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return -1;
        from += done;
        offset += (uint64_t)done;
        size -= (size_t)done;
    }
    return 0;
}

const char *file_temporary(void)
{
    const char *folder = getenv("TMPDIR");
    return folder != NULL && folder[0] != '\0' ? folder : "/tmp";
}

int file_open_nothing(void)
{
    const int fd = open("/dev/null", O_RDWR);
    return fd < 0 && errno == ENOENT ? memfd_create("nothing", 0) : fd;
}

int file_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), result = fd < 0 ? -1 : fsync(fd);
    if (fd >= 0)
        close(fd);
    return result;
}

int file_sync_name(const char *path)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    snprintf(slash != NULL ? slash + 1 : folder, 2, ".");
    return file_sync(folder);
}

bool file_lock_now(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

bool file_lock(int fd)
{
    const struct timespec nap = {.tv_nsec = LOOK_MS * 1000000};
    for (int waited_ms = 0; !file_lock_now(fd); waited_ms += LOOK_MS) {
        if (waited_ms >= LEAVING_MS)
            return false;
        nanosleep(&nap, NULL);
    }
    return true;
}

bool file_is_at(int fd, const char *path)
{
    struct stat ours, there;
    return fstat(fd, &ours) == 0 && stat(path, &there) == 0 && ours.st_dev == there.st_dev &&
           ours.st_ino == there.st_ino;
}

int file_open_locked(const char *path, int flags)
{
    for (int tries = 0; tries < OPEN_TRIES; tries++) {
        struct stat found;
        const int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
            return -1;
        const int reason = fstat(fd, &found) < 0     ? errno
                           : !S_ISREG(found.st_mode) ? EINVAL
                           : !file_lock(fd)          ? EWOULDBLOCK
                                                     : 0;
        if (reason == 0 && file_is_at(fd, path))
            return fd;
        close(fd);
        errno = reason;
        if (reason != 0)
            return -1;
    }
    errno = EWOULDBLOCK; /* after each attempt the locked file had been replaced by another process */
    return -1;
}

void file_hold_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void file_close_from(int first)
{
    struct rlimit limit;
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0)
        return;
#endif
    int end = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < (1 << 20) ? (int)limit.rlim_cur : 1 << 20;
    for (int fd = first; fd < end; fd++)
        close(fd);
}

bool file_is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}
