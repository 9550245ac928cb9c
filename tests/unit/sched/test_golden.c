/* SPDX-License-Identifier: MIT */
/* The techniques against the published chunk sequences, and those that tests/sched/reference.py computes from the
 * rules.
 *
 * Every entry of both golden files is run; every technique must have one. */
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "tests/lib/suite.h"
#include "tests/unit/sched/loops.h"

#include <jansson.h>
#include <string.h>

#define PUBLISHED GOLDEN_DIR "/published.json"
#define COMPUTED  GOLDEN_DIR "/computed.json"

enum { WORKERS_MAX = 256 };

static const char *text_of(const json_t *entry, const char *key, const char *fallback)
{
    const json_t *value = json_object_get(entry, key);
    return value != NULL ? json_string_value(value) : fallback;
}

static uint64_t integer_of(const json_t *entry, const char *key)
{
    const json_t *value = json_object_get(entry, key);
    ck_assert_msg(json_is_integer(value), "%s: no %s", text_of(entry, "id", "?"), key);
    return (uint64_t)json_integer_value(value);
}

static const struct technique *technique_of(const json_t *entry)
{
    char name[64];
    const char *spec = text_of(entry, "spec", "");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":"), spec);
    return sched_find(name);
}

static struct sched loop_of_entry(const json_t *entry)
{
    double powers[WORKERS_MAX];
    const json_t *list = json_object_get(entry, "power");
    struct sched_config config = {
        .iterations = integer_of(entry, "iterations"),
        .workers = (unsigned)integer_of(entry, "workers"),
        .min_chunk = integer_of(entry, "min_chunk"),
    };
    struct error error;
    ck_assert_msg(sched_weighting_parse(&config.weighting, text_of(entry, "weighting", "none"), &error) == 0, "%s",
                  error.text);
    if (list != NULL) {
        ck_assert_uint_eq(json_array_size(list), config.workers);
        for (unsigned j = 0; j < config.workers; j++)
            powers[j] = json_number_value(json_array_get(list, j));
        config.powers = powers;
    }
    return loop_with(text_of(entry, "spec", ""), &config);
}

/* Round robin, or as "order" says from 1. */
static unsigned worker_of(const json_t *entry, const struct sched *sched, size_t chunk)
{
    const json_t *order = json_object_get(entry, "order");
    if (order == NULL)
        return (unsigned)(chunk % sched->workers);
    ck_assert_msg(chunk < json_array_size(order), "%s: order is too short", text_of(entry, "id", "?"));
    return (unsigned)json_integer_value(json_array_get(order, chunk)) - 1;
}

/* "feedback": "exact": who asks has finished its last chunk, in as many seconds as that has iterations over its power,
 * none of which took longer than another. */
static void feed_back(const json_t *entry, struct sched *sched, unsigned worker, uint64_t iterations)
{
    const json_t *powers = json_object_get(entry, "power");
    double power = powers != NULL ? json_number_value(json_array_get(powers, worker)) : 1;
    struct sched_feedback feedback = {
        .worker = worker,
        .chunks = 1,
        .iterations = iterations,
        .compute_s = (double)iterations / power,
        .samples = (uint32_t)iterations,
    };
    if (iterations > 0)
        sched_feedback(sched, &feedback);
}

static uint64_t next_chunk(const json_t *entry, struct sched *sched, size_t chunk, uint64_t last[WORKERS_MAX])
{
    unsigned worker = worker_of(entry, sched, chunk);
    if (strcmp(text_of(entry, "feedback", "none"), "exact") == 0)
        feed_back(entry, sched, worker, last[worker]);
    return last[worker] = sched_next(sched, worker);
}

static uint64_t chunk_at(struct sched *sched, size_t chunk)
{
    uint64_t size = sched_at(sched, chunk);
    size = size < sched->remaining ? size : sched->remaining;
    sched->remaining -= size;
    return size;
}

static void check_entry(const json_t *entry)
{
    const char *id = text_of(entry, "id", "?"), *form = text_of(entry, "form", "?");
    const json_t *sequence = json_object_get(entry, "sequence");
    bool closed = strcmp(form, "closed") == 0;
    ck_assert_msg(closed || strcmp(form, "recursive") == 0, "%s: form %s", id, form);
    struct sched sched = loop_of_entry(entry);
    uint64_t last[WORKERS_MAX] = {0};
    ck_assert_uint_le(sched.workers, WORKERS_MAX);
    for (size_t i = 0; i < json_array_size(sequence); i++) {
        uint64_t expected = (uint64_t)json_integer_value(json_array_get(sequence, i));
        uint64_t chunk = closed ? chunk_at(&sched, i) : next_chunk(entry, &sched, i, last);
        ck_assert_msg(chunk == expected, "%s: chunk %zu is %" PRIu64 ", expected is %" PRIu64, id, i, chunk, expected);
    }
    ck_assert_msg(sched.remaining == 0, "%s: %" PRIu64 " iterations remain", id, sched.remaining);
    sched_fini(&sched);
}

static json_t *golden(const char *file)
{
    json_error_t error;
    json_t *entries = json_load_file(file, 0, &error);
    ck_assert_msg(json_is_array(entries), "%s: %s", file, error.text);
    return entries;
}

static size_t check_file(const char *file)
{
    json_t *entries = golden(file);
    size_t i, checked = 0;
    json_t *entry;
    json_array_foreach(entries, i, entry)
    {
        ck_assert_msg(technique_of(entry) != NULL, "%s: no technique", text_of(entry, "id", "?"));
        check_entry(entry);
        checked++;
    }
    json_decref(entries);
    return checked;
}

START_TEST(sequences_are_the_published_ones)
{
    ck_assert_uint_ge(check_file(PUBLISHED), 36);
}
END_TEST

START_TEST(sequences_are_the_computed_ones)
{
    ck_assert_uint_ge(check_file(COMPUTED), 380);
}
END_TEST

static bool has_sequence(const struct technique *technique, const char *file)
{
    json_t *entries = golden(file);
    bool found = false;
    size_t i;
    json_t *entry;
    json_array_foreach(entries, i, entry)
    {
        found = found || technique_of(entry) == technique;
    }
    json_decref(entries);
    return found;
}

START_TEST(every_technique_has_a_sequence)
{
    size_t count;
    const struct technique *const *techniques = sched_techniques(&count);
    for (size_t t = 0; t < count; t++) {
        bool found = has_sequence(techniques[t], PUBLISHED) || has_sequence(techniques[t], COMPUTED);
        /* No paper prints a sequence of an adaptive technique. */
        ck_assert_msg(found || techniques[t]->needs & SCHED_NEEDS_FEEDBACK, "%s has no sequence", techniques[t]->name);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sched-golden");
    TCase *all = tcase_create("golden");
    tcase_add_test(all, sequences_are_the_published_ones);
    tcase_add_test(all, sequences_are_the_computed_ones);
    tcase_add_test(all, every_technique_has_a_sequence);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
