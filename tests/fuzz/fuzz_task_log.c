/* SPDX-License-Identifier: MIT */
/* task_log_kind() and task_row_read(): a first line, which says the columns, and lines behind it. What a row has lies
 * within its line, and what is told of it is lines of the width that is asked for, with nothing that a terminal would
 * obey. */
#include "tests/fuzz/fuzz.h"
#include "common/metrics/reasons.h"
#include "common/metrics/task_log.h"
#include "common/util/text.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 60 };

static void require_within(struct task_text text, const char *line, size_t length)
{
    REQUIRE(text.length == 0 || (text.at >= line && text.at + text.length <= line + length));
}

static void take_row(const struct task_row *row, const char *line, size_t length, struct reasons *reasons)
{
    char told[REASON_LINE_MAX] = "", ended[REASON_END_MAX];
    REQUIRE(row->number > 0);
    require_within(row->host, line, length);
    require_within(row->command, line, length);
    require_within(row->end, line, length);
    REQUIRE(strlen(reasons_end_text(row, ended)) < REASON_END_MAX);
    reasons_line(told, row, "an error", WIDTH);
    require_one_line(told);
    if (task_row_failed(row))
        reasons_add(reasons, row, line, length);
}

/* Each line is told in one or two. */
static void require_told(const struct reasons *reasons)
{
    struct text text;
    unsigned lines = 0, columns = 0;
    text_init(&text);
    reasons_add_text(reasons, &text, "first ", "      ", WIDTH);
    for (const char *c = text.data; c != NULL && *c != '\0'; c++) {
        REQUIRE(*c == '\n' || ((unsigned char)*c >= ' ' && *c != 0x7f));
        lines += *c == '\n';
        columns = *c == '\n' ? 0 : columns + (((unsigned char)*c & 0xc0) != 0x80);
        REQUIRE(columns <= WIDTH);
    }
    REQUIRE(lines <= 2 * REASONS_SHOWN + 1);
    text_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct reasons reasons = {0};
    struct task_row row;
    enum task_log kind = TASK_LOG_NONE;
    for (size_t at = 0; at < size;) {
        const uint8_t *newline = memchr(bytes + at, '\n', size - at);
        const size_t length = newline != NULL ? (size_t)(newline - bytes) - at : size - at;
        char *line = malloc(length + 1); /* as long as it must be, so that a step beyond it is seen */
        REQUIRE(line != NULL);
        memcpy(line, bytes + at, length);
        if (at == 0)
            kind = task_log_kind(line, length);
        else if (task_row_read(&row, kind, line, length))
            take_row(&row, line, length, &reasons);
        free(line);
        at += length + 1;
    }
    reasons_sort(&reasons);
    require_told(&reasons);
    return 0;
}
