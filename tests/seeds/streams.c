/* SPDX-License-Identifier: MIT */
/* Random lives of a set and its pods over streams, each made from one number: under virtual time, in a network that
 * delays and cuts what it carries, breaks connections, and cuts machines off; machines stand still for any time, with
 * their clocks or without; pods come, leave, and are switched off; strangers say nothing, or nonsense, and are many.
 *
 * The oracle is that of tests/unit/stream/scene.h. In the end all is mended: everything that was sent has come then,
 * once and in order, to both ends of whoever is not over, and all leave in order. */
#include "tests/seeds/program.h"
#include "tests/unit/stream/scene.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PODS_MOST = 6, STRANGERS_MOST = 90 };

/* A connection of a pod is broken again after so long at the earliest: else nobody could come back. */
#define FAULTS_APART_NS (5 * S_NS)
/* Steps for which no history has a reason. */
#define STEPS_MOST 400000

struct life {
    struct scene scene;
    struct random random;
    bool has_faults;
    uint64_t mend_ns[PODS_MOST + 1];               /* when the set, or a pod, is connected again; 0: it is */
    uint64_t fault_ns[PODS_MOST];                  /* when a connection of the pod was last broken */
    uint64_t set_waits_ns, pods_wait_ns, holds_ns; /* when this ends; 0: it has */
    int strangers[STRANGERS_MOST];
    unsigned stranger_count;
};

static struct {
    uint64_t came, pods, welcomes, lost, left, faults, stands, cuts, strangers, steps;
} tally;

static uint64_t between(struct life *life, uint64_t low, uint64_t high)
{
    return random_between(&life->random, low, high);
}

/* Short ones are as frequent as long ones. */
static uint64_t any_time(struct life *life, uint64_t least_ns, uint64_t most_ns)
{
    uint64_t most = least_ns;
    while (most < most_ns && between(life, 0, 3) > 0)
        most *= 2;
    return between(life, least_ns, most < most_ns ? most : most_ns);
}

static struct scene_pod *any_pod(struct life *life)
{
    return life->scene.pod_count > 0 ? &life->scene.pods[between(life, 0, life->scene.pod_count - 1)] : NULL;
}

static bool runs(const struct life *life, const struct net_machine *machine)
{
    return !net_stands(&life->scene.net, machine);
}

/* --- what may happen --- */

static void send_some(struct life *life, struct scene_pod *pod)
{
    const enum scene_end from = between(life, 0, 1) ? SCENE_SET : SCENE_POD;
    const bool is_data = from == SCENE_POD && between(life, 0, 9) == 0;
    const size_t most = is_data ? STREAM_DATA_MAX : between(life, 0, 9) == 0 ? MESSAGE_MAX : 300;
    if (runs(life, from == SCENE_SET ? &life->scene.set_machine : &pod->machine))
        scene_send(&life->scene, pod, from, (unsigned)between(life, 1, 10), between(life, 12, most), is_data);
}

static void break_connection(struct life *life, struct scene_pod *pod)
{
    struct net *net = &life->scene.net;
    struct net_socket *socket = scene_socket(&life->scene, pod, between(life, 0, 1) ? SCENE_SET : SCENE_POD);
    if (!life->has_faults || socket == NULL || net_other(net, socket) == NULL || pod->is_gone ||
        net->now_ns < life->fault_ns[pod->index] + FAULTS_APART_NS)
        return;
    life->fault_ns[pod->index] = net->now_ns;
    scene_note_fault(&life->scene, pod);
    tally.faults++;
    switch (between(life, 0, 3)) {
    case 0: net_reset(net, socket, true, between(life, 0, 1)); break;
    case 1: net_reset(net, socket, false, between(life, 0, 1)); break;
    case 2: net_cut_short(net, socket, between(life, 0, fifo_size(&socket->in) - socket->arrived)); break;
    case 3: net_lose(net, socket); break;
    }
}

static void stand(struct life *life, struct scene_pod *pod)
{
    struct scene *scene = &life->scene;
    const uint64_t for_ns = any_time(life, 20 * MS_NS, 15 * S_NS), who = between(life, 0, 3);
    const bool with_clock = between(life, 0, 2) == 0;
    tally.stands++;
    for (unsigned i = 0; i < scene->pod_count; i++) {
        struct scene_pod *one = &scene->pods[i];
        if ((who == 0 || (who == 1 && one == pod)) && runs(life, &one->machine))
            net_stand(&scene->net, &one->machine, for_ns + between(life, 0, 5 * MS_NS), with_clock);
    }
    if (who != 1 && runs(life, &scene->set_machine))
        net_stand(&scene->net, &scene->set_machine, for_ns, with_clock);
}

static void cut_off(struct life *life, struct scene_pod *pod)
{
    const unsigned index = between(life, 0, 3) == 0 ? 0 : pod->index + 1;
    struct net_machine *machine = index == 0 ? &life->scene.set_machine : &pod->machine;
    if (!life->has_faults || life->mend_ns[index] != 0 || (index > 0 && pod->is_gone))
        return;
    tally.cuts++;
    life->mend_ns[index] = life->scene.net.now_ns + any_time(life, 50 * MS_NS, 15 * S_NS);
    net_cut(&life->scene.net, machine);
}

static void mend_due(struct life *life, uint64_t now_ns)
{
    struct scene *scene = &life->scene;
    for (unsigned i = 0; i <= scene->pod_count; i++)
        if (life->mend_ns[i] != 0 && now_ns >= life->mend_ns[i]) {
            life->mend_ns[i] = 0;
            if (i == 0 || !scene->pods[i - 1].is_gone)
                net_mend(&scene->net, i == 0 ? &scene->set_machine : &scene->pods[i - 1].machine);
        }
}

static void come_strangers(struct life *life)
{
    static const char *const words[] = {"",
                                        "GET / HTTP/1.1\r\n\r\n",
                                        "\x01\x6c\0",
                                        "\x01\x6c\0\0\0\0\0\0HDSSjoin",
                                        "\x04\x01\0\0\0\0\0\0x",
                                        "HDSScred\x05\0\0\0MUNGE"};
    static const size_t sizes[] = {0, 18, 3, 16, 9, 17};
    const unsigned count = between(life, 0, 9) == 0 ? STRANGERS_MOST : 1;
    for (unsigned i = 0; i < count && life->stranger_count < STRANGERS_MOST; i++, tally.strangers++)
        life->strangers[life->stranger_count++] = net_connect(&life->scene.net, &life->scene.others);
    if (life->stranger_count == 0)
        return;
    const unsigned one = (unsigned)between(life, 0, life->stranger_count - 1), what = (unsigned)between(life, 0, 5);
    if (sizes[what] > 0)
        net_send(&life->scene.net, life->strangers[one], words[what], sizes[what]);
}

static void go_strangers(struct life *life)
{
    while (life->stranger_count > 0)
        net_close(&life->scene.net, life->strangers[--life->stranger_count]);
}

static void look(struct life *life, struct scene_pod *pod)
{
    const bool at_set = between(life, 0, 1);
    if (!runs(life, at_set ? &life->scene.set_machine : &pod->machine))
        return;
    if (at_set)
        streams_look(life->scene.set);
    else if (pod->state == SCENE_STAYS)
        streams_look(pod->streams);
}

static void end_pod(struct life *life, struct scene_pod *pod)
{
    const enum scene_end end = between(life, 0, 1) ? SCENE_SET : SCENE_POD;
    const bool set_runs = runs(life, &life->scene.set_machine), pod_runs = runs(life, &pod->machine);
    switch (between(life, 0, 3)) {
    case 0:
        if (set_runs)
            scene_drop(&life->scene, pod);
        break;
    case 1:
        if (!pod->is_gone)
            scene_switch_off(&life->scene, pod);
        break;
    case 2:
        if (pod_runs && pod->state == SCENE_STAYS)
            scene_end_pod(&life->scene, pod);
        break;
    case 3:
        if (end == SCENE_SET ? set_runs : pod_runs)
            scene_part(&life->scene, pod, end);
        break;
    }
}

/* The program around an end takes its time. */
static void dawdle(struct life *life)
{
    const uint64_t until_ns = life->scene.net.now_ns + any_time(life, 10 * MS_NS, S_NS);
    switch (between(life, 0, 2)) {
    case 0: life->set_waits_ns = until_ns; break;
    case 1: life->pods_wait_ns = until_ns; break;
    case 2: life->holds_ns = until_ns; break;
    }
}

static void happen(struct life *life)
{
    struct scene *scene = &life->scene;
    struct scene_pod *pod = any_pod(life);
    const uint64_t what = between(life, 0, 99);
    if (pod == NULL || (what < 8 && scene->pod_count < PODS_MOST))
        scene_join(scene);
    else if (what < 50)
        send_some(life, pod);
    else if (what < 62)
        break_connection(life, pod);
    else if (what < 70)
        stand(life, pod);
    else if (what < 76)
        cut_off(life, pod);
    else if (what < 82)
        come_strangers(life);
    else if (what < 84)
        go_strangers(life);
    else if (what < 90)
        look(life, pod);
    else if (what < 96)
        dawdle(life);
    else if (what < 98)
        end_pod(life, pod);
    else
        scene->refusal = scene->refusal == NULL ? "the set takes nobody now" : NULL;
}

/* --- a life --- */

static void choose_network(struct life *life)
{
    static const uint64_t delays_ns[][2] = {
        {20000, 200000}, {20000, 200000}, {MS_NS, 20 * MS_NS}, {20 * MS_NS, 100 * MS_NS}};
    const unsigned delay = (unsigned)between(life, 0, 3);
    struct net *net = &life->scene.net;
    net->delay_least_ns = delays_ns[delay][0];
    net->delay_most_ns = delays_ns[delay][1];
    net->room = between(life, 0, 2) == 0 ? between(life, 300, 5000) : 65536;
    net->pieces_most = (unsigned)between(life, 1, 4);
    net->turn_most_ns = between(life, 0, 3) == 0 ? 10 * MS_NS : 20000;
    net->ready_most = between(life, 0, 3) == 0 ? (unsigned)between(life, 1, 4) : 32;
}

static void pass(struct life *life, uint64_t for_ns)
{
    struct scene *scene = &life->scene;
    const uint64_t until_ns = scene->net.now_ns + for_ns;
    while (scene->net.now_ns < until_ns && scene->wrong[0] == '\0') {
        mend_due(life, scene->net.now_ns);
        scene->set_waits = scene->net.now_ns < life->set_waits_ns;
        scene->pods_wait = scene->net.now_ns < life->pods_wait_ns;
        scene->holds_answers = scene->net.now_ns < life->holds_ns;
        if (!scene->holds_answers && runs(life, &scene->set_machine))
            scene_answer(scene);
        scene_step(scene, until_ns);
        if (scene->net.steps > STEPS_MOST)
            scene_complain(scene, "it does not come to rest");
    }
}

/* Nothing is in the way of anybody any more. */
static void mend_all(struct life *life)
{
    struct scene *scene = &life->scene;
    mend_due(life, NET_NEVER);
    go_strangers(life);
    life->set_waits_ns = life->pods_wait_ns = life->holds_ns = 0;
    scene->net.room = 65536;
    scene->net.delay_most_ns = scene->net.delay_least_ns;
    scene->refusal = NULL;
    uint64_t wait_ns = scene->set_machine.stands_ns;
    for (unsigned i = 0; i < scene->pod_count; i++) {
        const struct scene_pod *pod = &scene->pods[i];
        wait_ns = pod->is_gone || pod->machine.stands_ns < wait_ns ? wait_ns : pod->machine.stands_ns;
    }
    pass(life, (wait_ns > scene->net.now_ns ? wait_ns - scene->net.now_ns : 0) + S_NS);
}

/* Nobody has anything of anybody. */
static bool all_are_over(const struct scene *scene)
{
    for (unsigned i = 0; i < scene->pod_count; i++)
        if (scene->pods[i].state == SCENE_STAYS && !scene->pods[i].is_gone &&
            scene->pods[i].streams->peers[0]->state != PEER_IS_GONE)
            return false;
    return scene->set->peer_count == 0 && scene->set->waiting == 0;
}

static void end_all(struct life *life)
{
    struct scene *scene = &life->scene;
    enum scene_end end[PODS_MOST];
    scene_settle(scene);
    for (unsigned i = 0; i < scene->pod_count; i++) {
        end[i] = between(life, 0, 1) ? SCENE_SET : SCENE_POD;
        if (!scene->pods[i].is_gone)
            scene_part(scene, &scene->pods[i], end[i]);
    }
    scene->set_machine.attend(scene); /* who was dropped is forgotten when the next one is asked for */
    SCENE_WAIT(scene, all_are_over(scene));
    for (unsigned i = 0; i < scene->pod_count; i++) {
        const struct scene_pod *pod = &scene->pods[i];
        const struct scene_side *from = &pod->side[end[i]], *to = &pod->side[1 - end[i]];
        if (from->has_parted && pod->state == SCENE_STAYS && !pod->is_gone && !from->is_lost && !from->is_dropped &&
            !to->has_left && !to->is_lost && !to->has_parted && !to->is_dropped)
            scene_complain(scene, "%s is not told to have left", pod->machine.name);
    }
    if (scene->set->gone + scene->set->due > 0 || fifo_size(&scene->set->inbox) > 0)
        scene_complain(scene, "the set keeps what it had of pods that have gone");
}

static const char *run(uint64_t seed, bool trace)
{
    static struct life life;
    static char wrong[SCENE_TEXT_MAX];
    memset(&life, 0, sizeof life);
    random_init(&life.random, seed);
#ifdef TEST_TLS
    const bool is_tls = seed % 16 == 7;
#else
    const bool is_tls = false;
#endif
    struct scene *scene = &life.scene;
    scene_init(scene, seed, is_tls);
    scene->net.trace = trace;
    life.has_faults = between(&life, 0, 3) > 0;
    choose_network(&life);
    const unsigned actions = (unsigned)between(&life, 5, 60);
    for (unsigned i = 0; i < actions && scene->wrong[0] == '\0'; i++) {
        pass(&life, any_time(&life, MS_NS, 2 * S_NS));
        happen(&life);
    }
    mend_all(&life);
    if (scene->wrong[0] == '\0')
        end_all(&life);
    tally.came += scene->came;
    tally.pods += scene->pod_count;
    tally.welcomes += scene->welcomes;
    tally.lost += scene->lost;
    tally.left += scene->left;
    tally.steps += scene->net.steps;
    scene_fini(scene);
    memcpy(wrong, scene->wrong, sizeof wrong);
    return wrong[0] != '\0' ? wrong : NULL;
}

static void print_tally(void)
{
    printf("# %" PRIu64 " messages, %" PRIu64 " pods, %" PRIu64 " welcomed, %" PRIu64 " lost, %" PRIu64
           " left, %" PRIu64 " connections broken, %" PRIu64 " stood still, %" PRIu64 " cut off, %" PRIu64
           " strangers, %" PRIu64 " steps\n",
           tally.came, tally.pods, tally.welcomes, tally.lost, tally.left, tally.faults, tally.stands, tally.cuts,
           tally.strangers, tally.steps);
}

int main(int argc, char **argv)
{
    const struct seeds_program program = {"seeds-streams", run, print_tally};
    return seeds_program_main(&program, argc, argv);
}
