/* SPDX-License-Identifier: MIT */
/* The terminal that `hdss top` has for itself: by ncurses, or in a build without it there is none. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/top/page.h"
#include "deploy/cli/top/ui.h"

/* Takes the terminal. -1 with one line where there is none, or no ncurses. */
int top_screen_open(struct error *error);

/* Gives it back as it was. Once more changes nothing. */
void top_screen_close(void);

/* Columns and lines that it has now. */
void top_screen_size(unsigned *columns, unsigned *lines);

void top_screen_show(const struct page *page);

/* Waits for a key for so long; TOP_KEY_NONE: there was none. `*is_resized`: the terminal has another size. */
enum top_key top_screen_key(int timeout_ms, bool *is_resized);
