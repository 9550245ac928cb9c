/* SPDX-License-Identifier: MIT */
/* Nearest names by edit distance: see suggest.h. */
#include "common/util/suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define WORD_MAX 40

static bool is_alike(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned suggest_least(unsigned a, unsigned b, unsigned c)
{
    unsigned ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Optimal string alignment distance (Levenshtein with transpositions) of two words of at most WORD_MAX characters. */
static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned cost[WORD_MAX + 1][WORD_MAX + 1];
    for (size_t i = 0; i <= a_length; i++)
        cost[i][0] = (unsigned)i;
    for (size_t j = 0; j <= b_length; j++)
        cost[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        for (size_t j = 1; j <= b_length; j++) {
            unsigned change = cost[i - 1][j - 1] + !is_alike(a[i - 1], b[j - 1]);
            cost[i][j] = suggest_least(cost[i - 1][j] + 1, cost[i][j - 1] + 1, change);
            if (i > 1 && j > 1 && is_alike(a[i - 1], b[j - 2]) && is_alike(a[i - 2], b[j - 1]))
                cost[i][j] = suggest_least(cost[i][j], cost[i][j], cost[i - 2][j - 2] + 1);
        }
    }
    return cost[a_length][b_length];
}

void suggest_init(struct suggestion *nearest, const char *word)
{
    /* Names at this distance or beyond are not suggested. If the word has up to three letters, the edit distance may be
     * at most 1. For a longer word it may be at most a third of the word's length plus 1. */
    const size_t length = strlen(word);
    *nearest = (struct suggestion){.word = word, .distance = length <= 3 ? 4 : 2 * ((unsigned)(length / 3) + 2)};
}

void suggest_offer(struct suggestion *nearest, const char *name)
{
    size_t length = strlen(nearest->word), name_length = strlen(name);
    if (length == 0 || length > WORD_MAX || name_length > WORD_MAX)
        return;
    bool begins = length >= 3 && strncasecmp(nearest->word, name, length) == 0;
    /* of two names with the same edit distance, the one with the same first letter as the word wins */
    unsigned d =
        begins ? 2 : 2 * distance(nearest->word, length, name, name_length) + !is_alike(nearest->word[0], name[0]);
    if (d < nearest->distance) {
        nearest->distance = d;
        nearest->name = name;
    }
}
