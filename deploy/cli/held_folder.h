/* SPDX-License-Identifier: MIT */
/* A private folder of a process. If the process is killed, the next run removes the folder.
 *
 * The process holds a lock on the folder, through `fd`. All programs that it starts inherit `fd` and hold the lock,
 * too. If no process holds it, the folder belongs to a run that was killed.
 *
 * On a shared file system, other nodes may not see the lock. So the name of the folder has a number that changes with
 * each boot of the machine. Folders with other numbers are not touched. */
#pragma once

/* Open MPI names a launch's shared memory by machine, user and a number of 16 bits. Two launches with the same number
 * would crash each other, so each launch gets a folder of its own inside this one. */
#define MEMORY_FOLDER "/dev/shm"

#define HELD_FOLDER_MAX 1000

struct held_folder {
    int fd; /* descriptor that holds the lock; started programs inherit it; -1: none */
    char path[HELD_FOLDER_MAX];
};

/* Makes a folder in `base` whose name begins with `name`, and removes older ones that are not locked. Returns -1 and
 * sets errno on failure. On a file system without locks, other runs do not remove the folder. */
int held_folder_make(struct held_folder *folder, const char *base, const char *name);

/* Removes the folders that held_folder_make() has made in `base` with this name, if they are not locked. */
void held_folder_sweep(const char *base, const char *name);

/* Removes the folders in `base` whose names begin with `prefix`, if they are not locked. `lock` says what must be
 * unlocked: a file of the folder, "/NAME", or the folder itself, "". */
void held_folder_forget(const char *base, const char *prefix, const char *lock);

void held_folder_clear(const struct held_folder *folder);

void held_folder_remove(struct held_folder *folder);
