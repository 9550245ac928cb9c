/* SPDX-License-Identifier: MIT */
/* A list of jobs for `hdss simulate --jobs`. Each line has a time of submission and the words of `hdss submit`.
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
    unsigned line;
    uint64_t at_ns, cancel_at_ns;
    char *name;
    int priority;
    unsigned weight;
    struct argv after;
    uint32_t *before; /* [after.count] numbers of the jobs, from 1 */
    struct argv words;
};

struct jobs_file {
    struct listed_job *jobs;
    size_t count, room;
};

/* An error names the line of the file. jobs_file_fini() must be called in all cases. */
int jobs_file_read(struct jobs_file *file, const char *path, struct error *error);
void jobs_file_fini(struct jobs_file *file);
