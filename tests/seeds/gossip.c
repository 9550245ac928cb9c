/* SPDX-License-Identifier: MIT */
/* See gossip.h. */
#include "tests/seeds/gossip.h"

#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/util/error.h"
#include "common/mpi/rank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After so many words a rank falls silent. */
#define WORDS_MAX 400
/* The most words of a pair. */
#define STORED 512

struct talker {
    struct executor executor; /* the first member */
    struct random random;
    const struct topology *topology;
    unsigned rank, server; /* server: of a worker */
    enum role role;
    uint64_t next_ns, compute_ns;
    uint32_t all_said, said[FABRIC_RANKS], heard[FABRIC_RANKS];
    bool stored[FABRIC_RANKS][STORED]; /* by number */
    uint32_t told[FABRIC_RANKS];       /* as it has sent its END or last word there */
    uint64_t lost_ns[FABRIC_RANKS], said_ns[FABRIC_RANKS][STORED];
    bool is_lost[FABRIC_RANKS], has_adopted[FABRIC_RANKS], is_through[FABRIC_RANKS];
    bool watches[FABRIC_RANKS]; /* from the start */
    bool has_begun, has_lost, is_ending, has_exited, was_dropped;
    uint64_t exited_ns;
    unsigned collecting; /* data that it wants and has not stored */
};

static struct talker talkers[FABRIC_RANKS];
static struct gossip_config gossip;
static bool has_to_drop;
static uint64_t longest_ns;
static char wrong[160];

struct gossip_tally gossip_tally;

static uint64_t between(struct talker *talker, uint64_t low, uint64_t high)
{
    return random_between(&talker->random, low, high);
}

/* --- who talks with whom --- */

static unsigned master_of(const struct talker *talker, unsigned worker)
{
    const struct topology *topology = talker->topology;
    const unsigned w = topology_worker(topology, worker);
    return topology->masters == 0 ? topology->supermaster : topology->master_rank[topology->master_of[w]];
}

/* True where `other` gets END from this rank, and this rank waits for its last word. */
static bool is_below(const struct talker *talker, unsigned other)
{
    const struct talker *below = &talkers[other];
    if (other == talker->rank || talker->is_lost[other] || talker->role == ROLE_WORKER)
        return false;
    if (below->role == ROLE_MASTER)
        return talker->role == ROLE_SUPERMASTER;
    return below->role == ROLE_WORKER && (master_of(talker, other) == talker->rank || talker->has_adopted[other]);
}

static bool is_neighbour(const struct talker *talker, unsigned other)
{
    if (talker->role == ROLE_WORKER)
        return other == talker->server;
    return is_below(talker, other) ||
           (talker->role == ROLE_MASTER && other == talker->topology->supermaster && !talker->is_lost[other]);
}

/* --- words --- */

static unsigned char byte_of(unsigned from, uint32_t number, uint64_t i)
{
    return (unsigned char)(31 * from + 7 * number + i);
}

static void *make_data(const struct talker *talker, uint32_t number, uint64_t bytes)
{
    unsigned char *data = malloc(bytes);
    if (data == NULL)
        abort();
    for (uint64_t i = 0; i < bytes; i++)
        data[i] = byte_of(talker->rank, number, i);
    return data;
}

static void say_word(struct talker *talker, unsigned to, struct actions *actions)
{
    const uint32_t number = ++talker->said[to];
    talker->all_said++;
    talker->said_ns[to][number % STORED] = fabric_now();
    struct message message = {.type = MESSAGE_ECHO, .echo.id = number};
    gossip_tally.words++;
    if (talker->role == ROLE_WORKER && between(talker, 0, 99) < gossip.data_percent) {
        message = (struct message){.type = MESSAGE_RESULT, .result = {number, 1, 1}, .payload = PAYLOAD_DATA};
        message.payload_bytes = between(talker, 1, gossip.data_max);
        message.payload_data = make_data(talker, number, message.payload_bytes);
        gossip_tally.data++;
    }
    actions_send(actions, to, &message);
}

static void talk(struct talker *talker, uint64_t now_ns, struct actions *actions)
{
    unsigned neighbours[FABRIC_RANKS], count = 0;
    for (unsigned i = 0; i < talker->topology->ranks; i++)
        if (is_neighbour(talker, i))
            neighbours[count++] = i;
    talker->next_ns = now_ns + between(talker, 0, gossip.pause_max_ns);
    if (count == 0 || talker->all_said > WORDS_MAX)
        return;
    for (uint64_t left = between(talker, 1, gossip.burst_max); left > 0; left--)
        say_word(talker, neighbours[between(talker, 0, count - 1)], actions);
    const unsigned other = neighbours[between(talker, 0, count - 1)];
    if (!has_to_drop || talker->role == ROLE_WORKER || other == talker->topology->supermaster)
        return;
    has_to_drop = false;
    talkers[other].was_dropped = true;
    gossip_tally.drops++;
    actions_drop(actions, other, "has done nothing wrong");
}

static void take_number(struct talker *talker, unsigned from, uint32_t number)
{
    if (number != talker->heard[from] + 1)
        fabric_complain("hears word %u of rank %u behind word %u", number, from, talker->heard[from]);
    if (number >= STORED)
        abort();
    talker->heard[from] = number;
    const uint64_t said_ns = talkers[from].said_ns[talker->rank][number % STORED];
    const uint64_t way_ns = fabric_now() > said_ns ? fabric_now() - said_ns : 0; /* its sender may be ahead */
    longest_ns = way_ns > longest_ns ? way_ns : longest_ns;
}

static void take_result(struct talker *talker, unsigned from, const struct message *message, struct actions *actions)
{
    take_number(talker, from, message->result.chunk);
    if (message->payload != PAYLOAD_DATA)
        return;
    const bool is_wanted = message->result.chunk % 3 != 0;
    struct action collect = {.type = ACTION_COLLECT};
    collect.store.part = (struct part){.worker = from, .chunk = is_wanted, .first = message->result.chunk, .count = 1};
    collect.store.from = from;
    collect.store.bytes = message->payload_bytes;
    talker->collecting += is_wanted;
    gossip_tally.unwanted += !is_wanted;
    actions_add(actions, &collect);
}

static int store(void *context, const struct part *part, const void *data, uint64_t bytes, struct error *error)
{
    struct talker *talker = context;
    const unsigned char *at = data;
    (void)error;
    gossip_tally.late += talkers[part->worker].is_lost[talker->rank];
    for (uint64_t i = 0; i < bytes; i++)
        if (at[i] != byte_of(part->worker, (uint32_t)part->first, i)) {
            fabric_complain("stores other data than rank %u has sent, from byte %u on", part->worker, (unsigned)i);
            break;
        }
    if (talker->stored[part->worker][part->first % STORED])
        fabric_complain("stores data %u of rank %u twice", (unsigned)part->first, part->worker);
    talker->stored[part->worker][part->first % STORED] = true;
    if (gossip.store_max_ns > 0)
        fabric_compute(between(talker, 0, gossip.store_max_ns));
    return 0;
}

/* --- the end --- */

static void tell(struct talker *talker, unsigned to, const struct message *message, struct actions *actions)
{
    talker->told[to] = talker->said[to];
    actions_send(actions, to, message);
}

static void send_ends(struct talker *talker, struct actions *actions)
{
    const struct message end = {.type = MESSAGE_END, .end.degraded = talker->has_lost};
    talker->is_ending = true;
    for (unsigned i = 0; i < talker->topology->ranks; i++)
        if (is_below(talker, i))
            tell(talker, i, &end, actions);
}

/* Exits once all below have said their last word. */
static void look_for_exit(struct talker *talker, struct actions *actions)
{
    if (!talker->is_ending || talker->has_exited || talker->collecting > 0)
        return;
    for (unsigned i = 0; i < talker->topology->ranks; i++)
        if (is_below(talker, i) && !talker->is_through[i])
            return;
    const struct message last = {.type = MESSAGE_GOODBYE};
    const unsigned above = talker->role == ROLE_WORKER ? talker->server : talker->topology->supermaster;
    if (above != talker->rank)
        tell(talker, above, &last, actions);
    const struct action leave = {.type = ACTION_EXIT, .exit.status = EXIT_STATUS_DONE};
    talker->has_exited = true;
    talker->exited_ns = fabric_now();
    fabric_say("exits");
    actions_add(actions, &leave);
}

static void compare_last(struct talker *talker, unsigned from)
{
    if (talkers[from].told[talker->rank] != talker->heard[from])
        fabric_complain("has heard %u of %u words of rank %u in the end", talker->heard[from],
                        talkers[from].told[talker->rank], from);
}

static void take_message(struct talker *talker, unsigned from, const struct message *message, struct actions *actions)
{
    if (from >= talker->topology->ranks || talker->is_lost[from]) {
        fabric_complain("is given a message of rank %d, which is lost or none", (int)from);
        return;
    }
    switch (message->type) {
    case MESSAGE_ECHO: take_number(talker, from, message->echo.id); break;
    case MESSAGE_RESULT: take_result(talker, from, message, actions); break;
    case MESSAGE_WORKER_LOST: talker->has_lost = true; break;
    case MESSAGE_ADOPT:
        talker->has_adopted[from] = true;
        gossip_tally.orphans++;
        if (talker->is_ending) {
            const struct message end = {.type = MESSAGE_END, .end.degraded = true};
            tell(talker, from, &end, actions);
        }
        break;
    case MESSAGE_END:
        compare_last(talker, from);
        talker->has_lost |= message->end.degraded;
        if (!talker->is_ending)
            send_ends(talker, actions);
        break;
    case MESSAGE_GOODBYE:
        compare_last(talker, from);
        talker->is_through[from] = true;
        break;
    default: fabric_complain("is given a %s", message_name(message->type));
    }
}

/* --- losses --- */

static void judge_loss(struct talker *talker, unsigned rank)
{
    const struct fabric_fate *fate = fabric_fate(rank);
    gossip_tally.losses++;
    if (talker->is_lost[rank])
        fabric_complain("loses rank %u twice", rank);
    if (fate->is_over || talkers[rank].was_dropped)
        return;
    if (talkers[rank].is_lost[talker->rank]) /* which sends nothing any more, or what MPI finds where its words were */
        return;
    gossip_tally.false_losses++;
    if (fate->stood_ns < GOSSIP_LENIENCE_NS && talkers[rank].has_begun) /* else one of its node may keep it from that */
        fabric_complain("takes rank %u for lost, which lives and has stood still for %.3f s in all", rank,
                        (double)fate->stood_ns / 1e9);
}

static void lose(struct talker *talker, unsigned rank, struct actions *actions)
{
    const struct message adopt = {.type = MESSAGE_ADOPT};
    const struct message news = {.type = MESSAGE_WORKER_LOST, .worker_lost.rank = rank};
    fabric_say("loses rank %u", rank);
    judge_loss(talker, rank);
    talker->is_lost[rank] = talker->has_lost = true;
    talker->lost_ns[rank] = fabric_now();
    if (talker->has_exited)
        return;
    if (talker->role == ROLE_WORKER && rank == talker->server && rank != talker->topology->supermaster) {
        talker->server = talker->topology->supermaster;
        if (!talker->is_ending)
            actions_send(actions, talker->server, &adopt);
    }
    if (talker->role == ROLE_MASTER)
        actions_send(actions, talker->topology->supermaster, &news);
}

/* --- the machine --- */

static void step(void *self, const struct event *event, struct actions *actions)
{
    struct talker *talker = self;
    switch (event->type) {
    case EVENT_START:
        fabric_note_begun();
        talker->has_begun = true;
        talker->next_ns = event->now_ns + between(talker, 0, gossip.pause_max_ns);
        break;
    case EVENT_MESSAGE:
        if (!talker->has_exited)
            take_message(talker, event->from, event->message, actions);
        break;
    case EVENT_STORED: talker->collecting -= event->part.chunk != 0; break;
    case EVENT_TIMER:
        if (talker->role == ROLE_SUPERMASTER && event->now_ns >= gossip.end_ns)
            send_ends(talker, actions);
        else
            talk(talker, event->now_ns, actions);
        break;
    case EVENT_RANK_LOST: lose(talker, event->from, actions); break;
    default: fabric_complain("is given event %d", (int)event->type);
    }
    look_for_exit(talker, actions);
}

static uint64_t deadline(const void *self)
{
    const struct talker *talker = self;
    if (talker->is_ending)
        return NEVER;
    return talker->role == ROLE_SUPERMASTER && gossip.end_ns < talker->next_ns ? gossip.end_ns : talker->next_ns;
}

static const char *state(const void *self)
{
    (void)self;
    return "";
}

static void sent(struct executor *executor, const void *data)
{
    (void)executor;
    free((void *)data);
}

static void abandon(struct executor *executor, const void *data)
{
    (void)executor, (void)data;
}

static enum turn advance(struct executor *executor, struct event *event)
{
    struct talker *talker = (struct talker *)executor;
    (void)event;
    if (gossip.compute_max_ns == 0 || talker->is_ending || fabric_now() < talker->compute_ns)
        return TURN_BLOCKED;
    const uint64_t ns = between(talker, 1, gossip.compute_max_ns);
    fabric_say("computes for %.3f s", (double)ns / 1e9);
    fabric_compute(ns);
    talker->compute_ns = fabric_now() + between(talker, 0, 2 * FABRIC_S);
    return TURN_WORKED;
}

static const struct executor_ops executor_ops = {.advance = advance, .sent = sent, .abandon = abandon};

static bool needs(const void *self, unsigned rank)
{
    (void)self;
    return gossip.needs_workers && fabric_role(rank) == ROLE_WORKER;
}

int gossip_live(unsigned rank)
{
    struct talker *talker = &talkers[rank];
    struct runtime *runtime = fabric_runtime();
    const struct machine machine = {.self = talker, .step = step, .deadline = deadline, .state = state, .needs = needs};
    const struct effects effects = {
        .context = talker, .executor = runtime->role == ROLE_WORKER ? &talker->executor : NULL, .store = store};
    talker->topology = &runtime->topology;
    talker->server = runtime->role == ROLE_WORKER ? runtime_master_of(runtime, rank) : 0;
    for (unsigned i = 0; i < runtime->ranks; i++)
        talker->watches[i] = is_neighbour(talker, i);
    return runtime_drive(runtime, &machine, &effects, NULL);
}

/* --- a run --- */

void gossip_begin(const struct gossip_config *config, uint64_t seed)
{
    gossip = *config;
    longest_ns = 0;
    memset(talkers, 0, sizeof talkers);
    has_to_drop = seed % 100 < config->drop_percent;
    for (unsigned i = 0; i < FABRIC_RANKS; i++) {
        talkers[i].executor.ops = &executor_ops;
        talkers[i].rank = i;
        talkers[i].role = fabric_role(i);
        random_init(&talkers[i].random, random_at(seed, i));
    }
}

bool gossip_has_lost(unsigned judge, unsigned rank)
{
    return talkers[judge].is_lost[rank];
}

uint64_t gossip_longest_ns(void)
{
    return longest_ns;
}

uint64_t gossip_lost_ns(unsigned judge, unsigned rank)
{
    return talkers[judge].lost_ns[rank];
}

/* True where the judge may have waited for room to send to a rank of another node, which has it learn of others later.
 */
static bool may_have_waited(unsigned judge)
{
    for (unsigned i = 0; i < FABRIC_RANKS; i++)
        if (!fabric_is_near(judge, i) && (fabric_fate(i)->was_killed || fabric_fate(i)->stood_ns > 0))
            return true;
    return false;
}

const char *gossip_check(uint64_t near_ns, uint64_t far_ns)
{
    for (unsigned j = 0; j < FABRIC_RANKS; j++)
        for (unsigned i = 0; i < FABRIC_RANKS; i++) {
            const struct talker *judge = &talkers[j];
            const struct fabric_fate *fate = fabric_fate(i), *own = fabric_fate(j);
            const uint64_t limit_ns = (fabric_sees(i, j) && !may_have_waited(j) ? near_ns : far_ns) + own->stood_ns;
            const uint64_t until_ns = judge->exited_ns > 0 ? judge->exited_ns : own->ended_ns;
            const uint64_t known_ns = judge->is_lost[i] ? judge->lost_ns[i] : until_ns;
            if (!judge->watches[i] || !fate->was_killed || known_ns <= fate->ended_ns + limit_ns)
                continue;
            snprintf(wrong, sizeof wrong, "rank %u, dead since %.6f s, is lost to rank %u at %.6f s, or never", i,
                     (double)fate->ended_ns / 1e9, j, (double)known_ns / 1e9);
            return wrong;
        }
    return NULL;
}
