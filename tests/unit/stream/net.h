/* SPDX-License-Identifier: MIT */
/* A network of machines in one process, under a clock that the test owns: the world of common/stream/world.h for ends
 * of streams. Time passes only from one thing that happens to the next. Bytes go from socket to socket in pieces, each
 * with a delay, in order, as over TCP; a socket takes no more than it has room for. A test resets connections, cuts off
 * machines, and has them stand still. Random choices come of one number, so a run can be repeated.
 *
 * As in libevent, a turn of a machine calls what has to do with sockets first, and then what was waiting for its time.
 */
#pragma once

#include "common/stream/fifo.h"
#include "common/stream/world.h"
#include "common/util/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NET_NEVER        UINT64_MAX
#define NET_SOCKETS_MAX  400
#define NET_MACHINES_MAX 64
#define NET_QUEUE_MAX    128 /* connections that wait to be accepted */
#define NET_PIECES_MAX   32

struct net_machine {
    struct stream_world world; /* first */
    const char *name;
    void (*attend)(void *context); /* the program around the end, after each turn; NULL: none */
    void *context;
    struct stream_watch *watches;
    struct stream_watch **ready; /* those that a turn is about to call, while it does */
    unsigned ready_count;
    unsigned turns;
    uint64_t busy_ns;    /* it does not turn before this */
    uint64_t lag_ns;     /* for which its clock has stood still */
    uint64_t stood_ns;   /* that it stood still in all: net_own_time() */
    unsigned stands;     /* how often it did */
    uint64_t stands_ns;  /* when it goes on, or went on last */
    uint64_t stopped_ns; /* when it last stopped */
    bool is_cut_off;     /* nothing comes to it, and nothing comes from it */
};

struct net_piece {
    size_t size;
    uint64_t at_ns;
};

enum net_socket_state { NET_FREE, NET_LISTENS, NET_CONNECTS, NET_CONNECTED };

struct net_socket {
    enum net_socket_state state;
    struct net_machine *machine;
    bool is_held; /* by an end, by a listener that has not given it yet, or by the test */
    bool is_tcp;
    int other;      /* the socket at the other end; -1: none */
    struct fifo in; /* bytes on their way here, and those that were not read */
    size_t arrived; /* of these, bytes that can be read */
    struct net_piece pieces[NET_PIECES_MAX];
    unsigned piece_first, piece_count;
    uint64_t fin_ns, reset_ns, answer_ns; /* when these come here */
    bool is_over;                         /* the end of what comes has come */
    int error;
    bool is_lost; /* nothing comes here any more, and nobody says so */
    int queue[NET_QUEUE_MAX];
    unsigned queued;     /* NET_LISTENS */
    uint64_t heard_ns;   /* when something last came, or the connection was made, by net_own_time() */
    uint64_t sent, read; /* bytes */
    void *note;          /* the test's */
};

struct net {
    uint64_t now_ns;
    struct random random;
    bool trace;
    uint64_t delay_least_ns, delay_most_ns; /* of a piece */
    size_t room;                            /* bytes that a connection holds in one direction */
    uint64_t stand_least_ns;                /* shorter ones are no time that an end stands still */
    uint64_t turn_most_ns;                  /* that a turn of a machine takes */
    unsigned pieces_most;                   /* that one send is cut into */
    unsigned ready_most;                    /* sockets that a turn looks at: libevent asks for 32 at first */
    uint64_t steps;
    struct net_machine *machines[NET_MACHINES_MAX];
    unsigned machine_count;
    struct net_machine *running; /* the machine whose code runs: its are the sockets that are made */
    struct net_socket sockets[NET_SOCKETS_MAX];
    int socket_end; /* beyond the last that is in use */
    /* Bytes that an end sends and takes, for an oracle. May be NULL. */
    void (*on_send)(struct net_socket *socket, const unsigned char *bytes, size_t size);
    void (*on_close)(struct net_socket *socket);
};

/* There is one network at a time. */
void net_init(struct net *net, uint64_t seed);
void net_fini(struct net *net);

void net_add(struct net *net, struct net_machine *machine, const char *name);

/* Lets the next thing happen that happens before `until_ns`. False where there is none: it is that time then. */
bool net_step(struct net *net, uint64_t until_ns);
void net_run(struct net *net, uint64_t until_ns);

/* The machine stands still from now on. Its clock goes on, as of a process that is stopped; or stands still, too. */
void net_stand(struct net *net, struct net_machine *machine, uint64_t for_ns, bool with_clock);
/* The time without that in which the machine stood still, which is counted from the beginning of each. */
uint64_t net_own_time(const struct net *net, const struct net_machine *machine);

bool net_stands(const struct net *net, const struct net_machine *machine);

/* Nothing passes between the machine and others until net_mend(): what is on its way waits. */
void net_cut(struct net *net, struct net_machine *machine);
void net_mend(struct net *net, struct net_machine *machine);

struct net_socket *net_socket(struct net *net, int fd);
int net_fd(const struct net *net, const struct net_socket *socket);
struct net_socket *net_other(struct net *net, const struct net_socket *socket);

/* Ends a connection, at both ends, or at one: the other one is told nothing. `keeps`: bytes that are on their way, or
 * have come, stay. */
void net_reset(struct net *net, struct net_socket *socket, bool both, bool keeps);

/* Drops all that is on its way to this socket but the first `bytes`, and ends the connection behind that. */
void net_cut_short(struct net *net, struct net_socket *socket, size_t bytes);

/* Nothing comes by the connection any more, in neither direction, and nobody is told. */
void net_lose(struct net *net, struct net_socket *socket);

/* A socket of the test's at a machine, connected to whoever listens; -1: nobody does. */
int net_connect(struct net *net, struct net_machine *machine);
ssize_t net_send(struct net *net, int fd, const void *bytes, size_t size);
ssize_t net_receive(struct net *net, int fd, void *bytes, size_t size);
void net_close(struct net *net, int fd);

/* Sockets that ends hold. */
unsigned net_held(const struct net *net);

void net_say(const struct net *net, const struct net_machine *machine, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
