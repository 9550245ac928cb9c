/* What the launcher can do: whether it is Open MPI's, and lets the others go on when a rank dies. */
#pragma once

#include "deploy/cli/compose.h"

/* Whether the ranks of this line-up can survive the loss of one: all on this machine, led by a supermaster, under Open
 * MPI 4, and the user does not want it otherwise. Asks the launcher for its version. */
bool openmpi_survives(const struct lineup *lineup);

/* The options for that. */
void openmpi_add_survival(const struct lineup *lineup, struct words *line);
