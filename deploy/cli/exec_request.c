/* SPDX-License-Identifier: MIT */
/* The command line of `hdss exec`: see exec_request.h.
 *
 * The command line is that of GNU parallel: options, the command, and sources of arguments, each after a mark such as
 * `:::`. After the first word of the command nothing is an option. Options of `hdss run` that make sense here are
 * passed on to `hdss run`. For an option that GNU parallel has and `hdss exec` lacks, the error says what to type
 * instead. */
#include "deploy/cli/exec_request.h"

#include "common/config/job.h"
#include "common/os/cores.h"
#include "common/util/number.h"
#include "common/util/suggest.h"
#include "common/util/text.h"
#include "deploy/cli/duration.h"
#include "deploy/cli/run.h"
#include "deploy/cli/words.h"
#include "worker/kernels/exec/cmdline.h"
#include "worker/kernels/exec/shell.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARGUMENT_MARK ":::"
#define FILE_MARK     "::::"

#define EXEC_TIME_ACCEPTED "seconds, or numbers with ms, s, m, h or d, as 1h30m"

/* -j 0 asks to run all tasks at once; it gets ALL_WORKERS workers. */
enum { ALL_WORKERS = 256, WORKERS_MAX = 1 << 20, TRIES_MAX = 1001, PER_TASK_MAX = 100000 };

static int exec_take_file(void *target, const char *value, struct error *error)
{
    (void)error;
    argv_add(&((struct exec_request *)target)->files, value);
    return value[0] != '\0' ? 0 : -1;
}

static int exec_take_delimiter(void *target, const char *value, struct error *error)
{
    (void)error;
    static const char letters[] = "ntr0\\", bytes[] = "\n\t\r\0\\";
    char *delimiter = &((struct exec_request *)target)->how.delimiter;
    const char *at = value[0] == '\\' && value[1] != '\0' ? strchr(letters, value[1]) : NULL;
    if (at != NULL && value[2] == '\0')
        *delimiter = bytes[at - letters];
    else if (value[0] != '\0' && value[1] == '\0')
        *delimiter = value[0];
    else
        return -1;
    return 0;
}

static int exec_take_null(void *target, const char *value, struct error *error)
{
    (void)value, (void)error;
    ((struct exec_request *)target)->how.delimiter = '\0';
    return 0;
}

static int exec_take_header(void *target, const char *value, struct error *error)
{
    (void)error;
    ((struct exec_request *)target)->how.header = true;
    return strcmp(value, ":") == 0 ? 0 : -1;
}

static int exec_take_trim(void *target, const char *value, struct error *error)
{
    (void)error;
    static const enum sources_trim trims[] = {TRIM_NONE, TRIM_LEFT, TRIM_RIGHT, TRIM_BOTH, TRIM_BOTH};
    int index = option_choice("n|l|r|lr|rl", value);
    if (index < 0)
        return -1;
    ((struct exec_request *)target)->how.trim = trims[index];
    return 0;
}

static int exec_take_jobs(void *target, const char *value, struct error *error)
{
    (void)error;
    struct exec_request *request = target;
    const unsigned cores = cores_usable();
    const bool is_signed = value[0] == '+' || value[0] == '-', is_share = value[strcspn(value, "%")] == '%';
    char digits[24];
    double number;
    snprintf(digits, sizeof digits, "%.*s", (int)strcspn(value + is_signed, "%"), value + is_signed);
    if (strspn(digits, "0123456789.") != strlen(digits) || number_parse_real(digits, &number) < 0 ||
        (is_share && (is_signed || value[strlen(value) - 1] != '%')) ||
        (!is_share && (number > WORKERS_MAX || number != (double)(int64_t)number)))
        return -1;
    double workers = is_share          ? number * cores / 100
                     : value[0] == '+' ? cores + number
                     : value[0] == '-' ? cores - number
                                       : number;
    if (number == 0 && !is_signed)
        workers = ALL_WORKERS;
    if (workers > WORKERS_MAX)
        return -1;
    request->workers = workers < 1 ? 1 : (unsigned)workers;
    return 0;
}

static int exec_parse_time(const char *value, uint64_t *time_ns)
{
    static const uint64_t most_ns = UINT64_C(10000000) * 1000000000;
    uint64_t parsed_ns;
    if (duration_parse_ns(value, &parsed_ns) < 0 || parsed_ns > most_ns)
        return -1;
    *time_ns = parsed_ns;
    return 0;
}

static int exec_take_timeout(void *target, const char *value, struct error *error)
{
    if (value[strcspn(value, "%")] == '%')
        return error_set(error,
                         "'%.100s': a share of the median time is not there; accepted: seconds, such as 90, 1.5 "
                         "or 2m",
                         value);
    return exec_parse_time(value, &((struct exec_request *)target)->timeout_ns);
}

static int exec_take_delay(void *target, const char *value, struct error *error)
{
    (void)error;
    return exec_parse_time(value, &((struct exec_request *)target)->delay_ns);
}

static int exec_take_halt(void *target, const char *value, struct error *error)
{
    ((struct exec_request *)target)->says_halt = true;
    return halt_parse(&((struct exec_request *)target)->halt, value, error);
}

static int exec_take_env(void *target, const char *value, struct error *error)
{
    struct exec_request *request = target;
    size_t length = strcspn(value, "=");
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)value[i]) && value[i] != '_')
            return error_set(error, "'%.100s': accepted: the name of a variable, or NAME=VALUE", value);
    argv_add(&request->env, value);
    return length > 0 && !isdigit((unsigned char)value[0]) ? 0 : -1;
}

/* "-" is standard output. A path may also name a device, a pipe or another file that is not regular. Output is written
 * there in the same way as to standard output, because no further files can be made beside it. */
static int exec_take_output(void *target, const char *value, struct error *error)
{
    (void)error;
    struct exec_request *request = target;
    struct stat status;
    request->output = request->device = NULL;
    if (value[0] == '\0')
        return -1;
    if (strcmp(value, "-") == 0)
        return 0;
    const bool is_descriptor = strncmp(value, "/dev/", 5) == 0 && lstat(value, &status) == 0 && S_ISLNK(status.st_mode);
    if (is_descriptor || strncmp(value, "/dev/fd/", 8) == 0 ||
        (stat(value, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)))
        request->device = value;
    else
        request->output = value;
    return 0;
}

static int exec_take_resume(void *target, const char *value, struct error *error)
{
    (void)error;
    struct exec_request *request = target;
    request->resumes = true;
    request->again_failed = value != NULL;
    return value == NULL || strcmp(value, "failed") == 0 ? 0 : -1;
}

static int exec_take_resume_failed(void *target, const char *value, struct error *error)
{
    (void)value;
    return exec_take_resume(target, "failed", error);
}

static int exec_take_shell(void *target, const char *value, struct error *error)
{
    (void)error;
    ((struct exec_request *)target)->shell = value != NULL ? value : SHELL_YES;
    return value == NULL || shell_is_known(value) ? 0 : -1;
}

static int exec_take_no_shell(void *target, const char *value, struct error *error)
{
    (void)value, (void)error;
    ((struct exec_request *)target)->shell = SHELL_NO;
    return 0;
}

static int exec_take_nice(void *target, const char *value, struct error *error)
{
    (void)error;
    double number;
    const bool is_good = number_parse_real(value, &number) == 0 && number == (double)(int)number && number <= 19;
    ((struct exec_request *)target)->nice = is_good ? (int)number : 0;
    return is_good && number >= -20 ? 0 : -1;
}

static int exec_take_fill(void *target, const char *value, struct error *error)
{
    (void)value, (void)error;
    ((struct exec_request *)target)->how.slots = 1;
    return 0;
}

static const struct option_row argument_rows[] = {
    {"arg-file", 'a', "FILE", "the name of a file, or -", "read arguments from the lines of FILE. -: standard input",
     exec_take_file},
    {"null", '0', NULL, NULL, "split files into arguments at NUL bytes, not at newlines", exec_take_null},
    {"delimiter", 'd', "C", "one character, or \\n, \\t, \\0", "split files into arguments at the character C",
     exec_take_delimiter},
    {"colsep", 'C', "SEP", "a string, or a regular expression",
     "split each argument into {1}, {2} and so on at SEP, a string or a regular expression",
     TAKES_WORD(struct exec_request, how.separator), .least = 1},
    {"csv", 0, NULL, NULL,
     "read files as CSV (RFC 4180) with fields {1}, {2} and so on; --colsep names another separator than a comma",
     TAKES_FLAG(struct exec_request, how.csv)},
    {"header", 0, ":", ":", "take the first argument of each source as the names of its columns, for {name}",
     exec_take_header},
    {"trim", 0, "n|l|r|lr|rl", "n, l, r, lr, rl",
     "cut blanks off the left (l) or right (r) of arguments (default n; lr with --colsep)", exec_take_trim},
    {"eof", 'E', "WORD", "a word", "stop reading a source at the argument WORD",
     TAKES_WORD(struct exec_request, how.end), .least = 1},
    {"no-run-if-empty", 'r', NULL, NULL, "skip empty arguments", TAKES_FLAG(struct exec_request, how.skips_empty)},
    {"link", 0, NULL, NULL, "read all sources side by side; shorter sources begin again",
     TAKES_FLAG(struct exec_request, how.link)},
    {"max-args", 'n', "N", NULL, "give each task N arguments (default 1)",
     TAKES_INTEGER(struct exec_request, how.per_row, 1, PER_TASK_MAX)},
    {"max-replace-args", 'N', "N", NULL, "the same as --max-args",
     TAKES_INTEGER(struct exec_request, how.per_row, 1, PER_TASK_MAX)},
    {"xargs", 0, NULL, NULL, "give each task as many arguments as fit into a command line", exec_take_fill},
    {"spread", 'm', NULL, NULL, "the same as --xargs, but make at least one task for each worker",
     TAKES_FLAG(struct exec_request, spreads)},
    {"shuf", 0, NULL, NULL, "run the tasks in a random order", TAKES_FLAG(struct exec_request, how.shuffles)},
    {"arg-sep", 0, "WORD", "a word", "take WORD as the mark before arguments (default " ARGUMENT_MARK ")",
     TAKES_WORD(struct exec_request, argument_mark), .least = 1},
    {"arg-file-sep", 0, "WORD", "a word", "take WORD as the mark before files of arguments (default " FILE_MARK ")",
     TAKES_WORD(struct exec_request, file_mark), .least = 1},
    {NULL},
};

static const struct option_row task_rows[] = {
    {"jobs", 'j', "N|N%|+N|-N", "a number, a share of the cores, +N or -N",
     "run N tasks at a time: a number, N% of the cores, or N more or fewer than cores; 0 stands for 256 (default: one "
     "for each core)",
     exec_take_jobs},
    {"workers", 0, "N", "a number from 1, a share of the cores, +N or -N", "the same as --jobs", exec_take_jobs},
    {"max-procs", 'P', "N", "a number from 1, a share of the cores, +N or -N", "the same as --jobs", exec_take_jobs},
    {"shell", 0, "[=PROGRAM]", SHELL_ACCEPTED,
     "run each line by a shell, or by PROGRAM (default: only lines that need a shell, by $SHELL if it is bash, ksh or "
     "zsh, else by bash)",
     exec_take_shell},
    {"no-shell", 0, NULL, NULL, "run no line by a shell", exec_take_no_shell},
    {"quote", 'q', NULL, NULL, "keep each word of the command as it is, even the only word",
     TAKES_FLAG(struct exec_request, quotes)},
    {"replace", 'I', "WORD", "a word", "use WORD in place of {}", TAKES_WORD(struct exec_request, place), .least = 1},
    {"timeout", 0, "TIME", EXEC_TIME_ACCEPTED, "end a task that runs longer than TIME, and count it as failed",
     exec_take_timeout},
    {"retries", 0, "N", NULL, "run a failing task up to N times in all (default 1)",
     TAKES_INTEGER(struct exec_request, tries, 0, TRIES_MAX)},
    {"delay", 0, "TIME", EXEC_TIME_ACCEPTED, "wait at least TIME between the starts of two tasks", exec_take_delay},
    {"halt", 0, "WHEN,WHY=VALUE", HALT_ACCEPTED,
     "stop when VALUE tasks (or VALUE% of the tasks) have ended as WHY says: fail (failed), success (succeeded) or "
     "done (either). WHEN is now (stop at once) or soon (let running tasks end first)",
     exec_take_halt},
    {"cores", 0, "C", "a number of cores", "reserve C cores of the node for each task",
     TAKES_WORD(struct exec_request, cores), .least = 1},
    {"memory", 0, "M", "a number of bytes, as 2G",
     "reserve M bytes (such as 2G) of the node for each task, and limit the task to them",
     TAKES_WORD(struct exec_request, memory), .least = 1},
    {"gpus", 0, "G", "a number of GPUs", "reserve G GPUs of the node for each task, which sees no others",
     TAKES_WORD(struct exec_request, gpus), .least = 1},
    {"workdir", 0, "FOLDER", "the name of a folder", "run the tasks in this folder",
     TAKES_WORD(struct exec_request, workdir), .least = 1},
    {"nice", 0, "N", "a number from -20 to 19",
     "set the priority of the command, its workers and tasks, as nice(1) does (-20 to 19)", exec_take_nice},
    {"env", 0, "NAME[=VALUE]", "the name of a variable, or NAME=VALUE",
     "give tasks this variable, also on other machines; may be repeated", exec_take_env},
    {"set", 0, "SET", NULL, "launch nothing: run the tasks as a job of this set of `hdss up`",
     TAKES_WORD(struct exec_request, set), .least = 1},
    {"dry-run", 0, NULL, NULL, "print the commands, one a line, and run nothing",
     TAKES_FLAG(struct exec_request, dry_run)},
    {NULL},
};

static const struct option_row output_rows[] = {
    {"keep-order", 'k', NULL, NULL, "print outputs in the order of the tasks, not as tasks end",
     TAKES_FLAG(struct exec_request, shown.in_order)},
    {"tag", 0, NULL, NULL, "begin each line with the task's arguments and a TAB",
     TAKES_FLAG(struct exec_request, shown.tag)},
    {"tagstring", 0, "TEXT", "a text", "begin each line with TEXT and a TAB; strings like {} are replaced",
     TAKES_WORD(struct exec_request, shown.tag_text)},
    {"line-buffer", 0, NULL, NULL, "print each line soon after the task writes it, not when the task ends",
     TAKES_FLAG(struct exec_request, shown.line_buffer)},
    {"show-commands", 't', NULL, NULL, "print each command on standard error before its output",
     TAKES_FLAG(struct exec_request, shown.tells)},
    {"joblog", 0, "FILE", "the name of a file",
     "write a line to FILE for each task that has ended, as GNU parallel does",
     TAKES_WORD(struct exec_request, shown.joblog), .least = 1},
    {"results", 0, "TEMPLATE", "a folder, or a name with {}",
     "also write the output of each task to files named by TEMPLATE", TAKES_WORD(struct exec_request, shown.results),
     .least = 1},
    {"output", 0, "FILE", "the name of a file, or - for standard output",
     "write outputs to FILE, FILE.err and FILE.log, from which --resume continues (default -, standard output)",
     exec_take_output},
    {"resume", 0, "[failed]", "failed",
     "skip the tasks that an earlier run with the same --joblog or --output has done. failed: run failed tasks "
     "again",
     exec_take_resume},
    {"resume-failed", 0, NULL, NULL, "the same as --resume failed", exec_take_resume_failed},
    {"bar", 0, NULL, NULL, "show a progress line", TAKES_FLAG(struct exec_request, shown.bar)},
    {"eta", 0, NULL, NULL, "the same as --bar, which shows the expected end",
     TAKES_FLAG(struct exec_request, shown.bar)},
    {"quiet", 0, NULL, NULL, "do not mention failed tasks", TAKES_FLAG(struct exec_request, shown.quiet)},
    {"verbose", 'v', NULL, NULL, "show the launch line and the summary",
     TAKES_FLAG(struct exec_request, shown.verbose)},
    {NULL},
};

static const char *const passed_names[] = {
    "hosts",       "hostfile",   "masters",    "carrier",       "mpirun",     "mpi-args", "time-limit",
    "time-margin", "restarts",   "technique",  "recall",        "max-output", "report",   "overwrite",
    "journal",     "durability", "drain-time", "node-failures", "trace",      "elastic",  "listen",
    "pods-file",   "pods-only",  "pods",       "one-launch",    "html",
};
enum { PASSED = sizeof passed_names / sizeof *passed_names };

static const struct absent {
    const char *name;
    char letter;
    const char *instead;
} absent[] = {
    {"sshlogin", 'S', "use --hosts NAME:CORES,..."},
    {"sshloginfile", 0, "use --hostfile FILE"},
    {"slf", 0, "use --hostfile FILE"},
    {"nonall", 0, "run the command by mpirun or your batch system"},
    {"onall", 0, "run the command by mpirun or your batch system"},
    {"transferfile", 0, "all machines must share the folder"},
    {"transfer", 0, "all machines must share the folder"},
    {"return", 0, "all machines must share the folder"},
    {"cleanup", 0, "all machines must share the folder"},
    {"basefile", 0, "all machines must share the folder"},
    {"trc", 0, "all machines must share the folder"},
    {"pipe", 0, "tasks have no standard input; split the input into files and give their names"},
    {"pipepart", 0, "tasks have no standard input; split the input into files and give their names"},
    {"spreadstdin", 0, "tasks have no standard input; split the input into files and give their names"},
    {"block", 0, "it goes with --pipe, which is not there either"},
    {"recstart", 0, "it goes with --pipe, which is not there either"},
    {"recend", 0, "it goes with --pipe, which is not there either"},
    {"round-robin", 0, "it goes with --pipe, which is not there either"},
    {"cat", 0, "it goes with --pipe, which is not there either"},
    {"fifo", 0, "it goes with --pipe, which is not there either"},
    {"", 'i', "use -I WORD"},
    {"max-chars", 's', "use -n N for N arguments a task"},
    {"max-lines", 'L', "use -n N for N arguments a task"},
    {"", 'l', "use -n N for N arguments a task"},
    {"files", 0, "use --results TEMPLATE"},
    {"tmux", 0, "nothing stands in for it"},
    {"semaphore", 0, "use GNU parallel's sem"},
    {"sem", 0, "use GNU parallel's sem"},
    {"fg", 0, "use GNU parallel's sem"},
    {"bg", 0, "use a shell's &"},
    {"", 'X', "use -m, and {} as a word of its own"},
    {"load", 0, "use -j 50% for half of the cores"},
    {"noswap", 0, "use --memory 1G for what a task needs"},
    {"memfree", 0, "use --memory 1G for what a task needs"},
    {"memsuspend", 0, "use --memory 1G for what a task needs"},
    {"limit", 0, "use -j N"},
    {"rpl", 0, "{} {.} {/} {//} {/.} {#} {%} {N} and {name} are there"},
    {"extensionreplace", 0, "use {.}"},
    {"er", 0, "use {.}"},
    {"basenamereplace", 0, "use {/}"},
    {"bnr", 0, "use {/}"},
    {"profile", 'J', "write the options out"},
    {"interactive", 'p', "look at --dry-run"},
    {"retry-failed", 0, "use --resume-failed, with the same command and arguments"},
    {"tmpdir", 0, "set TMPDIR"},
    {"tempdir", 0, "set TMPDIR"},
    {"sqlmaster", 0, "use --joblog FILE"},
    {"sqlworker", 0, "use --joblog FILE"},
    {"sqlandworker", 0, "use --joblog FILE"},
    {"compress", 0, "what tasks write is not compressed"},
    {"color", 0, "use --tag"},
    {"latest-line", 0, "use --bar"},
    {"seqreplace", 0, "use {#}"},
    {"filter", 0, "leave the arguments out before it"},
    {"embed", 0, "nothing stands in for it"},
    {"record-env", 0, "use --env NAME"},
    {"termseq", 0, "use --timeout; SIGKILL follows SIGTERM after two seconds"},
    {"use-cpus-instead-of-cores", 0, "use -j N"},
    {"use-cores-instead-of-threads", 0, "it is what is done without it"},
};

static const struct {
    const char *word, *meant;
} foreign[] = {
    {"--cpus", "--cores C"},
    {"--ncpus", "--cores C"},
    {"--cpus-per-task", "--cores C"},
    {"-c", "--cores C"},
    {"--mem-per-cpu", "--memory M"},
    {"--ntasks", "-j N"},
    {"--nprocs", "-j N"},
    {"--procs", "-j N"},
    {"-np", "-j N"},
    {"--walltime", "--timeout TIME"},
    {"--cwd", "--workdir FOLDER"},
    {"--chdir", "--workdir FOLDER"},
    {"--directory", "--workdir FOLDER"},
    {"--array", "arguments, as in ::: {1..100}"},
    {"--log", "--joblog FILE"},
    {"--stdout", "--results TEMPLATE"},
    {"--stdin", "-a FILE"},
    {"--input", "-a FILE"},
    {"-f", "-a FILE"},
    {"--file", "-a FILE"},
    {"--pin", "nothing: tasks have cores of their own; --cores C for more than one"},
};

/* Other spellings of options. If `ours` is NULL, the word is ignored. */
static const struct spelling {
    const char *theirs, *ours;
} spellings[] = {
    {"--lb", "--line-buffer"},
    {"--linebuffer", "--line-buffer"},
    {"--ungroup", "--line-buffer"},
    {"-u", "--line-buffer"},
    {"--wd", "--workdir"},
    {"--dryrun", "--dry-run"},
    {"--progress", "--bar"},
    {"--keeporder", "--keep-order"},
    {"--group", NULL},
    {"--plus", NULL},
    {"--will-cite", NULL},
    {"--citation", NULL},
    {"--no-notice", NULL},
};

#define NOTES                                                                                                          \
    "Sources of arguments follow the command: ::: WORD... and :::: FILE... Several sources make all combinations; "    \
    ":::+ and ::::+ read a source side by side with the one before it. Without a source, each line of standard input " \
    "is an argument.\n"                                                                                                \
    "In the command {} stands for the arguments, {.} without the ending, {/} without the folder, {//} for the "        \
    "folder, {/.} without folder and ending; {N}, {-N} and {name} for one of the arguments, also {N.} and so on; {#} " \
    "for the task's number, {%} for the worker's. If the command has none of these, the arguments are appended. "      \
    "Without a command, each argument is a command.\n"                                                                 \
    "A command of several words keeps its words: hdss exec awk '{print $1}' ::: *.txt. A shell runs a command of one " \
    "word that has a pipe, a variable or the like, and a command with a word such as '|' or '>': hdss exec 'sort {} "  \
    "| uniq -c > {}.n' ::: *.txt.\n"                                                                                   \
    "Examples:\n"                                                                                                      \
    "    hdss exec 'wc -c {}' ::: *.dat\n"                                                                             \
    "    ls *.dat | hdss exec -j 8 --joblog log ./fit {} {.}.fit\n"                                                    \
    "Exit status: 0 done, 1 failed, 2 wrong use, 3 finished with failed tasks, 4 stopped by a signal after a clean "   \
    "drain."

struct options exec_options(void)
{
    static struct option_row passed[PASSED + 1];
    for (size_t i = 0; i < PASSED; i++)
        passed[i] = *run_find_option(passed_names[i]);
    return (struct options){
        .usage = "hdss exec [OPTION]... COMMAND... [::: ARG...]...",
        .about = "Runs COMMAND once for each argument, as many tasks at a time as there are cores, and prints what the "
                 "tasks write. The syntax is that of GNU parallel.",
        .sections = {{"Arguments", argument_rows},
                     {"Tasks", task_rows},
                     {"Output", output_rows},
                     {"Options of hdss run", passed},
                     {"Help", options_common}},
        .notes = NOTES,
    };
}

void exec_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){exec_options(), OPERANDS_COMMAND};
}

/* A shell that the user has chosen gets the words joined by spaces, as if they had been typed in it. */
static int join_command(struct exec_request *request, int count, char *const *words, struct error *error)
{
    const bool decides = strcmp(request->shell, SHELL_AUTO) == 0;
    const struct words_options options = {.place = request->place,
                                          .quotes = request->quotes,
                                          .operators = decides && !request->quotes,
                                          .joined = !decides && strcmp(request->shell, SHELL_NO) != 0};
    request->command = words_line(words, count, &options);
    if (request->quotes)
        request->shell = SHELL_NO;
    return request->command != NULL ? 0 : error_set(error, "out of memory for the command");
}

enum mark { MARK_NONE, MARK_WORDS, MARK_FILES };

static enum mark mark_of(const struct exec_request *request, const char *word, bool *linked)
{
    const struct {
        const char *text;
        enum mark mark;
    } marks[] = {{request->argument_mark, MARK_WORDS}, {request->file_mark, MARK_FILES}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const size_t length = strlen(marks[i].text);
        *linked = strncmp(word, marks[i].text, length) == 0 && strcmp(word + length, "+") == 0;
        if (*linked || strcmp(word, marks[i].text) == 0)
            return marks[i].mark;
    }
    return MARK_NONE;
}

static int exec_add_file(struct exec_request *request, const char *path, bool linked, struct error *error)
{
    request->reads_input |= strcmp(path, "-") == 0;
    return sources_add_file(request->sources, path, linked, error);
}

static int exec_read_sources(struct exec_request *request, int count, char *const *words, struct error *error)
{
    bool linked, any = request->files.count > 0;
    for (unsigned i = 0; i < request->files.count; i++)
        if (exec_add_file(request, request->files.items[i], false, error) < 0)
            return -1;
    for (int at = 0, next; at < count; at = next) {
        const enum mark mark = mark_of(request, words[at], &linked);
        bool unused;
        for (next = at + 1; next < count && mark_of(request, words[next], &unused) == MARK_NONE;)
            next++;
        if (linked && !any)
            return error_set(error,
                             "%s links its arguments to those before it, and there are none; accepted: %.*s first",
                             words[at], (int)strlen(words[at]) - 1, words[at]);
        if (mark == MARK_WORDS &&
            sources_add_words(request->sources, words + at + 1, (unsigned)(next - at - 1), linked, error) < 0)
            return -1;
        if (mark == MARK_FILES && next == at + 1)
            return error_set(error, "%s needs the name of a file; - is standard input", words[at]);
        for (int i = at + 1; mark == MARK_FILES && i < next; i++)
            if (exec_add_file(request, words[i], linked, error) < 0)
                return -1;
        any = true;
    }
    request->is_one_task = request->is_one_task && !any;
    if (any || request->is_one_task)
        return 0;
    if (isatty(STDIN_FILENO))
        return error_set(error, "no arguments are given, and standard input is a terminal; accepted: ::: ARG..., :::: "
                                "FILE, -a FILE (-a - to type them), or a list on standard input");
    return exec_add_file(request, "-", false, error);
}

static int exec_read_words(struct exec_request *request, int count, char *const *words, struct error *error)
{
    bool linked;
    int end = 0;
    while (end < count && mark_of(request, words[end], &linked) == MARK_NONE)
        end++;
    if (request->spreads)
        request->how.slots = request->workers > 0 ? request->workers : cores_usable();
    for (int i = 1; end == count && i < count; i++) {
        if (strcmp(words[i], "::") == 0)
            return error_set(error, "'::' marks nothing; accepted: %s before arguments, %s before files of them",
                             request->argument_mark, request->file_mark);
        if (request->file_word == NULL && access(words[i], F_OK) == 0)
            request->file_word = words[i];
    }
    request->sources = sources_new(&request->how);
    if (request->sources == NULL)
        return error_set(error, "out of memory for the arguments");
    if (count == 0 && request->files.count == 0 && isatty(STDIN_FILENO))
        return error_set(error, "no command is given; accepted: a command and its arguments, as in: hdss exec 'wc -c "
                                "{}' ::: *.dat");
    return join_command(request, end, words, error) < 0 ? -1
                                                        : exec_read_sources(request, count - end, words + end, error);
}

static int refuse_absent(const char *word, struct error *error)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strlen(foreign[i].word) == strcspn(word, "=") && strncmp(foreign[i].word, word, strcspn(word, "=")) == 0)
            return error_set(error, "unknown option %s; here it is %s", foreign[i].word, foreign[i].meant);
    const bool is_long = word[0] == '-' && word[1] == '-';
    const size_t length = strcspn(word, "=");
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        const char *name = absent[i].name;
        if (is_long && name[0] != '\0' && strlen(name) == length - 2 && strncmp(name, word + 2, length - 2) == 0)
            return error_set(error, "GNU parallel's --%s is not there: %s", name, absent[i].instead);
        if (!is_long && word[0] == '-' && word[1] != '\0' && absent[i].letter == word[1])
            return error_set(error, "GNU parallel's -%c is not there: %s", word[1], absent[i].instead);
    }
    return 0;
}

static int respell(struct exec_request *request, char **word)
{
    const size_t length = strcspn(*word, "=");
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        const struct spelling *one = &spellings[i];
        if (strlen(one->theirs) != length || strncmp(one->theirs, *word, length) != 0)
            continue;
        if (one->ours == NULL)
            return 1;
        argv_add_format(&request->spelled, "%s%s", one->ours, *word + length);
        if (!request->spelled.failed)
            *word = request->spelled.items[request->spelled.count - 1];
        return 0;
    }
    return 0;
}

static void suggest_option(const struct options *options, const char *word, struct error *error)
{
    char name[60];
    struct suggestion nearest;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    suggest_init(&nearest, name + strspn(name, "-"));
    for (const struct option_section *section = options->sections; section->title != NULL; section++)
        for (const struct option_row *row = section->rows; row->name != NULL; row++)
            suggest_offer(&nearest, row->name);
    const char *const ours = nearest.name;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (strncmp(spellings[i].theirs, "--", 2) == 0)
            suggest_offer(&nearest, spellings[i].theirs + 2);
    if (nearest.name != ours)
        error_set(error, OPTIONS_UNKNOWN "%s; did you mean --%s?", name, nearest.name);
}

static bool is_passed_on(const char *name)
{
    for (size_t i = 0; i < PASSED; i++)
        if (strcmp(passed_names[i], name) == 0)
            return true;
    return false;
}

static int exec_read_options(struct exec_request *request, struct options_reader *reader, char **argv,
                             struct error *error)
{
    struct options_word word;
    struct error unread;
    bool linked;
    error = error_or(error, &unread);
    while (reader->letters != NULL || reader->at < reader->argc) {
        if (reader->letters == NULL && respell(request, &argv[reader->at]) > 0) {
            reader->at++;
            continue;
        }
        const char *next = reader->letters == NULL ? reader->argv[reader->at] : "";
        if (mark_of(request, next, &linked) != MARK_NONE)
            return 0;
        if (refuse_absent(next, error) < 0)
            return -1;
        int result = options_next(reader, &word, error);
        if (result < 0 && strncmp(error->text, OPTIONS_UNKNOWN, strlen(OPTIONS_UNKNOWN)) == 0)
            suggest_option(reader->options, next, error);
        if (result <= 0)
            return result;
        if (word.row == NULL) {
            reader->at--;
            return 0;
        }
        if (!is_passed_on(word.row->name)) {
            result = option_apply(&word, request, error);
            if (result != 0)
                return result;
            continue;
        }
        argv_add_format(&request->words, "--%s%s%s", word.row->name, word.value != NULL ? "=" : "",
                        word.value != NULL ? word.value : "");
    }
    return 0;
}

static const char *exec_prints(const struct exec_request *request)
{
    return request->shown.tag || request->shown.tag_text != NULL ? "--tag and --tagstring go"
           : request->shown.line_buffer                          ? "--line-buffer goes"
           : request->shown.tells                                ? "--show-commands goes"
           : request->shown.joblog != NULL                       ? "--joblog goes"
           : request->shown.results != NULL                      ? "--results goes"
           : request->halt.when != HALT_NO                       ? "--halt goes"
           : request->delay_ns > 0                               ? "--delay goes"
                                                                 : NULL;
}

static int check_for_set(const struct exec_request *request, struct error *error)
{
    if (request->workers > 0)
        return error_set(error, "--jobs: a set has the workers that it was started with; accepted: --cores C, for "
                                "fewer tasks at a time");
    for (unsigned i = 0; i < request->words.count; i++) {
        char name[40];
        const char *word = request->words.items[i] + strlen("--");
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
        if (options_find(job_options(), name) == NULL)
            return error_set(error, "--%s is for a launch; accepted: options of a job", name);
    }
    return 0;
}

static int exec_check(const struct exec_request *request, struct error *error)
{
    if (request->set != NULL && check_for_set(request, error) < 0)
        return -1;
    if (request->shown.tag && request->shown.tag_text != NULL)
        return error_set(error, "--tag and --tagstring are two ways to begin a line; accepted: one of them");
    if (request->quotes && strcmp(request->shell, SHELL_AUTO) != 0 && strcmp(request->shell, SHELL_NO) != 0)
        return error_set(error,
                         "--quote takes the words as they are, --shell has a shell read them; accepted: one of them");
    if (request->how.slots + request->spreads > 0 && request->how.per_row > 0)
        return error_set(error,
                         "-n says how many arguments a task has, -m and --xargs find out; accepted: one of them");
    if (request->how.shuffles && request->resumes)
        return error_set(error,
                         "--resume knows the tasks by their numbers, and --shuf gives them new ones; accepted: one "
                         "of them");
    const char *printed = exec_prints(request);
    if (request->output != NULL && printed != NULL)
        return error_set(error, "%s with what is printed, and --output FILE prints nothing; FILE.log is a task log",
                         printed);
    if (request->output == NULL && request->shown.joblog == NULL && request->resumes)
        return error_set(error,
                         "--resume goes on from the log of the run before, and none is named; accepted: --joblog "
                         "FILE --resume, or --output FILE --resume");
    return 0;
}

static int exec_request_take(struct exec_request *request, bool may_be_one, int argc, char **argv, struct error *error)
{
    const struct options options = exec_options();
    struct options_reader reader;
    *request = (struct exec_request){.how.delimiter = '\n',
                                     .argument_mark = ARGUMENT_MARK,
                                     .file_mark = FILE_MARK,
                                     .shell = SHELL_AUTO,
                                     .tries = 1,
                                     .is_one_task = may_be_one};
    options_reader_init(&reader, &options, argc, argv);
    int result = exec_read_options(request, &reader, argv, error);
    if (result != 0)
        return result;
    if (exec_check(request, error) < 0 || exec_read_words(request, argc - reader.at, argv + reader.at, error) < 0)
        return -1;
    return request->words.failed || request->files.failed || request->env.failed
               ? error_set(error, "out of memory for the command line")
               : 0;
}

int exec_request_read(struct exec_request *request, int argc, char **argv, struct error *error)
{
    return exec_request_take(request, false, argc, argv, error);
}

bool exec_request_looks_at_lines(const struct exec_request *request)
{
    return strcmp(request->shell, SHELL_AUTO) == 0 || strcmp(request->shell, SHELL_NO) == 0;
}

int exec_request_check_line(const struct exec_request *request, const char *line, struct error *error)
{
    struct cmdline words;
    cmdline_init(&words);
    int result = cmdline_split(&words, line, strlen(line), NULL, error);
    if (strcmp(request->shell, SHELL_NO) != 0 && words.wants_shell)
        result = 0;
    cmdline_fini(&words);
    return result;
}

int exec_request_check_command(const struct exec_request *request, struct error *error)
{
    struct error reason;
    if (request->command[0] == '\0' || !exec_request_looks_at_lines(request) ||
        exec_request_check_line(request, request->command, &reason) == 0)
        return 0;
    return error_set(error, "%.100s: %s", request->command, reason.text);
}

int exec_request_read_for_set(struct exec_request *request, int argc, char **argv, struct error *error)
{
    const int result = exec_request_take(request, true, argc, argv, error);
    if (result != 0)
        return result;
    const char *printed = exec_prints(request);
    if (printed == NULL && request->device != NULL)
        printed = "--output of a device goes";
    if (printed != NULL)
        return error_set(error, "%s with what is printed here; accepted: by `hdss exec --set SET`", printed);
    if (request->dry_run || request->shown.bar || request->set != NULL)
        return error_set(error, "%s goes with `hdss exec`, and here before the command",
                         request->set != NULL ? "--set"
                         : request->dry_run   ? "--dry-run"
                                              : "--bar");
    if (check_for_set(request, error) < 0 || exec_request_check_command(request, error) < 0)
        return -1;
    if (!request->is_one_task && sources_begin(request->sources, error) < 0)
        return -1;
    if (sources_names(request->sources).count > 0)
        return error_set(error, "--header names columns, which rows that are handed over have not; accepted: {1}, {2} "
                                "and so on, or `hdss exec --set SET`");
    return 0;
}

static void exec_add_env(const struct exec_request *request, struct argv *words)
{
    struct text text;
    text_init(&text);
    text_add(&text, "env=");
    for (unsigned i = 0; i < request->env.count; i++) {
        text_add(&text, "%s", i > 0 ? "," : "");
        for (const char *c = request->env.items[i]; *c != '\0'; c++)
            text_add(&text, *c == ',' ? "\\," : "%c", *c);
    }
    char *word = text_take(&text);
    argv_add(words, word != NULL ? word : "");
    words->failed |= word == NULL;
    free(word);
}

void exec_request_add_parameters(const struct exec_request *request, struct argv *words)
{
    argv_add_format(words, "command=%s", request->command);
    if (strcmp(request->shell, SHELL_AUTO) != 0)
        argv_add_format(words, "shell=%s", request->shell);
    if (request->timeout_ns > 0)
        argv_add_format(words, "timeout=%.9g", (double)request->timeout_ns / 1e9);
    if (request->tries > 1)
        argv_add_format(words, "retries=%u", request->tries - 1);
    if (request->cores != NULL)
        argv_add_format(words, "cores=%s", request->cores);
    if (request->memory != NULL)
        argv_add_format(words, "memory=%s", request->memory);
    if (request->gpus != NULL)
        argv_add_format(words, "gpus=%s", request->gpus);
    if (request->workdir != NULL)
        argv_add_format(words, "workdir=%s", request->workdir);
    if (request->env.count > 0)
        exec_add_env(request, words);
}

void exec_request_fini(struct exec_request *request)
{
    argv_fini(&request->words);
    argv_fini(&request->files);
    argv_fini(&request->env);
    argv_fini(&request->spelled);
    sources_free(request->sources);
    free(request->command);
}
