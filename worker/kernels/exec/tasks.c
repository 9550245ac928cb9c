/* SPDX-License-Identifier: MIT */
/* Tasks: see tasks.h. */
#include "worker/kernels/exec/tasks.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT_MAX UINT64_C(1000000000000000)

static bool tasks_is_given(const char *text)
{
    return text[0] != '\0';
}

/* --- opening --- */

static int check_source(const struct tasks_source *source, struct error *error)
{
    bool list = tasks_is_given(source->list), command = tasks_is_given(source->command);
    if (list == command)
        return error_set(error, "accepted: tasks=FILE, or command=LINE with count=N or table=FILE%s",
                         list ? ", and not both" : "");
    if (list && source->count > 0)
        return error_set(error, "count=%" PRIu64 " goes with command=LINE; tasks=FILE has as many tasks as lines",
                         source->count);
    return 0;
}

/* A line serves all rows of the table; else each line has a row of its own. */
static int match_table(struct tasks *tasks, struct error *error)
{
    const struct tasks_source *source = &tasks->source;
    uint64_t rows = tasks->table.rows, lines = tasks_is_given(source->list) ? tasks->list.count : 1;
    tasks->count = source->count > 0 ? source->count : lines > 1 ? lines : rows;
    if (tasks->count == rows)
        return 0;
    if (source->count > 0)
        return error_set(error, "count=%" PRIu64 ", and %.200s has %" PRIu64 " rows; accepted: as many", source->count,
                         source->table, rows);
    return error_set(
        error, "%.150s has %" PRIu64 " tasks, and %.150s %" PRIu64 " rows; accepted: as many, or one task for all rows",
        source->list, lines, source->table, rows);
}

static int tasks_open_files(struct tasks *tasks, struct error *error)
{
    const struct tasks_source *source = &tasks->source;
    if (tasks_is_given(source->list)) {
        if (lines_open(&tasks->list, source->list, LINES_OF_TASKS, error) < 0)
            return -1;
        tasks->count = tasks->list.count;
        tasks->digest = tasks->list.digest;
    }
    if (!tasks_is_given(source->table))
        return 0;
    if (table_open(&tasks->table, source->table, error) < 0)
        return -1;
    tasks->digest = tasks->digest * 31 + tasks->table.lines.digest;
    return tasks->count == 0 && tasks_is_given(source->list) ? 0 : match_table(tasks, error);
}

int tasks_open(struct tasks *tasks, const struct tasks_source *source, struct error *error)
{
    *tasks = (struct tasks){.source = *source, .count = source->count > 0 ? source->count : 1};
    tasks->list.file = tasks->table.lines.file = -1;
    cmdline_init(&tasks->words);
    tasks_set_worker(tasks, 0, 0);
    if (check_source(source, error) == 0 && tasks_open_files(tasks, error) == 0)
        return 0;
    tasks_close(tasks);
    return -1;
}

void tasks_close(struct tasks *tasks)
{
    lines_close(&tasks->list);
    table_close(&tasks->table);
    cmdline_fini(&tasks->words);
}

void tasks_set_worker(struct tasks *tasks, unsigned rank, unsigned node)
{
    snprintf(tasks->rank, sizeof tasks->rank, "%u", rank);
    snprintf(tasks->node, sizeof tasks->node, "%u", node);
}

/* --- what is put in --- */

static bool tasks_is_name(const char *name, size_t length, const char *wanted)
{
    return strlen(wanted) == length && memcmp(name, wanted, length) == 0;
}

/* A name that was probably meant as a column, so that a slip of the pen does not go to a command as it stands. */
static bool looks_like_column(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_')
            return false;
    return length > 0;
}

static int tasks_find_column(const struct tasks *tasks, const char *name, size_t length)
{
    unsigned number = 0;
    int column = table_column(&tasks->table, name, length);
    if (column >= 0)
        return column;
    for (size_t i = 0; i < length && isdigit((unsigned char)name[i]) && number <= TABLE_COLUMNS_MAX; i++)
        number = 10 * number + (unsigned)(name[i] - '0');
    bool all_digits = length > 0 && length <= 4 && strspn(name, "0123456789") >= length;
    return all_digits && number >= 1 && number <= tasks->table.head.count ? (int)number - 1 : -1;
}

static int give(const char *text, size_t length, const char **value, size_t *value_length)
{
    *value = text;
    *value_length = length;
    return 1;
}

static int tasks_find_place(void *context, const char *name, size_t length, const char **value, size_t *value_length,
                            struct error *error)
{
    const struct tasks *tasks = context;
    if (tasks_is_name(name, length, "#") || (length == 0 && tasks->row == NULL))
        return give(tasks->number, strlen(tasks->number), value, value_length);
    if (length == 0)
        return give(tasks->row, tasks->row_length, value, value_length);
    int column = tasks->row != NULL ? tasks_find_column(tasks, name, length) : -1;
    if (column >= 0) {
        *value = table_field(&tasks->table, (unsigned)column, value_length);
        return 1;
    }
    if (tasks_is_name(name, length, "rank"))
        return give(tasks->rank, strlen(tasks->rank), value, value_length);
    if (tasks_is_name(name, length, "node"))
        return give(tasks->node, strlen(tasks->node), value, value_length);
    if (tasks->row == NULL || !looks_like_column(name, length))
        return 0;
    return error_set(
        error, "{%.*s}: %.150s has no such column; accepted: a name of its first line, 1 to %u, or \\{ for a brace",
        (int)(length < 60 ? length : 60), name, tasks->source.table, tasks->table.head.count);
}

/* --- the task at hand --- */

static int tasks_take_row(struct tasks *tasks, uint64_t i, struct error *error)
{
    struct line line;
    tasks->row = NULL;
    if (!tasks_is_given(tasks->source.table))
        return 0;
    if (table_take(&tasks->table, i, error) < 0 || lines_get(&tasks->table.lines, i + 1, &line, error) < 0)
        return -1;
    tasks->row = line.text;
    tasks->row_length = line.length;
    return 0;
}

/* The line of task i, and what stands before an error about it. */
static int tasks_take_line(struct tasks *tasks, uint64_t i, struct line *line, struct error *error)
{
    const char *command = tasks->source.command;
    if (!tasks_is_given(tasks->source.list)) {
        *line = (struct line){command, strlen(command), 0};
        return 0;
    }
    return lines_get(&tasks->list, tasks->list.count == 1 ? 0 : i, line, error);
}

static int tasks_complain(const struct tasks *tasks, const struct line *line, const struct error *inner,
                          struct error *error)
{
    if (line->number == 0)
        return error_set(error, "command: %s", inner->text);
    return error_set(error, "%.150s, line %" PRIu64 ": %s", tasks->source.list, line->number, inner->text);
}

int tasks_get(struct tasks *tasks, uint64_t i, struct error *error)
{
    const struct places places = {tasks_find_place, tasks};
    struct error inner;
    struct line line;
    snprintf(tasks->number, sizeof tasks->number, "%" PRIu64, i + 1);
    if (tasks_take_row(tasks, i, error) < 0 || tasks_take_line(tasks, i, &line, error) < 0)
        return -1;
    int result = tasks->source.shell ? cmdline_for_shell(&tasks->words, line.text, line.length, &places, &inner)
                                     : cmdline_split(&tasks->words, line.text, line.length, &places, &inner);
    if (result == 0 && tasks->words.count == tasks->words.assignments)
        result = error_set(&inner, "no command");
    return result < 0 ? tasks_complain(tasks, &line, &inner, error) : 0;
}

/* A line for all, without a table, is right for all if it is for one. */
int tasks_check(struct tasks *tasks, struct error *error)
{
    bool alike = !tasks_is_given(tasks->source.list) && !tasks_is_given(tasks->source.table);
    uint64_t count = alike && tasks->count > 1 ? 1 : tasks->count;
    for (uint64_t i = 0; i < count; i++)
        if (tasks_get(tasks, i, error) < 0)
            return -1;
    return 0;
}

/* --- showing --- */

struct show {
    char *text;
    size_t size, length;
};

static void show_char(struct show *show, char c)
{
    char escaped[5] = {c, '\0'};
    if ((unsigned char)c < 0x20 || c == 0x7f)
        snprintf(escaped, sizeof escaped, c == '\t' ? "\\t" : c == '\n' ? "\\n" : "\\x%02x", (unsigned char)c);
    for (const char *piece = escaped; *piece != '\0'; piece++)
        if (show->length + 1 < show->size)
            show->text[show->length++] = *piece;
        else
            show->size = 0; /* cut here */
}

static void show_word(struct show *show, const char *word, bool quoted)
{
    bool plain = !quoted || cmdline_is_plain(word);
    if (!plain)
        show_char(show, '\'');
    for (; *word != '\0'; word++)
        if (*word == '\'' && !plain)
            for (const char *piece = "'\\''"; *piece != '\0'; piece++)
                show_char(show, *piece);
        else
            show_char(show, *word);
    if (!plain)
        show_char(show, '\'');
}

const char *tasks_text(const struct tasks *tasks, char *text, size_t size)
{
    struct show show = {text, size, 0};
    const struct cmdline *words = &tasks->words;
    if (tasks->source.shell) {
        show_word(&show, cmdline_at(words, words->count - 1), false);
    } else {
        for (unsigned i = 0; i < words->count; i++) {
            if (i > 0)
                show_char(&show, ' ');
            show_word(&show, cmdline_at(words, i), true);
        }
    }
    text[show.length] = '\0';
    if (show.size == 0 && show.length >= 3)
        memcpy(text + show.length - 3, "...", 3);
    return text;
}
