/* SPDX-License-Identifier: MIT */
/* The children of this process that it has begun itself, and waits for: any other one is an orphan that came to it from
 * elsewhere. Several jobs of a set have children in one process, and none may take those of another for orphans. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Notes a child right after it was begun. */
void children_note(pid_t child);

/* Forgets one that was waited for; nothing where it was not noted. */
void children_forget(pid_t child);

bool children_have(pid_t child);
