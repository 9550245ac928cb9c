/* SPDX-License-Identifier: MIT */
/* hdss study: the runs of a matrix, one after the other by the ways of `hdss run`, and what becomes of them: a row of
 * the table each, the report and the pictures. Where all are simulated some are made ahead of their turn (ahead.h).
 *
 * The table is the memory of the study: what is in it is not run again, so a study that was ended goes on. A run that
 * was cut off by a signal does not get into it. */
#include "common/config/options.h"
#include "common/os/files.h"
#include "common/os/say.h"
#include "common/util/error.h"
#include "common/util/number.h"
#include "common/util/plain.h"
#include "deploy/cli/argv.h"
#include "deploy/cli/colour.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/gnuplot.h"
#include "deploy/cli/run.h"
#include "deploy/cli/study/ahead.h"
#include "deploy/cli/study/cells.h"
#include "deploy/cli/study/figure.h"
#include "deploy/cli/study/flatten.h"
#include "deploy/cli/study/machine.h"
#include "deploy/cli/study/report.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { REASON_MAX = 300 };

struct request {
    const char *file, *folder;
    bool dry_run, retry_failed, report_only;
};

struct session {
    struct request request;
    char name[NAME_MAX + 1]; /* name of the study's files, without their endings */
    struct study study;
    struct matrix matrix;
    struct csv csv;
    struct machine machine;
    struct matrix_run *runs; /* owned; those that are due, in order */
    size_t due;
    FILE *log;
    bool asked; /* a signal ends it */
    struct ahead ahead;
    unsigned width; /* runs that are made side by side; 1: none is made ahead */
    size_t begun;   /* runs made ahead so far, of those that are due */
};

/* A signal between two runs; during one it is the launcher's. */
static volatile sig_atomic_t signalled;

static void note_signal(int number)
{
    (void)number;
    signalled = 1;
}

static bool is_signalled(void)
{
    return signalled != 0;
}

/* Signals that whoever started us wants ignored stay so. */
static void note_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART}, before;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}

static void forget_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction before;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == note_signal)
            signal(numbers[i], SIG_DFL);
}

static int take_file(void *target, const char *word, struct error *error)
{
    struct request *request = target;
    if (request->file != NULL)
        return error_set(error, "'%.200s' is one argument too many: one study file is accepted", word);
    request->file = word;
    return 0;
}

static int take_folder(void *target, const char *value, struct error *error)
{
    (void)error;
    struct stat found;
    ((struct request *)target)->folder = value;
    return stat(value, &found) == 0 && S_ISDIR(found.st_mode) ? 0 : -1;
}

static const struct option_row rows[] = {
    {"folder", 0, "FOLDER", "a folder that exists", "where the study's files go (default: the current folder)",
     take_folder},
    {"retry-failed", 0, NULL, NULL, "run again what failed, too", TAKES_FLAG(struct request, retry_failed)},
    {"report-only", 0, NULL, NULL, "run nothing: make the report and the pictures of the runs that are there",
     TAKES_FLAG(struct request, report_only)},
    {"dry-run", 0, NULL, NULL, "print the lines of hdss that are due, in their order, and do nothing",
     TAKES_FLAG(struct request, dry_run)},
    {NULL},
};

static const struct options options = {
    .usage = "hdss study [OPTION]... FILE",
    .about =
        "Runs the matrix that FILE describes, and makes of it a table of all runs (NAME.csv), a report (NAME.md), its "
        "figures for programs (NAME-cells.csv, NAME-cells.json) and pictures (NAME-*.svg, NAME-*.png); NAME is that of "
        "FILE without its ending. What is in the table is not run "
        "again: after Ctrl-C the same command goes on.",
    .sections = {{"Options", rows}, {"Help", options_common}},
    .notes =
        "FILE has lines KEY = VALUE ..., and comments behind #. Of these axes all combinations are run; kernel is a "
        "line for each kernel with its parameters:\n"
        "    " STUDY_AXIS_NAMES "\n"
        "and these stand beside them; topology (central, hierarchical, dca-rma, dca-two-sided, dca-node) says more of "
        "masters:\n"
        "    " STUDY_OTHER_KEYS "\n"
        "The values of measure, each of which makes tables and pictures:\n"
        "    " MEASURE_NAMES "\n"
        "hdss(1) describes them.\n"
        "Example of a FILE:\n"
        "    kernel = mandelbrot width=1024 height=1024\n"
        "    technique = dtss dfss dgss\n"
        "    masters = 0 1 2\n"
        "    workers = 1 2 4\n"
        "    repetitions = 3\n"
        "Exit status: 0 done, 1 failed, 2 wrong use, 3 done and some of the runs failed, 4 stopped by a signal.",
};

void study_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){options, OPERANDS_FILE};
}

static void study_path_of(const struct session *session, const char *ending, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s%s", session->request.folder, session->name, ending);
}

/* masters.study is called masters. */
static int study_take_name(struct session *session, struct error *error)
{
    const char *slash = strrchr(session->request.file, '/');
    const char *name = slash != NULL ? slash + 1 : session->request.file, *dot = strrchr(name, '.');
    size_t length = dot != NULL && dot > name ? (size_t)(dot - name) : strlen(name);
    if (length == 0 || length + 40 > sizeof session->name || strlen(session->request.folder) + length + 50 > PATH_MAX)
        return error_set(error, "%.200s: a file name is accepted", session->request.file);
    snprintf(session->name, sizeof session->name, "%.*s", (int)length, name);
    return 0;
}

static int read_study(struct session *session, struct error *error)
{
    if (study_take_name(session, error) < 0)
        return -1;
    char *text = file_read(session->request.file, error);
    if (text == NULL)
        return -1;
    int result = study_parse(&session->study, session->request.file, text, error);
    free(text);
    if (result < 0 || study_check(&session->study, session->request.file, error) < 0)
        return -1;
    return matrix_init(&session->matrix, &session->study, error);
}

static int study_read_table(struct session *session, struct error *error)
{
    char path[PATH_MAX];
    study_path_of(session, ".csv", path);
    if (access(path, F_OK) < 0 && errno == ENOENT)
        return 0;
    char *text = file_read(path, error);
    int result = text != NULL ? csv_parse(&session->csv, path, text, error) : -1;
    free(text);
    return result;
}

static int study_write_table(const struct session *session, struct error *error)
{
    char path[PATH_MAX];
    size_t length;
    study_path_of(session, ".csv", path);
    char *text = csv_text(&session->csv, &length);
    int result = text != NULL ? file_write(path, text, length, error) : error_set(error, "out of memory for the table");
    free(text);
    return result;
}

/* The row of the run, or that behind the last. */
static size_t find_row(const struct session *session, const struct matrix_run *run)
{
    struct matrix_run other;
    size_t row = 0;
    for (; row < session->csv.count; row++)
        if (matrix_read(&session->matrix, &session->csv, row, &other) && other.cell == run->cell &&
            other.repetition == run->repetition)
            break;
    return row;
}

static bool study_is_due(const struct session *session, size_t row)
{
    if (row == MATRIX_NO_ROW)
        return true;
    return session->request.retry_failed && strcmp(csv_get(&session->csv, row, "status"), STATUS_DONE) != 0;
}

/* Whether a cell has been run often enough; `rows_of` is that of matrix_rows(). -1 when memory is out. */
static int look_whether_settled(const struct session *session, const size_t *rows_of, unsigned cell, bool *is_settled)
{
    const unsigned repetitions = session->study.repetitions;
    const size_t *rows_of_cell = rows_of + (size_t)cell * repetitions;
    struct summary_value elapsed;
    unsigned count = 0;
    double *times = calloc(repetitions, sizeof *times);
    if (times == NULL)
        return -1;
    for (unsigned r = 0; r < repetitions; r++)
        if (rows_of_cell[r] != MATRIX_NO_ROW &&
            strcmp(csv_get(&session->csv, rows_of_cell[r], "status"), STATUS_DONE) == 0 &&
            number_parse_real(csv_get(&session->csv, rows_of_cell[r], measures[MEASURE_ELAPSED].column),
                              &times[count]) == 0)
            count++;
    summary_set_with_interval(&elapsed, times, count, matrix_repeats(&session->matrix, cell));
    *is_settled = summary_is_settled(&session->study, &elapsed);
    free(times);
    return 0;
}

/* Whether a run is not needed any more, as its cell has been run often enough. -1 with one line when memory is out. */
static int is_needless(const struct session *session, const struct matrix_run *run, bool *needless, struct error *error)
{
    *needless = false;
    if (session->study.until <= 0)
        return 0;
    size_t *rows_of = matrix_rows(&session->matrix, &session->csv);
    const int result = rows_of != NULL ? look_whether_settled(session, rows_of, run->cell, needless) : -1;
    free(rows_of);
    return result == 0 ? 0 : error_set(error, "out of memory for the loop times of a cell");
}

/* The cells that have been run often enough, [cells of the matrix], to be freed; NULL when memory is out. */
static bool *find_settled(const struct session *session, const size_t *rows_of)
{
    bool *settled = calloc(session->matrix.count, sizeof *settled);
    for (unsigned i = 0; settled != NULL && session->study.until > 0 && i < session->matrix.count; i++)
        if (look_whether_settled(session, rows_of, i, &settled[i]) < 0) {
            free(settled);
            return NULL;
        }
    return settled;
}

static int list_due(struct session *session, struct error *error)
{
    size_t count, *row_of = matrix_rows(&session->matrix, &session->csv);
    session->runs = matrix_order(&session->matrix, &count);
    bool *settled = row_of != NULL ? find_settled(session, row_of) : NULL;
    bool ready = settled != NULL && session->runs != NULL;
    for (size_t i = 0; ready && i < count; i++) {
        struct matrix_run run = session->runs[i];
        if (!settled[run.cell] &&
            study_is_due(session, row_of[(size_t)run.cell * session->study.repetitions + run.repetition]))
            session->runs[session->due++] = run;
    }
    free(row_of);
    free(settled);
    return ready ? 0 : error_set(error, "out of memory for %zu runs", count);
}

/* The output of the runs goes there; who has it locked is the only one who writes the table. */
static int open_log(struct session *session, struct error *error)
{
    char path[PATH_MAX];
    study_path_of(session, ".log", path);
    session->log = fopen(path, "a+e");
    if (session->log == NULL)
        return error_set(error, "%.300s: %s", path, strerror(errno));
    if (flock(fileno(session->log), LOCK_EX | LOCK_NB) == 0)
        return 0;
    return error_set(error, "%.300s: another hdss study runs with it", path);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The line that says last what is wrong; what was printed before the run began is not looked at. */
static void find_reason(struct session *session, long begin, char reason[REASON_MAX])
{
    char line[REASON_MAX];
    bool found = false;
    fflush(session->log);
    fseek(session->log, begin, SEEK_SET);
    while (fgets(line, sizeof line, session->log) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        bool ours = strncmp(line, "hdss", 4) == 0 || strncmp(line, "supermaster", 11) == 0 ||
                    strncmp(line, "master", 6) == 0 || strncmp(line, "worker", 6) == 0;
        if (*line == '\0' || (found && !ours))
            continue;
        found = found || ours;
        snprintf(reason, REASON_MAX, "%s", line);
    }
    fseek(session->log, 0, SEEK_END);
}

static void study_write_run(struct session *session, const struct matrix_run *run, const char *status,
                            const char *reason)
{
    char number[24];
    size_t row = find_row(session, run);
    if (row < session->csv.count)
        csv_remove(&session->csv, row);
    row = csv_add(&session->csv);
    csv_set(&session->csv, row, "status", status);
    csv_set(&session->csv, row, "reason", reason);
    matrix_write(&session->matrix, run, &session->csv, row);
    snprintf(number, sizeof number, "%" PRIu64, session->study.seed);
    csv_set(&session->csv, row, "seed", number);
    machine_write(&session->machine, &session->csv, row);
}

/* The report's scalars; the run has failed where there is none. */
static void study_take_report(struct session *session, const char *path, const char **status, char reason[REASON_MAX])
{
    struct error why;
    size_t row = session->csv.count - 1;
    char *text = file_read(path, &why);
    if (text != NULL && flatten_report(&session->csv, row, text, &why) == 0 &&
        (!session->study.keeps_steps || flatten_steps(&session->csv, row, text, &why) == 0)) {
        free(text);
        return;
    }
    free(text);
    if (strcmp(*status, STATUS_DONE) != 0)
        return;
    *status = STATUS_FAILED;
    snprintf(reason, REASON_MAX, "%.*s", REASON_MAX - 1, why.text);
}

static void keep_run(struct session *session, const struct matrix_run *run, int status, bool late, const char *reason)
{
    char why[REASON_MAX], path[PATH_MAX];
    const char *word = late ? STATUS_TIMEOUT : status == EXIT_STATUS_DONE ? STATUS_DONE : STATUS_FAILED;
    snprintf(why, sizeof why, "%s", status == EXIT_STATUS_DONE ? "" : reason);
    if (late)
        snprintf(why, sizeof why, "not done after %u s", session->study.timeout_s);
    study_write_run(session, run, word, why);
    study_path_of(session, ".run.json", path);
    study_take_report(session, path, &word, why);
    csv_set(&session->csv, session->csv.count - 1, "status", word);
    csv_set(&session->csv, session->csv.count - 1, "reason", why);
    unlink(path);
}

/* A process of its own, which can be ended. */
static int simulate_words(const struct argv *line, struct launch *how, struct error *error)
{
    struct argv command = {0};
    argv_add(&command, "/proc/self/exe");
    argv_add_all(&command, line);
    int status = command.failed ? EXIT_STATUS_FAILED : launch(command.items, how);
    launch_say_lost(how, "");
    if (command.failed)
        error_set(error, "out of memory for a command line");
    argv_fini(&command);
    return status;
}

/* Has the run leave a trace, under a name that no run has, in the folder of the study's traces: "masters-traces/7.csv",
 * for the table. Workers alone leave none. -1 with one line. */
static int add_trace(const struct session *session, const struct matrix_run *run, struct argv *line,
                     char name[PATH_MAX], struct error *error)
{
    char path[PATH_MAX], ending[40];
    unsigned number = 0;
    name[0] = '\0';
    if (!session->study.keeps_traces || strncmp(matrix_value(&session->matrix, run->cell, AXIS_MASTERS), "dca", 3) == 0)
        return 0;
    study_path_of(session, "-traces", path);
    if (file_make_folders(path, error) < 0)
        return -1;
    do {
        snprintf(ending, sizeof ending, "-traces/%u.csv", ++number);
        study_path_of(session, ending, path);
    } while (access(path, F_OK) == 0);
    snprintf(name, PATH_MAX, "%s%s", session->name, ending);
    argv_insert(line, 1, path);
    argv_insert(line, 1, "--trace");
    return 0;
}

/* Gives each repetition of a simulated run an order of events of its own, where the study wants that. Seeds of hdss
 * simulate begin with 1. */
static void add_seed(const struct session *session, const struct matrix_run *run, struct argv *line)
{
    char seed[24];
    if (!session->study.has_seeds || !matrix_simulates(&session->matrix, run->cell))
        return;
    snprintf(seed, sizeof seed, "%" PRIu64, (session->study.seed + run->repetition) % UINT32_MAX + 1);
    argv_insert(line, 1, seed);
    argv_insert(line, 1, "--seed");
}

/* --- runs ahead of their turn --- */

/* So many workers take some 200 MiB to simulate. */
#define AHEAD_WORKERS_MAX 65536

/* A simulation takes nothing from another; beside a real run none may go on. Traces are numbered in the order of the
 * runs, and whether a cell whose interval is to be narrow needs another one, the runs before have to say. */
static unsigned width_of(const struct session *session)
{
    const struct study *study = &session->study;
    if (study->keeps_traces || study->until > 0 || argv_contain(&study->values[AXIS_BACKEND], BACKEND_MPIRUN))
        return 1;
    for (unsigned i = 0; i < study->values[AXIS_WORKERS].count; i++)
        if (strtoul(study->values[AXIS_WORKERS].items[i], NULL, 10) > AHEAD_WORKERS_MAX)
            return 1;
    return ahead_cores();
}

static void path_ahead(const struct session *session, size_t i, const char *ending, char path[PATH_MAX])
{
    char text[40];
    snprintf(text, sizeof text, ".run.%u%s", (unsigned)(i % session->width), ending);
    study_path_of(session, text, path);
}

struct ahead_run {
    const struct session *session;
    size_t i; /* of those that are due */
};

/* In a process of its own. What the run prints goes into a file of its place. */
static void make_ahead(void *context, struct ahead_result *result)
{
    const struct ahead_run *run = context;
    const struct session *session = run->session;
    char report[PATH_MAX], log[PATH_MAX];
    struct argv line = {0};
    struct error why = {0};
    path_ahead(session, run->i, ".json", report);
    path_ahead(session, run->i, ".log", log);
    unlink(report);
    struct launch how = {
        .log = fopen(log, "we"), .at_once = true, .is_asked = is_signalled, .timeout_s = session->study.timeout_s};
    if (how.log == NULL)
        return;
    matrix_compose(&session->matrix, session->runs[run->i].cell, report, &line);
    add_seed(session, &session->runs[run->i], &line);
    result->status = simulate_words(&line, &how, &why);
    result->late = how.late;
    result->asked = how.asked;
    if (why.text[0] != '\0')
        say(how.log, "hdss study: %s", why.text);
    fclose(how.log);
    argv_fini(&line);
}

/* Has as many runs go on as may, from run `i` on. */
static int begin_ahead(struct session *session, size_t i, struct error *error)
{
    for (; session->width > 1 && session->begun < session->due && session->begun < i + session->width;
         session->begun++) {
        struct ahead_run run = {session, session->begun};
        if (ahead_begin(&session->ahead, (unsigned)(session->begun % session->width), make_ahead, &run, error) < 0)
            return -1;
    }
    return 0;
}

/* What the run has printed goes into the study's log, and its report to where a run leaves it. */
static int take_ahead(struct session *session, size_t i, struct launch *how)
{
    char from[PATH_MAX], to[PATH_MAX], text[4096];
    struct ahead_result result;
    ahead_take(&session->ahead, (unsigned)(i % session->width), is_signalled, &result);
    how->late = result.late;
    how->asked = result.asked;
    path_ahead(session, i, ".json", from);
    study_path_of(session, ".run.json", to);
    rename(from, to);
    path_ahead(session, i, ".log", from);
    FILE *log = fopen(from, "re");
    for (size_t length = 0; log != NULL && (length = fread(text, 1, sizeof text, log)) > 0;)
        fwrite(text, 1, length, session->log);
    if (log != NULL)
        fclose(log);
    unlink(from);
    return result.status;
}

/* Ends what goes on ahead, and removes its files. */
static void end_ahead(struct session *session)
{
    ahead_fini(&session->ahead);
    for (unsigned place = 0; session->width > 1 && place < session->width; place++) {
        char path[PATH_MAX];
        path_ahead(session, place, ".json", path);
        unlink(path);
        path_ahead(session, place, ".log", path);
        unlink(path);
    }
}

/* Does the i-th run of those that are due; -1 where the study cannot go on. */
static int make_run(struct session *session, size_t i, struct error *error)
{
    const struct matrix_run *run = &session->runs[i];
    char path[PATH_MAX], trace[PATH_MAX], reason[REASON_MAX] = "";
    struct argv line = {0};
    struct error why = {0};
    struct launch how = {
        .log = session->log, .at_once = true, .is_asked = is_signalled, .timeout_s = session->study.timeout_s};
    study_path_of(session, ".run.json", path);
    unlink(path);
    matrix_compose(&session->matrix, run->cell, path, &line);
    add_seed(session, run, &line);
    if (!matrix_simulates(&session->matrix, run->cell)) /* time there is none of this machine */
        machine_look_at_noise(&session->machine);
    else
        machine_forget_noise(&session->machine);
    if (add_trace(session, run, &line, trace, error) < 0) {
        argv_fini(&line);
        return -1;
    }
    if (line.failed) {
        argv_fini(&line);
        return error_set(error, "out of memory for a command line");
    }
    fseek(session->log, 0, SEEK_END);
    long begin = ftell(session->log);
    fputs("# hdss ", session->log);
    argv_print(&line, session->log);
    fflush(session->log);
    int status = session->width > 1 ? take_ahead(session, i, &how)
                 : matrix_simulates(&session->matrix, run->cell)
                     ? simulate_words(&line, &how, &why)
                     : run_words((int)line.count, line.items, false, &how, &why);
    argv_fini(&line);
    session->asked = how.asked;
    if (how.asked) {
        unlink(path);
        return 0;
    }
    if (why.text[0] != '\0')
        say(session->log, "hdss run: %s", why.text);
    if (status != EXIT_STATUS_DONE)
        find_reason(session, begin, reason);
    keep_run(session, run, status, how.late, reason);
    if (trace[0] != '\0')
        csv_set(&session->csv, session->csv.count - 1, "trace", trace);
    return study_write_table(session, error);
}

/* "about 2 min left" */
static void format_left(double seconds, char *text, size_t size)
{
    if (seconds < 90)
        snprintf(text, size, "about %.0f s left", seconds + 0.5);
    else if (seconds < 5400)
        snprintf(text, size, "about %.0f min left", seconds / 60);
    else
        snprintf(text, size, "about %.1f h left", seconds / 3600);
}

/* Columns for a line of progress on a terminal, without the last: there the cursor would go to the next line. */
static int terminal_columns(void)
{
    struct winsize size;
    return (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80) - 1;
}

/* On a terminal one line that changes, elsewhere a line for each run. */
static void study_show_progress(const struct session *session, size_t done, size_t failed, double began_s)
{
    bool terminal = isatty(STDERR_FILENO);
    char cell[160], left[40] = "", failures[40] = "", line[300];
    matrix_describe(&session->matrix, session->runs[done].cell, cell, sizeof cell);
    if (done > 0)
        format_left((now_s() - began_s) / (double)done * (double)(session->due - done), left, sizeof left);
    if (failed > 0)
        snprintf(failures, sizeof failures, "%zu failed, ", failed);
    snprintf(line, sizeof line, "[%zu/%zu] %s%s%s%s", done + 1, session->due, failures, left, *left != '\0' ? ": " : "",
             cell);
    plain(line);
    if (terminal)
        fprintf(stderr, "\r\033[K%.*s", terminal_columns(), line);
    else
        say(stderr, "%s", line);
    fflush(stderr);
}

static int make_runs(struct session *session, struct error *error)
{
    double began_s = now_s();
    size_t failed = 0;
    int result = 0;
    session->width = width_of(session);
    note_signals();
    for (size_t i = 0; i < session->due && result == 0 && !session->asked; i++) {
        bool needless;
        result = is_needless(session, &session->runs[i], &needless, error);
        if (result < 0 || needless)
            continue;
        study_show_progress(session, i, failed, began_s);
        result = begin_ahead(session, i, error);
        if (result == 0)
            result = make_run(session, i, error);
        if (!session->asked && result == 0)
            failed += strcmp(csv_get(&session->csv, session->csv.count - 1, "status"), STATUS_DONE) != 0;
        session->asked = session->asked || is_signalled();
    }
    end_ahead(session);
    forget_signals();
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    return result;
}

static const char *const picture_endings[] = {".svg", ".png"};

static void picture_path(const struct session *session, const char *name, size_t ending, char path[PATH_MAX])
{
    char text[80];
    snprintf(text, sizeof text, "-%s%s", name, picture_endings[ending]);
    study_path_of(session, text, path);
}

static int draw_figure(const struct session *session, const struct summary *summary, const struct figure *figure,
                       const char *name, struct error *error)
{
    for (size_t i = 0; i < sizeof picture_endings / sizeof *picture_endings; i++) {
        char path[PATH_MAX];
        picture_path(session, name, i, path);
        if (figure_draw(summary, figure, path, error) < 0)
            return -1;
    }
    return 0;
}

static int draw_steps(const struct session *session, const struct steps *steps, struct error *error)
{
    for (size_t panel = 0; steps != NULL && panel < steps->panel_count; panel++)
        for (size_t i = 0; i < sizeof picture_endings / sizeof *picture_endings; i++) {
            char name[64], path[PATH_MAX];
            steps_name(steps, panel, name, sizeof name);
            picture_path(session, name, i, path);
            if (steps_draw(steps, panel, path, error) < 0)
                return -1;
        }
    return 0;
}

static int draw_figures(const struct session *session, const struct study_report *report, struct error *error)
{
    char name[64];
    for (size_t i = 0; i < report->figure_count; i++) {
        figure_name(&report->figures[i], report->figures, report->figure_count, name, sizeof name);
        if (figure_has_data(report->summary, &report->figures[i]) &&
            draw_figure(session, report->summary, &report->figures[i], name, error) < 0)
            return -1;
    }
    return draw_steps(session, report->steps, error);
}

/* Writes a text that is the caller's no more; NULL: memory was out. -1 with one line. */
static int write_file_of(const struct session *session, const char *ending, char *text, size_t length,
                         struct error *error)
{
    char path[PATH_MAX];
    study_path_of(session, ending, path);
    const int result =
        text != NULL ? file_write(path, text, length, error) : error_set(error, "out of memory for %.300s", path);
    free(text);
    return result;
}

/* The figures of the cells for programs. -1 with one line. */
static int write_cells(const struct session *session, const struct summary *summary, struct error *error)
{
    size_t length = 0;
    char *table = cells_csv(summary, &length);
    if (write_file_of(session, "-cells.csv", table, length, error) < 0)
        return -1;
    char *text = cells_json(summary);
    return write_file_of(session, "-cells.json", text, text != NULL ? strlen(text) : 0, error);
}

/* The times of the time steps for programs. -1 with one line. */
static int write_table_of_steps(const struct session *session, const struct steps *steps, struct error *error)
{
    size_t length = 0;
    char *text = steps != NULL ? steps_csv(steps, &length) : NULL;
    return steps != NULL ? write_file_of(session, "-steps.csv", text, length, error) : 0;
}

/* Without gnuplot there are no pictures, and one line says so. `steps` is NULL where the study does not keep them. */
static int make_report_with(const struct session *session, struct summary *summary, const struct steps *steps,
                            struct error *error)
{
    struct study_report report = {
        .name = session->name, .file = session->request.file, .summary = summary, .csv = &session->csv, .steps = steps};
    struct figure *figures = figures_list(summary, &report.figure_count);
    if (figures == NULL)
        return error_set(error, "out of memory for the list of pictures");
    struct error why;
    report.figures = figures;
    report.drawn = gnuplot_check(&why) == 0;
    if (!report.drawn)
        say(stderr, "hdss study: no pictures are drawn: %s", why.text);
    char *page = report_page(&report);
    int result = write_file_of(session, ".md", page, page != NULL ? strlen(page) : 0, error);
    if (result == 0)
        result = write_cells(session, summary, error);
    if (result == 0)
        result = write_table_of_steps(session, steps, error);
    if (result == 0 && report.drawn)
        result = draw_figures(session, &report, error);
    free(figures);
    return result;
}

static int make_report(const struct session *session, struct summary *summary, struct error *error)
{
    struct steps steps;
    if (!session->study.keeps_steps)
        return make_report_with(session, summary, NULL, error);
    int result = steps_init(&steps, summary, &session->csv, error);
    if (result == 0)
        result = make_report_with(session, summary, &steps, error);
    steps_fini(&steps);
    return result;
}

/* The maps that the study asks for go to the terminal as well: of what is improved, else of the first measure. */
static void print_maps(const struct summary *summary)
{
    size_t count;
    struct figure *figures = figures_list(summary, &count);
    const struct study *study = summary->matrix->study;
    int measure = study->measured[MEASURE_IMPROVEMENT] ? MEASURE_IMPROVEMENT : 0;
    while (measure < MEASURES && !study->measured[measure])
        measure++;
    for (size_t i = 0; figures != NULL && study->heat_given && i < count; i++)
        if (figures[i].kind == FIGURE_HEAT && figures[i].measure == measure && figure_has_data(summary, &figures[i]))
            report_map(summary, &figures[i], false, stdout);
    free(figures);
}

static int study_finish(const struct session *session, struct error *error)
{
    struct summary summary;
    if (summary_init(&summary, &session->matrix, &session->csv, error) < 0)
        return EXIT_STATUS_FAILED;
    int result = make_report(session, &summary, error);
    int status = result < 0           ? EXIT_STATUS_FAILED
                 : session->asked     ? EXIT_STATUS_DRAINED
                 : summary.failed > 0 ? EXIT_STATUS_TASKS
                                      : EXIT_STATUS_DONE;
    if (result == 0) {
        print_maps(&summary);
        say(stdout, "%s/%s.md: %zu of %zu runs are done, %zu failed", session->request.folder, session->name,
            summary.done, summary.done + summary.failed + summary.to_come, summary.failed);
        if (session->asked)
            puts("ended by a signal; the same command goes on");
    }
    summary_fini(&summary);
    return status;
}

static int print_due(const struct session *session)
{
    for (size_t i = 0; i < session->due; i++) {
        char path[PATH_MAX];
        struct argv line = {0};
        study_path_of(session, ".run.json", path);
        matrix_compose(&session->matrix, session->runs[i].cell, path, &line);
        add_seed(session, &session->runs[i], &line);
        fputs("hdss ", stdout);
        argv_print(&line, stdout);
        argv_fini(&line);
    }
    return EXIT_STATUS_DONE;
}

static int conduct(struct session *session, struct error *error)
{
    if (read_study(session, error) < 0 || study_read_table(session, error) < 0)
        return EXIT_STATUS_USAGE;
    if (list_due(session, error) < 0)
        return EXIT_STATUS_FAILED;
    if (session->request.dry_run)
        return print_due(session);
    if (!session->request.report_only) {
        machine_look(&session->machine);
        if (open_log(session, error) < 0 || make_runs(session, error) < 0)
            return EXIT_STATUS_FAILED;
    }
    return study_finish(session, error);
}

static void session_fini(struct session *session)
{
    study_fini(&session->study);
    matrix_fini(&session->matrix);
    csv_fini(&session->csv);
    free(session->runs);
    if (session->log != NULL)
        fclose(session->log);
}

static int study_flush(int status, struct error *error)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    error_set(error, "cannot write: %s", strerror(errno));
    return EXIT_STATUS_FAILED;
}

int command_study(int argc, char **argv)
{
    struct session session = {.request = {.folder = "."}};
    struct error error = {0};
    int status = EXIT_STATUS_USAGE;
    int result = options_parse(&options, argc, argv, &session.request, take_file, &error);
    if (result > 0)
        return show_page("hdss study", &options, result);
    if (result == 0 && session.request.file == NULL)
        error_set(&error, "no study file is given: hdss study FILE");
    else if (result == 0)
        status = study_flush(conduct(&session, &error), &error);
    if (error.text[0] != '\0')
        say_error("hdss study", error.text);
    session_fini(&session);
    return status;
}
