/* SPDX-License-Identifier: MIT */
/* Resuming an earlier run: see resume.h. */
#include "common/job/resume.h"

#include "common/config/element_type.h"
#include "common/config/params.h"
#include "common/os/say.h"
#include "common/results/results.h"
#include "common/service/poison.h"
#include "common/service/service.h"
#include "common/util/text.h"
#include "hdss/kernel.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void add_line(struct text *text, const char *what, const char *value)
{
    text_add(text, "%s=%s\n", what, value);
    if (!text->failed)
        text->data[text->length - 1] = '\0';
}

static void add_record(struct text *text, const struct hdss_loop *loop)
{
    char value[64];
    if (loop->streams > 0)
        snprintf(value, sizeof value, "bytes on %u streams", loop->streams);
    else
        snprintf(value, sizeof value, "%" PRIu64 " x %s", loop->record_length, element_type_name(loop->type));
    add_line(text, "the result of an iteration", value);
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* True if a resumed run may have more iterations than the earlier run: the loop grows, or the kernel can compute
 * a digest of the beginning of its inputs. */
static bool may_become_longer(const struct job_setup *setup)
{
    return setup->kernel->inputs != NULL || setup->loop.grows;
}

/* Sets `*digest` to the digest of the inputs of the first `iterations` iterations of the whole loop. If the kernel
 * has no inputs(), the digest covers all inputs. */
static int digest_inputs(const struct job_setup *setup, uint64_t iterations, uint64_t *digest, struct error *error)
{
    *digest = setup->loop.inputs;
    return setup->kernel->inputs != NULL ? kernel_inputs(setup->kernel, setup->values, iterations, digest, error) : 0;
}

/* Returns a text, which the caller frees, with everything that determines the results and their positions in the
 * output. The text contains the name of the output without its folder, because the user may move output and journal.
 * If the kernel has inputs(), the digest in the text covers only the inputs common to all iterations. */
static char *name_job(const struct job_setup *setup, size_t *bytes, struct error *error)
{
    uint64_t inputs;
    struct text text;
    char value[KERNEL_PARAM_TEXT_MAX];
    if (digest_inputs(setup, 0, &inputs, error) < 0)
        return NULL;
    text_init(&text);
    add_line(&text, "the kernel", setup->kernel->name);
    add_line(&text, "the kernel's version", setup->kernel->version);
    for (unsigned i = 0; i < kernel_params_count(setup->kernel); i++)
        if (!kernel_param_is_manner(setup->kernel, &setup->kernel->params[i]))
            add_line(&text, setup->kernel->params[i].name,
                     kernel_param_text(&setup->kernel->params[i], setup->values[i], value));
    add_record(&text, &setup->loop);
    if (inputs != 0) {
        snprintf(value, sizeof value, "%016" PRIx64, inputs);
        add_line(&text, "the content of its input files (digest)", value);
    }
    if (may_become_longer(setup) && setup->job.count == UINT64_MAX)
        snprintf(value, sizeof value, "all");
    else
        snprintf(value, sizeof value, "%" PRIu64 ":%" PRIu64, setup->first, setup->count);
    add_line(&text, "--iterations", value);
    add_line(&text, "--output", setup->collect ? file_name(setup->job.output) : "not given");
    *bytes = text.length;
    char *name = text_take(&text);
    if (name == NULL)
        error_set(error, "out of memory for the journal");
    return name;
}

static int next_growth(const struct job_setup *setup, uint64_t from, struct journal_growth *growth, struct error *error)
{
    const uint64_t step = setup->count / JOURNAL_GROWTHS + (setup->count % JOURNAL_GROWTHS != 0);
    growth->count = from + (step < setup->count - from ? step : setup->count - from);
    return digest_inputs(setup, setup->first + growth->count, &growth->inputs, error);
}

static int note_loop(struct resume *resume, const struct job_setup *setup, struct error *error)
{
    struct journal_head *head = &resume->head;
    resume->grows = setup->loop.grows;
    head->loop = (struct range){setup->first, setup->count};
    if (!may_become_longer(setup))
        return 0;
    head->loop.count = 0;
    head->growths = resume->growths;
    while (journal_loop(head).count < setup->count) {
        struct journal_growth *growth = &resume->growths[head->growth_count];
        if (next_growth(setup, journal_loop(head).count, growth, error) < 0)
            return -1;
        head->growth_count++;
    }
    return 0;
}

const char *resume_list(const struct job_setup *setup)
{
    const struct hdss_kernel *kernel = setup->kernel;
    const char *found = NULL;
    for (unsigned i = 0; i < kernel_params_count(kernel); i++) {
        const struct hdss_param *param = &kernel->params[i];
        if (param->kind != HDSS_PARAM_TEXT || strcmp(param->unit, "file") != 0 || setup->values[i].text[0] == '\0')
            continue;
        if (found != NULL)
            return NULL;
        found = setup->values[i].text;
    }
    return found;
}

static int refuse_changed(const struct resume *resume, const struct job_setup *setup, uint64_t first, uint64_t end,
                          struct error *error)
{
    const bool are_tasks = setup->loop.are_tasks, is_one = end - first == 1;
    const char *list = resume_list(setup), *what = are_tasks ? "task" : "iteration";
    char which[100];
    if (is_one)
        snprintf(which, sizeof which, "%s %" PRIu64 " has", what, first + are_tasks);
    else
        snprintf(which, sizeof which, "one at least of %ss %" PRIu64 " to %" PRIu64 " has", what, first + are_tasks,
                 end - 1 + are_tasks);
    return error_set(error,
                     "%.150s%s%s changed since the run that %.150s is of; accepted: those as they were, with new "
                     "and mended ones behind them, or --overwrite to begin anew",
                     list != NULL ? list : "", list != NULL ? ": " : "", which, resume->path);
}

static int compare_growths(const struct resume *resume, const struct job_setup *setup, struct error *error)
{
    const struct journal_head *there = &resume->earlier.content.head;
    const char *list = resume_list(setup);
    uint64_t same = 0, digest;
    for (size_t i = 0; i < there->growth_count; i++) {
        const struct journal_growth *growth = &there->growths[i];
        if (growth->count > setup->count)
            return error_set(error,
                             "%.150s: there are %" PRIu64 " %s, and %.150s is of a run that knew of %" PRIu64
                             "; accepted: those, and new ones behind them, or --overwrite to begin anew",
                             list != NULL ? list : setup->kernel->name, setup->count,
                             setup->loop.are_tasks ? "tasks" : "iterations", resume->path, journal_loop(there).count);
        if (digest_inputs(setup, setup->first + growth->count, &digest, error) < 0)
            return -1;
        if (digest != growth->inputs)
            return refuse_changed(resume, setup, setup->first + same, setup->first + growth->count, error);
        same = growth->count;
    }
    return 0;
}

static void print_new(const struct resume *resume, const struct job_setup *setup, FILE *err, const char *name)
{
    const uint64_t before = journal_loop(&resume->earlier.content.head).count, more = setup->count - before;
    const char *list = resume_list(setup);
    if (more > 0)
        say(err, "%s: %s has %" PRIu64 " new %s%s since the earlier run: %s too", name,
            list != NULL ? list : setup->kernel->name, more, setup->loop.are_tasks ? "line" : "iteration",
            more == 1 ? "" : "s", more == 1 ? "it runs" : "they run");
}

static uint64_t percent(const struct journal_content *content)
{
    uint64_t done = ranges_total(&content->done), count = journal_loop(&content->head).count;
    return count > 0 ? (uint64_t)(100.0 * (double)done / (double)count) : 100;
}

/* True if a run can continue from the journal. The journal may contain all iterations, because the earlier run may have
 * failed before it made the final files. */
static bool is_worth_something(const struct journal_content *content)
{
    return ranges_total(&content->done) > 0;
}

static int refuse_old(const char *path, uint64_t percent, struct error *error)
{
    if (percent == 100)
        return error_set(error,
                         "%.200s: a run has left it; accepted: --resume=failed to try again what failed, --resume to "
                         "complete its files, --overwrite to begin anew",
                         path);
    return error_set(error,
                     "%.200s: a run that ended early left it, %" PRIu64
                     " %% done; accepted: --resume to go on with it, --overwrite to begin anew",
                     path, percent);
}

/* Fails if the run was of the same kernel in another version. The version of a function in Python is its attribute
 * `version`, or else the checksum of its module. */
static int check_version(const struct journal_head *there, const struct job_setup *setup, const char *path,
                         struct error *error)
{
    const char *name = setup->kernel->name, *was = journal_value(there, "the kernel's version");
    const bool is_python = strncmp(name, "python:", strlen("python:")) == 0;
    if (strcmp(journal_value(there, "the kernel"), name) != 0 || strcmp(was, setup->kernel->version) == 0)
        return 0;
    if (is_python && strrchr(name, '.') != NULL)
        return error_set(error,
                         "%.150s has changed since the run that %.150s is of; accepted: --overwrite to begin anew, or "
                         "the line %.80s.version = '%.40s' at the end of the module to keep what is done",
                         name, path, strrchr(name, '.') + 1, was);
    return error_set(error,
                     "%.150s: is of version %.40s of %.150s, and this is version %.40s; accepted: that version, or "
                     "--overwrite to begin anew",
                     path, was, name, setup->kernel->version);
}

/* Fails if an earlier run at this path can be resumed, or if its journal is unusable, unless --overwrite is given.
 * Always fails if the journal is in use or cannot be read. */
static int check_old(struct resume *resume, const char *path, const struct job_setup *setup, struct error *error)
{
    struct journal_file file;
    struct error inner;
    bool overwrites = setup->job.earlier == JOB_EARLIER_OVERWRITE;
    int result = 0;
    switch (journal_read(&file, path, &inner)) {
    case JOURNAL_ABSENT: break;
    case JOURNAL_READABLE:
        resume->has_begun |= !file.content.is_over;
        if (!overwrites && !file.content.is_over && is_worth_something(&file.content))
            result = check_version(&file.content.head, setup, path, error) < 0
                         ? -1
                         : refuse_old(path, percent(&file.content), error);
        break;
    case JOURNAL_UNUSABLE:
        if (!overwrites)
            result = error_set(error, "%.300s; accepted: --overwrite to begin anew, or --journal with another name",
                               inner.text);
        break;
    default: result = error_set(error, "%s", inner.text);
    }
    journal_file_fini(&file);
    return result;
}

/* Decides how to continue after a complete earlier run with variable output. The output of the earlier run is in the
 * final files or still in parts. It is still in parts if the parts were not to be joined, or if the run was killed
 * before that. The present run may need the other of these two forms, or may have more iterations. */
static int look_at_parts(struct resume *resume, const struct job_setup *setup, bool has_more, struct error *error)
{
    const int found = results_look(setup->job.output, &setup->loop, error);
    const bool are_there = found == 0;
    if (found < 0)
        return -1;
    resume->goes_on = !are_there && (has_more || !setup->job.joins);
    resume->is_over = !has_more && are_there != setup->job.joins;
    return 0;
}

static int look_at_end(struct resume *resume, const struct job_setup *setup, struct error *error)
{
    const uint64_t before = journal_loop(&resume->earlier.content.head).count;
    const char *list = resume_list(setup);
    if (!resume->earlier.content.is_over)
        return 0;
    if (setup->collect && !results_exist(setup->job.output, &setup->loop)) {
        journal_content_fini(&resume->earlier.content);
        resume->resumed = false;
        return 0;
    }
    const uint64_t bytes = setup->collect ? results_bytes(setup->job.output, &setup->loop) : 0;
    if (bytes != resume->earlier.content.final_bytes)
        return error_set(error,
                         "--resume: %.150s has %" PRIu64 " bytes in all its files, and had %" PRIu64
                         " when its run was complete; accepted: --overwrite to make it anew",
                         setup->job.output, bytes, resume->earlier.content.final_bytes);
    const bool is_longer = setup->count > before, has_more = is_longer || setup->loop.grows;
    if (setup->collect && setup->loop.streams > 0)
        return look_at_parts(resume, setup, has_more, error);
    if (has_more)
        return error_set(error,
                         "--resume: the run of %.150s is complete with %" PRIu64
                         " %s, and %.150s %s; accepted: the new "
                         "ones as a loop of their own, or --overwrite to begin anew",
                         resume->path, before, setup->loop.are_tasks ? "tasks" : "iterations",
                         list != NULL ? list : setup->kernel->name, is_longer ? "has more" : "may grow");
    resume->is_over = true;
    return 0;
}

static int check_start(const struct job_setup *setup, const char *path, struct error *error)
{
    if (!setup->collect || !results_exist(setup->job.output, &setup->loop))
        return 0;
    return error_set(error,
                     "--resume: %.150s is there, but no %.150s: it is complete, or was made without a journal; with "
                     "--overwrite it is made anew",
                     setup->job.output, path);
}

/* Finds the usable results of the earlier run. Returns 0 if all are usable, and 1 if only the results of the ranges in
 * `sound` are. Results are unusable if output is missing or has a wrong size. If all iterations are done, also reads
 * the parts of variable output, because the final files are made from the parts. */
static int find_sound(const struct journal_content *content, const struct job_setup *setup, struct ranges *sound,
                      uint64_t *digest, struct error *error)
{
    const char *output = setup->job.output;
    uint64_t done = ranges_total(&content->done);
    int held = results_hold(output, &setup->loop, &content->done, error);
    bool is_in_doubt = held == RESULTS_LACKS || (held == RESULTS_COMPLETE && setup->loop.streams > 0 &&
                                                 setup->job.joins && done == setup->count);
    if (held < 0 || !is_in_doubt)
        return held < 0 ? -1 : 0;
    if (results_find_sound(output, &setup->loop, &content->done, !setup->job.joins, sound, digest, error) < 0)
        return -1;
    return ranges_total(sound) < done;
}

/* Marks iterations whose output is missing or damaged as not done. They are then computed again. If no output exists
 * at all, changes nothing, because check_absent() rejects such a run. */
static int forget_missing(struct resume *resume, const struct job_setup *setup, FILE *err, const char *name,
                          struct error *error)
{
    struct journal_content *content = &resume->earlier.content;
    struct ranges sound;
    uint64_t digest;
    ranges_init(&sound);
    int result = setup->collect ? find_sound(content, setup, &sound, &digest, error) : 0;
    if (result <= 0) {
        ranges_fini(&sound);
        return result;
    }
    uint64_t done = ranges_total(&content->done);
    say(err,
        "%s: %s.parts: of %" PRIu64 " %s that %s calls done the output of %" PRIu64
        " is missing there: those are done again",
        name, setup->job.output, done, setup->loop.are_tasks ? "tasks" : "iterations", resume->path,
        done - ranges_total(&sound));
    ranges_fini(&content->done);
    content->done = sound;
    content->digest = digest;
    return 0;
}

static int forget_failed(struct resume *resume, const struct job_setup *setup, struct error *error)
{
    struct journal_content *content = &resume->earlier.content;
    struct ranges failed;
    uint64_t digest = 0;
    ranges_init(&failed);
    int result = setup->collect
                     ? results_find_failed(setup->job.output, &setup->loop, &content->done, &failed, &digest, error)
                     : 0;
    for (size_t i = 0; result == 0 && i < ranges_length(&failed); i++) {
        const struct range *range = ranges_at(&failed, i);
        if (ranges_remove(&content->done, range->first, range->count, NULL) < 0)
            result = error_set(error, "out of memory for what failed");
    }
    content->digest -= digest;
    ranges_fini(&failed);
    return result;
}

int resume_find_failed(const struct resume *resume, const struct job_setup *setup, struct ranges *failed,
                       struct error *error)
{
    const struct ranges *done = &resume->earlier.content.done;
    uint64_t digest;
    if (!setup->collect || setup->loop.streams == 0 || ranges_total(done) == 0)
        return 0;
    return results_find_failed(setup->job.output, &setup->loop, done, failed, &digest, error);
}

/* Allows another try for iterations that killed their processes. If they killed ISOLATED_DEATHS workers or more, they
 * are tried in a child process. */
static int forgive_deaths(struct resume *resume, struct error *error)
{
    struct poison_set *known = &resume->earlier.content.deaths, forgiven = {0};
    int result = 0;
    for (size_t i = 0; result == 0 && i < known->count; i++) {
        struct poison deaths = {.first = known->items[i].first,
                                .count = known->items[i].count,
                                .shares_blame = known->items[i].shares_blame};
        deaths.deaths = known->items[i].deaths < ISOLATED_DEATHS ? known->items[i].deaths : ISOLATED_DEATHS;
        if (deaths.deaths > 0 && poison_add(&forgiven, &deaths) < 0)
            result = error_set(error, "out of memory for what failed");
    }
    poison_fini(known);
    *known = forgiven;
    return result;
}

static int resume_read_earlier(struct resume *resume, const struct job_setup *setup, struct error *error)
{
    switch (journal_read(&resume->earlier, resume->path, error)) {
    case JOURNAL_ABSENT: return check_start(setup, resume->path, error);
    case JOURNAL_READABLE:
        resume->resumed = true;
        if (check_version(&resume->earlier.content.head, setup, resume->path, error) < 0 ||
            journal_compare(&resume->earlier.content.head, &resume->head, resume->path, error) < 0 ||
            compare_growths(resume, setup, error) < 0)
            return -1;
        return look_at_end(resume, setup, error);
    default: return -1;
    }
}

static const char *path_beside(const struct job *job, char path[JOB_JOURNAL_PATH_MAX])
{
    snprintf(path, JOB_JOURNAL_PATH_MAX, "%s%s", job->output, job->output[0] != '\0' ? JOB_JOURNAL_ENDING : "");
    return path;
}

void resume_init(struct resume *resume)
{
    *resume = (struct resume){.earlier.fd = -1, .journal.fd = -1};
}

int resume_look(struct resume *resume, const struct job_setup *setup, bool keeps, struct error *error)
{
    char beside[JOB_JOURNAL_PATH_MAX];
    resume_init(resume);
    if (keeps)
        job_journal_path(&setup->job, resume->path);
    resume->text = name_job(setup, &resume->head.text_bytes, error);
    if (resume->text == NULL || note_loop(resume, setup, error) < 0)
        return -1;
    resume->head.text = resume->text;
    path_beside(&setup->job, beside);
    if (beside[0] != '\0' && strcmp(beside, resume->path) != 0 && check_old(resume, beside, setup, error) < 0)
        return -1;
    if (resume->path[0] == '\0')
        return 0;
    return job_resumes(&setup->job) ? resume_read_earlier(resume, setup, error)
                                    : check_old(resume, resume->path, setup, error);
}

static int check_absent(const struct resume *resume, const struct job_setup *setup, struct error *error)
{
    uint64_t done = ranges_total(&resume->earlier.content.done);
    if (done == 0)
        return 0;
    return error_set(
        error, "--resume: the results of %" PRIu64 " %s are not there, of which %.150s says that they are in %.150s",
        done, setup->loop.are_tasks ? "tasks" : "iterations", resume->path, setup->job.output);
}

/* True if the path names a file with content that a new output would destroy. A device has no such content. */
static bool holds_something(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0;
}

static int check_free(const struct resume *resume, const struct job_setup *setup, struct error *error)
{
    if (setup->job.earlier != JOB_EARLIER_REFUSE || resume->has_begun)
        return 0;
    for (unsigned i = 0; i < results_files(&setup->loop); i++) {
        char file[PATH_MAX];
        const char *path = results_file(setup->job.output, &setup->loop, i, file);
        if (holds_something(path))
            return error_set(error, "%.200s is there already; accepted: --overwrite to replace it, or another name",
                             path);
    }
    return 0;
}

int resume_check_output(const struct resume *resume, const struct job_setup *setup, struct error *error)
{
    if (resume->is_over)
        return 0;
    if (check_free(resume, setup, error) < 0)
        return -1;
    int found = resume->resumed ? results_look(setup->job.output, &setup->loop, error) : RESULTS_ABSENT;
    if (found != RESULTS_ABSENT)
        return found;
    return !resume->goes_on && check_absent(resume, setup, error) < 0
               ? -1
               : results_check_place(setup->job.output, &setup->loop, error);
}

/* Selects the recovery point from which a loop with dependencies continues. Fails if the journal contradicts itself:
 * every done range, and every gap before a done range, must be at least as long as the distance of the dependencies.
 * Only a done range at the end of the loop may be shorter. */
static int take_point(struct resume *resume, const struct job_setup *setup, struct error *error)
{
    struct journal_content *content = &resume->earlier.content;
    const uint64_t distance = setup->loop.distance, end = setup->first + setup->count;
    uint64_t at = setup->first;
    bool is_right = true;
    for (size_t i = 0; i < ranges_length(&content->done); i++) {
        const struct range *done = ranges_at(&content->done, i);
        is_right &= done->count >= distance || done->first + done->count == end;
        is_right &= done->first == at || done->first - at >= distance;
        at = done->first + done->count;
    }
    if (!is_right)
        return error_set(error, "%.200s: contradicts itself; accepted: --overwrite to begin anew", resume->path);
    const struct journal_point *point =
        journal_find_point(content, distance, setup->loop.sync * setup->loop.boundary_bytes);
    if (point != NULL)
        content->points[0] = *point;
    content->point_count = point != NULL;
    return 0;
}

int resume_take(struct resume *resume, const struct job_setup *setup, FILE *err, const char *name, struct error *error)
{
    if (!job_resumes(&setup->job) || resume->path[0] == '\0')
        return 0;
    if (!resume->resumed) {
        say(err, "%s: there is no %s: the run begins at its first iteration", name,
            resume->earlier.fd < 0 ? resume->path : setup->job.output);
        return 0;
    }
    if (resume->is_over) {
        say(err, "%s: %s is complete: nothing is left to do", name, setup->collect ? setup->job.output : resume->path);
        return 0;
    }
    size_t dropped = resume->earlier.size - resume->earlier.content.valid;
    if (forget_missing(resume, setup, err, name, error) < 0)
        return -1;
    if (setup->job.earlier == JOB_EARLIER_RESUME_FAILED &&
        (forget_failed(resume, setup, error) < 0 || forgive_deaths(resume, error) < 0))
        return -1;
    if (job_setup_is_dependent(setup) && take_point(resume, setup, error) < 0)
        return -1;
    print_new(resume, setup, err, name);
    if (dropped > 0)
        say(err, "%s: %s: its last %zu bytes are torn or corrupted: what they said is done is done again", name,
            resume->path, dropped);
    return 0;
}

static bool is_full(int reason)
{
    return reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
}

int resume_begin(struct resume *resume, const struct job_setup *setup, struct error *error)
{
    char beside[JOB_JOURNAL_PATH_MAX];
    path_beside(&setup->job, beside);
    if (beside[0] != '\0' && strcmp(beside, resume->path) != 0)
        unlink(beside); /* The journal `beside` describes the output that this run replaces. */
    assert(!resume->is_over && "nothing is left to do");
    if (resume->path[0] == '\0')
        return 0;
    int result = resume->goes_on ? results_take_back(setup->job.output, &setup->loop,
                                                     journal_loop(&resume->earlier.content.head), error)
                                 : 0;
    if (result != 0)
        return result;
    errno = 0;
    result = journal_begin(&resume->journal, resume->path, &resume->head, &resume->earlier.content,
                           setup->job.durability == JOB_DURABILITY_NODE, error);
    return result == 0 ? 0 : is_full(errno) ? RESULTS_NO_ROOM : -1;
}

int resume_create_output(struct resume *resume, const struct job_setup *setup, int *lock, struct error *error)
{
    int found = resume->resumed ? results_find(setup->job.output, &setup->loop, lock, error) : RESULTS_ABSENT;
    if (found != RESULTS_ABSENT)
        return found;
    return check_absent(resume, setup, error) < 0 ? -1 : results_create(setup->job.output, &setup->loop, lock, error);
}

int resume_record_growth(struct resume *resume, const struct job_setup *setup, bool grows, struct error *error)
{
    struct journal_growth growths[JOURNAL_GROWTHS];
    uint64_t known = resume->journal.loop.count;
    size_t count = 0;
    resume->grows = grows;
    if (resume->journal.fd < 0)
        return 0;
    for (; known < setup->count; known = growths[count++].count)
        if (next_growth(setup, known, &growths[count], error) < 0)
            return -1;
    return journal_append_growths(&resume->journal, growths, count, error);
}

int resume_record(struct resume *resume, const struct range *ranges, size_t count, uint64_t digest, struct error *error)
{
    return journal_append(&resume->journal, ranges, count, digest, error);
}

int resume_record_deaths(struct resume *resume, const struct poison *deaths, struct error *error)
{
    return journal_append_deaths(&resume->journal, deaths, error);
}

static bool has_died_too_often(const struct journal *journal, struct range range, const struct job_setup *setup)
{
    struct poison known;
    for (uint64_t alike; range.count > 0; range.first += alike, range.count -= alike) {
        alike = poison_look(&journal->deaths, &range, &known);
        if (!deaths_are_too_many(&known, setup->job.spec.retries, job_setup_is_dependent(setup)))
            return false;
    }
    return true;
}

bool resume_is_given_up(const struct resume *resume, const struct job_setup *setup)
{
    const struct journal *journal = &resume->journal;
    const uint64_t end = setup->first + setup->count;
    uint64_t at = setup->first;
    if (journal->fd < 0 || journal_is_complete(journal))
        return false;
    for (size_t i = 0; i <= ranges_length(&journal->done); i++) {
        const struct range done =
            i < ranges_length(&journal->done) ? *ranges_at(&journal->done, i) : (struct range){end, 0};
        if (!has_died_too_often(journal, (struct range){at, done.first - at}, setup))
            return false;
        at = done.first + done.count;
    }
    return true;
}

int resume_record_point(struct resume *resume, const struct journal_point *part, uint64_t offset, uint64_t all,
                        struct error *error)
{
    if (resume->point_bytes < all) {
        free(resume->point);
        resume->point_bytes = 0;
        resume->point = malloc(all);
        if (resume->point == NULL)
            return error_set(error, "%.200s: out of memory", resume->path);
        resume->point_bytes = all;
    }
    memcpy(resume->point + offset, part->data, part->bytes);
    const struct journal_point point = {part->at, all, resume->point};
    return offset + part->bytes == all ? journal_append_point(&resume->journal, &point, error) : 0;
}

static void resume_end_journal(struct resume *resume, bool remove)
{
    journal_close(&resume->journal, remove);
    journal_file_fini(&resume->earlier);
    free(resume->text);
    free(resume->point);
    resume->text = NULL;
    resume->point = NULL;
}

void resume_end(struct resume *resume)
{
    resume_end_journal(resume, false);
}

void resume_conclude(struct resume *resume, const struct job_setup *setup, bool is_right)
{
    struct error unused;
    const uint64_t bytes = results_bytes(setup->job.output, &setup->loop);
    struct stat output;
    const bool is_device = setup->collect && stat(setup->job.output, &output) == 0 && !S_ISREG(output.st_mode);
    const bool is_kept = is_right && !is_device && journal_end(&resume->journal, bytes, &unused) == 0;
    /* The final files exist, so nothing is left to resume. So a journal that has no end record is removed. */
    resume_end_journal(resume, !is_kept);
}

void resume_give_up(struct resume *resume)
{
    resume_end_journal(resume, !resume->resumed && ranges_total(&resume->journal.done) == 0);
}
