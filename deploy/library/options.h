/* SPDX-License-Identifier: MIT */
/* Options of a shared loop. */
#pragma once

#include "common/config/job.h"
#include "common/sched/sched.h"
#include "common/util/error.h"

enum api_mode { API_CENTRAL, API_HIERARCHICAL, API_TWO_SIDED, API_RMA, API_NODE };

#define API_AUTO UINT64_MAX

#define API_NAME_MAX 64

struct api_settings {
    enum api_mode mode;
    struct sched_spec technique, node_technique;
    bool technique_auto;
    enum sched_weighting weighting;
    uint64_t min_chunk;
    uint64_t break_after; /* iterations between two checks for requests, or API_AUTO; 0: no checks */
    /* The next chunk is requested when this many iterations of the present chunk remain; 0: at its end; or API_AUTO. */
    uint64_t request_when;
    uint64_t group_size; /* ranks in a group; 0: all ranks of a node */
    bool thread;
    bool leader_idles;
    char report[JOB_PATH_MAX];
    char name[API_NAME_MAX];
};

struct hdss_options {
    /* keeps `magic` away from the first bytes, which are often overwritten after memory was freed */
    void *unused[2];
    uint64_t magic;
    struct api_settings settings;
    double *powers;
    int power_count;
    struct error error;
};

void api_settings_init(struct api_settings *settings);

uint64_t api_settings_digest(const struct api_settings *settings);

bool api_options_are_valid(const struct hdss_options *options);
