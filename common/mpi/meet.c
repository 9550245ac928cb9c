/* SPDX-License-Identifier: MIT */
/* The ranks meet. Each rank sends a hello and its place to the first rank. The first rank finds out which ranks share a
 * node, and tells all ranks. */
#include "common/mpi/meet.h"

#include "common/mpi/lanes.h"
#include "common/mpi/place.h"
#include "common/mpi/rank.h"
#include "common/mpi/tree.h"
#include "proto/message.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The message of each rank to the first rank. It is sent as it is in memory, because all ranks belong to one build. */
struct arrival {
    unsigned char hello[HELLO_BYTES];
    uint32_t rank;
    uint32_t level;
    struct place place;
};

struct seat {
    unsigned char hello[HELLO_BYTES];
    uint32_t cores;
    uint32_t is_blind;
};

struct seating {
    uint32_t cores;
    uint32_t can_run_heartbeats; /* 1: the MPI of each worker allows calls from two threads, one at a time */
    struct seat seats[];
};

static size_t seating_bytes(const struct runtime *runtime)
{
    return sizeof(struct seating) + runtime->ranks * sizeof(struct seat);
}

static void describe_arrival(const struct runtime *runtime, const struct introduction *introduction,
                             struct arrival *own)
{
    unsigned major = 0, minor = 0, patch = 0;
    enum carrier_level level = CARRIER_MULTIPLE;
    sscanf(introduction->version, "%u.%u.%u", &major, &minor, &patch);
    const struct hello hello = {
        .protocol = PROTOCOL_VERSION,
        .major = (uint16_t)major,
        .minor = (uint16_t)minor,
        .patch = (uint16_t)patch,
        .role = introduction->role,
        .status = (uint8_t)introduction->status,
        .dca = introduction->dca,
        .pod = introduction->pod,
        .listens = introduction->listens,
        .node = runtime->rank,
        .pid = (uint32_t)getpid(),
    };
    if (runtime->lanes == NULL)
        level = carrier->level();
    memset(own, 0, sizeof *own);
    own->rank = runtime->rank;
    own->level = (uint32_t)level;
    place_look(&own->place);
    hello_encode(&hello, own->hello);
}

static int by_host_and_rank(const void *a, const void *b)
{
    const struct arrival *x = a, *y = b;
    if (x->place.host != y->place.host)
        return x->place.host < y->place.host ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Fills in what all ranks are told about the ranks of one node. A hello that cannot be decoded is passed on unchanged,
 * and every rank rejects it. */
static void seat_node(const struct arrival *arrivals, unsigned count, struct seating *seating)
{
    assert(count > 0);
    cpu_set_t cores = arrivals[0].place.cores;
    bool blind = false;
    for (unsigned i = 1; i < count; i++) {
        CPU_OR(&cores, &cores, &arrivals[i].place.cores);
        blind |= arrivals[i].place.space != arrivals[0].place.space;
    }
    for (unsigned i = 0; i < count; i++) {
        struct seat *seat = &seating->seats[arrivals[i].rank];
        struct hello hello;
        *seat = (struct seat){.cores = (uint32_t)CPU_COUNT(&cores), .is_blind = blind};
        memcpy(seat->hello, arrivals[i].hello, HELLO_BYTES);
        if (hello_decode(&hello, arrivals[i].hello, HELLO_BYTES) != DECODE_OK)
            continue;
        hello.node = arrivals[0].rank;
        hello_encode(&hello, seat->hello);
        seating->can_run_heartbeats &= hello.role != ROLE_WORKER || arrivals[i].level >= CARRIER_SERIALIZED;
    }
    seating->cores += (uint32_t)CPU_COUNT(&cores);
}

static void seat_all(struct arrival *arrivals, unsigned ranks, struct seating *seating)
{
    *seating = (struct seating){.can_run_heartbeats = true};
    qsort(arrivals, ranks, sizeof *arrivals, by_host_and_rank);
    for (unsigned i = 0, count; i < ranks; i += count) {
        for (count = 1; i + count < ranks && arrivals[i + count].place.host == arrivals[i].place.host; count++)
            ;
        seat_node(&arrivals[i], count, seating);
    }
}

static int by_first_rank(const void *a, const void *b)
{
    const struct node_name *x = a, *y = b;
    return x->first_rank < y->first_rank ? -1 : x->first_rank > y->first_rank;
}

/* Stores the name of each node. `arrivals` are sorted by host. If memory runs out, no names are stored. */
static void keep_names(struct runtime *runtime, const struct arrival *arrivals)
{
    unsigned count = 0;
    for (unsigned i = 0; i < runtime->ranks; i++)
        count += i == 0 || arrivals[i].place.host != arrivals[i - 1].place.host;
    runtime->nodes = calloc(count, sizeof *runtime->nodes);
    if (runtime->nodes == NULL)
        return;
    for (unsigned i = 0; i < runtime->ranks; i++) {
        if (i > 0 && arrivals[i].place.host == arrivals[i - 1].place.host)
            continue;
        struct node_name *node = &runtime->nodes[runtime->node_count++];
        node->first_rank = arrivals[i].rank;
        memcpy(node->name, arrivals[i].place.name, sizeof node->name);
    }
    qsort(runtime->nodes, runtime->node_count, sizeof *runtime->nodes, by_first_rank);
}

static int take_seats(struct runtime *runtime, const struct seating *seating)
{
    const struct seat *own = &seating->seats[runtime->rank];
    int result = 0;
    unsigned here = 0;
    for (unsigned i = 0; i < runtime->ranks; i++)
        if (hello_decode(&runtime->hellos[i], seating->seats[i].hello, HELLO_BYTES) != DECODE_OK ||
            runtime->hellos[i].node >= runtime->ranks)
            result = -1;
    for (unsigned i = 0; i < runtime->ranks; i++)
        here += runtime->hellos[i].node == runtime->hellos[runtime->rank].node;
    runtime->cores = seating->cores;
    runtime->cores_are_free = here <= own->cores;
    runtime->node_cores = own->cores;
    runtime->is_blind = own->is_blind;
    runtime->can_run_heartbeats = seating->can_run_heartbeats;
    return result;
}

size_t runtime_meet_bytes(const struct runtime *runtime)
{
    return seating_bytes(runtime);
}

static void seat_again(const struct runtime *runtime, struct seating *seating)
{
    *seating = (struct seating){.cores = runtime->cores, .can_run_heartbeats = runtime->can_run_heartbeats};
    for (unsigned i = 0; i < runtime->ranks; i++) {
        seating->seats[i] = (struct seat){.cores = runtime->node_cores, .is_blind = runtime->is_blind};
        hello_encode(&runtime->hellos[i], seating->seats[i].hello);
    }
}

int runtime_meet_again(struct runtime *runtime, unsigned rank)
{
    struct arrival arrival;
    struct hello hello;
    if (lanes_data_waiting(runtime->lanes, rank) < sizeof arrival)
        return 0;
    lanes_take_data(runtime->lanes, rank, &arrival, sizeof arrival);
    if (arrival.rank != rank || hello_decode(&hello, arrival.hello, HELLO_BYTES) != DECODE_OK ||
        hello.role != runtime->hellos[rank].role)
        return -1;
    hello.node = runtime->hellos[rank].node;
    struct seating *seating = malloc(seating_bytes(runtime));
    if (seating == NULL)
        return -1;
    runtime->hellos[rank] = hello;
    seat_again(runtime, seating);
    lanes_put_data(runtime->lanes, rank, seating, seating_bytes(runtime));
    free(seating);
    return 1;
}

int runtime_meet(struct runtime *runtime, const struct introduction *introduction)
{
    struct arrival own, *arrivals = runtime->rank == 0 ? calloc(runtime->ranks, sizeof *arrivals) : NULL;
    struct seating *seating = malloc(seating_bytes(runtime));
    runtime->hellos = calloc(runtime->ranks, sizeof *runtime->hellos);
    int result = -1;
    if (seating != NULL && runtime->hellos != NULL && (arrivals != NULL || runtime->rank > 0)) {
        describe_arrival(runtime, introduction, &own);
        result = tree_gather(runtime, &own, sizeof own, arrivals);
    }
    if (result == 0) {
        if (runtime->rank == 0) {
            if (runtime->lanes != NULL)
                lanes_note_met(runtime->lanes);
            seat_all(arrivals, runtime->ranks, seating);
            keep_names(runtime, arrivals);
        }
        tree_share(runtime, 0, seating, seating_bytes(runtime));
        result = take_seats(runtime, seating);
    }
    free(seating);
    free(arrivals);
    return result;
}
