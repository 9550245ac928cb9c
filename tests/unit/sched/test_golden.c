/* The techniques against the published chunk sequences, and those computed from the published rules.
 *
 * Every entry of the golden file is run whose technique there is; every technique must have one. */
#include "tests/unit/sched/loops.h"

#include <jansson.h>
#include <string.h>

enum { WORKERS_MAX = 64 };

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

static uint64_t chunk_of(const json_t *entry, struct sched *sched, size_t chunk, bool closed)
{
    if (!closed)
        return sched_next(sched, worker_of(entry, sched, chunk));
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
    for (size_t i = 0; i < json_array_size(sequence); i++) {
        uint64_t expected = (uint64_t)json_integer_value(json_array_get(sequence, i));
        uint64_t chunk = chunk_of(entry, &sched, i, closed);
        ck_assert_msg(chunk == expected, "%s: chunk %zu is %" PRIu64 ", published is %" PRIu64, id, i, chunk, expected);
    }
    ck_assert_msg(sched.remaining == 0, "%s: %" PRIu64 " iterations remain", id, sched.remaining);
    sched_fini(&sched);
}

static json_t *golden(void)
{
    json_error_t error;
    json_t *entries = json_load_file(GOLDEN_FILE, 0, &error);
    ck_assert_msg(json_is_array(entries), "%s: %s", GOLDEN_FILE, error.text);
    return entries;
}

START_TEST(sequences_are_the_published_ones)
{
    json_t *entries = golden();
    size_t i, checked = 0;
    json_t *entry;
    json_array_foreach(entries, i, entry)
    {
        if (technique_of(entry) == NULL)
            continue;
        check_entry(entry);
        checked++;
    }
    ck_assert_uint_ge(checked, 27);
    json_decref(entries);
}
END_TEST

START_TEST(every_technique_has_a_sequence)
{
    json_t *entries = golden();
    size_t count, i;
    const struct technique *const *techniques = sched_techniques(&count);
    for (size_t t = 0; t < count; t++) {
        bool found = false;
        json_t *entry;
        json_array_foreach(entries, i, entry)
        {
            found = found || technique_of(entry) == techniques[t];
        }
        /* No paper prints a sequence of an adaptive technique. */
        ck_assert_msg(found || techniques[t]->needs & SCHED_NEEDS_FEEDBACK, "%s has no sequence", techniques[t]->name);
    }
    json_decref(entries);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sched-golden");
    TCase *all = tcase_create("golden");
    tcase_add_test(all, sequences_are_the_published_ones);
    tcase_add_test(all, every_technique_has_a_sequence);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
