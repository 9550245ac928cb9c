/* SPDX-License-Identifier: MIT */
/* Private folders of processes: see held_folder.h. */
#include "deploy/cli/held_folder.h"

#include "common/os/boot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A new folder is not locked for a short time, and another process may remove it. If that happens, the folder is made
 * again, at most TRIES times. */
#define TRIES             10
#define REMOVED_AT_A_TIME 16

enum hold { HELD, TAKEN, LOCKLESS };

/* Locks the folder itself if `lock` is "", or the file "/NAME" in the folder. Returns TAKEN if another process has
 * locked it, or if the folder belongs to another user. */
static enum hold take(struct held_folder *folder, const char *lock)
{
    char path[HELD_FOLDER_MAX + NAME_MAX];
    struct stat held, named;
    snprintf(path, sizeof path, "%s%s", folder->path, lock);
    folder->fd = lstat(folder->path, &named) == 0 && S_ISDIR(named.st_mode) && named.st_uid == geteuid()
                     ? open(path, O_RDONLY | O_NOFOLLOW)
                     : -1;
    if (folder->fd < 0)
        return TAKEN;
    const bool is_locked = flock(folder->fd, LOCK_EX | LOCK_NB) == 0, is_busy = !is_locked && errno == EWOULDBLOCK;
    if (is_locked && fstat(folder->fd, &held) == 0 && stat(path, &named) == 0 &&
        held.st_ino == named.st_ino) /* the path still names the locked file */
        return HELD;
    close(folder->fd);
    folder->fd = -1;
    return is_locked || is_busy ? TAKEN : LOCKLESS;
}

void held_folder_forget(const char *base, const char *prefix, const char *lock)
{
    const struct dirent *entry;
    DIR *open = opendir(base);
    while (open != NULL && (entry = readdir(open)) != NULL) {
        struct held_folder forgotten;
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            (size_t)snprintf(forgotten.path, sizeof forgotten.path, "%s/%s", base, entry->d_name) <
                sizeof forgotten.path &&
            take(&forgotten, lock) == HELD)
            held_folder_remove(&forgotten);
    }
    if (open != NULL)
        closedir(open);
}

static void name_prefix(char *prefix, size_t size, const char *name)
{
    char boot[BOOT_NAME_MAX];
    boot_name(boot);
    snprintf(prefix, size, "%s.%u.%s.", name, geteuid(), boot);
}

void held_folder_sweep(const char *base, const char *name)
{
    char prefix[64];
    name_prefix(prefix, sizeof prefix, name);
    held_folder_forget(base, prefix, "");
}

int held_folder_make(struct held_folder *folder, const char *base, const char *name)
{
    char prefix[64];
    name_prefix(prefix, sizeof prefix, name);
    held_folder_sweep(base, name);
    for (int tries = 0; tries < TRIES; tries++) {
        const int length = snprintf(folder->path, sizeof folder->path, "%s/%sXXXXXX", base, prefix);
        errno = ENAMETOOLONG;
        if (length >= (int)sizeof folder->path || mkdtemp(folder->path) == NULL)
            break;
        if (take(folder, "") != TAKEN)
            return 0;
        rmdir(folder->path);
    }
    folder->fd = -1;
    folder->path[0] = '\0';
    return -1;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind;
    if (place->level > 0)
        remove(path);
    return 0;
}

void held_folder_clear(const struct held_folder *folder)
{
    if (folder->path[0] != '\0')
        nftw(folder->path, remove_one, REMOVED_AT_A_TIME, FTW_DEPTH | FTW_PHYS);
}

void held_folder_remove(struct held_folder *folder)
{
    held_folder_clear(folder);
    if (folder->path[0] != '\0')
        rmdir(folder->path);
    if (folder->fd >= 0)
        close(folder->fd);
    folder->fd = -1;
    folder->path[0] = '\0';
}
