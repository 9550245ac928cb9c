/* SPDX-License-Identifier: MIT */
/* Tables of texts: see csv.h. */
#include "deploy/cli/study/csv.h"
#include "common/util/grow.h"

#include <stdlib.h>
#include <string.h>

void csv_fini(struct csv *csv)
{
    argv_fini(&csv->columns);
    for (size_t i = 0; i < csv->count; i++)
        argv_fini(&csv->rows[i]);
    free(csv->rows);
    *csv = (struct csv){0};
}

size_t csv_add(struct csv *csv)
{
    struct argv *rows = grow(csv->rows, csv->count, &csv->capacity, sizeof *rows);
    csv->failed = csv->failed || rows == NULL;
    if (rows == NULL)
        return csv->count;
    csv->rows = rows;
    csv->rows[csv->count] = (struct argv){0};
    return csv->count++;
}

static unsigned csv_table_find_column(const struct csv *csv, const char *column)
{
    unsigned i = 0;
    while (i < csv->columns.count && strcmp(csv->columns.items[i], column) != 0)
        i++;
    return i;
}

static void set_word(struct argv *row, unsigned column, const char *value)
{
    while (row->count <= column && !row->failed)
        argv_add(row, "");
    char *copy = row->failed ? NULL : strdup(value);
    row->failed = row->failed || copy == NULL;
    if (copy == NULL)
        return;
    free(row->items[column]);
    row->items[column] = copy;
}

void csv_set(struct csv *csv, size_t row, const char *column, const char *value)
{
    unsigned place = csv_table_find_column(csv, column);
    if (csv->failed || row >= csv->count)
        return;
    if (place == csv->columns.count)
        argv_add(&csv->columns, column);
    csv->failed = csv->columns.failed;
    if (csv->failed)
        return;
    set_word(&csv->rows[row], place, value);
    csv->failed = csv->rows[row].failed;
}

const char *csv_get(const struct csv *csv, size_t row, const char *column)
{
    unsigned place = csv_table_find_column(csv, column);
    return place < csv->rows[row].count ? csv->rows[row].items[place] : "";
}

void csv_remove(struct csv *csv, size_t row)
{
    argv_fini(&csv->rows[row]);
    csv->count--;
    memmove(csv->rows + row, csv->rows + row + 1, (csv->count - row) * sizeof *csv->rows);
}

struct reader {
    const char *at;
    unsigned line;
};

/* At least as long as the field is without its quotes. */
static size_t field_size(const char *at)
{
    size_t size = 1;
    bool quoted = *at == '"';
    for (at += quoted; *at != '\0' && (quoted || (*at != ',' && *at != '\n')); at++, size++) {
        if (!quoted || *at != '"')
            continue;
        if (at[1] != '"')
            break;
        at++;
    }
    return size;
}

/* Reads a field, without its quotes. NULL where a quote is not closed, or memory is out. */
static char *read_field(struct reader *reader)
{
    bool quoted = *reader->at == '"';
    char *field = malloc(field_size(reader->at)), *end = field;
    if (field == NULL)
        return NULL;
    for (reader->at += quoted; *reader->at != '\0'; reader->at++) {
        char c = *reader->at;
        if (quoted && c == '"' && reader->at[1] == '"')
            reader->at++;
        else if (quoted ? c == '"' : c == ',' || c == '\n')
            break;
        reader->line += c == '\n';
        *end++ = c;
    }
    if (!quoted && end > field && end[-1] == '\r')
        end--;
    *end = '\0';
    if (!quoted)
        return field;
    bool closed = *reader->at == '"';
    reader->at += closed;
    reader->at += *reader->at == '\r';
    if (closed && (*reader->at == ',' || *reader->at == '\n' || *reader->at == '\0'))
        return field;
    free(field);
    return NULL;
}

/* The fields of a line. */
static int csv_table_read_line(struct reader *reader, struct argv *fields)
{
    for (;;) {
        char *field = read_field(reader);
        if (field == NULL)
            return -1;
        argv_add(fields, field);
        free(field);
        if (*reader->at != ',')
            break;
        reader->at++;
    }
    reader->at += *reader->at == '\n';
    return fields->failed ? -1 : 0;
}

static int check_columns(const struct argv *columns, const char *name, struct error *error)
{
    for (unsigned i = 0; i < columns->count; i++)
        for (unsigned k = 0; k < i; k++)
            if (strcmp(columns->items[i], columns->items[k]) == 0)
                return error_set(error, "%.150s, line 1: two columns are called '%.100s'", name, columns->items[i]);
    return 0;
}

static int read_rows(struct csv *csv, struct reader *reader, const char *name, struct error *error)
{
    while (*reader->at != '\0') {
        unsigned line = reader->line;
        size_t row = csv_add(csv);
        if (csv->failed || csv_table_read_line(reader, &csv->rows[row]) < 0)
            return error_set(error, "%.150s, line %u: no row of a CSV file: a quote is not where it may be", name,
                             line);
        if (csv->rows[row].count != csv->columns.count)
            return error_set(error, "%.150s, line %u: %u fields, where the first line names %u", name, line,
                             csv->rows[row].count, csv->columns.count);
        reader->line++;
    }
    return 0;
}

int csv_parse(struct csv *csv, const char *name, const char *text, struct error *error)
{
    struct reader reader = {text, 2};
    *csv = (struct csv){0};
    if (*text == '\0')
        return 0;
    if (csv_table_read_line(&reader, &csv->columns) < 0)
        return error_set(error, "%.150s, line 1: no row of a CSV file: a quote is not where it may be", name);
    if (check_columns(&csv->columns, name, error) < 0)
        return -1;
    return read_rows(csv, &reader, name, error);
}

static void write_field(const char *field, FILE *file)
{
    if (strpbrk(field, ",\"\n\r") == NULL) {
        fputs(field, file);
        return;
    }
    putc('"', file);
    for (; *field != '\0'; field++) {
        if (*field == '"')
            putc('"', file);
        putc(*field, file);
    }
    putc('"', file);
}

static void csv_table_write_row(const struct argv *row, unsigned columns, FILE *file)
{
    for (unsigned i = 0; i < columns; i++) {
        if (i > 0)
            putc(',', file);
        write_field(i < row->count ? row->items[i] : "", file);
    }
    putc('\n', file);
}

char *csv_text(const struct csv *csv, size_t *length)
{
    char *text = NULL;
    FILE *file = csv->failed ? NULL : open_memstream(&text, length);
    if (file == NULL)
        return NULL;
    if (csv->columns.count > 0)
        csv_table_write_row(&csv->columns, csv->columns.count, file);
    for (size_t i = 0; i < csv->count; i++)
        csv_table_write_row(&csv->rows[i], csv->columns.count, file);
    bool failed = ferror(file);
    if (fclose(file) == 0 && !failed)
        return text;
    free(text);
    return NULL;
}
