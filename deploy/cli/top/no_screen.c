/* SPDX-License-Identifier: MIT */
/* A build without ncurses: see screen.h. */
#include "deploy/cli/top/screen.h"

int top_screen_open(struct error *error)
{
    return error_set(error, "this build has no ncurses, which the screen takes; accepted: --once, or a build with "
                            "ncurses (Debian: libncurses-dev)");
}

void top_screen_close(void)
{
}

void top_screen_size(unsigned *columns, unsigned *lines)
{
    *columns = *lines = 0;
}

void top_screen_show(const struct page *page)
{
    (void)page;
}

enum top_key top_screen_key(int timeout_ms, bool *is_resized)
{
    (void)timeout_ms;
    *is_resized = false;
    return TOP_KEY_NONE;
}
