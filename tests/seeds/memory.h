/* SPDX-License-Identifier: MIT */
/* Allocations of the machines, counted and, where wanted, refused. A program that links memory.c with the linker's
 * options of memory_dep has malloc(), calloc() and realloc() go through here; those of the virtual cluster itself and
 * of the tests are left alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct refusal {
    uint64_t nth;  /* allocation from now on (from 1); 0: none is refused */
    bool for_good; /* all after it as well */
    bool running;  /* those that set up the machines are neither counted nor refused */
};

/* Counts from 0. */
void memory_refuse(const struct refusal *refusal);

/* For virtual_config.in_machine. */
void memory_in_machine(bool inside);

/* Since memory_refuse(). */
uint64_t memory_refused(void);
