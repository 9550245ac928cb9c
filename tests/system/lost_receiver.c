/* SPDX-License-Identifier: MIT */
/* Two ranks of which the second dies with a message unread, so that its end resets the connection. The first sends on:
 * that goes on until it finds out, and then all sends are over.
 *
 * Run by mpirun with 2 ranks that share no memory. One line on standard output when all is well; a rank that turns in
 * MPI for ever is ended by its alarm. */
#include "common/carrier/carrier.h"
#include "common/carrier/load.h"
#include "common/mpi/net.h"
#include "common/mpi/ops.h"
#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/mpi/ulfm.h"
#include "common/os/process.h"
#include "proto/message.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TAG_MEETING 10
#define LOOK_NS     200000000u
#define LIMIT_S     20

static unsigned char data[100000];
static struct net net;
static struct net_user user = {.job = FIRST_JOB};

static void progress(void)
{
    unsigned to;
    struct ended_send sent;
    while (net_sent(&net, &sent))
        ;
    while (net_send_held(&net, &to))
        ;
}

static void send_to_second(struct message message)
{
    if (!net_can_send(&net) || net_send(&net, 1, &user, &message) < 0)
        exit(EXIT_FAILURE);
}

static int lead(carrier_comm world)
{
    int pid;
    struct runtime runtime = {.ops = &runtime_mpi_ops, .world = world, .ranks = 2};
    carrier_request request = carrier->irecv(world, 1, TAG_MEETING, &pid, sizeof pid);
    if (peers_init(&runtime.peers, 2) < 0 || net_init(&net, &runtime, 1) < 0)
        return EXIT_FAILURE;
    carrier->wait(&request);
    send_to_second((struct message){.type = MESSAGE_RECALL});
    progress();
    kill(pid, SIGKILL);
    while (process_runs(process_state(pid)))
        runtime_nap(&runtime, 1000000);
    for (int i = 0; i < 3; i++) {
        send_to_second((struct message){
            .type = MESSAGE_BOUNDARY, .payload = PAYLOAD_DATA, .payload_data = data, .payload_bytes = sizeof data});
        progress();
    }
    for (const uint64_t end_ns = runtime_now() + LOOK_NS; runtime_now() < end_ns;)
        progress();
    printf("%u sends are not over, ", net.send_count);
    peers_move(&runtime.peers, 1, PEER_FENCE);
    progress();
    printf("then %u\n", net.send_count);
    fflush(stdout);
    _exit(net.send_count == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    const int pid = (int)getpid();
    struct error error;
    if (carrier_load("lost-receiver", &error) < 0)
        return EXIT_FAILURE;
    const carrier_comm world = carrier->begin(&argc, &argv, CARRIER_SINGLE);
    signal(SIGPIPE, SIG_IGN);
    alarm(LIMIT_S);
    ulfm_begin(world);
    if (carrier->rank(world) == 0)
        return lead(world);
    carrier->send(world, 0, TAG_MEETING, &pid, sizeof pid);
    for (;;)
        pause();
}
