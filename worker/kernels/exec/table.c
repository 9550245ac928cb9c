/* SPDX-License-Identifier: MIT */
/* Tables: see table.h. */
#include "worker/kernels/exec/table.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Takes a field that is in quotes, of which the first is at line->text[at]. Returns where it ends, or SIZE_MAX. */
static size_t take_quoted(struct table_row *row, const struct line *line, size_t at, size_t *used)
{
    for (at++; at < line->length; at++) {
        if (line->text[at] != '"')
            row->text[(*used)++] = line->text[at];
        else if (at + 1 < line->length && line->text[at + 1] == '"')
            row->text[(*used)++] = line->text[at++];
        else
            return at + 1;
    }
    return SIZE_MAX;
}

static size_t table_take_plain(struct table_row *row, const struct line *line, size_t at, char separator, size_t *used)
{
    while (at < line->length && line->text[at] != separator)
        row->text[(*used)++] = line->text[at++];
    return at;
}

static int table_complain(const struct table *table, const struct line *line, const char *what, struct error *error)
{
    return error_set(error, "%.200s, line %" PRIu64 ": %s", table->lines.path, line->number, what);
}

static int take_fields(struct table *table, struct table_row *row, const struct line *line, struct error *error)
{
    size_t used = 0, at = 0;
    for (row->count = 0;; at++) {
        if (row->count == TABLE_COLUMNS_MAX)
            return error_set(error, "%.200s, line %" PRIu64 ": more than %d columns", table->lines.path, line->number,
                             TABLE_COLUMNS_MAX);
        size_t start = used;
        bool quoted = table->separator == ',' && at < line->length && line->text[at] == '"';
        at = quoted ? take_quoted(row, line, at, &used) : table_take_plain(row, line, at, table->separator, &used);
        if (at == SIZE_MAX)
            return table_complain(table, line, "quotes that do not end in it", error);
        if (at < line->length && line->text[at] != table->separator)
            return table_complain(table, line, "text behind the quotes of a field", error);
        row->fields[row->count++] = (struct table_field){start, used - start};
        if (at == line->length)
            return 0;
    }
}

static int table_cut(struct table *table, struct table_row *row, uint64_t i, struct error *error)
{
    struct line line;
    if (lines_get(&table->lines, i, &line, error) < 0)
        return -1;
    if (line.length + 1 > row->room) {
        free(row->text);
        row->room = 2 * line.length + 256;
        row->text = malloc(row->room);
        if (row->text == NULL) {
            row->room = 0;
            return table_complain(table, &line, "out of memory", error);
        }
    }
    if (memchr(line.text, '\0', line.length) != NULL)
        return table_complain(table, &line, "a NUL byte", error);
    if (take_fields(table, row, &line, error) < 0)
        return -1;
    if (row != &table->head && row->count != table->head.count)
        return error_set(error, "%.200s, line %" PRIu64 ": %u fields; accepted: %u, as the first line has",
                         table->lines.path, line.number, row->count, table->head.count);
    return 0;
}

static bool is_csv(const char *path)
{
    size_t length = strlen(path);
    return length >= 4 && strcmp(path + length - 4, ".csv") == 0;
}

static int check_head(const struct table *table, struct error *error)
{
    const struct table_row *head = &table->head;
    for (unsigned i = 0; i < head->count; i++) {
        const char *name = head->text + head->fields[i].start;
        int length = (int)head->fields[i].length;
        if (table_column(table, name, (size_t)length) < (int)i)
            return error_set(error, "%.200s: two columns are named '%.*s'", table->lines.path,
                             length < 60 ? length : 60, name);
    }
    return 0;
}

static int table_take_head(struct table *table, struct error *error)
{
    if (table->lines.count == 0)
        return error_set(error, "%.200s: it is empty; accepted: a first line that names the columns",
                         table->lines.path);
    table->rows = table->lines.count - 1;
    return table_cut(table, &table->head, 0, error) < 0 ? -1 : check_head(table, error);
}

int table_open(struct table *table, const char *path, struct error *error)
{
    *table = (struct table){.separator = is_csv(path) ? ',' : '\t', .at = UINT64_MAX};
    if (lines_open(&table->lines, path, LINES_OF_TABLE, error) < 0)
        return -1;
    if (table_take_head(table, error) == 0)
        return 0;
    table_close(table);
    return -1;
}

void table_close(struct table *table)
{
    lines_close(&table->lines);
    free(table->head.text);
    free(table->row.text);
    table->head.text = table->row.text = NULL;
}

int table_take(struct table *table, uint64_t i, struct error *error)
{
    if (table->at == i)
        return 0;
    table->at = UINT64_MAX;
    if (table_cut(table, &table->row, i + 1, error) < 0)
        return -1;
    table->at = i;
    return 0;
}

int table_column(const struct table *table, const char *name, size_t length)
{
    const struct table_row *head = &table->head;
    for (unsigned i = 0; i < head->count; i++)
        if (head->fields[i].length == length && memcmp(head->text + head->fields[i].start, name, length) == 0)
            return (int)i;
    return -1;
}
