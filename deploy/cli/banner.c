/* The filter for mpirun's boilerplate: see banner.h. */
#include "deploy/cli/banner.h"

#include <stdbool.h>
#include <string.h>

enum { DASHES_MIN = 70, SKIPPED_MAX = 16 };

static const char *const heads[] = {
    "Primary job  terminated normally, but ",
    "mpirun detected that one or more processes exited with non-zero status",
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

/* Is what stands behind the row of dashes the beginning of a head (or all of it)? */
static bool may_be_head(const struct banner *banner, bool *complete)
{
    const char *line = banner->held + banner->held_length - banner->line_length;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        if (strncmp(line, heads[i], banner->line_length) == 0) {
            *complete = heads[i][banner->line_length] == '\0';
            return true;
        }
    }
    return false;
}

static void begin_line(struct banner *banner, enum banner_state state)
{
    banner->state = state;
    banner->line_length = 0;
    banner->dashes = 0;
}

/* Takes one more character of a line of dashes; false when it is none. */
static bool take_dash(struct banner *banner, char c)
{
    if (c == '\n' && banner->dashes >= DASHES_MIN) {
        banner->held[banner->held_length++] = c;
        begin_line(banner, BANNER_HEAD);
        return true;
    }
    if (c != '-' || banner->dashes >= sizeof banner->held / 2)
        return false;
    banner->held[banner->held_length++] = c;
    banner->dashes++;
    banner->state = BANNER_DASHES;
    return true;
}

static bool take_head(struct banner *banner, char c)
{
    bool complete;
    banner->held[banner->held_length++] = c;
    banner->line_length++;
    if (!may_be_head(banner, &complete)) {
        banner->held_length--;
        return false;
    }
    if (complete) {
        banner->held_length = 0;
        banner->skipped = 0;
        banner->state = BANNER_SKIP;
    }
    return true;
}

/* Until the closing row of dashes, or until it is clear that something else came. */
static void skip(struct banner *banner, char c)
{
    banner->line_length++;
    banner->dashes += c == '-';
    if (c != '\n')
        return;
    bool closed = banner->dashes >= DASHES_MIN && banner->dashes == banner->line_length - 1;
    bool over = closed || ++banner->skipped == SKIPPED_MAX;
    begin_line(banner, over ? BANNER_LINE_START : BANNER_SKIP);
}

static void pass(struct banner *banner, char c)
{
    banner->write(banner->context, &c, 1);
    if (c == '\n')
        begin_line(banner, BANNER_LINE_START);
    else
        banner->state = BANNER_INSIDE;
}

static void take(struct banner *banner, char c)
{
    switch (banner->state) {
    case BANNER_SKIP: skip(banner, c); return;
    case BANNER_INSIDE: pass(banner, c); return;
    case BANNER_HEAD:
        if (take_head(banner, c))
            return;
        banner_flush(banner);
        if (banner->line_length > 1) {
            pass(banner, c);
            return;
        }
        begin_line(banner, BANNER_LINE_START); /* the first character: it may begin a row of dashes itself */
        break;
    case BANNER_LINE_START:
    case BANNER_DASHES: break;
    }
    if (take_dash(banner, c))
        return;
    banner_flush(banner);
    pass(banner, c);
}

void banner_take(struct banner *banner, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        take(banner, bytes[i]);
}
