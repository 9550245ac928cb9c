/* SPDX-License-Identifier: MIT */
/* Joining a run that another rank leads: see participate.h. */
#include "common/job/participate.h"

#include "common/job/status.h"
#include "common/mpi/runtime.h"
#include "common/os/say.h"
#include "common/stream/stream.h"
#include "common/stream/ticket.h"
#include "common/util/error.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Time limits of an attempt to join. ATTEMPT_NS is for the last address of a ticket. LOCAL_ATTEMPT_NS is for each
 * earlier address, which is usually a local socket. */
#define ATTEMPT_NS       UINT64_C(3000000000)
#define LOCAL_ATTEMPT_NS UINT64_C(500000000)

struct way_to_set {
    struct ticket ticket;
    /* true: the user gave a ticket, which contains a key. false: the user gave a local socket or a port. A local socket
     * needs no key; for a port a munge credential is used. */
    bool has_key;
};

struct pod {
    struct streams *streams;
    struct stream_welcome welcome;
};

struct attempts {
    bool is_absent;
    /* the set has refused the pod, or this process cannot join for another reason; further attempts are useless */
    bool is_refused;
    struct error other;
};

#define FROM_ELSEWHERE                                                                                                 \
    "and it names no port; from other machines one is joined that was started with --listen HOST:PORT"

static struct stream_lineup describe(const struct runtime *runtime)
{
    const char *name = runtime_host_of(runtime, runtime_rank(runtime));
    struct stream_lineup lineup = {.workers = runtime_ranks(runtime) - 1, .cores = runtime_cores(runtime)};
    snprintf(lineup.name, sizeof lineup.name, "%s", name != NULL ? name : "unnamed");
    return lineup;
}

static bool is_socket(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISSOCK(status.st_mode);
}

static int find_way(struct way_to_set *way, const char *set, struct error *error)
{
    struct stream_address *address = &way->ticket.addresses[0];
    struct error no_address;
    *way = (struct way_to_set){.ticket = {.count = 1}};
    if ((is_socket(set) || access(set, F_OK) != 0) && stream_address_parse(address, set, &no_address) == 0 &&
        (stream_address_is_tcp(address) || is_socket(set)))
        return 0;
    way->has_key = true;
    if (ticket_read(&way->ticket, set, error) < 0)
        return -1;
    for (size_t i = 0; i < way->ticket.count; i++)
        if (ticket_leads_from_here(&way->ticket, &way->ticket.addresses[i]))
            return 0;
    return error_set(error, "cannot join by %.200s: its socket, %s, is on another machine, " FROM_ELSEWHERE, set,
                     way->ticket.addresses[0].path);
}

static void explain_absence(const struct way_to_set *way, const char *set, struct error *error)
{
    const struct ticket *ticket = &way->ticket;
    for (size_t i = 0; i < ticket->count; i++)
        if (stream_address_is_tcp(&ticket->addresses[i]) || is_socket(ticket->addresses[i].path))
            return;
    if (ticket->count > 0)
        error_set(error, "cannot join by %.200s: no set listens at its socket, %s, on this machine, " FROM_ELSEWHERE,
                  set, ticket->addresses[0].path);
}

static void try_address(struct pod *pod, const struct streams_setup *setup, const struct stream_address *address,
                        const struct stream_lineup *lineup, uint64_t attempt_ns, struct attempts *attempts,
                        struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    pod->streams = streams_join(setup, address, lineup, attempt_ns, &pod->welcome, error);
    if (pod->streams != NULL)
        return;
    attempts->is_absent |= errno == ETIMEDOUT;
    attempts->is_refused |= errno == 0;
    if (errno == EACCES)
        attempts->other = *error;
}

/* Tries the addresses one after the other until the pod has joined or was refused. If another program answers at an
 * address, continues with the next address: with bridges or NAT an address of the set may belong to another machine
 * here. Returns true if a further attempt may succeed: the pod has neither joined nor been refused, and at least one
 * address did not answer. */
static bool may_try_again(struct pod *pod, struct runtime *runtime, const struct way_to_set *way, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    const struct ticket *ticket = &way->ticket;
    const struct stream_lineup lineup = describe(runtime);
    const struct streams_setup setup = {.base = runtime_base(runtime),
                                        .key = way->has_key ? ticket->key : NULL,
                                        .grace_ns = STREAM_GRACE_NS,
                                        .closed_ns = STREAM_CLOSED_NS};
    struct attempts attempts = {.other = {""}};
    for (size_t i = 0; i < ticket->count && pod->streams == NULL && !attempts.is_refused; i++) {
        const uint64_t attempt_ns = i + 1 < ticket->count ? LOCAL_ATTEMPT_NS : ATTEMPT_NS;
        if (ticket_leads_from_here(ticket, &ticket->addresses[i]))
            try_address(pod, &setup, &ticket->addresses[i], &lineup, attempt_ns, &attempts, error);
    }
    if (pod->streams != NULL || attempts.is_refused)
        return false;
    if (attempts.other.text[0] != '\0')
        *error = attempts.other;
    return attempts.is_absent;
}

/* Joins a set for all ranks of the launch. `set` is a ticket file, a local socket, or a port with a munge
 * credential. While the pod has not joined because an address does not answer, reads the file and tries all
 * addresses again, for up to `patience_ns`. Returns NULL on failure. */
static struct pod *pod_join(struct runtime *runtime, const char *set, uint64_t patience_ns, struct error *error)
{
    struct way_to_set way;
    struct pod *pod = calloc(1, sizeof *pod);
    const uint64_t began_ns = runtime_now();
    if (pod == NULL) {
        error_set(error, "out of memory");
        return NULL;
    }
    bool is_absent;
    do
        is_absent = find_way(&way, set, error) == 0 && may_try_again(pod, runtime, &way, error);
    while (is_absent && runtime_now() - began_ns < patience_ns);
    if (is_absent)
        explain_absence(&way, set, error);
    if (pod->streams == NULL) {
        free(pod);
        return NULL;
    }
    runtime_enter_set(runtime, pod->streams, &pod->welcome);
    return pod;
}

static void pod_leave(struct pod *pod)
{
    if (pod == NULL)
        return;
    streams_free(pod->streams);
    free(pod);
}

static int join_set(const struct participant *participant, struct runtime *runtime, struct pod **pod)
{
    struct error error;
    if (participant->ticket == NULL)
        return EXIT_STATUS_DONE;
    *pod = pod_join(runtime, participant->ticket, participant->patience_ns, &error);
    if (*pod != NULL)
        return EXIT_STATUS_DONE;
    say(stderr, "%s: --join: %s", role_name(participant->role), error.text);
    return EXIT_STATUS_USAGE;
}

static int take_part(const struct participant *participant, struct runtime *runtime, bool leads)
{
    struct pod *pod = NULL;
    unsigned words;
    int status = join_set(participant, runtime, &pod);
    char *const *word = runtime_share_job(runtime, 0, NULL, &status, &words);
    if (word != NULL && leads)
        status_tell_begun();
    if (word != NULL)
        status = participant->run(participant->context, runtime, words, word);
    pod_leave(pod);
    if (leads || status != EXIT_STATUS_DONE)
        status_tell_end(leads ? STATUS_LEAD : role_name(participant->role), status, runtime_is_degraded(runtime));
    return status;
}

int participate(const struct participant *participant, struct startup *startup, int argc, char **argv)
{
    const bool leads = participant->ticket != NULL;
    const struct introduction introduction = {
        .role = participant->role,
        .version = startup->version,
        .status = startup->status,
        .text = startup->text,
        .has_threads = participant->has_threads,
        .pod = leads,
    };
    int status;
    if (startup_ends_here(startup, &status))
        return status;
    struct runtime *runtime = runtime_join(&argc, &argv, &introduction, &status);
    if (runtime != NULL) {
        status = take_part(participant, runtime, leads);
        runtime_leave(runtime, status);
    } else if (leads)
        status_tell_end(STATUS_LEAD, status, false);
    startup_fini(startup);
    return status;
}
