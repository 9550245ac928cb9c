/* SPDX-License-Identifier: MIT */
/* A job: one run, as the supermaster's command line describes it. The other ranks receive the words of this command
 * line and parse them with the same code, so there is one grammar and one set of checks. */
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
/* Who writes the results of a pod: its own master, or the supermaster, which receives them from the pod. */
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
    uint64_t first, count;         /* --iterations; `count` is UINT64_MAX without it */
    char power_file[JOB_PATH_MAX]; /* a file name or a list of powers, depending on `spec.power` */
    char output[JOB_PATH_MAX];
    bool output_is_default;
    char report[JOB_PATH_MAX];
    char costs[JOB_PATH_MAX];
    char trace[JOB_PATH_MAX];
    char journal[JOB_PATH_MAX]; /* empty: beside the output, with JOB_JOURNAL_ENDING */
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
    struct address listen; /* TCP address for pods, besides a local socket; an empty host: only the local socket */
    char pods_file[JOB_PATH_MAX];
    /* The run fails if this many pods have joined and no worker is left. No more than these may join. 0: no limit. */
    unsigned await_pods;
    bool log_every_given;
    uint64_t log_every_ns;
    struct findings found;
    /* the value of --technique if it names a plug-in, else NULL; borrowed from the words, like `kernel` */
    const char *plugin;
    const char *kernel;
    unsigned kernel_params;
    const char *kernel_param[JOB_KERNEL_PARAMS_MAX]; /* "name=value"; borrowed from the words or from `max_output` */
    /* --max-output as a parameter of the kernel. `kernel_param` may point to it, so the structure must not be
     * copied. */
    char max_output[40];
};

static inline bool job_resumes(const struct job *job)
{
    return job->earlier == JOB_EARLIER_RESUME || job->earlier == JOB_EARLIER_RESUME_FAILED;
}

void job_init(struct job *job);

/* argv[0] is ignored unless it is a findings_text(). Returns 0, OPTIONS_HELP, OPTIONS_VERSION or -1. The job borrows
 * from argv. The caller checks the kernel, its parameters, and --iterations against the loop. Plug-ins are not loaded:
 * until the caller loads them, the technique is technique_elsewhere(), and of candidates only the texts are known. */
int job_parse(struct job *job, int argc, char *const *argv, struct error *error);

/* Checks a technique's parameters without knowing the loop and the workers. `option`, such as "--technique", begins the
 * error. */
int job_check_technique(const struct job *job, const char *option, const struct sched_spec *spec, struct error *error);

void job_take_output(struct job *job, const struct hdss_loop *loop);

int job_check_files(const struct job *job, struct error *error);

bool job_reports_to_output(const struct job *job);

/* Writes the name of the job's journal to `path`, or "" if there is none. Returns `path`. */
const char *job_journal_path(const struct job *job, char path[JOB_JOURNAL_PATH_MAX]);

const struct options *job_options(void);

/* The caller frees the page for --help. NULL if memory runs out. */
char *job_help_text(void);
