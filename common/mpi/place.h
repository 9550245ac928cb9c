/* SPDX-License-Identifier: MIT */
/* The place of a process, as needed at the start of a run: see place.c. Independent of MPI. */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#define PLACE_NAME_MAX 48

struct place {
    uint64_t host;  /* equal for processes that can share memory */
    uint64_t space; /* equal for processes in the same pid namespace */
    cpu_set_t cores;
    char name[PLACE_NAME_MAX]; /* name of the host, up to its first dot */
};

void place_look(struct place *place);

/* True if, as far as this process can tell, all ranks of the launch are on this node and share a pid namespace. */
bool place_holds_all(void);
