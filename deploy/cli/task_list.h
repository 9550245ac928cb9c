/* SPDX-License-Identifier: MIT */
/* The list of tasks for the kernel exec: list=FILE.
 *
 * The first line names the columns. Each other line is a task: its fields, separated by TABs. If the number of the task
 * differs from the number of its row, the line begins with the number of the task. The line `\.` ends the list. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/rows.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct task_list {
    FILE *file;
    const char *path;
    uint64_t rows;
    bool is_named;
    unsigned fields;
};

int task_list_begin(struct task_list *list, const char *path, struct error *error);

void task_list_name(struct task_list *list, const struct piece *names, unsigned count, unsigned columns);

void task_list_add(struct task_list *list, uint64_t number, const struct piece *fields, unsigned count);

void task_list_begin_row(struct task_list *list, uint64_t number);
void task_list_add_field(struct task_list *list, const struct piece *field);
void task_list_end_row(struct task_list *list);

int task_list_flush(struct task_list *list, struct error *error);

/* Closes the file, after its last line if the list is `complete`. Does nothing if the list was not begun. */
int task_list_end(struct task_list *list, bool complete, struct error *error);
