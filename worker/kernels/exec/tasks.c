/* SPDX-License-Identifier: MIT */
/* Tasks: see tasks.h. */
#include "worker/kernels/exec/tasks.h"
#include "worker/kernels/exec/replace.h"
#include "worker/kernels/exec/shell.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool tasks_is_given(const char *text)
{
    return text[0] != '\0';
}

static bool tasks_is_name(const char *name, size_t length, const char *wanted)
{
    return strlen(wanted) == length && memcmp(name, wanted, length) == 0;
}

/* True if the name was probably meant to be the name of a column. A misspelled name of a column must not become part of
 * the command. */
static bool looks_like_column(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_')
            return false;
    return length > 0;
}

static const struct row *names_of(const struct tasks *tasks)
{
    if (tasks_is_given(tasks->source.list))
        return &tasks->list.head;
    return tasks->table.is_named ? &tasks->table.head : NULL;
}

static int give(struct tasks *tasks, struct piece piece, struct values *values)
{
    tasks->pieces[0] = piece;
    *values = (struct values){tasks->pieces, 1};
    return 1;
}

static int give_text(struct tasks *tasks, const char *text, struct values *values)
{
    return give(tasks, (struct piece){text, strlen(text)}, values);
}

static int tasks_make_room(struct tasks *tasks, size_t count, struct error *error)
{
    if (count <= tasks->pieces_room)
        return 0;
    struct piece *pieces = realloc(tasks->pieces, 2 * count * sizeof *pieces);
    if (pieces == NULL)
        return error_set(error, "out of memory for %zu fields", count);
    tasks->pieces = pieces;
    tasks->pieces_room = 2 * count;
    return 0;
}

static int give_all(struct tasks *tasks, enum part part, struct values *values, struct error *error)
{
    const struct row *row = tasks->row;
    if (part == PART_WHOLE && tasks->whole.text != NULL)
        return give(tasks, tasks->whole, values);
    if (tasks_make_room(tasks, row->count, error) < 0)
        return -1;
    for (unsigned i = 0; i < row->count; i++)
        tasks->pieces[i] = replacement_part(part, row->fields[i]);
    *values = (struct values){tasks->pieces, row->count};
    return 1;
}

static int refuse_column(const struct tasks *tasks, const struct replacement *wanted, struct error *error)
{
    bool list = tasks_is_given(tasks->source.list);
    const struct row *head = list ? &tasks->list.head : &tasks->table.head;
    return error_set(error, "{%.*s}: %.150s has no such column; accepted: %s1 to %u, or \\{ for a brace",
                     (int)(wanted->name_length < 60 ? wanted->name_length : 60), wanted->name,
                     list ? tasks->source.list : tasks->source.table,
                     (list ? tasks->list.is_named : tasks->table.is_named) ? "a name of its first line, " : "",
                     head->count);
}

/* True if the first row has the field. Also true if rows may follow that have more fields. */
static bool is_within_head(const struct tasks *tasks, const char *name, size_t length)
{
    return (tasks->source.follows && tasks->list.head.count == 1 && !tasks->list.is_named) ||
           replacement_read(name, length, names_of(tasks), tasks->list.head.count).field >= 0;
}

static int give_fields(struct tasks *tasks, const char *name, size_t length, struct values *values, struct error *error)
{
    bool list = tasks_is_given(tasks->source.list);
    const struct replacement wanted = replacement_read(name, length, names_of(tasks), tasks->row->count);
    if (wanted.field == FIELD_ALL)
        return give_all(tasks, wanted.part, values, error);
    if (wanted.field >= 0)
        return give(tasks, replacement_part(wanted.part, tasks->row->fields[wanted.field]), values);
    if (wanted.field == FIELD_BEYOND && list && is_within_head(tasks, name, length))
        return give_text(tasks, "", values); /* this row has fewer fields than the first one */
    if (tasks_is_name(name, length, "rank") || tasks_is_name(name, length, "node"))
        return 0;
    if (list && length > 1 && name[0] == '=')
        return error_set(error, "{=..=} is Perl, which is not run here; accepted: {} {.} {/} {//} {/.} {N} {#} {%%}");
    bool is_meant = wanted.field == FIELD_BEYOND ||
                    ((!list || tasks->list.is_named) && looks_like_column(wanted.name, wanted.name_length));
    return is_meant ? refuse_column(tasks, &wanted, error) : 0;
}

static int tasks_find_place(void *context, const char *name, size_t length, struct values *values, struct error *error)
{
    struct tasks *tasks = context;
    if (tasks_is_name(name, length, "#") || (length == 0 && tasks->row == NULL))
        return give_text(tasks, tasks->number, values);
    if (tasks_is_name(name, length, "%"))
        return give_text(tasks, tasks->slot, values);
    int found = tasks->row != NULL ? give_fields(tasks, name, length, values, error) : 0;
    if (found != 0)
        return found;
    if (tasks_is_name(name, length, "rank"))
        return give_text(tasks, tasks->rank, values);
    return tasks_is_name(name, length, "node") ? give_text(tasks, tasks->node, values) : 0;
}

static int check_source(const struct tasks_source *source, struct error *error)
{
    bool tasks = tasks_is_given(source->tasks), command = tasks_is_given(source->command),
         list = tasks_is_given(source->list), table = tasks_is_given(source->table);
    if (tasks + (command || list) != 1)
        return error_set(error, "accepted: tasks=FILE, or command=LINE with count=N, table=FILE or list=FILE%s",
                         tasks ? ", and not both" : "");
    if (list && table)
        return error_set(error, "accepted: table=FILE or list=FILE, and not both");
    if (tasks && source->count != TASKS_COUNT_UNKNOWN)
        return error_set(error, "count=%" PRId64 " goes with command=LINE; tasks=FILE has as many tasks as lines",
                         source->count);
    if (list && source->count != TASKS_COUNT_UNKNOWN)
        return error_set(error, "count=%" PRId64 ": list=FILE has as many tasks as rows", source->count);
    if (source->shell != NULL && !shell_is_known(source->shell))
        return error_set(error, "shell=%.60s: accepted: auto, yes, no, " SHELL_ACCEPTED, source->shell);
    if (source->header != TABLE_HEADER_AUTO && !table)
        return error_set(error, "header= goes with table=FILE");
    return source->follows && !list ? error_set(error, "follow= goes with list=FILE") : 0;
}

static int match_table(struct tasks *tasks, struct error *error)
{
    const struct tasks_source *source = &tasks->source;
    bool is_counted = source->count != TASKS_COUNT_UNKNOWN;
    uint64_t rows = tasks->table.rows, lines = tasks_is_given(source->tasks) ? tasks->lines.count : 1;
    tasks->count = is_counted ? (uint64_t)source->count : lines > 1 ? lines : rows;
    if (tasks->count == rows)
        return 0;
    if (is_counted)
        return error_set(error, "count=%" PRId64 ", and %.200s has %" PRIu64 " rows; accepted: as many", source->count,
                         source->table, rows);
    return error_set(
        error, "%.150s has %" PRIu64 " tasks, and %.150s %" PRIu64 " rows; accepted: as many, or one task for all rows",
        source->tasks, lines, source->table, rows);
}

/* The digest must be the same on all ranks. Ranks may see different lengths of a growing list, so its digest covers
 * only the first line. */
static void take_list(struct tasks *tasks)
{
    const struct list *list = &tasks->list;
    tasks->count = list->rows;
    tasks->grows = tasks->source.follows || !list_is_complete(list);
    tasks->digest = tasks->grows ? list->title : list->lines.digest;
}

static int complete_command(struct tasks *tasks, struct error *error)
{
    static const char place[] = " {}";
    const struct places places = {tasks_find_place, tasks};
    const char *command = tasks->source.command;
    size_t length = strlen(command);
    tasks->row = &tasks->list.head;
    bool has_place = cmdline_has_place(command, length, &places);
    tasks->row = NULL;
    if (has_place || !tasks_is_given(command))
        return 0;
    tasks->line = malloc(length + sizeof place);
    if (tasks->line == NULL)
        return error_set(error, "out of memory for a command of %zu bytes", length);
    memcpy(tasks->line, command, length);
    memcpy(tasks->line + length, place, sizeof place);
    return 0;
}

static int tasks_open_files(struct tasks *tasks, struct error *error)
{
    const struct tasks_source *source = &tasks->source;
    if (tasks_is_given(source->list)) {
        if ((source->columns > 0
                 ? list_begin(&tasks->list, source->list, source->names, source->name_count, source->columns, error)
                 : list_open(&tasks->list, source->list, error)) < 0)
            return -1;
        take_list(tasks);
        return complete_command(tasks, error);
    }
    if (tasks_is_given(source->tasks)) {
        if (lines_open(&tasks->lines, source->tasks, LINES_OF_TASKS, error) < 0)
            return -1;
        tasks->count = tasks->lines.count;
        tasks->digest = tasks->lines.digest;
    }
    if (!tasks_is_given(source->table))
        return 0;
    if (table_open(&tasks->table, source->table, source->header, error) < 0)
        return -1;
    tasks->digest = tasks->digest * 31 + tasks->table.lines.digest;
    return tasks->count == 0 && tasks_is_given(source->tasks) ? 0 : match_table(tasks, error);
}

int tasks_open(struct tasks *tasks, const struct tasks_source *source, struct error *error)
{
    bool is_counted = source->count != TASKS_COUNT_UNKNOWN;
    *tasks = (struct tasks){.source = *source, .count = is_counted ? (uint64_t)source->count : 1};
    tasks->lines.file = tasks->table.lines.file = tasks->list.lines.file = -1;
    cmdline_init(&tasks->words);
    tasks->shell = strdup(shell_path(source->shell != NULL ? source->shell : SHELL_NO));
    tasks_set_worker(tasks, 0, 0, 1);
    if (tasks->shell == NULL)
        error_set(error, "out of memory for the name of a shell");
    else if (tasks_make_room(tasks, 1, error) == 0 && check_source(source, error) == 0 &&
             tasks_open_files(tasks, error) == 0)
        return 0;
    tasks_close(tasks);
    return -1;
}

void tasks_close(struct tasks *tasks)
{
    lines_close(&tasks->lines);
    table_close(&tasks->table);
    list_close(&tasks->list);
    cmdline_fini(&tasks->words);
    cmdline_fini(&tasks->own);
    cmdline_fini(&tasks->folder);
    free(tasks->line);
    free(tasks->pieces);
    free(tasks->shell);
    tasks->shell = NULL;
    tasks->line = NULL;
    tasks->pieces = NULL;
}

void tasks_set_worker(struct tasks *tasks, unsigned rank, unsigned node, unsigned slot)
{
    snprintf(tasks->rank, sizeof tasks->rank, "%u", rank);
    snprintf(tasks->node, sizeof tasks->node, "%u", node);
    snprintf(tasks->slot, sizeof tasks->slot, "%u", slot);
}

bool tasks_are(const struct tasks *tasks, uint64_t digest)
{
    return tasks->digest == digest || (tasks_is_given(tasks->source.list) && tasks->list.title == digest);
}

int tasks_extend(struct tasks *tasks, struct error *error)
{
    if (!tasks->grows)
        return 0;
    lines_reopen(&tasks->list.lines);
    if (list_extend(&tasks->list, error) < 0)
        return -1;
    tasks->count = tasks->list.rows;
    tasks->grows = !list_is_complete(&tasks->list);
    return 0;
}

int tasks_digest(struct tasks *tasks, uint64_t count, uint64_t *digest, struct error *error)
{
    const struct tasks_source *source = &tasks->source;
    const bool has_table = tasks_is_given(source->table), has_one_line = has_table && tasks->lines.count == 1;
    uint64_t of_lines = 0, of_rows = 0;
    if (tasks_is_given(source->list))
        return lines_digest(&tasks->list.lines, count + 1, digest, error);
    if (tasks_is_given(source->tasks) && lines_digest(&tasks->lines, has_one_line ? 1 : count, &of_lines, error) < 0)
        return -1;
    if (has_table && lines_digest(&tasks->table.lines, count + tasks->table.is_named, &of_rows, error) < 0)
        return -1;
    *digest = of_lines * 31 + of_rows;
    return 0;
}

int tasks_take_row(struct tasks *tasks, uint64_t i, struct error *error)
{
    struct line line;
    tasks->row = NULL;
    tasks->whole = (struct piece){NULL, 0};
    if (tasks_is_given(tasks->source.list)) {
        if (list_take(&tasks->list, i, error) < 0)
            return -1;
        tasks->row = &tasks->list.row;
    } else if (tasks_is_given(tasks->source.table)) {
        if (table_take(&tasks->table, i, error) < 0 || table_line(&tasks->table, i, &line, error) < 0)
            return -1;
        tasks->row = &tasks->table.row;
        tasks->whole = (struct piece){line.text, line.length};
    }
    return 0;
}

static int fill_own(struct tasks *tasks, const char *text, struct error *error)
{
    const struct places places = {tasks_find_place, tasks};
    return cmdline_fill(&tasks->own, text, strlen(text), &places, error);
}

static int take_own_line(struct tasks *tasks, uint64_t i, struct line *line, struct error *error)
{
    if (fill_own(tasks, "{}", error) < 0)
        return -1;
    *line = (struct line){cmdline_at(&tasks->own, 0), tasks->own.length - 1, i + 2};
    return 0;
}

static int tasks_take_line(struct tasks *tasks, uint64_t i, struct line *line, struct error *error)
{
    const char *command = tasks->line != NULL ? tasks->line : tasks->source.command;
    if (tasks_is_given(tasks->source.tasks))
        return lines_get(&tasks->lines, tasks->lines.count == 1 ? 0 : i, line, error);
    if (!tasks_is_given(command))
        return take_own_line(tasks, i, line, error);
    *line = (struct line){command, strlen(command), 0};
    return 0;
}

static bool are_lines_rows(const struct tasks *tasks)
{
    return !tasks_is_given(tasks->source.tasks) && !tasks_is_given(tasks->source.command);
}

static int tasks_complain(const struct tasks *tasks, const struct line *line, const struct error *inner,
                          struct error *error)
{
    if (line->number == 0)
        return error_set(error, "command: %s", inner->text);
    return error_set(error, "%.150s, line %" PRIu64 ": %s",
                     are_lines_rows(tasks) ? tasks->source.list : tasks->source.tasks, line->number, inner->text);
}

/* Splits the line into words. If the line needs a shell, passes it to a shell instead. An empty row becomes an empty
 * shell command. */
static int take_words(struct tasks *tasks, const struct line *line, struct error *error)
{
    const struct places filled = {tasks_find_place, tasks}, *places = are_lines_rows(tasks) ? NULL : &filled;
    const char *wish = tasks->source.shell != NULL ? tasks->source.shell : SHELL_NO;
    const bool decides = strcmp(wish, SHELL_AUTO) == 0, never = strcmp(wish, SHELL_NO) == 0;
    struct cmdline *words = &tasks->words;
    if (!decides && !never)
        return cmdline_for_shell(words, tasks->shell, line->text, line->length, places, error);
    const int result = cmdline_split(words, line->text, line->length, places, error);
    if (result < 0 && !(decides && words->wants_shell))
        return -1;
    if (result == 0 && words->count == words->assignments && places != NULL)
        return error_set(error, "no command");
    const bool needs_shell = result < 0 || words->count == words->assignments ||
                             (decides && shell_has(cmdline_at(words, words->assignments)));
    return needs_shell ? cmdline_for_shell(words, tasks->shell, line->text, line->length, places, error) : 0;
}

static int take_folder(struct tasks *tasks, struct error *error)
{
    const char *folder = tasks->source.folder;
    const struct places places = {tasks_find_place, tasks};
    struct error inner;
    if (!tasks_is_given(folder) || cmdline_fill(&tasks->folder, folder, strlen(folder), &places, &inner) == 0)
        return 0;
    return error_set(error, "workdir: %s", inner.text);
}

static int tasks_begin(struct tasks *tasks, uint64_t i, struct error *error)
{
    cmdline_clear(&tasks->words);
    tasks->order = i + 1;
    if (tasks_take_row(tasks, i, error) < 0) {
        tasks->is_wrong = tasks->list.is_wrong;
        return -1;
    }
    if (tasks_is_given(tasks->source.list))
        tasks->order = tasks->list.order;
    snprintf(tasks->number, sizeof tasks->number, "%" PRIu64, tasks->order);
    tasks->is_wrong = false;
    return 0;
}

const char *tasks_fill(struct tasks *tasks, uint64_t i, const char *text, struct error *error)
{
    return tasks_begin(tasks, i, error) == 0 && fill_own(tasks, text, error) == 0 ? cmdline_at(&tasks->own, 0) : NULL;
}

int tasks_get(struct tasks *tasks, uint64_t i, struct error *error)
{
    struct error inner;
    struct line line;
    if (tasks_begin(tasks, i, error) < 0 || tasks_take_line(tasks, i, &line, error) < 0)
        return -1;
    int result =
        take_words(tasks, &line, &inner) < 0 ? tasks_complain(tasks, &line, &inner, error) : take_folder(tasks, error);
    tasks->is_wrong = result < 0;
    if (result < 0)
        cmdline_clear(&tasks->words);
    return result;
}

static int check_command(struct tasks *tasks, struct error *error)
{
    struct line line;
    struct error inner;
    if (are_lines_rows(tasks))
        return 0;
    tasks->row = &tasks->list.head;
    int result = tasks_take_line(tasks, 0, &line, error);
    if (result == 0 && take_words(tasks, &line, &inner) < 0)
        result = tasks_complain(tasks, &line, &inner, error);
    tasks->row = NULL;
    cmdline_clear(&tasks->words);
    return result;
}

/* Without rows and without a file, all tasks have the same command line, so one check is enough. If rows may be added
 * later, only the command is checked. A task with an invalid row then fails. */
int tasks_check(struct tasks *tasks, struct error *error)
{
    const struct tasks_source *source = &tasks->source;
    if (source->follows)
        return check_command(tasks, error);
    bool alike = !tasks_is_given(source->tasks) && !tasks_is_given(source->table) && !tasks_is_given(source->list);
    uint64_t count = alike && tasks->count > 1 ? 1 : tasks->count;
    for (uint64_t i = 0; i < count; i++)
        if (tasks_get(tasks, i, error) < 0)
            return -1;
    return 0;
}

int tasks_column(const struct tasks *tasks, const char *name)
{
    const struct row *names = names_of(tasks);
    return names == NULL ? -1 : row_find(names, name, strlen(name));
}

struct piece tasks_field(const struct tasks *tasks, unsigned column)
{
    bool is_there = tasks->row != NULL && column < tasks->row->count;
    return is_there ? tasks->row->fields[column] : (struct piece){"", 0};
}

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
            show->size = 0;
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
    if (words->is_for_shell && words->count > 0) {
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
