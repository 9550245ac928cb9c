/* SPDX-License-Identifier: MIT */
/* Plug-ins as techniques, without a shared object: the example's chunks are those of fac2 and of its own closed form;
 * values, powers, feedback and the ends of states reach the plug-in; what it returns is held to a chunk; and a table
 * that is none is refused in one line. */
#include "common/sched/bounds.h"
#include "common/sched/plugin.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "hdss/technique.h"
#include "tests/lib/suite.h"
#include "tests/unit/sched/loops.h"

#include <stdalign.h>
#include <stdio.h>
#include <string.h>

extern const struct hdss_technique hdss_technique; /* deploy/examples/techniques/factoring.c */

static struct sched_spec plugged(struct technique_plugin *made, const struct hdss_technique *plugin, const char *params)
{
    struct sched_spec spec;
    struct error error;
    if (technique_plugin_init(made, "./own.so", plugin, &error) < 0 ||
        sched_spec_parse_params(&spec, &made->technique, params, &error) < 0)
        ck_abort_msg("%s", error.text);
    return spec;
}

static struct sched loop_by(const struct sched_spec *spec, const struct sched_config *config)
{
    struct sched sched;
    struct error error;
    if (sched_init(&sched, spec, config, &error) < 0)
        ck_abort_msg("%s", error.text);
    return sched;
}

/* --- the example --- */

static const struct {
    uint64_t iterations, min_chunk;
    unsigned workers;
} example_loops[] = {{0, 1, 4},     {1, 1, 1},       {7, 1, 3},        {1000, 1, 4},
                     {1000, 20, 4}, {12345, 1, 64},  {1000000, 1, 96}, {(UINT64_C(1) << 31) + 7, 1, 5},
                     {100, 1, 500}, {65536, 100, 16}};

START_TEST(the_example_cuts_as_fac2_does)
{
    struct technique_plugin made;
    const struct sched_spec spec = plugged(&made, &hdss_technique, NULL);
    const struct sched_config config = {.iterations = example_loops[_i].iterations,
                                        .workers = example_loops[_i].workers,
                                        .min_chunk = example_loops[_i].min_chunk};
    struct sched mine = loop_by(&spec, &config), built_in = loop_with("fac2", &config);
    for (uint64_t step = 0, chunk = 1; chunk > 0; step++) {
        const unsigned worker = (unsigned)(step * 7 % config.workers);
        chunk = sched_next(&built_in, worker);
        ck_assert_uint_eq(sched_next(&mine, worker), chunk);
    }
    sched_fini(&mine);
    sched_fini(&built_in);
}
END_TEST

START_TEST(its_closed_form_is_its_recursive_one)
{
    struct technique_plugin made;
    const struct sched_spec spec = plugged(&made, &hdss_technique, "parts=3");
    const struct sched_config config = {.iterations = example_loops[_i].iterations,
                                        .workers = example_loops[_i].workers};
    struct sched sched = loop_by(&spec, &config), closed = loop_by(&spec, &config);
    struct sched_bounds bounds;
    struct error error;
    ck_assert_int_eq(sched_check_closed(&closed, &error), 0);
    ck_assert_int_eq(sched_bounds_init(&bounds, &closed, &error), 0);
    for (uint64_t step = 0, first = 0; first < config.iterations; step++) {
        ck_assert_uint_eq(sched_bounds_start(&bounds, step), first);
        first += sched_next(&sched, 0);
        ck_assert_uint_eq(sched_bounds_start(&bounds, step + 1), first);
    }
    ck_assert_uint_eq(sched.remaining, 0);
    sched_bounds_fini(&bounds);
    sched_fini(&closed);
    sched_fini(&sched);
}
END_TEST

/* --- a technique that notes what it is told --- */

enum { SIZE, FACTOR, ROUND };

static const struct hdss_technique_param noting_params[] = {
    {"size", HDSS_TECHNIQUE_INTEGER, NULL, "ceil(N/P)", 0, 1e6, NULL, "what next() returns, iterations"},
    {"factor", HDSS_TECHNIQUE_REAL, "1.5", NULL, 0, 10, NULL, "a number"},
    {"round", HDSS_TECHNIQUE_CHOICE, "floor", NULL, 0, 0, "ceil|floor", "a choice"},
    {NULL, HDSS_TECHNIQUE_INTEGER, NULL, NULL, 0, 0, NULL, NULL},
};

struct note {
    max_align_t aligned;
    const struct hdss_technique_loop *loop;
    struct hdss_technique_request request; /* the latest */
    struct hdss_technique_feedback feedback;
    unsigned begun_again;
};

static struct note *latest; /* the state of the latest init() */
static int begun, ended;    /* calls of init() that went well, and of fini() */

static int note_init(void *state, const struct hdss_technique_loop *loop, char error[HDSS_TECHNIQUE_ERROR_MAX])
{
    struct note *note = state;
    if (loop->values[FACTOR].real == 9) {
        snprintf(error, HDSS_TECHNIQUE_ERROR_MAX, "factor=9 is odd: accepted is another");
        return -1;
    }
    if (loop->values[FACTOR].real == 8)
        return 3;
    if (loop->values[FACTOR].real == 7)
        return -1;
    ck_assert_uint_eq((uintptr_t)state % alignof(max_align_t), 0);
    ck_assert(note->loop == NULL && note->begun_again == 0);
    note->loop = loop;
    latest = note;
    begun++;
    return 0;
}

static uint64_t note_next(void *state, const struct hdss_technique_request *request)
{
    struct note *note = state;
    const struct hdss_technique_value *size = &note->loop->values[SIZE];
    note->request = *request;
    if (size->integer == 66) {
        snprintf(request->error, HDSS_TECHNIQUE_ERROR_MAX, "66 are too many");
        return HDSS_TECHNIQUE_FAILED;
    }
    return size->is_known ? size->integer : note->loop->iterations / note->loop->workers;
}

static void note_feedback(void *state, const struct hdss_technique_feedback *feedback)
{
    ((struct note *)state)->feedback = *feedback;
}

static double note_weight(const void *state, uint32_t worker)
{
    return ((const struct note *)state)->loop->powers[worker] / 2;
}

static void note_again(void *state, const struct hdss_technique_loop *loop)
{
    struct note *note = state;
    ck_assert_ptr_eq(note->loop, loop);
    note->begun_again++;
}

static void note_fini(void *state)
{
    ck_assert_ptr_nonnull(((struct note *)state)->loop);
    ended++;
}

static const struct hdss_technique noting = {
    .abi = HDSS_TECHNIQUE_ABI,
    .name = "noting",
    .title = "notes what it is told",
    .rule = "K = size",
    .params = noting_params,
    .state_bytes = sizeof(struct note),
    .is_weighted = true,
    .powers = HDSS_TECHNIQUE_BY_MEAN,
    .init = note_init,
    .next = note_next,
    .feedback = note_feedback,
    .weight = note_weight,
    .again = note_again,
    .fini = note_fini,
};

static const double four_powers[] = {1, 2, 4, 1};
static const struct sched_config four = {.iterations = 100, .workers = 4, .powers = four_powers, .min_chunk = 3};

START_TEST(a_plugin_is_told_the_loop_and_its_values)
{
    struct technique_plugin made;
    struct sched_spec spec = plugged(&made, &noting, "size=7");
    struct sched sched = loop_by(&spec, &four);
    const struct hdss_technique_loop *loop = latest->loop;
    ck_assert(loop->iterations == 100 && loop->workers == 4 && loop->min_chunk == 3);
    ck_assert(loop->powers[1] == 2 && loop->powers[2] == 4 && loop->technique == &noting);
    ck_assert(loop->values[SIZE].is_known && loop->values[SIZE].integer == 7);
    ck_assert(loop->values[FACTOR].is_known && loop->values[FACTOR].real == 1.5);
    ck_assert(loop->values[ROUND].is_known && loop->values[ROUND].integer == 1);
    ck_assert_uint_eq(sched_next(&sched, 0), 7);
    ck_assert_uint_eq(sched_next(&sched, 2), 7);
    ck_assert(latest->request.remaining == 93 && latest->request.step == 1 && latest->request.worker == 2);
    sched_give_back(&sched, 7);
    sched_next(&sched, 3);
    ck_assert(latest->request.remaining == 93 && latest->request.step == 2);
    sched_fini(&sched);
    spec = plugged(&made, &noting, "factor=2,round=ceil");
    sched = loop_by(&spec, &four);
    ck_assert(!latest->loop->values[SIZE].is_known && latest->loop->values[FACTOR].real == 2);
    ck_assert(latest->loop->values[ROUND].integer == 0);
    sched_fini(&sched);
}
END_TEST

START_TEST(a_plugin_learns)
{
    struct technique_plugin made;
    const struct sched_spec spec = plugged(&made, &noting, NULL);
    struct sched sched = loop_by(&spec, &four);
    const struct sched_feedback feedback = {
        .worker = 2, .chunks = 3, .iterations = 30, .compute_s = 1.5, .wait_s = 0.5, .deviation_s = 0.01, .samples = 9};
    ck_assert(sched_spec_learns(&spec) && !sched_spec_probes(&spec));
    sched_feedback(&sched, &feedback);
    const struct hdss_technique_feedback *told = &latest->feedback;
    ck_assert(told->worker == 2 && told->chunks == 3 && told->iterations == 30 && told->samples == 9);
    ck_assert(told->compute_s == 1.5 && told->wait_s == 0.5 && told->deviation_s == 0.01);
    ck_assert_double_eq(sched_weight(&sched, 2), 2);
    ck_assert_uint_eq(technique_traits(spec.technique), PLUGIN_LEARNS);
    sched_fini(&sched);
}
END_TEST

START_TEST(each_state_ends_once)
{
    struct technique_plugin made;
    struct hdss_technique forgetful = noting;
    struct sched_spec spec = plugged(&made, &noting, NULL);
    struct error error;
    begun = ended = 0;
    struct sched sched = loop_by(&spec, &four), other = loop_by(&spec, &four);
    ck_assert(begun == 2 && ended == 0);
    ck_assert_int_eq(sched_again(&other, 50, &error), 0);
    ck_assert(begun == 2 && latest->begun_again == 1 && latest->loop->iterations == 50);
    sched_fini(&sched);
    sched_fini(&other);
    sched_fini(&other);
    ck_assert(begun == 2 && ended == 2);
    forgetful.again = NULL;
    spec = plugged(&made, &forgetful, NULL);
    sched = loop_by(&spec, &four);
    ck_assert_int_eq(sched_again(&sched, 60, &error), 0);
    ck_assert(begun == 4 && ended == 3 && latest->loop->iterations == 60);
    sched_fini(&sched);
    ck_assert_int_eq(ended, 4);
}
END_TEST

static const struct {
    const char *params, *error;
} refused[] = {
    {"factor=9", "technique ./own.so: factor=9 is odd: accepted is another"},
    {"factor=8", "technique ./own.so: its init() returned 3; accepted: 0, or -1 for a failure"},
    {"factor=7", "technique ./own.so: its init() refuses the loop, and does not say why"},
};

START_TEST(a_loop_that_is_refused_owns_nothing)
{
    struct technique_plugin made;
    const struct sched_spec spec = plugged(&made, &noting, refused[_i].params);
    struct sched sched;
    struct error error;
    begun = ended = 0;
    ck_assert_int_eq(sched_init(&sched, &spec, &four, &error), -1);
    ck_assert_str_eq(error.text, refused[_i].error);
    ck_assert(begun == 0 && ended == 0 && sched.own == NULL);
}
END_TEST

START_TEST(a_technique_that_fails_is_asked_no_more)
{
    struct technique_plugin made;
    const struct sched_spec spec = plugged(&made, &noting, "size=66");
    struct sched sched = loop_by(&spec, &four);
    ck_assert_uint_eq(sched_next(&sched, 0), 3);
    ck_assert_str_eq(sched.failure, "technique ./own.so: next() failed: 66 are too many");
    ck_assert_uint_eq(latest->request.step, 0);
    ck_assert_uint_eq(sched_next(&sched, 1), 3);
    ck_assert_uint_eq(latest->request.step, 0);
    sched_fini(&sched);
    ck_assert_ptr_null(sched.failure);
}
END_TEST

START_TEST(what_is_returned_is_held_to_a_chunk)
{
    static const uint64_t returned[] = {0, 2, 3, 1000, 1000000}, chunks[] = {3, 3, 3, 100, 100};
    for (size_t i = 0; i < sizeof returned / sizeof *returned; i++) {
        char params[40];
        struct technique_plugin made;
        snprintf(params, sizeof params, "size=%" PRIu64, returned[i]);
        const struct sched_spec spec = plugged(&made, &noting, params);
        struct sched sched = loop_by(&spec, &four);
        ck_assert_uint_eq(sched_next(&sched, 1), chunks[i]);
        sched_fini(&sched);
    }
}
END_TEST

/* --- tables --- */

static void check_refusal(const struct hdss_technique *plugin, const char *line)
{
    struct technique_plugin made;
    struct error error;
    ck_assert_int_eq(technique_plugin_init(&made, "./own.so", plugin, &error), -1);
    ck_assert_msg(strncmp(error.text, line, strlen(line)) == 0, "%s", error.text);
}

START_TEST(a_technique_that_lacks_something_is_refused)
{
    struct hdss_technique plugin = noting;
    plugin.abi = 77;
    check_refusal(&plugin,
                  "technique ./own.so: is built for version 77 of the technique interface; accepted: 1, build");
    plugin = noting;
    plugin.rule = NULL;
    check_refusal(&plugin, "technique ./own.so: its name, title or rule is missing");
    plugin = noting;
    plugin.next = NULL;
    check_refusal(&plugin, "technique ./own.so: it lacks next()");
    plugin = noting;
    plugin.state_bytes = HDSS_TECHNIQUE_STATE_MAX + 1;
    check_refusal(&plugin, "technique ./own.so: a state of 1048577 bytes is too large; accepted: up to 1048576");
    plugin = noting;
    plugin.powers = (enum hdss_technique_powers)7;
    check_refusal(&plugin, "technique ./own.so: its powers are by no measure that there is");
}
END_TEST

static const struct {
    struct hdss_technique_param param;
    const char *error;
} bad_params[] = {
    {{"k", HDSS_TECHNIQUE_INTEGER, "1", NULL, 0, 9, NULL, NULL}, "'k' lacks a summary, or has not one of fallback and"},
    {{"k", HDSS_TECHNIQUE_INTEGER, NULL, NULL, 0, 9, NULL, "s"}, "'k' lacks a summary, or has not one of fallback and"},
    {{"k", HDSS_TECHNIQUE_INTEGER, "1", "N", 0, 9, NULL, "s"}, "'k' lacks a summary, or has not one of fallback and"},
    {{"k=", HDSS_TECHNIQUE_INTEGER, "1", NULL, 0, 9, NULL, "s"}, "'k=' has a name that cannot be typed"},
    {{"", HDSS_TECHNIQUE_INTEGER, "1", NULL, 0, 9, NULL, "s"}, "'' has a name that cannot be typed"},
    {{"k", (enum hdss_technique_kind)5, "1", NULL, 0, 9, NULL, "s"}, "'k' is of no kind that there is"},
    {{"k", HDSS_TECHNIQUE_CHOICE, "a", NULL, 0, 9, NULL, "s"}, "'k' has no choices"},
    {{"k", HDSS_TECHNIQUE_REAL, "1", NULL, 9, 0, NULL, "s"}, "'k' has no minimum that is at most its maximum"},
    {{"k", HDSS_TECHNIQUE_REAL, "1", NULL, 0, (double)NAN, NULL, "s"},
     "'k' has no minimum that is at most its maximum"},
    {{"k", HDSS_TECHNIQUE_INTEGER, "1", NULL, -1, 9, NULL, "s"}, "'k' reaches beyond the integers from 0 to 2^63"},
    {{"k", HDSS_TECHNIQUE_INTEGER, "1", NULL, 0, 1e19, NULL, "s"}, "'k' reaches beyond the integers from 0 to 2^63"},
    {{"k", HDSS_TECHNIQUE_INTEGER, "10", NULL, 0, 9, NULL, "s"}, "'k' does not accept its own default, '10'"},
    {{"k", HDSS_TECHNIQUE_CHOICE, "c", NULL, 0, 0, "a|b", "s"}, "'k' does not accept its own default, 'c'"},
};

START_TEST(a_parameter_that_is_none_is_refused)
{
    const struct hdss_technique_param params[] = {bad_params[_i].param, {.name = NULL}};
    struct hdss_technique plugin = noting;
    char line[200];
    plugin.params = params;
    snprintf(line, sizeof line, "technique ./own.so: its parameter %s", bad_params[_i].error);
    check_refusal(&plugin, line);
}
END_TEST

START_TEST(parameters_have_a_limit_and_a_name_each)
{
    struct hdss_technique_param params[SCHED_PARAMS_MAX + 2];
    char names[SCHED_PARAMS_MAX + 1][8];
    struct hdss_technique plugin = noting;
    for (int i = 0; i <= SCHED_PARAMS_MAX; i++) {
        snprintf(names[i], sizeof names[i], "k%d", i);
        params[i] = (struct hdss_technique_param){names[i], HDSS_TECHNIQUE_INTEGER, "1", NULL, 0, 9, NULL, "a number"};
    }
    params[SCHED_PARAMS_MAX + 1] = (struct hdss_technique_param){.name = NULL};
    plugin.params = params;
    check_refusal(&plugin, "technique ./own.so: has more than 8 parameters");
    params[3].name = "k1";
    check_refusal(&plugin, "technique ./own.so: has two parameters 'k1'");
}
END_TEST

/* --- specs and other ranks --- */

static const struct {
    const char *text;
    bool is_plugin;
    size_t length;
} names[] = {
    {"gss", false, 3},
    {"css:chunk=5", false, 3},
    {"css:chunk=a/b", false, 3},
    {"./mine.so", true, 9},
    {"./mine.so:k=1", true, 9},
    {"mine.so:k=1", true, 7},
    {"mine.so", true, 7},
    {"/a:b/mine.so:k=1", true, 12},
    {"python:a.B:k=1", true, 10},
    {"python:a.B", true, 10},
    {"python:", true, 7},
    {"./mine:k=1", true, 6},
    {"./mine.so:k=1/2", true, 9},
    {"", false, 0},
    {":k=1", false, 0},
    {"so", false, 2},
    {"a.sof", false, 5},
};

START_TEST(files_are_known_by_their_names)
{
    ck_assert(sched_spec_is_plugin(names[_i].text) == names[_i].is_plugin);
    ck_assert_uint_eq(sched_spec_name_length(names[_i].text), names[_i].length);
}
END_TEST

START_TEST(a_plugin_that_is_not_taken_is_called_one)
{
    struct sched_spec spec;
    struct error error;
    ck_assert_int_eq(sched_spec_parse(&spec, "./mine.so:k=1", &error), -1);
    ck_assert_str_eq(error.text, "technique './mine.so' is a plug-in, which is not taken here: accepted are those that "
                                 "`hdss techniques` lists");
}
END_TEST

START_TEST(other_ranks_know_its_traits)
{
    for (unsigned traits = 0; traits <= PLUGIN_TRAITS_ALL; traits++) {
        const struct sched_spec spec = {.technique = technique_elsewhere(traits)};
        ck_assert_uint_eq(technique_traits(spec.technique), traits);
        ck_assert(sched_spec_learns(&spec) == ((traits & PLUGIN_LEARNS) != 0));
        ck_assert(spec.technique->may_grow == ((traits & PLUGIN_MAY_GROW) != 0));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plugin");
    TCase *tcase = tcase_create("plugin");
    const int loops = sizeof example_loops / sizeof *example_loops;
    tcase_add_loop_test(tcase, the_example_cuts_as_fac2_does, 0, loops);
    tcase_add_loop_test(tcase, its_closed_form_is_its_recursive_one, 0, loops);
    tcase_add_test(tcase, a_plugin_is_told_the_loop_and_its_values);
    tcase_add_test(tcase, a_plugin_learns);
    tcase_add_test(tcase, each_state_ends_once);
    tcase_add_loop_test(tcase, a_loop_that_is_refused_owns_nothing, 0, sizeof refused / sizeof *refused);
    tcase_add_test(tcase, a_technique_that_fails_is_asked_no_more);
    tcase_add_test(tcase, what_is_returned_is_held_to_a_chunk);
    tcase_add_test(tcase, a_technique_that_lacks_something_is_refused);
    tcase_add_loop_test(tcase, a_parameter_that_is_none_is_refused, 0, sizeof bad_params / sizeof *bad_params);
    tcase_add_test(tcase, parameters_have_a_limit_and_a_name_each);
    tcase_add_loop_test(tcase, files_are_known_by_their_names, 0, sizeof names / sizeof *names);
    tcase_add_test(tcase, a_plugin_that_is_not_taken_is_called_one);
    tcase_add_test(tcase, other_ranks_know_its_traits);
    suite_add_tcase(suite, tcase);
    return suite_run_together(suite);
}
