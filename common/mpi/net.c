/* SPDX-License-Identifier: MIT */
/* Messages over MPI: pre-posted persistent receives in a ring, non-blocking sends in a ring, data messages received
 * straight into a buffer for the disk. Nothing is allocated per message once the buffers are there. */
#include "common/mpi/net.h"

#include <stdlib.h>
#include <string.h>

int net_init(struct net *net, MPI_Comm comm, unsigned receives, struct ulfm *ulfm, const struct peers *peers)
{
    *net = (struct net){.comm = comm, .receive_count = receives, .ulfm = ulfm, .peers = peers};
    net->receive_bytes = malloc(receives * sizeof *net->receive_bytes);
    net->waiting_capacity = 64;
    net->waiting = malloc(net->waiting_capacity * sizeof *net->waiting);
    if (net->receive_bytes == NULL || net->waiting == NULL) {
        free(net->receive_bytes);
        free(net->waiting);
        return -1;
    }
    for (unsigned i = 0; i < receives; i++) {
        MPI_Recv_init(net->receive_bytes[i], MESSAGE_MAX, MPI_BYTE, MPI_ANY_SOURCE, TAG_CONTROL, comm,
                      &net->receives[i]);
        net_start(net, i);
    }
    return 0;
}

/* Starts the receive again whose bytes were in use: not before its message has been answered. */
static void release_held(struct net *net)
{
    net_start(net, net->receive_head);
    net->receive_head = net->receive_head + 1 < net->receive_count ? net->receive_head + 1 : 0;
    net->receive_held = false;
}

/* At the end of a run that failed. */
static void cancel_inbound(struct net *net)
{
    for (unsigned i = 0; i < net->inbound_count; i++) {
        MPI_Request *request = &net->inbound[(net->inbound_first + i) % net->inbound_capacity].request;
        MPI_Cancel(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    free(net->inbound);
}

void net_fini(struct net *net)
{
    if (net->receive_held)
        release_held(net);
    for (unsigned i = 0; i < net->receive_count; i++) {
        MPI_Cancel(&net->receives[i]);
        MPI_Wait(&net->receives[i], MPI_STATUS_IGNORE);
        MPI_Request_free(&net->receives[i]);
    }
    cancel_inbound(net);
    for (unsigned i = 0; i < SENDS_MAX; i++)
        free(net->sends[i].large);
    for (unsigned i = 0; i < COLLECTS_MAX; i++)
        free(net->collects[i].buffer);
    free(net->receive_bytes);
    free(net->waiting);
}

/* What a receive says that was tested. Where errors are not fatal of themselves, only those of lost ranks are not. */
static bool has_arrived(struct net *net, int result, int arrived)
{
    if (result == MPI_SUCCESS)
        return arrived;
    if (!ulfm_is_loss(net->ulfm, result))
        MPI_Abort(net->comm, 1);
    return false;
}

#ifndef HDSS_SIMULATED
/* The receives were started one after another, and MPI matches in that order: only the oldest needs to be looked at. */
static inline bool net_has_mail(struct net *net, MPI_Status *status)
{
    int arrived, result = MPI_Test(&net->receives[net->receive_head], &arrived, status);
    return has_arrived(net, result, arrived);
}
#endif

bool net_poll(struct net *net, unsigned *from, const unsigned char **bytes, size_t *size)
{
    MPI_Status status;
    int length;
    if (net->receive_held)
        release_held(net);
    if (!net_has_mail(net, &status))
        return false;
    MPI_Get_count(&status, MPI_BYTE, &length);
    *from = (unsigned)status.MPI_SOURCE;
    *bytes = net->receive_bytes[net->receive_head];
    *size = (size_t)length;
    net->receive_held = true;
    return true;
}

bool net_can_send(const struct net *net)
{
    return net->send_count < SENDS_MAX;
}

static unsigned char *make_large(struct send_slot *slot)
{
    if (slot->large == NULL)
        slot->large = malloc(MESSAGE_MAX);
    return slot->large;
}

/* Boundary data have nothing in front of them that could be written over. */
static bool is_copied(const struct message *message)
{
    return message->type == MESSAGE_BOUNDARY && message->payload == PAYLOAD_INLINE;
}

static unsigned char *encode_copy(struct send_slot *slot, const struct message *message, size_t *size)
{
    unsigned char *bytes = message_size(message) > sizeof slot->bytes ? make_large(slot) : slot->bytes;
    if (bytes != NULL)
        *size = message_encode(message, bytes);
    return bytes;
}

static unsigned char *encode(struct send_slot *slot, const struct message *message, size_t *size)
{
    if (is_copied(message))
        return encode_copy(slot, message, size);
    if (message->payload == PAYLOAD_INLINE) {
        /* The payload has room for the fixed part in front of it: one message, no copy. */
        unsigned char *start = (unsigned char *)message->payload_data - message_fixed_size(message);
        *size = message_encode_fixed(message, start) + message->payload_bytes;
        return start;
    }
    unsigned char *bytes = message_fixed_size(message) > sizeof slot->bytes ? make_large(slot) : slot->bytes;
    if (bytes != NULL)
        *size = message_encode_fixed(message, bytes);
    return bytes;
}

static void start_send(struct net *net, struct send_slot *slot, const struct message *message,
                       const unsigned char *bytes, size_t size)
{
    const int to = (int)slot->to;
    MPI_Isend(bytes, (int)size, MPI_BYTE, to, TAG_CONTROL, net->comm, &slot->control);
    if (message->payload == PAYLOAD_DATA)
        MPI_Isend(message->payload_data, (int)message->payload_bytes, MPI_BYTE, to, TAG_DATA, net->comm, &slot->data);
}

int net_send(struct net *net, unsigned to, const struct message *message)
{
    struct send_slot *slot = &net->sends[(net->send_first + net->send_count) % SENDS_MAX];
    size_t size;
    unsigned char *bytes = encode(slot, message, &size);
    if (bytes == NULL)
        return -1;
    slot->to = to;
    slot->payload = message->payload == PAYLOAD_NONE || is_copied(message) ? NULL : message->payload_data;
    slot->control = slot->data = MPI_REQUEST_NULL;
    if (net_announce(net, to, size))
        start_send(net, slot, message, bytes, size);
    net->send_count++;
    net->begun++;
    return 0;
}

static void let_go(MPI_Request *request)
{
    if (*request != MPI_REQUEST_NULL)
        MPI_Request_free(request);
}

/* What MPI still holds of a message to a rank that has ended, nobody will ever read: its bytes may change. */
static bool is_through(struct net *net, struct send_slot *slot)
{
    int control, data = 1;
    MPI_Test(&slot->control, &control, MPI_STATUS_IGNORE);
    if (slot->data != MPI_REQUEST_NULL)
        MPI_Test(&slot->data, &data, MPI_STATUS_IGNORE);
    if (control && data)
        return true;
    if (peers_can_send(net->peers, slot->to))
        return false;
    let_go(&slot->control);
    let_go(&slot->data);
    return true;
}

bool net_sent(struct net *net, unsigned *to, const void **payload)
{
    struct send_slot *slot = &net->sends[net->send_first];
    if (net->send_count == 0 || !is_through(net, slot))
        return false;
    *to = slot->to;
    *payload = slot->payload;
    net->send_first = (net->send_first + 1) % SENDS_MAX;
    net->send_count--;
    net->over++;
    return true;
}

static struct collect *free_collect(struct net *net)
{
    for (unsigned i = 0; i < COLLECTS_MAX; i++)
        if (!net->collects[i].active)
            return &net->collects[i];
    return NULL;
}

static int start_collect(struct net *net, struct collect *slot, const struct collect *wanted)
{
    if (slot->capacity < wanted->bytes) {
        free(slot->buffer);
        slot->capacity = 0;
        slot->buffer = malloc(wanted->bytes);
        if (slot->buffer == NULL)
            return -1;
        slot->capacity = wanted->bytes;
    }
    slot->part = wanted->part;
    slot->from = wanted->from;
    slot->bytes = wanted->bytes;
    slot->active = true;
    MPI_Irecv(slot->buffer, (int)slot->bytes, MPI_BYTE, (int)slot->from, TAG_DATA, net->comm, &slot->request);
    return 0;
}

static int queue_collect(struct net *net, const struct collect *wanted)
{
    if (net->waiting_count == net->waiting_capacity) {
        struct collect *grown = malloc(2 * net->waiting_capacity * sizeof *grown);
        if (grown == NULL)
            return -1;
        for (unsigned i = 0; i < net->waiting_count; i++)
            grown[i] = net->waiting[(net->waiting_first + i) % net->waiting_capacity];
        free(net->waiting);
        net->waiting = grown;
        net->waiting_first = 0;
        net->waiting_capacity *= 2;
    }
    net->waiting[(net->waiting_first + net->waiting_count++) % net->waiting_capacity] = *wanted;
    return 0;
}

int net_collect(struct net *net, const struct part *part, unsigned from, uint64_t bytes)
{
    const struct collect wanted = {.part = *part, .from = from, .bytes = bytes};
    net->collects_active++;
    struct collect *slot = net->waiting_count == 0 ? free_collect(net) : NULL;
    return slot != NULL ? start_collect(net, slot, &wanted) : queue_collect(net, &wanted);
}

struct collect *net_poll_collect(struct net *net)
{
    for (unsigned i = 0; net->collects_active > 0 && i < COLLECTS_MAX; i++) {
        struct collect *collect = &net->collects[i];
        int arrived = collect->active, result = MPI_SUCCESS;
        if (collect->active && collect->request != MPI_REQUEST_NULL) /* else who waited for it has found it here */
            result = MPI_Test(&collect->request, &arrived, MPI_STATUS_IGNORE);
        if (has_arrived(net, result, arrived))
            return collect;
    }
    return NULL;
}

int net_collected(struct net *net, struct collect *collect)
{
    collect->active = false;
    net->collects_active--;
    if (net->waiting_count == 0)
        return 0;
    struct collect wanted = net->waiting[net->waiting_first];
    net->waiting_first = (net->waiting_first + 1) % net->waiting_capacity;
    net->waiting_count--;
    return start_collect(net, collect, &wanted);
}

static int grow_inbound(struct net *net)
{
    unsigned capacity = 2 * net->inbound_capacity + 8;
    struct inbound *grown = malloc(capacity * sizeof *grown);
    if (grown == NULL)
        return -1;
    for (unsigned i = 0; i < net->inbound_count; i++)
        grown[i] = net->inbound[(net->inbound_first + i) % net->inbound_capacity];
    free(net->inbound);
    net->inbound = grown;
    net->inbound_first = 0;
    net->inbound_capacity = capacity;
    return 0;
}

int net_await(struct net *net, const struct inbound *wanted, void *room)
{
    if (net->inbound_count == net->inbound_capacity && grow_inbound(net) < 0)
        return -1;
    struct inbound *inbound = &net->inbound[(net->inbound_first + net->inbound_count++) % net->inbound_capacity];
    *inbound = *wanted;
    MPI_Irecv(room, (int)wanted->bytes, MPI_BYTE, (int)wanted->from, TAG_DATA, net->comm, &inbound->request);
    return 0;
}

bool net_poll_inbound(struct net *net, struct inbound *arrived)
{
    int is_here;
    if (net->inbound_count == 0)
        return false;
    struct inbound *oldest = &net->inbound[net->inbound_first];
    int result = MPI_Test(&oldest->request, &is_here, MPI_STATUS_IGNORE);
    if (!has_arrived(net, result, is_here))
        return false;
    *arrived = *oldest;
    net->inbound_first = (net->inbound_first + 1) % net->inbound_capacity;
    net->inbound_count--;
    return true;
}

void net_halt_inbound(struct net *net)
{
    for (unsigned i = 0; i < net->inbound_count; i++)
        net->inbound[(net->inbound_first + i) % net->inbound_capacity].is_late = true;
}

void net_cancel_inbound(struct net *net, unsigned from)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < net->inbound_count; i++) {
        struct inbound *inbound = &net->inbound[(net->inbound_first + i) % net->inbound_capacity];
        if (inbound->from == from) {
            MPI_Cancel(&inbound->request);
            let_go(&inbound->request);
        } else
            net->inbound[(net->inbound_first + kept++) % net->inbound_capacity] = *inbound;
    }
    net->inbound_count = kept;
}

static bool cancel_waiting(struct net *net, unsigned from, struct part *part)
{
    for (unsigned i = 0; i < net->waiting_count; i++) {
        unsigned at = (net->waiting_first + i) % net->waiting_capacity;
        if (net->waiting[at].from != from)
            continue;
        *part = net->waiting[at].part;
        for (; i + 1 < net->waiting_count; i++)
            net->waiting[(net->waiting_first + i) % net->waiting_capacity] =
                net->waiting[(net->waiting_first + i + 1) % net->waiting_capacity];
        net->waiting_count--;
        net->collects_active--;
        return true;
    }
    return false;
}

/* Nobody knows whether MPI is through with the buffer: it stays MPI's. */
static int cancel_active(struct net *net, struct collect *collect, struct part *part)
{
    *part = collect->part;
    MPI_Cancel(&collect->request);
    let_go(&collect->request);
    collect->buffer = NULL;
    collect->capacity = 0;
    return net_collected(net, collect) < 0 ? -1 : 1;
}

int net_cancel(struct net *net, unsigned from, struct part *part)
{
    if (cancel_waiting(net, from, part))
        return 1;
    for (unsigned i = 0; i < COLLECTS_MAX; i++)
        if (net->collects[i].active && net->collects[i].from == from)
            return cancel_active(net, &net->collects[i], part);
    return 0;
}
