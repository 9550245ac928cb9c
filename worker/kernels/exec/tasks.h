/* SPDX-License-Identifier: MIT */
/* The tasks of a run: the command line of each.
 *
 * Lines come from a file, one per task, or one line serves all; a table or list gives each task a row, and the rows of
 * a list may be the lines. Tasks count from 0 here, and from 1 for the user. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/cmdline.h"
#include "worker/kernels/exec/lines.h"
#include "worker/kernels/exec/list.h"
#include "worker/kernels/exec/table.h"

#include <stdbool.h>

#define TASKS_COUNT_UNKNOWN (-1)
/* Longest text of a command in the log. */
#define TASKS_TEXT_MAX 4096

struct tasks_source {
    const char *tasks;   /* file of lines; "": none */
    const char *command; /* the common line; "": none */
    const char *table;   /* "": none */
    const char *list;    /* "": none */
    const char *folder;  /* working directory, may contain {..}; "": the worker's */
    int64_t count;       /* TASKS_COUNT_UNKNOWN: not given */
    enum table_header header;
    const char *shell; /* which lines a shell reads, and which shell: see shell.h; NULL: none */
    bool follows;      /* rows may be added to the list at any time */
    /* Of a list whose rows come by list_give(), and which `list` only names; `columns` 0: it is a file. */
    const struct piece *names;
    unsigned name_count, columns;
};

struct tasks {
    struct tasks_source source; /* strings are borrowed */
    struct lines lines;
    struct table table;
    struct list list;
    char *shell; /* path of the shell that reads lines; owned */
    char *line;  /* command for the rows of a list; NULL: the source's; owned */
    uint64_t count;
    uint64_t digest; /* of the files; of a list that may grow only of its first line */
    bool grows;      /* tasks may be added */
    char rank[12], node[12], slot[12];
    /* The current task. */
    uint64_t order; /* its number, from 1: its position, or as given in the list */
    char number[24];
    bool is_wrong;         /* tasks_get() refused its row or line; it has no words */
    const struct row *row; /* may be NULL */
    struct piece whole;    /* the row of a table as in the file */
    struct piece *pieces;  /* values for a place; owned */
    size_t pieces_room;
    struct cmdline own; /* one word, made by tasks_fill() or of the row of a list as a command line */
    struct cmdline words;
    struct cmdline folder; /* one word, its working directory; no word: the worker's */
};

/* Reads the files. On failure nothing is owned. */
int tasks_open(struct tasks *tasks, const struct tasks_source *source, struct error *error);
void tasks_close(struct tasks *tasks);

/* For {rank}, {node} and {%}. */
void tasks_set_worker(struct tasks *tasks, unsigned rank, unsigned node, unsigned slot);

/* Checks every task as tasks_get() would; if rows may be added, only the command. */
int tasks_check(struct tasks *tasks, struct error *error);

/* True if the digest belongs to these files, possibly when a list was still open. */
bool tasks_are(const struct tasks *tasks, uint64_t digest);

int tasks_extend(struct tasks *tasks, struct error *error);

/* Digest of the input of the first `count` tasks, unaffected by later ones. */
int tasks_digest(struct tasks *tasks, uint64_t count, uint64_t *digest, struct error *error);

/* Makes task i the current one, with tasks->words. Waits for a task that another rank has seen. */
int tasks_get(struct tasks *tasks, uint64_t i, struct error *error);

/* Makes the row of existing task i the current one, for tasks_field() only. */
int tasks_take_row(struct tasks *tasks, uint64_t i, struct error *error);

/* Makes existing task i the current one, without words, and returns the text with its values for {..}; NULL on
 * failure. Valid until the next call. */
const char *tasks_fill(struct tasks *tasks, uint64_t i, const char *text, struct error *error);

/* Working directory of the current task; "": the worker's. */
static inline const char *tasks_folder(const struct tasks *tasks)
{
    return tasks->folder.count == 0 ? "" : cmdline_at(&tasks->folder, 0);
}

/* Index of the column, or -1. */
int tasks_column(const struct tasks *tasks, const char *name);

/* The field of a column in the current row; empty if the row is too short. */
struct piece tasks_field(const struct tasks *tasks, unsigned column);

/* The current command as one would type it, escaped, truncated with "..." to `size`. Returns `text`. */
const char *tasks_text(const struct tasks *tasks, char *text, size_t size);
