/* SPDX-License-Identifier: MIT */
/* Finds the name that the user probably meant: the nearest of the offered names. */
#pragma once

struct suggestion {
    const char *word;
    const char *name;
    /* twice the edit distance between `name` and the word, plus one if their first letters differ; 2 if `name` begins
     * with the word */
    unsigned distance;
};

void suggest_init(struct suggestion *nearest, const char *word);
void suggest_offer(struct suggestion *nearest, const char *name);
