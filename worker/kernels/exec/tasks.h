/* SPDX-License-Identifier: MIT */
/* The tasks of a run: the command line of each.
 *
 * Command lines come from a file, one per task, or one line is for all tasks. A table or list gives each task a row
 * of values; the rows of a list may be the command lines themselves. Tasks count from 0 here, and from 1 for the
 * user. */
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
    const char *tasks; /* file of command lines; like the four below, "" if there is none */
    const char *command;
    const char *table;
    const char *list;
    const char *folder; /* where tasks run, which may contain {..}; "": in the worker's folder */
    int64_t count;
    enum table_header header;
    const char *shell; /* which lines a shell reads, and which shell: see shell.h; NULL: none */
    bool follows;      /* rows may be added to the list at any time */
    /* Of a list whose rows come by list_give(), and which `list` only names; `columns` 0: it is a file. */
    const struct piece *names;
    unsigned name_count, columns;
};

struct tasks {
    struct tasks_source source;
    struct lines lines;
    struct table table;
    struct list list;
    char *shell; /* path of the shell that reads lines; owned */
    char *line;  /* command for the rows of a list; NULL: that of the source; owned */
    uint64_t count;
    uint64_t digest; /* of the files; of a list that may grow only of its first line */
    bool grows;
    char rank[12], node[12], slot[12];
    uint64_t order; /* its number, from 1: its position, or what the list says */
    char number[24];
    bool is_wrong; /* tasks_get() has refused its row or line; it has no words */
    const struct row *row;
    struct piece whole; /* the row of a table as it is in the file */
    struct piece *pieces;
    size_t pieces_room;
    struct cmdline own; /* one word, made by tasks_fill() or of the row of a list as a command line */
    struct cmdline words;
    struct cmdline folder; /* one word: where the task runs; no word: in the worker's folder */
};

int tasks_open(struct tasks *tasks, const struct tasks_source *source, struct error *error);
void tasks_close(struct tasks *tasks);

/* The values of {rank}, {node} and {%}. */
void tasks_set_worker(struct tasks *tasks, unsigned rank, unsigned node, unsigned slot);

/* Checks each task as tasks_get() would; if rows may be added, only the command. */
int tasks_check(struct tasks *tasks, struct error *error);

/* True if the digest is that of these files, or was that of the list while it was open. */
bool tasks_are(const struct tasks *tasks, uint64_t digest);

int tasks_extend(struct tasks *tasks, struct error *error);

/* Digest of the input of the first `count` tasks; later tasks do not change it. */
int tasks_digest(struct tasks *tasks, uint64_t count, uint64_t *digest, struct error *error);

/* Makes task i the current one and sets tasks->words. Waits for a task that another rank has seen. */
int tasks_get(struct tasks *tasks, uint64_t i, struct error *error);

/* Makes the row of task i the current one, for tasks_field() only. The task must exist. */
int tasks_take_row(struct tasks *tasks, uint64_t i, struct error *error);

/* Makes existing task i the current one, without words, and returns the text with its values for {..}; NULL on
 * failure. Valid until the next call. */
const char *tasks_fill(struct tasks *tasks, uint64_t i, const char *text, struct error *error);

/* Working directory of the current task; "": the worker's. */
static inline const char *tasks_folder(const struct tasks *tasks)
{
    return tasks->folder.count == 0 ? "" : cmdline_at(&tasks->folder, 0);
}

int tasks_column(const struct tasks *tasks, const char *name);

struct piece tasks_field(const struct tasks *tasks, unsigned column);

/* The current command as one would type it, with quotes, cut off with "..." at `size`. Returns `text`. */
const char *tasks_text(const struct tasks *tasks, char *text, size_t size);
