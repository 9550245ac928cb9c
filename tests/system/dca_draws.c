/* SPDX-License-Identifier: MIT */
/* The draws of real flat runs: ranks that share loops by the transports of worker --dca, without a kernel, and write
 * down what they drew.
 *
 *   dca-draws forms    every technique in every mode that takes it, loops of 0, 1, 7, 1000 and 1,000,000 iterations:
 *                       the chunks cover the loop exactly once, and are those of the closed form
 *   dca-draws contest  in every mode 60 short loops right after one another, of chance lengths and techniques; some
 *                       are stopped by one of the ranks, and by node chunks are cut for ranks that have nothing left:
 *                       no iteration twice, and none lost unless stopped
 *
 * Run by mpirun with any number of ranks. One line on standard output when all is well; else one on standard error and
 * status 1. */
#include "common/carrier/carrier.h"
#include "common/config/dca_options.h"
#include "common/config/rank_options.h"
#include "common/dca/core.h"
#include "common/dca/core_queue.h"
#include "common/dca/machine.h"
#include "common/dca/share.h"
#include "common/job/job_setup.h"
#include "common/job/root.h"
#include "common/machine/topology.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/mpi/wait.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "common/util/ranges.h"
#include "proto/message.h"
#include "worker/dca/dca.h"
#include "worker/dca/work.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a closed form at most. */
#define CHUNKS_MAX 1100000u
/* A longer loop is not drawn one by one: test_flat.py does that, here it would take most of the time. */
#define LONG  100000u
#define LOOPS 60
#define SWR   0.6

struct mode {
    const char *name;
    const struct transport *transport;
    bool two_counters;
};

static const struct mode modes[] = {
    {"rma", &transport_rma, false},
    {"rma:atomics=2", &transport_rma, true},
    {"two-sided", &transport_two_sided, false},
    {"two-sided:exchanges=2", &transport_two_sided, true},
    {"node", &transport_node, false},
};

#define MODES (sizeof modes / sizeof *modes)

/* A loop to be shared. */
struct loop {
    const struct mode *mode;
    char technique[64], inside[64];
    uint64_t iterations;
    unsigned stopper; /* this rank stops the run after its `stop_after`-th chunk; UINT_MAX: nobody does */
    uint64_t stop_after;
    bool gives; /* ranks wait with some of their chunks for others that want them */
};

enum { TAG_CHUNKS = 5 };

static struct dca dca;
static double *powers;
static struct range *own; /* what this rank has drawn */
static size_t own_count, own_capacity;
static uint64_t loops_done, chunks_done, recalls_done;

static void fail(const struct loop *loop, const char *what, uint64_t where)
{
    fprintf(stderr, "dca-draws: %s, %s inside %s, %" PRIu64 " iterations, %u ranks: %s at %" PRIu64 "\n",
            loop->mode->name, loop->technique, loop->inside, loop->iterations, dca.ranks, what, where);
    runtime_abort(dca.runtime, EXIT_STATUS_FAILED);
}

static void *checked(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "dca-draws: out of memory\n");
        runtime_abort(dca.runtime, EXIT_STATUS_FAILED);
    }
    return memory;
}

static struct sched_spec spec_of(const char *text)
{
    struct sched_spec spec;
    struct error error;
    if (sched_spec_parse(&spec, text, &error) < 0) {
        fprintf(stderr, "dca-draws: %s\n", error.text);
        runtime_abort(dca.runtime, EXIT_STATUS_FAILED);
    }
    return spec;
}

/* --- drawing --- */

/* As core_config() of the program has it. False: this technique does not run in this mode. */
static bool prepare(const struct loop *loop)
{
    const struct sched_spec spec = spec_of(loop->technique);
    bool by_node = loop->mode->transport == &transport_node;
    const unsigned drawer = by_node ? dca.topology->worker_node[dca.rank] : dca.rank;
    const struct dca_config config = {
        .technique = &spec,
        .sched = {.iterations = loop->iterations,
                  .workers = by_node ? dca.topology->nodes : dca.ranks,
                  .powers = (spec.technique->needs & SCHED_NEEDS_POWER) != 0 ? powers : NULL,
                  .swr = SWR},
        .two_counters = loop->mode->two_counters,
    };
    if (dca_init(&dca.share.core, &config, &dca.root.error) < 0)
        return false;
    dca_machine_init(&dca.share.machine, &dca.share.core, drawer,
                     config.sched.powers != NULL ? config.sched.powers[drawer] : 1, by_node);
    if (!by_node || !dca_learns(&dca.share.core))
        return true;
    dca_fini(&dca.share.core);
    return false;
}

static void note(const struct range *chunk)
{
    if (own_count == own_capacity) {
        own_capacity = own_capacity > 0 ? 2 * own_capacity : 1024;
        own = checked(realloc(own, own_capacity * sizeof *own));
    }
    own[own_count++] = *chunk;
}

/* Gives up the second half of the latest chunk. */
static struct range cut_latest(void *context)
{
    struct range *latest = context;
    const uint64_t given = latest->count / 2;
    latest->count -= given;
    return (struct range){latest->first + latest->count, given};
}

/* Yields its core for a while, as if it computed, until another rank is hungry. */
static void give_latest(void)
{
    for (unsigned i = 0; i < 200 && !share_is_wanted(&dca.share); i++)
        wait_yield();
    while (share_is_wanted(&dca.share) && own[own_count - 1].count > 1) {
        const uint64_t before = dca.share.recalls;
        share_give(&dca.share, cut_latest, &own[own_count - 1]);
        if (dca.share.recalls == before)
            break;
    }
}

/* What dca_work() does, without computing. What is measured is made up: it need only differ. */
static void draw_all(const struct loop *loop)
{
    struct range chunk;
    own_count = 0;
    carrier->barrier(dca.runtime->world);
    while (share_draw(&dca.share, &chunk)) {
        note(&chunk);
        if (loop->gives && chunk.count > 1 && own_count % 3 == 0)
            give_latest();
        dca_machine_measure(&dca.share.machine, chunk.count, chunk.count * 1000 * (dca.rank + 1), 0, 100, 4);
        if (dca.share.transport->serve != NULL && dca.rank == 0)
            dca.share.transport->serve(&dca.share);
        if (loop->stopper == dca.rank && own_count == loop->stop_after)
            share_stop(&dca.share);
    }
    if (dca.share.transport->finish != NULL)
        dca.share.transport->finish(&dca.share);
}

/* --- looking at what was drawn --- */

static int by_first(const void *a, const void *b)
{
    const struct range *left = a, *right = b;
    return left->first < right->first ? -1 : left->first > right->first;
}

static int by_count(const void *a, const void *b)
{
    const struct range *left = a, *right = b;
    return left->count < right->count ? -1 : left->count > right->count;
}

static void receive(unsigned from, void *room, size_t bytes)
{
    carrier_request request = carrier->irecv(dca.runtime->world, (int)from, TAG_CHUNKS, room, bytes);
    carrier->wait(&request);
}

/* On rank 0 all chunks, in the order of the loop; else NULL. */
static struct range *gather(size_t *count)
{
    size_t *counts = checked(calloc(dca.ranks, sizeof *counts));
    *count = 0;
    carrier->gather(dca.runtime->world, 0, &own_count, sizeof own_count, counts);
    if (dca.rank > 0) {
        carrier->send(dca.runtime->world, 0, TAG_CHUNKS, own, own_count * sizeof *own);
        free(counts);
        return NULL;
    }
    for (unsigned i = 0; i < dca.ranks; i++)
        *count += counts[i];
    struct range *all = checked(calloc(*count + 1, sizeof *all)), *place = all + own_count;
    if (own_count > 0)
        memcpy(all, own, own_count * sizeof *own);
    for (unsigned i = 1; i < dca.ranks; place += counts[i++])
        receive(i, place, counts[i] * sizeof *own);
    qsort(all, *count, sizeof *all, by_first);
    free(counts);
    return all;
}

static void check_cover(const struct loop *loop, const struct range *all, size_t count)
{
    uint64_t next = 0;
    for (size_t i = 0; i < count; i++) {
        if (all[i].count == 0)
            fail(loop, "an empty chunk", all[i].first);
        if (all[i].first < next)
            fail(loop, "drawn twice", all[i].first);
        if (all[i].first > next && loop->stopper >= dca.ranks)
            fail(loop, "lost", next);
        next = all[i].first + all[i].count;
    }
    if (next > loop->iterations)
        fail(loop, "beyond the end", next);
    if (next < loop->iterations && loop->stopper >= dca.ranks)
        fail(loop, "lost", next);
}

/* The chunks of a closed form one after another, from `first` on, the last one reaching beyond the end as it may.
 * Returns how many there are now. */
static size_t add_form(const char *technique, uint64_t first, uint64_t iterations, unsigned workers, struct range *form,
                       size_t count)
{
    const struct sched_spec spec = spec_of(technique);
    const struct sched_config config = {.iterations = iterations, .workers = workers, .powers = powers, .swr = SWR};
    struct sched sched;
    struct error error;
    uint64_t start = 0;
    if (sched_init(&sched, &spec, &config, &error) < 0)
        return count;
    for (uint64_t step = 0; sched_check_closed(&sched, &error) == 0 && start < iterations && count < CHUNKS_MAX;
         step++) {
        uint64_t size = sched_at(&sched, step);
        form[count++] = (struct range){.first = first + start, .count = size};
        start += size;
    }
    sched_fini(&sched);
    return count;
}

/* One chunk after another, each in its place: the step alone fixes it. */
static void check_places(const struct loop *loop, const struct range *all, size_t count, const struct range *form,
                         size_t form_count)
{
    for (size_t i = 0; i < count && i < form_count; i++)
        if (all[i].first != form[i].first || all[i].count != form[i].count)
            fail(loop, "not the closed form's chunk", all[i].first);
    if (count != form_count)
        fail(loop, "not as many chunks as the closed form", count);
}

/* By two counters sizes come in any order, and what the end cuts off can be of several: all but the last chunk are
 * among the form's. */
static void check_sizes(const struct loop *loop, struct range *all, size_t count, struct range *form, size_t form_count)
{
    if (count > form_count)
        fail(loop, "more chunks than the closed form", count);
    qsort(all, count > 0 ? count - 1 : 0, sizeof *all, by_count);
    qsort(form, form_count, sizeof *form, by_count);
    for (size_t i = 0, k = 0; i + 1 < count; i++, k++) {
        while (k < form_count && form[k].count < all[i].count)
            k++;
        if (k == form_count || form[k].count != all[i].count)
            fail(loop, "not a size of the closed form", all[i].first);
    }
}

static void cut(struct range *chunk, uint64_t end)
{
    if (chunk->first + chunk->count > end)
        chunk->count = end - chunk->first;
}

/* Big chunks, each cut for the node's workers. Only on one node: on several, who draws first is chance. */
static size_t form_of_node(const struct loop *loop, const struct range *big, size_t big_count, struct range *form)
{
    size_t count = 0;
    for (size_t i = 0; i < big_count; i++) {
        count = add_form(loop->inside, big[i].first, big[i].count, dca.ranks, form, count);
        if (count > 0)
            cut(&form[count - 1], big[i].first + big[i].count);
    }
    return count;
}

static void check_form(const struct loop *loop, struct range *all, size_t count)
{
    bool by_node = loop->mode->transport == &transport_node;
    if (loop->gives || dca.share.core.weighted || dca.share.core.way == DCA_BY_REMAINING || loop->stopper < dca.ranks ||
        (by_node && dca.topology->nodes > 1))
        return;
    struct range *form = checked(calloc(CHUNKS_MAX, sizeof *form)), *big = form;
    size_t form_count = add_form(loop->technique, 0, loop->iterations, by_node ? 1 : dca.ranks, form, 0);
    if (form_count > 0 && dca.share.core.way == DCA_BY_POSITION)
        cut(&form[form_count - 1], loop->iterations);
    if (by_node) {
        form = checked(calloc(CHUNKS_MAX, sizeof *form));
        form_count = form_of_node(loop, big, form_count, form);
        free(big);
    }
    if (dca.share.core.way == DCA_BY_STEP)
        check_sizes(loop, all, count, form, form_count);
    else
        check_places(loop, all, count, form, form_count);
    free(form);
}

/* Shares one loop. False: the technique does not run so. */
static bool share(const struct loop *loop)
{
    size_t count;
    dca_begin_sharing(&dca, loop->mode->transport);
    dca.share.cores_are_free = dca.runtime->cores_are_free;
    dca.options.worker.node_technique = spec_of(loop->inside);
    dca.root.setup.count = loop->iterations;
    if (!prepare(loop))
        return false;
    if (share_prepare(&dca.share) < 0 || dca_open_transport(&dca) < 0)
        fail(loop, dca.root.error.text, 0);
    draw_all(loop);
    struct range *all = gather(&count);
    if (all != NULL) {
        check_cover(loop, all, count);
        check_form(loop, all, count);
    }
    free(all);
    share_close(&dca.share);
    dca_fini(&dca.share.core);
    loops_done++;
    recalls_done += dca.share.recalls;
    chunks_done += count;
    return true;
}

/* --- the two sets of loops --- */

/* The first INSIDE have a closed form whatever the powers, as the workers of a node need it. */
static const char *const techniques[] = {
    "static",
    "css:chunk=13",
    "fsc:h=0.01,sigma=0.06",
    "mfsc",
    "gss",
    "tap:mu=1,sigma=0.5",
    "tss",
    "tss:decrement=real",
    "fac2",
    "mfac:mu=1,sigma=0.5",
    "tfss",
    "fiss",
    "viss",
    "rnd:lo=5,hi=60",
    "pls:swr=0.3",
    "ss",
    "pls",
    "wf",
    "dtss",
    "dfss",
    "dgss",
    "af",
    "awf-b",
    "awf-e",
};

#define INSIDE     16
#define TECHNIQUES (sizeof techniques / sizeof *techniques)

static void share_forms(void)
{
    static const uint64_t lengths[] = {0, 1, 7, 1000, 1000000};
    for (size_t m = 0; m < MODES; m++)
        for (size_t t = 0; t < TECHNIQUES; t++)
            for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
                struct loop loop = {.mode = &modes[m], .iterations = lengths[n], .stopper = UINT32_MAX};
                if (strcmp(techniques[t], "ss") == 0 && loop.iterations > LONG)
                    continue;
                strcpy(loop.technique, techniques[t]);
                strcpy(loop.inside, loop.iterations > LONG ? "fac2" : techniques[(t + n) % INSIDE]);
                share(&loop);
            }
}

static void share_by_chance(void)
{
    struct random random; /* the same on every rank */
    random_init(&random, 4);
    for (size_t m = 0; m < MODES; m++)
        for (unsigned i = 0; i < LOOPS;) {
            struct loop loop = {
                .mode = &modes[m], .iterations = random_between(&random, 0, 700), .stopper = UINT32_MAX};
            loop.gives = loop.mode->transport == &transport_node && i % 2 == 0;
            strcpy(loop.technique, techniques[random_between(&random, 0, TECHNIQUES - 1)]);
            strcpy(loop.inside, techniques[random_between(&random, 0, INSIDE - 1)]);
            if (i % 8 == 7) {
                loop.stopper = i % dca.ranks;
                loop.stop_after = random_between(&random, 1, 20);
            }
            i += share(&loop);
        }
}

int main(int argc, char **argv)
{
    const struct introduction introduction = {.role = ROLE_WORKER, .version = HDSS_VERSION, .dca = true};
    int status;
    dca.runtime = runtime_join(&argc, &argv, &introduction, &status);
    if (dca.runtime == NULL)
        return 1;
    dca.rank = runtime_rank(dca.runtime);
    dca.ranks = runtime_ranks(dca.runtime);
    dca.topology = runtime_group(dca.runtime, true);
    powers = checked(calloc(dca.ranks, sizeof *powers));
    for (unsigned i = 0; i < dca.ranks; i++)
        powers[i] = 1 + i % 3;
    if (dca.topology == NULL || runtime_prepare(dca.runtime, &dca.root.error) < 0 || dca_prepare_waiting(&dca) < 0)
        checked(NULL);
    if (argc == 2 && strcmp(argv[1], "forms") == 0)
        share_forms();
    else
        share_by_chance();
    uint64_t *recalls = checked(calloc(dca.ranks, sizeof *recalls));
    carrier->gather(dca.runtime->world, 0, &recalls_done, sizeof recalls_done, recalls);
    for (unsigned i = 1; dca.rank == 0 && i < dca.ranks; i++)
        recalls_done += recalls[i];
    free(recalls);
    if (dca.rank == 0)
        printf("%" PRIu64 " loops, %" PRIu64 " chunks, %" PRIu64 " recalls\n", loops_done, chunks_done, recalls_done);
    dca_finish_waiting(&dca);
    free(own);
    free(powers);
    runtime_leave(dca.runtime, 0);
    return 0;
}
