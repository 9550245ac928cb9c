/* SPDX-License-Identifier: MIT */
/* The tasks of a run: the command line of each.
 *
 * Command lines come from a file, one per task, or one command line is for all tasks. A table or a list gives each task
 * a row of values. The rows of a list may also be the command lines themselves. Tasks are numbered from 0 here, and
 * from 1 for the user. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/cmdline.h"
#include "worker/kernels/exec/lines.h"
#include "worker/kernels/exec/list.h"
#include "worker/kernels/exec/table.h"

#include <stdbool.h>

#define TASKS_COUNT_UNKNOWN (-1)
#define TASKS_TEXT_MAX      4096

struct tasks_source {
    const char *tasks; /* file of command lines; "" if not given, like the next three members */
    const char *command;
    const char *table;
    const char *list;
    const char *folder; /* where tasks run; may contain {..}; "": in the worker's folder */
    int64_t count;
    enum table_header header;
    const char *shell; /* says which lines a shell reads, and which shell: see shell.h; NULL: no shell */
    bool follows;
    /* If `columns` is 0, `list` is the path of a file. Otherwise list_give() provides the rows, and `list` is only a
     * name. */
    const struct piece *names;
    unsigned name_count, columns;
};

struct tasks {
    struct tasks_source source;
    struct lines lines;
    struct table table;
    struct list list;
    char *shell;
    char *line; /* command line for the rows of a list; NULL: `source.command`; owned */
    uint64_t count;
    uint64_t digest; /* digest of the files; for a list that may grow, digest of its first line */
    bool grows;
    char rank[12], node[12], slot[12];
    uint64_t order;
    char number[24];
    bool is_wrong;
    const struct row *row;
    struct piece whole;
    struct piece *pieces;
    size_t pieces_room;
    /* has one word: the text that tasks_fill() has made, or the command line in a row of the list */
    struct cmdline own;
    struct cmdline words;
    struct cmdline folder;
};

int tasks_open(struct tasks *tasks, const struct tasks_source *source, struct error *error);
void tasks_close(struct tasks *tasks);

void tasks_set_worker(struct tasks *tasks, unsigned rank, unsigned node, unsigned slot);

/* Checks each task as tasks_get() does; if rows may be added, checks only the command. */
int tasks_check(struct tasks *tasks, struct error *error);

/* True if `digest` is the digest of these files. Also true if the list had this digest at some time while it was
 * open. */
bool tasks_are(const struct tasks *tasks, uint64_t digest);

int tasks_extend(struct tasks *tasks, struct error *error);

/* Digest of the input of the first `count` tasks; later tasks do not change it. */
int tasks_digest(struct tasks *tasks, uint64_t count, uint64_t *digest, struct error *error);

/* Makes task i the current one and sets tasks->words. In a growing list this rank may not see the task yet although
 * another rank has seen it. It then waits for the task. */
int tasks_get(struct tasks *tasks, uint64_t i, struct error *error);

/* Makes the row of task i the current one, for tasks_field() only. The task must exist. */
int tasks_take_row(struct tasks *tasks, uint64_t i, struct error *error);

/* Makes the existing task i the current one, but does not set tasks->words. Returns `text` with each {..} replaced;
 * valid until the next call. Returns NULL on failure. */
const char *tasks_fill(struct tasks *tasks, uint64_t i, const char *text, struct error *error);

static inline const char *tasks_folder(const struct tasks *tasks)
{
    return tasks->folder.count == 0 ? "" : cmdline_at(&tasks->folder, 0);
}

int tasks_column(const struct tasks *tasks, const char *name);

struct piece tasks_field(const struct tasks *tasks, unsigned column);

/* Writes the current command to `text` as one would type it, with quotes. A longer command is cut off with "..." at
 * `size`. Returns `text`. */
const char *tasks_text(const struct tasks *tasks, char *text, size_t size);
