/* SPDX-License-Identifier: MIT */
/* Options of a shared loop. */
#pragma once

#include "common/config/job.h"
#include "common/sched/sched.h"
#include "common/util/error.h"

enum api_mode { API_CENTRAL, API_HIERARCHICAL, API_TWO_SIDED, API_RMA, API_NODE };

/* Number of iterations chosen by the library. */
#define API_AUTO UINT64_MAX

#define API_NAME_MAX 64

/* Settings of a loop; plain data that the loop copies. */
struct api_settings {
    enum api_mode mode;
    struct sched_spec technique, node_technique;
    bool technique_auto; /* `technique` is used in the first time step */
    enum sched_weighting weighting;
    uint64_t min_chunk;
    uint64_t break_after;  /* iterations of a serving rank between two checks for requests; API_AUTO; 0: never */
    uint64_t request_when; /* remaining iterations at which the next chunk is requested; API_AUTO; 0: none */
    uint64_t group_size;   /* ranks; 0: all of a node */
    bool thread;
    bool leader_idles;         /* rank 0 coordinates and does not compute */
    char report[JOB_PATH_MAX]; /* empty: none */
    char name[API_NAME_MAX];
};

struct hdss_options {
    void *unused[2]; /* padding: the start of freed memory is often overwritten */
    uint64_t magic;
    struct api_settings settings;
    double *powers; /* [power_count] owned; NULL: equal */
    int power_count;
    struct error error;
};

void api_settings_init(struct api_settings *settings);

/* Hash of the options that must be equal on all ranks. */
uint64_t api_settings_digest(const struct api_settings *settings);

/* False for freed options. */
bool api_options_are_valid(const struct hdss_options *options);
