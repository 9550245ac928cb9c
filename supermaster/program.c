/* SPDX-License-Identifier: MIT */
/* The supermaster program: reads the job, shares it, runs the supermaster's machine, and prints the outcome. */
#include "supermaster/program.h"

#include "common/config/job.h"
#include "common/config/run_spec.h"
#include "common/config/serve_options.h"
#include "common/control/control.h"
#include "common/control/metrics_file.h"
#include "common/job/root.h"
#include "common/job/startup.h"
#include "common/job/status.h"
#include "common/job/terminal.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/mpi/runtime.h"
#include "common/os/say.h"
#include "common/util/error.h"
#include "proto/message.h"
#include "supermaster/lead/elastic.h"
#include "supermaster/lead/job.h"
#include "supermaster/set/serve.h"
#include "worker/job/beside.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

struct program {
    struct runtime *runtime;
    const struct topology *topology;
    struct led_job *led;
    struct elastic elastic;
    struct control *control; /* owned, like `metrics_file`; both may be NULL */
    struct metrics_file *metrics_file;
    struct control_source control_source;
    struct error source_error;
    char *const *word;
    unsigned words;
    const char *version;
};

static void tell_job(void *context, struct control_job *job)
{
    led_job_tell(((struct program *)context)->led, job);
}

static bool tell_rank(void *context, uint64_t job, uint64_t place, struct rank_figures *rank)
{
    (void)job;
    return led_job_tell_rank(((struct program *)context)->led, place, rank);
}

static bool tell_failure(void *context, uint64_t job, uint64_t place, struct failure_figures *failure)
{
    (void)job;
    return led_job_tell_failure(((struct program *)context)->led, place, failure);
}

static bool tell_pod(void *context, uint64_t place, struct pod_figures *pod)
{
    return pods_door_tell(((struct program *)context)->elastic.link, place, pod);
}

static bool send_pod_away(void *context, uint64_t pod, bool finishes)
{
    return elastic_send_away(&((struct program *)context)->elastic, (unsigned)pod, !finishes);
}

static void drain_job(void *context)
{
    (void)context;
    raise(SIGTERM);
}

/* Opens the control socket. If this fails, the run continues without the socket, except if the user has requested a
 * port. Returns an exit status. */
static int open_control(struct program *program)
{
    const struct root *root = led_job_root(program->led);
    const struct job *job = &root->setup.job;
    const bool has_port = job->http.host[0] != '\0';
    if (job->control_off)
        return EXIT_STATUS_DONE;
    program->control = control_new(runtime_base(program->runtime), program->version, &program->control_source);
    if (program->control != NULL)
        control_tell_port(program->control, root->name);
    else if (has_port) {
        say(stderr, "%s: --http: %s", root->name, program->source_error.text);
        return EXIT_STATUS_USAGE;
    }
    return EXIT_STATUS_DONE;
}

static void warn_of_metrics(void *context, const char *line)
{
    struct root *root = led_job_root(((struct program *)context)->led);
    root_print_failure(root, line, root->rank);
}

static int open_metrics_file(struct program *program)
{
    const struct root *root = led_job_root(program->led);
    struct error error;
    const struct metrics_file_setup setup = {.base = runtime_base(program->runtime),
                                             .path = root->setup.job.metrics_file,
                                             .every_ms = METRICS_FILE_EVERY_MS,
                                             .version = program->version,
                                             .source = &program->control_source,
                                             .warn = warn_of_metrics,
                                             .context = program};
    if (setup.path[0] == '\0')
        return EXIT_STATUS_DONE;
    program->metrics_file = metrics_file_new(&setup, &error);
    if (program->metrics_file != NULL)
        return EXIT_STATUS_DONE;
    say(stderr, "%s: --metrics-file: %s", root->name, error.text);
    return EXIT_STATUS_USAGE;
}

static int open_to_others(struct program *program)
{
    const struct job *job = &led_job_root(program->led)->setup.job;
    program->control_source = (struct control_source){.context = program,
                                                      .tell = tell_job,
                                                      .drain = drain_job,
                                                      .rank = tell_rank,
                                                      .failure = tell_failure,
                                                      .masters = program->topology->masters,
                                                      .workers = program->topology->workers,
                                                      .http = job->http.host[0] != '\0' ? &job->http : NULL,
                                                      .error = &program->source_error};
    if (job->listens) {
        program->control_source.pod = tell_pod;
        program->control_source.leave = send_pod_away;
        program->control_source.pods_file = program->elastic.door.ticket;
    }
    const int status = open_control(program);
    return status == EXIT_STATUS_DONE ? open_metrics_file(program) : status;
}

static int prepare(struct program *program)
{
    struct root *root = led_job_root(program->led);
    struct error error;
    program->topology = runtime_group(program->runtime, job_setup_grouping(&root->setup));
    if (program->topology == NULL) {
        say(stderr, "%s: out of memory for %u ranks", root->name, runtime_ranks(program->runtime));
        return EXIT_STATUS_FAILED;
    }
    if (topology_check_workers(program->topology, root->setup.job.listens, &error) < 0) {
        say(stderr, "hdss: %s", error.text);
        return EXIT_STATUS_USAGE;
    }
    if (root->setup.job.listens)
        return elastic_prepare(&program->elastic, program->led, program->runtime, program->topology);
    return led_job_prepare(program->led, program->runtime, program->topology);
}

/* Shares the job with all ranks, or tells them that there is no job. Returns false if there is no job; the caller must
 * then leave with `*status`. */
static bool share(struct program *program, int argc, char **argv, int *status)
{
    char **words = *status == EXIT_STATUS_DONE ? led_job_words(program->led, &argc) : NULL;
    program->word = runtime_share_job(program->runtime, argc, words != NULL ? words : argv, status, &program->words);
    free(words);
    return program->word != NULL;
}

static int share_and_run(struct program *program, int argc, char **argv)
{
    int status = prepare(program);
    if (status == EXIT_STATUS_DONE)
        status = open_to_others(program);
    if (led_job_root(program->led)->setup.job.listens)
        return elastic_share(&program->elastic, &status) ? led_job_end(program->led, elastic_drive(&program->elastic))
                                                         : status;
    if (!share(program, argc, argv, &status))
        return status;
    const struct machine machine = led_job_machine(program->led);
    status = worker_job_drive_beside(program->runtime, program->topology, program->words, program->word, &machine,
                                     led_job_effects(program->led), NULL);
    return led_job_end(program->led, status);
}

/* Returns true if the run can restart from its journal. This is possible after the loss of a rank that the run needs,
 * and after the loss of all workers. A run that listens for pods does not restart after the loss of all workers,
 * because it cannot launch the workers of pods. */
static bool can_begin_again(const struct program *program)
{
    bool keeps_journal;
    const bool is_deserted = led_job_is_deserted(program->led, &keeps_journal) && keeps_journal;
    return led_job_is_interrupted(program->led) || (is_deserted && !led_job_root(program->led)->setup.job.listens);
}

/* Completes the files and messages of the run. This must happen before MPI_Finalize(): after SIGTERM a launcher no
 * longer answers MPI_Finalize(), and kills processes that wait in it. */
static int finish(struct program *program, int status)
{
    runtime_wait(program->runtime);
    status = led_job_settle(program->led, status);
    if (can_begin_again(program))
        status_tell_again();
    led_job_clear_away(program->led, status);
    metrics_file_free(program->metrics_file, status);
    control_free(program->control, status);
    elastic_close(&program->elastic);
    status_tell_end(STATUS_LEAD, status, runtime_is_degraded(program->runtime));
    return status;
}

int supermaster_program(int argc, char **argv, const char *version)
{
    if (serve_is_asked(argc, argv)) {
        runtime_remember_signals(status_tell_draining);
        return supermaster_serve(argc, argv, version);
    }
    struct program program = {.led = led_job_new(version), .version = version};
    runtime_remember_signals(status_tell_draining);
    if (program.led == NULL) {
        fprintf(stderr, "supermaster: out of memory\n");
        return EXIT_STATUS_FAILED;
    }
    struct root *root = led_job_root(program.led);
    struct startup startup = {.program = "supermaster", .version = version};
    startup_take(&startup, led_job_read(program.led, argc, argv), &root->error, job_help_text);
    const struct introduction introduction = {
        .role = ROLE_SUPERMASTER,
        .version = version,
        .status = startup.status,
        .text = startup.text,
        .has_threads = root->setup.job.metrics_file[0] != '\0',
        .listens = root->setup.job.listens,
    };
    int status;
    if (startup_ends_here(&startup, &status))
        return status;
    program.runtime = runtime_join(&argc, &argv, &introduction, &status);
    if (program.runtime != NULL) {
        root->rank = runtime_rank(program.runtime);
        terminal_init(&root->terminal, &root->setup.job);
        status = finish(&program, share_and_run(&program, argc, argv));
        led_job_free(program.led);
        elastic_fini(&program.elastic);
        /* must come after the other clean-up, because the machine borrows the topology of the runtime */
        runtime_leave(program.runtime, status);
    } else {
        led_job_free(program.led);
        status_tell_end(STATUS_LEAD, status, false);
    }
    startup_fini(&startup);
    return status;
}
