/* SPDX-License-Identifier: MIT */
/* The tasks that an earlier run has finished: see earlier.h. Commands are kept as digests, so that millions of tasks
 * take little memory. */
#include "deploy/cli/earlier.h"

#include "common/util/digest.h"
#include "common/util/grow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* GNU parallel quotes commands in its log differently from HDSS. So quotes and backslashes are left out of both texts
 * before they are compared. That log has a NUL in the place of a newline. HDSS has \n there, of which only the n is
 * left, so a NUL counts as n. */
static uint64_t digest_command(enum task_log kind, const char *text, size_t length)
{
    char plain[TASKS_TEXT_MAX];
    size_t used = 0;
    for (size_t i = 0; i < length && used < sizeof plain; i++)
        if (kind != TASK_LOG_PARALLEL || text[i] == '\0' || strchr("'\"\\", text[i]) == NULL)
            plain[used++] = kind == TASK_LOG_PARALLEL && text[i] == '\0' ? 'n' : text[i];
    return digest_record(0, plain, used) | 1;
}

static int earlier_no_memory(const struct earlier *earlier, struct error *error)
{
    return error_set(error, "%.200s: out of memory for its tasks", earlier->log);
}

static int earlier_take_line(struct earlier *earlier, const char *line, size_t length, uint64_t number,
                             struct error *error)
{
    struct task_row row;
    if (!task_row_read(&row, earlier->kind, line, length))
        return error_set(error, "%.200s, line %" PRIu64 ": no line of a task log", earlier->log, number);
    struct earlier_task *grown = grow(earlier->tasks_done, earlier->count, &earlier->capacity, sizeof *grown);
    if (grown == NULL)
        return earlier_no_memory(earlier, error);
    const bool has_failed = task_row_failed(&row), again = earlier->again_failed && has_failed;
    earlier->tasks_done = grown;
    earlier->tasks_done[earlier->count++] =
        (struct earlier_task){.number = row.number,
                              .line = number,
                              .has_failed = has_failed,
                              .digest = again ? 0 : digest_command(earlier->kind, row.command.at, row.command.length)};
    return 0;
}

static int compare_tasks(const void *one, const void *other)
{
    const struct earlier_task *a = one, *b = other;
    return a->number != b->number ? (a->number > b->number) - (a->number < b->number)
                                  : (a->line > b->line) - (a->line < b->line);
}

static void sort_tasks(struct earlier *earlier)
{
    size_t kept = 0;
    if (earlier->count > 1)
        qsort(earlier->tasks_done, earlier->count, sizeof *earlier->tasks_done, compare_tasks);
    for (size_t i = 0; i < earlier->count; i++)
        if (i + 1 == earlier->count || earlier->tasks_done[i + 1].number != earlier->tasks_done[i].number)
            earlier->tasks_done[kept++] = earlier->tasks_done[i];
    earlier->count = kept;
}

size_t earlier_failed(const struct earlier *earlier)
{
    size_t failed = 0;
    for (size_t i = 0; i < earlier->count; i++)
        failed += earlier->tasks_done[i].has_failed;
    return failed;
}

static uint64_t digest_of(const struct earlier *earlier, uint64_t number)
{
    size_t from = 0;
    for (size_t to = earlier->count; from < to;) {
        const size_t middle = from + (to - from) / 2;
        if (earlier->tasks_done[middle].number < number)
            from = middle + 1;
        else
            to = middle;
    }
    return from < earlier->count && earlier->tasks_done[from].number == number ? earlier->tasks_done[from].digest : 0;
}

bool earlier_has(const struct earlier *earlier, uint64_t number)
{
    return digest_of(earlier, number) != 0;
}

static int read_lines(struct earlier *earlier, FILE *file, struct error *error)
{
    char *line = NULL;
    size_t room = 0;
    int result = 0;
    uint64_t number = 0;
    for (ssize_t length; result == 0 && (length = getline(&line, &room, file)) > 0 && line[length - 1] == '\n';) {
        if (number++ == 0)
            earlier->kind = task_log_kind(line, (size_t)length - 1);
        else
            result = earlier_take_line(earlier, line, (size_t)length - 1, number, error);
        if (earlier->kind == TASK_LOG_NONE)
            result = error_set(error, "%.200s: is there, and is no task log", earlier->log);
    }
    free(line);
    return result;
}

int earlier_read(struct earlier *earlier, const char *log, bool again_failed, const struct tasks_source *source,
                 struct error *error)
{
    *earlier = (struct earlier){.log = log, .again_failed = again_failed, .source = *source};
    earlier->source.list = "the list of arguments";
    FILE *file = fopen(log, "re");
    if (file == NULL && errno == ENOENT)
        return 0;
    if (file == NULL)
        return error_set(error, "%.200s: %s", log, strerror(errno));
    int result = read_lines(earlier, file, error);
    sort_tasks(earlier);
    fclose(file);
    return result;
}

void earlier_fini(struct earlier *earlier)
{
    if (earlier->is_open)
        tasks_close(&earlier->tasks);
    free(earlier->tasks_done);
    *earlier = (struct earlier){0};
}

static bool depends_on_worker(const char *command)
{
    return strstr(command, "{%}") != NULL || strstr(command, "{rank}") != NULL || strstr(command, "{node}") != NULL;
}

static int find_line(const struct earlier *earlier, uint64_t task, char command[200], uint64_t *number)
{
    struct task_row row;
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(earlier->log, "re");
    *number = 0;
    if (file == NULL)
        return -1;
    uint64_t at = 1;
    for (ssize_t length; (length = getline(&line, &room, file)) > 0; at++)
        if (at > 1 && task_row_read(&row, earlier->kind, line, (size_t)length - 1) && row.number == task) {
            snprintf(command, 200, "%.*s", (int)row.command.length, row.command.at);
            *number = at;
        }
    free(line);
    fclose(file);
    return *number > 0 ? 0 : -1;
}

static int refuse_change(const struct earlier *earlier, uint64_t task, const char *text, struct error *error)
{
    char command[200];
    uint64_t number;
    if (find_line(earlier, task, command, &number) < 0)
        return error_set(error, "%.200s: has changed while it was read", earlier->log);
    return error_set(error,
                     "%.200s, line %" PRIu64 ": task %" PRIu64
                     " was `%.120s`, and is now `%.120s`; accepted: the commands that the log has, or another log",
                     earlier->log, number, task, command, text);
}

static int open_tasks(struct earlier *earlier, const struct arguments *names, unsigned fields, struct error *error)
{
    struct tasks_source *source = &earlier->source;
    source->names = names->fields;
    source->name_count = names->count;
    source->columns = fields > names->count ? fields : names->count;
    earlier->is_open = tasks_open(&earlier->tasks, source, error) == 0;
    return earlier->is_open ? 0 : -1;
}

int earlier_compare(struct earlier *earlier, uint64_t number, const struct arguments *names,
                    const struct arguments *row, struct error *error)
{
    char text[TASKS_TEXT_MAX];
    struct tasks *tasks = &earlier->tasks;
    if (depends_on_worker(earlier->source.command))
        return 0;
    if ((!earlier->is_open && open_tasks(earlier, names, row->count, error) < 0) ||
        list_give(&tasks->list, number, row->fields, row->count, error) < 0 || tasks_get(tasks, 0, error) < 0)
        return -1;
    tasks_text(tasks, text, sizeof text);
    return digest_of(earlier, number) == digest_command(earlier->kind, text, strlen(text))
               ? 0
               : refuse_change(earlier, number, text, error);
}
