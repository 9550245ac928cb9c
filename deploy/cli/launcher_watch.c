/* SPDX-License-Identifier: MIT */
/* Watches a launcher: see launcher_watch.h. */
#include "deploy/cli/launcher_watch.h"
#include "deploy/cli/colour.h"
#include "common/job/status.h"
#include "common/os/process.h"
#include "common/util/error.h"
#include "deploy/cli/ready.h"
#include "proto/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A loss at the start: if no further rank ends within this time, the other ranks must be waiting for the lost one. */
#define START_MS 3000
/* A launch in which no rank starts is given up after this time. */
#define FIRST_MS 120000
/* How long ranks may take to notice the loss of the supermaster. While they compute they do not notice it. */
#define LOST_MS 1500
/* How long the other ranks may take to end after a loss. Their last messages to other machines take 200 ms. */
#define DEGRADED_MS 300
/* How long a launcher may take to end the ranks of a failed run. Open MPI 4 needs 1.5 s to send SIGCONT, SIGTERM and
 * SIGKILL. Another signal during that time would crash it, and output of the ranks would be lost. */
#define ABORT_MS        3000
#define STOPPED_LOOK_MS 1000
/* How often to count the ranks. Each count reads files of /proc for each rank. */
#define COUNT_MS 50
/* How long ranks may take to leave MPI after their work. The base is LEAVE_MS, or LEAVE_REMOTE_MS if some are on other
 * machines. LEAVE_RANK_MS is added for each rank per core, because hundreds of ranks on few cores take a minute. Ranks
 * that take longer hang in MPI_Finalize, and can be ended without a loss. */
#define LEAVE_MS        3000
#define LEAVE_RANK_MS   400
#define LEAVE_REMOTE_MS 10000
/* How long a launcher may take to end after its ranks were ended. */
#define ALONE_MS 1000

int launcher_watch_init(struct launcher_watch *watch, struct launch_world *world, unsigned ranks, unsigned depth,
                        bool remote, bool survives)
{
    *watch = (struct launcher_watch){.world = world,
                                     .ends = {-1, -1},
                                     .summary = {-1, -1},
                                     .progress = {-1, -1},
                                     .ranks = ranks,
                                     .depth = depth,
                                     .remote = remote,
                                     .cores = world->cores(world),
                                     .changed_ms = world->now_ms(world)};
    watch->taken = open_memstream(&watch->text, &watch->text_length);
    if (watch->taken == NULL || (survives && setenv(SURVIVAL_VARIABLE, "1", 1) < 0))
        return -1;
    const bool are_there = world->open_pipe(world, watch->ends, STATUS_VARIABLE) == 0 &&
                           world->open_pipe(world, watch->summary, SUMMARY_VARIABLE) == 0 &&
                           world->open_pipe(world, watch->progress, PROGRESS_VARIABLE) == 0;
    return are_there ? 0 : -1;
}

void launcher_watch_fini(struct launcher_watch *watch)
{
    struct launch_world *world = watch->world;
    world->close_pipe(world, watch->ends, STATUS_VARIABLE);
    world->close_pipe(world, watch->summary, SUMMARY_VARIABLE);
    world->close_pipe(world, watch->progress, PROGRESS_VARIABLE);
    unsetenv(SURVIVAL_VARIABLE);
    ranges_fini(&watch->ran);
    if (watch->taken != NULL)
        fclose(watch->taken);
    free(watch->text);
}

static bool is_role(const char *role)
{
    return strcmp(role, STATUS_LEAD) == 0 || strcmp(role, role_name(ROLE_MASTER)) == 0 ||
           strcmp(role, role_name(ROLE_WORKER)) == 0;
}

/* If memory runs out, some tasks are not noted. They are then not blamed for the loss. */
static void note_ran(struct launcher_watch *watch, const struct range *ran)
{
    if (ran->count > 0 && ran->count <= UINT64_MAX - ran->first)
        (void)ranges_add(&watch->ran, ran->first, ran->count, NULL);
}

static void launcher_watch_take_line(struct launcher_watch *watch)
{
    char role[16], degraded[16] = "";
    int status;
    struct range ran;
    if (sscanf(watch->line, STATUS_RAN_READ, &ran.first, &ran.count) == 2)
        note_ran(watch, &ran);
    else if (sscanf(watch->line, STATUS_BEGUN, &watch->lead) == 1)
        watch->begun = watch->started = true;
    else if (strcmp(watch->line, STATUS_DRAINING) == 0)
        watch->draining = true;
    else if (strcmp(watch->line, STATUS_OVER) == 0)
        watch->over = true;
    else if (strcmp(watch->line, STATUS_AGAIN) == 0)
        watch->again = true;
    else if (sscanf(watch->line, "%15s %d %15s", role, &status, degraded) < 2 || !is_role(role) || status < 0 ||
             status > EXIT_STATUS_DRAINED)
        return;
    else if (strcmp(role, STATUS_LEAD) != 0)
        watch->others = watch->others != 0 ? watch->others : status;
    else {
        watch->ended = true;
        watch->status = status;
        watch->degraded = degraded[0] != '\0';
    }
}

static void take_byte(struct launcher_watch *watch, char c)
{
    if (c != '\n') {
        watch->length += watch->length + 1 < sizeof watch->line;
        watch->line[watch->length - 1] = c;
        return;
    }
    watch->line[watch->length] = '\0';
    watch->length = 0;
    launcher_watch_take_line(watch);
}

static void launcher_watch_take_summary(struct launcher_watch *watch)
{
    char bytes[512];
    ssize_t count;
    while ((count = watch->world->read(watch->world, watch->summary[0], bytes, sizeof bytes)) > 0)
        fwrite(bytes, 1, (size_t)count, watch->taken);
}

void launcher_watch_take(struct launcher_watch *watch, int64_t now_ms)
{
    char bytes[512];
    ssize_t count;
    while ((count = watch->world->read(watch->world, watch->ends[0], bytes, sizeof bytes)) > 0) {
        watch->changed_ms = now_ms;
        for (ssize_t i = 0; i < count; i++)
            take_byte(watch, bytes[i]);
    }
    launcher_watch_take_summary(watch);
}

size_t launcher_watch_take_progress(struct launcher_watch *watch, char *bytes, size_t size)
{
    ssize_t count = watch->world->read(watch->world, watch->progress[0], bytes, size);
    return count > 0 ? (size_t)count : 0;
}

int launcher_watch_print_summary(struct launcher_watch *watch, FILE *to, const char *colour)
{
    launcher_watch_take_summary(watch); /* ranks may write a summary even after their launcher has ended */
    fflush(watch->taken);
    const size_t word = colour != NULL && watch->text_length > 0 ? strcspn(watch->text, ":\n") : 0;
    const size_t name = word > 0 && watch->text[word] == ':' ? word + 1 : 0;
    if (name > 0)
        fprintf(to, "%s%.*s" COLOUR_END, colour, (int)name, watch->text);
    const size_t written = fwrite(watch->text + name, 1, watch->text_length - name, to);
    return fflush(to) == 0 && written == watch->text_length - name ? 0 : -1;
}

static int64_t leaving_ms(const struct launcher_watch *watch)
{
    if (watch->degraded)
        return watch->status == EXIT_STATUS_FAILED && watch->running == 0 ? ABORT_MS : DEGRADED_MS;
    if (watch->cleared && watch->running == 0)
        return ALONE_MS;
    return (watch->remote ? LEAVE_REMOTE_MS : LEAVE_MS) + LEAVE_RANK_MS * (int64_t)watch->running / watch->cores;
}

static bool launcher_watch_is_through(const struct launcher_watch *watch, int64_t quiet_ms)
{
    if (watch->ended)
        return quiet_ms >= leaving_ms(watch);
    if (watch->begun)
        return has_ended(watch->world, watch->lead) && quiet_ms >= LOST_MS;
    if (watch->remote)
        return quiet_ms >= FIRST_MS;
    return watch->running < watch->ranks && quiet_ms >= (watch->started ? START_MS : FIRST_MS);
}

static void count_ranks(struct launcher_watch *watch, pid_t launcher, int64_t now_ms)
{
    unsigned running = ranks_below(watch->world, launcher, watch->depth);
    /* Ranks on other machines cannot be counted. So after the run has ended, changes on this machine do not prolong the
     * wait. */
    bool hurries = watch->ended && watch->remote;
    if (running != watch->running && !hurries)
        watch->changed_ms = now_ms;
    watch->counted_ms = now_ms;
    watch->running = running;
    watch->started |= running > 0;
}

bool launcher_watch_is_over(struct launcher_watch *watch, pid_t launcher, int64_t now_ms)
{
    if (now_ms - watch->counted_ms >= COUNT_MS)
        count_ranks(watch, launcher, now_ms);
    return launcher_watch_is_through(watch, now_ms - watch->changed_ms);
}

/* True if others wait for a stopped rank. Before the run has begun, and while a run with --dca drains, this may be any
 * rank, but others must be awake. Later only a stopped supermaster counts; if it is the last rank on this machine, it
 * counts even though no other is awake here. */
static bool is_anybody_stopped(const struct launcher_watch *watch, pid_t launcher)
{
    unsigned awake = 0;
    const unsigned stopped = ranks_stopped(watch->world, launcher, watch->depth, &awake);
    if (launcher_watch_holds(watch, launcher))
        /* The launcher may not have started a rank yet. */
        return awake > 0 || stopped == 0;
    const bool all_count = !watch->begun || (watch->flat && (watch->draining || watch->asked));
    const bool is_left_alone = watch->begun && watch->running == 1 && (watch->ranks > 1 || !watch->flat);
    return (all_count || watch->world->state(watch->world, watch->lead) == PROCESS_STOPPED) && stopped > 0 &&
           (awake > 0 || is_left_alone);
}

bool launcher_watch_holds(const struct launcher_watch *watch, pid_t launcher)
{
    return !watch->begun && watch->world->state(watch->world, launcher) == PROCESS_STOPPED;
}

bool launcher_watch_is_stopped(struct launcher_watch *watch, pid_t launcher, int64_t now_ms)
{
    if (watch->ended || watch->remote || now_ms < watch->stopped_look_ms + STOPPED_LOOK_MS)
        return false;
    watch->stopped_look_ms = now_ms;
    watch->stopped_looks = is_anybody_stopped(watch, launcher) ? watch->stopped_looks + 1 : 0;
    return watch->stopped_looks >= STOPPED_LOOKS;
}

int launcher_watch_status(const struct launcher_watch *watch)
{
    if (!watch->ended)
        return -1;
    return watch->status != EXIT_STATUS_DONE ? watch->status : watch->others;
}
