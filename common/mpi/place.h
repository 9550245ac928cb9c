/* SPDX-License-Identifier: MIT */
/* The place of a process, as far as the start of a run wants to know: see place.c. Nothing here knows of MPI. */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* Bytes of a host's name that are kept, with the NUL. */
#define PLACE_NAME_MAX 48

struct place {
    uint64_t host;             /* equal for processes that can share memory: of one kernel, host name and /dev/shm */
    uint64_t space;            /* equal for processes to which a pid means the same process */
    cpu_set_t cores;           /* cores on which the process may run */
    char name[PLACE_NAME_MAX]; /* of the host, up to its first dot */
};

void place_look(struct place *place);

/* True where all ranks of the launch are on this node, and a pid means the same process to them, as far as this process
 * can tell without asking the others. */
bool place_holds_all(void);
