/* SPDX-License-Identifier: MIT */
/* Does work of size N, so that valgrind can count the instructions: growth SUBJECT N. See growth.py. */
#include "common/util/error.h"
#include "common/util/precedence.h"
#include "deploy/simulate/virtual/cluster.h"
#include "supermaster/ledger.h"
#include "supermaster/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double uneven(void *context, uint64_t iteration)
{
    (void)context;
    return 1000 + (double)(iteration * 2654435761u % 4096);
}

static double uneven_ms(void *context, uint64_t iteration)
{
    return 200 * uneven(context, iteration);
}

static int run(const struct virtual_config *config)
{
    struct error error;
    struct virtual_cluster *cluster = virtual_new(config, &error);
    if (cluster == NULL) {
        fprintf(stderr, "growth: %s\n", error.text);
        return EXIT_FAILURE;
    }
    const int status = virtual_run(cluster).status;
    virtual_free(cluster);
    return status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static struct virtual_config cluster_of(unsigned workers)
{
    return (struct virtual_config){
        .workers = workers,
        .technique = "dfss",
        .spec.min_chunk = 1,
        .spec.recall = RUN_RECALL_ON,
        .count = 20 * (uint64_t)workers,
        .cost_ns = uneven,
        .latency_ns = 1000,
        .service_ns = 20,
        .unchecked = true,
    };
}

/* A loop without masters: workers ask ahead, and what is left at the end is recalled. */
static int compute(unsigned workers)
{
    const struct virtual_config config = cluster_of(workers);
    return run(&config);
}

/* The same, where each answer of the supermaster is late: workers seem silent, and get copies of each other's chunks.
 */
static int compute_copies(unsigned workers)
{
    struct virtual_config config = cluster_of(workers);
    config.cost_ns = uneven_ms;
    config.service_ns = 30000;
    return run(&config);
}

/* A loop that loses every second worker, one after another. */
static int lose_workers(unsigned lost)
{
    struct virtual_config config = cluster_of(2 * lost);
    struct virtual_fault *faults = calloc(lost, sizeof *faults);
    if (faults == NULL)
        return EXIT_FAILURE;
    for (unsigned i = 0; i < lost; i++)
        faults[i] = (struct virtual_fault){.type = VIRTUAL_KILL, .rank = 1 + 2 * i, .at_ns = 20000 + 20 * (uint64_t)i};
    config.faults = faults;
    config.fault_count = lost;
    config.detect_ns = 5000;
    const int status = run(&config);
    free(faults);
    return status;
}

/* Launches join one after another, each a master with two workers, and take part to the end. */
static int join_pods(unsigned pods)
{
    struct virtual_config config = cluster_of(2);
    struct virtual_pod *joining = calloc(pods, sizeof *joining);
    if (joining == NULL)
        return EXIT_FAILURE;
    for (unsigned i = 0; i < pods; i++)
        joining[i] = (struct virtual_pod){.at_ns = 2000 * (uint64_t)i, .workers = 2, .speed = 1};
    config.masters = 1;
    config.technique = "gss";
    config.count = 8 * (uint64_t)pods;
    config.pods = joining;
    config.pod_count = pods;
    config.is_elastic = true;
    const int status = run(&config);
    free(joining);
    return status;
}

/* Each row of a list waits for the row before it, or all rows wait for the first. */
static int wait_for_rows(unsigned rows, bool is_chain)
{
    struct virtual_config config = cluster_of(16);
    struct precedence precedence;
    precedence_init(&precedence);
    for (unsigned i = 1; i < rows; i++)
        if (precedence_add(&precedence, i, is_chain ? i - 1 : 0) < 0)
            return EXIT_FAILURE;
    uint64_t *circle;
    if (precedence_close(&precedence, rows) < 0 || precedence_find_circle(&precedence, &circle) != 0)
        return EXIT_FAILURE;
    config.technique = "ss";
    config.count = rows;
    config.are_tasks = true;
    config.precedence = &precedence;
    const int status = run(&config);
    precedence_fini(&precedence);
    return status;
}

/* A queue of so many jobs, each after the one before it or after none. */
static bool fill(struct queue *queue, unsigned jobs, bool is_chain)
{
    struct error error;
    queue_init(queue, 8);
    for (unsigned i = 0; i < jobs; i++) {
        struct submission submission = {0};
        submission.after_count = is_chain && i > 0;
        submission.after = submission.after_count > 0 ? malloc(sizeof *submission.after) : NULL;
        if (submission.after != NULL)
            submission.after[0] = i;
        if (queue_submit(queue, &submission, 0, &error) == NULL) {
            fprintf(stderr, "growth: %s\n", error.text);
            return false;
        }
    }
    return true;
}

/* Each job begins, is put back after the queue was searched for another one, begins again, and ends. */
static int put_back(unsigned jobs, bool is_chain)
{
    struct queue queue;
    unsigned over = 0;
    if (!fill(&queue, jobs, is_chain))
        return EXIT_FAILURE;
    for (struct queue_job *job; (job = queue_next(&queue)) != NULL; over++) {
        queue_begun(&queue, job, 0);
        queue_next(&queue);
        queue_put_back(&queue, job, job->has_run);
        job = queue_next(&queue);
        queue_begun(&queue, job, 0);
        queue_over(&queue, job, EXIT_SUCCESS, 0);
    }
    queue_fini(&queue);
    return over == jobs ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int put_back_alone(unsigned jobs)
{
    return put_back(jobs, false);
}

static int put_back_chain(unsigned jobs)
{
    return put_back(jobs, true);
}

static int chain_rows(unsigned rows)
{
    return wait_for_rows(rows, true);
}

static int fan_rows(unsigned rows)
{
    return wait_for_rows(rows, false);
}

/* Each worker computes a chunk that was cut for another. A chunk is a small part of the loop, as at its end. */
static int compute_for_others(unsigned workers)
{
    struct ledger ledger;
    struct range range;
    unsigned done = 0;
    if (ledger_init(&ledger, 0, 1000 * (uint64_t)workers, workers) < 0)
        return EXIT_FAILURE;
    for (unsigned w = 0; w < workers; w++)
        ledger_grant(&ledger, w, 8, &range);
    for (unsigned w = 0; w < workers; w++)
        done += ledger_commit(&ledger, (w + workers / 2) % workers, 8 * (uint64_t)w, 8, 1) == LEDGER_COMMITTED;
    ledger_fini(&ledger);
    return done == workers ? EXIT_SUCCESS : EXIT_FAILURE;
}

static const struct {
    const char *name;
    int (*run)(unsigned size);
} subjects[] = {
    {"workers", compute},         {"copies", compute_copies}, {"losses", lose_workers},
    {"put-back", put_back_alone}, {"chain", put_back_chain},  {"rows-chain", chain_rows},
    {"rows-fan", fan_rows},       {"pods", join_pods},        {"others", compute_for_others},
};

int main(int argc, char **argv)
{
    const unsigned size = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    for (size_t i = 0; size > 0 && i < sizeof subjects / sizeof *subjects; i++)
        if (strcmp(argv[1], subjects[i].name) == 0)
            return subjects[i].run(size);
    fprintf(stderr, "usage: growth SUBJECT N\n");
    return EXIT_FAILURE;
}
