/* SPDX-License-Identifier: MIT */
/* The folder for the memory that the ranks of one launch share: see rank_memory.h. */
#include "deploy/cli/rank_memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Attempts to make one: another process may take it for forgotten before it is held. */
#define TRIES 10

/* Opens the folder that the path names, and holds it. False where it is not this user's, or somebody holds it. */
static bool take(struct rank_memory *memory)
{
    struct stat held, named;
    memory->fd = open(memory->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (memory->fd < 0)
        return false;
    if (flock(memory->fd, LOCK_EX | LOCK_NB) == 0 && fstat(memory->fd, &held) == 0 && held.st_uid == geteuid() &&
        stat(memory->path, &named) == 0 && held.st_ino == named.st_ino) /* it still has its name */
        return true;
    close(memory->fd);
    return false;
}

static void remove_forgotten(const char *prefix)
{
    const struct dirent *entry;
    DIR *folder = opendir(MEMORY_FOLDER);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        struct rank_memory forgotten;
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            (size_t)snprintf(forgotten.path, sizeof forgotten.path, MEMORY_FOLDER "/%s", entry->d_name) <
                sizeof forgotten.path &&
            take(&forgotten))
            rank_memory_remove(&forgotten);
    }
    if (folder != NULL)
        closedir(folder);
}

int rank_memory_make(struct rank_memory *memory)
{
    char prefix[32];
    snprintf(prefix, sizeof prefix, "hdss-ranks.%u.", geteuid());
    remove_forgotten(prefix);
    for (int tries = 0; tries < TRIES; tries++) {
        snprintf(memory->path, sizeof memory->path, MEMORY_FOLDER "/%sXXXXXX", prefix);
        if (mkdtemp(memory->path) == NULL)
            break;
        if (take(memory))
            return 0;
        rmdir(memory->path);
    }
    *memory = (struct rank_memory){.fd = -1};
    return -1;
}

void rank_memory_clear(const struct rank_memory *memory)
{
    const struct dirent *entry;
    DIR *files = opendir(memory->path);
    while (files != NULL && (entry = readdir(files)) != NULL)
        unlinkat(memory->fd, entry->d_name, 0);
    if (files != NULL)
        closedir(files);
}

void rank_memory_remove(struct rank_memory *memory)
{
    rank_memory_clear(memory);
    rmdir(memory->path);
    close(memory->fd);
    *memory = (struct rank_memory){.fd = -1};
}
