/* SPDX-License-Identifier: MIT */
/* Reads the arguments of tasks: see sources.h. */
#include "deploy/cli/sources.h"

#include "common/util/grow.h"
#include "common/util/text.h"
#include "deploy/cli/separator.h"
#include "deploy/cli/values.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct source {
    const char *path;
    char *const *words;
    unsigned count, taken;
    bool linked;
    bool is_open, has_ended;
    bool is_taken;
    struct values values;
    struct text record; /* CSV: the record as far as it was read; it may have newlines in quotes */
    uint64_t lines;
    uint64_t begun;
    bool is_quoted;
    struct rows fields;
    bool has_value;
    struct rows kept;
};

struct group {
    unsigned first, count;
    struct rows rows; /* all values; the first group has none, because it is read on demand */
    size_t at;
};

struct sources {
    struct sources_options options;
    struct separator separator;
    struct source *source;
    struct group *group;
    size_t count, capacity, group_count, group_capacity;
    struct rows names;
    struct piece *named; /* the fields of `names`; owned */
    struct rows first;
    unsigned gathered;
    bool has_first;
    size_t linked_at;
    struct rows all;
    size_t *order;
    size_t all_at;
    size_t all_per_row;
    bool has_all;
    struct piece *row; /* last row that was returned; owned */
    size_t row_capacity;
};

static int sources_no_memory(struct error *error)
{
    return error_set(error, "out of memory for the arguments");
}

struct sources *sources_new(const struct sources_options *options)
{
    struct sources *sources = calloc(1, sizeof *sources);
    if (sources != NULL)
        sources->options = *options;
    return sources;
}

void sources_free(struct sources *sources)
{
    if (sources == NULL)
        return;
    for (size_t i = 0; i < sources->count; i++) {
        struct source *source = &sources->source[i];
        if (source->is_open)
            values_close(&source->values);
        rows_fini(&source->fields);
        rows_fini(&source->kept);
        text_fini(&source->record);
    }
    for (size_t i = 0; i < sources->group_count; i++)
        rows_fini(&sources->group[i].rows);
    rows_fini(&sources->names);
    rows_fini(&sources->first);
    rows_fini(&sources->all);
    free(sources->order);
    separator_fini(&sources->separator);
    free(sources->source);
    free(sources->group);
    free(sources->row);
    free(sources->named);
    free(sources);
}

static int sources_add(struct sources *sources, const struct source *source, struct error *error)
{
    struct source *grown = grow(sources->source, sources->count, &sources->capacity, sizeof *grown);
    if (grown == NULL)
        return sources_no_memory(error);
    sources->source = grown;
    sources->source[sources->count++] = *source;
    return 0;
}

int sources_add_words(struct sources *sources, char *const *words, unsigned count, bool linked, struct error *error)
{
    return sources_add(sources, &(struct source){.words = words, .count = count, .linked = linked}, error);
}

int sources_add_file(struct sources *sources, const char *path, bool linked, struct error *error)
{
    for (size_t i = 0; i < sources->count && strcmp(path, "-") == 0; i++)
        if (sources->source[i].path != NULL && strcmp(sources->source[i].path, "-") == 0)
            return error_set(error, "standard input (-) can be read only once");
    return sources_add(sources, &(struct source){.path = path, .linked = linked}, error);
}

static bool toggles_quotes(const char *text)
{
    bool odd = false;
    for (; (text = strchr(text, '"')) != NULL; text++)
        odd = !odd;
    return odd;
}

static int source_read_line(struct source *source, bool waits, const char **text, size_t *length, struct error *error)
{
    static const char mark[] = "\xef\xbb\xbf";
    const int result = values_next(&source->values, waits, text, length, error);
    if (result != VALUES_ONE)
        return result;
    source->lines++;
    if (source->lines == 1 && strncmp(*text, mark, strlen(mark)) == 0) {
        *text += strlen(mark);
        *length -= strlen(mark);
    }
    return VALUES_ONE;
}

static int source_read_record(struct source *source, bool waits, const char **text, size_t *length, struct error *error)
{
    int result;
    if (source->is_taken) {
        text_fini(&source->record);
        source->is_taken = false;
    }
    while ((result = source_read_line(source, waits, text, length, error)) == VALUES_ONE) {
        const bool is_more = source->is_quoted;
        source->begun = is_more ? source->begun : source->lines;
        source->is_quoted ^= toggles_quotes(*text);
        if (!is_more && !source->is_quoted)
            return VALUES_ONE;
        text_add(&source->record, "%s%s", is_more ? "\n" : "", *text);
        if (source->record.failed)
            return sources_no_memory(error);
        if (!source->is_quoted)
            break;
    }
    if (result == VALUES_END && source->is_quoted)
        return error_set(error,
                         "%.200s, line %" PRIu64 ": quotes that do not end; accepted: \"..\", and \"\" for a quote "
                         "in them",
                         source->path, source->begun);
    if (result != VALUES_ONE)
        return result;
    *text = source->record.data;
    *length = source->record.length;
    source->is_taken = true;
    return VALUES_ONE;
}

static int source_read(struct source *source, bool csv, bool waits, const char **text, size_t *length,
                       struct error *error)
{
    if (source->path != NULL && csv)
        return source_read_record(source, waits, text, length, error);
    if (source->path != NULL)
        return values_next(&source->values, waits, text, length, error);
    if (source->taken == source->count)
        return VALUES_END;
    *text = source->words[source->taken++];
    *length = strlen(*text);
    return VALUES_ONE;
}

static struct piece trimmed(const struct sources *sources, const char *text, size_t length)
{
    enum sources_trim trim = sources->options.trim;
    if (trim == TRIM_DEFAULT)
        trim = sources->options.separator != NULL ? TRIM_BOTH : TRIM_NONE;
    if (trim == TRIM_LEFT || trim == TRIM_BOTH)
        while (length > 0 && isspace((unsigned char)*text))
            text++, length--;
    if (trim == TRIM_RIGHT || trim == TRIM_BOTH)
        while (length > 0 && isspace((unsigned char)text[length - 1]))
            length--;
    return (struct piece){text, length};
}

static int split_record(char separator, const char *text, const char *end, struct rows *rows, struct error *error)
{
    char *field = malloc((size_t)(end - text) + 1);
    bool goes_on = field != NULL;
    while (goes_on) {
        size_t length = 0;
        bool quoted = text < end && *text == '"';
        text += quoted;
        for (; text < end && (quoted || *text != separator); text++) {
            if (quoted && *text == '"' && text[1] == '"')
                text++;
            else if (quoted && *text == '"') {
                quoted = false;
                continue;
            }
            field[length++] = *text;
        }
        if (!rows_add(rows, field, length))
            break;
        goes_on = text < end;
        text++;
        if (!goes_on) {
            free(field);
            return 0;
        }
    }
    free(field);
    return sources_no_memory(error);
}

static int sources_split(const struct sources *sources, const char *text, size_t length, struct rows *rows,
                         struct error *error)
{
    const char *end = text + length, *csv = sources->options.separator;
    size_t found, separator;
    if (sources->options.csv)
        return split_record(csv == NULL               ? ','
                            : strcmp(csv, "\\t") == 0 ? '\t'
                                                      : csv[0],
                            text, end - (length > 0 && end[-1] == '\r'), rows, error);
    while (sources->options.separator != NULL && separator_find(&sources->separator, text, &found, &separator)) {
        struct piece field = trimmed(sources, text, found);
        if (!rows_add(rows, field.text, field.length))
            return sources_no_memory(error);
        text += found + separator;
    }
    struct piece field = trimmed(sources, text, (size_t)(end - text));
    return rows_add(rows, field.text, field.length) ? 0 : sources_no_memory(error);
}

static int source_next(const struct sources *sources, struct source *source, bool waits, struct error *error)
{
    const char *text;
    size_t length;
    if (source->has_value)
        return VALUES_ONE;
    if (source->has_ended)
        return VALUES_END;
    int result;
    do
        result = source_read(source, sources->options.csv, waits, &text, &length, error);
    while (result == VALUES_ONE && sources->options.skips_empty && length == (sources->options.csv && text[0] == '\r'));
    if (result == VALUES_ONE && sources->options.end != NULL && strcmp(text, sources->options.end) == 0)
        result = VALUES_END;
    source->has_ended = result == VALUES_END;
    if (result != VALUES_ONE)
        return result;
    rows_clear(&source->fields);
    if (sources_split(sources, text, length, &source->fields, error) < 0)
        return -1;
    source->has_value = true;
    return VALUES_ONE;
}

static int sources_copy(const struct rows *from, size_t row, struct rows *to, struct error *error)
{
    for (size_t i = 0; i < rows_fields(from, row); i++) {
        struct piece field = rows_field(from, row, i);
        if (!rows_add(to, field.text, field.length))
            return sources_no_memory(error);
    }
    return 0;
}

static int group_next(struct sources *sources, const struct group *group, bool waits, struct rows *rows,
                      struct error *error)
{
    for (unsigned i = 0; i < group->count; i++) {
        int result = source_next(sources, &sources->source[group->first + i], waits, error);
        if (result != VALUES_ONE)
            return result;
    }
    for (unsigned i = 0; i < group->count; i++) {
        struct source *source = &sources->source[group->first + i];
        source->has_value = false;
        if (sources_copy(&source->fields, 0, rows, error) < 0)
            return -1;
    }
    return VALUES_ONE;
}

static int group_keep(struct sources *sources, struct group *group, struct error *error)
{
    int result;
    while ((result = group_next(sources, group, true, &group->rows, error)) == VALUES_ONE)
        if (!rows_end(&group->rows))
            return sources_no_memory(error);
    return result;
}

static int sources_open(struct sources *sources, struct error *error)
{
    for (size_t i = 0; i < sources->count; i++) {
        struct source *source = &sources->source[i];
        if (source->path == NULL)
            continue;
        if (values_open(&source->values, source->path, sources->options.delimiter, error) < 0)
            return -1;
        source->is_open = true;
    }
    return 0;
}

static int sources_make_groups(struct sources *sources, struct error *error)
{
    for (size_t i = 0; i < sources->count; i++) {
        if (i > 0 && (sources->source[i].linked || sources->options.link)) {
            sources->group[sources->group_count - 1].count++;
            continue;
        }
        struct group *grown = grow(sources->group, sources->group_count, &sources->group_capacity, sizeof *grown);
        if (grown == NULL)
            return sources_no_memory(error);
        sources->group = grown;
        sources->group[sources->group_count++] = (struct group){.first = (unsigned)i, .count = 1};
    }
    return 0;
}

static int sources_read_names(struct sources *sources, struct error *error)
{
    for (size_t i = 0; sources->options.header && i < sources->count; i++) {
        struct source *source = &sources->source[i];
        int result = source_next(sources, source, true, error);
        if (result < 0 || (result == VALUES_ONE && sources_copy(&source->fields, 0, &sources->names, error) < 0))
            return -1;
        source->has_value = false;
    }
    const size_t count = rows_fields(&sources->names, 0);
    sources->named = calloc(count + 1, sizeof *sources->named);
    for (size_t i = 0; sources->named != NULL && i < count; i++)
        sources->named[i] = rows_field(&sources->names, 0, i);
    return sources->named != NULL ? 0 : sources_no_memory(error);
}

static int sources_keep(struct sources *sources, struct error *error)
{
    for (size_t i = 0; sources->options.link && i < sources->count; i++) {
        const struct group alone = {.first = (unsigned)i, .count = 1};
        int result;
        while ((result = group_next(sources, &alone, true, &sources->source[i].kept, error)) == VALUES_ONE)
            if (!rows_end(&sources->source[i].kept))
                return sources_no_memory(error);
        if (result < 0)
            return -1;
    }
    for (size_t i = 1; i < sources->group_count; i++)
        if (group_keep(sources, &sources->group[i], error) < 0)
            return -1;
    return 0;
}

int sources_begin(struct sources *sources, struct error *error)
{
    struct error reason;
    if (sources->options.csv && sources->options.separator != NULL && strlen(sources->options.separator) > 1 &&
        strcmp(sources->options.separator, "\\t") != 0)
        return error_set(error, "--colsep '%.60s': accepted with --csv: one character, or \\t",
                         sources->options.separator);
    if (sources->options.separator != NULL &&
        separator_init(&sources->separator, sources->options.separator, &reason) < 0)
        return error_set(error, "--colsep: %s", reason.text);
    if (sources->options.slots > 0 && sources->count > 1)
        return error_set(error, "-m and --xargs take arguments of one source; accepted: one :::, ::::, -a or standard "
                                "input");
    if (sources->options.per_row > 1 && sources->count > 1)
        return error_set(error, "-n %u takes arguments of one source; accepted: one :::, ::::, -a or standard input",
                         sources->options.per_row);
    if (sources_open(sources, error) < 0 || sources_make_groups(sources, error) < 0 ||
        sources_read_names(sources, error) < 0)
        return -1;
    return sources_keep(sources, error);
}

static struct arguments sources_row(struct sources *sources, const struct rows *rows)
{
    struct arguments row = {sources->row, 0};
    for (size_t i = 0; i < rows_fields(rows, 0); i++)
        sources->row[row.count++] = rows_field(rows, 0, i);
    return row;
}

static int sources_make_room(struct sources *sources, size_t fields, struct error *error)
{
    if (fields <= sources->row_capacity)
        return 0;
    struct piece *row = realloc(sources->row, 2 * fields * sizeof *row);
    if (row == NULL)
        return sources_no_memory(error);
    sources->row = row;
    sources->row_capacity = 2 * fields;
    return 0;
}

struct arguments sources_names(const struct sources *sources)
{
    return (struct arguments){sources->named, (unsigned)rows_fields(&sources->names, 0)};
}

static int next_linked(struct sources *sources, struct arguments *row, struct error *error)
{
    size_t rows = 0;
    rows_clear(&sources->first);
    for (size_t i = 0; i < sources->count; i++)
        rows = sources->source[i].kept.count > rows ? sources->source[i].kept.count : rows;
    if (sources->linked_at == rows)
        return SOURCES_END;
    for (size_t i = 0; i < sources->count; i++) {
        const struct rows *kept = &sources->source[i].kept;
        if (kept->count > 0 && sources_copy(kept, sources->linked_at % kept->count, &sources->first, error) < 0)
            return -1;
    }
    sources->linked_at++;
    if (sources_make_room(sources, rows_fields(&sources->first, 0), error) < 0)
        return -1;
    *row = sources_row(sources, &sources->first);
    return SOURCES_ROW;
}

static int gather_first(struct sources *sources, bool waits, struct error *error)
{
    const unsigned wanted = sources->options.per_row > 0 ? sources->options.per_row : 1;
    if (sources->gathered == 0)
        rows_clear(&sources->first);
    while (sources->gathered < wanted) {
        int result = group_next(sources, &sources->group[0], waits, &sources->first, error);
        if (result == VALUES_END && sources->gathered > 0)
            break;
        if (result != VALUES_ONE)
            return result;
        sources->gathered++;
    }
    sources->gathered = 0;
    return VALUES_ONE;
}

static void product_advance(struct sources *sources)
{
    size_t i = sources->group_count - 1;
    for (; i > 0 && ++sources->group[i].at == sources->group[i].rows.count; i--)
        sources->group[i].at = 0;
    sources->has_first = i > 0;
}

static int product_row(struct sources *sources, struct arguments *row, struct error *error)
{
    size_t fields = rows_fields(&sources->first, 0);
    for (size_t i = 1; i < sources->group_count; i++)
        fields += rows_fields(&sources->group[i].rows, sources->group[i].at);
    if (sources_make_room(sources, fields, error) < 0)
        return -1;
    *row = sources_row(sources, &sources->first);
    for (size_t i = 1; i < sources->group_count; i++) {
        const struct group *group = &sources->group[i];
        for (size_t field = 0; field < rows_fields(&group->rows, group->at); field++)
            sources->row[row->count++] = rows_field(&group->rows, group->at, field);
    }
    return SOURCES_ROW;
}

static int next_in_order(struct sources *sources, bool waits, struct arguments *row, struct error *error)
{
    if (sources->options.link)
        return next_linked(sources, row, error);
    for (size_t i = 1; i < sources->group_count; i++)
        if (sources->group[i].rows.count == 0)
            return SOURCES_END;
    if (!sources->has_first) {
        int result = gather_first(sources, waits, error);
        if (result != VALUES_ONE)
            return result == VALUES_NOT_YET ? SOURCES_WAIT : result;
        sources->has_first = true;
    }
    int result = product_row(sources, row, error);
    product_advance(sources);
    return result;
}

static void shuffle(size_t *order, size_t count)
{
    srand48((long)time(NULL) ^ getpid());
    for (size_t i = count; i > 1; i--) {
        const size_t other = (size_t)(drand48() * (double)i), kept = order[other];
        order[other] = order[i - 1];
        order[i - 1] = kept;
    }
}

static int read_all(struct sources *sources, struct error *error)
{
    struct arguments row;
    struct rows *all = &sources->all;
    int result;
    while ((result = next_in_order(sources, true, &row, error)) == SOURCES_ROW) {
        bool kept = true;
        for (unsigned i = 0; i < row.count; i++)
            kept = kept && rows_add(all, row.fields[i].text, row.fields[i].length);
        if (!kept || !rows_end(all))
            return sources_no_memory(error);
    }
    sources->order = malloc((all->count + 1) * sizeof *sources->order);
    if (sources->order == NULL)
        return sources_no_memory(error);
    for (size_t i = 0; i < all->count; i++)
        sources->order[i] = i;
    if (sources->options.shuffles)
        shuffle(sources->order, all->count);
    const size_t slots = sources->options.slots;
    sources->all_per_row = slots > 0 ? (all->count + slots - 1) / slots : 1;
    sources->has_all = true;
    return result;
}

static int next_of_all(struct sources *sources, struct arguments *row, struct error *error)
{
    enum { LINE_BYTES = 100000 };
    size_t bytes = 0, taken = 0;
    row->count = 0;
    if (!sources->has_all && read_all(sources, error) < 0)
        return -1;
    for (; taken < sources->all_per_row && sources->all_at < sources->all.count; taken++) {
        const size_t at = sources->order[sources->all_at], fields = rows_fields(&sources->all, at);
        for (size_t i = 0; i < fields; i++)
            bytes += rows_field(&sources->all, at, i).length + 1;
        if (taken > 0 && bytes > LINE_BYTES)
            break;
        if (sources_make_room(sources, row->count + fields, error) < 0)
            return -1;
        for (size_t i = 0; i < fields; i++)
            sources->row[row->count++] = rows_field(&sources->all, at, i);
        sources->all_at++;
    }
    row->fields = sources->row;
    return taken > 0 ? SOURCES_ROW : SOURCES_END;
}

int sources_next(struct sources *sources, bool waits, struct arguments *row, struct error *error)
{
    const bool needs_all = sources->options.slots > 0 || sources->options.shuffles;
    return needs_all ? next_of_all(sources, row, error) : next_in_order(sources, waits, row, error);
}

int sources_descriptor(const struct sources *sources)
{
    for (unsigned i = 0; i < sources->group[0].count; i++) {
        const struct source *source = &sources->source[sources->group[0].first + i];
        if (!source->has_value && !source->has_ended && source->is_open)
            return source->values.file;
    }
    return -1;
}
