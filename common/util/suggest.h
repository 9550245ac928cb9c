/* SPDX-License-Identifier: MIT */
/* The name somebody probably meant: offer it all names there are, and it keeps the one nearest to the word. */
#pragma once

struct suggestion {
    const char *word;
    const char *name;  /* the best so far, NULL if none is near; borrowed */
    unsigned distance; /* twice the number of letters to change, and one more where the first letter differs */
};

void suggest_init(struct suggestion *nearest, const char *word);
void suggest_offer(struct suggestion *nearest, const char *name);
