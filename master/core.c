/* SPDX-License-Identifier: MIT */
/* The master's step function: it handles one event, then applies the standing rules in this order: ask for a refill,
 * report, leave.
 *
 * Invariants: a range is reported only after the runtime has confirmed that it is stored; the pool has room for the
 * chunks of all open refills. */
#include "master/core.h"

#include "common/config/run_spec.h"
#include "common/machine/state.h"
#include "common/service/refill.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

#include <limits.h>
#include <stdlib.h>

/* SERVING -> ENDING (an END message was received) -> GONE (all workers have left, and everything is reported) */
static const char *const master_state_names[] = {"SERVING", "ENDING", "GONE"};
static const unsigned master_moves[] = {
    [MASTER_SERVING] = 1u << MASTER_ENDING,
    [MASTER_ENDING] = 1u << MASTER_GONE,
    [MASTER_GONE] = 0,
};
static const struct state_table master_states = {"master", MASTER_GONE + 1, master_state_names, master_moves,
                                                 event_write_name};

static void master_on_committed(void *owner, const struct part *part)
{
    master_note_done(owner, part);
}

static void on_committed_alone(void *owner, const struct part *part)
{
    master_note_done_alone(owner, part);
}

static void master_on_finished(void *owner, unsigned w, const struct feedback_record *feedback)
{
    master_note_feedback(owner, w, feedback);
}

/* The supermaster counts a worker as busy as soon as it has sent a chunk for that worker. A failed chunk leads to no
 * report of results, so the count would stay wrong. This function therefore forces a report of the number of busy
 * workers. */
static void master_on_failed(void *owner, const struct iterations_failed *failure)
{
    struct master *master = owner;
    master->reported_busy = UINT_MAX;
    actions_send(master->actions, master->config.supermaster,
                 &(struct message){.type = MESSAGE_ITERATIONS_FAILED, .iterations_failed = *failure});
}

static void on_neighbour(void *owner, const struct neighbour *neighbour)
{
    const struct master *master = owner;
    actions_send(master->actions, master->config.supermaster,
                 &(struct message){.type = MESSAGE_NEIGHBOUR, .neighbour = *neighbour});
}

static void on_loaded(void *owner, unsigned w)
{
    struct master *master = owner;
    (void)w; /* one LOADS message will report all changed loads */
    master->loads_changed = true;
}

static const struct service_ops service_ops = {
    .committed = master_on_committed, .failed = master_on_failed, .neighbour = on_neighbour, .loaded = on_loaded};
static const struct service_ops learning_ops = {.finished = master_on_finished,
                                                .committed = master_on_committed,
                                                .failed = master_on_failed,
                                                .neighbour = on_neighbour,
                                                .loaded = on_loaded};

static const struct service_ops dependent_ops = {
    .committed = on_committed_alone, .failed = master_on_failed, .neighbour = on_neighbour, .loaded = on_loaded};
static const struct service_ops dependent_learning_ops = {.finished = master_on_finished,
                                                          .committed = on_committed_alone,
                                                          .failed = master_on_failed,
                                                          .neighbour = on_neighbour,
                                                          .loaded = on_loaded};

static const struct service_ops *ops_of(const struct master_config *config)
{
    if (config->distance > 0)
        return config->feedback ? &dependent_learning_ops : &dependent_ops;
    return config->feedback ? &learning_ops : &service_ops;
}

int master_init(struct master *master, const struct master_config *config)
{
    *master = (struct master){
        .config = *config,
        .state = MASTER_SERVING,
    };
    const unsigned open_max = config->is_pod ? REFILLS_OPEN_FAR_MAX : REFILLS_OPEN_MAX;
    refills_init(&master->refills, config->workers, config->spec->refill_chunks, open_max,
                 config->spec->refill == RUN_REFILL_WHEN_EMPTY);
    const struct service_config service = {
        .spec = config->spec,
        .ranks = config->ranks,
        .workers = config->workers,
        .pool_capacity = POOL_REFILLS(open_max) * config->workers * config->spec->refill_chunks + 1,
        .record_bytes = config->record_bytes,
        .no_speculation = config->no_speculation || config->spec->copies == RUN_COPIES_OFF,
        .no_isolation = config->no_isolation,
        .dependent = config->distance > 0,
        .first = config->first,
        .ops = ops_of(config),
        .owner = master,
    };
    master->report_records = malloc(REPORT_MAX * DONE_RECORD_BYTES);
    master->stats_records = malloc((size_t)(config->workers + 1) * STATS_RECORD_BYTES);
    master->load_records = malloc((size_t)(config->workers + 1) * LOAD_RECORD_BYTES);
    if (master->report_records == NULL || master->stats_records == NULL || master->load_records == NULL ||
        master_feedback_init(master) < 0 || master_speeds_init(master) < 0 ||
        service_init(&master->service, &service) < 0) {
        master_fini(master);
        return -1;
    }
    return 0;
}

void master_fini(struct master *master)
{
    free(master->report_records);
    free(master->stats_records);
    free(master->load_records);
    master_feedback_fini(master);
    master_speeds_fini(master);
    service_fini(&master->service);
    *master = (struct master){0};
}

void master_move(struct master *master, enum master_state state)
{
    state_move(&master_states, &master->state, state, master->actions->event);
}

static void note_unfit(struct master *master, const struct fatal *problem)
{
    if (master->config.is_pod && master->unfit.text[0] == '\0')
        error_set(&master->unfit, "rank %u cannot take part: %.*s", problem->rank, (int)problem->length, problem->text);
}

void master_fatal(struct master *master, unsigned rank, const char *text)
{
    error_set(&master->problem, "%s", text); /* the FATAL message borrows the text until it is sent */
    struct message message = fatal_message(rank, master->problem.text);
    note_unfit(master, &message.fatal);
    actions_send(master->actions, master->config.supermaster, &message);
}

void master_refuse(struct master *master, unsigned from, const char *text)
{
    error_set(&master->refusal, "%s", text);
    actions_drop(master->actions, from, master->refusal.text);
}

static void master_receive_end(struct master *master, uint64_t now_ns, const struct message *message)
{
    if (master->state < MASTER_ENDING)
        master_move(master, MASTER_ENDING);
    struct end end = message->end;
    end.degraded |= master->service.losses.count > 0;
    service_end(&master->service, &end, now_ns, master->actions);
}

static void master_receive_neighbour(struct master *master, const struct neighbour *neighbour)
{
    if (master->config.distance > 0 && neighbour->rank == master->config.supermaster)
        service_ask_for_boundary(&master->service, neighbour->first, neighbour->rank, master->actions);
    else if (!service_take_neighbour(&master->service, neighbour, master->actions))
        master_refuse(master, master->config.supermaster, "told of a neighbour that cannot be");
}

static void master_receive_boundary(struct master *master, const struct message *message)
{
    if (master->config.distance > 0 && message->payload == PAYLOAD_INLINE)
        service_pass_boundary(&master->service, message, master->actions);
    else
        master_refuse(master, master->config.supermaster, "sent boundary data that cannot be");
}

static void receive_from_supermaster(struct master *master, const struct event *event)
{
    switch (event->message->type) {
    case MESSAGE_REFILL: master_receive_refill(master, event->now_ns, event->message); break;
    case MESSAGE_POISON: service_warn(&master->service, &event->message->poison); break;
    case MESSAGE_END: master_receive_end(master, event->now_ns, event->message); break;
    case MESSAGE_NEIGHBOUR: master_receive_neighbour(master, &event->message->neighbour); break;
    case MESSAGE_BOUNDARY: master_receive_boundary(master, event->message); break;
    case MESSAGE_RECALL: master_receive_recall(master, &event->message->recall); break;
    default: master_refuse(master, event->from, "sent a message that a supermaster does not send");
    }
}

static void relay(struct master *master, unsigned w, const struct event *event)
{
    const struct message *message = event->message;
    unsigned subject = event->from;
    struct speed speed;
    switch (message->type) {
    case MESSAGE_SPEED:
        speed_get(message, &speed);
        subject = speed.worker;
        break;
    case MESSAGE_FATAL: subject = message->fatal.rank; break;
    case MESSAGE_THREADS: subject = message->threads.worker; break;
    default: break;
    }
    if (subject != event->from) {
        master_refuse(master, event->from, "sent a message in the name of another rank");
        return;
    }
    if (message->type == MESSAGE_SPEED)
        master_note_speed(master, w, &speed);
    if (message->type == MESSAGE_FATAL)
        note_unfit(master, &message->fatal);
    actions_send(master->actions, master->config.supermaster, message);
}

static void master_receive(struct master *master, const struct event *event)
{
    const struct message *message = event->message;
    unsigned w = service_find(&master->service, event->from);
    struct error error;
    if (event->from == master->config.supermaster) {
        receive_from_supermaster(master, event);
        return;
    }
    if (w == master->service.worker_count) {
        master_refuse(master, event->from, "sent a message to a master that does not serve it");
        return;
    }
    switch (message->type) {
    case MESSAGE_SPEED:
    case MESSAGE_FATAL:
    case MESSAGE_THREADS:
    case MESSAGE_DRAIN: relay(master, w, event); break;
    case MESSAGE_BOUNDARY:
        if (master->config.distance > 0 && message->payload == PAYLOAD_INLINE)
            relay(master, w, event);
        else
            master_refuse(master, event->from, "sent boundary data that cannot be");
        break;
    default:
        if (service_message(&master->service, w, event->now_ns, message, master->actions, &error) < 0)
            master_refuse(master, event->from, error.text);
        else if (message->type == MESSAGE_ITERATIONS_FAILED)
            service_serve(&master->service, event->now_ns, master->actions);
    }
}

static void master_receive_stolen(struct master *master, const struct event *event)
{
    struct error error;
    const unsigned w = service_find(&master->service, event->from);
    if (service_stolen(&master->service, w, event->now_ns, &event->stolen, master->actions, &error) < 0)
        master_refuse(master, event->from, error.text);
}

void master_tell_counts(struct master *master)
{
    const struct recovery_counts counts = service_take_counts(&master->service);
    if (counts.reissued + counts.duplicates + counts.recalls > 0)
        actions_send(master->actions, master->config.supermaster,
                     &(struct message){.type = MESSAGE_RECOVERY_COUNTS, .recovery_counts = counts});
}

void master_tell_verified(struct master *master)
{
    struct verified verified;
    while (service_take_verified(&master->service, &verified))
        actions_send(master->actions, master->config.supermaster,
                     &(struct message){.type = MESSAGE_VERIFIED, .verified = verified});
}

static void master_tell_mismatches(struct master *master)
{
    const char *reason;
    unsigned wrong = service_take_wrong(&master->service, &reason);
    master_tell_verified(master);
    if (wrong < master->service.worker_count)
        actions_drop(master->actions, master->service.ranks[wrong], reason);
}

/* Reports lost workers and other news of the service to the supermaster. If all workers are lost, the master starts to
 * leave. After the master has left, the supermaster takes back all iterations that it had granted to the master. */
static void master_tell_losses(struct master *master, unsigned news)
{
    struct service *service = &master->service;
    const unsigned supermaster = master->config.supermaster;
    const unsigned char *records;
    unsigned count;
    for (const struct loss *loss; (loss = service_take_loss(service)) != NULL;)
        actions_send(master->actions, supermaster,
                     &(struct message){.type = MESSAGE_WORKER_LOST,
                                       .worker_lost = {service->ranks[loss->worker], loss->chunks, loss->running.first,
                                                       loss->running.count}});
    if (news & SERVICE_COUNTED)
        master_tell_counts(master);
    if (news & SERVICE_DIFFERED)
        master_tell_mismatches(master);
    while (news & SERVICE_GAVE_UP && (records = service_take_given_up(service, GIVEN_UP_MAX, &count)) != NULL)
        actions_send(master->actions, supermaster,
                     &(struct message){.type = MESSAGE_ITERATIONS_GIVEN_UP, .records = records, .record_count = count});
    if (service->out_of_memory)
        master_fatal(master, master->config.rank, "out of memory for what was lost");
    if (master->state < MASTER_ENDING && service->losses.count > 0 && service->count.gone == service->count.present) {
        service_close(service, master->actions);
        master_move(master, MASTER_ENDING);
    }
}

static bool has_to_report(const struct master *master)
{
    return master->done_count > 0 ||
           (master->state == MASTER_SERVING && master->service.count.busy != master->reported_busy);
}

static void report_if_due(struct master *master, uint64_t now_ns)
{
    if (!has_to_report(master))
        return;
    bool waited_for = master->done_count > 0 && (master->refills.parked || master->state != MASTER_SERVING);
    bool full = master->done_count + ASKS_MAX > REPORT_MAX;
    bool due = master->reported_at_ns + REPORT_INTERVAL_NS <= now_ns;
    bool rests =
        /* After a chunk has been copied, the report does not wait until all workers are idle. A busy worker may only be
         * computing a copy of a chunk that is already done. */
        service_is_quiet(&master->service) || master->service.lease.has_copied;
    if (full || (waited_for && rests) || due)
        master_report(master, false, now_ns);
}

void master_step(struct master *master, const struct event *event, struct actions *actions)
{
    unsigned w;
    if (master->state == MASTER_GONE)
        return;
    master->actions = actions;
    actions->event = event;
    switch (event->type) {
    case EVENT_MESSAGE: master_receive(master, event); break;
    case EVENT_STOLEN: master_receive_stolen(master, event); break;
    case EVENT_STORED:
        service_stored(&master->service, event, master->actions);
        if (event->lost)
            service_serve(&master->service, event->now_ns, master->actions);
        else if (event->text != NULL)
            master_fatal(master, master->config.rank, event->text);
        break;
    case EVENT_FATAL: master_fatal(master, master->config.rank, event->text); break;
    case EVENT_DRAIN:
        actions_send(master->actions, master->config.supermaster, &(struct message){.type = MESSAGE_DRAIN});
        break;
    case EVENT_RANK_LOST:
        if ((w = service_find(&master->service, event->from)) == master->service.worker_count)
            break;
        service_lost(&master->service, w, event->now_ns);
        service_serve(&master->service, event->now_ns, master->actions);
        break;
    case EVENT_TIMER: service_expire(&master->service, event->now_ns, master->actions); break;
    default: break;
    }
    const unsigned news = service_take_news(&master->service);
    if (news != 0)
        master_tell_losses(master, news);
    if (master->loads_changed && master->service.assigned == 0)
        /* The supermaster needs the loads before it cuts the first refill. They must be sent here: the request for that
         * refill may have been sent already, and no report comes before the refill. */
        master_send_loads(master);
    if (master->state == MASTER_SERVING) {
        master_ask_for_refill(master, event->now_ns);
        if (master->recall_waiting > 0 || master->refills.parked || master->service.recall.count > 0)
            master_look_at_recalls(master, event->now_ns);
    }
    report_if_due(master, event->now_ns);
    if (master->state == MASTER_ENDING && service_is_over(&master->service)) {
        master_leave(master, event->now_ns);
        master_move(master, MASTER_GONE);
    }
}

uint64_t master_deadline(const struct master *master)
{
    uint64_t report = has_to_report(master) ? master->reported_at_ns + REPORT_INTERVAL_NS : NEVER;
    uint64_t service = service_deadline(&master->service);
    return report < service ? report : service;
}

const char *master_state_name(const struct master *master)
{
    return master_state_names[master->state];
}

static void master_step_any(void *self, const struct event *event, struct actions *actions)
{
    master_step(self, event, actions);
#ifdef HDSS_CHECKS
    master_check(self);
#endif
}

static uint64_t master_deadline_any(const void *self)
{
    return master_deadline(self);
}

static const char *master_state_any(const void *self)
{
    return master_state_name(self);
}

static void check_any(const void *self)
{
    master_check(self);
}

static void explain_any(void *self, const struct reason_sink *sink)
{
    struct master *master = self;
    master->reasons = master->service.reasons = sink;
}

static void trace_any(void *self, struct trace_sink *sink)
{
    struct master *master = self;
    master->service.trace = sink;
}

static bool needs_any(const void *self, unsigned rank)
{
    const struct master *master = self;
    return service_needs(&master->service, rank);
}

struct machine master_machine(struct master *master)
{
    return (struct machine){master,    master_step_any, master_deadline_any, master_state_any,
                            check_any, explain_any,     trace_any,           needs_any};
}
