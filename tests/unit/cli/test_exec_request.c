/* SPDX-License-Identifier: MIT */
/* The command line of `hdss exec`: which command and which rows of arguments it comes to, and what is refused. */
#include "deploy/cli/exec_request.h"
#include "deploy/cli/task_list.h"
#include "tests/lib/suite.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 40 };

static char folder[] = "/tmp/hdss-test-XXXXXX";

static void write_file(const char *name, const char *text, size_t length)
{
    FILE *file = fopen(name, "we");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, length, file), length);
    ck_assert_int_eq(fclose(file), 0);
}

static void make_files(void)
{
    snprintf(folder, sizeof folder, "/tmp/hdss-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    write_file("abc", "A\nB\nC\n", 6);
    write_file("def", "D\nE\nF", 5);
    write_file("abc_", "A_B_C_", 6);
    write_file("abc0", "A\0B\0C\0", 6);
    write_file("tsv", "f1\tf2\nA\tB\nC\tD\n", 14);
    write_file("csv", "a,\"x, y\"\r\n\"l1\nl2\",\"\"\"z\"\"\"\r\n,\n", 29);
    write_file("marked", "\xef\xbb\xbf\"a, b\",1\r\n\r\nc,2\r\n", 20);
    write_file("open", "a\n\"b\nc\n", 7);
    write_file("gaps", "1\n\n2\n", 5);
    write_file("empty", "", 0);
}

static void remove_files(void)
{
    static const char *const names[] = {"abc",    "def",  "abc_", "abc0",  "tsv", "csv",
                                        "marked", "open", "gaps", "empty", "list"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(names[i]);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

static int take_apart(char *line, char *words[WORDS_MAX])
{
    int count = 0;
    for (char *word = strtok(line, " "); word != NULL; word = strtok(NULL, " "))
        words[count++] = word;
    return count;
}

static int read_line(struct exec_request *request, const char *text, char line[300], struct error *error)
{
    static char *words[WORDS_MAX]; /* the request borrows them */
    snprintf(line, 300, "exec %s", text);
    return exec_request_read(request, take_apart(line, words), words, error);
}

/* Writes the rows as the list has them, with '|' between them and ',' between fields. */
static int read_rows(struct exec_request *request, char *text, size_t size, struct error *error)
{
    struct arguments row;
    size_t used = 0;
    int result;
    text[0] = '\0';
    if (sources_begin(request->sources, error) < 0)
        return -1;
    while ((result = sources_next(request->sources, true, &row, error)) == SOURCES_ROW) {
        for (unsigned i = 0; i < row.count; i++)
            used += (size_t)snprintf(text + used, size - used, "%s%.*s", i > 0 ? "," : "", (int)row.fields[i].length,
                                     row.fields[i].text);
        used += (size_t)snprintf(text + used, size - used, "|");
    }
    return result;
}

static const struct {
    const char *line, *command, *rows;
} taken[] = {
    {"echo ::: A B C", "echo", "A|B|C|"},
    {"echo :::", "echo", ""},
    {"echo -n x ::: A", "echo -n x", "A|"},
    {"-a abc echo", "echo", "A|B|C|"},
    {"--arg-file=def echo", "echo", "D|E|F|"},
    {"echo ::: A B ::: D E F", "echo", "A,D|A,E|A,F|B,D|B,E|B,F|"},
    {"echo ::: A B ::: 1 2 ::: x y", "echo", "A,1,x|A,1,y|A,2,x|A,2,y|B,1,x|B,1,y|B,2,x|B,2,y|"},
    {"-a abc -a def echo", "echo", "A,D|A,E|A,F|B,D|B,E|B,F|C,D|C,E|C,F|"},
    {"echo ::: A B :::: def", "echo", "A,D|A,E|A,F|B,D|B,E|B,F|"},
    {"echo ::: A B :::: empty", "echo", ""},
    {"--link echo ::: A B C ::: D E F", "echo", "A,D|B,E|C,F|"},
    {"--link echo ::: A B C D E ::: F G", "echo", "A,F|B,G|C,F|D,G|E,F|"},
    {"echo :::: abc :::+ G H I :::: def", "echo", "A,G,D|A,G,E|A,G,F|B,H,D|B,H,E|B,H,F|C,I,D|C,I,E|C,I,F|"},
    {"echo :::: abc ::: G H I ::::+ def", "echo", "A,G,D|A,H,E|A,I,F|B,G,D|B,H,E|B,I,F|C,G,D|C,H,E|C,I,F|"},
    {"echo ::: A B C D E :::+ F G", "echo", "A,F|B,G|"},
    {"--arg-sep ,, echo ,, A B :::: def", "echo", "A,D|A,E|A,F|B,D|B,E|B,F|"},
    {"--arg-file-sep // echo ::: A B // def", "echo", "A,D|A,E|A,F|B,D|B,E|B,F|"},
    {"-d _ echo :::: abc_", "echo", "A|B|C|"},
    {"-d \\0 echo :::: abc0", "echo", "A|B|C|"},
    {"-0 echo :::: abc0", "echo", "A|B|C|"},
    {"-E stop echo ::: A B stop C D", "echo", "A|B|"},
    {"echo :::: gaps", "echo", "1||2|"},
    {"-r echo :::: gaps", "echo", "1|2|"},
    {"--no-run-if-empty echo :::: gaps", "echo", "1|2|"},
    {"::: ls pwd", "", "ls|pwd|"},
    {"--colsep \\t echo :::: tsv", "echo", "f1,f2|A,B|C,D|"},
    {"-C , --header : echo {a} ::: a,b 1,2 3", "echo {a}", "1,2|3|"},
    {"--colsep [,;]+ echo ::: a,,b;c", "echo", "a,b,c|"},
    {"--header : echo ::: f1 A B ::: f2 C D", "echo", "A,C|A,D|B,C|B,D|"},
    {"-N3 echo ::: A B C D E F G H", "echo", "A,B,C|D,E,F|G,H|"},
    {"-n 2 echo ::: A B C", "echo", "A,B|C|"},
    {"--xargs echo ::: A B C", "echo", "A,B,C|"},
    {"-m -j 2 echo ::: A B C", "echo", "A,B|C|"},
    {"-j 0 -u --will-cite --lb echo ::: A", "echo", "A|"},
    {"--csv echo :::: csv", "echo", "a,x, y|l1\nl2,\"z\"|,|"},
    {"--csv -r echo :::: marked", "echo", "a, b,1|c,2|"},
    {"--csv --colsep ; echo ::: a;\"b;c\"", "echo", "a,b;c|"},
    {"-kn2 -j2 echo ::: A B", "echo", "A,B|"},
    {"-q echo a'b {} ::: A", "echo 'a'\\''b' {}", "A|"},
    {"-I ,, echo ,,/,, ::: A", "echo {}/{}", "A|"},
    {"-- echo ::: A", "echo", "A|"},
    {"--hosts a:2 echo ::: A", "echo", "A|"},
};

START_TEST(a_line_comes_to_a_command_and_rows)
{
    struct exec_request request;
    struct error error = {0};
    char rows[1000], line[300];
    make_files();
    ck_assert_msg(read_line(&request, taken[_i].line, line, &error) == 0, "%s", error.text);
    ck_assert_str_eq(request.command, taken[_i].command);
    ck_assert_msg(read_rows(&request, rows, sizeof rows, &error) == SOURCES_END, "%s", error.text);
    ck_assert_str_eq(rows, taken[_i].rows);
    exec_request_fini(&request);
    remove_files();
}
END_TEST

static const struct {
    const char *line, *text;
} refused[] = {
    {"--sshlogin x", "GNU parallel's --sshlogin is not there: use --hosts NAME:CORES,..."},
    {"-S x", "GNU parallel's -S is not there: use --hosts NAME:CORES,..."},
    {"-Sx", "GNU parallel's -S is not there: use --hosts NAME:CORES,..."},
    {"-X echo", "GNU parallel's -X is not there: use -m, and {} as a word of its own"},
    {"echo :: a", "'::' marks nothing; accepted: ::: before arguments, :::: before files of them"},
    {"--csv --colsep xy echo :::: tsv", "--colsep 'xy': accepted with --csv: one character, or \\t"},
    {"--csv echo :::: open", "open, line 2: quotes that do not end; accepted: \"..\", and \"\" for a quote in them"},
    {"--shuf --joblog l --resume echo ::: a",
     "--resume knows the tasks by their numbers, and --shuf gives them new ones; accepted: one of them"},
    {"-m -n 2 echo ::: a", "-n says how many arguments a task has, -m and --xargs find out; accepted: one of them"},
    {"-m echo ::: a ::: b",
     "-m and --xargs take arguments of one source; accepted: one :::, ::::, -a or standard input"},
    {"--shell=python3 echo",
     "--shell 'python3': accepted: bash, dash, fish, ksh, mksh, sh, zsh, or a path that ends so"},
    {"--nice 20 echo", "--nice '20': accepted: a number from -20 to 19"},
    {"--nosuch", "unknown option --nosuch; --help shows what there is"},
    {"--keep-ordr", "unknown option --keep-ordr; did you mean --keep-order?"},
    {"-j x", "--jobs 'x': accepted: a number, a share of the cores, +N or -N"},
    {"-j", "--jobs needs a value: accepted: a number, a share of the cores, +N or -N"},
    {"-j 99999999999999999999999 echo",
     "--jobs '99999999999999999999999': accepted: a number, a share of the cores, +N or -N"},
    {"--halt now", "--halt 'now': accepted: " HALT_ACCEPTED},
    {"--timeout 2x", "--timeout '2x': accepted: seconds, or numbers with ms, s, m, h or d, as 1h30m"},
    {"--delay x", "--delay 'x': accepted: seconds, or numbers with ms, s, m, h or d, as 1h30m"},
    {"--delay 1 --output all echo ::: a",
     "--delay goes with what is printed, and --output FILE prints nothing; FILE.log is a task log"},
    {"--trim x", "--trim 'x': accepted: n, l, r, lr, rl"},
    {"-d xx", "--delimiter 'xx': accepted: one character, or \\n, \\t, \\0"},
    {"-n 0", "--max-args '0': accepted: an integer from 1 to 100000"},
    {"--env a-b=c", "--env: 'a-b=c': accepted: the name of a variable, or NAME=VALUE"},
    {"--header x", "--header 'x': accepted: :"},
    {"--tag --tagstring x echo ::: a", "--tag and --tagstring are two ways to begin a line; accepted: one of them"},
    {"echo :::+ a", ":::+ links its arguments to those before it, and there are none; accepted: ::: first"},
    {"echo ::::", ":::: needs the name of a file; - is standard input"},
    {"echo :::: - -", "standard input (-) can be read only once"},
    {"echo :::: nosuch", "nosuch: No such file or directory"},
    {"echo :::: /", "/ is a folder; accepted: a file with an argument on each line"},
    {"-n 2 echo ::: a ::: b", "-n 2 takes arguments of one source; accepted: one :::, ::::, -a or standard input"},
    {"--colsep a( echo ::: b", "--colsep: 'a(': Unmatched ( or \\(; accepted: a string such as ',', or a regular "
                               "expression such as ' +'"},
    {"--colsep a* echo ::: b", "--colsep: 'a*': it fits where there is nothing; accepted: a string such as ',', or a "
                               "regular expression such as ' +'"},
    {"echo :::: abc0", "abc0: argument 1 has a NUL byte; accepted: -0 where NUL bytes end the arguments"},
};

START_TEST(what_is_wrong_is_said_in_a_line)
{
    struct exec_request request;
    struct error error = {0};
    char rows[1000], line[300];
    make_files();
    int result = read_line(&request, refused[_i].line, line, &error);
    if (result == 0)
        result = read_rows(&request, rows, sizeof rows, &error);
    ck_assert_int_eq(result, -1);
    ck_assert_str_eq(error.text, refused[_i].text);
    exec_request_fini(&request);
    remove_files();
}
END_TEST

START_TEST(a_list_is_written_as_the_kernel_reads_it)
{
    const struct piece names[] = {{"a", 1}}, row[] = {{"x\ty", 3}, {"\\.\n\r", 4}, {"", 0}}, empty[] = {{"", 0}};
    struct task_list list;
    struct error error = {0};
    char text[100] = "";
    make_files();
    ck_assert_int_eq(task_list_begin(&list, "list", &error), 0);
    task_list_name(&list, names, 1, 3);
    task_list_add(&list, 1, row, 3);
    task_list_add(&list, 2, empty, 1);
    task_list_add(&list, 7, names, 1); /* tasks between them are done */
    ck_assert_int_eq(task_list_flush(&list, &error), 0);
    ck_assert_uint_eq(list.rows, 3);
    ck_assert_int_eq(task_list_end(&list, true, &error), 0);
    FILE *file = fopen("list", "re");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
    ck_assert_str_eq(text, "a\t2\t3\nx\\ty\t\\\\.\\n\\r\t\n\n\\#7\ta\n\\.\n");
    remove_files();
}
END_TEST

START_TEST(standard_input_is_not_waited_for_unless_asked)
{
    struct exec_request request;
    struct error error = {0};
    struct arguments row;
    char line[300];
    int ends[2], before = dup(STDIN_FILENO);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_ge(dup2(ends[0], STDIN_FILENO), 0);
    close(ends[0]);
    ck_assert_int_eq(read_line(&request, "-n 2 echo :::: -", line, &error), 0);
    ck_assert_int_eq(sources_begin(request.sources, &error), 0);
    ck_assert_int_eq(sources_next(request.sources, false, &row, &error), SOURCES_WAIT);
    ck_assert_int_eq(write(ends[1], "A\nB", 3), 3);
    ck_assert_int_eq(sources_next(request.sources, false, &row, &error), SOURCES_WAIT);
    ck_assert_int_eq(write(ends[1], "C\nD", 3), 3);
    ck_assert_int_eq(sources_next(request.sources, false, &row, &error), SOURCES_ROW);
    ck_assert_uint_eq(row.count, 2);
    ck_assert_int_eq(strncmp(row.fields[1].text, "BC", 2), 0);
    close(ends[1]);
    ck_assert_int_eq(sources_next(request.sources, false, &row, &error), SOURCES_ROW);
    ck_assert_uint_eq(row.count, 1);
    ck_assert_int_eq(sources_next(request.sources, false, &row, &error), SOURCES_END);
    exec_request_fini(&request);
    dup2(before, STDIN_FILENO);
    close(before);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli-exec");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, a_line_comes_to_a_command_and_rows, 0, sizeof taken / sizeof *taken);
    tcase_add_loop_test(all, what_is_wrong_is_said_in_a_line, 0, sizeof refused / sizeof *refused);
    tcase_add_test(all, a_list_is_written_as_the_kernel_reads_it);
    tcase_add_test(all, standard_input_is_not_waited_for_unless_asked);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
