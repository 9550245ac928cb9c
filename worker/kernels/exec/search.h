/* SPDX-License-Identifier: MIT */
/* Candidate paths of a program: its name, or in the folders of PATH. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct search {
    char *folders;      /* PATH; owned */
    bool is_relative;   /* a folder is relative */
    char *name;         /* latest name; owned */
    char *text;         /* the paths with their NULs; owned */
    const char **paths; /* ends with NULL; owned */
    size_t found;       /* index in `paths` where the program was found */
};

/* `folders` as in PATH; NULL: the usual ones. */
int search_init(struct search *search, const char *folders);
void search_fini(struct search *search);

/* The paths to try for `name`, in order, with NULL at the end; valid until the next call. `search->found` is kept while
 * the name stays the same. */
const char *const *search_paths(struct search *search, const char *name);

/* The first place of an executable file of that name in the folders of $PATH, or NULL; valid until the next call. */
const char *search_in_path(const char *name);
