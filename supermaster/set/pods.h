/* SPDX-License-Identifier: MIT */
/* The pods of a set: launches of their own, each a master with its workers, which join it by a stream. */
#pragma once

#include "common/mpi/link.h"
#include "common/util/error.h"

struct set;

/* Listens for pods where --listen asks for it, and writes the ticket by which they join. -1 with one line. */
int set_pods_open(struct set *set, struct error *error);

/* Adds what a link asks a set about pods. */
void set_pods_fill_source(struct set *set, struct job_source *source);

/* Removes the ticket, and stops listening; those that are still there are cut off. */
void set_pods_close(struct set *set);
