/* SPDX-License-Identifier: MIT */
/* On what a run was made: for every row of the table, and for the report. */
#pragma once

#include "deploy/cli/study/csv.h"

struct machine {
    char processor[128], cores[16], memory[32], system[160], host[80];
};

void machine_look(struct machine *machine);

/* With the version and the commit of this program. */
void machine_write(const struct machine *machine, struct csv *csv, size_t row);

/* The commit from which this program was built; "unknown" where neither git nor an archive of git's could tell. */
extern const char hdss_commit[];
