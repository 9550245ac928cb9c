/* SPDX-License-Identifier: MIT */
/* Tasks that wait for others: see after.h. */
#include "worker/kernels/exec/after.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AFTER_TEXT_MAX 80
#define CIRCLE_NAMED   4

struct after_name {
    char *text;
    uint64_t task;
};

struct after {
    struct tasks *tasks;
    struct precedence *precedence;
    int names_column;
    struct after_name *names;
};

static int after_fail_without_memory(struct error *error)
{
    return error_set(error, "out of memory for the column " AFTER_COLUMN);
}

static int compare_after_names(const void *left, const void *right)
{
    const struct after_name *a = left, *b = right;
    int order = strcmp(a->text, b->text);
    return order != 0 ? order : a->task < b->task ? -1 : a->task > b->task;
}

static void after_fini(struct after *after)
{
    for (uint64_t i = 0; after->names != NULL && i < after->tasks->count; i++)
        free(after->names[i].text);
    free(after->names);
}

static int read_names(struct after *after, struct error *error)
{
    struct tasks *tasks = after->tasks;
    if (after->names_column < 0)
        return 0;
    after->names = calloc(tasks->count + 1, sizeof *after->names);
    if (after->names == NULL)
        return after_fail_without_memory(error);
    for (uint64_t i = 0; i < tasks->count; i++) {
        if (tasks_take_row(tasks, i, error) < 0)
            return -1;
        const struct piece name = tasks_field(tasks, (unsigned)after->names_column);
        after->names[i] = (struct after_name){strndup(name.text, name.length), i};
        if (after->names[i].text == NULL)
            return after_fail_without_memory(error);
    }
    qsort(after->names, tasks->count, sizeof *after->names, compare_after_names);
    return 0;
}

static const struct after_name *find_name(const struct after *after, const char *text)
{
    uint64_t low = 0, high = after->tasks->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (strcmp(after->names[middle].text, text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < after->tasks->count && strcmp(after->names[low].text, text) == 0 ? &after->names[low] : NULL;
}

static const char *task_text(const struct after *after, uint64_t task, char text[AFTER_TEXT_MAX])
{
    struct tasks *tasks = after->tasks;
    struct error ignored;
    struct line line;
    int length = tasks->source.table[0] != '\0' && table_line(&tasks->table, task, &line, &ignored) == 0
                     ? snprintf(text, AFTER_TEXT_MAX, "line %" PRIu64, line.number)
                     : snprintf(text, AFTER_TEXT_MAX, "task %" PRIu64, task + 1);
    if (after->names_column < 0 || tasks_take_row(tasks, task, &ignored) < 0)
        return text;
    const struct piece name = tasks_field(tasks, (unsigned)after->names_column);
    snprintf(text + length, AFTER_TEXT_MAX - (size_t)length, " (%.*s)", (int)(name.length < 40 ? name.length : 40),
             name.text);
    return text;
}

static int refuse_name(const struct after *after, uint64_t task, const char *name, struct error *error)
{
    const bool is_id =
        after->names_column == tasks_column(after->tasks, "id") && tasks_column(after->tasks, "name") < 0;
    char text[AFTER_TEXT_MAX];
    if (after->names_column < 0)
        return error_set(error,
                         "%s waits for '%.60s': accepted: numbers of tasks, 1 to %" PRIu64
                         ", or a column 'name' with what is to be said here",
                         task_text(after, task, text), name, after->tasks->count);
    return error_set(error, "%s waits for '%.60s', which no row has in the column '%s'", task_text(after, task, text),
                     name, is_id ? "id" : "name");
}

static int refuse_two(const struct after *after, uint64_t task, const struct after_name *found, struct error *error)
{
    char text[AFTER_TEXT_MAX], first[AFTER_TEXT_MAX], second[AFTER_TEXT_MAX];
    return error_set(error, "%s waits for '%.60s', which is both %s and %s; accepted: a name of one row",
                     task_text(after, task, text), found->text, task_text(after, found[0].task, first),
                     task_text(after, found[1].task, second));
}

static int find_task(const struct after *after, uint64_t task, const char *name, uint64_t *other, struct error *error)
{
    if (after->names_column < 0) {
        char *end;
        const unsigned long long number = isdigit((unsigned char)name[0]) ? strtoull(name, &end, 10) : 0;
        if (number == 0 || *end != '\0' || number > after->tasks->count)
            return refuse_name(after, task, name, error);
        *other = number - 1;
        return 0;
    }
    const struct after_name *found = find_name(after, name);
    if (found == NULL)
        return refuse_name(after, task, name, error);
    if (found + 1 < after->names + after->tasks->count && strcmp(found[1].text, name) == 0)
        return refuse_two(after, task, found, error);
    *other = found->task;
    return 0;
}

static int add_wait(const struct after *after, uint64_t task, uint64_t other, struct error *error)
{
    char text[AFTER_TEXT_MAX];
    if (other == task)
        return error_set(error, "%s waits for itself", task_text(after, task, text));
    return precedence_add(after->precedence, task, other) < 0 ? after_fail_without_memory(error) : 0;
}

static int take_names(const struct after *after, uint64_t task, char *field, struct error *error)
{
    uint64_t other;
    for (char *rest = field, *name; (name = strtok_r(rest, ",; \t", &rest)) != NULL;) {
        if (find_task(after, task, name, &other, error) < 0 || add_wait(after, task, other, error) < 0)
            return -1;
    }
    return 0;
}

/* A task's name may contain a separator. Then a field can have only this name. */
static int take_after_field(const struct after *after, uint64_t task, unsigned column, struct error *error)
{
    if (tasks_take_row(after->tasks, task, error) < 0)
        return -1;
    const struct piece field = tasks_field(after->tasks, column);
    char *copy = strndup(field.text, field.length);
    if (copy == NULL)
        return after_fail_without_memory(error);
    const bool is_whole = after->names != NULL && strpbrk(copy, ",; \t") != NULL && find_name(after, copy) != NULL;
    uint64_t other;
    int result;
    if (!is_whole)
        result = take_names(after, task, copy, error);
    else if ((result = find_task(after, task, copy, &other, error)) == 0)
        result = add_wait(after, task, other, error);
    free(copy);
    return result;
}

static int refuse_after_circle(const struct after *after, const uint64_t *circle, int64_t length, struct error *error)
{
    char names[CIRCLE_NAMED][AFTER_TEXT_MAX], text[CIRCLE_NAMED * (AFTER_TEXT_MAX + 20)] = "";
    size_t at = 0;
    const int64_t named = length < CIRCLE_NAMED ? length : CIRCLE_NAMED;
    for (int64_t i = 0; i < named; i++)
        task_text(after, circle[i], names[i]);
    for (int64_t i = 1; i < named; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s, which waits for ", names[i]);
    if (named < length)
        snprintf(text + at, sizeof text - at, "others (%" PRId64 " rows), of which the last waits for ",
                 length - named);
    return error_set(error, "%s waits for %s%s", names[0], text, names[0]);
}

static int check_after_circles(const struct after *after, struct error *error)
{
    uint64_t *circle;
    const int64_t length = precedence_find_circle(after->precedence, &circle);
    if (length < 0)
        return after_fail_without_memory(error);
    if (length == 0)
        return 0;
    refuse_after_circle(after, circle, length, error);
    free(circle);
    return -1;
}

int after_read(struct tasks *tasks, struct precedence *precedence, struct error *error)
{
    const int column = tasks_column(tasks, AFTER_COLUMN), name = tasks_column(tasks, "name");
    struct after after = {tasks, precedence, name >= 0 ? name : tasks_column(tasks, "id"), NULL};
    precedence_init(precedence);
    if (column < 0)
        return 0;
    if (tasks->grows)
        return error_set(error, "the column '" AFTER_COLUMN "': accepted in a list that is complete");
    int result = read_names(&after, error);
    for (uint64_t i = 0; result == 0 && i < tasks->count; i++)
        result = take_after_field(&after, i, (unsigned)column, error);
    if (result == 0 && precedence->pair_count > 0)
        result = precedence_close(precedence, tasks->count) < 0 ? after_fail_without_memory(error)
                                                                : check_after_circles(&after, error);
    if (result < 0)
        precedence_fini(precedence);
    after_fini(&after);
    return result;
}
