/* SPDX-License-Identifier: MIT */
/* The tasks of a run: which command line each of them is.
 *
 * Lines come from a file, one task each, or from one line for all; a table or a list gives each task a row, and the
 * rows of a list can be lines themselves. Tasks count from 0 here, as iterations do, and from 1 wherever a user sees
 * them. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/cmdline.h"
#include "worker/kernels/exec/lines.h"
#include "worker/kernels/exec/list.h"
#include "worker/kernels/exec/table.h"

#include <stdbool.h>

#define TASKS_COUNT_UNKNOWN (-1)
/* The longest text of a command in the log. */
#define TASKS_TEXT_MAX 4096

struct tasks_source {
    const char *tasks;   /* the file of lines; "": none */
    const char *command; /* the one line; "": none */
    const char *table;   /* "": none */
    const char *list;    /* "": none */
    const char *folder;  /* the folder that tasks run in, in which something may be put in; "": the worker's */
    int64_t count;       /* TASKS_COUNT_UNKNOWN: not given */
    enum table_header header;
    const char *shell; /* which lines a shell reads, and which shell: see shell.h; NULL: none */
    bool follows;      /* rows may be added to the list at any time */
};

struct tasks {
    struct tasks_source source; /* borrowed strings */
    struct lines lines;
    struct table table;
    struct list list;
    char *shell; /* path of the shell that reads lines; owned */
    char *line;  /* the command for the rows of a list; NULL: the source's. Owned */
    uint64_t count;
    uint64_t digest; /* digest of the files; of a list that may grow, only of its first line */
    bool grows;      /* there may be more tasks than `count` */
    char rank[12], node[12], slot[12];
    /* the task at hand */
    uint64_t order; /* its number, from 1: its place, unless the list says it */
    char number[24];
    bool is_wrong;         /* tasks_get() has refused the task for its row or its line: there are no words */
    const struct row *row; /* NULL: none */
    struct piece whole;    /* the row of a table as it stands */
    struct piece *pieces;  /* values that are put in at a place; owned */
    size_t pieces_room;    /* of `pieces` */
    struct cmdline own;    /* the row of a list as a command line */
    struct cmdline words;
    struct cmdline folder; /* one word, the folder that the task runs in; no word: the worker's */
};

/* Looks through the files. -1 with one line, and nothing owned. */
int tasks_open(struct tasks *tasks, const struct tasks_source *source, struct error *error);
void tasks_close(struct tasks *tasks);

/* For {rank}, {node} and {%}. */
void tasks_set_worker(struct tasks *tasks, unsigned rank, unsigned node, unsigned slot);

/* Looks at every task that is there, as tasks_get() would; where rows may be added, at the command alone. -1 with one
 * line about the first that is wrong. */
int tasks_check(struct tasks *tasks, struct error *error);

/* True if the digest is that of the files, be it that a list was still open when it was made. */
bool tasks_are(const struct tasks *tasks, uint64_t digest);

/* Takes in the rows that were added to a list that grows. -1 with one line. */
int tasks_extend(struct tasks *tasks, struct error *error);

/* A digest of what the first `count` tasks are read from, which is the same when others are added behind them. -1 with
 * one line. */
int tasks_digest(struct tasks *tasks, uint64_t count, uint64_t *digest, struct error *error);

/* Makes task i the one at hand: its words are in tasks->words. i < count, or a task of a list that grows, which
 * another rank has seen: it is waited for. -1 with one line. */
int tasks_get(struct tasks *tasks, uint64_t i, struct error *error);

/* Makes the row of task i, which is there, the one at hand, for tasks_field() only. -1 with one line. */
int tasks_take_row(struct tasks *tasks, uint64_t i, struct error *error);

/* The folder that the task at hand is to run in; "": the worker's. */
static inline const char *tasks_folder(const struct tasks *tasks)
{
    return tasks->folder.count == 0 ? "" : cmdline_at(&tasks->folder, 0);
}

/* Index of the column of that name, -1 for none. */
int tasks_column(const struct tasks *tasks, const char *name);

/* The field of a column in the row of the task at hand; an empty one where the row is too short. */
struct piece tasks_field(const struct tasks *tasks, unsigned column);

/* The command of the task at hand as one would type it, control characters as escapes; cut with "..." where it does not
 * fit `size`. Returns `text`. */
const char *tasks_text(const struct tasks *tasks, char *text, size_t size);
