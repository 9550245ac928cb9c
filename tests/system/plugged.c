/* SPDX-License-Identifier: MIT */
/* Techniques for the tests of plug-ins, one by each way of compiling this file. Each process that loads it adds its
 * name to the file loads.txt in the folder where it is.
 *
 * PLUGGED_SHARES: each worker gets its share of the loop by its power, at once. PLUGGED_LEARNS: chunks of one iteration
 * until anything is measured, then of `later`. Else: chunks of `size`, whatever the loop, which may then grow; after
 * three of 14 it has failed. */
#include <hdss/technique.h>

#include <stdio.h>

#ifndef PLUGGED_ABI
#define PLUGGED_ABI HDSS_TECHNIQUE_ABI
#endif

static const struct hdss_technique_param params[] = {
    {"size", HDSS_TECHNIQUE_INTEGER, "10", NULL, 0, 1e6, NULL, "iterations of each chunk"},
    {"later", HDSS_TECHNIQUE_INTEGER, "50", NULL, 1, 1e6, NULL, "iterations of each chunk, once something is measured"},
    {NULL, HDSS_TECHNIQUE_INTEGER, NULL, NULL, 0, 0, NULL, NULL},
};

struct plugged {
    const struct hdss_technique_loop *loop;
    double power_sum;
    uint64_t measured; /* iterations */
};

__attribute__((constructor)) static void note_load(void)
{
    char name[64] = "";
    FILE *own = fopen("/proc/self/comm", "re"), *loads = fopen("loads.txt", "ae");
    if (own != NULL && loads != NULL && fgets(name, sizeof name, own) != NULL)
        fputs(name, loads);
    if (own != NULL)
        fclose(own);
    if (loads != NULL)
        fclose(loads);
}

static int init(void *state, const struct hdss_technique_loop *loop, char error[HDSS_TECHNIQUE_ERROR_MAX])
{
    struct plugged *plugged = state;
    plugged->loop = loop;
    for (uint32_t j = 0; loop->powers != NULL && j < loop->workers; j++)
        plugged->power_sum += loop->powers[j];
    if (loop->values[0].integer != 13)
        return 0;
    snprintf(error, HDSS_TECHNIQUE_ERROR_MAX, "size=13 is bad luck: accepted is another");
    return -1;
}

static uint64_t next(void *state, const struct hdss_technique_request *request)
{
    const struct plugged *plugged = state;
    const struct hdss_technique_loop *loop = plugged->loop;
#if defined PLUGGED_SHARES
    return (uint64_t)((double)loop->iterations * loop->powers[request->worker] / plugged->power_sum) + 1;
#elif defined PLUGGED_LEARNS
    (void)request;
    return plugged->measured > 0 ? loop->values[1].integer : 1;
#else
    if (loop->values[0].integer != 14 || request->step < 3)
        return loop->values[0].integer;
    snprintf(request->error, HDSS_TECHNIQUE_ERROR_MAX, "three chunks of 14 are enough");
    return HDSS_TECHNIQUE_FAILED;
#endif
}

#ifdef PLUGGED_LEARNS
static void feedback(void *state, const struct hdss_technique_feedback *told)
{
    ((struct plugged *)state)->measured += told->iterations;
}
#endif

HDSS_TECHNIQUE(hdss_technique) = {
    .abi = PLUGGED_ABI,
    .name = "plugged",
    .title = "what plug-ins can do",
    .rule = "K = size",
    .params = params,
    .state_bytes = sizeof(struct plugged),
    .init = init,
#ifndef PLUGGED_NO_NEXT
    .next = next,
#endif
#ifdef PLUGGED_SHARES
    .is_weighted = true,
    .powers = HDSS_TECHNIQUE_BY_MEAN,
#endif
#ifdef PLUGGED_LEARNS
    .feedback = feedback,
#endif
#if !defined PLUGGED_SHARES && !defined PLUGGED_LEARNS
    .may_grow = true,
#endif
};
