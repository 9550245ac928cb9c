/* SPDX-License-Identifier: MIT */
/* Traces, read row by row: see trace_reader.h.
 *
 * A row is complete at the first newline that stands outside of quotes. It is then cut into fields where it lies: each
 * field loses its quotes and gets a NUL behind it. */
#include "deploy/cli/report/trace_reader.h"

#include "common/util/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KIND,
    TIME,
    WORKER,
    NODE,
    MASTER,
    CHUNK,
    FIRST,
    COUNT,
    REASON,
    ASKED,
    BEGUN,
    ENDED,
    STORED,
    COMPUTE,
    FATE,
    FORMULA,
    TEXT,
    COLUMNS
};

static const char *const columns[COLUMNS] = {"kind",     "time_s",    "worker", "node",    "master",  "chunk",
                                             "first",    "count",     "reason", "asked_s", "begun_s", "ended_s",
                                             "stored_s", "compute_s", "fate",   "formula", "text"};
static const char *const kinds[] = {"run", "worker", "chunk", "cut", "event", "resumed", NULL};
static const char *const reasons[] = {"",         "own",  "other",  "cut",     "requeued",
                                      "recalled", "copy", "verify", "adopted", NULL};
static const char *const fates[] = {"", "done", "lost", "returned", "dropped", "failed", "open", "undone", NULL};

const char *trace_reason_word(enum trace_reason reason)
{
    return reasons[reason];
}

const char *trace_fate_word(enum trace_fate fate)
{
    return fates[fate];
}

int trace_reader_init(struct trace_reader *reader, const char *name, trace_taker *take, void *context,
                      struct error *error)
{
    *reader = (struct trace_reader){.name = name, .take = take, .context = context, .begun = 1};
    reader->bytes = malloc(TRACE_ROW_MAX + 1);
    return reader->bytes != NULL ? 0 : error_set(error, "%.200s: out of memory", name);
}

void trace_reader_fini(struct trace_reader *reader)
{
    free(reader->bytes);
    reader->bytes = NULL;
}

/* Puts file and line before what is wrong. */
static int refuse_trace_row(const struct trace_reader *reader, struct error *error, const char *what)
{
    struct error cause;
    error_set(&cause, "%s", what); /* `what` may be the text of `error` */
    return error_set(error, "%.150s:%" PRIu64 ": %.300s", reader->name, reader->begun, cause.text);
}

/* --- fields --- */

/* Takes a field that begins at `at`, and returns what follows its comma; NULL behind the last one of the row. -1 by
 * `*field` = NULL where its quotes are broken. */
static char *cut_field(char *at, char *end, char **field)
{
    *field = at;
    if (at == end || *at != '"') {
        char *comma = memchr(at, ',', (size_t)(end - at));
        char *last = comma != NULL ? comma : end;
        if (memchr(at, '"', (size_t)(last - at)) != NULL)
            *field = NULL;
        *last = '\0';
        return comma != NULL ? comma + 1 : NULL;
    }
    char *to = at++;
    for (; at < end; at++) {
        if (*at == '"' && (at + 1 == end || at[1] != '"'))
            break;
        at += *at == '"';
        *to++ = *at;
    }
    const bool closes = at < end && (at + 1 == end || at[1] == ',');
    char *next = closes && at + 1 < end ? at + 2 : NULL;
    if (!closes)
        *field = NULL;
    *to = '\0';
    return next;
}

/* Cuts the row into fields; those behind COLUMNS are left out. Returns how many there are, or -1. */
static int cut_row(struct trace_reader *reader, char *fields[COLUMNS], struct error *error)
{
    char *at = reader->bytes, *end = reader->bytes + reader->length, *field;
    int count = 0;
    for (; at != NULL; count++) {
        at = cut_field(at, end, &field);
        if (field == NULL)
            return refuse_trace_row(
                reader, error,
                "a quote is not as accepted: a field with quotes begins and ends with one, and has each "
                "quote within it twice");
        if (count < COLUMNS)
            fields[count] = field;
    }
    return count;
}

/* Reads plain decimals as they mostly are at once; they are exact, as both parts of the division are. */
static int read_decimal(const char *text, double *value)
{
    static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    uint64_t digits = 0;
    unsigned count = 0, behind = 0;
    bool has_point = false;
    const char *at = text;
    for (; count < 16 && ((*at >= '0' && *at <= '9') || (*at == '.' && !has_point)); at++) {
        if (*at == '.') {
            has_point = true;
            continue;
        }
        digits = 10 * digits + (unsigned)(*at - '0');
        count++;
        behind += has_point;
    }
    if (*at != '\0' || count == 0 || count > 15)
        return number_parse_real(text, value);
    *value = (double)digits / powers[behind];
    return 0;
}

static int read_time(const struct trace_reader *reader, char *const fields[], unsigned column, double *value,
                     struct error *error)
{
    char what[160];
    *value = NAN;
    if (*fields[column] == '\0')
        return 0;
    if (read_decimal(fields[column], value) == 0 && *value >= 0 && *value <= TRACE_TIME_MAX)
        return 0;
    snprintf(what, sizeof what, "%s is '%.40s'; accepted are seconds from 0 to 1e9", columns[column], fields[column]);
    return refuse_trace_row(reader, error, what);
}

static int read_row_count(const struct trace_reader *reader, char *const fields[], unsigned column, uint64_t most,
                          uint64_t *value, struct error *error)
{
    char what[160];
    *value = TRACE_UNKNOWN;
    if (*fields[column] == '\0')
        return 0;
    if (number_parse_u64(fields[column], value) == 0 && *value <= most)
        return 0;
    snprintf(what, sizeof what, "%s is '%.40s'; accepted are whole numbers from 0 to %" PRIu64, columns[column],
             fields[column], most);
    return refuse_trace_row(reader, error, what);
}

/* Place of the word in the list, or -1. */
static int place_of_word(const char *const words[], const char *word)
{
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

static int read_row_word(const struct trace_reader *reader, char *const fields[], unsigned column,
                         const char *const words[], unsigned *place, struct error *error)
{
    char what[240];
    int found = place_of_word(words, fields[column]), length;
    *place = found < 0 ? 0 : (unsigned)found;
    if (found >= 0)
        return 0;
    length = snprintf(what, sizeof what, "%s is '%.40s'; accepted are", columns[column], fields[column]);
    for (int i = 1; words[i] != NULL; i++)
        length += snprintf(what + length, sizeof what - (size_t)length, "%s %s", i > 1 ? "," : "", words[i]);
    return refuse_trace_row(reader, error, what);
}

static int read_row_times(const struct trace_reader *reader, char *const fields[], struct trace_row *row,
                          struct error *error)
{
    const struct {
        unsigned column;
        double *value;
    } times[] = {{TIME, &row->time_s},   {ASKED, &row->asked_s},   {BEGUN, &row->begun_s},
                 {ENDED, &row->ended_s}, {STORED, &row->stored_s}, {COMPUTE, &row->compute_s}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (read_time(reader, fields, times[i].column, times[i].value, error) < 0)
            return -1;
    return 0;
}

static int read_counts(const struct trace_reader *reader, char *const fields[], struct trace_row *row,
                       struct error *error)
{
    const struct {
        unsigned column;
        uint64_t most, *value;
    } counts[] = {{WORKER, TRACE_RANK_MAX, &row->worker}, {NODE, TRACE_RANK_MAX, &row->node},
                  {MASTER, TRACE_RANK_MAX, &row->master}, {CHUNK, UINT32_MAX, &row->chunk},
                  {FIRST, INT64_MAX, &row->first},        {COUNT, INT64_MAX, &row->count},
                  {FORMULA, INT64_MAX, &row->formula}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (read_row_count(reader, fields, counts[i].column, counts[i].most, counts[i].value, error) < 0)
            return -1;
    return 0;
}

/* --- rows --- */

/* The fields that a kind cannot do without. */
static int check_row_needs(const struct trace_reader *reader, const struct trace_row *row, struct error *error)
{
    const bool needs_worker = row->kind == TRACE_WORKER || row->kind == TRACE_CHUNK;
    const bool needs_count = row->kind == TRACE_CHUNK || row->kind == TRACE_CUT || row->kind == TRACE_RESUMED;
    const bool needs_time = row->kind == TRACE_CHUNK || row->kind == TRACE_CUT || row->kind == TRACE_EVENT;
    const char *what = needs_worker && row->worker == TRACE_UNKNOWN                ? "worker"
                       : needs_time && isnan(row->time_s)                          ? "time_s"
                       : needs_count && row->count == TRACE_UNKNOWN                ? "count"
                       : row->kind == TRACE_RESUMED && row->first == TRACE_UNKNOWN ? "first"
                       : row->kind == TRACE_RUN && strchr(row->text, '=') == NULL  ? "text with KEY=VALUE"
                                                                                   : NULL;
    char text[100];
    if (what == NULL)
        return 0;
    snprintf(text, sizeof text, "a row of the kind '%s' has no %s", kinds[row->kind], what);
    return refuse_trace_row(reader, error, text);
}

static int take_row_fields(struct trace_reader *reader, char *fields[COLUMNS], struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    struct trace_row row = {.text = fields[TEXT]};
    unsigned reason = 0, fate = 0;
    const int kind = place_of_word(kinds, fields[KIND]);
    if (kind < 0)
        return 0; /* of a later version */
    row.kind = (enum trace_kind)kind;
    if (read_row_times(reader, fields, &row, error) < 0 || read_counts(reader, fields, &row, error) < 0)
        return -1;
    if (row.kind != TRACE_RESUMED && /* of which the words are always the same */
        (read_row_word(reader, fields, REASON, reasons, &reason, error) < 0 ||
         read_row_word(reader, fields, FATE, fates, &fate, error) < 0))
        return -1;
    row.reason = (enum trace_reason)reason;
    row.fate = (enum trace_fate)fate;
    if (check_row_needs(reader, &row, error) < 0)
        return -1;
    return reader->take(reader->context, &row, error) == 0 ? 0 : refuse_trace_row(reader, error, error->text);
}

static int take_header(struct trace_reader *reader, struct error *error)
{
    const size_t length = strlen(TRACE_COLUMNS);
    if (reader->length < length || memcmp(reader->bytes, TRACE_COLUMNS, length) != 0 ||
        (reader->length > length && reader->bytes[length] != ','))
        return refuse_trace_row(reader, error,
                                "this is no trace: its first line is not kind,time_s,worker,...,formula,text");
    reader->has_header = true;
    return 0;
}

static int take_trace_row(struct trace_reader *reader, struct error *error)
{
    char *fields[COLUMNS], what[80];
    if (reader->length > 0 && reader->bytes[reader->length - 1] == '\r')
        reader->length--;
    if (!reader->has_header)
        return take_header(reader, error);
    if (memchr(reader->bytes, '\0', reader->length) != NULL)
        return refuse_trace_row(reader, error, "a NUL byte, which no text has");
    const int count = cut_row(reader, fields, error);
    if (count < 0)
        return -1;
    if (count >= COLUMNS)
        return take_row_fields(reader, fields, error);
    snprintf(what, sizeof what, "%d field%s; accepted are %d or more", count, count == 1 ? "" : "s", COLUMNS);
    return refuse_trace_row(reader, error, what);
}

/* --- bytes --- */

static int append(struct trace_reader *reader, const char *bytes, size_t count, struct error *error)
{
    char what[80];
    snprintf(what, sizeof what, "the row is longer than %u bytes", TRACE_ROW_MAX);
    if (count > TRACE_ROW_MAX - reader->length)
        return refuse_trace_row(reader, error, what);
    memcpy(reader->bytes + reader->length, bytes, count);
    reader->length += count;
    for (const char *at = bytes; (at = memchr(at, '"', count - (size_t)(at - bytes))) != NULL; at++)
        reader->in_quotes = !reader->in_quotes;
    return 0;
}

static int end_row(struct trace_reader *reader, struct error *error)
{
    if (take_trace_row(reader, error) < 0)
        return -1;
    reader->length = 0;
    reader->begun = reader->line + 1;
    return 0;
}

int trace_reader_take(struct trace_reader *reader, const char *bytes, size_t count, struct error *error)
{
    while (count > 0) {
        const char *newline = memchr(bytes, '\n', count);
        const size_t length = newline != NULL ? (size_t)(newline - bytes) : count;
        if (append(reader, bytes, length, error) < 0)
            return -1;
        if (newline == NULL)
            return 0;
        reader->line++;
        if (reader->in_quotes ? append(reader, "\n", 1, error) < 0 : end_row(reader, error) < 0)
            return -1;
        bytes += length + 1;
        count -= length + 1;
    }
    return 0;
}

int trace_reader_end(struct trace_reader *reader, struct error *error)
{
    if (reader->in_quotes)
        return refuse_trace_row(reader, error, "the file ends within quotes");
    if (reader->length > 0 || !reader->has_header)
        return take_trace_row(reader, error);
    return 0;
}
