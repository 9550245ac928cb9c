/* SPDX-License-Identifier: MIT */
/* The file from which the kernel exec reads the arguments of its tasks: hdss-kernel's list=FILE.
 *
 * The first line names the columns, each other one is a task, its fields separated by TABs, with its number before them
 * where that is not its place; the line `\.` ends it. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/rows.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct task_list {
    FILE *file;
    const char *path; /* borrowed */
    uint64_t rows;
    bool is_named;   /* the first line is written */
    unsigned fields; /* of the row that is being added */
};

/* Makes the file anew. -1 with one line. */
int task_list_begin(struct task_list *list, const char *path, struct error *error);

/* Writes the first line: `names`, and for columns behind them, up to `columns`, their numbers. */
void task_list_name(struct task_list *list, const struct field *names, unsigned count, unsigned columns);

/* Add a row: all of it, or field by field. */
void task_list_add(struct task_list *list, uint64_t number, const struct field *fields, unsigned count);

/* Begins a row, which is task `number` of all, from 1. */
void task_list_begin_row(struct task_list *list, uint64_t number);
void task_list_add_field(struct task_list *list, const struct field *field);
void task_list_end_row(struct task_list *list);

/* Brings to the file what was added: whoever reads it sees whole lines. -1 with one line. */
int task_list_flush(struct task_list *list, struct error *error);

/* Closes the file; a complete list says so. Nothing where it was not begun. -1 with one line. */
int task_list_end(struct task_list *list, bool complete, struct error *error);
