/* SPDX-License-Identifier: MIT */
/* Lists: see list.h. */
#include "worker/kernels/exec/list.h"

#include "common/util/row_escape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#define ORDER_DIGITS 18
#define WAIT_MAX_MS  10000
#define WAIT_LOOK_MS 20

static int list_complain(const struct list *list, const struct line *line, const char *what, struct error *error)
{
    return error_set(error, "%.200s, line %" PRIu64 ": %s", list->lines.path, line->number, what);
}

static size_t take_field(struct list *list, struct row *row, const struct line *line, size_t at, size_t *used,
                         struct error *error)
{
    for (; at < line->length && line->text[at] != '\t'; at++) {
        char c = line->text[at];
        if (c == '\\') {
            c = ++at < line->length ? row_unescape(line->text[at]) : '\0';
            if (c == '\0') {
                list_complain(list, line, "a backslash; accepted: \\t, \\n, \\r and \\\\, and \\. as the last line",
                              error);
                return SIZE_MAX;
            }
        }
        row->text[(*used)++] = c;
    }
    return at;
}

static size_t take_order(struct list *list, const struct line *line, uint64_t i, struct error *error)
{
    uint64_t order = 0;
    size_t at = 2;
    list->order = i;
    if (i == 0 || line->length < at || line->text[0] != '\\' || line->text[1] != '#')
        return 0;
    for (; at < line->length && at < ORDER_DIGITS && line->text[at] >= '0' && line->text[at] <= '9'; at++)
        order = 10 * order + (uint64_t)(line->text[at] - '0');
    if (order > 0 && at < line->length && line->text[at] == '\t') {
        list->order = order;
        return at + 1;
    }
    list_complain(list, line, "\\# begins the number of a task; accepted: \\#N and a tab", error);
    return SIZE_MAX;
}

static int list_cut(struct list *list, struct row *row, uint64_t i, struct error *error)
{
    struct line line;
    size_t used = 0;
    list->is_wrong = false;
    if (lines_get(&list->lines, i, &line, error) < 0)
        return -1;
    list->is_wrong = true;
    if (memchr(line.text, '\0', line.length) != NULL)
        return list_complain(list, &line, "a NUL byte", error);
    if (row_begin(row, line.length) < 0)
        return list_complain(list, &line, "out of memory", error);
    size_t at = take_order(list, &line, i, error);
    if (at == SIZE_MAX)
        return -1;
    do {
        size_t start = used;
        at = take_field(list, row, &line, at, &used, error);
        if (at == SIZE_MAX)
            return -1;
        if (row_add(row, start, used - start) < 0)
            return list_complain(list, &line, "out of memory", error);
    } while (at++ < line.length);
    list->is_wrong = false;
    return 0;
}

static int list_take_head(struct list *list, struct error *error)
{
    struct line line;
    char number[12];
    if (list->lines.count == 0)
        return error_set(error, "%.200s: it is empty; accepted: a first line that names the columns", list->lines.path);
    if (list_cut(list, &list->head, 0, error) < 0 || lines_get(&list->lines, 0, &line, error) < 0)
        return -1;
    list->title = XXH3_64bits(line.text, line.length);
    list->rows = list->lines.count - 1;
    for (unsigned i = 0; i < list->head.count; i++) {
        snprintf(number, sizeof number, "%u", i + 1);
        list->is_named |= row_find(&list->head, number, strlen(number)) != (int)i;
    }
    return 0;
}

static int put_field(struct list *list, struct row *row, struct piece field, struct error *error)
{
    if (row_add(row, 0, 0) < 0)
        return error_set(error, "%.200s: out of memory", list->lines.path);
    row->fields[row->count - 1] = field;
    return 0;
}

int list_begin(struct list *list, const char *path, const struct piece *names, unsigned count, unsigned columns,
               struct error *error)
{
    int result = 0;
    *list = (struct list){.lines = {.path = path, .file = -1}, .is_named = count > 0};
    for (unsigned i = 0; result == 0 && i < columns; i++)
        result = put_field(list, &list->head, i < count ? names[i] : (struct piece){"", 0}, error);
    return result;
}

int list_give(struct list *list, uint64_t order, const struct piece *fields, unsigned count, struct error *error)
{
    int result = 0;
    list->row.count = 0;
    for (unsigned i = 0; result == 0 && i < count; i++)
        result = memchr(fields[i].text, '\0', fields[i].length) == NULL
                     ? put_field(list, &list->row, fields[i], error)
                     : error_set(error, "%.200s: a NUL byte", list->lines.path);
    list->order = order;
    return result;
}

int list_open(struct list *list, const char *path, struct error *error)
{
    *list = (struct list){.at = UINT64_MAX};
    if (lines_open(&list->lines, path, LINES_OF_LIST, error) < 0)
        return -1;
    if (list_take_head(list, error) == 0)
        return 0;
    list_close(list);
    return -1;
}

void list_close(struct list *list)
{
    lines_close(&list->lines);
    row_fini(&list->head);
    row_fini(&list->row);
}

int list_extend(struct list *list, struct error *error)
{
    if (lines_extend(&list->lines, error) < 0)
        return -1;
    list->rows = list->lines.count - 1;
    return 0;
}

static int wait_for_row(struct list *list, uint64_t i, struct error *error)
{
    const struct timespec pause = {.tv_nsec = WAIT_LOOK_MS * 1000000};
    for (unsigned waited_ms = 0;; waited_ms += WAIT_LOOK_MS) {
        if (list_extend(list, error) < 0)
            return -1;
        if (i < list->rows)
            return 0;
        if (list_is_complete(list) || waited_ms >= WAIT_MAX_MS)
            return error_set(error, "%.200s: it has no line %" PRIu64 " for task %" PRIu64, list->lines.path, i + 2,
                             i + 1);
        nanosleep(&pause, NULL);
        lines_reopen(&list->lines);
    }
}

int list_take(struct list *list, uint64_t i, struct error *error)
{
    if (list->at == i)
        return 0;
    list->at = UINT64_MAX;
    list->is_wrong = false;
    if ((i >= list->rows && wait_for_row(list, i, error) < 0) || list_cut(list, &list->row, i + 1, error) < 0)
        return -1;
    list->at = i;
    return 0;
}
