/* SPDX-License-Identifier: MIT */
/* Work of a size, for valgrind to count its instructions, see growth.py:
 *
 *   growth workers N     a loop without masters, of which workers ask ahead and what is left is recalled
 *   growth put-back N    a set's queue: each of N jobs is about to begin, and waits again
 *   growth chain N       a set's queue: N jobs, each after the one before it
 */
#include "common/util/error.h"
#include "deploy/simulate/virtual/cluster.h"
#include "supermaster/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double uneven(void *context, uint64_t iteration)
{
    (void)context;
    return 1000 + (double)(iteration * 2654435761u % 4096);
}

static int compute(unsigned workers)
{
    struct error error;
    const struct virtual_config config = {
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
    struct virtual_cluster *cluster = virtual_new(&config, &error);
    if (cluster == NULL) {
        fprintf(stderr, "growth: %s\n", error.text);
        return EXIT_FAILURE;
    }
    const int status = virtual_run(cluster).status;
    virtual_free(cluster);
    return status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
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

/* Each job is over after it was put back once. */
static int put_back(unsigned jobs, bool is_chain)
{
    struct queue queue;
    unsigned over = 0;
    if (!fill(&queue, jobs, is_chain))
        return EXIT_FAILURE;
    for (struct queue_job *job; (job = queue_next(&queue)) != NULL; over++) {
        queue_begun(&queue, job, 0);
        queue_put_back(&queue, job);
        job = queue_next(&queue);
        queue_begun(&queue, job, 0);
        queue_over(&queue, job, EXIT_SUCCESS, 0);
    }
    queue_fini(&queue);
    return over == jobs ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    const unsigned size = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    if (size > 0 && strcmp(argv[1], "workers") == 0)
        return compute(size);
    if (size > 0 && strcmp(argv[1], "put-back") == 0)
        return put_back(size, false);
    if (size > 0 && strcmp(argv[1], "chain") == 0)
        return put_back(size, true);
    fprintf(stderr, "usage: growth workers|put-back|chain N\n");
    return EXIT_FAILURE;
}
