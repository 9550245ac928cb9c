/* SPDX-License-Identifier: MIT */
/* The name that the user probably meant: the nearest of the offered names. */
#pragma once

struct suggestion {
    const char *word;
    const char *name;
    unsigned distance; /* distance of `name`: twice the edit distance, plus one if the first letters differ */
};

void suggest_init(struct suggestion *nearest, const char *word);
void suggest_offer(struct suggestion *nearest, const char *name);
