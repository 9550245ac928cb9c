/* SPDX-License-Identifier: MIT */
/* The words of a command as one line: what stays a word, what is for a shell, and what is one only at some places. */
#include "deploy/cli/words.h"
#include "tests/lib/suite.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 12 };

static void is_line(const struct words_options *options, const char *wanted, const char *const *given)
{
    char *words[WORDS_MAX];
    int count = 0;
    for (; given[count] != NULL; count++)
        words[count] = (char *)given[count];
    char *line = words_line(words, count, options);
    ck_assert_str_eq(line, wanted);
    free(line);
}

#define LINE(WANTED, ...)                                                                                              \
    is_line(&(struct words_options){.operators = true}, WANTED, (const char *const[]){__VA_ARGS__, NULL})

START_TEST(one_word_is_a_line_and_several_stay_words)
{
    LINE("cat {} | wc", "cat {} | wc");
    LINE("wc -c {}", "wc", "-c", "{}");
    LINE("python3 -c 'import sys; print(1)' {}", "python3", "-c", "import sys; print(1)", "{}");
    LINE("awk '{print $1}'", "awk", "{print $1}");
    LINE("echo 'it'\\''s {}' ''", "echo", "it's {}", "");
    LINE("echo '#a' a#b '{a,b}' '{1..3}' {1}:{2} '~/x'", "echo", "#a", "a#b", "{a,b}", "{1..3}", "{1}:{2}", "~/x");
    LINE("head -c 4 /dev/zero #{}", "head", "-c", "4", "/dev/zero", "#{}");
    LINE("A=1 B='x y' sh -c 'echo $B' C=3", "A=1", "B=x y", "sh", "-c", "echo $B", "C=3");
    LINE("echo ''\\{'} {}'", "echo", "\\{} {}");
}
END_TEST

START_TEST(operators_are_for_a_shell)
{
    LINE("cat {} | wc -c", "cat", "{}", "|", "wc", "-c");
    LINE("a > '{} x' 2>&1 < in >> out 2> err >{}.log", "a", ">", "{} x", "2>&1", "<", "in", ">>", "out", "2>", "err",
         ">{}.log");
    LINE("stat {} && echo '$x' || echo no ; b &", "stat", "{}", "&&", "echo", "$x", "||", "echo", "no", ";", "b", "&");
    LINE("diff {} <(sort {})", "diff", "{}", "<(sort {})");
    LINE("! grep '>' {} && [[ {} -gt 1 ]]", "!", "grep", ">", "{}", "&&", "[[", "{}", "-gt", "1", "]]");
    LINE("( cd {} ; ls ) | wc", "(", "cd", "{}", ";", "ls", ")", "|", "wc");
    LINE("echo '!' ']]' '[['", "echo", "!", "]]", "[[");
    is_line(&(struct words_options){0}, "echo '|' x", (const char *const[]){"echo", "|", "x", NULL});
}
END_TEST

START_TEST(what_a_program_takes_for_itself_is_no_operator)
{
    LINE("grep -c '>' {}", "grep", "-c", ">", "{}");
    LINE("grep '>'", "grep", ">");
    LINE("grep x {} > {}.out", "grep", "x", "{}", ">", "{}.out");
    LINE("cat {} | grep '>' | wc -l", "cat", "{}", "|", "grep", ">", "|", "wc", "-l");
    LINE("cut -d '|' -f 1 {}", "cut", "-d", "|", "-f", "1", "{}");
    LINE("ls -l | wc -l", "ls", "-l", "|", "wc", "-l");
    LINE("/usr/bin/sort -t ';' {}", "/usr/bin/sort", "-t", ";", "{}");
    LINE("find {} '(' -name a ')' -exec ls ';'", "find", "{}", "(", "-name", "a", ")", "-exec", "ls", ";");
    LINE("echo '<b>{}</b>' '->' '|'", "echo", "<b>{}</b>", "->", "|");
    LINE("'|' a", "|", "a");
    LINE("grep -m 1 '>' {} > {}.o", "grep", "-m", "1", ">", "{}", ">", "{}.o");
    LINE("grep -c 1 > {}", "grep", "-c", "1", ">", "{}");
    LINE("LC_ALL=C grep '>' {}", "LC_ALL=C", "grep", ">", "{}");
    LINE("env A=1 nice -n 5 grep '>' {}", "env", "A=1", "nice", "-n", "5", "grep", ">", "{}");
    LINE("timeout 5 cut -d '|' -f1 > {}", "timeout", "5", "cut", "-d", "|", "-f1", ">", "{}");
    LINE("time sort {} > x", "time", "sort", "{}", ">", "x");
}
END_TEST

START_TEST(options_force_one_or_the_other)
{
    const struct words_options quotes = {.quotes = true}, joined = {.joined = true}, place = {.place = "%"};
    is_line(&quotes, "'my prog'", (const char *const[]){"my prog", NULL});
    is_line(&quotes, "A=1 b", (const char *const[]){"A=1", "b", NULL});
    is_line(&joined, "echo $HOME a b", (const char *const[]){"echo", "$HOME", "a b", NULL});
    is_line(&place, "echo {} '{} {}'", (const char *const[]){"echo", "%", "% %", NULL});
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("words");
    TCase *all = tcase_create("words");
    tcase_add_test(all, one_word_is_a_line_and_several_stay_words);
    tcase_add_test(all, operators_are_for_a_shell);
    tcase_add_test(all, what_a_program_takes_for_itself_is_no_operator);
    tcase_add_test(all, options_force_one_or_the_other);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
