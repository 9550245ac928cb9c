/* SPDX-License-Identifier: MIT */
/* Task lists: words as a shell takes them apart, what is put in for {..}, lines and tables by number, and every bad one
 * named with its place. */
#include "common/util/error.h"
#include "tests/lib/suite.h"
#include "worker/kernels/exec/cmdline.h"
#include "worker/kernels/exec/lines.h"
#include "worker/kernels/exec/nesting.h"
#include "worker/kernels/exec/shell.h"
#include "worker/kernels/exec/tasks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ANY_COUNT = TASKS_COUNT_UNKNOWN };

static struct cmdline words;
static struct tasks tasks;
static struct error error;
static char folder[40];

/* The words between bars: "|a|b|". */
static const char *joined(void)
{
    static char text[10000];
    size_t used = (size_t)snprintf(text, sizeof text, "|");
    for (unsigned i = 0; i < words.count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s|", cmdline_at(&words, i));
    return text;
}

static const char *split(const char *line)
{
    ck_assert_msg(cmdline_split(&words, line, strlen(line), NULL, &error) == 0, "%s: %s", line, error.text);
    return joined();
}

static const char *refusal(const char *line)
{
    ck_assert_int_eq(cmdline_split(&words, line, strlen(line), NULL, &error), -1);
    return error.text;
}

START_TEST(words_are_those_of_a_shell)
{
    cmdline_init(&words);
    ck_assert_str_eq(split("a  b\tc "), "|a|b|c|");
    ck_assert_str_eq(split("a'b c'd \"e f\"g h\\ i"), "|ab cd|e fg|h i|");
    ck_assert_str_eq(split("'' \"\" x''"), "|||x|");
    ck_assert_str_eq(split("'a\\b' \"a\\b\" \"\\\"\\\\\\$\\`\" a\\\\b"), "|a\\b|a\\b|\"\\$`|a\\b|");
    ck_assert_str_eq(split("'$x|&;<>()`*?' \"|&;<>()*?'\""), "|$x|&;<>()`*?||&;<>()*?'|");
    ck_assert_str_eq(split("a#b # a comment"), "|a#b|");
    ck_assert_str_eq(split("5$ a$ \"$\" [x] {y} %m a~ "), "|5$|a$|$|[x]|{y}|%m|a~|");
    ck_assert_str_eq(split(""), "|");
    ck_assert_str_eq(split("  # nothing"), "|");
    cmdline_fini(&words);
}
END_TEST

START_TEST(assignments_come_before_the_command)
{
    cmdline_init(&words);
    split("A=1 B_2='x y' cmd C=3");
    ck_assert_uint_eq(words.assignments, 2);
    ck_assert_str_eq(cmdline_argv(&words)[0], "cmd");
    ck_assert_str_eq(cmdline_argv(&words)[1], "C=3");
    ck_assert_ptr_null(cmdline_argv(&words)[2]);
    split("'A'=1 cmd");
    ck_assert_uint_eq(words.assignments, 0);
    split("1A=1 =2 cmd");
    ck_assert_uint_eq(words.assignments, 0);
    cmdline_fini(&words);
}
END_TEST

START_TEST(what_is_for_a_shell_is_refused_with_its_column)
{
    cmdline_init(&words);
    ck_assert_str_eq(refusal("a > b"), "column 3: '>' is for a shell; accepted: a shell (no --no-shell, no "
                                       "shell=no), or '>' in quotes");
    const char *const lines[] = {"a|b", "a &", "a; b", "a < b",     "(a)",    "a `b`", "a $x",    "a \"$x\"", "a $(b)",
                                 "a *", "a ?", "~/a",  "a \"`b`\"", "a ${x}", "a $1",  "a {b,c}", "a x{1..3}"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        ck_assert_ptr_nonnull(strstr(refusal(lines[i]), "is for a shell"));
    ck_assert_str_eq(refusal("a 'b c"), "column 3: quotes that do not end");
    ck_assert_str_eq(refusal("a \"b c"), "column 3: quotes that do not end");
    ck_assert_str_eq(refusal("a b\\"), "column 4: a backslash ends the line");
    ck_assert_int_eq(cmdline_split(&words, "a\0b", 3, NULL, &error), -1);
    ck_assert_str_eq(error.text, "column 2: a NUL byte");
    cmdline_fini(&words);
}
END_TEST

/* --- files --- */

static const char *path_of(const char *name)
{
    static char paths[4][100];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static const char *write_bytes(const char *name, const char *bytes, size_t count)
{
    const char *path = path_of(name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, count, file), count);
    ck_assert_int_eq(fclose(file), 0);
    return path;
}

static const char *write_text(const char *name, const char *text)
{
    return write_bytes(name, text, strlen(text));
}

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/hdss-tasks-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    char line[100];
    snprintf(line, sizeof line, "rm -r %s", folder);
    ck_assert_int_eq(system(line), 0);
}

static int open_tasks(const char *lines, const char *command, const char *table, int64_t count, bool shell)
{
    const struct tasks_source source = {.tasks = lines,
                                        .command = command,
                                        .table = table,
                                        .list = "",
                                        .folder = "",
                                        .count = count,
                                        .shell = shell ? "/bin/sh" : SHELL_NO};
    return tasks_open(&tasks, &source, &error);
}

static const char *task(uint64_t i)
{
    static char text[400];
    ck_assert_msg(tasks_get(&tasks, i, &error) == 0, "%s", error.text);
    return tasks_text(&tasks, text, sizeof text);
}

START_TEST(each_line_is_a_task)
{
    const char *list = write_text("list", "# a comment\n\necho one\n   \t\n  # more\n echo {#}/{}\r\necho 'a b' last");
    ck_assert_int_eq(open_tasks(list, "", "", ANY_COUNT, false), 0);
    ck_assert_uint_eq(tasks.count, 3);
    ck_assert_int_eq(tasks_check(&tasks, &error), 0);
    ck_assert_str_eq(task(2), "echo 'a b' last");
    ck_assert_str_eq(task(0), "echo one");
    ck_assert_str_eq(task(1), "echo 2/2");
    tasks_close(&tasks);
}
END_TEST

START_TEST(a_number_of_tasks_has_one_line)
{
    ck_assert_int_eq(open_tasks("", "run {} {#} {rank} {node} {%} {x} {1} \\{} {.}", "", 1000000000, false), 0);
    ck_assert_uint_eq(tasks.count, 1000000000);
    tasks_set_worker(&tasks, 7, 2, 5);
    ck_assert_str_eq(task(999999999), "run 1000000000 1000000000 7 2 5 '{x}' '{1}' '{}' '{.}'");
    ck_assert_int_eq(tasks_check(&tasks, &error), 0);
    tasks_close(&tasks);
    ck_assert_int_eq(open_tasks("", "once", "", ANY_COUNT, false), 0);
    ck_assert_uint_eq(tasks.count, 1);
    tasks_close(&tasks);
    ck_assert_int_eq(open_tasks("", "never", "", 0, false), 0);
    ck_assert_uint_eq(tasks.count, 0);
    tasks_close(&tasks);
}
END_TEST

START_TEST(a_table_has_a_row_for_each_task)
{
    const char *table = write_text("t.tsv", "name\tsize of it\nx y\t1\n\n'q'\t\n");
    ck_assert_int_eq(open_tasks("", "run {name} -n{size of it} {2}{1} {}", table, ANY_COUNT, false), 0);
    ck_assert_uint_eq(tasks.count, 2);
    ck_assert_str_eq(task(0), "run 'x y' -n1 '1x y' 'x y\\t1'");
    ck_assert_uint_eq(tasks.words.count, 5);
    ck_assert_str_eq(task(1), "run ''\\''q'\\''' -n ''\\''q'\\''' ''\\''q'\\''\\t'");
    tasks_close(&tasks);
    table = write_text("t.csv", "\xef\xbb\xbf"
                                "a,b,c\r\n1,\"x, \"\"y\"\"\",\r\n,2,3\r\n");
    const char *list =
        write_text("list", "\xef\xbb\xbf# as some editors save it\nfirst {a} {b} {c}\nsecond {3}{2}{1}\n");
    ck_assert_int_eq(open_tasks(list, "", table, ANY_COUNT, false), 0);
    ck_assert_str_eq(task(0), "first 1 'x, \"y\"' ''");
    ck_assert_str_eq(task(1), "second 32");
    tasks_close(&tasks);
}
END_TEST

START_TEST(what_goes_to_a_shell_cannot_break_out_of_its_word)
{
    const char *table = write_text("t.tsv", "x\n$(evil) 'a' \"b\" `c` \\\n");
    ck_assert_int_eq(open_tasks("", "echo {x} \"{x}\" '{x}' | cat \\{x} {#}", table, ANY_COUNT, true), 0);
    ck_assert_int_eq(tasks_get(&tasks, 0, &error), 0);
    ck_assert_uint_eq(tasks.words.count, 3);
    ck_assert_str_eq(cmdline_at(&tasks.words, 0), "/bin/sh");
    ck_assert_str_eq(cmdline_at(&tasks.words, 2),
                     "echo '$(evil) '\\''a'\\'' \"b\" `c` \\' \"\\$(evil) 'a' \\\"b\\\" \\`c\\` \\\\\" "
                     "'$(evil) '\\''a'\\'' \"b\" `c` \\' | cat \\{x} '1'");
    char line[1000];
    snprintf(line, sizeof line, "cd %s && (%.*s) > out", folder, (int)strcspn(cmdline_at(&tasks.words, 2), "|"),
             cmdline_at(&tasks.words, 2));
    ck_assert_int_eq(system(line), 0);
    FILE *out = fopen(path_of("out"), "r");
    ck_assert_ptr_nonnull(fgets(line, sizeof line, out));
    ck_assert_str_eq(line, "$(evil) 'a' \"b\" `c` \\ $(evil) 'a' \"b\" `c` \\ $(evil) 'a' \"b\" `c` \\\n");
    fclose(out);
    tasks_close(&tasks);
}
END_TEST

/* A shell runs the line with this in the table; it must write out `wanted`. */
static void runs_as(const char *line, const char *value, const char *wanted)
{
    char text[200], command[1000], out[200] = "";
    snprintf(text, sizeof text, "x\n%s\n", value);
    const char *table = write_text("t.tsv", text);
    ck_assert_int_eq(open_tasks("", line, table, ANY_COUNT, true), 0);
    ck_assert_msg(tasks_get(&tasks, 0, &error) == 0, "%s: %s", line, error.text);
    snprintf(command, sizeof command, "cd %s && {\n%s\n}", folder, cmdline_at(&tasks.words, 2));
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    out[fread(out, 1, sizeof out - 1, pipe)] = '\0';
    ck_assert_int_eq(pclose(pipe), 0);
    ck_assert_msg(strcmp(out, wanted) == 0, "%s wrote %s, and not %s", line, out, wanted);
    tasks_close(&tasks);
}

START_TEST(nor_out_of_quotes_within_substitutions)
{
#define EVIL "a  b;>out $(>out) `>out` '>out' \\ \""
    runs_as("printf %s \"$(printf %s {x})\"", EVIL, EVIL);
    runs_as("printf %s \"$(printf %s \"{x}\")\"", EVIL, EVIL);
    runs_as("printf %s \"$(printf %s '{x}')\" # it's \"", EVIL, EVIL);
    runs_as("printf %s \"$( (true); printf %s \"$(printf %s {x})\")\"", EVIL, EVIL);
    runs_as("y='a b'; printf %s%s \"${y:-its}\" {x}", EVIL, "a b" EVIL);
    runs_as("printf %s \"`echo \\\"n\\\"`\"{x} \\'{x}", EVIL, "n" EVIL "'" EVIL);
    runs_as("printf %s {x} # it's {x}", EVIL, EVIL);
    runs_as("printf %s \"\\{x}\" '\\{x}'", "\";>out;\"", "\\\";>out;\"\\\";>out;\"");
    runs_as("printf %s \"$(case a in (a) printf %s {x};; esac)\" {x}", EVIL, EVIL EVIL);
    runs_as("x=1; printf %s $(({x} + 1)) \"$(({x}+(2)))\" ${x} \"{x}\"", "40", "4142140");
    ck_assert_int_eq(access(path_of("out"), F_OK), -1);
}
END_TEST

static void refuses_for_shell(const char *line, const char *value, const char *text)
{
    char rows[100];
    snprintf(rows, sizeof rows, "x\n%s\n", value);
    ck_assert_int_eq(open_tasks("", line, write_text("t.tsv", rows), ANY_COUNT, true), 0);
    ck_assert_msg(tasks_get(&tasks, 0, &error) < 0, "%s is taken", line);
    ck_assert_msg(strstr(error.text, text) != NULL, "%s", error.text);
    tasks_close(&tasks);
}

/* The line as the shell of the user's choice and its text, or the words if no shell reads it. */
static void is_read_as(const char *line, const char *wanted)
{
    char text[300];
    const struct tasks_source source = {
        .tasks = "", .command = line, .table = "", .list = "", .folder = "", .count = 1, .shell = SHELL_AUTO};
    ck_assert_msg(tasks_open(&tasks, &source, &error) == 0 && tasks_get(&tasks, 0, &error) == 0, "%s: %s", line,
                  error.text);
    snprintf(text, sizeof text, "%s", tasks.words.is_for_shell ? cmdline_at(&tasks.words, 0) : "");
    for (unsigned i = tasks.words.is_for_shell ? 2 : 0; i < tasks.words.count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "|%s", cmdline_at(&tasks.words, i));
    ck_assert_str_eq(text, wanted);
    tasks_close(&tasks);
}

static int open_tasks_by(const char *shell)
{
    const struct tasks_source source = {
        .tasks = "", .command = "a | b", .table = "", .list = "", .folder = "", .count = 1, .shell = shell};
    return tasks_open(&tasks, &source, &error);
}

START_TEST(a_line_that_needs_a_shell_has_one)
{
    setenv("SHELL", "/bin/false", 1);
    setenv("BASH_FUNC_greet%%", "() { echo; }", 1);
    char wanted[300];
    snprintf(wanted, sizeof wanted, "%s|a | b", shell_path(SHELL_AUTO));
    is_read_as("a | b", wanted);
    is_read_as("a 'b | c'", "|a|b | c");
    snprintf(wanted, sizeof wanted, "%s|[[ 1 ]]", shell_path(SHELL_AUTO));
    is_read_as("[[ 1 ]]", wanted);
    snprintf(wanted, sizeof wanted, "%s|X=1 greet {#}", shell_path(SHELL_AUTO));
    strcpy(strstr(wanted, "{#}"), "'1'");
    is_read_as("X=1 greet {#}", wanted);
    is_read_as("greeting", "|greeting");
    unsetenv("BASH_FUNC_greet%%");
    ck_assert_ptr_nonnull(strstr(shell_path("sh"), "/sh"));
    ck_assert_str_eq(shell_path("/no/such"), "/no/such");
    ck_assert(shell_is_known("/usr/bin/fish") && shell_is_known("dash") && !shell_is_known("python3"));
    ck_assert_int_eq(open_tasks_by("/usr/bin/perl"), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "shell=/usr/bin/perl: accepted: auto, yes, no, bash, dash"));
}
END_TEST

START_TEST(nothing_is_put_in_where_quotes_do_not_help)
{
    static const char *const lines[] = {"echo `echo {x}`", "echo ${y:-{x}}", "echo \"${y:-{x}}\"", "cat <<E\n{x}\nE"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        refuses_for_shell(lines[i], "1", "nothing can be put in for {x} here; accepted: not in `..`, ${..}");
    static const char *const numbers[] = {"echo $(({x}))", "a[1]=2; a[{x}]=1"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        refuses_for_shell(numbers[i], "a[1]", "'a[1]' for {x}; accepted: a number");
    static const char *const lost[] = {"echo \"${y:-it's}\" {x}", "echo \"$(case a in a) echo {x};; esac) {x}\"",
                                       "echo $(((1) ) {x}",       "echo $$'y' {x}",
                                       "echo $((1'')) {x}",       "((y = 1)); echo {x}",
                                       "echo $[1] {x}",           "echo $'y' {x}"};
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++)
        refuses_for_shell(lost[i], "1", "nothing can be put in for {x} here");
    char deep[200] = "";
    for (int i = 0; i < NESTING_MAX; i++)
        strcat(deep, "$(a ");
    refuses_for_shell(strcat(deep, "{x}"), "1", "column 65: nothing can be put in");
}
END_TEST

static void check_refused(int result, const char *what)
{
    ck_assert_int_eq(result, -1);
    ck_assert_msg(strstr(error.text, what) != NULL, "'%s' is not in '%s'", what, error.text);
}

static void check_bad(const char *list, const char *table, const char *what)
{
    ck_assert_msg(open_tasks(list, "", table, ANY_COUNT, false) == 0, "%s", error.text);
    check_refused(tasks_check(&tasks, &error), what);
    tasks_close(&tasks);
}

START_TEST(what_is_wrong_is_named_with_its_line)
{
    const char *list = write_text("list", "# comment\necho ok\n\necho 'open\n");
    check_bad(list, "", "/list, line 4: column 6: quotes that do not end");
    check_bad(write_text("list", "echo a\nA=1 B=2\n"), "", "/list, line 2: no command");
    const char *table = write_text("t.csv", "a,b\n1,2\n");
    check_bad(write_text("list", "echo {c}\n"), table, "/list, line 1: {c}: ");
    check_bad(write_text("list", "echo {3}\n"), table, "/list, line 1: {3}: ");
    list = write_text("list", "echo {a}\n");
    check_bad(list, write_text("t.csv", "a,b\n\n1,2\n1\n"), "/t.csv, line 4: 1 fields; accepted: 2");
    check_bad(list, write_text("t.csv", "a,b\n1,\"x\n"), "/t.csv, line 2: quotes that do not end in it");
    check_bad(list, write_text("t.csv", "a,b\n1,\"x\"y\n"), "/t.csv, line 2: text behind the quotes");
    check_refused(open_tasks(list, "", write_text("t.csv", "a,b,a\n"), ANY_COUNT, false), "two columns are named 'a'");
    check_refused(open_tasks(list, "", write_text("t.csv", ""), ANY_COUNT, false), "/t.csv: it is empty");
    check_refused(open_tasks(path_of("absent"), "", "", ANY_COUNT, false), "/absent: No such file");
    check_refused(open_tasks(folder, "", "", ANY_COUNT, false), "not a regular file");
    check_refused(open_tasks("", "", "", ANY_COUNT, false), "accepted: tasks=FILE, or command=LINE");
    check_refused(open_tasks(list, "x", "", ANY_COUNT, false), "and not both");
    check_refused(open_tasks(list, "", "", 5, false), "count=5 goes with command=LINE");
    table = write_text("t.csv", "a,b\n1,2\n3,4\n");
    check_refused(open_tasks(write_text("list", "a\nb\nc\n"), "", table, ANY_COUNT, false), "has 3 tasks");
    check_refused(open_tasks("", "x", table, 3, false), "has 2 rows");
}
END_TEST

START_TEST(empty_lists_have_no_tasks)
{
    ck_assert_int_eq(open_tasks(write_text("list", ""), "", "", ANY_COUNT, false), 0);
    ck_assert_uint_eq(tasks.count, 0);
    ck_assert_int_eq(tasks_check(&tasks, &error), 0);
    tasks_close(&tasks);
    ck_assert_int_eq(open_tasks(write_text("list", "# nothing\n\n"), "", "", ANY_COUNT, false), 0);
    ck_assert_uint_eq(tasks.count, 0);
    tasks_close(&tasks);
}
END_TEST

/* --- tables without a header --- */

static int open_table(const char *table, const char *command, enum table_header header)
{
    const struct tasks_source source = {.tasks = "",
                                        .command = command,
                                        .table = table,
                                        .list = "",
                                        .folder = "",
                                        .count = ANY_COUNT,
                                        .header = header};
    return tasks_open(&tasks, &source, &error);
}

START_TEST(no_row_is_taken_for_names)
{
    const char *const first[] = {"a.dat", "in/a", "a b", "1\t2", "x\t-1.5e3", "x\t.5"};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
        char text[100];
        snprintf(text, sizeof text, "%s\n%s\n", first[i], first[i]);
        const char *table = write_text("t.tsv", text);
        check_refused(open_table(table, "run", TABLE_HEADER_AUTO), "accepted: header=no where it is a row, header=yes");
        ck_assert_msg(open_table(table, "run", TABLE_HEADER_NO) == 0, "%s", error.text);
        ck_assert_uint_eq(tasks.count, 2);
        ck_assert_int_eq(tasks_check(&tasks, &error), 0);
        tasks_close(&tasks);
    }
    const char *table = write_text("t.tsv", "1\n2\n");
    check_refused(open_table(table, "run", TABLE_HEADER_AUTO), "/t.tsv: '1' in its first line looks like a value");
    ck_assert_int_eq(open_table(table, "run", TABLE_HEADER_YES), 0);
    ck_assert_uint_eq(tasks.count, 1);
    tasks_close(&tasks);
    char text[200];
    snprintf(text, sizeof text, "%s\tk\n", write_text("there", ""));
    check_refused(open_table(write_text("t.tsv", text), "run", TABLE_HEADER_AUTO), "/there' in its first line looks");
    ck_assert_int_eq(open_table(write_text("t.tsv", "nan\nx\n"), "run", TABLE_HEADER_AUTO), 0);
    tasks_close(&tasks);
    ck_assert_int_eq(open_table(write_text("t.tsv", "k\tk\n"), "run", TABLE_HEADER_NO), 0);
    tasks_close(&tasks);
    ck_assert_int_eq(open_table(write_text("t.tsv", ""), "run", TABLE_HEADER_NO), 0);
    ck_assert_uint_eq(tasks.count, 0);
    tasks_close(&tasks);
}
END_TEST

START_TEST(columns_without_names_are_numbers)
{
    const char *table = write_text("t.csv", "in/a.x,1\nb,2\n");
    ck_assert_int_eq(open_table(table, "run {2} {-2/} {1.} {}", TABLE_HEADER_NO), 0);
    ck_assert_str_eq(task(0), "run 1 a.x in/a in/a.x,1");
    ck_assert_str_eq(task(1), "run 2 b b b,2");
    tasks_close(&tasks);
    ck_assert_int_eq(open_table(table, "run {name}", TABLE_HEADER_NO), 0);
    check_refused(tasks_get(&tasks, 0, &error), "{name}: ");
    ck_assert_ptr_nonnull(strstr(error.text, "has no such column; accepted: 1 to 2, or \\{ for a brace"));
    tasks_close(&tasks);
}
END_TEST

/* --- lists --- */

START_TEST(a_field_of_csv_may_have_newlines)
{
    const char *table = write_text("t.csv", "name,n\r\n\"two\nlines\",1\r\n5\" pipe,2\n\n\"say \"\"hi\"\"\n\",3\n");
    ck_assert_int_eq(open_tasks("", "e {name} {n}", table, ANY_COUNT, false), 0);
    ck_assert_uint_eq(tasks.count, 3);
    ck_assert_str_eq(task(0), "e 'two\\nlines' 1");
    ck_assert_str_eq(task(1), "e '5\" pipe' 2");
    ck_assert_str_eq(task(2), "e 'say \"hi\"\\n' 3");
    tasks_close(&tasks);
    ck_assert_int_eq(open_tasks("", "e {a}", write_text("t.csv", "a,b\n\"x\ny\",1\n2\n"), ANY_COUNT, false), 0);
    check_refused(tasks_check(&tasks, &error), "/t.csv, line 4: 1 fields");
    tasks_close(&tasks);
    enum { ROWS = 5000, ROW_BYTES = 330 }; /* more than is read at once */
    char *text = malloc(ROWS * ROW_BYTES);
    size_t used = (size_t)sprintf(text, "a,b\n");
    for (unsigned i = 0; i < ROWS; i++)
        used += (size_t)sprintf(text + used, "\"%u\n\"\"%0*u\n\",%u\n", i, (int)(i % 300 + 1), 0, i);
    ck_assert_int_eq(open_tasks("", "e {b}", write_bytes("t.csv", text, used), ANY_COUNT, false), 0);
    ck_assert_uint_eq(tasks.count, ROWS);
    for (unsigned i = 0; i < ROWS; i += 7) {
        char wanted[20];
        snprintf(wanted, sizeof wanted, "e %u", i);
        ck_assert_str_eq(task(i), wanted);
    }
    tasks_close(&tasks);
    free(text);
}
END_TEST

static int open_list(const char *command, const char *list, bool shell)
{
    const struct tasks_source source = {.tasks = "",
                                        .command = command,
                                        .table = "",
                                        .list = list,
                                        .folder = "",
                                        .count = ANY_COUNT,
                                        .shell = shell ? "/bin/sh" : SHELL_NO};
    return tasks_open(&tasks, &source, &error);
}

/* The task of a list of one row. */
static void is_task(const char *command, bool shell, const char *row, const char *wanted)
{
    char text[300];
    snprintf(text, sizeof text, "1\t2\n%s\n\\.\n", row);
    ck_assert_msg(open_list(command, write_text("rows", text), shell) == 0, "%s: %s", command, error.text);
    tasks_set_worker(&tasks, 9, 2, 4);
    ck_assert_msg(strcmp(task(0), wanted) == 0, "%s of %s is %s, and not %s", command, row, task(0), wanted);
    tasks_close(&tasks);
}

START_TEST(replacement_strings_are_those_of_gnu_parallel)
{
    static const struct {
        const char *command, *row, *wanted;
    } cases[] = {
        {"e {}", "a/b.c.d", "e a/b.c.d"},
        {"e {.}", "a/b.c.d", "e a/b.c"},
        {"e {/}", "a/b.c.d", "e b.c.d"},
        {"e {//}", "a/b.c.d", "e a"},
        {"e {/.}", "a/b.c.d", "e b.c"},
        {"e {.}", "a.b/c", "e a.b/c"},
        {"e {.}", "c.", "e c."},
        {"e {.}", ".profile", "e ''"},
        {"e {/}", "a/b/", "e ''"},
        {"e {//}", "a/b/", "e a"},
        {"e {//}", "a", "e ."},
        {"e {//}", "/a", "e /"},
        {"e {//}", "//a", "e /"},
        {"e {//}", "/", "e /"},
        {"e {//}", "a/", "e ."},
        {"e {//}", "a//b", "e a"},
        {"e {//}", "", "e ."},
        {"e {#} {%} {rank} {node}", "x", "e 1 4 9 2"},
        {"e {2} {1} {-1} {-2}", "x\ty", "e y x y x"},
        {"e {1.} {2/} {2//} {2/.} {-1/}", "x.y\ta/b.c", "e x b.c a b b.c"},
        {"e {..} {...} {+.} {+..} {/..} {+/}", "d/a.b.c.x\ty", "e d/a.b y d/a y x '' c.x '' a.b y d ."},
        {"e", "a b", "e 'a b'"},
        {"e", "a\tb", "e a b"},
        {"e {}", "a b\tc", "e 'a b' c"},
        {"e x{}y", "a\tb", "e xa by"},
        {"e '{}' \"{.}\"", "a.x\tb.y", "e 'a.x b.y' 'a b'"},
        {"e {.} {/}", "a/1.x\tb/2.y", "e a/1 b/2 1.x 2.y"},
        {"e {x} {1", "a", "e '{x}' '{1' a"},
        {"e \\{}", "a", "e '{}' a"},
        {"e {}", "a\\tb\\\\\\nc", "e 'a\\tb\\\\nc'"},
        {"e {}", "", "e ''"},
        {"e {}", "\t", "e '' ''"},
        {"", "echo {} 'a b'\tc", "echo '{}' 'a b' c"},
        {"", "A=1 env", "A=1 env"},
        {"", "", ""},
        {"", "# nothing", "# nothing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        is_task(cases[i].command, false, cases[i].row, cases[i].wanted);
    is_task("{}", false, "A=1\tB=2", "A=1 B=2");
    is_task("A={} e", false, "x", "A=x e");
    ck_assert_int_eq(open_list("{} A=3 {}", write_text("rows", "1\nA=1\n\\.\n"), false), 0);
    ck_assert_str_eq(task(0), "A=1 A=3 A=1");
    ck_assert_uint_eq(tasks.words.assignments, 0);
    tasks_close(&tasks);
    is_task("echo {.} \"{}\" x{}y | wc", true, "a b.c\t'", "echo 'a b' ''\\''' \"a b.c '\" x'a b.c' ''\\'''y | wc");
    is_task("echo >&2", true, "a b", "echo >&2 'a b'");
    is_task("", true, "echo a > b", "echo a > b");
    ck_assert_int_eq(open_list("e {= s/a/b/ =}", write_text("rows", "1\na\n\\.\n"), false), 0);
    check_refused(tasks_check(&tasks, &error), "command: {=..=} is Perl");
    tasks_close(&tasks);
}
END_TEST

START_TEST(columns_of_a_list_can_have_names)
{
    const char *list = write_text("rows", "file\tk\tfile.\na/b.c\t7\tx\n\\.\n");
    ck_assert_int_eq(open_list("fit {file} {file.} {file/} {file//} {file/.} {k} {2}", list, false), 0);
    ck_assert_str_eq(task(0), "fit a/b.c x b.c a b 7 7");
    tasks_close(&tasks);
    ck_assert_int_eq(open_list("fit {fiel/.}", list, false), 0);
    check_refused(tasks_check(&tasks, &error), "command: {fiel}: ");
    ck_assert_ptr_nonnull(strstr(error.text, "accepted: a name of its first line, 1 to 3"));
    tasks_close(&tasks);
}
END_TEST

START_TEST(rows_may_say_which_tasks_they_are)
{
    const char *list = write_text("rows", "1\t2\na\n\\#7\tb\tc\n\\#123\t\nd\n\\\\#9\n\\.\n");
    static const char *const tasks_of[] = {"e a 1", "e b c 7", "e '' 123", "e d 4", "e '\\#9' 5"};
    ck_assert_int_eq(open_list("e {} {#}", list, false), 0);
    ck_assert_uint_eq(tasks.count, 5);
    for (uint64_t i = 0; i < 5; i++)
        ck_assert_str_eq(task(i), tasks_of[i]);
    ck_assert_str_eq(task(1), tasks_of[1]);
    ck_assert_uint_eq(tasks.order, 7);
    tasks_close(&tasks);
}
END_TEST

START_TEST(what_is_wrong_with_a_list_is_named)
{
    check_refused(open_list("e", write_text("rows", ""), false), "/rows: it is empty; accepted: a first line");
    check_refused(open_list("e", write_text("rows", "1"), false), "/rows: it is empty; accepted: a first line");
    check_refused(open_list("e", write_text("rows", "\\.\n"), false), "/rows, line 1: a backslash");
    check_refused(open_list("e", path_of("none"), false), "/none: No such file");
    static const struct {
        const char *text;
        size_t length;
        const char *said;
    } cases[] = {{"1\na\\x\n\\.\n", 9, "/rows, line 2: a backslash; accepted: \\t, \\n, \\r and \\\\, and \\. as"},
                 {"1\na\\\n\\.\n", 8, "/rows, line 2: a backslash"},
                 {"1\na\n\\.\nb\n", 9, "/rows, line 3: a backslash"},
                 {"1\n\\#\ta\n\\.\n", 10, "/rows, line 2: \\# begins the number of a task; accepted: \\#N"},
                 {"1\n\\#2\n\\.\n", 9, "/rows, line 2: \\# begins the number of a task"},
                 {"1\n\\#12345678901234567890\ta\n\\.\n", 30, "/rows, line 2: \\# begins the number"},
                 {"1\na\0b\n\\.\n", 9, "/rows, line 2: a NUL byte"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_int_eq(open_list("e", write_bytes("rows", cases[i].text, cases[i].length), false), 0);
        check_refused(tasks_check(&tasks, &error), cases[i].said);
        ck_assert(tasks.is_wrong && tasks.words.count == 0);
        tasks_close(&tasks);
    }
    ck_assert_int_eq(open_list("", write_text("rows", "1\necho a\necho a | b\n\\.\n"), false), 0);
    check_refused(tasks_check(&tasks, &error), "/rows, line 3: column 8: '|' is for a shell; accepted: a shell");
    tasks_close(&tasks);
}
END_TEST

static void overwrite(const char *path, long at, const char *text)
{
    FILE *file = fopen(path, "r+");
    ck_assert_ptr_nonnull(file);
    fseek(file, at, SEEK_SET);
    fputs(text, file);
    fclose(file);
}

static FILE *append_to(const char *path)
{
    FILE *file = fopen(path, "a");
    ck_assert_ptr_nonnull(file);
    setbuf(file, NULL);
    return file;
}

START_TEST(an_open_list_grows)
{
    char expected[40];
    const char *path = write_text("rows", "1\n");
    ck_assert_int_eq(open_list("e", path, false), 0);
    uint64_t digest = tasks.digest;
    ck_assert(tasks.grows && tasks.count == 0);
    FILE *file = append_to(path);
    for (unsigned i = 0; i < 300; i++) {
        fprintf(file, "row %u", i);
        ck_assert_int_eq(tasks_extend(&tasks, &error), 0);
        ck_assert_uint_eq(tasks.count, i);
        fprintf(file, "\n");
        if (i % 3 == 0)
            ck_assert_int_eq(tasks_extend(&tasks, &error), 0);
        snprintf(expected, sizeof expected, "e 'row %u'", i);
        ck_assert_str_eq(task(i), expected);
        snprintf(expected, sizeof expected, "e 'row %u'", i / 2);
        ck_assert_str_eq(task(i / 2), expected);
        ck_assert_int_eq(tasks_extend(&tasks, &error), 0);
    }
    fprintf(file, "\\.\n");
    fclose(file);
    ck_assert_int_eq(tasks_extend(&tasks, &error), 0);
    ck_assert(!tasks.grows && tasks.count == 300);
    check_refused(tasks_get(&tasks, 300, &error), "/rows: it has no line 302 for task 301");
    ck_assert(!tasks.is_wrong);
    ck_assert(tasks_are(&tasks, digest));
    tasks_close(&tasks);
    ck_assert_int_eq(open_list("e", path, false), 0);
    ck_assert(!tasks.grows && tasks.count == 300 && tasks.digest != digest && tasks_are(&tasks, digest));
    tasks_close(&tasks);
    const struct tasks_source follows = {
        .tasks = "", .command = "e", .table = "", .list = path, .folder = "", .count = ANY_COUNT, .follows = true};
    ck_assert_int_eq(tasks_open(&tasks, &follows, &error), 0);
    ck_assert(tasks.grows && tasks.count == 300 && tasks.digest == digest);
    ck_assert_int_eq(tasks_extend(&tasks, &error), 0);
    ck_assert(!tasks.grows && tasks.count == 300);
    tasks_close(&tasks);
}
END_TEST

static uint64_t digest_of(uint64_t count)
{
    uint64_t digest;
    ck_assert_msg(tasks_digest(&tasks, count, &digest, &error) == 0, "%s", error.text);
    return digest;
}

/* Tasks of which some are added, and then one is another. */
static void check_digests(const char *name, int (*open_it)(const char *path), unsigned head)
{
    uint64_t digests[201];
    FILE *file = append_to(write_text(name, head > 0 ? "1\n" : ""));
    for (unsigned i = 0; i < 70; i++)
        fprintf(file, "a%02u\n", i);
    ck_assert_int_eq(open_it(path_of(name)), 0);
    for (unsigned i = 0; i <= 70; i++) {
        digests[i] = digest_of(i);
        ck_assert(i == 0 || digests[i] != digests[i - 1]);
    }
    tasks_close(&tasks);
    fprintf(file, "%sb\n", head == 0 ? "# a note\n\n" : "");
    for (unsigned i = 71; i < 200; i++)
        fprintf(file, "b%02u\n", i);
    ck_assert_int_eq(open_it(path_of(name)), 0);
    for (unsigned i = 0; i <= 70; i++)
        ck_assert_uint_eq(digest_of(i), digests[i]);
    ck_assert_int_eq(tasks_digest(&tasks, 201, &digests[200], &error), -1);
    tasks_close(&tasks);
    overwrite(path_of(name), 2 * head + 4 * 30, "x");
    ck_assert_int_eq(open_it(path_of(name)), 0);
    for (unsigned i = 0; i <= 70; i++)
        ck_assert((digest_of(i) == digests[i]) == (i <= 30));
    tasks_close(&tasks);
    fclose(file);
}

static int open_as_tasks(const char *path)
{
    return open_tasks(path, "", "", ANY_COUNT, false);
}

static int open_as_list(const char *path)
{
    return open_list("e", path, false);
}

static int open_as_table(const char *path)
{
    return open_table(path, "e", TABLE_HEADER_YES);
}

START_TEST(what_tasks_begin_with_has_a_digest)
{
    check_digests("a", open_as_tasks, 0);
    check_digests("b", open_as_list, 1);
    check_digests("c", open_as_table, 1);
    ck_assert_int_eq(open_tasks("", "e", "", 5, false), 0);
    ck_assert_uint_eq(digest_of(5), 0);
    tasks_close(&tasks);
}
END_TEST

START_TEST(long_lines_come_in_pieces)
{
    enum { LONG = 1 << 20 };
    const char *path = write_text("rows", "1\n");
    char *bytes = malloc(LONG + 1);
    memset(bytes, 'x', LONG);
    bytes[LONG] = '\0';
    FILE *file = append_to(path);
    ck_assert_int_eq(open_list("e", path, false), 0);
    unsigned i = 0;
    for (; i < 5; i++) {
        for (unsigned piece = 0; piece < 1 + i % 2; piece++) {
            ck_assert_uint_eq(fwrite(bytes, 1, LONG - 10, file), LONG - 10);
            ck_assert_int_eq(tasks_extend(&tasks, &error), 0);
            ck_assert_uint_eq(tasks.count, i);
        }
        fprintf(file, "\n");
        ck_assert_msg(tasks_get(&tasks, i, &error) == 0, "%s", error.text);
        ck_assert_uint_eq(strlen(cmdline_at(&tasks.words, 1)), (1 + i % 2) * (LONG - 10));
    }
    for (; i < 200; i++) { /* more than the longest line in blocks that are full */
        fprintf(file, "%.40000s\n", bytes);
        ck_assert_msg(tasks_get(&tasks, i, &error) == 0, "%s", error.text);
    }
    tasks_close(&tasks);
    fclose(file);
    free(bytes);
}
END_TEST

START_TEST(an_open_list_that_changes_is_noticed)
{
    const char *path = write_text("rows", "1\none\ntwo\n");
    ck_assert_int_eq(open_list("e", path, false), 0);
    overwrite(path, 2, "O");
    FILE *file = append_to(path);
    fprintf(file, "three\n");
    fclose(file);
    check_refused(tasks_extend(&tasks, &error), "/rows: it has changed since the run began");
    tasks_close(&tasks);
    ck_assert_int_eq(open_list("e", path, false), 0);
    ck_assert_int_eq(truncate(path, 6), 0);
    check_refused(tasks_extend(&tasks, &error), "/rows: it has changed since the run began");
    tasks_close(&tasks);
}
END_TEST

/* --- folders --- */

START_TEST(each_task_can_have_a_folder)
{
    const struct tasks_source source = {.tasks = "",
                                        .command = "pwd",
                                        .table = "",
                                        .list = write_text("rows", "1\na b/c.x\nd\n\\.\n"),
                                        .folder = "in '{//}'/{/.}",
                                        .count = ANY_COUNT};
    ck_assert_int_eq(tasks_open(&tasks, &source, &error), 0);
    ck_assert_str_eq(task(0), "pwd 'a b/c.x'");
    ck_assert_str_eq(tasks_folder(&tasks), "in 'a b'/c");
    task(1);
    ck_assert_str_eq(tasks_folder(&tasks), "in '.'/d");
    tasks_close(&tasks);
}
END_TEST

enum { MANY = 300000 };

/* Lines of all lengths, so that reads end at every place of one. */
static const char *write_many(void)
{
    const char *path = path_of("many");
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    for (unsigned i = 1; i <= MANY; i++) {
        fprintf(file, "%*secho %u\n", (int)(i % 7), "", i);
        if (i % 13 == 0)
            fprintf(file, "%*s# %u\n\n", (int)(i % 5), "", i);
    }
    fclose(file);
    return path;
}

START_TEST(a_long_list_is_read_where_it_is_needed)
{
    char expected[40];
    ck_assert_int_eq(open_tasks(write_many(), "", "", ANY_COUNT, false), 0);
    ck_assert_uint_eq(tasks.count, MANY);
    for (uint64_t i = 0, k = 0; k < 3000; k++, i = (i + 99991) % MANY) {
        snprintf(expected, sizeof expected, "echo %" PRIu64, i + 1);
        ck_assert_str_eq(task(i), expected);
    }
    ck_assert_uint_le(tasks.lines.block_room * sizeof *tasks.lines.blocks, MANY / 64 * 24 * 2 + 4096);
    for (uint64_t i = 0; i < MANY; i++) {
        snprintf(expected, sizeof expected, "echo %" PRIu64, i + 1);
        ck_assert_str_eq(task(i), expected);
    }
    tasks_close(&tasks);
}
END_TEST

START_TEST(a_list_that_changes_is_never_read_as_if_it_had_not)
{
    const char *path = write_many();
    ck_assert_int_eq(open_tasks(path, "", "", ANY_COUNT, false), 0);
    uint64_t digest = tasks.digest;
    task(0);
    overwrite(path, 2000000, "x");
    ck_assert_str_eq(task(1), "echo 2");
    int refused = 0;
    for (uint64_t i = 0; i < MANY; i += 64)
        refused += tasks_get(&tasks, i, &error) < 0;
    ck_assert_int_eq(refused, 1);
    ck_assert_ptr_nonnull(strstr(error.text, "it has changed since the run began"));
    ck_assert_int_eq(truncate(path, 1000), 0);
    check_refused(tasks_get(&tasks, MANY / 2, &error), "it has changed");
    tasks_close(&tasks);
    ck_assert_int_eq(open_tasks(write_many(), "", "", ANY_COUNT, false), 0);
    ck_assert_uint_eq(tasks.digest, digest);
    tasks_close(&tasks);
    overwrite(path_of("many"), 2000000, "x");
    ck_assert_int_eq(open_tasks(path_of("many"), "", "", ANY_COUNT, false), 0);
    ck_assert_uint_ne(tasks.digest, digest);
    tasks_close(&tasks);
}
END_TEST

START_TEST(rows_can_be_given_without_a_file)
{
    const struct piece name = {"size", 4}, fields[] = {{"a b", 3}, {"c", 1}}, torn = {"a\0b", 3};
    const struct tasks_source source = {.tasks = "",
                                        .command = "fit {size} {2} {#}",
                                        .table = "",
                                        .list = "the rows",
                                        .folder = "",
                                        .count = ANY_COUNT,
                                        .names = &name,
                                        .name_count = 1,
                                        .columns = 2};
    ck_assert_int_eq(tasks_open(&tasks, &source, &error), 0);
    ck_assert_int_eq(list_give(&tasks.list, 7, fields, 2, &error), 0);
    ck_assert_str_eq(task(0), "fit 'a b' c 7");
    ck_assert_int_eq(list_give(&tasks.list, 9, fields + 1, 1, &error), 0);
    ck_assert_str_eq(task(0), "fit c '' 9");
    ck_assert_str_eq(tasks_fill(&tasks, 0, "{#}: '{1}' \\", &error), "9: 'c' \\");
    ck_assert_ptr_null(tasks_fill(&tasks, 0, "{3}", &error));
    ck_assert_str_eq(error.text, "{3}: the rows has no such column; accepted: a name of its first line, 1 to 2, or \\{ "
                                 "for a brace");
    ck_assert_int_eq(list_give(&tasks.list, 10, &torn, 1, &error), -1);
    ck_assert_str_eq(error.text, "the rows: a NUL byte");
    tasks_close(&tasks);
}
END_TEST

START_TEST(a_command_that_is_shown_is_one_line_and_cut)
{
    char text[12];
    ck_assert_int_eq(open_tasks("", "printf 'a\tb' 0123456789", "", ANY_COUNT, false), 0);
    ck_assert_str_eq(task(0), "printf 'a\\tb' 0123456789");
    ck_assert_str_eq(tasks_text(&tasks, text, sizeof text), "printf '...");
    tasks_close(&tasks);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tasks");
    TCase *all = tcase_create("tasks");
    tcase_set_timeout(all, 60);
    tcase_add_checked_fixture(all, make_folder, remove_folder);
    tcase_add_test(all, a_field_of_csv_may_have_newlines);
    tcase_add_test(all, words_are_those_of_a_shell);
    tcase_add_test(all, assignments_come_before_the_command);
    tcase_add_test(all, what_is_for_a_shell_is_refused_with_its_column);
    tcase_add_test(all, each_line_is_a_task);
    tcase_add_test(all, a_number_of_tasks_has_one_line);
    tcase_add_test(all, a_table_has_a_row_for_each_task);
    tcase_add_test(all, what_goes_to_a_shell_cannot_break_out_of_its_word);
    tcase_add_test(all, a_line_that_needs_a_shell_has_one);
    tcase_add_test(all, nor_out_of_quotes_within_substitutions);
    tcase_add_test(all, nothing_is_put_in_where_quotes_do_not_help);
    tcase_add_test(all, what_is_wrong_is_named_with_its_line);
    tcase_add_test(all, empty_lists_have_no_tasks);
    tcase_add_test(all, no_row_is_taken_for_names);
    tcase_add_test(all, columns_without_names_are_numbers);
    tcase_add_test(all, replacement_strings_are_those_of_gnu_parallel);
    tcase_add_test(all, columns_of_a_list_can_have_names);
    tcase_add_test(all, rows_may_say_which_tasks_they_are);
    tcase_add_test(all, what_is_wrong_with_a_list_is_named);
    tcase_add_test(all, an_open_list_grows);
    tcase_add_test(all, what_tasks_begin_with_has_a_digest);
    tcase_add_test(all, long_lines_come_in_pieces);
    tcase_add_test(all, an_open_list_that_changes_is_noticed);
    tcase_add_test(all, each_task_can_have_a_folder);
    tcase_add_test(all, a_long_list_is_read_where_it_is_needed);
    tcase_add_test(all, a_list_that_changes_is_never_read_as_if_it_had_not);
    tcase_add_test(all, rows_can_be_given_without_a_file);
    tcase_add_test(all, a_command_that_is_shown_is_one_line_and_cut);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
