/* SPDX-License-Identifier: MIT */
/* Messages over MPI: a ring of persistent receives, a ring of non-blocking sends, and data messages that are received
 * directly into buffers. After the start nothing is allocated per message. The ring of sends is large, so a rank seldom
 * waits for room. The ring grows for messages that must not wait (send.c).
 *
 * A message is given to MPI only after MPI has sent the previous message to the same rank. Usually MPI sends it at
 * once. If the receiver has died, the previous message may never be sent. Open MPI 4 must then not get another message
 * for this rank: its TCP transport has added an event for the closed connection to a list, and the next send would add
 * the same event again. The list would become circular, and this rank would loop forever in MPI_Test().
 *
 * A send is first tested by MPI_Request_get_status(), which does not change the request. MPI_Test() is called only
 * after that has found the send complete (ops_mpi.c). The reason is a defect of Open MPI 5 (5.0.7). If it knows that
 * the receiver has failed, MPI_Test() reports completion with an error while the bytes still wait in the connection. It
 * frees the request only at the next test. If the connection is closed between the two tests, Open MPI aborts ("Send
 * error after request freed").
 *
 * A rank that was declared lost may only have been stopped. After it continues, it fetches the data that were announced
 * to it. MPI in this process then sends whatever is in the memory of these data. So the memory of an abandoned send is
 * kept until the process ends. The memory of an abandoned receive is kept too. This costs no more than the messages
 * that were under way to and from lost ranks.
 *
 * With ULFM (ulfm.c), if a receive from any rank is tested after a failure, MPI marks the receive as pending, and the
 * receive continues. If a message arrives before the next test, Open MPI 5.0.7 does not remove the mark. The next test
 * then returns the error together with completion. The message is intact and must be handled, because MPI will not
 * report it again.
 *
 * A launch without MPI uses lanes instead (lanes.h). A message is held until the lane has room for it. As soon as it is
 * in the lane, it counts as sent. Data are transferred piece by piece, in the order of their announcements. */
#include "common/mpi/net.h"

#include "common/mpi/lanes.h"
#include "common/mpi/peers.h"
#include "common/mpi/pulse.h"
#include "common/mpi/rank.h"
#include "common/mpi/ulfm.h"
#include "common/util/kept.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int mpi_rank(const struct net *net, unsigned rank)
{
    return (int)(rank - net->first_rank);
}

static unsigned lane_rank(const struct net *net, unsigned rank)
{
    return rank - net->first_rank;
}

static void init_receive(struct net *net, unsigned place)
{
    net->receives[place] =
        carrier->recv_init(net->comm, CARRIER_ANY, TAG_CONTROL, net->receive_bytes[place], MESSAGE_MAX);
}

int net_init(struct net *net, struct runtime *runtime, unsigned receives)
{
    assert(receives > 0 && receives <= RECEIVES_MAX);
    *net = (struct net){
        .ops = runtime->ops,
        .runtime = runtime,
        .lanes = runtime->lanes,
        .comm = runtime->world,
        .first_rank = runtime->first_rank,
        .ulfm = &runtime->ulfm,
        .heartbeat = &runtime->heartbeat,
        .peers = &runtime->peers,
        .receive_count = receives,
        .waiting_capacity = 64,
    };
    net->receive_bytes = malloc(receives * sizeof *net->receive_bytes);
    net->waiting = malloc(net->waiting_capacity * sizeof *net->waiting);
    if (net->receive_bytes == NULL || net->waiting == NULL) {
        free(net->receive_bytes);
        free(net->waiting);
        return -1;
    }
    for (unsigned i = 0; net->lanes == NULL && i < receives; i++) {
        init_receive(net, i);
        net->ops->start_receive(net, i);
    }
    return 0;
}

static void restart_oldest(struct net *net)
{
    net->ops->start_receive(net, net->receive_head);
    net->receive_head = net->receive_head + 1 < net->receive_count ? net->receive_head + 1 : 0;
}

void net_renew_receive(struct net *net)
{
    assert(!net->receive_held);
    init_receive(net, net->receive_head);
    restart_oldest(net);
}

static void release_held(struct net *net)
{
    restart_oldest(net);
    net->receive_held = false;
}

void net_fini(struct net *net)
{
    if (net->receive_held)
        release_held(net);
    for (unsigned i = 0; net->lanes == NULL && i < net->receive_count; i++)
        carrier_end_receive(&net->receives[i]);
    /* Receives of boundary data exist here only if the run has failed. They are ended, so that MPI does not write to
     * their memory any more. */
    for (unsigned i = 0; i < net->inbound_count; i++) {
        carrier_request *request = &net->inbound[(net->inbound_first + i) % net->inbound_capacity].data.request;
        if (*request != 0)
            carrier_end_receive(request);
    }
    free(net->inbound);
    for (unsigned i = 0; i < net->send_capacity; i++) {
        if (net->sends[i] != NULL)
            free(net->sends[i]->large);
        free(net->sends[i]);
    }
    free(net->sends);
    for (unsigned i = 0; i < COLLECTS_MAX; i++)
        /* Active receives exist here only if the run has failed. Their buffers are not freed, because MPI may still
         * write data to them. */
        if (!net->collects[i].active)
            free(net->collects[i].buffer);
    free(net->receive_bytes);
    free(net->waiting);
}

bool net_is_loss(struct net *net, enum carrier_result result)
{
    net->ulfm->told = result == CARRIER_LOST || result == CARRIER_PENDING;
    return net->ulfm->told;
}

bool net_is_whole(enum carrier_result result, bool arrived)
{
    return arrived && (result == CARRIER_DONE || result == CARRIER_PENDING);
}

bool net_note_error(struct net *net, enum carrier_result result, bool arrived)
{
    if (!net_is_loss(net, result))
        carrier->abort(net->comm, 1);
    return net_is_whole(result, arrived);
}

bool net_poll(struct net *net, unsigned *from, const unsigned char **bytes, size_t *size)
{
    struct carrier_status status;
    if (net->lanes != NULL) {
        const bool any = lanes_poll(net->lanes, from, bytes, size);
        *from += net->first_rank;
        return any;
    }
    if (net->receive_held)
        release_held(net);
    if (!net->ops->find_message(net, &status))
        return false;
    *from = net->first_rank + (unsigned)status.source;
    *bytes = net->receive_bytes[net->receive_head];
    *size = status.bytes;
    assert(*size <= MESSAGE_MAX);
    net->receive_held = true;
    return true;
}

void net_look_at(struct net *net, unsigned from)
{
    if (net->lanes != NULL)
        lanes_look_at(net->lanes, lane_rank(net, from));
}

bool net_can_send(const struct net *net)
{
    return net->send_count < net->ops->sends;
}

static unsigned send_place(const struct net *net, unsigned count)
{
    unsigned place = net->send_first + count;
    return place < net->send_capacity ? place : place - net->send_capacity;
}

/* Makes room for one more item of `size` bytes in a ring. The ring has `count` items, begins at index `*first`, and has
 * room for `*capacity` items. Returns the ring, which may have moved; if it has moved, it begins at index 0. If memory
 * runs out, returns NULL and changes nothing. */
static void *grow_ring(void *ring, unsigned count, unsigned *first, unsigned *capacity, size_t size)
{
    if (count < *capacity)
        return ring;
    unsigned char *grown = malloc((2 * *capacity + 8) * size);
    if (grown == NULL)
        return NULL;
    if (count > 0) { /* the ring is full: copy the items from `first` to the end, then those before `first` */
        const size_t to_end = (count - *first) * size;
        memcpy(grown, (unsigned char *)ring + *first * size, to_end);
        memcpy(grown + to_end, ring, *first * size);
    }
    free(ring);
    *first = 0;
    *capacity = 2 * *capacity + 8;
    return grown;
}

static struct send_slot *take_slot(struct net *net)
{
    const unsigned before = net->send_capacity;
    struct send_slot **ring =
        grow_ring(net->sends, net->send_count, &net->send_first, &net->send_capacity, sizeof(struct send_slot *));
    if (ring == NULL)
        return NULL;
    net->sends = ring;
    for (unsigned i = before; i < net->send_capacity; i++)
        ring[i] = NULL;
    struct send_slot **slot = &ring[send_place(net, net->send_count)];
    if (*slot == NULL)
        *slot = calloc(1, sizeof **slot);
    return *slot;
}

/* Encodes the message, and does not copy an inline payload: in front of the payload the caller has left room for the
 * rest of the message. There is no such room in front of boundary data (`is_copied`), so these are copied into the
 * slot. */
static unsigned char *encode(struct send_slot *slot, const struct message *message, uint32_t job, bool is_copied,
                             size_t *size)
{
    if (message->payload == PAYLOAD_INLINE && !is_copied) {
        unsigned char *start = (unsigned char *)message->payload_data - message_fixed_size(message);
        *size = message_encode_fixed(message, job, start) + message->payload_bytes;
        return start;
    }
    unsigned char *bytes = slot->bytes;
    size_t room = is_copied ? message_size(message) : message_fixed_size(message);
    assert(room <= MESSAGE_MAX);
    if (room > sizeof slot->bytes) {
        if (slot->large == NULL)
            slot->large = malloc(MESSAGE_MAX);
        bytes = slot->large;
    }
    if (bytes != NULL)
        *size = is_copied ? message_encode(message, job, bytes) : message_encode_fixed(message, job, bytes);
    return bytes;
}

static bool send_is_gone(struct net *net, struct send_slot *slot)
{
    if (slot->state == SEND_BEGUN && net->ops->is_sent(&slot->control)) {
        slot->state = SEND_GONE;
        if (net->lanes == NULL && slot->data_bytes > 0 && peers_can_send(net->peers, slot->to))
            slot->data = carrier->isend(net->comm, mpi_rank(net, slot->to), TAG_DATA, slot->payload, slot->data_bytes);
    }
    return slot->state == SEND_GONE;
}

static bool way_is_free(struct net *net, unsigned to, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct send_slot *slot = net->sends[send_place(net, i)];
        if (slot->to == to && !send_is_gone(net, slot))
            return false;
    }
    return heartbeat_is_through(net->heartbeat, net->ops, to);
}

bool net_is_clear(struct net *net, unsigned to)
{
    return way_is_free(net, to, net->send_count);
}

static bool can_begin(struct net *net, const struct send_slot *slot, unsigned count)
{
    return way_is_free(net, slot->to, count) &&
           (net->lanes == NULL || lanes_have_room(net->lanes, lane_rank(net, slot->to), slot->size));
}

static void begin_send(struct net *net, struct send_slot *slot)
{
    slot->state = SEND_BEGUN;
    if (net->lanes != NULL)
        lanes_send(net->lanes, lane_rank(net, slot->to), slot->start, slot->size);
    else if (net->ops->announce(net, slot->to, slot->size))
        slot->control = carrier->isend(net->comm, mpi_rank(net, slot->to), TAG_CONTROL, slot->start, slot->size);
    else
        slot->data_bytes = 0;
    net->data_left += net->lanes != NULL && slot->data_bytes > 0;
    if (slot->data_bytes > 0)
        send_is_gone(net, slot);
}

int net_send(struct net *net, unsigned to, struct net_user *user, const struct message *message)
{
    struct send_slot *slot = take_slot(net);
    const bool is_copied = message->type == MESSAGE_BOUNDARY && message->payload == PAYLOAD_INLINE;
    if (slot == NULL)
        return -1;
    slot->start = encode(slot, message, user->job, is_copied, &slot->size);
    if (slot->start == NULL)
        return -1;
    slot->to = to;
    slot->user = user;
    slot->payload = message->payload == PAYLOAD_NONE || is_copied ? NULL : message->payload_data;
    slot->data_bytes = message->payload == PAYLOAD_DATA ? message->payload_bytes : 0;
    slot->data_put = 0;
    slot->control = slot->data = 0;
    slot->state = SEND_HELD;
    slot->bytes_are_kept = slot->payload_is_kept = false;
    if (can_begin(net, slot, net->send_count))
        begin_send(net, slot);
    else
        net->held_count++;
    net->send_count++;
    net->begun++;
    user->pending++;
    return 0;
}

bool net_send_held(struct net *net, unsigned *to)
{
    for (unsigned i = 0; net->held_count > 0 && i < net->send_count; i++) {
        struct send_slot *slot = net->sends[send_place(net, i)];
        if (slot->state != SEND_HELD || !peers_can_send(net->peers, slot->to) || !can_begin(net, slot, i))
            continue;
        begin_send(net, slot);
        net->held_count--;
        *to = slot->to;
        return true;
    }
    return false;
}

/* Abandons a send. Returns true if MPI may still read the memory of the send. */
static bool leave_request(carrier_request *request)
{
    if (*request == 0)
        return false;
    carrier->release(request);
    return true;
}

/* Abandons a receive. Returns true if MPI may still write to the memory of the receive. */
static bool cancel_request(carrier_request *request)
{
    if (*request == 0)
        return false;
    carrier->cancel(*request);
    carrier->release(request);
    return true;
}

static bool has_data_left(const struct send_slot *slot)
{
    return slot->state == SEND_GONE && slot->data_put < slot->data_bytes;
}

static bool is_behind_data(const struct net *net, unsigned place)
{
    const unsigned to = net->sends[send_place(net, place)]->to;
    unsigned before = 0;
    while (before < place &&
           (net->sends[send_place(net, before)]->to != to || !has_data_left(net->sends[send_place(net, before)])))
        before++;
    return before < place;
}

static void put_data(struct net *net)
{
    for (unsigned i = 0; i < net->send_count; i++) {
        struct send_slot *slot = net->sends[send_place(net, i)];
        if (!has_data_left(slot) || !peers_can_send(net->peers, slot->to) || is_behind_data(net, i))
            continue;
        const size_t count =
            lanes_put_data(net->lanes, lane_rank(net, slot->to), (const unsigned char *)slot->payload + slot->data_put,
                           slot->data_bytes - slot->data_put);
        slot->data_put += count;
        net->data_left -= slot->data_put == slot->data_bytes;
        if (count > 0)
            net->ops->ring(net->runtime, slot->to);
    }
}

static bool data_are_sent(struct net *net, struct send_slot *slot)
{
    if (net->lanes != NULL)
        return !has_data_left(slot);
    return slot->data == 0 || net->ops->is_sent(&slot->data);
}

static bool goes_with_payload(const struct send_slot *slot)
{
    return slot->payload != NULL && slot->data_bytes == 0;
}

static void give_up_send(struct net *net, struct send_slot *slot)
{
    net->held_count -= slot->state == SEND_HELD;
    net->data_left -= net->lanes != NULL && has_data_left(slot);
    slot->state = SEND_GONE;
    if (leave_request(&slot->control))
        *(goes_with_payload(slot) ? &slot->payload_is_kept : &slot->bytes_are_kept) = true;
    slot->payload_is_kept |= leave_request(&slot->data);
    slot->data_bytes = slot->data_put;
}

static bool send_is_over(struct net *net, struct send_slot *slot)
{
    if (send_is_gone(net, slot) && data_are_sent(net, slot))
        return true;
    if (peers_can_send(net->peers, slot->to))
        return false;
    give_up_send(net, slot);
    return true;
}

/* If MPI may still read the slot of this send, the slot is kept until the process ends. The next send at this place of
 * the ring then gets a new slot. */
static void drop_oldest_send(struct net *net)
{
    struct send_slot **slot = &net->sends[net->send_first];
    if ((*slot)->bytes_are_kept) {
        kept_add((*slot)->large);
        kept_add(*slot);
        *slot = NULL;
    }
    net->send_first = send_place(net, 1);
    net->send_count--;
    net->over++;
    assert(net->over + net->send_count == net->begun);
}

bool net_sent(struct net *net, struct ended_send *sent)
{
    if (net->send_count == 0)
        return false;
    if (net->data_left > 0)
        put_data(net);
    struct send_slot *slot = net->sends[net->send_first];
    if (!send_is_over(net, slot))
        return false;
    *sent = (struct ended_send){slot->user, slot->to, slot->payload, slot->payload_is_kept};
    slot->user->pending--;
    drop_oldest_send(net);
    return true;
}

static void start_data_receive(struct net *net, struct data_receive *data)
{
    data->request = 0;
    data->place = net->receives_begun++;
    data->have = 0;
    data->has_failed = false;
    if (net->lanes == NULL)
        data->request = carrier->irecv(net->comm, mpi_rank(net, data->from), TAG_DATA, data->to, data->bytes);
}

static int start_collect(struct net *net, struct collect *slot, const struct collect *wanted)
{
    if (slot->capacity < wanted->data.bytes) {
        free(slot->buffer);
        slot->capacity = 0;
        slot->buffer = malloc(wanted->data.bytes);
        if (slot->buffer == NULL)
            return -1;
        slot->capacity = wanted->data.bytes;
    }
    slot->user = wanted->user;
    slot->part = wanted->part;
    slot->data = wanted->data;
    slot->data.to = slot->buffer;
    slot->active = true;
    start_data_receive(net, &slot->data);
    return 0;
}

int net_collect(struct net *net, struct net_user *user, const struct part *part, unsigned from, uint64_t bytes)
{
    const struct collect wanted = {.user = user, .part = *part, .data = {.from = from, .bytes = bytes}};
    net->collects_active++;
    for (unsigned i = 0; net->waiting_count == 0 && i < COLLECTS_MAX; i++)
        if (!net->collects[i].active)
            return start_collect(net, &net->collects[i], &wanted);
    struct collect *waiting =
        grow_ring(net->waiting, net->waiting_count, &net->waiting_first, &net->waiting_capacity, sizeof *waiting);
    if (waiting == NULL)
        return -1;
    net->waiting = waiting;
    net->waiting[(net->waiting_first + net->waiting_count++) % net->waiting_capacity] = wanted;
    return 0;
}

/* Have the data arrived over MPI? A receive that has failed keeps its place until the loss of the sender is handled. */
static bool has_come_over_mpi(struct net *net, struct data_receive *data)
{
    bool arrived = !data->has_failed;
    enum carrier_result result = CARRIER_DONE;
    if (data->request != 0)
        result = carrier->test(&data->request, &arrived, NULL);
    const bool are_here = net_has_arrived(net, result, arrived);
    data->has_failed |= arrived && !are_here;
    return are_here;
}

static bool is_behind_another(const struct net *net, const struct data_receive *data)
{
    for (unsigned i = 0; i < COLLECTS_MAX; i++) {
        const struct data_receive *other = &net->collects[i].data;
        if (net->collects[i].active && other->from == data->from && other->place < data->place)
            return true;
    }
    for (unsigned i = 0; i < net->inbound_count; i++) {
        const struct data_receive *other = &net->inbound[(net->inbound_first + i) % net->inbound_capacity].data;
        if (other->from == data->from && other->place < data->place)
            return true;
    }
    return false;
}

static bool take_data_from_lane(struct net *net, struct data_receive *data)
{
    if (data->have == data->bytes || is_behind_another(net, data))
        return data->have == data->bytes;
    const size_t count = lanes_take_data(net->lanes, lane_rank(net, data->from), data->to + data->have,
                                         (size_t)(data->bytes - data->have));
    data->have += count;
    if (count > 0)
        net->ops->ring(net->runtime, data->from);
    return data->have == data->bytes;
}

static bool data_are_here(struct net *net, struct data_receive *data)
{
    return net->lanes != NULL ? take_data_from_lane(net, data) : has_come_over_mpi(net, data);
}

struct collect *net_poll_collect(struct net *net)
{
    for (unsigned i = 0; net->collects_active > 0 && i < COLLECTS_MAX; i++) {
        struct collect *collect = &net->collects[i];
        if (collect->active && data_are_here(net, &collect->data))
            return collect;
    }
    return NULL;
}

int net_collected(struct net *net, struct collect *collect)
{
    assert(collect->active && net->collects_active > 0);
    collect->active = false;
    net->collects_active--;
    if (net->waiting_count == 0)
        return 0;
    struct collect wanted = net->waiting[net->waiting_first];
    net->waiting_first = (net->waiting_first + 1) % net->waiting_capacity;
    net->waiting_count--;
    return start_collect(net, collect, &wanted);
}

static void count_inbound(const struct inbound *inbound, int more)
{
    if (inbound->user != NULL)
        inbound->user->pending += (unsigned)more;
}

int net_await(struct net *net, const struct inbound *wanted, void *room)
{
    struct inbound *ring =
        grow_ring(net->inbound, net->inbound_count, &net->inbound_first, &net->inbound_capacity, sizeof *ring);
    if (ring == NULL)
        return -1;
    net->inbound = ring;
    struct inbound *inbound = &net->inbound[(net->inbound_first + net->inbound_count++) % net->inbound_capacity];
    *inbound = *wanted;
    inbound->data.to = room;
    start_data_receive(net, &inbound->data);
    count_inbound(wanted, 1);
    return 0;
}

bool net_poll_inbound(struct net *net, struct inbound *arrived)
{
    if (net->inbound_count == 0)
        return false;
    struct inbound *oldest = &net->inbound[net->inbound_first];
    if (!data_are_here(net, &oldest->data))
        return false;
    *arrived = *oldest;
    count_inbound(arrived, -1);
    net->inbound_first = (net->inbound_first + 1) % net->inbound_capacity;
    net->inbound_count--;
    return true;
}

void net_cancel_inbound(struct net *net, unsigned from)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < net->inbound_count; i++) {
        struct inbound *inbound = &net->inbound[(net->inbound_first + i) % net->inbound_capacity];
        if (inbound->data.from == from) {
            if (cancel_request(&inbound->data.request))
                kept_add(inbound->room);
            else
                free(inbound->room);
            count_inbound(inbound, -1);
        } else
            net->inbound[(net->inbound_first + kept++) % net->inbound_capacity] = *inbound;
    }
    net->inbound_count = kept;
}

bool net_knows(const struct net *net, unsigned rank)
{
    bool knows = net_awaits_data(net, rank);
    for (unsigned i = 0; i < net->send_count; i++)
        knows |= net->sends[send_place(net, i)]->to == rank;
    for (unsigned i = 0; i < net->inbound_count; i++)
        knows |= net->inbound[(net->inbound_first + i) % net->inbound_capacity].data.from == rank;
    return knows;
}

bool net_awaits_data(const struct net *net, unsigned from)
{
    bool awaits = false;
    for (unsigned i = 0; net->collects_active > 0 && i < COLLECTS_MAX; i++)
        awaits |= net->collects[i].active && net->collects[i].data.from == from;
    for (unsigned i = 0; i < net->waiting_count; i++)
        awaits |= net->waiting[(net->waiting_first + i) % net->waiting_capacity].data.from == from;
    return awaits;
}

/* Returns the active receive from rank `from` that began last. Receives are cancelled from the last to the first. In
 * another order, data for a cancelled receive would arrive in the receive after it. */
static struct collect *last_unfinished_collect(struct net *net, unsigned from)
{
    struct collect *last = NULL;
    for (unsigned i = 0; i < COLLECTS_MAX; i++) {
        struct collect *collect = &net->collects[i];
        if (collect->active && collect->data.from == from && (last == NULL || collect->data.place > last->data.place) &&
            !data_are_here(net, &collect->data))
            last = collect;
    }
    return last;
}

int net_cancel(struct net *net, unsigned from, struct net_user **user, struct part *part)
{
    for (unsigned i = 0; i < net->waiting_count; i++) {
        unsigned at = (net->waiting_first + i) % net->waiting_capacity;
        if (net->waiting[at].data.from != from)
            continue;
        *user = net->waiting[at].user;
        *part = net->waiting[at].part;
        for (; i + 1 < net->waiting_count; i++)
            net->waiting[(net->waiting_first + i) % net->waiting_capacity] =
                net->waiting[(net->waiting_first + i + 1) % net->waiting_capacity];
        net->waiting_count--;
        net->collects_active--;
        return 1;
    }
    struct collect *collect = last_unfinished_collect(net, from);
    if (collect == NULL)
        return 0;
    *user = collect->user;
    *part = collect->part;
    if (cancel_request(&collect->data.request)) {
        kept_add(collect->buffer);
        collect->buffer = NULL;
        collect->capacity = 0;
    }
    return net_collected(net, collect) < 0 ? -1 : 1;
}

bool net_borrows(struct net *net, const struct net_user *user)
{
    bool borrows = false;
    for (unsigned i = 0; !borrows && user->pending > 0 && i < net->send_count; i++) {
        struct send_slot *slot = net->sends[send_place(net, i)];
        borrows = slot->user == user && slot->payload != NULL && !send_is_over(net, slot);
    }
    for (unsigned i = 0; !borrows && i < net->inbound_count; i++)
        borrows = net->inbound[(net->inbound_first + i) % net->inbound_capacity].user == user;
    return borrows;
}

const void *net_forget(struct net *net, const struct net_user *user)
{
    for (unsigned i = 0; user->pending > 0 && i < net->send_count; i++) {
        struct send_slot *slot = net->sends[send_place(net, i)];
        if (slot->user != user)
            continue;
        if (slot->payload != NULL && !send_is_over(net, slot))
            give_up_send(net, slot);
        const void *payload = slot->payload_is_kept ? slot->payload : NULL;
        slot->user = &net->nobody;
        slot->payload = NULL;
        net->nobody.pending++;
        if (payload != NULL)
            return payload;
    }
    for (unsigned i = 0; i < COLLECTS_MAX; i++)
        if (net->collects[i].user == user)
            net->collects[i].user = NULL;
    for (unsigned i = 0; i < net->waiting_count; i++) {
        struct collect *waiting = &net->waiting[(net->waiting_first + i) % net->waiting_capacity];
        if (waiting->user == user)
            waiting->user = NULL;
    }
    return NULL;
}
