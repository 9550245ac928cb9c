/* SPDX-License-Identifier: MIT */
/* Defaults of a run specification, and what follows from its technique: see run_spec.h. */
#include "common/config/run_spec.h"

#include <stdio.h>
#include <string.h>

void run_spec_init(struct run_spec *spec)
{
    *spec = (struct run_spec){
        .min_chunk = 1,
        .refill_chunks = 1,
        .power = RUN_POWER_MEASURE,
        .threads = 1,
        .retries = RUN_RETRIES,
        .node_failures = RUN_NODE_FAILURES,
        .drain_ns = RUN_DRAIN_S * UINT64_C(1000000000),
    };
    sched_spec_parse(&spec->technique, RUN_TECHNIQUE, NULL);
    sched_spec_parse(&spec->thread_technique, RUN_THREAD_TECHNIQUE, NULL);
}

/* Composes the error. If the name of the technique is unknown, `auto` is added to the accepted names. */
static int refuse_unknown_technique(const char *value, const struct error *reason, struct error *error)
{
    char name[SCHED_SPEC_TEXT_MAX];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(value, ":"), value);
    if (sched_find(name) != NULL)
        return error_set(error, "%s", reason->text);
    if (strcasecmp(name, RUN_TECHNIQUE_AUTO) == 0)
        return error_set(error, "technique '%.100s' is not accepted: " RUN_TECHNIQUE_AUTO " has no parameters", value);
    return error_set(error, "%s; or " RUN_TECHNIQUE_AUTO, reason->text);
}

int run_spec_set_technique(struct run_spec *spec, const char *value, struct error *error)
{
    struct error reason;
    bool automatic = strcasecmp(value, RUN_TECHNIQUE_AUTO) == 0;
    if (sched_spec_parse(&spec->technique, automatic ? RUN_TECHNIQUE : value, &reason) < 0)
        return refuse_unknown_technique(value, &reason, error);
    spec->technique_auto = automatic;
    return 0;
}

void run_spec_hand_out_singly(struct run_spec *spec)
{
    sched_spec_parse(&spec->technique, RUN_TECHNIQUE_SINGLE, NULL);
    spec->technique_by_kernel = true;
}

bool run_spec_probes(const struct run_spec *spec)
{
    bool for_auto = spec->technique_auto && !spec->chosen_late;
    return spec->power == RUN_POWER_MEASURE || for_auto || sched_spec_probes(&spec->technique);
}

bool run_spec_wants_swr(const struct run_spec *spec)
{
    const struct technique_param *params = spec->technique.technique->params;
    if (spec->technique_auto)
        return true;
    for (unsigned i = 0; params != NULL && params[i].name != NULL; i++)
        if (params[i].measured == SCHED_MEASURED_BY_PROBE && !spec->technique.given[i] &&
            strcmp(params[i].name, "swr") == 0)
            return true;
    return false;
}

bool run_spec_learns(const struct run_spec *spec)
{
    return spec->technique_auto || sched_spec_learns(&spec->technique);
}
