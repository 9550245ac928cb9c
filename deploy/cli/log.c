/* SPDX-License-Identifier: MIT */
/* hdss log: prints a task log for people, and what a task has written. */
#include "deploy/cli/commands.h"
#include "common/config/job.h"
#include "common/metrics/human.h"
#include "common/metrics/reasons.h"
#include "common/os/say.h"
#include "common/util/ranges.h"
#include "common/util/text.h"
#include "deploy/cli/columns.h"
#include "deploy/cli/log_file.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLOWEST_SHOWN 5
#define INDENT        "               "

struct log_request {
    const char *file;
    char output[JOB_PATH_MAX];
    bool failed;
    uint64_t slowest, task;
};

static const struct option_row log_rows[] = {
    {"failed", 0, NULL, NULL, "list the failed tasks, each with the last line of its errors",
     TAKES_FLAG(struct log_request, failed)},
    {"slowest", 0, "N", NULL, "list the N slowest tasks; with --failed, the N slowest failed tasks",
     TAKES_INTEGER(struct log_request, slowest, 1, 1000000000)},
    {"task", 0, "N", NULL, "show task N: how it ended, its output and its errors",
     TAKES_INTEGER(struct log_request, task, 1, UINT64_MAX)},
    {"output", 0, "FILE", "the name of a file", "read the run's output from FILE, if it is not beside the log",
     TAKES_PATH(struct log_request, output)},
    {NULL},
};

static const struct options log_options = {
    .usage = "hdss log FILE [OPTION]...",
    .about = "Shows how tasks ended: how many there were, how long they took, why some failed, and which were slowest. "
             "FILE is the log, the list or the output of a run of exec, which may still run, or a joblog, also one of "
             "GNU parallel.",
    .sections = {{"Options", log_rows}, {"Help", options_common}},
    .notes = "Example:\n"
             "    hdss log tasks.txt\n"
             "    hdss log tasks.txt --failed\n"
             "    hdss log tasks.txt --task 17",
};

static int log_take_word(void *target, const char *word, struct error *error)
{
    struct log_request *request = target;
    if (request->file != NULL)
        return error_set(error, "'%.100s' is one argument too many: one file is accepted", word);
    request->file = word;
    return 0;
}

static int log_say(const struct error *error, int status)
{
    fflush(stdout);
    say(stderr, "hdss log: %s", error->text);
    return status;
}

static char *time_text(char text[40], double seconds)
{
    const time_t whole = (time_t)seconds;
    struct tm parts;
    if (!(seconds >= 0 && seconds < 1e11) || localtime_r(&whole, &parts) == NULL)
        return strcpy(text, "?");
    strftime(text, 40, "%Y-%m-%d %H:%M:%S", &parts);
    return text;
}

static const char *log_error(struct log_file *log, const struct log_record *record, char text[REASON_TEXT_MAX])
{
    char bytes[LOG_ERRORS_KEPT];
    const size_t length = log_file_errors(log, record, bytes);
    reasons_last_line(text, bytes, length);
    return text;
}

static void print_heading(unsigned digits)
{
    say(stdout, "  %*s     runtime  ended        command", (int)digits, "task");
}

static unsigned digits_of(uint64_t number)
{
    unsigned digits = 1;
    for (; number > 9; number /= 10)
        digits++;
    return digits < 6 ? 6 : digits;
}

static unsigned digits_of_last(const struct log_file *log)
{
    return digits_of(log->count > 0 ? log->records[log->count - 1].number : 0);
}

static int print_record(struct log_file *log, const struct log_record *record, unsigned digits, unsigned width,
                        struct error *error)
{
    struct task_row row;
    char runtime[HUMAN_MAX], ended[REASON_END_MAX], said[REASON_TEXT_MAX] = "", line[REASON_LINE_MAX];
    if (log_file_row(log, record, &row, error) < 0)
        return -1;
    snprintf(line, sizeof line, "  %*" PRIu64 "  %10s  %-11s  ", (int)digits, row.number,
             human_duration(runtime, row.runtime_s), reasons_end_text(&row, ended));
    if (record->has_failed)
        log_error(log, record, said);
    reasons_line(line, &row, said, width);
    puts(line);
    return 0;
}

static int by_runtime(const void *a, const void *b)
{
    const struct log_record *x = *(const struct log_record *const *)a, *y = *(const struct log_record *const *)b;
    if (x->runtime_s != y->runtime_s)
        return x->runtime_s < y->runtime_s ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

/* `most`: how many of the slowest tasks to print; 0: all tasks, in order. */
static int print_table(struct log_file *log, bool failed, uint64_t most, struct error *error)
{
    const struct log_record **records = calloc(log->count + 1, sizeof *records);
    const unsigned width = columns_of_output(), digits = digits_of_last(log);
    size_t count = 0;
    int result = 0;
    if (records == NULL)
        return error_set(error, "out of memory");
    for (size_t i = 0; i < log->count; i++)
        if (!failed || log->records[i].has_failed)
            records[count++] = &log->records[i];
    if (most > 0)
        qsort(records, count, sizeof *records, by_runtime);
    if (count > 0)
        print_heading(digits);
    for (size_t i = 0; result == 0 && i < count && (most == 0 || i < most); i++)
        result = print_record(log, records[i], digits, width, error);
    free(records);
    return result;
}

static int print_list(struct log_file *log, const struct log_request *request, struct error *error)
{
    char number[HUMAN_MAX];
    uint64_t failed = 0;
    for (size_t i = 0; i < log->count; i++)
        failed += log->records[i].has_failed;
    if (request->failed && failed == 0) {
        say(stdout, "%s: none of %s tasks has failed", log->path, human_count(number, log->count));
        return 0;
    }
    return print_table(log, request->failed, request->slowest, error);
}

struct log_sums {
    uint64_t failed, tried_again;
    double began_s, ended_s, together_s;
    struct ranges workers, nodes;
    struct reasons reasons;
};

static int take_sums(struct log_file *log, const struct log_record *record, struct log_sums *sums, struct error *error)
{
    const bool is_first = sums->began_s < 0;
    sums->began_s = is_first ? record->started_s : fmin(sums->began_s, record->started_s);
    sums->ended_s = fmax(sums->ended_s, record->started_s + record->runtime_s);
    sums->together_s += record->runtime_s;
    sums->tried_again += record->tried_again;
    if (ranges_add(&sums->workers, record->worker, 1, NULL) < 0 || ranges_add(&sums->nodes, record->node, 1, NULL) < 0)
        return error_set(error, "out of memory");
    sums->failed += record->has_failed;
    return record->has_failed ? log_file_add_reason(log, record, &sums->reasons, error) : 0;
}

static int compare_reals(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_runtime(const struct log_file *log)
{
    double *all = malloc((log->count + 1) * sizeof *all), median = 0;
    if (all == NULL || log->count == 0) {
        free(all);
        return 0;
    }
    for (size_t i = 0; i < log->count; i++)
        all[i] = log->records[i].runtime_s;
    qsort(all, log->count, sizeof *all, compare_reals);
    median = log->count % 2 == 1 ? all[log->count / 2] : (all[log->count / 2 - 1] + all[log->count / 2]) / 2;
    free(all);
    return median;
}

static double longest_runtime(const struct log_file *log)
{
    double longest = 0;
    for (size_t i = 0; i < log->count; i++)
        longest = fmax(longest, log->records[i].runtime_s);
    return longest;
}

static void print_times(const struct log_file *log, const struct log_sums *sums)
{
    char text[40], one[HUMAN_MAX], two[HUMAN_MAX], three[HUMAN_MAX];
    say(stdout, "  began        %s, took %s", time_text(text, sums->began_s),
        human_duration(one, sums->ended_s - sums->began_s));
    say(stdout, "  runtime      median %s, longest %s, all together %s", human_duration(one, median_runtime(log)),
        human_duration(two, longest_runtime(log)), human_duration(three, sums->together_s));
    if (log->kind == TASK_LOG_HDSS)
        say(stdout, "  workers      %" PRIu64 " on %" PRIu64 " node%s", ranges_total(&sums->workers),
            ranges_total(&sums->nodes), ranges_total(&sums->nodes) == 1 ? "" : "s");
    if (sums->tried_again > 0)
        say(stdout, "  tries        %s task%s tried more than once", human_count(one, sums->tried_again),
            sums->tried_again == 1 ? " was" : "s were");
}

static void print_reasons(struct log_sums *sums)
{
    struct text text;
    text_init(&text);
    reasons_sort(&sums->reasons);
    reasons_add_text(&sums->reasons, &text, "  reasons      ", INDENT, columns_of_output());
    if (text.data != NULL)
        fputs(text.data, stdout);
    text_fini(&text);
}

static int print_summary(struct log_file *log, struct log_sums *sums, struct error *error)
{
    char all[HUMAN_MAX], failed[HUMAN_MAX];
    int result = 0;
    for (size_t i = 0; result == 0 && i < log->count; i++)
        result = take_sums(log, &log->records[i], sums, error);
    if (result < 0)
        return -1;
    say(stdout, "%s: %s task%s, %s failed", log->path, human_count(all, log->count), log->count == 1 ? "" : "s",
        sums->failed > 0 ? human_count(failed, sums->failed) : "none");
    if (log->count == 0)
        return 0;
    print_times(log, sums);
    print_reasons(sums);
    puts("slowest");
    return print_table(log, false, SLOWEST_SHOWN, error);
}

static int print_all_sums(struct log_file *log, struct error *error)
{
    struct log_sums sums = {.began_s = -1};
    ranges_init(&sums.workers);
    ranges_init(&sums.nodes);
    int result = print_summary(log, &sums, error);
    ranges_fini(&sums.workers);
    ranges_fini(&sums.nodes);
    return result;
}

struct streams_shown {
    bool begun[2];
    bool in_line;
};

static int print_piece(void *context, unsigned stream, const void *bytes, size_t count, struct error *error)
{
    static const char *const titles[] = {"output", "errors"};
    struct streams_shown *shown = context;
    (void)error;
    if (!shown->begun[stream])
        printf("%s%s:\n", shown->in_line ? "\n" : "", titles[stream]);
    shown->begun[stream] = true;
    fwrite(bytes, 1, count, stdout);
    shown->in_line = ((const char *)bytes)[count - 1] != '\n';
    return 0;
}

static int print_streams(struct log_file *log, const struct log_record *record, struct error *error)
{
    struct streams_shown shown = {0};
    if (log->streams == LOG_STREAMS_UNKNOWN) {
        say(stdout, "  output       cannot be known: %s",
            log->kind == TASK_LOG_HDSS ? "the output of its run is not beside the log; --output FILE names it"
                                       : "this log does not say where it is");
        return 0;
    }
    if (log_file_streams(log, record, print_piece, &shown, error) < 0)
        return -1;
    if (shown.in_line)
        putchar('\n');
    if (!shown.begun[0] && !shown.begun[1])
        puts("  output       none, and no errors");
    return 0;
}

static void print_use(const struct task_row *row)
{
    char text[HUMAN_MAX];
    printf("  used         %s of a core", human_duration(text, row->cpu_s));
    if (row->peak_kib > 0) {
        human_si(text, 1024 * (double)row->peak_kib);
        printf(", %s%sB of memory", text, strchr(text, ' ') != NULL ? "" : " ");
    }
    putchar('\n');
}

static int print_task(struct log_file *log, uint64_t number, struct error *error)
{
    const struct log_record *record = log_file_find(log, number);
    struct task_row row;
    char ended[REASON_END_MAX], one[HUMAN_MAX], began[40], worker[70] = "";
    if (record == NULL)
        return error_set(error, "--task %" PRIu64 ": %.200s has no such task", number, log->path);
    if (log_file_row(log, record, &row, error) < 0)
        return -1;
    say(stdout, "task %" PRIu64 ": %.*s", number, (int)row.command.length, row.command.at);
    printf("  ended        %s after %s", reasons_end_text(&row, ended), human_duration(one, row.runtime_s));
    if (row.tries > 1)
        printf(", in try %" PRIu64, row.tries);
    putchar('\n');
    if (log->kind == TASK_LOG_HDSS)
        snprintf(worker, sizeof worker, ", by worker %" PRIu64 " of node %" PRIu64, row.worker, row.node);
    say(stdout, "  began        %s on %.*s%s", time_text(began, row.started_s), (int)row.host.length, row.host.at,
        worker);
    if (log->kind == TASK_LOG_HDSS)
        print_use(&row);
    return print_streams(log, record, error);
}

static int log_answer(const struct log_request *request)
{
    struct log_file log;
    struct error error;
    if (request->file == NULL) {
        error_set(&error, "no file is given: hdss log FILE");
        return log_say(&error, EXIT_STATUS_USAGE);
    }
    if (request->task > 0 && (request->failed || request->slowest > 0)) {
        error_set(&error, "--task shows one task: accepted without --failed and --slowest");
        return log_say(&error, EXIT_STATUS_USAGE);
    }
    if (log_file_open(&log, request->file, request->output[0] != '\0' ? request->output : NULL, &error) < 0)
        return log_say(&error, EXIT_STATUS_USAGE);
    const bool lists = request->failed || request->slowest > 0;
    int result = request->task > 0 ? print_task(&log, request->task, &error)
                 : lists           ? print_list(&log, request, &error)
                                   : print_all_sums(&log, &error);
    if (result == 0 && (fflush(stdout) != 0 || ferror(stdout)))
        result = error_set(&error, "cannot write: %s", strerror(errno));
    if (result == 0 && log.strange > 0)
        say(stderr, "hdss log: %s: %" PRIu64 " of its lines are none of a task log", log.path, log.strange);
    log_file_close(&log);
    return result < 0 ? log_say(&error, EXIT_STATUS_FAILED) : EXIT_STATUS_DONE;
}

int command_log(int argc, char **argv)
{
    struct log_request request = {0};
    struct error error;
    int result = options_parse(&log_options, argc, argv, &request, log_take_word, &error);
    if (result != 0)
        return result < 0 ? log_say(&error, EXIT_STATUS_USAGE) : show_page("hdss log", &log_options, result);
    return log_answer(&request);
}

void log_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){log_options, OPERANDS_FILE};
}
