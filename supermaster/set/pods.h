/* SPDX-License-Identifier: MIT */
/* The pods of a set. A pod is a separate launch of a master with its workers that joins the set by a stream. */
#pragma once

#include "common/mpi/link.h"
#include "common/util/error.h"

struct set;

int set_pods_open(struct set *set, struct error *error);

void set_pods_fill_source(struct set *set, struct job_source *source);

void set_pods_close(struct set *set);
