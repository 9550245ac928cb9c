/* SPDX-License-Identifier: MIT */
/* Random lives of the links of a launch, each made from one number: ranks on one to three nodes talk with one another
 * (gossip.h) over a fabric (fabric.h) on which messages are late, sends wait in their senders, ranks and machines stand
 * still and come back, die between any two steps, or are taken for lost for nothing, and the launcher is stopped.
 *
 * The oracle: what gossip.h says of words and losses; nobody frees or changes memory that MPI may read or write, or
 * tests a send that is not over; a dead rank is known within the limit; all end within theirs; and where nothing
 * happens all end in order, at once, and have freed everything. */
#include "tests/seeds/fabric.h"
#include "tests/seeds/gossip.h"
#include "tests/seeds/program.h"

#include "common/util/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* From the end of the run, or the last fault: the slowest leave is that of a rank whose launcher does not answer, over
 * several nodes, behind a rank that was not heard of before it died. */
#define LEAVES_QUIETLY_NS (2 * FABRIC_S)
#define LEAVES_NS         (110 * FABRIC_S)

struct life {
    struct random random;
    struct fabric_config fabric;
    struct gossip_config gossip;
    unsigned fault_count;
    struct fabric_fault faults[8];
    uint64_t last_ns; /* when nothing happens any more but the end */
};

static uint64_t between(struct life *life, uint64_t low, uint64_t high)
{
    return random_between(&life->random, low, high);
}

static bool one_in(struct life *life, uint64_t count)
{
    return between(life, 1, count) == 1;
}

/* A number from `low` to `high`, as often of each magnitude. */
static uint64_t spread(struct life *life, uint64_t low, uint64_t high)
{
    uint64_t top = low + 1;
    while (top < high && !one_in(life, 4))
        top = 2 * top < high ? 2 * top : high;
    return between(life, low, top);
}

static void make_lineup(struct life *life)
{
    struct fabric_config *config = &life->fabric;
    const unsigned masters = (unsigned)between(life, 0, 2),
                   workers = (unsigned)between(life, masters > 0 ? masters : 1, 4);
    const unsigned nodes = (unsigned)between(life, 1, 3);
    unsigned first_of[3] = {FABRIC_RANKS, FABRIC_RANKS, FABRIC_RANKS};
    config->ranks = 1 + masters + workers;
    for (unsigned i = 0; i < config->ranks; i++) {
        const unsigned node = (unsigned)between(life, 0, nodes - 1);
        if (first_of[node] == FABRIC_RANKS)
            first_of[node] = i;
        config->hellos[i].node = first_of[node];
        config->hellos[i].role = i == 0 ? ROLE_SUPERMASTER : i <= masters ? ROLE_MASTER : ROLE_WORKER;
    }
}

static void make_fabric(struct life *life)
{
    struct fabric_config *config = &life->fabric;
    config->far_min_ns = spread(life, 1000, 10 * FABRIC_MS);
    config->far_max_ns = config->far_min_ns + spread(life, 1000, 2 * FABRIC_S);
    config->step_ns = spread(life, 1000, 20000);
    config->ahead_ns = one_in(life, 4) ? 0 : spread(life, 1000, FABRIC_MS);
    config->held_percent = one_in(life, 2) ? 0 : (unsigned)between(life, 1, 100);
    config->held_max_ns = spread(life, 1000, FABRIC_S / 10);
    config->sends = (unsigned)spread(life, 1, 64);
    config->has_ulfm = one_in(life, 2);
    config->is_blind = one_in(life, 8);
    config->cores_are_free = one_in(life, 2);
    config->launcher_is_stopped = one_in(life, 16);
}

static void make_gossip(struct life *life)
{
    struct gossip_config *config = &life->gossip;
    config->end_ns = one_in(life, 2) ? spread(life, FABRIC_MS, 2 * FABRIC_S) : between(life, FABRIC_S, 30 * FABRIC_S);
    config->pause_max_ns = config->end_ns / spread(life, 1, 20) + 1;
    config->burst_max = (unsigned)spread(life, 1, 12);
    config->data_percent = one_in(life, 3) ? 0 : (unsigned)between(life, 1, 100);
    config->data_max = (unsigned)(one_in(life, 2) ? spread(life, 1, 4096) : between(life, 4096, 60000));
    config->compute_max_ns = one_in(life, 3) ? spread(life, FABRIC_MS, 20 * FABRIC_S) : 0;
    config->store_max_ns = one_in(life, 4) ? spread(life, FABRIC_MS, FABRIC_S) : 0;
    config->drop_percent = 5;
}

static void make_fault(struct life *life)
{
    static const enum fabric_fault_kind kinds[] = {FABRIC_KILL,    FABRIC_KILL, FABRIC_KILL, FABRIC_STOP,
                                                   FABRIC_SUSPEND, FABRIC_LOSE, FABRIC_HALT};
    struct fabric_fault *fault = &life->faults[life->fault_count++];
    *fault = (struct fabric_fault){.kind = kinds[between(life, 0, sizeof kinds / sizeof *kinds - 1)],
                                   .rank = (unsigned)between(life, one_in(life, 4) ? 0 : 1, life->fabric.ranks - 1)};
    if (fault->kind == FABRIC_STOP || fault->kind == FABRIC_SUSPEND)
        fault->for_ns =
            one_in(life, 2) ? spread(life, FABRIC_MS, GOSSIP_LENIENCE_NS / 2) : between(life, FABRIC_S, 60 * FABRIC_S);
    if (one_in(life, 2) && fault->kind != FABRIC_HALT)
        fault->step = one_in(life, 3) ? spread(life, 1, 20000) : between(life, 200, 4000);
    else
        fault->at_ns = between(life, 0, life->gossip.end_ns + life->gossip.end_ns / 8);
    life->last_ns += fault->at_ns + fault->for_ns;
}

static void make(struct life *life, uint64_t seed)
{
    *life = (struct life){0};
    random_init(&life->random, seed);
    make_lineup(life);
    make_fabric(life);
    make_gossip(life);
    for (uint64_t left = one_in(life, 4) ? 0 : spread(life, 1, 4); left > 0; left--)
        make_fault(life);
    life->gossip.needs_workers = one_in(life, 2);
    life->last_ns += life->gossip.end_ns;
    life->fabric.limit_ns = life->last_ns + 2 * life->gossip.compute_max_ns +
                            (life->fault_count > 0 || life->gossip.drop_percent > 0 ? LEAVES_NS : LEAVES_QUIETLY_NS);
}

static void print_life(const struct life *life)
{
    static const char *const kinds[] = {"kill", "stop", "suspend the node of", "lose the node of", "stop the launcher"};
    const struct fabric_config *fabric = &life->fabric;
    for (unsigned i = 0; i < fabric->ranks; i++)
        printf("# rank %u: %s, node %u\n", i, role_name(fabric->hellos[i].role), (unsigned)fabric->hellos[i].node);
    printf("# ways of %" PRIu64 " to %" PRIu64 " ns, %u %% held for %" PRIu64 " ns, steps of %" PRIu64
           " ns, up to %" PRIu64 " ns ahead, %u sends%s%s%s\n",
           fabric->far_min_ns, fabric->far_max_ns, fabric->held_percent, fabric->held_max_ns, fabric->step_ns,
           fabric->ahead_ns, fabric->sends, fabric->has_ulfm ? ", ULFM" : "", fabric->is_blind ? ", blind" : "",
           fabric->launcher_is_stopped ? ", launcher stopped" : "");
    for (unsigned i = 0; i < life->fault_count; i++)
        printf("# %s rank %u at step %" PRIu64 " or %.6f s, for %.6f s\n", kinds[life->faults[i].kind],
               life->faults[i].rank, life->faults[i].step, (double)life->faults[i].at_ns / 1e9,
               (double)life->faults[i].for_ns / 1e9);
    printf("# END at %.6f s\n", (double)life->gossip.end_ns / 1e9);
}

/* Where nothing has happened all have ended in order. */
static const char *check_fates(const struct life *life, bool was_quiet)
{
    for (unsigned i = 0; i < life->fabric.ranks; i++) {
        const struct fabric_fate *fate = fabric_fate(i);
        if (fate->was_killed)
            continue;
        if (fate->status != EXIT_STATUS_DONE && fate->status != EXIT_STATUS_FAILED)
            return "a rank has another status than 0 or 1";
        if (was_quiet && fate->status != EXIT_STATUS_DONE)
            return "a rank fails though nothing has happened";
    }
    return NULL;
}

static const char *run(uint64_t seed, bool trace)
{
    static struct life life;
    make(&life, seed);
    life.fabric.trace = trace;
    if (trace)
        print_life(&life);
    fabric_begin(&life.fabric, seed);
    gossip_begin(&life.gossip, seed);
    for (unsigned i = 0; i < life.fault_count; i++)
        fabric_add_fault(&life.faults[i]);
    const struct gossip_tally before = gossip_tally;
    const char *wrong = fabric_run(gossip_live);
    const bool was_quiet =
        life.fault_count == 0 && gossip_tally.drops == before.drops && !life.fabric.launcher_is_stopped;
    if (wrong == NULL && was_quiet && gossip_tally.losses > before.losses)
        wrong = "a rank is lost though nothing has happened";
    if (wrong == NULL)
        wrong = gossip_check(2 * FABRIC_S + life.gossip.compute_max_ns + 20 * life.gossip.store_max_ns,
                             40 * FABRIC_S + life.gossip.compute_max_ns);
    return wrong != NULL ? wrong : check_fates(&life, was_quiet);
}

static void print_tally(void)
{
    printf("# %" PRIu64 " words, %" PRIu64 " with data, %" PRIu64 " of these not wanted, %" PRIu64 " late; %" PRIu64
           " losses, %" PRIu64 " of who came back, %" PRIu64 " dropped, %" PRIu64 " orphans\n",
           gossip_tally.words, gossip_tally.data, gossip_tally.unwanted, gossip_tally.late, gossip_tally.losses,
           gossip_tally.false_losses, gossip_tally.drops, gossip_tally.orphans);
    printf("# %" PRIu64 " messages, %" PRIu64 " beats, %" PRIu64 " data, %" PRIu64 " killed, %" PRIu64
           " stood still, %" PRIu64 " steps, %" PRIu64 " switches, %" PRIu64 " aborts, %" PRIu64
           " arrived with a failure, %" PRIu64 " receives renewed\n",
           fabric_tally.messages, fabric_tally.beats, fabric_tally.data, fabric_tally.kills, fabric_tally.stands,
           fabric_tally.steps, fabric_tally.switches, fabric_tally.aborts, fabric_tally.marked, fabric_tally.renewed);
}

int main(int argc, char **argv)
{
    const struct seeds_program program = {"seeds-link", run, print_tally};
    if (argc > 2) /* what ranks say of losses would be all that is to be seen */
        stderr = fopen("/dev/null", "w");
    return seeds_program_main(&program, argc, argv);
}
