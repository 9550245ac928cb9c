/* SPDX-License-Identifier: MIT */
/* The command line of a worker that takes a job: its own options and the job's, in any order. */
#include "common/config/dca_options.h"
#include "common/config/options.h"
#include "common/config/rank_options.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "tests/lib/suite.h"

#include <stdio.h>
#include <string.h>

static struct dca_options options;
static struct error error;
static char words[2000];
static char *argv[100];
static int argc;

static int parse(const char *line)
{
    argc = 1;
    argv[0] = words;
    error.text[0] = '\0';
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " "))
        argv[argc++] = word;
    dca_options_fini(&options);
    return dca_options_parse(&options, argc, argv, &error);
}

static void check_job_words(const char *expected)
{
    char text[2000] = "";
    for (int i = 1; i < options.words; i++) {
        strcat(text, i > 1 ? " " : "");
        strcat(text, options.word[i]);
    }
    ck_assert_str_eq(text, expected);
}

START_TEST(the_words_are_sorted)
{
    ck_assert_int_eq(parse("--technique gss --dca node toy --slowdown 2 a=1 --node-technique=ss --output x.npy b=2"),
                     0);
    ck_assert(dca_is_asked(argc, argv));
    ck_assert_int_eq(options.worker.dca, WORKER_DCA_NODE);
    ck_assert_double_eq(options.worker.slowdown, 2);
    ck_assert_str_eq(options.worker.node_technique.technique->name, "ss");
    check_job_words("--technique gss toy a=1 --output x.npy b=2");
}
END_TEST

START_TEST(modes_and_their_counters)
{
    static const struct {
        const char *line;
        enum worker_dca dca;
        bool two_counters;
    } modes[] = {
        {"--dca rma toy", WORKER_DCA_RMA, false},
        {"--dca=rma:atomics=1 toy", WORKER_DCA_RMA, false},
        {"--dca rma:atomics=2 toy", WORKER_DCA_RMA, true},
        {"--dca two-sided --break-after 7 toy", WORKER_DCA_TWO_SIDED, false},
        {"--dca two-sided:exchanges=2 toy", WORKER_DCA_TWO_SIDED, true},
        {"--dca node toy", WORKER_DCA_NODE, false},
    };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        ck_assert_int_eq(parse(modes[i].line), 0);
        ck_assert(dca_is_asked(argc, argv));
        ck_assert_int_eq(options.worker.dca, modes[i].dca);
        ck_assert(options.worker.two_counters == modes[i].two_counters);
        ck_assert_str_eq(options.worker.node_technique.technique->name, "fac2");
        check_job_words("toy");
    }
}
END_TEST

static const struct {
    const char *line, *text;
} refused[] = {
    {"--dca shared toy", "--dca 'shared': accepted: rma, rma:atomics=2, two-sided, two-sided:exchanges=2, node"},
    {"--dca rma:atomics=3 toy",
     "--dca 'rma:atomics=3': accepted: rma, rma:atomics=2, two-sided, two-sided:exchanges=2, node"},
    {"--dca rma --output a.npy --resume toy", "--resume is for launches with a supermaster, not for --dca"},
    {"--dca rma --journal j toy", "--journal is for launches with a supermaster, not for --dca"},
    {"--dca rma --verify 1 toy", "--verify is for launches with a supermaster, not for --dca"},
    {"--dca rma --retries 2 toy", "--retries is for launches with a supermaster, not for --dca"},
    {"--dca rma --ask-ahead 2 toy", "--ask-ahead is for launches with a supermaster, not for --dca"},
    {"--dca rma --masters-compute toy", "--masters-compute is for launches with a supermaster, not for --dca"},
    {"--dca rma --group-by even toy", "--group-by is for launches with a supermaster, not for --dca"},
    {"--dca rma --node-technique ss toy", "--node-technique is for --dca node"},
    {"--dca node --break-after 3 toy", "--break-after is for --dca rma and --dca two-sided"},
    {"--dca rma --break-after 0 toy", "--break-after '0': accepted: an integer from 1 to 2^63"},
    {"--dca rma --slowdown 0.5 toy", "--slowdown '0.5': accepted: a number from 1 to 1000"},
    {"--dca rma --tecnique ss toy", "unknown option --tecnique; did you mean --technique?"},
};

START_TEST(wrong_use_is_refused)
{
    ck_assert_int_eq(parse(refused[_i].line), -1);
    ck_assert_str_eq(error.text, refused[_i].text);
}
END_TEST

START_TEST(without_dca_it_is_not_asked)
{
    parse("--slowdown 2");
    ck_assert(!dca_is_asked(argc, argv));
    parse("-- --dca rma");
    ck_assert(!dca_is_asked(argc, argv));
    ck_assert_int_eq(parse("--dca rma --help"), OPTIONS_HELP);
    ck_assert_int_eq(parse("--dca rma --version"), OPTIONS_VERSION);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flat-options");
    TCase *tests = tcase_create("flat-options");
    tcase_add_test(tests, the_words_are_sorted);
    tcase_add_test(tests, modes_and_their_counters);
    tcase_add_loop_test(tests, wrong_use_is_refused, 0, sizeof refused / sizeof *refused);
    tcase_add_test(tests, without_dca_it_is_not_asked);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
