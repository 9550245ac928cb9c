/* SPDX-License-Identifier: MIT */
/* The time of a supermaster's step function with many workers, in ns: masters tell what is done and ask for
 * refills, in an order that is drawn anew in each round, until dfss has handed out 100 iterations for each worker; then
 * the half of them recalls work of the others.
 *
 *   supermaster-steps MASTERS WORKERS [SAMPLES]
 *
 * A row is a message that comes: of those that ask for a refill the time for each chunk of it, of the others for each
 * message; medians, first and last tenths. "behind one another" is what a burst has: each step finds in the caches what
 * the steps before it have left there. "cold": before each step that is timed, SAMPLES in a round, a buffer larger than
 * the caches is written. "encoded": the messages that leave are encoded, too, into a ring as large as some caches. */
#include "common/config/run_spec.h"
#include "common/machine/topology.h"
#include "common/util/random.h"
#include "supermaster/supermaster.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* More than the last cache of what this is run on. */
#define EVICTED_BYTES (UINT64_C(96) << 20)
#define RING_BYTES    (UINT64_C(8) << 20)
#define ROUNDS_MAX    40 /* of dfss */
#define SEED          1

struct bench {
    struct topology topology;
    struct run_spec spec;
    struct supermaster supermaster;
    struct actions actions;
    struct action_sink sink;
    unsigned char *ring;    /* [RING_BYTES] the messages, one behind the other */
    uint64_t written;       /* bytes so far */
    unsigned char *evicted; /* [EVICTED_BYTES] */
    unsigned *order;        /* [masters] */
    struct range *given;    /* [masters] iterations of the latest refill: they lie together */
    uint64_t now_ns, chunks;
    unsigned asked; /* master that was sent the latest RECALL; NO_RANK: none */
    bool encodes;
};

static void fail(const char *text)
{
    fprintf(stderr, "supermaster-steps: %s\n", text);
    exit(EXIT_FAILURE);
}

static void *checked(void *memory)
{
    if (memory == NULL)
        fail("out of memory");
    return memory;
}

static uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void take_message(void *context, unsigned to, const struct message *message)
{
    struct bench *bench = context;
    unsigned m = topology_master(&bench->topology, to);
    if (bench->encodes) {
        unsigned char *place = bench->ring + bench->written % (RING_BYTES - MESSAGE_MAX);
        bench->written += message_encode(message, FIRST_JOB, place);
    }
    if (message->type == MESSAGE_RECALL)
        bench->asked = m;
    if (message->type != MESSAGE_REFILL || message->record_count == 0)
        return;
    struct chunk_record first, last;
    chunk_record_get(message->records, 0, &first);
    chunk_record_get(message->records, message->record_count - 1, &last);
    struct range *given = &bench->given[m];
    if (given->count == 0)
        given->first = first.first;
    given->count = last.first + last.count - given->first;
    bench->chunks += message->record_count;
}

static void ignore_action(void *context, const struct action *action)
{
    (void)context;
    (void)action;
}

static void set_up(struct bench *bench, unsigned masters, unsigned workers)
{
    struct error error;
    struct hello *hellos = checked(calloc(1 + masters + workers, sizeof *hellos));
    double *speeds = checked(calloc(workers, sizeof *speeds));
    for (unsigned rank = 0; rank < 1 + masters + workers; rank++) {
        enum role role = rank == 0 ? ROLE_SUPERMASTER : rank <= masters ? ROLE_MASTER : ROLE_WORKER;
        hellos[rank] = (struct hello){.protocol = PROTOCOL_VERSION, .role = role};
    }
    for (unsigned w = 0; w < workers; w++)
        speeds[w] = 1;
    run_spec_init(&bench->spec);
    bench->spec.recall = RUN_RECALL_OFF; /* chunks as dfss says them, whatever the rate is here */
    if (run_spec_set_technique(&bench->spec, "dfss", &error) < 0)
        fail(error.text);
    if (topology_init(&bench->topology, hellos, 1 + masters + workers, false) < 0)
        fail("out of memory");
    const struct supermaster_config config = {
        .topology = &bench->topology,
        .spec = &bench->spec,
        .count = UINT64_C(100) * workers,
        .speeds = speeds,
    };
    if (supermaster_init(&bench->supermaster, &config, &error) < 0)
        fail(error.text);
    bench->sink = (struct action_sink){take_message, ignore_action, bench};
    actions_init_sink(&bench->actions, &bench->sink);
    bench->ring = checked(calloc(1, RING_BYTES));
    bench->evicted = checked(calloc(1, EVICTED_BYTES));
    bench->order = checked(calloc(masters, sizeof *bench->order));
    bench->given = checked(calloc(masters, sizeof *bench->given));
    for (unsigned m = 0; m < masters; m++)
        bench->order[m] = m;
    free(hellos);
    free(speeds);
    const struct event start = {.type = EVENT_START};
    supermaster_step(&bench->supermaster, &start, &bench->actions);
}

static void tear_down(struct bench *bench)
{
    supermaster_fini(&bench->supermaster);
    actions_fini(&bench->actions);
    topology_fini(&bench->topology);
    free(bench->ring);
    free(bench->evicted);
    free(bench->order);
    free(bench->given);
}

static void shuffle(struct bench *bench, uint64_t round)
{
    for (unsigned m = bench->topology.masters; m > 1; m--) {
        unsigned other = (unsigned)(random_at(SEED + round, m) % m), last = bench->order[m - 1];
        bench->order[m - 1] = bench->order[other];
        bench->order[other] = last;
    }
}

/* Returns the time of the step with the message, which is decoded as from the wire. */
static uint64_t step(struct bench *bench, unsigned m, const struct message *message)
{
    unsigned char bytes[MESSAGE_MAX];
    size_t size = message_encode(message, FIRST_JOB, bytes);
    struct message decoded;
    uint64_t began_ns = clock_ns();
    if (message_decode(&decoded, bytes, size) != DECODE_OK)
        fail("a message that is not of the protocol");
    const struct event event = {.type = EVENT_MESSAGE,
                                .now_ns = bench->now_ns += 1000,
                                .from = bench->topology.master_rank[m],
                                .message = &decoded};
    actions_clear(&bench->actions);
    supermaster_step(&bench->supermaster, &event, &bench->actions);
    return clock_ns() - began_ns;
}

static uint64_t report(struct bench *bench, unsigned m, bool refill)
{
    unsigned char record[DONE_RECORD_BYTES];
    const struct done_record done = {.first = bench->given[m].first, .count = bench->given[m].count};
    done_record_put(record, 0, &done);
    const struct message message = {.type = MESSAGE_REPORT,
                                    .report = {.refill = refill},
                                    .records = record,
                                    .record_count = !refill && done.count > 0};
    if (!refill)
        bench->given[m] = (struct range){0};
    return step(bench, m, &message);
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void print(const char *name, double *times, size_t count)
{
    if (count == 0)
        return;
    qsort(times, count, sizeof *times, by_size);
    printf("%-44s %9.1f (%.1f .. %.1f)\n", name, times[count / 2], times[count / 10], times[count - 1 - count / 10]);
}

/* Rounds of refills, each behind a report of what is done: the times of every `every`-th. */
static void rounds(struct bench *bench, unsigned every, bool cold)
{
    const unsigned masters = bench->topology.masters;
    double *refills = checked(calloc((size_t)masters * ROUNDS_MAX, sizeof *refills));
    double *reports = checked(calloc((size_t)masters * ROUNDS_MAX, sizeof *reports));
    size_t count = 0, told = 0;
    for (unsigned round = 0; round < ROUNDS_MAX && ranges_total(&bench->supermaster.ledger.free) > 0; round++) {
        shuffle(bench, round);
        for (unsigned i = 0; i < masters; i++) {
            const unsigned m = bench->order[i];
            const bool timed = i % every == 0;
            if (bench->given[m].count > 0) {
                if (timed && cold)
                    memset(bench->evicted, (int)i, EVICTED_BYTES);
                uint64_t ns = report(bench, m, false);
                if (timed)
                    reports[told++] = (double)ns;
            }
            uint64_t before = bench->chunks;
            if (timed && cold)
                memset(bench->evicted, (int)i, EVICTED_BYTES);
            uint64_t ns = report(bench, m, true);
            if (timed && bench->chunks > before)
                refills[count++] = (double)ns / (double)(bench->chunks - before);
        }
    }
    char name[80];
    snprintf(name, sizeof name, "refill, a chunk, %s%s", cold ? "cold" : "behind one another",
             bench->encodes ? ", encoded" : "");
    print(name, refills, count);
    snprintf(name, sizeof name, "report, %s%s", cold ? "cold" : "behind one another",
             bench->encodes ? ", encoded" : "");
    print(name, reports, told);
    free(refills);
    free(reports);
}

/* The half of the masters have nothing left and have the others recalled: the times of RECALL, and of the RETURNED of
 * one iteration that answers it, which goes to the master that waits. */
static void recalls(struct bench *bench, unsigned every, bool cold)
{
    const unsigned masters = bench->topology.masters, poor = masters / 2;
    double *asks = checked(calloc(masters, sizeof *asks)), *answers = checked(calloc(masters, sizeof *answers));
    size_t count = 0, answered = 0;
    for (unsigned i = 0; i < poor; i++) {
        report(bench, bench->order[i], false);
        report(bench, bench->order[i], true);
    }
    for (unsigned i = 0; i < poor; i++) {
        const bool timed = i % every == 0;
        const struct message ask = {.type = MESSAGE_RECALL, .recall = {1}};
        bench->asked = NO_RANK;
        if (timed && cold)
            memset(bench->evicted, (int)i, EVICTED_BYTES);
        uint64_t ns = step(bench, bench->order[i], &ask);
        if (bench->asked == NO_RANK)
            fail("a recall was not passed on");
        asks[count] = (double)ns;
        count += timed;
        struct range *given = &bench->given[bench->asked];
        unsigned char record[ASSIGN_RECORD_BYTES];
        assign_record_put(record, 0, given->first + --given->count, 1);
        const struct message answer = {.type = MESSAGE_RETURNED, .records = record, .record_count = 1};
        if (timed && cold)
            memset(bench->evicted, (int)i, EVICTED_BYTES);
        uint64_t chunks = bench->chunks;
        ns = step(bench, bench->asked, &answer);
        if (bench->chunks != chunks + 1)
            fail("what was returned was not handed out");
        answers[answered] = (double)ns;
        answered += timed;
    }
    print(cold ? "recall, cold" : "recall, behind one another", asks, count);
    print(cold ? "returned, cold" : "returned, behind one another", answers, answered);
    free(asks);
    free(answers);
}

int main(int argc, char **argv)
{
    unsigned masters = argc > 2 ? (unsigned)atoi(argv[1]) : 0, workers = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    unsigned samples = argc > 3 ? (unsigned)atoi(argv[3]) : 32;
    if (masters == 0 || workers < masters || samples == 0) {
        fprintf(stderr, "usage: supermaster-steps MASTERS WORKERS [SAMPLES]\n");
        return EXIT_FAILURE;
    }
    for (unsigned way = 0; way < 4; way++) {
        struct bench bench = {.encodes = way % 2 == 1};
        set_up(&bench, masters, workers);
        bool cold = way >= 2;
        unsigned every = !cold ? 1 : masters > samples ? masters / samples : 1;
        rounds(&bench, every, cold);
        recalls(&bench, every, cold);
        tear_down(&bench);
    }
    return EXIT_SUCCESS;
}
