/* SPDX-License-Identifier: MIT */
/* Iterations that were given up. */
#pragma once

#include "common/util/ranges.h"

struct failure_figures {
    struct range range;
    unsigned rank;      /* worker that gave them up; RANK_NONE: several died of them, or none ran them */
    unsigned node;      /* of the worker; RANK_NONE without one */
    const char *reason; /* borrowed until the job records the next failure */
};
