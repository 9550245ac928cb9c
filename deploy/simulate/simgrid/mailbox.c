/* SPDX-License-Identifier: MIT */
/* The mailbox of a simulated rank: how the rank waits for messages, and in which order it takes them.
 *
 * A rank waits in MPI_Waitany for a message or an alarm. Polling would take simulated time that real ranks do not
 * spend, or would make the simulation slow.
 *
 * Real ranks take messages in the order of their receives. A simulated rank must not do that, because SMPI assigns a
 * message to a receive when the message is sent, and latencies differ. A message that has arrived would wait for an
 * earlier message from a distant site. So a simulated rank takes messages in the order of arrival. It takes messages of
 * the same sender in the order of sending, because a short message might overtake a long one. Receive number n gets the
 * n-th message that was sent to this rank; the inbox tells the sender of that message. */
#include "common/carrier/words.h"
#include "deploy/simulate/simgrid/rank.h"
#include "deploy/simulate/simgrid/module.h"
#include "deploy/simulate/virtual/cluster.h"

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <smpi/smpi.h>
#include <stdlib.h>
#include <string.h>

#define TAG_ALARM 4

enum receive_state { RECEIVE_WAITS, RECEIVE_HAS, RECEIVE_TAKEN };

struct receive {
    enum receive_state state;
    uint64_t number;
    uint64_t arrival;
    struct carrier_status status;
};

struct mailbox {
    struct simulated_run *run;
    struct net *net; /* has the receives of this rank; owned by the runtime; NULL: no receive was started yet */
    unsigned rank;
    struct receive receives[RECEIVES_MAX];
    unsigned receive_count;
    unsigned waiting[RECEIVES_MAX];
    unsigned waiting_count;
    uint64_t started, arrived;
    uint64_t alarm_ns;
    sg_actor_t alarm;
    bool rings; /* the actor `alarm` is about to send its message, and may hold a lock */
    unsigned alarms_sent;
    carrier_request alarm_request;
};

struct mailbox *mailbox_new(struct simulated_run *run, unsigned rank)
{
    struct mailbox *mailbox = calloc(1, sizeof *mailbox);
    if (mailbox == NULL)
        return NULL;
    *mailbox = (struct mailbox){.run = run, .rank = rank, .alarm_ns = NEVER};
    return mailbox;
}

static void dismiss_alarm(struct mailbox *mailbox)
{
    if (mailbox->alarm == NULL)
        return;
    if (!mailbox->rings) /* an actor that rings may hold a lock and must not be killed; it ends soon */
        sg_actor_kill(mailbox->alarm);
    sg_actor_unref(mailbox->alarm);
    mailbox->alarm = NULL;
}

void mailbox_free(struct mailbox *mailbox)
{
    dismiss_alarm(mailbox);
    if (mailbox->alarm_request != 0 && !simulated_may_fail(mailbox->run)) {
        if (mailbox->alarms_sent == 0) /* SimGrid aborts if a message that is in transit is cancelled */
            carrier->cancel(mailbox->alarm_request);
        carrier->wait(&mailbox->alarm_request);
    }
    free(mailbox);
}

static int grow_inbox(struct inbox *inbox)
{
    size_t capacity = inbox->capacity > 0 ? 2 * inbox->capacity : 8;
    uint32_t *from = malloc(capacity * sizeof *from);
    if (from == NULL)
        return -1;
    for (uint64_t n = inbox->taken; n < inbox->sent; n++)
        from[n % capacity] = inbox->from[n % inbox->capacity];
    free(inbox->from);
    inbox->from = from;
    inbox->capacity = capacity;
    return 0;
}

bool mailbox_announce(struct net *net, unsigned to, size_t bytes)
{
    struct mailbox *mailbox = simulated_self()->mailbox;
    (void)net;
    double ns = mailbox->run->config->message_ns + mailbox->run->config->byte_ns * (double)bytes;
    simulated_note_busy(simulated_self(), ns);
    simulated_work(simulated_self(), ns);
    if (!simulated_reaches(simulated_self(), to))
        return false;
    struct inbox *inbox = &mailbox->run->inboxes[to];
    if (inbox->sent - inbox->taken == inbox->capacity && grow_inbox(inbox) < 0)
        simulated_give_up(mailbox->run, mailbox->rank, "out of memory for a message");
    inbox->from[inbox->sent++ % inbox->capacity] = mailbox->rank;
    return true;
}

static unsigned sender_of(const struct mailbox *mailbox, uint64_t number)
{
    const struct inbox *inbox = &mailbox->run->inboxes[mailbox->rank];
    return inbox->from[number % inbox->capacity];
}

static void shorten_inbox(struct mailbox *mailbox)
{
    uint64_t oldest = mailbox->started;
    for (unsigned i = 0; i < mailbox->receive_count; i++)
        if (mailbox->receives[i].state != RECEIVE_TAKEN && mailbox->receives[i].number < oldest)
            oldest = mailbox->receives[i].number;
    mailbox->run->inboxes[mailbox->rank].taken = oldest;
}

void mailbox_start_receive(struct net *net, unsigned receive)
{
    struct mailbox *mailbox = simulated_self()->mailbox;
    mailbox->net = net;
    if (mailbox->receive_count < net->receive_count)
        mailbox->receive_count++;
    mailbox->receives[receive] = (struct receive){.state = RECEIVE_WAITS, .number = mailbox->started++};
    mailbox->waiting[mailbox->waiting_count++] = receive;
    shorten_inbox(mailbox);
    carrier->start(net->receives[receive]);
}

static void note_arrival(struct mailbox *mailbox, unsigned n, const MPI_Status *status)
{
    struct receive *receive = &mailbox->receives[mailbox->waiting[n]];
    int bytes;
    receive->state = RECEIVE_HAS;
    receive->arrival = mailbox->arrived++;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    receive->status = (struct carrier_status){.source = status->MPI_SOURCE, .bytes = (size_t)bytes};
    mailbox->waiting_count--;
    memmove(&mailbox->waiting[n], &mailbox->waiting[n + 1], (mailbox->waiting_count - n) * sizeof mailbox->waiting[n]);
    if (sender_of(mailbox, receive->number) != (unsigned)status->MPI_SOURCE)
        simulated_give_up(mailbox->run, mailbox->rank,
                          "SimGrid has matched messages in another order than they were sent");
}

static bool may_be_taken(const struct mailbox *mailbox, const struct receive *receive)
{
    unsigned from = (unsigned)receive->status.source;
    for (unsigned i = 0; i < mailbox->receive_count; i++) {
        const struct receive *other = &mailbox->receives[i];
        if (other->state != RECEIVE_TAKEN && other->number < receive->number &&
            sender_of(mailbox, other->number) == from)
            return false;
    }
    return true;
}

static unsigned next_arrived(const struct mailbox *mailbox)
{
    unsigned next = mailbox->receive_count;
    for (unsigned i = 0; i < mailbox->receive_count; i++) {
        const struct receive *receive = &mailbox->receives[i];
        bool is_sooner = next == mailbox->receive_count || receive->arrival < mailbox->receives[next].arrival;
        if (receive->state == RECEIVE_HAS && is_sooner && may_be_taken(mailbox, receive))
            next = i;
    }
    return next;
}

/* Lists the requests in the order of `waiting`. The order matters, because MPI_Waitany returns the first complete
 * request. */
static int list_receives(const struct mailbox *mailbox, MPI_Request *requests)
{
    for (unsigned n = 0; n < mailbox->waiting_count; n++)
        requests[n] = carrier_request_of(mailbox->net->receives[mailbox->waiting[n]]);
    return (int)mailbox->waiting_count;
}

static void look_at_mail(struct mailbox *mailbox)
{
    MPI_Request requests[RECEIVES_MAX];
    int index, any = 1;
    MPI_Status status;
    simulated_self()->computed = false;
    while (any) {
        MPI_Testany(list_receives(mailbox, requests), requests, &index, &any, &status);
        any = any && index != MPI_UNDEFINED;
        if (any)
            note_arrival(mailbox, (unsigned)index, &status);
    }
}

bool mailbox_find(struct net *net, struct carrier_status *status)
{
    struct mailbox *mailbox = simulated_self()->mailbox;
    if (simulated_self()->is_gone)
        return false;
    if (simulated_self()->computed)
        look_at_mail(mailbox);
    unsigned next = next_arrived(mailbox);
    if (next == mailbox->receive_count)
        return false;
    *status = mailbox->receives[next].status;
    mailbox->receives[next].state = RECEIVE_TAKEN;
    net->receive_head = next;
    return true;
}

static void give_alarm(int argc, char **argv)
{
    struct mailbox *mailbox = sg_actor_self_get_data();
    (void)argc, (void)argv;
    SMPI_thread_create();
    sg_actor_sleep_until((double)mailbox->alarm_ns * 1e-9);
    mailbox->rings = true;
    mailbox->alarms_sent++;
    carrier->send(carrier_word_of_comm(MPI_COMM_WORLD), (int)mailbox->rank, TAG_ALARM, NULL, 0);
}

static void await_alarm(struct mailbox *mailbox)
{
    if (mailbox->alarm_request == 0)
        mailbox->alarm_request = carrier->irecv(carrier_word_of_comm(MPI_COMM_WORLD), CARRIER_ANY, TAG_ALARM, NULL, 0);
}

/* Sets the alarm of this rank. Keeps an alarm that is earlier than `at_ns`, because an early alarm does no harm. */
static void set_alarm(struct mailbox *mailbox, uint64_t at_ns)
{
    if (mailbox->alarm_ns <= at_ns)
        return;
    dismiss_alarm(mailbox);
    await_alarm(mailbox);
    mailbox->alarm_ns = at_ns;
    mailbox->rings = false;
    mailbox->alarm = sg_actor_init("alarm", sg_host_self());
    sg_actor_set_data(mailbox->alarm, mailbox);
    sg_actor_ref(mailbox->alarm);
    sg_actor_start(mailbox->alarm, give_alarm, 0, NULL);
}

/* Handles an alarm message. It comes from this rank's actor `alarm` or from another rank (mailbox_wake()). If this
 * rank's actor does not ring, it comes from another rank, and the alarm stays set. */
static void hear_alarm(struct mailbox *mailbox)
{
    mailbox->alarm_request = 0;
    mailbox->alarms_sent -= mailbox->alarms_sent > 0;
    if (mailbox->alarm == NULL || !mailbox->rings)
        return;
    mailbox->alarm_ns = NEVER;
    sg_actor_unref(mailbox->alarm);
    mailbox->alarm = NULL;
}

void mailbox_wake(unsigned rank)
{
    carrier_request request = carrier->isend(carrier_word_of_comm(MPI_COMM_WORLD), (int)rank, TAG_ALARM, NULL, 0);
    /* nobody waits for the end of the send: the rank may be computing, and may never receive the message */
    carrier->release(&request);
}

#define REQUESTS_MAX (RECEIVES_MAX + COLLECTS_MAX + 2)

static int add_request(carrier_request **owners, int count, carrier_request *request)
{
    owners[count] = request;
    return *request != 0 ? count + 1 : count;
}

static int list_others(struct mailbox *mailbox, carrier_request **owners, int count)
{
    struct net *net = mailbox->net;
    for (unsigned i = 0; i < COLLECTS_MAX; i++)
        if (net->collects[i].active)
            count = add_request(owners, count, &net->collects[i].data.request);
    if (net->inbound_count > 0)
        count = add_request(owners, count, &net->inbound[net->inbound_first].data.request);
    return add_request(owners, count, &mailbox->alarm_request);
}

static void wait_for_any(struct mailbox *mailbox)
{
    MPI_Request requests[REQUESTS_MAX];
    carrier_request *owners[REQUESTS_MAX];
    int receives = list_receives(mailbox, requests), count = list_others(mailbox, owners, receives), index;
    MPI_Status status;
    for (int i = receives; i < count; i++)
        requests[i] = carrier_request_of(*owners[i]);
    MPI_Waitany(count, requests, &index, &status);
    if (index < receives)
        note_arrival(mailbox, (unsigned)index, &status);
    else if (owners[index] == &mailbox->alarm_request)
        hear_alarm(mailbox);
    else
        *owners[index] = 0;
}

bool mailbox_idle(struct wait *wait, struct runtime *runtime, uint64_t now_ns, uint64_t until_ns, bool pending,
                  bool (*poll)(void *context), void *context)
{
    struct simulated_rank *self = simulated_self();
    struct mailbox *mailbox = self->mailbox;
    uint64_t look_ns = simulated_next_look(self);
    (void)wait, (void)runtime, (void)pending, (void)poll, (void)context;
    until_ns = look_ns < until_ns ? look_ns : until_ns;
    if (self->is_gone || until_ns <= now_ns || next_arrived(mailbox) < mailbox->receive_count)
        return true;
    if (until_ns != NEVER)
        set_alarm(mailbox, until_ns);
    if (simulated_may_fail(mailbox->run))
        await_alarm(mailbox);
    wait_for_any(mailbox);
    simulated_note_end(self);
    return true;
}
