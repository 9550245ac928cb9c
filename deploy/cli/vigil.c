/* SPDX-License-Identifier: MIT */
/* Looking after a launcher: see vigil.h. */
#include "deploy/cli/vigil.h"
#include "common/job/status.h"
#include "deploy/cli/ready.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* So long no rank ends any more: the others wait for one that was lost while they found each other; */
#define START_MS 3000
/* nor do they come up on other machines, where nobody sees them; */
#define REMOTE_START_MS 120000
/* the supermaster is lost, and they do not see it, as they compute; */
#define LOST_MS 1500
/* they have ended by themselves after a loss, all that can; */
#define DEGRADED_MS 3000
/* they leave together, for which hundreds of ranks that share a few cores take a minute. */
#define LEAVE_MS 90000

int vigil_init(struct vigil *vigil, unsigned ranks, unsigned depth, bool remote, int64_t now_ms)
{
    char path[64];
    *vigil = (struct vigil){.ends = {-1, -1}, .ranks = ranks, .depth = depth, .remote = remote, .changed_ms = now_ms};
    if (pipe2(vigil->ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), vigil->ends[1]);
    return setenv(STATUS_VARIABLE, path, 1);
}

void vigil_fini(struct vigil *vigil)
{
    unsetenv(STATUS_VARIABLE);
    for (int i = 0; i < 2; i++)
        if (vigil->ends[i] >= 0)
            close(vigil->ends[i]);
}

static void take_line(struct vigil *vigil)
{
    char role[16], degraded[16] = "";
    int status;
    if (sscanf(vigil->line, STATUS_BEGUN, &vigil->lead) == 1)
        vigil->begun = true;
    else if (sscanf(vigil->line, "%15s %d %15s", role, &status, degraded) < 2 || status < 0 ||
             status > EXIT_STATUS_DRAINED)
        return; /* not of ours */
    else if (strcmp(role, STATUS_LEAD) != 0)
        vigil->others = vigil->others != 0 ? vigil->others : status;
    else {
        vigil->ended = true;
        vigil->status = status;
        vigil->degraded = degraded[0] != '\0';
    }
}

static void take_byte(struct vigil *vigil, char c)
{
    if (c != '\n') {
        vigil->length += vigil->length + 1 < sizeof vigil->line;
        vigil->line[vigil->length - 1] = c;
        return;
    }
    vigil->line[vigil->length] = '\0';
    vigil->length = 0;
    take_line(vigil);
}

void vigil_take(struct vigil *vigil, int64_t now_ms)
{
    char bytes[512];
    ssize_t count;
    while ((count = read(vigil->ends[0], bytes, sizeof bytes)) > 0) {
        vigil->changed_ms = now_ms;
        for (ssize_t i = 0; i < count; i++)
            take_byte(vigil, bytes[i]);
    }
}

static bool is_through(const struct vigil *vigil, int64_t quiet_ms)
{
    if (vigil->ended)
        return quiet_ms >= (vigil->degraded ? DEGRADED_MS : LEAVE_MS);
    if (vigil->begun)
        return has_ended(vigil->lead) && quiet_ms >= LOST_MS;
    if (vigil->remote)
        return quiet_ms >= REMOTE_START_MS;
    return vigil->started && vigil->running < vigil->ranks && quiet_ms >= START_MS;
}

bool vigil_is_over(struct vigil *vigil, pid_t launcher, int64_t now_ms)
{
    unsigned running = ranks_below(launcher, vigil->depth);
    if (running != vigil->running)
        vigil->changed_ms = now_ms;
    vigil->running = running;
    vigil->started |= running > 0;
    return is_through(vigil, now_ms - vigil->changed_ms);
}

int vigil_status(const struct vigil *vigil)
{
    if (!vigil->ended)
        return -1;
    return vigil->status != EXIT_STATUS_DONE ? vigil->status : vigil->others;
}
