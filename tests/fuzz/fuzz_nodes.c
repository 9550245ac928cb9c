/* SPDX-License-Identifier: MIT */
/* What Slurm says of a job: the first byte says how many nodes counts are for (0: a list of nodes follows, not counts).
 * A list is refused with one line, or each node has a name of its own; counts are refused with one line, or there is
 * one of at least 1 for each node. */
#include "tests/fuzz/fuzz.h"
#include "common/util/error.h"
#include "deploy/cli/duration.h"
#include "deploy/cli/hosts.h"
#include "deploy/cli/node_list.h"

#include <string.h>

static int visit(void *context, const char *name, struct error *error)
{
    struct hosts *hosts = context;
    unsigned before = hosts->count;
    REQUIRE(strlen(name) < HOST_NAME_BYTES && strpbrk(name, "[],") == NULL);
    if (hosts_add(hosts, name, strlen(name), 0, error) < 0)
        return -1;
    return hosts->count > before ? 0 : error_set(error, "twice");
}

static void check_list(const char *text)
{
    struct hosts hosts = {0};
    struct error error = {0};
    if (node_list_expand(text, visit, &hosts, &error) < 0)
        require_one_line(error.text);
    else
        REQUIRE(hosts.count > 0);
    hosts_fini(&hosts);
}

static void check_counts(const char *text, unsigned count)
{
    unsigned counts[255];
    struct error error = {0};
    if (node_counts_parse(text, counts, count, &error) < 0) {
        require_one_line(error.text);
        return;
    }
    for (unsigned i = 0; i < count; i++)
        REQUIRE(counts[i] > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint64_t seconds = 0;
    if (size == 0)
        return 0;
    char *text = fuzz_text(bytes + 1, size - 1);
    if (bytes[0] == 0)
        check_list(text);
    else
        check_counts(text, bytes[0]);
    if (duration_parse(text, &seconds) == 0)
        REQUIRE(seconds <= INT32_MAX);
    free(text);
    return 0;
}
