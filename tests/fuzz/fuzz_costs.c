/* SPDX-License-Identifier: MIT */
/* synthetic_read_costs(): the first byte is how many costs are wanted, what follows is the file. It is refused with a
 * reason, or each cost is one that a kernel can wait for. */
#include "tests/fuzz/fuzz.h"
#include "worker/kernels/synthetic.h"

#include "hdss/kernel.h"

#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char path[FUZZ_PATH_MAX], reason[HDSS_ERROR_MAX] = "";
    uint64_t count = size > 0 ? bytes[0] : 0;
    int fd = fuzz_file(bytes + (size > 0), size > 0 ? size - 1 : 0, path);
    double *costs = synthetic_read_costs(path, count, reason, sizeof reason);
    REQUIRE((costs == NULL) == (reason[0] != '\0'));
    REQUIRE(costs != NULL || memchr(reason, '\0', sizeof reason) != NULL);
    for (uint64_t i = 0; costs != NULL && i < count; i++)
        REQUIRE(costs[i] >= 0 && costs[i] <= SYNTHETIC_COST_MAX_US);
    free(costs);
    close(fd);
    return 0;
}
