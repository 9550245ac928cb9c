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

#define MEMORY "/dev/shm"
/* Attempts to make one: another process may take it for forgotten before it is held. */
#define TRIES 10

static void remove_files(int folder)
{
    const struct dirent *entry;
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *files = again >= 0 ? fdopendir(again) : NULL;
    while (files != NULL && (entry = readdir(files)) != NULL)
        unlinkat(folder, entry->d_name, 0);
    if (files != NULL)
        closedir(files);
    else if (again >= 0)
        close(again);
}

static bool is_own(int folder)
{
    struct stat status;
    return fstat(folder, &status) == 0 && status.st_uid == geteuid();
}

static void remove_forgotten(const char *prefix)
{
    const struct dirent *entry;
    DIR *memory = opendir(MEMORY);
    while (memory != NULL && (entry = readdir(memory)) != NULL) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        const int folder = openat(dirfd(memory), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder >= 0 && is_own(folder) && flock(folder, LOCK_EX | LOCK_NB) == 0) {
            remove_files(folder);
            unlinkat(dirfd(memory), entry->d_name, AT_REMOVEDIR);
        }
        if (folder >= 0)
            close(folder);
    }
    if (memory != NULL)
        closedir(memory);
}

/* True if the folder is held, and still has its name. */
static bool hold(const struct rank_memory *memory)
{
    struct stat held, named;
    return flock(memory->fd, LOCK_EX | LOCK_NB) == 0 && fstat(memory->fd, &held) == 0 &&
           stat(memory->path, &named) == 0 && held.st_ino == named.st_ino;
}

int rank_memory_make(struct rank_memory *memory)
{
    char prefix[32];
    snprintf(prefix, sizeof prefix, "hdss-ranks.%u.", geteuid());
    remove_forgotten(prefix);
    for (int tries = 0; tries < TRIES; tries++) {
        snprintf(memory->path, sizeof memory->path, MEMORY "/%sXXXXXX", prefix);
        if (mkdtemp(memory->path) == NULL)
            break;
        memory->fd = open(memory->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        if (memory->fd >= 0 && hold(memory))
            return 0;
        if (memory->fd >= 0)
            close(memory->fd);
        rmdir(memory->path);
    }
    *memory = (struct rank_memory){.fd = -1};
    return -1;
}

void rank_memory_clear(const struct rank_memory *memory)
{
    remove_files(memory->fd);
}

void rank_memory_remove(struct rank_memory *memory)
{
    remove_files(memory->fd);
    rmdir(memory->path);
    close(memory->fd);
    *memory = (struct rank_memory){.fd = -1};
}
