/* SPDX-License-Identifier: MIT */
/* Lines that come in pieces and beside a progress line: each is written whole, by one call, and on a line of its own.
 */
#include "deploy/cli/whole_lines.h"
#include "tests/lib/suite.h"

#include <string.h>

static char written[4000];
static unsigned calls;

static void note_call(void *context, const char *bytes, size_t count)
{
    (void)context;
    calls++;
    if (strlen(written) + count + 2 > sizeof written)
        return;
    strncat(written, bytes, count);
    strcat(written, "|");
}

#define CLEAR "\r" WHOLE_LINES_CLEAR
#define BAR   "\r 50 %  5 of 10" WHOLE_LINES_CLEAR

static const struct {
    const char *in, *out; /* '|' in what is written: the end of a call */
} streams[] = {
    {"", ""},
    {"one\ntwo\n", "one\n|two\n|"},
    {"\n\n", "\n|\n|"},
    {"no end", "no end|"},
    {BAR, BAR "|" CLEAR "|"},
    {BAR BAR CLEAR, BAR "|" BAR "|" CLEAR "|"},
    {BAR "worker: rank 1: text\n" BAR CLEAR, BAR "|" CLEAR "worker: rank 1: text\n|" BAR "|" CLEAR "|"},
    {BAR CLEAR "supermaster: text\n", BAR "|" CLEAR "|supermaster: text\n|"},
    {"worker: ra" BAR "nk 1: text\n", BAR "|" CLEAR "worker: rank 1: text\n|"},
    {"from another system\r\nnext\n", "from another system\r\n|next\n|"},
    {"\r 50 % of another program\r 60 %\n", "\r 50 % of another program\r 60 %\n|"},
    {"a\r\r\rb\n", "a\r\r\rb\n|"},
};

START_TEST(lines_are_whole)
{
    for (size_t step = 1; step <= 4000; step += 3999) {
        struct whole_lines lines;
        const size_t length = strlen(streams[_i].in);
        written[0] = '\0';
        ck_assert_int_eq(whole_lines_init(&lines, false, note_call, NULL), 0);
        for (size_t at = 0; at < length; at += step)
            whole_lines_take(&lines, streams[_i].in + at, length - at < step ? length - at : step);
        whole_lines_flush(&lines, true);
        ck_assert_str_eq(written, streams[_i].out);
        ck_assert(!whole_lines_hold(&lines));
        whole_lines_fini(&lines);
    }
}
END_TEST

START_TEST(a_progress_line_comes_again_where_it_was_overwritten)
{
    struct whole_lines lines;
    written[0] = '\0';
    ck_assert_int_eq(whole_lines_init(&lines, false, note_call, NULL), 0);
    whole_lines_redraw(&lines);
    ck_assert_str_eq(written, "");
    whole_lines_take(&lines, BAR "text\n", sizeof BAR "text\n" - 1);
    whole_lines_redraw(&lines);
    whole_lines_redraw(&lines);
    ck_assert_str_eq(written, BAR "|" CLEAR "text\n|" BAR "|" BAR "|");
    written[0] = '\0';
    whole_lines_take(&lines, CLEAR, sizeof CLEAR - 1);
    whole_lines_redraw(&lines);
    whole_lines_flush(&lines, true);
    ck_assert_str_eq(written, CLEAR "|");
    whole_lines_fini(&lines);
}
END_TEST

START_TEST(what_does_not_end_is_not_lost)
{
    struct whole_lines lines;
    written[0] = '\0';
    ck_assert_int_eq(whole_lines_init(&lines, false, note_call, NULL), 0);
    whole_lines_take(&lines, BAR "input? ", strlen(BAR "input? "));
    ck_assert(whole_lines_hold(&lines));
    ck_assert_str_eq(written, BAR "|");
    whole_lines_flush(&lines, false);
    ck_assert_str_eq(written, BAR "|" CLEAR "input? |");
    whole_lines_take(&lines, "\r", 1);
    ck_assert(whole_lines_hold(&lines));
    whole_lines_flush(&lines, false);
    ck_assert_str_eq(written, BAR "|" CLEAR "input? |\r|");
    whole_lines_fini(&lines);
}
END_TEST

START_TEST(long_lines_are_cut_and_complete)
{
    struct whole_lines lines;
    calls = 0;
    written[0] = '\0';
    ck_assert_int_eq(whole_lines_init(&lines, true, note_call, NULL), 0);
    for (unsigned i = 0; i < WHOLE_LINES_MAX + 10; i++)
        whole_lines_take(&lines, "x", 1);
    ck_assert_uint_eq(calls, 1);
    whole_lines_take(&lines, "\n", 1);
    ck_assert_str_eq(written, "xxxxxxxxxx\n|");
    whole_lines_fini(&lines);
}
END_TEST

START_TEST(names_are_set_off_where_there_are_colours)
{
    struct whole_lines lines;
    const char text[] = "worker: rank 1: text\nworkers: none\nhdss: text\n";
    written[0] = '\0';
    ck_assert_int_eq(whole_lines_init(&lines, true, note_call, NULL), 0);
    whole_lines_take(&lines, text, strlen(text));
    ck_assert_str_eq(written, "\033[1mworker:\033[0m rank 1: text\n|workers: none\n|\033[1mhdss:\033[0m text\n|");
    whole_lines_fini(&lines);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("whole_lines");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, lines_are_whole, 0, sizeof streams / sizeof *streams);
    tcase_add_test(tests, a_progress_line_comes_again_where_it_was_overwritten);
    tcase_add_test(tests, what_does_not_end_is_not_lost);
    tcase_add_test(tests, long_lines_are_cut_and_complete);
    tcase_add_test(tests, names_are_set_off_where_there_are_colours);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
