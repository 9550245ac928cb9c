/* SPDX-License-Identifier: MIT */
/* The network: see net.h. What comes to a socket is noted with its time where it is sent, and settled as time passes.
 * Descriptors are numbers beyond those of the system, so that one that is used for the other is found out. */
#include "tests/unit/stream/net.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define FD_FIRST    (1 << 20)
#define WATCHES_MAX 1024

struct stream_watch {
    struct net_machine *machine;
    struct stream_watch *next, **link;
    enum stream_watch_kind kind;
    int fd;
    void (*call)(void *context);
    void *context;
    bool is_on, is_called;
    uint64_t due_ns; /* of the machine's clock */
};

/* The calls of the system do not say which network is meant. */
static struct net *the_net;

void net_say(const struct net *net, const struct net_machine *machine, const char *format, ...)
{
    va_list arguments;
    if (!net->trace)
        return;
    printf("# %10.6f %s: ", (double)net->now_ns / 1e9, machine != NULL ? machine->name : "-");
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t net_own_time(const struct net *net, const struct net_machine *machine)
{
    return net->now_ns - machine->stood_ns;
}

/* --- sockets --- */

struct net_socket *net_socket(struct net *net, int fd)
{
    assert(fd >= FD_FIRST && fd < FD_FIRST + net->socket_end);
    struct net_socket *socket = &net->sockets[fd - FD_FIRST];
    assert(socket->state != NET_FREE);
    return socket;
}

int net_fd(const struct net *net, const struct net_socket *socket)
{
    return FD_FIRST + (int)(socket - net->sockets);
}

struct net_socket *net_other(struct net *net, const struct net_socket *socket)
{
    return socket->other >= 0 ? &net->sockets[socket->other] : NULL;
}

static struct net_socket *socket_new(struct net *net, struct net_machine *machine, enum net_socket_state state)
{
    struct net_socket *socket = net->sockets;
    while (socket < net->sockets + NET_SOCKETS_MAX && socket->state != NET_FREE)
        socket++;
    assert(socket < net->sockets + NET_SOCKETS_MAX && machine != NULL);
    const struct fifo in = socket->in;
    *socket = (struct net_socket){.state = state, .machine = machine, .other = -1, .in = in};
    socket->heard_ns = net_own_time(net, machine);
    socket->fin_ns = socket->reset_ns = socket->answer_ns = NET_NEVER;
    if (socket - net->sockets >= net->socket_end)
        net->socket_end = (int)(socket - net->sockets) + 1;
    return socket;
}

static void socket_free(struct net *net, struct net_socket *socket)
{
    fifo_drop(&socket->in, fifo_size(&socket->in));
    socket->state = NET_FREE;
    while (net->socket_end > 0 && net->sockets[net->socket_end - 1].state == NET_FREE)
        net->socket_end--;
}

/* When something that is sent now to this socket comes: behind all that is on its way. */
static uint64_t time_of_arrival(struct net *net, const struct net_socket *to)
{
    const struct net_socket *from = net_other(net, to);
    if (to->is_lost || to->machine->is_cut_off || (from != NULL && from->machine->is_cut_off))
        return NET_NEVER;
    const uint64_t at_ns = net->now_ns + random_between(&net->random, net->delay_least_ns, net->delay_most_ns);
    return to->piece_count == 0
               ? at_ns
               : later(at_ns, to->pieces[(to->piece_first + to->piece_count - 1) % NET_PIECES_MAX].at_ns);
}

static void add_piece(struct net *net, struct net_socket *to, size_t size)
{
    const uint64_t at_ns = time_of_arrival(net, to);
    if (to->piece_count == NET_PIECES_MAX) {
        to->pieces[(to->piece_first + to->piece_count - 1) % NET_PIECES_MAX].size += size;
        return;
    }
    to->pieces[(to->piece_first + to->piece_count++) % NET_PIECES_MAX] = (struct net_piece){size, at_ns};
}

static void drop_unarrived(struct net_socket *socket)
{
    struct fifo *in = &socket->in;
    in->end = in->begin + socket->arrived;
    socket->piece_count = 0;
}

static void be_reset(struct net_socket *socket, bool keeps)
{
    drop_unarrived(socket);
    if (!keeps) {
        fifo_drop(&socket->in, socket->arrived);
        socket->arrived = 0;
    }
    socket->error = ECONNRESET;
    socket->reset_ns = socket->fin_ns = NET_NEVER;
}

/* A socket that nobody holds any more answers what comes with a reset. */
static void answer_to_unheld(struct net *net, struct net_socket *socket, size_t size)
{
    struct net_socket *other = net_other(net, socket);
    fifo_drop(&socket->in, size);
    socket->arrived -= size;
    if (other != NULL && other->reset_ns == NET_NEVER)
        other->reset_ns = time_of_arrival(net, other);
}

static void settle_pieces(struct net *net, struct net_socket *socket)
{
    while (socket->piece_count > 0 && socket->pieces[socket->piece_first].at_ns <= net->now_ns) {
        const size_t size = socket->pieces[socket->piece_first].size;
        socket->piece_first = (socket->piece_first + 1) % NET_PIECES_MAX;
        socket->piece_count--;
        socket->arrived += size;
        socket->heard_ns = net_own_time(net, socket->machine);
        if (!socket->is_held)
            answer_to_unheld(net, socket, size);
    }
}

static struct net_socket *find_listener(struct net *net, const struct net_socket *socket)
{
    for (struct net_socket *one = net->sockets; one < net->sockets + net->socket_end; one++)
        if (one->state == NET_LISTENS && one->is_tcp == socket->is_tcp)
            return one;
    return NULL;
}

/* The listener's kernel answers. */
static void settle_connect(struct net *net, struct net_socket *socket)
{
    struct net_socket *listener = find_listener(net, socket);
    socket->answer_ns = NET_NEVER;
    socket->heard_ns = net_own_time(net, socket->machine);
    socket->state = NET_CONNECTED;
    if (listener == NULL || listener->queued == NET_QUEUE_MAX) {
        socket->error = ECONNREFUSED;
        return;
    }
    struct net_socket *made = socket_new(net, listener->machine, NET_CONNECTED);
    made->is_held = true;
    made->is_tcp = socket->is_tcp;
    made->other = (int)(socket - net->sockets);
    socket->other = (int)(made - net->sockets);
    listener->queue[listener->queued++] = net_fd(net, made);
}

static void settle(struct net *net)
{
    for (int i = 0; i < net->socket_end; i++) {
        struct net_socket *socket = &net->sockets[i];
        if (socket->state == NET_FREE)
            continue;
        if (socket->answer_ns <= net->now_ns)
            settle_connect(net, socket);
        settle_pieces(net, socket);
        if (socket->fin_ns <= net->now_ns && socket->piece_count == 0) {
            socket->is_over = true;
            socket->fin_ns = NET_NEVER;
        }
        if (socket->reset_ns <= net->now_ns)
            be_reset(socket, true);
    }
}

static uint64_t next_arrival(const struct net *net)
{
    uint64_t next = NET_NEVER;
    for (const struct net_socket *socket = net->sockets; socket < net->sockets + net->socket_end; socket++) {
        if (socket->state == NET_FREE)
            continue;
        next = earlier(next, earlier(socket->answer_ns, socket->reset_ns));
        next = earlier(next, socket->piece_count > 0 ? socket->pieces[socket->piece_first].at_ns : socket->fin_ns);
    }
    return next;
}

static bool can_read(const struct net_socket *socket)
{
    if (socket->state == NET_LISTENS)
        return socket->queued > 0;
    return socket->arrived > 0 || socket->is_over || socket->error != 0;
}

static bool can_write(struct net *net, const struct net_socket *socket)
{
    const struct net_socket *other = net_other(net, socket);
    return socket->state == NET_CONNECTED && (socket->error != 0 || other == NULL || fifo_size(&other->in) < net->room);
}

/* --- the calls of the system --- */

static int call_listen(struct stream_address *address, struct endpoint_file *file, struct error *error)
{
    struct net_socket *socket = socket_new(the_net, the_net->running, NET_LISTENS);
    (void)error;
    *file = (struct endpoint_file){0};
    socket->is_held = true;
    socket->is_tcp = stream_address_is_tcp(address);
    return net_fd(the_net, socket);
}

static void call_unlink(const struct stream_address *address, const struct endpoint_file *file)
{
    (void)address, (void)file;
}

static int call_accept(int fd)
{
    struct net_socket *listener = net_socket(the_net, fd);
    if (listener->queued == 0) {
        errno = EAGAIN;
        return -1;
    }
    const int given = listener->queue[0];
    memmove(listener->queue, listener->queue + 1, --listener->queued * sizeof *listener->queue);
    net_say(the_net, listener->machine, "accepts %d", given - FD_FIRST);
    return given;
}

static int connect_as(struct net *net, struct net_machine *machine, bool is_tcp)
{
    struct net_socket *socket = socket_new(net, machine, NET_CONNECTS);
    socket->is_held = true;
    socket->is_tcp = is_tcp;
    const struct net_socket *listener = find_listener(net, socket);
    const bool is_cut_off = machine->is_cut_off || (listener != NULL && listener->machine->is_cut_off);
    socket->answer_ns =
        is_cut_off ? NET_NEVER : net->now_ns + random_between(&net->random, net->delay_least_ns, net->delay_most_ns);
    net_say(net, machine, "connects %d", (int)(socket - net->sockets));
    return net_fd(net, socket);
}

static int call_connect(struct endpoint_target *target)
{
    return connect_as(the_net, the_net->running, target->address[0].ss_family != AF_UNIX);
}

static int call_connected(int fd)
{
    struct net_socket *socket = net_socket(the_net, fd);
    const int error = socket->error;
    socket->error = 0;
    return error;
}

static bool call_is_own(int fd, uid_t *user)
{
    (void)fd;
    *user = 0;
    return true;
}

static void call_prepare(int fd, bool is_tcp, char name[ENDPOINT_NAME_MAX])
{
    (void)fd;
    strcpy(name, is_tcp ? "10.0.0.7:4711" : "this machine");
}

static ssize_t call_receive(int fd, void *bytes, size_t size, int flags)
{
    struct net_socket *socket = net_socket(the_net, fd);
    const size_t count = earlier(size, socket->arrived);
    if (count > 0) {
        memcpy(bytes, fifo_first(&socket->in), count);
        if ((flags & MSG_PEEK) != 0)
            return (ssize_t)count;
        fifo_drop(&socket->in, count);
        socket->arrived -= count;
        socket->read += count;
        return (ssize_t)count;
    }
    errno = socket->error != 0 ? socket->error : EAGAIN;
    return socket->error == 0 && socket->is_over ? 0 : -1;
}

static ssize_t call_send(int fd, const void *bytes, size_t size, int flags)
{
    struct net *net = the_net;
    struct net_socket *socket = net_socket(net, fd), *other = net_other(net, socket);
    (void)flags;
    if (socket->error != 0 || other == NULL || (other->error != 0 && !socket->is_lost)) {
        errno = EPIPE;
        return -1;
    }
    const size_t used = fifo_size(&other->in), count = used < net->room ? earlier(size, net->room - used) : 0;
    if (count == 0) {
        errno = EAGAIN;
        return -1;
    }
    if (net->on_send != NULL)
        net->on_send(socket, bytes, count);
    memcpy(fifo_append(&other->in, count), bytes, count);
    socket->sent += count;
    size_t left = count;
    for (unsigned i = 1; i < net->pieces_most && left > 1; i++) {
        const size_t piece = random_between(&net->random, 1, left - 1);
        add_piece(net, other, piece);
        left -= piece;
    }
    add_piece(net, other, left);
    return (ssize_t)count;
}

static int call_close(int fd)
{
    struct net *net = the_net;
    struct net_socket *socket = net_socket(net, fd), *other = net_other(net, socket);
    net_say(net, socket->machine, "closes %d", fd - FD_FIRST);
    if (net->on_close != NULL)
        net->on_close(socket);
    while (socket->queued > 0)
        call_close(socket->queue[--socket->queued]);
    socket->is_held = false;
    if (other == NULL || !other->is_held) {
        if (other != NULL)
            socket_free(net, other);
        socket_free(net, socket);
        return 0;
    }
    if (socket->error != 0)
        return 0;
    if (socket->arrived > 0)
        other->reset_ns = time_of_arrival(net, other); /* what it has not read takes back what it has sent */
    else
        other->fin_ns = time_of_arrival(net, other);
    fifo_drop(&socket->in, socket->arrived);
    socket->arrived = 0;
    return 0;
}

/* --- watches --- */

static uint64_t call_now(struct stream_world *world)
{
    const struct net_machine *machine = (struct net_machine *)world;
    return the_net->now_ns - machine->lag_ns;
}

static struct stream_watch *watch_new(struct stream_world *world, enum stream_watch_kind kind, int fd,
                                      void (*call)(void *context), void *context)
{
    struct net_machine *machine = (struct net_machine *)world;
    struct stream_watch *watch = calloc(1, sizeof *watch);
    assert(watch != NULL);
    *watch = (struct stream_watch){.machine = machine,
                                   .next = machine->watches,
                                   .link = &machine->watches,
                                   .kind = kind,
                                   .fd = fd,
                                   .call = call,
                                   .context = context};
    if (watch->next != NULL)
        watch->next->link = &watch->next;
    machine->watches = watch;
    return watch;
}

static void watch_free(struct stream_watch *watch)
{
    const struct net_machine *machine = watch->machine;
    for (unsigned i = 0; i < machine->ready_count; i++)
        if (machine->ready[i] == watch)
            machine->ready[i] = NULL;
    *watch->link = watch->next;
    if (watch->next != NULL)
        watch->next->link = watch->link;
    free(watch);
}

static void watch_on(struct stream_watch *watch)
{
    net_socket(the_net, watch->fd);
    watch->is_on = true;
}

static void watch_off(struct stream_watch *watch)
{
    watch->is_on = watch->is_called = false;
}

static void watch_at(struct stream_watch *watch, uint64_t after_ns)
{
    watch->is_on = true;
    watch->due_ns = call_now(&watch->machine->world) + after_ns;
}

static void watch_call(struct stream_watch *watch)
{
    watch->is_called = true;
}

/* When the watch is to be called, as things stand. */
static uint64_t watch_time(struct net *net, const struct stream_watch *watch)
{
    if (watch->is_called)
        return net->now_ns;
    if (!watch->is_on)
        return NET_NEVER;
    if (watch->kind == STREAM_WATCH_TIME)
        return watch->due_ns + watch->machine->lag_ns;
    const struct net_socket *socket = net_socket(net, watch->fd);
    return (watch->kind == STREAM_WATCH_READ ? can_read(socket) : can_write(net, socket)) ? net->now_ns : NET_NEVER;
}

static uint64_t next_turn(struct net *net, const struct net_machine *machine)
{
    uint64_t next = NET_NEVER;
    for (const struct stream_watch *watch = machine->watches; watch != NULL; watch = watch->next)
        next = earlier(next, watch_time(net, watch));
    return next == NET_NEVER ? next : later(next, machine->busy_ns);
}

/* Lists the watches that are due, of sockets or of times, in any order. */
static unsigned list_ready(struct net *net, struct net_machine *machine, bool is_time, struct stream_watch **ready,
                           unsigned count, unsigned most)
{
    const unsigned first = count;
    for (struct stream_watch *watch = machine->watches; watch != NULL; watch = watch->next)
        if ((watch->kind == STREAM_WATCH_TIME) == is_time && watch_time(net, watch) <= net->now_ns) {
            assert(count < WATCHES_MAX);
            const unsigned at = (unsigned)random_between(&net->random, first, count);
            ready[count++] = ready[at];
            ready[at] = watch;
        }
    return count < most ? count : most;
}

static void turn(struct net *net, struct net_machine *machine)
{
    struct stream_watch *ready[WATCHES_MAX];
    struct net_machine *running = net->running;
    assert(machine->ready_count == 0); /* nobody turns within a turn */
    net->running = machine;
    machine->ready = ready;
    machine->ready_count = list_ready(net, machine, false, ready, 0, net->ready_most);
    machine->ready_count = list_ready(net, machine, true, ready, machine->ready_count, WATCHES_MAX);
    for (unsigned i = 0; i < machine->ready_count; i++) {
        struct stream_watch *watch = ready[i];
        if (watch == NULL || !(watch->is_on || watch->is_called))
            continue;
        watch->is_called = false;
        watch->is_on &= watch->kind != STREAM_WATCH_TIME;
        watch->call(watch->context);
    }
    machine->ready_count = 0;
    machine->turns++;
    if (machine->attend != NULL)
        machine->attend(machine->context);
    machine->busy_ns = later(machine->busy_ns, net->now_ns + random_between(&net->random, 0, net->turn_most_ns));
    net->running = running;
}

static bool call_turn(struct stream_world *world, bool waits)
{
    struct net_machine *machine = (struct net_machine *)world;
    const unsigned turns = machine->turns;
    if (!waits) {
        if (!net_stands(the_net, machine))
            turn(the_net, machine);
        return true;
    }
    while (machine->turns == turns)
        net_step(the_net, NET_NEVER - 1);
    return true;
}

static const struct stream_world_ops net_ops = {
    .now = call_now,
    .watch_new = watch_new,
    .watch_free = watch_free,
    .watch_on = watch_on,
    .watch_off = watch_off,
    .watch_at = watch_at,
    .watch_call = watch_call,
    .turn = call_turn,
    .listen = call_listen,
    .unlink = call_unlink,
    .accept = call_accept,
    .connect = call_connect,
    .connected = call_connected,
    .is_own = call_is_own,
    .prepare = call_prepare,
    .receive = call_receive,
    .send = call_send,
    .close = call_close,
};

/* --- time --- */

bool net_step(struct net *net, uint64_t until_ns)
{
    uint64_t next = next_arrival(net);
    struct net_machine *first = NULL;
    const unsigned begin = (unsigned)random_between(&net->random, 0, NET_MACHINES_MAX - 1);
    for (unsigned i = 0; i < net->machine_count; i++) {
        struct net_machine *machine = net->machines[(begin + i) % net->machine_count];
        const uint64_t at_ns = next_turn(net, machine);
        if (at_ns < next) {
            next = at_ns;
            first = machine;
        }
    }
    if (next > until_ns) {
        net->now_ns = later(net->now_ns, until_ns);
        return false;
    }
    net->steps++;
    net->now_ns = later(net->now_ns, next);
    if (first != NULL)
        turn(net, first);
    settle(net);
    return true;
}

void net_run(struct net *net, uint64_t until_ns)
{
    while (net_step(net, until_ns))
        ;
}

/* --- what a test does --- */

void net_init(struct net *net, uint64_t seed)
{
    *net = (struct net){.delay_least_ns = 20000,
                        .delay_most_ns = 200000,
                        .room = 65536,
                        .turn_most_ns = 20000,
                        .pieces_most = 3,
                        .ready_most = 32};
    random_init(&net->random, seed);
    net->now_ns = UINT64_C(1000000000000) + random_between(&net->random, 0, 1000000000);
    the_net = net;
}

void net_fini(struct net *net)
{
    for (int i = 0; i < NET_SOCKETS_MAX; i++)
        fifo_fini(&net->sockets[i].in);
    for (unsigned i = 0; i < net->machine_count; i++)
        assert(net->machines[i]->watches == NULL);
    the_net = NULL;
}

void net_add(struct net *net, struct net_machine *machine, const char *name)
{
    assert(net->machine_count < NET_MACHINES_MAX);
    *machine = (struct net_machine){.world = {.ops = &net_ops}, .name = name, .stands_ns = net->now_ns};
    net->machines[net->machine_count++] = machine;
}

bool net_stands(const struct net *net, const struct net_machine *machine)
{
    return net->now_ns < machine->stands_ns;
}

void net_stand(struct net *net, struct net_machine *machine, uint64_t for_ns, bool with_clock)
{
    net_say(net, machine, "stands still for %.3f s%s", (double)for_ns / 1e9, with_clock ? ", with its clock" : "");
    machine->stopped_ns = net->now_ns;
    machine->stands_ns = net->now_ns + for_ns;
    machine->stood_ns += with_clock || for_ns >= net->stand_least_ns ? for_ns : 0;
    machine->stands++;
    machine->busy_ns = later(machine->busy_ns, machine->stands_ns);
    if (with_clock)
        machine->lag_ns += for_ns;
}

void net_cut(struct net *net, struct net_machine *machine)
{
    net_say(net, machine, "is cut off");
    machine->is_cut_off = true;
}

/* What was sent meanwhile sets out. */
void net_mend(struct net *net, struct net_machine *machine)
{
    net_say(net, machine, "is connected again");
    machine->is_cut_off = false;
    for (struct net_socket *socket = net->sockets; socket < net->sockets + net->socket_end; socket++) {
        struct net_socket *other = net_other(net, socket);
        if (socket->state == NET_FREE || socket->machine->is_cut_off || (other != NULL && other->machine->is_cut_off))
            continue;
        uint64_t at_ns = net->now_ns + random_between(&net->random, net->delay_least_ns, net->delay_most_ns);
        if (socket->is_lost)
            continue;
        for (unsigned i = 0; i < socket->piece_count; i++) {
            struct net_piece *piece = &socket->pieces[(socket->piece_first + i) % NET_PIECES_MAX];
            piece->at_ns = piece->at_ns == NET_NEVER ? at_ns : piece->at_ns;
        }
        if (socket->state == NET_CONNECTS && socket->answer_ns == NET_NEVER)
            socket->answer_ns = at_ns;
        if (other != NULL && !other->is_held && !socket->is_over && socket->error == 0 && socket->fin_ns == NET_NEVER &&
            socket->reset_ns == NET_NEVER)
            socket->fin_ns = at_ns;
    }
}

void net_reset(struct net *net, struct net_socket *socket, bool both, bool keeps)
{
    struct net_socket *other = net_other(net, socket);
    net_say(net, socket->machine, "connection %d is reset%s", (int)(socket - net->sockets),
            both ? "" : ", of which the other end hears nothing");
    if (!both) {
        net_lose(net, socket);
        be_reset(socket, keeps);
        return;
    }
    be_reset(socket, keeps);
    if (other != NULL)
        be_reset(other, keeps);
}

void net_cut_short(struct net *net, struct net_socket *socket, size_t bytes)
{
    struct net_socket *other = net_other(net, socket);
    const size_t whole = fifo_size(&socket->in) - socket->arrived;
    net_say(net, socket->machine, "connection %d is cut behind %zu of %zu bytes", (int)(socket - net->sockets), bytes,
            whole);
    socket->arrived += earlier(bytes, whole);
    drop_unarrived(socket);
    socket->fin_ns = net->now_ns;
    if (other != NULL)
        be_reset(other, true);
}

void net_lose(struct net *net, struct net_socket *socket)
{
    struct net_socket *other = net_other(net, socket);
    net_say(net, socket->machine, "connection %d is lost", (int)(socket - net->sockets));
    socket->is_lost = true;
    drop_unarrived(socket);
    socket->fin_ns = socket->reset_ns = NET_NEVER;
    if (other == NULL)
        return;
    other->is_lost = true;
    drop_unarrived(other);
    other->fin_ns = other->reset_ns = NET_NEVER;
}

int net_connect(struct net *net, struct net_machine *machine)
{
    struct net_machine *running = net->running;
    net->running = machine;
    bool is_tcp = false;
    for (int i = 0; i < net->socket_end; i++)
        if (net->sockets[i].state == NET_LISTENS)
            is_tcp = net->sockets[i].is_tcp;
    const int fd = connect_as(net, machine, is_tcp);
    net->running = running;
    return fd;
}

ssize_t net_send(struct net *net, int fd, const void *bytes, size_t size)
{
    (void)net;
    return call_send(fd, bytes, size, 0);
}

ssize_t net_receive(struct net *net, int fd, void *bytes, size_t size)
{
    (void)net;
    return call_receive(fd, bytes, size, 0);
}

void net_close(struct net *net, int fd)
{
    (void)net;
    call_close(fd);
}

unsigned net_held(const struct net *net)
{
    unsigned held = 0;
    for (const struct net_socket *socket = net->sockets; socket < net->sockets + net->socket_end; socket++)
        held += socket->state != NET_FREE && socket->is_held;
    return held;
}
