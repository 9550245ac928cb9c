/* SPDX-License-Identifier: MIT */
/* Items from JSON: see items_json.h. jansson accepts only UTF-8 without NUL, so each text is a C string. */
#include "common/control/items_json.h"

#include "common/util/row_escape.h"

#include <stdlib.h>
#include <string.h>

static int make_room(struct items *items, size_t *room, size_t length, struct error *error)
{
    const size_t needed = items->bytes + 2 * length + 1;
    if (needed <= *room)
        return 0;
    char *text = realloc(items->text, 2 * needed);
    if (text == NULL)
        return error_set(error, "out of memory");
    items->text = text;
    *room = 2 * needed;
    return 0;
}

static int add_field(struct items *items, size_t *room, const json_t *value, char end, struct error *error)
{
    const char *text = json_string_value(value);
    if (text == NULL)
        return error_set(error, "row %llu of 'rows' is neither a text nor a list of texts",
                         (unsigned long long)items->rows + 1);
    if (make_room(items, room, strlen(text), error) < 0)
        return -1;
    for (; *text != '\0'; text++) {
        const char letter = row_escape(*text);
        if (letter != '\0')
            items->text[items->bytes++] = '\\';
        items->text[items->bytes++] = letter != '\0' ? letter : *text;
    }
    items->text[items->bytes++] = end;
    return 0;
}

static int add_row(struct items *items, size_t *room, const json_t *row, struct error *error)
{
    const size_t count = json_array_size(row);
    if (!json_is_array(row))
        return add_field(items, room, row, '\n', error);
    if (count == 0 || count > ITEMS_FIELDS_MAX)
        return error_set(error, "row %llu of 'rows' has %zu fields; accepted: 1 to %d",
                         (unsigned long long)items->rows + 1, count, ITEMS_FIELDS_MAX);
    for (size_t i = 0; i < count; i++)
        if (add_field(items, room, json_array_get(row, i), i + 1 < count ? '\t' : '\n', error) < 0)
            return -1;
    return 0;
}

static int read_rows(struct items *items, const json_t *value, struct error *error)
{
    const size_t count = json_array_size(value);
    size_t room = 0;
    if (!json_is_array(value))
        return error_set(error, "'rows' is no list of rows");
    items->has_rows = true;
    for (; items->rows < count; items->rows++)
        if (add_row(items, &room, json_array_get(value, (size_t)items->rows), error) < 0)
            return -1;
    return 0;
}

static int read_iterations(struct items *items, const char *name, const json_t *value, struct error *error)
{
    const json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || number > ITEMS_AT_ONCE_MAX)
        return error_set(error, "'%s' is no integer from 0 to %lld", name, (long long)ITEMS_AT_ONCE_MAX);
    if (items->has_iterations)
        return error_set(error, "a job takes either 'iterations' or 'total'");
    items->has_iterations = true;
    items->is_total = strcmp(name, "total") == 0;
    items->iterations = (uint64_t)number;
    return 0;
}

static int read_end(struct items *items, const json_t *value, struct error *error)
{
    items->ends = json_is_true(value);
    return json_is_boolean(value) ? 0 : error_set(error, "'end' is neither true nor false");
}

static int read_field(struct items *items, const char *name, const json_t *value, struct error *error)
{
    if (strcmp(name, "rows") == 0)
        return read_rows(items, value, error);
    if (strcmp(name, "iterations") == 0 || strcmp(name, "total") == 0)
        return read_iterations(items, name, value, error);
    if (strcmp(name, "end") == 0)
        return read_end(items, value, error);
    return error_set(error, "the field '%.100s' is unknown; accepted: rows, iterations, total, end", name);
}

int items_read(struct items *items, const json_t *object, struct error *error)
{
    const char *name;
    json_t *value;
    int result = 0;
    *items = (struct items){0};
    if (!json_is_object(object))
        return error_set(error, "what is added is no object");
    json_object_foreach((json_t *)object, name, value) if (result == 0) result = read_field(items, name, value, error);
    if (result == 0 && items->has_rows && items->has_iterations)
        result = error_set(error, "a job takes either 'rows' or 'iterations'");
    if (result < 0)
        items_fini(items);
    return result;
}

void items_fini(struct items *items)
{
    free(items->text);
    *items = (struct items){0};
}
