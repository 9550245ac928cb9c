/* SPDX-License-Identifier: MIT */
/* The name that was probably meant: keeps the nearest of all offered names. */
#pragma once

struct suggestion {
    const char *word;
    const char *name;  /* best so far, NULL if none is near; borrowed */
    unsigned distance; /* twice the edit distance, plus one if the first letter differs */
};

void suggest_init(struct suggestion *nearest, const char *word);
void suggest_offer(struct suggestion *nearest, const char *name);
