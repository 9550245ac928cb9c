/* SPDX-License-Identifier: MIT */
/* The tasks of a run: which command line each of them is.
 *
 * Lines come from a file, one task each, or from one line for all; a table gives each task a row. Tasks count from 0
 * here, as iterations do, and from 1 wherever a user sees them. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/cmdline.h"
#include "worker/kernels/exec/lines.h"
#include "worker/kernels/exec/table.h"

#include <stdbool.h>

struct tasks_source {
    const char *list;    /* the file of lines; "": none */
    const char *command; /* the one line; "": none. Exactly one of the two is given */
    const char *table;   /* "": none */
    uint64_t count;      /* 0: not given */
    bool shell;          /* lines are for /bin/sh */
};

struct tasks {
    struct tasks_source source; /* borrowed strings */
    struct lines list;
    struct table table;
    uint64_t count;
    uint64_t digest; /* digest of the files */
    char rank[12], node[12];
    /* the task at hand */
    char number[24];
    const char *row; /* the task's row as it stands; NULL: no table */
    size_t row_length;
    struct cmdline words;
};

/* Looks through the files. -1 with one line, and nothing owned. */
int tasks_open(struct tasks *tasks, const struct tasks_source *source, struct error *error);
void tasks_close(struct tasks *tasks);

/* For {rank} and {node}. */
void tasks_set_worker(struct tasks *tasks, unsigned rank, unsigned node);

/* Looks at every task, as tasks_get() would. -1 with one line about the first that is wrong. */
int tasks_check(struct tasks *tasks, struct error *error);

/* Makes task i < count the one at hand: its words are in tasks->words. -1 with one line. */
int tasks_get(struct tasks *tasks, uint64_t i, struct error *error);

/* The command of the task at hand as one would type it, control characters as escapes; cut with "..." where it does not
 * fit `size`. Returns `text`. */
const char *tasks_text(const struct tasks *tasks, char *text, size_t size);
