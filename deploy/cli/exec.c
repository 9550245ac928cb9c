/* SPDX-License-Identifier: MIT */
/* hdss exec: runs a command for each of many arguments, in the style of GNU parallel.
 *
 * The arguments are written to a list, one row per task. Then a job of the kernel `exec` is composed and launched as by
 * `hdss run`. This process stays the parent of the launch and prints what tasks write. All files that the user has not
 * asked for are in a private folder, which is removed at the end. */
#include "common/job/job_setup.h"
#include "common/metrics/human.h"
#include "common/os/cores.h"
#include "common/os/files.h"
#include "common/os/say.h"
#include "common/os/signals.h"
#include "common/util/text.h"
#include "deploy/cli/allocation.h"
#include "deploy/cli/colour.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/earlier.h"
#include "deploy/cli/exec_request.h"
#include "deploy/cli/follow.h"
#include "deploy/cli/held_folder.h"
#include "deploy/cli/log_file.h"
#include "deploy/cli/run.h"
#include "deploy/cli/submission.h"
#include "deploy/cli/task_files.h"
#include "deploy/cli/task_list.h"
#include "worker/helper/ask.h"
#include "worker/kernels/exec/after.h"
#include "worker/kernels/exec/cmdline.h"
#include "worker/kernels/exec/exec.h"
#include "worker/kernels/exec/search.h"
#include "worker/kernels/exec/shell.h"
#include "worker/kernels/exec/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 1000, OWN_NAME_BYTES = 80, TASK_BYTES = 2 * CMDLINE_BYTES_MAX };
/* The launch waits at most INPUT_WAIT_MS for the whole list. After that, ROWS_AT_ONCE rows are read at a time, and at
 * most ROWS_AHEAD rows of the list are unfinished. */
enum { INPUT_WAIT_MS = 100, LOOK_MS = 20, HALT_LOOK_MS = 5, ROWS_AT_ONCE = 10000, ROWS_AHEAD = 200000 };

struct exec_run {
    struct exec_request request;
    struct task_list list;
    uint64_t number;
    struct earlier earlier;
    char output[PATH_BYTES];
    bool is_complete;
    bool is_asked;
    bool is_gone;
    bool gives_up;
    bool is_remote;
    bool has_more;
    struct rows held; /* with --delay: the next row; empty if it has not been read */
    uint64_t next_ns; /* with --delay: when the next row is due; 0 until the ranks have begun */
    int out;
    bool follows;
    struct follow follow;
    struct tasks rows;
    bool reads_rows;
    struct tasks first; /* makes the commands of the first rows */
    bool reads_first;
    unsigned without_program;     /* how many of the first rows have a program that is not there */
    struct error missing_program; /* of the first of them */
    struct error error;
};

/* Files of this process. A signal handler removes them if the signal comes before the launch. */
static struct {
    struct held_folder folder;
    char list[PATH_BYTES + 8];
    char live[PATH_BYTES + 8];
    volatile sig_atomic_t is_launched, is_asked;
} own = {.folder.fd = -1};

static void exec_take_signal(int number)
{
    static const char line[] = "hdss exec: stopped before a task had begun\n";
    (void)number;
    own.is_asked = 1;
    if (own.is_launched)
        return;
    if (own.folder.path[0] != '\0')
        unlink(own.list);
    if (own.live[0] != '\0')
        rmdir(own.live);
    if (own.folder.path[0] != '\0')
        rmdir(own.folder.path);
    ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    (void)written;
    _exit(EXIT_STATUS_DRAINED);
}

static bool exec_is_asked(void)
{
    return own.is_asked != 0;
}

static void exec_take_signals(void)
{
    struct sigaction action = {.sa_handler = exec_take_signal, .sa_flags = SA_RESTART}, before;
    for (unsigned i = 0; i < DRAIN_SIGNALS; i++)
        if (sigaction(drain_signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(drain_signals[i], &action, NULL);
}

/* True if ranks may be on other machines, which do not see the temporary folders of this machine. */
static bool exec_is_remote(const struct exec_request *request)
{
    struct hosts hosts = {0};
    for (unsigned i = 0; i < request->words.count; i++)
        if (strncmp(request->words.items[i], "--host", 6) == 0 || strncmp(request->words.items[i], "--listen", 8) == 0)
            return true;
    if (request->set != NULL)
        return true;
    const bool is_allocated = allocation_read(&hosts, NULL) == 0 && hosts.count > 0;
    hosts_fini(&hosts);
    return is_allocated;
}

static bool make_folder_in(const char *base, const char *name)
{
    errno = ENAMETOOLONG;
    return strlen(base) <= PATH_BYTES - OWN_NAME_BYTES && held_folder_make(&own.folder, base, name) == 0;
}

static int make_local_folder(struct error *error)
{
    static const char *const others[] = {"/tmp", "/dev/shm", "."};
    const char *wanted = file_temporary();
    if (make_folder_in(wanted, "hdss-exec"))
        return 0;
    const int why = errno;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char text[PATH_BYTES + 100];
        if (!make_folder_in(others[i], "hdss-exec"))
            continue;
        snprintf(text, sizeof text,
                 "%.300s: no folder can be made there (%s): what tasks print is kept in %s meanwhile", wanted,
                 strerror(why), others[i]);
        say_note("hdss exec", text);
        return 0;
    }
    return error_set(error,
                     "%.300s: no folder can be made there: %s; accepted: TMPDIR=FOLDER of one that can be written",
                     wanted, strerror(why));
}

/* The private folder is in the working directory, because ranks on other machines must see it. */
static int make_shared_folder(struct error *error)
{
    if (make_folder_in(".", ".hdss-exec"))
        return 0;
    return error_set(error,
                     "no folder can be made in this one: %s; accepted: one that can be written, or --output FILE",
                     strerror(errno));
}

static int make_place(struct exec_run *run, struct error *error)
{
    if (run->request.output != NULL) {
        if (snprintf(run->output, sizeof run->output, "%s", run->request.output) >= (int)sizeof run->output)
            return error_set(error, "--output %.100s...: accepted: up to %d characters", run->request.output,
                             PATH_BYTES - 1);
        snprintf(own.list, sizeof own.list, "%s.list", run->output);
        return 0;
    }
    if ((run->is_remote ? make_shared_folder(error) : make_local_folder(error)) < 0)
        return -1;
    const char *folder = own.folder.path;
    snprintf(own.list, sizeof own.list, "%s/list", folder);
    snprintf(run->output, sizeof run->output, "%.*s/tasks", PATH_BYTES - 8, folder);
    if (!run->request.shown.line_buffer)
        return 0;
    snprintf(own.live, sizeof own.live, "%s/live", folder);
    return mkdir(own.live, 0700) == 0 ? 0 : error_set(error, "%.300s: %s", own.live, strerror(errno));
}

/* Removes the private folder. With --output there is none, and the list is removed instead, unless the run is
 * unfinished: --resume then needs the list. */
static void remove_place(const struct exec_run *run, int status)
{
    if (own.folder.path[0] != '\0')
        held_folder_remove(&own.folder);
    else if (own.list[0] != '\0' && run->list.path != NULL &&
             (status == EXIT_STATUS_DONE || status == EXIT_STATUS_USAGE))
        unlink(own.list);
}

/* `folder`: where tasks run, an open folder or AT_FDCWD. */
static int refuse_program(int folder, const char *name, struct error *error)
{
    struct stat status;
    const bool is_file = fstatat(folder, name, &status, 0) == 0 && S_ISREG(status.st_mode);
    if (strchr(name, '/') != NULL && is_file)
        return error_set(error, "%.100s is no program; accepted: a program before it, or `chmod +x %.100s`", name,
                         name);
    if (strchr(name, '/') != NULL)
        return error_set(
            error, "%.100s: there is no such program; accepted: the path of one, or the name of one in PATH", name);
    if (!is_file)
        return error_set(error, "%.100s: no such program in PATH; accepted: the name of one, or a path such as ./NAME",
                         name);
    return faccessat(folder, name, X_OK, 0) == 0
               ? error_set(error, "%.100s is in this folder, and not in PATH; accepted: ./%.100s", name, name)
               : error_set(error, "%.100s is no program; accepted: -a %.100s for the commands or arguments in it", name,
                           name);
}

static const char *folders_of_task(const struct exec_run *run, const struct cmdline *words)
{
    const char *folders = cmdline_assigned(words, "PATH");
    for (unsigned i = run->request.env.count; folders == NULL && i > 0; i--)
        if (strncmp(run->request.env.items[i - 1], "PATH=", 5) == 0)
            folders = run->request.env.items[i - 1] + 5;
    return folders != NULL ? folders : getenv("PATH");
}

static int check_program(const struct exec_run *run, struct error *error)
{
    struct cmdline words;
    const struct exec_request *request = &run->request;
    if (!run->is_remote && !exec_request_looks_at_lines(request) && strcmp(request->shell, SHELL_YES) != 0 &&
        search_in_path(request->shell) == NULL)
        return error_set(error, "--shell: there is no %.100s here; accepted: bash, or sh", request->shell);
    int result = 0;
    cmdline_init(&words);
    const char *command = request->command;
    if (!run->is_remote && exec_request_looks_at_lines(request) &&
        cmdline_split(&words, command, strlen(command), NULL, NULL) == 0 && words.count > words.assignments) {
        const char *name = cmdline_at(&words, words.assignments);
        const bool is_path = strchr(name, '/') != NULL;
        if (words.assignments == 0 && strchr(name, '{') == NULL && (is_path || !shell_has(name)) &&
            (!is_path || name[0] == '/' || request->workdir == NULL) &&
            search_program(AT_FDCWD, folders_of_task(run, &words), name) == NULL)
            result = refuse_program(AT_FDCWD, name, error);
    }
    cmdline_fini(&words);
    return result;
}

static int exec_check_row(const struct exec_run *run, const struct arguments *row, struct error *error)
{
    struct error reason;
    char *line = NULL;
    int result = 0;
    if (run->request.command[0] != '\0' || !exec_request_looks_at_lines(&run->request) || row->count == 0)
        return 0;
    if (asprintf(&line, "%.*s", (int)row->fields[0].length, row->fields[0].text) < 0)
        return error_set(error, "out of memory for a command");
    if (exec_request_check_line(&run->request, line, &reason) < 0)
        result = error_set(error, "argument %" PRIu64 ", %.100s: %s", run->number, line, reason.text);
    free(line);
    return result;
}

/* True if a column says which tasks wait for others. In that case all tasks must be known before the first one
 * begins. */
static bool exec_has_order(const struct exec_run *run)
{
    const struct arguments names = sources_names(run->request.sources);
    bool found = false;
    for (unsigned i = 0; i < names.count && !found; i++)
        found = names.fields[i].length == strlen(AFTER_COLUMN) &&
                memcmp(names.fields[i].text, AFTER_COLUMN, names.fields[i].length) == 0;
    return found;
}

/* The current command of run->first. */
static bool program_is_missing(const struct exec_run *run, struct error *error)
{
    const struct cmdline *words = &run->first.words;
    const char *place = tasks_folder(&run->first);
    if (words->is_for_shell || words->count == words->assignments)
        return false;
    const char *program = cmdline_at(words, words->assignments);
    const int folder = place[0] == '\0' ? AT_FDCWD : open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder == -1)
        return false;
    const bool is_missing = search_program(folder, folders_of_task(run, words), program) == NULL;
    if (is_missing)
        refuse_program(folder, program, error);
    if (folder != AT_FDCWD)
        close(folder);
    return is_missing;
}

static struct tasks_source rows_source(const struct exec_run *run)
{
    return (struct tasks_source){.tasks = "",
                                 .command = run->request.command,
                                 .table = "",
                                 .list = "the list of arguments",
                                 .folder = "",
                                 .count = TASKS_COUNT_UNKNOWN,
                                 .shell = run->request.shell,
                                 .follows = true};
}

static int begin_first(struct exec_run *run, unsigned fields, struct error *error)
{
    const struct arguments names = sources_names(run->request.sources);
    struct tasks_source source = rows_source(run);
    source.folder = run->request.workdir != NULL ? run->request.workdir : "";
    source.names = names.fields;
    source.name_count = names.count;
    source.columns = fields > names.count ? fields : names.count;
    run->reads_first = tasks_open(&run->first, &source, error) == 0;
    if (run->reads_first)
        tasks_set_worker(&run->first, 1, 0, 1);
    return run->reads_first ? 0 : -1;
}

/* Refuses a run in which the programs of the first FOLLOW_HOPELESS rows are not there. A row that is wrong otherwise is
 * no reason to refuse: its task says what is wrong. */
static int check_first(struct exec_run *run, const struct arguments *row, struct error *error)
{
    const struct exec_request *request = &run->request;
    struct error inner;
    const bool is_one = run->list.rows == run->without_program && run->list.rows < FOLLOW_HOPELESS;
    if (!is_one || own.is_launched || run->is_remote || request->says_halt || request->dry_run ||
        (request->resumes && request->output != NULL) || exec_has_order(run))
        return 0;
    if ((!run->reads_first && begin_first(run, row->count, &inner) < 0) ||
        list_give(&run->first.list, run->number, row->fields, row->count, &inner) < 0 ||
        tasks_get(&run->first, 0, &inner) < 0 || !program_is_missing(run, &inner))
        return 0;
    if (run->without_program++ == 0) {
        run->missing_program = inner;
        error_before(&run->missing_program, "task %" PRIu64 ": ", run->number);
    }
    if (run->without_program < FOLLOW_HOPELESS)
        return 0;
    return error_set(error, "%s; the next two tasks have no program either; --halt never tries all tasks",
                     run->missing_program.text);
}

static void name_columns(struct exec_run *run, unsigned fields)
{
    const struct arguments names = sources_names(run->request.sources);
    if (!run->list.is_named)
        task_list_name(&run->list, names.fields, names.count, fields > names.count ? fields : names.count);
}

static int next_row(struct exec_run *run, bool waits, struct arguments *row, struct error *error)
{
    const struct arguments names = sources_names(run->request.sources);
    int result;
    while ((result = sources_next(run->request.sources, waits, row, error)) == SOURCES_ROW) {
        name_columns(run, row->count);
        if (!earlier_has(&run->earlier, ++run->number))
            break;
        if (earlier_compare(&run->earlier, run->number, &names, row, error) < 0)
            return -1;
    }
    if (result == SOURCES_ROW && (exec_check_row(run, row, error) < 0 || check_first(run, row, error) < 0))
        return -1;
    return result;
}

/* Reads at most `most` rows and writes them to the list. Returns SOURCES_ROW if further rows may be there without
 * waiting. Otherwise returns another enum sources_result, or -1. */
static int write_rows(struct exec_run *run, uint64_t most, bool waits, struct error *error)
{
    struct arguments row;
    int result = SOURCES_ROW;
    for (uint64_t i = 0; i < most; i++) {
        result = next_row(run, waits, &row, error);
        if (result != SOURCES_ROW)
            break;
        task_list_add(&run->list, run->number, row.fields, row.count);
    }
    return result;
}

static int complete_list(struct exec_run *run, struct error *error)
{
    name_columns(run, 1);
    run->is_complete = true;
    return task_list_end(&run->list, true, error);
}

static bool wait_for_input(const struct exec_run *run, int64_t end_ms)
{
    const int64_t left_ms = end_ms - launch_clock_ms();
    struct pollfd polled = {.fd = sources_descriptor(run->request.sources), .events = POLLIN};
    return left_ms > 0 && poll(&polled, 1, (int)left_ms) > 0;
}

static int exec_check_order(const struct exec_run *run, struct error *error)
{
    const struct exec_request *request = &run->request;
    if (!exec_has_order(run))
        return 0;
    if (request->delay_ns > 0)
        return error_set(error, "--delay: not with a column '" AFTER_COLUMN "'; accepted: sleep in the command");
    return request->resumes && request->shown.joblog != NULL
               ? error_set(error, "--resume: not by a joblog with a column '" AFTER_COLUMN
                                  "'; accepted: --output, whose journal has what tasks wait for")
               : 0;
}

/* Writes the first rows of the list, and waits at least for the first one. If the run needs the complete list, writes
 * all rows. Otherwise, with --delay it writes one row, and without --delay the rows that arrive within
 * INPUT_WAIT_MS. */
static int begin_list(struct exec_run *run, struct error *error)
{
    if (run->request.output != NULL && file_check_folder(run->request.output, error) < 0)
        return -1;
    int result = task_list_begin(&run->list, own.list, error) < 0 ? -1 : write_rows(run, 1, true, error);
    const int64_t end_ms = launch_clock_ms() + INPUT_WAIT_MS;
    const bool whole = run->request.dry_run || run->request.output != NULL || exec_has_order(run);
    const bool delays = run->request.delay_ns > 0 && !whole;
    run->next_ns = !delays;
    while (!delays && (result == SOURCES_ROW || (result == SOURCES_WAIT && wait_for_input(run, end_ms)))) {
        if (!whole && launch_clock_ms() >= end_ms)
            break;
        result = write_rows(run, ROWS_AT_ONCE, whole, error);
    }
    if (result < 0)
        return -1;
    return result == SOURCES_END ? complete_list(run, error) : task_list_flush(&run->list, error);
}

static void add_kernel(const struct exec_run *run, struct argv *words)
{
    const struct exec_request *request = &run->request;
    argv_add(words, "exec");
    argv_add_format(words, "list=%s", own.list);
    if (!run->is_complete)
        argv_add(words, "follow=yes");
    exec_request_add_parameters(request, words);
    if (own.live[0] != '\0')
        argv_add_format(words, "live=%s", own.live);
    if (own.folder.path[0] != '\0')
        argv_add_format(words, "spill=%s", own.folder.path);
}

static unsigned exec_workers(const struct exec_run *run)
{
    const struct exec_request *request = &run->request;
    const bool is_unknown = run->is_remote || argv_contain(&request->words, "--pods-only");
    const unsigned wanted = request->workers > 0 ? request->workers : is_unknown ? 0 : cores_usable();
    return run->is_complete && wanted > run->list.rows ? (unsigned)run->list.rows : wanted;
}

static void compose_words(const struct exec_run *run, struct argv *words)
{
    const struct exec_request *request = &run->request;
    const unsigned workers = request->set == NULL ? exec_workers(run) : 0;
    argv_add(words, "hdss exec");
    if (workers > 0)
        argv_add_format(words, "--workers=%u", workers);
    if (request->set == NULL || !request->shown.bar)
        argv_add_format(words, "--progress=%s", request->shown.bar ? "always" : "never");
    if (request->halt.when == HALT_NOW)
        argv_add(words, "--drain-time=0"); /* running tasks are ended at once */
    argv_add_all(words, &request->words);
    if (request->resumes && request->output != NULL)
        argv_add(words, request->again_failed ? "--resume=failed" : "--resume");
    argv_add_format(words, "--output=%s", run->output);
    if (request->output == NULL)
        argv_add(words, "--join=no");
    add_kernel(run, words);
}

static int show_commands(const struct exec_run *run, struct error *error)
{
    static struct job_setup setup;
    struct argv words = {0};
    char why[HDSS_ERROR_MAX], *text = malloc(TASK_BYTES);
    argv_add(&words, "hdss exec");
    add_kernel(run, &words);
    int result = text == NULL || words.failed ? error_set(error, "out of memory for a command") : 0;
    if (result == 0)
        result = job_setup_make(&setup, &asking_loader, (int)words.count, words.items, error);
    for (uint64_t i = 0; result == 0 && i < run->list.rows; i++) {
        if (exec_text(setup.values, i, text, TASK_BYTES, why) < 0)
            result = error_set(error, "%s", why);
        else
            puts(text);
    }
    free(text);
    argv_fini(&words);
    return result;
}

static int begin_rows(struct exec_run *run, struct error *error)
{
    const struct tasks_source source = {.tasks = "",
                                        .command = "",
                                        .table = "",
                                        .list = own.list,
                                        .folder = "",
                                        .count = TASKS_COUNT_UNKNOWN,
                                        .follows = !run->is_complete};
    run->reads_rows = tasks_open(&run->rows, &source, error) == 0;
    return run->reads_rows ? 0 : -1;
}

static const char *exec_tag_of(void *context, uint64_t task)
{
    struct exec_run *run = context;
    const char *tag = run->request.shown.tag_text;
    if (tag != NULL && strchr(tag, '{') == NULL)
        return tag;
    tag = tasks_fill(&run->rows, task, tag != NULL ? tag : "{}", NULL);
    return tag != NULL ? tag : "";
}

static int exec_files_of(void *context, uint64_t task, char path[PATH_MAX], struct error *error)
{
    struct exec_run *run = context;
    const char *name = tasks_fill(&run->rows, task, run->request.shown.results, error);
    if (name == NULL)
        return error_before(error, "--results: ");
    if (strchr(run->request.shown.results, '{') != NULL) {
        int length = snprintf(path, PATH_MAX, "%s", name);
        return length < PATH_MAX ? 0 : error_set(error, "--results: a name is longer than %d bytes", PATH_MAX - 1);
    }
    const struct row *row = run->rows.row, *head = &run->rows.list.head;
    const unsigned columns = row->count < head->count ? row->count : head->count;
    return task_files_layout(path, run->request.shown.results, head->fields, row->fields, columns, error);
}

static int begin_follow(struct exec_run *run, struct error *error)
{
    const struct exec_request *request = &run->request;
    const bool tags = request->shown.tag || request->shown.tag_text != NULL;
    run->out = request->device == NULL ? STDOUT_FILENO : open(request->device, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (run->out < 0)
        return error_set(error, "--output %.300s: %s", request->device, strerror(errno));
    const struct follow_options options = {
        .output = run->output,
        .out = run->out,
        .err = STDERR_FILENO,
        .in_order = request->shown.in_order,
        .clears_line = request->shown.bar,
        .live = own.live[0] != '\0' ? own.live : NULL,
        .spilled = own.folder.path,
        .joblog = request->shown.joblog,
        .joblog_appends = request->resumes,
        .joblog_overwrites = argv_contain(&request->words, "--overwrite"),
        .tells = request->shown.tells,
        .sums_up = !request->says_halt && !request->shown.quiet,
        .tag_of = tags ? exec_tag_of : NULL,
        .files_of = request->shown.results != NULL ? exec_files_of : NULL,
        .context = run,
    };
    if ((tags || request->shown.results != NULL) && begin_rows(run, error) < 0)
        return -1;
    run->follows = follow_begin(&run->follow, &options, error) == 0;
    return run->follows ? 0 : -1;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Returns how many tasks of the list may be unfinished. With --delay no task may wait in the list, so this is the
 * number of workers. */
static uint64_t rows_ahead(const struct exec_run *run)
{
    const unsigned workers = exec_workers(run);
    return run->request.delay_ns == 0 ? ROWS_AHEAD : workers > 0 ? workers : cores_usable();
}

static bool has_room(const struct exec_run *run)
{
    return run->list.rows - run->follow.done < rows_ahead(run);
}

/* With --delay: reads a row before it is due and keeps it. So it is known early whether another row follows. Returns an
 * enum sources_result or -1. */
static int hold_row(struct exec_run *run, struct error *error)
{
    struct arguments row;
    if (run->held.count > 0)
        return SOURCES_ROW;
    int result = next_row(run, false, &row, error);
    if (result != SOURCES_ROW)
        return result;
    rows_clear(&run->held);
    bool kept = true;
    for (unsigned i = 0; i < row.count; i++)
        kept = kept && rows_add(&run->held, row.fields[i].text, row.fields[i].length);
    return kept && rows_end(&run->held) ? SOURCES_ROW : error_set(error, "out of memory for the arguments");
}

static void add_held_row(struct exec_run *run)
{
    task_list_begin_row(&run->list, run->number);
    for (size_t i = 0; i < rows_fields(&run->held, 0); i++) {
        const struct piece field = rows_field(&run->held, 0, i);
        task_list_add_field(&run->list, &field);
    }
    task_list_end_row(&run->list);
    rows_clear(&run->held);
}

static int feed_slowly(struct exec_run *run, struct error *error)
{
    int result = hold_row(run, error);
    if (result == SOURCES_ROW && has_room(run) && now_ns() >= run->next_ns) {
        add_held_row(run);
        run->next_ns = now_ns() + run->request.delay_ns;
        result = task_list_flush(&run->list, error) < 0 ? -1 : hold_row(run, error);
    }
    return result == SOURCES_END ? complete_list(run, error) : result < 0 ? -1 : 0;
}

static int feed(struct exec_run *run, struct error *error)
{
    run->has_more = false;
    if (run->is_complete)
        return 0;
    if (run->request.delay_ns > 0)
        return feed_slowly(run, error);
    if (!has_room(run))
        return 0;
    int result = write_rows(run, ROWS_AT_ONCE, false, error);
    if (result < 0)
        return -1;
    run->has_more = result == SOURCES_ROW;
    return result == SOURCES_END ? complete_list(run, error) : task_list_flush(&run->list, error);
}

static bool reader_is_gone(const struct exec_run *run)
{
    struct pollfd polled = {.fd = run->out};
    return poll(&polled, 1, 0) > 0 && (polled.revents & POLLERR) != 0;
}

/* The first row is in the list before the ranks begin, so the delay of the second row counts from when the ranks
 * begin. */
static enum launch_wish exec_look_aside(void *context, enum launch_stage stage)
{
    struct exec_run *run = context;
    if (stage != LAUNCH_STARTS && run->next_ns == 0)
        run->next_ns = now_ns() + run->request.delay_ns;
    if (run->error.text[0] == '\0' && follow_look(&run->follow, &run->error) == 0 && run->next_ns > 0)
        feed(run, &run->error);
    const uint64_t all = run->is_complete ? run->list.rows : 0;
    const bool halts = halt_look(&run->request.halt, run->follow.done, run->follow.failed, all) != HALT_NO;
    run->is_gone |= reader_is_gone(run);
    if (run->is_gone)
        return LAUNCH_KILLS;
    run->gives_up |= run->follow.is_hopeless && !run->request.says_halt;
    return halts || run->gives_up || run->error.text[0] != '\0' ? LAUNCH_DRAINS : LAUNCH_GOES_ON;
}

static int earlier_ms(int a, int b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

static int exec_wait_ms(void *context)
{
    const struct exec_run *run = context;
    int wait_ms = follow_wait_ms(&run->follow);
    if (run->error.text[0] != '\0')
        return wait_ms;
    if (run->request.halt.when != HALT_NO)
        wait_ms = earlier_ms(wait_ms, HALT_LOOK_MS);
    if (run->is_complete)
        return wait_ms;
    if (run->has_more)
        return 0;
    if (run->next_ns == 0 || !has_room(run))
        return earlier_ms(wait_ms, LOOK_MS);
    if (run->held.count == 0)
        return wait_ms;
    const uint64_t now = now_ns();
    return earlier_ms(wait_ms, now < run->next_ns ? (int)((run->next_ns - now + 999999) / 1000000) : 0);
}

static unsigned exec_wait_for(void *context, struct pollfd *polled)
{
    const struct exec_run *run = context;
    const bool reads = !run->is_complete && run->held.count == 0 && run->next_ns > 0 && run->error.text[0] == '\0' &&
                       (has_room(run) || run->request.delay_ns > 0);
    unsigned count = 0;
    polled[count++] = (struct pollfd){.fd = follow_blocked_on(&run->follow), .events = POLLOUT};
    /* poll() still reports an error if the output's reader ends */
    polled[count++] = (struct pollfd){.fd = run->out, .events = 0};
    if (reads)
        polled[count++] = (struct pollfd){.fd = sources_descriptor(run->request.sources), .events = POLLIN};
    return count;
}

static bool exec_has_printed(void *context)
{
    return follow_has_printed(&((struct exec_run *)context)->follow);
}

static unsigned exec_width(void)
{
    enum { LEAST = 40, MOST = 200 };
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0 || size.ws_col > MOST)
        return MOST;
    return size.ws_col < LEAST ? LEAST : size.ws_col;
}

static void say_stopped(const struct exec_run *run, uint64_t ended)
{
    char done[HUMAN_MAX], all[HUMAN_MAX];
    const struct exec_request *request = &run->request;
    const bool is_all = run->is_complete && ended == run->list.rows;
    if (!run->is_asked || is_all || request->halt.state != HALT_NO || run->error.text[0] != '\0' || run->is_gone ||
        run->gives_up)
        return;
    say(stderr, "hdss exec: stopped: %s%s%s tasks have ended%s", human_count(done, ended),
        run->is_complete ? " of " : "", run->is_complete ? human_count(all, run->list.rows) : "",
        request->shown.joblog == NULL && request->output == NULL ? ""
        : request->resumes                                       ? "; the same line runs the others"
                                                                 : "; the same line with --resume runs the others");
}

static void say_failures(const struct exec_run *run, const struct reasons *reasons)
{
    struct text text;
    if (reasons->count == 0 || run->request.shown.quiet)
        return;
    text_init(&text);
    reasons_add_text(reasons, &text, "hdss exec: ", "hdss exec: ", exec_width());
    char *lines = text_take(&text);
    fputs(lines != NULL ? lines : "", stderr);
    free(lines);
}

/* With --output: says from the run's own log which tasks failed, and how far a run came that was stopped. */
static void tell_of_log(const struct exec_run *run)
{
    struct log_file log;
    struct error unread;
    struct reasons reasons = {0};
    if (log_file_open(&log, run->output, NULL, &unread) < 0)
        return;
    for (size_t i = 0; i < log.count; i++)
        if (log.records[i].has_failed)
            log_file_add_reason(&log, &log.records[i], &reasons, &unread);
    reasons_sort(&reasons);
    say_failures(run, &reasons);
    if (reasons.count > 0 && !run->request.shown.quiet)
        say(stderr, "hdss exec: `hdss log %s --failed` lists what failed, and --resume=failed runs it again",
            run->output);
    say_stopped(run, log.count);
    log_file_close(&log);
}

/* Says in one line which tasks could not be started, so that say_failures() does not. */
static void tell_hopeless(struct exec_run *run, struct error *error)
{
    char number[HUMAN_MAX];
    struct reason reason = {0};
    const bool none_started = run->follow.not_started == run->follow.done;
    reasons_take(&run->follow.reasons, REASON_NOT_STARTED, &reason);
    error_set(error,
              "%s%s tasks could not be started, and the others were not tried; e.g. task %" PRIu64
              ", %.80s: %.120s; accepted: --halt never to try all",
              none_started ? "the first " : "", human_count(number, run->follow.not_started), reason.number,
              reason.command, reason.error);
}

static int end_follow(struct exec_run *run, int status, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    char text[HALT_TEXT_MAX];
    if (follow_end(&run->follow, &run->error) < 0 || run->error.text[0] != '\0') {
        status = EXIT_STATUS_FAILED;
        if (!run->is_gone && !reader_is_gone(run))
            *error = run->error;
    } else if ((status == EXIT_STATUS_DONE || status == EXIT_STATUS_TASKS) &&
               (!run->is_complete || (run->follow.done != run->list.rows && status == EXIT_STATUS_DONE)) &&
               !run->gives_up) { /* EXIT_STATUS_TASKS: the missing tasks were given up, or waited for a failed task */
        error_set(error, "the run has ended, and %" PRIu64 " of %" PRIu64 " tasks have not run",
                  run->list.rows - run->follow.done, run->list.rows);
        status = EXIT_STATUS_FAILED;
    }
    if (error->text[0] == '\0' && run->gives_up && (!run->is_complete || run->follow.done < run->list.rows)) {
        tell_hopeless(run, error);
        status = EXIT_STATUS_TASKS;
    }
    if (error->text[0] == '\0' && run->request.halt.state != HALT_NO) {
        say(stderr, "hdss exec: %s", halt_text(&run->request.halt, text));
        status = halt_status(&run->request.halt);
    }
    say_failures(run, &run->follow.reasons);
    say_stopped(run, run->follow.done);
    results_tail_remove(run->output);
    return status;
}

static int launch_tasks(struct exec_run *run, struct error *error)
{
    struct argv words = {0};
    const struct launch_side side = {exec_look_aside, exec_wait_ms, exec_wait_for, run,
                                     .has_printed = exec_has_printed};
    struct launch how = {.output = run->request.shown.verbose ? LAUNCH_OUTPUT_APART : LAUNCH_OUTPUT_SILENT,
                         .is_asked = exec_is_asked,
                         .is_passing = run->request.output == NULL,
                         .ends_soon = true,
                         .side = run->follows ? &side : NULL};
    int status = EXIT_STATUS_FAILED;
    compose_words(run, &words);
    own.is_launched = 1;
    if (words.failed)
        error_set(error, "out of memory for the command line");
    else if (run->request.set != NULL) {
        const struct options options = exec_options();
        const struct submission_request request = {.set = run->request.set,
                                                   .weight = 1,
                                                   .waits = true,
                                                   .quiet = !run->request.shown.verbose,
                                                   .side = how.side};
        status =
            submission_make("hdss exec", &request, &words, &options, (int)words.count, words.items, &how.asked, error);
    } else
        status = run_words("hdss exec", (int)words.count, words.items, true, &how, error);
    run->is_asked = how.asked;
    argv_fini(&words);
    return status;
}

/* With --resume and a task log, reads from the log what an earlier run has done. With --output the journal is used
 * instead, and nothing is read here. */
static int begin_earlier(struct exec_run *run, struct error *error)
{
    const struct exec_request *request = &run->request;
    const struct tasks_source source = rows_source(run);
    return request->resumes && request->shown.joblog != NULL
               ? earlier_read(&run->earlier, request->shown.joblog, request->again_failed, &source, error)
               : 0;
}

static void note_background(const struct exec_request *request)
{
    size_t length = strlen(request->command);
    while (length > 0 && strchr(" \t\n", request->command[length - 1]) != NULL)
        length--;
    const bool ends_so = length > 1 && request->command[length - 1] == '&' && request->command[length - 2] != '&' &&
                         request->command[length - 2] != '\\';
    if (ends_so && strcmp(request->shell, SHELL_NO) != 0)
        say_note("hdss exec", "the command ends in '&': what it leaves running is ended with its task");
}

static int tell_nothing_to_do(const struct exec_run *run, struct error *error)
{
    const size_t failed = earlier_failed(&run->earlier);
    if (run->number == 0 && run->request.file_word != NULL) {
        error_set(error, "there are no arguments, and %.200s is a word of the command; type ::: before it",
                  run->request.file_word);
        return EXIT_STATUS_USAGE;
    }
    if (failed > 0)
        say(stderr, "hdss exec: all tasks have ended, and %zu of them failed; --resume=failed runs %s again", failed,
            failed == 1 ? "it" : "them");
    else
        fputs(run->number > 0 ? "hdss exec: all tasks are done, so there is nothing to do\n"
                              : "hdss exec: there are no arguments, so there is nothing to do; accepted: ::: ARG..., "
                                ":::: FILE..., or a list on standard input\n",
              stderr);
    return EXIT_STATUS_DONE;
}

/* Returns the exit status. If `error` is empty, the run itself has reported what went wrong. */
static int exec_tasks(struct exec_run *run, struct error *error)
{
    run->is_remote = exec_is_remote(&run->request);
    if (exec_request_check_command(&run->request, error) < 0 || check_program(run, error) < 0 ||
        sources_begin(run->request.sources, error) < 0 || exec_check_order(run, error) < 0 ||
        make_place(run, error) < 0 || begin_earlier(run, error) < 0 || begin_list(run, error) < 0)
        return EXIT_STATUS_USAGE;
    if (run->is_complete && run->list.rows == 0)
        return tell_nothing_to_do(run, error);
    if (run->request.dry_run)
        return show_commands(run, error) == 0 ? EXIT_STATUS_DONE : EXIT_STATUS_USAGE;
    if (run->request.output == NULL && begin_follow(run, error) < 0)
        return EXIT_STATUS_USAGE;
    note_background(&run->request);
    int status = launch_tasks(run, error);
    if (run->follows)
        return end_follow(run, status, error);
    if (status == EXIT_STATUS_TASKS || status == EXIT_STATUS_DRAINED)
        tell_of_log(run);
    return status;
}

static void exec_complain(const struct error *error)
{
    const char *text = error->text, *at;
    fputs("hdss exec: ", stderr);
    while (own.folder.path[0] != '\0' && (at = strstr(text, own.list)) != NULL) {
        fprintf(stderr, "%.*sthe list of arguments", (int)(at - text), text);
        text = at + strlen(own.list);
    }
    say(stderr, "%s", text);
}

int command_exec(int argc, char **argv)
{
    static struct exec_run run;
    const struct options options = exec_options();
    struct error error = {0};
    exec_take_signals();
    int result = exec_request_read(&run.request, argc, argv, &error), status = EXIT_STATUS_USAGE;
    if (result == 0 && run.request.nice != 0 && nice(run.request.nice) < 0 && errno == EPERM)
        result = error_set(&error, "--nice %d: %s; accepted: 0 to 19", run.request.nice, strerror(errno));
    if (result == 0)
        status = exec_tasks(&run, &error);
    else if (result > 0)
        status = show_page("hdss exec", &options, result);
    if (error.text[0] != '\0')
        exec_complain(&error);
    task_list_end(&run.list, false, NULL);
    earlier_fini(&run.earlier);
    if (run.reads_rows)
        tasks_close(&run.rows);
    if (run.reads_first)
        tasks_close(&run.first);
    remove_place(&run, status);
    rows_fini(&run.held);
    exec_request_fini(&run.request);
    return status;
}
