/* SPDX-License-Identifier: MIT */
/* The option parser on a made-up table: each way to write an option, each way to be wrong and its line, and the help.
 */
#include "common/config/options.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/suggest.h"
#include "tests/lib/suite.h"

#include <stdio.h>
#include <string.h>

struct target {
    char taken[200]; /* "name=value;" in the order of the calls */
};

static void note(struct target *target, const char *name, const char *value)
{
    size_t used = strlen(target->taken);
    snprintf(target->taken + used, sizeof target->taken - used, "%s=%s;", name, value != NULL ? value : "");
}

static int take_size(void *target, const char *value, struct error *error)
{
    if (strcmp(value, "huge") == 0)
        return error_set(error, "that is more than there is");
    if (strcmp(value, "wrong") == 0)
        return -1;
    note(target, "size", value);
    return 0;
}

static int take_all(void *target, const char *value, struct error *error)
{
    (void)error;
    note(target, "all", value);
    return 0;
}

static int take_operand(void *target, const char *word, struct error *error)
{
    (void)error;
    note(target, "", word);
    return 0;
}

static const struct option_row rows[] = {
    {"size", 's', "SIZE", "a size", "the size of it (default 3)", take_size},
    {"all", 'a', NULL, NULL, "everything", take_all},
    {"an-option-with-a-long-name", 0, "VALUE", "a value",
     "a summary that is too long for one line of the page and is therefore broken between two of its words", take_size},
    {NULL},
};

static const struct options table = {
    .usage = "thing [OPTION]... WORD\nthing --all",
    .about = "Does a thing.",
    .sections = {{"Options", rows}, {"Help", options_common}},
    .notes = "A note.\n    indented\n    and a second line of it, which is longer than all lines of the page are, so "
             "that it "
             "is broken\nAnother.",
};

static struct target target;
static struct error error;

/* Parses "thing" and the blank-separated words. */
static int parse(const char *line)
{
    static char words[200];
    static char name[] = "thing";
    char *argv[20] = {name};
    int argc = 1;
    target.taken[0] = error.text[0] = '\0';
    strcpy(words, line);
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " "))
        argv[argc++] = word;
    return options_parse(&table, argc, argv, &target, take_operand, &error);
}

static const struct {
    const char *line, *taken;
} accepted[] = {
    {"", ""},
    {"--size 4", "size=4;"},
    {"--size=4", "size=4;"},
    {"--size=", "size=;"},
    {"--size=a=b", "size=a=b;"},
    {"-s 4 -a", "size=4;all=;"},
    {"-s4 -a", "size=4;all=;"},
    {"-as4", "all=;size=4;"},
    {"--size -4", "size=-4;"},
    {"--size --no-such-option", "size=--no-such-option;"},
    {"--size=--all", "size=--all;"},
    {"--size 1 --size 2", "size=1;size=2;"},
    {"one --all two", "=one;all=;=two;"},
    {"-- --all -s", "=--all;=-s;"},
    {"one -- two -- three", "=one;=two;=--;=three;"},
    {"-", "=-;"},
};

START_TEST(options_are_taken)
{
    ck_assert_int_eq(parse(accepted[_i].line), 0);
    ck_assert_str_eq(target.taken, accepted[_i].taken);
}
END_TEST

static const struct {
    const char *line, *text;
} refused[] = {
    {"--size", "--size needs a value: accepted: a size"},
    {"--size --all", "--size needs a value: accepted: a size"},
    {"--all=3", "--all takes no value"},
    {"--size wrong", "--size 'wrong': accepted: a size"},
    {"--size huge", "--size: that is more than there is"},
    {"--sise 3", "unknown option --sise; did you mean --size?"},
    {"--isze=3", "unknown option --isze; did you mean --size?"},
    {"--an-opt", "unknown option --an-opt; did you mean --an-option-with-a-long-name?"},
    {"--nothing-like-it", "unknown option --nothing-like-it; --help shows what there is"},
    {"-x", "unknown option -x; --help shows what there is"},
    {"-xs", "unknown option -xs; --help shows what there is"},
    {"-ax", "unknown option -x; --help shows what there is"},
    {"-as", "--size needs a value: accepted: a size"},
};

START_TEST(errors_name_option_value_and_what_is_accepted)
{
    ck_assert_int_eq(parse(refused[_i].line), -1);
    ck_assert_str_eq(error.text, refused[_i].text);
}
END_TEST

START_TEST(help_and_version_end_the_parsing)
{
    ck_assert_int_eq(parse("--all --help --size wrong"), OPTIONS_HELP);
    ck_assert_int_eq(parse("-h"), OPTIONS_HELP);
    ck_assert_int_eq(parse("--version"), OPTIONS_VERSION);
    ck_assert_int_eq(parse("-V"), OPTIONS_VERSION);
    ck_assert_int_eq(parse("--size wrong --help"), -1);
}
END_TEST

START_TEST(operands_can_be_refused)
{
    char name[] = "thing", word[] = "word";
    char *argv[] = {name, word};
    ck_assert_int_eq(options_parse(&table, 2, argv, &target, NULL, &error), -1);
    ck_assert_str_eq(error.text, "unexpected word 'word'; --help shows what is accepted");
}
END_TEST

START_TEST(the_page_is_made_from_the_table)
{
    char *text = options_help(&table);
    ck_assert_str_eq(text, "Usage: thing [OPTION]... WORD\n"
                           "       thing --all\n"
                           "\n"
                           "Does a thing.\n"
                           "\n"
                           "Options:\n"
                           "  -s, --size SIZE        the size of it (default 3)\n"
                           "  -a, --all              everything\n"
                           "  --an-option-with-a-long-name VALUE\n"
                           "                         a summary that is too long for one line of the page\n"
                           "                         and is therefore broken between two of its words\n"
                           "\n"
                           "Help:\n"
                           "  -h, --help             show this page\n"
                           "  -V, --version          show the version\n"
                           "\n"
                           "A note.\n"
                           "\n"
                           "    indented\n"
                           "    and a second line of it, which is longer than all lines of the page are, so\n"
                           "    that it is broken\n"
                           "\n"
                           "Another.\n");
    free(text);
}
END_TEST

/* A member of each kind. */
struct filled {
    bool first, flag, given, right;
    unsigned narrow, choice;
    uint64_t wide, time_ns;
    const char *word;
    char path[8];
    struct sched_spec technique;
};

static const struct option_row filled_rows[] = {
    {"flag", 0, NULL, NULL, "", TAKES_FLAG(struct filled, flag)},
    {"narrow", 0, "N", NULL, "", TAKES_INTEGER(struct filled, narrow, 2, 1048576),
     .given = offsetof(struct filled, given)},
    {"wide", 0, "N|auto", "auto, a number", "", TAKES_INTEGER(struct filled, wide, 1, SCHED_ITERATIONS_MAX),
     .zero = "auto"},
    {"large", 0, "N", NULL, "", TAKES_INTEGER(struct filled, wide, 0, UINT64_C(1) << 24)},
    {"time", 0, "SECONDS", NULL, "", TAKES_SECONDS(struct filled, time_ns, 100)},
    {"choice", 0, "none|some|all", NULL, "", TAKES_CHOICE(struct filled, choice)},
    {"side", 0, "left|right", NULL, "", TAKES_CHOICE(struct filled, right)},
    {"word", 0, "WORD", "a word", "", TAKES_WORD(struct filled, word), .least = 1},
    {"path", 0, "FILE", "a file", "", TAKES_PATH(struct filled, path)},
    {"technique", 0, "SPEC", "a technique", "", TAKES_TECHNIQUE(struct filled, technique)},
    {NULL},
};

START_TEST(the_page_has_the_bounds_of_numbers)
{
    static const struct option_row bounded[] = {
        {"count", 0, "N", NULL, "so many (default 2)", TAKES_INTEGER(struct filled, narrow, 1, 64)},
        {"time", 0, "S", NULL, "so long", TAKES_SECONDS(struct filled, time_ns, 100)},
        {"wide", 0, "N", NULL, "so wide (default 1)", TAKES_INTEGER(struct filled, wide, 1, SCHED_ITERATIONS_MAX)},
        {NULL},
    };
    const struct options options = {.usage = "thing", .about = "A.", .sections = {{"Options", bounded}}};
    char *text = options_help(&options);
    ck_assert_str_eq(text, "Usage: thing\n\nA.\n\nOptions:\n"
                           "  --count N              so many (1 to 64; default 2)\n"
                           "  --time S               so long (0 to 100)\n"
                           "  --wide N               so wide (default 1)\n");
    free(text);
}
END_TEST

static const struct options filled_table = {.sections = {{"Options", filled_rows}}};

static int fill(struct filled *filled, const char *option, const char *value)
{
    const struct options_word word = {options_find(&filled_table, option), value};
    error.text[0] = '\0';
    return option_apply(&word, filled, &error);
}

START_TEST(values_are_taken_by_their_kind)
{
    struct filled filled = {.wide = 7, .right = false};
    ck_assert(fill(&filled, "flag", NULL) == 0 && filled.flag && !filled.first);
    ck_assert(fill(&filled, "wide", "2^63") == 0 && filled.wide == UINT64_C(1) << 63 && !filled.given);
    ck_assert(fill(&filled, "wide", "auto") == 0 && filled.wide == 0);
    ck_assert(fill(&filled, "narrow", "1e6") == 0 && filled.narrow == 1000000 && filled.given && filled.choice == 0);
    ck_assert(fill(&filled, "time", "1.5") == 0 && filled.time_ns == 1500000000);
    ck_assert(fill(&filled, "choice", "all") == 0 && filled.choice == 2);
    ck_assert(fill(&filled, "side", "right") == 0 && filled.right);
    ck_assert(fill(&filled, "side", "left") == 0 && !filled.right);
    ck_assert(fill(&filled, "word", "x") == 0 && strcmp(filled.word, "x") == 0);
    ck_assert(fill(&filled, "path", "1234567") == 0 && strcmp(filled.path, "1234567") == 0);
    ck_assert(fill(&filled, "technique", "gss") == 0 && strcmp(filled.technique.technique->name, "gss") == 0);
}
END_TEST

static const struct {
    const char *option, *value, *text;
} unfit[] = {
    {"narrow", "1", "--narrow '1': accepted: an integer from 2 to 2^20"},
    {"narrow", "1048577", "--narrow '1048577': accepted: an integer from 2 to 2^20"},
    {"narrow", "auto", "--narrow 'auto': accepted: an integer from 2 to 2^20"},
    {"wide", "0", "--wide '0': accepted: auto, a number"},
    {"large", "-1", "--large '-1': accepted: an integer from 0 to 2^24"},
    {"time", "101", "--time '101': accepted: a number of seconds from 0 to 100"},
    {"choice", "al", "--choice 'al': accepted: none, some, all"},
    {"word", "", "--word '': accepted: a word"},
    {"path", "", "--path: the file name is empty"},
    {"path", "12345678", "--path: the file name is longer than 7 characters"},
};

START_TEST(what_does_not_fit_is_refused_and_changes_nothing)
{
    struct filled filled = {.narrow = 5, .wide = 5, .choice = 1, .path = "p"};
    struct filled before;
    memcpy(&before, &filled, sizeof before);
    ck_assert_int_eq(fill(&filled, unfit[_i].option, unfit[_i].value), -1);
    ck_assert_str_eq(error.text, unfit[_i].text);
    ck_assert_mem_eq(&filled, &before, sizeof filled);
}
END_TEST

START_TEST(choices_are_whole_words)
{
    ck_assert_int_eq(option_choice("none|power", "none"), 0);
    ck_assert_int_eq(option_choice("none|power", "power"), 1);
    ck_assert_int_eq(option_choice("none|power", "pow"), -1);
    ck_assert_int_eq(option_choice("none|power", "none|power"), -1);
    ck_assert_int_eq(option_choice("none|power", ""), -1);
}
END_TEST

START_TEST(nearest_is_near_or_nothing)
{
    static const struct {
        const char *word, *name;
    } cases[] = {{"chnks", "chunks"}, {"kernel", "kernels"}, {"urn", "run"}, {"xyz", NULL}, {"", NULL}};
    struct suggestion nearest;
    suggest_init(&nearest, cases[_i].word);
    suggest_offer(&nearest, "run");
    suggest_offer(&nearest, "kernels");
    suggest_offer(&nearest, "chunks");
    ck_assert_pstr_eq(nearest.name, cases[_i].name);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("options");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, options_are_taken, 0, sizeof accepted / sizeof *accepted);
    tcase_add_loop_test(tests, errors_name_option_value_and_what_is_accepted, 0, sizeof refused / sizeof *refused);
    tcase_add_test(tests, help_and_version_end_the_parsing);
    tcase_add_test(tests, operands_can_be_refused);
    tcase_add_test(tests, the_page_is_made_from_the_table);
    tcase_add_test(tests, the_page_has_the_bounds_of_numbers);
    tcase_add_test(tests, values_are_taken_by_their_kind);
    tcase_add_loop_test(tests, what_does_not_fit_is_refused_and_changes_nothing, 0, sizeof unfit / sizeof *unfit);
    tcase_add_test(tests, choices_are_whole_words);
    tcase_add_loop_test(tests, nearest_is_near_or_nothing, 0, 5);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
