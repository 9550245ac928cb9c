/* SPDX-License-Identifier: MIT */
/* The child processes that this process has started itself and waits for. All other children are adopted orphans. The
 * jobs of a set share one process, and no job may treat a child of another job as an orphan. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

void children_note(pid_t child);

/* Must be called after waitpid() has returned this child. Ignores unknown children. */
void children_forget(pid_t child);

bool children_have(pid_t child);
