/* SPDX-License-Identifier: MIT */
/* Reads power files: see power_file.h. */
#include "common/config/power_file.h"
#include "common/sched/sched.h"
#include "common/util/list.h"
#include "common/util/number.h"

#include <stdio.h>
#include <string.h>

#define BLANKS    " \t\r"
#define FIELD_MAX 64

struct reader {
    const unsigned *ranks;
    unsigned workers;
    double *powers;
    /* Index in `ranks` at which the search for the next rank begins. The ranks of most files are in ascending order, so
     * the search usually succeeds at once. */
    unsigned next;
    unsigned line;
};

static const char *power_file_take_field(const char *text, char field[FIELD_MAX])
{
    text += strspn(text, BLANKS);
    size_t length = strcspn(text, BLANKS "\n#");
    size_t kept = length < FIELD_MAX ? length : FIELD_MAX - 1;
    memcpy(field, text, kept);
    field[kept] = '\0';
    if (kept < length)
        /* The tilde makes a truncated number invalid. Without the tilde the shorter number would be accepted. */
        field[kept - 1] = '~';
    return text + length;
}

static unsigned find_worker(const struct reader *reader, uint64_t rank)
{
    for (unsigned i = 0; i < reader->workers; i++) {
        unsigned index = (reader->next + i) % reader->workers;
        if (reader->ranks[index] == rank)
            return index;
    }
    return reader->workers;
}

static int power_file_take_power(struct reader *reader, const char *rank_text, const char *power_text,
                                 struct error *error)
{
    uint64_t rank;
    double power;
    if (number_parse_u64(rank_text, &rank) < 0)
        return error_set(error, "line %u: rank '%s': accepted: an integer", reader->line, rank_text);
    if (number_parse_real(power_text, &power) < 0 || power < SCHED_POWER_MIN || power > SCHED_POWER_MAX)
        return error_set(error, "line %u: power '%s' of rank %s: accepted: a number from %g to %g", reader->line,
                         power_text, rank_text, SCHED_POWER_MIN, SCHED_POWER_MAX);
    unsigned worker = find_worker(reader, rank);
    if (worker == reader->workers)
        return error_set(error, "line %u: rank %s is no worker of this run", reader->line, rank_text);
    if (reader->powers[worker] != 0)
        return error_set(error, "line %u: rank %s is given twice", reader->line, rank_text);
    reader->powers[worker] = power;
    reader->next = (worker + 1) % reader->workers;
    return 0;
}

static const char *power_file_take_line(struct reader *reader, const char *text, struct error *error)
{
    char rank[FIELD_MAX], power[FIELD_MAX], rest[FIELD_MAX];
    text = power_file_take_field(power_file_take_field(power_file_take_field(text, rank), power), rest);
    reader->line++;
    if (rank[0] != '\0') {
        if (power[0] == '\0' || rest[0] != '\0') {
            error_set(error, "line %u: accepted: RANK POWER", reader->line);
            return NULL;
        }
        if (power_file_take_power(reader, rank, power, error) < 0)
            return NULL;
    }
    text += strcspn(text, "\n");
    return *text == '\n' ? text + 1 : text;
}

static int missing(const struct reader *reader, unsigned count, struct error *error)
{
    char list[ERROR_TEXT_MAX / 2] = "";
    size_t used = 0;
    unsigned listed = 0;
    for (unsigned i = 0; i < reader->workers && used + 32 < sizeof list; i++) {
        if (reader->powers[i] != 0)
            continue;
        unsigned first = i;
        while (i + 1 < reader->workers && reader->powers[i + 1] == 0 && reader->ranks[i + 1] == reader->ranks[i] + 1)
            i++;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%u", used > 0 ? ", " : "", reader->ranks[first]);
        if (i > first)
            used += (size_t)snprintf(list + used, sizeof list - used, "-%u", reader->ranks[i]);
        listed += i - first + 1;
    }
    char more[40] = "";
    if (listed < count)
        snprintf(more, sizeof more, " and %u more", count - listed);
    return error_set(error, "no power is given for %s %s%s", count == 1 ? "rank" : "ranks", list, more);
}

int power_file_parse(const char *text, const unsigned *worker_ranks, unsigned workers, double *powers,
                     struct error *error)
{
    struct reader reader = {.ranks = worker_ranks, .workers = workers, .powers = powers};
    unsigned count = 0;
    memset(powers, 0, workers * sizeof *powers);
    while (*text != '\0') {
        text = power_file_take_line(&reader, text, error);
        if (text == NULL)
            return -1;
    }
    for (unsigned i = 0; i < workers; i++)
        count += powers[i] == 0;
    return count > 0 ? missing(&reader, count, error) : 0;
}

int power_list_parse(const char *text, unsigned workers, double *powers, struct error *error)
{
    size_t count = list_count(text);
    if (count != workers)
        return error_set(error, "%zu number%s; accepted: one for each of the %u workers", count, count == 1 ? "" : "s",
                         workers);
    char number[FIELD_MAX];
    for (double *power = powers; list_next(&text, number, sizeof number); power++)
        if (number_parse_real(number, power) < 0 || *power < SCHED_POWER_MIN || *power > SCHED_POWER_MAX)
            return error_set(error, "'%s': accepted: a number from %g to %g", number, SCHED_POWER_MIN, SCHED_POWER_MAX);
    return 0;
}
