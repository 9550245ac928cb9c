/* SPDX-License-Identifier: MIT */
/* The places of a program: its name as it stands, or in the folders of PATH. */
#pragma once

#include <stddef.h>

struct search {
    char *folders;      /* PATH; owned */
    char *name;         /* the one that was looked for last; owned */
    char *text;         /* the paths, each with its NUL; owned */
    const char **paths; /* ended by NULL; owned */
};

/* `folders` as PATH has them; NULL: the usual ones. -1 when memory is out. */
int search_init(struct search *search, const char *folders);
void search_fini(struct search *search);

/* The places to try for `name`, in order, ended by NULL; valid until the next call. NULL when memory is out. */
const char *const *search_paths(struct search *search, const char *name);
