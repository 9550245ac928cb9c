/* SPDX-License-Identifier: MIT */
/* When a run of tasks is to stop before its end: --halt, as GNU parallel has it. A small machine that is fed with
 * counts. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

#define HALT_ACCEPTED                                                                                                  \
    "never, now,fail=N, soon,fail=N, and success or done in the place of fail, N% for a part of all tasks"
#define HALT_TEXT_MAX 120

/* SOON: nothing begins any more; NOW: what runs is ended, too. */
enum halt_state { HALT_NO, HALT_SOON, HALT_NOW };
enum halt_why { HALT_FAIL, HALT_SUCCESS, HALT_DONE };

/* All zero: never. */
struct halt {
    enum halt_state when; /* HALT_NO: never */
    enum halt_why why;
    uint64_t count; /* tasks; 0: `percent` counts */
    double percent;
    enum halt_state state; /* what was said last */
    uint64_t reached;      /* tasks that have been there then */
    uint64_t failed;
};

/* Takes "never", "now,fail=1", "soon,success=10%", and GNU parallel's older numbers 0, 1, 2, -1, -2 and N%. -1 with an
 * empty line: HALT_ACCEPTED says what is. */
int halt_parse(struct halt *halt, const char *text, struct error *error);

/* Takes the counts of tasks so far: `done` with those that failed. `all` is 0 as long as it is not known how many there
 * will be: until then no percentage is reached. What has been said is not taken back. */
enum halt_state halt_look(struct halt *halt, uint64_t done, uint64_t failed, uint64_t all);

/* The exit status of a run that was stopped so. */
enum exit_status halt_status(const struct halt *halt);

/* "--halt: 3 tasks have failed: nothing begins any more". Returns `text`. */
const char *halt_text(const struct halt *halt, char text[HALT_TEXT_MAX]);
