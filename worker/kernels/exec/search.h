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

/* The first executable file at these paths, or NULL; valid until the next call. Relative paths begin at the open
 * `folder`, or at the working directory if that is AT_FDCWD. */
const char *search_program(int folder, const char *folders, const char *name);

/* Searches for the program in the folders of $PATH, as search_program() does from the working directory. */
const char *search_in_path(const char *name);
