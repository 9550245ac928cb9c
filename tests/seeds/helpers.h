/* SPDX-License-Identifier: MIT */
/* A world (worker/exec/world.h) whose time passes as its owner says and whose helpers are made up: each takes commands
 * from its channel as serve() does, a step at a time, and dies, stops or is silent where its script says so. One world
 * is there at a time.
 *
 * Between any two readings of the clock by the worker a helper may have gone on, where the world is jittery. What
 * nobody may do is noted as `wrong`: to wait for a process that does not end, to compute an iteration again that is
 * done, to kill a helper within the limit of its iterations, to leave a process or a descriptor behind. */
#pragma once

#include "common/util/random.h"
#include "hdss/kernel.h"
#include "worker/exec/helper.h"
#include "worker/exec/output.h"

#include <stdbool.h>
#include <stdint.h>

#define HELPERS_MAX     200
#define HELPERS_LOOP    200 /* iterations */
#define HELPERS_STRIKES 4
#define HELPERS_NEVER   UINT64_MAX

/* Where something may happen to a helper. */
enum helpers_point {
    POINT_STARTED,  /* it has begun, and has taken no command */
    POINT_OPENED,   /* the kernel is open, or could not be opened; nothing is said of that */
    POINT_CLAIMED,  /* iterations are claimed, and none has begun */
    POINT_RAN,      /* an iteration is through, which nobody knows */
    POINT_DONE,     /* iterations are published as done */
    POINT_OVER,     /* the command is over, which nobody knows */
    POINT_ANSWERED, /* it has answered, and has not woken the worker */
    POINT_WAITS,    /* it is about to take another command */
    POINT_CLOSED,   /* it has closed the kernel */
    HELPERS_POINTS,
};

struct helpers_strike {
    enum helpers_point point;
    unsigned nth;      /* at the n-th time, from 1 on; 0: none */
    int status;        /* it ends so, as waitpid() gives it; 0: it does not end */
    uint64_t pause_ns; /* else it stands still for so long; HELPERS_NEVER: for good */
};

/* The life of a helper. */
struct helpers_script {
    bool no_process;     /* there is none to be had */
    bool no_descriptor;  /* for its end */
    bool refuses;        /* cannot open the kernel */
    bool is_slow_to_die; /* a signal takes a while */
    uint64_t start_ns, open_ns, close_ns;
    unsigned call; /* iterations of a call; 0: all */
    struct helpers_strike strike[HELPERS_STRIKES];
};

enum helpers_fate { FATE_LIVES, FATE_DIES, FATE_FAILS, FATE_FAILS_FOR_GOOD, FATE_HANGS };

/* An iteration, and what has been seen of it. */
struct helpers_iteration {
    enum helpers_fate fate;
    uint64_t ns;
    unsigned begun;      /* how often */
    unsigned interrupts; /* deaths of helpers, and failed calls, for which it may begin again */
    bool is_done;        /* published */
};

struct helpers {
    uint64_t now_ns;
    struct random *random; /* NULL: the world is not jittery */
    bool traces;
    bool no_threads; /* run_aside() has none */
    const struct hdss_loop *loop;
    bool has_bytes;    /* variable output is not empty */
    uint64_t limit_ns; /* of an iteration; 0: none */
    bool may_kill;     /* what is killed need not be late */
    bool once;         /* no iteration begins twice */
    struct helpers_iteration iteration[HELPERS_LOOP];
    struct helpers_script script[HELPERS_MAX]; /* by the order in which they begin; zeros: all is well */
    /* what has been seen */
    char wrong[200]; /* empty: nothing */
    unsigned begun, refused, ended, reaped, adopted, released;
    uint64_t waited_ns; /* in which the worker waited for a helper, since this was set to 0 */
    struct {
        int status;
        bool by_worker;        /* it was killed by its worker */
        uint64_t first, count; /* iterations that had begun and were not done */
        uint64_t stood_ns;     /* for so long */
        unsigned idle;         /* such deaths in a row with none, and nothing done before, this one included */
    } death;                   /* the latest */
};

extern struct helpers helpers;

/* Makes the world anew, without random numbers, and with iterations that take 10 us. */
void helpers_init(const struct hdss_loop *loop);

/* Reaps what was left to threads, and looks for what was left behind. */
void helpers_fini(void);

extern const struct helper_world helpers_world;

/* Begins the next helper, with the shared memory of its worker, of so many bytes. -1 with one line. */
pid_t helpers_begin(int file, int bell, size_t bytes, char error[HDSS_ERROR_MAX]);

/* Lets time pass, up to a moment; helpers do what is due. */
void helpers_pass(uint64_t until_ns);

/* When something is due next; HELPERS_NEVER: nothing is. */
uint64_t helpers_due(void);

/* Has the helper do its next step now. */
void helpers_step(void);

/* Somebody kills, or stops, the helper. */
void helpers_strike(int status);
void helpers_pause(uint64_t ns);

/* True where the latest one lives; where it has answered and has not come to wake its worker. */
bool helpers_lives(void);
bool helpers_has_news_to_tell(void);

/* Notes what is wrong, once. */
__attribute__((format(printf, 1, 2))) void helpers_blame(const char *format, ...);

/* A line of the trace. */
__attribute__((format(printf, 1, 2))) void helpers_tell(const char *format, ...);

/* The record of an iteration, its digest, and what it puts where the output is variable. */
uint64_t helpers_record(uint64_t iteration);
uint64_t helpers_digest(uint64_t first, uint64_t count);
