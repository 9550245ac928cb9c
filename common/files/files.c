/* Files: see files.h. */
#include "common/files/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* A device, a pipe or what a link leads to is written as it is; another file by way of a temporary name. */
static char *temporary_name(const char *path)
{
    struct stat status;
    char *name = NULL;
    bool in_place = lstat(path, &status) == 0 && !S_ISREG(status.st_mode);
    return asprintf(&name, in_place ? "%s" : "%s.tmp", path) < 0 ? NULL : name;
}

/* The temporary file is a new one: what somebody else has put there under its name, a link above all, is not written.
 * `mode` is for a file that is written in place. */
static FILE *open_named(const char *name, const char *path, const char *mode)
{
    if (strcmp(name, path) == 0)
        return fopen(path, mode);
    unlink(name);
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (fd >= 0 && file == NULL)
        close(fd);
    return file;
}

int file_write(const char *path, const char *text, size_t length, struct error *error)
{
    char *name = temporary_name(path);
    FILE *file = name == NULL ? NULL : open_named(name, path, "we");
    int reason = 0;
    if (file == NULL) {
        reason = name == NULL ? ENOMEM : errno;
    } else {
        bool written = fwrite(text, 1, length, file) == length && fflush(file) == 0;
        reason = written ? 0 : errno;
        if (fclose(file) != 0 && reason == 0)
            reason = errno;
        if (reason == 0 && strcmp(name, path) != 0 && rename(name, path) != 0)
            reason = errno;
        if (reason != 0 && strcmp(name, path) != 0)
            unlink(name);
    }
    free(name);
    return reason == 0 ? 0 : error_set(error, "%s: %s", path, strerror(reason));
}

int file_check_writable(const char *path, struct error *error)
{
    char *name = temporary_name(path);
    FILE *file = name == NULL ? NULL : open_named(name, path, "ae");
    int reason = file != NULL ? 0 : name == NULL ? ENOMEM : errno;
    struct stat status;
    if (reason == 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        reason = EISDIR;
    if (file != NULL)
        fclose(file);
    if (file != NULL && strcmp(name, path) != 0)
        unlink(name);
    free(name);
    return reason == 0 ? 0 : error_set(error, "%s: %s", path, strerror(reason));
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
