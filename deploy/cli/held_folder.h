/* SPDX-License-Identifier: MIT */
/* Folders of a process, for this user alone, that a later one removes where it was killed.
 *
 * Their holder and all processes that inherit it keep them, by a lock. One that nobody holds any more is of a run that
 * was killed. A lock on a file system that nodes share may be one of a node alone: the name has the number of the
 * kernel's boot, and those of others are left alone. */
#pragma once

/* Files in memory. Open MPI names the memory that the ranks of a launch share by the machine, the user and a number of
 * 16 bits, which two launches can have in common: each then takes the memory of the other for its own, and both crash.
 * In a folder of its own a launch has no namesake. */
#define MEMORY_FOLDER "/dev/shm"

/* The longest path, with its NUL. */
#define HELD_FOLDER_MAX 1000

struct held_folder {
    int fd;                     /* holds the folder; inherited by programs that are started; -1: nothing does */
    char path[HELD_FOLDER_MAX]; /* empty: there is none */
};

/* Makes one in `base`, whose name begins with `name`, and removes those that nobody holds. -1 with errno where there is
 * none. One on a file system without locks is held by nothing, and not removed by others. */
int held_folder_make(struct held_folder *folder, const char *base, const char *name);

/* Removes those that nobody holds, whose names begin with `prefix`: by a lock of a file in each, "/NAME", or "" of the
 * folder itself. */
void held_folder_forget(const char *base, const char *prefix, const char *lock);

/* Removes what is in it. */
void held_folder_clear(const struct held_folder *folder);

/* Removes it with all that is in it. One that is not there is fine. */
void held_folder_remove(struct held_folder *folder);
