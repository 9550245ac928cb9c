/* SPDX-License-Identifier: MIT */
/* Tables: see table.h. */
#include "worker/kernels/exec/table.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static size_t take_quoted(struct row *row, const struct line *line, size_t at, size_t *used)
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

static size_t table_take_plain(struct row *row, const struct line *line, size_t at, char separator, size_t *used)
{
    while (at < line->length && line->text[at] != separator)
        row->text[(*used)++] = line->text[at++];
    return at;
}

static int table_complain(const struct table *table, const struct line *line, const char *what, struct error *error)
{
    return error_set(error, "%.200s, line %" PRIu64 ": %s", table->lines.path, line->number, what);
}

static int table_complain_of_memory(const struct table *table, const struct line *line, struct error *error)
{
    return table_complain(table, line, "out of memory", error);
}

static int take_fields(struct table *table, struct row *row, const struct line *line, struct error *error)
{
    size_t used = 0, at = 0;
    if (row_begin(row, line->length) < 0)
        return table_complain_of_memory(table, line, error);
    for (;; at++) {
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
        if (row_add(row, start, used - start) < 0)
            return table_complain_of_memory(table, line, error);
        if (at == line->length)
            return 0;
    }
}

static int table_cut(struct table *table, struct row *row, uint64_t i, struct error *error)
{
    struct line line;
    if (lines_get(&table->lines, i, &line, error) < 0)
        return -1;
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

static int check_names(const struct table *table, struct error *error)
{
    const struct row *head = &table->head;
    for (unsigned i = 0; i < head->count; i++) {
        const struct piece *name = &head->fields[i];
        if (row_find(head, name->text, name->length) < (int)i)
            return error_set(error, "%.200s: two columns are named '%.*s'", table->lines.path,
                             (int)(name->length < 60 ? name->length : 60), name->text);
    }
    return 0;
}

static bool is_value(const char *text)
{
    struct stat status;
    char *end = (char *)text;
    if (strchr("+-.0123456789", text[0]) != NULL)
        strtod(text, &end);
    return (end > text && *end == '\0') || (stat(text, &status) == 0 && S_ISREG(status.st_mode));
}

static bool looks_like_value(const struct row *head, const struct piece *field)
{
    char text[256];
    if (field->length >= sizeof text)
        return true;
    memcpy(text, field->text, field->length);
    text[field->length] = '\0';
    return is_value(text) || (head->count == 1 && strpbrk(text, "/. \t") != NULL);
}

static int check_no_row_is_lost(const struct table *table, struct error *error)
{
    const struct row *head = &table->head;
    for (unsigned i = 0; i < head->count; i++) {
        const struct piece *field = &head->fields[i];
        if (looks_like_value(head, field))
            return error_set(error,
                             "%.150s: '%.*s' in its first line looks like a value, not like the name of a column; "
                             "accepted: header=no where it is a row, header=yes where it names the columns",
                             table->lines.path, (int)(field->length < 60 ? field->length : 60), field->text);
    }
    return 0;
}

static int table_take_head(struct table *table, enum table_header header, struct error *error)
{
    table->is_named = header != TABLE_HEADER_NO;
    if (table->lines.count == 0)
        return !table->is_named ? 0
                                : error_set(error, "%.200s: it is empty; accepted: a first line that names the columns",
                                            table->lines.path);
    table->rows = table->lines.count - table->is_named;
    if (table_cut(table, &table->head, 0, error) < 0)
        return -1;
    if (!table->is_named)
        return 0;
    if (header == TABLE_HEADER_AUTO && check_no_row_is_lost(table, error) < 0)
        return -1;
    return check_names(table, error);
}

int table_open(struct table *table, const char *path, enum table_header header, struct error *error)
{
    *table = (struct table){.separator = is_csv(path) ? ',' : '\t', .at = UINT64_MAX};
    if (lines_open(&table->lines, path, is_csv(path) ? LINES_OF_CSV : LINES_OF_TABLE, error) < 0)
        return -1;
    if (table_take_head(table, header, error) == 0)
        return 0;
    table_close(table);
    return -1;
}

void table_close(struct table *table)
{
    lines_close(&table->lines);
    row_fini(&table->head);
    row_fini(&table->row);
}

int table_take(struct table *table, uint64_t i, struct error *error)
{
    if (table->at == i)
        return 0;
    table->at = UINT64_MAX;
    if (table_cut(table, &table->row, i + table->is_named, error) < 0)
        return -1;
    table->at = i;
    return 0;
}

int table_line(struct table *table, uint64_t i, struct line *line, struct error *error)
{
    return lines_get(&table->lines, i + table->is_named, line, error);
}
