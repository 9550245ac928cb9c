/* SPDX-License-Identifier: MIT */
/* The supermaster of a set: see serve.h. A job that begins gets a number of its own for the ranks, as those rise, and
 * jobs begin by priority. What it prints goes to files of the set's folder. */
#include "supermaster/set/serve.h"

#include "common/config/job.h"
#include "common/config/serve_options.h"
#include "common/control/control.h"
#include "common/job/startup.h"
#include "common/job/status.h"
#include "common/job/terminal.h"
#include "common/mpi/driver.h"
#include "common/mpi/link.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "proto/announcement.h"
#include "proto/message.h"
#include "supermaster/lead/job.h"
#include "supermaster/queue.h"
#include "supermaster/set/queue_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A job that runs. */
struct set_job {
    struct set_job *next;
    struct queue_job *queued;
    struct led_job *led;
    struct driver *driver;
    struct machine machine;
    FILE *out, *err;
    int folder;
    char **words;
};

/* What is known of a job that is over, beside what the queue remembers. */
struct ended {
    uint64_t id; /* 0: nothing */
    uint64_t done, total, resumed, failed;
    double elapsed_s;
    char technique[SCHED_SPEC_TEXT_MAX];
};

/* By the last digits of their numbers: room for all that the queue remembers, where they end in their order. */
#define ENDED_MAX 4096

struct set {
    const char *version;
    struct ended *ended; /* [ENDED_MAX]; owned */
    struct serve_options options;
    struct runtime *runtime;
    const struct topology *topology;
    struct link *link;
    struct queue queue;
    struct queue_journal *journal;
    struct control *control;
    struct control_source source;
    struct error error;
    int state; /* its folder */
    uint32_t newest;
    struct set_job *jobs;
    uint64_t idle_since_ns;
};

static int64_t now_s(void)
{
    return (int64_t)time(NULL);
}

/* --- the folder --- */

static int open_state(struct set *set)
{
    char path[PATH_MAX];
    const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (set->options.state[0] != '\0')
        snprintf(path, sizeof path, "%s", set->options.state);
    else if (base != NULL && base[0] == '/')
        snprintf(path, sizeof path, "%s/hdss/%s", base, set->options.name);
    else
        snprintf(path, sizeof path, "%s/.local/state/hdss/%s", home != NULL ? home : "", set->options.name);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    mkdir(path, 0700);
    set->state = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (set->state < 0)
        return error_set(&set->error, "%.300s: %s", path, strerror(errno));
    mkdirat(set->state, "jobs", 0700);
    snprintf(path + strlen(path), sizeof path - strlen(path), "/queue");
    set->journal = queue_journal_open(path, set->options.resumes, &set->queue, now_s(), &set->error);
    return set->journal != NULL ? 0 : -1;
}

static int open_spool(const struct set *set, uint64_t id, const char *ending, int flags)
{
    char name[64];
    snprintf(name, sizeof name, "jobs/%" PRIu64 ".%s", id, ending);
    return openat(set->state, name, flags | O_CLOEXEC, 0600);
}

/* --- who asks --- */

static struct set_job *running(const struct set *set, uint32_t id)
{
    struct set_job *job = set->jobs;
    while (job != NULL && job->queued->id != id)
        job = job->next;
    return job;
}

static struct ended *ended_of(const struct set *set, uint64_t id)
{
    return &set->ended[id % ENDED_MAX];
}

static void remember(struct set *set, const struct set_job *job)
{
    struct control_job told = {.status = -1};
    led_job_tell(job->led, &told);
    struct ended *ended = ended_of(set, job->queued->id);
    *ended = (struct ended){.id = job->queued->id,
                            .done = told.progress.done,
                            .total = told.progress.total,
                            .resumed = told.progress.resumed,
                            .failed = told.failed,
                            .elapsed_s = told.progress.elapsed_s};
    snprintf(ended->technique, sizeof ended->technique, "%s", told.technique);
}

/* Tells what the words say, and where it is over how far it came. */
static void tell_queued(const struct set *set, const struct queue_job *queued, struct control_job *job)
{
    static char program[] = "supermaster";
    const struct submission *submission = &queued->submission;
    const struct ended *ended = ended_of(set, queued->id);
    struct job words;
    char **line = calloc(submission->word_count + 2, sizeof *line);
    job->kernel = job->technique = job->output = "";
    job->topology = set->topology->masters > 0 ? "hierarchical" : "central";
    if (line == NULL)
        return;
    line[0] = program;
    memcpy(line + 1, submission->words, submission->word_count * sizeof *line);
    job_init(&words);
    if (job_parse(&words, (int)submission->word_count + 1, line, NULL) == 0)
        job->kernel = words.kernel; /* a word of the submission's */
    free(line);
    if (ended->id != queued->id)
        return;
    job->progress = (struct progress){
        .done = ended->done, .total = ended->total, .resumed = ended->resumed, .elapsed_s = ended->elapsed_s};
    job->failed = ended->failed;
    job->technique = ended->technique;
}

static void tell(void *context, struct control_job *job)
{
    struct set *set = context;
    static const enum control_state states[] = {CONTROL_WAITING, CONTROL_RUNNING, CONTROL_DONE, CONTROL_FAILED,
                                                CONTROL_CANCELLED};
    struct queue_job *queued = job->id <= UINT32_MAX ? queue_find(&set->queue, (uint32_t)job->id) : NULL;
    job->id = queued != NULL ? queued->id : 0;
    if (queued == NULL)
        return;
    const struct submission *submission = &queued->submission;
    const struct set_job *runs = running(set, queued->id);
    if (runs != NULL)
        led_job_tell(runs->led, job);
    else {
        tell_queued(set, queued, job);
        job->state = states[queued->state];
        job->status = queued->status;
    }
    if (runs != NULL && queued->is_cancelled)
        job->state = CONTROL_DRAINING;
    job->command = submission->words;
    job->words = (int)submission->word_count;
    job->folder = submission->folder;
    job->name = submission->name;
    job->priority = submission->priority;
    job->weight = submission->weight;
    job->after = submission->after;
    job->after_count = submission->after_count;
    job->cancelled_by = queued->cancelled_by;
    job->submitted = queued->submitted_s;
    job->began = queued->began_s;
    job->ended = queued->ended_s;
}

static void drain(void *context)
{
    (void)context;
    raise(SIGTERM);
}

static uint64_t next(void *context, uint64_t id)
{
    const struct set *set = context;
    struct queue_job *job = set->queue.first;
    const struct queue_job *known = id > 0 && id <= UINT32_MAX ? queue_find(&set->queue, (uint32_t)id) : NULL;
    if (known != NULL)
        return known->next != NULL ? known->next->id : 0;
    while (job != NULL && job->id <= id)
        job = job->next;
    return job != NULL ? job->id : 0;
}

static void cancel(void *context, uint64_t id)
{
    struct set *set = context;
    struct queue_job *queued = queue_find(&set->queue, (uint32_t)id);
    struct set_job *job = running(set, (uint32_t)id);
    if (queued == NULL || queued->is_cancelled)
        return;
    queue_cancel(&set->queue, queued, now_s());
    queue_journal_cancelled(set->journal, queued);
    if (job != NULL) {
        struct event event = {.type = EVENT_DRAIN};
        driver_step(job->driver, &event);
    }
    control_note_change(set->control);
}

/* The words with a program's name before them. */
static char **words_of(const struct submission *submission, bool resumes)
{
    static char program[] = "supermaster", resume[] = "--resume";
    char **words = calloc(submission->word_count + 3, sizeof *words);
    size_t count = 0, i = 0;
    if (words == NULL)
        return NULL;
    words[count++] = program;
    while (i < submission->word_count && strcmp(submission->words[i], "--") != 0)
        words[count++] = submission->words[i++];
    if (resumes)
        words[count++] = resume; /* the option counts as given last; behind `--` there are none */
    while (i < submission->word_count)
        words[count++] = submission->words[i++];
    return words;
}

static int check_words(struct set *set, const struct submission *submission, struct error *error)
{
    const int folder = open(submission->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char **words = words_of(submission, false);
    struct led_job *led = led_job_new(set->version);
    int result = 0;
    if (folder < 0)
        result = error_set(error, "the folder %.300s: %s", submission->folder, strerror(errno));
    else if (words == NULL || led == NULL)
        result = error_set(error, "out of memory");
    else {
        led_job_place(led, folder, submission->umask);
        result = led_job_read(led, (int)submission->word_count + 1, words);
        *error = led_job_root(led)->error;
        if (result == 0 && job_setup_is_dependent(&led_job_root(led)->setup))
            result = error_set(error,
                               "%s: iterations that depend on one another need a run of their own; accepted: "
                               "`hdss run` without --set",
                               led_job_root(led)->setup.kernel->name);
    }
    led_job_free(led);
    free(words);
    if (folder >= 0)
        close(folder);
    return result;
}

static int submit(void *context, struct submission *submission, uint64_t *id, struct error *error)
{
    struct set *set = context;
    if (set->queue.mode != QUEUE_OPEN) {
        error_set(error, "the set is about to end, and takes no further jobs");
        return 409;
    }
    if (check_words(set, submission, error) != 0)
        return 400;
    struct queue_job *job = queue_submit(&set->queue, submission, now_s(), error);
    if (job == NULL)
        return 400;
    *id = job->id;
    queue_journal_submitted(set->journal, job);
    return 0;
}

static int commit(void *context, struct error *error)
{
    return queue_journal_commit(((struct set *)context)->journal, true, error);
}

static int output(void *context, uint64_t id, enum control_stream stream)
{
    return open_spool(context, id, stream == CONTROL_ERR ? "err" : "out", O_RDONLY);
}

static void close_set(void *context)
{
    queue_close(&((struct set *)context)->queue);
}

/* --- jobs --- */

static void job_free(struct set_job *job)
{
    led_job_free(job->led);
    if (job->out != NULL)
        fclose(job->out);
    if (job->err != NULL)
        fclose(job->err);
    if (job->folder >= 0)
        close(job->folder);
    free(job->words);
    free(job);
}

static FILE *open_stream(const struct set *set, const struct queue_job *queued, const char *ending)
{
    const int file = open_spool(set, queued->id, ending, O_WRONLY | O_CREAT | (queued->has_run ? O_APPEND : O_TRUNC));
    return file >= 0 ? fdopen(file, "w") : NULL;
}

/* Reads the words, of a job that has run with those that go on where its journal is. */
static int read_words(struct set *set, struct set_job *job)
{
    const struct queue_job *queued = job->queued;
    const struct submission *submission = &queued->submission;
    struct root *root = led_job_root(job->led);
    char path[JOB_JOURNAL_PATH_MAX];
    led_job_place(job->led, job->folder, submission->umask);
    int result = led_job_read(job->led, (int)submission->word_count + 1, job->words);
    if (result != 0 || !queued->has_run || job_journal_path(&root->setup.job, path)[0] == '\0' ||
        faccessat(job->folder, path, F_OK, 0) < 0)
        return result;
    struct led_job *led = led_job_new(set->version);
    char **words = words_of(submission, true);
    if (led == NULL || words == NULL) {
        led_job_free(led);
        free(words);
        return error_set(&root->error, "out of memory");
    }
    led_job_free(job->led);
    free(job->words);
    job->led = led;
    job->words = words;
    root_use_streams(led_job_root(led), job->out, job->err);
    led_job_place(led, job->folder, submission->umask);
    return led_job_read(led, (int)submission->word_count + 2, words);
}

/* Makes the job ready. Returns an exit status. */
static int prepare(struct set *set, struct set_job *job)
{
    const struct submission *submission = &job->queued->submission;
    job->out = open_stream(set, job->queued, "out");
    job->err = open_stream(set, job->queued, "err");
    job->words = words_of(submission, false);
    job->led = led_job_new(set->version);
    if (job->out == NULL || job->err == NULL || job->words == NULL || job->led == NULL)
        return EXIT_STATUS_FAILED;
    job->folder = open(submission->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (job->folder < 0) {
        fprintf(job->err, "supermaster: the folder %s: %s\n", submission->folder, strerror(errno));
        return EXIT_STATUS_USAGE;
    }
    root_use_streams(led_job_root(job->led), job->out, job->err);
    const int result = read_words(set, job);
    struct root *root = led_job_root(job->led);
    if (result != 0) {
        fprintf(job->err, "%s: %s\n", root->name, root->error.text);
        return EXIT_STATUS_USAGE;
    }
    root->rank = runtime_rank(set->runtime);
    terminal_init(&root->terminal, &root->setup.job);
    return led_job_prepare(job->led, set->runtime, set->topology);
}

static int announce(struct set *set, struct set_job *job)
{
    const struct submission *submission = &job->queued->submission;
    struct findings findings;
    led_job_find(job->led, &findings);
    const struct announcement announcement = {.weight = submission->weight,
                                              .priority = submission->priority,
                                              .umask = submission->umask,
                                              .folder = submission->folder,
                                              .words = findings.words,
                                              .word_count = (unsigned)findings.count,
                                              .environment = submission->environment,
                                              .variable_count = (unsigned)submission->environment_count};
    const size_t size = announcement_size(&announcement);
    unsigned char *bytes = malloc(size);
    if (bytes != NULL) {
        announcement_pack(&announcement, bytes);
        link_announce(set->link, ++set->newest, bytes, size);
    }
    free(bytes);
    findings_fini(&findings);
    return bytes != NULL ? 0 : -1;
}

static void note_over(struct set *set, struct queue_job *queued, int status)
{
    if (queue_over(&set->queue, queued, status, now_s()))
        queue_journal_over(set->journal, queued);
    control_note_change(set->control);
}

static void begin(struct set *set, struct queue_job *queued)
{
    struct set_job *job = calloc(1, sizeof *job), **end = &set->jobs;
    if (job == NULL)
        return;
    *job = (struct set_job){.queued = queued, .folder = -1};
    queue_begun(&set->queue, queued, now_s());
    queue_journal_begun(set->journal, queued);
    int status = prepare(set, job);
    if (status == EXIT_STATUS_DONE && announce(set, job) < 0)
        status = EXIT_STATUS_FAILED;
    if (status != EXIT_STATUS_DONE) {
        job_free(job);
        note_over(set, queued, status);
        return;
    }
    job->machine = led_job_machine(job->led);
    const struct part_of_job part = {.job = set->newest,
                                     .weight = queued->submission.weight,
                                     .priority = queued->submission.priority,
                                     .machine = &job->machine,
                                     .effects = led_job_effects(job->led)};
    while (*end != NULL)
        end = &(*end)->next;
    *end = job;
    job->driver = link_add(set->link, &part);
    control_note_change(set->control);
}

static void end_jobs(struct set *set)
{
    for (struct set_job **place = &set->jobs; *place != NULL;) {
        struct set_job *job = *place;
        if (job->driver == NULL || driver_goes_on(job->driver)) {
            place = &job->next;
            continue;
        }
        int status = link_remove(set->link, job->driver);
        status = led_job_end(job->led, status);
        remember(set, job);
        status = led_job_settle(job->led, status);
        struct queue_job *queued = job->queued;
        *place = job->next;
        job_free(job);
        note_over(set, queued, status);
    }
}

/* --- the set --- */

static void asked(void *context)
{
    queue_stop(&((struct set *)context)->queue);
}

static void look_idle(struct set *set)
{
    const uint64_t now_ns = runtime_now();
    if (!queue_is_idle(&set->queue))
        set->idle_since_ns = now_ns;
    else if (set->options.idle_ns > 0 && now_ns - set->idle_since_ns > set->options.idle_ns)
        queue_close(&set->queue);
}

static int serve(struct set *set)
{
    const struct job_source source = {.context = set, .asked = asked};
    struct error error;
    set->link = link_open(set->runtime, false);
    if (set->link == NULL)
        return EXIT_STATUS_FAILED;
    link_expect_jobs(set->link, &source);
    status_tell_begun();
    set->idle_since_ns = runtime_now();
    while (!link_is_over(set->link)) {
        struct queue_job *queued;
        link_turn(set->link);
        end_jobs(set);
        while ((queued = queue_next(&set->queue)) != NULL)
            begin(set, queued);
        if (queue_journal_is_due(set->journal))
            queue_journal_commit(set->journal, false, &error);
        look_idle(set);
        if (queue_is_over(&set->queue))
            link_end(set->link);
    }
    link_close(set->link);
    return EXIT_STATUS_DONE;
}

static int open_set(struct set *set)
{
    set->source = (struct control_source){.context = set,
                                          .tell = tell,
                                          .drain = drain,
                                          .set = set->options.name,
                                          .error = &set->error,
                                          .next = next,
                                          .cancel = cancel,
                                          .submit = submit,
                                          .commit = commit,
                                          .output = output,
                                          .close = close_set};
    if (open_state(set) < 0)
        return -1;
    set->control = control_new(runtime_base(set->runtime), set->version, &set->source);
    return set->control != NULL ? 0 : -1;
}

int supermaster_serve(int argc, char **argv, const char *version)
{
    struct set set = {.version = version, .state = -1};
    struct startup startup = {.program = "supermaster", .version = version};
    int status;
    unsigned count;
    startup_take(&startup, serve_options_parse(&set.options, argc, argv, &set.error), &set.error, serve_help_text);
    const struct introduction introduction = {
        .role = ROLE_SUPERMASTER, .version = version, .status = startup.status, .text = startup.text};
    if (startup_ends_here(&startup, &status))
        return status;
    set.runtime = runtime_join(&argc, &argv, &introduction, &status);
    if (set.runtime == NULL) {
        status_tell_end(STATUS_LEAD, status, false);
        return status;
    }
    set.ended = calloc(ENDED_MAX, sizeof *set.ended);
    queue_init(&set.queue, set.options.at_once);
    set.topology = runtime_group(set.runtime, !set.options.group_even);
    status = EXIT_STATUS_DONE;
    if (set.topology == NULL || set.ended == NULL || open_set(&set) < 0) {
        fprintf(stderr, "supermaster: %s\n",
                set.topology == NULL || set.ended == NULL ? "out of memory" : set.error.text);
        status = EXIT_STATUS_USAGE;
    }
    if (runtime_share_job(set.runtime, argc, argv, &status, &count) != NULL) {
        status = serve(&set);
        runtime_wait(set.runtime);
    }
    if (set.control != NULL)
        control_free(set.control, status);
    if (set.journal != NULL)
        queue_journal_close(set.journal);
    queue_fini(&set.queue);
    free(set.ended);
    status_tell_end(STATUS_LEAD, status, runtime_is_degraded(set.runtime));
    runtime_leave(set.runtime, status);
    startup_fini(&startup);
    return status;
}
