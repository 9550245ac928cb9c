/* SPDX-License-Identifier: MIT */
/* Start and end of a run: MPI, hellos, the check of the line-up, and the job. If there is an error, one rank prints it,
 * and all ranks leave with the same status. */
#include "common/mpi/ops.h"
#include "common/carrier/load.h"
#include "common/machine/topology.h"
#include "common/mpi/lanes.h"
#include "common/mpi/local_carrier.h"
#include "common/mpi/meet.h"
#include "common/mpi/net.h"
#include "common/mpi/place.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/mpi/singleton.h"
#include "common/mpi/tree.h"
#include "common/mpi/wait.h"
#include "common/os/launched.h"
#include "common/os/objects.h"
#include "common/os/say.h"
#include "common/stream/stream.h"
#include "common/util/error.h"
#include "proto/message.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t runtime_process_start(void)
{
    /* Field 22 of /proc/self/stat is the time at which the process started, in ticks since boot. */
    char line[1024] = "";
    FILE *file = fopen("/proc/self/stat", "r");
    if (file != NULL) {
        if (fgets(line, sizeof line, file) == NULL)
            line[0] = '\0';
        fclose(file);
    }
    const char *field = strrchr(line, ')');
    unsigned long long ticks = 0;
    if (field == NULL ||
        sscanf(field + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
               &ticks) != 1)
        return runtime_now();
    struct timespec boot;
    clock_gettime(CLOCK_BOOTTIME, &boot);
    uint64_t now = runtime_now(), since_boot = (uint64_t)boot.tv_sec * 1000000000u + (uint64_t)boot.tv_nsec;
    uint64_t started = (uint64_t)ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
    return started < since_boot && since_boot - started < now ? now - (since_boot - started) : now;
}

bool runtime_is_launched(void)
{
    return launched_as_rank();
}

void runtime_remember_signals(void (*tell)(void))
{
    if (runtime_is_launched())
        wait_catch_early(tell);
}

static void print_text(FILE *stream, const char *text)
{
    fputs(text, stream);
    fflush(stream);
}

static void print_why_all_leave(const struct runtime *runtime, const struct introduction *introduction, int status,
                                const struct error *error)
{
    if (error->text[0] != '\0') {
        if (runtime->rank == 0)
            say(stderr, "hdss: %s", error->text);
        return;
    }
    for (unsigned i = 0; i < runtime->rank; i++)
        if (runtime->hellos[i].status == status)
            return;
    if (introduction->status == status && introduction->text != NULL)
        print_text(status == HELLO_STATUS_HELP ? stdout : stderr, introduction->text);
}

/* Returns the lowest sufficient thread level. If ranks are on several nodes, or do not see each other's processes, two
 * threads use MPI in turn: the heartbeat thread and the rank's own thread (SERIALIZED). Otherwise only the rank's own
 * thread uses MPI. If other threads compute, MPI must know of them (FUNNELED). A higher level may cost time: Open MPI 4
 * locks a mutex for each message from FUNNELED on, Open MPI 5 and MPICH only with MULTIPLE. */
static enum carrier_level least_level(const struct introduction *introduction)
{
    if (!place_holds_all())
        return CARRIER_SERIALIZED;
    return introduction->has_threads ? CARRIER_FUNNELED : CARRIER_SINGLE;
}

/* Open MPI 4.1 unloads its PMIx client while one of the client's threads may still run callbacks, for example after the
 * launcher has reported a rank's exit status. So shared objects are kept loaded. */
static void finalize_mpi(void)
{
    objects_keep();
    carrier->finish();
}

static bool begin_mpi(struct runtime *runtime, int *argc, char ***argv, const struct introduction *introduction)
{
    struct error error;
    if (carrier_load(role_name(introduction->role), &error) < 0) {
        if (singleton_speaks())
            say(stderr, "hdss: %s", error.text);
        return false;
    }
    /* The world communicator is not duplicated: duplicating takes rounds of messages over all ranks. MPI may grant a
     * lower thread level than was requested; heartbeat.c checks that. */
    runtime->world = carrier->begin(argc, argv, least_level(introduction));
    runtime->rank = (unsigned)carrier->rank(runtime->world);
    runtime->ranks = (unsigned)carrier->ranks(runtime->world);
    if (runtime->ranks > 1 || introduction->listens || !singleton_refuse(role_name(introduction->role)))
        return true;
    finalize_mpi();
    return false;
}

static bool begin_launch(struct runtime *runtime, int *argc, char ***argv, const struct introduction *introduction)
{
    struct error error;
    *runtime = (struct runtime){.ops = &runtime_mpi_ops, .role = introduction->role};
    if (!lanes_enter(&runtime->lanes, &error))
        return begin_mpi(runtime, argc, argv, introduction);
    if (runtime->lanes == NULL) {
        say(stderr, "%s: %s", role_name(introduction->role), error.text);
        return false;
    }
    runtime->world = local_carrier_begin(runtime);
    runtime->rank = lanes_rank(runtime->lanes);
    runtime->ranks = lanes_ranks(runtime->lanes);
    return true;
}

static const char *why_not_without_mpi(const struct runtime *runtime)
{
    const struct hello *first = &runtime->hellos[0];
    if (first->dca)
        return NULL;
    if (first->role != ROLE_SUPERMASTER && !first->pod)
        return "a launch without MPI begins with the rank that leads: type `-n 1 supermaster KERNEL ... : -n COUNT "
               "worker`, or `-n 1 master --join FILE : -n COUNT worker`";
    return NULL;
}

static int check_launch_lineup(const struct runtime *runtime, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    const int status = topology_check(runtime->hellos, runtime->ranks, error);
    /* if a rank has reported a status in its hello, it has printed the reason itself */
    const bool is_said = status != EXIT_STATUS_DONE && error->text[0] == '\0';
    const char *why_not = !is_said && runtime->lanes != NULL ? why_not_without_mpi(runtime) : NULL;
    if (why_not == NULL)
        return status;
    error_set(error, "%s", why_not);
    return EXIT_STATUS_USAGE;
}

struct runtime *runtime_join(int *argc, char ***argv, const struct introduction *introduction, int *status)
{
    struct runtime *runtime = calloc(1, sizeof *runtime);
    struct error error;
    /* Writing to a closed terminal, or beyond the limit of file sizes, then returns an error and does not end the
     * process. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (runtime == NULL) {
        say(stderr, "%s: out of memory", role_name(introduction->role));
        exit(EXIT_STATUS_FAILED);
    }
    if (!begin_launch(runtime, argc, argv, introduction)) {
        *status = EXIT_STATUS_USAGE;
        free(runtime);
        return NULL;
    }
    if (runtime_meet(runtime, introduction) < 0) {
        fprintf(stderr, "hdss: rank %u: the ranks of this launch are not all of HDSS, or memory is out\n",
                runtime->rank);
        runtime_abort(runtime, EXIT_STATUS_FAILED);
    }
    *status = check_launch_lineup(runtime, &error);
    if (*status == EXIT_STATUS_DONE)
        return runtime;
    print_why_all_leave(runtime, introduction, *status, &error);
    if (*status == HELLO_STATUS_HELP)
        *status = EXIT_STATUS_DONE;
    runtime_leave(runtime, *status);
    return NULL;
}

static int pack_words(struct runtime *runtime, int argc, char *const *argv, unsigned *bytes)
{
    size_t total = 0;
    for (int i = 0; i < argc; i++)
        total += strlen(argv[i]) + 1;
    runtime->words = malloc(total + 1);
    if (runtime->words == NULL)
        return -1;
    char *out = runtime->words;
    for (int i = 0; i < argc; i++)
        out = stpcpy(out, argv[i]) + 1;
    *bytes = (unsigned)total;
    return 0;
}

static int list_words(struct runtime *runtime, unsigned bytes, unsigned *count)
{
    *count = 0;
    for (unsigned i = 0; i < bytes; i++)
        *count += runtime->words[i] == '\0';
    runtime->word = calloc(*count + 1, sizeof *runtime->word);
    if (runtime->word == NULL)
        return -1;
    char *word = runtime->words;
    for (unsigned i = 0; i < *count; i++, word += strlen(word) + 1)
        runtime->word[i] = word;
    return 0;
}

/* The first message about the job. If the words of the job are too long for `words`, a second message contains all of
 * them. */
struct job_head {
    uint32_t status, bytes;
    uint32_t first_rank;
    uint32_t is_near;
    char words[2032];
};

static int give_words(struct runtime *runtime, int argc, char *const *argv, struct job_head *head)
{
    const struct stream_welcome *welcome = runtime->welcome;
    if (welcome == NULL)
        return pack_words(runtime, argc, argv, &head->bytes);
    head->first_rank = welcome->first_rank;
    head->is_near = welcome->is_near;
    head->bytes = (uint32_t)welcome->words_bytes;
    runtime->words = malloc(welcome->words_bytes + 1);
    if (runtime->words == NULL)
        return -1;
    memcpy(runtime->words, welcome->words, welcome->words_bytes);
    return 0;
}

static int renumber(struct runtime *runtime, unsigned first_rank)
{
    struct hello *hellos = calloc((size_t)first_rank + runtime->ranks, sizeof *hellos);
    if (hellos == NULL)
        return -1;
    hellos[0].role = ROLE_SUPERMASTER;
    memcpy(hellos + first_rank, runtime->hellos, runtime->ranks * sizeof *hellos);
    for (unsigned i = first_rank; i < first_rank + runtime->ranks; i++)
        hellos[i].node += first_rank;
    for (unsigned i = 0; i < runtime->node_count; i++)
        runtime->nodes[i].first_rank += first_rank;
    free(runtime->hellos);
    runtime->hellos = hellos;
    runtime->first_rank = first_rank;
    runtime->rank += first_rank;
    runtime->ranks += first_rank;
    return 0;
}

/* Called if the supermaster runs on the node of rank `giver`, the master of this pod. The supermaster needs one core of
 * this node. If there are fewer cores than ranks, the pod's ranks on this node must not poll. */
static void share_cores_with_supermaster(struct runtime *runtime, unsigned giver)
{
    const unsigned node = runtime->hellos[giver].node;
    unsigned here = 1;
    for (unsigned i = 0; i < runtime->ranks; i++)
        here += runtime->hellos[i].node == node;
    if (runtime->hellos[runtime->rank].node == node && here > runtime->node_cores)
        runtime->cores_are_free = false;
}

/* The next functions let a worker of a set return. In a launch without MPI, the launcher may start the program of a
 * lost worker once more. Like each rank at its start, the new process exchanges bytes with the first rank, which by
 * then runs jobs. The new process takes part in the jobs that are announced after its return. */

static size_t start_bytes(const struct runtime *runtime)
{
    return runtime_meet_bytes(runtime) + sizeof(struct job_head) + runtime->words_bytes + doorbell_room_bytes();
}

/* Frees the slot of a lost worker after its process has ended. Then sends SIGCHLD to the launcher, which checks the
 * slots. The lane must have room for all that the first rank tells the new process, because the first rank will not
 * wait for room. If the room is too small, the slot is closed. */
static enum comeback offer_slot(struct runtime *runtime, unsigned rank)
{
    if (!watch_has_ended(&runtime->watch, rank))
        return COMEBACK_AWAITED;
    lanes_vacate(runtime->lanes, rank);
    doorbell_renew(&runtime->doorbell, rank);
    if (lanes_data_room(runtime->lanes, rank) < start_bytes(runtime))
        lanes_set_slot(runtime->lanes, rank, SLOT_CLOSED);
    else
        kill(getppid(), SIGCHLD);
    return COMEBACK_AWAITED;
}

static void show_job(const struct runtime *runtime, unsigned rank)
{
    struct job_head head = {.status = EXIT_STATUS_DONE, .bytes = (uint32_t)runtime->words_bytes};
    memcpy(head.words, runtime->words, head.bytes < sizeof head.words ? head.bytes : sizeof head.words);
    lanes_put_data(runtime->lanes, rank, &head, sizeof head);
    if (head.bytes > sizeof head.words)
        lanes_put_data(runtime->lanes, rank, runtime->words, head.bytes);
}

static enum comeback take_back(struct runtime *runtime, unsigned rank)
{
    const enum lanes_slot slot = lanes_slot(runtime->lanes, rank);
    if (slot == SLOT_TAKEN)
        return offer_slot(runtime, rank);
    if (slot == SLOT_CLOSED)
        return COMEBACK_NONE;
    const int met = runtime_meet_again(runtime, rank);
    if (met == 0)
        return COMEBACK_AWAITED;
    lanes_set_slot(runtime->lanes, rank, met > 0 ? SLOT_TAKEN : SLOT_CLOSED);
    if (met < 0) {
        kill(getppid(), SIGCHLD);
        return COMEBACK_NONE;
    }
    show_job(runtime, rank);
    doorbell_show_room(&runtime->doorbell, runtime, rank);
    watch_renew(&runtime->watch, rank);
    return COMEBACK_DONE;
}

static unsigned find_giver(const struct runtime *runtime)
{
    unsigned giver = 0;
    while (!runtime->hellos[giver].pod && runtime->hellos[giver].role != ROLE_SUPERMASTER)
        giver++;
    return giver;
}

char *const *runtime_share_job(struct runtime *runtime, int argc, char *const *argv, int *status, unsigned *count)
{
    const unsigned root = find_giver(runtime);
    const bool giver = runtime->rank == root;
    struct job_head head = {0};
    if (giver) {
        head.status = (uint32_t)*status;
        if (give_words(runtime, argc, argv, &head) < 0)
            runtime_abort(runtime, EXIT_STATUS_FAILED);
        memcpy(head.words, runtime->words, head.bytes < sizeof head.words ? head.bytes : sizeof head.words);
    }
    tree_share(runtime, root, &head, sizeof head);
    *status = head.status == HELLO_STATUS_HELP ? EXIT_STATUS_DONE : (int)head.status;
    if (head.status != EXIT_STATUS_DONE)
        return NULL;
    if (!giver)
        runtime->words = malloc((size_t)head.bytes + 1);
    if (runtime->words == NULL)
        runtime_abort(runtime, EXIT_STATUS_FAILED);
    if (!giver)
        memcpy(runtime->words, head.words, head.bytes < sizeof head.words ? head.bytes : sizeof head.words);
    if (head.bytes > sizeof head.words)
        tree_share(runtime, root, runtime->words, head.bytes);
    runtime->words_bytes = head.bytes;
    runtime->take_back = giver && runtime->lanes != NULL ? take_back : NULL;
    if (head.is_near)
        share_cores_with_supermaster(runtime, root);
    if (list_words(runtime, head.bytes, count) < 0 || (head.first_rank > 0 && renumber(runtime, head.first_rank) < 0))
        runtime_abort(runtime, EXIT_STATUS_FAILED);
    return runtime->word;
}

void runtime_enter_set(struct runtime *runtime, struct streams *streams, const struct stream_welcome *welcome)
{
    assert(runtime->rank == 0 && runtime->hellos[0].pod && welcome->first_rank > 0);
    runtime->streams = streams;
    runtime->welcome = welcome;
}

void runtime_take_streams(struct runtime *runtime, struct streams *streams)
{
    assert(runtime->role == ROLE_SUPERMASTER);
    runtime->streams = streams;
}

const struct topology *runtime_group(struct runtime *runtime, unsigned grouping)
{
    const unsigned first = runtime->first_rank;
    const int result = first > 0 ? topology_init_pod(&runtime->topology, first, runtime->ranks - first)
                                 : topology_init(&runtime->topology, runtime->hellos, runtime->ranks, grouping);
    if (result < 0)
        return NULL;
    runtime->grouped = true;
    return &runtime->topology;
}

carrier_comm runtime_node(struct runtime *runtime)
{
    if (runtime->node == 0)
        runtime->node = carrier->split(runtime->world, (int)runtime->hellos[runtime->rank].node, (int)runtime->rank);
    return runtime->node;
}

static bool has_lost_peers(struct runtime *runtime)
{
    if (runtime->watch.peers == NULL)
        return false;
    watch_look(&runtime->watch);
    runtime->ops->look_at_peers(runtime, runtime->ops->now());
    return runtime->peers.ended > 0;
}

/* The ranks sleep while they wait here. In a barrier of MPI they would poll, on cores on which other processes compute.
 * No rank leaves before all have finished, unless a rank was lost. */
void runtime_wait_for_all(struct runtime *runtime)
{
    if (!tree_wait(runtime, has_lost_peers))
        runtime->degraded = true;
}

void runtime_wait(struct runtime *runtime)
{
    heartbeat_retake(&runtime->heartbeat);
    if (!runtime->over && !runtime->degraded)
        runtime_wait_for_all(runtime);
    runtime->over = true;
    heartbeat_release(&runtime->heartbeat);
}

void runtime_note_loss(struct runtime *runtime)
{
    runtime->degraded = true;
}

bool runtime_is_degraded(const struct runtime *runtime)
{
    return runtime->degraded;
}

/* How long a rank lets MPI make progress before it leaves without the others. Messages that MPI has reported as sent
 * may still be in this process. */
#define LAST_PROGRESS_NS 200000000u
#define LAST_NAP_NS      1000000u

static void push_far_messages(struct runtime *runtime)
{
    const unsigned all = runtime->ranks - runtime->first_rank;
    unsigned near = 0;
    for (unsigned i = runtime->first_rank; i < runtime->ranks; i++)
        near += doorbell_reaches(&runtime->doorbell, i);
    const uint64_t until_ns = runtime->ops->now() + LAST_PROGRESS_NS;
    while (near < all && runtime->ops->now() < until_ns) {
        carrier->progress(runtime->world, runtime_mpi_rank(runtime, runtime->rank));
        runtime->ops->nap(runtime, LAST_NAP_NS);
    }
}

static _Noreturn void exit_without_others(struct runtime *runtime, int status)
{
    heartbeat_stop(&runtime->heartbeat);
    heartbeat_leave(&runtime->heartbeat);
    push_far_messages(runtime);
    fflush(NULL);
    doorbell_leave(&runtime->doorbell);
    runtime->ops->end_process(status);
}

/* Time limit for MPI_Finalize(). MPI_Finalize() never returns if a rank is killed during it, or if the launcher does
 * not answer. All work is done by then. Ranks that share cores need more time: hundreds of ranks on a few cores need a
 * minute. */
#define FINALIZE_S      10
#define FINALIZE_FAR_S  60 /* replaces FINALIZE_S if there are several nodes */
#define FINALIZE_RANK_S 0.4

static unsigned finalize_max_s(const struct runtime *runtime)
{
    const unsigned near = (unsigned)runtime->doorbell.node_ranks;
    if (!runtime->prepared || runtime->node_cores == 0)
        return 2 * FINALIZE_FAR_S;
    return (near < runtime->ranks - runtime->first_rank ? FINALIZE_FAR_S : FINALIZE_S) +
           (unsigned)(FINALIZE_RANK_S * near / runtime->node_cores);
}

struct span *runtime_span(struct runtime *runtime)
{
    return doorbell_span(&runtime->doorbell, runtime->rank);
}

struct event_base *runtime_base(struct runtime *runtime)
{
    if (runtime->base == NULL)
        runtime->base = wait_new_base();
    return runtime->base;
}

void runtime_leave(struct runtime *runtime, int status)
{
    runtime_wait(runtime);
    heartbeat_retake(&runtime->heartbeat);
    if (runtime->degraded)
        exit_without_others(runtime, status);
    heartbeat_stop(&runtime->heartbeat);
    heartbeat_fini(&runtime->heartbeat);
    const unsigned most_s = finalize_max_s(runtime);
    watch_fini(&runtime->watch);
    peers_fini(&runtime->peers);
    if (runtime->prepared)
        doorbell_fini(&runtime->doorbell);
    if (runtime->grouped)
        topology_fini(&runtime->topology);
    if (runtime->node != 0)
        carrier->release_comm(&runtime->node);
    fflush(NULL);
    runtime->ops->exit_after(most_s, status);
    if (runtime->lanes == NULL)
        finalize_mpi();
    runtime->ops->exit_after(0, status);
    lanes_free(runtime->lanes);
    if (runtime->base != NULL)
        event_base_free(runtime->base);
    free(runtime->nodes);
    free(runtime->hellos);
    free(runtime->words);
    free(runtime->word);
    free(runtime);
}
