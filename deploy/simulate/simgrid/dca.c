/* SPDX-License-Identifier: MIT */
/* See dca.h. Each worker is a SimGrid actor that sleeps until the worker's next event. This actor sends the worker's
 * request to the host of rank 0, and also carries the answer back. No actor receives the request, because the model
 * knows in advance when rank 0 serves. Rank 0 has a second actor for serving, because a sleep cannot be interrupted. */
#include "deploy/simulate/simgrid/dca.h"

#include "common/dca/machine.h"
#include "common/os/files.h"
#include "deploy/simulate/dca/run.h"
#include "deploy/simulate/platforms/placement.h"

#include <errno.h>
#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* SimGrid treats times that differ by less than this as equal. */
#define SAME_NS 0.5

struct seat {
    struct dca_run *run;
    unsigned w;
    sg_host_t host;
    sg_sem_t wakes;
    bool waits;
    bool due;
    enum drawing_event type;
    double bytes;
    uint64_t answer;
};

struct network {
    struct seat *seats;
    struct seat looker;
    bool failed;
};

static double actor_now_ns(void)
{
    return simgrid_get_clock() * 1e9;
}

/* Wakes the actor of a worker if the actor waits. `waits` is cleared first, because the woken actor may run, and wait
 * again, before sg_sem_release() returns. */
static void actor_wake(struct seat *seat)
{
    const bool waits = seat->waits;
    seat->waits = false;
    if (waits)
        sg_sem_release(seat->wakes);
}

static void actor_schedule(struct dca_run *run, double at_ns, unsigned w, enum drawing_event type)
{
    struct network *network = run->context;
    struct seat *seat = type == DRAWING_LOOKS ? &network->looker : &network->seats[w];
    (void)at_ns;
    seat->due = true;
    seat->type = type;
    actor_wake(seat);
}

static void actor_ask(struct dca_run *run, unsigned w, double at_ns, double bytes)
{
    ((struct network *)run->context)->seats[w].bytes = bytes;
    dca_schedule(run, at_ns, w, DRAWING_LEAVES);
}

static void actor_reply(struct dca_run *run, unsigned w, uint64_t counter, double at_ns, double bytes)
{
    struct seat *seat = &((struct network *)run->context)->seats[w];
    seat->answer = counter;
    seat->bytes = bytes;
    dca_schedule(run, at_ns, w, DRAWING_RETURNS);
}

static void actor_carry(const struct network *network, const struct seat *seat, bool back)
{
    sg_host_t first = network->seats[0].host;
    if (seat->run->workers[seat->w].way_ns > 0)
        sg_host_sendto(back ? first : seat->host, back ? seat->host : first, seat->bytes);
}

static void actor_happen(const struct network *network, struct seat *seat, enum drawing_event type)
{
    struct dca_run *run = seat->run;
    switch (type) {
    case DRAWING_LEAVES:
        actor_carry(network, seat, false);
        run->workers[seat->w].due_ns = actor_now_ns();
        dca_run_happen(run, seat->w, DRAWING_ARRIVES);
        break;
    case DRAWING_RETURNS: {
        const uint64_t answer = seat->answer;
        actor_carry(network, seat, true);
        dca_deliver(run, seat->w, answer, actor_now_ns());
        break;
    }
    default: dca_run_happen(run, seat->w, type);
    }
}

static void actor_wait(struct seat *seat)
{
    seat->waits = true;
    sg_sem_acquire(seat->wakes);
}

static void actor_sleep_until(double at_ns)
{
    double left_ns = at_ns - actor_now_ns();
    if (left_ns > SAME_NS)
        sg_actor_sleep_for(left_ns * 1e-9);
}

/* Sleeps until the worker's event is due, and returns true. If the running chunk may be cut, another actor may wake the
 * worker's actor earlier. Then returns false, because the event may have been replaced. */
static bool actor_await_due(struct seat *seat, double at_ns)
{
    const struct dca_run *run = seat->run;
    double left_ns = at_ns - actor_now_ns();
    if (seat->type != DRAWING_FINISHES || run->model->give == NULL || left_ns <= SAME_NS) {
        actor_sleep_until(at_ns);
        return true;
    }
    seat->waits = true;
    bool over = sg_sem_acquire_timeout(seat->wakes, left_ns * 1e-9);
    seat->waits = false;
    return over;
}

static void actor_draw(int argc, char **argv)
{
    struct seat *seat = sg_actor_self_get_data();
    struct dca_run *run = seat->run;
    struct network *network = run->context;
    const struct drawing_worker *worker = &run->workers[seat->w];
    (void)argc, (void)argv;
    while (worker->machine.state != DCA_ENDED && !network->failed) {
        if (!seat->due) {
            actor_wait(seat);
            continue;
        }
        if (!actor_await_due(seat, fmin(worker->due_ns, run->fails_ns)))
            continue;
        if (worker->due_ns >= run->fails_ns)
            break;
        seat->due = false;
        actor_happen(network, seat, seat->type);
    }
}

static void actor_look(int argc, char **argv)
{
    struct seat *seat = sg_actor_self_get_data();
    (void)argc, (void)argv;
    sg_actor_daemonize(sg_actor_self());
    for (;;) {
        if (!seat->due) {
            actor_wait(seat);
            continue;
        }
        actor_sleep_until(seat->run->look_ns);
        seat->due = false;
        dca_run_happen(seat->run, 0, DRAWING_LOOKS);
    }
}

static void actor_fail(int argc, char **argv)
{
    struct dca_run *run = sg_actor_self_get_data();
    struct network *network = run->context;
    (void)argc, (void)argv;
    sg_actor_daemonize(sg_actor_self());
    actor_sleep_until(run->fails_ns);
    network->failed = true;
    for (unsigned w = 0; w < run->simulation->workers; w++)
        actor_wake(&network->seats[w]);
}

static void actors_start_engine(const char *platform)
{
    char *words[] = {(char[]){"hdss-simgrid"},
                     (char[]){"--log=root.thres:error"},
                     (char[]){"--cfg=network/model:CM02"},
                     (char[]){"--cfg=network/TCP-gamma:0"},
                     (char[]){"--cfg=network/crosstraffic:0"},
                     (char[]){"--cfg=contexts/factory:raw"},
                     (char[]){"--cfg=contexts/stack-size:256"},
                     (char[]){"--cfg=contexts/guard-size:1"},
                     NULL};
    int count = sizeof words / sizeof *words - 1;
    simgrid_init(&count, words);
    simgrid_load_platform(platform);
}

static int actors_load_platform(const struct simulation *simulation, const struct simgrid_file *file,
                                struct error *error)
{
    char path[512];
    if (file->count > 0) {
        actors_start_engine(file->path);
        return 0;
    }
    snprintf(path, sizeof path, "%s/hdss-simulate-XXXXXX.xml", file_temporary());
    int descriptor = mkstemps(path, 4);
    if (descriptor < 0)
        return error_set(error, "%s: %s", path, strerror(errno));
    close(descriptor);
    int result = simgrid_write_platform(&simulation->platform, &simulation->placement, path);
    if (result == 0)
        actors_start_engine(path);
    else
        error_set(error, "%s: %s", path, strerror(errno));
    unlink(path);
    return result;
}

static sg_host_t actor_host(const struct simulation *simulation, const struct simgrid_file *file, unsigned w)
{
    const struct placement *placement = &simulation->placement;
    const unsigned node = placement->node_of[w];
    char name[SIMGRID_HOST_MAX];
    simgrid_host_name(node, name);
    return sg_host_by_name(file->count > 0 ? file->hosts[placement->platform_node[node]] : name);
}

static void actor_start(struct seat *seat, const char *name, xbt_main_func_t code)
{
    sg_actor_t actor = sg_actor_init(name, seat->host);
    seat->wakes = sg_sem_init(0);
    sg_actor_set_data(actor, seat);
    sg_actor_start(actor, code, 0, NULL);
}

static void actors_start(struct dca_run *run, const struct simgrid_file *file)
{
    struct network *network = run->context;
    sg_host_t first = actor_host(run->simulation, file, 0);
    for (unsigned w = 0; w < run->simulation->workers; w++) {
        struct seat *seat = &network->seats[w];
        *seat = (struct seat){.run = run, .w = w, .host = actor_host(run->simulation, file, w)};
        if (run->workers[w].way_ns > 0 || seat->host != first)
            run->workers[w].way_ns = sg_host_get_route_latency(seat->host, first) * 1e9;
        dca_schedule(run, 0, w, DRAWING_BEGINS);
        actor_start(seat, "worker", actor_draw);
    }
    network->looker = (struct seat){.run = run, .host = first};
    actor_start(&network->looker, "looker", actor_look);
    if (run->fails_ns < INFINITY) {
        sg_actor_t actor = sg_actor_init("failure", first);
        sg_actor_set_data(actor, run);
        sg_actor_start(actor, actor_fail, 0, NULL);
    }
}

static int simulate_actors(struct dca_run *run, const struct simgrid_file *file, const char *version,
                           struct error *error)
{
    struct network *network = run->context;
    if (actors_load_platform(run->simulation, file, error) < 0)
        return -1;
    actors_start(run, file);
    simgrid_run();
    for (unsigned w = 0; w < run->simulation->workers; w++)
        sg_sem_destroy(network->seats[w].wakes);
    sg_sem_destroy(network->looker.wakes);
    if (run->ended < run->simulation->workers && run->fails_ns == INFINITY)
        return error_set(error, "the simulation has come to a standstill before the job was done");
    return dca_run_say(run, run->ended < run->simulation->workers, version);
}

int simulation_run_simgrid_dca(struct simulation *simulation, const struct simgrid_file *file, const char *version,
                               struct error *error)
{
    static const struct dca_backend backend = {.schedule = actor_schedule, .ask = actor_ask, .reply = actor_reply};
    struct network network = {.seats = calloc(simulation->workers, sizeof *network.seats)};
    struct dca_run run;
    if (network.seats == NULL)
        return error_set(error, "out of memory for %u workers", simulation->workers);
    int status = dca_run_init(&run, simulation, &backend, &network, error);
    if (status == 0)
        status = simulate_actors(&run, file, version, error);
    dca_run_fini(&run);
    free(network.seats);
    return status;
}
