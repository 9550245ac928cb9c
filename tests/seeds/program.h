/* SPDX-License-Identifier: MIT */
/* The program around random lives that are each made from one number:
 *
 *   NAME FIRST COUNT    runs so many of them, TAP on standard output
 *   NAME kept FILE      runs those that the file lists, one a line: each of them failed once
 *   NAME SEED           runs one and prints what happens */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct seeds_program {
    const char *name;
    const char *(*run)(uint64_t seed, bool trace); /* NULL, or what was wrong */
    void (*print_tally)(void);                     /* a comment of TAP behind many runs */
};

/* Returns the exit status. */
int seeds_program_main(const struct seeds_program *program, int argc, char **argv);
