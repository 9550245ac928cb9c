/* SPDX-License-Identifier: MIT */
/* What the system promises, checked after a run of the virtual cluster: nothing lost, nothing counted twice, the same
 * checksum, no hang, and a failure only where nobody was left, or where a write or an allocation failed and it says so.
 */
#pragma once

#include "deploy/simulate/virtual/cluster.h"

/* NULL, or what did not hold. */
const char *oracle_check(const struct virtual_config *config, const struct virtual_result *result);
