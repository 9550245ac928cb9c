/* SPDX-License-Identifier: MIT */
/* power_file_parse(): the first byte is how many workers there are, less one; their ranks begin at 1, with a gap. What
 * follows is the file. It is refused with one line, or each worker has a power within the limits. */
#include "tests/fuzz/fuzz.h"
#include "common/config/power_file.h"
#include "common/sched/sched.h"
#include "common/util/error.h"

enum { WORKERS_MAX = 256, GAP_AFTER = 5, GAP = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    unsigned ranks[WORKERS_MAX], workers = size > 0 ? bytes[0] + 1u : 1;
    double powers[WORKERS_MAX];
    struct error error = {0};
    for (unsigned i = 0; i < workers; i++)
        ranks[i] = 1 + i + (i >= GAP_AFTER ? GAP : 0);
    char *text = fuzz_text(bytes + (size > 0), size > 0 ? size - 1 : 0);
    if (power_file_parse(text, ranks, workers, powers, &error) < 0)
        require_one_line(error.text);
    else
        for (unsigned i = 0; i < workers; i++)
            REQUIRE(powers[i] >= SCHED_POWER_MIN && powers[i] <= SCHED_POWER_MAX);
    free(text);
    return 0;
}
