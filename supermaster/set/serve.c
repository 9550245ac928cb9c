/* SPDX-License-Identifier: MIT */
/* The supermaster of a set: its program and its main loop; see serve.h. */
#include "supermaster/set/serve.h"

#include "common/job/startup.h"
#include "common/job/status.h"
#include "common/os/say.h"
#include "proto/message.h"
#include "supermaster/set/items.h"
#include "supermaster/set/jobs.h"
#include "supermaster/set/requests.h"

#include <inttypes.h>
#include <stdio.h>

#define JOURNAL_PAUSE_NS 1000000000u

/* Called after a signal, or after set_stop(). Stops the queue. If the queue was not stopped before, the signal came
 * from outside, and the launcher is told that the set drains. */
static void asked(void *context)
{
    struct set *set = context;
    if (set->queue.mode != QUEUE_STOPPED)
        status_tell_draining();
    queue_stop(&set->queue);
}

static void look_for_workers(struct set *set)
{
    if (!set->options.listens && set->jobs == NULL && runtime_is_degraded(set->runtime) && !link_has_worker(set->link))
        set_desert(set);
}

static void look_idle(struct set *set)
{
    const uint64_t now_ns = runtime_now();
    if (!queue_is_idle(&set->queue))
        set->idle_since_ns = now_ns;
    else if (set->options.idle_ns > 0 && now_ns - set->idle_since_ns > set->options.idle_ns)
        queue_close(&set->queue);
}

/* Commits the journal. If the disk is full, the set continues, but accepts no jobs. */
static void write_journal(struct set *set)
{
    struct error error;
    if (!queue_journal_is_due(set->journal) || (set->journal_fails && runtime_now() < set->journal_next_ns))
        return;
    const bool failed = queue_journal_commit(set->journal, false, &error) < 0;
    if (failed && !set->journal_fails)
        say(stderr, "supermaster: %s; it is tried again", error.text);
    if (failed)
        set->journal_next_ns = runtime_now() + JOURNAL_PAUSE_NS;
    set->journal_fails = failed;
}

/* Completes the open jobs of a closed set. Without this they could never end. */
static void complete_jobs(struct set *set)
{
    if (set->queue.mode != QUEUE_CLOSED || set->queue.open == 0 || runtime_now() < set->completed_next_ns)
        return;
    set->completed_next_ns = runtime_now() + JOURNAL_PAUSE_NS;
    set_complete_items(set);
}

static void begin_jobs(struct set *set)
{
    struct queue_job *queued;
    while (!link_is_over(set->link) && (queued = queue_next(&set->queue)) != NULL)
        set_begin_job(set, queued);
}

static void turn(struct set *set)
{
    link_turn(set->link);
    if (link_is_over(set->link))
        return;
    set_end_jobs(set);
    look_for_workers(set);
    complete_jobs(set);
    set_look_at_loading(set);
    begin_jobs(set);
    write_journal(set);
    look_idle(set);
    if (queue_is_over(&set->queue))
        link_end(set->link);
}

static int end_journal(struct set *set, int status)
{
    struct error error;
    queue_journal_set_over(set->journal);
    if (queue_journal_commit(set->journal, true, &error) == 0)
        return status;
    say(stderr, "supermaster: %s", error.text);
    return EXIT_STATUS_FAILED;
}

static int serve(struct set *set)
{
    struct job_source source = {.context = set, .asked = asked};
    set_pods_fill_source(set, &source);
    set->link = link_open(set->runtime);
    if (set->link == NULL)
        return EXIT_STATUS_FAILED;
    link_expect_jobs(set->link, &source);
    status_tell_begun();
    set->idle_since_ns = runtime_now();
    while (!link_is_over(set->link))
        turn(set);
    set_abandon_jobs(set);
    link_close(set->link);
    set->link = NULL;
    return end_journal(set, queue_is_over(&set->queue) && !set->is_deserted ? EXIT_STATUS_DONE : EXIT_STATUS_FAILED);
}

static void remove_files(void *context, uint32_t id)
{
    set_folder_remove(&((struct set *)context)->folder, id);
}

static void warn_of_metrics_of_set(void *context, const char *line)
{
    (void)context;
    say(stderr, "supermaster: %s", line);
}

static int open_metrics_file_of_set(struct set *set)
{
    struct error error;
    const struct metrics_file_setup setup = {.base = runtime_base(set->runtime),
                                             .path = set->options.metrics_file,
                                             .every_ms = METRICS_FILE_EVERY_MS,
                                             .version = set->version,
                                             .source = &set->source,
                                             .warn = warn_of_metrics_of_set};
    if (setup.path[0] == '\0')
        return 0;
    set->metrics_file = metrics_file_new(&setup, &error);
    return set->metrics_file != NULL ? 0 : error_set(&set->error, "--metrics-file: %.400s", error.text);
}

static void clear_folder(struct set *set)
{
    struct queue *queue = &set->queue;
    const uint32_t newest = set_folder_clear(&set->folder, queue, !set->options.resumes);
    if (queue_journal_warning(set->journal)[0] != '\0')
        say(stderr, "supermaster: %s", queue_journal_warning(set->journal));
    if (newest <= queue->newest)
        return;
    say(stderr,
        "supermaster: %s: knows nothing of job %" PRIu32
        ", which has printed something: what it and others printed stays, and new jobs are numbered from %" PRIu32,
        set->folder.queue_path, newest, newest + 1);
    queue->newest = newest;
}

static int open_parts(struct set *set)
{
    if (set_folder_open(&set->folder, &set->options, &set->error) < 0)
        return -1;
    if (set_pods_open(set, &set->error) < 0)
        return -1;
    const struct serve_options *options = &set->options;
    const enum queue_earlier earlier = options->resumes   ? options->after_loss ? QUEUE_OF_LOST_SET : QUEUE_TAKEN_OVER
                                       : options->forgets ? QUEUE_FORGOTTEN
                                                          : QUEUE_REFUSED;
    set->journal = queue_journal_open(set->folder.queue_path, earlier, &set->queue, set_now_s(), &set->error);
    if (set->journal == NULL || set_mend_items(set, &set->error) < 0)
        return -1;
    clear_folder(set);
    set->queue.on_forget = remove_files;
    set->queue.context = set;
    set->source = set_control_source(set);
    set->control = control_new(runtime_base(set->runtime), set->version, &set->source);
    if (set->control == NULL)
        return -1;
    control_tell_port(set->control, "supermaster");
    return open_metrics_file_of_set(set);
}

static int open_set(struct set *set)
{
    queue_init(&set->queue, set->options.at_once);
    set->topology = runtime_group(set->runtime, set->options.group_even ? TOPOLOGY_EVENLY : TOPOLOGY_BY_NODE);
    if (set->topology == NULL || topology_copy(&set->launch, set->topology) < 0) {
        fprintf(stderr, "supermaster: out of memory for %u ranks\n", runtime_ranks(set->runtime));
        return EXIT_STATUS_FAILED;
    }
    if (topology_check_workers(set->topology, set->options.listens, &set->error) == 0 && open_parts(set) == 0)
        return EXIT_STATUS_DONE;
    say(stderr, "supermaster: %s", set->error.text);
    return set->journal != NULL ? end_journal(set, EXIT_STATUS_USAGE) : EXIT_STATUS_USAGE;
}

static void close_set(struct set *set, int status)
{
    metrics_file_free(set->metrics_file, status);
    control_free(set->control, status);
    set_pods_close(set);
    set_forget_failures(set);
    queue_journal_close(set->journal);
    queue_fini(&set->queue);
    set_folder_close(&set->folder);
    topology_fini(&set->launch);
}

static int run(struct set *set, int argc, char **argv)
{
    unsigned count;
    int status = open_set(set);
    if (runtime_share_job(set->runtime, argc, argv, &status, &count) != NULL) {
        status = serve(set);
        runtime_wait(set->runtime);
    }
    close_set(set, status);
    status_tell_end(STATUS_LEAD, status, runtime_is_degraded(set->runtime));
    runtime_leave(set->runtime, status);
    return status;
}

int supermaster_serve(int argc, char **argv, const char *version)
{
    struct set set = {.version = version, .folder = {.fd = -1}};
    struct startup startup = {.program = "supermaster", .version = version};
    int status;
    startup_take(&startup, serve_options_parse(&set.options, argc, argv, &set.error), &set.error, serve_help_text);
    const struct introduction introduction = {
        .role = ROLE_SUPERMASTER,
        .version = version,
        .status = startup.status,
        .text = startup.text,
        .has_threads = set.options.metrics_file[0] != '\0',
        .listens = set.options.listens,
    };
    if (startup_ends_here(&startup, &status))
        return status;
    set.runtime = runtime_join(&argc, &argv, &introduction, &status);
    if (set.runtime != NULL)
        status = run(&set, argc, argv);
    else
        status_tell_end(STATUS_LEAD, status, false);
    startup_fini(&startup);
    return status;
}
