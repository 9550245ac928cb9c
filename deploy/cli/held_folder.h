/* SPDX-License-Identifier: MIT */
/* A private folder of a process. If the process is killed, the next run removes the folder.
 *
 * The process and all processes that inherit `fd` lock the folder. A folder without a lock belongs to a run that was
 * killed. On a shared file system a lock may be visible on one node only, so the name has the number of the kernel's
 * boot, and folders with another number are left alone. */
#pragma once

/* Open MPI names the shared memory of a launch by machine, user and a number of 16 bits. Two launches with the same
 * number crash each other, so each launch gets a folder of its own here. */
#define MEMORY_FOLDER "/dev/shm"

/* Limit of a path, with NUL. */
#define HELD_FOLDER_MAX 1000

struct held_folder {
    int fd;                     /* has the lock, inherited by started programs; -1: none */
    char path[HELD_FOLDER_MAX]; /* empty: none */
};

/* Makes a folder in `base` whose name begins with `name`, and removes such folders without a lock. -1 with errno. On a
 * file system without locks other runs do not remove it. */
int held_folder_make(struct held_folder *folder, const char *base, const char *name);

/* Removes the folders without a lock that held_folder_make() has made in `base` with this name. */
void held_folder_sweep(const char *base, const char *name);

/* Removes the folders in `base` whose names begin with `prefix` and that no process has locked. `lock` is what a
 * process locks: a file of the folder, "/NAME", or the folder itself, "". */
void held_folder_forget(const char *base, const char *prefix, const char *lock);

void held_folder_clear(const struct held_folder *folder);

/* Removes the folder and its contents, if it exists. */
void held_folder_remove(struct held_folder *folder);
