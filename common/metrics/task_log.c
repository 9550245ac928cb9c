/* SPDX-License-Identifier: MIT */
/* Reading task logs: see task_log.h. */
#include "common/metrics/task_log.h"

#include "common/util/number.h"

#include <string.h>

enum { COLUMNS_BEFORE = 8, COLUMNS_BEHIND = 8 };
enum { NUMBER, HOST, STARTED, RUNTIME, SEND, RECEIVED, EXIT, SIGNAL };
enum { WORKER, NODE, CPU, PEAK, TRIES, END, OUT, ERR };

#define NUMBER_ROOM 40

static bool is_line(const char *line, size_t length, const char *expected)
{
    return length == strlen(expected) && memcmp(line, expected, length) == 0;
}

enum task_log task_log_kind(const char *line, size_t length)
{
    return is_line(line, length, TASK_LOG_COMMON)    ? TASK_LOG_PARALLEL
           : is_line(line, length, TASK_LOG_HEADING) ? TASK_LOG_HDSS
                                                     : TASK_LOG_NONE;
}

/* Copies the text without the leading blanks that GNU parallel writes. */
static void number_text(struct task_text text, char number[NUMBER_ROOM])
{
    while (text.length > 0 && *text.at == ' ') {
        text.at++;
        text.length--;
    }
    size_t length = text.length < NUMBER_ROOM ? text.length : 0;
    if (length > 0)
        memcpy(number, text.at, length);
    number[length] = '\0';
}

static bool read_unsigned(struct task_text text, uint64_t *value)
{
    char number[NUMBER_ROOM];
    number_text(text, number);
    return number_parse_u64(number, value) == 0;
}

static bool read_signed(struct task_text text, int64_t *value)
{
    char number[NUMBER_ROOM];
    number_text(text, number);
    return number_parse_i64(number, value) == 0;
}

static bool read_real(struct task_text text, double *value)
{
    char number[NUMBER_ROOM];
    number_text(text, number);
    return number_parse_real(number, value) == 0;
}

static bool cut_before(struct task_text *line, struct task_text *fields, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const char *tab = line->length > 0 ? memchr(line->at, '\t', line->length) : NULL;
        if (tab == NULL)
            return false;
        fields[i] = (struct task_text){line->at, (size_t)(tab - line->at)};
        line->length -= fields[i].length + 1;
        line->at = tab + 1;
    }
    return true;
}

static bool cut_behind(struct task_text *line, struct task_text *fields, unsigned count)
{
    for (unsigned i = count; i-- > 0;) {
        const char *tab = line->length > 0 ? memrchr(line->at, '\t', line->length) : NULL;
        if (tab == NULL)
            return false;
        fields[i] = (struct task_text){tab + 1, line->length - (size_t)(tab - line->at) - 1};
        line->length = (size_t)(tab - line->at);
    }
    return true;
}

static bool read_behind(struct task_row *row, struct task_text *line)
{
    struct task_text fields[COLUMNS_BEHIND];
    if (!cut_behind(line, fields, COLUMNS_BEHIND))
        return false;
    row->end = fields[END];
    return read_unsigned(fields[WORKER], &row->worker) && read_unsigned(fields[NODE], &row->node) &&
           read_real(fields[CPU], &row->cpu_s) && read_unsigned(fields[PEAK], &row->peak_kib) &&
           read_unsigned(fields[TRIES], &row->tries) && read_unsigned(fields[OUT], &row->out) &&
           read_unsigned(fields[ERR], &row->err);
}

bool task_row_read(struct task_row *row, enum task_log kind, const char *line, size_t length)
{
    struct task_text rest = {line, length}, fields[COLUMNS_BEFORE];
    *row = (struct task_row){0};
    if (kind == TASK_LOG_NONE || !cut_before(&rest, fields, COLUMNS_BEFORE))
        return false;
    row->host = fields[HOST];
    if (!read_unsigned(fields[NUMBER], &row->number) || row->number == 0 ||
        !read_real(fields[STARTED], &row->started_s) || !read_real(fields[RUNTIME], &row->runtime_s) ||
        !read_unsigned(fields[RECEIVED], &row->received) || !read_signed(fields[EXIT], &row->exit) ||
        !read_signed(fields[SIGNAL], &row->signal))
        return false;
    if (kind == TASK_LOG_HDSS && !read_behind(row, &rest))
        return false;
    row->command = rest;
    return true;
}

bool task_text_is(struct task_text text, const char *word)
{
    return text.length == strlen(word) && (text.length == 0 || memcmp(text.at, word, text.length) == 0);
}

bool task_row_failed(const struct task_row *row)
{
    return row->exit != 0 || row->signal != 0 || (row->end.length > 0 && !task_text_is(row->end, "exit"));
}
