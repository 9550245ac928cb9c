/* SPDX-License-Identifier: MIT */
/* The modes without a coordinator (DCA): two-sided, rma and node. They use the transports of the DCA topologies. At the
 * end of a time step a technique forgets what it has learned, because no rank collects this knowledge. */
#include "deploy/library/loop.h"

#include "common/carrier/words.h"
#include "common/dca/core.h"
#include "common/dca/core_queue.h"
#include "common/dca/machine.h"
#include "common/dca/share.h"
#include "common/sched/sched.h"

#include <stdlib.h>

struct dca_own {
    struct share share;
    bool core_ready;
};

static void idle(struct share *share, bool (*poll)(void *context), void *context)
{
    (void)poll, (void)context;
    linked_wait(share->context);
}

static void happened(struct share *share)
{
    backoff_reset(&((struct hdss_shared_loop *)share->context)->backoff);
}

static void nothing(struct share *share)
{
    (void)share;
}

static void ignore_sent(struct share *share, unsigned rank)
{
    (void)share, (void)rank;
}

static const struct share_host host = {
    .idle = idle, .happened = happened, .pause = nothing, .sent = ignore_sent, .yield = backoff_yield};

static const struct transport *mode_dca_transport_of(enum api_mode mode)
{
    switch (mode) {
    case API_TWO_SIDED: return &transport_two_sided;
    case API_NODE: return &transport_node;
    default: return &transport_rma;
    }
}

/* In mode node a technique must have a closed form. The other techniques need measurements of the chunks of each rank,
 * but in this mode chunks are for whole nodes. */
static int check_node(struct hdss_shared_loop *loop, const struct dca_core *core)
{
    struct dca_view view;
    if (dca_learns(core))
        return error_set(&loop->error, "technique %s cannot run in mode node: it learns from single ranks",
                         loop->settings.technique.technique->name);
    if (dca_view_init(&view, &loop->settings.node_technique, 1, &loop->error) < 0)
        return -1;
    dca_view_fini(&view);
    return 0;
}

static int mode_dca_init_core(struct hdss_shared_loop *loop, struct dca_own *own)
{
    const struct team *team = &loop->team;
    bool by_node = loop->settings.mode == API_NODE;
    const struct dca_config config = {
        .technique = &loop->settings.technique,
        .sched = {.iterations = loop->iterations,
                  .workers = by_node ? team->groups : (unsigned)team->ranks,
                  .powers = loop->powers,
                  .min_chunk = loop->settings.min_chunk,
                  .weighting = loop->settings.weighting},
    };
    const unsigned drawer = by_node ? team->group : (unsigned)team->rank;
    if (dca_init(&own->share.core, &config, &loop->error) < 0)
        return -1;
    own->core_ready = true;
    dca_machine_init(&own->share.machine, &own->share.core, drawer, loop->powers != NULL ? loop->powers[drawer] : 1,
                     by_node);
    return by_node ? check_node(loop, &own->share.core) : 0;
}

static void describe_team(struct hdss_shared_loop *loop, struct share *share)
{
    const struct team *team = &loop->team;
    *share = (struct share){
        .transport = mode_dca_transport_of(loop->settings.mode),
        .host = &host,
        .context = loop,
        .world = carrier_word_of_comm(team->world),
        .node = carrier_word_of_comm(team->node),
        .rank = (unsigned)team->rank,
        .ranks = (unsigned)team->ranks,
        .nodes = team->groups,
        .cores_are_free = team->cores_are_free,
        .node_technique = &loop->settings.node_technique,
        .error = &loop->error,
    };
}

static int dca_mode_prepare(struct hdss_shared_loop *loop)
{
    struct dca_own *own = loop->own;
    describe_team(loop, &own->share);
    if (loop->settings.technique_auto)
        return error_set(&loop->error, "technique auto is for the modes central and hierarchical"),
               HDSS_ERROR_TECHNIQUE;
    if (loop_make_powers(loop, loop->settings.mode == API_NODE) < 0)
        return HDSS_ERROR_MEMORY;
    if (mode_dca_init_core(loop, own) < 0)
        return HDSS_ERROR_TECHNIQUE;
    return share_prepare(&own->share) < 0 ? HDSS_ERROR_MEMORY : HDSS_OK;
}

static int dca_mode_open(struct hdss_shared_loop *loop)
{
    struct dca_own *own = loop->own;
    bool asked = loop->settings.mode == API_TWO_SIDED || loop->team.is_far;
    loop->serves = loop->team.rank == 0 && loop->team.ranks > 1 && asked;
    return share_open(&own->share);
}

static bool dca_mode_draw(struct hdss_shared_loop *loop, struct range *chunk)
{
    struct dca_own *own = loop->own;
    if (loop->measured.chunks > 0)
        dca_machine_measure(&own->share.machine, loop->measured.iterations, (uint64_t)(loop->measured.compute_s * 1e9),
                            (uint64_t)(loop->measured.wait_s * 1e9), 0, 0);
    loop->measured = (struct measured){0};
    /* serves requests here too, because a short chunk has no pieces between which requests could be served */
    if (loop->serves && !loop->helped)
        own->share.transport->serve(&own->share);
    progress_lock(loop);
    bool drawn = share_draw(&own->share, chunk);
    progress_unlock(loop);
    if (own->share.failed)
        loop->state = LOOP_BROKEN;
    return drawn;
}

static bool dca_mode_serve(struct hdss_shared_loop *loop)
{
    struct dca_own *own = loop->own;
    return own->share.transport->serve(&own->share);
}

static void dca_mode_finish(struct hdss_shared_loop *loop)
{
    struct dca_own *own = loop->own;
    progress_stop(loop);
    if (own->share.transport->finish != NULL)
        own->share.transport->finish(&own->share);
    loop->figures.refills = own->share.refills;
    loop->figures.messages = own->share.messages;
    loop->figures.bytes = own->share.bytes;
}

static void dca_mode_close(struct hdss_shared_loop *loop)
{
    struct dca_own *own = loop->own;
    share_close(&own->share);
    if (own->core_ready)
        dca_fini(&own->share.core);
    own->core_ready = false;
}

const struct mode mode_dca = {
    .own_bytes = sizeof(struct dca_own),
    .prepare = dca_mode_prepare,
    .open = dca_mode_open,
    .draw = dca_mode_draw,
    .serve = dca_mode_serve,
    .finish = dca_mode_finish,
    .close = dca_mode_close,
    .fini = dca_mode_close,
};
