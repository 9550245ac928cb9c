/* The filter for mpirun's boilerplate: see banner.h. */
#include "deploy/cli/banner.h"

#include <stdbool.h>
#include <string.h>

#define RULE        "--------------------------------------------------------------------------\n"
#define SKIPPED_MAX 2000 /* more than any of the texts has: the end was missed */

static const struct {
    const char *begin, *end;
} texts[] = {
    {RULE "Primary job  terminated normally, but ", "\n" RULE},
    {RULE "mpirun detected that one or more processes exited with non-zero status", "\n" RULE},
    {"mpirun: Forwarding signal ", "\n"},
};

void banner_init(struct banner *banner, void (*write)(void *context, const char *bytes, size_t count), void *context)
{
    *banner = (struct banner){.write = write, .context = context};
}

void banner_flush(struct banner *banner)
{
    if (banner->held_length > 0)
        banner->write(banner->context, banner->held, banner->held_length);
    banner->held_length = 0;
}

/* Is what is held the beginning of a text? Where it is the whole beginning, the rest is left out from here on. */
static bool may_begin(struct banner *banner)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strncmp(banner->held, texts[i].begin, banner->held_length) != 0)
            continue;
        if (texts[i].begin[banner->held_length] == '\0') {
            banner->end = texts[i].end;
            banner->end_length = banner->skipped = banner->held_length = 0;
        }
        return true;
    }
    return false;
}

/* The ends have a newline at both ends only, so that a mismatch can begin anew with the character at hand. */
static void skip(struct banner *banner, char c)
{
    if (banner->end[banner->end_length] != c)
        banner->end_length = 0;
    if (banner->end[banner->end_length] == c)
        banner->end_length++;
    if (banner->end[banner->end_length] == '\0' || ++banner->skipped == SKIPPED_MAX)
        banner->end = NULL;
}

static void take(struct banner *banner, char c)
{
    if (banner->end != NULL) {
        skip(banner, c);
        return;
    }
    banner->held[banner->held_length++] = c;
    while (banner->held_length > 0 && !may_begin(banner)) {
        banner->write(banner->context, banner->held, 1);
        memmove(banner->held, banner->held + 1, --banner->held_length);
    }
}

void banner_take(struct banner *banner, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        take(banner, bytes[i]);
}
