/* SPDX-License-Identifier: MIT */
/* The options of a shared loop, from name and value as on a command line. */
#pragma once

#include "common/config/job.h"
#include "common/sched/sched.h"
#include "common/util/error.h"

enum api_mode { API_CENTRAL, API_HIERARCHICAL, API_TWO_SIDED, API_RMA, API_NODE };

/* For numbers of iterations that may be left to the library. */
#define API_AUTO UINT64_MAX

#define API_NAME_MAX 64

/* The settings of one loop. Plain data: a loop keeps a copy. */
struct api_settings {
    enum api_mode mode;
    struct sched_spec technique, node_technique;
    bool technique_auto; /* `technique` is then what the first time step runs with */
    enum sched_weighting weighting;
    uint64_t min_chunk;
    uint64_t break_after;  /* iterations of a rank whom others ask, between two looks; API_AUTO; 0: never */
    uint64_t request_when; /* iterations that are left when the next chunk is asked for; API_AUTO; 0: none */
    uint64_t group_size;   /* ranks; 0: all of a node */
    bool thread;
    bool leader_idles;         /* rank 0 coordinates and computes nothing */
    char report[JOB_PATH_MAX]; /* empty: none */
    char name[API_NAME_MAX];   /* in the report */
};

struct hdss_options {
    void *unused[2]; /* the place that is most often overwritten in released memory */
    uint64_t magic;
    struct api_settings settings;
    double *powers; /* [power_count], owned; NULL: all the same */
    int power_count;
    struct error error;
};

void api_settings_init(struct api_settings *settings);

/* The options that must be equal on every rank, as one number. */
uint64_t api_settings_digest(const struct api_settings *settings);

/* True if these are options, and not what is left of some. */
bool api_options_are_valid(const struct hdss_options *options);
