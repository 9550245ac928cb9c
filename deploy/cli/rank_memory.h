/* SPDX-License-Identifier: MIT */
/* The folder in /dev/shm for the memory that the ranks of one launch share.
 *
 * Open MPI names that memory by the machine, the user and a number of 16 bits, which two launches can have in common:
 * each then takes the memory of the other for its own, and both crash. In a folder of its own a launch has no namesake.
 *
 * Its holder and all processes that inherit it keep it. One that nobody holds any more is of a run that was killed. */
#pragma once

/* Files in memory, which ranks have there in any case. */
#define MEMORY_FOLDER "/dev/shm"

struct rank_memory {
    int fd; /* holds the folder; inherited by programs that are started */
    char path[64];
};

/* Makes it, for this user alone, and removes those that nobody holds. -1 where there is none, with an empty path. */
int rank_memory_make(struct rank_memory *memory);

/* Removes what is in it, once its ranks have ended. */
void rank_memory_clear(const struct rank_memory *memory);

/* Removes it with all that is in it. */
void rank_memory_remove(struct rank_memory *memory);
