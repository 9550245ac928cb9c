/* SPDX-License-Identifier: MIT */
/* A job: one run, as the supermaster's command line describes it. The other ranks receive this command line and parse
 * it with the same code. So there is only one grammar, and only one set of checks. */
#pragma once

#include "common/config/address.h"
#include "common/config/findings.h"
#include "common/config/run_spec.h"
#include "common/util/error.h"
#include "hdss/kernel.h"

#include <stdbool.h>
#include <stdint.h>

#define JOB_LOG_EVERY_S       60
#define JOB_LOG_EVERY_MAX_S   86400
#define JOB_PATH_MAX          1024
#define JOB_TRACE_ENDINGS     ".csv or .pftrace"
#define JOB_KERNEL_PARAMS_MAX 64
#define JOB_JOURNAL_ENDING    ".journal"
#define JOB_JOURNAL_PATH_MAX  (JOB_PATH_MAX + 8)

enum job_durability { JOB_DURABILITY_PROCESS, JOB_DURABILITY_NODE };
/* Which rank writes the results of the workers of a pod. THERE: the master of the pod. HERE: the supermaster, to which
 * the pod sends the results. */
enum job_results { JOB_RESULTS_THERE, JOB_RESULTS_HERE };
enum job_earlier { JOB_EARLIER_REFUSE, JOB_EARLIER_RESUME, JOB_EARLIER_RESUME_FAILED, JOB_EARLIER_OVERWRITE };
enum job_summary { JOB_SUMMARY_TEXT, JOB_SUMMARY_JSON, JOB_SUMMARY_NONE };
enum job_progress { JOB_PROGRESS_AUTO, JOB_PROGRESS_ALWAYS, JOB_PROGRESS_NEVER };

struct job {
    struct run_spec spec;
    bool technique_given;
    bool threads_given;
    bool sync_points_given;
    bool thread_technique_given;
    bool verify_action_given;
    uint64_t first, count; /* value of --iterations; if this option is not given, `count` is UINT64_MAX */
    /* value of --power: `spec.power` says whether it is a file name or a list of powers */
    char power_file[JOB_PATH_MAX];
    char output[JOB_PATH_MAX];
    bool output_is_default;
    char report[JOB_PATH_MAX];
    char costs[JOB_PATH_MAX];
    char trace[JOB_PATH_MAX];
    /* name of the journal; if it is empty, the journal has the name of the output with JOB_JOURNAL_ENDING appended */
    char journal[JOB_PATH_MAX];
    bool joins;
    bool join_given;
    bool journal_off;
    enum job_durability durability;
    enum job_results results;
    enum job_earlier earlier;
    enum job_progress progress;
    enum job_summary summary;
    bool control_off;
    struct address http;
    char metrics_file[JOB_PATH_MAX];
    bool listens;
    struct address listen; /* TCP address at which pods join; if its host is empty, pods join only by a local socket */
    char pods_file[JOB_PATH_MAX];
    /* Limit for the number of pods that join; 0: no limit. After that many pods have joined, the run fails if no worker
     * remains. */
    unsigned await_pods;
    bool log_every_given;
    uint64_t log_every_ns;
    struct findings found;
    /* value of --technique if it names a plug-in, otherwise NULL; borrowed from the command line, as `kernel` is */
    const char *plugin;
    const char *kernel;
    unsigned kernel_params;
    /* words "name=value"; borrowed from the command line or from `max_output` */
    const char *kernel_param[JOB_KERNEL_PARAMS_MAX];
    /* The value of --max-output as a parameter of the kernel. `kernel_param` may point to it, so a struct job must not
     * be copied. */
    char max_output[40];
};

static inline bool job_resumes(const struct job *job)
{
    return job->earlier == JOB_EARLIER_RESUME || job->earlier == JOB_EARLIER_RESUME_FAILED;
}

void job_init(struct job *job);

/* Parses a command line. The job borrows from the command line. argv[0] is ignored unless findings_text() has made it.
 * Returns 0, OPTIONS_HELP, OPTIONS_VERSION or -1.
 *
 * Does not check the kernel and its parameters, and does not compare --iterations with the loop. Loads no plug-ins: if
 * --technique names a plug-in, the technique is technique_elsewhere() until the caller loads the plug-in. Plug-ins of
 * --candidate are stored only as text. */
int job_parse(struct job *job, int argc, char *const *argv, struct error *error);

/* Makes those checks of a technique's parameters that need neither the loop nor the workers. The error begins with
 * `option`, for example "--technique". */
int job_check_technique(const struct job *job, const char *option, const struct sched_spec *spec, struct error *error);

void job_take_output(struct job *job, const struct hdss_loop *loop);

int job_check_files(const struct job *job, struct error *error);

bool job_reports_to_output(const struct job *job);

/* Writes the name of the job's journal to `path`, or "" if there is none. Returns `path`. */
const char *job_journal_path(const struct job *job, char path[JOB_JOURNAL_PATH_MAX]);

const struct options *job_options(void);

/* Returns the page for --help, which the caller frees; NULL if memory runs out. */
char *job_help_text(void);
