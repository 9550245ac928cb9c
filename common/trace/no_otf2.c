/* SPDX-License-Identifier: MIT */
/* A build without libotf2: -Dotf2=disabled, or it was not found. */
#include "common/trace/writer.h"

static int refuse_otf2(const char *path, struct error *error)
{
    return error_set(error,
                     "%.200s: this build has no libotf2; accepted: .csv or .pftrace, or a build with libotf2 (Debian: "
                     "libopen-trace-format2-dev)",
                     path);
}

const struct trace_format trace_otf2 = {.ending = ".otf2", .check = refuse_otf2};
