/* SPDX-License-Identifier: MIT */
/* Lists the paths at which a program may be: the name itself, or the name in each folder of PATH. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct search {
    char *folders;
    bool is_relative;
    char *name;
    char *text;
    const char **paths;
    size_t found;
};

/* `folders`: as in PATH; NULL: the usual folders. */
int search_init(struct search *search, const char *folders);
void search_fini(struct search *search);

/* Returns the paths to try for `name`, in order, ended by NULL; valid until the next call. search->found is kept if the
 * previous call had the same name and no folder is relative. */
const char *const *search_paths(struct search *search, const char *name);

/* The first executable file of that name in the folders of $PATH, or NULL; valid until the next call. */
const char *search_in_path(const char *name);
