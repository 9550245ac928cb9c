/* SPDX-License-Identifier: MIT */
/* The study file: see plan.h. One function takes the values of each key; a table names them. */
#include "deploy/cli/study/plan.h"
#include "common/util/suggest.h"
#include "common/config/options.h"
#include "common/config/run_spec.h"
#include "common/job/technique_load.h"
#include "common/sched/sched.h"
#include "common/util/number.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/run.h"
#include "deploy/cli/simulate.h"
#include "deploy/cli/study/inference.h"
#include "deploy/cli/study/least.h"
#include "worker/kernels/kernels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\f\v"

const struct study_axis_row study_axes[AXES] = {
    [AXIS_KERNEL] = {"kernel", "kernel", NULL, NULL, false},
    [AXIS_TECHNIQUE] = {"technique", "technique", "technique", "dfss", false},
    [AXIS_WEIGHTING] = {"weighting", "weighting", "weighting", "none", false},
    [AXIS_POWER] = {"power", "powers", "power", "measure", .dealt = true},
    [AXIS_MIN_CHUNK] = {"min_chunk", "least chunk", "min-chunk", "1", true},
    [AXIS_REFILL_CHUNKS] = {"refill_chunks", "chunks for each worker in a refill", "refill-chunks", "1", true},
    [AXIS_REFILL] = {"refill", "refills", "refill", "ahead", false},
    [AXIS_SYNC_POINTS] = {"sync_points", "synchronization points", "sync-points", "auto", true},
    [AXIS_MASTERS] = {"masters", "masters", NULL, "0", true},
    [AXIS_WORKERS] = {"workers", "workers", "workers", NULL, true},
    [AXIS_THREADS] = {"threads", "threads", "threads", "1", true},
    [AXIS_THREAD_TECHNIQUE] = {"thread_technique", "thread technique", "thread-technique", RUN_THREAD_TECHNIQUE, false},
    [AXIS_DELAY] = {"delay", "injected delay", "inject-delay", "none", false},
    [AXIS_SLOWDOWN] = {"slowdown", "slowdown", "slowdown", "1", .dealt = true},
    [AXIS_LOAD] = {"load", "load", "load", "none", .dealt = true},
    [AXIS_FAIL_NODES] = {"fail_nodes", "lost nodes", "fail-nodes", "none", .is_simulated = true},
    [AXIS_COSTS] = {"costs", "costs", "costs", "model", .is_simulated = true},
    [AXIS_BACKEND] = {"backend", "backend", NULL, BACKEND_MPIRUN, false},
    [AXIS_PLATFORM] = {"platform", "platform", NULL, PLATFORM_NONE, false},
};

/* The file as it is being read. */
struct reader {
    struct study *study;
    struct argv topologies;
    unsigned topologies_line;
    unsigned x_line, series_line, heat_line;
    char baseline[AXES][256], speedup_base[AXES][256]; /* as written; empty: not given */
    unsigned until_line, repetitions_line, seeds_line, measure_line;
    unsigned line;
    struct argv given; /* keys that stood before */
};

struct key {
    const char *name;
    int (*take)(struct reader *reader, const struct key *key, const struct argv *values, struct error *error);
    const char *accepted;
    int axis;
};

int study_axis_find(const char *name)
{
    for (int i = 0; i < AXES; i++)
        if (strcmp(study_axes[i].name, name) == 0)
            return i;
    return AXIS_NONE;
}

bool study_varies(const struct study *study, int axis)
{
    return study->values[axis].count > 1;
}

static bool study_plan_is_dca(const char *masters)
{
    return strncmp(masters, DCA_PREFIX, strlen(DCA_PREFIX)) == 0;
}

bool study_is_numeric(const struct study *study, int axis)
{
    uint64_t number;
    for (unsigned i = 0; i < study->values[axis].count; i++)
        if (number_parse_u64(study->values[axis].items[i], &number) < 0)
            return false; /* a flat launch, `auto` */
    return study_axes[axis].number;
}

const char *study_topology(const char *masters)
{
    return study_plan_is_dca(masters) ? masters : strcmp(masters, "0") == 0 ? "central" : "hierarchical";
}

void study_value_text(int axis, const char *value, char *text, size_t size)
{
    bool one = strcmp(value, "1") == 0;
    if (axis == AXIS_MASTERS && (study_plan_is_dca(value) || strcmp(value, "0") == 0))
        snprintf(text, size, "%s", study_topology(value));
    else if (axis == AXIS_MASTERS)
        snprintf(text, size, "%s master%s", value, one ? "" : "s");
    else if (axis == AXIS_WORKERS)
        snprintf(text, size, "%s worker%s", value, one ? "" : "s");
    else if (axis == AXIS_THREADS)
        snprintf(text, size, "%s thread%s", value, one ? "" : "s");
    else if (axis == AXIS_BACKEND)
        snprintf(text, size, "%s", strcmp(value, BACKEND_SIMULATE) == 0 ? "simulated" : "measured");
    else if (axis == AXIS_KERNEL || axis == AXIS_TECHNIQUE)
        snprintf(text, size, "%s", value);
    else
        snprintf(text, size, "%s %s", study_axes[axis].title, value);
}

static int study_plan_add_value(struct reader *reader, int axis, const char *value, struct error *error)
{
    struct argv *values = &reader->study->values[axis];
    if (argv_contain(values, value))
        return error_set(error, "'%.200s' stands twice in %s", value, study_axes[axis].name);
    if (values->count == STUDY_VALUES_MAX)
        return error_set(error, "more than %d values of %s are not accepted", STUDY_VALUES_MAX, study_axes[axis].name);
    argv_add(values, value);
    return 0;
}

/* A kernel with its parameters; each line is a value of the axis. */
static int take_kernel(struct reader *reader, const struct key *key, const struct argv *values, struct error *error)
{
    struct study *study = reader->study;
    char text[1024] = "";
    size_t used = 0;
    for (unsigned i = 0; i < values->count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? " " : "", values->items[i]);
    if (used >= sizeof text)
        return error_set(error, "a kernel and its parameters of more than %zu characters are not accepted",
                         sizeof text - 1);
    if (text[0] == '-')
        return error_set(error, "kernel = '%.200s' is not accepted: %s", text, key->accepted);
    if (study_plan_add_value(reader, AXIS_KERNEL, text, error) < 0)
        return -1;
    study->kernel_line[study->values[AXIS_KERNEL].count - 1] = reader->line;
    study->line[AXIS_KERNEL] = study->kernel_line[0];
    return 0;
}

/* True for a value of our own: `none` stands for one that is not given. */
static bool study_plan_is_ours(int axis, const char *value)
{
    return ((axis == AXIS_DELAY || axis == AXIS_LOAD || axis == AXIS_FAIL_NODES) && strcmp(value, "none") == 0) ||
           (axis == AXIS_COSTS && strcmp(value, study_axes[axis].standard) == 0) ||
           (axis == AXIS_MIN_CHUNK && strcmp(value, LEAST_HALF_MFSC) == 0);
}

static int take_axis(struct reader *reader, const struct key *key, const struct argv *values, struct error *error)
{
    const char *option = key->axis == AXIS_MASTERS ? "masters" : study_axes[key->axis].option;
    struct error why;
    reader->study->line[key->axis] = reader->line;
    for (unsigned i = 0; i < values->count; i++) {
        const char *value = values->items[i];
        if (!study_plan_is_ours(key->axis, value) && !study_axes[key->axis].is_simulated &&
            run_check_option(option, value, &why) < 0)
            return error_set(error, "%s: %s", key->name, why.text);
        if (study_plan_add_value(reader, key->axis, value, error) < 0)
            return -1;
    }
    return 0;
}

static int take_number_axis(struct reader *reader, const struct key *key, const struct argv *values,
                            struct error *error)
{
    struct argv plain = {0};
    uint64_t number;
    int result = 0;
    for (unsigned i = 0; i < values->count && result == 0; i++) {
        if (number_parse_u64(values->items[i], &number) == 0)
            argv_add_format(&plain, "%" PRIu64, number); /* 1e3 is 1000 */
        else if (study_plan_is_ours(key->axis, values->items[i]))
            argv_add(&plain, values->items[i]);
        else
            result = error_set(error, "%s = '%.200s' is not accepted: %s", key->name, values->items[i], key->accepted);
    }
    if (result == 0)
        result = take_axis(reader, key, &plain, error);
    argv_fini(&plain);
    return result;
}

static int take_topologies(struct reader *reader, const struct key *key, const struct argv *values, struct error *error)
{
    struct error why;
    reader->topologies_line = reader->line;
    for (unsigned i = 0; i < values->count; i++) {
        const char *value = values->items[i];
        bool known = strcmp(value, "central") == 0 || strcmp(value, "hierarchical") == 0 ||
                     (study_plan_is_dca(value) && run_check_option("dca", value + strlen(DCA_PREFIX), &why) == 0);
        if (!known)
            return error_set(error, "topology = '%.200s' is not accepted: %s", value, key->accepted);
        if (argv_contain(&reader->topologies, value))
            return error_set(error, "'%.200s' stands twice in %s", value, key->name);
        argv_add(&reader->topologies, value);
    }
    return 0;
}

static bool refuses_studies(const struct grammar *grammar, const char *option)
{
    const struct option_row *row = options_find(&grammar->options, option);
    return row != NULL && (row->not_for & OPTION_STUDY) != 0;
}

/* The options of axes, but for those of simulated runs, which a study without such an axis may have, and those whose
 * rows say so, in hdss run and hdss simulate. */
static bool is_set_by_study(const char *option)
{
    struct grammar run, simulate;
    for (int axis = 0; axis < AXES; axis++) {
        const char *name = axis == AXIS_MASTERS ? study_axes[axis].name : study_axes[axis].option;
        if (name != NULL && !study_axes[axis].is_simulated && strcmp(option, name) == 0)
            return true;
    }
    run_grammar(&run);
    simulate_grammar(&simulate);
    return refuses_studies(&run, option) || refuses_studies(&simulate, option);
}

static int take_options(struct reader *reader, const struct key *key, const struct argv *values, struct error *error)
{
    reader->study->options_line = reader->line;
    for (unsigned i = 0; i < values->count; i++) {
        const char *word = values->items[i];
        char option[64] = "";
        if (strncmp(word, "--", 2) == 0)
            snprintf(option, sizeof option, "%.*s", (int)strcspn(word + 2, "="), word + 2);
        if (is_set_by_study(option))
            return error_set(error, "%s = '%.200s' is not accepted: %s", key->name, word, key->accepted);
        argv_add(&reader->study->options, word);
    }
    return 0;
}

static int study_plan_take_title(struct reader *reader, const struct key *key, const struct argv *values,
                                 struct error *error)
{
    char *title = reader->study->title;
    size_t used = 0, size = sizeof reader->study->title;
    for (unsigned i = 0; i < values->count && used < size; i++)
        used += (size_t)snprintf(title + used, size - used, "%s%s", i > 0 ? " " : "", values->items[i]);
    return used < size ? 0 : error_set(error, "%s is not accepted: %s", key->name, key->accepted);
}

static int take_one(const struct key *key, const struct argv *values, uint64_t least, uint64_t most, uint64_t *number,
                    struct error *error)
{
    if (values->count == 1 && number_parse_u64(values->items[0], number) == 0 && *number >= least && *number <= most)
        return 0;
    return error_set(error, "%s = '%.200s%s' is not accepted: %s", key->name, values->items[0],
                     values->count > 1 ? " ..." : "", key->accepted);
}

static int study_plan_take_repetitions(struct reader *reader, const struct key *key, const struct argv *values,
                                       struct error *error)
{
    uint64_t number = 0;
    int result = take_one(key, values, 1, STUDY_REPETITIONS_MAX, &number, error);
    reader->repetitions_line = reader->line;
    reader->study->repetitions = (unsigned)number;
    return result;
}

/* "2 %", "2%" or "0.5": a share of the median. */
static int take_until(struct reader *reader, const struct key *key, const struct argv *values, struct error *error)
{
    double *until = &reader->study->until;
    char number[32];
    const size_t length = strlen(values->items[0]);
    const bool has_sign = length > 0 && values->items[0][length - 1] == '%';
    const bool is_alone = values->count == 1 || (values->count == 2 && !has_sign && strcmp(values->items[1], "%") == 0);
    snprintf(number, sizeof number, "%.*s", (int)(length - has_sign), values->items[0]);
    reader->until_line = reader->line;
    if (is_alone && length < sizeof number && number_parse_real(number, until) == 0 && *until > 0 && *until <= 100)
        return 0;
    return error_set(error, "%s = '%.200s%s' is not accepted: %s", key->name, values->items[0],
                     values->count > 1 ? " ..." : "", key->accepted);
}

static int take_timeout(struct reader *reader, const struct key *key, const struct argv *values, struct error *error)
{
    uint64_t number = 0;
    int result = take_one(key, values, 1, STUDY_TIMEOUT_S_MAX, &number, error);
    reader->study->timeout_s = (unsigned)number;
    return result;
}

static int take_seed(struct reader *reader, const struct key *key, const struct argv *values, struct error *error)
{
    return take_one(key, values, 0, UINT64_MAX, &reader->study->seed, error);
}

/* The platforms' names are looked at with the kernels. */
static int take_machines(struct reader *reader, const struct key *key, const struct argv *values, struct error *error)
{
    reader->study->line[key->axis] = reader->line;
    for (unsigned i = 0; i < values->count; i++) {
        const char *value = values->items[i];
        bool known = key->axis == AXIS_PLATFORM
                         ? strcmp(value, PLATFORM_NONE) != 0
                         : strcmp(value, BACKEND_MPIRUN) == 0 || strcmp(value, BACKEND_SIMULATE) == 0;
        if (!known)
            return error_set(error, "%s = '%.200s' is not accepted: %s", key->name, value, key->accepted);
        if (study_plan_add_value(reader, key->axis, value, error) < 0)
            return -1;
    }
    return 0;
}

static int take_measures(struct reader *reader, const struct key *key, const struct argv *values, struct error *error)
{
    reader->measure_line = reader->line;
    for (unsigned i = 0; i < values->count; i++) {
        int measure = measure_find(values->items[i]);
        if (measure < 0)
            return error_set(error, "%s = '%.200s' is not accepted: %s", key->name, values->items[i], key->accepted);
        reader->study->measured[measure] = true;
    }
    return 0;
}

static int find_axis(const struct key *key, const char *name, int *axis, struct error *error)
{
    *axis = study_axis_find(name);
    return *axis != AXIS_NONE ? 0
                              : error_set(error, "%s = '%.200s' is not accepted: %s", key->name, name, key->accepted);
}

static int take_x(struct reader *reader, const struct key *key, const struct argv *values, struct error *error)
{
    reader->x_line = reader->line;
    if (values->count > 1)
        return error_set(error, "%s: one axis is accepted", key->name);
    return find_axis(key, values->items[0], &reader->study->x, error);
}

static int take_series(struct reader *reader, const struct key *key, const struct argv *values, struct error *error)
{
    reader->series_line = reader->line;
    if (values->count > 1)
        return error_set(error, "%s: one axis is accepted", key->name);
    return find_axis(key, values->items[0], &reader->study->series, error);
}

static int take_heat(struct reader *reader, const struct key *key, const struct argv *values, struct error *error)
{
    int *heat = reader->study->heat;
    reader->study->heat_given = true;
    reader->heat_line = reader->line;
    if (values->count == 1 && strcmp(values->items[0], "none") == 0)
        return 0;
    if (values->count != 2 || strcmp(values->items[0], values->items[1]) == 0)
        return error_set(error, "%s: accepted: two axes, or none", key->name);
    if (find_axis(key, values->items[0], &heat[0], error) < 0)
        return -1;
    return find_axis(key, values->items[1], &heat[1], error);
}

static int take_reference(struct reader *reader, const struct key *key, const struct argv *values,
                          struct study_reference *reference, char text[AXES][256], struct error *error)
{
    reference->line = reader->line;
    reference->given = true;
    for (unsigned i = 0; i < values->count; i++) {
        char name[32];
        const char *equals = strchr(values->items[i], '=');
        snprintf(name, sizeof name, "%.*s", (int)strcspn(values->items[i], "="), values->items[i]);
        int axis = study_axis_find(name);
        if (equals == NULL || axis == AXIS_NONE || strlen(equals + 1) >= sizeof text[axis])
            return error_set(error, "%s = '%.200s' is not accepted: %s", key->name, values->items[i], key->accepted);
        snprintf(text[axis], sizeof text[axis], "%s", equals + 1);
    }
    return 0;
}

static int take_baseline(struct reader *reader, const struct key *key, const struct argv *values, struct error *error)
{
    return take_reference(reader, key, values, &reader->study->baseline, reader->baseline, error);
}

static int take_speedup_base(struct reader *reader, const struct key *key, const struct argv *values,
                             struct error *error)
{
    return take_reference(reader, key, values, &reader->study->speedup_base, reader->speedup_base, error);
}

static int take_yes(const struct key *key, const struct argv *values, bool *is_yes, struct error *error)
{
    *is_yes = strcmp(values->items[0], "yes") == 0;
    if (values->count == 1 && (*is_yes || strcmp(values->items[0], "no") == 0))
        return 0;
    return error_set(error, "%s = '%.200s' is not accepted: %s", key->name, values->items[values->count - 1],
                     key->accepted);
}

static int take_steps_key(struct reader *reader, const struct key *key, const struct argv *values, struct error *error)
{
    return take_yes(key, values, &reader->study->keeps_steps, error);
}

static int take_traces_key(struct reader *reader, const struct key *key, const struct argv *values, struct error *error)
{
    return take_yes(key, values, &reader->study->keeps_traces, error);
}

static int take_seeds_key(struct reader *reader, const struct key *key, const struct argv *values, struct error *error)
{
    reader->seeds_line = reader->line;
    return take_yes(key, values, &reader->study->has_seeds, error);
}

static const struct key keys[] = {
    {"title", study_plan_take_title, "up to 159 characters", AXIS_NONE},
    {"kernel", take_kernel, "a kernel and its parameters, as for hdss run; one line for each", AXIS_KERNEL},
    {"technique", take_axis, "techniques", AXIS_TECHNIQUE},
    {"weighting", take_axis, "none, power, acp", AXIS_WEIGHTING},
    {"power", take_axis, "measure, equal, files, or lists of numbers with commas", AXIS_POWER},
    {"min_chunk", take_number_axis, "integers from 1 to 2^63, " LEAST_HALF_MFSC, AXIS_MIN_CHUNK},
    {"refill_chunks", take_number_axis, "integers from 1 to 64", AXIS_REFILL_CHUNKS},
    {"refill", take_axis, "ahead, when-empty", AXIS_REFILL},
    {"sync_points", take_axis, "auto, integers from 1", AXIS_SYNC_POINTS},
    {"topology", take_topologies, "central, hierarchical, dca-rma, dca-two-sided, dca-node", AXIS_NONE},
    {"masters", take_number_axis, "integers from 0 to 1048576", AXIS_MASTERS},
    {"workers", take_number_axis, "integers from 1 to 1048576", AXIS_WORKERS},
    {"threads", take_axis, "integers from 1 to 1024, auto", AXIS_THREADS},
    {"thread_technique", take_axis, "techniques, as --thread-technique takes them", AXIS_THREAD_TECHNIQUE},
    {"delay", take_axis, "none, calculation:MICROSECONDS, assignment:MICROSECONDS", AXIS_DELAY},
    {"slowdown", take_axis, "numbers from 1 to 1000, or lists of them with commas", AXIS_SLOWDOWN},
    {"load", take_axis, "none, integers from 0 to 64, or lists of them with commas", AXIS_LOAD},
    {"fail_nodes", take_axis, "none, lists of NODE@SECONDS with commas", AXIS_FAIL_NODES},
    {"costs", take_axis, "model, distributions, files of costs", AXIS_COSTS},
    {"repetitions", study_plan_take_repetitions, "an integer from 1 to 10000", AXIS_NONE},
    {"until", take_until, "a percentage above 0, up to 100: 2 %", AXIS_NONE},
    {"seeds", take_seeds_key, "yes, no", AXIS_NONE},
    {"seed", take_seed, "an integer from 0 to 2^64-1", AXIS_NONE},
    {"timeout", take_timeout, "seconds, an integer from 1 to 1000000", AXIS_NONE},
    {"backend", take_machines, "mpirun, simulate", AXIS_BACKEND},
    {"platform", take_machines, "platforms, as hdss simulate takes them", AXIS_PLATFORM},
    {"options", take_options, "options of hdss run that are no axis and that the study does not set itself", AXIS_NONE},
    {"measure", take_measures, MEASURE_NAMES, AXIS_NONE},
    {"x", take_x, STUDY_AXIS_NAMES, AXIS_NONE},
    {"series", take_series, STUDY_AXIS_NAMES, AXIS_NONE},
    {"heat", take_heat, STUDY_AXIS_NAMES, AXIS_NONE},
    {"baseline", take_baseline, "AXIS=VALUE ...", AXIS_NONE},
    {"speedup_base", take_speedup_base, "AXIS=VALUE ...", AXIS_NONE},
    {"steps", take_steps_key, "yes, no", AXIS_NONE},
    {"traces", take_traces_key, "yes, no", AXIS_NONE},
    {NULL},
};

static const struct key *find_key(const char *name, struct error *error)
{
    struct suggestion nearest;
    suggest_init(&nearest, name);
    for (const struct key *key = keys; key->name != NULL; key++) {
        if (strcmp(key->name, name) == 0)
            return key;
        suggest_offer(&nearest, key->name);
    }
    if (nearest.name != NULL)
        error_set(error, "unknown key '%.100s'; did you mean %s?", name, nearest.name);
    else
        error_set(error, "unknown key '%.100s'; accepted: " STUDY_AXIS_NAMES ", " STUDY_OTHER_KEYS, name);
    return NULL;
}

static int take_pair(struct reader *reader, const char *name, const char *text, struct error *error)
{
    struct argv values = {0};
    int result = -1;
    const struct key *key = find_key(name, error);
    if (key == NULL)
        return -1;
    argv_add_split(&values, text);
    if (values.count == 0)
        error_set(error, "%s has no value; accepted: %s", name, key->accepted);
    else if (key->axis != AXIS_KERNEL && argv_contain(&reader->given, name))
        error_set(error, "%s stands there for the second time", name);
    else
        result = key->take(reader, key, &values, error);
    argv_add(&reader->given, name);
    argv_fini(&values);
    return result;
}

static void strip(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && strchr(BLANKS, text[length - 1]) != NULL)
        text[--length] = '\0';
}

/* Changes the line. */
static int study_plan_take_line(struct reader *reader, char *line, struct error *error)
{
    line[strcspn(line, "#")] = '\0';
    for (char *c = line; *c != '\0'; c++)
        if (strchr(BLANKS, *c) != NULL)
            *c = ' ';
    line += strspn(line, BLANKS);
    strip(line);
    if (*line == '\0')
        return 0;
    char *equals = strchr(line, '=');
    if (equals == NULL || equals == line)
        return error_set(error, "'%.100s' is not accepted: KEY = VALUE ..., or # and a comment", line);
    *equals = '\0';
    strip(line);
    return take_pair(reader, line, equals + 1, error);
}

static int take_lines(struct reader *reader, const char *text, struct error *error)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        char *line = strndup(text, length);
        reader->line++;
        int result = line != NULL ? study_plan_take_line(reader, line, error) : error_set(error, "out of memory");
        free(line);
        if (result < 0)
            return -1;
        text += length + (text[length] == '\n');
    }
    return 0;
}

/* Topologies and masters become one axis. */
static int merge_topologies(struct reader *reader, struct error *error)
{
    struct argv *masters = &reader->study->values[AXIS_MASTERS];
    const struct argv *topologies = &reader->topologies;
    struct argv merged = {0};
    reader->line = reader->topologies_line;
    for (unsigned i = 0; i < topologies->count; i++) {
        const char *topology = topologies->items[i];
        unsigned before = merged.count;
        if (strcmp(topology, "central") == 0)
            argv_add(&merged, "0");
        else if (study_plan_is_dca(topology))
            argv_add(&merged, topology);
        else
            for (unsigned k = 0; k < masters->count; k++)
                if (strcmp(masters->items[k], "0") != 0)
                    argv_add(&merged, masters->items[k]);
        if (merged.count == before && !merged.failed) {
            argv_fini(&merged);
            return error_set(error, "the topology hierarchical needs a line masters = 1 ...");
        }
    }
    argv_fini(masters);
    *masters = merged;
    return 0;
}

static int compare_numbers(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    if (study_plan_is_dca(*x) != study_plan_is_dca(*y))
        return study_plan_is_dca(*x) - study_plan_is_dca(*y);
    double first = strtod(*x, NULL), second = strtod(*y, NULL);
    return (first > second) - (first < second);
}

/* A kernel of ours that is misspelt, before what the study lacks: its line is all that some studies have so far. */
static int check_kernel_names(struct reader *reader, struct error *error)
{
    const struct argv *kernels = &reader->study->values[AXIS_KERNEL];
    for (unsigned i = 0; i < kernels->count; i++) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(kernels->items[i], " "), kernels->items[i]);
        reader->line = reader->study->kernel_line[i];
        const struct hdss_kernel *kernel;
        if (strpbrk(name, "./:=") == NULL && kernel_named(name, &kernel, error) < 0)
            return -1;
    }
    reader->line = 0;
    return 0;
}

static int complete_axes(struct reader *reader, struct error *error)
{
    struct study *study = reader->study;
    if (reader->topologies.count > 0 && merge_topologies(reader, error) < 0)
        return -1;
    for (int i = 0; i < AXES; i++) {
        if (study->values[i].count > 0 && study_axes[i].number)
            qsort(study->values[i].items, study->values[i].count, sizeof(char *), compare_numbers);
        if (study->values[i].count > 0)
            continue;
        if (study_axes[i].standard == NULL && check_kernel_names(reader, error) < 0)
            return -1;
        if (study_axes[i].standard == NULL)
            return error_set(error, "the matrix is empty: there is no line %s = ...", study_axes[i].name);
        argv_add(&study->values[i], study_axes[i].standard);
    }
    return 0;
}

static int first_varying(const struct study *study, const int *order, size_t count, int without)
{
    for (size_t i = 0; i < count; i++)
        if (order[i] != without && study_varies(study, order[i]))
            return order[i];
    return AXIS_NONE;
}

static int study_plan_check_threads(struct reader *reader, struct error *error)
{
    const unsigned *line = reader->study->line;
    if (line[AXIS_THREAD_TECHNIQUE] == 0 || line[AXIS_THREADS] != 0)
        return 0;
    reader->line = line[AXIS_THREAD_TECHNIQUE];
    return error_set(error, "thread_technique needs a line threads = T ...");
}

bool study_simulates(const struct study *study)
{
    return argv_contain(&study->values[AXIS_BACKEND], BACKEND_SIMULATE);
}

bool study_has_intervals(const struct study *study)
{
    const bool is_real = argv_contain(&study->values[AXIS_BACKEND], BACKEND_MPIRUN);
    return study->repetitions >= BOOTSTRAP_LEAST && (is_real || study->has_seeds);
}

static int study_plan_refuse_value(struct reader *reader, int axis, const char *value, const char *why,
                                   struct error *error)
{
    reader->line = reader->study->line[axis];
    return error_set(error, "%s = %.200s cannot be simulated%s", study_axes[axis].name, value, why);
}

/* A simulated worker is bound to no cores, and big chunks of a node know nothing of the loads of its workers. */
static int check_simulated_axes(struct reader *reader, struct error *error)
{
    const struct study *study = reader->study;
    const struct argv *threads = &study->values[AXIS_THREADS];
    for (unsigned i = 0; i < threads->count; i++)
        if (strcmp(threads->items[i], "auto") == 0)
            return study_plan_refuse_value(reader, AXIS_THREADS, "auto", ": accepted are numbers", error);
    if (argv_contain(&study->values[AXIS_MASTERS], DCA_PREFIX "node") &&
        argv_contain(&study->values[AXIS_WEIGHTING], "acp"))
        return study_plan_refuse_value(reader, AXIS_WEIGHTING, "acp", " with the topology " DCA_PREFIX "node", error);
    return 0;
}

static bool has_option(const struct argv *words, const char *name)
{
    const size_t length = strlen(name);
    for (unsigned i = 0; i < words->count; i++) {
        const char *word = words->items[i];
        if (strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, length) == 0 &&
            (word[2 + length] == '\0' || word[2 + length] == '='))
            return true;
    }
    return false;
}

/* Simulated runs alone have it, by a line or by its option among the others. */
static int check_axis_of_simulations(struct reader *reader, int axis, struct error *error)
{
    const struct study *study = reader->study;
    reader->line = study->line[axis];
    if (reader->line == 0)
        return 0;
    if (argv_contain(&study->values[AXIS_BACKEND], BACKEND_MPIRUN))
        return error_set(error, "%s is accepted only where all is simulated: backend = simulate",
                         study_axes[axis].name);
    if (has_option(&study->options, study_axes[axis].option))
        return error_set(error, "%s is among the options already", study_axes[axis].name);
    return 0;
}

/* A real run has no platform, and not all can be simulated. */
static int check_machines(struct reader *reader, struct error *error)
{
    const struct study *study = reader->study;
    bool is_real = argv_contain(&study->values[AXIS_BACKEND], BACKEND_MPIRUN);
    reader->line = study->line[AXIS_PLATFORM];
    if (reader->line != 0 && !study_simulates(study))
        return error_set(error, "platform needs a line backend = simulate");
    if (study_varies(study, AXIS_PLATFORM) && is_real)
        return error_set(error, "several platforms are accepted only where all is simulated");
    for (int axis = 0; axis < AXES; axis++)
        if (study_axes[axis].is_simulated && check_axis_of_simulations(reader, axis, error) < 0)
            return -1;
    reader->line = 0;
    if (study_simulates(study) && check_simulated_axes(reader, error) < 0)
        return -1;
    reader->line = 0;
    return 0;
}

/* The axes of a picture: its lines run along one, and what each of them is for. */
static void choose_axes(struct reader *reader)
{
    static const int along[] = {
        AXIS_WORKERS, AXIS_THREADS,   AXIS_MASTERS,          AXIS_SYNC_POINTS, AXIS_MIN_CHUNK, AXIS_REFILL_CHUNKS,
        AXIS_REFILL,  AXIS_TECHNIQUE, AXIS_THREAD_TECHNIQUE, AXIS_SLOWDOWN,    AXIS_LOAD,      AXIS_FAIL_NODES,
        AXIS_COSTS,   AXIS_DELAY,     AXIS_WEIGHTING,        AXIS_POWER,       AXIS_PLATFORM,  AXIS_BACKEND,
        AXIS_KERNEL};
    static const int lines[] = {
        AXIS_MASTERS,   AXIS_TECHNIQUE,     AXIS_THREAD_TECHNIQUE, AXIS_THREADS,     AXIS_WEIGHTING,
        AXIS_MIN_CHUNK, AXIS_REFILL_CHUNKS, AXIS_REFILL,           AXIS_SYNC_POINTS, AXIS_DELAY,
        AXIS_SLOWDOWN,  AXIS_LOAD,          AXIS_FAIL_NODES,       AXIS_COSTS,       AXIS_POWER,
        AXIS_BACKEND,   AXIS_PLATFORM,      AXIS_WORKERS,          AXIS_KERNEL};
    struct study *study = reader->study;
    if (study->x == AXIS_NONE)
        study->x = first_varying(study, along, sizeof along / sizeof *along, study->series);
    if (study->x == AXIS_NONE)
        study->x = AXIS_WORKERS;
    if (study->series == AXIS_NONE)
        study->series = first_varying(study, lines, sizeof lines / sizeof *lines, study->x);
    if (!study->heat_given && study->series != AXIS_NONE) {
        study->heat[0] = study->x;
        study->heat[1] = study->series;
    }
}

static int index_of(const struct argv *values, const char *value)
{
    for (unsigned i = 0; i < values->count; i++)
        if (strcmp(values->items[i], value) == 0)
            return (int)i;
    return -1;
}

static int complete_reference(struct reader *reader, const char *key, struct study_reference *reference,
                              char text[AXES][256], struct error *error)
{
    reader->line = reference->line;
    for (int i = 0; i < AXES; i++) {
        if (text[i][0] == '\0')
            continue;
        reference->at[i] = index_of(&reader->study->values[i], text[i]);
        if (reference->at[i] < 0)
            return error_set(error, "%s = '%s=%.100s': the study has no such value of %s", key, study_axes[i].name,
                             text[i], study_axes[i].name);
    }
    reader->line = 0;
    return 0;
}

static int complete_references(struct reader *reader, struct error *error)
{
    struct study *study = reader->study;
    if (complete_reference(reader, "baseline", &study->baseline, reader->baseline, error) < 0 ||
        complete_reference(reader, "speedup_base", &study->speedup_base, reader->speedup_base, error) < 0)
        return -1;
    if (study->measured[MEASURE_IMPROVEMENT] && !study->baseline.given)
        return error_set(error, "the measure improvement needs a line baseline = AXIS=VALUE ...");
    return 0;
}

/* How often a cell is run at most, where it is run until its interval is narrow enough. */
static int complete_repetitions(struct reader *reader, struct error *error)
{
    struct study *study = reader->study;
    if (study->until > 0 && reader->repetitions_line == 0)
        study->repetitions = STUDY_UNTIL_MOST;
    reader->line = reader->until_line;
    if (study->until > 0 && study->repetitions < STUDY_UNTIL_LEAST)
        return error_set(error, "until needs repetitions = %d or more: fewer runs have no interval of 95 %%",
                         STUDY_UNTIL_LEAST);
    reader->line = reader->seeds_line;
    if (study->has_seeds && !study_simulates(study))
        return error_set(error, "seeds needs a line backend = simulate");
    if (study->has_seeds && has_option(&study->options, "seed"))
        return error_set(error, "seeds: there is a --seed among the options already");
    reader->line = 0;
    return 0;
}

/* True if some run has the option, by a line of the study or beside its kernel. */
static bool is_option_given(const struct study *study, const char *name)
{
    bool is_given = has_option(&study->options, name);
    for (unsigned i = 0; i < study->values[AXIS_KERNEL].count && !is_given; i++) {
        struct argv words = {0};
        argv_add_split(&words, study->values[AXIS_KERNEL].items[i]);
        is_given = has_option(&words, name);
        argv_fini(&words);
    }
    return is_given;
}

/* Measures that no run of the study would have. */
static int check_measures(struct reader *reader, struct error *error)
{
    const struct study *study = reader->study;
    const struct argv *threads = &study->values[AXIS_THREADS];
    const bool has_threads = threads->count > 1 || strcmp(threads->items[0], "1") != 0;
    reader->line = reader->measure_line;
    if (study->measured[MEASURE_THREAD_IMBALANCE] && !has_threads && !is_option_given(study, "threads"))
        return error_set(error, "the measure thread_imbalance needs a line threads = T ... of more than 1");
    reader->line = 0;
    return 0;
}

static void choose_measures(struct study *study)
{
    bool any = false;
    for (int i = 0; i < MEASURES; i++)
        any = any || study->measured[i];
    for (int i = 0; i < MEASURES && !any; i++)
        study->measured[i] = measures[i].standard || (i == MEASURE_IMPROVEMENT && study->baseline.given);
}

static int study_plan_check_size(const struct study *study, struct error *error)
{
    uint64_t runs = study->repetitions;
    for (int i = 0; i < AXES; i++) {
        runs *= study->values[i].count;
        if (runs > STUDY_RUNS_MAX)
            return error_set(error, "the matrix has too many runs; accepted: up to %d", STUDY_RUNS_MAX);
    }
    return 0;
}

static bool study_plan_out_of_memory(const struct reader *reader)
{
    bool failed = reader->topologies.failed || reader->given.failed || reader->study->options.failed;
    for (int i = 0; i < AXES; i++)
        failed = failed || reader->study->values[i].failed;
    return failed;
}

static int study_plan_complete(struct reader *reader, struct error *error)
{
    reader->line = 0;
    if (complete_axes(reader, error) < 0 || study_plan_check_threads(reader, error) < 0 ||
        check_machines(reader, error) < 0 || complete_references(reader, error) < 0 ||
        complete_repetitions(reader, error) < 0 || check_measures(reader, error) < 0 ||
        study_plan_check_size(reader->study, error) < 0)
        return -1;
    if (reader->study->x != AXIS_NONE && reader->study->x == reader->study->series) {
        reader->line = reader->series_line;
        return error_set(error, "series: it is the axis x already");
    }
    choose_axes(reader);
    choose_measures(reader->study);
    return study_plan_out_of_memory(reader) ? error_set(error, "out of memory for the study") : 0;
}

static int locate(const char *name, unsigned line, const struct error *why, struct error *error)
{
    if (line == 0)
        return error_set(error, "%.150s: %s", name, why->text);
    return error_set(error, "%.150s, line %u: %s", name, line, why->text);
}

int study_parse(struct study *study, const char *name, const char *text, struct error *error)
{
    struct error why = {0};
    struct reader reader = {.study = study};
    *study = (struct study){
        .repetitions = 1, .seed = 1, .x = AXIS_NONE, .series = AXIS_NONE, .heat = {AXIS_NONE, AXIS_NONE}};
    for (int i = 0; i < AXES; i++)
        study->baseline.at[i] = study->speedup_base.at[i] = -1;
    int result = take_lines(&reader, text, &why);
    if (result == 0)
        result = study_plan_complete(&reader, &why);
    if (result < 0)
        locate(name, reader.line, &why, error);
    argv_fini(&reader.topologies);
    argv_fini(&reader.given);
    return result;
}

void study_fini(struct study *study)
{
    for (int i = 0; i < AXES; i++)
        argv_fini(&study->values[i]);
    argv_fini(&study->options);
}

typedef int line_check(int argc, char **argv, struct error *error);

static int check_line_by(line_check *check, const struct study *study, const struct argv *options, unsigned kernel,
                         struct error *why)
{
    struct argv line = {0};
    argv_add(&line, "run");
    argv_add_all(&line, options);
    argv_add_split(&line, study->values[AXIS_KERNEL].items[kernel]);
    int result =
        line.failed ? error_set(why, "out of memory for a command line") : check((int)line.count, line.items, why);
    argv_fini(&line);
    return result <= 0 ? result : error_set(why, "--help and --version are not accepted in a study");
}

/* True if the kernel can be run with the options. */
static int check_line(const struct study *study, const struct argv *options, unsigned kernel, struct error *why)
{
    return check_line_by(run_check, study, options, kernel, why);
}

/* The techniques by which the threads can share a chunk are known only where they stand beside their number. */
static int check_thread_techniques(const struct study *study, struct error *why)
{
    const struct argv *values = &study->values[AXIS_THREAD_TECHNIQUE];
    int result = 0;
    for (unsigned i = 0; i < values->count && result == 0; i++) {
        struct argv options = {0};
        argv_add_split(&options, "--threads 2 --thread-technique");
        argv_add(&options, values->items[i]);
        result = check_line(study, &options, 0, why);
        argv_fini(&options);
    }
    return result;
}

/* Loads the techniques that are plug-ins, as each run would: whether a file or a class is one is known only then. */
static int check_plugins(const struct study *study, struct error *why)
{
    const struct argv *values = &study->values[AXIS_TECHNIQUE];
    struct sched_spec spec;
    for (unsigned i = 0; i < values->count; i++)
        if (sched_spec_is_plugin(values->items[i]) && technique_load(&spec, values->items[i], why) < 0)
            return -1;
    return 0;
}

static int check_simulation(const struct study *study, const struct argv *options, unsigned kernel, struct error *why)
{
    struct argv line = {0};
    argv_add(&line, "simulate");
    argv_add_all(&line, options);
    argv_add_split(&line, study->values[AXIS_KERNEL].items[kernel]);
    int result = line.failed ? error_set(why, "out of memory for a command line")
                             : simulate_check((int)line.count, line.items, why);
    argv_fini(&line);
    return result <= 0 ? result : error_set(why, "--help and --version are not accepted in a study");
}

static void study_plan_add_topology(struct argv *options, const char *masters)
{
    bool dca = study_plan_is_dca(masters);
    argv_add(options, dca ? "--dca" : "--masters");
    argv_add(options, dca ? masters + strlen(DCA_PREFIX) : masters);
}

/* With as many ranks as there are to be. The last of the numbers, which are sorted, is the greatest; flat launches,
 * which have the fewest ranks, stand behind the numbers of masters. */
static int check_platform(const struct study *study, const char *platform, struct error *why)
{
    const struct argv *masters = &study->values[AXIS_MASTERS], *workers = &study->values[AXIS_WORKERS];
    struct argv options = {0};
    unsigned last = masters->count - 1;
    while (last > 0 && study_plan_is_dca(masters->items[last]))
        last--;
    study_plan_add_topology(&options, masters->items[last]);
    argv_add_format(&options, "--workers=%s", workers->items[workers->count - 1]);
    if (strcmp(platform, PLATFORM_NONE) != 0)
        argv_add_format(&options, "--platform=%s", platform);
    int result = check_simulation(study, &options, 0, why);
    argv_fini(&options);
    return result;
}

/* The kernel with the options of the study, as in one of its runs: the first platform with as many workers as there are
 * to be, led by so many masters, or by workers alone. */
static int check_options(const struct study *study, const char *masters, unsigned kernel, struct error *why)
{
    const struct argv *workers = &study->values[AXIS_WORKERS];
    const char *platform = study->values[AXIS_PLATFORM].items[0];
    struct argv options = {0};
    study_plan_add_topology(&options, masters);
    argv_add_format(&options, "--workers=%s", workers->items[workers->count - 1]);
    if (strcmp(platform, PLATFORM_NONE) != 0)
        argv_add_format(&options, "--platform=%s", platform);
    argv_add_all(&options, &study->options);
    const int result = check_simulation(study, &options, kernel, why);
    argv_fini(&options);
    return result;
}

/* Checks a kernel alone, or with the options of the study, led by a supermaster or by workers alone. */
static int check_topologies(const struct study *study, const char *name, unsigned kernel, bool with_options,
                            struct error *error)
{
    const struct argv *masters = &study->values[AXIS_MASTERS];
    struct error why;
    for (unsigned k = 0; k < masters->count; k++) {
        const bool is_dca = study_plan_is_dca(masters->items[k]);
        struct argv options = {0};
        if (k > 0 && !is_dca)
            continue;
        if (is_dca)
            study_plan_add_topology(&options, masters->items[k]);
        const int result = with_options ? check_options(study, masters->items[k], kernel, &why)
                                        : check_simulation(study, &options, kernel, &why);
        argv_fini(&options);
        if (result < 0)
            return locate(name, with_options ? study->options_line : study->kernel_line[kernel], &why, error);
    }
    return 0;
}

/* Each value of an axis that simulated runs alone have, on the first platform with the most workers and masters. */
static int check_values_of_simulations(const struct study *study, const char *name, int axis, struct error *error)
{
    const struct argv *masters = &study->values[AXIS_MASTERS], *values = &study->values[axis];
    struct error why;
    for (unsigned i = 0; i < values->count; i++) {
        struct study with_value = *study;
        if (strcmp(values->items[i], study_axes[axis].standard) == 0)
            continue;
        with_value.options = (struct argv){0};
        argv_add_all(&with_value.options, &study->options);
        argv_add_format(&with_value.options, "--%s", study_axes[axis].option);
        argv_add(&with_value.options, values->items[i]);
        const int result = check_options(&with_value, masters->items[masters->count - 1], 0, &why);
        argv_fini(&with_value.options);
        if (result < 0)
            return locate(name, study->line[axis], &why, error);
    }
    return 0;
}

/* --- values that suit no loop, or no workers --- */

/* Checks a value of an axis with what it depends on, as in a run of its own; a simulated run without the study's
 * options, which may ask for more than it needs. */
static int check_value(const struct study *study, int axis, const char *value, const char *masters, const char *workers,
                       unsigned kernel, struct error *why)
{
    struct argv with_value = {0}, all = {0};
    int result = 0;
    study_plan_add_topology(&with_value, masters);
    argv_add_format(&with_value, "--workers=%s", workers);
    argv_add_format(&with_value, "--%s=%s", study_axes[axis].option, value);
    argv_add_all(&all, &study->options);
    argv_add_all(&all, &with_value);
    if (argv_contain(&study->values[AXIS_BACKEND], BACKEND_MPIRUN))
        result = check_line_by(run_check_loop, study, &all, kernel, why);
    if (result == 0 && study_simulates(study))
        result = check_simulation(study, &with_value, kernel, why);
    argv_fini(&with_value);
    argv_fini(&all);
    return result;
}

/* A list has a number for each of so many workers as it has numbers. A file names ranks, which each number of masters
 * and workers has other ones of. */
static int check_power(const struct study *study, const char *power, struct error *why)
{
    const struct argv *masters = &study->values[AXIS_MASTERS], *workers = &study->values[AXIS_WORKERS];
    char parts[24];
    unsigned count = 1;
    for (const char *at = power; *at != '\0'; at++)
        count += *at == ',';
    snprintf(parts, sizeof parts, "%u", count);
    for (unsigned m = 0; m < masters->count; m++)
        for (unsigned w = 0; w < workers->count; w++)
            if (check_value(study, AXIS_POWER, power, masters->items[m], count > 1 ? parts : workers->items[w], 0,
                            why) < 0)
                return -1;
    return 0;
}

/* Loops without dependencies have no points of synchronization, and others not more than they have elements. */
static int check_sync_points(const struct study *study, const char *points, struct error *why)
{
    const char *masters = study->values[AXIS_MASTERS].items[0], *workers = study->values[AXIS_WORKERS].items[0];
    for (unsigned kernel = 0; kernel < study->values[AXIS_KERNEL].count; kernel++)
        if (check_value(study, AXIS_SYNC_POINTS, points, masters, workers, kernel, why) < 0)
            return -1;
    return 0;
}

static int check_suitable_values(const struct study *study, const char *name, int axis,
                                 int (*check)(const struct study *study, const char *value, struct error *why),
                                 struct error *error)
{
    const struct argv *values = &study->values[axis];
    struct error why;
    for (unsigned i = 0; study->line[axis] != 0 && i < values->count; i++)
        if (strcmp(values->items[i], study_axes[axis].standard) != 0 && check(study, values->items[i], &why) < 0)
            return locate(name, study->line[axis], &why, error);
    return 0;
}

static int check_simulations(const struct study *study, const char *name, struct error *error)
{
    const struct argv *platforms = &study->values[AXIS_PLATFORM];
    const unsigned kernels = study->values[AXIS_KERNEL].count, line = study->line[AXIS_PLATFORM];
    struct error why;
    for (unsigned i = 0; i < kernels; i++)
        if (check_topologies(study, name, i, false, error) < 0)
            return -1;
    for (unsigned i = 0; i < platforms->count; i++)
        if (check_platform(study, platforms->items[i], &why) < 0)
            return locate(name, line > 0 ? line : study->line[AXIS_WORKERS], &why, error);
    for (unsigned i = 0; i < kernels; i++)
        if (check_topologies(study, name, i, true, error) < 0)
            return -1;
    for (int axis = 0; axis < AXES; axis++)
        if (study_axes[axis].is_simulated && check_values_of_simulations(study, name, axis, error) < 0)
            return -1;
    return 0;
}

static int check_real_runs(const struct study *study, const char *name, struct error *error)
{
    static const struct argv none;
    struct error why;
    for (unsigned i = 0; i < study->values[AXIS_KERNEL].count; i++) {
        if (check_line(study, &none, i, &why) < 0)
            return locate(name, study->kernel_line[i], &why, error);
        if (check_line(study, &study->options, i, &why) < 0)
            return locate(name, study->options_line, &why, error);
        if (check_line_by(run_check_inputs, study, &study->options, i, &why) < 0)
            return locate(name, study->kernel_line[i], &why, error);
    }
    if (study->line[AXIS_THREAD_TECHNIQUE] != 0 && check_thread_techniques(study, &why) < 0)
        return locate(name, study->line[AXIS_THREAD_TECHNIQUE], &why, error);
    return 0;
}

int study_check(const struct study *study, const char *name, struct error *error)
{
    struct error why;
    if (study->line[AXIS_TECHNIQUE] != 0 && check_plugins(study, &why) < 0)
        return locate(name, study->line[AXIS_TECHNIQUE], &why, error);
    if (study_simulates(study) && check_simulations(study, name, error) < 0)
        return -1;
    if (argv_contain(&study->values[AXIS_BACKEND], BACKEND_MPIRUN) && check_real_runs(study, name, error) < 0)
        return -1;
    if (check_suitable_values(study, name, AXIS_POWER, check_power, error) < 0)
        return -1;
    return check_suitable_values(study, name, AXIS_SYNC_POINTS, check_sync_points, error);
}
