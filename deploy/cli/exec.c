/* SPDX-License-Identifier: MIT */
/* hdss exec: a command for each of many arguments, in the style of GNU parallel.
 *
 * The arguments are written to a list, a row for each task, and a job of the kernel `exec` is composed and launched as
 * `hdss run` does. This process stays its parent: what tasks write comes to standard output through it. All files that
 * nobody has asked for lie in a private folder, which is removed at the end. */
#include "common/job/job_setup.h"
#include "common/os/signals.h"
#include "common/util/text.h"
#include "deploy/cli/allocation.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/exec_request.h"
#include "deploy/cli/run.h"
#include "deploy/cli/task_list.h"
#include "worker/helper/ask.h"
#include "worker/kernels/exec/cmdline.h"
#include "worker/kernels/exec/exec.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 1000, TASK_BYTES = 2 * CMDLINE_BYTES_MAX, REMOVED_AT_A_TIME = 16 };

struct exec_run {
    struct exec_request request;
    struct task_list list;
    char output[PATH_BYTES]; /* where the job's results go */
};

/* Files of this process, for the handler of a signal that comes before the launch. */
static struct {
    char folder[PATH_BYTES]; /* empty: none */
    char list[PATH_BYTES + 8];
    volatile sig_atomic_t is_launched, is_asked;
} own;

/* --- signals --- */

static void exec_take_signal(int number)
{
    static const char line[] = "hdss exec: stopped before a task had begun\n";
    (void)number;
    own.is_asked = 1;
    if (own.is_launched)
        return;
    if (own.folder[0] != '\0')
        unlink(own.list);
    if (own.folder[0] != '\0')
        rmdir(own.folder);
    ssize_t written = write(STDERR_FILENO, line, sizeof line - 1); /* a terminal that hangs up takes none */
    (void)written;
    _exit(EXIT_STATUS_DRAINED);
}

static bool exec_is_asked(void)
{
    return own.is_asked != 0;
}

/* Signals that whoever started us wants ignored stay so. */
static void exec_take_signals(void)
{
    struct sigaction action = {.sa_handler = exec_take_signal, .sa_flags = SA_RESTART}, before;
    for (unsigned i = 0; i < DRAIN_SIGNALS; i++)
        if (sigaction(drain_signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(drain_signals[i], &action, NULL);
}

/* --- files --- */

/* True if ranks may be on other machines, which cannot see a folder for temporary files. */
static bool exec_is_remote(const struct exec_request *request)
{
    struct hosts hosts = {0};
    for (unsigned i = 0; i < request->words.count; i++)
        if (strncmp(request->words.items[i], "--host", 6) == 0)
            return true;
    const bool is_allocated = allocation_read(&hosts, NULL) == 0 && hosts.count > 0;
    hosts_fini(&hosts);
    return is_allocated;
}

/* Makes the private folder, and names the files. -1 with one line. */
static int make_place(struct exec_run *run, struct error *error)
{
    const char *temporary = getenv("TMPDIR");
    if (run->request.output != NULL) {
        if (snprintf(run->output, sizeof run->output, "%s", run->request.output) >= (int)sizeof run->output)
            return error_set(error, "--output %.100s...: accepted: up to %d characters", run->request.output,
                             PATH_BYTES - 1);
        snprintf(own.list, sizeof own.list, "%s.list", run->output);
        return 0;
    }
    if (exec_is_remote(&run->request))
        temporary = ".";
    else if (temporary == NULL || temporary[0] == '\0')
        temporary = "/tmp";
    char folder[PATH_BYTES];
    int length = snprintf(folder, sizeof folder, "%s/%shdss-exec-XXXXXX", temporary, temporary[0] == '.' ? "." : "");
    if (length >= (int)sizeof folder - 16 || mkdtemp(folder) == NULL)
        return error_set(error, "%.300s: no folder can be made there: %s; accepted: TMPDIR=FOLDER of one that exists",
                         temporary, strerror(length >= (int)sizeof folder - 16 ? ENAMETOOLONG : errno));
    snprintf(own.list, sizeof own.list, "%s/list", folder);
    snprintf(run->output, sizeof run->output, "%.*s/tasks", (int)sizeof folder - 16, folder);
    memcpy(own.folder, folder, sizeof folder);
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    remove(path);
    return 0;
}

/* The list of an output that is complete is of no more use; one with a journal is gone on with. */
static void remove_place(const struct exec_run *run, int status)
{
    if (own.folder[0] != '\0')
        nftw(own.folder, remove_one, REMOVED_AT_A_TIME, FTW_DEPTH | FTW_PHYS);
    else if (own.list[0] != '\0' && run->list.path != NULL &&
             (status == EXIT_STATUS_DONE || status == EXIT_STATUS_USAGE))
        unlink(own.list);
}

/* --- the list --- */

static int exec_check_line(const char *line, struct error *error)
{
    struct cmdline words;
    cmdline_init(&words);
    words.shell_option = "--shell";
    int result = cmdline_split(&words, line, strlen(line), NULL, error);
    cmdline_fini(&words);
    return result;
}

/* The arguments are appended to a command that has no place for them. */
static int complete_command(struct exec_request *request, const struct row *names, struct error *error)
{
    struct error reason;
    char *command = NULL;
    if (request->command[0] == '\0')
        return 0;
    if (!exec_has_place(request->command, names->fields, names->count)) {
        if (asprintf(&command, "%s {}", request->command) < 0)
            return error_set(error, "out of memory for the command");
        free(request->command);
        request->command = command;
    }
    if (!request->shell && exec_check_line(request->command, &reason) < 0)
        return error_set(error, "%.100s: %s", request->command, reason.text);
    return 0;
}

/* With a command in each row, each of them is looked at as the command of all would be. */
static int exec_check_row(const struct exec_run *run, const struct row *row, struct error *error)
{
    struct error reason;
    char *line = NULL;
    int result = 0;
    if (run->request.command[0] != '\0' || run->request.shell || row->count == 0)
        return 0;
    if (asprintf(&line, "%.*s", (int)row->fields[0].length, row->fields[0].text) < 0)
        return error_set(error, "out of memory for a command");
    if (exec_check_line(line, &reason) < 0)
        result = error_set(error, "argument %" PRIu64 ", %.100s: %s", run->list.rows + 1, line, reason.text);
    free(line);
    return result;
}

/* Names the columns where that is not done: there are as many as the first row has fields. */
static void name_columns(struct exec_run *run, unsigned fields)
{
    const struct row names = sources_names(run->request.sources);
    if (!run->list.is_named)
        task_list_name(&run->list, names.fields, names.count, fields > names.count ? fields : names.count);
}

/* Reads what there is and writes it to the list. One of enum sources_result but SOURCES_ROW, or -1 with one line. */
static int write_rows(struct exec_run *run, bool waits, struct error *error)
{
    struct row row;
    int result;
    while ((result = sources_next(run->request.sources, waits, &row, error)) == SOURCES_ROW) {
        if (exec_check_row(run, &row, error) < 0)
            return -1;
        name_columns(run, row.count);
        task_list_add(&run->list, row.fields, row.count);
    }
    return result;
}

static int write_list(struct exec_run *run, struct error *error)
{
    if (task_list_begin(&run->list, own.list, error) < 0 || write_rows(run, true, error) < 0)
        return -1;
    name_columns(run, 1);
    return task_list_end(&run->list, true, error);
}

/* --- the job --- */

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

/* The kernel and its parameters. */
static void add_kernel(const struct exec_request *request, struct argv *words)
{
    argv_add(words, "exec");
    argv_add_format(words, "list=%s", own.list);
    argv_add_format(words, "command=%s", request->command);
    if (request->shell)
        argv_add(words, "shell=yes");
    if (request->timeout_ns > 0)
        argv_add_format(words, "timeout=%.9g", (double)request->timeout_ns / 1e9);
    if (request->tries > 1)
        argv_add_format(words, "retries=%u", request->tries - 1);
    if (request->workdir != NULL)
        argv_add_format(words, "workdir=%s", request->workdir);
    if (request->env.count > 0)
        exec_add_env(request, words);
}

/* No more workers than tasks. */
static unsigned exec_workers(const struct exec_run *run)
{
    const unsigned workers = run->request.workers > 0 ? run->request.workers : 0;
    return workers > run->list.rows ? (unsigned)run->list.rows : workers;
}

/* The command line of `hdss run`. */
static void compose_words(const struct exec_run *run, struct argv *words)
{
    const struct exec_request *request = &run->request;
    argv_add(words, "hdss exec");
    if (request->workers > 0)
        argv_add_format(words, "--workers=%u", exec_workers(run));
    argv_add_format(words, "--progress=%s", request->bar || request->eta ? "always" : "never");
    argv_add_all(words, &request->words);
    argv_add_format(words, "--output=%s", run->output);
    add_kernel(request, words);
}

/* --- a dry run --- */

static int show_commands(const struct exec_run *run, struct error *error)
{
    static struct job_setup setup;
    struct argv words = {0};
    char why[HDSS_ERROR_MAX], *text = malloc(TASK_BYTES);
    argv_add(&words, "hdss exec");
    add_kernel(&run->request, &words);
    int result = text == NULL || words.failed ? error_set(error, "out of memory for a command") : 0;
    if (result == 0)
        result = job_setup_make(&setup, &asking_loader, (int)words.count, words.items, error);
    for (uint64_t i = 0; result == 0 && i < run->list.rows; i++) {
        if (exec_text(setup.values, i, text, TASK_BYTES, why) < 0)
            result = error_set(error, "%s", why);
        else
            puts(text);
    }
    if (result == 0 && (fflush(stdout) != 0 || ferror(stdout)))
        result = error_set(error, "cannot write to standard output: %s", strerror(errno));
    free(text);
    argv_fini(&words);
    return result;
}

/* --- the run --- */

static int launch_tasks(const struct exec_run *run, struct error *error)
{
    struct argv words = {0};
    struct launch how = {.output = run->request.verbose ? LAUNCH_OUTPUT_APART : LAUNCH_OUTPUT_SILENT,
                         .is_asked = exec_is_asked};
    int status = EXIT_STATUS_FAILED;
    compose_words(run, &words);
    own.is_launched = 1;
    if (words.failed)
        error_set(error, "out of memory for the command line");
    else
        status = run_words((int)words.count, words.items, run->request.output != NULL, &how, error);
    argv_fini(&words);
    return status;
}

/* Returns the exit status; the error is empty where the run itself has said what is wrong. */
static int exec_tasks(struct exec_run *run, struct error *error)
{
    if (sources_begin(run->request.sources, error) < 0)
        return EXIT_STATUS_USAGE;
    const struct row names = sources_names(run->request.sources);
    if (complete_command(&run->request, &names, error) < 0 || make_place(run, error) < 0 || write_list(run, error) < 0)
        return EXIT_STATUS_USAGE;
    if (run->list.rows == 0) {
        fputs("hdss exec: there are no arguments, so there is nothing to do\n", stderr);
        return EXIT_STATUS_DONE;
    }
    if (run->request.dry_run)
        return show_commands(run, error) == 0 ? EXIT_STATUS_DONE : EXIT_STATUS_USAGE;
    return launch_tasks(run, error);
}

int command_exec(int argc, char **argv)
{
    static struct exec_run run;
    const struct options options = exec_options();
    struct error error = {0};
    exec_take_signals();
    int result = exec_request_read(&run.request, argc, argv, &error), status = EXIT_STATUS_USAGE;
    if (result == 0)
        status = exec_tasks(&run, &error);
    else if (result > 0)
        status = show_page("hdss exec", &options, result);
    if (error.text[0] != '\0')
        fprintf(stderr, "hdss exec: %s\n", error.text);
    task_list_end(&run.list, false, NULL);
    remove_place(&run, status);
    exec_request_fini(&run.request);
    return status;
}
