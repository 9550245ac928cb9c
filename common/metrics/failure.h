/* SPDX-License-Identifier: MIT */
/* Iterations that were given up for one reason. */
#pragma once

#include "common/util/ranges.h"

struct failure_figures {
    struct range range;
    unsigned rank; /* the worker; RANK_NONE if the iterations killed several workers, or if they were never run */
    unsigned node;
    const char *reason; /* borrowed until the job records the next failure */
};
