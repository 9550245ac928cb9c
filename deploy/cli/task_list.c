/* SPDX-License-Identifier: MIT */
/* Writes the list of tasks: see task_list.h. */
#include "deploy/cli/task_list.h"

#include "common/util/row_escape.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

int task_list_begin(struct task_list *list, const char *path, struct error *error)
{
    *list = (struct task_list){.path = path, .file = fopen(path, "we")};
    return list->file != NULL ? 0 : error_set(error, "%.300s: cannot create: %s", path, strerror(errno));
}

static void task_list_put(struct task_list *list, const struct piece *field)
{
    for (size_t i = 0; i < field->length; i++) {
        const char c = field->text[i], letter = row_escape(c);
        if (letter != '\0')
            putc_unlocked('\\', list->file);
        putc_unlocked(letter != '\0' ? letter : c, list->file);
    }
}

void task_list_name(struct task_list *list, const struct piece *names, unsigned count, unsigned columns)
{
    list->fields = 0;
    for (unsigned i = 0; i < count; i++)
        task_list_add_field(list, &names[i]);
    for (unsigned i = count; i < columns; i++)
        fprintf(list->file, "%s%u", i > 0 ? "\t" : "", i + 1);
    putc_unlocked('\n', list->file);
    list->is_named = true;
}

void task_list_begin_row(struct task_list *list, uint64_t number)
{
    list->fields = 0;
    if (number != list->rows + 1)
        fprintf(list->file, "\\#%" PRIu64 "\t", number);
}

void task_list_add_field(struct task_list *list, const struct piece *field)
{
    if (list->fields++ > 0)
        putc_unlocked('\t', list->file);
    task_list_put(list, field);
}

void task_list_end_row(struct task_list *list)
{
    putc_unlocked('\n', list->file);
    list->rows++;
}

void task_list_add(struct task_list *list, uint64_t number, const struct piece *fields, unsigned count)
{
    task_list_begin_row(list, number);
    for (unsigned i = 0; i < count; i++)
        task_list_add_field(list, &fields[i]);
    task_list_end_row(list);
}

static int task_list_complain(const struct task_list *list, struct error *error)
{
    return error_set(error, "%.300s: cannot write: %s", list->path, strerror(errno));
}

int task_list_flush(struct task_list *list, struct error *error)
{
    return fflush(list->file) == 0 && !ferror(list->file) ? 0 : task_list_complain(list, error);
}

int task_list_end(struct task_list *list, bool complete, struct error *error)
{
    if (list->file == NULL)
        return 0;
    if (complete)
        fputs("\\.\n", list->file);
    const bool written = !ferror(list->file);
    const bool closed = fclose(list->file) == 0;
    list->file = NULL;
    return written && closed ? 0 : task_list_complain(list, error);
}
