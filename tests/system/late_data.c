/* SPDX-License-Identifier: MIT */
/* Two ranks: a worker whose results nobody waits for any more, as those of chunks that others had computed by then. The
 * supermaster has begun to receive them, more of them than it receives at a time, and exits. The worker gets rid of
 * them all, and both leave.
 *
 * Run by mpirun with 2 ranks that share no memory. One line on standard output when all is well; ranks that wait for
 * each other for ever are ended by their alarm. */
#include "common/machine/executor.h"
#include "common/mpi/net.h"
#include "common/mpi/runtime.h"
#include "proto/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RESULTS = 2 * COLLECTS_MAX, LIMIT_S = 30 };

static unsigned char data[1000000];

static void lead(void *self, const struct event *event, struct actions *actions)
{
    (void)self;
    if (event->type != EVENT_START)
        return;
    for (unsigned i = 0; i < RESULTS; i++)
        actions_add(actions, &(struct action){.type = ACTION_COLLECT,
                                              .store = {.part = {.count = 1}, .from = 1, .bytes = sizeof data}});
    actions_add(actions, &(struct action){.type = ACTION_EXIT});
}

static void work(void *self, const struct event *event, struct actions *actions)
{
    (void)self;
    if (event->type != EVENT_START)
        return;
    sleep(1); /* else they may have come before the supermaster exits */
    for (unsigned i = 0; i < RESULTS; i++)
        actions_send(actions, 0,
                     &(struct message){.type = MESSAGE_RESULT,
                                       .payload = PAYLOAD_DATA,
                                       .payload_data = data,
                                       .payload_bytes = sizeof data,
                                       .result = {.chunk = i + 1, .count = 1}});
    actions_add(actions, &(struct action){.type = ACTION_EXIT});
}

/* An executor that has computed all. */
static enum turn advance(struct executor *executor, struct event *event)
{
    (void)executor, (void)event;
    return TURN_BLOCKED;
}

static void sent(struct executor *executor, const void *records)
{
    (void)executor, (void)records;
}

static uint64_t never(const void *self)
{
    (void)self;
    return NEVER;
}

static const char *no_state(const void *self)
{
    (void)self;
    return "";
}

int main(int argc, char **argv)
{
    const bool leads = argc == 2 && strcmp(argv[1], "leads") == 0;
    const struct introduction introduction = {.role = leads ? ROLE_SUPERMASTER : ROLE_WORKER, .version = HDSS_VERSION};
    const struct machine machine = {.step = leads ? lead : work, .deadline = never, .state = no_state};
    static const struct executor_ops ops = {.advance = advance, .sent = sent};
    struct executor executor = {.ops = &ops};
    const struct effects effects = {.executor = leads ? NULL : &executor};
    int status = EXIT_SUCCESS;
    unsigned count;
    runtime_remember_signals(NULL);
    alarm(LIMIT_S);
    struct runtime *runtime = runtime_join(&argc, &argv, &introduction, &status);
    if (runtime == NULL || runtime_group(runtime, 0) == NULL ||
        runtime_share_job(runtime, argc, argv, &status, &count) == NULL)
        return EXIT_FAILURE;
    status = runtime_drive(runtime, &machine, &effects, NULL);
    runtime_wait(runtime);
    if (leads && status == EXIT_SUCCESS)
        printf("all results have gone\n");
    fflush(stdout);
    runtime_leave(runtime, status);
}
