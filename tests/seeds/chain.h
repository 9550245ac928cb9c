/* SPDX-License-Identifier: MIT */
/* Runs one after the other, each with --resume from what those before it have recorded, and the oracle after each. */
#pragma once

#include "common/service/poison.h"
#include "common/util/ranges.h"
#include "deploy/simulate/virtual/cluster.h"
#include "tests/seeds/memory.h"

/* What a chain's status is beside those of a run. */
enum { CHAIN_NOT_SET_UP = -3, CHAIN_NOT_BEGUN = -4 };

struct chain {
    struct ranges done;   /* recorded so far */
    struct ranges failed; /* of it, what the kernel calls failed, as far as it does so in the run that follows */
    uint64_t digest;      /* of it */
    uint64_t point_at;    /* boundary of the recovery point that the next run goes on from; 0: none */
    unsigned char *point; /* its data; owned */
    bool keeps_deaths;    /* deaths count from run to run; else each run begins without them */
    struct poison_set deaths;
    int status;    /* of the latest run */
    unsigned hits; /* faults of all kinds that came to pass in it */
    void (*seen)(const struct virtual_config *config, const struct virtual_result *result); /* after a run; NULL */
    /* After a run; returns NULL, or what did not hold. NULL: the oracle says all. */
    const char *(*judge)(const struct virtual_config *config, const struct virtual_result *result);
};

void chain_init(struct chain *chain);
void chain_fini(struct chain *chain);

/* What is given up is tried again in the next run, as with --resume failed. */
void chain_forgive(struct chain *chain);

/* One run more; `config` says everything but what is done. NULL, or what did not hold. */
const char *chain_run(struct chain *chain, struct virtual_config *config, const struct refusal *refusal);

/* What was recorded in a run is done for the next one. NULL, or what did not hold. */
const char *chain_take_over(struct chain *chain, const struct virtual_result *result);
