/* SPDX-License-Identifier: MIT */
/* The paths at which a program may be: its name, or its name in each folder of PATH. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct search {
    char *folders;      /* PATH; owned */
    bool is_relative;   /* some folder is relative */
    char *name;         /* the latest one; owned */
    char *text;         /* the paths, each with its NUL; owned */
    const char **paths; /* ended by NULL; owned */
    size_t found;       /* index in `paths` at which the program was found */
};

/* `folders` as in PATH; NULL: the usual ones. */
int search_init(struct search *search, const char *folders);
void search_fini(struct search *search);

/* The paths to try for `name`, in order, ended by NULL; valid until the next call. Keeps `found` if the name is the
 * same as before. */
const char *const *search_paths(struct search *search, const char *name);

/* The first executable file of that name in the folders of $PATH, or NULL; valid until the next call. */
const char *search_in_path(const char *name);
