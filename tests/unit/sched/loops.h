/* SPDX-License-Identifier: MIT */
/* Loops for the tests of the techniques, prepared in one line. */
#pragma once

#include "common/sched/sched.h"
#include "common/util/error.h"
#include "tests/lib/asserts.h"

#include <inttypes.h>

static inline struct sched_spec spec_of(const char *text)
{
    struct sched_spec spec;
    struct error error;
    if (sched_spec_parse(&spec, text, &error) < 0)
        ck_abort_msg("%s", error.text);
    return spec;
}

static inline struct sched loop_with(const char *text, const struct sched_config *config)
{
    struct sched_spec spec = spec_of(text);
    struct sched sched;
    struct error error;
    if (sched_init(&sched, &spec, config, &error) < 0)
        ck_abort_msg("%s: %s", text, error.text);
    return sched;
}

static inline struct sched loop_of(const char *text, uint64_t iterations, unsigned workers)
{
    struct sched_config config = {.iterations = iterations, .workers = workers};
    return loop_with(text, &config);
}
