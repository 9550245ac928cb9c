/* SPDX-License-Identifier: MIT */
/* The option parser on a made-up table: each way to write an option, each way to be wrong and its line, and the help.
 */
#include "common/config/nearest.h"
#include "common/config/options.h"
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
    {"-as", "unknown option -as; --help shows what there is"},
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
                           "  --version              show the version\n"
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
    struct nearest nearest;
    nearest_init(&nearest, cases[_i].word);
    nearest_offer(&nearest, "run");
    nearest_offer(&nearest, "kernels");
    nearest_offer(&nearest, "chunks");
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
    tcase_add_test(tests, choices_are_whole_words);
    tcase_add_loop_test(tests, nearest_is_near_or_nothing, 0, 5);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
