/* SPDX-License-Identifier: MIT */
/* Ranks that the MPI library reports as failed: see ulfm.c. */
#pragma once

#include "common/carrier/carrier.h"

#include <stdbool.h>
#include <stdint.h>

struct runtime;

struct ulfm {
    bool told; /* set by net.c after an MPI operation has failed because of a lost rank */
    int known;
    uint64_t due_ns;
};

void ulfm_begin(carrier_comm comm);
void ulfm_look(struct runtime *runtime, uint64_t now_ns);
