/* SPDX-License-Identifier: MIT */
/* Iterations that are given up, as the supermaster tells of them. */
#pragma once

#include "common/util/ranges.h"

struct failure_figures {
    struct range range;
    unsigned rank;      /* of the worker that gave them up; RANK_NONE: several died of them, or nobody ran them */
    unsigned node;      /* number of its node; RANK_NONE without a worker */
    const char *reason; /* borrowed: until the job knows of the next failure */
};
