/* SPDX-License-Identifier: MIT */
/* The name that the user probably meant: the nearest one of those offered. */
#pragma once

struct suggestion {
    const char *word;
    const char *name;  /* nearest so far; NULL: none is near; borrowed */
    unsigned distance; /* twice the edit distance, plus one if the first letter differs */
};

void suggest_init(struct suggestion *nearest, const char *word);
void suggest_offer(struct suggestion *nearest, const char *name);
