/* What the launcher can do: whether it is Open MPI's, and lets the others go on when a rank dies. */
#pragma once

#include "deploy/cli/compose.h"

/* Whether the user tells the launcher of machines by options of its own. */
bool openmpi_is_told_hosts(const struct lineup *lineup);

/* Whether the ranks of this line-up can survive the loss of one: led by a supermaster on this machine, under Open
 * MPI 4, and the user does not want it otherwise. Asks the launcher for its version. */
bool openmpi_survives(const struct lineup *lineup);

/* The options for that. */
void openmpi_add_survival(const struct lineup *lineup, struct words *line);
