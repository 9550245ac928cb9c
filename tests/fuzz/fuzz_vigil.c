/* SPDX-License-Identifier: MIT */
/* The lines by which the ranks tell `hdss run` how it goes, out of a pipe that any process of the user may write to.
 * What is taken of them does not depend on how they were cut, and is a status, or nothing. */
#include "tests/fuzz/fuzz.h"
#include "common/util/error.h"
#include "deploy/cli/launcher_watch.h"

#include <unistd.h>

#define RANKS 9

/* A pipe has room for so much without a reader. */
#define PIECE_MAX 4096u

static void take(struct launcher_watch *watch, const uint8_t *bytes, size_t size, size_t piece)
{
    for (size_t at = 0; at < size; at += piece) {
        size_t count = size - at < piece ? size - at : piece;
        REQUIRE(write(watch->ends[1], bytes + at, count) == (ssize_t)count);
        launcher_watch_take(watch, (int64_t)at);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct launcher_watch begun; /* the pipes are those of all inputs: each is read to its end */
    if (size == 0)
        return 0;
    REQUIRE(begun.taken != NULL || launcher_watch_init(&begun, launch_world_real(), RANKS, 1, false, false) == 0);
    struct launcher_watch whole = begun, cut = begun;
    take(&whole, bytes + 1, size - 1, PIECE_MAX);
    take(&cut, bytes + 1, size - 1, bytes[0] % 32 + 1u);
    REQUIRE(whole.begun == cut.begun && whole.lead == cut.lead && whole.ended == cut.ended);
    REQUIRE(whole.draining == cut.draining && whole.over == cut.over);
    REQUIRE(whole.degraded == cut.degraded && launcher_watch_status(&whole) == launcher_watch_status(&cut));
    REQUIRE(launcher_watch_status(&whole) >= -1 && launcher_watch_status(&whole) <= EXIT_STATUS_DRAINED);
    REQUIRE(whole.length < sizeof whole.line);
    return 0;
}
