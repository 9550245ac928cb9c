/* SPDX-License-Identifier: MIT */
/* The index of a service: a binary tree of the work that workers hold, and a rope of the workers that wait.
 *
 * A leaf of the tree has bounds for one worker. An inner node has bounds for all workers below it. A search looks for
 * the worker with the most work, or for the chunk that has been overdue longest. If the bounds of a node show that
 * nothing below it is better than the best found so far, the search skips the node. At a leaf the search calculates the
 * exact value.
 *
 * Most steps need no search. The first search builds the index from all workers. The index is dropped after as many
 * steps without a search as there are workers. While the index exists, a worker that changes is marked stale, and the
 * next search first updates the leaf of this worker. If two workers have copies of a chunk, a change of one updates the
 * leaves of both. */
#include "common/service/index.h"

#include "common/service/serving.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const struct holding nothing_held = {
    .own_end_ns = -1,
    .own_least_ns = -1,
    .iterations = -1,
    .began_ns = -1,
    .answer_ns = NEVER,
    .unrevoked_ns = NEVER,
    .heard_ns = NEVER,
    .asked_ns = NEVER,
    .lease_ns = NEVER,
};

static double higher(double a, double b)
{
    return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static struct holding both(const struct holding *a, const struct holding *b)
{
    return (struct holding){
        .askable = a->askable + b->askable,
        .answer_ns = earlier(a->answer_ns, b->answer_ns),
        .unrevoked_ns = earlier(a->unrevoked_ns, b->unrevoked_ns),
        .verifies = a->verifies || b->verifies,
        .own_end_ns = higher(a->own_end_ns, b->own_end_ns),
        .own_least_ns = higher(a->own_least_ns, b->own_least_ns),
        .iterations = higher(a->iterations, b->iterations),
        .began_ns = higher(a->began_ns, b->began_ns),
        .heard_ns = earlier(a->heard_ns, b->heard_ns),
        .asked_ns = earlier(a->asked_ns, b->asked_ns),
        .lease_ns = earlier(a->lease_ns, b->lease_ns),
        .slowest_probe_s = higher(a->slowest_probe_s, b->slowest_probe_s),
    };
}

static bool are_equal(const struct holding *a, const struct holding *b)
{
    return a->askable == b->askable && a->verifies == b->verifies && a->answer_ns == b->answer_ns &&
           a->unrevoked_ns == b->unrevoked_ns && a->own_end_ns == b->own_end_ns && a->own_least_ns == b->own_least_ns &&
           a->iterations == b->iterations && a->began_ns == b->began_ns && a->heard_ns == b->heard_ns &&
           a->asked_ns == b->asked_ns && a->lease_ns == b->lease_ns && a->slowest_probe_s == b->slowest_probe_s;
}

static struct holding holding_of(const struct service *service, unsigned w)
{
    struct holding holding = nothing_held;
    if (service->workers[w].recall >= RECALL_SENT) {
        holding.answer_ns = service->workers[w].heard_ns;
        holding.unrevoked_ns = service->workers[w].is_revoked ? NEVER : holding.answer_ns;
    }
    if (service->workers[w].holds == 0)
        return holding;
    holding.slowest_probe_s = service->workers[w].probe_s;
    if (service_recalls(service) && service_may_be_asked(service, w))
        service_hold_for_recall(service, w, &holding);
    else
        service_hold_for_copy(service, w, &holding);
    return holding;
}

/* Is worker `w` idle, with a free slot? Even if it is, has_slot() may later refuse it because memory has run out. */
static bool service_is_free(const struct service *service, unsigned w)
{
    struct served *worker = &service->workers[w];
    return worker->holds == 0 && worker->owed == 0 &&
           (worker->slots < GRANTS_MAX || grant_slot(worker, chunk_number_after(worker->chunks_assigned))->chunk == 0);
}

static int reserve(struct service *service)
{
    struct service_index *index = &service->line.index;
    unsigned leaves = index->leaves > 0 ? index->leaves : 1;
    while (leaves < service->worker_count)
        leaves *= 2;
    if (rope_reserve(&index->line, leaves) < 0)
        return -1;
    if (leaves == index->leaves)
        return 0;
    service_index_fini(service);
    index->tree = calloc(2 * (size_t)leaves, sizeof *index->tree);
    index->work = calloc(leaves, sizeof *index->work);
    index->stale = calloc(leaves, sizeof *index->stale);
    if (index->tree == NULL || index->work == NULL || index->stale == NULL || rope_reserve(&index->line, leaves) < 0)
        return -1;
    index->leaves = leaves;
    return 0;
}

void service_index_fini(struct service *service)
{
    struct service_index *index = &service->line.index;
    free(index->tree);
    free(index->work);
    free(index->stale);
    rope_fini(&index->line);
    *index = (struct service_index){.line = index->line};
}

static void line_up(struct service *service)
{
    struct rope *line = &service->line.index.line;
    rope_clear(line);
    for (unsigned i = 0; i < service->line.count; i++) {
        const unsigned w = service->line.ring[(service->line.first + i) % service->worker_count];
        rope_push(line, w);
        rope_mark(line, w, service_is_free(service, w), service->workers[w].probe_s);
    }
}

static void plant(struct service *service)
{
    struct service_index *index = &service->line.index;
    index->iterations = 0;
    index->compute_ns = 0;
    for (unsigned w = 0; w < index->leaves; w++) {
        index->tree[index->leaves + w] = w < service->worker_count ? holding_of(service, w) : nothing_held;
        index->work[w] = (struct work_done){0};
        if (w >= service->worker_count)
            continue;
        index->work[w] = (struct work_done){service->workers[w].compute_ns, service->workers[w].iterations};
        index->compute_ns += index->work[w].compute_ns;
        index->iterations += index->work[w].iterations;
    }
    for (unsigned i = index->leaves; i-- > 1;)
        index->tree[i] = both(&index->tree[2 * i], &index->tree[2 * i + 1]);
}

bool service_index_begin(struct service *service)
{
    struct service_index *index = &service->line.index;
    index->steps_of_plenty = 0;
    if (index->is_on)
        return true;
    if (reserve(service) < 0)
        return false;
    line_up(service);
    plant(service);
    index->is_on = true;
    return true;
}

void service_index_end(struct service *service)
{
    struct service_index *index = &service->line.index;
    if (!index->is_on)
        return;
    index->is_on = false;
    service->line.passed_over = 0;
    for (unsigned i = 0; i < index->stale_count; i++)
        service->workers[index->stale[i]].is_stale = false;
    index->stale_count = 0;
    service->line.first = 0;
    for (unsigned i = 0; i < service->line.count; i++)
        service->line.ring[i] = rope_pop(&index->line);
}

void service_index_note_stale(struct service *service, unsigned w)
{
    struct service_index *index = &service->line.index;
    if (service->workers[w].is_stale)
        return;
    service->workers[w].is_stale = true;
    index->stale[index->stale_count++] = w;
}

static void update_holding(struct service *service, unsigned w)
{
    struct service_index *index = &service->line.index;
    struct holding now = holding_of(service, w);
    for (unsigned i = index->leaves + w; i > 0 && !are_equal(&index->tree[i], &now); i /= 2) {
        index->tree[i] = now;
        if (i > 1)
            now = both(&index->tree[i & ~1u], &index->tree[i | 1u]);
    }
}

static void update_work(struct service_index *index, const struct served *worker, unsigned w)
{
    struct work_done *known = &index->work[w];
    index->compute_ns += worker->compute_ns - known->compute_ns;
    index->iterations += worker->iterations - known->iterations;
    *known = (struct work_done){worker->compute_ns, worker->iterations};
}

static void update_worker(struct service *service, unsigned w)
{
    struct served *worker = &service->workers[w];
    update_holding(service, w);
    update_work(&service->line.index, worker, w);
    for (uint32_t i = 0; i < worker->slots; i++)
        if (worker->grants[i].chunk != 0 && worker->grants[i].copy_owner == OWNER_UNDECIDED)
            update_holding(service, worker->grants[i].other_worker);
    if (rope_has(&service->line.index.line, w))
        rope_mark(&service->line.index.line, w, service_is_free(service, w), worker->probe_s);
}

void service_index_update(struct service *service)
{
    struct service_index *index = &service->line.index;
    const unsigned count = index->stale_count;
    index->stale_count = 0;
    for (unsigned i = 0; i < count; i++) {
        const unsigned w = index->stale[i];
        update_worker(service, w);
        service->workers[w].is_stale = false;
    }
}

double service_index_mean_ns(const struct service *service)
{
    const struct service_index *index = &service->line.index;
    return index->iterations > 0 ? (double)index->compute_ns / (double)index->iterations : 0;
}

static bool is_outdated(const struct service *service, const struct served *worker)
{
    bool is_outdated = worker->is_stale;
    for (uint32_t i = 0; i < worker->slots; i++)
        if (worker->grants[i].chunk != 0 && worker->grants[i].copy_owner == OWNER_UNDECIDED)
            is_outdated |= service->workers[worker->grants[i].other_worker].is_stale;
    return is_outdated;
}

static void check_leaf(const struct service *service, unsigned w)
{
    const struct service_index *index = &service->line.index;
    const struct served *worker = &service->workers[w];
    const struct holding now = holding_of(service, w);
    assert(rope_has(&index->line, w) == (worker->asks > 0 && !worker->is_aside) && "who asks stands in the line");
    if (is_outdated(service, worker))
        return;
    assert(are_equal(&index->tree[index->leaves + w], &now) && "what a worker holds is known");
    assert(index->work[w].compute_ns == worker->compute_ns && index->work[w].iterations == worker->iterations &&
           "what a worker has done is known");
    assert((!rope_has(&index->line, w) || index->line.nodes[w].is_able == service_is_free(service, w)) &&
           "who waits for nothing but a chunk is known");
    (void)now;
}

void service_index_check(const struct service *service)
{
    const struct service_index *index = &service->line.index;
    unsigned stale = 0;
    if (!index->is_on) {
        for (unsigned w = 0; w < service->worker_count; w++)
            assert(!service->workers[w].is_stale && "nothing is stale that nobody knows");
        return;
    }
    for (unsigned w = 0; w < service->worker_count; w++) {
        check_leaf(service, w);
        stale += service->workers[w].is_stale;
    }
    assert(stale == index->stale_count && "who is stale is listed, once");
    for (unsigned i = 1; i < index->leaves; i++) {
        const struct holding sum = both(&index->tree[2 * i], &index->tree[2 * i + 1]);
        assert(are_equal(&index->tree[i], &sum) && "what several hold is the bound of what each holds");
        (void)sum;
    }
    assert(rope_length(&index->line) == service->line.count && "the line is as long as it is said to be");
    rope_check(&index->line);
    (void)stale;
}
