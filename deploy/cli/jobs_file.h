/* SPDX-License-Identifier: MIT */
/* A list of jobs for `hdss simulate --jobs`: each line has the time of submission and the words of `hdss submit`.
 *
 *     # a comment; empty lines are ignored; words are separated by blanks
 *     0s --name night --weight 2 mandelbrot width=2048
 *     10m --name next --priority 1 --after night synthetic iterations=1e6
 *     cancel 1:30:00 next
 */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/argv.h"

#include <stddef.h>
#include <stdint.h>

struct listed_job {
    unsigned line; /* from 1 */
    uint64_t at_ns, cancel_at_ns;
    char *name; /* NULL: none; owned */
    int priority;
    unsigned weight;
    struct argv after; /* names */
    uint32_t *before;  /* [after.count] their numbers, from 1 */
    struct argv words; /* options of the job, kernel and parameters */
};

struct jobs_file {
    struct listed_job *jobs; /* [count] in order of submission; owned */
    size_t count, room;
};

/* Reads the file. Errors name the line. jobs_file_fini() is required in each case. */
int jobs_file_read(struct jobs_file *file, const char *path, struct error *error);
void jobs_file_fini(struct jobs_file *file);
