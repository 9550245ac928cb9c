/* SPDX-License-Identifier: MIT */
/* The command line of a supermaster that serves a set. A set accepts jobs while it runs. When the set starts, the other
 * ranks receive this command line instead of the command line of a job. */
#pragma once

#include "common/config/address.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

#define SERVE_NAME_MAX 41
#define SERVE_PATH_MAX 1024
#define SERVE_AT_ONCE  8
#define SERVE_MOST     64

struct serve_options {
    char name[SERVE_NAME_MAX];
    /* folder of the queue and of the output of jobs; empty: a default folder, whose path contains `name` */
    char state[SERVE_PATH_MAX];
    unsigned at_once;
    uint64_t chunk_time_ns; /* how long a chunk may take while other jobs wait for its worker */
    uint64_t idle_ns;       /* the set ends after this time without a job; 0: never */
    bool resumes;
    bool after_loss; /* whether a set that was lost is started again; used only if `resumes` is set */
    bool forgets;
    bool group_even; /* value of --group-by; false means node, true means even, as in enum run_group_by */
    struct address http;
    bool listens;
    struct address listen; /* TCP address at which pods join; if its host is empty, pods join only by a local socket */
    char metrics_file[SERVE_PATH_MAX];
};

#define SERVE_CHUNK_TIME_TEXT  "a number of seconds from 0.001 to 60"
#define SERVE_CHUNK_TIME_MIN_S 0.001
#define SERVE_CHUNK_TIME_MAX_S 60
#define SERVE_CHUNK_TIME_NS    UINT64_C(10000000)

bool serve_is_asked(int argc, char *const *argv);

int serve_options_parse(struct serve_options *options, int argc, char *const *argv, struct error *error);

#define SERVE_LISTEN_TEXT "local, HOST:PORT or PORT"
int serve_parse_listen(const char *value, struct address *address, struct error *error);

int serve_parse_chunk_time(const char *value, uint64_t *ns);

/* Returns true if the name consists of letters, digits, '.', '_' and '-', and does not begin with '.', '-' or "run-",
 * the prefix of the names of runs. */
bool serve_is_name(const char *name);

char *serve_help_text(void);
