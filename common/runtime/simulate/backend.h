/* What the backends of `hdss simulate` have in common: what they are given, and what they say of the outcome. */
#pragma once

#include "common/runtime/simulate/simulation.h"
#include "common/runtime/virtual/cluster.h"

/* Sets `*powers`, to be freed, to those of a file, or to NULL where they are measured. -1 with one line. */
int simulation_read_powers(const struct simulation *simulation, double **powers, struct error *error);

/* The line-up, the job and the service times, borrowed from the arguments. The network, the costs of the iterations and
 * what happens to the nodes are not in it. */
struct virtual_config simulation_configure(const struct simulation *simulation, const double *powers);

/* The summary and the report. Returns the exit status; -1 with one line where there is none, as the run hung. */
int simulation_say_result(const struct simulation *simulation, const struct virtual_result *result, const char *version,
                          struct error *error);
