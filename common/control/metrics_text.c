/* SPDX-License-Identifier: MIT */
/* Metrics as text: see metrics_text.h. The two formats differ in how they announce counter families (OpenMetrics:
 * without _total), in the type of infos, and in the last line. All samples of a family must be adjacent, so each family
 * iterates over all jobs. node-exporter merges several files and rejects equal samples. So each sample has the label
 * `session`. */
#include "common/control/metrics_text.h"

#include "common/util/text.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define LABEL_MAX 256 /* in bytes; longer values are truncated */

enum family_type { FAMILY_GAUGE, FAMILY_COUNTER, FAMILY_INFO };

struct writer {
    struct text text;
    enum metrics_format format;
    const char *session;
};

const char *metrics_type(enum metrics_format format)
{
    return format == METRICS_OPEN ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                  : "text/plain; version=0.0.4; charset=utf-8";
}

enum metrics_format metrics_wanted(const char *accept)
{
    return accept != NULL && strstr(accept, "application/openmetrics-text") != NULL ? METRICS_OPEN : METRICS_PROMETHEUS;
}

static const char *ending_of(enum family_type type)
{
    return type == FAMILY_COUNTER ? "_total" : type == FAMILY_INFO ? "_info" : "";
}

static void begin_family(struct writer *writer, const char *name, enum family_type type, const char *unit,
                         const char *help)
{
    static const char *const types[] = {"gauge", "counter", "info"};
    const bool is_open = writer->format == METRICS_OPEN;
    const char *ending = is_open ? "" : ending_of(type);
    text_add(&writer->text, "# HELP %s%s %s\n", name, ending, help);
    text_add(&writer->text, "# TYPE %s%s %s\n", name, ending,
             is_open || type != FAMILY_INFO ? types[type] : types[FAMILY_GAUGE]);
    if (is_open && unit[0] != '\0')
        text_add(&writer->text, "# UNIT %s %s\n", name, unit);
}

/* Adds a label. A NULL value counts as empty. Control characters, and bytes that are not valid UTF-8, become '?'. */
static void add_label(struct writer *writer, const char *before, const char *name, const char *value)
{
    value = value != NULL ? value : "";
    char escaped[2 * LABEL_MAX + 1];
    json_t *utf8 = json_string(value);
    size_t length = 0, end = strlen(value);
    if (end > LABEL_MAX)
        for (end = LABEL_MAX; end > 0 && ((unsigned char)value[end] & 0xc0) == 0x80; end--)
            ;
    for (size_t i = 0; i < end; i++) {
        const unsigned char byte = (unsigned char)value[i];
        if (byte == '"' || byte == '\\')
            escaped[length++] = '\\';
        escaped[length++] = byte < ' ' || byte == 0x7f || (byte >= 0x80 && utf8 == NULL) ? '?' : value[i];
    }
    escaped[length] = '\0';
    json_decref(utf8);
    text_add(&writer->text, "%s%s=\"%s\"", before, name, escaped);
}

static void begin_sample(struct writer *writer, const char *name, enum family_type type)
{
    text_add(&writer->text, "%s%s", name, ending_of(type));
    add_label(writer, "{", "session", writer->session);
}

static void end_sample(struct writer *writer, double value)
{
    text_add(&writer->text, "} %.15g\n", value);
}

static void add_single(struct writer *writer, const char *name, const char *unit, const char *help, double value)
{
    begin_family(writer, name, FAMILY_GAUGE, unit, help);
    begin_sample(writer, name, FAMILY_GAUGE);
    end_sample(writer, value);
}

static void add_state(struct writer *writer, const char *name, enum family_type type, enum control_state state,
                      uint64_t count)
{
    begin_sample(writer, name, type);
    add_label(writer, ",", "state", control_state_name(state));
    end_sample(writer, (double)count);
}

static void add_session(struct writer *writer, const struct metrics *metrics)
{
    const struct metrics_counts *counts = &metrics->counts;
    const struct control_session *session = metrics->session;
    begin_family(writer, "hdss", FAMILY_INFO, "", "The run or set that is asked.");
    begin_sample(writer, "hdss", FAMILY_INFO);
    add_label(writer, ",", "kind", session->kind);
    add_label(writer, ",", "name", session->name);
    add_label(writer, ",", "version", session->version);
    end_sample(writer, 1);
    add_single(writer, "hdss_start_time_seconds", "seconds", "When the supermaster began, since 1970.",
               (double)session->started);
    if (session->ended != 0)
        add_single(writer, "hdss_end_time_seconds", "seconds", "When the run or set was over, since 1970.",
                   (double)session->ended);
    add_single(writer, "hdss_masters", "", "Masters at the start, and of pods that are there.", metrics->masters);
    add_single(writer, "hdss_workers", "", "Workers at the start, and of pods that are there.", metrics->workers);
    begin_family(writer, "hdss_jobs", FAMILY_GAUGE, "", "Jobs that are there, by state.");
    add_state(writer, "hdss_jobs", FAMILY_GAUGE, CONTROL_WAITING, counts->waiting);
    add_state(writer, "hdss_jobs", FAMILY_GAUGE, CONTROL_RUNNING, counts->running);
    begin_family(writer, "hdss_jobs_ended", FAMILY_COUNTER, "", "Jobs that are over, by state.");
    add_state(writer, "hdss_jobs_ended", FAMILY_COUNTER, CONTROL_DONE, counts->done);
    add_state(writer, "hdss_jobs_ended", FAMILY_COUNTER, CONTROL_FAILED, counts->failed);
    add_state(writer, "hdss_jobs_ended", FAMILY_COUNTER, CONTROL_CANCELLED, counts->cancelled);
}

/* Returns the value of a metric for a job. A negative value means that the job has no sample of this metric. */
typedef double job_value(const struct control_job *job);

static double job_total(const struct control_job *job)
{
    return job->progress.grows ? -1 : (double)job->progress.total;
}

static double job_done(const struct control_job *job)
{
    return (double)job->progress.done;
}

static double job_resumed(const struct control_job *job)
{
    return (double)job->progress.resumed;
}

static double job_failed(const struct control_job *job)
{
    return (double)job->failed;
}

static double job_elapsed(const struct control_job *job)
{
    return job->progress.elapsed_s;
}

static double job_left(const struct control_job *job)
{
    return job->state == CONTROL_RUNNING && !job->progress.grows ? progress_left_s(&job->progress) : -1;
}

static double job_busy(const struct control_job *job)
{
    return job->status >= 0 ? 0 : job->progress.busy;
}

static double job_lost(const struct control_job *job)
{
    return job->progress.lost;
}

static double job_free(const struct control_job *job)
{
    return (double)job->counts.free;
}

static double job_chunks(const struct control_job *job)
{
    return (double)job->counts.chunks;
}

static double job_refills(const struct control_job *job)
{
    return (double)job->counts.refills;
}

static double job_recalls(const struct control_job *job)
{
    return (double)job->counts.recalls;
}

static double job_reissued(const struct control_job *job)
{
    return (double)job->counts.reissued;
}

static double job_messages(const struct control_job *job)
{
    return (double)job->counts.messages_sent;
}

static double job_bytes(const struct control_job *job)
{
    return (double)job->counts.bytes_sent;
}

static const struct job_family {
    const char *name;
    enum family_type type;
    const char *unit, *help;
    job_value *value;
} job_families[] = {
    {"hdss_job_iterations", FAMILY_GAUGE, "", "Iterations of the job's loop; absent while it may grow.", job_total},
    {"hdss_job_iterations_done", FAMILY_COUNTER, "", "Iterations that are done, those of an earlier run included.",
     job_done},
    {"hdss_job_iterations_resumed", FAMILY_GAUGE, "", "Iterations that an earlier run has done.", job_resumed},
    {"hdss_job_iterations_failed", FAMILY_COUNTER, "", "Iterations that are given up.", job_failed},
    {"hdss_job_iterations_free", FAMILY_GAUGE, "", "Iterations that wait to be given to a master or worker.", job_free},
    {"hdss_job_elapsed_seconds", FAMILY_GAUGE, "seconds", "Time since the first iteration was assigned.", job_elapsed},
    {"hdss_job_remaining_seconds", FAMILY_GAUGE, "seconds",
     "Time until the end at the mean rate; absent where unknown.", job_left},
    {"hdss_job_workers_busy", FAMILY_GAUGE, "", "Workers that have iterations of the job to compute.", job_busy},
    {"hdss_job_ranks_lost", FAMILY_COUNTER, "", "Workers and masters that were lost while the job ran.", job_lost},
    {"hdss_job_chunks", FAMILY_COUNTER, "", "Chunks that the technique has cut.", job_chunks},
    {"hdss_job_chunks_reissued", FAMILY_COUNTER, "", "Chunks of lost workers that others were given.", job_reissued},
    {"hdss_job_refills", FAMILY_COUNTER, "", "Refills of the task pools of masters.", job_refills},
    {"hdss_job_recalls", FAMILY_COUNTER, "", "Recalls that brought work which had not begun.", job_recalls},
    {"hdss_job_supermaster_messages_sent", FAMILY_COUNTER, "", "Messages of the job that the supermaster has sent.",
     job_messages},
    {"hdss_job_supermaster_sent_bytes", FAMILY_COUNTER, "bytes", "Bytes of the messages that the supermaster has sent.",
     job_bytes},
};

static void add_id(struct writer *writer, const struct control_job *job)
{
    char id[24];
    snprintf(id, sizeof id, "%ju", (uintmax_t)job->id);
    add_label(writer, ",", "job_id", id);
}

static void add_job_info(struct writer *writer, const struct metrics *metrics)
{
    begin_family(writer, "hdss_job", FAMILY_INFO, "", "A job that runs.");
    for (size_t i = 0; i < metrics->job_count; i++) {
        const struct control_job *job = &metrics->jobs[i];
        begin_sample(writer, "hdss_job", FAMILY_INFO);
        add_id(writer, job);
        add_label(writer, ",", "name", job->name);
        add_label(writer, ",", "kernel", job->kernel);
        add_label(writer, ",", "technique", job->technique);
        add_label(writer, ",", "topology", job->topology);
        add_label(writer, ",", "state", control_state_name(job->state));
        end_sample(writer, 1);
    }
}

static void add_job_family(struct writer *writer, const struct metrics *metrics, const struct job_family *family)
{
    begin_family(writer, family->name, family->type, family->unit, family->help);
    for (size_t i = 0; i < metrics->job_count; i++) {
        const double value = family->value(&metrics->jobs[i]);
        if (value < 0)
            continue;
        begin_sample(writer, family->name, family->type);
        add_id(writer, &metrics->jobs[i]);
        end_sample(writer, value);
    }
}

char *metrics_text(const struct metrics *metrics, enum metrics_format format)
{
    struct writer writer = {.format = format, .session = metrics->session->name};
    text_init(&writer.text);
    add_session(&writer, metrics);
    add_job_info(&writer, metrics);
    for (size_t i = 0; i < sizeof job_families / sizeof *job_families; i++)
        add_job_family(&writer, metrics, &job_families[i]);
    if (format == METRICS_OPEN)
        text_add(&writer.text, "# EOF\n");
    return text_take(&writer.text);
}
