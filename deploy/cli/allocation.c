/* SPDX-License-Identifier: MIT */
/* Reads a batch job's nodes and time from the environment: see allocation.h. */
#include "deploy/cli/allocation.h"
#include "common/util/number.h"
#include "deploy/cli/capture.h"
#include "deploy/cli/duration.h"
#include "deploy/cli/node_list.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLANKS " \t\r\n"

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

bool allocation_is_there(void)
{
    static const char *const jobs[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        if (variable(jobs[i]) != NULL)
            return true;
    return allocation_is_slurm();
}

bool allocation_is_slurm(void)
{
    return variable("SLURM_JOB_NODELIST") != NULL;
}

static int visit_node(void *context, const char *name, struct error *error)
{
    struct hosts *hosts = context;
    unsigned before = hosts->count;
    if (hosts_add(hosts, name, strlen(name), 0, error) < 0)
        return -1;
    return hosts->count > before ? 0 : error_set(error, "'%.100s' is in the list twice", name);
}

static int read_slurm_nodes(struct hosts *hosts, struct error *error)
{
    return node_list_expand(variable("SLURM_JOB_NODELIST"), visit_node, hosts, error) < 0
               ? error_before(error, "SLURM_JOB_NODELIST: ")
               : 0;
}

static int read_slurm_counts(struct hosts *hosts, const char *name, unsigned each, struct error *error)
{
    unsigned *counts = calloc(hosts->count, sizeof *counts);
    if (counts == NULL)
        return error_set(error, "out of memory for %u nodes", hosts->count);
    int result = node_counts_parse(variable(name), counts, hosts->count, error);
    for (unsigned i = 0; result == 0 && i < hosts->count; i++) {
        const char *node = hosts->items[i].name;
        result = hosts_add(hosts, node, strlen(node), (uint64_t)counts[i] * each, error);
    }
    free(counts);
    return result < 0 ? error_before(error, "%s: ", name) : 0;
}

static int allocation_read_number(const char *name, unsigned *number, struct error *error)
{
    uint64_t parsed;
    const char *value = variable(name);
    if (value == NULL)
        return 0;
    if (number_parse_u64(value, &parsed) < 0 || parsed == 0 || parsed > SLOTS_MAX)
        return error_set(error, "%s: '%.100s': accepted: an integer from 1 to %d", name, value, SLOTS_MAX);
    *number = (unsigned)parsed;
    return 0;
}

/* Slots under Slurm: tasks per node times cores per task if the job gives both; otherwise all cores that the job has
 * on the node. */
static int read_slurm(struct hosts *hosts, struct error *error)
{
    unsigned cores = 0, each = 1;
    if (read_slurm_nodes(hosts, error) < 0 || allocation_read_number("SLURM_CPUS_PER_TASK", &each, error) < 0 ||
        allocation_read_number("SLURM_CPUS_ON_NODE", &cores, error) < 0)
        return -1;
    if (variable("SLURM_NTASKS") != NULL && variable(ALLOCATION_TASKS) != NULL)
        return read_slurm_counts(hosts, ALLOCATION_TASKS, each, error);
    if (variable("SLURM_JOB_CPUS_PER_NODE") != NULL)
        return read_slurm_counts(hosts, "SLURM_JOB_CPUS_PER_NODE", 1, error);
    /* SLURM_CPUS_ON_NODE counts the cores of this node only. */
    if (hosts->count == 1)
        hosts->items[0].slots = cores;
    return 0;
}

static int parse_words(struct hosts *hosts, const char *text, struct error *error)
{
    for (text += strspn(text, BLANKS); *text != '\0'; text += strspn(text, BLANKS)) {
        size_t length = strcspn(text, BLANKS);
        if (hosts_add(hosts, text, length, 1, error) < 0)
            return -1;
        text += length;
    }
    return hosts->count > 0 ? 0 : error_set(error, "no host in it");
}

static int parse_pairs(struct hosts *hosts, const char *text, struct error *error)
{
    for (text += strspn(text, BLANKS); *text != '\0'; text += strspn(text, BLANKS)) {
        char number[24];
        uint64_t slots;
        size_t length = strcspn(text, BLANKS);
        const char *name = text;
        text += length + strspn(text + length, BLANKS);
        size_t digits = strcspn(text, BLANKS);
        snprintf(number, sizeof number, "%.*s", (int)(digits < sizeof number ? digits : sizeof number - 1), text);
        if (number_parse_u64(number, &slots) < 0 || slots == 0)
            return error_set(error, "'%s' cores: accepted: hosts, each with a number behind it: node1 16 node2 8",
                             number);
        if (hosts_add(hosts, name, length, slots, error) < 0)
            return -1;
        text += digits;
    }
    return hosts->count > 0 ? 0 : error_set(error, "no host in it");
}

static int read_with(struct hosts *hosts, const char *name, hosts_parser *parse, bool is_file, struct error *error)
{
    const char *value = variable(name);
    int result = is_file ? hosts_read(hosts, value, parse, error) : parse(hosts, value, error);
    return result < 0 ? error_before(error, "%s: ", name) : 0;
}

int allocation_read(struct hosts *hosts, struct error *error)
{
    static const struct {
        const char *name;
        hosts_parser *parse;
        bool is_file;
    } sources[] = {
        {"LSB_MCPU_HOSTS", parse_pairs, false},
        {"LSB_DJOB_HOSTFILE", parse_words, true},
        {"LSB_HOSTS", parse_words, false},
        {"PBS_NODEFILE", parse_words, true},
    };
    if (allocation_is_slurm())
        return read_slurm(hosts, error);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (variable(sources[i].name) != NULL)
            return read_with(hosts, sources[i].name, sources[i].parse, sources[i].is_file, error);
    return 0;
}

bool allocation_is_narrow(const struct hosts *hosts)
{
    bool is_narrow = allocation_is_slurm() && hosts->count > 0 && variable("SLURM_NTASKS") == NULL &&
                     variable("SLURM_CPUS_PER_TASK") == NULL;
    for (unsigned i = 0; i < hosts->count; i++)
        is_narrow = is_narrow && hosts->items[i].slots == 1;
    return is_narrow;
}

/* Asks squeue when the job ends, because Slurm before 23.02 sets no variable for it. */
static int64_t ask_slurm(void)
{
    char program[] = "squeue", brief[] = "--noheader", format[] = "--format=%L", job[64], text[80];
    char *argv[] = {program, brief, format, job, NULL};
    uint64_t seconds;
    snprintf(job, sizeof job, "--jobs=%.40s", variable("SLURM_JOB_ID"));
    capture(argv, text, sizeof text, CAPTURE_MS);
    text[strcspn(text, BLANKS)] = '\0';
    return duration_parse(text, &seconds) == 0 && seconds < INT_MAX ? (int64_t)seconds : -1;
}

int64_t allocation_seconds_left(void)
{
    const char *end = variable("SLURM_JOB_END_TIME");
    uint64_t end_s;
    if (variable("SLURM_JOB_ID") == NULL)
        return -1;
    if (end == NULL || number_parse_u64(end, &end_s) < 0 || end_s > INT64_MAX)
        return ask_slurm();
    int64_t left = (int64_t)end_s - (int64_t)time(NULL);
    return left <= 0 ? 0 : left < INT_MAX ? left : -1;
}

static unsigned allocation_ranks_on(const struct hosts *hosts, const char *name)
{
    for (unsigned i = 0; i < hosts->count; i++)
        if (strcmp(hosts->items[i].name, name) == 0)
            return hosts->items[i].ranks;
    return 0;
}

/* Slurm accepts no count of 0, so a node without ranks is listed with 1. No rank is started there. */
char *allocation_tasks(const struct hosts *hosts)
{
    struct hosts nodes = {0};
    struct error ignored;
    char *text = NULL;
    size_t size;
    if (!allocation_is_slurm() || node_list_expand(variable("SLURM_JOB_NODELIST"), visit_node, &nodes, &ignored) < 0)
        goto end;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL)
        goto end;
    for (unsigned i = 0, repetitions; i < nodes.count; i += repetitions) {
        unsigned ranks = allocation_ranks_on(hosts, nodes.items[i].name);
        for (repetitions = 1; i + repetitions < nodes.count; repetitions++)
            if (allocation_ranks_on(hosts, nodes.items[i + repetitions].name) != ranks)
                break;
        fprintf(file, repetitions > 1 ? "%s%u(x%u)" : "%s%u", i > 0 ? "," : "", ranks > 0 ? ranks : 1, repetitions);
    }
    fclose(file);
end:
    hosts_fini(&nodes);
    return text;
}
