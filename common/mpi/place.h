/* SPDX-License-Identifier: MIT */
/* Where a process runs, as needed at the start of a run: see place.c. Independent of MPI. */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#define PLACE_NAME_MAX 48

struct place {
    uint64_t host;  /* equal for processes that can share memory */
    uint64_t space; /* equal for processes in the same pid namespace */
    cpu_set_t cores;
    char name[PLACE_NAME_MAX];
};

void place_look(struct place *place);

/* Are all ranks of the launch on this node and in one pid namespace, as far as this process can tell? */
bool place_holds_all(void);
