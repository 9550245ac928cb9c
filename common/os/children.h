/* SPDX-License-Identifier: MIT */
/* The children that this process has started itself and waits for; all other children are adopted orphans. The jobs of
 * a set share one process, and a job must not treat the children of another job as orphans. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

void children_note(pid_t child);

/* Call it after waitpid(). Ignores unknown children. */
void children_forget(pid_t child);

bool children_have(pid_t child);
