/* SPDX-License-Identifier: MIT */
/* Keeps the versions of launchers: see version_cache.h. Each line has four fields, separated by tabs: the size, the
 * time of change in nanoseconds, the path, and the text of the version as plain() leaves it. */
#include "deploy/cli/version_cache.h"

#include "common/util/plain.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CACHE_BYTES_MAX = 16384, LINE_BYTES = PATH_MAX + VERSION_TEXT_MAX + 64 };

static bool cache_path(char path[PATH_MAX], bool make)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char folder[PATH_MAX];
    int length;
    if (base != NULL && base[0] == '/')
        length = snprintf(folder, sizeof folder, "%s", base);
    else if (home != NULL && home[0] == '/')
        length = snprintf(folder, sizeof folder, "%s/.cache", home);
    else
        return false;
    if (length + 32 > PATH_MAX)
        return false;
    if (make)
        mkdir(folder, 0700);
    strcat(folder, "/hdss");
    if (make)
        mkdir(folder, 0700);
    strcpy(stpcpy(path, folder), "/launchers");
    return true;
}

static bool is_elf(const char *path)
{
    char magic[4] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool read_all = read(file, magic, sizeof magic) == sizeof magic;
    close(file);
    return read_all && memcmp(magic, "\177ELF", 4) == 0;
}

static bool key_of(const char *path, char key[LINE_BYTES])
{
    struct stat status;
    if (strpbrk(path, "\t\n") != NULL || !is_elf(path) || stat(path, &status) < 0)
        return false;
    snprintf(key, LINE_BYTES, "%" PRIdMAX "\t%" PRIdMAX "%09ld\t%s\t", (intmax_t)status.st_size,
             (intmax_t)status.st_mtim.tv_sec, status.st_mtim.tv_nsec, path);
    return true;
}

bool version_cache_find(const char *path, char text[VERSION_TEXT_MAX])
{
    char name[PATH_MAX], key[LINE_BYTES], line[LINE_BYTES];
    bool found = false;
    if (!cache_path(name, false) || !key_of(path, key))
        return false;
    FILE *file = fopen(name, "re");
    if (file == NULL)
        return false;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        size_t length = strlen(key);
        found = strncmp(line, key, length) == 0 && line[length] != '\n' && strchr(line, '\n') != NULL;
        if (found)
            snprintf(text, VERSION_TEXT_MAX, "%.*s", (int)strcspn(line + length, "\n"), line + length);
    }
    fclose(file);
    return found;
}

void version_cache_keep(const char *path, const char *text)
{
    char name[PATH_MAX], key[LINE_BYTES], line[2 * LINE_BYTES];
    struct stat status;
    if (text[0] == '\0' || !key_of(path, key) || !cache_path(name, true))
        return;
    snprintf(line, sizeof line, "%s%.*s", key, VERSION_TEXT_MAX - 1, text);
    plain(line + strlen(key));
    size_t length = strlen(line);
    line[length++] = '\n';
    int file = open(name, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return;
    if (fstat(file, &status) == 0 && status.st_size > CACHE_BYTES_MAX && ftruncate(file, 0) < 0)
        length = 0;
    /* the whole line in one write, because other processes may write at the same time */
    ssize_t written = write(file, line, length);
    (void)written;
    close(file);
}
