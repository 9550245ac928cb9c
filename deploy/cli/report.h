/* SPDX-License-Identifier: MIT */
/* `hdss report` for other commands. */
#pragma once

#include "common/util/error.h"

/* Makes a page of a trace, a report, or both of one run. -1 with one line. */
int report_write_page(const char *const *files, unsigned count, const char *html, struct error *error);
