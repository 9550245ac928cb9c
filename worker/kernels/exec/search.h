/* SPDX-License-Identifier: MIT */
/* The places of a program: its name as it stands, or in the folders of PATH. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct search {
    char *folders;      /* PATH; owned */
    bool is_relative;   /* a folder of it is not absolute: places depend on where a task runs */
    char *name;         /* the one that was looked for last; owned */
    char *text;         /* the paths, each with its NUL; owned */
    const char **paths; /* ended by NULL; owned */
    size_t found;       /* place in `paths` at which whoever runs the program has found it */
};

/* `folders` as PATH has them; NULL: the usual ones. -1 when memory is out. */
int search_init(struct search *search, const char *folders);
void search_fini(struct search *search);

/* The places to try for `name`, in order, ended by NULL; valid until the next call, as is `search->found`, which goes
 * on to count while the name stays the same. NULL when memory is out. */
const char *const *search_paths(struct search *search, const char *name);
