/* SPDX-License-Identifier: MIT */
/* The running jobs of a set: see jobs.h. A job has one number in the queue and another one for the other ranks. The
 * numbers for the ranks must ascend in the order in which jobs begin, and that order depends on priorities. The output
 * of a job goes to files in the folder of the set. If a job has no such files, its errors go to the standard error of
 * the set. */
#include "supermaster/set/jobs.h"

#include "common/job/status.h"
#include "common/job/terminal.h"
#include "common/os/say.h"
#include "proto/announcement.h"
#include "proto/message.h"
#include "supermaster/lead/job.h"
#include "supermaster/set/items.h"
#include "supermaster/set/queue_format.h"
#include "supermaster/set/words.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct set_job {
    struct set_job *next;
    struct queue_job *queued; /* owned by the queue; it keeps the job at least until it is told that the job is over */
    struct job_words words;
    struct topology topology;
    struct led_job *led; /* owned */
    struct driver *driver;
    struct machine machine;
    uint64_t failures;
    FILE *out, *err; /* owned, like `folder` */
    int folder;

    struct event *news; /* owned; NULL unless the kernel of the job is being loaded */
    uint64_t loads_since_ns;
    bool load_is_told;
};

/* LOAD_TOLD_NS: a message is printed if a kernel takes longer than this to load. LOAD_LOOK_S: seconds between two
 * checks whether a kernel is loaded. */
#define LOAD_TOLD_NS UINT64_C(10000000000)
#define LOAD_LOOK_S  1

static void say_of_job(const struct queue_job *queued, const char *what, const char *why)
{
    say(stderr, "supermaster: job %" PRIu32 ": %s%s%s", queued->id, what, why[0] != '\0' ? ": " : "", why);
}

static int fail(const struct set_job *job, int status, const char *text)
{
    say(job->err, "%s: %s", led_job_root(job->led)->name, text);
    return status;
}

static void close_stream(const struct queue_job *queued, FILE *stream)
{
    if (stream == NULL)
        return;
    const bool failed = ferror(stream);
    if (fclose(stream) != 0 || failed)
        say_of_job(queued, "cannot write all that it prints", errno != 0 ? strerror(errno) : "");
}

static void job_free(struct set_job *job)
{
    if (job == NULL)
        return;
    if (job->news != NULL)
        event_free(job->news);
    led_job_free(job->led);
    topology_fini(&job->topology);
    errno = 0;
    close_stream(job->queued, job->out);
    close_stream(job->queued, job->err);
    if (job->folder >= 0)
        close(job->folder);
    job_words_fini(&job->words);
    free(job);
}

static FILE *open_stream(const struct set *set, const struct queue_job *queued, enum control_stream stream)
{
    const int file = set_folder_write(&set->folder, queued->id, stream, queued->has_run);
    FILE *opened = file >= 0 ? fdopen(file, "w") : NULL;
    if (opened == NULL)
        say_of_job(queued, "cannot write what it prints", strerror(errno));
    if (opened == NULL && file >= 0)
        close(file);
    return opened;
}

static int make_words(const struct set *set, const struct queue_job *queued, bool resumes, struct job_words *words)
{
    char list[PATH_MAX];
    const bool takes_rows = submission_takes_rows(&queued->submission);
    const struct job_additions additions = {.resumes = resumes,
                                            .list = takes_rows ? set_folder_list(&set->folder, queued->id, list) : NULL,
                                            .added = queued->items.count};
    return job_words_init(words, &queued->submission, &additions);
}

static struct set_job *job_new(const struct set *set, struct queue_job *queued)
{
    struct set_job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        say_of_job(queued, "out of memory", "");
        return NULL;
    }
    *job = (struct set_job){.queued = queued, .folder = -1};
    job->led = led_job_new(set->version);
    if (job->led == NULL || make_words(set, queued, false, &job->words) < 0)
        say_of_job(queued, "out of memory", "");
    else if ((job->out = open_stream(set, queued, CONTROL_OUT)) != NULL)
        job->err = open_stream(set, queued, CONTROL_ERR);
    if (job->err != NULL)
        return job;
    job_free(job);
    return NULL;
}

static void place(const struct set *set, struct set_job *job)
{
    const struct queue_job *queued = job->queued;
    const struct led_number number = {.set = set->options.name,
                                      .id = queued->id,
                                      .has_run = queued->has_run,
                                      .default_name = submission_takes_rows(&queued->submission) ? "exec.out" : NULL};
    root_use_streams(led_job_root(job->led), job->out, job->err);
    led_job_place(job->led, job->folder, queued->submission.umask, queued->submission.environment, false);
    led_job_number(job->led, &number);
    if (queued->submission.is_open)
        led_job_expect_more(job->led);
}

static bool has_journal(const struct set_job *job)
{
    char path[JOB_JOURNAL_PATH_MAX];
    return job->queued->has_run && job_journal_path(&led_job_root(job->led)->setup.job, path)[0] != '\0' &&
           faccessat(job->folder, path, F_OK, 0) == 0;
}

static int resume(const struct set *set, struct set_job *job)
{
    struct job_words words;
    struct led_job *led = led_job_new(set->version);
    if (led == NULL || make_words(set, job->queued, true, &words) < 0) {
        led_job_free(led);
        return error_set(&led_job_root(job->led)->error, "out of memory");
    }
    struct led_job *const before = job->led;
    job_words_fini(&job->words);
    job->led = led;
    job->words = words;
    place(set, job);
    led_job_take_kernel(job->led, before);
    led_job_free(before);
    return led_job_read(job->led, job->words.argc, job->words.argv);
}

static int enter(const struct set *set, struct set_job *job)
{
    struct error error;
    const char *folder = job->queued->submission.folder;
    job->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (job->folder < 0) {
        error_set(&error, "the folder %.300s: %s", folder, strerror(errno));
        return fail(job, EXIT_STATUS_USAGE, error.text);
    }
    place(set, job);
    return EXIT_STATUS_DONE;
}

/* Parses the words of the job and queries the kernel. Prints errors, but none if the kernel is still being loaded.
 * Returns an exit status. */
static int learn(struct set *set, struct set_job *job)
{
    int result = led_job_read(job->led, job->words.argc, job->words.argv);
    if (result != 0 && led_job_is_loading(job->led))
        return EXIT_STATUS_USAGE;
    if (result == 0 && has_journal(job))
        result = resume(set, job);
    struct root *root = led_job_root(job->led);
    if (result == 0)
        result = job_setup_check_for_set(&root->setup, &root->error);
    return result == 0 ? EXIT_STATUS_DONE : fail(job, EXIT_STATUS_USAGE, root->error.text);
}

static bool has_to_wait(struct set *set, const struct set_job *job)
{
    if (!job_setup_is_dependent(&led_job_root(job->led)->setup))
        return false;
    queue_keep_alone(job->queued);
    return queue_next(&set->queue) != job->queued;
}

/* Returns true if pods can take part in the job. They cannot if the loop has dependencies: its workers exchange
 * boundary data over MPI, which does not reach other launches. */
static bool takes_pods(const struct set_job *job)
{
    return !job_setup_is_dependent(&led_job_root(job->led)->setup);
}

static int prepare(struct set *set, struct set_job *job)
{
    struct root *root = led_job_root(job->led);
    root->rank = runtime_rank(set->runtime);
    terminal_init(&root->terminal, &root->setup.job);
    if (!takes_pods(job) && set->launch.workers == 0)
        return fail(job, EXIT_STATUS_USAGE,
                    "its iterations depend on one another, and pods take no part in such loops: start the set without "
                    "--pods-only");
    if (topology_copy(&job->topology, &set->launch) < 0 ||
        (takes_pods(job) && link_append_pods(set->link, &job->topology) < 0))
        return fail(job, EXIT_STATUS_FAILED, "out of memory");
    if (set->options.listens && takes_pods(job))
        led_job_expect_pods(job->led);
    return led_job_prepare(job->led, set->runtime, &job->topology);
}

static int announce(struct set *set, struct set_job *job)
{
    const struct submission *submission = &job->queued->submission;
    struct announcement about = {.weight = submission->weight,
                                 .priority = submission->priority,
                                 .umask = submission->umask,
                                 .folder = submission->folder,
                                 .environment = submission->environment,
                                 .variable_count = (unsigned)submission->environment_count};
    return led_job_announce(job->led, set->link, ++set->newest, &about, takes_pods(job));
}

static void add(struct set *set, struct set_job *job)
{
    struct set_job **end = &set->jobs;
    job->machine = led_job_machine(job->led);
    const struct part_of_job part = {.job = set->newest,
                                     .weight = job->queued->submission.weight,
                                     .priority = job->queued->submission.priority,
                                     .machine = &job->machine,
                                     .effects = led_job_effects(job->led)};
    job->driver = link_add(set->link, &part);
    if (job->driver == NULL) {
        job_free(job);
        return;
    }
    while (*end != NULL)
        end = &(*end)->next;
    *end = job;
    set_tell_more(set, job->queued);
}

static void keep_last_line(const struct set *set, struct queue_job *queued)
{
    static const char program[] = "supermaster: ";
    char text[QUEUE_FIGURE_TEXT] = "";
    const int file = set_folder_read(&set->folder, queued->id, CONTROL_ERR);
    const off_t size = file >= 0 ? lseek(file, 0, SEEK_END) : 0, most = (off_t)sizeof text - 1;
    ssize_t count = size > 0 ? pread(file, text, sizeof text - 1, size > most ? size - most : 0) : 0;
    if (file >= 0)
        close(file);
    while (count > 0 && text[count - 1] == '\n')
        text[--count] = '\0';
    const char *end = strrchr(text, '\n'), *line = end != NULL ? end + 1 : text;
    queue_keep_text(queued, QUEUE_REASON, line + (strncmp(line, program, strlen(program)) == 0 ? strlen(program) : 0));
}

static void note_over(struct set *set, struct queue_job *queued, int status)
{
    if (status != EXIT_STATUS_DONE && status != EXIT_STATUS_DRAINED && queued->figures.texts[QUEUE_REASON] == NULL)
        keep_last_line(set, queued);
    if (!queue_over(&set->queue, queued, status, set_now_s()))
        return;
    queue_journal_over(set->journal, queued);
    set_end_items(set, queued);
}

static void begin(struct set *set, struct queue_job *queued, struct set_job *job, int status)
{
    if (status == EXIT_STATUS_DONE && has_to_wait(set, job)) {
        job_free(job);
        return;
    }
    queue_begun(&set->queue, queued, set_now_s());
    queue_journal_begun(set->journal, queued);
    if (status == EXIT_STATUS_DONE)
        status = prepare(set, job);
    if (status == EXIT_STATUS_DONE)
        status = announce(set, job);
    if (status == EXIT_STATUS_DONE)
        add(set, job);
    else {
        job_free(job);
        note_over(set, queued, status == HELLO_STATUS_HELP ? EXIT_STATUS_DONE : status);
    }
    control_note_change(set->control);
}

static void on_load_news(evutil_socket_t unused, short what, void *context)
{
    (void)unused, (void)what, (void)context;
}

/* Wakes the set once: after news of the kernel that is being loaded, or after LOAD_LOOK_S. A persistent event would
 * keep the event loop busy. */
static bool await_load_news(struct set_job *job)
{
    const struct timeval look = {.tv_sec = LOAD_LOOK_S};
    return event_pending(job->news, EV_READ | EV_TIMEOUT, NULL) || event_add(job->news, &look) == 0;
}

static bool let_load(struct set *set, struct set_job *job)
{
    job->news = event_new(runtime_base(set->runtime), led_job_loading_socket(job->led), EV_READ, on_load_news, NULL);
    if (job->news == NULL || !await_load_news(job))
        return false;
    job->loads_since_ns = runtime_now();
    job->next = set->loading;
    set->loading = job;
    return true;
}

static void tell_load(struct set_job *job)
{
    if (job->load_is_told || runtime_now() - job->loads_since_ns < LOAD_TOLD_NS)
        return;
    job->load_is_told = true;
    say(job->err,
        "supermaster: kernel %s: it is being loaded for %g s by now, and is waited for; `hdss cancel` ends that",
        submission_kernel(&job->queued->submission), (double)LOAD_TOLD_NS / 1e9);
    fflush(job->err);
}

static void begin_or_load(struct set *set, struct queue_job *queued, struct set_job *job)
{
    const int status = learn(set, job);
    if (status == EXIT_STATUS_DONE || !led_job_is_loading(job->led))
        begin(set, queued, job, status);
    else if (let_load(set, job)) {
        queue_begun(&set->queue, queued, set_now_s());
        control_note_change(set->control);
    } else
        begin(set, queued, job, fail(job, EXIT_STATUS_FAILED, "out of memory"));
}

static void end_load(struct set *set, struct set_job *job)
{
    struct queue_job *queued = job->queued;
    event_free(job->news);
    job->news = NULL;
    if (queued->is_cancelled) {
        job_free(job);
        note_over(set, queued, EXIT_STATUS_DRAINED);
        control_note_change(set->control);
        return;
    }
    queue_put_back(&set->queue, queued, queued->has_run);
    if (set->queue.mode == QUEUE_STOPPED)
        job_free(job);
    else
        begin_or_load(set, queued, job);
}

void set_look_at_loading(struct set *set)
{
    for (struct set_job **place = &set->loading; *place != NULL && !link_is_over(set->link);) {
        struct set_job *job = *place;
        if (!led_job_has_loaded(job->led) && !job->queued->is_cancelled && set->queue.mode != QUEUE_STOPPED) {
            tell_load(job);
            await_load_news(job);
            place = &job->next;
            continue;
        }
        *place = job->next;
        job->next = NULL;
        end_load(set, job);
    }
}

void set_begin_job(struct set *set, struct queue_job *queued)
{
    struct set_job *job = job_new(set, queued);
    const int status = job != NULL ? enter(set, job) : EXIT_STATUS_FAILED;
    if (status == EXIT_STATUS_DONE)
        begin_or_load(set, queued, job);
    else
        begin(set, queued, job, status);
}

static struct set_job *find_running(const struct set *set, uint32_t id)
{
    struct set_job *job = set->jobs;
    while (job != NULL && job->queued->id != id)
        job = job->next;
    return job;
}

/* A worker that has a chunk of a job with a higher priority does not compute for this job. So at most the remaining
 * workers count as busy for this job. If no workers remain, the job waits. */
static void tell_waiting(const struct set *set, const struct set_job *job, struct control_job *told)
{
    struct progress *progress = &told->progress;
    const bool has_more = progress->done + told->failed < progress->total;
    unsigned above = 0;
    for (const struct set_job *other = set->jobs; other != NULL; other = other->next)
        if (other->queued->submission.priority > job->queued->submission.priority)
            above += led_job_busy(other->led);
    const unsigned left = above < progress->workers ? progress->workers - above : 0;
    progress->busy = progress->busy < left ? progress->busy : left;
    if (progress->workers == 0)
        told->waits_for = "workers";
    else if (left == 0 && has_more)
        told->waits_for = "priority";
    else if (!has_more && progress->grows && progress->busy == 0 && queue_is_open(job->queued))
        told->waits_for = job->queued->items.bytes > 0 ? "rows" : "iterations";
}

bool set_tell_running(const struct set *set, uint32_t id, struct control_job *told)
{
    const struct set_job *job = find_running(set, id);
    if (job == NULL)
        return false;
    led_job_tell(job->led, told);
    tell_waiting(set, job, told);
    return true;
}

bool set_tell_rank(const struct set *set, uint32_t id, uint64_t place, struct rank_figures *rank)
{
    const struct set_job *job = find_running(set, id);
    return job != NULL && led_job_tell_rank(job->led, place, rank);
}

bool set_tell_failure(const struct set *set, uint32_t id, uint64_t place, struct failure_figures *failure)
{
    const struct set_job *job = find_running(set, id);
    if (job != NULL)
        return led_job_tell_failure(job->led, place, failure);
    for (unsigned i = 0; i < SET_FAILURES_MAX; i++)
        if (id != 0 && set->failures[i].job == id)
            return given_up_tell(&set->failures[i].given_up, set->topology, place, failure);
    return false;
}

void set_forget_failures(struct set *set)
{
    for (unsigned i = 0; i < SET_FAILURES_MAX; i++)
        given_up_fini(&set->failures[i].given_up);
}

size_t set_list_running(const struct set *set, uint64_t *ids, size_t most)
{
    size_t count = 0;
    for (const struct set_job *job = set->jobs; job != NULL && count < most; job = job->next)
        ids[count++] = job->queued->id;
    return count;
}

void set_tell_more(const struct set *set, const struct queue_job *queued)
{
    const struct set_job *job = queued->submission.is_open ? find_running(set, queued->id) : NULL;
    if (job == NULL)
        return;
    led_job_note_added(job->led, queued->items.count, queued->items.is_complete);
    driver_tell_more(job->driver);
}

void set_drain_job(const struct set *set, uint32_t id, bool now)
{
    const struct set_job *job = find_running(set, id);
    if (job != NULL)
        driver_drain(job->driver, now);
}

int set_reserve(const struct set *set, unsigned workers)
{
    for (const struct set_job *job = set->jobs; job != NULL; job = job->next)
        if (takes_pods(job) && led_job_reserve(job->led, workers) < 0)
            return -1;
    return 0;
}

void set_tell_joined(const struct set *set, const struct link_pod *pod)
{
    for (struct set_job *job = set->jobs; job != NULL; job = job->next) {
        if (!takes_pods(job))
            continue;
        /* If memory runs out here, the job continues without the pod. */
        if (topology_append(&job->topology, pod->first_rank, pod->workers + 1, pod->node_rank) < 0) {
            say_of_job(job->queued, "out of memory for a pod", "");
            continue;
        }
        led_job_note_joined(job->led);
        driver_tell_joined(job->driver);
    }
}

void set_tell_leaving(const struct set *set, unsigned master, bool now)
{
    for (const struct set_job *job = set->jobs; job != NULL; job = job->next)
        driver_tell_leaving(job->driver, master, now);
}

void set_stop(struct set *set)
{
    queue_stop(&set->queue);
    raise(SIGTERM);
}

void set_desert(struct set *set)
{
    if (!set->is_deserted)
        fprintf(stderr, "supermaster: all workers are lost: the set ends\n");
    set->is_deserted = true;
    queue_stop(&set->queue);
}

static void keep_figures(const struct set_job *job)
{
    struct control_job told = {.status = -1};
    char reason[LED_REASON_MAX];
    led_job_tell(job->led, &told);
    const struct queue_figures figures = {.done = told.progress.done,
                                          .total = told.progress.total,
                                          .resumed = told.progress.resumed,
                                          .failed = told.failed,
                                          .elapsed_s = told.progress.elapsed_s,
                                          .texts = {[QUEUE_TECHNIQUE] = told.technique,
                                                    [QUEUE_OUTPUT] = told.output,
                                                    [QUEUE_REASON] = led_job_reason(job->led, reason)}};
    queue_keep_figures(job->queued, &figures);
}

static void keep_failures(struct set *set, const struct set_job *job)
{
    struct set_failures *failures = &set->failures[set->failures_next];
    if (led_job_failures(job->led) == 0)
        return;
    given_up_fini(&failures->given_up);
    *failures = (struct set_failures){job->queued->id, led_job_take_given_up(job->led)};
    set->failures_next = (set->failures_next + 1) % SET_FAILURES_MAX;
}

/* Returns true if the set is known to have workers. Lost workers may have come back. If the set has masters, this rank
 * does not know whether there are workers, and the function returns false. */
static bool has_workers(const struct set *set)
{
    return topology_is_central(&set->launch) && link_has_worker(set->link);
}

/* Returns the exit status with which the job ends in the queue.
 *
 * If the job has lost all workers, none has come back and no pod can join, the set ends, because it cannot run other
 * jobs either. If the job has a journal, it then waits for the next set. If it has no journal, it fails: it might have
 * killed the workers, and might do the same in the next set.
 *
 * If the job has drained although nobody has cancelled it, another rank has got a signal. Then the set stops. */
static int status_for_queue(struct set *set, const struct set_job *job, int status)
{
    bool keeps_journal;
    if (led_job_is_deserted(job->led, &keeps_journal) && !set->options.listens && !has_workers(set)) {
        set_desert(set);
        return keeps_journal ? EXIT_STATUS_DRAINED : status;
    }
    if (status == EXIT_STATUS_DRAINED && !job->queued->is_cancelled && set->queue.mode != QUEUE_STOPPED) {
        status_tell_draining();
        set_stop(set);
    }
    return status;
}

/* Returns true if the job restarts from its journal with the present ranks. It does so after the loss of a rank that it
 * needs. It also does so after the loss of all its workers, if the set has workers again. */
static bool begins_again(const struct set *set, const struct set_job *job, int status)
{
    bool keeps_journal;
    const bool is_deserted = led_job_is_deserted(job->led, &keeps_journal) && keeps_journal && has_workers(set);
    return status == EXIT_STATUS_FAILED && (led_job_is_interrupted(job->led) || is_deserted) &&
           !job->queued->is_cancelled && set->queue.mode != QUEUE_STOPPED;
}

/* Ends a job. The job's own journal is removed last, after its output and its end in the queue's journal are written.
 * If the set is killed in between, one of the two journals still tells the next set that the job is done. */
static void end_job(struct set *set, struct set_job *job)
{
    struct queue_job *queued = job->queued;
    struct error error;
    int status = led_job_end(job->led, link_remove(set->link, job->driver));
    keep_figures(job);
    status = status_for_queue(set, job, led_job_settle(job->led, status));
    fflush(job->out);
    fflush(job->err);
    if (begins_again(set, job, status))
        queue_put_back(&set->queue, queued, true);
    else
        note_over(set, queued, status);
    queue_journal_commit(set->journal, false, &error); /* if this commit fails, the main loop soon tries again */
    led_job_clear_away(job->led, status);
    keep_failures(set, job);
    job_free(job);
    control_note_change(set->control);
}

static void look_at_failures(struct set *set, struct set_job *job)
{
    const uint64_t failures = led_job_failures(job->led);
    if (failures != job->failures)
        control_note_change(set->control);
    job->failures = failures;
}

void set_end_jobs(struct set *set)
{
    for (struct set_job **place = &set->jobs; *place != NULL;) {
        struct set_job *job = *place;
        look_at_failures(set, job);
        if (driver_goes_on(job->driver))
            place = &job->next;
        else {
            *place = job->next;
            end_job(set, job);
        }
    }
}

void set_abandon_jobs(struct set *set)
{
    while (set->jobs != NULL) {
        struct set_job *job = set->jobs;
        set->jobs = job->next;
        link_remove(set->link, job->driver);
        job_free(job);
    }
    while (set->loading != NULL) {
        struct set_job *job = set->loading;
        set->loading = job->next;
        job_free(job);
    }
}
