/* SPDX-License-Identifier: MIT */
/* The name somebody probably meant: offer it all names there are, and it keeps the one nearest to the word. */
#pragma once

struct nearest {
    const char *word;
    const char *name; /* the best so far, NULL if none is near; borrowed */
    unsigned distance;
};

void nearest_init(struct nearest *nearest, const char *word);
void nearest_offer(struct nearest *nearest, const char *name);
