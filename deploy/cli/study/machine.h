/* SPDX-License-Identifier: MIT */
/* On what a run was made: for every row of the table, and for the report. */
#pragma once

#include "deploy/cli/study/csv.h"

#include <stdint.h>

struct machine {
    char processor[128], cores[16], memory[32], system[160], host[80];
    char load[16], governor[32], noise[16]; /* before the latest run; empty: not known. `noise`: percent */
};

void machine_look(struct machine *machine);

/* Looks how calm the machine is at this moment, before a run: its load average of a minute, the governor of its clock,
 * and how much of its time a core loses. That is measured by quanta of work (Sottile and Minnich 2004), which are all
 * the same: what they take beyond so many times the shortest of them is lost, to other processes and to the system. It
 * takes some ten milliseconds where nothing else runs. */
void machine_look_at_noise(struct machine *machine);

/* Notes nothing of it, for a run that does not depend on it. */
void machine_forget_noise(struct machine *machine);

/* The percentage of their time that quanta of work have lost. 0 where they took no time. */
double machine_noise_of(const uint64_t *quanta_ns, unsigned count);

/* With the version and the commit of this program. */
void machine_write(const struct machine *machine, struct csv *csv, size_t row);

/* The commit from which this program was built; "unknown" where neither git nor an archive of git's could tell. */
extern const char hdss_commit[];
