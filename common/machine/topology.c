/* SPDX-License-Identifier: MIT */
/* The line-up and the assignment of workers to masters: see topology.h. */
#include "common/machine/topology.h"

#include "common/machine/machine.h"
#include "common/util/error.h"
#include "common/util/grow.h"
#include "common/util/heap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct census {
    unsigned supermasters, masters, workers;
    bool pod, listens;
    unsigned second_supermaster, first_supermaster;
    unsigned dca_rank, other_rank;
    bool dca, other;
};

static bool same_version(const struct hello *a, const struct hello *b)
{
    return a->protocol == b->protocol && a->major == b->major && a->minor == b->minor && a->patch == b->patch;
}

static int check_versions(const struct hello *hellos, unsigned ranks, struct error *error)
{
    for (unsigned i = 1; i < ranks; i++) {
        const struct hello *a = &hellos[0], *b = &hellos[i];
        if (!same_version(a, b))
            return error_set(error,
                             "rank %u is version %u.%u.%u (protocol %u) but rank 0 is %u.%u.%u (protocol %u): "
                             "all programs of a run must come from one installation",
                             i, b->major, b->minor, b->patch, b->protocol, a->major, a->minor, a->patch, a->protocol);
    }
    return 0;
}

static struct census count_roles(const struct hello *hellos, unsigned ranks)
{
    struct census census = {0};
    for (unsigned i = 0; i < ranks; i++) {
        switch (hellos[i].role) {
        case ROLE_SUPERMASTER:
            if (census.supermasters++ == 0)
                census.first_supermaster = i;
            else if (census.supermasters == 2)
                census.second_supermaster = i;
            break;
        case ROLE_MASTER: census.masters++; break;
        case ROLE_WORKER: census.workers++; break;
        }
        census.pod |= hellos[i].pod;
        census.listens |= hellos[i].listens;
        if (hellos[i].dca && !census.dca) {
            census.dca = true;
            census.dca_rank = i;
        }
        if (!hellos[i].dca && !census.other) {
            census.other = true;
            census.other_rank = i;
        }
    }
    return census;
}

static int check_pod(const struct census *census, const struct hello *hellos, struct error *error)
{
    if (!hellos[0].pod || census->masters != 1 || census->supermasters > 0 || census->dca || census->workers == 0)
        return error_set(
            error,
            "a master with --join is the first rank of its launch, alone with workers, at least one; here "
            "are %u supermasters, %u masters, %u workers: type `-n 1 master --join FILE : -n COUNT worker`",
            census->supermasters, census->masters, census->workers);
    return 0;
}

static int check_roles(const struct census *census, struct error *error)
{
    if (census->supermasters > 1)
        return error_set(error, "%u supermasters in one launch (ranks %u and %u): accepted is one",
                         census->supermasters, census->first_supermaster, census->second_supermaster);
    if (census->dca && census->supermasters + census->masters > 0)
        return error_set(error, "rank %u has --dca, which is for workers alone, but there is a %s in this launch",
                         census->dca_rank, census->supermasters > 0 ? "supermaster" : "master");
    if (census->dca && census->other)
        return error_set(error, "rank %u has --dca, rank %u has not: accepted is all or none", census->dca_rank,
                         census->other_rank);
    if (census->dca)
        return 0;
    if (census->supermasters == 0)
        return error_set(error,
                         "%u masters and %u workers but no supermaster in this launch: add `-n 1 supermaster KERNEL`",
                         census->masters, census->workers);
    if (census->listens && census->workers > 0 && census->masters == 0)
        return error_set(error,
                         "a supermaster with --listen has no master for its %u workers: add `: -n 1 master`, or leave "
                         "out the workers",
                         census->workers);
    return 0;
}

int topology_check_workers(const struct topology *topology, bool listens, struct error *error)
{
    if (topology->workers > 0 || listens)
        return 0;
    return error_set(error, "no worker in this launch (1 supermaster, %u masters): add `: -n COUNT worker`",
                     topology->masters);
}

int topology_check(const struct hello *hellos, unsigned ranks, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    error->text[0] = '\0';
    if (check_versions(hellos, ranks, error) < 0)
        return EXIT_STATUS_USAGE;
    int status = EXIT_STATUS_DONE;
    for (unsigned i = 0; i < ranks; i++)
        if (hellos[i].status != 0 && (status == EXIT_STATUS_DONE || hellos[i].status < status))
            status = hellos[i].status;
    if (status != EXIT_STATUS_DONE)
        return status;
    struct census census = count_roles(hellos, ranks);
    const int result = census.pod ? check_pod(&census, hellos, error) : check_roles(&census, error);
    return result < 0 ? EXIT_STATUS_USAGE : EXIT_STATUS_DONE;
}

static int topology_allocate(struct topology *topology)
{
    unsigned workers = topology->workers > 0 ? topology->workers : 1;
    unsigned masters = topology->masters > 0 ? topology->masters : 1;
    unsigned nodes = topology->nodes > 0 ? topology->nodes : 1;
    topology->master_rank = calloc(masters, sizeof *topology->master_rank);
    topology->worker_rank = calloc(workers, sizeof *topology->worker_rank);
    topology->worker_node = calloc(workers, sizeof *topology->worker_node);
    topology->node_rank = calloc(nodes, sizeof *topology->node_rank);
    topology->master_of = calloc(workers, sizeof *topology->master_of);
    topology->served = calloc(workers, sizeof *topology->served);
    topology->served_rank = calloc(workers, sizeof *topology->served_rank);
    topology->served_first = calloc(masters + 1, sizeof *topology->served_first);
    bool complete = topology->master_rank && topology->worker_rank && topology->worker_node && topology->node_rank &&
                    topology->master_of && topology->served && topology->served_rank && topology->served_first;
    return complete ? 0 : -1;
}

static void number_nodes(struct topology *topology, const struct hello *hellos, unsigned *number)
{
    for (unsigned i = 0; i < topology->ranks; i++)
        number[i] = UINT32_MAX;
    for (unsigned i = 0; i < topology->ranks; i++)
        if (number[hellos[i].node] == UINT32_MAX)
            number[hellos[i].node] = topology->nodes++;
}

static void note_node_ranks(struct topology *topology, const struct hello *hellos, const unsigned *number)
{
    for (unsigned i = topology->ranks; i-- > 0;)
        topology->node_rank[number[hellos[i].node]] = i;
}

static bool computes(const struct topology *topology, enum role role, unsigned grouping)
{
    const enum role serves = topology->masters > 0 ? ROLE_MASTER : ROLE_SUPERMASTER;
    return role == ROLE_WORKER || ((grouping & TOPOLOGY_MASTERS_COMPUTE) != 0 && role == serves);
}

static void topology_list_members(struct topology *topology, const struct hello *hellos, const unsigned *number,
                                  unsigned grouping)
{
    unsigned masters = 0, workers = 0;
    for (unsigned i = 0; i < topology->ranks; i++) {
        if (hellos[i].role == ROLE_SUPERMASTER)
            topology->supermaster = i;
        else if (hellos[i].role == ROLE_MASTER)
            topology->master_rank[masters++] = i;
        if (computes(topology, hellos[i].role, grouping)) {
            topology->worker_node[workers] = number[hellos[i].node];
            topology->worker_rank[workers++] = i;
        }
    }
}

/* A heap of masters. The master with the fewest workers is first; of masters with equally many workers, the one with
 * the lowest number. */
struct queue {
    const unsigned *load;
    unsigned *masters;
    unsigned count;
};

static bool has_fewer(const void *master, const void *other, const void *context)
{
    unsigned a = *(const unsigned *)master, b = *(const unsigned *)other;
    const unsigned *load = context;
    return load[a] != load[b] ? load[a] < load[b] : a < b;
}

static const struct heap_kind by_load = {sizeof(unsigned), 2, has_fewer};

static void topology_sift_down(struct queue *queue, unsigned i)
{
    heap_sift_down(&by_load, queue->load, queue->masters, queue->count, i);
}

static void deal_to(struct topology *topology, struct queue *queue, const unsigned *members, unsigned count,
                    unsigned *load)
{
    for (unsigned i = queue->count / 2; i-- > 0;)
        topology_sift_down(queue, i);
    for (unsigned i = 0; i < count && queue->count > 0; i++) {
        unsigned w = members != NULL ? members[i] : i;
        if (topology->master_of[w] < topology->masters)
            continue;
        topology->master_of[w] = queue->masters[0];
        load[queue->masters[0]]++;
        topology_sift_down(queue, 0);
    }
}

static void sort_by_node(unsigned nodes, const unsigned *node, unsigned count, unsigned *list, unsigned *first)
{
    for (unsigned n = 0; n <= nodes; n++)
        first[n] = 0;
    for (unsigned i = 0; i < count; i++)
        first[node[i] + 1]++;
    for (unsigned n = 0; n < nodes; n++)
        first[n + 1] += first[n];
    for (unsigned i = 0; i < count; i++)
        list[first[node[i]]++] = i;
    for (unsigned n = nodes; n > 0; n--)
        first[n] = first[n - 1];
    first[0] = 0;
}

struct lists {
    unsigned *master_node, *masters, *first_master, *workers, *first_worker;
};

static int lists_init(struct lists *lists, const struct topology *topology)
{
    size_t masters = topology->masters, workers = topology->workers, nodes = (size_t)topology->nodes + 1;
    unsigned *room = calloc(2 * masters + workers + 2 * nodes, sizeof *room);
    *lists = (struct lists){room, room + masters, room + 2 * masters + workers, room + 2 * masters,
                            room + 2 * masters + workers + nodes};
    return room != NULL ? 0 : -1;
}

static void deal_within_nodes(struct topology *topology, const struct lists *lists, unsigned *load)
{
    sort_by_node(topology->nodes, lists->master_node, topology->masters, lists->masters, lists->first_master);
    sort_by_node(topology->nodes, topology->worker_node, topology->workers, lists->workers, lists->first_worker);
    for (unsigned n = 0; n < topology->nodes; n++) {
        unsigned first = lists->first_master[n], worker = lists->first_worker[n];
        struct queue queue = {load, lists->masters + first, lists->first_master[n + 1] - first};
        deal_to(topology, &queue, lists->workers + worker, lists->first_worker[n + 1] - worker, load);
    }
}

static void deal_to_themselves(struct topology *topology, unsigned *load)
{
    for (unsigned m = 0; m < topology->masters; m++) {
        const unsigned w = topology_worker(topology, topology->master_rank[m]);
        if (w == topology->workers)
            continue;
        topology->master_of[w] = m;
        load[m]++;
    }
}

/* Assigns each worker to a master. With TOPOLOGY_BY_NODE, workers first go to masters of their own nodes. Each worker
 * that is still without a master goes to the master with the fewest workers. */
static int deal(struct topology *topology, const struct hello *hellos, const unsigned *number, unsigned grouping,
                unsigned *load)
{
    struct lists lists;
    if (lists_init(&lists, topology) < 0)
        return -1;
    for (unsigned w = 0; w < topology->workers; w++)
        topology->master_of[w] = topology->masters;
    for (unsigned m = 0; m < topology->masters; m++)
        lists.master_node[m] = number[hellos[topology->master_rank[m]].node];
    deal_to_themselves(topology, load);
    if ((grouping & TOPOLOGY_BY_NODE) != 0)
        deal_within_nodes(topology, &lists, load);
    for (unsigned m = 0; m < topology->masters; m++)
        lists.masters[m] = m;
    struct queue all = {load, lists.masters, topology->masters};
    deal_to(topology, &all, NULL, topology->workers, load);
    free(lists.master_node);
    return 0;
}

static void sort_by_master(struct topology *topology, unsigned *load)
{
    unsigned *next = load;
    for (unsigned m = 0; m < topology->masters; m++) {
        topology->served_first[m + 1] = topology->served_first[m] + load[m];
        next[m] = topology->served_first[m];
    }
    for (unsigned w = 0; w < topology->workers; w++)
        topology->served[next[topology->master_of[w]]++] = w;
}

static void serve_all_by_supermaster(struct topology *topology)
{
    for (unsigned w = 0; w < topology->workers; w++)
        topology->served[w] = w;
    topology->served_first[1] = topology->workers;
}

int topology_init(struct topology *topology, const struct hello *hellos, unsigned ranks, unsigned grouping)
{
    struct census census = count_roles(hellos, ranks);
    if ((grouping & TOPOLOGY_MASTERS_COMPUTE) != 0)
        census.workers += census.masters > 0 ? census.masters : census.supermasters;
    *topology = (struct topology){
        .ranks = ranks, .masters = census.masters, .workers = census.workers, .launched = census.masters};
    unsigned *load = calloc(census.masters + 1, sizeof *load), *number = calloc(ranks, sizeof *number);
    if (number != NULL)
        number_nodes(topology, hellos, number);
    if (load == NULL || number == NULL || topology_allocate(topology) < 0) {
        free(load);
        free(number);
        topology_fini(topology);
        return -1;
    }
    note_node_ranks(topology, hellos, number);
    topology_list_members(topology, hellos, number, grouping);
    int result = 0;
    if (topology->masters == 0)
        serve_all_by_supermaster(topology);
    else if ((result = deal(topology, hellos, number, grouping, load)) == 0)
        sort_by_master(topology, load);
    for (unsigned i = 0; i < topology->workers; i++)
        topology->served_rank[i] = topology->worker_rank[topology->served[i]];
    free(load);
    free(number);
    if (result < 0)
        topology_fini(topology);
    return result;
}

static int topology_make_room(struct topology *topology, unsigned masters, unsigned workers)
{
    const size_t m = topology->masters, w = topology->workers, size = sizeof(unsigned);
    const bool complete = grow_to(&topology->master_rank, m, masters, size) == 0 &&
                          grow_to(&topology->served_first, m + 1, (size_t)masters + 1, size) == 0 &&
                          grow_to(&topology->worker_rank, w, workers, size) == 0 &&
                          grow_to(&topology->worker_node, w, workers, size) == 0 &&
                          grow_to(&topology->node_rank, topology->nodes, (size_t)topology->nodes + 1, size) == 0 &&
                          grow_to(&topology->master_of, w, workers, size) == 0 &&
                          grow_to(&topology->served, w, workers, size) == 0 &&
                          grow_to(&topology->served_rank, w, workers, size) == 0;
    return complete ? 0 : -1;
}

/* Returns the number of the node that `node_rank` identifies. If there is no such node, returns a new number.
 * topology->node_rank is in ascending order. */
static unsigned find_node(const struct topology *topology, unsigned node_rank)
{
    unsigned node = 0;
    if (topology->nodes > 0 && node_rank > topology->node_rank[topology->nodes - 1])
        return topology->nodes;
    while (node < topology->nodes && topology->node_rank[node] != node_rank)
        node++;
    return node;
}

int topology_append(struct topology *topology, unsigned first_rank, unsigned count, unsigned node_rank)
{
    const unsigned m = topology->masters, first = topology->workers, workers = first + count - 1;
    assert(count > 1 && !topology_is_central(topology) && "a pod is a master and its workers, beside other masters");
    assert(first_rank >= topology->ranks);
    if (topology_make_room(topology, m + 1, workers) < 0)
        return -1;
    const unsigned node = find_node(topology, node_rank);
    topology->master_rank[m] = first_rank;
    for (unsigned w = first; w < workers; w++) {
        topology->worker_rank[w] = topology->served_rank[w] = first_rank + 1 + (w - first);
        topology->worker_node[w] = node;
        topology->master_of[w] = m;
        topology->served[w] = w;
    }
    topology->served_first[m + 1] = workers;
    topology->ranks = first_rank + count;
    topology->workers = workers;
    topology->masters++;
    topology->node_rank[node] = node_rank;
    topology->nodes += node == topology->nodes;
    return 0;
}

int topology_init_pod(struct topology *topology, unsigned first_rank, unsigned count)
{
    *topology = (struct topology){.ranks = 1};
    if (topology_allocate(topology) == 0 && topology_append(topology, first_rank, count, first_rank) == 0)
        return 0;
    topology_fini(topology);
    return -1;
}

void topology_fini(struct topology *topology)
{
    free(topology->master_rank);
    free(topology->worker_rank);
    free(topology->worker_node);
    free(topology->node_rank);
    free(topology->master_of);
    free(topology->served);
    free(topology->served_rank);
    free(topology->served_first);
    *topology = (struct topology){0};
}

void topology_served_ranks(const struct topology *topology, unsigned m, unsigned *ranks)
{
    for (unsigned i = 0; i < topology_count(topology, m); i++)
        ranks[i] = topology->served_rank[topology_first(topology, m) + i];
}

unsigned topology_master(const struct topology *topology, unsigned rank)
{
    return rank_index(topology->master_rank, topology->masters, rank);
}

unsigned topology_worker(const struct topology *topology, unsigned rank)
{
    return rank_index(topology->worker_rank, topology->workers, rank);
}

unsigned topology_beside(const struct topology *topology, unsigned w)
{
    unsigned count = 0;
    for (unsigned i = 0; i < topology->workers; i++)
        count += topology->worker_node[i] == topology->worker_node[w];
    return count;
}

bool topology_does_both(const struct topology *topology, unsigned rank)
{
    const bool serves = topology_is_central(topology) ? rank == topology->supermaster
                                                      : topology_master(topology, rank) < topology->masters;
    return serves && topology_worker(topology, rank) < topology->workers;
}

bool topology_has_joined(const struct topology *topology, unsigned rank)
{
    return topology->masters > topology->launched && rank >= topology->master_rank[topology->launched];
}

int topology_copy(struct topology *copy, const struct topology *topology)
{
    const size_t masters = topology->masters * sizeof(unsigned), workers = topology->workers * sizeof(unsigned);
    *copy = *topology;
    copy->master_rank = copy->worker_rank = copy->worker_node = copy->node_rank = copy->master_of = copy->served =
        copy->served_rank = copy->served_first = NULL;
    if (topology_allocate(copy) < 0) {
        topology_fini(copy);
        return -1;
    }
    memcpy(copy->master_rank, topology->master_rank, masters);
    memcpy(copy->worker_rank, topology->worker_rank, workers);
    memcpy(copy->worker_node, topology->worker_node, workers);
    memcpy(copy->node_rank, topology->node_rank, topology->nodes * sizeof(unsigned));
    memcpy(copy->master_of, topology->master_of, workers);
    memcpy(copy->served, topology->served, workers);
    memcpy(copy->served_rank, topology->served_rank, workers);
    memcpy(copy->served_first, topology->served_first, (masters > 0 ? masters : sizeof(unsigned)) + sizeof(unsigned));
    return 0;
}
