/* SPDX-License-Identifier: MIT */
/* Decides when a run of tasks stops early: --halt, as of GNU parallel. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

#define HALT_ACCEPTED                                                                                                  \
    "never, now,fail=N, soon,fail=N, and success or done in the place of fail, N% for a part of all tasks"
#define HALT_TEXT_MAX 120

/* SOON: no further task begins; NOW: running tasks are ended as well. */
enum halt_state { HALT_NO, HALT_SOON, HALT_NOW };
enum halt_why { HALT_FAIL, HALT_SUCCESS, HALT_DONE };

struct halt {
    enum halt_state when; /* HALT_NO: never */
    enum halt_why why;
    uint64_t count; /* number of tasks; 0: use `percent` */
    double percent;
    enum halt_state state; /* last result */
    uint64_t reached;      /* tasks counted at that moment */
    uint64_t failed;
};

/* Takes "never", "now,fail=1", "soon,success=10%", and GNU parallel's older numbers 0, 1, 2, -1, -2 and N%. Returns -1
 * without a text; HALT_ACCEPTED lists the accepted forms. */
int halt_parse(struct halt *halt, const char *text, struct error *error);

/* `done`: finished tasks, failed ones included. `all`: 0 while unknown; percentages are then not reached. The result
 * never decreases. */
enum halt_state halt_look(struct halt *halt, uint64_t done, uint64_t failed, uint64_t all);

/* Exit status of a run that --halt has stopped. */
enum exit_status halt_status(const struct halt *halt);

const char *halt_text(const struct halt *halt, char text[HALT_TEXT_MAX]);
