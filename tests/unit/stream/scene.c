/* SPDX-License-Identifier: MIT */
/* The set, its pods and the oracle: see scene.h. */
#include "tests/unit/stream/scene.h"

#include "common/stream/session.h"
#include "proto/wire.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_BYTES 12
#define WORDS        "--technique\0gss"
/* An end whose timer is as late as that notices that it stood still. */
#define STAND_LEAST_NS (STREAM_SILENCE_NS / 2 + STREAM_BEAT_NS)
/* Time in which a pod that can be reached again is back: the longest pause between attempts, and what goes to and fro.
 */
#define BACK_NS (1500 * MS_NS)
/* So long the other end may be needed to notice a connection that is broken, and to come back. */
#define FAULT_NS  (4 * S_NS)
#define MARGIN_NS (100 * MS_NS)

static const unsigned char key[STREAM_KEY_BYTES] = "a key that both ends have";

void scene_complain(struct scene *scene, const char *format, ...)
{
    va_list arguments;
    char text[SCENE_TEXT_MAX];
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    net_say(&scene->net, NULL, "WRONG: %s", text);
    if (scene->wrong[0] == '\0')
        memcpy(scene->wrong, text, sizeof text);
}

static const char *name_of(enum scene_end end)
{
    return end == SCENE_SET ? "the set" : "the pod";
}

static struct net_machine *machine_of(struct scene *scene, struct scene_pod *pod, enum scene_end end)
{
    return end == SCENE_SET ? &scene->set_machine : &pod->machine;
}

static struct scene_pod *pod_of(struct scene *scene, const struct net_machine *machine)
{
    for (unsigned i = 0; i < scene->pod_count; i++)
        if (&scene->pods[i].machine == machine)
            return &scene->pods[i];
    return NULL;
}

/* The peer by which an end has the other one; NULL: none, or no longer. */
static struct peer *peer_at(const struct scene *scene, const struct scene_pod *pod, enum scene_end end)
{
    struct peer *peer = NULL;
    if (end == SCENE_SET)
        peer = pod->has_asked ? peer_find(scene->set, pod->peer) : NULL;
    else if (pod->state == SCENE_STAYS || (pod->state == SCENE_JOINS && pod->streams->peer_count > 0))
        peer = pod->streams->peers[0];
    return peer != NULL && peer->state != PEER_IS_GONE ? peer : NULL;
}

static struct streams *streams_at(const struct scene *scene, const struct scene_pod *pod, enum scene_end end)
{
    return end == SCENE_SET ? scene->set : pod->streams;
}

static unsigned number_at(const struct scene_pod *pod, enum scene_end end)
{
    return end == SCENE_SET ? pod->peer : 0;
}

/* --- the wire --- */

static struct scene_wire *wire_of(struct scene *scene, const struct net_socket *socket)
{
    return &scene->wires[socket - scene->net.sockets];
}

/* True where the WELCOME has gone out by the socket, or has been read from it. */
static bool is_welcomed(struct scene *scene, const struct net_socket *socket, enum scene_end end)
{
    const struct net_socket *sender = end == SCENE_SET ? socket : net_other(&scene->net, socket);
    const uint64_t welcome_end = sender == NULL || sender->sent == 0 ? 0 : wire_of(scene, sender)->welcome_end;
    return welcome_end > 0 && (end == SCENE_SET || socket->read >= welcome_end);
}

static void check_counts(struct scene *scene, struct scene_pod *pod, enum scene_end from, struct scene_wire *wire,
                         const struct frame_head *head)
{
    struct scene_side *side = &pod->side[from], *other = &pod->side[1 - from];
    const uint64_t most = other->sent + other->has_parted;
    if (head->type < FRAME_MESSAGE || (head->type == FRAME_DATA && from == SCENE_SET) ||
        (wire->has_bye && head->type != FRAME_BEAT))
        scene_complain(scene, "%s sends a frame of type %d where there can be none", name_of(from), head->type);
    if (head->received < side->acknowledged || head->received > most)
        scene_complain(scene, "%s acknowledges %u, of %u, after %u", name_of(from), (unsigned)head->received,
                       (unsigned)most, (unsigned)side->acknowledged);
    side->acknowledged = head->received;
    wire->has_bye |= head->type == FRAME_BYE;
}

static void check_pods_frame(struct scene *scene, struct scene_pod *pod, struct scene_wire *wire,
                             const struct net_socket *socket, const struct frame_head *head)
{
    if (wire->frames == 1) {
        if (head->type != FRAME_HELLO || head->received != 0)
            scene_complain(scene, "a pod begins with a frame of type %d", head->type);
    } else if (is_welcomed(scene, socket, SCENE_POD))
        check_counts(scene, pod, SCENE_POD, wire, head);
    else if (head->type != FRAME_BEAT || wire->is_return)
        scene_complain(scene, "a pod sends a frame of type %d before it was welcomed", head->type);
}

static void check_sets_frame(struct scene *scene, struct scene_pod *pod, struct scene_wire *wire,
                             const struct net_socket *socket, const struct frame_head *head)
{
    if (is_welcomed(scene, socket, SCENE_SET)) {
        check_counts(scene, pod, SCENE_SET, wire, head);
        return;
    }
    if (head->received != 0 || wire->has_bye ||
        (head->type != FRAME_BEAT && head->type != FRAME_WELCOME && head->type != FRAME_REFUSED))
        scene_complain(scene, "the set sends a frame of type %d before a welcome", head->type);
    if (head->type == FRAME_WELCOME) {
        wire->welcome_end = wire->at + FRAME_HEAD_BYTES + head->size;
        pod->welcomes++;
    }
    wire->has_bye = head->type == FRAME_REFUSED; /* nothing follows */
}

/* A head is there, of a HELLO with its body. */
static void note_frame(struct scene *scene, struct scene_pod *pod, struct scene_wire *wire,
                       const struct net_socket *socket)
{
    const bool is_pods = socket->machine == &pod->machine;
    struct frame_head head;
    struct error error;
    if (frame_head_decode(&head, wire->head, &error) < 0) {
        scene_complain(scene, "%s sends %s", name_of(is_pods), error.text);
        return;
    }
    wire->frames++;
    net_say(&scene->net, socket->machine, "%d: frame of type %d, %u bytes, %u received",
            (int)(socket - scene->net.sockets), head.type, (unsigned)head.size, (unsigned)head.received);
    if (is_pods)
        check_pods_frame(scene, pod, wire, socket, &head);
    else
        check_sets_frame(scene, pod, wire, socket, &head);
    wire->left = head.size;
}

/* Takes bytes up to the end of a head, or of a body. Returns how many. */
static size_t take_bytes(struct scene *scene, struct scene_pod *pod, struct scene_wire *wire,
                         const struct net_socket *socket, const unsigned char *bytes, size_t size)
{
    if (wire->have < FRAME_HEAD_BYTES) {
        wire->head[wire->have++] = *bytes;
        if (wire->have == FRAME_HEAD_BYTES)
            note_frame(scene, pod, wire, socket);
        wire->at += wire->have == FRAME_HEAD_BYTES ? FRAME_HEAD_BYTES : 0;
        size = 1;
    } else {
        size = size < wire->left ? size : wire->left;
        const bool is_hello = wire->head[0] == FRAME_HELLO;
        for (size_t i = 0; is_hello && i < size; i++, wire->have++) /* the token is at 28 */
            wire->is_return |=
                wire->have >= FRAME_HEAD_BYTES + 28 && wire->have < FRAME_HEAD_BYTES + 44 && bytes[i] != 0;
        wire->left -= size;
        wire->at += size;
    }
    if (wire->have >= FRAME_HEAD_BYTES && wire->left == 0)
        wire->have = 0;
    return size;
}

static struct scene *the_scene;

static void on_send(struct net_socket *socket, const unsigned char *bytes, size_t size)
{
    struct scene *scene = the_scene;
    struct net_socket *other = net_other(&scene->net, socket);
    struct scene_pod *pod = pod_of(scene, socket->machine);
    struct scene_wire *wire = wire_of(scene, socket);
    if (pod == NULL && other != NULL)
        pod = pod_of(scene, other->machine);
    if (socket->sent == 0)
        *wire = (struct scene_wire){0};
    if (pod == NULL || scene->is_tls)
        return;
    while (size > 0) {
        const size_t taken = take_bytes(scene, pod, wire, socket, bytes, size);
        bytes += taken;
        size -= taken;
    }
}

/* An end closes a connection over which it was greeted, and which neither the network nor the other end has ended: it
 * takes the other for silent. */
static void on_close(struct net_socket *socket)
{
    struct scene *scene = the_scene;
    struct net_socket *other = net_other(&scene->net, socket);
    if (scene->is_freeing || scene->is_tls || other == NULL || !other->is_held || socket->error != 0 || socket->is_over)
        return;
    const enum scene_end end = socket->machine == &scene->set_machine ? SCENE_SET : SCENE_POD;
    struct scene_pod *pod = pod_of(scene, end == SCENE_SET ? other->machine : socket->machine);
    if (pod == NULL || !is_welcomed(scene, socket, end) || pod->side[SCENE_SET].is_dropped ||
        pod->side[SCENE_SET].has_parted || pod->side[SCENE_POD].has_parted)
        return;
    const struct peer *peer = peer_at(scene, pod, end);
    if (peer != NULL && peer->connection != NULL) /* another connection of the pod takes its place */
        return;
    const uint64_t silence_ns = streams_at(scene, pod, end)->times.silence_ns;
    const uint64_t silent_ns = net_own_time(&scene->net, socket->machine) - socket->heard_ns;
    if (socket->arrived > 0)
        scene_complain(scene, "%s takes the other for silent, but has not read what it said", name_of(end));
    if (silent_ns + STREAM_BEAT_NS + MARGIN_NS < silence_ns)
        scene_complain(scene, "%s takes the other for silent after %u ms", name_of(end), (unsigned)(silent_ns / MS_NS));
}

struct net_socket *scene_socket(struct scene *scene, const struct scene_pod *pod, enum scene_end end)
{
    const struct peer *peer = peer_at(scene, pod, end);
    return peer != NULL && peer->connection != NULL ? net_socket(&scene->net, peer->connection->channel.fd) : NULL;
}

/* --- who can be reached --- */

static void look_at_side(struct scene *scene, struct scene_pod *pod, enum scene_end end)
{
    struct scene_side *side = &pod->side[end];
    const struct net_machine *own = machine_of(scene, pod, end), *far = machine_of(scene, pod, 1 - end);
    if (!side->is_open || net_stands(&scene->net, own) || (side->has_parted && peer_at(scene, pod, end) == NULL))
        return;
    const uint64_t now_ns = net_own_time(&scene->net, own);
    const uint64_t passed_ns = side->seen_ns > 0 && now_ns > side->seen_ns ? now_ns - side->seen_ns : 0;
    side->seen_ns = now_ns;
    if (net_stands(&scene->net, far) || far->is_cut_off || own->is_cut_off) {
        side->deaf_ns += passed_ns;
        side->deaf_long_ns += passed_ns;
        side->reached_ns = now_ns;
    } else {
        side->deaf_long_ns = 0;
        side->stands = own->stands;
        if (now_ns > side->reached_ns + BACK_NS)
            side->deaf_ns = 0;
    }
    const struct streams *streams = streams_at(scene, pod, end);
    const unsigned stands = own->stands - side->stands;
    if (side->deaf_long_ns > streams->times.silence_ns + scene->grace_ns + (1 + stands) * scene->closed_ns + BACK_NS)
        scene_complain(scene, "%s keeps %s, which was out of reach for %u ms", name_of(end), pod->machine.name,
                       (unsigned)(side->deaf_long_ns / MS_NS));
}

/* --- what is told --- */

static void check_message(struct scene *scene, const struct scene_pod *pod, struct scene_side *side,
                          const struct stream_event *event)
{
    const uint64_t number = side->came++;
    bool is_good = event->size >= NUMBER_BYTES && wire_get32(event->bytes) == pod->index &&
                   wire_get64(event->bytes + 4) == number && side->is_open;
    for (size_t i = NUMBER_BYTES; is_good && i < event->size; i++)
        is_good = event->bytes[i] == (unsigned char)number;
    scene->came++;
    if (!is_good)
        scene_complain(scene, "%s: another message than number %u comes", pod->machine.name, (unsigned)number);
}

static void check_loss(struct scene *scene, struct scene_pod *pod, enum scene_end end)
{
    const struct scene_side *side = &pod->side[end];
    const uint64_t now_ns = net_own_time(&scene->net, machine_of(scene, pod, end));
    const bool has_fault = pod->fault_ns[end] > 0 && now_ns < pod->fault_ns[end] + FAULT_NS && side->reached_ns > 0 &&
                           now_ns < side->reached_ns + FAULT_NS;
    net_say(&scene->net, machine_of(scene, pod, end), "has lost %s, which was out of reach for %.3f s",
            pod->machine.name, (double)side->deaf_ns / 1e9);
    if (peer_at(scene, pod, 1 - end) != NULL && !has_fault && side->deaf_ns + MARGIN_NS < scene->closed_ns)
        scene_complain(scene, "%s loses the other, which it could have reached until %u ms ago", name_of(end),
                       (unsigned)(side->deaf_ns / MS_NS));
}

static void note_end(struct scene *scene, struct scene_pod *pod, enum scene_end end, const struct stream_event *event)
{
    struct scene_side *side = &pod->side[end], *other = &pod->side[1 - end];
    if (side->is_dropped || side->has_left || side->is_lost)
        scene_complain(scene, "%s hears of the end of %s twice", name_of(end), pod->machine.name);
    look_at_side(scene, pod, end);
    side->is_open = false;
    if (event->type == STREAM_LOST) {
        side->is_lost = true;
        scene->lost++;
        if (side->has_parted)
            scene_complain(scene, "%s loses whom it has parted from", name_of(end));
        check_loss(scene, pod, end);
        return;
    }
    side->has_left = true;
    scene->left++;
    if (!other->has_parted || side->came != other->sent)
        scene_complain(scene, "%s has left with %u of %u messages", pod->machine.name, (unsigned)side->came,
                       (unsigned)other->sent);
}

static void answer(struct scene *scene, struct scene_pod *pod)
{
    static const struct stream_welcome welcome = {5, WORDS, sizeof WORDS, false};
    pod->is_answered = true;
    if (scene->refusal != NULL) {
        streams_refuse(scene->set, pod->peer, scene->refusal);
        return;
    }
    if (streams_welcome(scene->set, pod->peer, &welcome) < 0)
        scene_complain(scene, "memory is out for a welcome");
    pod->side[SCENE_SET] = (struct scene_side){.is_open = true};
    scene->welcomes++;
}

void scene_answer(struct scene *scene)
{
    for (unsigned i = 0; i < scene->pod_count; i++)
        if (scene->pods[i].has_asked && !scene->pods[i].is_answered)
            answer(scene, &scene->pods[i]);
}

/* A pod asks, maybe again, where its connection broke before it was welcomed. */
static void note_question(struct scene *scene, const struct stream_event *event)
{
    struct scene_pod *pod = &scene->pods[event->lineup.workers - 1];
    pod->has_asked = true;
    pod->is_answered = false;
    pod->peer = event->peer;
    if (!scene->holds_answers)
        answer(scene, pod);
}

static struct scene_pod *find_pod(struct scene *scene, unsigned peer)
{
    for (unsigned i = 0; i < scene->pod_count; i++)
        if (scene->pods[i].has_asked && scene->pods[i].peer == peer)
            return &scene->pods[i];
    return NULL;
}

static void take_at_set(void *context)
{
    struct scene *scene = context;
    struct stream_event event;
    if (scene->set == NULL || scene->set_waits)
        return;
    if (fifo_size(&scene->set->inbox) > INBOX_MAX + 2 * MESSAGE_MAX)
        scene_complain(scene, "the set keeps %zu bytes that wait", fifo_size(&scene->set->inbox));
    while (streams_poll(scene->set, &event)) {
        struct scene_pod *pod = find_pod(scene, event.peer);
        if (event.type == STREAM_JOINS)
            note_question(scene, &event);
        else if (pod == NULL) { /* welcomed over a connection that broke, it asked anew */
            if (event.type != STREAM_LOST)
                scene_complain(scene, "an event of type %d of a peer that is none", event.type);
        } else if (!pod->is_answered)
            pod->has_asked = false;
        else if (event.type == STREAM_MESSAGE || event.type == STREAM_DATA)
            check_message(scene, pod, &pod->side[SCENE_SET], &event);
        else
            note_end(scene, pod, SCENE_SET, &event);
    }
}

static void end_joining(struct scene *scene, struct scene_pod *pod)
{
    struct stream_welcome welcome;
    pod->streams = joiner_end(pod->streams, &welcome, &pod->error);
    pod->state = pod->streams != NULL ? SCENE_STAYS : SCENE_IS_OVER;
    if (pod->streams == NULL) {
        net_say(&scene->net, &pod->machine, "%s", pod->error.text);
        return;
    }
    pod->side[SCENE_POD] = (struct scene_side){.is_open = true};
    if (welcome.first_rank != 5 || welcome.words_bytes != sizeof WORDS ||
        memcmp(welcome.words, WORDS, sizeof WORDS) != 0)
        scene_complain(scene, "another welcome");
}

static void take_at_pod(void *context)
{
    struct scene_pod *pod = context;
    struct scene *scene = pod->scene;
    struct stream_event event;
    if (pod->state == SCENE_JOINS && !joiner_waits(pod->streams))
        end_joining(scene, pod);
    if (pod->state != SCENE_STAYS || scene->pods_wait)
        return;
    while (streams_poll(pod->streams, &event))
        if (event.type == STREAM_MESSAGE)
            check_message(scene, pod, &pod->side[SCENE_POD], &event);
        else
            note_end(scene, pod, SCENE_POD, &event);
}

/* --- what the test does --- */

static void note_warning(void *context, const char *line)
{
    struct scene *scene = context;
    net_say(&scene->net, NULL, "warning: %s", line);
    snprintf(scene->warning, sizeof scene->warning, "%s", line);
    scene->warnings++;
    if (strstr(line, "has broken the protocol") != NULL)
        scene_complain(scene, "%s", line);
}

static struct streams_setup setup_at(struct scene *scene, struct net_machine *machine)
{
    return (struct streams_setup){.key = scene->is_tls ? key : NULL,
                                  .world = &machine->world,
                                  .grace_ns = scene->grace_ns,
                                  .closed_ns = scene->closed_ns,
                                  .warn = note_warning,
                                  .context = scene};
}

void scene_init(struct scene *scene, uint64_t seed, bool is_tls)
{
    struct error error = {""};
    memset(scene, 0, sizeof *scene);
    the_scene = scene;
    net_init(&scene->net, seed);
    scene->net.stand_least_ns = STAND_LEAST_NS;
    scene->net.on_send = on_send;
    scene->net.on_close = on_close;
    scene->is_tls = is_tls;
    scene->grace_ns = STREAM_GRACE_NS;
    scene->closed_ns = STREAM_CLOSED_NS;
    net_add(&scene->net, &scene->set_machine, "set");
    net_add(&scene->net, &scene->others, "others");
    scene->set_machine.attend = take_at_set;
    scene->set_machine.context = scene;
    stream_address_parse(&scene->address, is_tls ? "10.0.0.1:4000" : "/run/set.sock", &error);
    const struct streams_setup setup = setup_at(scene, &scene->set_machine);
    scene->net.running = &scene->set_machine;
    scene->set = streams_listen(&setup, &scene->address, 1, &error);
    scene->net.running = NULL;
    if (scene->set == NULL)
        scene_complain(scene, "%s", error.text);
}

void scene_fini(struct scene *scene)
{
    scene->is_freeing = true;
    for (unsigned i = 0; i < scene->pod_count; i++)
        streams_free(scene->pods[i].streams);
    streams_free(scene->set);
    if (net_held(&scene->net) > 0)
        scene_complain(scene, "%u sockets are left open", net_held(&scene->net));
    net_fini(&scene->net);
    the_scene = NULL;
}

struct scene_pod *scene_join(struct scene *scene)
{
    static const char *const names[] = {"pod0", "pod1", "pod2", "pod3", "pod4", "pod5", "pod6", "pod7"};
    struct scene_pod *pod = &scene->pods[scene->pod_count];
    const struct stream_lineup lineup = {.workers = scene->pod_count + 1, .cores = 4, .name = "node7"};
    net_add(&scene->net, &pod->machine, names[scene->pod_count % (sizeof names / sizeof *names)]);
    *pod =
        (struct scene_pod){.scene = scene, .index = scene->pod_count++, .machine = pod->machine, .state = SCENE_JOINS};
    pod->machine.attend = take_at_pod;
    pod->machine.context = pod;
    const struct streams_setup setup = setup_at(scene, &pod->machine);
    scene->net.running = &pod->machine;
    pod->streams = joiner_begin(&setup, &scene->address, &lineup, SCENE_PATIENCE_NS, &pod->error);
    scene->net.running = NULL;
    if (pod->streams == NULL)
        scene_complain(scene, "%s", pod->error.text);
    return pod;
}

struct scene_pod *scene_joined(struct scene *scene)
{
    struct scene_pod *pod = scene_join(scene);
    SCENE_WAIT(scene, pod->state != SCENE_JOINS);
    if (pod->state != SCENE_STAYS)
        scene_complain(scene, "%s", pod->error.text);
    return pod;
}

void scene_send(struct scene *scene, struct scene_pod *pod, enum scene_end from, unsigned count, size_t size,
                bool is_data)
{
    static unsigned char bytes[STREAM_DATA_MAX];
    struct streams *streams = streams_at(scene, pod, from);
    struct scene_side *side = &pod->side[from];
    if (!side->is_open || !streams_is_open(streams, number_at(pod, from)))
        return;
    net_say(&scene->net, machine_of(scene, pod, from), "sends %u times %zu bytes from number %u on to %s", count, size,
            (unsigned)side->sent, pod->machine.name);
    size = size < NUMBER_BYTES ? NUMBER_BYTES : size;
    for (unsigned i = 0; i < count && streams_is_open(streams, number_at(pod, from)); i++) {
        memset(bytes, (int)(side->sent & 0xff), size);
        wire_put32(bytes, pod->index);
        wire_put64(bytes + 4, side->sent++);
        const int result = is_data ? streams_send_data(streams, number_at(pod, from), bytes, size)
                                   : streams_send(streams, number_at(pod, from), bytes, size);
        if (result < 0)
            scene_complain(scene, "memory is out for a message");
    }
}

void scene_part(struct scene *scene, struct scene_pod *pod, enum scene_end from)
{
    struct streams *streams = streams_at(scene, pod, from);
    struct scene_side *side = &pod->side[from];
    if (!side->is_open || !streams_is_open(streams, number_at(pod, from)))
        return;
    net_say(&scene->net, machine_of(scene, pod, from), "parts from %s", pod->machine.name);
    side->has_parted = true;
    streams_part(streams, number_at(pod, from));
}

void scene_drop(struct scene *scene, struct scene_pod *pod)
{
    if (!pod->side[SCENE_SET].is_open)
        return;
    net_say(&scene->net, &scene->set_machine, "drops %s", pod->machine.name);
    pod->side[SCENE_SET].is_dropped = true;
    pod->side[SCENE_SET].is_open = false;
    streams_drop(scene->set, pod->peer);
}

void scene_end_pod(struct scene *scene, struct scene_pod *pod)
{
    net_say(&scene->net, &pod->machine, "ends");
    scene->is_freeing = true;
    streams_free(pod->streams);
    scene->is_freeing = false;
    pod->streams = NULL;
    pod->state = SCENE_IS_OVER;
    pod->side[SCENE_POD].is_open = false;
}

void scene_end_set(struct scene *scene)
{
    net_say(&scene->net, &scene->set_machine, "ends");
    scene->is_freeing = true;
    streams_free(scene->set);
    scene->is_freeing = false;
    scene->set = NULL;
    for (unsigned i = 0; i < scene->pod_count; i++) {
        scene->pods[i].has_asked = false;
        scene->pods[i].side[SCENE_SET].is_open = false;
    }
}

void scene_note_fault(struct scene *scene, struct scene_pod *pod)
{
    pod->fault_ns[SCENE_SET] = net_own_time(&scene->net, &scene->set_machine);
    pod->fault_ns[SCENE_POD] = net_own_time(&scene->net, &pod->machine);
}

void scene_switch_off(struct scene *scene, struct scene_pod *pod)
{
    net_say(&scene->net, &pod->machine, "is switched off");
    pod->is_gone = true;
    pod->machine.busy_ns = pod->machine.stands_ns = NET_NEVER;
    net_cut(&scene->net, &pod->machine);
}

/* --- time --- */

void scene_step(struct scene *scene, uint64_t until_ns)
{
    net_step(&scene->net, until_ns);
    for (unsigned i = 0; i < scene->pod_count; i++) {
        look_at_side(scene, &scene->pods[i], SCENE_SET);
        look_at_side(scene, &scene->pods[i], SCENE_POD);
    }
}

void scene_run(struct scene *scene, uint64_t for_ns)
{
    const uint64_t until_ns = scene->net.now_ns + for_ns;
    while (scene->net.now_ns < until_ns)
        scene_step(scene, until_ns);
}

static bool pod_is_quiet(const struct scene *scene, const struct scene_pod *pod)
{
    const bool is_there[] = {peer_at(scene, pod, SCENE_SET) != NULL, peer_at(scene, pod, SCENE_POD) != NULL};
    if (pod->state == SCENE_IS_OVER || pod->is_gone)
        return !is_there[SCENE_SET];
    if (pod->state != SCENE_STAYS || is_there[SCENE_SET] != is_there[SCENE_POD])
        return false;
    for (enum scene_end end = SCENE_SET; end <= SCENE_POD; end++)
        if (is_there[end] && (pod->side[end].came != pod->side[1 - end].sent ||
                              streams_unsent(streams_at(scene, pod, end), number_at(pod, end)) > 0))
            return false;
    return true;
}

bool scene_is_quiet(const struct scene *scene)
{
    for (unsigned i = 0; i < scene->pod_count; i++)
        if (!pod_is_quiet(scene, &scene->pods[i]))
            return false;
    return true;
}

void scene_settle(struct scene *scene)
{
    SCENE_WAIT(scene, scene_is_quiet(scene));
}
