/* SPDX-License-Identifier: MIT */
/* costs_parse(), costs_distributed() and costs_of_profile(), what `hdss simulate --costs` takes. The first byte says
 * which (odd: a distribution), the second and third which part of the loop it is for. Each is refused with one line, or
 * the costs of the part are finite, not negative, and those of two halves are together those of the whole; also when
 * the workers of a file are told apart. */
#include "tests/fuzz/fuzz.h"
#include "common/util/error.h"
#include "worker/kernels/costs/costs.h"
#include "worker/kernels/costs/profile.h"

#include <math.h>
#include <string.h>

/* The first byte of a profile. */
#define PROFILE 0xfe

/* From this one on, parts are at the end of the longest loop. */
#define FIRST_LATE 200

/* Sums begin with the file; the part may be behind some 10^17 ns. */
#define ROUNDING_NS 1e3

static double cost_of(const struct costs *costs, uint64_t first, uint64_t count)
{
    double ns = costs_ns(costs, first, count);
    REQUIRE(isfinite(ns) && ns >= 0);
    return ns;
}

static void check_costs(const struct costs *costs, uint64_t first, uint64_t count)
{
    double whole = cost_of(costs, first, count), sum = 0;
    for (uint64_t i = first; i < first + count; i++)
        sum += cost_of(costs, i, 1);
    double left = cost_of(costs, first, count / 2), right = cost_of(costs, first + count / 2, count - count / 2);
    REQUIRE(cost_of(costs, first, 0) == 0);
    REQUIRE(fabs(left + right - whole) <= 1e-9 * whole + ROUNDING_NS);
    REQUIRE(fabs(sum - whole) <= 1e-9 * whole + ROUNDING_NS * (double)count);
}

/* Speeds are numbers above 0, and divided by them the costs are such as before. */
static void check_workers(struct costs *costs, uint64_t first, uint64_t count)
{
    struct recorded_speeds speeds;
    struct error error;
    if (costs_separate_workers(costs, &speeds, &error) < 0)
        return;
    REQUIRE(speeds.known <= speeds.workers);
    for (unsigned w = 0; w < speeds.workers; w++)
        REQUIRE(isfinite(speeds.speed[w]) && speeds.speed[w] > 0);
    recorded_speeds_fini(&speeds);
    check_costs(costs, first, count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct error error = {0};
    uint64_t first = size > 1 ? bytes[1] : 0, count = size > 2 ? bytes[2] : 0;
    if (first >= FIRST_LATE)
        first += UINT64_MAX - 2 * UINT8_MAX;
    char *text = fuzz_text(bytes + (size > 3 ? 3 : size), size > 3 ? size - 3 : 0);
    const bool is_spec = size > 0 && bytes[0] & 1, is_profile = size > 0 && bytes[0] == PROFILE;
    const struct profile_request request = {.mhz = 2000, .seed = 1};
    struct costs *costs = is_profile ? costs_of_profile(&request, text, first, count, &error)
                          : is_spec  ? costs_distributed(text, first, count, &error)
                                     : costs_parse(text, first, count, &error);
    if (costs != NULL) {
        check_costs(costs, first, count);
        if (costs_have_workers(costs))
            check_workers(costs, first, count);
    } else {
        require_one_line(error.text);
        REQUIRE(is_spec || is_profile || strncmp(error.text, "line ", 5) == 0);
    }
    costs_free(costs);
    free(text);
    return 0;
}
