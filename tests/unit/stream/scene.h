/* SPDX-License-Identifier: MIT */
/* A set and the pods that join it, on machines of their own in a network under virtual time (net.h), with an oracle
 * that looks on: what goes over the wire, what is told to either end, and when. Messages are numbered, so that each
 * must come once and in order. What is wrong first is kept in `wrong`.
 *
 * The oracle reads frames and times of the network by itself. Its rules:
 * - a pod that is new sends nothing but BEATs before its WELCOME, one that comes back nothing; nobody acknowledges less
 *   than before, or more than there was;
 * - an end closes a connection as silent only after it ran for a whole silence without anything coming;
 * - an end loses the other only if that could not be reached for the time of grace, not counting time for which the end
 *   itself stood still; and it does lose one that cannot be reached for longer;
 * - nothing is told of a peer after its end, and both ends agree that it is over. */
#pragma once

#include "common/stream/peer.h"
#include "common/stream/stream.h"
#include "tests/unit/stream/net.h"

#include <stdbool.h>
#include <stdint.h>

#define MS_NS             UINT64_C(1000000)
#define S_NS              UINT64_C(1000000000)
#define SCENE_PODS_MAX    48
#define SCENE_TEXT_MAX    200
#define SCENE_PATIENCE_NS (30 * S_NS)

enum scene_end { SCENE_SET, SCENE_POD };

/* What one end has of the other one. */
struct scene_side {
    bool is_open; /* it was welcomed, and has not ended */
    bool has_parted, has_left, is_lost;
    bool is_dropped; /* by this end, which hears nothing more */
    uint64_t sent, came;
    uint64_t acknowledged; /* by this end, as far as the wire has shown */
    uint64_t deaf_ns; /* of its own time, in which the other end could not be reached: of late, and without a break */
    uint64_t deaf_long_ns;
    uint64_t reached_ns; /* when it last could */
    uint64_t seen_ns;    /* when the oracle last looked, by the own time of this end */
    unsigned stands;     /* of this end until it last could */
};

enum scene_pod_state { SCENE_IS_ABSENT, SCENE_JOINS, SCENE_STAYS, SCENE_IS_OVER };

struct scene_pod {
    struct scene *scene;
    unsigned index;
    struct net_machine machine; /* has a number of its own */
    enum scene_pod_state state;
    struct streams *streams; /* owned */
    bool has_asked;          /* the set has heard of it */
    bool is_answered;
    unsigned peer; /* at the set */
    struct scene_side side[2];
    struct error error;   /* why it could not join */
    uint64_t fault_ns[2]; /* scene_note_fault(), by the own time of each end; 0: never */
    bool is_gone;         /* its machine was switched off */
    unsigned welcomes;    /* that the set has sent to it */
};

/* What goes over one connection, as seen by its sender. */
struct scene_wire {
    unsigned char head[FRAME_HEAD_BYTES + FRAME_HELLO_BYTES];
    size_t have, left; /* bytes of the head that came, and of the body that are to come */
    uint64_t at, welcome_end;
    unsigned frames;
    bool is_return, has_bye, is_welcomed;
};

struct scene {
    struct net net;
    struct net_machine set_machine;
    struct net_machine others; /* of strangers */
    struct streams *set;
    struct stream_address address;
    bool is_tls;
    struct scene_pod pods[SCENE_PODS_MAX];
    unsigned pod_count;
    bool set_waits, pods_wait; /* nobody takes what has come */
    bool holds_answers;        /* new pods are not answered now */
    const char *refusal;
    struct scene_wire wires[NET_SOCKETS_MAX];
    uint64_t grace_ns, closed_ns;
    bool is_freeing;
    unsigned warnings;
    char warning[SCENE_TEXT_MAX];
    char wrong[SCENE_TEXT_MAX];          /* empty: nothing */
    uint64_t came, welcomes, lost, left; /* of all */
};

/* A set that listens. The scene is large. */
void scene_init(struct scene *scene, uint64_t seed, bool is_tls);

/* Frees both ends, and finds out whether anything is left. */
void scene_fini(struct scene *scene);

/* A new pod begins to join. Returns it. */
struct scene_pod *scene_join(struct scene *scene);
/* The same, until it has joined. */
struct scene_pod *scene_joined(struct scene *scene);

/* Answers those that were not answered. */
void scene_answer(struct scene *scene);

/* Sends so many messages, or data, of up to so many bytes, from an end to the other, if it is open. */
void scene_send(struct scene *scene, struct scene_pod *pod, enum scene_end from, unsigned count, size_t size,
                bool is_data);
void scene_part(struct scene *scene, struct scene_pod *pod, enum scene_end from);
void scene_drop(struct scene *scene, struct scene_pod *pod);

/* The socket by which an end of the pod is connected; NULL: none. */
struct net_socket *scene_socket(struct scene *scene, const struct scene_pod *pod, enum scene_end end);

/* The program of an end ends; its kernel closes the connections. */
void scene_end_pod(struct scene *scene, struct scene_pod *pod);
void scene_end_set(struct scene *scene);

/* To be told of a connection of the pod that is broken while others of the two may be out of reach. */
void scene_note_fault(struct scene *scene, struct scene_pod *pod);

/* The machine of the pod is gone, and says nothing to anybody. */
void scene_switch_off(struct scene *scene, struct scene_pod *pod);

/* Lets time pass, and looks on. */
void scene_run(struct scene *scene, uint64_t for_ns);

/* True when everything that was sent has come and is acknowledged, or is of a peer that is over. */
bool scene_is_quiet(const struct scene *scene);
/* Lets time pass until then, or until it is clear that this never comes. */
void scene_settle(struct scene *scene);

void scene_complain(struct scene *scene, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Lets time pass until the condition holds, for a minute at most. */
#define SCENE_WAIT(scene, condition)                                                                                   \
    do {                                                                                                               \
        const uint64_t until_ns_ = (scene)->net.now_ns + 60 * S_NS;                                                    \
        while (!(condition) && (scene)->wrong[0] == '\0') {                                                            \
            scene_step((scene), until_ns_);                                                                            \
            if ((scene)->net.now_ns >= until_ns_ && !(condition))                                                      \
                scene_complain((scene), "waits for " #condition);                                                      \
        }                                                                                                              \
    } while (0)
void scene_step(struct scene *scene, uint64_t until_ns);
