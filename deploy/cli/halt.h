/* SPDX-License-Identifier: MIT */
/* Decides when a run of tasks stops early: --halt, as in GNU parallel. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

#define HALT_ACCEPTED                                                                                                  \
    "never, now,fail=N, soon,fail=N, and success or done in the place of fail, N% for a part of all tasks"
#define HALT_TEXT_MAX 120

/* SOON: no further task begins. NOW: running tasks are ended, too. */
enum halt_state { HALT_NO, HALT_SOON, HALT_NOW };
enum halt_why { HALT_FAIL, HALT_SUCCESS, HALT_DONE };

struct halt {
    enum halt_state when;
    enum halt_why why;
    uint64_t count; /* number of tasks; 0: `percent` applies */
    double percent;
    enum halt_state state;
    uint64_t reached;
    uint64_t failed;
};

/* Parses "never", "now,fail=1", "soon,success=10%", or the older numbers of GNU parallel: 0, 1, 2, -1, -2 and N%. If it
 * returns -1, `error` is empty, and HALT_ACCEPTED says what is accepted. */
int halt_parse(struct halt *halt, const char *text, struct error *error);

/* `done`: finished tasks, including failed ones. `all`: number of tasks; 0: unknown, so a limit in percent is not
 * reached yet. After HALT_SOON or HALT_NOW all further calls return the same result. */
enum halt_state halt_look(struct halt *halt, uint64_t done, uint64_t failed, uint64_t all);

enum exit_status halt_status(const struct halt *halt);

const char *halt_text(const struct halt *halt, char text[HALT_TEXT_MAX]);
