/* SPDX-License-Identifier: MIT */
/* Ranks that the MPI library says have failed: see ulfm.c. */
#pragma once

#include "common/carrier/carrier.h"

#include <stdbool.h>
#include <stdint.h>

struct runtime;

struct ulfm {
    bool told; /* by an operation that failed: net.c notes it */
    int known;
    uint64_t due_ns;
};

void ulfm_begin(carrier_comm comm);
/* Reports ranks that have failed; cheap when that is not due. */
void ulfm_look(struct runtime *runtime, uint64_t now_ns);
